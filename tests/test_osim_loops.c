// SPDX-License-Identifier: MIT
// Loops of OpenSim models: constraints between bodies and joints that close, in either layout, against the
// second reader of these files; solved poses close them.
#include "math/vec3.h"
#include "plain_osim.h"
#include "support.h"

enum { BODIES = 4, COORDINATES = 40 };

static char text[65536];
static size_t used;
static bool new_layout;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    assert_true(used < sizeof text);
}

static void put_vector(const char *tag, sn_vec3 x) {
    put("<%s>%.17g %.17g %.17g</%s>", tag, x.x, x.y, x.z, tag);
}

static sn_vec3 random_vector(uint64_t *state, double size) {
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = uniform(state, -size, size);
    return v3_from(x);
}

static sn_frame frame_xyz(sn_vec3 p, sn_vec3 angles) {
    sn_quat q = {1, 0, 0, 0};
    for (int i = 0; i < 3; i++)
        q = sn_quat_mul(q, sn_quat_exp(v3_scale(v3_at(angles, i), v3_unit(i))));
    return (sn_frame){sn_mat3_from_quat(q), p};
}

static sn_vec3 angles_of(const sn_mat3 *R) {
    return v3(atan2(-R->c[2].y, R->c[2].z), asin(fmax(-1, fmin(1, R->c[2].x))),
              atan2(-R->c[1].x, R->c[0].x));
}

static sn_frame inverse(sn_frame f) {
    return (sn_frame){m3_transpose(&f.R), v3_neg(m3_tmul(&f.R, f.p))};
}

// --- files -------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    int ncoordinate;
} kinds[] = {{"PinJoint", 1},    {"SliderJoint", 1}, {"UniversalJoint", 2}, {"BallJoint", 3},
             {"PlanarJoint", 3}, {"FreeJoint", 6},   {"WeldJoint", 0}};

typedef struct made {
    int nbody, kind[BODIES], parent[BODIES];  // parent -1: ground
    sn_vec3 place[BODIES][4];
    double values[COORDINATES];
    int ncoordinate;
} made;

static const char *body_name(int body) {
    static char names[4][20];
    static int next;
    char *out = names[next++ % 4];
    (void)snprintf(out, 20, body < 0 ? "ground" : "b%d", body);
    return out;
}

static const char *path(int body) {
    static char paths[4][40];
    static int next;
    char *out = paths[next++ % 4];
    (void)snprintf(out, 40, "%s%s",
                   !new_layout ? ""
                   : body < 0  ? "/"
                               : "/bodyset/",
                   body_name(body));
    return out;
}

static void put_offsets(const char *const names[2], const int body[2], const sn_vec3 place[4]) {
    put("<frames>");
    for (int i = 0; i < 2; i++) {
        put("<PhysicalOffsetFrame name=\"%s\"><socket_parent>%s</socket_parent>", names[i],
            path(body[i]));
        put_vector("translation", place[2 * i]);
        put_vector("orientation", place[2 * i + 1]);
        put("</PhysicalOffsetFrame>");
    }
    put("</frames>");
}

static void put_joint(int kind, const char *name, int parent, int child, const sn_vec3 place[4],
                      int *coordinate) {
    char coordinates[1000] = "", *at = coordinates;
    for (int k = 0; k < kinds[kind].ncoordinate; k++)
        at += sprintf(at, "<Coordinate name=\"q%d\"/>", (*coordinate)++);
    if (new_layout) {
        put("<%s name=\"%s\"><socket_parent_frame>from</socket_parent_frame>"
            "<socket_child_frame>to</socket_child_frame><coordinates>%s</coordinates>",
            kinds[kind].name, name, coordinates);
        put_offsets((const char *const[]){"from", "to"}, (const int[]){parent, child}, place);
        put("</%s>\n", kinds[kind].name);
        return;
    }
    put("<Body name=\"%s\"><Joint><%s name=\"%s\"><parent_body>%s</parent_body>", body_name(child),
        kinds[kind].name, name, body_name(parent));
    put_vector("location_in_parent", place[0]);
    put_vector("orientation_in_parent", place[1]);
    put_vector("location", place[2]);
    put_vector("orientation", place[3]);
    put("<CoordinateSet><objects>%s</objects></CoordinateSet></%s></Joint></Body>\n", coordinates,
        kinds[kind].name);
}

