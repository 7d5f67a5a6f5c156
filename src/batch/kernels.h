// SPDX-License-Identifier: MIT
// One trip of 1, 2, 4 or 8 problems side by side. Lane by lane the same numbers give the same bits.
#pragma once

#include "batch/table.h"

void sn_batch_trip1(const sn_batch_table *t, const sn_batch_work *w);
#ifdef __GNUC__
void sn_batch_trip2(const sn_batch_table *t, const sn_batch_work *w);
#endif
/// With the registers of AVX2 and of AVX-512; call them only where the machine has these.
void sn_batch_trip4(const sn_batch_table *t, const sn_batch_work *w);
void sn_batch_trip8(const sn_batch_table *t, const sn_batch_work *w);

/// The same for a stride (stride.h).
void sn_batch_stride1(const sn_batch_table *t, const sn_batch_work *w);
#ifdef __GNUC__
void sn_batch_stride2(const sn_batch_table *t, const sn_batch_work *w);
#endif
void sn_batch_stride4(const sn_batch_table *t, const sn_batch_work *w);
void sn_batch_stride8(const sn_batch_table *t, const sn_batch_work *w);

/// The most lanes that this machine has registers for: 1, 2, 4 or 8.
int sn_batch_most_lanes(void);

/// The trip or stride of so many lanes, which must not be more than that.
typedef void (*sn_batch_trip)(const sn_batch_table *t, const sn_batch_work *w);
sn_batch_trip sn_batch_trip_of(int lanes);
sn_batch_trip sn_batch_stride_of(int lanes);
