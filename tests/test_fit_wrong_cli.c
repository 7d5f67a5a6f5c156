// SPDX-License-Identifier: MIT
// sinew fit with input that cannot be right: mirrored, in another unit, of another body. It must say so.
#define _POSIX_C_SOURCE 200809L
#include "fit_program.h"
#include "memory_sink.h"
#include "takes.h"

static sn_recording *take;  // 80 frames of the example, as it is in its file

static int begin(void **state) {
    if (fit_begin(state) != 0) return -1;
    take = example_frames(80);
    return 0;
}

static int end(void **state) {
    sn_recording_destroy(take);
    return fit_end(state);
}

static void save(const char *name, const sn_recording *recording) {
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_c3d_write(recording, NULL, &sink.base, NULL, NULL), SN_OK);
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(sink.bytes, 1, sink.length, f), sink.length);
    assert_int_equal(fclose(f), 0);
    free(sink.bytes);
}

static bool report_has(const char *name, const char *text) {
    size_t length;
    char *html = slurp(path_of(name), &length);
    bool has = strstr(html, text) != NULL;
    free(html);
    return has;
}

#define LOOKS "the markers look mirrored"

static void mirrored(void **unused) {
    (void)unused;
    sn_axis_map mirror = sn_axis_map_identity();
    mirror.sign[0] = -1;
    sn_recording *r = recording_turned(take, &mirror, sn_recording_about(take));
    save("mirrored.c3d", r);
    sn_recording_destroy(r);
    // on standard error and once only: standard output has the summary
    char line[600];
    (void)snprintf(line, sizeof line,
                   "cd '%s' && '%s' fit -m ex/skeleton.asf -i mirrored.c3d --report m.html "
                   "2>warned.txt",
                   folder, SINEW_PROGRAM);
    assert_int_equal(shell(line), 4);
    assert_true(strstr(said, "RMS") != NULL && strstr(said, LOOKS) == NULL);
    assert_true(strstr(said, "verdict       do not use it") != NULL);
    assert_true(report_has("warned.txt", "sinew: WARNING: mirrored.c3d: " LOOKS));
    assert_true(
        report_has("warned.txt", "the axes or the left and right labels are likely exchanged"));
    assert_true(report_has("m.html", "he markers look mirrored"));
    // places that are known, and a large error
    expect(4, "\"warnings\":[\"" LOOKS, "fit -m ex/subject.json -i mirrored.c3d --json");
    // what it says helps: the take's axes are yzx
    expect(0, "recording's yz-x", "fit -m ex/skeleton.asf -i mirrored.c3d --axes yz-x");
    assert_null(strstr(said, LOOKS));
    assert_true(strtod(strstr(said, "error         RMS ") + 18, NULL) < 0.4);
    expect(0, "RMS", "fit -m ex/skeleton.asf -i ex/take.c3d --frames 1:80 --report right.html");
    assert_null(strstr(said, "WARNING"));
    assert_false(report_has("right.html", "WARNING"));
}

static void labels_exchanged(void **unused) {
    (void)unused;
    sn_recording *r = recording_cut(take, 0, 80);
    for (int m = 0; m < sn_recording_about(take)->nmarker; m++) {
        char name[80];
        (void)snprintf(name, sizeof name, "%s", sn_label_name(sn_recording_label(take, m)));
        if (name[0] != 'L' && name[0] != 'R') continue;
        name[0] = name[0] == 'L' ? 'R' : 'L';
        int other = sn_recording_find(take, name);
        for (int f = 0; other >= 0 && f < 80; f++)
            memcpy(sn_recording_edit(r, f) + 3 * other, sn_recording_frame(take, f) + 3 * m,
                   3 * sizeof(double));
    }
    save("sides.c3d", r);
    sn_recording_destroy(r);
    expect(4, LOOKS, "fit -m ex/skeleton.asf -i sides.c3d");
}

// The skeleton `by` times as large: ASF's unit of length says how long its numbers are.
static void scaled_skeleton(const char *name, double by) {
    size_t length;
    char *text = slurp(path_of("ex/skeleton.asf"), &length), *at = strstr(text, "length ");
    assert_non_null(at);
    double unit = strtod(at + 7, NULL);
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    (void)fprintf(f, "%.*s%.17g%s", (int)(at + 7 - text), text, unit / by, strchr(at, '\n'));
    assert_int_equal(fclose(f), 0);
    free(text);
}

static void other_bodies(void **unused) {
    (void)unused;
    static const char far[] = "from their bones";
    scaled_skeleton("half.asf", 0.5);
    scaled_skeleton("giant.asf", 1.6);
    expect(4, far, "fit -m half.asf -i ex/take.c3d --frames 1:80 --report h.html");
    assert_true(report_has("h.html", far));
    assert_non_null(strstr(said, "times as large as the skeleton: --calibrate=scale"));
    expect(4, "the body is about 0.6",
           "fit -m giant.asf -i ex/take.c3d --frames 1:80 --calibrate=none");
    // and with lengths it fits as the right one does
    static const char *const names[] = {"half.asf", "giant.asf"};
    for (int i = 0; i < 2; i++) {
        char line[200];
        (void)snprintf(line, sizeof line,
                       "fit -m %s -i ex/take.c3d --frames 1:80 --calibrate=scale", names[i]);
        expect(0, "offsets and lengths", line);
        double rms = strtod(strstr(said, "error         RMS ") + 18, NULL);
        print_message("%s with lengths: %.3f cm\n", names[i], rms);
        assert_true(rms < 0.32);
        assert_null(strstr(said, "WARNING"));
        assert_null(strstr(said, "times as large"));
    }
}