static void random_tree(uint64_t *state, made *m) {
    *m = (made){.nbody = 2 + below(state, BODIES - 1)};
    for (int b = 0; b < m->nbody; b++) {
        m->kind[b] = below(state, 6);
        if (b > 1 && below(state, 8) == 0) m->kind[b] = 6;  // a weld
        m->parent[b] = b == 0 ? -1 : below(state, 4) == 0 ? -1 : b - 1;
        for (int i = 0; i < 4; i++) m->place[b][i] = random_vector(state, 0.5);
        for (int k = 0; k < kinds[m->kind[b]].ncoordinate; k++)
            m->values[m->ncoordinate++] = uniform(state, -1, 1);
    }
}

// Up to where constraints go; *closing: text for more joints.
static void begin(const made *m, const char *closing) {
    int coordinate = 0;
    used = 0;
    put("<OpenSimDocument Version=\"%d\"><Model name=\"loops\">\n", new_layout ? 40000 : 30000);
    if (new_layout) {
        put("<BodySet><objects>");
        for (int b = 0; b < m->nbody; b++) put("<Body name=\"%s\"/>", body_name(b));
        put("</objects></BodySet>\n<JointSet><objects>");
    } else {
        put("<BodySet><objects>\n");
    }
    for (int b = 0; b < m->nbody; b++) {
        char name[20];
        (void)snprintf(name, sizeof name, "j%d", b);
        put_joint(m->kind[b], name, m->parent[b], b, m->place[b], &coordinate);
    }
    put("%s</objects></%s>\n<ConstraintSet><objects>\n", closing,
        new_layout ? "JointSet" : "BodySet");
}

static void end(void) { put("</objects></ConstraintSet></Model></OpenSimDocument>\n"); }

static sn_frame body_at(const plain_osim *plain, int body, const double *values) {
    double x[12];
    if (body < 0) return (sn_frame){m3_identity(), {0, 0, 0}};
    plain_osim_body_at(plain, body_name(body), values, x);
    sn_frame f = {.p = v3_from(x)};
    for (int k = 0; k < 3; k++) f.R.c[k] = v3(x[3 + k], x[6 + k], x[9 + k]);
    return f;
}

// A constraint that holds at the values of the tree.
static void put_constraint(uint64_t *state, const made *m, const plain_osim *plain, int index) {
    static const char *const tags[] = {"WeldConstraint", "PointConstraint", "PointOnLineConstraint",
                                       "ConstantDistanceConstraint"};
    int type = below(state, 4), body[2];
    bool off = below(state, 6) == 0, state_it = off || below(state, 2) == 0;
    body[0] = below(state, m->nbody);
    do body[1] = below(state, m->nbody + 1) - 1;
    while (body[1] == body[0]);
    sn_frame first = frame_xyz(random_vector(state, 0.5), random_vector(state, 1));
    sn_vec3 along = random_vector(state, 1), angles = random_vector(state, 1), first_angles;
    sn_frame A = body_at(plain, body[0], m->values), B = body_at(plain, body[1], m->values);
    B = inverse(B);
    sn_frame second = frame_mul(&A, &first);
    first_angles = angles_of(&first.R);
    second = frame_mul(&B, &second);
    if (type == 2) second.p = v3_add(second.p, v3_scale(0.7, along));
    double distance = 0.3 + v3_norm(along);
    if (type == 3) {
        sn_vec3 unit = v3_scale(1 / v3_norm(along), along);
        second.p = v3_add(second.p, v3_scale(distance, unit));
    }
    angles = angles_of(&second.R);
    if (off) second.p = v3_add(second.p, v3(1, 1, 1));
    put("<%s name=\"c%d\">", tags[type], index);
    if (state_it && new_layout) put("<isEnforced>%s</isEnforced>", off ? "false" : "true");
    if (state_it && !new_layout) put("<isDisabled>%s</isDisabled>", off ? "true" : "false");
    if (type == 0 && new_layout) {
        const sn_vec3 place[4] = {first.p, first_angles, second.p, angles};
        put("<socket_frame1>one</socket_frame1><socket_frame2>other</socket_frame2>");
        put_offsets((const char *const[]){"one", "other"}, body, place);
    } else if (type == 2) {
        const char *socket = new_layout ? "socket_" : "";
        put("<%sline_body>%s</%sline_body><%sfollower_body>%s</%sfollower_body>", socket,
            path(body[1]), socket, socket, path(body[0]), socket);
        put_vector("line_direction_vec", along);
        put_vector("point_on_line", second.p);
        put_vector("point_on_follower", first.p);
    } else {
        const char *socket = new_layout ? "socket_" : "",
                   *early = index == 1 ? "_connectee_name" : "";
        if (!new_layout) early = "";
        for (int i = 0; i < 2; i++)
            put("<%sbody_%d%s>%s</%sbody_%d%s>", socket, i + 1, early, path(body[i]), socket, i + 1,
                early);
        put_vector("location_body_1", first.p);
        put_vector("location_body_2", second.p);
        if (type == 0) put_vector("orientation_body_1", first_angles);
        if (type == 0) put_vector("orientation_body_2", angles);
        if (type == 3) put("<constant_distance>%.17g</constant_distance>", distance);
    }
    put("</%s>\n", tags[type]);
}

