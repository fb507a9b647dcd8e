/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_X86_64_H_
#define _RTE_MEMCPY_X86_64_H_

/**
 * @file
 *
 * Which implementation of rte_memcpy() x86 uses.
 */

#include <rte_config.h>

#ifdef RTE_USE_CC_MEMCPY

#define RTE_MEMCPY_VEC_BYTES 0

#else

/* Not used here: applications have come to rely on what this header includes. */
#include <stdio.h>
#include <rte_vect.h>

/*
 * 64-byte registers lower the frequency of some servers,
 * so they are used only by those who build with RTE_MEMCPY_AVX512 defined.
 */
#if defined(__AVX512F__) && defined(RTE_MEMCPY_AVX512)
#define RTE_MEMCPY_VEC_BYTES 64
#elif defined(__AVX2__)
#define RTE_MEMCPY_VEC_BYTES 32
#else
#define RTE_MEMCPY_VEC_BYTES 16
#endif

/* glibc for x86-64 copies by the widest registers that the CPU moves at once. */
#if RTE_MEMCPY_VEC_BYTES == 16 || (defined(__GLIBC__) && defined(RTE_ARCH_X86_64))
#define RTE_MEMCPY_LIBC_HAS_WIDE_VECTORS
#endif

#if defined(__AVX512VL__) && defined(__AVX512BW__) && defined(__BMI2__) && defined(RTE_ARCH_X86_64)
#define RTE_MEMCPY_HAS_UPTO64
#endif

#endif /* RTE_USE_CC_MEMCPY */

#include "generic/rte_memcpy.h"

#ifdef RTE_MEMCPY_HAS_UPTO64
#include <rte_memcpy_avx512vl.h>
#endif

/* DPDK asks for a guard in each header; what is included here has its own. */
#ifdef __cplusplus
extern "C" {
}
#endif

#endif /* _RTE_MEMCPY_X86_64_H_ */
