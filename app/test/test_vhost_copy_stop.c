/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * What becomes of packets when a device stops or goes in mid burst?
 *
 * One thread is the host, which sends and receives bursts all the time. The other one is
 * the guest, and stops the device again and again. Packets bear numbers: none may be
 * missing, come twice, or come with other bytes, and each mbuf is either vhost's to copy
 * or the host's to free.
 */

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <linux/virtio_ring.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_vhost.h>
#include <rte_vhost_copy.h>

#include "other_cpus.h"
#include "test.h"
#include "vhost_frontend.h"
#include "vhost_packets.h"

#define NUM_MBUFS 255
#define BURST 32
#define RING_SIZE 64
#define HDR_LEN 12
#define BUF_LEN 2048
#define MERGED_BUF_LEN 512
#define MAX_PKT_LEN 1500
#define NUM_STOPS 30
/* What the guest does between two stops, so that packets go both ways. */
#define NUM_TURNS 20
#define REGION_ADDR 0x100000
#define REGION_LEN (1024 * 1024)

#define MRG (1ULL << VIRTIO_NET_F_MRG_RXBUF)
#define PACKED (1ULL << VIRTIO_F_RING_PACKED)
#define IN_ORDER (1ULL << VIRTIO_F_IN_ORDER)

static const struct {
	const char *name;
	uint64_t features;
} kinds[] = {
	{ "split", 0 },
	{ "split, mergeable", MRG },
	{ "packed", PACKED },
	{ "packed, mergeable", PACKED | MRG },
	{ "packed, mergeable, in order", PACKED | MRG | IN_ORDER },
};

static struct rte_mempool *pool;
static struct vhost_frontend *frontend;
static uint64_t features;

/* --- packets with numbers --- */

static size_t
pkt_len_of(uint32_t number)
{
	static const size_t lens[] = { 60, 256, 257, 128, MAX_PKT_LEN };

	return lens[number % RTE_DIM(lens)];
}

static void
write_numbered(uint8_t *data, uint32_t number)
{
	memcpy(data, &number, sizeof(number));
	write_pattern(data + sizeof(number), number, 0, pkt_len_of(number) - sizeof(number));
}

static bool
is_numbered(const uint8_t *data, size_t len, uint32_t number)
{
	return len == pkt_len_of(number) && memcmp(data, &number, sizeof(number)) == 0 &&
		is_pattern(data + sizeof(number), number, 0, len - sizeof(number));
}

/* --- the host --- */

static struct {
	pthread_t thread;
	rte_cpuset_t cpus;
	bool other_cpus;
	bool stop;
	pthread_mutex_t lock; /* held during a burst, and guards what follows */
	struct rte_mbuf *pkts[BURST];
	unsigned int first; /* of the packets that are not sent yet */
	unsigned int num;
	uint32_t sent;
	uint32_t received;
	const char *fault;
	unsigned int gone_in_burst;
	unsigned int bursts; /* in each direction */
} host = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A burst with the next numbers. */
static void
refill(void)
{
	host.first = host.num = 0;
	while (host.num < BURST) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		const uint32_t number = host.sent + host.num;

		if (m == NULL)
			break;
		m->pkt_len = m->data_len = pkt_len_of(number);
		write_numbered(rte_pktmbuf_mtod(m, uint8_t *), number);
		host.pkts[host.num++] = m;
	}
}

/* Those that were not taken remain the host's, for the next burst. */
static void
send_burst(int vid)
{
	uint16_t num;

	if (host.first == host.num)
		refill();
	num = rte_vhost_enqueue_burst(
		vid, VHOST_FRONTEND_RX, host.pkts + host.first, host.num - host.first);
	rte_pktmbuf_free_bulk(host.pkts + host.first, num);
	host.first += num;
	host.sent += num;
}

static void
receive_burst(int vid)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t num = rte_vhost_dequeue_burst(vid, VHOST_FRONTEND_TX, pool, pkts, BURST), i;

	for (i = 0; i < num; i++) {
		if (!is_numbered(rte_pktmbuf_mtod(pkts[i], const uint8_t *), pkts[i]->pkt_len,
			    host.received))
			host.fault = "dequeued another packet than the next one";
		host.received++;
	}
	rte_pktmbuf_free_bulk(pkts, num);
}

