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
 * branch, not a byte copied twice. Sizes fall into a few classes
 * (up to 16, 32, 64, 128, 256 bytes); in each class the first and the last
 * block of the area are copied, and overlap in the middle. There is one branch
 * per class and none on single bits of the size.
 * All loads of a class come before its stores, so that no load has to wait
 * for a store whose address differs from its own only above the page offset.
 * What is longer goes out of line: aligned stores in a loop, or libc,
 * which knows the caches of the machine, where that is at least as fast.
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
 * Below it, glibc 2.36 on Zen 4 uses rep movsb, which takes 14 to 28 times as
 * long when the destination lies a few bytes above the source modulo 4 KiB,
 * as it does behind a virtio header.
 */
#ifndef RTE_MEMCPY_LIBC_MIN_LEN
#define RTE_MEMCPY_LIBC_MIN_LEN (1024 * 1024)
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

/** @internal Copy 0 to 3 bytes: first, middle and last, which may coincide. */
static __rte_always_inline void
rte_memcpy_upto3(uint8_t *dst, const uint8_t *src, size_t n)
{
	uint8_t first, middle, last;

	if (n == 0)
		return;
	first = src[0];
	middle = src[n / 2];
	last = src[n - 1];
	dst[0] = first;
	dst[n / 2] = middle;
	dst[n - 1] = last;
}

/** @internal Copy 0 to 16 bytes. */
static __rte_always_inline void
rte_memcpy_upto16(uint8_t *dst, const uint8_t *src, size_t n)
{
	if (n >= 8) {
		uint64_t head = *(const rte_memcpy_mem8 *)src;
		uint64_t tail = *(const rte_memcpy_mem8 *)(src + n - 8);

		*(rte_memcpy_mem8 *)dst = head;
		*(rte_memcpy_mem8 *)(dst + n - 8) = tail;
	} else if (n >= 4) {
		uint32_t head = *(const rte_memcpy_mem4 *)src;
		uint32_t tail = *(const rte_memcpy_mem4 *)(src + n - 4);

		*(rte_memcpy_mem4 *)dst = head;
		*(rte_memcpy_mem4 *)(dst + n - 4) = tail;
	} else {
		rte_memcpy_upto3(dst, src, n);
	}
}

/** @internal Copy *len* to twice *len* bytes: the first and the last *len*. */
#define RTE_MEMCPY_HEAD_TAIL(len) \
	static __rte_always_inline void rte_memcpy_head_tail##len( \
		uint8_t *dst, const uint8_t *src, size_t n) \
	{ \
		rte_memcpy_blk##len head = rte_memcpy_load##len(src); \
		rte_memcpy_blk##len tail = rte_memcpy_load##len(src + n - len); \
\
		rte_memcpy_store##len(dst, head); \
		rte_memcpy_store##len(dst + n - len, tail); \
	}

RTE_MEMCPY_HEAD_TAIL(16)
RTE_MEMCPY_HEAD_TAIL(32)
RTE_MEMCPY_HEAD_TAIL(64)
RTE_MEMCPY_HEAD_TAIL(128)

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

/**
 * @internal
 * Copy more than 256 bytes. Out of line: the code is long,
 * and a call is cheap beside a copy of that size.
 * Not __rte_noinline: some drivers define a macro noinline.
 */
static __attribute__((__noinline__, __unused__)) void *
rte_memcpy_long(void *dst, const void *src, size_t n)
{
	const uint8_t *from = (const uint8_t *)src;
	uint8_t *to = (uint8_t *)dst;
	uint8_t *tail_to = to + n - 128;
	rte_memcpy_blk128 tail;
	size_t skip;

	if (n >= RTE_MEMCPY_LIBC_MIN_LEN) {
		/* Where n was an int, its range reaches to sizes that no object has. */
		RTE_MEMCPY_HIDE(n);
		return memcpy(dst, src, n);
	}

	tail = rte_memcpy_load128(from + n - 128);
	/* The first vector reaches to where the stores become aligned. */
	rte_memcpy_store_vec(to, rte_memcpy_load_vec(from));
	skip = RTE_MEMCPY_VEC_BYTES - ((uintptr_t)to & (RTE_MEMCPY_VEC_BYTES - 1));
	to += skip;
	from += skip;
	/* All before to is copied; at most 128 bytes are left to the tail. */
	while (to < tail_to) {
		rte_mov128(to, from);
		to += 128;
		from += 128;
	}
	rte_memcpy_store128(tail_to, tail);
	return dst;
}

static __rte_always_inline void *
rte_memcpy(void *dst, const void *src, size_t n)
{
	uint8_t *to = (uint8_t *)dst;
	const uint8_t *from = (const uint8_t *)src;

	if (__builtin_constant_p(n))
		return n == 0 ? dst : memcpy(dst, src, n);

	RTE_MEMCPY_HIDE(to);
	RTE_MEMCPY_HIDE(from);
	if (n <= 16)
		rte_memcpy_upto16(to, from, n);
	else if (n <= 32)
		rte_memcpy_head_tail16(to, from, n);
	else if (n <= 64)
		rte_memcpy_head_tail32(to, from, n);
	else if (n <= 128)
		rte_memcpy_head_tail64(to, from, n);
	else if (n <= 256)
		rte_memcpy_head_tail128(to, from, n);
	else
		rte_memcpy_long(to, from, n);
	return dst;
}

#undef rte_memcpy_load_vec
#undef rte_memcpy_store_vec
#undef RTE_MEMCPY_HEAD_TAIL
#undef RTE_MEMCPY_BLK_PAIR
#undef RTE_MEMCPY_BLK_VECTOR
#undef RTE_MEMCPY_HIDE

#ifdef __cplusplus
}
#endif

#endif /* _RTE_MEMCPY_VEC_H_ */
