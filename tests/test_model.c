// SPDX-License-Identifier: MIT
// Models: building and its errors, poses, depth, chains.
#include "models.h"

// The model's own name obeys the limit of all names, or survives whole.
static void long_model_name(void **unused) {
    (void)unused;
    char name[600];
    name[0] = 'x';
    for (int i = 0; i < 299; i++) memcpy(name + 1 + 2 * i, "\xC3\xA9", 3);
    // with and without the x, so that any cut falls inside a character once
    for (int shift = 0; shift < 2; shift++) {
        const char *start = name + shift;
        sn_joint_desc a = joint("a", -1, SN_JOINT_FIXED);
        sn_builder *builder;
        sn_model *m;
        if (sn_builder_create(start, NULL, &builder, NULL) != SN_OK) continue;
        (void)sn_builder_joint(builder, &a);
        sn_status status = sn_builder_finish(builder, &m, NULL);
        sn_builder_destroy(builder);
        if (status != SN_OK) continue;
        assert_string_equal(sn_model_name(m), start);
        write_and_read(m);
        sn_model_destroy(m);
    }
}

static void refused(const sn_joint_desc *a, const sn_joint_desc *b, const char *name,
                    const char *part) {
    sn_error error;
    assert_null(build_two("x", a, b, NULL, SN_ERR_MODEL, &error));
    assert_int_equal(error.line, 0);
    if (strstr(error.text, name) == NULL || strstr(error.text, part) == NULL)
        fail_msg("'%s' names not %s, %s", error.text, name, part);
}

static void builder_tree_errors(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("aa", 1, SN_JOINT_HINGE), b = joint("bb", 0, SN_JOINT_HINGE);
    refused(&a, &b, "", "cycle");
    a.parent = -1;
    b.parent = 1;
    refused(&a, &b, "\"bb\"", "own parent");
    b.parent = -1;
    refused(&a, &b, "\"bb\"", "\"aa\" is the root already");
    b.parent = 2;
    refused(&a, &b, "\"bb\"", "does not exist");
    b.parent = -2;
    refused(&a, &b, "\"bb\"", "does not exist");
    b.parent = 0;
    b.name = "aa";
    refused(&a, &b, "\"aa\"", "same name");
    b.name = "";
    refused(&a, &b, "joint 1", "no name");
    b.name = NULL;
    refused(&a, &b, "joint 1", "no name");
    char longest[300];
    memset(longest, 'n', 256);
    longest[256] = '\0';
    b.name = longest;
    refused(&a, &b, "nnn", "255 bytes");
    b = joint("bb", 0, SN_JOINT_TYPE_COUNT);
    refused(&a, &b, "\"bb\"", "unknown joint type");
    b.type = (sn_joint_type)-1;
    refused(&a, &b, "\"bb\"", "unknown joint type");
}

static void builder_number_errors(void **unused) {
    (void)unused;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    sn_joint_desc a = joint("aa", -1, SN_JOINT_FREE), b;
    for (int i = 0; i < 3; i++) {
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.position[i] = bad[i];
        refused(&a, &b, "\"bb\"", "position");
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.rotation[i] = bad[i];
        refused(&a, &b, "\"bb\"", "rotation");
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.axis[i] = bad[i];
        refused(&a, &b, "\"bb\"", "axis");
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.axis2[i] = bad[i];
        refused(&a, &b, "\"bb\"", "axis2");
        b = joint("bb", 0, SN_JOINT_SCREW);
        b.pitch = bad[i];
        refused(&a, &b, "\"bb\"", "pitch");
        b = joint("bb", 0, SN_JOINT_HINGE);
        b.strength[0] = i == 2 ? -1e-9 : bad[i];
        refused(&a, &b, "\"bb\"", "strength");
    }
    static const sn_joint_type axes[] = {SN_JOINT_HINGE,     SN_JOINT_SLIDER,      SN_JOINT_SCREW,
                                         SN_JOINT_UNIVERSAL, SN_JOINT_SWING_TWIST, SN_JOINT_PLANAR};
    for (int i = 0; i < 6; i++) {
        b = joint("bb", 0, axes[i]);
        memset(b.axis, 0, sizeof b.axis);
        refused(&a, &b, "\"bb\"", "axis is zero");
    }
    b = joint("bb", 0, SN_JOINT_UNIVERSAL);
    memset(b.axis2, 0, sizeof b.axis2);
    refused(&a, &b, "\"bb\"", "axis2 is zero");
    b = joint("bb", 0, SN_JOINT_BALL);
    memset(b.rotation, 0, sizeof b.rotation);
    refused(&a, &b, "\"bb\"", "rotation is zero");
    static const char orders[][4] = {"", "X", "XY", "XXY", "XYY", "XYW", "xyz", "ZZZ"};
    for (int i = 0; i < 8; i++) {
        b = joint("bb", 0, SN_JOINT_EULER);
        memcpy(b.order, orders[i], 4);
        refused(&a, &b, "\"bb\"", "order");
    }
    memcpy(b.order, "XYZX", 4);
    refused(&a, &b, "\"bb\"", "order");
}

