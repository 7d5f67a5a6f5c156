// SPDX-License-Identifier: MIT
// In a file:
//
//   "frames": [{"name": "tibia_r", "joint": "knee_angle_r", "position": [0, 0.01, 0],
//               "rotation": [1, 0, 0, 0]}]
//
// Place and rotation (w x y z) are in the joint's frame; both may be left out.
#include <stdio.h>

#include "model/couplings_json.h"

static const char *const keys[] = {"name", "joint", "position", "rotation", NULL};

static void read_frame(sn_fields *f, const sn_json_node *node, sn_builder *builder,
                       const sn_names *names) {
    const char *joint = NULL;
    sn_frame_desc d = {.rotation = {1, 0, 0, 0}};
    f->object = node;
    if (node->type != SN_JSON_OBJECT) {
        sn_fields_fail(f, node, "it must be an object");
        return;
    }
    sn_fields_known(f, keys);
    if (!sn_fields_string(f, "name", &d.name)) sn_fields_fail(f, node, "it has no \"name\"");
    if (!sn_fields_string(f, "joint", &joint)) sn_fields_fail(f, node, "it has no \"joint\"");
    (void)sn_fields_numbers(f, "position", 3, d.position);
    (void)sn_fields_numbers(f, "rotation", 4, d.rotation);
    if (f->status != SN_OK) return;
    d.joint = sn_json_entry_joint(f, sn_json_get(f->json, node, "joint"), builder, names);
    if (f->status == SN_OK) (void)sn_builder_frame_at(builder, &d, node->line);
}

sn_status sn_frames_read(const sn_json *json, const sn_json_node *list, sn_builder *builder,
                         const sn_names *names, sn_error *error) {
    sn_fields f = {.json = json, .error = error, .blame = SN_ERR_MODEL};
    const sn_json_node *at = list != NULL ? sn_json_first(json, list) : NULL;
    for (unsigned i = 0; at != NULL && f.status == SN_OK; i++, at = sn_json_next(json, at)) {
        (void)snprintf(f.owner, sizeof f.owner, "frame %u", i);
        read_frame(&f, at, builder, names);
    }
    return f.status;
}

void sn_frames_write(sn_text *t, const sn_model *m) {
    for (int i = 0; i < m->nframe; i++) {
        const sn_frame_desc *d = &m->frame[i];
        const double *r = d->rotation;
        sn_text_add(t, i == 0 ? ",\n \"frames\": [\n  {\"name\": " : ",\n  {\"name\": ");
        sn_text_add_json_string(t, d->name);
        sn_text_add(t, ", \"joint\": ");
        sn_text_add_json_string(t, m->desc[d->joint].name);
        sn_text_add_numbers(t, "position", d->position, 3);
        if (r[0] != 1 || r[1] != 0 || r[2] != 0 || r[3] != 0)
            sn_text_add_numbers(t, "rotation", r, 4);
        sn_text_add(t, i + 1 == m->nframe ? "}]" : "}");
    }
}
