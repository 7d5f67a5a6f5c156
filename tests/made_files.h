// SPDX-License-Identifier: MIT
// Files of every format that need nobody's data: what our writers make of the example take, and the odd ways
// in which other programs and editors write the same.
#pragma once

#include "takes.h"

typedef struct made_file {
    char name[32];  ///< its ending says the format
    char *bytes;    ///< terminated; free with made_free()
    size_t length;
} made_file;

/// How a text may be written and still say the same.
typedef enum made_way {
    MADE_PLAIN,
    MADE_CRLF,
    MADE_CR,
    MADE_BOM,      ///< the mark that some editors put first
    MADE_NO_END,   ///< the last line has no end
    MADE_BLANKS,   ///< blanks at the end of every line
    MADE_EMPTY,    ///< empty lines at the end
    MADE_TABS,     ///< tabs for blanks
    MADE_INDENTED  ///< blanks before every line
} made_way;
enum { MADE_WAYS = MADE_INDENTED + 1 };

made_file made_text(const made_file *plain, made_way way);
made_file made_c3d(const sn_recording *recording, sn_c3d_processor processor, bool integers);
made_file made_trc(const sn_recording *recording, const char *unit);
made_file made_csv(const sn_recording *recording, const char *unit);
/// BVH with the motion, or ASF; AMC beside that.
made_file made_skeleton(const sn_model *model, const sn_motion *motion, sn_format format);
made_file made_mot(const sn_model *model, const sn_motion *motion);
made_file made_glb(const sn_model *model, const sn_motion *motion);
made_file made_json(const sn_model *model);
/// A robot of revolute, continuous, prismatic and fixed joints, with what other tools put between them.
made_file made_urdf(int njoint, uint64_t seed);
void made_free(made_file *file);
