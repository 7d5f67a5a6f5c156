// SPDX-License-Identifier: MIT
// The model that a shape makes.
#include <math.h>
#include <string.h>

#include "math/exp.h"
#include "take/estimate.h"
#include "take/stretch.h"

sn_mat3 sn_estimate_stretch(const sn_estimate *e, const double *x, int joint) {
    int body = e->body[joint];
    if (body < 0) return m3_identity();
    const double *l = x + 3 * (size_t)e->nmarker + 3 * (size_t)body;
    const sn_mat3 *R = &e->axes[joint];
    sn_mat3 scaled = {{v3_scale(sn_exp(l[0]), R->c[0]), v3_scale(sn_exp(l[1]), R->c[1]),
                       v3_scale(sn_exp(l[2]), R->c[2])}};
    sn_mat3 back = m3_transpose(R);
    return m3_mulm(&scaled, &back);
}

sn_status sn_estimate_model(const sn_estimate *e, const double *x, bool limits, sn_model **out,
                            sn_error *error) {
    sn_builder *builder;
    *out = NULL;
    sn_mat3 *stretch = sn_acquire(e->allocator, (size_t)e->njoint * sizeof *stretch);
    if (stretch == NULL) return sn_fail_memory(error);
    if (sn_builder_create(sn_model_name(e->model), e->allocator, &builder, error) != SN_OK) {
        sn_release(e->allocator, stretch);
        return sn_fail_memory(error);
    }
    for (int j = 0; j < e->njoint; j++) stretch[j] = sn_estimate_stretch(e, x, j);
    for (int j = 0; j < e->njoint; j++) {
        sn_joint_desc d = *sn_model_joint(e->model, j);
        for (int k = 0; !limits && k < SN_MAX_JOINT_DOFS; k++) {
            d.lower[k] = -INFINITY;
            d.upper[k] = INFINITY;
        }
        sn_joint_functions room;
        if (d.parent >= 0 && e->body[d.parent] >= 0)
            sn_stretch_joint(&d, &stretch[d.parent], &room);
        (void)sn_builder_joint(builder, &d);
    }
    for (int i = 0; i < e->nmarker; i++) {
        sn_marker_desc d = *sn_model_marker(e->model, i);
        sn_vec3 p = m3_mul(&stretch[d.joint], v3_from(d.position));
        p = v3_add(p, v3_from(x + 3 * i));
        d.position[0] = p.x, d.position[1] = p.y, d.position[2] = p.z;
        (void)sn_builder_marker(builder, &d);
    }
    sn_builder_couple_as(builder, e->model);
    sn_stretch_rest(builder, stretch);
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    sn_release(e->allocator, stretch);
    return status;
}
