/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_COPY_HISTOGRAM_H
#define VHOST_COPY_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <rte_per_lcore.h>

#include "rte_vhost_copy.h"

struct vhost_virtqueue;

/* Where the copies of the burst that a thread is in are counted, and how they are made. */
struct vhost_copy_counter {
	struct vhost_virtqueue *vq;
	uint32_t epoch; /* of the device */
	enum rte_vhost_copy_mode mode;
};

RTE_DECLARE_PER_LCORE(struct vhost_copy_counter, vhost_copy_counter);

/* Count a copy, and make it. The queue is locked. */
void
vhost_copy_counted(void *dst, const void *src, size_t len);

#endif /* VHOST_COPY_HISTOGRAM_H */
