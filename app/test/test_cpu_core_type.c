/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Is each core of machines that are not at hand told right? Their CPUID values are in
 * tables here, and their files below sysfs are written into a temporary directory.
 */

#include <stdio.h>
#include <string.h>

#include <rte_cpu_core_type.h>

#include "test.h"

#ifdef RTE_EXEC_ENV_WINDOWS

static int
test_cpu_core_type(void)
{
	printf("needs directories in the way of POSIX\n");
	return TEST_SKIPPED;
}

#else

#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_lcore.h>

#include <eal_cpu_core_type.h>

#define UNKNOWN RTE_CPU_CORE_UNKNOWN
#define PERF RTE_CPU_CORE_PERFORMANCE
#define EFF RTE_CPU_CORE_EFFICIENCY
#define LOW RTE_CPU_CORE_LOW_POWER_EFFICIENCY

/* Below it, what would be below /sys. */
static char sysfs[64];

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	RTE_SET_USED(st);
	RTE_SET_USED(type);
	RTE_SET_USED(where);
	return remove(path);
}

static int
sysfs_remove(void)
{
	return nftw(sysfs, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static int
sysfs_new(void)
{
	strcpy(sysfs, "/tmp/cpu_core_type_XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(sysfs), "cannot make a directory: %s", sysfs);
	return TEST_SUCCESS;
}

/* Write a file below sysfs, and the directories above it. */
static int
sysfs_write(const char *file, const char *content)
{
	char path[256], *slash;
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", sysfs, file);
	for (slash = path + strlen(sysfs) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "w");
	TEST_ASSERT_NOT_NULL(f, "cannot write %s", path);
	ok = fputs(content, f) >= 0;
	TEST_ASSERT(fclose(f) == 0 && ok, "cannot write %s", path);
	return TEST_SUCCESS;
}

static int
check(const char *machine, unsigned int cpu, enum rte_cpu_core_type is,
	enum rte_cpu_core_type expected)
{
	TEST_ASSERT_EQUAL(is, expected, "%s, CPU %u: %s, not %s", machine, cpu,
		rte_cpu_core_type_name(is), rte_cpu_core_type_name(expected));
	return TEST_SUCCESS;
}

#define TRY(call) \
	do { \
		if ((call) != TEST_SUCCESS) \
			return TEST_FAILED; \
	} while (0)

/* x86 */

struct x86_core {
	const char *name;
	uint32_t last_leaf;
	uint32_t leaf_7_edx;
	uint32_t leaf_1a_eax;
	uint32_t cache_levels; /* in leaf 4 */
	enum rte_cpu_core_type expected;
	bool may_be_hybrid;
};

#define HYBRID (UINT32_C(1) << 15)
#define REST (~HYBRID) /* all that must not matter */

static const struct x86_core x86_cores[] = {
	{ "Alder Lake P", 0x20, HYBRID, 0x40000001, 3, PERF, true },
	{ "Alder Lake E", 0x20, HYBRID, 0x20000001, 3, EFF, true },
	{ "Raptor Lake P", 0x20, HYBRID | REST, 0x40000001, 3, PERF, true },
	{ "Raptor Lake E", 0x20, HYBRID | REST, 0x20000001, 3, EFF, true },
	{ "Meteor Lake P", 0x23, HYBRID, 0x40000002, 3, PERF, true },
	{ "Meteor Lake E", 0x23, HYBRID, 0x20000002, 3, EFF, true },
	{ "Meteor Lake LP-E", 0x23, HYBRID, 0x20000002, 2, LOW, true },
	{ "E-core, caches hidden", 0x20, HYBRID, 0x20000001, 0, EFF, true },
	{ "P-core, no last level cache shown", 0x20, HYBRID, 0x40000001, 2, PERF, true },
	{ "Zen 4", 0x10, REST, 0x40000001, 3, UNKNOWN, false },
	{ "P-cores only", 0x20, REST, 0x40000001, 3, UNKNOWN, false },
	{ "E-cores only", 0x20, REST, 0x20000001, 3, UNKNOWN, false },
	{ "before leaf 7", 6, HYBRID, 0x40000001, 3, UNKNOWN, false },
	{ "leaf 0x1a above the last", 0x19, HYBRID, 0x40000001, 3, UNKNOWN, true },
	{ "leaf 0x1a of zeros", 0x20, HYBRID, 0, 3, UNKNOWN, true },
	{ "leaf 0x1a of a kind not known", 0x20, HYBRID, 0x10000001, 3, UNKNOWN, true },
	{ "leaf 0x1a with low bits only", 0x20, HYBRID, 0x00402040, 3, UNKNOWN, true },
};

static const struct x86_core *x86_core;

static void
x86_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	/* a leaf that is not asked for rightly answers with what misleads */
	memset(regs, 0xff, 4 * sizeof(regs[0]));
	if (leaf == 0) {
		regs[0] = x86_core->last_leaf;
	} else if (leaf == 7 && subleaf == 0) {
		regs[3] = x86_core->leaf_7_edx;
	} else if (leaf == 0x1a && subleaf == 0) {
		regs[0] = x86_core->leaf_1a_eax;
	} else if (leaf == 4) {
		/* the first level is two caches; size and ways are made up */
		regs[0] = 0;
		if (x86_core->cache_levels != 0 && subleaf <= x86_core->cache_levels)
			regs[0] = 0xfc000001 | RTE_MAX(subleaf, UINT32_C(1)) << 5;
	}
}

static int
check_x86(const struct x86_core *core, unsigned int cpu, enum rte_cpu_core_type expected)
{
	x86_core = core;
	TEST_ASSERT_EQUAL(eal_cpu_is_hybrid_x86(x86_cpuid), core->may_be_hybrid,
		"%s: wrong about whether it is hybrid", core->name);
	return check(core->name, cpu, eal_cpu_core_type_x86(x86_cpuid, sysfs, cpu), expected);
}

static int
test_x86_cpuid(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(x86_cores); i++)
		TRY(check_x86(&x86_cores[i], i, x86_cores[i].expected));
	return TEST_SUCCESS;
}

/* A VM may show a hybrid CPU and not the kind of its cores: the kernel can know. */
static const struct x86_core hidden = { "leaf 0x1a hidden", 0x20, HYBRID, 0, 3, UNKNOWN, true };

static int
test_x86_sysfs(void)
{
	static const struct x86_core old = { "before leaf 7", 6, HYBRID, 0, 3, UNKNOWN, false };
	static const struct x86_core zen = { "Zen 4", 0x10, 0, 0, 3, UNKNOWN, false };
	static const struct x86_core atom = { "E-core", 0x20, HYBRID, 0x20000003, 3, EFF, true };
	static const struct x86_core core = { "P-core", 0x20, HYBRID, 0x40000003, 3, PERF, true };

	TRY(sysfs_write("devices/cpu_core/cpus", "0-3,8\n"));
	TRY(sysfs_write("devices/cpu_atom/cpus", "4-6,10\n"));
	TRY(sysfs_write("devices/cpu_lowpower/cpus", "12-13\n"));
	TRY(check_x86(&hidden, 0, PERF));
	TRY(check_x86(&hidden, 3, PERF));
	TRY(check_x86(&hidden, 8, PERF));
	TRY(check_x86(&hidden, 4, EFF));
	TRY(check_x86(&hidden, 6, EFF));
	TRY(check_x86(&hidden, 10, EFF));
	TRY(check_x86(&hidden, 12, LOW));
	TRY(check_x86(&hidden, 13, LOW));
	TRY(check_x86(&hidden, 7, UNKNOWN));
	TRY(check_x86(&hidden, 9, UNKNOWN));
	TRY(check_x86(&hidden, UINT_MAX, UNKNOWN));
	TRY(check_x86(&old, 0, UNKNOWN));
	/* what CPUID says comes first, and low power is what it may not say */
	TRY(check_x86(&zen, 0, UNKNOWN));
	TRY(check_x86(&core, 4, PERF));
	TRY(check_x86(&atom, 0, EFF));
	TRY(check_x86(&atom, 12, LOW));
	TRY(check_x86(&core, 12, PERF));
	/* in two lists */
	TRY(sysfs_write("devices/cpu_atom/cpus", "3-6\n"));
	TRY(check_x86(&hidden, 3, UNKNOWN));
	return check_x86(&hidden, 2, PERF);
}

static int
test_x86_garbage(void)
{
	static const char *const lists[] = {
		"",
		"\n",
		"2",
		"0-",
		"2,\n",
		",2\n",
		"2,,3\n",
		"0--3\n",
		"0-3,2-0\n",
		"-2\n",
		" 2\n",
		"+2\n",
		"2 \n",
		"2x\n",
		"0-3x\n",
		"2,x\n",
		"2-99999\n",
		"0x2\n",
		"1-3-5\n",
		"2,18446744073709551616\n",
		"all\n",
	};
	char too_long[10000];
	unsigned int i;

	for (i = 0; i < RTE_DIM(lists); i++) {
		TRY(sysfs_write("devices/cpu_core/cpus", lists[i]));
		if (check_x86(&hidden, 2, UNKNOWN) != TEST_SUCCESS) {
			printf("with a list of \"%s\"\n", lists[i]);
			return TEST_FAILED;
		}
	}
	for (i = 0; i + 2 < sizeof(too_long); i += 2)
		memcpy(&too_long[i], "2,", 2);
	memcpy(&too_long[i - 1], "\n", 2);
	TRY(sysfs_write("devices/cpu_core/cpus", too_long));
	TRY(check_x86(&hidden, 2, UNKNOWN));
	/* a directory is no file to read */
	TRY(sysfs_write("devices/cpu_atom/cpus/2", ""));
	return check_x86(&hidden, 2, UNKNOWN);
}

/* Arm */

#define A53 "0x00000000410fd034\n"
#define A55 "0x00000000411fd050\n"
#define A72 "0x00000000410fd083\n"
#define A76 "0x00000000414fd0b0\n"
#define A78 "0x00000000411fd411\n"
#define X1 "0x00000000411fd440\n"
#define X1_NEXT_REVISION "0x00000000412fd441\n"
#define OTHER_D03 "0x00000000480fd030\n" /* not Arm's, but with the part of an A53 */

struct arm_core {
	const char *capacity; /* content of the files, NULL: none */
	const char *midr;
	enum rte_cpu_core_type expected;
};

struct arm_machine {
	const char *name;
	struct arm_core cores[4];
	bool may_be_hybrid;
};

static const struct arm_machine arm_machines[] = {
	{ "two levels",
		{ { "446\n", A53, EFF }, { "446\n", A53, EFF }, { "1024\n", A72, PERF },
			{ "1024\n", A72, PERF } },
		true },
	{ "two levels, no MIDR",
		{ { "446\n", NULL, EFF }, { "446\n", NULL, EFF }, { "1024\n", NULL, PERF },
			{ "1024\n", NULL, PERF } },
		true },
	{ "two designs, no capacities",
		{ { NULL, A53, EFF }, { NULL, A72, PERF }, { NULL, A53, EFF },
			{ NULL, A72, PERF } },
		true },
	{ "three levels",
		{ { "250\n", A55, EFF }, { "250\n", A55, EFF }, { "800\n", A78, PERF },
			{ "1024\n", X1, PERF } },
		true },
	{ "three levels, no MIDR",
		{ { "250\n", NULL, EFF }, { "250\n", NULL, EFF }, { "800\n", NULL, PERF },
			{ "1024\n", NULL, PERF } },
		true },
	{ "three levels, two of them little",
		{ { "250\n", A55, EFF }, { "300\n", A55, EFF }, { "300\n", A55, EFF },
			{ "1024\n", A76, PERF } },
		true },
	{ "three levels, no little design",
		{ { "500\n", A76, EFF }, { "500\n", A76, EFF }, { "800\n", A78, PERF },
			{ "1024\n", X1, PERF } },
		true },
	{ "little part of another maker",
		{ { "1024\n", OTHER_D03, PERF }, { "1024\n", OTHER_D03, PERF },
			{ "700\n", A76, EFF }, { "700\n", A76, EFF } },
		true },
	{ "one offline",
		{ { "446\n", A53, EFF }, { NULL, NULL, UNKNOWN }, { "1024\n", A72, PERF },
			{ "1024\n", A72, PERF } },
		true },
	{ "first offline",
		{ { NULL, NULL, UNKNOWN }, { "446\n", A53, EFF }, { "1024\n", A72, PERF },
			{ "1024\n", A72, PERF } },
		true },
	{ "server",
		{ { "1024\n", A76, UNKNOWN }, { "1024\n", A76, UNKNOWN },
			{ "1024\n", A76, UNKNOWN }, { "1024\n", A76, UNKNOWN } },
		false },
	{ "server, no MIDR",
		{ { "1024\n", NULL, UNKNOWN }, { "1024\n", NULL, UNKNOWN },
			{ "1024\n", NULL, UNKNOWN }, { "1024\n", NULL, UNKNOWN } },
		false },
	{ "one design at two clocks",
		{ { "900\n", X1, UNKNOWN }, { "900\n", X1, UNKNOWN },
			{ "1024\n", X1_NEXT_REVISION, UNKNOWN }, { "1024\n", X1, UNKNOWN } },
		false },
	{ "little cores only",
		{ { "1024\n", A53, UNKNOWN }, { "1024\n", A53, UNKNOWN }, { "800\n", A53, UNKNOWN },
			{ "800\n", A53, UNKNOWN } },
		false },
	{ "nothing known",
		{ { NULL, NULL, UNKNOWN }, { NULL, NULL, UNKNOWN }, { NULL, NULL, UNKNOWN },
			{ NULL, NULL, UNKNOWN } },
		true },
	{ "garbage capacities",
		{ { "446\n", NULL, UNKNOWN }, { "-1\n", A76, UNKNOWN }, { "1024\n", NULL, UNKNOWN },
			{ "1024 MHz\n", A76, UNKNOWN } },
		true },
	{ "one garbage capacity",
		{ { "446\n", NULL, EFF }, { "446\n", NULL, EFF }, { "1024\n", NULL, PERF },
			{ "1024 MHz\n", NULL, UNKNOWN } },
		true },
	{ "one capacity beyond 64 bits",
		{ { "446\n", NULL, EFF }, { "446\n", NULL, EFF }, { "1024\n", NULL, PERF },
			{ "99999999999999999999\n", NULL, UNKNOWN } },
		true },
	{ "one MIDR beyond 32 bits",
		{ { "446\n", A53, EFF }, { "446\n", "0x1410fd034\n", EFF }, { "1024\n", A72, PERF },
			{ "1024\n", A72, PERF } },
		true },
	{ "garbage MIDR",
		{ { "446\n", "0x\n", EFF }, { "446\n", "410fd034", EFF },
			{ "1024\n", "0xffffffff410fd034\n", PERF }, { "1024\n", "\n", PERF } },
		true },
};

static int
check_arm(const struct arm_machine *machine)
{
	const struct arm_core *core;
	char file[128];
	unsigned int i;

	for (i = 0; i < RTE_DIM(machine->cores); i++) {
		core = &machine->cores[i];
		snprintf(file, sizeof(file), "devices/system/cpu/cpu%u/cpu_capacity", i);
		if (core->capacity != NULL)
			TRY(sysfs_write(file, core->capacity));
		snprintf(file, sizeof(file),
			"devices/system/cpu/cpu%u/regs/identification/midr_el1", i);
		if (core->midr != NULL)
			TRY(sysfs_write(file, core->midr));
	}
	TEST_ASSERT(eal_cpu_is_hybrid_arm(sysfs), "hybrid is ruled out and no CPU is known");
	TRY(sysfs_write("devices/system/cpu/possible", "0-4\n"));
	TEST_ASSERT(eal_cpu_is_hybrid_arm(sysfs), "hybrid is ruled out with a CPU to come");
	TRY(sysfs_write("devices/system/cpu/possible", "0-3\n"));
	TEST_ASSERT_EQUAL(eal_cpu_is_hybrid_arm(sysfs), machine->may_be_hybrid,
		"%s: wrong about whether it is hybrid", machine->name);
	for (i = 0; i < RTE_DIM(machine->cores); i++)
		TRY(check(machine->name, i, eal_cpu_core_type_arm(sysfs, i),
			machine->cores[i].expected));
	TRY(check(machine->name, 4, eal_cpu_core_type_arm(sysfs, 4), UNKNOWN));
	TRY(check(machine->name, UINT_MAX, eal_cpu_core_type_arm(sysfs, UINT_MAX), UNKNOWN));
	return TEST_SUCCESS;
}

static int
test_arm(void)
{
	unsigned int i;
	int result = TEST_SUCCESS;

	for (i = 0; i < RTE_DIM(arm_machines) && result == TEST_SUCCESS; i++) {
		TRY(sysfs_remove());
		TRY(sysfs_new());
		result = check_arm(&arm_machines[i]);
	}
	return result;
}

static int
test_arm_garbage(void)
{
	static const char *const possible[] = {
		"",
		"\n",
		"0-3",
		"0-3x\n",
		"3-0\n",
		"0-99999999999999999999\n",
		"0-4294967295\n",
	};
	unsigned int i;

	TRY(check_arm(&arm_machines[0]));
	for (i = 0; i < RTE_DIM(possible); i++) {
		TRY(sysfs_write("devices/system/cpu/possible", possible[i]));
		TRY(check(possible[i], 0, eal_cpu_core_type_arm(sysfs, 0), UNKNOWN));
		TEST_ASSERT(eal_cpu_is_hybrid_arm(sysfs), "hybrid is ruled out by garbage");
	}
	return TEST_SUCCESS;
}

/* caches */

static unsigned int detections;
static unsigned int detected_cpu;
static enum rte_cpu_core_type detected_type;

static enum rte_cpu_core_type
detect(unsigned int cpu)
{
	detections++;
	detected_cpu = cpu;
	return detected_type;
}

static int
check_cached(const char *how, struct eal_cpu_core_cache *cache, const rte_cpuset_t *cpuset,
	enum rte_cpu_core_type expected, unsigned int expected_detections)
{
	static struct eal_cpu_core_table table;

	memset(&table, 0, sizeof(table));
	detections = 0;
	TRY(check(how, 0, eal_cpu_core_type_cached(cache, &table, cpuset, detect), expected));
	TEST_ASSERT_EQUAL(
		detections, expected_detections, "%s: detected %u times", how, detections);
	return TEST_SUCCESS;
}

/* An answer is kept as long as the affinity, and only if that is to one CPU. */
static int
test_cache(void)
{
	const unsigned int last = CPU_SETSIZE - 1;
	struct eal_cpu_core_cache cache;
	rte_cpuset_t cpuset;

	memset(&cache, 0, sizeof(cache));
	CPU_ZERO(&cpuset);
	detected_type = LOW;
	TRY(check_cached("no CPU", &cache, &cpuset, LOW, 1));
	CPU_SET(5, &cpuset);
	detected_type = EFF;
	TRY(check_cached("pinned", &cache, &cpuset, EFF, 1));
	TEST_ASSERT_EQUAL(detected_cpu, 5, "asked for CPU %u, not 5", detected_cpu);
	detected_type = PERF;
	TRY(check_cached("pinned still", &cache, &cpuset, EFF, 0));
	CPU_SET(6, &cpuset);
	TRY(check_cached("another CPU nearby", &cache, &cpuset, PERF, 1));
	CPU_ZERO(&cpuset);
	CPU_SET(5, &cpuset);
	TRY(check_cached("pinned as before", &cache, &cpuset, EFF, 0));
	CPU_SET(last, &cpuset);
	TRY(check_cached("pinned no more", &cache, &cpuset, PERF, 1));
	detected_type = LOW;
	TRY(check_cached("not pinned still", &cache, &cpuset, LOW, 1));
	CPU_ZERO(&cpuset);
	CPU_SET(last, &cpuset);
	TRY(check_cached("pinned again", &cache, &cpuset, LOW, 1));
	TEST_ASSERT_EQUAL(detected_cpu, last, "asked for CPU %u, not %u", detected_cpu, last);
	return TEST_SUCCESS;
}

#ifdef RTE_EXEC_ENV_LINUX /* elsewhere EAL does not ask for the CPU */

static unsigned int
known_cpus(const struct eal_cpu_core_table *table)
{
	unsigned int i, known = 0;

	for (i = 0; i < RTE_DIM(table->type_plus_1); i++)
		known += table->type_plus_1[i] != 0;
	return known;
}

/* An answer is kept by CPU, even if it is unknown. */
static int
test_table(void)
{
	static struct eal_cpu_core_table table;
	enum rte_cpu_core_type kind;
	unsigned int i;

	for (kind = UNKNOWN; kind <= LOW; kind++) {
		memset(&table, 0, sizeof(table));
		detected_type = kind;
		/* not kept if the thread is moved in between, which is rare */
		for (i = 0; i < 1000 && known_cpus(&table) == 0; i++)
			TRY(check("not in table", 0, eal_cpu_core_type_by_table(&table, detect),
				kind));
		TEST_ASSERT_EQUAL(
			known_cpus(&table), 1, "one CPU asked, %u known", known_cpus(&table));
		/* whichever CPU this is by now */
		memset(table.type_plus_1, kind + 1, sizeof(table.type_plus_1));
		detections = 0;
		detected_type = kind == PERF ? EFF : PERF;
		TRY(check("in table", 0, eal_cpu_core_type_by_table(&table, detect), kind));
		TEST_ASSERT_EQUAL(detections, 0, "detected in spite of the table");
	}
	return TEST_SUCCESS;
}

/* Move the calling thread, and it alone. */
static bool
move_to(unsigned int cpu)
{
	rte_cpuset_t cpuset;

	CPU_ZERO(&cpuset);
	CPU_SET(cpu, &cpuset);
	return pthread_setaffinity_np(pthread_self(), sizeof(cpuset), &cpuset) == 0;
}

/* Move to the next CPU that there is, and answer for it. */
static enum rte_cpu_core_type
detect_elsewhere(unsigned int cpu)
{
	unsigned int i;

	for (i = 1; i < CPU_SETSIZE && !move_to((cpu + i) % CPU_SETSIZE); i++)
		;
	return EFF;
}

static void *
ask_and_move(void *arg)
{
	struct eal_cpu_core_table *table = arg;
	unsigned int from = sched_getcpu();

	if (!move_to(from))
		return NULL;
	eal_cpu_core_type_by_table(table, detect_elsewhere);
	return from != (unsigned int)sched_getcpu() ? table : NULL;
}

/* The answer for one CPU is not kept for another. */
static int
test_moved(void)
{
	static struct eal_cpu_core_table table;
	pthread_t thread;
	void *moved;

	memset(&table, 0, sizeof(table));
	TEST_ASSERT_SUCCESS(pthread_create(&thread, NULL, ask_and_move, &table), "no thread");
	pthread_join(thread, &moved);
	if (moved == NULL) {
		printf("there is no other CPU to move to\n");
		return TEST_SKIPPED;
	}
	TEST_ASSERT_EQUAL(known_cpus(&table), 0, "kept what may be another CPU's");
	return TEST_SUCCESS;
}

#else

static int
test_table(void)
{
	return TEST_SKIPPED;
}

static int
test_moved(void)
{
	return TEST_SKIPPED;
}

#endif

/* this machine */

struct answer {
	unsigned int lcore;
	enum rte_cpu_core_type type;
};

static void *
ask_unpinned(void *arg)
{
	struct answer *answer = arg;

	answer->lcore = rte_lcore_id();
	answer->type = rte_cpu_core_type();
	return NULL;
}

static int
test_this_machine(void)
{
	enum rte_cpu_core_type type = rte_cpu_core_type();
	struct answer answer = { 0, UNKNOWN };
	pthread_t thread;

	printf("this core: %s, machine %s\n", rte_cpu_core_type_name(type),
		rte_cpu_is_hybrid() ? "may be hybrid" : "is not hybrid");
	TEST_ASSERT(type == UNKNOWN || rte_cpu_is_hybrid(), "a kind, and hybrid is ruled out");
	TEST_ASSERT_EQUAL(rte_cpu_core_type(), type, "another answer when asked again");
	/* inherits this thread's affinity, but is no lcore */
	TEST_ASSERT_SUCCESS(pthread_create(&thread, NULL, ask_unpinned, &answer), "no thread");
	pthread_join(thread, NULL);
	TEST_ASSERT_EQUAL(answer.lcore, LCORE_ID_ANY, "the thread is an lcore");
	return check("another thread", 0, answer.type, type);
}

/* As other tests pretend; without an end the truth would be lost. */
static int
test_pretend(void)
{
	enum rte_cpu_core_type type = rte_cpu_core_type();
	bool hybrid = rte_cpu_is_hybrid();

	eal_cpu_core_type_pretend(LOW);
	TEST_ASSERT(rte_cpu_is_hybrid(), "not hybrid though pretended");
	TRY(check("pretended", 0, rte_cpu_core_type(), LOW));
	eal_cpu_core_type_pretend(UNKNOWN);
	TEST_ASSERT_EQUAL(rte_cpu_is_hybrid(), hybrid, "hybrid otherwise than before");
	return check("not pretended", 0, rte_cpu_core_type(), type);
}

static int
test_names(void)
{
	TEST_ASSERT_SUCCESS(strcmp(rte_cpu_core_type_name(UNKNOWN), "unknown"), "unknown");
	TEST_ASSERT_SUCCESS(strcmp(rte_cpu_core_type_name(PERF), "performance"), "P");
	TEST_ASSERT_SUCCESS(strcmp(rte_cpu_core_type_name(EFF), "efficiency"), "E");
	TEST_ASSERT_SUCCESS(strcmp(rte_cpu_core_type_name(LOW), "low-power efficiency"), "LP-E");
	TEST_ASSERT_NULL(rte_cpu_core_type_name((enum rte_cpu_core_type)(LOW + 1)), "none");
	return TEST_SUCCESS;
}

static void
sysfs_teardown(void)
{
	if (sysfs_remove() != 0)
		printf("cannot remove %s\n", sysfs);
}

static struct unit_test_suite suite = { .suite_name = "kind of core",
	.unit_test_cases = {
		TEST_CASE_ST(sysfs_new, sysfs_teardown, test_x86_cpuid),
		TEST_CASE_ST(sysfs_new, sysfs_teardown, test_x86_sysfs),
		TEST_CASE_ST(sysfs_new, sysfs_teardown, test_x86_garbage),
		TEST_CASE_ST(sysfs_new, sysfs_teardown, test_arm),
		TEST_CASE_ST(sysfs_new, sysfs_teardown, test_arm_garbage),
		TEST_CASE(test_cache),
		TEST_CASE(test_table),
		TEST_CASE(test_moved),
		TEST_CASE(test_this_machine),
		TEST_CASE(test_pretend),
		TEST_CASE(test_names),
		TEST_CASES_END(),
	} };

static int
test_cpu_core_type(void)
{
	return unit_test_suite_runner(&suite);
}

#endif

REGISTER_TEST_COMMAND(cpu_core_type_autotest, test_cpu_core_type);
