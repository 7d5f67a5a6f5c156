// SPDX-License-Identifier: MIT
// Solving from a pose that says little about the solution.
//
// From far away a method ends in some valley of f, often not in the deepest. The other valleys are
// not anywhere: they are the same figure folded another way. A link rolled about the line from its
// own joint to the next leaves that next joint where it is, and what hangs on it can be turned back:
// the elbow bent the wrong way with the upper arm rolled over (the hinge reversed, the wrist turned
// back), a vertebra or a collar bone rolled over between its neighbours, a foot and its toes. Each is
// a valley of its own, because the markers on the link itself want one of them more.
//
// So: for every link in turn, roll it, turn what hangs on it back to where it was as well as its
// joints allow, solve from there, keep what is lower. A run that falls too slowly to get below the
// best known f is given up after a few iterations (solver.c). The moves of one limb hardly touch
// another, so going through them until a whole round has found nothing settles combinations too.
// Nothing is random: the same start gives the same pose.
//
// How far to roll: the other valleys of the clips in docs/solvers.md lie 80 to 180 degrees away.
// Runs from +-135 and 180 reach them; from +-90 many fall back. A universal joint can be rolled by
// 180 degrees only, its other angles for nearly the same place.
#include <string.h>

#include "math/align.h"
#include "math/rotation.h"
#include "math/sincos.h"
#include "model/joint_fit.h"
#include "solvers/solver.h"

static const double pi = 0x1.921fb54442d18p+1;

void sn_solver_cold_layout(sn_solver *s, sn_layout *layout) {
    size_t njoint = (size_t)s->model->njoint;
    s->cold.best = sn_layout_take(layout, (size_t)s->model->nq, sizeof *s->cold.best);
    s->cold.below = sn_layout_take(layout, njoint, sizeof *s->cold.below);
    s->cold.old = sn_layout_take(layout, njoint, sizeof *s->cold.old);
    s->cold.base = sn_layout_take(layout, njoint, sizeof *s->cold.base);
    s->cold.frame = sn_layout_take(layout, njoint, sizeof *s->cold.frame);
}

// ---- the root -----------------------------------------------------------------------------------

static bool is_free(const sn_model *m, int k) {
    for (int i = 0; i < m->joint[k].nv; i++)
        if (m->gain[m->joint[k].v0 + i] == 0) return false;
    return m->joint[k].type == SN_JOINT_FREE;
}

// The joint to align: the root, or the last of free ones in a row that carry nothing else; the others stay as they are.
static int aligned_joint(const sn_solver *s) {
    const sn_model *m = s->model;
    const sn_problem *p = s->ws->problem;
    int k = 0;
    for (; k + 1 < m->njoint && is_free(m, k) && is_free(m, k + 1); k++) {
        int n = 0;
        for (int j = k + 1; j < m->njoint; j++) n += m->joint[j].parent == k;
        if (n != 1 || p->point_first[k] != p->point_first[k + 1]) break;
    }
    return k;
}

