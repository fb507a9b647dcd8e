#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""
Compare builds of dpdk-testpmd by the packet rate of a vhost <-> virtio-user loop.

For each build two testpmd processes exchange packets between a virtio-user port and
a vhost port. In each round all builds run, and take turns in short windows in random
order, because the speed of a shared machine drifts: a ratio compares windows of the
same round. The first build is the baseline of the ratios: it is measured before and
after each of the others, which tells whether the machine has changed.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# In the source tree, or where "ninja install" puts them.
sys.path[:0] = [str(HERE), str(HERE.parent / "share" / "dpdk")]
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from vhost_loop import LoopError, report, say, verify  # noqa: E402
from vhost_loop.measure import (  # noqa: E402
    Progress, doubts, find_variants, is_narrow, measure, rows_of, sizes_of, windows_of)
from vhost_loop.stats import MIN_PAIRS  # noqa: E402
from vhost_loop.testpmd import (  # noqa: E402
    MEMORY_MB, RINGS, STOP_SIGNALS, Build, Stopped, differences, run_directory, stop)
from vhost_loop.topology import Machine, steal_ticks  # noqa: E402

MIN_SIZE, MAX_SIZE = 64, 1518
DIRECTIONS = ("loop", "enqueue", "dequeue", "latency")
MODES = ("auto", "memcpy", "wide", "narrow")
NOT_TO_VERIFY = ("sizes", "directions", "rounds", "seconds", "csv", "markdown", "plot", "compare")
WIDTH = 0.02  # of an interval that is narrow enough
MAX_LOSS = 2.0  # percent
NO_FIGURES = 77  # exit status, as test drivers have it for what could not be tested
QUICK_S = 110  # after which --quick measures no more, which leaves it time to end within 120
# How much each preset measures: seconds is the time after which no new round starts.
PRESETS = {
    "quick": {"sizes": [64, 256, 1518], "rings": ["split"], "directions": ["loop"],
              "seconds": 90},
    "default": {"sizes": [64, 128, 256, 512, 1024, 1518, "imix"], "rings": ["split"],
                "directions": ["loop", "latency"], "seconds": 300},
    "full": {"sizes": [64, 128, 256, 512, 1024, 1518, "imix"], "rings": list(RINGS),
             "directions": list(DIRECTIONS), "seconds": 3600},
}


# The command line

def parse_build(text):
    """Turn NAME=DIR into a Build."""
    name, _, where = text.partition("=")
    if not name or not where:
        raise argparse.ArgumentTypeError(f"{text}: not NAME=DIR")
    if not name.isprintable() or name != name.strip():
        raise argparse.ArgumentTypeError(f"{name!r}: not a name for a table")
    path = pathlib.Path(where).absolute()
    testpmd = path / "app" / "dpdk-testpmd" if path.is_dir() else path
    if not testpmd.is_file() or not os.access(testpmd, os.X_OK):
        raise argparse.ArgumentTypeError(f"{name}: no dpdk-testpmd at {testpmd}")
    return Build(name, testpmd, path if path.is_dir() else path.parent.parent)


def parse_sizes(text):
    """Turn a comma-separated list into packet sizes."""
    sizes = [int(word) if word.isdecimal() else word for word in text.split(",")]
    for size in sizes:
        if size != "imix" and not (isinstance(size, int) and MIN_SIZE <= size <= MAX_SIZE):
            raise argparse.ArgumentTypeError(
                f"{size or 'nothing'}: not a size of {MIN_SIZE} to {MAX_SIZE} bytes or imix")
    if len(set(sizes)) < len(sizes):
        raise argparse.ArgumentTypeError(f"{text}: a size is there twice")
    return sizes


def one_of(what, known=None):
    """Return what turns a comma-separated list of words, of those known if given, into a list."""
    def parse(text):
        words = text.split(",")
        for word in words:
            if known and word not in known:
                raise argparse.ArgumentTypeError(
                    f"{word or 'nothing'}: not a {what}, which are {', '.join(known)}")
        if len(set(words)) < len(words):
            raise argparse.ArgumentTypeError(f"{text}: a {what} is there twice")
        return words
    return parse


def parse_cores(text):
    """Turn A,B into two CPUs."""
    if not re.fullmatch(r"\d+,\d+", text) or len(set(map(int, text.split(",")))) != 2:
        raise argparse.ArgumentTypeError(f"{text}: not two different CPUs like 4,6")
    return [int(word) for word in text.split(",")]


def number(low, high, unit="", form=r"\d+(\.\d+)?"):
    """Return what turns text into a number within limits."""
    def parse(text):
        plain = text[:-1] if unit and text.endswith(unit) else text
        if not re.fullmatch(form, plain) or not low <= float(plain) <= high:
            raise argparse.ArgumentTypeError(f"{text}: not a number from {low} to {high}")
        return float(plain)
    return parse


