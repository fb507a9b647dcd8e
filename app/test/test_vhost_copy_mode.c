/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Are packets copied in the mode that was set, from the next burst on, and right in each?
 */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>

#include <rte_cpu_core_type.h>
#include <rte_mbuf.h>
#include <rte_telemetry.h>
#include <rte_vhost.h>
#include <rte_vhost_copy.h>

#include <eal_cpu_core_type.h>
#include <telemetry_data.h>
#include <vhost_copy_calibrate.h>
#include <vhost_copy_telemetry.h>

#include "test.h"
#include "vhost_frontend.h"

#define MAX_PKT_LEN 1600
#define NUM_MBUFS 127

static struct rte_mempool *pool;
static struct vhost_frontend *frontend;
static uint8_t *guest_mem;
static struct rte_vhost_copy_histogram expected[VHOST_FRONTEND_QUEUES];

/* What auto is to mean on a kind of core. */
static enum rte_vhost_copy_mode
usual_mode(enum rte_cpu_core_type type)
{
	return type == RTE_CPU_CORE_EFFICIENCY || type == RTE_CPU_CORE_LOW_POWER_EFFICIENCY
		? RTE_VHOST_COPY_NARROW
		: RTE_VHOST_COPY_WIDE;
}

static uint8_t
pattern(size_t pkt_len, size_t at)
{
	return 1 + (pkt_len * 11 + at) % 251;
}

/* Note what a histogram has to count. */
static void
expect_copy(enum vhost_frontend_queue queue, size_t len, const void *dst)
{
	struct rte_vhost_copy_histogram *histogram = &expected[queue];

	histogram->sizes[len < 32     ? 0
			: len <= 64   ? 1
			: len <= 128  ? 2
			: len <= 256  ? 3
			: len <= 512  ? 4
			: len <= 1024 ? 5
			: len <= 2048 ? 6
				      : 7]++;
	/* pages are mapped as pages, whoever maps them */
	histogram->alignments[(uintptr_t)dst % 64]++;
}

static int
compare(const uint8_t *data, size_t pkt_len)
{
	size_t i;

	for (i = 0; i < pkt_len; i++)
		TEST_ASSERT_EQUAL(
			data[i], pattern(pkt_len, i), "%zu bytes: byte %zu is wrong", pkt_len, i);
	TEST_ASSERT_EQUAL(data[pkt_len], 0, "%zu bytes: wrote behind the packet", pkt_len);
	return TEST_SUCCESS;
}

static int
send_to_guest(size_t pkt_len)
{
	struct vhost_frontend_buf buf = { .addr = guest_mem + pkt_len % 61 };
	size_t hdr_len = vhost_frontend_hdr_len(frontend), i;
	uint8_t *data = guest_mem + pkt_len % 61 + hdr_len;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint16_t sent;

	TEST_ASSERT_NOT_NULL(m, "no mbuf");
	m->pkt_len = m->data_len = pkt_len;
	for (i = 0; i < pkt_len; i++)
		rte_pktmbuf_mtod(m, uint8_t *)[i] = pattern(pkt_len, i);
	buf.len = hdr_len + pkt_len + 1;
	memset(buf.addr, 0, buf.len);
	sent = 0;
	if (vhost_frontend_post(frontend, VHOST_FRONTEND_RX, &buf, 1, false) >= 0)
		sent = rte_vhost_enqueue_burst(
			vhost_frontend_vid(frontend), VHOST_FRONTEND_RX, &m, 1);
	rte_pktmbuf_free(m);
	TEST_ASSERT_EQUAL(sent, 1, "%zu bytes: not enqueued", pkt_len);
	TEST_ASSERT(vhost_frontend_poll(frontend, VHOST_FRONTEND_RX, NULL) >= 0, "not used");
	expect_copy(VHOST_FRONTEND_RX, pkt_len, data);
	return compare(data, pkt_len);
}

