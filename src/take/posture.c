// SPDX-License-Identifier: MIT
// How strongly each joint is pulled to its zero where the markers leave it open.
//
// Zero is how a spine, a neck, a shoulder girdle and, less so, a hand are at rest, and they turn by
// little; there markers leave much open, since one joint can turn against the next. Limbs are anywhere,
// zero is often a T pose, and their markers say where: they get next to no pull. But many skeletons have
// three angles in every joint, where a body has fewer: a knee that bends sideways, a forearm that twists
// against the hand, feet. Those are pulled, too.
#include <math.h>

#include "model/joint.h"
#include "take/body.h"
#include "take/fit.h"

static const double limb = 1, hand = 50, trunk = 300;

// Of one of three angles, against `limb`.
static const double knee_aside = 100, forearm_twist = 30, foot = 30, toes = 100;

// Free joints on the way to the one that carries the figure: any of them can do what the others undo, so they are held at
// rest. A radian or a metre weighs as much as a marker that is half a metre off: against markers it is fixed, and yet no
// hindrance to a solver.
static const double floor_held = 1e6;

int sn_fit_floater(const sn_model *model) {
    int at = sn_model_root(model);
    while (sn_model_joint(model, at)->type == SN_JOINT_FREE) {
        int only = -1, n = 0;
        for (int j = 0; j < sn_model_njoint(model); j++)
            if (sn_model_parent(model, j) == at) only = j, n++;
        for (int i = 0; i < sn_model_nmarker(model); i++)
            n += sn_model_marker(model, i)->joint == at;
        if (n != 1 || only < 0 || sn_model_joint(model, only)->type != SN_JOINT_FREE) break;
        at = only;
    }
    return at;
}

int sn_fit_freedom(const sn_model *model) {
    // what is above it comes first
    return sn_model_nv(model) - sn_model_v_index(model, sn_fit_floater(model));
}

void sn_fit_neutral(const sn_model *model, double *q, double *weight) {
    const int floater = sn_fit_floater(model), at = sn_model_v_index(model, floater);
    sn_model_zero(model, q);
    for (int i = 0; i < sn_model_nv(model); i++) weight[i] = 1;
    for (int i = 0; sn_model_joint(model, floater)->type == SN_JOINT_FREE && i < 6; i++)
        weight[at + i] = 0;
    for (int j = sn_model_parent(model, floater); j >= 0; j = sn_model_parent(model, j))
        for (int i = 0; i < 6; i++) weight[sn_model_v_index(model, j) + i] = floor_held;
}

// The joints that make a human figure's limbs; hands hang on `forearm`, toes on `foot`.
typedef struct limbs {
    int arm[2], forearm[2], thigh[2], shin[2], foot[2];
    int across;  // the axis, 0 1 2, from one hip to the other
} limbs;

static int main_axis(const double v[3]) {
    int k = fabs(v[1]) > fabs(v[0]) ? 1 : 0;
    return fabs(v[2]) > fabs(v[k]) ? 2 : k;
}

static bool find_limbs(const sn_model *model, limbs *l) {
    bool human = true;
    double hips[3] = {0};
    for (int side = 0; side < 2; side++) {
        l->arm[side] = sn_body_part(model, SN_BODY_UPPER_ARM, side);
        l->forearm[side] = sn_body_part(model, SN_BODY_FOREARM, side);
        l->thigh[side] = sn_body_part(model, SN_BODY_THIGH, side);
        l->shin[side] = sn_body_part(model, SN_BODY_SHIN, side);
        l->foot[side] = sn_body_part(model, SN_BODY_FOOT, side);
        human = human && l->arm[side] >= 0 && l->forearm[side] >= 0 && l->thigh[side] >= 0;
        for (int k = 0; human && k < 3; k++)
            hips[k] += (side == 0 ? 1 : -1) * sn_model_joint(model, l->thigh[side])->position[k];
    }
    l->across = main_axis(hips);
    return human;
}

static double stiffness(const sn_model *model, const limbs *l, int joint) {
    for (int side = 0; side < 2; side++) {
        if (joint == l->arm[side] || joint == l->forearm[side]) return limb;
        for (int j = joint; j >= 0; j = sn_model_parent(model, j)) {
            if (j == l->thigh[side]) return limb;
            if (j == l->forearm[side]) return hand;
        }
    }
    return trunk;
}

// The axis along a joint's bone, to its last child.
static int bone_axis(const sn_model *model, int joint) {
    for (int j = sn_model_njoint(model) - 1; j >= 0; j--)
        if (sn_model_parent(model, j) == joint)
            return main_axis(sn_model_joint(model, j)->position);
    return -1;
}

// What one of three angles, about `axis`, gets beside that.
static double of_three(const sn_model *model, const limbs *l, int joint, int axis) {
    for (int side = 0; side < 2; side++) {
        if (joint == l->shin[side]) return axis != l->across ? knee_aside : 1;
        if (joint == l->foot[side]) return foot;
        if (l->foot[side] >= 0 && sn_model_parent(model, joint) == l->foot[side]) return toes;
        if (joint == l->forearm[side]) return axis == bone_axis(model, joint) ? forearm_twist : 1;
    }
    return 1;
}

void sn_fit_posture(const sn_model *model, double *q, double *weight) {
    limbs l;
    sn_fit_neutral(model, q, weight);
    if (!find_limbs(model, &l)) return;
    const int floater = sn_fit_floater(model);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        const sn_joint_desc *d = sn_model_joint(model, j);
        if (j != floater && sn_body_is_above(model, j, floater)) continue;
        double w = stiffness(model, &l, j);
        int at = sn_model_v_index(model, j);
        for (int i = 0; i < sn_joint_ops_of(d->type)->nv; i++) {
            weight[at + i] *= w;
            if (d->type == SN_JOINT_EULER)
                weight[at + i] *= of_three(model, &l, j, d->order[i] - 'X');
        }
    }
}

bool sn_fit_is_trunk(const sn_model *model, const double *weight, int joint) {
    int at = sn_model_v_index(model, joint), n = sn_model_joint_nv(model, joint);
    return n > 0 && !sn_body_is_above(model, joint, sn_fit_floater(model)) && weight[at] >= trunk;
}
