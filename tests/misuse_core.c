// SPDX-License-Identifier: MIT
// Rows of misuse.h: models, problems, solvers, motions.
#include "misuse.h"

static void end_model(void *p) { sn_model_destroy(p); }
static void end_builder(void *p) { sn_builder_destroy(p); }
static void end_problem(void *p) { sn_problem_destroy(p); }
static void end_workspace(void *p) { sn_workspace_destroy(p); }
static void end_solver(void *p) { sn_solver_destroy(p); }
static void end_tracker(void *p) { sn_tracker_destroy(p); }
static void end_smoother(void *p) { sn_smoother_destroy(p); }
static void end_recording(void *p) { sn_recording_destroy(p); }
static void end_motion(void *p) { sn_motion_destroy(p); }
static void end_table(void *p) { sn_table_destroy(p); }

static sn_status no_goals(void *user, int frame, sn_problem *problem) {
    (void)user, (void)frame, (void)problem;
    return SN_OK;
}

static void end_arm(void *p) { sn_arm_destroy(p); }
static void end_goals(void *p) { sn_arm_goals_destroy(p); }

static void arms(void) {
    static void *out;
    static sn_error error;
    static sn_arm *arm;
    static sn_model *model;
    static double q[SN_ARM_MAX * 8], seed[SN_ARM_MAX], tool[7] = {0.4, 0.1, 0.5, 0, 1, 0, 0};
    static sn_arm_report report;
    static sn_arm_path_report path;
    static sn_arm_motion motion;
    static sn_arm_tick_report ticked;
    static const sn_arm_tick tick = {0.01, NULL, NULL};
    static const char goals[] = "x,y,z,qw,qx,qy,qz\n0.4,0.1,0.5,0,1,0,0\n";
    static sn_arm_goals *list;
    int count;
    if (arm == NULL) {  // a chain of four hinges without a table, quickly made
        sn_builder *b;
        (void)sn_builder_create("arm", NULL, &b, NULL);
        for (int i = 0; i < 2; i++) {
            sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
            d.name = i == 0 ? "a" : "b";
            d.parent = i - 1;
            d.position[0] = i;
            (void)sn_builder_joint(b, &d);
        }
        (void)sn_builder_finish(b, &model, NULL);
        sn_builder_destroy(b);
        (void)sn_arm_create(model, "b", NULL, NULL, &arm, NULL);
        (void)sn_arm_goals_read(goals, sizeof goals - 1, NULL, &list, NULL);
    }
    sn_arm_options options = sn_arm_options_default();
    STATUS(sn_arm_create, PTR(model), PTR("b"), OPTIONS(options), NULL, OUT(out, end_arm),
           MAY(&error));
    VOID(sn_arm_destroy, MAY((sn_arm *)NULL));
    NONE(sn_arm_options_default);
    VALUE(sn_arm_why_text, != NULL, ENUM(sn_arm_why, SN_ARM_LIMIT));
    VALUE(sn_arm_n, == 0, PTR(arm));
    VALUE(sn_arm_note, != NULL, PTR(arm));
    VALUE(sn_arm_room, == NULL, PTR(arm), 64);
    VALUE(sn_arm_name, == NULL, PTR(arm), INDEX(0));
    VALUE(sn_arm_lower, == NULL, PTR(arm));
    VALUE(sn_arm_upper, == NULL, PTR(arm));
    VALUE(sn_arm_speed, == NULL, PTR(arm));
    STRUCT(sn_arm_coordinate, PTR(arm), INDEX(0));
    VOID(sn_arm_from_pose, PTR(arm), PTR(seed), PTR(q));
    VOID(sn_arm_to_pose, PTR(arm), PTR(seed), PTR(q));
    VOID(sn_arm_tool, PTR(arm), PTR(seed), PTR(q));
    STATUS(sn_arm_solve, PTR(arm), PTR(tool), MAY(seed), PTR(q), MAY(&report));
    STATUS(sn_arm_solve_all, PTR(arm), PTR(tool), MAY(seed), COUNT(4), PTR(q), PTR(&count));
    STATUS(sn_arm_solve_many, PTR(arm), COUNT(1), PTR(tool), MAY(seed), PTR(q), MAY(&report));
    STATUS(sn_arm_path, PTR(arm), COUNT(1), PTR(tool), MAY(seed), NUM(0.1), COUNT(8), PTR(q),
           PTR(&path));
    STATUS(sn_arm_step, PTR(arm), PTR(tool), PTR(&tick), PTR(&motion), PTR(seed), MAY(&ticked));
    VALUE(sn_arm_manipulability, == 0, PTR(arm), PTR(seed), MAY(q));
    STATUS(sn_arm_goals_read, PTR(goals), sizeof goals - 1, NULL, OUT(out, end_goals), MAY(&error));
    VOID(sn_arm_goals_destroy, MAY((sn_arm_goals *)NULL));
    VALUE(sn_arm_goals_count, == 0, PTR(list));
    VALUE(sn_arm_goals_places, == false, PTR(list));
    VALUE(sn_arm_goals_data, == NULL, PTR(list));
    STATUS(sn_arm_write_csv, PTR(arm), COUNT(1), PTR(seed), MAY(&report), SINK, MAY(&error));
}

