// SPDX-License-Identifier: MIT
// Rows of misuse.h: files, takes, the example.
#include "misuse.h"

static void end_model(void *p) { sn_model_destroy(p); }
static void end_skeleton(void *p) { sn_skeleton_destroy(p); }
static void end_motion(void *p) { sn_motion_destroy(p); }
static void end_recording(void *p) { sn_recording_destroy(p); }
static void end_table(void *p) { sn_table_destroy(p); }
static void end_export(void *p) { sn_export_destroy(p); }
static void end_set(void *p) { sn_marker_set_destroy(p); }

static void skeletons(void) {
    static void *out, *out2;
    static sn_error error;
    const sn_skeleton *bvh = sn_export_skeleton(w.bvh), *asf = sn_export_skeleton(w.asf);
    const sn_motion *motion = w.motion;
    const sn_bvh_options b = sn_bvh_options_default();
    const sn_asf_options a = sn_asf_options_default();
    const sn_export_options e = sn_export_options_default();
    double at[3];
    static double row[1000];
    static sn_motion *carried;
    if (carried != NULL) sn_motion_destroy(carried);
    assert_int_equal(sn_export_motion(w.bvh, motion, NULL, &carried, NULL), SN_OK);
    NONE(sn_bvh_options_default);
    STATUS(sn_bvh_read, PTR(w.bvh_text), strlen(w.bvh_text), OPTIONS(b), NULL,
           OUT(out, end_skeleton), OUT(out2, end_motion), MAY(&error));
    STATUS(sn_bvh_write, PTR(bvh), MAY(carried), SINK, NULL, MAY(&error));
    sn_motion_destroy(carried);
    carried = NULL;
    NONE(sn_asf_options_default);
    STATUS(sn_asf_read, PTR(w.asf_text), strlen(w.asf_text), OPTIONS(a), NULL,
           OUT(out, end_skeleton), MAY(&error));
    VOID(sn_skeleton_destroy, MAY((sn_skeleton *)NULL));
    VALUE(sn_skeleton_model, == NULL, PTR(bvh));
    STRUCT(sn_skeleton_kind, PTR(bvh));
    VOID(sn_skeleton_tip, PTR(bvh), INDEX(0), PTR(at));
    VALUE(sn_skeleton_metres_per_unit, == 0, PTR(bvh));
    VALUE(sn_skeleton_metres_guessed, == false, PTR(bvh));
    VALUE(sn_skeleton_up_axis, == NULL, PTR(bvh));
    VALUE(sn_skeleton_note, == NULL, PTR(bvh));
    STRUCT(sn_skeleton_angle_unit, PTR(bvh));
    sn_model_zero(sn_skeleton_model(bvh), w.big);
    STATUS(sn_amc_read, PTR(w.amc_text), strlen(w.amc_text), PTR(asf), NULL, OUT(out, end_motion),
           MAY(&error));
    STATUS(sn_asf_write, PTR(asf), SINK, MAY(&error));
    assert_int_equal(sn_export_motion(w.asf, motion, NULL, &carried, NULL), SN_OK);
    STATUS(sn_amc_write, PTR(asf), PTR(carried), SINK, NULL, MAY(&error));
    NONE(sn_export_options_default);
    STATUS(sn_export_create, PTR(w.model), ENUM(sn_skeleton_format, SN_SKELETON_BVH), OPTIONS(e),
           NULL, OUT(out, end_export), MAY(&error));
    VOID(sn_export_destroy, MAY((sn_export *)NULL));
    VALUE(sn_export_skeleton, == NULL, PTR(w.bvh));
    STATUS(sn_export_pose, PTR(w.bvh), PTR(w.q), MAY(row), PTR(w.big));
    STATUS(sn_export_motion, PTR(w.bvh), PTR(w.motion), NULL, OUT(out, end_motion), MAY(&error));
}

