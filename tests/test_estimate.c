// SPDX-License-Identifier: MIT
// The estimate behind a calibration from the inside: its derivatives against differences of its energy, which frames it
// looks at, what they weigh, how sure it is.
#include "takes.h"

#include "math/vec3.h"
#include "take/estimate.h"
#include "take/posture.h"
#include "take/stretch.h"

// --- the normal equations ----------------------------------------------------------------------------
//
// Gradients of the energy by shape and poses against differences of the energy itself, and the matrix where the
// markers are met exactly, where Gauss and Newton's is the Hessian.

// With frames, as bodies of an .osim file are, those without one belong to the body above them.
#define SMALL_FRAMES                                                                               \
    "{\"name\": \"hip\", \"joint\": \"hip\"}, {\"name\": \"l_leg\", \"joint\": \"l_leg\"},"        \
    "{\"name\": \"l_foot\", \"joint\": \"l_foot\"}, {\"name\": \"r_foot\", \"joint\": \"r_foot\"}"

static sn_model *small_figure(bool framed) {
    char text[2000];
    static const char figure[] =
        "{\"name\": \"s\", \"joints\": [{\"name\": \"hip\", \"type\": \"free\"},"
        "{\"name\": \"l_leg\", \"parent\": \"hip\", \"type\": \"euler\", \"order\": \"XYZ\", "
        "\"position\": [0.1,-0.1,0]},"
        "{\"name\": \"r_leg\", \"parent\": \"hip\", \"type\": \"hinge\", \"axis\": [1,0.2,0], "
        "\"position\": [-0.1,-0.1,0]},"
        "{\"name\": \"l_foot\", \"parent\": \"l_leg\", \"type\": \"hinge\", \"axis\": [1,0,0], "
        "\"position\": [0,-0.4,0.05]},"
        "{\"name\": \"r_foot\", \"parent\": \"r_leg\", \"type\": \"euler\", \"order\": \"ZYX\", "
        "\"position\": [0,-0.4,0.05]}],"
        "\"markers\": [{\"name\": \"a\", \"joint\": \"hip\", \"position\": [0.1,0.1,0.1]},"
        "{\"name\": \"b\", \"joint\": \"hip\", \"position\": [-0.1,0.1,0.1]},"
        "{\"name\": \"c\", \"joint\": \"hip\", \"position\": [0,0.1,-0.1], \"weight\": 0.5},"
        "{\"name\": \"d\", \"joint\": \"l_leg\", \"position\": [0.05,-0.2,0.1]},"
        "{\"name\": \"e\", \"joint\": \"l_foot\", \"position\": [0.05,-0.1,0.1], \"weight\": 2},"
        "{\"name\": \"f\", \"joint\": \"r_foot\", \"position\": [0.02,-0.1,0.15]},"
        "{\"name\": \"g\", \"joint\": \"r_foot\", \"position\": [0.1,0,-0.1]},"
        "{\"name\": \"h\", \"joint\": \"r_leg\", \"position\": [0.03,-0.2,0.07]}], \"frames\": "
        "[%s]}";
    sn_model *model;
    sn_error error;
    assert_true(snprintf(text, sizeof text, figure, framed ? SMALL_FRAMES : "") < (int)sizeof text);
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("%s", error.text);
    return model;
}

// The parts before the poses were eliminated: of x, and of frame k's pose.
typedef struct slopes {
    double shape[64];
    double d[64];     // a direction of shapes
    double curve[8];  // per frame: what the elimination took from the second derivative along it
} slopes;

static sn_status add_frame(sn_estimate *e, sn_estimate_worker *w, int k) {
    slopes *s = e->extra;
    assert_int_equal(sn_estimate_frame(e, w, k, NULL, NULL), SN_OK);
    s->curve[k] = 0;
    for (size_t a = 0; a < e->nv; a++) {
        double part = 0;
        for (size_t i = 0; i < e->n; i++) {
            s->shape[i] += w->B[a * e->n + i] * w->y[a];
            part += w->B[a * e->n + i] * s->d[i];
        }
        s->curve[k] += part * part;
    }
    return SN_OK;
}

