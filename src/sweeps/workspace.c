// SPDX-License-Identifier: MIT
#include "sweeps/workspace.h"
#include "sweeps/path_rows.h"

#include <string.h>

static void layout_workspace(sn_workspace *ws, sn_layout *layout) {
    const sn_model *m = ws->model;
    if (sn_ties_any(ws->problem)) {
        sn_ties measured;
        ws->ties = sn_layout_take(layout, 1, sizeof *ws->ties);
        sn_ties_layout(ws->ties != NULL ? ws->ties : &measured, ws->problem, layout);
    }
    if (ws->problem->guards != NULL) {
        sn_guards_at measured;
        ws->guards = sn_layout_take(layout, 1, sizeof *ws->guards);
        sn_guards_layout(ws->guards != NULL ? ws->guards : &measured, ws->problem, layout);
    }
    size_t njoint = (size_t)m->njoint, nv = (size_t)m->nv;
    for (int i = 0; i < 2; i++) {
        sn_placed *p = &ws->placed[i];
        p->frame = sn_layout_take(layout, njoint, sizeof *p->frame);
        p->base = sn_layout_take(layout, njoint, sizeof *p->base);
        p->S = sn_layout_take(layout, nv, sizeof *p->S);
        p->angle = sn_layout_take(layout, nv, sizeof *p->angle);
        p->q = sn_layout_take(layout, (size_t)m->nq, sizeof *p->q);
    }
    ws->sums = sn_layout_take(layout, njoint, sizeof *ws->sums);
    ws->field = sn_layout_take(layout, njoint, sizeof *ws->field);
    ws->body = sn_layout_take(layout, njoint, sizeof *ws->body);
    ws->carry = sn_layout_take(layout, njoint, sizeof *ws->carry);
    ws->answer = sn_layout_take(layout, njoint, sizeof *ws->answer);
    ws->below = sn_layout_take(layout, njoint, sizeof *ws->below);
    ws->stride = nv;
    ws->columns = sn_layout_take(layout, nv, 6 * sizeof *ws->columns);
    ws->g = sn_layout_take(layout, nv, sizeof *ws->g);
    ws->scaled = sn_layout_take(layout, nv, sizeof *ws->scaled);
    ws->local = sn_layout_take(layout, nv, SN_MAX_JOINT_DOFS * sizeof *ws->local);
    ws->Q = sn_layout_take(layout, njoint, 36 * sizeof *ws->Q);
    ws->yf = sn_layout_take(layout, nv, sizeof *ws->yf);
    ws->pivot = sn_layout_take(layout, nv, sizeof *ws->pivot);
    ws->lower = sn_layout_take(layout, nv, SN_MAX_JOINT_DOFS * sizeof *ws->lower);
    ws->push = sn_layout_take(layout, njoint, sizeof *ws->push);
    ws->scratch = sn_layout_take(layout, nv, sizeof *ws->scratch);
    ws->rows = sn_layout_take(layout, ws->has_rows ? m->path.size : 0, sizeof *ws->rows);
}

// Place q in the set that does not hold the derivatives.
static void place(sn_workspace *ws, const double *q) {
    ws->latest = ws->derived == 0 ? 1 : 0;
    const sn_placed *p = &ws->placed[ws->latest];
    ws->frame = p->frame;
    ws->base = p->base;
    ws->S = p->S;
    ws->angle = p->angle;
    ws->q = p->q;
    sn_sweep_pose(ws, q);
    ws->placed[ws->latest].origin = ws->origin;
}

// The same for derivatives; a pose that was placed last, to look at f, is not placed again.
static void place_derived(sn_workspace *ws, const double *q) {
    bool there =
        ws->latest != ws->derived && memcmp(ws->q, q, (size_t)ws->model->nq * sizeof *q) == 0;
    if (!there) place(ws, q);
    ws->derived = ws->latest;
    // the problem may have got locks or strengths, or lost them
    ws->T = ws->model->gained ? ws->scaled : ws->S;
}

