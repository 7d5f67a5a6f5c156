// SPDX-License-Identifier: MIT
// Tasks: the file and its errors, setters that refuse and keep, tasks that are off.
#include "math/rotation.h"
#include "reference.h"
#include "support.h"

static sn_model *person;

static int begin(void **unused) {
    (void)unused;
    return sn_model_humanoid(NULL, &person, NULL) == SN_OK ? 0 : -1;
}

static int end(void **unused) {
    (void)unused;
    sn_model_destroy(person);
    return 0;
}

static sn_problem *read_tasks(const char *text) {
    sn_problem *problem;
    sn_error error = {0};
    if (sn_problem_read_json(text, strlen(text), person, NULL, &problem, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return problem;
}

// A list of numbers for a file.
static char *numbers(int n, double value, char *out) {
    char *at = out;
    for (int i = 0; i < n; i++) at += sprintf(at, "%c%g", i == 0 ? '[' : ',', value);
    (void)sprintf(at, "]");
    return out;
}

static void reads_points(void **unused) {
    (void)unused;
    sn_problem *p =
        read_tasks("{\"sinew\": 1, \"name\": \"n\", \"_note\": 0, \"tasks\": ["
                   "{\"type\": \"point\", \"joint\": \"head\", \"goal\": [1,2,3]},"
                   "{\"name\": \"x\", \"type\": \"point\", \"joint\": \"chest\", \"goal\":"
                   "[1,2,3], \"local\": [4,5,6], \"weight\": 7},"
                   "{\"type\": \"point\", \"joint\": \"head\", \"goal\": [1,2,3],"
                   "\"weight\": [[2,1,0],[1,2,0],[0,0,0]]}]}");
    assert_int_equal(sn_problem_ntask(p), 3);
    assert_ptr_equal(sn_problem_model(p), person);
    const sn_task *t = sn_problem_task(p, 0);
    assert_int_equal(t->type, SN_TASK_POINT);
    assert_int_equal(t->joint, sn_model_find_joint(person, "head"));
    assert_true(t->goal[0] == 1 && t->goal[1] == 2 && t->goal[2] == 3 && t->weight == 1);
    assert_true(t->local[0] == 0 && !t->has_matrix);
    t = sn_problem_task(p, 1);
    assert_true(t->local[0] == 4 && t->local[2] == 6 && t->weight == 7);
    t = sn_problem_task(p, 2);
    assert_true(t->has_matrix && t->matrix[0] == 2 && t->matrix[1] == 1 && t->matrix[8] == 0);
    assert_null(sn_problem_task(p, 3));
    assert_null(sn_problem_task(p, -1));
    assert_true(sn_problem_task_active(p, 0) && !sn_problem_task_active(p, 3));
    sn_problem_destroy(p);
    p = read_tasks("{\"tasks\": []}");
    assert_int_equal(sn_problem_ntask(p), 0);
    sn_problem_destroy(p);
    sn_problem_destroy(NULL);
}

// A body by its marker: the marker's joint, and points from the marker on; a direction has no place.
static void reads_links(void **unused) {
    (void)unused;
    sn_problem *p = read_tasks(
        "{\"tasks\": [{\"type\": \"point\", \"link\": \"LFHD\", \"goal\": [1,2,3], \"local\": "
        "[1,0,0]},"
        "{\"type\": \"point\", \"joint\": \"LFHD\", \"goal\": [1,2,3]},"
        "{\"type\": \"point\", \"link\": \"head\", \"goal\": [1,2,3]},"
        "{\"type\": \"direction\", \"link\": \"LFHD\", \"goal\": [0,1,0], \"local\": [0,1,0]}]}");
    const sn_marker_desc *m = sn_model_marker(person, sn_model_find_marker(person, "LFHD"));
    for (int i = 0; i < 2; i++) {
        const sn_task *t = sn_problem_task(p, i);
        assert_int_equal(t->joint, m->joint);
        assert_true(t->local[0] == m->position[0] + (i == 0) && t->local[2] == m->position[2]);
    }
    assert_int_equal(sn_problem_task(p, 2)->joint, sn_model_find_joint(person, "head"));
    assert_true(sn_problem_task(p, 2)->local[1] == 0);
    assert_true(sn_problem_task(p, 3)->local[0] == 0 && sn_problem_task(p, 3)->local[1] == 1);
    sn_problem_destroy(p);
}

static void reads_other_types(void **unused) {
    (void)unused;
    sn_problem *p = read_tasks(
        "{\"tasks\": ["
        "{\"type\": \"plane\", \"joint\": \"head\", \"point\": [1,2,3], \"normal\": [0,2,0]},"
        "{\"type\": \"direction\", \"joint\": \"head\", \"local\": [0,0,2], \"goal\": [3,0,0]},"
        "{\"type\": \"orientation\", \"joint\": \"head\", \"goal\": [0,2,0,0]},"
        "{\"type\": \"frame2\", \"joint\": \"head\", \"goal\": [1,2,3], \"i\": [0,1,0],"
        " \"j\": [0,0,1], \"weight\": 2, \"rotation_weight\": 3},"
        "{\"type\": \"pose\", \"joint\": \"head\", \"goal\": [1,2,3], \"rotation\": [1,0,0,1],"
        " \"weight\": 2},"
        "{\"type\": \"limit\", \"weight\": 4}, {\"type\": \"limit\", \"joint\": \"head\"}]}");
    static const sn_task_type types[] = {SN_TASK_PLANE,  SN_TASK_DIRECTION, SN_TASK_ORIENTATION,
                                         SN_TASK_FRAME2, SN_TASK_POSE,      SN_TASK_LIMIT,
                                         SN_TASK_LIMIT};
    assert_int_equal(sn_problem_ntask(p), 7);
    for (int i = 0; i < 7; i++) assert_int_equal(sn_problem_task(p, i)->type, types[i]);
    assert_true(sn_problem_task(p, 0)->goal[2] == 3 && sn_problem_task(p, 0)->normal[1] == 2);
    assert_true(sn_problem_task(p, 1)->local[2] == 2 && sn_problem_task(p, 1)->goal[0] == 3);
    assert_true(sn_problem_task(p, 2)->rotation[1] == 2);
    assert_true(sn_problem_task(p, 3)->i[1] == 1 && sn_problem_task(p, 3)->j[2] == 1);
    assert_true(sn_problem_task(p, 3)->weight == 2 && sn_problem_task(p, 3)->rotation_weight == 3);
    // without its own, the rotation has the weight of the point
    assert_true(sn_problem_task(p, 4)->rotation[3] == 1);
    assert_true(sn_problem_task(p, 4)->rotation_weight == 2);
    assert_true(sn_problem_task(p, 5)->joint == -1 && sn_problem_task(p, 5)->weight == 4);
    assert_int_equal(sn_problem_task(p, 6)->joint, sn_model_find_joint(person, "head"));
    sn_problem_destroy(p);
}

static void reads_rest(void **unused) {
    (void)unused;
    char q[512], w[512], text[2048];
    int nq = sn_model_nq(person), nv = sn_model_nv(person);
    (void)snprintf(text, sizeof text,
                   "{\"tasks\": [{\"type\": \"rest\", \"q\": %s, \"weight\": 2},"
                   "{\"type\": \"rest\", \"q\": %s, \"weight\": %s}]}",
                   numbers(nq, 0.5, q), q, numbers(nv, 3, w));
    sn_problem *p = read_tasks(text);
    const sn_task *t = sn_problem_task(p, 0);
    assert_true(t->weight == 2 && t->q[0] == 0.5 && t->q[nq - 1] == 0.5 &&
                t->q_weight[nv - 1] == 1);
    t = sn_problem_task(p, 1);
    assert_true(t->weight == 1 && t->q[0] == 0.5 && t->q_weight[0] == 3 &&
                t->q_weight[nv - 1] == 3);
    sn_problem_destroy(p);
}

static void json_refused(const char *text, sn_status status, int line, const char *part) {
    sn_problem *p = (sn_problem *)&line;
    sn_error error = {0};
    sn_status got = sn_problem_read_json(text, strlen(text), person, NULL, &p, &error);
    if (got != status) fail_msg("status %d (%s) for %.300s", (int)got, error.text, text);
    assert_null(p);
    assert_int_equal(error.status, status);
    if (error.line != line) fail_msg("line %d (%s) for %.300s", error.line, error.text, text);
    if (strstr(error.text, part) == NULL) fail_msg("'%s' for %.300s", error.text, text);
    assert_int_equal(sn_problem_read_json(text, strlen(text), person, NULL, &p, NULL), status);
}

static void json_file_errors(void **unused) {
    (void)unused;
    const sn_status T = SN_ERR_TASK;
    json_refused("[]", T, 1, "array \"tasks\"");
    json_refused("\n{}", T, 2, "array \"tasks\"");
    json_refused("{\"tasks\": {}}", T, 1, "array \"tasks\"");
    json_refused("{\"tasks\": [],\n\"task\": 1}", T, 2, "unknown key \"task\"");
    json_refused("{\"tasks\": [\n5]}", T, 2, "task 0: it must be an object");
    json_refused("{\"tasks\": [", SN_ERR_PARSE, 1, "");
    json_refused("{\"tasks\": [{\"type\": \"point\", \"joint\": \"head\",\n\"goal\": [NaN,0,0]}]}",
                 T, 2, "task 0 (point): \"goal\" must be an array of 3 finite numbers");
    json_refused(
        "{\"tasks\": [{\"type\": \"point\", \"joint\": \"head\",\n\"goal\": [0,1e999,0]}]}", T, 2,
        "task 0 (point): \"goal\" must be an array of 3 finite numbers");
    json_refused("{\"tasks\": [{\"type\": \"limit\", \"weight\": -Infinity}]}", T, 1,
                 "task 0 (limit)");
}

// Second tasks of a file, on line 3, each with what is wrong about it.
static const struct {
    const char *task, *part;
} wrong_tasks[] = {
    {"{}", "task 1: it has no \"type\""},
    {"{\"type\": 3}", "\"type\" must be a string"},
    {"{\"type\": \"pint\"}", "unknown type \"pint\"; did you mean \"point\"?"},
    {"{\"type\": \"point\", \"joint\": \"left_hnd\", \"goal\": [0,0,0]}",
     "there is no joint or link \"left_hnd\"; did you mean \"left_hand\"?"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weigth\": 1}",
     "unknown key \"weigth\"; did you mean \"weight\"?"},
    {"{\"type\": \"point\", \"goal\": [0,0,0]}", "needs \"joint\""},
    {"{\"type\": \"point\", \"joint\": 3, \"goal\": [0,0,0]}", "\"joint\" must be a string"},
    {"{\"type\": \"point\", \"joint\": \"zz\", \"goal\": [0,0,0]}",
     "there is no joint or link \"zz\""},
    {"{\"type\": \"point\", \"link\": \"head\", \"joint\": \"head\", \"goal\": [0,0,0]}", "both"},
    {"{\"type\": \"limit\", \"joint\": \"zz\"}", "there is no joint or link \"zz\""},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"colour\": 1}", "unknown key"},
    {"{\"type\": \"point\", \"joint\": \"head\"}", "needs \"goal\""},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0]}",
     "\"goal\" must be an array of 3"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0,0]}", "array of 3"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,null]}", "array of 3"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": 1}", "\"goal\" must be an array"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,1e60,0]}", "over 1e50"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"local\": [1]}", "\"local\""},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"local\": [1e60,0,0]}",
     "local"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\": -1}", "negative"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\": 1e51}", "1e50"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\": \"1\"}",
     "number or three rows"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\": [1,2,3]}",
     "three rows of three"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\": [[1,0],[0,1]]}",
     "three rows of three"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\":"
     " [[1,0,0],[0,1,0],[0,0,-1]]}",
     "positive semidefinite"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\":"
     " [[1,2,0],[2,1,0],[0,0,1]]}",
     "positive semidefinite"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\":"
     " [[1,1,-1],[1,1,1],[-1,1,1]]}",
     "positive semidefinite"},
    {"{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0,0,0], \"weight\":"
     " [[1,0.1,0],[0,1,0],[0,0,1]]}",
     "symmetric"},
    {"{\"type\": \"plane\", \"joint\": \"head\", \"normal\": [0,1,0]}", "needs \"point\""},
    {"{\"type\": \"plane\", \"joint\": \"head\", \"point\": [0,1,0]}", "needs \"normal\""},
    {"{\"type\": \"plane\", \"joint\": \"head\", \"point\": [0,1,0], \"normal\": [0,0,0]}",
     "normal is zero"},
    {"{\"type\": \"plane\", \"joint\": \"head\", \"point\": [0,0,0], \"normal\": [0,1,0],"
     " \"weight\": [[1,0,0],[0,1,0],[0,0,1]]}",
     "\"weight\" must be a number"},
    {"{\"type\": \"direction\", \"joint\": \"head\", \"goal\": [0,1,0]}", "needs \"local\""},
    {"{\"type\": \"direction\", \"joint\": \"head\", \"local\": [0,1,0]}", "needs \"goal\""},
    {"{\"type\": \"direction\", \"joint\": \"head\", \"local\": [0,0,0], \"goal\": [0,1,0]}",
     "local is a zero"},
    {"{\"type\": \"direction\", \"joint\": \"head\", \"local\": [0,1,0], \"goal\": [0,0,0]}",
     "goal is a zero"},
    {"{\"type\": \"orientation\", \"joint\": \"head\"}", "needs \"goal\""},
    {"{\"type\": \"orientation\", \"joint\": \"head\", \"goal\": [1,0,0]}", "array of 4"},
    {"{\"type\": \"orientation\", \"joint\": \"head\", \"goal\": [0,0,0,0]}", "rotation is zero"},
    {"{\"type\": \"frame2\", \"joint\": \"head\", \"goal\": [0,0,0], \"j\": [0,1,0]}",
     "needs \"i\""},
    {"{\"type\": \"frame2\", \"joint\": \"head\", \"goal\": [0,0,0], \"i\": [0,1,0]}",
     "needs \"j\""},
    {"{\"type\": \"frame2\", \"joint\": \"head\", \"i\": [1,0,0], \"j\": [0,1,0]}",
     "needs \"goal\""},
    {"{\"type\": \"frame2\", \"joint\": \"head\", \"goal\": [0,0,0], \"i\": [0,0,0], \"j\": "
     "[0,1,0]}",
     "i is zero"},
    {"{\"type\": \"frame2\", \"joint\": \"head\", \"goal\": [0,0,0], \"i\": [1,0,0], \"j\": "
     "[0,0,0]}",
     "j is zero"},
    {"{\"type\": \"pose\", \"joint\": \"head\", \"goal\": [0,0,0]}", "needs \"rotation\""},
    {"{\"type\": \"pose\", \"joint\": \"head\", \"rotation\": [1,0,0,0]}", "needs \"goal\""},
    {"{\"type\": \"pose\", \"joint\": \"head\", \"goal\": [0,0,0], \"rotation\": [0,0,0,0]}",
     "rotation is zero"},
    {"{\"type\": \"pose\", \"joint\": \"head\", \"goal\": [0,0,0], \"rotation\": [1,0,0,0],"
     " \"rotation_weight\": -1}",
     "rotation_weight is negative"},
    {"{\"type\": \"pose\", \"joint\": \"head\", \"goal\": [0,0,0], \"rotation\": [1,0,0,0],"
     " \"rotation_weight\": [1]}",
     "\"rotation_weight\" must be a number"},
    {"{\"type\": \"rest\"}", "needs \"q\""},
    {"{\"type\": \"rest\", \"q\": [1,2]}", "\"q\" must be an array of 59"},
    {"{\"type\": \"rest\", \"q\": 1}", "\"q\" must be an array"},
    {"{\"type\": \"rest\", \"q\": [], \"weight\": [1]}", "nv = 58"},
    {"{\"type\": \"limit\", \"weight\": [1]}", "\"weight\" must be a number"},
    {"{\"type\": \"limit\", \"weight\": -1}", "negative"},
};

