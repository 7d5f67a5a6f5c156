// SPDX-License-Identifier: MIT
// The golden values of the published code, on a real clip: bone poses, residuals, Jacobians,
// gradients and Hessians of 28 cases. Where that code is wrong (39 entries of the upper triangle of
// each Hessian) finite differences decide.
#include "reference.h"
#include "support.h"

enum { BONES = 31, DOFS = 58, MARKERS = 41, ROWS = 3 * MARKERS };

static const int frames[] = {150,  477,  658,  805,  1132, 1459, 1786,
                             2114, 2441, 2768, 2842, 3095, 3423, 3750};
enum { FRAMES = sizeof frames / sizeof frames[0] };

// A table read from a file: rows of comma-separated fields.
typedef struct table {
    char *text;
    char **field;
    int rows, columns;
} table;

static bool table_read(const char *name, table *t) {
    const char *path = data_path(name);
    if (path == NULL) return false;
    size_t length;
    *t = (table){.text = slurp(path, &length)};
    int count = 1;
    for (char *c = t->text; *c != '\0'; c++) {
        if (*c == '\n') t->rows++;
        count += *c == ',' || *c == '\n';
        if (t->rows == 0) t->columns += *c == ',';
    }
    t->columns++;
    t->field = malloc((size_t)count * sizeof *t->field);
    assert_non_null(t->field);
    int n = 0;
    t->field[n++] = t->text;
    for (char *c = t->text; *c != '\0'; c++) {
        if (*c != ',' && *c != '\n') continue;
        *c = '\0';
        if (n < count) t->field[n++] = c + 1;
    }
    return true;
}

static void table_free(table *t) {
    free(t->text);
    free(t->field);
}

static const char *text_at(const table *t, int row, int column) {
    return t->field[row * t->columns + column];
}

static double number_at(const table *t, int row, int column) {
    return strtod(text_at(t, row, column), NULL);
}

// The row whose first column is this frame.
static int frame_row(const table *t, int frame) {
    for (int r = 1; r < t->rows; r++)
        if ((int)number_at(t, r, 0) == frame) return r;
    fail_msg("no row for frame %d", frame);
    return -1;
}

// The skeleton: frames turned by C as the file's axes say, so that R_bone C is our joint's frame.
typedef struct golden {
    sn_model *model;
    int joint[BONES + 1];  // joint of a bone, from 1
    int bone_of[MARKERS];  // from 1
    sn_quat C[BONES + 1];
    int dof[DOFS];  // our velocity of each of the file's degrees of freedom
    char names[2 * BONES][32];
} golden;

static sn_vec3 rotate(sn_quat q, sn_vec3 v) {
    sn_quat p = sn_quat_mul(sn_quat_mul(q, (sn_quat){0, v.x, v.y, v.z}), sn_quat_conj(q));
    return (sn_vec3){p.x, p.y, p.z};
}

static void put_quat(double *to, sn_quat q) {
    const double numbers[4] = {q.w, q.x, q.y, q.z};
    memcpy(to, numbers, sizeof numbers);
}

