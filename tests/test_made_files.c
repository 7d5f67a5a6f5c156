// SPDX-License-Identifier: MIT
// Every reader on files that are made here, so that it is tested where no data are: what the writers make of the
// example take reads back as the take, and a text that is written otherwise but says the same reads the same.
#include "made_files.h"
#include "memory_sink.h"

enum { FRAMES = 30 };

static sn_document read_file(const made_file *file, const sn_skeleton *skeleton, const char *how) {
    sn_document d;
    sn_error error = {0};
    sn_document_options options = sn_document_options_default();
    options.skeleton = skeleton;
    // a block of its own, for the sanitizer
    char *copy = malloc(file->length > 0 ? file->length : 1);
    assert_non_null(copy);
    memcpy(copy, file->bytes, file->length);
    if (sn_document_read(copy, file->length, file->name, &options, NULL, &d, &error) != SN_OK)
        fail_msg("%s%s: line %d: %s", file->name, how, error.line, error.text);
    free(copy);
    sn_format format = sn_format_of_name(file->name);
    assert_int_equal(d.format, format);
    // a misleading name changes nothing where the bytes say what they are
    if (format != SN_FORMAT_CSV)
        assert_int_equal(sn_format_of(file->bytes, file->length, "file.xyz"), format);
    return d;
}

// --- recordings ----------------------------------------------------------------------------------

static sn_recording *some_frames(const example_take *take) {
    return recording_cut(take->recording, 100, FRAMES);
}

static void c3d(void **state) {
    static const sn_c3d_processor processors[] = {SN_C3D_INTEL, SN_C3D_DEC, SN_C3D_MIPS};
    sn_recording *truth = some_frames(*state);
    const sn_recording_info *want = sn_recording_about(truth);
    for (int p = 0; p < 3; p++)
        for (int integers = 0; integers < 2; integers++) {
            made_file file = made_c3d(truth, processors[p], integers);
            assert_int_equal((unsigned char)file.bytes[512 + 3], processors[p]);
            sn_document d = read_file(&file, NULL, "");
            const sn_recording_info *got = sn_recording_about(d.recording);
            double off = recording_distance(truth, d.recording);
            assert_true(got->rate == want->rate && got->metres_per_unit == 0.001);
            assert_string_equal(got->note, "");
            // 24 bits of some metres, or 16
            print_message("processor %d, %s: off by %.1e m\n", processors[p],
                          integers ? "integers" : "floats", off);
            assert_true(off > 0 && off < (integers ? 1e-4 : 3e-7));
            sn_document_destroy(&d);
            made_free(&file);
        }
    sn_recording_destroy(truth);
}

static void marker_tables(void **state) {
    static const char *const units[] = {"mm", "m", "cm"};
    sn_recording *truth = some_frames(*state);
    int read = 0;
    for (int u = 0; u < 3; u++)
        for (int trc = 0; trc < 2; trc++) {
            made_file plain = trc ? made_trc(truth, units[u]) : made_csv(truth, units[u]);
            for (int way = 0; way < MADE_WAYS; way++) {
                // the cells of these are parted by tabs or commas: others, or empty ones, say something else
                if (way == MADE_TABS || way == MADE_INDENTED) continue;
                made_file file = made_text(&plain, (made_way)way);
                char how[40];
                (void)snprintf(how, sizeof how, ", %s, way %d", units[u], way);
                sn_document d = read_file(&file, NULL, how);
                double off = recording_distance(truth, d.recording);
                if (!(off < 1e-9)) fail_msg("%s%s: off by %g m", file.name, how, off);
                assert_near(sn_recording_about(d.recording)->rate, 120, 1e-9);
                sn_document_destroy(&d);
                made_free(&file);
                read++;
            }
            made_free(&plain);
        }
    print_message("%d tables of markers read\n", read);
    sn_recording_destroy(truth);
}

// --- models and motions --------------------------------------------------------------------------

static sn_motion *some_poses(const example_take *take) {
    sn_motion *out;
    assert_int_equal(sn_motion_create(FRAMES, sn_motion_nq(take->truth), 1, 120, NULL, &out, NULL),
                     SN_OK);
    for (int f = 0; f < FRAMES; f++)
        memcpy(sn_motion_edit(out, f), sn_motion_frame(take->truth, 20 * f),
               (size_t)sn_motion_nq(out) * sizeof(double));
    return out;
}

