// SPDX-License-Identifier: MIT
#include "sweeps/workspace.h"

#include <string.h>

static void layout_workspace(sn_workspace *ws, sn_layout *layout) {
    const sn_model *m = ws->model;
    size_t njoint = (size_t)m->njoint, nv = (size_t)m->nv;
    ws->frame = sn_layout_take(layout, njoint, sizeof *ws->frame);
    ws->base = sn_layout_take(layout, njoint, sizeof *ws->base);
    ws->S = sn_layout_take(layout, nv, sizeof *ws->S);
    ws->angle = sn_layout_take(layout, nv, sizeof *ws->angle);
    ws->q = sn_layout_take(layout, (size_t)m->nq, sizeof *ws->q);
    ws->sums = sn_layout_take(layout, njoint, sizeof *ws->sums);
    ws->torque = sn_layout_take(layout, njoint, sizeof *ws->torque);
    ws->field = sn_layout_take(layout, njoint, sizeof *ws->field);
    ws->carry = sn_layout_take(layout, njoint, sizeof *ws->carry);
    ws->answer = sn_layout_take(layout, njoint, sizeof *ws->answer);
    ws->below = sn_layout_take(layout, njoint, sizeof *ws->below);
    for (int c = 0; c < 6; c++) ws->column[c] = sn_layout_take(layout, nv, sizeof(double));
    ws->g = sn_layout_take(layout, nv, sizeof *ws->g);
    ws->scratch = sn_layout_take(layout, nv, sizeof *ws->scratch);
    ws->rows = sn_layout_take(layout, ws->has_rows ? m->path.size : 0, sizeof *ws->rows);
}

sn_status sn_workspace_create(const sn_problem *problem, bool hessian,
                              const sn_allocator *allocator, sn_workspace **out) {
    *out = NULL;
    sn_workspace ws = {.allocator = sn_allocator_of(allocator),
                       .problem = problem,
                       .model = problem->model,
                       .has_rows = hessian};
    sn_layout layout = {0};
    sn_workspace *workspace = sn_layout_take(&layout, 1, sizeof *workspace);
    layout_workspace(&ws, &layout);
    void *block = sn_layout_acquire(&layout, allocator, &ws.owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    workspace = sn_layout_take(&layout, 1, sizeof *workspace);
    layout_workspace(&ws, &layout);
    *workspace = ws;
    sn_model_zero(ws.model, workspace->q);
    sn_sweep_pose(workspace, workspace->q);
    *out = workspace;
    return SN_OK;
}

void sn_workspace_destroy(sn_workspace *workspace) {
    if (workspace == NULL) return;
    sn_allocator allocator = workspace->allocator;
    sn_release(&allocator, workspace->owner);
}

// A gain scales the column of its degree of freedom, hence the gradient and both sides of H.
static void apply_gains(sn_workspace *ws, bool rows) {
    const sn_model *m = ws->model;
    const sn_path *path = &m->path;
    for (int i = 0; i < m->nv; i++) {
        double gain = m->gain[m->v_of[i]];
        ws->g[i] *= gain;
        if (!rows) continue;
        double *row = ws->rows + path->row[i];
        for (int j = i; j >= 0; j = path->parent[j])
            row[path->depth[j]] *= gain * m->gain[m->v_of[j]];
    }
}

sn_status sn_workspace_eval(sn_workspace *ws, const double *q, unsigned what, double *f) {
    bool exact = (what & SN_EVAL_HESSIAN) != 0;
    bool rows = exact || (what & SN_EVAL_GAUSS_NEWTON) != 0;
    *f = NAN;
    if (rows && !ws->has_rows) return SN_ERR_ARGUMENT;
    SN_TRY(sn_workspace_pose(ws, q));
    if (!rows && (what & SN_EVAL_GRADIENT) == 0) {
        *f = sn_sweep_value(ws);
        return isfinite(*f) ? SN_OK : SN_ERR_VALUE;
    }
    if (rows && ws->problem->npart == 0 && (what & SN_EVAL_GENERAL) == 0) {
        *f = sn_sweep_fast(ws, exact);
    } else {
        *f = sn_sweep_general(ws, exact, rows);
    }
    *f += sn_joint_terms_add(ws, exact, rows);
    if (ws->model->gained) apply_gains(ws, rows);
    return isfinite(*f) ? SN_OK : SN_ERR_VALUE;
}

sn_status sn_workspace_pose(sn_workspace *ws, const double *q) {
    SN_TRY(sn_model_check_pose(ws->model, q, NULL));
    sn_sweep_pose(ws, q);
    return SN_OK;
}

static bool is_joint(const sn_workspace *ws, int joint) {
    return joint >= 0 && joint < ws->model->njoint;
}

sn_frame sn_workspace_frame(const sn_workspace *ws, int joint) {
    if (!is_joint(ws, joint)) return (sn_frame){m3_identity(), {0, 0, 0}};
    sn_frame frame = ws->frame[ws->model->sweep_of[joint]];
    frame.p = v3_add(frame.p, ws->origin);
    return frame;
}

sn_vec3 sn_workspace_point(const sn_workspace *ws, int joint, const double local[3]) {
    if (!is_joint(ws, joint)) return v3(0, 0, 0);
    const sn_frame *frame = &ws->frame[ws->model->sweep_of[joint]];
    return v3_add(ws->origin, sn_place(frame, v3_from(local)));
}

void sn_workspace_gradient(const sn_workspace *ws, double *g) {
    for (int i = 0; i < ws->model->nv; i++) g[ws->model->v_of[i]] = ws->g[i];
}

void sn_workspace_hessian(const sn_workspace *ws, double *H) {
    if (ws->has_rows) sn_path_to_dense(&ws->model->path, ws->rows, ws->model->v_of, H);
}

const double *sn_workspace_rows(const sn_workspace *ws) { return ws->has_rows ? ws->rows : NULL; }
const double *sn_workspace_sweep_gradient(const sn_workspace *ws) { return ws->g; }
