/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <string.h>

#include <eal_export_fallback.h>

#include "vhost_copy.h"

const struct vhost_copy_path vhost_copy_paths[RTE_VHOST_COPY_MODES] = {
	[RTE_VHOST_COPY_MEMCPY] = { vhost_enqueue_burst_memcpy, vhost_dequeue_burst_memcpy },
	[RTE_VHOST_COPY_NARROW] = { vhost_enqueue_burst_narrow, vhost_dequeue_burst_narrow },
};

static const char *const mode_names[RTE_VHOST_COPY_MODES] = {
	[RTE_VHOST_COPY_AUTO] = "auto",
	[RTE_VHOST_COPY_MEMCPY] = "memcpy",
	[RTE_VHOST_COPY_WIDE] = "wide",
	[RTE_VHOST_COPY_NARROW] = "narrow",
};

void
vhost_copy_set_mode(int vid, enum rte_vhost_copy_mode mode)
{
	struct virtio_net *dev = get_device(vid);

	if (dev != NULL)
		__atomic_store_n(&dev->copy_mode, mode, __ATOMIC_RELAXED);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_vhost_get_copy_status, 22.11)
int
rte_vhost_get_copy_status(int vid, struct rte_vhost_copy_status *status)
{
	struct virtio_net *dev = get_device(vid);
	struct vhost_virtqueue *vq;
	uint64_t bursts;
	unsigned int i, mode;

	if (dev == NULL)
		return -ENODEV;
	memset(status, 0, sizeof(*status));
	status->mode = __atomic_load_n(&dev->copy_mode, __ATOMIC_RELAXED);
	for (i = 0; i < dev->nr_vring; i++) {
		vq = dev->virtqueue[i];
		if (vq == NULL)
			continue;
		for (mode = 0; mode < RTE_VHOST_COPY_MODES; mode++) {
			bursts = __atomic_load_n(&vq->copy_bursts[mode], __ATOMIC_RELAXED);
			status->bursts[mode] += bursts;
			if (bursts != 0)
				status->core_type = __atomic_load_n(
					&vq->copy_core_type, __ATOMIC_RELAXED);
		}
	}
	return 0;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_vhost_copy_mode_name, 22.11)
const char *
rte_vhost_copy_mode_name(enum rte_vhost_copy_mode mode)
{
	return (unsigned int)mode < RTE_DIM(mode_names) ? mode_names[mode] : NULL;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_vhost_copy_mode_parse, 22.11)
int
rte_vhost_copy_mode_parse(const char *name, enum rte_vhost_copy_mode *mode)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(mode_names); i++) {
		if (strcmp(name, mode_names[i]) == 0) {
			*mode = (enum rte_vhost_copy_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}
