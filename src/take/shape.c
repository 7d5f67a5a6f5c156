// SPDX-License-Identifier: MIT
// The shape that the calibration looks for as a model: marker places and length factors put in.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "take/calibrate.h"

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

// A slide is a length of the body where no coordinate of it is a length itself, that is, drives no turn.
bool sn_shape_scales(const sn_joint_functions *f, int move) {
    if (f->move[move].turns) return false;
    for (int i = 0; i < f->move[move].function.nargument; i++) {
        bool angle = false;
        for (int m = 0; m < f->nmove; m++)
            for (int k = 0; f->move[m].turns && k < f->move[m].function.nargument; k++)
                angle =
                    angle || f->move[m].function.argument[k] == f->move[move].function.argument[i];
        if (!angle) return false;
    }
    return true;
}

void sn_shape_scale(sn_joint_desc *desc, double factor, sn_joint_functions *room) {
    for (int k = 0; k < 3; k++) desc->position[k] *= factor;
    if (desc->functions == NULL) return;
    *room = *desc->functions;
    desc->functions = room;
    for (int m = 0; m < room->nmove; m++)
        for (int k = 0; k < 3 && sn_shape_scales(room, m); k++) room->move[m].axis[k] *= factor;
}

// Points move with their bodies; what is between two bodies grows as both do.
void sn_shape_scale_loop(sn_loop_desc *loop, const double factor[2]) {
    double product = 1;
    int bodies = 0;
    for (int i = 0; i < 2; i++) {
        if (loop->joint[i] < 0) continue;  // the world stays
        for (int k = 0; k < 3; k++) loop->position[i][k] *= factor[i];
        product *= factor[i];
        bodies++;
    }
    loop->distance *= bodies == 2 ? sqrt(product) : product;
}

void sn_shape_scale_solid(sn_shape_desc *solid, double factor) {
    for (int k = 0; k < 3; k++) {
        solid->from[k] *= factor;
        solid->to[k] *= factor;
    }
    solid->radius *= factor;
}

sn_status sn_shape_model(const sn_shape *shape, const double *x, const sn_allocator *allocator,
                         sn_model **out, sn_error *error) {
    sn_builder *builder;
    *out = NULL;
    if (sn_builder_create(sn_model_name(shape->model), allocator, &builder, error) != SN_OK)
        return sn_fail_memory(error);
    for (int j = 0; j < shape->njoint; j++) {
        sn_joint_desc d = *sn_model_joint(shape->model, j);
        for (int k = 0; !shape->limits && k < SN_MAX_JOINT_DOFS; k++) {
            d.lower[k] = -INFINITY;
            d.upper[k] = INFINITY;
        }
        int group = d.parent >= 0 ? shape->group[d.parent] : -1;
        sn_joint_functions room;
        if (group >= 0) sn_shape_scale(&d, x[3 * shape->nmarker + group], &room);
        (void)sn_builder_joint(builder, &d);
    }
    for (int i = 0; i < shape->nmarker; i++) {
        sn_marker_desc d = *sn_model_marker(shape->model, i);
        memcpy(d.position, x + 3 * i, sizeof d.position);
        (void)sn_builder_marker(builder, &d);
    }
    sn_builder_couple_as(builder, shape->model);
    for (size_t i = 0; i < builder->nloop; i++) {
        sn_loop_desc *loop = &builder->loop[i].desc;
        double factor[2] = {1, 1};
        for (int k = 0; k < 2; k++) {
            int group = loop->joint[k] >= 0 ? shape->group[loop->joint[k]] : -1;
            if (group >= 0) factor[k] = x[3 * shape->nmarker + group];
        }
        sn_shape_scale_loop(loop, factor);
    }
    for (size_t i = 0; i < builder->nshape; i++) {
        sn_shape_desc *solid = &builder->shape[i].desc;
        int group = solid->joint >= 0 ? shape->group[solid->joint] : -1;
        if (group >= 0) sn_shape_scale_solid(solid, x[3 * shape->nmarker + group]);
    }
    for (size_t i = 0; i < builder->nframe; i++) {
        sn_frame_desc *frame = &builder->frame[i].desc;
        int group = shape->group[frame->joint];
        for (int k = 0; group >= 0 && k < 3; k++)
            frame->position[k] *= x[3 * shape->nmarker + group];
    }
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}
