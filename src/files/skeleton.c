// SPDX-License-Identifier: MIT
// From the bones of an ASF file or the joints of a BVH file to a model. The derivation is in
// skeleton.h.
#include "files/skeleton.h"

#include <string.h>

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

sn_quat sn_entry_rotation(const sn_figure *figure, size_t i) {
    if (i == 0 || figure->format == SN_SKELETON_BVH) return (sn_quat){1, 0, 0, 0};
    double scale = sn_angle_radians(figure->angle_unit), angle[3];
    for (int k = 0; k < 3; k++) angle[k] = scale * figure->entry[i].angle[k];
    return turn_axes(&figure->entry[i].order, angle);
}

static double metres_of(const sn_figure *figure) {
    return figure->format == SN_SKELETON_ASF ? SN_INCH / figure->length_unit : figure->metres;
}

// The end of an ASF bone in its joint's frame.
static sn_vec3 bone_tip(const sn_figure *figure, size_t i) {
    const sn_entry *e = &figure->entry[i];
    sn_vec3 d = v3_from(e->direction);
    double norm = v3_norm(d);
    if (i == 0 || norm == 0) return v3(0, 0, 0);
    sn_mat3 C = sn_mat3_from_quat(sn_entry_rotation(figure, i));
    return m3_tmul(&C, v3_scale(e->length * metres_of(figure) / norm, d));
}

// Where a joint stands in its parent's frame before it moves.
static sn_vec3 position_of(const sn_figure *figure, size_t i) {
    const sn_entry *e = &figure->entry[i];
    if (figure->format == SN_SKELETON_ASF)
        return e->parent < 0 ? v3(0, 0, 0) : bone_tip(figure, (size_t)e->parent);
    double at[3];
    for (int c = 0; c < 3; c++) at[c] = (e->held ? e->constant : e->offset)[c] * figure->metres;
    // a root's coordinates are its place in the world, so that nothing is left to add
    for (int k = 0; k < e->nchannel && sn_entry_is_root(figure, i); k++)
        if (e->channel[k] < 3) at[e->channel[k]] = 0;
    return v3_from(at);
}

// The rotation channels from the outermost to the innermost: the order of the coordinates. For each
// its place in the file's list; returns how many.
static int rotations_of(const sn_figure *figure, size_t i, int place[SN_BONE_DOFS]) {
    const sn_entry *e = &figure->entry[i];
    int n = 0;
    if (figure->format == SN_SKELETON_ASF && i > 0) {
        for (int a = 2; a >= 0; a--)
            for (int k = 0; k < e->nchannel; k++)
                if (e->channel[k] == 3 + e->order.axis[a]) place[n++] = k;
        return n;
    }
    // as they stand, but for ASF's root, whose first is innermost
    bool reversed = figure->format == SN_SKELETON_ASF;
    for (int j = 0; j < e->nchannel; j++) {
        int k = reversed ? e->nchannel - 1 - j : j;
        if (e->channel[k] >= 3) place[n++] = k;
    }
    return n;
}

static int translations_of(const sn_entry *e) {
    int n = 0;
    for (int k = 0; k < e->nchannel; k++) n += e->channel[k] < 3 && !e->held;
    return n;
}

static sn_joint_type type_of(const sn_figure *figure, size_t i) {
    static const sn_joint_type turns[] = {SN_JOINT_FIXED, SN_JOINT_HINGE, SN_JOINT_UNIVERSAL,
                                          SN_JOINT_EULER};
    const sn_entry *e = &figure->entry[i];
    int place[SN_BONE_DOFS], n = rotations_of(figure, i, place), slides = translations_of(e);
    if (figure->format == SN_SKELETON_ASF && i == 0) return SN_JOINT_FREE;
    if (slides == 0) return turns[n];
    if (n == 0) return slides == 1 ? SN_JOINT_SLIDER : SN_JOINT_TRANSLATION;
    bool across = slides == 2 && n == 1;
    for (int k = 0; k < e->nchannel && across; k++)
        if (e->channel[k] == e->channel[place[0]] - 3) across = false;
    return across ? SN_JOINT_PLANAR : SN_JOINT_FREE;
}

