// SPDX-License-Identifier: MIT
// What a reader decided for the user, in words.
#pragma once

#include "base/status.h"

/// Bytes of the note of a recording, a table or a skeleton; of what of OpenSim's setup is not honoured.
enum { SN_NOTE = 400, SN_SETUP_NOTE = 1000 };

/// Add a sentence to a note of `room` bytes, "..." at its end where it is full.
void sn_note_add(char *note, size_t room, const char *format, ...) SN_PRINTF(3, 4);

#define sn_note(note, ...)       sn_note_add((note), SN_NOTE, __VA_ARGS__)
#define sn_setup_note(note, ...) sn_note_add((note), SN_SETUP_NOTE, __VA_ARGS__)

/// Of frames that a file has no rows of: how many, and the first one's number.
void sn_lost_rows_note(char *note, int count, int first);

/// "" or "s": the ending of a word that says how many.
#define SN_S(count) ((count) == 1 ? "" : "s")
