/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cpu_core_type.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_eth_vhost.h>
#include <rte_kvargs.h>
#include <rte_vhost_copy.h>

#include <cmdline_parse.h>
#include <cmdline_parse_num.h>
#include <cmdline_parse_string.h>

#include "testpmd.h"

/* "set port <id> vhost copy <mode>", "... histogram on|off", "show port <id> vhost copy" */
struct vhost_copy_result {
	cmdline_fixed_string_t verb;
	cmdline_fixed_string_t port;
	portid_t port_id;
	cmdline_fixed_string_t vhost;
	cmdline_fixed_string_t copy;
	cmdline_fixed_string_t mode; /* or "histogram" */
	cmdline_fixed_string_t on;
};

static int
keep_copy_of(const char *key __rte_unused, const char *value, void *to)
{
	char **string = to;

	free(*string);
	*string = value != NULL ? strdup(value) : NULL;
	return 0;
}

/* The socket of a port of net_vhost, to be freed, or NULL with a message. */
static char *
socket_of(portid_t port_id)
{
	const struct rte_devargs *devargs = NULL;
	struct rte_eth_dev_info info;
	struct rte_kvargs *kvlist;
	char *path = NULL;

	if (rte_eth_dev_info_get(port_id, &info) == 0 && info.device != NULL &&
		strcmp(info.driver_name, "net_vhost") == 0)
		devargs = rte_dev_devargs(info.device);
	if (devargs != NULL) {
		kvlist = rte_kvargs_parse(devargs->args, NULL);
		if (kvlist != NULL)
			rte_kvargs_process(kvlist, "iface", keep_copy_of, &path);
		rte_kvargs_free(kvlist);
	}
	if (path == NULL)
		fprintf(stderr, "Port %u is not of net_vhost\n", port_id);
	return path;
}

static void
warn_if_not_registered(portid_t port_id, int ret)
{
	if (ret != 0)
		fprintf(stderr, "The socket of port %u is not registered, start the port first\n",
			port_id);
}

static void
set_copy(void *parsed, struct cmdline *cl __rte_unused, void *data __rte_unused)
{
	const struct vhost_copy_result *res = parsed;
	enum rte_vhost_copy_mode mode;
	char *path;

	if (port_id_is_invalid(res->port_id, ENABLED_WARN))
		return;
	if (rte_vhost_copy_mode_parse(res->mode, &mode) != 0) {
		fprintf(stderr, "No copy mode %s: must be " RTE_VHOST_COPY_MODE_NAMES "\n",
			res->mode);
		return;
	}
	path = socket_of(res->port_id);
	if (path != NULL)
		warn_if_not_registered(res->port_id, rte_vhost_driver_set_copy_mode(path, mode));
	free(path);
}

static void
set_histogram(void *parsed, struct cmdline *cl __rte_unused, void *data __rte_unused)
{
	const struct vhost_copy_result *res = parsed;
	bool on = strcmp(res->on, "on") == 0;
	char *path;

	if (port_id_is_invalid(res->port_id, ENABLED_WARN))
		return;
	if (!on && strcmp(res->on, "off") != 0) {
		fprintf(stderr, "No histogram %s: must be on or off\n", res->on);
		return;
	}
	path = socket_of(res->port_id);
	if (path != NULL)
		warn_if_not_registered(res->port_id, rte_vhost_driver_set_copy_histogram(path, on));
	free(path);
}

/* Copies by size, then by alignment of their destination. */
static void
show_direction(const char *direction, const struct rte_vhost_copy_histogram *histogram)
{
	unsigned int i;

	for (i = 0; i < RTE_VHOST_COPY_SIZE_CLASSES; i++) {
		uint32_t min = i == 0 ? 0 : rte_vhost_copy_size_class_max(i - 1) + 1;
		uint32_t max = rte_vhost_copy_size_class_max(i);

		if (histogram->sizes[i] == 0)
			continue;
		printf("  %s, copies of %" PRIu32, direction, min);
		if (max == UINT32_MAX)
			printf(" bytes and more: %" PRIu64 "\n", histogram->sizes[i]);
		else
			printf(" to %" PRIu32 " bytes: %" PRIu64 "\n", max, histogram->sizes[i]);
	}
	for (i = 0; i < RTE_VHOST_COPY_ALIGNMENTS; i++)
		if (histogram->alignments[i] != 0)
			printf("  %s, copies to an address of %u modulo %d: %" PRIu64 "\n",
				direction, i, RTE_VHOST_COPY_ALIGNMENTS, histogram->alignments[i]);
}

static void
show_histogram(int vid, bool on)
{
	struct rte_vhost_copy_histogram enqueue, dequeue;

	if (rte_vhost_get_copy_histogram(vid, &enqueue, &dequeue) != 0)
		return;
	printf("  histogram %s\n", on ? "on" : "off");
	show_direction("enqueue", &enqueue);
	show_direction("dequeue", &dequeue);
}

