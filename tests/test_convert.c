// SPDX-License-Identifier: MIT
// sinew convert: between all that makes sense, and a sentence for what does not.
#define _POSIX_C_SOURCE 200809L
#include "program.h"

// --- the same figure in another file -------------------------------------------------------------

typedef struct posed {
    sn_problem *problem;
    sn_workspace *ws;
} posed;

static posed pose_open(const sn_model *model) {
    posed p;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &p.problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(p.problem, false, NULL, &p.ws, NULL), SN_OK);
    return p;
}

static void pose_close(posed *p) {
    sn_workspace_destroy(p->ws);
    sn_problem_destroy(p->problem);
}

// The joint of this name, as names are written in files; the root is the root.
static int same_joint(const sn_model *from, int joint, const sn_model *to) {
    char name[SN_MAX_NAME + 1];
    if (joint == sn_model_root(from)) return sn_model_root(to);
    (void)snprintf(name, sizeof name, "%s", sn_model_joint(from, joint)->name);
    for (char *c = name; *c != '\0'; c++)
        if (strchr(" \t{}[](),#", *c) != NULL) *c = '_';
    int found = sn_model_find_joint(to, name);
    if (found < 0) fail_msg("the joint \"%s\" was lost", name);
    return found;
}

// How far joints of the two lie apart, over the figure's size, over all frames. `turn` maps x's
// world to y's.
static double apart(const sn_model *x, const sn_motion *mx, const sn_model *y, const sn_motion *my,
                    const sn_axis_map *turn) {
    posed px = pose_open(x), py = pose_open(y);
    double worst = 0;
    int step = sn_motion_nframe(mx) / 100 + 1;
    assert_int_equal(sn_motion_nframe(mx), sn_motion_nframe(my));
    for (int f = 0; f < sn_motion_nframe(mx); f += step) {
        double off = 0, size = 0;
        assert_int_equal(sn_workspace_pose(px.ws, sn_motion_frame(mx, f)), SN_OK);
        assert_int_equal(sn_workspace_pose(py.ws, sn_motion_frame(my, f)), SN_OK);
        sn_vec3 root = sn_workspace_frame(px.ws, sn_model_root(x)).p;
        for (int j = 0; j < sn_model_njoint(x); j++) {
            sn_vec3 p = sn_workspace_frame(px.ws, j).p;
            sn_vec3 q = sn_workspace_frame(py.ws, same_joint(x, j, y)).p;
            double from[3] = {p.x, p.y, p.z}, to[3];
            size =
                fmax(size, fmax(fabs(p.x - root.x), fmax(fabs(p.y - root.y), fabs(p.z - root.z))));
            sn_axis_map_point(turn, from, to);
            off = fmax(off, fmax(fabs(to[0] - q.x), fmax(fabs(to[1] - q.y), fabs(to[2] - q.z))));
        }
        worst = fmax(worst, off / size);
    }
    pose_close(&px);
    pose_close(&py);
    return worst;
}

static sn_document read_bvh(const char *path, double metres) {
    size_t length;
    sn_error error = {0};
    sn_document d;
    sn_document_options options = sn_document_options_default();
    options.metres_per_unit = metres;
    char *bytes = slurp(path, &length);
    if (sn_document_read(bytes, length, path, &options, NULL, &d, &error) != SN_OK)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    free(bytes);
    return d;
}

