// SPDX-License-Identifier: MIT
// Whether a recording can be of the figure at all: mirrored, of another size, markers in the air. On the
// example, whose truth is known, and on real clips where they are there, none of which may be suspected.
#include "takes.h"

// "RWRA" for "LWRA", as it is for a marker without a side.
static int other_side(const sn_recording *r, int m) {
    char name[80];
    (void)snprintf(name, sizeof name, "%s", sn_label_name(sn_recording_label(r, m)));
    if (name[0] != 'L' && name[0] != 'R') return m;
    name[0] = name[0] == 'L' ? 'R' : 'L';
    int other = sn_recording_find(r, name);
    return other >= 0 ? other : m;
}

typedef enum wrong { RIGHT, MIRRORED, EXCHANGED, ARMS, LEGS } wrong;

static bool is_of(const char *label, wrong what) {
    static const char *const arms[] = {"SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN", NULL},
                             *const legs[] = {"THI", "KNE", "SHN", "ANK",
                                              "HEE", "TOE", "MT5", NULL};
    const char *name = sn_label_name(label), *const *list = what == ARMS ? arms : legs;
    for (int i = 0; list[i] != NULL; i++)
        if (strlen(name) > 1 && strcmp(name + 1, list[i]) == 0) return true;
    return what == EXCHANGED;
}

static sn_handedness look(const sn_model *model, const sn_recording *recording, wrong what) {
    const sn_recording_info *info = sn_recording_about(recording);
    int n = sn_model_nmarker(model), *column = malloc((size_t)(n + 1) * sizeof *column);
    sn_handedness out;
    assert_non_null(column);
    assert_true(sn_fit_match(model, recording, NULL, column) > 0);
    sn_fit_input in = {.model = model,
                       .recording = recording,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = info->nframe};
    // what the recording states as up does not matter here: the root is free
    if (info->metres_per_unit <= 0) in.axes.scale = 0.001;
    if (what == MIRRORED) in.axes.sign[2] = -1;
    for (int i = 0; what >= EXCHANGED && i < n; i++)
        if (column[i] >= 0 && is_of(sn_model_marker(model, i)->name, what))
            column[i] = other_side(recording, column[i]);
    assert_int_equal(sn_fit_handedness(&in, NULL, NULL, &out), SN_OK);
    free(column);
    return out;
}

static void expect_sides(const char *name, const sn_model *model, const sn_recording *recording,
                         bool labels) {
    for (wrong what = RIGHT; what <= (labels ? LEGS : MIRRORED); what++) {
        sn_handedness h = look(model, recording, what);
        static const char *const words[] = {"right", "mirrored", "labels exchanged",
                                            "arms exchanged", "legs exchanged"};
        print_message("%s, %s: %d frames, mirrored over given %.3f, arms %.3f, legs %.3f\n", name,
                      words[what], h.frames, h.mirrored / h.given, h.arms, h.legs);
        assert_true(h.frames > 0);
        if (what <= EXCHANGED) assert_true(h.looks_mirrored == (what != RIGHT));
        if (what == RIGHT) assert_true(!h.arms_exchanged && !h.legs_exchanged);
        if (what == ARMS) assert_true(h.arms_exchanged && !h.legs_exchanged);
        if (what == LEGS) assert_true(h.legs_exchanged && !h.arms_exchanged);
    }
}

static void example_sides(void **state) {
    example_take *t = *state;
    sn_model *model = with_builtin(t->model, t->recording);
    expect_sides("example", model, t->recording, true);
    expect_sides("example with true places", t->subject, t->recording, true);
    // a third gone and some thrown away
    uint64_t random = 3;
    sn_recording *bad = recording_cut(t->recording, 0, t->nframe);
    spoil_gaps(bad, 0.3, &random);
    spoil_throw(bad, 0.05, 0.5, &random);
    expect_sides("example, spoiled", model, bad, true);
    spoil_gaps(bad, 1, &random);
    sn_handedness none = look(model, bad, RIGHT);
    assert_true(none.frames == 0 && !none.looks_mirrored);
    sn_recording_destroy(bad);
    sn_model_destroy(model);
}