static int
receive_from_guest(size_t pkt_len)
{
	struct vhost_frontend_buf buf = { .addr = guest_mem };
	size_t hdr_len = vhost_frontend_hdr_len(frontend), i;
	struct rte_mbuf *m;
	uint16_t received;
	int ret;

	buf.len = hdr_len + pkt_len;
	memset(buf.addr, 0, hdr_len);
	for (i = 0; i < pkt_len; i++)
		guest_mem[hdr_len + i] = pattern(pkt_len, i);
	TEST_ASSERT(
		vhost_frontend_post(frontend, VHOST_FRONTEND_TX, &buf, 1, false) >= 0, "ring full");
	received = rte_vhost_dequeue_burst(
		vhost_frontend_vid(frontend), VHOST_FRONTEND_TX, pool, &m, 1);
	TEST_ASSERT_EQUAL(received, 1, "%zu bytes: not dequeued", pkt_len);
	expect_copy(VHOST_FRONTEND_TX, pkt_len, rte_pktmbuf_mtod(m, void *));
	ret = m->data_len == pkt_len ? TEST_SUCCESS : TEST_FAILED;
	for (i = 0; i < pkt_len && ret == TEST_SUCCESS; i++)
		if (rte_pktmbuf_mtod(m, uint8_t *)[i] != pattern(pkt_len, i))
			ret = TEST_FAILED;
	rte_pktmbuf_free(m);
	TEST_ASSERT_SUCCESS(ret, "%zu bytes: dequeued wrong", pkt_len);
	TEST_ASSERT(vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0, "not given back");
	return TEST_SUCCESS;
}

/* Queues are polled most while they are empty: that is no burst. */
static int
test_empty_poll(void)
{
	struct rte_vhost_copy_status before, after;
	int vid = vhost_frontend_vid(frontend);
	struct rte_mbuf *m;

	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &before), "no status");
	TEST_ASSERT_EQUAL(rte_vhost_dequeue_burst(vid, VHOST_FRONTEND_TX, pool, &m, 1), 0,
		"dequeued from an empty queue");
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &after), "no status");
	TEST_ASSERT_SUCCESS(memcmp(before.bursts, after.bursts, sizeof(before.bursts)),
		"counted a burst without packets");
	return TEST_SUCCESS;
}

/* Send and receive packets of all sizes, one a burst; count the bursts by the mode that is meant. */
static int
check_bursts(enum rte_vhost_copy_mode mode, enum rte_vhost_copy_mode meant)
{
	struct rte_vhost_copy_status before, after;
	int vid = vhost_frontend_vid(frontend);
	unsigned int other;
	size_t pkt_len;

	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &before), "no status");
	TEST_ASSERT_EQUAL(before.mode, mode, "not the mode that was set");
	for (pkt_len = 1; pkt_len <= MAX_PKT_LEN; pkt_len++)
		if (send_to_guest(pkt_len) != TEST_SUCCESS ||
			receive_from_guest(pkt_len) != TEST_SUCCESS)
			return TEST_FAILED;
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &after), "no status");
	for (other = 0; other < RTE_VHOST_COPY_MODES; other++) {
		uint64_t bursts = after.bursts[other] - before.bursts[other];
		uint64_t expected = other == meant ? 2 * MAX_PKT_LEN : 0;

		TEST_ASSERT_EQUAL(bursts, expected, "%" PRIu64 " bursts copied by %s in mode %s",
			bursts, rte_vhost_copy_mode_name(other), rte_vhost_copy_mode_name(mode));
	}
	TEST_ASSERT_EQUAL(after.core_type, rte_cpu_core_type(), "not the type of this core");
	return test_empty_poll();
}

static int
test_mode(const char *path, enum rte_vhost_copy_mode mode, enum rte_vhost_copy_mode meant)
{
	TEST_ASSERT_SUCCESS(rte_vhost_driver_set_copy_mode(path, mode), "cannot set the mode");
	return check_bursts(mode, meant);
}

