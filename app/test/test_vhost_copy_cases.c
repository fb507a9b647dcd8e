/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * What does vhost make of descriptors that no guest should write?
 *
 * It may drop a packet, or stop at one. It must not touch a byte outside the buffers
 * of the guest, hand on a packet that the guest has not sent, or lose an mbuf.
 * Each case has a device of its own, as some leave it with a ring that is stuck.
 */

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_eal_paging.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_packets.h"

#define NUM_MBUFS 255
#define RING_SIZE 64
#define HDR_LEN 12
#define BATCH 4 /* what a packed ring takes at once */
/* Three regions: the second follows in guest addresses only, the third behind a hole. */
#define MAIN_ADDR 0x100000
#define MAIN_LEN (1024 * 1024)
#define SIDE_LEN (64 * 1024)
#define APART_ADDR (MAIN_ADDR + MAIN_LEN + 2 * SIDE_LEN)
#define HOLE_ADDR (MAIN_ADDR + MAIN_LEN + SIDE_LEN)
#define SLOT_LEN 2048
#define GOOD_LEN 512
#define PKT_LEN 60

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)
#define INDIRECT (1ULL << VIRTIO_RING_F_INDIRECT_DESC)

static const struct {
	const char *name;
	uint64_t features;
} kinds[] = {
	{ "split", 0 },
	{ "split, mergeable", MRG },
	{ "packed", PACKED },
	{ "packed, mergeable", PACKED | MRG },
	{ "packed, in order", PACKED | IN_ORDER },
};

static struct rte_mempool *pool;
static struct vhost_frontend *frontend;
static uint64_t features;
static uint8_t *guest_mem;
static size_t guest_len;
static uint8_t *next_mem;
static uint8_t *apart_mem;

/* --- a device --- */

/* Make a new device, in place of the old one if there is one. */
static const char *
fresh_device(void)
{
	struct vhost_frontend_config config = {
		.features = features | INDIRECT,
		.ring_size = RING_SIZE,
		.num_regions = 3,
		.regions = { { .guest_addr = MAIN_ADDR, .len = MAIN_LEN },
			{ .guest_addr = MAIN_ADDR + MAIN_LEN, .len = SIDE_LEN },
			{ .guest_addr = APART_ADDR, .len = SIDE_LEN } },
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
	apart_mem = vhost_frontend_mem(frontend, 2, &len);
	memset(apart_mem, GUEST_FILL, len);
	return NULL;
}

static uint8_t *
slot(unsigned int i)
{
	return guest_mem + i * SLOT_LEN + SLOT_LEN / 4;
}

static struct vhost_frontend_desc
desc_of(const void *addr, uint32_t len, uint16_t flags)
{
	return (struct vhost_frontend_desc){
		.addr = vhost_frontend_iova(frontend, addr), .len = len, .flags = flags
	};
}

/* Write a packet of the guest's with its header to a place, and describe it. */
static struct vhost_frontend_desc
packet_at(uint8_t *addr, size_t pkt_len)
{
	memset(addr, 0, HDR_LEN);
	write_pattern(addr + HDR_LEN, pkt_len, 0, pkt_len);
	return desc_of(addr, HDR_LEN + pkt_len, 0);
}

/* --- to the guest --- */

static unsigned int
enqueue(unsigned int num, size_t pkt_len)
{
	struct rte_mbuf *pkts[RING_SIZE];
	unsigned int i, got;

	for (i = 0; i < num; i++) {
		pkts[i] = make_packet(pool, pkt_len);
		if (pkts[i] == NULL)
			break;
	}
	got = rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, pkts, i);
	rte_pktmbuf_free_bulk(pkts, i);
	return got;
}

/* Look at a packet, header first, whose bytes were gathered from *num* buffers. */
static const char *
check_gathered(const uint8_t *packet, size_t pkt_len, unsigned int num)
{
	struct virtio_net_hdr_mrg_rxbuf hdr;

	memcpy(&hdr, packet, sizeof(hdr));
	if ((features & MRG) != 0 && hdr.num_buffers != num)
		return "wrong number of buffers in the header";
	if (!is_pattern(packet + HDR_LEN, pkt_len, 0, pkt_len))
		return "enqueued with wrong bytes";
	return NULL;
}

