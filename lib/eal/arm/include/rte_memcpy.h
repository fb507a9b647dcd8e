/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef _RTE_MEMCPY_ARM_H_
#define _RTE_MEMCPY_ARM_H_

/**
 * @file
 *
 * Which implementation of rte_memcpy() Arm uses.
 */

#include <rte_config.h>

#ifdef RTE_ARCH_64
#include <rte_memcpy_64.h>
#else
#include <rte_memcpy_32.h>
#endif

/* DPDK asks for a guard in each header; what is included here has its own. */
#ifdef __cplusplus
extern "C" {
}
#endif

#endif /* _RTE_MEMCPY_ARM_H_ */
