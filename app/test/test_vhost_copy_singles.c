/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Does vhost leave to DPDK's own way what is more than a packet in one buffer?
 *
 * There is a short way for such packets. Each case here looks like one at first
 * and is none, and what is around it is such as a short way that did not look would take.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <netinet/in.h>

#include <linux/vhost_types.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_tcp.h>
#include <rte_udp.h>
#include <rte_vhost.h>
#include <rte_vhost_copy.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_frontend_ring.h"
#include "vhost_packets.h"

#define NUM_MBUFS 255
#define RING_SIZE 64
#define BATCH 4
/* Two groups of those that the short way copies at once. */
#define BURST 32
#define REGION_ADDR 0x100000
#define REGION_LEN (1024 * 1024)
/* Of a region that is not next to the first. */
#define NEXT_ADDR 0x200000000
#define SLOT_LEN 2048
#define GOOD_LEN 512
#define PKT_LEN 60

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
#define INDIRECT (1ULL << VIRTIO_RING_F_INDIRECT_DESC)
/* VIRTIO_F_ACCESS_PLATFORM, whose name depends on the release of Linux. */
#define IOMMU (1ULL << 33)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)

static const struct {
	const char *name;
	uint64_t features;
	bool legacy;
} kinds[] = {
	{ "split", 0, false },
	{ "split, mergeable", MRG, false },
	{ "split, legacy", 0, true },
	{ "packed", PACKED, false },
	{ "packed, mergeable, in order", PACKED | MRG | IN_ORDER, false },
};

static struct rte_mempool *pool;
static struct vhost_frontend *frontend;
static uint64_t features;
static bool legacy;
static uint8_t *guest_mem;
static size_t guest_len;
static uint8_t *next_mem; /* of the other region */
static uint32_t hdr_len;

/* --- a device --- */

/* Make a new device, in place of the old one if there is one. */
static const char *
fresh_device_with(uint64_t more_features, uint64_t register_flags)
{
	struct vhost_frontend_config config = {
		.features = features | more_features,
		.legacy = legacy,
		.register_flags = register_flags,
		.ring_size = RING_SIZE,
		.num_regions = 2,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN },
			{ .guest_addr = NEXT_ADDR, .len = REGION_LEN } },
	};
	size_t len;

	vhost_frontend_destroy(frontend);
	frontend = vhost_frontend_create(&config);
	if (frontend == NULL)
		return "no device";
	guest_mem = vhost_frontend_mem(frontend, 0, &guest_len);
	memset(guest_mem, GUEST_FILL, guest_len);
	next_mem = vhost_frontend_mem(frontend, 1, &len);
	memset(next_mem, GUEST_FILL, len);
	hdr_len = vhost_frontend_hdr_len(frontend);
	return NULL;
}

static const char *
fresh_device(void)
{
	return fresh_device_with(0, 0);
}

static uint8_t *
slot(unsigned int i)
{
	return guest_mem + i * SLOT_LEN + SLOT_LEN / 4;
}

/* Post a buffer in a slot: one descriptor. */
static const char *
post(enum vhost_frontend_queue queue, unsigned int i, uint32_t len)
{
	const struct vhost_frontend_buf buf = { .addr = slot(i), .len = len };

	return vhost_frontend_post(frontend, queue, &buf, 1, false) < 0 ? "cannot post a buffer"
									: NULL;
}

/* Post a packet of the guest's, with a header that tells of nothing. */
static const char *
post_packet(unsigned int i)
{
	memset(slot(i), 0, hdr_len);
	write_pattern(slot(i) + hdr_len, PKT_LEN, 0, PKT_LEN);
	return post(VHOST_FRONTEND_TX, i, hdr_len + PKT_LEN);
}

static unsigned int
enqueue(unsigned int num)
{
	struct rte_mbuf *pkts[BATCH];
	unsigned int i, got;

	for (i = 0; i < num; i++) {
		pkts[i] = make_packet(pool, PKT_LEN);
		if (pkts[i] == NULL)
			break;
	}
	got = rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, pkts, i);
	rte_pktmbuf_free_bulk(pkts, i);
	return got;
}

/* Enqueue a batch, of which *expected* packets go, each into the slot of its number. */
static const char *
enqueue_expected(unsigned int expected)
{
	unsigned int i;
	uint32_t used;

	if (enqueue(BATCH) != expected)
		return "more or fewer packets enqueued than can be";
	for (i = 0; i < expected; i++) {
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &used) < 0)
			return "buffer not used";
		if (used != hdr_len + PKT_LEN)
			return "wrong length in the used ring";
		if (!is_pattern(slot(i) + hdr_len, PKT_LEN, 0, PKT_LEN))
			return "enqueued with wrong bytes";
		memset(slot(i), GUEST_FILL, hdr_len + PKT_LEN);
	}
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0)
		return "more buffers used than packets need";
	return all_are(guest_mem, GUEST_FILL, guest_len) ? NULL : "wrote to another buffer";
}