// The file lists rx ry rz and multiplies Rz Ry Rx: our order is the reverse of the listed one.
static void add_bone(golden *g, sn_builder *b, const table *bones, int bone) {
    const double degree = 3.14159265358979323846 / 180;
    char dofs[64];
    (void)snprintf(dofs, sizeof dofs, "%s", text_at(bones, bone, 6));
    int parent = (int)number_at(bones, bone, 2), first = (int)number_at(bones, bone, 7) - 1;
    sn_quat x = sn_quat_exp((sn_vec3){number_at(bones, bone, 3) * degree, 0, 0});
    sn_quat y = sn_quat_exp((sn_vec3){0, number_at(bones, bone, 4) * degree, 0});
    sn_quat z = sn_quat_exp((sn_vec3){0, 0, number_at(bones, bone, 5) * degree});
    g->C[bone] = sn_quat_mul(z, sn_quat_mul(y, x));

    char axes[4] = "", *name = g->names[2 * bone - 2];
    int naxis = 0, skip = parent == 0 ? 3 : 0;                // the root's translations come first
    if ((int)number_at(bones, bone, 8) == 0) dofs[0] = '\0';  // the thumbs are held
    for (char *word = strtok(dofs, " "); word != NULL; word = strtok(NULL, " "))
        if (word[0] == 'r' || word[0] == 'R') axes[naxis++] = (char)(word[1] & ~0x20);
    (void)snprintf(name, sizeof g->names[0], "%s", text_at(bones, bone, 1));
    static const sn_joint_type types[] = {SN_JOINT_FIXED, SN_JOINT_HINGE, SN_JOINT_UNIVERSAL,
                                          SN_JOINT_EULER};
    sn_joint_desc d = sn_joint_default(types[naxis]);
    d.name = name;
    d.parent = parent == 0 ? -1 : g->joint[parent];
    if (parent != 0) {
        // the parent's own vector, to its tip, stands in the parent's row
        sn_vec3 tip = {number_at(bones, parent, 9), number_at(bones, parent, 10),
                       number_at(bones, parent, 11)};
        sn_quat back = sn_quat_conj(g->C[parent]);
        tip = rotate(back, tip);
        memcpy(d.position, &tip, sizeof d.position);
        put_quat(d.rotation, sn_quat_mul(back, g->C[bone]));
    } else {
        sn_joint_desc move = sn_joint_default(SN_JOINT_TRANSLATION);
        move.name = "move";
        d.parent = sn_builder_joint(b, &move);
    }
    for (int i = 0; i < naxis; i++) {
        d.order[i] = axes[naxis - 1 - i];
        double *axis = i == 0 ? d.axis : d.axis2;
        if (naxis < 3)
            for (int c = 0; c < 3; c++) axis[c] = c == d.order[i] - 'X';
    }
    g->joint[bone] = sn_builder_joint(b, &d);
    if (first < 0) return;
    for (int i = 0; i < skip; i++) g->dof[first + i] = first + i;
    for (int i = 0; i < naxis; i++) g->dof[first + skip + i] = first + skip + naxis - 1 - i;
}

static bool golden_begin(golden *g) {
    table bones, markers;
    *g = (golden){0};
    if (!table_read("golden/bones.csv", &bones)) return false;
    if (!table_read("golden/markers.csv", &markers)) return false;
    sn_builder *b;
    assert_int_equal(sn_builder_create("golden", NULL, &b, NULL), SN_OK);
    for (int bone = 1; bone <= BONES; bone++) add_bone(g, b, &bones, bone);
    for (int i = 0; i < MARKERS; i++) g->bone_of[i] = (int)number_at(&markers, i + 1, 2);
    sn_error error = {0};
    if (sn_builder_finish(b, &g->model, &error) != SN_OK) fail_msg("%s", error.text);
    assert_int_equal(sn_model_nv(g->model), DOFS);
    sn_builder_destroy(b);
    table_free(&bones);
    table_free(&markers);
    return true;
}

// The 41 point tasks of a frame, offsets and targets from the file.
static sn_problem *frame_problem(const golden *g, const table *markers, int frame) {
    sn_task tasks[MARKERS];
    int first = frame_row(markers, frame);
    for (int i = 0; i < MARKERS; i++) {
        int bone = g->bone_of[i];
        tasks[i] = sn_task_default(SN_TASK_POINT);
        tasks[i].joint = g->joint[bone];
        sn_vec3 offset = {number_at(markers, first + i, 3), number_at(markers, first + i, 4),
                          number_at(markers, first + i, 5)};
        offset = rotate(sn_quat_conj(g->C[bone]), offset);
        memcpy(tasks[i].local, &offset, sizeof tasks[i].local);
        for (int c = 0; c < 3; c++) tasks[i].goal[c] = number_at(markers, first + i, 6 + c);
    }
    sn_problem *problem;
    sn_error error = {0};
    if (sn_problem_create(g->model, tasks, MARKERS, NULL, &problem, &error) != SN_OK)
        fail_msg("%s", error.text);
    return problem;
}

