/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_PACKETS_H
#define VHOST_PACKETS_H

/*
 * Packets for tests of vhost, whose bytes tell where in which packet they are.
 *
 * What an mbuf has behind its packet is filled with a byte that must never be seen in
 * guest memory: it could be another guest's packet.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>

#include "vhost_frontend.h"

/*
 * What is in memory where no packet is: in the guest's, and in an mbuf's. Neither is what a
 * header is made of.
 */
#define GUEST_FILL 0xf3
#define MBUF_FILL 0xee
/* Left free behind the data of each mbuf. */
#define MBUF_TAIL 256

/* The byte at a place of a packet. It is neither of the fills. */
static inline uint8_t
pattern(size_t pkt_len, size_t at)
{
	return 1 + (pkt_len * 7 + at) % 231;
}

static inline bool
all_are(const uint8_t *mem, uint8_t byte, size_t len)
{
	return len == 0 || (mem[0] == byte && memcmp(mem, mem + 1, len - 1) == 0);
}

static inline bool
is_pattern(const uint8_t *mem, size_t pkt_len, size_t from, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (mem[i] != pattern(pkt_len, from + i))
			return false;
	return true;
}

static inline void
write_pattern(uint8_t *mem, size_t pkt_len, size_t from, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		mem[i] = pattern(pkt_len, from + i);
}

/* Make a packet in as many mbufs as it needs, each full of the fill behind its data. */
static inline struct rte_mbuf *
make_packet(struct rte_mempool *pool, size_t pkt_len)
{
	struct rte_mbuf *head = NULL, *tail = NULL;
	size_t at = 0;

	do {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		size_t len;

		if (m == NULL) {
			rte_pktmbuf_free(head);
			return NULL;
		}
		len = RTE_MIN(pkt_len - at, (size_t)rte_pktmbuf_tailroom(m) - MBUF_TAIL);
		memset(m->buf_addr, MBUF_FILL, m->buf_len);
		write_pattern(rte_pktmbuf_mtod(m, uint8_t *), pkt_len, at, len);
		m->data_len = len;
		if (head == NULL) {
			head = m;
		} else {
			tail->next = m;
			head->nb_segs++;
		}
		tail = m;
		at += len;
	} while (at < pkt_len);
	head->pkt_len = pkt_len;
	return head;
}

/* Look at a packet that was dequeued. Returns what is wrong with it, or NULL. */
static inline const char *
check_packet(const struct rte_mbuf *m, size_t pkt_len)
{
	size_t at = 0;

	if (m->pkt_len != pkt_len)
		return "dequeued with another length";
	for (; m != NULL; m = m->next) {
		if (!is_pattern(rte_pktmbuf_mtod(m, const uint8_t *), pkt_len, at, m->data_len))
			return "dequeued with wrong bytes";
		at += m->data_len;
	}
	return at == pkt_len ? NULL : "dequeued into mbufs of another length";
}

/* Dequeue until nothing comes any more; a burst ends early where a packet is dropped. */
static inline unsigned int
dequeue_all(int vid, struct rte_mempool *pool, struct rte_mbuf **pkts, unsigned int num)
{
	unsigned int got = 0, tries;

	for (tries = 0; tries < 2 * num + 2; tries++)
		got += rte_vhost_dequeue_burst(vid, VHOST_FRONTEND_TX, pool, pkts + got, num - got);
	return got;
}

/* Areas that vhost, or whoever else, has from rte_malloc(). */
static inline unsigned int
num_allocated(void)
{
	struct rte_malloc_socket_stats stats;

	if (rte_malloc_get_socket_stats(rte_socket_id(), &stats) != 0)
		return 0;
	return stats.alloc_count;
}

#endif /* VHOST_PACKETS_H */
