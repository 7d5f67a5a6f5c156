// SPDX-License-Identifier: MIT
// Recordings and models as other programs write them, or as nobody should: fitted, or refused in words.
#define _POSIX_C_SOURCE 200809L
#include "fit_program.h"
#include "memory_sink.h"
#include "takes.h"

enum { N = 42 };

// Calibrations take their time under a sanitizer; test_calibrate has them too.
static bool whole;
static sn_recording *take;  // 80 frames of the example, as it is in its file

static int begin(void **state) {
    if (fit_begin(state) != 0) return -1;
    whole = cases(10) >= 10;
    take = example_frames(80);
    return 0;
}

static int end(void **state) {
    sn_recording_destroy(take);
    return fit_end(state);
}

// The take with other facts and labels; the first `nmarker` markers.
static sn_recording *with(sn_recording_info info, char (*labels)[64]) {
    const char *names[N];
    sn_recording *out;
    for (int i = 0; i < info.nmarker; i++)
        names[i] = labels != NULL ? labels[i] : sn_recording_label(take, i);
    assert_int_equal(sn_recording_create(&info, names, NULL, &out, NULL), SN_OK);
    for (int f = 0; f < info.nframe; f++)
        memcpy(sn_recording_edit(out, f), sn_recording_frame(take, f),
               (size_t)info.nmarker * 3 * sizeof(double));
    return out;
}

static void save(const char *name, sn_recording *recording) {
    memory_sink sink;
    sn_error error = {0};
    memory_sink_begin(&sink);
    if (sn_c3d_write(recording, NULL, &sink.base, NULL, &error) != SN_OK)
        fail_msg("%s: %s", name, error.text);
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(sink.bytes, 1, sink.length, f), sink.length);
    assert_int_equal(fclose(f), 0);
    free(sink.bytes);
    sn_recording_destroy(recording);
}

static void labels_of(char (*labels)[64], const char *format) {
    for (int i = 0; i < N; i++)
        (void)snprintf(labels[i], 64, format, sn_label_name(sn_recording_label(take, i)));
}

static void labels(void **unused) {
    (void)unused;
    static char name[N][64];
    sn_recording_info info = *sn_recording_about(take);
    labels_of(name, "%s   ");
    save("padded.c3d", with(info, name));
    expect(0, "41 of 42 labels", "fit -m ex/subject.json -i padded.c3d");
    labels_of(name, "  %s");
    save("before.c3d", with(info, name));
    expect(0, "41 of 42 labels", "fit -m ex/subject.json -i before.c3d");
    labels_of(name, "%s");
    for (int i = 0; i < N; i++)
        for (char *c = name[i]; *c != '\0'; c++)
            if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
    save("lower.c3d", with(info, name));
    expect(0, "41 of 42 labels", "fit -m ex/subject.json -i lower.c3d");
    labels_of(name, "%s_1");
    save("suffix.c3d", with(info, name));
    expect(3, "LFHD", "fit -m ex/subject.json -i suffix.c3d");
    expect(3, "LFHD_1 (did you mean LFHD?)",
           "fit -m ex/subject.json -i suffix.c3d --markers ex/subject.json");
    // other systems part subject and marker with other signs
    const char *const parted[] = {"Anna_%s", "Anna 001.%s", "Anna-%s"};
    for (int i = 0; i < 3; i++) {
        labels_of(name, parted[i]);
        save("parted.c3d", with(info, name));
        expect(0, "41 of 42 labels", "fit -m ex/subject.json -i parted.c3d");
    }
    expect(0, "41 of 42 labels", "fit -m ex/subject.json -i parted.c3d --subject Anna");
    expect(3, "here are: Anna", "fit -m ex/subject.json -i parted.c3d --subject Bob");
    // one label twice: which of them is meant nobody knows, so it is said and the others are used
    labels_of(name, "%s");
    (void)snprintf(name[1], 64, "%s", name[0]);
    save("twice.c3d", with(info, name));
    expect(0, "40 of 42 labels", "fit -m ex/subject.json -i twice.c3d");
    labels_of(name, "Q%s");
    save("others.c3d", with(info, name));
    expect(3, "only 0 of the set's 41 markers",
           "fit -m ex/subject.json -i others.c3d --markers ex/subject.json");
    expect(3, "belong to the built-in marker set", "fit -m ex/skeleton.asf -i others.c3d");
    labels_of(name, "Q%s as the operator chose to call it");
    save("long.c3d", with(info, name));
    expect(3, " more", "fit -m ex/subject.json -i long.c3d --markers ex/subject.json");
}

