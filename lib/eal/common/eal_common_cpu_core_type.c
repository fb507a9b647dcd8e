/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Two caches. A pinned lcore keeps its answer, next to the affinity that it holds for.
 * Threads that may move share a table by CPU, so that only the first on a CPU pays for
 * CPUID, which traps in a VM, or for reading files.
 */

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_lcore.h>
#include <rte_per_lcore.h>

#include "eal_cpu_core_type.h"
#include "eal_export_fallback.h"
#include "eal_private.h"

#define SYSFS_CPUS_MAX 4096 /* numbers above are garbage */
#define SYSFS_PATH_MAX 512

#define CPUID_EAX 0
#define CPUID_EDX 3
#define CPUID_CACHES 4
#define CPUID_FEATURES 7
#define CPUID_HYBRID (UINT32_C(1) << 15) /* in EDX */
#define CPUID_CORE 0x1a
#define CPUID_CORE_ATOM 0x20 /* in EAX, bits 31 to 24 */
#define CPUID_CORE_CORE 0x40

#define MIDR_ARM 0x41 /* implementer, bits 31 to 24 */

/* Read the first line of a file below sysfs, or what fits of it: without '\n' then. */
static bool
read_line(const char *sysfs, const char *file, char *line, int size)
{
	char path[SYSFS_PATH_MAX];
	FILE *f;
	bool ok;

	if (snprintf(path, sizeof(path), "%s/%s", sysfs, file) >= (int)sizeof(path))
		return false;
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	ok = fgets(line, size, f) != NULL;
	fclose(f);
	return ok;
}

/* Parse a number that starts with a digit, and move on behind it. */
static bool
parse_number(const char **text, int base, unsigned long long *number)
{
	char *end;

	if (**text < '0' || **text > '9') /* strtoull() would take signs and blanks */
		return false;
	errno = 0;
	*number = strtoull(*text, &end, base);
	*text = end;
	return errno == 0;
}

/* Parse "3" or "0-3", and move on behind it. */
static bool
parse_range(const char **text, unsigned long long *first, unsigned long long *last)
{
	if (!parse_number(text, 10, first))
		return false;
	*last = *first;
	if (**text == '-') {
		(*text)++;
		if (!parse_number(text, 10, last))
			return false;
	}
	return *first <= *last && *last < SYSFS_CPUS_MAX;
}

/*
 * Is the CPU in a list such as "0-3,8,10-11"? A list with anything else in it is wrong
 * as a whole, for what it says of this CPU could be wrong as well.
 */
static bool
list_has_cpu(const char *sysfs, const char *file, unsigned int cpu)
{
	unsigned long long first, last;
	char line[4096];
	const char *text = line;
	bool found = false;

	if (!read_line(sysfs, file, line, sizeof(line)))
		return false;
	while (parse_range(&text, &first, &last)) {
		found |= first <= cpu && cpu <= last;
		if (*text == '\n')
			return found;
		if (*text++ != ',')
			break;
	}
	return false;
}

static enum rte_cpu_core_type
x86_type_by_sysfs(const char *sysfs, unsigned int cpu)
{
	bool core = list_has_cpu(sysfs, "devices/cpu_core/cpus", cpu);
	bool atom = list_has_cpu(sysfs, "devices/cpu_atom/cpus", cpu);
	bool low = list_has_cpu(sysfs, "devices/cpu_lowpower/cpus", cpu);

	if (core + atom + low != 1)
		return RTE_CPU_CORE_UNKNOWN;
	if (core)
		return RTE_CPU_CORE_PERFORMANCE;
	return low ? RTE_CPU_CORE_LOW_POWER_EFFICIENCY : RTE_CPU_CORE_EFFICIENCY;
}

/*
 * Low-power cores are on a part of the chip that has no last level cache. Nothing else in
 * CPUID tells them from E-cores: the two can even be of one model. A VM that shows no
 * cache at all says nothing.
 */
