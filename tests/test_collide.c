// SPDX-License-Identifier: MIT
// Collision shapes: distances against plain references, which pairs count, and what robot files hold.
#include "support.h"

#include "collide/closest.h"
#include "files/bound.h"
#include "memory_sink.h"
#include "sinew/files.h"

static sn_vec3 random_vector(uint64_t *state, double size) {
    return v3(size * (2 * sn_random(state) - 1), size * (2 * sn_random(state) - 1),
              size * (2 * sn_random(state) - 1));
}

static sn_vec3 at(const sn_solid *s, double x) { return v3_add(s->middle, v3_scale(x, s->arm)); }

static double clamped(double x) { return fmax(-1, fmin(1, x)); }

// Exact distance of a point from a segment.
static double to_segment(sn_vec3 p, const sn_solid *s) {
    double square = v3_dot(s->arm, s->arm);
    double t = square > 0 ? v3_dot(s->arm, v3_sub(p, s->middle)) / square : 0;
    return v3_norm(v3_sub(p, at(s, clamped(t))));
}

// The distance of two segments by sampling the first densely, then narrowing: it is convex along it.
static double brute(const sn_solid *a, const sn_solid *b) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i <= 400; i++) {
        double d = to_segment(at(a, -1 + i / 200.0), b);
        if (d < least) least = d, best = i;
    }
    double low = fmax(-1, -1 + (best - 1) / 200.0), high = fmin(1, -1 + (best + 1) / 200.0);
    for (int i = 0; i < 200; i++) {
        double x = low + (high - low) / 3, y = high - (high - low) / 3;
        if (to_segment(at(a, x), b) < to_segment(at(a, y), b)) {
            high = y;
        } else {
            low = x;
        }
    }
    return fmin(least, to_segment(at(a, 0.5 * (low + high)), b));
}

static sn_solid random_solid(uint64_t *state) {
    sn_solid s = {random_vector(state, 1), random_vector(state, 0.7)};
    if (sn_random(state) < 0.15) s.arm = v3(0, 0, 0);
    return s;
}

// Pairs that are hard: parallel, in line, crossing, of one point.
static void make_hard(uint64_t *state, sn_solid *a, sn_solid *b) {
    double kind = sn_random(state);
    if (kind < 0.15) b->arm = v3_scale(sn_random(state) * 2 - 1, a->arm);
    if (kind < 0.05) b->middle = v3_add(a->middle, v3_scale(3 * sn_random(state), a->arm));
    if (kind > 0.9) b->middle = at(a, 2 * sn_random(state) - 1);
    if (kind > 0.8 && kind < 0.85)
        b->arm = v3_add(a->arm, random_vector(state, 1e-7 * sn_random(state)));
}

static void test_distance(void **unused) {
    (void)unused;
    uint64_t state = 5;
    double worst = 0, below = 0, above = 0;
    int n = cases(20000);
    for (int i = 0; i < n; i++) {
        sn_solid a = random_solid(&state), b = random_solid(&state);
        make_hard(&state, &a, &b);
        double d = brute(&a, &b);
        sn_closest c = sn_closest_points(&a, &b), s = sn_closest_smooth(&a, &b);
        worst = fmax(worst, fabs(v3_norm(c.r) - d));
        assert_true(fabs(c.s) <= 1 && fabs(c.t) <= 1);
        // never above the distance, and never more below than it says
        double room = SN_CLOSEST_SOFT * (v3_dot(a.arm, a.arm) + v3_dot(b.arm, b.arm));
        if (v3_norm(a.arm) == 0 || v3_norm(b.arm) == 0) room = 0;
        above = fmax(above, s.square - d * d);
        below = fmax(below, d * d - room - s.square);
    }
    print_message("%d pairs of segments: %.1e from the reference; smooth above %.1e, below %.1e\n",
                  n, worst, above, below);
    assert_true(worst < 1e-8);
    assert_true(above < 1e-12);
    assert_true(below < 1e-12);
}