static void
serve(void)
{
	int vid;

	pthread_mutex_lock(&host.lock);
	vid = frontend != NULL ? vhost_frontend_vid(frontend) : -1;
	if (vid >= 0) {
		send_burst(vid);
		receive_burst(vid);
		__atomic_store_n(&host.bursts, host.bursts + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&host.lock);
}

static void *
run_host(void *arg __rte_unused)
{
	if (host.other_cpus)
		move_to_cpus(&host.cpus);
	while (!__atomic_load_n(&host.stop, __ATOMIC_RELAXED)) {
		serve();
		/* Others wait for the lock. */
		sched_yield();
	}
	return NULL;
}

/* As vhost asks of each application: the device is there until no burst uses it. */
static void
on_gone(void)
{
	if (pthread_mutex_trylock(&host.lock) != 0) {
		pthread_mutex_lock(&host.lock);
		host.gone_in_burst++;
	}
	pthread_mutex_unlock(&host.lock);
}

static bool
start_host(void)
{
	host.other_cpus = get_other_cpus(&host.cpus);
	host.stop = false;
	return pthread_create(&host.thread, NULL, run_host, NULL) == 0;
}

static void
stop_host(void)
{
	__atomic_store_n(&host.stop, true, __ATOMIC_RELAXED);
	pthread_join(host.thread, NULL);
	rte_pktmbuf_free_bulk(host.pkts + host.first, host.num - host.first);
	host.first = host.num = 0;
}

/* Wait for bursts that have begun after this is called. */
static void
wait_bursts(void)
{
	const unsigned int before = __atomic_load_n(&host.bursts, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&host.bursts, __ATOMIC_ACQUIRE) - before < 3)
		sched_yield();
}

/* --- the guest --- */

static struct {
	uint8_t *bufs[VHOST_FRONTEND_QUEUES]; /* one for each descriptor */
	uint32_t posted[VHOST_FRONTEND_QUEUES];
	uint32_t polled[VHOST_FRONTEND_QUEUES];
	uint32_t received;      /* packets, which may be several buffers each */
	uint32_t posted_number; /* of the next packet to be sent */
	/* A packet that is not all there. */
	uint8_t packet[HDR_LEN + MAX_PKT_LEN];
	size_t len;
	unsigned int bufs_left;
	const char *fault;
} guest;

static uint8_t *
guest_buf(enum vhost_frontend_queue queue, uint32_t at)
{
	return guest.bufs[queue] + at % RING_SIZE * BUF_LEN;
}

static void
post_all(void)
{
	struct vhost_frontend_buf buf;

	for (;;) {
		buf.addr = guest_buf(VHOST_FRONTEND_RX, guest.posted[VHOST_FRONTEND_RX]);
		buf.len = (features & MRG) != 0 ? MERGED_BUF_LEN : BUF_LEN;
		if (vhost_frontend_post(frontend, VHOST_FRONTEND_RX, &buf, 1, false) < 0)
			break;
		guest.posted[VHOST_FRONTEND_RX]++;
	}
	while (guest.posted[VHOST_FRONTEND_TX] - guest.polled[VHOST_FRONTEND_TX] < RING_SIZE) {
		buf.addr = guest_buf(VHOST_FRONTEND_TX, guest.posted[VHOST_FRONTEND_TX]);
		buf.len = HDR_LEN + pkt_len_of(guest.posted_number);
		memset(buf.addr, 0, HDR_LEN);
		write_numbered((uint8_t *)buf.addr + HDR_LEN, guest.posted_number);
		if (vhost_frontend_post(frontend, VHOST_FRONTEND_TX, &buf, 1, false) < 0)
			break;
		guest.posted[VHOST_FRONTEND_TX]++;
		guest.posted_number++;
	}
}

/* Add a buffer to the packet that it belongs to. The first one tells how many there are. */
static void
take_buffer(const uint8_t *buf, uint32_t len)
{
	struct virtio_net_hdr_mrg_rxbuf hdr;

	if (guest.bufs_left == 0) {
		memcpy(&hdr, buf, sizeof(hdr));
		guest.bufs_left = (features & MRG) != 0 ? hdr.num_buffers : 1;
		guest.len = 0;
	}
	/* Used in order: told for the last one only. */
	if (len == 0)
		len = RTE_MIN(HDR_LEN + pkt_len_of(guest.received) - guest.len,
			(features & MRG) != 0 ? (size_t)MERGED_BUF_LEN : (size_t)BUF_LEN);
	if (guest.len + len > sizeof(guest.packet)) {
		guest.fault = "enqueued more than a packet";
		return;
	}
	memcpy(guest.packet + guest.len, buf, len);
	guest.len += len;
	if (--guest.bufs_left > 0)
		return;
	if (!is_numbered(guest.packet + HDR_LEN, guest.len - HDR_LEN, guest.received))
		guest.fault = "enqueued another packet than the next one";
	guest.received++;
}

