// SPDX-License-Identifier: MIT
// Where ties come from: what rows they have and what fills them.
//
//   coupling   q_d = f(q_i, ...): the row u_d - sum f_i u_i = 0. Where phi has the gradient mu at the
//              follower, f's second derivatives count mu f_ij among the leaders: on the diagonal for
//              one leader, a weighted tie for several.
//   task       rows and W of a task on several bodies: tied_terms.c
//   loop       loops.c
#include <string.h>

#include "math/six.h"
#include "sweeps/workspace.h"

// What a tie is, before it has memory: its bodies are sweep positions of joints.
typedef struct plan {
    sn_tie_source source;
    int index, nrow, nbody;
    bool equality;
    bool all;  // more bodies than there is room for: all joints
    int body[SN_TIE_BODIES];
} plan;

static int joint_of_slot(const sn_model *m, int slot) {
    int low = 0, high = m->njoint - 1;
    // the last joint that starts at or before the slot and has velocities
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (m->joint[middle].slot <= slot) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    while (m->joint[low].nv == 0) low--;
    return low;
}

static bool bends(const sn_coupling_place *c) { return c->curved && c->nleader > 1; }

static plan plan_coupling(const sn_model *m, int i, bool bend) {
    const sn_coupling_place *c = &m->coupled[i];
    plan p = {.source = bend ? SN_TIE_COUPLING_BEND : SN_TIE_COUPLING,
              .index = i,
              .nrow = bend ? c->nleader : 1,
              .equality = !bend};
    for (int k = 0; k < c->nleader; k++) p.body[p.nbody++] = joint_of_slot(m, c->slot[k]);
    if (!bend) p.body[p.nbody++] = joint_of_slot(m, c->follower_slot);
    return p;
}

static plan plan_tied(const sn_problem *problem, int i) {
    const sn_tied *tied = &problem->tied[i];
    plan p = {.source = SN_TIE_TASK, .index = i, .nrow = tied->nrow};
    for (int k = tied->atom; k < tied->atom + tied->natom; k++) {
        const sn_atom *a = &problem->atom[k];
        if (a->kind == SN_ATOM_CENTRE) p.all = true;
        for (int n = 0; n < 2; n++) {
            if (a->joint[n] < 0) continue;
            if (p.nbody == SN_TIE_BODIES) p.all = true;
            if (!p.all) p.body[p.nbody++] = a->joint[n];
        }
    }
    if (p.all) p.body[0] = problem->model->njoint - 1, p.nbody = 1;
    return p;
}

// The ties of a problem, one after the other; false at the end.
static bool plan_next(const sn_problem *problem, int *at, plan *out) {
    const sn_model *m = problem->model;
    for (;; ++*at) {
        int i = *at;
        if (i < m->ncoupling) {
            *out = plan_coupling(m, i, false);
            break;
        }
        i -= m->ncoupling;
        if (i < m->ncoupling) {
            if (!bends(&m->coupled[i])) continue;
            *out = plan_coupling(m, i, true);
            break;
        }
        i -= m->ncoupling;
        if (i < problem->ntied) {
            if (problem->tied[i].single) continue;
            *out = plan_tied(problem, i);
            break;
        }
        i -= problem->ntied;
        if (i < 2 * m->nloop) {
            const sn_loop_place *loop = &m->looped[i / 2];
            bool bend = i % 2 == 1;
            if (bend && sn_loop_nbend(loop) == 0) continue;
            *out = (plan){.source = bend ? SN_TIE_LOOP_BEND : SN_TIE_LOOP,
                          .index = i / 2,
                          .nrow = bend ? sn_loop_nbend(loop) : sn_loop_nrow(loop),
                          .equality = !bend,
                          .nbody = 2,
                          .body = {loop->joint[0], loop->joint[1]}};
            break;
        }
        i -= 2 * m->nloop;
        if (i == 0 && sn_guards_rows(problem) > 0) {
            *out = (plan){.source = SN_TIE_GUARD,
                          .nrow = sn_guards_rows(problem),
                          .all = true,
                          .nbody = 1,
                          .body = {m->njoint - 1}};
            break;
        }
        return false;
    }
    ++*at;
    return true;
}

