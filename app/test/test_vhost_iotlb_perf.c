/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * How many cycles does a look-up in vhost's IOTLB take, an insertion, a removal, by the
 * number of entries? Of the map, and of the list that DPDK has in its place.
 *
 * Locks are left out in both, and no memory of the EAL is used. All rows are measured in
 * short windows, round by round, for a shared machine changes. Environment:
 * VHOST_IOTLB_PERF_SECONDS=N    how long to measure
 * VHOST_IOTLB_PERF_JSON=FILE    write the figures there too, one JSON record a line
 */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "iotlb_tables.h"
#include "memcpy_bench.h"
#include "test.h"

#define DEFAULT_SECONDS 20
/* Operations of a window; fewer where each is a long walk. */
#define MAX_OPS 1024
#define MIN_OPS 32
/* Pages that are out of a table at a time. */
#define MAX_CHANGES 16
#define MAX_WINDOWS 1024
#define EVICT_LEN (64 * 1024 * 1024)

static const unsigned int entry_counts[] = { 1, 2, 4, 16, 64, 256, 1024, 2048 };

/* --- what is measured --- */

/* Calls go by pointers for all alike. */
struct impl {
	const char *name;
	bool walks;         /* the time grows with the number of entries */
	unsigned int scale; /* of all addresses */
	bool in_order;      /* filled by ascending addresses, which lie in a row in memory then */
	void *(*create)(void);
	void (*insert)(void *table, uint64_t iova, uint64_t host);
	void (*remove)(void *table, uint64_t iova);
	uint64_t (*find)(const void *table, uint64_t iova);
};

enum impl_index {
	LIST,
	LIST_IN_ORDER,
	MAP,
	MAP_NO_MERGE,
	MAP_HUGE,
	NUM_IMPLS
};

static const struct impl impls[] = {
	{ "list", true, 1, false, list_create, list_insert, list_remove, list_find },
	{ "list, in order", true, 1, true, list_create, list_insert, list_remove, list_find },
	{ "map", false, 1, false, map_create, map_insert, map_remove, map_find },
	{ "map, no merge", false, 1, false, map_create_no_merge, map_insert, map_remove, map_find },
	{ "map, 2 MiB pages", false, HUGE_SCALE, false, map_create, map_insert_huge,
		map_remove_huge, map_find },
};

enum operation {
	FIND,
	FIND_COLD,
	INSERT,
	REMOVE,
	FILL,
	DRAIN,
	NUM_OPERATIONS
};

static const char *const operation_names[] = { "find", "find, cold", "insert", "remove", "fill",
	"drain" };

enum pattern {
	FIRST,
	MIDDLE,
	LAST,
	SEQUENTIAL,
	RANDOM,
	CHAINED,
	FULL,
	NUM_PATTERNS
};

static const char *const pattern_names[] = { "first", "middle", "last", "sequential", "random",
	"chained", "full" };

/* Which patterns and candidates are measured for an operation. */
struct plan {
	enum operation operation;
	uint32_t patterns;
	uint32_t impls;
};

