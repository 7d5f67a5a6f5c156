// SPDX-License-Identifier: MIT
// What of all that must not happen does, at the placed pose.
#include "sweeps/workspace.h"

double sn_workspace_distance(const sn_workspace *ws, int shape, int shape2) {
    if (ws == NULL) return NAN;
    const sn_model *m = ws->model;
    if (shape < 0 || shape >= m->nshape || shape2 < 0 || shape2 >= m->nshape) return NAN;
    const sn_shape_place *s[2] = {&m->shaped[shape], &m->shaped[shape2]};
    sn_solid solid[2];
    for (int i = 0; i < 2; i++) {
        solid[i] = sn_shape_solid(s[i], s[i]->joint < 0 ? NULL : &ws->frame[s[i]->joint]);
        if (s[i]->joint < 0) solid[i].middle = v3_sub(solid[i].middle, ws->origin);
    }
    return sn_shapes_distance(s[0], &solid[0], s[1], &solid[1]);
}

int sn_workspace_violations(const sn_workspace *ws, sn_violation *out, int room) {
    if (ws == NULL || !sn_has_guards(ws) || (out == NULL && room > 0)) return 0;
    const sn_guards *g = ws->problem->guards;
    int count = 0;
    sn_guards_place(ws);
    for (int i = 0; i < g->nguard; i++) {
        const sn_guard *guard = &g->guard[i];
        sn_violation v = {guard->task, {-1, -1}, sn_guard_violation(ws, i)};
        if (!(v.by > 0)) continue;
        if (ws->problem->task[guard->task].type == SN_TASK_AVOID)
            for (int k = 0; k < 2; k++) v.shape[k] = guard->solid[k];
        // the two ends of a capsule on a plane are one pair
        sn_violation *last = count > 0 && count <= room ? &out[count - 1] : NULL;
        if (last != NULL && v.shape[0] >= 0 && last->task == v.task &&
            last->shape[0] == v.shape[0] && last->shape[1] == v.shape[1]) {
            last->by = fmax(last->by, v.by);
            continue;
        }
        if (count < room) out[count] = v;
        count++;
    }
    return count;
}
