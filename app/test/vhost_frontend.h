/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_FRONTEND_H
#define VHOST_FRONTEND_H

/**
 * @file
 *
 * The driver of a virtio-net device, for tests of the vhost library in one process.
 *
 * It speaks vhost-user with rte_vhost over a Unix socket and drives the rings itself.
 * One thread can play both sides, a guest that posts buffers and a host that calls
 * rte_vhost_enqueue_burst() and rte_vhost_dequeue_burst(), so nothing waits for
 * another core. Only the socket is served by a thread of rte_vhost.
 *
 * No function is thread-safe for one front end. Errors are printed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VHOST_FRONTEND_MAX_REGIONS 8
/** Buffers that one chain of descriptors can have. */
#define VHOST_FRONTEND_MAX_CHAIN 64

/** Queues are numbered as in virtio-net: the guest receives by 0 and transmits by 1. */
enum vhost_frontend_queue {
	VHOST_FRONTEND_RX,
	VHOST_FRONTEND_TX,
	VHOST_FRONTEND_QUEUES
};

/** The messages that tell of a ring. The first three come before KICK, which starts it. */
enum vhost_frontend_ring_msg {
	VHOST_FRONTEND_RING_NUM,
	VHOST_FRONTEND_RING_BASE,
	VHOST_FRONTEND_RING_ADDR,
	VHOST_FRONTEND_RING_CALL,
	VHOST_FRONTEND_RING_KICK,
	VHOST_FRONTEND_RING_ENABLE,
	VHOST_FRONTEND_RING_MSGS
};

/** A region of guest memory. */
struct vhost_frontend_region {
	uint64_t guest_addr; /**< guest-physical address, page-aligned */
	size_t len;          /**< bytes, a multiple of the page size */
};

/** What a front end is made of. */
struct vhost_frontend_config {
	/**
	 * Bits of virtio and virtio-net that are negotiated; VIRTIO_F_VERSION_1 is added
	 * unless the guest is a legacy one.
	 * With VIRTIO_F_ACCESS_PLATFORM (33) all addresses in rings are those of an IOMMU.
	 */
	uint64_t features;
	/** The driver is older than virtio 1.0. */
	bool legacy;
	/** More flags for rte_vhost_driver_register(); the one for an IOMMU is added. */
	uint64_t register_flags;
	/** If not NULL: called when vhost has the socket and no device yet; not 0 is a fault. */
	int (*registered)(const char *path);
	/**
	 * If not NULL: called by a thread of vhost before it lets go of the device, when
	 * vhost_frontend_vid() is -1 already. It must not return while a burst runs.
	 */
	void (*gone)(void);
	/** Have vhost log the pages that it writes, as for a migration. */
	bool dirty_log;
	/** With an IOMMU: an IOVA is the guest-physical address and this. */
	uint64_t iova_offset;
	/** With an IOMMU: tell where the rings are before vhost knows of rings, too. */
	bool iotlb_before_rings;
	/** Descriptors of each ring: a power of 2 unless packed. */
	uint16_t ring_size;
	unsigned int num_regions;
	struct vhost_frontend_region regions[VHOST_FRONTEND_MAX_REGIONS];
};

/** What vhost misses in its translations: see vhost_frontend_next_miss(). */
struct vhost_frontend_miss {
	uint64_t iova;
	uint8_t perm; /**< VHOST_ACCESS_RO, _WO or _RW of linux/vhost_types.h */
};

/** A part of a packet's buffer: one descriptor. */
struct vhost_frontend_buf {
	void *addr; /**< in a region, see vhost_frontend_mem() */
	uint32_t len;
};

/** Bytes of a descriptor in both formats. */
#define VHOST_FRONTEND_DESC_LEN 16

/** A descriptor as a guest writes it, right or wrong. */
struct vhost_frontend_desc {
	uint64_t addr; /**< what the device is told, see vhost_frontend_iova() */
	uint32_t len;
	uint16_t flags; /**< VRING_DESC_F_*; those of a packed ring's turn are added */
	uint16_t next;  /**< after VRING_DESC_F_NEXT, split only: index in the same array */
};

struct vhost_frontend;

/**
 * Register a vhost device, connect to it, and set it up until it is ready.
 *
 * @param config
 *   What to negotiate. Is copied.
 * @return
 *   The front end, or NULL with a message.
 */
struct vhost_frontend *
vhost_frontend_create(const struct vhost_frontend_config *config);

/** Disconnect, wait until vhost has let go of the device, and free all. NULL is allowed. */
void
vhost_frontend_destroy(struct vhost_frontend *frontend);

/** @return The device's number, for the functions of rte_vhost; -1: there is none now. */
int
vhost_frontend_vid(const struct vhost_frontend *frontend);

/** @return Bytes of the header before each packet: 12, or 10 of a legacy guest's. */
size_t
vhost_frontend_hdr_len(const struct vhost_frontend *frontend);

/**
 * Get memory of the guest's.
 *
 * @param frontend
 *   The front end.
 * @param region
 *   Index of the region. At the start of region 0 are the rings, which are left out.
 * @param len
 *   Set to the number of bytes. The last byte is that of the region.
 * @return
 *   Address in this process. vhost has another one for it.
 */
