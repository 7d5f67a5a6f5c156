// SPDX-License-Identifier: MIT
// The JSON chunk of a GLB file.
//
// Buffer views: the body's vertices, what carries them, the joints' inverses, the body's indices;
// then vertices and indices of a marker, those of the collision shapes, and times and keys, where there are any.
// Accessors in the order of `accessors`. Meshes: the body, then measured and fitted markers where they are used, then
// one for each collision shape.
#include <stdio.h>

#include "files/glb/glb.h"

enum {
    FLOAT = 5126,
    UNSIGNED_BYTE = 5121,
    UNSIGNED_SHORT = 5123,
    UNSIGNED_INT = 5125,
    ARRAY_BUFFER = 34962,
    ELEMENT_ARRAY_BUFFER = 34963
};

// Where accessors are in their list.
typedef struct accessors {
    uint64_t bone, ball;  // five each: position, normal, joints, weights, indices
    uint64_t inverse, marker;
    uint64_t
        shell;  // two each: position, normal; then the indices of capsules and of others, where there are some
    uint64_t times, keys;
    int count[2];  // distinct numbers of keys: of the motion and of the recording
    int ntimes;
} accessors;

static bool has_markers(const sn_glb *g) {
    return g->used[SN_GLB_MEASURED] || g->used[SN_GLB_FITTED];
}

// Are there capsules among the collision shapes, or others?
static bool has_shells(const sn_glb *g, bool capsules) {
    for (int i = 0; i < g->nshell; i++)
        if ((g->model->shape[i].type == SN_SHAPE_CAPSULE) == capsules) return true;
    return false;
}

// Times of the motion and of the recording have one accessor where their numbers are equal.
static accessors number_accessors(const sn_glb *g) {
    accessors a = {.bone = 0};
    a.ball = a.bone + (g->used[SN_GLB_BONE] ? 5 : 0);
    a.inverse = a.ball + (g->used[SN_GLB_JOINT] ? 5 : 0);
    a.marker = a.inverse + 1;
    a.shell = a.marker + (has_markers(g) ? 3 : 0);
    a.times = a.shell + 2 * (uint64_t)g->nshell + has_shells(g, true) + has_shells(g, false);
    for (int i = 0; i < g->ntrack; i++) {
        int keys = sn_glb_keys(g, &g->track[i]);
        if (a.ntimes > 0 && a.count[0] == keys) continue;
        if (a.ntimes > 1 && a.count[1] == keys) continue;
        a.count[a.ntimes++] = keys;
    }
    a.keys = a.times + (uint64_t)a.ntimes;
    return a;
}

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

// The index of a kind's material among those that are used.
static uint64_t material_index(const sn_glb *g, sn_glb_kind kind) {
    uint64_t n = 0;
    for (int i = 0; i < (int)kind; i++) n += g->used[i];
    return n;
}

static uint64_t marker_mesh(const sn_glb *g, sn_glb_kind kind) {
    return kind == SN_GLB_FITTED && g->used[SN_GLB_MEASURED] ? 2 : 1;
}

static uint64_t shell_mesh(const sn_glb *g, int shell) {
    return 1 + (uint64_t)g->used[SN_GLB_MEASURED] + (uint64_t)g->used[SN_GLB_FITTED] +
           (uint64_t)shell;
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
        const int node = 1 + g->model->njoint + part;
        add_int(t, "", (uint64_t)node);
    }
    for (int shell = 0; shell < g->nshell; shell++) {
        if (g->model->shape[shell].joint != i) continue;
        if (!any_child) add_key(t, &any, "\"children\":[");
        add_comma(t, &any_child);
        add_int(t, "", (uint64_t)g->first_shell + (uint64_t)shell);
    }
    sn_text_add(t, any_child ? "]}" : "}");
}

