// SPDX-License-Identifier: MIT
// Marker sets: which marker sits on which joint, and where.
#include "take/marker_set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_fields.h"
#include "base/text.h"
#include "model/model.h"
#include "take/stretch.h"

sn_status sn_marker_set_create(const char *name, const sn_marker_place *places, int count,
                               const sn_allocator *allocator, sn_marker_set **out,
                               sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(name, error);
    SN_NEED(out, error);
    if (count > 0) SN_NEED(places, error);
    if (count < 0 || count > SN_MAX_MARKERS) return sn_fail_size(error, "count");
    sn_marker_set *self = NULL;
    sn_marker_place *place = NULL;
    void *owner = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        self = sn_layout_take(&layout, 1, sizeof *self);
        place = sn_layout_take(&layout, (size_t)count, sizeof *place);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, allocator, &owner);
        if (block == NULL) return sn_fail_memory(error);
        layout = (sn_layout){.block = block};
    }
    *self = (sn_marker_set){
        .allocator = sn_allocator_of(allocator), .owner = owner, .count = count, .place = place};
    sn_copy_name(self->name, sizeof self->name, name);
    if (count > 0) memcpy(place, places, (size_t)count * sizeof *place);
    *out = self;
    return SN_OK;
}

void sn_marker_set_destroy(sn_marker_set *set) {
    if (set == NULL) return;
    sn_allocator allocator = set->allocator;
    sn_release(&allocator, set->owner);
}

const char *sn_marker_set_name(const sn_marker_set *set) { return set != NULL ? set->name : NULL; }
int sn_marker_set_count(const sn_marker_set *set) { return set != NULL ? set->count : 0; }

const sn_marker_place *sn_marker_set_place(const sn_marker_set *set, int i) {
    if (set == NULL) return NULL;
    return i < 0 || i >= set->count ? NULL : &set->place[i];
}

void sn_copy_name(char *out, size_t size, const char *name) {
    size_t n = strlen(name);
    if (n >= size) n = size - 1;
    memcpy(out, name, n);
    out[n] = '\0';
}

sn_status sn_marker_set_of_model(const sn_model *model, const sn_allocator *allocator,
                                 sn_marker_set **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(model, error);
    SN_NEED(out, error);
    int count = sn_model_nmarker(model);
    sn_marker_place *place = sn_acquire(allocator, (size_t)(count > 0 ? count : 1) * sizeof *place);
    if (place == NULL) return sn_fail_memory(error);
    for (int i = 0; i < count; i++) {
        const sn_marker_desc *d = sn_model_marker(model, i);
        place[i] = (sn_marker_place){.placed = true, .weight = d->weight};
        sn_copy_name(place[i].name, sizeof place[i].name, d->name);
        sn_copy_name(place[i].joint, sizeof place[i].joint, sn_model_joint(model, d->joint)->name);
        memcpy(place[i].position, d->position, sizeof d->position);
    }
    sn_status status =
        sn_marker_set_create(sn_model_name(model), place, count, allocator, out, error);
    sn_release(allocator, place);
    return status;
}

// --- files -----------------------------------------------------------------------------------------

static sn_status read_place(const sn_json *json, const sn_json_node *node, int index,
                            const sn_json_node *joints, sn_marker_place *out, sn_error *error) {
    static const char *const keys[] = {"name", "joint", "position", "weight", NULL};
    sn_fields fields = {.json = json, .object = node, .error = error, .blame = SN_ERR_PARSE};
    if (node->type != SN_JSON_OBJECT)
        return sn_fail(error, SN_ERR_PARSE, node->line, "marker %d is %s, not an object", index,
                       sn_json_type_text(node->type));
    (void)snprintf(fields.owner, sizeof fields.owner, "marker %d", index);
    const char *name = NULL, *joint = NULL;
    *out = (sn_marker_place){.weight = 1};
    sn_fields_known(&fields, keys);
    bool named = sn_fields_string(&fields, "name", &name);
    if (named) (void)snprintf(fields.owner, sizeof fields.owner, "marker \"%.60s\"", name);
    bool placed = sn_fields_numbers(&fields, "position", 3, out->position);
    (void)sn_fields_number(&fields, "weight", &out->weight);
    // a model file may name a joint by its number
    const sn_json_node *at = sn_json_get(json, node, "joint");
    if (at != NULL && at->type == SN_JSON_NUMBER && joints != NULL) {
        const sn_json_node *j = sn_json_first(json, joints);
        double k = 0;
        for (; j != NULL && k < at->number; k++) j = sn_json_next(json, j);
        const sn_json_node *n = j != NULL && k == at->number ? sn_json_get(json, j, "name") : NULL;
        joint = n != NULL && n->type == SN_JSON_STRING ? n->string : NULL;
    } else {
        (void)sn_fields_string(&fields, "joint", &joint);
    }
    SN_TRY(fields.status);
    if (name == NULL || name[0] == '\0')
        return sn_fail(error, SN_ERR_PARSE, node->line, "marker %d has no name", index);
    if (joint == NULL)
        return sn_fail(error, SN_ERR_PARSE, node->line, "marker \"%.60s\" has no joint", name);
    if (strlen(name) > SN_MAX_LABEL || strlen(joint) > SN_MAX_NAME)
        return sn_fail(error, SN_ERR_PARSE, node->line, "marker \"%.60s\": a name is too long",
                       name);
    if (!(out->weight >= 0) || out->weight > 1e12)
        return sn_fail(error, SN_ERR_VALUE, node->line,
                       "marker \"%.60s\": the weight must be 0 or above", name);
    sn_copy_name(out->name, sizeof out->name, sn_label_name(name));
    sn_copy_name(out->joint, sizeof out->joint, joint);
    out->placed = placed;
    return SN_OK;
}

