/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Are packets that vhost has copied by a DMA device as they were sent?
 *
 * vhost's copies are edited where they share code with those of a DMA device: headers,
 * bounds, what is done of a table or a chain. The device is dma_skeleton, a thread that
 * copies; without its driver in the build the test is skipped.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_bus_vdev.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_dmadev.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>
#include <rte_vhost_async.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_packets.h"

#define DMA_NAME "dma_skeleton_vhost"
#define DMA_DESCS 1024
#define DMA_CHANNEL 0
/* Within this time each copy is done, or the test fails. */
#define PATIENCE_S 5

#define NUM_MBUFS 255
#define RING_SIZE 64
/* Bursts of a length that has rings end in the middle of one. */
#define BURST 9
#define ROUNDS 20
#define REGION_ADDR 0x100000
#define REGION_LEN (1024 * 1024)
#define SLOT_LEN 4096
#define BUF_LEN 2048
/* Buffers lie in the middle of their slots, at no round address. */
#define SLOT_OFFSET 1021

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)

static const struct {
	const char *name;
	uint64_t features;
} kinds[] = {
	{ "split", 0 },
	{ "split, mergeable", MRG },
	{ "packed", PACKED },
	{ "packed, mergeable, in order", PACKED | MRG | IN_ORDER },
};

/* A packet in several mbufs and buffers comes last; it needs merging. */
static const size_t lens[] = { 60, 64, 65, 128, 255, 256, 257, 1518, 5000 };

static struct rte_mempool *pool;
static struct vhost_frontend *frontend;
static uint8_t *guest_mem;
static size_t guest_len;
static uint32_t hdr_len;
static bool mergeable;
static int16_t dma_id;

static uint8_t *
slot(unsigned int i)
{
	return guest_mem + i * SLOT_LEN + SLOT_OFFSET;
}

static unsigned int
num_lens(void)
{
	return mergeable ? RTE_DIM(lens) : RTE_DIM(lens) - 1;
}

static unsigned int
num_bufs_of(size_t pkt_len)
{
	return (hdr_len + pkt_len + BUF_LEN - 1) / BUF_LEN;
}

/* --- to the guest --- */

/* Look at what a packet became in the slots from *first* on, and clear them. */
static const char *
check_slots(unsigned int first, size_t pkt_len)
{
	struct virtio_net_hdr_mrg_rxbuf expected = { .num_buffers = num_bufs_of(pkt_len) };
	unsigned int i;
	size_t at = 0;

	if (memcmp(slot(first), &expected, hdr_len) != 0)
		return "a header tells of what is not there";
	for (i = 0; i < num_bufs_of(pkt_len); i++) {
		size_t head = i == 0 ? hdr_len : 0;
		size_t len = RTE_MIN(BUF_LEN - head, pkt_len - at);
		uint32_t used;

		if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &used) < 0)
			return "a buffer is not used";
		if (used != head + len)
			return "a wrong length in the used ring";
		if (!is_pattern(slot(first + i) + head, pkt_len, at, len))
			return "enqueued with wrong bytes";
		memset(slot(first + i), GUEST_FILL, head + len);
		at += len;
	}
	return NULL;
}

/* Submit packets, and wait until the DMA device has copied all. */
static const char *
submit(struct rte_mbuf **pkts, unsigned int num)
{
	const uint64_t deadline = rte_get_tsc_cycles() + PATIENCE_S * rte_get_tsc_hz();
	const int vid = vhost_frontend_vid(frontend);
	struct rte_mbuf *done[BURST];
	unsigned int got = 0;

	if (rte_vhost_submit_enqueue_burst(
		    vid, VHOST_FRONTEND_RX, pkts, num, dma_id, DMA_CHANNEL) != num)
		return "not all packets are submitted";
	if (rte_vhost_async_get_inflight(vid, VHOST_FRONTEND_RX) != (int)num)
		return "another number of packets is in flight than was submitted";
	if (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0)
		return "a buffer is used before its packet is complete";
	while (got < num && rte_get_tsc_cycles() < deadline)
		got += rte_vhost_poll_enqueue_completed(
			vid, VHOST_FRONTEND_RX, done + got, num - got, dma_id, DMA_CHANNEL);
	if (got != num)
		return "packets are not completed";
	return memcmp(pkts, done, num * sizeof(pkts[0])) == 0
		? NULL
		: "packets are completed in another order";
}

