// SPDX-License-Identifier: MIT
// The joints of a model as a BVH hierarchy, depth first: one for one, but that an OpenSim body's chain of hinges in one place
// is one joint, as animators know it. Where such hinges nearly share an axis they spin against each other and the body
// hardly turns.
#include "files/export.h"

// X, Y, Z position, then Z, Y, X rotation.
static void set_channels(sn_entry *e, bool moves) {
    static const sn_channel channels[] = {0, 1, 2, 5, 4, 3};
    int skip = moves ? 0 : 3;
    e->nchannel = SN_ROW_VALUES - skip;
    for (int k = 0; k < e->nchannel; k++) e->channel[k] = channels[k + skip];
}

// Does a model have an OpenSim file's bodies, chains of the joints that its reader makes? The frames of any other are what
// somebody put on it: a sensor, a tool.
static bool has_bodies(const sn_model *model) {
    for (int i = 0; i < sn_model_njoint(model); i++) {
        const sn_joint_type type = sn_model_joint(model, i)->type;
        if (type != SN_JOINT_FIXED && type != SN_JOINT_HINGE && type != SN_JOINT_SLIDER &&
            type != SN_JOINT_FUNCTION)
            return false;
    }
    return true;
}

// The name of the first thing that a file says is there: the body of an OpenSim file. NULL for none.
static const char *body_of(const sn_model *model, int joint) {
    for (int i = 0; i < sn_model_nframe(model); i++)
        if (sn_model_frame(model, i)->joint == joint) return sn_model_frame(model, i)->name;
    return NULL;
}

static bool carries(const sn_model *model, int joint) {
    if (sn_model_joint(model, joint)->mass > 0 || body_of(model, joint) != NULL) return true;
    for (int i = 0; i < sn_model_nmarker(model); i++)
        if (sn_model_marker(model, i)->joint == joint) return true;
    for (int i = 0; i < sn_model_nshape(model); i++)
        if (sn_model_shape(model, i)->joint == joint) return true;
    return false;
}

// The only joint below one; -1 when there are none or several.
static int only_child(const sn_model *model, int joint) {
    int child = -1;
    if (model->nchild[joint] != 1) return -1;
    for (int i = 0; child < 0; i++)
        if (sn_model_parent(model, i) == joint) child = i;
    return child;
}

// Is a joint one with the one below it: a place with nothing on it, on the way to a body?
static bool is_passed(const sn_export *self, int joint, bool root) {
    const sn_model *model = self->model;
    for (int at = joint;;) {
        const int child = only_child(model, at);
        if (child < 0 || carries(model, at)) return false;
        if (!root && (v3_norm(v3_sub(self->zero[child].p, self->zero[at].p)) > 0 ||
                      sn_export_slides(sn_model_joint(model, at)) ||
                      sn_export_slides(sn_model_joint(model, child))))
            return false;
        if (body_of(model, child) != NULL) return true;
        at = child;
    }
}

static sn_status add_joint(sn_export *self, sn_figure *figure, const sn_joint *joint, bool bodies,
                           const sn_allocator *allocator, sn_error *error) {
    const sn_joint_desc *d = sn_model_joint(self->model, joint->id);
    const char *body = bodies ? body_of(self->model, joint->id) : NULL;
    const int parent = sn_model_parent(self->model, joint->id);
    char name[SN_MAX_NAME + 1];
    // parents come first
    if (parent >= 0 && self->target[parent] < 0) self->above[joint->id] = self->above[parent];
    const int above = self->above[joint->id];
    if (bodies && is_passed(self, joint->id, above < 0)) {
        self->target[joint->id] = -1;
        return SN_OK;
    }
    sn_export_name(body != NULL ? body : d->name, name);
    sn_error why = {0};
    sn_entry *e =
        sn_figure_add(figure, name, above < 0 ? -1 : self->target[above], allocator, &why);
    if (e == NULL) return sn_fail(error, why.status, 0, "%s", why.text);
    size_t at = figure->nentry - 1;  // sweep order is depth first
    self->target[joint->id] = (int)at;
    bool root = sn_entry_is_root(figure, at);
    sn_vec3 o = root ? v3(0, 0, 0) : sn_export_offset(self, joint->id);
    e->offset[0] = o.x, e->offset[1] = o.y, e->offset[2] = o.z;
    if (!(figure->several_roots && at == 0)) set_channels(e, root || sn_export_slides(d));
    sn_vec3 end;
    for (int k = 0; sn_export_end(self, joint->id, k, &end); k++) {
        const double offset[3] = {end.x, end.y, end.z};
        SN_TRY(sn_figure_add_end(figure, (int)at, offset, allocator, error));
    }
    return SN_OK;
}

sn_status sn_export_bvh(sn_export *self, sn_figure *figure, const sn_allocator *allocator,
                        sn_error *error) {
    figure->several_roots = self->source != NULL && self->source->figure.several_roots;
    const bool bodies = self->source == NULL && has_bodies(self->model);
    for (int i = 0; i < sn_model_njoint(self->model); i++)
        SN_TRY(add_joint(self, figure, &self->model->joint[i], bodies, allocator, error));
    return SN_OK;
}
