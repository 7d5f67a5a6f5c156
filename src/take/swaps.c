// SPDX-License-Identifier: MIT
// Two markers that exchange their labels for some frames.
//
// Where it begins and ends both markers jump, each to where the other one was going: that is looked for
// first, as it costs next to nothing. It parts the take into stretches; one of them is called exchanged when
// its frames, solved again with the two labels exchanged, fit far better. A pair that swings past each other
// shows no such jump, and a hand that turns over no such fit.
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "solvers/solver.h"
#include "take/fit.h"

// A marker that is off its way by less was not exchanged, metres; nor were two that are nearer.
static const double least_jump = 0.03;

// Against where the other marker was going, as a share of the way from where this one was going.
static const double crossing = 0.4;

// The objective with labels exchanged must be below this share of that with labels as they are. Stretches
// that were exchanged stand at 0.7 (two markers of a wrist, which turns over to follow) and below, those
// before and after them at 1.5 and above.
static const double better = 0.75;

// Frames of a stretch that are solved again; stretches of one pair.
enum { LOOKED_AT = 5, MOST_EVENTS = 32 };

typedef struct search {
    const sn_fit_input *in;
    const sn_motion *motion;
    const sn_allocator *allocator;
    sn_problem *problem;
    sn_solver *solver;
    int reach;       // frames over which a marker is remembered
    size_t width;    // numbers of a frame of the recording
    sn_vec3 *going;  // where each marker was going
    bool *off;       // it is not where it was going
    double *q;
} search;

static bool place_of(const search *s, int marker, int frame, sn_vec3 *out) {
    double x[3];
    if (frame < 0 || !sn_fit_goal(s->in, marker, s->in->first + frame, x)) return false;
    *out = v3_from(x);
    return true;
}

// Where a marker was going: on from where it was last seen, as fast as then.
static bool predict(const search *s, int marker, int frame, sn_vec3 *out) {
    for (int g = frame - 1; g >= frame - s->reach; g--) {
        sn_vec3 last, before;
        if (!place_of(s, marker, g, &last)) continue;
        *out = last;
        if (place_of(s, marker, g - 1, &before))
            *out = v3_add(last, v3_scale(frame - g, v3_sub(last, before)));
        return true;
    }
    return false;
}

static double distance(sn_vec3 a, sn_vec3 b) { return v3_norm(v3_sub(a, b)); }

// Most samples are where they were going: those were seen in the three last frames, and nothing else need be known. The
// recording's own axes and unit will do for that.
static bool goes_on(const search *s, int marker, const double *row, double least2) {
    const int m = s->in->column[marker];
    if (m < 0) return true;  // and has nowhere to go
    const double *x = row + 3 * (size_t)m, *last = x - s->width, *before = last - s->width;
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double d = x[k] - 2 * last[k] + before[k];
        square += d * d;
    }
    return square <= least2;
}

// Which markers jump in a frame; how many.
static int find_jumps(search *s, int frame) {
    const double *row = sn_recording_frame(s->in->recording, s->in->first + frame);
    const double unit = s->in->axes.scale,
                 least2 = 0.99 * (least_jump / unit) * (least_jump / unit);
    int n = 0;
    for (int i = 0, count = sn_model_nmarker(s->in->model); i < count; i++) {
        sn_vec3 at;
        s->off[i] = false;
        if (frame >= 2 && goes_on(s, i, row, least2)) continue;
        s->off[i] = place_of(s, i, frame, &at) && predict(s, i, frame, &s->going[i]) &&
                    distance(at, s->going[i]) > least_jump;
        n += s->off[i];
    }
    return n;
}

// Do these two go on where the other one would have?
static bool cross(const search *s, int a, int b, int frame) {
    sn_vec3 at[2];
    if (!s->off[a] || !s->off[b] || !place_of(s, a, frame, &at[0]) ||
        !place_of(s, b, frame, &at[1]) || distance(at[0], at[1]) < least_jump)
        return false;
    double straight = distance(at[0], s->going[a]) + distance(at[1], s->going[b]);
    return distance(at[0], s->going[b]) + distance(at[1], s->going[a]) < crossing * straight;
}

