// SPDX-License-Identifier: MIT
// The nodes of a glTF file: how they hang together, which are joints, and what lies between them.
#include <string.h>

#include "files/glb/glb_read.h"
#include "math/exp.h"
#include "math/unit.h"

#define FAIL(g, ...) sn_fail((g)->error, SN_ERR_PARSE, 0, __VA_ARGS__)

static const double largest = 1e15;

// --- one node ------------------------------------------------------------------------------------

static sn_status read_numbers(sn_gltf *g, int index, const sn_json_node *object, const char *key,
                              size_t count, double *out) {
    const sn_json_node *json = sn_json_get(g->json, object, key);
    if (json == NULL || sn_json_numbers(g->json, json, count, out)) return SN_OK;
    return FAIL(g, "node %d (\"%.60s\"): its %s must be %zu numbers", index, g->node[index].name,
                key, count);
}

static sn_status read_rotation(sn_gltf *g, int index, const sn_json_node *object, sn_quat *out) {
    double x[4] = {out->x, out->y, out->z, out->w};
    SN_TRY(read_numbers(g, index, object, "rotation", 4, x));
    if (!sn_unit(x, 4, x))
        return FAIL(g, "node %d (\"%.60s\"): its rotation is zero", index, g->node[index].name);
    *out = (sn_quat){x[3], x[0], x[1], x[2]};
    return SN_OK;
}

static sn_status read_vector(sn_gltf *g, int index, const sn_json_node *object, const char *key,
                             sn_vec3 *out) {
    double x[3] = {out->x, out->y, out->z};
    SN_TRY(read_numbers(g, index, object, key, 3, x));
    *out = v3_from(x);
    return SN_OK;
}

// Take a matrix (by columns) apart. What can't be is only held against it when a joint needs it.
static void take_apart(const double m[16], sn_gltf_node *node) {
    sn_mat3 R;
    double length[3];
    for (int i = 0; i < 16; i++)
        if (!(fabs(m[i]) <= largest)) node->broken = "has numbers that are too large";
    if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1) node->broken = "is a projection";
    if (node->broken != NULL) return;
    node->translation = v3(m[12], m[13], m[14]);
    for (int k = 0; k < 3; k++) {
        sn_vec3 column = v3_from(m + 4 * k);
        length[k] = v3_norm(column);
        R.c[k] = v3_scale(length[k] > 0 ? 1 / length[k] : 0, column);
    }
    double volume = v3_dot(R.c[0], v3_cross(R.c[1], R.c[2]));
    if (volume < 0) {
        node->broken = "mirrors (a negative scale)";
    } else if (volume < 1e-6) {
        node->broken = "flattens everything (a scale of zero, or shear)";
    } else if (volume < 1 - 1e-4) {
        node->broken = "shears, which no joint can";
    } else {
        node->scale = v3(length[0], length[1], length[2]);
        node->rotation = sn_quat_from_mat3(R);
    }
}

static void read_mark(const sn_gltf *g, const sn_json_node *extras, sn_gltf_node *node) {
    static const char *const marks[] = {"", "joint", "fitted", "measured"};
    const char *word = sn_gltf_string(g, extras, "sinew");
    for (int i = SN_GLTF_JOINT; i <= SN_GLTF_MEASURED; i++)
        if (strcmp(word, marks[i]) == 0) node->mark = (sn_gltf_mark)i;
}

