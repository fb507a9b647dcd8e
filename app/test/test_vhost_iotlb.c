/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Does vhost read and write where the virtual IOMMU says, at once when that changes, and
 * ask for what it does not know?
 *
 * The IOVA of a buffer need not be that of the front end: the tests tell vhost that a
 * page of IOVA is any page of the guest's. Each page is full of a byte of its own.
 * One buffer stays posted, and its descriptor is pointed to what is to be tried.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vhost_types.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>
#include <vdpa_driver.h>

#include "test.h"
#include "vhost_frontend.h"
#include "vhost_frontend_ring.h"

#define PAGE 4096
#define NUM_PAGES 16
#define REGION_LEN (4 * 1024 * 1024)
#define NEXT_REGION_LEN (16 * PAGE)
#define REGION_ADDR 0x100000
/* Of the rings; higher than what test_forget_all() leaves. */
#define IOVA_OFFSET 0x700000000
/* Of pages that the tests tell of. */
#define IOVA 0x40000000
#define HDR_LEN 12
#define PKT_LEN 100
#define CAPACITY 2048
#define NUM_MBUFS 63
#define IOMMU (1ULL << 33)
#define PACKED (1ULL << 34)
#define BIG_RING 1024

#define CHECK(condition, what) \
	do { \
		if (!(condition)) \
			return what; \
	} while (0)

static struct vhost_frontend *frontend;
static struct rte_mempool *pool;
static uint8_t *mem;
static bool posted[VHOST_FRONTEND_QUEUES];
/* Where the posted buffer is in a packed ring. */
static uint16_t place[VHOST_FRONTEND_QUEUES];

static uint64_t
iova_of(unsigned int page)
{
	return IOVA + (uint64_t)page * PAGE;
}

static uint8_t *
mem_of(unsigned int page)
{
	return mem + page * PAGE;
}

static uint8_t
byte_of(unsigned int page)
{
	return 1 + page;
}

/* --- packets --- */

/* Have one buffer posted, and let it be at an address. */
static int
point(enum vhost_frontend_queue queue, uint64_t iova, uint32_t len)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);
	static int ids[VHOST_FRONTEND_QUEUES];

	if (!posted[queue]) {
		place[queue] = ring->next_avail;
		ids[queue] = vhost_frontend_post(frontend, queue,
			&(struct vhost_frontend_buf){ .addr = mem, .len = PAGE }, 1, false);
		if (ids[queue] < 0)
			return -1;
		posted[queue] = true;
	}
	if (ring->packed) {
		ring->packed_desc[place[queue]].addr = iova;
		ring->packed_desc[place[queue]].len = len;
	} else {
		ring->desc[ids[queue]].addr = iova;
		ring->desc[ids[queue]].len = len;
	}
	return 0;
}

/* Whether vhost takes a packet from an address, and its bytes are those of pages. */
static bool
reads(uint64_t iova, uint32_t first_len, uint8_t first, uint32_t second_len, uint8_t second)
{
	struct rte_mbuf *m = NULL;
	const uint8_t *data;
	bool right = true;
	uint32_t i;

	if (point(VHOST_FRONTEND_TX, iova, HDR_LEN + first_len + second_len) != 0 ||
		rte_vhost_dequeue_burst(
			vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, &m, 1) != 1)
		return false;
	posted[VHOST_FRONTEND_TX] = false;
	data = rte_pktmbuf_mtod(m, const uint8_t *);
	if (m->nb_segs != 1 || m->pkt_len != first_len + second_len)
		right = false;
	for (i = 0; right && i < m->pkt_len; i++)
		right = data[i] == (i < first_len ? first : second);
	rte_pktmbuf_free(m);
	return vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0 && right;
}

static bool
reads_page(uint64_t iova, unsigned int page)
{
	return reads(iova, PKT_LEN, byte_of(page), 0, 0);
}

/* Whether vhost takes a packet of one byte for the guest. */
static bool
enqueue_one(uint32_t len, uint8_t byte)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	bool done;

	if (m == NULL)
		return false;
	memset(rte_pktmbuf_append(m, len), byte, len);
	done = rte_vhost_enqueue_burst(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, &m, 1) == 1;
	rte_pktmbuf_free(m);
	return done;
}

/* Whether vhost puts a packet of one byte to an address. */
static bool
writes(uint64_t iova, uint32_t len, uint8_t byte)
{
	if (point(VHOST_FRONTEND_RX, iova, HDR_LEN + len) != 0 || !enqueue_one(len, byte))
		return false;
	posted[VHOST_FRONTEND_RX] = false;
	return vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0;
}

static bool
all_are(const uint8_t *bytes, uint8_t byte, size_t len)
{
	return bytes[0] == byte && memcmp(bytes, bytes + 1, len - 1) == 0;
}

/* --- translations --- */

static bool
tell(uint64_t iova, const uint8_t *addr, uint64_t len, uint8_t perm)
{
	return vhost_frontend_iotlb_update(frontend, iova, addr, len, perm) == 0;
}

static bool
tell_page(unsigned int page, unsigned int is)
{
	return tell(iova_of(page), mem_of(is), PAGE, VHOST_ACCESS_RW);
}

static bool
forget(uint64_t iova, uint64_t len)
{
	return vhost_frontend_iotlb_invalidate(frontend, iova, len) == 0;
}

/* Number of misses that were sent. */
static unsigned int
count_misses(void)
{
	struct vhost_frontend_miss miss;
	unsigned int num = 0;

	while (vhost_frontend_next_miss(frontend, &miss) == 1)
		num++;
	return num;
}

/* Whether one miss was sent, and no other. */
static bool
missed(uint64_t iova, uint8_t perm)
{
	struct vhost_frontend_miss miss;

	return vhost_frontend_next_miss(frontend, &miss) == 1 && miss.iova == iova &&
		miss.perm == perm && count_misses() == 0;
}

/* Whether a page is not known, and is asked for. */
static bool
is_unknown(uint64_t iova)
{
	return !reads(iova, PKT_LEN, 0, 0, 0) && missed(iova, VHOST_ACCESS_RO);
}

