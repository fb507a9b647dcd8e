/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vhost_types.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_vhost.h>

#include "vhost_frontend.h"
#include "vhost_frontend_ring.h"

/* Devices that can be there at a time. */
#define MAX_FRONTENDS 8
/* Until vhost has answered, or has taken or given up a device. */
#define TIMEOUT_S 10

/* --- messages of vhost-user --- */

enum request {
	GET_FEATURES = 1,
	SET_FEATURES = 2,
	SET_OWNER = 3,
	RESET_OWNER = 4,
	SET_MEM_TABLE = 5,
	SET_LOG_BASE = 6,
	SET_VRING_NUM = 8,
	SET_VRING_ADDR = 9,
	SET_VRING_BASE = 10,
	GET_VRING_BASE = 11,
	SET_VRING_KICK = 12,
	SET_VRING_CALL = 13,
	GET_PROTOCOL_FEATURES = 15,
	SET_PROTOCOL_FEATURES = 16,
	SET_VRING_ENABLE = 18,
	SET_BACKEND_REQ_FD = 21,
	IOTLB_MSG = 22,
	RESET_DEVICE = 34,
};

/* On the back-end channel vhost is the one that asks. */
#define BACKEND_IOTLB_MSG 1

#define PAGE_LEN 4096

#define MSG_VERSION 1
#define MSG_IS_REPLY (1 << 2)
#define MSG_NEEDS_REPLY (1 << 3)
#define MSG_HDR_LEN 12
#define FEATURE_LOG_ALL 26
#define FEATURE_PROTOCOL 30
/* Bits of the protocol; for some the names of rte_vhost.h differ by release. */
#define PROTOCOL_LOG_SHMFD (1ULL << 1)
#define PROTOCOL_REPLY_ACK (1ULL << 3)
#define PROTOCOL_BACKEND_REQ (1ULL << 5)
/* As linux/virtio_config.h has it; it was called IOMMU_PLATFORM before. */
#define FEATURE_ACCESS_PLATFORM 33

struct mem_table {
	uint32_t num_regions;
	uint32_t padding;
	struct {
		uint64_t guest_addr;
		uint64_t len;
		uint64_t user_addr;
		uint64_t offset;
	} regions[VHOST_FRONTEND_MAX_REGIONS];
};

struct msg {
	uint32_t request;
	uint32_t flags;
	uint32_t len; /* of what follows */
	union {
		uint64_t value;
		struct vhost_vring_state state;
		struct vhost_vring_addr addr;
		struct mem_table mem;
		struct {
			uint64_t len;
			uint64_t offset;
		} log;
		struct vhost_iotlb_msg iotlb;
	};
} __attribute__((__packed__));

struct vhost_frontend {
	struct vhost_frontend_config config;
	char path[64];
	int socket;
	int backend_socket; /* our end of the back-end channel; -1: there is none */
	int vid;            /* -1: vhost has no device */
	bool ready[VHOST_FRONTEND_QUEUES];
	bool has_ring_log[VHOST_FRONTEND_QUEUES]; /* one that is not where the ring is */
	uint64_t ring_log[VHOST_FRONTEND_QUEUES];
	uint8_t *mem[VHOST_FRONTEND_MAX_REGIONS];
	int mem_fd[VHOST_FRONTEND_MAX_REGIONS];
	size_t rings_len;
	uint8_t *log; /* a bit for each page, from guest-physical address 0 on */
	size_t log_len;
	int log_fd;
	struct vhost_frontend_ring rings[VHOST_FRONTEND_QUEUES];
	uint16_t bases[VHOST_FRONTEND_QUEUES]; /* where vhost begins */
	int kick_fd[VHOST_FRONTEND_QUEUES];
	int call_fd[VHOST_FRONTEND_QUEUES];
};

static struct vhost_frontend *frontends[MAX_FRONTENDS];

/* --- what vhost tells --- */

