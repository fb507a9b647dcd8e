// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The dpdk-memcpy authors
//
// How vhost uses the translations of a virtual IOMMU.

// changes 1 lines: a ring is usable as a whole only
@@
@@
 ring_addr_to_vva(...)
 {
 <...
-vhost_iova_to_vva
+vhost_iova_to_vva_whole
 (...)
 ...>
 }

// changes 4 lines: a miss that cannot be sent now is sent later
@@
expression fd;
identifier ctx, ret;
@@
 vhost_user_iotlb_miss(...)
 {
 <...
-ret = send_vhost_message(dev, fd, &ctx);
+ret = vhost_iotlb_send(fd, &ctx.msg, VHOST_USER_HDR_SIZE + ctx.msg.size);
+if (ret == -EAGAIN)
+	return ret;
 ...>
 }
