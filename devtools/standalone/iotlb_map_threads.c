/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Readers and a writer of the IOTLB's map, for ThreadSanitizer: with a read-write lock
 * there is no race, so look-ups write nothing. With an argument the readers do not lock,
 * and the sanitizer must see it.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "iotlb_map.h"

#define READERS 3
#define ROUNDS 20000
#define PAGES 64
#define CAPACITY 40
#define PAGE 0x1000ULL

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct iotlb_map *map;
static int readers_lock = 1;

/* The upper half is where the writer put it last: each page has one of two places. */
static int
is_right(struct iotlb_map_hit hit, uint64_t iova)
{
	return hit.len == 0 || hit.host == iova + (1ULL << 40) || hit.host == iova + (1ULL << 41);
}

static void *
read_all(void *arg)
{
	uint64_t i, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		const uint64_t iova = i * 7919 % PAGES * PAGE + i % PAGE;

		if (readers_lock)
			pthread_rwlock_rdlock(&lock);
		wrong += !is_right(iotlb_map_find(map, iova, 2 * PAGE, IOTLB_MAP_RO), iova);
		if (readers_lock)
			pthread_rwlock_unlock(&lock);
	}
	*(uint64_t *)arg = wrong;
	return NULL;
}

static void
write_all(void)
{
	uint64_t i;

	for (i = 0; i < ROUNDS; i++) {
		const uint64_t page = i * 31 % PAGES;
		const struct iotlb_map_entry entry = {
			.first = page * PAGE,
			.last = page * PAGE + PAGE - 1,
			.host = page * PAGE + (1ULL << (i & 1 ? 40 : 41)),
			.perm = IOTLB_MAP_RW,
		};

		pthread_rwlock_wrlock(&lock);
		if (i % 3 == 0)
			iotlb_map_remove(map, entry.first + 1, entry.last + 5 * PAGE);
		else
			(void)iotlb_map_insert(map, &entry);
		pthread_rwlock_unlock(&lock);
	}
}

int
main(int argc, char **argv)
{
	const struct iotlb_map_config config = { .capacity = CAPACITY, .seed = 1 };
	uint64_t wrong[READERS], sum = 0;
	pthread_t readers[READERS];
	int i;

	(void)argv;
	readers_lock = argc == 1;
	map = iotlb_map_init(aligned_alloc(64, (iotlb_map_size(CAPACITY) + 63) / 64 * 64), &config);
	for (i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, read_all, &wrong[i]);
	write_all();
	for (i = 0; i < READERS; i++) {
		pthread_join(readers[i], NULL);
		sum += wrong[i];
	}
	printf("%d look-ups of each of %d readers, %llu wrong\n", ROUNDS, READERS,
		(unsigned long long)sum);
	sum += !iotlb_map_verify(map);
	free(map);
	return sum != 0;
}