static void end_servo(void *p) { sn_servo_destroy(p); }

static void servos(void) {
    static void *out;
    static sn_error error;
    static sn_model *model;
    static sn_problem *problem;
    static sn_servo *servo;
    static double q[2], u[2];
    static sn_servo_report report;
    if (servo == NULL) {
        sn_builder *b;
        (void)sn_builder_create("arm", NULL, &b, NULL);
        for (int i = 0; i < 2; i++) {
            sn_joint_desc d = sn_joint_default(SN_JOINT_HINGE);
            d.name = i == 0 ? "a" : "b";
            d.parent = i - 1;
            d.position[0] = i;
            (void)sn_builder_joint(b, &d);
        }
        (void)sn_builder_finish(b, &model, NULL);
        sn_builder_destroy(b);
        sn_task task = sn_task_default(SN_TASK_POINT);
        task.joint = 1;
        task.local[0] = 1;
        (void)sn_problem_create(model, &task, 1, NULL, &problem, NULL);
        (void)sn_servo_create(problem, NULL, NULL, &servo, NULL);
    }
    sn_servo_options options = sn_servo_options_default();
    const sn_servo_tick tick = {0.001, NULL, NULL};
    NONE(sn_servo_options_default);
    STATUS(sn_servo_create, PTR(problem), OPTIONS(options), NULL, OUT(out, end_servo), MAY(&error));
    VOID(sn_servo_destroy, MAY((sn_servo *)NULL));
    STATUS(sn_servo_reset, PTR(servo), MAY(u));
    STATUS(sn_servo_step, PTR(servo), PTR(&tick), PTR(q), MAY(&report));
    VOID(sn_servo_velocity, PTR(servo), PTR(u));
    VALUE(sn_servo_workspace, == NULL, PTR(servo));
}

static void end_batch(void *p) { sn_batch_destroy(p); }

