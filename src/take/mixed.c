// SPDX-License-Identifier: MIT
// Labels that are exchanged before anything is calibrated, often in all of the take. A calibration would absorb that: a
// forearm turns over, a foot points backwards, and the error is small.
//
// Each marker is where the set has it, as well as that is known, and joints are as likely as in a calibration. So
//
//   f = sum over markers |r|^2 / (doubt^2 + sigma^2) + postures and ranges
//
// of a frame is how unlikely it is. Two frames are solved so, then with the labels of each two neighbours exchanged, of
// left and right, and of both arms or both legs at once. What lowers f in one of them is looked at in more frames, stretch
// by stretch where these markers jump. By how much f falls there decides, and where that is not enough, two calibrations
// do: how unlikely a whole take is shows in smaller differences.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/vec3.h"
#include "model/model.h"
#include "solvers/solver.h"
#include "take/body.h"
#include "take/estimate.h"
#include "take/posture.h"
#include "take/take.h"

// What a marker is off its place in a frame, metres; and how far a joint goes beyond its range, radians.
static const double sigma = 0.01, range = 0.1;

// By how much f falls per frame. Right labels stay at 0.1 and below (all clips, their halves and OpenSim's examples) but for
// wrists on skeletons of others, 3.7. Exchanged ones are at 1.2 (wrists 5 cm wide) to 290; all but those of wrists above 60.
static const double suspicious = 0.9, certain = 30;

// By how much a calibration is less unlikely: -1.8 and below where right labels were exchanged on trial, on skeletons of
// others too; 7 and above where exchanged ones were put right.
static const double sure = 6, likely = 4;

// Where f per marker stays above that, the skeleton is another's: twice as much.
static const double poor = 1.3;

// What f is then per marker: with right labels 0.4 to 3.4, with two more pairs still exchanged 6; on a skeleton on which the
// set's places are not known 35 (LaFAN1's with a CMU walk).
static const double fits = 12;

// And by how much it is above f without these markers, per pair: 0.1 to 5.5. A marker that has fallen off fits with no label.
static const double belongs = 12;

// Markers so near to each other turn a limb over when they are exchanged: it is also solved from rest, metres.
static const double turns_over = 0.3;

// In the first frame f rises by so much: that is not exchanged.
static const double plainly_right = -15;

enum { EVENTS = 32, IN_ALL = 8, IN_STRETCH = 3, MOST_TRIED = 2 };
enum { MOST_MENDED = 6, MOST_CANDIDATES = 300 };

typedef struct candidate {
    sn_exchange what;
    int top;     // the joint its limb begins with, -1 for none
    bool turns;  // it may have turned over
    double
        score;  // by how much f falls in the frames that were screened; below 0 where it does in none
    bool rejected;
} candidate;

typedef struct mixing {
    sn_take *t;
    const double *doubt;
    sn_fit_input in;
    sn_posture_prior posture;
    sn_problem *problem;
    sn_solver *solver;
    double *given, *q;  // poses: of the frame with labels as they are, and at work
    int *top, *twin;    // per marker: the joint its limb begins with, its twin
    int *carries;       // per joint: it has markers
    sn_fit_few few;     // frames to begin with
    candidate *list;
    int count;
} mixing;

// --- one frame ---------------------------------------------------------------------------------------

static sn_status make_problem(mixing *x, double *pull) {
    const sn_model *m = x->in.model;
    const sn_allocator *allocator = &x->t->allocator;
    sn_problem *markers = NULL;
    sn_task extra[2] = {sn_task_default(SN_TASK_REST), sn_task_default(SN_TASK_LIMIT)};
    for (int v = 0; v < sn_model_nv(m); v++) {
        const double s = x->posture.rest[v];
        pull[v] = isfinite(s) && s > 0 ? 1 / (s * s) : 0;
    }
    extra[0].q = x->posture.home;
    extra[0].q_weight = pull;
    extra[1].lower = x->posture.lower;
    extra[1].upper = x->posture.upper;
    extra[1].weight = 1 / (range * range);
    SN_TRY(sn_problem_create_markers(m, allocator, &markers, NULL));
    const sn_status status = sn_problem_copy(markers, extra, 2, allocator, &x->problem, NULL);
    sn_problem_destroy(markers);
    return status;
}