// A free, translating or turning root put where the points, as a rigid figure, are nearest to their
// goals. Into s->trial; false when the root can do nothing of the kind.
static bool align_root(sn_solver *s) {
    const int at = aligned_joint(s);
    const sn_joint *root = &s->model->joint[at];
    const sn_problem *p = s->ws->problem;
    bool moves = root->type == SN_JOINT_FREE || root->type == SN_JOINT_TRANSLATION;
    for (int i = 0; i < root->nv; i++)
        if (s->model->gain[root->v0 + i] == 0) return false;
    // a root that stays in its place turns about it: from there, and the others from their means.
    // Frames are measured from the root's place.
    sn_vec3 P = {0, 0, 0}, G = P;
    double W = 0;
    for (int k = 0; k < s->model->njoint; k++) {
        for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++) {
            const sn_point *point = &p->point[i];
            sn_vec3 x = sn_place(&s->ws->frame[k], point->local);
            P = v3_add(P, v3_scale(point->weight, x));
            G = v3_add(G, v3_scale(point->weight, v3_sub(point->goal, s->ws->origin)));
            W += point->weight;
        }
    }
    if (!(W > 0)) return false;
    P = v3_scale(moves ? 1 / W : 0, P);
    G = v3_scale(moves ? 1 / W : 0, G);
    sn_mat3 M = m3_zero();
    for (int k = 0; k < s->model->njoint; k++) {
        for (int i = p->point_first[k]; i < p->point_first[k + 1]; i++) {
            const sn_point *point = &p->point[i];
            sn_vec3 x = v3_sub(sn_place(&s->ws->frame[k], point->local), P);
            sn_vec3 g = v3_sub(v3_sub(point->goal, s->ws->origin), G);
            g = v3_scale(point->weight, g);
            for (int c = 0; c < 3; c++) M.c[c] = v3_add(M.c[c], v3_scale(v3_at(x, c), g));
        }
    }
    memcpy(s->trial, s->q, (size_t)s->model->nq * sizeof *s->trial);
    double *q = s->trial + root->q0;
    sn_mat3 Q = m3_identity(), R = s->ws->frame[at].R, back = m3_transpose(&s->ws->base[at].R);
    if (sn_joint_fits(s->model, root)) {
        // world: Q R; in the joint's own terms back Q R, so tr(M^T Q) = tr((back M R)^T (back Q R))
        sn_mat3 MR = m3_mulm(&M, &R), own = m3_mulm(&back, &MR);
        (void)sn_joint_fit(s->model, root, &own, q);
        sn_mat3 now = sn_joint_rotation(root, q), outside = m3_mulm(&s->ws->base[at].R, &now);
        sn_mat3 R_back = m3_transpose(&R);
        Q = m3_mulm(&outside, &R_back);
    }
    if (moves) {
        // its place x goes to Q (x - P) + G, from where it is now; a root's is zero
        const sn_vec3 x = s->ws->frame[at].p, way = v3_sub(G, m3_mul(&Q, P));
        sn_vec3 v = m3_mul(&back, v3_add(way, v3_sub(m3_mul(&Q, x), x)));
        q[0] += v.x;
        q[1] += v.y;
        q[2] += v.z;
    }
    (void)sn_model_clamp(s->model, s->trial);
    return true;
}

// ---- turning a link -----------------------------------------------------------------------------

static void place_joint(const sn_solver *s, int k, const double *q) {
    const sn_joint *j = &s->model->joint[k];
    sn_angle angle[SN_MAX_JOINT_DOFS];
    sn_twist S[SN_MAX_JOINT_DOFS];
    for (int i = 0; i < j->nv; i++)
        if (j->ops->angles >> i & 1) sn_sincos_inline(q[j->q0 + i], &angle[i].s, &angle[i].c);
    j->ops->place(j, q + j->q0, angle, &s->cold.base[k], &s->cold.frame[k], S);
}

// One past the last joint below k: subtrees are contiguous.
static int subtree_end(const sn_model *m, int k) {
    int n = k + 1;
    while (n < m->njoint && m->joint[n].parent >= k) n++;
    return n;
}

// The joint whose motion carries joint k's base: the nearest above that is not fixed.
static int carrier(const sn_model *m, int k) {
    k = m->joint[k].parent;
    while (k >= 0 && m->joint[k].nv == 0) k = m->joint[k].parent;
    return k;
}

