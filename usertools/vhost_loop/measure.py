# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Rounds of windows, until the intervals are narrow or the time is over."""

import collections
import contextlib
import functools
import itertools
import random
import sys
import time

from vhost_loop import LoopError, TimeOver, report, say
from vhost_loop.stats import MIN_PAIRS
from vhost_loop.testpmd import Pair, run_directory

MIN_ROUNDS = 8
LOG_LINE_S = 5  # between lines that say how far it is, where they stay

# What was measured of a case (core, ring, direction): the variants, size -> rounds, and the sizes
# for which there was no time.
Found = collections.namedtuple("Found", "variants rounds left_out")


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


def sizes_of(args, direction):
    """Return the sizes that are measured in a direction."""
    return [size for size in args.sizes if size != "imix" or direction == "loop"]


def find_variants(args, pairs):
    """Return the (build, mode) to compare: a build without copy modes is one variant."""
    variants = []
    for pair in pairs:
        has_modes = bool(args.modes) and pair.copy_mode() is not None
        if args.modes and not has_modes:
            say(f"{pair.build.name}: its vhost has no copy modes to choose from, measured as it is")
        variants += [(pair.build.name, mode) for mode in (args.modes if has_modes else [""])]
    return variants


def turns(variants, rng):
    """Return the order of a round: the others in random order, the baseline around each."""
    base, *others = variants
    return [base] + [name for other in rng.sample(others, len(others)) for name in (other, base)]


def run_round(args, pairs, variants, case, sizes, rng):
    """Measure the windows of a round; return size -> list of (variant, Window), and its seconds."""
    by_name = {pair.build.name: pair for pair in pairs}
    found, seconds = {size: [] for size in sizes}, {}
    for size in sizes:
        begin = time.monotonic()
        for build, mode in turns(variants, rng):
            pair = by_name[build]
            try:
                if mode:
                    pair.set_copy_mode(mode)
                window = pair.measure(case[2], size, args.window)
            except LoopError as error:
                raise LoopError(f"{build}: {error}") from None
            found[size].append(((build, mode), window))
        seconds[size] = time.monotonic() - begin
    return found, seconds


def sizes_in_time(size_seconds, other_seconds, rounds, seconds):
    """Return the sizes, the first ones, of which so many rounds fit into a time.

    size_seconds: size -> what it takes of a round; other_seconds: what the rest of a round takes.
    """
    sizes = list(size_seconds)
    while sizes and seconds < rounds * (
            other_seconds + sum(size_seconds[size] for size in sizes)):
        sizes.pop()
    return sizes


@contextlib.contextmanager
def all_pairs(args, placement, ring, huge, run_dir, deadline):
    """Run a pair of each build; those that are not measured wait without using a CPU."""
    with contextlib.ExitStack() as stack:
        pairs = []
        for build in args.build:
            try:
                pairs.append(stack.enter_context(
                    Pair(build, placement, ring, huge, run_dir, deadline=deadline)))
            except LoopError as error:
                raise LoopError(f"{build.name}: {error}") from None
        yield pairs


def measure_case(args, case, start_pairs, progress, end, results):
    """Run rounds until the intervals are narrow or the time is over; add them to the results.

    They are there after each round, so that what fails later does not take them along.
    """
    rng, variants = random.Random(args.seed), None
    sizes = sizes_of(args, case[2])
    for turn in range(1, int(args.rounds or 1000) + 1):
        begin = progress.elapsed()
        try:
            # New processes each round: where their memory lies counts too.
            with start_pairs() as pairs:
                variants = variants or find_variants(args, pairs)
                windows, seconds = run_round(args, pairs, variants, case, sizes, rng)
        except TimeOver:  # a round that is not complete does not count
            if turn == 1:
                raise too_many(args, progress.elapsed() - begin) from None
            break
        if turn == 1:
            sizes = choose_sizes(args, seconds, progress.elapsed() - begin, end - begin)
            results[case] = Found(variants, {size: [] for size in sizes},
                                  [size for size in seconds if size not in sizes])
        for size in sizes:
            results[case].rounds[size].append(windows[size])
        progress.show(f"{case[0]} cores, {case[1]}, {case[2]}: round {turn}")
        if progress.elapsed() >= end or turn >= MIN_ROUNDS and is_settled(
                args, case, results[case]):
            break


def choose_sizes(args, size_seconds, round_seconds, seconds):
    """Return the sizes to go on with after the first round: all, unless the time has a limit.

    With a limit enough rounds for an interval come first, then sizes, from the last on, are left
    out.
    """
    if args.limit == float("inf"):
        return list(size_seconds)
    rest = round_seconds - sum(size_seconds.values())
    rounds = min(int(args.rounds or MIN_PAIRS), MIN_PAIRS)
    sizes = sizes_in_time(size_seconds, rest, rounds, seconds)
    if not sizes:
        raise too_many(args, round_seconds)
    return sizes


def too_many(args, round_seconds):
    """Return the error that says that there are too many builds for the time."""
    return LoopError(
        f"{len(args.build)} builds are too many for --{args.preset}: {MIN_PAIRS} rounds are "
        f"needed, and one took {round_seconds:.0f} s; name fewer builds, modes, rings, directions "
        "or kinds of cores, or --seconds")


def is_settled(args, case, found):
    """Tell whether more rounds would not say more."""
    if len(found.variants) == 1:
        return False
    return all(row["verdict"] == "baseline" or is_narrow(args, row)
               for size, rounds in found.rounds.items()
               for row in report.summarize((*case, size), found.variants, rounds))


def is_narrow(args, row):
    """Tell whether an interval is as narrow as it was asked for."""
    return row["low"] is not None and row["high"] - row["low"] <= args.width / 100


def measure(args, placements, huge, results):
    """Measure the whole matrix; add case -> Found to the results."""
    cases = list(itertools.product(
        placements, args.rings, [name for name in args.directions if sizes_of(args, name)]))
    with run_directory() as run_dir, Progress(args.seconds) as progress:
        for done, (placement, ring, direction) in enumerate(cases, 1):
            # What a case has not needed is left to the others.
            spare = args.seconds - progress.elapsed()
            end = progress.elapsed() + max(0, spare) / (len(cases) - done + 1)
            start_pairs = functools.partial(all_pairs, args, placement, ring, huge, run_dir,
                                            progress.start + args.limit)
            measure_case(args, (placement.kind, ring, direction), start_pairs, progress, end,
                         results)


def doubts(args, results):
    """Return lines on what was not measured for want of time."""
    return [f"{', '.join(case)}: {', '.join(map(str, found.left_out))} left out, --{args.preset} "
            f"has no time for {MIN_PAIRS} rounds of all sizes with {len(found.variants)} builds "
            "and modes" for case, found in results.items() if found.left_out]


def rows_of(results):
    """Return the rows of all tables."""
    return [row for case, found in results.items() for size, rounds in found.rounds.items()
            for row in report.summarize((*case, size), found.variants, rounds)]


def windows_of(results):
    """Return all windows."""
    return [window for case, found in results.items() for size, rounds in found.rounds.items()
            for window in report.raw_windows((*case, size), rounds)]
