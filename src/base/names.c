// SPDX-License-Identifier: MIT
#include "base/names.h"

#include <string.h>

void sn_names_layout(sn_names *names, size_t count, sn_layout *layout) {
    size_t slots = 4;
    while (slots < 2 * count) slots *= 2;
    names->mask = slots - 1;
    names->slot = sn_layout_take(layout, slots, sizeof *names->slot);
    if (names->slot != NULL)
        for (size_t i = 0; i < slots; i++) names->slot[i] = -1;
}

// FNV-1a, 64 bits
static size_t hash(const char *name) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name != '\0'; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return (size_t)(h ^ h >> 32);
}

// The slot that holds `name`, or the empty one where it belongs.
static int *slot_of(const sn_names *names, const char *name,
                    const char *(*name_of)(const void *owner, int index), const void *owner) {
    size_t at = hash(name) & names->mask;
    while (names->slot[at] >= 0 && strcmp(name_of(owner, names->slot[at]), name) != 0)
        at = (at + 1) & names->mask;
    return &names->slot[at];
}

int sn_names_find(const sn_names *names, const char *name,
                  const char *(*name_of)(const void *owner, int index), const void *owner) {
    return *slot_of(names, name, name_of, owner);
}

int sn_names_add(sn_names *names, int index, const char *(*name_of)(const void *owner, int index),
                 const void *owner) {
    int *slot = slot_of(names, name_of(owner, index), name_of, owner);
    if (*slot < 0) *slot = index;
    return *slot;
}
