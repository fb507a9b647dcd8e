/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* The data path in this mode is virtio_net.c itself. */

#define VHOST_COPY_NAME(function) function##_wide
#define PKTCPY_MODE PKTCPY_WIDE

#include "vhost_copy_items.h"
