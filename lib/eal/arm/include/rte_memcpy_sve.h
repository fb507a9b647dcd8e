/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_SVE_H_
#define _RTE_MEMCPY_SVE_H_

/**
 * @file
 *
 * The custom copy on SVE registers, whatever their length is.
 * Only to be included by rte_memcpy_64.h, behind the blocks of NEON.
 *
 * Strategy. As in generic/rte_memcpy_vec.h, sizes fall into a few classes,
 * each with all its loads before its stores; but the classes stand in multiples
 * of the vector length (VL), which is known only at run time:
 * - up to 64 bytes: as without SVE. That has no loop and few branches either, and
 *   an access under a predicate promises other threads single bytes only, where
 *   small objects must not tear;
 * - up to 2 VL: two vectors under a predicate, which ends at the last byte;
 * - up to 4, 8, 16 VL: head and tail of 2, 4, 8 whole vectors, which overlap;
 * - above: four whole vectors a round to a destination aligned to VL.
 *   Counting under a predicate costs more than the copy itself (in the model of
 *   A64FX, a round of one vector and its predicate moves 37 of the possible
 *   64 bytes a cycle), so the end is again an overlapping tail.
 *
 * Where VL is 16 bytes (Neoverse N2 and V2, Grace), SVE moves no more a cycle
 * than NEON, and NEON's load and store of pairs is as good or better: it takes
 * over where a loop would be needed. The comparison with VL always goes the same
 * way on a machine, and costs next to nothing.
 */

#ifndef RTE_MEMCPY_HAS_ANY
#error "include rte_memcpy.h, not this file"
#endif

#include <arm_sve.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Blocks of two and of four vectors, at a distance of *at* vectors from a pointer.
 * They are types of the compiler's that consist of registers: such vectors, whose
 * length it does not know, cannot be members of a struct.
 */

static __rte_always_inline svuint8x2_t
rte_memcpy_load2vl(const uint8_t *src, int64_t at)
{
	svbool_t all = svptrue_b8();

	return svcreate2_u8(svld1_vnum_u8(all, src, at), svld1_vnum_u8(all, src, at + 1));
}

static __rte_always_inline void
rte_memcpy_store2vl(uint8_t *dst, int64_t at, svuint8x2_t blk)
{
	svbool_t all = svptrue_b8();

	svst1_vnum_u8(all, dst, at, svget2_u8(blk, 0));
	svst1_vnum_u8(all, dst, at + 1, svget2_u8(blk, 1));
}

static __rte_always_inline svuint8x4_t
rte_memcpy_load4vl(const uint8_t *src, int64_t at)
{
	svbool_t all = svptrue_b8();

	return svcreate4_u8(svld1_vnum_u8(all, src, at), svld1_vnum_u8(all, src, at + 1),
		svld1_vnum_u8(all, src, at + 2), svld1_vnum_u8(all, src, at + 3));
}

static __rte_always_inline void
rte_memcpy_store4vl(uint8_t *dst, int64_t at, svuint8x4_t blk)
{
	svbool_t all = svptrue_b8();

	svst1_vnum_u8(all, dst, at, svget4_u8(blk, 0));
	svst1_vnum_u8(all, dst, at + 1, svget4_u8(blk, 1));
	svst1_vnum_u8(all, dst, at + 2, svget4_u8(blk, 2));
	svst1_vnum_u8(all, dst, at + 3, svget4_u8(blk, 3));
}

/** @internal Copy 0 to 2 VL bytes. Those that a predicate leaves out cannot fault. */
static __rte_always_inline void
rte_memcpy_upto2vl(uint8_t *dst, const uint8_t *src, size_t n)
{
	svbool_t in_first = svwhilelt_b8_u64(0, n);
	svbool_t in_second = svwhilelt_b8_u64(svcntb(), n);
	svuint8_t first = svld1_u8(in_first, src);
	svuint8_t second = svld1_vnum_u8(in_second, src, 1);

	svst1_u8(in_first, dst, first);
	svst1_vnum_u8(in_second, dst, 1, second);
}

/** @internal Copy 2 to 4 VL bytes. */
static __rte_always_inline void
rte_memcpy_head_tail2vl(uint8_t *dst, const uint8_t *src, size_t n)
{
	svuint8x2_t head = rte_memcpy_load2vl(src, 0);
	svuint8x2_t tail = rte_memcpy_load2vl(src + n, -2);

	rte_memcpy_store2vl(dst, 0, head);
	rte_memcpy_store2vl(dst + n, -2, tail);
}

