// SPDX-License-Identifier: MIT
// Scaling models: bytes that stay, what grows with what, the static pose, bad setups; on files of its own making,
// and on OpenSim's where they are.
#define _POSIX_C_SOURCE 200809L
#include <glob.h>

#include "program.h"
#include "support.h"

// Version 4, with a knee whose translation is a spline, a coupled kneecap, an offset frame, a wrap and a path.
static char model4[8000];  // both parts
static const char part1[] =
    "<?xml version=\"1.0\"?>\r\n<OpenSimDocument Version=\"40000\">\r\n\t<Model name=\"m\">\r\n"
    "<!-- 0.1 stays <location>1 1 1</location> -->\r\n"
    "<BodySet><objects>\r\n"
    "<Body name='a'><mass>10</mass><mass_center>0 0.1 0</mass_center>"
    "<inertia>0.1 0.2 0.3 0 0 0</inertia><attached_geometry><Mesh name='g'>"
    "<mesh_file>a.vtp</mesh_file></Mesh></attached_geometry></Body>\r\n"
    "<Body name='b'><mass>5</mass><mass_center>0 -.2 0</mass_center>"
    "<inertia>0.1 0.01 0.1 0 0 0</inertia><WrapObjectSet><objects><WrapCylinder name='w'>"
    "<xyz_body_rotation>0 1.5707963267948966 0</xyz_body_rotation>"
    "<translation>0.01 0.02 0.03</translation><radius>0.04</radius><length>0.1</length>"
    "</WrapCylinder><WrapSphere name='s'><translation>0 0 0</translation><radius>0.09</radius>"
    "</WrapSphere><WrapEllipsoid name='e'><dimensions>0.1 0.2 0.3</dimensions></WrapEllipsoid>"
    "<WrapTorus name='t'><inner_radius>0.01</inner_radius><outer_radius>0.05</outer_radius>"
    "</WrapTorus></objects></WrapObjectSet></Body>\r\n"
    "<Body name='c'><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>\r\n</objects></BodySet>\r\n"
    "<JointSet><objects>\r\n"
    "<FreeJoint name='root'><socket_parent_frame>/ground</socket_parent_frame>"
    "<socket_child_frame>/bodyset/a</socket_child_frame><coordinates><Coordinate name='rx'/>"
    "<Coordinate name='ry'/><Coordinate name='rz'/><Coordinate name='tx'/>"
    "<Coordinate name='ty'/><Coordinate name='tz'/></coordinates></FreeJoint>\r\n"
    "<CustomJoint name='knee'><socket_parent_frame>a_offset</socket_parent_frame>"
    "<socket_child_frame>b_offset</socket_child_frame><coordinates>"
    "<Coordinate name='bend'><default_value>0</default_value></Coordinate></coordinates>"
    "<frames><PhysicalOffsetFrame name='a_offset'><socket_parent>/bodyset/a</socket_parent>"
    "<translation> 0.1  -0.4 0.05 </translation></PhysicalOffsetFrame>"
    "<PhysicalOffsetFrame name='b_offset'><socket_parent>/bodyset/b</socket_parent>"
    "<translation>0 0.02 0</translation></PhysicalOffsetFrame></frames>"
    "<SpatialTransform>"
    "<TransformAxis name='rotation1'><coordinates>bend</coordinates><axis>0 0 1</axis>"
    "<LinearFunction name='function'><coefficients>1 0</coefficients></LinearFunction>"
    "</TransformAxis><TransformAxis name='translation1'><coordinates>bend</coordinates>"
    "<axis>1 0 0</axis>\r\n\t<SimmSpline name='function'><x>-2 -1 0 1</x>"
    "<y>-0.003 0.002 0.004 0.001</y></SimmSpline></TransformAxis>"
    "<TransformAxis name='translation2'><axis>0 1 0</axis><Constant name='function'>"
    "<value>0</value></Constant></TransformAxis></SpatialTransform></CustomJoint>\r\n"
    "<CustomJoint name='cap'><socket_parent_frame>/bodyset/b</socket_parent_frame>"
    "<socket_child_frame>/bodyset/c</socket_child_frame><coordinates><Coordinate name='slide'/>"
    "</coordinates><SpatialTransform><TransformAxis name='translation2'>"
    "<coordinates>slide</coordinates><axis>0 1 0</axis></TransformAxis></SpatialTransform>"
    "</CustomJoint>\r\n</objects></JointSet>\r\n"
    "<ConstraintSet><objects><CoordinateCouplerConstraint name='k'>"
    "<coupled_coordinates_function><LinearFunction><coefficients>0.02 0.1</coefficients>"
    "</LinearFunction></coupled_coordinates_function>"
    "<independent_coordinate_names>bend</independent_coordinate_names>"
    "<dependent_coordinate_name>slide</dependent_coordinate_name>"
    "</CoordinateCouplerConstraint></objects></ConstraintSet>\r\n";
