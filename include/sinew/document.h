// SPDX-License-Identifier: MIT
// Any file that sinew reads, by what is in it.
#pragma once

#include "sinew/bvh.h"
#include "sinew/formats.h"
#include "sinew/glb.h"
#include "sinew/mjcf.h"
#include "sinew/osim.h"
#include "sinew/tables.h"
#include "sinew/urdf.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Every format and its name; the ending of its files is the name in small letters, where there is one.
#define SN_FORMAT_LIST(ENTRY)                                                                      \
    ENTRY(SN_FORMAT_UNKNOWN, "unknown")                                                            \
    ENTRY(SN_FORMAT_MODEL, "sinew")   /* native JSON: a model */                                   \
    ENTRY(SN_FORMAT_TASKS, "tasks")   /* native JSON: tasks */                                     \
    ENTRY(SN_FORMAT_MARKERS, "markers") /* native JSON: a marker set */                            \
    ENTRY(SN_FORMAT_ASF, "asf")                                                                    \
    ENTRY(SN_FORMAT_AMC, "amc")                                                                    \
    ENTRY(SN_FORMAT_BVH, "bvh")                                                                    \
    ENTRY(SN_FORMAT_C3D, "c3d")                                                                    \
    ENTRY(SN_FORMAT_TRC, "trc")                                                                    \
    ENTRY(SN_FORMAT_MOT, "mot")       /* and STO */                                                \
    ENTRY(SN_FORMAT_CSV, "csv")                                                                    \
    ENTRY(SN_FORMAT_URDF, "urdf")                                                                  \
    ENTRY(SN_FORMAT_OSIM, "osim")                                                                  \
    ENTRY(SN_FORMAT_MJCF, "mjcf")     /* MuJoCo's XML */                                           \
    ENTRY(SN_FORMAT_GLB, "glb")       /* and glTF text, which is read only */

typedef enum sn_format {
#define SN_FORMAT_ENTRY(code, text) code,
    SN_FORMAT_LIST(SN_FORMAT_ENTRY)
#undef SN_FORMAT_ENTRY
        SN_FORMAT_COUNT
} sn_format;

SN_API const char *sn_format_name(sn_format format);

/// What the bytes are: by what they begin with, then by the ending of the file's name.
SN_API sn_format sn_format_of(const char *file_name, const void *bytes, size_t length);
/// What a file of this name should be, by its ending alone; SN_FORMAT_MODEL for ".json".
SN_API sn_format sn_format_of_name(const char *file_name);

/// Start from sn_document_options_default().
typedef struct sn_document_options {
    uint32_t version;
    const sn_skeleton *skeleton;  ///< that an AMC file belongs to; NULL when there is none
    double metres_per_unit;       ///< BVH; 0, the default: guessed from its size
    bool use_limits;              ///< ASF; default false
} sn_document_options;

SN_API sn_document_options sn_document_options_default(void);

/// What a file holds. Exactly what its format has is set, the rest is NULL.
typedef struct sn_document {
    sn_format format;
    const sn_model *model;    ///< of the skeleton, or owned: native JSON, URDF, OSIM, GLB
    sn_skeleton *skeleton;    ///< ASF, BVH
    sn_motion *motion;        ///< AMC, BVH, GLB
    sn_recording *recording;  ///< C3D, TRC, CSV and STO with markers, GLB of sinew
    sn_table *table;          ///< MOT, STO, CSV without markers
    sn_model *owned;
    int up;           ///< the model's axis that points up: 0 1 2
    double up_sign;   ///< 1 or -1
    bool up_guessed;  ///< from the skeleton's bones; else it is stated, or the format's custom
    char note[SN_OSIM_NOTE];  ///< OSIM, GLB, URDF, MJCF: what is not as in the file; ASF, BVH: what the reader decided
} sn_document;

/// Read a file of any format. AMC needs options->skeleton: SN_ERR_ARGUMENT without it.
/// @param out  free with sn_document_free(); empty on failure
SN_API sn_status sn_document_read(const char *file_name, const void *bytes, size_t length,
                                  const sn_document_options *options, const sn_allocator *allocator,
                                  sn_document *out, sn_error *error);
SN_API void sn_document_free(sn_document *document);

#ifdef __cplusplus
}
#endif
