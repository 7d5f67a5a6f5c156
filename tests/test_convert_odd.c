// SPDX-License-Identifier: MIT
// sinew convert and info with files that are odd: labels that stand twice, outputs that are inputs,
// units that are not known.
#define _POSIX_C_SOURCE 200809L
#include "program.h"

static const char twice[] =
    "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\t"
    "OrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n50\t50\t2\t3\tmm\t50\t1\t2\n"
    "Frame#\tTime\tA\t\t\tA\t\t\tA_2\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\n\n"
    "1\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\n2\t0.02\t1\t2\t3\t\t\t\t7\t8\t9\n";

// Every format holds the three markers under names of their own.
static void same_labels(void **unused) {
    (void)unused;
    static const char *const outputs[] = {"b.c3d", "b.trc", "b.csv", "b.sto"};
    static const char *const labels[] = {"A", "A_3", "A_2"};
    const char *from = program_file("a.trc", twice);
    program_expect(0, "1 marker has a label that another has before", "info %s", from);
    for (int i = 0; i < 4; i++) {
        const char *to = program_path(outputs[i]);
        program_expect(0, "1 repeated label, renamed with _2, _3, ...", "convert %s -o %s", from,
                       to);
        sn_document d = program_read(to, NULL);
        assert_non_null(d.recording);
        assert_int_equal(sn_recording_about(d.recording)->nmarker, 3);
        assert_int_equal(sn_recording_about(d.recording)->nrenamed, 0);
        for (int m = 0; m < 3; m++) {
            int found = sn_recording_find(d.recording, labels[m]);
            assert_true(found >= 0);
            assert_near(sn_recording_frame(d.recording, 0)[3 * found], 0.001 + 0.003 * m, 1e-9);
        }
        sn_document_destroy(&d);
    }
}

// An input is not replaced, whatever name it comes under.
static void outputs_that_are_inputs(void **unused) {
    (void)unused;
    const char *from = program_file("in.trc", twice), *other = program_path("other.trc");
    size_t length;
    assert_int_equal(symlink(from, other), 0);
    program_expect(3, "this is an input, which would be overwritten", "convert %s -o %s", from,
                   from);
    program_expect(3, "give another name, or --force", "convert %s -o %s/../%s", from,
                   program_folder, from + strlen("/tmp/"));
    program_expect(3, "this is an input", "convert %s -o %s -o %s", from, program_path("new.c3d"),
                   other);
    assert_true(access(program_path("new.c3d"), F_OK) != 0);  // nothing was written
    char *text = slurp(from, &length);
    assert_string_equal(text, twice);
    free(text);
    program_expect(0, "wrote", "convert %s -o %s --force --units m", from, from);
    text = slurp(from, &length);
    assert_true(strcmp(text, twice) != 0);
    free(text);
}

// Whatever the order of a joint's angles is: many programs read no other ASF than this.
static void plain_acclaim(void **unused) {
    (void)unused;
    const char *from = program_file(
        "zxy.bvh",
        "HIERARCHY\nROOT hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition "
        "Zrotation Xrotation Yrotation\n JOINT chest\n {\n  OFFSET 0 90 0\n  CHANNELS 3 "
        "Zrotation Xrotation Yrotation\n  JOINT head\n  {\n   OFFSET 0 40 10\n   CHANNELS 3 "
        "Yrotation Zrotation Yrotation\n   End Site\n   {\n    OFFSET 0 40 0\n   }\n  }\n }\n}\n"
        "MOTION\nFrames: 2\nFrame Time: 0.02\n0 90 0 1 2 3 40 50 60 7 8 9\n"
        "0 90 0 1 2 3 -80 91 170 7 8 9\n");
    program_expect(0, "wrote", "convert %s -o %s -o %s", from, program_path("zxy.asf"),
                   program_path("zxy.amc"));
    size_t length;
    char *text = slurp(program_path("zxy.asf"), &length);
    int axes = 0, dofs = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t n = strlen(line);
        if (strncmp(line, "    axis ", 9) == 0) {
            assert_string_equal(line + n - 4, " XYZ");
            axes++;
        }
        if (strncmp(line, "    dof ", 8) == 0) {
            assert_string_equal(line, "    dof rx ry rz");
            dofs++;
        }
    }
    free(text);
    assert_true(axes == 3 && dofs == 2);  // a bone leads from the root to the chest
    sn_document bvh = program_read(from, NULL), asf = program_read(program_path("zxy.asf"), NULL);
    sn_document amc = program_read(program_path("zxy.amc"), asf.skeleton);
    for (int f = 0; f < 2; f++) {
        sn_vec3 p[2];
        for (int k = 0; k < 2; k++) {
            const sn_model *model = k == 0 ? bvh.model : asf.model;
            const sn_motion *motion = k == 0 ? bvh.motion : amc.motion;
            sn_problem *problem;
            sn_workspace *ws;
            double end[3] = {0, 0.4, 0};
            assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
            assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
            assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
            p[k] = sn_workspace_point(ws, sn_model_find_joint(model, "head"), end);
            sn_workspace_destroy(ws);
            sn_problem_destroy(problem);
        }
        assert_near(p[0].x, p[1].x, 1e-9);
        assert_near(p[0].y, p[1].y, 1e-9);
        assert_near(p[0].z, p[1].z, 1e-9);
    }
    sn_document_destroy(&amc);
    sn_document_destroy(&asf);
    sn_document_destroy(&bvh);
}

