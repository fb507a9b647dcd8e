/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * How fast is rte_memcpy(), beside libc's memcpy(), what the compiler makes of
 * memcpy(), and the packet copy of vhost, if DPDK has one?
 *
 * Each row of a table is one way to use memory. Its candidates take turns in
 * windows of at most 0.1 ms, so that a noisy neighbour hits all of them alike,
 * and the rows of a table are measured several times over. The minimum of the
 * windows is the cost of the copy on an undisturbed machine, and what ratios
 * are taken of; the median says how disturbed the machine was.
 *
 * Sizes drawn at random come first, since packets come so. They are drawn anew
 * for each round of candidates: no branch predictor learns them. Rows of one
 * size hide what mispredicted branches cost, up to half of all.
 *
 * Figures are cycles of the core, see bench_tsc_per_cycle(), from a loop that
 * reads sizes and places from memory, with rte_memcpy() inlined in it. The loop
 * is included in all figures: taking it off would be wrong where a copy hides
 * it. What it takes without a copy is printed.
 *
 * Environment:
 * MEMCPY_PERF_SECONDS=N  measure for about N seconds, 5 to 3600
 * MEMCPY_PERF_JSON=FILE  write the figures there too, a JSON object a line:
 *   one of the machine, one for each row and candidate, the means, and what
 *   distances between the areas cost
 *
 * It fails if a copy is wrong, or if one takes far longer than libc's, see MAX_CLIFF.
 */

#include <math.h>
#include <unistd.h>

#include <rte_debug.h>

#include "memcpy_bench.h"
#include "test.h"

#ifdef __has_include
#if __has_include("pktcpy.h") /* not in pristine DPDK, nor without the vhost library */
#include "pktcpy.h"
#define HAS_PKTCPY
#endif
#endif

#define DEFAULT_SECONDS 24

#define NUM_PASSES 4
#define WINDOW_US 100
/* Copies in a window at most, which is how many sizes are drawn for one. */
#define MAX_COPIES 32768
/* More windows than that replace others at random. */
#define MAX_SAMPLES 256

/*
 * Hot memory: a few places, with destinations half a page off the sources,
 * so that up to 2 KiB none lies just above a source modulo 4 KiB.
 */
#define NUM_HOT_PLACES 4
#define HOT_STRIDE 4096
#define APART 1984
/* The longest copy in the table of distances, which uses one place. */
#define MAX_LEN 8192
#define HOT_LEN (RTE_MAX(NUM_HOT_PLACES * HOT_STRIDE, MAX_LEN) + APART + 4096)

/* Every size up to the first is in the geometric mean; some up to the second are measured. */
#define MAX_MEAN_LEN 256
#define MAX_FIXED_LEN 2048
#define MAX_ROWS 1200

/*
 * Where the areas lie so that loads wait for stores, which only look as if they were to
 * the same address, rte_memcpy() must not take more than so many times the cycles of libc.
 */
#define MAX_CLIFF 2
#ifdef RTE_MEMCPY_VEC_BYTES
#define JUDGES_CLIFFS 1
#else
#define JUDGES_CLIFFS 0
#endif

enum candidate {
	RTE_MEMCPY,
	LIBC,
	COMPILER,
#ifdef HAS_PKTCPY
	PACKET,
#endif
	NUM_CANDIDATES
};

static const char *const candidate_names[] = {
	[RTE_MEMCPY] = "rte_memcpy",
	[LIBC] = "libc",
	[COMPILER] = "compiler",
#ifdef HAS_PKTCPY
	[PACKET] = "pktcpy",
#endif
};

/* What is copied in a window, and where: dst + place to src + place, each in turn. */
struct job {
	uint8_t *dst;
	const uint8_t *src;
	const uint32_t *places;
	uint32_t places_mask; /* there are so many, less one: a power of two */
	uint32_t num_copies;
};

typedef void (*run_t)(const struct job *job, uint32_t first_place);

/* Sizes of packets: evenly from min to max, or IMIX if both are 0. */
struct sizes {
	char name[8];
	uint16_t min;
	uint16_t max;
};

struct samples {
	float min;
	unsigned int num;
	float values[MAX_SAMPLES];
};

struct row {
	const char *set;      /* where the memory is found: a cache */
	const char *distance; /* NULL but in the table of distances */
	struct sizes sizes;
	uint16_t dst_off;
	bool is_printed;
	const run_t *run;
	struct job job;
	uint32_t *own_places; /* to be freed, or NULL */
	uint32_t next_place;
	struct samples clock;               /* TSC cycles per core cycle */
	struct samples tsc[NUM_CANDIDATES]; /* TSC cycles per copy */
};

