/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include "eal_cpu_core_type.h"

enum rte_cpu_core_type
eal_cpu_core_type_detect(unsigned int cpu)
{
	return eal_cpu_core_type_arm(EAL_SYSFS, cpu);
}

bool
eal_cpu_is_hybrid_detect(void)
{
	return eal_cpu_is_hybrid_arm(EAL_SYSFS);
}
