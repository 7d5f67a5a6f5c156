// SPDX-License-Identifier: MIT
// GLB: what is written is read back, chunk by chunk, and its nodes carried through their tree at
// every key are where the model's joints and markers are.
#include "support.h"

#include "base/json.h"
#include "files/glb/glb.h"

typedef struct bytes {
    unsigned char *data;
    size_t used, capacity;
    size_t limit;  // the sink fails when more than this would be written
} bytes;

static bool keep(void *user, const void *from, size_t count) {
    bytes *b = user;
    if (b->used + count > b->limit) return false;
    while (b->used + count > b->capacity) {
        b->capacity = 2 * b->capacity + 1024;
        b->data = realloc(b->data, b->capacity);
        assert_non_null(b->data);
    }
    memcpy(b->data + b->used, from, count);
    b->used += count;
    return true;
}

// A file read back.
typedef struct glb {
    bytes file;
    sn_json *json;
    const sn_json_node *root;
    const unsigned char *bin;
    size_t bin_size;
} glb;

static uint32_t u32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static double f32(const unsigned char *at) {
    uint32_t bits = u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static const sn_json_node *get(const glb *g, const sn_json_node *object, const char *key) {
    return object == NULL ? NULL : sn_json_get(g->json, object, key);
}

// The first of a list, NULL also where there is no list.
static const sn_json_node *first(const glb *g, const sn_json_node *list) {
    return list == NULL ? NULL : sn_json_first(g->json, list);
}

static const sn_json_node *item(const glb *g, const char *list, int i) {
    const sn_json_node *node = first(g, get(g, g->root, list));
    while (i-- > 0 && node != NULL) node = sn_json_next(g->json, node);
    return node;
}

static int count_of(const glb *g, const char *list) {
    const sn_json_node *node = get(g, g->root, list);
    return node == NULL ? 0 : (int)node->count;
}

static double number(const glb *g, const sn_json_node *object, const char *key, double otherwise) {
    const sn_json_node *node = get(g, object, key);
    return node == NULL ? otherwise : node->number;
}

static void write_glb(const sn_glb_scene *scene, glb *g) {
    *g = (glb){.file.limit = SIZE_MAX};
    const sn_sink sink = {keep, &g->file};
    sn_error error = {0};
    if (sn_glb_write(scene, &sink, NULL, &error) != SN_OK) fail_msg("%s", error.text);
    const unsigned char *at = g->file.data;
    assert_memory_equal(at, "glTF", 4);
    assert_int_equal(u32(at + 4), 2);
    assert_int_equal(u32(at + 8), g->file.used);
    size_t json_size = u32(at + 12);
    assert_memory_equal(at + 16, "JSON", 4);
    assert_int_equal(json_size % 4, 0);
    assert_int_equal(u32(at + 20 + json_size) % 4, 0);
    assert_memory_equal(at + 24 + json_size, "BIN", 4);
    g->bin = at + 28 + json_size;
    g->bin_size = u32(at + 20 + json_size);
    assert_int_equal(g->file.used, 28 + json_size + g->bin_size);
    if (sn_json_parse((const char *)at + 20, json_size, NULL, &g->json, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    g->root = sn_json_root(g->json);
    for (size_t i = json_size; at[20 + i - 1] != '}'; i--) assert_int_equal(at[20 + i - 1], ' ');
}

static void glb_free(glb *g) {
    sn_json_destroy(g->json);
    free(g->file.data);
}

// Where an accessor's element is, its bounds checked.
static const unsigned char *element(const glb *g, int accessor, int i) {
    const sn_json_node *a = item(g, "accessors", accessor);
    assert_non_null(a);
    const sn_json_node *view = item(g, "bufferViews", (int)number(g, a, "bufferView", -1));
    assert_non_null(view);
    const char *type = get(g, a, "type")->string;
    int kind = (int)number(g, a, "componentType", 0);
    int component = kind == 5121 ? 1 : kind == 5123 ? 2 : 4;
    int width = component * (strcmp(type, "SCALAR") == 0 ? 1
                             : strcmp(type, "MAT4") == 0 ? 16
                                                         : type[3] - '0');
    int stride = (int)number(g, view, "byteStride", width);
    size_t start = (size_t)number(g, a, "byteOffset", 0);
    size_t offset = (size_t)number(g, view, "byteOffset", 0);
    assert_int_equal(start % (size_t)component, 0);
    assert_int_equal(offset % 4, 0);
    assert_true(i < (int)number(g, a, "count", 0));
    size_t end = start + (size_t)i * (size_t)stride + (size_t)width;
    assert_true(end <= (size_t)number(g, view, "byteLength", 0));
    assert_true(offset + end <= g->bin_size);
    return g->bin + offset + end - width;
}

static void read_floats(const glb *g, int accessor, int i, int n, double *out) {
    const unsigned char *at = element(g, accessor, i);
    for (int k = 0; k < n; k++) out[k] = f32(at + 4 * k);
}

// min and max are what the elements have; true when the accessor states them.
static bool bounds_hold(const glb *g, int accessor, int n) {
    const sn_json_node *a = item(g, "accessors", accessor);
    double low[3], high[3], least[3] = {0}, most[3] = {0}, x[3];
    if (get(g, a, "min") == NULL) return false;
    assert_true(sn_json_numbers(g->json, get(g, a, "min"), (size_t)n, low));
    assert_true(sn_json_numbers(g->json, get(g, a, "max"), (size_t)n, high));
    for (int i = 0; i < (int)number(g, a, "count", 0); i++) {
        read_floats(g, accessor, i, n, x);
        for (int k = 0; k < n; k++) {
            if (i == 0 || x[k] < least[k]) least[k] = x[k];
            if (i == 0 || x[k] > most[k]) most[k] = x[k];
        }
    }
    for (int k = 0; k < n; k++) assert_true(least[k] == low[k] && most[k] == high[k]);
    return true;
}

// Shapes lie inside their accessors, face outwards, and their normals have length 1.
static void check_meshes(const glb *g) {
    int m = 0;
    const sn_json_node *p = first(g, get(g, item(g, "meshes", 0), "primitives"));
    while (p != NULL) {
        int position = (int)number(g, get(g, p, "attributes"), "POSITION", -1);
        int normal = (int)number(g, get(g, p, "attributes"), "NORMAL", -1);
        int index = (int)number(g, p, "indices", -1);
        assert_true(bounds_hold(g, position, 3));
        assert_non_null(item(g, "materials", (int)number(g, p, "material", -1)));
        int n = (int)number(g, item(g, "accessors", index), "count", 0);
        int nvertex = (int)number(g, item(g, "accessors", position), "count", 0);
        assert_true(n > 0 && n % 3 == 0);
        for (int i = 0; i < n; i += 3) {
            double at[3][3], across[3][3], edge[2][3], face[3];
            for (int k = 0; k < 3; k++) {
                const unsigned char *from = element(g, index, i + k);
                int vertex = from[0] | from[1] << 8;
                if (number(g, item(g, "accessors", index), "componentType", 0) == 5125)
                    vertex |= from[2] << 16 | from[3] << 24;
                assert_true(vertex < nvertex);
                read_floats(g, position, vertex, 3, at[k]);
                read_floats(g, normal, vertex, 3, across[k]);
                assert_near(hypot(hypot(across[k][0], across[k][1]), across[k][2]), 1, 1e-6);
            }
            for (int k = 0; k < 3; k++) {
                edge[0][k] = at[1][k] - at[0][k];
                edge[1][k] = at[2][k] - at[0][k];
            }
            for (int k = 0; k < 3; k++) {
                int a = (k + 1) % 3, b = (k + 2) % 3;
                face[k] = edge[0][a] * edge[1][b] - edge[0][b] * edge[1][a];
            }
            for (int k = 0; k < 3; k++)
                assert_true(
                    face[0] * across[k][0] + face[1] * across[k][1] + face[2] * across[k][2] > 0);
        }
        p = sn_json_next(g->json, p);
        if (p == NULL && ++m < count_of(g, "meshes"))
            p = first(g, get(g, item(g, "meshes", m), "primitives"));
    }
}

enum { MAX_NODES = 400 };

// The nodes as a player has them at a key.
typedef struct player {
    int parent[MAX_NODES];
    double T[MAX_NODES][3], R[MAX_NODES][4], S[MAX_NODES][3];
} player;

static void load_nodes(const glb *g, player *p) {
    int n = count_of(g, "nodes"), i = 0;
    assert_true(n <= MAX_NODES);
    for (int k = 0; k < n; k++) p->parent[k] = -1;
    for (const sn_json_node *node = item(g, "nodes", 0); node != NULL;
         node = sn_json_next(g->json, node), i++) {
        const double T[3] = {0, 0, 0}, R[4] = {0, 0, 0, 1}, S[3] = {1, 1, 1};
        memcpy(p->T[i], T, sizeof T);
        memcpy(p->R[i], R, sizeof R);
        memcpy(p->S[i], S, sizeof S);
        if (get(g, node, "translation") != NULL)
            assert_true(sn_json_numbers(g->json, get(g, node, "translation"), 3, p->T[i]));
        if (get(g, node, "rotation") != NULL)
            assert_true(sn_json_numbers(g->json, get(g, node, "rotation"), 4, p->R[i]));
        if (get(g, node, "scale") != NULL)
            assert_true(sn_json_numbers(g->json, get(g, node, "scale"), 3, p->S[i]));
        const sn_json_node *child = first(g, get(g, node, "children"));
        for (; child != NULL; child = sn_json_next(g->json, child)) {
            assert_true(child->number > 0 && child->number < n);
            assert_int_equal(p->parent[(int)child->number], -1);  // one parent each
            p->parent[(int)child->number] = i;
        }
    }
    // the body stands beside the figure: its joints carry it
    for (int k = 1; k < n - 1; k++) assert_true(p->parent[k] >= 0);
    assert_non_null(get(g, item(g, "nodes", n - 1), "skin"));
    assert_int_equal(p->parent[n - 1], -1);
}

// Set what the animation has for a key; a channel that has ended holds its last.
static void set_key(const glb *g, int key, player *p) {
    const sn_json_node *animation = item(g, "animations", 0);
    if (animation == NULL) return;
    const sn_json_node *channel = first(g, get(g, animation, "channels"));
    for (; channel != NULL; channel = sn_json_next(g->json, channel)) {
        const sn_json_node *sampler = first(g, get(g, animation, "samplers"));
        for (int i = (int)number(g, channel, "sampler", -1); i > 0; i--)
            sampler = sn_json_next(g->json, sampler);
        int input = (int)number(g, sampler, "input", -1);
        int output = (int)number(g, sampler, "output", -1);
        int n = (int)number(g, item(g, "accessors", input), "count", 0);
        assert_int_equal(n, (int)number(g, item(g, "accessors", output), "count", 0));
        int at = key < n ? key : n - 1;
        const sn_json_node *target = get(g, channel, "target");
        int node = (int)number(g, target, "node", -1);
        const char *path = get(g, target, "path")->string;
        if (strcmp(path, "translation") == 0) read_floats(g, output, at, 3, p->T[node]);
        if (strcmp(path, "scale") == 0) {
            assert_string_equal(get(g, sampler, "interpolation")->string, "STEP");
            read_floats(g, output, at, 3, p->S[node]);
        }
        if (strcmp(path, "rotation") != 0) continue;
        double before[4], *R = p->R[node], dot = 0, norm = 0;
        read_floats(g, output, at, 4, R);
        read_floats(g, output, at > 0 ? at - 1 : 0, 4, before);
        for (int k = 0; k < 4; k++) dot += R[k] * before[k], norm += R[k] * R[k];
        assert_near(norm, 1, 1e-6);
        assert_true(dot >= 0);
    }
}

// v <- T + R S v, node after node up to the top. glTF's quaternions are x y z w.
static void to_world(const player *p, int node, double v[3]) {
    for (; node >= 0; node = p->parent[node]) {
        const double *r = p->R[node];
        double s[3], u[3], w[3];
        for (int k = 0; k < 3; k++) s[k] = p->S[node][k] * v[k];
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            u[k] = 2 * (r[a] * s[b] - r[b] * s[a]);
        }
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            w[k] = s[k] + r[3] * u[k] + r[a] * u[b] - r[b] * u[a];
        }
        for (int k = 0; k < 3; k++) v[k] = p->T[node][k] + w[k];
    }
}

static int find_node(const glb *g, const char *name) {
    int i = 0;
    for (const sn_json_node *n = item(g, "nodes", 0); n != NULL; n = sn_json_next(g->json, n), i++)
        if (i > 0 && get(g, n, "name") != NULL && strcmp(get(g, n, "name")->string, name) == 0)
            return i;
    return -1;
}

// z up in the model, y up in the file.
static void assert_same_place(sn_vec3 model, const double file[3]) {
    assert_near(model.x, file[0], 1e-6);
    assert_near(model.z, file[1], 1e-6);
    assert_near(-model.y, file[2], 1e-6);
}

// Neighbouring rotations are on the same side, so that what lies between is the short way. (The weights of a skin
// are fours of floats, too, and never negative.)
static void check_sides(const glb *g) {
    for (int a = 0; a < count_of(g, "accessors"); a++) {
        const sn_json_node *accessor = item(g, "accessors", a);
        if (strcmp(get(g, accessor, "type")->string, "VEC4") != 0 ||
            number(g, accessor, "componentType", 0) != 5126)
            continue;
        double q[4], last[4] = {0};
        for (int i = 0; i < (int)number(g, accessor, "count", 0); i++) {
            double dot = 0;
            read_floats(g, a, i, 4, q);
            for (int k = 0; k < 4; k++) dot += q[k] * last[k];
            assert_true(dot > -1e-6);
            memcpy(last, q, sizeof last);
        }
    }
}

static void check_frames(const glb *g, const sn_model *model, const sn_motion *motion) {
    check_sides(g);
    static player p;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    load_nodes(g, &p);
    for (int f = 0; f < sn_motion_nframe(motion); f++) {
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
        if (f > 0) set_key(g, f, &p);  // the first is how the nodes stand
        for (int pass = 0; pass < (f == 0 ? 2 : 1); pass++) {
            if (pass == 1) set_key(g, 0, &p);  // and the first key says the same
            for (int i = 0; i < sn_model_njoint(model); i++) {
                int node = find_node(g, sn_model_joint(model, i)->name);
                assert_true(node >= 0);
                for (int k = 0; k < 4; k++) {
                    double v[3] = {k == 1, k == 2, k == 3};
                    sn_vec3 there = sn_workspace_point(ws, i, v);
                    to_world(&p, node, v);
                    assert_same_place(there, v);
                }
            }
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
}

static sn_motion *random_motion(uint64_t *state, const sn_model *model, int nframe) {
    sn_motion *motion;
    assert_int_equal(sn_motion_create(nframe, sn_model_nq(model), 1, 120, NULL, &motion, NULL),
                     SN_OK);
    for (int f = 0; f < nframe; f++) sn_model_sample(model, state, sn_motion_edit(motion, f));
    return motion;
}

static void test_joints(void **state_) {
    (void)state_;
    uint64_t state = 21;
    for (int round = 0; round < cases(60); round++) {
        sn_model *model = random_model(&state, 1 + below(&state, 8), -1);
        sn_motion *motion = random_motion(&state, model, 1 + below(&state, 12));
        sn_glb_scene scene = sn_glb_scene_default(model);
        assert_true(sn_glb_up("+Z", scene.rotation));
        scene.motion = motion;
        glb g;
        write_glb(&scene, &g);
        check_meshes(&g);
        check_frames(&g, model, motion);
        glb_free(&g);
        sn_motion_destroy(motion);
        sn_model_destroy(model);
    }
}

static void test_times(void **state_) {
    (void)state_;
    uint64_t state = 2;
    sn_model *model = random_model(&state, 1, SN_JOINT_HINGE);
    sn_motion *motion = random_motion(&state, model, 100000);
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    scene.rate = 1000;
    glb g;
    write_glb(&scene, &g);
    const sn_json_node *samplers = get(&g, item(&g, "animations", 0), "samplers");
    int input = (int)number(&g, sn_json_first(g.json, samplers), "input", -1);
    assert_true(bounds_hold(&g, input, 1));
    double last = -1, at;
    for (int f = 0; f < 100000; f++) {
        const unsigned char *from = element(&g, input, 0) + 4 * f;
        at = f32(from);
        assert_true(at > last);
        assert_near(at, f / 1000.0, 1e-7);
        last = at;
    }
    glb_free(&g);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// --- collision shapes -------------------------------------------------------------------------------

static double length3(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

// How far p is from the segment from a to b.
static double from_segment(const double *p, const double *a, const double *b) {
    double way[3], off[3], square = 0, along = 0;
    for (int k = 0; k < 3; k++) {
        way[k] = b[k] - a[k];
        square += way[k] * way[k];
        along += way[k] * (p[k] - a[k]);
    }
    const double t = square > 0 ? fmin(fmax(along / square, 0), 1) : 0;
    for (int k = 0; k < 3; k++) off[k] = p[k] - a[k] - t * way[k];
    return length3(off);
}

static bool is_child(const glb *g, int parent, int child) {
    const sn_json_node *node = first(g, get(g, item(g, "nodes", parent), "children"));
    for (; node != NULL; node = sn_json_next(g->json, node))
        if ((int)node->number == child) return true;
    return false;
}

static void check_shape(const glb *g, const sn_model *m, int i, int mesh, int node) {
    const sn_shape_desc *d = sn_model_shape(m, i);
    assert_int_equal((int)number(g, item(g, "nodes", node), "mesh", -1), mesh);
    assert_true(is_child(g, d->joint + 1, node));
    const sn_json_node *primitive = first(g, get(g, item(g, "meshes", mesh), "primitives"));
    const sn_json_node *attributes = get(g, primitive, "attributes");
    const int position = (int)number(g, attributes, "POSITION", -1);
    const int normal = (int)number(g, attributes, "NORMAL", -1);
    const int count = (int)number(g, item(g, "accessors", position), "count", 0);
    assert_true(count > 100);
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < count; v++) {
        double p[3], n[3], along = 0;
        read_floats(g, position, v, 3, p);
        read_floats(g, normal, v, 3, n);
        assert_near(length3(n), 1, 1e-6);
        if (d->type == SN_SHAPE_PLANE) {
            for (int k = 0; k < 3; k++)
                along += d->normal[k] / length3(d->normal) * (p[k] - d->from[k]);
            assert_true(along < 1e-5 && along > -0.1);
            continue;
        }
        const double *to = d->type == SN_SHAPE_CAPSULE ? d->to : d->from;
        const double off = from_segment(p, d->from, to);
        // a point or a line is thick enough to be seen
        assert_true(d->radius > 0 ? fabs(off - d->radius) < 2e-6 : off > 0 && off < 0.05);
        for (int k = 0; k < 3; k++) along += (to[k] - d->from[k]) * (p[k] - d->from[k]);
        low = fmin(low, along), high = fmax(high, along);
    }
    if (d->type != SN_SHAPE_CAPSULE || d->radius == 0) return;
    // it reaches round both ends
    double way[3];
    for (int k = 0; k < 3; k++) way[k] = d->to[k] - d->from[k];
    const double size = length3(way);
    assert_near(low, -d->radius * size, 1e-5);
    assert_near(high, (d->radius + size) * size, 1e-5);
}

static void test_shapes(void **state_) {
    (void)state_;
    uint64_t state = 8;
    for (int round = 0; round < cases(40); round++) {
        const int njoint = 1 + below(&state, 5), count = 1 + below(&state, 6);
        sn_model *plain = random_model(&state, njoint, -1), *model;
        sn_builder *b;
        assert_int_equal(sn_builder_create_from(plain, NULL, &b, NULL), SN_OK);
        for (int i = 0; i < count; i++) {
            sn_shape_desc d = sn_shape_default((sn_shape_type)(i % SN_SHAPE_TYPE_COUNT));
            d.joint = below(&state, njoint + 1) - 1;
            d.radius = below(&state, 5) == 0 ? 0 : uniform(&state, 0.02, 0.3);
            for (int k = 0; k < 3; k++) {
                d.from[k] = uniform(&state, -0.5, 0.5);
                d.to[k] = uniform(&state, -0.5, 0.5);
                d.normal[k] = uniform(&state, -1, 1);
            }
            (void)sn_builder_shape(b, &d);
        }
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_motion *motion = random_motion(&state, model, 1 + below(&state, 5));
        sn_glb_scene scene = sn_glb_scene_default(model);
        assert_true(sn_glb_up("+Z", scene.rotation));
        scene.motion = motion;
        glb g;
        write_glb(&scene, &g);
        const int without = count_of(&g, "nodes"), meshes = count_of(&g, "meshes");
        glb_free(&g);
        scene.shapes = true;
        write_glb(&scene, &g);
        check_meshes(&g);
        check_frames(&g, model, motion);
        assert_int_equal(count_of(&g, "nodes"), without + count);
        assert_int_equal(count_of(&g, "meshes"), meshes + count);
        // the body is the last node, with or without
        for (int i = 0; i < count; i++) check_shape(&g, model, i, meshes + i, without - 1 + i);
        glb_free(&g);
        sn_motion_destroy(motion);
        sn_model_destroy(model);
        sn_model_destroy(plain);
    }
}

// What never changes has no channel; a joint that only turns has no track of places.
static void test_channels(void **state_) {
    (void)state_;
    sn_model *model;
    sn_motion *motion;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_motion_create(3, sn_model_nq(model), 1, 60, NULL, &motion, NULL), SN_OK);
    for (int f = 0; f < 3; f++) sn_model_zero(model, sn_motion_edit(motion, f));
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    glb g;
    write_glb(&scene, &g);
    assert_int_equal(count_of(&g, "animations"), 0);
    assert_int_equal(count_of(&g, "bufferViews"), 4);  // no view for keys
    glb_free(&g);
    sn_motion_edit(motion, 1)[sn_model_q_index(model, sn_model_find_joint(model, "left_shin"))] = 1;
    sn_motion_edit(motion, 2)[0] = 0.5;  // the root moves
    write_glb(&scene, &g);
    const sn_json_node *animation = item(&g, "animations", 0);
    const sn_json_node *channel = first(&g, get(&g, animation, "channels"));
    assert_int_equal(get(&g, animation, "channels")->count, 2);
    for (int k = 0; k < 2; k++, channel = sn_json_next(g.json, channel)) {
        const sn_json_node *target = get(&g, channel, "target");
        assert_string_equal(get(&g, target, "path")->string, k == 0 ? "translation" : "rotation");
        assert_int_equal((int)number(&g, target, "node", -1),
                         find_node(&g, k == 0 ? "pelvis" : "left_shin"));
    }
    glb_free(&g);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// The first marker is never seen, the others come and go.
static sn_recording *random_recording(uint64_t *state, int nframe, int nmarker) {
    static const char *const labels[] = {"me:A", "me:B", "me:C", "me:D"};
    sn_recording_info info = {
        .nframe = nframe, .nmarker = nmarker, .rate = 120, .metres_per_unit = 1};
    sn_recording *recording;
    assert_int_equal(sn_recording_create(&info, labels, NULL, &recording, NULL), SN_OK);
    for (int f = 0; f < nframe; f++)
        for (int i = 1; i < nmarker; i++)
            for (int k = 0, seen = below(state, 3); k < 3 && seen > 0; k++)
                sn_recording_edit(recording, f)[3 * i + k] = uniform(state, -2, 2);
    return recording;
}

static void test_markers(void **state_) {
    (void)state_;
    static player p;
    uint64_t state = 4;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_motion *motion = random_motion(&state, model, 20);
    sn_recording *recording = random_recording(&state, 30, 4);
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    sn_glb_scene scene = sn_glb_scene_default(model);
    assert_true(sn_glb_up("z", scene.rotation));
    scene.motion = motion;
    scene.recording = recording;
    scene.fitted = true;
    glb g;
    write_glb(&scene, &g);
    assert_int_equal(find_node(&g, "me:A"), -1);
    load_nodes(&g, &p);
    for (int f = -1; f < 30; f++) {
        int at = f < 0 ? 0 : f, pose = at < 20 ? at : 19;
        if (f >= 0) set_key(&g, f, &p);
        for (int i = 1; i < 4; i++) {
            int node = find_node(&g, sn_recording_label(recording, i));
            const double *seen = sn_recording_frame(recording, at) + 3 * i;
            double v[3] = {0}, size = p.S[node][0];
            to_world(&p, node, v);
            assert_true(isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]));
            assert_true(sn_recording_present(recording, at, i) ? size > 0.001 : size == 0);
            if (size > 0) assert_same_place((sn_vec3){seen[0], seen[1], seen[2]}, v);
        }
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, pose)), SN_OK);
        for (int i = 0; i < sn_model_nmarker(model); i++) {
            const sn_marker_desc *d = sn_model_marker(model, i);
            double v[3] = {0};
            to_world(&p, find_node(&g, d->name), v);
            assert_same_place(sn_workspace_point(ws, d->joint, d->position), v);
        }
    }
    glb_free(&g);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_recording_destroy(recording);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// Bones lead where they should: to the children, to the tips, along any direction.
