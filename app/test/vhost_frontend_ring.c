/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>

#include "vhost_frontend.h"
#include "vhost_frontend_ring.h"

#define RING_ALIGN 4096

#define PACKED_AVAIL (1 << 7)
#define PACKED_USED (1 << 15)
#define PACKED_NO_EVENTS 1

/* Take the next part of a ring's memory. */
static void *
take(uintptr_t *mem, size_t len)
{
	void *part = (void *)*mem;

	*mem += RTE_ALIGN_CEIL(len, (size_t)RING_ALIGN);
	return part;
}

/* Lay a ring out, from the address *mem* on; returns where it ends. */
static uintptr_t
lay_out(struct vhost_frontend_ring *ring, uint16_t size, uintptr_t mem)
{
	ring->size = size;
	ring->desc = take(&mem, size * sizeof(ring->desc[0]));
	ring->avail = take(&mem, 6 + size * sizeof(uint16_t));
	ring->used = take(&mem, 6 + size * sizeof(struct vring_used_elem));
	ring->tables = take(&mem, size * sizeof(ring->tables[0]));
	return mem;
}

size_t
vhost_frontend_ring_len(uint16_t size)
{
	struct vhost_frontend_ring ring;

	return lay_out(&ring, size, 0);
}

int
vhost_frontend_ring_init(struct vhost_frontend_ring *ring, enum vhost_frontend_queue queue,
	const struct vhost_frontend_config *config, uint8_t *mem)
{
	uint16_t i;

	ring->packed = (config->features >> VIRTIO_F_RING_PACKED) & 1;
	ring->in_order = (config->features >> VIRTIO_F_IN_ORDER) & 1;
	ring->write = queue == VHOST_FRONTEND_RX;
	lay_out(ring, config->ring_size, (uintptr_t)mem);
	ring->num_free = ring->size;
	ring->avail_wrap = true;
	ring->used_wrap = true;
	if (ring->packed)
		ring->driver_event->flags = PACKED_NO_EVENTS;
	else
		ring->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	ring->chains = calloc(ring->size, sizeof(ring->chains[0]));
	ring->order = calloc(ring->size, sizeof(ring->order[0]));
	if (ring->chains == NULL || ring->order == NULL)
		return -1;
	for (i = 0; i < ring->size; i++)
		ring->chains[i].next = i + 1;
	return 0;
}

void
vhost_frontend_ring_fini(struct vhost_frontend_ring *ring)
{
	free(ring->chains);
	free(ring->order);
}

uint16_t
vhost_frontend_ring_polled(const struct vhost_frontend_ring *ring)
{
	return ring->next_used | (ring->packed && ring->used_wrap ? 1 << 15 : 0);
}

void
vhost_frontend_ring_spoil(struct vhost_frontend_ring *ring)
{
	if (!ring->packed)
		memset(ring->used->ring, 0xff, ring->size * sizeof(ring->used->ring[0]));
}

static uint16_t
desc_flags(const struct vhost_frontend_ring *ring, bool last)
{
	return (ring->write ? VRING_DESC_F_WRITE : 0) | (last ? 0 : VRING_DESC_F_NEXT);
}

static uint16_t
packed_flags(const struct vhost_frontend_ring *ring)
{
	return ring->avail_wrap ? PACKED_AVAIL : PACKED_USED;
}

/* What a guest writes for its buffers. Returns the number of descriptors. */
static unsigned int
describe(const struct vhost_frontend *frontend, const struct vhost_frontend_ring *ring,
	const struct vhost_frontend_buf *bufs, unsigned int num_bufs,
	struct vhost_frontend_desc *descs)
{
	unsigned int i;

	for (i = 0; i < num_bufs; i++)
		descs[i] = (struct vhost_frontend_desc){
			.addr = vhost_frontend_iova(frontend, bufs[i].addr),
			.len = bufs[i].len,
			.flags = desc_flags(ring, i + 1 == num_bufs),
			.next = i + 1,
		};
	return num_bufs;
}

