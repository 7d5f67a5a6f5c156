// SPDX-License-Identifier: MIT
// What the tests of models share.
#pragma once

#include <pthread.h>

#include "math/rotation.h"
#include "support.h"

static const char example[] =
    "{\"sinew\": 1, \"name\": \"arm\", \"joints\": [\n"
    " {\"name\": \"base\", \"parent\": null, \"type\": \"free\", \"position\": [0,0,0],"
    " \"rotation\": [1,0,0,0]},\n"
    " {\"name\": \"shoulder\", \"parent\": \"base\", \"type\": \"euler\", \"order\": \"ZYX\","
    " \"position\": [0,0.3,0], \"limits\": [[-1,1],[-2,2],[-1,1]]},\n"
    " {\"name\": \"elbow\", \"parent\": \"shoulder\", \"type\": \"hinge\", \"axis\": [1,0,0],"
    " \"limits\": [[0,2.5]], \"locked\": false, \"strength\": 1}],\n"
    " \"markers\": [{\"name\": \"HAND\", \"joint\": \"elbow\", \"position\": [0,0.25,0],"
    " \"weight\": 1}]}";

static sn_model *read_model(const char *text) {
    sn_model *model;
    sn_error error = {0};
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return model;
}

static void same_numbers(const double *x, const double *y, int n) {
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
}

static int dofs(const sn_model *m, int i) {
    int next = i + 1 < sn_model_njoint(m) ? sn_model_v_index(m, i + 1) : sn_model_nv(m);
    return next - sn_model_v_index(m, i);
}

// All that a joint of this type has.
static void same_joint(const sn_joint_desc *a, const sn_joint_desc *b, int nv) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->type, b->type);
    same_numbers(a->position, b->position, 3);
    same_numbers(a->rotation, b->rotation, 4);
    same_numbers(a->axis, b->axis, 3);
    if (a->type == SN_JOINT_UNIVERSAL) same_numbers(a->axis2, b->axis2, 3);
    if (a->type == SN_JOINT_SCREW) same_numbers(&a->pitch, &b->pitch, 1);
    if (a->type == SN_JOINT_EULER) assert_string_equal(a->order, b->order);
    same_numbers(a->lower, b->lower, nv);
    same_numbers(a->upper, b->upper, nv);
    same_numbers(a->strength, b->strength, nv);
    for (int i = 0; i < nv; i++) assert_int_equal(a->locked[i], b->locked[i]);
}

static void same_model(const sn_model *a, const sn_model *b) {
    assert_string_equal(sn_model_name(a), sn_model_name(b));
    assert_int_equal(sn_model_njoint(a), sn_model_njoint(b));
    assert_int_equal(sn_model_nmarker(a), sn_model_nmarker(b));
    assert_int_equal(sn_model_nv(a), sn_model_nv(b));
    assert_int_equal(sn_model_root(a), sn_model_root(b));
    assert_int_equal(sn_model_depth(a), sn_model_depth(b));
    for (int i = 0; i < sn_model_njoint(a); i++)
        same_joint(sn_model_joint(a, i), sn_model_joint(b, i), dofs(a, i));
    for (int i = 0; i < sn_model_nmarker(a); i++) {
        const sn_marker_desc *x = sn_model_marker(a, i), *y = sn_model_marker(b, i);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->joint, y->joint);
        same_numbers(x->position, y->position, 3);
        same_numbers(&x->weight, &y->weight, 1);
    }
}

static void write_and_read(const sn_model *m) {
    char *first, *second;
    assert_int_equal(sn_model_text(m, NULL, &first), SN_OK);
    sn_model *again = read_model(first);
    assert_int_equal(sn_model_text(again, NULL, &second), SN_OK);
    assert_string_equal(first, second);
    same_model(m, again);
    sn_release(NULL, first);
    sn_release(NULL, second);
    sn_model_destroy(again);
}

static sn_model *build_two(const char *model_name, const sn_joint_desc *a, const sn_joint_desc *b,
                           const sn_marker_desc *marker, sn_status expected, sn_error *error) {
    sn_builder *builder;
    sn_model *model;
    assert_int_equal(sn_builder_create(model_name, NULL, &builder, NULL), SN_OK);
    assert_int_equal(sn_builder_joint(builder, a), 0);
    if (b != NULL) assert_int_equal(sn_builder_joint(builder, b), 1);
    if (marker != NULL) assert_int_equal(sn_builder_marker(builder, marker), 0);
    *error = (sn_error){0};
    sn_status status = sn_builder_finish(builder, &model, error);
    if (status != expected) fail_msg("status %d: %s", (int)status, error->text);
    assert_true((model != NULL) == (status == SN_OK));
    sn_builder_destroy(builder);
    return model;
}

static sn_joint_desc joint(const char *name, int parent, sn_joint_type type) {
    sn_joint_desc d = sn_joint_default(type);
    d.name = name;
    d.parent = parent;
    return d;
}
