// SPDX-License-Identifier: MIT
// OpenSim's inverse kinematics: setups, their objective, the deepest valley of every frame, and how far all of it
// is from OpenSim's own motions.
#include "opensim.h"
#include "support.h"
#include "track/barrier.h"

// --- setups ----------------------------------------------------------------------------------------------

static sn_ik_setup *read_setup(const char *text) {
    sn_ik_setup *setup = NULL;
    sn_error error = {0};
    if (sn_ik_setup_read(text, strlen(text), NULL, &setup, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return setup;
}

static void a_setup_is_read(void **unused) {
    (void)unused;
    sn_ik_setup *s = read_setup(
        "<?xml version=\"1.0\"?>\n<OpenSimDocument Version=\"30000\">\n"
        "<InverseKinematicsTool name=\"walk\">\n<model_file> m.osim </model_file>\n"
        "<constraint_weight>Inf</constraint_weight>\n<accuracy>1e-6</accuracy>\n"
        "<IKTaskSet>\n<objects>\n<IKMarkerTask name=\"A\"><apply>false</apply>\n"
        "<weight>2</weight></IKMarkerTask>\n<IKMarkerTask name=\"B\"/>\n"
        "<IKCoordinateTask name=\"q\"><weight>3</weight><value_type>manual_value</value_type>"
        "<value>0.5</value></IKCoordinateTask>\n"
        "<IKCoordinateTask name=\"r\"><value_type>from_file</value_type></IKCoordinateTask>\n"
        "</objects></IKTaskSet>\n<marker_file>a b.trc</marker_file>\n"
        "<coordinate_file>Unassigned</coordinate_file>\n<time_range> 0.25 1</time_range>\n"
        "<output_motion_file>out.mot</output_motion_file>\n<optimizer>x</optimizer>\n"
        "</InverseKinematicsTool></OpenSimDocument>\n");
    const sn_ik_setup_info *i = sn_ik_setup_about(s);
    assert_string_equal(i->name, "walk");
    assert_string_equal(i->model_file, "m.osim");
    assert_int_equal(i->model_line, 4);
    assert_string_equal(i->marker_file, "a b.trc");
    assert_string_equal(i->coordinate_file, "");
    assert_string_equal(i->output_file, "out.mot");
    assert_true(i->accuracy == 1e-6 && i->first_time == 0.25 && i->last_time == 1);
    assert_true(isinf(i->constraint_weight));
    assert_int_equal(i->ntask, 4);
    const sn_ik_task *t = sn_ik_setup_task(s, 0);
    assert_true(!t->coordinate && !t->apply && t->weight == 2 && t->line == 9);
    // OpenSim's defaults
    t = sn_ik_setup_task(s, 1);
    assert_true(t->apply && t->weight == 0);
    t = sn_ik_setup_task(s, 2);
    assert_true(t->coordinate && t->from == SN_IK_MANUAL && t->value == 0.5 && t->weight == 3);
    assert_int_equal(sn_ik_setup_task(s, 3)->from, SN_IK_FROM_FILE);
    // what is not honoured is said with its line
    assert_non_null(strstr(i->note, "line 19: <optimizer>"));
    sn_ik_setup_destroy(s);
    // a task set alone leaves all else open
    s = read_setup("<OpenSimDocument Version='40000'><IKTaskSet><objects><IKMarkerTask name='A'>"
                   "<weight>1</weight></IKMarkerTask></objects></IKTaskSet></OpenSimDocument>");
    i = sn_ik_setup_about(s);
    assert_int_equal(i->ntask, 1);
    assert_true(i->model_file[0] == '\0' && isinf(i->first_time) && i->accuracy == 1e-5);
    // and one in a file of its own takes the place of the others
    const char *other = "<IKTaskSet><objects><IKMarkerTask name='C'/><IKMarkerTask name='D'/>"
                        "</objects></IKTaskSet>";
    assert_int_equal(sn_ik_setup_read_tasks(s, other, strlen(other), NULL), SN_OK);
    assert_int_equal(i->ntask, 2);
    assert_string_equal(sn_ik_setup_task(s, 1)->name, "D");
    sn_ik_setup_destroy(s);
}

#define TOOL(inside)  "<InverseKinematicsTool>\n" inside "\n</InverseKinematicsTool>"
#define TASKS(inside) TOOL("<IKTaskSet><objects>\n" inside "\n</objects></IKTaskSet>")

static void wrong_setups_get_a_line(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } wrong[] = {
        {"", 1, ""},
        {"<OpenSimDocument><ScaleTool/></OpenSimDocument>", 1, "no <InverseKinematicsTool>"},
        {TOOL("<accuracy>0</accuracy>"), 2, "must be above 0"},
        {TOOL("<accuracy>x</accuracy>"), 2, "\"x\" is not a number"},
        {TOOL("<constraint_weight>-1</constraint_weight>"), 2, "0 or above"},
        {TOOL("<time_range>2 1</time_range>"), 2, "before it begins"},
        {TOOL("<time_range>2</time_range>"), 2, "needs 2 numbers, here are 1"},
        {TOOL("<report_errors>maybe</report_errors>"), 2, "neither true nor false"},
        {TASKS("<IKMarkerTask/>"), 3, "has no name"},
        {TASKS("<IKMarkerTask name='A'><weight>-2</weight></IKMarkerTask>"), 3, "is -2"},
        {TASKS("<IKMarkerTask name='A'><weight>inf</weight></IKMarkerTask>"), 3, "from 0 to 1e12"},
        {TASKS("<IKCoordinateTask name='A'><value_type>odd</value_type></IKCoordinateTask>"), 3,
         "none of default_value"},
        {TASKS("<IKMarkerTask name='A'/>\n<IKMarkerTask name='A'/>"), 4, "on line 3"},
        {TASKS("<IKMarkerTask name='A'"), 4, ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sn_ik_setup *setup = NULL;
        sn_error error = {0};
        sn_status status =
            sn_ik_setup_read(wrong[i].text, strlen(wrong[i].text), NULL, &setup, &error);
        if (status == SN_OK || setup != NULL || error.line != wrong[i].line ||
            strstr(error.text, wrong[i].says) == NULL)
            fail_msg("%s: status %d, line %d: %s", wrong[i].text, status, error.line, error.text);
    }
}

static void memory_may_run_out(void **unused) {
    (void)unused;
    static const char text[] =
        TASKS("<IKMarkerTask name='A'><weight>1</weight></IKMarkerTask>\n<Odd/>");
    for (int n = 0;; n++) {
        test_allocator a;
        sn_ik_setup *setup = NULL;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_ik_setup_read(text, sizeof text - 1, &a.base, &setup, NULL);
        sn_ik_setup_destroy(setup);
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
        assert_true(n < 100);
    }
}

// --- coordinates, small takes ----------------------------------------------------------------------------

// A pelvis that slides along x and y and turns, an upper arm, a forearm whose elbow is clamped.
static const char arm[] =
    "<OpenSimDocument Version='40000'><Model name='arm'><BodySet><objects>"
    "<Body name='base'/><Body name='upper'/><Body name='fore'/></objects></BodySet>"
    "<JointSet><objects>"
    "<CustomJoint name='root'><socket_parent_frame>/ground</socket_parent_frame>"
    "<socket_child_frame>/bodyset/base</socket_child_frame>"
    "<coordinates><Coordinate name='x'/><Coordinate name='y'><default_value>1</default_value>"
    "</Coordinate><Coordinate name='turn'><range>-3 3</range></Coordinate></coordinates>"
    "<SpatialTransform><TransformAxis name='rotation1'><coordinates>turn</coordinates>"
    "<axis>0 0 1</axis></TransformAxis><TransformAxis name='translation1'>"
    "<coordinates>x</coordinates><axis>1 0 0</axis></TransformAxis>"
    "<TransformAxis name='translation2'><coordinates>y</coordinates><axis>0 1 0</axis>"
    "</TransformAxis></SpatialTransform></CustomJoint>"
    "<PinJoint name='shoulder'><socket_parent_frame>/bodyset/base</socket_parent_frame>"
    "<socket_child_frame>/bodyset/upper</socket_child_frame><coordinates>"
    "<Coordinate name='lift'><range>-3.2 3.2</range><clamped>true</clamped>%s</Coordinate>"
    "</coordinates></PinJoint>"
    "<PinJoint name='elbow'><socket_parent_frame>at_elbow</socket_parent_frame>"
    "<socket_child_frame>/bodyset/fore</socket_child_frame><coordinates>"
    "<Coordinate name='bend'><default_value>0.3</default_value><range>0 2.5</range>"
    "<clamped>true</clamped></Coordinate></coordinates><frames>"
    "<PhysicalOffsetFrame name='at_elbow'><socket_parent>/bodyset/upper</socket_parent>"
    "<translation>0.3 0 0</translation></PhysicalOffsetFrame></frames></PinJoint>"
    "</objects></JointSet><MarkerSet><objects>"
    "<Marker name='A'><socket_parent_frame>/bodyset/base</socket_parent_frame>"
    "<location>0 0 0.1</location></Marker>"
    "<Marker name='B'><socket_parent_frame>/bodyset/base</socket_parent_frame>"
    "<location>-0.2 0.1 0</location></Marker>"
    "<Marker name='C'><socket_parent_frame>/bodyset/base</socket_parent_frame>"
    "<location>-0.2 -0.3 0</location></Marker>"
    "<Marker name='E'><socket_parent_frame>/bodyset/upper</socket_parent_frame>"
    "<location>0.3 0 0</location></Marker>"
    "<Marker name='H'><socket_parent_frame>/bodyset/fore</socket_parent_frame>"
    "<location>0.25 0 0</location></Marker>"
    "</objects></MarkerSet></Model></OpenSimDocument>";

enum { FRAMES = 40 };

typedef struct small {
    sn_document model;
    sn_recording *recording;
    sn_ik_setup *setup;
    sn_take *take;
} small;

// The model with more about `lift`, and what its markers do when lift goes once round and the elbow bends.
static void make_small(small *s, const char *more, const char *tasks) {
    char text[8000];
    sn_error error = {0};
    *s = (small){0};
    (void)snprintf(text, sizeof text, arm, more);
    if (sn_document_read(text, strlen(text), "arm.osim", NULL, NULL, &s->model, &error) != SN_OK)
        fail_msg("%s", error.text);
    s->setup = read_setup(tasks);
    const sn_model *m = s->model.model;
    sn_motion *motion;
    assert_int_equal(sn_motion_create(FRAMES, sn_model_nq(m), 1, 50, NULL, &motion, NULL), SN_OK);
    for (int f = 0; f < FRAMES; f++) {
        double *q = sn_motion_edit(motion, f), t = f / (FRAMES - 1.0);
        q[0] = 0.2 * t, q[1] = 1 + 0.1 * t, q[2] = 0.5 - t;
        q[3] = remainder(2 + 6 * t, 2 * acos(-1.0));
        q[4] = 1.2 + sin(5 * t);
    }
    assert_int_equal(sn_marker_paths(m, motion, NULL, &s->recording, NULL), SN_OK);
    sn_motion_destroy(motion);
}

static sn_status run_small(small *s, const sn_table *values, int threads) {
    sn_take_options o = sn_take_options_default();
    sn_error error = {0};
    o.coordinates = s->model.coordinates;
    o.setup = s->setup;
    o.coordinate_values = values;
    o.threads = threads;
    sn_take_destroy(s->take);
    sn_status status = sn_take_create(s->model.model, s->recording, &o, NULL, &s->take, &error);
    if (status == SN_OK) status = sn_take_prepare(s->take);
    return status == SN_OK ? sn_take_finish(s->take) : status;
}

static void end_small(small *s) {
    sn_take_destroy(s->take);
    sn_ik_setup_destroy(s->setup);
    sn_recording_destroy(s->recording);
    sn_document_destroy(&s->model);
}

#define MARKERS                                                                                    \
    "<IKMarkerTask name='A'><weight>1</weight></IKMarkerTask>"                                     \
    "<IKMarkerTask name='B'><weight>1</weight></IKMarkerTask>"                                     \
    "<IKMarkerTask name='C'><weight>2</weight></IKMarkerTask>"                                     \
    "<IKMarkerTask name='E'><weight>4</weight></IKMarkerTask>"                                     \
    "<IKMarkerTask name='H'><weight>4</weight></IKMarkerTask>"

// An arm that goes once round past the ends of a whole turn is followed all the way, with the same bits on
// any number of threads.
static void an_arm_goes_round(void **unused) {
    (void)unused;
    small s;
    double bits[FRAMES * 5];
    make_small(&s, "", TASKS(MARKERS));
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(run_small(&s, NULL, threads), SN_OK);
        assert_true(sn_take_about(s.take)->fit.rms < 1e-6);
        const double *q = sn_motion_frame(sn_take_motion(s.take), 0);
        for (int f = 0; f < FRAMES; f++) assert_true(q[5 * f + 4] >= 0 && q[5 * f + 4] <= 2.5);
        if (threads > 1) assert_memory_equal(bits, q, sizeof bits);
        memcpy(bits, q, sizeof bits);
    }
    end_small(&s);
}

static bool is_told(const sn_take *t, sn_finding_code code) {
    for (int i = 0; i < sn_take_nfinding(t); i++)
        if (sn_take_finding(t, i)->code == code) return true;
    return false;
}

// A generic model is scaled without being asked to, and stays as it is where it fits; a scaled one is left alone, and
// a static trial that says nothing then is told of.
static void a_generic_model_is_scaled(void **unused) {
    (void)unused;
    for (int generic = 0; generic < 2; generic++) {
        static const char picture[] =
            "<Body name='upper'><attached_geometry><Mesh name='m'><scale_factors>%s</scale_factors>"
            "<mesh_file>a.vtp</mesh_file></Mesh></attached_geometry></Body>";
        char text[sizeof arm + 400], body[300];
        const char *at = strstr(arm, "<Body name='upper'/>"), *behind = at + 20;
        (void)snprintf(body, sizeof body, picture, generic ? "1 1 1" : "1.1 1.1 1.1");
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - arm), arm, body, behind);
        char *percent = strstr(text, "%s");
        memmove(percent, percent + 2, strlen(percent + 2) + 1);
        small s;
        make_small(&s, "", TASKS(MARKERS));
        sn_document_destroy(&s.model);
        assert_int_equal(
            sn_document_read(text, strlen(text), "arm.osim", NULL, NULL, &s.model, NULL), SN_OK);
        sn_take_options o = sn_take_options_default();
        o.coordinates = s.model.coordinates;
        o.still_first = 1, o.still_last = 5;
        assert_int_equal(sn_take_create(s.model.model, s.recording, &o, NULL, &s.take, NULL),
                         SN_OK);
        assert_int_equal(sn_take_prepare(s.take), SN_OK);
        assert_int_equal(sn_take_finish(s.take), SN_OK);
        const sn_take_summary *about = sn_take_about(s.take);
        assert_true(about->reshaped == (generic == 1));
        assert_true(is_told(s.take, SN_FINDING_MODEL_GENERIC) == (generic == 1));
        assert_true(is_told(s.take, SN_FINDING_STATIC_UNUSED) == (generic == 0));
        if (generic) assert_true(about->shortest > 0.9 && about->longest < 1.1);
        end_small(&s);
    }
}

