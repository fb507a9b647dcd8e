/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * For Coccinelle only (spatch --macro-file-builtins), never compiled: names that its C parser stops
 * at, because they stand where C has no place for a call or an identifier. Whatever they mean to the
 * compiler, for finding function calls they may as well be empty.
 */

/* thread-safety annotations, DPDK 22.11 to 25.07 */
#define __rte_lockable
#define __rte_guarded_by(...)
#define __rte_guarded_var
#define __rte_exclusive_locks_required(...)
#define __rte_exclusive_lock_function(...)
#define __rte_exclusive_trylock_function(...)
#define __rte_assert_exclusive_lock(...)
#define __rte_shared_locks_required(...)
#define __rte_shared_lock_function(...)
#define __rte_shared_trylock_function(...)
#define __rte_assert_shared_lock(...)
#define __rte_unlock_function(...)
#define __rte_locks_excluded(...)
#define __rte_no_thread_safety_analysis

/* and since */
#define __rte_capability(...)
#define __rte_requires_capability(...)
#define __rte_acquire_capability(...)
#define __rte_try_acquire_capability(...)
#define __rte_release_capability(...)
#define __rte_assert_capability(...)
#define __rte_requires_shared_capability(...)
#define __rte_acquire_shared_capability(...)
#define __rte_try_acquire_shared_capability(...)
#define __rte_release_shared_capability(...)
#define __rte_assert_shared_capability(...)
#define __rte_exclude_capability(...)

/* attributes */
#define __rte_aligned(a)
#define __rte_cache_aligned
#define __rte_cache_min_aligned
#define __rte_packed
#define __rte_packed_begin
#define __rte_packed_end
#define __rte_may_alias
#define __rte_unused
#define __rte_used
#define __rte_weak
#define __rte_hot
#define __rte_cold
#define __rte_pure
#define __rte_malloc
#define __rte_noreturn
#define __rte_noinline
#define __rte_always_inline
#define __rte_no_asan
#define __rte_restrict
#define __rte_internal
#define __rte_experimental
#define __rte_deprecated
#define __rte_deprecated_msg(msg)
#define __rte_format_printf(fmt, arg)
#define __rte_warn_unused_result
#define __rte_section(name)
#define __rte_atomic
#define __rte_diagnostic_push
#define __rte_diagnostic_pop
#define __rte_diagnostic_ignored_wcast_qual

/* declarations that are macros */
#define RTE_EXPORT_SYMBOL(symbol)
#define RTE_EXPORT_EXPERIMENTAL_SYMBOL(symbol, release)
#define RTE_EXPORT_INTERNAL_SYMBOL(symbol)
#define RTE_ATOMIC(type) type
#define TAILQ_ENTRY(type) int
#define STAILQ_ENTRY(type) int
#define LIST_ENTRY(type) int
#define SLIST_ENTRY(type) int
#define RTE_TAILQ_ENTRY(type) int
#define TAILQ_HEAD(name, type) int
#define LIST_HEAD(name, type) int
#define RTE_MARKER int
#define RTE_MARKER64 int
