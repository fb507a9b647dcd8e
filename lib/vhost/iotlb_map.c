/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * The first addresses stand in an array of their own, which is all that a search reads:
 * 16 KiB for 2048 entries. What belongs to them is in a second array, read once.
 *
 * A search chooses a quarter of what is left by three comparisons that do not wait for
 * each other, and counts at the end. None of it branches on addresses, which are random
 * as far as a branch predictor is concerned.
 */

#include <errno.h>
#include <string.h>

#include "iotlb_map.h"

/* Compared at the end of a search. */
#define TAIL 4
/* An insertion adds two entries at most, before one is evicted. */
#define SPARE 2
/* An address behind the last entry: a search may read, but does not believe it. */
#define NO_ENTRY UINT64_MAX
#define ALIGNMENT 64

struct value {
	uint64_t last;
	uint64_t host;
	uint8_t perm;
	uint8_t page_shift;
	bool persistent;
};

struct iotlb_map {
	uint64_t *first;
	struct value *values;
	uint32_t num;
	uint32_t capacity;
	uint32_t flags;
	uint64_t random;
	iotlb_map_gone_t gone;
	void *gone_arg;
	struct iotlb_map_stats stats;
};

/* The addresses begin behind it, at a cache line. */
#define HEAD_SIZE ((sizeof(struct iotlb_map) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

/* --- making --- */

static size_t
num_keys(uint32_t capacity)
{
	return ((size_t)capacity + SPARE + 2 * TAIL - 1) / TAIL * TAIL;
}

size_t
iotlb_map_size(uint32_t capacity)
{
	return HEAD_SIZE + num_keys(capacity) * sizeof(uint64_t) +
		((size_t)capacity + SPARE) * sizeof(struct value);
}

struct iotlb_map *
iotlb_map_init(void *mem, const struct iotlb_map_config *config)
{
	struct iotlb_map *map = mem;

	*map = (struct iotlb_map){
		.first = (uint64_t *)((uintptr_t)mem + HEAD_SIZE),
		.num = num_keys(config->capacity),
		.capacity = config->capacity,
		.flags = config->flags,
		/* A generator by shifts stays at 0. */
		.random = config->seed | 1,
		.gone = config->gone,
		.gone_arg = config->gone_arg,
	};
	map->values = (struct value *)(map->first + map->num);
	memset(map->first, 0xff, map->num * sizeof(map->first[0]));
	map->num = 0;
	return map;
}

/* --- entries --- */

struct iotlb_map_entry
iotlb_map_get(const struct iotlb_map *map, uint32_t rank)
{
	const struct value *value = &map->values[rank];

	return (struct iotlb_map_entry){
		.first = map->first[rank],
		.last = value->last,
		.host = value->host,
		.perm = value->perm,
		.page_shift = value->page_shift,
		.persistent = value->persistent,
	};
}

static void
put(struct iotlb_map *map, uint32_t rank, const struct iotlb_map_entry *entry)
{
	map->first[rank] = entry->first;
	map->values[rank] = (struct value){
		.last = entry->last,
		.host = entry->host,
		.perm = entry->perm,
		.page_shift = entry->page_shift,
		.persistent = entry->persistent,
	};
}

/* The part of an entry from one address to another, both inside it. */
static struct iotlb_map_entry
cut(struct iotlb_map_entry entry, uint64_t first, uint64_t last)
{
	entry.host += first - entry.first;
	entry.first = first;
	entry.last = last;
	return entry;
}

/* Whether an entry goes on where one below it ends. */
static bool
continues(const struct iotlb_map_entry *low, const struct iotlb_map_entry *high)
{
	return high->first == low->last + 1 &&
		high->host == low->host + (high->first - low->first) && high->perm == low->perm &&
		high->page_shift == low->page_shift && high->persistent == low->persistent;
}

/* Put other entries in the place of those from begin to before end. */
static void
replace(struct iotlb_map *map, uint32_t begin, uint32_t end, const struct iotlb_map_entry *entries,
	uint32_t num)
{
	const uint32_t old_num = map->num;
	const uint32_t above = old_num - end;
	uint32_t i;

	map->num = begin + num + above;
	if (begin + num != end) {
		memmove(&map->first[begin + num], &map->first[end], above * sizeof(map->first[0]));
		memmove(&map->values[begin + num], &map->values[end],
			above * sizeof(map->values[0]));
	}
	for (i = 0; i < num; i++)
		put(map, begin + i, &entries[i]);
	for (i = map->num; i < old_num; i++)
		map->first[i] = NO_ENTRY;
}

