// SPDX-License-Identifier: MIT
// Collecting joints and markers, with their names, until the model is built.
#include <string.h>

#include "math/vec3.h"
#include "model/model.h"

// Copy a name; where it starts, or SIZE_MAX.
static size_t keep_name(sn_builder *builder, const char *name) {
    if (name == NULL) name = "";
    size_t length = strlen(name), at = builder->names_used;
    // an over-long name is cut one byte past the limit, so that the check still sees it
    if (length > SN_MAX_NAME + 1) length = SN_MAX_NAME + 1;
    void *names = builder->names;
    builder->status =
        sn_grow(&builder->allocator, &names, &builder->names_capacity, at + length + 1, 1);
    builder->names = names;
    if (builder->status != SN_OK) return SIZE_MAX;
    memcpy(builder->names + at, name, length);
    builder->names[at + length] = '\0';
    builder->names_used = at + length + 1;
    return at;
}

sn_status sn_builder_create(const char *model_name, const sn_allocator *allocator, sn_builder **out,
                            sn_error *error) {
    SN_NEED(out, error);
    *out = NULL;
    sn_builder *builder = sn_acquire(allocator, sizeof *builder);
    if (builder == NULL) return sn_fail_memory(error);
    *builder = (sn_builder){.allocator = sn_allocator_of(allocator)};
    if (keep_name(builder, model_name) == SIZE_MAX) {
        sn_status status = builder->status;
        sn_builder_destroy(builder);
        return sn_fail(error, status, 0, "%s", sn_status_text(status));
    }
    *out = builder;
    return SN_OK;
}

void sn_builder_destroy(sn_builder *builder) {
    if (builder == NULL) return;
    sn_allocator allocator = builder->allocator;
    for (size_t i = 0; i < builder->njoint; i++)
        sn_release(&allocator, (void *)(uintptr_t)builder->joint[i].desc.functions);
    sn_release(&allocator, builder->names);
    sn_release(&allocator, builder->joint);
    sn_release(&allocator, builder->marker);
    sn_release(&allocator, builder->coupling);
    sn_release(&allocator, builder->numbers);
    sn_release(&allocator, builder->loop);
    sn_release(&allocator, builder->shape);
    sn_release(&allocator, builder->excluded);
    sn_release(&allocator, builder->frame);
    sn_release(&allocator, builder);
}

int sn_builder_joint_at(sn_builder *builder, const sn_joint_desc *joint, int line) {
    if (builder->status != SN_OK) return -1;
    if (joint == NULL || builder->njoint >= SN_MAX_JOINTS) {
        builder->status = joint == NULL ? SN_ERR_ARGUMENT : SN_ERR_SIZE;
        return -1;
    }
    size_t name = keep_name(builder, joint->name);
    if (name == SIZE_MAX) return -1;
    void *items = builder->joint;
    builder->status = sn_grow(&builder->allocator, &items, &builder->joint_capacity,
                              builder->njoint + 1, sizeof *builder->joint);
    builder->joint = items;
    if (builder->status != SN_OK) return -1;
    sn_joint_entry entry = {.desc = *joint, .name = name, .line = line, .wrong_move = -1};
    entry.desc.functions = NULL;
    if (joint->type == SN_JOINT_FUNCTION) {
        entry.wrong = sn_functions_check(joint->functions, &entry.wrong_move);
        if (entry.wrong == NULL) {
            entry.desc.functions = sn_functions_copy(joint->functions, &builder->allocator);
            if (entry.desc.functions == NULL) {
                builder->status = SN_ERR_MEMORY;
                return -1;
            }
        }
    }
    builder->joint[builder->njoint] = entry;
    return (int)builder->njoint++;
}

int sn_builder_marker_at(sn_builder *builder, const sn_marker_desc *marker, int line) {
    if (builder->status != SN_OK) return -1;
    if (marker == NULL || builder->nmarker >= SN_MAX_MARKERS) {
        builder->status = marker == NULL ? SN_ERR_ARGUMENT : SN_ERR_SIZE;
        return -1;
    }
    size_t name = keep_name(builder, marker->name);
    if (name == SIZE_MAX) return -1;
    void *items = builder->marker;
    builder->status = sn_grow(&builder->allocator, &items, &builder->marker_capacity,
                              builder->nmarker + 1, sizeof *builder->marker);
    builder->marker = items;
    if (builder->status != SN_OK) return -1;
    builder->marker[builder->nmarker] = (sn_marker_entry){*marker, name, line};
    return (int)builder->nmarker++;
}

void sn_builder_add_mass(sn_builder *builder, int joint, double mass, const double centre[3]) {
    if (joint < 0 || (size_t)joint >= builder->njoint) return;  // it has failed already
    sn_joint_desc *d = &builder->joint[joint].desc;
    double share = mass / (d->mass + mass);
    d->mass += mass;
    for (int k = 0; k < 3; k++) d->centre[k] += share * (centre[k] - d->centre[k]);
}

