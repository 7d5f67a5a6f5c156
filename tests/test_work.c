// SPDX-License-Identifier: MIT
// How much work solves are, and how good fits: constants and shortcuts that hardly change a result change this.
// work.txt has the figures of every kind of problem: goals that are met (or minima found), iterations, poses,
// factorizations. One percent more work, or fewer met, is a failure. Where a change is meant, SINEW_RECORD=1 writes the
// file anew (run all of it); `git diff` then shows what it costs.
#include "arms.h"
#include "batch/kernels.h"
#include "takes.h"
#include "ties.h"

enum { PROBLEMS = 40 };

typedef struct work {
    int met, iterations, poses, factorizations;
} work;

typedef struct kind {
    const char *name;
    sn_method method;
    int type;                // of joints, -1: any
    int levels;              // of tasks
    int couplings, loops;    // of the model
    bool reachable, limits;  // goals that a pose meets; limits of what is coupled
    bool cold;               // from nothing
    int guards;              // half-spaces that points must stay in
} kind;

static const kind kinds[] = {
    {"hybrid, met", SN_METHOD_HYBRID, -1, 0, 0, 0, true, false, false, 0},
    {"hybrid, out of reach", SN_METHOD_HYBRID, -1, 0, 0, 0, false, false, false, 0},
    {"newton, met", SN_METHOD_NEWTON, -1, 0, 0, 0, true, false, false, 0},
    {"newton, out of reach", SN_METHOD_NEWTON, -1, 0, 0, 0, false, false, false, 0},
    {"lm, met", SN_METHOD_LM, -1, 0, 0, 0, true, false, false, 0},
    {"lm, out of reach", SN_METHOD_LM, -1, 0, 0, 0, false, false, false, 0},
    {"newton_pcg, met", SN_METHOD_NEWTON_PCG, -1, 0, 0, 0, true, false, false, 0},
    {"newton_pcg, out of reach", SN_METHOD_NEWTON_PCG, -1, 0, 0, 0, false, false, false, 0},
    {"bfgs, hinges", SN_METHOD_BFGS, SN_JOINT_HINGE, 0, 0, 0, true, false, false, 0},
    {"lbfgs, hinges", SN_METHOD_LBFGS, SN_JOINT_HINGE, 0, 0, 0, true, false, false, 0},
    {"ncg, hinges", SN_METHOD_NCG, SN_JOINT_HINGE, 0, 0, 0, true, false, false, 0},
    {"ccd, hinges", SN_METHOD_CCD, SN_JOINT_HINGE, 0, 0, 0, true, false, false, 0},
    {"projected_gradient, hinges", SN_METHOD_PROJECTED_GRADIENT, SN_JOINT_HINGE, 0, 0, 0, true,
     false, false, 0},
    {"gauss_newton, hinges", SN_METHOD_GAUSS_NEWTON, SN_JOINT_HINGE, 0, 0, 0, true, false, false,
     0},
    {"dls, hinges", SN_METHOD_DLS, SN_JOINT_HINGE, 0, 0, 0, true, false, false, 0},
    {"levels, met", SN_METHOD_HYBRID, -1, 3, 0, 0, true, false, false, 0},
    {"levels, out of reach", SN_METHOD_HYBRID, -1, 3, 0, 0, false, false, false, 0},
    {"levels, two", SN_METHOD_HYBRID, -1, 2, 0, 0, false, false, false, 0},
    {"couplings", SN_METHOD_HYBRID, -1, 0, 4, 0, true, false, false, 0},
    {"couplings, limits", SN_METHOD_HYBRID, -1, 0, 4, 0, false, true, false, 0},
    {"loops", SN_METHOD_HYBRID, -1, 0, 0, 2, true, false, false, 0},
    {"loops, limits", SN_METHOD_HYBRID, -1, 0, 2, 2, false, true, false, 0},
    {"loops, newton", SN_METHOD_NEWTON, -1, 0, 2, 1, false, false, false, 0},
    {"loops, levels", SN_METHOD_HYBRID, -1, 2, 2, 1, false, true, false, 0},
    {"cold", SN_METHOD_HYBRID, -1, 0, 0, 0, true, false, true, 0},
    {"cold, out of reach", SN_METHOD_HYBRID, -1, 0, 0, 0, false, false, true, 0},
    {"cold, loops", SN_METHOD_HYBRID, -1, 0, 1, 1, false, true, true, 0},
    {"cold, levels", SN_METHOD_HYBRID, -1, 2, 0, 0, false, false, true, 0},
    {"cold, guards", SN_METHOD_HYBRID, -1, 0, 0, 0, true, false, true, 3},
    {"guards", SN_METHOD_HYBRID, -1, 0, 0, 0, true, false, false, 3},
    {"guards, levels", SN_METHOD_HYBRID, -1, 2, 0, 0, false, false, false, 2},
    {"balls", SN_METHOD_HYBRID, SN_JOINT_BALL, 0, 0, 0, true, false, false, 0},
    {"balls, out of reach", SN_METHOD_NEWTON, SN_JOINT_BALL, 0, 0, 0, false, false, false, 0},
    {"functions", SN_METHOD_HYBRID, SN_JOINT_FUNCTION, 0, 0, 0, true, false, false, 0},
};