static struct vhost_frontend *
find_frontend(int vid)
{
	char path[sizeof(frontends[0]->path)];
	unsigned int i;

	if (rte_vhost_get_ifname(vid, path, sizeof(path)) != 0)
		return NULL;
	for (i = 0; i < MAX_FRONTENDS; i++)
		if (frontends[i] != NULL && strcmp(frontends[i]->path, path) == 0)
			return frontends[i];
	return NULL;
}

static int
on_new_device(int vid)
{
	struct vhost_frontend *frontend = find_frontend(vid);

	if (frontend == NULL)
		return -1;
	__atomic_store_n(&frontend->vid, vid, __ATOMIC_RELEASE);
	return 0;
}

static void
on_destroy_device(int vid)
{
	struct vhost_frontend *frontend = find_frontend(vid);

	if (frontend == NULL)
		return;
	__atomic_store_n(&frontend->vid, -1, __ATOMIC_RELEASE);
	if (frontend->config.gone != NULL)
		frontend->config.gone();
}

static int
on_vring_state(int vid, uint16_t queue, int enable)
{
	struct vhost_frontend *frontend = find_frontend(vid);

	if (frontend != NULL && queue < VHOST_FRONTEND_QUEUES)
		__atomic_store_n(&frontend->ready[queue], enable != 0, __ATOMIC_RELEASE);
	return 0;
}

static const struct rte_vhost_device_ops device_ops = {
	.new_device = on_new_device,
	.destroy_device = on_destroy_device,
	.vring_state_changed = on_vring_state,
};

static int
wait_device(const struct vhost_frontend *frontend, bool present)
{
	const uint64_t end = rte_get_timer_cycles() + TIMEOUT_S * rte_get_timer_hz();

	while ((__atomic_load_n(&frontend->vid, __ATOMIC_ACQUIRE) >= 0) != present) {
		if (rte_get_timer_cycles() > end) {
			printf("vhost front end: device not %s after %d s\n",
				present ? "ready" : "gone", TIMEOUT_S);
			return -1;
		}
		rte_delay_us_sleep(100);
	}
	return 0;
}

/* --- the socket --- */

static int
fail(const char *what)
{
	printf("vhost front end: %s: %s\n", what, strerror(errno));
	return -1;
}

static void
close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static int
send_msg(const struct vhost_frontend *frontend, const struct msg *msg, const int *fds,
	unsigned int num_fds)
{
	char control[CMSG_SPACE(sizeof(int) * VHOST_FRONTEND_MAX_REGIONS)];
	struct iovec part = { .iov_base = (void *)(uintptr_t)msg,
		.iov_len = MSG_HDR_LEN + msg->len };
	struct msghdr hdr = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;

	if (num_fds > 0) {
		memset(control, 0, sizeof(control));
		hdr.msg_control = control;
		hdr.msg_controllen = CMSG_SPACE(sizeof(int) * num_fds);
		cmsg = CMSG_FIRSTHDR(&hdr);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * num_fds);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * num_fds);
	}
	if (sendmsg(frontend->socket, &hdr, MSG_NOSIGNAL) != (ssize_t)part.iov_len)
		return fail("cannot send a message");
	return 0;
}

static bool
has_iommu(const struct vhost_frontend *frontend)
{
	return (frontend->config.features >> FEATURE_ACCESS_PLATFORM) & 1;
}

static int
receive_reply(const struct vhost_frontend *frontend, uint32_t request, struct msg *reply)
{
	if (recv(frontend->socket, reply, MSG_HDR_LEN, MSG_WAITALL) != MSG_HDR_LEN)
		return fail("no answer");
	if (reply->request != request || (reply->flags & MSG_IS_REPLY) == 0 ||
		reply->len > sizeof(*reply) - MSG_HDR_LEN) {
		printf("vhost front end: answer to %u instead of %u, %u bytes\n", reply->request,
			request, reply->len);
		return -1;
	}
	if (reply->len != 0 &&
		recv(frontend->socket, &reply->value, reply->len, MSG_WAITALL) !=
			(ssize_t)reply->len)
		return fail("half an answer");
	return 0;
}

