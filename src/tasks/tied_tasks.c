// SPDX-License-Identifier: MIT
// Tied tasks: what their atoms are and how they are weighed.
#include <string.h>

#include "math/unit.h"
#include "tasks/problem.h"

bool sn_task_is_tied(const sn_task *t) {
    bool lost = t->loss != SN_LOSS_NONE;
    switch (t->type) {
    case SN_TASK_POINT:
        return t->has_matrix && lost;
    case SN_TASK_PLANE:
        return t->joint2 >= 0 || lost;
    case SN_TASK_DIRECTION:
    case SN_TASK_ORIENTATION:
        return t->has_matrix || lost;
    case SN_TASK_POSE:
        return t->has_matrix || t->has_rotation_matrix;
    case SN_TASK_FRAME2:
    case SN_TASK_REST:
    case SN_TASK_LIMIT:
    case SN_TASK_POSTURE:
    case SN_TASK_AVOID:
    case SN_TASK_HALF_SPACE:
    case SN_TASK_SUPPORT:
        return false;
    default:
        return true;
    }
}

int sn_task_residuals(const sn_task *t) {
    switch (t->type) {
    case SN_TASK_PLANE:
    case SN_TASK_DISTANCE:
        return 1;
    case SN_TASK_POSE:
    case SN_TASK_RELATIVE_POSE:
        return 6;
    case SN_TASK_FRAME2:
        return 9;
    case SN_TASK_REST:
    case SN_TASK_LIMIT:
    case SN_TASK_POSTURE:
    case SN_TASK_COUPLED:
    case SN_TASK_OWN:
    case SN_TASK_AVOID:
    case SN_TASK_HALF_SPACE:
    case SN_TASK_SUPPORT:
    case SN_TASK_TYPE_COUNT:
        return 0;
    default:
        return 3;
    }
}

// How many atoms make its residual.
static int atoms_of(const sn_task *t) {
    return t->type == SN_TASK_FRAME2                                     ? 3
           : t->type == SN_TASK_POSE || t->type == SN_TASK_RELATIVE_POSE ? 2
                                                                         : 1;
}

// Which joints a centre of mass is of, one after the other: the i-th, or -1.
static int centre_joint(const sn_model *m, const sn_task *t, int i) {
    if (t->joints != NULL) return i < t->njoint ? t->joints[i] : -1;
    return i < m->njoint ? i : -1;
}

sn_tied_need sn_tied_needs(const sn_model *m, const sn_task *tasks, int i) {
    const sn_task *t = &tasks[i];
    sn_tied_need need = {0};
    if (t->type == SN_TASK_POSTURE) {
        need.numbers = (size_t)m->nq;
        need.indices = t->joints != NULL ? (size_t)t->njoint : 0;
    }
    if (!sn_task_is_tied(t)) return need;
    need.tied = need.atom = 1;
    need.matrix = 9;
    switch (t->type) {
    case SN_TASK_POSE:
    case SN_TASK_RELATIVE_POSE:
        need.tied = need.atom = 2;
        need.matrix = 18;
        break;
    case SN_TASK_CENTRE_OF_MASS:
        while (centre_joint(m, t, need.mass) >= 0) need.mass++;
        need.indices = t->joints != NULL ? (size_t)t->njoint : 0;
        need.numbers = (size_t)need.mass;
        if (t->centres != NULL) need.numbers += 3 * (size_t)need.mass;
        break;
    case SN_TASK_COUPLED: {
        size_t rows = 0;
        need.atom = 0;
        for (int k = 0; k < t->ntask; k++) {
            need.atom += atoms_of(&tasks[t->tasks[k]]);
            rows += (size_t)sn_task_residuals(&tasks[t->tasks[k]]);
        }
        need.indices = (size_t)t->ntask;
        need.matrix = rows * rows;
        break;
    }
    case SN_TASK_OWN:
        need.atom = t->njoint;
        need.indices = (size_t)t->njoint;
        break;
    default:
        break;
    }
    return need;
}

static sn_vec3 unit_vec(const double x[3]) {
    double u[3] = {0, 0, 0};
    (void)sn_unit(x, 3, u);
    return v3_from(u);
}

