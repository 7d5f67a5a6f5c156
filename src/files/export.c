// SPDX-License-Identifier: MIT
// Carrying a model and its poses over to a skeleton that a file can hold.
#include "files/export.h"

#include <math.h>
#include <string.h>

enum { OPTIONS_VERSION = 1 };

static const double leaf_length = 0.05;  // of the figure's size, where an end is not known

void sn_export_name(const char *from, char out[SN_MAX_NAME + 1]) {
    size_t n = 0;
    for (; *from != '\0' && n < SN_MAX_NAME; from++) {
        bool plain = (unsigned char)*from > ' ' && *from != 0x7f && strchr("{}(),#", *from) == NULL;
        out[n++] = plain ? *from : '_';
    }
    out[n] = '\0';
    if (out[0] == ':') out[0] = '_';  // ASF's sections begin with it
}

bool sn_export_slides(const sn_joint_desc *joint) {
    switch (joint->type) {
    case SN_JOINT_SLIDER:
    case SN_JOINT_PLANAR:
    case SN_JOINT_TRANSLATION:
    case SN_JOINT_FREE:
        return true;
    case SN_JOINT_SCREW:
        return joint->pitch != 0;
    case SN_JOINT_FUNCTION: {
        bool slides = false;
        for (int m = 0; m < joint->functions->nmove; m++)
            slides = slides || !joint->functions->move[m].turns;
        return slides;
    }
    default:
        return false;
    }
}

sn_vec3 sn_export_offset(const sn_export *self, int joint) {
    int above = self->above[joint];
    if (above < 0) return v3(0, 0, 0);
    return v3_scale(1 / self->metres, v3_sub(self->zero[joint].p, self->zero[above].p));
}

bool sn_export_end(const sn_export *self, int joint, int k, sn_vec3 *out) {
    const sn_skeleton *s = self->source;
    int first = s != NULL ? s->first_end[joint] : 0,
        n = s != NULL ? s->first_end[joint + 1] - first : 0;
    if (k < n) {
        *out = v3_scale(1 / self->metres, m3_mul(&self->zero[joint].R, s->end[first + k].at));
        return true;
    }
    if (n > 0 || k > 0 || self->model->nchild[joint] > 0) return false;
    // on along the bone that leads there, or up
    sn_vec3 d = sn_export_offset(self, joint);
    double norm = v3_norm(d), length = leaf_length * self->size;
    *out = norm > 1e-9 * self->size ? v3_scale(length / norm, d) : v3(0, length, 0);
    return true;
}

// The diagonal of the box around the joints, in the target's unit.
static double figure_size(const sn_export *self) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < sn_model_njoint(self->model); i++) {
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], v3_at(self->zero[i].p, c));
            high[c] = fmax(high[c], v3_at(self->zero[i].p, c));
        }
    }
    double size = v3_norm(v3(high[0] - low[0], high[1] - low[1], high[2] - low[2]));
    return (size > 0 ? size : 1) / self->metres;
}

// All frames at a pose, turned by G.
static sn_status place(sn_export *self, const double *q, sn_frame *out) {
    SN_TRY(sn_workspace_pose(self->ws, q));
    for (int i = 0; i < sn_model_njoint(self->model); i++) {
        sn_frame frame = sn_workspace_frame(self->ws, i);
        out[i].R = m3_mulm(&self->G, &frame.R);
        out[i].p = m3_mul(&self->G, frame.p);
    }
    return SN_OK;
}

static sn_status measure(sn_export *self, const sn_allocator *allocator, sn_error *error) {
    SN_TRY(sn_problem_create(self->model, NULL, 0, allocator, &self->problem, error));
    if (sn_workspace_create(self->problem, false, allocator, &self->ws, error) != SN_OK)
        return sn_fail_memory(error);
    void *owner;
    sn_layout layout = {0};
    (void)sn_layout_take(&layout, (size_t)sn_model_nq(self->model), sizeof(double));
    double *q = sn_layout_acquire(&layout, allocator, &owner);
    if (q == NULL) return sn_fail_memory(error);
    sn_model_zero(self->model, q);
    sn_status status = place(self, q, self->zero);
    sn_release(allocator, owner);
    if (status != SN_OK) return sn_fail(error, status, 0, "the model's numbers are too large");
    self->size = figure_size(self);
    return SN_OK;
}

// The source's axis up, turned as the figure is; "" when it is then none.
static void turn_up_axis(const sn_export *self, char up[4]) {
    if (self->source == NULL || self->source->figure.up[0] == '\0') return;
    const char *from = self->source->figure.up;
    sn_vec3 v = v3_scale(from[0] == '-' ? -1 : 1, self->G.c[from[1] - 'X']);
    for (int c = 0; c < 3; c++) {
        if (fabs(v3_at(v, c)) < 1 - 1e-9) continue;
        up[0] = v3_at(v, c) < 0 ? '-' : '+';
        up[1] = "XYZ"[c];
    }
}