/* Rows that are measured together and printed together. */
struct table {
	const char *name;
	const char *title;
	unsigned int percent; /* of all the time */
	void (*add_rows)(struct table *table);
	/* Print what the rows come to, and judge it. NULL if there is nothing to add. */
	int (*sum_up)(const struct table *table, FILE *json);
	struct row *rows;
	unsigned int num_rows;
};

/* Two areas of the same length, the first filled with SRC_BYTE, the second with 0. */
struct areas {
	uint8_t *src;
	uint8_t *dst;
	size_t len;
};

#define SRC_BYTE 0xa5

/* A working set: copies go all over it, in random order. */
struct set {
	const char *name;
	size_t bytes;     /* source and destination together: at most */
	size_t more_than; /* at least: what would fit into the next faster cache */
};

static const struct sizes mixes[] = {
	{ "1-64", 1, 64 },
	{ "60-256", 60, 256 },
	{ "60-1518", 60, 1518 },
	{ "IMIX", 0, 0 },
};
/* Aligned; behind a virtio header of 10 or 12 bytes; across cache lines. */
static const uint16_t dst_offsets[] = { 0, 10, 12, 33 };
#define ALIGNED 0
#define BEHIND_HEADER 12
#define UNALIGNED 33
/* In the table of distances. */
static const uint16_t distance_lens[] = { 64, 256, 1518, 2049, 8192, MAX_LEN };
/* Of the sizes that are measured at run time, those that are printed. */
static const uint16_t printed_lens[] = { 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 65, 96, 128, 129, 192,
	255, 256, 257, 320, 384, 512, 768, 1024, 1518, 2048 };

static struct areas hot;   /* for all but the next two */
static struct areas large; /* for working sets */
static struct areas far;   /* 4 GiB apart */
static uint16_t lens[MAX_COPIES];
static uint64_t random_state;

/* --- the loops that are timed --- */

/*
 * All candidates are compiled in the same loop, each in a function of its own.
 * A candidate is an expression of to, from and len.
 */
/* clang-format off */
#define DEFINE_RUN(name, candidate) \
static __rte_noinline void \
name(const struct job *job, uint32_t first_place) \
{ \
	uint8_t *dst = job->dst; \
	const uint8_t *src = job->src; \
	const uint32_t *places = job->places; \
	uint32_t mask = job->places_mask; \
	uint32_t num = job->num_copies; \
	uint32_t i; \
\
	for (i = 0; i < num; i++) { \
		uint32_t place = places[(first_place + i) & mask]; \
		void *to = dst + place; \
		const void *from = src + place; \
		size_t len = lens[i]; \
\
		RTE_SET_USED(len); \
		candidate; \
	} \
}

DEFINE_RUN(run_rte_memcpy, rte_memcpy(to, from, len))
DEFINE_RUN(run_libc, bench_libc_memcpy(to, from, len))
DEFINE_RUN(run_compiler, memcpy(to, from, len))
DEFINE_RUN(run_nothing, __asm__ volatile("" : : "r"(to), "r"(from), "r"(len)))

#ifdef HAS_PKTCPY
#define DEFINE_PACKET_RUN(name, len) DEFINE_RUN(name, pktcpy(to, from, len))
#define LIST_PACKET_RUN(name) [PACKET] = name,
#else
#define DEFINE_PACKET_RUN(name, len)
#define LIST_PACKET_RUN(name)
#endif
DEFINE_PACKET_RUN(run_packet, len)

static const run_t run_time_sizes[NUM_CANDIDATES] = { run_rte_memcpy, run_libc, run_compiler,
	LIST_PACKET_RUN(run_packet) };