// The union of the paths of some bodies, the deepest first: parents stand before their children in
// sweep order, so the largest position of all is next. -1 at the end.
static int union_next(const sn_model *m, plan *p) {
    int deepest = -1;
    for (int i = 0; i < p->nbody; i++)
        if (p->body[i] > deepest) deepest = p->body[i];
    for (int i = 0; i < p->nbody && deepest >= 0; i++)
        if (p->body[i] == deepest) p->body[i] = p->all ? deepest - 1 : m->joint[deepest].parent;
    return deepest;
}

int sn_ties_count(const sn_problem *problem) {
    int count = 0, at = 0;
    plan p;
    while (plan_next(problem, &at, &p)) count++;
    return count;
}

bool sn_ties_any(const sn_problem *problem) {
    return problem->ntied > 0 || problem->guards != NULL || sn_ties_count(problem) > 0;
}

static void place_tie(const sn_model *m, const plan *p, sn_tie *tie, sn_layout *layout) {
    plan walk = *p;
    tie->source = p->source;
    tie->index = p->index;
    tie->equality = p->equality;
    tie->nrow = p->nrow;
    tie->njoint = tie->nslot = 0;
    for (int k; (k = union_next(m, &walk)) >= 0;) {
        tie->njoint++;
        tie->nslot += m->joint[k].nv;
    }
    size_t njoint = (size_t)tie->njoint, size = (size_t)tie->nslot * (size_t)tie->nrow;
    tie->joint = sn_layout_take(layout, njoint, sizeof *tie->joint);
    tie->above = sn_layout_take(layout, njoint, sizeof *tie->above);
    tie->at = sn_layout_take(layout, njoint, sizeof *tie->at);
    tie->z = sn_layout_take(layout, size, sizeof *tie->z);
    tie->w = sn_layout_take(layout, size, sizeof *tie->w);
    tie->sign = sn_layout_take(layout, (size_t)tie->nrow, sizeof *tie->sign);
    if (tie->joint == NULL) return;
    walk = *p;
    int slots = 0;
    for (int n = 0; n < tie->njoint; n++) {
        int k = tie->joint[n] = union_next(m, &walk);
        tie->at[n] = slots;
        slots += m->joint[k].nv;
    }
    for (int n = 0; n < tie->njoint; n++) {
        int parent = m->joint[tie->joint[n]].parent, i = n + 1;
        while (i < tie->njoint && tie->joint[i] != parent) i++;
        tie->above[n] = i < tie->njoint ? i : -1;
    }
}

