/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_spinlock.h>

#include <eal_export_fallback.h>

#include "vhost_copy.h"
#include "vhost_telemetry.h"

const struct vhost_copy_path vhost_copy_path_by_core;

static const struct vhost_copy_path path_memcpy = {
	.enqueue_burst = vhost_enqueue_burst_memcpy,
	.dequeue_burst = vhost_dequeue_burst_memcpy,
};

static const struct vhost_copy_path path_narrow = {
	.enqueue_burst = vhost_enqueue_burst_narrow,
	.dequeue_burst = vhost_dequeue_burst_narrow,
};

static const struct vhost_copy_path path_counted = {
	.enqueue_burst = vhost_enqueue_burst_counted,
	.dequeue_burst = vhost_dequeue_burst_counted,
};

/* Held to set something, to try modes, and to read what was found. */
static rte_spinlock_t copy_lock = RTE_SPINLOCK_INITIALIZER;

static const char *const mode_names[RTE_VHOST_COPY_MODES] = {
	[RTE_VHOST_COPY_AUTO] = "auto",
	[RTE_VHOST_COPY_MEMCPY] = "memcpy",
	[RTE_VHOST_COPY_WIDE] = "wide",
	[RTE_VHOST_COPY_NARROW] = "narrow",
	[RTE_VHOST_COPY_CALIBRATE] = "calibrate",
};

/* The mode that "auto" means on a kind of core. */
static enum rte_vhost_copy_mode
mode_of_core(enum rte_cpu_core_type type)
{
	return type == RTE_CPU_CORE_EFFICIENCY || type == RTE_CPU_CORE_LOW_POWER_EFFICIENCY
		? RTE_VHOST_COPY_NARROW
		: RTE_VHOST_COPY_WIDE;
}

const struct vhost_copy_path *
vhost_copy_path_of_mode(enum rte_vhost_copy_mode mode)
{
	switch (mode) {
	case RTE_VHOST_COPY_MEMCPY:
		return &path_memcpy;
	case RTE_VHOST_COPY_NARROW:
		return &path_narrow;
	default:
		return NULL;
	}
}

static void
log_calibration(const struct virtio_net *dev, enum rte_cpu_core_type type)
{
	const struct rte_vhost_copy_calibration *found = &dev->copy_calibrations[type];
	const uint32_t *time = found->picoseconds;

	rte_log(RTE_LOG_INFO, vhost_config_log_level,
		"VHOST_CONFIG: (%s) copy modes on lcore %u, core type %s: wide %.1f, narrow %.1f, "
		"memcpy %.1f ns per packet: %s%s\n",
		dev->ifname, rte_lcore_id(), rte_cpu_core_type_name(type),
		time[RTE_VHOST_COPY_WIDE] * 1e-3, time[RTE_VHOST_COPY_NARROW] * 1e-3,
		time[RTE_VHOST_COPY_MEMCPY] * 1e-3, rte_vhost_copy_mode_name(found->mode),
		found->tie ? " (a tie)" : "");
}

/*
 * Set the path of a device by its other settings. Where all cores are of one kind they
 * need not be asked, unless one is still to try the modes.
 */
static void
update_path(struct virtio_net *dev)
{
	const struct vhost_copy_path *path;
	unsigned int mode = dev->copy_mode;

	if (mode == RTE_VHOST_COPY_CALIBRATE)
		mode = dev->copy_winners[RTE_CPU_CORE_UNKNOWN];
	else if (mode == RTE_VHOST_COPY_AUTO)
		mode = mode_of_core(RTE_CPU_CORE_UNKNOWN);
	if (dev->copy_counting)
		path = &path_counted;
	else if (rte_cpu_is_hybrid() || mode == 0)
		path = &vhost_copy_path_by_core;
	else
		path = vhost_copy_path_of_mode(mode);
	__atomic_store_n(&dev->copy_path, path, __ATOMIC_RELAXED);
}

/*
 * Find the mode for a kind of core by trying. Another thread that comes meanwhile does not
 * wait.
 */
