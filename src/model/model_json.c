// SPDX-License-Identifier: MIT
// The native model file. Metres and radians, quaternions w x y z.
#include <stdio.h>
#include <string.h>

#include "base/json_fields.h"
#include "base/text.h"
#include "model/couplings_json.h"
#include "model/functions_json.h"
#include "model/model.h"
#include "model/model_text.h"

static const char *const model_keys[] = {"sinew", "name",   "joints",   "markers", "couplings",
                                         "loops", "shapes", "excluded", "frames",  NULL};
static const char *const joint_keys[] = {
    "name",  "parent", "type",   "position", "rotation",    "axis",   "axis2", "pitch",
    "order", "limits", "locked", "strength", "coordinates", "swing",  "twist", "moves",
    "mass",  "centre", "reach",  "speed",    "turn",        "stance", NULL};

static const char *const marker_keys[] = {"name", "joint", "position", "weight", NULL};

// The file being read: the builder, and the names under which joints were added.
typedef struct reading {
    const sn_json *json;
    const sn_allocator *allocator;
    sn_builder *builder;
    const sn_json_node **parent;  // per joint, the node that names its parent, or NULL
    sn_names names;
    void *block;
    sn_error *error;
} reading;

static sn_fields fields_of(const reading *r, const sn_json_node *object, const char *kind,
                           size_t index) {
    sn_fields f = {.json = r->json, .object = object, .error = r->error, .blame = SN_ERR_MODEL};
    const sn_json_node *name = sn_json_get(r->json, object, "name");
    if (name != NULL && name->type == SN_JSON_STRING) {
        (void)snprintf(f.owner, sizeof f.owner, "%s \"%.80s\"", kind, name->string);
    } else {
        (void)snprintf(f.owner, sizeof f.owner, "%s %zu", kind, index);
    }
    return f;
}

// One side of a limit: a number, or null for none.
static bool limit_side(const sn_json_node *node, double none, double *out) {
    if (node->type == SN_JSON_NULL) *out = none;
    if (node->type == SN_JSON_NUMBER) *out = node->number;
    return node->type == SN_JSON_NULL || node->type == SN_JSON_NUMBER;
}

static void read_limits(sn_fields *f, int nv, sn_joint_desc *d) {
    const sn_json_node *limits = sn_json_get(f->json, f->object, "limits");
    if (limits == NULL) return;
    if (limits->type != SN_JSON_ARRAY || limits->count != (uint32_t)nv) {
        sn_fields_fail(f, limits, "\"limits\" must be an array of %d pairs [lower, upper]", nv);
        return;
    }
    const sn_json_node *pair = sn_json_first(f->json, limits);
    for (int i = 0; i < nv; i++, pair = sn_json_next(f->json, pair)) {
        if (pair->type == SN_JSON_NULL) continue;
        const sn_json_node *low = sn_json_first(f->json, pair);
        if (pair->type != SN_JSON_ARRAY || pair->count != 2 ||
            !limit_side(low, -INFINITY, &d->lower[i]) ||
            !limit_side(sn_json_next(f->json, low), INFINITY, &d->upper[i])) {
            sn_fields_fail(f, pair, "a limit must be [lower, upper], null for none");
            return;
        }
    }
}

static void read_twist(sn_fields *f, sn_joint_desc *d) {
    const sn_json_node *pair = sn_json_get(f->json, f->object, "twist");
    if (pair == NULL) return;
    const sn_json_node *low = pair->type == SN_JSON_ARRAY ? sn_json_first(f->json, pair) : NULL;
    if (low == NULL || pair->count != 2 || !limit_side(low, -INFINITY, &d->twist[0]) ||
        !limit_side(sn_json_next(f->json, low), INFINITY, &d->twist[1]))
        sn_fields_fail(f, pair, "\"twist\" must be [lower, upper], null for none");
}