/* Of a packed ring's packets from the guest, the length that comes back means nothing. */
static bool
tells_of_writing(uint32_t used_len)
{
	return used_len != 0 && !(features & PACKED);
}

/* Dequeue all there is, which is *expected* packets. */
static const char *
dequeue_expected(unsigned int expected)
{
	struct rte_mbuf *pkts[BATCH];
	const char *fault = NULL;
	unsigned int i, got = dequeue_all(vhost_frontend_vid(frontend), pool, pkts, BATCH);
	uint32_t used;

	for (i = 0; i < got && fault == NULL; i++) {
		fault = check_packet(pkts[i], PKT_LEN);
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, &used) < 0)
			fault = "not given back";
		else if (tells_of_writing(used))
			fault = "told the guest of bytes that were not written";
	}
	rte_pktmbuf_free_bulk(pkts, got);
	if (got != expected)
		return "more or fewer packets dequeued than were sent";
	return fault;
}

/* --- bounds --- */

/* Have an entry name a descriptor behind the ring, where a copy of the right one is. */
static void
name_beyond_ring(enum vhost_frontend_queue queue, unsigned int at)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);
	const uint16_t idx = ring->avail->ring[at];

	ring->desc[RING_SIZE + idx] = ring->desc[idx];
	ring->avail->ring[at] = RING_SIZE + idx;
}

static const char *
entry_beyond_ring(unsigned int at)
{
	const char *fault = fresh_device();
	unsigned int i;

	for (i = 0; i < BATCH && fault == NULL; i++)
		fault = post(VHOST_FRONTEND_RX, i, GOOD_LEN);
	if (fault != NULL)
		return fault;
	name_beyond_ring(VHOST_FRONTEND_RX, at);
	fault = enqueue_expected(at);
	for (i = 0; i < BATCH && fault == NULL; i++)
		fault = post_packet(i);
	if (fault != NULL)
		return fault;
	name_beyond_ring(VHOST_FRONTEND_TX, at);
	return dequeue_expected(at);
}

static const char *
entries_beyond_ring(void)
{
	const char *fault = NULL;
	unsigned int at;

	for (at = 0; at < BATCH && fault == NULL; at++)
		fault = entry_beyond_ring(at);
	return fault;
}

/* Fewer buffers than packets; the entries behind the last one name buffers that were used. */
static const char *
few_buffers(void)
{
	const char *fault = fresh_device();
	unsigned int num, i;

	for (num = 0; num < BATCH && fault == NULL; num++) {
		for (i = 0; i < RING_SIZE && fault == NULL; i += BATCH) {
			unsigned int n;

			for (n = 0; n < BATCH && fault == NULL; n++)
				fault = post(VHOST_FRONTEND_RX, n, GOOD_LEN);
			if (fault == NULL)
				fault = enqueue_expected(BATCH);
		}
		for (i = 0; i < num && fault == NULL; i++)
			fault = post(VHOST_FRONTEND_RX, i, GOOD_LEN);
		if (fault == NULL)
			fault = enqueue_expected(num);
	}
	return fault;
}

/* A buffer with room for a packet, or nearly so, but not for its header too. */
static const char *
no_room_for_header_of(uint32_t len)
{
	const char *fault = fresh_device();

	if (fault == NULL)
		fault = post(VHOST_FRONTEND_RX, 0, len);
	if (fault != NULL)
		return fault;
	if (enqueue(1) != (len < hdr_len + PKT_LEN ? 0 : 1))
		return "enqueued where there is no room, or not where there is";
	memset(slot(0), GUEST_FILL, len);
	return all_are(guest_mem, GUEST_FILL, guest_len) ? NULL : "wrote behind a buffer";
}

static const char *
no_room_for_header(void)
{
	const char *fault = NULL;
	uint32_t len;

	for (len = PKT_LEN - 1; len <= hdr_len + PKT_LEN && fault == NULL; len++)
		fault = no_room_for_header_of(len);
	return fault;
}

/* A buffer that goes on where its region has ended, in no other one. */
static const char *
beyond_region(void)
{
	const char *fault = fresh_device();
	struct vhost_frontend_buf buf;
	enum vhost_frontend_queue queue;

	if (fault != NULL)
		return fault;
	/* A packet would have room before the end. */
	buf.addr = guest_mem + guest_len - 2 * PKT_LEN;
	buf.len = GOOD_LEN;
	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
		if (vhost_frontend_post(frontend, queue, &buf, 1, false) < 0)
			return "cannot post a buffer";
	if (enqueue(1) != 0)
		return "enqueued to a buffer that is not all the guest's";
	if (!all_are(guest_mem, GUEST_FILL, guest_len))
		return "wrote to a buffer that is not all the guest's";
	return dequeue_expected(0);
}

