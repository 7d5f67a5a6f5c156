// SPDX-License-Identifier: MIT
// OpenSim models: what is read in either layout, where it puts things, and what is refused.
#include "osim_files.h"

// --- little helpers ----------------------------------------------------------------------------------

static double *coordinate(const sn_model *model, double *q, const char *name) {
    int j = sn_model_find_joint(model, name);
    if (j < 0) fail_msg("no joint %s", name);
    return q + sn_model_q_index(model, j);
}

static sn_model *read_model(sn_osim_info *info) {
    sn_model *model;
    sn_error error = {0};
    if (sn_osim_read(text, used, NULL, &model, NULL, info, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return model;
}

// Rodrigues' formula: x turned about an axis.
static sn_vec3 turned(sn_vec3 axis, double angle, sn_vec3 x) {
    axis = v3_scale(1 / v3_norm(axis), axis);
    sn_vec3 across = v3_cross(axis, x);
    return v3_add(v3_add(v3_scale(cos(angle), x), v3_scale(sin(angle), across)),
                  v3_scale((1 - cos(angle)) * v3_dot(axis, x), axis));
}

static sn_vec3 turned_xyz(const double angles[3], sn_vec3 x) {
    for (int i = 2; i >= 0; i--) x = turned(v3_unit(i), angles[i], x);
    return x;
}

static sn_vec3 turned_back_xyz(const double angles[3], sn_vec3 x) {
    for (int i = 0; i < 3; i++) x = turned(v3_unit(i), -angles[i], x);
    return x;
}

static void assert_at(sn_vec3 p, sn_vec3 wanted, double tolerance) {
    double off = v3_norm(v3_sub(p, wanted));
    if (!(off <= tolerance))
        fail_msg("%.17g %.17g %.17g, wanted %.17g %.17g %.17g", p.x, p.y, p.z, wanted.x, wanted.y,
                 wanted.z);
}

// --- reading -----------------------------------------------------------------------------------------

static double circle_x(double a) { return 0.5 + 0.03 * (1 - cos(a)) + 0.02 * sin(a); }
static double circle_y(double a) { return 0.02 * (1 - cos(a)) - 0.03 * sin(a); }
static double cubic(double a) { return 0.1 + a * (0.2 - a * (0.3 + 0.4 * a)); }
static double line(double a) { return 0.2 * a - 0.1; }

// Every kind of joint between two bodies, at random places and poses, against the formula.
static void test_kinds(void **unused) {
    (void)unused;
    static const struct {
        const char *kind;
        int n;
        int slot[6], axis[6];  // 0: rotation, 1: translation; in the order in which they act
    } kinds[] = {
        {"WeldJoint", 0, {0}, {0}},
        {"PinJoint", 1, {0}, {2}},
        {"SliderJoint", 1, {1}, {0}},
        {"BallJoint", 3, {0, 0, 0}, {0, 1, 2}},
        {"GimbalJoint", 3, {0, 0, 0}, {0, 1, 2}},
        {"UniversalJoint", 2, {0, 0}, {0, 1}},
        {"PlanarJoint", 3, {0, 1, 1}, {2, 0, 1}},
        {"FreeJoint", 6, {0, 0, 0, 1, 1, 1}, {0, 1, 2, 0, 1, 2}},
    };
    uint64_t state = 5;
    for (int trial = 0; trial < cases(64); trial++) {
        size_t k = (size_t)trial / 2 % (sizeof kinds / sizeof kinds[0]);
        new_layout = trial % 2 == 1;
        ends e;
        double *numbers = e.at;
        for (int i = 0; i < 12; i++) numbers[i] = uniform(&state, -1, 1);
        char coordinates[2048] = "";
        for (int i = 0; i < kinds[k].n; i++)
            (void)sprintf(coordinates + strlen(coordinates),
                          "<Coordinate name=\"c%d\"><range>-9 9</range></Coordinate>", i);
        bodies[0] = "a", bodies[1] = NULL;
        begin_file();
        put_joint(kinds[k].kind, "j", "ground", "a", &e, coordinates, "");
        begin_markers();
        put_marker("M", "a", 0.1, -0.2, 0.3);
        end_file();
        sn_osim_info info;
        sn_model *model = read_model(&info);
        assert_string_equal(info.note, "");
        assert_int_equal(info.version, new_layout ? 40000 : 20303);
        assert_int_equal(info.nbody, 1);
        assert_int_equal(info.ncoordinate, kinds[k].n);
        assert_int_equal(sn_model_nq(model), kinds[k].n);
        assert_int_equal(sn_model_njoint(model), kinds[k].n + 1);
        double q[6] = {0}, value[6];
        sn_vec3 x = v3_sub(v3(0.1, -0.2, 0.3), v3_from(e.child_at)), p = {0, 0, 0};
        x = turned_back_xyz(e.child_angles, x);
        for (int i = kinds[k].n - 1; i >= 0; i--) {
            char name[16];
            (void)snprintf(name, sizeof name, "c%d", i);
            value[i] = uniform(&state, -2, 2);
            *coordinate(model, q, name) = value[i];
            if (kinds[k].slot[i] == 0)
                x = turned(v3_unit(kinds[k].axis[i]), value[i], x);
            else
                p = v3_add(p, v3_scale(value[i], v3_unit(kinds[k].axis[i])));
        }
        x = v3_add(v3_from(e.at), turned_xyz(e.angles, v3_add(p, x)));
        assert_at(marker_at(model, "M", q), x, 1e-14);
        sn_model_destroy(model);
    }
}

// A spatial transform: the axes at an angle to each other, slopes and starts, functions inside functions.
static void test_custom(void **unused) {
    (void)unused;
    static const char coordinates[] =
        "<Coordinate name=\"turn\"><range>-1 1</range><clamped>true</clamped></Coordinate>"
        "<Coordinate name=\"slide\"><range>-3 "
        "1</range><clamped>true</clamped><locked>true</locked></Coordinate>"
        "<Coordinate name=\"back\"/>"
        "<Coordinate "
        "name=\"stuck\"><default_value>0.4</default_value><locked>true</locked></Coordinate>";
    static const char middle[] =
        "<SpatialTransform><TransformAxis name=\"rotation1\"><coordinates> turn </coordinates>"
        "<axis>1 2 -1</axis><function><LinearFunction><coefficients>1 "
        "0.3</coefficients></LinearFunction>"
        "</function></TransformAxis>"
        "<TransformAxis name=\"rotation2\"><coordinates>back</coordinates><axis>0 1 0</axis>"
        "<LinearFunction name=\"function\"><coefficients>-1 "
        "0</coefficients></LinearFunction></TransformAxis>"
        "<TransformAxis name=\"rotation3\"><coordinates>stuck</coordinates><axis>0 0 1</axis>"
        "<LinearFunction><coefficients>1 0</coefficients></LinearFunction></TransformAxis>"
        "<TransformAxis name=\"translation1\"><coordinates></coordinates><axis>2 0 0</axis>"
        "<function><MultiplierFunction><function><Constant><value>0.25</value></Constant></"
        "function>"
        "<scale>0.2</scale></MultiplierFunction></function></TransformAxis>"
        "<TransformAxis name=\"translation2\"><coordinates>slide</coordinates><axis>0 2 0</axis>"
        "<function><MultiplierFunction><function><LinearFunction><coefficients>1 "
        "0.25</coefficients>"
        "</LinearFunction></function><scale>1</scale></MultiplierFunction></function></"
        "TransformAxis>"
        "</SpatialTransform>";
    for (int layout = 0; layout < 2; layout++) {
        new_layout = layout == 1;
        bodies[0] = "a", bodies[1] = "b", bodies[2] = NULL;
        ends none = {0}, off = {.at = {0, 1, 0}};
        begin_file();
        // the body that hangs on the other comes first
        put_joint("WeldJoint", "k", "a", "b", &off, "", "");
        put_joint("CustomJoint", "j", "ground", "a", &none, coordinates, middle);
        begin_markers();
        put_marker("A", "a", 1, 0, 0);
        put_marker("B", "b", 0, 0, 2);
        end_file();
        sn_osim_info info;
        sn_model *model = read_model(&info);
        assert_string_equal(info.note, "stuck is held at 0.4, where it is locked");
        assert_int_equal(sn_model_nq(model), 3);
        const sn_joint_desc *d = sn_model_joint(model, sn_model_find_joint(model, "slide"));
        assert_true(d->type == SN_JOINT_SLIDER && d->lower[0] == -3 && d->upper[0] == 1 &&
                    d->locked[0]);
        d = sn_model_joint(model, sn_model_find_joint(model, "turn"));
        assert_true(d->type == SN_JOINT_HINGE && d->lower[0] == -1 && d->upper[0] == 1 &&
                    !d->locked[0]);
        d = sn_model_joint(model, sn_model_find_joint(model, "back"));
        assert_true(isinf(d->lower[0]) && isinf(d->upper[0]));
        double q[3];
        *coordinate(model, q, "turn") = 0.7;
        *coordinate(model, q, "back") = 0.2;
        *coordinate(model, q, "slide") = 0.6;
        sn_vec3 local[2] = {{1, 0, 0}, {0, 1, 2}};
        for (int i = 0; i < 2; i++) {
            sn_vec3 x = turned(v3_unit(2), 0.4, local[i]);
            x = turned(v3(1, 2, -1), 1, turned(v3_unit(1), -0.2, x));
            x = v3_add(x, v3(0.05, 0.6 + 0.25, 0));
            assert_at(marker_at(model, i == 0 ? "A" : "B", q), x, 1e-14);
        }
        sn_model_destroy(model);
    }
}

// Points of a function of an angle.
static size_t put_points(char *out, double (*f)(double), double from, double to, int n) {
    size_t at = (size_t)sprintf(out, "<x>");
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(out + at, " %.17g", from + (to - from) * i / (n - 1));
    at += (size_t)sprintf(out + at, "</x><y>");
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(out + at, " %.17g", f(from + (to - from) * i / (n - 1)));
    return at + (size_t)sprintf(out + at, "</y>");
}

// A knee whose translations are f and g of its angle, default 0.3.
static sn_model *read_knee(double (*f)(double), double (*g)(double), double (*twist)(double),
                           const char *spline, sn_osim_info *info) {
    static char middle[20000];
    size_t n = (size_t)sprintf(
        middle, "<SpatialTransform><TransformAxis name=\"rotation1\"><coordinates>"
                "bend</coordinates><axis>0 0 1</axis><LinearFunction><coefficients>1 0"
                "</coefficients></LinearFunction></TransformAxis>");
    double (*const functions[])(double) = {twist, f, g};
    static const char *const names[] = {"rotation2", "translation1", "translation2"};
    static const char *const axes[] = {"1 0 0", "1 0 0", "0 1 0"};
    for (int i = 0; i < 3; i++) {
        if (functions[i] == NULL) continue;
        n += (size_t)sprintf(middle + n,
                             "<TransformAxis name=\"%s\"><coordinates>bend</coordinates><axis>%s"
                             "</axis><function><%s>",
                             names[i], axes[i], spline);
        n += put_points(middle + n, functions[i], -2, 0.5, 41);
        n += (size_t)sprintf(middle + n, "</%s></function></TransformAxis>", spline);
    }
    (void)sprintf(middle + n, "</SpatialTransform>");
    bodies[0] = "shank", bodies[1] = NULL;
    begin_file();
    put_joint("CustomJoint", "knee", "ground", "shank", &(ends){0},
              "<Coordinate name=\"bend\"><default_value>0.3</default_value><range>-2 "
              "0.5</range></Coordinate>",
              middle);
    begin_markers();
    put_marker("M", "shank", 0.1, -0.4, 0);
    end_file();
    return read_model(info);
}

// A knee that glides and turns by functions of its angle; its name is the coordinate's.
static void test_knee(void **unused) {
    (void)unused;
    sn_osim_info info;
    static const char *const splines[] = {"SimmSpline", "NaturalCubicSpline", "GCVSpline",
                                          "PiecewiseLinearFunction"};
    for (int i = 0; i < 4; i++) {
        bool coarse = i == 3;
        new_layout = i % 2 == 1;
        sn_model *model = read_knee(circle_x, circle_y, NULL, splines[i], &info);
        assert_int_equal(sn_model_nq(model), 1);
        assert_int_equal(sn_model_joint(model, 1)->type, SN_JOINT_FUNCTION);
        assert_true((info.note[0] != '\0') == (i == 2));
        for (double a = -2; a <= 0.5; a += 0.05) {
            sn_vec3 x = turned(v3_unit(2), a, v3(0.1, -0.4, 0));
            x = v3_add(x, v3(circle_x(a), circle_y(a), 0));
            assert_at(marker_at(model, "M", &a), x, coarse ? 5e-5 : 1e-6);
        }
        sn_model_destroy(model);
    }
    new_layout = false;
    // the spline is exact for cubics, inside
    sn_model *model = read_knee(cubic, line, cubic, "SimmSpline", &info);
    assert_string_equal(info.note, "");
    assert_string_equal(sn_model_joint(model, 1)->name, "bend");
    for (double q = -2; q <= 0.5; q += 0.01) {
        sn_vec3 x = turned(v3_unit(2), q, turned(v3_unit(0), cubic(q), v3(0.1, -0.4, 0)));
        assert_at(marker_at(model, "M", &q), v3_add(x, v3(cubic(q), line(q), 0)), 1e-13);
    }
    sn_model_destroy(model);
}

// --- against plain forward kinematics ----------------------------------------------------------------

// Names of the coordinates are columns of tables, both ways.
static void test_table(void **unused) {
    (void)unused;
    new_layout = false;
    bodies[0] = "a", bodies[1] = NULL;
    begin_file();
    put_joint("PlanarJoint", "j", "ground", "a", &(ends){0},
              "<Coordinate name=\"knee_angle_r\"/><Coordinate name=\"pelvis_tx\"/><Coordinate "
              "name=\"y\"/>",
              "");
    begin_markers();
    end_file();
    sn_model *model = read_model(NULL);
    sn_motion *motion, *back;
    sn_table *table;
    sn_error error;
    assert_int_equal(sn_motion_create(2, 3, 1, 10, NULL, &motion, NULL), SN_OK);
    for (int f = 0; f < 2; f++) {
        *coordinate(model, sn_motion_edit(motion, f), "knee_angle_r") = 1 + f;
        *coordinate(model, sn_motion_edit(motion, f), "pelvis_tx") = 3 + f;
        *coordinate(model, sn_motion_edit(motion, f), "y") = 5 + f;
    }
    assert_int_equal(sn_table_from_motion(model, motion, NULL, &table, &error), SN_OK);
    const double *row = sn_table_row(table, 1);
    assert_near(row[sn_table_find(table, "knee_angle_r")], 2 * degrees, 1e-13);
    assert_true(row[sn_table_find(table, "pelvis_tx")] == 4);
    assert_int_equal(sn_motion_from_table(model, table, NULL, &back, &error), SN_OK);
    for (int k = 0; k < 3; k++)
        assert_near(sn_motion_frame(back, 1)[k], sn_motion_frame(motion, 1)[k], 1e-14);
    sn_motion_destroy(back);
    sn_motion_destroy(motion);
    sn_table_destroy(table);
    sn_model_destroy(model);
}

// Weights of a task file, and what it leaves out.
static void test_tasks(void **unused) {
    (void)unused;
    new_layout = false;
    bodies[0] = "a", bodies[1] = NULL;
    begin_file();
    put_joint("PinJoint", "j", "ground", "a", &(ends){0}, "<Coordinate name=\"q\"/>", "");
    begin_markers();
    put_marker("A", "a", 1, 0, 0);
    put_marker("B", "a", 0, 1, 0);
    put_marker("C", "a", 0, 0, 1);
    end_file();
    sn_model *model = read_model(NULL);
    // OpenSim's own example has an end tag too many, too
    static const char tasks[] = "<?xml version='1.0'?>\n<IKTaskSet "
                                "name='t'><objects>\n<IKMarkerTask name='C'><apply> true </apply>"
                                "<weight> 2.5 </weight></IKMarkerTask>\n<IKMarkerTask "
                                "name='B'><apply>false</apply></IKMarkerTask>\n"
                                "<IKMarkerTask name='other'/><IKCoordinateTask "
                                "name='q'><weight>7</weight></IKCoordinateTask>"
                                "</objects></IKTaskSet></OpenSimDocument>";
    sn_marker_set *set;
    sn_error error;
    for (long n = 0;; n++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status =
            sn_marker_set_read_tasks(tasks, strlen(tasks), model, &a.base, &set, &error);
        if (status == SN_OK) {
            assert_int_equal(sn_marker_set_count(set), 1);
            const sn_marker_place *place = sn_marker_set_place(set, 0);
            assert_string_equal(place->name, "C");
            assert_string_equal(place->joint, "q");
            assert_true(place->weight == 2.5 && place->placed && place->position[2] == 1);
            sn_marker_set_destroy(set);
        }
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_true(status == SN_ERR_MEMORY && set == NULL);
    }
    static const struct {
        const char *text, *message;
        int line;
    } wrong[] = {
        {"<a/>", "there is no <IKTaskSet> here", 1},
        {"<IKTaskSet/>", "no task here is about a marker of the model", 0},
        {"<IKTaskSet>\n<IKMarkerTask/></IKTaskSet>", "an IKMarkerTask has no name=\"...\"", 2},
        {"<IKTaskSet><IKMarkerTask name='A'>\n<weight>-1</weight></IKMarkerTask></IKTaskSet>",
         "the weight \"-1\" is not a number from 0 on", 2},
        {"<IKTaskSet><IKMarkerTask name='A'><weight>", "the file ends inside <weight> of line 1",
         1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(sn_marker_set_read_tasks(wrong[i].text, strlen(wrong[i].text), model, NULL,
                                                  &set, &error),
                         SN_ERR_PARSE);
        assert_null(set);
        assert_string_equal(error.text, wrong[i].message);
        assert_int_equal(error.line, wrong[i].line);
    }
    sn_model_destroy(model);
}

// --- refusing ----------------------------------------------------------------------------------------

static void refuses(const char *file, int at, const char *message) {
    sn_model *model = (sn_model *)(void *)text;
    sn_osim_info info = {.nbody = 7};
    sn_error error = {0};
    assert_int_equal(sn_osim_read(file, strlen(file), NULL, &model, NULL, &info, &error),
                     SN_ERR_PARSE);
    assert_null(model);
    assert_int_equal(info.nbody, 0);
    if (error.line != at || strcmp(error.text, message) != 0)
        fail_msg("line %d: %s\nwanted line %d: %s", error.line, error.text, at, message);
}

#define HEAD        "<OpenSimDocument Version=\"20303\"><Model><BodySet><objects>\n"
#define TAIL        "</objects></BodySet></Model></OpenSimDocument>"
#define BODY(joint) HEAD "<Body name=\"a\"><Joint>\n" joint "</Joint></Body>" TAIL
#define AXIS(middle)                                                                               \
    BODY("<CustomJoint name=\"j\"><parent_body>ground</parent_body>\n<SpatialTransform>"           \
         "<TransformAxis name=\"rotation1\">\n" middle "</TransformAxis></SpatialTransform>"       \
         "<CoordinateSet><objects><Coordinate "                                                    \
         "name=\"q\"/></objects></CoordinateSet></CustomJoint>")

static void test_refuses(void **unused) {
    (void)unused;
    refuses("", 1, "the file holds no element");
    refuses("<robot/>", 1,
            "the outermost element is <robot>, not <OpenSimDocument>: is this an OpenSim model?");
    refuses("<OpenSimDocument/>", 1, "<OpenSimDocument> has no Version=\"...\" that is a number");
    refuses("<OpenSimDocument Version='10900'/>", 1,
            "this is a file of version 10900; versions 20000 to 49999 (OpenSim 2 to 4) are read: "
            "open and save "
            "it with OpenSim 4");
    refuses(HEAD "<Body/>" TAIL, 2, "a body has no name=\"...\"");
    refuses(HEAD "<Body name='a'/>" TAIL, 2, "body \"a\" hangs on no joint that leads to ground");
    refuses(BODY("<PinJoint name='j'/>"), 3, "joint \"j\" states no parent");
    refuses(BODY("<RollingJoint name='j'/>"), 3,
            "joint \"j\" is a <RollingJoint>, which is not supported (file version 20303)");
    refuses(BODY("<PinJoint name='j'><parent_body>ground</parent_body></PinJoint>"), 3,
            "joint \"j\" has 0 coordinates, but a PinJoint has 1");
    refuses(BODY("<WeldJoint name='j'><parent_body>b</parent_body></WeldJoint>"), 3,
            "joint \"j\": there is no body or frame \"b\"");
    refuses(BODY("<WeldJoint name='j'><parent_body>a</parent_body></WeldJoint>"), 3,
            "joint \"j\" joins \"a\" to itself");
    refuses(BODY("<WeldJoint name='j'><parent_body>ground</parent_body>\n<location>1 "
                 "2</location></WeldJoint>"),
            4, "<location> needs 3 numbers, here are 2");
    refuses(BODY("<WeldJoint name='j'>\n<location>1 2 x</location></WeldJoint>"), 4,
            "<location>: \"x\" is not a number");
#define WRONG "joint \"j\": the function of a TransformAxis is wrong: "
    refuses(AXIS("<coordinates>q q</coordinates>"), 4, WRONG "too few or too many numbers");
    refuses(AXIS("<coordinates>q</coordinates><SimmSpline><x>1 1</x><y>0 0</y></SimmSpline>"), 4,
            WRONG "its x do not rise");
    refuses(AXIS("<Constant><value>1 2</value></Constant>"), 4,
            WRONG "too few or too many numbers");
    refuses(AXIS("<SimmSpline><x>0 1</x><y>0 0</y></SimmSpline>"), 4,
            WRONG "it follows no coordinate");
    refuses(AXIS("<Bump/>"), 5,
            "joint \"j\": the function <Bump> is not supported (file version 20303)");
    refuses(AXIS("<Constant/><Constant/>"), 5, "joint \"j\": a TransformAxis has two functions");
    refuses(AXIS("<coordinates>p</coordinates><LinearFunction><coefficients>1 "
                 "0</coefficients></LinearFunction>"),
            4, "joint \"j\" follows \"p\", which is no coordinate of it");
    refuses(AXIS("<axis>0 0 0</axis><Constant><value>1</value></Constant>"), 4,
            "joint \"j\": an axis is 0 0 0");
    refuses(
        BODY("<PinJoint name='j'><CoordinateSet><objects><Coordinate name='q'>\n<range>2 1</range>"
             "</Coordinate></objects></CoordinateSet></PinJoint>"),
        4, "coordinate \"q\": its range ends before it begins");
    refuses(
        BODY(
            "<PinJoint name='j'><CoordinateSet><objects><Coordinate name='q'>\n<locked>yes</locked>"
            "</Coordinate></objects></CoordinateSet></PinJoint>"),
        4, "<locked> is \"yes\", neither true nor false");
    refuses(
        "<OpenSimDocument Version='30000'><Model><MarkerSet><objects>\n<Marker name='M'/></objects>"
        "</MarkerSet></Model></OpenSimDocument>",
        2, "marker \"M\" states no body");
    refuses("<OpenSimDocument Version='30000'><Model><MarkerSet><objects>\n<Marker name='M'>"
            "<body>a</body></Marker></objects></MarkerSet></Model></OpenSimDocument>",
            2, "marker \"M\": there is no body or frame \"a\"");
}

// A file cut off anywhere is refused; an allocation that fails gives nothing and leaves nothing.
static void test_cut_and_memory(void **unused) {
    (void)unused;
    for (int layout = 0; layout < 2; layout++) {
        new_layout = layout == 1;
        sn_osim_info info;
        sn_model_destroy(read_knee(circle_x, cubic, line, "SimmSpline", &info));
        sn_model *model;
        sn_error error;
        size_t whole = used;
        while (whole > 0 && text[whole - 1] == '\n') whole--;
        for (size_t n = 0; n < whole; n += n + 80 < whole ? 7 : 1) {
            char *exact = malloc(n > 0 ? n : 1);
            assert_non_null(exact);
            memcpy(exact, text, n);
            assert_int_equal(sn_osim_read(exact, n, NULL, &model, NULL, NULL, &error),
                             SN_ERR_PARSE);
            assert_null(model);
            free(exact);
        }
        for (long n = 0;; n++) {
            test_allocator a;
            test_allocator_begin(&a);
            a.fail_at = n;
            sn_status status = sn_osim_read(text, used, &a.base, &model, NULL, NULL, &error);
            if (status == SN_OK) sn_model_destroy(model);
            assert_int_equal(a.live, 0);
            if (status == SN_OK) break;
            assert_true(status == SN_ERR_MEMORY && model == NULL && error.status == SN_ERR_MEMORY);
        }
    }
}

// --- OpenSim's example -------------------------------------------------------------------------------

// Two bodies of which one is welded on: their masses and centres come together.
static void test_mass(void **state) {
    (void)state;
    static const char two[] =
        "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects>"
        "<Body name='a'><mass>3</mass><mass_center>1 0 0</mass_center></Body>"
        "<Body name='b'><mass>1</mass><mass_center>0 0 2</mass_center></Body></objects></BodySet>"
        "<JointSet><objects><PinJoint name='p'><socket_parent_frame>ground</socket_parent_frame>"
        "<socket_child_frame>a</socket_child_frame><coordinates><Coordinate "
        "name='q'/></coordinates>"
        "</PinJoint><WeldJoint name='w'><socket_parent_frame>f</socket_parent_frame>"
        "<socket_child_frame>b</socket_child_frame><frames><PhysicalOffsetFrame name='f'>"
        "<socket_parent>a</socket_parent><translation>5 0 0</translation></PhysicalOffsetFrame>"
        "</frames></WeldJoint></objects></JointSet></Model></OpenSimDocument>";
    sn_model *m;
    sn_error error = {0};
    if (sn_osim_read(two, sizeof two - 1, NULL, &m, NULL, NULL, &error) != SN_OK)
        fail_msg("%s", error.text);
    const sn_joint_desc *d = sn_model_joint(m, sn_model_find_joint(m, "q"));
    assert_near(d->mass, 4, 1e-15);
    assert_near(d->centre[0], (3 * 1 + 1 * 5) / 4.0, 1e-15);
    assert_near(d->centre[2], 0.5, 1e-15);
    sn_model_destroy(m);
}

// OpenSim's scale tool scales the pictures of bones along: where most are as they were drawn, nobody was scaled.
static void test_generic(void **state) {
    (void)state;
#define PINNED(at, name, of)                                                                       \
    "<PinJoint name='" name "'><socket_parent_frame>" at "</socket_parent_frame>"                  \
    "<socket_child_frame>" of "</socket_child_frame><coordinates><Coordinate name='q" name         \
    "'/></coordinates></PinJoint>"
#define DRAWN(name, factors)                                                                       \
    "<Body name='" name "'><FrameGeometry name='frame_geometry'>"                                  \
    "<scale_factors>0.2 0.2 0.2</scale_factors></FrameGeometry><attached_geometry><Mesh name='m'>" \
    "<scale_factors>" factors "</scale_factors><mesh_file>a.vtp</mesh_file></Mesh>"                \
    "</attached_geometry></Body>"
#define NEW(a, b, c)                                                                               \
    "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects>" DRAWN("a", a)            \
        DRAWN("b", b)                                                                              \
            DRAWN("c", c) "</objects></BodySet><JointSet><objects>" PINNED("ground", "a", "a")     \
                PINNED("a", "b", "b") PINNED("b", "c", "c") "</objects></JointSet>"                \
                                                            "</Model></OpenSimDocument>"
#define OLD(factors)                                                                               \
    "<OpenSimDocument Version='20303'><Model name='m'><BodySet><objects><Body name='a'><Joint>"    \
    "<PinJoint name='p'><parent_body>ground</parent_body><CoordinateSet><objects><Coordinate "     \
    "name='q'/></objects></CoordinateSet></PinJoint></Joint><VisibleObject><GeometrySet><objects>" \
    "<DisplayGeometry><geometry_file>a.vtp</geometry_file><scale_factors>1 1 1</scale_factors>"    \
    "</DisplayGeometry></objects></GeometrySet><scale_factors>" factors "</scale_factors>"         \
    "</VisibleObject><WrapObjectSet><objects><WrapCylinder "                                       \
    "name='w'><VisibleObject><scale_factors>"                                                      \
    "3 3 3</scale_factors></VisibleObject></WrapCylinder></objects></WrapObjectSet></Body>"        \
    "</objects></BodySet></Model></OpenSimDocument>"
    static const struct {
        const char *text;
        bool generic;
    } files[] = {
        {NEW("1 1 1", "1 1 1", "1 1 1"), true},
        {NEW("1 1 1", "1 1 1", "0.85 0.85 0.85"), true},  // a borrowed hand
        {NEW("1.02 1.02 1.02", "1.1 1 1", "1 1 1"), false},
        {NEW("many", "1 1 1", "1 1 1"), true},
        {OLD("1 1 1"), true},
        {OLD(" 0.98 1.1 0.98"), false},
        // without pictures nothing is known
        {"<OpenSimDocument Version='20303'><Model name='m'><BodySet><objects><Body name='a'><Joint>"
         "<PinJoint name='p'><parent_body>ground</parent_body><CoordinateSet><objects><Coordinate "
         "name='q'/></objects></CoordinateSet></PinJoint></Joint></Body></objects></BodySet>"
         "</Model></OpenSimDocument>",
         false},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sn_model *m;
        sn_osim_coordinates *c;
        sn_error error = {0};
        if (sn_osim_read(files[i].text, strlen(files[i].text), NULL, &m, &c, NULL, &error) != SN_OK)
            fail_msg("file %zu: line %d: %s", i, error.line, error.text);
        if (sn_osim_is_generic(c) != files[i].generic) fail_msg("file %zu", i);
        sn_osim_coordinates_destroy(c);
        sn_model_destroy(m);
    }
    assert_false(sn_osim_is_generic(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generic), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_custom),  cmocka_unit_test(test_knee),
        cmocka_unit_test(test_table),   cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_refuses), cmocka_unit_test(test_cut_and_memory),
        cmocka_unit_test(test_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
