// SPDX-License-Identifier: MIT
// Why a figure that is pulled stays calm.
//
// Goals alone leave much open: a hand is held in place by many poses, and out of reach or near it the
// goals hardly tell them apart, so that a pixel more may find quite another one. Therefore every
// solve also has a rest task,
//
//   f = 1/2 sum w |p - goal|^2 + 1/2 rho |q (-) q_ease|^2
//
// which makes the minimum one point that moves smoothly with the goals, and stays where it is when a
// goal is sent again. Its price is that goals are missed a little, so each solve is followed by a
// second one with every goal moved on by what the first one missed (with a third one goals are met
// ten times better, but at times it ends in another valley). Where the goals decide, that takes the
// price back (on a person, from 1 mm to 0.05 mm); near the reach it hardly does: an arm straightens
// by the square root of what it lacks, which no calm motion can follow. Out of reach a goal is moved
// on by no more than a hundredth of the figure. The weight is
//
//   rho = 2e-4 (the longest limb)^2 per radian^2, and 2e-4 per metre^2 of what slides,
//
// the same for all joints: where small ones are cheaper, a wrist waves before a shoulder turns. Pulled
// in all directions, also far out of reach, 99 of 100 pixels turn no joint by more than 1.5 degrees.
//
// The others are where a valley of f ends: a goal that passes behind the figure must at some pixel
// be reached from the other side. The pose then goes over with the pointer, not in one leap:
// web_commit() takes as much of the way as the caller allows, in proportion to how far the goal moved.
#include <math.h>
#include <string.h>

#include "math/rotation.h"
#include "stage.h"

static const double EASE = 2e-4;
// the most that a goal is moved to make up for the rest task: shares of the figure's size, radians
static const double MOST = 0.01, MOST_TURN = 0.1;

static double norm3(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

void ease_weigh(void) {
    const sn_model *m = the.base;
    double longest = 0;
    // the longest limb that hangs on each joint; nothing needs the matrices yet
    float *reach = the.matrices;
    memset(reach, 0, (size_t)m->njoint * sizeof *reach);
    for (int j = m->njoint - 1; j >= 0; j--) {
        const sn_joint_desc *d = sn_model_joint(m, j);
        double tip = norm3(web_joint_tip(j));
        if (tip > (double)reach[j]) reach[j] = (float)tip;  // not for a NaN
        longest = fmax(longest, (double)reach[j]);
        if (d->parent < 0) continue;
        float through = (float)(norm3(d->position) + (double)reach[j]);
        if (through > reach[d->parent]) reach[d->parent] = through;
    }
    double square = longest > 1e-9 ? longest * longest : 1;
    for (int k = 0; k < m->njoint; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++)
            the.ease_weight[j->v0 + i] = EASE * (j->ops->lengths[i] ? 1 : square);
    }
}

sn_task ease_task(void) {
    sn_task t = sn_task_default(SN_TASK_REST);
    t.q = the.ease;
    t.q_weight = the.ease_weight;
    return t;
}

// What is left of a vector: almost all of a short one, `most` of a long one.
static sn_vec3 shortened(sn_vec3 x, double most) {
    return v3_scale(1 / sqrt(1 + v3_dot(x, x) / (most * most)), x);
}

static sn_vec3 moved[WEB_GOALS], turned_on[WEB_GOALS];  // how far each goal is moved on

static void place_goals(void) {
    for (int i = 0; i < the.ngoal; i++) {
        const goal *g = &the.goals[i];
        sn_vec3 at = v3_add((sn_vec3){g->at[0], g->at[1], g->at[2]}, moved[i]);
        sn_quat turn = {g->turn[0], g->turn[1], g->turn[2], g->turn[3]};
        turn = sn_quat_mul(sn_quat_exp(turned_on[i]), turn);
        const double to[3] = {at.x, at.y, at.z}, to_turn[4] = {turn.w, turn.x, turn.y, turn.z};
        if (g->kind != WEB_ORIENTATION) (void)sn_problem_set_goal(the.problem, i, to);
        if (g->kind != WEB_POSITION) (void)sn_problem_set_rotation(the.problem, i, to_turn);
    }
}

void ease_move_on(const double *q) {
    (void)sn_workspace_pose(the.probe, q);
    for (int i = 0; i < the.ngoal; i++) {
        const goal *g = &the.goals[i];
        sn_vec3 at = {g->at[0], g->at[1], g->at[2]};
        sn_quat is = sn_quat_from_mat3(sn_workspace_frame(the.probe, g->joint).R);
        sn_quat to = {g->turn[0], g->turn[1], g->turn[2], g->turn[3]};
        sn_vec3 off = v3_sub(at, sn_workspace_point(the.probe, g->joint, g->local));
        sn_vec3 turned = sn_quat_log(sn_quat_mul(to, sn_quat_conj(is)));
        moved[i] = v3_add(moved[i], shortened(off, MOST * the.size));
        turned_on[i] = v3_add(turned_on[i], shortened(turned, MOST_TURN));
    }
    place_goals();
}

void ease_move_back(void) {
    memset(moved, 0, sizeof moved);
    memset(turned_on, 0, sizeof turned_on);
    place_goals();
}

// The most that any joint turns from one pose to another, radians.
static double most_turned(const double *a, const double *b) {
    double most = 0;
    for (int k = 0; k < the.model->njoint; k++) {
        const sn_joint *j = &the.model->joint[k];
        if (memcmp(a + j->q0, b + j->q0, (size_t)j->nq * sizeof *a) == 0) continue;
        sn_mat3 A = sn_joint_rotation(j, a + j->q0), B = sn_joint_rotation(j, b + j->q0);
        double square = 0;  // |A - B|^2 = 8 sin^2(angle / 2)
        for (int c = 0; c < 3; c++) {
            sn_vec3 d = v3_sub(A.c[c], B.c[c]);
            square += v3_dot(d, d);
        }
        most = fmax(most, 2 * asin(fmin(1, sqrt(square / 8))));
    }
    return most;
}

int web_commit(double most) {
    const sn_model *m = the.model;
    size_t bytes = (size_t)sn_model_nq(the.base) * sizeof(double);
    double *to = the.lanes[0].q;
    double turned = most_turned(the.q, to);
    if (!(turned > most)) {
        memcpy(the.q, to, bytes);
        return 1;
    }
    // along the way coordinate by coordinate, which stays inside the limits; angles that follow one
    // another do not add up evenly, so look again
    sn_model_difference(m, the.q, to, the.delta);
    for (int tries = 0; tries < 20 && turned > most; tries++) {
        double less = 0.999 * fmax(most, 0) / turned;
        for (int i = 0; i < m->nv; i++) the.delta[i] *= less;
        sn_model_integrate(m, the.q, the.delta, the.again);
        turned = most_turned(the.q, the.again);
    }
    if (turned <= most) memcpy(the.q, the.again, bytes);
    return 0;
}