static void batches(void) {
    static void *out;
    static sn_error error;
    static sn_batch *batch, *other;
    static sn_device_info info[2];
    sn_batch_report report;
    static double goals[64];
    sn_batch_options options = sn_batch_options_default();
    options.device = SN_DEVICE_CPU;
    if (batch == NULL) {
        (void)sn_batch_create(w.problem, &options, NULL, &batch, NULL);
        (void)sn_batch_create(w.problem, &options, NULL, &other, NULL);
    }
    NONE(sn_batch_options_default);
    STATUS(sn_batch_create, PTR(w.problem), OPTIONS(options), NULL, OUT(out, end_batch),
           MAY(&error));
    VOID(sn_batch_destroy, MAY((sn_batch *)NULL));
    VALUE(sn_batch_ngoal, == 0, PTR(batch));
    VALUE(sn_batch_goal_at, == -1, PTR(batch), INDEX(0));
    VALUE(sn_batch_lanes, == 0, PTR(batch));
    VALUE(sn_batch_note, != NULL, PTR(batch));
    STRUCT(sn_batch_count, PTR(batch));
    VALUE(sn_batch_room, == NULL, PTR(batch), 64);
    STATUS(sn_batch_solve, PTR(batch), COUNT(1), PTR(goals), MAY(w.q), PTR(w.big), MAY(&report));
    STATUS(sn_batch_track, PTR(batch), COUNT(1), COUNT(1), PTR(goals), MAY(w.q), PTR(w.big),
           MAY(&report));
    while (sn_batch_wait(other) == SN_OK) continue;
    STATUS(sn_batch_submit, PTR(other), COUNT(1), COUNT(1), PTR(goals), MAY(w.q), PTR(w.big),
           MAY(&report));
    (void)sn_batch_submit(batch, 0, 0, goals, NULL, w.big, NULL);
    STATUS(sn_batch_wait, PTR(batch));
    VALUE(sn_batch_devices, == 0, PTR(info), COUNT(2));
}

static void base_and_math(void) {
    double s, c;
    const sn_quat one = {1, 0, 0, 0};
    const sn_vec3 v = {0.1, 0.2, 0.3};
    VALUE(sn_status_text, != NULL, ENUM(sn_status, SN_OK));
    NONE(sn_version);
    VOID(sn_sincos, ANY(0.3), PTR(&s), PTR(&c));
    STRUCT(sn_mat3_from_quat, (sn_quat){ANY(1), ANY(0), 0, 0});
    STRUCT(sn_quat_from_mat3, sn_mat3_from_quat((sn_quat){ANY(1), 0, 0, 0}));
    STRUCT(sn_quat_exp, (sn_vec3){ANY(0.1), ANY(0), 0});
    STRUCT(sn_quat_log, (sn_quat){ANY(1), ANY(0), 0, 0});
    STRUCT(sn_quat_mul, one, sn_quat_exp(v));
    STRUCT(sn_quat_conj, one);
}

