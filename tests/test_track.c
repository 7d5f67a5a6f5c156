// SPDX-License-Identifier: MIT
// Whole clips: the same bits for any number of threads, frames with missing goals, frames that must be
// tried again, failures passed on; rotations to Euler angles, which the restarts use.
#include <limits.h>

#include "batch/batch.h"
#include "model/model.h"
#include "support.h"
#include "track/tracker.h"

enum { FRAMES = 300 };

// Tasks of other kinds than plain points, and the joint that they are on.
enum { PLANE, DIRECTION, ORIENTATION, POSE, FRAME2, MATRIX, KINDS };
static int joint_of(const sn_model *model, int kind) {
    return (5 * kind + 3) % sn_model_njoint(model);
}

typedef struct motion {
    sn_model *model;
    int nq, nmarker;
    double *truth;     // FRAMES x nq
    double *goals;     // FRAMES x nmarker x 3
    sn_frame *frames;  // FRAMES x KINDS: of the joints that other tasks are on
    double missing;    // share of goals left out
    int fail_at;       // frame whose goals cannot be set, -1 for none
    int heavy;         // every so many frames a marker weighs twice, 0 for never
    bool mixed;        // tasks of all kinds behind the markers, of which some have a loss
} motion;

// The humanoid waving all its joints, markers with 2 mm of noise.
static motion make_motion(void) {
    motion m = {.fail_at = -1};
    sn_problem *problem;
    sn_workspace *ws;
    uint64_t state = 3;
    assert_int_equal(sn_model_humanoid(NULL, &m.model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(m.model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    m.nq = sn_model_nq(m.model);
    m.nmarker = sn_model_nmarker(m.model);
    m.truth = calloc((size_t)(FRAMES * m.nq), sizeof *m.truth);
    m.goals = calloc((size_t)(FRAMES * m.nmarker * 3), sizeof *m.goals);
    m.frames = calloc((size_t)(FRAMES * KINDS), sizeof *m.frames);
    for (int f = 0; f < FRAMES; f++) {
        double *q = m.truth + f * m.nq;
        sn_model_zero(m.model, q);
        q[0] = 0.01 * f;
        for (int i = 7; i < m.nq; i++) q[i] = 0.25 * sin(0.05 * f + i);
        (void)sn_model_clamp(m.model, q);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int i = 0; i < KINDS; i++)
            m.frames[f * KINDS + i] = sn_workspace_frame(ws, joint_of(m.model, i));
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
    free(m->frames);
}

// The markers, and where `mixed` a light task of each kind on some joint.
static sn_problem *make_problem(const motion *m) {
    static const sn_task_type types[KINDS] = {SN_TASK_PLANE, SN_TASK_DIRECTION, SN_TASK_ORIENTATION,
                                              SN_TASK_POSE,  SN_TASK_FRAME2,    SN_TASK_POINT};
    sn_problem *markers, *all;
    sn_task extra[KINDS];
    assert_int_equal(sn_problem_create_markers(m->model, NULL, &markers, NULL), SN_OK);
    if (!m->mixed) return markers;
    for (int i = 0; i < KINDS; i++) {
        extra[i] = sn_task_default(types[i]);
        extra[i].joint = joint_of(m->model, i);
        extra[i].weight = extra[i].rotation_weight = 0.02;
        extra[i].local[0] = 0.1;
        extra[i].normal[1] = 1;
    }
    extra[FRAME2].rotation_weight = 1e-4;  // its axes stay as they are
    extra[MATRIX].has_matrix = true;
    for (int i = 0; i < 3; i++) extra[MATRIX].matrix[4 * i] = 1 + i;
    assert_int_equal(sn_problem_copy(markers, extra, KINDS, NULL, &all, NULL), SN_OK);
    for (int i = 0; i < m->nmarker; i += 3)
        assert_int_equal(sn_problem_set_loss(all, i, SN_LOSS_HUBER, 0.003), SN_OK);
    sn_problem_destroy(markers);
    return all;
}

static void to_quaternion(const sn_mat3 *R, double q[4]) {
    const double x[3][3] = {{R->c[0].x, R->c[1].x, R->c[2].x},
                            {R->c[0].y, R->c[1].y, R->c[2].y},
                            {R->c[0].z, R->c[1].z, R->c[2].z}};
    const double trace = x[0][0] + x[1][1] + x[2][2];
    int k = 0;
    for (int i = 1; i < 3; i++) k = x[i][i] > x[k][k] ? i : k;
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    q[0] = trace > 0 ? 1 + trace : x[b][a] - x[a][b];
    q[1 + k] = trace > 0 ? x[b][a] - x[a][b] : 1 + x[k][k] - x[a][a] - x[b][b];
    q[1 + a] = trace > 0 ? x[k][b] - x[b][k] : x[a][k] + x[k][a];
    q[1 + b] = trace > 0 ? x[a][k] - x[k][a] : x[b][k] + x[k][b];
}

// Goals of those, and one of them that is now and then missing.
static sn_status set_mixed(const motion *m, int frame, sn_problem *problem) {
    for (int i = 0; i < KINDS; i++) {
        const int task = m->nmarker + i;
        const sn_frame *at = &m->frames[frame * KINDS + i];
        const sn_vec3 x = i == DIRECTION ? at->R.c[0] : at->p;
        double turn[4];
        to_quaternion(&at->R, turn);
        if (i == ORIENTATION || i == POSE) SN_TRY(sn_problem_set_rotation(problem, task, turn));
        if (i != ORIENTATION)
            SN_TRY(sn_problem_set_goal(problem, task, (const double[3]){x.x, x.y, x.z}));
    }
    return sn_problem_set_missing(problem, m->nmarker + frame % KINDS, frame % 4 == 0);
}

static sn_status set_goals(void *user, int frame, sn_problem *problem) {
    const motion *m = user;
    if (frame == m->fail_at) return SN_ERR_VALUE;
    for (int i = 0; i < m->nmarker; i++) {
        uint64_t state = (uint64_t)(frame * 1000 + i);
        SN_TRY(sn_problem_set_goal(problem, i, m->goals + 3 * (frame * m->nmarker + i)));
        if (sn_random(&state) < m->missing) SN_TRY(sn_problem_set_missing(problem, i, true));
    }
    if (m->heavy > 0) SN_TRY(sn_problem_set_weight(problem, 3, frame % m->heavy == 0 ? 2 : 1));
    return m->mixed ? set_mixed(m, frame, problem) : SN_OK;
}

static sn_status track(motion *m, int threads, int chunk, double *q, sn_track_frame *frames) {
    sn_problem *problem;
    sn_tracker *tracker;
    sn_track_options o = sn_track_options_default();
    o.threads = threads;
    o.chunk = chunk;
    assert_int_equal(sn_problem_create_markers(m->model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker, NULL), SN_OK);
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
    for (int i = sampled() ? 2 : 0; i < 3; i++) {
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
        sn_status status = sn_tracker_create(problem, &o, &a.base, &tracker, NULL);
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
    assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker, NULL), SN_ERR_ARGUMENT);
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

// Chunks of any length, also the longest there is: every frame is written, with the same bits as in one
// chunk of just their number.
static void long_chunks(void **unused) {
    (void)unused;
    motion m = make_motion();
    size_t bytes = (size_t)(FRAMES * m.nq) * sizeof(double);
    double *just = malloc(bytes), *q = malloc(bytes);
    assert_int_equal(track(&m, 1, FRAMES, just, NULL), SN_OK);
    static const int chunks[] = {FRAMES + 1, 1 << 30, INT_MAX - 1, INT_MAX};
    for (int i = 0; i < 4; i++) {
        memset(q, 0xff, bytes);
        assert_int_equal(track(&m, 1 + i % 2, chunks[i], q, NULL), SN_OK);
        assert_memory_equal(q, just, bytes);
    }
    // and ends just beyond the last frame: then there are two, which are solved side by side
    memset(q, 0xff, bytes);
    assert_int_equal(track(&m, 1, FRAMES - 1, q, NULL), SN_OK);
    for (int i = 0; i < (FRAMES - 1) * m.nq; i++) assert_near(q[i], just[i], 1e-10);
    free(just);
    free(q);
    free_motion(&m);
}

static void look_on(void *user, const sn_trace *trace) {
    (void)trace;
    ++*(long *)user;
}

// The same with somebody who looks at every iteration, which wants the plain solver, or in pieces of `count` frames.
static void track_as(motion *m, long *looks, int chunk, int count, double *q,
                     sn_track_frame *frames) {
    sn_problem *problem = make_problem(m);
    sn_tracker *tracker;
    sn_track_options o = sn_track_options_default();
    o.chunk = chunk;
    o.threads = looks == NULL ? 2 : 1;
    if (looks != NULL) o.solver.trace = look_on, o.solver.trace_user = looks;
    assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker, NULL), SN_OK);
    assert_int_equal(sn_tracker_begin(tracker, FRAMES, set_goals, m, m->truth, q, frames), SN_OK);
    if (looks == NULL && sn_batch_most_lanes() > 1) {
        // lanes take the frames as their callback leaves them
        sn_track_worker *w = &tracker->workers[0];
        assert_true(tracker->aside);
        assert_int_equal(set_goals(m, 1, w->problem), SN_OK);
        assert_true(sn_batch_row_of(tracker->batch, w->problem, tracker->batch->worker[0].numbers));
    }
    for (int solved = 0; solved < FRAMES;)
        assert_int_equal(sn_tracker_advance(tracker, count, &solved), SN_OK);
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
}

// Chunks side by side in lanes take the steps that the plain solver takes one after the other, with goals that
// are missing and weights that a frame changes, markers of a clip that jumps or tasks of all kinds; in pieces they have
// the same bits.
static void compare_ways(bool mixed, const int *chunks, int nchunk) {
    motion m = make_motion();
    m.mixed = mixed;
    size_t bytes = (size_t)(FRAMES * m.nq) * sizeof(double);
    double *plain = malloc(bytes), *q = malloc(bytes), *pieces = malloc(bytes);
    sn_track_frame *a = calloc(FRAMES, sizeof *a), *b = calloc(FRAMES, sizeof *b);
    m.missing = 0.1;
    m.heavy = 5;
    if (!mixed)
        memmove(m.goals + (size_t)(100 * m.nmarker * 3), m.goals + (size_t)(160 * m.nmarker * 3),
                (size_t)(20 * m.nmarker * 3) * sizeof *m.goals);
    for (int i = 0; i < nchunk; i++) {
        long looks = 0;
        double worst = 0, far = 0;
        bool parted = false;
        int other = 0, guessed = 0, restarted = 0, tried = 0;
        track_as(&m, &looks, chunks[i], -1, plain, a);
        track_as(&m, NULL, chunks[i], -1, q, b);
        track_as(&m, NULL, chunks[i], 17, pieces, NULL);
        assert_true(looks > FRAMES);
        assert_memory_equal(q, pieces, bytes);
        for (int f = 0; f < FRAMES; f++) {
            const sn_report *x = &a[f].report, *y = &b[f].report;
            const bool differ = x->iterations != y->iterations ||
                                x->factorizations != y->factorizations || x->stop != y->stop;
            // where rounding has a frame take another step, it and those that follow it in its chunk are as far off as
            // the bound of their gradients lets them
            parted = (parted && f % chunks[i] != 0) || differ;
            other += differ;
            double *apart = parted ? &far : &worst;
            for (int k = 0; k < m.nq; k++)
                *apart = fmax(*apart, fabs(q[f * m.nq + k] - plain[f * m.nq + k]));
            guessed += a[f].extrapolated != b[f].extrapolated;
            tried += a[f].restarted;
            restarted += a[f].restarted != b[f].restarted || a[f].kept != b[f].kept;
            assert_near(x->f, y->f, 1e-12);
            assert_near(x->worst_error, y->worst_error, parted ? 1e-6 : 1e-9);
            assert_near(x->mean_error, y->mean_error, parted ? 1e-6 : 1e-9);
            assert_int_equal(x->nlevel, y->nlevel);
        }
        print_message(
            "chunks of %d: poses %.1e apart, %d with other steps and %.1e then, %d tried again\n",
            chunks[i], worst, other, far, tried);
        assert_true(worst < 1e-10 && far < 2e-6);
        assert_true(other <= FRAMES / 100 && guessed == 0 && restarted == 0 &&
                    (mixed || tried > 0));
    }
    free(plain), free(q), free(pieces), free(a), free(b);
    free_motion(&m);
}

static void side_by_side(void **unused) {
    (void)unused;
    static const int chunks[] = {29, 7, 100};
    compare_ways(false, chunks, sampled() ? 1 : 3);
    compare_ways(true, chunks, sampled() ? 1 : 3);
}

// A search for other valleys in lanes judges its runs in the order of the moves, so it ends where the plain one ends.
static void cold_side_by_side(void **unused) {
    (void)unused;
    motion m = make_motion();
    uint64_t state = 11;
    const size_t nq = (size_t)m.nq;
    double *start = malloc(nq * sizeof *start), *q = malloc(2 * nq * sizeof *q);
    int searched = 0;
    const int count = sampled() ? 2 : 12;
    for (int n = 0; n < count; n++) {
        sn_track_frame frame[2];
        memcpy(start, m.truth, nq * sizeof *start);
        for (size_t i = 7; i < nq; i++) start[i] += uniform(&state, -2.5, 2.5);
        for (int plain = 0; plain < 2; plain++) {
            long looks = 0;
            sn_problem *problem;
            sn_tracker *tracker;
            sn_track_options o = sn_track_options_default();
            o.good = 0;
            if (plain) o.solver.trace = look_on, o.solver.trace_user = &looks;
            assert_int_equal(sn_problem_create_markers(m.model, NULL, &problem, NULL), SN_OK);
            assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker, NULL), SN_OK);
            assert_int_equal(sn_tracker_run(tracker, 1, set_goals, &m, start, q + (plain ? nq : 0),
                                            &frame[plain]),
                             SN_OK);
            sn_tracker_destroy(tracker);
            sn_problem_destroy(problem);
        }
        searched += frame[0].kept > 0;
        assert_int_equal(frame[0].kept, frame[1].kept);
        assert_near(frame[0].report.f, frame[1].report.f, 1e-9 * frame[1].report.f);
        for (size_t i = 0; i < nq; i++) assert_near(q[i], q[nq + i], 1e-6);
    }
    print_message("%d of %d found another valley\n", searched, count);
    assert_true(searched > 2 || sampled());
    free(start), free(q);
    free_motion(&m);
}