static void test_bones(void **state_) {
    (void)state_;
    static player p;
    static const double ways[][3] = {{0, 1, 0}, {0, -1, 0}, {1, 0, 0},         {0, 0, -2},
                                     {1, 2, 3}, {0, 0, 0},  {1e-9, -1, -1e-9}, {-3, -0.1, 0.2}};
    enum { WAYS = sizeof ways / sizeof ways[0] };
    for (int tipped = 0; tipped < 2; tipped++) {
        sn_builder *builder;
        sn_model *model;
        double tips[3 * (WAYS + 1)] = {0};
        assert_int_equal(sn_builder_create("bones", NULL, &builder, NULL), SN_OK);
        for (int i = 0; i <= WAYS; i++) {
            char name[8];
            sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
            (void)snprintf(name, sizeof name, "j%d", i);
            d.name = name;
            d.parent = i == 0 ? -1 : 0;
            if (i > 0) memcpy(tipped ? tips + 3 * i : d.position, ways[i - 1], sizeof d.position);
            (void)sn_builder_joint(builder, &d);
        }
        assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
        sn_builder_destroy(builder);
        sn_glb_scene scene = sn_glb_scene_default(model);
        if (tipped) scene.tips = tips;
        glb g;
        write_glb(&scene, &g);
        load_nodes(&g, &p);
        bool found[WAYS] = {false};
        // bones are the body's first primitive; each begins at its foot and ends at its top
        const sn_json_node *primitive = first(&g, get(&g, item(&g, "meshes", 0), "primitives"));
        int position = (int)number(&g, get(&g, primitive, "attributes"), "POSITION", -1);
        int carrier = (int)number(&g, get(&g, primitive, "attributes"), "JOINTS_0", -1);
        int nvertex = (int)number(&g, item(&g, "accessors", position), "count", 0);
        int bones = WAYS - 1, each = nvertex / bones;
        assert_int_equal(nvertex % bones, 0);
        for (int i = 0; i < bones; i++) {
            double top[3], foot[3];
            read_floats(&g, position, i * each, 3, foot);
            read_floats(&g, position, (i + 1) * each - 1, 3, top);
            for (int k = 0; k < 3; k++) assert_near(foot[k], 0, 1e-7);
            for (int w = 0; w < WAYS; w++) {
                double off = 0;
                for (int k = 0; k < 3; k++) off = fmax(off, fabs(top[k] - ways[w][k]));
                if (off > 1e-6) continue;
                found[w] = true;
                // the joint that carries it: the root, or the one whose tip it is
                if (w != 1 && w != 6)  // these two are the same to a float
                    assert_int_equal(element(&g, carrier, i * each)[0], tipped ? w + 1 : 0);
            }
        }
        for (int w = 0; w < WAYS; w++) assert_int_equal(found[w], w != 5);
        glb_free(&g);
        sn_model_destroy(model);
    }
}