static void test_surfaces(void **unused) {
    (void)unused;
    sn_shape_place ball = {.type = SN_SHAPE_SPHERE, .radius = 0.25};
    sn_shape_place rod = {.type = SN_SHAPE_CAPSULE, .arm = {1, 0, 0}, .radius = 0.5};
    sn_shape_place floor = {.type = SN_SHAPE_PLANE, .normal = {0, 0, 1}};
    sn_solid at_ball = {{0, 0, 2}, {0, 0, 0}}, at_rod = {{0, 0, 0}, {1, 0, 0}};
    sn_solid at_floor = {{5, 5, -1}, {0, 0, 1}};
    assert_true(sn_shapes_distance(&ball, &at_ball, &rod, &at_rod) == 1.25);
    assert_true(sn_shapes_distance(&ball, &at_ball, &floor, &at_floor) == 2.75);
    assert_true(sn_shapes_distance(&floor, &at_floor, &rod, &at_rod) == 0.5);
    assert_true(sn_shapes_distance(&floor, &at_floor, &floor, &at_floor) == INFINITY);
    at_rod.arm = v3(0, 0, -1);
    assert_true(sn_shapes_distance(&rod, &at_rod, &floor, &at_floor) == -0.5);
}

// Solids lie inside what holds them: points of their surface are at most the radius away from one of
// the capsules.
static void test_bounds(void **unused) {
    (void)unused;
    uint64_t state = 11;
    for (int i = 0; i < 400; i++) {
        sn_solid_kind kind = (sn_solid_kind)(i % 5);
        double size[3];
        for (int k = 0; k < 3; k++) size[k] = 0.02 + sn_random(&state);
        sn_builder *b;
        sn_model *m;
        assert_int_equal(sn_builder_create("solid", NULL, &b, NULL), SN_OK);
        sn_joint_desc root = sn_joint_default(SN_JOINT_FREE);
        root.name = "root";
        (void)sn_builder_joint(b, &root);
        sn_shape_desc like = sn_shape_default(SN_SHAPE_SPHERE);
        sn_vec3 turn = random_vector(&state, 2);
        sn_frame frame = {sn_mat3_from_quat(sn_quat_exp(turn)), random_vector(&state, 1)};
        int count = sn_bound_solid(b, &like, kind, size, &frame, 0);
        assert_true(count >= 1 && count <= 4);
        assert_int_equal(sn_builder_finish(b, &m, NULL), SN_OK);
        assert_int_equal(sn_model_nshape(m), count);
        for (int n = 0; n < 200; n++) {
            sn_vec3 u = random_vector(&state, 1), p = u;
            double length = v3_norm(u), across = sqrt(u.x * u.x + u.y * u.y);
            double top = fmax(fmax(fabs(u.x), fabs(u.y)), fabs(u.z));
            switch (kind) {
            case SN_SOLID_SPHERE:
                p = v3_scale(size[0] / length, u);
                break;
            case SN_SOLID_CAPSULE:
                p = v3_scale(size[0] / length, u);
                p.z += p.z > 0 ? size[1] : -size[1];
                break;
            case SN_SOLID_CYLINDER:
                p = v3(size[0] * u.x / across, size[0] * u.y / across, size[1] * u.z / fabs(u.z));
                break;
            case SN_SOLID_BOX:
                p = v3(size[0] * u.x / top, size[1] * u.y / top, size[2] * u.z / top);
                break;
            case SN_SOLID_ELLIPSOID:
                p = v3(size[0] * u.x / length, size[1] * u.y / length, size[2] * u.z / length);
                break;
            case SN_SOLID_PLANE:
                break;
            }
            p = v3_add(frame.p, m3_mul(&frame.R, p));
            double least = INFINITY;
            for (int k = 0; k < count; k++) {
                const sn_shape_desc *d = sn_model_shape(m, k);
                sn_vec3 from = v3_from(d->from), to = v3_from(d->to);
                if (d->type == SN_SHAPE_SPHERE) to = from;
                sn_solid s = {v3_scale(0.5, v3_add(from, to)), v3_scale(0.5, v3_sub(to, from))};
                least = fmin(least, to_segment(p, &s) - d->radius);
            }
            if (least > 1e-9) fail_msg("kind %d: a point lies %g outside", (int)kind, least);
        }
        sn_model_destroy(m);
        sn_builder_destroy(b);
    }
}

