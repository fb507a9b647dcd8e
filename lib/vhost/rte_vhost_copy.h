/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#ifndef RTE_VHOST_COPY_H
#define RTE_VHOST_COPY_H

/**
 * @file
 *
 * How vhost copies packets between mbufs and guest buffers.
 *
 * Which way is fastest depends on the core that polls a device. The choice is made anew
 * for each burst, so that one device can be polled by cores of several kinds.
 * It holds for rte_vhost_enqueue_burst() and rte_vhost_dequeue_burst(); the asynchronous
 * functions copy as in the mode "wide" what they do not leave to a DMA device.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_cpu_core_type.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Ways to copy packets. */
enum rte_vhost_copy_mode {
	/** By the kind of core: narrow on efficiency cores, wide on others. The default. */
	RTE_VHOST_COPY_AUTO = 0,
	/** rte_memcpy(), whatever it is in this build, for all sizes. */
	RTE_VHOST_COPY_MEMCPY,
	/** Registers of 32 bytes where the build has them, rte_memcpy() where it is faster. */
	RTE_VHOST_COPY_WIDE,
	/** Registers of 16 bytes, the C library above 256 bytes. */
	RTE_VHOST_COPY_NARROW,
	/**
	 * What is fastest of the others where it is tried, see rte_vhost_copy_calibration.
	 * The first poll of a device takes a few milliseconds longer then.
	 */
	RTE_VHOST_COPY_CALIBRATE,
};

/** Number of enum rte_vhost_copy_mode. */
#define RTE_VHOST_COPY_MODES 5

/** The names of all modes, as for a message about another one. */
#define RTE_VHOST_COPY_MODE_NAMES "auto, memcpy, wide, narrow or calibrate"

/** Number of enum rte_cpu_core_type. */
#define RTE_VHOST_COPY_CORE_TYPES 4

/**
 * What was found by trying, on one kind of core.
 *
 * The thread that polls a device first, on cores of that kind, copies packets from memory
 * of its own to memory of its own, with all modes in turn. Of each mode the median
 * counts. A mode is chosen if it is faster by 3 % than what "auto" means on that core.
 */
struct rte_vhost_copy_calibration {
	/** The mode that was chosen; AUTO if none was tried yet. */
	enum rte_vhost_copy_mode mode;
	/** What "auto" means was chosen because none is clearly fastest, or for want of memory. */
	bool tie;
	/** Picoseconds per packet by mode, in IMIX; 0 for those that are none of their own. */
	uint32_t picoseconds[RTE_VHOST_COPY_MODES];
};

/** Number of classes of sizes, see rte_vhost_copy_size_class_max(). */
#define RTE_VHOST_COPY_SIZE_CLASSES 8

/** Addresses of copies are told apart modulo this. */
#define RTE_VHOST_COPY_ALIGNMENTS 64

/**
 * Copies in one direction. A packet is one copy for each part of it that is in one mbuf
 * and in one buffer of the guest.
 */
struct rte_vhost_copy_histogram {
	/** By size. */
	uint64_t sizes[RTE_VHOST_COPY_SIZE_CLASSES];
	/** By the address of the destination in this process, modulo 64. */
	uint64_t alignments[RTE_VHOST_COPY_ALIGNMENTS];
};

/** What a device has been copying by. */
struct rte_vhost_copy_status {
	/** The mode that was set. */
	enum rte_vhost_copy_mode mode;
	/** Whether copies are being counted for a histogram. */
	bool histogram;
	/**
	 * The kind of core that has polled the device's last queue, of those that had packets.
	 * Queues may be polled from cores of several kinds.
	 */
	enum rte_cpu_core_type core_type;
	/** Bursts of packets by the mode they were copied in: MEMCPY, WIDE or NARROW. */
	uint64_t bursts[RTE_VHOST_COPY_MODES];
	/** By enum rte_cpu_core_type, what was tried since the mode CALIBRATE was set. */
	struct rte_vhost_copy_calibration calibrations[RTE_VHOST_COPY_CORE_TYPES];
};

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Choose how the devices of a socket copy packets: those that are there, from their next
 * burst on, and those to come. This function is thread-safe, also beside bursts.
 * To set CALIBRATE again is to have the modes tried again.
 *
 * @param path
 *   The socket, as for rte_vhost_driver_register(), which has to come first.
 * @param mode
 *   How to copy.
 * @return
 *   0, or -EINVAL if there is no such mode, or -ENOENT if the socket is not registered.
 */
__rte_experimental int
rte_vhost_driver_set_copy_mode(const char *path, enum rte_vhost_copy_mode mode);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Tell how a device copies packets. This function is thread-safe; bursts that run
 * meanwhile may be counted or not. While modes are tried it waits, for milliseconds.
 * The device may go at any time: then it is none.
 *
 * @param vid
 *   The device.
 * @param status
 *   Filled in.
 * @return
 *   0, or -ENODEV if there is no such device.
 */
__rte_experimental int
rte_vhost_get_copy_status(int vid, struct rte_vhost_copy_status *status);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Count copies by size and alignment, or stop it, for the devices of a socket: those that
 * are there, from their next burst on, and those to come. This function is thread-safe,
 * also beside bursts.
 *
 * A device that counts runs another compilation of the data path, which copies in the same
 * mode and is slower. One that does not pays nothing.
 *
 * @param path
 *   The socket, as for rte_vhost_driver_register(), which has to come first.
 * @param on
 *   true: count from 0 on, also if it was on before. false: stop, and keep what was counted.
 * @return
 *   0, or -ENOENT if the socket is not registered.
 */
__rte_experimental int
rte_vhost_driver_set_copy_histogram(const char *path, bool on);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Get what was counted. This function is thread-safe; copies made meanwhile may be
 * counted or not. The device may go at any time: then it is none.
 *
 * @param vid
 *   The device.
 * @param enqueue
 *   Filled in with copies to the guest.
 * @param dequeue
 *   Filled in with copies from the guest.
 * @return
 *   0, or -ENODEV if there is no such device.
 */
__rte_experimental int
rte_vhost_get_copy_histogram(int vid, struct rte_vhost_copy_histogram *enqueue,
	struct rte_vhost_copy_histogram *dequeue);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Tell how long the longest copies of a class of sizes are. The shortest are longer by a
 * byte than the longest of the class before. This function is thread-safe.
 *
 * @param size_class
 *   Index of rte_vhost_copy_histogram.sizes.
 * @return
 *   Bytes; UINT32_MAX for the last class, and for none that there is.
 */
__rte_experimental uint32_t
rte_vhost_copy_size_class_max(unsigned int size_class);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Name a mode. This function is thread-safe.
 *
 * @param mode
 *   The mode.
 * @return
 *   "auto", "memcpy", "wide", "narrow" or "calibrate"; NULL if there is no such mode.
 */
__rte_experimental const char *
rte_vhost_copy_mode_name(enum rte_vhost_copy_mode mode);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Find a mode by its name. This function is thread-safe.
 *
 * @param name
 *   What rte_vhost_copy_mode_name() returns.
 * @param mode
 *   Set to the mode of that name.
 * @return
 *   0, or -EINVAL if no mode has that name; *mode* is left as it is then.
 */
__rte_experimental int
rte_vhost_copy_mode_parse(const char *name, enum rte_vhost_copy_mode *mode);

#ifdef __cplusplus
}
#endif

#endif /* RTE_VHOST_COPY_H */
