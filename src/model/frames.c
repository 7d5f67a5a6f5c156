// SPDX-License-Identifier: MIT
// Named frames: what a file calls a body or a joint, where the model has a chain of joints of other names.
// They are places to speak of in tasks, and no more: a fit looks at markers alone.
#include <math.h>
#include <string.h>

#include "math/unit.h"
#include "model/model.h"

int sn_model_nframe(const sn_model *model) { return model != NULL ? model->nframe : 0; }

const sn_frame_desc *sn_model_frame(const sn_model *model, int frame) {
    return model != NULL && frame >= 0 && frame < model->nframe ? &model->frame[frame] : NULL;
}

static const char *frame_name(const void *owner, int i) {
    return ((const sn_model *)owner)->frame[i].name;
}

int sn_model_find_frame(const sn_model *model, const char *name) {
    if (model == NULL || name == NULL) return -1;
    return sn_names_find(&model->frame_names, name, frame_name, model);
}

void sn_frames_layout(sn_model *m, const sn_builder *from, sn_layout *layout) {
    m->nframe = (int)from->nframe;
    m->frame = sn_layout_take(layout, from->nframe, sizeof *m->frame);
    sn_names_layout(&m->frame_names, from->nframe, layout);
}

static const char *check(sn_model *m, int i) {
    const sn_frame_desc *d = &m->frame[i];
    double unit[4];
    if (d->name[0] == '\0') return "it has no name";
    if (strlen(d->name) > SN_MAX_NAME) return "the name is longer than 255 bytes";
    if (d->joint < 0 || d->joint >= m->njoint) return "its joint does not exist";
    for (int k = 0; k < 3; k++)
        if (!(fabs(d->position[k]) <= 1e50)) return "position is not finite";
    if (!sn_unit(d->rotation, 4, unit)) return "rotation is zero or not finite";
    if (sn_names_add(&m->frame_names, i, frame_name, m) != i)
        return "another frame has the same name";
    return NULL;
}

sn_status sn_frames_build(sn_model *m, const sn_builder *from, const char *pool, sn_error *error) {
    for (int i = 0; i < m->nframe; i++) {
        m->frame[i] = from->frame[i].desc;
        m->frame[i].name = pool + from->frame[i].name;
        const char *wrong = check(m, i);
        if (wrong != NULL)
            return sn_fail(error, SN_ERR_MODEL, from->frame[i].line, "frame \"%.80s\": %s",
                           m->frame[i].name, wrong);
    }
    return SN_OK;
}

sn_frame sn_frame_place(const sn_frame_desc *frame) {
    double r[4];
    if (!sn_unit(frame->rotation, 4, r)) return (sn_frame){m3_identity(), {0, 0, 0}};
    return (sn_frame){sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]}),
                      v3_from(frame->position)};
}