// A point against one of the world, or of another joint.
static sn_atom offset_atom(const sn_task *t, bool relative) {
    sn_atom a = {.kind = SN_ATOM_OFFSET, .nr = 3, .nrow = 3, .N = m3_identity()};
    a.local[0] = v3_from(t->local);
    a.local[1] = v3_from(relative ? t->local2 : t->goal);
    if (relative) a.goal = v3_from(t->goal);
    if (relative && t->in_joint2) a.kind = SN_ATOM_SEEN;
    return a;
}

static sn_atom turn_atom(const sn_task *t, bool relative) {
    sn_atom a = {.kind = SN_ATOM_TURN, .nr = 3, .inside = relative && t->in_joint2};
    double q[4] = {1, 0, 0, 0};
    (void)sn_unit(t->rotation, 4, q);
    a.turn = sn_mat3_from_quat((sn_quat){q[0], q[1], q[2], q[3]});
    return a;
}

static sn_atom direction_atom(sn_vec3 local, const double goal[3]) {
    sn_atom a = {.kind = SN_ATOM_DIRECTION, .nr = 3, .nrow = 3};
    a.local[0] = local;
    a.goal = unit_vec(goal);
    return a;
}

// A line or plane through the goal, in the axes of joint2.
static sn_atom flat_atom(const sn_task *t) {
    sn_atom a = {.kind = SN_ATOM_SEEN, .nr = t->type == SN_TASK_PLANE ? 1 : 3};
    a.local[0] = v3_from(t->local);
    a.local[1] = v3_from(t->goal);
    if (t->type == SN_TASK_PLANE) {
        a.N.c[0] = unit_vec(t->normal);
        return a;
    }
    sn_vec3 u = unit_vec(t->axis);
    for (int k = 0; k < 3; k++) a.N.c[k] = v3_sub(v3_unit(k), v3_scale(v3_at(u, k), u));
    return a;
}

// The atoms of a task that has a residual, without their joints and masses; how many.
static int make_atoms(const sn_task *t, sn_atom out[3]) {
    bool relative = t->type == SN_TASK_RELATIVE || t->type == SN_TASK_RELATIVE_POSE ||
                    t->type == SN_TASK_RELATIVE_ORIENTATION;
    switch (t->type) {
    case SN_TASK_POINT:
    case SN_TASK_RELATIVE:
        out[0] = offset_atom(t, relative);
        return 1;
    case SN_TASK_PLANE:
    case SN_TASK_LINE:
        out[0] = flat_atom(t);
        return 1;
    case SN_TASK_DIRECTION:
        out[0] = direction_atom(unit_vec(t->local), t->goal);
        return 1;
    case SN_TASK_ORIENTATION:
    case SN_TASK_RELATIVE_ORIENTATION:
        out[0] = turn_atom(t, relative);
        return 1;
    case SN_TASK_POSE:
    case SN_TASK_RELATIVE_POSE:
        out[0] = offset_atom(t, relative);
        out[1] = turn_atom(t, relative);
        return 2;
    case SN_TASK_FRAME2:
        out[0] = offset_atom(t, false);
        out[1] = direction_atom(v3_unit(0), t->i);
        out[2] = direction_atom(v3_unit(1), t->j);
        return 3;
    case SN_TASK_DISTANCE:
        out[0] = (sn_atom){.kind = SN_ATOM_DISTANCE, .nr = 1, .nrow = 3, .length = t->distance};
        out[0].local[0] = v3_from(t->local);
        out[0].local[1] = v3_from(t->local2);
        return 1;
    case SN_TASK_LOOK_AT:
        out[0] = (sn_atom){.kind = SN_ATOM_LOOK, .nr = 3, .nrow = 6, .axis = unit_vec(t->axis)};
        out[0].local[0] = v3_from(t->local);
        out[0].local[1] = v3_from(t->local2);
        return 1;
    case SN_TASK_CENTRE_OF_MASS:
        out[0] = (sn_atom){.kind = SN_ATOM_CENTRE, .nr = 3, .nrow = 3, .goal = v3_from(t->goal)};
        return 1;
    default:
        return 0;
    }
}