/* As if this thread moved between cores of several kinds, at no time of which auto is told. */
static int
check_auto_moved(void)
{
	const enum rte_vhost_copy_mode automatic = RTE_VHOST_COPY_AUTO;

	eal_cpu_core_type_pretend(RTE_CPU_CORE_PERFORMANCE);
	if (check_bursts(automatic, RTE_VHOST_COPY_WIDE) != TEST_SUCCESS)
		return TEST_FAILED;
	eal_cpu_core_type_pretend(RTE_CPU_CORE_LOW_POWER_EFFICIENCY);
	if (check_bursts(automatic, RTE_VHOST_COPY_NARROW) != TEST_SUCCESS)
		return TEST_FAILED;
	eal_cpu_core_type_pretend(RTE_CPU_CORE_EFFICIENCY);
	return check_bursts(automatic, RTE_VHOST_COPY_NARROW);
}

/* The modes are tried at the first poll, and the one that is found copies all bursts then. */
static int
check_calibrated(void)
{
	enum rte_cpu_core_type type = rte_cpu_core_type();
	int vid = vhost_frontend_vid(frontend);
	struct rte_vhost_copy_calibration again;
	struct rte_vhost_copy_status status;
	unsigned int mode;

	if (test_empty_poll() != TEST_SUCCESS)
		return TEST_FAILED;
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &status), "no status");
	again = status.calibrations[type];
	for (mode = RTE_VHOST_COPY_MEMCPY; mode <= RTE_VHOST_COPY_NARROW; mode++)
		TEST_ASSERT(again.picoseconds[mode] > 0, "%s took no time",
			rte_vhost_copy_mode_name(mode));
	vhost_copy_calibration_choose(usual_mode(type), &again);
	TEST_ASSERT_SUCCESS(memcmp(&again, &status.calibrations[type], sizeof(again)),
		"not what was chosen by the times");
	printf("calibrated, core type %s: %s%s\n", rte_cpu_core_type_name(type),
		rte_vhost_copy_mode_name(again.mode), again.tie ? " (a tie)" : "");
	return check_bursts(RTE_VHOST_COPY_CALIBRATE, again.mode);
}

static unsigned int
num_calibrations(void)
{
	struct rte_vhost_copy_status status;
	unsigned int type, num = 0;

	if (rte_vhost_get_copy_status(vhost_frontend_vid(frontend), &status) != 0)
		return UINT_MAX;
	for (type = 0; type < RTE_VHOST_COPY_CORE_TYPES; type++)
		num += status.calibrations[type].mode != RTE_VHOST_COPY_AUTO;
	return num;
}

static int
test_calibrate(const char *path)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		TEST_ASSERT_SUCCESS(rte_vhost_driver_set_copy_mode(path, RTE_VHOST_COPY_CALIBRATE),
			"cannot set the mode");
		TEST_ASSERT_EQUAL(num_calibrations(), 0, "known before it was tried");
		if (check_calibrated() != TEST_SUCCESS)
			return TEST_FAILED;
		TEST_ASSERT_EQUAL(num_calibrations(), 1, "tried for other kinds of cores");
	}
	return TEST_SUCCESS;
}

/* Each kind of core is tried by itself, and what was found is kept. */
static int
test_calibrate_hybrid(const char *path)
{
	static const enum rte_cpu_core_type types[] = { RTE_CPU_CORE_EFFICIENCY,
		RTE_CPU_CORE_PERFORMANCE };
	int vid = vhost_frontend_vid(frontend);
	struct rte_vhost_copy_status before, after;
	unsigned int i;

	TEST_ASSERT_SUCCESS(rte_vhost_driver_set_copy_mode(path, RTE_VHOST_COPY_CALIBRATE),
		"cannot set the mode");
	for (i = 0; i < RTE_DIM(types); i++) {
		eal_cpu_core_type_pretend(types[i]);
		if (check_calibrated() != TEST_SUCCESS)
			return TEST_FAILED;
		TEST_ASSERT_EQUAL(num_calibrations(), i + 1, "not tried once for each kind");
	}
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &before), "no status");
	eal_cpu_core_type_pretend(types[0]);
	if (check_bursts(RTE_VHOST_COPY_CALIBRATE, before.calibrations[types[0]].mode) !=
		TEST_SUCCESS)
		return TEST_FAILED;
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &after), "no status");
	TEST_ASSERT_SUCCESS(
		memcmp(before.calibrations, after.calibrations, sizeof(before.calibrations)),
		"tried again");
	return TEST_SUCCESS;
}

