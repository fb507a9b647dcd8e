# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""The parts of dpdk-vhost-loop.py."""


class LoopError(Exception):
    """What the user has to know; the first line says what is wrong."""