int sn_builder_couple_at(sn_builder *builder, const sn_coupling_desc *coupling, int line) {
    if (builder->status != SN_OK) return -1;
    const sn_function *f = coupling != NULL ? &coupling->function : NULL;
    bool bad = f == NULL || f->nx < 0 || f->ny < 0 || (f->nx > 0 && f->x == NULL) ||
               (f->ny > 0 && f->y == NULL);
    if (bad || builder->ncoupling >= SN_MAX_COUPLINGS || f->nx > SN_MAX_FUNCTION_NUMBERS ||
        f->ny > SN_MAX_FUNCTION_NUMBERS) {
        builder->status = bad ? SN_ERR_ARGUMENT : SN_ERR_SIZE;
        return -1;
    }
    void *items = builder->coupling, *numbers = builder->numbers;
    size_t nx = (size_t)f->nx, ny = (size_t)f->ny;
    builder->status = sn_grow(&builder->allocator, &items, &builder->coupling_capacity,
                              builder->ncoupling + 1, sizeof *builder->coupling);
    builder->coupling = items;
    if (builder->status == SN_OK)
        builder->status = sn_grow(&builder->allocator, &numbers, &builder->number_capacity,
                                  builder->nnumber + nx + ny, sizeof *builder->numbers);
    builder->numbers = numbers;
    if (builder->status != SN_OK) return -1;
    // without a number there may be no array yet
    if (nx > 0) memcpy(builder->numbers + builder->nnumber, f->x, nx * sizeof *f->x);
    if (ny > 0) memcpy(builder->numbers + builder->nnumber + nx, f->y, ny * sizeof *f->y);
    builder->coupling[builder->ncoupling] = (sn_coupling_entry){*coupling, builder->nnumber, line};
    builder->nnumber += nx + ny;
    return (int)builder->ncoupling++;
}

int sn_builder_couple(sn_builder *builder, const sn_coupling_desc *coupling) {
    if (builder == NULL) return -1;
    return sn_builder_couple_at(builder, coupling, 0);
}

void sn_builder_couple_as(sn_builder *builder, const sn_model *model) {
    if (builder == NULL || model == NULL) return;
    for (int i = 0; i < model->ncoupling; i++)
        (void)sn_builder_couple_at(builder, &model->coupling[i], 0);
    for (int i = 0; i < model->nloop; i++) (void)sn_builder_loop_at(builder, &model->loop[i], 0);
    for (int i = 0; i < sn_model_nshape(model); i++)
        (void)sn_builder_shape(builder, sn_model_shape(model, i));
    for (int i = 0; i < sn_model_nexcluded(model); i++) {
        int joints[2];
        (void)sn_model_excluded(model, i, joints);
        (void)sn_builder_exclude(builder, joints[0], joints[1]);
    }
    for (int i = 0; i < model->nframe; i++) (void)sn_builder_frame_at(builder, &model->frame[i], 0);
}

sn_status sn_builder_create_from(const sn_model *model, const sn_allocator *allocator,
                                 sn_builder **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(out, error);
    SN_TRY(sn_builder_create(model->name, allocator, out, error));
    for (int i = 0; i < model->njoint; i++) (void)sn_builder_joint_at(*out, &model->desc[i], 0);
    for (int i = 0; i < model->nmarker; i++) (void)sn_builder_marker_at(*out, &model->marker[i], 0);
    sn_builder_couple_as(*out, model);
    sn_status status = (*out)->status;
    if (status == SN_OK) return SN_OK;
    sn_builder_destroy(*out);
    *out = NULL;
    return sn_fail(error, status, 0, "%s", sn_status_text(status));
}

static void turn_vector(const sn_mat3 *R, double x[3]) {
    sn_vec3 y = m3_mul(R, v3_from(x));
    x[0] = y.x, x[1] = y.y, x[2] = y.z;
}

static void turn_quaternion(sn_quat turn, double r[4]) {
    sn_quat q = sn_quat_mul(turn, (sn_quat){r[0], r[1], r[2], r[3]});
    r[0] = q.w, r[1] = q.x, r[2] = q.y, r[3] = q.z;
}

