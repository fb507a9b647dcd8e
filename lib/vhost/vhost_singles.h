/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_SINGLES_H
#define VHOST_SINGLES_H

/*
 * The short way of packets that are each in one mbuf and in one guest buffer.
 *
 * These are nearly all packets, and what DPDK does for a packet in several of both, vectors
 * of buffers and copies that are put off, costs more than the copy of a small one. Here a
 * group of packets is looked at, its buffers are fetched into the cache, and then it is
 * copied. The first packet that is not as simple, or whose buffer a virtual IOMMU has not
 * told of as a whole, and all packets of a device with a log of what it writes, are left to
 * DPDK's own way, which also asks for what is missing. So these functions never fail and
 * never wait: they tell how many packets they served.
 *
 * Included by virtio_net.c. The queue is locked, and with an IOMMU its translations are, too.
 *
 * What a device with an IOMMU needs is compiled apart, out of line, and chosen once for each
 * call, so that others do not pay for it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "iotlb.h"
#include "iotlb_map.h"
#include "pktcpy.h"
#include "vhost.h"

/* Packets that are looked at before the first of them is copied, and fetched. */
#define VHOST_SINGLES_GROUP 16
/*
 * The same for packed rings, where a group costs less, for descriptors are in a row. To the
 * guest a small one leaves in the first cache what was fetched. From the guest the buffers
 * are fetched some packets ahead, so all of a burst can be one group.
 */
#define VHOST_SINGLES_PACKED_PUT_GROUP 8
#define VHOST_SINGLES_PACKED_TAKE_GROUP 32
#define VHOST_SINGLES_AHEAD 6

/* Devices that are not served in line: those with an IOMMU are apart, those with a log not. */
#define VHOST_SINGLES_SPECIAL (1ULL << VIRTIO_F_IOMMU_PLATFORM | 1ULL << VHOST_F_LOG_ALL)

/* What needs more than a header of zeros. */
#define VHOST_SINGLES_OFFLOADS \
	(RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_SEG | \
		RTE_MBUF_F_TX_UDP_SEG)

/* A region of guest memory: that of the last buffer, most often that of the next one too. */
struct vhost_singles_region {
	uint64_t guest_addr;
	uint64_t len;
	uint64_t host_addr;
};

/* How addresses in descriptors are translated. */
struct vhost_singles_guest {
	bool has_iommu;              /* known when compiled */
	uint8_t perm;                /* with one: VHOST_ACCESS_RO or VHOST_ACCESS_RW */
	const struct iotlb_map *map; /* with one */
	const struct rte_vhost_memory *mem;
	struct vhost_singles_region *region; /* apart, for its address is given away */
};

/* A guest buffer, in host addresses, header included. */
struct vhost_singles_buf {
	uint8_t *addr;
	uint32_t len;
	uint16_t id; /* in packed rings, the guest's name for it */
};

/* Find the region of an address; returns false if there is none. */
static __rte_noinline bool
vhost_singles_find_region(
	const struct rte_vhost_memory *mem, uint64_t addr, struct vhost_singles_region *region)
{
	uint32_t i;

	for (i = 0; i < mem->nregions; i++) {
		if (addr - mem->regions[i].guest_phys_addr >= mem->regions[i].size)
			continue;
		region->guest_addr = mem->regions[i].guest_phys_addr;
		region->len = mem->regions[i].size;
		region->host_addr = mem->regions[i].host_user_addr;
		return true;
	}
	return false;
}

/* Translate a guest-physical buffer; returns NULL if it isn't all in one region. */
static __rte_always_inline void *
vhost_singles_translate_phys(const struct vhost_singles_guest *guest, uint64_t addr, uint32_t len)
{
	struct vhost_singles_region *region = guest->region;
	uint64_t offset = addr - region->guest_addr;

	if (unlikely(offset >= region->len)) {
		if (!vhost_singles_find_region(guest->mem, addr, region))
			return NULL;
		offset = addr - region->guest_addr;
	}
	if (unlikely(len > region->len - offset))
		return NULL;
	return (void *)(uintptr_t)(region->host_addr + offset);
}

/*
 * Translate a buffer by the IOMMU; returns NULL if it isn't all allowed and in a row. What
 * is missing is not asked for here.
 */