// A start that is as far from the goals as any pose is.
static work measure(const kind *k) {
    uint64_t state = 77;
    work sum = {0};
    for (int n = 0; n < PROBLEMS; n++) {
        sn_model *model =
            k->couplings + k->loops > 0
                ? coupled_model(&state, 4 + below(&state, 8), k->couplings, k->limits, k->loops)
                : random_model(&state, 3 + below(&state, 10), k->type);
        const int ntask = 2 + below(&state, 5), njoint = sn_model_njoint(model);
        sn_task task[12];
        sn_problem *problem;
        sn_workspace *ws;
        sn_solver *solver;
        sn_report r;
        sn_solver_options o = sn_solver_options_default();
        double *q = calloc((size_t)sn_model_nq(model) + 1, sizeof *q);
        double *goal = calloc((size_t)sn_model_nq(model) + 1, sizeof *goal);
        for (int i = 0; i < ntask; i++) {
            task[i] = sn_task_default(i % 3 == 2 ? SN_TASK_ORIENTATION : SN_TASK_POINT);
            task[i].joint = i == 0 ? njoint - 1 : below(&state, njoint);
            task[i].level = k->levels > 0 ? i % k->levels : 0;
            for (int c = 0; c < 3; c++) task[i].local[c] = uniform(&state, -0.3, 0.3);
        }
        for (int i = ntask; i < ntask + k->guards; i++) {
            task[i] = sn_task_default(SN_TASK_HALF_SPACE);
            task[i].joint = below(&state, njoint);
            for (int c = 0; c < 3; c++)
                task[i].goal[c] = uniform(&state, -1, 1),
                task[i].normal[c] = uniform(&state, -1, 1);
        }
        o.method = k->method;
        o.max_iterations = 80;
        sn_model_sample(model, &state, goal);
        sn_model_sample(model, &state, q);
        assert_int_equal(sn_problem_create(model, task, ntask + k->guards, NULL, &problem, NULL),
                         SN_OK);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_pose(ws, goal), SN_OK);
        for (int i = 0; i < ntask; i++) {
            sn_frame f = sn_workspace_frame(ws, task[i].joint);
            sn_vec3 p = sn_workspace_point(ws, task[i].joint, task[i].local);
            sn_quat turn = sn_quat_from_mat3(f.R);
            double at[3] = {p.x, p.y, p.z};
            for (int c = 0; c < 3 && !k->reachable; c++) at[c] += uniform(&state, -1, 1);
            assert_int_equal(task[i].type == SN_TASK_POINT
                                 ? sn_problem_set_goal(problem, i, at)
                                 : sn_problem_set_rotation(
                                       problem, i, (double[4]){turn.w, turn.x, turn.y, turn.z}),
                             SN_OK);
        }
        assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
        assert_int_equal(
            k->cold ? sn_solver_solve_cold(solver, q, &r) : sn_solver_solve(solver, q, &r), SN_OK);
        sum.met += k->reachable ? r.f < 1e-12 : r.stop == SN_STOP_MINIMUM || r.stop == SN_STOP_GOAL;
        sum.iterations += r.iterations;
        sum.poses += r.poses;
        sum.factorizations += r.factorizations;
        sn_solver_destroy(solver);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
        free(q), free(goal);
    }
    return sum;
}