static void clips(void **unused) {
    (void)unused;
    static const struct {
        const char *skeleton, *take;
        bool placed;
    } all[] = {
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", false},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", false},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d", false},
        {"hdm05/HDM_mm.asf", "hdm05/HDM_mm_01-02_03_120.c3d", false},
        {"cmu/02.asf", "cmu/02_01.c3d", false},
        {"cmu/85_02.bvh", "cmu/85_02.c3d", false},
        {"opensim/subject01_simbody.osim", "opensim/subject01_synthetic_marker_data.trc", true},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_document skeleton = read_clip(all[i].skeleton), take = read_clip(all[i].take);
        if (skeleton.model == NULL || take.recording == NULL) skip();
        sn_model *model = all[i].placed ? NULL : with_builtin(skeleton.model, take.recording);
        const sn_model *use = all[i].placed ? skeleton.model : model;
        sn_axes_report axes;
        assert_int_equal(sn_axes_find(use, take.recording, 1, 1, NULL, &axes, NULL), SN_OK);
        print_message("%s: size %.3f\n", all[i].take, axes.size);
        assert_true(axes.size > 0.85 && axes.size < 1.15 && !axes.unit_doubtful);
        // OpenSim's labels say the side otherwise
        expect_sides(all[i].take, use, take.recording, !all[i].placed);
        sn_model_destroy(model);
        sn_document_destroy(&skeleton);
        sn_document_destroy(&take);
    }
}

// Units that cannot be, sizes that can.
static void sizes(void **state) {
    example_take *t = *state;
    static const struct {
        double by;
        bool doubtful;
    } all[] = {{0.001, true}, {0.1, true}, {1 / 2.54, true}, {0.55, false},
               {0.6, false},  {1, false},  {1.6, false},     {2, false},
               {2.54, true},  {10, true},  {1000, true}};
    for (int set = 0; set < 2; set++) {
        sn_model *model = set == 0 ? with_builtin(t->model, t->recording) : NULL;
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            sn_axis_map map = sn_axis_map_identity();
            sn_recording_info info = *sn_recording_about(t->recording);
            sn_axes_report r;
            map.scale = all[i].by;
            sn_recording *scaled = recording_turned(t->recording, &map, &info);
            assert_int_equal(
                sn_axes_find(set == 0 ? model : t->model, scaled, 1, 1, NULL, &r, NULL), SN_OK);
            assert_near(r.size / all[i].by, 1, 0.05);
            assert_true(r.unit_doubtful == all[i].doubtful);
            sn_recording_destroy(scaled);
        }
        sn_model_destroy(model);
    }
}

// A marker's distance from its bone, by hand.
static void bones(void **unused) {
    (void)unused;
    static const char text[] =
        "{\"joints\": [{\"name\": \"a\", \"type\": \"free\"}, {\"name\": \"b\", \"parent\": \"a\", "
        "\"type\": \"ball\", \"position\": [0, 2, 0]}, {\"name\": \"c\", \"parent\": \"b\", "
        "\"type\": \"ball\", \"position\": [1, 0, 0]}], \"markers\": ["
        "{\"name\": \"beside\", \"joint\": \"a\", \"position\": [0.3, 1, 0]},"
        "{\"name\": \"beyond\", \"joint\": \"a\", \"position\": [0, 2.4, 0.3]},"
        "{\"name\": \"leaf\", \"joint\": \"c\", \"position\": [0, 0, -0.1]}]}";
    sn_model *model;
    sn_bone_report b;
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_fit_bones(model, NULL, &b), SN_OK);
    assert_near(b.size, 2, 1e-15);
    assert_near(b.worst, 0.5, 1e-15);
    assert_int_equal(b.worst_marker, 1);
    assert_near(b.rms, sqrt((0.09 + 0.25 + 0.01) / 3), 1e-15);
    sn_model_destroy(model);
}

// Whichever allocation fails, it is said and all is given back.
static void memory_fails(void **state) {
    example_take *t = *state;
    sn_recording *part = recording_cut(t->recording, 0, 2);
    int column[41];
    assert_int_equal(sn_fit_match(t->subject, part, NULL, column), 41);
    sn_fit_input in = {.model = t->subject,
                       .recording = part,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = 2};
    sn_motion *motion;
    assert_int_equal(sn_motion_create(2, sn_model_nq(t->subject), 1, 120, NULL, &motion, NULL),
                     SN_OK);
    for (int what = 0; what < 3; what++)
        for (long n = 0;; n++) {
            test_allocator a;
            sn_handedness h;
            sn_bone_report b;
            test_allocator_begin(&a);
            a.fail_at = n;
            sn_fit_swap swap;
            int count;
            sn_status status = what == 0   ? sn_fit_handedness(&in, NULL, &a.base, &h)
                               : what == 1 ? sn_fit_bones(t->subject, &a.base, &b)
                                           : sn_fit_swaps(&in, motion, &a.base, &swap, 1, &count);
            if (a.live != 0) fail_msg("%d leaks %ld when %ld fails", what, a.live, n);
            if (status == SN_OK && a.calls <= n) break;
            assert_int_equal(status, SN_ERR_MEMORY);
        }
    sn_motion_destroy(motion);
    sn_recording_destroy(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_sides), cmocka_unit_test(clips),        cmocka_unit_test(sizes),
        cmocka_unit_test(bones),         cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
