// SPDX-License-Identifier: MIT
// sinew fit with input that cannot be right: mirrored, in another unit, of another body. It must say so.
#define _POSIX_C_SOURCE 200809L
#include "fit_program.h"
#include "memory_sink.h"
#include "takes.h"

#include "base/random.h"

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
    assert_non_null(strstr(said, "times as large as the skeleton: with bones"));
    scaled_skeleton("tall.asf", 1.25);
    expect(4, "the body is about 0.7", "fit -m tall.asf -i ex/take.c3d --frames 1:80");
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

// What was measured on the person: it counts with lengths alone, and makes nothing less sure.
static void person(void **unused) {
    (void)unused;
    static const char scaled[] = "fit -m ex/skeleton.asf -i ex/take.c3d --calibrate=scale";
    expect(2, "--height tells how long bones are, which only --calibrate=scale changes",
           "fit -m ex/skeleton.asf -i ex/take.c3d --frames 1:80 --calibrate --height 1.8m");
    expect(2, "--length tells how long bones are",
           "fit -m ex/skeleton.asf -i ex/take.c3d --calibrate=none --length left_thigh=43cm");
    // which they ask for by themselves
    expect(0, "offsets and lengths from",
           "fit -m ex/skeleton.asf -i ex/take.c3d --frames 1:80 --height 1.8m");
    expect(0, "offsets and lengths from",
           "fit -m humanoid -i ex/take.c3d --frames 1:80 --length left_thigh=43cm");
    expect(
        3,
        "a length is given for \"left_tigh\", which the model lacks; did you mean \"left_thigh\"?",
        "fit -m ex/skeleton.asf -i ex/take.c3d --calibrate=scale --length left_tigh=43cm");
    expect(0, "sizes to", scaled);
    assert_null(strstr(said, "size of "));
    assert_null(strstr(said, "sizes of "));
    char line[200];
    (void)snprintf(line, sizeof line, "%s --height 1.75m", scaled);
    expect(0, "sizes to", line);
    assert_null(strstr(said, "size of "));
    assert_null(strstr(said, "sizes of "));
}

// What was found, wherever it is looked for: on the terminal, in the JSON, in the report, by the exit code.
static void found(const char *code, const char *severity, int exit, const char *words,
                  const char *arguments) {
    char line[300], wanted[100];
    (void)snprintf(line, sizeof line, "fit %s --report found.html", arguments);
    expect(exit, words, line);
    assert_true(report_has("found.html", words + 1));  // it may begin with a capital there
    (void)snprintf(line, sizeof line, "fit %s --json", arguments);
    (void)snprintf(wanted, sizeof wanted, "{\"code\":\"%s\",\"severity\":\"%s\"", code, severity);
    expect(exit, wanted, line);
}

// A height that is another person's: the markers show one of 1.78 m.
static void other_height(void **unused) {
    (void)unused;
    static const char fit[] = "-m ex/skeleton.asf -i ex/take.c3d --frames 1:80 --height";
    static const char *const right[] = {"1.68m", "1.85m"}, *const wrong[] = {"1.2m", "1.6m", "2m"};
    char line[200];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(line, sizeof line, "fit %s %s", fit, right[i]);
        expect(0, "verdict       good", line);
        assert_null(strstr(said, "the height is given"));
    }
    for (int i = 0; i < 3; i++) {
        (void)snprintf(line, sizeof line, "%s %s", fit, wrong[i]);
        found("height-differs", "warning", 4, "but the markers show legs of one who is about 1.",
              line);
    }
}