static bool more(int now, int usual) { return now > usual + usual / 100; }

// The line of work.txt that begins with a name; and what is measured, to be written down.
static char *lines;
static FILE *record;

static int open_figures(void **unused) {
    (void)unused;
    size_t length;
    lines = slurp(SINEW_ROOT "/tests/work.txt", &length);
    if (getenv("SINEW_RECORD") != NULL) record = fopen(SINEW_ROOT "/tests/work.txt", "w");
    return 0;
}

static int close_figures(void **unused) {
    (void)unused;
    free(lines);
    return record != NULL ? fclose(record) : 0;
}

// Whether it is more than usual.
static bool is_more(const char *name, work now) {
    work usual = {0};
    const size_t n = strlen(name);
    const char *at = lines;
    while (at != NULL && (strncmp(at, name, n) != 0 || at[n] != ':'))
        at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : NULL;
    if (record != NULL)
        (void)fprintf(record, "%s: %d %d %d %d\n", name, now.met, now.iterations, now.poses,
                      now.factorizations);
    if (at == NULL || sscanf(at + n + 1, "%d %d %d %d", &usual.met, &usual.iterations, &usual.poses,
                             &usual.factorizations) != 4) {
        print_message("%s is not in work.txt\n", name);
        return true;
    }
    const bool bad = more(now.iterations, usual.iterations) || more(now.poses, usual.poses) ||
                     more(now.factorizations, usual.factorizations) || more(usual.met, now.met);
    if (memcmp(&now, &usual, sizeof now) != 0)
        print_message("%s %s: %d %d %d %d here, %d %d %d %d usually\n", bad ? "MORE" : "fine", name,
                      now.met, now.iterations, now.poses, now.factorizations, usual.met,
                      usual.iterations, usual.poses, usual.factorizations);
    return bad;
}

static void solvers(void **unused) {
    (void)unused;
    int worse = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        worse += is_more(kinds[i].name, measure(&kinds[i]));
    assert_int_equal(worse, 0);
}

// Rows in lanes: how many are met, iterations, trips of lanes with work in them, and rows that the plain solver helped
// with.
static void lanes(void **unused) {
    (void)unused;
    enum { ROWS = 24 };
    static const sn_method methods[] = {SN_METHOD_HYBRID, SN_METHOD_NEWTON, SN_METHOD_LM};
    int worse = 0;
    for (int m = 0; m < 3; m++) {
        uint64_t state = 31;
        work sum = {0};
        for (int n = 0; n < 40; n++) {
            sn_model *model = random_model(&state, 3 + below(&state, 8), -1);
            sn_task task[4];
            sn_problem *problem;
            sn_workspace *ws;
            sn_batch *batch;
            sn_batch_report r[ROWS];
            sn_batch_options o = sn_batch_options_default();
            const int nq = sn_model_nq(model);
            double goals[ROWS * 12], *poses = calloc((size_t)(ROWS * nq) + 1, sizeof *poses);
            o.device = SN_DEVICE_CPU;
            o.solver.method = methods[m];
            o.solver.max_iterations = 60;
            for (int i = 0; i < 4; i++) {
                task[i] = sn_task_default(SN_TASK_POINT);
                task[i].joint =
                    i == 0 ? sn_model_njoint(model) - 1 : below(&state, sn_model_njoint(model));
                for (int c = 0; c < 3; c++) task[i].local[c] = uniform(&state, -0.3, 0.3);
            }
            assert_int_equal(sn_problem_create(model, task, 4, NULL, &problem, NULL), SN_OK);
            assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
            for (int i = 0; i < ROWS; i++) {
                sn_model_sample(model, &state, poses);
                assert_int_equal(sn_workspace_pose(ws, poses), SN_OK);
                for (int k = 0; k < 4; k++) {
                    sn_vec3 p = sn_workspace_point(ws, task[k].joint, task[k].local);
                    const double out = i % 2 == 0 ? 0 : uniform(&state, -1, 1);
                    memcpy(goals + 12 * i + 3 * k, (double[3]){p.x + out, p.y, p.z},
                           3 * sizeof(double));
                }
            }
            if (sn_batch_create(problem, &o, NULL, &batch, NULL) == SN_OK) {
                assert_int_equal(sn_batch_solve(batch, ROWS, goals, NULL, poses, r), SN_OK);
                const sn_batch_counts c = sn_batch_count(batch);
                for (int i = 0; i < ROWS; i++) sum.met += r[i].f < 1e-12;
                sum.iterations += (int)c.iterations;
                sum.poses += (int)c.lane_trips;
                sum.factorizations += (int)c.plain;
                sn_batch_destroy(batch);
            }
            sn_workspace_destroy(ws);
            sn_problem_destroy(problem);
            sn_model_destroy(model);
            free(poses);
        }
        char name[40];
        (void)snprintf(name, sizeof name, "lanes %s", sn_method_name(methods[m]));
        worse += is_more(name, sum);
    }
    assert_int_equal(worse, 0);
}

