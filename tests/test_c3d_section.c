// SPDX-License-Identifier: MIT
// The inside of C3D: numbers of three kinds of processor bit by bit, parameters that run out of their section.
#include "files/c3d/c3d_section.h"
#include "support.h"

// A float's bits in a processor's order.
static void put_bits(sn_c3d_processor processor, uint32_t bits, uint8_t out[4]) {
    for (int i = 0; i < 4; i++) {
        uint8_t byte = (uint8_t)(bits >> 8 * i);
        int place = processor == SN_C3D_INTEL ? i : processor == SN_C3D_MIPS ? 3 - i : (i + 2) % 4;
        out[place] = byte;
    }
}

static double float_of(sn_c3d_processor processor, uint32_t bits) {
    uint8_t bytes[4];
    put_bits(processor, bits, bytes);
    const sn_c3d_file file = {.bytes = bytes, .length = 4, .processor = processor};
    return sn_c3d_float(&file, 0);
}

static void floats(void **unused) {
    (void)unused;
    const uint32_t bits[] = {0x3f800000u, 0xc2f60000u, 0x00000000u, 0x7f000000u};
    const double ieee[] = {1, -123, 0, 1.7014118346046923e38};
    for (int i = 0; i < 4; i++) {
        assert_true(float_of(SN_C3D_INTEL, bits[i]) == ieee[i]);
        assert_true(float_of(SN_C3D_MIPS, bits[i]) == ieee[i]);
        assert_true(float_of(SN_C3D_DEC, bits[i]) == ieee[i] / 4);
    }
    // DEC: exponent 0 is zero, whatever the fraction and the sign are; exponent 1 is the smallest number
    const uint32_t zeros[] = {0x00000001u, 0x007fffffu, 0x80000000u, 0x80400000u, 0x00010000u};
    for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
        assert_true(float_of(SN_C3D_DEC, zeros[i]) == 0);
    assert_true(float_of(SN_C3D_DEC, 0x00800000u) == ldexp(1, -128));
    // the others have denormals
    assert_true(float_of(SN_C3D_INTEL, 0x00000001u) == ldexp(1, -149));
}

// A group and one parameter of it whose data are cut by the section's end.
static sn_status find(int type, int count, size_t data, sn_c3d_param *out) {
    uint8_t head[] = {1, 0xff, 'G', 3, 0, 0, 1, 1, 'P', 0, 0, (uint8_t)type, 1, (uint8_t)count};
    // a block of its own, for the sanitizer
    uint8_t *bytes = malloc(sizeof head + data);
    assert_non_null(bytes);
    memcpy(bytes, head, sizeof head);
    memset(bytes + sizeof head, 0, data);
    const sn_c3d_file file = {.bytes = bytes,
                              .length = sizeof head + data,
                              .processor = SN_C3D_INTEL,
                              .section_end = sizeof head + data};
    sn_error error = {0};
    sn_status status = sn_c3d_find(&file, "G", "P", out, &error);
    if (status == SN_OK && out->data != NULL)
        for (size_t i = 0; i < out->count; i++) assert_true(sn_c3d_number(&file, out, i, 0) == 0);
    if (status != SN_OK) assert_non_null(strstr(error.text, "parameter G:P is damaged"));
    free(bytes);
    return status;
}

static void bounds(void **unused) {
    (void)unused;
    static const int types[] = {-1, 1, 2, 4};
    for (int i = 0; i < 4; i++) {
        size_t size = types[i] < 0 ? 1 : (size_t)types[i];
        for (int count = 1; count <= 40; count++) {
            for (size_t data = 0; data <= 170; data++) {
                sn_c3d_param p;
                bool fits = (size_t)count * size <= data;
                sn_status status = find(types[i], count, data, &p);
                if (status != (fits ? SN_OK : SN_ERR_PARSE))
                    fail_msg("%d of type %d in %zu bytes: status %d", count, types[i], data,
                             status);
                if (fits) assert_int_equal(p.count, count);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(floats), cmocka_unit_test(bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