// A solid needs sizes above 0 and up to 1e50; a sphere may be a point.
static void test_sizes(void **unused) {
    (void)unused;
    static const int sizes[] = {1, 2, 2, 3, 3};  // that each kind has
    static const double bad[] = {0, -1, NAN, INFINITY, 1.1e50};
    const sn_frame frame = {m3_identity(), {0, 0, 0}};
    sn_shape_desc like = sn_shape_default(SN_SHAPE_SPHERE);
    sn_builder *b;
    assert_int_equal(sn_builder_create("solid", NULL, &b, NULL), SN_OK);
    for (int kind = 0; kind < 5; kind++) {
        const double most[3] = {1e50, 1e50, 1e50};
        assert_true(sn_bound_solid(b, &like, (sn_solid_kind)kind, most, &frame, 0) >= 1);
        for (int k = 0; k < sizes[kind]; k++)
            for (int i = 0; i < 5; i++) {
                double size[3] = {1, 1, 1};
                size[k] = bad[i];
                bool point = kind == SN_SOLID_SPHERE && bad[i] == 0;
                assert_int_equal(sn_bound_solid(b, &like, (sn_solid_kind)kind, size, &frame, 0),
                                 point);
            }
    }
    sn_builder_destroy(b);
}

// --- pairs -------------------------------------------------------------------------------------------

static const char arm[] =
    "{\"sinew\": 1, \"name\": \"arm\", \"joints\": ["
    "{\"name\": \"base\", \"type\": \"fixed\"},"
    "{\"name\": \"a\", \"type\": \"hinge\", \"parent\": \"base\", \"axis\": [1, 0, 0], "
    "\"position\": [0, 0, 1]},"
    "{\"name\": \"b\", \"type\": \"hinge\", \"parent\": \"a\", \"axis\": [0, 1, 0], \"position\": "
    "[0, 0, 1]},"
    "{\"name\": \"b2\", \"type\": \"hinge\", \"parent\": \"b\", \"axis\": [1, 0, 0]},"
    "{\"name\": \"c\", \"type\": \"hinge\", \"parent\": \"b2\", \"axis\": [0, 1, 0], \"position\": "
    "[0, 0, 1]},"
    "{\"name\": \"tip\", \"type\": \"fixed\", \"parent\": \"c\", \"position\": [0, 0, 1]}],"
    "\"shapes\": ["
    "{\"type\": \"plane\", \"name\": \"floor\", \"from\": [0, 0, -1]},"
    "{\"type\": \"capsule\", \"joint\": \"base\", \"from\": [0, 0, 0.1], \"to\": [0, 0, 0.5], "
    "\"radius\": 0.1},"
    "{\"type\": \"capsule\", \"joint\": \"a\", \"from\": [0, 0, 0.2], \"to\": [0, 0, 0.8], "
    "\"radius\": 0.1},"
    "{\"type\": \"capsule\", \"joint\": \"b2\", \"from\": [0, 0, 0.2], \"to\": [0, 0, 0.8], "
    "\"radius\": 0.1},"
    "{\"type\": \"sphere\", \"joint\": \"c\", \"from\": [0, 0, 0.2], \"radius\": 0.1%s},"
    "{\"type\": \"sphere\", \"name\": \"tip\", \"joint\": \"tip\", \"radius\": 0.1}]%s}";

static sn_model *read_arm(const char *sphere, const char *rest) {
    char text[4000];
    sn_model *m;
    sn_error error = {0};
    (void)snprintf(text, sizeof text, arm, sphere, rest);
    if (sn_model_read_json(text, strlen(text), NULL, &m, &error) != SN_OK)
        fail_msg("%s", error.text);
    return m;
}