/* Ask for a value, or the state of a ring, which comes back in the message. */
static int
ask(const struct vhost_frontend *frontend, enum request request, struct msg *msg)
{
	msg->request = request;
	msg->flags = MSG_VERSION;
	if (send_msg(frontend, msg, NULL, 0) != 0)
		return -1;
	return receive_reply(frontend, request, msg);
}

/* Tell vhost something, and wait until it has been done. */
static int
tell(const struct vhost_frontend *frontend, enum request request, struct msg *msg, size_t len,
	const int *fds, unsigned int num_fds)
{
	/* Not before vhost knows that it may be asked for replies. */
	bool replies = request != SET_PROTOCOL_FEATURES;
	/* To SET_LOG_BASE there is an answer without a value. */
	struct msg reply = { .value = 0 };

	msg->request = request;
	msg->flags = MSG_VERSION | (replies ? MSG_NEEDS_REPLY : 0);
	msg->len = len;
	if (send_msg(frontend, msg, fds, num_fds) != 0)
		return -1;
	if (!replies)
		return 0;
	if (receive_reply(frontend, request, &reply) != 0)
		return -1;
	if (reply.value != 0) {
		printf("vhost front end: vhost refused message %u\n", request);
		return -1;
	}
	return 0;
}

static int
tell_value(const struct vhost_frontend *frontend, enum request request, uint64_t value)
{
	struct msg msg = { .value = value };

	return tell(frontend, request, &msg, sizeof(msg.value), NULL, 0);
}

static int
tell_state(const struct vhost_frontend *frontend, enum request request, unsigned int queue,
	unsigned int num)
{
	struct msg msg = { .state = { .index = queue, .num = num } };

	return tell(frontend, request, &msg, sizeof(msg.state), NULL, 0);
}

static int
tell_fd(const struct vhost_frontend *frontend, enum request request, unsigned int queue, int fd)
{
	struct msg msg = { .value = queue };

	return tell(frontend, request, &msg, sizeof(msg.value), &fd, 1);
}

/*
 * Have vhost connect to us. Were it the one that listens, it would see a new socket
 * only after a second, when the poll of its thread next times out.
 */
static int
connect_vhost(struct vhost_frontend *frontend, int listener)
{
	struct timeval timeout = { .tv_sec = TIMEOUT_S };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strcpy(addr.sun_path, frontend->path);
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) != 0 || listen(listener, 1) != 0)
		return fail("cannot listen");
	if (rte_vhost_driver_start(frontend->path) != 0) {
		printf("vhost front end: cannot start vhost on %s\n", frontend->path);
		return -1;
	}
	frontend->socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (frontend->socket < 0)
		return fail("vhost has not connected");
	setsockopt(frontend->socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return 0;
}

static int
start_vhost(struct vhost_frontend *frontend)
{
	const uint64_t flags = frontend->config.register_flags | RTE_VHOST_USER_CLIENT |
		RTE_VHOST_USER_NO_RECONNECT |
		(has_iommu(frontend) ? RTE_VHOST_USER_IOMMU_SUPPORT : 0);
	int listener, ret;

	if (rte_vhost_driver_register(frontend->path, flags) != 0 ||
		rte_vhost_driver_callback_register(frontend->path, &device_ops) != 0) {
		printf("vhost front end: cannot register %s\n", frontend->path);
		return -1;
	}
	if (frontend->config.registered != NULL && frontend->config.registered(frontend->path) != 0)
		return -1;
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return fail("cannot make a socket");
	ret = connect_vhost(frontend, listener);
	unlink(frontend->path);
	close(listener);
	return ret;
}

/* --- set-up --- */