static void recordings(void) {
    static void *out;
    static sn_error error;
    const sn_c3d_options c = sn_c3d_options_default();
    const sn_markers_options m = sn_markers_options_default();
    STATUS(sn_c3d_read, PTR(w.c3d), w.c3d_size, NULL, OUT(out, end_recording), MAY(&error));
    NONE(sn_c3d_options_default);
    STATUS(sn_c3d_write, PTR(w.recording), OPTIONS(c), SINK, NULL, MAY(&error));
    STATUS(sn_recording_from_table, PTR(w.table), MAY("mm"), NULL, OUT(out, end_recording),
           MAY(&error));
    STATUS(sn_table_from_motion, PTR(w.model), PTR(w.motion), NULL, OUT(out, end_table),
           MAY(&error));
    STATUS(sn_table_from_rates, PTR(w.model), PTR(w.motion), NULL, OUT(out, end_table),
           MAY(&error));
    STATUS(sn_table_from_bodies, PTR(w.model), PTR(w.motion), NULL, OUT(out, end_table),
           MAY(&error));
    sn_table *motion_table;
    assert_int_equal(sn_table_from_motion(w.model, w.motion, NULL, &motion_table, NULL), SN_OK);
    STATUS(sn_motion_from_table, PTR(w.model), PTR(motion_table), NULL, OUT(out, end_motion),
           MAY(&error));
    sn_table_destroy(motion_table);
    STATUS(sn_sto_read, PTR(w.mot_text), strlen(w.mot_text), NULL, OUT(out, end_table),
           MAY(&error));
    STATUS(sn_sto_write, PTR(w.table), SINK, MAY(&error));
    STATUS(sn_mot_write, PTR(w.model), PTR(w.motion), SINK, NULL, MAY(&error));
    STATUS(sn_csv_read_table, PTR(w.csv_text), strlen(w.csv_text), NULL, OUT(out, end_table),
           MAY(&error));
    STATUS(sn_csv_write_table, PTR(w.table), SINK, MAY(&error));
    NONE(sn_markers_options_default);
    STATUS(sn_csv_write_recording, PTR(w.recording), OPTIONS(m), SINK, MAY(&error));
    STATUS(sn_trc_read, PTR(w.trc_text), strlen(w.trc_text), NULL, OUT(out, end_recording),
           MAY(&error));
    STATUS(sn_trc_write, PTR(w.recording), OPTIONS(m), SINK, MAY(&error));
}

static void end_setup(void *p) { sn_ik_setup_destroy(p); }
static void end_scale_setup(void *p) { sn_scale_setup_destroy(p); }
static void end_scaling(void *p) { sn_scaling_destroy(p); }

