// SPDX-License-Identifier: MIT
// Recordings, for those who fill them.
#pragma once

#include "sinew/motion.h"

/// Its note, to be added to when the samples are known: as large as that of sn_recording_info.
char *sn_recording_note(sn_recording *recording);
