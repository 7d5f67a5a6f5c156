// SPDX-License-Identifier: MIT
// What a reader decided for the user, in words.
#pragma once

#include "base/status.h"

enum { SN_NOTE = 400 };

/// Add a sentence to the note of a recording, a table or a skeleton.
void sn_note(char note[SN_NOTE], const char *format, ...) SN_PRINTF(2, 3);

/// "" or "s": the ending of a word that says how many.
#define SN_S(count) ((count) == 1 ? "" : "s")