static bool
x86_lacks_last_level_cache(eal_cpuid_reader cpuid)
{
	uint32_t regs[4], subleaf, level, last = 0;

	for (subleaf = 0; subleaf < 16; subleaf++) {
		cpuid(CPUID_CACHES, subleaf, regs);
		if ((regs[CPUID_EAX] & 0x1f) == 0) /* no more caches */
			break;
		level = (regs[CPUID_EAX] >> 5) & 7;
		last = RTE_MAX(last, level);
	}
	return last == 2;
}

/* Any core can tell: all of a hybrid CPU have the bit. */
RTE_EXPORT_INTERNAL_SYMBOL(eal_cpu_is_hybrid_x86)
bool
eal_cpu_is_hybrid_x86(eal_cpuid_reader cpuid)
{
	uint32_t regs[4];

	cpuid(0, 0, regs);
	if (regs[CPUID_EAX] < CPUID_FEATURES) /* it would answer with another leaf's values */
		return false;
	cpuid(CPUID_FEATURES, 0, regs);
	return (regs[CPUID_EDX] & CPUID_HYBRID) != 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(eal_cpu_core_type_x86)
enum rte_cpu_core_type
eal_cpu_core_type_x86(eal_cpuid_reader cpuid, const char *sysfs, unsigned int cpu)
{
	uint32_t regs[4], last;

	if (!eal_cpu_is_hybrid_x86(cpuid))
		return RTE_CPU_CORE_UNKNOWN;
	cpuid(0, 0, regs);
	last = regs[CPUID_EAX];
	regs[CPUID_EAX] = 0;
	if (last >= CPUID_CORE)
		cpuid(CPUID_CORE, 0, regs);
	switch (regs[CPUID_EAX] >> 24) {
	case CPUID_CORE_CORE:
		return RTE_CPU_CORE_PERFORMANCE;
	case CPUID_CORE_ATOM:
		if (x86_lacks_last_level_cache(cpuid) ||
			list_has_cpu(sysfs, "devices/cpu_lowpower/cpus", cpu))
			return RTE_CPU_CORE_LOW_POWER_EFFICIENCY;
		return RTE_CPU_CORE_EFFICIENCY;
	default:
		return x86_type_by_sysfs(sysfs, cpu);
	}
}

/* One number in a file of its own, of a CPU. */
static bool
read_cpu_number(
	const char *sysfs, unsigned int cpu, const char *file, int base, unsigned long long *number)
{
	char path[128], line[64];
	const char *text = line;

	snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/%s", cpu, file);
	return read_line(sysfs, path, line, sizeof(line)) && parse_number(&text, base, number) &&
		*text == '\n';
}

struct arm_core {
	unsigned long long capacity; /* of 1024, 0: not known */
	unsigned int design;         /* implementer and part number of MIDR, 0: not known */
};

static struct arm_core
arm_read_core(const char *sysfs, unsigned int cpu)
{
	unsigned long long capacity, midr;
	struct arm_core core = { 0, 0 };

	if (read_cpu_number(sysfs, cpu, "cpu_capacity", 10, &capacity))
		core.capacity = capacity;
	if (read_cpu_number(sysfs, cpu, "regs/identification/midr_el1", 16, &midr) &&
		midr <= UINT32_MAX)
		core.design = (midr >> 24) << 12 | ((midr >> 4) & 0xfff);
	return core;
}

/* Arm's own designs that are made for efficiency. */
static bool
arm_is_little(unsigned int design)
{
	static const unsigned int parts[] = {
		0xc07, /* Cortex-A7 */
		0xd03, /* Cortex-A53 */
		0xd04, /* Cortex-A35 */
		0xd05, /* Cortex-A55 */
		0xd46, /* Cortex-A510 */
		0xd80, /* Cortex-A520 */
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(parts); i++)
		if (design == (MIDR_ARM << 12 | parts[i]))
			return true;
	return false;
}

/* What all cores of a machine are, together. */
struct arm_machine {
	unsigned long long capacity_min;
	unsigned long long capacity_max;
	unsigned int cpus;    /* that may be online */
	unsigned int cores;   /* of which anything is known */
	unsigned int little;  /* of these: of a little design */
	unsigned int unnamed; /* of these: of no known design */
	unsigned int design;  /* of the first one */
	bool designs_vary;
};

static void
arm_add_core(struct arm_machine *all, struct arm_core core)
{
	if (core.capacity == 0 && core.design == 0)
		return; /* offline */
	if (all->cores++ == 0) {
		all->capacity_min = all->capacity_max = core.capacity;
		all->design = core.design;
	}
	all->capacity_min = RTE_MIN(all->capacity_min, core.capacity);
	all->capacity_max = RTE_MAX(all->capacity_max, core.capacity);
	all->little += arm_is_little(core.design);
	all->unnamed += core.design == 0;
	all->designs_vary |= core.design != all->design;
}

static struct arm_machine
arm_read_machine(const char *sysfs)
{
	unsigned long long cpu, first, last;
	struct arm_machine all;
	char line[64];
	const char *text = line;

	memset(&all, 0, sizeof(all));
	if (!read_line(sysfs, "devices/system/cpu/possible", line, sizeof(line)) ||
		!parse_range(&text, &first, &last) || *text != '\n')
		return all;
	all.cpus = last - first + 1;
	for (cpu = first; cpu <= last; cpu++)
		arm_add_core(&all, arm_read_core(sysfs, cpu));
	return all;
}

/* A core that is offline may come, and be of another kind. */
RTE_EXPORT_INTERNAL_SYMBOL(eal_cpu_is_hybrid_arm)
bool
eal_cpu_is_hybrid_arm(const char *sysfs)
{
	struct arm_machine all = arm_read_machine(sysfs);

	if (all.cpus == 0 || all.cores < all.cpus)
		return true;
	if (all.unnamed == 0 && (!all.designs_vary || all.little != 0))
		return all.designs_vary;
	return all.capacity_min != all.capacity_max;
}

/*
 * A little design is one whatever its clock. Without one, the smallest capacity is: a
 * middle core, of three levels, is a big design with less of everything. Capacities that
 * differ between cores of one design differ by the clock only.
 */
RTE_EXPORT_INTERNAL_SYMBOL(eal_cpu_core_type_arm)
enum rte_cpu_core_type
eal_cpu_core_type_arm(const char *sysfs, unsigned int cpu)
{
	struct arm_machine all = arm_read_machine(sysfs);
	struct arm_core core = arm_read_core(sysfs, cpu);

	if (all.unnamed == 0 && !all.designs_vary)
		return RTE_CPU_CORE_UNKNOWN;
	if (all.unnamed == 0 && all.little != 0 && core.design != 0)
		return arm_is_little(core.design) ? RTE_CPU_CORE_EFFICIENCY
						  : RTE_CPU_CORE_PERFORMANCE;
	/* a capacity that cannot be read is the smallest, 0, and leaves none to compare with */
	if (all.capacity_min == 0 || all.capacity_min == all.capacity_max || core.capacity == 0)
		return RTE_CPU_CORE_UNKNOWN;
	return core.capacity == all.capacity_min ? RTE_CPU_CORE_EFFICIENCY
						 : RTE_CPU_CORE_PERFORMANCE;
}

/* The only CPU of a set, or UINT_MAX. */
static unsigned int
only_cpu(const rte_cpuset_t *cpuset)
{
	unsigned int cpu, found = UINT_MAX;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpuset))
			continue;
		if (found != UINT_MAX)
			return UINT_MAX;
		found = cpu;
	}
	return found;
}

