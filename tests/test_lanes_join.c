// SPDX-License-Identifier: MIT
// The cheapest way through two tracks against all ways there are, which frames are suspect and looked at again, and how
// far a track is followed: the parts of lanes_join.c by themselves, on poses and costs that are made up.
#include "support.h"

// What follows and looks is made up, too.
#define sn_lane_follow         made_up_follow
#define sn_lane_look           made_up_look
#define sn_lane_look_from_home made_up_look_from_home
#include "track/lanes_join.c"

enum { FRAMES = 900, FEW = 12, MOST = 8 };

typedef struct stand {
    sn_model *model;
    sn_lanes lanes;
    sn_lane_worker worker;
    double *q, *f, *alt, *cost, *delta, *room;
    unsigned char from[2 * MOST];
    sn_lane_frame frames[FRAMES];
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
    s->room = calloc(5 * nq, sizeof *s->room);
    s->worker = (sn_lane_worker){.alt = s->alt,
                                 .cost = s->cost,
                                 .from = s->from,
                                 .delta = s->delta,
                                 .q = s->room,
                                 .previous = s->room + nq,
                                 .before = s->room + 2 * nq,
                                 .near = s->room + 3 * nq};
    s->lanes = (sn_lanes){.model = s->model,
                          .nq = nq,
                          .nv = nv,
                          .nframe = FEW,
                          .workers = &s->worker,
                          .frames = s->frames,
                          .window = MOST,
                          .q = s->q,
                          .home = s->room + 4 * nq,
                          .placed = 1,
                          .f = s->f,
                          .median = 1};
    s->lanes.options.rate = rate;
    sn_model_zero(s->model, s->lanes.home);
}

static void tear_down(stand *s) {
    free(s->q), free(s->alt), free(s->f), free(s->cost), free(s->delta), free(s->room);
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
        if (first + k >= FEW) break;
        const double *pose =
            other ? s->alt + (size_t)k * l->nq : s->q + (size_t)(first + k) * l->nq;
        if (k < n) sum += other ? s->cost[k] : s->f[first + k];
        if (before != NULL) sum += weight * sn_lane_turn(l, &s->worker, before, pose, NULL);
        before = pose;
    }
    return sum;
}

// The same pose by other angles is no turn, and the angles nearest to the figure at rest are found again.
static void wound(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 120);
    uint64_t state = 11;
    const sn_model *m = s.model;
    const double whole = 0x1.921fb54442d18p+2;
    double *a = s.q, *b = s.q + s.lanes.nq, *c = b + s.lanes.nq;
    for (int v = 0; v < m->nv; v++) m->lower[v] = -INFINITY, m->upper[v] = INFINITY;
    for (int i = 0; i < 200; i++) {
        draw_pose(&s, &state, 0.5, a);
        draw_pose(&s, &state, 0.5, b);
        copy(&s.lanes, c, b);
        for (int k = 1; k < m->njoint; k++) {
            const sn_joint *j = &m->joint[k];
            double *x = c + j->q0;
            if (!sn_lane_is_rotation(j)) continue;
            assert_true(j->order[0] != j->order[2]);
            if (below(&state, 2)) {
                x[0] += 0.5 * whole, x[1] = 0.5 * whole - x[1], x[2] -= 0.5 * whole;
            }
            x[below(&state, 3)] += whole;
        }
        double most, most_wound;
        assert_near(sn_lane_turn(&s.lanes, &s.worker, a, c, &most_wound),
                    sn_lane_turn(&s.lanes, &s.worker, a, b, &most), 1e-9);
        assert_near(most_wound, most, 1e-9);
        sn_lane_wind_home(&s.lanes, c);
        for (size_t q = 0; q < s.lanes.nq; q++) assert_near(c[q], b[q], 1e-9);
    }
    tear_down(&s);
}