static const char part2[] =
    "<ForceSet><objects><Thelen2003Muscle name='u'><optimal_fiber_length>0.1"
    "</optimal_fiber_length><GeometryPath><PathPointSet><objects><PathPoint name='p'>"
    "<socket_parent_frame>/bodyset/a</socket_parent_frame><location>0.1 0.2 0.3</location>"
    "</PathPoint><MovingPathPoint name='q'><socket_parent_frame>/bodyset/b</socket_parent_frame>"
    "<x_location><Constant><value>0.5</value></Constant></x_location></MovingPathPoint>"
    "</objects></PathPointSet></GeometryPath></Thelen2003Muscle></objects></ForceSet>\r\n"
    "<MarkerSet><objects>"
    "<Marker name='A'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<location>0.1 0.3 0</location><fixed>true</fixed></Marker>\r\n"
    "<Marker name='B'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<location>-0.1 0.3 0</location><fixed>true</fixed></Marker>\r\n"
    "<Marker name='C'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<location>0 -0.3 0.2</location><fixed>true</fixed></Marker>\r\n"
    "<Marker name='D'><socket_parent_frame>/bodyset/b</socket_parent_frame>"
    "<location>0 -0.4 0</location><fixed>true</fixed></Marker>\r\n"
    "<Marker name='E'><socket_parent_frame>/bodyset/b</socket_parent_frame>"
    "<location>0.1 -0.2 0</location><fixed>false</fixed></Marker>\r\n"
    "<Marker name='F'><socket_parent_frame>/bodyset/c</socket_parent_frame>"
    "<location>0.05 0 0</location><fixed>true</fixed></Marker>\r\n"
    "</objects></MarkerSet>\r\n</Model></OpenSimDocument>\r\n";

// Version 3, with what it writes differently.
static const char model3[] =
    "<OpenSimDocument Version=\"30000\"><Model name=\"old\"><BodySet><objects>\n"
    "<Body name=\"ground\"/>\n<Body name=\"a\"><mass> 2 </mass><mass_center>0 0.5 0</mass_center>"
    "<inertia_xx>1</inertia_xx><inertia_yy>2</inertia_yy><inertia_zz>3</inertia_zz>"
    "<Joint><FreeJoint name=\"r\"><parent_body>ground</parent_body>"
    "<CoordinateSet><objects><Coordinate name=\"1\"/><Coordinate name=\"2\"/>"
    "<Coordinate name=\"3\"/><Coordinate name=\"4\"/><Coordinate name=\"5\"/>"
    "<Coordinate name=\"6\"/></objects></CoordinateSet></FreeJoint></Joint>"
    "<VisibleObject><scale_factors> 1 1 1 </scale_factors></VisibleObject></Body>\n"
    "<Body name=\"b\"><mass>1</mass><Joint><PinJoint name=\"h\"><parent_body>a</parent_body>"
    "<location_in_parent>0 -0.5 0</location_in_parent><location>0 0.1 0</location>"
    "<CoordinateSet><objects><Coordinate name=\"bend\"/></objects></CoordinateSet></PinJoint>"
    "</Joint></Body></objects></BodySet>\n"
    "<MarkerSet><objects/></MarkerSet></Model></OpenSimDocument>\n";

static const char set3[] =
    "<OpenSimDocument Version=\"20302\"><MarkerSet name=\"s\"><objects>\n"
    "<Marker name=\"A&amp;B\"><body> a </body><location> 0.1 0.2 0.3 </location>"
    "<fixed> true </fixed></Marker>\n"
    "<Marker name=\"K\"><body>b</body><location>0 -0.4 0</location></Marker>\n"
    "</objects></MarkerSet></OpenSimDocument>\n";

#define MANUAL(list)                                                                               \
    "<ScaleTool name='default'><ModelScaler><scaling_order>manualScale</scaling_order>"            \
    "<preserve_mass_distribution>true</preserve_mass_distribution><ScaleSet><objects>" list        \
    "</objects></ScaleSet></ModelScaler></ScaleTool>"
#define SCALE(body, factors)                                                                       \
    "<Scale><scales>" factors "</scales><segment>" body "</segment><apply>true</apply></Scale>"

static sn_scaling *scaled_by(const char *setup_text, const char *model, const char *markers) {
    sn_scale_setup *setup = NULL;
    sn_scaling *scaling = NULL;
    sn_error error = {0};
    if (sn_scale_setup_read(setup_text, strlen(setup_text), NULL, &setup, &error) != SN_OK)
        fail_msg("%s", error.text);
    sn_scaling_input in = {.model = model,
                           .model_length = strlen(model),
                           .markers = markers,
                           .markers_length = markers != NULL ? strlen(markers) : 0,
                           .setup = setup};
    if (sn_scaling_create(&in, NULL, &scaling, NULL, &error) != SN_OK) fail_msg("%s", error.text);
    sn_scale_setup_destroy(setup);
    return scaling;
}

// Factors of one change nothing, to the byte.
static void ones(void **state) {
    (void)state;
    const char *models[] = {model4, model3};
    for (int i = 0; i < 2; i++) {
        sn_scaling *s =
            scaled_by(MANUAL(SCALE("a", "1 1 1") SCALE("b", "1.0 1 1e0")), models[i], NULL);
        const sn_scaling_info *info = sn_scaling_about(s);
        assert_int_equal(info->model_length, strlen(models[i]));
        assert_memory_equal(info->model_text, models[i], info->model_length);
        assert_memory_equal(info->scaled_text, models[i], info->model_length);
        sn_scaling_destroy(s);
    }
}

