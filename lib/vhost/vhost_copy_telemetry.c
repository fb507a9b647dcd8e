/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* How devices copy, as JSON: "/vhost/copy" lists them, "/vhost/copy,<vid>" tells of one. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <eal_export_fallback.h>

#include "vhost_copy.h"
#include "vhost_copy_telemetry.h"
#include "vhost_telemetry.h"

static void
add_bursts(struct rte_tel_data *to, const struct rte_vhost_copy_status *status)
{
	struct rte_tel_data *bursts = vhost_telemetry_add_dict(to, "bursts");
	unsigned int mode;

	for (mode = RTE_VHOST_COPY_MEMCPY; bursts != NULL && mode <= RTE_VHOST_COPY_NARROW; mode++)
		rte_tel_data_add_dict_uint(
			bursts, rte_vhost_copy_mode_name(mode), status->bursts[mode]);
}

/* The modes that were found, by kind of core. */
static void
add_calibrated(struct rte_tel_data *to, const struct rte_vhost_copy_status *status)
{
	struct rte_tel_data *calibrated = vhost_telemetry_add_dict(to, "calibrated");
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
	struct rte_tel_data *direction = vhost_telemetry_add_dict(to, name);
	struct rte_tel_data *sizes = vhost_telemetry_add_dict(direction, "max_size");
	struct rte_tel_data *alignments = vhost_telemetry_add_dict(direction, "address_modulo_64");
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
tell_device(const struct virtio_net *dev, struct rte_tel_data *to)
{
	struct rte_vhost_copy_histogram enqueue, dequeue;
	struct rte_vhost_copy_status status;
	struct rte_tel_data *histogram;

	vhost_copy_status(dev, &status);
	vhost_copy_histogram(dev, &enqueue, &dequeue);
	rte_tel_data_add_dict_string(to, "mode", rte_vhost_copy_mode_name(status.mode));
	rte_tel_data_add_dict_string(to, "core_type", rte_cpu_core_type_name(status.core_type));
	add_bursts(to, &status);
	add_calibrated(to, &status);
	histogram = vhost_telemetry_add_dict(to, "histogram");
	if (histogram == NULL)
		return -ENOMEM;
	rte_tel_data_add_dict_string(histogram, "state", status.histogram ? "on" : "off");
	add_direction(histogram, "enqueue", &enqueue);
	add_direction(histogram, "dequeue", &dequeue);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(vhost_copy_telemetry)
int
vhost_copy_telemetry(const char *cmd __rte_unused, const char *params, struct rte_tel_data *data)
{
	return vhost_telemetry_answer(params, data, tell_device);
}

RTE_INIT(vhost_copy_init_telemetry)
{
	rte_telemetry_register_cmd("/vhost/copy", vhost_copy_telemetry,
		"Tells how a vhost device copies packets. Parameter: vid; without, lists devices");
}
