# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""What was measured as tables, JSON, CSV and plots, and compared with an older run."""

import collections
import csv
import json
import math
import shutil
import statistics
import subprocess

from vhost_loop import LoopError
from vhost_loop.rounds import REASONS, judge, ratios_of, windows_of
from vhost_loop.stats import MIN_PAIRS, Ratio

GNUPLOT_TIMEOUT_S = 60
CHANGED = "machine changed"  # the verdict where there was no state of most rounds
UNITS = {"latency": "us"}  # all other directions: Mpps
FIELDS = ("core", "ring", "direction", "size", "build", "mode", "unit", "median", "min", "max",
          "ratio", "low", "high", "verdict", "windows", "dropped", "reasons")
COLUMNS = ("core", "variant", "median", "min", "max", "ratio", "95 % interval", "verdict")


def summarize(case, variants, rounds):
    """Return one row per variant of a case (core, ring, direction, size).

    rounds: lists of (variant, Window); the first variant is the baseline.
    """
    judged = judge(rounds)
    core, ring, direction, size = case
    rows = []
    for build, mode in variants:
        windows = windows_of(judged, (build, mode))
        mine = [window.value for window in windows if not window.dropped]
        baseline = (build, mode) == variants[0]
        ratios = ratios_of(judged, (build, mode))
        changed = is_changed(judged, windows, ratios)
        ratio = Ratio([] if changed else [1.0] * len(ratios) if baseline else ratios)
        rows.append({
            "core": core, "ring": ring, "direction": direction, "size": size, "build": build,
            "mode": mode, "unit": UNITS.get(direction, "Mpps"),
            "median": statistics.median(mine) if mine else None,
            "min": min(mine, default=None), "max": max(mine, default=None),
            "ratio": ratio.median, "low": ratio.low, "high": ratio.high,
            "verdict": "baseline" if baseline else CHANGED if changed else
                       verdict(ratio, direction),
            "windows": len(mine), "dropped": len(windows) - len(mine),
            "reasons": reasons(windows)})
    return rows


def is_changed(judged, windows, ratios):
    """Tell whether there is no ratio because the machine was not the same throughout."""
    lost = any(window.dropped in ("change", "state") for window in windows)
    return judged.changed or lost and len(ratios) < MIN_PAIRS


def raw_windows(case, rounds):
    """Return one {name: value} per window, in order of time, for others to compute with."""
    core, ring, direction, size = case
    return [{"core": core, "ring": ring, "direction": direction, "size": size, "round": number,
             "build": build, "mode": mode, **window._asdict()}
            for number, windows in enumerate(judge(rounds).rounds, 1)
            for (build, mode), window in windows]


def reasons(windows):
    """Return why windows were dropped, and how many for each reason, as in "2 loss, 1 steal"."""
    counts = collections.Counter(window.dropped for window in windows if window.dropped)
    return ", ".join(f"{count} {why}" for why, count in sorted(counts.items()))


def verdict(ratio, direction):
    """Return in a word what the interval says; less time is faster."""
    word = ratio.verdict()
    if UNITS.get(direction) != "us":
        return word
    return {"faster": "slower", "slower": "faster"}.get(word, word)


def variant_name(row):
    """Return build and, where it was chosen, copy mode."""
    return f"{row['build']}/{row['mode']}" if row["mode"] else row["build"]


def title_of(row):
    """Return what the table of a row is about."""
    size = "mixed sizes (imix)" if row["size"] == "imix" else f"{row['size']} bytes"
    return f"{size}, {row['ring']} ring, {row['direction']}"


def groups(rows):
    """Return [(title, rows)], one table each."""
    found = {}
    for row in rows:
        title = f"{title_of(row)}, {row['unit']}"
        found.setdefault(title, []).append(row)
    return list(found.items())


def cells(row):
    """Return the texts of a row of a table."""
    def number(name, form):
        return "-" if row[name] is None else format(row[name], form)
    known = row["low"] is not None and row["verdict"] != "baseline"
    return (row["core"], variant_name(row), number("median", ".2f"), number("min", ".2f"),
            number("max", ".2f"), number("ratio", ".3f"),
            f"{row['low']:.3f} - {row['high']:.3f}" if known else "", row["verdict"])


def matrices(rows):
    """Return [(title, table)] of ratios, modes by compilers, of builds named MODE@COMPILER."""
    found = []
    for title, members in groups(rows):
        compilers = list(dict.fromkeys(row["build"].partition("@")[2] for row in members))
        lines = {}
        for row in members:
            mode, _, compiler = row["build"].partition("@")
            name = (row["core"], variant_name(dict(row, build=mode)))
            ratio, span = cells(row)[5:7]
            lines.setdefault(name, {})[compiler] = f"{ratio} ({span})" if span else ratio
        base = ", ".join(sorted({variant_name(row) for row in members
                                 if row["verdict"] == "baseline"}))
        if len(compilers) > 1:
            found.append((f"{title.rpartition(',')[0]}: ratio to {base}", [
                ("core", "mode", *(name or "other" for name in compilers)),
                *((*name, *(line.get(compiler, "-") for compiler in compilers))
                  for name, line in lines.items())]))
    return found