static void has(const char *text, const char *fragment) {
    if (strstr(text, fragment) == NULL) fail_msg("\"%s\" is not in: %s", fragment, text);
}

static void grows(void **state) {
    (void)state;
    sn_scaling *s = scaled_by(MANUAL(SCALE("a", "2 1 4") SCALE("b", "2 2 4")), model4, NULL);
    const char *t = sn_scaling_about(s)->model_text;
    has(t, "<!-- 0.1 stays <location>1 1 1</location> -->\r\n");
    has(t, "<translation> 0.2  -0.4 0.2 </translation>");  // only the words that change
    has(t, "<translation>0 0.04 0</translation>");
    has(t, "<location>0.2 0.2 1.2</location>");  // the path point
    has(t, "<location>0.2 0.3 0</location>");
    has(t, "<scale_factors>2 1 4</scale_factors>");  // the mesh stated none
    has(t, "<translation>0.02 0.04 0.12</translation>");
    // the cylinder lies along x of its body: its x is -z there
    has(t, "<radius>0.12</radius><length>0.2</length>");
    has(t, "<radius>0.24</radius></WrapSphere>");  // the mean of 2, 2 and 4
    has(t, "<dimensions>0.2 0.4 1.2</dimensions>");
    has(t, "<inner_radius>0.02</inner_radius><outer_radius>0.1</outer_radius>");
    // cylinders along x: m r^2 / 2 = 0.1, r^2 times 1 x 4; along y: r^2 = 0.004, l^2 = 0.228
    has(t, "<inertia>0.4 ");
    has(t, "<mass>10</mass>");
    has(t, "<MultiplierFunction name=\"function\">\r\n\t\t<function>\r\n\t\t\t<SimmSpline "
           "name='function'>");
    has(t, "<scale>2</scale>");
    has(t, "<Constant name='function'><value>0</value></Constant>");  // nothing to scale
    has(t, "<scale_factor>2</scale_factor>");                         // of the coupler
    has(t, "<optimal_fiber_length>0.1</optimal_fiber_length>");
    assert_true(sn_scaling_about(s)->nnote == 1);
    has(sn_scaling_about(s)->note[0].text, "1 muscles keep their optimal_fiber_length");
    sn_scaling_destroy(s);
    s = scaled_by(MANUAL(SCALE("a", "2 2 2")), model3, set3);
    t = sn_scaling_about(s)->model_text;
    has(t, "<location_in_parent>0 -1 0</location_in_parent><location>0 0.1 0</location>");
    has(t, "<inertia_xx>4</inertia_xx><inertia_yy>8</inertia_yy><inertia_zz>12</inertia_zz>");
    has(t, "<scale_factors> 2 2 2 </scale_factors>");
    has(t, "<Marker name=\"A&amp;B\">\n\t\t<body>a</body>");
    has(t, "<location>0.2 0.4 0.6</location>");
    has(t, "<fixed>true</fixed>");
    // the set that is written is read again, to the same markers
    const char *set = sn_scaling_about(s)->marker_text;
    sn_scaling *again = scaled_by(MANUAL(""), t, set);
    assert_string_equal(sn_scaling_about(again)->model_text, t);
    sn_scaling_destroy(again);
    sn_scaling_destroy(s);
}

// The total mass that is asked for, in shares that stay or grow.
static void weighs(void **state) {
    (void)state;
    const char *setup =
        "<ScaleTool><mass>32</mass><ModelScaler><scaling_order>manualScale</scaling_order>"
        "<preserve_mass_distribution>%s</preserve_mass_distribution><ScaleSet><objects>" SCALE(
            "a", "2 1 1") "</objects></ScaleSet></ModelScaler></ScaleTool>";
    char text[1000];
    (void)snprintf(text, sizeof text, setup, "true");
    sn_scaling *s = scaled_by(text, model4, NULL);
    has(sn_scaling_about(s)->model_text, "<mass>20</mass>");
    has(sn_scaling_about(s)->model_text, "<mass>10</mass>");
    assert_true(fabs(sn_scaling_about(s)->mass - 32) < 1e-12);
    sn_scaling_destroy(s);
    (void)snprintf(text, sizeof text, setup, "false");  // 20 + 5 + 1 is 26
    s = scaled_by(text, model4, NULL);
    sn_model *model;
    assert_int_equal(sn_osim_read(sn_scaling_about(s)->model_text,
                                  sn_scaling_about(s)->model_length, NULL, &model, NULL, NULL,
                                  NULL),
                     SN_OK);
    double sum = 0, most = 0;
    for (int j = 0; j < sn_model_njoint(model); j++) {
        sum += sn_model_joint(model, j)->mass;
        most = fmax(most, sn_model_joint(model, j)->mass);
    }
    assert_true(fabs(sum - 32) < 1e-12 && fabs(most - 20 * 32.0 / 26) < 1e-12);
    sn_model_destroy(model);
    sn_scaling_destroy(s);
}