// How units are known: stated, not stated, not known.
static void units(void **unused) {
    (void)unused;
    static const char sto[] = "a\nversion=1\nnRows=2\nnColumns=4\n%s\nendheader\n"
                              "time\tA_tx\tA_ty\tA_tz\n0\t100\t200\t300\n0.5\t1\t2\t3\n";
    char text[400];
    (void)snprintf(text, sizeof text, sto, "Units=mm");
    const char *path = program_file("a.sto", text);
    program_expect(0, "unit of length      mm (stated)", "info %s", path);
    program_expect(0, "a.sto: STO recording of markers", "info %s", path);
    sn_document d = program_read(path, NULL);
    assert_near(sn_recording_frame(d.recording, 0)[2], 0.3, 1e-15);
    sn_document_destroy(&d);
    const char *to = program_path("cm.sto");
    program_expect(0, "wrote", "convert %s -o %s --units cm", path, to);
    program_expect(0, "unit of length      cm (stated)", "info %s", to);
    d = program_read(to, NULL);
    assert_near(sn_recording_frame(d.recording, 0)[2], 0.3, 1e-12);
    sn_document_destroy(&d);
    (void)snprintf(text, sizeof text, sto, "Units are S.I. units (second, meters)");
    program_expect(0, "unit of length      m (stated)", "info %s", program_file("b.sto", text));
    (void)snprintf(text, sizeof text, sto, "Units=foo");
    path = program_file("c.sto", text);
    program_expect(0, "unit of length      \"foo\", not known", "info %s", path);
    program_expect(0, "unit of length \"foo\", not known", "convert %s -o %s", path,
                   program_path("c.csv"));
    (void)snprintf(text, sizeof text, sto, "inDegrees=no");
    program_expect(0, "unit of length      not stated", "info %s", program_file("d.sto", text));
    program_expect(0, "unit of length      in (not stated; assumed", "info %s",
                   program_file("a.asf", ":version 1.10\n:bonedata\nbegin\nname arm\ndirection 1 0 "
                                         "0\nlength 2\nend\n:hierarchy\nbegin\nroot arm\nend\n"));
    program_expect(0, "\"units_known\":\"assumed\"", "info --json %s", program_path("a.asf"));
}

static double first_time(const char *path) {
    size_t length;
    double time = NAN;
    char *text = slurp(path, &length);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (line[0] < '0' || line[0] > '9' || strchr(line, ':') != NULL) continue;
        // MOT and STO have the time first, the others the frame
        bool sto = strstr(path, ".sto") != NULL || strstr(path, ".mot") != NULL;
        char *at = sto ? line : strpbrk(line, "\t,") + 1;
        if (strstr(line, "mm") == NULL) time = strtod(at, NULL);
        if (strstr(line, "mm") == NULL) break;
    }
    free(text);
    return time;
}

