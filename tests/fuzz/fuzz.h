// SPDX-License-Identifier: MIT
// What the harnesses share.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check(bool right) {
    if (!right) abort();
}

/// What a writer wrote: sn_sink sink = {keep, &bytes}; free bytes.at.
typedef struct bytes {
    char *at;
    size_t length, capacity;
} bytes;

static inline bool keep(void *user, const void *piece, size_t count) {
    bytes *b = user;
    if (b->at == NULL || b->length + count > b->capacity) {
        b->capacity = 2 * (b->length + count) + 100;
        b->at = realloc(b->at, b->capacity);
        check(b->at != NULL);
    }
    memcpy(b->at + b->length, piece, count);
    b->length += count;
    return true;
}
