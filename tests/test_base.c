// SPDX-License-Identifier: MIT
// The base: numbers in text, JSON with lines, layouts, names, statuses, the version.
#include <locale.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "support.h"

static bool same_bits(double x, double y) { return memcmp(&x, &y, sizeof x) == 0; }

// Any finite double: all exponents are as likely.
static double any_double(uint64_t *state) {
    for (;;) {
        uint64_t bits = sn_random_bits(state);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x)) return x;
    }
}

static void there_and_back(double x) {
    char text[SN_NUMBER_TEXT];
    double back;
    sn_number_print(x, text);
    assert_true(sn_number_parse(text, strlen(text), &back));
    if (!same_bits(x, back)) fail_msg("%a was printed as %s", x, text);
    sn_number_print17(x, text);
    assert_true(sn_number_parse(text, strlen(text), &back));
    if (!same_bits(x, back)) fail_msg("%a was printed as %s", x, text);
}

static void numbers_there_and_back(void **unused) {
    (void)unused;
    uint64_t state = 1;
    static const double some[] = {0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.1,
                                  1. / 3,
                                  0x1p-1074,
                                  0x1p-1022,
                                  0x1.fffffffffffffp+1023,
                                  0x0.fffffffffffffp-1022,
                                  5e-324,
                                  1e22,
                                  1e23,
                                  9007199254740993.,
                                  123456789012345678.};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        there_and_back(some[i]);
        there_and_back(-some[i]);
    }
    for (int i = 0; i < cases(100000); i++) there_and_back(any_double(&state));
    for (int i = 0; i < cases(20000); i++) {
        there_and_back(ldexp(uniform(&state, -1, 1), -1030 - below(&state, 44)));
        there_and_back(uniform(&state, -1, 1));
        there_and_back(floor(uniform(&state, -1e6, 1e6)) / 1000);
    }
}

static void numbers_are_short(void **unused) {
    (void)unused;
    char text[SN_NUMBER_TEXT];
    sn_number_print(0.1, text);
    assert_string_equal(text, "0.1");
    sn_number_print(-2.5e-7, text);
    assert_string_equal(text, "-2.5e-07");
    sn_number_print17(0.1, text);
    assert_string_equal(text, "0.10000000000000001");
    const double odd[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        sn_number_print(odd[i], text);
        assert_string_equal(text, "null");
        sn_number_print17(odd[i], text);
        assert_string_equal(text, "null");
    }
}

// Random digits with a random exponent, against strtod, which is correctly rounded.
static void numbers_are_rounded(void **unused) {
    (void)unused;
    uint64_t state = 2;
    char text[80];
    for (int i = 0; i < cases(100000); i++) {
        int digits = 1 + below(&state, 25), point = below(&state, digits + 1), n = 0;
        if (below(&state, 2)) text[n++] = "+-"[below(&state, 2)];
        for (int d = 0; d < digits; d++) {
            if (d == point) text[n++] = '.';
            text[n++] = (char)('0' + below(&state, 10));
        }
        if (below(&state, 2)) {
            int e = below(&state, 2) ? below(&state, 50) - 25 : below(&state, 640) - 340;
            n += snprintf(text + n, sizeof text - (size_t)n, "%c%d", "eE"[below(&state, 2)], e);
        }
        text[n] = '\0';
        double x, expected = strtod(text, NULL);
        bool fits = sn_number_parse(text, (size_t)n, &x);
        assert_true(fits == isfinite(expected));
        if (fits && !same_bits(x, expected)) fail_msg("%s was read as %a", text, x);
    }
    // half-way cases and one digit past them
    static const char *const hard[] = {
        "9007199254740993",          "9007199254740992.9999999999999999999999999",
        "9007199254740993.00000001", "2.2250738585072011e-308",
        "2.4703282292062327e-324",   "2.4703282292062328e-324",
        "1.7976931348623158e308",    "0.1e-5000",
        "123456789012345e22",        "1e00000000000000000022"};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        double x;
        assert_true(sn_number_parse(hard[i], strlen(hard[i]), &x));
        if (!same_bits(x, strtod(hard[i], NULL))) fail_msg("%s was read as %a", hard[i], x);
    }
}

