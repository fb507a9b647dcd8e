# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""What may be said from paired measurements."""

import math
import random
import statistics

RESAMPLES = 2000
Z = 1.959964  # a normal distribution has 95 % within so many standard deviations
DIGITS = 3  # of a ratio where it is printed
MIN_PAIRS = 6  # fewer cannot give an interval of 95 % for a median
SEED = 1  # the same measurements give the same interval


class Ratio:
    """The median of paired ratios with its bootstrap interval."""

    def __init__(self, ratios):
        self.count = len(ratios)
        self.median = statistics.median(ratios) if ratios else None
        self.low, self.high = interval(ratios) if self.count >= MIN_PAIRS else (None, None)

    def known(self):
        """Tell whether there were enough pairs for an interval."""
        return self.low is not None

    def verdict(self):
        """Return "faster" or "slower" only where the interval leaves no doubt."""
        if not self.known():
            return "too few pairs"
        if round(self.low, DIGITS) > 1:  # as printed: 1.000 is within, whatever follows it
            return "faster"
        return "slower" if round(self.high, DIGITS) < 1 else "no difference seen"


def tail(count):
    """Return the share of resampled medians to cut off at each end.

    With few values the plain 2.5 % give intervals that hold the true median in 9 cases of 10 only:
    resampling sees too little spread, by the factor that Student's t and n / (n - 1) tell.
    """
    free = count - 1
    t = Z + (Z ** 3 + Z) / (4 * free) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * free ** 2)
    return math.erfc(t * math.sqrt(count / free / 2)) / 2


def interval(values):
    """Return the percentile bootstrap interval of the median, expanded for few values."""
    rng = random.Random(SEED)
    medians = sorted(statistics.median(rng.choices(values, k=len(values)))
                     for _ in range(RESAMPLES))
    cut = int(RESAMPLES * tail(len(values)))
    return medians[cut], medians[-1 - cut]


def paired(values, base):
    """Return the ratios of two lists of one value per round, None where a window was dropped."""
    return [value / other for value, other in zip(values, base) if value and other]


def kept(values):
    """Return the values of the windows that were not dropped."""
    return [value for value in values if value]