def align(table, numbers):
    """Return the lines of a table, the columns of numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    return ["  ".join(cell.rjust(width) if i in numbers else cell.ljust(width)
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in table]


def text_tables(rows):
    """Return the lines of all tables."""
    lines = []
    for title, members in groups(rows):
        lines += ["", title] + align([COLUMNS] + [cells(row) for row in members], range(2, 6))
    for title, table in matrices(rows):
        lines += ["", title] + align(table, ())
    return lines + dropped_lines(rows)


def dropped_lines(rows):
    """Return the lines that say how many windows were dropped, and why."""
    dropped = [row for row in rows if row["dropped"]]
    if not dropped:
        return []
    total = sum(row["dropped"] for row in dropped)
    names = [name for name in REASONS if any(name in row["reasons"] for row in dropped)]
    return ["", f"{total} of {total + sum(row['windows'] for row in rows)} windows were dropped:",
            *(f"  {name}: {REASONS[name]}" for name in names),
            *(f"  {title_of(row)}, {row['core']}, {variant_name(row)}: {row['reasons']}"
              for row in dropped)]


def markdown_line(texts):
    """Return a line of a table."""
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def markdown(head, rows):
    """Return the whole report in Markdown."""
    lines = ["# vhost <-> virtio-user loop", ""] + [f"* {line}" for line in head]
    for title, members in groups(rows):
        lines += ["", f"## {title}", "", "| " + " | ".join(COLUMNS) + " |",
                  "|---|---|" + "---:|" * 4 + "---|---|"]
        lines += [markdown_line(cells(row)) for row in members]
    for title, table in matrices(rows):
        lines += ["", f"## {title}", ""] + [markdown_line(line) for line in table]
        lines.insert(len(lines) - len(table) + 1, "|---" * len(table[0]) + "|")
    return "\n".join(lines) + "\n"


def write_csv(path, rows):
    """Write a line per row."""
    with open(path, "w", newline="") as output:
        writer = csv.DictWriter(output, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


def json_text(values, windows):
    """Return JSON of named values, and of the windows, one a line: there are many."""
    parts = [f"{json.dumps(name)}: {json.dumps(value, indent=1)}" for name, value in values.items()]
    parts.append('"windows": [' + ",".join(f"\n{json.dumps(window)}" for window in windows) + "]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def read_json(path):
    """Return the rows of an older run, and {name: text} of the machine and {} of the builds."""
    try:
        old = json.loads(path.read_text())
        rows, machine = old["results"], old.get("machine", {})
        for row in rows:
            if row["ratio"] is not None and not 0 < row["ratio"] < math.inf:
                raise ValueError(f"a ratio of {row['ratio']}")
            row["verdict"].islower()  # is a text
        machine.get("builds", {}).get("")  # are both what they have to be
        return {key(row): row for row in rows}, machine
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LoopError(f"--compare {path}: not what --json writes "
                        f"({type(error).__name__}: {error})") from error


def check_machine(path, old, now):
    """Return what an older run's machine had otherwise, as one line or None.

    Raise LoopError if it had another CPU: ratios of one say nothing of the other. All else a
    user may have changed to see what comes of it.
    """
    if not old:
        return f"{path} does not tell of what machine it is"
    if old.get("cpu") != now["cpu"]:
        raise LoopError(f"--compare {path}: is of another CPU, {old.get('cpu')}, and this is "
                        f"{now['cpu']}: ratios differ by CPU")
    pairs = [(name.replace("_", " "), old.get(name), now[name])
             for name in ("hypervisor", "kernel", "huge_pages")]
    pairs += [(name, before, now["builds"][name])
              for name, before in old.get("builds", {}).items() if name in now["builds"]]
    changes = [f"{name} ({before}, now {after})" for name, before, after in pairs
               if before != after]
    return f"{path} is of another {' and '.join(changes)}" if changes else None


def key(row):
    """Return what a row is the result of."""
    return tuple(row[name] for name in ("core", "ring", "direction", "size", "build", "mode"))


def baselines(rows):
    """Return {case: (build, mode)} that the ratios of rows are to."""
    return {key(row)[:4]: key(row)[4:] for row in rows if row["verdict"] == "baseline"}


def check_old(path, old, builds, sizes, rings, directions):
    """Raise LoopError if an older run has no ratio that the next one could be compared with."""
    base = baselines(old.values())
    for core, ring, direction, size, build, mode in old:
        known = base.get((core, ring, direction, size), ("",))
        if size in sizes and ring in rings and direction in directions and build in builds and \
                known[0] == builds[0] and (build, mode) != known:
            return
    raise LoopError(f"--compare {path}: has no ratio of these builds to {builds[0]} "
                    "for these sizes, rings and directions")


def why_not_compared(row, before, base, old_base):
    """Return why a row has nothing to be compared with, or None."""
    if row["low"] is None:
        return ("the machine changed meanwhile" if row["verdict"] == CHANGED else
                "too few pairs of windows now")
    if not before:
        return "not in the older run"
    if before["ratio"] is None:
        return "without a ratio in the older run"
    return None if base == old_base else "the baseline was another one"


def compare(rows, old, max_loss):
    """Return (lines, whether something is slower than before by more than max_loss).

    Ratios are compared, not rates: a shared machine is not as fast every day. It is a loss only
    where the new interval as a whole lies beyond the limit, so that noise is none.
    """
    lines, common, worse = [], 0, False
    base, old_base = baselines(rows), baselines(old.values())
    for row in rows:
        if row["verdict"] == "baseline":
            continue
        before, case = old.get(key(row)), key(row)[:4]
        why = why_not_compared(row, before, base.get(case), old_base.get(case))
        name = f"{row['core']} {row['size']} {row['ring']} {row['direction']} {variant_name(row)}"
        if why:
            lines.append(f"-     {name}: not compared, {why}")
            continue
        common += 1
        if row["unit"] == "us":
            lost = row["low"] > before["ratio"] * (1 + max_loss)
        else:
            lost = row["high"] < before["ratio"] * (1 - max_loss)
        worse |= lost
        lines.append(f"{'LOSS' if lost else 'ok':4}  {name}: ratio {before['ratio']:.3f} before, "
                     f"{row['ratio']:.3f} now ({row['low']:.3f} - {row['high']:.3f})")
    if not common:
        raise LoopError("\n".join(["--compare: nothing could be compared"] + lines))
    return lines, worse


def plot_curves(rows):
    """Return {variant: rows by size} of the first core, ring and direction of several sizes."""
    first = rows[0] if rows else None
    same = [row for row in rows if row["size"] != "imix" and row["median"] and all(
        row[name] == first[name] for name in ("core", "ring", "direction"))]
    curves = {}
    for row in sorted(same, key=lambda row: row["size"]):
        curves.setdefault(variant_name(row), []).append(row)
    return curves


def quoted(text):
    """Return a text as gnuplot has it in its scripts."""
    return "'" + str(text).replace("'", "''") + "'"


def gnuplot_script(curves, kind, terminal, path, unit):
    """Return what gnuplot has to do for one plot, its data included."""
    names = {"rate": ("median", "min", "max"), "ratio": ("ratio", "low", "high")}[kind]
    lines = [f"set terminal {terminal} size 900,500 background '#ffffff'",
             f"set output {quoted(path)}", "set logscale x 2", "set xlabel 'bytes per packet'",
             f"set ylabel '{unit if kind == 'rate' else 'ratio to the baseline'}'",
             "set key outside right", "set grid", "set yrange [0:*]" if kind == "rate" else ""]
    for number, members in enumerate(curves.values()):
        lines.append(f"$d{number} << EOD")
        lines += [" ".join(str(row[name]) for name in ("size", *names)) for row in members
                  if None not in [row[name] for name in names]]
        lines.append("EOD")
    lines.append("plot " + ", ".join(
        f"$d{number} using 1:2:3:4 with yerrorlines linewidth 2 "
        f"title {quoted(name)} noenhanced"
        for number, name in enumerate(curves)))
    return "\n".join(lines) + "\n"


def write_plots(rows, prefix):
    """Draw PREFIX-rate and PREFIX-ratio as SVG and PNG; return the names of the files."""
    if shutil.which("gnuplot") is None:
        raise LoopError("no plots: gnuplot is not installed (package gnuplot-nox)")
    if not plot_curves(rows):
        raise LoopError("no plots: there is nothing that could be drawn")
    files = []
    for kind in ("rate", "ratio"):
        # Not all have enough pairs for error bars.
        curves = plot_curves([row for row in rows if kind == "rate" or row["low"] is not None])
        if not curves:
            continue
        for terminal, suffix in (("svg", "svg"), ("pngcairo", "png")):
            path = f"{prefix}-{kind}.{suffix}"
            run_gnuplot(gnuplot_script(curves, kind, terminal, path, rows[0]["unit"]))
            files.append(path)
    return files


def run_gnuplot(script):
    """Draw a plot."""
    try:
        done = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True,
                              timeout=GNUPLOT_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise LoopError(f"gnuplot: not ready after {GNUPLOT_TIMEOUT_S} s") from error
    if done.returncode != 0:
        raise LoopError(f"gnuplot: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
