/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_AVX512VL_H_
#define _RTE_MEMCPY_AVX512VL_H_

/**
 * @file
 *
 * The copy of up to 64 bytes on x86 with AVX-512VL, in registers of 32 bytes.
 * Only to be included by rte_memcpy.h.
 *
 * Loads and stores under a mask copy any number of bytes without a branch,
 * so no size is mispredicted. They touch no byte that the mask leaves out:
 * there may even be no memory, though the CPU then takes some hundred cycles.
 * What it costs: a read soon after the copy waits until the store is in the
 * cache (some 20 cycles), for a store under a mask serves no load before.
 */

#ifndef RTE_MEMCPY_HAS_UPTO64
#error "include rte_memcpy.h, not this file"
#endif

#include <immintrin.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @internal Copy 2, 4 or 8 bytes by one access, so that they do not tear. */
static __rte_always_inline void
rte_memcpy_word(uint8_t *dst, const uint8_t *src, size_t n)
{
	if (n == 8)
		*(rte_memcpy_mem8 *)dst = *(const rte_memcpy_mem8 *)src;
	else if (n == 4)
		*(rte_memcpy_mem4 *)dst = *(const rte_memcpy_mem4 *)src;
	else
		*(rte_memcpy_mem2 *)dst = *(const rte_memcpy_mem2 *)src;
}

/** @internal Copy 0 to 64 bytes. */
static __rte_always_inline void
rte_memcpy_upto64(uint8_t *dst, const uint8_t *src, size_t n)
{
	const uint64_t word_lens = 1 << 2 | 1 << 4 | 1 << 8;
	/* Integers, because a short area has no byte 32 to point to. */
	uintptr_t high_src = (uintptr_t)src + 32;
	uintptr_t high_dst = (uintptr_t)dst + 32;
	/* As many ones as there are bytes; n is at most 64, which gives all. */
	uint64_t bytes = _bzhi_u64(UINT64_MAX, (unsigned int)n);
	__mmask32 low_mask = (__mmask32)bytes;
	__mmask32 high_mask = (__mmask32)(bytes >> 32);
	__m256i low, high;

	/* 64 is taken as 0, which is no such size either. */
	if ((word_lens >> (n & 63)) & 1) {
		rte_memcpy_word(dst, src, n);
		return;
	}
	low = _mm256_maskz_loadu_epi8(low_mask, src);
	high = _mm256_maskz_loadu_epi8(high_mask, (const void *)high_src);
	_mm256_mask_storeu_epi8(dst, low_mask, low);
	_mm256_mask_storeu_epi8((void *)high_dst, high_mask, high);
}

#ifdef __cplusplus
}
#endif

#endif /* _RTE_MEMCPY_AVX512VL_H_ */