// The atoms of a task with the joints that they touch.
static int place_atoms(const sn_problem *p, const sn_task *t, sn_atom out[3]) {
    const int *sweep_of = p->model->sweep_of;
    int n = make_atoms(t, out);
    for (int i = 0; i < n; i++) {
        sn_atom *a = &out[i];
        bool pair = t->type == SN_TASK_PLANE || t->type > SN_TASK_LIMIT;
        a->sign = 1;
        a->joint[0] = a->kind == SN_ATOM_CENTRE ? -1 : sweep_of[t->joint];
        a->joint[1] =
            pair && t->joint2 >= 0 && a->kind != SN_ATOM_CENTRE ? sweep_of[t->joint2] : -1;
        if (a->kind == SN_ATOM_SEEN || a->kind == SN_ATOM_TURN) a->nrow = a->joint[1] < 0 ? 3 : 6;
    }
    return n;
}

// ---- structure ----------------------------------------------------------------------------------

static void close_tied(sn_problem *p, sn_tied *tied) {
    int body = -2;
    tied->nr = tied->nrow = 0;
    tied->points = true;
    for (int i = tied->atom; i < tied->atom + tied->natom; i++) {
        const sn_atom *a = &p->atom[i];
        tied->nr += a->nr;
        tied->nrow += a->nrow;
        if (a->kind != SN_ATOM_OFFSET && a->kind != SN_ATOM_SEEN && a->kind != SN_ATOM_DISTANCE &&
            a->kind != SN_ATOM_CENTRE)
            tied->points = false;
        for (int k = 0; k < 2 && a->kind != SN_ATOM_CENTRE; k++) {
            if (a->joint[k] < 0) continue;
            body = body == -2 || body == a->joint[k] ? a->joint[k] : -1;
        }
        for (int k = a->leg; k < a->leg + a->nleg; k++)
            body = body == -2 || body == p->mass[k].joint ? p->mass[k].joint : -1;
    }
    tied->single = body != -1;
    if (tied->single) tied->points = false;
    if (tied->nr == 0) tied->nr = 1;
}

static void assign_masses(sn_problem *p, const sn_task *t, sn_atom *atom) {
    const sn_model *m = p->given;
    atom->leg = p->nmass;
    for (int i = 0; centre_joint(m, t, i) >= 0; i++) {
        int joint = centre_joint(m, t, i);
        const double *centre = t->centres != NULL ? t->centres + 3 * i : m->desc[joint].centre;
        p->mass[p->nmass++] = (sn_mass){.joint = m->sweep_of[joint], .local = v3_from(centre)};
    }
    atom->nleg = p->nmass - atom->leg;
}

void sn_tied_assign(sn_problem *p, int i) {
    const sn_task *t = &p->task[i];
    sn_task_parts *at = &p->parts[i];
    sn_atom atoms[3];
    at->tied = p->ntied;
    if (t->type == SN_TASK_COUPLED || t->type == SN_TASK_OWN) {
        sn_tied *tied = &p->tied[p->ntied++];
        *tied = (sn_tied){.task = i, .atom = p->natom, .W = tied->W};
        for (int k = 0; t->type == SN_TASK_OWN && k < t->njoint; k++)
            p->atom[p->natom++] = (sn_atom){.kind = SN_ATOM_BODY,
                                            .nrow = 6,
                                            .sign = 1,
                                            .joint = {p->model->sweep_of[t->joints[k]], -1}};
        for (int k = 0; t->type == SN_TASK_COUPLED && k < t->ntask; k++) {
            const sn_task_parts *of = &p->parts[t->tasks[k]];
            int n = place_atoms(p, &p->task[t->tasks[k]], atoms);
            for (int a = 0; a < n; a++) {
                if (atoms[a].kind == SN_ATOM_CENTRE) {
                    atoms[a].leg = p->atom[p->tied[of->tied].atom].leg;
                    atoms[a].nleg = p->atom[p->tied[of->tied].atom].nleg;
                }
                p->atom[p->natom++] = atoms[a];
            }
        }
        tied->natom = p->natom - tied->atom;
        close_tied(p, tied);
        p->ncoupled += t->type == SN_TASK_COUPLED;
    } else {
        int n = place_atoms(p, t, atoms);
        for (int a = 0; a < n; a++) {
            sn_tied *tied = &p->tied[p->ntied++];
            *tied = (sn_tied){.task = i, .atom = p->natom, .natom = 1, .W = tied->W};
            sn_atom *atom = &p->atom[p->natom++];
            *atom = atoms[a];
            if (atom->kind == SN_ATOM_CENTRE) assign_masses(p, t, atom);
            close_tied(p, tied);
        }
    }
    at->ntied = p->ntied - at->tied;
}