static void json_task_errors(void **unused) {
    (void)unused;
    char text[1024];
    for (size_t i = 0; i < sizeof wrong_tasks / sizeof wrong_tasks[0]; i++) {
        (void)snprintf(text, sizeof text, "{\"tasks\": [\n{\"type\": \"limit\"},\n%s]}",
                       wrong_tasks[i].task);
        json_refused(text, SN_ERR_TASK, 3, wrong_tasks[i].part);
        json_refused(text, SN_ERR_TASK, 3, "task 1");
    }
    // the line of a field of its own
    json_refused("{\"tasks\": [{\"type\": \"point\",\n\"joint\":\n\"zz\", \"goal\": [0,0,0]}]}",
                 SN_ERR_TASK, 3, "\"zz\"");
}

static void json_rest_errors(void **unused) {
    (void)unused;
    char q[512], w[512], text[2048];
    int nq = sn_model_nq(person), nv = sn_model_nv(person);
    const struct {
        int nq, nw;
        double q, w;
        const char *part;
    } wrong[] = {{nq - 1, nv, 1, 1, "array of 59"}, {nq + 1, nv, 1, 1, "array of 59"},
                 {nq, nv - 1, 1, 1, "nv = 58"},     {nq, nq, 1, 1, "nv = 58"},
                 {nq, nv, 1, -1, "negative"},       {nq, nv, 1, 1e51, "weight"},
                 {nq, nv, 0, 1, "q is not"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"tasks\": [\n{\"type\": \"rest\", \"q\": %s,"
                       "\"weight\": %s}]}",
                       numbers(wrong[i].nq, wrong[i].q, q), numbers(wrong[i].nw, wrong[i].w, w));
        json_refused(text, SN_ERR_TASK, 2, wrong[i].part);
    }
}

