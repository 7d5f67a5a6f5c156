// SPDX-License-Identifier: MIT
// A sample of what the library does, as hashes of its bits, for other systems and processors to agree with:
// solves by every method, followers and closed loops, a take fitted with two threads, and files
// written and read. It needs nothing but the library and its public headers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinew/sinew.h"

typedef struct hash {
    uint64_t value;
    size_t count;
} hash;

static const hash none = {14695981039346656037u, 0};

static void add(hash *h, const void *bytes, size_t count) {
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++) h->value = (h->value ^ from[i]) * 1099511628211u;
    h->count += count;
}

static bool take_bytes(void *user, const void *bytes, size_t count) {
    add(user, bytes, count);
    return true;
}

static void tell(const char *what, const hash *h) {
    printf("%-12s %016llx of %zu bytes\n", what, (unsigned long long)h->value, h->count);
}

static int fail(const char *what, const char *why) {
    printf("%s: %s\n", what, why);
    return 1;
}

// --- solves --------------------------------------------------------------------------------------------

static int solve_all(const sn_model *model) {
    static const char *const on[] = {"left_hand", "right_hand", "left_foot", "head"};
    uint64_t state = 7;
    for (int m = 0; m < SN_METHOD_COUNT; m++) {
        hash h = none;
        sn_solver_options o = sn_solver_options_default();
        o.method = (sn_method)m;
        // those that LAPACK brings are not in every build
        if (m == SN_METHOD_PINV || m == SN_METHOD_QR || m == SN_METHOD_SDLS) continue;
        for (int n = 0; n < 12; n++) {
            sn_task task[4];
            sn_problem *problem;
            sn_solver *solver;
            sn_workspace *ws;
            sn_report report;
            double q[200];
            int count = 0;
            sn_model_sample(model, &state, q);
            if (sn_problem_create(model, NULL, 0, NULL, &problem, NULL) != SN_OK ||
                sn_workspace_create(problem, false, NULL, &ws, NULL) != SN_OK ||
                sn_workspace_pose(ws, q) != SN_OK)
                return fail("solve", "no workspace");
            for (int i = 0; i < 4; i++) {
                int joint = sn_model_find_joint(model, on[i]);
                if (joint < 0) joint = sn_model_njoint(model) - 1 - i;
                task[count] = sn_task_default(SN_TASK_POINT);
                task[count].joint = joint;
                sn_vec3 p = sn_workspace_point(ws, joint, task[count].local);
                task[count].goal[0] = p.x, task[count].goal[1] = p.y, task[count].goal[2] = p.z;
                count++;
            }
            sn_workspace_destroy(ws);
            sn_problem_destroy(problem);
            sn_model_sample(model, &state, q);
            if (sn_problem_create(model, task, count, NULL, &problem, NULL) != SN_OK ||
                sn_solver_create(problem, &o, NULL, &solver, NULL) != SN_OK ||
                sn_solver_solve(solver, q, &report) != SN_OK)
                return fail(sn_method_name(o.method), "no solve");
            add(&h, q, (size_t)sn_model_nq(model) * sizeof *q);
            add(&h, &report.f, sizeof report.f);
            sn_solver_destroy(solver);
            sn_problem_destroy(problem);
        }
        tell(sn_method_name(o.method), &h);
    }
    return 0;
}

// --- files, followers, loops ---------------------------------------------------------------------------

static const char linkage[] =
    "<mujoco><compiler angle='radian'/><worldbody><body name='a'><joint name='x' axis='0 1 0'/>"
    "<body name='b' pos='0.3 0 0'><joint name='y' axis='0 1 0'/><body name='c' pos='0.4 0 0'>"
    "<joint name='z' axis='0 1 0'/><site name='tip' pos='0.2 0 0.1'/></body></body></body>"
    "<body name='d' pos='0.5 0 0'><joint name='w' axis='0 1 0'/></body></worldbody>"
    "<equality><connect body1='b' body2='d' anchor='0.4 0 0'/>"
    "<joint joint1='z' joint2='y' polycoef='0.1 0.5 0.2'/></equality></mujoco>";

