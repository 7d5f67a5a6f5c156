// SPDX-License-Identifier: MIT
// Loops: bodies that are held together beside the tree. Here they are only checked; poses that close
// them come from solvers.
#include "math/unit.h"
#include "model/model.h"

static const char *const names[SN_LOOP_TYPE_COUNT] = {"point", "pin", "weld", "line", "distance"};

const char *sn_loop_type_name(sn_loop_type type) {
    return (unsigned)type < SN_LOOP_TYPE_COUNT ? names[type] : "unknown";
}

sn_loop_desc sn_loop_default(sn_loop_type type) {
    return (sn_loop_desc){.type = type,
                          .joint = {0, -1},
                          .axis = {{0, 0, 1}, {0, 0, 1}},
                          .rotation = {{1, 0, 0, 0}, {1, 0, 0, 0}},
                          .distance = 1};
}

int sn_model_nloop(const sn_model *model) { return model != NULL ? model->nloop : 0; }

const sn_loop_desc *sn_model_loop(const sn_model *model, int loop) {
    return model != NULL && loop >= 0 && loop < model->nloop ? &model->loop[loop] : NULL;
}

void sn_loops_layout(sn_model *m, const sn_builder *from, sn_layout *layout) {
    m->nloop = (int)from->nloop;
    m->loop = sn_layout_take(layout, from->nloop, sizeof *m->loop);
    m->looped = sn_layout_take(layout, from->nloop, sizeof *m->looped);
}

// The axis and two across it.
static sn_mat3 frame_along(const double unit[3]) {
    sn_vec3 a = v3_from(unit);
    int least = fabs(a.x) <= fabs(a.y) ? 0 : 1;
    if (fabs(a.z) < fabs(v3_at(a, least))) least = 2;
    sn_vec3 u = v3_cross(a, v3_unit(least));
    u = v3_scale(1 / v3_norm(u), u);
    return (sn_mat3){{a, u, v3_cross(a, u)}};
}

static const char *build_loop(const sn_model *m, const sn_loop_desc *d, sn_loop_place *out) {
    if ((unsigned)d->type >= SN_LOOP_TYPE_COUNT) return "unknown type";
    *out = (sn_loop_place){.type = d->type, .distance = d->distance};
    for (int i = 0; i < 2; i++) {
        if (d->joint[i] < (i == 0 ? 0 : -1) || d->joint[i] >= m->njoint)
            return "its joint does not exist";
        out->joint[i] = d->joint[i] < 0 ? -1 : m->sweep_of[d->joint[i]];
        for (int c = 0; c < 3; c++)
            if (!isfinite(d->position[i][c])) return "a position is not finite";
        out->position[i] = v3_from(d->position[i]);
        double unit[4];
        out->frame[i] = m3_identity();
        if (d->type == SN_LOOP_PIN || (d->type == SN_LOOP_LINE && i == 1)) {
            if (!sn_unit(d->axis[i], 3, unit)) return "an axis is zero or not finite";
            out->frame[i] = frame_along(unit);
        }
        if (d->type == SN_LOOP_WELD) {
            if (!sn_unit(d->rotation[i], 4, unit)) return "a rotation is zero or not finite";
            out->frame[i] = sn_mat3_from_quat((sn_quat){unit[0], unit[1], unit[2], unit[3]});
        }
    }
    if (d->joint[0] == d->joint[1]) return "both ends are on one joint";
    if (d->type == SN_LOOP_DISTANCE && !(d->distance > 0 && isfinite(d->distance)))
        return "its distance must be above 0";
    return NULL;
}

sn_status sn_loops_build(sn_model *m, const sn_builder *from, sn_error *error) {
    for (int i = 0; i < m->nloop; i++) {
        m->loop[i] = from->loop[i].desc;
        const char *wrong = build_loop(m, &m->loop[i], &m->looped[i]);
        if (wrong != NULL)
            return sn_fail(error, SN_ERR_MODEL, from->loop[i].line, "loop %d (%s): %s", i,
                           sn_loop_type_name(m->loop[i].type), wrong);
    }
    return SN_OK;
}
