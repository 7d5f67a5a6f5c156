// SPDX-License-Identifier: MIT
#include "reader.h"

char *replaced(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    if (at == NULL) fail_msg("\"%s\" is not in the text", from);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    memcpy(out, text, (size_t)(at - text));
    strcpy(out + (at - text), to);
    strcat(out, at + strlen(from));
    return out;
}

void check_edits(reader *read, const char *text, const edit *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *edited = replaced(text, list[i].from, list[i].to);
        sn_error error = {0};
        sn_status status = read(edited, strlen(edited), NULL, &error);
        if (status == SN_OK) fail_msg("case %zu, \"%s\", was read", i, list[i].message);
        assert_int_equal(error.status, status);
        if (strstr(error.text, list[i].message) == NULL)
            fail_msg("case %zu: \"%s\" is not in \"%s\"", i, list[i].message, error.text);
        if (error.line != list[i].line)
            fail_msg("case %zu, \"%s\": line %d, not %d", i, error.text, error.line, list[i].line);
        assert_int_equal(read(edited, strlen(edited), NULL, NULL), status);
        free(edited);
    }
}

long check_memory(reader *read, const char *bytes, size_t length) {
    long n = 0;
    for (int after = 0; after < 2; after++) {
        n = 0;
        for (bool done = false; !done; n++) {
            test_allocator a;
            test_allocator_begin(&a);
            a.fail_at = n;
            a.fail_after = after == 1;
            sn_error error = {0};
            sn_status status = read(bytes, length, &a.base, &error);
            done = status == SN_OK;
            if (done) assert_true(a.calls <= n);
            if (!done) assert_true(status == SN_ERR_MEMORY && error.status == status);
            assert_int_equal(a.live, 0);
        }
    }
    print_message("%ld allocations failed in turn\n", n - 1);
    return n - 1;
}
