/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef OTHER_CPUS_H
#define OTHER_CPUS_H

/*
 * CPUs for a thread or a process that is to run beside a test command.
 * The EAL pins the thread of the command to its lcore, and whatever that thread starts
 * inherits this: both would take turns on one CPU, where they hardly ever meet.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_os.h>

/* CPUs that the program may use, as it was started: the EAL has not pinned anything yet. */
static rte_cpuset_t start_cpus;

RTE_INIT(save_start_cpus)
{
	if (pthread_getaffinity_np(pthread_self(), sizeof(start_cpus), &start_cpus) != 0)
		CPU_ZERO(&start_cpus);
}

/*
 * Those of the start which the calling thread is not pinned to; all, if it is not pinned.
 * Returns false if there is no second CPU.
 */
static inline bool
get_other_cpus(rte_cpuset_t *cpus)
{
	rte_cpuset_t own;
	unsigned int cpu;

	if (pthread_getaffinity_np(pthread_self(), sizeof(own), &own) != 0)
		return false;
	CPU_ZERO(cpus);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &start_cpus) && !CPU_ISSET(cpu, &own))
			CPU_SET(cpu, cpus);
	if (CPU_COUNT(cpus) > 0)
		return true;
	*cpus = own;
	return CPU_COUNT(&own) > 1;
}

/* Move the calling thread there, and it alone. */
static inline bool
move_to_cpus(const rte_cpuset_t *cpus)
{
	return pthread_setaffinity_np(pthread_self(), sizeof(*cpus), cpus) == 0;
}

#endif /* OTHER_CPUS_H */