static void describe_rotations(const sn_figure *figure, size_t i, bool use_limits,
                               sn_joint_desc *d) {
    const sn_entry *e = &figure->entry[i];
    int place[SN_BONE_DOFS], n = rotations_of(figure, i, place);
    bool limited = use_limits && e->nlimit > 0 && d->type != SN_JOINT_FREE;
    for (int k = 0; k < n; k++) {
        int axis = e->channel[place[k]] - 3;
        if (d->type == SN_JOINT_EULER) d->order[k] = "XYZ"[axis];
        if (k == 0)
            for (int c = 0; c < 3; c++) d->axis[c] = c == axis;
        if (k == 1)
            for (int c = 0; c < 3; c++) d->axis2[c] = c == axis;
        if (!limited) continue;
        double scale = sn_angle_radians(figure->angle_unit);
        d->lower[k] = scale * e->limit[2 * place[k]];
        d->upper[k] = scale * e->limit[2 * place[k] + 1];
    }
}

static void describe_translations(const sn_entry *e, sn_joint_desc *d) {
    bool listed[3] = {false, false, false};
    for (int k = 0; k < e->nchannel; k++)
        if (e->channel[k] < 3) listed[e->channel[k]] = true;
    if (d->type == SN_JOINT_SLIDER)
        for (int c = 0; c < 3; c++) d->axis[c] = listed[c];
    if (d->type == SN_JOINT_TRANSLATION || d->type == SN_JOINT_FREE)
        for (int c = 0; c < 3; c++) d->locked[c] = !listed[c];
}

static sn_joint_desc describe(const sn_figure *figure, size_t i, bool use_limits) {
    const sn_entry *e = &figure->entry[i];
    sn_joint_desc d = sn_joint_default(type_of(figure, i));
    d.name = sn_entry_label(e);
    d.parent = e->parent;
    sn_vec3 p = position_of(figure, i);
    d.position[0] = p.x, d.position[1] = p.y, d.position[2] = p.z;
    describe_rotations(figure, i, use_limits, &d);
    describe_translations(e, &d);
    if (e->parent < 0) return d;
    sn_quat C = sn_entry_rotation(figure, i), P = sn_entry_rotation(figure, (size_t)e->parent);
    // equal axes are common; their quotient is then exactly one, which the sweeps use
    if (memcmp(&C, &P, sizeof C) != 0) {
        sn_quat r = sn_quat_mul(sn_quat_conj(P), C);
        d.rotation[0] = r.w, d.rotation[1] = r.x, d.rotation[2] = r.y, d.rotation[3] = r.z;
    }
    return d;
}

static sn_status build_model(const sn_figure *figure, bool use_limits,
                             const sn_allocator *allocator, sn_model **out, sn_error *error) {
    sn_builder *builder;
    if (sn_builder_create(figure->name, allocator, &builder, error) != SN_OK)
        return sn_fail_memory(error);
    for (size_t i = 0; i < figure->nentry; i++) {
        sn_joint_desc d = describe(figure, i, use_limits);
        (void)sn_builder_joint_at(builder, &d, figure->entry[i].line);
    }
    sn_status status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}

// The coordinate of a joint, counted from its first, that its k-th number is.
static int coordinate_of(const sn_figure *figure, size_t i, sn_joint_type type, int k) {
    const sn_entry *e = &figure->entry[i];
    int place[SN_BONE_DOFS], n = rotations_of(figure, i, place), axis = e->channel[k];
    if (axis >= 3) {
        if (type == SN_JOINT_FREE) return SN_ROW_QUATERNION;
        if (type == SN_JOINT_PLANAR) return 2;
        for (int j = 0; j < n; j++)
            if (place[j] == k) return j;
    }
    if (type == SN_JOINT_FREE || type == SN_JOINT_TRANSLATION) return axis;
    if (type == SN_JOINT_SLIDER) return 0;
    // the plane's axes are the two after the normal
    if (type == SN_JOINT_PLANAR) return (axis - (e->channel[place[0]] - 3) + 2) % 3;
    return SN_ROW_CONSTANT;
}

