// SPDX-License-Identifier: MIT
// UTF-8: is it, and how long is the next character.
#pragma once

#include <stddef.h>

/// Bytes of the well-formed UTF-8 character at text[0..left), 0 when there is none.
size_t sn_utf8_length(const char *text, size_t left);