static sn_status read_places(const sn_json *json, const sn_json_node *list,
                             const sn_json_node *joints, sn_marker_place *place, sn_error *error) {
    int i = 0;
    for (const sn_json_node *n = sn_json_first(json, list); n != NULL; n = sn_json_next(json, n)) {
        SN_TRY(read_place(json, n, i, joints, &place[i], error));
        for (int k = 0; k < i; k++)
            if (strcmp(place[k].name, place[i].name) == 0)
                return sn_fail(error, SN_ERR_PARSE, n->line, "marker \"%s\" stands here twice",
                               place[i].name);
        i++;
    }
    return SN_OK;
}

sn_status sn_marker_set_read_json(const char *text, size_t length, const sn_allocator *allocator,
                                  sn_marker_set **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    if (length > 0) SN_NEED(text, error);
    SN_NEED(out, error);
    if (text == NULL) text = "";
    sn_json *json = NULL;
    SN_TRY(sn_json_parse(text, length, allocator, &json, error));
    const sn_json_node *root = sn_json_root(json);
    const sn_json_node *list = sn_json_get(json, root, "markers");
    const sn_json_node *joints = sn_json_get(json, root, "joints");
    const sn_json_node *name = sn_json_get(json, root, "name");
    sn_status wrong = SN_OK;
    if (list == NULL || list->type != SN_JSON_ARRAY || list->count == 0)
        wrong = sn_fail(error, SN_ERR_PARSE, root->line,
                        "no \"markers\": [...] here, so this is no marker set");
    else if (list->count > SN_MAX_MARKERS)
        wrong =
            sn_fail(error, SN_ERR_SIZE, list->line, "%zu markers are more than the %d that can be",
                    (size_t)list->count, SN_MAX_MARKERS);
    if (wrong != SN_OK) {
        sn_json_destroy(json);
        return wrong;
    }
    sn_marker_place *place = sn_acquire(allocator, list->count * sizeof *place);
    sn_status status =
        place == NULL ? sn_fail_memory(error) : read_places(json, list, joints, place, error);
    const char *called = name != NULL && name->type == SN_JSON_STRING ? name->string : "markers";
    if (status == SN_OK) {
        status = sn_marker_set_create(called, place, (int)list->count, allocator, out, error);
        if (status != SN_OK) (void)sn_fail_memory(error);
    }
    sn_release(allocator, place);
    sn_json_destroy(json);
    return status;
}