// --- a figure that grows as a whole --------------------------------------------------------------

static void place(const sn_model *m, const double *q, sn_vec3 *out) {
    sn_problem *p;
    sn_workspace *w;
    assert_int_equal(sn_problem_create(m, NULL, 0, NULL, &p, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(p, false, NULL, &w, NULL), SN_OK);
    assert_int_equal(sn_workspace_pose(w, q), SN_OK);
    for (int i = 0; i < sn_model_nmarker(m); i++) {
        const sn_marker_desc *d = sn_model_marker(m, i);
        out[i] = sn_workspace_point(w, d->joint, d->position);
    }
    sn_workspace_destroy(w);
    sn_problem_destroy(p);
}

static double apart(sn_vec3 a, sn_vec3 b) {
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// All bodies by one factor: all distances between markers by it, in any pose. Couplings and splines too.
static void whole(const char *text, const char *name) {
    sn_model *before, *after;
    sn_error error = {0};
    char *setup = calloc(1, 1000000);
    (void)strcpy(setup, "<ScaleTool><ModelScaler><scaling_order>manualScale</scaling_order>"
                        "<ScaleSet><objects>");
    // every <Body name=...>
    for (const char *at = text; (at = strstr(at, "<Body name=")) != NULL; at += 12) {
        char body[100];
        assert_true(sscanf(at + 12, "%99[^\"']", body) == 1);
        if (strcmp(body, "ground") == 0) continue;
        (void)sprintf(setup + strlen(setup), SCALE("%s", "1.25 1.25 1.25"), body);
    }
    (void)strcat(setup, "</objects></ScaleSet></ModelScaler></ScaleTool>");
    sn_scaling *s = scaled_by(setup, text, NULL);
    const sn_scaling_info *info = sn_scaling_about(s);
    assert_int_equal(sn_osim_read(text, strlen(text), NULL, &before, NULL, NULL, &error), SN_OK);
    assert_int_equal(
        sn_osim_read(info->model_text, info->model_length, NULL, &after, NULL, NULL, &error),
        SN_OK);
    int n = sn_model_nmarker(before), nq = sn_model_nq(before);
    assert_int_equal(nq, sn_model_nq(after));
    double *q = malloc((size_t)nq * sizeof *q), worst = 0;
    sn_vec3 *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    uint64_t seed = 1;
    for (int k = 0; k < 5; k++) {
        double *other = malloc((size_t)nq * sizeof *other);
        sn_model_sample(before, &seed, q);
        memcpy(other, q, (size_t)nq * sizeof *q);
        sn_model_follow(before, q);
        sn_model_follow(after, other);
        place(before, q, a);
        place(after, other, b);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                worst = fmax(worst, fabs(apart(b[i], b[j]) - 1.25 * apart(a[i], a[j])));
        free(other);
    }
    if (n < 2 || !(worst < 1e-9)) fail_msg("%s: %d markers, off by %g m", name, n, worst);
    free(q);
    free(a);
    free(b);
    free(setup);
    sn_model_destroy(before);
    sn_model_destroy(after);
    sn_scaling_destroy(s);
}

static void as_a_whole(void **state) {
    (void)state;
    whole(model4, "model4");
    glob_t found;
    if (glob(SINEW_DATA "/biomech/*/*.osim", 0, NULL, &found) != 0) {
        print_message("skipped: there are no models in %s/biomech\n", SINEW_DATA);
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "rb");
        char *text = malloc(4 << 20);
        assert_non_null(file);
        text[fread(text, 1, (4 << 20) - 1, file)] = '\0';
        (void)fclose(file);
        // generic gait2354 has its markers in a set of their own
        if (strstr(text, "<Marker name") != NULL) whole(text, found.gl_pathv[i]);
        free(text);
    }
    globfree(&found);
}

// --- bad setups ----------------------------------------------------------------------------------

#define TOOL(inside)   "<ScaleTool>\n" inside "</ScaleTool>"
#define SCALER(inside) TOOL("<ModelScaler>\n" inside "</ModelScaler>")
#define PLACER(inside)                                                                             \
    TOOL("<MarkerPlacer>\n<marker_file>s.trc</marker_file>" inside "</MarkerPlacer>")
#define MEASURE(inside)                                                                            \
    SCALER("<scaling_order>measurements</scaling_order><marker_file>s.trc</marker_file>"           \
           "<MeasurementSet><objects><Measurement name='x'>\n" inside                              \
           "</Measurement></objects></MeasurementSet>")

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *fragment;
    } cases[] = {
        {"<InverseKinematicsTool/>", 1, "no <ScaleTool>"},
        {"<ScaleTool>\n<mass>heavy</mass></ScaleTool>", 2, "not a number"},
        {SCALER("\n<scaling_order>guess</scaling_order>"), 4, "neither measurements nor"},
        {SCALER("<time_range>2 1</time_range>"), 3, "before it begins"},
        {MEASURE("<MarkerPairSet><objects><MarkerPair>\n<markers>A</markers></MarkerPair>"
                 "</objects></MarkerPairSet>"),
         5, "a pair needs two"},
        {MEASURE("<MarkerPairSet><objects><MarkerPair><markers>A A</markers></MarkerPair>"
                 "</objects></MarkerPairSet>"),
         4, "there is no distance"},
        {MEASURE("<BodyScaleSet><objects><BodyScale name='a'><axes>X W</axes></BodyScale>"
                 "</objects></BodyScaleSet>"),
         4, "some of X Y Z"},
        {MANUAL(SCALE("a", "1 0 1")), 1, "factors are above 0"},
        {MANUAL(SCALE("a", "1 1")), 1, "needs 3 numbers"},
        {MANUAL("<Scale><scales>1 1 1</scales></Scale>"), 1, "states no <segment>"},
        {SCALER("<scaling_order>measurements</scaling_order><MeasurementSet><objects>"
                "<Measurement name='x'/></objects></MeasurementSet>"),
         2, "names no trial"},
        {PLACER("\n<IKTaskSet><objects><IKMarkerTask name='A'><weight>0</weight></IKMarkerTask>"
                "</objects></IKTaskSet>"),
         4, "weight above 0"},
        {PLACER("<IKTaskSet><objects><IKMarkerTask name='A'>\n<weight>-1</weight></IKMarkerTask>"
                "</objects></IKTaskSet>"),
         4, "weights are numbers"},
        {TOOL("<MarkerPlacer/>"), 2, "names no static trial"},
        {MEASURE("<MarkerPairSet file='x.xml'/>"), 4, "put what that file holds here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sn_scale_setup *setup;
        sn_error error = {0};
        sn_status status =
            sn_scale_setup_read(cases[i].text, strlen(cases[i].text), NULL, &setup, &error);
        if (status != SN_ERR_PARSE || error.line != cases[i].line ||
            strstr(error.text, cases[i].fragment) == NULL)
            fail_msg("%s: status %d, line %d: %s", cases[i].text, status, error.line, error.text);
    }
}