/* The loops of a constant size read no size. */
#define DEFINE_CONSTANT(n) \
	DEFINE_RUN(run_rte_memcpy_##n, rte_memcpy(to, from, n)) \
	DEFINE_RUN(run_libc_##n, bench_libc_memcpy(to, from, n)) \
	DEFINE_RUN(run_compiler_##n, memcpy(to, from, n)) \
	DEFINE_PACKET_RUN(run_packet_##n, n)

#define LIST_CONSTANT(n) { n, { run_rte_memcpy_##n, run_libc_##n, run_compiler_##n, \
	LIST_PACKET_RUN(run_packet_##n) } },

#define FOR_CONSTANTS(DO) \
	DO(1) DO(2) DO(4) DO(8) DO(12) DO(16) DO(20) DO(32) DO(40) DO(48) DO(64) DO(65) DO(96) \
	DO(128) DO(192) DO(256) DO(512) DO(1024) DO(1518) DO(2048)

FOR_CONSTANTS(DEFINE_CONSTANT)

static const struct {
	uint16_t len;
	run_t run[NUM_CANDIDATES];
} constants[] = {
	FOR_CONSTANTS(LIST_CONSTANT)
};
/* clang-format on */

/* --- sizes --- */

static uint32_t
random_below(uint32_t bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 32) * bound >> 32;
}

static uint16_t
draw_len(const struct sizes *sizes)
{
	uint32_t ticket;

	if (sizes->max != 0)
		return sizes->min + random_below(sizes->max - sizes->min + 1);
	ticket = random_below(12);
	return ticket < 7 ? 64 : ticket < 11 ? 594 : 1518;
}

static double
mean_len(const struct sizes *sizes)
{
	if (sizes->max != 0)
		return (sizes->min + sizes->max) / 2.0;
	return (7 * 64 + 4 * 594 + 1518) / 12.0;
}

static uint16_t
max_len(const struct sizes *sizes)
{
	return sizes->max != 0 ? sizes->max : 1518;
}

static bool
is_fixed(const struct sizes *sizes)
{
	return sizes->max != 0 && sizes->min == sizes->max;
}

static void
draw_lens(const struct sizes *sizes, uint32_t num)
{
	uint32_t i;

	for (i = 0; i < num; i++)
		lens[i] = draw_len(sizes);
}

static struct sizes
fixed_size(uint16_t len)
{
	struct sizes sizes = { .min = len, .max = len };

	snprintf(sizes.name, sizeof(sizes.name), "%u", len);
	return sizes;
}

/* --- memory --- */

static void
areas_unmap(struct areas *areas)
{
	bench_unmap(areas->src, areas->len);
	bench_unmap(areas->dst, areas->len);
	*areas = (struct areas){ .len = 0 };
}

static int
areas_map(struct areas *areas, size_t len)
{
	areas->len = len;
	areas->src = bench_map(len, MAP_PRIVATE);
	areas->dst = bench_map(len, MAP_PRIVATE);
	if (areas->src == NULL || areas->dst == NULL) {
		areas_unmap(areas);
		return -1;
	}
	memset(areas->src, SRC_BYTE, len);
	memset(areas->dst, 0, len);
	return 0;
}

#ifdef RTE_ARCH_64

#define FAR_DISTANCE (1ull << 32)

/* All between them is reserved, and never becomes memory. */
static void
map_far(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uint8_t *map = mmap(NULL, FAR_DISTANCE + HOT_LEN, PROT_NONE, flags, -1, 0);

	if (map == MAP_FAILED)
		return;
	if (mprotect(map, HOT_LEN, PROT_READ | PROT_WRITE) != 0 ||
		mprotect(map + FAR_DISTANCE, HOT_LEN, PROT_READ | PROT_WRITE) != 0) {
		munmap(map, FAR_DISTANCE + HOT_LEN);
		return;
	}
	far = (struct areas){ .src = map, .dst = map + FAR_DISTANCE, .len = HOT_LEN };
	memset(far.src, SRC_BYTE, HOT_LEN);
}

static void
unmap_far(void)
{
	if (far.src != NULL)
		munmap(far.src, FAR_DISTANCE + HOT_LEN);
	far = (struct areas){ .len = 0 };
}

#else

/* There is no such distance. */
static void
map_far(void)
{
}

static void
unmap_far(void)
{
}

#endif

/* --- measuring one row --- */

static void
add_sample(struct samples *samples, float value)
{
	unsigned int i = samples->num < MAX_SAMPLES ? samples->num : random_below(samples->num + 1);

	if (samples->num == 0 || value < samples->min)
		samples->min = value;
	if (i < MAX_SAMPLES)
		samples->values[i] = value;
	samples->num++;
}

static double
median(struct samples *samples)
{
	return bench_median(samples->values, RTE_MIN(samples->num, (unsigned int)MAX_SAMPLES));
}

/* Core cycles per copy: minimum of the windows. */
static double
min_cycles(const struct row *row, enum candidate candidate)
{
	return row->tsc[candidate].min / row->clock.min;
}

static double
median_cycles(struct row *row, enum candidate candidate)
{
	return median(&row->tsc[candidate]) / median(&row->clock);
}

/* TSC cycles of a window. Each goes on where the last one left off. */
static uint64_t
time_window(struct row *row, run_t run)
{
	uint64_t start = rte_rdtsc_precise();
	uint64_t tsc;

	run(&row->job, row->next_place);
	tsc = rte_rdtsc_precise() - start;
	row->next_place += row->job.num_copies;
	return tsc;
}

/* Does the last copy of a window arrive, and nothing behind it? */
static int
check_candidate(struct row *row, enum candidate candidate)
{
	const struct job *job = &row->job;
	uint32_t last = row->next_place + job->num_copies - 1;
	uint16_t len = lens[job->num_copies - 1];
	uint8_t *dst = job->dst + job->places[last & job->places_mask];
	const uint8_t *src = job->src + job->places[last & job->places_mask];

	memset(dst, 0, max_len(&row->sizes) + 1);
	time_window(row, row->run[candidate]);
	if (memcmp(dst, src, len) != 0 || (is_fixed(&row->sizes) && dst[len] != 0)) {
		printf("%s: n=%u, dst offset %u: copied wrong bytes\n", candidate_names[candidate],
			len, row->dst_off);
		return -1;
	}
	return 0;
}

/* Find how many copies of rte_memcpy() fill a window, and check them all. */
static int
prepare_row(struct row *row)
{
	uint64_t window_tsc = rte_get_tsc_hz() / 1000000 * WINDOW_US;
	unsigned int i;

	draw_lens(&row->sizes, MAX_COPIES);
	for (row->job.num_copies = 64; row->job.num_copies < MAX_COPIES; row->job.num_copies *= 2) {
		uint64_t tsc = window_tsc;

		for (i = 0; i < 3; i++)
			tsc = RTE_MIN(tsc, time_window(row, row->run[RTE_MEMCPY]));
		if (tsc >= window_tsc / 2)
			break;
	}
	for (i = 0; i < NUM_CANDIDATES; i++)
		if (check_candidate(row, i) != 0)
			return -1;
	return 0;
}

/* One window of each candidate on the same sizes, another one first each time. */
static void
measure_round(struct row *row)
{
	unsigned int round = row->clock.num;
	unsigned int i;

	if (!is_fixed(&row->sizes))
		draw_lens(&row->sizes, row->job.num_copies);
	add_sample(&row->clock, bench_tsc_per_cycle());
	for (i = 0; i < NUM_CANDIDATES; i++) {
		enum candidate candidate = (round + i) % NUM_CANDIDATES;
		uint64_t tsc = time_window(row, row->run[candidate]);

		add_sample(&row->tsc[candidate], (float)tsc / row->job.num_copies);
	}
}

static void
measure_row(struct row *row, uint64_t tsc)
{
	uint64_t end = rte_get_tsc_cycles() + tsc;

	draw_lens(&row->sizes, row->job.num_copies);
	do {
		measure_round(row);
	} while (rte_get_tsc_cycles() < end);
}

/* --- the rows of each table --- */

static struct row *
add_row(struct table *table, struct sizes sizes, uint16_t dst_off)
{
	static const uint32_t hot_places[NUM_HOT_PLACES] = { 0, HOT_STRIDE, 2 * HOT_STRIDE,
		3 * HOT_STRIDE };
	struct row *row = &table->rows[table->num_rows];

	RTE_VERIFY(table->num_rows < MAX_ROWS);
	table->num_rows++;
	row->set = "hot";
	row->sizes = sizes;
	row->dst_off = dst_off;
	row->is_printed = true;
	row->run = run_time_sizes;
	row->job.src = hot.src;
	row->job.dst = hot.dst + APART + dst_off;
	row->job.places = hot_places;
	row->job.places_mask = NUM_HOT_PLACES - 1;
	return row;
}

static void
add_mixes(struct table *table)
{
	unsigned int i, j;

	for (i = 0; i < RTE_DIM(mixes); i++)
		for (j = 0; j < RTE_DIM(dst_offsets); j++)
			add_row(table, mixes[i], dst_offsets[j]);
}

static bool
is_printed_len(uint16_t len)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(printed_lens); i++)
		if (printed_lens[i] == len)
			return true;
	return false;
}

/* All sizes that are in the mean, and some above. */
static void
add_fixed(struct table *table)
{
	unsigned int i;
	uint16_t len;

	for (i = 0; i < RTE_DIM(dst_offsets); i++) {
		uint16_t off = dst_offsets[i];
		bool is_printed = off == ALIGNED || off == UNALIGNED;

		for (len = 1; len <= MAX_FIXED_LEN; len++)
			if (len <= MAX_MEAN_LEN || is_printed_len(len))
				add_row(table, fixed_size(len), off)->is_printed = is_printed &&
					is_printed_len(len);
	}
}

static void
add_constants(struct table *table)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(constants); i++)
		add_row(table, fixed_size(constants[i].len), ALIGNED)->run = constants[i].run;
	for (i = 0; i < RTE_DIM(constants); i++)
		add_row(table, fixed_size(constants[i].len), UNALIGNED)->run = constants[i].run;
}