// Labels of Plug-in Gait on the humanoid, whose own markers have other names on pelvis and shins.
static void other_labels(void **unused) {
    (void)unused;
    static const char *const names[][2] = {{"LFWT", "LASI"}, {"RFWT", "RASI"}, {"LBWT", "LPSI"},
                                           {"RBWT", "RPSI"}, {"LSHN", "LTIB"}, {"RSHN", "RTIB"}};
    const char *labels[64];
    sn_recording_info info = *sn_recording_about(take);
    sn_recording *r;
    for (int m = 0; m < info.nmarker; m++) {
        labels[m] = sn_label_name(sn_recording_label(take, m));
        for (int i = 0; i < 6; i++)
            if (strcmp(labels[m], names[i][0]) == 0) labels[m] = names[i][1];
    }
    assert_int_equal(sn_recording_create(&info, labels, NULL, &r, NULL), SN_OK);
    for (int f = 0; f < info.nframe; f++)
        memcpy(sn_recording_edit(r, f), sn_recording_frame(take, f),
               3 * (size_t)info.nmarker * sizeof(double));
    save("gait.c3d", r);
    sn_recording_destroy(r);
    expect(0, "41 of 42 labels, set: Plug-in Gait", "fit -m humanoid -i gait.c3d");
    assert_null(strstr(said, "in no marker set"));
    expect(0, "41 of 42 labels, set: humanoid", "fit -m humanoid -i ex/take.c3d --frames 1:80");
    // nobody's body is scaled to this one; not where its places were given, or somebody said what to find
    assert_non_null(strstr(said, "calibration   offsets and lengths from"));
    expect(0, "set: humanoid", "fit -m humanoid -i ex/take.c3d --frames 1:80 --calibrate=none");
    assert_null(strstr(said, "calibration  "));
    expect(0, "calibration   marker offsets from",
           "fit -m humanoid -i ex/take.c3d --frames 1:80 --calibrate");
    expect(0, "set: ", "fit -m humanoid -i ex/take.c3d --frames 1:80 --markers ex/subject.json");
    assert_null(strstr(said, "calibration  "));
    expect(0, "set: ", "fit -m ex/subject.json -i ex/take.c3d --frames 1:80");
    assert_null(strstr(said, "calibration  "));
}

// One who lies on the floor: the body's height runs along x, not along the axis that is up.
static void lying(void **unused) {
    (void)unused;
    static const char *const names[] = {"flat_unstated.c3d", "flat.c3d", "bed.c3d"};
    sn_recording *r = recording_cut(take, 0, 80);
    sn_recording_info info = *sn_recording_about(r);
    for (int k = 0; k < 3; k++) {
        double floor = k == 2 ? 0.6 : 0.03;
        (void)snprintf(info.y_screen, sizeof info.y_screen, "%s", k == 1 ? "+Z" : "");
        (void)snprintf(info.x_screen, sizeof info.x_screen, "%s", k == 1 ? "+X" : "");
        sn_recording *flat = recording_turned(r, &(sn_axis_map){{2, 1, 0}, {1, 1, -1}, 1}, &info);
        for (int f = 0; f < 80; f++) {
            double *x = sn_recording_edit(flat, f), low = INFINITY;
            for (int m = 0; m < info.nmarker; m++)
                if (isfinite(x[3 * m + 2])) low = fmin(low, x[3 * m + 2]);
            for (int m = 0; m < info.nmarker; m++) x[3 * m] += 1.3, x[3 * m + 2] -= low - floor;
        }
        save(names[k], flat);
        sn_recording_destroy(flat);
    }
    sn_recording_destroy(r);
    found("body-lies", "note", 0,
          "the body lies: its height runs along +x of the recording, and its lowest markers rest "
          "on zero of +z, which is up",
          "-m ex/skeleton.asf -i flat.c3d");
    expect(0, "up +z (stated)", "fit -m ex/skeleton.asf -i flat.c3d -o flat.bvh");
    found("body-lies", "note", 0, "the body lies",
          "-m ex/skeleton.asf -i flat_unstated.c3d --up z");
    found("up-doubtful", "warning", 4,
          "height runs along +x of the recording, but its lowest markers rest on zero of +z, so it "
          "is taken to lie, with that one up",
          "-m ex/skeleton.asf -i flat_unstated.c3d");
    expect(4, "up +z (found)", "fit -m ex/skeleton.asf -i flat_unstated.c3d -o flat.bvh");
    // on a bed nothing tells it from one who stands high above zero
    found("up-unconfirmed", "note", 0, "+x is, if the figure stands",
          "-m ex/skeleton.asf -i bed.c3d");
    // on the wrong axis it is still told
    found("figure-lies", "warning", 4, "the figure lies where the take stands",
          "-m ex/skeleton.asf -i flat.c3d --up y");
}