static int
check_histogram(bool on)
{
	struct rte_vhost_copy_histogram counted[VHOST_FRONTEND_QUEUES];
	int vid = vhost_frontend_vid(frontend);
	struct rte_vhost_copy_status status;

	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &status), "no status");
	TEST_ASSERT_EQUAL(status.histogram, on, "wrong about whether the histogram is on");
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_histogram(
				    vid, &counted[VHOST_FRONTEND_RX], &counted[VHOST_FRONTEND_TX]),
		"no histogram");
	TEST_ASSERT_SUCCESS(memcmp(&counted[VHOST_FRONTEND_RX], &expected[VHOST_FRONTEND_RX],
				    sizeof(expected[0])),
		"copies to the guest are counted wrong");
	TEST_ASSERT_SUCCESS(memcmp(&counted[VHOST_FRONTEND_TX], &expected[VHOST_FRONTEND_TX],
				    sizeof(expected[0])),
		"copies from the guest are counted wrong");
	return TEST_SUCCESS;
}

/* A packet in two buffers of the guest is two copies, and two packets in a burst are two. */
static int
test_histogram_parts(void)
{
	const size_t hdr_len = vhost_frontend_hdr_len(frontend);
	const struct vhost_frontend_buf parts[] = { { guest_mem, hdr_len + 100 },
		{ guest_mem + 1003, 300 } };
	const struct vhost_frontend_buf whole = { guest_mem + 2005, hdr_len + 2000 };
	struct rte_mbuf *pkts[2];
	int vid = vhost_frontend_vid(frontend);
	uint16_t received;

	memset(guest_mem, 0, 4096);
	TEST_ASSERT(vhost_frontend_post(frontend, VHOST_FRONTEND_TX, parts, 2, false) >= 0 &&
			vhost_frontend_post(frontend, VHOST_FRONTEND_TX, &whole, 1, false) >= 0,
		"ring full");
	received = rte_vhost_dequeue_burst(vid, VHOST_FRONTEND_TX, pool, pkts, 2);
	if (received != 2) {
		rte_pktmbuf_free_bulk(pkts, received);
		printf("%u packets of 2 dequeued\n", received);
		return TEST_FAILED;
	}
	expect_copy(VHOST_FRONTEND_TX, 100, rte_pktmbuf_mtod(pkts[0], void *));
	expect_copy(VHOST_FRONTEND_TX, 300, rte_pktmbuf_mtod_offset(pkts[0], void *, 100));
	expect_copy(VHOST_FRONTEND_TX, 2000, rte_pktmbuf_mtod(pkts[1], void *));
	rte_pktmbuf_free_bulk(pkts, 2);
	TEST_ASSERT(vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0 &&
			vhost_frontend_poll(frontend, VHOST_FRONTEND_TX, NULL) >= 0,
		"not given back");
	return check_histogram(true);
}

/* What telemetry says under a name, or below several, each in the one before. */
static const union tel_value *
told(const struct rte_tel_data *data, const char *const *names)
{
	unsigned int i;

	for (i = 0; i < data->data_len; i++) {
		const struct tel_dict_entry *entry = &data->data.dict[i];

		if (strcmp(entry->name, names[0]) != 0)
			continue;
		return names[1] == NULL ? &entry->value
					: told(entry->value.container.data, names + 1);
	}
	return NULL;
}

#define TOLD(data, ...) told(data, (const char *const[]){ __VA_ARGS__, NULL })

