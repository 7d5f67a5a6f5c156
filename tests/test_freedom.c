// SPDX-License-Identifier: MIT
// Limits, locks and strengths changed on a problem do what the same numbers in a model would, to the last
// bit; and a caller's own threads leave the same bits as sinew's.
#include "support.h"

// The humanoid with other limits, locks and strengths in some of its joints.
typedef struct change {
    int joint, k;
    bool limits, locked;
    double lower, upper, strength;
} change;

static int draw_changes(const sn_model *model, uint64_t *state, change *out, int most) {
    int n = 0;
    for (int j = 0; j < sn_model_njoint(model) && n < most; j++) {
        const sn_joint_desc *d = sn_model_joint(model, j);
        for (int k = 0; k < sn_model_joint_nv(model, j) && n < most; k++) {
            if (sn_random(state) < 0.5) continue;
            change c = {.joint = j, .k = k, .strength = 1};
            c.limits =
                d->type != SN_JOINT_BALL && d->type != SN_JOINT_FREE && sn_random(state) < 0.6;
            c.lower = -0.2 - sn_random(state);
            c.upper = 0.1 + sn_random(state);
            c.locked = sn_random(state) < 0.2;
            if (sn_random(state) < 0.4) c.strength = 0.3 + sn_random(state);
            out[n++] = c;
        }
    }
    return n;
}

static sn_model *rebuilt(const sn_model *model, const change *changes, int n) {
    sn_builder *b;
    sn_model *out;
    assert_int_equal(sn_builder_create(sn_model_name(model), NULL, &b, NULL), SN_OK);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        sn_joint_desc d = *sn_model_joint(model, j);
        for (int i = 0; i < n; i++) {
            if (changes[i].joint != j) continue;
            int k = changes[i].k;
            if (changes[i].limits) d.lower[k] = changes[i].lower, d.upper[k] = changes[i].upper;
            d.locked[k] = changes[i].locked;
            d.strength[k] = changes[i].strength;
        }
        assert_int_equal(sn_builder_joint(b, &d), j);
    }
    for (int i = 0; i < sn_model_nmarker(model); i++)
        (void)sn_builder_marker(b, sn_model_marker(model, i));
    assert_int_equal(sn_builder_finish(b, &out, NULL), SN_OK);
    sn_builder_destroy(b);
    return out;
}

static void change_problem(sn_problem *problem, const sn_model *model, const change *changes,
                           int n) {
    for (int j = 0; j < sn_model_njoint(model); j++)
        for (int k = 0; k < sn_model_joint_nv(model, j); k++) {
            const sn_joint_desc *d = sn_model_joint(model, j);
            change c = {j, k, false, d->locked[k], d->lower[k], d->upper[k], d->strength[k]};
            for (int i = 0; i < n; i++)
                if (changes[i].joint == j && changes[i].k == k) {
                    c = changes[i];
                    if (!c.limits) c.lower = d->lower[k], c.upper = d->upper[k];
                }
            assert_int_equal(sn_problem_set_limits(problem, j, k, c.lower, c.upper), SN_OK);
            assert_int_equal(sn_problem_set_strength(problem, j, k, c.strength), SN_OK);
            assert_int_equal(sn_problem_set_locked(problem, j, k, c.locked), SN_OK);
        }
}