// M = sum y x^T of what joint n should keep in place: x in its own frame, y in the parent-side
// frame, both from its place: its own points and the joints that hang on it, and a hundredth as much
// of its old orientation, which decides where these leave something open.
static sn_mat3 wanted_turn(const sn_solver *s, int n) {
    const sn_model *m = s->model;
    const sn_problem *p = s->ws->problem;
    const sn_frame *old = &s->cold.old[n], *base = &s->cold.base[n];
    sn_mat3 M = m3_zero(), back = m3_transpose(&base->R), turned = m3_mulm(&back, &old->R);
    double size = 0;
    for (int i = p->point_first[n]; i < p->point_first[n + 1]; i++) {
        sn_vec3 x = p->point[i].local, at = sn_place(old, x);
        sn_vec3 y = m3_mul(&back, v3_sub(at, base->p));
        for (int c = 0; c < 3; c++) M.c[c] = v3_add(M.c[c], v3_scale(v3_at(x, c), y));
        size += v3_dot(x, x);
    }
    for (int e = n + 1; e < m->njoint && m->joint[e].parent >= n; e++) {
        if (carrier(m, e) != n) continue;
        sn_vec3 x = m3_tmul(&old->R, v3_sub(s->cold.old[e].p, old->p));
        sn_vec3 y = m3_mul(&back, v3_sub(s->cold.old[e].p, base->p));
        for (int c = 0; c < 3; c++) M.c[c] = v3_add(M.c[c], v3_scale(v3_at(x, c), y));
        size += v3_dot(x, x);
    }
    double share = 0.01 * size + 1e-9;
    for (int c = 0; c < 3; c++) M.c[c] = v3_add(M.c[c], v3_scale(share, turned.c[c]));
    return M;
}

static double distance(const sn_frame *a, const sn_frame *b) {
    double far = v3_norm(v3_sub(a->p, b->p));
    for (int c = 0; c < 3; c++) far = fmax(far, v3_norm(v3_sub(a->R.c[c], b->R.c[c])));
    return far;
}

// With joint k's new coordinates in s->trial: the joints below it turned back to where they were, as
// well as they can.
static void carry_back(sn_solver *s, int k) {
    const sn_model *m = s->model;
    sn_cold *cold = &s->cold;
    int end = subtree_end(m, k);
    for (int n = k; n < end; n++) {
        const sn_joint *j = &m->joint[n];
        if (n == k) {
            cold->base[k] = s->ws->base[k];
        } else {
            cold->base[n] = frame_mul(&cold->frame[j->parent], &j->offset);
        }
        place_joint(s, n, s->trial);
        if (n == k || distance(&cold->frame[n], &cold->old[n]) < 1e-9) continue;
        if (!sn_joint_fits(m, j)) continue;
        sn_mat3 M = wanted_turn(s, n);
        (void)sn_joint_fit(m, j, &M, s->trial + j->q0);
        place_joint(s, n, s->trial);
    }
}

// Joint k rolled about `axis`, a unit vector in its own frame. Into s->trial; false when its limits
// or its kind hardly let it.
static bool roll_link(sn_solver *s, int k, sn_vec3 axis, sn_angle by) {
    const sn_joint *j = &s->model->joint[k];
    memcpy(s->trial, s->cold.best, (size_t)s->model->nq * sizeof *s->trial);
    sn_mat3 R = sn_joint_rotation(j, s->trial + j->q0), turned = R;
    turn_axis(&turned, axis, m3_mul(&R, axis), by);
    if (!sn_joint_fit(s->model, j, &turned, s->trial + j->q0)) return false;
    sn_mat3 now = sn_joint_rotation(j, s->trial + j->q0);
    double cosine =
        0.5 * (v3_dot(R.c[0], now.c[0]) + v3_dot(R.c[1], now.c[1]) + v3_dot(R.c[2], now.c[2]) - 1);
    if (cosine > 0.9) return false;
    carry_back(s, k);
    return true;
}

// A hinge moved half round: what hangs on it ends elsewhere, and so may the joints above it.
static bool turn_hinge(sn_solver *s, int k) {
    const sn_joint *j = &s->model->joint[k];
    int v = j->v0;
    memcpy(s->trial, s->cold.best, (size_t)s->model->nq * sizeof *s->trial);
    double *x = s->trial + j->q0, before = *x;
    *x += before > 0 ? -pi : pi;
    *x = fmin(fmax(*x, s->model->lower[v]), s->model->upper[v]);
    return s->model->gain[v] != 0 && fabs(*x - before) > 0.5;
}

// ---- the search ---------------------------------------------------------------------------------

