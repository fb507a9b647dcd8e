/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef VHOST_COPY_ARG_H
#define VHOST_COPY_ARG_H

struct rte_devargs;
struct rte_kvargs;

/* The argument of net_vhost that sets how packets are copied. */
#define ETH_VHOST_COPY_ARG "copy"

/* Is the argument right, or not there? 0, or -EINVAL with a message. */
int
vhost_copy_arg_check(const struct rte_kvargs *kvlist);

/* Set what the argument says, if it is there, for a registered socket. 0 or -errno. */
int
vhost_copy_arg_apply(const struct rte_devargs *devargs, const char *path);

#endif /* VHOST_COPY_ARG_H */