static const char *
enqueue_burst(const size_t *pkt_lens, unsigned int num)
{
	struct vhost_frontend_buf buf = { .len = BUF_LEN };
	struct rte_mbuf *pkts[BURST];
	unsigned int i, n, first = 0;
	const char *fault;

	for (i = 0; i < num; i++) {
		for (n = num_bufs_of(pkt_lens[i]); n > 0; n--) {
			buf.addr = slot(first++);
			if (vhost_frontend_post(frontend, VHOST_FRONTEND_RX, &buf, 1, false) < 0)
				return "cannot post a buffer";
		}
		pkts[i] = make_packet(pool, pkt_lens[i]);
		if (pkts[i] == NULL)
			return "no mbuf";
	}
	fault = submit(pkts, num);
	first = 0;
	for (i = 0; i < num && fault == NULL; i++) {
		fault = check_slots(first, pkt_lens[i]);
		first += num_bufs_of(pkt_lens[i]);
	}
	if (fault != NULL)
		return fault; /* the DMA device may have the mbufs */
	rte_pktmbuf_free_bulk(pkts, num);
	return all_are(guest_mem, GUEST_FILL, guest_len) ? NULL : "wrote to another place";
}

/* --- from the guest --- */

static const char *
post_packet(unsigned int i, size_t pkt_len)
{
	const struct vhost_frontend_buf buf = { .addr = slot(i), .len = hdr_len + pkt_len };

	memset(slot(i), 0, hdr_len);
	write_pattern(slot(i) + hdr_len, pkt_len, 0, pkt_len);
	return vhost_frontend_post(frontend, VHOST_FRONTEND_TX, &buf, 1, false) < 0
		? "cannot post a packet"
		: NULL;
}

static const char *
dequeue_burst(const size_t *pkt_lens, unsigned int num)
{
	const uint64_t deadline = rte_get_tsc_cycles() + PATIENCE_S * rte_get_tsc_hz();
	const int vid = vhost_frontend_vid(frontend);
	struct rte_mbuf *pkts[BURST];
	const char *fault = NULL;
	unsigned int i, got = 0;
	int inflight;

	for (i = 0; i < num && fault == NULL; i++)
		fault = post_packet(i, pkt_lens[i]);
	while (fault == NULL && got < num && rte_get_tsc_cycles() < deadline)
		got += rte_vhost_async_try_dequeue_burst(vid, VHOST_FRONTEND_TX, pool, pkts + got,
			num - got, &inflight, dma_id, DMA_CHANNEL);
	if (fault == NULL && got != num)
		fault = "packets are not dequeued";
	for (i = 0; i < got && fault == NULL; i++) {
		fault = check_packet(pkts[i], pkt_lens[i]);
		if (fault == NULL && vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) < 0)
			fault = "a packet's buffer is not given back";
	}
	rte_pktmbuf_free_bulk(pkts, got);
	memset(guest_mem, GUEST_FILL, guest_len);
	return fault;
}

/* --- all --- */

static const char *
run_bursts(void)
{
	size_t pkt_lens[BURST];
	const char *fault = NULL;
	unsigned int round, i;

	for (round = 0; round < ROUNDS && fault == NULL; round++) {
		for (i = 0; i < BURST; i++)
			pkt_lens[i] = lens[(round + i) % num_lens()];
		fault = enqueue_burst(pkt_lens, BURST - round % 2);
		/* From the guest in one buffer each. */
		for (i = 0; i < BURST; i++)
			pkt_lens[i] = RTE_MIN(pkt_lens[i], (size_t)BUF_LEN - MBUF_TAIL);
		if (fault == NULL)
			fault = dequeue_burst(pkt_lens, BURST - round % 2);
	}
	return fault;
}

