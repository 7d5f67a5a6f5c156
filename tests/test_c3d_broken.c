// SPDX-License-Identifier: MIT
// C3D files that are wrong, cut short, damaged, or too much for the memory.
#include "c3d_files.h"
#include "reader.h"

// What the header and the parameters disagree about.
static void contradictions(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 4, 120);
    check_note(&m, 4, 3, 100,
               "the header states 100 frames/s, POINT:RATE 120: the header is believed");
    m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 4, 100.01);
    put_number(&m, "FRAMES", 1, 2, 4);
    check_note(&m, 4, 3, 100, "");
    m = small_file(INTEL, true);
    put_number(&m, "FRAMES", 1, 2, 5);
    check_note(&m, 4, 3, 100, "the header states 4 frames, POINT:FRAMES 5: the header is believed");
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "FRAMES", 1, 2, 400);
    put_word(&m, 8, 300);
    check_note(&m, 400, 3, 100,
               "the header states 296 frames, POINT:FRAMES 400: the latter fit the data");
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "USED", 1, 2, 3);
    put_word(&m, 2, 4);
    check_note(&m, 400, 3, 100, "the header says 4 points, POINT:USED 3: the latter fits the data");
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "USED", 1, 2, 2);
    check_note(&m, 400, 3, 100, "the header says 3 points, POINT:USED 2: the header fits the data");
}

// Fields of the header that are plainly wrong.
static void wrong_headers(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 4, 120);
    put_float(&m, 20, 1e9f);
    check_note(&m, 4, 3, 120,
               "the header states 1e+09 frames/s, POINT:RATE 120: the latter is believed");
    // two points of four words and a third that is the analog samples of two channels, twice
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_group(&m, "ANALOG", 2);
    put_number(&m, "USED", 2, 2, 2);
    put_word(&m, 2, 2), put_word(&m, 4, 0), put_word(&m, 18, 2);
    check_note(&m, 400, 2, 100,
               "the header says 0 analog samples in a frame, ANALOG:USED 4: the latter fits the "
               "data");
}

static void refuse(const maker *m, const char *message) {
    sn_recording *r;
    sn_error error = {0};
    sn_status status = sn_c3d_read(m->bytes, m->length, NULL, &r, &error);
    if (status != SN_ERR_PARSE) fail_msg("\"%s\": status %d", message, status);
    assert_null(r);
    assert_int_equal(error.status, status);
    if (strstr(error.text, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, error.text);
    assert_int_equal(sn_c3d_read(m->bytes, m->length, NULL, &r, NULL), status);
    free(m->bytes);
}

static void broken_files(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    m.bytes[1] = 0x51;
    refuse(&m, "byte 1: this is no C3D file");
    m = small_file(INTEL, true), m.bytes[0] = 1;
    refuse(&m, "byte 0: the parameters cannot begin in block 1");
    m = small_file(INTEL, true), m.bytes[0] = 200;
    refuse(&m, "byte 0: the parameters begin at byte 101888, but the file has only");
    m = small_file(INTEL, true), m.bytes[BLOCK + 3] = 83;
    refuse(&m, "byte 515: unknown processor type 83");
    m = small_file(INTEL, true), put_word(&m, 16, 0);
    refuse(&m, "byte 16: the data cannot begin in block 0");
    m = small_file(INTEL, true), put_word(&m, 16, 900);
    refuse(&m, "byte 16: the data begin at byte 460288, but the file has only");
    m = small_file(INTEL, true), put_word(&m, 2, 4);
    refuse(&m, "byte 2: the header says 4 points, POINT:USED says 3");
    m = make(INTEL, true, 0, 4, 2, 3), m.length++, m.bytes = realloc(m.bytes, m.length);
    refuse(&m, "byte 2: the file has no points");
    m = small_file(INTEL, true), put_word(&m, 8, 3);
    refuse(&m, "byte 6: the file has no frames");
    m = small_file(INTEL, true), put_word(&m, 8, 5 + 899);
    refuse(&m, "the file claims 900 frames of 48 bytes each but holds only 10");
    m = small_file(INTEL, true), put_float(&m, 12, 0.25f);
    refuse(&m, "byte 12: the header says that points are whole numbers");
    m = make(INTEL, true, 3, 4, 2, 3), put_float(&m, 12, NAN);
    refuse(&m, "byte 12: the file states no scale");
    m = make(INTEL, true, 1, 2, 2, 3);
    put_group(&m, "POINT", 1);
    put_strings(&m, "LABELS", 1, 4, 1, (const char *const[]){"Knee"});
    put_strings(&m, "ANGLES", 1, 4, 1, (const char *const[]){"Knee"});
    refuse(&m, "none of the 1 points is a marker");
    // labels that run into the data, and of no known type
    m = small_file(INTEL, true);
    put_strings(&m, "ANGLES", 1, 4, 1, (const char *const[]){"Knee"});
    m.bytes[m.at - 1 - 4 - 2] = 255, m.bytes[m.at - 1 - 4 - 1] = 255;
    refuse(&m, "parameter POINT:ANGLES is damaged");
    m = small_file(INTEL, true);
    put_number(&m, "RATE", 1, 2, 3), put_float(&m, 20, 0);
    m.bytes[m.at - 1 - 2 - 2] = 3;
    refuse(&m, "parameter POINT:RATE is damaged");
    // sixteen dimensions of sixteen: 2^64 items, which go round to none
    m = small_file(INTEL, true);
    put_name(&m, "ANGLES", 1, false);
    m.bytes[m.at++] = 0xff;
    for (int i = 0; i < 17; i++) m.bytes[m.at++] = 16;
    put_end(&m);
    refuse(&m, "parameter POINT:ANGLES is damaged");
    // more points and channels than any number can count
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "POINT", 1);
    put_number(&m, "USED", 1, 4, 6.6e35);
    put_word(&m, 2, 4);
    refuse(&m, "byte 2: the header says 4 points, POINT:USED says 6599999");
    m = make(INTEL, true, 3, 400, 2, 3);
    put_group(&m, "ANALOG", 2);
    put_number(&m, "USED", 2, 4, 6.6e35);
    put_word(&m, 2, 4);
    refuse(&m, "frames of 64 bytes each but holds only");
    // frames beyond what a count can hold
    m = small_file(INTEL, true), put_word(&m, 8, 65535);
    put_number(&m, "LONG_FRAMES", 1, 4, 3e9);
    refuse(&m, "too many");
    sn_recording *r;
    sn_error error = {0};
    assert_int_equal(sn_c3d_read(NULL, 0, NULL, &r, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "empty"));
    assert_int_equal(sn_c3d_read("abc", 3, NULL, &r, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "byte 3: the file ends inside the header"));
}