static int
negotiate(const struct vhost_frontend *frontend)
{
	const uint64_t protocol = PROTOCOL_REPLY_ACK |
		(has_iommu(frontend) ? PROTOCOL_BACKEND_REQ : 0) |
		(frontend->config.dirty_log ? PROTOCOL_LOG_SHMFD : 0);
	uint64_t wanted = frontend->config.features | 1ULL << FEATURE_PROTOCOL |
		(uint64_t)frontend->config.dirty_log << FEATURE_LOG_ALL;
	struct msg msg = { .len = 0 };

	if (ask(frontend, GET_FEATURES, &msg) != 0)
		return -1;
	if ((wanted & ~msg.value) != 0) {
		printf("vhost front end: vhost lacks features 0x%" PRIx64 "\n",
			wanted & ~msg.value);
		return -1;
	}
	msg.len = 0;
	if (ask(frontend, GET_PROTOCOL_FEATURES, &msg) != 0)
		return -1;
	if ((msg.value & protocol) != protocol) {
		printf("vhost front end: vhost lacks protocol features 0x%" PRIx64 "\n",
			protocol & ~msg.value);
		return -1;
	}
	msg.len = 0;
	if (tell_value(frontend, SET_PROTOCOL_FEATURES, protocol) != 0 ||
		tell(frontend, SET_OWNER, &msg, 0, NULL, 0) != 0)
		return -1;
	return tell_value(frontend, SET_FEATURES, wanted);
}

/* Give vhost its end of the channel over which it asks for translations. */
static int
open_backend_channel(struct vhost_frontend *frontend)
{
	struct msg msg = { .len = 0 };
	int ends[2], ret;

	if (!has_iommu(frontend))
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return fail("cannot make a back-end channel");
	frontend->backend_socket = ends[0];
	ret = tell(frontend, SET_BACKEND_REQ_FD, &msg, 0, &ends[1], 1);
	close(ends[1]);
	return ret;
}

/* Make memory that vhost can map too. */
static int
make_shared(size_t len, uint8_t **mem, int *fd)
{
	void *addr;

	*fd = memfd_create("vhost_frontend", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, len) != 0)
		return fail("cannot make shared memory");
	addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (addr == MAP_FAILED)
		return fail("cannot map shared memory");
	*mem = addr;
	return 0;
}

static int
make_memory(struct vhost_frontend *frontend)
{
	const struct vhost_frontend_config *config = &frontend->config;
	uint64_t end = 0;
	unsigned int i;

	for (i = 0; i < config->num_regions; i++) {
		if (make_shared(config->regions[i].len, &frontend->mem[i], &frontend->mem_fd[i]) !=
			0)
			return -1;
		end = RTE_MAX(end, config->regions[i].guest_addr + config->regions[i].len);
	}
	if (!config->dirty_log)
		return 0;
	frontend->log_len = RTE_ALIGN_CEIL(end / PAGE_LEN / 8 + 1, (size_t)PAGE_LEN);
	return make_shared(frontend->log_len, &frontend->log, &frontend->log_fd);
}

/* After the rings, as vhost has a cache of the log for each that it knows. */
static int
tell_log(const struct vhost_frontend *frontend)
{
	struct msg msg = { .log = { .len = frontend->log_len } };

	if (!frontend->config.dirty_log)
		return 0;
	return tell(frontend, SET_LOG_BASE, &msg, sizeof(msg.log), &frontend->log_fd, 1);
}

static int
tell_memory(const struct vhost_frontend *frontend, unsigned int num_regions)
{
	const struct vhost_frontend_config *config = &frontend->config;
	struct msg msg = { .mem = { .num_regions = num_regions } };
	unsigned int i;

	for (i = 0; i < num_regions; i++) {
		msg.mem.regions[i].guest_addr = config->regions[i].guest_addr;
		msg.mem.regions[i].len = config->regions[i].len;
		msg.mem.regions[i].user_addr = (uintptr_t)frontend->mem[i];
	}
	return tell(frontend, SET_MEM_TABLE, &msg, 8 + num_regions * sizeof(msg.mem.regions[0]),
		frontend->mem_fd, num_regions);
}

/* Guest-physical address of memory that this process has; 0 if it is not the guest's. */
static uint64_t
guest_addr(const struct vhost_frontend *frontend, const void *addr)
{
	const struct vhost_frontend_config *config = &frontend->config;
	const uint8_t *byte = addr;
	unsigned int i;

	for (i = 0; i < config->num_regions; i++)
		if (byte >= frontend->mem[i] && byte < frontend->mem[i] + config->regions[i].len)
			return config->regions[i].guest_addr + (byte - frontend->mem[i]);
	return 0;
}