static bool has_pair(const sn_shape_pair *pairs, int n, int a, int b) {
    for (int i = 0; i < n; i++)
        if (pairs[i].shape[0] == a && pairs[i].shape[1] == b) return true;
    return false;
}

static void test_pairs(void **unused) {
    (void)unused;
    sn_shape_pair *p;
    int n;
    sn_model *m = read_arm("", "");
    assert_int_equal(sn_pairs_find(m, NULL, &p, &n), SN_OK);
    // the floor with every body that can move; base with b2, c, tip; a with c, tip; b2 with nothing above c
    assert_false(has_pair(p, n, 0, 1));  // both in the world
    for (int i = 2; i < 6; i++) assert_true(has_pair(p, n, 0, i));
    assert_false(has_pair(p, n, 1, 2));  // neighbours
    assert_true(has_pair(p, n, 1, 3));
    assert_false(has_pair(p, n, 2, 3));  // two hinges at one place between them
    assert_true(has_pair(p, n, 2, 4));
    assert_false(has_pair(p, n, 3, 4));
    assert_false(has_pair(p, n, 3, 5));
    assert_false(has_pair(p, n, 4, 5));  // one body
    assert_int_equal(n, 4 + 3 + 2);
    sn_release(NULL, p);
    sn_model_destroy(m);
    // by kind, and by exclusion
    m = read_arm(", \"kind\": 2, \"meets\": 4",
                 ", \"excluded\": [[\"base\", \"tip\"], [\"a\", null]]");
    assert_int_equal(sn_pairs_find(m, NULL, &p, &n), SN_OK);
    for (int i = 0; i < 5; i++) assert_false(has_pair(p, n, i, 4));
    assert_false(has_pair(p, n, 1, 5));
    assert_false(has_pair(p, n, 0, 2));
    assert_int_equal(n, 9 - 3 - 2);
    sn_release(NULL, p);
    sn_model_destroy(m);
}

