// SPDX-License-Identifier: MIT
#include "model/joint.h"

const sn_joint_ops *sn_joint_ops_of(sn_joint_type type) {
    static const sn_joint_ops *const table[SN_JOINT_TYPE_COUNT] = {
        [SN_JOINT_FIXED] = &sn_joint_fixed,
        [SN_JOINT_HINGE] = &sn_joint_hinge,
        [SN_JOINT_SLIDER] = &sn_joint_slider,
        [SN_JOINT_SCREW] = &sn_joint_screw,
        [SN_JOINT_UNIVERSAL] = &sn_joint_universal,
        [SN_JOINT_EULER] = &sn_joint_euler,
        [SN_JOINT_BALL] = &sn_joint_ball,
        [SN_JOINT_EXPMAP] = &sn_joint_expmap,
        [SN_JOINT_SWING_TWIST] = &sn_joint_swing_twist,
        [SN_JOINT_PLANAR] = &sn_joint_planar,
        [SN_JOINT_TRANSLATION] = &sn_joint_translation,
        [SN_JOINT_FREE] = &sn_joint_free,
        [SN_JOINT_FUNCTION] = &sn_joint_function,
    };
    if ((unsigned)type >= SN_JOINT_TYPE_COUNT) return NULL;
    return table[type];
}

int sn_desc_nv(const sn_joint_desc *desc) {
    if (desc->type == SN_JOINT_FUNCTION)
        return desc->functions != NULL ? desc->functions->ncoordinate : 0;
    const sn_joint_ops *ops = sn_joint_ops_of(desc->type);
    return ops != NULL ? ops->nv : 0;
}

int sn_desc_nq(const sn_joint_desc *desc) {
    if (desc->type == SN_JOINT_FUNCTION) return sn_desc_nv(desc);
    const sn_joint_ops *ops = sn_joint_ops_of(desc->type);
    return ops != NULL ? ops->nq : 0;
}

bool sn_joint_turns_freely(sn_joint_type type) {
    return type == SN_JOINT_BALL || type == SN_JOINT_EULER || type == SN_JOINT_FREE;
}

const char *sn_joint_type_name(sn_joint_type type) {
    const sn_joint_ops *ops = sn_joint_ops_of(type);
    return ops == NULL ? "unknown" : ops->name;
}

sn_joint_desc sn_joint_default(sn_joint_type type) {
    sn_joint_desc desc = {.name = "",
                          .parent = -1,
                          .type = type,
                          .rotation = {1, 0, 0, 0},
                          .axis = {0, 0, 1},
                          .axis2 = {1, 0, 0},
                          .order = "XYZ",
                          .swing = INFINITY,
                          .twist = {-INFINITY, INFINITY},
                          .turn = INFINITY,
                          .stance = {1, 0, 0, 0}};
    for (int i = 0; i < SN_MAX_JOINT_DOFS; i++) {
        desc.lower[i] = -INFINITY;
        desc.upper[i] = INFINITY;
        desc.strength[i] = 1;
    }
    return desc;
}