// "reach": the corners of a reach cone.
static void read_reach(sn_fields *f, sn_joint_desc *d) {
    const sn_json_node *list = sn_json_get(f->json, f->object, "reach");
    if (list == NULL) return;
    const sn_json_node *at = list->type == SN_JSON_ARRAY ? sn_json_first(f->json, list) : NULL;
    bool good = at != NULL && list->count >= 3 && list->count <= SN_MAX_REACH;
    for (; good && at != NULL; at = sn_json_next(f->json, at))
        good = at->type == SN_JSON_ARRAY && at->count == 3 &&
               sn_json_numbers(f->json, at, 3, d->reach[d->nreach++]);
    if (!good)
        sn_fields_fail(f, list, "\"reach\" must be 3 to %d directions [x, y, z]", SN_MAX_REACH);
}

// "locked" and "strength": one value for all degrees of freedom, or an array with one each.
static void read_each(sn_fields *f, const char *key, bool flags, int nv, sn_joint_desc *d) {
    const sn_json_node *node = sn_json_get(f->json, f->object, key);
    if (node == NULL) return;
    bool many = node->type == SN_JSON_ARRAY;
    const sn_json_node *at = many ? sn_json_first(f->json, node) : node;
    bool good = many    ? node->count == (uint32_t)nv
                : flags ? node->type == SN_JSON_TRUE || node->type == SN_JSON_FALSE
                        : node->type == SN_JSON_NUMBER;
    for (int i = 0; good && i < nv; i++) {
        if (flags) {
            good = at->type == SN_JSON_TRUE || at->type == SN_JSON_FALSE;
            d->locked[i] = at->type == SN_JSON_TRUE;
        } else {
            good = at->type == SN_JSON_NUMBER;
            d->strength[i] = at->number;
        }
        if (many) at = sn_json_next(f->json, at);
    }
    if (!good)
        sn_fields_fail(f, node, "\"%s\" must be %s, or an array of %d", key,
                       flags ? "true or false" : "a number", nv);
}

// "speed": a number for each degree of freedom.
static void read_speed(sn_fields *f, int nv, sn_joint_desc *d) {
    if (sn_json_get(f->json, f->object, "speed") != NULL)
        (void)sn_fields_numbers(f, "speed", nv, d->speed);
}

static sn_joint_type type_by_name(const char *name) {
    int type = 0;
    while (type < SN_JOINT_TYPE_COUNT && strcmp(sn_joint_type_name((sn_joint_type)type), name) != 0)
        type++;
    return (sn_joint_type)type;
}

// A key that this type cannot do without.
static void require(sn_fields *f, bool there, const sn_joint_desc *d, const char *key) {
    if (!there)
        sn_fields_fail(f, f->object, "a %s joint needs \"%s\"", sn_joint_type_name(d->type), key);
}