uint64_t
vhost_frontend_iova(const struct vhost_frontend *frontend, const void *addr)
{
	uint64_t gpa = guest_addr(frontend, addr);

	return gpa == 0 || !has_iommu(frontend) ? gpa : gpa + frontend->config.iova_offset;
}

/* What SET_VRING_ADDR tells: without an IOMMU vhost translates as for SET_MEM_TABLE. */
static uint64_t
ring_addr(const struct vhost_frontend *frontend, const void *addr)
{
	return has_iommu(frontend) ? vhost_frontend_iova(frontend, addr) : (uintptr_t)addr;
}

static int
make_ring(struct vhost_frontend *frontend, unsigned int queue)
{
	uint8_t *mem = frontend->mem[0] + frontend->rings_len;

	frontend->rings_len += vhost_frontend_ring_len(frontend->config.ring_size);
	if (frontend->rings_len > frontend->config.regions[0].len) {
		printf("vhost front end: region 0 is too small for the rings\n");
		return -1;
	}
	frontend->kick_fd[queue] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	frontend->call_fd[queue] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (frontend->kick_fd[queue] < 0 || frontend->call_fd[queue] < 0 ||
		vhost_frontend_ring_init(&frontend->rings[queue], queue, &frontend->config, mem) !=
			0)
		return fail("cannot make a ring");
	frontend->bases[queue] = vhost_frontend_ring_polled(&frontend->rings[queue]);
	return 0;
}

static int
tell_ring_addr(const struct vhost_frontend *frontend, unsigned int queue)
{
	const struct vhost_frontend_ring *ring = &frontend->rings[queue];
	struct msg msg = { .addr = {
				   .index = queue,
				   .desc_user_addr = ring_addr(frontend, ring->desc),
				   .used_user_addr = ring_addr(frontend, ring->used),
				   .avail_user_addr = ring_addr(frontend, ring->avail),
			   } };

	if (frontend->config.dirty_log) {
		msg.addr.flags = 1 << VHOST_VRING_F_LOG;
		/* What the device writes of a packed ring is in the descriptors. */
		msg.addr.log_guest_addr = vhost_frontend_iova(
			frontend, ring->packed ? (void *)ring->desc : ring->used);
		if (frontend->has_ring_log[queue])
			msg.addr.log_guest_addr = frontend->ring_log[queue];
	}
	return tell(frontend, SET_VRING_ADDR, &msg, sizeof(msg.addr), NULL, 0);
}

int
vhost_frontend_move_ring_log(
	struct vhost_frontend *frontend, enum vhost_frontend_queue queue, uint64_t iova)
{
	frontend->has_ring_log[queue] = true;
	frontend->ring_log[queue] = iova;
	return tell_ring_addr(frontend, queue);
}

int
vhost_frontend_tell_ring(struct vhost_frontend *frontend, enum vhost_frontend_queue queue,
	enum vhost_frontend_ring_msg ring_msg)
{
	const struct vhost_frontend_ring *ring = &frontend->rings[queue];

	switch (ring_msg) {
	case VHOST_FRONTEND_RING_NUM:
		return tell_state(frontend, SET_VRING_NUM, queue, ring->size);
	case VHOST_FRONTEND_RING_BASE:
		return tell_state(frontend, SET_VRING_BASE, queue, frontend->bases[queue]);
	case VHOST_FRONTEND_RING_ADDR:
		return tell_ring_addr(frontend, queue);
	case VHOST_FRONTEND_RING_CALL:
		return tell_fd(frontend, SET_VRING_CALL, queue, frontend->call_fd[queue]);
	case VHOST_FRONTEND_RING_KICK:
		return tell_fd(frontend, SET_VRING_KICK, queue, frontend->kick_fd[queue]);
	default:
		return tell_state(frontend, SET_VRING_ENABLE, queue, 1);
	}
}

