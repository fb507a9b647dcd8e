/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include "eal_cpu_core_type.h"
#include "rte_cpuid.h"

static void
read_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	__cpuid_count(leaf, subleaf, regs[RTE_REG_EAX], regs[RTE_REG_EBX], regs[RTE_REG_ECX],
		regs[RTE_REG_EDX]);
}

enum rte_cpu_core_type
eal_cpu_core_type_detect(unsigned int cpu)
{
	return eal_cpu_core_type_x86(read_cpuid, EAL_SYSFS, cpu);
}

bool
eal_cpu_is_hybrid_detect(void)
{
	return eal_cpu_is_hybrid_x86(read_cpuid);
}
