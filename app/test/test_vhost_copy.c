/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Does vhost copy packets right, in both directions, at every size, by every kind of
 * ring, to and from buffers wherever a guest puts them?
 *
 * All of a buffer's surroundings are filled with one byte before a packet comes, and
 * looked at afterwards.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/vhost_types.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_packets.h"

#define MAX_PKT_LEN 9100
#define NUM_MBUFS 1023
#define DATA_ROOM 2048
#define BURST 32
#define REGION_LEN (4 * 1024 * 1024)
#define NEXT_REGION_LEN (64 * 1024)
#define REGION_ADDR 0x100000
#define RING_SIZE 256
/* Looked at on both sides of a buffer. */
#define MARGIN 256

/* A kind of ring, and how the guest's buffers are made. */
struct kind {
	const char *name;
	uint64_t features;
	uint16_t ring_size;
	bool indirect;
	uint32_t part_len; /* of a buffer, from the second descriptor on; 0: one is enough */
	uint32_t head_len; /* of its first descriptor; 0: as the others */
};

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)
#define INDIRECT (1ULL << VIRTIO_RING_F_INDIRECT_DESC)
/* VIRTIO_F_ACCESS_PLATFORM, whose name depends on the release of Linux. */
#define IOMMU (1ULL << 33)

static const struct kind kinds[] = {
	{ "split", 0, RING_SIZE, false, 0, 0 },
	{ "split, mergeable", MRG, RING_SIZE, false, 2048, 0 },
	{ "split, mergeable, in order", MRG | IN_ORDER, RING_SIZE, false, 2048, 0 },
	{ "split, header apart", 0, RING_SIZE, false, 1500, 12 },
	{ "split, header in two", 0, RING_SIZE, false, 700, 5 },
	{ "split, indirect", INDIRECT, RING_SIZE, true, 1024, 12 },
	{ "packed", PACKED, RING_SIZE, false, 0, 0 },
	{ "packed, 96 descriptors", PACKED, 96, false, 0, 0 },
	{ "packed, mergeable", PACKED | MRG, RING_SIZE, false, 2048, 0 },
	{ "packed, mergeable, in order", PACKED | MRG | IN_ORDER, RING_SIZE, false, 2048, 0 },
	{ "packed, in order", PACKED | IN_ORDER, RING_SIZE, false, 0, 0 },
	{ "packed, header apart", PACKED, RING_SIZE, false, 1500, 12 },
	{ "packed, header in two", PACKED, RING_SIZE, false, 700, 5 },
	{ "packed, indirect", PACKED | INDIRECT, RING_SIZE, true, 1024, 12 },
};

/* A buffer of the guest's for one packet. */
struct guest_buf {
	uint8_t *start;
	size_t len; /* of all parts, one behind the other */
};

static const struct kind *kind;
static struct vhost_frontend *frontend;
static struct rte_mempool *pool;
static uint8_t *guest_mem;
static size_t guest_len;
/* The region behind it. */
static uint8_t *next_mem;
static size_t next_len;
static size_t hdr_len;

static int
report(const char *what, size_t pkt_len)
{
	printf("%s, %zu bytes: %s\n", kind->name, pkt_len, what);
	return -1;
}

/* --- buffers of the guest's --- */

/* A buffer at an offset that depends on the size, with room around it. */
static struct guest_buf
place(size_t slot, size_t slot_len, size_t pkt_len, size_t len)
{
	uint8_t *start = guest_mem + slot * slot_len + MARGIN + pkt_len % 64;

	return (struct guest_buf){ .start = start, .len = len };
}

/* Post a buffer in the parts that the kind asks for. */
static int
post(enum vhost_frontend_queue queue, struct guest_buf buf)
{
	struct vhost_frontend_buf parts[VHOST_FRONTEND_MAX_CHAIN];
	unsigned int num_parts = 0;
	size_t at = 0;

	while (at < buf.len) {
		size_t len = buf.len - at;

		if (at == 0 && kind->head_len != 0)
			len = RTE_MIN(len, kind->head_len);
		else if (kind->part_len != 0)
			len = RTE_MIN(len, kind->part_len);
		parts[num_parts].addr = buf.start + at;
		parts[num_parts].len = len;
		num_parts++;
		at += len;
	}
	return vhost_frontend_post(frontend, queue, parts, num_parts, kind->indirect);
}

