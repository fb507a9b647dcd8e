# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""The parts of dpdk-vhost-loop.py."""

import functools
import sys


class LoopError(Exception):
    """What the user has to know; the first line says what is wrong."""


class TimeOver(Exception):
    """The time that a run may take is over."""


@functools.lru_cache(maxsize=None)
def say(text):
    """Tell what goes on, each thing once."""
    print(f"dpdk-vhost-loop: {text}", file=sys.stderr, flush=True)