static int
tell_ring(struct vhost_frontend *frontend, unsigned int queue)
{
	unsigned int i;

	for (i = 0; i < VHOST_FRONTEND_RING_MSGS; i++)
		if (vhost_frontend_tell_ring(frontend, queue, i) != 0)
			return -1;
	return 0;
}

/*
 * With an IOMMU vhost has missed the rings when it was told of them. Now it gets them
 * in one range, and what it has asked for is answered thereby.
 */
static int
map_rings(struct vhost_frontend *frontend)
{
	struct vhost_frontend_miss miss;
	uint64_t iova = vhost_frontend_iova(frontend, frontend->mem[0]);
	int ret;

	if (!has_iommu(frontend))
		return 0;
	if (vhost_frontend_iotlb_update(
		    frontend, iova, frontend->mem[0], frontend->rings_len, VHOST_ACCESS_RW) != 0)
		return -1;
	do {
		ret = vhost_frontend_next_miss(frontend, &miss);
	} while (ret > 0);
	return ret;
}

static int
start_device(struct vhost_frontend *frontend)
{
	unsigned int i;

	if (make_memory(frontend) != 0 || start_vhost(frontend) != 0 || negotiate(frontend) != 0 ||
		open_backend_channel(frontend) != 0 ||
		tell_memory(frontend, frontend->config.num_regions) != 0)
		return -1;
	for (i = 0; i < VHOST_FRONTEND_QUEUES; i++)
		if (make_ring(frontend, i) != 0)
			return -1;
	if (frontend->config.iotlb_before_rings && map_rings(frontend) != 0)
		return -1;
	for (i = 0; i < VHOST_FRONTEND_QUEUES; i++)
		if (tell_ring(frontend, i) != 0)
			return -1;
	if (map_rings(frontend) != 0 || tell_log(frontend) != 0)
		return -1;
	return wait_device(frontend, true);
}

struct vhost_frontend *
vhost_frontend_create(const struct vhost_frontend_config *config)
{
	struct vhost_frontend *frontend = calloc(1, sizeof(*frontend));
	unsigned int i, slot = 0;

	while (slot < MAX_FRONTENDS && frontends[slot] != NULL)
		slot++;
	if (frontend == NULL || slot == MAX_FRONTENDS) {
		printf("vhost front end: no room for another one\n");
		free(frontend);
		return NULL;
	}
	frontend->config = *config;
	if (!config->legacy)
		frontend->config.features |= 1ULL << VIRTIO_F_VERSION_1;
	frontend->vid = -1;
	frontend->socket = -1;
	frontend->backend_socket = -1;
	frontend->log_fd = -1;
	for (i = 0; i < VHOST_FRONTEND_MAX_REGIONS; i++)
		frontend->mem_fd[i] = -1;
	for (i = 0; i < VHOST_FRONTEND_QUEUES; i++)
		frontend->kick_fd[i] = frontend->call_fd[i] = -1;
	snprintf(frontend->path, sizeof(frontend->path), "/tmp/vhost_frontend.%d.%u", getpid(),
		slot);
	frontends[slot] = frontend;
	if (start_device(frontend) == 0)
		return frontend;
	vhost_frontend_destroy(frontend);
	return NULL;
}

/* --- stop and restart --- */

int
vhost_frontend_disconnect(struct vhost_frontend *frontend)
{
	close_fd(frontend->socket);
	close_fd(frontend->backend_socket);
	frontend->socket = frontend->backend_socket = -1;
	return wait_device(frontend, false);
}

int
vhost_frontend_enable(struct vhost_frontend *frontend, enum vhost_frontend_queue queue, bool enable)
{
	return tell_state(frontend, SET_VRING_ENABLE, queue, enable);
}

int
vhost_frontend_stop(struct vhost_frontend *frontend, enum vhost_frontend_queue queue)
{
	struct msg msg = { .len = sizeof(msg.state), .state = { .index = queue } };

	if (ask(frontend, GET_VRING_BASE, &msg) != 0)
		return -1;
	frontend->bases[queue] = msg.state.num;
	return frontend->bases[queue];
}

int
vhost_frontend_polled(struct vhost_frontend *frontend, enum vhost_frontend_queue queue)
{
	return vhost_frontend_ring_polled(&frontend->rings[queue]);
}

