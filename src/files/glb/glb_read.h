// SPDX-License-Identifier: MIT
// A glTF file that is being read: its lists, its tree of nodes, the keys of its first animation.
//
// Where a node lies is kept as glTF has it, in three parts: translation, rotation, scale. A model's
// frames are rigid, so a scale only moves what hangs below: each node knows the nearest joint above
// it (`base`), the rigid way from that joint's frame to its own place (`fold`, through nodes that
// are no joints), and the scale that its translation is measured with (`above`).
#pragma once

#include "base/json.h"
#include "math/vec3.h"
#include "sinew/files.h"

/// A list of the JSON text that is asked for by index.
typedef struct sn_gltf_list {
    int count;
    const sn_json_node **item;
} sn_gltf_list;

/// The numbers of an accessor, wherever they lie in the file.
typedef struct sn_gltf_view {
    const unsigned char *data;
    size_t stride;  ///< bytes from one element to the next
    int count;      ///< elements
    int width;      ///< numbers of an element
    int component;  ///< 5120 ... 5126
} sn_gltf_view;

typedef struct sn_gltf_buffer {
    const unsigned char *data;
    size_t length;
    void *owner;  ///< of what was decoded, NULL where it is part of the file
} sn_gltf_buffer;

/// What sinew's own files say about a node, in `extras`.
typedef enum sn_gltf_mark {
    SN_GLTF_PLAIN,
    SN_GLTF_JOINT,
    SN_GLTF_FITTED,
    SN_GLTF_MEASURED
} sn_gltf_mark;

typedef enum sn_gltf_path {
    SN_GLTF_MOVES,
    SN_GLTF_TURNS,
    SN_GLTF_SCALES,
    SN_GLTF_PATHS
} sn_gltf_path;

typedef struct sn_gltf_node {
    const sn_json_node *json;
    const char *name;  ///< "" where it has none
    int parent;        ///< -1: none
    int first_child, next_child;
    bool in_scene;
    bool shown;  ///< it carries a mesh, a camera or a light
    bool joint;
    bool needed;  ///< a joint or marker is at it or below
    sn_gltf_mark mark;
    const char *broken;  ///< what is wrong with its place, should anything need it; NULL: nothing
    int fault;           ///< the first broken node from the root down to it, -1: none
    sn_vec3 translation, scale;
    sn_quat rotation;
    sn_vec3 rest_translation;  ///< at the model's zero pose; else as above
    sn_quat rest_rotation;
    int channel[SN_GLTF_PATHS];  ///< of the animation, -1: none

    int base;  ///< the nearest joint above, -1: the world
    sn_frame fold;
    sn_vec3 above;
    bool blurred;  ///< `above` is a mean: scales that differ by axis do not pass through rotations
    int id;        ///< of the joint in the model
} sn_gltf_node;

typedef enum sn_gltf_way { SN_GLTF_LINEAR, SN_GLTF_STEP, SN_GLTF_CUBIC } sn_gltf_way;

typedef struct sn_gltf_sampler {
    bool used;
    sn_gltf_way way;
    sn_gltf_path path;
    sn_gltf_view times, values;
} sn_gltf_sampler;

/// Evenly spaced frames.
typedef struct sn_gltf_clock {
    double start;  ///< seconds
    double rate;   ///< frames per second; 0: nothing moves
    bool even;     ///< every key is at a frame
} sn_gltf_clock;

typedef struct sn_gltf {
    const sn_allocator *allocator;
    sn_error *error;
    size_t length;  ///< of the file: what bounds everything that is made of it
    char *note;     ///< SN_GLB_NOTE bytes

    sn_json *json;
    const sn_json_node *root;
    sn_gltf_buffer bin;
    void *lists_owner, *tree_owner, *keys_owner;
    sn_gltf_list accessors, views, buffers;
    sn_gltf_buffer *buffer;  ///< as many as `buffers`

    int nnode;
    sn_gltf_node *node;
    int *order;  ///< nnode: parents first
    int njoint, nmeasured;
    bool added_root;  ///< joint 0 is no node: several trees hang on it

    int nsampler;
    sn_gltf_sampler *sampler;
    int nchannel;
    int *channel_sampler;  ///< nchannel
    sn_gltf_clock clock;
} sn_gltf;

/// Add a sentence to the note, as long as there is room.
void sn_gltf_note(sn_gltf *gltf, const char *format, ...) SN_PRINTF(2, 3);

/// Container, JSON and lists. sn_gltf_close() in either case.
sn_status sn_gltf_open(sn_gltf *gltf, const void *bytes, size_t length);
void sn_gltf_close(sn_gltf *gltf);

/// A list of the JSON object, NULL where it has none. It fails when the key holds something else.
sn_status sn_gltf_array(sn_gltf *gltf, const sn_json_node *object, const char *key,
                        const sn_json_node **out);
/// A whole number from 0 to below `limit`; `otherwise` where the key is missing.
sn_status sn_gltf_integer(sn_gltf *gltf, const sn_json_node *object, const char *key, double limit,
                          double otherwise, double *out);
/// An index into a list of `count`; -1 where the key is missing.
sn_status sn_gltf_index(sn_gltf *gltf, const sn_json_node *object, const char *key, int count,
                        int *out);
const char *sn_gltf_string(const sn_gltf *gltf, const sn_json_node *object, const char *key);

/// An accessor's numbers, their bounds checked.
sn_status sn_gltf_accessor(sn_gltf *gltf, int index, sn_gltf_view *out);
/// One number of an accessor; integers as the share of their largest that glTF means by "normalized".
double sn_gltf_number(const sn_gltf_view *view, int element, int k);

/// Nodes and how they hang together; then, with the animation read, which are joints.
sn_status sn_gltf_read_nodes(sn_gltf *gltf);
sn_status sn_gltf_find_joints(sn_gltf *gltf);

/// The channels of the first animation that move nodes, and an even clock for all of them.
sn_status sn_gltf_read_animation(sn_gltf *gltf);
sn_status sn_gltf_set_clock(sn_gltf *gltf);
/// Frames from the clock's start to the last key of a channel; 1 without a channel (-1).
int sn_gltf_frames(const sn_gltf *gltf, int channel);

/// Goes through the frames of one channel: start from {0}.
typedef struct sn_gltf_cursor {
    int key;
} sn_gltf_cursor;

/// The values of a channel at a frame: 3 numbers, or 4 (x y z w, of length 1). Frames must not
/// go back. False when a number is not finite or a rotation has no length.
bool sn_gltf_sample(const sn_gltf *gltf, int channel, int frame, sn_gltf_cursor *cursor,
                    double out[4]);
