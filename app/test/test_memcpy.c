/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Is rte_memcpy() right? At every size, run-time and constant, with objects of other
 * types, with objects that other threads access meanwhile, with sizes that do not fit
 * in 32 bits, and areas whose addresses differ above those only, but for a few bytes?
 * And rte_mov16() to rte_mov256()?
 */

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_memcpy.h>

#include "copy_checks.h"
#include "other_cpus.h"
#include "test.h"

#ifdef RTE_ARCH_X86
#include <x86intrin.h>
#endif

/* --- the ways to copy: one function for each, so that each is compiled once --- */

static __rte_noinline void *
copy_run_time(void *dst, const void *src, size_t n)
{
	return rte_memcpy(dst, src, n);
}

/* clang-format off */
#define DEFINE_CONSTANT(len) \
static __rte_noinline void * \
copy_constant_##len(void *dst, const void *src, size_t n __rte_unused) \
{ \
	return rte_memcpy(dst, src, len); \
}

#define DEFINE_MOV(len) \
static __rte_noinline void * \
copy_mov_##len(void *dst, const void *src, size_t n __rte_unused) \
{ \
	rte_mov##len((uint8_t *)dst, (const uint8_t *)src); \
	return dst; \
}

#define LIST_CONSTANT(len) { "rte_memcpy, constant size", len, copy_constant_##len },
#define LIST_MOV(len) { "rte_mov" #len, len, copy_mov_##len },

#define FOR_TEN(DO, tens) \
	DO(tens##0) DO(tens##1) DO(tens##2) DO(tens##3) DO(tens##4) \
	DO(tens##5) DO(tens##6) DO(tens##7) DO(tens##8) DO(tens##9)

#define FOR_CONSTANTS(DO) \
	FOR_TEN(DO, ) FOR_TEN(DO, 1) FOR_TEN(DO, 2) FOR_TEN(DO, 3) FOR_TEN(DO, 4) \
	FOR_TEN(DO, 5) FOR_TEN(DO, 6) FOR_TEN(DO, 7) FOR_TEN(DO, 8) \
	DO(95) DO(96) DO(97) DO(127) DO(128) DO(129) DO(255) DO(256) DO(257) \
	DO(511) DO(512) DO(513) DO(1518) DO(2047) DO(2048) DO(2049) DO(4096)

#define FOR_MOVS(DO) DO(16) DO(32) DO(48) DO(64) DO(128) DO(256)

FOR_CONSTANTS(DEFINE_CONSTANT)
FOR_MOVS(DEFINE_MOV)

static const struct copier run_time = { "rte_memcpy", 0, copy_run_time };
static const struct copier fixed_size[] = {
	FOR_CONSTANTS(LIST_CONSTANT)
	FOR_MOVS(LIST_MOV)
};
/* clang-format on */

/* --- the test cases --- */

static int
test_fixed_sizes(void)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(fixed_size); i++)
		if (test_size(&fixed_size[i], fixed_size[i].len) != 0)
			return -1;
	return 0;
}

#if defined(RTE_ARCH_RISCV) || defined(RTE_ARCH_LOONGARCH)

/* These have macros of their own on plain memcpy(), which must not get NULL. */
static int
test_null(void)
{
	printf("rte_memcpy, NULL: skipped on this architecture\n");
	return 0;
}

#else

/* Values are volatile where the compiler must not know that they are 0. */
static int
test_null(void)
{
	void *volatile no_dst = NULL;
	const void *volatile no_src = NULL;
	volatile size_t none = 0;

	current_name = "rte_memcpy, NULL";
	current_len = 0;
	if (rte_memcpy(no_dst, no_src, none) != NULL ||
		rte_memcpy(no_dst, dst_area.start, none) != NULL ||
		rte_memcpy(dst_area.start, no_src, none) != dst_area.start)
		return report("did not return the destination");
	if (rte_memcpy(no_dst, no_src, 0) != NULL)
		return report("did not return the destination, constant size");
	return 0;
}

#endif

static int
test_arguments_once(void)
{
	volatile size_t seven = 7;
	uint8_t *dst = dst_area.start;
	uint8_t *src = src_area.start;
	size_t n = seven;

	current_name = "rte_memcpy, arguments with side effects";
	current_len = n;
	if (rte_memcpy(dst++, src++, n++) != dst_area.start)
		return report("did not return the destination");
	if (dst != dst_area.start + 1 || src != src_area.start + 1 || n != 8)
		return report("did not evaluate each argument once");
	if (rte_memcpy(dst++, src++, 16) != dst_area.start + 1)
		return report("did not return the destination, constant size");
	if (dst != dst_area.start + 2 || src != src_area.start + 2)
		return report("did not evaluate each argument once, constant size");
	memset(dst_area.start, 0, 32);
	return 0;
}

