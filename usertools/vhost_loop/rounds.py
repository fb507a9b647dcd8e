# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Which windows count: those while the machine was what it was most of the time.

A host may move virtual CPUs, from threads of one core to two cores say, and what follows is a
measurement of another machine, on which ratios are others too. Only rates show it, and it happens
several times in a second. So each window of a build stands between two of the baseline, which
tell in which state the machine was, and whether that changed meanwhile.
"""

import collections
import math

from vhost_loop.stats import is_steady, main_state

# Why a window does not count, in the order in which it is found out.
REASONS = {
    "steal": "the hypervisor took CPU time",
    "wait": "other processes took CPU time",
    "loss": "packets were lost",
    "baseline": "the window of the baseline before or after it was dropped",
    "change": "the machine changed between the windows of the baseline before and after it",
    "state": "the machine was not what it was most of the time",
}

# rounds: as they were, with the windows that do not count marked; bases: for each window of each
# round the rate of the baseline at that time, or None where it does not count; changed: the machine
# was in no state most of the time.
Judged = collections.namedtuple("Judged", "rounds bases changed")


def base_of(windows, index):
    """Return the baseline's rate at the time of a window of a round, and why it has none, or None.

    windows: the (variant, Window) of the round, those of the baseline beside the index, or a
    single one.
    """
    around = windows if len(windows) == 1 else [windows[index - 1], windows[index + 1]]
    if any(window.dropped for _, window in around):
        return None, "baseline"
    rates = [window.value for _, window in around]
    if not is_steady(rates):
        return None, "change"
    return math.exp(sum(map(math.log, rates)) / len(rates)), None


def judge(rounds):
    """Return the Judged rounds of a size: each a list of (variant, Window) in order of time.

    Every other window is one of the baseline, the first and the last one too.
    """
    # Windows between those of the baseline, or the only one.
    between = [range(min(1, len(windows) - 1), len(windows), 2) for windows in rounds]
    found = [{index: base_of(windows, index) for index in indexes}
             for windows, indexes in zip(rounds, between)]
    rates = [base for of_round in found for base, _ in of_round.values() if base]
    state = main_state(rates)
    marked, bases = [], []
    for windows, of_round in zip(rounds, found):
        if state:
            of_round = {index: (None, "state") if base and not state[0] <= base <= state[1] else
                        (base, why) for index, (base, why) in of_round.items()}
        of_all = [of_round.get(index) or beside(of_round, index) for index in range(len(windows))]
        marked.append([(variant, window._replace(dropped=window.dropped or why))
                       for (variant, window), (_, why) in zip(windows, of_all)])
        bases.append([base for base, _ in of_all])
    return Judged(marked, bases, bool(rates) and not state)


def beside(of_round, index):
    """Return what holds for a window of the baseline: the best of what holds beside it."""
    return min((of_round[place] for place in (index - 1, index + 1) if place in of_round),
               key=lambda found: found[1] is not None)


def windows_of(judged, variant):
    """Return all windows of a variant."""
    return [window for windows in judged.rounds for name, window in windows if name == variant]


def ratios_of(judged, variant):
    """Return the ratios of a variant's windows to the baseline of their time."""
    return [window.value / base for windows, bases in zip(judged.rounds, judged.bases)
            for (name, window), base in zip(windows, bases)
            if name == variant and base and not window.dropped]