static const struct plan plans[] = {
	{ FIND,
		RTE_BIT32(FIRST) | RTE_BIT32(MIDDLE) | RTE_BIT32(LAST) | RTE_BIT32(SEQUENTIAL) |
			RTE_BIT32(RANDOM) | RTE_BIT32(CHAINED),
		RTE_BIT32(LIST) | RTE_BIT32(LIST_IN_ORDER) | RTE_BIT32(MAP) | RTE_BIT32(MAP_HUGE) },
	{ FIND_COLD, RTE_BIT32(FIRST) | RTE_BIT32(LAST) | RTE_BIT32(RANDOM),
		RTE_BIT32(LIST) | RTE_BIT32(LIST_IN_ORDER) | RTE_BIT32(MAP) | RTE_BIT32(MAP_HUGE) },
	{ INSERT,
		RTE_BIT32(FIRST) | RTE_BIT32(MIDDLE) | RTE_BIT32(LAST) | RTE_BIT32(RANDOM) |
			RTE_BIT32(FULL),
		RTE_BIT32(LIST) | RTE_BIT32(MAP) },
	{ REMOVE, RTE_BIT32(FIRST) | RTE_BIT32(MIDDLE) | RTE_BIT32(LAST) | RTE_BIT32(RANDOM),
		RTE_BIT32(LIST) | RTE_BIT32(MAP) },
	{ FILL, RTE_BIT32(SEQUENTIAL) | RTE_BIT32(RANDOM),
		RTE_BIT32(LIST) | RTE_BIT32(MAP) | RTE_BIT32(MAP_NO_MERGE) },
	{ DRAIN, RTE_BIT32(SEQUENTIAL) | RTE_BIT32(RANDOM),
		RTE_BIT32(LIST) | RTE_BIT32(MAP) | RTE_BIT32(MAP_NO_MERGE) },
};

/* The cycles of an operation of one candidate. */
struct cell {
	unsigned int num_windows;
	float cycles[MAX_WINDOWS];
};

static struct cell cells[NUM_OPERATIONS][NUM_PATTERNS][RTE_DIM(entry_counts)][NUM_IMPLS];
static void *tables[RTE_DIM(entry_counts)][NUM_IMPLS];
static uint8_t *evict_area;
static uint64_t overhead_tsc; /* of taking the time twice */
static uint64_t random_state = 88172645463325252;

static uint32_t
random_below(uint32_t bound)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (random_state >> 32) % bound;
}

/* Pages with holes between them, in host memory in reverse: nothing continues. */
static uint64_t
page_iova(unsigned int rank)
{
	return 0x100000000 + (uint64_t)rank * 2 * PAGE;
}

static uint64_t
page_host(unsigned int rank)
{
	return 0x7f0000000000 - (uint64_t)rank * PAGE;
}

static void
shuffle(uint16_t *ranks, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		ranks[i] = i;
	for (; i > 1; i--) {
		const unsigned int other = random_below(i);
		const uint16_t rank = ranks[i - 1];

		ranks[i - 1] = ranks[other];
		ranks[other] = rank;
	}
}

/* --- windows --- */

/* Time taken, as core cycles per operation. */
static void
add_window(struct cell *cell, uint64_t tsc, double tsc_per_cycle, unsigned int num)
{
	unsigned int i;

	/* Of some frequencies before and after, the highest one: a window is short. */
	for (i = 0; i < 2; i++) {
		const double again = bench_tsc_per_cycle();

		tsc_per_cycle = RTE_MIN(tsc_per_cycle, again);
	}
	cell->cycles[cell->num_windows++] = tsc / tsc_per_cycle / num;
}

static unsigned int
ops_of_window(const struct impl *impl, unsigned int entries)
{
	return impl->walks ? RTE_MAX(MAX_OPS / entries, (unsigned int)MIN_OPS) : MAX_OPS;
}

/* Of time taken, what is not for taking it. */
static uint64_t
since(uint64_t start)
{
	const uint64_t tsc = rte_rdtsc_precise() - start;

	return tsc - RTE_MIN(tsc, overhead_tsc);
}

static unsigned int
draw_rank(enum pattern pattern, unsigned int entries, unsigned int i, unsigned int num)
{
	switch (pattern) {
	case FIRST:
		return 0;
	case MIDDLE:
		return entries / 2;
	case LAST:
		return entries - 1;
	case SEQUENTIAL:
		/* Where there are fewer look-ups than entries, evenly spaced ones. */
		return num < entries ? i * entries / num : i % entries;
	default:
		return random_below(entries);
	}
}

/* Draw addresses; returns what all answers must add up to. */
static uint64_t
draw_addresses(const struct impl *impl, enum pattern pattern, unsigned int entries, uint64_t *iovas,
	unsigned int num)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < num; i++) {
		const unsigned int rank = draw_rank(pattern, entries, i, num);

		iovas[i] = (page_iova(rank) + LOOKUP_OFFSET) * impl->scale;
		sum += (page_host(rank) + LOOKUP_OFFSET) * impl->scale;
	}
	return sum;
}

