// SPDX-License-Identifier: MIT
// One lane from the inside, against the sweeps, which share nothing with it: f, gradient, both Hessians, the factor
// and its solves, and how a pose moves. Solves would hide most of what can be wrong here: a wrong Hessian still ends at
// the minimum, later.
#include "batch/batch.h"
#include "support.h"

#define LANES     1
#define TRIP_NAME lane_trip
void lane_trip(const sn_batch_table *tab, const sn_batch_work *room);
#include "batch/lanes.h"

enum { MOST = 64 };

// A problem in one lane and in the sweeps, at one pose.
typedef struct both {
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    sn_batch *batch;
    const sn_batch_table *tab;
    const sn_batch_work *room;
    double q[2 * MOST];
    int n;
} both;

// False when lanes leave the problem to the plain solver.
static bool begin(both *b, uint64_t *state, int type, int task) {
    b->model = random_model(state, 1 + below(state, 5), type);
    b->problem = random_problem(state, b->model, 1 + below(state, 4), task);
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    b->ws = NULL;
    if (sn_batch_create(b->problem, &o, NULL, &b->batch, NULL) != SN_OK) return false;
    // a problem of its own, into which rows of goals are put
    sn_batch_worker *worker = &b->batch->worker[0];
    assert_int_equal(sn_workspace_create(worker->problem, true, NULL, &b->ws, NULL), SN_OK);
    b->tab = &b->batch->table;
    b->room = &worker->work;
    b->n = sn_model_nv(b->model);
    assert_true(b->n <= MOST && sn_model_nq(b->model) <= 2 * MOST);
    if (!b->batch->fits) return false;
    double goals[16 * MOST];
    assert_true(b->batch->ngoal <= 16 * MOST);
    for (int i = 0; i < b->batch->ngoal; i++)
        goals[i] = below(state, 40) == 0 ? NAN : uniform(state, -1, 1);
    // what is no number, and not missing, is refused
    if (b->batch->ngoal > 0) {
        const int odd = below(state, b->batch->ngoal);
        const double kept = goals[odd];
        goals[odd] = below(state, 2) == 0 ? -INFINITY : 2 * SN_MAX_NUMBER;
        assert_false(sn_batch_row_goals(b->batch, goals, b->room->goal));
        goals[odd] = kept;
    }
    assert_true(sn_batch_row_set(worker, goals));
    assert_true(sn_batch_row_goals(b->batch, goals, b->room->goal));
    // also where soft limits are broken
    double way[MOST], inside[2 * MOST];
    for (int i = 0; i < b->n; i++) way[i] = below(state, 2) == 0 ? 0 : uniform(state, -2, 2);
    sn_model_sample(b->model, state, inside);
    sn_model_integrate(b->model, inside, way, b->q);
    memcpy(b->room->x, b->q, (size_t)sn_model_nq(b->model) * sizeof *b->q);
    memcpy(b->room->q, b->q, (size_t)sn_model_nq(b->model) * sizeof *b->q);
    b->room->lane[SN_LANE_SHARE] = 1;
    b->room->lane[SN_LANE_PULL] = 0;
    return true;
}

static void end(both *b) {
    sn_batch_destroy(b->batch);
    sn_workspace_destroy(b->ws);
    sn_problem_destroy(b->problem);
    sn_model_destroy(b->model);
}

// The Hessian as the sweeps have it, in the lanes' order.
static void read_hessian(const both *b, unsigned what, double H[MOST * MOST]) {
    static double file[MOST * MOST];
    double f;
    assert_int_equal(sn_workspace_eval(b->ws, b->q, what, &f), SN_OK);
    sn_workspace_hessian(b->ws, file);
    const int *v = b->model->v_of;
    for (int i = 0; i < b->n; i++)
        for (int j = 0; j < b->n; j++) H[b->n * i + j] = file[v[i] + b->n * v[j]];
}

static double largest_of(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

// Rows and columns that are kept, with the diagonal, can be taken apart.
static bool positive(const double *A, int n, const double *keep) {
    double L[MOST][MOST] = {{0}};
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i && keep[i] > 0.5; j++) {
            if (keep[j] < 0.5) continue;
            double sum = A[n * i + j];
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 0)) return false;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    return true;
}