// Times that do not begin at 0 stay.
static void start_times(void **unused) {
    (void)unused;
    static const char *const outputs[] = {"t.trc", "t.csv", "t.sto"};
    const char *from = program_file(
        "late.trc", "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tNumMarkers\tUnits\n50\t1\tmm\n"
                    "Frame#\tTime\tA\t\t\n\t\tX1\tY1\tZ1\n\n1\t3.2\t1\t2\t3\n2\t3.22\t1\t2\t3\n"
                    "3\t3.24\t1\t2\t3\n4\t3.26\t1\t2\t3\n");
    program_expect(0, "4 (1 to 4), 50 frames/s, 0.08 s, from 3.2 s on", "info %s", from);
    program_expect(0, "\"start\":3.2", "info --json %s", from);
    for (int i = 0; i < 3; i++) {
        const char *to = program_path(outputs[i]);
        program_expect(0, "wrote", "convert %s -o %s", from, to);
        assert_near(first_time(to), 3.2, 1e-9);
        program_expect(0, "frames 3 to 4", "convert %s -o %s --frames 3:4", from, to);
        assert_near(first_time(to), 3.24, 1e-9);
        program_expect(0, "frames 3 to 4; one frame in 2",
                       "convert %s -o %s --frames 3:4 --every 2", from, to);
        assert_near(first_time(to), 3.24, 1e-9);
        program_expect(0, "resampled", "convert %s -o %s --frames 2:4 --fps 25", from, to);
        assert_near(first_time(to), 3.22, 1e-9);
    }
    // motions
    const char *mot = program_file("late.mot", "walk\nversion=1\nnRows=2\nnColumns=2\n"
                                               "inDegrees=yes\nendheader\ntime\tarm\n0.413\t1\n"
                                               "0.513\t3\n");
    const char *model =
        program_file("arm.json", "{\"sinew\":1,\"joints\":[{\"name\":\"arm\",\"type\":\"hinge\","
                                 "\"axis\":[1,0,0]}]}");
    program_expect(0, "wrote", "convert %s %s -o %s", model, mot, program_path("t.mot"));
    assert_near(first_time(program_path("t.mot")), 0.413, 1e-9);
}

// A native model has no word for the axis that is up.
static void lost_axis(void **unused) {
    (void)unused;
    const char *from = program_file(
        "z.bvh", "HIERARCHY\nROOT hips\n{\n OFFSET 0 0 0\n CHANNELS 3 Zrotation Xrotation "
                 "Yrotation\n JOINT chest\n {\n  OFFSET 0 0 90\n  CHANNELS 3 Zrotation Xrotation "
                 "Yrotation\n  End Site\n  {\n   OFFSET 0 0 80\n  }\n }\n}\n");
    program_expect(0, "this figure has +z up (--up y turns it)", "convert %s -o %s", from,
                   program_path("z.json"));
    program_expect(0, "wrote", "convert %s -o %s --up y", from, program_path("z.json"));
    assert_null(strstr(program_output, "--up y turns it"));
}

// Analog data and events of a C3D file do not come along, and that is said.
static void left_out(void **unused) {
    (void)unused;
    const char *from = data_path("c3d/Eb015pi.c3d");
    if (from == NULL) skip();
    program_expect(0, "16 analog channels and 3 events are left out", "convert %s -o %s", from,
                   program_path("e.c3d"));
    program_expect(0, "16 analog channels and 3 events are not read", "info %s", from);
}

// What follows in a robot follows in a native file, but in no other, and that is said.
static void mimics(void **unused) {
    (void)unused;
#define FINGER(name, child, mimic)                                                                 \
    "<joint name='" name "' type='prismatic'><parent link='palm'/><child link='" child             \
    "'/><limit lower='0' upper='0.04'/>" mimic "</joint>"
#define HAND(mimic)                                                                                \
    "<robot name='hand'><link name='palm'/><link name='l'/><link name='r'/>" FINGER(               \
        "left", "l", "") FINGER("right", "r", mimic) "</robot>"
    const char *hand = program_file("hand.urdf", HAND("<mimic joint='left'/>")),
               *lost = program_file("lost.urdf", HAND("<mimic joint='thumb'/>"));
    program_expect(0, "joint \"right\" follows \"left\"; a JSON output keeps this",
                   "convert %s -o %s", hand, program_path("hand.json"));
    program_expect(0, "joint \"right\" follows \"left\"", "info %s", hand);
    program_expect(0,
                   "joint \"right\" mimics \"thumb\", but there is no such joint: it moves freely",
                   "convert %s -o %s", lost, program_path("lost.json"));
    program_expect(0, "but there is no such joint", "info %s", lost);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_labels),
        cmocka_unit_test(plain_acclaim),
        cmocka_unit_test(outputs_that_are_inputs),
        cmocka_unit_test(units),
        cmocka_unit_test(start_times),
        cmocka_unit_test(lost_axis),
        cmocka_unit_test(left_out),
        cmocka_unit_test(mimics),
    };
    if (!program_begin("convert-odd")) return 1;
    return program_end(cmocka_run_group_tests(tests, NULL, NULL));
}
