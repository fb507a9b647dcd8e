/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * virtio_net.c once more, for another way to copy. Who includes this has set PKTCPY_MODE
 * and VHOST_COPY_MODE, and VHOST_COPY_NAME() to what makes the names of the two functions
 * that it is for.
 * The others become static and unused, so that the compiler drops them: the asynchronous
 * path is there once, with its table of DMA devices.
 */

#include <rte_vhost.h>
#include <rte_vhost_async.h>

#include "vhost_copy.h"

/* A definition without "static" is static if a declaration before it was. */
#define UNUSED(function) \
	static __typeof__(rte_vhost_##function) vhost_unused_##function __rte_unused

UNUSED(async_try_dequeue_burst);
UNUSED(clear_queue);
UNUSED(clear_queue_thread_unsafe);
UNUSED(poll_enqueue_completed);
UNUSED(submit_enqueue_burst);

#undef UNUSED

#define rte_vhost_async_try_dequeue_burst vhost_unused_async_try_dequeue_burst
#define rte_vhost_clear_queue vhost_unused_clear_queue
#define rte_vhost_clear_queue_thread_unsafe vhost_unused_clear_queue_thread_unsafe
#define rte_vhost_poll_enqueue_completed vhost_unused_poll_enqueue_completed
#define rte_vhost_submit_enqueue_burst vhost_unused_submit_enqueue_burst
#define dma_copy_track VHOST_COPY_NAME(vhost_unused_dma_copy_track)

#define rte_vhost_enqueue_burst VHOST_COPY_NAME(vhost_enqueue_burst)
#define rte_vhost_dequeue_burst VHOST_COPY_NAME(vhost_dequeue_burst)

#include "virtio_net.c"