/* Gather the packets that were put into buffers one behind the other. */
static const char *
check_enqueued(const struct vhost_frontend_desc *descs, unsigned int num_packets)
{
	uint8_t packet[HDR_LEN + PKT_LEN];
	unsigned int at = 0, first, i;
	const char *fault;
	uint32_t used;

	for (i = 0; i < num_packets; i++) {
		size_t len = 0;

		for (first = at; len < sizeof(packet); at++) {
			size_t part = RTE_MIN(descs[at].len, sizeof(packet) - len);

			if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &used) < 0)
				return "buffer not used";
			if ((features & IN_ORDER) == 0 && used != part)
				return "wrong length in the used ring";
			memcpy(packet + len, slot(at), part);
			len += part;
		}
		fault = check_gathered(packet, PKT_LEN, at - first);
		if (fault != NULL)
			return fault;
	}
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &used) >= 0)
		return "more buffers used than packets need";
	return NULL;
}

/* Put packets into buffers, of which *descs* tells, in slots; *expected* of a batch go. */
static const char *
enqueue_batch(const struct vhost_frontend_desc *descs, unsigned int num, unsigned int expected)
{
	const char *fault;
	unsigned int i, got;

	for (i = 0; i < num; i++)
		if (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_RX, &descs[i], 1) < 0)
			return "cannot post a buffer";
	got = enqueue(BATCH, PKT_LEN);
	if (got != expected) {
		printf("%u packets of %u enqueued: ", got, expected);
		return "more or fewer than there is room for";
	}
	fault = check_enqueued(descs, got);
	for (i = 0; i < num; i++)
		memset(slot(i), GUEST_FILL, descs[i].len);
	if (!all_are(guest_mem, GUEST_FILL, guest_len))
		return "wrote outside a buffer";
	return fault;
}

/* Buffers that are shorter than a header or little longer, all of them or one. */
static const char *
short_buffers_of(uint32_t len, unsigned int from, unsigned int to)
{
	struct vhost_frontend_desc descs[RING_SIZE];
	const char *fault = fresh_device();
	const bool fits = (features & MRG) != 0 && (len != 0 || to - from == 1);
	unsigned int i;

	if (fault != NULL)
		return fault;
	for (i = 0; i < RING_SIZE; i++)
		descs[i] = desc_of(
			slot(i), i >= from && i < to ? len : GOOD_LEN, VRING_DESC_F_WRITE);
	if (len == 0)
		descs[from].addr = HOLE_ADDR;
	return enqueue_batch(descs, RING_SIZE, fits ? BATCH : from);
}

static const uint32_t short_lens[] = { 0, 1, 5, 11, 12, 13 };

static const char *
short_buffers(void)
{
	const char *fault = NULL;
	unsigned int i, at;

	for (i = 0; i < RTE_DIM(short_lens) && fault == NULL; i++) {
		/* Of 1 byte there are not enough for all packets. */
		if (short_lens[i] != 1)
			fault = short_buffers_of(short_lens[i], 0, RING_SIZE);
		for (at = 0; at < BATCH && fault == NULL; at++)
			fault = short_buffers_of(short_lens[i], at, at + 1);
	}
	return fault;
}

/* --- from the guest --- */

/* Dequeue *num* packets of the lengths told, and nothing else. */
static const char *
dequeue_packets(const size_t *pkt_lens, unsigned int num)
{
	struct rte_mbuf *pkts[BATCH];
	const char *fault = NULL;
	unsigned int i, got = dequeue_all(vhost_frontend_vid(frontend), pool, pkts, BATCH);

	for (i = 0; i < RTE_MIN(got, num) && fault == NULL; i++)
		fault = check_packet(pkts[i], pkt_lens[i]);
	rte_pktmbuf_free_bulk(pkts, got);
	if (got != num) {
		printf("%u packets of %u dequeued: ", got, num);
		return "a packet came that was not sent, or one did not that was";
	}
	return fault;
}

/* Four packets, one of which is described by *wrong*. */
static const char *
one_wrong_of_four(struct vhost_frontend_desc wrong, unsigned int at, size_t wrong_pkt_len,
	unsigned int expected)
{
	struct vhost_frontend_desc desc;
	size_t pkt_lens[BATCH];
	unsigned int i, num = 0;

	for (i = 0; i < BATCH; i++) {
		desc = i == at ? wrong : packet_at(slot(i), 100 + i);
		if (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_TX, &desc, 1) < 0)
			return "cannot post a packet";
		if (i != at || wrong_pkt_len != 0)
			pkt_lens[num++] = i == at ? wrong_pkt_len : 100 + i;
	}
	return dequeue_packets(pkt_lens, expected);
}

