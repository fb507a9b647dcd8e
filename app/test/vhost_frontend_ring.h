/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_FRONTEND_RING_H
#define VHOST_FRONTEND_RING_H

/**
 * @file
 *
 * The rings of a vhost front end: split and packed, for vhost_frontend.c, and for tests
 * that write into them what no driver would.
 * Tests drive them by vhost_frontend_post() and vhost_frontend_poll().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_ring.h>

#include "vhost_frontend.h"

/* As virtio 1.1 has it; older headers of Linux lack it. */
struct vhost_frontend_packed_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t id;
	uint16_t flags;
};

struct vhost_frontend_packed_event {
	uint16_t offset;
	uint16_t flags;
};

/* A chain that the device has not given back. */
struct vhost_frontend_chain {
	unsigned int num_descs; /* in the ring */
	uint16_t next;          /* free split descriptors, linked */
};

struct vhost_frontend_ring {
	bool packed;
	bool in_order;
	bool write; /* by the device */
	uint16_t size;
	uint16_t num_free;
	union {
		struct vring_desc *desc;
		struct vhost_frontend_packed_desc *packed_desc;
	};
	union {
		struct vring_avail *avail;
		struct vhost_frontend_packed_event *driver_event;
	};
	union {
		struct vring_used *used;
		struct vhost_frontend_packed_event *device_event;
	};
	/* One indirect table for each chain; both formats have 16 bytes a descriptor. */
	struct vhost_frontend_packed_desc (*tables)[VHOST_FRONTEND_MAX_CHAIN];
	struct vhost_frontend_chain *chains;
	uint16_t free_id;
	uint16_t next_avail;
	uint16_t next_used;
	bool avail_wrap;
	bool used_wrap;
	/* Chains in the order in which they were posted; what is used in order. */
	uint16_t *order;
	uint16_t order_head;
	uint16_t order_tail;
	uint16_t in_order_id; /* the last of those that one used descriptor told of */
	bool in_order_left;
	uint32_t in_order_len;
};

/** @return Bytes of guest memory that a ring needs: whole pages. */
size_t
vhost_frontend_ring_len(uint16_t size);

/**
 * Make an empty ring.
 *
 * @param ring
 *   The ring.
 * @param queue
 *   What it is for.
 * @param config
 *   Features and the number of descriptors.
 * @param mem
 *   Guest memory, vhost_frontend_ring_len() bytes of 0 at a page's start.
 * @return
 *   0, or -1 if there is no memory.
 */
int
vhost_frontend_ring_init(struct vhost_frontend_ring *ring, enum vhost_frontend_queue queue,
	const struct vhost_frontend_config *config, uint8_t *mem);

/** Free what vhost_frontend_ring_init() took. A ring of 0 is allowed. */
void
vhost_frontend_ring_fini(struct vhost_frontend_ring *ring);

/** @return Where the ring's polls are: an index, and in a packed one the wrap in bit 15. */
uint16_t
vhost_frontend_ring_polled(const struct vhost_frontend_ring *ring);

/** Write over the entries of a used ring, if it is apart from the descriptors. */
void
vhost_frontend_ring_spoil(struct vhost_frontend_ring *ring);

/** @return A queue's ring. */
struct vhost_frontend_ring *
vhost_frontend_ring(struct vhost_frontend *frontend, enum vhost_frontend_queue queue);

#endif /* VHOST_FRONTEND_RING_H */
