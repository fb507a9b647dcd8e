/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _PKTCPY_H_
#define _PKTCPY_H_

/**
 * @file
 *
 * The copy of packet data between mbufs and guest buffers.
 *
 * It is the same code whatever rte_memcpy() is made of, because a call of libc's
 * memcpy() costs most where packets are smallest, and here most of them are small.
 *
 * Strategy. A packet has at least 60 bytes, and the guest's buffer starts behind a
 * header of 10 or 12: nothing is aligned. So chunks of 32 bytes, of which the last
 * one overlaps the others. There is a class for up to 64 bytes, one for up to 128 and
 * one for up to 256, each with all its loads before its stores; what does not fill a
 * chunk is a rest of a packet in several buffers, rare, and goes out of line. Above
 * 256 bytes there is a loop of 32-byte registers, which beats a call of libc up to packets
 * of an MTU; where there are no such registers, and above 2 KiB, rte_memcpy() is as good:
 * custom code, or libc, whose call is cheap then.
 *
 * Cores that split accesses of 32 bytes are better off with registers of 16, and with
 * libc above 256 bytes, which knows them. So vhost compiles its data path once for each
 * PKTCPY_MODE, and chooses at run time for a whole burst.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_memcpy.h>

/** @internal Ways to copy, of which one is PKTCPY_MODE where this file is included. */
#define PKTCPY_MEMCPY 1  /* rte_memcpy() for all sizes */
#define PKTCPY_WIDE 2    /* registers of 32 bytes, where there are such */
#define PKTCPY_NARROW 3  /* registers of 16 bytes */
#define PKTCPY_COUNTED 4 /* by pktcpy_counted(), of whoever includes this file */
#ifndef PKTCPY_MODE
#define PKTCPY_MODE PKTCPY_WIDE
#endif

/** Bytes that are loaded and stored at once, by one register or by a few. */
#define PKTCPY_CHUNK_LEN 32

/* What memory is accessed by has no alignment, and may be an object of any type. */
typedef uint8_t __attribute__((__vector_size__(16))) pktcpy_half;
typedef uint8_t __attribute__((__vector_size__(16), __aligned__(1), __may_alias__)) pktcpy_mem_half;

#if defined(__AVX__) && PKTCPY_MODE == PKTCPY_WIDE

/** Bytes up to which a loop of our own is as fast as rte_memcpy(), or faster. */
#define PKTCPY_LOOP_MAX 2048

typedef uint8_t __attribute__((__vector_size__(PKTCPY_CHUNK_LEN))) pktcpy_chunk;
typedef uint8_t __attribute__((__vector_size__(PKTCPY_CHUNK_LEN), __aligned__(1), __may_alias__))
pktcpy_mem_chunk;

/** @internal Load a chunk. */
static __rte_always_inline pktcpy_chunk
pktcpy_load(const uint8_t *src)
{
	return *(const pktcpy_mem_chunk *)src;
}

/** @internal Store a chunk. */
static __rte_always_inline void
pktcpy_store(uint8_t *dst, pktcpy_chunk chunk)
{
	*(pktcpy_mem_chunk *)dst = chunk;
}

#else

#define PKTCPY_LOOP_MAX 0

/* Compilers keep a vector in memory if no register is as wide. */
typedef struct {
	pktcpy_half low;
	pktcpy_half high;
} pktcpy_chunk;

/** @internal Load a chunk. */
static __rte_always_inline pktcpy_chunk
pktcpy_load(const uint8_t *src)
{
	pktcpy_chunk chunk;

	chunk.low = *(const pktcpy_mem_half *)src;
	chunk.high = *(const pktcpy_mem_half *)(src + sizeof(pktcpy_half));
	return chunk;
}

/** @internal Store a chunk. */
static __rte_always_inline void
pktcpy_store(uint8_t *dst, pktcpy_chunk chunk)
{
	*(pktcpy_mem_half *)dst = chunk.low;
	*(pktcpy_mem_half *)(dst + sizeof(pktcpy_half)) = chunk.high;
}