void
vhost_frontend_write_table(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	const struct vhost_frontend_desc *descs, unsigned int num_descs, void *table)
{
	struct vhost_frontend_packed_desc *packed = table;
	struct vring_desc *split = table;
	unsigned int i;

	for (i = 0; i < num_descs; i++) {
		const struct vhost_frontend_desc *desc = &descs[i];

		if (vhost_frontend_ring(frontend, queue)->packed)
			packed[i] = (struct vhost_frontend_packed_desc){ .addr = desc->addr,
				.len = desc->len,
				.flags = desc->flags & ~VRING_DESC_F_NEXT };
		else
			split[i] = (struct vring_desc){ .addr = desc->addr,
				.len = desc->len,
				.flags = desc->flags,
				.next = desc->next };
	}
}

/* The place of one of a chain's descriptors in a split ring. */
static uint16_t
split_place(const struct vhost_frontend_ring *ring, uint16_t id, unsigned int at)
{
	while (at-- > 0)
		id = ring->chains[id].next;
	return id;
}

static void
post_split(struct vhost_frontend_ring *ring, uint16_t id, const struct vhost_frontend_desc *descs,
	unsigned int num_descs)
{
	uint16_t place = id;
	unsigned int i;

	for (i = 0; i < num_descs; i++) {
		ring->desc[place] = (struct vring_desc){
			.addr = descs[i].addr, .len = descs[i].len, .flags = descs[i].flags
		};
		if (descs[i].flags & VRING_DESC_F_NEXT)
			ring->desc[place].next = split_place(ring, id, descs[i].next);
		place = ring->chains[place].next;
	}
	ring->free_id = place;
	ring->avail->ring[ring->next_avail % ring->size] = id;
	ring->next_avail++;
	__atomic_store_n(&ring->avail->idx, ring->next_avail, __ATOMIC_RELEASE);
}

static void
post_packed(struct vhost_frontend_ring *ring, uint16_t id, const struct vhost_frontend_desc *descs,
	unsigned int num_descs)
{
	const uint16_t head = ring->next_avail;
	const uint16_t head_flags = descs[0].flags | packed_flags(ring);
	struct vhost_frontend_packed_desc *desc;
	unsigned int i;

	for (i = 0; i < num_descs; i++) {
		desc = &ring->packed_desc[ring->next_avail];
		desc->addr = descs[i].addr;
		desc->len = descs[i].len;
		desc->id = id;
		/* The head comes last: with it the device sees them all. */
		if (i > 0)
			desc->flags = descs[i].flags | packed_flags(ring);
		if (++ring->next_avail == ring->size) {
			ring->next_avail = 0;
			ring->avail_wrap = !ring->avail_wrap;
		}
	}
	ring->free_id = ring->chains[id].next;
	__atomic_store_n(&ring->packed_desc[head].flags, head_flags, __ATOMIC_RELEASE);
}

int
vhost_frontend_post_raw(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	const struct vhost_frontend_desc *descs, unsigned int num_descs)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);
	uint16_t id = ring->free_id;

	if (num_descs == 0 || num_descs > ring->num_free)
		return -1;
	ring->num_free -= num_descs;
	ring->chains[id].num_descs = num_descs;
	ring->order[ring->order_tail] = id;
	ring->order_tail = (ring->order_tail + 1) % ring->size;
	if (ring->packed)
		post_packed(ring, id, descs, num_descs);
	else
		post_split(ring, id, descs, num_descs);
	return id;
}

int
vhost_frontend_post(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	const struct vhost_frontend_buf *bufs, unsigned int num_bufs, bool indirect)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);
	struct vhost_frontend_desc descs[VHOST_FRONTEND_MAX_CHAIN];
	unsigned int num_descs;
	void *table;

	if (num_bufs == 0 || num_bufs > VHOST_FRONTEND_MAX_CHAIN || ring->num_free == 0)
		return -1;
	num_descs = describe(frontend, ring, bufs, num_bufs, descs);
	if (indirect) {
		table = ring->tables[ring->free_id];
		vhost_frontend_write_table(frontend, queue, descs, num_descs, table);
		descs[0] = (struct vhost_frontend_desc){ .addr = vhost_frontend_iova(
								 frontend, table),
			.len = num_descs * VHOST_FRONTEND_DESC_LEN,
			.flags = VRING_DESC_F_INDIRECT };
		num_descs = 1;
	}
	return vhost_frontend_post_raw(frontend, queue, descs, num_descs);
}

