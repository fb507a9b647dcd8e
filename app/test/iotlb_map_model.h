/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef IOTLB_MAP_MODEL_H
#define IOTLB_MAP_MODEL_H

/*
 * What iotlb_map.c must do, in the most naive way: each address is looked at alone.
 *
 * 64 bits of addresses are too many for that, so there are three windows, one at either
 * end and one in the middle. Ranges begin and end in windows only. What lies between two
 * windows is then all the same, and is one cell with many addresses. The cells of windows
 * are of one address each, or larger, up to pages, which the map treats in their own way.
 *
 * Random operations come from 32-bit words, which a generator or a fuzzer makes.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iotlb_map.h"

#define MODEL_WINDOW 128
#define MODEL_WINDOWS 3
#define MODEL_CELLS (MODEL_WINDOWS * (MODEL_WINDOW + 1) - 1)
#define MODEL_MIDDLE 0x7ffffffffffff000

/* An address or some, or all between two windows. */
struct model_cell {
	uint64_t first, last;
	bool mapped;
	uint64_t host;
	uint8_t perm;
	uint8_t page_shift;
	bool persistent;
};

struct model {
	struct iotlb_map *map;
	bool merges;
	uint32_t capacity;
	unsigned int num_persistent; /* cells that may be so; if few, others can be evicted */
	unsigned int shift;          /* log2 of the addresses of a cell */
	uint32_t evictions;          /* as far as they are known */
	struct model_cell cells[MODEL_CELLS];
	uint64_t gone; /* addresses that went, added up: what was told, less what was seen */
};

/* A source of random words. */
struct model_words {
	uint32_t (*next)(struct model_words *words);
	uint64_t state;
	const uint8_t *data;
	size_t len;
};

static inline uint32_t
model_random_word(struct model_words *words)
{
	/* Knuth's multiplier; the lower bits of such a state are poor. */
	words->state = words->state * 6364136223846793005 + 1442695040888963407;
	return words->state >> 32;
}

/* --- addresses --- */

static inline void
model_init_cells(struct model *model)
{
	const uint64_t cell = UINT64_C(1) << model->shift;
	const uint64_t starts[MODEL_WINDOWS] = { 0, MODEL_MIDDLE,
		UINT64_MAX - MODEL_WINDOW * cell + 1 };
	unsigned int window, i, at = 0;

	for (window = 0; window < MODEL_WINDOWS; window++) {
		if (window > 0) {
			model->cells[at].first = model->cells[at - 1].last + 1;
			model->cells[at++].last = starts[window] - 1;
		}
		for (i = 0; i < MODEL_WINDOW; i++, at++) {
			model->cells[at].first = starts[window] + i * cell;
			model->cells[at].last = model->cells[at].first + (cell - 1);
		}
	}
}

static inline bool
model_is_gap(unsigned int at)
{
	return at % (MODEL_WINDOW + 1) == MODEL_WINDOW;
}

/* A cell of a window, often at one of its ends. */
static inline unsigned int
model_draw_cell(struct model_words *words)
{
	const uint32_t word = words->next(words);
	unsigned int at = word / 16 % MODEL_WINDOW;

	if (word % 16 == 0)
		at = 0;
	else if (word % 16 == 1)
		at = MODEL_WINDOW - 1;
	return (word >> 16) % MODEL_WINDOWS * (MODEL_WINDOW + 1) + at;
}

/* Two cells with at most a few between them, or else any two. */
static inline void
model_draw_range(struct model_words *words, unsigned int *from, unsigned int *to)
{
	const uint32_t word = words->next(words);

	*from = model_draw_cell(words);
	*to = *from + word / 8 % 12;
	if (word % 8 == 0)
		*to = model_draw_cell(words);
	if (*to < *from) {
		const unsigned int swap = *from;

		*from = *to;
		*to = swap;
	}
	while (*to >= MODEL_CELLS || model_is_gap(*to))
		(*to)--;
}

/* --- the same in both --- */

static inline int
model_fault(const char *what, uint64_t iova)
{
	printf("IOTLB map: %s, at 0x%" PRIx64 "\n", what, iova);
	return -1;
}

static inline bool
model_continues(const struct model_cell *low, const struct model_cell *high)
{
	return low->mapped && high->mapped &&
		high->host == low->host + (high->first - low->first) && high->perm == low->perm &&
		high->page_shift == low->page_shift && high->persistent == low->persistent;
}

/* Whether two cells are in one run of such as continue each other. */
static inline bool
model_were_one(const struct model *model, unsigned int from, unsigned int to)
{
	for (; from < to; from++)
		if (!model_continues(&model->cells[from], &model->cells[from + 1]))
			return false;
	return true;
}

static inline uint32_t
model_count_runs(const struct model *model)
{
	uint32_t runs = 0;
	unsigned int i;

	for (i = 0; i < MODEL_CELLS; i++)
		if (model->cells[i].mapped &&
			(i == 0 || !model_continues(&model->cells[i - 1], &model->cells[i])))
			runs++;
	return runs;
}