// A pin or a ball to the last body, closed at the values of the tree; version 4 only.
static void random_closing(uint64_t *state, made *m, const plain_osim *plain, char *out) {
    int kind = below(state, 2) == 0 ? 0 : 3, last = m->nbody - 1, coordinate = m->ncoordinate;
    sn_vec3 place[4], turn = {0, 0, 0};
    if (kind == 0) turn.z = m->values[m->ncoordinate++] = uniform(state, -1, 1);
    if (kind == 3) {
        turn = random_vector(state, 1);
        for (int i = 0; i < 3; i++) m->values[m->ncoordinate++] = v3_at(turn, i);
    }
    place[0] = random_vector(state, 0.5);
    place[1] = random_vector(state, 1);
    sn_frame from = frame_xyz(place[0], place[1]), X = frame_xyz(v3(0, 0, 0), turn);
    sn_frame body = inverse(body_at(plain, last, m->values));
    sn_frame to = frame_mul(&from, &X);
    to = frame_mul(&body, &to);
    place[2] = to.p;
    place[3] = angles_of(&to.R);
    used = 0;
    put_joint(kind, "closing", -1, last, place, &coordinate);
    memcpy(out, text, used + 1);
}

// --- poses -------------------------------------------------------------------------------------------

static void to_pose(const sn_model *model, const double *values, int n, double *q, double *back) {
    for (int i = 0; i < n; i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "q%d", i);
        int joint = sn_model_find_joint(model, name);
        assert_true(joint >= 0);
        int at = sn_model_q_index(model, joint);
        if (values != NULL) q[at] = values[i];
        if (back != NULL) back[i] = q[at];
    }
}