static void add_marker_node(const sn_glb *g, const sn_glb_part *p, sn_text *t) {
    bool any = true;
    double r = p->radius;
    add_int(t, ",\n{\"mesh\":", marker_mesh(g, p->kind));
    add_name(t, &any, p->name);
    add_place(t, &any, p->position, (sn_quat){1, 0, 0, 0}, v3(r, r, r));
    add_mark(t, &any, p->kind == SN_GLB_MEASURED ? "measured" : "fitted");
    sn_text_add(t, "}}");
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
    for (int i = 0; i < g->nshell; i++)
        if (g->model->shape[i].joint < 0) add_int(t, ",", (uint64_t)g->first_shell + (uint64_t)i);
    sn_text_add(t, "]}");
    for (int i = 0; i < g->model->njoint; i++) add_joint_node(g, i, t);
    for (int i = 0; i < g->npart; i++) add_marker_node(g, &g->part[i], t);
    for (int i = 0; i < g->nmarker; i++) {
        if (g->marker_node[i] < 0) continue;
        double at[3], r = sn_glb_first_sample(g, i, at) ? g->ball : 0;
        sn_glb_part part = {.kind = SN_GLB_MEASURED,
                            .name = g->samples.label(g->samples.user, i),
                            .position = {at[0], at[1], at[2]},
                            .radius = r};
        add_marker_node(g, &part, t);
    }
    for (int i = 0; i < g->nshell; i++) {
        bool some = true;
        add_int(t, ",\n{\"mesh\":", shell_mesh(g, i));
        add_name(t, &some, g->model->shape[i].name);
        add_mark(t, &some, "shape");
        sn_text_add(t, "}}");
    }
    sn_text_add(t, ",\n{\"name\":\"body\",\"mesh\":0,\"skin\":0}]");
}

// The joints in file order, so that a vertex names the joint of the model.
static void add_skin(const sn_glb *g, const accessors *a, sn_text *t) {
    add_int(t, ",\n\"skins\":[{\"name\":\"skeleton\",\"inverseBindMatrices\":", a->inverse);
    add_int(t, ",\"skeleton\":", (uint64_t)g->model->root + 1);
    for (int i = 0; i < g->model->njoint; i++)
        add_int(t, i == 0 ? ",\"joints\":[" : ",", (uint64_t)i + 1);
    sn_text_add(t, "]}]");
}

// Colours are linear. Orange and blue are told apart by nearly every eye; the smaller blue of a
// fitted marker comes out of the measured one where the two differ, and stays where that is
// missing.
static void add_materials(const sn_glb *g, sn_text *t) {
    static const char *const materials[SN_GLB_KINDS] = {
        [SN_GLB_JOINT] = "{\"name\":\"joint\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                         "[0.055,0.08,0.125,1],\"metallicFactor\":0.1,\"roughnessFactor\":0.45}}",
        [SN_GLB_BONE] = "{\"name\":\"bone\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                        "[0.72,0.69,0.62,1],\"metallicFactor\":0,\"roughnessFactor\":0.6}}",
        [SN_GLB_MEASURED] = "{\"name\":\"measured\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                            "[0.85,0.26,0.015,1],\"metallicFactor\":0,\"roughnessFactor\":0.4},"
                            "\"emissiveFactor\":[0.3,0.07,0.003]}",
        [SN_GLB_FITTED] = "{\"name\":\"fitted\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                          "[0.01,0.17,0.6,1],\"metallicFactor\":0,\"roughnessFactor\":0.4},"
                          "\"emissiveFactor\":[0.002,0.04,0.15]}",
        [SN_GLB_SHELL] = "{\"name\":\"shape\",\"pbrMetallicRoughness\":{\"baseColorFactor\":"
                         "[0.03,0.14,0.28,0.3],\"metallicFactor\":0,\"roughnessFactor\":0.6},"
                         "\"alphaMode\":\"BLEND\"}"};
    bool any = false;
    sn_text_add(t, ",\n\"materials\":[");
    for (int i = 0; i < SN_GLB_KINDS; i++)
        if (g->used[i]) add_key(t, &any, materials[i]);
    sn_text_add(t, "]");
}