static void cheapest_way(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 50);
    uint64_t state = 5;
    const size_t nq = s.lanes.nq, bytes = FEW * nq * sizeof(double);
    double *was = malloc(bytes), was_f[FEW];
    int mixed = 0;
    for (int c = 0, n = cases(300); c < n; c++) {
        const int count = 1 + below(&state, MOST), first = below(&state, FEW - count + 1);
        bool moved[FEW] = {false};
        s.lanes.median = c % 3 == 0 ? 0.02 : 0.004;
        for (int i = 0; i < FEW; i++) {
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
        for (int i = 0; i < FEW; i++) {
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
    for (int i = 0; i < FEW; i++) s.f[i] = 1;
    for (int i = 0; i < FEW; i++) sn_model_zero(s.model, s.q + (size_t)i * s.lanes.nq);
    for (int k = 0; k < 3; k++) sn_model_zero(s.model, s.alt + (size_t)k * s.lanes.nq);
    choose(&s.lanes, &s.worker, 4, 3, NULL);
    for (int i = 0; i < FEW; i++) assert_true(s.f[i] == (i >= 4 && i < 7 ? 0 : 1));
    tear_down(&s);
}

static void suspects(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 100);
    const double degree = 0x1.1df46a2529d39p-6;
    for (int i = 0; i < FEW; i++) {
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

// --- following and looking ----------------------------------------------------------------------------

// A pose has a mark; what is followed from it has it, too, and a millionth more a frame.
static double *mark_of(double *q) { return q + 7; }

typedef struct seen_frame {
    int frame;
    bool moving;
} seen_frame;
static seen_frame seen[FRAMES];
static int nseen, found_at;
static double following[2];  // f of what is followed from a mark above 0, and from others
static double turning;       // how far it turns away
static bool stop;

sn_status made_up_follow(sn_lanes *l, sn_lane_worker *w, int frame, bool moving, double *f) {
    seen[nseen++] = (seen_frame){frame, moving};
    copy(l, w->before, w->previous);
    *f = following[*mark_of(w->previous) > 0 ? 0 : 1];
    *mark_of(w->previous) += 1e-6;
    if (turning > 0) copy(l, w->previous, sn_lane_pose(l, frame));
    mark_of(w->previous)[1] += turning;
    return SN_OK;
}

sn_status made_up_look(sn_lanes *l, sn_lane_worker *w, int frame, double *f) {
    (void)w;
    seen[nseen++] = (seen_frame){frame, true};
    *f = (frame == found_at ? 0.9 : 0.94) * l->f[frame];
    return SN_OK;
}

sn_status made_up_look_from_home(sn_lanes *l, sn_lane_worker *w, int frame, const double *pose,
                                 double *f) {
    seen[nseen++] = (seen_frame){frame, false};
    copy(l, w->q, pose);
    *f = (frame == found_at ? 0.96 : 0.98) * l->f[frame];
    return SN_OK;
}

static bool asked_to_stop(void *user) {
    (void)user;
    return stop;
}

static void still(stand *s, int nframe) {
    nseen = 0;
    found_at = -1;
    turning = 0;
    stop = false;
    following[0] = following[1] = 1;
    s->lanes.nframe = nframe;
    s->lanes.options.cancel = (sn_cancel){.asked = asked_to_stop};
    for (int i = 0; i < nframe; i++) {
        sn_model_zero(s->model, sn_lane_pose(&s->lanes, i));
        s->f[i] = 1;
        s->frames[i].restarted = false;
    }
}

// Blocks of half a second and a frame; after each where nothing is found twice as many are left out, up to 32.
static void looks(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 10);
    static const int blocks[] = {0, 2, 5, 10, 19, 36, 69, 102, 135};
    bool moved[FRAMES] = {false};
    still(&s, FRAMES);
    for (int b = 0; b < FRAMES / 6; b++) s.f[6 * b + 2] = 10;
    assert_int_equal(look_through(&s.lanes, &s.worker, 0, FRAMES, moved), SN_OK);
    assert_int_equal(nseen, 9);
    for (int i = 0; i < 9; i++) assert_int_equal(seen[i].frame, 6 * blocks[i] + 2);
    for (int i = 0; i < FRAMES; i++) {
        assert_false(moved[i]);
        bool here = false;
        for (int k = 0; k < nseen; k++) here = here || seen[k].frame == i;
        assert_int_equal(s.frames[i].restarted, here);
    }
    // found in block 5: the next one is looked at, and then it begins anew
    nseen = 0;
    found_at = 6 * 5 + 2;
    s.lanes.median = 1e-9;
    assert_int_equal(look_through(&s.lanes, &s.worker, 0, 6 * 12, moved), SN_OK);
    assert_true(moved[found_at] && s.f[found_at] == 9);
    static const int after[] = {0, 2, 5, 6, 8, 11};
    int at = 0;
    for (int i = 0; i < nseen; i++) {
        if (seen[i].frame % 6 != 2) continue;  // followed from there
        assert_int_equal(seen[i].frame, 6 * after[at++] + 2);
    }
    assert_int_equal(at, 6);
    // asked to stop
    still(&s, FRAMES);
    s.lanes.median = 1;
    for (int b = 0; b < FRAMES / 6; b++) s.f[6 * b + 2] = 10;
    stop = true;
    assert_int_equal(look_through(&s.lanes, &s.worker, 0, FRAMES, moved), SN_OK);
    assert_int_equal(nseen, 1);
    tear_down(&s);
}

// From the figure at rest: four times a second, in the middle of each stretch.
static void looks_from_home(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 40);
    bool moved[FRAMES] = {false};
    still(&s, 100);
    assert_int_equal(look_from_home(&s.lanes, &s.worker, 3, 60, moved), SN_OK);
    assert_int_equal(nseen, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(seen[i].frame, 3 + 5 + 11 * i);
    for (int i = 0; i < 100; i++) assert_false(moved[i]);
    nseen = 0;
    found_at = 30;
    assert_int_equal(look_from_home(&s.lanes, &s.worker, 3, 60, moved), SN_OK);
    assert_true(moved[30] && s.f[30] == 0.96);
    tear_down(&s);
}

// A track that is another one is followed until it has merged, or was worse for a quarter of a second.
static void beside(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 8);
    int count;
    still(&s, 60);
    sn_model_zero(s.model, s.worker.previous);
    assert_int_equal(follow_beside(&s.lanes, &s.worker, 20, 20, 1, 28, &count), SN_OK);
    assert_int_equal(count, 0);
    assert_int_equal(nseen, 1);
    // two degrees apart is the same, a little more is not; nor is another f
    const double degree = 0x1.1df46a2529d39p-6;
    for (int i = 0; i < 4; i++) {
        still(&s, 60);
        turning = (i == 0 ? 1.9 : i == 1 ? 2.1 : 0.1) * degree;
        following[1] = i == 2 ? 1.04 : i == 3 ? 1.06 : 1;
        sn_model_zero(s.model, s.worker.previous);
        assert_int_equal(follow_beside(&s.lanes, &s.worker, 20, 20, 1, 26, &count), SN_OK);
        assert_int_equal(count, i % 2 == 0 ? 0 : 6);
        for (int k = 0; k < nseen; k++) {
            assert_int_equal(seen[k].frame, 20 + k);
            assert_int_equal(seen[k].moving, k > 0);
        }
    }
    // worse by half and more: three frames of patience at eight a second; backwards, too
    for (int way = -1; way <= 1; way += 2) {
        still(&s, 60);
        turning = 1;
        following[1] = 1.6;
        sn_model_zero(s.model, s.worker.previous);
        assert_int_equal(follow_beside(&s.lanes, &s.worker, 20, way > 0 ? 20 : 27, way,
                                       way > 0 ? 28 : 19, &count),
                         SN_OK);
        assert_int_equal(count, 4);
        assert_int_equal(seen[3].frame, way > 0 ? 23 : 24);
        for (int k = 0; k < 4; k++) assert_true(s.cost[way > 0 ? k : 7 - k] == 1.6);
    }
    still(&s, 60);
    turning = 1;
    stop = true;
    assert_int_equal(follow_beside(&s.lanes, &s.worker, 20, 20, 1, 28, &count), SN_OK);
    assert_int_equal(count, 1);
    tear_down(&s);
}

// At a seam both sides are followed beyond it, as far as half a chunk or half the window.
static void seams(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 100);
    static const struct {
        int size, window, i, low, high, nframe;
    } runs[] = {{10, 8, 0, 6, 14, 40},
                {10, 6, 1, 17, 23, 40},
                {6, 8, 2, 16, 20, 40},
                {10, 8, 0, 6, 12, 12},
                {2, 8, 3, 8, 8, 40}};
    for (int i = 0; i < 5; i++) {
        bool moved[FRAMES] = {false};
        still(&s, runs[i].nframe);
        s.lanes.median = 1e-9;
        s.lanes.span = runs[i].size;
        s.lanes.window = runs[i].window;
        following[0] = 0.4;
        following[1] = 0.5;
        const int seam = (runs[i].i + 1) * runs[i].size;
        *mark_of(sn_lane_pose(&s.lanes, seam - 1)) = -0.5;
        *mark_of(sn_lane_pose(&s.lanes, seam)) = 0.5;
        assert_int_equal(join_seam(&s.lanes, &s.worker, runs[i].i, moved), SN_OK);
        for (int f = 0; f < runs[i].nframe; f++) {
            const bool inside = f >= runs[i].low && f < runs[i].high;
            assert_int_equal(moved[f], inside);
            assert_true(s.f[f] == (!inside ? 1 : f < seam ? 0.4 : 0.5));
            if (inside)
                assert_near(*mark_of(sn_lane_pose(&s.lanes, f)),
                            f < seam ? 0.5 + 1e-6 * (seam - f) : -0.5 + 1e-6 * (f - seam + 1),
                            1e-12);
        }
    }
    tear_down(&s);
}