static void builder_limit_errors(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("aa", -1, SN_JOINT_FIXED), b = joint("bb", 0, SN_JOINT_HINGE);
    b.lower[0] = 1;
    b.upper[0] = 0.999;
    refused(&a, &b, "\"bb\"", "above its upper");
    b.upper[0] = NAN;
    refused(&a, &b, "\"bb\"", "limit is not a number");
    b.lower[0] = NAN;
    b.upper[0] = 1;
    refused(&a, &b, "\"bb\"", "limit is not a number");
    b.lower[0] = b.upper[0] = INFINITY;
    refused(&a, &b, "\"bb\"", "no room");
    b.lower[0] = b.upper[0] = -INFINITY;
    refused(&a, &b, "\"bb\"", "no room");
    b = joint("bb", 0, SN_JOINT_BALL);
    b.lower[2] = -1;
    refused(&a, &b, "\"bb\"", "takes no limits");
    b = joint("bb", 0, SN_JOINT_FREE);
    b.upper[3] = 1;
    refused(&a, &b, "\"bb\"", "takes no limits");
    // a free joint's translation may be limited; what is beyond the dofs is not looked at
    b = joint("bb", 0, SN_JOINT_FREE);
    b.lower[0] = b.upper[2] = 0;
    sn_error error;
    sn_model_destroy(build_two("x", &a, &b, NULL, SN_OK, &error));
    b = joint("bb", 0, SN_JOINT_HINGE);
    b.lower[1] = NAN;
    sn_model_destroy(build_two("x", &a, &b, NULL, SN_OK, &error));
}

static void builder_marker_errors(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("aa", -1, SN_JOINT_FIXED);
    static const struct {
        sn_marker_desc marker;
        const char *part;
    } wrong[] = {
        {{"mm", 1, {0, 0, 0}, 1}, "\"mm\": its joint"},
        {{"mm", -1, {0, 0, 0}, 1}, "\"mm\": its joint"},
        {{"mm", 0, {0, 0, 0}, -1}, "\"mm\": weight"},
        {{"", 0, {0, 0, 0}, 1}, "no name"},
        {{NULL, 0, {0, 0, 0}, 1}, "no name"},
    };
    sn_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(build_two("x", &a, NULL, &wrong[i].marker, SN_ERR_MODEL, &error));
        if (strstr(error.text, wrong[i].part) == NULL) fail_msg("%s", error.text);
    }
    sn_marker_desc marker = {"mm", 0, {0, NAN, 0}, 1};
    assert_null(build_two("x", &a, NULL, &marker, SN_ERR_MODEL, &error));
    marker = (sn_marker_desc){"mm", 0, {0, 0, 0}, NAN};
    assert_null(build_two("x", &a, NULL, &marker, SN_ERR_MODEL, &error));

    sn_builder *builder;
    sn_model *m;
    marker = (sn_marker_desc){"mm", 0, {0, 0, 0}, 1};
    assert_int_equal(sn_builder_create("x", NULL, &builder, NULL), SN_OK);
    (void)sn_builder_joint(builder, &a);
    (void)sn_builder_marker(builder, &marker);
    (void)sn_builder_marker(builder, &marker);
    assert_int_equal(sn_builder_finish(builder, &m, &error), SN_ERR_MODEL);
    assert_non_null(strstr(error.text, "\"mm\": another marker"));
    sn_builder_destroy(builder);
}

