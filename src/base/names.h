// SPDX-License-Identifier: MIT
// Finding things by name: an open hash table over names that others own.
#pragma once

#include "base/memory.h"

typedef struct sn_names {
    size_t mask;  ///< slots - 1; slots is a power of two, at least twice the names
    int *slot;    ///< index of the name in the slot, -1 when it is empty
} sn_names;

/// Take room for `count` names from a layout (twice: measured, then placed and emptied).
void sn_names_layout(sn_names *names, size_t count, sn_layout *layout);

/// The index stored for `name`, or -1. `name_of` gives the name of a stored index.
int sn_names_find(const sn_names *names, const char *name,
                  const char *(*name_of)(const void *owner, int index), const void *owner);

/// Store an index unless its name is there already; returns the stored one in either case.
int sn_names_add(sn_names *names, int index, const char *(*name_of)(const void *owner, int index),
                 const void *owner);
