/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * What does a virtual IOMMU cost vhost for a packet?
 *
 * Each buffer of the guest is on a page of its own that is drawn at random of 2040, and
 * with the IOMMU each page is a translation of its own: none continues its neighbour in
 * host memory. Without it the same buffers are used in the same way. One thread is guest
 * and host in turn, and only the host is timed. Both are measured in short windows next
 * to each other, for a shared machine changes. Environment:
 * VHOST_IOMMU_PERF_SECONDS=N  how long to measure
 * VHOST_IOMMU_PERF_JSON=FILE  write the figures there too, one JSON record a line
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/vhost_types.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "memcpy_bench.h"
#include "test.h"
#include "vhost_frontend.h"

#define DEFAULT_SECONDS 10

#define BURST 32
#define WINDOW_BURSTS 16
#define MAX_WINDOWS 4096
#define RING_SIZE 256
#define NUM_MBUFS 511
#define PAGE 4096
/* With those of the rings all fit into an IOTLB of 2048. */
#define NUM_PAGES 2040
#define BUF_LEN 2048
#define RINGS_ROOM (2 * 1024 * 1024)
#define REGION_ADDR 0x100000000
#define IOVA_OFFSET 0x7000000000

/* VIRTIO_F_ACCESS_PLATFORM, whose name depends on the release of Linux. */
#define IOMMU (1ULL << 33)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)

enum direction {
	ENQUEUE,
	DEQUEUE,
	NUM_DIRECTIONS
};

static const char *const direction_names[] = { "enqueue", "dequeue" };
static const uint16_t pkt_lens[] = { 64, 512, 1518 };

struct device {
	const char *ring;
	bool iommu;
	uint64_t features;
	struct vhost_frontend *frontend;
	uint8_t *pages;
};

/* Each ring without and with an IOMMU. */
#define NUM_DEVICES 4
static struct device devices[NUM_DEVICES] = {
	{ .ring = "split" },
	{ .ring = "split", .iommu = true, .features = IOMMU },
	{ .ring = "packed", .features = PACKED },
	{ .ring = "packed", .iommu = true, .features = PACKED | IOMMU },
};

/* Core cycles per packet. */
struct row {
	unsigned int num_windows;
	float cycles[MAX_WINDOWS];
};

static struct row rows[NUM_DIRECTIONS][RTE_DIM(pkt_lens)][NUM_DEVICES];
static struct rte_mempool *pool;
static uint64_t random_state = 88172645463325252;

static uint32_t
random_below(uint32_t bound)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (random_state >> 32) % bound;
}

/* --- the guest --- */

/* Post a burst of buffers on pages drawn at random; they hold packets if it transmits. */
static int
post_burst(struct device *device, enum direction direction, uint16_t pkt_len)
{
	enum vhost_frontend_queue queue = VHOST_FRONTEND_RX;
	struct vhost_frontend_buf buf = { .len = BUF_LEN };
	unsigned int i;

	if (direction == DEQUEUE) {
		queue = VHOST_FRONTEND_TX;
		buf.len = vhost_frontend_hdr_len(device->frontend) + pkt_len;
	}
	for (i = 0; i < BURST; i++) {
		buf.addr = device->pages + (size_t)random_below(NUM_PAGES) * PAGE;
		if (vhost_frontend_post(device->frontend, queue, &buf, 1, false) < 0)
			return -1;
	}
	return 0;
}

static int
reap_burst(struct device *device, enum direction direction)
{
	const enum vhost_frontend_queue queue = direction == ENQUEUE ? VHOST_FRONTEND_RX
								     : VHOST_FRONTEND_TX;
	unsigned int i;

	for (i = 0; i < BURST; i++)
		if (vhost_frontend_poll(device->frontend, queue, NULL) < 0)
			return -1;
	return 0;
}

/* --- the host, which is timed --- */

