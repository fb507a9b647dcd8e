/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#define VHOST_COPY_NAME(function) function##_narrow
#define VHOST_COPY_MODE RTE_VHOST_COPY_NARROW
#define PKTCPY_MODE PKTCPY_NARROW

#include "vhost_copy_items.h"
#include "vhost_copy_variant.h"
