// SPDX-License-Identifier: MIT
// Marker sets from takes whose motion is known.
#define _POSIX_C_SOURCE 200809L
#include <limits.h>

#include "program.h"

typedef struct take {
    sn_model *model;
    sn_motion *motion;
    sn_recording *recording;
} take;

// out = map(in) solved for in
static void unmap(const sn_axis_map *map, const double out[3], double in[3]) {
    for (int i = 0; i < 3; i++) in[map->axis[i]] = out[i] * map->sign[i] / map->scale;
}

// The built-in figure in random poses, and its markers as another world sees them. With the model's
// unit unknown the numbers are in millimetres.
static take random_take(uint64_t *state, int nframe, const sn_axis_map *map, bool stated,
                        double noise, double gaps) {
    take t;
    assert_int_equal(sn_model_humanoid(NULL, &t.model, NULL), SN_OK);
    int n = sn_model_nmarker(t.model), nq = sn_model_nq(t.model);
    assert_int_equal(sn_motion_create(nframe, nq, 1, 0, NULL, &t.motion, NULL), SN_OK);
    sn_recording_info info = {.nframe = nframe, .nmarker = n + 2, .first_frame = 7};
    if (stated) {
        info.metres_per_unit = map->scale;
        (void)strcpy(info.unit, "mm");
    }
    const char *labels[64];
    char text[64][32];
    for (int i = 0; i < n; i++) {
        (void)snprintf(text[i], sizeof text[i], "someone:%s", sn_model_marker(t.model, i)->name);
        labels[i] = text[i];
    }
    labels[n] = "*41";
    labels[n + 1] = "someone:RARE";
    assert_int_equal(sn_recording_create(&info, labels, NULL, &t.recording, NULL), SN_OK);
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(t.model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int f = 0; f < nframe; f++) {
        double *q = sn_motion_edit(t.motion, f);
        sn_model_sample(t.model, state, q);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        double *x = sn_recording_edit(t.recording, f);
        for (int i = 0; i < n + 2; i++) {
            const sn_marker_desc *d = sn_model_marker(t.model, i < n ? i : 0);
            sn_vec3 p = sn_workspace_point(ws, d->joint, d->position);
            double to[3] = {p.x, p.y, p.z};
            for (int c = 0; c < 3; c++) to[c] += noise * uniform(state, -1, 1) + (i == n ? f : 0);
            if (uniform(state, 0, 1) < gaps || (i == n + 1 && f > 1)) continue;
            unmap(map, to, x + 3 * i);
            // as a reader does it
            for (int c = 0; stated && c < 3; c++) x[3 * i + c] *= map->scale;
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return t;
}

static void free_take(take *t) {
    sn_recording_destroy(t->recording);
    sn_motion_destroy(t->motion);
    sn_model_destroy(t->model);
}

static sn_axis_map random_map(uint64_t *state) {
    static const char *const words[] = {"xyz",  "yzx",  "zxy",   "x-zy",
                                        "xz-y", "-zyx", "-x-yz", "-y-x-z"};
    sn_axis_map map;
    assert_true(sn_axis_map_parse(words[below(state, 8)], &map));
    map.scale = 0.001;
    return map;
}

// Every marker is found on its joint, in its place; the axes and the unit too.
static void finds_the_truth(void **unused) {
    (void)unused;
    uint64_t state = 11;
    double worst = 0, worst_noisy = 0;
    for (int k = 0; k < cases(8); k++) {
        bool noisy = k % 2 == 1, stated = k % 4 > 1;
        sn_axis_map map = random_map(&state);
        take t = random_take(&state, noisy ? 300 : 40, &map, stated, noisy ? 0.0035 : 0,
                             noisy ? 0.2 : 0);
        sn_learned each[64];
        sn_lesson lesson;
        sn_error error;
        sn_marker_set *set;
        assert_int_equal(sn_marker_set_learn(t.model, t.motion, t.recording, NULL, NULL, &set, each,
                                             &lesson, &error),
                         SN_OK);
        char wanted[8], got[8];
        sn_axis_map_print(&map, wanted);
        sn_axis_map_print(&lesson.axes, got);
        assert_string_equal(got, wanted);
        assert_near(lesson.axes.scale, stated ? 1 : 0.001, 1e-12);
        assert_true(lesson.next > 10 * lesson.spread && !lesson.axes_given);
        assert_true(lesson.offset == 0 && lesson.nframe == sn_motion_nframe(t.motion));
        // without the unnamed point and the one with two samples
        int n = sn_model_nmarker(t.model);
        assert_int_equal(sn_marker_set_count(set), n);
        assert_true(lesson.left_out == 2 && each[n].marker == n && each[n + 1].marker == n + 1);
        for (int i = 0; i < n + 2; i++)
            assert_string_equal(each[i].name,
                                sn_label_name(sn_recording_label(t.recording, each[i].marker)));
        for (int i = 0; i < sn_marker_set_count(set); i++) {
            const sn_marker_desc *d = sn_model_marker(t.model, i);
            const sn_marker_place *p = sn_marker_set_place(set, i);
            assert_string_equal(p->name, d->name);
            assert_string_equal(p->joint, sn_model_joint(t.model, d->joint)->name);
            assert_true(p->placed && p->weight == 1);
            double off = 0;
            for (int c = 0; c < 3; c++) off = fmax(off, fabs(p->position[c] - d->position[c]));
            if (noisy) worst_noisy = fmax(worst_noisy, off);
            if (!noisy) worst = fmax(worst, off);
            // 3.5 mm to either side are 2 mm, along three axes
            assert_int_equal(each[i].marker, i);
            assert_true(noisy ? each[i].samples > 200 && each[i].samples < 280
                              : each[i].samples == 40);
            assert_near(each[i].spread, noisy ? sqrt(3) * 0.0035 / sqrt(3) : 0,
                        noisy ? 4e-4 : 1e-9);
        }
        sn_marker_set_destroy(set);
        free_take(&t);
    }
    print_message("places: %.1e m off, with 2 mm of noise and a fifth missing %.2f mm\n", worst,
                  1e3 * worst_noisy);
    assert_true(worst < 1e-9 && worst_noisy < 1e-3);
}

// A recording that nothing is learned from.
static sn_status refused(const take *t, const sn_recording *recording,
                         const sn_learn_options *options, sn_error *error) {
    sn_marker_set *set = NULL;
    sn_status status =
        sn_marker_set_learn(t->model, t->motion, recording, options, NULL, &set, NULL, NULL, error);
    assert_null(set);
    return status;
}

static void refusals(void **unused) {
    (void)unused;
    uint64_t state = 3;
    sn_axis_map map = sn_axis_map_identity();
    take t = random_take(&state, 10, &map, true, 0, 0);
    sn_marker_set *set;
    sn_error error;
    sn_motion *other;
    assert_int_equal(sn_motion_create(10, 3, 1, 0, NULL, &other, NULL), SN_OK);
    assert_int_equal(
        sn_marker_set_learn(t.model, other, t.recording, NULL, NULL, &set, NULL, NULL, &error),
        SN_ERR_ARGUMENT);
    assert_null(set);
    assert_non_null(strstr(error.text, "3 coordinates"));
    sn_motion_destroy(other);
    const sn_recording_info two = {.nframe = 10, .nmarker = 2, .metres_per_unit = 1};
    const char *const labels[] = {"a:LFHD", "LFHD"}, *const pair[] = {"a:LFHD", "b:LFHD"};
    sn_recording *r, *people;
    assert_int_equal(sn_recording_create(&two, labels, NULL, &r, NULL), SN_OK);
    assert_int_equal(sn_recording_create(&two, pair, NULL, &people, NULL), SN_OK);
    // all missing, then both there
    assert_int_equal(refused(&t, r, NULL, &error), SN_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "no marker"));
    for (int f = 0; f < 10; f++)
        for (int i = 0; i < 6; i++)
            sn_recording_edit(r, f)[i] = sn_recording_edit(people, f)[i] = f + i;
    sn_learn_options o = sn_learn_options_default();
    o.unclear = true;
    assert_int_equal(refused(&t, r, &o, &error), SN_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "\"LFHD\""));
    assert_int_equal(refused(&t, people, &o, &error), SN_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "several subjects; choose one by the option subject: a, b"));
    o.subject = "c";
    assert_int_equal(refused(&t, people, &o, &error), SN_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "\"c\"; here are: a, b"));
    sn_recording_destroy(people);
    sn_recording_destroy(r);
    free_take(&t);
}