uint8_t *
vhost_frontend_mem(const struct vhost_frontend *frontend, unsigned int region, size_t *len);

/**
 * Make a chain of buffers available to the device.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   Those of RX are written by the device, those of TX are read.
 * @param bufs
 *   The parts, in the order of the packet's bytes.
 * @param num_bufs
 *   Number of parts, 1 to VHOST_FRONTEND_MAX_CHAIN.
 * @param indirect
 *   Put the descriptors in a table of their own.
 * @return
 *   The number that vhost_frontend_poll() gives back, or -1 if the ring is full.
 */
int
vhost_frontend_post(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	const struct vhost_frontend_buf *bufs, unsigned int num_bufs, bool indirect);

/**
 * Make descriptors available to the device as they are, to see what it makes of them.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue. No flag is added for it.
 * @param descs
 *   The descriptors, the head first.
 * @param num_descs
 *   Number of descriptors, 1 to the size of the ring.
 * @return
 *   As vhost_frontend_post().
 */
int
vhost_frontend_post_raw(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	const struct vhost_frontend_desc *descs, unsigned int num_descs);

/**
 * Write an indirect table, for a descriptor of vhost_frontend_post_raw().
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue, for the format.
 * @param descs
 *   The descriptors. In a packed ring they need no VRING_DESC_F_NEXT.
 * @param num_descs
 *   Number of descriptors.
 * @param table
 *   VHOST_FRONTEND_DESC_LEN bytes for each, aligned to 8.
 */
void
vhost_frontend_write_table(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	const struct vhost_frontend_desc *descs, unsigned int num_descs, void *table);

/**
 * Tell the device of chains that were not posted. Of a split ring only.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue.
 * @param num
 *   How many there are to be beyond those that were posted.
 */
void
vhost_frontend_claim(
	struct vhost_frontend *frontend, enum vhost_frontend_queue queue, uint16_t num);

/** @return Where the length of a descriptor of the ring is, to change it at any time. */
uint32_t *
vhost_frontend_desc_len(
	struct vhost_frontend *frontend, enum vhost_frontend_queue queue, unsigned int place);

/**
 * Take a chain back that the device has used.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue.
 * @param len
 *   Set to the bytes that the device has written. May be NULL. In a packed ring whose
 *   buffers are used in order it is told for the last one of several only.
 * @return
 *   What vhost_frontend_post() returned for the chain, or -1 if there is none.
 */
int
vhost_frontend_poll(
	struct vhost_frontend *frontend, enum vhost_frontend_queue queue, uint32_t *len);

/** @return How often the device has called the guest of a queue since it was last asked. */
unsigned int
vhost_frontend_take_calls(struct vhost_frontend *frontend, enum vhost_frontend_queue queue);

/**
 * @name IOMMU
 *
 * With VIRTIO_F_ACCESS_PLATFORM vhost knows an address of the guest's only when it was
 * told. The rings are told of when the front end is created; about the rest the test
 * decides. Where vhost lacks an address it drops or delays a packet, and sends a miss
 * over the back-end channel, once until it is answered. To answer is to call
 * vhost_frontend_iotlb_update(), at once or later; not to call it is to deny.
 * About 250 misses find room in the channel: then vhost blocks, so take them in time.
 *
 * These functions use sockets only: another thread may call them while one drives rings.
 * @{
 */

/**
 * Get the IOVA of memory of the guest's: of what vhost_frontend_post() writes.
 *
 * @param frontend
 *   The front end, with an IOMMU or without.
 * @param addr
 *   Address in this process.
 * @return
 *   The address in the ring, which is guest-physical without an IOMMU. 0 if it is not
 *   the guest's memory.
 */
uint64_t
vhost_frontend_iova(const struct vhost_frontend *frontend, const void *addr);

/**
 * Get where the rings are, one range from the start of region 0 on.
 *
 * @param frontend
 *   The front end.
 * @param len
 *   Set to the number of bytes, which are whole pages.
 * @return
 *   Address in this process.
 */
uint8_t *
vhost_frontend_rings(const struct vhost_frontend *frontend, size_t *len);

/**
 * Take the next miss that vhost has sent, without waiting.
 *
 * @param frontend
 *   The front end.
 * @param miss
 *   Is set if there is one.
 * @return
 *   1 for a miss, 0 if there is none, -1 with a message if something else came.
 */
int
vhost_frontend_next_miss(struct vhost_frontend *frontend, struct vhost_frontend_miss *miss);

/**
 * Tell vhost a translation, and wait until it has it.
 *
 * @param frontend
 *   The front end.
 * @param iova
 *   First address.
 * @param addr
 *   Memory of the guest's that it stands for. Any of it, vhost does not ask whether it
 *   is what vhost_frontend_iova() says.
 * @param len
 *   Number of bytes. What goes beyond the region is left out by vhost.
 * @param perm
 *   VHOST_ACCESS_RO, _WO or _RW: what the device may do there.
 * @return
 *   0, or -1 if vhost refused, for *addr* is not the guest's.
 */
