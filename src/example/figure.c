// SPDX-License-Identifier: MIT
// The plan made into poses: one solve per frame, from the pose before. What the goals leave open a
// rest pose decides that is itself a smooth function of time, so that the least f is one too.
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "example/plan.h"
#include "sinew/take.h"
#include "solvers/solver.h"

static const double rate = 120, degree = 0x1.1df46a2529d39p-6;

enum {
    PELVIS,
    PELVIS_X,
    PELVIS_Y,
    CHEST_X,
    CHEST_Y,
    BALL,  // left, right, as the next ones
    FOOT_X = BALL + 2,
    FOOT_Y = FOOT_X + 2,
    WRIST = FOOT_Y + 2,
    FINGERS = WRIST + 2,
    REST = FINGERS + 2,
    TASKS
};

typedef struct maker {
    const sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    sn_motion *rough;  // the poses as they are solved
    double *rest;      // nq
} maker;

static int joint_of(const sn_model *model, const char *side, const char *bone) {
    char name[32];
    (void)snprintf(name, sizeof name, "%s%s", side, bone);
    return sn_model_find_joint(model, name);
}

static const char *const sides[2] = {"left_", "right_"};

// A coordinate of the rest pose: walking, and in the cartwheel, in degrees. For the right side what
// turns about y or z changes its sign.
typedef struct habit {
    const char *bone;
    int coordinate;
    double walking, wheeling;
    bool mirrored;
    bool leg;          // wheeling only while the leg is in the air
    double stiffness;  // for each coordinate of the bone
} habit;

static const habit habits[] = {
    {"thigh", 0, 0, 38, true, true, 0.3},      {"thigh", 1, 0, 0, true, true, 1},
    {"thigh", 2, -12, 0, false, true, 0.3},    {"shin", 0, 22, 10, false, true, 2},
    {"foot", 0, 0, 0, true, true, 0.5},        {"foot", 1, 0, 35, false, true, 0.5},
    {"toes", 0, 0, 5, false, true, 10},        {"clavicle", 0, 0, 22, true, false, 2},
    {"clavicle", 1, 0, 0, true, false, 2},     {"upper_arm", 0, -76, 76, true, false, 1},
    {"upper_arm", 1, 0, 0, true, false, 1},    {"upper_arm", 2, 0, 0, false, false, 1},
    {"forearm", 0, -22, -12, false, false, 1}, {"wrist", 0, 0, 0, true, false, 1},
    {"hand", 0, 0, 0, true, false, 1},         {"hand", 1, 5, 60, false, false, 1},
    {"fingers", 0, -25, -5, false, false, 1},
};
enum { HABITS = sizeof habits / sizeof habits[0] };

static void rest_pose(const maker *m, const sn_moment *now, double *q) {
    sn_model_zero(m->model, q);
    for (int side = 0; side < 2; side++) {
        const double mirror = side == 0 ? 1 : -1;
        for (int i = 0; i < HABITS; i++) {
            const habit *h = &habits[i];
            double wheel = h->leg ? now->flying[side] : now->wheel;
            double angle = h->walking + wheel * (h->wheeling - h->walking);
            int joint = joint_of(m->model, sides[side], h->bone);
            q[sn_model_q_index(m->model, joint) + h->coordinate] =
                (h->mirrored ? mirror : 1) * angle * degree;
        }
        // arms swing against the legs; toes stay on the floor while the heel rises
        int arm = sn_model_q_index(m->model, joint_of(m->model, sides[side], "upper_arm"));
        int elbow = sn_model_q_index(m->model, joint_of(m->model, sides[side], "forearm"));
        int toes = sn_model_q_index(m->model, joint_of(m->model, sides[side], "toes"));
        q[arm + 2] += mirror * 20 * degree * now->stride;
        q[elbow] += mirror * 8 * degree * now->stride;
        q[toes] -= now->heel[side];
    }
}

static sn_task task_on(sn_task_type type, int joint, double x, double y, double z, double weight) {
    sn_task t = sn_task_default(type);
    t.joint = joint;
    t.local[0] = x;
    t.local[1] = y;
    t.local[2] = z;
    t.weight = weight;
    return t;
}

