// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// What is copied between mbufs and guest buffers goes by pktcpy(). Headers, used
// rings and descriptors do not: they are small objects, some of which the guest polls.

// changes 3 lines: include what is used
@@
@@
+#include "pktcpy.h"
 #include "vhost.h"
+#include "vhost_copy.h"
+#include "vhost_singles.h"

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

// changes 3-4 lines: buffers of packets are translated in line
@@
identifier translates = { map_one_desc, virtio_dev_rx_sync_batch_check,
	vhost_reserve_avail_batch_packed, virtio_dev_rx_async_batch_check,
	vhost_async_tx_batch_packed_check };
@@
 translates(...)
 {
 <...
-vhost_iova_to_vva
+vhost_iova_to_vva_inline
 (...)
 ...>
 }

// changes 1-2 lines: four buffers of a packed ring from the guest are only read
//
// DPDK asks for the right to write them. Linux gives none for what it transmits, so each
// batch of four asked for translations that never come.
@@
identifier check = { vhost_reserve_avail_batch_packed, vhost_async_tx_batch_packed_check };
@@
 check(...)
 {
 <...
-VHOST_ACCESS_RW
+VHOST_ACCESS_RO
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

// changes 2-3 lines: a header that has a number of buffers tells of one, too
//
// DPDK writes it for guests that may get a packet in several buffers only; virtio asks for
// it from all devices of version 1.
@@
identifier writes_header = { mbuf_to_desc, virtio_dev_rx_batch_packed_copy,
	virtio_dev_rx_async_packed_batch_enqueue };
@@
 writes_header(struct virtio_net *dev, ...)
 {
 <...
-rxvq_is_mergeable(dev)
+dev->vhost_hlen == sizeof(struct virtio_net_hdr_mrg_rxbuf)
 ...>
 }

// changes 4 lines: the way to copy is chosen once for a burst, to guests
@@
@@
 rte_vhost_enqueue_burst(...)
 {
 <...
+const struct vhost_copy_path *path = vhost_copy_choose(dev, dev->virtqueue[queue_id]);
+if (path != NULL)
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
+if (path != NULL)
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

// changes 1-2 lines: four buffers of a packed ring, one of which is shorter than a header
//
// DPDK subtracts the header from the length and gets a huge number, so it writes the
// packet behind the buffer, even beyond the guest's memory.
@@
typedef uint64_t;
identifier check = { virtio_dev_rx_sync_batch_check, virtio_dev_rx_async_batch_check };
expression pkt_len, len;
identifier hdr_len;
@@
 check(...)
 {
 <...
-pkt_len > (len - hdr_len)
+pkt_len + (uint64_t)hdr_len > len
 ...>
 }

// changes 1-2 lines: four buffers of a packed ring, whose lengths the guest changes meanwhile
//
// DPDK looks at whether a packet fits into the length that it read, cuts the length where the
// region ends, and then only compares it with what the guest says by now. If that is the same,
// the packet is written behind the region.
@@
typedef uint64_t;
identifier check = { virtio_dev_rx_sync_batch_check, virtio_dev_rx_async_batch_check };
expression desc;
@@
 check(...)
 {
 <...
-lens[i] != desc.len
+pkts[i]->pkt_len + (uint64_t)buf_offset > lens[i]
 ...>
 }

// changes 1-2 lines: four packets to a packed ring, one buffer of which is a chain or a table
//
// DPDK looks only at whether the descriptors are there and long enough, and writes packets
// over a guest's indirect table, or gives the rest of a chain to the packets that follow.
@@
identifier check = { virtio_dev_rx_sync_batch_check, virtio_dev_rx_async_batch_check };
expression desc, wrap_counter;
@@
 check(...)
 {
 <...
-!desc_is_avail(&desc, wrap_counter)
+!desc_is_avail(&desc, wrap_counter) ||
+(desc.flags & (VRING_DESC_F_NEXT | VRING_DESC_F_INDIRECT))
 ...>
 }

// changes 1-2 lines: four packets of a packed ring, one of which has no data
//
// DPDK hands it on when it comes in a batch of four, and drops it when it does not.
@@
identifier check = { vhost_reserve_avail_batch_packed, vhost_async_tx_batch_packed_check };
expression room, len;
identifier hdr_len;
@@
 check(...)
 {
 <...
-room < (len - hdr_len)
+len <= hdr_len || room < len - hdr_len
 ...>
 }

// changes 4 lines: a packet for which all buffers of a packed ring are too small
//
// After a full turn DPDK takes the same buffers again, writes the packet over itself,
// and then has an index that is beyond the ring.
@@
identifier enqueue = { vhost_enqueue_single_packed, vhost_enqueue_async_packed };
@@
 enqueue(...)
 {
 <...
+if (unlikely(desc_count > vq->size - vq->shadow_used_idx - *nr_descs))
+	return -1;
 *nr_descs += desc_count;
 ...>
 }

// changes 9 lines: the table of an indirect descriptor, in packed rings
//
// The guest can change its length while it is looked at, so it is read once. It may be
// as long as the ring. If an address in it is wrong, the copy of it is freed too.
@@
@@
 fill_vec_buf_packed_indirect(...)
 {
 <...
-desc->len
+table_len
 ...>
 }
@@
typedef uint32_t;
@@
 fill_vec_buf_packed_indirect(...)
 {
 <...
+const uint32_t table_len = *(volatile uint32_t *)&desc->len;
 dlen = table_len;
 ...>
 }
@@
expression num;
@@
 fill_vec_buf_packed_indirect(...)
 {
 <...
-num >= vq->size
+num > vq->size
 ...>
 }
@@
expression list args;
@@
 fill_vec_buf_packed_indirect(...)
 {
 <...
 if (unlikely(map_one_desc(args)))
+{
+	free_ind_table(idescs);
 	return -1;
+}
 ...>
 }

// changes 4 lines: and in split rings
//
// Where the length was less when it was read again, DPDK reads behind the table.
@@
@@
 fill_vec_buf_split(...)
 {
 <...
-vq->desc[idx].len
+table_len
 ...>
 }
@@
typedef uint32_t;
@@
 fill_vec_buf_split(...)
 {
 <...
+const uint32_t table_len = *(volatile uint32_t *)&vq->desc[idx].len;
 dlen = table_len;
 ...>
 }

// changes 4 lines: a split ring whose guest tells of more chains than it has, to guests
//
// DPDK takes them, and writes behind its array of used chains, which is as long as the ring.
@@
typedef uint16_t;
identifier enqueue = { virtio_dev_rx_split, virtio_dev_rx_async_submit_split };
expression idx;
@@
 enqueue(...)
 {
 <...
 avail_head = idx;
+if (unlikely((uint16_t)(avail_head - vq->last_avail_idx) > vq->size))
+	return 0;
 ...>
 }

// changes 2 lines: and from guests
@@
identifier dequeue = { virtio_dev_tx_split, virtio_dev_tx_async_split };
@@
 dequeue(...)
 {
 <...
-avail_entries == 0
+avail_entries == 0 || avail_entries > vq->size
 ...>
 }

// changes 8 lines: in packed rings, each descriptor that is given back is logged
//
// DPDK logs the first one of a burst. A migrated guest that has not written to the page
// of another one by itself finds it as it was, and waits for it for ever.
@@
typedef uint16_t;
expression buf_id, desc_count;
@@
 virtio_dev_tx_single_packed(...)
 {
 <...
-vhost_shadow_dequeue_single_packed(vq, buf_id, desc_count);
+{
+	const uint16_t used_idx = vq->last_used_idx;
+
+	vhost_shadow_dequeue_single_packed(vq, buf_id, desc_count);
+	vhost_log_cache_used_vring(dev, vq, used_idx * sizeof(struct vring_packed_desc),
+		sizeof(struct vring_packed_desc));
+}
 ...>
 }

// changes 6 lines: packets for which mbufs ran out, in mid burst
//
// Of a packet that is given up, DPDK still does the deferred copies after it has freed
// the mbufs, when another thread may own them.
@@
identifier dequeue = { virtio_dev_tx_split, virtio_dev_tx_packed };
expression list args;
expression num, done;
@@
 dequeue(...)
 {
 <...
 if (\( unlikely(num != done) \| num != done \))
+{
+	do_data_copy_dequeue(vq);
 	rte_pktmbuf_free_bulk(args);
+}
 ...>
 }

// changes 11 lines: packets in one buffer each go the short way, to guests
//
// After one of another kind as well, but not where none came before that: where all packets
// need more, each of them would be looked at in vain.
@@
identifier pkt_idx, count;
@@
 virtio_dev_rx_split(...)
 {
 <...
+uint32_t look_at = 0;
+
 for (pkt_idx = 0; pkt_idx < count; pkt_idx++) {
+	if (pkt_idx == look_at) {
+		pkt_idx += vhost_singles_enqueue_split(dev, vq, &pkts[pkt_idx],
+			count - pkt_idx, avail_head);
+		if (pkt_idx >= count)
+			break;
+		look_at = pkt_idx == look_at ? count : pkt_idx + 1;
+	}
 ...
 }
 ...>
 }

// changes 6 lines: and from guests
//
// At the start of a burst only, for a header is read after a whole group was looked at.
@@
identifier i, count;
@@
 virtio_dev_tx_split(...)
 {
 <...
 for (i = 0; i < count; i++) {
+	if (i == 0) {
+		i = vhost_singles_dequeue_split(dev, vq, pkts, count, vq->last_avail_idx);
+		if (i >= count)
+			break;
+	}
 ...
 }
 ...>
 }

// changes 6 lines: and so they do in packed rings, to guests
@@
@@
 virtio_dev_rx_packed(...)
 {
 <...
+if (pkt_idx == 0) {
+	pkt_idx = vhost_singles_enqueue_packed(dev, vq, pkts, count);
+	if (pkt_idx >= count)
+		break;
+}
 rte_prefetch0(...);
 ...>
 }

// changes 6 lines: and from guests
@@
@@
 virtio_dev_tx_packed(...)
 {
 <...
+if (pkt_idx == 0) {
+	pkt_idx = vhost_singles_dequeue_packed(dev, vq, pkts, count);
+	if (pkt_idx >= count)
+		break;
+}
 rte_prefetch0(...);
 ...>
 }