// --- the program ---------------------------------------------------------------------------------

#define TASK(name) "<IKMarkerTask name='" name "'><weight>1</weight></IKMarkerTask>\n"
#define PAIR(a, b) "<MarkerPair><markers>" a " " b "</markers></MarkerPair>"
#define MEASUREMENT(name, pair, body)                                                              \
    "<Measurement name='" name "'><MarkerPairSet><objects>" pair "</objects></MarkerPairSet>"      \
    "<BodyScaleSet><objects><BodyScale name='" body "'><axes>X Y Z</axes></BodyScale></objects>"   \
    "</BodyScaleSet></Measurement>\n"
#define SETUP(times, coordinates)                                                                  \
    "<ScaleTool name='ann'><GenericModelMaker><model_file>m.osim</model_file>"                     \
    "</GenericModelMaker><ModelScaler>\n<scaling_order>measurements manualScale</scaling_order>"   \
    "<MeasurementSet><objects>\n" MEASUREMENT("one", PAIR("A", "B"),                               \
                                              "a") MEASUREMENT("two", PAIR("D", "E"), "b")         \
        MEASUREMENT("none", PAIR("D", "Z"), "b") MEASUREMENT(                                      \
            "who", PAIR("A", "B"),                                                                 \
            "stranger") "</objects></MeasurementSet>"                                              \
                        "<ScaleSet><objects>" SCALE(                                               \
                            "c",                                                                   \
                            "1.5 1.5 1.5") "</objects></ScaleSet>"                                 \
                                           "<marker_file>s.trc</marker_file>\n<time_range>" times  \
                                           "</time_range>"                                         \
                                           "<output_scale_file>factors.xml</output_scale_file></"  \
                                           "ModelScaler>\n"                                        \
                                           "<MarkerPlacer><IKTaskSet><objects>\n" TASK("A")        \
                                               TASK("B") TASK("C") TASK("D") TASK("F") coordinates \
        "</objects></IKTaskSet><marker_file>s.trc</marker_file>"                                   \
        "<output_model_file>ann.osim</output_model_file><output_motion_file>ann.mot"               \
        "</output_motion_file><output_marker_file>ann.xml</output_marker_file></MarkerPlacer>"     \
        "</ScaleTool>\n"

// A subject of known factors in a known pose, seen by a capture system.
static int begin(void **unused) {
    (void)unused;
    if (!program_begin("scale")) return -1;
    (void)snprintf(model4, sizeof model4, "%s%s", part1, part2);
    sn_scaling *s = scaled_by(
        MANUAL(SCALE("a", "1.1 1.1 1.1") SCALE("b", "0.9 0.9 0.9") SCALE("c", "1.5 1.5 1.5")),
        model4, NULL);
    (void)program_file("subject.osim", sn_scaling_about(s)->model_text);
    (void)program_file("m.osim", model4);
    sn_scaling_destroy(s);
    (void)program_file("s.mot", "s\nversion=1\nnRows=3\nnColumns=9\ninDegrees=yes\nendheader\n"
                                "time\trx\try\trz\ttx\tty\ttz\tbend\tslide\n"
                                "0\t1\t2\t3\t0.1\t1\t0.2\t-20\t0\n"
                                "0.1\t1\t2\t3\t0.1\t1\t0.2\t-20\t0\n"
                                "0.2\t1\t2\t3\t0.1\t1\t0.2\t-20\t0\n");
    if (program_here("convert subject.osim s.mot -o s.trc") == 0) return 0;
    print_message("%s\n", program_output);
    return -1;
}