/* Packets of no data, and of a byte, among others; those of no data are dropped. */
static const char *
short_packets(void)
{
	struct vhost_frontend_desc wrong;
	const char *fault = NULL;
	unsigned int i, at, n;
	size_t pkt_len;

	for (i = 0; i < RTE_DIM(short_lens); i++)
		for (at = 0; at < BATCH && fault == NULL; at++) {
			fault = fresh_device();
			if (fault != NULL)
				return fault;
			pkt_len = RTE_MAX(short_lens[i], (uint32_t)HDR_LEN) - HDR_LEN;
			wrong = packet_at(slot(at), pkt_len);
			wrong.len = short_lens[i];
			if (wrong.len == 0)
				wrong.addr = HOLE_ADDR;
			fault = one_wrong_of_four(
				wrong, at, pkt_len, pkt_len == 0 ? BATCH - 1 : BATCH);
			for (n = 0; n < BATCH && fault == NULL; n++)
				if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
					fault = "not given back";
		}
	return fault;
}

/* --- addresses --- */

/* Addresses at which a buffer of GOOD_LEN bytes is not the guest's. */
static const uint64_t bad_addrs[] = { 0, MAIN_ADDR - 1, HOLE_ADDR - 1, HOLE_ADDR, APART_ADDR - 1,
	APART_ADDR + SIDE_LEN - 1, APART_ADDR + SIDE_LEN, UINT64_MAX - 1, UINT64_MAX };

static const char *
bad_address(uint64_t addr, unsigned int at)
{
	struct vhost_frontend_desc descs[BATCH], wrong = { .addr = addr, .len = GOOD_LEN };
	const char *fault = fresh_device();
	unsigned int i;

	if (fault != NULL)
		return fault;
	/* A split ring stops there, a packed one drops it. */
	fault = one_wrong_of_four(wrong, at, 0, (features & PACKED) != 0 ? BATCH - 1 : at);
	if (fault != NULL)
		return fault;
	memset(guest_mem, GUEST_FILL, guest_len);
	for (i = 0; i < BATCH; i++)
		descs[i] = desc_of(slot(i), GOOD_LEN, VRING_DESC_F_WRITE);
	descs[at].addr = addr;
	return enqueue_batch(descs, BATCH, at);
}

static const char *
bad_addresses(void)
{
	const char *fault = NULL;
	unsigned int i, at;

	for (i = 0; i < RTE_DIM(bad_addrs); i++)
		for (at = 0; at < BATCH && fault == NULL; at++)
			fault = bad_address(bad_addrs[i], at);
	return fault;
}

/* Nothing is asked of the address of a descriptor of no bytes. */
static const char *
empty_descriptors(void)
{
	const size_t pkt_len = 100;
	struct vhost_frontend_desc descs[4];
	uint8_t packet[HDR_LEN + PKT_LEN];
	const char *fault = fresh_device();

	if (fault != NULL)
		return fault;
	descs[1] = packet_at(slot(0), pkt_len);
	descs[3] = desc_of(slot(0) + HDR_LEN, pkt_len, 0);
	descs[1].len = HDR_LEN;
	descs[0] = descs[2] = (struct vhost_frontend_desc){ .addr = HOLE_ADDR };
	descs[0].flags = descs[1].flags = descs[2].flags = VRING_DESC_F_NEXT;
	descs[0].next = 1;
	descs[1].next = 2;
	descs[2].next = 3;
	if (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_TX, descs, 4) < 0)
		return "cannot post a packet";
	fault = dequeue_packets(&pkt_len, 1);
	if (fault != NULL)
		return fault;
	descs[0].flags = descs[1].flags = descs[2].flags |= VRING_DESC_F_WRITE;
	descs[3].flags = VRING_DESC_F_WRITE;
	if (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_RX, descs, 4) < 0)
		return "cannot post a buffer";
	if (enqueue(1, PKT_LEN) != 1)
		return "not enqueued";
	memcpy(packet, slot(0), sizeof(packet));
	return check_gathered(packet, PKT_LEN, 1);
}

/* --- chains --- */

static const char *
nothing_goes(
	enum vhost_frontend_queue queue, const struct vhost_frontend_desc *descs, unsigned int num)
{
	if (vhost_frontend_post_raw(frontend, queue, descs, num) < 0)
		return "cannot post a chain";
	if (queue == VHOST_FRONTEND_TX)
		return dequeue_packets(NULL, 0);
	return enqueue(BATCH, PKT_LEN) == 0 ? NULL : "enqueued to a chain without an end";
}

/* A split chain of one descriptor that comes after itself. */
static const char *
self_linked(void)
{
	struct vhost_frontend_desc desc;
	enum vhost_frontend_queue queue;
	const char *fault = NULL;
	uint32_t len;

	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
		for (len = 0; len <= 1 && fault == NULL; len++) {
			fault = fresh_device();
			if (fault != NULL)
				return fault;
			desc = desc_of(slot(0), len,
				VRING_DESC_F_NEXT |
					(queue == VHOST_FRONTEND_RX ? VRING_DESC_F_WRITE : 0));
			fault = nothing_goes(queue, &desc, 1);
		}
	return fault;
}