static void others(void) {
    static void *out;
    static sn_error error;
    static sn_glb_content content;
    static sn_document document;
    static sn_osim_info info;
    static sn_urdf_info urdf_info;
    double turn[4];
    const sn_glb_scene scene = sn_glb_scene_default(w.model);
    const sn_urdf_options u = sn_urdf_options_default();
    const sn_document_options d = sn_document_options_default();
    STRUCT(sn_glb_scene_default, MAY(w.model));
    VALUE(sn_glb_up, == false, PTR("y"), PTR(turn));
    STATUS(sn_glb_write, misuse_options(&scene, sizeof scene, true), SINK, NULL, MAY(&error));
    sn_glb_content_destroy(&content);
    STATUS(sn_glb_read, PTR(w.glb), w.glb_size, NULL, PTR(&content), MAY(&error));
    sn_glb_content_destroy(&content);
    VOID(sn_glb_content_destroy, MAY(&content));
    static sn_osim_coordinates *coordinates;
    sn_osim_coordinates *spare = NULL;
    STATUS(sn_osim_read, PTR(w.osim), strlen(w.osim), NULL, OUT(out, end_model),
           MAY((sn_osim_coordinates **)NULL), MAY(&info), MAY(&error));
    sn_model *model;
    assert_int_equal(sn_osim_read(w.osim, strlen(w.osim), NULL, &model, &coordinates, NULL, &error),
                     SN_OK);
    VALUE(sn_osim_coordinates_count, == 0, PTR(coordinates));
    VALUE(sn_osim_coordinate_at, == NULL, PTR(coordinates), INDEX(0));
    VALUE(sn_osim_coordinate_find, == -1, PTR(coordinates), PTR("q"));
    VALUE(sn_osim_prescribed, == 0, PTR(coordinates), INDEX(0), ANY(1));
    static sn_frame frame;
    bool landmark;
    VALUE(sn_osim_landmark, == false, PTR(coordinates), PTR("b"), PTR(&landmark));
    VALUE(sn_osim_is_generic, == false, PTR(coordinates));
    VALUE(sn_osim_frame_find, == -1, PTR(coordinates), PTR("b"), PTR(&frame));
    sn_imu_options imu = sn_imu_options_default(), odd = imu;
    static sn_imu_report report;
    static const char quaternions[] = "DataType=Quaternion\nversion=3\nendheader\ntime\tb_imu\n"
                                      "0\t1,0,0,0\n1\t1,0,0,0\n";
    sn_table *orientations;
    assert_int_equal(sn_sto_read(quaternions, sizeof quaternions - 1, NULL, &orientations, &error),
                     SN_OK);
    odd.coordinates = coordinates;
    NONE(sn_imu_options_default);
    STATUS(sn_imu_fit, PTR(model), PTR(orientations),
           (odd.heading_axis = INDEX(1), odd.heading_sign = NUM(1),
            odd.limits = ENUM(sn_limit_use, SN_LIMITS_OFF), odd.threads = INDEX(1),
            misuse_options(&odd, sizeof odd, true)),
           NULL, OUT(out, end_motion), MAY(&report), MAY(&error));
    sn_table_destroy(orientations);
    VOID(sn_osim_coordinates_destroy, MAY(spare));
    sn_osim_coordinates_destroy(coordinates);
    sn_model_destroy(model);
    const char *set_up = "<InverseKinematicsTool><IKTaskSet><objects><IKMarkerTask name='A'/>"
                         "</objects></IKTaskSet></InverseKinematicsTool>";
    sn_ik_setup *setup;
    STATUS(sn_ik_setup_read, PTR(set_up), strlen(set_up), NULL, OUT(out, end_setup), MAY(&error));
    assert_int_equal(sn_ik_setup_read(set_up, strlen(set_up), NULL, &setup, &error), SN_OK);
    const char *weighted = "<IKTaskSet><objects><IKMarkerTask name='A'><weight>1</weight>"
                           "</IKMarkerTask></objects></IKTaskSet>";
    const char *task_set = "<IKTaskSet><objects><IKMarkerTask name='A'/></objects></IKTaskSet>";
    STATUS(sn_ik_setup_read_tasks, PTR(setup), PTR(task_set), strlen(task_set), MAY(&error));
    VALUE(sn_ik_setup_about, == NULL, PTR(setup));
    VALUE(sn_ik_setup_task, == NULL, PTR(setup), INDEX(0));
    VOID(sn_ik_setup_destroy, MAY((sn_ik_setup *)NULL));
    sn_ik_setup_destroy(setup);
    const char *scale_text = "<ScaleTool/>";
    sn_scale_setup *scale;
    STATUS(sn_scale_setup_read, PTR(scale_text), strlen(scale_text), NULL,
           OUT(out, end_scale_setup), MAY(&error));
    assert_int_equal(sn_scale_setup_read(scale_text, strlen(scale_text), NULL, &scale, &error),
                     SN_OK);
    STATUS(sn_scale_setup_read_tasks, PTR(scale), PTR(weighted), strlen(weighted), MAY(&error));
    const char *scale_set = "<ScaleSet/>";
    STATUS(sn_scale_setup_read_set, PTR(scale), PTR(scale_set), strlen(scale_set), MAY(&error));
    VALUE(sn_scale_setup_about, == NULL, PTR(scale));
    VALUE(sn_scale_setup_ik, == NULL, PTR(scale));
    static sn_scaling_file about;
    sn_scaling_input input = {.model = w.osim, .model_length = strlen(w.osim), .setup = scale},
                     bare;
    sn_scaling *scaling;
    STATUS(sn_scaling_create, (bare = input, bare.mass = NUM(0), PTR(&bare)), NULL,
           OUT(out, end_scaling), MAY(&about), MAY(&error));
    assert_int_equal(sn_scaling_create(&input, NULL, &scaling, NULL, &error), SN_OK);
    VALUE(sn_scaling_about, == NULL, PTR(scaling));
    VOID(sn_scaling_destroy, MAY((sn_scaling *)NULL));
    sn_scaling_destroy(scaling);
    VOID(sn_scale_setup_destroy, MAY((sn_scale_setup *)NULL));
    sn_scale_setup_destroy(scale);
    NONE(sn_urdf_options_default);
    STATUS(sn_urdf_read, PTR(w.urdf), strlen(w.urdf), OPTIONS(u), NULL, OUT(out, end_model),
           MAY(&urdf_info), MAY(&error));
    VALUE(sn_format_name, != NULL, ENUM(sn_format, SN_FORMAT_BVH));
    STRUCT(sn_format_of, MAY(w.bvh_text), 10, MAY("x.bvh"));
    VALUE(sn_format_of_name, == SN_FORMAT_UNKNOWN, PTR("x.bvh"));
    NONE(sn_document_options_default);
    STATUS(sn_document_read, PTR(w.bvh_text), strlen(w.bvh_text), MAY("x.bvh"), OPTIONS(d), NULL,
           PTR(&document), MAY(&error));
    sn_document_destroy(&document);
    VOID(sn_document_destroy, MAY(&document));
    const char *srdf = "<robot><disable_collisions link1='a' link2='b'/></robot>";
    static sn_srdf_info disabled;
    STATUS(sn_srdf_read, PTR(srdf), strlen(srdf), PTR(w.model), NULL, OUT(out, end_model),
           MAY(&disabled), MAY(&error));
    const char *mjcf =
        "<mujoco><worldbody><body name='b'><joint name='j'/></body></worldbody></mujoco>";
    static sn_mjcf_info mujoco;
    STATUS(sn_mjcf_read, PTR(mjcf), strlen(mjcf), NULL, OUT(out, end_model), MAY(&mujoco),
           MAY(&error));
    const sn_scene any = sn_scene_default(w.model);
    STRUCT(sn_scene_default, MAY(w.model));
    STRUCT(sn_scene_of, MAY(&document));
    STATUS(sn_scene_write, misuse_options(&any, sizeof any, true), ENUM(sn_format, SN_FORMAT_MODEL),
           SINK, NULL, MAY(&error));
    VALUE(sn_scene_unit, == 0, PTR(&any), ENUM(sn_format, SN_FORMAT_BVH));
    STATUS(sn_marker_paths, PTR(w.model), PTR(w.motion), NULL, OUT(out, end_recording),
           MAY(&error));
    double turn_back[4] = {1, 0, 0, 0};
    VOID(sn_recording_turn, PTR(w.recording), PTR(turn_back));
    char unit[24];
    VOID(sn_unit_name, ANY(0.001), PTR(unit));
}

