/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * An entry stays in one place, its slot, as long as it lives. Two arrays are sorted: of
 * first addresses, which is all that a search reads, and of the slots that belong to them.
 *
 * A look-up tries a table of pages before it searches: by the lower bits of a page's
 * number, the last page of these that was told, with what is to be added to an address
 * there. One cache line is all that is read then, which holds four pages. Pages are noted
 * as translations come and not by look-ups, so that these write nothing. An entry of which
 * a page is not noted, be it large or not of whole pages, is searched.
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
#define NO_SLOT UINT32_MAX
#define PAGE_SHIFT IOTLB_MAP_PAGE_SHIFT
#define PAGE_LEN IOTLB_MAP_PAGE_LEN
#define PAGE_MASK (PAGE_LEN - 1)
/* A key without a page: not of any permission. */
#define NO_PAGE (PAGE_LEN / 2)
#define ALIGNMENT 64

/* A slot. An unused one has no permission. */
struct value {
	uint64_t last;
	uint64_t delta; /* as of a page; of an unused one, the next unused one */
	uint8_t perm;
	uint8_t page_shift;
	bool persistent;
};

struct iotlb_map {
	struct iotlb_map_head head;
	/* By slot. */
	struct value *values;
	uint32_t unused;
	/* By rank. */
	uint64_t *first;
	uint32_t *slots;
	uint32_t num;
	uint32_t capacity;
	uint32_t flags;
	uint64_t random;
	iotlb_map_gone_t gone;
	void *gone_arg;
	struct iotlb_map_stats stats;
};

/* The pages begin behind it, at a cache line. */
#define HEAD_SIZE ((sizeof(struct iotlb_map) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

/* --- making --- */

static size_t
num_keys(uint32_t capacity)
{
	return ((size_t)capacity + SPARE + 2 * TAIL - 1) / TAIL * TAIL;
}

static size_t
num_slots(uint32_t capacity)
{
	return (size_t)capacity + SPARE;
}

/* A power of 2, so many that most of a full map's entries can have one each. */
static size_t
num_pages(uint32_t capacity)
{
	size_t num = 2;

	while (num <= capacity / 2)
		num *= 2;
	return num;
}

size_t
iotlb_map_size(uint32_t capacity)
{
	return HEAD_SIZE + num_pages(capacity) * sizeof(struct iotlb_map_page) +
		num_slots(capacity) * (sizeof(struct value) + sizeof(uint32_t)) +
		num_keys(capacity) * sizeof(uint64_t);
}

static void
give_slot_back(struct iotlb_map *map, uint32_t slot)
{
	map->values[slot] = (struct value){ .delta = map->unused };
	map->unused = slot;
}

struct iotlb_map *
iotlb_map_init(void *mem, const struct iotlb_map_config *config)
{
	const uint32_t capacity = config->capacity;
	struct iotlb_map *map = mem;
	size_t i;

	*map = (struct iotlb_map){
		.head.pages = (struct iotlb_map_page *)((uintptr_t)mem + HEAD_SIZE),
		.head.pages_mask = num_pages(capacity) - 1,
		.unused = NO_SLOT,
		.capacity = capacity,
		.flags = config->flags,
		/* A generator by shifts stays at 0. */
		.random = config->seed | 1,
		.gone = config->gone,
		.gone_arg = config->gone_arg,
	};
	map->values = (struct value *)(map->head.pages + num_pages(capacity));
	map->first = (uint64_t *)(map->values + num_slots(capacity));
	map->slots = (uint32_t *)(map->first + num_keys(capacity));
	memset(map->first, 0xff, num_keys(capacity) * sizeof(map->first[0]));
	for (i = 0; i < num_pages(capacity); i++)
		map->head.pages[i].key = NO_PAGE;
	for (i = num_slots(capacity); i > 0; i--)
		give_slot_back(map, i - 1);
	return map;
}

/* --- entries --- */

static inline const struct value *
value_at(const struct iotlb_map *map, uint32_t rank)
{
	return &map->values[map->slots[rank]];
}

struct iotlb_map_entry
iotlb_map_get(const struct iotlb_map *map, uint32_t rank)
{
	const struct value *value = value_at(map, rank);

	return (struct iotlb_map_entry){
		.first = map->first[rank],
		.last = value->last,
		.host = map->first[rank] + value->delta,
		.perm = value->perm,
		.page_shift = value->page_shift,
		.persistent = value->persistent,
	};
}

