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
SHIFT = 1.2  # rates that are further apart are of two states of the machine


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


def is_steady(rates):
    """Tell whether rates of the same thing may be of one state of the machine."""
    return max(rates) <= SHIFT * min(rates)


def main_state(rates):
    """Return the least and the greatest rate of the state that most of the rates are of, or None.

    Rates of a state lie within SHIFT of one another. Of all such groups it is the one of most
    rates, which must be more than half of all, and of several the narrowest.
    """
    best = (0, 0, None)
    for low in sorted(rates):
        group = [rate for rate in rates if low <= rate <= SHIFT * low]
        best = max(best, (len(group), low / max(group), (low, max(group))))
    return best[2] if 2 * best[0] > len(rates) else None