static void numbers_refused(void **unused) {
    (void)unused;
    static const char *const wrong[] = {"",      "+",        "-",     ".",      "e",
                                        "e5",    "1e",       "1e+",   "1e-",    "--1",
                                        "+-1",   "1.2.3",    "1,5",   " 1",     "1 ",
                                        "1x",    "0x10",     "1p3",   "inf",    "nan",
                                        "NaN",   "-inf",     "1e5.0", "1ee5",   "1e5e5",
                                        "1_000", "infinity", "1e309", "-1e309", "1e99999999999",
                                        "1f"};
    double x;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (sn_number_parse(wrong[i], strlen(wrong[i]), &x)) fail_msg("took '%s'", wrong[i]);
    assert_false(sn_number_parse("1\0002", 3, &x));
    // the length decides, not the terminator
    assert_true(sn_number_parse("12345", 2, &x) && x == 12);
    char *text = malloc(4002);
    assert_non_null(text);
    memset(text, '1', 4002);
    text[1] = '.';
    assert_true(sn_number_parse(text, 4000, &x) && x == 1.1111111111111112);
    assert_false(sn_number_parse(text, 4001, &x));
    free(text);
    assert_true(sn_number_parse("0e999999999", 11, &x) && x == 0);
    assert_true(sn_number_parse(".5", 2, &x) && x == 0.5);
    assert_true(sn_number_parse("5.", 2, &x) && x == 5);
}

static void numbers_with_a_comma_locale(void **unused) {
    (void)unused;
    if (decimal_commas() == NULL) skip();
    char text[SN_NUMBER_TEXT], by_c[16];
    double x = 0;
    sn_number_print(0.1, text);
    (void)snprintf(by_c, sizeof by_c, "%.1f", 0.1);
    bool read = sn_number_parse("0.12345678901234567890", 22, &x);
    (void)setlocale(LC_NUMERIC, "C");
    assert_null(strchr(by_c, '.'));
    assert_string_equal(text, "0.1");
    assert_true(read && x == 0.12345678901234567890);
}

// A parsed document, or the error's line when there is one.
static sn_json *parse(const char *text) {
    sn_json *json;
    sn_error error = {0};
    if (sn_json_parse(text, strlen(text), NULL, &json, &error) != SN_OK)
        fail_msg("%s, line %d: %s", error.text, error.line, text);
    return json;
}

static void json_constructs(void **unused) {
    (void)unused;
    sn_json *json =
        parse(" {\"a\": null,\n\"b\": [true, false, [], {}],\r\n\t\"c\": {\"d\": \"e\"},"
              "\n\n\"f\": -12.5e-1, \"\": \"\"}\n ");
    const sn_json_node *root = sn_json_root(json);
    assert_int_equal(root->type, SN_JSON_OBJECT);
    assert_int_equal(root->count, 5);
    assert_int_equal(root->line, 1);
    assert_null(root->key);
    assert_int_equal(sn_json_get(json, root, "a")->type, SN_JSON_NULL);
    const sn_json_node *b = sn_json_get(json, root, "b"), *at = sn_json_first(json, b);
    assert_int_equal(b->line, 2);
    const sn_json_type inside[] = {SN_JSON_TRUE, SN_JSON_FALSE, SN_JSON_ARRAY, SN_JSON_OBJECT};
    assert_int_equal(b->count, 4);
    for (int i = 0; i < 4; i++, at = sn_json_next(json, at)) {
        assert_int_equal(at->type, inside[i]);
        assert_null(at->key);
        assert_null(sn_json_first(json, at));
    }
    assert_null(at);
    const sn_json_node *d = sn_json_get(json, sn_json_get(json, root, "c"), "d");
    assert_int_equal(d->line, 3);
    assert_string_equal(d->string, "e");
    assert_string_equal(d->key, "d");
    const sn_json_node *f = sn_json_get(json, root, "f");
    assert_int_equal(f->line, 5);
    assert_true(f->number == -1.25);
    assert_string_equal(sn_json_get(json, root, "")->string, "");
    assert_null(sn_json_get(json, root, "z"));
    assert_null(sn_json_get(json, f, "a"));
    sn_json_destroy(json);
    sn_json_destroy(NULL);
}