static bool
untouched_around(struct guest_buf buf)
{
	return all_are(buf.start - MARGIN, GUEST_FILL, MARGIN) &&
		all_are(buf.start + buf.len, GUEST_FILL, MARGIN);
}

/* --- to the guest --- */

/* Buffers for a packet: one that holds it, or several that are merged. */
static unsigned int
buffers_for(size_t pkt_len)
{
	if ((kind->features & MRG) == 0)
		return 1;
	return (pkt_len + hdr_len + kind->part_len - 1) / kind->part_len;
}

/* Look at a packet that was put into *num* buffers one behind the other. */
static const char *
check_received(const struct guest_buf *bufs, const uint32_t *lens, unsigned int num, size_t pkt_len)
{
	struct virtio_net_hdr_mrg_rxbuf hdr;
	size_t at = 0;
	unsigned int i;

	memcpy(&hdr, bufs[0].start, sizeof(hdr));
	/* DPDK writes no header before an empty packet, though it tells of one. */
	if (pkt_len != 0 && hdr.num_buffers != num)
		return "wrong number of buffers in the header";
	for (i = 0; i < num; i++) {
		size_t skip = i == 0 ? hdr_len : 0;
		size_t len = lens[i] - skip;

		if (lens[i] < skip || lens[i] > bufs[i].len || at + len > pkt_len)
			return "wrong length in the used ring";
		if (!is_pattern(bufs[i].start + skip, pkt_len, at, len))
			return "enqueued with wrong bytes";
		if (!all_are(bufs[i].start + lens[i], GUEST_FILL, bufs[i].len - lens[i]))
			return "wrote behind the packet, inside the buffer";
		if (!untouched_around(bufs[i]))
			return "wrote outside the buffer";
		at += len;
	}
	return at == pkt_len ? NULL : "enqueued with another length";
}

static int
test_enqueue_size(size_t pkt_len)
{
	unsigned int i, num = buffers_for(pkt_len);
	struct guest_buf bufs[8];
	uint32_t lens[8];
	const size_t slot_len = MAX_PKT_LEN + 4 * MARGIN;
	/* Longer than the packet: what is left must not be touched. */
	const size_t len = (kind->features & MRG) != 0 ? kind->part_len : hdr_len + pkt_len + 40;
	struct rte_mbuf *m = make_packet(pool, pkt_len);
	const char *fault;

	if (m == NULL)
		return report("no mbuf", pkt_len);
	for (i = 0; i < num; i++) {
		bufs[i] = place(i, slot_len, pkt_len, len);
		if (post(VHOST_FRONTEND_RX, bufs[i]) < 0) {
			rte_pktmbuf_free(m);
			return report("cannot post a buffer", pkt_len);
		}
	}
	i = rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, &m, 1);
	rte_pktmbuf_free(m);
	if (i != 1)
		return report("not enqueued", pkt_len);
	for (i = 0; i < num; i++)
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &lens[i]) < 0)
			return report("buffer not used", pkt_len);
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0)
		return report("more buffers used than were posted", pkt_len);
	fault = check_received(bufs, lens, num, pkt_len);
	for (i = 0; i < num; i++)
		memset(bufs[i].start - MARGIN, GUEST_FILL, bufs[i].len + 2 * MARGIN);
	return fault == NULL ? 0 : report(fault, pkt_len);
}

static int
test_enqueue_sizes(void)
{
	size_t pkt_len;

	for (pkt_len = 0; pkt_len <= MAX_PKT_LEN; pkt_len++)
		if (test_enqueue_size(pkt_len) != 0)
			return -1;
	if (!all_are(guest_mem, GUEST_FILL, guest_len))
		return report("wrote far outside the buffers", 0);
	return 0;
}