/* --- search --- */

/*
 * Where the quarter begins in which the first address above an address is.
 * The ends of both halves are chosen from before it is known which half it is.
 */
static inline const uint64_t *
choose_quarter(const uint64_t *first, uint32_t len, uint64_t iova)
{
	const uint64_t *second = first + len, *third = second + len, *fourth = third + len;
	const uint64_t *low = second[-1] <= iova ? second : first;
	const uint64_t *high = fourth[-1] <= iova ? fourth : third;

	return third[-1] <= iova ? high : low;
}

/* Number of entries that begin at the address or below it. */
static inline uint32_t
count_up_to(const struct iotlb_map *map, uint64_t iova)
{
	const uint64_t *at = map->first;
	uint32_t left = map->num, count;

	/* What is below *at* begins up to iova; what is at[left] or above, beyond it. */
	while (left > TAIL) {
		at = choose_quarter(at, left / 4, iova);
		left -= 3 * (left / 4);
	}
	count = at - map->first + (at[0] <= iova) + (at[1] <= iova) + (at[2] <= iova) +
		(at[3] <= iova);
	/* The last address there is may stand for no entry as well. */
	return count < map->num ? count : map->num;
}

/* The rest of a look-up that an entry answers in part. */
static uint64_t
extend(const struct iotlb_map *map, uint32_t rank, uint64_t iova, uint64_t len, uint8_t perm)
{
	uint64_t host = map->values[rank].host - map->first[rank];

	while (map->values[rank].last - iova < len - 1) {
		const uint64_t next = map->values[rank].last + 1;

		rank++;
		if (rank == map->num || map->first[rank] != next ||
			map->values[rank].host - next != host ||
			(map->values[rank].perm & perm) != perm)
			return next - iova;
	}
	return len;
}

struct iotlb_map_hit
iotlb_map_find(const struct iotlb_map *map, uint64_t iova, uint64_t len, uint8_t perm)
{
	const struct iotlb_map_hit miss = { 0, 0 };
	const uint32_t below = count_up_to(map, iova);
	const uint32_t rank = below - 1;
	const struct value *value;

	if (below == 0 || len == 0)
		return miss;
	value = &map->values[rank];
	if (iova > value->last || (value->perm & perm) != perm)
		return miss;
	if (value->last - iova < len - 1)
		len = extend(map, rank, iova, len, perm);
	return (struct iotlb_map_hit){ value->host + (iova - map->first[rank]), len };
}

/* --- changes --- */

static void
tell_gone(const struct iotlb_map *map, uint32_t begin, uint32_t end, uint64_t first, uint64_t last)
{
	for (; map->gone != NULL && begin < end; begin++) {
		struct iotlb_map_entry entry = iotlb_map_get(map, begin);

		entry = cut(entry, entry.first > first ? entry.first : first,
			entry.last < last ? entry.last : last);
		map->gone(map->gone_arg, &entry);
	}
}

static uint64_t
draw(struct iotlb_map *map)
{
	map->random ^= map->random << 13;
	map->random ^= map->random >> 7;
	map->random ^= map->random << 17;
	return map->random;
}

/* Evict an entry, but not the one to be kept, unless it is the only one that can go. */
static bool
evict(struct iotlb_map *map, uint32_t kept)
{
	uint32_t victim = draw(map) % map->num, tries;

	for (tries = 0; tries < map->num; tries++) {
		if (victim != kept && !map->values[victim].persistent)
			break;
		victim = victim + 1 == map->num ? 0 : victim + 1;
	}
	if (tries == map->num)
		victim = kept;
	tell_gone(map, victim, victim + 1, 0, UINT64_MAX);
	replace(map, victim, victim + 1, NULL, 0);
	map->stats.evictions++;
	return victim != kept;
}

/*
 * Bring a map down to its capacity.
 * The entry of rank *kept* may be found at a lower rank then.
 */
static int
shrink(struct iotlb_map *map, uint32_t kept)
{
	const uint64_t first = map->first[kept];

	while (map->num > map->capacity) {
		if (!evict(map, kept))
			return -ENOSPC;
		kept = count_up_to(map, first) - 1;
	}
	return 0;
}

/* The lowest entry that ends at an address or above it. */
static uint32_t
find_begin(const struct iotlb_map *map, uint64_t first)
{
	const uint32_t below = count_up_to(map, first);

	return below > 0 && map->values[below - 1].last >= first ? below - 1 : below;
}

