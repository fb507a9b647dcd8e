/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <eal_export_fallback.h>

#include "vhost_copy.h"
#include "vhost_copy_histogram.h"
#include "vhost_telemetry.h"

RTE_DEFINE_PER_LCORE(struct vhost_copy_counter, vhost_copy_counter);

/* The first four are the cases of pktcpy(). */
static const uint32_t class_max[RTE_VHOST_COPY_SIZE_CLASSES] = { 31, 64, 128, 256, 512, 1024, 2048,
	UINT32_MAX };

/* There is one writer, who holds the lock of the queue; others read without. */
static void
add_one(uint64_t *count)
{
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

static void
count_copy(const struct vhost_copy_counter *counter, const void *dst, size_t len)
{
	struct rte_vhost_copy_histogram *histogram = &counter->vq->copy_histogram;
	unsigned int size_class = 0;

	if (counter->vq->copy_histogram_epoch != counter->epoch) {
		memset(histogram, 0, sizeof(*histogram));
		__atomic_store_n(
			&counter->vq->copy_histogram_epoch, counter->epoch, __ATOMIC_RELEASE);
	}
	while (len > class_max[size_class])
		size_class++;
	add_one(&histogram->sizes[size_class]);
	add_one(&histogram->alignments[(uintptr_t)dst % RTE_VHOST_COPY_ALIGNMENTS]);
}

void
vhost_copy_counted(void *dst, const void *src, size_t len)
{
	const struct vhost_copy_counter *counter = &RTE_PER_LCORE(vhost_copy_counter);
	const struct vhost_copy_item item = { .dst = dst, .src = src, .len = len };

	count_copy(counter, dst, len);
	if (counter->mode == RTE_VHOST_COPY_MEMCPY)
		vhost_copy_items_memcpy(&item, 1);
	else if (counter->mode == RTE_VHOST_COPY_NARROW)
		vhost_copy_items_narrow(&item, 1);
	else
		vhost_copy_items_wide(&item, 1);
}

static void
add_counts(uint64_t *sum, const uint64_t *counts, unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		sum[i] += __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
}

void
vhost_copy_histogram(const struct virtio_net *dev, struct rte_vhost_copy_histogram *enqueue,
	struct rte_vhost_copy_histogram *dequeue)
{
	struct rte_vhost_copy_histogram *sum;
	const struct vhost_virtqueue *vq;
	uint32_t i, epoch;

	memset(enqueue, 0, sizeof(*enqueue));
	memset(dequeue, 0, sizeof(*dequeue));
	epoch = __atomic_load_n(&dev->copy_histogram_epoch, __ATOMIC_RELAXED);
	for (i = 0; i < dev->nr_vring; i++) {
		vq = dev->virtqueue[i];
		if (vq == NULL ||
			__atomic_load_n(&vq->copy_histogram_epoch, __ATOMIC_ACQUIRE) != epoch)
			continue;
		/* The guest receives by the queues of even numbers. */
		sum = i % 2 == 0 ? enqueue : dequeue;
		add_counts(sum->sizes, vq->copy_histogram.sizes, RTE_DIM(sum->sizes));
		add_counts(
			sum->alignments, vq->copy_histogram.alignments, RTE_DIM(sum->alignments));
	}
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_vhost_get_copy_histogram, 22.11)
int
rte_vhost_get_copy_histogram(
	int vid, struct rte_vhost_copy_histogram *enqueue, struct rte_vhost_copy_histogram *dequeue)
{
	const struct virtio_net *dev;

	vhost_telemetry_lock_devices();
	dev = get_device(vid);
	if (dev != NULL)
		vhost_copy_histogram(dev, enqueue, dequeue);
	vhost_telemetry_unlock_devices();
	return dev != NULL ? 0 : -ENODEV;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_vhost_copy_size_class_max, 22.11)
uint32_t
rte_vhost_copy_size_class_max(unsigned int size_class)
{
	return size_class < RTE_DIM(class_max) ? class_max[size_class] : UINT32_MAX;
}
