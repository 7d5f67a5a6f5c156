// SPDX-License-Identifier: MIT
// The functions of a joint in the native model file.
#pragma once

#include "base/json_fields.h"
#include "base/text.h"
#include "model/joint.h"

/// Numbers read so far; released by whoever began it.
typedef struct sn_numbers {
    const sn_allocator *allocator;
    double *item;
    size_t count, capacity;
} sn_numbers;

/// "coordinates" and "moves" of a joint; names point into the file, numbers into `numbers`.
void sn_functions_read(sn_fields *fields, sn_joint_functions *out, sn_numbers *numbers);

void sn_functions_write(sn_text *text, const sn_joint_functions *functions);

/// What a function is made of beside its type: ", "scale": .., "x": [..], "y": [..]", each where it has one.
void sn_function_write_numbers(sn_text *text, const sn_function *function);
