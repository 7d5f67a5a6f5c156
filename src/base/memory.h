// SPDX-License-Identifier: MIT
// Memory: one block per object, laid out by one function that runs twice; arrays that grow in
// readers; sizes that cannot overflow unseen.
#pragma once

#include "base/status.h"

/// Lays arrays out in a block. With block == NULL it only measures, so the same function first
/// tells the size and then places the pointers: the two can't disagree.
typedef struct sn_layout {
    char *block;    ///< NULL while measuring
    size_t used;    ///< bytes so far
    bool overflow;  ///< the sum left size_t; `used` is then meaningless
} sn_layout;

/// Room for `count` items of `size` bytes, aligned to 64. NULL while measuring.
void *sn_layout_take(sn_layout *layout, size_t count, size_t size);

/// Room for one item, and a copy of it there. NULL while measuring.
void *sn_layout_keep(sn_layout *layout, const void *item, size_t size);

/// Bytes from the allocator, or from malloc when it is NULL; never called with 0 bytes.
void *sn_acquire(const sn_allocator *allocator, size_t bytes);

/// Give back what sn_acquire gave. NULL is allowed.
void sn_release(const sn_allocator *allocator, void *block);

/// A block for a measured layout: zeroed and aligned to 64 inside a block that `*owner` receives
/// and that is later given to sn_release. NULL when it overflowed or memory is out.
void *sn_layout_acquire(const sn_layout *measured, const sn_allocator *allocator, void **owner);
/// The same with whatever is in it: memory that is not written to costs nothing.
void *sn_layout_acquire_raw(const sn_layout *measured, const sn_allocator *allocator, void **owner);

/// Make room for `need` items in a growing array; contents are kept. Doubles, so amortised.
/// `*items` NULL and `*capacity` 0 at first.
sn_status sn_grow(const sn_allocator *allocator, void **items, size_t *capacity, size_t need,
                  size_t size);

/// A copy of an allocator; of NULL, the one that uses malloc.
sn_allocator sn_allocator_of(const sn_allocator *allocator);
