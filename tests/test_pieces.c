// SPDX-License-Identifier: MIT
// Pieces that whole solves pass through without noticing: random poses, the dense Hessian of coupled joints, what
// limited memory remembers, what names of markers tell.
#include "batch/make.h"
#include "model/model.h"
#include "take/fit.h"
#include "take/stretch.h"
#include "ties.h"
#include "track/each.h"

// Random poses: unit quaternions in all directions alike, plain coordinates all over their ranges.
static void samples(void **unused) {
    (void)unused;
    enum { DRAWN = 4000 };
    sn_builder *b;
    sn_model *model;
    sn_joint_desc d = sn_joint_default(SN_JOINT_FREE);
    assert_int_equal(sn_builder_create("samples", NULL, &b, NULL), SN_OK);
    d.name = "free";
    (void)sn_builder_joint(b, &d);
    d = sn_joint_default(SN_JOINT_HINGE);
    d.name = "hinge";
    d.parent = 0;
    (void)sn_builder_joint(b, &d);
    d = sn_joint_default(SN_JOINT_SLIDER);
    d.name = "slider";
    d.parent = 1;
    d.lower[0] = 2, d.upper[0] = 5;
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    assert_int_equal(sn_model_nq(model), 9);
    const double pi = 3.141592653589793;
    const double low[9] = {-1, -1, -1, -1, -1, -1, -1, -pi, 2},
                 high[9] = {1, 1, 1, 1, 1, 1, 1, pi, 5};
    double mean[9] = {0}, square[9] = {0}, least[9], most[9];
    uint64_t state = 2;
    for (int i = 0; i < 9; i++) least[i] = INFINITY, most[i] = -INFINITY;
    for (int k = 0; k < DRAWN; k++) {
        double q[9], length = 0;
        sn_model_sample(model, &state, q);
        for (int i = 3; i < 7; i++) length += q[i] * q[i];
        assert_true(fabs(length - 1) < 1e-14);
        for (int i = 0; i < 9; i++) {
            mean[i] += q[i] / DRAWN, square[i] += q[i] * q[i] / DRAWN;
            least[i] = fmin(least[i], q[i]), most[i] = fmax(most[i], q[i]);
        }
    }
    for (int i = 0; i < 9; i++) {
        // a fourth of the square for each of a quaternion's numbers; a range's own else
        const double middle = 0.5 * (low[i] + high[i]), width = high[i] - low[i];
        const bool turn = i >= 3 && i < 7;
        const double spread = turn ? 0.25 : middle * middle + width * width / 12;
        assert_true(least[i] >= low[i] && most[i] <= high[i]);
        assert_true(most[i] - least[i] > 0.97 * width);
        assert_true(fabs(mean[i] - middle) < 0.03 * width);
        assert_true(fabs(square[i] - spread) <
                    0.04 * (turn ? 0.25 : middle * fabs(middle) + width));
    }
    sn_model_destroy(model);
}

// Followers' rows and columns are handed to those they follow, also where these follow others or several follow one.
static void dense_hessian_of_followers(void **unused) {
    (void)unused;
    uint64_t state = 12;
    int followers = 0, several = 0;
    for (int k = 0; k < cases(200); k++) {
        sn_model *model = coupled_model(&state, 3 + below(&state, 6), 4, false, 0);
        sn_problem *problem = random_problem(&state, model, 3, -1);
        sn_workspace *ws;
        assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
        const int n = sn_model_nv(model);
        double *q = calloc((size_t)sn_model_nq(model) + 1, sizeof *q), f, most = 1;
        double *H = calloc((size_t)(n * n) + 1, sizeof *H),
               *dense = calloc((size_t)(n * n) + 1, sizeof *H);
        double *damping = calloc((size_t)n + 1, sizeof *damping);
        sn_model_sample(model, &state, q);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_hessian(ws, H);
        for (int i = 0; i < n * n; i++) most = fmax(most, fabs(H[i]));
        for (int i = 0; i < n; i++) damping[i] = 10 * most;
        (void)sn_workspace_factor(ws, damping, NULL, 0, NULL);
        sn_workspace_dense(ws, false, dense);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                assert_near(dense[i + n * j] / most, H[model->v_of[i] + n * model->v_of[j]] / most,
                            1e-11);
        followers += model->ncoupling;
        several += model->ncoupling > 1;
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
        free(q), free(H), free(dense), free(damping);
    }
    assert_true(followers > cases(200) && several > cases(200) / 4);
}