static void failing_memory(void **unused) {
    (void)unused;
    uint64_t state = 5;
    sn_axis_map map = sn_axis_map_identity();
    take t = random_take(&state, 5, &map, true, 0, 0);
    test_allocator a;
    sn_marker_set *set = NULL;
    for (int fail = 0; fail < 100; fail++) {
        test_allocator_begin(&a);
        a.fail_at = fail;
        sn_status status = sn_marker_set_learn(t.model, t.motion, t.recording, NULL, &a.base, &set,
                                               NULL, NULL, NULL);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
        assert_true(a.live == 0 && set == NULL);
    }
    assert_non_null(set);
    sn_marker_set_destroy(set);
    assert_true(a.live == 0);
    free_take(&t);
}

// Each option out of its range is named.
static void wrong_options(void **unused) {
    (void)unused;
    uint64_t state = 9;
    sn_axis_map map = sn_axis_map_identity();
    take t = random_take(&state, 10, &map, true, 0, 0);
    const sn_learn_options usual = sn_learn_options_default();
    sn_learn_options each[9];
    static const char *const words[9] = {"version", "model_up", "model_up_sign", "up",    "up_sign",
                                         "unit",    "unit",     "axes",          "offset"};
    for (int i = 0; i < 9; i++) each[i] = usual;
    each[0].version = 0, each[1].model_up = 3, each[2].model_up_sign = 0, each[3].up = -2;
    each[4].up_sign = 0.5, each[5].unit = -1, each[6].unit = NAN;
    each[7].has_axes = true, each[7].axes = map, each[7].axes.axis[1] = 0;
    each[8].has_offset = true, each[8].offset = INT_MIN;
    for (int i = 0; i < 9; i++) {
        sn_error error = {0};
        assert_int_equal(refused(&t, t.recording, &each[i], &error), SN_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, words[i]));
    }
    free_take(&t);
}

