/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <stddef.h>

#include <rte_devargs.h>
#include <rte_kvargs.h>
#include <rte_log.h>
#include <rte_vhost_copy.h>

#include "vhost_copy_arg.h"

static int
parse_mode(const char *key, const char *value, void *mode)
{
	if (value != NULL && rte_vhost_copy_mode_parse(value, mode) == 0)
		return 0;
	RTE_LOG(ERR, PMD, "net_vhost: %s=%s: must be " RTE_VHOST_COPY_MODE_NAMES "\n", key,
		value != NULL ? value : "");
	return -EINVAL;
}

int
vhost_copy_arg_check(const struct rte_kvargs *kvlist)
{
	enum rte_vhost_copy_mode mode;

	if (rte_kvargs_count(kvlist, ETH_VHOST_COPY_ARG) > 1) {
		RTE_LOG(ERR, PMD, "net_vhost: " ETH_VHOST_COPY_ARG " must not be there twice\n");
		return -EINVAL;
	}
	return rte_kvargs_process(kvlist, ETH_VHOST_COPY_ARG, parse_mode, &mode) == 0 ? 0 : -EINVAL;
}

int
vhost_copy_arg_apply(const struct rte_devargs *devargs, const char *path)
{
	enum rte_vhost_copy_mode mode = RTE_VHOST_COPY_AUTO;
	struct rte_kvargs *kvlist;
	int ret;

	kvlist = rte_kvargs_parse(devargs != NULL ? devargs->args : "", NULL);
	if (kvlist == NULL)
		return -EINVAL;
	ret = rte_kvargs_process(kvlist, ETH_VHOST_COPY_ARG, parse_mode, &mode);
	rte_kvargs_free(kvlist);
	return ret == 0 ? rte_vhost_driver_set_copy_mode(path, mode) : -EINVAL;
}
