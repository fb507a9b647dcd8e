/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_LOG_FALLBACK_H
#define VHOST_LOG_FALLBACK_H

/*
 * Log in vhost's way: VHOST_CONFIG_LOG(name of the socket, level, format, ...). Releases
 * before 24.03 call it otherwise, and their messages bring the end of the line.
 */

#include "vhost.h"

#ifndef VHOST_CONFIG_LOG
#define VHOST_CONFIG_LOG(prefix, level, format, ...) \
	VHOST_LOG_CONFIG(prefix, level, format "\n", ##__VA_ARGS__)
#endif

#endif /* VHOST_LOG_FALLBACK_H */