static void bvh_to_asf_and_back(void **unused) {
    (void)unused;
    static const char *const files[] = {"bvh/AV_8Walk_Meredith_HVHA_Rep1.bvh",
                                        "bvh/bvh11_131_01_max.bvh",
                                        "bvh/dme_blender_example.bvh",
                                        "bvh/fairmotion_sinusoidal.bvh",
                                        "bvh/ganimator_mixamo_traj-example.bvh",
                                        "bvh/lafan1_Geno_stance.bvh",
                                        "bvh/lafan1_dance1_subject2_excerpt.bvh",
                                        "bvh/lawrennd_Swagger.bvh",
                                        "bvh/momentum_simple.bvh",
                                        "bvh/test_freebvh.bvh",
                                        "bvh/test_mocapbank.bvh",
                                        "bvh/xia_neutral_16_000.bvh",
                                        "cmu/02_01.bvh"};
    // joints below the root that slide, which ASF can't hold
    static const char *const sliding[] = {"bvh/bandai_dash_normal_001.bvh",
                                          "bvh/ganimator_elephant_idle1.bvh"};
    for (int k = 0; k < 2; k++)
        if (data_path(sliding[k]) != NULL)
            program_expect(1, "slides: ASF has no place", "convert %s/%s -o %s", SINEW_DATA,
                           sliding[k], program_path("x.asf"));
    sn_axis_map as_is = sn_axis_map_identity();
    double worst = 0;
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char source[600];
        if (data_path(files[k]) == NULL) skip();
        (void)snprintf(source, sizeof source, "%s/%s", SINEW_DATA, files[k]);
        const char *asf = program_path("x.asf"), *amc = program_path("x.amc"),
                   *bvh = program_path("x.bvh");
        program_expect(0, "x.amc", "convert '%s' -o %s -o %s", source, asf, amc);
        program_expect(0, "x.bvh", "convert %s %s -o %s", asf, amc, bvh);
        sn_document d = program_read(source, NULL), a = program_read(asf, NULL);
        sn_document m = program_read(amc, a.skeleton);
        sn_document b = read_bvh(bvh, sn_skeleton_metres_per_unit(a.skeleton));
        worst = fmax(worst, apart(d.model, d.motion, a.model, m.motion, &as_is));
        worst = fmax(worst, apart(a.model, m.motion, b.model, b.motion, &as_is));
        assert_near(sn_motion_rate(b.motion), sn_motion_rate(d.motion), 1e-6);
        program_expect(0, "AMC motion of", "info %s %s", asf, amc);
        sn_document_destroy(&d);
        sn_document_destroy(&m);
        sn_document_destroy(&a);
        sn_document_destroy(&b);
    }
    print_message("BVH to ASF and AMC and back: joints %.1e of the figure's size apart\n", worst);
    assert_true(worst < 1e-6);
}

static void asf_to_bvh(void **unused) {
    (void)unused;
    static const char *const pairs[][2] = {
        {"cmu/02.asf", "cmu/02_01.amc"},
        {"cmu/backflip.asf", "cmu/backflip.amc"},
        {"hdm05/HDM_bk.asf", "hdm05/cuts/HDM_bk_kickLFront1Reps_009_120.amc"},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc"}};
    double worst = 0;
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        char asf[600], amc[600];
        if (data_path(pairs[k][0]) == NULL || data_path(pairs[k][1]) == NULL) skip();
        (void)snprintf(asf, sizeof asf, "%s/%s", SINEW_DATA, pairs[k][0]);
        (void)snprintf(amc, sizeof amc, "%s/%s", SINEW_DATA, pairs[k][1]);
        const char *bvh = program_path("y.bvh"), *up = program_path("up.bvh"),
                   *mot = program_path("y.mot");
        const char *csv = program_path("y.csv"), *again = program_path("again.amc");
        program_expect(0, "120 frames/s is assumed", "convert %s %s -o %s -o %s -o %s -o %s", asf,
                       amc, bvh, mot, csv, program_path("y.glb"));
        // any order of the inputs; another unit, another axis
        program_expect(0, "turned so that z is up",
                       "convert %s %s -o %s --units cm --up z --fps 100", amc, asf, up);
        assert_non_null(strstr(program_output, "the rate was stated: 100 frames/s"));
        sn_document a = program_read(asf, NULL), m = program_read(amc, a.skeleton);
        sn_document b = read_bvh(bvh, sn_skeleton_metres_per_unit(a.skeleton)),
                    u = read_bvh(up, 0.01);
        sn_axis_map as_is = sn_axis_map_identity(), turn = sn_axis_map_up(1, 1, 2, 1);
        worst = fmax(worst, apart(a.model, m.motion, b.model, b.motion, &as_is));
        worst = fmax(worst, apart(a.model, m.motion, u.model, u.motion, &turn));
        assert_near(sn_motion_rate(b.motion), 120, 1e-6);
        assert_near(sn_motion_rate(u.motion), 100, 1e-6);
        // through tables of coordinates
        for (int t = 0; t < 2; t++) {
            program_expect(0, "again.amc", "convert %s %s -o %s", asf, t ? mot : csv, again);
            sn_document c = program_read(again, a.skeleton);
            worst = fmax(worst, apart(a.model, m.motion, a.model, c.motion, &as_is));
            sn_document_destroy(&c);
        }
        sn_document_destroy(&u);
        sn_document_destroy(&b);
        sn_document_destroy(&m);
        sn_document_destroy(&a);
    }
    print_message("ASF and AMC to BVH, MOT and CSV: joints %.1e of the figure's size apart\n",
                  worst);
    assert_true(worst < 1e-6);
}

