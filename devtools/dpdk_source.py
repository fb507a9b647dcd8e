# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""Bring a pristine DPDK source tree, for devtools/patchset."""

import contextlib
import gzip
import json
import lzma
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib

SUPPORTED = ("22.11",)  # release series of DPDK
STATE = ".patchset"  # what the patchset keeps in a tree that it is applied to
MARK = ".patchset-source.json"  # in a tree that fetch made: where it comes from
APT_ETC = pathlib.Path("/etc/apt")
# Hooks are cleared since they may write to the machine's own caches.
APT_CONF = """Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "{0}/sources";
Dir::State::Lists "{0}/lists";
Dir::Cache "{0}/cache";
APT::Update::Error-Mode "any";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""
ARCHIVE_ERRORS = (tarfile.TarError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, EOFError)


class Error(Exception):
    """What the user is told in one line."""


def say(text):
    """Tell what is going on; stdout belongs to results."""
    print(f"patchset: {text}", file=sys.stderr, flush=True)


def run(command, problem, **more):
    """Run a command; return its output, or raise Error with problem and what it said."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    environment["LC_ALL"] = "C"
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="surrogateescape",
                            env=environment, check=False, **more)
    if result.returncode:
        said = [line.strip() for line in result.stderr.splitlines() if line.strip()]
        said = [line for line in said if line.startswith("E:")] or said or ["it gave no reason"]
        raise Error(f"{problem}: {said[0]}")
    return result.stdout


def dpdk_version(tree, name=None):
    """Return the version of the DPDK in tree, which the user knows by name."""
    if not all((tree / part).exists() for part in ("VERSION", "meson.build", "lib/eal")):
        raise Error(f"{name or tree}: not a DPDK source tree (no VERSION, meson.build or lib/eal)")
    return (tree / "VERSION").read_text(errors="replace").strip()


def is_supported(version):
    """Tell whether a version, DPDK's or the distribution's, belongs to a supported series."""
    return any(re.match(re.escape(series) + r"(?!\d)", version) for series in SUPPORTED)


def supported_version(tree, name=None):
    """Return the version of the DPDK in tree if it is one that the patchset is made for."""
    version = dpdk_version(tree, name)
    if not is_supported(version):
        raise Error(f"{name or tree}: DPDK {version} is not supported, "
                    f"only {', '.join(SUPPORTED)}.x")
    return version


def fetch(target, cache, tarball=None, tree=None, force=False, asked_by="fetch"):
    """Put a pristine DPDK tree at target; return whether there was something to do.

    force replaces what is there and downloads again; prepare replaces what has another source.
    """
    source, mark = source_identity(tarball, tree), read_mark(target)
    if mark and mark["source"] == source and not force:
        supported_version(target)
        if asked_by == "fetch" and mark["asked_by"] != asked_by:
            write_mark(target, dict(mark, asked_by=asked_by))
        return False
    if not mark and not may_create(target):
        raise Error(f"{target}: exists and was not made by fetch: move it away or name another")
    if mark and not force and asked_by == "fetch":
        raise Error(f"{target}: holds DPDK from {mark['source']}; --force replaces it")
    if tree and pathlib.Path(tree).resolve() in (target, *target.parents):
        raise Error(f"{tree}: cannot be copied to {target}, which is inside")
    with replacing(target) as partial:
        if tree:
            copy_tree(pathlib.Path(tree).resolve(), partial)
        elif tarball:
            unpack(pathlib.Path(tarball), partial)
        else:
            unpack_distribution(cache, partial, force)
        version = supported_version(partial, tree or tarball or source)
        write_mark(partial, {"source": source, "version": version, "asked_by": asked_by,
                             "made": time.time_ns()})
    return True


def may_create(path):
    """Tell whether nothing is at path, or an empty directory."""
    if path.is_dir() and not path.is_symlink():
        return not any(path.iterdir())
    return not os.path.lexists(path)


