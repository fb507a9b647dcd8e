/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_COPY_TELEMETRY_H
#define VHOST_COPY_TELEMETRY_H

#include <rte_compat.h>

struct rte_tel_data;

/* Answer "/vhost/copy"; returns 0, or -errno: telemetry answers null then. */
__rte_internal int
vhost_copy_telemetry(const char *cmd, const char *params, struct rte_tel_data *data);

#endif /* VHOST_COPY_TELEMETRY_H */
