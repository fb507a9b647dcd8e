// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// How vhost uses the translations of a virtual IOMMU.

// changes 48-70 lines: the look-up is in iotlb.c
@@
identifier found = { __vhost_iova_to_vva };
parameter list params;
type T;
@@
-T found(params)
-{
-...
-}

// changes 0-6 lines: which alone asked for what is missing (since DPDK 23.07)
@@
parameter list params;
type T;
@@
-static T vhost_iotlb_miss(params)
-{
-...
-}

// changes 34-44 lines: so is the dirty log of what has a translation
//
// DPDK takes guest address 0 for none, and leaves out what ends where a region ends.
@@
identifier logs = { __vhost_log_write_iova, __vhost_log_cache_write_iova };
parameter list params;
type T;
@@
-T logs(params)
-{
-...
-}

// changes 7 lines: a ring is usable as a whole only
@@
identifier whole = { vring_translate_split, vring_translate_packed, translate_log_addr };
@@
 whole(...)
 {
 <...
-vhost_iova_to_vva
+vhost_iova_to_vva_whole
 (...)
 ...>
 }

// changes 4 lines: a ring may be logged at guest address 0, and where a region ends
//
// DPDK takes the one for a failure, and does not find the other: the queue is never ready.
@@
expression dev, hva, len;
identifier gpa;
@@
 translate_log_addr(...)
 {
 <...
(
-return 0;
+return VHOST_NO_LOG_ADDR;
|
-gpa = hva_to_gpa(dev, hva, len);
+gpa = vhost_iotlb_log_addr(dev, hva, len);
|
-!gpa
+gpa == VHOST_NO_LOG_ADDR
)
 ...>
 }

// changes 1 lines: so does who asks for that address
@@
identifier vq;
@@
 log_translate(...)
 {
 <...
-vq->log_guest_addr == 0
+vq->log_guest_addr == VHOST_NO_LOG_ADDR
 ...>
 }

// changes 0-1 lines: a queue that begins anew gives back what it had (until DPDK 23.03)
@@
identifier dev, vq;
@@
 init_vring_queue(..., struct vhost_virtqueue *vq, ...)
 {
 ...
+vhost_user_iotlb_destroy(vq);
 memset(vq, ...);
 ...
 vhost_user_iotlb_init(dev, vq);
 ...
 }

// changes 3 lines: a queue that is reset gives back its memory
//
// DPDK forgets where it is.
@@
expression list args;
@@
 reset_vring_queue(..., struct vhost_virtqueue *vq)
 {
 <...
+rte_free(vq->shadow_used_split); /* or packed: they share a place */
+rte_free(vq->batch_copy_elems);
+rte_free(vq->log_cache);
 init_vring_queue(args);
 ...>
 }

// changes 1 lines: a device that is reset keeps what the application has set for it
//
// DPDK has it count no more, and tell of checksums in another way than it was told to.
@@
identifier dev;
@@
 reset_device(struct virtio_net *dev)
 {
 <...
-dev->flags &= VIRTIO_DEV_BUILTIN_VIRTIO_NET;
+dev->flags &= VIRTIO_DEV_BUILTIN_VIRTIO_NET | VIRTIO_DEV_LEGACY_OL_FLAGS |
+	VIRTIO_DEV_STATS_ENABLED | VIRTIO_DEV_SUPPORT_IOMMU;
 ...>
 }

// changes 1 lines: translations remain when counters are reset
@@
identifier vid, vq;
@@
 rte_vhost_vring_stats_reset(int vid, ...)
 {
 <...
 memset(&vq->stats, ...);
+vq->stats.iotlb_entries = vhost_iotlb_num_entries(get_device(vid), vq);
 ...>
 }

// changes 1 line: include what is used
@@
@@
 #include "vhost.h"
+#include "vhost_telemetry.h"

// changes 2 lines: a device does not go while telemetry tells of it
@@
expression dev, vid;
@@
 vhost_destroy_device(...)
 {
 <...
+vhost_telemetry_lock_devices();
 cleanup_device(dev, 1);
 free_device(dev);
 vhost_devices[vid] = NULL;
+vhost_telemetry_unlock_devices();
 ...>
 }