#endif

/** @internal Copy *head* and *tail* bytes from the ends, which overlap or meet. */
#define PKTCPY_ENDS(type, dst, src, len) \
	do { \
		type head, tail; \
\
		memcpy(&head, src, sizeof(head)); \
		memcpy(&tail, src + len - sizeof(tail), sizeof(tail)); \
		memcpy(dst + len - sizeof(tail), &tail, sizeof(tail)); \
		memcpy(dst, &head, sizeof(head)); \
	} while (0)

/** @internal Copy 0 to 31 bytes. */
static __attribute__((__noinline__, __unused__)) void
pktcpy_short(uint8_t *dst, const uint8_t *src, size_t len)
{
	if (len >= sizeof(pktcpy_half))
		PKTCPY_ENDS(pktcpy_half, dst, src, len);
	else if (len >= sizeof(uint64_t))
		PKTCPY_ENDS(uint64_t, dst, src, len);
	else if (len >= sizeof(uint32_t))
		PKTCPY_ENDS(uint32_t, dst, src, len);
	else if (len >= sizeof(uint16_t))
		PKTCPY_ENDS(uint16_t, dst, src, len);
	else if (len == 1)
		*dst = *src;
}

#undef PKTCPY_ENDS

/** @internal Copy 32 to 64 bytes. */
static __rte_always_inline void
pktcpy_upto64(uint8_t *dst, const uint8_t *src, size_t len)
{
	pktcpy_chunk head = pktcpy_load(src);
	pktcpy_chunk tail = pktcpy_load(src + len - PKTCPY_CHUNK_LEN);

	pktcpy_store(dst, head);
	pktcpy_store(dst + len - PKTCPY_CHUNK_LEN, tail);
}

/** @internal Copy 65 to 256 bytes: the first and the last two chunks, or four. */
static __rte_always_inline void
pktcpy_upto256(uint8_t *dst, const uint8_t *src, size_t len)
{
	const uint8_t *src_end = src + len;
	uint8_t *dst_end = dst + len;
	pktcpy_chunk head0 = pktcpy_load(src);
	pktcpy_chunk head1 = pktcpy_load(src + PKTCPY_CHUNK_LEN);
	pktcpy_chunk tail1 = pktcpy_load(src_end - 2 * PKTCPY_CHUNK_LEN);
	pktcpy_chunk tail0 = pktcpy_load(src_end - PKTCPY_CHUNK_LEN);

	if (len > 4 * PKTCPY_CHUNK_LEN) {
		pktcpy_chunk head2 = pktcpy_load(src + 2 * PKTCPY_CHUNK_LEN);
		pktcpy_chunk head3 = pktcpy_load(src + 3 * PKTCPY_CHUNK_LEN);
		pktcpy_chunk tail3 = pktcpy_load(src_end - 4 * PKTCPY_CHUNK_LEN);
		pktcpy_chunk tail2 = pktcpy_load(src_end - 3 * PKTCPY_CHUNK_LEN);

		pktcpy_store(dst + 2 * PKTCPY_CHUNK_LEN, head2);
		pktcpy_store(dst + 3 * PKTCPY_CHUNK_LEN, head3);
		pktcpy_store(dst_end - 4 * PKTCPY_CHUNK_LEN, tail3);
		pktcpy_store(dst_end - 3 * PKTCPY_CHUNK_LEN, tail2);
	}
	pktcpy_store(dst, head0);
	pktcpy_store(dst + PKTCPY_CHUNK_LEN, head1);
	pktcpy_store(dst_end - 2 * PKTCPY_CHUNK_LEN, tail1);
	pktcpy_store(dst_end - PKTCPY_CHUNK_LEN, tail0);
}

