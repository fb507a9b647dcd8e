/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * How many cycles does vhost take for a packet, to a guest and from one, by kind of
 * ring and by size?
 *
 * One thread is guest and host in turn, and only the host is timed: the calls of
 * rte_vhost_enqueue_burst() and rte_vhost_dequeue_burst(). No other core is waited for,
 * so the figures repeat; what they lack is the traffic of cache lines between two cores.
 * All rows are measured in short windows, round by round, for a shared machine changes.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "memcpy_bench.h"
#include "test.h"
#include "vhost_frontend.h"

#define DEFAULT_SECONDS 20

#define BURST 32
#define WINDOW_BURSTS 16
#define MAX_WINDOWS 4096
#define RING_SIZE 256
#define BUF_LEN 2048
#define NUM_MBUFS 511
/* Guest buffers that stay in the first caches, or that fill 64 MiB. */
#define NUM_HOT_BUFS (2 * BURST)
#define NUM_COLD_BUFS (64 * 1024 * 1024 / BUF_LEN)
#define RINGS_ROOM (2 * 1024 * 1024)
#define REGION_ADDR 0x100000000

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)

struct device {
	const char *name;
	uint64_t features;
	struct vhost_frontend *frontend;
	uint8_t *bufs;
	uint32_t next_buf;
};

static struct device devices[] = {
	{ .name = "split" },
	{ .name = "split, mergeable", .features = MRG },
	{ .name = "packed", .features = PACKED },
	{ .name = "packed, mergeable, in order", .features = PACKED | MRG | IN_ORDER },
};

/* Sizes of packets: one that is repeated, or some at random. */
struct traffic {
	const char *name;
	uint16_t min;
	uint16_t max;
	bool imix;
};

static const struct traffic traffics[] = {
	{ "64", 64, 64, false },
	{ "128", 128, 128, false },
	{ "256", 256, 256, false },
	{ "512", 512, 512, false },
	{ "1024", 1024, 1024, false },
	{ "1518", 1518, 1518, false },
	{ "IMIX", 64, 1518, true },
	{ "60-1518", 60, 1518, false },
};

enum direction {
	ENQUEUE,
	DEQUEUE,
	NUM_DIRECTIONS
};

static const char *const direction_names[] = { "enqueue", "dequeue" };

/* The cycles per packet of one kind of traffic. */
struct row {
	struct device *device;
	const struct traffic *traffic;
	enum direction direction;
	uint32_t num_bufs; /* that are cycled through */
	unsigned int num_windows;
	float cycles[MAX_WINDOWS];
};

static struct row rows[RTE_DIM(devices) * RTE_DIM(traffics) * NUM_DIRECTIONS * 2];
static struct rte_mempool *pool;
static uint32_t random_state = 2463534242;

static uint32_t
random_below(uint32_t bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % bound;
}

/* IMIX: of twelve packets seven have 64 bytes, four 594, and one 1518. */
static uint16_t
draw_len(const struct traffic *traffic)
{
	uint32_t twelfth;

	if (!traffic->imix)
		return traffic->min + random_below(traffic->max - traffic->min + 1);
	twelfth = random_below(12);
	return twelfth < 7 ? 64 : twelfth < 11 ? 594 : 1518;
}

static uint8_t *
next_buf(struct row *row)
{
	struct device *device = row->device;

	if (++device->next_buf >= row->num_bufs)
		device->next_buf = 0;
	return device->bufs + (size_t)device->next_buf * BUF_LEN;
}

/* The guest's part: post a burst of buffers, which hold packets if it transmits. */
static int
post_burst(struct row *row)
{
	struct vhost_frontend *frontend = row->device->frontend;
	struct vhost_frontend_buf buf = { .len = BUF_LEN };
	enum vhost_frontend_queue queue = VHOST_FRONTEND_RX;
	unsigned int i;

	for (i = 0; i < BURST; i++) {
		buf.addr = next_buf(row);
		if (row->direction == DEQUEUE) {
			queue = VHOST_FRONTEND_TX;
			buf.len = vhost_frontend_hdr_len(frontend) + draw_len(row->traffic);
			memset(buf.addr, 0, vhost_frontend_hdr_len(frontend));
		}
		if (vhost_frontend_post(frontend, queue, &buf, 1, false) < 0)
			return -1;
	}
	return 0;
}

static int
reap_burst(struct row *row)
{
	enum vhost_frontend_queue queue = row->direction == ENQUEUE ? VHOST_FRONTEND_RX
								    : VHOST_FRONTEND_TX;
	unsigned int i;

	for (i = 0; i < BURST; i++)
		if (vhost_frontend_poll(row->device->frontend, queue, NULL) < 0)
			return -1;
	return 0;
}

/* Time a burst; returns 0 if something went wrong. */
static uint64_t
time_burst(struct row *row, struct rte_mbuf **pkts)
{
	int vid = vhost_frontend_vid(row->device->frontend);
	uint16_t done;
	uint64_t start;
	unsigned int i;

	if (post_burst(row) != 0)
		return 0;
	if (row->direction == ENQUEUE) {
		for (i = 0; i < BURST; i++)
			pkts[i]->pkt_len = pkts[i]->data_len = draw_len(row->traffic);
		start = rte_rdtsc_precise();
		done = rte_vhost_enqueue_burst(vid, VHOST_FRONTEND_RX, pkts, BURST);
		start = rte_rdtsc_precise() - start;
	} else {
		start = rte_rdtsc_precise();
		done = rte_vhost_dequeue_burst(vid, VHOST_FRONTEND_TX, pool, pkts, BURST);
		start = rte_rdtsc_precise() - start;
		rte_pktmbuf_free_bulk(pkts, done);
	}
	return done == BURST && reap_burst(row) == 0 ? start : 0;
}

