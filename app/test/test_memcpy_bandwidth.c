/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * How many bytes a second does rte_memcpy() copy, beside libc's memcpy(),
 * from 4 KiB, which the L1 cache holds, to 256 MiB, which no cache does?
 *
 * The same block is copied to the same place, in windows in which all ways to
 * copy take turns: within private memory, from it into memory shared with
 * another process, and out of that. The other process is a child, on another CPU
 * if there is one, that touched the shared memory first and waits while the windows
 * are measured, so no cache line goes to and fro. At the end it checks that the bytes have come to it.
 * All areas begin at a page.
 *
 * Environment:
 * MEMCPY_BANDWIDTH_SECONDS=N  measure for about N seconds, 5 to 3600; longer if
 *   so many do not suffice for 3 windows of each, for which a page takes its time
 *   to be touched first
 * MEMCPY_BANDWIDTH_JSON=FILE  write the figures there too, a JSON object a line
 */

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memcpy_bench.h"
#include "other_cpus.h"
#include "test.h"

#define DEFAULT_SECONDS 30

#define MIN_LEN ((size_t)4 * 1024)
#define MAX_LEN ((size_t)256 * 1024 * 1024)
#define NUM_LENS 17

/* A window is one copy, or as many as take that long. */
#define WINDOW_US 100
#define MIN_ROUNDS 3
#define MAX_ROUNDS 4096

/* What the child fills the shared memory with, and what is copied over that. */
#define OLD_BYTE 0x5a
#define NEW_BYTE 0xa5

enum path {
	WITHIN_PRIVATE,
	INTO_SHARED,
	OUT_OF_SHARED,
	NUM_PATHS
};

enum candidate {
	RTE_MEMCPY,
	LIBC,
	NUM_CANDIDATES
};

/* The memory of one size: areas of so many bytes each. */
struct memory {
	size_t len;
	uint8_t *src;
	uint8_t *dst;
	uint8_t *shared;
};

/* CPUs for the other process, and whether there are such. */
static rte_cpuset_t peer_cpus;
static bool has_peer_cpus;

/* The other process, and the socket to it. */
struct peer {
	pid_t pid;
	int fd;
};

/* Rates of the windows in MB/s. */
struct rates {
	float values[NUM_PATHS][NUM_CANDIDATES][MAX_ROUNDS];
	unsigned int num_rounds;
};

typedef void (*run_t)(uint8_t *dst, const uint8_t *src, size_t len, unsigned int num);

static const char *const path_names[] = { "private", "copy_in", "copy_out" };
static const char *const path_titles[] = { "private to private", "private to shared",
	"shared to private" };
static const char *const candidate_names[] = { "rte_memcpy", "libc" };

/* --- the loops that are timed --- */

static __rte_noinline void
run_rte_memcpy(uint8_t *dst, const uint8_t *src, size_t len, unsigned int num)
{
	while (num-- > 0) {
		rte_memcpy(dst, src, len);
		rte_compiler_barrier();
	}
}

static __rte_noinline void
run_libc(uint8_t *dst, const uint8_t *src, size_t len, unsigned int num)
{
	while (num-- > 0) {
		bench_libc_memcpy(dst, src, len);
		rte_compiler_barrier();
	}
}

static const run_t runs[NUM_CANDIDATES] = { run_rte_memcpy, run_libc };

static uint64_t
time_window(const struct memory *memory, enum path path, enum candidate candidate, unsigned int num)
{
	uint8_t *dst = path == INTO_SHARED ? memory->shared : memory->dst;
	const uint8_t *src = path == OUT_OF_SHARED ? memory->shared : memory->src;
	uint64_t start = rte_rdtsc_precise();

	runs[candidate](dst, src, memory->len, num);
	return rte_rdtsc_precise() - start;
}

/* --- the other process --- */

static bool
all_new(const uint8_t *bytes, size_t len)
{
	return bytes[0] == NEW_BYTE && memcmp(bytes, bytes + 1, len - 1) == 0;
}

/*
 * The child: own the memory, say so, wait for the word to check it.
 * Should the parent die, the socket is at its end and so is the child.
 */