// Whose label a marker gets.
static int label_of(const sn_exchange *e, int marker) {
    for (int i = 0; e != NULL && i < e->npair; i++)
        for (int k = 0; k < 2; k++)
            if (e->pair[i][k] == marker) return e->pair[i][1 - k];
    return marker;
}

// @param without  what would be exchanged is left out
static sn_status set_frame(mixing *x, int frame, const sn_exchange *e, bool without) {
    for (int i = 0; i < sn_model_nmarker(x->in.model); i++) {
        double goal[3];
        const bool out = without && label_of(e, i) != i;
        if (!out && sn_fit_goal(&x->in, label_of(e, i), x->in.first + frame, goal)) {
            SN_TRY(sn_problem_set_goal(x->problem, i, goal));
            SN_TRY(sn_problem_set_weight(x->problem, i,
                                         1 / (x->doubt[i] * x->doubt[i] + sigma * sigma)));
        } else {
            SN_TRY(sn_problem_set_missing(x->problem, i, true));
        }
    }
    return SN_OK;
}

// The frame as it was set.
static sn_status solve_from_nothing(mixing *x, double *q, double *f) {
    sn_report report;
    SN_TRY(sn_take_check_cancel(x->t));
    memcpy(q, x->posture.home, (size_t)sn_model_nq(x->in.model) * sizeof *q);
    SN_TRY(sn_solver_solve_cold(x->solver, q, &report));
    *f = report.f;
    return SN_OK;
}

// From the pose that the labels as they are led to; or from there with the limb at rest, as it may have turned over.
static sn_status solve_exchanged(mixing *x, const candidate *c, bool rest, int frame, double *f) {
    const sn_model *m = x->in.model;
    sn_report report;
    SN_TRY(set_frame(x, frame, &c->what, false));
    memcpy(x->q, x->given, (size_t)m->nq * sizeof *x->q);
    for (int j = rest ? c->top : m->njoint; j < m->njoint; j++)
        if (sn_body_is_above(m, c->top, j))
            memcpy(x->q + m->joint[j].q0, x->posture.home + m->joint[j].q0,
                   (size_t)m->joint[j].nq * sizeof *x->q);
    SN_TRY(sn_solver_solve(x->solver, x->q, &report));
    *f = report.f;
    return SN_OK;
}

// The same from all of these and, where that is no limb's matter alone, from nothing.
static sn_status solve_each_way(mixing *x, const candidate *c, int frame, double *f) {
    double other = INFINITY;
    SN_TRY(solve_exchanged(x, c, false, frame, f));
    if (c->turns)
        SN_TRY(solve_exchanged(x, c, true, frame, &other));
    else
        SN_TRY(solve_from_nothing(x, x->q, &other));
    *f = fmin(*f, other);
    return SN_OK;
}

static bool sees(const mixing *x, int marker, int frame) {
    double goal[3];
    return sn_fit_goal(&x->in, marker, x->in.first + frame, goal);
}

static int seen_in(const mixing *x, int frame) {
    int n = 0;
    for (int i = 0; i < sn_model_nmarker(x->in.model); i++) n += sees(x, i, frame);
    return n;
}

// Does a frame see both of each pair, of several pairs most?
static bool shows(const mixing *x, const sn_exchange *e, int frame) {
    int n = 0;
    for (int i = 0; i < e->npair; i++)
        n += sees(x, e->pair[i][0], frame) && sees(x, e->pair[i][1], frame);
    return n > 0 && 4 * n >= 3 * e->npair;
}

// --- what may be exchanged -----------------------------------------------------------------------------