/* Some bytes from inside a cell on. */
static inline struct iotlb_map_hit
model_find(const struct model *model, unsigned int at, uint64_t offset, uint64_t len, uint8_t perm)
{
	const struct model_cell *cell = &model->cells[at];
	struct iotlb_map_hit hit = { 0, 0 };

	if (len != 0 && cell->mapped && (cell->perm & perm) == perm)
		hit.host = cell->host + offset;
	for (; at < MODEL_CELLS && hit.len < len; at++, offset = 0) {
		const uint64_t more = model->cells[at].last - model->cells[at].first + 1 - offset;

		if (!model->cells[at].mapped || (model->cells[at].perm & perm) != perm ||
			model->cells[at].host + offset != hit.host + hit.len)
			break;
		hit.len = more < len - hit.len ? hit.len + more : len;
	}
	return hit;
}

static inline int
model_check_find(
	const struct model *model, unsigned int at, uint64_t offset, uint64_t len, uint8_t perm)
{
	const uint64_t iova = model->cells[at].first + offset;
	const struct iotlb_map_hit want = model_find(model, at, offset, len, perm);
	const struct iotlb_map_hit hit = iotlb_map_find(model->map, iova, len, perm);
	uint64_t host;

	if (iotlb_map_find_page(model->map, iova, len, perm, &host) &&
		(want.len != len || host != want.host))
		return model_fault("found another answer in a page", iova);
	if (hit.len != want.len)
		return model_fault("found another length", iova);
	if (hit.len != 0 && hit.host != want.host)
		return model_fault("found another host address", iova);
	return 0;
}

/* Whether nothing that is left can be evicted. */
static inline bool
model_is_stuck(const struct model *model)
{
	uint32_t i;

	for (i = 0; i < iotlb_map_num(model->map); i++)
		if (!iotlb_map_get(model->map, i).persistent)
			return false;
	return true;
}

/*
 * Each address that is in the map is in the model; evicted ones leave the model too.
 * What is persistent goes only where all is: from a cell on, to the end of what was one.
 */
static inline int
model_forget_evicted(struct model *model, unsigned int upper)
{
	unsigned int i, end = upper;

	if (upper > 0 && model_is_stuck(model))
		while (end < MODEL_CELLS && model->cells[end].mapped &&
			(end == upper ||
				model_continues(&model->cells[end - 1], &model->cells[end])))
			end++;

	for (i = 0; i < MODEL_CELLS; i++) {
		struct model_cell *cell = &model->cells[i];

		if (!cell->mapped ||
			iotlb_map_find(model->map, cell->first, 1, cell->perm).len != 0)
			continue;
		if (cell->persistent && (i < upper || i >= end))
			return model_fault("evicted what is persistent", cell->first);
		cell->mapped = false;
		model->gone += cell->last - cell->first + 1;
	}
	return 0;
}

/* The cell behind a range that was changed, or 0, may be the upper part of what was cut. */
static inline int
model_check(struct model *model, unsigned int upper)
{
	const uint64_t evictions = iotlb_map_get_stats(model->map).evictions;
	const uint32_t num = iotlb_map_num(model->map);

	if (!iotlb_map_verify(model->map))
		return model_fault("no longer in order", 0);
	if (evictions != model->evictions) {
		model->evictions = evictions;
		if (num != model->capacity)
			return model_fault("evicted without need", 0);
		if (model_forget_evicted(model, upper) != 0)
			return -1;
	}
	if (model->merges && num != model_count_runs(model))
		return model_fault("wrong number of entries", num);
	if (model->gone != 0)
		return model_fault("told of other addresses than went", 0);
	return 0;
}

/* --- operations --- */

static inline void
model_clear(struct model *model, unsigned int from, unsigned int to)
{
	for (; from <= to; from++) {
		if (model->cells[from].mapped)
			model->gone += model->cells[from].last - model->cells[from].first + 1;
		model->cells[from].mapped = false;
	}
}

/* A host address: that of the cell below, continued; of the cell above; or one of few. */
static inline uint64_t
model_draw_host(
	const struct model *model, struct model_words *words, unsigned int from, unsigned int to)
{
	const struct model_cell *cells = model->cells;
	const uint32_t word = words->next(words);

	if (word % 4 == 0 && from > 0 && cells[from - 1].mapped)
		return cells[from - 1].host + (cells[from].first - cells[from - 1].first);
	if (word % 4 == 1 && to + 1 < MODEL_CELLS && cells[to + 1].mapped)
		return cells[to + 1].host - (cells[to + 1].first - cells[from].first);
	return cells[from].first + (uint64_t)(word / 4 % 3 + 1) * 0x100000000000;
}