// The inverses lead from the zero pose into each joint's frame, whatever pose the file shows.
static void test_skin(void **state_) {
    (void)state_;
    static player p;
    uint64_t state = 11;
    for (int t = 0; t < cases(20); t++) {
        sn_model *model = random_model(&state, 1 + below(&state, 12), -1);
        int njoint = sn_model_njoint(model);
        double *q = calloc((size_t)sn_model_nq(model) + 1, sizeof *q);
        assert_non_null(q);
        sn_glb_scene scene = sn_glb_scene_default(model);
        glb zero, posed;
        write_glb(&scene, &zero);
        load_nodes(&zero, &p);
        sn_model_sample(model, &state, q);
        scene.q = q;
        write_glb(&scene, &posed);
        const sn_json_node *skin = item(&posed, "skins", 0);
        int inverse = (int)number(&posed, skin, "inverseBindMatrices", -1);
        assert_int_equal((int)get(&posed, skin, "joints")->count, njoint);
        for (int j = 0; j < njoint; j++) {
            double M[16];
            read_floats(&posed, inverse, j, 16, M);
            for (int k = 0; k < 4; k++) {
                double x[3] = {k == 1, k == 2, k == 3}, w[3] = {x[0], x[1], x[2]};
                to_world(&p, 1 + j, w);
                for (int r = 0; r < 3; r++)
                    assert_near(M[r] * w[0] + M[4 + r] * w[1] + M[8 + r] * w[2] + M[12 + r], x[r],
                                1e-5);
            }
        }
        glb_free(&zero);
        glb_free(&posed);
        free(q);
        sn_model_destroy(model);
    }
}

