// SPDX-License-Identifier: MIT
// Guards: phi = 1/2 k max(0, shift - c)^2, k weight times stiffness. Where it counts, with push = k (shift - c),
//
//   dphi = -push dc,    d2phi = k dc dc^T - push d2c
//
// What bodies do is written in rows y = sum T V of their twists V = (a; b); a force that stays with a
// point of its body carries the rest of d2c (sn_tie_force). v_k(x) is the velocity that body k gives to x.
//
//   segments  c = (2 E - D^2) / (2 D); E = 1/2 |r|^2 + ... is least in s and t, so
//             dE = r . u,  u = v_0(p_0) - v_1(p_1);   force push / D r on p_0, - that on p_1
//             d2E = |u|^2 - z^T A^-1 z + what the forces carry, with a row of z for s and t each that lies
//             inside its segment, h_0 and h_1 the arms:
//             z_s = h_0 . u + w_0 . (h_0 x r),   z_t = -h_1 . u - w_1 . (h_1 x r)
//   plane     c = n . (p - o) - D; force push n on p, - that on the plane's body, which carries n with it
//             dc = n . (v_0(p) - v_1(p)),  and d2c has -w_1 . (n x v_0(p)) twice, which only sees what is across n
//   centre    c = n . sum share p - D: push share n on every p; dc alone is the row
//   coordinates  dc = sum a u, and no more
//
// A pair whose middles are far apart costs that one comparison.
#include "sweeps/guards.h"

#include <string.h>

#include "sweeps/workspace.h"

int sn_guards_rows(const sn_problem *problem) {
    if (problem->guards == NULL) return 0;
    long rows = (long)SN_GUARD_ROWS * problem->guards->nguard;
    int most = problem->model->nv < SN_GUARD_MOST ? problem->model->nv : SN_GUARD_MOST;
    return rows < most ? (int)rows : most;
}

size_t sn_guards_forces_most(const sn_problem *problem) {
    size_t n = 0;
    const sn_guards *g = problem->guards;
    for (int i = 0; g != NULL && i < g->nguard; i++)
        n += g->guard[i].kind == SN_GUARD_CENTRE ? (size_t)g->guard[i].count : 2;
    return n;
}

void sn_guards_layout(sn_guards_at *at, const sn_problem *problem, sn_layout *layout) {
    const sn_guards *g = problem->guards;
    size_t nv = (size_t)problem->model->nv;
    bool many = SN_GUARD_ROWS * (long)g->nguard > sn_guards_rows(problem) && nv <= SN_GUARD_MOST;
    at->solid = sn_layout_take(layout, (size_t)g->nsolid, sizeof *at->solid);
    at->shift = sn_layout_take(layout, (size_t)g->nguard, sizeof *at->shift);
    at->active = sn_layout_take(layout, (size_t)g->nguard, sizeof *at->active);
    at->sum = sn_layout_take(layout, (size_t)problem->model->njoint, 6 * sizeof *at->sum);
    at->B = sn_layout_take(layout, many ? nv * nv : 0, sizeof *at->B);
    at->stiff = 1;
}

void sn_guards_place(const sn_workspace *ws) {
    const sn_guards *g = ws->problem->guards;
    for (int i = 0; i < g->nsolid; i++) {
        const sn_shape_place *shape = &g->solid[i];
        sn_solid *to = &ws->guards->solid[i];
        *to = sn_shape_solid(shape, shape->joint < 0 ? NULL : &ws->frame[shape->joint]);
        if (shape->joint < 0) to->middle = v3_sub(to->middle, ws->origin);
    }
}

// The point of a plane guard.
static sn_vec3 plane_point(const sn_workspace *ws, const sn_guard *guard) {
    const sn_solid *s = &ws->guards->solid[guard->solid[0]];
    return v3_add(s->middle, v3_scale(guard->end, s->arm));
}

static double plane_value(const sn_workspace *ws, const sn_guard *guard) {
    const sn_solid *plane = &ws->guards->solid[guard->solid[1]];
    return v3_dot(plane->arm, v3_sub(plane_point(ws, guard), plane->middle)) - guard->least;
}

