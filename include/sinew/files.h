// SPDX-License-Identifier: MIT
// Files of other programs and our own: one entry that reads any of them by what is in it,
// sn_document_read(), one that writes any output, sn_scene_write(), and the formats one by one.
//
// Readers take the bytes of a whole file and keep none. On failure nothing is handed out, and `error`
// (may be NULL) holds the line, or for C3D the byte in its text, and a sentence. What a reader decided for
// the user stands in the `note` of what it gives. Numbers are read and written alike in every locale.
#pragma once

#include "sinew/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- skeletons: ASF and AMC ------------------------------------------------------------------------
//
// Skeletons of motion capture, and rows of their motions.

/// The skeleton of an ASF or BVH file: a model, and what rows of a motion need to be read against
/// it and written. Constant once made; threads may share one.
///
/// ASF: joint 0 is the free joint "root", joint i the bone that stands i-th in the file, under its
/// name. A joint's frame has the bone's `axis` turned in: the bone points along sn_skeleton_tip(),
/// its degrees of freedom are plain x, y and z rotations. Lengths are metres: a file's number times
/// 0.0254 over its `length` unit. BVH: see sn_bvh_read().
typedef struct sn_skeleton sn_skeleton;

/// Where a skeleton comes from.
typedef enum sn_skeleton_format { SN_SKELETON_ASF, SN_SKELETON_BVH } sn_skeleton_format;

/// The unit of angles in a file.
typedef enum sn_angle_unit { SN_ANGLE_DEGREES, SN_ANGLE_RADIANS } sn_angle_unit;

/// Start from sn_asf_options_default().
typedef struct sn_asf_options {
    uint32_t version;  ///< set by the default function, checked on reading
    bool use_limits;  ///< give the model the file's limits; default false, as real clips break them
} sn_asf_options;

/// The defaults that sn_asf_options states.
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

/// Frames must be numbered one after the other, from any number. Every frame must have the root and
/// the same bones, each once; a bone that no frame has stays at zero.
/// @param out  free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_amc_read(const char *text, size_t length, const sn_skeleton *skeleton,
                             const sn_allocator *allocator, sn_motion **out, sn_error *error);

/// Write an ASF skeleton: one that was read from a file comes back with the same numbers, to the
/// last bit. SN_ERR_ARGUMENT for another format: see sn_export_create().
SN_API sn_status sn_asf_write(const sn_skeleton *skeleton, const sn_sink *sink, sn_error *error);

/// Write poses of the skeleton's model, in the ASF's unit of angle, each number to 1e-9 of its
/// unit. Bones without degrees of freedom have no line.
/// @param allocator  for two rows while it writes
SN_API sn_status sn_amc_write(const sn_skeleton *skeleton, const sn_motion *motion,
                              const sn_sink *sink, const sn_allocator *allocator, sn_error *error);

// --- BVH -------------------------------------------------------------------------------------------
//
// BVH: a skeleton and its motion in one text file.

/// What to do with position channels of joints that are not roots. They replace the joint's OFFSET.
typedef enum sn_bvh_positions {
    SN_BVH_POSITIONS_AUTO,  ///< a fixed offset where they never change (to 1e-6 of the figure)
    SN_BVH_POSITIONS_MOVE   ///< they always are degrees of freedom
} sn_bvh_positions;

/// Start from sn_bvh_options_default().
typedef struct sn_bvh_options {
    uint32_t version;            ///< set by the default function, checked on reading
    double metres_per_unit;      ///< default 0: guessed from the figure's size
    sn_bvh_positions positions;  ///< default SN_BVH_POSITIONS_AUTO
} sn_bvh_options;

/// The defaults that sn_bvh_options states.
SN_API sn_bvh_options sn_bvh_options_default(void);

/// Read a file. Joints stand in the model as in the file; where several ROOTs stand, they hang on a
/// fixed joint 0 that the file has not. A name that an earlier joint has gets "_2", "_3", ...; a
/// joint without one becomes "joint_1", ... All frames are world-aligned at the zero pose.
///
/// Joint types: no channels fixed; 1, 2, 3 rotations hinge, universal, euler (ZXZ and such too);
/// 1 position slider, 2 or 3 translation; 2 positions and a rotation about the third axis planar;
/// any other set with positions free, a position that is not listed locked. Coordinates of a root
/// are its place in the world, those of other joints what is added to the OFFSET.
///
/// All rows are frames, whatever number is stated; sn_skeleton_note() tells when they differ. A file
/// without MOTION, or with no frames, is a skeleton with an empty motion. The rate of a file
/// whose Frame Time is 0 or missing is not known. Frames are numbered from 1.
/// @param options   NULL for the defaults
/// @param skeleton  free with sn_skeleton_destroy(); NULL on failure
/// @param motion    free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_bvh_read(const char *text, size_t length, const sn_bvh_options *options,
                             const sn_allocator *allocator, sn_skeleton **skeleton,
                             sn_motion **motion, sn_error *error);

