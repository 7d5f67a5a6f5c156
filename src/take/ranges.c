// SPDX-License-Identifier: MIT
// Ranges of an .osim file that a person leaves.
//
// Many models lift an arm by 90 degrees and no further, as they were made for walking. Where a person reaches up, the arm
// stays at that, the trunk leans back to bring the hand near its marker, and a calibration finds a body that leans so: on
// such a model subject4's drop jump had the back extended by 24 degrees and the pelvis tilted by 13, and the verdict was
// good. So once there are poses, frames in which joints stand at the end of such a range, or beyond, are solved twice, with
// these ranges and without. Where f falls by far, each joint that has gone far beyond is asked by itself whether it was that
// one. If so, its range holds no longer, and what it held, calibration and fit, is made anew.
//
// Only where a body goes further than many models do: a shoulder goes anywhere, a hip nearly so, an elbow and a knee bend
// further, but not back. Joints that stand at an end because markers say little of them hardly change f, and stay: what
// is left of it without the ranges is 0.77 and more of it where they are right, and 0.17 to 0.3 where they were left.
#include <math.h>
#include <string.h>

#include "model/joint.h"
#include "solvers/solver.h"
#include "take/body.h"
#include "take/posture.h"
#include "take/take.h"
#include "tasks/problem.h"

static const double degree = 0x1.1df46a2529d39p-6;

// So much of f without a range, of that with it; and where it is worth looking at more frames.
static const double fell_to = 0.6, fell_a_little = 0.85;

// How far from its range a joint must go for it, degrees: what a shape that is not quite right asks for is less.
static const double far_beyond = 15;

// At the end of a range, radians.
static const double at_end = 1e-3;

// Elbows and knees begin within this of straight, and bend no further than that, degrees.
static const double straight = 30, most_bent = 165;

// Frames of each joint that are looked at, every fourth of them first; and in how many it must be so.
enum { LOOKED_AT = 24, FIRST = 4, LEAST_FRAMES = 3 };

typedef struct candidate {
    int joint, index, q, v;
    double lower, upper;
    bool below, above;  // a body goes further there
    bool bends;         // an elbow or a knee
    int frames;         // in which it is so,
    double reached;     // and where it was the furthest
} candidate;

typedef struct search {
    sn_take *t;
    sn_fit_input input;
    sn_posture_prior posture;
    sn_problem *problem;
    sn_solver *solver;
    int count;
    candidate *candidate;   // nv
    unsigned char *chosen;  // per frame: 1 to look at first, 2 then, 0 not
    bool promising;
    unsigned char *dropped;     // count x nmarker
    double *held, *free, *one;  // poses
} search;

// --- where to look ---------------------------------------------------------------------------------

static bool stands_at(const search *s, const candidate *c, int frame) {
    const double x = sn_motion_frame(s->t->motion, frame)[c->q];
    return (c->below && x <= c->lower + at_end) || (c->above && x >= c->upper - at_end);
}

// Frames spread over those in which it stands at an end; false where there are too few.
static bool choose_frames(search *s, const candidate *c) {
    int n = 0, i = 0;
    for (int f = 0; f < s->input.count; f++) n += stands_at(s, c, f);
    const int step = n / LOOKED_AT + 1;
    for (int f = 0; f < s->input.count && n >= LEAST_FRAMES; f++) {
        if (!stands_at(s, c, f)) continue;
        const int k = i++;
        if (k % step == step / 2 && s->chosen[f] != 1) s->chosen[f] = k / step % FIRST == 0 ? 1 : 2;
    }
    return n >= LEAST_FRAMES;
}

// An elbow or a knee leaves its range where it bends, and that only where the other end is about straight.
static void choose_end(candidate *c) {
    const bool at_lower = fabs(c->lower) < fabs(c->upper);
    const double first = at_lower ? c->lower : c->upper;
    c->below = c->below && !at_lower && fabs(first) < straight * degree;
    c->above = c->above && at_lower && fabs(first) < straight * degree;
}

