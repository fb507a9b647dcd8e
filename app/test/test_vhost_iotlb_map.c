/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Does the map behind vhost's IOTLB answer right, at every edge?
 *
 * First what a reader can follow, then millions of random operations beside a model that
 * looks at each address alone. Environment:
 * IOTLB_MAP_SEED=N  repeat the random operations that a run with this seed did
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>

/* Internal to vhost, which does not export it. */
#define IOTLB_MAP_API static __rte_unused
#include "../../lib/vhost/iotlb_map.c"
#include "iotlb_map_model.h"
#include "test.h"

#define SEED_VARIABLE "IOTLB_MAP_SEED"
#define NUM_OPERATIONS 250000
#define PAGE 0x1000
#define CAPACITY 2048

static struct iotlb_map *map;

/* Make the map anew. */
static int
make_map(uint32_t capacity, uint32_t flags)
{
	const struct iotlb_map_config config = { .capacity = capacity, .flags = flags, .seed = 1 };
	void *mem = aligned_alloc(ALIGNMENT, RTE_ALIGN_CEIL(iotlb_map_size(capacity), ALIGNMENT));

	free(map);
	map = NULL;
	TEST_ASSERT_NOT_NULL(mem, "no memory");
	/* What was there before must not matter. */
	memset(mem, 0xa5, iotlb_map_size(capacity));
	map = iotlb_map_init(mem, &config);
	return 0;
}

/* A range by its length. */
static int
insert(uint64_t first, uint64_t len, uint64_t host, uint8_t perm)
{
	const struct iotlb_map_entry entry = { .first = first,
		.last = first + len - 1,
		.host = host,
		.perm = perm,
		.page_shift = 12 };

	return iotlb_map_insert(map, &entry);
}

static bool
finds(uint64_t iova, uint64_t len, uint8_t perm, uint64_t host, uint64_t held)
{
	const struct iotlb_map_hit hit = iotlb_map_find(map, iova, len, perm);
	uint64_t in_page_host;

	const bool in_page = iotlb_map_find_page(map, iova, len, perm, &in_page_host);

	/* What is found in a page must be all that there is. */
	if (hit.host == host && hit.len == held && iotlb_map_verify(map) &&
		(!in_page || (in_page_host == host && held == len && len != 0)))
		return true;
	printf("find(0x%" PRIx64 ", 0x%" PRIx64 "): 0x%" PRIx64 " for 0x%" PRIx64 ", not 0x%" PRIx64
	       " for 0x%" PRIx64 "\n",
		iova, len, hit.host, hit.len, host, held);
	return false;
}

#define ASSERT_FINDS(...) TEST_ASSERT(finds(__VA_ARGS__), "wrong answer, see above")
#define ASSERT_NUM(num) TEST_ASSERT_EQUAL(iotlb_map_num(map), num, "%u entries", iotlb_map_num(map))

static int
test_neighbour_stays(void)
{
	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x1000, PAGE, 0x100000, IOTLB_MAP_RW);
	insert(0x2000, PAGE, 0x900000, IOTLB_MAP_RW);
	iotlb_map_remove(map, 0x1000, 0x1fff);
	ASSERT_FINDS(0x1000, 1, IOTLB_MAP_RO, 0, 0);
	ASSERT_FINDS(0x1fff, 1, IOTLB_MAP_RO, 0, 0);
	ASSERT_FINDS(0x2000, PAGE, IOTLB_MAP_RW, 0x900000, PAGE);
	return 0;
}

static int
test_host_not_contiguous(void)
{
	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x1000, PAGE, 0x100000, IOTLB_MAP_RW);
	insert(0x2000, PAGE, 0x900000, IOTLB_MAP_RW);
	ASSERT_FINDS(0x1800, 0x1000, IOTLB_MAP_RW, 0x100800, 0x800);
	ASSERT_FINDS(0x2000, 0x1001, IOTLB_MAP_RW, 0x900000, 0x1000);
	ASSERT_FINDS(0xfff, 2, IOTLB_MAP_RW, 0, 0);
	return 0;
}

/* Whether the entry at an address is the one that begins there; 0: there is none. */
static bool
is_at(uint64_t iova, uint64_t first)
{
	struct iotlb_map_entry entry = { .first = 0 };

	return iotlb_map_get_at(map, iova, &entry) == (first != 0) && entry.first == first;
}

