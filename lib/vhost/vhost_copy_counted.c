/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* The data path that counts copies, whichever mode they are made in. */

#define VHOST_COPY_NAME(function) function##_counted
#define VHOST_COPY_COUNTED
#define VHOST_COPY_MODE RTE_PER_LCORE(vhost_copy_counter).mode
#define PKTCPY_MODE PKTCPY_COUNTED

#include <rte_common.h>

#include "vhost_copy_histogram.h"

#define pktcpy_counted vhost_copy_counted

/* Size is worth more than speed here: what is cold is not inlined for speed. */
#undef __rte_always_inline
#define __rte_always_inline inline __rte_cold

#include "vhost_copy_variant.h"
