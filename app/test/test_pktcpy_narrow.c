/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* The same for what cores use that split accesses of 32 bytes. */

#define PKTCPY_MODE PKTCPY_NARROW
#define pktcpy_autotest pktcpy_narrow_autotest

#include "test_pktcpy.c"
