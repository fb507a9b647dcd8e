/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#ifdef RTE_LIBRTE_VHOST_NUMA
#include <numaif.h>
#endif

#include <rte_common.h>
#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_spinlock.h>

#include "iotlb.h"
#include "iotlb_map.h"
#include "vhost.h"
#include "vhost_log_fallback.h"
#include "vhost_user.h"

#define LOG(dev, level, format, ...) \
	VHOST_CONFIG_LOG((dev)->ifname, level, "IOTLB: " format, ##__VA_ARGS__)

/* Of misses that wait for an answer, too. */
#define CAPACITY VHOST_IOTLB_CAPACITY

#define MAP_SIZE RTE_CACHE_LINE_ROUNDUP(iotlb_map_size(CAPACITY))
/* A new mapping comes before an old translation is evicted. */
#define NUM_MAPPINGS (CAPACITY + 1)
#define MAPPINGS_SIZE (VHOST_IOTLB_PER_DEVICE ? iotlb_map_size(NUM_MAPPINGS) : 0)

/* What the front end was asked for. */
struct miss {
	uint64_t iova;
	uint8_t perm;
};

struct vhost_iotlb {
	struct vhost_iotlb_head head;
	struct iotlb_map_stats counted;
	rte_spinlock_t misses_lock;
	uint32_t num_misses;
	struct miss misses[CAPACITY]; /* sorted */
#if VHOST_IOTLB_PER_DEVICE
	/* Host memory that the back end has mapped for a translation each, or NULL. */
	struct iotlb_map *mappings;
	vhost_iotlb_remove_notify unmap;
#endif
	uint8_t maps[] __rte_cache_aligned;
};

/*
 * The last address of a range, which may be the last one there is. What goes beyond ends
 * there, as does a range of 2^64 bytes, whose size is told as 0.
 */
static uint64_t
last_of(uint64_t iova, uint64_t size)
{
	return size - 1 > UINT64_MAX - iova ? UINT64_MAX : iova + (size - 1);
}

/* --- rings --- */

#define MAX_PARTS 4

/* A part of a ring, and where a queue that is ready has it. */
struct part {
	uint64_t first, last;
	uint64_t held; /* host address, or the guest's address of the log */
	bool is_log;
};

static struct part
part_of(uint64_t iova, uint64_t len, const void *held)
{
	return (struct part){ iova, last_of(iova, len), (uintptr_t)held, false };
}

/* The parts of a queue's rings; there are none before it has a size. */
static unsigned int
get_parts(struct virtio_net *dev, const struct vhost_virtqueue *vq, struct part *parts)
{
	const struct vhost_vring_addr *ring = &vq->ring_addrs;
	const uint64_t size = vq->size;
	uint64_t avail_len = sizeof(struct vring_packed_desc_event), used_len = avail_len;
	unsigned int num = 0;

	if (size == 0)
		return 0;
	if (!vq_is_packed(dev)) {
		avail_len = sizeof(struct vring_avail) + size * sizeof(uint16_t);
		used_len = sizeof(struct vring_used) + size * sizeof(struct vring_used_elem);
		if (dev->features & (1ULL << VIRTIO_RING_F_EVENT_IDX)) {
			avail_len += sizeof(uint16_t);
			used_len += sizeof(uint16_t);
		}
	}
	/* Those of both formats share a place, and both have descriptors of 16 bytes. */
	parts[num++] = part_of(ring->desc_user_addr, size * sizeof(struct vring_desc), vq->desc);
	parts[num++] = part_of(ring->avail_user_addr, avail_len, vq->avail);
	parts[num++] = part_of(ring->used_user_addr, used_len, vq->used);
	if (ring->flags & (1 << VHOST_VRING_F_LOG)) {
		parts[num] = part_of(ring->log_guest_addr, sizeof(uint64_t), NULL);
		parts[num].held = vq->log_guest_addr;
		parts[num++].is_log = true;
	}
	return num;
}

/* Both may end at the last address there is. */
static bool
overlaps(uint64_t first, uint64_t last, const struct part *part)
{
	return part->first <= last && first <= part->last;
}

static bool
is_about_ring(
	struct virtio_net *dev, const struct vhost_virtqueue *vq, uint64_t first, uint64_t last)
{
	struct part parts[MAX_PARTS];
	unsigned int i, num = get_parts(dev, vq, parts);

	for (i = 0; i < num; i++)
		if (overlaps(first, last, &parts[i]))
			return true;
	return false;
}

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

/* --- mappings --- */

#if VHOST_IOTLB_PER_DEVICE

/* Memory is in core dumps where there are translations for it. */
static void
set_dump(const struct iotlb_map_entry *entry, bool dump)
{
	const uint64_t page = UINT64_C(1) << entry->page_shift;
	const uint64_t end = entry->host + (entry->last - entry->first) + 1;
	/* Half a page may be a neighbour's, too, and stays. */
	const uint64_t first_page = dump ? RTE_ALIGN_FLOOR(entry->host, page)
					 : RTE_ALIGN_CEIL(entry->host, page);
	const uint64_t end_page = dump ? RTE_ALIGN_CEIL(end, page) : RTE_ALIGN_FLOOR(end, page);

	if (first_page < end_page)
		madvise((void *)(uintptr_t)first_page, end_page - first_page,
			dump ? MADV_DODUMP : MADV_DONTDUMP);
}

static void
on_gone(void *arg, const struct iotlb_map_entry *gone)
{
	struct vhost_iotlb *iotlb = arg;
	struct iotlb_map_entry mapping;

	set_dump(gone, false);
	if (iotlb->mappings == NULL || !iotlb_map_get_at(iotlb->mappings, gone->host, &mapping))
		return;
	iotlb_map_remove(iotlb->mappings, mapping.first, mapping.last);
	iotlb->unmap(mapping.first, 0, mapping.last - mapping.first + 1);
}

/* A mapping goes as a whole, and so do translations that have one. */
static void
extend_to_mappings(const struct vhost_iotlb *iotlb, uint64_t *first, uint64_t *last)
{
	struct iotlb_map_entry entry;

	if (iotlb->mappings == NULL)
		return;
	if (iotlb_map_get_at(iotlb->head.map, *first, &entry))
		*first = entry.first;
	if (iotlb_map_get_at(iotlb->head.map, *last, &entry))
		*last = entry.last;
}

static void
configure(struct vhost_iotlb *iotlb, const struct virtio_net *dev, struct iotlb_map_config *config)
{
	config->gone = on_gone;
	config->gone_arg = iotlb;
	iotlb->unmap = dev->backend_ops->iotlb_remove_notify;
	if (iotlb->unmap == NULL)
		return;
	config->flags = IOTLB_MAP_NO_MERGE;
	iotlb->mappings = iotlb_map_init(iotlb->maps + MAP_SIZE,
		&(struct iotlb_map_config){
			.capacity = NUM_MAPPINGS, .flags = IOTLB_MAP_NO_MERGE });
}

#else

static void
extend_to_mappings(const struct vhost_iotlb *iotlb __rte_unused, uint64_t *first __rte_unused,
	uint64_t *last __rte_unused)
{
}

static void
configure(struct vhost_iotlb *iotlb __rte_unused, const struct virtio_net *dev __rte_unused,
	struct iotlb_map_config *config __rte_unused)
{
}

#endif

/* --- translations, without the locks --- */

/* On the NUMA node where its owner is. */
static struct vhost_iotlb *
create(const struct virtio_net *dev, void *owner)
{
	struct iotlb_map_config config = { .capacity = CAPACITY, .seed = rte_rand() };
	const size_t len = sizeof(struct vhost_iotlb) + MAP_SIZE + MAPPINGS_SIZE;
	struct vhost_iotlb *iotlb;
	int node = SOCKET_ID_ANY;

	if ((dev->flags & VIRTIO_DEV_SUPPORT_IOMMU) == 0)
		return NULL;
	RTE_SET_USED(owner);
#ifdef RTE_LIBRTE_VHOST_NUMA
	if (get_mempolicy(&node, NULL, 0, owner, MPOL_F_NODE | MPOL_F_ADDR) != 0)
		node = SOCKET_ID_ANY;
#endif
	iotlb = rte_zmalloc_socket("iotlb", len, RTE_CACHE_LINE_SIZE, node);
	if (iotlb == NULL) {
		LOG(dev, ERR, "no memory for it");
		return NULL;
	}
	rte_spinlock_init(&iotlb->misses_lock);
	configure(iotlb, dev, &config);
	iotlb->head.map = iotlb_map_init(iotlb->maps, &config);
	return iotlb;
}

/*
 * What is about a ring is persistent: only such entries can fill a map so that it takes no
 * other. A ring in so many pieces cannot be used, so they may go.
 */
static void
insert(const struct virtio_net *dev, struct vhost_iotlb *iotlb, const struct iotlb_map_entry *entry)
{
	int ret = iotlb_map_insert(iotlb->head.map, entry);

	if (ret == -ENOSPC) {
		iotlb_map_clear(iotlb->head.map);
		ret = iotlb_map_insert(iotlb->head.map, entry);
	}
	if (ret == 0)
		remove_misses(iotlb, entry->first, entry->last, entry->perm);
	else
		LOG(dev, ERR, "cannot take IOVA 0x%" PRIx64 " to 0x%" PRIx64 ", permission %u: %s",
			entry->first, entry->last, entry->perm, strerror(-ret));
}

static void
remove_range(struct vhost_iotlb *iotlb, uint64_t iova, uint64_t size)
{
	uint64_t first = iova, last = last_of(iova, size);

	remove_misses(iotlb, first, last, VHOST_ACCESS_RW);
	extend_to_mappings(iotlb, &first, &last);
	iotlb_map_remove(iotlb->head.map, first, last);
}

/* A queue tells of changes, which may have merged or evicted some. */
static void
count(struct vhost_virtqueue *vq, const struct vhost_iotlb *iotlb)
{
	const struct iotlb_map_stats stats = iotlb_map_get_stats(iotlb->head.map);

	vq->stats.iotlb_entries = iotlb_map_num(iotlb->head.map);
	vq->stats.iotlb_merges += stats.merges - iotlb->counted.merges;
	vq->stats.iotlb_evictions += stats.evictions - iotlb->counted.evictions;
}

#if VHOST_IOTLB_PER_DEVICE

/* --- what vhost calls since DPDK 23.07: the device has the translations --- */

static void
lock_all(struct virtio_net *dev) __rte_no_thread_safety_analysis
{
	uint32_t i;

	for (i = 0; i < dev->nr_vring; i++)
		if (dev->virtqueue[i] != NULL)
			rte_rwlock_write_lock(&dev->virtqueue[i]->iotlb_lock);
}

static void
unlock_all(struct virtio_net *dev) __rte_no_thread_safety_analysis
{
	uint32_t i;

	for (i = 0; i < dev->nr_vring; i++) {
		if (dev->virtqueue[i] == NULL)
			continue;
		count(dev->virtqueue[i], dev->iotlb);
		rte_rwlock_write_unlock(&dev->virtqueue[i]->iotlb_lock);
	}
	dev->iotlb->counted = iotlb_map_get_stats(dev->iotlb->head.map);
}

int
vhost_user_iotlb_init(struct virtio_net *dev)
{
	vhost_user_iotlb_destroy(dev);
	dev->iotlb = create(dev, dev);
	return dev->iotlb == NULL && (dev->flags & VIRTIO_DEV_SUPPORT_IOMMU) != 0 ? -1 : 0;
}

void
vhost_user_iotlb_destroy(struct virtio_net *dev)
{
	/* With the mappings. */
	vhost_user_iotlb_flush_all(dev);
	rte_free(dev->iotlb);
	dev->iotlb = NULL;
}

void
vhost_user_iotlb_flush_all(struct virtio_net *dev)
{
	vhost_user_iotlb_cache_remove(dev, 0, 0);
}

/* Remember a mapping, unless its translation is there: two threads can miss the same. */
static bool
add_mapping(struct vhost_iotlb *iotlb, uint64_t uaddr, uint64_t len,
	const struct iotlb_map_entry *entry)
{
	const struct iotlb_map_entry mapping = {
		.first = uaddr, .last = uaddr + (len - 1), .host = uaddr, .perm = IOTLB_MAP_RW
	};
	const uint64_t size = entry->last - entry->first + 1;

	if (iotlb_map_find(iotlb->head.map, entry->first, size, entry->perm).len == size) {
		iotlb->unmap(uaddr, 0, len);
		return false;
	}
	remove_range(iotlb, entry->first, size);
	iotlb_map_insert(iotlb->mappings, &mapping);
	return true;
}

void
vhost_user_iotlb_cache_insert(struct virtio_net *dev, uint64_t iova, uint64_t uaddr,
	uint64_t uoffset, uint64_t size, uint64_t page_size, uint8_t perm)
{
	struct iotlb_map_entry entry = { .first = iova,
		.last = iova + (size - 1),
		.host = uaddr + uoffset,
		.perm = perm,
		.page_shift = rte_log2_u64(page_size) };
	struct vhost_iotlb *iotlb = dev->iotlb;
	uint32_t i;

	if (iotlb == NULL)
		return;
	lock_all(dev);
	for (i = 0; i < dev->nr_vring; i++)
		if (dev->virtqueue[i] != NULL &&
			is_about_ring(dev, dev->virtqueue[i], entry.first, entry.last))
			entry.persistent = true;
	if (iotlb->mappings == NULL || add_mapping(iotlb, uaddr, uoffset + size, &entry)) {
		insert(dev, iotlb, &entry);
		set_dump(&entry, true);
	}
	unlock_all(dev);
}

void
vhost_user_iotlb_cache_remove(struct virtio_net *dev, uint64_t iova, uint64_t size)
{
	if (dev->iotlb == NULL)
		return;
	lock_all(dev);
	remove_range(dev->iotlb, iova, size);
	unlock_all(dev);
}

/* A back end that maps memory does so at once, by an insertion. */
static int
send_miss(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova, uint8_t perm)
	VHOST_IOTLB_IS_READING(&vq->iotlb_lock)
{
	int ret;

	if (dev->iotlb->mappings == NULL)
		return dev->backend_ops->iotlb_miss(dev, iova, perm);
	vhost_user_iotlb_rd_unlock(vq);
	ret = dev->backend_ops->iotlb_miss(dev, iova, perm);
	vhost_user_iotlb_rd_lock(vq);
	return ret;
}

#else

/* --- what vhost calls until DPDK 23.03: each queue has translations --- */

static void
unlock(struct vhost_virtqueue *vq)
{
	count(vq, vq->iotlb);
	vq->iotlb->counted = iotlb_map_get_stats(vq->iotlb->head.map);
	vhost_user_iotlb_wr_unlock(vq);
}

int
vhost_user_iotlb_init(struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	vhost_user_iotlb_destroy(vq);
	rte_rwlock_init(&vq->iotlb_lock);
	vq->iotlb = create(dev, vq);
	return vq->iotlb == NULL && (dev->flags & VIRTIO_DEV_SUPPORT_IOMMU) != 0 ? -1 : 0;
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
	vhost_user_iotlb_cache_remove(vq, 0, 0);
}

void
vhost_user_iotlb_cache_insert(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t uaddr, uint64_t size, uint8_t perm)
{
	struct iotlb_map_entry entry = {
		.first = iova, .last = iova + (size - 1), .host = uaddr, .perm = perm
	};

	if (vq->iotlb == NULL)
		return;
	entry.persistent = is_about_ring(dev, vq, entry.first, entry.last);
	vhost_user_iotlb_wr_lock(vq);
	insert(dev, vq->iotlb, &entry);
	unlock(vq);
}

void
vhost_user_iotlb_cache_remove(struct vhost_virtqueue *vq, uint64_t iova, uint64_t size)
{
	if (vq->iotlb == NULL)
		return;
	vhost_user_iotlb_wr_lock(vq);
	remove_range(vq->iotlb, iova, size);
	unlock(vq);
}

/* The lock stays held: what else the burst has translated remains true. */
static int
send_miss(struct virtio_net *dev, struct vhost_virtqueue *vq __rte_unused, uint64_t iova,
	uint8_t perm)
{
	return vhost_user_iotlb_miss(dev, iova, perm);
}

#endif

uint64_t
vhost_iotlb_num_entries(const struct virtio_net *dev, struct vhost_virtqueue *vq)
{
	uint64_t num = 0;

	vhost_user_iotlb_rd_lock(vq);
	if (vhost_iotlb_of(dev, vq) != NULL)
		num = iotlb_map_num(vhost_iotlb_of(dev, vq)->head.map);
	vhost_user_iotlb_rd_unlock(vq);
	return num;
}

/* --- look-up --- */

/* Ask for a translation, once until it is answered. */
static void
ask(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova, uint8_t perm)
	VHOST_IOTLB_IS_READING(&vq->iotlb_lock)
{
	struct vhost_iotlb *iotlb = vhost_iotlb_of(dev, vq);

	if (add_miss(iotlb, iova, perm) && send_miss(dev, vq, iova, perm) != 0)
		remove_misses(iotlb, iova, iova, perm);
}

uint64_t
__vhost_iova_to_vva(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t *size, uint8_t perm)
{
	const struct vhost_iotlb *iotlb = vhost_iotlb_of(dev, vq);
	const uint64_t len = *size;
	struct iotlb_map_hit hit;

	*size = 0;
	if (unlikely(len == 0 || iotlb == NULL))
		return 0;
	hit = iotlb_map_find(iotlb->head.map, iova, len, perm);
	if (likely(hit.len != 0)) {
		if (dev->flags & VIRTIO_DEV_STATS_ENABLED)
			vq->stats.iotlb_hits++;
	} else {
		if (dev->flags & VIRTIO_DEV_STATS_ENABLED)
			vq->stats.iotlb_misses++;
		ask(dev, vq, iova, perm);
		/* A back end that maps memory has answered. */
		if (VHOST_IOTLB_PER_DEVICE)
			hit = iotlb_map_find(iotlb->head.map, iova, len, perm);
	}
	*size = hit.len;
	return hit.host;
}

uint64_t
vhost_iova_to_vva_whole(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova,
	uint64_t *size, uint8_t perm)
{
	uint64_t len = *size, rest;
	uint64_t vva = vhost_iova_to_vva(dev, vq, iova, &len, perm);

	if (len == *size)
		return vva;
	rest = *size - len;
	/* What is missing from the start has been asked for. */
	if (len != 0)
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

uint64_t
vhost_iotlb_log_addr(const struct virtio_net *dev, uint64_t host, uint64_t len)
{
	uint64_t guest, held = len;

	return find_guest_addr(dev, host, &guest, &held) && held == len ? guest : VHOST_NO_LOG_ADDR;
}

/* The parts of a range may be anywhere in the guest's memory. */
static void
log_range(struct virtio_net *dev, struct vhost_virtqueue *vq, uint64_t iova, uint64_t len,
	bool cached) VHOST_IOTLB_IS_READING(&vq->iotlb_lock)
{
	uint64_t host, guest, part;

	for (; len != 0; iova += part, len -= part) {
		part = len;
		host = __vhost_iova_to_vva(dev, vq, iova, &part, VHOST_ACCESS_RW);
		if (part == 0 || !find_guest_addr(dev, host, &guest, &part)) {
			LOG(dev, ERR,
				"dirty log lacks 0x%" PRIx64 " bytes at IOVA 0x%" PRIx64
				": no translation",
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
	LOG(dev, ERR,
		"update refused: 0x%" PRIx64 " bytes at IOVA 0x%" PRIx64
		", permission %u; wants 1 byte or more, permission 1 to 3",
		(uint64_t)update->size, (uint64_t)update->iova, update->perm);
	return false;
}

/* Whether all of a part that is in a range is, for reading and writing, where it is held. */
static bool
is_held(const struct virtio_net *dev, const struct vhost_virtqueue *vq, const struct part *part,
	uint64_t first, uint64_t last)
{
	const uint64_t from = RTE_MAX(first, part->first), to = RTE_MIN(last, part->last);
	const uint64_t len = to - from + 1;
	const struct iotlb_map_hit hit = iotlb_map_find(
		vhost_iotlb_of(dev, vq)->head.map, from, len, VHOST_ACCESS_RW);
	uint64_t at = hit.host;

	if (hit.len != len)
		return false;
	if (part->is_log)
		at = vhost_iotlb_log_addr(dev, hit.host, len);
	return at == part->held + (from - part->first);
}

bool
vhost_iotlb_needs_rings(
	struct virtio_net *dev, const struct vhost_virtqueue *vq, const struct vhost_iotlb_msg *msg)
{
	const bool is_started = vq->kickfd != VIRTIO_UNINITIALIZED_EVENTFD && vq->size != 0;
	const uint64_t first = msg->iova, last = last_of(msg->iova, msg->size);
	struct part parts[MAX_PARTS];
	unsigned int i, num;

	/* Before it is started a queue does not wait; if it is enabled, it may have its rings. */
	if (!vq->access_ok)
		return is_started;
	num = get_parts(dev, vq, parts);
	for (i = 0; i < num; i++)
		if (overlaps(first, last, &parts[i]) &&
			(msg->type != VHOST_IOTLB_UPDATE || vhost_iotlb_of(dev, vq) == NULL ||
				!is_held(dev, vq, &parts[i], first, last)))
			return true;
	return false;
}

int
vhost_iotlb_send(int fd, const void *msg, size_t len)
{
	if (send(fd, msg, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		return 0;
	return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}
