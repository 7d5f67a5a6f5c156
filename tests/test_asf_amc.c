// SPDX-License-Identifier: MIT
// ASF and AMC: against forward kinematics written out by hand, against golden values, over every
// file of the data folder.
#include "asf_files.h"

// Forward kinematics by hand, column vectors, libm's sine and cosine: R[row][column].
typedef struct mat {
    double a[3][3];
} mat;

static mat multiply(mat A, mat B) {
    mat C;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C.a[i][j] = A.a[i][0] * B.a[0][j] + A.a[i][1] * B.a[1][j] + A.a[i][2] * B.a[2][j];
    return C;
}

static mat transposed(mat A) {
    mat B;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B.a[i][j] = A.a[j][i];
    return B;
}

static mat about(int axis, double degrees) {
    double t = degrees * (3.14159265358979323846 / 180), s = sin(t), c = cos(t);
    mat X = {{{1, 0, 0}, {0, c, -s}, {0, s, c}}}, Y = {{{c, 0, s}, {0, 1, 0}, {-s, 0, c}}};
    mat Z = {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    return axis == 0 ? X : axis == 1 ? Y : Z;
}

// The first letter is applied first: "XYZ" is Rz Ry Rx.
static mat by_letters(const char *letters, const double angle[3]) {
    mat R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int i = 0; i < 3; i++) R = multiply(about(letters[i] - 'X', angle[letters[i] - 'X']), R);
    return R;
}

static sn_workspace *workspace_of(const sn_model *model, sn_problem **problem) {
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(*problem, false, NULL, &ws, NULL), SN_OK);
    return ws;
}

enum { MAX_BONES = 12 };

typedef struct figure {
    int nbone, parent[MAX_BONES];  // -1: the root
    char order[MAX_BONES][4], root_order[4];
    double axis[MAX_BONES][3], direction[MAX_BONES][3], length[MAX_BONES];
    int ndof[MAX_BONES], dof[MAX_BONES][3];
    double angle[MAX_BONES][3], root_angle[3], root_at[3];
    char asf[8192], amc[4096];
} figure;

static void add(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + used, size - used, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < size - used);
}

static void random_figure(uint64_t *state, figure *f) {
    static const char orders[6][4] = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"};
    memset(f, 0, sizeof *f);
    f->nbone = 1 + below(state, MAX_BONES);
    strcpy(f->root_order, orders[below(state, 6)]);
    for (int k = 0; k < 3; k++) {
        f->root_angle[k] = uniform(state, -180, 180);
        f->root_at[k] = uniform(state, -5, 5);
    }
    add(f->asf, sizeof f->asf,
        ":units\n length 0.45\n:root\n order TZ R%c TX R%c R%c TY\n:bonedata\n", f->root_order[0],
        f->root_order[1], f->root_order[2]);
    add(f->amc, sizeof f->amc, "-3\nroot %.17g %.17g %.17g %.17g %.17g %.17g\n", f->root_at[2],
        f->root_angle[f->root_order[0] - 'X'], f->root_at[0], f->root_angle[f->root_order[1] - 'X'],
        f->root_angle[f->root_order[2] - 'X'], f->root_at[1]);
    for (int i = 0; i < f->nbone; i++) {
        f->parent[i] = below(state, i + 1) - 1;
        strcpy(f->order[i], orders[below(state, 6)]);
        f->length[i] = uniform(state, 0, 3);
        for (int k = 0; k < 3; k++) {
            f->direction[i][k] = uniform(state, -1, 1);
            f->axis[i][k] = uniform(state, -180, 180);
        }
        add(f->asf, sizeof f->asf,
            "begin\nname b%d\ndirection %.17g %.17g %.17g\nlength %.17g\naxis %.17g %.17g %.17g "
            "%s\n",
            i, f->direction[i][0], f->direction[i][1], f->direction[i][2], f->length[i],
            f->axis[i][0], f->axis[i][1], f->axis[i][2], f->order[i]);
        add(f->amc, sizeof f->amc, "b%d", i);
        f->ndof[i] = below(state, 4);
        const char *list = orders[below(state, 6)];  // the order of columns is another matter
        add(f->asf, sizeof f->asf, f->ndof[i] > 0 ? "dof" : "");
        for (int k = 0; k < f->ndof[i]; k++) {
            int axis = list[k] - 'X';
            f->angle[i][axis] = uniform(state, -180, 180);
            add(f->asf, sizeof f->asf, " r%c", 'x' + axis);
            add(f->amc, sizeof f->amc, " %.17g", f->angle[i][axis]);
        }
        add(f->asf, sizeof f->asf, "\nend\n");
        add(f->amc, sizeof f->amc, "\n");
    }
    add(f->asf, sizeof f->asf, ":hierarchy\nbegin\n");
    for (int i = 0; i < f->nbone; i++) {
        if (f->parent[i] < 0)
            add(f->asf, sizeof f->asf, "root b%d\n", i);
        else
            add(f->asf, sizeof f->asf, "b%d b%d\n", f->parent[i], i);
    }
    add(f->asf, sizeof f->asf, "end\n");
}