/* A burst of packets of different sizes, which the packed ring takes four at a time. */
static int
test_enqueue_burst(unsigned int num, size_t first_len)
{
	const size_t slot_len = 4096;
	struct guest_buf bufs[BURST];
	struct rte_mbuf *pkts[BURST];
	const char *fault = NULL;
	uint32_t len;
	unsigned int i, sent;

	for (i = 0; i < num && fault == NULL; i++) {
		bufs[i] = place(i, slot_len, first_len + i, 2048);
		pkts[i] = make_packet(pool, first_len + i);
		if (pkts[i] == NULL || post(VHOST_FRONTEND_RX, bufs[i]) < 0)
			fault = "cannot make a burst";
	}
	sent = fault != NULL ? 0
			     : rte_vhost_enqueue_burst(
				       vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, pkts, num);
	rte_pktmbuf_free_bulk(pkts, i);
	if (fault == NULL && sent != num)
		fault = "burst not enqueued";
	if (fault != NULL)
		return report(fault, first_len);
	for (i = 0; i < num; i++) {
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &len) < 0)
			return report("buffer of a burst not used", first_len + i);
		/* Used in order: told for the last one only. */
		if (len == 0)
			len = hdr_len + first_len + i;
		if (fault == NULL)
			fault = check_received(&bufs[i], &len, 1, first_len + i);
		memset(bufs[i].start - MARGIN, GUEST_FILL, bufs[i].len + 2 * MARGIN);
	}
	return fault == NULL ? 0 : report(fault, first_len);
}

/* --- from the guest --- */

static void
write_packet(struct guest_buf buf, size_t pkt_len)
{
	memset(buf.start, 0, hdr_len);
	write_pattern(buf.start + hdr_len, pkt_len, 0, pkt_len);
}

static int
test_dequeue_burst(unsigned int num, size_t first_len, size_t slot_len)
{
	struct guest_buf bufs[BURST];
	struct rte_mbuf *pkts[BURST];
	const char *fault = NULL;
	unsigned int i, received;

	for (i = 0; i < num; i++) {
		bufs[i] = place(i, slot_len, first_len + i, hdr_len + first_len + i);
		write_packet(bufs[i], first_len + i);
		if (post(VHOST_FRONTEND_TX, bufs[i]) < 0)
			return report("cannot post a packet", first_len + i);
	}
	received = rte_vhost_dequeue_burst(
		vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, pkts, num);
	for (i = 0; i < received; i++)
		if (fault == NULL)
			fault = check_packet(pkts[i], first_len + i);
	rte_pktmbuf_free_bulk(pkts, received);
	if (received != num)
		return report("not dequeued", first_len + received);
	for (i = 0; i < num; i++) {
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
			return report("packet not given back", first_len + i);
		if (fault == NULL &&
			!is_pattern(bufs[i].start + hdr_len, first_len + i, 0, first_len + i))
			fault = "wrote to a packet of the guest's";
		memset(bufs[i].start, GUEST_FILL, bufs[i].len);
	}
	return fault == NULL ? 0 : report(fault, first_len);
}

static int
test_dequeue_sizes(void)
{
	size_t pkt_len;

	for (pkt_len = 1; pkt_len <= MAX_PKT_LEN; pkt_len++)
		if (test_dequeue_burst(1, pkt_len, MAX_PKT_LEN + 4 * MARGIN) != 0)
			return -1;
	if (!all_are(guest_mem, GUEST_FILL, guest_len))
		return report("wrote to guest memory", 0);
	return 0;
}

/* --- what a guest may do too --- */

