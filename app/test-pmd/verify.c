/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_version.h>

#include "testpmd.h"

/*
 * The forwarding engine "verify" sends packets to a peer that sends them back, and checks what
 * comes. Each has a sequence number, which decides its size and each of its bytes: a wrong byte,
 * a stale one of an older packet included, makes the packet a corrupted one.
 */

#define ETHER_TYPE 0x88b5 /* for local experiments */
#define IN_FLIGHT_MAX 64  /* fits into the rings of the peer, which drops what does not */
#define PATIENCE_MS 2000  /* then what is on its way counts as lost */
#define SMALL 256         /* half of the packets are no larger */
#define SHIFT_MASK 63     /* packets begin anywhere in a cache line */

struct verify_hdr {
	struct rte_ether_hdr ether;
	uint16_t size;
	uint64_t sequence;
} __rte_packed;

struct verify {
	uint64_t sent;      /* the sequence number to send next */
	uint64_t next;      /* and the one that is to come next */
	uint64_t heard_tsc; /* when the last packet came, or was sent into an idle loop */
	uint64_t first;     /* what was sent first in this run */
	uint64_t right;
	uint64_t lost;
	uint64_t reordered;
	uint64_t corrupted;
	uint32_t max_size;
	struct fwd_stream *stream;
};

/* One port with one queue: sequence numbers go on from run to run. */
static struct verify verify;

