/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef MEMCPY_BENCH_H
#define MEMCPY_BENCH_H

/*
 * What benchmarks share: their settings from the environment, memory, the clock of
 * the core, and what they tell of the machine and of the build.
 */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_memcpy.h>

#ifdef RTE_ARCH_X86
#include <cpuid.h>
#endif

#define BENCH_MIN_SECONDS 5
#define BENCH_MAX_SECONDS 3600

/* --- how rte_memcpy() was built --- */

/* DPDK's own header says nothing of vectors. */
#ifndef RTE_MEMCPY_VEC_BYTES
#define BENCH_MODE "pristine"
#elif RTE_MEMCPY_VEC_BYTES == 0
#define BENCH_MODE "cc"
#else
#define BENCH_MODE "simd"
#endif

/* The vectors that custom code can use, as far as it tells them apart. */
#if defined(__AVX512F__) && defined(RTE_MEMCPY_AVX512)
#define BENCH_ISA "avx512"
#elif defined(__AVX512VL__)
#define BENCH_ISA "avx512vl"
#elif defined(__AVX2__)
#define BENCH_ISA "avx2"
#elif defined(__SSE4_2__)
#define BENCH_ISA "sse4.2"
#elif defined(__ARM_FEATURE_SVE)
#define BENCH_ISA "sve"
#elif defined(__ARM_NEON)
#define BENCH_ISA "neon"
#elif defined(_ARCH_PWR10)
#define BENCH_ISA "power10"
#elif defined(_ARCH_PWR9)
#define BENCH_ISA "power9"
#elif defined(_ARCH_PWR8)
#define BENCH_ISA "power8"
#else
#define BENCH_ISA "generic"
#endif

#ifdef __clang__
#define BENCH_COMPILER __VERSION__
#else
#define BENCH_COMPILER "GCC " __VERSION__
#endif

/* A program does not know its flags; these are what they lead to. */
#ifdef __OPTIMIZE__
#define BENCH_FLAG_OPTIMIZE "optimized"
#else
#define BENCH_FLAG_OPTIMIZE "NOT OPTIMIZED (figures are of no use)"
#endif
#ifdef __PIC__
#define BENCH_FLAG_PIC ", position-independent"
#else
#define BENCH_FLAG_PIC ""
#endif
#if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0
#define BENCH_FLAG_FORTIFY ", fortified"
#else
#define BENCH_FLAG_FORTIFY ""
#endif
#define BENCH_FLAGS BENCH_FLAG_OPTIMIZE BENCH_FLAG_PIC BENCH_FLAG_FORTIFY

/* --- the ways to copy that both measure --- */

typedef void *(*bench_copy_t)(void *dst, const void *src, size_t n);

/* A call of libc that the compiler can neither expand nor tell from another function. */
static const volatile bench_copy_t bench_libc_memcpy = memcpy;

/* --- settings from the environment --- */

static inline int
bench_get_seconds(const char *variable, unsigned long *seconds)
{
	const char *value = getenv(variable);
	unsigned long number;
	char *end;

	if (value == NULL)
		return 0;
	number = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end != '\0' || number < BENCH_MIN_SECONDS ||
		number > BENCH_MAX_SECONDS) {
		printf("%s: not a whole number from %d to %d: \"%s\"\n", variable,
			BENCH_MIN_SECONDS, BENCH_MAX_SECONDS, value);
		return -1;
	}
	*seconds = number;
	return 0;
}

/* Without the variable there is no file, which is no failure. */
static inline int
bench_json_open(const char *variable, FILE **json)
{
	const char *path = getenv(variable);

	*json = NULL;
	if (path == NULL)
		return 0;
	*json = fopen(path, "w");
	if (*json == NULL) {
		printf("%s: cannot write \"%s\": %s\n", variable, path, strerror(errno));
		return -1;
	}
	return 0;
}

static inline int
bench_json_close(const char *variable, FILE *json)
{
	bool failed;

	if (json == NULL)
		return 0;
	failed = ferror(json) != 0;
	if (fclose(json) != 0 || failed) {
		printf("%s: cannot write all of \"%s\": %s\n", variable, getenv(variable),
			strerror(errno));
		return -1;
	}
	return 0;
}

/* Write "key": and a string, or null, and a comma. */
static inline void
bench_json_string(FILE *json, const char *key, const char *value)
{
	if (value == NULL) {
		fprintf(json, "\"%s\":null,", key);
		return;
	}
	fprintf(json, "\"%s\":\"", key);
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', json);
		if ((unsigned char)*value >= ' ')
			fputc(*value, json);
	}
	fprintf(json, "\",");
}

/* --- memory --- */