static void sets(void) {
    static void *out;
    static sn_error error;
    static sn_learned each[100];
    static sn_lesson lesson;
    const sn_learn_options learn = sn_learn_options_default();
    const char *names[] = {"alpha", "beta"};
    static sn_axis_map map;
    const sn_marker_place *place = sn_marker_set_place(w.set, 0);
    STATUS(sn_marker_set_create, PTR("set"), PTR(place), COUNT(1), NULL, OUT(out, end_set),
           MAY(&error));
    VOID(sn_marker_set_destroy, MAY((sn_marker_set *)NULL));
    VALUE(sn_marker_set_name, == NULL, PTR(w.set));
    VALUE(sn_marker_set_count, == 0, PTR(w.set));
    VALUE(sn_marker_set_place, == NULL, PTR(w.set), INDEX(0));
    STATUS(sn_marker_set_read_json, PTR(w.set_text), strlen(w.set_text), NULL, OUT(out, end_set),
           MAY(&error));
    STATUS(sn_marker_set_write_json, PTR(w.set), SINK, MAY(&error));
    STATUS(sn_marker_set_of_model, PTR(w.model), NULL, OUT(out, end_set), MAY(&error));
    STATUS(sn_marker_set_read_tasks, PTR(w.ik_tasks), strlen(w.ik_tasks), PTR(w.model), NULL,
           OUT(out, end_set), MAY(&error));
    STATUS(sn_marker_set_read, PTR(w.ik_tasks), strlen(w.ik_tasks), PTR(w.model), NULL,
           OUT(out, end_set), MAY(&error));
    STATUS(sn_marker_set_builtin, PTR(w.model), MAY(w.recording), NULL, OUT(out, end_set),
           MAY(&error));
    NONE(sn_learn_options_default);
    STATUS(sn_marker_set_learn, PTR(w.model), PTR(w.motion), PTR(w.recording), MAY(&learn), NULL,
           OUT(out, end_set), MAY(each), MAY(&lesson), MAY(&error));
    STATUS(sn_marker_set_apply, PTR(w.set), PTR(w.model), ENUM(sn_limit_use, SN_LIMITS_OFF),
           MAY((double *)NULL), NULL, OUT(out, end_model), MAY(&error));
    VALUE(sn_nearest_name, == -1, PTR("alpa"), PTR(names), COUNT(2));
    NONE(sn_axis_map_identity);
    VALUE(sn_axis_map_parse, == false, PTR("yzx"), PTR(&map));
    char text[8];
    int axis;
    double sign;
    sn_axis_map odd = sn_axis_map_identity();
    VOID(sn_axis_map_print, PTR((odd.axis[1] = INDEX(1), &odd)), PTR(text));
    VALUE(sn_axis_parse, == false, PTR("-y"), PTR(&axis), PTR(&sign));
    STRUCT(sn_axis_map_up, INDEX(1), ANY(1), INDEX(2), ANY(1));
    VOID(sn_axis_map_point, PTR((odd.axis[1] = INDEX(1), &odd)), PTR(w.q), PTR(w.big));
    STRUCT(sn_axes_impossible, ANY(1));
    sn_axes_report found;
    STATUS(sn_axes_find, PTR(w.model), PTR(w.recording), INDEX(1), NUM(1), NULL, PTR(&found),
           MAY(&error));
    STATUS(sn_axes_guess, PTR(w.recording), NULL, PTR(&found), MAY(&error));
}