// Names as they will be written, each once.
static sn_status settle_names(sn_figure *figure, const sn_allocator *allocator, sn_error *error) {
    SN_TRY(sn_figure_label(figure, allocator, error));
    for (size_t i = 0; i < figure->nentry; i++) {
        sn_entry *e = &figure->entry[i];
        if (e->label[0] != '\0') memcpy(e->name, e->label, sizeof e->name);
        e->label[0] = '\0';
    }
    return SN_OK;
}

static sn_status build(sn_export *self, sn_skeleton_format format, const sn_allocator *allocator,
                       sn_error *error) {
    SN_TRY(measure(self, allocator, error));
    sn_figure figure = {.format = format,
                        .length_unit = SN_INCH / self->metres,
                        .metres = self->metres,
                        .angle_unit = SN_ANGLE_DEGREES};
    sn_export_name(sn_model_name(self->model), figure.name);
    turn_up_axis(self, figure.up);
    bool asf = format == SN_SKELETON_ASF;
    sn_status status = asf ? sn_export_asf(self, &figure, allocator, error)
                           : sn_export_bvh(self, &figure, allocator, error);
    if (status == SN_OK) status = settle_names(&figure, allocator, error);
    if (status == SN_OK)
        status = sn_skeleton_build(&figure, true, allocator, &self->skeleton, error);
    sn_release(allocator, figure.entry);
    sn_release(allocator, figure.end);
    SN_TRY(status);
    for (int i = 0; i < sn_model_njoint(self->model); i++)
        if (self->target[i] >= 0)
            self->C[i] = sn_mat3_from_quat(
                sn_entry_rotation(&self->skeleton->figure, (size_t)self->target[i]));
    return SN_OK;
}

sn_export_options sn_export_options_default(void) {
    return (sn_export_options){.version = OPTIONS_VERSION, .rotation = {1, 0, 0, 0}};
}

static sn_status check_options(const sn_model *model, const sn_export_options *o, sn_error *error) {
    if (o->version != OPTIONS_VERSION)
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "the options do not come from sn_export_options_default()");
    if (o->source != NULL && sn_skeleton_model(o->source) != model)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "the model is not the source's");
    if (o->metres_per_unit != 0 && !(o->metres_per_unit >= 1e-9 && o->metres_per_unit <= 1e9))
        return sn_fail(error, SN_ERR_ARGUMENT, 0,
                       "metres per unit must be 0, or between 1e-9 and 1e9");
    double square = 0;
    for (int i = 0; i < 4; i++) square += o->rotation[i] * o->rotation[i];
    if (!(square > 1e-100 && square < 1e100))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "the rotation is no quaternion");
    return SN_OK;
}

static double metres_wanted(sn_skeleton_format format, const sn_export_options *o) {
    if (o->metres_per_unit != 0) return o->metres_per_unit;
    if (o->source != NULL) return sn_skeleton_metres_per_unit(o->source);
    return format == SN_SKELETON_ASF ? SN_INCH / 0.45 : 0.01;
}

sn_status sn_export_create(const sn_model *model, sn_skeleton_format format,
                           const sn_export_options *options, const sn_allocator *allocator,
                           sn_export **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(out, error);
    if (format != SN_SKELETON_ASF && format != SN_SKELETON_BVH)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "%s", sn_status_text(SN_ERR_ARGUMENT));
    sn_export_options used = options != NULL ? *options : sn_export_options_default();
    SN_TRY(check_options(model, &used, error));
    const double *r = used.rotation;
    sn_export e = {.allocator = sn_allocator_of(allocator),
                   .model = model,
                   .source = used.source,
                   .G = sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]}),
                   .metres = metres_wanted(format, &used)};
    size_t n = (size_t)sn_model_njoint(model);
    sn_export *self = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        self = sn_layout_take(&layout, 1, sizeof *self);
        e.zero = sn_layout_take(&layout, n, sizeof *e.zero);
        e.bone = sn_layout_take(&layout, n, sizeof *e.bone);
        e.C = sn_layout_take(&layout, n, sizeof *e.C);
        e.target = sn_layout_take(&layout, n, sizeof *e.target);
        e.above = sn_layout_take(&layout, n, sizeof *e.above);
        e.copied = sn_layout_take(&layout, n, sizeof *e.copied);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, allocator, &e.owner);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    *self = e;
    for (int i = 0; i < (int)n; i++) self->above[i] = sn_model_parent(model, i);
    sn_status status = build(self, format, allocator, error);
    self->source = NULL;
    if (status == SN_OK) {
        *out = self;
    } else {
        sn_export_destroy(self);
    }
    return status;
}