static sn_status read_joint(reading *r, const sn_json_node *node, size_t index) {
    sn_fields f = fields_of(r, node, "joint", index);
    if (node->type != SN_JSON_OBJECT) return sn_fields_fail(&f, node, "it must be an object");
    sn_fields_known(&f, joint_keys);
    const char *name = NULL, *type_name = NULL, *order = NULL;
    if (!sn_fields_string(&f, "name", &name)) sn_fields_fail(&f, node, "it has no \"name\"");
    if (!sn_fields_string(&f, "type", &type_name)) sn_fields_fail(&f, node, "it has no \"type\"");
    if (f.status != SN_OK) return f.status;
    sn_joint_type type = type_by_name(type_name);
    if (type == SN_JOINT_TYPE_COUNT)
        return sn_fields_fail(&f, sn_json_get(r->json, node, "type"), "unknown type \"%.40s\"",
                              type_name);

    sn_joint_desc d = sn_joint_default(type);
    sn_joint_functions functions;
    sn_numbers numbers = {.allocator = r->allocator};
    d.name = name;
    (void)sn_fields_numbers(&f, "position", 3, d.position);
    (void)sn_fields_numbers(&f, "rotation", 4, d.rotation);
    bool axis = sn_fields_numbers(&f, "axis", 3, d.axis);
    bool axis2 = sn_fields_numbers(&f, "axis2", 3, d.axis2);
    bool pitch = sn_fields_number(&f, "pitch", &d.pitch);
    if (type == SN_JOINT_HINGE || type == SN_JOINT_SLIDER || type == SN_JOINT_SCREW ||
        type == SN_JOINT_UNIVERSAL)
        require(&f, axis, &d, "axis");
    if (type == SN_JOINT_UNIVERSAL) require(&f, axis2, &d, "axis2");
    if (type == SN_JOINT_SCREW) require(&f, pitch, &d, "pitch");
    if (sn_fields_string(&f, "order", &order)) {
        (void)snprintf(d.order, sizeof d.order, "%s", order);
        if (strlen(order) != 3) sn_fields_fail(&f, node, "\"order\" must have three letters");
    } else if (type == SN_JOINT_EULER) {
        require(&f, false, &d, "order");
    }
    bool swing = sn_fields_number(&f, "swing", &d.swing);
    bool turn = sn_fields_number(&f, "turn", &d.turn);
    read_twist(&f, &d);
    read_reach(&f, &d);
    if (type != SN_JOINT_BALL &&
        (swing || turn || d.nreach > 0 || sn_json_get(r->json, node, "twist") != NULL))
        sn_fields_fail(&f, node, "only a ball has \"swing\", \"twist\", \"turn\" and \"reach\"");
    if (sn_fields_numbers(&f, "stance", 4, d.stance) && !sn_joint_turns_freely(type))
        sn_fields_fail(&f, node, "only a ball, euler or free joint has a \"stance\"");
    if (type == SN_JOINT_FUNCTION) {
        sn_functions_read(&f, &functions, &numbers);
        d.functions = &functions;
    } else if (sn_json_get(r->json, node, "moves") != NULL ||
               sn_json_get(r->json, node, "coordinates") != NULL) {
        sn_fields_fail(&f, node, "only a function joint has \"coordinates\" and \"moves\"");
    }
    if (f.status == SN_OK) {
        int nv = sn_desc_nv(&d);
        read_limits(&f, nv, &d);
        read_each(&f, "locked", true, nv, &d);
        read_each(&f, "strength", false, nv, &d);
        read_speed(&f, nv, &d);
        (void)sn_fields_number(&f, "mass", &d.mass);
        (void)sn_fields_numbers(&f, "centre", 3, d.centre);
    }
    if (f.status != SN_OK) {
        sn_release(r->allocator, numbers.item);
        return f.status;
    }

    const sn_json_node *parent = sn_json_get(r->json, node, "parent");
    r->parent[index] = parent != NULL && parent->type == SN_JSON_STRING ? parent : NULL;
    // a builder out of memory says so at the end
    if (parent != NULL && parent->type != SN_JSON_STRING && parent->type != SN_JSON_NULL)
        sn_fields_fail(&f, parent, "\"parent\" must be a joint's name, or null");
    else
        (void)sn_builder_joint_at(r->builder, &d, node->line);
    sn_release(r->allocator, numbers.item);
    return f.status;
}

static const char *entry_name(const void *owner, int i) {
    const sn_builder *builder = owner;
    return builder->names + builder->joint[i].name;
}

static sn_status resolve_parents(reading *r) {
    sn_builder *b = r->builder;
    for (size_t i = 0; i < b->njoint; i++) (void)sn_names_add(&r->names, (int)i, entry_name, b);
    for (size_t i = 0; i < b->njoint; i++) {
        if (r->parent[i] == NULL) continue;
        int parent = sn_names_find(&r->names, r->parent[i]->string, entry_name, b);
        if (parent < 0)
            return sn_fail(r->error, SN_ERR_MODEL, r->parent[i]->line,
                           "joint \"%.80s\": there is no joint \"%.80s\" to be its parent",
                           entry_name(b, (int)i), r->parent[i]->string);
        b->joint[i].desc.parent = parent;
    }
    return SN_OK;
}

static sn_status read_marker(reading *r, const sn_json_node *node, size_t index) {
    sn_fields f = fields_of(r, node, "marker", index);
    if (node->type != SN_JSON_OBJECT) return sn_fields_fail(&f, node, "it must be an object");
    sn_fields_known(&f, marker_keys);
    const char *name = NULL, *joint = NULL;
    sn_marker_desc d = {.weight = 1};
    if (!sn_fields_string(&f, "name", &name)) sn_fields_fail(&f, node, "it has no \"name\"");
    if (!sn_fields_string(&f, "joint", &joint)) sn_fields_fail(&f, node, "it has no \"joint\"");
    (void)sn_fields_numbers(&f, "position", 3, d.position);
    (void)sn_fields_number(&f, "weight", &d.weight);
    if (f.status != SN_OK) return f.status;
    d.name = name;
    d.joint = sn_names_find(&r->names, joint, entry_name, r->builder);
    if (d.joint < 0) return sn_fields_fail(&f, node, "there is no joint \"%.80s\"", joint);
    (void)sn_builder_marker_at(r->builder, &d, node->line);
    return SN_OK;
}