static __rte_noreturn void
run_peer(int fd, uint8_t *shared, size_t len)
{
	char word = 0;
	bool ok = false;

	if (has_peer_cpus && !move_to_cpus(&peer_cpus))
		_exit(EXIT_FAILURE);
	memset(shared, OLD_BYTE, len);
	if (write(fd, &word, 1) == 1 && read(fd, &word, 1) == 1)
		ok = all_new(shared, len);
	_exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Wait for the child to end; is all well with it? */
static bool
reap_peer(const struct peer *peer)
{
	int status = 0;
	pid_t pid;

	close(peer->fd);
	do {
		pid = waitpid(peer->pid, &status, 0);
	} while (pid < 0 && errno == EINTR);
	return pid == peer->pid && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* Returns when the child has touched all the memory. */
static int
start_peer(struct peer *peer, uint8_t *shared, size_t len)
{
	int fds[2];
	char word;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		return -1;
	fflush(stdout);
	peer->pid = fork();
	if (peer->pid == 0) {
		close(fds[0]);
		run_peer(fds[1], shared, len);
	}
	close(fds[1]);
	peer->fd = fds[0];
	if (peer->pid < 0) {
		close(peer->fd);
		return -1;
	}
	if (read(peer->fd, &word, 1) != 1) {
		reap_peer(peer);
		return -1;
	}
	return 0;
}

/* The child ends either way, after it has checked what has come to it. */
static int
finish_peer(const struct peer *peer)
{
	char word = 0;
	bool sent = send(peer->fd, &word, 1, MSG_NOSIGNAL) == 1;

	return reap_peer(peer) && sent ? 0 : -1;
}

/* --- one size --- */

static void
measure_round(const struct memory *memory, unsigned int num, struct rates *rates)
{
	unsigned int round = rates->num_rounds++;
	unsigned int i;
	enum path path;

	for (path = 0; path < NUM_PATHS; path++)
		for (i = 0; i < NUM_CANDIDATES; i++) {
			enum candidate candidate = (round + i) % NUM_CANDIDATES;
			uint64_t tsc = time_window(memory, path, candidate, num);

			rates->values[path][candidate][round] = (double)memory->len * num *
				rte_get_tsc_hz() / tsc / 1e6;
		}
}

/* Does all of the block arrive? */
static int
check_candidate(const struct memory *memory, enum candidate candidate)
{
	memset(memory->dst, OLD_BYTE, memory->len);
	time_window(memory, WITHIN_PRIVATE, candidate, 1);
	if (all_new(memory->dst, memory->len))
		return 0;
	printf("\n%s: n=%zu: copied wrong bytes\n", candidate_names[candidate], memory->len);
	return -1;
}

static int
measure(const struct memory *memory, uint64_t tsc, struct rates *rates)
{
	uint64_t window_tsc = rte_get_tsc_hz() / 1000000 * WINDOW_US;
	uint64_t end = rte_get_tsc_cycles() + tsc;
	uint64_t one_tsc;
	unsigned int num;

	if (check_candidate(memory, RTE_MEMCPY) != 0 || check_candidate(memory, LIBC) != 0)
		return -1;
	/* Each way once, which also brings the memory into the caches that hold it. */
	rates->num_rounds = 0;
	measure_round(memory, 1, rates);
	one_tsc = time_window(memory, WITHIN_PRIVATE, RTE_MEMCPY, 1);
	num = 1 + window_tsc / RTE_MAX(one_tsc, (uint64_t)1);
	rates->num_rounds = 0;
	do {
		measure_round(memory, num, rates);
	} while (rates->num_rounds < MIN_ROUNDS ||
		(rates->num_rounds < MAX_ROUNDS && rte_get_tsc_cycles() < end));
	return 0;
}

static int
map_private(struct memory *memory)
{
	memory->src = bench_map(memory->len, MAP_PRIVATE);
	memory->dst = bench_map(memory->len, MAP_PRIVATE);
	if (memory->src == NULL || memory->dst == NULL)
		return -1;
	memset(memory->src, NEW_BYTE, memory->len);
	return 0;
}

static void
unmap_memory(struct memory *memory)
{
	bench_unmap(memory->src, memory->len);
	bench_unmap(memory->dst, memory->len);
	bench_unmap(memory->shared, memory->len);
}

/*
 * Measure with a child at the other end of the shared memory.
 * Private memory is mapped behind the fork, or the child would share it too,
 * and each first write to a page would be one more copy.
 */
static int
measure_with_peer(struct memory *memory, uint64_t tsc, struct rates *rates, const char **reason)
{
	struct peer peer;
	int ret;

	if (start_peer(&peer, memory->shared, memory->len) != 0) {
		*reason = "no other process could touch the shared memory";
		return 0;
	}
	if (map_private(memory) != 0) {
		*reason = "cannot map private memory";
		reap_peer(&peer);
		return 0;
	}
	ret = measure(memory, tsc, rates);
	if (finish_peer(&peer) != 0 && ret == 0) {
		printf("\n%zu bytes: did not come to the other process, or it failed\n",
			memory->len);
		ret = -1;
	}
	return ret;
}

/* Measure one size, or give a reason why not: too little memory is no failure. */
static int
measure_len(size_t len, uint64_t tsc, struct rates *rates, const char **reason)
{
	struct memory memory = { .len = len };
	int ret = 0;

	*reason = NULL;
	if (bench_available_memory() < 4 * (uint64_t)len) {
		*reason = "too little memory is free";
		return 0;
	}
	memory.shared = bench_map(len, MAP_SHARED);
	if (memory.shared != NULL)
		ret = measure_with_peer(&memory, tsc, rates, reason);
	else
		*reason = "cannot map shared memory";
	unmap_memory(&memory);
	return ret;
}

/* --- the table --- */

static void
print_head(void)
{
	unsigned int i, j;

	printf("\n%8s", "");
	for (i = 0; i < NUM_PATHS; i++)
		printf("  %27s", path_titles[i]);
	printf("\n%8s", "size");
	for (i = 0; i < NUM_PATHS; i++) {
		printf("  ");
		for (j = 0; j < NUM_CANDIDATES; j++)
			printf("%10s", candidate_names[j]);
		printf("%7s", "ratio");
	}
	printf("%9s\n", "windows");
}

/* A line of the table and a record of each figure in it. */
static void
print_rates(size_t len, struct rates *rates, FILE *json)
{
	double medians[NUM_CANDIDATES];
	unsigned int i, j, num = rates->num_rounds;

	for (i = 0; i < NUM_PATHS; i++) {
		printf("  ");
		for (j = 0; j < NUM_CANDIDATES; j++) {
			float *values = rates->values[i][j];

			medians[j] = bench_median(values, num);
			printf("%10.0f", medians[j]);
			if (json == NULL)
				continue;
			fprintf(json,
				"{\"record\":\"row\",\"table\":\"bandwidth\",\"name\":\"%s\",",
				path_names[i]);
			fprintf(json, "\"size\":%zu,\"impl\":\"%s\",\"mb_per_s_median\":%.1f,", len,
				candidate_names[j], medians[j]);
			fprintf(json, "\"mb_per_s_max\":%.1f,\"windows\":%u}\n", values[num - 1],
				num);
		}
		printf("%7.2f", medians[RTE_MEMCPY] / medians[LIBC]);
	}
	printf("%9u\n", num);
}

static void
print_skipped(size_t len, const char *reason, FILE *json)
{
	printf("  skipped: %s\n", reason);
	if (json == NULL)
		return;
	fprintf(json, "{\"record\":\"skipped\",\"table\":\"bandwidth\",");
	bench_json_string(json, "reason", reason);
	fprintf(json, "\"size\":%zu}\n", len);
}

static int
run_len(size_t len, uint64_t tsc, FILE *json)
{
	static struct rates rates;
	const char *reason;

	if (len < 1024 * 1024)
		printf("%4zu KiB", len / 1024);
	else
		printf("%4zu MiB", len / (1024 * 1024));
	fflush(stdout);
	if (measure_len(len, tsc, &rates, &reason) != 0)
		return -1;
	if (reason != NULL)
		print_skipped(len, reason, json);
	else
		print_rates(len, &rates, json);
	return 0;
}

static int
run_lens(unsigned long seconds, FILE *json)
{
	size_t len;

	has_peer_cpus = get_other_cpus(&peer_cpus);
	printf("figures    MB/s, 1 MB = 1000000 bytes: median of windows, candidates in turn\n"
	       "ratio      rate of rte_memcpy by that of libc\n"
	       "shared     with a process%s that has touched the memory and waits\n",
		has_peer_cpus ? " on another CPU" : " on the same CPU, the only one,");
	print_head();
	for (len = MIN_LEN; len <= MAX_LEN; len *= 2)
		if (run_len(len, rte_get_tsc_hz() * seconds / NUM_LENS, json) != 0)
			return -1;
	return 0;
}

static int
test_memcpy_bandwidth(void)
{
	static const struct bench_command command = {
		.name = "memcpy_bandwidth_autotest",
		.seconds_variable = "MEMCPY_BANDWIDTH_SECONDS",
		.json_variable = "MEMCPY_BANDWIDTH_JSON",
		.default_seconds = DEFAULT_SECONDS,
		.run = run_lens,
	};

	return bench_run(&command);
}

REGISTER_TEST_COMMAND(memcpy_bandwidth_autotest, test_memcpy_bandwidth);
