// SPDX-License-Identifier: MIT
// Named frames: bodies and joints of an OpenSim file in tasks, in copies and in the native file.
#include "osim_files.h"

static sn_model *model;
static sn_workspace *ws;
static sn_problem *problem;
static double q[16];

// Two joints of several coordinates whose ends are turned; markers at the origin and the tips of the axes of
// each body say where the body is, whatever the frames say.
static void begin(bool layout, uint64_t seed) {
    static const char *const tips[] = {"o", "x", "y", "z"};
    ends e[2];
    uint64_t state = seed;
    for (int i = 0; i < 24; i++) ((double *)e)[i] = uniform(&state, -1, 1);
    new_layout = layout;
    bodies[0] = "thigh", bodies[1] = "shank", bodies[2] = NULL;
    begin_file();
    put_joint("GimbalJoint", "hip", "ground", "thigh", &e[0],
              "<Coordinate name=\"a\"/><Coordinate name=\"b\"/><Coordinate name=\"c\"/>", "");
    put_joint("UniversalJoint", "knee", "thigh", "shank", &e[1],
              "<Coordinate name=\"d\"/><Coordinate name=\"e\"/>", "");
    begin_markers();
    for (int b = 0; b < 2; b++)
        for (int k = 0; k < 4; k++) {
            char name[20];
            (void)snprintf(name, sizeof name, "%s_%s", bodies[b], tips[k]);
            put_marker(name, bodies[b], k == 1, k == 2, k == 3);
        }
    // where the joints' frames on their children are
    put_marker("knee_o", "shank", e[1].child_at[0], e[1].child_at[1], e[1].child_at[2]);
    put_marker("hip_o", "thigh", e[0].child_at[0], e[0].child_at[1], e[0].child_at[2]);
    put_marker("hip", "thigh", 1, 1, 1);  // a marker may have a joint's name
    end_file();
    sn_error error;
    if (sn_osim_read(text, used, NULL, &model, NULL, NULL, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    sn_model_sample(model, &state, q);
}

static void end(void) { sn_model_destroy(model); }

static sn_frame body(const char *name) {
    char tip[20];
    sn_frame f;
    (void)snprintf(tip, sizeof tip, "%s_o", name);
    f.p = marker_at(model, tip, q);
    for (int k = 0; k < 3; k++) {
        (void)snprintf(tip, sizeof tip, "%s_%c", name, "xyz"[k]);
        f.R.c[k] = v3_sub(marker_at(model, tip, q), f.p);
    }
    return f;
}

static sn_vec3 on(const sn_frame *f, double x, double y, double z) {
    return v3_add(f->p, m3_mul(&f->R, v3(x, y, z)));
}

// The residual of one task at the pose.
static double residual(const char *format, ...) __attribute__((format(printf, 1, 2)));
static double residual(const char *format, ...) {
    char file[2000], inner[1500];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(inner, sizeof inner, format, arguments);
    va_end(arguments);
    (void)snprintf(file, sizeof file, "{\"tasks\": [{%s}]}", inner);
    sn_error error = {0};
    double f;
    if (sn_problem_read_json(file, strlen(file), model, NULL, &problem, &error) != SN_OK)
        fail_msg("%s: %s", inner, error.text);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    double out = sn_workspace_task_error(ws, 0);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return out;
}

static void near(double is, double wanted) {
    if (!(fabs(is - wanted) <= 1e-12 * (1 + fabs(wanted))))
        fail_msg("%.17g, wanted %.17g", is, wanted);
}

static double angle(const sn_mat3 *A, const sn_mat3 *B) {
    sn_mat3 t = m3_transpose(B), D = m3_mulm(A, &t);
    return v3_norm(sn_quat_log(sn_quat_from_mat3(D)));
}

static void test_tasks(void **unused) {
    (void)unused;
    const sn_quat g = sn_quat_exp(v3(0.3, -0.7, 0.4));
    const sn_mat3 G = sn_mat3_from_quat(g);
    char turn[200];
    (void)snprintf(turn, sizeof turn, "[%.17g, %.17g, %.17g, %.17g]", g.w, g.x, g.y, g.z);
    for (int trial = 0; trial < cases(8); trial++) {
        begin(trial % 2 == 1, (uint64_t)(7 + trial));
        const sn_frame s = body("shank"), t = body("thigh");
        const sn_vec3 goal = v3(0.5, 0.6, 0.7), p = on(&s, 0.1, 0.2, 0.3), hung = on(&t, 1, 2, 3);
        const char *local = "\"local\": [0.1, 0.2, 0.3], \"goal\": [0.5, 0.6, 0.7]";
        near(residual("\"type\": \"point\", \"link\": \"shank\", %s", local),
             v3_norm(v3_sub(goal, p)));
        near(residual("\"type\": \"point\", \"joint\": \"shank\", %s", local),
             v3_norm(v3_sub(goal, p)));
        near(residual("\"type\": \"point\", \"joint\": \"knee\", \"goal\": [0.5, 0.6, 0.7]"),
             v3_norm(v3_sub(goal, marker_at(model, "knee_o", q))));
        near(residual("\"type\": \"orientation\", \"link\": \"shank\", \"goal\": %s", turn),
             angle(&G, &s.R));
        near(residual("\"type\": \"pose\", \"link\": \"shank\", %s, \"rotation\": %s", local, turn),
             hypot(v3_norm(v3_sub(goal, p)), angle(&G, &s.R)));
        near(residual("\"type\": \"direction\", \"link\": \"shank\", \"local\": [0, 1, 0], "
                      "\"goal\": [1, 0, 0]"),
             v3_norm(v3_sub(v3_unit(0), s.R.c[1])));
        sn_vec3 to = v3_sub(hung, p);
        near(residual("\"type\": \"look-at\", \"link\": \"shank\", \"local\": [0.1, 0.2, 0.3], "
                      "\"axis\": [0, 0, 1], \"link2\": \"thigh\", \"local2\": [1, 2, 3]"),
             v3_norm(v3_sub(v3_scale(1 / v3_norm(to), to), s.R.c[2])));
        near(residual("\"type\": \"plane\", \"link\": \"shank\", \"local\": [0.1, 0.2, 0.3], "
                      "\"link2\": \"thigh\", \"point\": [1, 2, 3], \"normal\": [0, 1, 0]"),
             fabs(v3_dot(t.R.c[1], to)));
        sn_vec3 across = v3_sub(to, v3_scale(v3_dot(t.R.c[0], to), t.R.c[0]));
        near(residual("\"type\": \"line\", \"link\": \"shank\", \"local\": [0.1, 0.2, 0.3], "
                      "\"link2\": \"thigh\", \"point\": [1, 2, 3], \"axis\": [1, 0, 0]"),
             v3_norm(across));
        near(residual("\"type\": \"distance\", \"link\": \"shank\", \"link2\": \"thigh\", "
                      "\"distance\": 0"),
             v3_norm(v3_sub(s.p, t.p)));
        sn_vec3 between = m3_tmul(&t.R, v3_sub(p, hung));
        sn_mat3 wanted = m3_mulm(&t.R, &G);
        near(residual("\"type\": \"relative-pose\", \"link\": \"shank\", \"link2\": \"thigh\", %s, "
                      "\"local2\": [1, 2, 3], \"rotation\": %s, \"goal_in\": \"joint2\"",
                      local, turn),
             hypot(v3_norm(v3_sub(between, goal)), angle(&wanted, &s.R)));
        near(residual("\"type\": \"relative\", \"link\": \"shank\", \"link2\": \"thigh\", %s, "
                      "\"local2\": [1, 2, 3]",
                      local),
             v3_norm(v3_sub(v3_sub(p, hung), goal)));
        // a marker of the joint's name hides neither word's joint
        double hip = v3_norm(marker_at(model, "hip_o", q));
        near(residual("\"type\": \"point\", \"joint\": \"hip\", \"goal\": [0, 0, 0]"), hip);
        near(residual("\"type\": \"point\", \"link\": \"hip\", \"goal\": [0, 0, 0]"), hip);
        assert_int_equal(sn_model_nmarker(model), 11);
        assert_int_equal(sn_model_nframe(model), 4);
        end();
    }
}

// The weight of three numbers is in the axes of the other body.
static void test_weight(void **unused) {
    (void)unused;
    begin(true, 3);
    const sn_frame s = body("shank"), t = body("thigh");
    sn_vec3 r = m3_tmul(&t.R, v3_sub(s.p, t.p));
    char file[500];
    double f;
    (void)snprintf(file, sizeof file,
                   "{\"tasks\": [{\"type\": \"relative\", \"link\": \"shank\", \"link2\": "
                   "\"thigh\", \"goal_in\": \"joint2\", \"goal\": [0.1, 0.2, 0.3], \"weight\": "
                   "[[1, 0, 0], [0, 4, 2], [0, 2, 9]]}]}");
    r = v3_sub(r, v3(0.1, 0.2, 0.3));
    assert_int_equal(sn_problem_read_json(file, strlen(file), model, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    near(f, 0.5 * (r.x * r.x + 4 * r.y * r.y + 4 * r.y * r.z + 9 * r.z * r.z));
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    end();
}

static void same_frames(const sn_model *a, const sn_model *b, double factor) {
    assert_int_equal(sn_model_nframe(a), sn_model_nframe(b));
    for (int i = 0; i < sn_model_nframe(a); i++) {
        const sn_frame_desc *x = sn_model_frame(a, i), *y = sn_model_frame(b, i);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->joint, y->joint);
        assert_memory_equal(x->rotation, y->rotation, sizeof x->rotation);
        for (int k = 0; k < 3; k++) assert_true(factor * x->position[k] == y->position[k]);
        assert_int_equal(sn_model_find_frame(b, x->name), i);
    }
}

typedef struct saved {
    char data[20000];
    size_t used;
} saved;

static bool save(void *user, const void *data, size_t size) {
    saved *s = user;
    if (size > sizeof s->data - s->used) return false;
    memcpy(s->data + s->used, data, size);
    s->used += size;
    return true;
}

static void test_copies(void **unused) {
    (void)unused;
    begin(false, 11);
    static saved file;
    file.used = 0;
    const sn_sink sink = {save, &file};
    sn_model *back;
    sn_builder *builder;
    sn_error error;
    assert_int_equal(sn_model_write_json(model, &sink, NULL, NULL), SN_OK);
    if (sn_model_read_json(file.data, file.used, NULL, &back, &error) != SN_OK)
        fail_msg("%s", error.text);
    same_frames(model, back, 1);
    sn_model_destroy(back);
    assert_int_equal(sn_builder_create_from(model, NULL, &builder, NULL), SN_OK);
    assert_int_equal(sn_builder_finish(builder, &back, NULL), SN_OK);
    same_frames(model, back, 1);
    sn_model_destroy(back);
    // two of one name
    assert_int_equal(sn_builder_frame(builder, sn_model_frame(model, 0)), 4);
    assert_int_equal(sn_builder_finish(builder, &back, &error), SN_ERR_MODEL);
    assert_string_equal(error.text, "frame \"thigh\": another frame has the same name");
    sn_builder_destroy(builder);

    // a figure of twice the size
    sn_marker_set *set;
    double factor[16];
    for (int j = 0; j < 16; j++) factor[j] = 2;
    assert_int_equal(sn_marker_set_of_model(model, NULL, &set, NULL), SN_OK);
    assert_int_equal(sn_marker_set_apply(set, model, SN_LIMITS_HARD, factor, NULL, &back, NULL),
                     SN_OK);
    same_frames(model, back, 2);
    sn_model_destroy(back);
    sn_marker_set_destroy(set);
    end();
}

static void test_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *task, *message;
    } rows[] = {
        {"\"type\": \"point\", \"link\": \"foot\", \"goal\": [0, 0, 0]",
         "task 0 (point): there is no joint or link \"foot\""},
        {"\"type\": \"limit\", \"joint\": \"knee\"",
         "task 0 (limit): a limit is of a joint, and this is a frame on one"},
        {"\"type\": \"frame2\", \"link\": \"shank\", \"i\": [1, 0, 0], \"j\": [0, 1, 0], \"goal\": "
         "[0, 0, 0]",
         "task 0 (frame2): its axes are a joint's, and this frame is turned in its joint: use a "
         "pose"},
        {"\"type\": \"relative-orientation\", \"link\": \"shank\", \"link2\": \"thigh\"",
         "task 0 (relative-orientation): between frames that are turned in their joints it needs "
         "\"goal_in\": \"joint2\""},
        {"\"type\": \"posture\", \"joints\": [\"knee\"], \"q\": [0, 0, 0, 0, 0]",
         "task 0 (posture): \"knee\" is a frame on joint \"e\": name the joint"},
    };
    begin(true, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char file[1000];
        sn_error error = {0};
        (void)snprintf(file, sizeof file, "{\"tasks\": [{%s}]}", rows[i].task);
        assert_int_equal(sn_problem_read_json(file, strlen(file), model, NULL, &problem, &error),
                         SN_ERR_TASK);
        assert_string_equal(error.text, rows[i].message);
    }
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tasks), cmocka_unit_test(test_weight),
                                       cmocka_unit_test(test_copies),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
