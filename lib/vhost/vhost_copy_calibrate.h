/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_COPY_CALIBRATE_H
#define VHOST_COPY_CALIBRATE_H

/* Which way to copy is fastest on this core? */

#include <stddef.h>

#include <rte_compat.h>

#include "rte_vhost_copy.h"

/* A copy to be made. */
struct vhost_copy_item {
	void *dst;
	const void *src;
	size_t len;
};

/* pktcpy() of each mode, the same code as in the data path. */
void
vhost_copy_items_memcpy(const struct vhost_copy_item *items, unsigned int num);
void
vhost_copy_items_wide(const struct vhost_copy_item *items, unsigned int num);
void
vhost_copy_items_narrow(const struct vhost_copy_item *items, unsigned int num);

/*
 * Try all modes on this core, for some milliseconds; usual is what "auto" means here.
 * One thread at a time, or they would disturb each other.
 */
void
vhost_copy_calibrate(
	enum rte_vhost_copy_mode usual, struct rte_vhost_copy_calibration *calibration);

/* Choose by the times, which are there already. */
__rte_internal void
vhost_copy_calibration_choose(
	enum rte_vhost_copy_mode usual, struct rte_vhost_copy_calibration *calibration);

#endif /* VHOST_COPY_CALIBRATE_H */