/* Numbers that have little in common, each bit of them, for sequences that have much. */
static uint64_t
mix(uint64_t sequence)
{
	uint64_t x = (sequence + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return x ^ x >> 32;
}

static uint16_t
size_of(uint64_t sequence)
{
	uint64_t x = mix(sequence);
	uint32_t max = verify.max_size;

	if (x >> 63 != 0)
		max = RTE_MIN(max, (uint32_t)SMALL);
	return sizeof(struct verify_hdr) +
		(uint32_t)(x >> 8) % (max - sizeof(struct verify_hdr) + 1);
}

static void
fill_header(struct verify_hdr *hdr, uint64_t sequence, uint16_t size)
{
	memset(hdr, 0, sizeof(*hdr));
	/* two addresses that differ, and of one port only */
	hdr->ether.dst_addr.addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR;
	hdr->ether.src_addr.addr_bytes[0] = RTE_ETHER_LOCAL_ADMIN_ADDR;
	hdr->ether.src_addr.addr_bytes[5] = 1;
	hdr->ether.ether_type = RTE_BE16(ETHER_TYPE);
	hdr->size = size;
	hdr->sequence = sequence;
}

/* The payload: words that differ by place and by sequence number. */
static void
fill_payload(uint8_t *to, uint64_t sequence, uint32_t len)
{
	uint64_t word = mix(sequence);

	for (; len >= sizeof(word); len -= sizeof(word), to += sizeof(word)) {
		memcpy(to, &word, sizeof(word));
		word += UINT64_C(0xd1b54a32d192ed03);
	}
	memcpy(to, &word, len);
}

static bool
payload_is_right(const uint8_t *from, uint64_t sequence, uint32_t len)
{
	uint64_t word = mix(sequence), wrong = 0, found;

	for (; len >= sizeof(word); len -= sizeof(word), from += sizeof(word)) {
		memcpy(&found, from, sizeof(found));
		wrong |= found ^ word;
		word += UINT64_C(0xd1b54a32d192ed03);
	}
	return wrong == 0 && memcmp(from, &word, len) == 0;
}

/* Is each byte of the packet as it was sent? Then its number too. */
static bool
packet_is_right(const struct rte_mbuf *pkt, uint64_t *sequence)
{
	uint8_t buffer[RTE_MBUF_DEFAULT_DATAROOM];
	struct verify_hdr hdr, wanted;
	const uint8_t *data;
	uint32_t len = pkt->pkt_len;

	if (len < sizeof(hdr) || len > sizeof(buffer))
		return false;
	data = rte_pktmbuf_read(pkt, 0, len, buffer);
	if (data == NULL)
		return false;
	memcpy(&hdr, data, sizeof(hdr));
	*sequence = hdr.sequence;
	fill_header(&wanted, hdr.sequence, size_of(hdr.sequence));
	return memcmp(&hdr, &wanted, sizeof(hdr)) == 0 && hdr.size == len &&
		hdr.sequence < verify.sent &&
		payload_is_right(data + sizeof(hdr), hdr.sequence, len - sizeof(hdr));
}

static void
check_packet(const struct rte_mbuf *pkt)
{
	uint64_t sequence = 0;

	if (!packet_is_right(pkt, &sequence)) {
		verify.corrupted++;
		/* it stands for the one that was to come, else that would be lost as well */
		if (verify.next < verify.sent)
			verify.next++;
		return;
	}
	if (sequence < verify.next) {
		verify.reordered++;
		/* it was counted so when it was passed, but not if it came twice */
		if (verify.lost > 0)
			verify.lost--;
		return;
	}
	verify.lost += sequence - verify.next;
	verify.next = sequence + 1;
	verify.right++;
}

static void
count_burst(struct pkt_burst_stats *stats, uint16_t len)
{
	if (record_burst_stats)
		stats->pkt_burst_spread[len]++;
}

static uint16_t
receive(struct fwd_stream *fs)
{
	struct rte_mbuf *pkts[MAX_PKT_BURST];
	uint16_t i, count;

	count = rte_eth_rx_burst(fs->rx_port, fs->rx_queue, pkts, nb_pkt_per_burst);
	count_burst(&fs->rx_burst_stats, count);
	fs->rx_packets += count;
	for (i = 0; i < count; i++)
		check_packet(pkts[i]);
	rte_pktmbuf_free_bulk(pkts, count);
	if (count > 0)
		verify.heard_tsc = rte_rdtsc();
	return count;
}

static void
fill_packet(struct rte_mbuf *pkt, uint64_t sequence)
{
	uint16_t size = size_of(sequence);

	/* The driver puts its header before the packet: there is room left. */
	pkt->data_off -= (mix(sequence) >> 48) & SHIFT_MASK;
	pkt->data_len = size;
	pkt->pkt_len = size;
	fill_header(rte_pktmbuf_mtod(pkt, struct verify_hdr *), sequence, size);
	fill_payload(rte_pktmbuf_mtod_offset(pkt, uint8_t *, sizeof(struct verify_hdr)), sequence,
		size - sizeof(struct verify_hdr));
}

static uint16_t
transmit(struct fwd_stream *fs)
{
	struct rte_mbuf *pkts[IN_FLIGHT_MAX];
	uint64_t in_flight = verify.sent - verify.next;
	uint16_t i, sent, count;

	count = RTE_MIN((uint64_t)nb_pkt_per_burst, IN_FLIGHT_MAX - in_flight);
	if (count == 0 || rte_pktmbuf_alloc_bulk(current_fwd_lcore()->mbp, pkts, count) != 0)
		return 0;
	for (i = 0; i < count; i++)
		fill_packet(pkts[i], verify.sent + i);
	/* What has not come yet cannot be older than what it is checked against. */
	if (in_flight == 0)
		verify.heard_tsc = rte_rdtsc();
	sent = rte_eth_tx_burst(fs->tx_port, fs->tx_queue, pkts, count);
	verify.sent += sent;
	count_burst(&fs->tx_burst_stats, sent);
	fs->tx_packets += sent;
	rte_pktmbuf_free_bulk(&pkts[sent], count - sent);
	return sent;
}

static void
give_up_what_is_late(void)
{
	if (rte_rdtsc() - verify.heard_tsc > rte_get_tsc_hz() / MS_PER_S * PATIENCE_MS) {
		verify.lost += verify.sent - verify.next;
		verify.next = verify.sent;
	}
}

/* Returns whether there was work. */
static bool
receive_and_transmit(struct fwd_stream *fs)
{
	uint16_t received;

	verify.stream = fs;
	received = receive(fs);
	if (received == 0 && verify.next < verify.sent)
		give_up_what_is_late();
	return transmit(fs) > 0 || received > 0;
}

#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
static void
pkt_burst_verify(struct fwd_stream *fs)
{
	receive_and_transmit(fs);
}
#else
static bool
pkt_burst_verify(struct fwd_stream *fs)
{
	return receive_and_transmit(fs);
}
#endif

static int
verify_begin(portid_t pi)
{
	uint32_t room = RTE_MIN(mbuf_data_size[0], (uint32_t)RTE_MBUF_DEFAULT_BUF_SIZE);

	if (nb_fwd_ports != 1 || nb_rxq != 1 || nb_txq != 1) {
		fprintf(stderr,
			"verify: needs one port with one queue, not %u ports, %u and %u queues\n",
			nb_fwd_ports, nb_rxq, nb_txq);
		return -1;
	}
	room -= RTE_PKTMBUF_HEADROOM;
	if (tx_pkt_length < sizeof(struct verify_hdr) || tx_pkt_length > room) {
		fprintf(stderr, "verify: port %u: set txpkts to one length of %zu to %u, not %u\n",
			pi, sizeof(struct verify_hdr), room, tx_pkt_length);
		return -1;
	}
	verify.max_size = tx_pkt_length;
	verify.first = verify.sent;
	verify.right = verify.lost = verify.reordered = verify.corrupted = 0;
	return 0;
}

/* Forwarding has stopped: what is still on its way is waited for here. */
static void
verify_end(portid_t pi)
{
	while (verify.stream != NULL && verify.next < verify.sent) {
		if (receive(verify.stream) == 0)
			give_up_what_is_late();
	}
	printf("verify: port %u: %" PRIu64 " sent, %" PRIu64 " right, %" PRIu64 " lost, %" PRIu64
	       " reordered, %" PRIu64 " corrupted\n",
		pi, verify.sent - verify.first, verify.right, verify.lost, verify.reordered,
		verify.corrupted);
}

static void
verify_stream_init(struct fwd_stream *fs)
{
	fs->disabled = false;
}

struct fwd_engine verify_engine = {
	.fwd_mode_name = "verify",
	.port_fwd_begin = verify_begin,
	.port_fwd_end = verify_end,
	.stream_init = verify_stream_init,
	.packet_fwd = pkt_burst_verify,
};