static __rte_always_inline void *
vhost_singles_translate_iova(const struct vhost_singles_guest *guest, uint64_t iova, uint32_t len)
{
	struct iotlb_map_hit hit;
	uint64_t host;

	if (likely(iotlb_map_find_page(guest->map, iova, len, guest->perm, &host)))
		return (void *)(uintptr_t)host;
	hit = iotlb_map_find(guest->map, iova, len, guest->perm);
	return hit.len == len ? (void *)(uintptr_t)hit.host : NULL;
}

static __rte_always_inline void *
vhost_singles_translate(const struct vhost_singles_guest *guest, uint64_t addr, uint32_t len)
{
	return guest->has_iommu ? vhost_singles_translate_iova(guest, addr, len)
				: vhost_singles_translate_phys(guest, addr, len);
}

/* The translations of a queue; NULL if it has none. */
static __rte_always_inline const struct iotlb_map *
vhost_singles_map(const struct virtio_net *dev, const struct vhost_virtqueue *vq)
{
	const struct vhost_iotlb_head *head = (const void *)vhost_iotlb_of(dev, vq);

	return likely(head != NULL) ? head->map : NULL;
}

/* Count what was translated for packets that were served, one buffer each. */
static __rte_always_inline uint32_t
vhost_singles_count_hits(const struct virtio_net *dev, struct vhost_virtqueue *vq, uint32_t num)
{
	if (dev->flags & VIRTIO_DEV_STATS_ENABLED)
		vq->stats.iotlb_hits += num;
	return num;
}

/*
 * Get the buffer of a split ring's entry; returns false if it isn't a single one. What the
 * guest may change meanwhile is read once.
 */
static __rte_always_inline bool
vhost_singles_get_split(const struct vhost_singles_guest *guest, struct vhost_virtqueue *vq,
	uint16_t avail_idx, uint16_t *desc_idx, struct vhost_singles_buf *buf)
{
	const volatile uint16_t *entry = &vq->avail->ring[avail_idx & (vq->size - 1)];
	const uint16_t idx = *entry;
	const volatile struct vring_desc *desc = &vq->desc[idx];

	if (unlikely(idx >= vq->size))
		return false;
	if (unlikely(desc->flags & (VRING_DESC_F_NEXT | VRING_DESC_F_INDIRECT)))
		return false;
	*desc_idx = idx;
	buf->len = desc->len;
	buf->addr = vhost_singles_translate(guest, desc->addr, buf->len);
	rte_prefetch0(buf->addr);
	return buf->addr != NULL;
}

/*
 * Get the buffer of a packed ring's descriptor; returns false if there is none yet, or more
 * than a single one. What the guest may change meanwhile is read once.
 */
static __rte_always_inline bool
vhost_singles_get_packed(const struct vhost_singles_guest *guest,
	struct vring_packed_desc *ring_desc, bool wrap, struct vhost_singles_buf *buf)
{
	const uint16_t kind = VRING_DESC_F_AVAIL | VRING_DESC_F_USED | VRING_DESC_F_NEXT |
		VRING_DESC_F_INDIRECT;
	const volatile struct vring_packed_desc *desc = ring_desc;
	/* What else is in the descriptor was there before its flags. */
	const uint16_t flags = __atomic_load_n(&desc->flags, __ATOMIC_ACQUIRE);

	if (unlikely((flags & kind) != (wrap ? VRING_DESC_F_AVAIL : VRING_DESC_F_USED)))
		return false;
	buf->id = desc->id;
	buf->len = desc->len;
	buf->addr = vhost_singles_translate(guest, desc->addr, buf->len);
	return buf->addr != NULL;
}

/*
 * Fetch what the IOMMU has told of a group of buffers, which are looked up next. What is
 * read of the guest is a hint.
 */
static __rte_always_inline void
vhost_singles_fetch_split(const struct vhost_singles_guest *guest, const struct vhost_virtqueue *vq,
	uint16_t avail_idx, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count && guest->has_iommu; i++) {
		const uint16_t idx = vq->avail->ring[(avail_idx + i) & (vq->size - 1)];

		rte_prefetch0(iotlb_map_page_of(guest->map, vq->desc[idx & (vq->size - 1)].addr));
	}
}

