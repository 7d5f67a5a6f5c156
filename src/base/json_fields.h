// SPDX-License-Identifier: MIT
// Reading the fields of a JSON object, with messages that name its owner ("joint \"elbow\"") and
// the line. A reader that has failed stays failed and leaves the outputs alone, so that a record is
// read whole and asked once.
#pragma once

#include "base/json.h"

typedef struct sn_fields {
    const sn_json *json;
    const sn_json_node *object;
    char owner[128];  ///< for messages
    sn_error *error;
    sn_status status;  ///< SN_OK, or why it failed
    sn_status blame;   ///< the status of a failure: SN_ERR_MODEL, SN_ERR_TASK, ...
} sn_fields;

sn_status sn_fields_fail(sn_fields *fields, const sn_json_node *at, const char *format, ...)
    SN_PRINTF(3, 4);

/// Fails unless every key is in the list (ended by NULL) or starts with '_', which marks a comment.
void sn_fields_known(sn_fields *fields, const char *const *keys);

/// Each returns whether the key is there; a value of the wrong kind fails.
bool sn_fields_string(sn_fields *fields, const char *key, const char **out);
bool sn_fields_number(sn_fields *fields, const char *key, double *out);
bool sn_fields_numbers(sn_fields *fields, const char *key, int count, double *out);