static uint64_t
find_all(const struct impl *impl, const void *table, const uint64_t *iovas, unsigned int num)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < num; i++)
		sum += impl->find(table, iovas[i]);
	return sum;
}

/* Each address is known when the answer before it is. */
static uint64_t
find_chained(const struct impl *impl, const void *table, const uint64_t *iovas, unsigned int num)
{
	static volatile uint64_t zero; /* the compiler cannot know */
	const uint64_t mask = zero;
	uint64_t sum = 0, host = 0;
	unsigned int i;

	for (i = 0; i < num; i++) {
		host = impl->find(table, iovas[i] + (host & mask));
		sum += host;
	}
	return sum;
}

static int
check_sum(const struct impl *impl, unsigned int entries, uint64_t sum, uint64_t expected)
{
	if (sum == expected)
		return 0;
	printf("%s, %u entries: wrong answers\n", impl->name, entries);
	return -1;
}

static int
measure_find(unsigned int count, enum pattern pattern, unsigned int index)
{
	const struct impl *impl = &impls[index];
	const unsigned int entries = entry_counts[count];
	const void *table = tables[count][index];
	uint64_t iovas[MAX_OPS], expected, sum, start;
	const unsigned int num = ops_of_window(impl, entries);
	double tsc_per_cycle;

	/* Have caches and branches warm, from other addresses if there are some. */
	draw_addresses(impl, pattern, entries, iovas, num);
	sum = find_all(impl, table, iovas, num);
	tsc_per_cycle = bench_tsc_per_cycle();
	expected = draw_addresses(impl, pattern, entries, iovas, num);
	start = rte_rdtsc_precise();
	if (pattern == CHAINED)
		sum = find_chained(impl, table, iovas, num);
	else
		sum = find_all(impl, table, iovas, num);
	start = since(start);
	add_window(&cells[FIND][pattern][count][index], start, tsc_per_cycle, num);
	return check_sum(impl, entries, sum, expected);
}

/* Read so much else that nothing of a table is left in a cache. */
static void
evict_caches(void)
{
	const volatile uint64_t *area = (const volatile uint64_t *)evict_area;
	size_t i;

	for (i = 0; i < EVICT_LEN / sizeof(*area); i += RTE_CACHE_LINE_SIZE / sizeof(*area))
		(void)area[i];
}

static int
measure_find_cold(unsigned int count, enum pattern pattern, unsigned int index)
{
	const struct impl *impl = &impls[index];
	const double tsc_per_cycle = bench_tsc_per_cycle();
	uint64_t iova, expected, host, start;

	expected = draw_addresses(impl, pattern, entry_counts[count], &iova, 1);
	evict_caches();
	start = rte_rdtsc_precise();
	host = impl->find(tables[count][index], iova);
	start = since(start);
	add_window(&cells[FIND_COLD][pattern][count][index], start, tsc_per_cycle, 1);
	return check_sum(impl, entry_counts[count], host, expected);
}

/* Pages that are removed and inserted again, by rank. */
static unsigned int
draw_changes(enum pattern pattern, unsigned int entries, uint16_t *ranks)
{
	const unsigned int num = RTE_MIN(entries, (unsigned int)MAX_CHANGES);
	unsigned int i;

	if (pattern == RANDOM) {
		shuffle(ranks, entries);
		return num;
	}
	for (i = 0; i < num; i++)
		ranks[i] = i + (pattern == FIRST ? 0 : entries - num) / (pattern == MIDDLE ? 2 : 1);
	return num;
}

static uint64_t
remove_all(const struct impl *impl, void *table, const uint16_t *ranks, unsigned int num)
{
	const uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < num; i++)
		impl->remove(table, page_iova(ranks[i]));
	return since(start);
}