static int
check_told_of(const struct rte_tel_data *data, enum vhost_frontend_queue queue, const char *name)
{
	const struct rte_vhost_copy_histogram *histogram = &expected[queue];
	const union tel_value *value;
	char key[16];
	unsigned int i;

	for (i = 0; i < RTE_VHOST_COPY_SIZE_CLASSES; i++) {
		snprintf(key, sizeof(key), "%" PRIu32, rte_vhost_copy_size_class_max(i));
		value = TOLD(data, "histogram", name, "max_size", key);
		TEST_ASSERT(value != NULL && value->u64val == histogram->sizes[i],
			"%s up to %s bytes told wrong", name, key);
	}
	for (i = 0; i < RTE_VHOST_COPY_ALIGNMENTS; i++) {
		snprintf(key, sizeof(key), "%u", i);
		value = TOLD(data, "histogram", name, "address_modulo_64", key);
		TEST_ASSERT(value != NULL && value->u64val == histogram->alignments[i],
			"%s at %s told wrong", name, key);
	}
	return TEST_SUCCESS;
}

static int
check_told(const struct rte_tel_data *data, enum rte_vhost_copy_mode copied_by)
{
	const char *mode = rte_vhost_copy_mode_name(copied_by);
	struct rte_vhost_copy_status status;

	TEST_ASSERT_SUCCESS(
		rte_vhost_get_copy_status(vhost_frontend_vid(frontend), &status), "no status");
	TEST_ASSERT_SUCCESS(strcmp(TOLD(data, "mode")->sval, mode), "mode told wrong");
	TEST_ASSERT_SUCCESS(
		strcmp(TOLD(data, "core_type")->sval, rte_cpu_core_type_name(status.core_type)),
		"kind of core told wrong");
	TEST_ASSERT_EQUAL(
		TOLD(data, "bursts", mode)->u64val, status.bursts[copied_by], "bursts told wrong");
	TEST_ASSERT_SUCCESS(strcmp(TOLD(data, "histogram", "state")->sval, "on"),
		"told that the histogram is off");
	return check_told_of(data, VHOST_FRONTEND_RX, "enqueue") |
		check_told_of(data, VHOST_FRONTEND_TX, "dequeue");
}

static void
free_told(struct rte_tel_data *data)
{
	unsigned int i;

	for (i = 0; data->type == RTE_TEL_DICT && i < data->data_len; i++)
		if (data->data.dict[i].type == RTE_TEL_CONTAINER)
			free_told(data->data.dict[i].value.container.data);
	rte_tel_data_free(data);
}

/* Ask telemetry of a device as a client would, and check an answer that is no error. */
static int
ask_telemetry(const char *params, int answer, enum rte_vhost_copy_mode copied_by)
{
	struct rte_tel_data *data = rte_tel_data_alloc();
	int ret;

	TEST_ASSERT_NOT_NULL(data, "no memory");
	rte_tel_data_start_dict(data); /* as empty as telemetry gives it */
	ret = vhost_copy_telemetry("/vhost/copy", params, data);
	if (ret != answer) {
		printf("/vhost/copy,%s: %d, not %d\n", params, ret, answer);
		ret = TEST_FAILED;
	} else {
		ret = answer == 0 ? check_told(data, copied_by) : TEST_SUCCESS;
	}
	free_told(data);
	return ret;
}

static int
test_telemetry_list(const char *vid, const char *path)
{
	struct rte_tel_data *data = rte_tel_data_alloc();
	const union tel_value *value;
	int ret;

	TEST_ASSERT_NOT_NULL(data, "no memory");
	rte_tel_data_start_dict(data); /* as empty as telemetry gives it */
	ret = vhost_copy_telemetry("/vhost/copy", NULL, data);
	value = TOLD(data, vid);
	if (ret == 0 && (value == NULL || strcmp(value->sval, path) != 0))
		ret = TEST_FAILED;
	free_told(data);
	TEST_ASSERT_SUCCESS(ret, "the device is not listed");
	return TEST_SUCCESS;
}

