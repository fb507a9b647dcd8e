/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The dpdk-memcpy authors
 */

/*
 * Right code that must compile without a warning, as C and as C++.
 *
 * The objects are smaller than the blocks that rte_memcpy() works with. For
 * some size it would write 128 bytes, say, and the compiler, which has inlined
 * it with the object at hand, must not take that for an overflow.
 */

#include <stdlib.h>

#include <rte_memcpy.h>

#ifdef __cplusplus
extern "C" {
#endif

void
use(const void *obj);

/* clang-format off */

/* An object of len bytes in all kinds of places, a size of all kinds of types. */
#define SMALL_OBJECT(len) \
extern uint8_t global_##len[len]; \
extern const uint8_t constant_##len[len]; \
uint8_t global_##len[len]; \
const uint8_t constant_##len[len] = { 1 }; \
struct with_##len { \
	uint8_t before; \
	uint8_t data[len]; \
	uint16_t after; \
}; \
extern struct with_##len record_##len; \
struct with_##len record_##len; \
\
void *to_global_##len(const void *src, size_t n); \
void *to_global_##len(const void *src, size_t n) \
{ \
	return rte_memcpy(global_##len, src, n); \
} \
void *to_global_bounded_##len(const void *src, unsigned int n); \
void *to_global_bounded_##len(const void *src, unsigned int n) \
{ \
	return n > len ? NULL : rte_memcpy(global_##len, src, n); \
} \
void *to_global_clamped_##len(const void *src, uint16_t n); \
void *to_global_clamped_##len(const void *src, uint16_t n) \
{ \
	return rte_memcpy(global_##len, src, n < len ? n : len); \
} \
void *to_global_middle_##len(const void *src, uint8_t n); \
void *to_global_middle_##len(const void *src, uint8_t n) \
{ \
	return rte_memcpy(&global_##len[len / 2], src, n); \
} \
void *to_global_at_##len(const void *src, unsigned int at, unsigned int n); \
void *to_global_at_##len(const void *src, unsigned int at, unsigned int n) \
{ \
	return rte_memcpy(global_##len + at, src, n); \
} \
void *to_global_signed_##len(const void *src, int n); \
void *to_global_signed_##len(const void *src, int n) \
{ \
	return rte_memcpy(global_##len, src, (size_t)n); \
} \
void *to_global_whole_##len(const void *src); \
void *to_global_whole_##len(const void *src) \
{ \
	return rte_memcpy(global_##len, src, sizeof(global_##len)); \
} \
void *from_global_##len(void *dst, unsigned int n); \
void *from_global_##len(void *dst, unsigned int n) \
{ \
	return rte_memcpy(dst, global_##len, n); \
} \
void *from_constant_##len(void *dst, uint16_t n); \
void *from_constant_##len(void *dst, uint16_t n) \
{ \
	return rte_memcpy(dst, constant_##len, n); \
} \
void *between_globals_##len(size_t n); \
void *between_globals_##len(size_t n) \
{ \
	return rte_memcpy(global_##len, constant_##len, n); \
} \
void *to_member_##len(const void *src, uint16_t n); \
void *to_member_##len(const void *src, uint16_t n) \
{ \
	return rte_memcpy(record_##len.data, src, n); \
} \
void *to_member_of_##len(struct with_##len *record, const void *src, size_t n); \
void *to_member_of_##len(struct with_##len *record, const void *src, size_t n) \
{ \
	return rte_memcpy(record->data, src, n); \
} \
void *from_member_##len(void *dst, unsigned int n); \
void *from_member_##len(void *dst, unsigned int n) \
{ \
	return rte_memcpy(dst, &record_##len.data, n); \
} \
void to_local_##len(const void *src, unsigned int n); \
void to_local_##len(const void *src, unsigned int n) \
{ \
	uint8_t local[len]; \
\
	rte_memcpy(local, src, n); \
	use(local); \
} \
void from_local_##len(void *dst, size_t n); \
void from_local_##len(void *dst, size_t n) \
{ \
	uint8_t local[len] = { 1 }; \
\
	use(local); \
	rte_memcpy(dst, local, n); \
} \
void to_heap_##len(const void *src, unsigned int n); \
void to_heap_##len(const void *src, unsigned int n) \
{ \
	uint8_t *heap = (uint8_t *)malloc(len); \
\
	if (heap == NULL) \
		return; \
	rte_memcpy(heap, src, n); \
	use(heap); \
	free(heap); \
} \
void to_loop_##len(const uint8_t *src); \
void to_loop_##len(const uint8_t *src) \
{ \
	unsigned int n; \
\
	for (n = 0; n <= len && n < 4; n++) \
		rte_memcpy(global_##len, src + n, n); \
}

SMALL_OBJECT(1)
SMALL_OBJECT(2)
SMALL_OBJECT(4)
SMALL_OBJECT(6)
SMALL_OBJECT(8)
SMALL_OBJECT(12)
SMALL_OBJECT(16)
SMALL_OBJECT(20)
SMALL_OBJECT(31)
SMALL_OBJECT(32)
SMALL_OBJECT(48)
SMALL_OBJECT(64)
SMALL_OBJECT(128)
SMALL_OBJECT(256)

/* clang-format on */

/* Objects that are no arrays of bytes, with and without stricter alignment. */
struct flexible {
	uint16_t len;
	uint8_t data[];
};

extern uint32_t word;
extern uint64_t words[2];
uint32_t word;
uint64_t words[2];

void *
to_flexible(struct flexible *obj, const void *src);
void *
to_flexible(struct flexible *obj, const void *src)
{
	return rte_memcpy(obj->data, src, obj->len);
}

void *
from_flexible(void *dst, const struct flexible *obj);
void *
from_flexible(void *dst, const struct flexible *obj)
{
	return rte_memcpy(dst, obj->data, obj->len);
}

void *
to_word(const uint8_t *src, unsigned int n);
void *
to_word(const uint8_t *src, unsigned int n)
{
	return rte_memcpy(&word, src, n);
}

void *
from_words(uint16_t *dst, unsigned int n);
void *
from_words(uint16_t *dst, unsigned int n)
{
	return rte_memcpy(dst, words, n);
}

#ifndef RTE_ARCH_RISCV /* has a macro of DPDK's own, on plain memcpy() */
void *
nothing(void *dst);
void *
nothing(void *dst)
{
	return rte_memcpy(dst, NULL, 0);
}
#endif

/* clang-format off */

/* Blocks of a fixed size, between objects of just that size. */
#define FIXED_BLOCK(len) \
extern uint8_t from_##len[len]; \
extern uint8_t to_##len[len]; \
uint8_t from_##len[len]; \
uint8_t to_##len[len]; \
void mov_##len(void); \
void mov_##len(void) \
{ \
	rte_mov##len(to_##len, from_##len); \
}

FIXED_BLOCK(16)
FIXED_BLOCK(32)
FIXED_BLOCK(48)
FIXED_BLOCK(64)
FIXED_BLOCK(128)
FIXED_BLOCK(256)

/* clang-format on */

#ifdef __cplusplus
}
#endif