// One who walks beside the zero of another axis, feet hidden for a quarter of the take, does not lie.
static void feet_hidden(void **unused) {
    (void)unused;
    sn_recording *r = recording_cut(take, 0, 80);
    sn_recording_info info = *sn_recording_about(r);
    info.y_screen[0] = info.x_screen[0] = '\0';
    sn_recording *walk = recording_turned(r, &(sn_axis_map){{0, 1, 2}, {1, 1, 1}, 1}, &info);
    for (int f = 0; f < 80; f++) {
        double *x = sn_recording_edit(walk, f), low = INFINITY;
        for (int m = 0; m < info.nmarker; m++)
            if (isfinite(x[3 * m + 1])) low = fmin(low, x[3 * m + 1]);
        for (int m = 0; m < info.nmarker; m++) {
            x[3 * m + 1] -= low - 0.03;
            if (f < 20 && x[3 * m + 2] < 0.6) x[3 * m] = x[3 * m + 1] = x[3 * m + 2] = (double)NAN;
        }
    }
    save("feet.c3d", walk);
    sn_recording_destroy(walk);
    sn_recording_destroy(r);
    expect(0, "up +z (found)", "fit -m ex/skeleton.asf -i feet.c3d -o flat.bvh");
}

// Stretches of one marker are told together, and so is that a whole arm is taken for wrong: it may be the others.
static void wrong_samples(void **unused) {
    (void)unused;
    static const char *const arm[] = {"LUPA", "LELB", "LFRM", "LWRA", "LWRB", "LFIN"};
    sn_recording *r = example_frames(400);
    for (int f = 100; f < 130; f += 6)
        sn_recording_edit(r, f)[3 * sn_recording_find(r, "LKNE")] += 0.25;
    for (int f = 250; f < 300; f++)
        for (int i = 0; i < 6; i++)
            sn_recording_edit(r, f)[3 * sn_recording_find(r, arm[i])] += 0.25;
    save("wrong.c3d", r);
    sn_recording_destroy(r);
    found("wrong-together", "warning", 4, "up to 6 markers at once are taken for wrong in frames 2",
          "-m ex/skeleton.asf -i wrong.c3d");
    found("marker-off", "note", 4, "belongs in frames 101, 107, 113, 119, 125, and counts",
          "-m ex/skeleton.asf -i wrong.c3d");
}

// What the reader of a recording had to decide is said by the fit, too: ten frames are not in the file, and are in what is
// written.
static void said_of_the_file(void **unused) {
    (void)unused;
    char line[4000];
    expect(0, "wrote", "convert ex/take.c3d -o whole.trc --frames 1:80");
    FILE *from = fopen(path_of("whole.trc"), "r"), *to = fopen(path_of("dropped.trc"), "w");
    assert_non_null(from);
    assert_non_null(to);
    while (fgets(line, sizeof line, from) != NULL) {
        int frame = atoi(line);
        if (frame < 41 || frame > 50 || strchr(line, '\t') == NULL) (void)fputs(line, to);
    }
    (void)fclose(from);
    assert_int_equal(fclose(to), 0);
    found("file", "note", 0,
          "about the recording: 10 frames are not in the file (first 41): taken as missing",
          "-m ex/skeleton.asf -i dropped.trc");
    assert_null(strstr(said, "figure-leaps"));
    expect(0, "frames        80,", "fit -m ex/skeleton.asf -i dropped.trc -o dropped.bvh");
}

// A static trial of the take's beginning, where its person stands, with every sample of a marker multiplied by `by`, and moved by
// up to `off` metres along each axis, each marker by its own.
static void save_still(const char *name, int first, const double by[3], double off) {
    sn_recording *r = recording_cut(take, first, 40);
    const int nmarker = sn_recording_about(r)->nmarker;
    for (int m = 0; m < nmarker; m++) {
        uint64_t random = (uint64_t)m + 1;
        for (int k = 0; k < 3; k++) {
            const double moved = off * (2 * sn_random(&random) - 1);
            for (int f = 0; f < 40; f++) {
                double *x = &sn_recording_edit(r, f)[3 * m + k];
                *x = by[k] * *x + moved;
            }
        }
    }
    save(name, r);
    sn_recording_destroy(r);
}

#define STATIC "-m ex/skeleton.asf -i ex/take.c3d --frames 41:80 --static "

