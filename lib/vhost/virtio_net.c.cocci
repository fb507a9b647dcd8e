// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// What is copied between mbufs and guest buffers goes by pktcpy(). Headers, used
// rings and descriptors do not: they are small objects, some of which the guest polls.

// changes 1 line: include what is used
@@
@@
+#include "pktcpy.h"
 #include "vhost.h"

// changes 6-7 lines: packet data, batched, direct, and in packed batches
@@
identifier copies_data = { do_data_copy_enqueue, do_data_copy_dequeue, sync_fill_seg,
	virtio_dev_rx_batch_packed_copy, desc_to_mbuf, virtio_dev_tx_batch_packed };
@@
 copies_data(...)
 {
 <...
-rte_memcpy
+pktcpy
 (...)
 ...>
 }
