/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef COPY_CHECKS_H
#define COPY_CHECKS_H

/*
 * Is a function that copies right? In every size class, at every alignment,
 * and without touching a byte that is not its own?
 *
 * Source and destination are areas of their own between two pages that cannot
 * be accessed, and each copy is placed near either the front or the back of its
 * area, so that the guard page is 0 to 63 bytes away. The source is read-only
 * during the test. Whatever faults ends the test as a failure that is reported.
 * No byte of the source is 0 and all of the destination is 0 before a copy,
 * so a byte too many or too few in the destination always shows.
 * Under AddressSanitizer the bytes next to each area are poisoned too,
 * which finds what guard pages cannot: a read rounded up to an aligned block.
 */

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>

#if defined(__SANITIZE_ADDRESS__)
#define COPY_CHECKS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COPY_CHECKS_ASAN
#endif
#endif

#ifdef COPY_CHECKS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, len) ((void)(start), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(start, len) ((void)(start), (void)(len))
#endif

/* Offsets 0 to 63: every alignment of the widest vector and of a cache line. */
#define NUM_OFFSETS 64
/* Every size up to here at run time, which is around every branch below it. */
#define MAX_EVERY_SIZE 4096
/*
 * Some sizes up to here: rounds of a loop over the longest vectors there are
 * (SVE: 256 bytes). The step is odd, so that the ends meet all alignments.
 */
#define MAX_LOOP_SIZE (3 * MAX_EVERY_SIZE)
#define LOOP_SIZE_STEP 61
/* For sizes that an implementation may copy in yet another way, or leave to libc. */
#define MAX_BIG_SIZE (2 * 1024 * 1024)
/* Checked on each side of a copy: as many as the longest single step copies. */
#define MARGIN 256

/* An area of memory between two guard pages. */
struct area {
	uint8_t *map; /* the first guard page */
	size_t map_len;
	uint8_t *start; /* the first byte that can be accessed */
	uint8_t *end;   /* just behind the last: the second guard page */
};

/* A way to copy that is tested: any size, or the one size that it is made for. */
struct copier {
	const char *name;
	size_t len;
	void *(*copy)(void *dst, const void *src, size_t n);
};

/* Placement of a copy: its distance from the front or the back of the area. */
struct placement {
	bool back;
	unsigned int src_off;
	unsigned int dst_off;
};

static struct area src_area;
static struct area dst_area;

/* Under test now. What a signal interrupts is to be found here. */
static const char *volatile current_name;
static volatile size_t current_len;
static volatile struct placement current_place;
static sigjmp_buf escape;
static uint8_t *volatile fault_addr;

static struct sigaction old_segv;
static struct sigaction old_bus;

/* --- areas --- */

/* Have nothing in an area, and around it, that can be accessed. */
static int
area_reserve(struct area *area, size_t len)
{
	size_t page_size = sysconf(_SC_PAGESIZE);

	len = RTE_ALIGN_CEIL(len, page_size);
	area->map_len = len + 2 * page_size;
	area->map = mmap(NULL, area->map_len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area->map == MAP_FAILED) {
		printf("cannot map %zu bytes: %s\n", area->map_len, strerror(errno));
		return -1;
	}
	area->start = area->map + page_size;
	area->end = area->start + len;
	return 0;
}

static int
make_writable(uint8_t *start, size_t len)
{
	if (mprotect(start, len, PROT_READ | PROT_WRITE) == 0)
		return 0;
	printf("cannot make %zu bytes writable: %s\n", len, strerror(errno));
	return -1;
}

static int
area_map(struct area *area, size_t len)
{
	if (area_reserve(area, len) != 0)
		return -1;
	if (make_writable(area->start, area->end - area->start) == 0)
		return 0;
	munmap(area->map, area->map_len);
	return -1;
}