static void place(const sn_model *model, const double *q, sn_workspace **ws, sn_problem **problem) {
    if (*ws == NULL) {
        sn_task t = sn_task_default(SN_TASK_POINT);
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(*problem, false, NULL, ws, NULL), SN_OK);
    }
    assert_int_equal(sn_workspace_pose(*ws, q), SN_OK);
}

// How far joints of the same names are apart, over all frames; in metres.
static double joints_apart(const sn_model *a, const sn_motion *x, const sn_model *b,
                           const sn_motion *y, int *shared) {
    sn_workspace *u = NULL, *v = NULL;
    sn_problem *p = NULL, *r = NULL;
    double worst = 0;
    *shared = 0;
    assert_int_equal(sn_motion_nframe(x), sn_motion_nframe(y));
    for (int f = 0; f < sn_motion_nframe(x); f++) {
        place(a, sn_motion_frame(x, f), &u, &p);
        place(b, sn_motion_frame(y, f), &v, &r);
        for (int j = 0; j < sn_model_njoint(a); j++) {
            int k = sn_model_find_joint(b, sn_model_joint(a, j)->name);
            if (k < 0) continue;
            *shared += f == 0;
            sn_vec3 s = sn_workspace_frame(u, j).p, t = sn_workspace_frame(v, k).p;
            worst = fmax(worst, fmax(fabs(s.x - t.x), fmax(fabs(s.y - t.y), fabs(s.z - t.z))));
        }
    }
    sn_workspace_destroy(u);
    sn_workspace_destroy(v);
    sn_problem_destroy(p);
    sn_problem_destroy(r);
    return worst;
}

static void same_motion(const made_file *file, int way, const sn_motion *a, const sn_motion *b) {
    assert_int_equal(sn_motion_nframe(a), sn_motion_nframe(b));
    assert_int_equal(sn_motion_nq(a), sn_motion_nq(b));
    for (int f = 0; f < sn_motion_nframe(a); f++)
        if (memcmp(sn_motion_frame(a, f), sn_motion_frame(b, f),
                   (size_t)sn_motion_nq(a) * sizeof(double)) != 0)
            fail_msg("%s, way %d: frame %d differs", file->name, way, f);
}

static void same_model(const made_file *file, int way, const sn_model *a, const sn_model *b) {
    char *x, *y;
    assert_int_equal(sn_model_text(a, NULL, &x), SN_OK);
    assert_int_equal(sn_model_text(b, NULL, &y), SN_OK);
    if (strcmp(x, y) != 0) fail_msg("%s, way %d: the model differs", file->name, way);
    sn_release(NULL, x);
    sn_release(NULL, y);
}

static void skeletons(void **state) {
    const example_take *take = *state;
    sn_motion *poses = some_poses(take);
    static const sn_format formats[] = {SN_FORMAT_BVH, SN_FORMAT_ASF, SN_FORMAT_AMC};
    made_file asf = made_skeleton(take->model, poses, SN_FORMAT_ASF);
    sn_document partner = read_file(&asf, NULL, "");
    for (int i = 0; i < 3; i++) {
        made_file plain = made_skeleton(take->model, poses, formats[i]);
        sn_document base = read_file(&plain, partner.skeleton, "");
        if (base.motion != NULL) {
            int shared;
            double off = joints_apart(take->model, poses,
                                      formats[i] == SN_FORMAT_AMC ? partner.model : base.model,
                                      base.motion, &shared);
            print_message("%s: %d joints, off by %.1e m\n", plain.name, shared, off);
            assert_true(shared >= 20 && off < 1e-6);
        }
        for (int way = 1; way < MADE_WAYS; way++) {
            made_file file = made_text(&plain, (made_way)way);
            char how[20];
            (void)snprintf(how, sizeof how, ", way %d", way);
            sn_document d = read_file(&file, partner.skeleton, how);
            if (base.motion != NULL) same_motion(&file, way, base.motion, d.motion);
            if (base.skeleton != NULL) same_model(&file, way, base.model, d.model);
            sn_document_destroy(&d);
            made_free(&file);
        }
        sn_document_destroy(&base);
        made_free(&plain);
    }
    sn_document_destroy(&partner);
    made_free(&asf);
    sn_motion_destroy(poses);
}