/*
 * Map memory, MAP_PRIVATE or MAP_SHARED with processes forked later.
 * Not of the EAL, which may have little.
 * On huge pages if the system has such to give, as the data plane is.
 */
static inline uint8_t *
bench_map(size_t len, int visibility)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, visibility | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
#ifdef MADV_HUGEPAGE
	(void)madvise(map, len, MADV_HUGEPAGE);
#endif
	return map;
}

static inline void
bench_unmap(uint8_t *map, size_t len)
{
	if (map != NULL)
		munmap(map, len);
}

/* Bytes that can be allocated without swapping. All there are where that is not known. */
static inline uint64_t
bench_available_memory(void)
{
	FILE *meminfo = fopen("/proc/meminfo", "r");
	uint64_t bytes = UINT64_MAX;
	unsigned long kib;
	char line[128];

	if (meminfo == NULL)
		return bytes;
	while (fgets(line, sizeof(line), meminfo) != NULL)
		if (sscanf(line, "MemAvailable: %lu kB", &kib) == 1)
			bytes = (uint64_t)kib * 1024;
	fclose(meminfo);
	return bytes;
}

/* --- the clock of the core --- */

#ifdef RTE_ARCH_PPC_64
#define BENCH_CYCLES_PER_ADD 2
#else
#define BENCH_CYCLES_PER_ADD 1
#endif

/* Tens of additions. More where the TSC may be as slow as 25 MHz. */
#ifdef RTE_ARCH_X86
#define BENCH_ADD_ROUNDS 2000
#else
#define BENCH_ADD_ROUNDS 10000
#endif

/*
 * How many TSC cycles a cycle of the core takes at this moment.
 * The TSC runs at a rate of its own, and the counter of core cycles is not for
 * programs, so a chain of additions is timed, each of which waits for the one
 * before: one cycle each, two on POWER. The number added is kept secret from
 * the compiler and is not an immediate, which some cores add ahead of time.
 */
static inline double
bench_tsc_per_cycle(void)
{
	uintptr_t sum = 0;
	uintptr_t one = 1;
	uint64_t start;
	unsigned int i;

#define BENCH_ADD \
	sum += one; \
	__asm__ volatile("" : "+r"(sum))

	__asm__ volatile("" : "+r"(one));
	start = rte_rdtsc_precise();
	for (i = 0; i < BENCH_ADD_ROUNDS; i++) {
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
		BENCH_ADD;
	}
#undef BENCH_ADD
	return (double)(rte_rdtsc_precise() - start) /
		(10.0 * BENCH_ADD_ROUNDS * BENCH_CYCLES_PER_ADD);
}

/* --- the machine --- */

struct bench_machine {
	char vendor[160];
	char model[160];
	/* 0 where a CPU has no such; by name two generations may be the same. */
	int family;
	int model_number;
	const char *core_type; /* NULL where there is no way to tell */
	double tsc_mhz;
	double core_mhz;
};

/* Take over what a line of /proc/cpuinfo says about vendor and model. */
static inline void
bench_parse_cpuinfo(struct bench_machine *machine, const char *key, const char *value)
{
	if (strcmp(key, "vendor_id") == 0)
		snprintf(machine->vendor, sizeof(machine->vendor), "%s", value);
	else if (strcmp(key, "model name") == 0 || strcmp(key, "cpu") == 0)
		snprintf(machine->model, sizeof(machine->model), "%s", value);
	else if (strcmp(key, "cpu family") == 0)
		machine->family = atoi(value);
	else if (strcmp(key, "model") == 0)
		machine->model_number = atoi(value);
	else if (strcmp(key, "CPU implementer") == 0)
		snprintf(machine->vendor, sizeof(machine->vendor), "CPU implementer %s", value);
	else if (strcmp(key, "CPU part") == 0)
		snprintf(machine->model, sizeof(machine->model), "CPU part %s", value);
}

/* Vendor and model of one CPU, since a machine may have several kinds. */
static inline void
bench_read_cpuinfo(struct bench_machine *machine, int cpu)
{
	FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
	char line[512], key[64], value[128];
	bool is_our_cpu = false;

	if (cpuinfo == NULL)
		return;
	while (fgets(line, sizeof(line), cpuinfo) != NULL) {
		if (sscanf(line, "%63[^:\t] : %127[^\n]", key, value) != 2)
			continue;
		if (strcmp(key, "processor") == 0)
			is_our_cpu = atoi(value) == cpu;
		else if (is_our_cpu)
			bench_parse_cpuinfo(machine, key, value);
	}
	fclose(cpuinfo);
}

#ifdef RTE_ARCH_X86

