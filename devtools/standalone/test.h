/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef TEST_H
#define TEST_H

/* In place of the header of dpdk-test: makes a program of one test command. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#define REGISTER_TEST_COMMAND(command, function) \
int \
main(void) \
{ \
	int ret = function(); \
\
	printf("%s: %s\n", #command, ret == 0 ? "passed" : "FAILED"); \
	return ret == 0 ? EXIT_SUCCESS : EXIT_FAILURE; \
}
/* clang-format on */

#endif /* TEST_H */
