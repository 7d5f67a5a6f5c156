// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };  // a cache line, and enough for any vector unit

static void *malloc_acquire(void *user, size_t bytes) {
    (void)user;
    return malloc(bytes);
}

static void malloc_release(void *user, void *block) {
    (void)user;
    free(block);
}

sn_allocator sn_allocator_of(const sn_allocator *allocator) {
    if (allocator != NULL) return *allocator;
    return (sn_allocator){malloc_acquire, malloc_release, NULL};
}

void *sn_acquire(const sn_allocator *allocator, size_t bytes) {
    SN_ASSERT(bytes > 0);
    if (allocator == NULL) return malloc(bytes);
    if (allocator->acquire == NULL || allocator->release == NULL) return NULL;
    return allocator->acquire(allocator->user, bytes);
}

void sn_release(const sn_allocator *allocator, void *block) {
    if (block == NULL) return;
    if (allocator == NULL) {
        free(block);
    } else {
        allocator->release(allocator->user, block);
    }
}

void *sn_layout_take(sn_layout *layout, size_t count, size_t size) {
    size_t start = layout->used;
    if (size > 0 && count > (SIZE_MAX - ALIGNMENT) / size) layout->overflow = true;
    if (layout->overflow) return NULL;
    size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > SIZE_MAX - ALIGNMENT - start) {
        layout->overflow = true;
        return NULL;
    }
    layout->used = start + bytes;
    return layout->block == NULL ? NULL : layout->block + start;
}

void *sn_layout_keep(sn_layout *layout, const void *item, size_t size) {
    void *to = sn_layout_take(layout, 1, size);
    if (to != NULL) memcpy(to, item, size);
    return to;
}

void *sn_layout_acquire_raw(const sn_layout *measured, const sn_allocator *allocator,
                            void **owner) {
    *owner = NULL;
    if (measured->overflow) return NULL;
    char *block = sn_acquire(allocator, measured->used + ALIGNMENT);
    if (block == NULL) return NULL;
    *owner = block;
    size_t past = (uintptr_t)block % ALIGNMENT;
    return block + (past == 0 ? 0 : ALIGNMENT - past);
}

void *sn_layout_acquire(const sn_layout *measured, const sn_allocator *allocator, void **owner) {
    void *block = sn_layout_acquire_raw(measured, allocator, owner);
    if (block != NULL) memset(block, 0, measured->used);
    return block;
}

sn_status sn_grow(const sn_allocator *allocator, void **items, size_t *capacity, size_t need,
                  size_t size) {
    if (need <= *capacity) return SN_OK;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2) return SN_ERR_SIZE;
        wanted *= 2;
    }
    if (wanted > SIZE_MAX / size) return SN_ERR_SIZE;
    void *grown = sn_acquire(allocator, wanted * size);
    if (grown == NULL) return SN_ERR_MEMORY;
    if (*items != NULL) memcpy(grown, *items, *capacity * size);
    sn_release(allocator, *items);
    *items = grown;
    *capacity = wanted;
    return SN_OK;
}
