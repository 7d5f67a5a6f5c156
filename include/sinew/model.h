// SPDX-License-Identifier: MIT
// Models: trees of joints with markers on them. Constant once built; threads may share one.
//
// A pose is nq coordinates, a change of pose nv velocities, both joint after joint in the order in
// which the joints were added (a file's order). Index q of a joint's first coordinate and v of its
// first velocity come from sn_model_q_index() and sn_model_v_index().
#pragma once

#include "sinew/math.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- functions -------------------------------------------------------------------------------------
//
// Functions of a few numbers: what drives the motions of a `function` joint.

/// The most that a function takes.
enum {
    SN_MAX_ARGUMENTS = 6,
    SN_MAX_FUNCTION_NUMBERS = 100000  ///< knots or coefficients of one function
};

/// The kinds of function; sn_function_type_name() gives their names in files. c are the numbers y.
typedef enum sn_function_type {
    SN_FUNCTION_CONSTANT,  ///< c[0]; no argument
    SN_FUNCTION_LINEAR,    ///< c[0] a_0 + c[1] a_1 + ... + c[n], n arguments
    /// c[0] + c[1] a + c[2] a^2 + ...; of several arguments all products of powers up to a degree in
    /// all, ordered by the power of a_0, then of a_1, ...: 1, b, b^2, a, a b, a^2 for two and degree 2
    SN_FUNCTION_POLYNOMIAL,
    SN_FUNCTION_SPLINE,    ///< the cubic spline of Forsythe, Malcolm and Moler through the points
                           ///< (x, y), straight beyond its ends: OpenSim's SimmSpline
    SN_FUNCTION_POLYLINE,  ///< straight between the points (x, y), and on beyond the ends
    SN_FUNCTION_SINE,      ///< c[0] sin(c[1] a_0 + ... + c[n] a_(n-1) + c[n+1]) + c[n+2]
    SN_FUNCTION_TYPE_COUNT
} sn_function_type;

/// A function of some of a joint's coordinates.
typedef struct sn_function {
    sn_function_type type;           ///< what it is
    double scale;                    ///< of the result; 1 leaves it as it is
    int nargument;                   ///< 0 for a constant, 1 for splines and polylines
    int argument[SN_MAX_ARGUMENTS];  ///< which coordinates, each once
    int nx, ny;                      ///< how many numbers x and y hold
    const double *x;                 ///< nx: the knots of a spline or polyline, rising
    const double *y;                 ///< ny: values at the knots, or the coefficients c
} sn_function;

/// "constant", "linear", ...; "unknown" for what is none.
SN_API const char *sn_function_type_name(sn_function_type type);

/// By name, SN_FUNCTION_TYPE_COUNT when unknown.
SN_API sn_function_type sn_function_type_find(const char *name);

/// NULL, or what is wrong with a function of `ncoordinate` coordinates, in a few words.
SN_API const char *sn_function_check(const sn_function *function, int ncoordinate);

// --- models ----------------------------------------------------------------------------------------

/// The most that a model holds.
enum {
    SN_MAX_JOINTS = 10000,
    SN_MAX_MARKERS = 100000,
    SN_MAX_JOINT_DOFS = 6,
    SN_MAX_JOINT_MOVES = 8,
    SN_MAX_REACH = 16,
    SN_MAX_NAME = 255,  ///< bytes of a name
    SN_MAX_COUPLINGS = 10000,
    SN_MAX_LOOPS = 1000,
    SN_MAX_SHAPES = 2000,
    SN_MAX_EXCLUDED = 100000,
    SN_MAX_FRAMES = 100000,
    SN_MAX_LEADERS = SN_MAX_ARGUMENTS
};