/* The ticks that a burst takes; 0 if packets are lost. */
static uint64_t
time_burst(
	struct device *device, enum direction direction, uint16_t pkt_len, struct rte_mbuf **pkts)
{
	const int vid = vhost_frontend_vid(device->frontend);
	uint64_t start, tsc;
	uint16_t done;

	if (post_burst(device, direction, pkt_len) != 0)
		return 0;
	start = rte_rdtsc_precise();
	if (direction == ENQUEUE)
		done = rte_vhost_enqueue_burst(vid, VHOST_FRONTEND_RX, pkts, BURST);
	else
		done = rte_vhost_dequeue_burst(vid, VHOST_FRONTEND_TX, pool, pkts, BURST);
	tsc = rte_rdtsc_precise() - start;
	if (direction == DEQUEUE)
		rte_pktmbuf_free_bulk(pkts, done);
	return done == BURST && reap_burst(device, direction) == 0 ? tsc : 0;
}

static int
measure_window(struct device *device, enum direction direction, uint16_t pkt_len, struct row *row)
{
	double tsc_per_cycle = bench_tsc_per_cycle();
	struct rte_mbuf *pkts[BURST];
	uint64_t tsc = 1, sum = 0;
	unsigned int i;

	if (direction == ENQUEUE && rte_pktmbuf_alloc_bulk(pool, pkts, BURST) != 0)
		return -1;
	for (i = 0; i < BURST && direction == ENQUEUE; i++)
		pkts[i]->pkt_len = pkts[i]->data_len = pkt_len;
	for (i = 0; i < WINDOW_BURSTS && tsc != 0; i++) {
		tsc = time_burst(device, direction, pkt_len, pkts);
		sum += tsc;
	}
	if (direction == ENQUEUE)
		rte_pktmbuf_free_bulk(pkts, BURST);
	if (tsc == 0) {
		printf("%s, %s, %u bytes, IOMMU %s: packets are lost\n", device->ring,
			direction_names[direction], pkt_len, device->iommu ? "on" : "off");
		return -1;
	}
	/* Of some frequencies before and after, the highest one: a window is short. */
	for (i = 0; i < 2; i++) {
		const double again = bench_tsc_per_cycle();

		tsc_per_cycle = RTE_MIN(tsc_per_cycle, again);
	}
	row->cycles[row->num_windows++] = sum / tsc_per_cycle / (WINDOW_BURSTS * BURST);
	return 0;
}

static int
measure_round(void)
{
	unsigned int direction, len, device;

	for (direction = 0; direction < NUM_DIRECTIONS; direction++)
		for (len = 0; len < RTE_DIM(pkt_lens); len++)
			for (device = 0; device < NUM_DEVICES; device++)
				if (measure_window(&devices[device], direction, pkt_lens[len],
					    &rows[direction][len][device]) != 0)
					return -1;
	return 0;
}

/* --- figures --- */

static void
print_pair(FILE *json, enum direction direction, unsigned int len, unsigned int device)
{
	struct row *off = &rows[direction][len][device], *on = off + 1;
	float ratios[MAX_WINDOWS];
	double ratio, off_median, on_median;
	unsigned int i;

	/* Of windows next to each other, before they are sorted. */
	for (i = 0; i < off->num_windows; i++)
		ratios[i] = on->cycles[i] / off->cycles[i];
	ratio = bench_median(ratios, off->num_windows);
	off_median = bench_median(off->cycles, off->num_windows);
	on_median = bench_median(on->cycles, on->num_windows);
	printf("%-8s %-7s %6u %8.1f %8.1f %8.1f %8.1f %8.3f\n", direction_names[direction],
		devices[device].ring, pkt_lens[len], off->cycles[0], off_median, on->cycles[0],
		on_median, ratio);
	if (json == NULL)
		return;
	fprintf(json, "{\"record\":\"row\",");
	bench_json_string(json, "direction", direction_names[direction]);
	bench_json_string(json, "ring", devices[device].ring);
	fprintf(json, "\"bytes\":%u,\"off_min\":%.2f,\"off_median\":%.2f,", pkt_lens[len],
		off->cycles[0], off_median);
	fprintf(json, "\"on_min\":%.2f,\"on_median\":%.2f,\"ratio\":%.4f}\n", on->cycles[0],
		on_median, ratio);
}

