// SPDX-License-Identifier: MIT
//
// One pass over the bytes with an explicit stack of open containers. Strings are decoded into a
// buffer as long as the text (decoding never lengthens), so pointers into it stay valid.
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

enum { DEEPEST = 64 };

struct sn_json {
    sn_allocator allocator;
    sn_json_node *nodes;
    size_t nnode, capacity;
    char *strings;
};

typedef struct parser {
    const char *text;
    size_t length, at;
    int line;
    sn_json *json;
    size_t string_used;
    sn_error *error;
    // open containers: their node, the last child (0: none), and whether a comma came last
    uint32_t open[DEEPEST];
    uint32_t last[DEEPEST];
    int depth;
} parser;

const char *sn_json_type_text(sn_json_type type) {
    static const char *const texts[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return texts[type];
}

static sn_status fail(const parser *p, const char *what) {
    return sn_fail(p->error, SN_ERR_PARSE, p->line, "%s", what);
}

static void skip_space(parser *p) {
    for (; p->at < p->length; p->at++) {
        char c = p->text[p->at];
        if (c == '\n') {
            p->line++;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static int hex4(const char *text) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

// \uXXXX at p->at (behind the u), with its second half for a surrogate pair. -1 when malformed.
static long unicode_escape(parser *p) {
    if (p->length - p->at < 4) return -1;
    int high = hex4(p->text + p->at);
    if (high < 0) return -1;
    p->at += 4;
    if (high < 0xD800 || high > 0xDFFF) return high;
    if (high > 0xDBFF || p->length - p->at < 6) return -1;
    if (p->text[p->at] != '\\' || p->text[p->at + 1] != 'u') return -1;
    int low = hex4(p->text + p->at + 2);
    if (low < 0xDC00 || low > 0xDFFF) return -1;
    p->at += 6;
    return 0x10000 + ((long)(high - 0xD800) << 10) + (low - 0xDC00);
}

static size_t utf8_encode(long code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((0xF00 >> length & 0xF0) | code);
    return length;
}

static sn_status parse_string(parser *p, const char **out) {
    p->at++;  // the opening quote
    char *start = p->json->strings + p->string_used, *to = start;
    for (;;) {
        if (p->at >= p->length) return fail(p, "a string is not closed before the end of the file");
        char c = p->text[p->at];
        if (c == '"') break;
        if ((unsigned char)c < 0x20) return fail(p, "a control character or line end in a string");
        if (c != '\\') {
            size_t n = sn_utf8_length(p->text + p->at, p->length - p->at);
            if (n == 0) return fail(p, "a string holds bytes that are not UTF-8");
            memcpy(to, p->text + p->at, n);
            to += n;
            p->at += n;
            continue;
        }
        p->at++;
        if (p->at >= p->length) return fail(p, "a string is not closed before the end of the file");
        static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
        char e = p->text[p->at++];
        const char *known = e == '\0' ? NULL : strchr(from, e);
        if (known != NULL) {
            *to++ = into[known - from];
        } else if (e == 'u') {
            long code = unicode_escape(p);
            if (code < 0) return fail(p, "a malformed \\u escape");
            if (code == 0) return fail(p, "a NUL character in a string");
            to += utf8_encode(code, to);
        } else {
            return fail(p, "an unknown escape in a string");
        }
    }
    p->at++;
    *to++ = '\0';
    p->string_used += (size_t)(to - start);
    *out = start;
    return SN_OK;
}

static bool is_number_char(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// JSON is stricter than sn_number_parse: no plus sign, no leading zero, digits on both sides of
// '.'.
static bool strict_number(const char *t, size_t n) {
    size_t i = 0;
    if (i < n && t[i] == '-') i++;
    if (i >= n || t[i] < '0' || t[i] > '9') return false;
    if (t[i] == '0' && i + 1 < n && t[i + 1] >= '0' && t[i + 1] <= '9') return false;
    for (; i < n; i++)
        if (t[i] == '.' && (i + 1 >= n || t[i + 1] < '0' || t[i + 1] > '9')) return false;
    return true;
}

static sn_status parse_scalar(parser *p, sn_json_node *node) {
    static const struct {
        const char *word;
        sn_json_type type;
    } words[] = {{"null", SN_JSON_NULL}, {"true", SN_JSON_TRUE}, {"false", SN_JSON_FALSE}};
    static const struct {
        const char *word;
        double value;
    } strays[] = {{"NaN", NAN},           {"nan", NAN},
                  {"Infinity", INFINITY}, {"-Infinity", -INFINITY},
                  {"inf", INFINITY},      {"-inf", -INFINITY}};
    const char *t = p->text + p->at;
    size_t left = p->length - p->at;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i].word);
        if (left >= n && memcmp(t, words[i].word, n) == 0) {
            node->type = words[i].type;
            p->at += n;
            return SN_OK;
        }
    }
    // not JSON, but what other programs write: refused by whoever wants the number, by its name
    for (size_t i = 0; i < sizeof strays / sizeof strays[0]; i++) {
        size_t n = strlen(strays[i].word);
        if (left >= n && memcmp(t, strays[i].word, n) == 0) {
            node->type = SN_JSON_NUMBER;
            node->number = strays[i].value;
            p->at += n;
            return SN_OK;
        }
    }
    size_t n = 0;
    while (n < left && is_number_char(t[n])) n++;
    if (n == 0) return fail(p, "expected a value");
    node->type = SN_JSON_NUMBER;
    if (!strict_number(t, n)) return fail(p, "a number is malformed");
    if (!sn_number_parse(t, n, &node->number)) {
        // well formed but beyond a double's range, or not well formed after all
        if (isfinite(node->number)) return fail(p, "a number is malformed");
    }
    p->at += n;
    return SN_OK;
}

static sn_json_node *node_add(parser *p, sn_status *status) {
    sn_json *json = p->json;
    void *items = json->nodes;
    *status = json->nnode >= UINT32_MAX ? SN_ERR_SIZE
                                        : sn_grow(&json->allocator, &items, &json->capacity,
                                                  json->nnode + 1, sizeof *json->nodes);
    json->nodes = items;
    if (*status != SN_OK) {
        (void)sn_fail(p->error, *status, p->line, "%s", sn_status_text(*status));
        return NULL;
    }
    uint32_t index = (uint32_t)json->nnode++;
    if (p->depth > 0) {
        uint32_t *last = &p->last[p->depth - 1];
        if (*last != 0) json->nodes[*last].next = index;
        *last = index;
        json->nodes[p->open[p->depth - 1]].count++;
    }
    json->nodes[index] = (sn_json_node){.line = p->line};
    return &json->nodes[index];
}

// Objects with more keys than this are refused: the search for a duplicate is quadratic and must
// stay cheap on hostile input, and no format of ours has such objects.
enum { MOST_KEYS = 256 };

// A key and its colon, for a member of the innermost open object.
static sn_status parse_key(parser *p, const char **key) {
    if (p->at >= p->length || p->text[p->at] != '"') return fail(p, "expected a key in quotes");
    SN_TRY(parse_string(p, key));
    skip_space(p);
    if (p->at >= p->length || p->text[p->at] != ':') return fail(p, "expected ':' after a key");
    p->at++;
    skip_space(p);
    return SN_OK;
}

static bool key_is_new(const parser *p, const char *key) {
    const sn_json_node *object = &p->json->nodes[p->open[p->depth - 1]];
    uint32_t at = p->open[p->depth - 1] + 1;
    for (uint32_t i = 0; i < object->count; i++, at = p->json->nodes[at].next)
        if (strcmp(p->json->nodes[at].key, key) == 0) return false;
    return true;
}

// One value; opens a container without closing it. `value` tells whether one more may follow.
static sn_status parse_value(parser *p) {
    const char *key = NULL;
    if (p->depth > 0 && p->json->nodes[p->open[p->depth - 1]].type == SN_JSON_OBJECT) {
        SN_TRY(parse_key(p, &key));
        if (p->json->nodes[p->open[p->depth - 1]].count >= MOST_KEYS)
            return fail(p, "an object with more than 256 keys");
        if (!key_is_new(p, key))
            return sn_fail(p->error, SN_ERR_PARSE, p->line, "the key \"%.60s\" stands twice", key);
    }
    if (p->at >= p->length) return fail(p, "the file ends where a value is expected");
    sn_status status;
    sn_json_node *node = node_add(p, &status);
    if (node == NULL) return status;
    node->key = key;
    char c = p->text[p->at];
    if (c == '"') {
        node->type = SN_JSON_STRING;
        return parse_string(p, &node->string);
    }
    if (c != '{' && c != '[') return parse_scalar(p, node);
    if (p->depth == DEEPEST) return fail(p, "nested more than 64 deep");
    node->type = c == '{' ? SN_JSON_OBJECT : SN_JSON_ARRAY;
    p->open[p->depth] = (uint32_t)(node - p->json->nodes);
    p->last[p->depth] = 0;
    p->depth++;
    p->at++;
    return SN_OK;
}

static sn_status parse_document(parser *p) {
    skip_space(p);
    int before = p->depth;
    SN_TRY(parse_value(p));
    bool opened = p->depth > before;  // the last thing read was an opening bracket
    while (p->depth > 0) {
        skip_space(p);
        if (p->at >= p->length) return fail(p, "the file ends inside an array or object");
        sn_json_type inside = p->json->nodes[p->open[p->depth - 1]].type;
        char c = p->text[p->at];
        if (c == (inside == SN_JSON_OBJECT ? '}' : ']')) {
            p->at++;
            p->depth--;
            opened = false;
            continue;
        }
        if (!opened) {
            if (c != ',') return fail(p, "expected ',' or a closing bracket");
            p->at++;
            skip_space(p);
        }
        before = p->depth;
        SN_TRY(parse_value(p));
        opened = p->depth > before;
    }
    skip_space(p);
    if (p->at < p->length) return fail(p, "more text after the end of the document");
    return SN_OK;
}

sn_status sn_json_parse(const char *text, size_t length, const sn_allocator *allocator,
                        sn_json **out, sn_error *error) {
    *out = NULL;
    if (length > SIZE_MAX / 4) return sn_fail(error, SN_ERR_SIZE, 0, "the file is too large");
    sn_json *json = sn_acquire(allocator, sizeof *json);
    if (json == NULL) return sn_fail_memory(error);
    *json = (sn_json){.allocator = sn_allocator_of(allocator)};
    // a decoded string with its terminator is never longer than the quoted one
    json->strings = sn_acquire(allocator, length + 1);
    if (json->strings == NULL) {
        sn_json_destroy(json);
        return sn_fail_memory(error);
    }
    parser p = {.text = text, .length = length, .line = 1, .json = json, .error = error};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) p.at = 3;  // a byte-order mark
    sn_status status = parse_document(&p);
    if (status != SN_OK) {
        sn_json_destroy(json);
        return status;
    }
    *out = json;
    return SN_OK;
}

void sn_json_destroy(sn_json *json) {
    if (json == NULL) return;
    sn_allocator allocator = json->allocator;
    sn_release(&allocator, json->nodes);
    sn_release(&allocator, json->strings);
    sn_release(&allocator, json);
}

const sn_json_node *sn_json_root(const sn_json *json) { return &json->nodes[0]; }

const sn_json_node *sn_json_first(const sn_json *json, const sn_json_node *node) {
    (void)json;
    bool container = node->type == SN_JSON_ARRAY || node->type == SN_JSON_OBJECT;
    return container && node->count > 0 ? node + 1 : NULL;
}

const sn_json_node *sn_json_next(const sn_json *json, const sn_json_node *node) {
    return node->next == 0 ? NULL : &json->nodes[node->next];
}

const sn_json_node *sn_json_get(const sn_json *json, const sn_json_node *object, const char *key) {
    if (object->type != SN_JSON_OBJECT) return NULL;
    const sn_json_node *at = sn_json_first(json, object);
    while (at != NULL && strcmp(at->key, key) != 0) at = sn_json_next(json, at);
    return at;
}

bool sn_json_numbers(const sn_json *json, const sn_json_node *node, size_t count, double *out) {
    if (node->type != SN_JSON_ARRAY || node->count != count) return false;
    const sn_json_node *at = sn_json_first(json, node);
    for (size_t i = 0; i < count; i++, at = sn_json_next(json, at)) {
        if (at->type != SN_JSON_NUMBER || !isfinite(at->number)) return false;
        out[i] = at->number;
    }
    return true;
}
