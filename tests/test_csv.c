// SPDX-License-Identifier: MIT
// CSV: small files made here in the ways people write them, broken files, writing and reading back.
#include "files/csv/csv.h"
#include "memory_sink.h"
#include "reader.h"

static sn_table *read_text(const char *text) {
    sn_table *t;
    sn_error error = {0};
    if (sn_csv_read_table(text, strlen(text), NULL, &t, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return t;
}

static sn_recording *read_markers(const char *text) {
    sn_recording *r;
    sn_error error = {0};
    if (sn_csv_read_recording(text, strlen(text), NULL, &r, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return r;
}

static void tables(void **unused) {
    (void)unused;
    sn_table *t = read_text("time,knee,\"hip, left\"\n0,1,2\n0.5,,-3e1\n\n1.0,nan,4,,\n");
    const sn_table_info *info = sn_table_about(t);
    assert_true(info->nrow == 3 && info->ncolumn == 3 && info->time == 0 && info->frame == -1);
    assert_true(info->in_degrees && sn_table_rate(t) == 2);
    assert_string_equal(sn_table_column(t, 2), "hip, left");
    assert_true(isnan(sn_table_row(t, 1)[1]) && sn_table_row(t, 1)[2] == -30);
    sn_table_destroy(t);
    // comments, a row of units, milliseconds, tabs, CRLF, doubled quotes
    t = read_text("\xef\xbb\xbf# made by hand\r\n# inDegrees=no\r\n\r\n# Units: cm\r\n"
                  "Frame#\tTime\t\"a \"\"b\"\"\"\tlatency\r\n#\tms\tdeg\t(ms)\r\n"
                  "5\t10\t1\t7\r\n6\t20\t1\t8\r\n");
    info = sn_table_about(t);
    assert_true(info->frame == 0 && info->time == 1 && !info->in_degrees);
    assert_string_equal(info->unit, "cm");
    assert_string_equal(sn_table_column(t, 2), "a \"b\"");
    assert_true(sn_table_row(t, 1)[1] == 20 * 0.001 && sn_table_row(t, 1)[3] == 8);
    sn_table_destroy(t);
    // units in the names
    t = read_text("latency (ms),time [ms],angle (about x)\n5,1000,3\n");
    assert_string_equal(sn_table_column(t, 0), "latency");
    assert_string_equal(sn_table_column(t, 2), "angle (about x)");
    assert_true(sn_table_row(t, 0)[0] == 5 && sn_table_row(t, 0)[1] == 1);
    sn_table_destroy(t);
}

static void commas(void **unused) {
    (void)unused;
    sn_table *t = read_text("a;b;c\n1,5;-,25;3\n1,5e-1;\"2,5\";\n");
    assert_true(sn_table_row(t, 0)[0] == 1.5 && sn_table_row(t, 0)[1] == -0.25);
    assert_true(sn_table_row(t, 1)[0] == 0.15 && sn_table_row(t, 1)[1] == 2.5);
    assert_string_equal(sn_table_about(t)->note, "numbers have decimal commas");
    sn_table_destroy(t);
    t = read_text("a;b\n1.5;2\n");
    assert_true(sn_table_row(t, 0)[0] == 1.5);
    assert_string_equal(sn_table_about(t)->note, "");
    sn_table_destroy(t);
    // in quotes they may stand beside commas that part cells, but are then no numbers
    sn_error error = {0};
    assert_int_equal(sn_csv_read_table("a,b\n\"1,5\",2\n", 12, NULL, &t, &error), SN_ERR_PARSE);
    assert_string_equal(error.text, "'1,5' in column 1 (a) is no number, or one that is too large");
}

static void markers(void **unused) {
    (void)unused;
    static const char *const headers[] = {
        "Frame,Time (Seconds),LFHD.X,LFHD.Y,LFHD.Z,C7.X,C7.Y,C7.Z",
        "Frame,t,LFHD_x,LFHD_y,LFHD_z,"
        "C7_x,C7_y,C7_z",
        "frame,time,LFHD:X,LFHD:Y,LFHD:Z,C7:x,C7:y,C7:z",
        "FRAME,TIME,LFHD X,LFHD Y,LFHD Z,C7 X,C7 Y,C7 Z",
        "frame,time,LFHD_tx,LFHD_ty,LFHD_tz,"
        "C7-X,C7-Y,C7-Z",
        "Frame,Time,LFHD.X (m),LFHD.Y (m),LFHD.Z (m),C7.X (m),C7.Y (m),C7.Z (m)"};
    for (int i = 0; i < 6; i++) {
        char text[300];
        (void)snprintf(text, sizeof text, "%s\n8,0.07,1,2,3,4,5,6\n9,0.08,,,,4,5,nan\n",
                       headers[i]);
        sn_recording *r = read_markers(text);
        const sn_recording_info *info = sn_recording_about(r);
        assert_true(info->nframe == 2 && info->nmarker == 2 && info->first_frame == 8);
        assert_near(info->rate, 100, 1e-12);
        assert_string_equal(sn_recording_label(r, 0), "LFHD");
        assert_string_equal(sn_recording_label(r, 1), "C7");
        assert_true(info->metres_per_unit == (i == 5));
        assert_true(sn_recording_frame(r, 0)[5] == 6);
        assert_false(sn_recording_present(r, 1, 0));
        assert_true(isnan(sn_recording_frame(r, 1)[3]));
        sn_recording_destroy(r);
    }
    // columns apart, in another order, with a subject, without time; others left out
    sn_recording *r = read_markers("Ann:C7.Z,EMG,Ann:C7.X,Ann:C7.Y\nmm,,mm,mm\n3000,9,1000,2000\n");
    const sn_recording_info *info = sn_recording_about(r);
    assert_string_equal(sn_recording_label(r, 0), "Ann:C7");
    assert_int_equal(sn_recording_find(r, "C7"), 0);
    assert_true(sn_recording_frame(r, 0)[0] == 1 && sn_recording_frame(r, 0)[2] == 3);
    assert_true(info->rate == 0 && info->first_frame == 1);
    assert_string_equal(info->note, "1 column that is no marker's left out");
    sn_recording_destroy(r);
    r = read_markers("frame,A.X,A.Y,A.Z\n4,1,1,1\n5,1,1,1\n7,1,1,1\n");
    assert_string_equal(sn_recording_about(r)->note, "frames are not numbered one by one");
    sn_recording_destroy(r);
    r = read_markers("time;A.X;A.Y;A.Z\n0;1;1;1\n1;1;1;1\n7;1;1;1\n");
    assert_string_equal(sn_recording_about(r)->note, "the times do not go on in even steps");
    sn_recording_destroy(r);
}

#define MOTIVE                                                                                     \
    "Format Version,1.23,Take Name,\"Take, 1\",Export Frame Rate,120.000000,Length Units,"         \
    "Millimeters\n\n"

// Rows that are not there while times go on, and frame numbers where there are any: frames without samples.
static void lost_rows(void **unused) {
    (void)unused;
    char text[4000];
    for (int numbered = 0; numbered < 2; numbered++) {
        int n = snprintf(text, sizeof text, "%stime,A.X,A.Y,A.Z\n", numbered ? "frame," : "");
        for (int f = 0; f < 40; f++) {
            if (f >= 12 && f < 17) continue;
            if (numbered) n += snprintf(text + n, sizeof text - (size_t)n, "%d,", f + 1);
            n += snprintf(text + n, sizeof text - (size_t)n, "%.3f,1,2,3\n", f / 120.0);
        }
        sn_recording *r = read_markers(text);
        const sn_recording_info *info = sn_recording_about(r);
        assert_string_equal(info->note,
                            "5 frames are not in the file (first 13): taken as missing");
        assert_true(info->nframe == 40 && info->first_frame == 1);
        assert_near(info->rate, 120, 0.01 * 120);
        for (int f = 0; f < 40; f++)
            assert_int_equal(sn_recording_present(r, f, 0), f < 12 || f >= 17);
        sn_recording_destroy(r);
    }
    // numbers that go on one by one
    sn_recording *r = read_markers("frame,time,A.X,A.Y,A.Z\n1,0,1,1,1\n2,1,1,1,1\n3,3,1,1,1\n");
    assert_int_equal(sn_recording_about(r)->nframe, 3);
    sn_recording_destroy(r);
}

static void motive(void **unused) {
    (void)unused;
    sn_recording *r = read_markers(
        MOTIVE ",Type,Bone,Marker,Marker,Marker,Rigid Body,Rigid Body Marker\n"
               ",Name,Hip,Ann:C7,Ann:C7,Ann:C7,Box,Box:Marker1\n,ID,1,2,2,2,3,4\n"
               ",Parent,,,,,,\n,,Position,Position,Position,Position,Rotation,Position\n"
               "Frame,Time (Seconds),X,X,Y,Z,X,X\n"
               "0,0.000000,9,1000,2000,3000,.5,4\n1,0.008333,9,,,,.5,\n2,0.016667,9,1,2,3,.5,4\n");
    const sn_recording_info *info = sn_recording_about(r);
    assert_true(info->nframe == 3 && info->nmarker == 1 && info->first_frame == 0);
    assert_true(info->rate == 120 && info->metres_per_unit == 0.001);
    assert_string_equal(sn_recording_label(r, 0), "Ann:C7");
    assert_string_equal(info->note, "3 columns that are no marker's position left out");
    assert_true(sn_recording_frame(r, 0)[1] == 2 && !sn_recording_present(r, 1, 0));
    sn_recording_destroy(r);
    // an older one without words before the rows, whose only markers are a rigid body's
    r = read_markers("Format Version,1.1,Length Units,Meters\n"
                     ",,Rigid Body,Rigid Body Marker,Rigid Body Marker,Rigid Body Marker\n"
                     ",,Box,Box:1,Box:1,Box:1\n,,a,b,b,b\n,,Rotation,Position,Position,Position\n"
                     "Frame,Time,X,X,Y,Z\n1,0,.5,1,2,3\n");
    assert_string_equal(sn_recording_label(r, 0), "Box:1");
    assert_true(sn_recording_frame(r, 0)[2] == 3);
    sn_recording_destroy(r);
}

static void refuse(const char *text, size_t length, int line, const char *message) {
    sn_table *t;
    sn_error error = {0};
    sn_status status = sn_csv_read_table(text, length, NULL, &t, &error);
    check_refusal(status, t, &error, line, message);
    assert_int_equal(sn_csv_read_table(text, length, NULL, &t, NULL), status);
}

#define REFUSE(text, line, message) refuse(text, sizeof(text) - 1, line, message)

static void broken_files(void **unused) {
    (void)unused;
    refuse(NULL, 0, 0, "the file holds no table");
    REFUSE("\n# x\n,,\n", 3, "the file holds no table");
    REFUSE("1,2\n3,4\n", 1, "the first row must name the columns, but holds only numbers");
    REFUSE("1 (mm),2 (mm)\n3,4\n", 1,
           "the first row must name the columns, but holds only numbers");
    REFUSE("a,,b\n1,2,3\n", 1, "column 2 has no name");
    REFUSE("a,b\n", 1, "no rows follow the names of the columns");
    REFUSE("a,b\n1\n", 2, "this row has 1 cells, but the table has 2 columns");
    REFUSE("a,b\n1,2\n1,2,3\n", 3, "this row has 3 cells, but the table has 2 columns");
    REFUSE("a,b\n1,x\n", 2, "'x' in column 2 (b) is no number");
    REFUSE("a,b\n1,\"2\n", 2, "a quoted cell has no end in its line");
    REFUSE("a,b\n1,\"2\"3\n", 2, "a quoted cell has no end in its line");
    REFUSE("a,\"b\n1,2\n", 1, "a quoted cell has no end in its line");
    REFUSE("a;b\n1,5;2\n1;2.5\n", 3, "numbers have commas (line 2) and points (line 3)");
    REFUSE("a;b\n1,234.5;2\n", 2, "numbers have commas (line 2) and points (line 2)");
    REFUSE("a;b\n1,2,3;2\n", 2, "'1,2,3' in column 1 (a) is no number");
    REFUSE("A.X (mm),A.Y (m)\n1,2\n", 1, "lengths are in different units");
    REFUSE("a(m)(mm),b\n1,2\n", 1, "lengths are in different units");
    REFUSE("a,b\nmm,cm\n1,2\n", 2, "lengths are in different units");
    REFUSE("Format Version,1\nx\n", 2, "must end with a row that begins with Frame");
    REFUSE("Format Version,1\n,Type,a\nFrame,Time,X\n", 3, "rows of types, names and kinds");
    REFUSE("Format Version,1,Length Units,Cubits\n", 1, "'Cubits' is no unit of length");
    REFUSE("Format Version,1\n,Type,Bone\n,Name,a\n,,Position\nFrame,Time,X\n1,2,3\n", 5,
           "none of the 1 columns is a marker's position");
    REFUSE("Format Version,1\n,Type,Marker\n,Name\n,,Position\nFrame,Time,X\n1,2,3\n", 5,
           "column 3 has no name");
    sn_recording *r;
    sn_error error = {0};
    assert_int_equal(sn_csv_read_recording("a,b\n1,2\n", 8, NULL, &r, &error), SN_ERR_VALUE);
    assert_string_equal(error.text, "this is no table of markers: only 0 of its 2 columns come in "
                                    "threes named like LFHD.X, LFHD.Y, LFHD.Z");
    assert_null(r);
    sn_table *t = read_text("A.X,A.Y,A.Z\n1,2,3\n");
    assert_int_equal(sn_recording_from_table(t, "a unit that is too long", NULL, &r, &error),
                     SN_ERR_ARGUMENT);
    sn_table_destroy(t);
}

static sn_status as_markers(const char *bytes, size_t length, const sn_allocator *allocator,
                            sn_error *error) {
    sn_recording *r;
    sn_status status = sn_csv_read_recording(bytes, length, allocator, &r, error);
    if (status != SN_OK) assert_null(r);
    sn_recording_destroy(r);
    return status;
}

static void truncation_and_memory(void **unused) {
    (void)unused;
    const char *texts[] = {
        "Frame;Time (s);\"A\"\"\".X;A.Y;A.Z\nmm;s;;;\n1;0,1;2;3;4\n2;0,2;;;\n",
        MOTIVE ",Type,Marker,Marker,Marker\n,Name,C7,C7,C7\n,ID,2,2,2\n,,Position,Position,"
               "Position\nFrame,Time (Seconds),X,Y,Z\n0,0.000000,1000,2000,3000\n"};
    for (int i = 0; i < 2; i++)
        for (size_t n = 0; n < strlen(texts[i]); n++) {
            char *copy = malloc(n > 0 ? n : 1);
            assert_non_null(copy);
            memcpy(copy, texts[i], n);
            sn_table *t;
            sn_error error = {0};
            if (sn_csv_read_table(copy, n, NULL, &t, &error) != SN_OK)
                assert_true(t == NULL && error.text[0] != '\0');
            sn_table_destroy(t);
            free(copy);
        }
    assert_int_equal(check_memory(as_markers, texts[1], strlen(texts[1])), 4);
}

static void recording_round_trip(void **unused) {
    (void)unused;
    static const char *const labels[] = {"Ann:LFHD", "C7, \"right\"", "# 3"};
    uint64_t state = 8;
    double worst = 0;
    for (int i = 0; i < cases(100); i++) {
        bool rated = below(&state, 3) > 0, known = below(&state, 3) > 0;
        sn_recording_info info = {.nframe = 2 + below(&state, 20),
                                  .nmarker = 1 + below(&state, 3),
                                  .first_frame = below(&state, 100),
                                  .rate = rated ? 119.88 : 0,
                                  .metres_per_unit = known ? 1 : 0};
        sn_recording *r = random_recording(&state, &info, labels, -1);
        sn_markers_options options = sn_markers_options_default();
        if (below(&state, 2)) options.unit = "m";
        memory_sink sink;
        memory_sink_begin(&sink);
        sn_error error = {0};
        assert_int_equal(sn_csv_write_recording(r, &options, &sink.base, &error), SN_OK);
        sn_recording *back = read_markers(sink.bytes);
        const sn_recording_info *got = sn_recording_about(back);
        assert_string_equal(got->unit, known ? options.unit : "");
        assert_int_equal(got->first_frame, info.first_frame);
        assert_near(got->rate, info.rate, 1e-12);
        double distance = recording_distance(r, back);
        if (!known || options.unit[1] == '\0') assert_true(distance == 0);
        worst = fmax(worst, distance);
        sn_recording_destroy(r);
        sn_recording_destroy(back);
        free(sink.bytes);
    }
    print_message("worst in millimetres: %.1e m\n", worst);
    assert_true(worst < 1e-15);
}

static void table_round_trip(void **unused) {
    (void)unused;
    static const char *const names[] = {"a;b", "time", " c ", "\"d\"", "#e"};
    uint64_t state = 3;
    for (int i = 0; i < cases(100); i++) {
        sn_table_info info = sn_table_info_default();
        info.nrow = 1 + below(&state, 9), info.ncolumn = 1 + below(&state, 5);
        info.time = info.ncolumn > 1 ? 1 : -1;
        info.in_degrees = below(&state, 2);
        if (below(&state, 2)) memcpy(info.unit, "m", 2);
        sn_table *t;
        assert_int_equal(sn_table_create(&info, names, NULL, &t, NULL), SN_OK);
        for (int k = 0; k < info.nrow; k++)
            for (int c = 0; c < info.ncolumn; c++)
                if (below(&state, 4) > 0) sn_table_edit(t, k)[c] = uniform(&state, -9, 9);
        memory_sink sink;
        memory_sink_begin(&sink);
        assert_int_equal(sn_csv_write_table(t, &sink.base, NULL), SN_OK);
        sn_table *back = read_text(sink.bytes);
        const sn_table_info *got = sn_table_about(back);
        assert_true(got->nrow == info.nrow && got->ncolumn == info.ncolumn);
        assert_true(got->in_degrees == info.in_degrees && got->time == info.time);
        assert_string_equal(got->unit, info.unit);
        for (int c = 0; c < info.ncolumn; c++) {
            assert_string_equal(sn_table_column(back, c), names[c]);
            for (int k = 0; k < info.nrow; k++) {
                double x = sn_table_row(t, k)[c], y = sn_table_row(back, k)[c];
                assert_true(x == y || (isnan(x) && isnan(y)));
            }
        }
        sn_table_destroy(t);
        sn_table_destroy(back);
        free(sink.bytes);
    }
}

// A motion goes through CSV as through MOT, also without a rate.
static void motions(void **unused) {
    (void)unused;
    uint64_t state = 6;
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    for (int rated = 0; rated < 2; rated++) {
        sn_motion *m, *back;
        int nq = sn_model_nq(model), nv = sn_model_nv(model);
        assert_int_equal(sn_motion_create(5, nq, 11, rated ? 30 : 0, NULL, &m, NULL), SN_OK);
        for (int f = 0; f < 5; f++) sn_model_sample(model, &state, sn_motion_edit(m, f));
        sn_table *t, *read;
        assert_int_equal(sn_table_from_motion(model, m, NULL, &t, NULL), SN_OK);
        memory_sink sink;
        memory_sink_begin(&sink);
        assert_int_equal(sn_csv_write_table(t, &sink.base, NULL), SN_OK);
        read = read_text(sink.bytes);
        assert_int_equal(sn_motion_from_table(model, read, NULL, &back, NULL), SN_OK);
        assert_int_equal(sn_motion_first_frame(back), 11);
        assert_near(sn_motion_rate(back), rated ? 30 : 0, 1e-12);
        double *delta = calloc((size_t)nv, sizeof *delta);
        assert_non_null(delta);
        for (int f = 0; f < 5; f++) {
            sn_model_difference(model, sn_motion_frame(m, f), sn_motion_frame(back, f), delta);
            for (int k = 0; k < nv; k++) assert_true(fabs(delta[k]) < 1e-14);
        }
        free(delta);
        free(sink.bytes);
        sn_table_destroy(t);
        sn_table_destroy(read);
        sn_motion_destroy(m);
        sn_motion_destroy(back);
    }
    sn_model_destroy(model);
}

static void refused_writing(void **unused) {
    (void)unused;
    static const char *const bad[] = {"a", "b\nc"};
    sn_table_info info = sn_table_info_default();
    sn_table *t;
    sn_recording *r;
    sn_error error = {0};
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_table_create(&info, NULL, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_csv_write_table(t, &sink.base, &error), SN_ERR_VALUE);
    sn_table_destroy(t);
    info.nrow = 1, info.ncolumn = 2;
    assert_int_equal(sn_table_create(&info, bad, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_csv_write_table(t, &sink.base, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "'b?c'"));
    sn_table_destroy(t);
    sn_recording_info markers_info = {.nframe = 1, .nmarker = 2};
    assert_int_equal(sn_recording_create(&markers_info, bad, NULL, &r, NULL), SN_OK);
    assert_int_equal(sn_csv_write_recording(r, NULL, &sink.base, &error), SN_ERR_VALUE);
    sn_recording_destroy(r);
    markers_info.nmarker = 1;
    assert_int_equal(sn_recording_create(&markers_info, bad, NULL, &r, NULL), SN_OK);
    sink.room = 3;
    assert_int_equal(sn_csv_write_recording(r, NULL, &sink.base, &error), SN_ERR_FILE);
    sn_recording_destroy(r);
    assert_int_equal(sink.length, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(commas),
        cmocka_unit_test(markers),
        cmocka_unit_test(lost_rows),
        cmocka_unit_test(motive),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(truncation_and_memory),
        cmocka_unit_test(table_round_trip),
        cmocka_unit_test(recording_round_trip),
        cmocka_unit_test(motions),
        cmocka_unit_test(refused_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
