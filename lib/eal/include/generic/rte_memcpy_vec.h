/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_VEC_H_
#define _RTE_MEMCPY_VEC_H_

/**
 * @file
 *
 * The custom copy on vector registers, for every architecture that has them.
 * Only to be included by rte_memcpy.h, which says how wide they are:
 * RTE_MEMCPY_VEC_BYTES is 16, 32 or 64.
 *
 * Strategy. Packets come in random sizes, so what costs is a mispredicted
 * branch (some 20 cycles), not a byte copied twice. Up to 256 bytes there are
 * few classes, and in each the first and the last block of the area are copied
 * so that they overlap in the middle. Where a class holds two or three
 * blocks, how far the inner ones lie from the ends is computed, not branched on.
 * All loads of a class come before its stores, so that no load has to wait
 * for a store whose address differs from its own only above the page offset.
 * Of stores that overlap the one at the start comes last where it can: what was
 * copied is read from there, by one load that this store can serve.
 * What is longer goes out of line: aligned stores in a loop, or libc, where that is
 * at least as fast: it knows the caches of the machine and its widest registers.
 *
 * Vectors are those of the compiler (GCC, clang): its types for unaligned
 * access are right for the sanitizers, for -Wcast-align and for strict
 * aliasing, and become plain vector loads and stores on x86, Arm and POWER.
 */

#ifndef RTE_MEMCPY_VEC_BYTES
#error "include rte_memcpy.h, not this file"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @internal
 * From this size in bytes on, memcpy() of libc is at least as fast
 * as the loop here, wherever the areas lie.
 */
#ifndef RTE_MEMCPY_LIBC_MIN_LEN
#define RTE_MEMCPY_LIBC_MIN_LEN (1024 * 1024)
#endif

/**
 * @internal
 * Up to this size in bytes glibc copies by vectors on every x86 CPU.
 * Above, it may turn to rep movsb.
 */
#define RTE_MEMCPY_LIBC_VEC_MAX_LEN 2048

/*
 * A build for SSE leaves to libc, on whichever CPU it runs, all above 64 bytes
 * but what rep movsb is slow at.
 */
#if defined(RTE_MEMCPY_LIBC_HAS_WIDE_VECTORS) && RTE_MEMCPY_VEC_BYTES == 16
#define RTE_MEMCPY_LIBC_HAS_MOST
#endif

/**
 * @internal
 * From this size in bytes on, rep movsb of glibc is ahead of the loop here, as is
 * whatever else it may choose; unless the areas lie so that rep movsb is slow.
 */
#ifdef RTE_MEMCPY_LIBC_HAS_MOST
#define RTE_MEMCPY_LIBC_REP_MIN_LEN (RTE_MEMCPY_LIBC_VEC_MAX_LEN + 1)
#else
#define RTE_MEMCPY_LIBC_REP_MIN_LEN (24 * 1024)
#endif

/**
 * @internal
 * Make the compiler forget which object a pointer points to.
 * It would otherwise take a branch for long areas as certain to be run
 * with the small object at hand, and warn of an overflow that cannot be.
 */
#define RTE_MEMCPY_HIDE(ptr) __asm__("" : "+r"(ptr))

/*
 * For each width there is a type of the value, which lives in registers,
 * and one without alignment, through which memory is accessed.
 */
typedef uint16_t __attribute__((__aligned__(1), __may_alias__)) rte_memcpy_mem2;
typedef uint32_t __attribute__((__aligned__(1), __may_alias__)) rte_memcpy_mem4;
typedef uint64_t __attribute__((__aligned__(1), __may_alias__)) rte_memcpy_mem8;

