// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// What is copied between mbufs and guest buffers goes by pktcpy(). Headers, used
// rings and descriptors do not: they are small objects, some of which the guest polls.

// changes 2 lines: include what is used
@@
@@
+#include "pktcpy.h"
 #include "vhost.h"
+#include "vhost_copy.h"

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

// changes 4 lines: the way to copy is chosen once for a burst, to guests
@@
@@
 rte_vhost_enqueue_burst(...)
 {
 <...
+const struct vhost_copy_path *path = vhost_copy_choose(dev, dev->virtqueue[queue_id]);
+if (path->enqueue_burst != NULL)
+	return path->enqueue_burst(vid, queue_id, pkts, count);
 return virtio_dev_rx(...);
 ...>
 }

// changes 4 lines: and from guests
@@
@@
 rte_vhost_dequeue_burst(...)
 {
 <...
 vq = dev->virtqueue[queue_id];
+const struct vhost_copy_path *path = vhost_copy_choose(dev, vq);
+if (path->dequeue_burst != NULL)
+	return path->dequeue_burst(vid, queue_id, mbuf_pool, pkts, count);
 ...>
 }

// changes 2 lines: bursts are counted by the way they were copied in
@@
identifier bursts = { virtio_dev_rx, rte_vhost_dequeue_burst };
expression dev, vq;
identifier num;
@@
 bursts(...)
 {
 <...
 vhost_queue_stats_update(dev, vq, pkts, num);
+vhost_copy_count(vq, num);
 ...>
 }

// changes 4 lines: a packet of a packed ring, for whose buffer a translation is missing
//
// DPDK asks for the translation and gives the packet back as if it had been sent.
// Here it stays in the ring until there is an answer, as in a split ring.
@@
expression list args;
@@
 vhost_dequeue_single_packed(...)
 {
 <...
 if (unlikely(fill_vec_buf_packed(args) < 0))
+{
+	if (dev->features & (1ULL << VIRTIO_F_IOMMU_PLATFORM))
+		*desc_count = 0;
 	return -1;
+}
 ...>
 }