static sn_status read_node(sn_gltf *g, int index, const sn_json_node *json) {
    sn_gltf_node *node = &g->node[index];
    double m[16];
    if (json->type != SN_JSON_OBJECT) return FAIL(g, "node %d is no object", index);
    *node = (sn_gltf_node){.json = json,
                           .name = sn_gltf_string(g, json, "name"),
                           .parent = -1,
                           .first_child = -1,
                           .next_child = -1,
                           .scale = {1, 1, 1},
                           .rotation = {1, 0, 0, 0},
                           .fault = -1,
                           .channel = {-1, -1, -1},
                           .base = -1,
                           .id = -1};
    const sn_json_node *extensions = sn_json_get(g->json, json, "extensions");
    node->shown =
        sn_json_get(g->json, json, "mesh") != NULL ||
        sn_json_get(g->json, json, "camera") != NULL ||
        (extensions != NULL && sn_json_get(g->json, extensions, "KHR_lights_punctual") != NULL);
    if (sn_json_get(g->json, json, "matrix") != NULL) {
        SN_TRY(read_numbers(g, index, json, "matrix", 16, m));
        take_apart(m, node);
    } else {
        SN_TRY(read_vector(g, index, json, "translation", &node->translation));
        SN_TRY(read_rotation(g, index, json, &node->rotation));
        SN_TRY(read_vector(g, index, json, "scale", &node->scale));
        if (node->scale.x < 0 || node->scale.y < 0 || node->scale.z < 0)
            node->broken = "mirrors (a negative scale)";
    }
    node->rest_translation = node->translation;
    node->rest_rotation = node->rotation;
    const sn_json_node *extras = sn_json_get(g->json, json, "extras");
    if (extras == NULL) return SN_OK;
    read_mark(g, extras, node);
    const sn_json_node *rest = sn_json_get(g->json, extras, "rest");
    if (rest == NULL || node->mark != SN_GLTF_JOINT) return SN_OK;
    SN_TRY(read_vector(g, index, rest, "translation", &node->rest_translation));
    return read_rotation(g, index, rest, &node->rest_rotation);
}

// --- the tree ------------------------------------------------------------------------------------

static sn_status read_children(sn_gltf *g, int index) {
    const sn_json_node *list;
    int last = -1;
    SN_TRY(sn_gltf_array(g, g->node[index].json, "children", &list));
    const sn_json_node *at = list != NULL ? sn_json_first(g->json, list) : NULL;
    for (; at != NULL; at = sn_json_next(g->json, at)) {
        double x = at->type == SN_JSON_NUMBER ? at->number : -1;
        if (!(x >= 0 && x < g->nnode) || x != floor(x))
            return FAIL(g, "node %d (\"%.60s\") has a child that is no node of the file", index,
                        g->node[index].name);
        int child = (int)x;
        if (g->node[child].parent >= 0)
            return FAIL(g, "node %d (\"%.60s\") is the child of node %d and of node %d", child,
                        g->node[child].name, g->node[child].parent, index);
        g->node[child].parent = index;
        if (last < 0) {
            g->node[index].first_child = child;
        } else {
            g->node[last].next_child = child;
        }
        last = child;
    }
    return SN_OK;
}

// Parents first. What is not met from a node without parent goes round in a circle.
static sn_status sort_nodes(sn_gltf *g) {
    int n = 0;
    for (int i = 0; i < g->nnode; i++)
        if (g->node[i].parent < 0) g->order[n++] = i;
    for (int k = 0; k < n; k++)
        for (int child = g->node[g->order[k]].first_child; child >= 0;
             child = g->node[child].next_child)
            g->order[n++] = child;
    if (n < g->nnode) return FAIL(g, "some nodes are their own ancestors");
    return SN_OK;
}

static sn_status find_scene(sn_gltf *g) {
    const sn_json_node *scenes, *roots = NULL;
    int index;
    SN_TRY(sn_gltf_array(g, g->root, "scenes", &scenes));
    bool all = scenes == NULL || scenes->count == 0;
    if (!all) {
        SN_TRY(sn_gltf_index(g, g->root, "scene", (int)scenes->count, &index));
        const sn_json_node *scene = sn_json_first(g->json, scenes);
        while (index-- > 0) scene = sn_json_next(g->json, scene);
        SN_TRY(sn_gltf_array(g, scene, "nodes", &roots));
    }
    const sn_json_node *at = roots != NULL ? sn_json_first(g->json, roots) : NULL;
    for (; at != NULL; at = sn_json_next(g->json, at)) {
        if (at->type != SN_JSON_NUMBER || !(at->number >= 0 && at->number < g->nnode))
            return FAIL(g, "the scene has a node that is none of the file");
        g->node[(int)at->number].in_scene = true;
    }
    for (int k = 0; k < g->nnode; k++) {
        sn_gltf_node *node = &g->node[g->order[k]];
        if (all || (node->parent >= 0 && g->node[node->parent].in_scene)) node->in_scene = true;
    }
    return SN_OK;
}