static void
print_rows(FILE *json)
{
	unsigned int direction, len, device;

	printf("%-8s %-7s %6s %17s %17s %8s\n%-8s %-7s %6s %8s %8s %8s %8s %8s\n", "", "", "",
		"IOMMU off", "IOMMU on", "", "", "ring", "bytes", "min", "median", "min", "median",
		"on/off");
	for (direction = 0; direction < NUM_DIRECTIONS; direction++)
		for (device = 0; device < NUM_DEVICES; device += 2)
			for (len = 0; len < RTE_DIM(pkt_lens); len++)
				print_pair(json, direction, len, device);
}

/* --- making --- */

/* Tell of each page as standing for one from the other end: nothing continues. */
static int
translate_pages(struct device *device)
{
	unsigned int i;

	for (i = 0; i < NUM_PAGES; i++) {
		uint8_t *page = device->pages + (size_t)i * PAGE;
		uint8_t *other = device->pages + (size_t)(NUM_PAGES - 1 - i) * PAGE;

		if (vhost_frontend_iotlb_update(device->frontend,
			    vhost_frontend_iova(device->frontend, page), other, PAGE,
			    VHOST_ACCESS_RW) != 0)
			return -1;
	}
	return 0;
}

static int
create_device(struct device *device)
{
	const struct vhost_frontend_config config = {
		.features = device->features,
		.iova_offset = IOVA_OFFSET,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { .guest_addr = REGION_ADDR,
			.len = RINGS_ROOM + (size_t)NUM_PAGES * PAGE } },
	};
	size_t len;

	device->frontend = vhost_frontend_create(&config);
	if (device->frontend == NULL)
		return -1;
	device->pages = vhost_frontend_mem(device->frontend, 0, &len);
	/* Pages are the last ones of the region, which ends with one. */
	device->pages += len - (size_t)NUM_PAGES * PAGE;
	/* Have all pages there before time is taken. Headers of zeros ask for nothing. */
	memset(device->pages, 0, (size_t)NUM_PAGES * PAGE);
	return device->iommu ? translate_pages(device) : 0;
}

static int
run_benchmark(unsigned long seconds, FILE *json)
{
	unsigned int i;
	int ret = 0;

	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_ERR);
	pool = rte_pktmbuf_pool_create("vhost_iommu_perf", NUM_MBUFS, 128, 0,
		BUF_LEN + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	printf("Core cycles per packet in bursts of %d, buffers on %d pages of %d bytes.\n", BURST,
		NUM_PAGES, PAGE);
	memset(rows, 0, sizeof(rows));
	for (i = 0; i < NUM_DEVICES && ret == 0; i++)
		ret = create_device(&devices[i]);
	if (ret == 0)
		ret = bench_rounds(seconds, MAX_WINDOWS, measure_round);
	if (ret == 0)
		print_rows(json);
	for (i = 0; i < NUM_DEVICES; i++) {
		vhost_frontend_destroy(devices[i].frontend);
		devices[i].frontend = NULL;
	}
	rte_mempool_free(pool);
	return ret;
}

static int
test_vhost_iommu_perf(void)
{
	static const struct bench_command command = {
		.name = "vhost_iommu_perf_autotest",
		.seconds_variable = "VHOST_IOMMU_PERF_SECONDS",
		.json_variable = "VHOST_IOMMU_PERF_JSON",
		.default_seconds = DEFAULT_SECONDS,
		.run = run_benchmark,
	};

	return bench_run(&command);
}

REGISTER_TEST_COMMAND(vhost_iommu_perf_autotest, test_vhost_iommu_perf);
