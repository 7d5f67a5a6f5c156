// SPDX-License-Identifier: MIT
// GLB: what is written is read back, chunk by chunk, and its nodes carried through their tree at
// every key are where the model's joints and markers are.
#include "plain_glb.h"

#include "files/glb/glb.h"

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
        plain_glb g;
        glb_make(&scene, &g);
        glb_check_meshes(&g);
        glb_check_frames(&g, model, motion);
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
    plain_glb g;
    glb_make(&scene, &g);
    const sn_json_node *samplers = glb_get(&g, glb_item(&g, "animations", 0), "samplers");
    int input = (int)glb_number(&g, sn_json_first(g.json, samplers), "input", -1);
    assert_true(glb_bounds_hold(&g, input, 1));
    double last = -1, at;
    for (int f = 0; f < 100000; f++) {
        const unsigned char *from = glb_element(&g, input, 0) + 4 * f;
        at = glb_f32(from);
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

static bool is_child(const plain_glb *g, int parent, int child) {
    const sn_json_node *node = glb_first(g, glb_get(g, glb_item(g, "nodes", parent), "children"));
    for (; node != NULL; node = sn_json_next(g->json, node))
        if ((int)node->number == child) return true;
    return false;
}

static void check_shape(const plain_glb *g, const sn_model *m, int i, int mesh, int node) {
    const sn_shape_desc *d = sn_model_shape(m, i);
    assert_int_equal((int)glb_number(g, glb_item(g, "nodes", node), "mesh", -1), mesh);
    assert_true(is_child(g, d->joint + 1, node));
    const sn_json_node *primitive =
        glb_first(g, glb_get(g, glb_item(g, "meshes", mesh), "primitives"));
    const sn_json_node *attributes = glb_get(g, primitive, "attributes");
    const int position = (int)glb_number(g, attributes, "POSITION", -1);
    const int normal = (int)glb_number(g, attributes, "NORMAL", -1);
    const int count = (int)glb_number(g, glb_item(g, "accessors", position), "count", 0);
    assert_true(count > 100);
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < count; v++) {
        double p[3], n[3], along = 0;
        glb_floats(g, position, v, 3, p);
        glb_floats(g, normal, v, 3, n);
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
        plain_glb g;
        glb_make(&scene, &g);
        const int without = glb_count(&g, "nodes"), meshes = glb_count(&g, "meshes");
        glb_free(&g);
        scene.shapes = true;
        glb_make(&scene, &g);
        glb_check_meshes(&g);
        glb_check_frames(&g, model, motion);
        assert_int_equal(glb_count(&g, "nodes"), without + count);
        assert_int_equal(glb_count(&g, "meshes"), meshes + count);
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
    plain_glb g;
    glb_make(&scene, &g);
    assert_int_equal(glb_count(&g, "animations"), 0);
    assert_int_equal(glb_count(&g, "bufferViews"), 4);  // no view for keys
    glb_free(&g);
    sn_motion_edit(motion, 1)[sn_model_q_index(model, sn_model_find_joint(model, "left_shin"))] = 1;
    sn_motion_edit(motion, 2)[0] = 0.5;  // the root moves
    glb_make(&scene, &g);
    const sn_json_node *animation = glb_item(&g, "animations", 0);
    const sn_json_node *channel = glb_first(&g, glb_get(&g, animation, "channels"));
    assert_int_equal(glb_get(&g, animation, "channels")->count, 2);
    for (int k = 0; k < 2; k++, channel = sn_json_next(g.json, channel)) {
        const sn_json_node *target = glb_get(&g, channel, "target");
        assert_string_equal(glb_get(&g, target, "path")->string,
                            k == 0 ? "translation" : "rotation");
        assert_int_equal((int)glb_number(&g, target, "node", -1),
                         glb_find_node(&g, k == 0 ? "pelvis" : "left_shin"));
    }
    glb_free(&g);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// The first marker is never seen, the others come and go.
static sn_recording *coming_and_going(uint64_t *state, int nframe, int nmarker) {
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
    static glb_player p;
    uint64_t state = 4;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_motion *motion = random_motion(&state, model, 20);
    sn_recording *recording = coming_and_going(&state, 30, 4);
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    sn_glb_scene scene = sn_glb_scene_default(model);
    assert_true(sn_glb_up("z", scene.rotation));
    scene.motion = motion;
    scene.recording = recording;
    scene.fitted = true;
    plain_glb g;
    glb_make(&scene, &g);
    assert_int_equal(glb_find_node(&g, "me:A"), -1);
    glb_load_nodes(&g, &p);
    for (int f = -1; f < 30; f++) {
        int at = f < 0 ? 0 : f, pose = at < 20 ? at : 19;
        if (f >= 0) glb_set_key(&g, f, &p);
        for (int i = 1; i < 4; i++) {
            int node = glb_find_node(&g, sn_recording_label(recording, i));
            const double *seen = sn_recording_frame(recording, at) + 3 * i;
            double v[3] = {0}, size = p.S[node][0];
            glb_to_world(&p, node, v);
            assert_true(isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]));
            assert_true(sn_recording_present(recording, at, i) ? size > 0.001 : size == 0);
            if (size > 0) glb_same_place((sn_vec3){seen[0], seen[1], seen[2]}, v);
        }
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, pose)), SN_OK);
        for (int i = 0; i < sn_model_nmarker(model); i++) {
            const sn_marker_desc *d = sn_model_marker(model, i);
            double v[3] = {0};
            glb_to_world(&p, glb_find_node(&g, d->name), v);
            glb_same_place(sn_workspace_point(ws, d->joint, d->position), v);
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
    static glb_player p;
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
        plain_glb g;
        glb_make(&scene, &g);
        glb_load_nodes(&g, &p);
        bool found[WAYS] = {false};
        // bones are the body's first primitive; each begins at its foot and ends at its top
        const sn_json_node *primitive =
            glb_first(&g, glb_get(&g, glb_item(&g, "meshes", 0), "primitives"));
        int position = (int)glb_number(&g, glb_get(&g, primitive, "attributes"), "POSITION", -1);
        int carrier = (int)glb_number(&g, glb_get(&g, primitive, "attributes"), "JOINTS_0", -1);
        int nvertex = (int)glb_number(&g, glb_item(&g, "accessors", position), "count", 0);
        int bones = WAYS - 1, each = nvertex / bones;
        assert_int_equal(nvertex % bones, 0);
        for (int i = 0; i < bones; i++) {
            double top[3], foot[3];
            glb_floats(&g, position, i * each, 3, foot);
            glb_floats(&g, position, (i + 1) * each - 1, 3, top);
            for (int k = 0; k < 3; k++) assert_near(foot[k], 0, 1e-7);
            for (int w = 0; w < WAYS; w++) {
                double off = 0;
                for (int k = 0; k < 3; k++) off = fmax(off, fabs(top[k] - ways[w][k]));
                if (off > 1e-6) continue;
                found[w] = true;
                // the joint that carries it: the root, or the one whose tip it is
                if (w != 1 && w != 6)  // these two are the same to a float
                    assert_int_equal(glb_element(&g, carrier, i * each)[0], tipped ? w + 1 : 0);
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
    static glb_player p;
    uint64_t state = 11;
    for (int t = 0; t < cases(20); t++) {
        sn_model *model = random_model(&state, 1 + below(&state, 12), -1);
        int njoint = sn_model_njoint(model);
        double *q = calloc((size_t)sn_model_nq(model) + 1, sizeof *q);
        assert_non_null(q);
        sn_glb_scene scene = sn_glb_scene_default(model);
        plain_glb zero, posed;
        glb_make(&scene, &zero);
        glb_load_nodes(&zero, &p);
        sn_model_sample(model, &state, q);
        scene.q = q;
        glb_make(&scene, &posed);
        const sn_json_node *skin = glb_item(&posed, "skins", 0);
        int inverse = (int)glb_number(&posed, skin, "inverseBindMatrices", -1);
        assert_int_equal((int)glb_get(&posed, skin, "joints")->count, njoint);
        for (int j = 0; j < njoint; j++) {
            double M[16];
            glb_floats(&posed, inverse, j, 16, M);
            for (int k = 0; k < 4; k++) {
                double x[3] = {k == 1, k == 2, k == 3}, w[3] = {x[0], x[1], x[2]};
                glb_to_world(&p, 1 + j, w);
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
    memory_sink file;
    memory_sink_begin(&file);
    sn_error error = {0};
    assert_int_equal(sn_glb_write(scene, &file.base, NULL, &error), status);
    assert_int_equal(error.status, status);
    assert_int_equal(file.length, 0);
    if (strstr(error.text, says) == NULL) fail_msg("\"%s\" does not say \"%s\"", error.text, says);
    free(file.bytes);
}

static void test_refused(void **state_) {
    (void)state_;
    uint64_t state = 6;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_motion *motion = random_motion(&state, model, 3), *other, *slow;
    sn_recording *recording = coming_and_going(&state, 3, 4);
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
            memory_sink file;
            memory_sink_begin(&file);
            assert_int_equal(sn_glb_write(&scene, &file.base, NULL, NULL), SN_OK);
            free(file.bytes);
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
        memory_sink file;
        memory_sink_begin(&file);
        sn_status status = sn_glb_write(&scene, &file.base, &a.base, &error);
        assert_int_equal(a.live, 0);
        free(file.bytes);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
        assert_int_equal(file.length, 0);
    }
    test_allocator_begin(&a);
    plain_glb g;
    glb_make(&scene, &g);
    size_t whole = g.file.length;
    glb_free(&g);
    for (size_t limit = 0; limit <= whole; limit += limit + 997 < whole ? 997 : 1) {
        memory_sink file;
        memory_sink_begin(&file);
        file.room = limit;
        sn_status status = sn_glb_write(&scene, &file.base, &a.base, &error);
        assert_int_equal(status, limit < whole ? SN_ERR_FILE : SN_OK);
        assert_true(file.length <= limit);
        free(file.bytes);
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