/* One place, its destination so many bytes above the source but for a multiple of distance. */
static void
add_distance(struct table *table, const struct areas *areas, const char *distance, uint16_t off)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(distance_lens); i++) {
		struct row *row = add_row(table, fixed_size(distance_lens[i]), off);

		row->distance = distance;
		row->job.src = areas->src;
		row->job.dst = areas->dst + off;
		row->job.places_mask = 0;
	}
}

static void
add_distances(struct table *table)
{
	/* The last one lies 12 bytes below. */
	static const uint16_t offsets[] = { 1, 8, 16, 32, 63, 64, 127, 4096 - 12 };
	unsigned int i;

	map_far();
	if (far.src == NULL)
		printf("\n(4GiB: skipped, cannot map areas so far apart)\n");
	add_distance(table, &hot, "apart", APART);
	for (i = 0; i < RTE_DIM(offsets); i++)
		add_distance(table, &hot, "4KiB", offsets[i]);
	for (i = 0; far.src != NULL && i < RTE_DIM(offsets); i++)
		add_distance(table, &far, "4GiB", offsets[i]);
}

/* --- working sets --- */

/* First line of what Linux says of a cache, or false. */
static bool
read_cache_file(int cpu, unsigned int index, const char *file, char *line, int len)
{
	char path[128];
	FILE *stream;
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%u/%s", cpu, index,
		file);
	stream = fopen(path, "r");
	if (stream == NULL)
		return false;
	ok = fgets(line, len, stream) != NULL;
	fclose(stream);
	return ok;
}