/** @internal Copy more than 256 bytes: a head, rounds to an aligned destination, a tail. */
static __attribute__((__noinline__, __unused__)) void
pktcpy_loop(uint8_t *dst, const uint8_t *src, size_t len)
{
	const uint8_t *src_end = src + len;
	uint8_t *dst_end = dst + len;
	const size_t head_len = PKTCPY_CHUNK_LEN - ((uintptr_t)dst & (PKTCPY_CHUNK_LEN - 1));

	pktcpy_store(dst, pktcpy_load(src));
	dst += head_len;
	src += head_len;
	do {
		pktcpy_chunk chunk0 = pktcpy_load(src);
		pktcpy_chunk chunk1 = pktcpy_load(src + PKTCPY_CHUNK_LEN);
		pktcpy_chunk chunk2 = pktcpy_load(src + 2 * PKTCPY_CHUNK_LEN);
		pktcpy_chunk chunk3 = pktcpy_load(src + 3 * PKTCPY_CHUNK_LEN);

		pktcpy_store(dst, chunk0);
		pktcpy_store(dst + PKTCPY_CHUNK_LEN, chunk1);
		pktcpy_store(dst + 2 * PKTCPY_CHUNK_LEN, chunk2);
		pktcpy_store(dst + 3 * PKTCPY_CHUNK_LEN, chunk3);
		src += 4 * PKTCPY_CHUNK_LEN;
		dst += 4 * PKTCPY_CHUNK_LEN;
	} while (dst_end - dst > 4 * PKTCPY_CHUNK_LEN);
	pktcpy_store(dst_end - 4 * PKTCPY_CHUNK_LEN, pktcpy_load(src_end - 4 * PKTCPY_CHUNK_LEN));
	pktcpy_store(dst_end - 3 * PKTCPY_CHUNK_LEN, pktcpy_load(src_end - 3 * PKTCPY_CHUNK_LEN));
	pktcpy_store(dst_end - 2 * PKTCPY_CHUNK_LEN, pktcpy_load(src_end - 2 * PKTCPY_CHUNK_LEN));
	pktcpy_store(dst_end - PKTCPY_CHUNK_LEN, pktcpy_load(src_end - PKTCPY_CHUNK_LEN));
}

/** @internal Copy more than 256 bytes. */
static __rte_always_inline void
pktcpy_long(uint8_t *dst, const uint8_t *src, size_t len)
{
#if PKTCPY_MODE == PKTCPY_NARROW
	memcpy(dst, src, len);
#else
	if (len <= PKTCPY_LOOP_MAX)
		pktcpy_loop(dst, src, len);
	else
		rte_memcpy(dst, src, len);
#endif
}

/**
 * Copy packet data.
 *
 * Reads exactly the *len* bytes from *src* on and writes exactly those from *dst* on:
 * what lies behind a packet in an mbuf may belong to another tenant, and never gets
 * into a guest. No alignment is assumed. Any thread may call it; other threads may
 * see the bytes arrive in any order.
 *
 * @param dst
 *   Where to copy to. Must not overlap *src*. May be NULL if *len* is 0.
 * @param src
 *   Where to copy from. May be NULL if *len* is 0.
 * @param len
 *   Number of bytes, 0 to SIZE_MAX.
 */
static __rte_always_inline void
pktcpy(void *dst, const void *src, size_t len)
{
#if PKTCPY_MODE == PKTCPY_MEMCPY
	rte_memcpy(dst, src, len);
#elif PKTCPY_MODE == PKTCPY_COUNTED
	pktcpy_counted(dst, src, len);
#else
	uint8_t *to = (uint8_t *)dst;
	const uint8_t *from = (const uint8_t *)src;

	if (len > 8 * PKTCPY_CHUNK_LEN)
		pktcpy_long(to, from, len);
	else if (len > 2 * PKTCPY_CHUNK_LEN)
		pktcpy_upto256(to, from, len);
	else if (likely(len >= PKTCPY_CHUNK_LEN))
		pktcpy_upto64(to, from, len);
	else
		pktcpy_short(to, from, len);
#endif
}

#endif /* _PKTCPY_H_ */
