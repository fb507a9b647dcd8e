/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef EAL_CPU_CORE_TYPE_H
#define EAL_CPU_CORE_TYPE_H

/*
 * What is behind rte_cpu_core_type(). The decisions are functions of what they are given,
 * and part of EAL on every architecture, so that each can be tested on any machine.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_cpu_core_type.h>
#include <rte_os.h>

/** Answers CPUID with EAX, EBX, ECX and EDX, for the CPU that it is called on. */
typedef void (*eal_cpuid_reader)(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);

/** Answers for a CPU, which the caller runs on. UINT_MAX: a CPU whose number is not known. */
typedef enum rte_cpu_core_type (*eal_cpu_core_detector)(unsigned int cpu);

/** Where sysfs is mounted. */
#define EAL_SYSFS "/sys"

/** What a thread was told, and the affinity that this holds for. */
struct eal_cpu_core_cache {
	rte_cpuset_t cpuset;
	enum rte_cpu_core_type type;
	bool valid;
};

/** What threads were told that may move, by CPU. CPUs above are asked each time. */
struct eal_cpu_core_table {
	uint8_t type_plus_1[1024]; /* 0: not asked yet */
};

/** Decide from CPUID, and from the files below sysfs where CPUID is silent. */
__rte_internal enum rte_cpu_core_type
eal_cpu_core_type_x86(eal_cpuid_reader cpuid, const char *sysfs, unsigned int cpu);

/** Decide from capacities and designs of all CPUs, in files below sysfs. */
__rte_internal enum rte_cpu_core_type
eal_cpu_core_type_arm(const char *sysfs, unsigned int cpu);

/** Whether CPUID says that cores are of several kinds. */
__rte_internal bool
eal_cpu_is_hybrid_x86(eal_cpuid_reader cpuid);

/** Whether any core could be told a kind, of those to come as well. */
__rte_internal bool
eal_cpu_is_hybrid_arm(const char *sysfs);

/** Answer for the CPU that the caller is on, which may change, from the table if it can. */
__rte_internal enum rte_cpu_core_type
eal_cpu_core_type_by_table(struct eal_cpu_core_table *table, eal_cpu_core_detector detect);

/** Answer from the cache if cpuset is as before. A cpuset of more CPUs is never kept. */
__rte_internal enum rte_cpu_core_type
eal_cpu_core_type_cached(struct eal_cpu_core_cache *cache, struct eal_cpu_core_table *table,
	const rte_cpuset_t *cpuset, eal_cpu_core_detector detect);

/**
 * For tests: the machine is hybrid, and the calling lcore, which is pinned, is of that kind.
 * RTE_CPU_CORE_UNKNOWN ends it.
 */
__rte_internal void
eal_cpu_core_type_pretend(enum rte_cpu_core_type type);

/** Detect on this machine. Each architecture has its own; EAL alone calls it. */
enum rte_cpu_core_type
eal_cpu_core_type_detect(unsigned int cpu);

/** Whether this machine can be hybrid. As above. */
bool
eal_cpu_is_hybrid_detect(void);

#endif /* EAL_CPU_CORE_TYPE_H */