/* --- types: what one writes as float is copied, and read as an integer --- */

#define NUM_WORDS 64

/* 1.1f and 3.3f as integers: no byte is the same. */
#define BITS_1_1 0x3f8ccccdu
#define BITS_3_3 0x40533333u

/*
 * A size that the compiler knows up to *span*, which is a power of 2. So it sees what
 * one class of sizes copies, and has no other code that could keep it from moving or
 * removing accesses of another type before the copy or behind it.
 */
static __rte_always_inline size_t
size_from(size_t min, size_t span)
{
	volatile size_t zero = 0;

	return min + (zero & (span - 1));
}

/* Have all that is in an object read and written, for all that the compiler knows. */
#define USE_OBJECT(object) __asm__ volatile("" : : "r"(&(object)) : "memory")

static __rte_always_inline int
test_written_as_float(size_t n)
{
	const uint32_t wanted = BITS_1_1;
	float from[NUM_WORDS] = { 0 };
	uint32_t to[NUM_WORDS] = { 0 };

	USE_OBJECT(from);
	USE_OBJECT(to);
	from[0] = 1.1f;
	rte_memcpy(to, from, n);
	from[0] = 3.3f;
	USE_OBJECT(from);
	current_len = n;
	if (memcmp(to, &wanted, RTE_MIN(n, sizeof(wanted))) != 0)
		return report("did not copy what was written as another type");
	return 0;
}

static __rte_always_inline int
test_read_as_float(size_t n)
{
	const uint32_t copied = BITS_3_3;
	uint32_t wanted = BITS_1_1;
	uint32_t from[NUM_WORDS] = { BITS_3_3 };
	float to[NUM_WORDS] = { 0 };
	float seen;

	USE_OBJECT(from);
	USE_OBJECT(to);
	to[0] = 1.1f;
	rte_memcpy(to, from, n);
	seen = to[0];
	current_len = n;
	memcpy(&wanted, &copied, RTE_MIN(n, sizeof(copied)));
	if (memcmp(&seen, &wanted, sizeof(wanted)) != 0)
		return report("what was copied is not seen as another type");
	return 0;
}

#define DEFINE_OTHER_TYPES(min, span) \
	static __rte_noinline int test_written_as_float_##min(void) \
	{ \
		return test_written_as_float(size_from(min, span)); \
	} \
	static __rte_noinline int test_read_as_float_##min(void) \
	{ \
		return test_read_as_float(size_from(min, span)); \
	}

DEFINE_OTHER_TYPES(2, 2)
DEFINE_OTHER_TYPES(4, 4)
DEFINE_OTHER_TYPES(8, 8)
DEFINE_OTHER_TYPES(16, 16)
DEFINE_OTHER_TYPES(32, 32)
DEFINE_OTHER_TYPES(65, 64)
DEFINE_OTHER_TYPES(129, 64)

static int
test_other_types(void)
{
	int ret = 0;

	current_name = "rte_memcpy, float to uint32_t";
	ret |= test_written_as_float_2();
	ret |= test_written_as_float_4();
	ret |= test_written_as_float_8();
	ret |= test_written_as_float_16();
	ret |= test_written_as_float_32();
	ret |= test_written_as_float_65();
	ret |= test_written_as_float_129();
	current_name = "rte_memcpy, uint32_t to float";
	ret |= test_read_as_float_2();
	ret |= test_read_as_float_4();
	ret |= test_read_as_float_8();
	ret |= test_read_as_float_16();
	ret |= test_read_as_float_32();
	ret |= test_read_as_float_65();
	ret |= test_read_as_float_129();
	return ret;
}

/* --- threads: an aligned object of 2, 4 or 8 bytes is copied whole --- */

#ifndef RTE_MEMCPY_VEC_BYTES
#define COPIES_BY_LIBC 1
#else
#define COPIES_BY_LIBC (RTE_MEMCPY_VEC_BYTES == 0)
#endif

/* So many copies, and as many accesses of another thread meanwhile. */
#define NUM_SHARED_COPIES 300000

/* An object that is 0 or all ones, with room for an implementation that is wrong. */
struct shared {
	uint8_t pad_before[RTE_CACHE_LINE_SIZE];
	uint64_t value;
	uint8_t pad_behind[RTE_CACHE_LINE_SIZE];
} __rte_cache_aligned;