// --- recordings ----------------------------------------------------------------------------------

static void same_recording(const sn_recording *x, const sn_recording *y, const sn_axis_map *turn,
                           double tolerance) {
    const sn_recording_info *i = sn_recording_about(x), *j = sn_recording_about(y);
    assert_int_equal(i->nframe, j->nframe);
    assert_int_equal(i->nmarker, j->nmarker);
    assert_near(i->rate, j->rate, 1e-6);
    assert_int_equal(i->first_frame, j->first_frame);
    for (int m = 0; m < i->nmarker; m++) {
        assert_string_equal(sn_recording_label(x, m), sn_recording_label(y, m));
        for (int f = 0; f < i->nframe; f++) {
            double p[3];
            assert_int_equal(sn_recording_present(x, f, m), sn_recording_present(y, f, m));
            if (!sn_recording_present(x, f, m)) continue;
            sn_axis_map_point(turn, sn_recording_frame(x, f) + 3 * m, p);
            for (int c = 0; c < 3; c++)
                assert_near(sn_recording_frame(y, f)[3 * m + c], p[c], tolerance);
        }
    }
}

// Through every format of markers, each made from the one before.
static void recordings(void **unused) {
    (void)unused;
    static const char *const names[] = {"r.trc", "r.csv", "r.sto", "r.c3d"};
    program_expect(0, "take.c3d", "example --out %s", program_path("take"));
    const char *from = program_path("take/take.c3d");
    sn_axis_map as_is = sn_axis_map_identity(), turn = sn_axis_map_up(2, 1, 1, 1);
    sn_document d = program_read(from, NULL), r;
    for (int k = 0; k < 4; k++) {
        const char *to = program_path(names[k]);
        program_expect(0, names[k], "convert %s -o %s", from, to);
        r = program_read(to, NULL);
        same_recording(d.recording, r.recording, &as_is, 1e-6);
        sn_document_destroy(&r);
        from = to;
    }
    program_expect(0, "up +z (stated)", "convert %s -o %s --up y --units m",
                   program_path("take/take.c3d"), program_path("y.c3d"));
    r = program_read(program_path("y.c3d"), NULL);
    same_recording(d.recording, r.recording, &turn, 1e-6);
    assert_string_equal(sn_recording_about(r.recording)->unit, "m");
    assert_string_equal(sn_recording_about(r.recording)->y_screen, "+Y");
    assert_string_equal(sn_recording_about(r.recording)->x_screen, "+Z");
    sn_document_destroy(&r);
    sn_document_destroy(&d);
    // a file that states neither unit nor axis
    const char *bare =
        program_file("bare.csv", "time,A.X,A.Y,A.Z\n0,1,2,3\n0.1,2,3,4\n0.2,3,4,5\n");
    program_expect(3, "--in-up", "convert %s -o %s --up y", bare, program_path("bare.trc"));
    program_expect(0, "m (given), up +z (given)", "convert %s -o %s --up y --in-up z --in-units m",
                   bare, program_path("bare.trc"));
    r = program_read(program_path("bare.trc"), NULL);
    const double *x = sn_recording_frame(r.recording, 0);
    assert_true(x[0] == 2 && x[1] == 3 && x[2] == 1);
    sn_document_destroy(&r);
}