// A take with a setup when allocation N fails, once and from then on.
static void memory_of_a_take_may_run_out(void **unused) {
    (void)unused;
    small s;
    make_small(
        &s, "",
        TASKS(MARKERS "<IKCoordinateTask name='bend'><weight>1</weight></IKCoordinateTask>"));
    for (int forever = 0; forever < 2; forever++) {
        for (int n = 0;; n++) {
            test_allocator a;
            sn_take *take = NULL;
            sn_take_options o = sn_take_options_default();
            o.coordinates = s.model.coordinates;
            o.setup = s.setup;
            o.last_frame = 3;
            o.limits = SN_LIMITS_HARD;
            test_allocator_begin(&a);
            a.fail_at = n;
            a.fail_after = forever;
            sn_status status = sn_take_create(s.model.model, s.recording, &o, &a.base, &take, NULL);
            if (status == SN_OK) status = sn_take_prepare(take);
            if (status == SN_OK) status = sn_take_finish(take);
            sn_take_destroy(take);
            assert_int_equal(a.live, 0);
            if (status == SN_OK) break;
            assert_int_equal(status, SN_ERR_MEMORY);
            assert_true(n < 2000);
        }
    }
    end_small(&s);
}

static const char *last_sentence(const sn_take *take) {
    static char text[1000];
    (void)sn_take_sentence(take, sn_take_nfinding(take) - 1, SN_VOICE_PLAIN, text, sizeof text);
    return text;
}

