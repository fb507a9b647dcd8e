/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* The header needs nothing before it. Linked with include_second.c. */
#include <rte_memcpy.h>

void *
copy_elsewhere(void *dst, const void *src, size_t n);

int
main(int argc, char **argv)
{
	char copy[4] = "no";

	copy_elsewhere(copy, "yes", (size_t)argc * 4);
	rte_memcpy(argv[0], copy, (size_t)argc);
	return copy[0] == 'y' ? 0 : 1;
}
