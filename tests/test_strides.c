// SPDX-License-Identifier: MIT
// Plain steps in lanes: those of a plain Newton method written here once more, and the same bits however many lanes there are.
#include <math.h>
#include <string.h>

#include "batch/batch.h"
#include "batch_rows.h"
#include "model/model.h"
#include "sweeps/workspace.h"

enum { ROWS = 8, MOST_STEPS = 6 };

// --- the same steps, one number at a time ----------------------------------------------------------

typedef struct walk {
    bool ended;
    int steps;
    double f;
} walk;

// Newton's step from q, which is moved; false: it is none.
static bool step(const sn_problem *p, sn_workspace *ws, bool *exact, double *q, double *f,
                 double *promise, double *size) {
    const sn_model *m = p->model;
    double x[128], delta[128], room[160];
    bool keep[128];
    assert_true(m->nv <= 128 && m->nq <= 160);
    const int what = *exact ? SN_EVAL_HESSIAN : SN_EVAL_GAUSS_NEWTON;
    if (sn_workspace_eval(ws, q, (unsigned)what, f) != SN_OK) return false;
    for (int i = 0; i < m->nv; i++) keep[i] = m->gain[m->v_of[i]] != 0;
    if (sn_workspace_factor(ws, NULL, keep, 0, NULL) >= 0) {
        const bool again = *exact;
        *exact = false;
        return again && step(p, ws, exact, q, f, promise, size);
    }
    for (int i = 0; i < m->nv; i++) x[i] = keep[i] ? -ws->g[i] : 0;
    sn_workspace_solve(ws, x);
    *promise = *size = 0;
    for (int i = 0; i < m->nv; i++) {
        delta[m->v_of[i]] = m->gain[m->v_of[i]] * x[i];
        *promise -= 0.5 * ws->g[i] * x[i];
        *size = fmax(*size, fabs(delta[m->v_of[i]]));
    }
    if (!(*promise >= 0) || !(*size < 0.35)) return false;
    sn_model_integrate(m, q, delta, room);
    memcpy(q, room, (size_t)m->nq * sizeof *q);
    return true;
}

static walk walk_plainly(const sn_problem *p, sn_workspace *ws, bool near, double *q) {
    walk w = {0};
    double last = INFINITY, promise, size;
    bool refused = false;
    for (; w.steps < MOST_STEPS; w.steps++) {
        const bool wanted = !refused && (near || w.steps > 0);
        bool exact = wanted;
        if (!step(p, ws, &exact, q, &w.f, &promise, &size) || w.f > last * (1 + 1e-9)) return w;
        refused = refused || (wanted && !exact);
        last = w.f;
        const double share = near ? 0.1 : 0.25;
        w.ended = promise <= (exact && size < 0.1 ? share : 2e-3) * w.f;
        if (!w.ended) continue;
        w.f -= promise;
        w.steps++;
        break;
    }
    return w;
}

// --- rows in lanes ---------------------------------------------------------------------------------

typedef struct results {
    double q[ROWS][160], f[ROWS], stop[ROWS], steps[ROWS];
} results;

// All rows, `width` side by side.
static void stride_through(const sn_batch *b, const row_set *s, const double *hold, bool near,
                           int width, results *out) {
    const sn_batch_work *w = &b->worker[0].work;
    const sn_model *m = b->model;
    for (int first = 0; first < s->n; first += width) {
        int left = width;
        for (int l = 0; l < width; l++) {
            const double *q = s->starts + (first + l) * s->nq;
            for (int i = 0; i < s->nq; i++)
                w->q[i * width + l] = w->x[i * width + l] = w->anchor[i * width + l] = q[i];
            for (int i = 0; i < m->nv; i++) w->hold[i * width + l] = hold[m->v_of[i]];
            assert_true(
                sn_batch_row_goals(b, s->goals + (first + l) * s->ngoal, b->worker[0].numbers));
            for (int i = 0; i < s->ngoal; i++) w->goal[i * width + l] = b->worker[0].numbers[i];
            w->lane[SN_LANE_STATE * width + l] = SN_STATE_START;
            w->lane[SN_LANE_NEAR * width + l] = near;
            w->lane[SN_LANE_SHARE * width + l] = 1;
            w->lane[SN_LANE_JUMP * width + l] = INFINITY;
        }
        for (int trips = 0; left > 0; trips++) {
            assert_true(trips <= 2 * MOST_STEPS);
            sn_batch_stride_of(width)(&b->table, w);
            left = 0;
            for (int l = 0; l < width; l++)
                left += w->lane[SN_LANE_STATE * width + l] != SN_STATE_DONE;
        }
        for (int l = 0; l < width; l++) {
            for (int i = 0; i < s->nq; i++) out->q[first + l][i] = w->q[i * width + l];
            out->f[first + l] = w->lane[SN_LANE_F * width + l];
            out->stop[first + l] = w->lane[SN_LANE_STOP * width + l];
            out->steps[first + l] = w->lane[SN_LANE_ITERATIONS * width + l];
        }
    }
}