static int frames_of(const char *path, int *first, double *rate) {
    sn_document d = program_read(path, NULL);
    const sn_recording_info *info = sn_recording_about(d.recording);
    int n = info->nframe;
    *first = info->first_frame;
    *rate = info->rate;
    sn_document_destroy(&d);
    return n;
}

static void frames(void **unused) {
    (void)unused;
    int first;
    double rate;
    program_expect(0, "take.c3d", "example --out %s", program_path("take"));
    const char *take = program_path("take/take.c3d"), *cut = program_path("cut.c3d"),
               *out = program_path("o.trc");
    program_expect(0, "frames 100 to 199", "convert %s -o %s --frames 100:199", take, cut);
    assert_int_equal(frames_of(cut, &first, &rate), 100);
    assert_true(first == 100 && rate == 120);
    // numbers are the file's
    program_expect(3, "the frames of", "convert %s -o %s --frames 1:50", cut, out);
    assert_non_null(strstr(program_output, "100 to 199"));
    program_expect(0, "frames 150 to 199; one frame in 3",
                   "convert %s -o %s --frames 150: --every 3", cut, out);
    assert_int_equal(frames_of(out, &first, &rate), 17);
    assert_true(first == 1 && rate == 40);
    program_expect(0, "resampled from 120 to 50", "convert %s -o %s --fps 50", cut, out);
    assert_int_equal(frames_of(out, &first, &rate), 42);
    // half the rate is every second frame
    program_expect(0, "resampled", "convert %s -o %s --fps 60", cut, program_path("a.trc"));
    program_expect(0, "one frame in 2", "convert %s -o %s --every 2", cut, program_path("b.trc"));
    sn_document a = program_read(program_path("a.trc"), NULL),
                b = program_read(program_path("b.trc"), NULL);
    sn_axis_map as_is = sn_axis_map_identity();
    same_recording(a.recording, b.recording, &as_is, 0);
    sn_document_destroy(&a);
    sn_document_destroy(&b);
    // and of a motion
    const char *bvh = program_path("take/truth.bvh");
    program_expect(0, "resampled", "convert %s -o %s --fps 60", bvh, program_path("a.bvh"));
    program_expect(0, "one frame in 2", "convert %s -o %s --every 2", bvh, program_path("b.bvh"));
    a = program_read(program_path("a.bvh"), NULL), b = program_read(program_path("b.bvh"), NULL);
    assert_true(apart(a.model, a.motion, b.model, b.motion, &as_is) < 1e-9);
    assert_near(sn_motion_rate(a.motion), 60, 1e-6);
    sn_document_destroy(&a);
    sn_document_destroy(&b);
}

// --- models, pictures, marker sets ---------------------------------------------------------------