// A motion that begins later or earlier, another sign after the subject's name, someone else beside: the same places.
static void matches_frames_and_people(void **unused) {
    (void)unused;
    uint64_t state = 21;
    sn_axis_map map = random_map(&state);
    take t = random_take(&state, 60, &map, true, 0, 0);
    int nq = sn_model_nq(t.model), n = sn_model_nmarker(t.model);
    sn_recording_info info = *sn_recording_about(t.recording);
    info.nmarker = 2 * n;
    static char text[128][40];
    const char *labels[128];
    for (int m = 0; m < 2 * n; m++) {
        (void)snprintf(text[m], sizeof text[m], "%s_%s", m < n ? "Bea" : "Ann",
                       sn_model_marker(t.model, m % n)->name);
        labels[m] = text[m];
    }
    sn_recording *two;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &two, NULL), SN_OK);
    for (int f = 0; f < 60; f++)
        for (int m = 0; m < n; m++)
            for (int c = 0; c < 3; c++) {
                sn_recording_edit(two, f)[3 * m + c] = uniform(&state, -1, 1);
                sn_recording_edit(two, f)[3 * (n + m) + c] =
                    sn_recording_frame(t.recording, f)[3 * m + c];
            }
    static const int offsets[] = {-4, 0, 5, 9};
    for (int k = 0; k < 4; k++) {
        // frame i of the recording is frame i + offset of the motion
        sn_motion *moved;
        assert_int_equal(sn_motion_create(75, nq, 1, 0, NULL, &moved, NULL), SN_OK);
        for (int f = 0; f < 75; f++) {
            int from = f - offsets[k];
            memcpy(sn_motion_edit(moved, f),
                   sn_motion_frame(t.motion, from > 0 && from < 60 ? from : 0),
                   (size_t)nq * sizeof(double));
        }
        sn_learn_options o = sn_learn_options_default();
        o.subject = "Ann";
        o.has_axes = true, o.axes = map;
        if (offsets[k] > 5) o.has_offset = true, o.offset = offsets[k];
        sn_marker_set *set;
        sn_lesson lesson;
        sn_learned each[128];
        assert_int_equal(
            sn_marker_set_learn(t.model, moved, two, &o, NULL, &set, each, &lesson, NULL), SN_OK);
        assert_true(lesson.offset == offsets[k] && lesson.axes_given);
        assert_int_equal(sn_marker_set_count(set), n);
        assert_int_equal(lesson.left_out, 0);  // the other one's markers were not asked for
        for (int i = 0; i < n; i++) {
            const sn_marker_place *p = sn_marker_set_place(set, i);
            const sn_marker_desc *d = sn_model_marker(t.model, i);
            assert_string_equal(p->name, d->name);
            assert_string_equal(each[i].name, d->name);
            assert_int_equal(each[i].marker, n + i);
            for (int c = 0; c < 3; c++) assert_near(p->position[c], d->position[c], 1e-9);
        }
        sn_marker_set_destroy(set);
        sn_motion_destroy(moved);
    }
    sn_recording_destroy(two);
    free_take(&t);
}