/* Describe memory in *num* parts of 20 bytes. */
#define PART_LEN 20

static void
chain_of(struct vhost_frontend_desc *descs, unsigned int num, uint16_t flags)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		descs[i] = desc_of(slot(0) + i * PART_LEN, PART_LEN, flags);
		if (i + 1 < num)
			descs[i].flags |= VRING_DESC_F_NEXT;
		descs[i].next = i + 1;
	}
}

/* A chain of all descriptors of the ring is right; if the last one goes on, it is not. */
static const char *
long_chains(void)
{
	struct vhost_frontend_desc descs[RING_SIZE];
	const size_t pkt_len = RING_SIZE * PART_LEN - HDR_LEN;
	const char *fault = fresh_device();

	if (fault != NULL)
		return fault;
	packet_at(slot(0), pkt_len);
	chain_of(descs, RING_SIZE, 0);
	if (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_TX, descs, RING_SIZE) < 0)
		return "cannot post a chain";
	fault = dequeue_packets(&pkt_len, 1);
	if (fault == NULL && vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
		fault = "not given back";
	if (fault != NULL)
		return fault;
	descs[RING_SIZE - 1].flags |= VRING_DESC_F_NEXT;
	descs[RING_SIZE - 1].next = 0;
	fault = nothing_goes(VHOST_FRONTEND_TX, descs, RING_SIZE);
	if (fault != NULL)
		return fault;
	memset(guest_mem, GUEST_FILL, guest_len);
	chain_of(descs, RING_SIZE, VRING_DESC_F_WRITE);
	if (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_RX, descs, RING_SIZE) < 0)
		return "cannot post a chain";
	if (enqueue(1, pkt_len) != 1 || vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) < 0)
		return "not enqueued to a chain as long as the ring";
	fault = check_gathered(slot(0), pkt_len, 1);
	if (fault != NULL)
		return fault;
	descs[RING_SIZE - 1].flags |= VRING_DESC_F_NEXT;
	descs[RING_SIZE - 1].next = 0;
	return nothing_goes(VHOST_FRONTEND_RX, descs, RING_SIZE);
}

/* A packet that finds less room than it needs, in chains that end where they began. */
static const char *
too_little_room(void)
{
	struct vhost_frontend_desc descs[RING_SIZE];
	const char *fault = NULL;
	unsigned int num, i;

	for (num = 1; num <= RING_SIZE && fault == NULL; num *= 2) {
		fault = fresh_device();
		if (fault != NULL)
			return fault;
		for (i = 0; i < RING_SIZE; i += num) {
			chain_of(descs, num, VRING_DESC_F_WRITE);
			if (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_RX, descs, num) < 0)
				return "cannot post a chain";
		}
		if (enqueue(1, RING_SIZE * PART_LEN) != 0)
			fault = "put a packet into the same buffers twice";
	}
	return fault;
}

/* --- indirect tables --- */

static const char *
post_table(const void *table, unsigned int num_descs)
{
	struct vhost_frontend_desc desc = desc_of(
		table, num_descs * VHOST_FRONTEND_DESC_LEN, VRING_DESC_F_INDIRECT);

	return vhost_frontend_post_raw(frontend, VHOST_FRONTEND_TX, &desc, 1) < 0
		? "cannot post a table"
		: NULL;
}

/* A table may be as long as the ring, and no longer. */
static const char *
long_tables(void)
{
	struct vhost_frontend_desc descs[RING_SIZE + 1];
	const size_t pkt_len = RING_SIZE * PART_LEN - HDR_LEN;
	const char *fault = fresh_device();

	if (fault != NULL)
		return fault;
	packet_at(slot(0), pkt_len + PART_LEN);
	write_pattern(slot(0) + HDR_LEN, pkt_len, 0, pkt_len);
	chain_of(descs, RING_SIZE, 0);
	vhost_frontend_write_table(frontend, VHOST_FRONTEND_TX, descs, RING_SIZE, slot(1));
	fault = post_table(slot(1), RING_SIZE);
	if (fault == NULL)
		fault = dequeue_packets(&pkt_len, 1);
	if (fault != NULL)
		return fault;
	chain_of(descs, RING_SIZE + 1, 0);
	vhost_frontend_write_table(frontend, VHOST_FRONTEND_TX, descs, RING_SIZE + 1, slot(1));
	fault = post_table(slot(1), RING_SIZE + 1);
	return fault != NULL ? fault : dequeue_packets(NULL, 0);
}

/*
 * A table that goes on in the next region, of which vhost makes a copy. If one of its
 * descriptors is wrong, the copy is freed too.
 */