/* A packet that is too short to have data is dropped, and those behind it are not. */
static int
test_short_packets(void)
{
	const size_t pkt_len = 100;
	const char *fault = NULL;
	struct rte_mbuf *pkts[2];
	struct guest_buf buf;
	unsigned int got;
	size_t len;

	for (len = 1; len <= hdr_len; len++) {
		buf = place(0, 4096, len, len);
		if (post(VHOST_FRONTEND_TX, buf) < 0)
			return report("cannot post a short packet", len);
		buf = place(1, 4096, pkt_len, hdr_len + pkt_len);
		write_packet(buf, pkt_len);
		if (post(VHOST_FRONTEND_TX, buf) < 0)
			return report("cannot post a packet", pkt_len);
		got = dequeue_all(vhost_frontend_vid(frontend), pool, pkts, 2);
		if (got == 1)
			fault = check_packet(pkts[0], pkt_len);
		rte_pktmbuf_free_bulk(pkts, got);
		if (got != 1)
			return report("short packet not dropped, or the next one too", len);
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0 ||
			vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
			return report("short packet not given back", len);
		memset(buf.start, GUEST_FILL, buf.len);
		if (fault != NULL)
			return report(fault, pkt_len);
	}
	return 0;
}

/* Where mbufs are missing, packets wait in the ring. */
static int
test_few_mbufs(void)
{
	const unsigned int num = 8, num_free = 3;
	const size_t first_len = 200;
	struct rte_mbuf *taken[NUM_MBUFS], *pkts[8];
	const char *fault = NULL;
	unsigned int num_taken = 0, got, i;
	struct guest_buf bufs[8];

	for (i = 0; i < num; i++) {
		bufs[i] = place(i, 4096, first_len + i, hdr_len + first_len + i);
		write_packet(bufs[i], first_len + i);
		if (post(VHOST_FRONTEND_TX, bufs[i]) < 0)
			return report("cannot post a packet", first_len + i);
	}
	while (rte_mempool_avail_count(pool) > num_free)
		taken[num_taken++] = rte_pktmbuf_alloc(pool);
	got = rte_vhost_dequeue_burst(
		vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, pkts, num);
	rte_pktmbuf_free_bulk(taken, num_taken);
	if (got > num_free)
		fault = "more packets than mbufs";
	got += dequeue_all(vhost_frontend_vid(frontend), pool, pkts + got, num - got);
	for (i = 0; i < got && fault == NULL; i++)
		fault = check_packet(pkts[i], first_len + i);
	rte_pktmbuf_free_bulk(pkts, got);
	if (got != num)
		fault = "packets are lost where mbufs are missing";
	for (i = 0; i < num; i++) {
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
			fault = "packet not given back";
		memset(bufs[i].start, GUEST_FILL, bufs[i].len);
	}
	return fault == NULL ? 0 : report(fault, first_len);
}

/*
 * The header in three descriptors or more. DPDK 22.11 writes the packet behind the
 * second one then: into what else the guest has there, or out of its memory.
 */
static int
test_split_header(uint32_t first, uint32_t second)
{
	const size_t pkt_len = 300;
	const size_t total = hdr_len + pkt_len;
	struct vhost_frontend_buf parts[VHOST_FRONTEND_MAX_CHAIN];
	uint8_t packet[1024];
	struct guest_buf part;
	unsigned int i, num = 0;
	uint32_t len = first, at;
	const char *fault = NULL;
	struct rte_mbuf *m = make_packet(pool, pkt_len);

	for (at = 0; at < total; at += len, len = second) {
		/* From where the header has ended, all in one. */
		if (at >= hdr_len)
			len = total - at;
		part = place(num, 1024, pkt_len, len);
		parts[num].addr = part.start;
		parts[num++].len = len;
	}
	if (m == NULL || vhost_frontend_post(frontend, VHOST_FRONTEND_RX, parts, num, false) < 0)
		fault = "cannot post a split header";
	else if (rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, &m, 1) !=
			1 ||
		vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &len) < 0)
		fault = "not enqueued behind a split header";
	rte_pktmbuf_free(m);
	if (fault != NULL)
		return report(fault, pkt_len);
	for (i = 0, at = 0; i < num; at += parts[i].len, i++) {
		part = place(i, 1024, pkt_len, parts[i].len);
		memcpy(packet + at, part.start, part.len);
		if (!untouched_around(part))
			fault = "wrote outside a buffer whose header is split";
		memset(part.start - MARGIN, GUEST_FILL, part.len + 2 * MARGIN);
	}
	if (len != total)
		fault = "wrong length in the used ring behind a split header";
	else if (!is_pattern(packet + hdr_len, pkt_len, 0, pkt_len))
		fault = "wrong bytes behind a split header";
	return fault == NULL ? 0 : report(fault, pkt_len);
}

