// SPDX-License-Identifier: MIT
// The joints of a model as Acclaim's bones.
//
// A bone starts where its parent ends, so that a joint has one place for children: where its first
// child is. The others hang on connectors, bones that lead from there to them and do not move. The
// root has no length: what is not right there hangs on connectors too.
#include <math.h>
#include <stdio.h>

#include "files/export.h"

static const double degree = 3.14159265358979323846 / 180;

// Right angles, and places that are the same, to this.
static const double equal = 1e-12;

typedef struct building {
    sn_export *self;
    sn_figure *figure;
    sn_vec3 *tip;   // by joint of the model: where its bone ends, from its start
    bool *has_tip;  // known already
    const sn_allocator *allocator;
    sn_error *error;
} building;

static sn_status add_bone(building *b, const char *name, int parent, int *out) {
    sn_error why = {0};
    sn_entry *e = sn_figure_add(b->figure, name, parent, b->allocator, &why);
    if (e == NULL) return sn_fail(b->error, why.status, 0, "%s", why.text);
    e->direction[0] = 1;  // of a length of 0, but some programs normalise it all the same
    *out = (int)b->figure->nentry - 1;
    return SN_OK;
}

static void set_length(sn_entry *e, sn_vec3 d) {
    double length = v3_norm(d);
    if (!(length > 0)) return;
    e->length = length;
    e->direction[0] = d.x / length, e->direction[1] = d.y / length, e->direction[2] = d.z / length;
}

// The `axis` line that gives C, in the order XYZ.
static void set_axis(sn_entry *e, const sn_mat3 *C) {
    const double zero[3] = {0, 0, 0};
    const int order[3] = {2, 1, 0};
    double angle[3];
    sn_euler_near(order, 3, C, zero, angle);
    for (int i = 0; i < 3; i++) e->angle[order[i]] = angle[i] / degree;
}

// Rotations about these axes, in the order of the row.
static void set_dofs(sn_entry *e, int n, const int *axis) {
    e->nchannel = n;
    for (int k = 0; k < n; k++) e->channel[k] = 3 + axis[k];
}

// Limits in the order of the row, when each has two. `coordinate` leads to them from there.
static void set_limits(sn_entry *e, const sn_joint_desc *d, const int coordinate[3]) {
    for (int k = 0; k < e->nchannel; k++)
        if (!isfinite(d->lower[coordinate[k]]) || !isfinite(d->upper[coordinate[k]])) return;
    e->nlimit = 2 * e->nchannel;
    for (int k = 0; k < e->nchannel; k++) {
        e->limit[2 * k] = d->lower[coordinate[k]] / degree;
        e->limit[2 * k + 1] = d->upper[coordinate[k]] / degree;
    }
}

// Right-handed, with these unit vectors as x and y.
static sn_mat3 frame_of(sn_vec3 x, sn_vec3 y) { return (sn_mat3){{x, y, v3_cross(x, y)}}; }

static void set_hinge(sn_entry *e, const sn_joint_desc *d, sn_vec3 axis) {
    const int first[3] = {0, 0, 0};
    int along = 0;
    for (int c = 1; c < 3; c++)
        if (v3_at(axis, c) > v3_at(axis, along)) along = c;
    if (v3_norm(v3_sub(axis, v3_unit(along))) > equal) {
        // x along the axis, y anywhere across it
        int least = 0;
        for (int c = 1; c < 3; c++)
            if (fabs(v3_at(axis, c)) < fabs(v3_at(axis, least))) least = c;
        sn_vec3 y = v3_cross(axis, v3_unit(least));
        sn_mat3 C = frame_of(axis, v3_scale(1 / v3_norm(y), y));
        set_axis(e, &C);
        along = 0;
    }
    set_dofs(e, 1, &along);
    set_limits(e, d, first);
}

// The outer axis is y, the inner one x.
static void set_universal(sn_entry *e, const sn_joint_desc *d, sn_vec3 outer, sn_vec3 inner) {
    const int axes[3] = {0, 1, 2}, coordinate[3] = {1, 0, 0};
    sn_mat3 C = frame_of(inner, outer);
    set_axis(e, &C);
    set_dofs(e, 2, axes);
    set_limits(e, d, coordinate);
}

static void set_euler(sn_entry *e, const sn_joint_desc *d, const sn_mat3 *W) {
    const int axes[3] = {0, 1, 2}, coordinate[3] = {2, 1, 0};
    set_axis(e, W);
    set_dofs(e, 3, axes);
    set_limits(e, d, coordinate);
}