static void others(void **state) {
    const example_take *take = *state;
    sn_motion *poses = some_poses(take), *back;
    made_file mot = made_mot(take->model, poses), glb = made_glb(take->model, poses),
              json = made_json(take->model);
    for (int way = 0; way < MADE_WAYS; way++) {
        // a MOT file's header has sentences
        if (way == MADE_TABS || way == MADE_INDENTED) continue;
        made_file file = made_text(&mot, (made_way)way), model = made_text(&json, (made_way)way);
        char how[20];
        (void)snprintf(how, sizeof how, ", way %d", way);
        sn_document d = read_file(&file, NULL, how), m = read_file(&model, NULL, how);
        same_model(&model, way, take->model, m.model);
        sn_error error = {0};
        if (sn_motion_from_table(m.model, d.table, NULL, &back, &error) != SN_OK)
            fail_msg("%s%s: %s", file.name, how, error.text);
        int shared;
        double off = joints_apart(take->model, poses, m.model, back, &shared);
        if (!(off < 1e-9)) fail_msg("%s%s: off by %g m", file.name, how, off);
        sn_motion_destroy(back);
        sn_document_destroy(&d);
        sn_document_destroy(&m);
        made_free(&file);
        made_free(&model);
    }
    sn_document d = read_file(&glb, NULL, "");
    int shared;
    double off = joints_apart(take->model, poses, d.model, d.motion, &shared);
    print_message("glb: %d joints, off by %.1e m\n", shared, off);
    assert_true(shared >= 20 && off < 1e-5);  // its numbers are floats
    sn_document_destroy(&d);
    made_free(&mot);
    made_free(&glb);
    made_free(&json);
    sn_motion_destroy(poses);
}

// Every format that a scene can be written in is what it says, and a sink that takes nothing is an error of files.
static void scenes(void **state) {
    const example_take *take = *state;
    static const sn_format formats[] = {SN_FORMAT_ASF, SN_FORMAT_AMC, SN_FORMAT_BVH,
                                        SN_FORMAT_C3D, SN_FORMAT_TRC, SN_FORMAT_MOT,
                                        SN_FORMAT_CSV, SN_FORMAT_GLB, SN_FORMAT_MODEL};
    sn_recording *points = some_frames(take);
    sn_motion *poses = some_poses(take);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        for (int turned = 0; turned < 2; turned++) {
            memory_sink good, full;
            sn_error error = {0};
            sn_scene scene = sn_scene_default(take->model);
            scene.motion = poses;
            scene.recording = points;
            if (turned) scene.rotation[0] = scene.rotation[1] = 0.7071067811865476;
            memory_sink_begin(&good);
            memory_sink_begin(&full);
            full.room = 0;
            if (sn_scene_write(&scene, formats[i], &good.base, NULL, &error) != SN_OK)
                fail_msg("%d: %s", (int)formats[i], error.text);
            assert_true(good.length > 100);
            if (formats[i] != SN_FORMAT_CSV)
                assert_int_equal(sn_format_of(good.bytes, good.length, "x"), formats[i]);
            assert_int_equal(sn_scene_write(&scene, formats[i], &full.base, NULL, NULL),
                             SN_ERR_FILE);
            free(good.bytes);
        }
    sn_recording_destroy(points);
    sn_motion_destroy(poses);
}

// A quarter turn about x, as the scene below is turned.
static void assert_turned(const double is[3], const double was[3]) {
    assert_near(is[0], was[0], 1e-15);
    assert_near(is[1], -was[2], 1e-15);
    assert_near(is[2], was[1], 1e-15);
}