static void json_truncated(void **unused) {
    (void)unused;
    const char *text = "{\"tasks\": [{\"type\": \"point\", \"joint\": \"head\", \"goal\": [1,2,3],"
                       "\"weight\": [[1,0,0],[0,1,0],[0,0,1]]}, {\"type\": \"limit\"}]}";
    for (size_t n = 0; n < strlen(text); n++) {
        sn_problem *p;
        char *cut = malloc(n == 0 ? 1 : n);
        assert_non_null(cut);
        memcpy(cut, text, n);
        assert_int_equal(sn_problem_read_json(cut, n, person, NULL, &p, NULL), SN_ERR_PARSE);
        assert_null(p);
        free(cut);
    }
    sn_problem_destroy(read_tasks(text));
}

static void create_refused(const sn_task *task, const char *part) {
    sn_problem *p = (sn_problem *)(uintptr_t)task;
    sn_error error = {0};
    sn_status status = sn_problem_create(person, task, 1, NULL, &p, &error);
    if (status != SN_ERR_TASK) fail_msg("status %d, not the one for: %s", (int)status, part);
    assert_null(p);
    if (strstr(error.text, part) == NULL) fail_msg("'%s' says not: %s", error.text, part);
}

static void create_errors(void **unused) {
    (void)unused;
    sn_problem *p;
    sn_error error;
    assert_int_equal(sn_problem_create(person, NULL, 1, NULL, &p, &error), SN_ERR_ARGUMENT);
    assert_int_equal(sn_problem_create(person, NULL, -1, NULL, &p, NULL), SN_ERR_ARGUMENT);
    for (int type = 0; type < SN_TASK_TYPE_COUNT; type++) {
        if (type == SN_TASK_REST) continue;
        sn_task t = sn_task_default((sn_task_type)type);
        for (int k = 0; k < 2 && type < SN_TASK_CENTRE_OF_MASS; k++) {
            t.joint = k == 0 ? sn_model_njoint(person) : -2;
            create_refused(&t, "joint does not exist");
        }
        bool pair = type == SN_TASK_PLANE || (type >= SN_TASK_RELATIVE && type <= SN_TASK_LINE);
        for (int k = 0; k < 2 && pair; k++) {
            t = sn_task_default((sn_task_type)type);
            t.joint = 1;
            t.joint2 = k == 0 ? sn_model_njoint(person) : -2;
            create_refused(&t, "joint2 does not exist");
        }
        t = sn_task_default((sn_task_type)type);
        t.weight = NAN;
        create_refused(&t, "weight");
        t.weight = INFINITY;
        create_refused(&t, "weight");
    }
    sn_task t = sn_task_default(SN_TASK_TYPE_COUNT);
    create_refused(&t, "unknown type");
    t = sn_task_default((sn_task_type)-1);
    create_refused(&t, "unknown type");
    t = sn_task_default(SN_TASK_POINT);
    t.goal[1] = NAN;
    create_refused(&t, "goal");
    t = sn_task_default(SN_TASK_POINT);
    t.has_matrix = true;
    t.matrix[0] = NAN;
    create_refused(&t, "matrix");
    t = sn_task_default(SN_TASK_REST);
    create_refused(&t, "no pose");
    double q[64] = {0};
    t.q = q;
    create_refused(&t, "q is not");
}

