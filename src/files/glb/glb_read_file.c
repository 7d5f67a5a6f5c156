// SPDX-License-Identifier: MIT
// A GLB file's container, its JSON text, and the numbers that its accessors stand for.
//
// Every size comes from the file and is checked against what is really there, in double precision
// (exact for whole numbers below 2^53) or by subtraction, so that nothing overflows.
#include "files/glb/glb_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FAIL(g, ...) sn_fail((g)->error, SN_ERR_PARSE, 0, __VA_ARGS__)

enum { HEADER = 12, CHUNK_HEADER = 8, JSON_CHUNK = 0x4e4f534a, BIN_CHUNK = 0x004e4942 };
enum { BYTE = 5120, UNSIGNED_BYTE, SHORT, UNSIGNED_SHORT, UNSIGNED_INT = 5125, FLOAT };

void sn_gltf_note(sn_gltf *gltf, const char *format, ...) {
    size_t used = strlen(gltf->note);
    va_list arguments;
    if (used + 2 >= SN_GLB_NOTE) return;
    if (used > 0) used += (size_t)snprintf(gltf->note + used, SN_GLB_NOTE - used, "; ");
    va_start(arguments, format);
    (void)vsnprintf(gltf->note + used, SN_GLB_NOTE - used, format, arguments);
    va_end(arguments);
}

// --- JSON ----------------------------------------------------------------------------------------

sn_status sn_gltf_array(sn_gltf *g, const sn_json_node *object, const char *key,
                        const sn_json_node **out) {
    *out = sn_json_get(g->json, object, key);
    if (*out == NULL || (*out)->type == SN_JSON_ARRAY) return SN_OK;
    return FAIL(g, "\"%s\" must be an array, not %s", key, sn_json_type_text((*out)->type));
}

sn_status sn_gltf_integer(sn_gltf *g, const sn_json_node *object, const char *key, double limit,
                          double otherwise, double *out) {
    const sn_json_node *node = sn_json_get(g->json, object, key);
    *out = otherwise;
    if (node == NULL) return SN_OK;
    if (node->type != SN_JSON_NUMBER || !(node->number >= 0 && node->number < limit) ||
        node->number != floor(node->number))
        return FAIL(g, "\"%s\" must be a whole number from 0 to below %.0f", key, limit);
    *out = node->number;
    return SN_OK;
}

sn_status sn_gltf_index(sn_gltf *g, const sn_json_node *object, const char *key, int count,
                        int *out) {
    double number;
    *out = -1;
    if (sn_json_get(g->json, object, key) != NULL && count == 0)
        return FAIL(g, "\"%s\" points into a list that is not there", key);
    SN_TRY(sn_gltf_integer(g, object, key, count, -1, &number));
    *out = (int)number;
    return SN_OK;
}

const char *sn_gltf_string(const sn_gltf *g, const sn_json_node *object, const char *key) {
    const sn_json_node *node = sn_json_get(g->json, object, key);
    return node != NULL && node->type == SN_JSON_STRING ? node->string : "";
}

static sn_status count_list(sn_gltf *g, const char *key, sn_gltf_list *list) {
    const sn_json_node *array;
    SN_TRY(sn_gltf_array(g, g->root, key, &array));
    if (array != NULL && array->count > INT32_MAX)
        return sn_fail(g->error, SN_ERR_SIZE, 0, "\"%s\" is too long", key);
    list->count = array != NULL ? (int)array->count : 0;
    return SN_OK;
}

static sn_status fill_list(sn_gltf *g, const char *key, sn_gltf_list *list) {
    const sn_json_node *array;
    SN_TRY(sn_gltf_array(g, g->root, key, &array));
    const sn_json_node *at = array != NULL ? sn_json_first(g->json, array) : NULL;
    for (int i = 0; at != NULL; i++, at = sn_json_next(g->json, at)) {
        list->item[i] = at;
        if (at->type != SN_JSON_OBJECT)
            return FAIL(g, "%s %d must be an object, not %s", key, i, sn_json_type_text(at->type));
    }
    return SN_OK;
}

static sn_status read_lists(sn_gltf *g) {
    SN_TRY(count_list(g, "accessors", &g->accessors));
    SN_TRY(count_list(g, "bufferViews", &g->views));
    SN_TRY(count_list(g, "buffers", &g->buffers));
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        sn_gltf_list *lists[3] = {&g->accessors, &g->views, &g->buffers};
        for (int i = 0; i < 3; i++)
            lists[i]->item =
                sn_layout_take(&layout, (size_t)lists[i]->count, sizeof *lists[i]->item);
        g->buffer = sn_layout_take(&layout, (size_t)g->buffers.count, sizeof *g->buffer);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, g->allocator, &g->lists_owner);
        if (block == NULL) return sn_fail_memory(g->error);
        layout = (sn_layout){.block = block};
    }
    SN_TRY(fill_list(g, "accessors", &g->accessors));
    SN_TRY(fill_list(g, "bufferViews", &g->views));
    return fill_list(g, "buffers", &g->buffers);
}

