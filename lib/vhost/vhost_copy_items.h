/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* Copies in the mode that PKTCPY_MODE and VHOST_COPY_NAME() stand for. */

#include "pktcpy.h"
#include "vhost_copy_calibrate.h"

void
VHOST_COPY_NAME(vhost_copy_items)(const struct vhost_copy_item *items, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		pktcpy(items[i].dst, items[i].src, items[i].len);
}