static sn_status read_joints(reading *r, const sn_json_node *joints) {
    size_t count = joints->count;
    if (count > SN_MAX_JOINTS)
        return sn_fail(r->error, SN_ERR_SIZE, joints->line, "more than %d joints", SN_MAX_JOINTS);
    for (int pass = 0; pass < 2; pass++) {
        sn_layout layout = {.block = r->block};
        r->parent = sn_layout_take(&layout, count + 1, sizeof *r->parent);
        sn_names_layout(&r->names, count, &layout);
        if (pass == 1) break;
        r->block = sn_acquire(r->allocator, layout.used);
        if (r->block == NULL) return sn_fail_memory(r->error);
    }
    const sn_json_node *at = sn_json_first(r->json, joints);
    for (size_t i = 0; i < count; i++, at = sn_json_next(r->json, at)) SN_TRY(read_joint(r, at, i));
    if (r->builder->status != SN_OK) return SN_OK;  // said by sn_builder_finish
    return resolve_parents(r);
}

static sn_status read_file(reading *r) {
    const sn_json_node *root = sn_json_root(r->json);
    sn_fields f = {.json = r->json,
                   .object = root,
                   .owner = "model",
                   .error = r->error,
                   .blame = SN_ERR_MODEL};
    if (root->type != SN_JSON_OBJECT)
        return sn_fields_fail(&f, root, "the file must hold one object, not %s",
                              sn_json_type_text(root->type));
    sn_fields_known(&f, model_keys);
    double version = 1;
    const char *name = "";
    (void)sn_fields_number(&f, "sinew", &version);
    (void)sn_fields_string(&f, "name", &name);
    if (version != 1)
        sn_fields_fail(&f, root, "version %g of the format is not known; this reads 1", version);
    const sn_json_node *joints = sn_json_get(r->json, root, "joints");
    const sn_json_node *markers = sn_json_get(r->json, root, "markers");
    if (joints == NULL || joints->type != SN_JSON_ARRAY)
        sn_fields_fail(&f, joints == NULL ? root : joints, "it needs an array \"joints\"");
    if (markers != NULL && markers->type != SN_JSON_ARRAY)
        sn_fields_fail(&f, markers, "\"markers\" must be an array");
    const sn_json_node *couplings = sn_json_get(r->json, root, "couplings");
    if (couplings != NULL && couplings->type != SN_JSON_ARRAY)
        sn_fields_fail(&f, couplings, "\"couplings\" must be an array");
    const sn_json_node *loops = sn_json_get(r->json, root, "loops");
    if (loops != NULL && loops->type != SN_JSON_ARRAY)
        sn_fields_fail(&f, loops, "\"loops\" must be an array");
    const sn_json_node *shapes = sn_json_get(r->json, root, "shapes");
    const sn_json_node *excluded = sn_json_get(r->json, root, "excluded");
    if (shapes != NULL && shapes->type != SN_JSON_ARRAY)
        sn_fields_fail(&f, shapes, "\"shapes\" must be an array");
    if (excluded != NULL && excluded->type != SN_JSON_ARRAY)
        sn_fields_fail(&f, excluded, "\"excluded\" must be an array");
    const sn_json_node *frames = sn_json_get(r->json, root, "frames");
    if (frames != NULL && frames->type != SN_JSON_ARRAY)
        sn_fields_fail(&f, frames, "\"frames\" must be an array");
    if (f.status != SN_OK) return f.status;

    sn_status status = sn_builder_create(name, r->allocator, &r->builder, NULL);
    if (status != SN_OK) return sn_fail(r->error, status, 0, "%s", sn_status_text(status));
    SN_TRY(read_joints(r, joints));
    if (r->builder->status != SN_OK) return SN_OK;
    const sn_json_node *at = markers != NULL ? sn_json_first(r->json, markers) : NULL;
    for (size_t i = 0; at != NULL; i++, at = sn_json_next(r->json, at))
        SN_TRY(read_marker(r, at, i));
    if (couplings != NULL && r->builder->status == SN_OK)
        SN_TRY(sn_couplings_read(r->json, couplings, r->builder, &r->names, r->error));
    if (loops != NULL && r->builder->status == SN_OK)
        SN_TRY(sn_loops_read(r->json, loops, r->builder, &r->names, r->error));
    if (r->builder->status != SN_OK) return SN_OK;
    SN_TRY(sn_shapes_read(r->json, shapes, excluded, r->builder, &r->names, r->error));
    if (r->builder->status != SN_OK) return SN_OK;
    return sn_frames_read(r->json, frames, r->builder, &r->names, r->error);
}