static int read_and_solve(void) {
    hash h = none;
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    sn_error error = {0};
    if (sn_mjcf_read(linkage, sizeof linkage - 1, NULL, &model, NULL, &error) != SN_OK)
        return fail("linkage", error.text);
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.joint = sn_model_find_joint(model, "z");
    if (sn_problem_create(model, &task, 1, NULL, &problem, &error) != SN_OK ||
        sn_solver_create(problem, NULL, NULL, &solver, &error) != SN_OK)
        return fail("linkage", error.text);
    for (int n = 0; n < 40; n++) {
        double q[8], goal[3] = {0.4 + 0.01 * n, 0, -0.3 + 0.01 * n};
        sn_report report;
        sn_model_zero(model, q);
        if (sn_problem_set_goal(problem, 0, goal) != SN_OK ||
            sn_solver_solve(solver, q, &report) != SN_OK)
            return fail("linkage", "no solve");
        add(&h, q, (size_t)sn_model_nq(model) * sizeof *q);
    }
    tell("linkage", &h);
    const sn_sink sink = {take_bytes, &h};
    h = none;
    if (sn_model_write_json(model, &sink, NULL, &error) != SN_OK) return fail("json", error.text);
    tell("json", &h);
    sn_solver_destroy(solver);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    return 0;
}

// --- a take --------------------------------------------------------------------------------------------

static int fit(const sn_model *humanoid) {
    sn_motion *motion, *some;
    sn_model *subject;
    sn_recording *recording;
    sn_take *take;
    sn_error error = {0};
    enum { FRAMES = 150 };
    if (sn_example_motion(humanoid, NULL, &motion, &error) != SN_OK ||
        sn_example_subject(3, NULL, &subject, &error) != SN_OK ||
        sn_motion_create(FRAMES, sn_motion_nq(motion), 1, sn_motion_rate(motion), NULL, &some,
                         &error) != SN_OK)
        return fail("example", error.text);
    for (int f = 0; f < FRAMES; f++)
        memcpy(sn_motion_edit(some, f), sn_motion_frame(motion, 600 + f),
               (size_t)sn_motion_nq(motion) * sizeof(double));
    if (sn_example_recording(subject, some, 3, NULL, &recording, &error) != SN_OK)
        return fail("example", error.text);
    sn_take_options o = sn_take_options_default();
    o.calibrate = SN_CALIBRATE_SCALE;
    o.threads = 2;
    if (sn_take_create(humanoid, recording, &o, NULL, &take, &error) != SN_OK)
        return fail("take", error.text);
    if (sn_take_prepare(take) != SN_OK || sn_take_finish(take) != SN_OK)
        return fail("take", "it cannot be fitted");
    hash h = none;
    const sn_motion *found = sn_take_motion(take);
    for (int f = 0; f < sn_motion_nframe(found); f++)
        add(&h, sn_motion_frame(found, f), (size_t)sn_motion_nq(found) * sizeof(double));
    tell("take", &h);
    const sn_samples measured = sn_take_samples(take);
    static const sn_format formats[] = {SN_FORMAT_BVH, SN_FORMAT_AMC, SN_FORMAT_GLB, SN_FORMAT_CSV,
                                        SN_FORMAT_C3D, SN_FORMAT_TRC, SN_FORMAT_MOT};
    sn_scene scene = sn_scene_default(sn_take_model(take));
    scene.motion = found;
    scene.samples = &measured;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        h = none;
        const sn_sink sink = {take_bytes, &h};
        if (sn_scene_write(&scene, formats[i], &sink, NULL, &error) != SN_OK)
            return fail(sn_format_name(formats[i]), error.text);
        tell(sn_format_name(formats[i]), &h);
    }
    sn_take_destroy(take);
    sn_recording_destroy(recording);
    sn_motion_destroy(some);
    sn_motion_destroy(motion);
    sn_model_destroy(subject);
    return 0;
}

int main(void) {
    sn_model *humanoid;
    sn_error error = {0};
    if (sn_model_humanoid(NULL, &humanoid, &error) != SN_OK) return fail("humanoid", error.text);
    int bad = solve_all(humanoid) + read_and_solve() + fit(humanoid);
    sn_model_destroy(humanoid);
    return bad;
}