void sn_ties_layout(sn_ties *t, const sn_problem *problem, sn_layout *layout) {
    const sn_model *m = problem->model;
    size_t nv = (size_t)m->nv, push = 0;
    int at = 0, count = sn_ties_count(problem);
    t->ntie = count;
    t->nrow = 0;
    t->forced = problem->ntied > 0 || m->nloop > 0 || problem->guards != NULL;
    t->turned = problem->guards != NULL && problem->guards->seen;
    t->most = SN_TIE_ROWS;
    for (int i = 0; i < problem->ntied; i++) t->turned = t->turned || !problem->tied[i].points;
    for (int i = 0; i < m->nloop; i++)
        t->turned = t->turned ||
                    (m->looped[i].type != SN_LOOP_POINT && m->looped[i].type != SN_LOOP_DISTANCE);
    t->coupled = m->ncoupling > 0;
    t->tie = sn_layout_take(layout, (size_t)count, sizeof *t->tie);
    for (int i = 0; i < count; i++) {
        plan p;
        sn_tie measured, *tie = t->tie != NULL ? &t->tie[i] : &measured;
        (void)plan_next(problem, &at, &p);
        place_tie(m, &p, tie, layout);
        tie->first = t->nrow;
        t->nrow += tie->nrow;
        if (tie->nrow > t->most) t->most = tie->nrow;
        size_t need = 6 * (size_t)tie->nrow * (size_t)tie->njoint;
        if (need > push) push = need;
    }
    size_t nrow = (size_t)t->nrow;
    size_t nforce = SN_LOOP_FORCES * (size_t)m->nloop;
    for (int i = 0; i < problem->natom; i++) nforce += (size_t)sn_atom_nforce(&problem->atom[i]);
    nforce += sn_guards_forces_most(problem);
    t->force = sn_layout_take(layout, nforce, sizeof *t->force);
    sn_tied_layout(t, problem, layout);
    t->mu = sn_layout_take(layout, SN_TIE_ROWS * (size_t)m->nloop, sizeof *t->mu);
    t->bend = sn_layout_take(layout, nv, sizeof *t->bend);
    t->slope = sn_layout_take(layout, (size_t)m->nleader, sizeof *t->slope);
    t->stuck = sn_layout_take(layout, (size_t)m->ncoupling, sizeof *t->stuck);
    t->taken = sn_layout_take(layout, (size_t)m->ncoupling, sizeof *t->taken);
    t->pushed = sn_layout_take(layout, (size_t)m->ncoupling, sizeof *t->pushed);
    t->extra = sn_layout_take(layout, nv, sizeof *t->extra);
    t->push = sn_layout_take(layout, push, sizeof *t->push);
    t->diagonal = sn_layout_take(layout, nv, sizeof *t->diagonal);
    t->keep = sn_layout_take(layout, nv, sizeof *t->keep);
    t->used = sn_layout_take(layout, nrow, sizeof *t->used);
    t->order = sn_layout_take(layout, nrow, sizeof *t->order);
    t->spare = sn_layout_take(layout, nrow, sizeof *t->spare);
    t->pair = sn_layout_take(layout, nrow, sizeof *t->pair);
    t->S = sn_layout_take(layout, nrow * nrow, sizeof *t->S);
    t->even = sn_layout_take(layout, nrow, sizeof *t->even);
    t->x = sn_layout_take(layout, nrow, sizeof *t->x);
    t->y = sn_layout_take(layout, nrow, sizeof *t->y);
    t->multiplier = sn_layout_take(layout, nrow, sizeof *t->multiplier);
    t->z = sn_layout_take(layout, nv, sizeof *t->z);
    t->Hz = sn_layout_take(layout, nv, sizeof *t->Hz);
}

double sn_ties_forces(sn_workspace *ws, bool exact, bool second) {
    sn_ties *t = ws->ties;
    t->nforce = 0;
    double f = ws->problem->ntied > 0 ? sn_tied_forces(ws, exact, second) : 0;
    for (int i = 0; i < ws->model->nloop; i++)
        t->nforce += sn_loop_forces(ws, i, t->mu + SN_TIE_ROWS * i, t->force + t->nforce);
    if (sn_has_guards(ws)) f += sn_guards_forces(ws, exact, second);
    return f;
}

// The place in z of a velocity.
static int find_slot(const sn_workspace *ws, const sn_tie *tie, int slot) {
    for (int n = 0; n < tie->njoint; n++) {
        const sn_joint *j = &ws->model->joint[tie->joint[n]];
        if (slot >= j->slot && slot < j->slot + j->nv) return tie->at[n] + slot - j->slot;
    }
    return 0;
}

static void fill_coupling(const sn_workspace *ws, sn_tie *tie, const double *slope) {
    const sn_coupling_place *c = &ws->model->coupled[tie->index];
    for (int i = 0; i < tie->nslot; i++) tie->z[i] = 0;
    tie->z[find_slot(ws, tie, c->follower_slot)] = 1;
    for (int k = 0; k < c->nleader; k++) tie->z[find_slot(ws, tie, c->slot[k])] = -slope[k];
    tie->size = 1;
}