static void
poll_all(void)
{
	uint32_t len;

	while (vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, &len) >= 0)
		take_buffer(guest_buf(VHOST_FRONTEND_RX, guest.polled[VHOST_FRONTEND_RX]++), len);
	while (vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0)
		guest.polled[VHOST_FRONTEND_TX]++;
}

/* The host is in no burst: what it has sent is all there, and what it has got is given back. */
static void
settle(void)
{
	pthread_mutex_lock(&host.lock);
	poll_all();
	if (guest.received != host.sent || guest.bufs_left != 0)
		guest.fault = "other packets are in the ring than vhost has taken";
	else if (guest.posted_number -
			(guest.posted[VHOST_FRONTEND_TX] - guest.polled[VHOST_FRONTEND_TX]) !=
		host.received)
		guest.fault = "other packets were given back than vhost has handed on";
	else if (host.fault != NULL)
		guest.fault = host.fault;
	pthread_mutex_unlock(&host.lock);
}

/* --- ways to stop --- */

static const char *
disable_and_enable(void)
{
	enum vhost_frontend_queue queue;
	uint32_t sent, received;

	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
		if (vhost_frontend_enable(frontend, queue, false) != 0)
			return "cannot disable a queue";
	settle();
	sent = guest.received;
	received = guest.polled[VHOST_FRONTEND_TX];
	post_all();
	wait_bursts();
	settle();
	if (guest.received != sent || guest.polled[VHOST_FRONTEND_TX] != received)
		return "vhost serves queues that are disabled";
	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
		if (vhost_frontend_enable(frontend, queue, true) != 0)
			return "cannot enable a queue";
	return NULL;
}

/* Memory is told of anew: it has other addresses in vhost then. */
static const char *
map_again(void)
{
	if (vhost_frontend_keep_regions(frontend, 1) != 0)
		return "cannot tell of memory";
	settle();
	return NULL;
}

static const char *
stop_and_start(void)
{
	int bases[VHOST_FRONTEND_QUEUES];
	enum vhost_frontend_queue queue;

	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++) {
		bases[queue] = vhost_frontend_stop(frontend, queue);
		if (bases[queue] < 0)
			return "cannot stop a queue";
	}
	settle();
	for (queue = 0; queue < VHOST_FRONTEND_QUEUES; queue++)
		if (bases[queue] != vhost_frontend_polled(frontend, queue))
			return "vhost tells of another place in a ring than it has come to";
	return vhost_frontend_start(frontend) == 0 ? NULL : "cannot start again";
}

/* What was not given back is in no ring any more: those packets are sent again. */
static void
on_reset(void)
{
	settle();
	guest.posted_number = host.received;
	memset(guest.posted, 0, sizeof(guest.posted));
	memset(guest.polled, 0, sizeof(guest.polled));
}

static const char *
reset_owner(void)
{
	const unsigned int allocated = num_allocated();

	if (vhost_frontend_reset(frontend, on_reset) != 0)
		return "cannot reset the device";
	if (num_allocated() != allocated)
		return "vhost keeps memory after a reset";
	if (rte_vhost_vring_stats_get(vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, NULL, 0) <=
		0)
		return "vhost does not count any more after a reset";
	return NULL;
}

/* vhost does not tell that it knows this message, and refuses it without harm. */
static const char *
reset_device(void)
{
	if (vhost_frontend_ask_reset(frontend) != 0)
		return "vhost does not refuse RESET_DEVICE";
	settle();
	return NULL;
}

/* Numbers go on where the host is: what is lost with a device is sent again. */
static const char *
create(void)
{
	const struct vhost_frontend_config config = {
		.features = features,
		.register_flags = RTE_VHOST_USER_NET_STATS_ENABLE,
		.gone = on_gone,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN } },
	};
	struct vhost_frontend *created = vhost_frontend_create(&config);
	size_t len;

	if (created == NULL)
		return "no device";
	memset(&guest, 0, sizeof(guest));
	guest.bufs[VHOST_FRONTEND_RX] = vhost_frontend_mem(created, 0, &len);
	guest.bufs[VHOST_FRONTEND_TX] = guest.bufs[VHOST_FRONTEND_RX] + RING_SIZE * BUF_LEN;
	guest.received = host.sent;
	guest.posted_number = host.received;
	pthread_mutex_lock(&host.lock);
	frontend = created;
	pthread_mutex_unlock(&host.lock);
	return NULL;
}