// f of what hangs on each joint; the workspace is at the best pose. Its frames are kept.
static void look_at_best(sn_solver *s) {
    const sn_model *m = s->model;
    sn_cold *cold = &s->cold;
    sn_field unused;
    (void)sn_workspace_pose(s->ws, cold->best);
    for (int k = 0; k < m->njoint; k++) {
        cold->below[k] = sn_field_of_body(s->ws, k, false, &unused);
        cold->old[k] = s->ws->frame[k];
    }
    for (int k = m->njoint - 1; k > 0; k--) cold->below[m->joint[k].parent] += cold->below[k];
}

static bool was_cut(const sn_solver *s) {
    return s->report.stop == SN_STOP_GOAL || s->report.stop == SN_STOP_TIME ||
           s->report.stop == SN_STOP_CANCELLED;
}

typedef struct search {
    sn_report best;  // stop, gradient and active of the best pose
    double f;        // there
    bool done;
} search;

// Where in the moves a search is.
typedef struct walk {
    int round, k, n,
        turn;  // the joint whose moves these are, the one that starts its line, its next turn
    int moves, nmove;  // of this round so far; of a whole one, known after the first
    int idle;          // moves since the last that helped
} walk;

// Solve from s->trial; the better pose stays in cold.best.
static void try_pose(sn_solver *s, search *found, walk *at) {
    size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    memcpy(s->q, s->trial, bytes);
    if (s->model->ncoupling > 0) (void)sn_model_clamp(s->model, s->q);
    s->run_first = s->report.iterations;
    s->rival = found->f;
    s->report.poses++;
    bool finite = sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f);
    if (finite) {
        sn_solver_find_scale(s, true);
        sn_solver_run(s);
        found->done = was_cut(s);
    }
    if (finite && s->f < found->f) {
        if (s->f < found->f * (1 - 1e-6)) at->idle = 0;
        found->f = s->f;
        found->best = s->report;
        memcpy(s->cold.best, s->q, bytes);
    } else if (found->done) {
        found->best.stop = s->report.stop;
    }
    look_at_best(s);
}

// Can the error below joint k matter? What hangs on it pulls no harder at the rest.
static bool has_error(const sn_solver *s, int k, const search *found) {
    return s->cold.below[k] > 1e-4 * found->f;
}

// Is joint n the first in sweep order that hangs on link k in its place?
static bool starts_line(const sn_solver *s, int k, int n) {
    const sn_model *m = s->model;
    if (m->joint[n].nv == 0 || carrier(m, n) != k) return false;
    sn_vec3 at = s->ws->base[n].p;
    for (int e = k + 1; e < n; e++)
        if (m->joint[e].nv > 0 && carrier(m, e) == k &&
            v3_norm(v3_sub(s->ws->base[e].p, at)) < 1e-9)
            return false;
    return v3_norm(v3_sub(at, s->ws->frame[k].p)) > 1e-9;
}

enum { MOST_ROUNDS = 8 };

// The next turn of link k about a line to a joint that hangs on it, into s->trial; false when there is none left.
static bool next_roll(sn_solver *s, const search *found, walk *at) {
    static const double half = 0x1.6a09e667f3bcdp-1;  // sine of 135 degrees
    static const sn_angle turns[3] = {{0, -1}, {half, -half}, {-half, -half}};
    const int k = at->k, nturn = s->model->joint[k].nv > 2 ? 3 : 1, end = subtree_end(s->model, k);
    if (at->n == 0) at->n = k + 1, at->turn = 0;
    for (; at->n < end; at->n++, at->turn = 0) {
        if (at->turn == 0 && !starts_line(s, k, at->n)) continue;
        while (at->turn < nturn) {
            sn_vec3 line = v3_sub(s->ws->base[at->n].p, s->ws->frame[k].p);
            sn_vec3 axis = m3_tmul(&s->ws->frame[k].R, v3_scale(1 / v3_norm(line), line));
            at->moves++;
            at->idle++;
            at->turn++;
            if (has_error(s, k, found) && roll_link(s, k, axis, turns[at->turn - 1])) return true;
        }
    }
    return false;
}

