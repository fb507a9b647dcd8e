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

#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_cpu_core_type.h>

#include "rte_vhost_copy.h"
#include "vhost.h"

struct rte_mbuf;
struct rte_mempool;

typedef uint16_t (*vhost_copy_enqueue)(
	int vid, uint16_t queue_id, struct rte_mbuf **__rte_restrict pkts, uint16_t count);
typedef uint16_t (*vhost_copy_dequeue)(int vid, uint16_t queue_id, struct rte_mempool *pool,
	struct rte_mbuf **pkts, uint16_t count);

/* The compilations by mode; both functions are NULL where it is virtio_net.c itself. */
struct vhost_copy_path {
	vhost_copy_enqueue enqueue_burst;
	vhost_copy_dequeue dequeue_burst;
};

extern const struct vhost_copy_path vhost_copy_paths[RTE_VHOST_COPY_MODES];

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

/* Set how a device copies, from its next burst on. */
void
vhost_copy_set_mode(int vid, enum rte_vhost_copy_mode mode);

/* The mode that "auto" means on a kind of core. */
static __rte_always_inline enum rte_vhost_copy_mode
vhost_copy_mode_of(enum rte_cpu_core_type type)
{
	return type == RTE_CPU_CORE_EFFICIENCY || type == RTE_CPU_CORE_LOW_POWER_EFFICIENCY
		? RTE_VHOST_COPY_NARROW
		: RTE_VHOST_COPY_WIDE;
}

#ifdef VHOST_COPY_NAME

/* Chosen already. */
static __rte_always_inline const struct vhost_copy_path *
vhost_copy_choose(
	const struct virtio_net *dev __rte_unused, struct vhost_virtqueue *vq __rte_unused)
{
	static const struct vhost_copy_path here;

	return &here;
}

#else

#define VHOST_COPY_MODE RTE_VHOST_COPY_WIDE

/* Choose for one burst. Written only at a change: queues that are empty are polled most. */
static __rte_always_inline const struct vhost_copy_path *
vhost_copy_choose(const struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	enum rte_cpu_core_type type = rte_cpu_core_type();
	unsigned int mode = __atomic_load_n(&dev->copy_mode, __ATOMIC_RELAXED);

	if (unlikely(__atomic_load_n(&vq->copy_core_type, __ATOMIC_RELAXED) != type))
		__atomic_store_n(&vq->copy_core_type, type, __ATOMIC_RELAXED);
	if (likely(mode == RTE_VHOST_COPY_AUTO))
		mode = vhost_copy_mode_of(type);
	return &vhost_copy_paths[mode];
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
