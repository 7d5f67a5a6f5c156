// SPDX-License-Identifier: MIT
// From the bones of an ASF file to a model. The derivation is in skeleton.h.
#include "formats/skeleton.h"

#include <string.h>

static const double inch = 0.0254;

double sn_angle_radians(sn_angle_unit unit) {
    return unit == SN_ANGLE_DEGREES ? 3.14159265358979323846 / 180 : 1;
}

// Rotations about x, y, z by three angles, the first of `order` innermost.
static sn_quat turn_axes(const sn_axes *order, const double angle[3]) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 2; i >= 0; i--) {
        int axis = order->axis[i];
        double s, c;
        sn_sincos(angle[axis] / 2, &s, &c);
        q = sn_quat_mul(q, (sn_quat){c, axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0});
    }
    return q;
}

// C of a bone; the root's frame is its own.
static sn_quat axis_rotation(const sn_asf *asf, size_t i) {
    if (i == 0) return (sn_quat){1, 0, 0, 0};
    double scale = sn_angle_radians(asf->angle_unit), angle[3];
    for (int k = 0; k < 3; k++) angle[k] = scale * asf->bone[i].angle[k];
    return turn_axes(&asf->bone[i].order, angle);
}

// The end of a bone in its joint's frame.
static sn_vec3 bone_tip(const sn_asf *asf, size_t i, double metres) {
    const sn_asf_bone *b = &asf->bone[i];
    sn_vec3 d = v3_from(b->direction);
    double norm = v3_norm(d);
    if (i == 0 || norm == 0) return v3(0, 0, 0);
    sn_mat3 C = sn_mat3_from_quat(axis_rotation(asf, i));
    return m3_tmul(&C, v3_scale(b->length * metres / norm, d));
}

// The bone's degrees of freedom from the outermost to the innermost: the order of the coordinates.
// For each its place in the file's list; returns how many.
static int outermost_first(const sn_asf_bone *b, int place[SN_BONE_DOFS]) {
    int n = 0;
    for (int i = 2; i >= 0; i--)
        for (int k = 0; k < b->nchannel; k++)
            if (b->channel[k] == 3 + b->order.axis[i]) place[n++] = k;
    return n;
}

static sn_joint_desc describe(const sn_asf *asf, size_t i, double metres, bool use_limits) {
    static const sn_joint_type types[] = {SN_JOINT_FIXED, SN_JOINT_HINGE, SN_JOINT_UNIVERSAL,
                                          SN_JOINT_EULER};
    const sn_asf_bone *b = &asf->bone[i];
    if (i == 0) {
        sn_joint_desc root = sn_joint_default(SN_JOINT_FREE);
        root.name = b->name;
        return root;
    }
    int place[SN_BONE_DOFS], n = outermost_first(b, place);
    sn_joint_desc d = sn_joint_default(types[n]);
    d.name = b->name;
    d.parent = b->parent;
    sn_quat C = axis_rotation(asf, i), P = axis_rotation(asf, (size_t)b->parent);
    // equal axes are common; their quotient is then exactly one, which the sweeps use
    if (memcmp(&C, &P, sizeof C) != 0) {
        sn_quat r = sn_quat_mul(sn_quat_conj(P), C);
        d.rotation[0] = r.w, d.rotation[1] = r.x, d.rotation[2] = r.y, d.rotation[3] = r.z;
    }
    sn_vec3 p = bone_tip(asf, (size_t)b->parent, metres);
    d.position[0] = p.x, d.position[1] = p.y, d.position[2] = p.z;
    for (int k = 0; k < n; k++) {
        int axis = b->channel[place[k]] - 3;
        if (n == 3) d.order[k] = "XYZ"[axis];
        if (n < 3 && k == 0)
            for (int c = 0; c < 3; c++) d.axis[c] = c == axis;
        if (n == 2 && k == 1)
            for (int c = 0; c < 3; c++) d.axis2[c] = c == axis;
        if (use_limits && b->nlimit > 0) {
            double scale = sn_angle_radians(asf->angle_unit);
            d.lower[k] = scale * b->limit[2 * place[k]];
            d.upper[k] = scale * b->limit[2 * place[k] + 1];
        }
    }
    return d;
}

static sn_status build_model(const sn_asf *asf, double metres, bool use_limits,
                             const sn_allocator *allocator, sn_model **out, sn_error *error) {
    sn_builder *builder;
    if (sn_builder_create(asf->name, allocator, &builder) != SN_OK) return sn_fail_memory(error);
    for (size_t i = 0; i < asf->nbone; i++) {
        sn_joint_desc d = describe(asf, i, metres, use_limits);
        (void)sn_builder_joint_at(builder, &d, asf->bone[i].line);
    }
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}