// A pose of the file's order; the zero pose has one row without or with a frame number.
static void read_pose(const golden *g, const table *poses, int frame, double *q) {
    int row = frame_row(poses, frame);
    for (int i = 0; i < DOFS; i++) q[g->dof[i]] = number_at(poses, row, i + 1);
}

static double worst_of(double worst, double x) { return x > worst ? x : worst; }

typedef struct errors {
    double pose, residual, J, gradient, H;
    int wrong;
} errors;

static void check_bones(const golden *g, sn_workspace *ws, const table *poses, int frame,
                        errors *e) {
    int row = frame_row(poses, frame);
    for (int bone = 1; bone <= BONES; bone++, row++) {
        sn_frame at = sn_workspace_frame(ws, g->joint[bone]);
        sn_quat q = sn_quat_mul(sn_quat_from_mat3(at.R), sn_quat_conj(g->C[bone]));
        const double p[3] = {at.p.x, at.p.y, at.p.z}, ours[4] = {q.w, q.x, q.y, q.z};
        double dot = 0;
        for (int c = 0; c < 3; c++)
            e->pose = worst_of(e->pose, fabs(p[c] - number_at(poses, row, 3 + c)) / 100);
        for (int c = 0; c < 4; c++) dot += ours[c] * number_at(poses, row, 6 + c);
        e->pose = worst_of(e->pose, fabs(fabs(dot) - 1));
    }
}

// The mixed second difference of f with steps of `scale` times 0.1 cm or 2 mrad.
static double mixed_difference(sn_workspace *ws, const double *q, int i, int j, double scale) {
    double sum = 0, moved[DOFS], f;
    const double hi = scale * (i < 3 ? 0.1 : 2e-3), hj = scale * (j < 3 ? 0.1 : 2e-3);
    for (int s = 0; s < 4; s++) {
        double si = s & 1 ? 1 : -1, sj = s & 2 ? 1 : -1;
        memcpy(moved, q, sizeof moved);
        moved[i] += si * hi;
        moved[j] += sj * hj;
        assert_int_equal(sn_workspace_eval(ws, moved, 0, &f), SN_OK);
        sum += si * sj * f;
    }
    return sum / (4 * hi * hj);
}

// H_ij by differences of f alone, the error of second order taken out.
static double second_difference(sn_workspace *ws, const double *q, int i, int j) {
    return (4 * mixed_difference(ws, q, i, j, 1) - mixed_difference(ws, q, i, j, 2)) / 3;
}

// The published H: right in the lower triangle, wrong in 39 entries of the upper one. There ours
// must be the one that finite differences give.
static void check_hessian(const golden *g, sn_workspace *ws, const double *q, const double *H,
                          const table *theirs, errors *e) {
    double size = 0;
    for (int i = 0; i < DOFS * DOFS; i++) size = worst_of(size, fabs(H[i]));
    e->wrong = 0;
    for (int i = 0; i < DOFS; i++) {
        for (int j = 0; j < DOFS; j++) {
            int a = g->dof[i], b = g->dof[j];
            double off = fabs(number_at(theirs, i, j) - H[a + DOFS * b]) / size;
            if (off < 1e-10) continue;
            assert_true(j > i);  // never in the lower triangle
            e->wrong++;
            double slope = second_difference(ws, q, a, b);
            double ours = fabs(H[a + DOFS * b] - slope) / size;
            assert_true(ours < 1e-8);
            if (off > 1e-7) assert_true(fabs(number_at(theirs, i, j) - slope) / size > 10 * ours);
        }
    }
    for (int i = 0; i < DOFS; i++)
        for (int j = 0; j <= i; j++)
            e->H = worst_of(e->H,
                            fabs(number_at(theirs, i, j) - H[g->dof[i] + DOFS * g->dof[j]]) / size);
}

