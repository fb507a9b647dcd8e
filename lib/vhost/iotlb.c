/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#ifdef RTE_LIBRTE_VHOST_NUMA
#include <numaif.h>
#endif

#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_spinlock.h>

#include "iotlb.h"
#include "iotlb_map.h"
#include "vhost.h"
#include "vhost_user.h"

/* Of misses that wait for an answer, too. */
#define CAPACITY VHOST_IOTLB_CAPACITY

/* What the front end was asked for. */
struct miss {
	uint64_t iova;
	uint8_t perm;
};

struct vhost_iotlb {
	struct iotlb_map *map; /* under the lock of the queue, see iotlb.h */
	struct iotlb_map_stats counted;
	rte_spinlock_t misses_lock;
	uint32_t num_misses;
	struct miss misses[CAPACITY]; /* sorted */
	uint8_t map_mem[] __rte_cache_aligned;
};

/* --- misses --- */

static bool
is_below(const struct miss *miss, uint64_t iova, uint8_t perm)
{
	return miss->iova < iova || (miss->iova == iova && miss->perm < perm);
}

/* Number of misses below one, which is where it is or would be. */
static uint32_t
count_misses_below(const struct vhost_iotlb *iotlb, uint64_t iova, uint8_t perm)
{
	uint32_t begin = 0, end = iotlb->num_misses;

	/* What is before *begin* is below it; what is at *end* or behind is not. */
	while (begin < end) {
		const uint32_t middle = (begin + end) / 2;

		if (is_below(&iotlb->misses[middle], iova, perm))
			begin = middle + 1;
		else
			end = middle;
	}
	return begin;
}

static void
remove_miss_at(struct vhost_iotlb *iotlb, uint32_t at)
{
	iotlb->num_misses--;
	memmove(&iotlb->misses[at], &iotlb->misses[at + 1],
		(iotlb->num_misses - at) * sizeof(iotlb->misses[0]));
}

/*
 * Note that something is asked for, unless it has been asked for already.
 * If too much is, one is forgotten, which can be asked for again.
 */
static bool
add_miss(struct vhost_iotlb *iotlb, uint64_t iova, uint8_t perm)
{
	struct miss *miss;
	bool is_new;
	uint32_t at;

	rte_spinlock_lock(&iotlb->misses_lock);
	at = count_misses_below(iotlb, iova, perm);
	miss = &iotlb->misses[at];
	is_new = at == iotlb->num_misses || miss->iova != iova || miss->perm != perm;
	if (is_new && iotlb->num_misses == CAPACITY) {
		remove_miss_at(iotlb, rte_rand_max(CAPACITY));
		at = count_misses_below(iotlb, iova, perm);
		miss = &iotlb->misses[at];
	}
	if (is_new) {
		memmove(miss + 1, miss, (iotlb->num_misses - at) * sizeof(*miss));
		*miss = (struct miss){ iova, perm };
		iotlb->num_misses++;
	}
	rte_spinlock_unlock(&iotlb->misses_lock);
	return is_new;
}

/* Forget what was asked for in a range, of which the permission is all that is needed. */
static void
remove_misses(struct vhost_iotlb *iotlb, uint64_t first, uint64_t last, uint8_t perm)
{
	uint32_t from, to;

	rte_spinlock_lock(&iotlb->misses_lock);
	from = to = count_misses_below(iotlb, first, 0);
	for (; from < iotlb->num_misses && iotlb->misses[from].iova <= last; from++)
		if ((iotlb->misses[from].perm & perm) != iotlb->misses[from].perm)
			iotlb->misses[to++] = iotlb->misses[from];
	memmove(&iotlb->misses[to], &iotlb->misses[from],
		(iotlb->num_misses - from) * sizeof(iotlb->misses[0]));
	iotlb->num_misses -= from - to;
	rte_spinlock_unlock(&iotlb->misses_lock);
}

/* --- translations, without the locks --- */

/* On the NUMA node where its owner is. */
static struct vhost_iotlb *
create(void *owner)
{
	const struct iotlb_map_config config = { .capacity = CAPACITY, .seed = rte_rand() };
	const size_t len = sizeof(struct vhost_iotlb) + iotlb_map_size(CAPACITY);
	struct vhost_iotlb *iotlb;
	int node = SOCKET_ID_ANY;

	RTE_SET_USED(owner);
#ifdef RTE_LIBRTE_VHOST_NUMA
	if (get_mempolicy(&node, NULL, 0, owner, MPOL_F_NODE | MPOL_F_ADDR) != 0)
		node = SOCKET_ID_ANY;
#endif
	iotlb = rte_zmalloc_socket("iotlb", len, RTE_CACHE_LINE_SIZE, node);
	if (iotlb == NULL)
		return NULL;
	rte_spinlock_init(&iotlb->misses_lock);
	iotlb->map = iotlb_map_init(iotlb->map_mem, &config);
	return iotlb;
}