static void end_take(void *p) { sn_take_destroy(p); }

static void takes(void) {
    static void *out;
    static sn_error error;
    sn_take_options o = sn_take_options_default();
    sn_subject who[2];
    sn_take_truth truth;
    int count;
    char text[16];
    static sn_take *take;
    o.calibrate = SN_CALIBRATE_NONE;
    if (take == NULL) {
        assert_int_equal(sn_take_create(w.model, w.recording, &o, NULL, &take, NULL), SN_OK);
        if (sn_take_prepare(take) != SN_OK || sn_take_finish(take) != SN_OK) fail_msg("no take");
    }
    NONE(sn_take_options_default);
    // what the options hold may be wrong too
    sn_take_options odd = o;
    STATUS(sn_take_create, PTR(w.model), PTR(w.recording),
           (odd.model_up = INDEX(1), odd.model_up_sign = NUM(1), odd.up_sign = NUM(1),
            odd.unit = NUM(1), odd.calibrate = ENUM(sn_calibrate_use, SN_CALIBRATE_SCALE),
            odd.calibrate_frames = COUNT(2), odd.height = NUM(1.8), odd.nlength = COUNT(0),
            odd.limits = ENUM(sn_limit_use, SN_LIMITS_OFF), odd.soft_weight = NUM(1),
            odd.posture = NUM(1), odd.loss = ENUM(sn_loss, SN_LOSS_NONE), odd.loss_scale = NUM(1),
            odd.smooth = NUM(0), odd.too_few = COUNT(3), odd.threads = INDEX(1),
            odd.has_axes = true, odd.axes.axis[1] = INDEX(1), odd.axes.sign[2] = NUM(1),
            odd.solver.method = ENUM(sn_method, SN_METHOD_HYBRID),
            odd.solver.max_iterations = COUNT(9), OPTIONS(odd)),
           NULL, OUT(out, end_take), MAY(&error));
    VOID(sn_take_destroy, MAY((sn_take *)NULL));
    VALUE(sn_take_solved, == 0, PTR(take));
    VALUE(sn_take_motion, == NULL, PTR(take));
    VALUE(sn_take_model, == NULL, PTR(take));
    VALUE(sn_take_limited_model, == NULL, PTR(take));
    VALUE(sn_take_markers, == NULL, PTR(take));
    VALUE(sn_take_column, == -1, PTR(take), INDEX(0));
    VALUE(sn_take_angle_term, != NULL, PTR(take), INDEX(0), INDEX(0));
    VALUE(sn_take_nsure, == 0, PTR(take));
    VALUE(sn_take_sure_of, == NULL, PTR(take), INDEX(0));
    VALUE(sn_take_about, == NULL, PTR(take));
    VALUE(sn_take_frames, == NULL, PTR(take));
    VALUE(sn_take_marker_errors, == NULL, PTR(take));
    STRUCT(sn_take_samples, MAY(take));
    STATUS(sn_take_subjects, PTR(w.model), PTR(w.recording), NULL, PTR(who), COUNT(2), PTR(&count),
           MAY(&error));
    static double f[100000];
    assert_true(sn_motion_nframe(sn_take_motion(take)) <= 100000);
    STATUS(sn_take_objective, PTR(take), PTR(sn_take_motion(take)), PTR(f));
    STATUS(sn_take_compare, PTR(take), MAY(w.model), PTR(w.motion), PTR(&truth));
    VALUE(sn_finding_name, != NULL, ENUM(sn_finding_code, 0));
    VALUE(sn_severity_name, != NULL, ENUM(sn_severity, 0));
    VOID(sn_finding_number_name, ENUM(sn_finding_code, 0), INDEX(0), PTR(text));
    VALUE(sn_take_nfinding, == 0, PTR(take));
    VALUE(sn_take_verdict, == SN_VERDICT_BAD, PTR(take));
    VALUE(sn_verdict_name, != NULL, ENUM(sn_verdict, 0));
    VALUE(sn_finding_doubts, == false, MAY(sn_take_finding(take, 0)));
    VALUE(sn_take_finding, == NULL, PTR(take), INDEX(0));
    VALUE(sn_take_sentence, == 0, PTR(take), INDEX(0), ENUM(sn_voice, 0), MAY(text), sizeof text);
}