static double read_after(const char *text, const char *word, int skip) {
    const char *at = strstr(text, word);
    assert_non_null(at);
    char *rest = (char *)(uintptr_t)(at + strlen(word));
    double x = 0;
    for (int i = 0; i <= skip; i++) x = strtod(rest, &rest);
    return x;
}

static void recovers(void **state) {
    (void)state;
    (void)program_file("setup.xml", SETUP("0 0.2", ""));
    program_expect_here(0, "static pose", "scale --setup setup.xml");
    has(program_output, "setup.xml:5: measurement \"none\" is not used");
    has(program_output, "the model has no body \"stranger\"");
    const char *names[] = {"factors.xml", "ann.osim", "ann.mot", "ann.xml"};
    for (int i = 0; i < 4; i++) assert_true(program_has(names[i]));
    // the trial has six digits of a millimetre
    char line[300];
    (void)snprintf(line, sizeof line, "cat %s", program_path("factors.xml"));
    assert_int_equal(shell(line), 0);
    assert_true(fabs(read_after(program_output, "<scales>", 0) - 1.1) < 1e-5);
    (void)snprintf(line, sizeof line, "cat %s", program_path("ann.osim"));
    assert_int_equal(shell(line), 0);
    has(program_output, "<Model name=\"ann\">");
    // E is where the subject has it, 0.9 of the generic place
    const char *e = strstr(program_output, "<Marker name='E'>");
    assert_non_null(e);
    assert_true(fabs(read_after(e, "<location>", 0) - 0.09) < 1e-5);
    assert_true(fabs(read_after(e, "<location>", 1) + 0.18) < 1e-5);
    (void)snprintf(line, sizeof line, "tail -1 %s", program_path("ann.mot"));
    assert_int_equal(shell(line), 0);
    const double truth[] = {0.1, 1, 0.2, 1, 2, 3, -20};
    char *rest = program_output;
    (void)strtod(rest, &rest);
    for (int i = 0; i < 7; i++) {
        double x = strtod(rest, &rest);
        if (!(fabs(x - truth[i]) < 0.01))
            fail_msg("%d: %g, not %g: %s", i, x, truth[i], program_output);
    }
    // the same again, of the scaled model: nothing is left to scale, the file as it was
    program_expect_here(0, "mass", "scale -m ann.osim -i s.trc -o again.osim");
}

// Measurements and factors in files of their own: the same model, byte for byte.
static void sets_in_files(void **state) {
    (void)state;
#define WITH(measured, factors, out)                                                               \
    "<ScaleTool name='ann'><GenericModelMaker><model_file>m.osim</model_file>"                     \
    "</GenericModelMaker><ModelScaler><scaling_order>measurements manualScale</scaling_order>"     \
    "<MeasurementSet" measured "<ScaleSet" factors "<marker_file>s.trc</marker_file>"              \
    "<output_model_file>" out "</output_model_file></ModelScaler></ScaleTool>"
#define INSIDE_MEASURED                                                                            \
    "><objects>" MEASUREMENT("one", PAIR("A", "B"), "a")                                           \
        MEASUREMENT("two", PAIR("D", "E"), "b") "</objects></MeasurementSet>"
#define INSIDE_FACTORS "><objects>" SCALE("c", "1.5 1.5 1.5") "</objects></ScaleSet>"
    (void)program_file("here.xml", WITH(INSIDE_MEASURED, INSIDE_FACTORS, "here.osim"));
    (void)program_file("apart.xml",
                       WITH(" file='measured.xml'/>", " file='sets/by_hand.xml'/>", "apart.osim"));
    (void)program_file("measured.xml",
                       "<OpenSimDocument><MeasurementSet" INSIDE_MEASURED "</OpenSimDocument>");
    program_expect_here(0, "mass", "scale --setup here.xml");
    program_expect_here(3, "by_hand.xml", "scale --setup apart.xml");
    assert_false(program_has("apart.osim"));
    (void)program_file("by_hand.xml", "<IKTaskSet/>");
    program_expect_here(3, "neither a <MeasurementSet> nor", "scale --setup apart.xml");
    (void)program_file("by_hand.xml", "<ScaleSet" INSIDE_FACTORS);
    program_expect_here(0, "mass", "scale --setup apart.xml");
    char line[600];
    (void)snprintf(line, sizeof line, "cmp %s", program_path("here.osim"));
    (void)snprintf(line + strlen(line), sizeof line - strlen(line), " %s",
                   program_path("apart.osim"));
    assert_int_equal(shell(line), 0);
}

static void without(void **state) {
    (void)state;
    program_expect_here(0, "mass: 20.0000",
                        "scale -m m.osim -i s.trc --mass 20 -o free.osim --factors f.xml");
    char line[300];
    (void)snprintf(line, sizeof line, "cat %s", program_path("f.xml"));
    assert_int_equal(shell(line), 0);
    // c, at 1.5, is far from what bodies are like, and the knee is bent: both pull a little
    assert_true(fabs(read_after(program_output, "<scales>", 0) - 1.1) < 0.04);
    const char *b = strstr(program_output, "</Scale>");
    assert_true(fabs(read_after(b, "<scales>", 0) - 0.9) < 0.1);
}