sn_status sn_workspace_create(const sn_problem *problem, bool hessian,
                              const sn_allocator *allocator, sn_workspace **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(problem, error);
    SN_NEED(out, error);
    sn_workspace ws = {.allocator = sn_allocator_of(allocator),
                       .problem = problem,
                       .model = problem->model,
                       .has_rows = hessian};
    sn_layout layout = {0};
    sn_workspace *workspace = sn_layout_take(&layout, 1, sizeof *workspace);
    layout_workspace(&ws, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &ws.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    workspace = sn_layout_take(&layout, 1, sizeof *workspace);
    layout_workspace(&ws, &layout);
    *workspace = ws;
    workspace->derived = -1;
    sn_model_zero(ws.model, workspace->placed[0].q);
    place(workspace, workspace->placed[0].q);
    *out = workspace;
    return SN_OK;
}

void sn_workspace_destroy(sn_workspace *workspace) {
    if (workspace == NULL) return;
    sn_allocator allocator = workspace->allocator;
    sn_release(&allocator, workspace->owner);
}

// A gain scales the column of its degree of freedom, hence the gradient and both sides of H.
static void apply_gains(sn_workspace *ws, bool second) {
    const sn_model *m = ws->model;
    const sn_twist none = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int a = 0; a < j->nv; a++) {
            int i = j->slot + a;
            double gain = m->inner[j->v0 + a];
            ws->g[i] *= gain;
            if (!second) continue;
            ws->T[i] = twist_add(none, gain, ws->S[i]);
            for (int b = 0; b <= a && sn_has_local(ws, j); b++)
                ws->local[SN_MAX_JOINT_DOFS * i + b] *= gain * m->inner[j->v0 + b];
        }
    }
}

static void clear_locals(sn_workspace *ws) {
    for (int k = 0; k < ws->model->njoint && ws->locals != SN_LOCALS_NONE; k++) {
        const sn_joint *j = &ws->model->joint[k];
        if (!sn_has_local(ws, j)) continue;
        double *local = ws->local + SN_MAX_JOINT_DOFS * j->slot;
        for (int i = 0; i < SN_MAX_JOINT_DOFS * j->nv; i++) local[i] = 0;
    }
}

sn_status sn_workspace_eval(sn_workspace *ws, const double *q, unsigned what, double *f) {
    if (ws == NULL || q == NULL || f == NULL) return SN_ERR_ARGUMENT;
    const sn_model *m = ws->model;
    bool exact = (what & SN_EVAL_HESSIAN) != 0;
    bool second = exact || (what & SN_EVAL_GAUSS_NEWTON) != 0;
    *f = NAN;
    SN_TRY(sn_model_check_pose(m, q, NULL));
    if (!second && (what & SN_EVAL_GRADIENT) == 0) {
        place(ws, q);
        *f = sn_sweep_value(ws);
        return isfinite(*f) ? SN_OK : SN_ERR_VALUE;
    }
    place_derived(ws, q);
    if (second) {
        ws->rows_valid = false;
        ws->locals = sn_joint_terms_any(ws)                 ? SN_LOCALS_ALL
                     : (exact && m->curved) || m->ncone > 0 ? SN_LOCALS_CURVED
                                                            : SN_LOCALS_NONE;
        clear_locals(ws);
    }
    double tied = ws->ties != NULL ? sn_ties_forces(ws, exact, second) : 0;
    if (second && ws->problem->npart == 0 && (what & SN_EVAL_GENERAL) == 0 &&
        !(ws->ties != NULL && ws->ties->turned)) {
        *f = sn_fast_sum(ws, exact);
        sn_fast_fields(ws, exact);
    } else {
        *f = sn_sweep_general(ws, exact, second);
    }
    *f += sn_joint_terms_add(ws, exact, second);
    if (ws->ties != NULL) *f += tied;
    if (sn_has_guards(ws)) sn_guards_gradient(ws);
    if (m->gained) apply_gains(ws, second);
    if (ws->ties != NULL) sn_ties_rows(ws, exact, second);
    return isfinite(*f) ? SN_OK : SN_ERR_VALUE;
}