// MuJoCo's <pair>: geoms that keep apart though their masks do not meet, and no others for that.
static void test_contact_pairs(void **unused) {
    (void)unused;
    static const char text[] =
        "<mujoco><worldbody><geom name='rail' type='capsule' fromto='0 1 0 0 1 1' size='0.1' "
        "contype='0' conaffinity='0'/>"
        "<body name='a'><joint axis='1 0 0'/><geom name='upper' type='capsule' "
        "fromto='0 0 0.2 0 0 0.8' size='0.05' contype='0' conaffinity='0'/>"
        "<body name='b' pos='0 0 1'><joint axis='0 1 0'/><geom name='lower' type='capsule' "
        "fromto='0 0 0.2 0 0 0.8' size='0.05' contype='0' conaffinity='0'/>"
        "<geom name='looks' type='sphere' size='0.1' contype='0' conaffinity='0'/>"
        "<body name='c' pos='0 0 1'><joint axis='0 1 0'/><geom name='tip' type='sphere' size='0.1' "
        "pos='0 0 0.3'/></body></body></body></worldbody><contact>"
        "<pair geom1='rail' geom2='lower'/><pair geom1='rail' geom2='tip'/>"
        "<pair geom1='upper' geom2='tip'/>%s</contact></mujoco>";
    char whole[2000];
    sn_model *m;
    sn_shape_pair *p;
    sn_mjcf_info info;
    sn_error error = {0};
    int n;
    (void)snprintf(whole, sizeof whole, text, "<pair geom1='rail' geom2='gone'/>");
    if (sn_mjcf_read(whole, strlen(whole), NULL, &m, &info, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_non_null(strstr(info.note, "1 contact pair with meshes left out"));
    assert_int_equal(sn_model_nshape(m), 4);  // without what is only looked at
    assert_int_equal(sn_pairs_find(m, NULL, &p, &n), SN_OK);
    int at[4];
    static const char *const names[] = {"rail", "upper", "lower", "tip"};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4; i++)
            if (strcmp(sn_model_shape(m, i)->name, names[k]) == 0) at[k] = i;
    assert_int_equal(n, 3);
    assert_true(has_pair(p, n, at[0], at[2]) && has_pair(p, n, at[0], at[3]));
    assert_true(has_pair(p, n, at[1], at[3]));
    sn_release(NULL, p);
    sn_model_destroy(m);
    (void)snprintf(whole, sizeof whole, text, "<pair geom1='rail'/>");
    assert_int_equal(sn_mjcf_read(whole, strlen(whole), NULL, &m, NULL, &error), SN_ERR_PARSE);
}

static void test_touching(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *m, *other = read_arm("", "");
    sn_shape_pair *p;
    int n, before;
    assert_int_equal(sn_pairs_find(other, NULL, &p, &before), SN_OK);
    sn_release(NULL, p);
    assert_int_equal(sn_builder_create_from(other, NULL, &b, NULL), SN_OK);
    // a large ball on a touches all others where the arm is straight, but for the tip
    sn_shape_desc d = sn_shape_default(SN_SHAPE_SPHERE);
    d.joint = 1;
    d.radius = 2.5;
    assert_int_equal(sn_builder_shape(b, &d), 6);
    assert_int_equal(sn_builder_finish(b, &m, NULL), SN_OK);
    assert_int_equal(sn_pairs_find(m, NULL, &p, &n), SN_OK);
    assert_int_equal(n, before + 1);
    assert_true(has_pair(p, n, 5, 6));   // the tip, 0.4 away
    assert_false(has_pair(p, n, 0, 6));  // through the floor at rest
    sn_release(NULL, p);
    sn_model_destroy(m);
    sn_model_destroy(other);
    sn_builder_destroy(b);
}

static void test_round_trip(void **unused) {
    (void)unused;
    sn_model *m = read_arm(", \"kind\": 2, \"meets\": 4",
                           ", \"excluded\": [[\"base\", \"tip\"], [\"a\", null]]");
    memory_sink first, second;
    memory_sink_begin(&first);
    memory_sink_begin(&second);
    sn_model *copy;
    assert_int_equal(sn_model_write_json(m, &first.base, NULL, NULL), SN_OK);
    assert_int_equal(sn_model_read_json(first.bytes, first.length, NULL, &copy, NULL), SN_OK);
    assert_int_equal(sn_model_write_json(copy, &second.base, NULL, NULL), SN_OK);
    assert_int_equal(first.length, second.length);
    assert_memory_equal(first.bytes, second.bytes, first.length);
    int joints[2];
    assert_int_equal(sn_model_nexcluded(copy), 2);
    assert_true(sn_model_excluded(copy, 1, joints));
    assert_int_equal(joints[0], 1);
    assert_int_equal(joints[1], -1);
    assert_int_equal(sn_model_shape(copy, 4)->meets, 4);
    free(first.bytes);
    free(second.bytes);
    sn_model_destroy(copy);
    sn_model_destroy(m);
}

static void test_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *sphere, *rest, *says;
    } cases[] = {{", \"kind\": 0.5", "", "whole number"},
                 {", \"kind\": -1", "", "whole number"},
                 {", \"to\": [0, 0]", "", "\"to\""},
                 {", \"colour\": 1", "", "colour"},
                 {"", ", \"excluded\": [[\"a\"]]", "two joints"},
                 {"", ", \"excluded\": [[\"a\", 3]]", "two joints"},
                 {"", ", \"excluded\": [[\"a\", \"nobody\"]]", "no joint"},
                 {"", ", \"excluded\": 1", "array"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[4000];
        sn_model *m;
        sn_error error = {0};
        (void)snprintf(text, sizeof text, arm, cases[i].sphere, cases[i].rest);
        assert_int_not_equal(sn_model_read_json(text, strlen(text), NULL, &m, &error), SN_OK);
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("case %d says \"%s\"", (int)i, error.text);
    }
}

// --- files -------------------------------------------------------------------------------------------

