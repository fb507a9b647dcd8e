/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Are packets in one mbuf and one buffer copied right by the short way, behind an IOMMU?
 *
 * Each page of the guest's stands for another one, by what vhost is told, and no two that
 * follow each other do so in memory. At each place of a burst a buffer is one that vhost
 * does not know, may not use, or that is in two pieces.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/vhost_types.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>

#include <rte_common.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_packets.h"

#define NUM_MBUFS 127
#define RING_SIZE 64
/* Two groups of those that the short way copies at once, or more. */
#define BURST 32
/* What DPDK's own way looks at together in packed rings. */
#define BATCH 4
#define PAGE 4096
#define NUM_PAGES 80
#define RINGS_ROOM (1024 * 1024)
#define REGION_ADDR 0x100000
#define IOVA_OFFSET 0x7000000000
/* Where buffers are in their pages. */
#define AT 100
#define BUF_LEN 512
#define PKT_LEN 200
/* The page of a buffer that ends in the next one, and how much of it is before that. */
#define EDGE_PAGE 34
#define EDGE_LEN 60
#define NONE 0
#define NOWHERE UINT32_MAX

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
/* VIRTIO_F_ACCESS_PLATFORM, whose name depends on the release of Linux. */
#define IOMMU (1ULL << 33)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)

#define CHECK(condition, what) \
	do { \
		if (!(condition)) \
			return what; \
	} while (0)
#define TRY(call) \
	do { \
		const char *fault_ = call; \
		if (fault_ != NULL) \
			return fault_; \
	} while (0)

static const struct {
	const char *name;
	uint64_t features;
} kinds[] = {
	{ "split", 0 },
	{ "split, mergeable", MRG },
	{ "packed", PACKED },
	{ "packed, mergeable, in order", PACKED | MRG | IN_ORDER },
};

/* What the device needs of a queue's buffers, and what is of no use to it. */
static const uint8_t needed[] = { VHOST_ACCESS_RW, VHOST_ACCESS_RO };
static const uint8_t useless[] = { VHOST_ACCESS_RO, VHOST_ACCESS_WO };
static const char *const queue_names[] = { "to the guest", "from the guest" };

static struct rte_mempool *pool;
static struct vhost_frontend *frontend;
static uint64_t features;
static uint32_t hdr_len;
static uint8_t *pages;
/* The page that a page of the guest's stands for. */
static uint32_t stands_for[NUM_PAGES];
/* Number of the buffer that is at an edge. */
static uint32_t at_edge;

/* --- memory --- */

static uint8_t *
page(uint32_t i)
{
	return pages + (size_t)i * PAGE;
}

/* A byte of the guest's, by its address from that of the first page on. */
static uint8_t *
byte_of(uint32_t addr)
{
	return page(stands_for[addr / PAGE]) + addr % PAGE;
}

static uint32_t
buf_addr(uint32_t i)
{
	return i == at_edge ? (EDGE_PAGE + 1) * PAGE - EDGE_LEN : i * PAGE + AT;
}

static uint64_t
iova_of(uint32_t addr)
{
	return vhost_frontend_iova(frontend, pages) + addr;
}

static bool
tell(uint32_t i, uint8_t perm)
{
	return vhost_frontend_iotlb_update(
		       frontend, iova_of(i * PAGE), page(stands_for[i]), PAGE, perm) == 0;
}

static bool
forget(uint32_t i)
{
	return vhost_frontend_iotlb_invalidate(frontend, iova_of(i * PAGE), PAGE) == 0;
}

/* Have a page stand for another one. */
static bool
move(uint32_t i, uint32_t to, uint8_t perm)
{
	stands_for[i] = to;
	return forget(i) && tell(i, perm);
}

/* No page continues its neighbour, and those with buffers stand for others. */
static uint32_t
usual(uint32_t i)
{
	return NUM_PAGES - 1 - i;
}