static double centre_value(const sn_workspace *ws, const sn_guard *guard) {
    const sn_guard_mass *mass = ws->problem->guards->mass + guard->first;
    sn_vec3 c = ws->origin;
    for (int i = 0; i < guard->count; i++)
        c = v3_add(c, v3_scale(mass[i].share, sn_place(&ws->frame[mass[i].joint], mass[i].centre)));
    return v3_dot(guard->normal, c) - guard->least;
}

static double coordinates_value(const sn_workspace *ws, const sn_guard *guard) {
    const sn_guard_term *term = ws->problem->guards->term + guard->first;
    double sum = -guard->least;
    for (int i = 0; i < guard->count; i++) sum += term[i].factor * ws->q[term[i].q];
    return sum;
}

// Segments that may count: nearer than what they must keep and the shift.
static bool is_near(const sn_workspace *ws, const sn_guard *guard, double shift) {
    const sn_solid *solid = ws->guards->solid;
    sn_vec3 m = v3_sub(solid[guard->solid[0]].middle, solid[guard->solid[1]].middle);
    double reach = guard->near + shift + ws->guards->slack;
    return v3_dot(m, m) < reach * reach;
}

// c, and for segments what is nearest.
static double value_of(const sn_workspace *ws, int i, sn_closest *closest) {
    const sn_guard *guard = &ws->problem->guards->guard[i];
    const double slack = ws->guards->slack, D = guard->least + slack;
    switch (guard->kind) {
    case SN_GUARD_SEGMENTS:
        if (!is_near(ws, guard, ws->guards->shift[i])) return INFINITY;
        *closest = sn_closest_smooth(&ws->guards->solid[guard->solid[0]],
                                     &ws->guards->solid[guard->solid[1]]);
        return (closest->square - D * D) / (2 * D);
    case SN_GUARD_PLANE:
        return plane_value(ws, guard) - slack;
    case SN_GUARD_CENTRE:
        return centre_value(ws, guard) - slack;
    case SN_GUARD_COORDINATES:
        break;
    }
    return coordinates_value(ws, guard) - slack;
}

double sn_guard_value(const sn_workspace *ws, int i) {
    sn_closest closest;
    return value_of(ws, i, &closest);
}

double sn_guard_violation(const sn_workspace *ws, int i) {
    const sn_guard *guard = &ws->problem->guards->guard[i];
    double c = INFINITY;
    if (!(guard->weight > 0)) return 0;
    switch (guard->kind) {
    case SN_GUARD_SEGMENTS:
        if (!is_near(ws, guard, 0)) return 0;
        c = v3_norm(sn_closest_points(&ws->guards->solid[guard->solid[0]],
                                      &ws->guards->solid[guard->solid[1]])
                        .r) -
            guard->least;
        break;
    case SN_GUARD_PLANE:
        c = plane_value(ws, guard);
        break;
    case SN_GUARD_CENTRE:
        c = centre_value(ws, guard);
        break;
    case SN_GUARD_COORDINATES:
        c = coordinates_value(ws, guard);
        break;
    }
    return c < 0 ? -c : 0;
}

double sn_guards_error(const sn_workspace *ws, int task) {
    const sn_guards *g = ws->problem->guards;
    double most = 0;
    if (!sn_has_guards(ws)) return 0;
    sn_guards_place(ws);
    for (int i = g->first[task]; i < g->first[task + 1]; i++)
        most = fmax(most, sn_guard_violation(ws, i));
    return most;
}

double sn_guards_value(const sn_workspace *ws) {
    const sn_guards *g = ws->problem->guards;
    const sn_guards_at *at = ws->guards;
    double f = 0;
    sn_guards_place(ws);
    for (int i = 0; i < g->nguard; i++) {
        if (!(g->guard[i].weight > 0)) continue;
        double out = at->shift[i] - sn_guard_value(ws, i);
        if (out > 0) f += 0.5 * at->stiff * g->guard[i].weight * out * out;
    }
    return f;
}

// --- derivatives -------------------------------------------------------------------------------------

static void put_row(double *T, int row, sn_vec3 a, sn_vec3 b) {
    double *to = T + 6 * row;
    to[0] = a.x, to[1] = a.y, to[2] = a.z;
    to[3] = b.x, to[4] = b.y, to[5] = b.z;
}

