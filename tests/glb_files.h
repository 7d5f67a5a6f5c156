// SPDX-License-Identifier: MIT
// What the tests of reading GLB share.
#pragma once

#include "memory_sink.h"

#include "sinew/files.h"

// --- written, then read ---------------------------------------------------------------------------

static void write_scene(const sn_glb_scene *scene, memory_sink *sink) {
    sn_error error = {0};
    memory_sink_begin(sink);
    if (sn_glb_write(scene, &sink->base, NULL, &error) != SN_OK) fail_msg("%s", error.text);
}

static sn_glb_content read_bytes(const void *bytes, size_t length) {
    sn_glb_content c;
    sn_error error = {0};
    if (sn_glb_read(bytes, length, NULL, &c, &error) != SN_OK) fail_msg("%s", error.text);
    return c;
}

// The model with markers on random joints.
static sn_model *with_markers(uint64_t *state, sn_model *plain, int nmarker) {
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("a figure", NULL, &b, NULL), SN_OK);
    for (int j = 0; j < sn_model_njoint(plain); j++)
        (void)sn_builder_joint(b, sn_model_joint(plain, j));
    for (int i = 0; i < nmarker; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "M%d", i);
        sn_marker_desc d = {name, below(state, sn_model_njoint(plain)), {0}, 1};
        for (int k = 0; k < 3; k++) d.position[k] = uniform(state, -0.2, 0.2);
        (void)sn_builder_marker(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_model_destroy(plain);
    return model;
}

static sn_motion *random_motion(uint64_t *state, const sn_model *model, int nframe, double rate) {
    sn_motion *motion;
    assert_int_equal(sn_motion_create(nframe, sn_model_nq(model), 1, rate, NULL, &motion, NULL),
                     SN_OK);
    for (int f = 0; f < nframe; f++) sn_model_sample(model, state, sn_motion_edit(motion, f));
    return motion;
}

static sn_workspace *workspace_of(const sn_model *model, sn_problem **problem) {
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(*problem, false, NULL, &ws, NULL), SN_OK);
    return ws;
}

static sn_vec3 turned(const sn_mat3 *R, sn_vec3 p) {
    return (sn_vec3){R->c[0].x * p.x + R->c[1].x * p.y + R->c[2].x * p.z,
                     R->c[0].y * p.x + R->c[1].y * p.y + R->c[2].y * p.z,
                     R->c[0].z * p.x + R->c[1].z * p.y + R->c[2].z * p.z};
}

static double apart(sn_vec3 a, sn_vec3 b) {
    return fmax(fmax(fabs(a.x - b.x), fabs(a.y - b.y)), fabs(a.z - b.z));
}

// The largest difference of joints (places and axes) and markers, at poses of the two models. The
// second is the first, turned.
static double distance(const sn_model *a, const double *qa, const sn_model *b, const double *qb,
                       const double rotation[4]) {
    sn_problem *pa, *pb;
    sn_workspace *wa = workspace_of(a, &pa), *wb = workspace_of(b, &pb);
    sn_mat3 up = sn_mat3_from_quat((sn_quat){rotation[0], rotation[1], rotation[2], rotation[3]});
    double worst = 0;
    assert_int_equal(sn_workspace_pose(wa, qa), SN_OK);
    assert_int_equal(sn_workspace_pose(wb, qb), SN_OK);
    for (int j = 0; j < sn_model_njoint(a); j++) {
        sn_frame x = sn_workspace_frame(wa, j), y = sn_workspace_frame(wb, j);
        worst = fmax(worst, apart(turned(&up, x.p), y.p));
        for (int k = 0; k < 3; k++) worst = fmax(worst, apart(turned(&up, x.R.c[k]), y.R.c[k]));
    }
    for (int i = 0; i < sn_model_nmarker(b); i++) {
        const sn_marker_desc *m = sn_model_marker(b, i);
        int own = sn_model_find_marker(a, m->name);
        assert_true(own >= 0);
        const sn_marker_desc *d = sn_model_marker(a, own);
        assert_int_equal(d->joint, m->joint);
        worst = fmax(worst, apart(turned(&up, sn_workspace_point(wa, d->joint, d->position)),
                                  sn_workspace_point(wb, m->joint, m->position)));
    }
    sn_workspace_destroy(wa);
    sn_workspace_destroy(wb);
    sn_problem_destroy(pa);
    sn_problem_destroy(pb);
    return worst;
}

static void same_tree(const sn_model *a, const sn_model *b) {
    assert_int_equal(sn_model_njoint(a), sn_model_njoint(b));
    for (int j = 0; j < sn_model_njoint(a); j++) {
        assert_string_equal(sn_model_joint(a, j)->name, sn_model_joint(b, j)->name);
        assert_int_equal(sn_model_parent(a, j), sn_model_parent(b, j));
    }
}

// Everything that is written is read back; the largest difference.
static double there_and_back(const sn_glb_scene *scene) {
    memory_sink sink;
    const sn_model *model = scene->model;
    write_scene(scene, &sink);
    sn_glb_content c = read_bytes(sink.bytes, sink.length);
    double worst = 0, *zero = calloc((size_t)sn_model_nq(model) + 1, sizeof *zero);
    double *rest = calloc((size_t)sn_model_nq(c.model) + 1, sizeof *rest);
    assert_true(zero != NULL && rest != NULL);
    same_tree(model, c.model);
    assert_string_equal(c.note, "");
    assert_int_equal(sn_model_nmarker(c.model), scene->fitted ? sn_model_nmarker(model) : 0);
    sn_model_zero(model, zero);
    sn_model_zero(c.model, rest);
    if (scene->motion == NULL)
        worst = distance(model, scene->q != NULL ? scene->q : zero, c.model, rest, scene->rotation);
    for (int f = 0; scene->motion != NULL && f < sn_motion_nframe(scene->motion); f++) {
        // what never moves has no keys
        const double *q = c.motion != NULL ? sn_motion_frame(c.motion, f) : rest;
        assert_non_null(q);
        worst = fmax(
            worst, distance(model, sn_motion_frame(scene->motion, f), c.model, q, scene->rotation));
    }
    if (c.motion != NULL) {
        assert_int_equal(sn_motion_nframe(c.motion), sn_motion_nframe(scene->motion));
        assert_near(sn_motion_rate(c.motion), sn_motion_rate(scene->motion), 2e-7);
    }
    free(zero);
    free(rest);
    sn_glb_content_destroy(&c);
    free(sink.bytes);
    return worst;
}