static void models(void) {
    static void *out;
    static sn_error error;
    static uint64_t state = 1;
    static sn_joint_desc joint;
    static sn_marker_desc marker;
    char name[16];
    static int added;
    (void)snprintf(name, sizeof name, "extra%d", added++);
    joint = sn_joint_default(SN_JOINT_HINGE);
    joint.name = name;
    marker = (sn_marker_desc){.name = name, .weight = 1};
    VALUE(sn_joint_type_name, != NULL, ENUM(sn_joint_type, SN_JOINT_HINGE));
    const sn_function line = {.type = SN_FUNCTION_CONSTANT, .scale = 1};
    VALUE(sn_function_check, != NULL, PTR(&line), COUNT(1));
    STRUCT(sn_joint_default, ENUM(sn_joint_type, SN_JOINT_HINGE));
    STATUS(sn_builder_create, MAY("x"), NULL, OUT(out, end_builder), MAY(&error));
    VOID(sn_builder_destroy, MAY((sn_builder *)NULL));
    STATUS(sn_builder_finish, PTR(w.builder), OUT(out, end_model), MAY(&error));
    VALUE(sn_builder_joint, == -1, PTR(w.scrap), PTR(&joint));
    VALUE(sn_builder_marker, == -1, PTR(w.scrap), PTR(&marker));
    sn_coupling_desc coupling = {.function = {.type = SN_FUNCTION_CONSTANT, .scale = 1}};
    sn_loop_desc loop = sn_loop_default(SN_LOOP_POINT);
    VALUE(sn_builder_couple, == -1, PTR(w.scrap), PTR(&coupling));
    VALUE(sn_builder_loop, == -1, PTR(w.scrap), PTR(&loop));
    static sn_shape_desc shape;
    shape = sn_shape_default(SN_SHAPE_CAPSULE);
    VALUE(sn_builder_shape, == -1, PTR(w.scrap), PTR(&shape));
    static sn_frame_desc frame;
    frame = (sn_frame_desc){.name = name, .rotation = {1, 0, 0, 0}};
    VALUE(sn_builder_frame, == -1, PTR(w.scrap), PTR(&frame));
    VALUE(sn_model_nframe, == 0, PTR(w.model));
    VALUE(sn_model_frame, == NULL, PTR(w.model), INDEX(0));
    VALUE(sn_model_find_frame, == -1, PTR(w.model), PTR("x"));
    VALUE(sn_builder_exclude, == -1, PTR(w.scrap), 0, -1);
    STATUS(sn_builder_create_from, PTR(w.model), NULL, OUT(out, end_builder), MAY(&error));
    VALUE(sn_shape_type_name, != NULL, ENUM(sn_shape_type, SN_SHAPE_SPHERE));
    STRUCT(sn_shape_default, ENUM(sn_shape_type, SN_SHAPE_SPHERE));
    VALUE(sn_model_nshape, == 0, PTR(w.model));
    VALUE(sn_model_shape, == NULL, PTR(w.model), INDEX(0));
    VALUE(sn_model_nexcluded, == 0, PTR(w.model));
    static int pair[2];
    VALUE(sn_model_excluded, == false, PTR(w.model), INDEX(0), PTR(pair));
    VOID(sn_builder_couple_as, PTR(w.scrap), PTR(w.model));
    VALUE(sn_loop_type_name, != NULL, ENUM(sn_loop_type, SN_LOOP_POINT));
    STRUCT(sn_loop_default, ENUM(sn_loop_type, SN_LOOP_POINT));
    VALUE(sn_model_nloop, == 0, PTR(w.model));
    VALUE(sn_model_loop, == NULL, PTR(w.model), INDEX(0));
    VALUE(sn_model_ncoupling, == 0, PTR(w.model));
    VALUE(sn_model_coupling, == NULL, PTR(w.model), INDEX(0));
    VOID(sn_model_follow, PTR(w.model), PTR(w.q));
    VALUE(sn_function_type_name, != NULL, ENUM(sn_function_type, SN_FUNCTION_LINEAR));
    VALUE(sn_function_type_find, != SN_FUNCTION_SPLINE, PTR("linear"));
    VOID(sn_model_destroy, MAY((sn_model *)NULL));
    STATUS(sn_model_read_json, PTR(w.json), strlen(w.json), NULL, OUT(out, end_model), MAY(&error));
    STATUS(sn_model_write_json, PTR(w.model), SINK, NULL, MAY(&error));
    STATUS(sn_model_humanoid, NULL, OUT(out, end_model), MAY(&error));
    VALUE(sn_model_name, == NULL, PTR(w.model));
    VALUE(sn_model_njoint, == 0, PTR(w.model));
    VALUE(sn_model_nmarker, == 0, PTR(w.model));
    VALUE(sn_model_nq, == 0, PTR(w.model));
    VALUE(sn_model_nv, == 0, PTR(w.model));
    VALUE(sn_model_depth, == 0, PTR(w.model));
    VALUE(sn_model_root, == -1, PTR(w.model));
    VALUE(sn_model_joint, == NULL, PTR(w.model), INDEX(0));
    VALUE(sn_model_marker, == NULL, PTR(w.model), INDEX(0));
    VALUE(sn_model_find_joint, == -1, PTR(w.model), PTR("hips"));
    VALUE(sn_model_find_marker, == -1, PTR(w.model), PTR("LFHD"));
    VALUE(sn_model_q_index, == -1, PTR(w.model), INDEX(0));
    VALUE(sn_model_joint_nq, == 0, PTR(w.model), INDEX(0));
    VALUE(sn_model_joint_nv, == 0, PTR(w.model), INDEX(0));
    VALUE(sn_model_is_length, == false, PTR(w.model), INDEX(0), INDEX(0));
    VALUE(sn_model_v_index, == -1, PTR(w.model), INDEX(0));
    VALUE(sn_model_lower, == NULL, PTR(w.model));
    VALUE(sn_model_upper, == NULL, PTR(w.model));
    VALUE(sn_model_gain, == NULL, PTR(w.model));
    VOID(sn_model_zero, PTR(w.model), PTR(w.q));
    VOID(sn_model_integrate, PTR(w.model), PTR(w.q), PTR(w.v), PTR(w.big));
    VOID(sn_model_difference, PTR(w.model), PTR(w.q), PTR(w.q), PTR(w.big));
    VOID(sn_model_normalize, PTR(w.model), PTR(w.q));
    VALUE(sn_model_clamp, == 0, PTR(w.model), PTR(w.q));
    VOID(sn_model_sample, PTR(w.model), PTR(&state), PTR(w.big));
    STATUS(sn_model_check_pose, PTR(w.model), PTR(w.q), MAY(&error));
    VALUE(sn_model_next_leaf, == -1 || true, PTR(w.model), INDEX(0));
    VALUE(sn_model_parent, == -1, PTR(w.model), INDEX(1));
    VALUE(sn_model_mirror_joint, == -1, PTR(w.model), INDEX(0));
}