double sn_workspace_loop_error(const sn_workspace *ws, int loop) {
    if (ws == NULL || loop < 0 || loop >= ws->model->nloop) return 0;
    return sn_loop_error(ws, loop);
}

sn_status sn_workspace_pose(sn_workspace *ws, const double *q) {
    if (ws == NULL || q == NULL) return SN_ERR_ARGUMENT;
    SN_TRY(sn_model_check_pose(ws->model, q, NULL));
    place(ws, q);
    return SN_OK;
}

static bool is_joint(const sn_workspace *ws, int joint) {
    return joint >= 0 && joint < ws->model->njoint;
}

sn_frame sn_workspace_frame(const sn_workspace *ws, int joint) {
    if (ws == NULL) return (sn_frame){m3_identity(), {0, 0, 0}};
    if (!is_joint(ws, joint)) return (sn_frame){m3_identity(), {0, 0, 0}};
    sn_frame frame = ws->frame[ws->model->sweep_of[joint]];
    frame.p = v3_add(frame.p, ws->origin);
    return frame;
}

sn_vec3 sn_workspace_point(const sn_workspace *ws, int joint, const double local[3]) {
    if (ws == NULL || local == NULL) return v3(0, 0, 0);
    if (!is_joint(ws, joint)) return v3(0, 0, 0);
    const sn_frame *frame = &ws->frame[ws->model->sweep_of[joint]];
    return v3_add(ws->origin, sn_place(frame, v3_from(local)));
}

void sn_workspace_gradient(const sn_workspace *ws, double *g) {
    if (ws == NULL || g == NULL) return;
    for (int i = 0; i < ws->model->nv; i++) g[ws->model->v_of[i]] = ws->g[i];
}

void sn_workspace_hessian(sn_workspace *ws, double *H) {
    if (ws == NULL || H == NULL) return;
    const double *rows = sn_workspace_rows(ws);
    if (rows == NULL) return;
    if (!sn_has_rows(ws)) {
        sn_path_to_dense(&ws->model->path, rows, ws->model->v_of, H);
        return;
    }
    // column by column: products see the ties
    const sn_model *m = ws->model;
    double *x = ws->ties->z, *y = ws->ties->Hz;
    for (int c = 0; c < m->nv; c++) {
        for (int i = 0; i < m->nv; i++) x[i] = i == c;
        sn_workspace_fields_multiply(ws, x, y);
        for (int i = 0; i < m->nv; i++) H[m->v_of[i] + m->nv * m->v_of[c]] = y[i];
    }
    for (int c = 0; c < m->nv; c++)
        for (int i = 0; i < c; i++)
            H[i + m->nv * c] = H[c + m->nv * i] = 0.5 * (H[i + m->nv * c] + H[c + m->nv * i]);
}

size_t sn_workspace_sparse_hessian(sn_workspace *ws, size_t room, int *rows, int *columns,
                                   double *values) {
    if (ws == NULL || rows == NULL || columns == NULL || values == NULL) return 0;
    const double *from = sn_workspace_rows(ws);
    if (from == NULL || sn_has_rows(ws)) return 0;
    const sn_path *path = &ws->model->path;
    const int *order = ws->model->v_of;
    size_t count = sn_path_entries(path), at = 0;
    if (count > room) return count;
    for (int i = 0; i < path->n; i++) {
        const double *row = from + sn_path_row(path, i);
        // the run root ... i, its last entry the diagonal
        for (int k = sn_path_length(path, i) - 1, j = i; k >= 0; k--, j = sn_path_parent(path, j)) {
            rows[at] = order[i];
            columns[at] = order[j];
            values[at++] = row[k];
        }
    }
    return count;
}

const double *sn_workspace_rows(sn_workspace *ws) {
    if (ws == NULL) return NULL;
    if (!ws->has_rows) return NULL;
    if (!ws->rows_valid) sn_rows_fill(ws);
    return ws->rows;
}

const double *sn_workspace_sweep_gradient(const sn_workspace *ws) {
    return ws != NULL ? ws->g : NULL;
}