void sn_export_destroy(sn_export *self) {
    if (self == NULL) return;
    sn_allocator allocator = self->allocator;
    sn_workspace_destroy(self->ws);
    sn_problem_destroy(self->problem);
    sn_skeleton_destroy(self->skeleton);
    sn_release(&allocator, self->owner);
}

const sn_skeleton *sn_export_skeleton(const sn_export *self) {
    return self != NULL ? self->skeleton : NULL;
}

int sn_export_joint(const sn_export *self, int joint) {
    if (self == NULL) return -1;
    return joint < 0 || joint >= sn_model_njoint(self->model) ? -1 : self->target[joint];
}

static void set_free(const sn_joint_desc *d, sn_vec3 p, const sn_mat3 *M, const double *near,
                     double *q) {
    sn_quat r = sn_quat_from_mat3(*M);
    double sign =
        near != NULL && r.w * near[3] + r.x * near[4] + r.y * near[5] + r.z * near[6] < 0 ? -1 : 1;
    const double pose[7] = {p.x - d->position[0],
                            p.y - d->position[1],
                            p.z - d->position[2],
                            sign * r.w,
                            sign * r.x,
                            sign * r.y,
                            sign * r.z};
    memcpy(q, pose, sizeof pose);
}

static void set_joint(const sn_export *self, int joint, const double *previous, double *out) {
    const sn_model *model = self->skeleton->model;
    int target = self->target[joint];
    int first = sn_model_q_index(model, target);
    const sn_joint_desc *d = sn_model_joint(model, target);
    const sn_frame *bone = &self->bone[joint], world = {m3_identity(), {0, 0, 0}};
    bool root = sn_entry_is_root(&self->skeleton->figure, (size_t)target);
    const sn_frame *above = root ? &world : &self->bone[self->above[joint]];
    sn_mat3 back = m3_transpose(&above->R), L = m3_mulm(&back, &bone->R);
    const double *near = previous != NULL ? previous + first : NULL;
    if (d->type == SN_JOINT_FREE) {
        set_free(d, m3_mul(&back, v3_sub(bone->p, above->p)), &L, near, out + first);
    } else if (d->type == SN_JOINT_EULER) {
        const double zero[3] = {0, 0, 0};
        const int order[3] = {d->order[0] - 'X', d->order[1] - 'X', d->order[2] - 'X'};
        sn_mat3 Ct = m3_transpose(&self->C[joint]), M = m3_mulm(&L, &self->C[joint]);
        M = m3_mulm(&Ct, &M);
        sn_euler_near(order, 3, &M, near != NULL ? near : zero, out + first);
    }
}

sn_status sn_export_pose(sn_export *self, const double *q, const double *previous, double *out) {
    if (self == NULL || q == NULL || out == NULL) return SN_ERR_ARGUMENT;
    int n = sn_model_njoint(self->model);
    SN_TRY(place(self, q, self->bone));
    for (int i = 0; i < n; i++) {
        sn_mat3 back = m3_transpose(&self->zero[i].R);
        self->bone[i].R = m3_mulm(&self->bone[i].R, &back);
    }
    sn_model_zero(self->skeleton->model, out);
    for (int i = 0; i < n; i++) {
        if (self->target[i] < 0) continue;
        if (!self->copied[i]) {
            set_joint(self, i, previous, out);
            continue;
        }
        const sn_joint *joint = &self->model->joint[self->model->sweep_of[i]];
        memcpy(out + sn_model_q_index(self->skeleton->model, self->target[i]), q + joint->q0,
               (size_t)joint->nq * sizeof *q);
    }
    return SN_OK;
}

sn_status sn_export_motion(sn_export *self, const sn_motion *motion, const sn_allocator *allocator,
                           sn_motion **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(self, error);
    SN_NEED(motion, error);
    SN_NEED(out, error);
    if (sn_motion_nq(motion) != sn_model_nq(self->model))
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "the motion has %d coordinates, the model %d",
                       sn_motion_nq(motion), sn_model_nq(self->model));
    int nframe = sn_motion_nframe(motion), first = sn_motion_first_frame(motion);
    sn_status status = sn_motion_create(nframe, sn_model_nq(self->skeleton->model), first,
                                        sn_motion_rate(motion), allocator, out, error);
    if (status != SN_OK) return sn_fail(error, status, 0, "%s", sn_status_text(status));
    sn_motion_set_time_offset(*out, sn_motion_time_offset(motion));
    for (int i = 0; i < nframe; i++) {
        const double *previous = i > 0 ? sn_motion_frame(*out, i - 1) : NULL;
        status =
            sn_export_pose(self, sn_motion_frame(motion, i), previous, sn_motion_edit(*out, i));
        if (status == SN_OK) continue;
        sn_motion_destroy(*out);
        *out = NULL;
        return sn_fail(error, status, 0, "frame %d has a number that is not finite", first + i);
    }
    return SN_OK;
}
