/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_TELEMETRY_H
#define VHOST_TELEMETRY_H

/* What our commands of telemetry, "/vhost/...", have in common. */

#include <rte_telemetry.h>
#include <rte_version.h>

#include "vhost.h"

#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

/* Keep devices from going: whoever asks is another thread, at any time. Not nested. */
void
vhost_telemetry_lock_devices(void);
void
vhost_telemetry_unlock_devices(void);

/* Add a dictionary to another one, or NULL to NULL; NULL if there is no memory. */
struct rte_tel_data *
vhost_telemetry_add_dict(struct rte_tel_data *to, const char *name);

/* Tell of a device in a dictionary; returns 0 or -errno. */
typedef int (*vhost_telemetry_tell)(const struct virtio_net *dev, struct rte_tel_data *to);

/*
 * Answer a command: its parameter is the number of a device; without one the sockets of
 * all are told by their numbers.
 *
 * Returns 0, or -errno: telemetry answers null then.
 */
int
vhost_telemetry_answer(const char *params, struct rte_tel_data *data, vhost_telemetry_tell tell);

#endif /* VHOST_TELEMETRY_H */
