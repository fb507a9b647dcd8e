/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Does vhost log the pages of a guest that it writes, all of them and no others?
 *
 * A guest that is migrated is copied while it runs. What is written and not logged is
 * old on the other side. So all of the guest's memory is compared with what it was
 * before a burst, and each page that differs must be in the log, and no other.
 */

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
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_packets.h"

#define NUM_MBUFS 255
#define PAGE_LEN 4096
/* So many that the descriptors of a packed ring are on two pages. */
#define RING_SIZE 512
#define BURST 32
#define HDR_LEN 12
#define REGION_ADDR 0x100000
#define REGION_LEN (2 * 1024 * 1024)
#define NUM_PAGES (REGION_LEN / PAGE_LEN)
#define SLOT_LEN (2 * PAGE_LEN)
/* Neither what a header has nor a part of a packet, so that each write is seen. */
#define OLD_BYTE 0xfe
#define IOVA_OFFSET 0x700000000

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)
#define INDIRECT (1ULL << VIRTIO_RING_F_INDIRECT_DESC)
/* VIRTIO_F_ACCESS_PLATFORM, whose name depends on the release of Linux. */
#define IOMMU (1ULL << 33)

static const struct kind {
	const char *name;
	uint64_t features;
	uint32_t head_len; /* bytes of a buffer's first descriptor; 0: of all */
} kinds[] = {
	{ "split", 0, 0 },
	{ "split, header in two", 0, 5 },
	{ "split, mergeable", MRG, 0 },
	{ "split, indirect", INDIRECT, HDR_LEN },
	{ "split, IOMMU", IOMMU, 0 },
	{ "packed", PACKED, 0 },
	{ "packed, header in two", PACKED, 5 },
	{ "packed, mergeable", PACKED | MRG, 0 },
	{ "packed, in order", PACKED | IN_ORDER, HDR_LEN },
	{ "packed, indirect", PACKED | INDIRECT, HDR_LEN },
	{ "packed, IOMMU", PACKED | IOMMU, 0 },
};

static const struct kind *kind;
static struct vhost_frontend *frontend;
static struct rte_mempool *pool;
static uint8_t *region; /* with the rings */
static uint8_t *guest_mem;
static uint8_t *before;

/* Post a buffer, which crosses from one page to another at *in_first* bytes. */
static int
post(enum vhost_frontend_queue queue, unsigned int slot, size_t in_first, size_t len)
{
	uint8_t *start = guest_mem + slot * SLOT_LEN + PAGE_LEN - in_first;
	struct vhost_frontend_buf parts[2] = { { .addr = start, .len = len } };

	if (kind->head_len == 0)
		return vhost_frontend_post(frontend, queue, parts, 1, false);
	parts[0].len = kind->head_len;
	parts[1].addr = start + kind->head_len;
	parts[1].len = len - kind->head_len;
	return vhost_frontend_post(frontend, queue, parts, 2, (kind->features & INDIRECT) != 0);
}

/* Compare what is logged with what has changed. */
static const char *
check_log(bool buffers_too)
{
	unsigned int i, num_changed = 0;

	for (i = 0; i < NUM_PAGES; i++) {
		const uint8_t *page = region + i * PAGE_LEN;
		bool changed = memcmp(page, before + i * PAGE_LEN, PAGE_LEN) != 0;

		if (changed && !buffers_too && page >= guest_mem)
			return "wrote to a packet of the guest's";
		if (changed && !vhost_frontend_is_dirty(frontend, page))
			return page < guest_mem ? "wrote to a ring and did not log it"
						: "wrote to a buffer and did not log it";
		num_changed += changed;
	}
	if (vhost_frontend_num_dirty(frontend) != num_changed)
		return "logged a page that it did not write";
	return NULL;
}

static void
start_log(void)
{
	vhost_frontend_clear_log(frontend);
	memcpy(before, region, REGION_LEN);
}