// --- buffers -------------------------------------------------------------------------------------

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static sn_status decode(sn_gltf *g, int index, const char *text) {
    size_t length = strlen(text), n = 0;
    unsigned held = 0;
    int bits = 0;
    while (length > 0 && text[length - 1] == '=') length--;
    unsigned char *out = sn_acquire(g->allocator, length / 4 * 3 + 3);
    if (out == NULL) return sn_fail_memory(g->error);
    g->buffer[index].owner = out;
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0) return FAIL(g, "buffer %d is no well-formed base64", index);
        held = (held << 6 | (unsigned)digit) & 0xffff;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        out[n++] = (unsigned char)(held >> bits & 0xff);
    }
    g->buffer[index].data = out;
    g->buffer[index].length = n;
    return SN_OK;
}

// The bytes of a buffer, once something needs them.
static sn_status read_buffer(sn_gltf *g, int index) {
    sn_gltf_buffer *b = &g->buffer[index];
    const sn_json_node *json = g->buffers.item[index];
    const char *uri = sn_gltf_string(g, json, "uri");
    double length;
    if (b->data != NULL) return SN_OK;
    if (strncmp(uri, "data:", 5) == 0) {
        const char *comma = strchr(uri, ',');
        if (comma == NULL || comma - uri < 12 || strncmp(comma - 7, ";base64", 7) != 0)
            return FAIL(g, "buffer %d: only base64 data can be inside the file", index);
        SN_TRY(decode(g, index, comma + 1));
    } else if (uri[0] != '\0') {
        return FAIL(g,
                    "its numbers are in another file, \"%.60s\": save it as one file (.glb) that "
                    "holds everything",
                    uri);
    } else if (index != 0 || g->bin.data == NULL) {
        return FAIL(g, "buffer %d is not in the file", index);
    } else {
        *b = g->bin;
    }
    SN_TRY(sn_gltf_integer(g, json, "byteLength", 4294967296.0, 0, &length));
    if (length > (double)b->length)
        return FAIL(g, "buffer %d should have %.0f bytes, here are %zu: the file is cut off", index,
                    length, b->length);
    b->length = (size_t)length;
    return SN_OK;
}

// --- accessors -----------------------------------------------------------------------------------

static size_t component_bytes(int component) {
    switch (component) {
    case BYTE:
    case UNSIGNED_BYTE:
        return 1;
    case SHORT:
    case UNSIGNED_SHORT:
        return 2;
    default:
        return 4;
    }
}

static sn_status read_kind(sn_gltf *g, int index, const sn_json_node *json, sn_gltf_view *out) {
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    const char *type = sn_gltf_string(g, json, "type");
    double component;
    SN_TRY(sn_gltf_integer(g, json, "componentType", 65536, 0, &component));
    out->component = (int)component;
    out->width = 0;
    for (int i = 0; i < 4; i++)
        if (strcmp(type, types[i]) == 0) out->width = i + 1;
    if (out->width == 0)
        return FAIL(g, "accessor %d holds \"%.20s\", which no key of an animation is", index, type);
    if (out->component == FLOAT) return SN_OK;
    const sn_json_node *normalized = sn_json_get(g->json, json, "normalized");
    if (out->component < BYTE || out->component > UNSIGNED_SHORT || normalized == NULL ||
        normalized->type != SN_JSON_TRUE)
        return FAIL(g, "accessor %d: keys of an animation are floats or normalized small integers",
                    index);
    return SN_OK;
}

sn_status sn_gltf_accessor(sn_gltf *g, int index, sn_gltf_view *out) {
    const sn_json_node *json = g->accessors.item[index];
    double count, at, offset, room, stride;
    int view, buffer;
    *out = (sn_gltf_view){0};
    SN_TRY(read_kind(g, index, json, out));
    SN_TRY(sn_gltf_integer(g, json, "count", 2147483647.0, 0, &count));
    if (sn_json_get(g->json, json, "sparse") != NULL)
        return FAIL(g, "accessor %d is sparse, which is not read: save the file without it", index);
    SN_TRY(sn_gltf_index(g, json, "bufferView", g->views.count, &view));
    if (view < 0) return FAIL(g, "accessor %d has no \"bufferView\": its keys are nowhere", index);
    const sn_json_node *v = g->views.item[view];
    if (sn_json_get(g->json, v, "extensions") != NULL)
        return FAIL(g, "bufferView %d is packed by an extension: save the file without compression",
                    view);
    SN_TRY(sn_gltf_index(g, v, "buffer", g->buffers.count, &buffer));
    if (buffer < 0) return FAIL(g, "bufferView %d names no buffer", view);
    SN_TRY(read_buffer(g, buffer));
    SN_TRY(sn_gltf_integer(g, json, "byteOffset", 4294967296.0, 0, &at));
    SN_TRY(sn_gltf_integer(g, v, "byteOffset", 4294967296.0, 0, &offset));
    SN_TRY(sn_gltf_integer(g, v, "byteLength", 4294967296.0, 0, &room));
    size_t element = component_bytes(out->component) * (size_t)out->width;
    SN_TRY(sn_gltf_integer(g, v, "byteStride", 65536, (double)element, &stride));
    if (stride < (double)element)
        return FAIL(g, "bufferView %d: its byteStride is less than an element", view);
    if (offset + room > (double)g->buffer[buffer].length)
        return FAIL(g, "bufferView %d ends behind its buffer", view);
    if (count < 1) return FAIL(g, "accessor %d is empty", index);
    if (at + (count - 1) * stride + (double)element > room)
        return FAIL(g, "accessor %d ends behind its bufferView", index);
    out->data = g->buffer[buffer].data + (size_t)offset + (size_t)at;
    out->stride = (size_t)stride;
    out->count = (int)count;
    return SN_OK;
}