static void builder_sizes(void **unused) {
    (void)unused;
    sn_builder *builder;
    sn_model *m;
    sn_error error = {0};
    assert_int_equal(sn_builder_create(NULL, NULL, &builder, NULL), SN_OK);
    assert_int_equal(sn_builder_finish(builder, &m, &error), SN_ERR_MODEL);
    assert_non_null(strstr(error.text, "no joints"));
    char name[16];
    for (int i = 0; i <= SN_MAX_JOINTS; i++) {
        (void)snprintf(name, sizeof name, "j%d", i);
        sn_joint_desc d = joint(name, i - 1, SN_JOINT_HINGE);
        assert_int_equal(sn_builder_joint(builder, &d), i < SN_MAX_JOINTS ? i : -1);
    }
    assert_int_equal(sn_builder_finish(builder, &m, &error), SN_ERR_SIZE);
    assert_null(m);
    sn_builder_destroy(builder);
    assert_int_equal(sn_builder_create("x", NULL, &builder, NULL), SN_OK);
    assert_int_equal(sn_builder_joint(builder, NULL), -1);
    assert_int_equal(sn_builder_finish(builder, &m, NULL), SN_ERR_ARGUMENT);
    sn_builder_destroy(builder);
    sn_builder_destroy(NULL);
    sn_model_destroy(NULL);
}

// Read, evaluate f and the gradient of a chain as deep as can be, and check the end against sums.
static void *deep_chain(void *arg) {
    double *result = arg;
    sn_builder *builder;
    sn_model *m;
    sn_problem *problem;
    sn_workspace *ws;
    char name[16];
    (void)sn_builder_create("deep", NULL, &builder, NULL);
    for (int i = 0; i < SN_MAX_JOINTS; i++) {
        (void)snprintf(name, sizeof name, "j%d", i);
        sn_joint_desc d = joint(name, i + 1 < SN_MAX_JOINTS ? i + 1 : -1, SN_JOINT_HINGE);
        d.position[0] = 0.001;
        (void)sn_builder_joint(builder, &d);
    }
    sn_status status = sn_builder_finish(builder, &m, NULL);
    sn_builder_destroy(builder);
    if (status != SN_OK) return NULL;
    char *text;
    if (sn_model_text(m, NULL, &text) == SN_OK) {
        sn_model *again;
        if (sn_model_read_json(text, strlen(text), NULL, &again, NULL) != SN_OK) return NULL;
        sn_model_destroy(again);
        sn_release(NULL, text);
    }
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.goal[1] = 1;
    if (sn_problem_create(m, &task, 1, NULL, &problem, NULL) != SN_OK) return NULL;
    if (sn_workspace_create(problem, false, NULL, &ws, NULL) != SN_OK) return NULL;
    double *q = malloc(SN_MAX_JOINTS * sizeof *q), *g = malloc(SN_MAX_JOINTS * sizeof *g), f;
    if (q == NULL || g == NULL) return NULL;
    for (int i = 0; i < SN_MAX_JOINTS; i++) q[i] = 1e-4;
    if (sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f) != SN_OK) return NULL;
    sn_workspace_gradient(ws, g);
    sn_frame end = sn_workspace_frame(ws, 0);
    result[0] = f;
    result[1] = g[SN_MAX_JOINTS - 1];
    result[2] = end.p.x;
    result[3] = end.p.y;
    result[4] = sn_workspace_rows(ws) == NULL;
    result[5] = sn_model_depth(m);
    free(q);
    free(g);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(m);
    return arg;
}

static void deep_chain_small_stack(void **unused) {
    (void)unused;
    pthread_attr_t attributes;
    pthread_t thread;
    double result[6] = {0}, x = 0, y = 0;
    void *done;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attributes, deep_chain, result), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    (void)pthread_attr_destroy(&attributes);
    assert_ptr_equal(done, result);
    // the root stands at (0.001, 0) and every next one 1 mm along the directions so far
    for (int i = 0; i < SN_MAX_JOINTS; i++) {
        x += 0.001 * cos(1e-4 * i);
        y += 0.001 * sin(1e-4 * i);
    }
    assert_near(result[2], x, 1e-11);
    assert_near(result[3], y, 1e-11);
    assert_near(result[0], 0.5 * (x * x + (1 - y) * (1 - y)), 1e-11);
    // about the root at (0.001, 0), df = (p - goal) . (z x (p - root))
    assert_near(result[1], x * -y + (y - 1) * (x - 0.001), 1e-11);
    assert_true(result[4] == 1);
    assert_true(result[5] == SN_MAX_JOINTS);
}

// Frames of all joints at a pose, with an empty problem.
typedef struct posed {
    sn_problem *problem;
    sn_workspace *ws;
} posed;