// The factor solves what it says it does, or says along which direction, and how much, the matrix bends down.
static void check_factor(const both *b, uint64_t *state, double e, const double *H, int *solved,
                         int *failed) {
    const int n = b->n;
    const sn_batch_work *w = b->room;
    static double A[MOST * MOST];
    double top = largest_of(H, n * n) + 1e-3, x[MOST], right[MOST], again[MOST];
    FACTOR f = {.metric = below(state, 2) == 0 ? 0 : uniform(state, 0, 0.3),
                .scale = uniform(state, 1e-3, 1e-2),
                .add = below(state, 2) == 0 ? 0 : 1e-3 * top,
                .most = uniform(state, 0.1, 1),
                .most2 = uniform(state, 0.1, 1)};
    memcpy(A, H, sizeof A);
    for (int i = 0; i < n; i++) {
        w->keep[i] = b->tab->gain[i] != 0 && below(state, 5) != 0 ? 1
                     : below(state, 2) == 0                       ? 0
                                                                  : -1;
        w->scale[i] = top * uniform(state, 0.01, 1);
        x[i] = right[i] = again[i] = w->keep[i] > 0.5 ? uniform(state, -1, 1) : 0;
        // what damps: a multiple of the largest entry of its kind or of its own, and a little
        const double gain = b->tab->gain[i],
                     kind = gain * gain * (b->tab->length[i] ? f.most2 : f.most);
        A[n * i + i] += f.metric * fmax(kind, w->scale[i]) + f.scale * w->scale[i] + f.add;
    }
    factor_sweep(b->tab, w, e, &f, x);
    const bool good = positive(A, n, w->keep);
    if (f.failed) {
        *failed += 1;
        double z[MOST] = {0}, bend = 0;
        z[(int)f.at] = 1;
        substitute(b->tab, w, z);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) bend += z[i] * A[n * i + j] * z[j];
        assert_true(f.pivot <= 0 && z[(int)f.at] == 1);
        assert_true(fabs(bend - f.pivot) <=
                    1e-8 * (top + fabs(f.pivot)) * (1 + largest_of(z, n) * largest_of(z, n)));
        assert_true(!good || f.pivot > -1e-9 * top);
        return;
    }
    assert_true(good);
    *solved += 1;
    const double energy = reduce(b->tab, w, again);
    assert_memory_equal(again, x, (size_t)n * sizeof *x);
    substitute(b->tab, w, x);
    double product = 0;
    for (int i = 0; i < n; i++) product += right[i] * x[i];
    assert_true(fabs(energy - product) <= 1e-8 * (1 + largest_of(x, n)));
    for (int i = 0; i < n; i++) {
        double sum = 0;
        if (w->keep[i] < 0.5) assert_true(x[i] == 0);
        if (w->keep[i] < 0.5) continue;
        for (int j = 0; j < n; j++) sum += A[n * i + j] * x[j];
        assert_true(fabs(sum - right[i]) <= 1e-7 * (1 + top * largest_of(x, n)));
    }
}

// f at the lane's pose, and the gradient.
static double look(const both *b) {
    place(b->tab, b->room);
    const double value = sum_sweep(b->tab, b->room);
    return b->tab->nrest + b->tab->nsoft > 0 ? value + rest_value(b->tab, b->room) : value;
}

// Rest poses, and they alone, are multiplied with the lane's share.
static void check_share(const both *b) {
    double f[3], g[3][MOST];
    for (int k = 0; k < 3; k++) {
        b->room->lane[SN_LANE_SHARE] = k == 0 ? 0 : k == 1 ? 1 : 0.3;
        f[k] = look(b);
        memcpy(g[k], b->room->g, (size_t)b->n * sizeof(double));
    }
    b->room->lane[SN_LANE_SHARE] = 1;
    assert_near(f[2], 0.7 * f[0] + 0.3 * f[1], 1e-11);
    for (int i = 0; i < b->n; i++) assert_near(g[2][i], 0.7 * g[0][i] + 0.3 * g[1][i], 1e-11);
    assert_true(b->tab->nrest > 0 || f[0] == f[1]);
}