static int
test_entry_at(void)
{
	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x1000, PAGE, 0x100000, IOTLB_MAP_RW);
	insert(0x3000, 2 * PAGE, 0x900000, IOTLB_MAP_RO);
	TEST_ASSERT(is_at(0xfff, 0) && is_at(0x2000, 0) && is_at(0x2fff, 0) && is_at(0x5000, 0) &&
			is_at(UINT64_MAX, 0),
		"an entry where there is none");
	TEST_ASSERT(is_at(0x1000, 0x1000) && is_at(0x1fff, 0x1000) && is_at(0x3000, 0x3000) &&
			is_at(0x4fff, 0x3000),
		"no entry where there is one, or another");
	return 0;
}

static int
test_remove_to_the_end(void)
{
	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x0, PAGE, 0x100000, IOTLB_MAP_RW);
	insert(0x1000, PAGE, 0x900000, IOTLB_MAP_RW);
	insert(0x8000, PAGE, 0xa00000, IOTLB_MAP_RO);
	insert(UINT64_MAX - 0xfff, PAGE, 0xb00000, IOTLB_MAP_RW);
	ASSERT_FINDS(UINT64_MAX, 1, IOTLB_MAP_RW, 0xb00fff, 1);
	ASSERT_FINDS(UINT64_MAX - 1, 100, IOTLB_MAP_RW, 0xb00ffe, 2);
	iotlb_map_remove(map, 0x1000, UINT64_MAX);
	ASSERT_NUM(1);
	ASSERT_FINDS(0, PAGE + 1, IOTLB_MAP_RW, 0x100000, PAGE);
	ASSERT_FINDS(UINT64_MAX, 1, IOTLB_MAP_RW, 0, 0);
	/* Backwards: nothing, not even inside an entry. */
	iotlb_map_remove(map, 0x1000, 0xfff);
	iotlb_map_remove(map, 0x800, 0x7ff);
	iotlb_map_remove(map, 0x801, 0x100);
	ASSERT_NUM(1);
	ASSERT_FINDS(0, PAGE + 1, IOTLB_MAP_RW, 0x100000, PAGE);
	return 0;
}

static int
test_newest_wins(void)
{
	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x1000, 0x3000, 0x100000, IOTLB_MAP_RO);
	ASSERT_FINDS(0x2000, 1, IOTLB_MAP_RW, 0, 0);
	insert(0x2000, 0x1000, 0x101000, IOTLB_MAP_RW);
	ASSERT_NUM(3);
	ASSERT_FINDS(0x2000, 0x2000, IOTLB_MAP_WO, 0x101000, 0x1000);
	ASSERT_FINDS(0x1000, 0x3000, IOTLB_MAP_RO, 0x100000, 0x3000);
	ASSERT_FINDS(0x1fff, 2, IOTLB_MAP_RW, 0, 0);
	/* The rest follows, and it is one entry again. */
	insert(0x1000, 0x1000, 0x100000, IOTLB_MAP_RW);
	insert(0x3000, 0x1000, 0x102000, IOTLB_MAP_RW);
	ASSERT_NUM(1);
	/* Mapped elsewhere. */
	insert(0x1000, 0x3000, 0x700000, IOTLB_MAP_RW);
	ASSERT_NUM(1);
	ASSERT_FINDS(0x3fff, 1, IOTLB_MAP_RW, 0x702fff, 1);
	return 0;
}

static int
test_merge_of_huge_page(void)
{
	unsigned int i;

	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	/* In no order at all: 37 is odd. */
	for (i = 0; i < 512; i++)
		insert((uint64_t)(i * 37 % 512) * PAGE, PAGE, 0x40000000 + i * 37 % 512 * PAGE,
			IOTLB_MAP_RW);
	ASSERT_NUM(1);
	ASSERT_FINDS(0x800, 0x300000, IOTLB_MAP_RW, 0x40000800, 0x1ff800);
	TEST_ASSERT_EQUAL(iotlb_map_get_stats(map).merges, 511, "not as many merges");

	TEST_ASSERT_SUCCESS(make_map(CAPACITY, IOTLB_MAP_NO_MERGE), "no map");
	for (i = 0; i < 512; i++)
		insert((uint64_t)i * PAGE, PAGE, 0x40000000 + i * PAGE, IOTLB_MAP_RW);
	ASSERT_NUM(512);
	ASSERT_FINDS(0x800, 0x300000, IOTLB_MAP_RW, 0x40000800, 0x1ff800);
	return 0;
}