static uint64_t
insert_all(const struct impl *impl, void *table, const uint16_t *ranks, unsigned int num)
{
	const uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < num; i++)
		impl->insert(table, page_iova(ranks[i]), page_host(ranks[i]));
	return since(start);
}

static uint64_t
find_pages(const struct impl *impl, const void *table, const uint16_t *ranks, unsigned int num)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < num; i++)
		sum += impl->find(table, page_iova(ranks[i]));
	return sum;
}

static int
measure_changes(unsigned int count, enum pattern pattern, unsigned int index)
{
	const struct impl *impl = &impls[index];
	const unsigned int entries = entry_counts[count];
	const double tsc_per_cycle = bench_tsc_per_cycle();
	void *table = tables[count][index];
	uint64_t removed_tsc = 0, inserted_tsc = 0, sum = 0, expected = 0;
	uint16_t ranks[CAPACITY];
	const unsigned int num = draw_changes(pattern, entries, ranks);
	const unsigned int repeats = RTE_MAX(ops_of_window(impl, entries) / num, 1u);
	unsigned int i;

	for (i = 0; i < num; i++)
		expected += page_host(ranks[i]);
	/* Have caches and branches warm. */
	remove_all(impl, table, ranks, num);
	sum += find_pages(impl, table, ranks, num);
	insert_all(impl, table, ranks, num);
	for (i = 0; i < repeats; i++) {
		removed_tsc += remove_all(impl, table, ranks, num);
		inserted_tsc += insert_all(impl, table, ranks, num);
	}
	add_window(
		&cells[REMOVE][pattern][count][index], removed_tsc, tsc_per_cycle, repeats * num);
	add_window(
		&cells[INSERT][pattern][count][index], inserted_tsc, tsc_per_cycle, repeats * num);
	sum += find_pages(impl, table, ranks, num);
	return check_sum(impl, entries, sum, expected);
}

/* Fill a table with pages of the usual addresses. */
static void
fill_table(const struct impl *impl, void *table, unsigned int entries)
{
	uint16_t ranks[CAPACITY];
	unsigned int i;

	shuffle(ranks, entries);
	for (i = 0; i < entries; i++) {
		const unsigned int rank = impl->in_order ? i : ranks[i];

		impl->insert(table, page_iova(rank), page_host(rank));
	}
}

static void
empty_table(const struct impl *impl, void *table, unsigned int entries)
{
	unsigned int rank;

	for (rank = 0; rank < entries; rank++)
		impl->remove(table, page_iova(rank));
}

/* Insertions into a full table, each of which costs another page. */
static int
measure_full(unsigned int count, unsigned int index)
{
	const struct impl *impl = &impls[index];
	const double tsc_per_cycle = bench_tsc_per_cycle();
	void *table = tables[count][index];
	uint16_t ranks[MAX_CHANGES];
	uint64_t tsc, host;
	unsigned int i;

	for (i = 0; i < MAX_CHANGES; i++)
		ranks[i] = CAPACITY + i;
	tsc = insert_all(impl, table, ranks, MAX_CHANGES);
	add_window(&cells[INSERT][FULL][count][index], tsc, tsc_per_cycle, MAX_CHANGES);
	host = impl->find(table, page_iova(ranks[MAX_CHANGES - 1]));
	empty_table(impl, table, CAPACITY + MAX_CHANGES);
	fill_table(impl, table, CAPACITY);
	return check_sum(impl, CAPACITY, host, page_host(ranks[MAX_CHANGES - 1]));
}

/* Pages of one large mapping, which do continue each other. */
#define MAPPING_IOVA 0x100000000
#define MAPPING_HOST 0x7f0000000000

static uint64_t
fill_mapping(const struct impl *impl, void *table, const uint16_t *ranks, unsigned int num)
{
	const uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < num; i++)
		impl->insert(table, MAPPING_IOVA + (uint64_t)ranks[i] * PAGE,
			MAPPING_HOST + (uint64_t)ranks[i] * PAGE);
	return since(start);
}