static void paths(void) { VALUE(sn_model_sweep_order, == NULL, PTR(w.model)); }

static void problems(void) {
    static void *out;
    static sn_error error;
    const double goal[4] = {1, 0.5, 0.25, 0};
    VALUE(sn_task_type_name, != NULL, ENUM(sn_task_type, SN_TASK_POINT));
    VALUE(sn_loss_name, != NULL, ENUM(sn_loss, SN_LOSS_NONE));
    STRUCT(sn_task_default, ENUM(sn_task_type, SN_TASK_POINT));
    STATUS(sn_problem_create, PTR(w.model), PTR(&w.task), COUNT(1), NULL, OUT(out, end_problem),
           MAY(&error));
    STATUS(sn_problem_create_markers, PTR(w.model), NULL, OUT(out, end_problem), MAY(&error));
    STATUS(sn_problem_read_json, PTR(w.tasks), strlen(w.tasks), PTR(w.model), NULL,
           OUT(out, end_problem), MAY(&error));
    STATUS(sn_problem_copy, PTR(w.problem), PTR(&w.task), COUNT(1), NULL, OUT(out, end_problem),
           MAY(&error));
    VOID(sn_problem_destroy, MAY((sn_problem *)NULL));
    VALUE(sn_problem_model, == NULL, PTR(w.problem));
    VALUE(sn_problem_ntask, == 0, PTR(w.problem));
    VALUE(sn_problem_task, == NULL, PTR(w.problem), INDEX(0));
    VALUE(sn_problem_task_active, == false, PTR(w.problem), INDEX(0));
    double at[3] = {goal[0], goal[1], goal[2]}, turn[4] = {1, 0, 0, 0};
    STATUS(sn_problem_set_goal, PTR(w.problem), INDEX(MISUSE_POINT), PTR((at[1] = NUM(0.5), at)));
    STATUS(sn_problem_set_local, PTR(w.problem), INDEX(MISUSE_POINT), PTR((at[2] = NUM(0.5), at)));
    STATUS(sn_problem_set_rotation, PTR(w.problem), INDEX(MISUSE_ORIENTATION),
           PTR((turn[0] = NUM(1), turn)));
    STATUS(sn_problem_set_rest, PTR(w.problem), INDEX(MISUSE_REST), PTR(w.q));
    STATUS(sn_problem_set_rest_weights, PTR(w.problem), INDEX(MISUSE_REST), PTR(w.v));
    double matrix[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mass[1] = {1};
    STATUS(sn_problem_set_local2, PTR(w.tied), INDEX(MISUSE_DISTANCE), PTR((at[0] = NUM(0.5), at)));
    STATUS(sn_problem_set_axis, PTR(w.tied), INDEX(MISUSE_LINE), PTR((at[0] = NUM(0.5), at)));
    static const double corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    STATUS(sn_problem_set_corners, PTR(w.tied), INDEX(MISUSE_SUPPORT), PTR(corners), 3);
    STATUS(sn_problem_set_distance, PTR(w.tied), INDEX(MISUSE_DISTANCE), NUM(0.5));
    STATUS(sn_problem_set_rotation_weight, PTR(w.tied), INDEX(MISUSE_POSE), NUM(1));
    STATUS(sn_problem_set_matrix, PTR(w.tied), INDEX(MISUSE_POSE),
           PTR((matrix[0] = NUM(1), matrix)));
    STATUS(sn_problem_set_rotation_matrix, PTR(w.tied), INDEX(MISUSE_POSE),
           PTR((matrix[4] = NUM(1), matrix)));
    STATUS(sn_problem_set_coupling, PTR(w.tied), INDEX(MISUSE_COUPLED),
           PTR((matrix[8] = NUM(1), matrix)));
    STATUS(sn_problem_set_masses, PTR(w.tied), INDEX(MISUSE_CENTRE), PTR((mass[0] = NUM(1), mass)));
    STATUS(sn_problem_set_limits, PTR(w.problem), INDEX(0), INDEX(0), -1, 1);
    STATUS(sn_problem_set_locked, PTR(w.problem), INDEX(0), INDEX(0), false);
    STATUS(sn_problem_set_strength, PTR(w.problem), INDEX(0), INDEX(0), NUM(1));
    VALUE(sn_problem_lower, == NULL, PTR(w.problem));
    VALUE(sn_problem_upper, == NULL, PTR(w.problem));
    VALUE(sn_problem_gain, == NULL, PTR(w.problem));
    STATUS(sn_problem_set_weight, PTR(w.problem), INDEX(MISUSE_POINT), NUM(1));
    STATUS(sn_problem_set_level, PTR(w.problem), INDEX(MISUSE_POINT), INDEX(1));
    STATUS(sn_problem_set_loss, PTR(w.problem), INDEX(MISUSE_POINT), ENUM(sn_loss, SN_LOSS_HUBER),
           NUM(0.1));
    STATUS(sn_problem_set_enabled, PTR(w.problem), INDEX(0), true);
    STATUS(sn_problem_set_missing, PTR(w.problem), INDEX(0), false);
}

static void evaluations(void) {
    static sn_error error;
    static void *out;
    double f, pivot;
    const double local[3] = {0.1, 0, 0};
    const sn_frame frame = sn_workspace_frame(w.ws, 0);
    STATUS(sn_workspace_create, PTR(w.problem), true, NULL, OUT(out, end_workspace), MAY(&error));
    VOID(sn_workspace_destroy, MAY((sn_workspace *)NULL));
    STATUS(sn_workspace_eval, PTR(w.ws), PTR(w.q), SN_EVAL_HESSIAN, PTR(&f));
    STATUS(sn_workspace_pose, PTR(w.ws), PTR(w.q));
    STRUCT(sn_workspace_frame, PTR(w.ws), INDEX(0));
    STRUCT(sn_workspace_point, PTR(w.ws), INDEX(0), PTR(local));
    VALUE(sn_workspace_task_error, != 1e300, PTR(w.ws), INDEX(0));
    static sn_violation violated[2];
    VALUE(sn_workspace_violations, == 0, PTR(w.ws), PTR(violated), 2);
    VALUE(sn_workspace_distance, != 0, PTR(w.ws), INDEX(0), INDEX(0));
    VALUE(sn_workspace_loop_error, == 0, PTR(w.ws), INDEX(0));
    VOID(sn_workspace_gradient, PTR(w.ws), PTR(w.big));
    VOID(sn_workspace_hessian, PTR(w.ws), PTR(w.big));
    static int rows[4000], columns[4000];
    static double values[4000];
    VALUE(sn_workspace_sparse_hessian, == 0, PTR(w.ws), 4000, PTR(rows), PTR(columns), PTR(values));
    VALUE(sn_workspace_sweep_gradient, == NULL, PTR(w.ws));
    VOID(sn_workspace_multiply, PTR(w.ws), false, PTR(w.v), PTR(w.big));
    VALUE(sn_workspace_factor, >= 0, PTR(w.ws), MAY(w.v), MAY(w.keep), ANY(0), MAY(&pivot));
    VOID(sn_workspace_solve, PTR(w.ws), PTR(w.big));
    VOID(sn_workspace_curvature, PTR(w.ws), INDEX(0), PTR(w.big));
    VOID(sn_adjoint, PTR(&frame), PTR(w.big));
    VOID(sn_jacobian_simple, PTR(w.ws), INDEX(0), PTR(local), PTR(w.big));
    VOID(sn_jacobian_generic, PTR(w.ws), INDEX(0), PTR(w.big));
    VOID(sn_jacobian_adjusted, PTR(w.ws), INDEX(0), ENUM(sn_jacobian_frame, SN_JACOBIAN_POINT),
         PTR(local), SN_ROWS_BOTH, PTR(w.big));
    VOID(sn_jacobian_dot, PTR(w.ws), INDEX(0), ENUM(sn_jacobian_frame, SN_JACOBIAN_POINT),
         PTR(local), SN_ROWS_BOTH, PTR(w.v), PTR(w.big));
}

static void solvers(void) {
    static sn_error error;
    static void *out;
    sn_report report;
    sn_smooth_report smoothed;
    const sn_solver_options o = sn_solver_options_default();
    const sn_track_options t = sn_track_options_default();
    const sn_smooth_options s = sn_smooth_options_default();
    static sn_track_frame frames[MISUSE_FRAMES];
    VALUE(sn_stop_text, != NULL, ENUM(sn_stop, SN_STOP_GOAL));
    VALUE(sn_method_name, != NULL, ENUM(sn_method, SN_METHOD_LM));
    VALUE(sn_method_find, == SN_METHOD_COUNT, PTR("lm"));
    VALUE(sn_method_available, == false, ENUM(sn_method, SN_METHOD_LM));
    NONE(sn_solver_options_default);
    STATUS(sn_solver_create, PTR(w.problem), OPTIONS(o), NULL, OUT(out, end_solver), MAY(&error));
    VOID(sn_solver_destroy, MAY((sn_solver *)NULL));
    STATUS(sn_solver_solve, PTR(w.solver), PTR(w.q), PTR(&report));
    STATUS(sn_solver_solve_cold, PTR(w.solver), PTR(w.q), PTR(&report));
    VALUE(sn_solver_workspace, == NULL, PTR(w.solver));
    NONE(sn_track_options_default);
    STATUS(sn_tracker_create, PTR(w.problem), OPTIONS(t), NULL, OUT(out, end_tracker), MAY(&error));
    VOID(sn_tracker_destroy, MAY((sn_tracker *)NULL));
    STATUS(sn_tracker_run, PTR(w.tracker), COUNT(2), PTR(no_goals), NULL, PTR(w.q), PTR(w.big),
           MAY(frames));
    STATUS(sn_tracker_begin, PTR(w.tracker), COUNT(2), PTR(no_goals), NULL, PTR(w.q), PTR(w.big),
           MAY((sn_track_frame *)NULL));
    int solved;
    STATUS(sn_tracker_advance, PTR(w.tracker), 1, PTR(&solved));
    NONE(sn_smooth_options_default);
    STATUS(sn_smoother_create, PTR(w.problem), OPTIONS(s), NULL, OUT(out, end_smoother),
           MAY(&error));
    VOID(sn_smoother_destroy, MAY((sn_smoother *)NULL));
    STATUS(sn_smoother_run, PTR(w.smoother), COUNT(1), PTR(no_goals), NULL, PTR(w.q),
           PTR(&smoothed));
}

static void motions(void) {
    static sn_error error;
    static void *out;
    static sn_clip_rate what;
    const char *labels[] = {"a", "b"};
    const sn_recording_info info = {.nframe = 2, .nmarker = 2, .rate = 100};
    sn_table_info columns = sn_table_info_default();
    columns.ncolumn = 2, columns.nrow = 1;
    STATUS(sn_recording_create, PTR(&info), PTR(labels), NULL, OUT(out, end_recording),
           MAY(&error));
    VOID(sn_recording_destroy, MAY((sn_recording *)NULL));
    VALUE(sn_recording_about, == NULL, PTR(w.recording));
    VALUE(sn_recording_frame, == NULL, PTR(w.recording), INDEX(0));
    VALUE(sn_recording_edit, == NULL, PTR(w.recording), INDEX(0));
    VALUE(sn_recording_present, == false, PTR(w.recording), INDEX(0), INDEX(0));
    VALUE(sn_recording_missing, >= 0, PTR(w.recording), INDEX(0));
    VALUE(sn_recording_label, == NULL, PTR(w.recording), INDEX(0));
    VALUE(sn_label_name, == NULL, PTR("a:b"));
    VALUE(sn_recording_find, == -1, PTR(w.recording), PTR("LFHD"));
    STRUCT(sn_recording_samples, MAY(w.recording));
    VALUE(sn_unit_metres, == 0, PTR("mm"));
    STATUS(sn_motion_create, COUNT(2), COUNT(3), 1, ANY(100), NULL, OUT(out, end_motion),
           MAY(&error));
    VOID(sn_motion_destroy, MAY((sn_motion *)NULL));
    VALUE(sn_motion_nframe, == 0, PTR(w.motion));
    VALUE(sn_motion_nq, == 0, PTR(w.motion));
    VALUE(sn_motion_first_frame, == 0, PTR(w.motion));
    VALUE(sn_motion_rate, == 0, PTR(w.motion));
    VALUE(sn_motion_time_offset, == 0, PTR(w.motion));
    VOID(sn_motion_set_time_offset, PTR(w.motion), ANY(0));
    VALUE(sn_motion_frame, == NULL, PTR(w.motion), INDEX(0));
    VALUE(sn_motion_edit, == NULL, PTR(w.motion), INDEX(0));
    STATUS(sn_recording_resample, PTR(w.recording), NUM(50), NULL, OUT(out, end_recording),
           MAY(&error));
    STATUS(sn_motion_resample, PTR(w.model), PTR(w.motion), NUM(50), NULL, OUT(out, end_motion),
           MAY(&error));
    NONE(sn_clip_default);
    const sn_clip some = sn_clip_default();
    STATUS(sn_motion_clip, PTR(w.model), PTR(w.motion), PTR(&some), NULL, OUT(out, end_motion),
           MAY(&what), MAY(&error));
    STATUS(sn_recording_clip, PTR(w.recording), PTR(&some), NULL, OUT(out, end_recording),
           MAY(&what), MAY(&error));
    NONE(sn_table_info_default);
    STATUS(sn_table_create, PTR(&columns), PTR(labels), NULL, OUT(out, end_table), MAY(&error));
    VOID(sn_table_destroy, MAY((sn_table *)NULL));
    VALUE(sn_table_about, == NULL, PTR(w.table));
    VALUE(sn_table_row, == NULL, PTR(w.table), INDEX(0));
    VALUE(sn_table_edit, == NULL, PTR(w.table), INDEX(0));
    VALUE(sn_table_column, == NULL, PTR(w.table), INDEX(0));
    VALUE(sn_table_find, == -1, PTR(w.table), PTR("time"));
    VALUE(sn_table_at, != 0, PTR(w.table), INDEX(0), ANY(0.5));
    VALUE(sn_table_rate, == 0, PTR(w.table));
}

void misuse_core(void) {
    misuse_group(base_and_math);
    misuse_group(models);
    misuse_group(paths);
    misuse_group(problems);
    misuse_group(evaluations);
    misuse_group(solvers);
    misuse_group(motions);
    misuse_group(arms);
    misuse_group(servos);
    misuse_group(batches);
}