/// The kinds of joint; sn_joint_type_name() gives their names in files.
typedef enum sn_joint_type {
    SN_JOINT_FIXED,        ///< no motion
    SN_JOINT_HINGE,        ///< angle about axis
    SN_JOINT_SLIDER,       ///< distance along axis
    SN_JOINT_SCREW,        ///< angle about axis, and pitch metres per radian along it
    SN_JOINT_UNIVERSAL,    ///< angles about axis, then about axis2 as the first turned it
    SN_JOINT_EULER,        ///< order ABC: R = R_A R_B R_C
    SN_JOINT_BALL,         ///< 4 coordinates w x y z, 3 velocities: R <- exp(delta) R
    SN_JOINT_EXPMAP,       ///< a rotation vector that is added to
    SN_JOINT_SWING_TWIST,  ///< exp(s_u u + s_v v), then the twist about axis: s_u, s_v, twist
    SN_JOINT_PLANAR,       ///< along u, along v, then about axis
    SN_JOINT_TRANSLATION,  ///< x y z in the parent-side frame
    SN_JOINT_FREE,         ///< x y z, then a ball there: 7 coordinates, 6 velocities
    SN_JOINT_FUNCTION,     ///< turns and slides, each driven by a function of the coordinates
    SN_JOINT_TYPE_COUNT
} sn_joint_type;

/// One motion of a `function` joint: a turn about an axis or a slide along it, by what a function says.
typedef struct sn_joint_move {
    bool turns;            ///< about `axis` (normalised when used); else along it, times its length
    double axis[3];        ///< in the frame that the moves before this one lead to
    sn_function function;  ///< how far, in radians or metres
} sn_joint_move;

/// What a `function` joint does: its moves, outermost first. OpenSim's CustomJoint is the three
/// translations, then the three rotations.
typedef struct sn_joint_functions {
    int ncoordinate;                            ///< 1 to 6
    const char *coordinate[SN_MAX_JOINT_DOFS];  ///< their names; NULL for q1, q2, ...
    int nmove;                                  ///< 1 to SN_MAX_JOINT_MOVES
    sn_joint_move move[SN_MAX_JOINT_MOVES];     ///< outermost first
} sn_joint_functions;

/// A joint as a file states it. Start from sn_joint_default().
///
/// position and rotation lead from the parent joint's frame to this joint's parent-side frame,
/// in which the joint then moves. Swing-twist and planar joints need two axes across `axis`: with c
/// the largest component of the unit axis in size (z before x before y when equal), u is coordinate
/// axis c+1 made perpendicular to it and v = axis x u. So for axis z: u = x and v = y.
typedef struct sn_joint_desc {
    const char *name;    ///< different from all others
    int parent;          ///< index of the parent joint, -1 for the root; it may be added later
    sn_joint_type type;  ///< how it moves
    double position[3];  ///< in the parent joint's frame, metres
    double rotation[4];  ///< w x y z; normalised when used
    double axis[3];      ///< normalised when used
    double axis2[3];     ///< universal only
    double pitch;        ///< screw only, metres per radian
    char order[4];       ///< euler only: "XYZ", "ZYZ", ...
    const sn_joint_functions *functions;  ///< function only; copied with all it points to
    double lower[SN_MAX_JOINT_DOFS];      ///< per degree of freedom, -INFINITY for none
    double upper[SN_MAX_JOINT_DOFS];      ///< INFINITY for none; a ball's rotation takes no limits
    double
        swing;  ///< ball only: how far `axis` may lean from where it is at rest, INFINITY for any
    double
        twist[2];  ///< ball only: limits of the turn about `axis` that is left, infinite for none
    double
        turn;  ///< ball only, in the place of the others: how far it may turn from where it is at
               ///< rest, about whatever axis; INFINITY for any
    /// ball only, in the place of `swing`: the corners of a reach cone, a convex polygon on the sphere of
    /// directions that `axis` may point to, in order round it; in the parent-side frame, of any length
    double reach[SN_MAX_REACH][3];
    int nreach;                          ///< 0 for none, else 3 or more
    bool locked[SN_MAX_JOINT_DOFS];      ///< its column of every Jacobian is zero
    double strength[SN_MAX_JOINT_DOFS];  ///< scales its column; 1 by default
    double
        speed[SN_MAX_JOINT_DOFS];  ///< the greatest, radians or metres a second; 0: none is stated
    double mass;                   ///< of the body that this joint carries, kilograms; 0 by default
    double centre[3];              ///< of that mass, in the joint's frame
    /// ball, euler and free only: its own rotation while the figure stands, w x y z, for skeletons in whose zero pose
    /// nobody does: a fit takes that for the figure at rest. Normalised when used; 1 0 0 0 by default, as at zero
    double stance[4];
} sn_joint_desc;