static sn_status make_problem(maker *m, const sn_allocator *allocator) {
    const sn_model *model = m->model;
    const int pelvis = sn_model_find_joint(model, "pelvis");
    const int chest = sn_model_find_joint(model, "chest");
    sn_task tasks[TASKS];
    double stiff[SN_MAX_JOINT_DOFS * 32];
    tasks[PELVIS] = task_on(SN_TASK_POINT, pelvis, 0, 0, 0, 200);
    tasks[PELVIS_X] = task_on(SN_TASK_DIRECTION, pelvis, 1, 0, 0, 8);
    tasks[PELVIS_Y] = task_on(SN_TASK_DIRECTION, pelvis, 0, 1, 0, 8);
    tasks[CHEST_X] = task_on(SN_TASK_DIRECTION, chest, 1, 0, 0, 4);
    tasks[CHEST_Y] = task_on(SN_TASK_DIRECTION, chest, 0, 1, 0, 4);
    for (int side = 0; side < 2; side++) {
        int foot = joint_of(model, sides[side], "foot"),
            hand = joint_of(model, sides[side], "hand");
        tasks[BALL + side] = task_on(SN_TASK_POINT, foot, 0, -0.05, 0.13, 1);
        tasks[FOOT_X + side] = task_on(SN_TASK_DIRECTION, foot, 1, 0, 0, 1);
        tasks[FOOT_Y + side] = task_on(SN_TASK_DIRECTION, foot, 0, 1, 0, 1);
        tasks[WRIST + side] = task_on(SN_TASK_POINT, hand, 0, 0, 0, 1);
        tasks[FINGERS + side] = task_on(SN_TASK_DIRECTION, hand, 0, -1, 0, 1);
    }
    // the pelvis is free, the spine and the head share what there is to bend, the limbs as listed
    for (int v = 0; v < sn_model_nv(model); v++) stiff[v] = v < 6 ? 0 : 2;
    for (int i = 0; i < 2 * HABITS; i++) {
        const habit *h = &habits[i / 2];
        int joint = joint_of(model, sides[i % 2], h->bone);
        stiff[sn_model_v_index(model, joint) + h->coordinate] = h->stiffness;
    }
    tasks[REST] = sn_task_default(SN_TASK_REST);
    tasks[REST].q = m->rest;
    tasks[REST].q_weight = stiff;
    return sn_problem_create(model, tasks, TASKS, allocator, &m->problem, NULL);
}

// The goal of a task, held as much as it should be: w / (1 + w) of the way from where the rest of
// the figure would have it, so that the way there is `held`.
static void set_goal(const maker *m, int task, sn_vec3 at, double held, double most) {
    const double goal[3] = {at.x, at.y, at.z};
    (void)sn_problem_set_goal(m->problem, task, goal);
    (void)sn_problem_set_weight(m->problem, task, held / (1 - held + 1 / most));
}

static void set_turn(const maker *m, int x_task, int y_task, sn_quat turn, double held,
                     double most) {
    sn_mat3 R = sn_mat3_from_quat(turn);
    set_goal(m, x_task, R.c[0], held, most);
    set_goal(m, y_task, R.c[1], held, most);
}

static void set_goals(const maker *m, const sn_moment *now) {
    const double place[3] = {now->pelvis.x, now->pelvis.y, now->pelvis.z};
    const sn_mat3 P = sn_mat3_from_quat(now->pelvis_turn), C = sn_mat3_from_quat(now->chest_turn);
    const double axes[4][3] = {{P.c[0].x, P.c[0].y, P.c[0].z},
                               {P.c[1].x, P.c[1].y, P.c[1].z},
                               {C.c[0].x, C.c[0].y, C.c[0].z},
                               {C.c[1].x, C.c[1].y, C.c[1].z}};
    rest_pose(m, now, m->rest);
    (void)sn_problem_set_rest(m->problem, REST, m->rest);
    (void)sn_problem_set_goal(m->problem, PELVIS, place);
    for (int i = 0; i < 4; i++) (void)sn_problem_set_goal(m->problem, PELVIS_X + i, axes[i]);
    for (int side = 0; side < 2; side++) {
        const sn_hold *ball = &now->ball[side], *wrist = &now->wrist[side];
        set_goal(m, BALL + side, ball->at, ball->held, 3000);
        set_turn(m, FOOT_X + side, FOOT_Y + side, now->foot_turn[side], 1 - now->flying[side], 20);
        set_goal(m, WRIST + side, wrist->at, wrist->held, 3000);
        // fingers away from the belly
        set_goal(m, FINGERS + side, (sn_vec3){0.96, -0.28, 0}, wrist->held, 5);
    }
}

