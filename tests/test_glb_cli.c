// SPDX-License-Identifier: MIT
// A fitted take through a GLB file: sinew info tells what was fitted, sinew convert gives what the fit
// itself writes.
#define _POSIX_C_SOURCE 200809L
#include "program.h"

static sn_document read_document(const char *name) {
    size_t length;
    char *bytes = slurp(program_path(name), &length);
    sn_document d;
    sn_error error = {0};
    if (sn_document_read(name, bytes, length, NULL, NULL, &d, &error) != SN_OK)
        fail_msg("%s: %s", name, error.text);
    free(bytes);
    return d;
}

// Markers of two files are at the same places in every frame, to `tolerance` metres.
static void same_markers(const char *one, const char *other, double tolerance) {
    sn_document a = read_document(one), b = read_document(other);
    const sn_recording_info *x = sn_recording_about(a.recording),
                            *y = sn_recording_about(b.recording);
    assert_int_equal(x->nframe, y->nframe);
    assert_int_equal(x->nmarker, y->nmarker);
    for (int m = 0; m < x->nmarker; m++)
        assert_string_equal(sn_recording_label(a.recording, m), sn_recording_label(b.recording, m));
    for (int f = 0; f < x->nframe; f++)
        for (int k = 0; k < 3 * x->nmarker; k++)
            assert_near(sn_recording_frame(a.recording, f)[k],
                        sn_recording_frame(b.recording, f)[k], tolerance);
    sn_document_destroy(&a);
    sn_document_destroy(&b);
}

static void test_fitted_take(void **unused) {
    (void)unused;
    program_expect(0, "", "example --out %s", program_path("."));
    program_expect(0, "wrote", "fit -m %s -i %s --frames 100:160 -o %s -o %s -o %s",
                   program_path("skeleton.asf"), program_path("take.c3d"), program_path("fit.glb"),
                   program_path("fit.trc"), program_path("fit.bvh"));
    program_expect(0, "GLB model, motion and markers", "info %s", program_path("fit.glb"));
    static const char *const said[] = {"61 (1 to 61), 120 frames/s",
                                       "m (stated)",
                                       "+y (stated)",
                                       "38 in 7 chains",
                                       "figure:LFHD",
                                       "samples missing"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (strstr(program_output, said[i]) == NULL)
            fail_msg("\"%s\" is not in %s", said[i], program_output);
    program_expect(0, "\"up_known\":\"stated\"", "info --json %s", program_path("fit.glb"));
    // the figure's markers, as the fit wrote them, from the GLB
    program_expect(0, "wrote", "convert %s -o %s -o %s -o %s -o %s", program_path("fit.glb"),
                   program_path("back.trc"), program_path("back.c3d"), program_path("back.bvh"),
                   program_path("back.glb"));
    same_markers("fit.trc", "back.trc", 2e-6);
    same_markers("fit.trc", "back.c3d", 2e-6);
    // and once more: measured and fitted stay what they are
    program_expect(0, "wrote", "convert %s -o %s", program_path("back.glb"),
                   program_path("again.trc"));
    same_markers("fit.trc", "again.trc", 4e-6);
    sn_document a = read_document("fit.glb"), b = read_document("back.glb");
    assert_int_equal(sn_recording_about(a.recording)->nmarker,
                     sn_recording_about(b.recording)->nmarker);
    for (int f = 0; f < 61; f++)
        for (int m = 0; m < sn_recording_about(a.recording)->nmarker; m++) {
            assert_int_equal(sn_recording_present(a.recording, f, m),
                             sn_recording_present(b.recording, f, m));
            for (int k = 3 * m; sn_recording_present(a.recording, f, m) && k < 3 * m + 3; k++)
                assert_near(sn_recording_frame(a.recording, f)[k],
                            sn_recording_frame(b.recording, f)[k], 1e-6);
        }
    sn_document_destroy(&a);
    sn_document_destroy(&b);
}

static void test_refused(void **unused) {
    (void)unused;
    const char *broken = program_file("broken.glb", "glTF and no more");
    program_expect(3, "GLB of version", "info %s", broken);
    const char *text = program_file(
        "text.gltf", "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"a\"}],"
                     "\"animations\":[{\"samplers\":[{\"input\":0,\"output\":0}],\"channels\":[{"
                     "\"sampler\":0,\"target\":{\"node\":0,\"path\":\"translation\"}}]}],"
                     "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1,\"type\":"
                     "\"SCALAR\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":4}],"
                     "\"buffers\":[{\"byteLength\":4,\"uri\":\"motion.bin\"}]}");
    program_expect(3, "its numbers are in another file, \"motion.bin\"", "info %s", text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fitted_take),
                                       cmocka_unit_test(test_refused)};
    if (!program_begin("glb")) return 1;
    return program_end(cmocka_run_group_tests(tests, NULL, NULL));
}
