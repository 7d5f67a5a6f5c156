// SPDX-License-Identifier: MIT
// Keypoints of markerless systems: joint centres and faces, a centimetre of noise, on the built-in figure and on an
// OpenSim model made for them. Nobody's recording is at hand, so these are made: a known motion, seen so.
#include "math/vec3.h"
#include "takes.h"

enum { FRAMES = 120 };
static const double degree = 0x1.1df46a2529d39p-6;

static double noise(uint64_t *state, double sigma) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += sn_random(state);
    return sigma * sum;
}

// A recording of a model's markers through a motion, `size` times as large as they are.
static sn_recording *seen(const sn_model *model, const sn_motion *motion, double size,
                          double sigma) {
    int n = sn_model_nmarker(model), nframe = sn_motion_nframe(motion);
    const char *labels[64];
    uint64_t state = 3;
    sn_recording *out;
    sn_problem *problem;
    sn_workspace *ws;
    sn_recording_info info = {
        .nframe = nframe, .nmarker = n, .rate = 60, .first_frame = 1, .metres_per_unit = 1};
    for (int i = 0; i < n; i++) labels[i] = sn_model_marker(model, i)->name;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &out, NULL), SN_OK);
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int f = 0; f < nframe; f++) {
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
        for (int i = 0; i < n; i++) {
            const sn_marker_desc *m = sn_model_marker(model, i);
            sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
            double *x = sn_recording_edit(out, f) + 3 * i;
            x[0] = size * p.x + noise(&state, sigma);
            x[1] = size * p.y + noise(&state, sigma);
            x[2] = size * p.z + noise(&state, sigma);
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return out;
}

static sn_take *taken(const sn_model *model, const sn_recording *recording,
                      const sn_take_options *o) {
    sn_take *t;
    sn_error error = {0};
    if (sn_take_create(model, recording, o, NULL, &t, &error) != SN_OK) fail_msg("%s", error.text);
    sn_status status = sn_take_prepare(t);
    if (status == SN_OK) status = sn_take_finish(t);
    char text[600] = "";
    if (status != SN_OK) {
        (void)sn_take_sentence(t, sn_take_nfinding(t) - 1, SN_VOICE_PLAIN, text, sizeof text);
        fail_msg("%s", text);
    }
    return t;
}

// --- an OpenSim model ------------------------------------------------------------------------------

// A walk with swinging arms: amplitude and phase of coordinates, degrees; right, and left half a step later.
static const struct {
    const char *name;
    double mean, swing, phase;
    bool compared;
} walk[] = {{"hip_flexion_", 10, 25, 0, true},  {"knee_angle_", 30, 28, 1.2, true},
            {"ankle_angle_", 0, 12, 2.5, true}, {"hip_adduction_", 0, 4, 0.5, true},
            {"arm_flex_", 5, 25, 3.1, true},    {"elbow_flex_", 35, 15, 2.6, true},
            {"arm_add_", -8, 3, 1, true}};

static double walked(const char *name, double time, bool *compared) {
    size_t n = strlen(name);
    *compared = false;
    if (strcmp(name, "pelvis_ty") == 0) return 0.95;
    if (strcmp(name, "pelvis_tx") == 0) return 1.2 * time;
    if (strcmp(name, "L5_S1_Flex_Ext") == 0) return -5 * degree;
    for (size_t i = 0; i < sizeof walk / sizeof walk[0]; i++) {
        if (strncmp(name, walk[i].name, n - 1) != 0 || strlen(walk[i].name) != n - 1) continue;
        *compared = walk[i].compared;
        double phase = walk[i].phase + (name[n - 1] == 'l' ? 3.14159265 : 0);
        return (walk[i].mean + walk[i].swing * sin(6.2831853 * time + phase)) * degree;
    }
    return 0;
}

static void on_opensim(void **unused) {
    (void)unused;
    static const char *const sets[] = {"biomech/pose2sim/Markers_Halpe26.xml",
                                       "biomech/pose2sim/Markers_Coco17.xml"};
    for (int k = 0; k < 2; k++) {
        sn_document d = read_clip("biomech/pose2sim/Model_Pose2Sim_simple.osim");
        const char *path = data_path(sets[k]);
        if (d.model == NULL || path == NULL) skip();
        size_t length;
        char *text = slurp(path, &length);
        sn_marker_set *set;
        sn_model *model;
        sn_motion *truth;
        sn_error error = {0};
        if (sn_marker_set_read(text, length, d.model, NULL, &set, &error) != SN_OK)
            fail_msg("%s", error.text);
        free(text);
        assert_int_equal(sn_marker_set_apply(set, d.model, SN_LIMITS_OFF, NULL, NULL, &model, NULL),
                         SN_OK);
        assert_int_equal(sn_motion_create(FRAMES, sn_model_nq(model), 1, 60, NULL, &truth, NULL),
                         SN_OK);
        int ncoordinate = sn_osim_coordinates_count(d.coordinates);
        for (int f = 0; f < FRAMES; f++) {
            double *q = sn_motion_edit(truth, f);
            sn_model_zero(model, q);
            for (int i = 0; i < ncoordinate; i++) {
                const sn_osim_coordinate_info *c = sn_osim_coordinate_at(d.coordinates, i);
                bool compared;
                if (c->at.joint < 0) continue;
                q[sn_model_q_index(model, c->at.joint) + c->at.index] =
                    walked(c->name, f / 60.0, &compared);
            }
            sn_model_follow(model, q);
        }
        // somebody six percent taller
        sn_recording *recording = seen(model, truth, 1.06, 0.01);
        sn_take_options o = sn_take_options_default();
        o.coordinates = d.coordinates;
        o.markers = set;
        o.calibrate = SN_CALIBRATE_SCALE;
        o.smooth = 0.01;
        o.calibrate_frames = 30;
        sn_take *t = taken(d.model, recording, &o);
        double sum = 0, most = 0;
        int n = 0;
        for (int i = 0; i < ncoordinate; i++) {
            const sn_osim_coordinate_info *c = sn_osim_coordinate_at(d.coordinates, i);
            bool compared;
            double square = 0;
            (void)walked(c->name, 0, &compared);
            if (!compared || c->at.joint < 0) continue;
            int q = sn_model_q_index(model, c->at.joint) + c->at.index;
            for (int f = 0; f < FRAMES; f++)
                square +=
                    pow(sn_motion_frame(sn_take_motion(t), f)[q] - sn_motion_frame(truth, f)[q], 2);
            double rms = sqrt(square / FRAMES) / degree;
            sum += rms, n++;
            most = fmax(most, rms);
        }
        print_message("%s: %d of %d labels, markers %.2f cm, angles %.2f degrees RMS on average, "
                      "the worst %.2f\n",
                      sets[k], sn_take_about(t)->matched, sn_take_about(t)->labels,
                      100 * sn_take_about(t)->fit.rms, sum / n, most);
        assert_true(n == 14 && sum / n < 4 && most < 10);
        sn_take_destroy(t);
        sn_recording_destroy(recording);
        sn_motion_destroy(truth);
        sn_model_destroy(model);
        sn_marker_set_destroy(set);
        sn_document_destroy(&d);
    }
}

// --- the built-in figure ---------------------------------------------------------------------------

static const char *const halpe[] = {
    "Nose",    "LEye",      "REye",      "LEar",   "REar", "LShoulder", "RShoulder",
    "LElbow",  "RElbow",    "LWrist",    "RWrist", "LHip", "RHip",      "LKnee",
    "RKnee",   "LAnkle",    "RAnkle",    "Head",   "Neck", "Hip",       "LBigToe",
    "RBigToe", "LSmallToe", "RSmallToe", "LHeel",  "RHeel"};
// The first of them are all that COCO-17 has.
enum { KEYPOINTS = 26, COCO = 17 };

// What the figure's keypoints show of its example motion, with noise.
typedef struct shown {
    double centres;  // metres
    double median;   // degrees
    int jumps;
} shown;

static shown show(const example_take *e, int nkeypoint, double sigma, double smooth) {
    uint64_t random = 11;
    sn_recording_info info = {.nframe = 1, .nmarker = nkeypoint, .rate = 60, .metres_per_unit = 1};
    sn_recording *names;
    sn_marker_set *guess, *real;
    sn_marker_place places[KEYPOINTS];
    sn_model *person;
    sn_motion *truth;
    assert_int_equal(sn_recording_create(&info, halpe, NULL, &names, NULL), SN_OK);
    assert_int_equal(sn_marker_set_builtin(e->model, names, NULL, &guess, NULL), SN_OK);
    assert_int_equal(sn_marker_set_count(guess), nkeypoint);
    // on this person they are up to a centimetre elsewhere along each axis
    for (int i = 0; i < nkeypoint; i++) {
        places[i] = *sn_marker_set_place(guess, i);
        for (int c = 0; c < 3; c++) places[i].position[c] += 0.02 * (sn_random(&random) - 0.5);
    }
    assert_int_equal(sn_marker_set_create("keypoints", places, nkeypoint, NULL, &real, NULL),
                     SN_OK);
    assert_int_equal(sn_marker_set_apply(real, e->model, SN_LIMITS_OFF, NULL, NULL, &person, NULL),
                     SN_OK);
    int nq = sn_model_nq(e->model);
    assert_int_equal(sn_motion_create(300, nq, 1, 60, NULL, &truth, NULL), SN_OK);
    for (int f = 0; f < 300; f++)
        memcpy(sn_motion_edit(truth, f), sn_motion_frame(e->truth, 2 * f),
               (size_t)nq * sizeof(double));
    sn_recording *recording = seen(person, truth, 1, sigma);
    sn_take_options o = sn_take_options_default();
    o.markers = guess;
    o.calibrate = SN_CALIBRATE_OFFSETS;
    o.smooth = smooth;
    sn_take *t = taken(e->model, recording, &o);
    sn_take_truth how;
    assert_int_equal(sn_take_compare(t, NULL, truth, &how), SN_OK);
    shown out = {how.centres, how.median, sn_take_about(t)->jumps};
    print_message("%d keypoints on the humanoid, %.1f cm of noise%s: markers %.2f cm, angles %.2f "
                  "degrees (median), joint centres %.2f cm, %d jumps\n",
                  nkeypoint, 100 * sigma, smooth > 0 ? ", smoothed" : "",
                  100 * sn_take_about(t)->fit.rms, how.median, 100 * how.centres, out.jumps);
    sn_take_destroy(t);
    sn_recording_destroy(recording);
    sn_motion_destroy(truth);
    sn_model_destroy(person);
    sn_marker_set_destroy(real);
    sn_marker_set_destroy(guess);
    sn_recording_destroy(names);
    return out;
}

static void on_humanoid(void **state) {
    // what keypoints do not see (a bone's turn about itself) is anywhere; where joints are is known
    shown s = show(*state, KEYPOINTS, 0.01, 0.01);
    assert_true(s.centres < 0.02 && s.jumps == 0);
}

// While an elbow is straight, a wrist that trembles says nothing of the upper arm's turn about its bone: that stays.
static void arms_do_not_spin(void **state) {
    for (int n = KEYPOINTS; n >= COCO; n -= KEYPOINTS - COCO)
        for (double sigma = 0.01; sigma < 0.016; sigma += 0.005) {
            shown s = show(*state, n, sigma, 0);
            if (s.jumps > 0) fail_msg("%d jumps", s.jumps);
        }
}

int main(void) {
    const struct CMUnitTest some[] = {cmocka_unit_test(on_humanoid)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_opensim), cmocka_unit_test(on_humanoid),
                                       cmocka_unit_test(arms_do_not_spin)};
    // a sanitizer, which takes a minute for all, sees the same code in one of them
    return cases(10) < 10 ? cmocka_run_group_tests(some, example_begin, example_end)
                          : cmocka_run_group_tests(tests, example_begin, example_end);
}