static int
test_telemetry(const char *path, enum rte_vhost_copy_mode copied_by)
{
	static const char *const wrong[] = { "x", "-1", "+0", " 0", "0x", "0,0", "0 ", "1.5" };
	char vid[16];
	unsigned int i;

	for (i = 0; i < RTE_DIM(wrong); i++)
		if (ask_telemetry(wrong[i], -EINVAL, copied_by) != TEST_SUCCESS)
			return TEST_FAILED;
	snprintf(vid, sizeof(vid), "%d", vhost_frontend_vid(frontend));
	if (ask_telemetry("1023", -ENODEV, copied_by) != TEST_SUCCESS ||
		ask_telemetry("1024", -ENODEV, copied_by) != TEST_SUCCESS ||
		ask_telemetry("99999999999999999999", -ENODEV, copied_by) != TEST_SUCCESS ||
		ask_telemetry(vid, 0, copied_by) != TEST_SUCCESS)
		return TEST_FAILED;
	return test_telemetry_list(vid, path);
}

/* What is copied while it is on is counted, and copied in the mode that is set. */
static int
test_histogram(const char *path)
{
	static const enum rte_vhost_copy_mode modes[] = { RTE_VHOST_COPY_MEMCPY,
		RTE_VHOST_COPY_NARROW, RTE_VHOST_COPY_WIDE };
	struct rte_vhost_copy_histogram kept[VHOST_FRONTEND_QUEUES];
	unsigned int i;

	for (i = 0; i < RTE_DIM(modes); i++) {
		TEST_ASSERT_SUCCESS(rte_vhost_driver_set_copy_histogram(path, true), "not on");
		memset(expected, 0, sizeof(expected));
		if (check_histogram(true) != TEST_SUCCESS ||
			test_mode(path, modes[i], modes[i]) != TEST_SUCCESS ||
			check_histogram(true) != TEST_SUCCESS ||
			test_histogram_parts() != TEST_SUCCESS ||
			test_telemetry(path, modes[i]) != TEST_SUCCESS)
			return TEST_FAILED;
	}
	TEST_ASSERT_SUCCESS(rte_vhost_driver_set_copy_histogram(path, false), "not off");
	memcpy(kept, expected, sizeof(kept));
	if (check_bursts(modes[i - 1], modes[i - 1]) != TEST_SUCCESS)
		return TEST_FAILED;
	memcpy(expected, kept, sizeof(kept));
	return check_histogram(false);
}

static int
test_hybrid(const char *path)
{
	int ret;

	eal_cpu_core_type_pretend(RTE_CPU_CORE_EFFICIENCY);
	ret = test_mode(path, RTE_VHOST_COPY_AUTO, RTE_VHOST_COPY_NARROW);
	if (ret == TEST_SUCCESS)
		ret = check_auto_moved();
	/* what was set holds on any core */
	if (ret == TEST_SUCCESS)
		ret = test_mode(path, RTE_VHOST_COPY_WIDE, RTE_VHOST_COPY_WIDE);
	if (ret == TEST_SUCCESS)
		ret = test_mode(path, RTE_VHOST_COPY_MEMCPY, RTE_VHOST_COPY_MEMCPY);
	if (ret == TEST_SUCCESS)
		ret = test_calibrate_hybrid(path);
	/* those that count ask for the kind of core too */
	TEST_ASSERT_SUCCESS(rte_vhost_driver_set_copy_histogram(path, true), "not on");
	if (ret == TEST_SUCCESS)
		ret = test_mode(path, RTE_VHOST_COPY_AUTO, RTE_VHOST_COPY_NARROW);
	if (ret == TEST_SUCCESS)
		ret = check_auto_moved();
	eal_cpu_core_type_pretend(RTE_CPU_CORE_UNKNOWN);
	return ret;
}

