// SPDX-License-Identifier: MIT
// The shape that the calibration looks for as a model: marker places and length factors put in.
#include <math.h>
#include <string.h>

#include "fit/calibrate.h"

int sn_shape_groups(const sn_model *model, int *group) {
    int n = 0, njoint = sn_model_njoint(model);
    for (int j = 0; j < njoint; j++) group[j] = -1;
    for (int j = 0; j < njoint; j++) {
        const sn_joint_desc *d = sn_model_joint(model, j);
        int b = d->parent;
        double length = fabs(d->position[0]) + fabs(d->position[1]) + fabs(d->position[2]);
        if (b < 0 || length < 1e-9 || group[b] >= 0) continue;
        int mirror = sn_model_mirror_joint(model, b);
        group[b] = mirror >= 0 && group[mirror] >= 0 ? group[mirror] : n++;
    }
    return n;
}

void sn_shape_factors(const sn_shape *shape, const double *x, double *factor) {
    for (int j = 0; j < shape->njoint; j++)
        factor[j] = shape->group[j] >= 0 ? x[3 * shape->nmarker + shape->group[j]] : 1;
}

sn_status sn_shape_model(const sn_shape *shape, const double *x, const sn_allocator *allocator,
                         sn_model **out, sn_error *error) {
    sn_builder *builder;
    *out = NULL;
    if (sn_builder_create(sn_model_name(shape->model), allocator, &builder) != SN_OK)
        return sn_fail_memory(error);
    for (int j = 0; j < shape->njoint; j++) {
        sn_joint_desc d = *sn_model_joint(shape->model, j);
        for (int k = 0; !shape->limits && k < SN_MAX_JOINT_DOFS; k++) {
            d.lower[k] = -INFINITY;
            d.upper[k] = INFINITY;
        }
        int group = d.parent >= 0 ? shape->group[d.parent] : -1;
        for (int k = 0; group >= 0 && k < 3; k++) d.position[k] *= x[3 * shape->nmarker + group];
        (void)sn_builder_joint(builder, &d);
    }
    for (int i = 0; i < shape->nmarker; i++) {
        sn_marker_desc d = *sn_model_marker(shape->model, i);
        memcpy(d.position, x + 3 * i, sizeof d.position);
        (void)sn_builder_marker(builder, &d);
    }
    sn_builder_couple_as(builder, shape->model);
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}