static bool
is_ready(void)
{
	return vhost_frontend_queue_ready(frontend, VHOST_FRONTEND_RX) == 1 &&
		vhost_frontend_queue_ready(frontend, VHOST_FRONTEND_TX) == 1;
}

static bool
tell_rings(void)
{
	size_t len;
	uint8_t *rings = vhost_frontend_rings(frontend, &len);
	bool told = tell(vhost_frontend_iova(frontend, rings), rings, len, VHOST_ACCESS_RW);

	count_misses();
	return told;
}

/* --- counters --- */

/* Of the queue that the guest transmits by; UINT64_MAX if there is none of the name. */
static uint64_t
counter(const char *name)
{
	struct rte_vhost_stat_name names[64];
	struct rte_vhost_stat stats[64];
	const int vid = vhost_frontend_vid(frontend);
	int num = rte_vhost_vring_stats_get_names(vid, VHOST_FRONTEND_TX, names, RTE_DIM(names));
	int i;

	if (rte_vhost_vring_stats_get(vid, VHOST_FRONTEND_TX, stats, RTE_DIM(stats)) != num)
		return UINT64_MAX;
	for (i = 0; i < num; i++)
		if (strstr(names[i].name, name) != NULL)
			return stats[i].value;
	return UINT64_MAX;
}

/* --- which addresses --- */

static const char *
test_neighbours(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		CHECK(tell(iova_of(i), mem_of(2 * i), PAGE, VHOST_ACCESS_RW), "not taken");
	CHECK(forget(iova_of(1), PAGE), "not forgotten");
	CHECK(reads_page(iova_of(0), 0), "the one below is gone, too");
	CHECK(reads_page(iova_of(2), 4), "the one above is gone, too");
	CHECK(is_unknown(iova_of(1)), "is still known");
	return NULL;
}

static const char *
test_part_of_page(void)
{
	CHECK(tell(iova_of(0), mem_of(0), 4 * PAGE, VHOST_ACCESS_RW), "not taken");
	CHECK(forget(iova_of(1), 2 * PAGE), "not forgotten");
	CHECK(reads_page(iova_of(0), 0), "what is below is gone, too");
	CHECK(is_unknown(iova_of(1)) && is_unknown(iova_of(2)), "is still known");
	CHECK(reads_page(iova_of(3), 3), "what is above is gone, too");
	return NULL;
}

static const char *
test_apart(void)
{
	const uint64_t iova = iova_of(1) - HDR_LEN - 60;
	uint8_t *low = mem_of(0) + PAGE - HDR_LEN - 60;

	CHECK(tell_page(0, 0) && tell_page(1, 5), "not taken");
	memset(low, 0, HDR_LEN);
	memset(mem_of(5), byte_of(5), HDR_LEN);
	CHECK(reads(iova, 60, byte_of(0), 40, byte_of(5)), "a packet is not read from both");
	CHECK(writes(iova, 100, 0xaa), "a packet is not written to both");
	CHECK(all_are(low + HDR_LEN, 0xaa, 60) && all_are(mem_of(5), 0xaa, 40),
		"a packet is not written where it belongs");
	CHECK(all_are(mem_of(1) + HDR_LEN, byte_of(1), PAGE - HDR_LEN), "elsewhere, too");
	CHECK(count_misses() == 0, "a miss of what is known");
	return NULL;
}

/* A buffer whose second page is not known: the rest is asked for, once, and goes on. */
static const char *
test_second_page(void)
{
	const uint64_t iova = iova_of(1) - HDR_LEN - 60;

	CHECK(tell_page(0, 0), "not taken");
	memset(mem_of(0) + PAGE - HDR_LEN - 60, 0, HDR_LEN);
	CHECK(!reads(iova, 100, 0, 0, 0) && missed(iova_of(1), VHOST_ACCESS_RO),
		"the second page is not asked for");
	CHECK(!reads(iova, 100, 0, 0, 0) && count_misses() == 0, "asked for again");
	memset(mem_of(7), byte_of(7), HDR_LEN);
	CHECK(tell_page(1, 7), "not taken");
	CHECK(reads(iova, 60, byte_of(0), 40, byte_of(7)) && count_misses() == 0,
		"not read when it is known");
	return NULL;
}

static const char *
test_odd_sizes(void)
{
	const uint32_t len = 3 * 1024;
	unsigned int i;

	/* In every second place of 3 KiB of the guest's memory. */
	for (i = 0; i < 4; i++) {
		memset(mem + 2 * i * len, byte_of(i), len);
		CHECK(tell(IOVA + i * len, mem + 2 * i * len, len, VHOST_ACCESS_RW), "not taken");
	}
	memset(mem + len - HDR_LEN - 50, 0, HDR_LEN);
	CHECK(reads(IOVA + len - HDR_LEN - 50, 50, byte_of(0), 50, byte_of(1)),
		"not read from two of them");
	CHECK(forget(IOVA + len, len), "not forgotten");
	memset(mem, 0, HDR_LEN);
	memset(mem + 4 * len, 0, HDR_LEN);
	CHECK(reads_page(IOVA, 0) && reads_page(IOVA + 2 * len, 2), "neighbours are gone, too");
	CHECK(is_unknown(IOVA + len), "is still known");
	return NULL;
}

static const char *
test_to_the_end(void)
{
	const uint64_t last_page = UINT64_MAX - PAGE + 1;

	CHECK(tell_page(0, 0) && tell_page(1, 1), "not taken");
	CHECK(tell(last_page, mem_of(2), PAGE, VHOST_ACCESS_RW), "the last page not taken");
	CHECK(reads_page(last_page, 2), "the last page is not known");
	CHECK(forget(iova_of(1), UINT64_MAX - iova_of(1) + 1) && tell_rings(), "not forgotten");
	CHECK(reads_page(iova_of(0), 0), "what is below is gone, too");
	CHECK(is_unknown(iova_of(1)) && is_unknown(last_page), "is still known");
	CHECK(tell_page(1, 1) && forget(iova_of(1), UINT64_MAX) && tell_rings(), "refused");
	CHECK(reads_page(iova_of(0), 0), "what is below is gone with what goes beyond the end");
	CHECK(is_unknown(iova_of(1)), "is still known with what goes beyond the end");
	CHECK(forget(0, 0) && tell_rings() && is_unknown(iova_of(0)), "2^64 bytes are not all");
	return NULL;
}

