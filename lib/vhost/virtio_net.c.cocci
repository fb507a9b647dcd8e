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

// changes 8 lines: a header of the guest's in more than two descriptors
//
// DPDK takes it for granted that the second one holds all that the first one does not.
// If it does not, what is left of it is counted below 0, and the packet is written
// behind it, even beyond the guest's memory.
@@
@@
 mbuf_to_desc(...)
 {
 <...
+while (unlikely(buf_len < buf_offset)) {
+	if (unlikely(++vec_idx >= nr_vec))
+		return -1;
+	buf_offset -= buf_len;
+	buf_addr = buf_vec[vec_idx].buf_addr;
+	buf_iova = buf_vec[vec_idx].buf_iova;
+	buf_len = buf_vec[vec_idx].buf_len;
+}
 buf_avail = buf_len - buf_offset;
 ...>
 }