// The order of an `axis` line that ends with XYZ: many programs look at no other.
static bool is_usual(const sn_joint *joint) {
    return joint->order[0] == 2 && joint->order[1] == 1 && joint->order[2] == 0;
}

// What the bone turns by; true when its coordinates are the joint's.
static bool set_rotation(sn_entry *e, const sn_joint_desc *d, const sn_joint *joint,
                         const sn_mat3 *W) {
    const int axes[3] = {0, 1, 2};
    sn_vec3 a = m3_mul(W, joint->axis), a2 = m3_mul(W, joint->axis2);
    if (d->type == SN_JOINT_FIXED) return true;
    if (d->type == SN_JOINT_HINGE) {
        set_hinge(e, d, a);
        return true;
    }
    if (d->type == SN_JOINT_UNIVERSAL && fabs(v3_dot(a, a2)) < equal) {
        set_universal(e, d, a, a2);
        return true;
    }
    if (d->type == SN_JOINT_EULER && is_usual(joint)) {
        set_euler(e, d, W);
        return true;
    }
    set_dofs(e, 3, axes);
    return false;
}

// A bone that leads from a joint's tip by d, unless that is nowhere.
static sn_status add_connector(building *b, int joint, sn_vec3 d, const char *between,
                               const char *to, int *bone) {
    *bone = b->self->target[joint];
    if (v3_norm(d) <= equal * b->self->size) return SN_OK;
    const char *from = b->figure->entry[*bone].name;
    int room = (SN_MAX_NAME - 8) / 2;
    char name[SN_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "%.*s%s%.*s", room, from, between, room, to);
    SN_TRY(add_bone(b, name, *bone, bone));
    set_length(&b->figure->entry[*bone], d);
    return SN_OK;
}

static sn_status add_joint(building *b, const sn_joint *joint) {
    sn_export *self = b->self;
    const sn_joint_desc *d = sn_model_joint(self->model, joint->id);
    char name[SN_MAX_NAME + 1];
    int parent = sn_model_parent(self->model, joint->id), bone;
    sn_export_name(d->name, name);
    if (sn_export_slides(d))
        return sn_fail(b->error, SN_ERR_MODEL, 0,
                       "joint \"%.80s\" slides: ASF has no place for that below the root", d->name);
    sn_vec3 o = sn_export_offset(self, joint->id);
    if (!b->has_tip[parent]) {
        b->has_tip[parent] = true;
        b->tip[parent] = o;
        set_length(&b->figure->entry[self->target[parent]], o);
    }
    SN_TRY(add_connector(b, parent, v3_sub(o, b->tip[parent]), "_to_", name, &bone));
    SN_TRY(add_bone(b, name, bone, &bone));
    self->target[joint->id] = bone;
    self->copied[joint->id] =
        set_rotation(&b->figure->entry[bone], d, joint, &self->zero[joint->id].R);
    return SN_OK;
}

static sn_status add_ends(building *b, int joint) {
    sn_vec3 end;
    int bone;
    for (int k = 0; sn_export_end(b->self, joint, k, &end); k++) {
        if (!b->has_tip[joint]) {
            b->has_tip[joint] = true;
            b->tip[joint] = end;
            set_length(&b->figure->entry[b->self->target[joint]], end);
            continue;
        }
        SN_TRY(add_connector(b, joint, v3_sub(end, b->tip[joint]), "_", "end", &bone));
    }
    return SN_OK;
}

static sn_status add_all(building *b) {
    const sn_model *model = b->self->model;
    int root = sn_model_root(model), bone;
    SN_TRY(add_bone(b, "root", -1, &bone));
    sn_entry *e = &b->figure->entry[0];
    e->nchannel = SN_ROW_VALUES;
    for (int k = 0; k < SN_ROW_VALUES; k++) e->channel[k] = k;
    b->self->target[root] = 0;
    b->has_tip[root] = true;  // at 0 0 0
    // parents first
    for (int i = 1; i < sn_model_njoint(model); i++) SN_TRY(add_joint(b, &model->joint[i]));
    for (int i = 0; i < sn_model_njoint(model); i++) SN_TRY(add_ends(b, i));
    return SN_OK;
}

sn_status sn_export_asf(sn_export *self, sn_figure *figure, const sn_allocator *allocator,
                        sn_error *error) {
    building b = {.self = self, .figure = figure, .allocator = allocator, .error = error};
    size_t n = (size_t)sn_model_njoint(self->model);
    void *owner = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        b.tip = sn_layout_take(&layout, n, sizeof *b.tip);
        b.has_tip = sn_layout_take(&layout, n, sizeof *b.has_tip);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, allocator, &owner);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    sn_status status = add_all(&b);
    sn_release(allocator, owner);
    return status;
}
