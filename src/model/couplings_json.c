// SPDX-License-Identifier: MIT
// In a file:
//
//   "couplings": [{"joint": "tip", "of": ["finger"], "function": "linear", "y": [1, 0]},
//                 {"joint": "hip", "coordinate": 1, "of": [["hip", 0], "knee"], "function": ...}]
//
// A leader is a joint's name, or a name and which of its coordinates.
#include "model/couplings_json.h"

#include <stdio.h>
#include <string.h>

#include "model/functions_json.h"

static const char *const keys[] = {"joint", "coordinate", "of", "function",
                                   "scale", "x",          "y",  NULL};

typedef struct reading {
    sn_fields f;
    sn_builder *builder;
    const sn_names *names;
    double *numbers;
    size_t count, capacity;
} reading;

static const char *entry_name(const void *owner, int i) {
    const sn_builder *builder = owner;
    return builder->names + builder->joint[i].name;
}

int sn_json_entry_joint(sn_fields *f, const sn_json_node *node, const sn_builder *builder,
                        const sn_names *names) {
    int joint = sn_names_find(names, node->string, entry_name, builder);
    if (joint < 0) sn_fields_fail(f, node, "there is no joint \"%.80s\"", node->string);
    return joint;
}

int sn_json_entry_type(sn_fields *f, const sn_json_node *node, const char *const *known, int count,
                       const char *(*name)(int type)) {
    const char *type = NULL;
    char all[120] = "";
    f->object = node;
    if (node->type != SN_JSON_OBJECT) {
        sn_fields_fail(f, node, "it must be an object");
        return -1;
    }
    sn_fields_known(f, known);
    if (!sn_fields_string(f, "type", &type)) sn_fields_fail(f, node, "it has no \"type\"");
    if (f->status != SN_OK) return -1;
    size_t used = 0;
    for (int k = 0; k < count; k++) {
        if (strcmp(name(k), type) == 0) return k;
        int n = snprintf(all + used, sizeof all - used, "%s%s", k > 0 ? ", " : "", name(k));
        used += n > 0 && (size_t)n < sizeof all - used ? (size_t)n : 0;
    }
    sn_fields_fail(f, node, "unknown type \"%.40s\": it is none of %s", type, all);
    return -1;
}

static int find_joint(reading *r, const sn_json_node *node) {
    return sn_json_entry_joint(&r->f, node, r->builder, r->names);
}

static int whole(reading *r, const sn_json_node *node) {
    double x = node->type == SN_JSON_NUMBER ? node->number : -1;
    if (!(x >= 0 && x < SN_MAX_JOINT_DOFS && x == (int)x)) {
        sn_fields_fail(&r->f, node, "a coordinate's place is a whole number from 0");
        return 0;
    }
    return (int)x;
}

static sn_coordinate read_leader(reading *r, const sn_json_node *node) {
    sn_coordinate c = {0, 0};
    const sn_json_node *name = node;
    if (node->type == SN_JSON_ARRAY && node->count == 2) {
        name = sn_json_first(r->f.json, node);
        c.index = whole(r, sn_json_next(r->f.json, name));
    }
    if (name->type != SN_JSON_STRING) {
        sn_fields_fail(&r->f, node, "\"of\" holds names of joints, or pairs [name, coordinate]");
        return c;
    }
    c.joint = find_joint(r, name);
    return c;
}

static int read_numbers(reading *r, const char *key) {
    const sn_json_node *list = sn_json_get(r->f.json, r->f.object, key);
    if (list == NULL || r->f.status != SN_OK) return 0;
    if (list->type != SN_JSON_ARRAY || list->count > SN_MAX_FUNCTION_NUMBERS) {
        sn_fields_fail(&r->f, list, "\"%s\" must be an array of numbers", key);
        return 0;
    }
    void *items = r->numbers;
    sn_status status = sn_grow(&r->builder->allocator, &items, &r->capacity,
                               r->count + list->count + 1, sizeof *r->numbers);
    r->numbers = items;
    if (status != SN_OK) {
        r->f.status = sn_fail_memory(r->f.error);
        return 0;
    }
    const sn_json_node *at = sn_json_first(r->f.json, list);
    for (uint32_t i = 0; i < list->count; i++, at = sn_json_next(r->f.json, at)) {
        if (at->type != SN_JSON_NUMBER) {
            sn_fields_fail(&r->f, at, "\"%s\" must be an array of numbers", key);
            return 0;
        }
        r->numbers[r->count++] = at->number;
    }
    return (int)list->count;
}

