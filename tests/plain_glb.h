// SPDX-License-Identifier: MIT
// GLB files taken apart without the library's own reader: chunks, accessors, nodes, and a player that sets the nodes to a key.
#pragma once

#include "base/json.h"
#include "memory_sink.h"

/// A file read back.
typedef struct plain_glb {
    memory_sink file;
    sn_json *json;
    const sn_json_node *root;
    const unsigned char *bin;
    size_t bin_size;
} plain_glb;

enum { GLB_NODES = 400 };

/// The nodes as a player has them at a key.
typedef struct glb_player {
    int parent[GLB_NODES];
    double T[GLB_NODES][3], R[GLB_NODES][4], S[GLB_NODES][3];
} glb_player;

/// A member of an object; NULL also where there is no object.
const sn_json_node *glb_get(const plain_glb *g, const sn_json_node *object, const char *key);
/// The first of a list, NULL also where there is no list.
const sn_json_node *glb_first(const plain_glb *g, const sn_json_node *list);
/// The i-th of a list at the top.
const sn_json_node *glb_item(const plain_glb *g, const char *list, int i);
/// How many a list at the top has.
int glb_count(const plain_glb *g, const char *list);
double glb_number(const plain_glb *g, const sn_json_node *object, const char *key,
                  double otherwise);
/// Write a scene and take the file apart: its chunks must be as the format says.
void glb_make(const sn_glb_scene *scene, plain_glb *g);
void glb_free(plain_glb *g);
/// Where an accessor's element is, its bounds checked.
const unsigned char *glb_element(const plain_glb *g, int accessor, int i);
/// A number of four bytes.
double glb_f32(const unsigned char *at);
/// n numbers of an element.
void glb_floats(const plain_glb *g, int accessor, int i, int n, double *out);
/// min and max are what the elements have; true when the accessor states them.
bool glb_bounds_hold(const plain_glb *g, int accessor, int n);
/// Shapes lie inside their accessors, face outwards, and their normals have length 1.
void glb_check_meshes(const plain_glb *g);
/// The nodes as they stand without the animation.
void glb_load_nodes(const plain_glb *g, glb_player *p);
/// Set what the animation has for a key; a channel that has ended holds its last.
void glb_set_key(const plain_glb *g, int key, glb_player *p);
/// v <- T + R S v, node after node up to the top. glTF's quaternions are x y z w.
void glb_to_world(const glb_player *p, int node, double v[3]);
/// The node of a name, -1 where there is none.
int glb_find_node(const plain_glb *g, const char *name);
/// z up in the model, y up in the file.
void glb_same_place(sn_vec3 model, const double file[3]);
/// At every key the nodes of the joints are where the model's joints are.
void glb_check_frames(const plain_glb *g, const sn_model *model, const sn_motion *motion);