// The joint that carries a marker's limb, -1 for none.
static int limb_of(const sn_model *m, int marker) {
    static const sn_body tops[] = {SN_BODY_UPPER_ARM, SN_BODY_THIGH};
    for (int i = 0; i < 4; i++) {
        const int top = sn_body_carrier(m, tops[i / 2], i % 2);
        if (top >= 0 && sn_body_is_above(m, top, sn_model_marker(m, marker)->joint)) return top;
    }
    return -1;
}

static void find_places(mixing *x) {
    const sn_model *m = x->in.model;
    memset(x->carries, 0, (size_t)m->njoint * sizeof *x->carries);
    for (int i = 0; i < sn_model_nmarker(m); i++) {
        x->top[i] = limb_of(m, i);
        x->twin[i] = sn_fit_twin(m, i);
        x->carries[sn_model_marker(m, i)->joint] = 1;
    }
}

// How many joints with markers it is from one up to the other, that one counted; -1 where it is not above.
static int steps_up(const mixing *x, int from, int to) {
    int n = 0;
    for (int j = from; j != to; j = sn_model_parent(x->in.model, j)) {
        if (j < 0) return -1;
        n += j != from && x->carries[j];
    }
    return n + (from != to);
}

static bool is_known(const mixing *x, int marker) {
    return x->doubt[marker] <= SN_ESTIMATE_WELL_KNOWN;
}

// On one joint or the next; on a limb whose places are known on the one behind that, too, as an elbow's and a wrist's.
static bool neighbours(const mixing *x, int a, int b) {
    const sn_model *m = x->in.model;
    const int i = sn_model_marker(m, a)->joint, k = sn_model_marker(m, b)->joint;
    const int up = steps_up(x, i, k), steps = up >= 0 ? up : steps_up(x, k, i);
    const bool limb = x->top[a] >= 0 && x->top[a] == x->top[b],
               far = limb && is_known(x, a) && is_known(x, b);
    return steps >= 0 && steps <= (far ? 2 : 1);
}

static void add(mixing *x, const sn_exchange *what, int top, bool turns) {
    if (x->count < MOST_CANDIDATES && what->npair > 0)
        x->list[x->count++] = (candidate){.what = *what, .top = top, .turns = turns};
}

// How long a hand is between wrist and fingers, and which way these are bent, hardly any skeleton says right.
static bool spans_hand(const sn_model *m, int a, int b) {
    const int i = sn_model_marker(m, a)->joint, k = sn_model_marker(m, b)->joint;
    for (int side = 0; side < 2 && i != k; side++) {
        const int fingers = sn_body_carrier(m, SN_BODY_FINGERS, side);
        if (fingers >= 0 && (i == fingers || k == fingers)) return true;
    }
    return false;
}

// Markers whose places nobody knows tell nothing of each other.
static bool may_be(const mixing *x, int a, int b) {
    return x->in.column[a] >= 0 && x->in.column[b] >= 0 && (is_known(x, a) || is_known(x, b)) &&
           (x->twin[a] == b || (neighbours(x, a, b) && !spans_hand(x->in.model, a, b)));
}

// All labels of both legs, of both arms from the shoulders on, or from the elbows' bones on.
static void add_sides(mixing *x, bool legs, bool shoulders) {
    const sn_model *m = x->in.model;
    sn_exchange e = {.sides = legs ? "legs" : "arms", .mended = true};
    for (int i = 0; i < sn_model_nmarker(m) && e.npair < SN_EXCHANGE_PAIRS; i++) {
        const int twin = x->twin[i];
        if (twin <= i || !sn_fit_is_on(m, legs, i) || (!shoulders && x->top[i] < 0) ||
            x->in.column[i] < 0 || x->in.column[twin] < 0)
            continue;
        e.pair[e.npair][0] = i, e.pair[e.npair++][1] = twin;
    }
    // one pair is looked at by itself, and no two ways alike
    const bool known = x->count > 0 && x->list[x->count - 1].what.npair == e.npair &&
                       x->list[x->count - 1].what.pair[0][0] == e.pair[0][0];
    if (e.npair > 1 && !known) add(x, &e, -1, false);
}