/* Put an entry into an unused slot, of which there is one. */
static void
put(struct iotlb_map *map, uint32_t rank, const struct iotlb_map_entry *entry)
{
	const uint32_t slot = map->unused;
	struct value *value = &map->values[slot];

	map->unused = value->delta;
	*value = (struct value){
		.last = entry->last,
		.delta = entry->host - entry->first,
		.perm = entry->perm,
		.page_shift = entry->page_shift,
		.persistent = entry->persistent,
	};
	map->first[rank] = entry->first;
	map->slots[rank] = slot;
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
	for (i = begin; i < end; i++)
		give_slot_back(map, map->slots[i]);
	if (begin + num != end) {
		memmove(&map->first[begin + num], &map->first[end], above * sizeof(map->first[0]));
		memmove(&map->slots[begin + num], &map->slots[end], above * sizeof(map->slots[0]));
	}
	for (i = 0; i < num; i++)
		put(map, begin + i, &entries[i]);
	for (i = map->num; i < old_num; i++)
		map->first[i] = NO_ENTRY;
}

/* --- pages --- */

/* Note none of the pages that a range touches. */
static void
forget_pages(struct iotlb_map *map, uint64_t first, uint64_t last)
{
	const uint64_t begin = first >> PAGE_SHIFT, more = (last >> PAGE_SHIFT) - begin;
	const bool is_all = more > map->head.pages_mask;
	uint64_t i;

	/* Of more pages than there are places they may be anywhere. */
	for (i = 0; i <= (is_all ? map->head.pages_mask : more); i++) {
		const uint64_t at = is_all ? i : iotlb_map_place(&map->head, begin + i);
		struct iotlb_map_page *page = &map->head.pages[at];

		if ((page->key >> PAGE_SHIFT) - begin <= more)
			page->key = NO_PAGE;
	}
}

/* Note the pages that are whole in an entry, or as many as there is room for. */
static void
note_pages(struct iotlb_map *map, const struct iotlb_map_entry *entry)
{
	const uint64_t begin = (entry->first >> PAGE_SHIFT) + ((entry->first & PAGE_MASK) != 0);
	const uint64_t end = (entry->last >> PAGE_SHIFT) + ((entry->last & PAGE_MASK) == PAGE_MASK);
	uint64_t i;

	for (i = begin; i < end && i - begin <= map->head.pages_mask; i++)
		map->head.pages[iotlb_map_place(&map->head, i)] = (struct iotlb_map_page){
			.key = (i << PAGE_SHIFT) | entry->perm,
			.delta = entry->host - entry->first,
		};
}

/* The answer to a look-up, if the pages have all of it; or else a length of 0. */
static inline struct iotlb_map_hit
find_by_pages(const struct iotlb_map *map, uint64_t iova, uint64_t len, uint8_t perm)
{
	const uint64_t delta = iotlb_map_page_of(map, iova)->delta;
	uint64_t held = 0, next = iova;

	/* All that is held is at the same distance, up to the next page. */
	do {
		const struct iotlb_map_page *page = iotlb_map_page_of(map, next);

		if (!iotlb_map_is_page(page, next, perm))
			return (struct iotlb_map_hit){ 0, 0 };
		if (page->delta != delta)
			break;
		held += PAGE_LEN - (next & PAGE_MASK);
		next = iova + held;
	} while (held < len && next != 0);
	return (struct iotlb_map_hit){ iova + delta, held < len ? held : len };
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

/* The entry in which an address is, or NULL. */
static inline const struct value *
find_value(const struct iotlb_map *map, uint64_t iova)
{
	const uint32_t below = count_up_to(map, iova);
	const struct value *value;

	if (below == 0)
		return NULL;
	value = value_at(map, below - 1);
	return iova <= value->last ? value : NULL;
}

bool
iotlb_map_get_at(const struct iotlb_map *map, uint64_t iova, struct iotlb_map_entry *entry)
{
	const uint32_t below = count_up_to(map, iova);

	if (below == 0 || iova > value_at(map, below - 1)->last)
		return false;
	*entry = iotlb_map_get(map, below - 1);
	return true;
}

/* How far a look-up is answered that goes beyond the entry in which it begins. */
static uint64_t
extend(const struct iotlb_map *map, const struct value *value, uint64_t iova, uint64_t len,
	uint8_t perm)
{
	const uint64_t delta = value->delta;

	while (value->last - iova < len - 1) {
		const uint64_t next = value->last + 1;

		value = next == 0 ? NULL : find_value(map, next);
		if (value == NULL || value->delta != delta || (value->perm & perm) != perm)
			return next - iova;
	}
	return len;
}

static struct iotlb_map_hit
find_by_search(const struct iotlb_map *map, uint64_t iova, uint64_t len, uint8_t perm)
{
	const struct value *value = find_value(map, iova);

	if (value == NULL || len == 0 || (value->perm & perm) != perm)
		return (struct iotlb_map_hit){ 0, 0 };
	if (value->last - iova < len - 1)
		len = extend(map, value, iova, len, perm);
	return (struct iotlb_map_hit){ iova + value->delta, len };
}

struct iotlb_map_hit
iotlb_map_find(const struct iotlb_map *map, uint64_t iova, uint64_t len, uint8_t perm)
{
	const struct iotlb_map_hit hit = find_by_pages(map, iova, len, perm);

	return hit.len != 0 ? hit : find_by_search(map, iova, len, perm);
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
		if (victim != kept && !value_at(map, victim)->persistent)
			break;
		victim = victim + 1 == map->num ? 0 : victim + 1;
	}
	if (tries == map->num)
		victim = kept;
	tell_gone(map, victim, victim + 1, 0, UINT64_MAX);
	forget_pages(map, map->first[victim], value_at(map, victim)->last);
	replace(map, victim, victim + 1, NULL, 0);
	map->stats.evictions++;
	return victim != kept;
}