static void test_up(void **state_) {
    (void)state_;
    static const struct {
        const char *axis;
        double up[3];
    } axes[] = {{"x", {1, 0, 0}},   {"Y", {0, 1, 0}},   {"+Z", {0, 0, 1}},
                {"-X", {-1, 0, 0}}, {"-y", {0, -1, 0}}, {"-Z", {0, 0, -1}}};
    double r[4];
    for (int i = 0; i < 6; i++) {
        assert_true(sn_glb_up(axes[i].axis, r));
        sn_mat3 R = sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]});
        sn_vec3 v = m3_mul(&R, v3_from(axes[i].up));
        assert_near(v.x, 0, 1e-15);
        assert_near(v.y, 1, 1e-15);
        assert_near(v.z, 0, 1e-15);
    }
    static const char *const wrong[] = {"", "w", "xy", "+", "--z", "8"};
    for (int i = 0; i < 6; i++) {
        assert_false(sn_glb_up(wrong[i], r));
        assert_true(r[0] == 1 && r[1] == 0 && r[2] == 0 && r[3] == 0);
    }
}

static void refuse(const sn_glb_scene *scene, sn_status status, const char *says) {
    bytes file = {.limit = SIZE_MAX};
    const sn_sink sink = {keep, &file};
    sn_error error = {0};
    assert_int_equal(sn_glb_write(scene, &sink, NULL, &error), status);
    assert_int_equal(error.status, status);
    assert_int_equal(file.used, 0);
    if (strstr(error.text, says) == NULL) fail_msg("\"%s\" does not say \"%s\"", error.text, says);
    free(file.data);
}