// A rest or a limit of all joints has no joint: what stands there must do no harm.
static void unused_joint(void **unused) {
    (void)unused;
    const int joints[] = {-1, -7, 0, 31, 1000000000};
    double q[64];
    sn_model_zero(person, q);
    for (int i = 0; i < 5; i++) {
        sn_problem *p;
        sn_task t = sn_task_default(SN_TASK_REST);
        t.q = q;
        t.joint = joints[i];
        sn_status status = sn_problem_create(person, &t, 1, NULL, &p, NULL);
        assert_true(status == SN_OK || (status == SN_ERR_TASK && p == NULL));
        sn_problem_destroy(p);
    }
}

// f, gradient, Hessian and its products with a vector, exact and Gauss-Newton's, of the problem as it is.
typedef struct numbers_of {
    double f, g[64], H[64 * 64], Hx[2][64];
} numbers_of;

static void evaluate(const sn_problem *p, const double *q, numbers_of *out) {
    sn_workspace *ws;
    memset(out, 0, sizeof *out);
    assert_int_equal(sn_workspace_create(p, true, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &out->f), SN_OK);
    sn_workspace_gradient(ws, out->g);
    sn_workspace_hessian(ws, out->H);
    double f, x[64];
    for (int i = 0; i < 64; i++) x[i] = 1 + 0.1 * i;
    for (int k = 0; k < 2; k++) sn_workspace_multiply(ws, k == 1, x, out->Hx[k]);
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
    assert_near(f, out->f, 1e-12);
    sn_workspace_destroy(ws);
}