int
vhost_frontend_start(struct vhost_frontend *frontend)
{
	unsigned int i;

	for (i = 0; i < VHOST_FRONTEND_QUEUES; i++)
		if (tell_ring(frontend, i) != 0)
			return -1;
	return wait_device(frontend, true);
}

/* Forget what was in the rings. */
static int
empty_rings(struct vhost_frontend *frontend)
{
	const size_t len = frontend->rings_len / VHOST_FRONTEND_QUEUES;
	unsigned int i;

	memset(frontend->mem[0], 0, frontend->rings_len);
	for (i = 0; i < VHOST_FRONTEND_QUEUES; i++) {
		vhost_frontend_ring_fini(&frontend->rings[i]);
		memset(&frontend->rings[i], 0, sizeof(frontend->rings[i]));
		if (vhost_frontend_ring_init(&frontend->rings[i], i, &frontend->config,
			    frontend->mem[0] + i * len) != 0)
			return fail("cannot make a ring");
		frontend->bases[i] = vhost_frontend_ring_polled(&frontend->rings[i]);
	}
	return 0;
}

int
vhost_frontend_reset(struct vhost_frontend *frontend, void (*stopped)(void))
{
	struct msg msg = { .len = 0 };

	if (tell(frontend, RESET_OWNER, &msg, 0, NULL, 0) != 0)
		return -1;
	stopped();
	if (empty_rings(frontend) != 0 || negotiate(frontend) != 0 ||
		tell_memory(frontend, frontend->config.num_regions) != 0)
		return -1;
	return vhost_frontend_start(frontend);
}

int
vhost_frontend_ask_reset(struct vhost_frontend *frontend)
{
	struct msg reply, msg = { .request = RESET_DEVICE, .flags = MSG_VERSION | MSG_NEEDS_REPLY };

	if (send_msg(frontend, &msg, NULL, 0) != 0 ||
		receive_reply(frontend, RESET_DEVICE, &reply) != 0)
		return -1;
	return reply.value == 0;
}

/* --- end --- */

void
vhost_frontend_destroy(struct vhost_frontend *frontend)
{
	unsigned int i;

	if (frontend == NULL)
		return;
	vhost_frontend_disconnect(frontend);
	rte_vhost_driver_unregister(frontend->path);
	for (i = 0; i < VHOST_FRONTEND_QUEUES; i++) {
		vhost_frontend_ring_fini(&frontend->rings[i]);
		close_fd(frontend->kick_fd[i]);
		close_fd(frontend->call_fd[i]);
	}
	for (i = 0; i < frontend->config.num_regions; i++) {
		if (frontend->mem[i] != NULL)
			munmap(frontend->mem[i], frontend->config.regions[i].len);
		close_fd(frontend->mem_fd[i]);
	}
	if (frontend->log != NULL)
		munmap(frontend->log, frontend->log_len);
	close_fd(frontend->log_fd);
	for (i = 0; i < MAX_FRONTENDS; i++)
		if (frontends[i] == frontend)
			frontends[i] = NULL;
	free(frontend);
}

/* --- questions --- */

int
vhost_frontend_vid(const struct vhost_frontend *frontend)
{
	return __atomic_load_n(&frontend->vid, __ATOMIC_ACQUIRE);
}

size_t
vhost_frontend_hdr_len(const struct vhost_frontend *frontend)
{
	const uint64_t longer = 1ULL << VIRTIO_F_VERSION_1 | 1ULL << VIRTIO_NET_F_MRG_RXBUF;

	return (frontend->config.features & longer) != 0 ? sizeof(struct virtio_net_hdr_mrg_rxbuf)
							 : sizeof(struct virtio_net_hdr);
}

uint8_t *
vhost_frontend_mem(const struct vhost_frontend *frontend, unsigned int region, size_t *len)
{
	size_t rings = region == 0 ? frontend->rings_len : 0;

	*len = frontend->config.regions[region].len - rings;
	return frontend->mem[region] + rings;
}

