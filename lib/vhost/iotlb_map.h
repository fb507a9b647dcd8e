/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef IOTLB_MAP_H
#define IOTLB_MAP_H

/**
 * @file
 *
 * What a virtual IOMMU has told of I/O virtual addresses: a map of ranges.
 *
 * Ranges are inclusive and never overlap, so that one may end at the last address
 * there is, and no sum wraps. They stand sorted in arrays of fixed capacity: a look-up
 * is a search in contiguous memory, and nothing is allocated after the start.
 * A look-up in one of the pages told of last takes the same time in any map, others
 * O(log n). An insertion also moves what is above it.
 *
 * Locking is the caller's: any number of threads may call iotlb_map_find(),
 * iotlb_map_get(), iotlb_map_get_at() and iotlb_map_verify() at the same time, and none of them while
 * another function runs. A read-write lock does it. Look-ups write nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A test that includes iotlb_map.c makes it static, to have a copy of its own. */
#ifndef IOTLB_MAP_API
#define IOTLB_MAP_API extern
#endif

/** What a range may be used for. */
#define IOTLB_MAP_RO 0x1
#define IOTLB_MAP_WO 0x2
#define IOTLB_MAP_RW 0x3

/** Each translation stays an entry of its own: see iotlb_map_init(). */
#define IOTLB_MAP_NO_MERGE 0x1

/** A range and where it is. */
struct iotlb_map_entry {
	uint64_t first;     /**< I/O virtual address */
	uint64_t last;      /**< inclusive, not below *first* */
	uint64_t host;      /**< host address of *first*; the others follow it */
	uint8_t perm;       /**< IOTLB_MAP_RO, IOTLB_MAP_WO or IOTLB_MAP_RW */
	uint8_t page_shift; /**< log2 of the size of the host's pages */
	bool persistent;    /**< never evicted */
};

/** Where a piece of memory is, and how far that holds. */
struct iotlb_map_hit {
	uint64_t host; /**< host address */
	uint64_t len;  /**< bytes, at most those asked for; 0 if there are none */
};

/** Counts since iotlb_map_init(). */
struct iotlb_map_stats {
	uint64_t merges;    /**< neighbours that became one entry */
	uint64_t evictions; /**< entries that had to go for others */
};

/**
 * Called for each range that is removed, evicted or replaced.
 *
 * @param arg
 *   What was given to iotlb_map_init().
 * @param gone
 *   The range, with its host address: an entry, or the part of it that goes.
 */
typedef void (*iotlb_map_gone_t)(void *arg, const struct iotlb_map_entry *gone);

struct iotlb_map_config {
	uint32_t capacity;     /**< entries, 1 or more */
	uint32_t flags;        /**< 0 or IOTLB_MAP_NO_MERGE */
	uint64_t seed;         /**< of the choice of victims */
	iotlb_map_gone_t gone; /**< may be NULL */
	void *gone_arg;
};

struct iotlb_map;

/** @internal The smallest pages there are. */
#define IOTLB_MAP_PAGE_SHIFT 12
#define IOTLB_MAP_PAGE_LEN (UINT64_C(1) << IOTLB_MAP_PAGE_SHIFT)

/** @internal A page that is whole in one entry. */
struct iotlb_map_page {
	uint64_t key;   /**< first address, and permission in the lower bits */
	uint64_t delta; /**< host address less I/O virtual address; the sum may wrap */
};

/** @internal What a map begins with: pages by the lower bits of their number. */
struct iotlb_map_head {
	struct iotlb_map_page *pages;
	uint64_t pages_mask;
};

/**
 * @internal
 * Higher bits take part, so that 2048 pages with one or three left out between any two
 * have a place each, as 2048 side by side do.
 *
 * @return Where a page is, by its number, if it is noted.
 */
static inline uint64_t
iotlb_map_place(const struct iotlb_map_head *head, uint64_t number)
{
	return (number ^ (number >> 11)) & head->pages_mask;
}

/** @internal @return The page of an address, if that is noted. */
static inline const struct iotlb_map_page *
iotlb_map_page_of(const struct iotlb_map *map, uint64_t iova)
{
	const struct iotlb_map_head *head = (const struct iotlb_map_head *)map;

	return &head->pages[iotlb_map_place(head, iova >> IOTLB_MAP_PAGE_SHIFT)];
}

/** @internal @return Whether a page is the one of an address, with a permission or more. */
static inline bool
iotlb_map_is_page(const struct iotlb_map_page *page, uint64_t iova, uint8_t perm)
{
	const uint64_t others = IOTLB_MAP_RW & ~(uint64_t)perm;

	return (page->key & ~others) == ((iova & ~(IOTLB_MAP_PAGE_LEN - 1)) | perm);
}