// Row `row` of a body: u . velocity of p, and w . angular velocity.
static void put_motion(sn_guard_at *a, int leg, int row, sn_vec3 p, sn_vec3 u, sn_vec3 w) {
    put_row(a->T[leg], row, v3_add(v3_cross(p, u), w), u);
}

static void add_force(const sn_workspace *ws, sn_force_kind kind, int joint, sn_vec3 p, sn_vec3 F) {
    sn_ties *t = ws->ties;
    if (joint >= 0) t->force[t->nforce++] = (sn_tie_force){kind, joint, p, F, 0};
}

static void segments_at(const sn_workspace *ws, const sn_guard *guard, const sn_closest *c,
                        double k, bool exact, sn_guard_at *a) {
    const sn_guards_at *at = ws->guards;
    const double D = guard->least + at->slack, f = a->push / D;
    const int body[2] = {ws->problem->guards->solid[guard->solid[0]].joint,
                         ws->problem->guards->solid[guard->solid[1]].joint};
    const sn_vec3 none = {0, 0, 0};
    for (int i = 0; i < 2; i++) {
        const double sign = i == 0 ? 1 : -1;
        add_force(ws, SN_FORCE_POINT, body[i], c->p[i], v3_scale(sign * f, c->r));
        if (body[i] < 0) continue;
        const int leg = a->nleg++;
        a->joint[leg] = body[i];
        if (!exact) {
            put_motion(a, leg, 0, c->p[i], v3_scale(sign / D, c->r), none);
            continue;
        }
        for (int e = 0; e < 3; e++)
            put_motion(a, leg, e, c->p[i], v3_scale(sign, v3_unit(e)), none);
        int row = 3;
        for (int n = 0; n < 2; n++) {
            if (!c->free[n]) continue;
            sn_vec3 h = at->solid[guard->solid[n]].arm;
            sn_vec3 turn = n == i ? v3_scale(sign, v3_cross(h, c->r)) : none;
            put_motion(a, leg, row++, c->p[i], v3_scale(n == 0 ? sign : -sign, h), turn);
        }
    }
    a->nrow = 1;
    a->W[0] = k;
    if (!exact) return;
    const int nz = c->free[0] + c->free[1];
    a->nrow = 3 + nz;
    for (int i = 0; i < a->nrow * a->nrow; i++) a->W[i] = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a->W[i + a->nrow * j] =
                k / (D * D) * v3_at(c->r, i) * v3_at(c->r, j) - (i == j ? f : 0);
    // + f A^-1 on the rows of z
    if (nz == 1) a->W[3 + 4 * 3] = f / (c->free[0] ? c->A[0] : c->A[2]);
    if (nz == 2) {
        const double det = c->A[0] * c->A[2] - c->A[1] * c->A[1];
        a->W[3 + 5 * 3] = f * c->A[2] / det;
        a->W[4 + 5 * 4] = f * c->A[0] / det;
        a->W[3 + 5 * 4] = a->W[4 + 5 * 3] = -f * c->A[1] / det;
    }
}

static void plane_at(const sn_workspace *ws, const sn_guard *guard, double k, bool exact,
                     sn_guard_at *a) {
    const sn_guards *g = ws->problem->guards;
    const int body[2] = {g->solid[guard->solid[0]].joint, g->solid[guard->solid[1]].joint};
    const sn_vec3 n = ws->guards->solid[guard->solid[1]].arm, p = plane_point(ws, guard);
    const sn_vec3 none = {0, 0, 0};
    const bool bends = exact && body[0] >= 0 && body[1] >= 0;
    add_force(ws, SN_FORCE_POINT, body[0], p, v3_scale(a->push, n));
    add_force(ws, SN_FORCE_SEEN, body[1], p, v3_scale(-a->push, n));
    a->nrow = bends ? 5 : 1;
    for (int i = 0; i < a->nrow * a->nrow; i++) a->W[i] = 0;
    a->W[0] = k;
    // two directions across n
    int least = fabs(n.x) <= fabs(n.y) ? 0 : 1;
    if (fabs(n.z) < fabs(v3_at(n, least))) least = 2;
    sn_vec3 e = v3_cross(v3_unit(least), n);
    e = v3_scale(1 / v3_norm(e), e);
    const sn_vec3 across[2] = {e, v3_cross(n, e)};
    for (int i = 0; i < 2; i++) {
        if (body[i] < 0) continue;
        const int leg = a->nleg++;
        a->joint[leg] = body[i];
        for (int x = 0; x < 6 * SN_GUARD_ROWS; x++) a->T[leg][x] = 0;
        put_motion(a, leg, 0, p, v3_scale(i == 0 ? 1 : -1, n), none);
        for (int x = 0; x < 2 && bends; x++) {
            if (i == 0) {
                put_motion(a, leg, 3 + x, p, across[x], none);
            } else {
                put_motion(a, leg, 1 + x, p, none, across[x]);
            }
        }
    }
    if (!bends) return;
    // rows 1, 2: w_1 across n; 3, 4: v_0; -push w_1 . (n x v_0)
    a->W[2 + 5 * 3] = a->W[3 + 5 * 2] = -a->push;
    a->W[1 + 5 * 4] = a->W[4 + 5 * 1] = a->push;
}

