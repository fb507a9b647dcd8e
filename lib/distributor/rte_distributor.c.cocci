// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// The choice among vector variants asks rte_vect_get_max_simd_bitwidth().
// rte_memcpy.h no longer brings in rte_vect.h.

// changes 1 line: include what is used
@@
@@
 #include <rte_tailq.h>
+#include <rte_vect.h>