static void fill_bones(sn_skeleton *s, const sn_asf *asf) {
    for (int i = 0; i < s->njoint; i++) {
        const sn_asf_bone *from = &asf->bone[i];
        sn_bone *b = &s->bone[i];
        b->row = s->row_size;
        b->nvalue = from->nchannel;
        memcpy(b->channel, from->channel, sizeof b->channel);
        s->row_size += b->nvalue;
        b->tip = bone_tip(asf, (size_t)i, s->metres);
        if (i == 0) continue;
        int place[SN_BONE_DOFS], n = outermost_first(from, place);
        for (int k = 0; k < n; k++) b->q[place[k]] = sn_model_q_index(s->model, i) + k;
    }
}

// The root's rotations apply in the order of its `order` line; angles it lacks are zero, so that
// their place does not matter.
static sn_axes root_order(const sn_asf_bone *root) {
    sn_axes order;
    int n = 0;
    bool used[3] = {false, false, false};
    for (int k = 0; k < root->nchannel; k++) {
        int axis = root->channel[k] - 3;
        if (axis < 0) continue;
        used[axis] = true;
        order.axis[n++] = axis;
    }
    for (int axis = 0; axis < 3; axis++)
        if (!used[axis]) order.axis[n++] = axis;
    return order;
}

sn_status sn_skeleton_build(const sn_asf *asf, const sn_asf_options *options,
                            const sn_allocator *allocator, sn_skeleton **out, sn_error *error) {
    *out = NULL;
    sn_skeleton s = {.allocator = sn_allocator_of(allocator),
                     .njoint = (int)asf->nbone,
                     .metres = inch / asf->length_unit,
                     .unit = asf->angle_unit,
                     .root_order = root_order(&asf->bone[0])};
    SN_TRY(build_model(asf, s.metres, options->use_limits, allocator, &s.model, error));
    sn_skeleton *self = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        self = sn_layout_take(&layout, 1, sizeof *self);
        s.bone = sn_layout_take(&layout, asf->nbone, sizeof *s.bone);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, allocator, &s.owner);
        if (block == NULL) {
            sn_model_destroy(s.model);
            return sn_fail_memory(error);
        }
        layout = (sn_layout){.block = block};
    }
    fill_bones(&s, asf);
    *self = s;
    *out = self;
    return SN_OK;
}

void sn_skeleton_destroy(sn_skeleton *skeleton) {
    if (skeleton == NULL) return;
    sn_allocator allocator = skeleton->allocator;
    sn_model_destroy(skeleton->model);
    sn_release(&allocator, skeleton->owner);
}

static const sn_bone *bone_at(const sn_skeleton *skeleton, int joint) {
    return joint < 0 || joint >= skeleton->njoint ? NULL : &skeleton->bone[joint];
}

const sn_model *sn_skeleton_model(const sn_skeleton *skeleton) { return skeleton->model; }
double sn_skeleton_metres_per_unit(const sn_skeleton *skeleton) { return skeleton->metres; }
sn_angle_unit sn_skeleton_angle_unit(const sn_skeleton *skeleton) { return skeleton->unit; }
int sn_skeleton_row_size(const sn_skeleton *skeleton) { return skeleton->row_size; }

void sn_skeleton_tip(const sn_skeleton *skeleton, int joint, double out[3]) {
    const sn_bone *b = bone_at(skeleton, joint);
    out[0] = b != NULL ? b->tip.x : 0;
    out[1] = b != NULL ? b->tip.y : 0;
    out[2] = b != NULL ? b->tip.z : 0;
}

int sn_skeleton_row_index(const sn_skeleton *skeleton, int joint) {
    const sn_bone *b = bone_at(skeleton, joint);
    return b != NULL ? b->row : -1;
}

int sn_skeleton_row_count(const sn_skeleton *skeleton, int joint) {
    const sn_bone *b = bone_at(skeleton, joint);
    return b != NULL ? b->nvalue : 0;
}

const char *sn_skeleton_row_name(const sn_skeleton *skeleton, int joint, int k) {
    static const char *const upper[] = {"TX", "TY", "TZ", "RX", "RY", "RZ"};
    static const char *const lower[] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    const sn_bone *b = bone_at(skeleton, joint);
    if (b == NULL || k < 0 || k >= b->nvalue) return NULL;
    return (joint == 0 ? upper : lower)[b->channel[k]];
}

void sn_skeleton_from_amc_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *row,
                              double *q) {
    double scale = sn_angle_radians(unit), at[6] = {0};
    const sn_bone *root = &skeleton->bone[0];
    for (int k = 0; k < root->nvalue; k++) {
        sn_channel c = root->channel[k];
        at[c] = row[k] * (c < 3 ? skeleton->metres : scale);
    }
    sn_quat r = turn_axes(&skeleton->root_order, at + 3);
    const double pose[7] = {at[0], at[1], at[2], r.w, r.x, r.y, r.z};
    memcpy(q, pose, sizeof pose);  // the root is the first joint, so its coordinates come first
    for (int i = 1; i < skeleton->njoint; i++) {
        const sn_bone *b = &skeleton->bone[i];
        for (int k = 0; k < b->nvalue; k++) q[b->q[k]] = row[b->row + k] * scale;
    }
}