/*
 * The last address of a range, which may be the last one there is. What goes beyond ends
 * there, as does a range of 2^64 bytes, whose size is told as 0.
 */
static uint64_t
last_of(uint64_t iova, uint64_t size)
{
	return size - 1 > UINT64_MAX - iova ? UINT64_MAX : iova + (size - 1);
}

static int
insert(struct vhost_iotlb *iotlb, const struct iotlb_map_entry *entry)
{
	int ret = iotlb_map_insert(iotlb->map, entry);

	if (ret == 0)
		remove_misses(iotlb, entry->first, entry->last, entry->perm);
	return ret;
}

static void
remove_range(struct vhost_iotlb *iotlb, uint64_t iova, uint64_t size)
{
	iotlb_map_remove(iotlb->map, iova, last_of(iova, size));
	remove_misses(iotlb, iova, last_of(iova, size), VHOST_ACCESS_RW);
}

/* After a change, which may have merged or evicted some. */
static void
count(struct vhost_virtqueue *vq, struct vhost_iotlb *iotlb)
{
	const struct iotlb_map_stats stats = iotlb_map_get_stats(iotlb->map);

	vq->stats.iotlb_entries = iotlb_map_num(iotlb->map);
	vq->stats.iotlb_merges += stats.merges - iotlb->counted.merges;
	vq->stats.iotlb_evictions += stats.evictions - iotlb->counted.evictions;
	iotlb->counted = stats;
}

/* --- what vhost calls --- */

int
vhost_user_iotlb_init(struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	vhost_user_iotlb_destroy(vq);
	rte_rwlock_init(&vq->iotlb_lock);
	if ((dev->flags & VIRTIO_DEV_SUPPORT_IOMMU) == 0)
		return 0;
	vq->iotlb = create(vq);
	if (vq->iotlb == NULL) {
		VHOST_LOG_CONFIG(dev->ifname, ERR, "no memory for the IOTLB of queue %" PRIu32 "\n",
			vq->index);
		return -1;
	}
	return 0;
}

void
vhost_user_iotlb_destroy(struct vhost_virtqueue *vq)
{
	rte_free(vq->iotlb);
	vq->iotlb = NULL;
}

void
vhost_user_iotlb_flush_all(struct vhost_virtqueue *vq)
{
	if (vq->iotlb == NULL)
		return;
	vhost_user_iotlb_wr_lock(vq);
	remove_range(vq->iotlb, 0, 0);
	count(vq, vq->iotlb);
	vhost_user_iotlb_wr_unlock(vq);
}

void
vhost_user_iotlb_cache_insert(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t uaddr, uint64_t size, uint8_t perm)
{
	const struct iotlb_map_entry entry = {
		.first = iova, .last = iova + (size - 1), .host = uaddr, .perm = perm
	};
	int ret;

	if (vq->iotlb == NULL)
		return;
	vhost_user_iotlb_wr_lock(vq);
	ret = insert(vq->iotlb, &entry);
	count(vq, vq->iotlb);
	vhost_user_iotlb_wr_unlock(vq);
	if (ret != 0)
		VHOST_LOG_CONFIG(dev->ifname, ERR,
			"IOTLB: cannot take 0x%" PRIx64 " bytes at IOVA 0x%" PRIx64
			", permission %u: %s\n",
			size, iova, perm, strerror(-ret));
}

void
vhost_user_iotlb_cache_remove(struct vhost_virtqueue *vq, uint64_t iova, uint64_t size)
{
	if (vq->iotlb == NULL)
		return;
	vhost_user_iotlb_wr_lock(vq);
	remove_range(vq->iotlb, iova, size);
	count(vq, vq->iotlb);
	vhost_user_iotlb_wr_unlock(vq);
}

uint64_t
vhost_iotlb_num_entries(const struct virtio_net *dev __rte_unused, struct vhost_virtqueue *vq)
{
	uint64_t num = 0;

	vhost_user_iotlb_rd_lock(vq);
	if (vq->iotlb != NULL)
		num = iotlb_map_num(vq->iotlb->map);
	vhost_user_iotlb_rd_unlock(vq);
	return num;
}

/*
 * Ask for a translation, once until it is answered.
 *
 * The lock stays held: what else the burst has translated remains true.
 */
static void
ask(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova, uint8_t perm)
{
	if (add_miss(vq->iotlb, iova, perm) && vhost_user_iotlb_miss(dev, iova, perm) != 0)
		remove_misses(vq->iotlb, iova, iova, perm);
}

uint64_t
__vhost_iova_to_vva(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t *size, uint8_t perm)
{
	struct iotlb_map_hit hit;

	if (unlikely(*size == 0 || vq->iotlb == NULL))
		return *size = 0;
	hit = iotlb_map_find(vq->iotlb->map, iova, *size, perm);
	*size = hit.len;
	if (likely(hit.len != 0)) {
		if (dev->flags & VIRTIO_DEV_STATS_ENABLED)
			vq->stats.iotlb_hits++;
		return hit.host;
	}
	if (dev->flags & VIRTIO_DEV_STATS_ENABLED)
		vq->stats.iotlb_misses++;
	ask(dev, vq, iova, perm);
	return 0;
}