static int
test_split_headers(void)
{
	uint32_t first, second;

	for (first = 1; first <= hdr_len; first++)
		for (second = 1; second <= hdr_len; second++)
			if (test_split_header(first, second) != 0)
				return -1;
	return 0;
}

/* Copy between a packet's bytes and the two regions that its buffer lies in. */
static void
copy_across(uint8_t *packet, size_t len, size_t in_first, bool to_guest)
{
	uint8_t *first = guest_mem + guest_len - in_first;

	if (to_guest) {
		memcpy(first, packet, in_first);
		memcpy(next_mem, packet + in_first, len - in_first);
	} else {
		memcpy(packet, first, in_first);
		memcpy(packet + in_first, next_mem, len - in_first);
	}
}

/* A buffer that goes on in the next region, which follows in the guest's memory only. */
static int
test_across_regions(size_t pkt_len, size_t in_first)
{
	const size_t len = hdr_len + pkt_len;
	uint8_t packet[4096];
	struct guest_buf inside = { .start = packet, .len = len };
	struct vhost_frontend_buf buf = { .addr = guest_mem + guest_len - in_first, .len = len };
	const char *fault = NULL;
	struct rte_mbuf *m;

	write_packet(inside, pkt_len);
	copy_across(packet, len, in_first, true);
	if (vhost_frontend_post(frontend, VHOST_FRONTEND_TX, &buf, 1, false) < 0)
		return report("cannot post across regions", pkt_len);
	if (dequeue_all(vhost_frontend_vid(frontend), pool, &m, 1) != 1)
		return report("not dequeued across regions", pkt_len);
	fault = check_packet(m, pkt_len);
	rte_pktmbuf_free(m);
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
		return report("not given back across regions", pkt_len);

	memset(packet, GUEST_FILL, sizeof(packet));
	copy_across(packet, len, in_first, true);
	m = make_packet(pool, pkt_len);
	if (m == NULL || vhost_frontend_post(frontend, VHOST_FRONTEND_RX, &buf, 1, false) < 0)
		fault = "cannot post across regions";
	else if (rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, &m, 1) !=
		1)
		fault = "not enqueued across regions";
	rte_pktmbuf_free(m);
	if (fault != NULL)
		return report(fault, pkt_len);
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) < 0)
		return report("not used across regions", pkt_len);
	copy_across(packet, len, in_first, false);
	if (!is_pattern(packet + hdr_len, pkt_len, 0, pkt_len))
		fault = "enqueued with wrong bytes across regions";
	memset(packet, GUEST_FILL, sizeof(packet));
	copy_across(packet, len, in_first, true);
	if (!all_are(next_mem, GUEST_FILL, next_len) || !all_are(guest_mem, GUEST_FILL, guest_len))
		fault = "wrote outside a buffer across regions";
	return fault == NULL ? 0 : report(fault, pkt_len);
}

static int
test_regions(void)
{
	static const size_t pkt_lens[] = { 64, 256, 257, 1500 };
	unsigned int i;
	size_t in_first;

	for (i = 0; i < RTE_DIM(pkt_lens); i++)
		for (in_first = 1; in_first < hdr_len + pkt_lens[i]; in_first++)
			if (test_across_regions(pkt_lens[i], in_first) != 0)
				return -1;
	return 0;
}

/* --- behind an IOMMU --- */

#define IOVA_OFFSET 0x700000000

