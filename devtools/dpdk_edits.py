# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""Edit DPDK's files: text edits, semantic patches, Meson options. For devtools/patchset."""

import collections
import pathlib
import re
import shutil
import subprocess
import tempfile

from dpdk_source import Error, run

OPTIONS = "meson_options.txt"
STRING = r"'(?:\\.|[^'\\])*'"  # Meson's
SPATCH_SECONDS = 300


def text_lines(data):
    """Return the lines of a file, as text that encodes back to the same bytes."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "surrogateescape"))


def parse_edit(name, data):
    """Return the directives of an .edit file as tuples (where, verb, line, inserted lines)."""
    edits, block = [], None
    for number, line in enumerate(text_lines(data), 1):
        where, line = f"{name}:{number}", line.rstrip("\n")
        directive = re.fullmatch(r"@(after|before|replace) +(\S.*)|@(append) *", line)
        if directive:
            block = []
            anchor = (directive[2] or "").strip()
            edits.append((where, directive[1] or directive[3], anchor, block))
        elif line.startswith("+") and block is not None:
            block.append(line[1:] + "\n")
        elif line.startswith("#") or not line:
            block = None
        else:
            raise Error(f"{where}: not @after, @before, @replace or @append, a +line below one, "
                        f"or a comment: {line}")
    for where, verb, _, block in edits:
        if not block:
            raise Error(f"{where}: no +line follows @{verb}")
    if not edits:
        raise Error(f"{name}: no directive in it")
    return edits


def text_edit(name, edit, data):
    """Return data, the content of the tree's file, after a text edit."""
    lines = text_lines(data)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    stripped = [line.strip() for line in lines]
    before, replaced, after = (collections.defaultdict(list) for _ in range(3))
    for where, verb, anchor, inserted in parse_edit(name, edit):
        if verb == "append":
            before[len(lines)] += inserted
            continue
        if stripped.count(anchor) != 1:
            raise Error(f"{where}: must be in DPDK's file once, is there "
                        f"{stripped.count(anchor)} times: {anchor}")
        index = stripped.index(anchor)
        if verb == "replace" and index in replaced:
            raise Error(f"{where}: is replaced further up already: {anchor}")
        {"before": before, "replace": replaced, "after": after}[verb][index] += inserted
    result = []
    for index, line in enumerate(lines + [""]):
        result += before[index] + replaced.get(index, [line]) + after[index]
    return "".join(result).encode("utf-8", "surrogateescape")


def cocci_sections(name, data):
    """Return the sections of a semantic patch as tuples (where, why, fewest, most, lines)."""
    sections = []
    for number, line in enumerate(text_lines(data), 1):
        start = re.match(r"// changes (\d+)(?:-(\d+))? lines?: *(\S.*)", line)
        if start:
            fewest, most = int(start[1]), int(start[2] or start[1])
            sections.append((f"{name}:{number}", start[3].strip(), fewest, most, []))
        if sections:
            sections[-1][4].append(line)
        elif line.strip() and not line.startswith("//"):
            raise Error(f"{name}:{number}: no '// changes N lines: why' above the first rule")
    if not sections:
        raise Error(f"{name}: no '// changes N lines: why' in it")
    return sections


def changed_lines(before, after):
    """Count lines that are added or changed, or removed where nothing takes their place."""
    result = subprocess.run(["diff", "-a", "-U0", before, after], capture_output=True, check=False)
    hunks = re.findall(rb"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", result.stdout, re.M)
    return sum(int(added or 1) or int(removed or 1) for removed, added in hunks)


def semantic_patch(name, cocci, data, macros):
    """Return data, the content of the tree's file, after the semantic patch for it."""
    sections = cocci_sections(name, cocci)
    if not shutil.which("spatch"):
        raise Error(f"{name}: spatch not found: install coccinelle")
    with tempfile.TemporaryDirectory(prefix="patchset-") as work:
        target = pathlib.Path(work, pathlib.PurePath(name).stem)
        rules, before = target.with_name("rules.cocci"), target.with_name("before")
        target.write_bytes(data)
        for where, why, fewest, most, lines in sections:
            rules.write_text("".join(lines), errors="surrogateescape")
            shutil.copy(target, before)
            try:
                run(["spatch", "--very-quiet", "--no-includes", "--macro-file-builtins", macros,
                     "--sp-file", rules, "--in-place", target], f"{where}: spatch",
                    timeout=SPATCH_SECONDS)
            except subprocess.TimeoutExpired as expired:
                raise Error(f"{where}: spatch takes over {SPATCH_SECONDS} s") from expired
            # spatch succeeds as well where it finds nothing or cannot parse: count what it did
            found = changed_lines(before, target)
            if not fewest <= found <= most:
                expected = fewest if fewest == most else f"{fewest} to {most}"
                raise Error(f"{where}: must change {expected} lines, changes {found} ({why})")
        return target.read_bytes()


def option_blocks(text):
    """Return the options that a Meson options file declares as tuples (name, start, end)."""
    blocks = []
    for match in re.finditer(r"^option\(\s*'([^']+)'", text, re.M):
        depth = 0
        for token in re.finditer(STRING + r"|#[^\n]*|[()]", text[match.start():]):
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if token[0] == ")" and depth == 0:
                blocks.append((match[1], match.start(), match.start() + token.end()))
                break
    return blocks


def shared_options(text):
    """Return our options that are DPDK's too as tuples (name, text of the declaration)."""
    blocks = [(name, text[start:end]) for name, start, end in option_blocks(text)]
    return [(name, block) for name, block in blocks
            if re.search(r"\byield\s*:\s*true\b", re.sub(STRING, "''", block))]


def insert_options(ours, data):
    """Return data, the tree's options file, with our shared options in their places."""
    text = data.decode("utf-8", "surrogateescape")
    for name, block in shared_options(ours):
        known = option_blocks(text)
        if name in [other for other, _, _ in known]:
            raise Error(f"{OPTIONS}: DPDK has an option {name} of its own")
        # before the last run of names that sort after it: DPDK's order is not quite alphabetical
        index = len(known)
        while index and known[index - 1][0] < name:
            index -= 1
        place = len(text)
        while index and known[index - 1][0] > name:
            index -= 1
            place = known[index][1]
        text = text[:place] + block + "\n" + text[place:]
    return text.encode("utf-8", "surrogateescape")