/* The same for descriptors in a row. */
static __rte_always_inline void
vhost_singles_fetch_packed(const struct vhost_singles_guest *guest,
	const struct vring_packed_desc *desc, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count && guest->has_iommu; i++)
		rte_prefetch0(iotlb_map_page_of(guest->map, desc[i].addr));
}

/* Can a packet go into a buffer as it is, and does it fit? */
static __rte_always_inline bool
vhost_singles_fits(
	const struct rte_mbuf *pkt, const struct vhost_singles_buf *buf, uint16_t hdr_len)
{
	const uint32_t len = pkt->data_len;

	return likely(len == pkt->pkt_len && hdr_len + len <= buf->len &&
		(pkt->ol_flags & VHOST_SINGLES_OFFLOADS) == 0);
}

/* Copy a packet into a guest buffer, behind a header that tells of nothing. */
static __rte_always_inline void
vhost_singles_put(const struct vhost_singles_buf *buf, const struct rte_mbuf *pkt, uint16_t hdr_len)
{
	const struct virtio_net_hdr_mrg_rxbuf hdr = { .num_buffers = 1 };

	if (hdr_len == sizeof(hdr))
		memcpy(buf->addr, &hdr, sizeof(hdr));
	else
		memcpy(buf->addr, &hdr, sizeof(hdr.hdr));
	pktcpy(buf->addr + hdr_len, rte_pktmbuf_mtod(pkt, const void *), pkt->data_len);
}

/* Give a group of single packets to the guest; returns how many there were. */
static __rte_always_inline uint32_t
vhost_singles_put_group_split(struct virtio_net *dev, struct vhost_virtqueue *vq,
	struct rte_mbuf **pkts, uint32_t count, const struct vhost_singles_guest *guest)
{
	struct vring_used_elem *used = &vq->shadow_used_split[vq->shadow_used_idx];
	const uint16_t hdr_len = dev->vhost_hlen;
	struct vhost_singles_buf bufs[VHOST_SINGLES_GROUP];
	uint32_t num, i;

	vhost_singles_fetch_split(guest, vq, vq->last_avail_idx, count);
	for (num = 0; num < count; num++) {
		uint16_t idx;

		if (!vhost_singles_get_split(guest, vq, vq->last_avail_idx + num, &idx, &bufs[num]))
			break;
		if (!vhost_singles_fits(pkts[num], &bufs[num], hdr_len))
			break;
		used[num].id = idx;
		used[num].len = hdr_len + pkts[num]->data_len;
	}
	for (i = 0; i < num; i++)
		vhost_singles_put(&bufs[i], pkts[i], hdr_len);
	vq->shadow_used_idx += num;
	vq->last_avail_idx += num;
	return num;
}

static __rte_always_inline uint32_t
vhost_singles_put_split(struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts,
	uint32_t count, const struct vhost_singles_guest *guest)
{
	uint32_t done = 0, group, num;

	do {
		group = RTE_MIN(count - done, (uint32_t)VHOST_SINGLES_GROUP);
		num = vhost_singles_put_group_split(dev, vq, pkts + done, group, guest);
		done += num;
	} while (num == VHOST_SINGLES_GROUP);
	return done;
}

static __rte_noinline uint32_t
vhost_singles_enqueue_split_iommu(
	struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts, uint32_t count)
{
	const struct vhost_singles_guest guest = {
		.has_iommu = true,
		.perm = VHOST_ACCESS_RW,
		.map = vhost_singles_map(dev, vq),
	};

	if (unlikely(guest.map == NULL))
		return 0;
	return vhost_singles_count_hits(
		dev, vq, vhost_singles_put_split(dev, vq, pkts, count, &guest));
}

/* Give the single packets to the guest that come before the first of another kind. */
static __rte_always_inline uint32_t
vhost_singles_enqueue_split(struct virtio_net *dev, struct vhost_virtqueue *vq,
	struct rte_mbuf **pkts, uint32_t count, uint16_t avail_head)
{
	struct vhost_singles_region region = { .len = 0 };
	const struct vhost_singles_guest guest = { .mem = dev->mem, .region = &region };

