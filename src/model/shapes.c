// SPDX-License-Identifier: MIT
// Collision shapes: spheres, capsules and half-spaces on joints or in the world. Here they are only
// checked; which of them must keep apart is decided by collide/pairs.c.
#include <string.h>

#include "math/unit.h"
#include "model/model.h"

static const char *const names[SN_SHAPE_TYPE_COUNT] = {"sphere", "capsule", "plane"};

const char *sn_shape_type_name(sn_shape_type type) {
    return (unsigned)type < SN_SHAPE_TYPE_COUNT ? names[type] : "unknown";
}

sn_shape_desc sn_shape_default(sn_shape_type type) {
    return (sn_shape_desc){
        .name = "", .type = type, .normal = {0, 0, 1}, .radius = 0.1, .kind = 1, .meets = 1};
}

int sn_model_nshape(const sn_model *model) { return model != NULL ? model->nshape : 0; }

const sn_shape_desc *sn_model_shape(const sn_model *model, int shape) {
    return model != NULL && shape >= 0 && shape < model->nshape ? &model->shape[shape] : NULL;
}

int sn_model_nexcluded(const sn_model *model) { return model != NULL ? model->nexcluded : 0; }

bool sn_model_excluded(const sn_model *model, int excluded, int joints[2]) {
    if (model == NULL || joints == NULL || excluded < 0 || excluded >= model->nexcluded)
        return false;
    memcpy(joints, model->excluded[excluded], 2 * sizeof *joints);
    return true;
}

void sn_shapes_layout(sn_model *m, const sn_builder *from, sn_layout *layout) {
    m->nshape = (int)from->nshape;
    m->nexcluded = (int)from->nexcluded;
    m->shape = sn_layout_take(layout, from->nshape, sizeof *m->shape);
    m->shaped = sn_layout_take(layout, from->nshape, sizeof *m->shaped);
    m->excluded = sn_layout_take(layout, from->nexcluded, sizeof *m->excluded);
}

static bool all_finite(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= 1e50)) return false;  // so that squares stay finite
    return true;
}

// The joint that moves a body: what hangs on it by fixed joints is one body with it.
static int mover(const sn_model *m, int k) {
    while (k >= 0 && m->joint[k].nv == 0) k = m->joint[k].parent;
    return k;
}

static const char *build_shape(const sn_model *m, const sn_shape_desc *d, sn_shape_place *out) {
    if ((unsigned)d->type >= SN_SHAPE_TYPE_COUNT) return "unknown type";
    if (d->joint < -1 || d->joint >= m->njoint) return "its joint does not exist";
    *out = (sn_shape_place){.type = d->type, .joint = d->joint < 0 ? -1 : m->sweep_of[d->joint]};
    out->body = mover(m, out->joint);
    if (!all_finite(d->from, 3)) return "its place is not finite";
    sn_vec3 from = v3_from(d->from), to = from;
    if (d->type == SN_SHAPE_CAPSULE) {
        if (!all_finite(d->to, 3)) return "its other end is not finite";
        to = v3_from(d->to);
    }
    out->middle = v3_scale(0.5, v3_add(from, to));
    out->arm = v3_scale(0.5, v3_sub(to, from));
    if (d->type == SN_SHAPE_PLANE) {
        double unit[3];
        if (!sn_unit(d->normal, 3, unit)) return "its normal is zero or not finite";
        out->normal = v3_from(unit);
        out->reach = INFINITY;
        return NULL;
    }
    if (!(d->radius >= 0 && d->radius <= 1e50)) return "its radius must be 0 or above";
    out->radius = d->radius;
    out->reach = v3_norm(out->arm) + d->radius;
    return NULL;
}

sn_status sn_shapes_build(sn_model *m, const sn_builder *from, const char *pool, sn_error *error) {
    for (int i = 0; i < m->nshape; i++) {
        const sn_shape_entry *entry = &from->shape[i];
        m->shape[i] = entry->desc;
        m->shape[i].name = pool + entry->name;
        const char *wrong = build_shape(m, &m->shape[i], &m->shaped[i]);
        if (wrong == NULL && strlen(m->shape[i].name) > SN_MAX_NAME)
            wrong = "the name is longer than 255 bytes";
        if (wrong != NULL)
            return sn_fail(error, SN_ERR_MODEL, entry->line, "shape %d (%s): %s", i,
                           sn_shape_type_name(m->shape[i].type), wrong);
    }
    for (int i = 0; i < m->nexcluded; i++) {
        for (int k = 0; k < 2; k++) {
            int joint = from->excluded[i][k];
            if (joint < -1 || joint >= m->njoint)
                return sn_fail(error, SN_ERR_MODEL, 0, "excluded pair %d: its joint does not exist",
                               i);
            m->excluded[i][k] = joint;
        }
    }
    return SN_OK;
}