static int
test_whole_space(void)
{
	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0, 0, 0, IOTLB_MAP_RW); /* length 2^64 */
	ASSERT_NUM(1);
	ASSERT_FINDS(0, UINT64_MAX, IOTLB_MAP_RW, 0, UINT64_MAX);
	ASSERT_FINDS(5, UINT64_MAX, IOTLB_MAP_RW, 5, UINT64_MAX - 4);
	iotlb_map_remove(map, 0x1000, 0x1fff);
	ASSERT_NUM(2);
	ASSERT_FINDS(0, UINT64_MAX, IOTLB_MAP_RW, 0, 0x1000);
	insert(0x1000, 0x1000, 0x1000, IOTLB_MAP_RW);
	ASSERT_NUM(1);
	iotlb_map_clear(map);
	ASSERT_NUM(0);
	ASSERT_FINDS(0, 1, IOTLB_MAP_RO, 0, 0);
	return 0;
}

/* The first page goes on in host memory where the last one ends, and yet does not follow. */
static int
test_last_page(void)
{
	const uint64_t last_page = UINT64_MAX - PAGE + 1;

	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(last_page, PAGE, 0x100000, IOTLB_MAP_RW);
	insert(0, PAGE, 0x101000, IOTLB_MAP_RW);
	ASSERT_FINDS(last_page + 0x800, PAGE, IOTLB_MAP_RW, 0x100800, 0x800);
	ASSERT_FINDS(0x800, PAGE, IOTLB_MAP_RW, 0x101800, 0x800);
	return 0;
}

/* Pages are noted for look-ups; what is not whole in an entry any more must not be. */
static int
test_pages(void)
{
	uint64_t host;

	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x1000, 3 * PAGE, 0x100000, IOTLB_MAP_RO);
	ASSERT_FINDS(0x1ff0, 0x1020, IOTLB_MAP_RO, 0x100ff0, 0x1020);
	TEST_ASSERT(iotlb_map_find_page(map, 0x2ff0, 0x10, IOTLB_MAP_RO, &host), "not in line");
	iotlb_map_remove(map, 0x2800, 0x2fff);
	ASSERT_FINDS(0x1ff0, 0x1020, IOTLB_MAP_RO, 0x100ff0, 0x810);
	ASSERT_FINDS(0x2801, 1, IOTLB_MAP_RO, 0, 0);
	ASSERT_FINDS(0x3000, PAGE, IOTLB_MAP_RO, 0x102000, PAGE);
	insert(0x3ff0, 0x20, 0x900000, IOTLB_MAP_RW);
	ASSERT_FINDS(0x3000, PAGE, IOTLB_MAP_RO, 0x102000, 0xff0);
	ASSERT_FINDS(0x3ff8, 0x10, IOTLB_MAP_RW, 0x900008, 0x10);
	/* More pages than are noted, of which each is known. */
	insert(0x10000000, 3 * CAPACITY * PAGE, 0x40000000, IOTLB_MAP_RW);
	ASSERT_FINDS(0x10000800, PAGE, IOTLB_MAP_RW, 0x40000800, PAGE);
	ASSERT_FINDS(0x10000000 + 3 * CAPACITY * PAGE - 1, 2, IOTLB_MAP_RW,
		0x40000000 + 3 * CAPACITY * PAGE - 1, 1);
	return 0;
}

/* Pages with holes between them have places of their own, too. */
static int
test_places(void)
{
	unsigned int stride, i;
	uint64_t host;

	for (stride = 1; stride <= 4; stride *= 2) {
		TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
		for (i = 0; i < CAPACITY; i++)
			insert((uint64_t)i * stride * PAGE, PAGE, (uint64_t)i * PAGE, IOTLB_MAP_RW);
		for (i = 0; i < CAPACITY; i++)
			TEST_ASSERT(iotlb_map_find_page(map, (uint64_t)i * stride * PAGE, PAGE,
					    IOTLB_MAP_RW, &host) &&
					host == (uint64_t)i * PAGE,
				"page %u of every %u is not noted", i, stride);
	}
	return 0;
}

/* No more than DPDK's list: 2048 elements of 56 bytes. */
static int
test_memory(void)
{
	printf("%zu bytes for %u entries\n", iotlb_map_size(CAPACITY), CAPACITY);
	TEST_ASSERT(iotlb_map_size(CAPACITY) <= CAPACITY * 56, "more than a list");
	return 0;
}