static sn_status find_candidates(mixing *x) {
    const sn_model *m = x->in.model;
    sn_fit_place at;
    sn_status status = sn_fit_place_open(&at, m, &x->t->allocator);
    find_places(x);
    if (status == SN_OK) status = sn_workspace_pose(at.workspace, x->posture.home);
    add_sides(x, false, true);
    add_sides(x, false, false);
    add_sides(x, true, true);
    for (int a = 0; a < sn_model_nmarker(m) && status == SN_OK; a++)
        for (int b = a + 1; b < sn_model_nmarker(m); b++) {
            if (!may_be(x, a, b)) continue;
            const sn_marker_desc *d = sn_model_marker(m, a), *e = sn_model_marker(m, b);
            const sn_vec3 p = sn_workspace_point(at.workspace, d->joint, d->position),
                          r = sn_workspace_point(at.workspace, e->joint, e->position);
            const int top = x->top[a] == x->top[b] ? x->top[a] : -1;
            const sn_exchange what = {.npair = 1, .pair = {{a, b}}, .mended = true};
            add(x, &what, top, top >= 0 && v3_norm(v3_sub(p, r)) < turns_over);
        }
    sn_fit_place_close(&at, &x->t->allocator);
    return status;
}

// --- stretches -----------------------------------------------------------------------------------------------

typedef struct stretch {
    int first, last, frames, seen;  // of these frames together: markers
    double given, exchanged, without;
} stretch;

// f of some frames of a stretch.
static sn_status look(mixing *x, const candidate *c, int wanted, stretch *s) {
    int n = 0, met = 0;
    for (int f = s->first; f <= s->last; f++) n += shows(x, &c->what, f);
    const int step = n / wanted + (n % wanted > 0);
    for (int f = s->first; f <= s->last; f++) {
        double given, exchanged;
        sn_report report;
        if (!shows(x, &c->what, f) || met++ % step != step / 2) continue;
        SN_TRY(set_frame(x, f, NULL, false));
        SN_TRY(solve_from_nothing(x, x->given, &given));
        SN_TRY(solve_each_way(x, c, f, &exchanged));
        // from where the last of these ended
        SN_TRY(set_frame(x, f, &c->what, true));
        SN_TRY(sn_solver_solve(x->solver, x->q, &report));
        s->without += report.f;
        s->given += given;
        s->exchanged += exchanged;
        s->frames++;
        s->seen += seen_in(x, f);
    }
    return SN_OK;
}

// Do markers fit in the stretches that are exchanged? @param rest  f per marker
static bool fits_then(const candidate *c, const stretch *s, int count, double *rest) {
    double exchanged = 0, without = 0;
    int frames = 0, seen = 0;
    for (int k = 0; k < count; k++) {
        if (!(s[k].exchanged < s[k].given)) continue;
        exchanged += s[k].exchanged, without += s[k].without;
        frames += s[k].frames, seen += s[k].seen;
    }
    *rest = exchanged / fmax(seen, 1);
    return *rest < fits && exchanged - without < belongs * c->what.npair * frames;
}

// The stretches between jumps; how many, and by how much f falls per frame in those in which it does.
static sn_status examine(mixing *x, const candidate *c, stretch out[EVENTS + 1], int *count,
                         double *falls, double *rest) {
    int event[EVENTS], nevent, frames = 0;
    double sum = 0;
    SN_TRY(sn_fit_swap_events(&x->in, c->what.pair, c->what.npair, &x->t->allocator, event, EVENTS,
                              &nevent));
    *count = nevent + 1;
    for (int k = 0; k <= nevent; k++) {
        out[k] = (stretch){.first = k > 0 ? event[k - 1] : 0,
                           .last = (k < nevent ? event[k] : x->in.count) - 1};
        SN_TRY(look(x, c, nevent == 0 ? IN_ALL : IN_STRETCH, &out[k]));
        if (!(out[k].exchanged < out[k].given)) continue;
        sum += out[k].given - out[k].exchanged;
        frames += out[k].frames;
    }
    *falls = frames > 0 && fits_then(c, out, *count, rest) ? sum / frames : 0;
    return SN_OK;
}