def parse_packets(text):
    """Turn a number such as 1000000 or 1e6 into an int."""
    if not re.fullmatch(r"\d+(e\d\d?)?", text) or not 1 <= float(text) <= 1e12:
        raise argparse.ArgumentTypeError(f"{text}: not a number of packets from 1 to 1e12")
    return int(float(text))


def make_parser():
    """Describe the command line."""
    parser = argparse.ArgumentParser(
        prog="dpdk-vhost-loop.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: dpdk-vhost-loop.py --build pristine=dpdk/build --build cc=build --quick")
    add = parser.add_argument
    add("--build", metavar="NAME=DIR", type=parse_build, action="append", default=[],
        help="a Meson build directory of DPDK, or the path of a dpdk-testpmd; repeat it")
    preset = parser.add_mutually_exclusive_group()
    preset.add_argument("--quick", dest="preset", action="store_const", const="quick",
                        default="default", help="three sizes, less than 2 minutes")
    preset.add_argument("--full", dest="preset", action="store_const", const="full",
                        help="all sizes, rings and directions, up to an hour")
    add("--sizes", metavar="N,N", type=parse_sizes, help="packet sizes in bytes, or imix")
    add("--rings", metavar="NAME,..", type=one_of("ring kind", tuple(RINGS)),
        help=f"of {', '.join(RINGS)}")
    add("--directions", metavar="NAME,..", type=one_of("direction", DIRECTIONS),
        help="of loop, enqueue (vhost sends), dequeue (vhost receives), latency (one packet)")
    add("--modes", metavar="NAME,..", type=one_of("copy mode", MODES),
        help="copy modes of vhost to compare, in builds that have them: " + ", ".join(MODES))
    cores = parser.add_mutually_exclusive_group()
    cores.add_argument("--cores", metavar="A,B", type=parse_cores,
                       help="the two CPUs that forward (default: found for each kind of core)")
    cores.add_argument("--kinds", metavar="NAME,..", type=one_of("kind"),
                       help="kinds of cores, such as P,E (default: all that there are)")
    add("--rounds", metavar="N", type=number(1, 1000, form=r"\d+"), help="at most so many rounds")
    add("--seconds", metavar="N", type=number(1, 86400), help="start no round after this time")
    add("--window", metavar="SEC", type=number(0.05, 10), default=0.05,
        help="length of a window (default: %(default)s)")
    add("--width", metavar="PERCENT", type=number(0.1, 100, "%"), default=WIDTH * 100,
        help="stop when all intervals are as narrow as this (default: %(default)g)")
    add("--seed", metavar="N", type=int, help="of the random order, to repeat a run")
    add("--no-huge", action="store_true", help="do without huge pages even if there are enough")
    for name in ("json", "csv", "markdown"):
        add(f"--{name}", metavar="FILE", type=pathlib.Path, help=f"write the results as {name}")
    add("--plot", metavar="PREFIX", type=pathlib.Path,
        help="draw PREFIX-rate and PREFIX-ratio (.svg, .png), needs gnuplot")
    add("--compare", metavar="OLD.json", type=pathlib.Path,
        help="compare the ratios with an older run; exit status 3 on a loss")
    add("--max-loss", metavar="PERCENT", type=number(0, 100, "%"),
        help=f"how much --compare lets pass (default: {MAX_LOSS:g})")
    add("--verify", metavar="PACKETS", type=parse_packets, nargs="?", const=verify.PACKETS,
        help="check the content of so many packets (default: 1e8) instead of measuring; "
        "exit status 4 if one is wrong")
    add("--check", action="store_true", help="check the options only; --build may be missing")
    return parser


def parse_args(argv=None):
    """Read the command line, and refuse what makes no sense."""
    parser = make_parser()
    args = parser.parse_args(argv)
    if not args.build and not args.check:
        parser.error("the following arguments are required: --build")
    for number_, build in enumerate(args.build):
        for other in args.build[:number_]:
            if other.name == build.name:
                parser.error(f"--build: there are two builds {build.name}")
            if other.testpmd.resolve() == build.testpmd.resolve():
                parser.error(f"--build: {other.name} and {build.name} are the same build")
    for name in NOT_TO_VERIFY if args.verify else ():
        if getattr(args, name) is not None:
            parser.error(f"--{name} does not go with --verify, which measures nothing")
    args.limit = QUICK_S if args.preset == "quick" and args.seconds is None else float("inf")
    for name, value in PRESETS[args.preset].items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    if not any(sizes_of(args, direction) for direction in args.directions):
        parser.error("imix is for the direction loop only")
    check_output(parser, args)
    check_compare(parser, args)
    return args


