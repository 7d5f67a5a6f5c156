// SPDX-License-Identifier: MIT
// Motion-capture files: ASF skeletons, AMC motions, C3D recordings.
//
// Each reader takes the bytes of a whole file. On failure nothing is handed out, and `error` (may be
// NULL) holds the line, or for C3D the byte in its text, and a sentence. No reader keeps the bytes.
#pragma once

#include "sinew/model.h"
#include "sinew/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The skeleton of an ASF or BVH file: a model, and what rows of a motion need to be read against
/// it and written. Constant once made; threads may share one.
///
/// ASF: joint 0 is the free joint "root", joint i the bone that stands i-th in the file, under its
/// name. A joint's frame has the bone's `axis` turned in: the bone points along sn_skeleton_tip(),
/// its degrees of freedom are plain x, y and z rotations. Lengths are metres: a file's number times
/// 0.0254 over its `length` unit. BVH: see bvh.h.
typedef struct sn_skeleton sn_skeleton;

typedef enum sn_skeleton_format { SN_SKELETON_ASF, SN_SKELETON_BVH } sn_skeleton_format;

typedef enum sn_angle_unit { SN_ANGLE_DEGREES, SN_ANGLE_RADIANS } sn_angle_unit;

/// Start from sn_asf_options_default().
typedef struct sn_asf_options {
    uint32_t version;  ///< set by the default function, checked on reading
    bool use_limits;  ///< give the model the file's limits; default false, as real clips break them
} sn_asf_options;

SN_API sn_asf_options sn_asf_options_default(void);

/// @param options  NULL for the defaults
/// @param out      free with sn_skeleton_destroy(); NULL on failure
SN_API sn_status sn_asf_read(const char *text, size_t length, const sn_asf_options *options,
                             const sn_allocator *allocator, sn_skeleton **out, sn_error *error);
SN_API void sn_skeleton_destroy(sn_skeleton *skeleton);

/// The model; lives as long as the skeleton.
SN_API const sn_model *sn_skeleton_model(const sn_skeleton *skeleton);
SN_API sn_skeleton_format sn_skeleton_kind(const sn_skeleton *skeleton);
/// The end of a joint's bone in the joint's frame, metres. ASF's root has 0 0 0. BVH: where the
/// first child stands, or without children the first End Site.
SN_API void sn_skeleton_tip(const sn_skeleton *skeleton, int joint, double out[3]);
/// Where limbs end: BVH's End Sites, ASF's tips of bones without children.
SN_API int sn_skeleton_nend(const sn_skeleton *skeleton);
/// The joint of the k-th end, and its place in the joint's frame, metres; -1 when out of range.
SN_API int sn_skeleton_end(const sn_skeleton *skeleton, int k, double out[3]);

/// Metres in one unit of the file's lengths.
SN_API double sn_skeleton_metres_per_unit(const sn_skeleton *skeleton);
/// True when neither the file nor the caller stated it: BVH's is then guessed from the figure's
/// size, ASF's taken for the inch.
SN_API bool sn_skeleton_metres_guessed(const sn_skeleton *skeleton);
/// The axis that points up: "+Y", "+Z", ...; "" when not known. Neither format states it, so it is
/// always a guess: ASF's is the custom, BVH's is from how the figure stands in its frames.
SN_API const char *sn_skeleton_up_axis(const sn_skeleton *skeleton);
/// What the reader had to decide and a person should know; "" for nothing.
SN_API const char *sn_skeleton_note(const sn_skeleton *skeleton);
/// The angles of the file; an AMC file that does not say otherwise has its ASF's.
SN_API sn_angle_unit sn_skeleton_angle_unit(const sn_skeleton *skeleton);

// A row holds the numbers of one frame in the file's own units: for AMC the root's in the order of
// its `order` line, then bone after bone in the ASF's order, each in the order of its `dof` line;
// for BVH channel after channel.