static sn_status read_coupling(reading *r, const sn_json_node *node) {
    sn_fields *f = &r->f;
    f->object = node;
    if (node->type != SN_JSON_OBJECT) return sn_fields_fail(f, node, "it must be an object");
    sn_fields_known(f, keys);
    const char *joint = NULL, *type = NULL;
    sn_coupling_desc d = {.function.scale = 1};
    if (!sn_fields_string(f, "joint", &joint)) sn_fields_fail(f, node, "it has no \"joint\"");
    if (!sn_fields_string(f, "function", &type)) sn_fields_fail(f, node, "it has no \"function\"");
    if (f->status != SN_OK) return f->status;
    d.follower.joint = find_joint(r, sn_json_get(f->json, node, "joint"));
    const sn_json_node *index = sn_json_get(f->json, node, "coordinate");
    if (index != NULL) d.follower.index = whole(r, index);
    d.function.type = sn_function_type_find(type);
    if (d.function.type == SN_FUNCTION_TYPE_COUNT)
        sn_fields_fail(f, sn_json_get(f->json, node, "function"), "unknown function \"%.40s\"",
                       type);
    const sn_json_node *of = sn_json_get(f->json, node, "of");
    if (of != NULL && (of->type != SN_JSON_ARRAY || of->count > SN_MAX_LEADERS))
        return sn_fields_fail(f, of, "\"of\" must be an array of at most %d", SN_MAX_LEADERS);
    const sn_json_node *at = of != NULL ? sn_json_first(f->json, of) : NULL;
    for (; at != NULL && f->status == SN_OK; at = sn_json_next(f->json, at))
        d.leader[d.nleader++] = read_leader(r, at);
    (void)sn_fields_number(f, "scale", &d.function.scale);
    r->count = 0;
    d.function.nx = read_numbers(r, "x");
    d.function.ny = read_numbers(r, "y");
    d.function.x = r->numbers;
    d.function.y = r->numbers != NULL ? r->numbers + d.function.nx : NULL;
    if (f->status != SN_OK) return f->status;
    (void)sn_builder_couple_at(r->builder, &d, node->line);
    return SN_OK;
}

sn_status sn_couplings_read(const sn_json *json, const sn_json_node *list, sn_builder *builder,
                            const sn_names *names, sn_error *error) {
    reading r = {.f = {.json = json, .error = error, .blame = SN_ERR_MODEL},
                 .builder = builder,
                 .names = names};
    const sn_json_node *at = sn_json_first(json, list);
    for (uint32_t i = 0; i < list->count && r.f.status == SN_OK; i++, at = sn_json_next(json, at)) {
        (void)snprintf(r.f.owner, sizeof r.f.owner, "coupling %u", (unsigned)i);
        (void)read_coupling(&r, at);
    }
    sn_release(&builder->allocator, r.numbers);
    return r.f.status;
}

void sn_couplings_write(sn_text *t, const sn_model *m) {
    if (m->ncoupling == 0) return;
    sn_text_add(t, ",\n \"couplings\": [");
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_desc *c = &m->coupling[i];
        const sn_function *f = &c->function;
        sn_text_add(t, i > 0 ? ",\n  {\"joint\": " : "\n  {\"joint\": ");
        sn_text_add_json_string(t, m->desc[c->follower.joint].name);
        if (c->follower.index > 0) {
            sn_text_add(t, ", \"coordinate\": ");
            sn_text_add_number(t, c->follower.index);
        }
        sn_text_add(t, ", \"of\": [");
        for (int k = 0; k < c->nleader; k++) {
            if (k > 0) sn_text_add(t, ", ");
            if (c->leader[k].index > 0) sn_text_add(t, "[");
            sn_text_add_json_string(t, m->desc[c->leader[k].joint].name);
            if (c->leader[k].index == 0) continue;
            sn_text_add(t, ",");
            sn_text_add_number(t, c->leader[k].index);
            sn_text_add(t, "]");
        }
        sn_text_add(t, "], \"function\": \"");
        sn_text_add(t, sn_function_type_name(f->type));
        sn_text_add(t, "\"");
        sn_function_write_numbers(t, f);
        sn_text_add(t, "}");
    }
    sn_text_add(t, "]");
}