	count = RTE_MIN(count, (uint16_t)(avail_head - vq->last_avail_idx));
	if (unlikely(dev->features & VHOST_SINGLES_SPECIAL)) {
		if (dev->features & (1ULL << VHOST_F_LOG_ALL))
			return 0;
		return vhost_singles_enqueue_split_iommu(dev, vq, pkts, count);
	}
	return vhost_singles_put_split(dev, vq, pkts, count, &guest);
}

/* Copy a packet out of a guest buffer; returns false if it needs more than that. */
static __rte_always_inline bool
vhost_singles_take(const struct vhost_singles_buf *buf, struct rte_mbuf *pkt, uint16_t hdr_len)
{
	const volatile struct virtio_net_hdr *hdr = (const void *)buf->addr;
	const uint32_t len = buf->len - hdr_len;

	if (unlikely(buf->len <= hdr_len || len > rte_pktmbuf_tailroom(pkt)))
		return false;
	if (unlikely(hdr->flags != 0 || hdr->gso_type != VIRTIO_NET_HDR_GSO_NONE))
		return false;
	pktcpy(rte_pktmbuf_mtod(pkt, void *), buf->addr + hdr_len, len);
	pkt->pkt_len = len;
	pkt->data_len = len;
	return true;
}

/* Take a group of single packets from the guest; returns how many there were. */
static __rte_always_inline uint32_t
vhost_singles_take_group_split(struct virtio_net *dev, struct vhost_virtqueue *vq,
	struct rte_mbuf **pkts, uint32_t count, uint16_t avail_idx,
	const struct vhost_singles_guest *guest)
{
	struct vring_used_elem *used = &vq->shadow_used_split[vq->shadow_used_idx];
	const uint16_t hdr_len = dev->vhost_hlen;
	struct vhost_singles_buf bufs[VHOST_SINGLES_GROUP];
	uint32_t num, i;

	vhost_singles_fetch_split(guest, vq, avail_idx, count);
	for (num = 0; num < count; num++) {
		uint16_t idx;

		if (!vhost_singles_get_split(guest, vq, avail_idx + num, &idx, &bufs[num]))
			break;
		used[num].id = idx;
		used[num].len = 0;
	}
	for (i = 0; i < num; i++)
		if (!vhost_singles_take(&bufs[i], pkts[i], hdr_len))
			break;
	vq->shadow_used_idx += i;
	return i;
}

static __rte_always_inline uint32_t
vhost_singles_take_split(struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts,
	uint32_t count, uint16_t avail_idx, const struct vhost_singles_guest *guest)
{
	uint32_t done = 0, group, num;

	do {
		group = RTE_MIN(count - done, (uint32_t)VHOST_SINGLES_GROUP);
		num = vhost_singles_take_group_split(
			dev, vq, pkts + done, group, avail_idx + done, guest);
		done += num;
	} while (num == VHOST_SINGLES_GROUP);
	return done;
}

static __rte_noinline uint32_t
vhost_singles_dequeue_split_iommu(struct virtio_net *dev, struct vhost_virtqueue *vq,
	struct rte_mbuf **pkts, uint32_t count, uint16_t avail_idx)
{
	const struct vhost_singles_guest guest = {
		.has_iommu = true,
		.perm = VHOST_ACCESS_RO,
		.map = vhost_singles_map(dev, vq),
	};

	if (unlikely(guest.map == NULL))
		return 0;
	return vhost_singles_count_hits(
		dev, vq, vhost_singles_take_split(dev, vq, pkts, count, avail_idx, &guest));
}

/* Take the single packets from the guest that come before the first of another kind. */
static __rte_always_inline uint32_t
vhost_singles_dequeue_split(struct virtio_net *dev, struct vhost_virtqueue *vq,
	struct rte_mbuf **pkts, uint32_t count, uint16_t avail_idx)
{
	struct vhost_singles_region region = { .len = 0 };
	const struct vhost_singles_guest guest = { .mem = dev->mem, .region = &region };

	if (unlikely(dev->features & (1ULL << VIRTIO_F_IOMMU_PLATFORM)))
		return vhost_singles_dequeue_split_iommu(dev, vq, pkts, count, avail_idx);
	return vhost_singles_take_split(dev, vq, pkts, count, avail_idx, &guest);
}