// A first frame has nothing to be compared with: one search for other valleys that finds none settles
// it, however many tries there may be.
static void first_frame_once(void **unused) {
    (void)unused;
    motion m = make_motion();
    int iterations[2];
    for (int i = 0; i < 2; i++) {
        sn_problem *problem;
        sn_tracker *tracker;
        sn_track_options o = sn_track_options_default();
        sn_track_frame frame;
        o.restarts = i == 0 ? 1 : 4;
        double *q = malloc((size_t)m.nq * sizeof *q);
        assert_int_equal(sn_problem_create_markers(m.model, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker, NULL), SN_OK);
        assert_int_equal(sn_tracker_run(tracker, 1, set_goals, &m, m.truth, q, &frame), SN_OK);
        iterations[i] = frame.report.iterations;
        assert_int_equal(frame.kept, 0);
        sn_tracker_destroy(tracker);
        sn_problem_destroy(problem);
        free(q);
    }
    assert_int_equal(iterations[0], iterations[1]);
    free_motion(&m);
}

// Valleys made to order. A slide along x with five points, each at most at 1 cm of its goal, that count
// by Cauchy's loss: where four goals are far away and one is here, here is a valley. Frames are set by
// where the four are and where the one is.
enum { LONG = 320 };

typedef struct valleys {
    double four[LONG], one[LONG];
    int count;
} valleys;