// A static trial that is mirrored, of another size or person, or in which the person walks; and right ones.
static void static_trials(void **unused) {
    (void)unused;
    static const double as_it_is[3] = {1, 1, 1}, mirror[3] = {1, 1, -1},
                        smaller[3] = {.95, .95, .95}, larger[3] = {1.08, 1.08, 1.08};
    save_still("right.c3d", 0, as_it_is, 0);
    save_still("mirror.c3d", 0, mirror, 0);
    save_still("smaller.c3d", 0, smaller, 0);
    save_still("larger.c3d", 0, larger, 0);
    save_still("other.c3d", 0, as_it_is, 0.04);
    expect(0, "verdict       good", "fit " STATIC "right.c3d");
    assert_null(strstr(said, "static trial"));
    expect(0, "verdict       good", "fit " STATIC "1:40");
    assert_null(strstr(said, "static trial"));
    found("static-mirrored", "warning", 4,
          "the static trial looks mirrored against the take (100 %", STATIC "mirror.c3d");
    found("static-differs", "warning", 4,
          "markers of one bone are 0.95 times as far apart in the static trial as in the take",
          STATIC "smaller.c3d");
    found("static-differs", "warning", 4, "markers of one bone are 1.08 times as far apart",
          STATIC "larger.c3d");
    found("static-differs", "warning", 4, "distances between markers of one bone differ by",
          STATIC "other.c3d");
    found("static-moves", "warning", 4,
          "the person moves in the static trial: distances between markers of different bones "
          "change by",
          STATIC "700:760");
}

// A label that has another one's samples.
static void same_place(void **unused) {
    (void)unused;
    sn_recording *r = recording_cut(take, 0, 80);
    const int a = sn_recording_find(r, "LELB"), b = sn_recording_find(r, "LWRA");
    for (int f = 0; f < 80; f++)
        memcpy(sn_recording_edit(r, f) + 3 * a, sn_recording_frame(take, f) + 3 * b,
               3 * sizeof(double));
    save("same.c3d", r);
    found("same-place", "warning", 4, "LELB and LWRA are the same point in all frames",
          "-m ex/skeleton.asf -i same.c3d");
    for (int f = 40; f < 42; f++) sn_recording_edit(r, f)[3 * a] += 0.01;
    save("same.c3d", r);
    expect(4, "LELB and LWRA are the same point in 42 frames (95 %)",
           "fit -m ex/skeleton.asf -i same.c3d");
    // a marker that was lost meets another for a while
    for (int f = 30; f < 80; f++)
        memcpy(sn_recording_edit(r, f) + 3 * a, sn_recording_frame(take, f) + 3 * a,
               3 * sizeof(double));
    save("same.c3d", r);
    sn_recording_destroy(r);
    (void)sinew("fit -m ex/skeleton.asf -i same.c3d");
    assert_null(strstr(said, "the same point"));
}