static void what_cannot_be_is_refused(void **unused) {
    (void)unused;
    static const struct {
        const char *more, *setup, *says;
        int line;
    } wrong[] = {
        {"", TASKS("<IKMarkerTask name='A'><weight>0</weight></IKMarkerTask>"), "weight 0", 3},
        {"", TASKS(MARKERS "\n<IKCoordinateTask name='bent'><weight>1</weight></IKCoordinateTask>"),
         "no coordinate \"bent\"", 4},
        {"",
         TASKS(MARKERS "\n<IKCoordinateTask name='bend'><weight>1</weight>"
                       "<value_type>from_file</value_type></IKCoordinateTask>"),
         "<coordinate_file> names none", 4},
        {"",
         TOOL("<time_range>7 8</time_range><IKTaskSet><objects>" MARKERS "</objects></IKTaskSet>"),
         "<time_range> is 7 to 8 s", 2},
        {"<locked>true</locked><default_value>4</default_value>", TASKS(MARKERS),
         "is locked at 4, and clamped", 0},
        {"<prescribed>true</prescribed><prescribed_function><Constant><value>5</value></Constant>"
         "</prescribed_function>",
         TASKS(MARKERS), "is prescribed at 5, and clamped", 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        small s;
        make_small(&s, wrong[i].more, wrong[i].setup);
        assert_int_equal(run_small(&s, NULL, 1), SN_ERR_VALUE);
        const sn_finding *f = sn_take_finding(s.take, sn_take_nfinding(s.take) - 1);
        if (f == NULL || f->code != SN_FINDING_SETUP || f->number[0] != wrong[i].line ||
            strstr(f->text, wrong[i].says) == NULL)
            fail_msg("%s: %s", wrong[i].says, last_sentence(s.take));
        assert_null(sn_take_motion(s.take));
        end_small(&s);
    }
}

// A prescribed coordinate is where its function is, frame by frame, with a setup and without.
static void prescribed_values_hold(void **unused) {
    (void)unused;
    for (int with = 0; with < 2; with++) {
        small s;
        make_small(&s,
                   "<prescribed>true</prescribed><prescribed_function><LinearFunction>"
                   "<coefficients>2 0.5</coefficients></LinearFunction></prescribed_function>",
                   TASKS(MARKERS));
        if (with == 0) {
            sn_ik_setup_destroy(s.setup);
            s.setup = NULL;
        }
        assert_int_equal(run_small(&s, NULL, 1), SN_OK);
        for (int f = 0; f < FRAMES; f++)
            assert_near(sn_motion_frame(sn_take_motion(s.take), f)[3], 2 * f / 50.0 + 0.5, 1e-12);
        end_small(&s);
    }
}

static double bend_in_file(int frame) { return 10 + frame - 0.02 * frame * frame; }  // degrees

// The objective: 1/2 sum w r^2 / sum w + 1/2 sum w_c (q - q0)^2, and the pose is its bottom; times cut the take;
// values come from the task, the model or the file.
static void coordinate_tasks_pull(void **unused) {
    (void)unused;
    static const char *const from[] = {
        "<value_type>manual_value</value_type><value>0.7</value>",
        "<value_type>default_value</value_type>",
        "<value_type>from_file</value_type>",
    };
    sn_table_info info = sn_table_info_default();
    static const char *const names[] = {"time", "bend"};
    sn_table *values;
    // every third frame: between the rows a spline, which a parabola comes back from
    info.nrow = FRAMES / 3 + 1, info.ncolumn = 2, info.time = 0, info.in_degrees = true;
    assert_int_equal(sn_table_create(&info, names, NULL, &values, NULL), SN_OK);
    for (int f = 0; f < info.nrow; f++) {
        sn_table_edit(values, f)[0] = 3 * f / 50.0;
        sn_table_edit(values, f)[1] = bend_in_file(3 * f);
    }
    for (int k = 0; k < 3; k++) {
        small s;
        char text[2000];
        (void)snprintf(text, sizeof text,
                       TOOL("<time_range>0.1 0.5</time_range><IKTaskSet><objects>" MARKERS
                            "<IKCoordinateTask name='bend'><weight>50</weight>%s"
                            "</IKCoordinateTask></objects></IKTaskSet>"),
                       from[k]);
        make_small(&s, "", text);
        assert_int_equal(run_small(&s, k == 2 ? values : NULL, 1), SN_OK);
        assert_int_equal(sn_take_about(s.take)->first, 5);
        assert_int_equal(sn_take_about(s.take)->count, 21);
        double f[21];
        assert_int_equal(sn_take_objective(s.take, sn_take_motion(s.take), f), SN_OK);
        sn_recording *ours;
        assert_int_equal(
            sn_marker_paths(sn_take_model(s.take), sn_take_motion(s.take), NULL, &ours, NULL),
            SN_OK);
        for (int n = 0; n < 21; n++) {
            double sum = 0, weights = 0, bend = sn_motion_frame(sn_take_motion(s.take), n)[4];
            double wanted = k == 0 ? 0.7 : k == 1 ? 0.3 : bend_in_file(5 + n) * acos(-1.0) / 180;
            for (int i = 0; i < 5; i++) {
                double w = sn_model_marker(sn_take_model(s.take), i)->weight, r2 = 0;
                for (int c = 0; c < 3; c++)
                    r2 += pow(sn_recording_frame(ours, n)[3 * i + c] -
                                  sn_recording_frame(s.recording, 5 + n)[3 * i + c],
                              2);
                sum += w * r2;
                weights += w;
            }
            assert_near(f[n], 0.5 * sum / weights + 0.5 * 50 * pow(bend - wanted, 2), 1e-12);
            // 50 against levers of a quarter of a metre
            assert_true(fabs(bend - wanted) < 0.01);
        }
        sn_recording_destroy(ours);
        end_small(&s);
    }
    sn_table_destroy(values);
}

// --- OpenSim's own takes ---------------------------------------------------------------------------------

// The files of a case; skipped without the data.
static void load_case(int which, opensim_files *files) {
    const char *there = data_path("biomech/subject4/expert.osim");
    if (there == NULL) skip();
    char folder[1000];
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strstr(there, "/subject4/") - there),
                   there);
    assert_true(opensim_load(&opensim_cases[which], folder, files));
}