// Iterations that lbfgs needs with so many pairs kept, on a quadratic of twelve sliders.
static int steps_with(const sn_problem *problem, int memory) {
    sn_solver_options o = sn_solver_options_default();
    sn_solver *solver;
    sn_report report;
    double q[12] = {0};
    o.method = SN_METHOD_LBFGS;
    o.memory = memory;
    o.max_iterations = 2000;
    o.gradient = 1e-9;
    assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
    assert_int_equal(sn_solver_solve(solver, q, &report), SN_OK);
    assert_int_equal(report.stop, SN_STOP_MINIMUM);
    sn_solver_destroy(solver);
    return report.iterations;
}

// More that is remembered is fewer steps, until all of it is: a place that is written over, or never read, shows.
static void limited_memory(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_task task[12];
    sn_problem *problem;
    uint64_t state = 3;
    assert_int_equal(sn_builder_create("sliders", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 12; i++) {
        char name[8];
        sn_joint_desc d = sn_joint_default(SN_JOINT_SLIDER);
        (void)snprintf(name, sizeof name, "j%d", i);
        d.name = name;
        d.parent = i - 1;
        for (int c = 0; c < 3; c++) d.axis[c] = uniform(&state, -1, 1);
        (void)sn_builder_joint(b, &d);
        task[i] = sn_task_default(SN_TASK_POINT);
        task[i].joint = i;
        task[i].weight = exp(uniform(&state, -3, 3));
        for (int c = 0; c < 3; c++) task[i].goal[c] = uniform(&state, -1, 1);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create(model, task, 12, NULL, &problem, NULL), SN_OK);
    const int memory[] = {1, 3, 6, 12, 40};
    int steps[5];
    for (int i = 0; i < 5; i++) {
        steps[i] = steps_with(problem, memory[i]);
        print_message("lbfgs with %d pairs: %d steps\n", memory[i], steps[i]);
    }
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    sn_builder_destroy(b);
    assert_true(steps[1] < steps[0] && steps[2] < steps[1] && steps[3] < steps[2] &&
                steps[4] <= steps[3]);
}

// At once, or only when it is asked again.
static bool ask_again(void *user) { return --*(int *)user < 0; }

// What ends a solve from outside ends one with levels, too, and is what is reported.
static void levels_end(void **unused) {
    (void)unused;
    sn_model *model;
    sn_task task[2];
    sn_problem *problem;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    for (int i = 0; i < 2; i++) {
        task[i] = sn_task_default(SN_TASK_POINT);
        task[i].joint = sn_model_njoint(model) - 1 - 5 * i;
        task[i].level = i;
        memcpy(task[i].goal, (double[3]){3, 1 + i, 2}, 3 * sizeof(double));
    }
    assert_int_equal(sn_problem_create(model, task, 2, NULL, &problem, NULL), SN_OK);
    int cancelled = 0;
    for (int i = 0; i < 30; i++) {
        int asked = i - 2;
        sn_solver_options o = sn_solver_options_default();
        sn_solver *solver;
        sn_report r;
        double q[80];
        if (i == 0) o.max_iterations = 2;
        if (i == 1) o.seconds = 1e-9;
        if (i >= 2) o.cancel = (sn_cancel){ask_again, &asked};
        sn_model_zero(model, q);
        assert_int_equal(sn_solver_create(problem, &o, NULL, &solver, NULL), SN_OK);
        assert_int_equal(sn_solver_solve(solver, q, &r), SN_OK);
        // one that is asked less often is done before
        bool told = asked < 0;
        cancelled += i >= 2 && told;
        assert_int_equal(r.stop, i == 0   ? SN_STOP_ITERATIONS
                                 : i == 1 ? SN_STOP_TIME
                                 : told   ? SN_STOP_CANCELLED
                                          : SN_STOP_MINIMUM);
        if (i == 0) assert_int_equal(r.iterations, 2);
        sn_solver_destroy(solver);
    }
    assert_true(cancelled > 15);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// How well the place of a marker is known, by its name: metres; how far skin carries it, and how far joints are bent
// where a sample says half as much, degrees.
static void names_tell(void **unused) {
    (void)unused;
    static const struct {
        double doubt, skin, bent;
        const char *names[9];
    } all[] = {
        {0.005, 0.01, 0, {"LHJC", "R_KJC", "ajc", "RSJC", "L.EJC", "WJC", "knee joint centre"}},
        {0.007, 0.005, 60, {"LASI", "R.ASIS", "RPSI", "SACR", "LFWT", "RBWT", "FWT", "V_Sacral"}},
        {0.012, 0.007, 40, {"RSHO", "LACR", "r_shoulder", "Acromion", "C7", "sternum"}},
        {0.012,
         0.007,
         40,
         {"LKNE", "RANK", "LELB", "lateral_malleolus", "RWRA", "Wrist", "r ulna"}},
        {0.025, 0.007, 40, {"T10", "t8", "T12", "L1"}},
        {0.2, 0.01, 80, {"LSK1", "RFT3", "PV2", "pv4", "R.TH4"}},
        {0.024, 0.006, 40, {"LFHD", "RBHD", "Subject_LFHD"}},
        {0.025, 0.01, 40, {"RFIN", "LFIN", "fin", "Top.Head", "LEAR", "nose", "r_iliac_crest"}},
        {0.2,
         0.01,
         80,
         {"LTHI", "RTIB", "thigh1", "shank cluster", "xfin", "earx", "LUPA", "q17", ""}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int k = 0; k < 9 && all[i].names[k] != NULL; k++) {
            const double doubt = sn_doubt_of_name(all[i].names[k]);
            if (doubt != all[i].doubt)
                fail_msg("%s: %g for %g", all[i].names[k], doubt, all[i].doubt);
            if (sn_bent_of_name(all[i].names[k]) != all[i].bent)
                fail_msg("%s: half at %g degrees", all[i].names[k],
                         sn_bent_of_name(all[i].names[k]));
            // a marker that skin carries half as far counts four times
            const double ratio = 0.01 / all[i].skin, weight = sn_weight_of_name(all[i].names[k]);
            if (fabs(weight - ratio * ratio) > 1e-12)
                fail_msg("%s counts %g for %g", all[i].names[k], weight, ratio * ratio);
        }
    assert_true(sn_is_tracking_name("LFT1") && sn_is_tracking_name("RTHI"));
    assert_true(!sn_is_tracking_name("q17") && !sn_is_tracking_name("LKNE"));
}

// A document's own facts go on with it.
static void scene_of_a_document(void **unused) {
    (void)unused;
    sn_model *model;
    sn_motion *motion;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_motion_create(1, sn_model_nq(model), 0, 100, NULL, &motion, NULL), SN_OK);
    for (int up = 0; up < 3; up++) {
        const sn_document d = {
            .model = model, .motion = motion, .up = up, .up_sign = up == 2 ? -1 : 1};
        const sn_scene s = sn_scene_of(&d);
        assert_true(s.model == model && s.motion == motion && s.recording == NULL &&
                    s.skeleton == NULL);
        assert_true(s.up == up && s.up_sign == d.up_sign);
        assert_int_equal(s.version, sn_scene_default(NULL).version);
    }
    assert_true(sn_scene_of(NULL).model == NULL && sn_scene_of(NULL).up == 1);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// A limit that a coordinate stands at and nothing pushes against holds nothing.
static void limits_without_a_push(void **unused) {
    (void)unused;
    for (int side = 0; side < 2; side++) {
        sn_builder *b;
        sn_model *model;
        sn_problem *problem;
        sn_solver *solver;
        sn_report report;
        sn_task task = sn_task_default(SN_TASK_POINT);
        sn_joint_desc d = sn_joint_default(SN_JOINT_SLIDER);
        d.name = "slider";
        d.axis[0] = 1, d.axis[1] = d.axis[2] = 0;
        d.lower[0] = -1, d.upper[0] = 1;
        assert_int_equal(sn_builder_create("slider", NULL, &b, NULL), SN_OK);
        (void)sn_builder_joint(b, &d);
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        double q = side == 0 ? -1 : 1;
        task.joint = 0;
        // off to the side of where it stands, and then a little beyond it
        for (int beyond = 0; beyond < 2; beyond++) {
            task.goal[0] = q * (1 + beyond), task.goal[1] = 0.5;
            assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
            assert_int_equal(sn_solver_create(problem, NULL, NULL, &solver, NULL), SN_OK);
            assert_int_equal(sn_solver_solve(solver, &q, &report), SN_OK);
            assert_int_equal(report.active, beyond);
            assert_true(q == (side == 0 ? -1 : 1));
            sn_solver_destroy(solver);
            sn_problem_destroy(problem);
        }
        sn_model_destroy(model);
        sn_builder_destroy(b);
    }
}

// Where the goals of tasks stand in a row of a batch; -1 for those that have none.
static void goal_places(void **unused) {
    (void)unused;
    sn_model *model;
    sn_problem *problem;
    sn_batch *batch;
    double rest[80];
    sn_task task[4] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_REST),
                       sn_task_default(SN_TASK_ORIENTATION), sn_task_default(SN_TASK_POINT)};
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    sn_model_zero(model, rest);
    task[1].q = rest;
    for (int i = 0; i < 4; i++)
        if (i != 1) task[i].joint = 5 * i;
    assert_int_equal(sn_problem_create(model, task, 4, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_batch_create(problem, NULL, NULL, &batch, NULL), SN_OK);
    const int at[4] = {0, -1, 3, 7};
    for (int i = 0; i < 4; i++) assert_int_equal(sn_batch_goal_at(batch, i), at[i]);
    assert_int_equal(sn_batch_ngoal(batch), 10);
    sn_batch_destroy(batch);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

// What lanes do not do is left to the plain solver, each for its own reason.
static void unfit_for_lanes(void **unused) {
    (void)unused;
#define HINGE(name, more)                                                                          \
    "{\"name\": \"" name "\", \"type\": \"hinge\", \"axis\": [0, 0, 1]" more "}"
#define ARM HINGE("a", "") ", " HINGE("b", ", \"parent\": \"a\", \"position\": [1, 0, 0]")
#define FOLLOWS(of, y)                                                                             \
    "\"couplings\": [{\"joint\": \"c\", \"of\": [" of "], \"function\": \"linear\", \"y\": [" y    \
    "]}]"
    static const struct {
        const char *model, *why;
        sn_task_type type;
        sn_method method;
    } all[] = {
        {ARM "]", NULL, SN_TASK_POINT, SN_METHOD_HYBRID},
        {ARM "]", "the method is not", SN_TASK_POINT, SN_METHOD_LBFGS},
        {ARM "], \"loops\": [{\"type\": \"distance\", \"joint\": \"b\", \"distance\": 1}]", "loops",
         SN_TASK_POINT, SN_METHOD_HYBRID},
        {ARM ", " HINGE("c", ", \"parent\": \"a\", \"limits\": [[-1, 1]]") "], " FOLLOWS(
             "\"a\", \"b\"", "1, 1, 0"),
         "limits of a coordinate that follows several", SN_TASK_POINT, SN_METHOD_HYBRID},
        {ARM ", " HINGE("c", ", \"parent\": \"b\"") "], " FOLLOWS("\"b\"", "1, 0"), NULL,
         SN_TASK_POINT, SN_METHOD_HYBRID},
        {HINGE("a", "") ", " HINGE("c", ", \"parent\": \"a\"") "], " FOLLOWS("\"a\"", "1, 0"),
         "tasks see coordinates", SN_TASK_POINT, SN_METHOD_HYBRID},
        {HINGE("a", "") ", {\"name\": \"b\", \"type\": \"ball\", \"parent\": \"a\", \"swing\": 1}]",
         "a ball", SN_TASK_POINT, SN_METHOD_HYBRID},
        {ARM "]", "must not happen", SN_TASK_HALF_SPACE, SN_METHOD_HYBRID},
        {ARM "]", "posture", SN_TASK_POSTURE, SN_METHOD_HYBRID},
        {ARM "]", "several bodies", SN_TASK_RELATIVE, SN_METHOD_HYBRID},
    };
#undef HINGE
#undef ARM
#undef FOLLOWS
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char text[1000];
        sn_model *model;
        sn_problem *problem;
        sn_error error = {0};
        (void)snprintf(text, sizeof text, "{\"joints\": [%s}", all[i].model);
        if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
            fail_msg("%s: %s", text, error.text);
        double zero[8];
        sn_model_zero(model, zero);
        sn_task task = sn_task_default(all[i].type);
        task.joint = all[i].type == SN_TASK_POSTURE ? -1 : 1;
        task.q = zero;
        task.normal[1] = 1;
        if (all[i].type == SN_TASK_RELATIVE) task.joint2 = 0;
        if (sn_problem_create(model, &task, 1, NULL, &problem, &error) != SN_OK)
            fail_msg("%d: %s", (int)i, error.text);
        sn_solver_options o = sn_solver_options_default();
        o.method = all[i].method;
        const char *why = sn_batch_unfit(problem, &o);
        if (why == NULL ? all[i].why != NULL
                        : all[i].why == NULL || strstr(why, all[i].why) == NULL)
            fail_msg("%d: %s for %s", (int)i, why, all[i].why);
        sn_problem_destroy(problem);
        sn_model_destroy(model);
    }
}

// No version is 0: options that were zeroed instead of asked for could not be told from good ones.
static void zeroed_versions(void **unused) {
    (void)unused;
    const uint32_t versions[] = {
        sn_arm_options_default().version,      sn_batch_options_default().version,
        sn_asf_options_default().version,      sn_bvh_options_default().version,
        sn_export_options_default().version,   sn_c3d_options_default().version,
        sn_markers_options_default().version,  sn_urdf_options_default().version,
        sn_document_options_default().version, sn_servo_options_default().version,
        sn_solver_options_default().version,   sn_learn_options_default().version,
        sn_take_options_default().version,     sn_imu_options_default().version,
        sn_track_options_default().version,    sn_smooth_options_default().version,
    };
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) assert_true(versions[i] > 0);
}

// How far a coordinate may go is found from how far its follower may, also where that is a long way off.
static void ranges_of_leaders(void **unused) {
    (void)unused;
    const double knots[3] = {0, 1, 2}, rises[3] = {0, 1, 1.001}, cubic[4] = {0, -3, 0, 1};
    const struct {
        sn_function f;
        double low, high, lower, upper;
    } all[] = {
        // its slope is 0 at -1 and 1
        {{SN_FUNCTION_POLYNOMIAL, 1, 1, {0}, 0, 4, NULL, cubic}, -18, 18, -3, 3},
        {{SN_FUNCTION_POLYNOMIAL, 2, 1, {0}, 0, 4, NULL, cubic}, -36, 36, -3, 3},
        // beyond its knots it hardly rises
        {{SN_FUNCTION_POLYLINE, 1, 1, {0}, 3, 3, knots, rises}, -1, 2, -1, 1001},
        {{SN_FUNCTION_LINEAR, 0.001, 1, {0}, 0, 2, NULL, (const double[]){1, 0.5}},
         -1,
         2,
         -1000.5,
         1999.5},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double room[32], lower = -INFINITY, upper = INFINITY;
        assert_true(sn_driver_numbers(&all[i].f) <= 32);
        const sn_driver driver = sn_driver_make(&all[i].f, room);
        assert_true(sn_driver_range(&driver, all[i].low, all[i].high, &lower, &upper));
        print_message("%s: %.12g to %.12g\n", sn_function_type_name(all[i].f.type), lower, upper);
        assert_true(fabs(lower - all[i].lower) < 1e-6 && fabs(upper - all[i].upper) < 1e-6);
    }
}

// Memory is what somebody else has left in it.
static void *acquire_used(void *user, size_t bytes) {
    (void)user;
    void *block = malloc(bytes);
    if (block != NULL) memset(block, 0x5a, bytes);
    return block;
}
static void release_used(void *user, void *block) {
    (void)user;
    free(block);
}

// What the angles of a figure's joints are called, whatever was in the memory before.
static void terms_of_angles(void **unused) {
    (void)unused;
    const sn_allocator used = {.acquire = acquire_used, .release = release_used};
    sn_model *model;
    int named = 0;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    for (int j = 0; j < sn_model_njoint(model); j++)
        for (int i = 0; i < sn_model_joint_nv(model, j); i++) {
            const char *term, *again;
            assert_int_equal(sn_fit_angle_term(model, j, i, NULL, &term), SN_OK);
            assert_int_equal(sn_fit_angle_term(model, j, i, &used, &again), SN_OK);
            assert_string_equal(again, term);
            named += term[0] != '\0';
        }
    const char *knee;
    assert_int_equal(
        sn_fit_angle_term(model, sn_model_find_joint(model, "left_shin"), 0, &used, &knee), SN_OK);
    print_message("%d angles have names; the knee's is %s\n", named, knee);
    assert_true(named > 20 && strstr(knee, "flexion") != NULL);
    sn_model_destroy(model);
}

// A table that counts frames and has no times starts where its first frame says; one without rows nowhere.
static void tables_without_times(void **unused) {
    (void)unused;
    const char *const names[] = {"frame", "A.X", "A.Y", "A.Z"};
    const sn_allocator used = {.acquire = acquire_used, .release = release_used};
    for (int n = 0; n < 2; n++) {
        sn_table_info info = sn_table_info_default();
        sn_table *table;
        sn_recording *recording;
        info.nrow = n == 0 ? 3 : 0, info.ncolumn = 4;
        info.frame = n == 0 ? 0 : -1, info.time = n == 0 ? -1 : 0;
        info.rate = 100;
        assert_int_equal(sn_table_create(&info, names, &used, &table, NULL), SN_OK);
        for (int i = 0; i < info.nrow; i++) {
            double *row = sn_table_edit(table, i);
            row[0] = 8 + i, row[1] = 1, row[2] = 2, row[3] = i;
        }
        assert_int_equal(sn_recording_from_table(table, "mm", &used, &recording, NULL), SN_OK);
        const sn_recording_info *about = sn_recording_about(recording);
        assert_int_equal(about->nframe, info.nrow);
        assert_true(about->time_offset == 0 && about->rate == 100);
        if (n == 0) assert_int_equal(about->first_frame, 8);
        sn_recording_destroy(recording);
        sn_table_destroy(table);
    }
}

static void each_goal(void *user, int frame, double *row, double *share) {
    (void)user;
    row[0] = 0.19 * frame, row[1] = 0.11 * frame, row[2] = 0;
    *share = 1;
}

// Frames side by side, each with as many coordinates at a limit as its own pose has.
static void frames_by_themselves(void **unused) {
    (void)unused;
    enum { FRAMES = 20 };
    sn_builder *b;
    sn_model *model;
    sn_problem *problem;
    sn_batch *batch;
    sn_task task = sn_task_default(SN_TASK_POINT);
    assert_int_equal(sn_builder_create("table", NULL, &b, NULL), SN_OK);
    for (int i = 0; i < 2; i++) {
        sn_joint_desc d = sn_joint_default(SN_JOINT_SLIDER);
        d.name = i == 0 ? "x" : "y";
        d.parent = i - 1;
        for (int c = 0; c < 3; c++) d.axis[c] = c == i;
        d.lower[0] = -1, d.upper[0] = 1;
        (void)sn_builder_joint(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    task.joint = 1;
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_batch_create(problem, NULL, NULL, &batch, NULL), SN_OK);
    const sn_each_rows rows = {batch, each_goal, NULL};
    const double start[2] = {0, 0};
    double q[2 * FRAMES];
    sn_lane_frame frames[FRAMES];
    sn_each each;
    assert_int_equal(sn_each_begin(&each, &rows, FRAMES, start, NULL, q, frames), SN_OK);
    assert_int_equal(sn_each_advance(&each, -1), SN_OK);
    for (int f = 0; f < FRAMES; f++) {
        const double x = 0.19 * f, y = 0.11 * f;
        assert_near(q[2 * f], fmin(x, 1), 1e-6);
        assert_near(q[2 * f + 1], fmin(y, 1), 1e-6);
        assert_int_equal(frames[f].active, (x > 1) + (y > 1));
    }
    sn_each_end(&each);
    sn_batch_destroy(batch);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    sn_builder_destroy(b);
}

// A body that grows takes along where the next joint is and how far that slides with its angle, not its other slides.
static void stretched_joints(void **unused) {
    (void)unused;
    uint64_t state = 21;
    for (int n = 0; n < 20; n++) {
        sn_joint_functions given = {.nmove = 3}, room;
        sn_joint_desc d = sn_joint_default(SN_JOINT_FUNCTION);
        sn_mat3 stretch;
        double s[9], length = 0;
        for (int i = 0; i < 9; i++) s[i] = uniform(&state, -1, 1);
        for (int i = 0; i < 3; i++) stretch.c[i] = v3(s[3 * i], s[3 * i + 1], s[3 * i + 2]);
        for (int i = 0; i < 4; i++) {
            d.rotation[i] = uniform(&state, -2, 2);
            length += d.rotation[i] * d.rotation[i];
        }
        for (int i = 0; i < 3; i++) d.position[i] = uniform(&state, -1, 1);
        // a turn by the first coordinate; a slide that follows it; a slide by the second
        for (int m = 0; m < 3; m++) {
            for (int i = 0; i < 3; i++) given.move[m].axis[i] = uniform(&state, -1, 1);
            given.move[m].turns = m == 0;
            given.move[m].function.nargument = 1;
            given.move[m].function.argument[0] = m == 2;
        }
        const sn_joint_desc before = d;
        d.functions = &given;
        sn_stretch_joint(&d, &stretch, &room);
        const sn_quat q = {d.rotation[0] / sqrt(length), d.rotation[1] / sqrt(length),
                           d.rotation[2] / sqrt(length), d.rotation[3] / sqrt(length)};
        const sn_mat3 R = sn_mat3_from_quat(q);
        const sn_vec3 place = m3_mul(&stretch, v3_from(before.position));
        // seen from the parent both axes are the same, but for the stretch
        const sn_vec3 wanted = m3_mul(&stretch, m3_mul(&R, v3_from(given.move[1].axis)));
        const sn_vec3 got = m3_mul(&R, v3_from(d.functions->move[1].axis));
        assert_near(v3_norm(v3_sub(v3_from(d.position), place)), 0, 1e-14);
        assert_near(v3_norm(v3_sub(got, wanted)), 0, 1e-14);
        for (int m = 0; m < 3; m += 2)
            assert_memory_equal(d.functions->move[m].axis, given.move[m].axis,
                                sizeof given.move[m].axis);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(dense_hessian_of_followers),
        cmocka_unit_test(limited_memory),
        cmocka_unit_test(levels_end),
        cmocka_unit_test(names_tell),
        cmocka_unit_test(scene_of_a_document),
        cmocka_unit_test(limits_without_a_push),
        cmocka_unit_test(goal_places),
        cmocka_unit_test(zeroed_versions),
        cmocka_unit_test(unfit_for_lanes),
        cmocka_unit_test(stretched_joints),
        cmocka_unit_test(frames_by_themselves),
        cmocka_unit_test(terms_of_angles),
        cmocka_unit_test(tables_without_times),
        cmocka_unit_test(ranges_of_leaders),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