// The worst difference of joints, bone rotations and tips to R_bone = R_parent C M C^-1.
static double figure_error(const figure *f) {
    sn_skeleton *s = read_asf(f->asf);
    sn_motion *m;
    sn_error error = {0};
    sn_problem *problem;
    if (sn_amc_read(f->amc, strlen(f->amc), s, NULL, &m, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_motion_first_frame(m), -3);
    const sn_model *model = sn_skeleton_model(s);
    sn_workspace *ws = workspace_of(model, &problem);
    assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(m, 0)), SN_OK);
    double metres = 0.0254 / 0.45, worst = 0, end[MAX_BONES + 1][3];
    mat R[MAX_BONES + 1];
    R[0] = by_letters(f->root_order, f->root_angle);
    for (int k = 0; k < 3; k++) end[0][k] = f->root_at[k] * metres;
    for (int i = 0; i < f->nbone; i++) {
        int parent = f->parent[i] + 1, joint = i + 1;
        mat C = by_letters(f->order[i], f->axis[i]), M = by_letters(f->order[i], f->angle[i]);
        R[joint] = multiply(R[parent], multiply(C, multiply(M, transposed(C))));
        mat frame = multiply(R[joint], C);
        sn_frame ours = sn_workspace_frame(ws, joint);
        const double *d = f->direction[i], p[3] = {ours.p.x, ours.p.y, ours.p.z};
        double norm = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), tip[3];
        sn_skeleton_tip(s, joint, tip);
        sn_vec3 at = sn_workspace_point(ws, joint, tip);
        const double tips[3] = {at.x, at.y, at.z};
        for (int k = 0; k < 3; k++) {
            const double column[3] = {ours.R.c[k].x, ours.R.c[k].y, ours.R.c[k].z};
            for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(column[j] - frame.a[j][k]));
            worst = fmax(worst, fabs(p[k] - end[parent][k]));
            end[joint][k] = end[parent][k];
            for (int j = 0; j < 3; j++)
                end[joint][k] += R[joint].a[k][j] * d[j] / norm * f->length[i] * metres;
            worst = fmax(worst, fabs(tips[k] - end[joint][k]));
        }
    }
    // and back again: the same row, as angles are in (-180, 180) and the row itself is "previous"
    double row[64], back[64];
    int n = 0;
    for (const char *c = strstr(f->amc, "root"); c != NULL; c = strchr(c, '\n')) {
        while (*c == '\n') c++;
        char *next = (char *)(uintptr_t)c + strcspn(c, " \n");
        while (*next == ' ') row[n++] = strtod(next, &next);
        c = next;
    }
    assert_int_equal(n, sn_skeleton_row_size(s));
    sn_skeleton_to_row(s, SN_ANGLE_DEGREES, sn_motion_frame(m, 0), row, back);
    const double *a = f->root_angle;
    double middle = a[f->root_order[1] - 'X'] * (3.14159265358979323846 / 180);
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs(row[k] - back[k]) / 100 * fabs(cos(middle)));
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_motion_destroy(m);
    sn_skeleton_destroy(s);
    return worst;
}

static void random_figures(void **unused) {
    (void)unused;
    uint64_t state = 11;
    double worst = 0;
    figure *f = malloc(sizeof *f);
    assert_non_null(f);
    int count = cases(2000);
    for (int i = 0; i < count; i++) {
        random_figure(&state, f);
        worst = fmax(worst, figure_error(f));
    }
    free(f);
    print_message("%d figures, all axis orders: worst difference %.1e\n", count, worst);
    assert_true(worst < 1e-13);
}