static const char *
post_many(enum vhost_frontend_queue queue, unsigned int num)
{
	const char *fault = NULL;
	unsigned int i;

	for (i = 0; i < num && fault == NULL; i++)
		fault = queue == VHOST_FRONTEND_RX ? post(queue, i, GOOD_LEN) : post_packet(i);
	return fault;
}

/* Have what lies behind a packed ring look like one more buffer, when the ring is at its end. */
static const char *
behind_ring(enum vhost_frontend_queue queue)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);
	const char *(*copy)(unsigned int num) = queue == VHOST_FRONTEND_RX ? enqueue_expected
									   : dequeue_expected;
	const unsigned int few = BATCH - 1;
	const char *fault = NULL;
	unsigned int i;

	for (i = 0; i < RING_SIZE - few && fault == NULL; i++) {
		fault = post_many(queue, 1);
		if (fault == NULL)
			fault = copy(1);
	}
	if (fault == NULL)
		fault = post_many(queue, few);
	if (fault != NULL)
		return fault;
	ring->packed_desc[RING_SIZE] = ring->packed_desc[RING_SIZE - 1];
	return copy(few);
}

static const char *
descriptor_behind_ring(void)
{
	const char *fault = NULL;

	if (!(features & PACKED))
		return NULL;
	fault = fresh_device();
	if (fault == NULL)
		fault = behind_ring(VHOST_FRONTEND_RX);
	return fault != NULL ? fault : behind_ring(VHOST_FRONTEND_TX);
}

/* A packet of less than a byte is dropped, the next one is not. */
static const char *
short_packet(uint32_t len)
{
	const char *fault;

	memset(slot(1), 0, hdr_len);
	fault = post(VHOST_FRONTEND_TX, 1, len);
	if (fault == NULL)
		fault = post_packet(2);
	if (fault == NULL)
		fault = dequeue_expected(1);
	/* That of the packet which was dropped. */
	if (fault == NULL && vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
		fault = "not given back";
	return fault;
}

/* A packet that fills an mbuf, or does not go into one. */
static const char *
long_packet(size_t pkt_len, size_t room)
{
	const struct vhost_frontend_buf buf = { .addr = slot(4), .len = hdr_len + pkt_len };
	const char *fault = NULL;
	struct rte_mbuf *m;
	unsigned int got;

	memset(slot(4), 0, hdr_len);
	write_pattern(slot(4) + hdr_len, pkt_len, 0, pkt_len);
	if (vhost_frontend_post(frontend, VHOST_FRONTEND_TX, &buf, 1, false) < 0)
		return "cannot post a packet";
	got = dequeue_all(vhost_frontend_vid(frontend), pool, &m, 1);
	if (got != 1)
		return "a long packet is not dequeued";
	fault = check_packet(m, pkt_len);
	if (m->nb_segs != (pkt_len > room ? 2 : 1))
		fault = "another number of mbufs than a packet needs";
	rte_pktmbuf_free(m);
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
		fault = "not given back";
	return fault;
}

static const char *
short_and_long_packets(void)
{
	const size_t room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	const char *fault = fresh_device();
	size_t len;

	for (len = 1; len <= hdr_len && fault == NULL; len++)
		fault = short_packet(len);
	for (len = room - 1; len <= room + 65 && fault == NULL; len++)
		fault = long_packet(len, room);
	return fault;
}

/* --- headers and bursts --- */

/* What a guest may have left where a header comes to be, and behind it. */
#define SPOIL 0xff
#define SPOIL_LEN 16

static const struct virtio_net_hdr no_offload;

/* Buffers are in both regions in turn. */
static uint8_t *
place(unsigned int i)
{
	return (i % 2 == 0 ? guest_mem : next_mem) + i * SLOT_LEN + SLOT_LEN / 4;
}

/* How a packet or a buffer is none for the short way. */
enum odd {
	PLAIN,
	TWO_MBUFS,
	TWO_BUFFERS,
	TWO_HALVES, /* each with room for a packet to the guest */
	TABLE,
	NUM_ODDS
};

/* As a table it is long enough to be taken for a buffer of a packet. */
#define TABLE_LEN 8
#define PART_LEN 10

static const unsigned int num_parts_of[NUM_ODDS] = {
	[PLAIN] = 1,
	[TWO_MBUFS] = 1,
	[TWO_BUFFERS] = 2,
	[TWO_HALVES] = 2,
	[TABLE] = TABLE_LEN,
};

/* Post a buffer at its place; returns its number. */
static int
post_at(enum vhost_frontend_queue queue, unsigned int i, uint32_t len, enum odd odd)
{
	const unsigned int num_parts = num_parts_of[odd];
	struct vhost_frontend_buf parts[TABLE_LEN];
	unsigned int part;

	for (part = 0; part < num_parts; part++) {
		parts[part].addr = place(i) + part * PART_LEN;
		parts[part].len = PART_LEN;
	}
	parts[num_parts - 1].len = len - (num_parts - 1) * PART_LEN;
	if (odd == TWO_HALVES) {
		parts[0].len = len / 2;
		parts[1].addr = place(i) + len / 2;
		parts[1].len = len - len / 2;
	}
	return vhost_frontend_post(frontend, queue, parts, num_parts, odd == TABLE);
}

static int
post_spoiled(unsigned int i, enum odd odd)
{
	memset(place(i), SPOIL, SPOIL_LEN);
	return post_at(VHOST_FRONTEND_RX, i, GOOD_LEN, odd);
}

static int
post_sent(unsigned int i, size_t pkt_len, enum odd odd)
{
	memset(place(i), 0, hdr_len);
	write_pattern(place(i) + hdr_len, pkt_len, 0, pkt_len);
	return post_at(VHOST_FRONTEND_TX, i, hdr_len + pkt_len, odd);
}

static struct rte_mbuf *
make_odd_packet(size_t pkt_len, enum odd odd)
{
	const unsigned int tail_len = 25;
	struct rte_mbuf *tail, *m = make_packet(pool, pkt_len);

	if (m == NULL || odd != TWO_MBUFS)
		return m;
	tail = rte_pktmbuf_alloc(pool);
	if (tail == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	m->data_len -= tail_len;
	memcpy(rte_pktmbuf_mtod(tail, void *), rte_pktmbuf_mtod_offset(m, void *, m->data_len),
		tail_len);
	tail->data_len = tail_len;
	m->next = tail;
	m->nb_segs = 2;
	return m;
}

/* Look at the header of the packet that was enqueued next, to place *i*. */
static const char *
check_used(unsigned int i, int id, size_t pkt_len, const struct virtio_net_hdr *expected)
{
	struct virtio_net_hdr_mrg_rxbuf hdr;
	uint32_t used;

	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &used) != id)
		return "not the next buffer is used";
	if (used != hdr_len + pkt_len)
		return "wrong length in the used ring";
	memcpy(&hdr, place(i), hdr_len);
	if (memcmp(&hdr.hdr, expected, sizeof(hdr.hdr)) != 0)
		return "wrong header";
	/* Also for guests that never get more: DPDK does not write it for them. */
	if (hdr_len == sizeof(hdr) && hdr.num_buffers != 1)
		return "a header tells of another number of buffers than one";
	return NULL;
}