static void complains(void **state) {
    (void)state;
    (void)program_file("late.xml", SETUP("5 6", ""));
    program_expect_here(
        3, "late.xml:8: the time range is 5 to 6 s, and the trial goes from 0 to 0.2 s",
        "scale --setup late.xml -o no.osim");
    (void)program_file("who.xml", SETUP("0 1", "<IKCoordinateTask name='wing'><weight>1</weight>"
                                               "</IKCoordinateTask>\n"));
    program_expect_here(3, "who.xml:15: the model has no coordinate \"wing\"",
                        "scale --setup who.xml -o no.osim -o no.mot");
    (void)program_file("gone.xml", "<ScaleTool><GenericModelMaker>\n<model_file>lost.osim"
                                   "</model_file></GenericModelMaker></ScaleTool>");
    program_expect_here(3, "gone.xml:2: the model \"lost.osim\"",
                        "scale --setup gone.xml -o no.osim");
    (void)program_file("on.xml", "<MarkerSet><objects>\n<Marker name='X'><body>tail</body>"
                                 "</Marker></objects></MarkerSet>");
    program_expect_here(3, "on.xml:2: marker \"X\" is on \"tail\"",
                        "scale -m m.osim -i s.trc --markers on.xml -o no.osim");
    char *locked = calloc(1, sizeof model4 + 200), *at;
    (void)strcpy(locked, model4);
    at = strstr(locked, "<default_value>0</default_value>");
    assert_non_null(at);
    (void)snprintf(at, 200, "%s",
                   "<default_value>2</default_value><range>-1 1</range><clamped>true"
                   "</clamped><locked>true</locked>");
    (void)strcat(locked, strstr(model4, "<default_value>0</default_value>") + 32);
    (void)program_file("locked.osim", locked);
    free(locked);
    program_expect_here(
        3, "locked.osim:12: coordinate \"bend\" is locked at 2, and clamped to -1 ... 1",
        "scale -m locked.osim -i s.trc -o no.osim");
    program_expect_here(2, "osim, xml, mot", "scale -m m.osim -i s.trc -o no.pdf");
    program_expect_here(2, "nothing is to be written", "scale -m m.osim -i s.trc");
    program_expect_here(2, "a setup", "scale -m m.osim -o no.osim");
    program_expect_here(1, "cannot be written",
                        "scale -m m.osim -i s.trc -o no.osim -o /no/such/folder/x.mot");
    assert_false(program_has("no.osim") || program_has("no.mot"));
    assert_int_not_equal(program_here("scale -m m.osim -i s.trc -o m.osim"), 0);
}

// --- OpenSim's own result ------------------------------------------------------------------------

static void as_opensim(void **state) {
    (void)state;
    const char *folder = SINEW_DATA "/biomech/gait2354";
    char line[1000];
    (void)snprintf(line, sizeof line, "%s/subject01_Setup_Scale.xml", folder);
    if (access(line, F_OK) != 0) {
        print_message("skipped: there is no %s\n", line);
        return;
    }
    program_expect(0, "mass: 72.6000", "scale --setup %s --factors %s -o %s", line,
                   program_path("f.xml"), program_path("gait.osim"));
    char *mine = NULL;
    for (int pass = 0; pass < 2; pass++) {
        char file[300];
        (void)snprintf(file, sizeof file, "%s/reference/subject01_scaleSet_applied.xml", folder);
        (void)snprintf(line, sizeof line, "grep -A1 '<scales>' %s | tr -d '\\n\\t-'",
                       pass == 0 ? program_path("f.xml") : file);
        assert_int_equal(shell(line), 0);
        if (pass == 0) {
            mine = malloc(strlen(program_output) + 1);
            (void)strcpy(mine, program_output);
        }
    }
    int n = 0;
    for (const char *at = mine; (at = strstr(at, "<scales>")) != NULL; at += 8) {
        char name[100], key[200];
        const char *segment = strstr(at, "<segment>");
        assert_non_null(segment);
        assert_true(sscanf(segment + 9, "%99[^<]", name) == 1);
        (void)snprintf(key, sizeof key, "<segment>%s<", name);
        const char *theirs = strstr(program_output, key);
        assert_non_null(theirs);
        while (strncmp(theirs, "<scales>", 8) != 0) theirs--;
        for (int x = 0; x < 3; x++)
            assert_true(fabs(read_after(at, "<scales>", x) - read_after(theirs, "<scales>", x)) <
                        1e-5);
        n++;
    }
    assert_int_equal(n, 12);
    free(mine);
}

