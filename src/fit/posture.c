// SPDX-License-Identifier: MIT
// How strongly each joint is pulled to its zero where the markers leave it open.
//
// Zero is how a spine, a neck, a shoulder girdle and, less so, a hand are at rest, and they turn by
// little; there markers leave much open, since one joint can turn against the next. Limbs are anywhere,
// zero is often a T pose, and their markers say where: they get next to no pull.
#include "fit/body.h"
#include "fit/fit.h"
#include "model/joint.h"

static const double limb = 1, hand = 50, trunk = 300;

void sn_fit_neutral(const sn_model *model, double *q, double *weight) {
    int root = sn_model_root(model), at = sn_model_v_index(model, root);
    sn_model_zero(model, q);
    for (int i = 0; i < sn_model_nv(model); i++) weight[i] = 1;
    for (int i = 0; sn_model_joint(model, root)->type == SN_JOINT_FREE && i < 6; i++)
        weight[at + i] = 0;
}

// What a body's joint gets: `arm` and `thigh` begin its limbs, hands hang on `forearm`.
typedef struct limbs {
    int arm[2], forearm[2], thigh[2];
} limbs;

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

void sn_fit_posture(const sn_model *model, double *q, double *weight) {
    limbs l;
    bool human = true;
    sn_fit_neutral(model, q, weight);
    for (int side = 0; side < 2; side++) {
        l.arm[side] = sn_body_part(model, SN_BODY_UPPER_ARM, side);
        l.forearm[side] = sn_body_part(model, SN_BODY_FOREARM, side);
        l.thigh[side] = sn_body_part(model, SN_BODY_THIGH, side);
        human = human && l.arm[side] >= 0 && l.forearm[side] >= 0 && l.thigh[side] >= 0;
    }
    for (int j = 0; human && j < sn_model_njoint(model); j++) {
        double w = stiffness(model, &l, j);
        int at = sn_model_v_index(model, j);
        for (int i = 0; i < sn_joint_ops_of(sn_model_joint(model, j)->type)->nv; i++)
            weight[at + i] *= w;
    }
}