static void findings(void **unused) {
    (void)unused;
    found("figure-lies", "warning", 4, "the figure lies where the take stands",
          "-m ex/skeleton.asf -i ex/take.c3d --frames 1:80 --up y");
    // the file states another axis than the figure stands along
    sn_recording *r = recording_cut(take, 0, 80);
    sn_recording_info info = *sn_recording_about(r);
    (void)snprintf(info.y_screen, sizeof info.y_screen, "+X");
    (void)snprintf(info.x_screen, sizeof info.x_screen, "+Y");
    sn_recording *other = recording_turned(r, &(sn_axis_map){{0, 1, 2}, {1, 1, 1}, 1}, &info);
    save("up.c3d", other);
    sn_recording_destroy(other);
    found("up-conflict", "warning", 4, "but the figure stands along +z",
          "-m ex/skeleton.asf -i up.c3d");
    // two takes in one
    sn_recording *two = recording_cut(take, 0, 80);
    for (int f = 40; f < 80; f++)
        for (int m = 0; m < info.nmarker; m++) sn_recording_edit(two, f)[3 * m] += 0.8;
    save("two.c3d", two);
    sn_recording_destroy(two);
    found("recording-cut", "warning", 4,
          "most markers leap at once in 1 frame (41), half of them by 80 cm",
          "-m ex/skeleton.asf -i two.c3d");
    // and where nothing is seen between them
    two = recording_cut(take, 0, 80);
    for (int f = 38; f < 80; f++)
        for (int m = 0; m < info.nmarker; m++)
            sn_recording_edit(two, f)[3 * m] += f < 41 ? (double)NAN : 0.8;
    save("gone.c3d", two);
    sn_recording_destroy(two);
    found("figure-leaps", "warning", 4, "the whole figure leaps in",
          "-m ex/skeleton.asf -i gone.c3d");
    // ten of 41 markers: the figure is mostly made up
    static const char *const kept[] = {"LFHD", "C7",   "LKNE", "RTOE", "LFWT",
                                       "RFWT", "LELB", "RELB", "LHEE", "RHEE"};
    for (int m = 0; m < info.nmarker; m++) {
        bool keep = false;
        for (int i = 0; i < 10; i++)
            keep |= strcmp(sn_label_name(sn_recording_label(r, m)), kept[i]) == 0;
        for (int f = 0; f < 80 && !keep; f++)
            for (int k = 0; k < 3; k++) sn_recording_edit(r, f)[3 * m + k] = NAN;
    }
    save("ten.c3d", r);
    sn_recording_destroy(r);
    found("markers-sparse", "warning", 4, "10 markers for a figure with 58 degrees of freedom",
          "-m ex/skeleton.asf -i ten.c3d");
    // legs alone: the rest is made up, and the verdict says so
    r = recording_cut(take, 0, 80);
    static const char *const upper[] = {"HD",  "C7",  "T10", "CLAV", "STRN", "BAC",
                                        "SHO", "UPA", "ELB", "FRM",  "WR",   "FIN"};
    for (int m = 0; m < info.nmarker; m++)
        for (int i = 0; i < 12; i++)
            for (int f = 0; strstr(sn_recording_label(r, m), upper[i]) != NULL && f < 80; f++)
                for (int k = 0; k < 3; k++) sn_recording_edit(r, f)[3 * m + k] = NAN;
    save("legs.c3d", r);
    sn_recording_destroy(r);
    found("parts-unseen", "warning", 4, "no marker shows the trunk, the head, the arms: the motion",
          "-m ex/skeleton.asf -i legs.c3d");
    expect(4, "verdict       look at it", "fit -m ex/skeleton.asf -i legs.c3d");
    // a centimetre of noise
    r = recording_cut(take, 0, 80);
    uint64_t random = 3;
    for (int f = 0; f < 80; f++)
        for (int k = 0; k < 3 * info.nmarker; k++)
            sn_recording_edit(r, f)[k] += 0.035 * (sn_random(&random) - 0.5);
    save("shaken.c3d", r);
    sn_recording_destroy(r);
    found("markers-shake", "warning", 4, "the markers shake from frame to frame",
          "-m ex/skeleton.asf -i shaken.c3d");
    expect(0, "note          the markers shake from frame to frame",
           "fit -m ex/skeleton.asf -i shaken.c3d --smooth 0.02");
    // a knee that the skeleton keeps straight
    size_t length;
    char *text = slurp(path_of("ex/skeleton.asf"), &length);
    char *limits = strstr(strstr(text, "name left_shin"), "limits (");
    assert_non_null(limits);
    memcpy(limits, "limits ( -5 1) ", 15);
    limits[15] = ' ';
    put("stiff.asf", text);
    free(text);
    found("at-limits", "note", 4, "left_shin stands at a limit in",
          "-m stiff.asf -i ex/take.c3d --frames 1:80 --limits hard");
}

// A report's words: what the limits did, names as they are spelled, one frame in the singular.
static void said_right(void **unused) {
    (void)unused;
    static const char fit[] = "fit -m ex/skeleton.asf -i wild.c3d --report w.html";
    sn_recording *r = recording_cut(take, 0, 80);
    int elbow = sn_recording_find(r, "LELB");
    sn_recording_edit(r, 40)[3 * elbow] += 0.4;
    // a hand on the other side of the body, for a while
    static const char *const hand[] = {"RWRA", "RWRB", "RFIN", "RFRM"};
    for (int f = 60; f < 80; f += 2)
        for (int i = 0; i < 4; i++)
            sn_recording_edit(r, f)[3 * sn_recording_find(r, hand[i]) + 2] += 0.5;
    save("wild.c3d", r);
    sn_recording_destroy(r);
    (void)sinew("%s", fit);
    assert_true(report_has("w.html", "Joint limits were off"));
    assert_true(report_has("w.html", "How sure the calibration is"));
    assert_true(report_has("w.html", "Places of markers"));
    assert_true(report_has("w.html", "<td>left_upper_arm</td><td>zero</td>"));
    assert_false(report_has("w.html", "<td>size</td>"));  // they were not asked for
    assert_true(report_has("w.html", "LELB is up to"));
    assert_true(report_has("w.html", "in frame 41, and counts"));
    assert_false(report_has("w.html", "> Left_") || report_has("w.html", "> Right_"));
    (void)sinew("%s --limits soft", fit);
    assert_true(report_has("w.html", "Joint limits were soft"));
    (void)sinew("%s --limits hard", fit);
    assert_true(report_has("w.html", "stood at a limit"));
}