static uint64_t
drain_mapping(const struct impl *impl, void *table, const uint16_t *ranks, unsigned int num)
{
	const uint64_t start = rte_rdtsc_precise();
	unsigned int i;

	for (i = 0; i < num; i++)
		impl->remove(table, MAPPING_IOVA + (uint64_t)ranks[i] * PAGE);
	return since(start);
}

/* All pages of a large mapping into an empty table, and out of it again. */
static int
measure_fill(unsigned int count, enum pattern pattern, unsigned int index)
{
	const struct impl *impl = &impls[index];
	const unsigned int entries = entry_counts[count];
	const unsigned int repeats = RTE_MAX(MAX_OPS / entries, 1u);
	const double tsc_per_cycle = bench_tsc_per_cycle();
	const uint64_t last = (uint64_t)(entries - 1) * PAGE;
	void *table = tables[count][index];
	uint64_t filled_tsc = 0, drained_tsc = 0, sum = 0;
	uint16_t ranks[CAPACITY];
	unsigned int i;

	empty_table(impl, table, entries);
	shuffle(ranks, entries);
	for (i = 0; i < entries && pattern == SEQUENTIAL; i++)
		ranks[i] = i;
	for (i = 0; i < repeats; i++) {
		filled_tsc += fill_mapping(impl, table, ranks, entries);
		sum += impl->find(table, MAPPING_IOVA) + impl->find(table, MAPPING_IOVA + last);
		drained_tsc += drain_mapping(impl, table, ranks, entries);
		sum += impl->find(table, MAPPING_IOVA);
	}
	add_window(
		&cells[FILL][pattern][count][index], filled_tsc, tsc_per_cycle, repeats * entries);
	add_window(&cells[DRAIN][pattern][count][index], drained_tsc, tsc_per_cycle,
		repeats * entries);
	fill_table(impl, table, entries);
	return check_sum(impl, entries, sum, repeats * (2 * MAPPING_HOST + last));
}

/* --- rounds --- */

static bool
is_planned(const struct plan *plan, enum pattern pattern, unsigned int count, unsigned int index)
{
	if (pattern == FULL && entry_counts[count] != CAPACITY)
		return false;
	return (plan->patterns & RTE_BIT32(pattern)) != 0 && (plan->impls & RTE_BIT32(index)) != 0;
}

static int
measure_window(
	const struct plan *plan, enum pattern pattern, unsigned int count, unsigned int index)
{
	switch (plan->operation) {
	case FIND:
		return measure_find(count, pattern, index);
	case FIND_COLD:
		return measure_find_cold(count, pattern, index);
	case INSERT:
		return pattern == FULL ? measure_full(count, index)
				       : measure_changes(count, pattern, index);
	case FILL:
		return measure_fill(count, pattern, index);
	default:
		return 0; /* measured with the one before */
	}
}

static int
measure_round(void)
{
	unsigned int i, count, pattern, index;

	for (i = 0; i < RTE_DIM(plans); i++)
		for (pattern = 0; pattern < NUM_PATTERNS; pattern++)
			for (count = 0; count < RTE_DIM(entry_counts); count++)
				for (index = 0; index < NUM_IMPLS; index++)
					if (is_planned(&plans[i], pattern, count, index) &&
						measure_window(&plans[i], pattern, count, index) !=
							0)
						return -1;
	return 0;
}

/* --- figures --- */

static void
print_head(const struct plan *plan)
{
	unsigned int index;

	printf("\n%-12s %7s", operation_names[plan->operation], "entries");
	for (index = 0; index < NUM_IMPLS; index++)
		if ((plan->impls & RTE_BIT32(index)) != 0)
			printf(" %18s", impls[index].name);
	printf("\n");
}