static bool all_zero(const numbers_of *x) {
    bool zero = x->f == 0;
    for (int i = 0; i < 64; i++)
        zero = zero && x->g[i] == 0 && x->Hx[0][i] == 0 && x->Hx[1][i] == 0;
    for (int i = 0; i < 64 * 64; i++) zero = zero && x->H[i] == 0;
    return zero;
}

static sn_task some_task(sn_task_type type, const double *rest) {
    sn_task t = sn_task_default(type);
    if (type != SN_TASK_LIMIT) t.joint = sn_model_find_joint(person, "head");
    t.goal[0] = 1;
    t.rotation[1] = 1;
    t.i[1] = t.j[2] = 1;
    t.q = type == SN_TASK_REST || type == SN_TASK_POSTURE ? rest : NULL;
    // what the others need: a head and a hand of one kilogram, task 0, a point, weighed anew
    static const int joints[2] = {3, 7}, tasks[1] = {0}, two = 2;
    static const double masses[2] = {1, 1}, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    t.joints = joints;
    t.njoint = 2;
    t.masses = masses;
    t.tasks = tasks;
    t.ntask = 1;
    t.coupling = unit;
    t.distance = 0.3;
    t.local2[1] = 2;
    if (type == SN_TASK_OWN)
        t.own = (sn_own_task){(void *)&two, reference_own_value, reference_own_multiply};
    return t;
}

// Switched off, missing or of weight 0, a task adds nothing at all, and then it comes back.
static void off_and_on(void **unused) {
    (void)unused;
    static numbers_of before, off;
    uint64_t state = 5;
    double q[64], rest[64];
    sn_model_sample(person, &state, rest);
    sn_model_sample(person, &state, q);
    for (int i = 6; i < sn_model_nq(person); i++) q[i] *= 3;  // outside the limits
    for (int type = 0; type < SN_TASK_AVOID; type++) {
        if (type == SN_TASK_COUPLED) continue;  // alone there is nothing to couple
        sn_task t = some_task((sn_task_type)type, rest);
        bool turns =
            type == SN_TASK_POSE || type == SN_TASK_FRAME2 || type == SN_TASK_RELATIVE_POSE;
        sn_problem *p;
        assert_int_equal(sn_problem_create(person, &t, 1, NULL, &p, NULL), SN_OK);
        evaluate(p, q, &before);
        assert_true(before.f > 0 && !all_zero(&before));
        for (int way = 0; way < 3; way++) {
            if (way == 2 && turns) continue;  // the rotation has a weight of its own
            for (int on = 0; on < 2; on++) {
                sn_status status = way == 0   ? sn_problem_set_enabled(p, 0, on)
                                   : way == 1 ? sn_problem_set_missing(p, 0, !on)
                                              : sn_problem_set_weight(p, 0, on);
                assert_int_equal(status, SN_OK);
                assert_int_equal(sn_problem_task_active(p, 0), on);
                evaluate(p, q, &off);
                if (on) {
                    assert_memory_equal(&off, &before, sizeof off);
                } else if (!all_zero(&off)) {
                    fail_msg("a %s counts while it is off", sn_task_type_name(t.type));
                }
            }
        }
        sn_problem_destroy(p);
    }
}

// Off, a task leaves exactly the numbers of the problem without it.
static void off_among_others(void **unused) {
    (void)unused;
    static numbers_of with, without;
    uint64_t state = 6;
    double q[64], rest[64];
    sn_model_sample(person, &state, rest);
    sn_model_sample(person, &state, q);
    sn_task tasks[2 * SN_TASK_AVOID];
    for (int type = 0; type < SN_TASK_AVOID; type++) {
        tasks[2 * type] = some_task((sn_task_type)type, rest);
        tasks[2 * type + 1] = some_task((sn_task_type)type, rest);
        tasks[2 * type + 1].weight = 3;
    }
    sn_problem *p;
    assert_int_equal(sn_problem_create(person, tasks, 16, NULL, &p, NULL), SN_OK);
    for (int i = 0; i < 16; i++) {
        sn_task rest_of[15];
        for (int k = 0; k < 15; k++) rest_of[k] = tasks[k < i ? k : k + 1];
        sn_problem *less;
        assert_int_equal(sn_problem_create(person, rest_of, 15, NULL, &less, NULL), SN_OK);
        assert_int_equal(sn_problem_set_missing(p, i, true), SN_OK);
        evaluate(p, q, &with);
        evaluate(less, q, &without);
        assert_near(with.f, without.f, 1e-14);
        for (int k = 0; k < 64; k++) assert_near(with.g[k], without.g[k], 1e-12);
        for (int k = 0; k < 64 * 64; k++) assert_near(with.H[k], without.H[k], 1e-12);
        assert_int_equal(sn_problem_set_missing(p, i, false), SN_OK);
        sn_problem_destroy(less);
    }
    sn_problem_destroy(p);
}

