/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_ARM32_H_
#define _RTE_MEMCPY_ARM32_H_

/**
 * @file
 *
 * Which implementation of rte_memcpy() 32-bit Arm uses.
 */

#include <rte_config.h>

/* As DPDK's build configuration has it, custom code is for those who ask for it. */
#if defined(RTE_USE_CC_MEMCPY) || !defined(RTE_ARCH_ARM_NEON_MEMCPY)
#define RTE_MEMCPY_VEC_BYTES 0
#else
#ifndef __ARM_NEON
#error "RTE_ARCH_ARM_NEON_MEMCPY needs a compiler that targets NEON (-mfpu=neon)"
#endif
/* Not used here: applications have come to rely on what this header includes. */
#include <arm_neon.h>
#define RTE_MEMCPY_VEC_BYTES 16
#endif

#include "generic/rte_memcpy.h"

/* DPDK asks for a guard in each header; what is included here has its own. */
#ifdef __cplusplus
extern "C" {
}
#endif

#endif /* _RTE_MEMCPY_ARM32_H_ */