void sn_builder_turn_world(sn_builder *builder, const double rotation[4]) {
    const sn_quat turn = {rotation[0], rotation[1], rotation[2], rotation[3]};
    const sn_mat3 R = sn_mat3_from_quat(turn);
    for (size_t i = 0; i < builder->njoint; i++) {
        sn_joint_desc *d = &builder->joint[i].desc;
        if (d->parent >= 0) continue;
        turn_vector(&R, d->position);
        turn_quaternion(turn, d->rotation);
    }
    for (size_t i = 0; i < builder->nshape; i++) {
        sn_shape_desc *d = &builder->shape[i].desc;
        if (d->joint >= 0) continue;
        turn_vector(&R, d->from);
        turn_vector(&R, d->to);
        turn_vector(&R, d->normal);
    }
    for (size_t i = 0; i < builder->nloop; i++) {
        sn_loop_desc *d = &builder->loop[i].desc;
        if (d->joint[1] >= 0) continue;
        turn_vector(&R, d->position[1]);
        turn_vector(&R, d->axis[1]);
        turn_quaternion(turn, d->rotation[1]);
    }
}

int sn_builder_shape_at(sn_builder *builder, const sn_shape_desc *shape, int line) {
    if (builder->status != SN_OK) return -1;
    if (shape == NULL || builder->nshape >= SN_MAX_SHAPES) {
        builder->status = shape == NULL ? SN_ERR_ARGUMENT : SN_ERR_SIZE;
        return -1;
    }
    size_t name = keep_name(builder, shape->name);
    if (name == SIZE_MAX) return -1;
    void *items = builder->shape;
    builder->status = sn_grow(&builder->allocator, &items, &builder->shape_capacity,
                              builder->nshape + 1, sizeof *builder->shape);
    builder->shape = items;
    if (builder->status != SN_OK) return -1;
    builder->shape[builder->nshape] = (sn_shape_entry){*shape, name, line};
    return (int)builder->nshape++;
}

int sn_builder_shape(sn_builder *builder, const sn_shape_desc *shape) {
    if (builder == NULL) return -1;
    return sn_builder_shape_at(builder, shape, 0);
}

int sn_builder_frame_at(sn_builder *builder, const sn_frame_desc *frame, int line) {
    if (builder->status != SN_OK) return -1;
    if (frame == NULL || builder->nframe >= SN_MAX_FRAMES) {
        builder->status = frame == NULL ? SN_ERR_ARGUMENT : SN_ERR_SIZE;
        return -1;
    }
    size_t name = keep_name(builder, frame->name);
    if (name == SIZE_MAX) return -1;
    void *items = builder->frame;
    builder->status = sn_grow(&builder->allocator, &items, &builder->frame_capacity,
                              builder->nframe + 1, sizeof *builder->frame);
    builder->frame = items;
    if (builder->status != SN_OK) return -1;
    builder->frame[builder->nframe] = (sn_frame_entry){*frame, name, line};
    return (int)builder->nframe++;
}

int sn_builder_frame(sn_builder *builder, const sn_frame_desc *frame) {
    if (builder == NULL) return -1;
    return sn_builder_frame_at(builder, frame, 0);
}

int sn_builder_exclude(sn_builder *builder, int joint, int joint2) {
    if (builder == NULL || builder->status != SN_OK) return -1;
    if (builder->nexcluded >= SN_MAX_EXCLUDED) {
        builder->status = SN_ERR_SIZE;
        return -1;
    }
    void *items = builder->excluded;
    builder->status = sn_grow(&builder->allocator, &items, &builder->excluded_capacity,
                              builder->nexcluded + 1, sizeof *builder->excluded);
    builder->excluded = items;
    if (builder->status != SN_OK) return -1;
    builder->excluded[builder->nexcluded][0] = joint;
    builder->excluded[builder->nexcluded][1] = joint2;
    return (int)builder->nexcluded++;
}

int sn_builder_loop_at(sn_builder *builder, const sn_loop_desc *loop, int line) {
    if (builder->status != SN_OK) return -1;
    if (loop == NULL || builder->nloop >= SN_MAX_LOOPS) {
        builder->status = loop == NULL ? SN_ERR_ARGUMENT : SN_ERR_SIZE;
        return -1;
    }
    void *items = builder->loop;
    builder->status = sn_grow(&builder->allocator, &items, &builder->loop_capacity,
                              builder->nloop + 1, sizeof *builder->loop);
    builder->loop = items;
    if (builder->status != SN_OK) return -1;
    builder->loop[builder->nloop] = (sn_loop_entry){*loop, line};
    return (int)builder->nloop++;
}

int sn_builder_loop(sn_builder *builder, const sn_loop_desc *loop) {
    if (builder == NULL) return -1;
    return sn_builder_loop_at(builder, loop, 0);
}

int sn_builder_joint(sn_builder *builder, const sn_joint_desc *joint) {
    if (builder == NULL) return -1;
    return sn_builder_joint_at(builder, joint, 0);
}

int sn_builder_marker(sn_builder *builder, const sn_marker_desc *marker) {
    if (builder == NULL) return -1;
    return sn_builder_marker_at(builder, marker, 0);
}
