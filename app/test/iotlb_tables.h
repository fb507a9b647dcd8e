/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef IOTLB_TABLES_H
#define IOTLB_TABLES_H

/*
 * What a benchmark of the IOTLB compares, by functions of the same kind: the list that
 * DPDK has, in our own words, and the map. Each entry is a page, small or huge.
 */

#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <rte_common.h>

/* Internal to vhost, which does not export it. */
#define IOTLB_MAP_API static __rte_unused
#include "../../lib/vhost/iotlb_map.c"

#define CAPACITY 2048
#define PAGE 4096
/* A packet's buffer, inside a page. */
#define LOOKUP_OFFSET 256
#define LOOKUP_LEN 1536

/* --- the list that DPDK 22.11 has, its faults included --- */

struct list_node {
	TAILQ_ENTRY(list_node) next;
	SLIST_ENTRY(list_node) next_free;
	uint64_t iova;
	uint64_t host;
	uint64_t len;
	uint8_t perm;
};

struct list {
	TAILQ_HEAD(, list_node) used; /* by ascending IOVA */
	SLIST_HEAD(, list_node) unused;
	uint32_t num;
	uint64_t random;
	struct list_node nodes[CAPACITY];
};

static void
list_drop(struct list *list, struct list_node *node)
{
	TAILQ_REMOVE(&list->used, node, next);
	SLIST_INSERT_HEAD(&list->unused, node, next_free);
	list->num--;
}

static void
list_evict(struct list *list)
{
	struct list_node *victim = TAILQ_FIRST(&list->used);
	uint32_t steps;

	list->random = list->random * 6364136223846793005 + 1;
	for (steps = (list->random >> 32) % list->num; steps > 0; steps--)
		victim = TAILQ_NEXT(victim, next);
	list_drop(list, victim);
}

static void
list_insert(void *table, uint64_t iova, uint64_t host)
{
	struct list *list = table;
	struct list_node *node, *above;

	if (SLIST_EMPTY(&list->unused))
		list_evict(list);
	TAILQ_FOREACH (above, &list->used, next)
		if (above->iova >= iova)
			break;
	/* What is known is taken to be the same. */
	if (above != NULL && above->iova == iova)
		return;
	node = SLIST_FIRST(&list->unused);
	SLIST_REMOVE_HEAD(&list->unused, next_free);
	node->iova = iova;
	node->host = host;
	node->len = PAGE;
	node->perm = IOTLB_MAP_RW;
	if (above != NULL)
		TAILQ_INSERT_BEFORE(above, node, next);
	else
		TAILQ_INSERT_TAIL(&list->used, node, next);
	list->num++;
}

static void
list_remove(void *table, uint64_t iova)
{
	struct list *list = table;
	struct list_node *node, *following;

	/* A neighbour that begins where the range ends goes too. */
	for (node = TAILQ_FIRST(&list->used); node != NULL && node->iova <= iova + PAGE;
		node = following) {
		following = TAILQ_NEXT(node, next);
		if (node->iova + node->len > iova)
			list_drop(list, node);
	}
}

/* Adds lengths up even where host addresses do not continue. */
static uint64_t
list_search(const struct list *list, uint64_t iova, uint64_t *len, uint8_t perm)
{
	const struct list_node *node;
	uint64_t host = 0, found = 0;

	TAILQ_FOREACH (node, &list->used, next) {
		if (iova < node->iova || found >= *len)
			break;
		if (iova - node->iova >= node->len)
			continue;
		if ((node->perm & perm) != perm) {
			host = 0;
			break;
		}
		if (host == 0)
			host = node->host + (iova - node->iova);
		found += node->iova + node->len - iova;
		iova = node->iova + node->len;
	}
	*len = RTE_MIN(*len, found);
	return host;
}

static uint64_t
list_find(const void *table, uint64_t iova)
{
	uint64_t len = LOOKUP_LEN;
	uint64_t host = list_search(table, iova, &len, IOTLB_MAP_RO);

	return len == LOOKUP_LEN ? host : 0;
}

static void *
list_create(void)
{
	struct list *list = calloc(1, sizeof(*list));
	unsigned int i;

	if (list == NULL)
		return NULL;
	TAILQ_INIT(&list->used);
	SLIST_INIT(&list->unused);
	for (i = 0; i < CAPACITY; i++)
		SLIST_INSERT_HEAD(&list->unused, &list->nodes[i], next_free);
	return list;
}

/* --- the map --- */

static void *
map_create_with(uint32_t flags)
{
	const struct iotlb_map_config config = { .capacity = CAPACITY, .flags = flags, .seed = 1 };
	void *mem = aligned_alloc(ALIGNMENT, RTE_ALIGN_CEIL(iotlb_map_size(CAPACITY), ALIGNMENT));

	return mem == NULL ? NULL : iotlb_map_init(mem, &config);
}

static void *
map_create(void)
{
	return map_create_with(0);
}

static void *
map_create_no_merge(void)
{
	return map_create_with(IOTLB_MAP_NO_MERGE);
}

static void
map_insert(void *table, uint64_t iova, uint64_t host)
{
	const struct iotlb_map_entry entry = { .first = iova,
		.last = iova + PAGE - 1,
		.host = host,
		.perm = IOTLB_MAP_RW,
		.page_shift = 12 };

	iotlb_map_insert(table, &entry);
}

static void
map_remove(void *table, uint64_t iova)
{
	iotlb_map_remove(table, iova, iova + PAGE - 1);
}

static uint64_t
map_find(const void *table, uint64_t iova)
{
	const struct iotlb_map_hit hit = iotlb_map_find(table, iova, LOOKUP_LEN, IOTLB_MAP_RO);

	return hit.len == LOOKUP_LEN ? hit.host : 0;
}

/* The same with pages of 2 MiB. A look-up is not in the first 4 KiB of one. */
#define HUGE_SCALE 512

static void
map_insert_huge(void *table, uint64_t iova, uint64_t host)
{
	const struct iotlb_map_entry entry = { .first = iova * HUGE_SCALE,
		.last = (iova + PAGE) * HUGE_SCALE - 1,
		.host = host * HUGE_SCALE,
		.perm = IOTLB_MAP_RW,
		.page_shift = 21 };

	iotlb_map_insert(table, &entry);
}

static void
map_remove_huge(void *table, uint64_t iova)
{
	iotlb_map_remove(table, iova * HUGE_SCALE, (iova + PAGE) * HUGE_SCALE - 1);
}

#endif /* IOTLB_TABLES_H */