/* As QEMU has a device forget all, but for where interrupts are sent to. */
static const char *
test_forget_all(void)
{
	const uint64_t high = 0xfef00000;

	CHECK(tell_page(0, 0) && tell(high, mem_of(1), PAGE, VHOST_ACCESS_RW), "not taken");
	CHECK(forget(high, 0xffffffff01100000), "refused");
	CHECK(!is_ready() && tell_rings() && is_ready(), "the rings are not forgotten");
	CHECK(is_unknown(high), "the higher part is still known");
	CHECK(reads_page(iova_of(0), 0), "the lower part is gone, too");
	CHECK(forget(0, 0xfee00000) && is_unknown(iova_of(0)), "the lower part is still known");
	CHECK(is_ready(), "the rings are forgotten, too");
	return NULL;
}

/* --- what is allowed, and what is newer --- */

static const char *
test_permission(void)
{
	CHECK(!writes(iova_of(1), PKT_LEN, 0xaa) && missed(iova_of(1), VHOST_ACCESS_RW), "known");
	CHECK(is_unknown(iova_of(1)), "not asked for with less permission");
	CHECK(is_unknown(iova_of(0)), "known");
	CHECK(!writes(iova_of(0), PKT_LEN, 0xaa) && count_misses() == 1,
		"not asked for with another permission");
	CHECK(forget(iova_of(0), PAGE), "not forgotten");
	CHECK(!writes(iova_of(0), PKT_LEN, 0xaa) && count_misses() == 1, "not asked for again");
	CHECK(tell(iova_of(0), mem_of(0), PAGE, VHOST_ACCESS_RO), "not taken");
	CHECK(!writes(iova_of(0), PKT_LEN, 0xaa) && count_misses() == 0,
		"a smaller permission answers a miss of more");
	CHECK(forget(iova_of(0), PAGE), "not forgotten");
	CHECK(tell(iova_of(0), mem_of(0), PAGE, VHOST_ACCESS_RO), "not taken");
	CHECK(!writes(iova_of(0), PKT_LEN, 0xaa), "written to what may be read only");
	CHECK(missed(iova_of(0), VHOST_ACCESS_RW), "no miss, or another one");
	CHECK(tell_page(0, 0) && writes(iova_of(0), PKT_LEN, 0xaa), "still not to be written");
	CHECK(all_are(mem_of(0) + HDR_LEN, 0xaa, PKT_LEN), "not written");
	CHECK(tell(iova_of(0), mem_of(0), PAGE, VHOST_ACCESS_RO), "not taken");
	CHECK(!writes(iova_of(0), PKT_LEN, 0xbb), "written to what may be read only now");
	return NULL;
}

/* Whether a table of descriptors is asked for, which the device only reads. */
static bool
misses_table(uint64_t iova)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_RX);
	uint16_t *flags;
	bool missing;

	if (point(VHOST_FRONTEND_RX, iova, VHOST_FRONTEND_DESC_LEN) != 0)
		return false;
	flags = ring->packed
		? &ring->packed_desc[place[VHOST_FRONTEND_RX]].flags
		: &ring->desc[ring->avail->ring[place[VHOST_FRONTEND_RX] % ring->size]].flags;
	*flags ^= VRING_DESC_F_INDIRECT | VRING_DESC_F_WRITE;
	missing = !enqueue_one(PKT_LEN, 0xaa) && missed(iova, VHOST_ACCESS_RO);
	*flags ^= VRING_DESC_F_INDIRECT | VRING_DESC_F_WRITE;
	return missing;
}

/* One queue asks for the same address with two permissions, in both orders. */
static const char *
test_two_permissions(void)
{
	CHECK(!writes(iova_of(0), PKT_LEN, 0xaa) && missed(iova_of(0), VHOST_ACCESS_RW), "known");
	CHECK(misses_table(iova_of(0)), "not asked for with less permission");
	CHECK(!writes(iova_of(0), PKT_LEN, 0xaa) && count_misses() == 0, "asked for again");
	CHECK(misses_table(iova_of(1)), "not asked for");
	CHECK(!writes(iova_of(1), PKT_LEN, 0xaa) && missed(iova_of(1), VHOST_ACCESS_RW),
		"not asked for with more permission");
	CHECK(tell_page(0, 0) && writes(iova_of(0), PKT_LEN, 0xaa), "not known");
	return NULL;
}

static const char *
test_part_of_permission(void)
{
	CHECK(tell(iova_of(0), mem_of(0), 4 * PAGE, VHOST_ACCESS_RO), "not taken");
	CHECK(tell_page(1, 1), "not taken");
	CHECK(writes(iova_of(1), PKT_LEN, 0xaa), "an older range hides a newer one in it");
	CHECK(count_misses() == 0, "a miss of what is known");
	CHECK(!writes(iova_of(0), PKT_LEN, 0xaa) && !writes(iova_of(2), PKT_LEN, 0xaa),
		"a newer one is larger than it is");
	return NULL;
}

static const char *
test_remap(void)
{
	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0), "not known");
	CHECK(tell_page(0, 3) && reads_page(iova_of(0), 3), "the older one is still known");
	return NULL;
}

static char log_text[512];

/* Have the log come here, until the end of it. */
static FILE *
begin_log(void)
{
	FILE *log = fmemopen(memset(log_text, 0, sizeof(log_text)), sizeof(log_text) - 1, "w");

	if (log != NULL)
		rte_openlog_stream(log);
	return log;
}

static const char *
end_log(FILE *log)
{
	rte_openlog_stream(NULL);
	fclose(log);
	return log_text;
}

/* Whether an update is refused, and a line of the log tells so. */
static bool
is_refused(uint64_t iova, const void *addr, uint64_t len, uint8_t perm)
{
	FILE *log = begin_log();
	bool refused;

	if (log == NULL)
		return false;
	refused = vhost_frontend_iotlb_update(frontend, iova, addr, len, perm) != 0;
	return strstr(end_log(log), "IOTLB: update refused") != NULL && refused;
}