def check_output(parser, args):
    """Refuse files that cannot be written: better now than when all is measured."""
    written = {}
    for name in ("json", "csv", "markdown", "plot"):
        path = getattr(args, name)
        if not path:
            continue
        is_file = path.exists() and name != "plot"
        if path.is_dir() or not path.parent.is_dir() or not os.access(
                path if is_file else path.parent, os.W_OK):
            parser.error(f"--{name} {path}: cannot write there")
        other = written.setdefault(path.resolve(), name)
        if other != name:
            parser.error(f"--{other} and --{name} are the same file")
    if args.plot and not shutil.which("gnuplot"):
        parser.error("--plot: gnuplot is not installed (package gnuplot-nox)")
    if args.plot and args.sizes == ["imix"]:
        parser.error("--plot is over the sizes, and a mix has none")


def check_compare(parser, args):
    """Refuse a --compare that could only fail, and --max-loss without it."""
    if not args.compare:
        if args.max_loss is not None:
            parser.error("--max-loss is for --compare, which is not there")
        return
    args.max_loss = MAX_LOSS if args.max_loss is None else args.max_loss
    if len(args.build) == 1 and len(args.modes or []) < 2:
        parser.error("--compare: a single build has no ratio")
    if args.rounds and args.rounds < MIN_PAIRS:
        parser.error(f"--compare needs {MIN_PAIRS} rounds, --rounds allows fewer")


# Where and how