sn_status sn_gltf_read_nodes(sn_gltf *g) {
    const sn_json_node *list;
    SN_TRY(sn_gltf_array(g, g->root, "nodes", &list));
    if (list == NULL || list->count == 0) return FAIL(g, "the file has no nodes");
    if (list->count > INT32_MAX) return sn_fail(g->error, SN_ERR_SIZE, 0, "too many nodes");
    g->nnode = (int)list->count;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        g->node = sn_layout_take(&layout, (size_t)g->nnode, sizeof *g->node);
        g->order = sn_layout_take(&layout, (size_t)g->nnode, sizeof *g->order);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, g->allocator, &g->tree_owner);
        if (block == NULL) return sn_fail_memory(g->error);
        layout = (sn_layout){.block = block};
    }
    const sn_json_node *at = sn_json_first(g->json, list);
    for (int i = 0; at != NULL; i++, at = sn_json_next(g->json, at)) SN_TRY(read_node(g, i, at));
    for (int i = 0; i < g->nnode; i++) SN_TRY(read_children(g, i));
    SN_TRY(sort_nodes(g));
    return find_scene(g);
}

// --- which are joints ----------------------------------------------------------------------------

static bool animated(const sn_gltf_node *node) {
    return node->channel[SN_GLTF_MOVES] >= 0 || node->channel[SN_GLTF_TURNS] >= 0;
}

static bool is_marker(const sn_gltf_node *node) {
    return node->in_scene && (node->mark == SN_GLTF_FITTED || node->mark == SN_GLTF_MEASURED);
}

static int choose_marked(sn_gltf *g) {
    int found = 0;
    for (int i = 0; i < g->nnode; i++) {
        g->node[i].joint = g->node[i].in_scene && g->node[i].mark == SN_GLTF_JOINT;
        found += g->node[i].joint;
    }
    return found;
}

static sn_status choose_skinned(sn_gltf *g, int *found) {
    const sn_json_node *skins, *joints;
    SN_TRY(sn_gltf_array(g, g->root, "skins", &skins));
    const sn_json_node *skin = skins != NULL ? sn_json_first(g->json, skins) : NULL;
    for (; skin != NULL; skin = sn_json_next(g->json, skin)) {
        SN_TRY(sn_gltf_array(g, skin, "joints", &joints));
        const sn_json_node *at = joints != NULL ? sn_json_first(g->json, joints) : NULL;
        for (; at != NULL; at = sn_json_next(g->json, at)) {
            if (at->type != SN_JSON_NUMBER || !(at->number >= 0 && at->number < g->nnode))
                return FAIL(g, "a skin has a joint that is no node of the file");
            sn_gltf_node *node = &g->node[(int)at->number];
            if (node->joint || !node->in_scene || is_marker(node)) continue;
            node->joint = true;
            ++*found;
        }
    }
    return SN_OK;
}

// No skin says it: what carries nothing, what moves, and what such nodes hang on.
static void choose_plain(sn_gltf *g) {
    for (int k = g->nnode - 1; k >= 0; k--) {
        sn_gltf_node *node = &g->node[g->order[k]];
        if (!node->in_scene || is_marker(node)) continue;
        node->joint = node->joint || !node->shown || animated(node);
        if (node->joint && node->parent >= 0) g->node[node->parent].joint = true;
    }
    for (int i = 0; i < g->nnode; i++)
        g->node[i].joint = g->node[i].joint && g->node[i].in_scene && !is_marker(&g->node[i]);
}

// What moves above a joint or a marker carries it, and so is a joint too.
static void add_carriers(sn_gltf *g) {
    for (int k = g->nnode - 1; k >= 0; k--) {
        sn_gltf_node *node = &g->node[g->order[k]];
        node->needed = node->needed || node->joint || is_marker(node);
        if (!node->needed) continue;
        if (animated(node) && !is_marker(node)) node->joint = true;
        if (node->parent >= 0) g->node[node->parent].needed = true;
    }
}

static void find_bases(sn_gltf *g) {
    for (int k = 0; k < g->nnode; k++) {
        sn_gltf_node *node = &g->node[g->order[k]];
        if (node->parent < 0) continue;
        node->base = g->node[node->parent].joint ? node->parent : g->node[node->parent].base;
    }
}

