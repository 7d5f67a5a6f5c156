// SPDX-License-Identifier: MIT
// Tables, MOT and STO: the container, small files made here, those of the data folder, broken ones,
// motions written and read back.
#include "memory_sink.h"
#include "reader.h"

static sn_table *read_text(const char *text) {
    sn_table *t;
    sn_error error = {0};
    if (sn_sto_read(text, strlen(text), NULL, &t, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return t;
}

static void container(void **unused) {
    (void)unused;
    static const char *const names[] = {"time", "a", "b", "a"};
    sn_table_info info = sn_table_info_default();
    assert_true(info.time == -1 && info.frame == -1 && info.in_degrees);
    info.nrow = 3, info.ncolumn = 4, info.time = 0;
    test_allocator a;
    test_allocator_begin(&a);
    sn_table *t;
    assert_int_equal(sn_table_create(&info, names, &a.base, &t, NULL), SN_OK);
    assert_int_equal(a.calls, 1);
    assert_memory_equal(sn_table_about(t), &info, sizeof info);
    assert_true(isnan(sn_table_row(t, 2)[3]));
    assert_int_equal(sn_table_find(t, "a"), 1);
    assert_int_equal(sn_table_find(t, "c"), -1);
    assert_string_equal(sn_table_column(t, 2), "b");
    assert_true(sn_table_column(t, 4) == NULL && sn_table_row(t, 3) == NULL);
    assert_true(sn_table_edit(t, -1) == NULL && sn_table_column(t, -1) == NULL);
    assert_true(sn_table_rate(t) == 0);
    for (int i = 0; i < 3; i++) sn_table_edit(t, i)[0] = 0.02 * i;
    assert_true(sn_table_rate(t) == 50);
    for (int i = 0; i < 3; i++) sn_table_edit(t, i)[2] = i * i;
    assert_true(sn_table_at(t, 2, -1) == 0 && sn_table_at(t, 2, 0.02) == 1);
    assert_true(fabs(sn_table_at(t, 2, 0.03) - 2.5) < 1e-12 && sn_table_at(t, 2, 9) == 4);
    assert_true(isnan(sn_table_at(t, 1, 0.01)) && isnan(sn_table_at(t, 4, 0)));
    assert_true(isnan(sn_table_at(t, 2, NAN)));
    sn_table_edit(t, 2)[0] = 7;
    assert_true(sn_table_rate(t) == 0);
    sn_table_destroy(t);
    sn_table_destroy(NULL);
    assert_int_equal(a.live, 0);
    info.time = 4;
    assert_int_equal(sn_table_create(&info, names, NULL, &t, NULL), SN_ERR_ARGUMENT);
    assert_null(t);
    info.time = 0, info.nrow = -1;
    assert_int_equal(sn_table_create(&info, names, NULL, &t, NULL), SN_ERR_ARGUMENT);
    info.nrow = 1, memset(info.note, 'x', sizeof info.note);
    assert_int_equal(sn_table_create(&info, names, NULL, &t, NULL), SN_ERR_ARGUMENT);
}

static void headers(void **unused) {
    (void)unused;
    sn_table *t = read_text("walk one\nversion=1\nnRows=2\nnColumns=3\ninDegrees=no\n\n"
                            "Units are S.I. units (second, meters, Newtons, ...)\nendheader\n"
                            "time\tknee_r\tknee_l\n0\t1\tnan\n0.1\t-2e-3\tNaN\n");
    const sn_table_info *info = sn_table_about(t);
    assert_string_equal(info->name, "walk one");
    assert_string_equal(info->unit, "m");
    assert_string_equal(info->note, "");
    assert_true(info->nrow == 2 && info->ncolumn == 3 && info->time == 0 && !info->in_degrees);
    assert_true(sn_table_row(t, 1)[1] == -2e-3 && isnan(sn_table_row(t, 1)[2]));
    assert_true(sn_table_rate(t) == 10);
    sn_table_destroy(t);
    // SIMM: keys parted by blanks, no version, blanks between the cells, trailing blanks
    t = read_text("name run\r\ndatacolumns 2\r\ndatarows 3\t\t\r\notherdata 1\r\nrange 0 1\r\n"
                  "endheader\t\t\r\n\r\n  Time   hip \r\n 0  1 \r\n\r\n .5 2\r\n");
    info = sn_table_about(t);
    assert_string_equal(info->name, "run");
    assert_string_equal(info->note, "the header says 3 rows, 2 are there");
    assert_true(info->in_degrees && sn_table_row(t, 1)[1] == 2);
    assert_string_equal(sn_table_column(t, 1), "hip");
    sn_table_destroy(t);
    // a version, but nothing about degrees; empty cells at the end; no rows
    t = read_text("version=3\nendheader\ntime\ta\t\t\n1\t2\t\t\n");
    assert_false(sn_table_about(t)->in_degrees);
    assert_string_equal(sn_table_about(t)->name, "");
    sn_table_destroy(t);
    t = read_text("x\nendheader\ntime\ta\n");
    assert_int_equal(sn_table_about(t)->nrow, 0);
    sn_table_destroy(t);
    // vectors
    t = read_text("DataRate=50\nDataType=Vec3\nversion=3\nendheader\ntime\tA\tB\n"
                  "0\t1,2,3\t4,5,6\n1\tnan,nan,nan\t\n");
    assert_int_equal(sn_table_about(t)->ncolumn, 7);
    assert_string_equal(sn_table_column(t, 6), "B.z");
    assert_true(sn_table_row(t, 0)[6] == 6 && isnan(sn_table_row(t, 1)[4]));
    sn_recording *r;
    assert_int_equal(sn_recording_from_table(t, "cm", NULL, &r, NULL), SN_OK);
    assert_string_equal(sn_recording_label(r, 1), "B");
    assert_true(sn_recording_frame(r, 0)[5] == 6 * 0.01 && !sn_recording_present(r, 1, 1));
    sn_recording_destroy(r);
    sn_table_destroy(t);
}

static void refuse(const char *text, size_t length, int line, const char *message) {
    sn_table *t;
    sn_error error = {0};
    sn_status status = sn_sto_read(text, length, NULL, &t, &error);
    check_refusal(status, t, &error, line, message);
    assert_int_equal(sn_sto_read(text, length, NULL, &t, NULL), status);
}

#define REFUSE(text, line, message) refuse(text, sizeof(text) - 1, line, message)

static void broken_files(void **unused) {
    (void)unused;
    refuse(NULL, 0, 0, "this is no MOT or STO file: it has no line 'endheader'");
    REFUSE("name\nversion=1\ntime\ta\n", 3, "it has no line 'endheader'");
    REFUSE("name\nnRows=many\nendheader\n", 2, "'many' is no number of rows or columns");
    REFUSE("name\nnColumns=-1\nendheader\n", 2, "'-1' is no number of rows or columns");
    REFUSE("name\ninDegrees=maybe\nendheader\n", 2, "inDegrees is 'maybe', but must be yes or no");
    REFUSE("name\nDataType=SpatialVec\nendheader\n", 2, "cells of type 'SpatialVec'");
    REFUSE("name\nendheader\n\n", 3, "no column names follow the header");
    REFUSE("name\nnColumns=3\nendheader\ntime\ta\n0\t1\t2\n", 5, "this row has 3 cells");
    REFUSE("name\nendheader\nframe\ta\n", 3, "the first column must be the time, not 'frame'");
    REFUSE("name\nendheader\ntime\t\ta\n", 3, "column 2 has no name");
    REFUSE("n\nendheader\ntime\ta\n0\t1\n1\n", 5, "this row has 1 cells, but the table has 2");
    REFUSE("n\nendheader\ntime\ta\n0\t1\t2\n", 4, "this row has 3 cells, but the table has 2");
    REFUSE("n\nendheader\ntime\ta\n0\tx\n", 4, "'x' in column 2 (a) is no number");
    REFUSE("n\nendheader\ntime\ta\n0\t1\nnan\t1\n", 5, "this row has no time");
    REFUSE("n\nendheader\ntime\ta\n1\t1\n\n0.5\t1\n", 6,
           "the time 0.5 is not after the one before");
    REFUSE("n\nDataType=Vec3\nendheader\ntime\ta\n0\t1,2\n", 5, "'1,2' in column 2 is no vector");
    REFUSE("n\nDataType=Vec3\nendheader\ntime\ta\n0\t1,2,3,4\n", 5, "'1,2,3,4' in column 2");
    char text[400];
    memset(text, 'a', sizeof text);
    text[300] = '\n';
    refuse(text, sizeof text, 1, "the name is longer than 255 bytes");
}

static sn_status as_recording(const char *bytes, size_t length, const sn_allocator *allocator,
                              sn_error *error) {
    sn_table *t;
    sn_recording *r = NULL;
    sn_status status = sn_sto_read(bytes, length, allocator, &t, error);
    if (status == SN_OK) status = sn_recording_from_table(t, NULL, allocator, &r, error);
    if (status != SN_OK) assert_null(r);
    sn_recording_destroy(r);
    sn_table_destroy(t);
    return status;
}

static void truncation_and_memory(void **unused) {
    (void)unused;
    const char *text = "walk\nversion=1\nnRows=2\nnColumns=3\nDataType=Vec3\nendheader\n"
                       "time\tknee_r\tknee_l\n0\t1,2,3\t1,2,3\n0.1\t1,2,3\t1,2,3\n";
    for (size_t n = 0; n < strlen(text); n++) {
        char *copy = malloc(n > 0 ? n : 1);
        assert_non_null(copy);
        memcpy(copy, text, n);
        sn_table *t;
        sn_error error = {0};
        if (sn_sto_read(copy, n, NULL, &t, &error) != SN_OK)
            assert_true(t == NULL && error.text[0] != '\0');
        sn_table_destroy(t);
        free(copy);
    }
    assert_int_equal(check_memory(as_recording, text, strlen(text)), 4);
}

static void table_round_trip(void **unused) {
    (void)unused;
    static const char *const names[] = {"b", "when", "c d", "\xc3\xa9"};
    uint64_t state = 2;
    for (int i = 0; i < cases(100); i++) {
        sn_table_info info = sn_table_info_default();
        info.nrow = below(&state, 9), info.ncolumn = 4, info.time = 1;
        info.in_degrees = below(&state, 2);
        (void)snprintf(info.name, sizeof info.name, i == 0 ? "endheader" : "the table");
        sn_table *t, *back;
        assert_int_equal(sn_table_create(&info, names, NULL, &t, NULL), SN_OK);
        for (int k = 0; k < info.nrow; k++)
            for (int c = 0; c < 4; c++)
                sn_table_edit(t, k)[c] = c == 1                  ? k * 0.1
                                         : below(&state, 6) == 0 ? NAN
                                                                 : uniform(&state, -9, 9);
        memory_sink sink;
        memory_sink_begin(&sink);
        sn_error error = {0};
        assert_int_equal(sn_sto_write(t, &sink.base, &error), SN_OK);
        if (sn_sto_read(sink.bytes, sink.length, NULL, &back, &error) != SN_OK)
            fail_msg("line %d: %s", error.line, error.text);
        assert_int_equal(sn_table_about(back)->in_degrees, info.in_degrees);
        assert_string_equal(sn_table_about(back)->name, i == 0 ? "table" : "the table");
        assert_string_equal(sn_table_about(back)->note, "");
        static const int to[4] = {1, 0, 2, 3};
        for (int c = 0; c < 4; c++) {
            const char *name = c == 1 ? "time" : names[c];
            assert_string_equal(sn_table_column(back, to[c]), name);
            for (int k = 0; k < info.nrow; k++) {
                double x = sn_table_row(t, k)[c], y = sn_table_row(back, k)[to[c]];
                assert_true(x == y || (isnan(x) && isnan(y)));
            }
        }
        sn_table_destroy(t);
        sn_table_destroy(back);
        free(sink.bytes);
    }
}

// A random motion that goes on smoothly, through several turns.
static sn_motion *random_motion(const sn_model *model, uint64_t *state, int nframe, int first,
                                double rate) {
    sn_motion *m;
    int nq = sn_model_nq(model), nv = sn_model_nv(model);
    assert_int_equal(sn_motion_create(nframe, nq, first, rate, NULL, &m, NULL), SN_OK);
    double *delta = calloc((size_t)nv + 1, sizeof *delta);
    assert_non_null(delta);
    for (int i = 0; i < nv; i++) delta[i] = uniform(state, -0.3, 0.3);
    sn_model_sample(model, state, sn_motion_edit(m, 0));
    for (int f = 1; f < nframe; f++)
        sn_model_integrate(model, sn_motion_frame(m, f - 1), delta, sn_motion_edit(m, f));
    free(delta);
    return m;
}

static void motion_round_trip(void **unused) {
    (void)unused;
    uint64_t state = 12;
    double worst = 0;
    for (int i = 0; i < cases(120); i++) {
        int type = i % (SN_JOINT_TYPE_COUNT + 1) - 1;
        sn_model *model = random_model(&state, 1 + below(&state, 6), type);
        int nframe = 1 + below(&state, 60), first = 1 + below(&state, 50), nv = sn_model_nv(model);
        double rate = below(&state, 2) ? 120 : 59.94;
        sn_motion *m = random_motion(model, &state, nframe, first, rate), *back;
        memory_sink sink;
        memory_sink_begin(&sink);
        sn_error error = {0};
        assert_int_equal(sn_mot_write(model, m, &sink.base, NULL, &error), SN_OK);
        sn_table *t = read_text(sink.bytes);
        assert_int_equal(sn_table_about(t)->ncolumn, 1 + nv);
        if (sn_motion_from_table(model, t, NULL, &back, &error) != SN_OK)
            fail_msg("%s", error.text);
        assert_int_equal(sn_motion_nframe(back), nframe);
        if (nframe > 1) {  // one time alone is no rate
            assert_near(sn_motion_rate(back), rate, 1e-12);
            assert_int_equal(sn_motion_first_frame(back), first);
        }
        double *delta = calloc((size_t)nv + 1, sizeof *delta);
        assert_non_null(delta);
        for (int f = 0; f < nframe; f++) {
            sn_model_difference(model, sn_motion_frame(m, f), sn_motion_frame(back, f), delta);
            for (int k = 0; k < nv; k++) worst = fmax(worst, fabs(delta[k]));
        }
        free(delta);
        sn_table_destroy(t);
        sn_motion_destroy(m);
        sn_motion_destroy(back);
        sn_model_destroy(model);
        free(sink.bytes);
    }
    print_message("worst difference of a coordinate: %.1e\n", worst);
    assert_true(worst < 1e-13);
}

static sn_model *one_joint(sn_joint_type type, const char *order) {
    sn_builder *builder;
    sn_model *model;
    assert_int_equal(sn_builder_create("one", NULL, &builder, NULL), SN_OK);
    sn_joint_desc d = sn_joint_default(type);
    d.name = "hip";
    if (order != NULL) (void)snprintf(d.order, sizeof d.order, "%s", order);
    (void)sn_builder_joint(builder, &d);
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    return model;
}

// Names of the columns, and angles in degrees but lengths in metres.
static void motion_columns(void **unused) {
    (void)unused;
    static const struct {
        sn_joint_type type;
        const char *order, *names;
        int lengths;
    } known[] = {
        {SN_JOINT_FIXED, NULL, "", 0},
        {SN_JOINT_HINGE, NULL, "hip", 0},
        {SN_JOINT_SLIDER, NULL, "hip", 1},
        {SN_JOINT_SCREW, NULL, "hip", 0},
        {SN_JOINT_UNIVERSAL, NULL, "hip_angle1 hip_angle2", 0},
        {SN_JOINT_EULER, "ZXY", "hip_rz hip_rx hip_ry", 0},
        {SN_JOINT_EULER, "ZXZ", "hip_rz hip_rx hip_rz3", 0},
        {SN_JOINT_BALL, NULL, "hip_wx hip_wy hip_wz", 0},
        {SN_JOINT_EXPMAP, NULL, "hip_wx hip_wy hip_wz", 0},
        {SN_JOINT_SWING_TWIST, NULL, "hip_su hip_sv hip_twist", 0},
        {SN_JOINT_PLANAR, NULL, "hip_tu hip_tv hip_angle", 2},
        {SN_JOINT_TRANSLATION, NULL, "hip_tx hip_ty hip_tz", 3},
        {SN_JOINT_FREE, NULL, "hip_tx hip_ty hip_tz hip_wx hip_wy hip_wz", 3},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sn_model *model = one_joint(known[i].type, known[i].order);
        int nv = sn_model_nv(model);
        sn_motion *m;
        sn_table *t;
        assert_int_equal(sn_motion_create(1, sn_model_nq(model), 3, 0, NULL, &m, NULL), SN_OK);
        sn_model_zero(model, sn_motion_edit(m, 0));
        double delta[6] = {0.25, 0.25, 0.25, 0, 0, 0.5};
        sn_model_integrate(model, sn_motion_frame(m, 0), delta, sn_motion_edit(m, 0));
        assert_int_equal(sn_table_from_motion(model, m, NULL, &t, NULL), SN_OK);
        assert_string_equal(sn_table_column(t, 0), "frame");
        assert_true(sn_table_row(t, 0)[0] == 3);
        char all[200] = "";
        for (int k = 1; k <= nv; k++) {
            if (k > 1) strcat(all, " ");
            strcat(all, sn_table_column(t, k));
            double x = delta[k - 1] * (k <= known[i].lengths ? 1 : 57.29577951308232);
            assert_near(sn_table_row(t, 0)[k], x, 1e-14);
        }
        assert_string_equal(all, known[i].names);
        sn_table_destroy(t);
        sn_motion_destroy(m);
        sn_model_destroy(model);
    }
}

// A ball that turns on and on: its columns do not jump.
static void no_jumps(void **unused) {
    (void)unused;
    sn_model *model = one_joint(SN_JOINT_BALL, NULL);
    const double delta[3] = {0.02, 0.05, -0.03}, degrees = 57.29577951308232;
    sn_motion *m;
    sn_table *t;
    assert_int_equal(sn_motion_create(400, 4, 1, 100, NULL, &m, NULL), SN_OK);
    sn_model_zero(model, sn_motion_edit(m, 0));
    for (int f = 1; f < 400; f++)
        sn_model_integrate(model, sn_motion_frame(m, f - 1), delta, sn_motion_edit(m, f));
    assert_int_equal(sn_table_from_motion(model, m, NULL, &t, NULL), SN_OK);
    for (int f = 0; f < 400; f++)
        for (int c = 0; c < 3; c++)
            assert_near(sn_table_row(t, f)[1 + c], f * delta[c] * degrees, 1e-9);
    sn_table_destroy(t);
    sn_motion_destroy(m);
    sn_model_destroy(model);
}

static void motion_from_others(void **unused) {
    (void)unused;
    sn_model *hinge = one_joint(SN_JOINT_HINGE, NULL), *ball = one_joint(SN_JOINT_BALL, NULL);
    sn_motion *m;
    sn_error error = {0};
    sn_table *t = read_text("x\nendheader\ntime\tother\thip\n2\t1\t90\n3\t1\t45\n");
    assert_int_equal(sn_motion_from_table(hinge, t, NULL, &m, &error), SN_OK);
    assert_near(sn_motion_frame(m, 0)[0], 1.5707963267948966, 1e-15);
    assert_int_equal(sn_motion_first_frame(m), 3);
    sn_motion_destroy(m);
    assert_int_equal(sn_motion_from_table(ball, t, NULL, &m, &error), SN_ERR_VALUE);
    assert_null(m);
    assert_string_equal(error.text, "the table has no column 'hip_wx' for the joint 'hip'");
    sn_table_destroy(t);
    t = read_text("x\nversion=1\ninDegrees=no\nendheader\ntime\thip_angle\n0\t1.5\n1\tnan\n");
    assert_int_equal(sn_motion_from_table(hinge, t, NULL, &m, &error), SN_ERR_VALUE);
    assert_string_equal(error.text, "row 2 of the table has no number in column 'hip_angle'");
    sn_table_edit(t, 1)[1] = 2;
    assert_int_equal(sn_motion_from_table(hinge, t, NULL, &m, &error), SN_OK);
    assert_true(sn_motion_frame(m, 0)[0] == 1.5);
    for (long n = 0;; n++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_motion *other;
        sn_status status = sn_motion_from_table(hinge, t, &a.base, &other, &error);
        if (status == SN_OK) sn_motion_destroy(other);
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_true(status == SN_ERR_MEMORY && other == NULL);
    }
    sn_table_destroy(t);
    // writing: memory, no rate, another model's motion
    memory_sink sink;
    memory_sink_begin(&sink);
    for (long n = 0;; n++) {
        test_allocator a;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_mot_write(hinge, m, &sink.base, &a.base, &error);
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
    }
    assert_int_equal(sn_mot_write(ball, m, &sink.base, NULL, &error), SN_ERR_ARGUMENT);
    sn_motion_destroy(m);
    assert_int_equal(sn_motion_create(1, 1, 1, 0, NULL, &m, NULL), SN_OK);
    assert_int_equal(sn_mot_write(hinge, m, &sink.base, NULL, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "no frame rate"));
    sn_motion_destroy(m);
    free(sink.bytes);
    // tables that cannot be written
    sn_table_info info = sn_table_info_default();
    static const char *const names[] = {"time", "a\tb"};
    info.ncolumn = 2;
    assert_int_equal(sn_table_create(&info, names, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_sto_write(t, &sink.base, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "no time column"));
    sn_table_destroy(t);
    info.time = 0;
    assert_int_equal(sn_table_create(&info, names, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_sto_write(t, &sink.base, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "column 2"));
    sn_table_destroy(t);
    sn_model_destroy(hinge);
    sn_model_destroy(ball);
}

static sn_table *data_table(const char *name) {
    const char *path = data_path(name);
    if (path == NULL) skip();
    size_t length;
    char *text = slurp(path, &length);
    sn_table *t;
    sn_error error = {0};
    if (sn_sto_read(text, length, NULL, &t, &error) != SN_OK)
        fail_msg("%s: line %d: %s", name, error.line, error.text);
    free(text);
    return t;
}

static void data_files(void **unused) {
    (void)unused;
    sn_table *t = data_table("opensim/std_subject01_walk1_ik.mot");
    const sn_table_info *info = sn_table_about(t);
    assert_true(info->nrow == 73 && info->ncolumn == 24 && info->in_degrees);
    assert_string_equal(info->name, "first trial");
    assert_string_equal(info->note, "");
    assert_true(sn_table_rate(t) == 60);
    assert_true(sn_table_row(t, 0)[0] == 0.4 && sn_table_row(t, 72)[0] == 1.6);
    assert_true(sn_table_row(t, 0)[sn_table_find(t, "knee_angle_r")] == -55.15907196);
    // not markers, though pelvis_tx, _ty, _tz look like one
    sn_recording *r;
    sn_error error = {0};
    assert_int_equal(sn_recording_from_table(t, "m", NULL, &r, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "only 3 of its 24 columns"));
    sn_table_destroy(t);

    t = data_table("opensim/std_markers_coords_ik.sto");
    info = sn_table_about(t);
    assert_true(info->nrow == 10 && info->ncolumn == 165);
    assert_int_equal(sn_recording_from_table(t, "m", NULL, &r, &error), SN_OK);
    print_message("markers of the STO file: %s\n", sn_recording_about(r)->note);
    // 41 markers, and three more that are named alike: pelvis_tx ..., and ground_torque_x ... twice
    assert_int_equal(sn_recording_about(r)->nmarker, 44);
    assert_int_equal(sn_recording_about(r)->nrenamed, 1);
    assert_string_equal(sn_recording_about(r)->note, "32 columns that are no marker's left out");
    const double *x = sn_recording_frame(r, 0) + 3 * sn_recording_find(r, "R.ASIS");
    assert_true(x[0] == 0.61724762 && x[1] == 1.05527502 && x[2] == 0.17078198);
    sn_recording_destroy(r);
    sn_table_destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(container),          cmocka_unit_test(headers),
        cmocka_unit_test(broken_files),       cmocka_unit_test(truncation_and_memory),
        cmocka_unit_test(table_round_trip),   cmocka_unit_test(motion_round_trip),
        cmocka_unit_test(motion_columns),     cmocka_unit_test(no_jumps),
        cmocka_unit_test(motion_from_others), cmocka_unit_test(data_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