static void quaternion_order(const sn_figure *figure, size_t i, sn_bone *b) {
    int place[SN_BONE_DOFS];
    b->nangle = rotations_of(figure, i, place);
    for (int k = 0; k < b->nangle; k++) {
        b->slot[place[k]] = k;
        b->order[k] = b->channel[place[k]] - 3;
    }
}

static void fill_bones(sn_skeleton *s) {
    const sn_figure *figure = &s->figure;
    for (size_t i = 0; i < figure->nentry; i++) {
        const sn_entry *e = &figure->entry[i];
        const sn_joint_desc *d = sn_model_joint(s->model, (int)i);
        sn_bone *b = &s->bone[i];
        int first = sn_model_q_index(s->model, (int)i);
        b->row = s->row_size;
        b->nvalue = e->nchannel;
        b->quaternion = d->type == SN_JOINT_FREE ? first + 3 : -1;
        s->row_size += b->nvalue;
        memcpy(b->channel, e->channel, sizeof b->channel);
        for (int k = 0; k < b->nvalue; k++) {
            int q = coordinate_of(figure, i, d->type, k), c = e->channel[k];
            b->q[k] = q < 0 ? q : first + q;
            if (c < 3) b->base[k] = q == SN_ROW_CONSTANT ? e->constant[c] : d->position[c];
        }
        if (b->quaternion >= 0) quaternion_order(figure, i, b);
    }
}

// The file's ends by joint; those of one joint in the file's order. Counting from the back leaves
// in first_end where each joint's start.
static void sort_ends(sn_skeleton *s, const sn_end *from) {
    int *start = s->first_end, n = (int)s->figure.nend;
    for (int i = 0; i < n; i++) start[from[i].joint]++;
    for (int i = 1; i < s->njoint; i++) start[i] += start[i - 1];
    start[s->njoint] = n;
    for (int i = n; i-- > 0;) s->figure.end[--start[from[i].joint]] = from[i];
}

static void fill_bvh_ends(sn_skeleton *s) {
    const sn_figure *figure = &s->figure;
    // backwards, so that the first child or end is what stays
    for (size_t i = figure->nentry; i-- > 0;)
        if (!sn_entry_is_root(figure, i))
            s->bone[figure->entry[i].parent].tip = position_of(figure, i);
    for (size_t i = figure->nend; i-- > 0;) {
        const sn_end *e = &figure->end[i];
        s->end[i] = (sn_limb_end){e->joint, v3_scale(figure->metres, v3_from(e->offset))};
        if (s->model->nchild[e->joint] == 0) s->bone[e->joint].tip = s->end[i].at;
    }
    s->nend = (int)figure->nend;
}

static void fill_asf_ends(sn_skeleton *s) {
    for (int i = 0; i < s->njoint; i++) {
        s->bone[i].tip = bone_tip(&s->figure, (size_t)i);
        s->first_end[i] = s->nend;
        if (i > 0 && s->model->nchild[i] == 0) s->end[s->nend++] = (sn_limb_end){i, s->bone[i].tip};
    }
    s->first_end[s->njoint] = s->nend;
}

sn_status sn_skeleton_build(const sn_figure *figure, bool use_limits, const sn_allocator *allocator,
                            sn_skeleton **out, sn_error *error) {
    *out = NULL;
    sn_skeleton s = {.allocator = sn_allocator_of(allocator),
                     .figure = *figure,
                     .njoint = (int)figure->nentry,
                     .metres = metres_of(figure)};
    SN_TRY(build_model(figure, use_limits, allocator, &s.model, error));
    sn_skeleton *self = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        self = sn_layout_take(&layout, 1, sizeof *self);
        s.bone = sn_layout_take(&layout, figure->nentry, sizeof *s.bone);
        s.figure.entry = sn_layout_take(&layout, figure->nentry, sizeof *s.figure.entry);
        s.figure.end = sn_layout_take(&layout, figure->nend, sizeof *s.figure.end);
        s.end = sn_layout_take(&layout, figure->nend + figure->nentry, sizeof *s.end);
        s.first_end = sn_layout_take(&layout, figure->nentry + 1, sizeof *s.first_end);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, allocator, &s.owner);
        if (block == NULL) {
            sn_model_destroy(s.model);
            return sn_fail_memory(error);
        }
        layout = (sn_layout){.block = block};
    }
    memcpy(s.figure.entry, figure->entry, figure->nentry * sizeof *figure->entry);
    fill_bones(&s);
    if (figure->format == SN_SKELETON_ASF) {
        fill_asf_ends(&s);
    } else {
        sort_ends(&s, figure->end);
        fill_bvh_ends(&s);
    }
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