static const char *
check_received(unsigned int i, int id, size_t pkt_len)
{
	const char *fault = check_used(i, id, pkt_len, &no_offload);

	if (fault == NULL && !is_pattern(place(i) + hdr_len, pkt_len, 0, pkt_len))
		fault = "enqueued with wrong bytes";
	if (fault == NULL && pkt_len > SPOIL_LEN &&
		!all_are(place(i) + hdr_len + pkt_len, GUEST_FILL, GOOD_LEN - hdr_len - pkt_len))
		fault = "wrote behind a packet";
	memset(place(i), GUEST_FILL, GOOD_LEN);
	return fault;
}

/* Enqueue packets, those that could be made, which are given up whether they go or not. */
static const char *
enqueue_all(struct rte_mbuf **pkts, unsigned int num)
{
	unsigned int made = 0, got;

	while (made < num && pkts[made] != NULL)
		made++;
	got = rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, pkts, made);
	rte_pktmbuf_free_bulk(pkts, num);
	return got == num ? NULL : "not all are enqueued";
}

/* A burst of packets of different lengths, with an odd one at a place. */
static const char *
enqueue_with_odd(unsigned int at, enum odd odd)
{
	struct rte_mbuf *pkts[BURST];
	const char *fault;
	unsigned int i;
	int ids[BURST];

	for (i = 0; i < BURST; i++) {
		pkts[i] = make_odd_packet(PKT_LEN + i, i == at ? odd : PLAIN);
		ids[i] = post_spoiled(i, i == at ? odd : PLAIN);
	}
	fault = enqueue_all(pkts, BURST);
	for (i = 0; i < BURST && fault == NULL; i++)
		fault = check_received(i, ids[i], PKT_LEN + i);
	return fault;
}

static const char *
dequeue_with_odd(unsigned int at, enum odd odd)
{
	struct rte_mbuf *pkts[BURST];
	const char *fault = NULL;
	unsigned int i, got;
	uint32_t used;
	int ids[BURST];

	for (i = 0; i < BURST; i++) {
		ids[i] = post_sent(i, PKT_LEN + i, i == at ? odd : PLAIN);
		if (ids[i] < 0)
			return "cannot post a packet";
	}
	got = rte_vhost_dequeue_burst(
		vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, pkts, BURST);
	for (i = 0; i < got && fault == NULL; i++)
		fault = check_packet(pkts[i], PKT_LEN + i);
	rte_pktmbuf_free_bulk(pkts, got);
	if (got != BURST)
		return "not all are dequeued";
	for (i = 0; i < BURST && fault == NULL; i++) {
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, &used) != ids[i])
			fault = "another packet is given back than the next one";
		else if (tells_of_writing(used))
			fault = "told the guest of bytes that were not written";
		memset(place(i), GUEST_FILL, GOOD_LEN);
	}
	return fault;
}

