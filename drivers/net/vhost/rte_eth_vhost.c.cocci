// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// A device argument sets how packets are copied.

// changes 1 line: what reads it
@@
@@
 #include "rte_eth_vhost.h"
+#include "vhost_copy_arg.h"

// changes 4 lines: refuse a wrong one before there is a device
@@
@@
 rte_pmd_vhost_probe(...)
 {
 <...
 kvlist = rte_kvargs_parse(...);
 if (kvlist == NULL)
	return -1;
+if (vhost_copy_arg_check(kvlist) != 0) {
+	ret = -1;
+	goto out_free;
+}
 ...>
 }

// changes 2 lines: set it before a guest can connect
@@
@@
 vhost_driver_setup(...)
 {
 <...
+if (vhost_copy_arg_apply(eth_dev->device->devargs, internal->iface_name) != 0)
+	goto drv_unreg;
 if (rte_vhost_driver_start(internal->iface_name) < 0) { ... }
 ...>
 }