static posed pose_begin(const sn_model *m) {
    posed p;
    assert_int_equal(sn_problem_create(m, NULL, 0, NULL, &p.problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(p.problem, false, NULL, &p.ws, NULL), SN_OK);
    return p;
}

static void pose_end(posed *p) {
    sn_workspace_destroy(p->ws);
    sn_problem_destroy(p->problem);
}

static double frame_distance(const sn_frame *a, const sn_frame *b) {
    double top = v3_norm(v3_sub(a->p, b->p));
    for (int c = 0; c < 3; c++) top = fmax(top, v3_norm(v3_sub(a->R.c[c], b->R.c[c])));
    return top;
}

// The largest difference of any joint's frame between two poses.
static double poses_apart(posed *p, const sn_model *m, const double *q0, const double *q1) {
    double top = 0;
    sn_frame *first = malloc((size_t)sn_model_njoint(m) * sizeof *first);
    assert_non_null(first);
    assert_int_equal(sn_workspace_pose(p->ws, q0), SN_OK);
    for (int i = 0; i < sn_model_njoint(m); i++) first[i] = sn_workspace_frame(p->ws, i);
    assert_int_equal(sn_workspace_pose(p->ws, q1), SN_OK);
    for (int i = 0; i < sn_model_njoint(m); i++) {
        sn_frame frame = sn_workspace_frame(p->ws, i);
        top = fmax(top, frame_distance(&first[i], &frame));
    }
    free(first);
    return top;
}

static void add_and_subtract(void **unused) {
    (void)unused;
    uint64_t state = 9;
    double worst = 0;
    for (int i = 0; i < cases(600); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), i % (SN_JOINT_TYPE_COUNT + 1) - 1);
        posed p = pose_begin(m);
        double q0[64], q1[64], back[64], delta[64], again[64];
        sn_model_sample(m, &state, q0);
        sn_model_sample(m, &state, q1);
        assert_true(sn_model_nq(m) <= 64);
        sn_model_difference(m, q0, q1, delta);
        sn_model_integrate(m, q0, delta, back);
        worst = fmax(worst, poses_apart(&p, m, back, q1));
        sn_model_difference(m, q0, back, again);
        for (int v = 0; v < sn_model_nv(m); v++) assert_near(again[v], delta[v], 1e-7);
        // in place, and nothing added changes nothing
        memcpy(back, q0, sizeof back);
        sn_model_integrate(m, back, delta, back);
        worst = fmax(worst, poses_apart(&p, m, back, q1));
        memset(delta, 0, sizeof delta);
        sn_model_integrate(m, q0, delta, back);
        worst = fmax(worst, poses_apart(&p, m, back, q0));
        sn_model_difference(m, q0, q0, delta);
        for (int v = 0; v < sn_model_nv(m); v++) assert_true(fabs(delta[v]) < 1e-15);
        pose_end(&p);
        sn_model_destroy(m);
    }
    print_message("worst frame error %.1e\n", worst);
    assert_true(worst < 1e-13);
}

static void normalizing_keeps_frames(void **unused) {
    (void)unused;
    uint64_t state = 10;
    double worst = 0;
    for (int i = 0; i < cases(600); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), i % (SN_JOINT_TYPE_COUNT + 1) - 1);
        posed p = pose_begin(m);
        double q[64], n[64];
        sn_model_sample(m, &state, q);
        // several times round, and quaternions of any length
        for (int k = 0; k < sn_model_nq(m); k++) q[k] *= 5;
        memcpy(n, q, sizeof n);
        sn_model_normalize(m, n);
        worst = fmax(worst, poses_apart(&p, m, q, n));
        for (int k = 0; k < sn_model_njoint(m); k++) {
            const double *x = n + sn_model_q_index(m, k);
            sn_joint_type type = sn_model_joint(m, k)->type;
            if (type == SN_JOINT_FREE) x += 3;
            if (type == SN_JOINT_FREE || type == SN_JOINT_BALL)
                assert_near(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3], 1, 1e-15);
            if (type != SN_JOINT_EXPMAP) continue;
            // the shorter vector could lie outside the limits
            if (sn_model_joint(m, k)->lower[0] != -INFINITY) {
                assert_memory_equal(x, q + (x - n), 3 * sizeof *x);
            } else {
                assert_true(v3_norm(v3_from(x)) <= 3.1415926535897936);
            }
        }
        pose_end(&p);
        sn_model_destroy(m);
    }
    print_message("worst frame error %.1e\n", worst);
    assert_true(worst < 1e-13);
}