static void units(void **unused) {
    (void)unused;
    static const struct {
        double by;
        const char *says;
    } all[] = {{10, "times as large as the skeleton; give the right one with --units"},
               {0.1, "give the right one with --units"},
               {2.54, "give the right one with --units"},
               {1 / 2.54, "give the right one with --units"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_axis_map map = sn_axis_map_identity();
        map.scale = all[i].by;
        sn_recording *r = recording_turned(take, &map, sn_recording_about(take));
        save("unit.c3d", r);
        sn_recording_destroy(r);
        expect(3, all[i].says, "fit -m ex/subject.json -i unit.c3d -o never.bvh");
        assert_non_null(strstr(said, "unit.c3d: its unit of length is stated as mm"));
        assert_false(is_there("never.bvh"));
        // as the user says, whatever the file does
        expect(4, "likely wrong", "fit -m ex/subject.json -i unit.c3d --units mm --frames 1:20");
    }
    // the right unit helps
    sn_axis_map tenth = sn_axis_map_identity();
    tenth.scale = 0.1;
    sn_recording *r = recording_turned(take, &tenth, sn_recording_about(take));
    save("cm.c3d", r);
    sn_recording_destroy(r);
    expect(0, "cm (as you said)", "fit -m ex/subject.json -i cm.c3d --units cm");
    assert_null(strstr(said, "WARNING"));
    // a child is only told of
    tenth.scale = 0.6;
    r = recording_turned(take, &tenth, sn_recording_about(take));
    save("child.c3d", r);
    sn_recording_destroy(r);
    expect(4, "note          the body is about 0.", "fit -m ex/subject.json -i child.c3d");
    assert_null(strstr(said, "WARNING: child.c3d: with"));
}

static void exchanged(void **unused) {
    (void)unused;
    sn_recording *r = recording_cut(take, 0, 80);
    int a = sn_recording_find(r, "LWRA"), b = sn_recording_find(r, "LWRB");
    for (int f = 20; f < 50; f++) {
        const double *x = sn_recording_frame(take, f);
        memcpy(sn_recording_edit(r, f) + 3 * a, x + 3 * b, 3 * sizeof(double));
        memcpy(sn_recording_edit(r, f) + 3 * b, x + 3 * a, 3 * sizeof(double));
    }
    save("exchanged.c3d", r);
    sn_recording_destroy(r);
    expect(4, "LWRA and LWRB look exchanged in frames 21 to 44",
           "fit -m ex/subject.json -i exchanged.c3d --report x.html");
    assert_true(report_has("x.html", "LWRA and LWRB look exchanged in frames 21 to 44"));
    expect(4, "\"exchanged\":[{\"markers\":[\"LWRA\",\"LWRB\"],\"first\":21,\"last\":44}]",
           "fit -m ex/subject.json -i exchanged.c3d --json");
    expect(0, "\"exchanged\":[]", "fit -m ex/subject.json -i ex/take.c3d --json");
}

// The map of gaps has its rows as the table has: the first marker, here never seen, at the top.
static void gap_rows(void **unused) {
    (void)unused;
    size_t length;
    sn_model *model;
    char *json = slurp(path_of("ex/subject.json"), &length);
    assert_int_equal(sn_model_read_json(json, length, NULL, &model, NULL), SN_OK);
    free(json);
    sn_recording *r = recording_cut(take, 0, 80);
    int m = sn_recording_find(r, sn_model_marker(model, 0)->name);
    assert_true(m >= 0);
    for (int f = 0; f < 80; f++)
        for (int k = 0; k < 3; k++) sn_recording_edit(r, f)[3 * m + k] = NAN;
    save("first.c3d", r);
    sn_recording_destroy(r);
    sn_model_destroy(model);
    expect(0, "RMS", "fit -m ex/subject.json -i first.c3d --report first.html");
    char *html = slurp(path_of("first.html"), &length);
    double top = INFINITY, bottom = -INFINITY, widest = 0, at = 0;
    for (char *c = strstr(html, "<rect"); c != NULL; c = strstr(c + 1, "<rect")) {
        char *kind = strstr(c, " class=\"m"), *end = strstr(c, "/>"), *y = strstr(c, " y=\"");
        if (kind == NULL || end == NULL || y == NULL || kind > end) continue;
        double row = strtod(y + 4, NULL), width = strtod(strstr(c, "width=\"") + 7, NULL);
        top = fmin(top, row);
        bottom = fmax(bottom, row);
        if (kind[9] == '2' && width > widest) widest = width, at = row;
    }
    assert_true(widest > 0 && top < bottom);
    assert_near(at, top, 1e-9);
    free(html);
}

static void error_limit(void **unused) {
    (void)unused;
#define SHORT "fit -m ex/subject.json -i ex/take.c3d --frames 10:60 "
    expect(0, "--max-error is 5 metres", SHORT "--max-error 5");
    expect(4, "51 of 51 frames stayed above 0.1 cm RMS (--max-error 1mm)", SHORT "--max-error 1mm");
    expect(0, "RMS", SHORT "--max-error 5mm");
    assert_null(strstr(said, "metres, which"));
    expect(0, "RMS", SHORT "--max-error 0.5cm");
    expect(4, "above 0.1 cm", SHORT "--max-error 0.001");
    expect(2, "a length such as", SHORT "--max-error 5parsec");
    expect(0, "a number\n                          alone is in metres", "fit --help");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrored),     cmocka_unit_test(labels_exchanged),
        cmocka_unit_test(other_bodies), cmocka_unit_test(units),
        cmocka_unit_test(exchanged),    cmocka_unit_test(gap_rows),
        cmocka_unit_test(error_limit),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
