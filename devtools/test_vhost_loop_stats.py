#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of what dpdk-vhost-loop.py may say from figures."""

import random
import unittest

import vhost_loop_case  # for the path
from vhost_loop import stats


class StatsTest(unittest.TestCase):
    """What may be said."""

    def test_clear_difference(self):
        """All pairs on one side."""
        ratio = stats.Ratio([1.04, 1.05, 1.06, 1.05, 1.04, 1.07, 1.05])
        self.assertEqual(ratio.verdict(), "faster")
        self.assertTrue(1.03 < ratio.low <= ratio.median <= ratio.high < 1.08)
        self.assertEqual(stats.Ratio([0.9] * 3 + [0.91] * 4).verdict(), "slower")

    def test_no_winner_whose_interval_spans_one(self):
        """However far the median is from 1."""
        ratio = stats.Ratio([0.8, 0.9, 1.2, 1.3, 1.3, 1.4, 0.7, 1.2])
        self.assertGreater(ratio.median, 1.1)
        self.assertTrue(ratio.low < 1 < ratio.high)
        self.assertEqual(ratio.verdict(), "no difference seen")

    def test_too_few(self):
        """Two pairs say nothing, however equal they are."""
        self.assertEqual(stats.Ratio([1.5, 1.5]).verdict(), "too few pairs")
        self.assertEqual(stats.Ratio([]).verdict(), "too few pairs")

    def test_no_winner_at_what_is_printed_as_one(self):
        """An interval that reads 1.000 - 1.001 holds 1.0 for whoever reads it."""
        self.assertEqual(stats.Ratio([1.0002] * 5 + [1.0009] * 5).verdict(), "no difference seen")
        self.assertEqual(stats.Ratio([0.9998] * 5 + [0.9991] * 5).verdict(), "no difference seen")

    def test_intervals_hold_the_true_value(self):
        """In 95 of 100 cases, with few pairs too."""
        rng = random.Random(2)
        for count in (7, 8):
            spans = [stats.interval([rng.lognormvariate(0, 0.03) for _ in range(count)])
                     for _ in range(300)]
            held = sum(low <= 1 <= high for low, high in spans) / len(spans)
            self.assertGreater(held, 0.93, count)

    def test_many_values_need_no_expansion(self):
        """The usual 2.5 % at each end."""
        self.assertAlmostEqual(stats.tail(10000), 0.025, 4)

    def test_outliers_do_not_move_it(self):
        """One window in another regime of the machine is no news."""
        ratio = stats.Ratio([1.02] * 9 + [2.0])
        self.assertEqual(ratio.median, 1.02)
        self.assertLess(ratio.high, 1.1)


if __name__ == "__main__":
    unittest.main()