/* Of the core that runs this, which is why it has to be pinned. */
static inline const char *
bench_core_type(void)
{
	const unsigned int hybrid = 1u << 15;
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(edx & hybrid))
		return "uniform";
	if (!__get_cpuid_count(0x1a, 0, &eax, &ebx, &ecx, &edx))
		return NULL;
	return eax >> 24 == 0x40 ? "performance" : "efficiency";
}

#else

static inline const char *
bench_core_type(void)
{
	return NULL;
}

#endif

static inline struct bench_machine
bench_get_machine(void)
{
	struct bench_machine machine = { .vendor = "unknown", .model = "unknown" };
	double tsc_per_cycle = bench_tsc_per_cycle();
	unsigned int i;

	for (i = 0; i < 1000; i++)
		tsc_per_cycle = RTE_MIN(tsc_per_cycle, bench_tsc_per_cycle());
	bench_read_cpuinfo(&machine, rte_lcore_to_cpu_id(rte_lcore_id()));
	machine.core_type = bench_core_type();
	machine.tsc_mhz = rte_get_tsc_hz() / 1e6;
	machine.core_mhz = machine.tsc_mhz / tsc_per_cycle;
	return machine;
}

static inline void
bench_print_machine(const struct bench_machine *machine)
{
	printf("CPU        %s, %s", machine->vendor, machine->model);
	if (machine->family != 0)
		printf(", family %d, model %d", machine->family, machine->model_number);
	printf("\n");
	if (machine->core_type != NULL)
		printf("core type  %s\n", machine->core_type);
	printf("clocks     core %.0f MHz (estimated), TSC %.0f MHz\n", machine->core_mhz,
		machine->tsc_mhz);
	printf("compiler   %s, %s\n", BENCH_COMPILER, BENCH_FLAGS);
	printf("rte_memcpy %s, %s\n", BENCH_MODE, BENCH_ISA);
}

/* The first record of a file. */
static inline void
bench_json_machine(FILE *json, const char *command, const struct bench_machine *machine)
{
	if (json == NULL)
		return;
	fprintf(json, "{\"record\":\"machine\",");
	bench_json_string(json, "command", command);
	bench_json_string(json, "vendor", machine->vendor);
	bench_json_string(json, "cpu", machine->model);
	fprintf(json, "\"family\":%d,\"model\":%d,", machine->family, machine->model_number);
	bench_json_string(json, "core_type", machine->core_type);
	bench_json_string(json, "compiler", BENCH_COMPILER);
	bench_json_string(json, "flags", BENCH_FLAGS);
	bench_json_string(json, "mode", BENCH_MODE);
	bench_json_string(json, "isa", BENCH_ISA);
	fprintf(json, "\"tsc_mhz\":%.3f,\"core_mhz\":%.3f}\n", machine->tsc_mhz, machine->core_mhz);
}

/* --- figures --- */

static inline int
bench_compare_floats(const void *left, const void *right)
{
	float a = *(const float *)left;
	float b = *(const float *)right;

	return (a > b) - (a < b);
}

/* Sorts the values. */
static inline double
bench_median(float *values, unsigned int num)
{
	qsort(values, num, sizeof(*values), bench_compare_floats);
	return (values[(num - 1) / 2] + values[num / 2]) / 2.0;
}

/* --- running --- */

/* Measure all once, and again until the time is up, but not more often than told. */
static inline int
bench_rounds(unsigned long seconds, unsigned int max_rounds, int (*measure_round)(void))
{
	const uint64_t end = rte_get_tsc_cycles() + seconds * rte_get_tsc_hz();
	unsigned int round;

	for (round = 0; round < max_rounds; round++) {
		if (measure_round() != 0)
			return -1;
		if (rte_get_tsc_cycles() >= end)
			break;
	}
	return 0;
}

/* A command of dpdk-test, and the variables of the environment that it heeds. */
struct bench_command {
	const char *name;
	const char *seconds_variable;
	const char *json_variable;
	unsigned long default_seconds;
	int (*run)(unsigned long seconds, FILE *json);
};

/* Tell of the machine and the settings, and measure. */
static inline int
bench_run(const struct bench_command *command)
{
	unsigned long seconds = command->default_seconds;
	struct bench_machine machine;
	FILE *json;
	int ret;

	if (bench_get_seconds(command->seconds_variable, &seconds) != 0 ||
		bench_json_open(command->json_variable, &json) != 0)
		return -1;
	machine = bench_get_machine();
	bench_print_machine(&machine);
	bench_json_machine(json, command->name, &machine);
	printf("settings   %s=N measures for N seconds, now %lu; %s=FILE writes a file of JSON\n",
		command->seconds_variable, seconds, command->json_variable);
	ret = command->run(seconds, json);
	return bench_json_close(command->json_variable, json) == 0 ? ret : -1;
}

#endif /* MEMCPY_BENCH_H */