static void test_refused(void **state_) {
    (void)state_;
    uint64_t state = 6;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_motion *motion = random_motion(&state, model, 3), *other, *slow;
    sn_recording *recording = random_recording(&state, 3, 4);
    const sn_glb_scene plain = sn_glb_scene_default(model);
    sn_glb_scene scene = plain;
    scene.version = 0;
    refuse(&scene, SN_ERR_ARGUMENT, "sn_glb_scene_default");
    scene = plain;
    scene.model = NULL;
    refuse(&scene, SN_ERR_ARGUMENT, "no model");
    scene = plain;
    scene.rotation[0] = 0;
    refuse(&scene, SN_ERR_VALUE, "rotation");
    assert_int_equal(sn_motion_create(2, 3, 1, 60, NULL, &other, NULL), SN_OK);
    scene = plain;
    scene.motion = other;
    refuse(&scene, SN_ERR_ARGUMENT, "the motion has 3 coordinates");
    assert_int_equal(sn_motion_create(2, sn_model_nq(model), 1, 0, NULL, &slow, NULL), SN_OK);
    for (int f = 0; f < 2; f++) sn_model_sample(model, &state, sn_motion_edit(slow, f));
    scene.motion = slow;
    refuse(&scene, SN_ERR_ARGUMENT, "set the scene's rate");
    scene.rate = 1e9;
    refuse(&scene, SN_ERR_VALUE, "frames per second");
    // a thousandth apart is what rounded rates are; more is another clock
    for (int k = 0; k < 2; k++) {
        sn_motion *fast;
        sn_recording_info odd = *sn_recording_about(recording);
        odd.rate = k == 0 ? 999 : 998;
        sn_recording *points;
        static const char *const names[] = {"A", "B", "C", "D"};
        assert_int_equal(odd.nmarker, 4);
        assert_int_equal(sn_recording_create(&odd, names, NULL, &points, NULL), SN_OK);
        for (int f = 0; f < odd.nframe; f++)
            memcpy(sn_recording_edit(points, f), sn_recording_frame(recording, f),
                   3 * (size_t)odd.nmarker * sizeof(double));
        assert_int_equal(sn_motion_create(2, sn_model_nq(model), 1, 1000, NULL, &fast, NULL),
                         SN_OK);
        for (int f = 0; f < 2; f++) sn_model_sample(model, &state, sn_motion_edit(fast, f));
        scene = plain;
        scene.motion = fast;
        scene.recording = points;
        if (k == 0) {
            bytes file = {.limit = SIZE_MAX};
            const sn_sink sink = {keep, &file};
            assert_int_equal(sn_glb_write(&scene, &sink, NULL, NULL), SN_OK);
            free(file.data);
        } else {
            refuse(&scene, SN_ERR_ARGUMENT, "set the scene's rate");
        }
        sn_motion_destroy(fast);
        sn_recording_destroy(points);
    }
    scene = plain;
    scene.motion = motion;
    scene.recording = recording;
    sn_motion_edit(motion, 2)[9] = NAN;
    refuse(&scene, SN_ERR_VALUE, "frame 2: ");
    sn_motion_edit(motion, 2)[9] = 0;
    sn_motion_edit(motion, 1)[0] = 1e60;
    refuse(&scene, SN_ERR_VALUE, "frame 1: joint \"pelvis\" is too far away");
    sn_motion_edit(motion, 1)[0] = 0;
    double *sample = sn_recording_edit(recording, 1) + 3;
    sample[0] = 1, sample[1] = 1e60, sample[2] = 1;
    refuse(&scene, SN_ERR_VALUE, "frame 1: marker \"me:B\" is too far away");
    sn_motion_destroy(motion);
    sn_motion_destroy(other);
    sn_motion_destroy(slow);
    sn_recording_destroy(recording);
    sn_model_destroy(model);
}