/// Write a BVH skeleton and poses of its model. What was read comes back with the same names,
/// channels and OFFSETs, to the last bit, and with the numbers of its rows to 1e-9 of their unit. A
/// rate that is not known becomes a Frame Time of 0. SN_ERR_ARGUMENT for a skeleton of another
/// format: see sn_export_create().
/// @param motion     NULL for none
/// @param allocator  for two rows while it writes
SN_API sn_status sn_bvh_write(const sn_skeleton *skeleton, const sn_motion *motion,
                              const sn_sink *sink, const sn_allocator *allocator, sn_error *error);

// --- any model as a skeleton -----------------------------------------------------------------------
//
// Any model and its motion as a BVH or ASF skeleton: for conversion between the two, for models of
// other kinds, and for another unit or another axis up.
//
// World positions of all joints stay, and rotations up to the constant one each joint's frame has at
// the zero pose: both formats' frames are world-aligned there.

/// A skeleton made from a model, and what carries poses over. One per thread.
typedef struct sn_export sn_export;

/// Start from sn_export_options_default().
typedef struct sn_export_options {
    uint32_t version;           ///< set by the default function, checked on creation
    const sn_skeleton *source;  ///< whose model it is: it knows where limbs end; default NULL
    double metres_per_unit;     ///< default 0: the source's; else BVH cm, ASF 0.0254/0.45 m
    double rotation[4];         ///< w x y z: turns the whole figure in the world; default none
} sn_export_options;

/// The defaults that sn_export_options states.
SN_API sn_export_options sn_export_options_default(void);

/// BVH: joint for joint, in depth-first order; of an OpenSim file hinges in one place up to a body are one joint, called
/// after that body, and the root is the first body. Rotations are Zrotation Yrotation Xrotation for every
/// joint, fixed ones too, as many programs expect them; the root and joints that slide also have
/// positions.
///
/// ASF: bone for joint. A bone ends where its first child begins; other children, and children away
/// from the root, hang on bones "<joint>_to_<child>" that do not move. Hinges, universals with axes
/// at right angles and eulers of three axes keep their coordinates, turned by an `axis` line; other
/// rotations are rx ry rz. Joints below the root that slide cannot be written: SN_ERR_MODEL.
///
/// A leaf whose end is not known gets one at 5 % of the figure's size. Blanks, braces, brackets,
/// commas and # in names become _, names that are then equal get _2, _3, ...
/// @param model    must outlive the export
/// @param options  NULL for the defaults
/// @param out      free with sn_export_destroy(); NULL on failure
SN_API sn_status sn_export_create(const sn_model *model, sn_skeleton_format format,
                                  const sn_export_options *options, const sn_allocator *allocator,
                                  sn_export **out, sn_error *error);
SN_API void sn_export_destroy(sn_export *self);

/// The skeleton to write; lives as long as the export.
SN_API const sn_skeleton *sn_export_skeleton(const sn_export *self);

/// A pose of the model as one of the skeleton's model. Allocates nothing.
/// @param previous  the skeleton's pose of the frame before, to which angles stay near; may be NULL
/// @param out       nq of the skeleton's model
SN_API sn_status sn_export_pose(sn_export *self, const double *q, const double *previous,
                                double *out);

/// A whole motion.
/// @param out  free with sn_motion_destroy(); NULL on failure
SN_API sn_status sn_export_motion(sn_export *self, const sn_motion *motion,
                                  const sn_allocator *allocator, sn_motion **out, sn_error *error);

// --- C3D -------------------------------------------------------------------------------------------
//
// Recordings of markers.

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

/// The defaults that sn_c3d_options states.
SN_API sn_c3d_options sn_c3d_options_default(void);

/// Floats keep 24 bits of each coordinate. A missing sample has residual -1 and lies at 0 0 0, so
/// that one which is there, but exactly at 0 0 0, reads back as missing; the residual of others is
/// 0. Frames are numbered from 1 when the recording's first is below.
/// @param options  NULL for the defaults
SN_API sn_status sn_c3d_write(const sn_recording *recording, const sn_c3d_options *options,
                              const sn_sink *sink, const sn_allocator *allocator, sn_error *error);

// --- MOT, STO, CSV and TRC -------------------------------------------------------------------------
//
// Files that are tables.

/// MOT and STO, which are one format. In degrees where the file does not say and states no version.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_sto_read(const char *text, size_t length, const sn_allocator *allocator,
                             sn_table **out, sn_error *error);
/// The table needs a time; it is written as the first column. A number reads back to the same bits.
SN_API sn_status sn_sto_write(const sn_table *table, const sn_sink *sink, sn_error *error);
/// sn_table_from_motion(), then sn_sto_write(). The motion needs a frame rate.
SN_API sn_status sn_mot_write(const sn_model *model, const sn_motion *motion, const sn_sink *sink,
                              const sn_allocator *allocator, sn_error *error);