def use_huge_pages(args, machine, placements):
    """Tell whether there are huge pages for all pairs that run at the same time."""
    if args.no_huge:
        return False
    sides = 2 * (1 if args.verify else len(args.build))
    free, page_mb = machine.free_huge_pages({where.node for where in placements})
    need = sides * -(-MEMORY_MB // max(1, page_mb))  # each side takes whole pages
    if page_mb and free >= need:
        return True
    say(f"{free} free huge pages of {page_mb} MB, {need} are needed"
        f"{' on each NUMA node used' if machine.has_nodes() else ''}: goes on without them, "
        "and the rates will be lower"
        + (f" (root can add {need - free} to /proc/sys/vm/nr_hugepages)" if page_mb else ""))
    return False


# What it says

def header(args, machine, placements, huge):
    """Return the lines that say what is measured, and where."""
    facts = machine.facts(placements[0].forward)
    what = "packets checked" if args.verify else f"windows of {args.window:g} s"
    lines = [f"{datetime.datetime.now():%Y-%m-%d %H:%M}, {what}, "
             + ("huge pages" if huge else "no huge pages: the rates are lower than with them"),
             f"{facts['cpu']}, {facts['kinds']}, Linux {facts['kernel']}",
             "turbo {turbo}, SMT {smt}, hypervisor {hypervisor}".format(**facts)]
    for where in placements:
        own = machine.facts(where.forward)
        lines.append(f"{where.kind} cores: virtio-user forwards on CPU {where.forward[0]}, vhost "
                     f"on CPU {where.forward[1]}, main lcores on {where.main[0]} and "
                     f"{where.main[1]}, NUMA node {where.node}, max. frequency "
                     f"{own['max_frequency']}, governor {own['governor']}")
    width = max(len(build.name) for build in args.build)
    return lines + [f"{build.name:{width}}  {build.describe()}" for build in args.build]


def is_changed(row):
    """Tell whether a row has rates, but no ratio, because the machine changed."""
    return row["verdict"] == report.CHANGED or bool(row["windows"]) and row["ratio"] is None


def closing(args, rows):
    """Return the lines on whether the figures are good enough to tell builds apart."""
    if not any(row["windows"] for row in rows):
        return ["", f"no figures: all {sum(row['dropped'] for row in rows)} windows were dropped, "
                "for the reasons above; run it again when the machine has nothing else to do"]
    lines = []
    changed = [title for title, members in report.groups(rows) if any(map(is_changed, members))]
    if changed:
        lines.append(f"{len(changed)} of the tables are of a machine that changed while it "
                     "measured (a host may move virtual CPUs), with too few windows in one state: "
                     "their rates say little, their ratios are not told; run it again")
    wide = [row for row in rows if row["verdict"] not in ("baseline", report.CHANGED)
            and not is_narrow(args, row)]
    if wide:
        lines.append(f"{len(wide)} of the intervals are wider than {args.width:g} %: there the "
                     "machine is too noisy, or the time too short, to tell smaller differences")
    return [""] + lines if lines else []


def choose_placements(args, machine):
    """Return where to run, one placement for each kind of core."""
    if args.cores:
        return [machine.place(chosen=args.cores)]
    known = machine.kinds()
    for kind in args.kinds or []:
        if kind not in known:
            raise LoopError(f"--kinds {kind}: no two usable cores of that kind, there are "
                            f"{', '.join(known) or 'none'}")
    if not known:
        return [machine.place()]
    return [machine.place(kind) for kind in args.kinds or known]


def about(args, machine, placements, huge):
    """Return what figures depend on, for who compares them with others."""
    facts = machine.facts(placements[0].forward)
    return {"cpu": facts["cpu"], "hypervisor": facts["hypervisor"], "kernel": facts["kernel"],
            "huge_pages": "yes" if huge else "no",
            "ticks_per_second": os.sysconf("SC_CLK_TCK"),
            "builds": {build.name: build.describe() for build in args.build}}


def write_json(args, facts, head, rows, windows=()):
    """Write the results if they were asked for."""
    if args.json:
        args.json.write_text(report.json_text(
            {"header": head, "machine": facts, "results": rows}, windows))


def write_files(args, facts, head, rows, windows):
    """Write what was asked for."""
    write_json(args, facts, head, rows, windows)
    if args.csv:
        report.write_csv(args.csv, rows)
    if args.markdown:
        args.markdown.write_text(report.markdown(head, rows))
    if args.plot and any(row["windows"] for row in rows):
        report.write_plots(rows, args.plot)


def run_verify(args, facts, head, placements, huge):
    """Check packets and report; return the exit status."""
    with run_directory() as run_dir, Progress(args.seconds) as progress:
        rows = verify.verify_all(args, placements, huge, run_dir, find_variants, progress.line)
    try:
        write_json(args, facts, head, rows)
    finally:
        print("\n".join(head + verify.lines(rows)), flush=True)
    return 0 if all(map(verify.is_right, rows)) else 4


def read_old(args):
    """Return the rows and the machine of --compare, or None if there is none."""
    if not args.compare:
        return None, None
    old, machine = report.read_json(args.compare)
    if args.build:  # else only the options are checked
        report.check_old(args.compare, old, [build.name for build in args.build], args.sizes,
                         args.rings, args.directions)
    return old, machine


def measure_and_tell(args, placements, huge, facts, head, warnings):
    """Measure, print and write the results, those until a failure too; return the rows."""
    cpus = {number for where in placements for number in where.forward}
    start, stolen, results = time.monotonic(), steal_ticks(cpus), {}
    try:
        measure(args, placements, huge, results)
    except (LoopError, Stopped):
        warnings = warnings + ["warning: incomplete, this run did not come to its end"]
        raise
    finally:
        share = (steal_ticks(cpus) - stolen) / os.sysconf("SC_CLK_TCK") / len(cpus)
        share /= time.monotonic() - start
        rows = rows_of(results)
        warnings = warnings + [f"warning: {line}" for line in doubts(args, results)]
        if rows:
            head = head + [f"steal time: {share:.1%} of the CPUs that forward"] + warnings
            tell(args, facts, head, rows, windows_of(results))
    return rows


def tell(args, facts, head, rows, windows):
    """Print and write the results."""
    try:  # who reads the tables may have gone, a disk may be full: neither takes the other along
        write_files(args, facts, head, rows, windows)
    finally:
        print("\n".join(head + report.text_tables(rows) + closing(args, rows)), flush=True)


def run(args):
    """Measure and report; return the exit status."""
    machine = Machine()
    old, old_facts = read_old(args)
    placements = choose_placements(args, machine)
    load = os.getloadavg()[0]
    huge = use_huge_pages(args, machine, placements)
    head = header(args, machine, placements, huge)
    facts = about(args, machine, placements, huge)
    if args.verify:
        return run_verify(args, facts, head, placements, huge)
    lines = [line for where in placements for line in machine.warnings(where, load)]
    lines += [line for build in args.build for line in build.doubts()] + differences(args.build)
    other = report.check_machine(args.compare, old_facts, facts) if old else None
    lines += [f"--compare: {other}"] if other else []
    warnings = [f"warning: {line}" for line in dict.fromkeys(lines)]
    rows = measure_and_tell(args, placements, huge, facts, head, warnings)
    if not any(row["windows"] for row in rows):
        return NO_FIGURES
    if not old:
        return 0
    lines, worse = report.compare(rows, old, args.max_loss / 100)
    print("\n".join(["", f"compared with {args.compare}:"] + lines), flush=True)
    return 3 if worse else 0


def main():
    args = parse_args()
    for number_ in STOP_SIGNALS:
        if signal.getsignal(number_) != signal.SIG_IGN:  # as nohup sets it
            signal.signal(number_, stop)
    try:
        if args.check:
            read_old(args)
            sys.exit(0)
        sys.exit(run(args))
    except Stopped as stopped:
        say(f"stopped by {signal.Signals(stopped.args[0]).name}")
        sys.exit(128 + stopped.args[0])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        sys.exit(128 + signal.SIGPIPE)
    except (LoopError, OSError) as error:
        sys.exit(f"dpdk-vhost-loop: {error}")


if __name__ == "__main__":
    main()