/* What is left of entries on both sides of a range. */
struct rest {
	uint32_t begin, end; /* the entries that overlap it */
	bool has_low, has_high;
	struct iotlb_map_entry low, high;
};

static struct rest
find_rest(const struct iotlb_map *map, uint64_t first, uint64_t last)
{
	struct rest rest = { .begin = find_begin(map, first) };

	rest.end = rest.begin;
	while (rest.end < map->num && map->first[rest.end] <= last)
		rest.end++;
	if (rest.begin == rest.end)
		return rest;
	rest.low = iotlb_map_get(map, rest.begin);
	rest.high = iotlb_map_get(map, rest.end - 1);
	rest.has_low = rest.low.first < first;
	rest.has_high = rest.high.last > last;
	if (rest.has_low)
		rest.low = cut(rest.low, rest.low.first, first - 1);
	if (rest.has_high)
		rest.high = cut(rest.high, last + 1, rest.high.last);
	return rest;
}

/* Take into an entry what it continues and what continues it. */
static void
merge(struct iotlb_map *map, struct rest *rest, struct iotlb_map_entry *entry)
{
	if (!rest->has_low && rest->begin > 0) {
		rest->low = iotlb_map_get(map, rest->begin - 1);
		if (continues(&rest->low, entry)) {
			rest->begin--;
			rest->has_low = true;
		}
	}
	if (rest->has_low && continues(&rest->low, entry)) {
		*entry = cut(*entry, rest->low.first, entry->last);
		rest->has_low = false;
		map->stats.merges++;
	}
	if (!rest->has_high && rest->end < map->num) {
		rest->high = iotlb_map_get(map, rest->end);
		if (continues(entry, &rest->high)) {
			rest->end++;
			rest->has_high = true;
		}
	}
	if (rest->has_high && continues(entry, &rest->high)) {
		entry->last = rest->high.last;
		rest->has_high = false;
		map->stats.merges++;
	}
}

int
iotlb_map_insert(struct iotlb_map *map, const struct iotlb_map_entry *entry)
{
	struct iotlb_map_entry parts[3], new = *entry;
	uint32_t num = 0, rank;
	struct rest rest;

	if (new.last < new.first || (new.perm &IOTLB_MAP_RW) == 0)
		return -EINVAL;
	rest = find_rest(map, new.first, new.last);
	tell_gone(map, rest.begin, rest.end, new.first, new.last);
	if ((map->flags & IOTLB_MAP_NO_MERGE) == 0)
		merge(map, &rest, &new);
	if (rest.has_low)
		parts[num++] = rest.low;
	rank = rest.begin + num;
	parts[num++] = new;
	if (rest.has_high)
		parts[num++] = rest.high;
	replace(map, rest.begin, rest.end, parts, num);
	return shrink(map, rank);
}

void
iotlb_map_remove(struct iotlb_map *map, uint64_t first, uint64_t last)
{
	struct iotlb_map_entry parts[2];
	uint32_t num = 0;
	struct rest rest;

	if (last < first)
		return;
	rest = find_rest(map, first, last);
	tell_gone(map, rest.begin, rest.end, first, last);
	if (rest.has_low)
		parts[num++] = rest.low;
	if (rest.has_high)
		parts[num++] = rest.high;
	replace(map, rest.begin, rest.end, parts, num);
	if (num == 2)
		shrink(map, rest.begin + 1);
}

void
iotlb_map_clear(struct iotlb_map *map)
{
	iotlb_map_remove(map, 0, UINT64_MAX);
}

/* --- questions --- */

uint32_t
iotlb_map_num(const struct iotlb_map *map)
{
	return map->num;
}

struct iotlb_map_stats
iotlb_map_get_stats(const struct iotlb_map *map)
{
	return map->stats;
}

bool
iotlb_map_verify(const struct iotlb_map *map)
{
	bool right = map->num <= map->capacity;
	uint32_t i;

	for (i = 0; i < num_keys(map->capacity); i++) {
		struct iotlb_map_entry entry, above;

		if (i >= map->num) {
			right = right && map->first[i] == NO_ENTRY;
			continue;
		}
		entry = iotlb_map_get(map, i);
		right = right && entry.first <= entry.last && (entry.perm & IOTLB_MAP_RW) != 0;
		if (i + 1 == map->num)
			continue;
		above = iotlb_map_get(map, i + 1);
		right = right && entry.last < above.first;
		if ((map->flags & IOTLB_MAP_NO_MERGE) == 0)
			right = right && !continues(&entry, &above);
	}
	return right;
}
