/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef EAL_EXPORT_FALLBACK_H
#define EAL_EXPORT_FALLBACK_H

/*
 * Releases that make their version maps from the sources mark what is exported.
 * Those with maps written by hand have no such marks: here they are empty. Not installed.
 */

#ifdef __has_include
#if __has_include(<eal_export.h>)
#include <eal_export.h>
#endif
#endif

#ifndef RTE_EXPORT_EXPERIMENTAL_SYMBOL
#define RTE_EXPORT_EXPERIMENTAL_SYMBOL(symbol, version)
#define RTE_EXPORT_INTERNAL_SYMBOL(symbol)
#endif

#endif /* EAL_EXPORT_FALLBACK_H */