/* One core of a server seldom gets more of the last cache, which all share. */
#define MAX_GUESSED_L3 (32L << 20)

/*
 * What the C library says, which asks the CPU: virtual machines may have no files of
 * caches. It may count the last cache of all the chip, which a copy could not fill in
 * the time there is, so what it says of that one is only taken up to a limit.
 */
static size_t
cache_size_of_libc(unsigned int level)
{
	long size = 0;

#ifdef _SC_LEVEL1_DCACHE_SIZE /* glibc */
	if (level == 1)
		size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
	else if (level == 2)
		size = sysconf(_SC_LEVEL2_CACHE_SIZE);
	else if (level == 3)
		size = RTE_MIN(sysconf(_SC_LEVEL3_CACHE_SIZE), MAX_GUESSED_L3);
#else
	RTE_SET_USED(level);
#endif
	return RTE_MAX(size, 0L);
}

/* Bytes of the cache of data, or 0 if there is none, or nobody says. */
static size_t
cache_size(unsigned int level)
{
	int cpu = rte_lcore_to_cpu_id(rte_lcore_id());
	char line[32];
	unsigned int i;

	for (i = 0; read_cache_file(cpu, i, "level", line, sizeof(line)); i++) {
		if (strtoul(line, NULL, 10) != level)
			continue;
		if (!read_cache_file(cpu, i, "type", line, sizeof(line)) || line[0] == 'I')
			continue;
		if (read_cache_file(cpu, i, "size", line, sizeof(line)))
			return strtoul(line, NULL, 10) * 1024;
	}
	return cache_size_of_libc(level);
}

/* Room for a copy. An odd number of cache lines, or all would use the same part of a cache. */
static uint32_t
place_len(const struct sizes *sizes)
{
	return RTE_ALIGN_CEIL(max_len(sizes) + BEHIND_HEADER + 1u, RTE_CACHE_LINE_SIZE) |
		RTE_CACHE_LINE_SIZE;
}

/* How much of that one side of a copy touches. */
static uint32_t
touched_len(const struct sizes *sizes)
{
	return mean_len(sizes) + RTE_CACHE_LINE_SIZE;
}

/* So that they fill at least half of the set, if there is enough memory. */
static uint32_t
num_places(const struct set *set, const struct sizes *sizes, size_t max_bytes)
{
	size_t num = set->bytes / 2 / touched_len(sizes);

	return rte_align32prevpow2(RTE_MIN(num, max_bytes / place_len(sizes)));
}

/* The places in random order. NULL if there is no memory. */
static uint32_t *
shuffled_places(uint32_t num, uint32_t len)
{
	uint32_t *places = malloc(num * sizeof(*places));
	uint32_t i, other;

	for (i = 0; places != NULL && i < num; i++) {
		other = random_below(i + 1);
		places[i] = places[other];
		places[other] = i * len;
	}
	return places;
}

