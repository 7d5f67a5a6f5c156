// SPDX-License-Identifier: MIT
// What must not happen and is near: its c (tasks/guards.h) and dc, for those who keep away from it before it
// counts in f.
#include <string.h>

#include "sweeps/guards.h"
#include "sweeps/workspace.h"

// row += sign u . velocity of p, a point of joint k.
static void add_motion(const sn_workspace *ws, int k, sn_vec3 p, sn_vec3 u, double *row) {
    const sn_model *m = ws->model;
    const sn_vec3 turn = v3_cross(p, u);
    for (; k >= 0; k = m->joint[k].parent) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            const sn_twist *S = &ws->S[j->slot + a];
            row[j->slot + a] += m->inner[j->v0 + a] * (v3_dot(turn, S->a) + v3_dot(u, S->b));
        }
    }
}

// What followers have is handed to those they follow.
static void lead(const sn_workspace *ws, double *row) {
    const sn_model *m = ws->model;
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        const sn_coupling_place *c = &m->coupled[i];
        sn_jet jet;
        sn_driver_at(&c->driver, ws->q, &jet);
        for (int k = 0; k < c->nleader; k++)
            row[c->slot[k]] += m->inner[c->v[k]] * jet.d[k] * row[c->follower_slot];
        row[c->follower_slot] = 0;
    }
}

// c where it is below the margin, else INFINITY. For segments the distance itself, smooth as there, less what
// they must keep: far off, c as f has it grows with its square.
static double value_of(const sn_workspace *ws, int i, double margin) {
    const sn_guard *guard = &ws->problem->guards->guard[i];
    const sn_solid *solid = ws->guards->solid;
    if (guard->kind != SN_GUARD_SEGMENTS) return sn_guard_value(ws, i);
    const sn_solid *a = &solid[guard->solid[0]], *b = &solid[guard->solid[1]];
    const sn_vec3 between = v3_sub(a->middle, b->middle);
    const double reach = guard->near + margin;
    if (v3_dot(between, between) >= reach * reach) return INFINITY;
    return sqrt(fmax(sn_closest_smooth(a, b).square, 0)) - guard->least;
}

static void gradient(const sn_workspace *ws, const sn_guard *guard, double *row) {
    const sn_guards *g = ws->problem->guards;
    const sn_solid *solid = ws->guards->solid;
    switch (guard->kind) {
    case SN_GUARD_SEGMENTS: {
        const sn_closest c = sn_closest_smooth(&solid[guard->solid[0]], &solid[guard->solid[1]]);
        const double d = sqrt(fmax(c.square, 1e-12));
        for (int i = 0; i < 2; i++)
            add_motion(ws, g->solid[guard->solid[i]].joint, c.p[i],
                       v3_scale((i == 0 ? 1 : -1) / d, c.r), row);
        break;
    }
    case SN_GUARD_PLANE: {
        const sn_solid *s = &solid[guard->solid[0]];
        const sn_vec3 n = solid[guard->solid[1]].arm;
        const sn_vec3 p = v3_add(s->middle, v3_scale(guard->end, s->arm));
        add_motion(ws, g->solid[guard->solid[0]].joint, p, n, row);
        add_motion(ws, g->solid[guard->solid[1]].joint, p, v3_neg(n), row);
        break;
    }
    case SN_GUARD_CENTRE:
        for (int i = guard->first; i < guard->first + guard->count; i++) {
            const sn_guard_mass *mass = &g->mass[i];
            add_motion(ws, mass->joint, sn_place(&ws->frame[mass->joint], mass->centre),
                       v3_scale(mass->share, guard->normal), row);
        }
        break;
    case SN_GUARD_COORDINATES:
        for (int i = guard->first; i < guard->first + guard->count; i++)
            row[g->term[i].slot] += ws->model->inner[g->term[i].v] * g->term[i].factor;
        break;
    }
    if (ws->model->ncoupling > 0) lead(ws, row);
}

int sn_guards_near(const sn_workspace *ws, double margin, int room, int *which, double *c,
                   double *rows) {
    const size_t n = (size_t)ws->model->nv;
    int count = 0;
    if (!sn_has_guards(ws)) return 0;
    const sn_guards *g = ws->problem->guards;
    sn_guards_place(ws);
    for (int i = 0; i < g->nguard; i++) {
        if (!(g->guard[i].weight > 0)) continue;
        const double value = value_of(ws, i, margin);
        if (!(value < margin) || (count == room && value >= c[room - 1])) continue;
        int at = count < room ? count++ : room - 1;
        for (; at > 0 && c[at - 1] > value; at--) {
            c[at] = c[at - 1];
            which[at] = which[at - 1];
        }
        c[at] = value;
        which[at] = i;
    }
    for (int i = 0; i < count; i++) {
        memset(rows + n * (size_t)i, 0, n * sizeof *rows);
        gradient(ws, &g->guard[which[i]], rows + n * (size_t)i);
    }
    return count;
}