static const char *
check_enqueue(unsigned int num, size_t pkt_len, size_t in_first)
{
	struct rte_mbuf *pkts[BURST];
	const char *fault = NULL;
	unsigned int i, got;

	memset(guest_mem, OLD_BYTE, num * SLOT_LEN);
	for (i = 0; i < num; i++)
		if (post(VHOST_FRONTEND_RX, i, in_first, HDR_LEN + pkt_len) < 0)
			return "cannot post a buffer";
	for (i = 0; i < num; i++) {
		pkts[i] = make_packet(pool, pkt_len);
		if (pkts[i] == NULL)
			break;
	}
	start_log();
	got = rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, pkts, i);
	fault = got == num ? check_log(true) : "not enqueued";
	rte_pktmbuf_free_bulk(pkts, i);
	while (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0)
		;
	return fault;
}

static const char *
check_dequeue(unsigned int num, size_t pkt_len, size_t in_first)
{
	struct rte_mbuf *pkts[BURST];
	const char *fault;
	unsigned int i, got;

	for (i = 0; i < num; i++)
		if (post(VHOST_FRONTEND_TX, i, in_first, HDR_LEN + pkt_len) < 0)
			return "cannot post a packet";
	start_log();
	got = rte_vhost_dequeue_burst(
		vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, pkts, num);
	fault = got == num ? check_log(false) : "not dequeued";
	rte_pktmbuf_free_bulk(pkts, got);
	while (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0)
		;
	return fault;
}

/* Bursts until each ring has turned more than once, by steps that fit no page. */
static const char *
check_bursts(size_t pkt_len, size_t in_first)
{
	static const unsigned int nums[] = { 1, 4, 5, 3, BURST, 7, BURST, 6, BURST - 1, 8 };
	const char *fault = NULL;
	unsigned int i, turns;

	for (turns = 0; turns < 5; turns++)
		for (i = 0; i < RTE_DIM(nums) && fault == NULL; i++) {
			fault = check_enqueue(nums[i], pkt_len, in_first);
			if (fault == NULL)
				fault = check_dequeue(nums[i], pkt_len, in_first);
		}
	if (fault != NULL)
		printf("%s, %zu bytes, %zu on the first page: %s\n", kind->name, pkt_len, in_first,
			fault);
	return fault;
}

static int
test_kind(void)
{
	/* Deferred and at once; on one page, and the header or less alone on its page. */
	static const size_t pkt_lens[] = { 60, 256, 257, 1500 };
	static const size_t in_first[] = { 3, HDR_LEN, 100, PAGE_LEN };
	unsigned int i, j;

	for (i = 0; i < RTE_DIM(pkt_lens); i++)
		for (j = 0; j < RTE_DIM(in_first); j++)
			if (check_bursts(pkt_lens[i], in_first[j]) != NULL)
				return -1;
	return 0;
}

static int
start_device(void)
{
	const struct vhost_frontend_config config = {
		.features = kind->features,
		.dirty_log = true,
		.iova_offset = IOVA_OFFSET,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN } },
	};
	size_t len;

	frontend = vhost_frontend_create(&config);
	if (frontend == NULL)
		return -1;
	guest_mem = vhost_frontend_mem(frontend, 0, &len);
	region = vhost_frontend_rings(frontend, &len);
	if ((kind->features & IOMMU) == 0)
		return 0;
	return vhost_frontend_iotlb_update(frontend, vhost_frontend_iova(frontend, region), region,
		REGION_LEN, VHOST_ACCESS_RW);
}

static int
test_kinds(void)
{
	const unsigned int mbufs = rte_mempool_avail_count(pool);
	int ret = 0;

	for (kind = kinds; kind < kinds + RTE_DIM(kinds); kind++) {
		int failed = start_device() != 0 || test_kind() != 0;

		vhost_frontend_destroy(frontend);
		frontend = NULL;
		if (rte_mempool_avail_count(pool) != mbufs) {
			printf("%s: mbufs are lost\n", kind->name);
			failed = 1;
		}
		printf("%s: %s\n", kind->name, failed ? "failed" : "passed");
		if (failed)
			ret = -1;
	}
	return ret;
}

static int
test_vhost_dirty_log(void)
{
	int ret = -1;

	pool = rte_pktmbuf_pool_create(
		"vhost_dirty_log", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	before = rte_malloc(NULL, REGION_LEN, 0);
	if (pool == NULL || before == NULL) {
		printf("no memory\n");
	} else {
		rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_ERR);
		ret = test_kinds();
	}
	rte_free(before);
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_dirty_log_autotest, test_vhost_dirty_log);