static const char *
one_odd(void)
{
	const char *fault = fresh_device_with(INDIRECT, 0);
	unsigned int at;
	enum odd odd;

	for (odd = PLAIN; odd < NUM_ODDS; odd++)
		for (at = 0; at < BURST && fault == NULL; at++) {
			fault = enqueue_with_odd(at, odd);
			if (fault == NULL && odd != TWO_MBUFS)
				fault = dequeue_with_odd(at, odd);
		}
	return fault;
}

/* A packet of no data among others: what the guest gets is a header, and no more. */
static const char *
empty_packets(void)
{
	const char *fault = fresh_device();
	const size_t lens[] = { PKT_LEN, 0, PKT_LEN };
	struct rte_mbuf *pkts[RTE_DIM(lens)];
	int ids[RTE_DIM(lens)];
	unsigned int i;

	if (fault != NULL)
		return fault;
	for (i = 0; i < RTE_DIM(lens); i++) {
		ids[i] = post_spoiled(i, PLAIN);
		pkts[i] = make_packet(pool, lens[i]);
	}
	fault = enqueue_all(pkts, RTE_DIM(lens));
	if (fault == NULL && !all_are(place(1) + hdr_len, SPOIL, SPOIL_LEN - hdr_len))
		fault = "wrote behind the header of an empty packet";
	for (i = 0; i < RTE_DIM(lens) && fault == NULL; i++)
		fault = check_received(i, ids[i], lens[i]);
	return fault;
}

/* --- offloads --- */

#define L4_AT (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))
#define PAYLOAD_AT (L4_AT + sizeof(struct rte_tcp_hdr))
#define SEGMENT_LEN 40

/* Make a packet one of IPv4. */
static void
write_ip(uint8_t *data, uint8_t proto)
{
	const rte_be16_t type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	const struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(PKT_LEN - RTE_ETHER_HDR_LEN),
		.time_to_live = 64,
		.next_proto_id = proto,
	};
	const struct rte_udp_hdr udp = { .dgram_len = rte_cpu_to_be_16(PKT_LEN - L4_AT) };
	const struct rte_tcp_hdr tcp = { .data_off = sizeof(tcp) / 4 << 4 };

	memcpy(data + RTE_ETHER_HDR_LEN - sizeof(type), &type, sizeof(type));
	memcpy(data + RTE_ETHER_HDR_LEN, &ip, sizeof(ip));
	memset(data + L4_AT, 0, sizeof(tcp));
	if (proto == IPPROTO_TCP)
		memcpy(data + L4_AT, &tcp, sizeof(tcp));
	else
		memcpy(data + L4_AT, &udp, sizeof(udp));
}

static const struct {
	uint64_t ol_flags;
	uint8_t proto;
	struct virtio_net_hdr hdr;
} to_guest[] = {
	{ RTE_MBUF_F_TX_UDP_CKSUM, IPPROTO_UDP,
		{ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 6 } },
	{ RTE_MBUF_F_TX_TCP_CKSUM, IPPROTO_TCP,
		{ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16 } },
	{ RTE_MBUF_F_TX_SCTP_CKSUM, IPPROTO_SCTP,
		{ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 8 } },
	{ RTE_MBUF_F_TX_IP_CKSUM, IPPROTO_UDP, { 0 } },
	{ RTE_MBUF_F_TX_TCP_SEG, IPPROTO_TCP,
		{ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.csum_start = 34,
			.csum_offset = 16,
			.gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
			.gso_size = SEGMENT_LEN,
			.hdr_len = 54 } },
	{ RTE_MBUF_F_TX_UDP_SEG, IPPROTO_UDP,
		{ .gso_type = VIRTIO_NET_HDR_GSO_UDP, .gso_size = SEGMENT_LEN, .hdr_len = 42 } },
};

static struct rte_mbuf *
make_offload_packet(uint64_t ol_flags, uint8_t proto)
{
	struct rte_mbuf *m = make_packet(pool, PKT_LEN);

	if (m == NULL)
		return NULL;
	write_ip(rte_pktmbuf_mtod(m, uint8_t *), proto);
	m->ol_flags = ol_flags | RTE_MBUF_F_TX_IPV4;
	m->l2_len = RTE_ETHER_HDR_LEN;
	m->l3_len = sizeof(struct rte_ipv4_hdr);
	m->l4_len = proto == IPPROTO_TCP ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr);
	m->tso_segsz = SEGMENT_LEN;
	return m;
}

