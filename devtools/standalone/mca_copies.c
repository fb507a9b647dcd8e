/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * The program that devtools/mca compiles for each model: it makes one copy per argument,
 * of that many bytes, and the tool looks at the instructions which copy() went through.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef MCA_PLAIN_SVE
#include <arm_sve.h>

/* What a first attempt at SVE looks like: one vector a round, a predicate for each. */
static inline void *
rte_memcpy(void *dst, const void *src, size_t n)
{
	uint8_t *to = dst;
	const uint8_t *from = src;
	size_t done = 0;
	svbool_t left = svwhilelt_b8_u64(done, n);

	while (svptest_first(svptrue_b8(), left)) {
		svst1_u8(left, to + done, svld1_u8(left, from + done));
		done += svcntb();
		left = svwhilelt_b8_u64(done, n);
	}
	return dst;
}
#else
#include <rte_memcpy.h>
#endif

#define MAX_LEN 65536
#define ALIGNMENT 256
/* As behind a virtio header: not aligned to a vector. */
#define DST_OFFSET 12

/* Arguments in memory, so that one copy does not wait for registers of the one before. */
struct copy_args {
	void *dst;
	const void *src;
	size_t n;
};

extern struct copy_args copy_args;
struct copy_args copy_args;

void
copy(void);

__attribute__((__noinline__)) void
copy(void)
{
	rte_memcpy(copy_args.dst, copy_args.src, copy_args.n);
}

int
main(int argc, char **argv)
{
	static uint8_t from[MAX_LEN] __attribute__((__aligned__(ALIGNMENT)));
	static uint8_t to[MAX_LEN + DST_OFFSET] __attribute__((__aligned__(ALIGNMENT)));
	int i;

	for (i = 1; i < argc; i++) {
		copy_args.dst = to + DST_OFFSET;
		copy_args.src = from;
		copy_args.n = strtoul(argv[i], NULL, 10);
		if (copy_args.n > MAX_LEN)
			return EXIT_FAILURE;
		copy();
	}
	return EXIT_SUCCESS;
}