// A recording's times go on in what is fitted to it, and no input is written over.
static void times_kept(void **unused) {
    (void)unused;
    sn_recording_info info = *sn_recording_about(take);
    sn_markers_options options = sn_markers_options_default();
    memory_sink sink;
    info.nframe = 20;
    info.time_offset = 3.25;
    sn_recording *late = with(info, NULL);
    memory_sink_begin(&sink);
    assert_int_equal(sn_trc_write(late, &options, &sink.base, NULL), SN_OK);
    FILE *f = fopen(path_of("late.trc"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(sink.bytes, 1, sink.length, f), sink.length);
    assert_int_equal(fclose(f), 0);
    free(sink.bytes);
    sn_recording_destroy(late);
    expect(0, "late.mot", "fit -m ex/subject.json -i late.trc -o late.mot");
    expect(0, "\"start\":3.25,", "info late.mot --json");
    expect(3, "late.trc: this is an input, which would be overwritten",
           "fit -m ex/subject.json -i late.trc -o late.trc");
}

static void few_markers(void **unused) {
    (void)unused;
    sn_recording_info info = *sn_recording_about(take);
    info.nmarker = 12;
    save("twelve.c3d", with(info, NULL));
    // they are those of the head and the trunk
    expect(4, "12 of 12 labels",
           "fit -m ex/subject.json -i twelve.c3d -o few.bvh --report few.html");
    assert_non_null(strstr(said, "no marker shows the pelvis, "));
    assert_non_null(strstr(said, "29 markers of the set without data"));
    info.nmarker = 2;
    save("two.c3d", with(info, NULL));
    expect(3, "", "fit -m ex/subject.json -i two.c3d");
    info.nmarker = 3;
    save("three.c3d", with(info, NULL));
    expect(3, "too few for a figure with 58", "fit -m ex/subject.json -i three.c3d");
    info.nmarker = 0;
    sn_recording *none = with(info, NULL);
    memory_sink sink;
    memory_sink_begin(&sink);
    (void)sn_c3d_write(none, NULL, &sink.base, NULL, NULL);
    free(sink.bytes);
    sn_recording_destroy(none);
}

static void frames(void **unused) {
    (void)unused;
    sn_recording_info info = *sn_recording_about(take);
    sn_recording *r = with(info, NULL);
    uint64_t random = 1;
    for (int f = 0; f < 20; f++)
        for (int i = 0; i < 3 * N; i++) sn_recording_edit(r, f)[i] = NAN;
    save("late.c3d", r);
    expect(0, "20 held for want of markers",
           "fit -m ex/subject.json -i late.c3d -o late.bvh -o late.glb --report late.html");
    if (whole)
        expect(0, "marker offsets", "fit -m humanoid -i late.c3d --calibrate --frames 11:40");
    r = with(info, NULL);
    spoil_gaps(r, 1, &random);
    save("empty.c3d", r);
    expect(3, "no frame from 1 to 80 has three markers with data",
           "fit -m ex/subject.json -i empty.c3d");
    expect(3, "no frame from 1 to 80 has three markers with data",
           "fit -m humanoid -i empty.c3d --calibrate");
    expect(3, "no frame from 1 to 15 has three markers with data",
           "fit -m ex/subject.json -i late.c3d --frames 1:15");
    info.nframe = 1;
    save("one.c3d", with(info, NULL));
    expect(0, "frames 1 to 1",
           "fit -m ex/subject.json -i one.c3d -o one.bvh -o one.amc -o one.glb -o one.mot --report "
           "one.html");
    expect(0, "from 1 frame:", "fit -m humanoid -i one.c3d --calibrate=scale");
    info = *sn_recording_about(take);
    info.rate = 1;
    save("slow.c3d", with(info, NULL));
    if (whole)
        expect(
            0, "1 frames/s",
            "fit -m humanoid -i slow.c3d --calibrate --frames 1:30 -o slow.bvh --report slow.html");
    info.rate = 0;
    save("rate0.c3d", with(info, NULL));
    if (whole)
        expect(0, "error",
               "fit -m humanoid -i rate0.c3d --calibrate --frames 1:30 -o rate0.bvh --report "
               "rate0.html");
    expect(1, "how many frames there are per second is not known",
           "fit -m ex/subject.json -i rate0.c3d -o never.glb");
    info.rate = 3e38;
    save("fast.c3d", with(info, NULL));
    int code = sinew("fit -m ex/subject.json -i fast.c3d --calibrate=offsets --frames 1:10 -o "
                     "fast.bvh --report fast.html");
    if (code != 0 && code != 1 && code != 3) fail_msg("%d: %s", code, said);
    size_t length;
    static const char *const reports[] = {"late.html", "one.html", "slow.html", "rate0.html"};
    for (int i = 0; i < (whole ? 4 : 2); i++) {
        char *html = slurp(path_of(reports[i]), &length);
        if (strstr(html, "nan") != NULL || strstr(html, ">inf") != NULL ||
            strstr(html, "\"inf") != NULL)
            fail_msg("%s holds what is no number", reports[i]);
        free(html);
    }
}

static void places(void **unused) {
    (void)unused;
    sn_recording_info info = *sn_recording_about(take);
    sn_recording *r = with(info, NULL);
    // one that stays where it is: a marker that fell off
    for (int f = 0; f < 80; f++)
        for (int c = 0; c < 3; c++) sn_recording_edit(r, f)[3 * 20 + c] = 0.3 * c + 0.1;
    save("fallen.c3d", r);
    expect(4, "cm from where it belongs in frames 1 to 80, and counts for nothing there",
           "fit -m ex/subject.json -i fallen.c3d --robust");
    // it is left out of the error, and the verdict speaks of it
    assert_non_null(strstr(said, "80 more are wrong and count for nothing"));
    assert_non_null(strstr(said, "verdict       look at it"));
    assert_true(strtod(strstr(said, "error         RMS ") + 18, NULL) < 0.3);
    if (whole)
        // a calibration does not hide it either
        expect(4, "from where it belongs",
               "fit -m humanoid -i fallen.c3d --calibrate=scale --robust --frames 11:40");
    // numbers that are none, and far too large ones
    r = with(info, NULL);
    for (int f = 0; f < 80; f += 3) {
        sn_recording_edit(r, f)[3 * 5] = INFINITY;
        sn_recording_edit(r, f)[3 * 6 + 1] = NAN;
        sn_recording_edit(r, f)[3 * 7 + 2] = -INFINITY;
    }
    memory_sink sink;
    memory_sink_begin(&sink);
    sn_status status = sn_c3d_write(r, NULL, &sink.base, NULL, NULL);
    free(sink.bytes);
    if (status == SN_OK) {
        save("infinite.c3d", r);
        expect(0, "error", "fit -m ex/subject.json -i infinite.c3d");
    } else {
        sn_recording_destroy(r);
    }
    for (int k = 0; k < 3; k++) {
        static const double sizes[] = {1e6, 1e15, 1e34};
        r = with(info, NULL);
        for (int f = 0; f < 80; f += 7) sn_recording_edit(r, f)[3 * 9] = sizes[k];
        save("huge.c3d", r);
        int code = sinew("fit -m ex/subject.json -i huge.c3d -o huge.bvh --report huge.html");
        if (code != 0 && code != 1 && code != 3 && code != 4)
            fail_msg("%g: exit %d: %s", sizes[k], code, said);
        if (code != 0 && strstr(said, "sinew: ") == NULL)
            fail_msg("%g: no word: %s", sizes[k], said);
        // single samples are thrown: taken out, and said
        if (k == 0)
            expect(0, "12 more are wrong and count for nothing",
                   "fit -m ex/subject.json -i huge.c3d --robust");
        if (whole && k == 0)
            expect(0, "more are wrong", "fit -m humanoid -i huge.c3d --calibrate --frames 11:40");
    }
    // everything far away from the origin
    r = with(info, NULL);
    for (int f = 0; f < 80; f++)
        for (int i = 0; i < 3 * N; i++) sn_recording_edit(r, f)[i] += 1000;
    save("far.c3d", r);
    expect(0, "error", "fit -m ex/subject.json -i far.c3d");
    double rms = strtod(strstr(said, "RMS ") + 4, NULL);
    assert_true(rms < 0.4);
}

// A rigid body, and a figure that is fixed to the ground.
static void models(void **unused) {
    (void)unused;
    put("rigid.json", "{\"joints\": [{\"name\": \"box\", \"type\": \"free\"}], \"markers\": ["
                      "{\"name\": \"A\", \"joint\": \"box\", \"position\": [0.1,0,0]}, {\"name\": "
                      "\"B\", \"joint\": \"box\", \"position\": [0,0.1,0]},"
                      "{\"name\": \"C\", \"joint\": \"box\", \"position\": [0,0,0.1]}, {\"name\": "
                      "\"D\", \"joint\": \"box\", \"position\": [0,0,0]}]}");
    put("rigid.csv",
        "time,A:X,A:Y,A:Z,B:X,B:Y,B:Z,C:X,C:Y,C:Z,D:X,D:Y,D:Z\n"
        // it jumps by two metres and a quarter of a turn, so that the pull to the last pose shows
        "0,1.1,0,0,1,0.1,0,1,0,0.1,1,0,0\n0.01,1,2.1,0,0.9,2,0,1,2,0.1,1,2,0\n");
    expect(0, "RMS 0.0",
           "fit -m rigid.json -i rigid.csv --units m --up y -o rigid.bvh -o rigid.asf -o rigid.glb "
           "--report rigid.html");
    expect(0, "offsets and lengths",
           "fit -m rigid.json -i rigid.csv --units m --up y --calibrate=scale");
    put("arm.json", "{\"joints\": [{\"name\": \"base\", \"type\": \"hinge\", \"axis\": [0,0,1]},"
                    "{\"name\": \"end\", \"parent\": \"base\", \"type\": \"hinge\", \"axis\": "
                    "[0,0,1], \"position\": [1,0,0]}], \"markers\": ["
                    "{\"name\": \"A\", \"joint\": \"base\", \"position\": [0.5,0,0]}, {\"name\": "
                    "\"B\", \"joint\": \"end\", \"position\": [0.5,0,0]},"
                    "{\"name\": \"C\", \"joint\": \"end\", \"position\": [0.5,0.1,0]}]}");
    put("arm.csv", "time,A:X,A:Y,A:Z,B:X,B:Y,B:Z,C:X,C:Y,C:Z\n0,0,0.5,0,0,1.5,0,-0.1,1.5,0\n0.01,0."
                   "5,0,0,1,0.5,0,0.9,0.5,0\n");
    expect(0, "RMS 0.0",
           "fit -m arm.json -i arm.csv --units m --axes xyz -o arm.bvh -o arm.glb -o arm.mot "
           "--report arm.html");
    put("still.json", "{\"joints\": [{\"name\": \"ground\", \"type\": \"fixed\"}], \"markers\": ["
                      "{\"name\": \"A\", \"joint\": \"ground\"}, {\"name\": \"B\", \"joint\": "
                      "\"ground\"}, {\"name\": \"C\", \"joint\": \"ground\"}]}");
    int code =
        sinew("fit -m still.json -i arm.csv --units m --axes xyz -o still.bvh --report still.html");
    if (code != 0 && strstr(said, "sinew: ") == NULL) fail_msg("%d: %s", code, said);
    if (code > 4) fail_msg("exit %d: %s", code, said);
    code = sinew("fit -m still.json -i arm.csv --units m --axes xyz --calibrate=scale");
    if (code > 4) fail_msg("exit %d: %s", code, said);
    put("bare.json", "{\"joints\": [{\"name\": \"box\", \"type\": \"free\"}]}");
    expect(3, "", "fit -m bare.json -i arm.csv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels), cmocka_unit_test(times_kept), cmocka_unit_test(few_markers),
        cmocka_unit_test(frames), cmocka_unit_test(places),     cmocka_unit_test(models),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