static int
test_modes(void)
{
	enum rte_vhost_copy_mode here = usual_mode(rte_cpu_core_type());
	struct rte_vhost_copy_status status;
	char path[PATH_MAX];
	int vid = vhost_frontend_vid(frontend);

	TEST_ASSERT_SUCCESS(rte_vhost_get_ifname(vid, path, sizeof(path)), "no path");
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &status), "no status");
	TEST_ASSERT_EQUAL(status.mode, RTE_VHOST_COPY_AUTO, "the default is not auto");
	if (test_mode(path, RTE_VHOST_COPY_AUTO, here) != TEST_SUCCESS ||
		test_mode(path, RTE_VHOST_COPY_MEMCPY, RTE_VHOST_COPY_MEMCPY) != TEST_SUCCESS ||
		test_mode(path, RTE_VHOST_COPY_NARROW, RTE_VHOST_COPY_NARROW) != TEST_SUCCESS ||
		test_calibrate(path) != TEST_SUCCESS ||
		test_mode(path, RTE_VHOST_COPY_WIDE, RTE_VHOST_COPY_WIDE) != TEST_SUCCESS)
		return TEST_FAILED;
	if (test_histogram(path) != TEST_SUCCESS)
		return TEST_FAILED;
	TEST_ASSERT_EQUAL(rte_vhost_driver_set_copy_mode(path, RTE_VHOST_COPY_MODES), -EINVAL,
		"set a mode that there is not");
	TEST_ASSERT_SUCCESS(rte_vhost_get_copy_status(vid, &status), "no status");
	TEST_ASSERT_EQUAL(status.mode, RTE_VHOST_COPY_WIDE, "a wrong mode changed the right one");
	return test_hybrid(path);
}

/* Run a test with a front end, for which something may be set before it connects. */
static int
with_device(uint64_t features, int (*registered)(const char *path), int (*test)(void))
{
	const struct vhost_frontend_config config = {
		.features = features,
		.registered = registered,
		.ring_size = 64,
		.num_regions = 1,
		.regions = { { .guest_addr = 0x100000, .len = 1024 * 1024 } },
	};
	size_t len;
	int ret;

	frontend = vhost_frontend_create(&config);
	TEST_ASSERT_NOT_NULL(frontend, "no front end");
	guest_mem = vhost_frontend_mem(frontend, 0, &len);
	ret = test();
	vhost_frontend_destroy(frontend);
	return ret;
}

static int
set_narrow(const char *path)
{
	int ret = rte_vhost_driver_set_copy_mode(path, RTE_VHOST_COPY_NARROW);

	if (ret != 0)
		printf("cannot set the mode of a socket without a device: %d\n", ret);
	return ret;
}

/* What is set for a socket holds for the device that connects later. */
static int
test_set_before(void)
{
	return check_bursts(RTE_VHOST_COPY_NARROW, RTE_VHOST_COPY_NARROW);
}

static int
test_names(void)
{
	enum rte_vhost_copy_mode mode, parsed;

	for (mode = RTE_VHOST_COPY_AUTO; mode < RTE_VHOST_COPY_MODES; mode++) {
		TEST_ASSERT_SUCCESS(
			rte_vhost_copy_mode_parse(rte_vhost_copy_mode_name(mode), &parsed),
			"name of mode %d not parsed", mode);
		TEST_ASSERT_EQUAL(parsed, mode, "name of mode %d parsed as %d", mode, parsed);
	}
	TEST_ASSERT_NULL(rte_vhost_copy_mode_name(RTE_VHOST_COPY_MODES), "a name too many");
	TEST_ASSERT_EQUAL(rte_vhost_copy_mode_parse("wid", &parsed), -EINVAL, "parsed wid");
	TEST_ASSERT_EQUAL(rte_vhost_copy_mode_parse("", &parsed), -EINVAL, "parsed nothing");
	return TEST_SUCCESS;
}