// The next move of joint at->k that leads to another pose, into s->trial; false when there is none left.
static bool next_of_joint(sn_solver *s, const search *found, walk *at) {
    const sn_model *m = s->model;
    const sn_joint *j = &m->joint[at->k];
    const int above = carrier(m, at->k);
    if (j->type == SN_JOINT_FREE || !sn_joint_fits(m, j)) return false;  // a free root was aligned
    if (j->nv > 1) return next_roll(s, found, at);
    // a hinge below a link that can be rolled is reversed with it
    if (at->n != 0 || above < 0 || m->joint[above].nv > 2) return false;
    at->n = at->k + 1;
    at->moves++;
    at->idle++;
    return has_error(s, at->k, found) && turn_hinge(s, at->k);
}

// The next pose to look from, into s->trial: round by round through all joints until a whole round has found nothing.
static bool next_pose(sn_solver *s, const search *found, walk *at) {
    for (;;) {
        if (at->k < 0) {
            if (at->round == 0) at->nmove = at->moves;
            at->moves = 0;
            at->k = s->model->njoint - 1;
            if (++at->round == MOST_ROUNDS) return false;
        }
        if (at->n == 0 && at->idle >= at->nmove) return false;
        if (next_of_joint(s, found, at)) return true;
        at->k--;
        at->n = 0;
    }
}

// A run that lanes have begun, and where the search would go on behind it.
typedef struct pending {
    int lane;  // -1: it has ended
    walk after;
    sn_cold_end end;
} pending;

// The oldest run has ended: is its pose the best so far?
static bool judge_run(sn_solver *s, search *found, pending *run, int slot) {
    const size_t nq = (size_t)s->model->nq, bytes = nq * sizeof *s->q;
    sn_cold_lanes *lanes = s->cold.lanes;
    const sn_cold_end *end = &run->end;
    const double before = found->f;
    s->report.iterations += end->iterations;
    s->report.functions += end->iterations;
    s->report.hessians += end->iterations + 1;
    s->report.poses += end->iterations + 1;
    s->report.factorizations += end->factorizations;
    if (end->plain) {
        memcpy(s->trial, lanes->starts + (size_t)slot * nq, bytes);
        try_pose(s, found, &run->after);
        return found->f < before;
    }
    found->done = end->stop == SN_STOP_GOAL || end->stop == SN_STOP_CANCELLED;
    if (!(end->f < before)) {
        if (found->done) found->best.stop = end->stop;
        return false;
    }
    if (end->f < before * (1 - 1e-6)) run->after.idle = 0;
    found->f = end->f;
    found->best = s->report;
    found->best.stop = end->stop;
    found->best.gradient = end->gradient;
    found->best.active = end->active;
    memcpy(s->cold.best, lanes->ends + (size_t)slot * nq, bytes);
    look_at_best(s);
    return true;
}

// The same search with runs side by side: moves that follow in the order are begun before those in front of them have
// ended, as most find nothing; when one has, those behind it begin anew from its pose.
static void search_in_lanes(sn_solver *s, search *found, walk *at) {
    enum { QUEUE = SN_COLD_QUEUE };
    sn_cold_lanes *lanes = s->cold.lanes;
    const size_t nq = (size_t)s->model->nq;
    pending queue[QUEUE];
    int used[64], first = 0, count = 0;  // the lane's run, -1 for none
    bool more = true;
    for (int l = 0; l < lanes->width; l++) used[l] = -1;
    while (!found->done) {
        for (int l = 0; l < lanes->width && more && count < QUEUE; l++) {
            if (used[l] >= 0) continue;
            more = next_pose(s, found, at);
            if (!more) break;
            const int slot = (first + count++) % QUEUE;
            memcpy(lanes->starts + (size_t)slot * nq, s->trial, nq * sizeof *s->trial);
            lanes->start(lanes, l, s->trial);
            queue[slot] = (pending){.lane = l, .after = *at};
            used[l] = slot;
        }
        if (count == 0) return;
        lanes->step(lanes);
        for (int l = 0; l < lanes->width; l++) {
            const int slot = used[l];
            if (slot < 0 ||
                !lanes->ended(lanes, l, &queue[slot].end, lanes->ends + (size_t)slot * nq))
                continue;
            queue[slot].lane = used[l] = -1;
        }
        while (count > 0 && queue[first].lane < 0 && !found->done) {
            const bool better = judge_run(s, found, &queue[first], first);
            const walk after = queue[first].after;
            first = (first + 1) % QUEUE;
            count--;
            if (!better) continue;
            *at = after;
            count = 0;
            more = true;
            for (int l = 0; l < lanes->width; l++) used[l] = -1;
            lanes->aim(lanes, found->f);
        }
    }
}