static void test_too_large(void **state_) {
    (void)state_;
    uint64_t state = 6;
    uint32_t total;
    sn_error error = {0};
    sn_glb_sizes sizes = {.all = UINT32_MAX - 1031};
    assert_int_equal(sn_glb_total(&sizes, 1000, &total, &error), SN_OK);
    assert_int_equal(total, UINT32_MAX - 3);
    sizes.all++;
    assert_int_equal(sn_glb_total(&sizes, 1000, &total, &error), SN_ERR_SIZE);
    assert_non_null(strstr(error.text, "4.29"));
    sn_model *model = random_model(&state, 1, SN_JOINT_SLIDER);
    sn_motion *motion;
    assert_int_equal(sn_motion_create((1 << 23) + 1, 1, 1, 60, NULL, &motion, NULL), SN_OK);
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    refuse(&scene, SN_ERR_SIZE, "more than 8388608 frames");
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

static void test_faults(void **state_) {
    (void)state_;
    uint64_t state = 8;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_motion *motion = random_motion(&state, model, 10);
    test_allocator a;
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    sn_error error;
    for (long n = 0;; n++) {
        test_allocator_begin(&a);
        a.fail_at = n;
        bytes file = {.limit = SIZE_MAX};
        const sn_sink sink = {keep, &file};
        sn_status status = sn_glb_write(&scene, &sink, &a.base, &error);
        assert_int_equal(a.live, 0);
        free(file.data);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
        assert_int_equal(file.used, 0);
    }
    test_allocator_begin(&a);
    glb g;
    write_glb(&scene, &g);
    size_t whole = g.file.used;
    glb_free(&g);
    for (size_t limit = 0; limit <= whole; limit += limit + 997 < whole ? 997 : 1) {
        bytes file = {.limit = limit};
        const sn_sink sink = {keep, &file};
        sn_status status = sn_glb_write(&scene, &sink, &a.base, &error);
        assert_int_equal(status, limit < whole ? SN_ERR_FILE : SN_OK);
        assert_true(file.used <= limit);
        free(file.data);
        if (whole - limit > 4 && whole - limit < 997) limit = whole - 4;
    }
    assert_int_equal(a.live, 0);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joints),    cmocka_unit_test(test_times),
        cmocka_unit_test(test_channels),  cmocka_unit_test(test_markers),
        cmocka_unit_test(test_bones),     cmocka_unit_test(test_skin),
        cmocka_unit_test(test_up),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