void
vhost_frontend_claim(struct vhost_frontend *frontend, enum vhost_frontend_queue queue, uint16_t num)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);

	__atomic_store_n(&ring->avail->idx, ring->next_avail + num, __ATOMIC_RELEASE);
}

uint32_t *
vhost_frontend_desc_len(
	struct vhost_frontend *frontend, enum vhost_frontend_queue queue, unsigned int place)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);

	return ring->packed ? &ring->packed_desc[place].len : &ring->desc[place].len;
}

/* Take a chain back into the list of what is free. */
static void
free_chain(struct vhost_frontend_ring *ring, uint16_t id)
{
	uint16_t last = id;

	ring->num_free += ring->chains[id].num_descs;
	if (!ring->packed)
		last = split_place(ring, id, ring->chains[id].num_descs - 1);
	ring->chains[last].next = ring->free_id;
	ring->free_id = id;
}

static int
poll_split(struct vhost_frontend_ring *ring, uint32_t *len)
{
	const struct vring_used_elem *elem;

	if (__atomic_load_n(&ring->used->idx, __ATOMIC_ACQUIRE) == ring->next_used)
		return -1;
	elem = &ring->used->ring[ring->next_used % ring->size];
	ring->next_used++;
	*len = elem->len;
	return elem->id;
}

static void
skip_used(struct vhost_frontend_ring *ring, uint16_t id)
{
	ring->next_used += ring->chains[id].num_descs;
	if (ring->next_used >= ring->size) {
		ring->next_used -= ring->size;
		ring->used_wrap = !ring->used_wrap;
	}
}

/* The next descriptor that the device wrote back, if it has. */
static int
poll_packed_desc(const struct vhost_frontend_ring *ring, uint32_t *len)
{
	const struct vhost_frontend_packed_desc *desc = &ring->packed_desc[ring->next_used];
	uint16_t flags = __atomic_load_n(&desc->flags, __ATOMIC_ACQUIRE);
	bool avail = flags & PACKED_AVAIL, used = flags & PACKED_USED;

	if (avail != used || used != ring->used_wrap)
		return -1;
	*len = desc->len;
	return desc->id;
}

static int
poll_packed(struct vhost_frontend_ring *ring, uint32_t *len)
{
	int id;

	if (!ring->in_order) {
		id = poll_packed_desc(ring, len);
		if (id >= 0)
			skip_used(ring, id);
		return id;
	}
	/* One descriptor tells of all chains up to its own. */
	if (!ring->in_order_left) {
		id = poll_packed_desc(ring, &ring->in_order_len);
		if (id < 0)
			return -1;
		ring->in_order_id = id;
		ring->in_order_left = true;
	}
	id = ring->order[ring->order_head];
	ring->in_order_left = id != ring->in_order_id;
	*len = ring->in_order_left ? 0 : ring->in_order_len;
	skip_used(ring, id);
	return id;
}

int
vhost_frontend_poll(struct vhost_frontend *frontend, enum vhost_frontend_queue queue, uint32_t *len)
{
	struct vhost_frontend_ring *ring = vhost_frontend_ring(frontend, queue);
	uint32_t written;
	int id = ring->packed ? poll_packed(ring, &written) : poll_split(ring, &written);

	if (id < 0)
		return -1;
	if (id >= ring->size || ring->chains[id].num_descs == 0) {
		printf("vhost front end: the device used %d, which it did not have\n", id);
		return -1;
	}
	ring->order_head = (ring->order_head + 1) % ring->size;
	free_chain(ring, id);
	ring->chains[id].num_descs = 0;
	if (len != NULL)
		*len = written;
	return id;
}