// The reference pose is not that of the setup's own coordinate tasks (docs/opensim-scale.md). With none on the
// subtalars and a weak pull on the three lumbar coordinates, found by matching the reference, everything else
// must follow: 20 coordinates and 39 markers from one number.
static void as_opensim_placed(void **state) {
    (void)state;
    const char *path = data_path("biomech/gait2354/subject01_Setup_Scale.xml");
    if (path == NULL) skip();
    size_t length;
    char folder[300], line[1200], *text = slurp(path, &length),
                                  *cut = strstr(text, "<IKCoordinate");
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    assert_non_null(cut);
    char *rest = strstr(cut, "</objects>"), *setup = calloc(1, length + 2000);
    *cut = '\0';
    (void)strcpy(setup, text);
    static const char *const names[] = {"extension", "bending", "rotation"};
    for (int i = 0; i < 3; i++)
        (void)sprintf(setup + strlen(setup),
                      "<IKCoordinateTask name=\"lumbar_%s\"><weight>7.4e-5</weight>"
                      "</IKCoordinateTask>",
                      names[i]);
    (void)strcat(setup, rest);
    (void)program_file("gait.xml", setup);
    free(setup);
    free(text);
    (void)snprintf(line, sizeof line, "scale --setup gait.xml --search %s -o gait.osim -o gait.mot",
                   folder);
    program_expect_here(0, "39 of 39 markers placed", line);
    // markers
    (void)snprintf(line, sizeof line, "%s/reference/subject01_simbody.osim", folder);
    char *theirs = slurp(line, &length), *mine = slurp(program_path("gait.osim"), &length);
    double worst = 0;
    int n = 0;
    for (char *at = mine; (at = strstr(at, "<Marker name=\"")) != NULL; at++) {
        char key[200];
        assert_true(sscanf(at, "%150[^>]", key) == 1);
        const char *other = strstr(theirs, key);
        assert_non_null(other);
        double sum = 0;
        for (int x = 0; x < 3; x++)
            sum += pow(read_after(at, "<location>", x) - read_after(other, "<location>", x), 2);
        worst = fmax(worst, sqrt(sum));
        n++;
    }
    if (n != 39 || !(worst < 0.001)) fail_msg("%d markers, off by %g m", n, worst);
    free(theirs);
    free(mine);
    // the pose
    (void)snprintf(line, sizeof line, "%s/reference/subject01_static_output.mot", folder);
    theirs = slurp(line, &length), mine = slurp(program_path("gait.mot"), &length);
    sn_table *a, *b;
    assert_int_equal(sn_sto_read(theirs, strlen(theirs), NULL, &a, NULL), SN_OK);
    assert_int_equal(sn_sto_read(mine, strlen(mine), NULL, &b, NULL), SN_OK);
    n = 0;
    for (int c = 1; c < sn_table_about(b)->ncolumn; c++) {
        const char *name = sn_table_column(b, c);
        int k = sn_table_find(a, name);
        size_t end = strlen(name);
        assert_true(k >= 0);
        bool length_of = name[end - 2] == 't' && strncmp(name, "pelvis_t", 8) == 0;
        double x = sn_table_row(b, 0)[c],
               y = sn_table_row(a, 0)[k] * (length_of ? 1 : 57.29577951308232);
        if (!(fabs(x - y) < (length_of ? 0.001 : 0.3))) fail_msg("%s: %g, not %g", name, x, y);
        n++;
    }
    assert_int_equal(n, 23);
    sn_table_destroy(a);
    sn_table_destroy(b);
    free(theirs);
    free(mine);
}

// Memory that ends at any moment: an error, and all of it given back.
static void without_memory(void **state) {
    (void)state;
    size_t length;
    char *trc = slurp(program_path("s.trc"), &length);
    sn_recording *trial;
    assert_int_equal(sn_trc_read(trc, length, NULL, &trial, NULL), SN_OK);
    free(trc);
    const char *text = SETUP("0 1", "");
    bool good = false;
    for (int n = 0; !good; n++) {
        test_allocator a;
        sn_scale_setup *setup = NULL;
        sn_scaling *scaling = NULL;
        sn_error error = {0};
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_scale_setup_read(text, strlen(text), &a.base, &setup, &error);
        sn_scaling_input in = {.model = model4,
                               .model_length = strlen(model4),
                               .setup = setup,
                               .measured = trial,
                               .at_rest = trial};
        if (status == SN_OK) status = sn_scaling_create(&in, &a.base, &scaling, NULL, &error);
        good = status == SN_OK;
        if (!good && status != SN_ERR_MEMORY)
            fail_msg("allocation %d: status %d, %s", n, status, error.text);
        sn_scaling_destroy(scaling);
        sn_scale_setup_destroy(setup);
        if (a.live != 0) fail_msg("allocation %d leaves %ld blocks: %s", n, a.live, error.text);
    }
    sn_recording_destroy(trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ones),
        cmocka_unit_test(grows),
        cmocka_unit_test(weighs),
        cmocka_unit_test(as_a_whole),
        cmocka_unit_test(refused),
        cmocka_unit_test(recovers),
        cmocka_unit_test(sets_in_files),
        cmocka_unit_test(without),
        cmocka_unit_test(complains),
        cmocka_unit_test(as_opensim),
        cmocka_unit_test(as_opensim_placed),
        cmocka_unit_test(without_memory),
    };
    return program_end(cmocka_run_group_tests_name("scale", tests, begin, NULL));
}
