/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef RTE_CPU_CORE_TYPE_H
#define RTE_CPU_CORE_TYPE_H

/**
 * @file
 *
 * Which kind of core does a thread run on?
 *
 * Hybrid CPUs have cores of several kinds, and what is fast on one is not on another.
 */

#include <stdbool.h>

#include <rte_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of cores of one machine. */
enum rte_cpu_core_type {
	/** All cores are of one kind, or it cannot be told which this is. */
	RTE_CPU_CORE_UNKNOWN = 0,
	/** Fast: Intel P-cores, big and middle cores of Arm. */
	RTE_CPU_CORE_PERFORMANCE,
	/** Small: Intel E-cores, little cores of Arm. */
	RTE_CPU_CORE_EFFICIENCY,
	/** Small and far from the last level cache: Intel LP E-cores. */
	RTE_CPU_CORE_LOW_POWER_EFFICIENCY,
};

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Tell which kind of core the calling thread runs on.
 *
 * A thread with an lcore id and an affinity to one CPU, as EAL knows it, is answered from
 * what it was told before, in a few nanoseconds.
 * Any other thread may move: it is asked where it is each time,
 * and may have moved again when it reads the answer.
 * An affinity changed behind EAL, not by rte_thread_set_affinity(), goes unnoticed.
 *
 * The first call on a CPU may read files, so make it before the data path starts.
 *
 * This function is thread-safe and may be called before rte_eal_init().
 *
 * @return
 *   The kind of the core; RTE_CPU_CORE_UNKNOWN if all cores of the machine are of one kind,
 *   and whenever the kind cannot be told. There is no error.
 */
__rte_experimental enum rte_cpu_core_type
rte_cpu_core_type(void);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Tell whether this machine may have cores of several kinds.
 *
 * Where it cannot, rte_cpu_core_type() need never be called, wherever threads move.
 * The first call may read files.
 * This function is thread-safe and may be called before rte_eal_init().
 *
 * @return
 *   false if rte_cpu_core_type() returns RTE_CPU_CORE_UNKNOWN on all cores, also on those
 *   that are offline now; true if it may return something else on any. There is no error.
 */
__rte_experimental bool
rte_cpu_is_hybrid(void);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Name a kind of core, as for a log. This function is thread-safe.
 *
 * @param type
 *   The kind of core.
 * @return
 *   A constant string: "unknown", "performance", "efficiency" or "low-power efficiency";
 *   NULL if type is none of enum rte_cpu_core_type.
 */
__rte_experimental const char *
rte_cpu_core_type_name(enum rte_cpu_core_type type);

#ifdef __cplusplus
}
#endif

#endif /* RTE_CPU_CORE_TYPE_H */