static void test_loops(void **unused) {
    (void)unused;
    static const char *const seen[] = {"point", "pin", "weld", "line", "distance"};
    int nloop[SN_LOOP_TYPE_COUNT] = {0}, closing = 0, solved = 0, opened = 0;
    double worst = 0, gap = 0;
    for (int trial = first_case(); trial < cases(400); trial++) {
        uint64_t state = 900 + (uint64_t)trial;
        made m;
        static char more[4000];
        new_layout = trial % 2 == 1;
        more[0] = '\0';
        random_tree(&state, &m);
        begin(&m, "");
        end();
        plain_osim *plain = plain_osim_read(text);
        bool closes = new_layout && m.kind[m.nbody - 1] != 6 && below(&state, 3) == 0;
        if (closes) random_closing(&state, &m, plain, more);
        begin(&m, more);
        for (int i = 0, n = closes ? below(&state, 2) : 1 + below(&state, 2); i < n; i++)
            put_constraint(&state, &m, plain, i);
        end();
        plain_osim_free(plain);

        sn_model *model;
        sn_error error = {0};
        sn_osim_info info;
        if (sn_osim_read(text, used, NULL, &model, NULL, &info, &error) != SN_OK)
            fail_msg("case %d, line %d: %s\n%s", trial, error.line, error.text, text);
        assert_string_equal(info.note, "");
        plain = plain_osim_read(text);
        int n = sn_model_nloop(model), first = 0;
        // loops inside a body that is welded on are none of the model
        int all = plain_osim_nloop(plain), of[8] = {0};
        double q[COORDINATES] = {0}, values[COORDINATES];
        sn_problem *problem;
        sn_workspace *ws;
        assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
        for (int pose = 0; pose < 4; pose++) {
            for (int i = 0; i < m.ncoordinate; i++)
                values[i] = pose == 0 ? m.values[i] : uniform(&state, -2, 2);
            to_pose(model, values, m.ncoordinate, q, NULL);
            assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
            if (pose == 0) {
                for (int i = 0; i < all; i++) {
                    double open = plain_osim_loop_gap(plain, i, values);
                    if (open > 1e-7) fail_msg("case %d: made wrong, %g\n%s", trial, open, text);
                }
                continue;
            }
            if (pose == 1) {
                first = 0;
                for (int i = 0; i < all; i++)
                    if (plain_osim_loop_gap(plain, i, values) > 1e-7) of[first++] = i;
                if (first != n) fail_msg("case %d: %d loops for %d\n%s", trial, n, first, text);
            }
            for (int i = 0; i < n; i++) {
                double ours = sn_workspace_loop_error(ws, i);
                worst = fmax(worst, fabs(ours - plain_osim_loop_gap(plain, of[i], values)));
                if (worst > 1e-12)
                    fail_msg("case %d: loop %d open by %g\n%s", trial, i, ours, text);
            }
        }
        for (int i = 0; i < n; i++) nloop[sn_model_loop(model, i)->type]++;
        closing += closes;
        // from nearby it closes
        sn_solver *solver;
        sn_report report;
        for (int i = 0; i < m.ncoordinate; i++)
            values[i] = m.values[i] + uniform(&state, -0.2, 0.2);
        to_pose(model, values, m.ncoordinate, q, NULL);
        assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
        assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
        to_pose(model, NULL, m.ncoordinate, q, values);
        double open = 0;
        for (int i = 0; i < n; i++) open = fmax(open, plain_osim_loop_gap(plain, of[i], values));
        assert_near(open, report.violation, 1e-12);
        solved++;
        if (open > 1e-10)
            opened++;
        else
            gap = fmax(gap, open);
        sn_solver_destroy(solver);
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
        plain_osim_free(plain);
    }
    print_message("gaps of");
    for (int i = 0; i < SN_LOOP_TYPE_COUNT; i++) print_message(" %d %s", nloop[i], seen[i]);
    print_message(
        " loops within %.1e, %d of closing joints; solves left %d of %d open, the others by %.1e\n",
        worst, closing, opened, solved, gap);
    assert_true(opened <= solved / 50);
    assert_true(cases(400) < 400 || (nloop[SN_LOOP_WELD] > 50 && nloop[SN_LOOP_POINT] > 50 &&
                                     nloop[SN_LOOP_LINE] > 50 && nloop[SN_LOOP_DISTANCE] > 50));
}

// --- what is refused, what is passed over ------------------------------------------------------------

#define FILE_WITH(joint, constraint)                                                               \
    "<OpenSimDocument Version='30000'><Model><BodySet><objects><Body name='a'><Joint>" joint       \
    "</Joint></Body></objects></BodySet><ConstraintSet><objects>\n" constraint                     \
    "</objects></ConstraintSet></Model></OpenSimDocument>"
#define PIN                                                                                        \
    "<PinJoint name='j'><parent_body>ground</parent_body><CoordinateSet><objects><Coordinate "     \
    "name='q'/></objects></CoordinateSet></PinJoint>"
#define WELD(name, at)                                                                             \
    "<WeldJoint name='" name "'><parent_body>ground</parent_body><location>" at                    \
    "</location></WeldJoint>"
#define BOTH "<body_1>a</body_1><body_2>ground</body_2>"

static void refuses(const char *file, int line, const char *message) {
    sn_model *model;
    sn_error error = {0};
    assert_int_equal(sn_osim_read(file, strlen(file), NULL, &model, NULL, NULL, &error),
                     SN_ERR_PARSE);
    assert_string_equal(error.text, message);
    assert_int_equal(error.line, line);
    assert_null(model);
}

