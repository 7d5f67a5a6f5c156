// SPDX-License-Identifier: MIT
// In a file:
//
//   "shapes": [{"type": "capsule", "joint": "forearm", "from": [...], "to": [...], "radius": 0.04},
//              {"type": "plane", "name": "floor", "from": [0, 0, 0], "normal": [0, 0, 1]}],
//   "excluded": [["forearm", "upper_arm"], ["foot", null]]
//
// Without "joint" (null in a pair) it is in the world.
#include <stdio.h>

#include "model/couplings_json.h"

static const char *const keys[] = {"type",   "name",   "joint", "from",  "to",
                                   "normal", "radius", "kind",  "meets", NULL};

static const char *type_name(int type) { return sn_shape_type_name((sn_shape_type)type); }

static void read_bits(sn_fields *f, const char *key, uint32_t *out) {
    double x;
    if (!sn_fields_number(f, key, &x) || f->status != SN_OK) return;
    if (!(x >= 0 && x <= 4294967295.0 && x == floor(x))) {
        sn_fields_fail(f, sn_json_get(f->json, f->object, key),
                       "\"%s\" must be a whole number of 32 bits", key);
        return;
    }
    *out = (uint32_t)x;
}

static void read_shape(sn_fields *f, const sn_json_node *node, sn_builder *builder,
                       const sn_names *names) {
    const char *joint;
    int type = sn_json_entry_type(f, node, keys, SN_SHAPE_TYPE_COUNT, type_name);
    if (type < 0) return;
    sn_shape_desc d = sn_shape_default((sn_shape_type)type);
    d.joint = -1;
    if (sn_fields_string(f, "joint", &joint))
        d.joint = sn_json_entry_joint(f, sn_json_get(f->json, node, "joint"), builder, names);
    (void)sn_fields_string(f, "name", &d.name);
    (void)sn_fields_numbers(f, "from", 3, d.from);
    bool to = sn_fields_numbers(f, "to", 3, d.to);
    if (d.type == SN_SHAPE_CAPSULE && !to) sn_fields_fail(f, node, "a capsule needs \"to\"");
    (void)sn_fields_numbers(f, "normal", 3, d.normal);
    if (!sn_fields_number(f, "radius", &d.radius) && d.type != SN_SHAPE_PLANE)
        sn_fields_fail(f, node, "it has no \"radius\"");
    read_bits(f, "kind", &d.kind);
    read_bits(f, "meets", &d.meets);
    if (f->status == SN_OK) (void)sn_builder_shape_at(builder, &d, node->line);
}

static void read_pair(sn_fields *f, const sn_json_node *node, sn_builder *builder,
                      const sn_names *names) {
    int joints[2] = {-1, -1};
    if (node->type != SN_JSON_ARRAY || node->count != 2) {
        sn_fields_fail(f, node, "it must be two joints");
        return;
    }
    const sn_json_node *at = sn_json_first(f->json, node);
    for (int k = 0; k < 2; k++, at = sn_json_next(f->json, at)) {
        if (at->type == SN_JSON_NULL) continue;
        if (at->type != SN_JSON_STRING) {
            sn_fields_fail(f, at, "it must be two joints: names, or null for the world");
            return;
        }
        joints[k] = sn_json_entry_joint(f, at, builder, names);
        if (joints[k] < 0) return;
    }
    (void)sn_builder_exclude(builder, joints[0], joints[1]);
}

sn_status sn_shapes_read(const sn_json *json, const sn_json_node *shapes,
                         const sn_json_node *excluded, sn_builder *builder, const sn_names *names,
                         sn_error *error) {
    sn_fields f = {.json = json, .error = error, .blame = SN_ERR_MODEL};
    const sn_json_node *at = shapes != NULL ? sn_json_first(json, shapes) : NULL;
    for (unsigned i = 0; at != NULL && f.status == SN_OK; i++, at = sn_json_next(json, at)) {
        (void)snprintf(f.owner, sizeof f.owner, "shape %u", i);
        read_shape(&f, at, builder, names);
    }
    at = excluded != NULL ? sn_json_first(json, excluded) : NULL;
    for (unsigned i = 0; at != NULL && f.status == SN_OK; i++, at = sn_json_next(json, at)) {
        (void)snprintf(f.owner, sizeof f.owner, "excluded pair %u", i);
        read_pair(&f, at, builder, names);
    }
    return f.status;
}

static void add_numbers(sn_text *t, const char *key, const double *x) {
    sn_text_add(t, ", \"");
    sn_text_add(t, key);
    sn_text_add(t, "\": [");
    for (int i = 0; i < 3; i++) {
        if (i > 0) sn_text_add(t, ",");
        sn_text_add_number(t, x[i]);
    }
    sn_text_add(t, "]");
}

static void add_number(sn_text *t, const char *key, double x) {
    sn_text_add(t, ", \"");
    sn_text_add(t, key);
    sn_text_add(t, "\": ");
    sn_text_add_number(t, x);
}

static void add_joint(sn_text *t, const sn_model *m, int joint) {
    if (joint < 0) {
        sn_text_add(t, "null");
    } else {
        sn_text_add_json_string(t, m->desc[joint].name);
    }
}

void sn_shapes_write(sn_text *t, const sn_model *m) {
    for (int i = 0; i < m->nshape; i++) {
        const sn_shape_desc *d = &m->shape[i];
        sn_text_add(t, i == 0 ? ",\n \"shapes\": [\n  {\"type\": \"" : ",\n  {\"type\": \"");
        sn_text_add(t, sn_shape_type_name(d->type));
        sn_text_add(t, "\"");
        if (d->name[0] != '\0') {
            sn_text_add(t, ", \"name\": ");
            sn_text_add_json_string(t, d->name);
        }
        if (d->joint >= 0) {
            sn_text_add(t, ", \"joint\": ");
            add_joint(t, m, d->joint);
        }
        add_numbers(t, "from", d->from);
        if (d->type == SN_SHAPE_CAPSULE) add_numbers(t, "to", d->to);
        if (d->type == SN_SHAPE_PLANE) add_numbers(t, "normal", d->normal);
        if (d->type != SN_SHAPE_PLANE) add_number(t, "radius", d->radius);
        if (d->kind != 1) add_number(t, "kind", d->kind);
        if (d->meets != 1) add_number(t, "meets", d->meets);
        sn_text_add(t, i + 1 == m->nshape ? "}]" : "}");
    }
    for (int i = 0; i < m->nexcluded; i++) {
        sn_text_add(t, i == 0 ? ",\n \"excluded\": [\n  [" : ",\n  [");
        add_joint(t, m, m->excluded[i][0]);
        sn_text_add(t, ", ");
        add_joint(t, m, m->excluded[i][1]);
        sn_text_add(t, i + 1 == m->nexcluded ? "]]" : "]");
    }
}