static sn_status set_valleys(void *user, int frame, sn_problem *problem) {
    const valleys *v = user;
    for (int i = 0; i < 5; i++) {
        double goal[3] = {i < 4 ? v->four[frame] : v->one[frame], 0.01, 0};
        SN_TRY(sn_problem_set_goal(problem, i, goal));
    }
    return SN_OK;
}

static void track_valleys(valleys *v, int chunk, double start, double *q, sn_track_frame *frames) {
    sn_builder *b;
    sn_model *model;
    sn_problem *problem;
    sn_tracker *tracker;
    sn_task tasks[5];
    sn_joint_desc root = sn_joint_default(SN_JOINT_FIXED),
                  slide = sn_joint_default(SN_JOINT_SLIDER);
    root.name = "root";
    slide.name = "slide";
    slide.parent = 0;
    slide.axis[0] = 1;
    slide.axis[1] = slide.axis[2] = 0;
    assert_int_equal(sn_builder_create("rail", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &root);
    (void)sn_builder_joint(b, &slide);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    for (int i = 0; i < 5; i++) {
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = 1;
        tasks[i].loss = SN_LOSS_CAUCHY;
        tasks[i].loss_scale = 0.05;
    }
    assert_int_equal(sn_problem_create(model, tasks, 5, NULL, &problem, NULL), SN_OK);
    sn_track_options o = sn_track_options_default();
    o.chunk = chunk;
    o.extrapolate = false;
    assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker, NULL), SN_OK);
    assert_int_equal(sn_tracker_run(tracker, v->count, set_valleys, v, &start, q, frames), SN_OK);
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// The figure goes from one valley to another by another try, and back: the first thing tried there is
// the valley that was left.
static void left_valley(void **unused) {
    (void)unused;
    valleys v = {.count = 20};
    double q[20];
    sn_track_frame frames[20];
    for (int f = 0; f < 20; f++) {
        v.four[f] = f < 5 || f >= 10 ? -4 : 5;
        v.one[f] = f == 5 ? -4 : f == 10 ? 5 : v.four[f];
    }
    track_valleys(&v, 100, 5, q, frames);
    for (int f = 0; f < 20; f++) assert_near(q[f], v.four[f], 0.01);
    assert_int_equal(frames[4].kept, 0);
    assert_int_equal(frames[5].kept, 1);  // the start
    assert_int_equal(frames[10].kept, 1);
}

