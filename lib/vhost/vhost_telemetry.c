/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "vhost_telemetry.h"

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

void
vhost_telemetry_lock_devices(void)
{
	pthread_mutex_lock(&devices_lock);
}

void
vhost_telemetry_unlock_devices(void)
{
	pthread_mutex_unlock(&devices_lock);
}

struct rte_tel_data *
vhost_telemetry_add_dict(struct rte_tel_data *to, const char *name)
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

static int
tell_device(const char *number, struct rte_tel_data *to, vhost_telemetry_tell tell)
{
	unsigned long vid;
	char *end;

	/* strtoul() takes signs and spaces. */
	vid = strtoul(number, &end, 10);
	if (number[0] < '0' || number[0] > '9' || *end != '\0')
		return -EINVAL;
	if (vid >= RTE_MAX_VHOST_DEVICE || vhost_devices[vid] == NULL)
		return -ENODEV;
	rte_tel_data_start_dict(to);
	return tell(vhost_devices[vid], to);
}

int
vhost_telemetry_answer(const char *params, struct rte_tel_data *data, vhost_telemetry_tell tell)
{
	int ret;

	vhost_telemetry_lock_devices();
	if (params == NULL || params[0] == '\0')
		ret = list_devices(data);
	else
		ret = tell_device(params, data, tell);
	vhost_telemetry_unlock_devices();
	return ret;
}
