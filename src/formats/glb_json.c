// SPDX-License-Identifier: MIT
// The JSON chunk of a GLB file.
//
// Buffer views: 0 vertices, 1 indices, 2 times and keys. Accessors: three for each shape that is
// used, then the times (of the motion and of the recording, where they differ in number), then the
// keys of every track. A mesh and its material have the same index.
#include <stdio.h>

#include "formats/glb.h"

enum { FLOAT = 5126, UNSIGNED_SHORT = 5123, ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963 };

static void add_int(sn_text *t, const char *key, uint64_t value) {
    char digits[32];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    sn_text_add(t, key);
    sn_text_add(t, digits);
}

static void add_numbers(sn_text *t, const char *key, const double *x, int n) {
    sn_text_add(t, key);
    for (int i = 0; i < n; i++) {
        sn_text_add(t, i == 0 ? "[" : ",");
        sn_text_add_number(t, x[i]);
    }
    sn_text_add(t, "]");
}

// A comma before every item of a list but the first.
static void add_comma(sn_text *t, bool *any) {
    if (*any) sn_text_add(t, ",");
    *any = true;
}

static void add_key(sn_text *t, bool *any, const char *key) {
    add_comma(t, any);
    sn_text_add(t, key);
}

// Place, rotation and scale, each where it is not what glTF takes for granted.
static void add_place(sn_text *t, bool *any, sn_vec3 p, sn_quat r, sn_vec3 s) {
    const double T[3] = {p.x, p.y, p.z}, R[4] = {r.x, r.y, r.z, r.w}, S[3] = {s.x, s.y, s.z};
    if (p.x != 0 || p.y != 0 || p.z != 0) {
        add_comma(t, any);
        add_numbers(t, "\"translation\":", T, 3);
    }
    if (r.x != 0 || r.y != 0 || r.z != 0) {
        add_comma(t, any);
        add_numbers(t, "\"rotation\":", R, 4);
    }
    if (s.x != 1 || s.y != 1 || s.z != 1) {
        add_comma(t, any);
        add_numbers(t, "\"scale\":", S, 3);
    }
}

static void add_name(sn_text *t, bool *any, const char *name) {
    if (name == NULL || name[0] == '\0') return;
    add_key(t, any, "\"name\":");
    sn_text_add_json_string(t, name);
}

// The index of a mesh and of its material among those that are used.
static int mesh_index(const sn_glb *g, sn_glb_mesh mesh) {
    int n = 0;
    for (int i = 0; i < (int)mesh; i++) n += g->used[i];
    return n;
}

// What a reader of ours goes by: which nodes are what, and where a joint is at the zero pose.
static void add_mark(sn_text *t, bool *any, const char *word) {
    add_key(t, any, "\"extras\":{\"sinew\":\"");
    sn_text_add(t, word);
    sn_text_add(t, "\"");
}

static void add_rest(const sn_joint_desc *d, sn_text *t) {
    const double R[4] = {d->rotation[1], d->rotation[2], d->rotation[3], d->rotation[0]};
    if (d->type == SN_JOINT_FIXED) return;
    add_numbers(t, ",\"rest\":{\"translation\":", d->position, 3);
    add_numbers(t, ",\"rotation\":", R, 4);
    sn_text_add(t, "}");
}

static void add_joint_node(const sn_glb *g, int i, sn_text *t) {
    const sn_vec3 one = {1, 1, 1};
    sn_frame at = sn_glb_local(g, i, 0);
    bool any = false, any_child = false;
    sn_text_add(t, ",\n{");
    add_name(t, &any, g->model->desc[i].name);
    add_place(t, &any, at.p, sn_quat_from_mat3(at.R), one);
    add_mark(t, &any, "joint");
    add_rest(&g->model->desc[i], t);
    sn_text_add(t, "}");
    for (int child = g->first_child[i]; child >= 0; child = g->next_child[child]) {
        if (!any_child) add_key(t, &any, "\"children\":[");
        add_comma(t, &any_child);
        add_int(t, "", (uint64_t)child + 1);
    }
    for (int part = g->first_part[i]; part >= 0; part = g->part[part].next) {
        if (!any_child) add_key(t, &any, "\"children\":[");
        add_comma(t, &any_child);
        add_int(t, "", (uint64_t)(1 + g->model->njoint + part));
    }
    sn_text_add(t, any_child ? "]}" : "}");
}

static void add_mesh_node(const sn_glb *g, const sn_glb_part *p, sn_text *t) {
    bool any = true;
    add_int(t, ",\n{\"mesh\":", (uint64_t)mesh_index(g, p->mesh));
    add_name(t, &any, p->name);
    add_place(t, &any, p->position, p->rotation, p->scale);
    if (p->mesh == SN_GLB_MEASURED || p->mesh == SN_GLB_FITTED) {
        add_mark(t, &any, p->mesh == SN_GLB_MEASURED ? "measured" : "fitted");
        sn_text_add(t, "}");
    }
    sn_text_add(t, "}");
}

