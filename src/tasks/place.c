// SPDX-License-Identifier: MIT
// Where a name of a tasks file is in the model, and what a task there asks of the joint that carries it.
// With F the place in its joint's frame, R F of the joint's R is what the task speaks of.
#include "tasks/place.h"

#include <string.h>

#include "model/model.h"

sn_place sn_place_none(void) { return (sn_place){.joint = -1, .at = {m3_identity(), {0, 0, 0}}}; }

static bool of_joint(const sn_model *m, const char *name, sn_place *out) {
    out->joint = sn_model_find_joint(m, name);
    return out->joint >= 0;
}

static bool of_marker(const sn_model *m, const char *name, sn_place *out) {
    const sn_marker_desc *d = sn_model_marker(m, sn_model_find_marker(m, name));
    if (d == NULL) return false;
    out->joint = d->joint;
    out->at.p = v3_from(d->position);
    return true;
}

static bool of_frame(const sn_model *m, const char *name, sn_place *out) {
    const sn_frame_desc *d = sn_model_frame(m, sn_model_find_frame(m, name));
    if (d == NULL) return false;
    const double *r = d->rotation;
    out->joint = d->joint;
    out->at = sn_frame_place(d);
    out->named = true;
    out->turned = r[1] != 0 || r[2] != 0 || r[3] != 0;
    if (!out->turned) out->at.R = m3_identity();
    return true;
}

sn_place sn_place_find(const sn_model *model, const char *name, bool link) {
    sn_place p = sn_place_none();
    if (link) {
        (void)(of_frame(model, name, &p) || of_marker(model, name, &p) ||
               of_joint(model, name, &p));
    } else {
        (void)(of_joint(model, name, &p) || of_frame(model, name, &p) ||
               of_marker(model, name, &p));
    }
    return p;
}

static void put(double to[3], sn_vec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static void turn_vector(const sn_place *p, double x[3]) {
    if (p->turned) put(x, m3_mul(&p->at.R, v3_from(x)));
}

static void move_point(const sn_place *p, double x[3]) {
    turn_vector(p, x);
    put(x, v3_add(v3_from(x), p->at.p));
}

// F2 G F1^-1
static void turn_goal(const sn_place *first, const sn_place *other, double rotation[4]) {
    if (!first->turned && !other->turned) return;
    sn_quat q = {rotation[0], rotation[1], rotation[2], rotation[3]};
    q = sn_quat_mul(sn_quat_from_mat3(other->at.R), q);
    q = sn_quat_mul(q, sn_quat_conj(sn_quat_from_mat3(first->at.R)));
    const double turned[4] = {q.w, q.x, q.y, q.z};
    memcpy(rotation, turned, sizeof turned);
}

// F2 W F2^T, row-major
static void turn_weight(const sn_place *p, double W[9]) {
    if (!p->turned) return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (W[3 * j + i] != W[3 * i + j]) return;  // refused as it is
    for (int pass = 0; pass < 2; pass++) {
        double half[9];  // F2 W, transposed; twice
        for (int i = 0; i < 3; i++) {
            sn_vec3 column = m3_mul(&p->at.R, (sn_vec3){W[i], W[3 + i], W[6 + i]});
            put(half + 3 * i, column);
        }
        memcpy(W, half, sizeof half);
    }
    for (int i = 0; i < 3; i++)  // to the last bit
        for (int j = 0; j < i; j++) W[3 * j + i] = W[3 * i + j];
}

static const char *apply_relative(sn_task *t, const sn_place *place, const sn_place *other) {
    bool turns = t->type != SN_TASK_RELATIVE;
    if (!t->in_joint2) {
        bool turned = place->turned || other->turned;
        return turns && turned ? "between frames that are turned in their joints it needs "
                                 "\"goal_in\": \"joint2\""
                               : NULL;
    }
    if (t->type != SN_TASK_RELATIVE_ORIENTATION) turn_vector(other, t->goal);
    if (turns) turn_goal(place, other, t->rotation);
    if (t->has_matrix) turn_weight(other, t->matrix);
    if (t->has_rotation_matrix) turn_weight(other, t->rotation_matrix);
    return NULL;
}

const char *sn_place_apply(sn_task *t, const sn_place *place, const sn_place *other) {
    const sn_place none = sn_place_none();
    if (t->type == SN_TASK_DIRECTION) {
        turn_vector(place, t->local);  // a direction has no place
    } else {
        move_point(place, t->local);
    }
    move_point(other, t->local2);
    switch (t->type) {
    case SN_TASK_ORIENTATION:
    case SN_TASK_POSE:
        turn_goal(place, &none, t->rotation);
        return NULL;
    case SN_TASK_FRAME2:
        return place->turned ? "its axes are a joint's, and this frame is turned in its joint: use "
                               "a pose"
                             : NULL;
    case SN_TASK_LOOK_AT:
        turn_vector(place, t->axis);
        return NULL;
    case SN_TASK_LINE:
        turn_vector(other, t->axis);
        move_point(other, t->goal);
        return NULL;
    case SN_TASK_PLANE:
    case SN_TASK_HALF_SPACE:
        turn_vector(other, t->normal);
        move_point(other, t->goal);
        return NULL;
    case SN_TASK_RELATIVE:
    case SN_TASK_RELATIVE_ORIENTATION:
    case SN_TASK_RELATIVE_POSE:
        return apply_relative(t, place, other);
    case SN_TASK_LIMIT:
        return place->named ? "a limit is of a joint, and this is a frame on one" : NULL;
    default:
        return NULL;
    }
}