/// A point fixed to a joint's frame.
typedef struct sn_marker_desc {
    const char *name;    ///< different from all others
    int joint;           ///< that it sits on
    double position[3];  ///< in the joint's frame, metres
    double weight;       ///< of its goal, 0 or above
} sn_marker_desc;

/// One coordinate of a joint: a plain number, not a part of a quaternion.
typedef struct sn_coordinate {
    int joint;  ///< index of the joint
    int index;  ///< among the joint's coordinates, from 0
} sn_coordinate;

/// A coordinate that follows others: follower = function(leaders), at every pose. A leader may
/// itself follow others. The follower's own lock and strength do not count: it moves as its leaders
/// do.
typedef struct sn_coupling_desc {
    sn_coordinate follower;                ///< the coordinate that follows
    int nleader;                           ///< how many it follows
    sn_coordinate leader[SN_MAX_LEADERS];  ///< the function's arguments
    sn_function function;  ///< of the leaders in their order; `argument` is not looked at
} sn_coupling_desc;

/// The ways in which a loop closes; sn_loop_type_name() gives their names in files. The points of
/// both bodies are `position`, each in its joint's frame.
typedef enum sn_loop_type {
    SN_LOOP_POINT,     ///< a ball: the points coincide
    SN_LOOP_PIN,       ///< the points coincide, and the axes are parallel
    SN_LOOP_WELD,      ///< the points coincide, and so do the rotations
    SN_LOOP_LINE,      ///< the first point lies on the line through the second along its axis
    SN_LOOP_DISTANCE,  ///< the points lie `distance` apart, which is above 0
    SN_LOOP_TYPE_COUNT
} sn_loop_type;

/// Two bodies held together beside the tree. Start from sn_loop_default().
typedef struct sn_loop_desc {
    sn_loop_type type;      ///< what is held
    int joint[2];           ///< the second may be -1, the world
    double position[2][3];  ///< points in the two joints' frames, metres
    double axis[2][3];      ///< pin: of both; line: of the second. Normalised when used
    double rotation[2][4];  ///< weld: w x y z, normalised when used
    double distance;        ///< between them, metres
} sn_loop_desc;

/// The kinds of collision shape; sn_shape_type_name() gives their names in files.
typedef enum sn_shape_type {
    SN_SHAPE_SPHERE,   ///< around `from`
    SN_SHAPE_CAPSULE,  ///< all points within `radius` of the segment from `from` to `to`
    SN_SHAPE_PLANE,  ///< the half-space behind the plane through `from`; `normal` points out of it
    SN_SHAPE_TYPE_COUNT
} sn_shape_type;

/// What of a body must not run into others. Start from sn_shape_default(). Two shapes meet when
/// `kind` of one and `meets` of the other have a bit in common (MuJoCo's contype and conaffinity).
typedef struct sn_shape_desc {
    const char *name;    ///< may be NULL; several may have one
    sn_shape_type type;  ///< what it is
    int joint;           ///< that carries it; -1 for the world
    double from[3];      ///< in the joint's frame, metres
    double to[3];        ///< capsule: the other end
    double normal[3];    ///< plane; normalised when used
    double radius;       ///< sphere and capsule: 0 or above
    uint32_t kind;       ///< bits, default 1
    uint32_t meets;      ///< bits, default 1
} sn_shape_desc;

/// A name for a place on a joint: an OpenSim file's body or joint, which is a chain of joints here. Tasks
/// may speak of it; a fit does not look at it.
typedef struct sn_frame_desc {
    const char *name;    ///< different from all other frames
    int joint;           ///< that carries it
    double position[3];  ///< in the joint's frame, metres
    double rotation[4];  ///< w x y z; normalised when used
} sn_frame_desc;

/// A tree of joints with markers on them.
typedef struct sn_model sn_model;
/// Joints and markers on their way to a model.
typedef struct sn_builder sn_builder;

/// "fixed", "hinge", ...; "unknown" for what is none.
SN_API const char *sn_joint_type_name(sn_joint_type type);

/// A joint of this type with parent -1, no offset, axis z (axis2 x), order XYZ, no limits.
SN_API sn_joint_desc sn_joint_default(sn_joint_type type);

/// Collects joints and markers. Names are copied. A builder that has failed stays failed, so add
/// everything and look at what sn_builder_finish() says.
SN_API sn_status sn_builder_create(const char *model_name, const sn_allocator *allocator,
                                   sn_builder **out, sn_error *error);
