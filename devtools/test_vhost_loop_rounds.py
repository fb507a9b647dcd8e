#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of which windows of dpdk-vhost-loop.py count, with made-up series of rates."""

import random
import types
import unittest
from unittest import mock

from vhost_loop_case import window
from vhost_loop import LoopError, TimeOver, measure, report, rounds, stats, testpmd

CASE = ("all", "split", "loop", 64)
BASE, NEW = ("base", ""), ("new", "")


def series(*parts, ratio=None, seed=1):
    """Return rounds of which (count, rate of the baseline, ratio) are told, with some noise."""
    rng = random.Random(seed)
    found = []
    for count, rate, true in parts:
        for _ in range(count):
            found.append([(variant, testpmd.Window(rate * factor * rng.uniform(0.98, 1.02), None))
                          for variant, factor in ((BASE, 1), (NEW, ratio or true), (BASE, 1))])
    return found


def row_of(made):
    """Return the row of the build that is not the baseline."""
    return report.summarize(CASE, [BASE, NEW], made)[1]


class StateTest(unittest.TestCase):
    """Rounds are told apart by the baseline's rate."""

    def test_one_state(self):
        """All rounds count, and the ratio is the one that was put in."""
        row = row_of(series((16, 13, 1.05)))
        self.assertEqual((row["windows"], row["dropped"], row["verdict"]), (16, 0, "faster"))
        self.assertTrue(row["low"] <= 1.05 <= row["high"], row)

    def test_two_states(self):
        """The ratio is that of the state of most rounds, however the others stand between them."""
        for order in range(5):
            made = series((10, 13, 0.9), (6, 25, 1.44))
            random.Random(order).shuffle(made)
            row = row_of(made)
            self.assertEqual((row["windows"], row["reasons"]), (10, "6 state"))
            self.assertEqual(row["verdict"], "slower")
            self.assertTrue(row["low"] <= 0.9 <= row["high"], row)
            self.assertTrue(11 < row["min"] and row["max"] < 13, row)

    def test_the_baseline_loses_the_same_rounds(self):
        """Its rate is that of the same state."""
        base = report.summarize(CASE, [BASE, NEW], series((10, 13, 1), (6, 25, 1.4)))[0]
        self.assertEqual((base["windows"], base["reasons"]), (20, "12 state"))
        self.assertLess(base["max"], 14)

    def test_states_without_a_majority(self):
        """No ratio and no winner, though each state alone would have had one."""
        for parts in ([(8, 13, 1.1), (8, 25, 1.44)],
                      [(7, 9.5, 1.1), (6, 13, 1.2), (7, 25, 1.44)]):
            row = row_of(series(*parts))
            self.assertEqual((row["verdict"], row["ratio"], row["low"]),
                             ("machine changed", None, None))
            self.assertEqual(row["dropped"], 0)

    def test_too_few_rounds_of_the_state(self):
        """Five of eight rounds are most of them, but no interval."""
        row = row_of(series((5, 13, 1.1), (3, 25, 1.4)))
        self.assertEqual((row["verdict"], row["ratio"]), ("machine changed", None))

    def test_drift(self):
        """A slow one is one state, a long one is none."""
        slow = series(*[(1, 13 + i / 20, 1.1) for i in range(16)])
        self.assertEqual((row_of(slow)["windows"], row_of(slow)["verdict"]), (16, "faster"))
        long = series(*[(1, 10 * 1.06 ** i, 1.1) for i in range(16)])
        self.assertEqual((row_of(long)["verdict"], row_of(long)["ratio"]),
                         ("machine changed", None))

    def test_change_within_a_round(self):
        """The window is dropped, whether the machine has changed before or within it."""
        for rates in ((13, 13.1, 25), (13, 25, 25), (25, 13, 13)):
            made = series((12, 13, 1)) + [
                [(variant, testpmd.Window(rate, None))
                 for variant, rate in zip((BASE, NEW, BASE), rates)]]
            row = row_of(made)
            self.assertEqual((row["windows"], row["reasons"]), (12, "1 change"))
            self.assertLess(row["max"], 14)
            self.assertEqual(row["verdict"], "no difference seen")

    def test_change_beside(self):
        """Another build of the same round counts where the machine was as always."""
        third = ("third", "")
        made = [[(variant, testpmd.Window(rate, None)) for variant, rate in zip(
            (BASE, NEW, BASE, third, BASE), (13, 12, 13, other, last))]
                for other, last in [(12, 13)] * 7 + [(25, 25)]]
        rows = report.summarize(CASE, [BASE, NEW, third], made)
        self.assertEqual([row["reasons"] for row in rows], ["1 change", "", "1 change"])
        self.assertEqual([row["verdict"] for row in rows], ["baseline", "slower", "slower"])

    def test_change_within_most_rounds(self):
        """Then there is nothing to tell."""
        made = series((5, 13, 1.2)) + [
            [(BASE, testpmd.Window(13, None)), (NEW, testpmd.Window(25, None)),
             (BASE, testpmd.Window(25, None))]] * 11
        row = row_of(made)
        self.assertEqual((row["verdict"], row["reasons"]), ("machine changed", "11 change"))
        self.assertEqual(row_of(made[5:])["verdict"], "machine changed")

    def test_linear_drift_within_a_round(self):
        """The mean of the two windows of the baseline is that of the time between them."""
        made = [[(variant, testpmd.Window(10 * 1.03 ** (turn * 3 + place), None))
                 for place, variant in enumerate((BASE, NEW, BASE))] for turn in range(2)] * 4
        self.assertAlmostEqual(row_of(made)["ratio"], 1, 9)

    def test_a_round_without_its_baseline(self):
        """Nobody knows of which state it is."""
        made = series((8, 13, 1))
        made[3][2] = (BASE, testpmd.Window(13, "steal"))
        made[4][1] = (NEW, testpmd.Window(99, "wait"))
        rows = report.summarize(CASE, [BASE, NEW], made)
        self.assertEqual([row["reasons"] for row in rows],
                         ["1 baseline, 1 steal", "1 baseline, 1 wait"])
        self.assertLess(rows[1]["max"], 14)

    def test_few_rounds_without_a_change(self):
        """That is another reason to say nothing."""
        self.assertEqual(row_of(series((5, 13, 1.1)))["verdict"], "too few pairs")
        made = series((8, 13, 1.1))
        for windows in made[:3]:
            windows[1] = (NEW, windows[1][1]._replace(dropped="loss"))
        self.assertEqual(row_of(made)["verdict"], "too few pairs")

    def test_no_rounds_that_count(self):
        """All windows were dropped: nothing is known of states."""
        made = [[(variant, testpmd.Window(None, "wait")) for variant in (BASE, NEW, BASE)]] * 8
        self.assertEqual(row_of(made)["verdict"], "too few pairs")
        self.assertFalse(rounds.judge(made).changed)

    def test_single_build(self):
        """One window of each round; its rates are of one state too."""
        made = [[(BASE, testpmd.Window(rate, None))] for rate in [13] * 6 + [25] * 4]
        row = report.summarize(CASE, [BASE], made)[0]
        self.assertEqual((row["max"], row["reasons"], row["verdict"]), (13, "4 state", "baseline"))

    def test_never_a_wrong_winner(self):
        """Builds that are alike but in a state of few rounds, in hundreds of series."""
        rng, wrong = random.Random(3), 0
        for seed in range(200):
            made = series((10, 13, 1), (rng.randint(1, 9), 25, 1.44), seed=seed)
            rng.shuffle(made)
            wrong += row_of(made)["verdict"] in ("faster", "slower")
        self.assertLess(wrong, 16)  # one in twenty is by chance

    def test_turns(self):
        """Every other window is of the baseline; the others are there once, in any order."""
        rng, variants = random.Random(1), [(name, "") for name in "abcd"]
        orders = [measure.turns(variants, rng) for _ in range(100)]
        for order in orders:
            self.assertEqual(order[::2], [variants[0]] * 4)
            self.assertEqual(sorted(order[1::2]), variants[1:])
        self.assertEqual(len(set(map(tuple, orders))), 6)
        self.assertEqual(measure.turns(variants[:1], rng), variants[:1])

    def test_main_state(self):
        """The narrowest group where several have as many rates."""
        self.assertEqual(stats.main_state([10, 11, 12, 14, 12.5]), (11, 12.5))
        self.assertEqual(stats.main_state([10, 11.9, 14.2]), (10, 11.9))
        self.assertIsNone(stats.main_state([10, 12.1]))
        self.assertIsNone(stats.main_state([]))

    def test_raw_windows(self):
        """What is written has all windows, with the round and what became of them."""
        made = series((6, 13, 1), (2, 25, 1))
        raw = report.raw_windows(CASE, made)
        self.assertEqual([window["round"] for window in raw[::3]], list(range(1, 9)))
        self.assertEqual([window["build"] for window in raw[:3]], ["base", "new", "base"])
        self.assertEqual([window["dropped"] for window in raw[-6:]], ["state"] * 6)
        self.assertEqual(raw[0]["value"], made[0][0][1].value)