static void centre_forces(const sn_workspace *ws, const sn_guard *guard, double push) {
    const sn_guard_mass *mass = ws->problem->guards->mass + guard->first;
    for (int i = 0; i < guard->count; i++)
        add_force(ws, SN_FORCE_POINT, mass[i].joint,
                  sn_place(&ws->frame[mass[i].joint], mass[i].centre),
                  v3_scale(push * mass[i].share, guard->normal));
}

double sn_guards_forces(sn_workspace *ws, bool exact, bool second) {
    const sn_guards *g = ws->problem->guards;
    sn_guards_at *at = ws->guards;
    double f = 0;
    at->nactive = 0;
    sn_guards_place(ws);
    for (int i = 0; i < g->nguard; i++) {
        const sn_guard *guard = &g->guard[i];
        if (!(guard->weight > 0)) continue;
        sn_closest closest = {0};
        const double c = value_of(ws, i, &closest), out = at->shift[i] - c;
        if (!(out > 0)) continue;
        const double k = at->stiff * guard->weight;
        f += 0.5 * k * out * out;
        sn_guard_at *a = &at->active[at->nactive++];
        a->guard = i;
        a->c = c;
        a->push = k * out;
        a->nrow = 1;
        a->nleg = 0;
        a->W[0] = k;
        if (guard->kind == SN_GUARD_SEGMENTS)
            segments_at(ws, guard, &closest, k, exact && second, a);
        if (guard->kind == SN_GUARD_PLANE) plane_at(ws, guard, k, exact && second, a);
        if (guard->kind == SN_GUARD_CENTRE) centre_forces(ws, guard, a->push);
    }
    return f;
}

void sn_guards_gradient(sn_workspace *ws) {
    const sn_guards *g = ws->problem->guards;
    for (int i = 0; i < ws->guards->nactive; i++) {
        const sn_guard_at *a = &ws->guards->active[i];
        const sn_guard *guard = &g->guard[a->guard];
        if (guard->kind != SN_GUARD_COORDINATES) continue;
        for (int n = guard->first; n < guard->first + guard->count; n++)
            ws->g[g->term[n].slot] -= a->push * g->term[n].factor;
    }
}

// --- rows --------------------------------------------------------------------------------------------

// The rows of one, from `first` on, in z of R rows; where the tie has a slot: at[slot].
static void fill_legs(const sn_workspace *ws, const sn_guard_at *a, int first, int R, double *z,
                      const sn_tie *tie) {
    const sn_model *m = ws->model;
    for (int leg = 0; leg < a->nleg; leg++) {
        for (int k = a->joint[leg]; k >= 0; k = m->joint[k].parent) {
            const sn_joint *j = &m->joint[k];
            const int place = tie->at[m->njoint - 1 - k];
            for (int v = 0; v < j->nv; v++) {
                const sn_twist *S = &ws->T[j->slot + v];
                double *to = z + R * (place + v) + first;
                for (int r = 0; r < a->nrow; r++) {
                    const double *T = a->T[leg] + 6 * r;
                    to[r] += T[0] * S->a.x + T[1] * S->a.y + T[2] * S->a.z + T[3] * S->b.x +
                             T[4] * S->b.y + T[5] * S->b.z;
                }
            }
        }
    }
}