static void setters_refuse_and_keep(void **unused) {
    (void)unused;
    static numbers_of before, after;
    uint64_t state = 7;
    double q[64], rest[64], broken[64];
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e60};
    sn_model_sample(person, &state, rest);
    sn_model_sample(person, &state, q);
    sn_task tasks[SN_TASK_AVOID];
    for (int type = 0; type < SN_TASK_AVOID; type++)
        tasks[type] = some_task((sn_task_type)type, rest);
    sn_problem *p;
    assert_int_equal(sn_problem_create(person, tasks, SN_TASK_AVOID, NULL, &p, NULL), SN_OK);
    evaluate(p, q, &before);
    for (int type = 0; type < SN_TASK_AVOID; type++) {
        bool has_goal = type != SN_TASK_ORIENTATION && type != SN_TASK_REST &&
                        type != SN_TASK_LIMIT && type != SN_TASK_RELATIVE_ORIENTATION &&
                        type != SN_TASK_DISTANCE && type < SN_TASK_POSTURE;
        bool turns = type == SN_TASK_ORIENTATION || type == SN_TASK_POSE ||
                     type == SN_TASK_FRAME2 || type == SN_TASK_RELATIVE_ORIENTATION ||
                     type == SN_TASK_RELATIVE_POSE;
        bool rests = type == SN_TASK_REST || type == SN_TASK_POSTURE;
        for (int b = 0; b < 4; b++) {
            for (int c = 0; c < 4; c++) {
                double x[4] = {1, 2, 3, 4};
                x[c] = bad[b];
                sn_status expected = has_goal ? SN_ERR_VALUE : SN_ERR_ARGUMENT;
                if (c < 3) assert_int_equal(sn_problem_set_goal(p, type, x), expected);
                if (b == 3) continue;
                expected = turns ? SN_ERR_VALUE : SN_ERR_ARGUMENT;
                assert_int_equal(sn_problem_set_rotation(p, type, x), expected);
            }
            assert_int_equal(sn_problem_set_weight(p, type, bad[b]), SN_ERR_VALUE);
            memcpy(broken, rest, sizeof broken);
            broken[8] = b < 3 ? bad[b] : NAN;
            assert_int_equal(sn_problem_set_rest(p, type, broken),
                             rests ? SN_ERR_VALUE : SN_ERR_ARGUMENT);
        }
        assert_int_equal(sn_problem_set_weight(p, type, -1), SN_ERR_VALUE);
        const double zero[4] = {0, 0, 0, 0};
        if (type == SN_TASK_DIRECTION)
            assert_int_equal(sn_problem_set_goal(p, type, zero), SN_ERR_VALUE);
        if (turns) assert_int_equal(sn_problem_set_rotation(p, type, zero), SN_ERR_VALUE);
    }
    evaluate(p, q, &after);
    assert_memory_equal(&before, &after, sizeof before);
    for (int i = -2; i < 30; i++) {
        if (i >= 0 && i < SN_TASK_AVOID) continue;
        assert_int_equal(sn_problem_set_goal(p, i, q), SN_ERR_ARGUMENT);
        assert_int_equal(sn_problem_set_rotation(p, i, q), SN_ERR_ARGUMENT);
        assert_int_equal(sn_problem_set_rest(p, i, q), SN_ERR_ARGUMENT);
        assert_int_equal(sn_problem_set_weight(p, i, 1), SN_ERR_ARGUMENT);
        assert_int_equal(sn_problem_set_enabled(p, i, true), SN_ERR_ARGUMENT);
        assert_int_equal(sn_problem_set_missing(p, i, true), SN_ERR_ARGUMENT);
        assert_false(sn_problem_task_active(p, i));
    }
    sn_problem_destroy(p);
}

// A refused goal does not end a task's being missing either.
static void refused_stays_missing(void **unused) {
    (void)unused;
    sn_problem *p;
    const double bad[3] = {0, NAN, 0}, good[3] = {0, 1, 0};
    assert_int_equal(sn_problem_create_markers(person, NULL, &p, NULL), SN_OK);
    assert_int_equal(sn_problem_ntask(p), sn_model_nmarker(person));
    for (int i = 0; i < sn_problem_ntask(p); i++) {
        const sn_task *t = sn_problem_task(p, i);
        const sn_marker_desc *d = sn_model_marker(person, i);
        assert_int_equal(t->joint, d->joint);
        assert_memory_equal(t->local, d->position, sizeof t->local);
        assert_true(t->weight == d->weight);
        assert_false(sn_problem_task_active(p, i));
        assert_int_equal(sn_problem_set_goal(p, i, bad), SN_ERR_VALUE);
        assert_false(sn_problem_task_active(p, i));
        assert_int_equal(sn_problem_set_goal(p, i, good), SN_OK);
        assert_true(sn_problem_task_active(p, i));
    }
    sn_problem_destroy(p);
}

// A goal that is set is there, whichever part of it was set.
static void set_is_there(void **unused) {
    (void)unused;
    static const sn_task_type types[] = {SN_TASK_POINT, SN_TASK_ORIENTATION, SN_TASK_POSE,
                                         SN_TASK_FRAME2};
    const double goal[3] = {0.1, 0.2, 0.3}, turn[4] = {0.5, 0.5, -0.5, 0.5};
    for (int i = 0; i < 4; i++) {
        sn_task t = sn_task_default(types[i]);
        sn_problem *p;
        t.joint = 1;
        assert_int_equal(sn_problem_create(person, &t, 1, NULL, &p, NULL), SN_OK);
        for (int way = 0; way < 2; way++) {
            if (way == 0 ? types[i] == SN_TASK_ORIENTATION : types[i] == SN_TASK_POINT) continue;
            assert_int_equal(sn_problem_set_missing(p, 0, true), SN_OK);
            assert_false(sn_problem_task_active(p, 0));
            assert_int_equal(way == 0 ? sn_problem_set_goal(p, 0, goal)
                                      : sn_problem_set_rotation(p, 0, turn),
                             SN_OK);
            assert_true(sn_problem_task_active(p, 0));
        }
        sn_problem_destroy(p);
    }
}