/* Random bytes from 1 to 255, the same in every run, and then read-only. */
static int
fill_source(void)
{
	uint32_t random = 2463534242;
	uint8_t *byte;

	for (byte = src_area.start; byte < src_area.end; byte++) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		*byte = 1 + random % 255;
	}
	if (mprotect(src_area.start, src_area.end - src_area.start, PROT_READ) != 0) {
		printf("cannot make the source read-only: %s\n", strerror(errno));
		return -1;
	}
	return 0;
}

static int
areas_map(size_t max_len)
{
	size_t len = max_len + NUM_OFFSETS + MARGIN;

	if (area_map(&src_area, len) != 0)
		return -1;
	if (area_map(&dst_area, len) != 0) {
		munmap(src_area.map, src_area.map_len);
		return -1;
	}
	return fill_source();
}

/* Poison all of an area but the bytes of one copy. */
static void
poison_around(const struct area *area, const uint8_t *start, size_t n)
{
	ASAN_POISON_MEMORY_REGION(area->start, area->end - area->start);
	ASAN_UNPOISON_MEMORY_REGION(start, n);
}

static void
unpoison(const struct area *area)
{
	ASAN_UNPOISON_MEMORY_REGION(area->start, area->end - area->start);
}

static void
areas_unmap(void)
{
	unpoison(&src_area);
	unpoison(&dst_area);
	munmap(src_area.map, src_area.map_len);
	munmap(dst_area.map, dst_area.map_len);
}

static uint8_t *
place(const struct area *area, bool back, size_t n, unsigned int off)
{
	return back ? area->end - n - off : area->start + off;
}

/* --- faults --- */

static void
on_fault(int signum __rte_unused, siginfo_t *info, void *context __rte_unused)
{
	fault_addr = info->si_addr;
	siglongjmp(escape, 1);
}

static void
catch_faults(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, &old_segv);
	sigaction(SIGBUS, &action, &old_bus);
}

static void
release_faults(void)
{
	sigaction(SIGSEGV, &old_segv, NULL);
	sigaction(SIGBUS, &old_bus, NULL);
}

static bool
within(const struct area *area, const uint8_t *addr)
{
	return addr >= area->map && addr < area->map + area->map_len;
}

static const char *
describe_fault(const uint8_t *addr)
{
	if (within(&src_area, addr))
		return addr >= src_area.start && addr < src_area.end
			? "wrote into the source"
			: "read or wrote outside the source";
	if (within(&dst_area, addr))
		return "read or wrote outside the destination";
	/* An instruction that wants alignment faults without an address. */
	return "faulted far from both areas (NULL, or an alignment taken for granted?)";
}

static int
report(const char *what)
{
	printf("%s: n=%zu, src offset %u, dst offset %u from the %s: %s\n", current_name,
		current_len, current_place.src_off, current_place.dst_off,
		current_place.back ? "back" : "front", what);
	return -1;
}

static int
report_fault(void)
{
	char what[256];

	snprintf(what, sizeof(what), "%s, at %p (source from %p, destination from %p)",
		describe_fault(fault_addr), (void *)fault_addr,
		(void *)place(&src_area, current_place.back, current_len, current_place.src_off),
		(void *)place(&dst_area, current_place.back, current_len, current_place.dst_off));
	return report(what);
}

/* --- one copy --- */

static bool
all_zero(const uint8_t *buf, size_t len)
{
	return len == 0 || (buf[0] == 0 && memcmp(buf, buf + 1, len - 1) == 0);
}

/* What is wrong with the destination after a copy? NULL if nothing. */
static const char *
check_dst(const uint8_t *dst, const uint8_t *src, size_t n)
{
	size_t before = RTE_MIN((size_t)(dst - dst_area.start), (size_t)MARGIN);
	size_t behind = RTE_MIN((size_t)(dst_area.end - (dst + n)), (size_t)MARGIN);

	if (n > 0 && memcmp(dst, src, n) != 0)
		return "copied wrong bytes";
	if (!all_zero(dst - before, before))
		return "wrote before the destination";
	if (!all_zero(dst + n, behind))
		return "wrote behind the destination";
	return NULL;
}