static void json_scalars(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        sn_json_type type;
    } some[] = {{"null", SN_JSON_NULL},
                {"true", SN_JSON_TRUE},
                {"false", SN_JSON_FALSE},
                {"\n7", SN_JSON_NUMBER},
                {"\"x\"", SN_JSON_STRING},
                {"[]", SN_JSON_ARRAY},
                {"{}", SN_JSON_OBJECT},
                {"\xEF\xBB\xBF"
                 "1",
                 SN_JSON_NUMBER},
                {"-0", SN_JSON_NUMBER},
                {"0.5E+2", SN_JSON_NUMBER}};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        sn_json *json = parse(some[i].text);
        assert_int_equal(sn_json_root(json)->type, some[i].type);
        assert_null(sn_json_next(json, sn_json_root(json)));
        sn_json_destroy(json);
    }
    for (int type = SN_JSON_NULL; type <= SN_JSON_OBJECT; type++)
        assert_true(strlen(sn_json_type_text((sn_json_type)type)) > 3);
}

static void json_strings(void **unused) {
    (void)unused;
    sn_json *json =
        parse("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u0041\\u00e9\\u20aC\", "
              "\"\\ud83d\\uDE00\", \"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\", \"\\u001f\","
              "\"\x7f\"]");
    static const char *const expected[] = {"\"\\/\b\f\n\r\t",
                                           "A\xC3\xA9\xE2\x82\xAC",
                                           "\xF0\x9F\x98\x80",
                                           "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
                                           "\x1f",
                                           "\x7f"};
    const sn_json_node *at = sn_json_first(json, sn_json_root(json));
    for (int i = 0; i < 6; i++, at = sn_json_next(json, at))
        assert_string_equal(at->string, expected[i]);
    sn_json_destroy(json);
}

static void json_number_arrays(void **unused) {
    (void)unused;
    sn_json *json = parse("[[1,2,3],[1,null],[],5]");
    const sn_json_node *at = sn_json_first(json, sn_json_root(json));
    double x[3] = {0};
    assert_true(sn_json_numbers(json, at, 3, x) && x[0] == 1 && x[1] == 2 && x[2] == 3);
    assert_false(sn_json_numbers(json, at, 2, x));
    assert_false(sn_json_numbers(json, at, 4, x));
    at = sn_json_next(json, at);
    assert_false(sn_json_numbers(json, at, 2, x));
    at = sn_json_next(json, at);
    assert_true(sn_json_numbers(json, at, 0, x));
    assert_false(sn_json_numbers(json, sn_json_next(json, at), 1, x));
    sn_json_destroy(json);
}

static void refused(const char *text, size_t length, int line, const char *part) {
    sn_json *json = (sn_json *)&length;
    sn_error error = {0};
    sn_status status = sn_json_parse(text, length, NULL, &json, &error);
    if (status != SN_ERR_PARSE) fail_msg("status %d for: %.60s", (int)status, text);
    assert_null(json);
    assert_int_equal(error.status, SN_ERR_PARSE);
    if (error.line != line) fail_msg("line %d, not %d, for: %.60s", error.line, line, text);
    if (strstr(error.text, part) == NULL) fail_msg("'%s' for: %.60s", error.text, text);
    assert_int_equal(sn_json_parse(text, length, NULL, &json, NULL), SN_ERR_PARSE);
}

