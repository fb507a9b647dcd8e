/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_IOTLB_H
#define VHOST_IOTLB_H

/*
 * The translations that the front end has told, for vhost's eyes: a map of ranges (see
 * iotlb_map.h), and what was asked for and not answered.
 *
 * A queue reads them under its lock as a reader, for a whole burst. The thread of the
 * socket changes them as a writer.
 *
 * Each queue has its own translations. Since DPDK 23.07 the device has them, and a
 * writer takes the locks of all its queues.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_version.h>

#include "iotlb_map.h"
#include "vhost.h"

#define VHOST_IOTLB_PER_DEVICE (RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0))

/* Translations that are remembered. */
#define VHOST_IOTLB_CAPACITY 2048

/* What clang's analysis of locks wants to know; its words are DPDK's, which changed. */
#if defined(__rte_acquire_shared_capability)
#define VHOST_IOTLB_READS(lock) __rte_acquire_shared_capability(lock)
#define VHOST_IOTLB_HAS_READ(lock) __rte_release_shared_capability(lock)
#define VHOST_IOTLB_WRITES(lock) __rte_acquire_capability(lock)
#define VHOST_IOTLB_HAS_WRITTEN(lock) __rte_release_capability(lock)
#define VHOST_IOTLB_IS_READING(lock) __rte_requires_shared_capability(lock)
#elif defined(__rte_shared_lock_function)
#define VHOST_IOTLB_READS(lock) __rte_shared_lock_function(lock)
#define VHOST_IOTLB_HAS_READ(lock) __rte_unlock_function(lock)
#define VHOST_IOTLB_WRITES(lock) __rte_exclusive_lock_function(lock)
#define VHOST_IOTLB_HAS_WRITTEN(lock) __rte_unlock_function(lock)
#define VHOST_IOTLB_IS_READING(lock) __rte_shared_locks_required(lock)
#else
#define VHOST_IOTLB_READS(lock)
#define VHOST_IOTLB_HAS_READ(lock)
#define VHOST_IOTLB_WRITES(lock)
#define VHOST_IOTLB_HAS_WRITTEN(lock)
#define VHOST_IOTLB_IS_READING(lock)
#endif

static __rte_always_inline void
vhost_user_iotlb_rd_lock(struct vhost_virtqueue *vq) VHOST_IOTLB_READS(&vq->iotlb_lock)
{
	rte_rwlock_read_lock(&vq->iotlb_lock);
}

static __rte_always_inline void
vhost_user_iotlb_rd_unlock(struct vhost_virtqueue *vq) VHOST_IOTLB_HAS_READ(&vq->iotlb_lock)
{
	rte_rwlock_read_unlock(&vq->iotlb_lock);
}

static __rte_always_inline void
vhost_user_iotlb_wr_lock(struct vhost_virtqueue *vq) VHOST_IOTLB_WRITES(&vq->iotlb_lock)
{
	rte_rwlock_write_lock(&vq->iotlb_lock);
}

static __rte_always_inline void
vhost_user_iotlb_wr_unlock(struct vhost_virtqueue *vq) VHOST_IOTLB_HAS_WRITTEN(&vq->iotlb_lock)
{
	rte_rwlock_write_unlock(&vq->iotlb_lock);
}

/*
 * Add a translation: the newest wins. What was asked for in its range is answered.
 * One about a ring is not evicted for others.
 *
 * Remove a range, inclusive of its last address, which may be the last one there is.
 * What was asked for in there may be asked for again.
 *
 * Neither may be called with a lock of the translations held.
 */
#if VHOST_IOTLB_PER_DEVICE
/*
 * The host address is that of a mapping and an offset. A back end that made the mapping
 * for this translation is told when it is not needed any more.
 */
void
vhost_user_iotlb_cache_insert(struct virtio_net *dev, uint64_t iova, uint64_t uaddr,
	uint64_t uoffset, uint64_t size, uint64_t page_size, uint8_t perm);