static sn_status make_poses(maker *m, sn_motion *motion) {
    sn_plan plan;
    sn_moment now;
    sn_plan_create(&plan);
    size_t bytes = (size_t)sn_model_nq(m->model) * sizeof(double);
    for (int i = 0; i < sn_motion_nframe(motion); i++) {
        double *q = sn_motion_edit(motion, i);
        sn_report report;
        sn_plan_at(&plan, i / rate, &now);
        set_goals(m, &now);
        memcpy(q, i == 0 ? m->rest : sn_motion_frame(motion, i - 1), bytes);
        SN_TRY(sn_solver_solve(m->solver, q, &report));
    }
    return SN_OK;
}

// Where a limit is met or left the poses have a corner: each becomes a mean of those around it.
// Means of what is inside the limits are inside them.
enum { REACH = 8 };

static void smooth(const maker *m, const sn_motion *rough, sn_motion *motion) {
    const int n = sn_motion_nframe(rough), nq = sn_motion_nq(rough);
    for (int i = 0; i < n; i++) {
        const double *here = sn_motion_frame(rough, i);
        double *q = sn_motion_edit(motion, i), sum = 0;
        for (int k = -REACH; k <= REACH; k++) {
            const double *near = sn_motion_frame(rough, i + k < 0 ? 0 : i + k < n ? i + k : n - 1);
            double x = k / (REACH + 1.0), weight = (1 - x * x) * (1 - x * x) * (1 - x * x);
            // the root's quaternion, behind x y z: a mean of those on the same side
            double same =
                here[3] * near[3] + here[4] * near[4] + here[5] * near[5] + here[6] * near[6];
            for (int c = 0; c < nq; c++)
                q[c] += (c >= 3 && c < 7 && same < 0 ? -weight : weight) * near[c];
            sum += weight;
        }
        for (int c = 0; c < nq; c++) q[c] /= sum;
        sn_model_normalize(m->model, q);
        (void)sn_model_clamp(m->model, q);  // a mean may round over the edge
    }
}

static sn_status make(maker *m, const sn_allocator *allocator, sn_motion **out) {
    sn_solver_options options = sn_solver_options_default();
    const int nframe = (int)(sn_plan_seconds * rate) + 1;
    options.gradient = 1e-10;
    sn_model_zero(m->model, m->rest);
    SN_TRY(make_problem(m, allocator));
    SN_TRY(sn_solver_create_plain(m->problem, &options, allocator, &m->solver, NULL));
    SN_TRY(sn_motion_create(nframe, sn_model_nq(m->model), 1, rate, allocator, &m->rough, NULL));
    SN_TRY(make_poses(m, m->rough));
    SN_TRY(sn_motion_create(nframe, sn_model_nq(m->model), 1, rate, allocator, out, NULL));
    smooth(m, m->rough, *out);
    return SN_OK;
}

sn_status sn_example_motion(const sn_model *humanoid, const sn_allocator *allocator,
                            sn_motion **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(humanoid, error);
    SN_NEED(out, error);
    // the names and the order of the coordinates are what the tables above lean on
    if (strcmp(sn_model_name(humanoid), "humanoid") != 0 || sn_model_nv(humanoid) != 58 ||
        sn_model_find_joint(humanoid, "right_fingers") < 0)
        return sn_fail_range(error, "humanoid is not the built-in figure");
    double rest[64];
    maker m = {.model = humanoid, .rest = rest};
    sn_status status = make(&m, allocator, out);
    if (status != SN_OK) (void)sn_fail(error, status, 0, "%s", sn_status_text(status));
    sn_motion_destroy(m.rough);
    sn_solver_destroy(m.solver);
    sn_problem_destroy(m.problem);
    return status;
}