/* What was tried, on the kinds of cores that have polled since. */
static void
show_calibrations(const struct rte_vhost_copy_status *status)
{
	const struct rte_vhost_copy_calibration *found;
	unsigned int type, mode;

	for (type = 0; type < RTE_VHOST_COPY_CORE_TYPES; type++) {
		found = &status->calibrations[type];
		if (found->mode == RTE_VHOST_COPY_AUTO)
			continue;
		printf("  calibrated on core type %s: %s%s", rte_cpu_core_type_name(type),
			rte_vhost_copy_mode_name(found->mode), found->tie ? " (a tie)" : "");
		for (mode = 0; mode < RTE_VHOST_COPY_MODES; mode++)
			if (found->picoseconds[mode] != 0)
				printf(", %s %.1f ns", rte_vhost_copy_mode_name(mode),
					found->picoseconds[mode] * 1e-3);
		printf(" per packet\n");
	}
}

static void
show_copy(void *parsed, struct cmdline *cl __rte_unused, void *data __rte_unused)
{
	const struct vhost_copy_result *res = parsed;
	struct rte_vhost_copy_status status;
	unsigned int mode;
	char *path;
	int vid;

	if (port_id_is_invalid(res->port_id, ENABLED_WARN))
		return;
	path = socket_of(res->port_id);
	if (path == NULL)
		return;
	free(path);
	vid = rte_eth_vhost_get_vid_from_port_id(res->port_id);
	if (vid < 0 || rte_vhost_get_copy_status(vid, &status) != 0) {
		fprintf(stderr,
			"No guest is connected to port %u; a mode that was set holds when one is\n",
			res->port_id);
		return;
	}
	printf("vhost copy of port %u: mode %s, core type %s\n", res->port_id,
		rte_vhost_copy_mode_name(status.mode), rte_cpu_core_type_name(status.core_type));
	for (mode = RTE_VHOST_COPY_MEMCPY; mode <= RTE_VHOST_COPY_NARROW; mode++)
		printf("  bursts copied by %s: %" PRIu64 "\n", rte_vhost_copy_mode_name(mode),
			status.bursts[mode]);
	show_calibrations(&status);
	show_histogram(vid, status.histogram);
}

static cmdline_parse_token_string_t token_set = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, verb, "set");
static cmdline_parse_token_string_t token_show = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, verb, "show");
static cmdline_parse_token_string_t token_port = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, port, "port");
static cmdline_parse_token_num_t token_port_id = TOKEN_NUM_INITIALIZER(
	struct vhost_copy_result, port_id, RTE_UINT16);
static cmdline_parse_token_string_t token_vhost = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, vhost, "vhost");
static cmdline_parse_token_string_t token_copy = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, copy, "copy");
/* Any word, so that a wrong one is answered with the right ones. */
static cmdline_parse_token_string_t token_mode = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, mode, NULL);

static cmdline_parse_token_string_t token_histogram = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, mode, "histogram");
static cmdline_parse_token_string_t token_on = TOKEN_STRING_INITIALIZER(
	struct vhost_copy_result, on, NULL);

static cmdline_parse_inst_t cmd_set_copy = {
	.f = set_copy,
	.help_str = "set port <port_id> vhost copy auto|memcpy|wide|narrow|calibrate",
	.tokens = { (void *)&token_set, (void *)&token_port, (void *)&token_port_id,
		(void *)&token_vhost, (void *)&token_copy, (void *)&token_mode, NULL },
};

static cmdline_parse_inst_t cmd_set_histogram = {
	.f = set_histogram,
	.help_str = "set port <port_id> vhost copy histogram on|off",
	.tokens = { (void *)&token_set, (void *)&token_port, (void *)&token_port_id,
		(void *)&token_vhost, (void *)&token_copy, (void *)&token_histogram,
		(void *)&token_on, NULL },
};

static cmdline_parse_inst_t cmd_show_copy = {
	.f = show_copy,
	.help_str = "show port <port_id> vhost copy",
	.tokens = { (void *)&token_show, (void *)&token_port, (void *)&token_port_id,
		(void *)&token_vhost, (void *)&token_copy, NULL },
};

static struct testpmd_driver_commands vhost_cmds = {
	.commands = {
		{ &cmd_set_copy,
			"set port (port_id) vhost copy (auto|memcpy|wide|narrow|calibrate)\n"
			"    Set how vhost copies packets, from the next burst on.\n" },
		{ &cmd_set_histogram,
			"set port (port_id) vhost copy histogram (on|off)\n"
			"    Count copies by size and alignment, from 0 on, or stop it.\n" },
		{ &cmd_show_copy,
			"show port (port_id) vhost copy\n"
			"    Show how vhost copies packets, how many bursts it did in which way,\n"
			"    and the histogram.\n" },
		{ NULL, NULL },
	},
};
TESTPMD_ADD_DRIVER_COMMANDS(vhost_cmds)
