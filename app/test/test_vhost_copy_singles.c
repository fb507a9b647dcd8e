/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Does vhost leave to DPDK's own way what is more than a packet in one buffer?
 *
 * A split ring has a short way for such packets. Each case here looks like one at first
 * and is none, and what is around it is such as a short way that did not look would take.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_frontend_ring.h"
#include "vhost_packets.h"

#define NUM_MBUFS 255
#define RING_SIZE 64
#define HDR_LEN 12
#define BATCH 4
#define REGION_ADDR 0x100000
#define REGION_LEN (1024 * 1024)
#define SLOT_LEN 2048
#define GOOD_LEN 512
#define PKT_LEN 60

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)

static const struct {
	const char *name;
	uint64_t features;
} kinds[] = {
	{ "split", 0 },
	{ "split, mergeable", MRG },
};

static struct rte_mempool *pool;
static struct vhost_frontend *frontend;
static uint64_t features;
static uint8_t *guest_mem;
static size_t guest_len;

/* --- a device --- */

/* Make a new device, in place of the old one if there is one. */
static const char *
fresh_device(void)
{
	struct vhost_frontend_config config = {
		.features = features,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN } },
	};

	vhost_frontend_destroy(frontend);
	frontend = vhost_frontend_create(&config);
	if (frontend == NULL)
		return "no device";
	guest_mem = vhost_frontend_mem(frontend, 0, &guest_len);
	return NULL;
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
	memset(slot(i), 0, HDR_LEN);
	write_pattern(slot(i) + HDR_LEN, PKT_LEN, 0, PKT_LEN);
	return post(VHOST_FRONTEND_TX, i, HDR_LEN + PKT_LEN);
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
		if (used != HDR_LEN + PKT_LEN)
			return "wrong length in the used ring";
		if (!is_pattern(slot(i) + HDR_LEN, PKT_LEN, 0, PKT_LEN))
			return "enqueued with wrong bytes";
		memset(slot(i), GUEST_FILL, HDR_LEN + PKT_LEN);
	}
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0)
		return "more buffers used than packets need";
	return all_are(guest_mem, GUEST_FILL, guest_len) ? NULL : "wrote to another buffer";
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
		else if (used != 0)
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
	if (enqueue(1) != (len < HDR_LEN + PKT_LEN ? 0 : 1))
		return "enqueued where there is no room, or not where there is";
	memset(slot(0), GUEST_FILL, len);
	return all_are(guest_mem, GUEST_FILL, guest_len) ? NULL : "wrote behind a buffer";
}

static const char *
no_room_for_header(void)
{
	const char *fault = NULL;
	uint32_t len;

	for (len = PKT_LEN - 1; len <= HDR_LEN + PKT_LEN && fault == NULL; len++)
		fault = no_room_for_header_of(len);
	return fault;
}

/* --- all --- */

static const struct {
	const char *name;
	const char *(*run)(void);
} cases[] = {
	{ "entries beyond the ring", entries_beyond_ring },
	{ "fewer buffers than packets", few_buffers },
	{ "no room for a header", no_room_for_header },
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
			if (test_case(kind, i) != 0)
				ret = -1;
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_copy_singles_autotest, test_vhost_copy_singles);
