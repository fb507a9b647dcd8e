/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* What became of the translations of a device: "/vhost/iotlb,<vid>". */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "iotlb.h"
#include "vhost_telemetry.h"

static int
add_queue(struct rte_tel_data *to, const struct vhost_virtqueue *vq)
{
	struct rte_tel_data *queue;
	char name[32];

	snprintf(name, sizeof(name), "queue_%" PRIu32, vq->index);
	queue = vhost_telemetry_add_dict(to, name);
	if (queue == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_uint(queue, "entries", vq->stats.iotlb_entries);
	rte_tel_data_add_dict_uint(queue, "capacity", VHOST_IOTLB_CAPACITY);
	rte_tel_data_add_dict_uint(queue, "hits", vq->stats.iotlb_hits);
	rte_tel_data_add_dict_uint(queue, "misses", vq->stats.iotlb_misses);
	rte_tel_data_add_dict_uint(queue, "merges", vq->stats.iotlb_merges);
	rte_tel_data_add_dict_uint(queue, "evictions", vq->stats.iotlb_evictions);
	return 0;
}

static int
tell_device(const struct virtio_net *dev, struct rte_tel_data *to)
{
	uint32_t i;
	int ret = 0;

	rte_tel_data_add_dict_string(to, "name", dev->ifname);
	for (i = 0; i < dev->nr_vring && ret == 0; i++)
		if (dev->virtqueue[i] != NULL)
			ret = add_queue(to, dev->virtqueue[i]);
	return ret;
}

static int
answer(const char *command __rte_unused, const char *params, struct rte_tel_data *data)
{
	return vhost_telemetry_answer(params, data, tell_device);
}

RTE_INIT(vhost_iotlb_telemetry)
{
	rte_telemetry_register_cmd("/vhost/iotlb", answer,
		"Tells what became of the translations of a vhost device. Parameter: vid; "
		"without, lists devices");
}