// One root: the nearest node that all trees hang on, or one that is made up.
static void join_trees(sn_gltf *g) {
    int ntop = 0, meet = -1;
    for (int i = 0; i < g->nnode; i++) {
        g->node[i].id = g->node[i].joint && g->node[i].base < 0;  // counts tops, for a moment
        ntop += g->node[i].id;
    }
    if (ntop <= 1) return;
    for (int k = g->nnode - 1; k >= 0; k--) {
        const sn_gltf_node *node = &g->node[g->order[k]];
        if (node->parent >= 0) g->node[node->parent].id += node->id;
    }
    for (int k = 0; k < g->nnode; k++)
        if (g->node[g->order[k]].id == ntop) meet = g->order[k];
    g->added_root = meet < 0;
    if (meet >= 0) g->node[meet].joint = true;
    find_bases(g);
}

// The scale below a node, measured along its own axes.
static sn_vec3 scale_below(const sn_gltf_node *node, bool *blurred) {
    sn_vec3 s = node->above, own = node->scale;
    *blurred = node->blurred;
    double mean = sn_cbrt(s.x * s.y * s.z), spread = 1e-6 * fabs(mean);
    bool turned = node->channel[SN_GLTF_TURNS] >= 0 || fabs(node->rotation.w) < 1 - 1e-12;
    if (turned &&
        (fabs(s.x - mean) > spread || fabs(s.y - mean) > spread || fabs(s.z - mean) > spread)) {
        *blurred = true;
        s = v3(mean, mean, mean);
    }
    return v3(s.x * own.x, s.y * own.y, s.z * own.z);
}

static void fold_nodes(sn_gltf *g) {
    for (int k = 0; k < g->nnode; k++) {
        sn_gltf_node *node = &g->node[g->order[k]];
        node->fold = (sn_frame){.R = m3_identity()};
        node->above = v3(1, 1, 1);
        if (node->parent >= 0) {
            const sn_gltf_node *up = &g->node[node->parent];
            node->above = scale_below(up, &node->blurred);
            node->fault = up->fault;
            if (!up->joint) {
                sn_vec3 t = v3(up->above.x * up->translation.x, up->above.y * up->translation.y,
                               up->above.z * up->translation.z);
                sn_frame place = {sn_mat3_from_quat(up->rotation), t};
                node->fold = frame_mul(&up->fold, &place);
            }
        }
        if (node->fault < 0 && node->broken != NULL && !is_marker(node)) node->fault = g->order[k];
    }
}

static sn_status check_places(sn_gltf *g) {
    int blurred = 0;
    for (int i = 0; i < g->nnode; i++) {
        const sn_gltf_node *node = &g->node[i];
        if (!node->joint && !is_marker(node)) continue;
        blurred += node->blurred;
        if (node->fault < 0) continue;
        return FAIL(g, "node %d (\"%.60s\") %s", node->fault, g->node[node->fault].name,
                    g->node[node->fault].broken);
    }
    if (blurred > 0)
        sn_gltf_note(g,
                     "scales that differ along their axes are above %d nodes: their mean is "
                     "taken below rotations",
                     blurred);
    return SN_OK;
}

sn_status sn_gltf_find_joints(sn_gltf *g) {
    int found = choose_marked(g), left_out = 0;
    if (found == 0) SN_TRY(choose_skinned(g, &found));
    if (found == 0) choose_plain(g);
    add_carriers(g);
    find_bases(g);
    join_trees(g);
    g->njoint = g->added_root;
    for (int i = 0; i < g->nnode; i++) {
        sn_gltf_node *node = &g->node[i];
        node->id = node->joint ? g->njoint++ : -1;
        g->nmeasured += is_marker(node) && node->mark == SN_GLTF_MEASURED;
        left_out += animated(node) && !node->joint && !is_marker(node);
    }
    if (g->njoint == 0) return FAIL(g, "there is no joint in it: all it holds are shapes");
    if (g->njoint > SN_MAX_JOINTS)
        return sn_fail(g->error, SN_ERR_SIZE, 0, "more than %d joints", SN_MAX_JOINTS);
    if (left_out > 0)
        sn_gltf_note(g, "%d moving node%s left out, as no joint needs %s", left_out,
                     left_out == 1 ? " is" : "s are", left_out == 1 ? "it" : "them");
    fold_nodes(g);
    return check_places(g);
}