// Frames whose goals have changed are followed again from both sides: the marks of poses say from which.
static void again(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 100);
    static const struct {
        int first, last, cut;  // frames before the cut come from the front, the others from behind
    } runs[] = {{3, 6, 3}, {3, 6, 7}, {0, 4, 0}, {7, 11, 12}, {1, 10, 6}, {5, 5, 5}};
    for (int i = 0; i < 6; i++) {
        const int first = runs[i].first, last = runs[i].last;
        still(&s, FEW);
        s.lanes.median = 1e-9;
        following[0] = 3;
        following[1] = i == 1 ? 2 : 4;
        if (last + 1 < FEW) *mark_of(sn_lane_pose(&s.lanes, last + 1)) = 0.5;
        if (first > 0) *mark_of(sn_lane_pose(&s.lanes, first - 1)) = -0.5;
        assert_int_equal(sn_lanes_again(&s.lanes, first, last), SN_OK);
        for (int f = first; f <= last; f++) {
            const bool front = f < runs[i].cut;
            const double steps = front ? f - first + 1 : last - f + 1;
            assert_near(*mark_of(sn_lane_pose(&s.lanes, f)), (front ? -0.5 : 0.5) + 1e-6 * steps,
                        1e-12);
            assert_true(s.f[f] == following[front ? 1 : 0]);
        }
        for (int k = 0; k < nseen; k++)
            assert_int_equal(seen[k].moving,
                             k > 0 && abs(seen[k].frame - seen[k - 1].frame) == 1 &&
                                 !(seen[k].frame == first && k > 0 && seen[k - 1].frame == first));
        for (int f = 0; f < FEW; f++)
            if (f < first || f > last) assert_true(s.f[f] == 1);
    }
    tear_down(&s);
}

// The usual f is the one in the middle; whole turns between frames are taken off.
static void usual(void **unused) {
    (void)unused;
    stand s;
    set_up(&s, 100);
    still(&s, 5);
    const double f[] = {7, 1, 9, 3, 5};
    memcpy(s.f, f, sizeof f);
    s.lanes.allocator = sn_allocator_of(NULL);
    assert_int_equal(find_median(&s.lanes), SN_OK);
    assert_true(s.lanes.median == 5);
    tear_down(&s);
}

int main(void) {
    only_asked();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wound),       cmocka_unit_test(cheapest_way),
        cmocka_unit_test(nobody_asks), cmocka_unit_test(suspects),
        cmocka_unit_test(looks),       cmocka_unit_test(looks_from_home),
        cmocka_unit_test(beside),      cmocka_unit_test(seams),
        cmocka_unit_test(again),       cmocka_unit_test(usual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