/*
 * How many descriptors of a packed ring can be looked at as a group, at most *max*? None
 * if there is a packet that was not given back yet, which has to be the first one then.
 */
static __rte_always_inline uint32_t
vhost_singles_group_packed(const struct vhost_virtqueue *vq, uint32_t max)
{
	const uint32_t to_end = vq->size - vq->last_avail_idx;

	if (unlikely(vq->last_used_idx != vq->last_avail_idx))
		return 0;
	return RTE_MIN(max, to_end);
}

/* Tell the guest of *num* buffers that hold packets now. */
static __rte_always_inline void
vhost_singles_use_packed(struct vhost_virtqueue *vq, const struct vhost_singles_buf *bufs,
	struct rte_mbuf **pkts, uint32_t num, uint16_t hdr_len)
{
	const uint16_t flags = PACKED_DESC_ENQUEUE_USED_FLAG(vq->used_wrap_counter);
	struct vring_packed_desc *desc = &vq->desc_packed[vq->last_used_idx];
	uint32_t i;

	for (i = 0; i < num; i++) {
		desc[i].id = bufs[i].id;
		desc[i].len = hdr_len + pkts[i]->data_len;
	}
	/* The guest reads what it sees the flags of. */
	rte_atomic_thread_fence(__ATOMIC_RELEASE);
	for (i = 0; i < num; i++)
		desc[i].flags = flags;
	vq_inc_last_used_packed(vq, num);
	vq_inc_last_avail_packed(vq, num);
}

static __rte_always_inline uint32_t
vhost_singles_put_packed(struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts,
	uint32_t count, const struct vhost_singles_guest *guest)
{
	const uint16_t hdr_len = dev->vhost_hlen;
	struct vhost_singles_buf bufs[VHOST_SINGLES_PACKED_PUT_GROUP];
	uint32_t done = 0, group, num, i;

	do {
		struct vring_packed_desc *desc = &vq->desc_packed[vq->last_avail_idx];

		group = vhost_singles_group_packed(vq, RTE_MIN(count - done, RTE_DIM(bufs)));
		vhost_singles_fetch_packed(guest, desc, group);
		for (num = 0; num < group; num++) {
			if (!vhost_singles_get_packed(
				    guest, &desc[num], vq->avail_wrap_counter, &bufs[num]))
				break;
			rte_prefetch0(bufs[num].addr);
			if (!vhost_singles_fits(pkts[done + num], &bufs[num], hdr_len))
				break;
		}
		for (i = 0; i < num; i++)
			vhost_singles_put(&bufs[i], pkts[done + i], hdr_len);
		vhost_singles_use_packed(vq, bufs, pkts + done, num, hdr_len);
		done += num;
	} while (num == group && done < count && group != 0);
	return done;
}

static __rte_noinline uint32_t
vhost_singles_enqueue_packed_iommu(
	struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts, uint32_t count)
{
	const struct vhost_singles_guest guest = {
		.has_iommu = true,
		.perm = VHOST_ACCESS_RW,
		.map = vhost_singles_map(dev, vq),
	};

	if (unlikely(guest.map == NULL))
		return 0;
	return vhost_singles_count_hits(
		dev, vq, vhost_singles_put_packed(dev, vq, pkts, count, &guest));
}

/* Give the single packets to the guest that come before the first of another kind. */
static __rte_always_inline uint32_t
vhost_singles_enqueue_packed(
	struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts, uint32_t count)
{
	struct vhost_singles_region region = { .len = 0 };
	const struct vhost_singles_guest guest = { .mem = dev->mem, .region = &region };

	if (unlikely(vq->shadow_used_idx != 0))
		return 0;
	if (unlikely(dev->features & VHOST_SINGLES_SPECIAL)) {
		if (dev->features & (1ULL << VHOST_F_LOG_ALL))
			return 0;
		return vhost_singles_enqueue_packed_iommu(dev, vq, pkts, count);
	}
	return vhost_singles_put_packed(dev, vq, pkts, count, &guest);
}

/*
 * Give back *num* buffers, at least one, whose packets were taken. The first one of a burst
 * is given back at its end, by DPDK, so that the guest sees all of them then; where buffers
 * are used in order, that one tells of all others by the id of the last.
 */