// What the model looks like.
static void model_of_tiny(void **unused) {
    (void)unused;
    sn_skeleton *s = read_asf(tiny_asf);
    const sn_model *m = sn_skeleton_model(s);
    static const char *const names[] = {"root", "hip", "knee", "toe"};
    static const sn_joint_type types[] = {SN_JOINT_FREE, SN_JOINT_EULER, SN_JOINT_UNIVERSAL,
                                          SN_JOINT_FIXED};
    assert_string_equal(sn_model_name(m), "tiny");
    assert_int_equal(sn_model_njoint(m), 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(sn_model_joint(m, i)->name, names[i]);
        assert_int_equal(sn_model_joint(m, i)->type, types[i]);
        assert_int_equal(sn_model_parent(m, i), i - 1);
    }
    assert_string_equal(sn_model_joint(m, 1)->order, "ZYX");
    assert_true(sn_model_lower(m)[6] == -INFINITY && sn_model_upper(m)[6] == INFINITY);
    double tip[3];
    sn_skeleton_tip(s, 3, tip);
    assert_near(tip[2], 0.0508, 1e-15);
    sn_skeleton_tip(s, 0, tip);
    assert_true(tip[0] == 0 && tip[1] == 0 && tip[2] == 0);
    sn_skeleton_tip(s, 99, tip);
    assert_near(sn_skeleton_metres_per_unit(s), 0.0508, 1e-15);
    assert_int_equal(sn_skeleton_angle_unit(s), SN_ANGLE_DEGREES);
    // rows
    assert_int_equal(sn_skeleton_row_size(s), 11);
    assert_int_equal(sn_skeleton_row_index(s, 2), 9);
    assert_int_equal(sn_skeleton_row_count(s, 1), 3);
    assert_string_equal(sn_skeleton_row_name(s, 0, 2), "TZ");
    assert_string_equal(sn_skeleton_row_name(s, 2, 1), "rz");
    assert_null(sn_skeleton_row_name(s, 2, 2));
    sn_skeleton_destroy(s);
    sn_skeleton_destroy(NULL);
}

static void limits(void **unused) {
    (void)unused;
    sn_asf_options options = sn_asf_options_default();
    sn_skeleton *s;
    sn_error error;
    assert_false(options.use_limits);
    options.use_limits = true;
    assert_int_equal(sn_asf_read(tiny_asf, strlen(tiny_asf), &options, NULL, &s, &error), SN_OK);
    const sn_model *m = sn_skeleton_model(s);
    const double degree = 3.14159265358979323846 / 180;
    const double *lower = sn_model_lower(m) + sn_model_v_index(m, 1);
    const double *upper = sn_model_upper(m) + sn_model_v_index(m, 1);
    // the file lists rx ry rz, the joint has z y x
    assert_true(lower[0] == -INFINITY);
    assert_near(upper[0], 70 * degree, 1e-15);
    assert_near(lower[2], -160 * degree, 1e-15);
    assert_near(upper[2], 20 * degree, 1e-15);
    sn_skeleton_destroy(s);
    // wrong way round: only those who want limits are told
    char *text = replaced(tiny_asf, "(-160.0 20.0)", "(160.0 20.0)");
    sn_skeleton_destroy(read_asf(text));
    assert_int_equal(sn_asf_read(text, strlen(text), &options, NULL, &s, &error), SN_ERR_MODEL);
    assert_non_null(strstr(error.text, "\"hip\""));
    assert_int_equal(error.line, 16);
    free(text);
    options.version = 0;
    assert_int_equal(sn_asf_read(tiny_asf, strlen(tiny_asf), &options, NULL, &s, &error),
                     SN_ERR_ARGUMENT);
    assert_null(s);
}