sn_status sn_model_read_json(const char *text, size_t length, const sn_allocator *allocator,
                             sn_model **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_json *json;
    SN_TRY(sn_json_parse(text, length, allocator, &json, error));
    reading r = {.json = json, .allocator = allocator, .error = error};
    sn_status status = read_file(&r);
    if (status == SN_OK) status = sn_builder_finish(r.builder, out, error);
    sn_builder_destroy(r.builder);
    sn_release(allocator, r.block);
    sn_json_destroy(json);
    return status;
}

static bool differ(const double *x, const double *y, int n) {
    return memcmp(x, y, (size_t)n * sizeof *x) != 0;
}

static void add_limits(sn_text *t, const sn_joint_desc *d, int nv) {
    bool any = false;
    for (int i = 0; i < nv; i++) any = any || d->lower[i] != -INFINITY || d->upper[i] != INFINITY;
    if (!any) return;
    sn_text_add(t, ", \"limits\": [");
    for (int i = 0; i < nv; i++) {
        sn_text_add(t, i > 0 ? ",[" : "[");
        sn_text_add_number(t, d->lower[i]);  // an infinite one becomes null
        sn_text_add(t, ",");
        sn_text_add_number(t, d->upper[i]);
        sn_text_add(t, "]");
    }
    sn_text_add(t, "]");
}

static void add_each(sn_text *t, const sn_joint_desc *d, int nv) {
    bool locked = false, strong = false;
    for (int i = 0; i < nv; i++) {
        locked = locked || d->locked[i];
        strong = strong || d->strength[i] != 1;
    }
    if (locked) {
        sn_text_add(t, ", \"locked\": [");
        for (int i = 0; i < nv; i++) {
            if (i > 0) sn_text_add(t, ",");
            sn_text_add(t, d->locked[i] ? "true" : "false");
        }
        sn_text_add(t, "]");
    }
    if (strong) sn_text_add_numbers(t, "strength", d->strength, nv);
}