/*
 * Bring a map down to its capacity.
 * The entry of rank *kept* may be found at a lower rank then. Where only that one can go,
 * it goes, and then what came to its rank: the upper part of what it was put into.
 */
static int
shrink(struct iotlb_map *map, uint32_t kept)
{
	const uint64_t first = map->first[kept];
	int ret = 0;

	while (map->num > map->capacity) {
		if (!evict(map, kept))
			ret = -ENOSPC;
		else if (ret == 0)
			kept = count_up_to(map, first) - 1;
	}
	return ret;
}

/* The lowest entry that ends at an address or above it. */
static uint32_t
find_begin(const struct iotlb_map *map, uint64_t first)
{
	const uint32_t below = count_up_to(map, first);

	return below > 0 && value_at(map, below - 1)->last >= first ? below - 1 : below;
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

	if (new.last < new.first || new.perm == 0 || new.perm > IOTLB_MAP_RW)
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
	forget_pages(map, entry->first, entry->last);
	note_pages(map, entry);
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
	forget_pages(map, first, last);
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

/* Each slot that is not in use is in the list of those, and holds no address. */
static bool
verify_unused(const struct iotlb_map *map)
{
	uint32_t slot = map->unused, left = num_slots(map->capacity) - map->num;

	for (; slot != NO_SLOT && left > 0; left--) {
		if (slot >= num_slots(map->capacity) || map->values[slot].perm != 0)
			return false;
		slot = map->values[slot].delta;
	}
	return slot == NO_SLOT && left == 0;
}

/* Each page that is noted is where it belongs, and as in the entry that it is in. */
static bool
verify_pages(const struct iotlb_map *map)
{
	uint64_t i;

	for (i = 0; i <= map->head.pages_mask; i++) {
		const struct iotlb_map_page *page = &map->head.pages[i];
		const uint64_t first = page->key & ~PAGE_MASK;
		const struct value *value;

		if (page->key == NO_PAGE)
			continue;
		value = find_value(map, first);
		if (iotlb_map_page_of(map, first) != page || value == NULL ||
			value->last - first < PAGE_MASK || page->delta != value->delta ||
			(page->key & PAGE_MASK) != value->perm)
			return false;
	}
	return true;
}

/* Whether each entry has a slot that there is. */
static bool
verify_slots(const struct iotlb_map *map)
{
	uint32_t i;

	for (i = 0; i < map->num; i++)
		if (map->slots[i] >= num_slots(map->capacity))
			return false;
	return true;
}

bool
iotlb_map_verify(const struct iotlb_map *map)
{
	bool right = true;
	uint32_t i;

	/* What is read below depends on these. */
	if (map->num > map->capacity || !verify_slots(map) || !verify_unused(map))
		return false;
	for (i = 0; i < num_keys(map->capacity); i++) {
		struct iotlb_map_entry entry, above;

		if (i >= map->num) {
			right = right && map->first[i] == NO_ENTRY;
			continue;
		}
		entry = iotlb_map_get(map, i);
		right = right && entry.first == map->first[i] && entry.first <= entry.last &&
			entry.perm != 0 && entry.perm <= IOTLB_MAP_RW;
		if (i + 1 == map->num)
			continue;
		above = iotlb_map_get(map, i + 1);
		right = right && entry.last < above.first;
		if ((map->flags & IOTLB_MAP_NO_MERGE) == 0)
			right = right && !continues(&entry, &above);
	}
	return right && verify_pages(map);
}