// A take that cannot be fitted says so where it is asked for: in the JSON, and in the report.
static void nothing_fitted(void **unused) {
    (void)unused;
    sn_recording *r = recording_cut(take, 0, 80);
    for (int f = 0; f < 80; f++)
        for (int k = 0; k < 3 * sn_recording_about(r)->nmarker; k++) sn_recording_edit(r, f)[k] = 1;
    save("together.c3d", r);
    sn_recording_destroy(r);
    put("n.html", "an older report");
    expect(3, "{\"code\":\"markers-together\",\"severity\":\"error\"",
           "fit -m ex/skeleton.asf -i together.c3d --json --report n.html");
    assert_non_null(strstr(said, "{\"ok\":false,\"input\":\"together.c3d\""));
    assert_non_null(strstr(said, "\"exit\":3"));
    assert_true(report_has("n.html", "<b>Nothing was fitted.</b>"));
    assert_true(report_has("n.html", "<b>Error</b> All markers are in one place"));
    expect(3, "\"ok\":false", "fit -m ex/skeleton.asf -i nowhere.c3d --json");
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
    // metres under a heading that says millimetres: all in one place, and why
    tenth.scale = 0.001;
    r = recording_turned(take, &tenth, sn_recording_about(take));
    save("m.c3d", r);
    sn_recording_destroy(r);
    expect(3, "they never spread over more than 0.0", "fit -m ex/subject.json -i m.c3d");
    assert_non_null(strstr(said, "in m it would be a body: --units m"));
    expect(0, "m (as you said)", "fit -m ex/subject.json -i m.c3d --units m");
    // a child is only told of
    tenth.scale = 0.6;
    r = recording_turned(take, &tenth, sn_recording_about(take));
    save("child.c3d", r);
    sn_recording_destroy(r);
    expect(4, "WARNING: child.c3d: the body is about 0.", "fit -m ex/subject.json -i child.c3d");
    assert_null(strstr(said, "WARNING: child.c3d: with"));
}

// One frame does not show which distances depend on the pose, nor how large a body is; of which unit it is it shows.
static void one_frame(void **unused) {
    (void)unused;
    static const int frames[] = {10, 30, 60};
    for (int i = 0; i < 3; i++) {
        sn_recording *r = recording_cut(take, frames[i], 1);
        save("one.c3d", r);
        sn_recording_destroy(r);
        expect(0, "RMS", "fit -m ex/skeleton.asf -i one.c3d");
        assert_null(strstr(said, "times as large"));
        expect(0, "RMS", "fit -m ex/subject.json -i one.c3d --calibrate=scale");
        assert_null(strstr(said, "WARNING"));
    }
    sn_axis_map map = sn_axis_map_identity();
    map.scale = 0.1;
    sn_recording *r = recording_cut(take, 10, 1);
    sn_recording *tenth = recording_turned(r, &map, sn_recording_about(r));
    save("one_cm.c3d", tenth);
    sn_recording_destroy(tenth);
    sn_recording_destroy(r);
    expect(3, "give the right one with --units", "fit -m ex/skeleton.asf -i one_cm.c3d");
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
    // put right by the fit, which then is as good as any
    expect(0, "LWRA and LWRB look exchanged in frames 21 to 44",
           "fit -m ex/subject.json -i exchanged.c3d --report x.html");
    assert_non_null(strstr(said, "and so they are fitted"));
    assert_true(report_has("x.html", "LWRA and LWRB look exchanged in frames 21 to 44"));
    expect(0, "\"exchanged\":[{\"markers\":[\"LWRA\",\"LWRB\"],\"first\":21,\"last\":44}]",
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
        cmocka_unit_test(mirrored),       cmocka_unit_test(labels_exchanged),
        cmocka_unit_test(other_bodies),   cmocka_unit_test(units),
        cmocka_unit_test(exchanged),      cmocka_unit_test(gap_rows),
        cmocka_unit_test(error_limit),    cmocka_unit_test(person),
        cmocka_unit_test(nothing_fitted), cmocka_unit_test(said_right),
        cmocka_unit_test(other_labels),   cmocka_unit_test(findings),
        cmocka_unit_test(lying),          cmocka_unit_test(wrong_samples),
        cmocka_unit_test(feet_hidden),    cmocka_unit_test(said_of_the_file),
        cmocka_unit_test(static_trials),  cmocka_unit_test(one_frame),
        cmocka_unit_test(same_place),     cmocka_unit_test(other_height),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