static const char *
fresh_device(uint8_t perm)
{
	const struct vhost_frontend_config config = {
		.features = features | IOMMU,
		.register_flags = RTE_VHOST_USER_NET_STATS_ENABLE,
		.iova_offset = IOVA_OFFSET,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { REGION_ADDR, RINGS_ROOM + NUM_PAGES * PAGE } },
	};
	size_t len;
	uint32_t i;

	frontend = vhost_frontend_create(&config);
	CHECK(frontend != NULL, "no device");
	hdr_len = vhost_frontend_hdr_len(frontend);
	pages = vhost_frontend_mem(frontend, 0, &len);
	CHECK(len >= NUM_PAGES * PAGE, "no room for rings");
	pages += len - NUM_PAGES * PAGE;
	memset(pages, GUEST_FILL, NUM_PAGES * PAGE);
	at_edge = NOWHERE;
	for (i = 0; i < NUM_PAGES; i++) {
		stands_for[i] = usual(i);
		CHECK(tell(i, perm), "translation refused");
	}
	return NULL;
}

/* --- packets: each has a length of its own --- */

static const char *
post(enum vhost_frontend_queue queue, uint32_t i)
{
	const uint32_t pkt_len = PKT_LEN + i;
	struct vhost_frontend_buf buf = { .addr = pages + buf_addr(i), .len = BUF_LEN };
	uint8_t packet[BUF_LEN] = { 0 };
	uint32_t n;

	if (queue == VHOST_FRONTEND_TX) {
		buf.len = hdr_len + pkt_len;
		write_pattern(packet + hdr_len, pkt_len, 0, pkt_len);
		for (n = 0; n < buf.len; n++)
			*byte_of(buf_addr(i) + n) = packet[n];
	}
	CHECK(vhost_frontend_post(frontend, queue, &buf, 1, false) >= 0, "cannot post a buffer");
	return NULL;
}

static const char *
post_burst(enum vhost_frontend_queue queue)
{
	uint32_t i;

	for (i = 0; i < BURST; i++)
		TRY(post(queue, i));
	return NULL;
}

/* Look at a packet in the guest's memory, and take it out of there. */
static const char *
check_received(uint32_t i)
{
	const uint32_t pkt_len = PKT_LEN + i;
	uint8_t packet[BUF_LEN];
	uint32_t n;

	for (n = 0; n < hdr_len + pkt_len; n++) {
		packet[n] = *byte_of(buf_addr(i) + n);
		*byte_of(buf_addr(i) + n) = GUEST_FILL;
	}
	CHECK(is_pattern(packet + hdr_len, pkt_len, 0, pkt_len), "enqueued with wrong bytes");
	return NULL;
}

/* Enqueue packets from number *from* on, in one burst, of which *expected* go. */
static const char *
enqueue_from(uint32_t from, uint32_t expected)
{
	const uint32_t num = BURST - from;
	struct rte_mbuf *pkts[BURST];
	uint32_t i, got;

	for (i = 0; i < num; i++)
		pkts[i] = make_packet(pool, PKT_LEN + from + i);
	got = rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, pkts, num);
	rte_pktmbuf_free_bulk(pkts, num);
	CHECK(got == expected, "more or fewer packets enqueued than can be");
	for (i = from; i < from + got; i++) {
		CHECK(vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0, "not used");
		TRY(check_received(i));
	}
	CHECK(all_are(pages, GUEST_FILL, NUM_PAGES * PAGE), "wrote elsewhere, too");
	return NULL;
}

static const char *
dequeue_from(uint32_t from, uint32_t expected)
{
	struct rte_mbuf *pkts[BURST];
	const char *fault = NULL;
	uint32_t i, got;

	got = rte_vhost_dequeue_burst(
		vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, pkts, BURST - from);
	for (i = 0; i < got && fault == NULL; i++)
		fault = check_packet(pkts[i], PKT_LEN + from + i);
	rte_pktmbuf_free_bulk(pkts, got);
	CHECK(got == expected, "more or fewer packets dequeued than can be");
	for (i = 0; i < got; i++)
		CHECK(vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0,
			"not given back");
	return fault;
}