// Cut anywhere before the last sample: an error. After it only padding is lost.
static void truncation(void **unused) {
    (void)unused;
    for (int real = 0; real < 2; real++) {
        maker m = small_file(real ? DEC : INTEL, real);
        size_t needed = sample_at(&m, 3, 2) + (real ? 16 : 8);
        for (size_t n = 0; n <= m.length; n++) {
            uint8_t *copy = malloc(n + 1);  // a block of its own, for the sanitizer
            assert_non_null(copy);
            memcpy(copy, m.bytes, n);
            copy = realloc(copy, n > 0 ? n : 1);
            sn_recording *r;
            sn_error error = {0};
            sn_status status = sn_c3d_read(copy, n, NULL, &r, &error);
            assert_int_equal(status, n < needed ? SN_ERR_PARSE : SN_OK);
            if (status == SN_OK) assert_int_equal(sn_recording_about(r)->nframe, 4);
            if (status != SN_OK) assert_non_null(strstr(error.text, "byte "));
            sn_recording_destroy(r);
            free(copy);
        }
        free(m.bytes);
    }
}

static sn_status c3d(const char *bytes, size_t length, const sn_allocator *allocator,
                     sn_error *error) {
    sn_recording *r;
    sn_status status = sn_c3d_read(bytes, length, allocator, &r, error);
    if (status != SN_OK) assert_null(r);
    sn_recording_destroy(r);
    return status;
}

static void failing_memory(void **unused) {
    (void)unused;
    maker m = small_file(INTEL, true);
    assert_int_equal(check_memory(c3d, (const char *)m.bytes, m.length), 2);
    free(m.bytes);
}

// Random damage: an answer or an error, and never more memory than the file is worth.
static void damage(void **unused) {
    (void)unused;
    uint64_t state = 9;
    maker m = small_file(MIPS, false);
    uint8_t *copy = malloc(m.length);
    assert_non_null(copy);
    int read = 0, count = cases(20000);
    for (int i = 0; i < count; i++) {
        memcpy(copy, m.bytes, m.length);
        for (int k = below(&state, 5); k >= 0; k--)
            copy[below(&state, (int)sample_at(&m, 0, 0))] = (uint8_t)below(&state, 256);
        sn_recording *r;
        sn_error error = {0};
        sn_status status = sn_c3d_read(copy, m.length, NULL, &r, &error);
        assert_true(status == SN_OK || (r == NULL && error.text[0] != '\0'));
        if (status == SN_OK) {
            const sn_recording_info *info = sn_recording_about(r);
            assert_true((size_t)info->nframe * (size_t)info->nmarker * 8 <= m.length);
            read++;
        }
        sn_recording_destroy(r);
    }
    print_message("%d of %d damaged files could still be read\n", read, count);
    free(copy);
    free(m.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_files),   cmocka_unit_test(truncation),
        cmocka_unit_test(damage),         cmocka_unit_test(failing_memory),
        cmocka_unit_test(contradictions), cmocka_unit_test(wrong_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