// What a chunk left is nothing to another: its frames have the same bits whatever the first one met. There are more
// chunks than are solved side by side, so that some go on where others were.
static void chunks_do_not_remember(void **unused) {
    (void)unused;
    valleys v = {.count = LONG};
    static double q[2][LONG];
    static sn_track_frame frames[2][LONG];
    for (int way = 0; way < 2; way++) {
        for (int f = 0; f < LONG; f++) {
            const int at = f < 10 ? f : 10 + f % 10;
            v.four[f] = at < 3 ? -4 : at < 5 ? 2 : at < 10 ? 5 : at < 15 ? -4 : 2;
            v.one[f] = at == 15 ? -4 : way == 0 && f == 5 ? 2 : v.four[f];
        }
        track_valleys(&v, 10, 5, q[way], frames[way]);
    }
    assert_int_equal(frames[0][5].kept, 1);  // left 2 by another try, and did not in the second
    assert_int_equal(frames[1][5].kept, 0);
    assert_true(frames[0][15].restarted && frames[0][15].kept > 0);
    for (int f = 10; f < LONG; f++) {
        assert_true(q[0][f] == q[1][f]);
        assert_int_equal(frames[0][f].report.iterations, frames[1][f].report.iterations);
        assert_int_equal(frames[0][f].kept, frames[1][f].kept);
    }
}