// How the rows Z of a weighted tie become V Z, whose weights are signs: by W = P^T L D L^T P the rows L^T P Z have
// the weights D, which is diagonal but for 2 x 2 blocks; those are turned to be so. Each row then takes the root
// of its weight. V is R x R, row by row; true where it is diagonal.
static bool find_weighing(const sn_ties *t, int R, double *W, double *sign, double *V) {
    bool plain = true;
    for (int c = 0; c < R; c++)
        for (int r = 0; r < R; r++)
            plain = plain && (r != c ? W[r + R * c] == 0 : W[r + R * c] >= 0);
    for (int i = 0; i < R * R; i++) V[i] = 0;
    if (plain) {
        // as those of points, and of Gauss-Newton's one-sided terms
        for (int r = 0; r < R; r++) {
            V[r + R * r] = sqrt(W[r + R * r]);
            sign[r] = 1;
        }
        return true;
    }
    double size = 0;
    int *order = t->place;
    bool *pair = t->twin;
    for (int i = 0; i < R * R; i++) size = fmax(size, fabs(W[i]));
    // as if its largest entry were 1: products of tiny ones would vanish
    for (int i = 0; i < R * R && size > 1e-290; i++) W[i] /= size;
    int rank = size > 1e-290 ? R - sn_symmetric_factor(R, W, 1e-15, order, pair).dropped : 0;
    for (int r = 0; r < R; r++) sign[r] = 1;
    for (int k = 0; k < rank; k++) {
        const int last = pair[k] ? k + 1 : k;
        for (int r = k; r <= last; r++) {
            V[R * r + order[r]] = 1;
            for (int n = last + 1; n < R; n++) V[R * r + order[n]] = W[n + R * r];
        }
        double weight[2] = {W[k + R * k], 0};
        if (pair[k]) {
            const double a = W[k + R * k], b = W[k + 1 + R * k], d = W[k + 1 + R * (k + 1)];
            const double ratio = (d - a) / (2 * b);
            const double tangent = (ratio < 0 ? -1 : 1) / (fabs(ratio) + sqrt(1 + ratio * ratio));
            const double cosine = 1 / sqrt(1 + tangent * tangent), sine = tangent * cosine;
            weight[0] = a - tangent * b;
            weight[1] = d + tangent * b;
            for (int n = 0; n < R; n++) {
                const double x = V[R * k + n], y = V[R * (k + 1) + n];
                V[R * k + n] = cosine * x - sine * y;
                V[R * (k + 1) + n] = sine * x + cosine * y;
            }
        }
        for (int r = k; r <= last; r++) {
            const double root = sqrt(fabs(weight[r - k]) * size);
            sign[r] = weight[r - k] < 0 ? -1 : 1;
            for (int n = 0; n < R; n++) V[R * r + n] *= root;
        }
        k = last;
    }
    return false;
}

// Rows that are there already, by W.
static void weigh(const sn_ties *t, sn_tie *tie, double *W) {
    const int R = tie->nrow;
    double *V = t->block + t->most * t->most, *row = t->line;
    const bool plain = find_weighing(t, R, W, tie->sign, V);
    for (int i = 0; i < tie->nslot; i++) {
        double *z = tie->z + R * i;
        for (int k = 0; k < R && plain; k++) z[k] *= V[k + R * k];
        if (plain) continue;
        for (int k = 0; k < R; k++) {
            row[k] = 0;
            for (int n = 0; n < R; n++) row[k] += V[R * k + n] * z[n];
        }
        for (int k = 0; k < R; k++) z[k] = row[k];
    }
}

