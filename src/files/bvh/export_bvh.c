// SPDX-License-Identifier: MIT
// The joints of a model as a BVH hierarchy: one for one, depth first.
#include "files/export.h"

// X, Y, Z position, then Z, Y, X rotation.
static void set_channels(sn_entry *e, bool moves) {
    static const sn_channel channels[] = {0, 1, 2, 5, 4, 3};
    int skip = moves ? 0 : 3;
    e->nchannel = SN_ROW_VALUES - skip;
    for (int k = 0; k < e->nchannel; k++) e->channel[k] = channels[k + skip];
}

static sn_status add_joint(sn_export *self, sn_figure *figure, const sn_joint *joint,
                           const sn_allocator *allocator, sn_error *error) {
    const sn_joint_desc *d = sn_model_joint(self->model, joint->id);
    char name[SN_MAX_NAME + 1];
    sn_export_name(d->name, name);
    sn_error why = {0};
    sn_entry *e = sn_figure_add(figure, name, joint->parent, allocator, &why);
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
    for (int i = 0; i < sn_model_njoint(self->model); i++)
        SN_TRY(add_joint(self, figure, &self->model->joint[i], allocator, error));
    return SN_OK;
}
