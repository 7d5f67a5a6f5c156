// SPDX-License-Identifier: MIT
// Orientations of sensors as OpenSense has them, and what can be written about a motion: velocities, bodies.
#include "math/rotation.h"
#include "support.h"

static const double pi = 3.14159265358979323846;

// Two hinges and a ball of three angles on a base that slides; `fore` has the frame of a sensor of its own.
static const char figure[] =
    "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects>"
    "<Body name='pelvis'><mass>2</mass><mass_center>0 0.1 0</mass_center></Body>"
    "<Body name='thigh'><mass>1</mass></Body><Body name='shank'><mass>1</mass>"
    "<mass_center>0 -0.2 0</mass_center><components><PhysicalOffsetFrame name='shank_imu'>"
    "<socket_parent>..</socket_parent><orientation>0.3 0 0.2</orientation></PhysicalOffsetFrame>"
    "</components></Body></objects></BodySet><JointSet><objects>"
    "<CustomJoint name='root'><socket_parent_frame>/ground</socket_parent_frame>"
    "<socket_child_frame>/bodyset/pelvis</socket_child_frame><coordinates>"
    "<Coordinate name='tilt'/><Coordinate name='list'/><Coordinate name='rotation'/>"
    "<Coordinate name='ty'><default_value>1</default_value></Coordinate></coordinates>"
    "<SpatialTransform>"
    "<TransformAxis name='rotation1'><coordinates>tilt</coordinates><axis>0 0 1</axis>"
    "</TransformAxis><TransformAxis name='rotation2'><coordinates>list</coordinates>"
    "<axis>1 0 0</axis></TransformAxis><TransformAxis name='rotation3'>"
    "<coordinates>rotation</coordinates><axis>0 1 0</axis></TransformAxis>"
    "<TransformAxis name='translation2'><coordinates>ty</coordinates><axis>0 1 0</axis>"
    "</TransformAxis></SpatialTransform></CustomJoint>"
    "<PinJoint name='hip'><socket_parent_frame>/bodyset/pelvis</socket_parent_frame>"
    "<socket_child_frame>/bodyset/thigh</socket_child_frame><coordinates>"
    "<Coordinate name='hip_flexion'><default_value>0.2</default_value><range>-1 2</range>"
    "<clamped>true</clamped></Coordinate></coordinates></PinJoint>"
    "<PinJoint name='knee'><socket_parent_frame>at_knee</socket_parent_frame>"
    "<socket_child_frame>/bodyset/shank</socket_child_frame><coordinates>"
    "<Coordinate name='knee_angle'><range>0 2.4</range><clamped>true</clamped></Coordinate>"
    "</coordinates><frames><PhysicalOffsetFrame name='at_knee'><socket_parent>/bodyset/thigh"
    "</socket_parent><translation>0 -0.4 0</translation></PhysicalOffsetFrame></frames></PinJoint>"
    "</objects></JointSet></Model></OpenSimDocument>";

enum { ROWS = 60 };

static sn_document read_figure(void) {
    sn_document d;
    sn_error error = {0};
    if (sn_document_read(figure, strlen(figure), "m.osim", NULL, NULL, &d, &error) != SN_OK)
        fail_msg("%s", error.text);
    return d;
}

static int place_of(const sn_document *d, const char *name) {
    int i = sn_osim_coordinate_find(d->coordinates, name);
    const sn_osim_coordinate_info *c = sn_osim_coordinate_at(d->coordinates, i);
    assert_non_null(c);
    return sn_model_q_index(d->model, c->at.joint) + c->at.index;
}

