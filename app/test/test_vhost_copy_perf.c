/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * How many cycles does vhost take for a packet, to a guest and from one, by kind of
 * ring, by size, and by the mode of its packet copy, if it has modes?
 *
 * One thread is guest and host in turn, and only the host is timed: the calls of
 * rte_vhost_enqueue_burst() and rte_vhost_dequeue_burst(). No other core is waited for,
 * so the figures repeat; what they lack is the traffic of cache lines between two cores.
 * All rows are measured in short windows, round by round, for a shared machine changes;
 * the modes take turns from round to round.
 */

#include <inttypes.h>
#include <limits.h>
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

#ifdef __has_include
#if __has_include("rte_vhost_copy.h") /* not in pristine DPDK */
#include <rte_vhost_copy.h>
#define HAS_MODES
#endif
#endif

#define DEFAULT_SECONDS 30

#define BURST 32
#define WINDOW_BURSTS 16
#define MAX_WINDOWS 2048
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

#ifdef HAS_MODES

static const enum rte_vhost_copy_mode modes[] = { RTE_VHOST_COPY_MEMCPY, RTE_VHOST_COPY_WIDE,
	RTE_VHOST_COPY_NARROW };

#define NUM_MODES RTE_DIM(modes)

static const char *
mode_name(unsigned int mode)
{
	return rte_vhost_copy_mode_name(modes[mode]);
}

/* Have all devices copy in a mode. */
static int
set_mode(unsigned int mode)
{
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; i < RTE_DIM(devices); i++) {
		int vid = vhost_frontend_vid(devices[i].frontend);

		if (rte_vhost_get_ifname(vid, path, sizeof(path)) != 0 ||
			rte_vhost_driver_set_copy_mode(path, modes[mode]) != 0) {
			printf("%s: cannot set the mode %s\n", devices[i].name, mode_name(mode));
			return -1;
		}
	}
	return 0;
}

#else

#define NUM_MODES 1

static const char *
mode_name(unsigned int mode)
{
	RTE_SET_USED(mode);
	return "vhost";
}

static int
set_mode(unsigned int mode)
{
	RTE_SET_USED(mode);
	return 0;
}

#endif

/* Cycles per packet. */
struct samples {
	unsigned int num;
	float cycles[MAX_WINDOWS];
};

/* One kind of traffic. */
struct row {
	struct device *device;
	const struct traffic *traffic;
	enum direction direction;
	uint32_t num_bufs; /* that are cycled through */
	struct samples samples[NUM_MODES];
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
measure_window(struct row *row, struct samples *samples)
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
	samples->cycles[samples->num++] = sum / tsc_per_cycle / (WINDOW_BURSTS * BURST);
	return 0;
}

static void
add_rows(void)
{
	struct row *row = rows;
	unsigned int device, traffic, direction, cold, mode;

	for (cold = 0; cold < 2; cold++)
		for (direction = 0; direction < NUM_DIRECTIONS; direction++)
			for (device = 0; device < RTE_DIM(devices); device++)
				for (traffic = 0; traffic < RTE_DIM(traffics); traffic++) {
					row->device = &devices[device];
					row->traffic = &traffics[traffic];
					row->direction = direction;
					row->num_bufs = cold ? NUM_COLD_BUFS : NUM_HOT_BUFS;
					for (mode = 0; mode < NUM_MODES; mode++)
						row->samples[mode].num = 0;
					row++;
				}
}

static int
measure_round(void)
{
	unsigned int mode, i;

	for (mode = 0; mode < NUM_MODES; mode++) {
		if (set_mode(mode) != 0)
			return -1;
		for (i = 0; i < RTE_DIM(rows); i++)
			if (measure_window(&rows[i], &rows[i].samples[mode]) != 0)
				return -1;
	}
	return 0;
}

static double
least(const struct samples *samples)
{
	double min = samples->cycles[0];
	unsigned int i;

	for (i = 1; i < samples->num; i++)
		min = RTE_MIN(min, (double)samples->cycles[i]);
	return min;
}

static void
print_head(const struct row *row)
{
	unsigned int mode;

	printf("\n%s, guest buffers %s\n%-28s %-8s", direction_names[row->direction],
		row->num_bufs == NUM_HOT_BUFS ? "in cache" : "through 64 MiB", "ring", "bytes");
	for (mode = 0; mode < NUM_MODES; mode++)
		printf("%10s %8s", mode_name(mode), "median");
	printf("\n");
}

static void
json_samples(FILE *json, const struct row *row, unsigned int mode, double min, double median)
{
	fprintf(json, "{\"record\":\"row\",");
	bench_json_string(json, "ring", row->device->name);
	bench_json_string(json, "bytes", row->traffic->name);
	bench_json_string(json, "direction", direction_names[row->direction]);
	bench_json_string(json, "set", row->num_bufs == NUM_HOT_BUFS ? "hot" : "64MiB");
	bench_json_string(json, "mode", mode_name(mode));
	fprintf(json, "\"min\":%.2f,\"median\":%.2f}\n", min, median);
}

static void
print_row(struct row *row, FILE *json)
{
	unsigned int mode;

	printf("%-28s %-8s", row->device->name, row->traffic->name);
	for (mode = 0; mode < NUM_MODES; mode++) {
		struct samples *samples = &row->samples[mode];
		double min = least(samples), median = bench_median(samples->cycles, samples->num);

		printf("%10.1f %8.1f", min, median);
		if (json != NULL)
			json_samples(json, row, mode, min, median);
	}
	printf("\n");
}

static void
print_rows(FILE *json)
{
	const struct row *last = NULL;
	struct row *row;

	for (row = rows; row < rows + RTE_DIM(rows); row++) {
		if (last == NULL || last->num_bufs != row->num_bufs ||
			last->direction != row->direction)
			print_head(row);
		last = row;
		print_row(row, json);
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
	printf("Core cycles per packet in bursts of %d, the guest's part not counted:\n"
	       "the least of all windows, by mode of the copy, and the median beside it.\n",
		BURST);
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