static int
test_refused(void)
{
	uint8_t perm;

	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x1000, PAGE, 0x100000, IOTLB_MAP_RW);
	/* Lengths of 0 and beyond the end are ranges that end before they begin. */
	TEST_ASSERT_EQUAL(insert(0x1000, 0, 0x5000, IOTLB_MAP_RW), -EINVAL, "length 0 taken");
	TEST_ASSERT_EQUAL(insert(0x1001, UINT64_MAX, 0x5000, IOTLB_MAP_RW), -EINVAL,
		"a range that wraps was taken");
	TEST_ASSERT_EQUAL(insert(0x1000, PAGE, 0x5000, 0), -EINVAL, "no permission was taken");
	for (perm = IOTLB_MAP_RW + 1; perm < 8; perm++)
		TEST_ASSERT_EQUAL(insert(0x1000, PAGE, 0x5000, perm), -EINVAL,
			"permission %u was taken", perm);
	ASSERT_NUM(1);
	ASSERT_FINDS(0x1000, 0, IOTLB_MAP_RW, 0, 0);
	ASSERT_FINDS(0x1000, PAGE, IOTLB_MAP_RW, 0x100000, PAGE);
	return 0;
}

static int
test_full(void)
{
	const struct iotlb_map_entry entry = {
		.first = 0x100, .last = 0x1ff, .host = 1, .perm = IOTLB_MAP_RW, .persistent = true
	};
	unsigned int i;

	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	TEST_ASSERT_SUCCESS(iotlb_map_insert(map, &entry), "not inserted");
	for (i = 1; i < 10 * CAPACITY; i++) {
		insert((uint64_t)i * 2 * PAGE, PAGE, (uint64_t)i * PAGE, IOTLB_MAP_RW);
		ASSERT_NUM(RTE_MIN(i + 1, (unsigned int)CAPACITY));
		ASSERT_FINDS((uint64_t)i * 2 * PAGE, PAGE, IOTLB_MAP_RW, (uint64_t)i * PAGE, PAGE);
	}
	TEST_ASSERT_EQUAL(iotlb_map_get_stats(map).evictions, 9 * CAPACITY, "not one victim each");
	ASSERT_FINDS(0x100, 0x100, IOTLB_MAP_RW, 1, 0x100);
	/* One is cut in two, so another one goes, and none of the two. */
	i--;
	iotlb_map_remove(map, (uint64_t)i * 2 * PAGE + 1, (uint64_t)i * 2 * PAGE + 1);
	ASSERT_NUM(CAPACITY);
	ASSERT_FINDS((uint64_t)i * 2 * PAGE + 2, 1, IOTLB_MAP_RW, (uint64_t)i * PAGE + 2, 1);
	return 0;
}

/* Whoever is evicted by a map with a seed: one at a time, each told again afterwards. */
static uint64_t
draw_victims(uint64_t seed, unsigned int *num_places)
{
	const struct iotlb_map_config config = { .capacity = 8, .seed = seed };
	bool places[8] = { false };
	unsigned int i, round;
	uint64_t hash = 0;

	*num_places = 0;
	map = iotlb_map_init(map, &config);
	for (i = 0; i < 8; i++)
		insert(i * 2 * PAGE, PAGE, 0, IOTLB_MAP_RW);
	for (round = 0; round < 100; round++) {
		insert(100 * PAGE, PAGE, 0, IOTLB_MAP_RW);
		iotlb_map_remove(map, 100 * PAGE, 101 * PAGE - 1);
		for (i = 0; i < 8; i++) {
			if (iotlb_map_find(map, i * 2 * PAGE, 1, IOTLB_MAP_RW).len != 0)
				continue;
			*num_places += !places[i];
			places[i] = true;
			hash = hash * 31 + i;
			insert(i * 2 * PAGE, PAGE, 0, IOTLB_MAP_RW);
		}
	}
	return hash;
}

static int
test_victims(void)
{
	unsigned int num_places;
	uint64_t victims;

	TEST_ASSERT_SUCCESS(make_map(8, 0), "no map");
	victims = draw_victims(2, &num_places);
	TEST_ASSERT_EQUAL(num_places, 8, "only %u of 8 are evicted", num_places);
	TEST_ASSERT_EQUAL(draw_victims(2, &num_places), victims, "others by the same seed");
	TEST_ASSERT(draw_victims(4, &num_places) != victims, "the same by another seed");
	return 0;
}

