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
expression dev, fd;
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

// changes 65-80 lines: whether a message is about a ring is told in iotlb.c
//
// DPDK adds the length to the address, which gives 0 where the last address is the last
// one there is, as in what QEMU sends to forget all.
@@
identifier told = { is_vring_iotlb_split, is_vring_iotlb_packed, is_vring_iotlb };
parameter list params;
type T;
@@
-static T told(params)
-{
-...
-}

// changes 2 lines: rings that a message touches, or that wait, are translated anew
//
// DPDK does not see that a ring is elsewhere now. After an invalidation it stops the queue
// and waits until that is polled, which those do not who heed that it is stopped.
@@
expression dev, vq, imsg;
@@
 vhost_user_iotlb_msg(...)
 {
 <...
-is_vring_iotlb(dev, vq, imsg)
+vhost_iotlb_needs_rings(dev, vq, imsg)
 ...>
 }

// changes 2 lines: after an invalidation
@@
identifier pdev, dev, vq;
@@
 vhost_user_iotlb_msg(..., struct virtio_net **pdev, ...)
 {
 <...
 vring_invalidate(dev, vq);
+translate_ring_addresses(&dev, &vq);
+pdev[0] = dev;
 ...>
 }

// changes 1 lines: after an update
@@
identifier dev, vq, lock;
@@
 vhost_user_iotlb_msg(...)
 {
 <...
 lock(&vq->access_lock);
+vring_invalidate(dev, vq);
 translate_ring_addresses(&dev, &vq);
 ...>
 }

// changes 2 lines: an update that makes no sense is refused
@@
expression dev, imsg, vva;
identifier len;
@@
 vhost_user_iotlb_msg(...)
 {
 <...
+if (!vhost_iotlb_is_valid(dev, imsg))
+	return RTE_VHOST_MSG_RESULT_ERR;
 len = imsg->size;
 vva = qva_to_vva(dev, imsg->uaddr, &len);
 ...>
 }

// changes 1 lines: a ring may be logged at guest address 0
@@
identifier vq;
@@
 translate_ring_addresses(...)
 {
 <...
-vq->log_guest_addr == 0
+vq->log_guest_addr == VHOST_NO_LOG_ADDR
 ...>
 }
