/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* How devices copy, as JSON: "/vhost/copy" lists them, "/vhost/copy,<vid>" tells of one. */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>
#include <rte_version.h>

#include <eal_export_fallback.h>

#include "vhost_copy.h"
#include "vhost_copy_telemetry.h"

#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/* Whoever asks is another thread, at any time: a device must not go meanwhile. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

void
vhost_copy_lock_devices(void)
{
	pthread_mutex_lock(&devices_lock);
}

void
vhost_copy_unlock_devices(void)
{
	pthread_mutex_unlock(&devices_lock);
}

/* Add a dictionary to another one; NULL if there is no memory. */
static struct rte_tel_data *
add_dict(struct rte_tel_data *to, const char *name)
{
	struct rte_tel_data *dict = to != NULL ? rte_tel_data_alloc() : NULL;

	if (dict == NULL)
		return NULL;
	rte_tel_data_start_dict(dict);
	if (rte_tel_data_add_dict_container(to, name, dict, 0) == 0)
		return dict;
	rte_tel_data_free(dict);
	return NULL;
}

static void
add_bursts(struct rte_tel_data *to, const struct rte_vhost_copy_status *status)
{
	struct rte_tel_data *bursts = add_dict(to, "bursts");
	unsigned int mode;

	for (mode = RTE_VHOST_COPY_MEMCPY; bursts != NULL && mode <= RTE_VHOST_COPY_NARROW; mode++)
		rte_tel_data_add_dict_uint(
			bursts, rte_vhost_copy_mode_name(mode), status->bursts[mode]);
}

/* The modes that were found, by kind of core. */
static void
add_calibrated(struct rte_tel_data *to, const struct rte_vhost_copy_status *status)
{
	struct rte_tel_data *calibrated = add_dict(to, "calibrated");
	unsigned int type;

	for (type = 0; calibrated != NULL && type < RTE_VHOST_COPY_CORE_TYPES; type++)
		if (status->calibrations[type].mode != RTE_VHOST_COPY_AUTO)
			rte_tel_data_add_dict_string(calibrated, rte_cpu_core_type_name(type),
				rte_vhost_copy_mode_name(status->calibrations[type].mode));
}

static void
add_direction(
	struct rte_tel_data *to, const char *name, const struct rte_vhost_copy_histogram *histogram)
{
	struct rte_tel_data *direction = add_dict(to, name);
	struct rte_tel_data *sizes = add_dict(direction, "max_size");
	struct rte_tel_data *alignments = add_dict(direction, "address_modulo_64");
	char key[16];
	unsigned int i;

	for (i = 0; sizes != NULL && i < RTE_VHOST_COPY_SIZE_CLASSES; i++) {
		snprintf(key, sizeof(key), "%" PRIu32, rte_vhost_copy_size_class_max(i));
		rte_tel_data_add_dict_uint(sizes, key, histogram->sizes[i]);
	}
	for (i = 0; alignments != NULL && i < RTE_VHOST_COPY_ALIGNMENTS; i++) {
		snprintf(key, sizeof(key), "%u", i);
		rte_tel_data_add_dict_uint(alignments, key, histogram->alignments[i]);
	}
}

static int
tell_device(int vid, struct rte_tel_data *to)
{
	struct rte_vhost_copy_histogram enqueue, dequeue;
	struct rte_vhost_copy_status status;
	struct rte_tel_data *histogram;

	if (rte_vhost_get_copy_status(vid, &status) != 0 ||
		rte_vhost_get_copy_histogram(vid, &enqueue, &dequeue) != 0)
		return -ENODEV;
	rte_tel_data_start_dict(to);
	rte_tel_data_add_dict_string(to, "mode", rte_vhost_copy_mode_name(status.mode));
	rte_tel_data_add_dict_string(to, "core_type", rte_cpu_core_type_name(status.core_type));
	add_bursts(to, &status);
	add_calibrated(to, &status);
	histogram = add_dict(to, "histogram");
	if (histogram == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_string(histogram, "state", status.histogram ? "on" : "off");
	add_direction(histogram, "enqueue", &enqueue);
	add_direction(histogram, "dequeue", &dequeue);
	return 0;
}

/* Their sockets by their numbers. */
static int
list_devices(struct rte_tel_data *to)
{
	const struct virtio_net *dev;
	char key[16];
	int vid;

	rte_tel_data_start_dict(to);
	for (vid = 0; vid < RTE_MAX_VHOST_DEVICE; vid++) {
		dev = vhost_devices[vid];
		if (dev == NULL)
			continue;
		snprintf(key, sizeof(key), "%d", vid);
		rte_tel_data_add_dict_string(to, key, dev->ifname);
	}
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(vhost_copy_telemetry)
int
vhost_copy_telemetry(const char *cmd, const char *params, struct rte_tel_data *data)
{
	unsigned long vid;
	char *end;
	int ret;

	RTE_SET_USED(cmd);
	vhost_copy_lock_devices();
	if (params == NULL || params[0] == '\0') {
		ret = list_devices(data);
	} else {
		vid = strtoul(params, &end, 10);
		if (params[0] < '0' || params[0] > '9' || *end != '\0')
			ret = -EINVAL;
		else
			ret = vid < RTE_MAX_VHOST_DEVICE ? tell_device(vid, data) : -ENODEV;
	}
	vhost_copy_unlock_devices();
	return ret;
}

RTE_INIT(vhost_copy_init_telemetry)
{
	rte_telemetry_register_cmd("/vhost/copy", vhost_copy_telemetry,
		"Tells how a vhost device copies packets. Parameter: vid; without, lists devices");
}