// --- real takes ----------------------------------------------------------------------------------

static int path_to_root(const sn_model *m, int joint, int *out) {
    int n = 0;
    for (; joint >= 0; joint = sn_model_parent(m, joint)) out[n++] = joint;
    return n;
}

// Bones from one joint to the other.
static int tree_distance(const sn_model *m, int x, int y) {
    int a[64], b[64], na = path_to_root(m, x, a), nb = path_to_root(m, y, b);
    while (na > 0 && nb > 0 && a[na - 1] == b[nb - 1]) na--, nb--;
    return na + nb;
}

// The program on real takes: the axes are the known ones; markers go to the bones of the built-in
// set or to neighbours, never to the other side; a fit with the set is good.
static void real_takes(void **unused) {
    (void)unused;
    static const struct {
        const char *skeleton, *take;
        int agree;      // at least so many of 41 as in the built-in set
        double rms_cm;  // at most, of the fit with the learned places
    } clips[] = {{"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120", 28, 0.8},
                 {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120", 28, 1.2},
                 {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120", 28, 2.4},
                 {"cmu/02.asf", "cmu/02_01", 20, 0.5}};
    for (size_t k = 0; k < sizeof clips / sizeof clips[0]; k++) {
        if (data_path(clips[k].skeleton) == NULL) skip();
        char skeleton[600], amc[600], c3d[600];
        const char *set_path = program_path("set.json");
        (void)snprintf(skeleton, sizeof skeleton, "%s/%s", SINEW_DATA, clips[k].skeleton);
        (void)snprintf(amc, sizeof amc, "%s/%s.amc", SINEW_DATA, clips[k].take);
        (void)snprintf(c3d, sizeof c3d, "%s/%s.c3d", SINEW_DATA, clips[k].take);
        program_expect(0, "x y z are the recording's yzx (found", "markers -m %s -a %s -i %s -o %s",
                       skeleton, amc, c3d, set_path);
        assert_non_null(strstr(program_output, "offset 0 (found)"));
        size_t length;
        char *text = slurp(set_path, &length);
        sn_marker_set *set, *builtin;
        assert_int_equal(sn_marker_set_read_json(text, length, NULL, &set, NULL), SN_OK);
        free(text);
        sn_document d = program_read(skeleton, NULL), r = program_read(c3d, NULL);
        assert_int_equal(sn_marker_set_builtin(d.model, r.recording, NULL, &builtin, NULL), SN_OK);
        assert_int_equal(sn_marker_set_count(set), 41);
        int agree = 0, far = 0;
        for (int i = 0; i < 41; i++) {
            const sn_marker_place *p = sn_marker_set_place(set, i), *b = NULL;
            for (int j = 0; j < sn_marker_set_count(builtin); j++)
                if (strcmp(sn_marker_set_place(builtin, j)->name, p->name) == 0)
                    b = sn_marker_set_place(builtin, j);
            assert_non_null(b);
            agree += strcmp(p->joint, b->joint) == 0;
            int apart = tree_distance(d.model, sn_model_find_joint(d.model, p->joint),
                                      sn_model_find_joint(d.model, b->joint));
            if (apart > far) far = apart;
            if (apart > 3)
                print_message("%s: %s on %s, not on %s\n", clips[k].take, p->name, p->joint,
                              b->joint);
            bool side = b->joint[0] == 'l' || b->joint[0] == 'r';
            if (side && strcmp(b->joint, "root") != 0 && strncmp(b->joint, "low", 3) != 0)
                assert_int_equal(p->joint[0], b->joint[0]);
        }
        program_expect(0, "set: learned", "fit -m %s -i %s --markers %s -o %s --quiet", skeleton,
                       c3d, set_path, program_path("fit.amc"));
        double rms = atof(strstr(program_output, "RMS ") + 4);
        print_message("%s: %d of 41 as built in, the rest at most %d bones off; fit %.3f cm\n",
                      clips[k].take, agree, far, rms);
        assert_true(agree >= clips[k].agree && far <= 3 && rms <= clips[k].rms_cm);
        sn_marker_set_destroy(set);
        sn_marker_set_destroy(builtin);
        sn_document_destroy(&d);
        sn_document_destroy(&r);
    }
}

// --- the program on a take of our own ------------------------------------------------------------

static void offsets_and_words(void **unused) {
    (void)unused;
    program_expect(0, "take.c3d", "example --out %s", program_path("take"));
    const char *model = program_path("take/skeleton.asf"), *c3d = program_path("take/take.c3d");
    const char *truth = program_path("take/truth.amc"), *set = program_path("own.json");
    program_expect(0, "offset 0 (found)", "markers -m %s -a %s -i %s -o %s", model, truth, c3d,
                   set);
    assert_non_null(strstr(program_output, "recording's yzx (found"));
    assert_non_null(strstr(program_output, "*41"));  // left out
    // the motion begins three frames later: frame k of the recording is frame k - 3 of the motion
    program_expect(0, "wrote", "convert %s %s -o %s --frames 4:", model, truth,
                   program_path("late.amc"));
    program_expect(0, "offset -3 (found)", "markers -m %s -a %s -i %s -o %s", model,
                   program_path("late.amc"), c3d, set);
    program_expect(0, "offset -3 (given)", "markers -m %s -a %s -i %s -o %s --offset -3", model,
                   program_path("late.amc"), c3d, set);
    program_expect(0, "recording's yzx (given)", "markers -m %s -a %s -i %s -o %s --up z", model,
                   truth, c3d, set);
    program_expect(0, "set: learned", "fit -m %s -i %s --markers %s -o %s --quiet", model, c3d, set,
                   program_path("own.bvh"));
    assert_true(atof(strstr(program_output, "RMS ") + 4) < 0.5);
    // a set is a file like others
    program_expect(0, "41, 41 with a position", "info %s", set);

    program_expect(2, "are needed", "markers -m %s", model);
    program_expect(2, "--axes takes", "markers -m %s -a %s -i %s -o %s --axes xxz", model, truth,
                   c3d, set);
    program_expect(2, "--units takes m, cm", "markers -m %s -a %s -i %s -o %s --units furlong",
                   model, truth, c3d, set);
    program_expect(3, "holds no motion", "markers -m %s -i %s -o %s", model, c3d, set);
    program_expect(3, "no label belongs to the subject",
                   "markers -m %s -a %s -i %s -o %s --subject nobody", model, truth, c3d, set);
    program_expect(3, "no frames are left", "markers -m %s -a %s -i %s -o %s --offset 99999", model,
                   truth, c3d, set);
    program_expect(3, "bring them together", "markers -m %s -a %s -i %s -o %s", model,
                   (program_expect(0, "resampled", "convert %s %s -o %s --fps 50", model, truth,
                                   program_path("slow.amc")),
                    program_path("slow.amc")),
                   c3d, set);
    program_expect(1, "cannot be written", "markers -m %s -a %s -i %s -o /nowhere/set.json", model,
                   truth, c3d);
}

int main(void) {
    const struct CMUnitTest list[] = {
        cmocka_unit_test(finds_the_truth),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(matches_frames_and_people),
        cmocka_unit_test(real_takes),
        cmocka_unit_test(offsets_and_words),
    };
    if (!program_begin("learn")) return 1;
    return program_end(cmocka_run_group_tests(list, NULL, NULL));
}