static uint32_t u32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

double sn_gltf_number(const sn_gltf_view *view, int element, int k) {
    const unsigned char *at =
        view->data + (size_t)element * view->stride + (size_t)k * component_bytes(view->component);
    switch (view->component) {
    case BYTE:
        return fmax((at[0] < 128 ? at[0] : at[0] - 256) / 127.0, -1);
    case UNSIGNED_BYTE:
        return at[0] / 255.0;
    case SHORT: {
        int x = at[0] | at[1] << 8;
        return fmax((x < 32768 ? x : x - 65536) / 32767.0, -1);
    }
    case UNSIGNED_SHORT:
        return (at[0] | at[1] << 8) / 65535.0;
    default: {
        uint32_t bits = u32(at);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    }
}

// --- the container -------------------------------------------------------------------------------

static sn_status parse_json(sn_gltf *g, const char *text, size_t length) {
    sn_error why = {0};
    sn_status status = sn_json_parse(text, length, g->allocator, &g->json, &why);
    if (status != SN_OK)
        return sn_fail(g->error, status, 0, "its JSON text, line %d: %.200s", why.line, why.text);
    g->root = sn_json_root(g->json);
    const sn_json_node *asset = sn_json_get(g->json, g->root, "asset");
    if (asset == NULL) return FAIL(g, "its JSON text has no \"asset\": is this glTF?");
    const char *version = sn_gltf_string(g, asset, "version");
    if (strncmp(version, "2.", 2) != 0)
        return FAIL(g, "it is glTF \"%.20s\"; version 2.0 is read", version);
    return SN_OK;
}

// A chunk at `at`; what is left of the file is `left`.
static sn_status read_chunk(sn_gltf *g, const unsigned char *at, size_t left, size_t *length) {
    if (left < CHUNK_HEADER) return FAIL(g, "the file ends inside the head of a chunk");
    *length = u32(at);
    if (*length > left - CHUNK_HEADER)
        return FAIL(g, "a chunk should have %zu bytes, %zu are left: the file is cut off", *length,
                    left - CHUNK_HEADER);
    if (*length % 4 != 0)
        return FAIL(g, "a chunk has %zu bytes, which is no multiple of 4", *length);
    return SN_OK;
}

static sn_status open_binary(sn_gltf *g, const unsigned char *bytes, size_t length) {
    size_t json, bin;
    if (length < HEADER) return FAIL(g, "the file ends inside its head");
    if (u32(bytes + 4) != 2)
        return FAIL(g, "it is GLB of version %u; version 2 is read", (unsigned)u32(bytes + 4));
    if (u32(bytes + 8) > length)
        return FAIL(g, "the file should have %u bytes, here are %zu: it is cut off",
                    (unsigned)u32(bytes + 8), length);
    size_t end = u32(bytes + 8);
    if (end < HEADER) return FAIL(g, "its head says that the file has %zu bytes", end);
    SN_TRY(read_chunk(g, bytes + HEADER, end - HEADER, &json));
    if (u32(bytes + HEADER + 4) != JSON_CHUNK)
        return FAIL(g, "its first chunk is not the JSON text");
    SN_TRY(parse_json(g, (const char *)bytes + HEADER + CHUNK_HEADER, json));
    for (size_t at = HEADER + CHUNK_HEADER + json; at < end; at += CHUNK_HEADER + bin) {
        SN_TRY(read_chunk(g, bytes + at, end - at, &bin));
        if (u32(bytes + at + 4) != BIN_CHUNK || g->bin.data != NULL) continue;
        g->bin = (sn_gltf_buffer){.data = bytes + at + CHUNK_HEADER, .length = bin};
    }
    return SN_OK;
}

sn_status sn_gltf_open(sn_gltf *g, const void *bytes, size_t length) {
    g->length = length;
    if (length >= 4 && memcmp(bytes, "glTF", 4) == 0) {
        SN_TRY(open_binary(g, bytes, length));
    } else if (length > 0 && memchr(bytes, '{', length < 64 ? length : 64) != NULL) {
        SN_TRY(parse_json(g, bytes, length));
    } else {
        return FAIL(g, "the file does not begin with \"glTF\": is this a GLB file?");
    }
    return read_lists(g);
}

void sn_gltf_close(sn_gltf *g) {
    for (int i = 0; g->buffer != NULL && i < g->buffers.count; i++)
        sn_release(g->allocator, g->buffer[i].owner);
    sn_release(g->allocator, g->lists_owner);
    sn_release(g->allocator, g->tree_owner);
    sn_release(g->allocator, g->keys_owner);
    sn_json_destroy(g->json);
}