// indices: their accessor
static void add_primitive(const sn_glb *g, sn_glb_kind kind, uint64_t first, uint64_t indices,
                          sn_text *t) {
    bool skinned = kind == SN_GLB_BONE || kind == SN_GLB_JOINT;
    add_int(t, "{\"attributes\":{\"POSITION\":", first);
    add_int(t, ",\"NORMAL\":", first + 1);
    if (skinned) add_int(t, ",\"JOINTS_0\":", first + 2);
    if (skinned) add_int(t, ",\"WEIGHTS_0\":", first + 3);
    add_int(t, "},\"indices\":", indices);
    add_int(t, ",\"material\":", material_index(g, kind));
    sn_text_add(t, "}");
}

static void add_meshes(const sn_glb *g, const accessors *a, sn_text *t) {
    static const char *const names[SN_GLB_KINDS] = {
        [SN_GLB_MEASURED] = "measured", [SN_GLB_FITTED] = "fitted"};
    bool any = false;
    sn_text_add(t, ",\n\"meshes\":[{\"name\":\"body\",\"primitives\":[");
    for (int i = 0; i < 2; i++) {
        sn_glb_kind kind = i == 0 ? SN_GLB_BONE : SN_GLB_JOINT;
        if (!g->used[kind]) continue;
        add_comma(t, &any);
        const uint64_t first = i == 0 ? a->bone : a->ball;
        add_primitive(g, kind, first, first + 4, t);
    }
    sn_text_add(t, "]}");
    for (int i = SN_GLB_MEASURED; i <= SN_GLB_FITTED; i++) {
        if (!g->used[i]) continue;
        sn_text_add(t, ",{\"name\":");
        sn_text_add_json_string(t, names[i]);
        sn_text_add(t, ",\"primitives\":[");
        add_primitive(g, (sn_glb_kind)i, a->marker, a->marker + 2, t);
        sn_text_add(t, "]}");
    }
    for (int i = 0; i < g->nshell; i++) {
        sn_text_add(t, ",\n{\"name\":\"shape\",\"primitives\":[");
        const bool capsule = g->model->shape[i].type == SN_SHAPE_CAPSULE;
        const uint64_t indices = a->shell + 2 * (uint64_t)g->nshell;
        add_primitive(g, SN_GLB_SHELL, a->shell + 2 * (uint64_t)i,
                      indices + (!capsule && has_shells(g, true)), t);
        sn_text_add(t, "]}");
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

enum { BODY, CARRIERS, INVERSES, BODY_INDICES, FIRST_OPTIONAL };  // buffer views

static int marker_view(void) { return FIRST_OPTIONAL; }
static int shell_view(const sn_glb *g) { return FIRST_OPTIONAL + (has_markers(g) ? 2 : 0); }
static int keys_view(const sn_glb *g) { return shell_view(g) + (g->nshell > 0 ? 2 : 0); }

static void widen(double low[3], double high[3], const double x[3]) {
    for (int k = 0; k < 3; k++) {
        // as floats: what is written must lie inside
        low[k] = fmin(low[k], (double)(float)x[k]);
        high[k] = fmax(high[k], (double)(float)x[k]);
    }
}

static void add_bounds(sn_text *t, const double low[3], const double high[3]) {
    add_numbers(t, ",\"min\":", low, 3);
    add_numbers(t, ",\"max\":", high, 3);
    sn_text_add(t, "},\n");
}

// Bones come first, then balls.
static void add_body_accessors(const sn_glb *g, sn_glb_kind kind, sn_text *t) {
    const sn_glb_shape *shape = sn_glb_solid_shape(g, kind),
                       *bone = sn_glb_solid_shape(g, SN_GLB_BONE);
    bool second = kind == SN_GLB_JOINT;
    int first = second ? g->count[1] : 0, n = g->count[kind == SN_GLB_BONE];
    int nvertex = n * shape->nvertex, nindex = n * shape->nindex;
    uint64_t vertex = second ? (uint64_t)g->count[1] * (uint64_t)bone->nvertex : 0;
    uint64_t index = second ? (uint64_t)g->count[1] * (uint64_t)bone->nindex : 0;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = first; i < first + n; i++) {
        for (int v = 0; v < shape->nvertex; v++) {
            double x[6];
            sn_glb_skin_vertex(g, &g->solid[i], v, x);
            widen(low, high, x);
        }
    }
    add_accessor(t, BODY, 24 * vertex, FLOAT, nvertex, "VEC3");
    add_bounds(t, low, high);
    add_accessor(t, BODY, 24 * vertex + 12, FLOAT, nvertex, "VEC3");
    sn_text_add(t, "},\n");
    add_accessor(t, CARRIERS, 12 * vertex, UNSIGNED_SHORT, nvertex, "VEC4");
    sn_text_add(t, "},\n");
    add_accessor(t, CARRIERS, 12 * vertex + 8, UNSIGNED_BYTE, nvertex, "VEC4");
    sn_text_add(t, ",\"normalized\":true},\n");
    add_accessor(t, BODY_INDICES, 4 * index, UNSIGNED_INT, nindex, "SCALAR");
    sn_text_add(t, "},\n");
}

static void add_marker_accessors(const sn_glb *g, sn_text *t) {
    const sn_glb_shape *s = &g->shape[0];
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < s->nvertex; i++) {
        const double x[3] = {(double)s->vertex[i][0], (double)s->vertex[i][1],
                             (double)s->vertex[i][2]};
        widen(low, high, x);
    }
    sn_text_add(t, ",\n");
    add_accessor(t, marker_view(), 0, FLOAT, s->nvertex, "VEC3");
    add_bounds(t, low, high);
    add_accessor(t, marker_view(), 12, FLOAT, s->nvertex, "VEC3");
    sn_text_add(t, "},\n");
    add_accessor(t, marker_view() + 1, 0, UNSIGNED_SHORT, s->nindex, "SCALAR");
    sn_text_add(t, "}");
}