static int
test_copy(const struct copier *copier, size_t n, struct placement at)
{
	uint8_t *src = place(&src_area, at.back, n, at.src_off);
	uint8_t *dst = place(&dst_area, at.back, n, at.dst_off);
	const char *wrong;
	void *ret;

	current_name = copier->name;
	current_len = n;
	current_place = at;

	poison_around(&src_area, src, n);
	poison_around(&dst_area, dst, n);
	ret = copier->copy(dst, src, n);
	unpoison(&src_area);
	unpoison(&dst_area);

	if (ret != dst)
		return report("did not return the destination");
	wrong = check_dst(dst, src, n);
	if (wrong != NULL)
		return report(wrong);
	if (n > 0)
		memset(dst, 0, n);
	return 0;
}

/* --- one size, at all offsets --- */

/* Every pair of offsets. */
static int
test_all_offsets(const struct copier *copier, size_t n, bool back)
{
	struct placement at = { .back = back };

	for (at.src_off = 0; at.src_off < NUM_OFFSETS; at.src_off++)
		for (at.dst_off = 0; at.dst_off < NUM_OFFSETS; at.dst_off++)
			if (test_copy(copier, n, at) != 0)
				return -1;
	return 0;
}

/*
 * Beyond 64 bytes: for each size, each destination offset once and (3 being
 * odd) each source offset once. From one size to the next the source offset
 * that goes with a destination offset moves by one, so over any 64 sizes in
 * a row all pairs are tested. That is enough, because code for long copies
 * branches on the size in coarser steps than that.
 */
static int
test_covering_offsets(const struct copier *copier, size_t n, bool back)
{
	struct placement at = { .back = back };

	for (at.dst_off = 0; at.dst_off < NUM_OFFSETS; at.dst_off++) {
		at.src_off = (3 * at.dst_off + n) % NUM_OFFSETS;
		if (test_copy(copier, n, at) != 0)
			return -1;
	}
	return 0;
}

static int
test_size(const struct copier *copier, size_t n)
{
	int (*test_offsets)(const struct copier *copier, size_t n, bool back);

	test_offsets = n <= NUM_OFFSETS ? test_all_offsets : test_covering_offsets;
	if (test_offsets(copier, n, false) != 0 || test_offsets(copier, n, true) != 0)
		return -1;
	/* Copies clean up behind themselves: what is left was written far outside. */
	if (!all_zero(dst_area.start, dst_area.end - dst_area.start))
		return report("wrote far outside the destination");
	return 0;
}

/* --- many copies --- */

static int
test_run_time_sizes(const struct copier *copier)
{
	size_t n;

	for (n = 0; n <= MAX_EVERY_SIZE; n++)
		if (test_size(copier, n) != 0)
			return -1;
	for (; n <= MAX_LOOP_SIZE; n += LOOP_SIZE_STEP)
		if (test_size(copier, n) != 0)
			return -1;
	return 0;
}

static int
test_big_sizes(const struct copier *copier)
{
	static const unsigned int offsets[] = { 0, 1, 16, 63 };
	static const size_t around[] = { 0, 1, 31, 64, 127 };
	struct placement at;
	unsigned int i, j, k;
	size_t n;

	for (n = 2 * MAX_EVERY_SIZE; n <= MAX_BIG_SIZE; n *= 2)
		for (i = 0; i < RTE_DIM(around); i++)
			for (j = 0; j < RTE_DIM(offsets); j++)
				for (k = 0; k < RTE_DIM(offsets) * 2; k++) {
					at.back = k % 2;
					at.src_off = offsets[k / 2];
					at.dst_off = offsets[j];
					if (test_copy(copier, n - around[i], at) != 0)
						return -1;
				}
	return 0;
}

/* Run a test case on fresh areas. A fault in it comes back here. */
static int
run(int (*test_case)(void), size_t max_len)
{
	int ret;

	current_place = (struct placement){ .back = false };
	if (areas_map(max_len) != 0)
		return -1;
	if (sigsetjmp(escape, 1) == 0)
		ret = test_case();
	else
		ret = report_fault();
	areas_unmap();
	return ret;
}

#endif /* COPY_CHECKS_H */