static __rte_always_inline void
vhost_singles_give_back_packed(struct virtio_net *dev, struct vhost_virtqueue *vq,
	const struct vhost_singles_buf *bufs, uint32_t num)
{
	const uint16_t flags = PACKED_DESC_DEQUEUE_USED_FLAG(vq->used_wrap_counter);
	struct vring_packed_desc *desc = &vq->desc_packed[vq->last_used_idx];
	struct vring_used_elem_packed *held = &vq->shadow_used_packed[0];
	uint32_t i, first = 0;

	if (vq->shadow_used_idx == 0) {
		vq->shadow_last_used_idx = vq->last_used_idx;
		vq->shadow_used_idx = 1;
		held->id = bufs[0].id;
		held->flags = flags;
		held->len = 0;
		held->count = 1;
		first = 1;
	}
	if (dev->features & (1ULL << VIRTIO_F_IN_ORDER)) {
		held->id = bufs[num - 1].id;
		first = num;
	}
	for (i = first; i < num; i++) {
		desc[i].id = bufs[i].id;
		desc[i].len = 0;
	}
	rte_atomic_thread_fence(__ATOMIC_RELEASE);
	for (i = first; i < num; i++)
		desc[i].flags = flags;
	vq_inc_last_used_packed(vq, num);
	vq_inc_last_avail_packed(vq, num);
}

static __rte_always_inline uint32_t
vhost_singles_take_packed(struct virtio_net *dev, struct vhost_virtqueue *vq,
	struct rte_mbuf **pkts, uint32_t count, const struct vhost_singles_guest *guest)
{
	struct vhost_singles_buf bufs[VHOST_SINGLES_PACKED_TAKE_GROUP];
	uint32_t done = 0, group, num, i;

	do {
		struct vring_packed_desc *desc = &vq->desc_packed[vq->last_avail_idx];

		group = vhost_singles_group_packed(vq, RTE_MIN(count - done, RTE_DIM(bufs)));
		vhost_singles_fetch_packed(guest, desc, group);
		for (num = 0; num < group; num++) {
			if (!vhost_singles_get_packed(
				    guest, &desc[num], vq->avail_wrap_counter, &bufs[num]))
				break;
			if (num < VHOST_SINGLES_AHEAD)
				rte_prefetch0(bufs[num].addr);
		}
		for (i = 0; i < num; i++) {
			if (i + VHOST_SINGLES_AHEAD < num)
				rte_prefetch0(bufs[i + VHOST_SINGLES_AHEAD].addr);
			if (!vhost_singles_take(&bufs[i], pkts[done + i], dev->vhost_hlen))
				break;
		}
		if (i != 0)
			vhost_singles_give_back_packed(dev, vq, bufs, i);
		done += i;
	} while (i == group && done < count && group != 0);
	return done;
}

static __rte_noinline uint32_t
vhost_singles_dequeue_packed_iommu(
	struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts, uint32_t count)
{
	const struct vhost_singles_guest guest = {
		.has_iommu = true,
		.perm = VHOST_ACCESS_RO,
		.map = vhost_singles_map(dev, vq),
	};

	if (unlikely(guest.map == NULL))
		return 0;
	return vhost_singles_count_hits(
		dev, vq, vhost_singles_take_packed(dev, vq, pkts, count, &guest));
}

/* Take the single packets from the guest that come before the first of another kind. */
static __rte_always_inline uint32_t
vhost_singles_dequeue_packed(
	struct virtio_net *dev, struct vhost_virtqueue *vq, struct rte_mbuf **pkts, uint32_t count)
{
	struct vhost_singles_region region = { .len = 0 };
	const struct vhost_singles_guest guest = { .mem = dev->mem, .region = &region };

	if (unlikely(dev->features & VHOST_SINGLES_SPECIAL)) {
		if (dev->features & (1ULL << VHOST_F_LOG_ALL))
			return 0;
		return vhost_singles_dequeue_packed_iommu(dev, vq, pkts, count);
	}
	return vhost_singles_take_packed(dev, vq, pkts, count, &guest);
}

#endif /* VHOST_SINGLES_H */