static void
destroy(void)
{
	struct vhost_frontend *old = frontend;

	pthread_mutex_lock(&host.lock);
	frontend = NULL;
	pthread_mutex_unlock(&host.lock);
	vhost_frontend_destroy(old);
}

/* The device goes, and with it the number by which the host knows it. */
static const char *
disconnect(void)
{
	const int vid = vhost_frontend_vid(frontend);
	uint32_t sent, received;

	if (vhost_frontend_disconnect(frontend) != 0)
		return "the device does not go";
	settle();
	destroy();
	pthread_mutex_lock(&host.lock);
	sent = host.sent;
	received = host.received;
	send_burst(vid);
	receive_burst(vid);
	pthread_mutex_unlock(&host.lock);
	if (host.sent != sent || host.received != received)
		return "packets are taken by a device that is gone";
	return guest.fault != NULL ? guest.fault : create();
}

/* --- questions --- */

#define NUM_GOING 30

/*
 * A thread that asks how a device copies while the device goes. An answer takes long while
 * another thread tries modes for another device.
 */
static struct {
	pthread_t thread;
	pthread_t calibrating;
	rte_cpuset_t cpus;
	bool other_cpus;
	bool stop;
	struct vhost_frontend *other;
	char other_path[64];
	bool present;       /* there is a device that is set up, or was and is going */
	unsigned int asked; /* questions that have been answered, or not */
	int vid;
	unsigned int answers;
	const char *fault;
} asker;

/* What vhost tells while a device is there, or goes, is of that device. */
static void
ask(void)
{
	const bool present = __atomic_load_n(&asker.present, __ATOMIC_ACQUIRE);
	struct rte_vhost_copy_histogram to_guest, from_guest;
	struct rte_vhost_copy_status status;
	const int vid = __atomic_load_n(&asker.vid, __ATOMIC_RELAXED);

	rte_vhost_get_copy_histogram(vid, &to_guest, &from_guest);
	if (rte_vhost_get_copy_status(vid, &status) != 0 || !present)
		return;
	asker.answers++;
	if (status.mode != RTE_VHOST_COPY_NARROW || !status.histogram)
		asker.fault = "vhost tells of a device that is gone";
}