static void
print_cell(FILE *json, const struct plan *plan, enum pattern pattern, unsigned int count,
	unsigned int index)
{
	struct cell *cell = &cells[plan->operation][pattern][count][index];
	const double median = bench_median(cell->cycles, cell->num_windows);
	const double min = cell->cycles[0]; /* they are sorted now */

	printf(" %9.1f %8.1f", min, median);
	if (json == NULL)
		return;
	fprintf(json, "{\"record\":\"row\",");
	bench_json_string(json, "operation", operation_names[plan->operation]);
	bench_json_string(json, "pattern", pattern_names[pattern]);
	bench_json_string(json, "impl", impls[index].name);
	fprintf(json, "\"entries\":%u,\"min\":%.2f,\"median\":%.2f}\n", entry_counts[count], min,
		median);
}

static void
print_plan(FILE *json, const struct plan *plan)
{
	unsigned int pattern, count, index;

	print_head(plan);
	for (pattern = 0; pattern < NUM_PATTERNS; pattern++)
		for (count = 0; count < RTE_DIM(entry_counts); count++) {
			if (!is_planned(plan, pattern, count, LIST))
				continue;
			printf("%-12s %7u", pattern_names[pattern], entry_counts[count]);
			for (index = 0; index < NUM_IMPLS; index++)
				if (is_planned(plan, pattern, count, index))
					print_cell(json, plan, pattern, count, index);
			printf("\n");
		}
}

/* --- making --- */

static int
create_tables(void)
{
	unsigned int count, index;

	/* Written, for all that is never written is one page of zeros. */
	evict_area = bench_map(EVICT_LEN, MAP_PRIVATE);
	if (evict_area == NULL)
		return -1;
	memset(evict_area, 1, EVICT_LEN);
	for (count = 0; count < RTE_DIM(entry_counts); count++)
		for (index = 0; index < NUM_IMPLS; index++) {
			tables[count][index] = impls[index].create();
			if (tables[count][index] == NULL)
				return -1;
			fill_table(&impls[index], tables[count][index], entry_counts[count]);
		}
	return 0;
}

static void
free_tables(void)
{
	unsigned int count, index;

	for (count = 0; count < RTE_DIM(entry_counts); count++)
		for (index = 0; index < NUM_IMPLS; index++) {
			free(tables[count][index]);
			tables[count][index] = NULL;
		}
	bench_unmap(evict_area, EVICT_LEN);
	evict_area = NULL;
}

/* The mean, for the clock goes by steps. */
static void
measure_overhead(void)
{
	const unsigned int num = 10000;
	uint64_t sum = 0;
	unsigned int i;

	overhead_tsc = 0;
	for (i = 0; i < num; i++)
		sum += since(rte_rdtsc_precise());
	overhead_tsc = sum / num;
}

static int
run_tables(unsigned long seconds, FILE *json)
{
	unsigned int i;

	printf("Core cycles per operation, the least and the median of all windows.\n");
	memset(cells, 0, sizeof(cells));
	measure_overhead();
	if (bench_rounds(seconds, MAX_WINDOWS, measure_round) != 0)
		return -1;
	for (i = 0; i < RTE_DIM(plans); i++)
		print_plan(json, &plans[i]);
	return 0;
}

static int
run_benchmark(unsigned long seconds, FILE *json)
{
	int ret = -1;

	if (create_tables() != 0)
		printf("no memory\n");
	else
		ret = run_tables(seconds, json);
	free_tables();
	return ret;
}

static int
test_vhost_iotlb_perf(void)
{
	static const struct bench_command command = {
		.name = "vhost_iotlb_perf_autotest",
		.seconds_variable = "VHOST_IOTLB_PERF_SECONDS",
		.json_variable = "VHOST_IOTLB_PERF_JSON",
		.default_seconds = DEFAULT_SECONDS,
		.run = run_benchmark,
	};

	return bench_run(&command);
}

REGISTER_TEST_COMMAND(vhost_iotlb_perf_autotest, test_vhost_iotlb_perf);
