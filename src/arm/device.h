// SPDX-License-Identifier: MIT
// Many goals of an arm on a device that speaks OpenCL.
#pragma once

#include "arm/arm.h"

/// Make one ready for an arm; NULL with a reason in `why`.
sn_arm_device *sn_arm_device_create(const sn_arm *arm, sn_device wanted, char *why, size_t size);
void sn_arm_device_destroy(sn_arm_device *d);

/// Its name.
const char *sn_arm_device_name(const sn_arm_device *d);

/// As sn_arm_solve_many() without seeds. False when the device failed, with a reason in `why`; *done is how many
/// goals, from the first on, are solved all the same.
bool sn_arm_device_run(sn_arm *arm, int count, const double *goals, double *q,
                       sn_arm_report *reports, int *done, sn_status *status, char *why,
                       size_t size);

/// Memory that the device copies from and to at full speed; NULL when there is none.
void *sn_arm_device_room(sn_arm_device *d, size_t bytes);