static void
add_to_set(struct table *table, const struct set *set, const struct sizes *sizes)
{
	uint32_t num = num_places(set, sizes, large.len - APART - BEHIND_HEADER);
	uint32_t *places;
	struct row *row;

	if ((uint64_t)num * touched_len(sizes) * 2 <= set->more_than) {
		printf("(%s, %s: skipped, no working set of that kind fits here)\n", set->name,
			sizes->name);
		return;
	}
	places = shuffled_places(num, place_len(sizes));
	if (places == NULL) {
		printf("(%s, %s: skipped, out of memory)\n", set->name, sizes->name);
		return;
	}
	row = add_row(table, *sizes, BEHIND_HEADER);
	row->set = set->name;
	row->own_places = places;
	row->job.src = large.src;
	row->job.dst = large.dst + APART + BEHIND_HEADER;
	row->job.places = places;
	row->job.places_mask = num - 1;
}

/* As much as the largest set needs, but half of what there is, both sides together. */
static int
map_large(const struct set *set, const struct sizes *sizes, unsigned int num_sizes)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < num_sizes; i++) {
		size_t num = num_places(set, &sizes[i], SIZE_MAX);

		len = RTE_MAX(len, num * place_len(&sizes[i]));
	}
	len = RTE_MIN(len + APART + 4096, bench_available_memory() / 4);
	return areas_map(&large, len);
}

static void
add_sets(struct table *table)
{
	const size_t l1 = cache_size(1);
	const size_t l2 = cache_size(2);
	const size_t l3 = cache_size(3);
	/* At least, since a cache of the whole chip may not be known to Linux. */
	const size_t last = RTE_MAX(RTE_MAX(l2, l3), 32u << 20);
	const struct set sets[] = {
		{ "l2", l2 / 4 * 3, l1 },
		{ "l3", l3 / 2, l2 },
		{ "memory", RTE_MIN(4 * last, 1u << 30), last + last / 2 },
	};
	const struct sizes sizes[] = { mixes[0], mixes[1], mixes[2], mixes[3], fixed_size(64),
		fixed_size(256), fixed_size(1518) };
	unsigned int i, j;

	printf("\ncaches: L1 %zu KiB, L2 %zu KiB, L3 %zu KiB (0: none or unknown)\n", l1 / 1024,
		l2 / 1024, l3 / 1024);
	if (map_large(&sets[RTE_DIM(sets) - 1], sizes, RTE_DIM(sizes)) != 0) {
		printf("(skipped: cannot map the memory)\n");
		return;
	}
	for (i = 0; i < RTE_DIM(sets); i++)
		for (j = 0; j < RTE_DIM(sizes); j++)
			add_to_set(table, &sets[i], &sizes[j]);
}

/* --- tables --- */

static void
print_head(const struct table *table)
{
	unsigned int i;

	printf("\n%s\n%-7s %-8s %5s", table->title, "memory", "bytes", "dst +");
	for (i = 0; i < NUM_CANDIDATES; i++)
		printf("%17s", candidate_names[i]);
	printf("  %*s  %s\n", 6 * NUM_CANDIDATES, "bytes per cycle", "speedup");
}

static void
print_row(struct row *row)
{
	unsigned int i;

	printf("%-7s %-8s %5u", row->distance != NULL ? row->distance : row->set, row->sizes.name,
		row->dst_off);
	for (i = 0; i < NUM_CANDIDATES; i++)
		printf(" %7.1f (%6.1f)", min_cycles(row, i), median_cycles(row, i));
	printf("  ");
	for (i = 0; i < NUM_CANDIDATES; i++)
		printf("%6.1f", mean_len(&row->sizes) / min_cycles(row, i));
	printf("  %7.2f\n", min_cycles(row, LIBC) / min_cycles(row, RTE_MEMCPY));
}

static void
json_row(FILE *json, const struct table *table, struct row *row)
{
	const char *name = row->distance != NULL ? row->distance : row->sizes.name;
	unsigned int i;

	for (i = 0; i < NUM_CANDIDATES; i++) {
		fprintf(json, "{\"record\":\"row\",\"table\":\"%s\",\"name\":\"%s\",", table->name,
			name);
		fprintf(json, "\"dst_offset\":%u,\"set\":\"%s\",", row->dst_off, row->set);
		if (is_fixed(&row->sizes))
			fprintf(json, "\"size\":%u,", row->sizes.max);
		else
			fprintf(json, "\"size\":null,");
		fprintf(json, "\"impl\":\"%s\",\"cycles_min\":%.3f,\"cycles_median\":%.3f,",
			candidate_names[i], min_cycles(row, i), median_cycles(row, i));
		fprintf(json, "\"bytes_per_cycle\":%.3f,\"windows\":%u}\n",
			mean_len(&row->sizes) / min_cycles(row, i), row->tsc[i].num);
	}
}