static sn_motion *read_amc(const char *text, size_t length, const sn_skeleton *s) {
    sn_motion *m;
    sn_error error = {0};
    if (sn_amc_read(text, length, s, NULL, &m, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return m;
}

static bool same_motion(const sn_motion *x, const sn_motion *y) {
    if (sn_motion_nframe(x) != sn_motion_nframe(y)) return false;
    for (int i = 0; i < sn_motion_nframe(x); i++)
        for (int k = 0; k < sn_motion_nq(x); k++)
            if (sn_motion_frame(x, i)[k] != sn_motion_frame(y, i)[k]) return false;
    return sn_motion_first_frame(x) == sn_motion_first_frame(y);
}

static void line_ends_and_blanks(void **unused) {
    (void)unused;
    static const char *const ends[] = {"\r\n", "\r", "\n", "\n\n \n"};
    sn_skeleton *plain = read_asf(tiny_asf);
    sn_motion *expected = read_amc(tiny_amc, strlen(tiny_amc), plain);
    for (int i = 0; i < 4; i++) {
        char *asf = dressed(tiny_asf, ends[i]), *amc = dressed(tiny_amc, ends[i]);
        sn_skeleton *s = read_asf(asf);
        sn_motion *m = read_amc(amc, strlen(amc), s);
        assert_true(same_motion(m, expected));
        sn_motion_destroy(m);
        sn_skeleton_destroy(s);
        free(asf);
        free(amc);
    }
    sn_motion_destroy(expected);
    sn_skeleton_destroy(plain);
}

static void amc_units(void **unused) {
    (void)unused;
    sn_skeleton *s = read_asf(tiny_asf);
    sn_motion *degrees = read_amc(tiny_amc, strlen(tiny_amc), s);
    assert_int_equal(sn_motion_nframe(degrees), 2);
    assert_int_equal(sn_motion_first_frame(degrees), 7);
    assert_true(sn_motion_rate(degrees) == 0);
    assert_near(sn_motion_frame(degrees, 1)[0], 1.5 * 0.0508, 1e-15);
    // knee: rx rz in the file, z x in the joint
    int knee = sn_model_q_index(sn_skeleton_model(s), 2);
    assert_near(sn_motion_frame(degrees, 1)[knee], -7 * 3.14159265358979323846 / 180, 1e-15);
    // without a word the unit is the ASF's; with one it is that, and a rate may be stated
    char *silent = replaced(tiny_amc, ":DEGREES\n", "");
    char *radians = replaced(tiny_amc, ":DEGREES\n", ":radians\n:SAMPLES-PER-SECOND 60\n");
    sn_motion *m = read_amc(silent, strlen(silent), s);
    assert_true(same_motion(m, degrees));
    sn_motion_destroy(m);
    m = read_amc(radians, strlen(radians), s);
    assert_true(sn_motion_frame(m, 1)[knee] == -7 && sn_motion_rate(m) == 60);
    sn_motion_destroy(m);
    free(silent);
    free(radians);
    // an ASF in radians
    char *asf = replaced(tiny_asf, "angle deg", "angle rad");
    sn_skeleton *other = read_asf(asf);
    assert_int_equal(sn_skeleton_angle_unit(other), SN_ANGLE_RADIANS);
    free(asf);
    sn_skeleton_destroy(other);
    // a bone that no frame has stays at zero
    const char *fewer = "1\nroot 0 0 0 0 0 0\nhip 1 2 3\n2\nroot 0 0 0 0 0 0\nhip 1 2 3";
    m = read_amc(fewer, strlen(fewer), s);
    assert_true(sn_motion_frame(m, 1)[knee] == 0 && sn_motion_frame(m, 1)[knee + 1] == 0);
    sn_motion_destroy(m);
    sn_motion_destroy(degrees);
    sn_skeleton_destroy(s);
}

// Root angles from a rotation: any order, gimbal lock included, near the row before.
static void rows_and_back(void **unused) {
    (void)unused;
    static const double middles[] = {0, 30, 89.9999, 90, -90, 90.0001, 270, 180, 100, -100};
    sn_skeleton *s = read_asf(tiny_asf);
    uint64_t state = 3;
    double worst = 0, worst_rotation = 0;
    for (int i = 0; i < cases(5000); i++) {
        double row[11], back[11], near[11], q[13], again[13];
        for (int k = 0; k < 11; k++) row[k] = uniform(&state, -900, 900);
        double angle = i % 2 ? middles[below(&state, 10)] : uniform(&state, -900, 900);
        row[4] = angle;
        for (int k = 0; k < 11; k++) near[k] = row[k] + uniform(&state, -5, 5);
        if (fabs(cos(angle * (3.14159265358979323846 / 180))) < 1e-3) near[5] = row[5];
        sn_skeleton_from_row(s, SN_ANGLE_DEGREES, row, q);
        sn_skeleton_to_row(s, SN_ANGLE_DEGREES, q, near, back);
        sn_skeleton_from_row(s, SN_ANGLE_DEGREES, back, again);
        double dot = 0, c = fabs(cos(angle * (3.14159265358979323846 / 180)));
        for (int k = 3; k < 7; k++) dot += q[k] * again[k];
        for (int k = 3; k < 7; k++)
            worst_rotation = fmax(worst_rotation, fabs(q[k] - copysign(1, dot) * again[k]));
        if (c > 0.1 || c < 1e-13)
            for (int k = 0; k < 11; k++) worst = fmax(worst, fabs(row[k] - back[k]));
        // the two are one branch: no angle is further than it must be
        for (int k = 3; k < 6; k++) assert_true(fabs(back[k] - near[k]) < 181);
    }
    print_message("row -> pose -> row: %.1e degrees, rotation %.1e\n", worst, worst_rotation);
    assert_true(worst < 1e-10 && worst_rotation < 1e-14);
    // no previous row: near zero
    double row[11] = {0, 0, 0, 350, 0, -355, 1, 2, 3, 4, 5}, back[11], q[13];
    sn_skeleton_from_row(s, SN_ANGLE_DEGREES, row, q);
    sn_skeleton_to_row(s, SN_ANGLE_DEGREES, q, NULL, back);
    assert_near(back[3], -10, 1e-12);
    assert_near(back[5], 5, 1e-12);
    sn_skeleton_destroy(s);
}

static sn_skeleton *data_skeleton(const char *name) {
    const char *path = data_path(name);
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    sn_skeleton *s;
    sn_error error = {0};
    if (sn_asf_read(text, length, NULL, NULL, &s, &error) != SN_OK)
        fail_msg("%s, line %d: %s", name, error.line, error.text);
    free(text);
    return s;
}

static sn_motion *data_motion(const char *name, const sn_skeleton *s) {
    const char *path = data_path(name);
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    sn_motion *m = read_amc(text, length, s);
    free(text);
    return m;
}

// Every ASF and AMC of the data folder, and each pose to a row and back to the same pose.
static void data_files(void **unused) {
    (void)unused;
    static const struct {
        const char *asf, *amc;
        int nframe;
    } files[] = {
        {"hdm05/HDM_bk.asf", "hdm05/cuts/HDM_bk_hopBothLegs1hops_015_120.amc", 95},
        {"hdm05/HDM_bk.asf", "hdm05/cuts/HDM_bk_kickLFront1Reps_009_120.amc", 238},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.amc", 3498},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.amc", 3866},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc", 202},
        {"hdm05/HDM_dg.asf", "hdm05/cuts/HDM_dg_lieDownFloor_011_120.amc", 521},
        {"hdm05/HDM_mm.asf", "hdm05/cuts/HDM_mm_squat1Reps_037_120.amc", 189},
        {"hdm05/HDM_mm.asf", "hdm05/cuts/HDM_mm_throwBasketball_010_120.amc", 361},
        {"cmu/02.asf", "cmu/02_01.amc", 343},
        {"cmu/49.asf", "cmu/49_18.amc", 1102},
        {"cmu/backflip.asf", "cmu/backflip.amc", 247},
        {"cmu/charleston.asf", "cmu/charleston1.amc", 506},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sn_skeleton *s = data_skeleton(files[i].asf);
        sn_motion *m = data_motion(files[i].amc, s);
        const sn_model *model = sn_skeleton_model(s);
        assert_int_equal(sn_model_njoint(model), 31);
        assert_int_equal(sn_skeleton_row_size(s), 62);
        assert_int_equal(sn_model_nv(model), 62);
        assert_int_equal(sn_motion_nframe(m), files[i].nframe);
        assert_int_equal(sn_motion_first_frame(m), 1);
        double row[62], previous[62], q[64], delta[62], worst = 0, jump = 0;
        for (int k = 0; k < files[i].nframe; k++) {
            const double *pose = sn_motion_frame(m, k);
            assert_int_equal(sn_model_check_pose(model, pose, NULL), SN_OK);
            sn_skeleton_to_row(s, SN_ANGLE_DEGREES, pose, k > 0 ? previous : NULL, row);
            sn_skeleton_from_row(s, SN_ANGLE_DEGREES, row, q);
            sn_model_difference(model, pose, q, delta);
            for (int c = 0; c < 62; c++) worst = fmax(worst, fabs(delta[c]));
            for (int c = 3; c < 6 && k > 0; c++) jump = fmax(jump, fabs(row[c] - previous[c]));
            memcpy(previous, row, sizeof row);
        }
        print_message("%-52s %5d frames %3d dofs, pose -> row -> pose %.0e, largest root step "
                      "%5.1f degrees\n",
                      files[i].amc, files[i].nframe, sn_skeleton_row_size(s), worst, jump);
        assert_true(worst < 1e-13);
        sn_motion_destroy(m);
        sn_skeleton_destroy(s);
    }
}

// Bone positions and rotations of the golden values, which have inches of 2.5189 cm.
static void golden_poses(void **unused) {
    (void)unused;
    sn_skeleton *s = data_skeleton("hdm05/HDM_dg.asf");
    sn_motion *m = data_motion("hdm05/HDM_dg_03-05_02_120.amc", s);
    const char *path = data_path("golden/bonepose_prev.csv");
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    const sn_model *model = sn_skeleton_model(s);
    sn_problem *problem;
    sn_workspace *ws = workspace_of(model, &problem);
    // the rotation C between a joint's frame and its bone: the frame at the zero pose
    double q[64], worst_p = 0, worst_R = 0;
    sn_mat3 C[31];
    sn_model_zero(model, q);
    assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
    for (int i = 0; i < 31; i++) C[i] = sn_workspace_frame(ws, i).R;
    int count = 0, posed = -1;
    for (char *line = strchr(text, '\n') + 1; line != NULL && *line != '\0';) {
        int frame, id;
        char name[64];
        double g[7];
        assert_int_equal(sscanf(line, "%d,%d,%63[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf", &frame, &id,
                                name, &g[0], &g[1], &g[2], &g[3], &g[4], &g[5], &g[6]),
                         10);
        int joint = sn_model_find_joint(model, name);
        assert_true(joint >= 0);
        if (posed != frame)  // the pose of the frame before, from 1
            assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(m, frame - 2)), SN_OK);
        posed = frame;
        sn_frame f = sn_workspace_frame(ws, joint);
        const double p[3] = {f.p.x, f.p.y, f.p.z};
        for (int k = 0; k < 3; k++)
            worst_p = fmax(worst_p, fabs(100 * p[k] - g[k] * 2.54 / 2.5189));
        // the thumbs are held at zero there; nothing hangs on them
        if (strcmp(name, "lthumb") != 0 && strcmp(name, "rthumb") != 0) {
            sn_quat c = sn_quat_from_mat3(C[joint]), r = sn_quat_from_mat3(f.R);
            sn_quat bone = sn_quat_mul(r, sn_quat_conj(c));
            sn_quat d = sn_quat_mul(bone, sn_quat_conj((sn_quat){g[3], g[4], g[5], g[6]}));
            sn_vec3 w = sn_quat_log(d);
            worst_R = fmax(worst_R, sqrt(w.x * w.x + w.y * w.y + w.z * w.z));
        }
        count++;
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    print_message("%d bone poses: worst %.1e cm, %.1e radians\n", count, worst_p, worst_R);
    assert_int_equal(count, 14 * 31);
    assert_true(worst_p < 1e-9 && worst_R < 1e-9);
    free(text);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_motion_destroy(m);
    sn_skeleton_destroy(s);
}