const sn_model *sn_skeleton_model(const sn_skeleton *skeleton) {
    return skeleton != NULL ? skeleton->model : NULL;
}
double sn_skeleton_metres_per_unit(const sn_skeleton *skeleton) {
    return skeleton != NULL ? skeleton->metres : 0;
}
int sn_skeleton_row_size(const sn_skeleton *skeleton) {
    return skeleton != NULL ? skeleton->row_size : 0;
}
int sn_skeleton_nend(const sn_skeleton *skeleton) { return skeleton != NULL ? skeleton->nend : 0; }
const char *sn_skeleton_note(const sn_skeleton *skeleton) {
    return skeleton != NULL ? skeleton->figure.note : NULL;
}
const char *sn_skeleton_up_axis(const sn_skeleton *skeleton) {
    return skeleton != NULL ? skeleton->figure.up : NULL;
}

sn_skeleton_format sn_skeleton_kind(const sn_skeleton *skeleton) {
    if (skeleton == NULL) return SN_SKELETON_ASF;
    return skeleton->figure.format;
}

sn_angle_unit sn_skeleton_angle_unit(const sn_skeleton *skeleton) {
    if (skeleton == NULL) return SN_ANGLE_DEGREES;
    return skeleton->figure.angle_unit;
}

bool sn_skeleton_metres_guessed(const sn_skeleton *skeleton) {
    if (skeleton == NULL) return false;
    return skeleton->figure.metres_guessed;
}

void sn_skeleton_tip(const sn_skeleton *skeleton, int joint, double out[3]) {
    if (skeleton == NULL || out == NULL) return;
    const sn_bone *b = bone_at(skeleton, joint);
    out[0] = b != NULL ? b->tip.x : 0;
    out[1] = b != NULL ? b->tip.y : 0;
    out[2] = b != NULL ? b->tip.z : 0;
}

int sn_skeleton_end(const sn_skeleton *skeleton, int k, double out[3]) {
    if (skeleton == NULL || out == NULL) return -1;
    if (k < 0 || k >= skeleton->nend) return -1;
    const sn_limb_end *e = &skeleton->end[k];
    out[0] = e->at.x, out[1] = e->at.y, out[2] = e->at.z;
    return e->joint;
}

int sn_skeleton_row_index(const sn_skeleton *skeleton, int joint) {
    if (skeleton == NULL) return -1;
    const sn_bone *b = bone_at(skeleton, joint);
    return b != NULL ? b->row : -1;
}

int sn_skeleton_row_count(const sn_skeleton *skeleton, int joint) {
    if (skeleton == NULL) return 0;
    const sn_bone *b = bone_at(skeleton, joint);
    return b != NULL ? b->nvalue : 0;
}

const char *sn_skeleton_row_name(const sn_skeleton *skeleton, int joint, int k) {
    if (skeleton == NULL) return NULL;
    static const char *const names[3][6] = {
        {"TX", "TY", "TZ", "RX", "RY", "RZ"},
        {"tx", "ty", "tz", "rx", "ry", "rz"},
        {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"}};
    const sn_bone *b = bone_at(skeleton, joint);
    if (b == NULL || k < 0 || k >= b->nvalue) return NULL;
    int set = skeleton->figure.format == SN_SKELETON_BVH ? 2 : joint > 0;
    return names[set][b->channel[k]];
}