static const char *
table_across_regions(bool wrong)
{
	const unsigned int num = 6, in_first = 2;
	const size_t pkt_len = num * PART_LEN - HDR_LEN;
	const size_t first_len = in_first * VHOST_FRONTEND_DESC_LEN;
	uint64_t table[6 * VHOST_FRONTEND_DESC_LEN / sizeof(uint64_t)];
	struct vhost_frontend_desc descs[6];
	const char *fault = fresh_device();
	unsigned int allocated;

	if (fault != NULL)
		return fault;
	packet_at(slot(0), pkt_len);
	chain_of(descs, num, 0);
	if (wrong)
		descs[num - 1].addr = HOLE_ADDR;
	vhost_frontend_write_table(frontend, VHOST_FRONTEND_TX, descs, num, table);
	memcpy(guest_mem + guest_len - first_len, table, first_len);
	memcpy(next_mem, (uint8_t *)table + first_len, sizeof(table) - first_len);
	fault = post_table(guest_mem + guest_len - first_len, num);
	if (fault != NULL)
		return fault;
	allocated = num_allocated();
	fault = dequeue_packets(&pkt_len, wrong ? 0 : 1);
	if (fault == NULL && num_allocated() != allocated)
		fault = "keeps its copy of an indirect table";
	return fault;
}

static const char *
tables_across_regions(void)
{
	const char *fault = table_across_regions(false);

	return fault != NULL ? fault : table_across_regions(true);
}

/* --- what a guest changes while vhost looks at it --- */

#define FLIPS 2000

static struct {
	pthread_t thread;
	uint32_t *lens[RING_SIZE];
	uint32_t values[2];
	unsigned int first; /* of BATCH lengths that are changed now */
	bool stop;
} flipper;

