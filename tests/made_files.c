// SPDX-License-Identifier: MIT
#include "made_files.h"

#include "memory_sink.h"

static made_file begin(const char *name, memory_sink *sink) {
    made_file file = {.bytes = NULL};
    (void)snprintf(file.name, sizeof file.name, "%s", name);
    memory_sink_begin(sink);
    return file;
}

static made_file end(made_file file, const memory_sink *sink, sn_status status,
                     const sn_error *error) {
    if (status != SN_OK) fail_msg("%s: %s", file.name, error->text);
    file.bytes = sink->bytes;
    file.length = sink->length;
    return file;
}

void made_free(made_file *file) {
    free(file->bytes);
    file->bytes = NULL;
}

made_file made_text(const made_file *plain, made_way way) {
    memory_sink sink;
    made_file file = begin(plain->name, &sink);
    size_t length = plain->length;
    if (way == MADE_NO_END)
        while (length > 0 && plain->bytes[length - 1] == '\n') length--;
    if (way == MADE_BOM) assert_true(sink.base.write(&sink, "\xef\xbb\xbf", 3));
    bool first = true;  // of a line
    for (size_t i = 0; i < length; i++) {
        char c = plain->bytes[i];
        if (first && way == MADE_INDENTED) assert_true(sink.base.write(&sink, " \t ", 3));
        first = c == '\n';
        if (first && way == MADE_BLANKS) assert_true(sink.base.write(&sink, "  ", 2));
        if (first && (way == MADE_CRLF || way == MADE_CR))
            assert_true(sink.base.write(&sink, "\r\n", way == MADE_CRLF ? 2 : 1));
        else
            assert_true(sink.base.write(&sink, way == MADE_TABS && c == ' ' ? "\t" : &c, 1));
    }
    if (way == MADE_EMPTY) assert_true(sink.base.write(&sink, "\n\n  \n", 5));
    const sn_error none = {0};
    return end(file, &sink, SN_OK, &none);
}

made_file made_c3d(const sn_recording *recording, sn_c3d_processor processor, bool integers) {
    memory_sink sink;
    sn_error error = {0};
    sn_c3d_options options = sn_c3d_options_default();
    options.processor = processor;
    options.integers = integers;
    made_file file = begin("made.c3d", &sink);
    return end(file, &sink, sn_c3d_write(recording, &options, &sink.base, NULL, &error), &error);
}

made_file made_trc(const sn_recording *recording, const char *unit) {
    memory_sink sink;
    sn_error error = {0};
    sn_markers_options options = sn_markers_options_default();
    options.unit = unit;
    made_file file = begin("made.trc", &sink);
    return end(file, &sink, sn_trc_write(recording, &options, &sink.base, &error), &error);
}

made_file made_csv(const sn_recording *recording, const char *unit) {
    memory_sink sink;
    sn_error error = {0};
    sn_markers_options options = sn_markers_options_default();
    options.unit = unit;
    made_file file = begin("made.csv", &sink);
    return end(file, &sink, sn_csv_write_recording(recording, &options, &sink.base, &error),
               &error);
}

made_file made_skeleton(const sn_model *model, const sn_motion *motion, sn_format format) {
    memory_sink sink;
    sn_error error = {0};
    sn_export *exported = NULL;
    sn_motion *moved = NULL;
    bool bvh = format == SN_FORMAT_BVH;
    sn_status status = sn_export_create(model, bvh ? SN_SKELETON_BVH : SN_SKELETON_ASF, NULL, NULL,
                                        &exported, &error);
    if (status == SN_OK) status = sn_export_motion(exported, motion, NULL, &moved, &error);
    made_file file = begin(bvh                       ? "made.bvh"
                           : format == SN_FORMAT_ASF ? "made.asf"
                                                     : "made.amc",
                           &sink);
    if (status == SN_OK) {
        const sn_skeleton *skeleton = sn_export_skeleton(exported);
        status = bvh ? sn_bvh_write(skeleton, moved, &sink.base, NULL, &error)
                 : format == SN_FORMAT_ASF
                     ? sn_asf_write(skeleton, &sink.base, &error)
                     : sn_amc_write(skeleton, moved, &sink.base, NULL, &error);
    }
    sn_motion_destroy(moved);
    sn_export_destroy(exported);
    return end(file, &sink, status, &error);
}

made_file made_mot(const sn_model *model, const sn_motion *motion) {
    memory_sink sink;
    sn_error error = {0};
    made_file file = begin("made.mot", &sink);
    return end(file, &sink, sn_mot_write(model, motion, &sink.base, NULL, &error), &error);
}

made_file made_glb(const sn_model *model, const sn_motion *motion) {
    memory_sink sink;
    sn_error error = {0};
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    made_file file = begin("made.glb", &sink);
    return end(file, &sink, sn_glb_write(&scene, &sink.base, NULL, &error), &error);
}

static void add(memory_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(memory_sink *sink, const char *format, ...) {
    char text[400];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    assert_true(n >= 0 && (size_t)n < sizeof text && sink->base.write(sink, text, (size_t)n));
}

made_file made_json(const sn_model *model) {
    memory_sink sink;
    const sn_error none = {0};
    char *text;
    made_file file = begin("made.json", &sink);
    assert_int_equal(sn_model_text(model, NULL, &text), SN_OK);
    assert_true(sink.base.write(&sink, text, strlen(text)));
    sn_release(NULL, text);
    return end(file, &sink, SN_OK, &none);
}

made_file made_urdf(int njoint, uint64_t seed) {
    static const char *const types[] = {"revolute", "continuous", "prismatic", "fixed"};
    memory_sink sink;
    const sn_error none = {0};
    made_file file = begin("made.urdf", &sink);
    add(&sink, "<?xml version=\"1.0\"?>\n<!-- made by a test -->\n<robot name=\"made\">\n");
    for (int i = 0; i < njoint; i++) {
        int type = below(&seed, 4);
        add(&sink,
            " <joint name=\"j%d\" type='%s'>\n  <parent link=\"l%d\"/>\n  <child link=\"l%d\"/>\n",
            i, types[type], below(&seed, i + 1), i + 1);
        add(&sink, "  <origin xyz=\"%.17g %.17g %.17g\" rpy=\"%.17g %.17g %.17g\"/>\n",
            uniform(&seed, -1, 1), uniform(&seed, -1, 1), uniform(&seed, -1, 1),
            uniform(&seed, -3, 3), uniform(&seed, -1, 1), uniform(&seed, -3, 3));
        if (type != 3)
            add(&sink, "  <axis xyz='%.17g %.17g 0.5'/>\n", uniform(&seed, -1, 1),
                uniform(&seed, -1, 1));
        if (type == 0 || type == 2)
            add(&sink, "  <limit effort=\"10\" velocity=\"1\" lower=\"%.17g\" upper=\"%.17g\"/>\n",
                uniform(&seed, -2, 0), uniform(&seed, 0, 2));
        add(&sink, "  <dynamics damping=\"0.1\"/>\n </joint>\n");
        add(&sink,
            " <transmission name=\"t%d\"><type>simple</type><joint name=\"j%d\"/></transmission>\n",
            i, i);
    }
    for (int i = 0; i <= njoint; i++)
        add(&sink,
            " <link name=\"l%d\"><visual><geometry><box size=\"1 1 "
            "1\"/></geometry></visual></link>\n",
            i);
    add(&sink, "</robot>\n");
    return end(file, &sink, SN_OK, &none);
}