/* The faster of two, for one may be interrupted. */
static double
tsc_per_cycle_now(void)
{
	double first = bench_tsc_per_cycle();
	double second = bench_tsc_per_cycle();

	return RTE_MIN(first, second);
}

static int
measure_window(struct row *row)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t tsc, sum = 0;
	double tsc_per_cycle, second_tsc_per_cycle;
	unsigned int i;

	if (row->direction == ENQUEUE && rte_pktmbuf_alloc_bulk(pool, pkts, BURST) != 0)
		return -1;
	tsc_per_cycle = tsc_per_cycle_now();
	for (i = 0; i < WINDOW_BURSTS; i++) {
		tsc = time_burst(row, pkts);
		if (tsc == 0) {
			printf("%s, %s, %s: packets are lost\n", row->device->name,
				direction_names[row->direction], row->traffic->name);
			return -1;
		}
		sum += tsc;
	}
	if (row->direction == ENQUEUE)
		rte_pktmbuf_free_bulk(pkts, BURST);
	/* Of the frequencies before and after, the higher one: a window is short. */
	second_tsc_per_cycle = tsc_per_cycle_now();
	tsc_per_cycle = RTE_MIN(tsc_per_cycle, second_tsc_per_cycle);
	row->cycles[row->num_windows++] = sum / tsc_per_cycle / (WINDOW_BURSTS * BURST);
	return 0;
}

static void
add_rows(void)
{
	struct row *row = rows;
	unsigned int device, traffic, direction, cold;

	for (cold = 0; cold < 2; cold++)
		for (direction = 0; direction < NUM_DIRECTIONS; direction++)
			for (device = 0; device < RTE_DIM(devices); device++)
				for (traffic = 0; traffic < RTE_DIM(traffics); traffic++) {
					row->device = &devices[device];
					row->traffic = &traffics[traffic];
					row->direction = direction;
					row->num_bufs = cold ? NUM_COLD_BUFS : NUM_HOT_BUFS;
					row->num_windows = 0;
					row++;
				}
}

static int
measure_round(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(rows); i++)
		if (measure_window(&rows[i]) != 0)
			return -1;
	return 0;
}

static double
least(const struct row *row)
{
	double min = row->cycles[0];
	unsigned int i;

	for (i = 1; i < row->num_windows; i++)
		min = RTE_MIN(min, (double)row->cycles[i]);
	return min;
}

static void
print_rows(FILE *json)
{
	const struct row *last = NULL;
	struct row *row;

	for (row = rows; row < rows + RTE_DIM(rows); row++) {
		double min = least(row), median = bench_median(row->cycles, row->num_windows);

		if (last == NULL || last->num_bufs != row->num_bufs ||
			last->direction != row->direction)
			printf("\n%s, guest buffers %s\n%-28s %-8s %8s %8s\n",
				direction_names[row->direction],
				row->num_bufs == NUM_HOT_BUFS ? "in cache" : "through 64 MiB",
				"ring", "bytes", "min", "median");
		last = row;
		printf("%-28s %-8s %8.1f %8.1f\n", row->device->name, row->traffic->name, min,
			median);
		if (json == NULL)
			continue;
		fprintf(json, "{\"record\":\"row\",");
		bench_json_string(json, "ring", row->device->name);
		bench_json_string(json, "bytes", row->traffic->name);
		bench_json_string(json, "direction", direction_names[row->direction]);
		bench_json_string(json, "set", row->num_bufs == NUM_HOT_BUFS ? "hot" : "64MiB");
		fprintf(json, "\"min\":%.2f,\"median\":%.2f}\n", min, median);
	}
}

static int
create_device(struct device *device)
{
	struct vhost_frontend_config config = {
		.features = device->features,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { .guest_addr = REGION_ADDR,
			.len = RINGS_ROOM + (size_t)NUM_COLD_BUFS * BUF_LEN } },
	};
	size_t len;

	device->frontend = vhost_frontend_create(&config);
	if (device->frontend == NULL)
		return -1;
	device->bufs = vhost_frontend_mem(device->frontend, 0, &len);
	if (len < (size_t)NUM_COLD_BUFS * BUF_LEN) {
		printf("%s: no room for the buffers\n", device->name);
		return -1;
	}
	/* Have all pages there before time is taken. */
	memset(device->bufs, 0, len);
	return 0;
}

static int
run_benchmark(unsigned long seconds, FILE *json)
{
	unsigned int i;
	int ret = 0;

	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_ERR);
	pool = rte_pktmbuf_pool_create("vhost_copy_perf", NUM_MBUFS, 128, 0,
		BUF_LEN + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	printf("Core cycles per packet in bursts of %d, the guest's part not counted.\n", BURST);
	add_rows();
	for (i = 0; i < RTE_DIM(devices) && ret == 0; i++)
		ret = create_device(&devices[i]);
	if (ret == 0)
		ret = bench_rounds(seconds, MAX_WINDOWS, measure_round);
	if (ret == 0)
		print_rows(json);
	for (i = 0; i < RTE_DIM(devices); i++) {
		vhost_frontend_destroy(devices[i].frontend);
		devices[i].frontend = NULL;
	}
	rte_mempool_free(pool);
	return ret;
}

static int
test_vhost_copy_perf(void)
{
	static const struct bench_command command = {
		.name = "vhost_copy_perf_autotest",
		.seconds_variable = "VHOST_COPY_PERF_SECONDS",
		.json_variable = "VHOST_COPY_PERF_JSON",
		.default_seconds = DEFAULT_SECONDS,
		.run = run_benchmark,
	};

	return bench_run(&command);
}

REGISTER_TEST_COMMAND(vhost_copy_perf_autotest, test_vhost_copy_perf);