def read_mark(tree):
    """Return where a tree that fetch made comes from, or None for any other."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads((tree / MARK).read_text())
    return None


def write_mark(tree, mark):
    """Record where a tree comes from."""
    partial = tree / (MARK + ".partial")
    partial.write_text(json.dumps(mark, indent=1) + "\n")
    os.replace(partial, tree / MARK)


def remove(path):
    """Remove path, whatever it is, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing(target):
    """Yield a new directory beside target that takes its place in the end, or goes."""
    partial, old = (target.parent / f".{target.name}.patchset-{name}" for name in ("new", "old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    for leftover in (partial, old):
        remove(leftover)
    partial.mkdir()
    try:
        yield partial
        if os.path.lexists(target):
            os.rename(target, old)
        os.rename(partial, target)
    finally:
        if os.path.lexists(old) and not os.path.lexists(target):
            os.rename(old, target)
        remove(partial)
        remove(old)


def source_identity(tarball=None, tree=None):
    """Return a line that changes when the source does."""
    try:
        if tree:
            tree = pathlib.Path(tree).resolve(strict=True)
            times = [os.lstat(os.path.join(where, name)).st_mtime_ns
                     for where, _, names in walk(tree) for name in names]
            return f"{tree} ({len(times)} files, newest {max(times, default=0)})"
        if tarball:
            tarball = pathlib.Path(tarball).resolve(strict=True)
            info = tarball.stat()
            return f"{tarball} ({info.st_size} bytes, {info.st_mtime_ns})"
    except OSError as error:
        raise Error(f"{error.filename}: {error.strerror}") from error
    return "the distribution"


def walk(tree):
    """Walk a source tree without git's data and without build directories."""
    for where, dirs, names in os.walk(tree):
        dirs[:] = [name for name in dirs if name != ".git"
                   and not os.path.exists(os.path.join(where, name, "meson-private"))]
        yield where, dirs, [name for name in names if name not in (".git", MARK)]


def copy_tree(tree, target):
    """Copy a DPDK tree; the copies' times are new, so that no build takes them for older files."""
    supported_version(tree)
    if (tree / STATE).exists():
        raise Error(f"{tree}: the patchset is applied to it: not a pristine source")
    say(f"copying {tree}")
    for where, dirs, names in walk(tree):
        place = target / os.path.relpath(where, tree)
        for name in dirs + names:
            source = pathlib.Path(where, name)
            if source.is_dir() and not source.is_symlink():
                (place / name).mkdir()
            else:
                shutil.copy(source, place / name, follow_symlinks=False)


def inner_path(path):
    """Tell whether a relative path stays inside the directory that it starts from."""
    return not os.path.isabs(path) and os.path.normpath(path).split(os.sep)[0] != ".."


def unpack(tarball, target):
    """Unpack a source tarball without its top directory; nothing may get out of target."""
    say(f"unpacking {tarball.name}")
    links = []
    try:
        with tarfile.open(tarball) as archive:
            for member in archive:
                if not inner_path(member.name):
                    raise Error(f"{tarball}: has a path that leads out of it: {member.name}")
                path = target.joinpath(*pathlib.PurePath(member.name).parts[1:])
                if member.issym() and path != target:
                    links.append((path, member.linkname))
                elif member.isdir():
                    path.mkdir(parents=True, exist_ok=True)
                elif member.isreg() and path != target:
                    unpack_file(archive, member, path)
                else:
                    raise Error(f"{tarball}: not a source tarball of DPDK: {member.name}")
    except ARCHIVE_ERRORS as error:
        why = (str(error) or type(error).__name__).splitlines()[0].rstrip(":")
        raise Error(f"{tarball}: not a readable tarball: {why}") from error
    for path, link in links:  # last, so that nothing is written through them
        inside = path.relative_to(target)
        if os.path.isabs(link) or not inner_path(inside.parent / link):
            raise Error(f"{tarball}: has a link that leads out of it: {inside}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(link)


def unpack_file(archive, member, path):
    """Unpack one regular file of a tarball."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.extractfile(member) as source, open(path, "wb") as copy:
        shutil.copyfileobj(source, copy)
    path.chmod(0o755 if member.mode & stat.S_IXUSR else 0o644)


# The distribution's source package

def unpack_distribution(cache, target, again):
    """Unpack the distribution's source package, from our cache if it is there and sound."""
    cached = [] if again else [tarball for tarball in cache.glob("dpdk_*.orig.tar.*")
                               if is_supported(tarball.name[len("dpdk_"):])]
    if cached:
        newest = max(cached, key=lambda tarball: numbers(tarball.name))
        try:
            unpack(newest, target)
            return
        except Error as error:
            say(f"{error}; downloading it again")
            shutil.rmtree(target)
            target.mkdir()
    unpack(download(cache), target)


def download(cache):
    """Download the distribution's source tarball of DPDK into cache; return its path there."""
    if not shutil.which("apt-get"):
        raise Error("no apt-get here to fetch DPDK with: name a source with --tarball FILE "
                    "or --tree DIR")
    with tempfile.TemporaryDirectory(prefix="patchset-apt-") as work:
        work = pathlib.Path(work)
        work.chmod(0o755)  # as root, apt downloads as a user of its own
        conf = private_apt(work)
        say("reading the distribution's lists of source packages")
        shown = ""
        try:
            run(["apt-get", "-qc", conf, "update"], "apt-get update")
        except Error as error:  # one bad source does not spoil the others
            say(error)
        with contextlib.suppress(Error):
            shown = run(["apt-cache", "-c", conf, "showsrc", "dpdk"], "")
        version = pick_version(shown)
        say(f"downloading the source of dpdk {version}")
        run(["apt-get", "-qc", conf, "source", "--download-only", "--tar-only", f"dpdk={version}"],
            "apt-get source", cwd=work / "download")
        found = list((work / "download").glob("dpdk_*.orig.tar.*"))
        if not found:
            raise Error(f"apt-get source brought no tarball of dpdk {version}")
        cache.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found[0], cache / ".partial")
        os.replace(cache / ".partial", cache / found[0].name)
        return cache / found[0].name


def private_apt(work):
    """Make in work what apt needs to leave the machine's own state alone; return its settings."""
    for name in ("sources", "lists/partial", "cache/archives/partial", "download"):
        (work / name).mkdir(parents=True)
    for name, text in source_entries(APT_ETC).items():
        (work / "sources" / name).write_text(text, errors="surrogateescape")
    conf = work / "apt.conf"
    conf.write_text(APT_CONF.format(work))
    return conf


def source_entries(etc):
    """Return the machine's apt sources {file name: text}, turned to source packages only."""
    converters = {".list": one_line_entries, ".sources": deb822_entries}
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    return {file.name: converters[file.suffix](file.read_text(errors="surrogateescape"))
            for file in files if file.is_file() and file.suffix in converters}


def one_line_entries(text):
    """Turn the lines of a sources.list to source packages; not those of CDs."""
    entries = re.findall(r"^[ \t]*deb(?:-src)?[ \t]+((?:\[[^]]*\][ \t]*)?(?!cdrom:)[^\s[].*)$",
                         text, re.M)
    return "".join(f"deb-src {entry}\n" for entry in dict.fromkeys(map(str.strip, entries)))


def deb822_entries(text):
    """Turn the stanzas of a .sources file to source packages; not the disabled or those of CDs."""
    text = re.sub(r"^#.*\n?", "", text, flags=re.M)
    off = re.compile(r"^Enabled:[ \t]*(no|false|off|without|disable|0)[ \t]*$|^URIs:\s*cdrom:",
                     re.M | re.I)
    stanzas = [re.subn(r"^Types:.*$", "Types: deb-src", stanza.strip("\n"), flags=re.M | re.I)
               for stanza in re.split(r"\n[ \t]*\n", text) if not off.search(stanza)]
    return "\n".join(stanza + "\n" for stanza, found in stanzas if found)


def numbers(version):
    """Return what sorts versions by number: 22.11.9 before 22.11.11."""
    return [int(number) for number in re.findall(r"\d+", version)]


def pick_version(showsrc):
    """Return the newest version of DPDK in the output of apt-cache showsrc that we support."""
    found = re.findall(r"^Package: dpdk\n(?:[^\n]+\n)*?Version: (\S+)$", showsrc, re.M)
    good = [version for version in found if is_supported(version.split(":")[-1])]
    if not good:
        seen = "only " + ", ".join(sorted(set(found), key=numbers)) if found else "nor any other"
        raise Error(f"the distribution's sources have no DPDK {', '.join(SUPPORTED)}.x, {seen}: "
                    "name a source with --tarball FILE or --tree DIR")
    return max(good, key=numbers)