// Where its function is, whatever the markers say.
static bool is_prescribed(const sn_ik_plan *p, int joint, int index) {
    for (int i = 0; i < p->nprescribed; i++)
        if (p->prescribed[i].at.joint == joint && p->prescribed[i].at.index == index) return true;
    return false;
}

static void add_joint(search *s, int joint, bool bends) {
    const sn_model *m = s->input.model;
    if (sn_joint_ops_of(sn_model_joint(m, joint)->type)->quaternion >= 0) return;
    for (int i = 0; i < sn_model_joint_nv(m, joint); i++) {
        const int v = sn_model_v_index(m, joint) + i;
        candidate c = {.joint = joint,
                       .index = i,
                       .q = sn_model_q_index(m, joint) + i,
                       .v = v,
                       .lower = s->posture.lower[v],
                       .upper = s->posture.upper[v],
                       .bends = bends};
        c.below = isfinite(c.lower), c.above = isfinite(c.upper);
        if (bends) choose_end(&c);
        if (sn_model_gain(m)[v] == 0 || sn_model_is_length(m, joint, i)) continue;
        if (is_prescribed(&s->t->plan, joint, i)) continue;
        if (choose_frames(s, &c)) s->candidate[s->count++] = c;
    }
}

static bool carries(const sn_model *m, int joint) {
    for (int i = 0; i < sn_model_nframe(m); i++)
        if (sn_model_frame(m, i)->joint == joint) return true;
    return false;
}

// A joint of the file is a chain here, its body at the end.
static void find_candidates(search *s) {
    static const sn_body limbs[2][2] = {{SN_BODY_UPPER_ARM, SN_BODY_FOREARM},
                                        {SN_BODY_THIGH, SN_BODY_SHIN}};
    const sn_model *m = s->input.model;
    for (int k = 0; k < 4; k++) {
        const int upper = sn_body_carrier(m, limbs[k / 2][0], k % 2),
                  lower = sn_body_carrier(m, limbs[k / 2][1], k % 2);
        if (upper < 0) continue;
        int j = upper;
        do {
            add_joint(s, j, false);
            j = sn_model_parent(m, j);
        } while (j >= 0 && !carries(m, j));
        for (j = lower; lower >= 0 && sn_body_is_above(m, upper, lower) && j != upper;
             j = sn_model_parent(m, j))
            add_joint(s, j, true);
    }
}

// --- with ranges and without -----------------------------------------------------------------------

static sn_status hold(search *s, const candidate *c, bool holds) {
    return sn_problem_set_limits(s->problem, c->joint, c->index,
                                 holds || !c->below ? c->lower : -INFINITY,
                                 holds || !c->above ? c->upper : INFINITY);
}

static sn_status hold_all(search *s, bool holds) {
    for (int i = 0; i < s->count; i++) SN_TRY(hold(s, &s->candidate[i], holds));
    return SN_OK;
}

static void bring_back(const candidate *c, double *q) {
    q[c->q] = fmin(fmax(q[c->q], c->lower), c->upper);
}

static double beyond(const candidate *c, const double *q) {
    return fmax(q[c->q] - c->upper, c->lower - q[c->q]);
}

// f and a pose from another one.
static sn_status solve(search *s, const double *from, double *q, double *f) {
    sn_report report;
    if (q != from) memcpy(q, from, (size_t)sn_model_nq(s->input.model) * sizeof *q);
    SN_TRY(sn_solver_solve(s->solver, q, &report));
    *f = report.f;
    return SN_OK;
}

// Which of the joints that went beyond their ranges it was: with that range alone f is high again.
static sn_status ask_each(search *s, double held, double free) {
    for (int i = 0; i < s->count; i++) {
        candidate *c = &s->candidate[i];
        double f;
        if (beyond(c, s->free) < far_beyond * degree) continue;
        memcpy(s->one, s->free, (size_t)sn_model_nq(s->input.model) * sizeof *s->one);
        bring_back(c, s->one);
        SN_TRY(hold(s, c, true));
        SN_TRY(solve(s, s->one, s->one, &f));
        SN_TRY(hold(s, c, false));
        if (!(free < fell_to * fmin(f, held))) continue;
        if (c->bends && fabs(s->free[c->q]) > most_bent * degree) continue;
        const double before =
            c->frames > 0 ? fmax(c->reached - c->upper, c->lower - c->reached) : 0;
        if (beyond(c, s->free) > before) c->reached = s->free[c->q];
        c->frames++;
    }
    return SN_OK;
}

