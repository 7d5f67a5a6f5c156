// SPDX-License-Identifier: MIT
// A hash of the bits of many results: rotations, sines, and f, gradient and Hessian of a model with every
// kind of joint under every kind of task. Prints it; builds for different processors must agree.
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "sinew/sinew.h"

static uint64_t hash = 14695981039346656037u;

static void add(const double *x, size_t n) {
    unsigned char bytes[sizeof *x];
    for (size_t i = 0; i < n; i++) {
        memcpy(bytes, &x[i], sizeof bytes);
        for (size_t k = 0; k < sizeof bytes; k++) hash = (hash ^ bytes[k]) * 1099511628211u;
    }
}

static double wide(uint64_t *state) { return 4 * sn_random(state) - 2; }

static void rotations(uint64_t *state) {
    for (int i = 0; i < 20000; i++) {
        sn_vec3 v = {wide(state), wide(state), wide(state)};
        sn_quat q = {wide(state), wide(state), wide(state), wide(state)};
        sn_quat p = sn_quat_mul(sn_quat_exp(v), q);
        sn_mat3 R = sn_mat3_from_quat(p);
        sn_quat back = sn_quat_from_mat3(R);
        sn_vec3 log = sn_quat_log(p);
        double s[2];
        sn_sincos(wide(state) * (i % 3 == 0 ? 1e9 : 10), &s[0], &s[1]);
        add(&p.w, 1), add(&p.x, 1), add(&p.y, 1), add(&p.z, 1);
        for (int c = 0; c < 3; c++) add(&R.c[c].x, 1), add(&R.c[c].y, 1), add(&R.c[c].z, 1);
        add(&back.w, 1), add(&back.x, 1), add(&log.x, 1), add(&log.y, 1), add(&log.z, 1), add(s, 2);
    }
}

// A turn and a slide that follows it.
static const double x[] = {-2, 0, 1, 3}, y[] = {0.1, 0, 0.2, 0.15}, line[] = {1, 0};
static const sn_joint_functions knee = {
    .ncoordinate = 1,
    .nmove = 2,
    .move = {{.axis = {0, 1, 0},
              .function = {.type = SN_FUNCTION_SPLINE,
                           .scale = 1,
                           .nargument = 1,
                           .nx = 4,
                           .ny = 4,
                           .x = x,
                           .y = y}},
             {.turns = true,
              .axis = {1, 0, 0},
              .function = {
                  .type = SN_FUNCTION_LINEAR, .scale = 1, .nargument = 1, .ny = 2, .y = line}}}};

// A task of one's own: half the square of a height.
static double height(void *user, const sn_frame *frame, double *gradient) {
    (void)user;
    double z = frame->p.z;
    for (int i = 0; i < 6 && gradient != NULL; i++) gradient[i] = i == 5 ? z : 0;
    return z * z / 2;
}

static int problems(uint64_t *state) {
    static double q[200], rest[200], g[200], H[200 * 200];
    sn_builder *builder;
    sn_model *model;
    if (sn_builder_create("all", NULL, &builder, NULL) != SN_OK) return 1;
    for (int i = 0; i < 2 * SN_JOINT_TYPE_COUNT; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "j%d", i);
        sn_joint_desc d = sn_joint_default((sn_joint_type)(i % SN_JOINT_TYPE_COUNT));
        d.name = name;
        d.parent = i == 0 ? -1 : (i - 1) / 2;
        for (int c = 0; c < 3; c++) d.position[c] = wide(state), d.axis[c] = wide(state);
        d.pitch = 0.1;
        if (d.type == SN_JOINT_FUNCTION) d.functions = &knee;
        d.mass = 1 + i;
        for (int c = 0; c < 3; c++) d.centre[c] = wide(state);
        sn_shape_desc shape = sn_shape_default(SN_SHAPE_CAPSULE);
        shape.joint = sn_builder_joint(builder, &d);
        shape.to[0] = wide(state), shape.radius = 0.3;
        (void)sn_builder_shape(builder, &shape);
    }
    if (sn_builder_finish(builder, &model, NULL) != SN_OK) return 1;
    sn_builder_destroy(builder);
    for (int k = 0; k < 60; k++) {
        sn_task tasks[SN_TASK_TYPE_COUNT];
        for (int t = 0; t < SN_TASK_TYPE_COUNT; t++) {
            tasks[t] = sn_task_default((sn_task_type)t);
            if (t != SN_TASK_LIMIT) tasks[t].joint = (7 * k + 5 * t) % sn_model_njoint(model);
            for (int c = 0; c < 3; c++)
                tasks[t].goal[c] = wide(state), tasks[t].local[c] = wide(state);
            for (int c = 0; c < 4; c++) tasks[t].rotation[c] = wide(state);
        }
        sn_model_sample(model, state, rest);
        tasks[SN_TASK_REST].q = tasks[SN_TASK_POSTURE].q = rest;
        static const int members[] = {SN_TASK_POINT, SN_TASK_PLANE};
        static const double weights[16] = {2, 0, 0, 1, 0, 2, 0, 1, 0, 0, 2, 0, 1, 1, 0, 3};
        tasks[SN_TASK_COUPLED].tasks = members, tasks[SN_TASK_COUPLED].ntask = 2;
        tasks[SN_TASK_COUPLED].coupling = weights;
        static const int hand = 3;
        tasks[SN_TASK_OWN].joints = &hand, tasks[SN_TASK_OWN].njoint = 1;
        tasks[SN_TASK_OWN].own = (sn_own_task){.value = height};
        static const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
        tasks[SN_TASK_SUPPORT].corners = corners, tasks[SN_TASK_SUPPORT].ncorner = 3;
        tasks[SN_TASK_AVOID].joint = -1, tasks[SN_TASK_AVOID].distance = 0.2;
        sn_problem *problem;
        sn_workspace *ws;
        double f;
        sn_error error;
        if (sn_problem_create(model, tasks, SN_TASK_TYPE_COUNT, NULL, &problem, &error) != SN_OK)
            return fprintf(stderr, "%s\n", error.text), 1;
        if (sn_workspace_create(problem, true, NULL, &ws, NULL) != SN_OK) return 1;
        sn_model_sample(model, state, q);
        if (sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f) != SN_OK) return 1;
        sn_workspace_gradient(ws, g);
        sn_workspace_hessian(ws, H);
        size_t nv = (size_t)sn_model_nv(model);
        add(&f, 1), add(g, nv), add(H, nv * nv);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
    }
    sn_model_destroy(model);
    return 0;
}

int main(void) {
    uint64_t state = 11;
    rotations(&state);
    int failed = problems(&state);
    printf("%016llx\n", (unsigned long long)hash);
    return failed;
}