static const char *
test_refused(void)
{
	CHECK(tell_page(0, 0), "not taken");
	CHECK(is_refused(0, NULL, 0, VHOST_ACCESS_RW), "nothing at all is taken");
	CHECK(is_refused(iova_of(0), mem_of(1), 0, VHOST_ACCESS_RW), "0 bytes are taken");
	CHECK(is_refused(UINT64_MAX - PAGE + 1, mem_of(1), PAGE + 1, VHOST_ACCESS_RW),
		"what goes beyond the last address is taken");
	CHECK(is_refused(iova_of(0), mem_of(1), PAGE, 0), "permission 0 is taken");
	CHECK(is_refused(iova_of(0), mem_of(1), PAGE, 4), "permission 4 is taken");
	CHECK(reads_page(iova_of(0), 0), "what was known is gone");
	return NULL;
}

/* --- when --- */

static const char *
test_before_rings(void)
{
	CHECK(is_ready(), "not ready");
	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0), "not known");
	return NULL;
}

static const char *
test_other_memory(void)
{
	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0), "not known");
	CHECK(vhost_frontend_keep_regions(frontend, 1) == 0, "refused");
	CHECK(!is_ready(), "the rings are still known");
	CHECK(tell_rings() && is_ready(), "not ready when the rings are known again");
	CHECK(is_unknown(iova_of(0)), "what was in other memory is still known");
	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0), "not known again");
	return NULL;
}

/* --- limits --- */

/* What is known no more, and which that is, in one number. */
static unsigned int
count_unknown(unsigned int num, uint64_t *which)
{
	unsigned int i, unknown = 0;

	*which = 0;
	for (i = 0; i < num; i++) {
		if (!is_unknown(iova_of(2 * i)))
			continue;
		unknown++;
		*which = *which * 31 + i;
	}
	return unknown;
}

static const char *
test_full(void)
{
	const unsigned int more = 100, num = CAPACITY + more;
	static uint64_t last_which;
	unsigned int i, unknown;
	uint64_t which;

	/* Asked for first, so that it is seen whether an answer makes room for asking again. */
	for (i = 0; i < num; i++) {
		CHECK(is_unknown(iova_of(2 * i)), "known, or not asked for");
		CHECK(tell(iova_of(2 * i), mem_of(0), PAGE, VHOST_ACCESS_RW), "not taken");
		CHECK(i % 64 != 0 || reads_page(iova_of(2 * i), 0), "the newest is not known");
	}
	unknown = count_unknown(num, &which);
	/* The rings are one more, and stay. */
	CHECK(unknown == more + 1, "not as many had to go as there is no room for");
	CHECK(which != last_which, "the same had to go as in another device");
	last_which = which;
	CHECK(reads_page(iova_of(2 * (num - 1)), 0), "the last one had to go for a miss");
	CHECK(tell_rings() && is_ready(), "not ready");
	return NULL;
}

static const char *
test_many_misses(void)
{
	unsigned int i, again = 0;

	for (i = 0; i <= CAPACITY; i++)
		CHECK(is_unknown(iova_of(i)), "not asked for");
	CHECK(tell_page(CAPACITY, 0) && reads_page(iova_of(CAPACITY), 0), "not known");
	for (i = 0; i < CAPACITY; i++)
		again += is_unknown(iova_of(i));
	/* Each that is forgotten and asked for again makes vhost forget another one. */
	CHECK(again <= 64, "too much is asked for again");
	return NULL;
}

/* Misses that find no room in the channel, which nobody reads, are sent when there is. */
static const char *
test_full_channel(void)
{
	const unsigned int num = 600;
	size_t len;
	const uint64_t rings = vhost_frontend_iova(frontend, vhost_frontend_rings(frontend, &len));
	unsigned int i, sent;

	for (i = 0; i < num; i++)
		CHECK(!reads(iova_of(i), PKT_LEN, 0, 0, 0), "known");
	CHECK(forget(rings, len) && !is_ready(), "ready without rings");
	sent = count_misses();
	CHECK(sent > 0 && sent < num, "the channel is not full");
	/* Any message reminds of them. */
	CHECK(tell_page(num, 0) && count_misses() == 2, "the rings are not asked for");
	CHECK(tell_rings() && is_ready(), "not ready when all is known");
	CHECK(is_unknown(iova_of(num - 1)), "a failed miss is not sent again");
	CHECK(!reads(iova_of(0), PKT_LEN, 0, 0, 0) && count_misses() == 0, "a miss is sent again");
	CHECK(forget(iova_of(0), PAGE) && is_unknown(iova_of(0)),
		"what is not there any more is not asked for again");
	CHECK(tell_page(num - 1, 0) && reads_page(iova_of(num - 1), 0), "not known");
	return NULL;
}

/* --- rings --- */

static bool
queue_is_ready(enum vhost_frontend_queue queue)
{
	return vhost_frontend_queue_ready(frontend, queue) == 1;
}

/* The next miss must be of the rings of a queue; answer it with one page. */
static const char *
answer_ring_miss(enum vhost_frontend_queue queue)
{
	const uint32_t ring_len = vhost_frontend_ring_len(
		vhost_frontend_ring(frontend, queue)->size);
	struct vhost_frontend_miss miss;
	uint64_t iova, at;
	uint8_t *rings;
	size_t len;

	CHECK(vhost_frontend_next_miss(frontend, &miss) == 1, "a ring is not asked for");
	rings = vhost_frontend_rings(frontend, &len);
	iova = RTE_ALIGN_FLOOR(miss.iova, PAGE);
	at = iova - vhost_frontend_iova(frontend, rings);
	CHECK(at / ring_len == queue, "something else than the ring is asked for");
	CHECK(tell(iova, rings + at, PAGE, VHOST_ACCESS_RW), "not taken");
	return NULL;
}