static void fill_centre(const sn_workspace *ws, const sn_guard *guard, int first, int R, double *z,
                        const sn_tie *tie) {
    const sn_model *m = ws->model;
    const sn_guard_mass *mass = ws->problem->guards->mass + guard->first;
    double *sum = ws->guards->sum;
    for (int i = 0; i < 6 * m->njoint; i++) sum[i] = 0;
    for (int i = 0; i < guard->count; i++) {
        double own[6];
        sn_vec3 p = sn_place(&ws->frame[mass[i].joint], mass[i].centre);
        put_row(own, 0, v3_scale(mass[i].share, v3_cross(p, guard->normal)),
                v3_scale(mass[i].share, guard->normal));
        for (int c = 0; c < 6; c++) sum[6 * mass[i].joint + c] += own[c];
    }
    for (int k = m->njoint - 1; k >= 0; k--) {
        const sn_joint *j = &m->joint[k];
        const double *T = sum + 6 * k;
        for (int v = 0; v < j->nv; v++) {
            const sn_twist *S = &ws->T[j->slot + v];
            z[R * (tie->at[m->njoint - 1 - k] + v) + first] = T[0] * S->a.x + T[1] * S->a.y +
                                                              T[2] * S->a.z + T[3] * S->b.x +
                                                              T[4] * S->b.y + T[5] * S->b.z;
        }
        for (int c = 0; c < 6 && j->parent >= 0; c++) sum[6 * j->parent + c] += T[c];
    }
}

static void fill_one(const sn_workspace *ws, const sn_guard_at *a, int first, int R, double *z,
                     const sn_tie *tie) {
    const sn_model *m = ws->model;
    const sn_guards *g = ws->problem->guards;
    const sn_guard *guard = &g->guard[a->guard];
    fill_legs(ws, a, first, R, z, tie);
    if (guard->kind == SN_GUARD_CENTRE) fill_centre(ws, guard, first, R, z, tie);
    if (guard->kind != SN_GUARD_COORDINATES) return;
    for (int n = guard->first; n < guard->first + guard->count; n++) {
        const sn_guard_term *term = &g->term[n];
        int k = 0;
        while (k + 1 < m->njoint && m->joint[k + 1].slot <= term->slot) k++;
        while (m->joint[k].nv == 0) k--;
        z[R * (tie->at[m->njoint - 1 - k] + term->slot - m->joint[k].slot) + first] =
            m->inner[term->v] * term->factor;
    }
}

// More rows than there are velocities: all are summed into one matrix, which becomes the tie's W, with a
// row for each velocity.
static void fill_dense(sn_workspace *ws, sn_tie *tie, double *W) {
    sn_guards_at *at = ws->guards;
    const int n = ws->model->nv;
    double *B = at->B;
    for (int i = 0; i < n * n; i++) B[i] = 0;
    for (int i = 0; i < at->nactive; i++) {
        const sn_guard_at *a = &at->active[i];
        const int R = a->nrow;
        double *z = tie->z;
        for (int k = 0; k < R * n; k++) z[k] = 0;
        fill_one(ws, a, 0, R, z, tie);
        for (int c = 0; c < n; c++) {
            double Wz[SN_GUARD_ROWS] = {0};
            bool any = false;
            for (int k = 0; k < R; k++) {
                any = any || z[R * c + k] != 0;
                for (int r = 0; r < R; r++) Wz[r] += a->W[r + R * k] * z[R * c + k];
            }
            for (int x = 0; x < n && any; x++)
                for (int r = 0; r < R; r++) B[x + n * c] += z[R * x + r] * Wz[r];
        }
    }
    for (int i = 0; i < n * n; i++) tie->z[i] = 0;
    for (int i = 0; i < n; i++) tie->z[i + n * i] = 1;
    for (int c = 0; c < n; c++)
        for (int x = 0; x < n; x++) W[x + n * c] = 0.5 * (B[x + n * c] + B[c + n * x]);
    tie->nrow = n;
}