static sn_status look_at(search *s, int frame) {
    double held, free;
    SN_TRY(sn_fit_goals(&s->input, frame, s->problem));
    SN_TRY(hold_all(s, true));
    memcpy(s->held, sn_motion_frame(s->t->motion, frame),
           (size_t)sn_model_nq(s->input.model) * sizeof *s->held);
    for (int i = 0; i < s->count; i++) bring_back(&s->candidate[i], s->held);
    SN_TRY(solve(s, s->held, s->held, &held));
    SN_TRY(hold_all(s, false));
    SN_TRY(solve(s, s->held, s->free, &free));
    s->promising = s->promising || free < fell_a_little * held;
    return free < fell_to * held ? ask_each(s, held, free) : SN_OK;
}

// --- the take --------------------------------------------------------------------------------------

static sn_status open_search(search *s) {
    sn_take *t = s->t;
    const size_t nq = (size_t)sn_model_nq(t->limited), nv = (size_t)sn_model_nv(t->limited);
    const sn_allocator *allocator = &t->allocator;
    s->input = t->fitting.input;
    s->input.model = t->limited;
    s->input.nfill = 0;
    s->candidate = sn_acquire(allocator, (nv + 1) * sizeof *s->candidate);
    s->held = sn_acquire(allocator, 3 * (nq + 1) * sizeof *s->held);
    s->chosen = sn_acquire(allocator, (size_t)s->input.count * sizeof *s->chosen);
    s->dropped =
        sn_acquire(allocator, (size_t)s->input.count * ((size_t)sn_model_nmarker(t->limited) + 1));
    if (s->candidate == NULL || s->held == NULL || s->chosen == NULL || s->dropped == NULL)
        return SN_ERR_MEMORY;
    s->free = s->held + nq, s->one = s->free + nq;
    memset(s->chosen, 0, (size_t)s->input.count * sizeof *s->chosen);
    // a hand that its arm cannot follow looks wrong to the fit, which has left it out
    SN_TRY(sn_fit_drop_leaps(&s->input, allocator, s->dropped));
    s->input.dropped = s->dropped;
    SN_TRY(sn_posture_find(t->limited, t->options.coordinates, allocator, &s->posture));
    sn_posture_leave(t->limited, t->left, &s->posture);
    find_candidates(s);
    if (s->count == 0) return SN_OK;
    // a range holds or does not, and pulls in neither case
    sn_fit_options o = t->fitting.options;
    o.limits = SN_LIMITS_HARD;
    SN_TRY(sn_fit_problem(&s->input, &o, allocator, &s->problem, NULL));
    return sn_solver_create_plain(s->problem, &o.track.solver, allocator, &s->solver, NULL);
}

static void close_search(search *s) {
    const sn_allocator *allocator = &s->t->allocator;
    sn_solver_destroy(s->solver);
    sn_problem_destroy(s->problem);
    sn_release(allocator, s->posture.home);
    sn_release(allocator, s->dropped);
    sn_release(allocator, s->chosen);
    sn_release(allocator, s->held);
    sn_release(allocator, s->candidate);
}

static void leave(sn_left_range *at, bool lower, bool upper, double reached) {
    if (!at->lower && !at->upper) at->reached = reached;
    at->lower = at->lower || lower;
    at->upper = at->upper || upper;
}