static void test_urdf(void **unused) {
    (void)unused;
    static const char text[] =
        "<robot name='r'><link name='base'><collision name='foot'><origin xyz='1 0 0' rpy='0 "
        "1.5707963267948966 0'/><geometry><cylinder radius='0.1' "
        "length='2'/></geometry></collision>"
        "<visual><geometry><sphere radius='9'/></geometry></visual></link>"
        "<link name='tip'><collision><geometry><sphere radius='0.2'/></geometry></collision>"
        "<collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision>"
        "<collision><geometry><mesh filename='x'/></geometry></collision></link>"
        "<joint name='j' type='continuous'><parent link='base'/><child "
        "link='tip'/></joint></robot>";
    sn_model *m;
    sn_urdf_info info;
    assert_int_equal(sn_urdf_read(text, strlen(text), NULL, NULL, &m, &info, NULL), SN_OK);
    assert_int_equal(sn_model_nshape(m), 3);
    const sn_shape_desc *foot = sn_model_shape(m, 0);
    assert_string_equal(foot->name, "foot");
    assert_int_equal(foot->type, SN_SHAPE_CAPSULE);
    assert_int_equal(foot->joint, 0);
    // along z, turned about y: along x; between 0 and 2, hardly wider than the cylinder
    assert_true(fabs(foot->from[1]) + fabs(foot->from[2]) + fabs(foot->to[2]) < 1e-12);
    assert_true(fabs(foot->from[0] + foot->to[0] - 2) < 1e-12);
    assert_true(foot->radius >= 0.1 && foot->radius < 0.13);
    assert_int_equal(sn_model_shape(m, 1)->joint, 1);
    assert_true(sn_model_shape(m, 1)->radius == 0.2);
    assert_true(sn_model_shape(m, 2)->radius <= 0.1 * sqrt(3));
    assert_non_null(strstr(info.note, "1 collision mesh is left out"));
    sn_model_destroy(m);
}