static const char *
copy_from(enum vhost_frontend_queue queue, uint32_t from, uint32_t expected)
{
	const char *fault = queue == VHOST_FRONTEND_RX ? enqueue_from(from, expected)
						       : dequeue_from(from, expected);

	if (fault == NULL && vhost_frontend_poll(frontend, queue, NULL) >= 0)
		fault = "more buffers used than there are packets";
	return fault;
}

/* --- what vhost asks for and counts --- */

static bool
no_miss(void)
{
	struct vhost_frontend_miss miss;

	return vhost_frontend_next_miss(frontend, &miss) == 0;
}

/* Whether one miss was sent, and no other. */
static bool
missed(uint64_t iova, uint8_t perm)
{
	struct vhost_frontend_miss miss;

	return vhost_frontend_next_miss(frontend, &miss) == 1 && miss.iova == iova &&
		miss.perm == perm && no_miss();
}

static uint64_t
counter(enum vhost_frontend_queue queue, const char *name)
{
	const int vid = vhost_frontend_vid(frontend);
	struct rte_vhost_stat_name names[64];
	struct rte_vhost_stat stats[64];
	int i, num = rte_vhost_vring_stats_get_names(vid, queue, names, RTE_DIM(names));

	if (num <= 0 || rte_vhost_vring_stats_get(vid, queue, stats, RTE_DIM(stats)) != num)
		return UINT64_MAX;
	for (i = 0; i < num; i++)
		if (strstr(names[i].name, name) != NULL)
			return stats[i].value;
	return UINT64_MAX;
}

/*
 * Whether as many translations were found as packets were copied. In a packed ring DPDK's
 * own way looks up four, and one by one again if one of them is missing.
 */
static bool
has_hits(enum vhost_frontend_queue queue, uint32_t num)
{
	return ((features & PACKED) && num % BATCH == 0 && num != BURST) ||
		counter(queue, "iotlb_hits") == num;
}

/* --- cases: at each place of a burst --- */

/* A buffer that is not known, or not for this use, and then it is. */
static const char *
burst_with_miss(enum vhost_frontend_queue queue, uint32_t at, uint8_t known)
{
	const uint8_t perm = needed[queue];

	CHECK(forget(at) && (known == NONE || tell(at, known)), "refused");
	TRY(post_burst(queue));
	rte_vhost_vring_stats_reset(vhost_frontend_vid(frontend), queue);
	TRY(copy_from(queue, 0, at));
	CHECK(has_hits(queue, at), "looked up otherwise than the short way does");
	CHECK(missed(iova_of(buf_addr(at)), perm), "no miss, or others");
	TRY(copy_from(queue, at, 0));
	CHECK(no_miss(), "asked for again");
	CHECK(tell(at, perm), "translation refused");
	TRY(copy_from(queue, at, BURST - at));
	CHECK(no_miss(), "a miss of what is known");
	return NULL;
}

static const char *
unknown(enum vhost_frontend_queue queue, uint32_t at)
{
	return burst_with_miss(queue, at, NONE);
}

static const char *
not_permitted(enum vhost_frontend_queue queue, uint32_t at)
{
	return burst_with_miss(queue, at, useless[queue]);
}

/* All are known; one begins in a page and ends in the next one, which is there or elsewhere. */
static const char *
burst_over_edge(enum vhost_frontend_queue queue, uint32_t at, bool apart)
{
	const uint32_t next = EDGE_PAGE + 1;

	at_edge = at;
	CHECK(move(next, apart ? usual(next) : usual(EDGE_PAGE) + 1, needed[queue]), "refused");
	TRY(post_burst(queue));
	rte_vhost_vring_stats_reset(vhost_frontend_vid(frontend), queue);
	TRY(copy_from(queue, 0, BURST));
	CHECK(no_miss(), "a miss of what is known");
	CHECK(apart || counter(queue, "iotlb_hits") == BURST, "wrong number of hits");
	return NULL;
}

static const char *
apart_in_memory(enum vhost_frontend_queue queue, uint32_t at)
{
	return burst_over_edge(queue, at, true);
}