/* All bursts through a new device. */
static const char *
run_device(uint64_t features)
{
	struct vhost_frontend_config config = {
		.features = features,
		.register_flags = RTE_VHOST_USER_ASYNC_COPY,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN } },
	};
	enum vhost_frontend_queue queue;
	const char *fault;
	int vid;

	mergeable = features & MRG;
	frontend = vhost_frontend_create(&config);
	if (frontend == NULL)
		return "no device";
	vid = vhost_frontend_vid(frontend);
	guest_mem = vhost_frontend_mem(frontend, 0, &guest_len);
	memset(guest_mem, GUEST_FILL, guest_len);
	hdr_len = vhost_frontend_hdr_len(frontend);
	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
		if (rte_vhost_async_channel_register(vid, queue) != 0)
			return "a queue cannot be asynchronous";
	fault = run_bursts();
	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
		if (rte_vhost_async_channel_unregister(vid, queue) != 0 && fault == NULL)
			fault = "a queue cannot stop being asynchronous";
	return fault;
}

static int
test_kind(unsigned int kind)
{
	const unsigned int mbufs = rte_mempool_avail_count(pool);
	const char *fault = run_device(kinds[kind].features);

	vhost_frontend_destroy(frontend);
	frontend = NULL;
	if (fault == NULL && rte_mempool_avail_count(pool) != mbufs)
		fault = "mbufs are lost";
	if (fault == NULL)
		return 0;
	printf("%s: %s\n", kinds[kind].name, fault);
	return -1;
}

static int
start_dma(void)
{
	const struct rte_dma_conf conf = { .nb_vchans = 1 };
	const struct rte_dma_vchan_conf channel = {
		.direction = RTE_DMA_DIR_MEM_TO_MEM,
		.nb_desc = DMA_DESCS,
	};

	dma_id = rte_dma_get_dev_id_by_name(DMA_NAME);
	if (dma_id < 0 || rte_dma_configure(dma_id, &conf) != 0 ||
		rte_dma_vchan_setup(dma_id, DMA_CHANNEL, &channel) != 0 ||
		rte_dma_start(dma_id) != 0)
		return -1;
	return rte_vhost_async_dma_configure(dma_id, DMA_CHANNEL);
}

static int
stop_dma(void)
{
	int ret = rte_vhost_async_dma_unconfigure(dma_id, DMA_CHANNEL);

	rte_dma_stop(dma_id);
	return ret;
}

static int
test_kinds(void)
{
	unsigned int kind;
	int ret = 0;

	if (start_dma() != 0) {
		printf("cannot start a DMA device\n");
		return -1;
	}
	pool = rte_pktmbuf_pool_create(
		"vhost_copy_async", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		ret = -1;
	}
	for (kind = 0; kind < RTE_DIM(kinds) && pool != NULL; kind++)
		if (test_kind(kind) != 0)
			ret = -1;
	if (stop_dma() != 0) {
		printf("cannot stop the DMA device\n");
		ret = -1;
	}
	rte_mempool_free(pool);
	return ret;
}

static int
test_vhost_copy_async(void)
{
	int ret;

	if (rte_vdev_init(DMA_NAME, NULL) != 0) {
		printf("no driver dma/skeleton, or addresses of DMA are not virtual ones\n");
		return TEST_SKIPPED;
	}
	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_ERR);
	ret = test_kinds();
	if (rte_vdev_uninit(DMA_NAME) != 0) {
		printf("cannot let go of the DMA device\n");
		ret = -1;
	}
	return ret;
}

REGISTER_TEST_COMMAND(vhost_copy_async_autotest, test_vhost_copy_async);
