/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_ARM64_H_
#define _RTE_MEMCPY_ARM64_H_

/**
 * @file
 *
 * Which implementation of rte_memcpy() 64-bit Arm uses.
 */

#include <rte_config.h>

/*
 * - SVE wherever the compiler targets it: the registers of these cores are as
 *   wide as 64 bytes, NEON uses 16 of them.
 * - NEON only on request: DPDK's build configuration leaves custom code off for
 *   all 64-bit Arm cores but those that ask for it (RTE_ARCH_ARM64_MEMCPY).
 */
#ifdef __ARM_FEATURE_SVE
#if __has_include(<arm_sve.h>) /* not GCC 8 and 9 */
#define RTE_MEMCPY_HAS_SVE
#endif
#endif

#ifdef RTE_USE_CC_MEMCPY
#define RTE_MEMCPY_VEC_BYTES 0
#elif defined(RTE_MEMCPY_HAS_SVE)
#define RTE_MEMCPY_VEC_BYTES 16
#define RTE_MEMCPY_HAS_ANY
#elif defined(RTE_ARCH_ARM64_MEMCPY)
#define RTE_MEMCPY_VEC_BYTES 16
#else
#define RTE_MEMCPY_VEC_BYTES 0
#endif

#include "generic/rte_memcpy.h"

#ifdef RTE_MEMCPY_HAS_ANY
#include <rte_memcpy_sve.h>
#endif

#undef RTE_MEMCPY_HAS_SVE

/* DPDK asks for a guard in each header; what is included here has its own. */
#ifdef __cplusplus
extern "C" {
}
#endif

#endif /* _RTE_MEMCPY_ARM64_H_ */