/// Comma, semicolon or tab separated; also the files of OptiTrack Motive, Vicon Nexus and Qualisys
/// QTM, of which the markers are taken.
/// @param out  free with sn_table_destroy(); NULL on failure
SN_API sn_status sn_csv_read_table(const char *text, size_t length, const sn_allocator *allocator,
                                   sn_table **out, sn_error *error);
/// Commas, one row of names. A number reads back to the same bits.
SN_API sn_status sn_csv_write_table(const sn_table *table, const sn_sink *sink, sn_error *error);

/// How marker positions are written. Start from sn_markers_options_default().
typedef struct sn_markers_options {
    uint32_t version;  ///< set by the default function, checked on writing
    const char *unit;  ///< default "mm"; a recording in no known unit keeps its numbers
    double rate;       ///< frames per second; 0, the default: as the recording says
} sn_markers_options;

/// The defaults that sn_markers_options states.
SN_API sn_markers_options sn_markers_options_default(void);

/// @param options  NULL for the defaults
SN_API sn_status sn_csv_write_recording(const sn_recording *recording,
                                        const sn_markers_options *options, const sn_sink *sink,
                                        sn_error *error);

/// @param out  free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_trc_read(const char *text, size_t length, const sn_allocator *allocator,
                             sn_recording **out, sn_error *error);
/// @param options  NULL for the defaults
SN_API sn_status sn_trc_write(const sn_recording *recording, const sn_markers_options *options,
                              const sn_sink *sink, sn_error *error);

// --- URDF ------------------------------------------------------------------------------------------
//
// Robots: a reader of URDF files. xacro files must be expanded first.

/// Start from sn_urdf_options_default().
typedef struct sn_urdf_options {
    uint32_t version;    ///< set by the default function, checked on reading
    bool floating_base;  ///< the root link moves freely; default false: it is fixed to the world
} sn_urdf_options;

/// The defaults that sn_urdf_options states.
SN_API sn_urdf_options sn_urdf_options_default(void);

/// Bytes of the note.
enum { SN_URDF_NOTE = 400 };

/// What a URDF file held.
typedef struct sn_urdf_info {
    char note[SN_URDF_NOTE];  ///< mimics that cannot be followed, meshes that are left out; or ""
} sn_urdf_info;

/// A robot as a model.
///
/// Joint 0 holds the root link and has its name (where a joint of the file has that name too,
/// "_root" is added); joint i is the i-th <joint> of the file, under its name. A link's frame is
/// the frame of the joint that holds it, and every link's origin is a marker with the link's name,
/// so that a goal may name a link. Joints: revolute and continuous are hinges, prismatic sliders,
/// fixed, floating is free, planar moves across its axis. Spheres, capsules, cylinders and boxes of
/// <collision> become shapes of the model, the last two as capsules around them. Meshes, inertias and
/// whatever else a file holds are passed over.
///
/// A joint with <mimic> follows the other in every pose: it is a coupling of the model, and both
/// joints' limits hold. One that mimics a joint that is not there, one with other than one coordinate,
/// or in the end itself, is an ordinary joint.
///
/// @param options  NULL for the defaults
/// @param out      free with sn_model_destroy(); NULL on failure
/// @param info     may be NULL
SN_API sn_status sn_urdf_read(const char *text, size_t length, const sn_urdf_options *options,
                              const sn_allocator *allocator, sn_model **out, sn_urdf_info *info,
                              sn_error *error);

// --- SRDF ------------------------------------------------------------------------------------------
//
// Which links of a robot may touch: a reader of the disabled collisions of SRDF files.

/// Bytes of the note.
enum { SN_SRDF_NOTE = 400 };

/// What an SRDF file held.
typedef struct sn_srdf_info {
    int npair;                ///< disabled pairs of links
    int nunknown;             ///< pairs with a link that the model does not have
    char note[SN_SRDF_NOTE];  ///< what is left out, in sentences; "" when nothing is
} sn_srdf_info;

/// A copy of a model in which the pairs of links that an SRDF file disables are excluded. Links are
/// found as markers of the model, as sn_urdf_read() makes them, else as joints.
/// @param out   free with sn_model_destroy(); NULL on failure
/// @param info  may be NULL
SN_API sn_status sn_srdf_read(const char *text, size_t length, const sn_model *model,
                              const sn_allocator *allocator, sn_model **out, sn_srdf_info *info,
                              sn_error *error);

// --- MJCF ------------------------------------------------------------------------------------------
//
// Robots: a reader of MuJoCo's MJCF files.

/// Bytes of the note.
enum { SN_MJCF_NOTE = 400 };