static void *
run_asker(void *arg __rte_unused)
{
	if (asker.other_cpus)
		move_to_cpus(&asker.cpus);
	while (!__atomic_load_n(&asker.stop, __ATOMIC_RELAXED)) {
		ask();
		__atomic_store_n(&asker.asked, asker.asked + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Wait until no question is open that was asked before. */
static void
wait_asked(void)
{
	const unsigned int before = __atomic_load_n(&asker.asked, __ATOMIC_ACQUIRE);

	while (__atomic_load_n(&asker.asked, __ATOMIC_ACQUIRE) - before < 2)
		sched_yield();
}

/* Have modes tried again and again. */
static void *
run_calibrating(void *arg __rte_unused)
{
	struct rte_mbuf *m;

	while (!__atomic_load_n(&asker.stop, __ATOMIC_RELAXED)) {
		/* Let the others have what is locked meanwhile. */
		rte_delay_us_sleep(100);
		rte_vhost_driver_set_copy_mode(asker.other_path, RTE_VHOST_COPY_CALIBRATE);
		rte_vhost_dequeue_burst(
			vhost_frontend_vid(asker.other), VHOST_FRONTEND_TX, pool, &m, 1);
	}
	return NULL;
}

static int
keep_path(const char *path)
{
	snprintf(asker.other_path, sizeof(asker.other_path), "%s", path);
	return 0;
}

static int
set_copy(const char *path)
{
	return rte_vhost_driver_set_copy_mode(path, RTE_VHOST_COPY_NARROW) |
		rte_vhost_driver_set_copy_histogram(path, true);
}

static struct vhost_frontend *
create_asked(int (*registered)(const char *path))
{
	const struct vhost_frontend_config config = {
		.registered = registered,
		.ring_size = RING_SIZE,
		.num_regions = 1,
		.regions = { { .guest_addr = REGION_ADDR, .len = REGION_LEN } },
	};

	return vhost_frontend_create(&config);
}

/* A device comes and goes, whatever the other threads are doing. */
static const char *
go_often(void)
{
	struct vhost_frontend *asked;
	unsigned int i;

	for (i = 1; i <= NUM_GOING && asker.fault == NULL; i++) {
		asked = create_asked(set_copy);
		if (asked == NULL)
			return "no device";
		__atomic_store_n(&asker.vid, vhost_frontend_vid(asked), __ATOMIC_RELAXED);
		__atomic_store_n(&asker.present, true, __ATOMIC_RELEASE);
		/* Until somebody asks. */
		rte_delay_us_sleep(1000);
		vhost_frontend_destroy(asked);
		__atomic_store_n(&asker.present, false, __ATOMIC_RELEASE);
		wait_asked();
	}
	return asker.fault;
}

static const char *
run_questions(void)
{
	const char *fault;

	asker.stop = false;
	if (pthread_create(&asker.thread, NULL, run_asker, NULL) != 0)
		return "no thread";
	if (pthread_create(&asker.calibrating, NULL, run_calibrating, NULL) == 0) {
		fault = go_often();
		__atomic_store_n(&asker.stop, true, __ATOMIC_RELAXED);
		pthread_join(asker.calibrating, NULL);
	} else {
		fault = "no second thread";
	}
	__atomic_store_n(&asker.stop, true, __ATOMIC_RELAXED);
	pthread_join(asker.thread, NULL);
	return fault == NULL && asker.answers == 0 ? "nothing was answered" : fault;
}

static int
test_questions(void)
{
	const char *fault = "no device";

	asker.other_cpus = get_other_cpus(&asker.cpus);
	asker.other = create_asked(keep_path);
	if (asker.other != NULL)
		fault = run_questions();
	vhost_frontend_destroy(asker.other);
	if (fault != NULL)
		printf("questions: %s\n", fault);
	else
		printf("questions: %u answers while %u devices went\n", asker.answers, NUM_GOING);
	return fault == NULL ? 0 : -1;
}

/* --- all --- */

static const struct {
	const char *name;
	const char *(*run)(void);
	bool gone; /* vhost lets go of the device */
} ways[] = {
	{ "disabled queues", disable_and_enable, false },
	{ "other memory", map_again, false },
	{ "stop and start", stop_and_start, true },
	{ "RESET_OWNER", reset_owner, true },
	{ "RESET_DEVICE", reset_device, false },
	{ "no device", disconnect, true },
};

/* Packets go both ways, and then the device stops, whatever the host is doing. */
static const char *
stop_often(const char *(*stop)(void))
{
	const uint32_t sent = host.sent, received = host.received;
	const char *fault = NULL;
	unsigned int i, turn;

	for (i = 0; i < NUM_STOPS && fault == NULL; i++) {
		for (turn = 0; turn < NUM_TURNS; turn++) {
			post_all();
			/* With one CPU this is what has the host run. */
			sched_yield();
			poll_all();
		}
		post_all();
		fault = stop();
		if (fault == NULL)
			fault = guest.fault;
	}
	if (fault == NULL && (host.sent == sent || host.received == received))
		fault = "no packets";
	return fault;
}

static int
test_way(unsigned int kind, unsigned int way)
{
	const unsigned int mbufs = rte_mempool_avail_count(pool);
	const char *fault;

	features = kinds[kind].features;
	host.sent = host.received = 0;
	host.fault = NULL;
	host.gone_in_burst = 0;
	fault = create();
	if (fault == NULL && !start_host())
		fault = "no thread";
	if (fault == NULL) {
		fault = stop_often(ways[way].run);
		stop_host();
	}
	if (fault == NULL && rte_mempool_avail_count(pool) != mbufs)
		fault = "mbufs are lost";
	destroy();
	if (fault != NULL)
		printf("%s, %s: %s\n", kinds[kind].name, ways[way].name, fault);
	else if (ways[way].gone)
		printf("%s, %s: %u of %u in mid burst\n", kinds[kind].name, ways[way].name,
			host.gone_in_burst, NUM_STOPS);
	return fault == NULL ? 0 : -1;
}

static int
test_vhost_copy_stop(void)
{
	unsigned int kind, way;
	int ret = 0;

	pool = rte_pktmbuf_pool_create(
		"vhost_copy_stop", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (pool == NULL) {
		printf("no memory for mbufs\n");
		return -1;
	}
	/* Of messages that are refused, and devices that are gone. */
	rte_log_set_level_pattern("lib.vhost.*", RTE_LOG_CRIT);
	for (kind = 0; kind < RTE_DIM(kinds); kind++)
		for (way = 0; way < RTE_DIM(ways); way++)
			if (test_way(kind, way) != 0)
				ret = -1;
	if (test_questions() != 0)
		ret = -1;
	rte_mempool_free(pool);
	return ret;
}

REGISTER_TEST_COMMAND(vhost_copy_stop_autotest, test_vhost_copy_stop);