/* The second of three packets has an offload, of which its header tells. */
static const char *
offload_to_guest(unsigned int at)
{
	struct rte_mbuf *pkts[] = { make_packet(pool, PKT_LEN),
		make_offload_packet(to_guest[at].ol_flags, to_guest[at].proto),
		make_packet(pool, PKT_LEN) };
	const uint8_t *packet = place(1) + hdr_len;
	int ids[RTE_DIM(pkts)];
	const char *fault;
	unsigned int i;

	for (i = 0; i < RTE_DIM(pkts); i++)
		ids[i] = post_spoiled(i, PLAIN);
	fault = enqueue_all(pkts, RTE_DIM(pkts));
	if (fault == NULL)
		fault = check_received(0, ids[0], PKT_LEN);
	if (fault == NULL)
		fault = check_used(1, ids[1], PKT_LEN, &to_guest[at].hdr);
	if (fault == NULL)
		fault = check_received(2, ids[2], PKT_LEN);
	if (fault == NULL && to_guest[at].ol_flags == RTE_MBUF_F_TX_IP_CKSUM &&
		rte_raw_cksum(packet + RTE_ETHER_HDR_LEN, sizeof(struct rte_ipv4_hdr)) !=
			UINT16_MAX)
		fault = "wrong checksum of the IP header";
	if (fault == NULL &&
		!is_pattern(packet + PAYLOAD_AT, PKT_LEN, PAYLOAD_AT, PKT_LEN - PAYLOAD_AT))
		fault = "enqueued with wrong bytes";
	return fault;
}

static const char *
offloads_to_guest(void)
{
	const char *fault = fresh_device_with(1ULL << VIRTIO_NET_F_GUEST_CSUM |
			1ULL << VIRTIO_NET_F_GUEST_TSO4 | 1ULL << VIRTIO_NET_F_GUEST_UFO,
		0);
	unsigned int i;

	for (i = 0; i < RTE_DIM(to_guest) && fault == NULL; i++)
		fault = offload_to_guest(i);
	return fault;
}

#define RX_LRO (RTE_MBUF_F_RX_LRO | RTE_MBUF_F_RX_L4_CKSUM_NONE)

static const struct {
	struct virtio_net_hdr hdr;
	uint8_t proto;
	uint64_t ol_flags;
	uint16_t segment_len;
} from_guest[] = {
	{ { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 6 }, IPPROTO_UDP,
		RTE_MBUF_F_RX_L4_CKSUM_NONE, 0 },
	{ { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16 },
		IPPROTO_TCP, RTE_MBUF_F_RX_L4_CKSUM_NONE, 0 },
	{ { .gso_type = VIRTIO_NET_HDR_GSO_TCPV4, .gso_size = SEGMENT_LEN }, IPPROTO_TCP, RX_LRO,
		SEGMENT_LEN },
	{ { .gso_type = VIRTIO_NET_HDR_GSO_UDP, .gso_size = SEGMENT_LEN }, IPPROTO_UDP, RX_LRO,
		SEGMENT_LEN },
};

/* The header of the second of three packets tells of an offload, and its mbuf does then. */
static const char *
offload_from_guest(unsigned int at)
{
	struct rte_mbuf *pkts[3];
	const char *fault = NULL;
	unsigned int i, got;

	for (i = 0; i < RTE_DIM(pkts); i++)
		post_sent(i, PKT_LEN, PLAIN);
	memcpy(place(1), &from_guest[at].hdr, sizeof(from_guest[at].hdr));
	write_ip(place(1) + hdr_len, from_guest[at].proto);
	got = dequeue_all(vhost_frontend_vid(frontend), pool, pkts, RTE_DIM(pkts));
	for (i = 0; i < got && fault == NULL; i++) {
		if (i != 1)
			fault = check_packet(pkts[i], PKT_LEN);
		else if (pkts[i]->pkt_len != PKT_LEN ||
			memcmp(rte_pktmbuf_mtod(pkts[i], void *), place(1) + hdr_len, PKT_LEN) != 0)
			fault = "dequeued with wrong bytes";
		if (pkts[i]->ol_flags != (i == 1 ? from_guest[at].ol_flags : 0))
			fault = "an mbuf does not tell of what a header does";
		if (i == 1 && from_guest[at].segment_len != 0 &&
			pkts[i]->tso_segsz != from_guest[at].segment_len)
			fault = "an mbuf tells of another length of segments";
	}
	rte_pktmbuf_free_bulk(pkts, got);
	for (i = 0; i < RTE_DIM(pkts); i++)
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
			fault = "not given back";
	return got == RTE_DIM(pkts) ? fault : "not all are dequeued";
}

