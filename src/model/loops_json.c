// SPDX-License-Identifier: MIT
// In a file:
//
//   "loops": [{"type": "pin", "joint": "rod", "joint2": "crank", "position": [...],
//              "position2": [...], "axis": [...], "axis2": [...]}]
//
// Without "joint2" the second end is in the world.
#include <stdio.h>

#include "model/couplings_json.h"

static const char *const keys[] = {"type",      "joint",    "joint2", "position",
                                   "position2", "axis",     "axis2",  "rotation",
                                   "rotation2", "distance", "name",   NULL};
static const char *const joints[2] = {"joint", "joint2"};
static const char *const positions[2] = {"position", "position2"};
static const char *const axes[2] = {"axis", "axis2"};
static const char *const rotations[2] = {"rotation", "rotation2"};

static const char *type_name(int type) { return sn_loop_type_name((sn_loop_type)type); }

static void read_loop(sn_fields *f, const sn_json_node *node, sn_builder *builder,
                      const sn_names *names) {
    const char *joint;
    int type = sn_json_entry_type(f, node, keys, SN_LOOP_TYPE_COUNT, type_name);
    if (type < 0) return;
    sn_loop_desc d = sn_loop_default((sn_loop_type)type);
    for (int i = 0; i < 2; i++) {
        if (sn_fields_string(f, joints[i], &joint)) {
            d.joint[i] =
                sn_json_entry_joint(f, sn_json_get(f->json, node, joints[i]), builder, names);
        } else if (i == 0) {
            sn_fields_fail(f, node, "it has no \"joint\"");
        }
        (void)sn_fields_numbers(f, positions[i], 3, d.position[i]);
        (void)sn_fields_numbers(f, axes[i], 3, d.axis[i]);
        (void)sn_fields_numbers(f, rotations[i], 4, d.rotation[i]);
    }
    (void)sn_fields_number(f, "distance", &d.distance);
    if (f->status == SN_OK) (void)sn_builder_loop_at(builder, &d, node->line);
}

sn_status sn_loops_read(const sn_json *json, const sn_json_node *list, sn_builder *builder,
                        const sn_names *names, sn_error *error) {
    sn_fields f = {.json = json, .error = error, .blame = SN_ERR_MODEL};
    const sn_json_node *at = sn_json_first(json, list);
    for (uint32_t i = 0; i < list->count && f.status == SN_OK; i++, at = sn_json_next(json, at)) {
        (void)snprintf(f.owner, sizeof f.owner, "loop %u", (unsigned)i);
        read_loop(&f, at, builder, names);
    }
    return f.status;
}

void sn_loops_write(sn_text *t, const sn_model *m) {
    if (m->nloop == 0) return;
    sn_text_add(t, ",\n \"loops\": [");
    for (int i = 0; i < m->nloop; i++) {
        const sn_loop_desc *d = &m->loop[i];
        sn_text_add(t, i > 0 ? ",\n  {\"type\": \"" : "\n  {\"type\": \"");
        sn_text_add(t, sn_loop_type_name(d->type));
        sn_text_add(t, "\"");
        for (int k = 0; k < 2; k++) {
            if (d->joint[k] >= 0) {
                sn_text_add(t, ", \"");
                sn_text_add(t, joints[k]);
                sn_text_add(t, "\": ");
                sn_text_add_json_string(t, m->desc[d->joint[k]].name);
            }
            sn_text_add_numbers(t, positions[k], d->position[k], 3);
            if (d->type == SN_LOOP_PIN || d->type == SN_LOOP_LINE)
                sn_text_add_numbers(t, axes[k], d->axis[k], 3);
            if (d->type == SN_LOOP_WELD) sn_text_add_numbers(t, rotations[k], d->rotation[k], 4);
        }
        if (d->type == SN_LOOP_DISTANCE) {
            sn_text_add(t, ", \"distance\": ");
            sn_text_add_number(t, d->distance);
        }
        sn_text_add(t, "}");
    }
    sn_text_add(t, "]");
}
