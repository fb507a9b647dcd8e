/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Is pktcpy(), the packet copy of vhost, right at every size and alignment? One byte
 * read or written too far would be another tenant's.
 */

#include <pktcpy.h>

#include "copy_checks.h"
#include "test.h"

static __rte_noinline void *
copy_packet(void *dst, const void *src, size_t len)
{
	pktcpy(dst, src, len);
	return dst;
}

static const struct copier packet = { "pktcpy", 0, copy_packet };

static int
test_any_size(void)
{
	return test_run_time_sizes(&packet);
}

static int
test_any_big_size(void)
{
	return test_big_sizes(&packet);
}

static int
test_null(void)
{
	current_name = "pktcpy, NULL";
	current_len = 0;
	copy_packet(NULL, NULL, 0);
	copy_packet(dst_area.start, NULL, 0);
	copy_packet(NULL, src_area.start, 0);
	return 0;
}

static int
test_pktcpy(void)
{
	int ret = 0;

	catch_faults();
	ret |= run(test_any_size, MAX_LOOP_SIZE);
	ret |= run(test_any_big_size, MAX_BIG_SIZE);
	ret |= run(test_null, MAX_EVERY_SIZE);
	release_faults();
	return ret;
}

REGISTER_TEST_COMMAND(pktcpy_autotest, test_pktcpy);