int
vhost_frontend_iotlb_update(struct vhost_frontend *frontend, uint64_t iova, const void *addr,
	uint64_t len, uint8_t perm);

/**
 * Have vhost forget translations, and wait until it has.
 *
 * @param frontend
 *   The front end.
 * @param iova
 *   First address.
 * @param len
 *   Number of bytes; the last one may be UINT64_MAX.
 * @return
 *   0, or -1 if vhost refused.
 */
int
vhost_frontend_iotlb_invalidate(struct vhost_frontend *frontend, uint64_t iova, uint64_t len);

/**
 * Find out whether vhost has told its user to serve a queue.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue.
 * @return
 *   1 or 0, after all that was told before; -1 if vhost does not answer.
 */
int
vhost_frontend_queue_ready(struct vhost_frontend *frontend, enum vhost_frontend_queue queue);

/**
 * Send one of the messages that tell vhost of a ring. By all of them a queue starts again.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue.
 * @param ring_msg
 *   Which message.
 * @return
 *   0, or -1 with a message.
 */
int
vhost_frontend_tell_ring(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	enum vhost_frontend_ring_msg ring_msg);

/**
 * Tell vhost of less memory, whose addresses in vhost become others thereby.
 *
 * @param frontend
 *   The front end.
 * @param num_regions
 *   Number of regions that are left, those with the lowest numbers.
 * @return
 *   0, or -1 with a message.
 */
int
vhost_frontend_keep_regions(struct vhost_frontend *frontend, unsigned int num_regions);

/** @} */

/**
 * @name Stop and restart
 *
 * Another thread may serve the device meanwhile, if the configuration's *gone* waits for
 * its bursts.
 * @{
 */

/**
 * Close the socket, and wait until vhost has let go of the device. Memory and rings remain.
 *
 * @param frontend
 *   The front end, for which only vhost_frontend_poll() and _destroy() are left then.
 * @return
 *   0, or -1 with a message.
 */
int
vhost_frontend_disconnect(struct vhost_frontend *frontend);

/**
 * Have vhost serve a queue or leave it alone.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue.
 * @param enable
 *   Whether it is to be served.
 * @return
 *   0, or -1 with a message.
 */
int
vhost_frontend_enable(
	struct vhost_frontend *frontend, enum vhost_frontend_queue queue, bool enable);

/**
 * Stop a queue, and with it the device, as before a migration.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue.
 * @return
 *   Where vhost is in the ring: as in SET_VRING_BASE, with the wrap counter in bit 15 of a
 *   packed one. -1 with a message if there is no answer.
 */
int
vhost_frontend_stop(struct vhost_frontend *frontend, enum vhost_frontend_queue queue);

/** @return Where vhost_frontend_poll() is in the ring, in the same form. */
int
vhost_frontend_polled(struct vhost_frontend *frontend, enum vhost_frontend_queue queue);

/**
 * Start the queues, all of which were stopped, where vhost_frontend_stop() has told.
 *
 * @param frontend
 *   The front end.
 * @return
 *   0, or -1 with a message.
 */
int
vhost_frontend_start(struct vhost_frontend *frontend);

/**
 * Reset the device by RESET_OWNER, and set it up anew. Rings are empty afterwards.
 *
 * @param frontend
 *   The front end.
 * @param stopped
 *   Called when the device has stopped, and rings are still as they were.
 * @return
 *   0, or -1 with a message.
 */
int
vhost_frontend_reset(struct vhost_frontend *frontend, void (*stopped)(void));

/**
 * Ask for a reset by RESET_DEVICE, which vhost has not told that it knows.
 *
 * @param frontend
 *   The front end.
 * @return
 *   0 if vhost has refused, 1 if it has not, -1 with a message if there is no answer.
 */
int
vhost_frontend_ask_reset(struct vhost_frontend *frontend);

/** @} */

/**
 * @name Dirty log
 *
 * Of a front end whose configuration asks for it. Pages have 4096 bytes.
 * @{
 */

/** @return Whether vhost has logged the page of an address of the guest's. */
bool
vhost_frontend_is_dirty(const struct vhost_frontend *frontend, const void *addr);

/** @return How many pages vhost has logged, whether or not they are the guest's. */
unsigned int
vhost_frontend_num_dirty(const struct vhost_frontend *frontend);

/**
 * Have vhost log what it writes of a ring as if that was elsewhere.
 *
 * @param frontend
 *   The front end.
 * @param queue
 *   The queue. It can have been started.
 * @param iova
 *   What the address of the ring is taken for; guest-physical without an IOMMU.
 * @return
 *   0, or -1 with a message.
 */
int
vhost_frontend_move_ring_log(
	struct vhost_frontend *frontend, enum vhost_frontend_queue queue, uint64_t iova);

/**
 * Have no page logged. Used rings must be empty: in split ones all entries are made such
 * as no device writes, so that the next one that is written is a change.
 */
void
vhost_frontend_clear_log(struct vhost_frontend *frontend);

/** @} */

#endif /* VHOST_FRONTEND_H */
