// SPDX-License-Identifier: MIT
// The parameter section of C3D: a list of records, each with the distance to the next.
//
//   int8  letters in the name, negative when locked, 0 at the end of the list
//   int8  group, negative for the record of the group itself
//         name
//   word  distance from here to the next record, 0 for the last
//   int8  type, uint8 dimensions, their sizes, the data        (parameters only)
//
// The size that the section states is not trusted, files overrun it: records go on until the list
// ends or the data begin.
#include "files/c3d/c3d_section.h"

#include <string.h>

typedef struct record {
    size_t name, body;  // where they start; the body begins after the distance
    size_t letters;
    int group;  // negative: it is the group
} record;

unsigned sn_c3d_word(const sn_c3d_file *file, size_t at) {
    unsigned a = file->bytes[at], b = file->bytes[at + 1];
    return file->processor == SN_C3D_MIPS ? a << 8 | b : b << 8 | a;
}

double sn_c3d_float(const sn_c3d_file *file, size_t at) {
    uint32_t first = sn_c3d_word(file, at), second = sn_c3d_word(file, at + 2);
    uint32_t bits = file->processor == SN_C3D_INTEL ? second << 16 | first : first << 16 | second;
    float value;
    memcpy(&value, &bits, sizeof value);
    if (file->processor != SN_C3D_DEC) return value;
    // DEC has no denormals: exponent 0 is zero
    return (bits & 0x7f800000u) == 0 ? 0 : (double)value / 4;
}

static int signed_byte(uint8_t byte) { return byte < 128 ? byte : (int)byte - 256; }

// The record at *at, and *at moved to the next one; false at the end of the list.
static bool next_record(const sn_c3d_file *file, size_t *at, record *out) {
    if (*at >= file->section_end || file->section_end - *at < 4) return false;
    int letters = signed_byte(file->bytes[*at]);
    if (letters == 0) return false;
    out->letters = (size_t)(letters < 0 ? -letters : letters);
    out->group = signed_byte(file->bytes[*at + 1]);
    out->name = *at + 2;
    out->body = out->name + out->letters + 2;
    if (out->body > file->section_end) return false;
    size_t distance = sn_c3d_word(file, out->body - 2);
    *at = distance == 0 ? file->section_end : out->body - 2 + distance;
    return true;
}

static bool has_name(const sn_c3d_file *file, const record *r, const char *name) {
    if (strlen(name) != r->letters) return false;
    for (size_t i = 0; i < r->letters; i++) {
        uint8_t c = file->bytes[r->name + i];
        if (c >= 'a' && c <= 'z') c = (uint8_t)(c - 'a' + 'A');
        if (c != (uint8_t)name[i]) return false;
    }
    return true;
}

// The number of a group, 0 when there is none. Its record may come after its parameters'.
static int find_group(const sn_c3d_file *file, const char *name) {
    record r;
    for (size_t at = file->section; next_record(file, &at, &r);)
        if (r.group < 0 && has_name(file, &r, name)) return -r.group;
    return 0;
}

// The value of a parameter's record; false when it is not whole.
static bool read_value(const sn_c3d_file *file, const record *r, sn_c3d_param *out) {
    size_t left = file->section_end - r->body;
    if (left < 2) return false;
    int type = signed_byte(file->bytes[r->body]);
    size_t ndim = file->bytes[r->body + 1];
    if ((type != -1 && type != 1 && type != 2 && type != 4) || left - 2 < ndim) return false;
    left -= 2 + ndim;
    const uint8_t *dim = file->bytes + r->body + 2;
    size_t count = 1, size = (size_t)(type < 0 ? 1 : type);
    for (size_t i = 0; i < ndim; i++)
        if (dim[i] == 0) count = 0;
    // each step stays below left * 255, which cannot overflow
    for (size_t i = 0; i < ndim && count > 0; i++) {
        count *= dim[i];
        if (count > left) return false;
    }
    if (count > left / size) return false;
    *out = (sn_c3d_param){
        .data = dim + ndim, .type = type, .count = count, .width = ndim > 0 ? dim[0] : count};
    return true;
}

sn_status sn_c3d_find(const sn_c3d_file *file, const char *group, const char *name,
                      sn_c3d_param *out, sn_error *error) {
    *out = (sn_c3d_param){.data = NULL};
    int id = find_group(file, group);
    record r;
    for (size_t at = file->section; id != 0 && next_record(file, &at, &r);) {
        if (r.group != id || !has_name(file, &r, name)) continue;
        if (read_value(file, &r, out)) return SN_OK;
        return sn_fail(error, SN_ERR_PARSE, 0,
                       "byte %zu: parameter %s:%s is damaged: its type is unknown or it runs out "
                       "of the parameter section",
                       r.body, group, name);
    }
    return SN_OK;
}

double sn_c3d_number(const sn_c3d_file *file, const sn_c3d_param *param, size_t i,
                     double otherwise) {
    if (param->data == NULL || i >= param->count) return otherwise;
    size_t at = (size_t)(param->data - file->bytes);
    switch (param->type) {
    case 1:
        return file->bytes[at + i];
    case 2:
        return sn_c3d_word(file, at + 2 * i);
    case 4:
        return sn_c3d_float(file, at + 4 * i);
    default:
        return otherwise;
    }
}

size_t sn_c3d_strings(const sn_c3d_param *param) {
    if (param->data == NULL || param->type != -1 || param->width == 0) return 0;
    return param->count / param->width;
}

void sn_c3d_string(const sn_c3d_param *param, size_t i, char *out, size_t size) {
    out[0] = '\0';
    if (i >= sn_c3d_strings(param)) return;
    const char *text = (const char *)param->data + i * param->width;
    size_t start = 0, end = 0;
    // some pad with NUL instead of blanks
    while (end < param->width && text[end] != '\0') end++;
    while (end > 0 && text[end - 1] == ' ') end--;
    while (start < end && text[start] == ' ') start++;
    size_t length = end - start < size ? end - start : size - 1;
    memcpy(out, text + start, length);
    out[length] = '\0';
}