static void add_shell_accessors(const sn_glb *g, sn_text *t) {
    const sn_glb_shape *s = &g->shape[3];
    for (int i = 0; i < g->nshell; i++) {
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int v = 0; v < s->nvertex; v++) {
            double x[6];
            sn_glb_shell_vertex(g, i, v, x);
            widen(low, high, x);
        }
        const uint64_t at = 24 * (uint64_t)s->nvertex * (uint64_t)i;
        sn_text_add(t, ",\n");
        add_accessor(t, shell_view(g), at, FLOAT, s->nvertex, "VEC3");
        add_bounds(t, low, high);
        add_accessor(t, shell_view(g), at + 12, FLOAT, s->nvertex, "VEC3");
        sn_text_add(t, "}");
    }
    for (int i = 0; i < 2; i++) {
        if (!has_shells(g, i == 0)) continue;
        const int n = s->nindex - (i == 0 ? 0 : SN_GLB_BAND);
        sn_text_add(t, ",\n");
        add_accessor(t, shell_view(g) + 1, 0, UNSIGNED_SHORT, n, "SCALAR");
        sn_text_add(t, "}");
    }
}

static void add_accessors(const sn_glb *g, const sn_glb_sizes *sizes, const accessors *a,
                          sn_text *t) {
    sn_text_add(t, ",\n\"accessors\":[");
    if (g->used[SN_GLB_BONE]) add_body_accessors(g, SN_GLB_BONE, t);
    if (g->used[SN_GLB_JOINT]) add_body_accessors(g, SN_GLB_JOINT, t);
    add_accessor(t, INVERSES, 0, FLOAT, g->model->njoint, "MAT4");
    sn_text_add(t, "}");
    if (has_markers(g)) add_marker_accessors(g, t);
    if (g->nshell > 0) add_shell_accessors(g, t);
    for (int i = 0; i < a->ntimes; i++) {
        sn_text_add(t, ",\n");
        add_accessor(t, keys_view(g), 0, FLOAT, a->count[i], "SCALAR");
        const double first = 0, last = (double)(float)((a->count[i] - 1) / g->rate);
        add_numbers(t, ",\"min\":", &first, 1);
        add_numbers(t, ",\"max\":", &last, 1);
        sn_text_add(t, "}");
    }
    uint64_t offset = sizes->times;
    for (int i = 0; i < g->ntrack; i++) {
        bool turns = g->track[i].path == SN_GLB_ROTATION;
        int keys = sn_glb_keys(g, &g->track[i]);
        sn_text_add(t, ",\n");
        add_accessor(t, keys_view(g), offset, FLOAT, keys, turns ? "VEC4" : "VEC3");
        sn_text_add(t, "}");
        offset += (uint64_t)keys * (turns ? 16 : 12);
    }
    sn_text_add(t, "]");
}

