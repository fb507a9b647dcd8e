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
 * DPDK's build configuration leaves custom code off for all 64-bit Arm cores
 * but those that ask for it (RTE_ARCH_ARM64_MEMCPY), and so it stays here.
 */
#if defined(RTE_USE_CC_MEMCPY) || !defined(RTE_ARCH_ARM64_MEMCPY)
#define RTE_MEMCPY_VEC_BYTES 0
#else
#define RTE_MEMCPY_VEC_BYTES 16
#endif

#include "generic/rte_memcpy.h"

#endif /* _RTE_MEMCPY_ARM64_H_ */