// Arms: goals that are reached, Newton steps, starts; without a seed and from one.
static void arms_too(void **unused) {
    (void)unused;
    enum { GOALS = 300 };
    int worse = 0;
    for (int a = 0; a < ARMS_COUNT; a++)
        for (int seeded = 0; seeded < 2; seeded++) {
            uint64_t state = 5;
            work sum = {0};
            const int n = sn_arm_n(the_arm(a));
            static double goals[GOALS * 7], seeds[GOALS * SN_ARM_MAX], q[GOALS * SN_ARM_MAX];
            static sn_arm_report r[GOALS];
            for (int i = 0; i < GOALS; i++) {
                random_q(the_arm(a), &state, q);
                sn_arm_tool(the_arm(a), q, goals + 7 * i);
                random_q(the_arm(a), &state, seeds + n * i);
            }
            assert_int_equal(
                sn_arm_solve_many(the_arm(a), GOALS, goals, seeded ? seeds : NULL, q, r), SN_OK);
            for (int i = 0; i < GOALS; i++) {
                sum.met += r[i].reached;
                sum.iterations += r[i].iterations;
                sum.poses += r[i].seeds;
                // how far the nearest that was found is, in thousandths
                sum.factorizations += (int)(1000 * r[i].distance / GOALS);
            }
            char name[40];
            (void)snprintf(name, sizeof name, "%s, %s", arms_name(a), seeded ? "seed" : "no seed");
            worse += is_more(name, sum);
        }
    (void)end_arms(NULL);
    assert_int_equal(worse, 0);
}

// Takes: samples that count, iterations, factorizations, and the RMS distance of the markers in hundredths of a
// millimetre; the median angle from the truth is in thousandths of a degree.
static void takes(void **unused) {
    (void)unused;
    if (sn_batch_most_lanes() == 1) {
        print_message("skipped: takes go another way where there are no lanes\n");
        skip();
    }
    enum { COUNT = 240 };
    static const char *const names[] = {"a take", "with gaps", "with thrown markers",
                                        "with swapped markers", "calibrated"};
    example_take t;
    int worse = 0;
    example_take_create(&t, 3);
    for (int i = 0; i < 5; i++) {
        sn_recording *cut = recording_cut(t.recording, 0, COUNT);
        uint64_t state = 17;
        if (i == 1) spoil_gaps(cut, 0.3, &state);
        if (i == 2) spoil_throw(cut, 0.03, 0.4, &state);
        if (i == 3) spoil_swap(cut, 0.03, &state);
        const sn_axis_map axes = sn_axis_map_identity();
        sn_calibrate_options wanted = sn_calibrate_options_default();
        fitted f = fit_of(i == 4 ? t.model : t.subject, cut, &axes, i == 4 ? &wanted : NULL, NULL);
        const work now = {(int)f.summary.samples, (int)(COUNT * f.summary.iterations),
                          (int)f.summary.factorizations, (int)(1e5 * f.summary.rms)};
        char name[40];
        (void)snprintf(name, sizeof name, "%s, angle", names[i]);
        const work off = {.iterations = (int)(1e3 * median_angle(f.model, f.motion, t.truth))};
        worse += is_more(names[i], now) + is_more(name, off);
        fitted_free(&f);
        sn_recording_destroy(cut);
    }
    example_take_destroy(&t);
    assert_int_equal(worse, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solvers), cmocka_unit_test(lanes),
                                       cmocka_unit_test(arms_too), cmocka_unit_test(takes)};
    only_asked();
    return cmocka_run_group_tests(tests, open_figures, close_figures);
}
