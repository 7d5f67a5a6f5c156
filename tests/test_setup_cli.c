// SPDX-License-Identifier: MIT
// sinew fit --setup as a user meets it: files beside the setup and elsewhere, what goes before them, what is wrong;
// and orientations of sensors.
#define _POSIX_C_SOURCE 200809L
#include "program.h"
#include "support.h"

#define said program_output

// A base that slides in a plane and turns, and a clamped hinge.
static const char model[] =
    "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects><Body name='a'>"
    "<mass>1</mass></Body><Body name='b'><mass>1</mass></Body></objects></BodySet>\n"
    "<JointSet><objects><PlanarJoint name='root'><socket_parent_frame>/ground"
    "</socket_parent_frame><socket_child_frame>/bodyset/a</socket_child_frame><coordinates>"
    "<Coordinate name='turn'/><Coordinate name='x'/><Coordinate name='y'/></coordinates>"
    "</PlanarJoint>\n<PinJoint name='h'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name='bend'>"
    "<range>-1 1</range><clamped>true</clamped></Coordinate></coordinates></PinJoint></objects>"
    "</JointSet>\n<MarkerSet><objects>"
    "<Marker name='A'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<location>0 1.7 0</location></Marker>"
    "<Marker name='B'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<location>0.3 0.9 0</location></Marker>"
    "<Marker name='C'><socket_parent_frame>/bodyset/a</socket_parent_frame>"
    "<location>-0.3 0.9 0</location></Marker>"
    "<Marker name='D'><socket_parent_frame>/bodyset/b</socket_parent_frame>"
    "<location>0.5 0 0</location></Marker>"
    "<Marker name='E'><socket_parent_frame>/bodyset/b</socket_parent_frame>"
    "<location>0.3 0.3 0</location></Marker>"
    "</objects></MarkerSet></Model></OpenSimDocument>\n";

#define TASK(name)    "<IKMarkerTask name='" name "'><weight>1</weight></IKMarkerTask>\n"
#define MARKERS       TASK("A") TASK("B") TASK("C") TASK("D") TASK("E")
#define SETUP(inside) "<InverseKinematicsTool>\n" inside "\n</InverseKinematicsTool>\n"
#define SET(tasks)    "<IKTaskSet><objects>\n" tasks "</objects></IKTaskSet>\n"

static int begin(void **unused) {
    (void)unused;
    if (!program_begin("setup")) return -1;
    // its markers while bend goes beyond its range: TRC through MOT
    char mot[4000] = "m\nversion=1\nnRows=21\nnColumns=5\ninDegrees=no\nendheader\n"
                     "time\tturn\tx\ty\tbend\n";
    for (int f = 0; f < 21; f++) {
        size_t n = strlen(mot);
        (void)snprintf(mot + n, sizeof mot - n, "%.2f\t%.4f\t0.1\t%.4f\t%.4f\n", f / 20.0, 0.01 * f,
                       0.02 * f, 0.06 * f);
    }
    (void)program_file("m.osim", model);
    (void)program_file("m.mot", mot);
    (void)program_file(
        "walk.xml",
        SETUP("<model_file>far\\m.osim</model_file><marker_file>../t.trc"
              "</marker_file>" SET(MARKERS) "<time_range>0.1 0.5</time_range>"
                                            "<output_motion_file>out.mot</output_motion_file>"));
    if (program_here("convert m.osim m.mot -o t.trc") != 0) {
        print_message("%s\n", said);
        return -1;
    }
    return 0;
}

static int end(void **unused) {
    (void)unused;
    return program_end(0);
}

static double *read_motion(const char *name, int *rows, int *columns) {
    size_t length;
    sn_table *t;
    char *text = slurp(program_path(name), &length);
    assert_int_equal(sn_sto_read(text, length, NULL, &t, NULL), SN_OK);
    *rows = sn_table_about(t)->nrow, *columns = sn_table_about(t)->ncolumn;
    size_t n = (size_t)*rows * (size_t)*columns;
    double *out = malloc(n * sizeof *out);
    assert_non_null(out);
    memcpy(out, sn_table_row(t, 0), n * sizeof *out);
    sn_table_destroy(t);
    free(text);
    return out;
}