/* Which mode is chosen by which times? */
static int
test_choice(void)
{
	static const struct {
		enum rte_vhost_copy_mode usual;
		uint32_t wide, narrow, memcpy;
		enum rte_vhost_copy_mode chosen;
		bool tie;
	} cases[] = {
		{ RTE_VHOST_COPY_WIDE, 1000, 1100, 1100, RTE_VHOST_COPY_WIDE, false },
		{ RTE_VHOST_COPY_WIDE, 1000, 1020, 1100, RTE_VHOST_COPY_WIDE, true },
		{ RTE_VHOST_COPY_WIDE, 1000, 1100, 1020, RTE_VHOST_COPY_WIDE, true },
		{ RTE_VHOST_COPY_WIDE, 1000, 971, 971, RTE_VHOST_COPY_WIDE, true },
		{ RTE_VHOST_COPY_WIDE, 1000, 969, 1000, RTE_VHOST_COPY_NARROW, false },
		{ RTE_VHOST_COPY_WIDE, 1000, 1000, 969, RTE_VHOST_COPY_MEMCPY, false },
		{ RTE_VHOST_COPY_WIDE, 1000, 960, 940, RTE_VHOST_COPY_NARROW, false },
		{ RTE_VHOST_COPY_WIDE, 1000, 960, 900, RTE_VHOST_COPY_MEMCPY, false },
		{ RTE_VHOST_COPY_NARROW, 1000, 1000, 1000, RTE_VHOST_COPY_NARROW, true },
		{ RTE_VHOST_COPY_NARROW, 900, 1000, 1000, RTE_VHOST_COPY_WIDE, false },
		{ RTE_VHOST_COPY_NARROW, 1100, 1000, 1100, RTE_VHOST_COPY_NARROW, false },
		{ RTE_VHOST_COPY_WIDE, 4100000000, 4000000000, 4294967295, RTE_VHOST_COPY_WIDE,
			true },
		{ RTE_VHOST_COPY_NARROW, 0, 0, 0, RTE_VHOST_COPY_NARROW, true },
	};
	unsigned int i;

	for (i = 0; i < RTE_DIM(cases); i++) {
		struct rte_vhost_copy_calibration
			calibration = { .picoseconds = {
						[RTE_VHOST_COPY_WIDE] = cases[i].wide,
						[RTE_VHOST_COPY_NARROW] = cases[i].narrow,
						[RTE_VHOST_COPY_MEMCPY] = cases[i].memcpy,
					} };

		vhost_copy_calibration_choose(cases[i].usual, &calibration);
		TEST_ASSERT_EQUAL(calibration.mode, cases[i].chosen, "case %u: chose %s", i,
			rte_vhost_copy_mode_name(calibration.mode));
		TEST_ASSERT_EQUAL(calibration.tie, cases[i].tie, "case %u: wrong about a tie", i);
	}
	return TEST_SUCCESS;
}

static int
test_no_device(void)
{
	struct rte_vhost_copy_histogram histogram;
	struct rte_vhost_copy_status status;

	TEST_ASSERT_EQUAL(rte_vhost_driver_set_copy_histogram("/nowhere", true), -ENOENT,
		"counts for a socket that is not registered");
	TEST_ASSERT_EQUAL(rte_vhost_get_copy_histogram(-1, &histogram, &histogram), -ENODEV,
		"histogram of no device");
	TEST_ASSERT_EQUAL(rte_vhost_copy_size_class_max(RTE_VHOST_COPY_SIZE_CLASSES), UINT32_MAX,
		"a class too many");
	TEST_ASSERT_EQUAL(rte_vhost_driver_set_copy_mode("/nowhere", RTE_VHOST_COPY_WIDE), -ENOENT,
		"set the mode of a socket that is not registered");
	TEST_ASSERT_EQUAL(rte_vhost_get_copy_status(-1, &status), -ENODEV, "status of no device");
	return TEST_SUCCESS;
}

static int
test_vhost_copy_mode(void)
{
	int ret = test_names() | test_choice() | test_no_device();

	pool = rte_pktmbuf_pool_create(
		"vhost_copy_mode", NUM_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	TEST_ASSERT_NOT_NULL(pool, "no mbuf pool");
	ret |= with_device(0, set_narrow, test_set_before) | with_device(0, NULL, test_modes) |
		with_device(1ULL << VIRTIO_F_RING_PACKED, NULL, test_modes);
	if (rte_mempool_avail_count(pool) != NUM_MBUFS) {
		printf("mbufs were lost\n");
		ret = TEST_FAILED;
	}
	rte_mempool_free(pool);
	return ret == 0 ? TEST_SUCCESS : TEST_FAILED;
}

REGISTER_TEST_COMMAND(vhost_copy_mode_autotest, test_vhost_copy_mode);