static int
test_full_of_persistent(void)
{
	struct iotlb_map_entry entry = { .host = 0x1000, .perm = IOTLB_MAP_RW, .persistent = true };

	TEST_ASSERT_SUCCESS(make_map(2, 0), "no map");
	for (entry.first = 0; entry.first < 0x4000; entry.first += 0x2000) {
		entry.last = entry.first + 0xfff;
		TEST_ASSERT_SUCCESS(iotlb_map_insert(map, &entry), "not inserted");
	}
	TEST_ASSERT_EQUAL(
		insert(0x8000, PAGE, 0x5000, IOTLB_MAP_RW), -ENOSPC, "no room, yet taken");
	ASSERT_FINDS(0x8000, 1, IOTLB_MAP_RO, 0, 0);
	ASSERT_FINDS(0x0, 1, IOTLB_MAP_RO, 0x1000, 1);
	ASSERT_FINDS(0x2000, 1, IOTLB_MAP_RO, 0x1000, 1);
	iotlb_map_remove(map, 0x400, 0x7ff);
	ASSERT_FINDS(0x0, PAGE, IOTLB_MAP_RO, 0x1000, 0x400);
	ASSERT_FINDS(0x800, 1, IOTLB_MAP_RO, 0, 0);
	return 0;
}

/* Put into the middle of one, what cannot stay would make it three. */
static int
test_inside_persistent(void)
{
	struct iotlb_map_entry entry = { .host = 0x1000, .perm = IOTLB_MAP_RW, .persistent = true };
	unsigned int i;

	TEST_ASSERT_SUCCESS(make_map(2, 0), "no map");
	for (entry.first = 0; entry.first < 0x40000; entry.first += 0x20000) {
		entry.last = entry.first + 0xffff;
		TEST_ASSERT_SUCCESS(iotlb_map_insert(map, &entry), "not inserted");
	}
	/* From above, so that each is inside what is left. */
	for (i = 3; i > 0; i--) {
		TEST_ASSERT_EQUAL(insert(i * 0x4000, PAGE, 0x5000, IOTLB_MAP_RW), -ENOSPC,
			"no room, yet taken");
		ASSERT_NUM(2);
		ASSERT_FINDS(0x0, 0x10000, IOTLB_MAP_RW, 0x1000, i * 0x4000);
		ASSERT_FINDS(i * 0x4000 + PAGE, 1, IOTLB_MAP_RO, 0, 0);
		ASSERT_FINDS(0x20000, 0x10000, IOTLB_MAP_RW, 0x1000, 0x10000);
	}
	return 0;
}