static void add_nodes(const sn_glb *g, sn_text *t) {
    const sn_vec3 zero = {0, 0, 0}, one = {1, 1, 1};
    bool any = false;
    sn_text_add(t, ",\n\"nodes\":[{");
    add_name(t, &any, g->model->name[0] != '\0' ? g->model->name : "figure");
    add_place(t, &any, zero, g->up, one);
    add_int(t, ",\"children\":[", (uint64_t)g->model->root + 1);
    for (int i = 0; i < g->nmarker; i++)
        if (g->marker_node[i] >= 0) add_int(t, ",", (uint64_t)g->marker_node[i]);
    sn_text_add(t, "]}");
    for (int i = 0; i < g->model->njoint; i++) add_joint_node(g, i, t);
    for (int i = 0; i < g->npart; i++) add_mesh_node(g, &g->part[i], t);
    for (int i = 0; i < g->nmarker; i++) {
        if (g->marker_node[i] < 0) continue;
        double at[3], r = sn_glb_first_sample(g, i, at) ? g->ball : 0;
        sn_glb_part part = {.mesh = SN_GLB_MEASURED,
                            .name = sn_recording_label(g->scene->recording, i),
                            .position = {at[0], at[1], at[2]},
                            .rotation = {1, 0, 0, 0},
                            .scale = {r, r, r}};
        add_mesh_node(g, &part, t);
    }
    sn_text_add(t, "]");
}

// Colours are linear. Orange and blue are told apart by nearly every eye; the smaller blue of a
// fitted marker comes out of the measured one where the two differ, and stays where that is
// missing.
static void add_materials(const sn_glb *g, sn_text *t) {
    static const char *const materials[SN_GLB_MESHES] = {
        [SN_GLB_JOINT] = "{\"name\":\"joint\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                         "[0.055,0.08,0.125,1],\"metallicFactor\":0.1,\"roughnessFactor\":0.45}}",
        [SN_GLB_BONE] = "{\"name\":\"bone\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                        "[0.72,0.69,0.62,1],\"metallicFactor\":0,\"roughnessFactor\":0.6}}",
        [SN_GLB_MEASURED] = "{\"name\":\"measured\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                            "[0.85,0.26,0.015,1],\"metallicFactor\":0,\"roughnessFactor\":0.4},"
                            "\"emissiveFactor\":[0.3,0.07,0.003]}",
        [SN_GLB_FITTED] = "{\"name\":\"fitted\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                          "[0.01,0.17,0.6,1],\"metallicFactor\":0,\"roughnessFactor\":0.4},"
                          "\"emissiveFactor\":[0.002,0.04,0.15]}"};
    bool any = false;
    sn_text_add(t, ",\n\"materials\":[");
    for (int i = 0; i < SN_GLB_MESHES; i++)
        if (g->used[i]) add_key(t, &any, materials[i]);
    sn_text_add(t, "]");
}

static void add_meshes(const sn_glb *g, sn_text *t) {
    static const char *const names[SN_GLB_MESHES] = {"joint", "bone", "measured", "fitted"};
    bool any = false;
    sn_text_add(t, ",\n\"meshes\":[");
    for (int i = 0; i < SN_GLB_MESHES; i++) {
        if (!g->used[i]) continue;
        uint64_t first = i == SN_GLB_BONE ? 3 : 0;
        add_key(t, &any, "{\"name\":");
        sn_text_add_json_string(t, names[i]);
        add_int(t, ",\"primitives\":[{\"attributes\":{\"POSITION\":", first);
        add_int(t, ",\"NORMAL\":", first + 1);
        add_int(t, "},\"indices\":", first + 2);
        add_int(t, ",\"material\":", (uint64_t)mesh_index(g, (sn_glb_mesh)i));
        sn_text_add(t, "}]}");
    }
    sn_text_add(t, "]");
}

static void add_accessor(sn_text *t, int view, uint64_t offset, int type, int count,
                         const char *shape) {
    add_int(t, "{\"bufferView\":", (uint64_t)view);
    if (offset > 0) add_int(t, ",\"byteOffset\":", offset);
    add_int(t, ",\"componentType\":", (uint64_t)type);
    add_int(t, ",\"count\":", (uint64_t)count);
    sn_text_add(t, ",\"type\":\"");
    sn_text_add(t, shape);
    sn_text_add(t, "\"");
}

static void add_shape_accessors(const sn_glb_shape *s, uint64_t vertex, uint64_t index,
                                sn_text *t) {
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = (double)s->vertex[0][k];
        for (int i = 1; i < s->nvertex; i++) {
            low[k] = fmin(low[k], (double)s->vertex[i][k]);
            high[k] = fmax(high[k], (double)s->vertex[i][k]);
        }
    }
    add_accessor(t, 0, vertex, FLOAT, s->nvertex, "VEC3");
    add_numbers(t, ",\"min\":", low, 3);
    add_numbers(t, ",\"max\":", high, 3);
    sn_text_add(t, "},\n");
    add_accessor(t, 0, vertex + 12, FLOAT, s->nvertex, "VEC3");
    sn_text_add(t, "},\n");
    add_accessor(t, 1, index, UNSIGNED_SHORT, s->nindex, "SCALAR");
    sn_text_add(t, "}");
}