// A model that is written in another world takes what belongs to the world along: its floor, its wall, what a loop
// holds fast. What belongs to a joint stays.
static void turned_world(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    assert_int_equal(sn_builder_create("arm", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"base", "upper", "lower"};
        sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
        d.name = names[i], d.parent = i - 1;
        d.position[0] = 0.3, d.position[1] = 0.1 * i, d.position[2] = 0.7;
        (void)sn_builder_joint(b, &d);
    }
    for (int joint = -1; joint < 1; joint++) {
        sn_shape_desc plane = sn_shape_default(SN_SHAPE_PLANE);
        sn_shape_desc wall = sn_shape_default(SN_SHAPE_CAPSULE);
        plane.joint = wall.joint = joint, wall.radius = 0.1;
        for (int c = 0; c < 3; c++) {
            plane.from[c] = 0.1 * c, plane.normal[c] = c == 2;
            wall.from[c] = 1 + 0.2 * c, wall.to[c] = 2 - 0.3 * c;
        }
        (void)sn_builder_shape(b, &plane);
        (void)sn_builder_shape(b, &wall);
        sn_loop_desc line = sn_loop_default(SN_LOOP_LINE), weld = sn_loop_default(SN_LOOP_WELD);
        line.joint[0] = weld.joint[0] = 2, line.joint[1] = weld.joint[1] = joint;
        for (int c = 0; c < 3; c++) {
            line.position[1][c] = weld.position[1][c] = 0.4 + 0.1 * c;
            line.axis[1][c] = c == 1;
        }
        (void)sn_builder_loop(b, &line);
        (void)sn_builder_loop(b, &weld);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    sn_scene scene = sn_scene_default(model);
    scene.rotation[0] = scene.rotation[1] = 0.7071067811865476;
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_scene_write(&scene, SN_FORMAT_MODEL, &sink.base, NULL, NULL), SN_OK);
    sn_model *turned;
    assert_int_equal(sn_model_read_json(sink.bytes, sink.length, NULL, &turned, NULL), SN_OK);
    assert_turned(sn_model_joint(turned, 0)->position, sn_model_joint(model, 0)->position);
    assert_int_equal(sn_model_nshape(turned), 4);
    assert_int_equal(sn_model_nloop(turned), 4);
    for (int i = 0; i < 4; i++) {
        const sn_shape_desc *was = sn_model_shape(model, i), *is = sn_model_shape(turned, i);
        const sn_loop_desc *held = sn_model_loop(model, i), *holds = sn_model_loop(turned, i);
        bool world = i < 2;
        assert_int_equal(is->joint, world ? -1 : 0);
        assert_int_equal(holds->joint[1], world ? -1 : 0);
        if (world) {
            assert_turned(is->from, was->from);
            if (was->type == SN_SHAPE_PLANE) assert_turned(is->normal, was->normal);
            if (was->type == SN_SHAPE_CAPSULE) assert_turned(is->to, was->to);
            assert_turned(holds->position[1], held->position[1]);
            if (held->type == SN_LOOP_LINE) assert_turned(holds->axis[1], held->axis[1]);
            if (held->type == SN_LOOP_WELD) {
                assert_near(holds->rotation[1][0], 0.7071067811865476, 1e-15);
                assert_near(holds->rotation[1][1], 0.7071067811865476, 1e-15);
            }
        } else {
            assert_memory_equal(is->from, was->from, sizeof is->from);
            assert_memory_equal(holds->position[1], held->position[1], sizeof held->position[1]);
            if (held->type == SN_LOOP_WELD) assert_near(holds->rotation[1][0], 1, 0);
        }
        assert_memory_equal(holds->position[0], held->position[0], sizeof held->position[0]);
    }
    free(sink.bytes);
    sn_model_destroy(turned);
    sn_model_destroy(model);
}

static void robots(void **unused) {
    (void)unused;
    for (int i = 0; i < cases(20); i++) {
        made_file plain = made_urdf(1 + 3 * i, (uint64_t)i);
        sn_document base = read_file(&plain, NULL, "");
        assert_int_equal(sn_model_njoint(base.model), 2 + 3 * i);
        assert_int_equal(sn_model_nmarker(base.model), 2 + 3 * i);
        for (int way = 1; way < MADE_WAYS; way++) {
            // a declaration must be the first thing in a file
            if (way == MADE_INDENTED) continue;
            made_file file = made_text(&plain, (made_way)way);
            char how[20];
            (void)snprintf(how, sizeof how, ", way %d", way);
            sn_document d = read_file(&file, NULL, how);
            same_model(&file, way, base.model, d.model);
            sn_document_destroy(&d);
            made_free(&file);
        }
        sn_document_destroy(&base);
        made_free(&plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c3d),          cmocka_unit_test(marker_tables),
        cmocka_unit_test(skeletons),    cmocka_unit_test(others),
        cmocka_unit_test(robots),       cmocka_unit_test(scenes),
        cmocka_unit_test(turned_world),
    };
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