// Set afterwards or given at once: the same problem.
static void set_equals_created(void **unused) {
    (void)unused;
    static numbers_of first, second;
    uint64_t state = 8;
    double q[64], rest[64], other[64];
    sn_model_sample(person, &state, rest);
    sn_model_sample(person, &state, other);
    sn_model_sample(person, &state, q);
    for (int type = 0; type < SN_TASK_AVOID; type++) {
        if (type == SN_TASK_COUPLED) continue;
        test_allocator allocator;
        sn_task t = some_task((sn_task_type)type, rest);
        sn_problem *p, *fresh;
        test_allocator_begin(&allocator);
        assert_int_equal(sn_problem_create(person, &t, 1, &allocator.base, &p, NULL), SN_OK);
        // from here on nothing may be allocated
        allocator.trap = true;
        const double goal[3] = {0.5, -1, 2}, turn[4] = {1, 0.5, -0.25, 2};
        if (sn_problem_set_goal(p, 0, goal) == SN_OK)
            memcpy(type == SN_TASK_LOOK_AT ? t.local2 : t.goal, goal, sizeof goal);
        if (sn_problem_set_rotation(p, 0, turn) == SN_OK) {
            memcpy(t.rotation, turn, sizeof turn);
            sn_mat3 R = sn_mat3_from_quat((sn_quat){turn[0], turn[1], turn[2], turn[3]});
            memcpy(t.i, &R.c[0], sizeof t.i);
            memcpy(t.j, &R.c[1], sizeof t.j);
        }
        if (sn_problem_set_rest(p, 0, other) == SN_OK) t.q = other;
        assert_int_equal(sn_problem_set_weight(p, 0, 2.5), SN_OK);
        t.weight = 2.5;
        assert_int_equal(sn_problem_set_enabled(p, 0, false), SN_OK);
        assert_int_equal(sn_problem_set_enabled(p, 0, true), SN_OK);
        assert_int_equal(sn_problem_set_missing(p, 0, true), SN_OK);
        assert_int_equal(sn_problem_set_missing(p, 0, false), SN_OK);
        allocator.trap = false;
        assert_int_equal(sn_problem_create(person, &t, 1, NULL, &fresh, NULL), SN_OK);
        evaluate(p, q, &first);
        evaluate(fresh, q, &second);
        // R from a quaternion may differ in the last bit from one normalised first
        assert_near(first.f, second.f, 1e-13);
        for (int k = 0; k < 64; k++) assert_near(first.g[k], second.g[k], 1e-12);
        for (int k = 0; k < 64 * 64; k++) assert_near(first.H[k], second.H[k], 1e-12);
        sn_problem_destroy(p);
        sn_problem_destroy(fresh);
        assert_int_equal(allocator.live, 0);
    }
}

