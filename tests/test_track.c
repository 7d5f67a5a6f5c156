// SPDX-License-Identifier: MIT
// Whole clips: the same bits for any number of threads, frames with missing goals, frames that must be
// tried again, failures passed on; rotations to Euler angles, which the restarts use.
#include "model/model.h"
#include "support.h"

enum { FRAMES = 300 };

typedef struct motion {
    sn_model *model;
    int nq, nmarker;
    double *truth;   // FRAMES x nq
    double *goals;   // FRAMES x nmarker x 3
    double missing;  // share of goals left out
    int fail_at;     // frame whose goals cannot be set, -1 for none
} motion;

// The humanoid waving all its joints, markers with 2 mm of noise.
static motion make_motion(void) {
    motion m = {.fail_at = -1};
    sn_problem *problem;
    sn_workspace *ws;
    uint64_t state = 3;
    assert_int_equal(sn_model_humanoid(NULL, &m.model), SN_OK);
    assert_int_equal(sn_problem_create_markers(m.model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws), SN_OK);
    m.nq = sn_model_nq(m.model);
    m.nmarker = sn_model_nmarker(m.model);
    m.truth = calloc((size_t)(FRAMES * m.nq), sizeof *m.truth);
    m.goals = calloc((size_t)(FRAMES * m.nmarker * 3), sizeof *m.goals);
    for (int f = 0; f < FRAMES; f++) {
        double *q = m.truth + f * m.nq;
        sn_model_zero(m.model, q);
        q[0] = 0.01 * f;
        for (int i = 7; i < m.nq; i++) q[i] = 0.25 * sin(0.05 * f + i);
        (void)sn_model_clamp(m.model, q);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int i = 0; i < m.nmarker; i++) {
            const sn_task *t = sn_problem_task(problem, i);
            sn_vec3 x = sn_workspace_point(ws, t->joint, t->local);
            double *g = m.goals + 3 * (f * m.nmarker + i);
            g[0] = x.x + uniform(&state, -0.002, 0.002);
            g[1] = x.y + uniform(&state, -0.002, 0.002);
            g[2] = x.z + uniform(&state, -0.002, 0.002);
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return m;
}

static void free_motion(motion *m) {
    sn_model_destroy(m->model);
    free(m->truth);
    free(m->goals);
}

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    const motion *m = user;
    if (frame == m->fail_at) return SN_ERR_VALUE;
    for (int i = 0; i < m->nmarker; i++) {
        uint64_t state = (uint64_t)(frame * 1000 + i);
        SN_TRY(sn_problem_set_goal(problem, i, m->goals + 3 * (frame * m->nmarker + i)));
        if (sn_random(&state) < m->missing) SN_TRY(sn_problem_set_missing(problem, i, true));
    }
    return SN_OK;
}

static sn_status track(motion *m, int threads, int chunk, double *q, sn_track_frame *frames) {
    sn_problem *problem;
    sn_tracker *tracker;
    sn_track_options o = sn_track_options_default();
    o.threads = threads;
    o.chunk = chunk;
    assert_int_equal(sn_problem_create_markers(m->model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker), SN_OK);
    sn_problem_destroy(problem);  // the tracker has its own copies
    sn_status status = sn_tracker_run(tracker, FRAMES, set_goals, m, m->truth, q, frames);
    sn_tracker_destroy(tracker);
    return status;
}

static double mean_angle(const motion *m, const double *q) {
    double sum = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int i = 7; i < m->nq; i++) sum += fabs(q[f * m->nq + i] - m->truth[f * m->nq + i]);
    return sum / (FRAMES * (m->nq - 7));
}

static void any_number_of_threads(void **unused) {
    (void)unused;
    motion m = make_motion();
    size_t bytes = (size_t)(FRAMES * m.nq) * sizeof(double);
    double *one = malloc(bytes), *many = malloc(bytes);
    sn_track_frame frames[FRAMES];
    assert_int_equal(track(&m, 1, 40, one, frames), SN_OK);
    for (int f = 0; f < FRAMES; f++) {
        if (frames[f].report.stop != SN_STOP_MINIMUM)
            print_message("frame %d: %s after %d, gradient %.1e, f %.3e\n", f,
                          sn_stop_text(frames[f].report.stop), frames[f].report.iterations,
                          frames[f].report.gradient, frames[f].report.f);
        assert_true(frames[f].report.f < 41 * 0.5 * 3 * 0.002 * 0.002);
    }
    static const int threads[] = {2, 3, 16};
    for (int i = 0; i < 3; i++) {
        memset(many, 0, bytes);
        assert_int_equal(track(&m, threads[i], 40, many, NULL), SN_OK);
        assert_memory_equal(one, many, bytes);
    }
    free(one);
    free(many);
    free_motion(&m);
}

