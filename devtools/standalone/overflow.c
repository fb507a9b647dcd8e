/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Wrong code that must not get through, as C and as C++: OVERFLOW names one
 * fault. Of those with a constant size the compiler is expected to warn; at run
 * time, fortified code is expected to abort.
 */

#include <rte_memcpy.h>

#include <stdio.h>

#define TO_GLOBAL 1
#define TO_LOCAL 2
#define TO_MEMBER 3
#define FROM_GLOBAL 4
#define TO_GLOBAL_RUN_TIME 5

struct record {
	uint8_t before[32];
	uint8_t last[16];
};

extern uint8_t small[16];
extern uint8_t large[32];
extern struct record record;
extern volatile size_t thirty_two;
uint8_t small[16];
uint8_t large[32];
struct record record;
volatile size_t thirty_two = 32;

int
main(void)
{
#if OVERFLOW == TO_GLOBAL
	rte_memcpy(small, large, 32);
#elif OVERFLOW == TO_LOCAL
	uint8_t local[16];

	rte_memcpy(local, large, 32);
	printf("%s", (const char *)local);
#elif OVERFLOW == TO_MEMBER
	rte_memcpy(record.last, large, 32);
#elif OVERFLOW == FROM_GLOBAL
	rte_memcpy(large, small, 32);
#elif OVERFLOW == TO_GLOBAL_RUN_TIME
	rte_memcpy(small, large, thirty_two);
#else
#error "no such fault"
#endif
	printf("%u%u%u\n", small[0], large[0], record.last[0]);
	return 0;
}
