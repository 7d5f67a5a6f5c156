// SPDX-License-Identifier: MIT
// Angles that go round. A hinge with a range of a whole turn or more can be anywhere: its limits only say
// which turn to write down. A solver that minds them on the way gets stuck at +pi while the goal lies just
// behind -pi; so they are off until the end, and then the angle is brought to the turn that is nearest to
// where it started, inside the limits.
//
// f must not see the difference. A rest pose counts the short way round where the limits are a whole turn
// apart; one on a hinge without limits tells turns apart, and such an angle is left as it is. A soft limit
// keeps the hard ones.
//
// Files round: +-3.14 leaves a gap that no turn of an angle there is in. Such a range counts as whole, and
// an angle that ends in the gap goes to its edge, from where the method goes on with the limits back.
#include <string.h>

#include "solvers/solver.h"

static const double whole = 6.283185307179586;

// Does f tell turns apart? A rest pose does not where limits are a whole turn apart (sn_joint_apart),
// and a soft limit only outside.
static bool told_apart(const sn_problem *p, const sn_joint *j, int a) {
    if (j->whole >> a & 1) return false;
    for (int i = 0; i < p->nrest; i++)
        if (p->rest[i].active && p->rest[i].weight * p->rest[i].q_weight[j->v0 + a] > 0)
            return true;
    return false;
}

// Do other coordinates follow this one? Another turn of it would be another place for them.
static bool leads(const sn_model *m, const sn_joint *j, int a) {
    for (int i = 0; i < sn_model_ncoupling(m); i++) {
        const sn_coupling_desc *c = sn_model_coupling(m, i);
        for (int k = 0; k < c->nleader; k++)
            if (c->leader[k].joint == j->id && c->leader[k].index == a) return true;
    }
    return false;
}

// A soft limit of its own tells turns apart.
static bool has_own_limits(const sn_problem *p, int v) {
    for (int i = 0; i < p->nsoft; i++) {
        const sn_soft *s = &p->soft[i];
        if (s->lower != NULL && s->active && v >= s->first && v < s->first + s->count &&
            s->lower[v] > -INFINITY && sn_soft_weight(s, v) > 0)
            return true;
    }
    return false;
}

// So does what must not happen to a coordinate.
static bool is_guarded(const sn_problem *p, int v) {
    const sn_guards *g = p->guards;
    for (int i = 0; g != NULL && i < g->nguard; i++) {
        if (g->guard[i].kind != SN_GUARD_COORDINATES || !(g->guard[i].weight > 0)) continue;
        for (int k = g->guard[i].first; k < g->guard[i].first + g->guard[i].count; k++)
            if (g->term[k].v == v && g->term[k].factor != 0) return true;
    }
    return false;
}

// A soft limit pulls at a coordinate that is out of the limits, so they must stay.
static bool is_soft(const sn_problem *p, int v) {
    for (int i = 0; i < p->nsoft; i++)
        if (p->soft[i].active && p->soft[i].lower == NULL && p->soft[i].weight > 0 &&
            v >= p->soft[i].first && v < p->soft[i].first + p->soft[i].count)
            return true;
    return false;
}

void sn_solver_round_begin(sn_solver *s) {
    const sn_model *m = s->model;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a, v = j->v0 + a;
            double lower = m->lower[v], upper = m->upper[v];
            // what another follows is not the same a turn on
            bool paired = m->ncoupling > 0 && m->paired[v];
            s->round[i] = sn_joint_goes_round(j, a) && m->gain[v] != 0 && !paired &&
                          upper - lower >= whole - sn_turn_gap && !told_apart(s->problem, j, a) &&
                          !leads(m, j, a) && !has_own_limits(s->problem, v) &&
                          !is_guarded(s->problem, v) &&
                          !(is_soft(s->problem, v) && upper - lower < INFINITY);
            s->lower[i] = s->round[i] ? -INFINITY : lower;
            s->upper[i] = s->round[i] ? INFINITY : upper;
        }
    }
}

void sn_solver_round_end(sn_solver *s) {
    const sn_model *m = s->model;
    bool moved = false, stuck = false;
    const double before = s->f;
    for (int i = 0; i < s->n; i++) {
        int v = m->v_of[i], at = s->q_of[i];
        if (!s->round[i]) continue;
        s->lower[i] = m->lower[v];
        s->upper[i] = m->upper[v];
        bool free = s->lower[i] == -INFINITY && s->upper[i] == INFINITY;
        bool principal = free && s->options.turns == SN_TURNS_PRINCIPAL;
        double x = s->q[at], near = principal ? 0 : s->started_at[at];
        if (!principal && x >= s->lower[i] && x <= s->upper[i] && fabs(x - near) <= whole / 2)
            continue;
        double y = sn_angle_near(x, near, s->lower[i], s->upper[i]);
        if (principal && y <= -whole / 2) y += whole;
        double off = remainder(y - x, whole);
        stuck = stuck || fabs(off) > 1e-9;
        moved = moved || y != x;
        s->q[at] = y;
        s->round[i] = false;
    }
    if (!moved || !sn_solver_eval(s, s->q, 0, &s->f)) return;
    // another turn is the same place but for rounding, which may undo the last digits of a goal met
    sn_stop stop = s->report.stop;
    // ... or make the half turn that a rotation is off by the half turn the other way, where f may be another
    bool across = s->f > before * (1 + 1e-9) && s->f > 1e-12 * s->whole;
    bool again = stuck || across || (stop == SN_STOP_GOAL && s->f > s->goal);
    if (!again || !sn_solver_eval(s, s->q, SN_EVAL_GAUSS_NEWTON, &s->f)) return;
    s->rival = INFINITY;
    if (stop == SN_STOP_GOAL || stop == SN_STOP_MINIMUM || stop == SN_STOP_SADDLE ||
        (stop == SN_STOP_STALLED && across)) {
        sn_solver_run(s);
        sn_solver_lower(s, true);
    }
    // never worse than the start
    double f;
    if (sn_solver_eval(s, s->started_at, 0, &f) && f < s->f) {
        memcpy(s->q, s->started_at, (size_t)m->nq * sizeof *s->q);
        s->f = f;
    }
}