/* Nobody polls a queue that is not ready: vhost has to ask for its rings by itself. */
static const char *
test_rings_come_back(void)
{
	const uint64_t iova = vhost_frontend_iova(
		frontend, vhost_frontend_ring(frontend, VHOST_FRONTEND_RX)->desc);
	const char *fault;

	CHECK(tell_page(0, 0) && is_ready(), "not ready");
	CHECK(forget(iova - 1, 1) && is_ready() && count_misses() == 0,
		"what is before a ring is taken for it");
	CHECK(forget(iova, 1) && !queue_is_ready(VHOST_FRONTEND_RX), "ready without a byte");
	CHECK(queue_is_ready(VHOST_FRONTEND_TX), "the other queue is not ready, too");
	fault = answer_ring_miss(VHOST_FRONTEND_RX);
	CHECK(fault == NULL, fault);
	CHECK(is_ready() && count_misses() == 0, "not ready when all is known");
	CHECK(writes(iova_of(0), PKT_LEN, 0xaa), "not served any more");
	/* Twice, before the answer. */
	CHECK(forget(0, 0) && forget(0, 0) && tell_rings() && is_ready(), "not ready again");
	return NULL;
}

/* Whether a queue stops by a byte of its rings that is forgotten, and is ready again. */
static const char *
forget_byte(const void *addr)
{
	const uint64_t iova = vhost_frontend_iova(frontend, addr);

	CHECK(forget(iova, 1) && !queue_is_ready(VHOST_FRONTEND_RX), "ready without a byte");
	CHECK(tell_rings() && is_ready(), "not ready when all is known");
	return NULL;
}

/* Each part of a ring is one, from its first byte to its last one, and no further. */
static const char *
test_parts_of_rings(void)
{
	const struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_RX);
	const uint8_t *avail = (const uint8_t *)ring->avail, *used = (const uint8_t *)ring->used;
	const bool packed = ring->packed;
	/* Event indexes of a split ring, of 2 bytes, are not negotiated. */
	const size_t avail_len = packed ? 4 : 4 + 2 * ring->size;
	const size_t used_len = packed ? 4 : 4 + 8 * ring->size;
	const uint8_t *const bytes[] = { (uint8_t *)ring->desc,
		(uint8_t *)ring->desc + 16 * ring->size - 1, avail, avail + avail_len - 1, used,
		used + used_len - 1 };
	const char *fault;
	unsigned int i;

	for (i = 0; i < RTE_DIM(bytes); i++) {
		fault = forget_byte(bytes[i]);
		CHECK(fault == NULL, fault);
	}
	CHECK(forget(vhost_frontend_iova(frontend, used + used_len), 1) && is_ready(),
		"what is behind a ring is taken for it");
	CHECK(packed || (forget(vhost_frontend_iova(frontend, avail + avail_len), 1) && is_ready()),
		"an event index that is not used is taken for a ring");
	return NULL;
}

static const char *
test_big_rings(void)
{
	const struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_RX);
	/* Of a packed ring the other parts are small. */
	const unsigned int num = BIG_RING * 16 / PAGE + (ring->packed ? 2 : 1 + 3);
	const uint64_t iova = vhost_frontend_iova(frontend, ring->desc);
	unsigned int answers;
	const char *fault;

	CHECK(forget(iova, vhost_frontend_ring_len(BIG_RING)), "refused");
	for (answers = 0; answers < num; answers++) {
		CHECK(!queue_is_ready(VHOST_FRONTEND_RX), "ready without all pages");
		fault = answer_ring_miss(VHOST_FRONTEND_RX);
		CHECK(fault == NULL, fault);
	}
	CHECK(is_ready() && count_misses() == 0, "not ready when all is known");
	CHECK(tell(iova + PAGE, mem_of(0), PAGE, VHOST_ACCESS_RW), "not taken");
	CHECK(!queue_is_ready(VHOST_FRONTEND_RX) && count_misses() == 0,
		"ready with a page elsewhere in memory");
	CHECK(tell_rings() && is_ready(), "not ready when all is right");
	CHECK(tell_page(0, 0) && writes(iova_of(0), PKT_LEN, 0xaa), "not served any more");
	return NULL;
}

/* Rings that are told to be elsewhere are used there. */
static const char *
test_rings_elsewhere(void)
{
	size_t len;
	uint8_t *rings = vhost_frontend_rings(frontend, &len);
	uint8_t *copy = mem_of(NUM_PAGES);

	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0), "not known");
	memcpy(copy, rings, len);
	CHECK(tell(vhost_frontend_iova(frontend, rings), copy, len, VHOST_ACCESS_RW), "not taken");
	CHECK(!reads_page(iova_of(0), 0), "the old rings are used");
	CHECK(tell_rings() && reads_page(iova_of(0), 0), "the new rings are not used");
	return NULL;
}

/* Many other translations come, of which most have to go; the rings stay. */
static const char *
test_rings_stay(void)
{
	const struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_RX);
	const uint64_t iova = vhost_frontend_iova(frontend, ring->desc);
	const char *fault;
	unsigned int i;

	for (i = 0; i < 20 * CAPACITY; i++)
		CHECK(tell_page(2 * i, 0), "not taken");
	CHECK(is_ready(), "not ready among others");
	CHECK(forget(iova + PAGE, PAGE) && !queue_is_ready(VHOST_FRONTEND_RX), "still ready");
	fault = answer_ring_miss(VHOST_FRONTEND_RX);
	CHECK(fault == NULL, fault);
	CHECK(is_ready() && count_misses() == 0, "other pages of the ring had to go");
	return NULL;
}

/* What is told again and is the same does not touch a ring that is served. */
static const char *
test_rings_again(void)
{
	const struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_TX);
	const uint64_t iova = vhost_frontend_iova(frontend, ring->desc);
	const uint64_t hits = counter("iotlb_hits");

	CHECK(tell(iova + PAGE, (uint8_t *)ring->desc + PAGE, PAGE, VHOST_ACCESS_RW), "refused");
	CHECK(is_ready() && counter("iotlb_hits") == hits && count_misses() == 0,
		"a ring is looked for again");
	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0), "not served any more");
	CHECK(tell(iova + PAGE, (uint8_t *)ring->desc + PAGE, PAGE, VHOST_ACCESS_RO), "refused");
	CHECK(!queue_is_ready(VHOST_FRONTEND_TX), "ready where nothing may be written");
	return NULL;
}