// ---- numbers ------------------------------------------------------------------------------------

static void share_masses(sn_problem *p, const sn_task *t, const sn_atom *atom) {
    double sum = 0;
    for (int k = 0; k < atom->nleg; k++) sum += t->masses[k];
    for (int k = 0; k < atom->nleg; k++) p->mass[atom->leg + k].share = t->masses[k] / sum;
}

// The new numbers of an atom whose structure stays.
static void renew(sn_atom *to, sn_atom from, bool active) {
    from.leg = to->leg;
    from.nleg = to->nleg;
    from.active = active;
    *to = from;
}

static void refresh_coupled(sn_problem *p, int i) {
    const sn_task *t = &p->task[i];
    sn_tied *tied = &p->tied[p->parts[i].tied];
    int next = tied->atom;
    memcpy(tied->W, t->coupling, (size_t)tied->nr * (size_t)tied->nr * sizeof *tied->W);
    for (int k = 0; k < t->ntask; k++) {
        const sn_task_parts *of = &p->parts[t->tasks[k]];
        sn_atom atoms[3];
        int n = place_atoms(p, &p->task[t->tasks[k]], atoms);
        for (int a = 0; a < n; a++) {
            // residuals are goals less what is there
            bool less = atoms[a].kind == SN_ATOM_TURN || atoms[a].kind == SN_ATOM_DIRECTION ||
                        atoms[a].kind == SN_ATOM_LOOK;
            atoms[a].sign = less ? 1 : -1;
            renew(&p->atom[next++], atoms[a], of->enabled && !of->missing);
        }
    }
}

void sn_tied_refresh(sn_problem *p, int i) {
    const sn_task *t = &p->task[i];
    const sn_task_parts *at = &p->parts[i];
    bool active = at->enabled && !at->missing;
    sn_atom atoms[3];
    int n = at->ntied > 0 ? place_atoms(p, t, atoms) : 0;
    for (int a = 0; a < at->ntied; a++) {
        sn_tied *tied = &p->tied[at->tied + a];
        tied->weight = a == 1 ? t->rotation_weight : t->weight;
        tied->active = active && tied->weight > 0;
        tied->loss = t->loss;
        tied->scale2 = t->loss_scale * t->loss_scale;
        bool given = a == 1 ? t->has_rotation_matrix : t->has_matrix && t->type != SN_TASK_PLANE;
        for (int k = 0; k < 9 && t->type != SN_TASK_COUPLED; k++)
            tied->W[k] = tied->nr == 1 || !given ? k % (tied->nr + 1) == 0
                         : a == 1                ? t->rotation_matrix[k]
                                                 : t->matrix[k];
        for (int k = 0; k < tied->natom; k++) p->atom[tied->atom + k].active = true;
        if (a < n) renew(&p->atom[tied->atom], atoms[a], true);
        if (a < n && atoms[a].kind == SN_ATOM_CENTRE) share_masses(p, t, &p->atom[tied->atom]);
    }
    if (t->type == SN_TASK_COUPLED) refresh_coupled(p, i);
    if (p->ncoupled == 0 || t->type == SN_TASK_COUPLED) return;
    for (int k = 0; k < p->ntask; k++) {
        const sn_task *c = &p->task[k];
        bool member = false;
        for (int n2 = 0; c->type == SN_TASK_COUPLED && n2 < c->ntask; n2++)
            member = member || c->tasks[n2] == i;
        if (member) refresh_coupled(p, k);
    }
}