static void check_frame(const golden *g, const char *start, int frame, errors *e) {
    char name[64];
    table markers, poses, bones, residuals, gradients, J, H;
    assert_true(table_read("golden/markers_frame.csv", &markers));
    (void)snprintf(name, sizeof name, "golden/x_%s.csv", start);
    assert_true(table_read(name, &poses));
    (void)snprintf(name, sizeof name, "golden/bonepose_%s.csv", start);
    assert_true(table_read(name, &bones));
    (void)snprintf(name, sizeof name, "golden/residual_%s.csv", start);
    assert_true(table_read(name, &residuals));
    (void)snprintf(name, sizeof name, "golden/grad_%s.csv", start);
    assert_true(table_read(name, &gradients));
    (void)snprintf(name, sizeof name, "golden/J_%s_%04d.csv", start, frame);
    assert_true(table_read(name, &J));
    (void)snprintf(name, sizeof name, "golden/H_%s_%04d.csv", start, frame);
    assert_true(table_read(name, &H));

    double q[DOFS], f, gradient[DOFS], ours[3 * DOFS];
    static double dense[DOFS * DOFS];
    sn_problem *problem = frame_problem(g, &markers, frame);
    sn_workspace *ws;
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    read_pose(g, &poses, frame, q);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    sn_workspace_gradient(ws, gradient);
    sn_workspace_hessian(ws, dense);
    check_bones(g, ws, &bones, frame, e);
    int row = frame_row(&residuals, frame);
    for (int i = 0; i < MARKERS; i++) {
        const sn_task *t = sn_problem_task(problem, i);
        sn_vec3 at = sn_workspace_point(ws, t->joint, t->local);
        const double p[3] = {at.x, at.y, at.z};
        sn_jacobian_simple(ws, t->joint, t->local, ours);
        for (int c = 0; c < 3; c++) {
            double r = t->goal[c] - p[c];
            e->residual =
                worst_of(e->residual, fabs(r - number_at(&residuals, row, 1 + 3 * i + c)));
            for (int k = 0; k < DOFS; k++)
                e->J = worst_of(e->J, fabs(ours[3 * g->dof[k] + c] - number_at(&J, 3 * i + c, k)));
        }
    }
    row = frame_row(&gradients, frame);
    double theirs[DOFS], mine[DOFS];
    for (int k = 0; k < DOFS; k++) {
        theirs[k] = number_at(&gradients, row, 1 + k);
        mine[k] = gradient[g->dof[k]];
    }
    e->gradient = worst_of(e->gradient, reference_relative(mine, theirs, DOFS, 0));
    check_hessian(g, ws, q, dense, &H, e);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    table_free(&markers);
    table_free(&poses);
    table_free(&bones);
    table_free(&residuals);
    table_free(&gradients);
    table_free(&J);
    table_free(&H);
}

static void published_values(void **unused) {
    (void)unused;
    golden g;
    if (!golden_begin(&g)) {
        skip();
        return;
    }
    errors e = {0};
    for (int i = 0; i < 2 * FRAMES; i++) {
        check_frame(&g, i % 2 == 0 ? "prev" : "zero", frames[i / 2], &e);
        assert_int_equal(e.wrong, 39);
    }
    print_message("28 cases: pose %.1e, residual %.1e cm, J %.1e, gradient %.1e, lower H %.1e; 39 "
                  "published entries are wrong in each, ours agree with finite differences\n",
                  e.pose, e.residual, e.J, e.gradient, e.H);
    assert_true(e.pose < 1e-12);
    assert_true(e.residual < 1e-11);
    assert_true(e.J < 1e-11);
    assert_true(e.gradient < 1e-11);
    assert_true(e.H < 1e-13);
    sn_model_destroy(g.model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