// --- screening ---------------------------------------------------------------------------------------------

// f of one more frame with each exchange.
static sn_status screen_frame(mixing *x, int frame, double given, bool first, bool all) {
    for (int i = 0; i < x->count; i++) {
        candidate *c = &x->list[i];
        double f;
        // what jumps in mid-take and is plain to see is found once the take is fitted
        const bool plain = !first && !all && c->score < plainly_right && c->what.sides == NULL;
        if (c->rejected || plain || !shows(x, &c->what, frame)) continue;
        SN_TRY(solve_exchanged(x, c, c->turns, frame, &f));
        if (first || c->score < 0) c->score = fmin(given - f, 0);
        c->score += fmax(given - f, 0) / x->few.count;
    }
    return SN_OK;
}

// Where all markers of two limbs jump at once, these are looked at in any case.
static sn_status screen_sides(mixing *x) {
    for (int i = 0; i < x->count; i++) {
        const candidate *c = &x->list[i];
        int event[EVENTS], n;
        stretch s[EVENTS + 1];
        double falls, rest;
        if (c->what.sides == NULL || c->rejected) continue;
        SN_TRY(sn_fit_swap_events(&x->in, c->what.pair, c->what.npair, &x->t->allocator, event,
                                  EVENTS, &n));
        if (n == 0) continue;
        SN_TRY(examine(x, c, s, &n, &falls, &rest));
        x->list[i].score = fmax(x->list[i].score, falls);
    }
    return SN_OK;
}

// @param all  also what is plain to see
static sn_status screen(mixing *x, bool all) {
    const size_t nq = (size_t)sn_model_nq(x->in.model);
    for (int i = 0; i < x->count; i++) x->list[i].score = 0;
    for (int k = 0; k < x->few.count; k++) {
        const int frame = x->few.frame[k] - x->in.first;
        sn_report report;
        SN_TRY(sn_take_check_cancel(x->t));
        SN_TRY(set_frame(x, frame, NULL, false));
        memcpy(x->given, x->few.q + (size_t)k * nq, nq * sizeof *x->given);
        SN_TRY(sn_solver_solve(x->solver, x->given, &report));
        SN_TRY(screen_frame(x, frame, report.f, k == 0, all));
    }
    return screen_sides(x);
}

static candidate *most_likely(const mixing *x) {
    candidate *best = NULL;
    for (int i = 0; i < x->count; i++) {
        candidate *c = &x->list[i];
        if (!c->rejected && c->score > suspicious && (best == NULL || c->score > best->score))
            best = c;
    }
    return best;
}

// --- deciding ------------------------------------------------------------------------------------------------

// A stretch that shows nothing goes with the one before it.
static bool is_exchanged(const stretch *s, int k) {
    while (k > 0 && s[k].frames == 0) k--;
    return s[k].exchanged < s[k].given;
}

static sn_status exchange_all(mixing *x, const sn_exchange *what, const stretch *s, int count) {
    for (int k = 0; k < count; k++) {
        sn_exchange e = *what;
        if (!is_exchanged(s, k)) continue;
        e.given = s[k].given, e.exchanged = s[k].exchanged;
        SN_TRY(sn_take_exchange(x->t, &e, s[k].first, s[k].last));
        x->in.recording = x->t->input.recording;
    }
    return SN_OK;
}

// Two calibrations, which leave the labels as they were.
static sn_status weigh(mixing *x, const sn_exchange *what, const stretch *s, int count,
                       double *less) {
    double before, after = 0;
    SN_TRY(sn_take_weigh_labels(x->t, &before));
    SN_TRY(exchange_all(x, what, s, count));
    sn_status status = sn_take_weigh_labels(x->t, &after);
    *less = before - after;
    SN_TRY(exchange_all(x, what, s, count));
    return status;
}