uint8_t *
vhost_frontend_rings(const struct vhost_frontend *frontend, size_t *len)
{
	*len = frontend->rings_len;
	return frontend->mem[0];
}

struct vhost_frontend_ring *
vhost_frontend_ring(struct vhost_frontend *frontend, enum vhost_frontend_queue queue)
{
	return &frontend->rings[queue];
}

int
vhost_frontend_queue_ready(struct vhost_frontend *frontend, enum vhost_frontend_queue queue)
{
	struct msg msg = { .len = 0 };

	/* vhost tells its user after it has answered: by the next answer it has. */
	if (ask(frontend, GET_FEATURES, &msg) != 0)
		return -1;
	return __atomic_load_n(&frontend->ready[queue], __ATOMIC_ACQUIRE);
}

unsigned int
vhost_frontend_take_calls(struct vhost_frontend *frontend, enum vhost_frontend_queue queue)
{
	uint64_t calls;

	/* There is nothing to read if there were none. */
	return eventfd_read(frontend->call_fd[queue], &calls) == 0 ? calls : 0;
}

int
vhost_frontend_keep_regions(struct vhost_frontend *frontend, unsigned int num_regions)
{
	return tell_memory(frontend, num_regions);
}

/* --- translations --- */

int
vhost_frontend_next_miss(struct vhost_frontend *frontend, struct vhost_frontend_miss *miss)
{
	const size_t len = MSG_HDR_LEN + sizeof(struct vhost_iotlb_msg);
	struct msg msg;
	ssize_t got = recv(frontend->backend_socket, &msg, len, MSG_DONTWAIT | MSG_PEEK);

	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got < 0)
		return fail("cannot read the back-end channel");
	/* vhost sends a message at once: half of one is a fault. */
	if (got != (ssize_t)len || msg.request != BACKEND_IOTLB_MSG ||
		msg.iotlb.type != VHOST_IOTLB_MISS) {
		printf("vhost front end: %zd bytes, not a miss, on the back-end channel\n", got);
		return -1;
	}
	if (recv(frontend->backend_socket, &msg, len, 0) != (ssize_t)len)
		return fail("cannot take a miss");
	miss->iova = msg.iotlb.iova;
	miss->perm = msg.iotlb.perm;
	return 1;
}

int
vhost_frontend_iotlb_update(struct vhost_frontend *frontend, uint64_t iova, const void *addr,
	uint64_t len, uint8_t perm)
{
	struct msg msg = { .iotlb = {
				   .iova = iova,
				   .size = len,
				   .uaddr = (uintptr_t)addr,
				   .perm = perm,
				   .type = VHOST_IOTLB_UPDATE,
			   } };

	return tell(frontend, IOTLB_MSG, &msg, sizeof(msg.iotlb), NULL, 0);
}

int
vhost_frontend_iotlb_invalidate(struct vhost_frontend *frontend, uint64_t iova, uint64_t len)
{
	struct msg msg = { .iotlb = {
				   .iova = iova,
				   .size = len,
				   .type = VHOST_IOTLB_INVALIDATE,
			   } };

	return tell(frontend, IOTLB_MSG, &msg, sizeof(msg.iotlb), NULL, 0);
}

/* --- dirty log --- */

bool
vhost_frontend_is_dirty(const struct vhost_frontend *frontend, const void *addr)
{
	uint64_t page = guest_addr(frontend, addr) / PAGE_LEN;

	return (frontend->log[page / 8] >> page % 8) & 1;
}

unsigned int
vhost_frontend_num_dirty(const struct vhost_frontend *frontend)
{
	unsigned int num = 0;
	size_t i;

	for (i = 0; i < frontend->log_len; i++)
		num += __builtin_popcount(frontend->log[i]);
	return num;
}

void
vhost_frontend_clear_log(struct vhost_frontend *frontend)
{
	unsigned int i;

	memset(frontend->log, 0, frontend->log_len);
	for (i = 0; i < VHOST_FRONTEND_QUEUES; i++)
		vhost_frontend_ring_spoil(&frontend->rings[i]);
}
