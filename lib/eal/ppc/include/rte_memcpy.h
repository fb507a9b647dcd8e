/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_PPC_64_H_
#define _RTE_MEMCPY_PPC_64_H_

/**
 * @file
 *
 * Which implementation of rte_memcpy() POWER uses.
 */

#include <rte_config.h>

#ifdef RTE_USE_CC_MEMCPY

#define RTE_MEMCPY_VEC_BYTES 0

#else

/* Not used here: applications have come to rely on what this header includes. */
#include "rte_altivec.h"

/* VSX, which every supported POWER has: 16-byte registers, any alignment. */
#define RTE_MEMCPY_VEC_BYTES 16

#endif /* RTE_USE_CC_MEMCPY */

#include "generic/rte_memcpy.h"

/* DPDK asks for a guard in each header; what is included here has its own. */
#ifdef __cplusplus
extern "C" {
}
#endif

#endif /* _RTE_MEMCPY_PPC_64_H_ */
