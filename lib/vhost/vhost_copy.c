/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <string.h>

#include <eal_export_fallback.h>

#include "vhost_copy.h"

const struct vhost_copy_path vhost_copy_path_by_core;

static const struct vhost_copy_path path_memcpy = {
	.enqueue_burst = vhost_enqueue_burst_memcpy,
	.dequeue_burst = vhost_dequeue_burst_memcpy,
};

static const struct vhost_copy_path path_narrow = {
	.enqueue_burst = vhost_enqueue_burst_narrow,
	.dequeue_burst = vhost_dequeue_burst_narrow,
};

static const char *const mode_names[RTE_VHOST_COPY_MODES] = {
	[RTE_VHOST_COPY_AUTO] = "auto",
	[RTE_VHOST_COPY_MEMCPY] = "memcpy",
	[RTE_VHOST_COPY_WIDE] = "wide",
	[RTE_VHOST_COPY_NARROW] = "narrow",
};

/* The mode that "auto" means on a kind of core. */
static enum rte_vhost_copy_mode
mode_of_core(enum rte_cpu_core_type type)
{
	return type == RTE_CPU_CORE_EFFICIENCY || type == RTE_CPU_CORE_LOW_POWER_EFFICIENCY
		? RTE_VHOST_COPY_NARROW
		: RTE_VHOST_COPY_WIDE;
}

static const struct vhost_copy_path *
path_on_core(enum rte_vhost_copy_mode mode, enum rte_cpu_core_type type)
{
	if (mode == RTE_VHOST_COPY_AUTO)
		mode = mode_of_core(type);
	switch (mode) {
	case RTE_VHOST_COPY_MEMCPY:
		return &path_memcpy;
	case RTE_VHOST_COPY_NARROW:
		return &path_narrow;
	default:
		return NULL;
	}
}

/* Written only at a change: queues that are empty are polled most. */
const struct vhost_copy_path *
vhost_copy_choose_by_core(const struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	enum rte_cpu_core_type type = rte_cpu_core_type();

	if (unlikely(__atomic_load_n(&vq->copy_core_type, __ATOMIC_RELAXED) != type))
		__atomic_store_n(&vq->copy_core_type, type, __ATOMIC_RELAXED);
	return path_on_core(__atomic_load_n(&dev->copy_mode, __ATOMIC_RELAXED), type);
}

void
vhost_copy_set_mode(int vid, enum rte_vhost_copy_mode mode)
{
	struct virtio_net *dev = get_device(vid);
	const struct vhost_copy_path *path;

	if (dev == NULL)
		return;
	/* Cores need not be asked where all are of one kind. */
	path = rte_cpu_is_hybrid() ? &vhost_copy_path_by_core
				   : path_on_core(mode, RTE_CPU_CORE_UNKNOWN);
	__atomic_store_n(&dev->copy_mode, mode, __ATOMIC_RELAXED);
	__atomic_store_n(&dev->copy_path, path, __ATOMIC_RELAXED);
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
