// SPDX-License-Identifier: MIT
// C3D from the inside: bytes in the order of three kinds of processor, and the parameter section.
#pragma once

#include "base/status.h"
#include "sinew/files.h"

typedef struct sn_c3d_file {
    const uint8_t *bytes;
    size_t length;
    sn_c3d_processor processor;
    size_t section, section_end;  ///< first parameter record, and where records must have ended
} sn_c3d_file;

/// A parameter's value: an array of `count` items.
typedef struct sn_c3d_param {
    const uint8_t *data;  ///< NULL when the file has no such parameter
    int type;             ///< -1 characters, 1 bytes, 2 words, 4 floats
    size_t count;         ///< items; for characters those of all strings together
    size_t width;         ///< characters of one string
} sn_c3d_param;

/// Neither checks that `at` is inside the file.
unsigned sn_c3d_word(const sn_c3d_file *file, size_t at);
double sn_c3d_float(const sn_c3d_file *file, size_t at);

/// Look a parameter up; letter case is ignored, names must be upper case. A parameter that is
/// there but runs out of the section, or has an unknown type, is an error.
sn_status sn_c3d_find(const sn_c3d_file *file, const char *group, const char *name,
                      sn_c3d_param *out, sn_error *error);

/// Item i of a parameter as a number, words unsigned; `otherwise` when it has none.
double sn_c3d_number(const sn_c3d_file *file, const sn_c3d_param *param, size_t i,
                     double otherwise);

/// How many strings a parameter holds.
size_t sn_c3d_strings(const sn_c3d_param *param);

/// String i without blanks around it, terminated, cut to fit. Empty when there is none.
void sn_c3d_string(const sn_c3d_param *param, size_t i, char *out, size_t size);