// @param mended  labels were put right
static sn_status decide(mixing *x, candidate *c, bool *mended) {
    stretch s[EVENTS + 1];
    int count;
    double falls, rest, less = 0;
    *mended = false;
    c->rejected = true;
    SN_TRY(examine(x, c, s, &count, &falls, &rest));
    if (!(falls > suspicious)) return SN_OK;
    // where hardly anything is where the set has it a little says nothing
    if (falls < certain && rest > 2 * poor) return SN_OK;
    if (falls < certain) SN_TRY(weigh(x, &c->what, s, count, &less));
    const double times = rest > poor ? 2 : 1;
    *mended = falls >= certain || less > times * sure;
    if (!*mended && less < times * likely) return SN_OK;
    sn_exchange told = c->what;
    told.mended = *mended;
    // else these labels may be wrong in the whole take
    told.doubtful = !*mended;
    return exchange_all(x, &told, s, count);
}

static sn_status mend(mixing *x, bool *mended) {
    int tried = 0;
    SN_TRY(find_candidates(x));
    for (int round = 0; round < MOST_MENDED; round++) {
        bool found = false;
        SN_TRY(screen(x, round > 0));
        // of all that it may be the likeliest
        if (round == 0 && most_likely(x) != NULL) SN_TRY(screen(x, true));
        for (candidate *c; !found && tried < MOST_TRIED && (c = most_likely(x)) != NULL;) {
            SN_TRY(decide(x, c, &found));
            tried += !found;
        }
        if (!found) break;
        *mended = true;
    }
    return SN_OK;
}

// --- all of it -----------------------------------------------------------------------------------------------

sn_status sn_take_find_mixed(sn_take *t, const double *doubt, const sn_fit_few *few, bool *mended) {
    mixing x = {.t = t, .doubt = doubt, .in = t->input, .few = *few};
    const size_t nq = (size_t)sn_model_nq(t->limited), nv = (size_t)sn_model_nv(t->limited);
    const sn_allocator *allocator = &t->allocator;
    sn_solver_options o = sn_solver_options_default();
    *mended = false;
    // what OpenSim's own tool is asked for counts every sample as it is; the set hardly knows a skeleton that was stood up
    if (t->options.setup != NULL || t->standing != NULL) return SN_OK;
    x.in.model = t->limited;
    o.max_iterations = 40;
    o.gradient = 1e-2;
    o.cancel = t->options.cancel;
    const size_t n = (size_t)sn_model_nmarker(t->limited),
                 njoint = (size_t)sn_model_njoint(t->limited);
    x.given = sn_acquire(allocator, (2 * nq + nv + 1) * sizeof *x.given);
    x.top = sn_acquire(allocator, (2 * n + njoint) * sizeof *x.top);
    x.list = sn_acquire(allocator, MOST_CANDIDATES * sizeof *x.list);
    sn_status status = x.given == NULL || x.list == NULL || x.top == NULL ? SN_ERR_MEMORY : SN_OK;
    if (status == SN_OK)
        status = sn_posture_find(t->limited, t->options.coordinates, allocator, &x.posture);
    if (status == SN_OK) sn_posture_leave(t->limited, t->left, &x.posture);
    if (status == SN_OK) {
        x.q = x.given + nq;
        x.twin = x.top + n;
        x.carries = x.twin + n;
        status = make_problem(&x, x.q + nq);
    }
    if (status == SN_OK) status = sn_solver_create(x.problem, &o, allocator, &x.solver, NULL);
    if (status == SN_OK) status = mend(&x, mended);
    sn_solver_destroy(x.solver);
    sn_problem_destroy(x.problem);
    sn_release(allocator, x.posture.home);
    sn_release(allocator, x.list);
    sn_release(allocator, x.top);
    sn_release(allocator, x.given);
    return status;
}