static const struct kind iommu_kinds[] = {
	{ "split, IOMMU", IOMMU, RING_SIZE, false, 0, 0 },
	{ "split, mergeable, IOMMU", IOMMU | MRG, RING_SIZE, false, 2048, 0 },
	{ "packed, IOMMU", PACKED | IOMMU, RING_SIZE, false, 0, 0 },
	{ "packed, mergeable, IOMMU", PACKED | IOMMU | MRG, RING_SIZE, false, 2048, 0 },
};

/* One packet to a buffer, or from it; returns whether it went. */
static unsigned int
copy_one(enum vhost_frontend_queue queue, struct rte_mbuf **m)
{
	int vid = vhost_frontend_vid(frontend);

	return queue == VHOST_FRONTEND_RX ? rte_vhost_enqueue_burst(vid, queue, m, 1)
					  : rte_vhost_dequeue_burst(vid, queue, pool, m, 1);
}

/* Without a translation nothing goes, and vhost asks for it once. */
static const char *
check_miss(enum vhost_frontend_queue queue, const uint8_t *buf, struct rte_mbuf **m)
{
	const uint8_t perm = queue == VHOST_FRONTEND_RX ? VHOST_ACCESS_RW : VHOST_ACCESS_RO;
	struct vhost_frontend_miss miss;

	if (copy_one(queue, m) != 0 || copy_one(queue, m) != 0)
		return "copied without a translation";
	if (vhost_frontend_next_miss(frontend, &miss) != 1)
		return "no miss was sent";
	if (miss.iova != vhost_frontend_iova(frontend, buf) || miss.perm != perm)
		return "miss of something else";
	if (vhost_frontend_next_miss(frontend, &miss) != 0)
		return "more than one miss was sent";
	return NULL;
}

/*
 * Deny, answer too little, answer, and invalidate. The packet is in *m* before if it
 * is to be enqueued, and afterwards if it was dequeued.
 */
static const char *
check_translation(enum vhost_frontend_queue queue, struct guest_buf buf, struct rte_mbuf **m)
{
	const uint64_t iova = vhost_frontend_iova(frontend, buf.start);
	const uint8_t wrong = queue == VHOST_FRONTEND_RX ? VHOST_ACCESS_RO : VHOST_ACCESS_WO;
	const char *fault = check_miss(queue, buf.start, m);

	if (fault != NULL)
		return fault;
	if (vhost_frontend_iotlb_update(frontend, iova, buf.start, buf.len, wrong) != 0)
		return "translation refused";
	if (copy_one(queue, m) != 0)
		return "copied without a permission";
	if (vhost_frontend_iotlb_invalidate(frontend, iova, buf.len) != 0)
		return "invalidation refused";
	if (vhost_frontend_iotlb_update(frontend, iova, buf.start, buf.len, VHOST_ACCESS_RW) != 0)
		return "translation refused";
	if (copy_one(queue, m) != 1)
		return "not copied with a translation";
	if (vhost_frontend_iotlb_invalidate(frontend, iova, buf.len) != 0)
		return "invalidation refused";
	return NULL;
}

static int
test_iommu_enqueue(size_t pkt_len)
{
	const size_t buf_len = kind->part_len != 0 ? kind->part_len : hdr_len + pkt_len;
	struct guest_buf buf = place(0, 4096, pkt_len, buf_len);
	struct rte_mbuf *m = make_packet(pool, pkt_len);
	const char *fault;
	uint32_t len = 0;

	if (m == NULL)
		return report("no mbuf", pkt_len);
	if (post(VHOST_FRONTEND_RX, buf) < 0)
		fault = "cannot post a buffer";
	else
		fault = check_translation(VHOST_FRONTEND_RX, buf, &m);
	rte_pktmbuf_free(m);
	if (fault == NULL && vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &len) < 0)
		fault = "buffer not used";
	if (fault == NULL)
		fault = check_received(&buf, &len, 1, pkt_len);
	memset(buf.start, GUEST_FILL, buf.len);
	return fault == NULL ? 0 : report(fault, pkt_len);
}