static void *
flip(void *arg __rte_unused)
{
	unsigned int i, at;

	while (!__atomic_load_n(&flipper.stop, __ATOMIC_RELAXED)) {
		uint32_t **lens = &flipper.lens[__atomic_load_n(&flipper.first, __ATOMIC_RELAXED)];

		for (i = 0; i < 2; i++)
			for (at = 0; at < BATCH; at++)
				__atomic_store_n(lens[at], flipper.values[i], __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Tell how many descriptors have been posted: a split ring takes the same ones again. */
static void
flip_next(unsigned int num_posted)
{
	const unsigned int first = (features & PACKED) != 0 ? num_posted % RING_SIZE / BATCH * BATCH
							    : 0;

	__atomic_store_n(&flipper.first, first, __ATOMIC_RELAXED);
}

/* Have another thread change the lengths of descriptors all the time. */
static const char *
start_flipping(enum vhost_frontend_queue queue, uint32_t one, uint32_t other)
{
	cpu_set_t all;
	unsigned int i;

	for (i = 0; i < RING_SIZE; i++)
		flipper.lens[i] = vhost_frontend_desc_len(frontend, queue, i);
	flipper.values[0] = one;
	flipper.values[1] = other;
	flipper.first = 0;
	flipper.stop = false;
	if (pthread_create(&flipper.thread, NULL, flip, NULL) != 0)
		return "no thread";
	/* Not on this CPU, if there are more. */
	memset(&all, 0xff, sizeof(all));
	CPU_CLR(sched_getcpu(), &all);
	pthread_setaffinity_np(flipper.thread, sizeof(all), &all);
	return NULL;
}

static void
stop_flipping(void)
{
	__atomic_store_n(&flipper.stop, true, __ATOMIC_RELAXED);
	pthread_join(flipper.thread, NULL);
}

#define FLIP_SHORT 64
#define FLIP_LONG 65535

/* Each packet that comes has one of the lengths, and so many bytes of the buffer. */
static const char *
dequeue_flipped(void)
{
	struct rte_mbuf *pkts[BATCH];
	const char *fault = NULL;
	unsigned int i, got = dequeue_all(vhost_frontend_vid(frontend), pool, pkts, BATCH);
	uint8_t data[FLIP_LONG];

	for (i = 0; i < got && fault == NULL; i++) {
		const uint32_t len = pkts[i]->pkt_len;

		if (len != FLIP_SHORT - HDR_LEN && len != FLIP_LONG - HDR_LEN)
			fault = "dequeued with a length that never was";
		else if (!is_pattern(rte_pktmbuf_read(pkts[i], 0, len, data), 0, 0, len))
			fault = "dequeued with wrong bytes";
	}
	rte_pktmbuf_free_bulk(pkts, got);
	if (fault == NULL && got != BATCH)
		fault = "not dequeued";
	return fault;
}

static const char *
flip_packets(void)
{
	struct vhost_frontend_desc desc = desc_of(slot(0), FLIP_SHORT, 0);
	const char *fault = NULL;
	unsigned int i, n;

	write_pattern(slot(0) + HDR_LEN, 0, 0, FLIP_LONG - HDR_LEN);
	for (i = 0; i < FLIPS && fault == NULL; i++) {
		flip_next(i * BATCH);
		for (n = 0; n < BATCH; n++)
			vhost_frontend_post_raw(frontend, VHOST_FRONTEND_TX, &desc, 1);
		fault = dequeue_flipped();
		while (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0)
			;
	}
	memset(slot(0), GUEST_FILL, FLIP_LONG);
	return fault;
}

/*
 * Packets that fit into one of the lengths only, or into several of the other.
 * *len* bytes may be written to.
 */
static const char *
flip_buffers(uint8_t *place, size_t len)
{
	struct vhost_frontend_desc desc = desc_of(place, FLIP_SHORT, VRING_DESC_F_WRITE);
	unsigned int i, used = 0;

	for (i = 0; i < FLIPS; i++) {
		while (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_RX, &desc, 1) >= 0)
			;
		flip_next(used);
		enqueue(BATCH, GOOD_LEN - HDR_LEN);
		while (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0)
			used++;
	}
	memset(place, GUEST_FILL, len);
	return all_are(guest_mem, GUEST_FILL, guest_len) &&
			all_are(next_mem, GUEST_FILL, SIDE_LEN) &&
			all_are(apart_mem, GUEST_FILL, SIDE_LEN)
		? NULL
		: "wrote behind a packet";
}

static const char *
flipped_lengths(void)
{
	const char *fault = fresh_device();

	if (fault == NULL)
		fault = start_flipping(VHOST_FRONTEND_TX, FLIP_SHORT, FLIP_LONG);
	if (fault != NULL)
		return fault;
	fault = flip_packets();
	stop_flipping();
	if (fault == NULL)
		fault = start_flipping(VHOST_FRONTEND_RX, FLIP_SHORT, FLIP_LONG);
	if (fault != NULL)
		return fault;
	fault = flip_buffers(slot(0), GOOD_LEN);
	stop_flipping();
	return fault;
}

/*
 * Have nothing behind the last region, as vhost has it: an access there is a crash.
 * Or else the region before it is there, as Linux maps downwards.
 */
static void *
guard_last_region(void)
{
	struct rte_vhost_memory *mem;
	void *end, *guard;

	if (rte_vhost_get_mem_table(vhost_frontend_vid(frontend), &mem) != 0)
		return MAP_FAILED;
	end = (void *)(uintptr_t)(mem->regions[2].host_user_addr + mem->regions[2].size);
	guard = mmap(end, rte_mem_page_size(), PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	free(mem);
	return guard;
}

static void
end_guard(void *guard)
{
	if (guard != MAP_FAILED)
		munmap(guard, rte_mem_page_size());
}

/* Packets at a region's end, which one of the lengths leaves: with that one there is no packet. */
static const char *
flip_last_packets(uint8_t *place)
{
	const size_t pkt_len = FLIP_SHORT - HDR_LEN;
	struct vhost_frontend_desc desc = desc_of(place, FLIP_SHORT, 0);
	unsigned int i, posted = 0, used = 0, got = 0;
	const char *fault = NULL;
	struct rte_mbuf *m;

	write_pattern(place + HDR_LEN, pkt_len, 0, pkt_len);
	for (i = 0; i < BATCH * FLIPS && fault == NULL; i++) {
		for (; used == posted || posted % BATCH != 0; posted++)
			vhost_frontend_post_raw(frontend, VHOST_FRONTEND_TX, &desc, 1);
		flip_next(used);
		if (rte_vhost_dequeue_burst(
			    vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, &m, 1) == 1) {
			fault = check_packet(m, pkt_len);
			rte_pktmbuf_free(m);
			got++;
		}
		while (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0)
			used++;
	}
	memset(place, GUEST_FILL, FLIP_SHORT);
	return fault == NULL && got == 0 ? "no packet came of those that were right" : fault;
}

static const char *
flipped_last_lengths(void)
{
	const char *fault = fresh_device();
	uint8_t *place;
	void *guard;

	if (fault == NULL)
		fault = start_flipping(VHOST_FRONTEND_TX, FLIP_SHORT, FLIP_LONG);
	if (fault != NULL)
		return fault;
	place = apart_mem + SIDE_LEN - FLIP_SHORT;
	guard = guard_last_region();
	fault = flip_last_packets(place);
	stop_flipping();
	if (fault == NULL)
		fault = start_flipping(VHOST_FRONTEND_RX, FLIP_SHORT, FLIP_LONG);
	if (fault == NULL) {
		fault = flip_buffers(place, FLIP_SHORT);
		stop_flipping();
	}
	end_guard(guard);
	return fault;
}

/* One descriptor at a region's end, which is a whole table, or the first one of many. */
static const char *
post_last_entry(void)
{
	uint8_t *table = apart_mem + SIDE_LEN - VHOST_FRONTEND_DESC_LEN;
	struct vhost_frontend_desc entry = packet_at(slot(0), 100);

	/* In a split table the next one is told of, so one is never enough. */
	if ((features & PACKED) == 0) {
		entry.flags = VRING_DESC_F_NEXT;
		entry.next = 5;
	}
	vhost_frontend_write_table(frontend, VHOST_FRONTEND_TX, &entry, 1, table);
	return post_table(table, 1);
}

static const char *
flip_tables(void)
{
	const char *fault = post_last_entry();
	unsigned int i, got = 0, used = 0;
	struct rte_mbuf *m;

	for (i = 0; i < 150 * FLIPS && fault == NULL; i++) {
		if (rte_vhost_dequeue_burst(
			    vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, &m, 1) == 1) {
			if ((features & PACKED) == 0 || check_packet(m, 100) != NULL)
				fault = "read a table behind its end";
			rte_pktmbuf_free(m);
			got++;
		}
		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0 && fault == NULL) {
			flip_next(++used);
			fault = post_last_entry();
		}
	}
	if (fault == NULL && (features & PACKED) != 0 && got == 0)
		fault = "no packet came by tables that were right";
	return fault;
}

/* What lies behind the last region, if nothing can be kept from there, looks like more of the table. */
static void
write_more_entries(void)
{
	struct vhost_frontend_desc more[RING_SIZE];
	unsigned int i;

	for (i = 0; i < RING_SIZE; i++)
		more[i] = desc_of(slot(1), 50, 0);
	vhost_frontend_write_table(frontend, VHOST_FRONTEND_TX, more, RING_SIZE, next_mem);
}

static const char *
flipped_tables(void)
{
	const char *fault = fresh_device();
	void *guard;

	if (fault == NULL)
		fault = start_flipping(VHOST_FRONTEND_TX, VHOST_FRONTEND_DESC_LEN,
			(RING_SIZE - 1) * VHOST_FRONTEND_DESC_LEN);
	if (fault != NULL)
		return fault;
	write_more_entries();
	guard = guard_last_region();
	fault = flip_tables();
	end_guard(guard);
	stop_flipping();
	return fault;
}

/* More chains than the ring has: nothing is taken from such a ring, or put into it. */
static const char *
claimed_chains(void)
{
	struct vhost_frontend_desc desc;
	const char *fault = fresh_device();

	if (fault != NULL)
		return fault;
	desc = packet_at(slot(0), 100);
	while (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_TX, &desc, 1) >= 0)
		;
	vhost_frontend_claim(frontend, VHOST_FRONTEND_TX, 1);
	fault = dequeue_packets(NULL, 0);
	if (fault != NULL)
		return fault;
	/* One packet takes most of the ring, so the burst needs several times as much. */
	desc = desc_of(slot(1), 2, VRING_DESC_F_WRITE);
	while (vhost_frontend_post_raw(frontend, VHOST_FRONTEND_RX, &desc, 1) >= 0)
		;
	vhost_frontend_claim(frontend, VHOST_FRONTEND_RX, BATCH * RING_SIZE);
	return enqueue(BATCH, PKT_LEN) == 0 ? NULL : "enqueued to chains that there are not";
}

/* --- mbufs that run out in mid burst --- */

#define POISON 0x5a

static struct rte_mempool_ops *real_ops;
static rte_mempool_enqueue_t real_enqueue;

/* What is in an mbuf is lost when it is freed, as if it had another owner at once. */
static int
poison_enqueue(struct rte_mempool *mp, void *const *objs, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++) {
		const struct rte_mbuf *m = objs[i];

		memset(m->buf_addr, POISON, m->buf_len);
	}
	return real_enqueue(mp, objs, num);
}