static unsigned int
current_cpu(void)
{
#ifdef RTE_EXEC_ENV_LINUX
	return sched_getcpu(); /* if it fails, -1, which is UINT_MAX */
#else
	return UINT_MAX;
#endif
}

RTE_EXPORT_INTERNAL_SYMBOL(eal_cpu_core_type_by_table)
enum rte_cpu_core_type
eal_cpu_core_type_by_table(struct eal_cpu_core_table *table, eal_cpu_core_detector detect)
{
	unsigned int cpu = current_cpu();
	enum rte_cpu_core_type type;
	uint8_t *entry, known;

	if (unlikely(cpu >= RTE_DIM(table->type_plus_1)))
		return detect(cpu);
	entry = &table->type_plus_1[cpu];
	known = __atomic_load_n(entry, __ATOMIC_RELAXED);
	if (likely(known != 0))
		return (enum rte_cpu_core_type)(known - 1);
	type = detect(cpu);
	/* moved meanwhile: whose answer it was is not known, so keep none */
	if (current_cpu() == cpu)
		__atomic_store_n(entry, type + 1, __ATOMIC_RELAXED);
	return type;
}

/* Inline, for the call of memcmp() would make the lookup half as long again. */
static inline bool
same_cpuset(const rte_cpuset_t *a, const rte_cpuset_t *b)
{
	uint64_t word_a, word_b, differ = 0;
	size_t i;

	RTE_BUILD_BUG_ON(sizeof(*a) % sizeof(word_a) != 0);
	for (i = 0; i < sizeof(*a); i += sizeof(word_a)) {
		memcpy(&word_a, (const char *)a + i, sizeof(word_a));
		memcpy(&word_b, (const char *)b + i, sizeof(word_b));
		differ |= word_a ^ word_b;
	}
	return differ == 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(eal_cpu_core_type_cached)
enum rte_cpu_core_type
eal_cpu_core_type_cached(struct eal_cpu_core_cache *cache, struct eal_cpu_core_table *table,
	const rte_cpuset_t *cpuset, eal_cpu_core_detector detect)
{
	unsigned int cpu;

	if (likely(cache->valid && same_cpuset(&cache->cpuset, cpuset)))
		return cache->type;
	cpu = only_cpu(cpuset);
	if (cpu == UINT_MAX)
		return eal_cpu_core_type_by_table(table, detect);
	cache->type = detect(cpu);
	cache->cpuset = *cpuset;
	cache->valid = true;
	return cache->type;
}

static RTE_DEFINE_PER_LCORE(struct eal_cpu_core_cache, cache);
static uint8_t hybrid_plus_1; /* 0: not asked yet */

RTE_EXPORT_INTERNAL_SYMBOL(eal_cpu_core_type_pretend)
void
eal_cpu_core_type_pretend(enum rte_cpu_core_type type)
{
	struct eal_cpu_core_cache *mine = &RTE_PER_LCORE(cache);
	bool pretend = type != RTE_CPU_CORE_UNKNOWN;

	mine->type = type;
	mine->cpuset = lcore_config[rte_lcore_id()].cpuset;
	mine->valid = pretend;
	__atomic_store_n(&hybrid_plus_1, pretend ? true + 1 : 0, __ATOMIC_RELAXED);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_cpu_is_hybrid, 22.11)
bool
rte_cpu_is_hybrid(void)
{
	uint8_t known = __atomic_load_n(&hybrid_plus_1, __ATOMIC_RELAXED);

	if (known == 0) {
		known = eal_cpu_is_hybrid_detect() + 1;
		__atomic_store_n(&hybrid_plus_1, known, __ATOMIC_RELAXED);
	}
	return known - 1;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_cpu_core_type, 22.11)
enum rte_cpu_core_type
rte_cpu_core_type(void)
{
	static struct eal_cpu_core_table table;
	unsigned int lcore = rte_lcore_id();

	if (unlikely(lcore == LCORE_ID_ANY))
		return eal_cpu_core_type_by_table(&table, eal_cpu_core_type_detect);
	return eal_cpu_core_type_cached(&RTE_PER_LCORE(cache), &table, &lcore_config[lcore].cpuset,
		eal_cpu_core_type_detect);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_cpu_core_type_name, 22.11)
const char *
rte_cpu_core_type_name(enum rte_cpu_core_type type)
{
	switch (type) {
	case RTE_CPU_CORE_UNKNOWN:
		return "unknown";
	case RTE_CPU_CORE_PERFORMANCE:
		return "performance";
	case RTE_CPU_CORE_EFFICIENCY:
		return "efficiency";
	case RTE_CPU_CORE_LOW_POWER_EFFICIENCY:
		return "low-power efficiency";
	}
	return NULL;
}