// The golden rows, in radians: the numbers of the AMC under the names of the columns.
static void golden_rows(void **unused) {
    (void)unused;
    sn_skeleton *s = data_skeleton("hdm05/HDM_dg.asf");
    sn_motion *m = data_motion("hdm05/HDM_dg_03-05_02_120.amc", s);
    const char *path = data_path("golden/x_prev.csv");
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length), *line = strchr(text, '\n');
    int place[64], n = 0, count = 0;
    // columns are called <bone>_<channel>
    for (char *word = strtok(text, ",\n"); word != NULL && word < line;
         word = strtok(NULL, ",\n")) {
        char *channel = strrchr(word, '_');
        if (channel == NULL) continue;  // "frame"
        *channel++ = '\0';
        int joint = sn_model_find_joint(sn_skeleton_model(s), word), k = 0;
        assert_true(joint >= 0 && n < 64);
        if (joint == 0)
            for (char *c = channel; *c != '\0'; c++) *c = (char)(*c - 'a' + 'A');
        while (strcmp(sn_skeleton_row_name(s, joint, k), channel) != 0) k++;
        place[n++] = sn_skeleton_row_index(s, joint) + k;
        if (word + strlen(word) >= line) break;
    }
    assert_int_equal(n, 58);
    double worst = 0;
    for (line++; *line != '\0'; count++) {
        double row[62], previous[62] = {0};
        int frame = (int)strtol(line, &line, 10);
        double x[64];
        for (int i = 0; i < n; i++) x[i] = strtod(line + 1, &line);
        for (int i = 0; i < n; i++) previous[place[i]] = x[i];
        sn_skeleton_to_row(s, SN_ANGLE_RADIANS, sn_motion_frame(m, frame - 2), previous, row);
        for (int i = 0; i < n; i++) {
            double ours = row[place[i]];
            // centimetres with inches of 2.5189 cm
            if (i < 3) ours *= 100 * sn_skeleton_metres_per_unit(s) * 2.5189 / 2.54;
            worst = fmax(worst, fabs(ours - x[i]));
        }
        while (*line == '\n' || *line == '\r') line++;
    }
    print_message("%d golden rows: worst %.1e\n", count, worst);
    assert_int_equal(count, 14);
    assert_true(worst < 1e-12);
    free(text);
    sn_motion_destroy(m);
    sn_skeleton_destroy(s);
}