// A known motion that begins at the defaults, turned about y by `heading`.
static sn_motion *make_motion(const sn_document *d, double heading) {
    sn_motion *m;
    assert_int_equal(sn_motion_create(ROWS, sn_model_nq(d->model), 1, 100, NULL, &m, NULL), SN_OK);
    for (int f = 0; f < ROWS; f++) {
        double *q = sn_motion_edit(m, f), t = f / (ROWS - 1.0);
        q[place_of(d, "ty")] = 1;
        q[place_of(d, "tilt")] = 0.3 * sin(4 * t);
        q[place_of(d, "list")] = 0.1 * sin(7 * t);
        q[place_of(d, "rotation")] = heading + 2 * t * t;
        q[place_of(d, "hip_flexion")] = 0.2 + 0.8 * sin(6 * t);
        q[place_of(d, "knee_angle")] = 1 - cos(5 * t);
    }
    return m;
}

// What three sensors would say: stuck on askew (but the shank's, whose frame the model has), in a world whose
// z is up.
static sn_table *measure(const sn_document *d, const sn_motion *motion) {
    static const char *const bodies[] = {"pelvis", "thigh", "shank_imu"};
    static const char *const names[] = {
        "time",         "pelvis_imu.q0", "pelvis_imu.q1", "pelvis_imu.q2", "pelvis_imu.q3",
        "thigh_imu.q0", "thigh_imu.q1",  "thigh_imu.q2",  "thigh_imu.q3",  "shank_imu.q0",
        "shank_imu.q1", "shank_imu.q2",  "shank_imu.q3",  "hat_imu.q0",    "hat_imu.q1",
        "hat_imu.q2",   "hat_imu.q3"};
    sn_table_info info = sn_table_info_default();
    sn_table *table;
    sn_problem *problem;
    sn_workspace *ws;
    info.nrow = ROWS, info.ncolumn = 17, info.time = 0;
    assert_int_equal(sn_table_create(&info, names, NULL, &table, NULL), SN_OK);
    assert_int_equal(sn_problem_create(d->model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    // from y up to z up
    sn_quat up = sn_quat_exp((sn_vec3){pi / 2, 0, 0});
    for (int f = 0; f < ROWS; f++) {
        double *row = sn_table_edit(table, f);
        row[0] = 2 + f / 100.0;
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
        for (int i = 0; i < 3; i++) {
            sn_frame on;
            int joint = sn_osim_frame_find(d->coordinates, bodies[i], &on);
            assert_true(joint >= 0);
            sn_quat q = sn_quat_mul(sn_quat_from_mat3(sn_workspace_frame(ws, joint).R),
                                    sn_quat_from_mat3(on.R));
            if (i < 2) q = sn_quat_mul(q, sn_quat_exp((sn_vec3){0.4 + i, -0.7, 1.1 * i}));
            q = sn_quat_mul(up, q);
            const double wxyz[4] = {q.w, q.x, q.y, q.z};
            memcpy(row + 1 + 4 * i, wxyz, sizeof wxyz);
        }
        for (int k = 0; k < 4; k++) row[13 + k] = k == 0;
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return table;
}

#define SETUP                                                                                      \
    "<IMUInverseKinematicsTool><sensor_to_opensim_rotations>-1.5707963267948966 0 0"               \
    "</sensor_to_opensim_rotations>%s</IMUInverseKinematicsTool>"

static sn_ik_setup *make_setup(const char *more) {
    char text[1000];
    sn_error error = {0};
    sn_ik_setup *setup;
    (void)snprintf(text, sizeof text, SETUP, more);
    if (sn_ik_setup_read(text, strlen(text), NULL, &setup, &error) != SN_OK)
        fail_msg("%s", error.text);
    return setup;
}

static void sensors_give_the_motion(void **unused) {
    (void)unused;
    sn_document d = read_figure();
    sn_motion *truth = make_motion(&d, 0), *motion, *again;
    sn_table *table = measure(&d, truth);
    sn_ik_setup *setup = make_setup("<time_range>2.1 2.4</time_range>");
    sn_imu_options o = sn_imu_options_default();
    sn_imu_report report;
    sn_error error = {0};
    o.coordinates = d.coordinates;
    o.setup = setup;
    if (sn_imu_fit(d.model, table, &o, NULL, &motion, &report, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(report.sensors, 3);
    assert_int_equal(report.first, 10);
    assert_int_equal(report.count, 31);
    assert_string_equal(report.unknown, "hat_imu");
    assert_true(report.rms < 1e-5);
    double most = 0;
    for (int f = 0; f < report.count; f++)
        for (int i = 0; i < sn_model_nq(d.model); i++)
            most =
                fmax(most, fabs(sn_motion_frame(motion, f)[i] - sn_motion_frame(truth, 10 + f)[i]));
    printf("sensors: %.1e rad from the truth\n", most);
    assert_true(most < 1e-5);
    assert_near(sn_motion_time_offset(motion), 2.1, 1e-12);
    // the same bits on three threads
    o.threads = 3;
    assert_int_equal(sn_imu_fit(d.model, table, &o, NULL, &again, NULL, NULL), SN_OK);
    assert_memory_equal(sn_motion_frame(motion, 0), sn_motion_frame(again, 0),
                        31 * (size_t)sn_model_nq(d.model) * sizeof(double));
    sn_motion_destroy(again);
    sn_motion_destroy(motion);
    sn_ik_setup_destroy(setup);
    sn_table_destroy(table);
    sn_motion_destroy(truth);
    sn_document_destroy(&d);
}

// Sensors whose world is turned about the vertical: the heading of the pelvis brings them back.
static void headings_are_corrected(void **unused) {
    (void)unused;
    sn_document d = read_figure();
    sn_motion *truth = make_motion(&d, 0), *motion;
    sn_table *table = measure(&d, truth);
    // as if north were elsewhere, and a sensor of the pelvis whose x axis points ahead
    sn_quat turn = sn_quat_exp((sn_vec3){0, 0, 1.3});
    sn_quat back = sn_quat_exp((sn_vec3){-0.4, 0.7, 0});
    for (int f = 0; f < ROWS; f++) {
        for (int i = 0; i < 3; i++) {
            double *w = sn_table_edit(table, f) + 1 + 4 * i;
            sn_quat q = sn_quat_mul(turn, (sn_quat){w[0], w[1], w[2], w[3]});
            if (i == 0) q = sn_quat_mul(q, back);
            w[0] = q.w, w[1] = q.x, w[2] = q.y, w[3] = q.z;
        }
    }
    sn_ik_setup *setup = make_setup("");
    sn_imu_options o = sn_imu_options_default();
    sn_imu_report report;
    o.coordinates = d.coordinates;
    o.setup = setup;
    o.heading = "pelvis_imu";
    o.heading_axis = 0;
    assert_int_equal(sn_imu_fit(d.model, table, &o, NULL, &motion, &report, NULL), SN_OK);
    int at = place_of(&d, "rotation");
    for (int f = 0; f < ROWS; f++)
        assert_near(sn_motion_frame(motion, f)[at], sn_motion_frame(truth, f)[at], 1e-5);
    sn_motion_destroy(motion);
    // one that is not there
    sn_error error = {0};
    o.heading = "nobody_imu";
    assert_int_equal(sn_imu_fit(d.model, table, &o, NULL, &motion, NULL, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "nobody_imu"));
    assert_null(motion);
    sn_ik_setup_destroy(setup);
    sn_table_destroy(table);
    sn_motion_destroy(truth);
    sn_document_destroy(&d);
}

static void quaternions_are_read(void **unused) {
    (void)unused;
    static const char text[] = "DataRate=100\nDataType=Quaternion\nversion=3\nOpenSimVersion=4.5\n"
                               "endheader\ntime\tpelvis_imu\tb_imu\n0\t1,0,0,0\t0.6,0.8,0,0\n"
                               "0.01\t0,1,0,0\t\n";
    sn_document d;
    assert_int_equal(sn_document_read(text, sizeof text - 1, "x.sto", NULL, NULL, &d, NULL), SN_OK);
    assert_non_null(d.table);
    assert_int_equal(sn_table_about(d.table)->ncolumn, 9);
    assert_string_equal(sn_table_column(d.table, 5), "b_imu.q0");
    assert_true(sn_table_row(d.table, 0)[6] == 0.8 && isnan(sn_table_row(d.table, 1)[6]));
    sn_document_destroy(&d);
}

// --- what can be written about a motion ------------------------------------------------------------------

// Of parabolas both derivatives are exact, the ends included.
static void velocities_and_accelerations(void **unused) {
    (void)unused;
    sn_document d = read_figure();
    sn_motion *m;
    sn_table *t;
    int nv = sn_model_nv(d.model);
    assert_int_equal(sn_motion_create(9, sn_model_nq(d.model), 1, 50, NULL, &m, NULL), SN_OK);
    for (int f = 0; f < 9; f++)
        for (int i = 0; i < nv; i++) {
            double x = f / 50.0;
            sn_motion_edit(m, f)[i] = 0.1 * i + (1 + i) * x - (2 - 0.3 * i) * x * x;
        }
    assert_int_equal(sn_table_from_rates(d.model, m, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_table_about(t)->ncolumn, 1 + 2 * nv);
    for (int f = 0; f < 9; f++)
        for (int i = 0; i < nv; i++) {
            double x = f / 50.0, unit = i == place_of(&d, "ty") ? 1 : 180 / pi;
            assert_near(sn_table_row(t, f)[1 + i], unit * ((1 + i) - 2 * (2 - 0.3 * i) * x), 1e-9);
            assert_near(sn_table_row(t, f)[1 + nv + i], -unit * 2 * (2 - 0.3 * i), 1e-7);
        }
    assert_int_equal(sn_table_find(t, "knee_angle_u") > 0, 1);
    assert_int_equal(sn_table_find(t, "knee_angle_dudt") > nv, 1);
    sn_table_destroy(t);
    sn_motion_destroy(m);
    // a rate and three frames are needed
    sn_error error = {0};
    assert_int_equal(sn_motion_create(2, sn_model_nq(d.model), 1, 50, NULL, &m, NULL), SN_OK);
    assert_int_equal(sn_table_from_rates(d.model, m, NULL, &t, &error), SN_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "three frames"));
    sn_motion_destroy(m);
    sn_document_destroy(&d);
}

static void bodies_and_their_centre(void **unused) {
    (void)unused;
    sn_document d = read_figure();
    sn_motion *m;
    sn_table *t;
    assert_int_equal(sn_motion_create(1, sn_model_nq(d.model), 1, 50, NULL, &m, NULL), SN_OK);
    double *q = sn_motion_edit(m, 0);
    q[place_of(&d, "ty")] = 1;
    q[place_of(&d, "hip_flexion")] = pi / 2;  // about z: the thigh lies along x
    q[place_of(&d, "knee_angle")] = 0;
    assert_int_equal(sn_table_from_bodies(d.model, m, NULL, &t, NULL), SN_OK);
    const double *row = sn_table_row(t, 0);
    int knee = sn_table_find(t, "knee_angle_X"), mass = sn_table_find(t, "center_of_mass_X");
    assert_true(knee > 0 && mass > 0);
    assert_near(row[knee], 0.4, 1e-12);
    assert_near(row[knee + 1], 1, 1e-12);
    // 2 kg at (0, 1.1), 1 at the hip (0, 1), 1 at (0.6, 1)
    assert_near(row[mass], 0.6 / 4, 1e-12);
    assert_near(row[mass + 1], (2 * 1.1 + 1 + 1) / 4, 1e-12);
    // one column for all that sits in one place
    assert_int_equal(sn_table_find(t, "list_X"), -1);
    sn_table_destroy(t);
    sn_motion_destroy(m);
    sn_document_destroy(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sensors_give_the_motion), cmocka_unit_test(headings_are_corrected),
        cmocka_unit_test(quaternions_are_read), cmocka_unit_test(velocities_and_accelerations),
        cmocka_unit_test(bodies_and_their_centre)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