class Clock:
    """Time that passes only when it is told to, and pairs that take some."""

    def __init__(self, start_s, window_s):
        self.now, self.start_s, self.window_s = 0, start_s, window_s

    def monotonic(self):
        """Return the time."""
        return self.now

    def pass_time(self, seconds, deadline):
        """Let time pass, as a Pair does."""
        self.now += seconds
        if self.now > deadline:
            self.now = deadline
            raise TimeOver


class SlowPair:
    """What is used like a Pair, and takes time of a clock."""

    def __init__(self, clock, build, deadline):
        self.clock, self.build, self.deadline = clock, build, deadline

    def __enter__(self):
        self.clock.pass_time(self.clock.start_s, self.deadline)
        return self

    def __exit__(self, *_):
        pass

    def measure(self, *_):
        """Return a window."""
        self.clock.pass_time(self.clock.window_s, self.deadline)
        return testpmd.Window(10, None)


class QuickTest(unittest.TestCase):
    """What is left out where the time has a limit."""

    def measure(self, builds, limit=110, start_s=0.5, window_s=0.2, kinds=1, **more):
        """Run it on made-up time; return [(size, rounds)], the lines on doubts, and the time."""
        args = types.SimpleNamespace(**dict(
            {"build": [types.SimpleNamespace(name=f"b{number}") for number in range(builds)],
             "modes": None, "sizes": [64, 256, 1518], "rings": ["split"], "directions": ["loop"],
             "rounds": None, "seconds": 90, "limit": limit, "preset": "quick", "window": 0.2,
             "width": 0, "seed": 1}, **more))
        where = [types.SimpleNamespace(kind=f"k{number}") for number in range(kinds)]
        clock, results = Clock(start_s, window_s), {}

        def pair(build, *_, deadline):
            return SlowPair(clock, build, deadline)
        with mock.patch.multiple(measure, time=clock, Pair=pair), \
                mock.patch.object(measure.Progress, "line"), \
                mock.patch.object(measure, "is_settled", return_value=False):
            measure.measure(args, where, False, results)
        return ([(size, len(found)) for case in results.values()
                 for size, found in case.rounds.items()], measure.doubts(args, results), clock.now)

    def test_all_sizes(self):
        """With few builds, until no new round may begin."""
        found, lines, seconds = self.measure(3)
        self.assertEqual((found, lines), ([(64, 20), (256, 20), (1518, 20)], []))
        self.assertTrue(90 <= seconds < 97)

    def test_fewer_rounds_then_fewer_sizes(self):
        """Six rounds are what an interval needs."""
        for builds, sizes in ((9, [64, 256, 1518]), (10, [64, 256]), (15, [64])):
            found, lines, seconds = self.measure(builds)
            self.assertEqual([size for size, _ in found], sizes, builds)
            self.assertTrue(all(count >= 6 for _, count in found), found)
            self.assertLessEqual(seconds, 110)
            self.assertEqual(len(lines), len(sizes) < 3)
        self.assertEqual(lines, ["k0, split, loop: 256, 1518 left out, --quick has no time for 6 "
                                 "rounds of all sizes with 15 builds and modes"])

    def test_too_many(self):
        """Refused after a round that tells it, or one that does not come to its end."""
        for builds, seconds in ((20, "33"), (200, "110")):
            with self.assertRaisesRegex(LoopError, f"{builds} builds are too many for --quick: 6 "
                                        f"rounds are needed, and one took {seconds} s"):
                self.measure(builds)

    def test_kinds_share_the_time(self):
        """Each has its part; no round is begun that would not end in time."""
        found, _, seconds = self.measure(5, kinds=2)
        self.assertEqual([size for size, _ in found], [64, 256] * 2)
        self.assertLessEqual(seconds, 110)
        self.assertTrue(all(7 <= count <= 8 for _, count in found), found)

    def test_a_round_that_is_cut_off(self):
        """It does not count, and what was before does."""
        calls = iter([0.1] * 24 + [50] * 99)
        clock_pass = Clock.pass_time
        with mock.patch.object(Clock, "pass_time",
                               lambda self, _, deadline: clock_pass(self, next(calls), deadline)):
            found, _, seconds = self.measure(2, window_s=0.1)
        self.assertEqual(found, [(64, 2), (256, 2), (1518, 2)])
        self.assertEqual(seconds, 110)

    def test_rounds_that_were_asked_for(self):
        """A single one leaves nothing out."""
        self.assertEqual([size for size, _ in self.measure(20, rounds=1)[0]], [64, 256, 1518])

    def test_no_limit(self):
        """Without --quick sizes are measured, however long it takes."""
        found, lines, seconds = self.measure(40, limit=float("inf"))
        self.assertEqual((len(found), lines), (3, []))
        self.assertGreater(seconds, 90)


if __name__ == "__main__":
    unittest.main()