static void like_the_sweeps(void **unused) {
    (void)unused;
    uint64_t state = 4;
    int seen = 0, solved = 0, failed = 0, light = 0, kinds[SN_JOINT_TYPE_COUNT] = {0};
    for (int k = 0; k < cases(2400); k++) {
        both b;
        const int type = k % 3 == 0 ? -1 : k / 3 % SN_JOINT_TYPE_COUNT;
        if (begin(&b, &state, type, k % 2 == 0 ? -1 : -2)) {
            static double H[MOST * MOST], g[MOST];
            double f;
            seen++;
            if (type >= 0) kinds[type]++;
            check_share(&b);
            const double value = look(&b);
            assert_int_equal(sn_workspace_eval(b.ws, b.q, SN_EVAL_GRADIENT, &f), SN_OK);
            sn_workspace_gradient(b.ws, g);
            const double size = 1 + fabs(f) + largest_of(g, b.n);
            if (!(fabs(value - f) <= 1e-10 * size)) fail_msg("case %d: f %g is %g", k, f, value);
            for (int i = 0; i < b.n; i++)
                if (!(fabs(b.room->g[i] - g[b.model->v_of[i]]) <= 1e-9 * size))
                    fail_msg("case %d: gradient %d %g is %g", k, i, g[b.model->v_of[i]],
                             b.room->g[i]);
            for (int exact = 0; exact < 2; exact++) {
                read_hessian(&b, exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON, H);
                const double most = 1 + largest_of(H, b.n * b.n);
                const double whole = diagonal_sweep(b.tab, b.room, exact);
                if (!exact && !b.tab->matrix) {
                    // the sweep of ten numbers finds the same
                    double same[MOST];
                    memcpy(same, b.room->y, (size_t)b.n * sizeof *same);
                    assert_near(weight_sweep(b.tab, b.room), whole, 1e-10 * (1 + whole));
                    for (int j = 0; j < b.n; j++) assert_near(b.room->y[j], same[j], 1e-10 * most);
                    light++;
                }
                for (int j = 0; j < b.n; j++) {
                    double x[MOST] = {0}, out[MOST];
                    x[j] = 1;
                    if (!(fabs(b.room->y[j] - H[b.n * j + j]) <= 1e-9 * most))
                        fail_msg("case %d: diagonal %d %g is %g", k, j, H[b.n * j + j],
                                 b.room->y[j]);
                    multiply(b.tab, b.room, exact, x, out);
                    for (int i = 0; i < b.n; i++)
                        if (!(fabs(out[i] - H[b.n * i + j]) <= 1e-9 * most))
                            fail_msg("case %d: Hessian %d (%d, %d) %g is %g", k, exact, i, j,
                                     H[b.n * i + j], out[i]);
                }
                for (int n = 0; n < 2; n++) check_factor(&b, &state, exact, H, &solved, &failed);
            }
        }
        end(&b);
    }
    print_message("%d problems, %d factors, %d that bend down\n", seen, solved, failed);
    assert_true(seen > cases(2400) / 3 && solved > seen && failed > seen / 20);
    assert_true(light > seen / 4);
    for (int t = 0; t < SN_JOINT_TYPE_COUNT && !sampled(); t++)
        assert_true(t == SN_JOINT_FIXED || kinds[t] > 20);
}

// A step moves a pose as the model does, and stops at limits.
static void moves(void **unused) {
    (void)unused;
    uint64_t state = 6;
    int seen = 0, stopped = 0;
    for (int k = 0; k < cases(1500); k++) {
        both b;
        if (begin(&b, &state, k % SN_JOINT_TYPE_COUNT, -1)) {
            double step[MOST], to[2 * MOST], size = 0, length;
            const double far = k % 2 == 0 ? 0.5 : 6;
            seen++;
            for (int i = 0; i < b.n; i++) {
                b.room->step[i] = below(&state, 4) == 0 ? 0 : uniform(&state, -far, far);
                step[b.model->v_of[i]] = b.tab->gain[i] * b.room->step[i];
            }
            move_lanes(b.tab, b.room, -1);
            sn_model_integrate(b.model, b.q, step, to);
            for (int i = 0; i < b.n; i++) {
                const int at = b.tab->q_of[i];
                double moved = b.room->step[i];
                if (at >= 0 && b.tab->gain[i] != 0) {
                    const double x = b.q[at] + b.tab->gain[i] * moved;
                    to[at] = fmin(fmax(x, b.tab->low[i]), b.tab->high[i]);
                    if (to[at] != x) moved = (to[at] - b.q[at]) / b.tab->gain[i];
                    stopped += to[at] != x;
                }
                size += moved * moved;
            }
            length = b.room->lane[SN_LANE_LENGTH];
            assert_near(length, sqrt(size), 1e-9);
            for (int i = 0; i < sn_model_nq(b.model); i++) assert_near(b.room->x[i], to[i], 1e-12);
            assert_true(b.room->lane[SN_LANE_STATE] == SN_STATE_TRIAL);
            // lanes that do not move stay to the bit
            move_lanes(b.tab, b.room, 0);
            assert_memory_equal(b.room->x, b.q, (size_t)sn_model_nq(b.model) * sizeof(double));
            assert_true(b.room->lane[SN_LANE_LENGTH] == length);
        }
        end(&b);
    }
    assert_true(seen > cases(1500) / 3 && stopped > seen / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_the_sweeps),
        cmocka_unit_test(moves),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