// mu f_ij among the leaders, by their velocities behind the gains.
static void bend_coupling(sn_workspace *ws, sn_tie *tie, double mu, const sn_jet *jet) {
    const sn_model *m = ws->model;
    const sn_coupling_place *c = &m->coupled[tie->index];
    const int R = tie->nrow;
    double W[SN_TIE_ROWS * SN_TIE_ROWS];
    for (int i = 0; i < R * tie->nslot; i++) tie->z[i] = 0;
    for (int i = 0; i < R; i++) {
        tie->z[R * find_slot(ws, tie, c->slot[i]) + i] = m->inner[c->v[i]];
        for (int k = 0; k <= i; k++) W[i + R * k] = W[k + R * i] = mu * jet->dd[i][k];
    }
    tie->active = true;
    weigh(ws->ties, tie, W);
}

static sn_tie *bend_tie(sn_ties *t, int coupling) {
    for (int p = 0; p < t->ntie; p++)
        if (t->tie[p].source == SN_TIE_COUPLING_BEND && t->tie[p].index == coupling)
            return &t->tie[p];
    return NULL;
}

// The gradient is handed from followers to leaders, the last of a row of followers first; on its
// way it shows how much the functions' curvature counts.
static void lead_gradient(sn_workspace *ws, bool exact) {
    sn_ties *t = ws->ties;
    const sn_model *m = ws->model;
    double *slope = t->slope + m->nleader;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        double mu = ws->g[c->follower_slot];
        sn_jet jet;
        sn_driver_at(&c->driver, ws->q, &jet);
        slope -= c->nleader;
        ws->g[c->follower_slot] = 0;
        for (int k = 0; k < c->nleader; k++) {
            double inner = m->inner[c->v[k]];
            slope[k] = inner * jet.d[k];
            ws->g[c->slot[k]] += slope[k] * mu;
            if (exact && c->curved && c->nleader == 1)
                t->bend[c->slot[k]] += inner * inner * mu * jet.dd[0][0];
        }
        // what it pushes at a limit counts against it: mu - push is what is left
        if (exact && bends(c)) bend_coupling(ws, bend_tie(t, i), mu - t->pushed[i], &jet);
    }
}

// What only equalities see has no diagonal of its own, and M^-1 would be so large there that the
// rows' products lose all digits of the rest: a hundred-millionth of the tasks' weight is enough.
static void add_extra(sn_workspace *ws) {
    sn_ties *t = ws->ties;
    bool any = false;
    for (int p = 0; p < t->ntie; p++) any = any || t->tie[p].equality;
    if (!any) return;
    const double *K = ws->field[0].K;
    double weight = 1e-8 * fmax(fmax(K[0] + K[7] + K[14], K[21] + K[28] + K[35]), 1e-300);
    for (int p = 0; p < t->ntie; p++) {
        const sn_tie *tie = &t->tie[p];
        for (int n = 0; n < tie->njoint && tie->equality; n++) {
            const sn_joint *j = &ws->model->joint[tie->joint[n]];
            for (int a = 0; a < j->nv; a++)
                for (int r = 0; r < tie->nrow; r++) {
                    double z = tie->z[tie->nrow * (tie->at[n] + a) + r];
                    t->extra[j->slot + a] += weight * z * z;
                }
        }
    }
    // not where there is enough already
    sn_tree_diagonal(ws, t->diagonal);
    for (int i = 0; i < ws->model->nv; i++)
        t->extra[i] = fmax(t->extra[i] - fabs(t->diagonal[i]), 0);
}

static void fill_task(const sn_workspace *ws, sn_tie *tie) {
    const sn_ties *t = ws->ties;
    const int R = tie->nrow;
    double *W = t->block, *V = t->block + t->most * t->most;
    memcpy(W, t->tied[tie->index].W, (size_t)(R * R) * sizeof *W);
    const bool plain = find_weighing(t, R, W, tie->sign, V);
    sn_tied_rows(ws, tie, V, plain);
}