/** @return Bytes that a map of this capacity takes. */
IOTLB_MAP_API size_t
iotlb_map_size(uint32_t capacity);

/**
 * Make an empty map.
 *
 * Neighbours are merged that continue each other in I/O virtual address, host address,
 * permission, page size and persistence. With IOTLB_MAP_NO_MERGE they are not, for
 * a *gone* callback that has to be given each translation as it came.
 *
 * @param mem
 *   iotlb_map_size() bytes, aligned to 64. They stay the caller's.
 * @param config
 *   Is copied.
 * @return
 *   The map, in *mem*.
 */
IOTLB_MAP_API struct iotlb_map *
iotlb_map_init(void *mem, const struct iotlb_map_config *config);

/** Remove all, the persistent too. */
IOTLB_MAP_API void
iotlb_map_clear(struct iotlb_map *map);

/**
 * Add a translation.
 *
 * The newest wins: what it overlaps is cut, and replaced where it lies below.
 * In a full map an entry is evicted: one drawn at random, or the next one above it that
 * is not persistent.
 *
 * @param map
 *   The map.
 * @param entry
 *   Is copied.
 * @return
 *   0, or with nothing changed -EINVAL if the last address is below the first or the
 *   permission is none of the three, or -ENOSPC if all of a full map is persistent. Then the range
 *   has no translation: neither the old one, which is no longer true, nor the new one.
 *   If it lies inside one entry, the part of that above it goes, too.
 */
IOTLB_MAP_API int
iotlb_map_insert(struct iotlb_map *map, const struct iotlb_map_entry *entry);

/**
 * Remove exactly a range. What sticks out of it on either side stays.
 *
 * In a full map a range that is cut in two evicts an entry. Where all are persistent
 * that is the upper part.
 *
 * @param map
 *   The map.
 * @param first
 *   The first address.
 * @param last
 *   The last address. If it is below the first, nothing is removed.
 */
IOTLB_MAP_API void
iotlb_map_remove(struct iotlb_map *map, uint64_t first, uint64_t last);

/**
 * Look an address up.
 *
 * @param map
 *   The map.
 * @param iova
 *   The address.
 * @param len
 *   Bytes wanted, from there on.
 * @param perm
 *   What for; all of it has to be allowed.
 * @return
 *   The host address, and how many of the bytes follow it in host memory with that
 *   permission: it ends at a hole, at a range without the permission, and at one that
 *   is elsewhere in host memory.
 */
IOTLB_MAP_API struct iotlb_map_hit
iotlb_map_find(const struct iotlb_map *map, uint64_t iova, uint64_t len, uint8_t perm);

/**
 * Look an address up where that takes a few instructions, in line.
 *
 * @param map
 *   The map.
 * @param iova
 *   The address.
 * @param len
 *   Bytes wanted, from there on.
 * @param perm
 *   What for.
 * @param host
 *   Set to the host address.
 * @return
 *   Whether all of it was found. If not, iotlb_map_find() may find it or a part of it.
 */
static inline bool
iotlb_map_find_page(
	const struct iotlb_map *map, uint64_t iova, uint64_t len, uint8_t perm, uint64_t *host)
{
	const struct iotlb_map_page *page = iotlb_map_page_of(map, iova);

	*host = iova + page->delta;
	return iotlb_map_is_page(page, iova, perm) &&
		len - 1 < IOTLB_MAP_PAGE_LEN - iova % IOTLB_MAP_PAGE_LEN;
}

/** @return Number of entries. */
IOTLB_MAP_API uint32_t
iotlb_map_num(const struct iotlb_map *map);

/** @return The entry of that rank, in the order of addresses, from 0 on. */
IOTLB_MAP_API struct iotlb_map_entry
iotlb_map_get(const struct iotlb_map *map, uint32_t rank);

/**
 * Find the entry that an address is in.
 *
 * @param map
 *   The map.
 * @param iova
 *   The address.
 * @param entry
 *   Set to the entry, if there is one.
 * @return
 *   Whether there is one.
 */
IOTLB_MAP_API bool
iotlb_map_get_at(const struct iotlb_map *map, uint64_t iova, struct iotlb_map_entry *entry);

/** @return The counts. */
IOTLB_MAP_API struct iotlb_map_stats
iotlb_map_get_stats(const struct iotlb_map *map);

/** @return Whether all that must be true of a map is: for tests. */
IOTLB_MAP_API bool
iotlb_map_verify(const struct iotlb_map *map);

#endif /* IOTLB_MAP_H */
