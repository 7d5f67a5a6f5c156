// SPDX-License-Identifier: MIT
// Robots: a reader of MuJoCo's MJCF files.
#pragma once

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SN_MJCF_NOTE = 400 };

/// What an MJCF file held.
typedef struct sn_mjcf_info {
    int nbody;   ///< without the world
    int njoint;  ///< of the file; bodies without one are welded to their parents
    int nsite;
    char note[SN_MJCF_NOTE];  ///< what is not as in MuJoCo, in sentences; "" when all is
} sn_mjcf_info;

/// An MJCF robot as a model. A pose q is MuJoCo's qpos, number for number.
///
/// Every joint of a body becomes a joint of the model, in the order of the file, the first the
/// outermost; a body without one gets a fixed joint with the body's name. A joint without a name is
/// called after its body. Every body's origin and every named site is a marker of that name, so that
/// a goal may name a body; a named site that is turned is a fixed joint too, so that a goal for a
/// pose may. One body that hangs on the world alone is the root; where there are several, or sites
/// in the world, the root is a fixed joint "world". Angles are degrees unless the compiler says
/// otherwise, `range` counts unless `limited` is false, `ref` is kept.
/// The bodies' masses and their centres are those of <inertial>.
/// Meshes, geometry, actuators, contacts, tendons and sensors are passed over; info->note lists what
/// a user may miss.
///
/// @param out   free with sn_model_destroy(); NULL on failure
/// @param info  may be NULL
SN_API sn_status sn_mjcf_read(const char *text, size_t length, const sn_allocator *allocator,
                              sn_model **out, sn_mjcf_info *info, sn_error *error);

#ifdef __cplusplus
}
#endif