static void set_goals(const sn_model *model, uint64_t *state, sn_problem *problem) {
    uint64_t at = *state;
    double q[128];
    sn_problem *look;
    sn_workspace *ws;
    sn_model_sample(model, state, q);
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &look, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(look, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    for (int i = 0; i < sn_model_nmarker(model); i++) {
        const sn_marker_desc *m = sn_model_marker(model, i);
        sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
        assert_int_equal(sn_problem_set_goal(problem, i, (double[3]){p.x, p.y, p.z}), SN_OK);
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(look);
    *state = at;
}

static void as_rebuilt(void **unused) {
    (void)unused;
    enum { MOST = 200 };
    static const sn_method methods[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON_PCG, SN_METHOD_LBFGS,
                                        SN_METHOD_CCD, SN_METHOD_PROJECTED_GRADIENT};
    uint64_t state = 41;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    size_t bytes = (size_t)sn_model_nq(model) * sizeof(double);
    assert_true(bytes <= 128 * sizeof(double));
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        test_allocator a;
        test_allocator_begin(&a);
        sn_solver_options o = sn_solver_options_default();
        o.method = methods[i];
        o.max_iterations = 30;
        sn_problem *problem;
        sn_solver *solver;
        assert_int_equal(sn_problem_create_markers(model, &a.base, &problem, NULL), SN_OK);
        assert_int_equal(sn_solver_create(problem, &o, &a.base, &solver, NULL), SN_OK);
        assert_ptr_equal(sn_problem_model(problem), model);
        // one solver for all: what it knew of the limits before must be gone
        for (int round = 0; round < 4; round++) {
            change changes[MOST];
            int n = round == 3 ? 0 : draw_changes(model, &state, changes, MOST);
            sn_model *other = rebuilt(model, changes, n);
            sn_problem *other_problem;
            sn_solver *other_solver;
            assert_int_equal(sn_problem_create_markers(other, NULL, &other_problem, NULL), SN_OK);
            assert_int_equal(sn_solver_create(other_problem, &o, NULL, &other_solver, NULL), SN_OK);
            long made = a.calls;
            change_problem(problem, model, changes, n);
            assert_memory_equal(sn_problem_lower(problem), sn_model_lower(other),
                                (size_t)sn_model_nv(model) * sizeof(double));
            assert_memory_equal(sn_problem_gain(problem), sn_model_gain(other),
                                (size_t)sn_model_nv(model) * sizeof(double));
            set_goals(model, &state, problem);
            set_goals(model, &state, other_problem);
            (void)sn_random(&state);
            double q[128], p[128];
            sn_report r, s;
            sn_model_zero(model, q);
            memcpy(p, q, bytes);
            assert_int_equal(sn_solver_solve(solver, q, &r), SN_OK);
            assert_int_equal(sn_solver_solve(other_solver, p, &s), SN_OK);
            if (memcmp(q, p, bytes) != 0)
                fail_msg("%s, round %d: f %.17g and %.17g", sn_method_name(o.method), round, r.f,
                         s.f);
            assert_int_equal(a.calls, made);
            // a copy has them too
            sn_problem *copy;
            assert_int_equal(sn_problem_copy(problem, NULL, 0, NULL, &copy, NULL), SN_OK);
            assert_memory_equal(sn_problem_upper(copy), sn_problem_upper(problem),
                                (size_t)sn_model_nv(model) * sizeof(double));
            sn_problem_destroy(copy);
            sn_solver_destroy(other_solver);
            sn_problem_destroy(other_problem);
            sn_model_destroy(other);
        }
        sn_solver_destroy(solver);
        sn_problem_destroy(problem);
        assert_int_equal(a.live, 0);
    }
    sn_model_destroy(model);
}

static void refusals(void **unused) {
    (void)unused;
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    sn_error error;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    int root = sn_model_root(model);
    assert_int_equal(sn_problem_set_limits(problem, root, 0, 1, -1), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_limits(problem, root, 0, NAN, 1), SN_ERR_VALUE);
    assert_int_equal(sn_problem_set_limits(problem, root, 6, -1, 1), SN_ERR_ARGUMENT);
    assert_int_equal(sn_problem_set_strength(problem, root, 0, -1), SN_ERR_VALUE);
    // a quaternion takes no limits
    assert_int_equal(sn_problem_set_limits(problem, root, 4, -1, 1), SN_ERR_ARGUMENT);
    // what is out of range is named
    sn_solver_options o = sn_solver_options_default();
    o.alpha = 2;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "this option is out of range: alpha");
    assert_int_equal(sn_solver_create(NULL, NULL, NULL, &solver, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is missing: problem is NULL");
    sn_motion *motion;
    assert_int_equal(sn_motion_create(-1, 3, 1, 100, NULL, &motion, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is out of range: nframe");
    sn_problem *other;
    assert_int_equal(sn_problem_create(model, NULL, 1, NULL, &other, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is missing: tasks is NULL");
    assert_int_equal(sn_problem_create(model, NULL, -1, NULL, &other, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is out of range: ntask");
    assert_int_equal(sn_problem_copy(problem, NULL, 1, NULL, &other, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is missing: extra is NULL");
    assert_int_equal(sn_problem_copy(problem, NULL, -1, NULL, &other, &error), SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is out of range: nextra");
    sn_recording *recording;
    static const char *const labels[] = {"Ann:LFHD"};
    const sn_recording_info about = {.nframe = 1, .nmarker = 1, .rate = 100};
    sn_subject who;
    int count;
    assert_int_equal(sn_recording_create(&about, labels, NULL, &recording, NULL), SN_OK);
    assert_int_equal(sn_take_subjects(model, recording, NULL, &who, -1, &count, &error),
                     SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is out of range: room");
    assert_int_equal(sn_take_subjects(model, recording, NULL, NULL, 1, &count, &error),
                     SN_ERR_ARGUMENT);
    assert_string_equal(error.text, "an argument is missing: out is NULL");
    sn_recording_destroy(recording);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// A pool that runs the jobs backwards on the calling thread.
static void backwards(void *user, int njob, void (*job)(void *job_user, int i), void *job_user) {
    *(int *)user += 1;
    for (int i = njob - 1; i >= 0; i--) job(job_user, i);
}

static sn_status some_goals(void *user, int frame, sn_problem *problem) {
    (void)user;
    sn_status status = SN_OK;
    for (int i = 0; i < 7 && status == SN_OK; i++)
        status = sn_problem_set_goal(problem, i, (double[3]){0.01 * frame, 1 + 0.1 * i, 0.1});
    return status;
}

static void own_threads(void **unused) {
    (void)unused;
    enum { FRAMES = 60 };
    sn_model *model;
    sn_problem *problem;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    size_t nq = (size_t)sn_model_nq(model);
    double *q[2] = {calloc(FRAMES * nq, sizeof(double)), calloc(FRAMES * nq, sizeof(double))};
    double start[128];
    sn_model_zero(model, start);
    int calls = 0;
    for (int pooled = 0; pooled < 2; pooled++) {
        sn_track_options o = sn_track_options_default();
        o.threads = 3;
        o.chunk = 10;
        if (pooled) o.pool = (sn_threads){backwards, &calls};
        sn_tracker *t;
        assert_int_equal(sn_tracker_create(problem, &o, NULL, &t, NULL), SN_OK);
        assert_int_equal(sn_tracker_run(t, FRAMES, some_goals, NULL, start, q[pooled], NULL),
                         SN_OK);
        sn_tracker_destroy(t);
    }
    assert_true(calls > 0);
    assert_memory_equal(q[0], q[1], FRAMES * nq * sizeof(double));
    free(q[0]);
    free(q[1]);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// A model that cannot move has a pose of no numbers, in a copy too.
static void no_coordinates(void **unused) {
    (void)unused;
    uint64_t state = 3;
    sn_model *model = random_model(&state, 3, SN_JOINT_FIXED);
    assert_int_equal(sn_model_nq(model), 0);
    const double none[1] = {0};
    sn_task t[2] = {sn_task_default(SN_TASK_POSTURE), sn_task_default(SN_TASK_REST)};
    t[0].q = t[1].q = none;
    sn_problem *problem, *copy;
    sn_error error = {0};
    if (sn_problem_create(model, t, 2, NULL, &problem, &error) != SN_OK) fail_msg("%s", error.text);
    if (sn_problem_copy(problem, NULL, 0, NULL, &copy, &error) != SN_OK) fail_msg("%s", error.text);
    sn_problem_destroy(copy);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_coordinates),
                                       cmocka_unit_test(as_rebuilt), cmocka_unit_test(refusals),
                                       cmocka_unit_test(own_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