static void find_slopes(sn_estimate *e, slopes *s) {
    assert_true(e->n <= 64 && e->nframe <= 8);
    assert_int_equal(sn_estimate_normal(e, 0, NULL), SN_OK);
    memcpy(s->shape, e->g, e->n * sizeof *e->g);
    e->extra = s;
    assert_int_equal(sn_estimate_run(e, e->x, add_frame, e->nframe, NULL), SN_OK);
}

static double pose_slope(const sn_estimate *e, int k, size_t v) {
    return e->gq[(size_t)k * e->nv + e->nv - 1 - v];
}

static double energy_of(sn_estimate *e) {
    double f;
    assert_int_equal(sn_estimate_energy(e, e->x, e->poses, &f, NULL), SN_OK);
    return 0.5 * f;
}

static void check_slopes(const char *name, sn_estimate *e, uint64_t *random) {
    double worst = 0, largest = 0;
    size_t lengths = 3 * (size_t)e->nmarker;
    for (size_t i = 0; i < e->n; i++)
        e->x[i] += i < lengths ? uniform(random, -0.02, 0.02) : uniform(random, -0.1, 0.1);
    slopes s = {0};
    find_slopes(e, &s);
    for (size_t i = 0; i < e->n; i++) {
        double h = 1e-5, at = e->x[i];
        e->x[i] = at + h;
        double up = energy_of(e);
        e->x[i] = at - h;
        double slope = (up - energy_of(e)) / (2 * h), have = s.shape[i];
        e->x[i] = at;
        worst = fmax(worst, fabs(slope - have));
        largest = fmax(largest, fabs(slope));
    }
    print_message("%s: %d shape numbers, gradient off by %.1e of %.1e\n", name, (int)e->n, worst,
                  largest);
    assert_true(worst < 1e-5 * largest && largest > 1);
    worst = largest = 0;
    double *kept = malloc(e->nq * sizeof *kept), *step = calloc(e->nv, sizeof *step);
    assert_true(kept != NULL && step != NULL);
    memcpy(kept, e->poses, e->nq * sizeof *kept);
    for (size_t v = 0; v < e->nv; v++) {
        double h = 1e-5, f[2];
        for (int side = 0; side < 2; side++) {
            step[v] = side == 0 ? -h : h;
            sn_model_integrate(e->model, kept, step, e->poses);
            f[side] = energy_of(e);
        }
        step[v] = 0;
        double slope = (f[1] - f[0]) / (2 * h);
        worst = fmax(worst, fabs(slope - pose_slope(e, 0, v)));
        largest = fmax(largest, fabs(slope));
    }
    memcpy(e->poses, kept, e->nq * sizeof *kept);
    print_message("%s: poses, gradient off by %.1e of %.1e\n", name, worst, largest);
    assert_true(worst < 1e-5 * largest && largest > 0.1);
    free(kept);
    free(step);
}

static sn_recording *made_markers(const sn_model *model, int nframe, sn_motion **out,
                                  uint64_t *random) {
    const char *labels[8];
    int m = sn_model_nmarker(model);
    sn_recording_info info = {.nframe = nframe, .nmarker = m, .rate = 100, .metres_per_unit = 1};
    sn_recording *recording;
    sn_fit_place at;
    for (int i = 0; i < m; i++) labels[i] = sn_model_marker(model, i)->name;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &recording, NULL), SN_OK);
    assert_int_equal(sn_motion_create(nframe, sn_model_nq(model), 1, 100, NULL, out, NULL), SN_OK);
    assert_int_equal(sn_fit_place_open(&at, model, NULL), SN_OK);
    for (int f = 0; f < nframe; f++) {
        double *q = sn_motion_edit(*out, f);
        sn_model_zero(model, q);
        for (int i = 0; i < sn_model_nq(model); i++) q[i] += uniform(random, -0.3, 0.3);
        sn_model_normalize(model, q);
        assert_int_equal(sn_workspace_pose(at.workspace, q), SN_OK);
        for (int i = 0; i < m; i++) {
            const sn_marker_desc *d = sn_model_marker(model, i);
            sn_vec3 p = sn_workspace_point(at.workspace, d->joint, d->position);
            double *x = sn_recording_edit(recording, f) + 3 * i;
            x[0] = p.x, x[1] = p.y, x[2] = p.z;
        }
    }
    sn_fit_place_close(&at, NULL);
    return recording;
}