sn_status sn_marker_set_write_json(const sn_marker_set *set, const sn_sink *sink, sn_error *error) {
    SN_NEED(set, error);
    SN_NEED(sink, error);
    SN_NEED(sink->write, error);
    sn_text text = sn_text_begin(&set->allocator);
    sn_text_add(&text, "{\n  \"name\": ");
    sn_text_add_json_string(&text, set->name);
    sn_text_add(&text, ",\n  \"markers\": [");
    for (int i = 0; i < set->count; i++) {
        const sn_marker_place *p = &set->place[i];
        sn_text_add(&text, i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
        sn_text_add_json_string(&text, p->name);
        sn_text_add(&text, ", \"joint\": ");
        sn_text_add_json_string(&text, p->joint);
        for (int k = 0; p->placed && k < 3; k++) {
            sn_text_add(&text, k == 0 ? ", \"position\": [" : ", ");
            sn_text_add_number(&text, p->position[k]);
        }
        if (p->placed) sn_text_add(&text, "]");
        sn_text_add(&text, ", \"weight\": ");
        sn_text_add_number(&text, p->weight);
        sn_text_add(&text, "}");
    }
    sn_text_add(&text, "\n  ]\n}\n");
    sn_status status = text.status;
    if (status == SN_OK && !sink->write(sink->user, text.data, text.length)) status = SN_ERR_FILE;
    sn_text_end(&text);
    return status == SN_OK ? SN_OK : sn_fail(error, status, 0, "%s", sn_status_text(status));
}

// --- onto a model ------------------------------------------------------------------------------------

static sn_status unknown_joint(const sn_model *model, const sn_marker_place *p,
                               const sn_allocator *allocator, sn_error *error) {
    int n = sn_model_njoint(model);
    const char **names = sn_acquire(allocator, (size_t)n * sizeof *names);
    int near = -1;
    for (int j = 0; names != NULL && j < n; j++) names[j] = sn_model_joint(model, j)->name;
    if (names != NULL) near = sn_nearest_name(p->joint, names, n);
    sn_status status =
        near >= 0
            ? sn_fail(error, SN_ERR_MODEL, 0,
                      "marker %s sits on \"%.80s\", which the model lacks; did you mean \"%.80s\"?",
                      p->name, p->joint, names[near])
            : sn_fail(error, SN_ERR_MODEL, 0, "marker %s sits on \"%.80s\", which the model lacks",
                      p->name, p->joint);
    sn_release(allocator, names);
    return status;
}

static sn_status add_markers(const sn_marker_set *set, const sn_model *model, sn_builder *builder,
                             const sn_allocator *allocator, sn_error *error) {
    for (int i = 0; i < set->count; i++) {
        const sn_marker_place *p = &set->place[i];
        sn_marker_desc d = {.name = p->name, .weight = p->weight};
        d.joint = sn_model_find_joint(model, p->joint);
        if (d.joint < 0) return unknown_joint(model, p, allocator, error);
        memcpy(d.position, p->position, sizeof d.position);
        (void)sn_builder_marker(builder, &d);
    }
    return SN_OK;
}

static int only_child(const sn_model *model, int joint) {
    int child = -1, n = 0;
    for (int j = 0; j < sn_model_njoint(model); j++)
        if (sn_model_parent(model, j) == joint) child = j, n++;
    return n == 1 ? child : -1;
}

// Does the joint move the root: from the ground up, before a marker or a branch?
static bool moves_root(const sn_marker_set *set, const sn_model *model, int joint) {
    for (int j = sn_model_root(model); j >= 0; j = only_child(model, j)) {
        if (j == joint) return true;
        for (int i = 0; i < set->count; i++)
            if (strcmp(set->place[i].joint, sn_model_joint(model, j)->name) == 0) return false;
    }
    return false;
}

sn_status sn_marker_set_stretch(const sn_marker_set *set, const sn_model *model,
                                sn_limit_use limits, const sn_left_range *left,
                                const sn_mat3 *stretch, const sn_allocator *allocator,
                                sn_model **out, sn_error *error) {
    sn_builder *builder;
    *out = NULL;
    if (sn_builder_create(sn_model_name(model), allocator, &builder, error) != SN_OK)
        return sn_fail_memory(error);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        sn_joint_desc d = *sn_model_joint(model, j);
        for (int k = 0; limits == SN_LIMITS_OFF && k < SN_MAX_JOINT_DOFS; k++) {
            d.lower[k] = -INFINITY;
            d.upper[k] = INFINITY;
        }
        for (int k = 0; limits == SN_LIMITS_AUTO && k < SN_MAX_JOINT_DOFS; k++)
            if (d.lower[k] < d.upper[k] && moves_root(set, model, j)) {
                d.lower[k] = -INFINITY;
                d.upper[k] = INFINITY;
            }
        for (int k = 0; left != NULL && k < sn_model_joint_nv(model, j); k++) {
            const sn_left_range *ends = &left[sn_model_v_index(model, j) + k];
            if (ends->lower) d.lower[k] = -INFINITY;
            if (ends->upper) d.upper[k] = INFINITY;
        }
        if (limits == SN_LIMITS_OFF) {
            d.swing = INFINITY;
            d.twist[0] = -INFINITY;
            d.twist[1] = INFINITY;
            d.turn = INFINITY;
            d.nreach = 0;
        }
        sn_joint_functions room;
        if (stretch != NULL && d.parent >= 0) sn_stretch_joint(&d, &stretch[d.parent], &room);
        (void)sn_builder_joint(builder, &d);
    }
    sn_status status = add_markers(set, model, builder, allocator, error);
    sn_builder_couple_as(builder, model);
    if (stretch != NULL) sn_stretch_rest(builder, stretch);
    if (status == SN_OK) status = sn_builder_finish(builder, out, error);
    sn_builder_destroy(builder);
    return status;
}

sn_status sn_marker_set_apply(const sn_marker_set *set, const sn_model *model, sn_limit_use limits,
                              const double *factor, const sn_allocator *allocator, sn_model **out,
                              sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(set, error);
    SN_NEED(model, error);
    SN_NEED(out, error);
    if ((unsigned)limits > SN_LIMITS_OFF)
        return sn_fail(error, SN_ERR_ARGUMENT, 0, "%s", sn_status_text(SN_ERR_ARGUMENT));
    sn_mat3 *stretch = NULL;
    size_t njoint = (size_t)sn_model_njoint(model);
    if (factor != NULL) {
        stretch = sn_acquire(allocator, (njoint + 1) * sizeof *stretch);
        if (stretch == NULL) return sn_fail_memory(error);
        for (size_t j = 0; j < njoint; j++) stretch[j] = m3_diagonal(factor[j]);
    }
    sn_status status =
        sn_marker_set_stretch(set, model, limits, NULL, stretch, allocator, out, error);
    sn_release(allocator, stretch);
    return status;
}
