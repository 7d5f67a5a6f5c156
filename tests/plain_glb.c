// SPDX-License-Identifier: MIT
#include "plain_glb.h"

static uint32_t u32(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

double glb_f32(const unsigned char *at) {
    uint32_t bits = u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

const sn_json_node *glb_get(const plain_glb *g, const sn_json_node *object, const char *key) {
    return object == NULL ? NULL : sn_json_get(g->json, object, key);
}

const sn_json_node *glb_first(const plain_glb *g, const sn_json_node *list) {
    return list == NULL ? NULL : sn_json_first(g->json, list);
}

const sn_json_node *glb_item(const plain_glb *g, const char *list, int i) {
    const sn_json_node *node = glb_first(g, glb_get(g, g->root, list));
    while (i-- > 0 && node != NULL) node = sn_json_next(g->json, node);
    return node;
}

int glb_count(const plain_glb *g, const char *list) {
    const sn_json_node *node = glb_get(g, g->root, list);
    return node == NULL ? 0 : (int)node->count;
}

double glb_number(const plain_glb *g, const sn_json_node *object, const char *key,
                  double otherwise) {
    const sn_json_node *node = glb_get(g, object, key);
    return node == NULL ? otherwise : node->number;
}

void glb_make(const sn_glb_scene *scene, plain_glb *g) {
    *g = (plain_glb){0};
    memory_sink_begin(&g->file);
    sn_error error = {0};
    if (sn_glb_write(scene, &g->file.base, NULL, &error) != SN_OK) fail_msg("%s", error.text);
    const unsigned char *at = (const unsigned char *)g->file.bytes;
    assert_memory_equal(at, "glTF", 4);
    assert_int_equal(u32(at + 4), 2);
    assert_int_equal(u32(at + 8), g->file.length);
    size_t json_size = u32(at + 12);
    assert_memory_equal(at + 16, "JSON", 4);
    assert_int_equal(json_size % 4, 0);
    assert_int_equal(u32(at + 20 + json_size) % 4, 0);
    assert_memory_equal(at + 24 + json_size, "BIN", 4);
    g->bin = at + 28 + json_size;
    g->bin_size = u32(at + 20 + json_size);
    assert_int_equal(g->file.length, 28 + json_size + g->bin_size);
    if (sn_json_parse((const char *)at + 20, json_size, NULL, &g->json, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    g->root = sn_json_root(g->json);
    for (size_t i = json_size; at[20 + i - 1] != '}'; i--) assert_int_equal(at[20 + i - 1], ' ');
}

void glb_free(plain_glb *g) {
    sn_json_destroy(g->json);
    free(g->file.bytes);
}

const unsigned char *glb_element(const plain_glb *g, int accessor, int i) {
    const sn_json_node *a = glb_item(g, "accessors", accessor);
    assert_non_null(a);
    const sn_json_node *view = glb_item(g, "bufferViews", (int)glb_number(g, a, "bufferView", -1));
    assert_non_null(view);
    const char *type = glb_get(g, a, "type")->string;
    int kind = (int)glb_number(g, a, "componentType", 0);
    int component = kind == 5121 ? 1 : kind == 5123 ? 2 : 4;
    int width = component * (strcmp(type, "SCALAR") == 0 ? 1
                             : strcmp(type, "MAT4") == 0 ? 16
                                                         : type[3] - '0');
    int stride = (int)glb_number(g, view, "byteStride", width);
    size_t start = (size_t)glb_number(g, a, "byteOffset", 0);
    size_t offset = (size_t)glb_number(g, view, "byteOffset", 0);
    assert_int_equal(start % (size_t)component, 0);
    assert_int_equal(offset % 4, 0);
    assert_true(i < (int)glb_number(g, a, "count", 0));
    size_t end = start + (size_t)i * (size_t)stride + (size_t)width;
    assert_true(end <= (size_t)glb_number(g, view, "byteLength", 0));
    assert_true(offset + end <= g->bin_size);
    return g->bin + offset + end - width;
}

void glb_floats(const plain_glb *g, int accessor, int i, int n, double *out) {
    const unsigned char *at = glb_element(g, accessor, i);
    for (int k = 0; k < n; k++) out[k] = glb_f32(at + 4 * k);
}

bool glb_bounds_hold(const plain_glb *g, int accessor, int n) {
    const sn_json_node *a = glb_item(g, "accessors", accessor);
    double low[3], high[3], least[3] = {0}, most[3] = {0}, x[3];
    if (glb_get(g, a, "min") == NULL) return false;
    assert_true(sn_json_numbers(g->json, glb_get(g, a, "min"), (size_t)n, low));
    assert_true(sn_json_numbers(g->json, glb_get(g, a, "max"), (size_t)n, high));
    for (int i = 0; i < (int)glb_number(g, a, "count", 0); i++) {
        glb_floats(g, accessor, i, n, x);
        for (int k = 0; k < n; k++) {
            if (i == 0 || x[k] < least[k]) least[k] = x[k];
            if (i == 0 || x[k] > most[k]) most[k] = x[k];
        }
    }
    for (int k = 0; k < n; k++) assert_true(least[k] == low[k] && most[k] == high[k]);
    return true;
}

void glb_check_meshes(const plain_glb *g) {
    int m = 0;
    const sn_json_node *p = glb_first(g, glb_get(g, glb_item(g, "meshes", 0), "primitives"));
    while (p != NULL) {
        int position = (int)glb_number(g, glb_get(g, p, "attributes"), "POSITION", -1);
        int normal = (int)glb_number(g, glb_get(g, p, "attributes"), "NORMAL", -1);
        int index = (int)glb_number(g, p, "indices", -1);
        assert_true(glb_bounds_hold(g, position, 3));
        assert_non_null(glb_item(g, "materials", (int)glb_number(g, p, "material", -1)));
        int n = (int)glb_number(g, glb_item(g, "accessors", index), "count", 0);
        int nvertex = (int)glb_number(g, glb_item(g, "accessors", position), "count", 0);
        assert_true(n > 0 && n % 3 == 0);
        for (int i = 0; i < n; i += 3) {
            double at[3][3], across[3][3], edge[2][3], face[3];
            for (int k = 0; k < 3; k++) {
                const unsigned char *from = glb_element(g, index, i + k);
                int vertex = from[0] | from[1] << 8;
                if (glb_number(g, glb_item(g, "accessors", index), "componentType", 0) == 5125)
                    vertex |= from[2] << 16 | from[3] << 24;
                assert_true(vertex < nvertex);
                glb_floats(g, position, vertex, 3, at[k]);
                glb_floats(g, normal, vertex, 3, across[k]);
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
        if (p == NULL && ++m < glb_count(g, "meshes"))
            p = glb_first(g, glb_get(g, glb_item(g, "meshes", m), "primitives"));
    }
}

void glb_load_nodes(const plain_glb *g, glb_player *p) {
    int n = glb_count(g, "nodes"), i = 0;
    assert_true(n <= GLB_NODES);
    for (int k = 0; k < n; k++) p->parent[k] = -1;
    for (const sn_json_node *node = glb_item(g, "nodes", 0); node != NULL;
         node = sn_json_next(g->json, node), i++) {
        const double T[3] = {0, 0, 0}, R[4] = {0, 0, 0, 1}, S[3] = {1, 1, 1};
        memcpy(p->T[i], T, sizeof T);
        memcpy(p->R[i], R, sizeof R);
        memcpy(p->S[i], S, sizeof S);
        if (glb_get(g, node, "translation") != NULL)
            assert_true(sn_json_numbers(g->json, glb_get(g, node, "translation"), 3, p->T[i]));
        if (glb_get(g, node, "rotation") != NULL)
            assert_true(sn_json_numbers(g->json, glb_get(g, node, "rotation"), 4, p->R[i]));
        if (glb_get(g, node, "scale") != NULL)
            assert_true(sn_json_numbers(g->json, glb_get(g, node, "scale"), 3, p->S[i]));
        const sn_json_node *child = glb_first(g, glb_get(g, node, "children"));
        for (; child != NULL; child = sn_json_next(g->json, child)) {
            assert_true(child->number > 0 && child->number < n);
            assert_int_equal(p->parent[(int)child->number], -1);  // one parent each
            p->parent[(int)child->number] = i;
        }
    }
    // the body stands beside the figure: its joints carry it
    for (int k = 1; k < n - 1; k++) assert_true(p->parent[k] >= 0);
    assert_non_null(glb_get(g, glb_item(g, "nodes", n - 1), "skin"));
    assert_int_equal(p->parent[n - 1], -1);
}

void glb_set_key(const plain_glb *g, int key, glb_player *p) {
    const sn_json_node *animation = glb_item(g, "animations", 0);
    if (animation == NULL) return;
    const sn_json_node *channel = glb_first(g, glb_get(g, animation, "channels"));
    for (; channel != NULL; channel = sn_json_next(g->json, channel)) {
        const sn_json_node *sampler = glb_first(g, glb_get(g, animation, "samplers"));
        for (int i = (int)glb_number(g, channel, "sampler", -1); i > 0; i--)
            sampler = sn_json_next(g->json, sampler);
        int input = (int)glb_number(g, sampler, "input", -1);
        int output = (int)glb_number(g, sampler, "output", -1);
        int n = (int)glb_number(g, glb_item(g, "accessors", input), "count", 0);
        assert_int_equal(n, (int)glb_number(g, glb_item(g, "accessors", output), "count", 0));
        int at = key < n ? key : n - 1;
        const sn_json_node *target = glb_get(g, channel, "target");
        int node = (int)glb_number(g, target, "node", -1);
        const char *path = glb_get(g, target, "path")->string;
        if (strcmp(path, "translation") == 0) glb_floats(g, output, at, 3, p->T[node]);
        if (strcmp(path, "scale") == 0) {
            assert_string_equal(glb_get(g, sampler, "interpolation")->string, "STEP");
            glb_floats(g, output, at, 3, p->S[node]);
        }
        if (strcmp(path, "rotation") != 0) continue;
        double before[4], *R = p->R[node], dot = 0, norm = 0;
        glb_floats(g, output, at, 4, R);
        glb_floats(g, output, at > 0 ? at - 1 : 0, 4, before);
        for (int k = 0; k < 4; k++) dot += R[k] * before[k], norm += R[k] * R[k];
        assert_near(norm, 1, 1e-6);
        assert_true(dot >= 0);
    }
}

void glb_to_world(const glb_player *p, int node, double v[3]) {
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

int glb_find_node(const plain_glb *g, const char *name) {
    int i = 0;
    for (const sn_json_node *n = glb_item(g, "nodes", 0); n != NULL;
         n = sn_json_next(g->json, n), i++)
        if (i > 0 && glb_get(g, n, "name") != NULL &&
            strcmp(glb_get(g, n, "name")->string, name) == 0)
            return i;
    return -1;
}

void glb_same_place(sn_vec3 model, const double file[3]) {
    assert_near(model.x, file[0], 1e-6);
    assert_near(model.z, file[1], 1e-6);
    assert_near(-model.y, file[2], 1e-6);
}

// Neighbouring rotations are on the same side, so that what lies between is the short way. (The weights of a skin
// are fours of floats, too, and never negative.)
static void check_sides(const plain_glb *g) {
    for (int a = 0; a < glb_count(g, "accessors"); a++) {
        const sn_json_node *accessor = glb_item(g, "accessors", a);
        if (strcmp(glb_get(g, accessor, "type")->string, "VEC4") != 0 ||
            glb_number(g, accessor, "componentType", 0) != 5126)
            continue;
        double q[4], last[4] = {0};
        for (int i = 0; i < (int)glb_number(g, accessor, "count", 0); i++) {
            double dot = 0;
            glb_floats(g, a, i, 4, q);
            for (int k = 0; k < 4; k++) dot += q[k] * last[k];
            assert_true(dot > -1e-6);
            memcpy(last, q, sizeof last);
        }
    }
}

void glb_check_frames(const plain_glb *g, const sn_model *model, const sn_motion *motion) {
    check_sides(g);
    static glb_player p;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    glb_load_nodes(g, &p);
    for (int f = 0; f < sn_motion_nframe(motion); f++) {
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
        if (f > 0) glb_set_key(g, f, &p);  // the first is how the nodes stand
        for (int pass = 0; pass < (f == 0 ? 2 : 1); pass++) {
            if (pass == 1) glb_set_key(g, 0, &p);  // and the first key says the same
            for (int i = 0; i < sn_model_njoint(model); i++) {
                int node = glb_find_node(g, sn_model_joint(model, i)->name);
                assert_true(node >= 0);
                for (int k = 0; k < 4; k++) {
                    double v[3] = {k == 1, k == 2, k == 3};
                    sn_vec3 there = sn_workspace_point(ws, i, v);
                    glb_to_world(&p, node, v);
                    glb_same_place(there, v);
                }
            }
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
}