static void test_mjcf(void **unused) {
    (void)unused;
    static const char text[] =
        "<mujoco><default><geom type='capsule' size='0.05 0.3'/><default class='look'><geom "
        "contype='0' conaffinity='0'/></default><default class='ball'><geom type='sphere' "
        "contype='2' conaffinity='4'/></default></default><worldbody>"
        "<geom name='floor' type='plane' size='1 1 1' pos='0 0 -1'/>"
        "<body name='a'><joint name='j' axis='1 0 0' pos='0 0 1'/><geom pos='0 0 1'/><geom "
        "class='look'/><body name='b'><joint name='k'/><geom class='ball'/><geom fromto='0 0 0 0 2 "
        "0'/>"
        "<geom type='mesh' mesh='x'/><geom type='ellipsoid' size='1 2 "
        "3'/></body></body></worldbody>"
        "<contact><exclude body1='a' body2='b'/></contact></mujoco>";
    sn_model *m;
    sn_mjcf_info info;
    sn_error error = {0};
    if (sn_mjcf_read(text, strlen(text), NULL, &m, &info, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_model_nshape(m), 5);
    assert_int_equal(sn_model_shape(m, 0)->type, SN_SHAPE_PLANE);
    assert_int_equal(sn_model_shape(m, 0)->joint, -1);
    assert_true(sn_model_shape(m, 0)->from[2] == -1);
    // body a's origin lies 1 below its joint
    const sn_shape_desc *first = sn_model_shape(m, 1);
    assert_true(fabs(first->from[2] + 0.3) < 1e-12 && fabs(first->to[2] - 0.3) < 1e-12);
    assert_true(first->radius == 0.05);
    const sn_shape_desc *ball = sn_model_shape(m, 2);
    assert_int_equal(ball->type, SN_SHAPE_SPHERE);
    assert_int_equal(ball->kind, 2);
    assert_int_equal(ball->meets, 4);
    const sn_shape_desc *across = sn_model_shape(m, 3);
    assert_true(fabs(fabs(across->from[1] - across->to[1]) - 2) < 1e-12);
    assert_true(sn_model_shape(m, 4)->radius == 2);
    assert_int_equal(sn_model_nexcluded(m), 1);
    assert_non_null(strstr(info.note, "1 collision mesh is left out"));
    sn_model_destroy(m);
}

static void test_srdf(void **unused) {
    (void)unused;
    static const char text[] = "<robot name='r'><group name='g'/><disable_collisions link1='base' "
                               "link2='tip' reason='Never'/>"
                               "<disable_collisions link1='base' link2='ghost'/></robot>";
    sn_model *m = read_arm("", ""), *out;
    sn_srdf_info info;
    sn_error error = {0};
    sn_shape_pair *p;
    int n;
    if (sn_srdf_read(text, strlen(text), m, NULL, &out, &info, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(info.npair, 1);
    assert_int_equal(info.nunknown, 1);
    assert_non_null(strstr(info.note, "1 disabled pair"));
    assert_int_equal(sn_pairs_find(out, NULL, &p, &n), SN_OK);
    assert_int_equal(n, 8);
    assert_false(has_pair(p, n, 1, 5));
    sn_release(NULL, p);
    sn_model_destroy(out);
    static const char loose[] = "<robot><enable_collisions link1='a' link2='tip'/>"
                                "<disable_default_collisions link='tip'/></robot>";
    assert_int_equal(sn_srdf_read(loose, strlen(loose), m, NULL, &out, NULL, NULL), SN_OK);
    assert_int_equal(sn_pairs_find(out, NULL, &p, &n), SN_OK);
    assert_false(has_pair(p, n, 1, 5));
    assert_true(has_pair(p, n, 2, 5));
    sn_release(NULL, p);
    sn_model_destroy(out);
    static const char *const bad[] = {"<mujoco/>", "<robot><disable_collisions link1='a'/></robot>",
                                      "<robot>", "<robot><xacro:include/></robot>"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sn_srdf_read(bad[i], strlen(bad[i]), m, NULL, &out, NULL, &error),
                         SN_ERR_PARSE);
        assert_null(out);
    }
    sn_model_destroy(m);
}

// What the robots of the data hold: shapes, and pairs that must keep apart.
static void test_data(void **unused) {
    (void)unused;
    static const struct {
        const char *file;
        int nshape;
    } files[] = {{"urdf/allegro_right_hand.urdf", 22},
                 {"urdf/atlas_minimal_contact.urdf", 16},
                 {"urdf/double_pendulum_continuous.urdf", 0},
                 {"urdf/g1_29dof_rev_1_0.urdf", 12},
                 {"urdf/iiwa14_no_collision.urdf", 0},
                 {"urdf/panda.urdf", 14},
                 {"urdf/romeo.urdf", 0},
                 {"urdf/simple_humanoid.urdf", 1},
                 {"urdf/ur5_robot.urdf", 1},
                 {"mjcf/cassie.xml", 19},
                 {"mjcf/g1.xml", 12},
                 {"mjcf/panda.xml", 20},
                 {"mjcf/right_hand.xml", 47},
                 {"mjcf/ur5e.xml", 9}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t length;
        const char *path = data_path(files[i].file);
        if (path == NULL) continue;
        char *text = slurp(path, &length);
        sn_model *m;
        sn_error error = {0};
        sn_status status = strstr(path, ".urdf") != NULL
                               ? sn_urdf_read(text, length, NULL, NULL, &m, NULL, &error)
                               : sn_mjcf_read(text, length, NULL, &m, NULL, &error);
        if (status != SN_OK) fail_msg("%s: %s", files[i].file, error.text);
        sn_shape_pair *p;
        int n;
        assert_int_equal(sn_pairs_find(m, NULL, &p, &n), SN_OK);
        print_message("%-36s %3d shapes, %4d pairs\n", files[i].file, sn_model_nshape(m), n);
        assert_int_equal(sn_model_nshape(m), files[i].nshape);
        sn_release(NULL, p);
        sn_model_destroy(m);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance), cmocka_unit_test(test_surfaces),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_pairs),    cmocka_unit_test(test_contact_pairs),
        cmocka_unit_test(test_touching), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_urdf),
        cmocka_unit_test(test_mjcf),     cmocka_unit_test(test_srdf),
        cmocka_unit_test(test_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