static enum rte_vhost_copy_mode
calibrate(struct virtio_net *dev, enum rte_cpu_core_type type)
{
	enum rte_vhost_copy_mode mode = mode_of_core(type);
	struct rte_vhost_copy_calibration *found = &dev->copy_calibrations[type];

	if (!rte_spinlock_trylock(&copy_lock))
		return mode;
	if (dev->copy_mode == RTE_VHOST_COPY_CALIBRATE) {
		if (dev->copy_winners[type] == 0) {
			vhost_copy_calibrate(mode, found);
			log_calibration(dev, type);
		}
		mode = found->mode;
		__atomic_store_n(&dev->copy_winners[type], mode, __ATOMIC_RELAXED);
		update_path(dev);
	}
	rte_spinlock_unlock(&copy_lock);
	return mode;
}

/* What the mode that was set means on a kind of core. */
static enum rte_vhost_copy_mode
mode_on_core(struct virtio_net *dev, enum rte_cpu_core_type type)
{
	enum rte_vhost_copy_mode mode = __atomic_load_n(&dev->copy_mode, __ATOMIC_RELAXED);

	if (mode == RTE_VHOST_COPY_CALIBRATE) {
		mode = __atomic_load_n(&dev->copy_winners[type], __ATOMIC_RELAXED);
		if (unlikely(mode == 0))
			mode = calibrate(dev, type);
	}
	return mode == RTE_VHOST_COPY_AUTO ? mode_of_core(type) : mode;
}

/* Written only at a change: queues that are empty are polled most. */
enum rte_vhost_copy_mode
vhost_copy_mode_by_core(struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	enum rte_cpu_core_type type = rte_cpu_core_type();

	if (unlikely(__atomic_load_n(&vq->copy_core_type, __ATOMIC_RELAXED) != type))
		__atomic_store_n(&vq->copy_core_type, type, __ATOMIC_RELAXED);
	return mode_on_core(dev, type);
}

void
vhost_copy_set_mode(int vid, enum rte_vhost_copy_mode mode)
{
	struct virtio_net *dev = get_device(vid);

	if (dev == NULL)
		return;
	rte_spinlock_lock(&copy_lock);
	memset(dev->copy_winners, 0, sizeof(dev->copy_winners));
	memset(dev->copy_calibrations, 0, sizeof(dev->copy_calibrations));
	__atomic_store_n(&dev->copy_mode, mode, __ATOMIC_RELAXED);
	update_path(dev);
	rte_spinlock_unlock(&copy_lock);
}

/* What queues have counted before is old then, and they drop it when they count again. */
void
vhost_copy_set_histogram(int vid, bool on)
{
	struct virtio_net *dev = get_device(vid);

	if (dev == NULL)
		return;
	rte_spinlock_lock(&copy_lock);
	if (on)
		__atomic_store_n(&dev->copy_histogram_epoch, dev->copy_histogram_epoch + 1,
			__ATOMIC_RELAXED);
	dev->copy_counting = on;
	update_path(dev);
	rte_spinlock_unlock(&copy_lock);
}

void
vhost_copy_status(const struct virtio_net *dev, struct rte_vhost_copy_status *status)
{
	struct vhost_virtqueue *vq;
	uint64_t bursts;
	unsigned int i, mode;

	memset(status, 0, sizeof(*status));
	rte_spinlock_lock(&copy_lock);
	status->histogram = dev->copy_counting;
	memcpy(status->calibrations, dev->copy_calibrations, sizeof(status->calibrations));
	rte_spinlock_unlock(&copy_lock);
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
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_vhost_get_copy_status, 22.11)
int
rte_vhost_get_copy_status(int vid, struct rte_vhost_copy_status *status)
{
	const struct virtio_net *dev;

	vhost_telemetry_lock_devices();
	dev = get_device(vid);
	if (dev != NULL)
		vhost_copy_status(dev, status);
	vhost_telemetry_unlock_devices();
	return dev != NULL ? 0 : -ENODEV;
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