/* A verifier that passes everything would hide all faults. */
static int
test_verifier(void)
{
	TEST_ASSERT_SUCCESS(make_map(CAPACITY, 0), "no map");
	insert(0x1000, PAGE, 0x100000, IOTLB_MAP_RW);
	insert(0x2000, PAGE, 0x900000, IOTLB_MAP_RW);
	insert(0x4000, PAGE, 0xa00000, IOTLB_MAP_RW);
	TEST_ASSERT(iotlb_map_verify(map), "no fault, yet found");
#define ASSERT_SEEN(place, wrong) \
	do { \
		const uint64_t right = place; \
		place = wrong; \
		TEST_ASSERT(!iotlb_map_verify(map), "not seen: " #place " is " #wrong); \
		place = right; \
		TEST_ASSERT(iotlb_map_verify(map), "still wrong"); \
	} while (0)
	ASSERT_SEEN(map->first[0], 0x2000);
	ASSERT_SEEN(map->values[0].last, 0x2000);
	ASSERT_SEEN(map->values[2].last, 0x3fff);
	ASSERT_SEEN(map->values[1].perm, 0);
	ASSERT_SEEN(map->values[1].perm, 7);
	ASSERT_SEEN(map->values[1].delta, 0xff000);
	ASSERT_SEEN(map->first[3], 0);
	ASSERT_SEEN(map->num, CAPACITY + 1);
	ASSERT_SEEN(map->slots[1], 0);
	ASSERT_SEEN(map->slots[1], CAPACITY + SPARE);
	ASSERT_SEEN(map->unused, 2);
	ASSERT_SEEN(map->values[CAPACITY].perm, IOTLB_MAP_RO);
	ASSERT_SEEN(map->head.pages[0].key, 0x1000 | IOTLB_MAP_RW);
	ASSERT_SEEN(map->head.pages[1].key, 0x1000 | IOTLB_MAP_RO);
	ASSERT_SEEN(map->head.pages[1].delta, 0x101000);
	ASSERT_SEEN(map->head.pages[3].key, 0x3000 | IOTLB_MAP_RW);
#undef ASSERT_SEEN
	return 0;
}

/* --- at random --- */

static int
test_random(uint64_t seed, uint32_t capacity, bool merges, unsigned int shift,
	unsigned int num_persistent)
{
	struct model_words words = { .next = model_random_word, .state = seed };
	struct model *model = model_create(capacity, merges, shift, num_persistent);
	int ret = 0;
	unsigned int i;

	if (model == NULL)
		return model_fault("no memory", 0);
	for (i = 0; i < NUM_OPERATIONS && ret == 0; i++)
		ret = model_step(model, &words);
	if (ret != 0)
		printf("capacity %u, merging %s, cells of %u, %u persistent, operation %u, "
		       "%s=%" PRIu64 "\n",
			capacity, merges ? "on" : "off", 1u << shift, num_persistent, i,
			SEED_VARIABLE, seed);
	model_destroy(model);
	return ret;
}

static int
get_seed(uint64_t *seed)
{
	const char *value = getenv(SEED_VARIABLE);
	char *end;

	*seed = rte_rdtsc();
	if (value == NULL)
		return 0;
	errno = 0;
	*seed = strtoull(value, &end, 10);
	if (isdigit((unsigned char)value[0]) && *end == '\0' && errno == 0)
		return 0;
	printf("%s: not a whole number below 2^64: \"%s\"\n", SEED_VARIABLE, value);
	return -1;
}

static int
test_all_random(void)
{
	/*
	 * Room for all there can be, for few, and for hardly any; bytes, parts of pages, pages.
	 * If not all may be persistent, something can be evicted.
	 */
	static const struct {
		uint32_t capacity;
		bool merges;
		unsigned int shift;
		unsigned int num_persistent;
	} kinds[] = { { MODEL_CELLS, true, 0, 4 }, { MODEL_CELLS, false, 0, 4 }, { 24, true, 0, 4 },
		{ 24, false, 10, 4 }, { 9, true, 10, 4 }, { MODEL_CELLS, true, 12, MODEL_CELLS },
		{ MODEL_CELLS, false, 12, 4 }, { 24, true, 12, 4 }, { 9, true, 13, 4 },
		{ 24, true, 0, MODEL_CELLS }, { 3, true, 12, MODEL_CELLS },
		{ 2, true, 10, MODEL_CELLS }, { 1, true, 0, MODEL_CELLS } };
	uint64_t seed;
	unsigned int i;

	if (get_seed(&seed) != 0)
		return -1;
	printf("%d random operations of each kind, %s=%" PRIu64 "\n", NUM_OPERATIONS, SEED_VARIABLE,
		seed);
	for (i = 0; i < RTE_DIM(kinds); i++)
		if (test_random(seed, kinds[i].capacity, kinds[i].merges, kinds[i].shift,
			    kinds[i].num_persistent) != 0)
			return -1;
	return 0;
}

static struct unit_test_suite map_suite = {
	.suite_name = "map of the vhost IOTLB",
	.unit_test_cases = {
		TEST_CASE(test_neighbour_stays),
		TEST_CASE(test_host_not_contiguous),
		TEST_CASE(test_entry_at),
		TEST_CASE(test_remove_to_the_end),
		TEST_CASE(test_newest_wins),
		TEST_CASE(test_merge_of_huge_page),
		TEST_CASE(test_whole_space),
		TEST_CASE(test_last_page),
		TEST_CASE(test_pages),
		TEST_CASE(test_places),
		TEST_CASE(test_memory),
		TEST_CASE(test_refused),
		TEST_CASE(test_full),
		TEST_CASE(test_victims),
		TEST_CASE(test_full_of_persistent),
		TEST_CASE(test_inside_persistent),
		TEST_CASE(test_verifier),
		TEST_CASE(test_all_random),
		TEST_CASES_END(),
	},
};

static int
test_vhost_iotlb_map(void)
{
	int ret = unit_test_suite_runner(&map_suite);

	free(map);
	map = NULL;
	return ret;
}

REGISTER_TEST_COMMAND(vhost_iotlb_map_autotest, test_vhost_iotlb_map);