typedef struct tally {
    int rows, ended, near, further, apart;
    double worst;
} tally;

static void try_set(row_set *s, bool near, tally *t) {
    sn_batch *b;
    // strides know of no limits
    for (int j = 0; j < sn_model_njoint(s->model); j++)
        for (int k = 0; k < sn_model_joint_nv(s->model, j); k++)
            (void)sn_problem_set_limits(s->problem, j, k, -INFINITY, INFINITY);
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    double hold[128];
    for (int i = 0; i < 128; i++) hold[i] = 0.01 + 0.001 * (i % 7);
    assert_int_equal(sn_batch_create_held(s->problem, &o, hold, NULL, &b, NULL), SN_OK);
    if (!b->fits) {
        sn_batch_destroy(b);
        return;
    }
    static results one, other;
    stride_through(b, s, hold, near, 1, &one);
    for (int width = 2; width <= sn_batch_most_lanes(); width *= 2) {
        memset(&other, 0, sizeof other);
        stride_through(b, s, hold, near, width, &other);
        for (int i = 0; i < s->n; i++) {
            assert_memory_equal(one.q[i], other.q[i], (size_t)s->nq * sizeof(double));
            assert_memory_equal(&one.f[i], &other.f[i], sizeof(double));
            assert_true(one.stop[i] == other.stop[i] && one.steps[i] == other.steps[i]);
        }
    }
    // the plain steps, with the same pull
    sn_batch_worker *w = &b->worker[0];
    const int rest = sn_problem_ntask(b->problem);
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(w->problem, false, NULL, &ws, NULL), SN_OK);
    for (int i = 0; i < s->n; i++) {
        double q[160];
        memcpy(q, s->starts + i * s->nq, (size_t)s->nq * sizeof *q);
        assert_true(sn_batch_row_set(w, s->goals + i * s->ngoal));
        assert_int_equal(sn_problem_set_rest(w->problem, rest, q), SN_OK);
        assert_int_equal(sn_problem_set_enabled(w->problem, rest, true), SN_OK);
        const walk plain = walk_plainly(w->problem, ws, near, q);
        const bool ended = one.stop[i] == SN_END_MINIMUM;
        t->rows++;
        t->ended += ended;
        t->near += near && ended;
        t->further += ended && one.steps[i] > 1;
        // rounding may decide otherwise only where a step is at a bound
        if (ended != plain.ended || (ended && (int)one.steps[i] != plain.steps)) {
            t->apart++;
            continue;
        }
        for (int k = 0; k < s->nq && ended; k++)
            t->worst = fmax(t->worst, fabs(q[k] - one.q[i][k]));
        if (ended) t->worst = fmax(t->worst, fabs(plain.f - one.f[i]) / (plain.f + 1e-12));
    }
    sn_workspace_destroy(ws);
    sn_batch_destroy(b);
}

// Starts a little way from where each row ends.
static void put_near(row_set *s, uint64_t *state, double way) {
    sn_batch *b;
    sn_batch_options o = sn_batch_options_default();
    o.device = SN_DEVICE_CPU;
    assert_int_equal(sn_batch_create(s->problem, &o, NULL, &b, NULL), SN_OK);
    assert_int_equal(sn_batch_solve(b, s->n, s->goals, s->starts, s->starts, NULL), SN_OK);
    sn_batch_destroy(b);
    for (int i = 0; i < s->n; i++) {
        double *q = s->starts + i * s->nq;
        for (int k = 0; k < s->nq; k++) q[k] += uniform(state, -way, way);
        sn_model_normalize(s->model, q);
    }
}

static void like_plain_steps(void **unused) {
    (void)unused;
    uint64_t state = 77;
    tally t = {0};
    const int n = (int)cases(60);
    for (int i = 0; i < n; i++) {
        row_set s = random_rows(&state, 1 + below(&state, 12), 1 + below(&state, 6), ROWS, true);
        put_near(&s, &state, 0.05);
        if (sn_model_nv(s.model) > 0 && sn_model_nv(s.model) <= 128)
            try_set(&s, below(&state, 2) == 0, &t);
        rows_free(&s);
    }
    row_set s = humanoid_rows(ROWS, 1, 0.003);
    for (int near = 0; near < 2; near++) try_set(&s, near == 1, &t);
    rows_free(&s);
    print_message("%d rows, %d ended (%d from near, %d after more steps), poses and f within %g, "
                  "%d decided otherwise\n",
                  t.rows, t.ended, t.near, t.further, t.worst, t.apart);
    assert_true(t.ended > t.rows / 4 && t.near > 0 && t.further > 0 && t.ended < t.rows);
    assert_true(t.worst < 1e-9 && t.apart <= t.rows / 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_plain_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