static void add_joint(sn_text *t, const sn_model *m, int i) {
    const sn_joint_desc *d = &m->desc[i];
    const sn_joint_desc plain = sn_joint_default(d->type);
    int nv = sn_desc_nv(d);
    sn_text_add(t, i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ");
    sn_text_add_json_string(t, d->name);
    sn_text_add(t, ", \"parent\": ");
    if (d->parent < 0) {
        sn_text_add(t, "null");
    } else {
        sn_text_add_json_string(t, m->desc[d->parent].name);
    }
    sn_text_add(t, ", \"type\": \"");
    sn_text_add(t, sn_joint_type_name(d->type));
    sn_text_add(t, "\"");
    if (d->type == SN_JOINT_EULER) {
        sn_text_add(t, ", \"order\": \"");
        sn_text_add(t, d->order);
        sn_text_add(t, "\"");
    }
    sn_text_add_numbers(t, "position", d->position, 3);
    if (differ(d->rotation, plain.rotation, 4)) sn_text_add_numbers(t, "rotation", d->rotation, 4);
    bool always = d->type == SN_JOINT_HINGE || d->type == SN_JOINT_SLIDER ||
                  d->type == SN_JOINT_SCREW || d->type == SN_JOINT_UNIVERSAL;
    if (always || differ(d->axis, plain.axis, 3)) sn_text_add_numbers(t, "axis", d->axis, 3);
    if (d->type == SN_JOINT_UNIVERSAL) sn_text_add_numbers(t, "axis2", d->axis2, 3);
    if (d->type == SN_JOINT_SCREW) {
        sn_text_add(t, ", \"pitch\": ");
        sn_text_add_number(t, d->pitch);
    }
    if (d->type == SN_JOINT_FUNCTION) sn_functions_write(t, d->functions);
    if (d->type == SN_JOINT_BALL && d->swing != INFINITY) {
        sn_text_add(t, ", \"swing\": ");
        sn_text_add_number(t, d->swing);
    }
    if (d->type == SN_JOINT_BALL && d->turn != INFINITY) {
        sn_text_add(t, ", \"turn\": ");
        sn_text_add_number(t, d->turn);
    }
    if (d->type == SN_JOINT_BALL && (d->twist[0] != -INFINITY || d->twist[1] != INFINITY))
        sn_text_add_numbers(t, "twist", d->twist, 2);  // an infinite one becomes null
    for (int k = 0; d->type == SN_JOINT_BALL && k < d->nreach; k++) {
        sn_text_add(t, k == 0 ? ", \"reach\": [" : ",");
        for (int c = 0; c < 3; c++) {
            sn_text_add(t, c == 0 ? "[" : ",");
            sn_text_add_number(t, d->reach[k][c]);
        }
        sn_text_add(t, k + 1 == d->nreach ? "]]" : "]");
    }
    add_limits(t, d, nv);
    add_each(t, d, nv);
    if (differ(d->speed, plain.speed, nv)) sn_text_add_numbers(t, "speed", d->speed, nv);
    if (d->mass != 0) {
        sn_text_add(t, ", \"mass\": ");
        sn_text_add_number(t, d->mass);
    }
    if (differ(d->centre, plain.centre, 3)) sn_text_add_numbers(t, "centre", d->centre, 3);
    if (sn_joint_turns_freely(d->type) && differ(d->stance, plain.stance, 4))
        sn_text_add_numbers(t, "stance", d->stance, 4);
    sn_text_add(t, "}");
}

sn_status sn_model_text(const sn_model *model, const sn_allocator *allocator, char **out) {
    if (out != NULL) *out = NULL;
    if (model == NULL || out == NULL) return SN_ERR_ARGUMENT;
    sn_text t = sn_text_begin(allocator);
    sn_text_add(&t, "{\"sinew\": 1, \"name\": ");
    sn_text_add_json_string(&t, model->name);
    sn_text_add(&t, ",\n \"joints\": [");
    for (int i = 0; i < model->njoint; i++) add_joint(&t, model, i);
    sn_text_add(&t, "],\n \"markers\": [");
    for (int i = 0; i < model->nmarker; i++) {
        const sn_marker_desc *d = &model->marker[i];
        sn_text_add(&t, i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ");
        sn_text_add_json_string(&t, d->name);
        sn_text_add(&t, ", \"joint\": ");
        sn_text_add_json_string(&t, model->desc[d->joint].name);
        sn_text_add_numbers(&t, "position", d->position, 3);
        sn_text_add(&t, ", \"weight\": ");
        sn_text_add_number(&t, d->weight);
        sn_text_add(&t, "}");
    }
    sn_text_add(&t, "]");
    sn_couplings_write(&t, model);
    sn_loops_write(&t, model);
    sn_shapes_write(&t, model);
    sn_frames_write(&t, model);
    sn_text_add(&t, "}\n");
    if (t.status != SN_OK) {
        sn_status status = t.status;
        sn_text_end(&t);
        return status;
    }
    *out = t.data;
    return SN_OK;
}

sn_status sn_model_write_json(const sn_model *model, const sn_sink *sink,
                              const sn_allocator *allocator, sn_error *error) {
    SN_NEED(model, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    char *text;
    sn_status status = sn_model_text(model, allocator, &text);
    if (status == SN_OK && !sink->write(sink->user, text, strlen(text))) status = SN_ERR_FILE;
    sn_release(allocator, text);
    return status == SN_OK ? SN_OK : sn_fail(error, status, 0, "%s", sn_status_text(status));
}