// Times of the motion and of the recording have one accessor where their numbers are equal.
typedef struct time_accessors {
    int count[2];  // distinct numbers of keys
    int n;
} time_accessors;

static time_accessors find_times(const sn_glb *g) {
    time_accessors times = {{0, 0}, 0};
    for (int i = 0; i < g->ntrack; i++) {
        int keys = sn_glb_keys(g, &g->track[i]);
        if (times.n > 0 && times.count[0] == keys) continue;
        if (times.n > 1 && times.count[1] == keys) continue;
        times.count[times.n++] = keys;
    }
    return times;
}

static void add_accessors(const sn_glb *g, const sn_glb_sizes *sizes, const time_accessors *times,
                          sn_text *t) {
    sn_text_add(t, ",\n\"accessors\":[");
    add_shape_accessors(&g->shape[0], 0, 0, t);
    if (g->used[SN_GLB_BONE]) {
        sn_text_add(t, ",\n");
        add_shape_accessors(&g->shape[1],
                            sizeof g->shape[0].vertex[0] * (uint64_t)g->shape[0].nvertex,
                            sizeof g->shape[0].index[0] * (uint64_t)g->shape[0].nindex, t);
    }
    for (int i = 0; i < times->n; i++) {
        sn_text_add(t, ",\n");
        add_accessor(t, 2, 0, FLOAT, times->count[i], "SCALAR");
        const double first = 0, last = (double)(float)((times->count[i] - 1) / g->rate);
        add_numbers(t, ",\"min\":", &first, 1);
        add_numbers(t, ",\"max\":", &last, 1);
        sn_text_add(t, "}");
    }
    uint64_t offset = sizes->times;
    for (int i = 0; i < g->ntrack; i++) {
        bool turns = g->track[i].path == SN_GLB_ROTATION;
        int keys = sn_glb_keys(g, &g->track[i]);
        sn_text_add(t, ",\n");
        add_accessor(t, 2, offset, FLOAT, keys, turns ? "VEC4" : "VEC3");
        sn_text_add(t, "}");
        offset += (uint64_t)keys * (turns ? 16 : 12);
    }
    sn_text_add(t, "]");
}

static void add_animation(const sn_glb *g, const time_accessors *times, sn_text *t) {
    static const char *const paths[] = {"translation", "rotation", "scale"};
    uint64_t first = g->used[SN_GLB_BONE] ? 6 : 3;
    bool any = false;
    if (g->ntrack == 0) return;
    sn_text_add(t, ",\n\"animations\":[{\"name\":\"motion\",\"samplers\":[");
    for (int i = 0; i < g->ntrack; i++) {
        const sn_glb_track *track = &g->track[i];
        uint64_t input = first + (sn_glb_keys(g, track) != times->count[0]);
        add_comma(t, &any);
        add_int(t, "{\"input\":", input);
        // linear is what glTF takes for granted; a marker is there or not
        if (track->path == SN_GLB_SCALE) sn_text_add(t, ",\"interpolation\":\"STEP\"");
        add_int(t, ",\"output\":", first + (uint64_t)(times->n + i));
        sn_text_add(t, "}");
    }
    sn_text_add(t, "],\n\"channels\":[");
    any = false;
    for (int i = 0; i < g->ntrack; i++) {
        add_comma(t, &any);
        add_int(t, "{\"sampler\":", (uint64_t)i);
        add_int(t, ",\"target\":{\"node\":", (uint64_t)g->track[i].node);
        sn_text_add(t, ",\"path\":\"");
        sn_text_add(t, paths[g->track[i].path]);
        sn_text_add(t, "\"}}");
    }
    sn_text_add(t, "]}]");
}

static void add_views(const sn_glb_sizes *s, sn_text *t) {
    add_int(t, ",\n\"bufferViews\":[{\"buffer\":0,\"byteLength\":", s->vertices);
    add_int(t, ",\"byteStride\":24,\"target\":", ARRAY_BUFFER);
    add_int(t, "},\n{\"buffer\":0,\"byteOffset\":", s->vertices);
    add_int(t, ",\"byteLength\":", s->indices);
    add_int(t, ",\"target\":", ELEMENT_ARRAY_BUFFER);
    if (s->keys > 0) {
        add_int(t, "},\n{\"buffer\":0,\"byteOffset\":", s->vertices + s->indices);
        add_int(t, ",\"byteLength\":", s->times + s->keys);
    }
    add_int(t, "}],\n\"buffers\":[{\"byteLength\":", s->all);
    sn_text_add(t, "}]");
}

void sn_glb_json(const sn_glb *glb, const sn_glb_sizes *sizes, sn_text *text) {
    time_accessors times = find_times(glb);
    sn_text_add(text, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"sinew ");
    sn_text_add(text, sn_version());
    sn_text_add(text, "\"},\n\"scene\":0,\"scenes\":[{\"nodes\":[0]}]");
    add_nodes(glb, text);
    add_meshes(glb, text);
    add_materials(glb, text);
    add_animation(glb, &times, text);
    add_accessors(glb, sizes, &times, text);
    add_views(sizes, text);
    sn_text_add(text, "}");
}
