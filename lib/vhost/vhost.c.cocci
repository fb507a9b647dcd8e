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

// changes 1 lines: a queue that begins anew gives back what it had
@@
expression dev, vq, index;
@@
 reset_vring_queue(...)
 {
 <...
+vhost_user_iotlb_destroy(vq);
 init_vring_queue(dev, vq, index);
 ...>
 }