static const char *
is_poisoned(struct rte_mbuf *const *free_mbufs, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (!all_are(free_mbufs[i]->buf_addr, POISON, free_mbufs[i]->buf_len))
			return "wrote to an mbuf that it had freed";
	return NULL;
}

/*
 * Three packets in parts that vhost copies at the end of a burst, the second of which
 * needs more mbufs than there are. It is dropped; the third one waits for the next burst.
 */
static const char *
dequeue_with_few(void)
{
	const size_t pkt_lens[] = { 100, RING_SIZE / 2 * 200 - HDR_LEN, 110 };
	struct vhost_frontend_buf parts[RING_SIZE / 2];
	struct rte_mbuf *taken[NUM_MBUFS], *pkts[3];
	unsigned int num_taken = 0, i, got;
	const char *fault = NULL;

	for (i = 0; i < RING_SIZE / 2; i++)
		parts[i] = (struct vhost_frontend_buf){ .addr = slot(1) + i * 200, .len = 200 };
	packet_at(slot(0), pkt_lens[0]);
	packet_at(slot(1), pkt_lens[1]);
	packet_at(slot(9), pkt_lens[2]);
	vhost_frontend_post(frontend, VHOST_FRONTEND_TX,
		&(struct vhost_frontend_buf){ slot(0), HDR_LEN + pkt_lens[0] }, 1, false);
	vhost_frontend_post(frontend, VHOST_FRONTEND_TX, parts, RING_SIZE / 2, false);
	vhost_frontend_post(frontend, VHOST_FRONTEND_TX,
		&(struct vhost_frontend_buf){ slot(9), HDR_LEN + pkt_lens[2] }, 1, false);
	while (rte_mempool_avail_count(pool) > 3)
		taken[num_taken++] = rte_pktmbuf_alloc(pool);
	got = rte_vhost_dequeue_burst(
		vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, pkts, 3);
	if (got != 1)
		fault = "not one packet before the mbufs ran out";
	else
		fault = check_packet(pkts[0], pkt_lens[0]);
	rte_pktmbuf_free_bulk(pkts, got);
	/* All that are free now were freed. */
	got = rte_mempool_avail_count(pool);
	if (fault == NULL && rte_pktmbuf_alloc_bulk(pool, pkts, RTE_MIN(got, 3u)) == 0) {
		fault = is_poisoned(pkts, RTE_MIN(got, 3u));
		rte_pktmbuf_free_bulk(pkts, RTE_MIN(got, 3u));
	}
	rte_pktmbuf_free_bulk(taken, num_taken);
	return fault != NULL ? fault : dequeue_packets(&pkt_lens[2], 1);
}