void sn_ties_rows(sn_workspace *ws, bool exact, bool second) {
    sn_ties *t = ws->ties;
    const sn_model *m = ws->model;
    for (int i = 0; i < m->nv; i++) t->bend[i] = t->extra[i] = 0;
    for (int p = 0; p < t->ntie; p++) t->tie[p].active = t->tie[p].equality;
    for (int i = 0; i < m->ncoupling; i++) {
        t->pushed[i] = t->stuck[i] ? t->taken[i] : 0;
        t->taken[i] = 0;
    }
    lead_gradient(ws, exact && second);
    if (!second) return;
    for (int i = 0; i < t->nrow; i++) t->spare[i] = false;
    const double *slope = t->slope;
    sn_ties_refill_loops(ws);
    for (int p = 0; p < t->ntie; p++) {
        sn_tie *tie = &t->tie[p];
        switch (tie->source) {
        case SN_TIE_COUPLING:
            fill_coupling(ws, tie, slope);
            slope += m->coupled[tie->index].nleader;
            break;
        case SN_TIE_COUPLING_BEND:
            break;
        case SN_TIE_TASK:
            tie->active = ws->problem->tied[tie->index].active;
            if (!tie->active) break;
            fill_task(ws, tie);
            break;
        case SN_TIE_LOOP:
            break;
        case SN_TIE_LOOP_BEND: {
            double W[SN_TIE_ROWS * SN_TIE_ROWS] = {0};
            if (!exact) break;
            for (int i = 0; i < tie->nrow * tie->nslot; i++) tie->z[i] = 0;
            sn_loop_bend(ws, tie, t->mu + SN_TIE_ROWS * tie->index, W);
            tie->active = true;
            weigh(ws->ties, tie, W);
            break;
        }
        case SN_TIE_GUARD:
            tie->active = sn_has_guards(ws) && sn_guards_rows_fill(ws, exact, tie, t->block);
            if (tie->active) weigh(t, tie, t->block);
            break;
        }
    }
    add_extra(ws);
}

void sn_ties_refill_loops(sn_workspace *ws) {
    for (int p = 0; p < ws->ties->ntie; p++) {
        sn_tie *tie = &ws->ties->tie[p];
        if (tie->source != SN_TIE_LOOP) continue;
        for (int i = 0; i < tie->nrow * tie->nslot; i++) tie->z[i] = 0;
        sn_loop_rows(ws, tie);
    }
}

void sn_ties_follow_file(const sn_workspace *ws, double *v) {
    const sn_model *m = ws->model;
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        sn_jet jet;
        sn_driver_at(&c->driver, ws->q, &jet);
        v[c->follower_v] = 0;
        for (int k = 0; k < c->nleader; k++) v[c->follower_v] += jet.d[k] * v[c->v[k]];
    }
}

void sn_ties_multiply_file(sn_workspace *ws, bool exact, const double *v, double *out) {
    const sn_model *m = ws->model;
    if (m->ncoupling == 0) return;
    // the functions' curvature needs the gradient at followers: from the wrenches of subtrees, which
    // the product left in the fields of bodies, and from the tasks on coordinates
    double *mu = ws->ties->diagonal;
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        int k = joint_of_slot(m, c->follower_slot);
        const sn_twist *S = &ws->S[c->follower_slot];
        mu[c->follower_slot] =
            sn_joint_terms_slope(ws, &m->joint[k], c->follower_v - m->joint[k].v0) -
            v3_dot(S->a, ws->body[k].n) - v3_dot(S->b, ws->body[k].f);
    }
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        sn_jet jet;
        sn_driver_at(&c->driver, ws->q, &jet);
        for (int k = 0; k < c->nleader; k++) {
            if (m->follows[c->v[k]]) mu[c->slot[k]] += jet.d[k] * mu[c->follower_slot];
            for (int l = 0; l < c->nleader && exact && c->curved; l++)
                out[c->v[k]] +=
                    mu[c->follower_slot] * (l <= k ? jet.dd[k][l] : jet.dd[l][k]) * v[c->v[l]];
        }
        for (int k = 0; k < c->nleader; k++) out[c->v[k]] += jet.d[k] * out[c->follower_v];
        out[c->follower_v] = 0;
    }
}
