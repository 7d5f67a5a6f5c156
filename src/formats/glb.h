// SPDX-License-Identifier: MIT
// A scene on its way to a GLB file: the nodes below joints, what moves, and the shapes.
//
// Nodes: 0 turns everything so that y is up; then one per joint, in file order; then the parts;
// then the measured markers that are ever seen.
#pragma once

#include "base/text.h"
#include "model/model.h"
#include "sinew/glb.h"

enum { SN_GLB_SHAPE_VERTICES = 260, SN_GLB_SHAPE_INDICES = 1500 };

/// A surface of revolution about y.
typedef struct sn_glb_shape {
    int nvertex, nindex;
    float vertex[SN_GLB_SHAPE_VERTICES][6];  ///< position, normal
    uint16_t index[SN_GLB_SHAPE_INDICES];
} sn_glb_shape;

/// A ball of radius 1.
void sn_glb_ball(sn_glb_shape *shape);
/// A bone from 0 to 1 along y, its widest radius 1.
void sn_glb_bone(sn_glb_shape *shape);

/// What is drawn: each has a shape and a material of its own.
typedef enum sn_glb_mesh {
    SN_GLB_JOINT,
    SN_GLB_BONE,
    SN_GLB_MEASURED,
    SN_GLB_FITTED,
    SN_GLB_MESHES
} sn_glb_mesh;

/// A thing fixed to a joint.
typedef struct sn_glb_part {
    sn_glb_mesh mesh;
    const char *name;  ///< NULL: none
    sn_vec3 position;
    sn_quat rotation;
    sn_vec3 scale;
    int next;  ///< the next part of the same joint, -1 for none
} sn_glb_part;

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
    const sn_model *model;
    sn_error *error;
    void *owner;
    int nframe;     ///< of the motion; 1 when there is none
    int nrecorded;  ///< frames of the recording
    int nmarker;    ///< of the recording
    double rate;
    double size;  ///< across the figure, metres
    double ball;  ///< radius of a measured marker
    sn_quat up;
    bool used[SN_GLB_MESHES];

    sn_frame *frame;                ///< njoint, file order, at the first frame
    int *first_child, *next_child;  ///< njoint, file order; -1: none
    int *first_part;                ///< njoint
    int *marker_node;               ///< nmarker: the node of a measured marker, -1: never seen
    int npart;
    sn_glb_part *part;
    int ntrack;
    sn_glb_track *track;
    int nnode;
    sn_glb_shape *shape;  ///< ball and bone
} sn_glb;

/// Where a joint's frame lies in its parent's, at a frame of the motion.
sn_frame sn_glb_local(const sn_glb *glb, int joint, int frame);

/// Where a measured marker that has a node is first seen; false when that is not in frame 0.
bool sn_glb_first_sample(const sn_glb *glb, int marker, double out[3]);

/// Fill everything above; free `owner` in either case.
sn_status sn_glb_prepare(sn_glb *glb);

/// Bytes of the parts of the binary chunk.
typedef struct sn_glb_sizes {
    uint64_t vertices, indices, times, keys, all;
} sn_glb_sizes;

sn_glb_sizes sn_glb_measure(const sn_glb *glb);
/// Keys of a track.
int sn_glb_keys(const sn_glb *glb, const sn_glb_track *track);

/// Bytes of the whole file, or SN_ERR_SIZE when 32 bits do not hold them.
sn_status sn_glb_total(const sn_glb_sizes *sizes, size_t json_length, uint32_t *out,
                       sn_error *error);

/// The JSON chunk, without its padding.
void sn_glb_json(const sn_glb *glb, const sn_glb_sizes *sizes, sn_text *text);
