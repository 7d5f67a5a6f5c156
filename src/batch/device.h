// SPDX-License-Identifier: MIT
// A device that solves chains, by OpenCL.
#pragma once

#include "batch/batch.h"
#include "batch/opencl.h"

/// Make one ready for a batch's problem; NULL with a reason in `why`.
sn_batch_device *sn_batch_device_create(const sn_batch *b, char *why, size_t size);
void sn_batch_device_destroy(sn_batch_device *d);

/// Its name.
const char *sn_batch_device_name(const sn_batch_device *d);

/// Solve the chains of a job. False when the device failed, with a reason in `why`; *done is how many
/// chains, from the first on, are solved all the same.
bool sn_batch_device_run(sn_batch *b, const sn_batch_job *job, int *done, char *why, size_t size);

/// Begin a job that may wait in slot 0 or 1; false when it is left to sn_batch_device_run(). Then end it.
bool sn_batch_device_begin(sn_batch *b, const sn_batch_job *job, int slot);
bool sn_batch_device_end(sn_batch *b, const sn_batch_job *job, int slot, char *why, size_t size);

/// Memory that the device copies from and to at full speed; NULL when there is none. It is given back with
/// the device.
void *sn_batch_device_room(sn_batch_device *d, size_t bytes);
