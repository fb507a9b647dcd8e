# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Which windows count: those of rounds in which the machine was what it was in most rounds.

A host may move virtual CPUs, from threads of one core to two cores say, and what follows is a
measurement of another machine, on which ratios are others too. Only rates show it. The windows
of a size in a round stand between two of the baseline, so the baseline tells of which state the
round is, and whether that changed within.
"""

import collections
import math

from vhost_loop.stats import is_steady, main_state

# Why a window does not count, in the order in which it is found out.
REASONS = {
    "steal": "the hypervisor took CPU time",
    "wait": "other processes took CPU time",
    "loss": "packets were lost",
    "baseline": "one of the round's windows of the baseline was dropped",
    "change": "the machine changed within the round",
    "state": "the machine was not what it was in most rounds",
}

# rounds: as they were, with the windows that do not count marked; bases: the baseline's rate in
# each round, or None where the round has no ratios; changed: no state had most of the rounds.
Judged = collections.namedtuple("Judged", "rounds bases changed")


def base_of(windows, baseline):
    """Return the baseline's rate in a round, or None, and why the round does not count, or None.

    windows: the (variant, Window) of the round.
    """
    own = [window for variant, window in windows if variant == baseline]
    if any(window.dropped for window in own):
        return None, "baseline"
    rates = [window.value for window in own]
    if not is_steady(rates):
        return None, "change"
    return math.exp(sum(map(math.log, rates)) / len(rates)), None


def judge(rounds, baseline):
    """Return the Judged rounds of a size: each a list of (variant, Window) in order of time."""
    found = [base_of(windows, baseline) for windows in rounds]
    rates = [base for base, _ in found if base]
    state = main_state(rates)
    if state:
        found = [(None, "state") if base and not state[0] <= base <= state[1] else (base, why)
                 for base, why in found]
    marked = [[(variant, window._replace(dropped=window.dropped or why))
               for variant, window in windows] for windows, (_, why) in zip(rounds, found)]
    changed = bool(rates) and not state
    return Judged(marked, [None if changed else base for base, _ in found], changed)


def windows_of(judged, variant):
    """Return all windows of a variant."""
    return [window for windows in judged.rounds for name, window in windows if name == variant]


def ratios_of(judged, variant):
    """Return the ratios of a variant's windows to the baseline of their round."""
    return [window.value / base for windows, base in zip(judged.rounds, judged.bases) if base
            for name, window in windows if name == variant and not window.dropped]
