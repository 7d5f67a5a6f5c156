// SPDX-License-Identifier: MIT
// Files that are none of ours, told by their first bytes.
#pragma once

#include <stddef.h>

/// What the file is instead and what to do about it, as a sentence; NULL when it is not known as
/// something else.
/// @param text  whether it should be text
const char *sn_stranger(const void *bytes, size_t length, int text);