static void missing_goals(void **unused) {
    (void)unused;
    motion m = make_motion();
    double *q = malloc((size_t)(FRAMES * m.nq) * sizeof *q);
    m.missing = 0;
    assert_int_equal(track(&m, 2, 64, q, NULL), SN_OK);
    double whole = mean_angle(&m, q);
    m.missing = 0.3;
    assert_int_equal(track(&m, 2, 64, q, NULL), SN_OK);
    print_message("mean angle off by %.4f rad, with 30 %% of the goals missing %.4f\n", whole,
                  mean_angle(&m, q));
    assert_true(mean_angle(&m, q) < 2 * whole);
    m.missing = 1.1;  // nothing at all: the figure stays where it is
    assert_int_equal(track(&m, 1, 64, q, NULL), SN_OK);
    for (int i = 0; i < m.nq; i++) assert_near(q[(FRAMES - 1) * m.nq + i], m.truth[i], 1e-9);
    free(q);
    free_motion(&m);
}

// A clip that jumps: the frame is found again, and says that it was tried again.
static void tried_again(void **unused) {
    (void)unused;
    motion m = make_motion();
    double *q = malloc((size_t)(FRAMES * m.nq) * sizeof *q);
    sn_track_frame frames[FRAMES];
    int again = 0;
    // from frame 150 on the figure is elsewhere, turned half round
    for (int i = 150 * m.nmarker; i < FRAMES * m.nmarker; i++) {
        m.goals[3 * i] = 5 - m.goals[3 * i];
        m.goals[3 * i + 2] = -m.goals[3 * i + 2];
    }
    assert_int_equal(track(&m, 1, 1 << 20, q, frames), SN_OK);
    for (int f = 0; f < FRAMES; f++) again += frames[f].restarted;
    print_message("%d frames tried again, f before, at and after the jump %.1e %.1e %.1e\n", again,
                  frames[149].report.f, frames[150].report.f, frames[151].report.f);
    assert_true(frames[151].report.f < 10 * frames[149].report.f);
    free(q);
    free_motion(&m);
}

static void failures(void **unused) {
    (void)unused;
    motion m = make_motion();
    double *q = malloc((size_t)(FRAMES * m.nq) * sizeof *q);
    static const int at[] = {0, 40, 77, FRAMES - 1};
    for (int i = 0; i < 4; i++) {
        m.fail_at = at[i];
        assert_int_equal(track(&m, 3, 40, q, NULL), SN_ERR_VALUE);
    }
    // memory that runs out anywhere in creating
    sn_problem *problem;
    sn_tracker *tracker;
    sn_track_options o = sn_track_options_default();
    o.threads = 2;
    assert_int_equal(sn_problem_create_markers(m.model, NULL, &problem, NULL), SN_OK);
    for (long n = 0;; n++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_tracker_create(problem, &o, &a.base, &tracker);
        if (status == SN_OK) {
            sn_tracker_destroy(tracker);
            assert_int_equal(a.live, 0);
            break;
        }
        assert_int_equal(status, SN_ERR_MEMORY);
        assert_null(tracker);
        assert_int_equal(a.live, 0);
    }
    o.threads = 0;
    assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker), SN_ERR_ARGUMENT);
    sn_problem_destroy(problem);
    free(q);
    free_motion(&m);
}

// All 12 orders, also at gimbal lock.
static void euler_angles(void **unused) {
    (void)unused;
    uint64_t state = 8;
    double worst = 0;
    static const char orders[12][4] = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX",
                                       "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"};
    for (int n = 0; n < 1200; n++) {
        sn_joint joint = {.ops = sn_joint_ops_of(SN_JOINT_EULER), .type = SN_JOINT_EULER, .nv = 3};
        for (int i = 0; i < 3; i++) joint.order[i] = orders[n % 12][i] - 'X';
        double q[3], back[3];
        for (int i = 0; i < 3; i++) q[i] = uniform(&state, -3, 3);
        if (n % 5 == 0) q[1] = n % 12 < 6 ? 1.5707963267948966 : 0;
        sn_mat3 R = sn_joint_rotation(&joint, q);
        assert_true(sn_joint_set_rotation(&joint, &R, back));
        sn_mat3 again = sn_joint_rotation(&joint, back);
        for (int i = 0; i < 9; i++)
            worst = fmax(worst, fabs((&R.c[i / 3].x)[i % 3] - (&again.c[i / 3].x)[i % 3]));
    }
    assert_true(worst < 1e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads), cmocka_unit_test(missing_goals),
        cmocka_unit_test(tried_again),           cmocka_unit_test(failures),
        cmocka_unit_test(euler_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