uint64_t
vhost_iova_to_vva_whole(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t *size, uint8_t perm)
{
	uint64_t len = *size, rest;
	uint64_t vva = vhost_iova_to_vva(dev, vq, iova, &len, perm);

	if (vva == 0 || len == *size)
		return vva;
	rest = *size - len;
	vhost_iova_to_vva(dev, vq, iova + len, &rest, perm);
	return *size = 0;
}

/* --- dirty log --- */

/* The guest's address of a host address, and how many of the bytes are in that region. */
static bool
find_guest_addr(const struct virtio_net *dev, uint64_t host, uint64_t *guest, uint64_t *len)
{
	uint32_t i;

	for (i = 0; dev->mem != NULL && i < dev->mem->nregions; i++) {
		const struct rte_vhost_mem_region *region = &dev->mem->regions[i];
		const uint64_t at = host - region->host_user_addr;

		if (host < region->host_user_addr || at >= region->size)
			continue;
		*guest = region->guest_phys_addr + at;
		*len = RTE_MIN(*len, region->size - at);
		return true;
	}
	return false;
}

/* The parts of a range may be anywhere in the guest's memory. */
static void
log_range(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova, uint64_t len,
	bool cached)
{
	uint64_t host, guest, part;

	for (; len != 0; iova += part, len -= part) {
		part = len;
		host = __vhost_iova_to_vva(dev, vq, iova, &part, VHOST_ACCESS_RW);
		if (part == 0 || !find_guest_addr(dev, host, &guest, &part)) {
			VHOST_LOG_DATA(dev->ifname, ERR,
				"dirty log lacks 0x%" PRIx64 " bytes at IOVA 0x%" PRIx64
				": no translation\n",
				len, iova);
			return;
		}
		if (cached)
			__vhost_log_cache_write(dev, vq, guest, part);
		else
			__vhost_log_write(dev, guest, part);
	}
}

void
__vhost_log_write_iova(
	struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova, uint64_t len)
{
	log_range(dev, vq, iova, len, false);
}

void
__vhost_log_cache_write_iova(
	struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova, uint64_t len)
{
	log_range(dev, vq, iova, len, true);
}

/* --- messages --- */

bool
vhost_iotlb_is_valid(const struct virtio_net *dev, const struct vhost_iotlb_msg *update)
{
	if (update->size != 0 && update->size - 1 <= UINT64_MAX - update->iova &&
		update->perm >= VHOST_ACCESS_RO && update->perm <= VHOST_ACCESS_RW)
		return true;
	VHOST_LOG_CONFIG(dev->ifname, ERR,
		"IOTLB update refused: 0x%" PRIx64 " bytes at IOVA 0x%" PRIx64
		", permission %u; wants 1 byte or more, permission 1 to 3\n",
		(uint64_t)update->size, (uint64_t)update->iova, update->perm);
	return false;
}

/* A range, and a part of a ring. Both may end at the last address there is. */
static bool
overlaps(uint64_t first, uint64_t last, uint64_t part, uint64_t len)
{
	return part <= last && first <= last_of(part, len);
}

static bool
is_about_ring(
	struct virtio_net *dev, const struct vhost_virtqueue *vq, uint64_t first, uint64_t last)
{
	const struct vhost_vring_addr *ring = &vq->ring_addrs;
	const uint64_t size = vq->size;
	uint64_t avail_len = sizeof(struct vring_packed_desc_event), used_len = avail_len;

	/* Both formats have descriptors of 16 bytes. The last field is for event indexes. */
	if (!vq_is_packed(dev)) {
		avail_len = sizeof(struct vring_avail) + (size + 1) * sizeof(uint16_t);
		used_len = sizeof(struct vring_used) + size * sizeof(struct vring_used_elem) +
			sizeof(uint16_t);
	}
	return overlaps(first, last, ring->desc_user_addr, size * sizeof(struct vring_desc)) ||
		overlaps(first, last, ring->avail_user_addr, avail_len) ||
		overlaps(first, last, ring->used_user_addr, used_len) ||
		((ring->flags & (1 << VHOST_VRING_F_LOG)) != 0 &&
			overlaps(first, last, ring->log_guest_addr, sizeof(uint64_t)));
}

bool
vhost_iotlb_needs_rings(
	struct virtio_net *dev, const struct vhost_virtqueue *vq, const struct vhost_iotlb_msg *msg)
{
	/* Before a queue is started its addresses mean nothing. */
	if (vq->kickfd == VIRTIO_UNINITIALIZED_EVENTFD || vq->size == 0)
		return false;
	return !vq->access_ok || is_about_ring(dev, vq, msg->iova, last_of(msg->iova, msg->size));
}

int
vhost_iotlb_send(int fd, const void *msg, size_t len)
{
	if (send(fd, msg, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		return 0;
	return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}
