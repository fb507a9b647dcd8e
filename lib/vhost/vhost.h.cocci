// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// Rings are logged, too, where their log is at guest address 0.

// changes 2 lines: whether a ring has a log is not told by where that is
@@
identifier logs = { vhost_log_cache_used_vring, vhost_log_used_vring };
identifier vq;
@@
 logs(..., struct vhost_virtqueue *vq, ...)
 {
 <...
-vq->log_guest_addr == 0
+!vq->access_ok || !(vq->ring_addrs.flags & (1 << VHOST_VRING_F_LOG))
 ...>
 }