static int
test_iommu_dequeue(size_t pkt_len)
{
	struct guest_buf buf = place(1, 4096, pkt_len, hdr_len + pkt_len);
	struct rte_mbuf *m = NULL;
	const char *fault;

	write_packet(buf, pkt_len);
	/* In one part, for each part has a miss of its own. */
	if (vhost_frontend_post(frontend, VHOST_FRONTEND_TX,
		    &(struct vhost_frontend_buf){ .addr = buf.start, .len = buf.len }, 1,
		    false) < 0)
		fault = "cannot post a packet";
	else
		fault = check_translation(VHOST_FRONTEND_TX, buf, &m);
	if (fault == NULL)
		fault = check_packet(m, pkt_len);
	rte_pktmbuf_free(m);
	if (fault == NULL && vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
		fault = "packet not given back";
	memset(buf.start, GUEST_FILL, buf.len);
	return fault == NULL ? 0 : report(fault, pkt_len);
}

/* --- all --- */

static int
test_bursts(void)
{
	static const size_t first_lens[] = { 40, 60, 120, 240, 250, 1400 };
	unsigned int i, num;

	for (i = 0; i < RTE_DIM(first_lens); i++)
		for (num = 1; num <= BURST; num++)
			if (test_enqueue_burst(num, first_lens[i]) != 0 ||
				test_dequeue_burst(num, first_lens[i], 4096) != 0)
				return -1;
	return 0;
}

/* What is the same for all kinds without an IOMMU. */
static int
test_direct(void)
{
	int ret = test_enqueue_sizes() | test_dequeue_sizes() | test_bursts();

	return ret | test_short_packets() | test_few_mbufs() | test_regions() |
		test_split_headers();
}

static int
test_iommu(void)
{
	static const size_t pkt_lens[] = { 60, 256, 257, 1518 };
	unsigned int i;

	for (i = 0; i < RTE_DIM(pkt_lens); i++)
		if (test_iommu_enqueue(pkt_lens[i]) != 0 || test_iommu_dequeue(pkt_lens[i]) != 0)
			return -1;
	return 0;
}

static int
test_kind(int (*test)(void))
{
	struct vhost_frontend_config config = {
		.features = kind->features,
		.iova_offset = IOVA_OFFSET,
		.ring_size = kind->ring_size,
		.num_regions = 2,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN },
			{ .guest_addr = REGION_ADDR + REGION_LEN, .len = NEXT_REGION_LEN } },
	};
	unsigned int mbufs = rte_mempool_avail_count(pool);
	int ret;

	frontend = vhost_frontend_create(&config);
	if (frontend == NULL)
		return -1;
	hdr_len = vhost_frontend_hdr_len(frontend);
	guest_mem = vhost_frontend_mem(frontend, 0, &guest_len);
	memset(guest_mem, GUEST_FILL, guest_len);
	next_mem = vhost_frontend_mem(frontend, 1, &next_len);
	memset(next_mem, GUEST_FILL, next_len);
	ret = test();
	vhost_frontend_destroy(frontend);
	/* Also where something is wrong: the pool goes in the end. */
	if (rte_mempool_avail_count(pool) != mbufs)
		ret = report("mbufs are lost", 0);
	return ret;
}

static int
test_kinds(const struct kind *first, unsigned int num, int (*test)(void))
{
	int ret = 0;

	for (kind = first; kind < first + num; kind++) {
		if (test_kind(test) != 0)
			ret = -1;
		else
			printf("%s: passed\n", kind->name);
	}
	return ret;
}

static int
test_vhost_copy(void)
{
	int ret;

	pool = rte_pktmbuf_pool_create("vhost_copy_autotest", NUM_MBUFS, 0, 0,
		DATA_ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_ERR);
	ret = test_kinds(kinds, RTE_DIM(kinds), test_direct) |
		test_kinds(iommu_kinds, RTE_DIM(iommu_kinds), test_iommu);
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_copy_autotest, test_vhost_copy);
