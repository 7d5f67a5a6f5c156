// SPDX-License-Identifier: MIT
#include "base/json_fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/guess.h"

sn_status sn_fields_fail(sn_fields *fields, const sn_json_node *at, const char *format, ...) {
    char what[160];
    va_list args;
    if (fields->status != SN_OK) return fields->status;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    fields->status = sn_fail(fields->error, fields->blame, at->line, "%s: %s", fields->owner, what);
    return fields->status;
}

void sn_fields_known(sn_fields *fields, const char *const *keys) {
    const sn_json_node *at = sn_json_first(fields->json, fields->object);
    for (; at != NULL; at = sn_json_next(fields->json, at)) {
        bool known = at->key[0] == '_';
        sn_guess guess = sn_guess_begin(at->key);
        char meant[90];
        for (const char *const *key = keys; *key != NULL && !known; key++) {
            known = strcmp(*key, at->key) == 0;
            (void)sn_guess_try(&guess, *key);
        }
        if (!known)
            sn_fields_fail(fields, at, "unknown key \"%.60s\"%s", at->key,
                           sn_guess_text(&guess, meant, sizeof meant));
    }
}

static const sn_json_node *field(sn_fields *fields, const char *key, sn_json_type type) {
    if (fields->status != SN_OK) return NULL;
    const sn_json_node *node = sn_json_get(fields->json, fields->object, key);
    if (node == NULL || node->type == type) return node;
    sn_fields_fail(fields, node, "\"%s\" must be %s, not %s", key, sn_json_type_text(type),
                   sn_json_type_text(node->type));
    return NULL;
}

bool sn_fields_string(sn_fields *fields, const char *key, const char **out) {
    const sn_json_node *node = field(fields, key, SN_JSON_STRING);
    if (node != NULL) *out = node->string;
    return node != NULL;
}

bool sn_fields_number(sn_fields *fields, const char *key, double *out) {
    const sn_json_node *node = field(fields, key, SN_JSON_NUMBER);
    if (node == NULL) return false;
    *out = node->number;
    if (!isfinite(node->number))
        (void)sn_fields_fail(fields, node, "\"%s\" must be a finite number", key);
    return true;
}

bool sn_fields_numbers(sn_fields *fields, const char *key, int count, double *out) {
    const sn_json_node *node = field(fields, key, SN_JSON_ARRAY);
    if (node == NULL) return false;
    if (sn_json_numbers(fields->json, node, (size_t)count, out)) return true;
    sn_fields_fail(fields, node, "\"%s\" must be an array of %d finite numbers", key, count);
    return false;
}