static void models(void **unused) {
    (void)unused;
    program_expect(0, "h.glb", "convert humanoid -o %s -o %s -o %s -o %s", program_path("h.json"),
                   program_path("h.asf"), program_path("h.bvh"), program_path("h.glb"));
    program_expect(0, "58 (59 coordinates), 52 with limits", "info %s", program_path("h.json"));
    // the root turns, and with it everything
    program_expect(0, "turned", "convert humanoid -o %s --up z", program_path("z.json"));
    sn_document h = program_read(program_path("h.json"), NULL),
                z = program_read(program_path("z.json"), NULL);
    sn_motion *zero;
    sn_axis_map turn = sn_axis_map_up(1, 1, 2, 1);
    assert_int_equal(sn_motion_create(1, 59, 1, 0, NULL, &zero, NULL), SN_OK);
    uint64_t state = 9;
    sn_model_sample(h.model, &state, sn_motion_edit(zero, 0));
    assert_true(apart(h.model, zero, z.model, zero, &turn) < 1e-12);
    assert_int_equal(sn_model_nmarker(z.model), 41);
    sn_motion_destroy(zero);
    sn_document_destroy(&z);
    sn_document_destroy(&h);

    // a recording beside a motion; where the figure's markers are
    program_expect(0, "take.c3d", "example --out %s", program_path("take"));
    const char *asf = program_path("take/skeleton.asf"), *amc = program_path("take/truth.amc");
    const char *c3d = program_path("take/take.c3d"), *set = program_path("set.json");
    program_expect(0, "the skeleton's x y z are the recording's yzx", "convert %s %s %s -o %s", asf,
                   amc, c3d, program_path("all.glb"));
    size_t length;
    char *bytes = slurp(program_path("all.glb"), &length);
    bool found = false;
    for (size_t i = 0; i + 4 < length && !found; i++) found = memcmp(bytes + i, "LFHD", 4) == 0;
    assert_true(found);
    free(bytes);
    program_expect(3, "has no markers", "convert %s %s -o %s", asf, amc, program_path("m.trc"));
    program_expect(0, "wrote", "markers -m %s -a %s -i %s -o %s", asf, amc, c3d, set);
    program_expect(0, "m.trc", "convert %s %s %s -o %s --up z", asf, amc, set,
                   program_path("m.trc"));
    sn_document m = program_read(program_path("m.trc"), NULL), t = program_read(c3d, NULL);
    int at = sn_recording_find(m.recording, "LFHD"), to = sn_recording_find(t.recording, "LFHD");
    for (int c = 0; c < 3; c++)
        assert_near(sn_recording_frame(m.recording, 0)[3 * at + c],
                    sn_recording_frame(t.recording, 0)[3 * to + c], 0.015);
    sn_document_destroy(&m);
    sn_document_destroy(&t);
}

// OpenSim's marker sets: beside their model, before or behind it.
static void opensim_marker_sets(void **unused) {
    (void)unused;
    static const char model[] =
        "<OpenSimDocument Version=\"40000\"><Model name=\"m\"><BodySet><objects><Body name=\"b\"/>"
        "</objects></BodySet><JointSet><objects><PinJoint name=\"j\">"
        "<socket_parent_frame>/ground</socket_parent_frame>"
        "<socket_child_frame>/bodyset/b</socket_child_frame><coordinates>"
        "<Coordinate name=\"a\"/></coordinates></PinJoint></objects></JointSet></Model>"
        "</OpenSimDocument>";
    static const char set[] =
        "<OpenSimDocument Version=\"40000\"><MarkerSet name=\"s\"><objects><Marker name=\"M\">"
        "<socket_parent_frame>/bodyset/b</socket_parent_frame><location>0.5 0.25 0</location>"
        "</Marker></objects></MarkerSet></OpenSimDocument>";
    static const char motion[] = "a\nversion=1\nnRows=2\nnColumns=2\ninDegrees=yes\nendheader\n"
                                 "time\ta\n0\t0\n0.1\t90\n";
    const char *one = program_file("one.osim", model), *xml = program_file("set.xml", set);
    const char *mot = program_file("one.mot", motion), *out = program_path("one.trc");
    for (int k = 0; k < 2; k++) {
        program_expect(0, "markers, 1 markers", "convert %s %s %s -o %s --out-units m",
                       k == 0 ? xml : one, k == 0 ? one : xml, mot, out);
        sn_document d = program_read(out, NULL);
        const double *x = sn_recording_frame(d.recording, 1);
        assert_near(x[0], -0.25, 1e-6);
        assert_near(x[1], 0.5, 1e-6);
        sn_document_destroy(&d);
    }
    program_expect(3, "sit on the bodies of a model", "convert %s -o %s", xml, out);
    program_expect(3, "sit on the bodies of a model", "info %s", xml);
}

