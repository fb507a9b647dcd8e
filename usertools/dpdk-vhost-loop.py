#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""
Compare builds of dpdk-testpmd by the packet rate of a vhost <-> virtio-user loop.

For each build two testpmd processes exchange packets between a virtio-user port and
a vhost port. In each round all builds run, and take turns in short windows in random
order, because the speed of a shared machine drifts: a ratio compares two windows of
the same round. The first build is the baseline of the ratios.
"""

import argparse
import contextlib
import datetime
import functools
import itertools
import json
import os
import pathlib
import random
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
from vhost_loop import LoopError, report, verify  # noqa: E402
from vhost_loop.stats import MIN_PAIRS  # noqa: E402
from vhost_loop.testpmd import (  # noqa: E402
    MEMORY_MB, RINGS, STOP_SIGNALS, Build, Pair, Stopped, differences, run_directory,
    stop)
from vhost_loop.topology import Machine, steal_ticks  # noqa: E402

MIN_SIZE, MAX_SIZE = 64, 1518
DIRECTIONS = ("loop", "enqueue", "dequeue", "latency")
MODES = ("auto", "memcpy", "wide", "narrow")
NOT_TO_VERIFY = ("sizes", "directions", "rounds", "seconds", "csv", "markdown", "plot", "compare")
WIDTH = 0.02  # of an interval that is narrow enough
MIN_ROUNDS = 8
MAX_LOSS = 2.0  # percent
MAX_SHIFT = 1.5  # between the windows of the baseline, on a machine that stays as it is
LOG_LINE_S = 5  # between lines that say how far it is, where they stay
# How much each preset measures: seconds is the time after which no new round starts.
PRESETS = {
    "quick": {"sizes": [64, 256, 1518], "rings": ["split"], "directions": ["loop"],
              "seconds": 90},
    "default": {"sizes": [64, 128, 256, 512, 1024, 1518, "imix"], "rings": ["split"],
                "directions": ["loop", "latency"], "seconds": 300},
    "full": {"sizes": [64, 128, 256, 512, 1024, 1518, "imix"], "rings": list(RINGS),
             "directions": list(DIRECTIONS), "seconds": 3600},
}


@functools.lru_cache(maxsize=None)
def say(text):
    """Tell what goes on, each thing once."""
    print(f"dpdk-vhost-loop: {text}", file=sys.stderr, flush=True)


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
    add("--window", metavar="SEC", type=number(0.05, 10), default=0.2,
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


def sizes_of(args, direction):
    """Return the sizes that are measured in a direction."""
    return [size for size in args.sizes if size != "imix" or direction == "loop"]


# Measuring

class Progress:
    """A line on stderr that says how far it is."""

    def __init__(self, seconds):
        self.start, self.seconds = time.monotonic(), seconds
        self.tty = sys.stderr.isatty()
        self.next = self.start  # when a line is due where lines stay, as in a log

    def elapsed(self):
        """Return the seconds since the start."""
        return time.monotonic() - self.start

    def show(self, text):
        """Print a line with the time left at most."""
        self.line(f"{text}, at most {max(0, self.seconds - self.elapsed()):.0f} s left")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.finish()

    def line(self, text):
        """Print a line: on a terminal in place of the one before, else only now and then."""
        if self.tty:
            print(f"\033[K{text}", end="\r", file=sys.stderr, flush=True)
        elif time.monotonic() >= self.next:
            self.next = time.monotonic() + LOG_LINE_S
            print(text, file=sys.stderr, flush=True)

    def finish(self):
        """Remove the line."""
        if self.tty:
            print("\033[K", end="", file=sys.stderr, flush=True)


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


def find_variants(args, pairs):
    """Return the (build, mode) to compare: a build without copy modes is one variant."""
    variants = []
    for pair in pairs:
        has_modes = bool(args.modes) and pair.copy_mode() is not None
        if args.modes and not has_modes:
            say(f"{pair.build.name}: its vhost has no copy modes to choose from, measured as it is")
        variants += [(pair.build.name, mode) for mode in (args.modes if has_modes else [""])]
    return variants


def run_round(args, pairs, variants, direction, windows, rng):
    """Measure one window of each variant for each size, in random order."""
    by_name = {pair.build.name: pair for pair in pairs}
    for size in sizes_of(args, direction):
        for build, mode in rng.sample(variants, len(variants)):
            pair = by_name[build]
            try:
                if mode:
                    pair.set_copy_mode(mode)
                window = pair.measure(direction, size, args.window)
            except LoopError as error:
                raise LoopError(f"{build}: {error}") from None
            windows.setdefault(size, {}).setdefault((build, mode), []).append(window)


@contextlib.contextmanager
def all_pairs(args, placement, ring, huge, run_dir):
    """Run a pair of each build; those that are not measured wait without using a CPU."""
    with contextlib.ExitStack() as stack:
        pairs = []
        for build in args.build:
            try:
                pairs.append(stack.enter_context(Pair(build, placement, ring, huge, run_dir)))
            except LoopError as error:
                raise LoopError(f"{build.name}: {error}") from None
        yield pairs


def measure_case(args, case, start_pairs, progress, end, found):
    """Run rounds until the intervals are narrow or the time is over; add the rows to those found.

    They are there after each round, so that what fails later does not take them along.
    """
    rng, windows, variants, first = random.Random(args.seed), {}, None, len(found)
    limit = int(args.rounds or 1000)
    for turn in range(1, limit + 1):
        # New processes each round: where their memory lies counts too.
        with start_pairs() as pairs:
            variants = variants or find_variants(args, pairs)
            run_round(args, pairs, variants, case[2], windows, rng)
        found[first:] = [row for size in windows for row in report.summarize(
            (*case, size), variants, windows[size])]
        progress.show(f"{case[0]} cores, {case[1]}, {case[2]}: round {turn}")
        if progress.elapsed() >= end or turn >= MIN_ROUNDS and is_settled(args, found[first:]):
            break


def is_settled(args, rows):
    """Tell whether more rounds would not say more."""
    widths = [row["high"] - row["low"] if row["low"] is not None else float("inf")
              for row in rows if row["verdict"] != "baseline"]
    return bool(widths) and all(width <= args.width / 100 for width in widths)


def measure(args, placements, huge, found):
    """Measure the whole matrix; add the rows to those found."""
    cases = list(itertools.product(
        placements, args.rings, [name for name in args.directions if sizes_of(args, name)]))
    with run_directory() as run_dir, Progress(args.seconds) as progress:
        for done, (placement, ring, direction) in enumerate(cases, 1):
            # What a case has not needed is left to the others.
            spare = args.seconds - progress.elapsed()
            end = progress.elapsed() + max(0, spare) / (len(cases) - done + 1)
            start_pairs = functools.partial(all_pairs, args, placement, ring, huge, run_dir)
            measure_case(args, (placement.kind, ring, direction), start_pairs, progress, end, found)


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


def closing(args, rows):
    """Return the lines on whether the figures are good enough to tell builds apart."""
    lines = []
    wide = [row for row in rows if row["verdict"] != "baseline"
            and (row["low"] is None or row["high"] - row["low"] > args.width / 100)]
    if wide:
        lines.append(f"{len(wide)} of the intervals are wider than {args.width:g} %: there the "
                     "machine is too noisy, or the time too short, to tell smaller differences")
    shifted = [row for row in rows if row["verdict"] == "baseline"
               and row["median"] and row["max"] > MAX_SHIFT * row["min"]]
    if shifted:
        lines.append(f"{len(shifted)} of the baseline's rates changed by more than "
                     f"{MAX_SHIFT:g} times: the machine was not the same throughout (a host may "
                     "move virtual CPUs), so ratios may be of two machines; repeat the run")
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


def write_json(args, head, rows):
    """Write the results if they were asked for."""
    if args.json:
        args.json.write_text(json.dumps({"header": head, "results": rows}, indent=1) + "\n")


def write_files(args, head, rows):
    """Write what was asked for."""
    write_json(args, head, rows)
    if args.csv:
        report.write_csv(args.csv, rows)
    if args.markdown:
        args.markdown.write_text(report.markdown(head, rows))
    if args.plot:
        report.write_plots(rows, args.plot)


def run_verify(args, head, placements, huge):
    """Check packets and report; return the exit status."""
    with run_directory() as run_dir, Progress(args.seconds) as progress:
        rows = verify.verify_all(args, placements, huge, run_dir, find_variants, progress.line)
    try:
        write_json(args, head, rows)
    finally:
        print("\n".join(head + verify.lines(rows)), flush=True)
    return 0 if all(map(verify.is_right, rows)) else 4


def read_old(args):
    """Return the rows of --compare, if they were asked for and are of use."""
    if not args.compare:
        return None
    old = report.read_json(args.compare)
    if args.build:  # else only the options are checked
        report.check_old(args.compare, old, [build.name for build in args.build], args.sizes,
                         args.rings, args.directions)
    return old


def measure_and_tell(args, placements, huge, head, warnings):
    """Measure, print and write the results, those until a failure too; return the rows."""
    cpus = {number for where in placements for number in where.forward}
    start, stolen, rows = time.monotonic(), steal_ticks(cpus), []
    try:
        measure(args, placements, huge, rows)
    except (LoopError, Stopped):
        warnings = warnings + ["warning: incomplete, this run did not come to its end"]
        raise
    finally:
        share = (steal_ticks(cpus) - stolen) / os.sysconf("SC_CLK_TCK") / len(cpus)
        share /= time.monotonic() - start
        if rows:
            tell(args, head + [f"steal time: {share:.1%} of the CPUs that forward"] + warnings,
                 rows)
    return rows


def tell(args, head, rows):
    """Print and write the results."""
    try:  # who reads the tables may have gone, a disk may be full: neither takes the other along
        write_files(args, head, rows)
    finally:
        print("\n".join(head + report.text_tables(rows) + closing(args, rows)), flush=True)


def run(args):
    """Measure and report; return the exit status."""
    machine = Machine()
    old = read_old(args)
    placements = choose_placements(args, machine)
    load = os.getloadavg()[0]
    huge = use_huge_pages(args, machine, placements)
    head = header(args, machine, placements, huge)
    if args.verify:
        return run_verify(args, head, placements, huge)
    doubts = [line for where in placements for line in machine.warnings(where, load)]
    doubts += [line for build in args.build for line in build.doubts()] + differences(args.build)
    warnings = [f"warning: {line}" for line in dict.fromkeys(doubts)]
    rows = measure_and_tell(args, placements, huge, head, warnings)
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