void
vhost_user_iotlb_cache_remove(struct virtio_net *dev, uint64_t iova, uint64_t size);
void
vhost_user_iotlb_flush_all(struct virtio_net *dev);
int
vhost_user_iotlb_init(struct virtio_net *dev);
void
vhost_user_iotlb_destroy(struct virtio_net *dev);
#else
void
vhost_user_iotlb_cache_insert(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t uaddr, uint64_t size, uint8_t perm);
void
vhost_user_iotlb_cache_remove(struct vhost_virtqueue *vq, uint64_t iova, uint64_t size);
/* Remove all, as when a device gets other memory. */
void
vhost_user_iotlb_flush_all(struct vhost_virtqueue *vq);
/* Begin with none. A second call is allowed. Returns 0, or -1 without memory. */
int
vhost_user_iotlb_init(struct virtio_net *dev, struct vhost_virtqueue *vq);
void
vhost_user_iotlb_destroy(struct vhost_virtqueue *vq);
#endif

/* What struct vhost_iotlb begins with. */
struct vhost_iotlb_head {
	struct iotlb_map *map; /* under the locks of the queues */
};

static __rte_always_inline struct vhost_iotlb *
vhost_iotlb_of(
	const struct virtio_net *dev __rte_unused, const struct vhost_virtqueue *vq __rte_unused)
{
#if VHOST_IOTLB_PER_DEVICE
	return dev->iotlb;
#else
	return vq->iotlb;
#endif
}

/*
 * As vhost_iova_to_vva(), for buffers of packets: what is in one page is found in line.
 */
static __rte_always_inline uint64_t
vhost_iova_to_vva_inline(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t *len, uint8_t perm) VHOST_IOTLB_IS_READING(&vq->iotlb_lock)
{
	const struct vhost_iotlb_head *head;
	uint64_t host;

	if (!(dev->features & (1ULL << VIRTIO_F_IOMMU_PLATFORM)))
		return rte_vhost_va_from_guest_pa(dev->mem, iova, len);
	head = (const struct vhost_iotlb_head *)vhost_iotlb_of(dev, vq);
	if (unlikely(head == NULL || !iotlb_map_find_page(head->map, iova, *len, perm, &host)))
		return __vhost_iova_to_vva(dev, vq, iova, len, perm);
	if (dev->flags & VIRTIO_DEV_STATS_ENABLED)
		vq->stats.iotlb_hits++;
	return host;
}

/*
 * As vhost_iova_to_vva(), for what cannot be used in parts, as a ring.
 *
 * Returns the address of all of it, or 0, with *size* set to 0, if a part has no
 * translation, which then is asked for, or is elsewhere in host memory.
 */
uint64_t
vhost_iova_to_vva_whole(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t *size, uint8_t perm) VHOST_IOTLB_IS_READING(&vq->iotlb_lock);

/* No guest has memory there; at address 0 it has. */
#define VHOST_NO_LOG_ADDR UINT64_MAX

/* The guest's address of memory that is in one region, or VHOST_NO_LOG_ADDR. */
uint64_t
vhost_iotlb_log_addr(const struct virtio_net *dev, uint64_t host, uint64_t len);

/* Whether a translation that the front end tells makes sense. If not, it is logged. */
bool
vhost_iotlb_is_valid(const struct virtio_net *dev, const struct vhost_iotlb_msg *update);

/*
 * Whether the rings of a queue must be translated anew after a message of the front end:
 * if it changes where a part of them is, or if they wait for a translation.
 */
bool
vhost_iotlb_needs_rings(struct virtio_net *dev, const struct vhost_virtqueue *vq,
	const struct vhost_iotlb_msg *msg);

/* How many translations a queue has. */
uint64_t
vhost_iotlb_num_entries(const struct virtio_net *dev, struct vhost_virtqueue *vq);

/*
 * Send a message that can be lost, without waiting for the peer to read it.
 *
 * A peer that waits for vhost itself does not read: it would wait for ever.
 * Returns 0, or a negative errno: -EAGAIN if there is no room.
 */
int
vhost_iotlb_send(int fd, const void *msg, size_t len);

#endif /* VHOST_IOTLB_H */