static void reads(const char *file, int nloop, const char *note) {
    sn_model *model;
    sn_error error = {0};
    sn_osim_info info;
    if (sn_osim_read(file, strlen(file), NULL, &model, NULL, &info, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_model_nloop(model), nloop);
    assert_string_equal(info.note, note);
    sn_model_destroy(model);
}

static void test_refuses(void **unused) {
    (void)unused;
    refuses(FILE_WITH(PIN, "<PointConstraint name='c'><body_1>a</body_1></PointConstraint>"), 2,
            "constraint \"c\" names only one body");
    refuses(FILE_WITH(PIN, "<PointConstraint name='c'><body_1>a</body_1><body_2>b</body_2>"
                           "</PointConstraint>"),
            2, "constraint \"c\": there is no body or frame \"b\"");
    refuses(FILE_WITH(PIN,
                      "<ConstantDistanceConstraint name='c'>" BOTH "</ConstantDistanceConstraint>"),
            2, "constraint \"c\" needs a <constant_distance> above 0");
    refuses(FILE_WITH(PIN, "<PointOnLineConstraint name='c'><line_body>a</line_body><follower_body>"
                           "ground</follower_body></PointOnLineConstraint>"),
            2, "constraint \"c\" needs the direction of its line, <line_direction_vec>");
    refuses(FILE_WITH(PIN, "<PointConstraint name='c'>" BOTH
                           "\n<location_body_1>1 2</location_body_1></PointConstraint>"),
            3, "<location_body_1> needs 3 numbers, here are 2");
    refuses(
        FILE_WITH(PIN, "<WeldConstraint>" BOTH "\n<isDisabled>no</isDisabled></WeldConstraint>"), 3,
        "<isDisabled> is \"no\", neither true nor false");
    refuses(FILE_WITH(WELD("j", "0 0 0"),
                      "<PointConstraint name='c'>" BOTH
                      "<location_body_1>0.5 0 0</location_body_1></PointConstraint>"),
            2,
            "constraint \"c\" can never hold: its bodies are fixed to each other, and it is off by "
            "0.5");
    refuses(
        FILE_WITH(WELD("j", "0 0 0") WELD("k", "0 0.25 0"), ""), 1,
        "joint \"k\" can never hold: its bodies are fixed to each other, and it is off by 0.25");
    reads(FILE_WITH(WELD("j", "0 0 0") WELD("k", "0 0 0"), ""), 0, "");
    reads(FILE_WITH(WELD("j", "0 0 0"), "<WeldConstraint>" BOTH "</WeldConstraint>"), 0, "");
    reads(FILE_WITH(PIN WELD("k", "0 0 0"), ""), 1, "");
    reads(FILE_WITH(PIN, "<WeldConstraint>" BOTH "</WeldConstraint>"), 1, "");
    reads(FILE_WITH(PIN, "<WeldConstraint>" BOTH "<isEnforced>false</isEnforced></WeldConstraint>"),
          0, "");
    reads(FILE_WITH(PIN, "<RollingOnSurfaceConstraint name='r'/>"), 0,
          "1 constraint is left out, of kinds that are not read");
}

// An allocation that fails gives nothing and leaves nothing.
static void test_memory(void **unused) {
    (void)unused;
    static const char file[] =
        FILE_WITH(PIN, "<WeldConstraint name='w'>" BOTH "<frames><PhysicalOffsetFrame name='f'>"
                       "<socket_parent>a</socket_parent></PhysicalOffsetFrame></frames>"
                       "</WeldConstraint><PointConstraint name='p'><socket_body_1>f</socket_body_1>"
                       "<socket_body_2>ground</socket_body_2></PointConstraint>");
    for (long n = 0;; n++) {
        test_allocator a;
        sn_model *model;
        sn_error error;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_osim_read(file, sizeof file - 1, &a.base, &model, NULL, NULL, &error);
        if (status == SN_OK) {
            assert_int_equal(sn_model_nloop(model), 2);
            sn_model_destroy(model);
        }
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_true(status == SN_ERR_MEMORY && model == NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops), cmocka_unit_test(test_refuses),
                                       cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
