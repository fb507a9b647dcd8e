/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* What became of the translations of a device, as "/vhost/iotlb". */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_telemetry.h>
#include <rte_version.h>

#include "iotlb.h"
#include "vhost.h"
#include "vhost_copy_telemetry.h"

static void
add(struct rte_tel_data *data, const char *name, uint64_t value)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	rte_tel_data_add_dict_uint(data, name, value);
#else
	rte_tel_data_add_dict_u64(data, name, value);
#endif
}

static void
add_queue(struct rte_tel_data *data, const struct vhost_virtqueue *vq)
{
	struct rte_tel_data *queue = rte_tel_data_alloc();
	char name[32];

	if (queue == NULL)
		return;
	snprintf(name, sizeof(name), "queue_%" PRIu32, vq->index);
	rte_tel_data_start_dict(queue);
	add(queue, "entries", vq->stats.iotlb_entries);
	add(queue, "capacity", VHOST_IOTLB_CAPACITY);
	add(queue, "hits", vq->stats.iotlb_hits);
	add(queue, "misses", vq->stats.iotlb_misses);
	add(queue, "merges", vq->stats.iotlb_merges);
	add(queue, "evictions", vq->stats.iotlb_evictions);
	rte_tel_data_add_dict_container(data, name, queue, 0);
}

static int
add_device(struct rte_tel_data *data, const struct virtio_net *dev)
{
	uint32_t i;

	if (dev == NULL)
		return -ENODEV;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "name", dev->ifname);
	for (i = 0; i < dev->nr_vring; i++)
		if (dev->virtqueue[i] != NULL)
			add_queue(data, dev->virtqueue[i]);
	return 0;
}

/* Without a device, which devices there are. */
static int
add_devices(struct rte_tel_data *data)
{
	unsigned int vid;

	rte_tel_data_start_array(data, RTE_TEL_INT_VAL);
	for (vid = 0; vid < RTE_MAX_VHOST_DEVICE; vid++)
		if (vhost_devices[vid] != NULL)
			rte_tel_data_add_array_int(data, vid);
	return 0;
}

static int
handle_iotlb(const char *command __rte_unused, const char *params, struct rte_tel_data *data)
{
	unsigned long vid = 0;
	char *end = NULL;
	int ret;

	if (params != NULL && *params != '\0') {
		vid = strtoul(params, &end, 10);
		if (*end != '\0' || end == params || vid >= RTE_MAX_VHOST_DEVICE)
			return -EINVAL;
	}
	vhost_copy_lock_devices();
	ret = end != NULL ? add_device(data, vhost_devices[vid]) : add_devices(data);
	vhost_copy_unlock_devices();
	return ret;
}

RTE_INIT(vhost_iotlb_telemetry)
{
	rte_telemetry_register_cmd("/vhost/iotlb", handle_iotlb,
		"Returns the counters of a device's translations. Parameters: int vid; "
		"without, the numbers of devices");
}