static struct shared shared;
static size_t shared_len;
static pthread_t partner;
static bool partner_runs;
static bool partner_ends;
static rte_cpuset_t partner_cpus;
static bool partner_moved;
static unsigned int partner_accesses;
static unsigned int partner_torn;

/* The ABI of i386 aligns it to 4 bytes, which clang makes a call of libatomic. */
typedef uint64_t __attribute__((__aligned__(8))) aligned_uint64;

/* One access of 2, 4 or 8 bytes. */
static uint64_t
load_whole(const void *object, size_t len)
{
	if (len == 2)
		return __atomic_load_n((const uint16_t *)object, __ATOMIC_RELAXED);
	if (len == 4)
		return __atomic_load_n((const uint32_t *)object, __ATOMIC_RELAXED);
	return __atomic_load_n((const aligned_uint64 *)object, __ATOMIC_RELAXED);
}

static void
store_whole(void *object, uint64_t value, size_t len)
{
	if (len == 2)
		__atomic_store_n((uint16_t *)object, (uint16_t)value, __ATOMIC_RELAXED);
	else if (len == 4)
		__atomic_store_n((uint32_t *)object, (uint32_t)value, __ATOMIC_RELAXED);
	else
		__atomic_store_n((aligned_uint64 *)object, value, __ATOMIC_RELAXED);
}

static bool
is_torn(uint64_t value, size_t len)
{
	uint64_t all_ones = UINT64_MAX >> (64 - 8 * len);

	return value != 0 && value != all_ones;
}

static void
count_access(void)
{
	__atomic_store_n(&partner_accesses, partner_accesses + 1, __ATOMIC_RELAXED);
}

static void *
read_shared(void *arg __rte_unused)
{
	partner_moved = move_to_cpus(&partner_cpus);
	while (!__atomic_load_n(&partner_ends, __ATOMIC_RELAXED)) {
		if (is_torn(load_whole(&shared.value, shared_len), shared_len))
			partner_torn++;
		count_access();
	}
	return NULL;
}

static void *
write_shared(void *arg __rte_unused)
{
	uint64_t value = 0;

	partner_moved = move_to_cpus(&partner_cpus);
	while (!__atomic_load_n(&partner_ends, __ATOMIC_RELAXED)) {
		store_whole(&shared.value, value, shared_len);
		value = ~value;
		count_access();
	}
	return NULL;
}

static int
partner_start(void *(*body)(void *arg), size_t len)
{
	memset(&shared, 0, sizeof(shared));
	shared_len = len;
	partner_ends = false;
	partner_moved = false;
	partner_accesses = 0;
	partner_torn = 0;
	current_len = len;
	if (pthread_create(&partner, NULL, body, NULL) != 0)
		return report("cannot start a thread");
	partner_runs = true;
	return 0;
}

static void
partner_stop(void)
{
	if (!partner_runs)
		return;
	__atomic_store_n(&partner_ends, true, __ATOMIC_RELAXED);
	pthread_join(partner, NULL);
	partner_runs = false;
}

static bool
enough_copies(unsigned int copies)
{
	return copies >= NUM_SHARED_COPIES &&
		__atomic_load_n(&partner_accesses, __ATOMIC_RELAXED) >= NUM_SHARED_COPIES;
}

/* Copy to an object that another thread reads. */
static int
test_tearing_in(size_t len)
{
	uint64_t value = 0;
	unsigned int copies;

	if (partner_start(read_shared, len) != 0)
		return -1;
	for (copies = 0; !enough_copies(copies); copies++) {
		value = ~value;
		rte_memcpy(&shared.value, &value, shared_len);
	}
	partner_stop();
	if (!partner_moved)
		return report("cannot move a thread to another CPU");
	return partner_torn == 0 ? 0 : report("another thread saw half of a copy");
}

/* Copy from an object that another thread writes. */
static int
test_tearing_out(size_t len)
{
	uint64_t copied = 0;
	unsigned int copies, torn = 0;

	if (partner_start(write_shared, len) != 0)
		return -1;
	for (copies = 0; !enough_copies(copies); copies++) {
		rte_memcpy(&copied, &shared.value, shared_len);
		torn += is_torn(copied, len);
	}
	partner_stop();
	if (!partner_moved)
		return report("cannot move a thread to another CPU");
	return torn == 0 ? 0 : report("copied halves of two values");
}

#ifdef RTE_ARCH_X86

/*
 * Threads seldom meet in the middle of a copy. On x86 a program can have itself
 * interrupted after each instruction, which shows every state that others might see.
 */