// The waist markers, at (y, z, x), ride on the root: with one mean offset about a centimetre is
// left.
static void markers_ride_on_root(void **unused) {
    (void)unused;
    static const char *const waist[] = {"LFWT", "RFWT", "LBWT", "RBWT"};
    static const char *const files[][3] = {
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.amc", "hdm05/HDM_dg_01-03_01_120.c3d"},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc", "hdm05/HDM_dg_06-03_03_120.c3d"},
        {"cmu/02.asf", "cmu/02_01.amc", "cmu/02_01.c3d"},
    };
    for (int i = 0; i < 3; i++) {
        sn_skeleton *s = data_skeleton(files[i][0]);
        sn_motion *m = data_motion(files[i][1], s);
        const char *path = data_path(files[i][2]);
        if (path == NULL) skip();
        size_t length;
        char *bytes = slurp(path, &length);
        sn_recording *r;
        assert_int_equal(sn_c3d_read(bytes, length, NULL, &r, NULL), SN_OK);
        free(bytes);
        int n = sn_motion_nframe(m);
        assert_int_equal(sn_recording_about(r)->nframe, n);
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            int marker = sn_recording_find(r, waist[k]);
            assert_true(marker >= 0);
            double mean[3] = {0}, square = 0;
            for (int f = 0; f < n; f++) {
                const double *x = sn_recording_frame(r, f) + 3 * marker, *q = sn_motion_frame(m, f);
                sn_mat3 R = sn_mat3_from_quat((sn_quat){q[3], q[4], q[5], q[6]});
                double d[3] = {x[1] - q[0], x[2] - q[1], x[0] - q[2]};
                for (int c = 0; c < 3; c++) {
                    double o = R.c[c].x * d[0] + R.c[c].y * d[1] + R.c[c].z * d[2];
                    mean[c] += o / n;
                    square += o * o / n;
                }
            }
            sum += square - mean[0] * mean[0] - mean[1] * mean[1] - mean[2] * mean[2];
        }
        double rms = sqrt(sum / 4);
        print_message("%-32s waist markers about the root: %.2f cm\n", files[i][2], 100 * rms);
        assert_true(rms < 0.02);
        sn_recording_destroy(r);
        sn_motion_destroy(m);
        sn_skeleton_destroy(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_of_tiny),        cmocka_unit_test(limits),
        cmocka_unit_test(line_ends_and_blanks), cmocka_unit_test(amc_units),
        cmocka_unit_test(random_figures),       cmocka_unit_test(rows_and_back),
        cmocka_unit_test(data_files),           cmocka_unit_test(golden_poses),
        cmocka_unit_test(golden_rows),          cmocka_unit_test(markers_ride_on_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
