// SPDX-License-Identifier: MIT
// The parts of a human body, known by the usual names of its joints.
#pragma once

#include "sinew/model.h"

typedef enum sn_body {
    SN_BODY_PELVIS,
    SN_BODY_LOWER_BACK,
    SN_BODY_UPPER_BACK,
    SN_BODY_THORAX,
    SN_BODY_NECK,
    SN_BODY_HEAD,
    SN_BODY_CLAVICLE,
    SN_BODY_UPPER_ARM,
    SN_BODY_FOREARM,
    SN_BODY_WRIST,
    SN_BODY_FINGERS,
    SN_BODY_THIGH,
    SN_BODY_SHIN,
    SN_BODY_FOOT,
    SN_BODY_TOES,
    SN_BODY_PARTS
} sn_body;

/// The joint that moves a part; -1 when the model has none of such a name.
/// @param side  0 left, 1 right; the same for parts of the middle
int sn_body_part(const sn_model *model, sn_body which, int side);
/// The same, by the names of an .osim file's bodies where its joints have none: for where markers sit.
int sn_body_carrier(const sn_model *model, sn_body which, int side);
/// The frame of an .osim file's body that is a part; -1 when there is none, as in all other models.
int sn_body_frame(const sn_model *model, sn_body which, int side);

/// Is a joint on the way from `below` to the root, or `below` itself?
bool sn_body_is_above(const sn_model *model, int joint, int below);