static void files_are_found_and_written(void **unused) {
    (void)unused;
    int rows, columns;
    // the model by its name alone beside the setup, the markers likewise, the output there
    program_expect_here(0, "out.mot",
                        "fit --setup walk.xml --quiet --derivatives u.sto --bodies b.csv");
    double *q = read_motion("out.mot", &rows, &columns);
    assert_int_equal(rows, 9);
    assert_int_equal(columns, 5);
    assert_near(q[0], 0.1, 1e-9);
    // clamped: beyond 1 radian it stays there
    for (int f = 0; f < rows; f++) assert_true(q[5 * f + 4] <= 57.2958 + 1e-4);
    assert_near(q[4], 0.06 * 2 * 57.29577951, 1e-3);
    free(q);
    q = read_motion("u.sto", &rows, &columns);
    assert_int_equal(columns, 9);
    assert_near(q[4], 0.06 * 20 * 57.29577951, 1e-3);
    free(q);
    assert_true(program_has("b.csv"));
    // -m, -i and -o go before its own; a folder to search
    shell("true");
    char line[400];
    (void)snprintf(line, sizeof line, "mkdir -p '%s/other' && cp '%s/m.osim' '%s/other/m.osim'",
                   program_folder, program_folder, program_folder);
    assert_int_equal(shell(line), 0);
    (void)program_file("far.xml",
                       SETUP("<model_file>n.osim</model_file><marker_file>t.trc</marker_file>" SET(
                           MARKERS) "<output_motion_file>far.mot</output_motion_file>"));
    program_expect_here(3, "far.xml:2: the model \"n.osim\" is neither beside the setup",
                        "fit --setup far.xml");
    (void)snprintf(line, sizeof line, "mv '%s/other/m.osim' '%s/other/n.osim'", program_folder,
                   program_folder);
    assert_int_equal(shell(line), 0);
    program_expect_here(0, "far.mot", "fit --setup far.xml --search other --quiet");
    program_expect_here(0, "mine.mot",
                        "fit --setup far.xml -m m.osim -i t.trc -o mine.mot --quiet");
    // without a setup the clamped range holds, too, unless it is switched off
    program_expect_here(0, "free.mot", "fit -m m.osim -i t.trc -o held.mot -o free.mot --quiet");
    q = read_motion("held.mot", &rows, &columns);
    assert_near(q[5 * 20 + 4], 57.29577951, 1e-6);
    free(q);
    program_expect_here(0, "free.mot", "fit -m m.osim -i t.trc -o free.mot --limits off --quiet");
    q = read_motion("free.mot", &rows, &columns);
    assert_near(q[5 * 20 + 4], 1.2 * 57.29577951, 1e-2);
    free(q);
}

static void wrong_setups_leave_nothing(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *says;
        int code;
    } wrong[] = {
        {"<InverseKinematicsTool>", "bad.xml:", 3},
        {SETUP("<accuracy>-1</accuracy>"), "bad.xml:2: <accuracy> is -1", 3},
        {SETUP(
             SET(MARKERS "<IKCoordinateTask name='bent'><weight>1</weight></IKCoordinateTask>\n")),
         "bad.xml:8: the model has no coordinate \"bent\"", 3},
        {SETUP(SET(MARKERS) "<time_range>5 6</time_range>"),
         "bad.xml:9: <time_range> is 5 to 6 s, and the recording goes from 0 to 1 s", 3},
        {SETUP(SET("<IKMarkerTask name='A'/>")), "bad.xml:3: no task follows a marker", 3},
        {SETUP("<coordinate_file>none.sto</coordinate_file>" SET(MARKERS)),
         "bad.xml:2: the coordinate file \"none.sto\"", 3},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)program_file("bad.xml", wrong[i].text);
        program_expect_here(wrong[i].code, wrong[i].says,
                            "fit --setup bad.xml -m m.osim -i t.trc -o bad.mot");
        assert_false(program_has("bad.mot"));
    }
    program_expect_here(2, "--search belongs to --setup", "fit -m m.osim -i t.trc --search .");
    program_expect_here(2, "--barrier belongs to --setup", "fit -m m.osim -i t.trc --barrier");
    (void)program_file("open.xml", SET(MARKERS));
    program_expect_here(2, "a skeleton (-m) and a recording (-i)",
                        "fit --setup open.xml -m m.osim --search .");
    // what is not honoured is a warning
    (void)program_file("odd.xml", SETUP(SET(MARKERS TASK("Z")) "<smooth>1</smooth>"));
    program_expect_here(0, "WARNING: odd.xml: line 10: <smooth> is not honoured",
                        "fit --setup odd.xml -m m.osim -i t.trc -o odd.mot");
    assert_non_null(strstr(said, "markers that the model lacks: Z"));
}

static void sensors(void **unused) {
    (void)unused;
    (void)program_file("imu.sto", "DataRate=10\nDataType=Quaternion\nversion=3\nendheader\n"
                                  "time\ta_imu\tb_imu\n0\t1,0,0,0\t1,0,0,0\n"
                                  "0.1\t1,0,0,0\t0.9689124217106447,0,0,0.2474039592545229\n"
                                  "0.2\t1,0,0,0\t0.7316888688738209,0,0,0.6816387600233342\n");
    int rows, columns;
    program_expect_here(0, "sensors       2", "fit -m m.osim -i imu.sto -o imu.mot");
    double *q = read_motion("imu.mot", &rows, &columns);
    assert_int_equal(rows, 3);
    assert_near(q[columns + 4], 0.5 * 57.29577951, 1e-6);
    assert_near(q[2 * columns + 4], 57.29577951, 1e-2);  // 1.5 rad, clamped; the base gives way
    free(q);
    (void)program_file("imu.xml", "<IMUInverseKinematicsTool><model_file>m.osim</model_file>"
                                  "<orientations_file>imu.sto</orientations_file>"
                                  "<output_motion_file>byset.mot</output_motion_file>"
                                  "</IMUInverseKinematicsTool>");
    program_expect_here(0, "byset.mot", "fit --setup imu.xml");
    program_expect_here(3, "nobody_imu",
                        "fit -m m.osim -i imu.sto -o n.mot --heading nobody_imu:x");
    program_expect_here(2, "--heading takes a sensor and its axis",
                        "fit -m m.osim -i imu.sto --heading x");
    program_expect_here(2, "--robust is about markers", "fit -m m.osim -i imu.sto --robust");
    assert_false(program_has("n.mot"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_found_and_written),
                                       cmocka_unit_test(wrong_setups_leave_nothing),
                                       cmocka_unit_test(sensors)};
    return cmocka_run_group_tests(tests, begin, end);
}