static const char *
offloads_from_guest(void)
{
	const char *fault = fresh_device_with(1ULL << VIRTIO_NET_F_CSUM |
			1ULL << VIRTIO_NET_F_HOST_TSO4 | 1ULL << VIRTIO_NET_F_HOST_UFO,
		RTE_VHOST_USER_NET_COMPLIANT_OL_FLAGS);
	unsigned int i;

	for (i = 0; i < RTE_DIM(from_guest) && fault == NULL; i++)
		fault = offload_from_guest(i);
	return fault;
}

/* --- an IOMMU --- */

/* Addresses are the guest's own by number, but the first slot's stand for the second. */
static const char *
other_translation(void)
{
	const char *fault = fresh_device_with(IOMMU, 0);
	struct rte_mbuf *m;
	unsigned int got;

	if (fault != NULL)
		return fault;
	if (vhost_frontend_iotlb_update(frontend, vhost_frontend_iova(frontend, slot(0)), slot(1),
		    GOOD_LEN, VHOST_ACCESS_RW) != 0)
		return "translation refused";
	fault = post(VHOST_FRONTEND_RX, 0, GOOD_LEN);
	if (fault == NULL && enqueue(1) != 1)
		fault = "not enqueued";
	if (fault == NULL && !is_pattern(slot(1) + hdr_len, PKT_LEN, 0, PKT_LEN))
		fault = "not enqueued to where the IOMMU says";
	if (fault == NULL && !all_are(slot(0), GUEST_FILL, GOOD_LEN))
		fault = "wrote to a guest-physical address";
	if (fault == NULL)
		fault = post(VHOST_FRONTEND_TX, 0, hdr_len + PKT_LEN);
	if (fault != NULL)
		return fault;
	got = dequeue_all(vhost_frontend_vid(frontend), pool, &m, 1);
	if (got == 1)
		fault = check_packet(m, PKT_LEN);
	rte_pktmbuf_free_bulk(&m, got);
	return got == 1 ? fault : "not dequeued";
}

/* --- indexes --- */

/* Move a ring's indexes on by a burst. */
static const char *
move_on(enum vhost_frontend_queue queue)
{
	const int vid = vhost_frontend_vid(frontend);
	struct rte_mbuf *pkts[BURST];
	const char *fault = post_many(queue, BURST);
	unsigned int i;

	if (fault != NULL)
		return fault;
	if (queue == VHOST_FRONTEND_RX) {
		if (rte_pktmbuf_alloc_bulk(pool, pkts, BURST) != 0)
			return "no mbufs";
		for (i = 0; i < BURST; i++)
			pkts[i]->pkt_len = pkts[i]->data_len = PKT_LEN;
		fault = enqueue_all(pkts, BURST);
	} else {
		i = rte_vhost_dequeue_burst(vid, queue, pool, pkts, BURST);
		rte_pktmbuf_free_bulk(pkts, i);
		fault = i == BURST ? NULL : "not all are dequeued";
	}
	for (i = 0; i < BURST && fault == NULL; i++)
		if (vhost_frontend_poll(frontend, queue, NULL) < 0)
			fault = "not used";
	return fault;
}

/* The indexes of a ring have 16 bits: fewer buffers than packets about where they end. */
static const char *
wrapping_indexes(void)
{
	const unsigned int few = BATCH - 1;
	const char *fault = fresh_device();
	unsigned int num, i;

	for (num = 0; num + 2 * BURST < UINT16_MAX && fault == NULL; num += BURST) {
		fault = move_on(VHOST_FRONTEND_RX);
		if (fault == NULL)
			fault = move_on(VHOST_FRONTEND_TX);
	}
	memset(guest_mem, GUEST_FILL, guest_len);
	for (; num < UINT16_MAX + BURST && fault == NULL; num += few) {
		for (i = 0; i < few && fault == NULL; i++)
			fault = post(VHOST_FRONTEND_RX, i, GOOD_LEN);
		if (fault == NULL)
			fault = enqueue_expected(few);
		for (i = 0; i < few && fault == NULL; i++)
			fault = post_packet(i);
		if (fault == NULL)
			fault = dequeue_expected(few);
		for (i = 0; i < few; i++)
			memset(slot(i), GUEST_FILL, GOOD_LEN);
	}
	return fault;
}

/* --- what is told of bursts --- */

/* One more burst of packets, by which the guest is called or not. */
static const char *
burst_calls(enum vhost_frontend_queue queue, unsigned int num, unsigned int calls)
{
	struct rte_mbuf *pkts[BATCH];
	const char *fault = post_many(queue, num);
	unsigned int got;

	if (fault != NULL)
		return fault;
	if (queue == VHOST_FRONTEND_RX) {
		got = enqueue(num);
	} else {
		got = rte_vhost_dequeue_burst(vhost_frontend_vid(frontend), queue, pool, pkts, num);
		rte_pktmbuf_free_bulk(pkts, got);
	}
	if (got != num)
		return "not all are copied";
	while (vhost_frontend_poll(frontend, queue, NULL) >= 0)
		;
	return vhost_frontend_take_calls(frontend, queue) == calls
		? NULL
		: "the guest is called where it should not, or not where it should";
}