static inline int
model_insert(struct model *model, struct model_words *words)
{
	struct iotlb_map_entry entry;
	unsigned int from, to, i;
	uint32_t word;
	bool was_one;
	int ret;

	model_draw_range(words, &from, &to);
	word = words->next(words);
	entry = (struct iotlb_map_entry){
		.first = model->cells[from].first,
		.last = model->cells[to].last,
		.host = model_draw_host(model, words, from, to),
		.perm = word % 4 == 0   ? IOTLB_MAP_RO
			: word % 4 == 1 ? IOTLB_MAP_WO
					: IOTLB_MAP_RW,
		.page_shift = word / 4 % 16 == 0 ? 21 : 12,
		.persistent = word / 64 % 4 == 0 && to < model->num_persistent,
	};
	was_one = from > 0 && to + 1 < MODEL_CELLS && model_were_one(model, from - 1, to + 1);
	model_clear(model, from, to);
	for (i = from; i <= to; i++) {
		model->cells[i].mapped = true;
		model->cells[i].host = entry.host + (model->cells[i].first - entry.first);
		model->cells[i].perm = entry.perm;
		model->cells[i].page_shift = entry.page_shift;
		model->cells[i].persistent = entry.persistent;
	}
	ret = iotlb_map_insert(model->map, &entry);
	if (ret == -ENOSPC && model_is_stuck(model))
		model_clear(model, from, to);
	else if (ret != 0)
		return model_fault("not inserted", entry.first);
	else if (iotlb_map_find(model->map, entry.first, 1, entry.perm).host != entry.host)
		return model_fault("inserted and not found", entry.first);
	if (ret != 0 && iotlb_map_find(model->map, entry.first, 1, 0).len != 0)
		return model_fault("not inserted and found", entry.first);
	return model_check(model, was_one ? to + 1 : 0);
}

static inline int
model_remove(struct model *model, struct model_words *words)
{
	unsigned int from, to;
	bool was_one;

	model_draw_range(words, &from, &to);
	was_one = from > 0 && to + 1 < MODEL_CELLS && model_were_one(model, from - 1, to + 1);
	model_clear(model, from, to);
	iotlb_map_remove(model->map, model->cells[from].first, model->cells[to].last);
	if (iotlb_map_find(model->map, model->cells[from].first, 1, 0).len != 0)
		return model_fault("removed and found", model->cells[from].first);
	return model_check(model, was_one ? to + 1 : 0);
}

static inline int
model_look_up(struct model *model, struct model_words *words)
{
	unsigned int from, to;
	uint32_t word;
	uint64_t len, offset;

	model_draw_range(words, &from, &to);
	word = words->next(words);
	offset = (word >> 16) % (UINT32_C(1) << model->shift);
	/* Up to the end of a cell or, if it is apart, up to any byte. */
	len = model->cells[to].last - model->cells[from].first + 1 - offset;
	if (from != to && model->shift != 0)
		len -= word / 64 % (UINT32_C(1) << model->shift);
	if (word % 16 == 0)
		len = UINT64_MAX;
	/* One permission or both. */
	return model_check_find(model, from, offset, len, word / 16 % 3 + 1);
}

static inline int
model_step(struct model *model, struct model_words *words)
{
	const uint32_t word = words->next(words) % 64;

	if (word < 20)
		return model_insert(model, words);
	if (word < 30)
		return model_remove(model, words);
	if (word == 30 && words->next(words) % 64 == 0) {
		model_clear(model, 0, MODEL_CELLS - 1);
		iotlb_map_clear(model->map);
		return model_check(model, 0);
	}
	return model_look_up(model, words);
}

/* --- making --- */

/* Told of what went: the other half of the sum. */
static inline void
model_gone(void *arg, const struct iotlb_map_entry *gone)
{
	struct model *model = arg;

	model->gone -= gone->last - gone->first + 1;
}

static inline struct model *
model_create(uint32_t capacity, bool merges, unsigned int shift, unsigned int num_persistent)
{
	struct model *model = calloc(1, sizeof(*model));
	const struct iotlb_map_config config = {
		.capacity = capacity,
		.flags = merges ? 0 : IOTLB_MAP_NO_MERGE,
		.seed = capacity,
		.gone = model_gone,
		.gone_arg = model,
	};
	void *mem = aligned_alloc(64, (iotlb_map_size(capacity) + 63) / 64 * 64);

	if (model == NULL || mem == NULL) {
		free(model);
		free(mem);
		return NULL;
	}
	model->capacity = capacity;
	model->merges = merges;
	model->shift = shift;
	model->num_persistent = num_persistent;
	/* What was there before must not matter. */
	memset(mem, 0xa5, iotlb_map_size(capacity));
	model->map = iotlb_map_init(mem, &config);
	model_init_cells(model);
	return model;
}

static inline void
model_destroy(struct model *model)
{
	free(model->map);
	free(model);
}

#endif /* IOTLB_MAP_MODEL_H */
