/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* Twice is as good as once, and two files with the header can be linked. */
#define noinline __attribute__((noinline)) /* as some drivers have it */
#include <rte_memcpy.h>
#include <rte_memcpy.h>

void *
copy_elsewhere(void *dst, const void *src, size_t n);

void *
copy_elsewhere(void *dst, const void *src, size_t n)
{
	return rte_memcpy(dst, src, n);
}

/* The size was a signed number: as a size, the lower half of it is absurd. */
void *
copy_short(void *dst, const void *src, int16_t n);
void *
copy_short(void *dst, const void *src, int16_t n)
{
	return rte_memcpy(dst, src, n);
}