static void refusals(void **unused) {
    (void)unused;
    program_expect(0, "take.c3d", "example --out %s", program_path("take"));
    const char *c3d = program_path("take/take.c3d"), *amc = program_path("take/truth.amc");
    const char *asf = program_path("take/skeleton.asf"), *bvh = program_path("take/truth.bvh");
    const char *out = program_path("out.bvh"), *csv = program_path("angles.csv");
    program_expect(2, "are needed", "convert %s", c3d);
    program_expect(2, "its ending must be", "convert %s -o out.xyz", c3d);
    program_expect(2, "--every", "convert %s -o %s --every 0", c3d, out);
    program_expect(2, "--fps", "convert %s -o %s --fps fast", c3d, out);
    program_expect(2, "--out-units takes", "convert %s -o %s --units miles", c3d, out);
    program_expect(2, "--frames", "convert %s -o %s --frames 7", c3d, out);
    program_expect(2, "take an axis", "convert %s -o %s --up w", c3d, out);
    program_expect(3, "use sinew fit", "convert %s -o %s", c3d, out);
    program_expect(3, "use sinew fit", "convert %s %s -o %s", asf, c3d, program_path("x.amc"));
    program_expect(3, "only be read together with its ASF", "convert %s -o %s", amc, out);
    program_expect(3, "there is no motion", "convert %s -o %s", asf, program_path("x.amc"));
    program_expect(3, "two inputs hold a skeleton", "convert %s %s -o %s", asf, bvh, out);
    program_expect(3, "write that too", "convert %s -o %s", bvh, program_path("x.amc"));
    program_expect(3, "beside a figure", "convert %s -o %s", c3d, program_path("x.glb"));
    program_expect(3, "can be read, but not written", "convert %s -o %s", asf,
                   program_path("x.urdf"));
    program_expect(3, "do not turn", "convert %s -o %s --up z", bvh, program_path("x.mot"));
    program_expect(3, "have none", "convert %s -o %s --every 2", asf, out);
    program_expect(3, "No such file", "convert /nowhere.bvh -o %s", out);
    program_expect(0, "angles.csv", "convert %s -o %s", bvh, csv);
    program_expect(3, "needs its model", "convert %s -o %s", csv, out);
    // a table alone can become the other kind of table
    program_expect(0, "t.mot", "convert %s -o %s", csv, program_path("t.mot"));
    program_expect(3, "with its model", "convert %s -o %s --every 2", csv, program_path("t.mot"));
    assert_int_equal(access(out, F_OK), -1);  // nothing was left behind
    // whole or not at all: what was there stays
    const char *kept = program_file("kept.asf", "kept");
    const char *slide = program_file(
        "slide.json", "{\"joints\": [{\"name\": \"a\", \"type\": \"free\"}, {\"name\": "
                      "\"b\", \"parent\": \"a\", \"type\": \"slider\", \"axis\": "
                      "[1,0,0]}]}");
    program_expect(1, "slides", "convert %s -o %s", slide, kept);
    size_t length;
    char *text = slurp(kept, &length);
    assert_string_equal(text, "kept");
    free(text);
    program_expect(1, "cannot be written", "convert %s -o /nowhere/x.bvh", bvh);
}

int main(void) {
    const struct CMUnitTest list[] = {
        cmocka_unit_test(bvh_to_asf_and_back),
        cmocka_unit_test(asf_to_bvh),
        cmocka_unit_test(recordings),
        cmocka_unit_test(frames),
        cmocka_unit_test(models),
        cmocka_unit_test(opensim_marker_sets),
        cmocka_unit_test(refusals),
    };
    if (!program_begin("convert")) return 1;
    return program_end(cmocka_run_group_tests(list, NULL, NULL));
}