// A range that is too narrow on one side is so on the other, where this take may just not show it.
static void leave_twin(search *s, const candidate *c, bool lower, bool upper) {
    const sn_model *m = s->input.model;
    const int twin = sn_model_mirror_joint(m, c->joint);
    if (twin < 0 || sn_model_joint_nv(m, twin) <= c->index) return;
    const int v = sn_model_v_index(m, twin) + c->index;
    const double a = s->posture.lower[v], b = s->posture.upper[v];
    if (fabs(a - c->lower) < at_end && fabs(b - c->upper) < at_end)
        leave(&s->t->left[v], lower, upper, lower ? a : b);
    else if (fabs(a + c->upper) < at_end && fabs(b + c->lower) < at_end)
        leave(&s->t->left[v], upper, lower, upper ? a : b);
}

static sn_status keep(search *s, bool *more) {
    sn_take *t = s->t;
    const size_t nv = (size_t)sn_model_nv(t->limited);
    for (int i = 0; i < s->count; i++) *more = *more || s->candidate[i].frames >= LEAST_FRAMES;
    if (!*more) return SN_OK;
    if (t->left == NULL) {
        t->left = sn_acquire(&t->allocator, nv * sizeof *t->left);
        if (t->left == NULL) return SN_ERR_MEMORY;
        for (size_t v = 0; v < nv; v++) t->left[v] = (sn_left_range){0};
    }
    for (int twin = 0; twin < 2; twin++)
        for (int i = 0; i < s->count; i++) {
            const candidate *c = &s->candidate[i];
            const bool lower = c->lower - c->reached > 0, upper = c->reached - c->upper > 0;
            if (c->frames < LEAST_FRAMES) continue;
            if (twin == 0)
                leave(&t->left[c->v], lower, upper, c->reached);
            else
                leave_twin(s, c, lower, upper);
        }
    return SN_OK;
}

sn_status sn_take_leave_ranges(sn_take *t, bool *more) {
    const sn_take_options *o = &t->options;
    const sn_handedness *h = &t->summary.handed;
    search s = {.t = t};
    *more = false;
    if (o->coordinates == NULL || o->setup != NULL) return SN_OK;
    // nothing held them; or what is wrong is something else
    if (o->limits == SN_LIMITS_OFF && !t->summary.calibrated) return SN_OK;
    if (h->looks_mirrored || h->arms_exchanged || h->legs_exchanged) return SN_OK;
    sn_status status = open_search(&s);
    for (int pass = 1; pass <= 2 && s.count > 0 && (pass == 1 || s.promising); pass++)
        for (int f = 0; f < s.input.count && status == SN_OK; f++) {
            if (sn_cancelled(o->cancel)) break;
            if (s.chosen[f] == pass) status = look_at(&s, f);
        }
    if (status == SN_OK) status = keep(&s, more);
    close_search(&s);
    return status;
}

// Of a range that the file clamps: how far the markers take a joint beyond, where it was let go and where it was held.
sn_status sn_take_tell_ranges(sn_take *t) {
    const sn_model *m = t->source;
    const bool held = t->options.limits == SN_LIMITS_HARD && !t->roams;
    if (t->options.limits == SN_LIMITS_OFF || t->left == NULL) return SN_OK;
    for (int j = 0; j < sn_model_njoint(m); j++)
        for (int i = 0; i < sn_model_joint_nv(m, j); i++) {
            const int v = sn_model_v_index(m, j) + i, q = sn_model_q_index(m, j) + i;
            const double lower = sn_model_lower(m)[v], upper = sn_model_upper(m)[v];
            if (!t->left[v].lower && !t->left[v].upper) continue;
            double reached = t->left[v].reached;
            double far = held ? fmax(reached - upper, lower - reached) : 0;
            for (int f = 0; f < t->input.count && !held; f++) {
                const double x = sn_motion_frame(t->motion, f)[q];
                if (fmax(x - upper, lower - x) > far) far = fmax(x - upper, lower - x), reached = x;
            }
            // it is as its twin, or its file clamps nothing
            if (!(far > 0)) continue;
            sn_finding *finding = sn_take_add(t, SN_FINDING_RANGE_LEFT, NULL);
            if (finding == NULL) return SN_ERR_MEMORY;
            finding->joint = j;
            finding->number[0] = lower / degree;
            finding->number[1] = upper / degree;
            finding->number[2] = reached / degree;
        }
    return SN_OK;
}