static const char *
few_mbufs(void)
{
	const char *fault = fresh_device();

	if (fault != NULL)
		return fault;
	real_ops = rte_mempool_get_ops(pool->ops_index);
	real_enqueue = real_ops->enqueue;
	real_ops->enqueue = poison_enqueue;
	fault = dequeue_with_few();
	real_ops->enqueue = real_enqueue;
	return fault;
}

/* --- all --- */

static const struct {
	const char *name;
	uint64_t needs; /* features, and those that must not be */
	uint64_t not ;
	const char *(*run)(void);
} cases[] = {
	{ "short buffers", 0, 0, short_buffers },
	{ "short packets", 0, 0, short_packets },
	{ "bad addresses", 0, 0, bad_addresses },
	{ "empty descriptors", 0, 0, empty_descriptors },
	{ "self-linked chain", 0, PACKED, self_linked },
	{ "chains as long as the ring", 0, 0, long_chains },
	{ "too little room", MRG, 0, too_little_room },
	{ "tables as long as the ring", 0, 0, long_tables },
	{ "tables across regions", 0, 0, tables_across_regions },
	{ "flipped lengths", 0, 0, flipped_lengths },
	{ "flipped lengths at an end", 0, 0, flipped_last_lengths },
	{ "flipped tables", 0, 0, flipped_tables },
	{ "claimed chains", 0, PACKED, claimed_chains },
	{ "few mbufs", 0, 0, few_mbufs },
};

static int
test_case(unsigned int kind, unsigned int i)
{
	const unsigned int mbufs = rte_mempool_avail_count(pool);
	const char *fault;

	features = kinds[kind].features;
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
test_kind(unsigned int kind)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < RTE_DIM(cases); i++) {
		if ((kinds[kind].features & cases[i].needs) != cases[i].needs ||
			(kinds[kind].features & cases[i].not ) != 0)
			continue;
		if (test_case(kind, i) != 0)
			ret = -1;
	}
	printf("%s: %s\n", kinds[kind].name, ret == 0 ? "passed" : "failed");
	return ret;
}

static int
test_vhost_copy_cases(void)
{
	unsigned int kind;
	int ret = 0;

	pool = rte_pktmbuf_pool_create(
		"vhost_copy_cases", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	/* What vhost says of wrong descriptors is not looked at. */
	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_CRIT);
	for (kind = 0; kind < RTE_DIM(kinds); kind++)
		if (test_kind(kind) != 0)
			ret = -1;
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_copy_cases_autotest, test_vhost_copy_cases);
