// SPDX-License-Identifier: MIT
// A JSON reader that knows on which line each value stands, takes an allocator, and never recurses.
// (The packaged readers keep no places and use a global allocator.)
#pragma once

#include "base/memory.h"

typedef enum sn_json_type {
    SN_JSON_NULL,
    SN_JSON_FALSE,
    SN_JSON_TRUE,
    SN_JSON_NUMBER,
    SN_JSON_STRING,
    SN_JSON_ARRAY,
    SN_JSON_OBJECT
} sn_json_type;

/// One value. Nodes of a document lie in one array in document order; children follow their parent.
typedef struct sn_json_node {
    sn_json_type type;
    int line;            ///< 1-based
    uint32_t count;      ///< children of an array or object
    uint32_t next;       ///< index of the next sibling, 0 for none
    const char *key;     ///< decoded and terminated, inside the document; NULL outside objects
    const char *string;  ///< likewise, for a string
    double number;
} sn_json_node;

typedef struct sn_json sn_json;

/// Parse a whole document. Bytes after the value, duplicate keys, invalid UTF-8, depth over 64 and
/// NUL characters in strings are errors with a line. Free with sn_json_destroy().
sn_status sn_json_parse(const char *text, size_t length, const sn_allocator *allocator,
                        sn_json **out, sn_error *error);
void sn_json_destroy(sn_json *json);

const sn_json_node *sn_json_root(const sn_json *json);

/// First child of an array or object, NULL when it has none or is neither.
const sn_json_node *sn_json_first(const sn_json *json, const sn_json_node *node);
const sn_json_node *sn_json_next(const sn_json *json, const sn_json_node *node);

/// The member of an object with this key, or NULL.
const sn_json_node *sn_json_get(const sn_json *json, const sn_json_node *object, const char *key);

/// Read an array of exactly `count` finite numbers; false when it is anything else. (NaN and Infinity are
/// let through by the parser, so that the one who wants the number can say whose it is.)
bool sn_json_numbers(const sn_json *json, const sn_json_node *node, size_t count, double *out);

/// A word for a type, for messages: "a string", "an array", ...
const char *sn_json_type_text(sn_json_type type);