#define TRAP_FLAG 0x100

static volatile unsigned int num_steps;
static volatile unsigned int num_torn_steps;
static volatile unsigned int num_takes;
static volatile bool steps_write;

static void
on_step(int signum __rte_unused)
{
	uint64_t value = load_whole(&shared.value, shared_len);

	num_steps++;
	if (is_torn(value, shared_len))
		num_torn_steps++;
	if (steps_write) {
		store_whole(&shared.value, ~value, shared_len);
	} else if (value != 0) {
		/* As who waits for the object does: it must not come back. */
		num_takes++;
		store_whole(&shared.value, 0, shared_len);
	}
}

static void
copy_in_steps(void *dst, const void *src, bool write)
{
	struct sigaction action, old;

	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_handler = on_step;
	num_steps = 0;
	num_torn_steps = 0;
	num_takes = 0;
	steps_write = write;
	/* A call, behind which the compiler moves nothing of the above. */
	sigaction(SIGTRAP, &action, &old);
	__writeeflags(__readeflags() | TRAP_FLAG);
	copy_run_time(dst, src, shared_len);
	__writeeflags(__readeflags() & ~(uint64_t)TRAP_FLAG);
	sigaction(SIGTRAP, &old, NULL);
}

static int
test_tearing_in_steps(size_t len)
{
	uint64_t value = UINT64_MAX;

	memset(&shared, 0, sizeof(shared));
	shared_len = len;
	current_len = len;
	current_name = "rte_memcpy in steps, to another thread";
	copy_in_steps(&shared.value, &value, false);
	if (num_steps == 0) {
		printf("rte_memcpy in steps: skipped, this machine has none\n");
		return 0;
	}
	if (num_torn_steps != 0)
		return report("another thread could see half of a copy");
	if (num_takes != 1)
		return report("another thread could see a copy that it has taken already");
	current_name = "rte_memcpy in steps, from another thread";
	value = 0;
	copy_in_steps(&value, &shared.value, true);
	if (is_torn(value, len))
		return report("could copy halves of two values");
	return 0;
}

#else

static int
test_tearing_in_steps(size_t len __rte_unused)
{
	return 0;
}

#endif

/* With a partner that runs at the same time, on another CPU. */
static int
test_tearing_by_partner(size_t len)
{
	int ret = 0;

	current_name = "rte_memcpy, to another thread";
	ret |= test_tearing_in(len);
	current_name = "rte_memcpy, from another thread";
	ret |= test_tearing_out(len);
	return ret;
}

static int
test_no_tearing(void)
{
	static const size_t lens[] = { 2, 4, 8 };
	bool has_partner;
	int ret = 0;
	unsigned int i;

	if (COPIES_BY_LIBC) {
		printf("rte_memcpy, threads: skipped, libc copies and promises nothing\n");
		return 0;
	}
	has_partner = get_other_cpus(&partner_cpus);
	if (!has_partner)
		printf("rte_memcpy, two threads: skipped, this program has one CPU\n");
	for (i = 0; i < RTE_DIM(lens); i++) {
		if (lens[i] > sizeof(void *)) {
			printf("rte_memcpy, threads, %zu bytes: skipped, no such register\n",
				lens[i]);
			continue;
		}
		ret |= test_tearing_in_steps(lens[i]);
		if (has_partner)
			ret |= test_tearing_by_partner(lens[i]);
	}
	return ret;
}

/* --- more bytes than an int, or 32 bits, can count --- */

#ifdef RTE_ARCH_64

/*
 * Bytes at each end of an area that can be accessed. Gigabytes need not be copied to
 * see that a size was understood: between the ends there is a hole, into which a copy
 * must run from one of them.
 */
#define END (64 * 1024)

static int
area_map_ends(struct area *area, size_t len)
{
	if (area_reserve(area, len) != 0)
		return -1;
	if (make_writable(area->start, END) == 0 && make_writable(area->end - END, END) == 0)
		return 0;
	munmap(area->map, area->map_len);
	return -1;
}

static bool
at_edge_of_hole(const struct area *area, const uint8_t *addr)
{
	const uint8_t *hole = area->start + END;
	const uint8_t *hole_end = area->end - END;

	return (addr >= hole && addr < hole + END) || (addr >= hole_end - END && addr < hole_end);
}