static void check_normal(bool framed) {
    uint64_t random = 11;
    sn_model *model = small_figure(framed);
    sn_motion *motion;
    sn_recording *recording = made_markers(model, 4, &motion, &random);
    const int column[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const sn_fit_input input = {.model = model,
                                .recording = recording,
                                .column = column,
                                .axes = sn_axis_map_identity(),
                                .count = 4};
    const double doubt[8] = {0.01, 0.02, 0.03, 0.2, 0.01, 0.02, 0.2, 0.05};
    const sn_known_length known[] = {{"l_leg", 0.43}, {"hip", 0.2}};
    sn_posture_prior posture = {0};
    assert_int_equal(sn_posture_find(model, NULL, NULL, &posture), SN_OK);
    posture.upper[7] = 0.05;
    // one that is let go far from rest, and one whose posture lasts
    posture.rest[6] = 0.4, posture.far[6] = 0.2;
    posture.rest[7] = 0.4, posture.lasts[7] = 1;
    sn_estimate_options o = sn_estimate_options_default();
    o.take = &input;
    o.asked.scale = true;
    o.asked.doubt = doubt;
    o.home = posture.home, o.home_v = posture.home_v;
    o.rest = posture.rest, o.still_rest = posture.still;
    o.far = posture.far, o.lasts = posture.lasts;
    o.lower = posture.lower, o.upper = posture.upper;
    o.asked.lengths = known, o.asked.nlength = 2;
    sn_estimate e;
    assert_int_equal(sn_estimate_open(&e, &o, NULL, NULL), SN_OK);
    assert_int_equal(e.nlength, 2);
    assert_int_equal(sn_estimate_start(&e, NULL), SN_OK);
    assert_int_equal(e.nframe, 4);
    assert_int_equal(e.nbody, framed ? 4 : 5);
    // poses are pulled home by how sure the posture is of each coordinate
    sn_problem *pulled;
    double pull[32];
    int pulls = 0;
    assert_true(e.nv <= 32);
    assert_int_equal(sn_estimate_problem(&e, e.model, &pulled, pull, NULL), SN_OK);
    for (size_t v = 0; v < e.nv; v++) {
        const double sure = posture.rest[v], sigma = e.o.sigma;
        const bool held = isfinite(sure) && sure > 0;
        assert_near(pull[v], held ? sigma * sigma / (sure * sure) : 0, 1e-15);
        pulls += held && fabs(sure - 1) > 0.1;
    }
    assert_true(pulls > 0);
    sn_problem_destroy(pulled);
    check_slopes(framed ? "small figure with frames" : "small figure", &e, &random);

    // the matrix: where nothing is left over, second differences of the energy along random shapes
    e.nlength = 0;
    memset(e.x, 0, e.n * sizeof *e.x);
    memset(e.mean, 0, 3 * (size_t)e.nbody * sizeof *e.mean);
    for (int k = 0; k < 4; k++)
        memcpy(e.poses + (size_t)k * e.nq, sn_motion_frame(motion, k), e.nq * sizeof *e.poses);
    for (int round = 0; round < 5; round++) {
        slopes s = {0};
        double *d = s.d, want = 0, h = 1e-4, f[3];
        for (size_t i = 0; i < e.n; i++) d[i] = uniform(&random, -1, 1);
        find_slopes(&e, &s);
        for (size_t i = 0; i < e.n; i++)
            for (size_t j = 0; j < e.n; j++)
                want += d[i] * d[j] * e.S[i <= j ? i * e.n + j : j * e.n + i];
        for (int k = 0; k < e.nframe; k++) want += s.curve[k];
        for (int k = 0; k < 3; k++) {
            for (size_t i = 0; i < e.n; i++) e.x[i] = (k - 1) * h * d[i];
            f[k] = energy_of(&e);
        }
        memset(e.x, 0, e.n * sizeof *e.x);
        double second = (f[0] - 2 * f[1] + f[2]) / (h * h);
        assert_true(fabs(second - want) < 1e-4 * fabs(want));
    }

    // a place alone: known beforehand as far as it is about right, and let go by far
    double at_rest, f;
    memset(e.use, 0, (size_t)e.nmarker * sizeof *e.use);
    at_rest = energy_of(&e);
    for (int i = 0; i < e.nmarker; i++) {
        e.x[3 * i + i % 3] = -doubt[i];
        f = energy_of(&e) - at_rest;
        assert_true(f > 0.98 * 0.5 && f < 0.5);
        double far = 0.19 / doubt[i];
        e.x[3 * i + i % 3] = 0.19;
        f = energy_of(&e) - at_rest;
        assert_near(f, 18 * log1p(far * far / 36), 1e-9 * f);
        // no place is off the body: it is held there as it was at rest
        double more = 0.5 / doubt[i], h = 1e-6, up;
        e.x[3 * i + i % 3] = 0.5;
        assert_true(energy_of(&e) - at_rest > 0.4 * more * more);
        assert_int_equal(sn_estimate_normal(&e, 0, NULL), SN_OK);
        double slope = e.g[3 * i + i % 3];
        e.x[3 * i + i % 3] = 0.5 + h;
        up = energy_of(&e);
        e.x[3 * i + i % 3] = 0.5 - h;
        assert_near((up - energy_of(&e)) / (2 * h), slope, 1e-6 * slope);
        e.x[3 * i + i % 3] = 0;
    }
    sn_estimate_close(&e);
    sn_release(NULL, posture.home);
    sn_motion_destroy(motion);
    sn_recording_destroy(recording);
    sn_model_destroy(model);
}

static void normal_equations(void **unused) {
    (void)unused;
    check_normal(false);
    check_normal(true);
}

// --- the beginning and the end -------------------------------------------------------------------------

static const double doubts[8] = {0.01, 0.02, 0.03, 0.2, 0.01, 0.02, 0.2, 0.05};

static sn_estimate_options options_of(const sn_fit_input *input, const sn_posture_prior *posture) {
    sn_estimate_options o = sn_estimate_options_default();
    o.take = input;
    o.asked.doubt = doubts;
    o.home = posture->home, o.home_v = posture->home_v;
    o.rest = posture->rest, o.still_rest = posture->still;
    o.far = posture->far, o.lasts = posture->lasts;
    o.lower = posture->lower, o.upper = posture->upper;
    return o;
}

// One frame of a take of five, where all see as much: the one in the middle, the first of two. Every sample counts.
static void first_frames(void **unused) {
    (void)unused;
    uint64_t random = 5;
    sn_model *model = small_figure(false);
    const int column[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    sn_posture_prior posture = {0};
    assert_int_equal(sn_posture_find(model, NULL, NULL, &posture), SN_OK);
    for (int count = 5; count < 8; count++) {
        sn_motion *motion;
        sn_recording *recording = made_markers(model, count, &motion, &random);
        const sn_fit_input input = {.model = model,
                                    .recording = recording,
                                    .column = column,
                                    .axes = sn_axis_map_identity(),
                                    .count = count};
        sn_estimate_options o = options_of(&input, &posture);
        o.asked.frames = 1;
        sn_estimate e;
        assert_int_equal(sn_estimate_open(&e, &o, NULL, NULL), SN_OK);
        for (int i = 0; i < 8; i++) e.trust[i] = 0;
        assert_int_equal(sn_estimate_start(&e, NULL), SN_OK);
        assert_int_equal(e.nframe, 1);
        assert_int_equal(e.frame[0], count / 2);
        for (int i = 0; i < 8; i++) assert_true(e.trust[i] == 1);
        sn_estimate_close(&e);
        sn_motion_destroy(motion);
        sn_recording_destroy(recording);
    }
    sn_release(NULL, posture.home);
    sn_model_destroy(model);
}

// What a posture that lasts counts for goes with the take's length, up to ten seconds; one that is let go counts as any near
// rest, and far from it hardly more than there.
static void postures(void **unused) {
    (void)unused;
    static const struct {
        int count;
        double rate, lasting;
    } takes[] = {{150, 100, 2.5 / 11}, {150, 10, 1}, {900, 100, 10.0 / 11}, {12, 0, 1.1 / 11}};
    uint64_t random = 5;
    sn_model *model = small_figure(false);
    const int column[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    sn_posture_prior posture = {0};
    assert_int_equal(sn_posture_find(model, NULL, NULL, &posture), SN_OK);
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
        sn_motion *motion;
        sn_recording *made = made_markers(model, takes[i].count, &motion, &random), *recording;
        sn_recording_info info = *sn_recording_about(made);
        const char *labels[8];
        for (int m = 0; m < info.nmarker; m++) labels[m] = sn_recording_label(made, m);
        info.rate = takes[i].rate;
        assert_int_equal(sn_recording_create(&info, labels, NULL, &recording, NULL), SN_OK);
        for (int f = 0; f < info.nframe; f++)
            memcpy(sn_recording_edit(recording, f), sn_recording_frame(made, f),
                   3 * (size_t)info.nmarker * sizeof(double));
        const sn_fit_input input = {.model = model,
                                    .recording = recording,
                                    .column = column,
                                    .axes = sn_axis_map_identity(),
                                    .count = takes[i].count};
        // the same pose, and energies that differ by what one dof's pull counts for
        const size_t v = 6;
        double energy[4];
        for (int kind = 0; kind < 4; kind++) {
            posture.rest[v] = kind == 0 ? INFINITY : 0.5;
            posture.lasts[v] = kind == 2;
            posture.far[v] = kind == 3 ? 0.2 : 0;
            sn_estimate_options o = options_of(&input, &posture);
            o.asked.frames = 1;
            sn_estimate e;
            assert_int_equal(sn_estimate_open(&e, &o, NULL, NULL), SN_OK);
            assert_int_equal(sn_estimate_start(&e, NULL), SN_OK);
            assert_true(fabs(e.lasting - takes[i].lasting) < 1e-12);
            memcpy(e.poses, posture.home, e.nq * sizeof *e.poses);
            double step[32] = {0};
            assert_true(e.nv <= 32);
            step[v] = 1;
            sn_model_integrate(model, posture.home, step, e.poses);
            assert_int_equal(sn_estimate_energy(&e, e.x, e.poses, &energy[kind], NULL), SN_OK);
            sn_estimate_close(&e);
        }
        const double plain = energy[1] - energy[0];
        assert_true(plain > 0.1);
        assert_true(fabs((energy[2] - energy[0]) / plain - takes[i].lasting) < 1e-6);
        // 0.2^2 log(1 + 25) over Huber's at 0.1
        assert_true(fabs((energy[3] - energy[0]) / plain - 0.1303 / 0.1810) < 1e-3);
        sn_recording_destroy(recording);
        sn_motion_destroy(motion);
        sn_recording_destroy(made);
    }
    sn_release(NULL, posture.home);
    sn_model_destroy(model);
}

// Skin slides as joints turn: a sample counts for less by the joint of the marker's bone and the nearest that hangs on
// it, by no other, and a marker's samples count for as much together as before.
static void samples_far_from_rest(void **unused) {
    (void)unused;
    uint64_t random = 8;
    const double angle = 0.8, chord = 2 * sin(angle / 2);
    const int column[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int framed = 0; framed < 2; framed++) {
        sn_model *model = small_figure(framed);
        sn_motion *motion;
        sn_recording *recording = made_markers(model, 3, &motion, &random);
        const sn_fit_input input = {.model = model,
                                    .recording = recording,
                                    .column = column,
                                    .axes = sn_axis_map_identity(),
                                    .count = 3};
        sn_posture_prior posture = {0};
        assert_int_equal(sn_posture_find(model, NULL, NULL, &posture), SN_OK);
        sn_estimate_options o = options_of(&input, &posture);
        o.asked.frames = 3;
        sn_estimate e;
        assert_int_equal(sn_estimate_open(&e, &o, NULL, NULL), SN_OK);
        assert_int_equal(sn_estimate_start(&e, NULL), SN_OK);
        assert_int_equal(e.nframe, 3);
        // at rest; a foot turned; both legs turned
        for (int k = 0; k < 3; k++) memcpy(e.bent + (size_t)k * e.nq, o.home, e.nq * sizeof *e.x);
        const int l_leg = sn_model_find_joint(model, "l_leg"),
                  r_leg = sn_model_find_joint(model, "r_leg"),
                  l_foot = sn_model_find_joint(model, "l_foot");
        e.bent[1 * e.nq + (size_t)sn_model_q_index(model, l_foot)] += angle;
        e.bent[2 * e.nq + (size_t)sn_model_q_index(model, l_leg)] += angle;
        e.bent[2 * e.nq + (size_t)sn_model_q_index(model, r_leg)] -= angle;
        for (int i = 0; i < 24; i++) e.trust[i] = 0.5;
        e.sliding = 0.7;
        assert_int_equal(sn_estimate_slide(&e, NULL), SN_OK);
        // with frames r_leg belongs to the hip, and its turn is the foot's
        const double foot = framed ? 1 : 0;
        const double turned[8][2] = {{0, 1}, {0, 1},    {0, 1},    {1, 1},
                                     {1, 0}, {0, foot}, {0, foot}, {0, 1}};
        for (int i = 0; i < 8; i++) {
            const double rest = e.trust[i];
            // half as much at this angle
            const double half = 2 * sin(sn_bent_of_name("a") / 2 * acos(-1) / 180);
            assert_near(rest + e.trust[8 + i] + e.trust[16 + i], 1.5, 1e-12);
            assert_true(half > 0);
            for (int k = 0; k < 2; k++)
                assert_near(rest / e.trust[8 * (k + 1) + i],
                            1 + 0.7 * 0.7 * pow(chord / half, 6) * turned[i][k], 1e-12);
        }
        // with a static trial, or where no skin moves, all count alike
        for (int still = 0; still < 2; still++) {
            e.o.asked.still = still ? &input : NULL;
            e.sliding = still ? 0.7 : 0;
            for (int i = 0; i < 24; i++) e.trust[i] = 0.5;
            assert_int_equal(sn_estimate_slide(&e, NULL), SN_OK);
            for (int i = 0; i < 24; i++) assert_true(e.trust[i] == 0.5);
        }
        sn_estimate_close(&e);
        sn_release(NULL, posture.home);
        sn_motion_destroy(motion);
        sn_recording_destroy(recording);
        sn_model_destroy(model);
    }
}

// How sure it is of the places is the inverse of its normal equations, and never less than it was before.
static void covariances(void **unused) {
    (void)unused;
    uint64_t random = 6;
    sn_model *model = small_figure(false);
    sn_motion *motion;
    sn_recording *recording = made_markers(model, 6, &motion, &random);
    const int column[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const sn_fit_input input = {.model = model,
                                .recording = recording,
                                .column = column,
                                .axes = sn_axis_map_identity(),
                                .count = 6};
    sn_posture_prior posture = {0};
    assert_int_equal(sn_posture_find(model, NULL, NULL, &posture), SN_OK);
    sn_estimate_options o = options_of(&input, &posture);
    o.asked.frames = 6;
    o.asked.scale = true;
    sn_estimate e;
    sn_take_sure sure[18];
    int count;
    assert_int_equal(sn_estimate_open(&e, &o, NULL, NULL), SN_OK);
    assert_int_equal(sn_estimate_start(&e, NULL), SN_OK);
    assert_int_equal(sn_estimate_improve(&e, 3, 1e-9, NULL), SN_OK);
    assert_int_equal(sn_estimate_normal(&e, 0, NULL), SN_OK);
    const size_t n = e.n;
    double *S = malloc(n * n * sizeof *S), off = 0;
    assert_non_null(S);
    memcpy(S, e.S, n * n * sizeof *S);
    assert_int_equal(sn_estimate_sure(&e, sure, &count, NULL), SN_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += S[i <= k ? i * n + k : k * n + i] * e.S[k * n + j];
            off = fmax(off, fabs(sum - (i == j)));
        }
    print_message("%d numbers: covariance times precision is off 1 by %.1e\n", (int)n, off);
    assert_true(off < 1e-7);
    assert_true(count > 8);
    for (int i = 0; i < count; i++) {
        assert_true(sure[i].sigma > 0 && sure[i].sigma <= 1.0001 * sure[i].before);
        if (sure[i].kind != SN_SURE_PLACE) continue;
        double sum = 0;
        for (size_t c = 0; c < 3; c++) sum += e.S[(3 * (size_t)sure[i].index + c) * (n + 1)] / 3;
        assert_near(sure[i].sigma, sqrt(sum), 1e-12);
    }
    free(S);
    sn_estimate_close(&e);
    sn_release(NULL, posture.home);
    sn_motion_destroy(motion);
    sn_recording_destroy(recording);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_equations), cmocka_unit_test(first_frames),
        cmocka_unit_test(postures),         cmocka_unit_test(samples_far_from_rest),
        cmocka_unit_test(covariances),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