/** @internal Copy 4 to 8 VL bytes. */
static __rte_always_inline void
rte_memcpy_head_tail4vl(uint8_t *dst, const uint8_t *src, size_t n)
{
	svuint8x4_t head = rte_memcpy_load4vl(src, 0);
	svuint8x4_t tail = rte_memcpy_load4vl(src + n, -4);

	rte_memcpy_store4vl(dst, 0, head);
	rte_memcpy_store4vl(dst + n, -4, tail);
}

/** @internal Copy 8 to 16 VL bytes. */
static __rte_always_inline void
rte_memcpy_head_tail8vl(uint8_t *dst, const uint8_t *src, size_t n)
{
	svuint8x4_t head_lo = rte_memcpy_load4vl(src, 0);
	svuint8x4_t head_hi = rte_memcpy_load4vl(src, 4);
	svuint8x4_t tail_lo = rte_memcpy_load4vl(src + n, -8);
	svuint8x4_t tail_hi = rte_memcpy_load4vl(src + n, -4);

	rte_memcpy_store4vl(dst, 0, head_lo);
	rte_memcpy_store4vl(dst, 4, head_hi);
	rte_memcpy_store4vl(dst + n, -8, tail_lo);
	rte_memcpy_store4vl(dst + n, -4, tail_hi);
}

/** @internal Copy more than 4 VL bytes in a loop. */
static __rte_always_inline void
rte_memcpy_loop_vl(uint8_t *dst, const uint8_t *src, size_t n)
{
	const size_t vl = svcntb();
	uint8_t *dst_tail = dst + n - 4 * vl;
	svuint8x4_t tail = rte_memcpy_load4vl(src + n, -4);
	/* The first vector reaches to where the stores become aligned. */
	size_t skip = vl - ((uintptr_t)dst & (vl - 1));

	svst1_u8(svptrue_b8(), dst, svld1_u8(svptrue_b8(), src));
	dst += skip;
	src += skip;
	/* All before dst is copied; at most 4 VL are left to the tail. */
	while (dst < dst_tail) {
		/* clang 14 would keep and advance a pointer for each vector. */
		RTE_MEMCPY_HIDE(dst);
		RTE_MEMCPY_HIDE(src);
		rte_memcpy_store4vl(dst, 0, rte_memcpy_load4vl(src, 0));
		dst += 4 * vl;
		src += 4 * vl;
	}
	rte_memcpy_store4vl(dst_tail, 0, tail);
}

/**
 * @internal
 * From this size in bytes on, memcpy() of libc is taken.
 * glibc knows A64FX from 2.34 on. Before that it copies by NEON there, at less
 * than half the bandwidth of SVE even where the areas lie in memory.
 */
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
#define RTE_MEMCPY_SVE_LIBC_MIN_LEN RTE_MEMCPY_LIBC_MIN_LEN
#endif
#endif
#ifndef RTE_MEMCPY_SVE_LIBC_MIN_LEN
#define RTE_MEMCPY_SVE_LIBC_MIN_LEN SIZE_MAX
#endif

/**
 * @internal
 * Copy more than 8 VL bytes. Out of line: the code is long,
 * and a call is cheap beside a copy of that size.
 */
static __attribute__((__noinline__, __unused__)) void
rte_memcpy_long_vl(uint8_t *dst, const uint8_t *src, size_t n)
{
	const size_t vl = svcntb();

	if (n <= 16 * vl) {
		rte_memcpy_head_tail8vl(dst, src, n);
	} else if (vl == 16) {
		rte_memcpy_long(dst, src, n);
	} else if (n >= RTE_MEMCPY_SVE_LIBC_MIN_LEN) {
		/* Where n was an int, its range reaches to sizes that no object has. */
		RTE_MEMCPY_HIDE(n);
		memcpy(dst, src, n);
	} else {
		rte_memcpy_loop_vl(dst, src, n);
	}
}

/** @internal Copy any number of bytes. */
static __rte_always_inline void
rte_memcpy_any(uint8_t *dst, const uint8_t *src, size_t n)
{
	const size_t vl = svcntb();

	if (n <= 64)
		rte_memcpy_upto64(dst, src, n);
	else if (n <= 2 * vl)
		rte_memcpy_upto2vl(dst, src, n);
	else if (n <= 4 * vl)
		rte_memcpy_head_tail2vl(dst, src, n);
	else if (n <= 8 * vl)
		rte_memcpy_head_tail4vl(dst, src, n);
	else
		rte_memcpy_long_vl(dst, src, n);
}

#undef RTE_MEMCPY_HIDE

#ifdef __cplusplus
}
#endif

#endif /* _RTE_MEMCPY_SVE_H_ */