SN_API int sn_skeleton_row_size(const sn_skeleton *skeleton);
/// Where a joint's numbers stand in a row.
SN_API int sn_skeleton_row_index(const sn_skeleton *skeleton, int joint);
/// How many numbers a joint has in a row.
SN_API int sn_skeleton_row_count(const sn_skeleton *skeleton, int joint);
/// The name of a joint's k-th number as the files have it: "TX" ... "RZ" for ASF's root, "rx" ...
/// "rz" for a bone, "Xposition" ... "Zrotation" for BVH; NULL when out of range.
SN_API const char *sn_skeleton_row_name(const sn_skeleton *skeleton, int joint, int k);

/// A pose from a row. Allocates nothing.
SN_API void sn_skeleton_from_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *row,
                                 double *q);
/// A row from a pose. The angles of a free joint are not unique: of all that give its rotation,
/// those nearest to `previous` are taken (NULL: nearest to zero). What a free joint's list of
/// channels lacks is lost. Allocates nothing.
SN_API void sn_skeleton_to_row(const sn_skeleton *skeleton, sn_angle_unit unit, const double *q,
                               const double *previous, double *row);

/// Frames must be numbered one after the other, from any number. Every frame must have the root and
/// the same bones, each once; a bone that no frame has stays at zero.
/// @param out  free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_amc_read(const char *text, size_t length, const sn_skeleton *skeleton,
                             const sn_allocator *allocator, sn_motion **out, sn_error *error);

/// Write an ASF skeleton: one that was read from a file comes back with the same numbers, to the
/// last bit. SN_ERR_ARGUMENT for another format: see export.h.
SN_API sn_status sn_asf_write(const sn_skeleton *skeleton, const sn_sink *sink, sn_error *error);

/// Write poses of the skeleton's model, in the ASF's unit of angle, each number to 1e-9 of its
/// unit. Bones without degrees of freedom have no line.
/// @param allocator  for two rows while it writes
SN_API sn_status sn_amc_write(const sn_skeleton *skeleton, const sn_motion *motion,
                              const sn_sink *sink, const sn_allocator *allocator, sn_error *error);

/// Missing are samples with a negative residual, NaN, or exactly at 0 0 0. Points that the file
/// lists as angles, forces, moments, powers or scalars are left out, and so are analog data and
/// events. Axes stay as in the file. What header and parameters disagree about is decided by what
/// fits the data, and noted.
/// @param out  free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_c3d_read(const void *bytes, size_t length, const sn_allocator *allocator,
                             sn_recording **out, sn_error *error);

/// How the numbers of a C3D file are written.
typedef enum sn_c3d_processor {
    SN_C3D_INTEL = 84,  ///< little-endian
    SN_C3D_DEC = 85,    ///< little-endian words; floats with their words swapped, times four
    SN_C3D_MIPS = 86    ///< big-endian, also called SGI
} sn_c3d_processor;

/// Start from sn_c3d_options_default().
typedef struct sn_c3d_options {
    uint32_t version;            ///< set by the default function, checked on writing
    const char *unit;            ///< default "mm"; a recording in no known unit keeps its numbers
    sn_c3d_processor processor;  ///< default Intel
    bool integers;  ///< 16 bits for a coordinate, as fine as the largest allows; default: floats
} sn_c3d_options;

SN_API sn_c3d_options sn_c3d_options_default(void);

/// Floats keep 24 bits of each coordinate. A missing sample has residual -1 and lies at 0 0 0, so
/// that one which is there, but exactly at 0 0 0, reads back as missing; the residual of others is
/// 0. Frames are numbered from 1 when the recording's first is below.
/// @param options  NULL for the defaults
SN_API sn_status sn_c3d_write(const sn_recording *recording, const sn_c3d_options *options,
                              const sn_sink *sink, const sn_allocator *allocator, sn_error *error);

#ifdef __cplusplus
}
#endif
