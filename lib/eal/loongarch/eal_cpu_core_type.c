/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <rte_common.h>

#include "eal_cpu_core_type.h"

/* No machine of this architecture has cores of several kinds. */
enum rte_cpu_core_type
eal_cpu_core_type_detect(unsigned int cpu)
{
	RTE_SET_USED(cpu);
	return RTE_CPU_CORE_UNKNOWN;
}

bool
eal_cpu_is_hybrid_detect(void)
{
	return false;
}