/* Geometric mean over the sizes up to MAX_MEAN_LEN. */
static double
mean_cycles(const struct table *table, uint16_t dst_off, enum candidate candidate)
{
	unsigned int i, num = 0;
	double sum = 0;

	for (i = 0; i < table->num_rows; i++) {
		const struct row *row = &table->rows[i];

		if (row->dst_off != dst_off || row->sizes.max > MAX_MEAN_LEN)
			continue;
		sum += log(min_cycles(row, candidate));
		num++;
	}
	return exp(sum / num);
}

static int
sum_up_means(const struct table *table, FILE *json)
{
	double cycles[NUM_CANDIDATES];
	unsigned int i, j;

	printf("Geometric means over all sizes from 1 to %d\n", MAX_MEAN_LEN);
	for (i = 0; i < RTE_DIM(dst_offsets); i++) {
		printf("%-7s %d-%-6d %5u", "hot", 1, MAX_MEAN_LEN, dst_offsets[i]);
		for (j = 0; j < NUM_CANDIDATES; j++) {
			cycles[j] = mean_cycles(table, dst_offsets[i], j);
			printf(" %8.2f        ", cycles[j]);
			if (json == NULL)
				continue;
			fprintf(json, "{\"record\":\"mean\",\"table\":\"%s\",\"name\":\"1-%d\",",
				table->name, MAX_MEAN_LEN);
			fprintf(json, "\"dst_offset\":%u,\"impl\":\"%s\",\"cycles_min\":%.3f}\n",
				dst_offsets[i], candidate_names[j], cycles[j]);
		}
		printf("  %*s  %7.2f\n", 6 * NUM_CANDIDATES, "", cycles[LIBC] / cycles[RTE_MEMCPY]);
	}
	return 0;
}

/* Cycles at the slowest of these distances by those at the fastest there is. */
static double
worst_by_best(const struct table *table, const char *distance, uint16_t len, enum candidate which)
{
	double cycles, worst = 0, best = HUGE_VAL;
	unsigned int i;

	for (i = 0; i < table->num_rows; i++) {
		const struct row *row = &table->rows[i];

		if (row->sizes.max != len)
			continue;
		cycles = min_cycles(row, which);
		best = RTE_MIN(best, cycles);
		if (strcmp(row->distance, distance) == 0)
			worst = RTE_MAX(worst, cycles);
	}
	return worst / best;
}

static void
print_worst_by_best(const struct table *table, const char *distance, FILE *json)
{
	unsigned int i, j;

	for (i = 0; i < RTE_DIM(distance_lens); i++) {
		uint16_t len = distance_lens[i];

		printf("%-7s %-8u %5s", distance, len, "");
		for (j = 0; j < NUM_CANDIDATES; j++) {
			double ratio = worst_by_best(table, distance, len, j);

			printf(" %8.2f        ", ratio);
			if (json == NULL)
				continue;
			fprintf(json, "{\"record\":\"worst_by_best\",\"table\":\"%s\",",
				table->name);
			fprintf(json,
				"\"name\":\"%s\",\"size\":%u,\"impl\":\"%s\",\"ratio\":%.3f}\n",
				distance, len, candidate_names[j], ratio);
		}
		printf("\n");
	}
}

/* Does rte_memcpy() take far longer than libc, anywhere? DPDK's own is not judged. */
static int
check_cliffs(const struct table *table)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < table->num_rows; i++) {
		const struct row *row = &table->rows[i];
		double cycles = min_cycles(row, RTE_MEMCPY);
		double libc_cycles = min_cycles(row, LIBC);

		if (!JUDGES_CLIFFS || cycles <= MAX_CLIFF * libc_cycles)
			continue;
		printf("%s, %s bytes, dst + %u: rte_memcpy takes %.1f cycles, more than %d times "
		       "libc's %.1f\n",
			row->distance, row->sizes.name, row->dst_off, cycles, MAX_CLIFF,
			libc_cycles);
		ret = -1;
	}
	return ret;
}

static int
sum_up_distances(const struct table *table, FILE *json)
{
	printf("Slowest by fastest distance\n");
	print_worst_by_best(table, "4KiB", json);
	if (far.src != NULL)
		print_worst_by_best(table, "4GiB", json);
	return check_cliffs(table);
}