static const char *
over_pages(enum vhost_frontend_queue queue, uint32_t at)
{
	return burst_over_edge(queue, at, false);
}

/* Between bursts a page comes to be another one, and then none. */
static const char *
invalidated(enum vhost_frontend_queue queue, uint32_t at)
{
	const uint8_t perm = needed[queue];

	TRY(post_burst(queue));
	TRY(copy_from(queue, 0, BURST));
	CHECK(move(at, NUM_PAGES / 2, perm), "refused");
	TRY(post_burst(queue));
	TRY(copy_from(queue, 0, BURST));
	CHECK(no_miss(), "a miss of what is known");
	CHECK(forget(at), "refused");
	TRY(post_burst(queue));
	TRY(copy_from(queue, 0, at));
	CHECK(missed(iova_of(buf_addr(at)), perm), "no miss, or others");
	CHECK(move(at, usual(at), perm), "refused");
	TRY(copy_from(queue, at, BURST - at));
	return NULL;
}

/*
 * Behind a packet that is none for the short way come four which may only be read, at a
 * place of a packed ring where DPDK's own way takes four at once.
 */
static const char *
batch_to_read(enum vhost_frontend_queue queue, uint32_t at)
{
	const uint32_t first = BURST - BATCH - 1;
	struct vhost_frontend_buf parts[BATCH];
	uint32_t i, n;

	if (queue != VHOST_FRONTEND_TX || at != 0)
		return NULL;
	/* As many as a batch of a packed ring, which begins at such a place; packet *first* stays. */
	for (i = 0; i < BATCH; i++) {
		TRY(post(queue, first));
		TRY(dequeue_from(first, 1));
	}
	for (n = 0; n < BATCH; n++) {
		parts[n].addr = pages + buf_addr(first) + 40 * n;
		parts[n].len = n == BATCH - 1 ? hdr_len + PKT_LEN + first - 40 * n : 40;
	}
	CHECK(vhost_frontend_post(frontend, queue, parts, BATCH, false) >= 0, "cannot post");
	for (i = first + 1; i < BURST; i++)
		TRY(post(queue, i));
	TRY(dequeue_from(first, BATCH + 1));
	CHECK(no_miss(), "asks to write what it reads");
	return NULL;
}

static const struct {
	const char *name;
	const char *(*run)(enum vhost_frontend_queue queue, uint32_t at);
} cases[] = {
	{ "a buffer that is not known", unknown },
	{ "a buffer for another use", not_permitted },
	{ "a buffer apart in memory", apart_in_memory },
	{ "a buffer over two pages", over_pages },
	{ "an invalidation", invalidated },
	{ "buffers to read only", batch_to_read },
};

static int
test_case(unsigned int kind, unsigned int i, enum vhost_frontend_queue queue)
{
	const unsigned int mbufs = rte_mempool_avail_count(pool);
	const char *fault;
	uint32_t at;

	features = kinds[kind].features;
	fault = fresh_device(needed[queue]);
	for (at = 0; at < BURST && fault == NULL; at++)
		fault = cases[i].run(queue, at);
	vhost_frontend_destroy(frontend);
	frontend = NULL;
	if (fault == NULL && rte_mempool_avail_count(pool) != mbufs)
		fault = "mbufs are lost";
	if (fault == NULL)
		return 0;
	printf("%s, %s, %s, at %u: %s\n", kinds[kind].name, queue_names[queue], cases[i].name,
		at - 1, fault);
	return -1;
}

static int
test_vhost_copy_singles_iommu(void)
{
	enum vhost_frontend_queue queue;
	unsigned int kind, i;
	int ret = 0;

	pool = rte_pktmbuf_pool_create(
		"vhost_singles_iommu", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_CRIT);
	for (kind = 0; kind < RTE_DIM(kinds); kind++)
		for (i = 0; i < RTE_DIM(cases); i++)
			for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
				if (test_case(kind, i, queue) != 0)
					ret = -1;
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_copy_singles_iommu_autotest, test_vhost_copy_singles_iommu);