// The same tree with its joints in another order in the file: the same motion. With a strong rest, so
// that its weights count, and levers that make them very different.
enum { LINKS = 7 };

typedef struct hand {
    const sn_model *model;
    int tip[2];
} hand;

static sn_status set_hand(void *user, int frame, sn_problem *problem) {
    (void)user;
    for (int i = 0; i < 2; i++) {
        double goal[3] = {2 + i - 0.05 * frame, 0.3 + 0.1 * frame - i, 0.02 * frame * (1 - i)};
        SN_TRY(sn_problem_set_goal(problem, i, goal));
    }
    return SN_OK;
}

static void track_hand(const int *order, double *angles) {
    // the links by their place in the tree: a wrist and two fingers of three
    static const int parent[LINKS] = {-1, 0, 1, 2, 0, 4, 5};
    static const char *const names[LINKS] = {"wrist", "a1", "a2", "a3", "b1", "b2", "b3"};
    int at[LINKS];
    sn_builder *b;
    sn_model *model;
    sn_problem *problem;
    sn_tracker *tracker;
    assert_int_equal(sn_builder_create("hand", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < LINKS; i++) at[order[i]] = i;
    for (int i = 0; i < LINKS; i++) {
        int link = order[i];
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        d.name = names[link];
        d.parent = parent[link] < 0 ? -1 : at[parent[link]];
        d.position[0] = link == 0 ? 0 : 0.2 + 0.2 * link;
        d.axis[0] = 0.1 * link;
        d.axis[1] = link % 2;
        d.axis[2] = 1;
        (void)sn_builder_joint(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_task tasks[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_POINT)};
    for (int i = 0; i < 2; i++) {
        tasks[i].joint = at[3 + 3 * i];
        tasks[i].local[0] = 0.3;
    }
    assert_int_equal(sn_problem_create(model, tasks, 2, NULL, &problem, NULL), SN_OK);
    sn_track_options o = sn_track_options_default();
    o.rest = 0.3;
    o.restarts = 0;
    double q[10 * LINKS], start[LINKS];
    for (int i = 0; i < LINKS; i++) start[i] = 0.1 + 0.05 * order[i];
    assert_int_equal(sn_tracker_create(problem, &o, NULL, &tracker, NULL), SN_OK);
    assert_int_equal(sn_tracker_run(tracker, 10, set_hand, NULL, start, q, NULL), SN_OK);
    for (int link = 0; link < LINKS; link++) angles[link] = q[9 * LINKS + at[link]];
    sn_tracker_destroy(tracker);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static void any_order_in_the_file(void **unused) {
    (void)unused;
    static const int orders[3][LINKS] = {
        {0, 1, 2, 3, 4, 5, 6}, {0, 4, 1, 5, 2, 6, 3}, {0, 4, 5, 6, 1, 2, 3}};
    double angles[3][LINKS];
    for (int i = 0; i < 3; i++) {
        track_hand(orders[i], angles[i]);
        for (int k = 0; k < LINKS; k++) assert_near(angles[i][k], angles[0][k], 1e-7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(missing_goals),
        cmocka_unit_test(tried_again),
        cmocka_unit_test(failures),
        cmocka_unit_test(euler_angles),
        cmocka_unit_test(long_chunks),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(cold_side_by_side),
        cmocka_unit_test(first_frame_once),
        cmocka_unit_test(left_valley),
        cmocka_unit_test(chunks_do_not_remember),
        cmocka_unit_test(any_order_in_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