// What solves frames again: few takes need it.
static sn_status open_solver(search *s) {
    sn_fit_options o = sn_fit_options_default();
    sn_solver_options solver = sn_solver_options_default();
    if (s->solver != NULL) return SN_OK;
    // the markers alone decide, wherever they say a wrist is
    o.loss = SN_LOSS_NONE;
    o.posture *= 0.1;
    solver.max_iterations = 60;
    solver.gradient = 1e-6;
    SN_TRY(sn_fit_problem(s->in, &o, s->allocator, &s->problem, NULL));
    return sn_solver_create_plain(s->problem, &solver, s->allocator, &s->solver, NULL);
}

// f of a frame from a pose, two labels exchanged where `b` is not -1.
static sn_status solve(search *s, int a, int b, int frame, int from, double *f) {
    const sn_fit_input *in = s->in;
    sn_report report;
    SN_TRY(open_solver(s));
    for (int i = 0; i < sn_model_nmarker(in->model); i++) {
        double goal[3];
        int other = b < 0 ? i : i == a ? b : i == b ? a : i;
        SN_TRY(sn_fit_goal(in, other, in->first + frame, goal)
                   ? sn_problem_set_goal(s->problem, i, goal)
                   : sn_problem_set_missing(s->problem, i, true));
    }
    memcpy(s->q, sn_motion_frame(s->motion, from), (size_t)sn_model_nq(in->model) * sizeof *s->q);
    SN_TRY(sn_solver_solve(s->solver, s->q, &report));
    *f = fmin(*f, report.f);
    return SN_OK;
}

static bool both_seen(const search *s, int a, int b, int frame) {
    sn_vec3 at;
    return place_of(s, a, frame, &at) && place_of(s, b, frame, &at);
}

// A stretch solved with labels as they are and exchanged, in frames that see both.
static sn_status judge(search *s, sn_fit_swap *swap) {
    int n = 0, met = 0;
    while (swap->first < swap->last && !both_seen(s, swap->a, swap->b, swap->first)) swap->first++;
    while (swap->last > swap->first && !both_seen(s, swap->a, swap->b, swap->last)) swap->last--;
    for (int f = swap->first; f <= swap->last; f++) n += both_seen(s, swap->a, swap->b, f);
    int step = n / LOOKED_AT + 1;
    for (int f = swap->first; f <= swap->last; f++) {
        if (!both_seen(s, swap->a, swap->b, f) || met++ % step != step / 2) continue;
        double given = INFINITY, exchanged = INFINITY;
        SN_TRY(solve(s, swap->a, -1, f, f, &given));
        SN_TRY(solve(s, swap->a, swap->b, f, f, &exchanged));
        // the fit may have turned a limb over to follow the labels: also from outside of the stretch
        if (swap->first > 0) SN_TRY(solve(s, swap->a, swap->b, f, swap->first - 1, &exchanged));
        if (swap->last + 1 < s->in->count)
            SN_TRY(solve(s, swap->a, swap->b, f, swap->last + 1, &exchanged));
        swap->given += given;
        swap->exchanged += exchanged;
    }
    return SN_OK;
}

// The stretches between the frames in which a pair crosses or comes back.
static sn_status judge_pair(search *s, int a, int b, const int *event, int nevent, sn_fit_swap *out,
                            int most, int *count) {
    for (int k = 0; k <= nevent; k++) {
        sn_fit_swap swap = {.a = a,
                            .b = b,
                            .first = k > 0 ? event[k - 1] : 0,
                            .last = (k < nevent ? event[k] : s->in->count) - 1};
        SN_TRY(judge(s, &swap));
        if (swap.exchanged < better * swap.given && *count < most) out[(*count)++] = swap;
    }
    return SN_OK;
}

static bool known(int (*pairs)[2], int n, int a, int b) {
    for (int k = 0; k < n; k++)
        if (pairs[k][0] == a && pairs[k][1] == b) return true;
    return false;
}