/// What an MJCF file held.
typedef struct sn_mjcf_info {
    int nbody;                ///< without the world
    int njoint;               ///< of the file; bodies without one are welded to their parents
    int nsite;                ///< of the file
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
/// Geoms that can touch others (contype, conaffinity) become shapes of the model: spheres, capsules and planes
/// as they are, cylinders, boxes and ellipsoids as capsules around them; <exclude> is kept.
/// A ball's range limits its whole turn. An equality of joints or of fixed tendons is a coupling.
/// Meshes, actuators, other tendons and sensors are passed over; info->note lists what a user may miss.
///
/// @param out   free with sn_model_destroy(); NULL on failure
/// @param info  may be NULL
SN_API sn_status sn_mjcf_read(const char *text, size_t length, const sn_allocator *allocator,
                              sn_model **out, sn_mjcf_info *info, sn_error *error);

// --- OSIM ------------------------------------------------------------------------------------------
//
// Musculoskeletal models: a reader of OpenSim's .osim files.

/// Bytes of the note.
enum { SN_OSIM_NOTE = 1200 };

/// What an .osim file held.
typedef struct sn_osim_info {
    int version;              ///< of the file's layout: 20303, 30000, 40500, ...
    int nbody;                ///< without ground
    int njoint;               ///< of the file
    int ncoordinate;          ///< of all joints
    char note[SN_OSIM_NOTE];  ///< what is not as in OpenSim, in sentences; "" when all is
} sn_osim_info;

/// What an .osim file says about one of its coordinates, beyond what the model holds.
typedef struct sn_osim_coordinate_info {
    const char *name;  ///< as in the file
    sn_coordinate
        at;        ///< in the model; joint -1 where nothing moves by it, or it is held at `value`
    double value;  ///< its default
    double lower,
        upper;  ///< its range, whether it is clamped or not; infinite where none is stated
    bool clamped, locked;  ///< as in the file
    bool prescribed;       ///< it follows a function of time, sn_osim_prescribed()
    bool rotates;          ///< it is an angle that a rotation turns by, as it is: degrees in a MOT
    int line;              ///< in the file
} sn_osim_coordinate_info;

/// The coordinates of an .osim file: what is said of them beside the model. They belong to every model
/// that is made of it with the same joints. Constant; threads may share one.
typedef struct sn_osim_coordinates sn_osim_coordinates;

/// NULL is allowed.
/// Free them; NULL is allowed.
SN_API void sn_osim_coordinates_destroy(sn_osim_coordinates *coordinates);
/// How many there are, those that move nothing included.
/// How many the file has.
SN_API int sn_osim_coordinates_count(const sn_osim_coordinates *coordinates);
/// NULL when out of range.
SN_API const sn_osim_coordinate_info *sn_osim_coordinate_at(const sn_osim_coordinates *coordinates,
                                                            int i);
/// By name, -1 when there is none.
SN_API int sn_osim_coordinate_find(const sn_osim_coordinates *coordinates, const char *name);
/// What a prescribed coordinate is at a time, seconds; the default of others.
SN_API double sn_osim_prescribed(const sn_osim_coordinates *coordinates, int i, double time);

/// A body of the file, or a frame on one ("pelvis", "pelvis_imu"): the joint of the model that carries it, -1 when
/// there is none, and where it is in that joint's frame.
SN_API int sn_osim_frame_find(const sn_osim_coordinates *coordinates, const char *name,
                              sn_frame *out);

/// Whether the file calls a marker fixed: a landmark, which OpenSim's scale tool leaves where the model has it.
/// False, and `out` unchanged, where there is no such marker or the file calls all of them the same.
SN_API bool sn_osim_landmark(const sn_osim_coordinates *coordinates, const char *marker, bool *out);

/// Whether the file is nobody's body yet: most of its bodies have pictures of bones in the size that they were drawn
/// in, and OpenSim's scale tool scales them along.
SN_API bool sn_osim_is_generic(const sn_osim_coordinates *coordinates);

/// An OpenSim model, of version 2 to 4 (files of version 20000 to 49999).
///
/// Joint 0 is the fixed joint "ground". Each joint of the file becomes a short chain, translations
/// before rotations: a slider or hinge for each coordinate that moves one axis evenly, a `function`
/// joint for the others, exact whatever the functions. A joint has the COORDINATE'S NAME, one of several
/// coordinates that of the file's joint, and its coordinates theirs: so the columns of OpenSim's .mot
/// files are those of sn_motion_from_table() and sn_table_from_motion(). A body has the frame of the
/// last joint of its chain, moved by a constant; a body that is welded on has that of the body it is
/// welded to. Markers keep their names.
///
/// Limits come from the range where a coordinate is `clamped`; one that is `locked` at 0 is locked,
/// one locked elsewhere becomes a constant. Read are CustomJoint, PinJoint, SliderJoint, WeldJoint,
/// BallJoint, GimbalJoint, UniversalJoint, PlanarJoint, FreeJoint, EllipsoidJoint and
/// ScapulothoracicJoint, reversed ones too. WeldConstraint, PointConstraint, PointOnLineConstraint and
/// ConstantDistanceConstraint are loops of the model, and so is a joint to a body that hangs on another
/// joint; a CoordinateCouplerConstraint is a coupling. Muscles and whatever else a file holds are passed
/// over.
///
/// @param out          free with sn_model_destroy(); NULL on failure
/// @param coordinates  what else is said of them, free with sn_osim_coordinates_destroy(); may be NULL
/// @param info         may be NULL
SN_API sn_status sn_osim_read(const char *text, size_t length, const sn_allocator *allocator,
                              sn_model **out, sn_osim_coordinates **coordinates, sn_osim_info *info,
                              sn_error *error);

// --- OpenSim's inverse kinematics: its setup files ---------------------------------------------------

/// Where a coordinate task takes its value from.
typedef enum sn_ik_value {
    SN_IK_DEFAULT,   ///< the coordinate's default in the model
    SN_IK_MANUAL,    ///< the task's own `value`
    SN_IK_FROM_FILE  ///< the coordinate file, frame by frame
} sn_ik_value;

/// A marker or a coordinate that is followed.
typedef struct sn_ik_task {
    const char *name;  ///< of the marker or the coordinate
    bool coordinate;   ///< else a marker
    bool apply;        ///< else it is not followed
    double weight;     ///< 0 or above
    sn_ik_value from;  ///< of a coordinate
    double value;      ///< of SN_IK_MANUAL, radians or metres
    int line;          ///< in the file
} sn_ik_task;

/// What a setup asks for. Names of files are as they stand there, "" for none.
typedef struct sn_ik_setup_info {
    const char *name;               ///< of the tool
    const char *model_file;         ///< .osim
    const char *marker_file;        ///< .trc, .c3d
    const char *coordinate_file;    ///< .mot, .sto
    const char *orientations_file;  ///< of sensors, .sto: the setup is one of OpenSense
    const char *task_file;          ///< a task set that stands in a file of its own
    const char *output_file;        ///< .mot
    const char *results_directory;  ///< where the output goes, unless its name is a path
    double first_time, last_time;   ///< seconds; infinite where not stated
    double accuracy;                ///< of the solution; 1e-5 where not stated
    double constraint_weight;       ///< INFINITY, the default: constraints hold strictly
    double sensor_rotation[3];  ///< of sensors to OpenSim's axes: about x, y, z of space, radians
    bool imu;                   ///< an IMUInverseKinematicsTool
    bool report_errors;         ///< write the errors of markers beside the motion
    bool report_markers;        ///< write where the model's markers are
    int ntask;                  ///< how many tasks there are
    int model_line, marker_line, coordinate_line, time_line, output_line;  ///< 0: not stated
    const char *note;  ///< what is in the file and not honoured, in sentences; "" for nothing
} sn_ik_setup_info;

/// A setup of OpenSim's inverse kinematics tools. Constant once read; threads may share one.
typedef struct sn_ik_setup sn_ik_setup;

/// Read a setup: an <InverseKinematicsTool>, an <IMUInverseKinematicsTool>, or an <IKTaskSet> alone, which
/// leaves all files and times open.
/// @param out  free with sn_ik_setup_destroy(); NULL on failure
SN_API sn_status sn_ik_setup_read(const char *text, size_t length, const sn_allocator *allocator,
                                  sn_ik_setup **out, sn_error *error);
/// The tasks of another file, in place of the setup's own: what `task_file` names.
SN_API sn_status sn_ik_setup_read_tasks(sn_ik_setup *setup, const char *text, size_t length,
                                        sn_error *error);
SN_API void sn_ik_setup_destroy(sn_ik_setup *setup);
/// Valid while the setup lives; NULL for NULL.
SN_API const sn_ik_setup_info *sn_ik_setup_about(const sn_ik_setup *setup);
/// NULL when out of range.
SN_API const sn_ik_task *sn_ik_setup_task(const sn_ik_setup *setup, int i);

// --- OpenSim's scaling -------------------------------------------------------------------------------

/// Two markers whose distance is measured.
typedef struct sn_scale_pair {
    const char *marker[2];  ///< their names
    int line;               ///< in the setup
} sn_scale_pair;

/// A body and its axes: what a measurement scales, or what is given by hand.
typedef struct sn_scale_body {
    const char *body;  ///< its name
    bool axis[3];      ///< of a measurement
    double factor[3];  ///< given by hand
    int line;          ///< in the setup
} sn_scale_body;

/// The mean of what its pairs say is the factor of its bodies.
typedef struct sn_scale_measurement {
    const char *name;  ///< its name
    int pair, npair;   ///< in `pairs`
    int body, nbody;   ///< in `bodies`
    int line;          ///< in the setup
} sn_scale_measurement;

/// How a step of the scaling finds its factors.
typedef enum sn_scale_step { SN_SCALE_MEASUREMENTS, SN_SCALE_MANUAL } sn_scale_step;

/// What a <ScaleTool> asks for. Names are "" where none is stated; what is switched off is left out.
typedef struct sn_scale_setup_info {
    const char *name;                 ///< of the subject; "" where it is "default"
    double mass;                      ///< kg; 0: as the bodies give it
    const char *model_file;           ///< .osim
    const char *marker_set_file;      ///< .xml; markers that the model gets before all else
    int model_line, marker_set_line;  ///< 0: not stated

    bool scales;                               ///< the ModelScaler is on
    sn_scale_step step[2];                     ///< in their order
    int nstep;                                 ///< how many
    const sn_scale_measurement *measurement;   ///< those that are on
    int nmeasurement;                          ///< how many
    const sn_scale_pair *pairs;                ///< of all measurements
    const sn_scale_body *bodies;               ///< of all measurements
    const sn_scale_body *manual;               ///< given by hand
    int nmanual;                               ///< how many
    const char *measurement_set_file;          ///< measurements that stand in a file of their own
    const char *scale_set_file;                ///< factors that do
    int measurement_set_line, scale_set_line;  ///< 0: not stated
    const char *measured_file;                 ///< the trial that is measured
    double measured_first, measured_last;      ///< seconds; infinite where not stated
    int measured_line, measured_time_line;     ///< 0: not stated
    bool preserve_mass;                        ///< each body keeps its share of the mass
    const char *scaled_model_file;             ///< where the model goes before markers are placed
    const char *scale_file;                    ///< where the factors go

    bool places;                        ///< the MarkerPlacer is on
    const char *static_file;            ///< the trial of the static pose
    double static_first, static_last;   ///< seconds that are averaged; infinite where not stated
    int static_line, static_time_line;  ///< 0: not stated
    double max_movement;          ///< in the trial's unit, above which is told; negative: none
    const char *coordinate_file;  ///< .mot, .sto: values of coordinate tasks
    int coordinate_line;          ///< 0: not stated
    const char *task_file;        ///< a task set that stands in a file of its own
    const char *motion_file, *output_model_file, *marker_file;  ///< where the results go

    const char *note;  ///< what is in the file and not honoured, in sentences; "" for nothing
} sn_scale_setup_info;

/// A setup of OpenSim's scale tool. Constant once read; threads may share one.
typedef struct sn_scale_setup sn_scale_setup;

/// Read a <ScaleTool>.
/// @param out  free with sn_scale_setup_destroy(); NULL on failure
SN_API sn_status sn_scale_setup_read(const char *text, size_t length, const sn_allocator *allocator,
                                     sn_scale_setup **out, sn_error *error);
/// The tasks of another file, in place of the setup's own: what `task_file` names.
SN_API sn_status sn_scale_setup_read_tasks(sn_scale_setup *setup, const char *text, size_t length,
                                           sn_error *error);
/// The measurements or the factors of another file, in place of the setup's own: what `measurement_set_file` and
/// `scale_set_file` name. On failure the setup has none of them.
SN_API sn_status sn_scale_setup_read_set(sn_scale_setup *setup, const char *text, size_t length,
                                         sn_error *error);
SN_API void sn_scale_setup_destroy(sn_scale_setup *setup);
/// Valid while the setup lives; NULL for NULL.
SN_API const sn_scale_setup_info *sn_scale_setup_about(const sn_scale_setup *setup);
/// The inverse kinematics of its static pose; lives as long as the setup. NULL for NULL.
SN_API const sn_ik_setup *sn_scale_setup_ik(const sn_scale_setup *setup);

// --- GLB -------------------------------------------------------------------------------------------
//
// A picture that moves: a model, its motion and its markers as a binary glTF 2.0 file (.glb), which
// browsers, Blender and game engines open; and the way back, from sinew's files and others'.

/// What to show. Start from sn_glb_scene_default(). Everything must live until the writer returns.
///
/// Every joint is a node with its name, placed and turned as its frame is. Bones and small balls are
/// one mesh, skinned to those nodes with the model's zero pose as the rest pose: Blender and game
/// engines import an armature. A bone leads from a joint to each of its children, from a joint at
/// the end to the middle of its markers, or, where `tips` are given, from a joint to its tip.
typedef struct sn_glb_scene {
    uint32_t version;         ///< set by the default function, checked on writing
    const sn_model *model;    ///< needed
    const double *tips;       ///< njoint x 3, ends of the joints' bones in their frames; NULL: none
    const double *q;          ///< nq, the pose where there is no motion; NULL: all zero
    const sn_motion *motion;  ///< NULL: one still picture
    const sn_recording *recording;  ///< measured markers, in metres and the model's world; NULL
    const sn_samples *samples;  ///< the same, read one by one, in the place of `recording`; NULL
    bool fitted;                ///< show the model's own markers, in a second colour; default false
    bool shapes;                ///< show the collision shapes, to be seen through; default false
    double rate;                ///< frames per second; 0: the motion's, else the recording's
    double rotation[4];         ///< w x y z, turns the scene so that +y is up; see sn_glb_up()
} sn_glb_scene;

/// A model at its zero pose, without markers.
SN_API sn_glb_scene sn_glb_scene_default(const sn_model *model);

/// The rotation that turns an axis upwards: "x", "Y", "+Z", "-y", ... as in a recording's y_screen.
/// False, and none, when it is no axis.
SN_API bool sn_glb_up(const char *axis, double rotation[4]);

/// Write the file, piece by piece: memory goes with the model, not with the length of the motion.
/// Frame 0 of motion and recording are at time 0. A marker is hidden while its sample is missing,
/// and left out when all are. What does not move gets no animation. SN_ERR_SIZE over 4 GiB, the
/// most that the format can hold, or over 8,388,608 frames, behind which its times could not be
/// told apart; SN_ERR_VALUE when a number is not finite; SN_ERR_ARGUMENT when something moves and
/// no rate is known, or two that differ; SN_ERR_FILE when the sink fails.
/// @param allocator  for what the writer needs meanwhile; NULL for malloc
SN_API sn_status sn_glb_write(const sn_glb_scene *scene, const sn_sink *sink,
                              const sn_allocator *allocator, sn_error *error);

/// Bytes of the note.
enum { SN_GLB_NOTE = 600 };

/// What a GLB file holds, in metres, y up.
typedef struct sn_glb_content {
    sn_model *model;          ///< its zero pose is the file's rest pose
    sn_motion *motion;        ///< of the first animation; NULL when no joint has keys
    sn_recording *recording;  ///< measured markers of a file of sinew's; NULL when there are none
    char note[SN_GLB_NOTE];   ///< what was left out or decided, "" for nothing
} sn_glb_content;

/// Read a GLB file, or a glTF text that holds its numbers itself. In files of sinew's the joints are
/// the model's (free, ball, translation or fixed, as they move), the fitted markers its markers, and
/// numbers come back to float precision. In others' the joints are those of the skins; without a
/// skin the nodes that carry nothing or move. See docs/files.md.
/// @param out  free with sn_glb_content_destroy(); empty on failure
SN_API sn_status sn_glb_read(const void *bytes, size_t length, const sn_allocator *allocator,
                             sn_glb_content *out, sn_error *error);
SN_API void sn_glb_content_destroy(sn_glb_content *content);

// --- reading any file ------------------------------------------------------------------------------
//
// Any file that sinew reads, by what is in it.

/// Every format and its name; the ending of its files is the name in small letters, where there is one.
#define SN_FORMAT_LIST(ENTRY)                                                                      \
    ENTRY(SN_FORMAT_UNKNOWN, "unknown")                                                            \
    ENTRY(SN_FORMAT_MODEL, "sinew")     /* native JSON: a model */                                 \
    ENTRY(SN_FORMAT_TASKS, "tasks")     /* native JSON: tasks */                                   \
    ENTRY(SN_FORMAT_MARKERS, "markers") /* a marker set: native JSON, or a MarkerSet of OpenSim */ \
    ENTRY(SN_FORMAT_ASF, "asf")                                                                    \
    ENTRY(SN_FORMAT_AMC, "amc")                                                                    \
    ENTRY(SN_FORMAT_BVH, "bvh")                                                                    \
    ENTRY(SN_FORMAT_C3D, "c3d")                                                                    \
    ENTRY(SN_FORMAT_TRC, "trc")                                                                    \
    ENTRY(SN_FORMAT_MOT, "mot") /* and STO */                                                      \
    ENTRY(SN_FORMAT_CSV, "csv")                                                                    \
    ENTRY(SN_FORMAT_URDF, "urdf")                                                                  \
    ENTRY(SN_FORMAT_OSIM, "osim")                                                                  \
    ENTRY(SN_FORMAT_MJCF, "mjcf") /* MuJoCo's XML */                                               \
    ENTRY(SN_FORMAT_GLB, "glb")   /* and glTF text, which is read only */

/// See SN_FORMAT_LIST.
typedef enum sn_format {
#define SN_FORMAT_ENTRY(code, text) code,
    SN_FORMAT_LIST(SN_FORMAT_ENTRY)
#undef SN_FORMAT_ENTRY
        SN_FORMAT_COUNT
} sn_format;

/// Its name, "c3d"; never NULL.
SN_API const char *sn_format_name(sn_format format);

/// What the bytes are: by what they begin with, then by the ending of the file's name (NULL: there is none).
SN_API sn_format sn_format_of(const void *bytes, size_t length, const char *file_name);
/// What a file of this name should be, by its ending alone; SN_FORMAT_MODEL for ".json".
SN_API sn_format sn_format_of_name(const char *file_name);

/// Start from sn_document_options_default().
typedef struct sn_document_options {
    uint32_t version;
    const sn_skeleton *skeleton;  ///< that an AMC file belongs to; NULL when there is none
    double metres_per_unit;       ///< BVH; 0, the default: guessed from its size
    bool use_limits;              ///< ASF; default false
    bool floating_base;           ///< URDF: the root link moves freely; default false
} sn_document_options;

/// The defaults that sn_document_options states.
SN_API sn_document_options sn_document_options_default(void);

/// What a file holds. Exactly what its format has is set, the rest is NULL.
typedef struct sn_document {
    sn_format format;                  ///< what the file is
    const sn_model *model;             ///< of the skeleton, or owned: native JSON, URDF, OSIM, GLB
    sn_skeleton *skeleton;             ///< ASF, BVH
    sn_motion *motion;                 ///< AMC, BVH, GLB
    sn_recording *recording;           ///< C3D, TRC, CSV and STO with markers, GLB of sinew
    sn_table *table;                   ///< MOT, STO, CSV without markers
    sn_model *owned;                   ///< the model where no skeleton has it; `model` points to it
    sn_osim_coordinates *coordinates;  ///< OSIM: defaults, ranges, what is prescribed
    int up;                            ///< the model's axis that points up: 0 1 2
    double up_sign;                    ///< 1 or -1
    bool up_guessed;  ///< from the skeleton's bones; else it is stated, or the format's custom
    char note
        [SN_OSIM_NOTE];  ///< OSIM, GLB, URDF, MJCF: what is not as in the file; ASF, BVH: what the reader decided
} sn_document;

/// Read a file of any format. AMC needs options->skeleton: SN_ERR_ARGUMENT without it.
/// @param out  free with sn_document_destroy(); empty on failure
SN_API sn_status sn_document_read(const void *bytes, size_t length, const char *file_name,
                                  const sn_document_options *options, const sn_allocator *allocator,
                                  sn_document *out, sn_error *error);
SN_API void sn_document_destroy(sn_document *document);

// --- writing any file ------------------------------------------------------------------------------
//
// Any output: a model, its motion and its markers as a file of whichever format.

/// What a file is made from. Start from sn_scene_default(). Everything must live until the writer
/// returns.
typedef struct sn_scene {
    uint32_t version;             ///< set by the default function, checked on writing
    const sn_model *model;        ///< that poses belong to; NULL: markers alone
    const sn_skeleton *skeleton;  ///< the ASF or BVH skeleton that the model came from; NULL: none.
                                  ///< Where nothing has changed it is written as it is
    bool reshaped;                ///< the model's lengths or joints are no longer the skeleton's
    const sn_motion *motion;      ///< NULL: the figure alone
    const sn_recording *recording;  ///< measured markers in metres and the model's world; NULL
    const sn_samples *samples;  ///< the same for GLB, read one by one, in the place of `recording`;
                                ///< NULL
    double
        metres_per_unit;  ///< of the output, for formats that can choose: BVH, ASF, C3D, TRC, STO,
                          ///< CSV; default 0: the skeleton's, else the format's custom
    double rotation[4];   ///< w x y z, turns figure and markers; default none
    int up;               ///< the model's axis that points up: 0 1 2; default 1
    double up_sign;       ///< 1 or -1
    bool shapes;          ///< GLB: show the model's collision shapes; default false
} sn_scene;

/// A model alone, or nothing.
SN_API sn_scene sn_scene_default(const sn_model *model);

/// From a document: its model, skeleton, motion, recording and up axis.
SN_API sn_scene sn_scene_of(const sn_document *document);

/// Write a scene as ASF, AMC, BVH, C3D, TRC, MOT (a table of coordinates, or of markers where there is
/// no motion), CSV, GLB or native JSON. Lengths of coordinates in MOT and CSV are metres.
/// SN_ERR_ARGUMENT with a sentence when the scene lacks what the format needs.
/// @param allocator  for what the writer needs meanwhile; NULL for malloc
SN_API sn_status sn_scene_write(const sn_scene *scene, sn_format format, const sn_sink *sink,
                                const sn_allocator *allocator, sn_error *error);

/// Metres per unit of length in the file that sn_scene_write() would write; 0 where it is not known: a
/// format without lengths, markers of an unknown unit.
SN_API double sn_scene_unit(const sn_scene *scene, sn_format format);

/// Where the model's markers are in every frame of a motion, in metres.
/// @param out  free with sn_recording_destroy(); NULL on failure
SN_API sn_status sn_marker_paths(const sn_model *model, const sn_motion *motion,
                                 const sn_allocator *allocator, sn_recording **out,
                                 sn_error *error);

/// Turn every sample of a recording by a rotation w x y z.
SN_API void sn_recording_turn(sn_recording *recording, const double rotation[4]);

/// "m", "cm", "mm", "in", "ft", "dm", or the metres with a number: the reverse of sn_unit_metres().
SN_API void sn_unit_name(double metres, char out[24]);

#ifdef __cplusplus
}
#endif