static int
test_huge_copy(size_t n)
{
	uint8_t *src = place(&src_area, false, n, current_place.src_off);
	uint8_t *dst = place(&dst_area, false, n, current_place.dst_off);

	if (sigsetjmp(escape, 1) == 0) {
		copy_run_time(dst, src, n);
		return report("did not copy all");
	}
	if (at_edge_of_hole(&src_area, fault_addr) || at_edge_of_hole(&dst_area, fault_addr))
		return 0;
	return report_fault();
}

static int
test_huge_size(size_t n)
{
	size_t len = RTE_ALIGN_CEIL(n + NUM_OFFSETS, (size_t)END);
	int ret = -1;

	current_name = "rte_memcpy, huge";
	current_len = n;
	current_place = (struct placement){ .src_off = 5, .dst_off = 12 };
	if (area_map_ends(&src_area, len) != 0)
		return -1;
	if (area_map_ends(&dst_area, len) == 0) {
		ret = test_huge_copy(n);
		munmap(dst_area.map, dst_area.map_len);
	}
	munmap(src_area.map, src_area.map_len);
	return ret;
}

static int
test_huge_sizes(void)
{
	int ret = 0;

	ret |= test_huge_size(((size_t)1 << 31) + NUM_OFFSETS);
	ret |= test_huge_size(((size_t)1 << 32) + NUM_OFFSETS);
	ret |= test_huge_size(((size_t)1 << 32) + 2 * MAX_EVERY_SIZE);
	return ret;
}

#define FAR_DISTANCE ((size_t)1 << 32)
#define MAX_FAR_LEN (2 * MAX_EVERY_SIZE)

/* Map both areas at once, so that each byte of one is that far from its like. */
static int
areas_map_far(void)
{
	struct area both;
	size_t len = MAX_FAR_LEN + NUM_OFFSETS + MARGIN;

	if (area_reserve(&both, FAR_DISTANCE + len) != 0)
		return -1;
	src_area = both;
	src_area.end = both.start + RTE_ALIGN_CEIL(len, (size_t)sysconf(_SC_PAGESIZE));
	dst_area = both;
	dst_area.start = both.start + FAR_DISTANCE;
	if (make_writable(dst_area.start, dst_area.end - dst_area.start) == 0 &&
		make_writable(src_area.start, src_area.end - src_area.start) == 0 &&
		fill_source() == 0)
		return 0;
	munmap(both.map, both.map_len);
	return -1;
}

/* The destination lies 1 to 63 bytes above the source, but for 4 GiB. */
static int
test_far_copies(void)
{
	static const size_t sizes[] = { 1, 8, 16, 33, 64, 65, 128, 129, 256, 257, 511, 1518, 2048,
		2049, MAX_EVERY_SIZE, MAX_FAR_LEN };
	struct placement at = { .back = false };
	unsigned int i;

	for (i = 0; i < RTE_DIM(sizes); i++)
		for (at.dst_off = 1; at.dst_off < NUM_OFFSETS; at.dst_off++)
			if (test_copy(&run_time, sizes[i], at) != 0)
				return -1;
	return 0;
}

static int
test_far_areas(void)
{
	int ret;

	if (areas_map_far() != 0)
		return -1;
	if (sigsetjmp(escape, 1) == 0)
		ret = test_far_copies();
	else
		ret = report_fault();
	unpoison(&src_area);
	unpoison(&dst_area);
	munmap(src_area.map, src_area.map_len);
	return ret;
}

#else

static int
test_huge_sizes(void)
{
	printf("rte_memcpy, huge: skipped, no room for such areas\n");
	return 0;
}

static int
test_far_areas(void)
{
	printf("rte_memcpy, 4 GiB apart: skipped, no room for such areas\n");
	return 0;
}

#endif

static int
test_any_size(void)
{
	return test_run_time_sizes(&run_time);
}

static int
test_any_big_size(void)
{
	return test_big_sizes(&run_time);
}

static int
test_memcpy(void)
{
	int ret = 0;

	catch_faults();
	ret |= run(test_any_size, MAX_LOOP_SIZE);
	ret |= run(test_fixed_sizes, MAX_EVERY_SIZE);
	ret |= run(test_any_big_size, MAX_BIG_SIZE);
	ret |= run(test_null, MAX_EVERY_SIZE);
	ret |= run(test_arguments_once, MAX_EVERY_SIZE);
	ret |= run(test_other_types, MAX_EVERY_SIZE);
	ret |= run(test_no_tearing, MAX_EVERY_SIZE);
	partner_stop();
	ret |= test_huge_sizes();
	ret |= test_far_areas();
	release_faults();
	return ret;
}

REGISTER_TEST_COMMAND(memcpy_autotest, test_memcpy);