static bool inside(const sn_model *m, const double *q, bool *quaternion) {
    for (int i = 0; i < sn_model_njoint(m); i++) {
        const sn_joint_desc *d = sn_model_joint(m, i);
        int count = d->type == SN_JOINT_BALL ? 0 : d->type == SN_JOINT_FREE ? 3 : dofs(m, i);
        *quaternion = *quaternion || count != dofs(m, i);
        for (int k = 0; k < count; k++) {
            double x = q[sn_model_q_index(m, i) + k];
            if (!(x >= d->lower[k] && x <= d->upper[k])) return false;
        }
    }
    return true;
}

static void clamping_and_sampling(void **unused) {
    (void)unused;
    uint64_t state = 11;
    bool quaternion = false;
    int limited = 0;
    for (int i = 0; i < cases(1000); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), i % (SN_JOINT_TYPE_COUNT + 1) - 1);
        double q[64], c[64];
        uint64_t copy = state;
        sn_model_sample(m, &state, q);
        assert_true(inside(m, q, &quaternion));
        assert_int_equal(sn_model_check_pose(m, q, NULL), SN_OK);
        sn_model_sample(m, &copy, c);
        assert_memory_equal(q, c, (size_t)sn_model_nq(m) * sizeof *q);
        assert_int_equal(sn_model_clamp(m, c), 0);
        assert_memory_equal(q, c, (size_t)sn_model_nq(m) * sizeof *q);
        int out = 0;
        for (int k = 0; k < sn_model_nq(m); k++) c[k] *= 4;
        memcpy(q, c, sizeof q);
        int moved = sn_model_clamp(m, c);
        for (int k = 0; k < sn_model_nq(m); k++) out += q[k] != c[k];
        assert_int_equal(moved, out);
        limited += moved;
        assert_true(inside(m, c, &quaternion));
        sn_model_destroy(m);
    }
    assert_true(limited > 50 && quaternion);
}

// One-sided and huge limits give finite samples inside them, and not always the same one.
static void sampling_odd_limits(void **unused) {
    (void)unused;
    static const double limits[][2] = {{-INFINITY, 5}, {5, INFINITY}, {3, 3}, {-1.7e308, 1.7e308}};
    sn_joint_desc a = joint("a", -1, SN_JOINT_FIXED);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        sn_joint_desc b = joint("b", 0, SN_JOINT_HINGE);
        b.lower[0] = limits[i][0];
        b.upper[0] = limits[i][1];
        sn_error error;
        sn_model *m = build_two("x", &a, &b, NULL, SN_OK, &error);
        uint64_t state = 3;
        double first, x = 0;
        bool differ = limits[i][0] == limits[i][1];
        sn_model_sample(m, &state, &first);
        for (int k = 0; k < 100; k++) {
            sn_model_sample(m, &state, &x);
            assert_true(isfinite(x) && x >= limits[i][0] && x <= limits[i][1]);
            differ = differ || x != first;
        }
        if (!differ) fail_msg("limits %g to %g: always %g", limits[i][0], limits[i][1], x);
        sn_model_destroy(m);
    }
}

static void checking_poses(void **unused) {
    (void)unused;
    sn_model *m = read_model(example);
    double q[11];
    sn_error error = {0};
    sn_model_zero(m, q);
    assert_true(q[3] == 1 && q[0] == 0 && q[10] == 0);
    assert_int_equal(sn_model_check_pose(m, q, &error), SN_OK);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 11; k++) {
        for (int b = 0; b < 3; b++) {
            sn_model_zero(m, q);
            q[k] = bad[b];
            assert_int_equal(sn_model_check_pose(m, q, &error), SN_ERR_VALUE);
            const char *name = k < 7 ? "\"base\"" : k < 10 ? "\"shoulder\"" : "\"elbow\"";
            if (strstr(error.text, name) == NULL) fail_msg("%d: %s", k, error.text);
            assert_int_equal(error.line, 0);  // a pose has no lines
        }
    }
    sn_model_zero(m, q);
    q[3] = 0;
    assert_int_equal(sn_model_check_pose(m, q, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "\"base\""));
    posed p = pose_begin(m);
    assert_int_equal(sn_workspace_pose(p.ws, q), SN_ERR_VALUE);
    pose_end(&p);
    sn_model_destroy(m);
}