static void compare(int which) {
    const opensim_case *c = &opensim_cases[which];
    opensim_files files;
    opensim_result r;
    load_case(which, &files);
    assert_true(opensim_compare(&files, false, &r, NULL, NULL));
    printf("%s: %d frames, objective at most %.7f of OpenSim's, %.3f degrees apart\n", c->name,
           r.frames, r.worst, r.apart);
    assert_true(r.frames > 70 && r.worst <= 1.000001 && r.apart <= c->apart);
    if (c->apart_barrier > 0) {
        assert_true(opensim_compare(&files, true, &r, NULL, NULL));
        printf("%s: %.3f degrees apart with the barrier\n", c->name, r.apart);
        assert_true(r.apart <= c->apart_barrier);
    }
    // 50 starts a frame in `make soak`, where SINEW_CASES is 25 or more
    int tried, starts = cases(2), every = starts >= 50 ? 1 : 7;
    int lower = opensim_other_starts(&files, starts < 50 ? starts : 50, every, 7, &tried);
    printf("%s: %d other starts in each of %d frames: %d frames lower\n", c->name,
           starts < 50 ? starts : 50, tried, lower);
    assert_int_equal(lower, 0);
    opensim_free(&files);
}

static sn_take *fitted_case(const opensim_files *files, const sn_take_options *options) {
    sn_take *take;
    assert_int_equal(
        sn_take_create(files->model.model, files->markers.recording, options, NULL, &take, NULL),
        SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    assert_int_equal(sn_take_finish(take), SN_OK);
    return take;
}

// A frame by itself has the angles that it has in the take, and no whole turn more.
static void frames_alone(void **unused) {
    (void)unused;
    opensim_files files;
    load_case(4, &files);
    sn_take_options o = sn_take_options_default();
    o.coordinates = files.model.coordinates;
    o.setup = files.setup;
    sn_take *whole = fitted_case(&files, &o);
    for (int frame = 1; frame < 151; frame += 7) {
        o.first_frame = o.last_frame = 1 + frame;
        sn_take *alone = fitted_case(&files, &o);
        const double *q = sn_motion_frame(sn_take_motion(whole), frame);
        const double *p = sn_motion_frame(sn_take_motion(alone), 0);
        for (int i = 0; i < sn_model_nq(files.model.model); i++) assert_near(p[i], q[i], 1e-3);
        sn_take_destroy(alone);
    }
    sn_take_destroy(whole);
    opensim_free(&files);
}

// Without a setup a motion is looked for, not frame after frame: arms that a limit parts from a better valley do not
// jump there and back.
static void no_jumps_without_a_setup(void **unused) {
    (void)unused;
    opensim_files files;
    sn_take_options o = sn_take_options_default();
    load_case(2, &files);
    o.coordinates = files.model.coordinates;
    sn_take *take = fitted_case(&files, &o);
    for (int i = 0; i < sn_take_nfinding(take); i++)
        assert_int_not_equal(sn_take_finding(take, i)->code, SN_FINDING_JOINT_JUMPS);
    // its clamped ranges hold all the same
    const sn_model *m = sn_take_model(take);
    for (int k = 0; k < sn_osim_coordinates_count(o.coordinates); k++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(o.coordinates, k);
        if (c->at.joint < 0 || !c->clamped || c->locked) continue;
        int q = sn_model_q_index(m, c->at.joint) + c->at.index;
        for (int f = 0; f < sn_take_about(take)->count; f++) {
            double x = sn_motion_frame(sn_take_motion(take), f)[q];
            assert_true(x >= c->lower - 1e-9 && x <= c->upper + 1e-9);
        }
    }
    assert_true(sn_take_about(take)->fit.rms < 0.0165);
    sn_take_destroy(take);
    opensim_free(&files);
}

// Where a lab puts its origin is no matter of the body: 8 m away, where the file's range of pelvis_tz ends at 3, the
// angles are the same. Limits that are asked for, or a setup's, hold.
static void anywhere_in_the_room(void **unused) {
    (void)unused;
    opensim_files files;
    sn_take_options o = sn_take_options_default();
    load_case(2, &files);
    o.coordinates = files.model.coordinates;
    sn_take *here = fitted_case(&files, &o);
    sn_recording *r = files.markers.recording;
    for (int f = 0; f < sn_recording_about(r)->nframe; f++)
        for (int m = 0; m < sn_recording_about(r)->nmarker; m++)
            for (int k = 0; k < 3; k += 2) sn_recording_edit(r, f)[3 * m + k] += 8;
    sn_take *there = fitted_case(&files, &o);
    assert_near(sn_take_about(there)->fit.rms, sn_take_about(here)->fit.rms, 1e-6);
    int knee = -1;
    for (int j = 0; j < sn_model_njoint(sn_take_model(here)); j++)
        if (strstr(sn_model_joint(sn_take_model(here), j)->name, "knee") != NULL && knee < 0)
            knee = sn_model_q_index(sn_take_model(here), j);
    assert_true(knee >= 0);
    for (int f = 0; f < sn_take_about(here)->count; f++)
        assert_near(sn_motion_frame(sn_take_motion(there), f)[knee],
                    sn_motion_frame(sn_take_motion(here), f)[knee], 1e-3);
    o.limits = SN_LIMITS_HARD;
    sn_take *held = fitted_case(&files, &o);
    assert_true(sn_take_about(held)->fit.rms > 1);
    sn_take_destroy(held);
    sn_take_destroy(there);
    sn_take_destroy(here);
    opensim_free(&files);
}

static void walking_with_arms(void **unused) {
    (void)unused;
    compare(0);
}

static void squats(void **unused) {
    (void)unused;
    if (cases(100) < 1000) skip();  // long: in make soak
    compare(1);
}

static void a_drop_jump(void **unused) {
    (void)unused;
    compare(2);
}

static void gait_with_coordinate_tasks(void **unused) {
    (void)unused;
    compare(3);
}

static void knees_that_splines_move(void **unused) {
    (void)unused;
    compare(4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_setup_is_read),
                                       cmocka_unit_test(wrong_setups_get_a_line),
                                       cmocka_unit_test(memory_may_run_out),
                                       cmocka_unit_test(an_arm_goes_round),
                                       cmocka_unit_test(a_generic_model_is_scaled),
                                       cmocka_unit_test(memory_of_a_take_may_run_out),
                                       cmocka_unit_test(what_cannot_be_is_refused),
                                       cmocka_unit_test(prescribed_values_hold),
                                       cmocka_unit_test(coordinate_tasks_pull),
                                       cmocka_unit_test(frames_alone),
                                       cmocka_unit_test(no_jumps_without_a_setup),
                                       cmocka_unit_test(anywhere_in_the_room),
                                       cmocka_unit_test(walking_with_arms),
                                       cmocka_unit_test(squats),
                                       cmocka_unit_test(a_drop_jump),
                                       cmocka_unit_test(gait_with_coordinate_tasks),
                                       cmocka_unit_test(knees_that_splines_move)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
