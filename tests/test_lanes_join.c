// SPDX-License-Identifier: MIT
// The cheapest way through two tracks against all ways there are, and which frames of a block are suspect: the parts of
// lanes_join.c by themselves, on poses and costs that are drawn.
#include "support.h"
#include "track/lanes_join.c"

enum { FRAMES = 12, MOST = 8 };

typedef struct stand {
    sn_model *model;
    sn_lanes lanes;
    sn_lane_worker worker;
    double *q, *f, *alt, *cost, *delta;
    unsigned char from[2 * MOST];
} stand;

static void set_up(stand *s, double rate) {
    *s = (stand){0};
    assert_int_equal(sn_model_humanoid(NULL, &s->model, NULL), SN_OK);
    const size_t nq = (size_t)sn_model_nq(s->model), nv = (size_t)sn_model_nv(s->model);
    s->q = calloc(FRAMES * nq, sizeof *s->q);
    s->alt = calloc(MOST * nq, sizeof *s->alt);
    s->f = calloc(FRAMES, sizeof *s->f);
    s->cost = calloc(MOST, sizeof *s->cost);
    s->delta = calloc(nv, sizeof *s->delta);
    s->worker =
        (sn_lane_worker){.alt = s->alt, .cost = s->cost, .from = s->from, .delta = s->delta};
    s->lanes = (sn_lanes){.model = s->model,
                          .nq = nq,
                          .nv = nv,
                          .nframe = FRAMES,
                          .window = MOST,
                          .q = s->q,
                          .f = s->f,
                          .median = 1};
    s->lanes.options.rate = rate;
}

static void tear_down(stand *s) {
    free(s->q), free(s->alt), free(s->f), free(s->cost), free(s->delta);
    sn_model_destroy(s->model);
}

static void draw_pose(const stand *s, uint64_t *state, double spread, double *q) {
    sn_model_zero(s->model, q);
    for (size_t i = 7; i < s->lanes.nq; i++) q[i] = uniform(state, -spread, spread);
}

// What a way costs: bit k says whether frame first + k is the other track's.
static double cost_of(stand *s, int first, int n, int way) {
    const sn_lanes *l = &s->lanes;
    const double weight = 0.3 * l->options.rate * l->median;
    const double *before = first > 0 ? s->q + (size_t)(first - 1) * l->nq : NULL;
    double sum = 0;
    for (int k = 0; k <= n; k++) {
        const bool other = k < n && (way >> k & 1);
        if (first + k >= FRAMES) break;
        const double *pose =
            other ? s->alt + (size_t)k * l->nq : s->q + (size_t)(first + k) * l->nq;
        if (k < n) sum += other ? s->cost[k] : s->f[first + k];
        if (before != NULL) sum += weight * sn_lane_turn(l, &s->worker, before, pose, NULL);
        before = pose;
    }
    return sum;
}

static void cheapest_way(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 50);
    uint64_t state = 5;
    const size_t nq = s.lanes.nq, bytes = FRAMES * nq * sizeof(double);
    double *was = malloc(bytes), was_f[FRAMES];
    int mixed = 0;
    for (int c = 0, n = cases(300); c < n; c++) {
        const int count = 1 + below(&state, MOST), first = below(&state, FRAMES - count + 1);
        bool moved[FRAMES] = {false};
        s.lanes.median = c % 3 == 0 ? 0.02 : 0.004;
        for (int i = 0; i < FRAMES; i++) {
            draw_pose(&s, &state, 0.3, s.q + (size_t)i * nq);
            s.f[i] = uniform(&state, 0, 1);
        }
        for (int k = 0; k < count; k++) {
            draw_pose(&s, &state, 0.3, s.alt + (size_t)k * nq);
            s.cost[k] = uniform(&state, 0, 1);
        }
        int best = 0;
        double least = INFINITY, second = INFINITY;
        for (int way = 0; way < 1 << count; way++) {
            const double cost = cost_of(&s, first, count, way);
            if (cost < least) {
                second = least;
                least = cost;
                best = way;
            } else if (cost < second) {
                second = cost;
            }
        }
        memcpy(was, s.q, bytes);
        memcpy(was_f, s.f, sizeof was_f);
        choose(&s.lanes, &s.worker, first, count, moved);
        if (second - least < 1e-12) continue;
        mixed += best != 0 && best != (1 << count) - 1;
        for (int i = 0; i < FRAMES; i++) {
            const int k = i - first;
            const bool other = k >= 0 && k < count && (best >> k & 1);
            const double *want = other ? s.alt + (size_t)k * nq : was + (size_t)i * nq;
            assert_memory_equal(s.q + (size_t)i * nq, want, nq * sizeof *want);
            assert_true(s.f[i] == (other ? s.cost[k] : was_f[i]));
            assert_int_equal(moved[i], other);
        }
    }
    assert_true(mixed > 0);
    free(was);
    tear_down(&s);
}

// Where nobody asks which frames are another track's.
static void nobody_asks(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 120);
    for (int i = 0; i < FRAMES; i++) s.f[i] = 1;
    for (int i = 0; i < FRAMES; i++) sn_model_zero(s.model, s.q + (size_t)i * s.lanes.nq);
    for (int k = 0; k < 3; k++) sn_model_zero(s.model, s.alt + (size_t)k * s.lanes.nq);
    choose(&s.lanes, &s.worker, 4, 3, NULL);
    for (int i = 0; i < FRAMES; i++) assert_true(s.f[i] == (i >= 4 && i < 7 ? 0 : 1));
    tear_down(&s);
}

static void suspects(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 100);
    const double degree = 0x1.1df46a2529d39p-6;
    for (int i = 0; i < FRAMES; i++) {
        sn_model_zero(s.model, s.q + (size_t)i * s.lanes.nq);
        s.f[i] = 1;
    }
    double *knee = s.q + 5 * s.lanes.nq + 10;
    // nothing about it; then a joint that turns at 1800 degrees a second, and a little more
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), -1);
    *knee = 17.9 * degree;
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), -1);
    *knee = 18.1 * degree;
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), 5);
    // the way into the block is not of the block, the way out of it neither
    assert_int_equal(suspect(&s.lanes, &s.worker, 5, 6), -1);
    assert_int_equal(suspect(&s.lanes, &s.worker, 5, 9), 6);
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 5), -1);
    // the fastest of several
    s.q[7 * s.lanes.nq + 10] = -30 * degree;
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), 7);
    // f counts before that: three times the usual, the worst of them, none behind the end
    s.f[4] = 2.9;
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), 7);
    s.f[4] = 3.1;
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), 4);
    s.f[3] = 4;
    s.f[9] = 5;
    s.f[1] = 5;
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), 3);
    s.lanes.median = 2;
    assert_int_equal(suspect(&s.lanes, &s.worker, 2, 9), 7);
    tear_down(&s);
}

int main(void) {
    only_asked();
    const struct CMUnitTest tests[] = {cmocka_unit_test(cheapest_way),
                                       cmocka_unit_test(nobody_asks), cmocka_unit_test(suspects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