// Every joint lies on the chain of some leaf; leaves are those without children.
static void chains(void **unused) {
    (void)unused;
    uint64_t state = 12;
    for (int i = 0; i < cases(200); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 40), -1);
        int njoint = sn_model_njoint(m), leaves = 0, deepest = 0, last = -1;
        int seen[64] = {0}, children[64] = {0};
        for (int k = 0; k < njoint; k++)
            if (sn_model_parent(m, k) >= 0) children[sn_model_parent(m, k)]++;
        for (int leaf = sn_model_next_leaf(m, -1); leaf >= 0; leaf = sn_model_next_leaf(m, leaf)) {
            int depth = 0, end = -1;
            assert_true(leaf > last);
            last = leaf;
            assert_int_equal(children[leaf], 0);
            leaves++;
            for (int k = leaf; k >= 0; k = sn_model_parent(m, k)) {
                seen[k]++;
                depth++;
                end = k;
            }
            assert_int_equal(end, sn_model_root(m));
            if (depth > deepest) deepest = depth;
        }
        assert_int_equal(deepest, sn_model_depth(m));
        for (int k = 0; k < njoint; k++) {
            assert_true(seen[k] > 0);
            leaves -= children[k] == 0;
        }
        assert_int_equal(leaves, 0);
        assert_int_equal(sn_model_next_leaf(m, njoint), -1);
        sn_model_destroy(m);
    }
}

// The same tree with children before parents places everything alike.
static void children_first(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("a", -1, SN_JOINT_BALL), b = joint("b", 0, SN_JOINT_HINGE), late;
    b.position[0] = 1;
    sn_error error;
    sn_model *m = build_two("x", &a, &b, NULL, SN_OK, &error);
    late = b;
    late.parent = 1;
    sn_model *n = build_two("x", &late, &a, NULL, SN_OK, &error);
    assert_int_equal(sn_model_root(n), 1);
    assert_int_equal(sn_model_q_index(n, 1), 1);
    const double q[5] = {0.5, 0.5, -0.5, 0.5, 1.2}, r[5] = {1.2, 0.5, 0.5, -0.5, 0.5};
    posed p = pose_begin(m), o = pose_begin(n);
    assert_int_equal(sn_workspace_pose(p.ws, q), SN_OK);
    assert_int_equal(sn_workspace_pose(o.ws, r), SN_OK);
    sn_frame x = sn_workspace_frame(p.ws, 1), y = sn_workspace_frame(o.ws, 0);
    assert_memory_equal(&x, &y, sizeof x);
    pose_end(&p);
    pose_end(&o);
    sn_model_destroy(m);
    sn_model_destroy(n);
}

static void humanoid(void **unused) {
    (void)unused;
    sn_model *m;
    assert_int_equal(sn_model_humanoid(NULL, &m, NULL), SN_OK);
    assert_int_equal(sn_model_njoint(m), 31);
    assert_int_equal(sn_model_nv(m), 58);
    assert_int_equal(sn_model_nq(m), 59);
    assert_int_equal(sn_model_nmarker(m), 41);
    // mirrored: at the zero pose every left joint and marker has its right one across x
    posed p = pose_begin(m);
    int pairs = 0;
    for (int i = 0; i < sn_model_njoint(m); i++) {
        char other[64];
        const char *name = sn_model_joint(m, i)->name;
        if (strncmp(name, "left_", 5) != 0) continue;
        (void)snprintf(other, sizeof other, "right_%s", name + 5);
        int k = sn_model_find_joint(m, other);
        assert_true(k >= 0);
        sn_vec3 l = sn_workspace_frame(p.ws, i).p, r = sn_workspace_frame(p.ws, k).p;
        assert_true(fabs(l.x + r.x) < 1e-15 && fabs(l.y - r.y) < 1e-15 && fabs(l.z - r.z) < 1e-15);
        pairs++;
    }
    assert_int_equal(pairs, 12);
    pose_end(&p);
    sn_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_model_name),
        cmocka_unit_test(builder_tree_errors),
        cmocka_unit_test(builder_number_errors),
        cmocka_unit_test(builder_limit_errors),
        cmocka_unit_test(builder_marker_errors),
        cmocka_unit_test(builder_sizes),
        cmocka_unit_test(deep_chain_small_stack),
        cmocka_unit_test(add_and_subtract),
        cmocka_unit_test(normalizing_keeps_frames),
        cmocka_unit_test(clamping_and_sampling),
        cmocka_unit_test(sampling_odd_limits),
        cmocka_unit_test(checking_poses),
        cmocka_unit_test(chains),
        cmocka_unit_test(children_first),
        cmocka_unit_test(humanoid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