// With more than there is room for: the most pressing first, and of the others dc alone, as far as it
// goes. f and g have all of them.
static void thin_out(sn_guards_at *at, int most) {
    for (int i = 1; i < at->nactive; i++) {
        sn_guard_at a = at->active[i];
        int k = i;
        for (; k > 0 && at->active[k - 1].push < a.push; k--) at->active[k] = at->active[k - 1];
        at->active[k] = a;
    }
    int rows = 0;
    for (int i = 0; i < at->nactive; i++) {
        rows += at->active[i].nrow;
        if (rows <= most) continue;
        at->nactive = i;
        break;
    }
}

bool sn_guards_rows_fill(sn_workspace *ws, bool exact, sn_tie *tie, double *W) {
    sn_guards_at *at = ws->guards;
    const int most = sn_guards_rows(ws->problem);
    int R = 0;
    (void)exact;
    for (int i = 0; i < at->nactive; i++) R += at->active[i].nrow;
    if (R == 0) return false;
    if (R > most && at->B != NULL) {
        fill_dense(ws, tie, W);
        return true;
    }
    if (R > most) {
        thin_out(at, most);
        R = 0;
        for (int i = 0; i < at->nactive; i++) R += at->active[i].nrow;
    }
    tie->nrow = R;
    for (int i = 0; i < R * tie->nslot; i++) tie->z[i] = 0;
    for (int i = 0; i < R * R; i++) W[i] = 0;
    int first = 0;
    for (int i = 0; i < at->nactive; i++) {
        const sn_guard_at *a = &at->active[i];
        fill_one(ws, a, first, R, tie->z, tie);
        for (int c = 0; c < a->nrow; c++)
            for (int r = 0; r < a->nrow; r++)
                W[first + r + R * (first + c)] = a->W[r + a->nrow * c];
        first += a->nrow;
    }
    return true;
}

void sn_guards_answer(sn_workspace *ws, const double *u, double *out) {
    const sn_guards *g = ws->problem->guards;
    for (int i = 0; i < ws->guards->nactive; i++) {
        const sn_guard_at *a = &ws->guards->active[i];
        const sn_guard *guard = &g->guard[a->guard];
        double y[SN_GUARD_ROWS] = {0}, Wy[SN_GUARD_ROWS] = {0};
        for (int pass = 0; pass < 2; pass++) {
            for (int leg = 0; leg < a->nleg && out == NULL; leg++) {
                double *V = (double *)(void *)&ws->carry[a->joint[leg]];
                double *answer = (double *)(void *)&ws->answer[a->joint[leg]];
                for (int r = 0; r < a->nrow; r++)
                    for (int c = 0; c < 6; c++) {
                        if (pass == 0) {
                            y[r] += a->T[leg][6 * r + c] * V[c];
                        } else {
                            answer[c] += a->T[leg][6 * r + c] * Wy[r];
                        }
                    }
            }
            for (int n = 0; guard->kind == SN_GUARD_CENTRE && out == NULL && n < guard->count;
                 n++) {
                const sn_guard_mass *mass = &g->mass[guard->first + n];
                sn_vec3 p = sn_place(&ws->frame[mass->joint], mass->centre);
                sn_vec3 F = v3_scale(mass->share, guard->normal);
                const sn_twist *V = &ws->carry[mass->joint];
                sn_twist *answer = &ws->answer[mass->joint];
                if (pass == 0) {
                    y[0] += v3_dot(F, v3_add(V->b, v3_cross(V->a, p)));
                } else {
                    answer->a = v3_add(answer->a, v3_scale(Wy[0], v3_cross(p, F)));
                    answer->b = v3_add(answer->b, v3_scale(Wy[0], F));
                }
            }
            for (int n = 0; guard->kind == SN_GUARD_COORDINATES && out != NULL && n < guard->count;
                 n++) {
                const sn_guard_term *term = &g->term[guard->first + n];
                if (pass == 0) {
                    y[0] += term->factor * u[term->v];
                } else {
                    out[term->v] += term->factor * Wy[0];
                }
            }
            for (int c = 0; c < a->nrow && pass == 0; c++)
                for (int r = 0; r < a->nrow; r++) Wy[r] += a->W[r + a->nrow * c] * y[c];
        }
    }
}
