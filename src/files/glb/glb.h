// SPDX-License-Identifier: MIT
// A scene on its way to a GLB file: the nodes below joints, what moves, and the shapes.
//
// Nodes: 0 turns everything so that y is up; then one per joint, in file order; then the fitted
// markers; then the measured markers that are ever seen; then the collision shapes; then the body. The body is one mesh, bones
// and balls, skinned to the joints as they are at the zero pose: that is what Blender and game
// engines make an armature of, and its rest pose.
#pragma once

#include "base/text.h"
#include "model/model.h"
#include "sinew/files.h"

enum {
    SN_GLB_SHAPE_VERTICES = 260,
    SN_GLB_SHAPE_INDICES = 1500,
    SN_GLB_SHAPES = 4  ///< marker; of the body: ball, bone; of what collides
};

/// A surface of revolution about y.
typedef struct sn_glb_shape {
    int nvertex, nindex;
    float vertex[SN_GLB_SHAPE_VERTICES][6];  ///< position, normal
    uint16_t index[SN_GLB_SHAPE_INDICES];
} sn_glb_shape;

/// A marker: a ball of radius 1.
void sn_glb_marker(sn_glb_shape *shape);
/// The same with fewer corners: every joint has one of its own.
void sn_glb_ball(sn_glb_shape *shape);
/// A bone from 0 to 1 along y, its widest radius 1.
void sn_glb_bone(sn_glb_shape *shape);

/// A ball of radius 1 with two rings at its middle, between which it is drawn apart into a capsule. The band between them
/// is the last SN_GLB_BAND indices.
void sn_glb_capsule(sn_glb_shape *shape);
enum { SN_GLB_CAPSULE_CORNERS = 20, SN_GLB_BAND = 6 * SN_GLB_CAPSULE_CORNERS };

/// What is drawn: each has a material of its own.
typedef enum sn_glb_kind {
    SN_GLB_JOINT,
    SN_GLB_BONE,
    SN_GLB_MEASURED,
    SN_GLB_FITTED,
    SN_GLB_SHELL,  ///< a collision shape
    SN_GLB_KINDS
} sn_glb_kind;

/// A marker, fixed to a joint or in the world.
typedef struct sn_glb_part {
    sn_glb_kind kind;
    const char *name;
    sn_vec3 position;
    double radius;
    int next;  ///< the next part of the same joint, -1 for none
} sn_glb_part;

/// A bone or a ball of the body, carried by a joint.
typedef struct sn_glb_solid {
    sn_glb_kind kind;
    int joint;
    sn_quat rotation;
    sn_vec3 scale;
} sn_glb_solid;

typedef enum sn_glb_path { SN_GLB_TRANSLATION, SN_GLB_ROTATION, SN_GLB_SCALE } sn_glb_path;

/// One animated property of a node.
typedef struct sn_glb_track {
    sn_glb_path path;
    int node;
    int source;  ///< the joint (file order) or, when `measured`, the recording's marker
    bool measured;
} sn_glb_track;

typedef struct sn_glb {
    const sn_glb_scene *scene;
    const sn_allocator *allocator;
    const sn_model *model;
    sn_error *error;
    void *owner;
    int nframe;  ///< of the motion; 1 when there is none
    sn_samples samples;
    int nrecorded;  ///< their frames
    int nmarker;    ///< their markers
    double rate;
    double size;  ///< across the figure, metres
    double ball;  ///< radius of a measured marker
    sn_quat up;
    bool used[SN_GLB_KINDS];

    sn_frame *frame;                ///< njoint, file order, at the first frame
    sn_frame *bind;                 ///< the same at the zero pose
    int *first_child, *next_child;  ///< njoint, file order; -1: none
    int *first_part;                ///< njoint
    int *marker_node;               ///< nmarker: the node of a measured marker, -1: never seen
    int npart;
    sn_glb_part *part;
    int nsolid;
    sn_glb_solid *solid;  ///< bones before balls
    int count[2];         ///< of balls, of bones
    int ntrack;
    sn_glb_track *track;
    int nnode;
    int nshell;           ///< collision shapes that are drawn: the model's, or none
    int first_shell;      ///< node of the first
    sn_glb_shape *shape;  ///< SN_GLB_SHAPES
} sn_glb;

/// Where a joint's frame lies in its parent's, at a frame of the motion.
sn_frame sn_glb_local(const sn_glb *glb, int joint, int frame);

/// Where a measured marker is in a frame; false, and `out` untouched, while it is missing.
static inline bool sn_glb_sample(const sn_glb *glb, int frame, int marker, double out[3]) {
    return glb->samples.sample(glb->samples.user, frame, marker, out);
}

/// Where a measured marker that has a node is first seen; false when that is not in frame 0.
bool sn_glb_first_sample(const sn_glb *glb, int marker, double out[3]);

/// Fill everything above; free `owner` in either case.
sn_status sn_glb_prepare(sn_glb *glb);

/// A vertex of the body at the zero pose: position, normal.
void sn_glb_skin_vertex(const sn_glb *glb, const sn_glb_solid *solid, int vertex, double out[6]);
/// What leads from the figure at the zero pose into a joint's frame: a matrix by columns.
void sn_glb_skin_inverse(const sn_glb *glb, int joint, double out[16]);

/// The shortest turn from y to a direction; straight down, any half turn will do.
sn_quat sn_glb_from_y(sn_vec3 direction);

/// The shape of a part of the body.
const sn_glb_shape *sn_glb_solid_shape(const sn_glb *glb, sn_glb_kind kind);

/// A vertex of a collision shape in the frame of its joint, or in the world: position, normal.
void sn_glb_shell_vertex(const sn_glb *glb, int shell, int vertex, double out[6]);

/// Bytes of the parts of the binary chunk, in their order.
typedef struct sn_glb_sizes {
    uint64_t vertices;  ///< of the body: position, normal
    uint64_t weights;   ///< of the body: four joints, four weights
    uint64_t inverse;   ///< matrices of the joints
    uint64_t indices;
    uint64_t marker, marker_indices;  ///< of the markers' shape; 0 without markers
    uint64_t shells, shell_indices;   ///< of the collision shapes; 0 without
    uint64_t times, keys, all;
} sn_glb_sizes;

sn_glb_sizes sn_glb_measure(const sn_glb *glb);
/// Keys of a track.
int sn_glb_keys(const sn_glb *glb, const sn_glb_track *track);

/// Bytes of the whole file, or SN_ERR_SIZE when 32 bits do not hold them.
sn_status sn_glb_total(const sn_glb_sizes *sizes, size_t json_length, uint32_t *out,
                       sn_error *error);

/// The JSON chunk, without its padding.
void sn_glb_json(const sn_glb *glb, const sn_glb_sizes *sizes, sn_text *text);
