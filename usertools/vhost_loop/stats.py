# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""What may be said from paired measurements."""

import random
import statistics

RESAMPLES = 2000
CONFIDENCE = 0.95
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
        if self.low > 1:
            return "faster"
        return "slower" if self.high < 1 else "no difference seen"


def interval(values, confidence=CONFIDENCE):
    """Return the percentile bootstrap interval of the median."""
    rng = random.Random(SEED)
    medians = sorted(statistics.median(rng.choices(values, k=len(values)))
                     for _ in range(RESAMPLES))
    cut = int(RESAMPLES * (1 - confidence) / 2)
    return medians[cut], medians[-1 - cut]


def paired(values, base):
    """Return the ratios of two lists of one value per round, None where a window was dropped."""
    return [value / other for value, other in zip(values, base) if value and other]


def kept(values):
    """Return the values of the windows that were not dropped."""
    return [value for value in values if value]