static void add_animation(const sn_glb *g, const accessors *a, sn_text *t) {
    static const char *const paths[] = {"translation", "rotation", "scale"};
    bool any = false;
    if (g->ntrack == 0) return;
    sn_text_add(t, ",\n\"animations\":[{\"name\":\"motion\",\"samplers\":[");
    for (int i = 0; i < g->ntrack; i++) {
        const sn_glb_track *track = &g->track[i];
        uint64_t input = a->times + (sn_glb_keys(g, track) != a->count[0]);
        add_comma(t, &any);
        add_int(t, "{\"input\":", input);
        // linear is what glTF takes for granted; a marker is there or not
        if (track->path == SN_GLB_SCALE) sn_text_add(t, ",\"interpolation\":\"STEP\"");
        add_int(t, ",\"output\":", a->keys + (uint64_t)i);
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

// One view of the buffer behind the last; stride and target 0: none.
static void add_view(sn_text *t, uint64_t *offset, uint64_t bytes, uint64_t stride,
                     uint64_t target) {
    sn_text_add(t, *offset > 0 ? ",\n{\"buffer\":0" : "{\"buffer\":0");
    if (*offset > 0) add_int(t, ",\"byteOffset\":", *offset);
    add_int(t, ",\"byteLength\":", bytes);
    if (stride > 0) add_int(t, ",\"byteStride\":", stride);
    if (target > 0) add_int(t, ",\"target\":", target);
    sn_text_add(t, "}");
    *offset += bytes;
}

static void add_views(const sn_glb_sizes *s, sn_text *t) {
    uint64_t offset = 0;
    sn_text_add(t, ",\n\"bufferViews\":[");
    add_view(t, &offset, s->vertices, 24, ARRAY_BUFFER);
    add_view(t, &offset, s->weights, 12, ARRAY_BUFFER);
    add_view(t, &offset, s->inverse, 0, 0);
    add_view(t, &offset, s->indices, 0, ELEMENT_ARRAY_BUFFER);
    if (s->marker > 0) add_view(t, &offset, s->marker, 24, ARRAY_BUFFER);
    if (s->marker > 0) add_view(t, &offset, s->marker_indices, 0, ELEMENT_ARRAY_BUFFER);
    if (s->shells > 0) add_view(t, &offset, s->shells, 24, ARRAY_BUFFER);
    if (s->shells > 0) add_view(t, &offset, s->shell_indices, 0, ELEMENT_ARRAY_BUFFER);
    if (s->keys > 0) add_view(t, &offset, s->times + s->keys, 0, 0);
    add_int(t, "],\n\"buffers\":[{\"byteLength\":", s->all);
    sn_text_add(t, "}]");
}

void sn_glb_json(const sn_glb *glb, const sn_glb_sizes *sizes, sn_text *text) {
    accessors a = number_accessors(glb);
    sn_text_add(text, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"sinew ");
    sn_text_add(text, sn_version());
    // a skinned mesh goes where its joints go, so its node stands beside theirs
    add_int(text, "\"},\n\"scene\":0,\"scenes\":[{\"nodes\":[0,", (uint64_t)glb->nnode);
    sn_text_add(text, "]}]");
    add_nodes(glb, text);
    add_skin(glb, &a, text);
    add_meshes(glb, &a, text);
    add_materials(glb, text);
    add_animation(glb, &a, text);
    add_accessors(glb, sizes, &a, text);
    add_views(sizes, text);
    sn_text_add(text, "}");
}
