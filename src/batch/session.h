// SPDX-License-Identifier: MIT
// A device at work: its context, a few queues, programs, and memory that is copied at full speed.
#pragma once

#include "base/memory.h"
#include "base/text.h"
#include "batch/opencl.h"

enum { SN_SESSION_ROOMS = 48, SN_SESSION_QUEUES = 6 };

typedef struct sn_session {
    sn_opencl cl;
    sn_device_info info;
    sn_cl device, context;
    sn_cl queue[SN_SESSION_QUEUES];
    struct {
        sn_cl memory;
        void *at;
    } room[SN_SESSION_ROOMS];
    int nroom;
} sn_session;

/// The first device that was asked for: false with a reason in `why`. Close it all the same.
bool sn_session_open(sn_session *s, sn_device wanted, char *why, size_t size);
void sn_session_close(sn_session *s);

/// Wait until nothing is under way: what was asked to be copied must not arrive in memory that others use by then, even
/// from a device that has failed.
void sn_session_drain(sn_session *s);

/// Compile a text, and find one kernel of it; NULL with a reason in `why`.
sn_cl sn_session_build(sn_session *s, const sn_text *text, const char *options, char *why,
                       size_t size);
sn_cl sn_session_kernel(sn_session *s, sn_cl program, const char *name, char *why, size_t size);

/// Memory that the device copies from and to at full speed, until the session is closed; NULL when there is
/// none. Give it back earlier with sn_session_leave().
void *sn_session_room(sn_session *s, size_t bytes);
void sn_session_leave(sn_session *s, void *room);

/// Memory on the device; *error is set when there is none.
sn_cl sn_session_buffer(sn_session *s, size_t bytes, int32_t *error);
void sn_session_release(sn_session *s, sn_cl *buffer);