static void json_broken(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        int line;
        const char *part;
    } broken[] = {
        {"", 1, "ends where a value"},
        {"\n\n", 3, "ends where a value"},
        {"\xEF\xBB\xBF", 1, "ends where a value"},
        {"{", 1, "ends inside"},
        {"[1,\n2\n", 3, "ends inside"},
        {"[1,\n]", 2, "expected a value"},
        {"[,1]", 1, "expected a value"},
        {"[1 2]", 1, "expected ','"},
        {"[1}", 1, "expected ','"},
        {"{\"a\":1]", 1, "expected ','"},
        {"{\"a\" 1}", 1, "expected ':'"},
        {"{\"a\":1,\n}", 2, "expected a key"},
        {"{a:1}", 1, "expected a key"},
        {"{1:1}", 1, "expected a key"},
        {"{\"a\":}", 1, "expected a value"},
        {"{\"a\":1,\n\n\"a\":2}", 3, "\"a\" stands twice"},
        {"1 2", 1, "more text"},
        {"{}\n\n{}", 3, "more text"},
        {"]", 1, "expected a value"},
        {"nul", 1, "expected a value"},
        {"nullx", 1, "more text"},
        {"[tru]", 1, "expected a value"},
        {"'a'", 1, "expected a value"},
        {"\n\"a", 2, "not closed"},
        {"\"a\\", 1, "not closed"},
        {"\"a\nb\"", 1, "control character"},
        {"\"\t\"", 1, "control character"},
        {"\"\\x\"", 1, "unknown escape"},
        {"\"\\u0041", 1, "not closed"},
        {"\"\\u12\"", 1, "\\u escape"},
        {"\"\\u12g4\"", 1, "\\u escape"},
        {"\"\\ud83d\"", 1, "\\u escape"},
        {"\"\\ud83dxxxxxx\"", 1, "\\u escape"},
        {"\"\\ud83d\\u0041\"", 1, "\\u escape"},
        {"\"\\ude00\"", 1, "\\u escape"},
        {"\"\\u0000\"", 1, "NUL"},
        {"\"\xFF\"", 1, "not UTF-8"},
        {"\"\xC3\"", 1, "not UTF-8"},
        {"\"\xC0\x80\"", 1, "not UTF-8"},
        {"\"\xE0\x80\x80\"", 1, "not UTF-8"},
        {"\"\xED\xA0\x80\"", 1, "not UTF-8"},
        {"\"\xF4\x90\x80\x80\"", 1, "not UTF-8"},
        {"\"\xF0\x9F\x98", 1, "not UTF-8"},
        {"\xC3\xA9", 1, "expected a value"},
        {"+1", 1, "malformed"},
        {".5", 1, "malformed"},
        {"5.", 1, "malformed"},
        {"1.e5", 1, "malformed"},
        {"01", 1, "malformed"},
        {"-", 1, "malformed"},
        {"-01", 1, "malformed"},
        {"1e", 1, "malformed"},
        {"1e5.5", 1, "malformed"},
        {"1-2", 1, "malformed"},
        {"// no\n1", 1, "expected a value"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        refused(broken[i].text, strlen(broken[i].text), broken[i].line, broken[i].part);
    refused("\"a\0b\"", 5, 1, "control character");
    refused("1\0", 2, 1, "more text");
}

static void json_depth(void **unused) {
    (void)unused;
    char text[512];
    for (int depth = 1; depth <= 70; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        if (depth <= 64) {
            sn_json_destroy(parse(text));
        } else {
            refused(text, strlen(text), 1, "64 deep");
        }
    }
}

// Also where an object is long.
static void json_duplicates_late(void **unused) {
    (void)unused;
    for (int count = 2; count <= 1024; count *= 2) {
        sn_text text = sn_text_begin(NULL);
        char piece[32];
        for (int i = 0; i < count; i++) {
            (void)snprintf(piece, sizeof piece, "%s\"k%d\":0", i == 0 ? "{" : ",\n", i);
            sn_text_add(&text, piece);
        }
        (void)snprintf(piece, sizeof piece, ",\n\"k%d\":1}", count - 1);
        sn_text_add(&text, piece);
        if (count < 256) {
            refused(text.data, text.length, count + 1, "stands twice");
        } else {
            refused(text.data, text.length, 257, "more than 256 keys");
        }
        sn_text_end(&text);
    }
}

// Cut anywhere, a document whose last byte closes it is broken.
static void json_truncated(void **unused) {
    (void)unused;
    const char *text = "{\"a\": [1.5e-3, \"\\ud83d\\ude00\xC3\xA9\", {\"b\": null}], \"c\": true}";
    for (size_t n = 0; n < strlen(text); n++) {
        // a copy of just that length, so that a sanitizer sees every byte read past the end
        char *cut = malloc(n + 1);
        assert_non_null(cut);
        memcpy(cut, text, n);
        sn_json *json;
        char *exact = n > 0 ? realloc(cut, n) : cut;
        assert_int_equal(sn_json_parse(exact, n, NULL, &json, NULL), SN_ERR_PARSE);
        assert_null(json);
        free(exact);
    }
    sn_json_destroy(parse(text));
}

static void text_strings(void **unused) {
    (void)unused;
    sn_text text = sn_text_begin(NULL);
    sn_text_add_json_string(&text, "a\"\\\n\x7f\xC3\xA9\xFFz\xE2\x82");
    assert_string_equal(text.data,
                        "\"a\\\"\\\\\\u000a\\u007f\xC3\xA9\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\"");
    assert_int_equal(text.length, strlen(text.data));
    sn_json *json = parse(text.data);
    assert_string_equal(sn_json_root(json)->string,
                        "a\"\\\n\x7f\xC3\xA9\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
    sn_json_destroy(json);
    sn_text_end(&text);
    assert_int_equal(sn_utf8_length("", 0), 0);
    assert_int_equal(sn_utf8_length("\xC3\xA9", 1), 0);
    assert_int_equal(sn_utf8_length("\xF4\x8F\xBF\xBF", 4), 4);
}

// A text whose memory runs out stays failed and gives its memory back.
static void text_faults(void **unused) {
    (void)unused;
    for (long n = 0;; n++) {
        test_allocator allocator;
        test_allocator_begin(&allocator);
        allocator.fail_at = n;
        sn_text text = sn_text_begin(&allocator.base);
        for (int i = 0; i < 100; i++) sn_text_add_number(&text, 0.5 + i);
        sn_status status = text.status;
        sn_text_end(&text);
        assert_int_equal(allocator.live, 0);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
    }
}

static void layouts(void **unused) {
    (void)unused;
    sn_layout layout = {0};
    assert_null(sn_layout_take(&layout, 3, 5));
    assert_int_equal(layout.used, 64);
    (void)sn_layout_take(&layout, 0, 8);
    assert_int_equal(layout.used, 64);
    (void)sn_layout_take(&layout, 65, 1);
    assert_int_equal(layout.used, 192);
    const double item[3] = {1, 2, 3};
    assert_null(sn_layout_keep(&layout, item, sizeof item));
    assert_int_equal(layout.used, 256);
    void *owner;
    char *block = sn_layout_acquire(&layout, NULL, &owner);
    assert_true(block != NULL && (uintptr_t)block % 64 == 0);
    for (size_t i = 0; i < layout.used; i++) assert_int_equal(block[i], 0);
    sn_layout place = {.block = block};
    assert_ptr_equal(sn_layout_take(&place, 3, 5), block);
    assert_ptr_equal(sn_layout_take(&place, 65, 1), block + 64);
    assert_ptr_equal(sn_layout_keep(&place, item, sizeof item), block + 192);
    assert_memory_equal(block + 192, item, sizeof item);
    sn_release(NULL, owner);
    sn_release(NULL, NULL);
}

static void layout_overflow(void **unused) {
    (void)unused;
    const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 8 + 1, SIZE_MAX / 2 + 1};
    for (int i = 0; i < 4; i++) {
        sn_layout layout = {0};
        assert_null(sn_layout_take(&layout, counts[i], 8));
        assert_true(layout.overflow);
        // it stays overflown
        assert_null(sn_layout_take(&layout, 1, 8));
        void *owner = &layout;
        assert_null(sn_layout_acquire(&layout, NULL, &owner));
        assert_null(owner);
    }
    // no single one is too large, their sum is
    sn_layout layout = {0};
    (void)sn_layout_take(&layout, SIZE_MAX / 2 - 200, 1);
    (void)sn_layout_take(&layout, SIZE_MAX / 2 - 200, 1);
    assert_false(layout.overflow);
    (void)sn_layout_take(&layout, 1000, 1);
    assert_true(layout.overflow);
}

static void growing(void **unused) {
    (void)unused;
    void *items = NULL;
    size_t capacity = 0;
    for (size_t n = 1; n <= 1000; n++) {
        assert_int_equal(sn_grow(NULL, &items, &capacity, n, sizeof(int)), SN_OK);
        assert_true(capacity >= n);
        ((int *)items)[n - 1] = (int)n;
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(((int *)items)[i], i + 1);
    assert_int_equal(sn_grow(NULL, &items, &capacity, SIZE_MAX, sizeof(int)), SN_ERR_SIZE);
    assert_int_equal(sn_grow(NULL, &items, &capacity, SIZE_MAX / 2, sizeof(int)), SN_ERR_SIZE);
    assert_int_equal(((int *)items)[999], 1000);
    sn_release(NULL, items);
}

static const char *name_of(const void *owner, int index) {
    return ((char(*)[16])(uintptr_t)owner)[index];
}

static void names(void **unused) {
    (void)unused;
    enum { COUNT = 5000 };
    char(*list)[16] = malloc(COUNT * sizeof *list);
    assert_non_null(list);
    sn_names table;
    sn_layout layout = {0};
    sn_names_layout(&table, COUNT, &layout);
    void *owner;
    layout = (sn_layout){.block = sn_layout_acquire(&layout, NULL, &owner)};
    sn_names_layout(&table, COUNT, &layout);
    assert_true(table.mask + 1 >= 2 * (size_t)COUNT);
    for (int i = 0; i < COUNT; i++) {
        (void)snprintf(list[i], sizeof list[i], "n%d", i);
        assert_int_equal(sn_names_find(&table, list[i], name_of, list), -1);
        assert_int_equal(sn_names_add(&table, i, name_of, list), i);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(sn_names_find(&table, list[i], name_of, list), i);
    assert_int_equal(sn_names_find(&table, "n", name_of, list), -1);
    assert_int_equal(sn_names_find(&table, "", name_of, list), -1);
    // the first of two equal names stays
    (void)snprintf(list[7], sizeof list[7], "n3");
    assert_int_equal(sn_names_add(&table, 7, name_of, list), 3);
    sn_release(NULL, owner);
    // a table of none still answers
    layout = (sn_layout){0};
    sn_names_layout(&table, 0, &layout);
    layout = (sn_layout){.block = sn_layout_acquire(&layout, NULL, &owner)};
    sn_names_layout(&table, 0, &layout);
    assert_int_equal(sn_names_find(&table, "n3", name_of, list), -1);
    sn_release(NULL, owner);
    free(list);
}

static void statuses(void **unused) {
    (void)unused;
    assert_string_equal(sn_status_text(SN_OK), "ok");
    assert_string_equal(sn_status_text(SN_ERR_MEMORY), "out of memory");
    for (int a = 0; a < SN_STATUS_COUNT; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(sn_status_text((sn_status)a), sn_status_text((sn_status)b));
    const int odd[] = {-1, SN_STATUS_COUNT, 1000, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(sn_status_text((sn_status)odd[i]), "unknown status");
    }
    for (int i = 0; i < SN_STOP_COUNT; i++)
        assert_string_not_equal(sn_stop_text((sn_stop)i), "unknown");
    for (int i = 0; i < SN_TASK_TYPE_COUNT; i++)
        assert_string_not_equal(sn_task_type_name((sn_task_type)i), "unknown");
    assert_string_equal(sn_task_type_name(SN_TASK_TYPE_COUNT), "unknown");
    assert_string_equal(sn_joint_type_name(SN_JOINT_TYPE_COUNT), "unknown");
    assert_string_equal(sn_stop_text(SN_STOP_COUNT), "unknown");
}

// A message stays one terminated line whatever it quotes.
static void failing(void **unused) {
    (void)unused;
    char longest[400];
    memset(longest, 'x', sizeof longest);
    longest[399] = '\0';
    sn_error error;
    assert_int_equal(sn_fail(&error, SN_ERR_TASK, 12, "%s", longest), SN_ERR_TASK);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(error.line, 12);
    assert_int_equal(sn_fail(NULL, SN_ERR_FILE, 1, "x"), SN_ERR_FILE);
    (void)sn_fail(&error, SN_ERR_TASK, 0,
                  "a\nb\x1b\x7f"
                  "c");
    assert_string_equal(error.text, "a?b??c");
    assert_int_equal(sn_fail_memory(&error), SN_ERR_MEMORY);
    assert_string_equal(error.text, "out of memory");
}

static void version(void **unused) {
    (void)unused;
    char text[64];
    (void)snprintf(text, sizeof text, "%d.%d.%d", SN_VERSION_MAJOR, SN_VERSION_MINOR,
                   SN_VERSION_PATCH);
    assert_string_equal(sn_version(), text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_there_and_back),
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(numbers_are_rounded),
        cmocka_unit_test(numbers_refused),
        cmocka_unit_test(numbers_with_a_comma_locale),
        cmocka_unit_test(json_constructs),
        cmocka_unit_test(json_scalars),
        cmocka_unit_test(json_strings),
        cmocka_unit_test(json_number_arrays),
        cmocka_unit_test(json_broken),
        cmocka_unit_test(json_depth),
        cmocka_unit_test(json_duplicates_late),
        cmocka_unit_test(json_truncated),
        cmocka_unit_test(text_strings),
        cmocka_unit_test(text_faults),
        cmocka_unit_test(layouts),
        cmocka_unit_test(layout_overflow),
        cmocka_unit_test(growing),
        cmocka_unit_test(names),
        cmocka_unit_test(statuses),
        cmocka_unit_test(failing),
        cmocka_unit_test(version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