// What changes a take gets a new one every time.
static void fresh_takes(void) {
    sn_take_options o = sn_take_options_default();
    sn_take *fresh;
    o.calibrate = SN_CALIBRATE_NONE;
    assert_int_equal(sn_take_create(w.model, w.recording, &o, NULL, &fresh, NULL), SN_OK);
    STATUS(sn_take_prepare, PTR(fresh));
    sn_take_destroy(fresh);
    assert_int_equal(sn_take_create(w.model, w.recording, &o, NULL, &fresh, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(fresh), SN_OK);
    STATUS(sn_take_solve, PTR(fresh), 1);
    STATUS(sn_take_finish, PTR(fresh));
    sn_take_destroy(fresh);
}

static void example(void) {
    static sn_error error;
    static void *out;
    STATUS(sn_example_motion, PTR(w.model), NULL, OUT(out, end_motion), MAY(&error));
    STATUS(sn_example_subject, 1, NULL, OUT(out, end_model), MAY(&error));
    STATUS(sn_example_recording, PTR(w.model), PTR(w.motion), 1, NULL, OUT(out, end_recording),
           MAY(&error));
}

void misuse_files(void) {
    misuse_group(skeletons);
    misuse_group(recordings);
    misuse_group(others);
    misuse_group(sets);
    misuse_group(takes);
    misuse_group(fresh_takes);
    misuse_group(example);
}