// All frames in which a pair crosses, or comes back after so long that it may have.
static int find_events(search *s, int a, int b, int *event) {
    int n = 0, seen = 0;
    for (int f = 0; f < s->in->count && n < MOST_EVENTS; f++) {
        bool both = both_seen(s, a, b, f);
        if (both && (f - seen > s->reach || (find_jumps(s, f) >= 2 && cross(s, a, b, f))))
            event[n++] = f;
        if (both) seen = f;
    }
    return n;
}

// The same of all labels of two sides at once: how many pairs cross, of those that are seen.
static bool most_cross(const search *s, const int (*pair)[2], int npair, int frame) {
    int seen = 0, crossed = 0;
    for (int i = 0; i < npair; i++) {
        seen += both_seen(s, pair[i][0], pair[i][1], frame);
        crossed += cross(s, pair[i][0], pair[i][1], frame);
    }
    return crossed > 0 && 2 * crossed >= seen;
}

static sn_status search_all(search *s, sn_fit_swap *out, int most, int *count) {
    int nmarker = sn_model_nmarker(s->in->model), pairs[MOST_EVENTS][2], npair = 0;
    for (int f = 1; f < s->in->count; f++) {
        if (find_jumps(s, f) < 2) continue;
        for (int a = 0; a < nmarker; a++)
            for (int b = a + 1; s->off[a] && b < nmarker; b++) {
                int event[MOST_EVENTS];
                if (npair == MOST_EVENTS || !cross(s, a, b, f) || known(pairs, npair, a, b))
                    continue;
                pairs[npair][0] = a, pairs[npair++][1] = b;
                int n = find_events(s, a, b, event);
                SN_TRY(judge_pair(s, a, b, event, n, out, most, count));
                (void)find_jumps(s, f);
            }
    }
    return SN_OK;
}

static sn_status open_search(search *s, const sn_fit_input *input, const sn_motion *motion,
                             const sn_allocator *allocator) {
    size_t n = (size_t)sn_model_nmarker(input->model) + 1, nq = (size_t)sn_model_nq(input->model);
    double rate = sn_recording_about(input->recording)->rate;
    *s = (search){.in = input,
                  .motion = motion,
                  .allocator = allocator,
                  .reach = rate > 20 ? (int)fmin(rate / 10, 100) : 2,
                  .width = 3 * (size_t)sn_recording_about(input->recording)->nmarker};
    s->going = sn_acquire(allocator, n * sizeof *s->going);
    s->off = sn_acquire(allocator, n * sizeof *s->off);
    s->q = sn_acquire(allocator, (nq + 1) * sizeof *s->q);
    return s->going == NULL || s->off == NULL || s->q == NULL ? SN_ERR_MEMORY : SN_OK;
}

static void close_search(search *s) {
    sn_solver_destroy(s->solver);
    sn_problem_destroy(s->problem);
    sn_release(s->allocator, s->q);
    sn_release(s->allocator, s->off);
    sn_release(s->allocator, s->going);
}

sn_status sn_fit_swaps(const sn_fit_input *input, const sn_motion *motion,
                       const sn_allocator *allocator, sn_fit_swap *out, int most, int *count) {
    if (motion == NULL || out == NULL || count == NULL || most < 0 ||
        !sn_fit_input_good(input, motion))
        return SN_ERR_ARGUMENT;
    search s;
    *count = 0;
    sn_status status = open_search(&s, input, motion, allocator);
    if (status == SN_OK) status = search_all(&s, out, most, count);
    close_search(&s);
    return status;
}

sn_status sn_fit_swap_events(const sn_fit_input *input, const int (*pair)[2], int npair,
                             const sn_allocator *allocator, int *out, int most, int *count) {
    search s;
    sn_status status = open_search(&s, input, NULL, allocator);
    *count = 0;
    for (int f = 1; f < input->count && status == SN_OK && *count < most; f++)
        if (find_jumps(&s, f) >= 2 && most_cross(&s, pair, npair, f)) out[(*count)++] = f;
    // a pair may have been exchanged while it was hidden
    if (npair == 1 && status == SN_OK && most >= MOST_EVENTS)
        *count = find_events(&s, pair[0][0], pair[0][1], out);
    close_search(&s);
    return status;
}
