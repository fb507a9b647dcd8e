/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_H_
#define _RTE_MEMCPY_H_

/**
 * @file
 *
 * Copying memory in the data plane.
 *
 * One API, two implementations.
 * The header of each architecture chooses by defining RTE_MEMCPY_VEC_BYTES
 * before it includes this file:
 * - 0: everything below is the compiler's memcpy(),
 *   as asked for by the Meson option use_cc_memcpy;
 * - 16, 32, 64: custom code on vector registers of that many bytes.
 *
 * An architecture that does not define it brings definitions of its own
 * (RISC-V and LoongArch, which are on memcpy() already).
 *
 * All functions copy exactly the bytes named, read and write no other,
 * need no alignment, and evaluate their arguments once.
 * They hold no state: any thread may call them at any time,
 * as long as nobody else writes to either area meanwhile.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_config.h>
#include <rte_common.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(RTE_MEMCPY_VEC_BYTES) || defined(__DOXYGEN__)

/**
 * Copy a number of bytes between two areas that do not overlap.
 *
 * A size known at compile time is always left to the compiler,
 * which expands it in place and checks it against the objects it knows.
 *
 * @param dst
 *   Where to copy to. Any alignment.
 *   May be NULL if *n* is 0.
 * @param src
 *   Where to copy from. Any alignment.
 *   May be NULL if *n* is 0.
 * @param n
 *   Number of bytes to copy. If 0, nothing is read or written.
 * @return
 *   *dst*. There is no failure.
 */
static __rte_always_inline void *
rte_memcpy(void *dst, const void *src, size_t n);

/**
 * Copy exactly 16 bytes between two areas that do not overlap.
 *
 * @param dst
 *   Where to copy to. Any alignment.
 * @param src
 *   Where to copy from. Any alignment.
 */
static __rte_always_inline void
rte_mov16(uint8_t *dst, const uint8_t *src);

/**
 * Copy exactly 32 bytes between two areas that do not overlap.
 *
 * @param dst
 *   Where to copy to. Any alignment.
 * @param src
 *   Where to copy from. Any alignment.
 */
static __rte_always_inline void
rte_mov32(uint8_t *dst, const uint8_t *src);

/**
 * Copy exactly 48 bytes between two areas that do not overlap.
 *
 * @param dst
 *   Where to copy to. Any alignment.
 * @param src
 *   Where to copy from. Any alignment.
 */
static __rte_always_inline void
rte_mov48(uint8_t *dst, const uint8_t *src);

/**
 * Copy exactly 64 bytes between two areas that do not overlap.
 *
 * @param dst
 *   Where to copy to. Any alignment.
 * @param src
 *   Where to copy from. Any alignment.
 */
static __rte_always_inline void
rte_mov64(uint8_t *dst, const uint8_t *src);

/**
 * Copy exactly 128 bytes between two areas that do not overlap.
 *
 * @param dst
 *   Where to copy to. Any alignment.
 * @param src
 *   Where to copy from. Any alignment.
 */
static __rte_always_inline void
rte_mov128(uint8_t *dst, const uint8_t *src);

/**
 * Copy exactly 256 bytes between two areas that do not overlap.
 *
 * @param dst
 *   Where to copy to. Any alignment.
 * @param src
 *   Where to copy from. Any alignment.
 */
static __rte_always_inline void
rte_mov256(uint8_t *dst, const uint8_t *src);

#endif /* RTE_MEMCPY_VEC_BYTES || __DOXYGEN__ */

#if defined(RTE_MEMCPY_VEC_BYTES) && RTE_MEMCPY_VEC_BYTES == 0

static __rte_always_inline void
rte_mov16(uint8_t *dst, const uint8_t *src)
{
	memcpy(dst, src, 16);
}

static __rte_always_inline void
rte_mov32(uint8_t *dst, const uint8_t *src)
{
	memcpy(dst, src, 32);
}

static __rte_always_inline void
rte_mov48(uint8_t *dst, const uint8_t *src)
{
	memcpy(dst, src, 48);
}

static __rte_always_inline void
rte_mov64(uint8_t *dst, const uint8_t *src)
{
	memcpy(dst, src, 64);
}

static __rte_always_inline void
rte_mov128(uint8_t *dst, const uint8_t *src)
{
	memcpy(dst, src, 128);
}

static __rte_always_inline void
rte_mov256(uint8_t *dst, const uint8_t *src)
{
	memcpy(dst, src, 256);
}

static __rte_always_inline void *
rte_memcpy(void *dst, const void *src, size_t n)
{
	/*
	 * memcpy() of 0 bytes still promises the compiler that neither pointer
	 * is NULL, and it drops later checks of them. rte_memcpy() does not.
	 */
	if (n == 0)
		return dst;
	return memcpy(dst, src, n);
}

#elif defined(RTE_MEMCPY_VEC_BYTES)

#include "generic/rte_memcpy_vec.h"

#endif

#ifdef __cplusplus
}
#endif

#endif /* _RTE_MEMCPY_H_ */
