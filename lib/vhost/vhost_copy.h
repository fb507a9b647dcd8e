/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_COPY_H
#define VHOST_COPY_H

/*
 * Which compilation of the data path serves a burst?
 *
 * virtio_net.c itself is the one for the mode "wide". Those for the other modes include
 * it, with other names for its functions, see vhost_copy_variant.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_cpu_core_type.h>

#include "rte_vhost_copy.h"
#include "vhost.h"
#include "vhost_copy_calibrate.h"

struct rte_mbuf;
struct rte_mempool;

typedef uint16_t (*vhost_copy_enqueue)(
	int vid, uint16_t queue_id, struct rte_mbuf **__rte_restrict pkts, uint16_t count);
typedef uint16_t (*vhost_copy_dequeue)(int vid, uint16_t queue_id, struct rte_mempool *pool,
	struct rte_mbuf **pkts, uint16_t count);

/* A compilation. That of virtio_net.c itself, for "wide", is NULL: nothing to call. */
struct vhost_copy_path {
	vhost_copy_enqueue enqueue_burst;
	vhost_copy_dequeue dequeue_burst;
};

/* What a device has instead while the path depends on the core that polls. */
extern const struct vhost_copy_path vhost_copy_path_by_core;

/* The way to copy a burst on this core: MEMCPY, WIDE or NARROW. */
enum rte_vhost_copy_mode
vhost_copy_mode_by_core(struct virtio_net *dev, struct vhost_virtqueue *vq);

/* The path of such a mode. */
const struct vhost_copy_path *
vhost_copy_path_of_mode(enum rte_vhost_copy_mode mode);

uint16_t
vhost_enqueue_burst_memcpy(
	int vid, uint16_t queue_id, struct rte_mbuf **__rte_restrict pkts, uint16_t count);
uint16_t
vhost_dequeue_burst_memcpy(int vid, uint16_t queue_id, struct rte_mempool *pool,
	struct rte_mbuf **pkts, uint16_t count);
uint16_t
vhost_enqueue_burst_narrow(
	int vid, uint16_t queue_id, struct rte_mbuf **__rte_restrict pkts, uint16_t count);
uint16_t
vhost_dequeue_burst_narrow(int vid, uint16_t queue_id, struct rte_mempool *pool,
	struct rte_mbuf **pkts, uint16_t count);

uint16_t
vhost_enqueue_burst_counted(
	int vid, uint16_t queue_id, struct rte_mbuf **__rte_restrict pkts, uint16_t count);
uint16_t
vhost_dequeue_burst_counted(int vid, uint16_t queue_id, struct rte_mempool *pool,
	struct rte_mbuf **pkts, uint16_t count);

/* Set how a device copies, from its next burst on. */
void
vhost_copy_set_mode(int vid, enum rte_vhost_copy_mode mode);

/* Set whether a device counts, from its next burst on. */
void
vhost_copy_set_histogram(int vid, bool on);

/* Tell of a device that cannot go meanwhile, see vhost_telemetry_lock_devices(). */
void
vhost_copy_status(const struct virtio_net *dev, struct rte_vhost_copy_status *status);
void
vhost_copy_histogram(const struct virtio_net *dev, struct rte_vhost_copy_histogram *enqueue,
	struct rte_vhost_copy_histogram *dequeue);

#if defined(VHOST_COPY_COUNTED)

/* Chosen already, but for the mode. */
static inline const struct vhost_copy_path *
vhost_copy_choose(struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	struct vhost_copy_counter *counter = &RTE_PER_LCORE(vhost_copy_counter);

	counter->vq = vq;
	counter->epoch = __atomic_load_n(&dev->copy_histogram_epoch, __ATOMIC_RELAXED);
	counter->mode = vhost_copy_mode_by_core(dev, vq);
	return NULL;
}

#elif defined(VHOST_COPY_NAME)

/* Chosen already. */
static __rte_always_inline const struct vhost_copy_path *
vhost_copy_choose(
	const struct virtio_net *dev __rte_unused, struct vhost_virtqueue *vq __rte_unused)
{
	return NULL;
}

#else

#define VHOST_COPY_MODE RTE_VHOST_COPY_WIDE

/* Choose for one burst. */
static __rte_always_inline const struct vhost_copy_path *
vhost_copy_choose(struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	const struct vhost_copy_path *path = __atomic_load_n(&dev->copy_path, __ATOMIC_RELAXED);

	if (path == &vhost_copy_path_by_core)
		path = vhost_copy_path_of_mode(vhost_copy_mode_by_core(dev, vq));
	return path;
}

#endif

/* Count a burst that had packets. The queue is locked; others read the count without. */
static __rte_always_inline void
vhost_copy_count(struct vhost_virtqueue *vq, uint32_t num_pkts)
{
	uint64_t *bursts = &vq->copy_bursts[VHOST_COPY_MODE];

	if (num_pkts != 0)
		__atomic_store_n(bursts, *bursts + 1, __ATOMIC_RELAXED);
}

#endif /* VHOST_COPY_H */