SN_API void sn_builder_destroy(sn_builder *builder);

/// Add a joint; its index, or -1 when memory is out or there are too many.
SN_API int sn_builder_joint(sn_builder *builder, const sn_joint_desc *joint);

/// Add a marker; its index, or -1.
SN_API int sn_builder_marker(sn_builder *builder, const sn_marker_desc *marker);

/// Let a coordinate follow others; its index, or -1. The function's numbers are copied.
SN_API int sn_builder_couple(sn_builder *builder, const sn_coupling_desc *coupling);

/// Close a loop; its index, or -1. Poses close it only where a solver made them.
SN_API int sn_builder_loop(sn_builder *builder, const sn_loop_desc *loop);

/// Add a collision shape; its index, or -1.
SN_API int sn_builder_shape(sn_builder *builder, const sn_shape_desc *shape);

/// Shapes of these two joints (-1: the world) never count as running into each other; its index, or -1.
SN_API int sn_builder_exclude(sn_builder *builder, int joint, int joint2);

/// Give a place on a joint a name; its index, or -1.
SN_API int sn_builder_frame(sn_builder *builder, const sn_frame_desc *frame);

/// A builder that holds all of a model, to be changed or added to.
SN_API sn_status sn_builder_create_from(const sn_model *model, const sn_allocator *allocator,
                                        sn_builder **out, sn_error *error);

/// All couplings, loops, shapes, excluded pairs and frames of another model, in which the joints have the same
/// indices: for changed copies.
SN_API void sn_builder_couple_as(sn_builder *builder, const sn_model *model);

/// Check everything and build the model. The builder stays and must still be destroyed.
/// @param out    free with sn_model_destroy(); NULL on failure
/// @param error  names the joint; may be NULL
SN_API sn_status sn_builder_finish(const sn_builder *builder, sn_model **out, sn_error *error);
SN_API void sn_model_destroy(sn_model *model);

/// Read and write the native JSON file. Reading back what was written gives the same numbers.
SN_API sn_status sn_model_read_json(const char *text, size_t length, const sn_allocator *allocator,
                                    sn_model **out, sn_error *error);
/// @param allocator  for the text while it is written; NULL for malloc
SN_API sn_status sn_model_write_json(const sn_model *model, const sn_sink *sink,
                                     const sn_allocator *allocator, sn_error *error);

/// The built-in figure: a person of 1.75 m, 58 degrees of freedom, 41 markers; y up, looking along
/// z, arms stretched sideways at the zero pose.
SN_API sn_status sn_model_humanoid(const sn_allocator *allocator, sn_model **out, sn_error *error);

/// The name it was built with; never NULL.
SN_API const char *sn_model_name(const sn_model *model);
SN_API int sn_model_njoint(const sn_model *model);
SN_API int sn_model_nmarker(const sn_model *model);
SN_API int sn_model_nq(const sn_model *model);
SN_API int sn_model_nv(const sn_model *model);
SN_API int sn_model_depth(const sn_model *model);  ///< joints on the longest path from the root
SN_API int sn_model_root(const sn_model *model);   ///< index of the root joint

/// What a joint or marker was described as; valid while the model lives. NULL when out of range.
SN_API const sn_joint_desc *sn_model_joint(const sn_model *model, int joint);
SN_API const sn_marker_desc *sn_model_marker(const sn_model *model, int marker);

/// Index by name, -1 when there is none.
SN_API int sn_model_find_joint(const sn_model *model, const char *name);
SN_API int sn_model_find_marker(const sn_model *model, const char *name);

/// Where a joint's coordinates begin in a pose, and its velocities; -1 when there is no such joint.
SN_API int sn_model_q_index(const sn_model *model, int joint);
SN_API int sn_model_v_index(const sn_model *model, int joint);

/// Its name in files; "unknown" for what is none.
SN_API const char *sn_loop_type_name(sn_loop_type type);
/// Joints 0 and -1, points 0, axes z, rotations 1 0 0 0, distance 1.
SN_API sn_loop_desc sn_loop_default(sn_loop_type type);
SN_API int sn_model_nloop(const sn_model *model);
/// What was given; valid while the model lives. NULL when out of range.
SN_API const sn_loop_desc *sn_model_loop(const sn_model *model, int loop);