/* The guest is called when it wants to be: at all, or for a certain buffer. */
static const char *
check_calls(enum vhost_frontend_queue queue, bool event_idx)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);
	const char *fault;

	vhost_frontend_take_calls(frontend, queue);
	ring->avail->flags = 0;
	fault = burst_calls(queue, 1, 1);
	/* Behind the entries: the index at whose use the guest is to be called. */
	ring->avail->ring[RING_SIZE] = ring->next_used + 3;
	if (!event_idx)
		ring->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	if (fault == NULL)
		fault = burst_calls(queue, 3, 0);
	ring->avail->flags = 0;
	if (fault == NULL)
		fault = burst_calls(queue, BATCH, 1);
	if (fault == NULL)
		fault = burst_calls(queue, 2, event_idx ? 0 : 1);
	return fault;
}

/* As many packets as check_calls() has, in as many bursts. */
static const char *
check_counters(void)
{
	const unsigned int num_pkts = 1 + 3 + BATCH + 2, num_bursts = 4;
	const int vid = vhost_frontend_vid(frontend);
	struct rte_vhost_stat stats[32];
	struct rte_vhost_copy_status status;
	enum vhost_frontend_queue queue;
	uint64_t bursts = 0;
	unsigned int mode;

	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++) {
		/* The first two are packets and bytes. */
		if (rte_vhost_vring_stats_get(vid, queue, stats, RTE_DIM(stats)) < 2)
			return "no counters";
		if (stats[0].value != num_pkts || stats[1].value != num_pkts * PKT_LEN)
			return "wrong counters";
	}
	if (rte_vhost_get_copy_status(vid, &status) != 0)
		return "no status";
	for (mode = 0; mode < RTE_DIM(status.bursts); mode++)
		bursts += status.bursts[mode];
	return bursts == VHOST_FRONTEND_QUEUES * num_bursts ? NULL : "wrong number of bursts";
}

static const char *
calls_and_counters(void)
{
	enum vhost_frontend_queue queue;
	const char *fault = NULL;
	unsigned int event_idx;

	for (event_idx = 0; event_idx <= 1 && fault == NULL; event_idx++) {
		fault = fresh_device_with((uint64_t)event_idx << VIRTIO_RING_F_EVENT_IDX,
			RTE_VHOST_USER_NET_STATS_ENABLE);
		for (queue = 0; queue < VHOST_FRONTEND_QUEUES && fault == NULL; queue++)
			fault = check_calls(queue, event_idx);
		if (fault == NULL)
			fault = check_counters();
	}
	return fault;
}

/* --- all --- */

static const struct {
	const char *name;
	const char *(*run)(void);
	bool split_only; /* about what packed rings do not have */
} cases[] = {
	{ "entries beyond the ring", entries_beyond_ring, true },
	{ "fewer buffers than packets", few_buffers, false },
	{ "no room for a header", no_room_for_header, false },
	{ "a descriptor behind the ring", descriptor_behind_ring, false },
	{ "a buffer beyond its region", beyond_region, false },
	{ "short and long packets", short_and_long_packets, false },
	{ "empty packets", empty_packets, false },
	{ "offloads to the guest", offloads_to_guest, false },
	{ "offloads from the guest", offloads_from_guest, false },
	{ "an IOMMU", other_translation, false },
	{ "one of another kind", one_odd, false },
	{ "indexes that wrap", wrapping_indexes, true },
	{ "calls and counters", calls_and_counters, true },
};

static int
test_case(unsigned int kind, unsigned int i)
{
	const unsigned int mbufs = rte_mempool_avail_count(pool);
	const char *fault;

	features = kinds[kind].features;
	legacy = kinds[kind].legacy;
	fault = cases[i].run();
	vhost_frontend_destroy(frontend);
	frontend = NULL;
	if (fault == NULL && rte_mempool_avail_count(pool) != mbufs)
		fault = "mbufs are lost";
	if (fault == NULL)
		return 0;
	printf("%s, %s: %s\n", kinds[kind].name, cases[i].name, fault);
	return -1;
}

static int
test_vhost_copy_singles(void)
{
	unsigned int kind, i;
	int ret = 0;

	pool = rte_pktmbuf_pool_create(
		"vhost_copy_singles", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	/* What vhost says of wrong descriptors is not looked at. */
	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_CRIT);
	for (kind = 0; kind < RTE_DIM(kinds); kind++)
		for (i = 0; i < RTE_DIM(cases); i++)
			if (!(cases[i].split_only && (kinds[kind].features & PACKED)) &&
				test_case(kind, i) != 0)
				ret = -1;
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_copy_singles_autotest, test_vhost_copy_singles);