/** @internal Define a block of *len* bytes that is one vector register. */
#define RTE_MEMCPY_BLK_VECTOR(len) \
	typedef uint8_t __attribute__((__vector_size__(len))) rte_memcpy_blk##len; \
	typedef uint8_t __attribute__((__vector_size__(len), __aligned__(1), __may_alias__)) \
	rte_memcpy_mem##len; \
	static __rte_always_inline rte_memcpy_blk##len rte_memcpy_load##len(const uint8_t *src) \
	{ \
		return *(const rte_memcpy_mem##len *)src; \
	} \
	static __rte_always_inline void rte_memcpy_store##len( \
		uint8_t *dst, rte_memcpy_blk##len blk) \
	{ \
		*(rte_memcpy_mem##len *)dst = blk; \
	}

/** @internal Define a block of *len* bytes that is two blocks of *half* bytes. */
#define RTE_MEMCPY_BLK_PAIR(len, half) \
	typedef struct { \
		rte_memcpy_blk##half lo; \
		rte_memcpy_blk##half hi; \
	} rte_memcpy_blk##len; \
	static __rte_always_inline rte_memcpy_blk##len rte_memcpy_load##len(const uint8_t *src) \
	{ \
		rte_memcpy_blk##len blk; \
		blk.lo = rte_memcpy_load##half(src); \
		blk.hi = rte_memcpy_load##half(src + half); \
		return blk; \
	} \
	static __rte_always_inline void rte_memcpy_store##len( \
		uint8_t *dst, rte_memcpy_blk##len blk) \
	{ \
		rte_memcpy_store##half(dst, blk.lo); \
		rte_memcpy_store##half(dst + half, blk.hi); \
	}

RTE_MEMCPY_BLK_VECTOR(16)

#if RTE_MEMCPY_VEC_BYTES >= 32
RTE_MEMCPY_BLK_VECTOR(32)
#else
RTE_MEMCPY_BLK_PAIR(32, 16)
#endif

#if RTE_MEMCPY_VEC_BYTES >= 64
RTE_MEMCPY_BLK_VECTOR(64)
#else
RTE_MEMCPY_BLK_PAIR(64, 32)
#endif

RTE_MEMCPY_BLK_PAIR(128, 64)

static __rte_always_inline void
rte_mov16(uint8_t *dst, const uint8_t *src)
{
	rte_memcpy_store16(dst, rte_memcpy_load16(src));
}

static __rte_always_inline void
rte_mov32(uint8_t *dst, const uint8_t *src)
{
	rte_memcpy_store32(dst, rte_memcpy_load32(src));
}

static __rte_always_inline void
rte_mov48(uint8_t *dst, const uint8_t *src)
{
	rte_memcpy_blk32 lo = rte_memcpy_load32(src);
	rte_memcpy_blk16 hi = rte_memcpy_load16(src + 32);

	rte_memcpy_store32(dst, lo);
	rte_memcpy_store16(dst + 32, hi);
}

static __rte_always_inline void
rte_mov64(uint8_t *dst, const uint8_t *src)
{
	rte_memcpy_store64(dst, rte_memcpy_load64(src));
}

static __rte_always_inline void
rte_mov128(uint8_t *dst, const uint8_t *src)
{
	rte_memcpy_store128(dst, rte_memcpy_load128(src));
}

static __rte_always_inline void
rte_mov256(uint8_t *dst, const uint8_t *src)
{
	rte_mov128(dst, src);
	rte_mov128(dst + 128, src + 128);
}

#ifdef RTE_MEMCPY_HAS_UPTO64

/** @internal Copy 0 to 64 bytes. The architecture defines it. */
static __rte_always_inline void
rte_memcpy_upto64(uint8_t *dst, const uint8_t *src, size_t n);

#else

/** @internal Copy 0 to 3 bytes; 2 of them by one access. */
static __rte_always_inline void
rte_memcpy_upto3(uint8_t *dst, const uint8_t *src, uint32_t n)
{
	if (n & 1)
		dst[n - 1] = src[n - 1];
	if (n & 2)
		*(rte_memcpy_mem2 *)dst = *(const rte_memcpy_mem2 *)src;
}

/** @internal Copy 4 to 15 bytes; 4 and 8 of them by one access. */
static __rte_always_inline void
rte_memcpy_upto15(uint8_t *dst, const uint8_t *src, uint32_t n)
{
	/* 0 below 8 bytes, 4 from there on */
	uint32_t inner = (n / 2) & ~3u;
	uint32_t end = n - inner;
	uint32_t head, second, third, tail;

	if (n == 8) {
		*(rte_memcpy_mem8 *)dst = *(const rte_memcpy_mem8 *)src;
		return;
	}
	if (n == 4) {
		*(rte_memcpy_mem4 *)dst = *(const rte_memcpy_mem4 *)src;
		return;
	}
	head = *(const rte_memcpy_mem4 *)src;
	second = *(const rte_memcpy_mem4 *)(src + inner);
	third = *(const rte_memcpy_mem4 *)(src + end - 4);
	tail = *(const rte_memcpy_mem4 *)(src + n - 4);
	*(rte_memcpy_mem4 *)(dst + end - 4) = third;
	*(rte_memcpy_mem4 *)(dst + n - 4) = tail;
	*(rte_memcpy_mem4 *)(dst + inner) = second;
	*(rte_memcpy_mem4 *)dst = head;
}

/** @internal Copy 16 to 64 bytes. */
static __rte_always_inline void
rte_memcpy_16to64(uint8_t *dst, const uint8_t *src, uint32_t n)
{
	/* 0 below 32 bytes, 16 below 64, and 32 for 64 */
	uint32_t inner = (n / 2) & ~15u;
	uint32_t end = n - inner;
	rte_memcpy_blk16 head = rte_memcpy_load16(src);
	rte_memcpy_blk16 second = rte_memcpy_load16(src + inner);
	rte_memcpy_blk16 third = rte_memcpy_load16(src + end - 16);
	rte_memcpy_blk16 tail = rte_memcpy_load16(src + n - 16);

	rte_memcpy_store16(dst + end - 16, third);
	rte_memcpy_store16(dst + n - 16, tail);
	rte_memcpy_store16(dst + inner, second);
	rte_memcpy_store16(dst, head);
}

/** @internal Copy 0 to 64 bytes. */
static __rte_always_inline void
rte_memcpy_upto64(uint8_t *dst, const uint8_t *src, size_t n)
{
	/* Narrow arithmetic makes for shorter code. */
	if (n >= 16)
		rte_memcpy_16to64(dst, src, (uint32_t)n);
	else if (n >= 4)
		rte_memcpy_upto15(dst, src, (uint32_t)n);
	else
		rte_memcpy_upto3(dst, src, (uint32_t)n);
}

#endif /* RTE_MEMCPY_HAS_UPTO64 */

#if RTE_MEMCPY_VEC_BYTES == 16
#define rte_memcpy_load_vec rte_memcpy_load16
#define rte_memcpy_store_vec rte_memcpy_store16
#elif RTE_MEMCPY_VEC_BYTES == 32
#define rte_memcpy_load_vec rte_memcpy_load32
#define rte_memcpy_store_vec rte_memcpy_store32
#else
#define rte_memcpy_load_vec rte_memcpy_load64
#define rte_memcpy_store_vec rte_memcpy_store64
#endif

#ifndef RTE_MEMCPY_LIBC_HAS_MOST

/** @internal Copy more than 256 bytes: the loop from the start up to the end. */
static __rte_always_inline void
rte_memcpy_loop_up(uint8_t *dst, const uint8_t *src, size_t n)
{
	rte_memcpy_blk128 tail = rte_memcpy_load128(src + n - 128);
	uint8_t *tail_dst = dst + n - 128;
	/* The first vector reaches to where the stores become aligned. */
	size_t skip = RTE_MEMCPY_VEC_BYTES - ((uintptr_t)dst & (RTE_MEMCPY_VEC_BYTES - 1));

	rte_memcpy_store_vec(dst, rte_memcpy_load_vec(src));
	dst += skip;
	src += skip;
	/* All before dst is copied; at most 128 bytes are left to the tail. */
	do {
		rte_mov128(dst, src);
		dst += 128;
		src += 128;
	} while (dst < tail_dst);
	rte_memcpy_store128(tail_dst, tail);
}

#endif

#ifdef RTE_ARCH_X86

/** @internal Copy more than 256 bytes: the loop from the end down to the start. */
static __rte_always_inline void
rte_memcpy_loop_down(uint8_t *dst, const uint8_t *src, size_t n)
{
	rte_memcpy_blk128 head = rte_memcpy_load128(src);
	uint8_t *dst_end = dst + n;
	/* The last vector reaches down to where the stores become aligned. */
	size_t skip = (uintptr_t)dst_end & (RTE_MEMCPY_VEC_BYTES - 1);
	const uint8_t *src_end = src + n - skip;

	rte_memcpy_store_vec(dst + n - RTE_MEMCPY_VEC_BYTES,
		rte_memcpy_load_vec(src + n - RTE_MEMCPY_VEC_BYTES));
	dst_end -= skip;
	/* All from dst_end on is copied; at most 128 bytes are left to the head. */
	do {
		dst_end -= 128;
		src_end -= 128;
		rte_mov128(dst_end, src_end);
	} while (dst_end - dst > 128);
	rte_memcpy_store128(dst, head);
}

#endif

/**
 * @internal
 * Copy more than 256 bytes: the loop that moves away from what was stored.
 * x86 compares addresses of loads and stores modulo 4 KiB at first: up from just
 * below the destination, each round would wait for the stores of the last one.
 */
static __rte_always_inline void
rte_memcpy_loop(uint8_t *dst, const uint8_t *src, size_t n)
{
#if defined(RTE_MEMCPY_LIBC_HAS_MOST)
	rte_memcpy_loop_down(dst, src, n);
#elif defined(RTE_ARCH_X86)
	/* Few rounds do not wait for long, and up they begin sooner. */
	if (n <= RTE_MEMCPY_LIBC_VEC_MAX_LEN || (((uintptr_t)dst - (uintptr_t)src) & 2048))
		rte_memcpy_loop_up(dst, src, n);
	else
		rte_memcpy_loop_down(dst, src, n);
#else
	rte_memcpy_loop_up(dst, src, n);
#endif
}

#ifdef RTE_MEMCPY_LIBC_HAS_MOST

/**
 * @internal
 * Up to this size in bytes source and destination fit into the first cache,
 * where libc is ahead of the loop here if it copies by its wider vectors.
 */
#define RTE_MEMCPY_LIBC_BLOCKS_MAX_LEN (16 * 1024)

/** @internal Copy in blocks so small that libc does not turn to rep movsb. */
static __rte_always_inline void
rte_memcpy_blocks(uint8_t *dst, const uint8_t *src, size_t n)
{
	size_t block = RTE_MEMCPY_LIBC_VEC_MAX_LEN;

	/* A constant size would be expanded in place, by rep movs again. */
	RTE_MEMCPY_HIDE(block);
	for (; n > block; n -= block) {
		memcpy(dst, src, block);
		dst += block;
		src += block;
	}
	memcpy(dst, src, n);
}

#endif

/**
 * @internal
 * Copy more than 256 bytes. Out of line: the code is long,
 * and a call is cheap beside a copy of that size.
 * Not __rte_noinline: some drivers define a macro noinline.
 */
static __attribute__((__noinline__, __unused__)) void
rte_memcpy_long(uint8_t *dst, const uint8_t *src, size_t n)
{
	/* Not bool: clang for POWER has none in C++, once rte_altivec.h has defined it anew. */
	int is_for_libc = n >= RTE_MEMCPY_LIBC_MIN_LEN;

#ifdef RTE_MEMCPY_LIBC_HAS_WIDE_VECTORS
	/*
	 * On Zen 4 rep movsb is up to 28 times slower where the destination lies
	 * less than 128 bytes above the source modulo 4 KiB, as it does behind a
	 * virtio header.
	 */
	if (n >= RTE_MEMCPY_LIBC_REP_MIN_LEN &&
		(((uintptr_t)dst - (uintptr_t)src) & 4095) - 1 >= 127)
		is_for_libc = 1;
#endif
	if (is_for_libc) {
		/* Where n was an int, its range reaches to sizes that no object has. */
		RTE_MEMCPY_HIDE(n);
		memcpy(dst, src, n);
		return;
	}
#ifdef RTE_MEMCPY_LIBC_HAS_MOST
	if (n <= RTE_MEMCPY_LIBC_BLOCKS_MAX_LEN) {
		rte_memcpy_blocks(dst, src, n);
		return;
	}
#endif
	rte_memcpy_loop(dst, src, n);
}

#if defined(RTE_MEMCPY_HAS_ANY)

/** @internal Copy any number of bytes. The architecture defines it. */
static __rte_always_inline void
rte_memcpy_any(uint8_t *dst, const uint8_t *src, size_t n);

#elif defined(RTE_MEMCPY_LIBC_HAS_MOST)

/** @internal Copy any number of bytes; libc has wider vectors for most. */
static __rte_always_inline void
rte_memcpy_any(uint8_t *dst, const uint8_t *src, size_t n)
{
	if (n <= 64)
		rte_memcpy_upto64(dst, src, n);
	else if (n <= RTE_MEMCPY_LIBC_VEC_MAX_LEN)
		memcpy(dst, src, n);
	else
		rte_memcpy_long(dst, src, n);
}

#else

/** @internal Copy 65 to 256 bytes: the first and the last 64 or 128. */
static __rte_always_inline void
rte_memcpy_upto256(uint8_t *dst, const uint8_t *src, size_t n)
{
	rte_memcpy_blk64 head = rte_memcpy_load64(src);
	rte_memcpy_blk64 tail = rte_memcpy_load64(src + n - 64);

	if (n > 128) {
		rte_memcpy_blk64 second = rte_memcpy_load64(src + 64);
		rte_memcpy_blk64 third = rte_memcpy_load64(src + n - 128);

		rte_memcpy_store64(dst + 64, second);
		rte_memcpy_store64(dst + n - 128, third);
	}
	rte_memcpy_store64(dst + n - 64, tail);
	rte_memcpy_store64(dst, head);
}

#ifdef RTE_MEMCPY_LIBC_HAS_WIDE_VECTORS

/** @internal Copy any number of bytes; libc has the widest vectors, which pay for its call. */
static __rte_always_inline void
rte_memcpy_any(uint8_t *dst, const uint8_t *src, size_t n)
{
	if (n > 256) {
		if (n <= RTE_MEMCPY_LIBC_VEC_MAX_LEN)
			memcpy(dst, src, n);
		else
			rte_memcpy_long(dst, src, n);
	} else if (n > 64) {
		rte_memcpy_upto256(dst, src, n);
	} else {
		rte_memcpy_upto64(dst, src, n);
	}
}

#else

/** @internal Copy any number of bytes. */
static __rte_always_inline void
rte_memcpy_any(uint8_t *dst, const uint8_t *src, size_t n)
{
	if (n <= 64)
		rte_memcpy_upto64(dst, src, n);
	else if (n <= 256)
		rte_memcpy_upto256(dst, src, n);
	else
		rte_memcpy_long(dst, src, n);
}

#endif /* RTE_MEMCPY_LIBC_HAS_WIDE_VECTORS */

#endif

static __rte_always_inline void *
rte_memcpy(void *dst, const void *src, size_t n)
{
	uint8_t *to = (uint8_t *)dst;
	const uint8_t *from = (const uint8_t *)src;

	if (__builtin_constant_p(n))
		return n == 0 ? dst : memcpy(dst, src, n);

	RTE_MEMCPY_HIDE(to);
	RTE_MEMCPY_HIDE(from);
	rte_memcpy_any(to, from, n);
	return dst;
}

#undef rte_memcpy_load_vec
#undef rte_memcpy_store_vec
#undef RTE_MEMCPY_BLK_PAIR
#undef RTE_MEMCPY_BLK_VECTOR
#ifndef RTE_MEMCPY_HAS_ANY
#undef RTE_MEMCPY_HIDE
#endif

#ifdef __cplusplus
}
#endif

#endif /* _RTE_MEMCPY_VEC_H_ */