/* A guest that has more pieces of a ring than there is room for harms itself only. */
static const char *
test_ring_in_pieces(void)
{
	const struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_TX);
	const uint64_t iova = vhost_frontend_iova(frontend, ring->desc);
	unsigned int i;

	for (i = 0; i <= CAPACITY; i++) {
		CHECK(tell(iova + 2 * i, mem_of(0), 1, VHOST_ACCESS_RW), "not taken");
		count_misses();
	}
	CHECK(!queue_is_ready(VHOST_FRONTEND_TX), "ready in pieces");
	for (i = 0; i < CAPACITY; i++) {
		CHECK(tell(iova + 2 * i, mem_of(0), 1, VHOST_ACCESS_RW), "not taken again");
		count_misses();
	}
	CHECK(tell_page(0, 0), "not taken among pieces");
	CHECK(tell_rings() && is_ready() && reads_page(iova_of(0), 0), "not known among pieces");
	return NULL;
}

/* --- while rings are set up --- */

/* What comes between two messages that tell of a ring, and what is known before. */
enum between {
	TELL,   /* nothing; where the ring is */
	FORGET, /* where it is; nothing, and it has to be asked for */
	MOVE,   /* where it was; where it is */
	NUM_BETWEEN
};

#define NUM_ORDERS (6 * 5 * 4 * 3 * 2)
/* Some of them are enough: without a common divisor each message comes in each place. */
#define ORDER_STEP 7

/* One of the orders of messages; false if KICK comes too early in it. */
static bool
choose_order(unsigned int number, enum vhost_frontend_ring_msg *order)
{
	enum vhost_frontend_ring_msg left[VHOST_FRONTEND_RING_MSGS];
	unsigned int i, at, before_kick = 0;
	bool is_early = false;

	for (i = 0; i < VHOST_FRONTEND_RING_MSGS; i++)
		left[i] = i;
	for (i = 0; i < VHOST_FRONTEND_RING_MSGS; i++) {
		at = number % (VHOST_FRONTEND_RING_MSGS - i);
		number /= VHOST_FRONTEND_RING_MSGS - i;
		order[i] = left[at];
		left[at] = left[VHOST_FRONTEND_RING_MSGS - i - 1];
		before_kick += order[i] <= VHOST_FRONTEND_RING_ADDR;
		is_early |= order[i] == VHOST_FRONTEND_RING_KICK && before_kick < 3;
	}
	return !is_early;
}

static bool
tell_ring_at(const uint8_t *addr)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_TX);

	return tell(vhost_frontend_iova(frontend, ring->desc), addr,
		vhost_frontend_ring_len(ring->size), VHOST_ACCESS_RW);
}

/* Start a queue that is stopped, and have something come after some of the messages. */
static const char *
start_queue(const enum vhost_frontend_ring_msg *order, enum between between, unsigned int after)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, VHOST_FRONTEND_TX);
	const uint64_t iova = vhost_frontend_iova(frontend, ring->desc);
	const uint32_t len = vhost_frontend_ring_len(ring->size);
	uint8_t *real = (uint8_t *)ring->desc, *copy = mem_of(NUM_PAGES);
	unsigned int i;

	memcpy(copy, real, len);
	CHECK(between == TELL || tell_ring_at(between == MOVE ? copy : real), "not taken");
	for (i = 0; i <= VHOST_FRONTEND_RING_MSGS; i++) {
		if (i == after)
			CHECK(between == FORGET ? forget(iova, len) : tell_ring_at(real),
				"refused");
		if (i == 0)
			CHECK(count_misses() == 0, "asks for what it was not told of");
		if (i < VHOST_FRONTEND_RING_MSGS)
			CHECK(vhost_frontend_tell_ring(frontend, VHOST_FRONTEND_TX, order[i]) == 0,
				"a message is refused");
	}
	if (between == FORGET) {
		CHECK(!queue_is_ready(VHOST_FRONTEND_TX), "ready without its ring");
		CHECK(count_misses() != 0, "the ring is not asked for");
		CHECK(tell_ring_at(real), "not taken");
	}
	count_misses();
	CHECK(queue_is_ready(VHOST_FRONTEND_TX), "not ready when all is known");
	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0), "the ring is not used where it is");
	return NULL;
}

static void
print_set_up(const enum vhost_frontend_ring_msg *order, enum between between, unsigned int after)
{
	static const char *const names[] = { "NUM", "BASE", "ADDR", "CALL", "KICK", "ENABLE" };
	unsigned int i;

	for (i = 0; i <= VHOST_FRONTEND_RING_MSGS; i++) {
		if (i == after)
			printf("%s ", between == FORGET ? "INVALIDATE" : "UPDATE");
		if (i < VHOST_FRONTEND_RING_MSGS)
			printf("%s ", names[order[i]]);
	}
	printf("in this order:\n");
}

/* Whatever a front end tells first of a ring and of where that is, the queue is served. */
static const char *
test_while_rings(void)
{
	enum vhost_frontend_ring_msg order[VHOST_FRONTEND_RING_MSGS];
	unsigned int number, after;
	enum between between;
	const char *fault;

	for (number = 0; number < NUM_ORDERS; number += ORDER_STEP) {
		if (!choose_order(number, order))
			continue;
		for (after = 0; after <= VHOST_FRONTEND_RING_MSGS; after++) {
			CHECK(vhost_frontend_enable(frontend, VHOST_FRONTEND_TX, false) == 0 &&
					vhost_frontend_stop(frontend, VHOST_FRONTEND_TX) >= 0 &&
					!queue_is_ready(VHOST_FRONTEND_TX),
				"not stopped");
			between = (number + after) % NUM_BETWEEN;
			fault = start_queue(order, between, after);
			if (fault != NULL) {
				print_set_up(order, between, after);
				return fault;
			}
		}
	}
	return NULL;
}

/* --- dirty log --- */

/*
 * The second region begins at the guest's address 0. Headers are at the end of a page of
 * the first one, so that what is logged in the second one is packets only.
 */