// Errors are of what counts: a height that is left free, a turn that weighs nothing. What weighs nothing at all
// is measured whole.
static void errors_of_what_counts(void **unused) {
    (void)unused;
#define FLAT  "\"weight\": [[2e-200,0,0],[0,0,0],[0,0,1e-203]]"
#define SLANT "\"weight\": [[1,1,0],[1,1,0],[0,0,0]]"
    sn_problem *p = read_tasks(
        "{\"tasks\": ["
        "{\"type\": \"point\", \"joint\": \"pelvis\", \"goal\": [3,9,4], " FLAT "},"
        "{\"type\": \"point\", \"joint\": \"pelvis\", \"goal\": [3,4.95,4], " SLANT "},"
        "{\"type\": \"point\", \"joint\": \"pelvis\", \"goal\": [3,0.95,4], \"weight\": 0},"
        "{\"type\": \"pose\", \"joint\": \"pelvis\", \"goal\": [3,0.95,4], \"rotation\": [0,0,3,0],"
        " \"rotation_weight\": 0},"
        "{\"type\": \"centre-of-mass\", \"joints\": [\"pelvis\"], \"masses\": [2],"
        " \"goal\": [3,7,4], " FLAT "},"
        "{\"type\": \"relative-pose\", \"joint\": \"pelvis\", \"joint2\": \"head\", \"local2\":"
        " [0,0,0], \"goal\": [0,0,0], \"rotation\": [0,0,3,0], \"weight\": 0,"
        " \"rotation_weight\": 1}]}");
    static const double expected[] = {5, 4.94974746830583, 5, 5, 5, 3.14159265358979};
    double q[64], f;
    sn_workspace *ws;
    sn_model_zero(person, q);
    assert_int_equal(sn_workspace_create(p, true, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
    for (int i = 0; i < 6; i++) assert_near(sn_workspace_task_error(ws, i), expected[i], 1e-14);
    sn_workspace_destroy(ws);
    sn_problem_destroy(p);
}

// Whole and half-known errors by hand at the zero pose.
static void task_errors(void **unused) {
    (void)unused;
    sn_problem *p = read_tasks(
        "{\"tasks\": ["
        "{\"type\": \"point\", \"joint\": \"pelvis\", \"goal\": [3,0.95,4]},"
        "{\"type\": \"plane\", \"joint\": \"pelvis\", \"point\": [9,0.45,9], \"normal\": [0,-2,0]},"
        "{\"type\": \"direction\", \"joint\": \"pelvis\", \"local\": [0,0,1], \"goal\": [0,0,-5]},"
        "{\"type\": \"orientation\", \"joint\": \"pelvis\", \"goal\": [0,0,3,0]},"
        "{\"type\": \"limit\"}]}");
    static const double expected[] = {5, 0.5, 2, 3.14159265358979, 0};
    static const double half[] = {12.5, 0.125, 2, 4.93480220054468, 0};
    double q[64], f, sum = 0;
    sn_workspace *ws;
    sn_model_zero(person, q);
    assert_int_equal(sn_workspace_create(p, true, NULL, &ws, NULL), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f), SN_OK);
    for (int i = 0; i < 5; i++) {
        assert_near(sn_workspace_task_error(ws, i), expected[i], 1e-14);
        sum += half[i];
    }
    assert_near(f, sum, 1e-14);
    sn_workspace_destroy(ws);
    sn_problem_destroy(p);
}

// A rest pose is kept as it is given: at the very pose f is 0, also where a rotation vector is longer
// than pi.
static void rest_beyond_pi(void **unused) {
    (void)unused;
    static const sn_joint_type types[] = {SN_JOINT_EXPMAP, SN_JOINT_SWING_TWIST};
    for (int i = 0; i < 2; i++) {
        sn_builder *b;
        sn_model *model;
        sn_problem *p;
        sn_workspace *ws;
        sn_joint_desc d = sn_joint_default(types[i]);
        const double q[3] = {4, 0.5, 0.2}, near[3] = {4.5, 0.5, 0.2};
        double f;
        d.name = "j";
        assert_int_equal(sn_builder_create("one", NULL, &b, NULL), SN_OK);
        (void)sn_builder_joint(b, &d);
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_task t = sn_task_default(SN_TASK_REST);
        t.q = q;
        assert_int_equal(sn_problem_create(model, &t, 1, NULL, &p, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(p, false, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        assert_true(f == 0);
        assert_int_equal(sn_problem_set_rest(p, 0, near), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, 0, &f), SN_OK);
        assert_near(f, 0.125, 1e-15);
        sn_workspace_destroy(ws);
        sn_problem_destroy(p);
        sn_model_destroy(model);
    }
}

// docs/derivations.md: a body off by a small turn psi has the rotational part (|psi|^2 + psi_z^2) / 2 of a frame2
// task, the turn about the third axis counting twice.
static void frame2_counts_the_third_axis_twice(void **unused) {
    (void)unused;
    uint64_t state = 31;
    sn_builder *b = NULL;
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    sn_joint_desc d = sn_joint_default(SN_JOINT_EXPMAP);
    sn_task task = sn_task_default(SN_TASK_FRAME2);
    d.name = "body";
    task.i[0] = 1, task.i[1] = task.i[2] = 0;
    task.j[1] = 1, task.j[0] = task.j[2] = 0;
    assert_int_equal(sn_builder_create("body", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int k = 0; k < 10; k++) {
        double psi[3], f, square = 0;
        for (int i = 0; i < 3; i++) {
            psi[i] = uniform(&state, -1e-3, 1e-3);
            square += psi[i] * psi[i];
        }
        assert_int_equal(sn_workspace_eval(ws, psi, 0, &f), SN_OK);
        assert_true(fabs(f - 0.5 * (square + psi[2] * psi[2])) < 1e-12);
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    sn_builder_destroy(b);
}

// The way to a plane keeps its digits however far the point lies along it.
static void plane_keeps_its_digits(void **unused) {
    (void)unused;
    sn_builder *builder;
    sn_model *model;
    sn_joint_desc d = sn_joint_default(SN_JOINT_TRANSLATION);
    d.name = "slide";
    assert_int_equal(sn_builder_create("slide", NULL, &builder, NULL), SN_OK);
    (void)sn_builder_joint(builder, &d);
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    sn_task t = sn_task_default(SN_TASK_PLANE);
    const double normal[3] = {3, 4, 0};  // 0.6, 0.8
    t.joint = 0;
    memcpy(t.normal, normal, sizeof normal);
    sn_problem *p;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, &t, 1, NULL, &p, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(p, false, NULL, &ws, NULL), SN_OK);
    // 1000 along the plane, 1e-10 off it
    const double q[3] = {-800 + 0.6e-10, 600 + 0.8e-10, 0};
    double exact = 0.6 * q[0] + 0.8 * q[1], f[2];
    assert_int_equal(sn_workspace_eval(ws, q, 0, &f[0]), SN_OK);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f[1]), SN_OK);
    for (int i = 0; i < 2; i++) assert_true(fabs(f[i] - 0.5 * exact * exact) < 1e-22);
    sn_workspace_destroy(ws);
    sn_problem_destroy(p);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_points),
        cmocka_unit_test(reads_links),
        cmocka_unit_test(plane_keeps_its_digits),
        cmocka_unit_test(reads_other_types),
        cmocka_unit_test(rest_beyond_pi),
        cmocka_unit_test(reads_rest),
        cmocka_unit_test(json_file_errors),
        cmocka_unit_test(json_task_errors),
        cmocka_unit_test(json_rest_errors),
        cmocka_unit_test(json_truncated),
        cmocka_unit_test(create_errors),
        cmocka_unit_test(off_and_on),
        cmocka_unit_test(off_among_others),
        cmocka_unit_test(setters_refuse_and_keep),
        cmocka_unit_test(set_is_there),
        cmocka_unit_test(refused_stays_missing),
        cmocka_unit_test(set_equals_created),
        cmocka_unit_test(task_errors),
        cmocka_unit_test(errors_of_what_counts),
        cmocka_unit_test(unused_joint),
        cmocka_unit_test(frame2_counts_the_third_axis_twice),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