/// Its name in files; "unknown" for what is none.
SN_API const char *sn_shape_type_name(sn_shape_type type);
/// On joint 0, around its origin, normal z, radius 0.1, kind and meets 1.
SN_API sn_shape_desc sn_shape_default(sn_shape_type type);
SN_API int sn_model_nshape(const sn_model *model);
/// What was given; valid while the model lives. NULL when out of range.
SN_API const sn_shape_desc *sn_model_shape(const sn_model *model, int shape);
/// How many pairs of joints are excluded.
SN_API int sn_model_nexcluded(const sn_model *model);
/// The two joints of one, -1 for the world; false when out of range.
SN_API bool sn_model_excluded(const sn_model *model, int excluded, int joints[2]);

/// How many named frames there are beside joints and markers.
SN_API int sn_model_nframe(const sn_model *model);
/// What was given; valid while the model lives. NULL when out of range.
SN_API const sn_frame_desc *sn_model_frame(const sn_model *model, int frame);
/// Index by name, -1 when there is none.
SN_API int sn_model_find_frame(const sn_model *model, const char *name);

/// How many coordinates follow others.
SN_API int sn_model_ncoupling(const sn_model *model);
/// What was given; valid while the model lives. NULL when out of range.
SN_API const sn_coupling_desc *sn_model_coupling(const sn_model *model, int coupling);

/// Coordinates and velocities of a joint; 0 when there is no such joint.
SN_API int sn_model_joint_nq(const sn_model *model, int joint);
SN_API int sn_model_joint_nv(const sn_model *model, int joint);

/// Is a joint's k-th velocity in metres, not radians? A coordinate of a `function` joint is when it
/// drives slides and no turn.
SN_API bool sn_model_is_length(const sn_model *model, int joint, int k);

/// Limits (nv numbers, infinite for none) and gains (nv: 0 for a locked degree of freedom or one
/// that follows others, else its strength). A gain scales the column of every Jacobian, and so the
/// gradient and the Hessian. The range of a coordinate that one other follows is what both allow.
SN_API const double *sn_model_lower(const sn_model *model);
SN_API const double *sn_model_upper(const sn_model *model);
SN_API const double *sn_model_gain(const sn_model *model);

/// nv numbers: the velocity (file order) of each degree of freedom in sweep order.
SN_API const int *sn_model_sweep_order(const sn_model *model);

// Poses. None of these allocate; q and out may be the same array.

// Where a model has couplings, the poses that come out satisfy them to the last bit.

/// Set every coordinate that follows others from those it follows.
SN_API void sn_model_follow(const sn_model *model, double *q);
/// All coordinates 0, quaternions 1 0 0 0, followers where they belong.
SN_API void sn_model_zero(const sn_model *model, double *q);
/// out = q (+) delta
SN_API void sn_model_integrate(const sn_model *model, const double *q, const double *delta,
                               double *out);
/// delta with q0 (+) delta = q1
SN_API void sn_model_difference(const sn_model *model, const double *q0, const double *q1,
                                double *delta);
/// Unit quaternions; rotation vectors longer than pi, where no limit is set, made shorter.
SN_API void sn_model_normalize(const sn_model *model, double *q);
/// Move every coordinate into its limits. Returns how many moved.
SN_API int sn_model_clamp(const sn_model *model, double *q);
/// A random pose: uniform inside limits; without them angles in [-pi, pi], lengths in [-1, 1],
/// rotations uniform. The same state gives the same pose on every platform.
SN_API void sn_model_sample(const sn_model *model, uint64_t *state, double *q);
/// SN_ERR_VALUE and the joint named when a number is not finite or a quaternion is zero.
SN_API sn_status sn_model_check_pose(const sn_model *model, const double *q, sn_error *error);

/// The chains of Algorithm 1 in Erleben and Andrews, "Solving inverse kinematics using exact Hessian
/// matrices": each leaf with its path to the root.
/// for (int leaf = sn_model_next_leaf(m, -1); leaf >= 0; leaf = sn_model_next_leaf(m, leaf))
///     for (int joint = leaf; joint >= 0; joint = sn_model_parent(m, joint)) ...
SN_API int sn_model_next_leaf(const sn_model *model, int leaf);
SN_API int sn_model_parent(const sn_model *model, int joint);

#ifdef __cplusplus
}
#endif