static const char *
test_dirty_log(void)
{
	unsigned int num;
	size_t end;
	uint8_t *next = vhost_frontend_mem(frontend, 1, &end);

	CHECK(tell_page(0, 5) && tell(iova_of(1), next, PKT_LEN, VHOST_ACCESS_RW), "not taken");
	CHECK(writes(iova_of(1) - HDR_LEN, PKT_LEN, 0xaa) && all_are(next, 0xaa, PKT_LEN),
		"not written");
	CHECK(vhost_frontend_is_dirty(frontend, mem_of(5)), "a header is not logged");
	CHECK(vhost_frontend_is_dirty(frontend, next), "address 0 is not logged");
	CHECK(!vhost_frontend_is_dirty(frontend, next + PAGE), "more is logged");
	num = vhost_frontend_num_dirty(frontend);
	CHECK(tell(iova_of(1), next + end - PKT_LEN, PKT_LEN, VHOST_ACCESS_RW), "not taken");
	CHECK(writes(iova_of(1) - HDR_LEN, PKT_LEN, 0xaa), "not written");
	CHECK(vhost_frontend_is_dirty(frontend, next + end - 1),
		"the end of a region is not logged");
	CHECK(vhost_frontend_num_dirty(frontend) == num + 1, "more is logged");
	return NULL;
}

/* A ring is logged wherever the front end says, also in the first and in the last bytes. */
static const char *
test_ring_log(void)
{
	const uint64_t log_iova = iova_of(100);
	size_t end;
	uint8_t *next = vhost_frontend_mem(frontend, 1, &end);

	CHECK(tell_page(0, 0) && tell(log_iova, next, 8, VHOST_ACCESS_RW), "not taken");
	CHECK(!vhost_frontend_is_dirty(frontend, next), "logged before it is told");
	CHECK(vhost_frontend_move_ring_log(frontend, VHOST_FRONTEND_TX, log_iova) == 0, "refused");
	CHECK(is_ready(), "not ready with a log at guest address 0");
	CHECK(reads_page(iova_of(0), 0) && vhost_frontend_is_dirty(frontend, next),
		"a ring is not logged at guest address 0");
	CHECK(tell(log_iova, next + end - 8, 8, VHOST_ACCESS_RW), "not taken");
	CHECK(is_ready(), "not ready with a log that ends where a region ends");
	return NULL;
}

static const char *
test_unknown_ring_log(void)
{
	const uint64_t log_iova = iova_of(100) - 4;
	FILE *log = begin_log();
	bool told;

	CHECK(log != NULL, "no log");
	told = vhost_frontend_move_ring_log(frontend, VHOST_FRONTEND_TX, log_iova) == 0;
	told = queue_is_ready(VHOST_FRONTEND_TX) || !told;
	CHECK(strlen(end_log(log)) == 0, "a miss is taken for a fault");
	CHECK(!told && missed(log_iova, VHOST_ACCESS_RW), "ready, or not asked for");
	CHECK(tell_page(99, 0) && !queue_is_ready(VHOST_FRONTEND_TX) &&
			missed(iova_of(100), VHOST_ACCESS_RW),
		"ready with half of it, or the rest is not asked for");
	CHECK(tell_page(100, 5) && !is_ready(), "ready with halves apart in memory");
	CHECK(tell_page(100, 1) && is_ready(), "not ready when all is known");
	return NULL;
}

/*
 * A vDPA driver that relays used buffers has vhost log them, whole ones: here one whose
 * second page is elsewhere. Buffers of vhost itself are in parts before they are logged.
 */
static const char *
test_relayed_log(void)
{
	uint64_t used_mem[8] = { 0 };
	struct vring relayed = { .used = (struct vring_used *)used_mem };
	unsigned int num;
	int ret;

	CHECK(tell_page(0, 0) && tell_page(1, 5), "not taken");
	num = vhost_frontend_num_dirty(frontend);
	CHECK(point(VHOST_FRONTEND_RX, iova_of(1) - PKT_LEN, 2 * PKT_LEN) == 0, "not posted");
	relayed.used->idx = 1;
	ret = rte_vdpa_relay_vring_used(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, &relayed);
	if (vhost_frontend_ring(frontend, VHOST_FRONTEND_RX)->packed)
		return ret < 0 ? NULL : "a packed ring is relayed";
	CHECK(ret == 1 && vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0,
		"not relayed");
	CHECK(vhost_frontend_is_dirty(frontend, mem_of(0)), "the first page is not logged");
	CHECK(vhost_frontend_is_dirty(frontend, mem_of(5)), "the second page is not logged");
	CHECK(vhost_frontend_num_dirty(frontend) == num + 2, "more is logged");
	return NULL;
}

/* --- what is told of them --- */

static const char *
test_counters(void)
{
	/* Of the rings. */
	const uint64_t hits = counter("iotlb_hits"), misses = counter("iotlb_misses");
	unsigned int i;

	/* The rings are one. */
	CHECK(counter("iotlb_entries") == 1 && counter("iotlb_merges") == 0, "not as new");
	for (i = 0; i < 8; i++)
		CHECK(tell_page(i, i), "not taken");
	CHECK(counter("iotlb_entries") == 2 && counter("iotlb_merges") == 7, "not merged");
	CHECK(forget(iova_of(3), PAGE) && counter("iotlb_entries") == 3, "not cut in two");
	CHECK(reads_page(iova_of(0), 0) && is_unknown(iova_of(3)), "not as told");
	CHECK(counter("iotlb_hits") == hits + 1 && counter("iotlb_misses") == misses + 1,
		"wrong counts");
	CHECK(counter("iotlb_evictions") == 0, "something is evicted");
	for (i = 0; i < CAPACITY; i++)
		CHECK(tell_page(100 + 2 * i, 0), "not taken");
	CHECK(counter("iotlb_entries") == CAPACITY, "not full");
	CHECK(counter("iotlb_evictions") == 3, "not as many evicted as were too many");
	CHECK(rte_vhost_vring_stats_reset(vhost_frontend_vid(frontend), VHOST_FRONTEND_TX) == 0,
		"no reset");
	CHECK(counter("iotlb_entries") == CAPACITY && counter("iotlb_evictions") == 0,
		"wrong after a reset");
	return NULL;
}

