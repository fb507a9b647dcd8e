/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/* libFuzzer chooses the operations that vhost_iotlb_map_autotest draws at random. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "iotlb_map.h"
#include "iotlb_map_model.h"

static uint32_t
next_byte_pair(struct model_words *words)
{
	uint16_t pair = 0;

	if (words->len < sizeof(pair)) {
		words->len = 0;
		return 0;
	}
	memcpy(&pair, words->data, sizeof(pair));
	words->data += sizeof(pair);
	words->len -= sizeof(pair);
	/* What is drawn from the upper bits of a word comes from the lower ones here. */
	return pair * 0x10001u;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct model_words words = { .next = next_byte_pair, .data = data, .len = len };
	const uint32_t kind = next_byte_pair(&words);
	/* Of bytes, of parts of pages, of pages. */
	static const unsigned int shifts[] = { 0, 10, 12, 13 };
	const uint32_t few = 1 + kind / 4 % 16;
	/* All may be persistent if they merge, or else so few that others can be evicted. */
	struct model *model = kind & 256
		? model_create(few, true, shifts[kind / 64 % 4], MODEL_CELLS)
		: model_create(
			  kind & 1 ? MODEL_CELLS : 8 + few, kind & 2, shifts[kind / 64 % 4], 4);

	if (model == NULL)
		abort();
	while (words.len > 0)
		if (model_step(model, &words) != 0)
			abort();
	model_destroy(model);
	return 0;
}
