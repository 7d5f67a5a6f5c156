// SPDX-License-Identifier: MIT
// Coordinates that turn a joint as is wanted, as nearly as its kind allows.
#pragma once

#include "model/model.h"

/// Can sn_joint_fit() do anything with this joint? It turns, and nothing of it is locked.
bool sn_joint_fits(const sn_model *model, const sn_joint *joint);

/// Coordinates in q (the joint's own, nq of them) that make tr(M^T R) large, R being the joint's
/// rotation: the largest of all for joints that can turn anyhow and for hinges, a good one for
/// universal joints. Inside the limits; angles stay within half a turn of what they were where the
/// limits allow that. False, and nothing changed, where sn_joint_fits() says so.
bool sn_joint_fit(const sn_model *model, const sn_joint *joint, const sn_mat3 *M, double *q);
