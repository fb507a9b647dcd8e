/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Packets come in IMIX, in one random order, so that branches are predicted no better
 * than in real life. Buffers are as those of vhost: in mbufs behind a headroom, in the
 * guest behind a header. All stay in the caches: memory that is far away hides the
 * difference between the modes. The modes take turns in windows of microseconds, so that
 * a change of the clock comes to all of them; of each the median counts. The shortest
 * would be that of a mode that happened to meet a fast moment.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_malloc.h>

#include "eal_export_fallback.h"
#include "vhost_copy_calibrate.h"

#define NUM_ITEMS 1024
#define NUM_BUFS 32
#define BUF_LEN 2048
#define SRC_OFFSET 128 /* RTE_PKTMBUF_HEADROOM */
#define DST_OFFSET 12  /* header of virtio-net */
#define NUM_ROUNDS 101
#define MARGIN_PERCENT 3

typedef void (*copy_items)(const struct vhost_copy_item *items, unsigned int num);

/* The modes that are ways to copy, each of them after those that it has to beat. */
static const struct {
	enum rte_vhost_copy_mode mode;
	copy_items copy;
} candidates[] = {
	{ RTE_VHOST_COPY_WIDE, vhost_copy_items_wide },
	{ RTE_VHOST_COPY_NARROW, vhost_copy_items_narrow },
	{ RTE_VHOST_COPY_MEMCPY, vhost_copy_items_memcpy },
};

struct workspace {
	struct vhost_copy_item items[NUM_ITEMS];
	uint8_t src[NUM_BUFS][BUF_LEN];
	uint8_t dst[NUM_BUFS][BUF_LEN];
	uint64_t tsc[RTE_DIM(candidates)][NUM_ROUNDS];
};

/* Of twelve packets seven have 64 bytes, four 594, and one 1518. */
static size_t
draw_len(uint32_t *random)
{
	uint32_t twelfth;

	*random = *random * UINT32_C(1664525) + UINT32_C(1013904223);
	twelfth = (*random >> 16) % 12;
	return twelfth < 7 ? 64 : twelfth < 11 ? 594 : 1518;
}

static void
prepare(struct workspace *space)
{
	uint32_t random = 1;
	unsigned int i;

	memset(space->src, 0x5a, sizeof(space->src));
	for (i = 0; i < NUM_ITEMS; i++) {
		space->items[i].src = space->src[i % NUM_BUFS] + SRC_OFFSET;
		space->items[i].dst = space->dst[i % NUM_BUFS] + DST_OFFSET;
		space->items[i].len = draw_len(&random);
	}
}

static uint64_t
time_window(const struct workspace *space, copy_items copy)
{
	uint64_t start = rte_rdtsc_precise();

	copy(space->items, NUM_ITEMS);
	return rte_rdtsc_precise() - start;
}

static int
compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void
time_modes(struct workspace *space, uint32_t picoseconds[RTE_VHOST_COPY_MODES])
{
	unsigned int i, round;
	uint64_t *tsc;

	for (round = 0; round < NUM_ROUNDS; round++)
		for (i = 0; i < RTE_DIM(candidates); i++)
			space->tsc[i][round] = time_window(space, candidates[i].copy);
	for (i = 0; i < RTE_DIM(candidates); i++) {
		tsc = space->tsc[i];
		qsort(tsc, NUM_ROUNDS, sizeof(*tsc), compare_times);
		picoseconds[candidates[i].mode] = tsc[NUM_ROUNDS / 2] * 1e12 / rte_get_tsc_hz() /
			NUM_ITEMS;
	}
}

static bool
beats(uint64_t time, uint64_t other)
{
	return time * 100 < other * (100 - MARGIN_PERCENT);
}

RTE_EXPORT_INTERNAL_SYMBOL(vhost_copy_calibration_choose)
void
vhost_copy_calibration_choose(
	enum rte_vhost_copy_mode usual, struct rte_vhost_copy_calibration *calibration)
{
	const uint32_t *time = calibration->picoseconds;
	enum rte_vhost_copy_mode mode, best = usual;
	unsigned int i, beaten = 0;

	for (i = 0; i < RTE_DIM(candidates); i++) {
		mode = candidates[i].mode;
		if (beats(time[mode], time[best]))
			best = mode;
		beaten += beats(time[usual], time[mode]);
	}
	calibration->mode = best;
	calibration->tie = best == usual && beaten != RTE_DIM(candidates) - 1;
}

void
vhost_copy_calibrate(enum rte_vhost_copy_mode usual, struct rte_vhost_copy_calibration *calibration)
{
	struct workspace *space = rte_malloc(NULL, sizeof(*space), RTE_CACHE_LINE_SIZE);

	memset(calibration, 0, sizeof(*calibration));
	if (space != NULL) {
		prepare(space);
		time_modes(space, calibration->picoseconds);
		rte_free(space);
	}
	vhost_copy_calibration_choose(usual, calibration);
}