static void search_valleys(sn_solver *s) {
    search found = {.best = s->report, .f = s->f};
    walk at = {.k = s->model->njoint - 1, .nmove = 1 << 30};
    size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    memcpy(s->cold.best, s->q, bytes);
    look_at_best(s);
    if (s->cold.lanes != NULL && s->cold.lanes->begin(s->cold.lanes, s, found.f))
        search_in_lanes(s, &found, &at);
    while (!found.done && next_pose(s, &found, &at)) try_pose(s, &found, &at);
    // counts of all runs, the rest of the best one
    s->report.stop = found.best.stop;
    s->report.gradient = found.best.gradient;
    s->report.active = found.best.active;
    s->f = found.f;
    memcpy(s->q, s->cold.best, bytes);
}

// Where limbs must not run into each other, a start with its limbs crossed cannot reach what is asked by going
// downhill: they would have to pass through each other. So poses with open limbs are tried too: the rest
// pose, with the root where it suits the goals. Each has a share of the iterations, until one meets all.
static bool try_open_poses(sn_solver *s) {
    size_t bytes = (size_t)s->model->nq * sizeof *s->q;
    const int most = s->options.max_iterations;
    search found = {.best = s->report, .f = INFINITY};
    walk none = {0};
    s->options.max_iterations = most < 40 ? most : 40;
    memcpy(s->trial, s->q, bytes);
    for (int seed = 0; seed < 2 && !found.done; seed++) {
        if (seed == 1) {
            sn_model_zero(s->model, s->q);
            (void)sn_model_clamp(s->model, s->q);
            (void)sn_workspace_pose(s->ws, s->q);
            if (!align_root(s)) memcpy(s->trial, s->q, bytes);
        }
        try_pose(s, &found, &none);
    }
    s->options.max_iterations = most;
    s->report.stop = found.best.stop;
    s->report.gradient = found.best.gradient;
    s->report.active = found.best.active;
    memcpy(s->q, s->cold.best, bytes);
    s->f = found.f;
    return found.done;
}

sn_status sn_solver_solve_cold(sn_solver *s, double *q, sn_report *report) {
    if (s == NULL || q == NULL || report == NULL) return SN_ERR_ARGUMENT;
    double f;
    SN_TRY(sn_solver_begin(s, q, report));
    if (s->model->nloop > 0) {
        // a link that is turned over would open its loop
        sn_solver_run(s);
        sn_solver_lower(s, true);
        return sn_solver_end(s, q, report);
    }
    if (align_root(s) && sn_solver_eval(s, s->trial, 0, &f) && f < s->f) {
        sn_solver_take(s, f);
        if (!sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) return SN_ERR_VALUE;
        sn_solver_find_scale(s, true);
    }
    bool met = sn_has_guards(s->ws) && try_open_poses(s);
    if (!met) {
        s->run_first = s->report.iterations;
        s->rival = INFINITY;
        sn_solver_run(s);
        if (!was_cut(s)) search_valleys(s);
    }
    if (sn_has_guards(s->ws)) sn_solver_guards_retry(s, true);
    s->run_first = s->report.iterations;
    sn_solver_lower(s, false);
    return sn_solver_end(s, q, report);
}