static int
print_table(const struct table *table, FILE *json)
{
	unsigned int i;
	int ret = 0;

	print_head(table);
	for (i = 0; i < table->num_rows; i++) {
		if (table->rows[i].is_printed)
			print_row(&table->rows[i]);
		if (json != NULL)
			json_row(json, table, &table->rows[i]);
	}
	if (table->sum_up != NULL)
		ret = table->sum_up(table, json);
	fflush(stdout);
	return ret;
}

/* Each row several times, since a disturbance may last longer than one row does. */
static int
measure_rows(struct table *table, uint64_t end)
{
	unsigned int left = NUM_PASSES * table->num_rows;
	unsigned int i;
	uint64_t now;

	for (i = 0; i < table->num_rows; i++)
		if (prepare_row(&table->rows[i]) != 0)
			return -1;
	for (; left > 0; left--) {
		now = rte_get_tsc_cycles();
		measure_row(
			&table->rows[left % table->num_rows], now < end ? (end - now) / left : 0);
	}
	return 0;
}

static void
free_rows(struct table *table)
{
	unsigned int i;

	for (i = 0; i < table->num_rows; i++)
		free(table->rows[i].own_places);
	free(table->rows);
	areas_unmap(&large);
	unmap_far();
}

static int
run_table(struct table *table, uint64_t tsc, FILE *json)
{
	uint64_t end = rte_get_tsc_cycles() + tsc;
	int ret;

	table->num_rows = 0;
	table->rows = calloc(MAX_ROWS, sizeof(*table->rows));
	if (table->rows == NULL) {
		printf("out of memory for %d rows\n", MAX_ROWS);
		return -1;
	}
	table->add_rows(table);
	ret = measure_rows(table, end);
	if (ret == 0)
		ret = print_table(table, json);
	free_rows(table);
	return ret;
}

/* --- the test command --- */

static struct table tables[] = {
	{ "mix", "Random sizes in the L1 cache", 30, add_mixes, NULL },
	{ "working_set", "Working sets, copied in random order", 18, add_sets, NULL },
	{ "fixed", "One size, not known to the compiler", 38, add_fixed, sum_up_means },
	{ "constant", "One size, known to the compiler", 6, add_constants, NULL },
	{ "alias", "Distances of nearly a multiple of 4 KiB and 4 GiB", 8, add_distances,
		sum_up_distances },
};

/* What the loop takes without a copy, in core cycles. */
static double
loop_cycles(void)
{
	const uint32_t place = 0;
	struct row row = { .job = { .places = &place, .num_copies = MAX_COPIES } };
	unsigned int i;

	for (i = 0; i < 100; i++) {
		add_sample(&row.clock, bench_tsc_per_cycle());
		add_sample(&row.tsc[0], (float)time_window(&row, run_nothing) / MAX_COPIES);
	}
	return min_cycles(&row, 0);
}

static void
print_notes(void)
{
	printf("cycles     of the core: TSC cycles by the time of dependent additions\n"
	       "figures    minimum (and median) of windows of 0.1 ms at most, candidates in turn\n"
	       "included   the loop, which takes %.1f cycles without a copy\n"
	       "speedup    libc's cycles by those of rte_memcpy\n"
	       "dst +      destination so many bytes above a cache line, where the source is\n",
		loop_cycles());
}

static int
run_tables(unsigned long seconds, FILE *json)
{
	unsigned int i;

	print_notes();
	for (i = 0; i < RTE_DIM(tables); i++)
		if (run_table(&tables[i], rte_get_tsc_hz() * seconds / 100 * tables[i].percent,
			    json) != 0)
			return -1;
	return 0;
}

static int
run_benchmark(unsigned long seconds, FILE *json)
{
	int ret;

	random_state = 0x9e3779b97f4a7c15;
	if (areas_map(&hot, HOT_LEN) != 0) {
		printf("cannot map %d bytes: %s\n", 2 * HOT_LEN, strerror(errno));
		return -1;
	}
	ret = run_tables(seconds, json);
	areas_unmap(&hot);
	return ret;
}

static int
test_memcpy_perf(void)
{
	static const struct bench_command command = {
		.name = "memcpy_perf_autotest",
		.seconds_variable = "MEMCPY_PERF_SECONDS",
		.json_variable = "MEMCPY_PERF_JSON",
		.default_seconds = DEFAULT_SECONDS,
		.run = run_benchmark,
	};

	return bench_run(&command);
}

REGISTER_TEST_COMMAND(memcpy_perf_autotest, test_memcpy_perf);