/* What telemetry answers, or NULL if this process has none. */
static const char *
ask_telemetry(const char *command, char *answer, size_t len)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *ret = NULL;
	char pid[32];
	ssize_t got;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dpdk_telemetry.v2",
		rte_eal_get_runtime_dir());
	if (fd < 0)
		return NULL;
	memset(answer, 0, len);
	snprintf(pid, sizeof(pid), "\"pid\":%d,", getpid());
	/* It greets first. Another process may have the socket. */
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0 &&
		recv(fd, answer, len - 1, 0) > 0 && strstr(answer, pid) != NULL &&
		send(fd, command, strlen(command), MSG_NOSIGNAL) > 0) {
		got = recv(fd, answer, len - 1, 0);
		answer[RTE_MAX(got, 0)] = '\0';
		ret = answer;
	}
	close(fd);
	return ret;
}

static const char *
test_telemetry(void)
{
	/* What stands before and behind the number of a device that there is. */
	static const char *const wrong[][2] = { { "1000000", "" }, { "x", "" }, { "", "x" },
		{ " ", "" }, { "+", "" }, { "-", "" } };
	char command[32], expected[128], text[4096];
	const char *answer;
	unsigned int i;

	CHECK(tell_page(0, 0) && reads_page(iova_of(0), 0) && is_unknown(iova_of(1)), "not told");
	snprintf(command, sizeof(command), "/vhost/iotlb,%d", vhost_frontend_vid(frontend));
	snprintf(expected, sizeof(expected),
		"\"queue_1\":{\"entries\":2,\"capacity\":%d,\"hits\":%" PRIu64
		",\"misses\":%" PRIu64 ",\"merges\":0,\"evictions\":0}",
		CAPACITY, counter("iotlb_hits"), counter("iotlb_misses"));
	answer = ask_telemetry(command, text, sizeof(text));
	if (answer == NULL) {
		printf("telemetry is off: not tried\n");
		return NULL;
	}
	CHECK(strstr(answer, expected) != NULL, "wrong counters in telemetry");
	for (i = 0; i < RTE_DIM(wrong); i++) {
		snprintf(command, sizeof(command), "/vhost/iotlb,%s%d%s", wrong[i][0],
			vhost_frontend_vid(frontend), wrong[i][1]);
		answer = ask_telemetry(command, text, sizeof(text));
		CHECK(answer != NULL && strstr(answer, "null") != NULL,
			"a device by what is not its number");
	}
	return NULL;
}

/* --- all --- */

static const struct {
	const char *name;
	const char *(*run)(void);
	bool dirty_log;
	uint16_t ring_size;
	bool before_rings;
} tests[] = {
	{ "neighbours", test_neighbours, false, 256, false },
	{ "a part of a range", test_part_of_page, false, 256, false },
	{ "neighbours apart in memory", test_apart, false, 256, false },
	{ "the second page of a buffer", test_second_page, false, 256, false },
	{ "3 KiB", test_odd_sizes, false, 256, false },
	{ "up to the last address", test_to_the_end, false, 256, false },
	{ "forget all", test_forget_all, false, 256, false },
	{ "permission", test_permission, false, 256, false },
	{ "two permissions", test_two_permissions, false, 256, false },
	{ "permission for a part", test_part_of_permission, false, 256, false },
	{ "another page", test_remap, false, 256, false },
	{ "updates that make no sense", test_refused, false, 256, false },
	{ "before the rings", test_before_rings, false, 256, true },
	{ "other memory", test_other_memory, false, 256, false },
	{ "full of translations", test_full, false, 256, false },
	{ "full of misses", test_many_misses, false, 256, false },
	{ "full channel", test_full_channel, false, 256, false },
	{ "rings come back", test_rings_come_back, false, 256, false },
	{ "rings of many pages", test_big_rings, false, BIG_RING, false },
	{ "parts of rings", test_parts_of_rings, false, 256, false },
	{ "rings stay", test_rings_stay, false, BIG_RING, false },
	{ "rings told again", test_rings_again, false, BIG_RING, false },
	{ "rings in pieces", test_ring_in_pieces, false, 256, false },
	{ "rings elsewhere", test_rings_elsewhere, false, 256, false },
	{ "while rings are set up", test_while_rings, false, 64, false },
	{ "dirty log", test_dirty_log, true, 256, false },
	{ "dirty log of a ring", test_ring_log, true, 256, false },
	{ "dirty log of a ring unknown", test_unknown_ring_log, true, 256, false },
	{ "dirty log of a relay", test_relayed_log, true, 256, false },
	{ "counters", test_counters, false, 256, false },
	{ "telemetry", test_telemetry, false, 256, false },
};

static void
fill_pages(void)
{
	unsigned int i;

	for (i = 0; i < NUM_PAGES; i++) {
		memset(mem_of(i), byte_of(i), PAGE);
		memset(mem_of(i), 0, HDR_LEN);
	}
}

static int
run_test(unsigned int number, uint64_t format)
{
	const struct vhost_frontend_config config = {
		.features = IOMMU | format,
		.dirty_log = tests[number].dirty_log,
		.register_flags = RTE_VHOST_USER_NET_STATS_ENABLE,
		.iova_offset = IOVA_OFFSET,
		.iotlb_before_rings = tests[number].before_rings,
		.ring_size = tests[number].ring_size,
		.num_regions = 2,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN },
			{ .guest_addr = 0, .len = NEXT_REGION_LEN } },
	};
	const char *fault = "cannot be set up";
	size_t len;

	memset(posted, 0, sizeof(posted));
	frontend = vhost_frontend_create(&config);
	if (frontend != NULL) {
		mem = vhost_frontend_mem(frontend, 0, &len);
		fill_pages();
		fault = tests[number].run();
		vhost_frontend_destroy(frontend);
	}
	if (fault == NULL && rte_mempool_avail_count(pool) != NUM_MBUFS)
		fault = "mbufs are lost";
	printf("%s, %s: %s\n", format != 0 ? "packed" : "split", tests[number].name,
		fault != NULL ? fault : "passed");
	return fault == NULL ? 0 : -1;
}

static int
test_vhost_iotlb(void)
{
	unsigned int i;
	int ret = 0;

	pool = rte_pktmbuf_pool_create(
		"vhost_iotlb_autotest", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_ERR);
	for (i = 0; i < RTE_DIM(tests); i++)
		ret |= run_test(i, 0) | run_test(i, PACKED);
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_iotlb_autotest, test_vhost_iotlb);
