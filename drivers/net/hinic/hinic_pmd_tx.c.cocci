// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// The code works on vector types.
// rte_memcpy.h no longer brings in rte_vect.h.

// changes 1 line: include what is used
@@
@@
 #include <rte_ip.h>
+#include <rte_vect.h>
