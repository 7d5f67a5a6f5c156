// SPDX-License-Identifier: MIT
// Files as other programs write them: small ones of each kind, and what the readers say to them.
#include "support.h"

static sn_document read_as(const char *name, const char *text) {
    sn_document d;
    sn_error error = {0};
    if (sn_document_read(name, text, strlen(text), NULL, NULL, &d, &error) != SN_OK)
        fail_msg("%s:%d: %s", name, error.line, error.text);
    return d;
}

static void refuse(const char *name, const char *text, int line, const char *message) {
    sn_document d;
    sn_error error = {0};
    if (sn_document_read(name, text, strlen(text), NULL, NULL, &d, &error) == SN_OK)
        fail_msg("%s was read, but \"%s\" was expected", name, message);
    if (strstr(error.text, message) == NULL || error.line != line)
        fail_msg("line %d: \"%s\", but line %d and \"%s\" were expected", error.line, error.text,
                 line, message);
}

// --- BVH -----------------------------------------------------------------------------------------

#define BVH(end, frames, time, rows)                                                               \
    "HIERARCHY\nROOT hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation " \
    "Xrotation Yrotation\n JOINT chest\n {\n  OFFSET 0 90 0\n  CHANNELS 3 Zrotation Xrotation "    \
    "Yrotation\n  " end "\n  {\n   OFFSET 0 80 0\n  }\n }\n}\nMOTION\n" frames "\n" time "\n" rows
#define ROW "0 90 0 1 2 3 4 5 6\n"

static void bvh(const char *text, int nframe, double rate, const char *note) {
    sn_document d = read_as("a.bvh", text);
    assert_string_equal(d.note, note);
    assert_int_equal(d.format, SN_FORMAT_BVH);
    assert_int_equal(sn_motion_nframe(d.motion), nframe);
    assert_near(sn_motion_rate(d.motion), rate, 1e-9);
    assert_int_equal(sn_model_njoint(d.model), 2);
    assert_int_equal(sn_skeleton_nend(d.skeleton), 1);
    if (nframe > 0)
        assert_near(sn_motion_frame(d.motion, nframe - 1)[sn_model_nq(d.model) - 1],
                    6 * 3.14159265358979323846 / 180, 1e-12);
    sn_document_destroy(&d);
}

static void bvh_varieties(void **unused) {
    (void)unused;
    bvh(BVH("End Site", "Frames: 2", "Frame Time: 0.02", ROW ROW), 2, 50, "");
    bvh(BVH("End Site", "Frames:2", "Frame Time:0.02", ROW ROW), 2, 50, "");
    bvh(BVH("End Site", "frames:\t2", "frame time:\t.02", ROW "0 90 0 1 2 3 4 5 6"), 2, 50, "");
    bvh("\xef\xbb\xbf" BVH("End Site", "Frames: 1", "Frame Time: 0.02", ROW), 1, 50, "");
    bvh(BVH("End Site\tHead_End", "Frames: 1", "Frame Time: 0.02", ROW), 1, 50, "");
    static const char odd[] = "1 block called otherwise is taken for End Site";
    bvh(BVH("EndSite", "Frames: 1", "Frame Time: 0.02", ROW), 1, 50, odd);
    bvh(BVH("End Head_End", "Frames: 1", "Frame Time: 0.02", ROW), 1, 50, odd);
    bvh(BVH("end", "Frames: 1", "Frame Time: 0.02", ROW), 1, 50, odd);
    // numbers of frames that are not so
    bvh(BVH("End Site", "Frames: 5", "Frame Time: 0.02", ROW ROW), 2, 50,
        "5 frames stated, 2 there: what is there is read");
    bvh(BVH("End Site", "Frames: 1", "Frame Time: 0.02", ROW ROW ROW), 3, 50,
        "1 frame stated, 3 there: what is there is read");
    bvh(BVH("End Site", "Frames: 0", "Frame Time: 0.02", ROW), 1, 50,
        "0 frames stated, 1 there: what is there is read");
    bvh(BVH("End Site", "Frames: 0", "Frame Time: 0.02", ""), 0, 50, "");
    bvh(BVH("End Site", "Frames: 1", "Frame Time: 0", ROW), 1, 0, "a Frame Time of 0 says no rate");
    refuse("a.bvh", BVH("End Site", "Frames: 3", "Frame Time: 0.02", ROW "0 90 0 1 2 3 4 5 6"), 20,
           "the file states 3 frames and ends inside the line of number 2: it was cut off");
    refuse("a.bvh", BVH("End Site", "Frames: 3", "Frame Time: 0.02", ROW "0 90 0 1\n"), 20,
           "frame 2 has 4 numbers, but there are 9 channels");
    refuse("a.bvh", BVH("End Site", "Frames: 3", "Frame Time: 0.02", ""), 18,
           "the file states 3 frames and has none");
}

// Line ends, letter case, names.
static void bvh_words(void **unused) {
    (void)unused;
    char text[] = BVH("End Site", "Frames: 1", "Frame Time: 0.02", ROW);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n') *c = '\r';
    bvh(text, 1, 50, "");
    for (char *c = text; *c != '\0'; c++)
        if (*c == ' ') *c = '\t';
    bvh(text, 1, 50, "");
    for (char *c = text; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
    bvh(text, 1, 50, "");
    sn_document d = read_as(
        "a.bvh", "HIERARCHY\nROOT mixamorig:Hips Left {\n OFFSET 0 0 0\n CHANNELS 3 XROTATION "
                 "yRotation zrotation\n End Site { OFFSET 0 1 0 }\n}\n");
    assert_string_equal(sn_model_joint(d.model, 0)->name, "mixamorig:Hips Left");
    sn_document_destroy(&d);
}

// --- ASF and AMC ---------------------------------------------------------------------------------

static const char usual_asf[] =
    ":version 1.10\n:name VICON\n:units\n  mass 1.0\n  length 0.45\n  angle deg\n"
    ":documentation\n  begin of many lines\n  end, # or (not)\n"
    ":root\n  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n"
    ":bonedata\n begin\n  id 1\n  name arm\n  direction 1 0 0\n  length 2\n"
    "  axis 0 0 0 XYZ\n  dof rx rz\n  limits (-10 20)\n   (-30 inf)\n end\n"
    ":hierarchy\n begin\n  root arm\n end\n";
static const char usual_amc[] =
    ":FULLY-SPECIFIED\n:DEGREES\n5\nroot 0 1 0 10 20 30\narm 1 2\n6\nroot 0 1 0 40 50 60\n"
    "arm 3 4\n";

// The text with each `from` replaced.
static char *edited(const char *text, const char *from, const char *to) {
    size_t n = strlen(text), used = 0, m = strlen(from);
    char *copy = malloc(n * (strlen(to) + 1) + 1);
    assert_non_null(copy);
    while (*text != '\0') {
        if (m > 0 && strncmp(text, from, m) == 0) {
            used += (size_t)sprintf(copy + used, "%s", to);
            text += m;
        } else {
            copy[used++] = *text++;
        }
    }
    copy[used] = '\0';
    return copy;
}

// A changed skeleton and motion say the same as the usual ones.
static void acclaim(const char *from, const char *to, const char *amc_from, const char *amc_to,
                    const char *note) {
    char *asf = edited(usual_asf, from, to), *amc = edited(usual_amc, amc_from, amc_to);
    sn_document usual = read_as("a.asf", usual_asf), d = read_as("b.asf", asf);
    assert_string_equal(d.note, note);
    sn_motion *x, *y;
    sn_error error = {0};
    assert_int_equal(sn_amc_read(usual_amc, strlen(usual_amc), usual.skeleton, NULL, &x, NULL),
                     SN_OK);
    if (sn_amc_read(amc, strlen(amc), d.skeleton, NULL, &y, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < sn_motion_nq(x); k++)
            assert_near(sn_motion_frame(x, f)[k], sn_motion_frame(y, f)[k], 1e-12);
    sn_motion_destroy(x);
    sn_motion_destroy(y);
    sn_document_destroy(&d);
    sn_document_destroy(&usual);
    free(asf);
    free(amc);
}

static void acclaim_varieties(void **unused) {
    (void)unused;
    acclaim("", "", ":FULLY-SPECIFIED\n", "", "");
    acclaim("\n", "\r\n", "\n", "\r\n", "");
    acclaim("order TX TY TZ", "order tx ty tz", ":DEGREES", ":degrees", "");
    acclaim("TX TY TZ RX RY RZ", "TX TZ TY RX RY RZ", "0 1 0", "0 0 1", "");
    acclaim("begin", "BEGIN", "5\n", "# first\n5\n", "");
    acclaim("inf", "+infinity", "", "", "");
    acclaim("inf", "1.#INF", "", "", "");
    acclaim("dof rx rz", "dof rz rx", "arm 1 2\n6\nroot 0 1 0 40 50 60\narm 3 4",
            "arm 2 1\n6\nroot 0 1 0 40 50 60\narm 4 3", "");
    acclaim(" XYZ\n  dof", "\n  dof", "", "", "");
    acclaim("  axis 0 0 0 XYZ\n", "", "", "", "1 bone has no axis: turned about the world's");
    acclaim("root arm", "ROOT arm", "root", "ROOT", "");
    // all in capitals
    char *text = edited(usual_asf, "", "");
    for (char *c = text; *c != '\0'; c++)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 32);
    sn_document d = read_as("a.txt", text);
    assert_int_equal(d.format, SN_FORMAT_ASF);
    assert_true(sn_model_find_joint(d.model, "ARM") == 1);
    assert_false(sn_skeleton_metres_guessed(d.skeleton));
    sn_document_destroy(&d);
    free(text);
    // what is not stated is not called so
    text = edited(usual_asf, "  length 0.45\n", "");
    d = read_as("a.asf", text);
    assert_true(sn_skeleton_metres_guessed(d.skeleton));
    assert_true(sn_skeleton_metres_per_unit(d.skeleton) == 0.0254);
    sn_document_destroy(&d);
    free(text);
}

// --- tables of markers ---------------------------------------------------------------------------

// Two markers over two frames, LFHD missing in the second.
static void recording(const char *name, const char *text, const char *label, int first, double rate,
                      double metres, const char *note) {
    sn_document d = read_as(name, text);
    assert_non_null(d.recording);
    const sn_recording_info *info = sn_recording_about(d.recording);
    assert_string_equal(info->note, note);
    assert_true(info->nframe == 2 && info->nmarker == 2);
    assert_int_equal(info->first_frame, first);
    assert_near(info->rate, rate, 1e-9);
    assert_true(info->metres_per_unit == metres);
    assert_string_equal(sn_recording_label(d.recording, 0), label);
    assert_int_equal(sn_recording_find(d.recording, "C7"), 1);
    double unit = metres > 0 ? metres : 1;
    for (int k = 0; k < 6; k++)
        assert_near(sn_recording_frame(d.recording, 0)[k], (k + 1.5) * unit, 1e-12);
    assert_false(sn_recording_present(d.recording, 1, 0));
    for (int k = 3; k < 6; k++)
        assert_near(sn_recording_frame(d.recording, 1)[k], (k + 5) * unit, 1e-12);
    sn_document_destroy(&d);
}

#define VICON                                                                                      \
    "Trajectories\n100\n,,Ann:LFHD,,,Ann:C7,,\nFrame,Sub Frame,X,Y,Z,X,Y,Z\n"                      \
    ",,mm,mm,mm,mm,mm,mm\n12,0,1.5,2.5,3.5,4.5,5.5,6.5\n13,0,,,,8,9,10\n"
#define DEVICES                                                                                    \
    "Devices\n1000\n,,Force - F,,\nFrame,Sub Frame,Fx,Fy,Fz\n,,N,N,N\n12,0,1,2,3\n12,1,1,2,3\n"

static void vicon(void **unused) {
    (void)unused;
    recording("a.csv", VICON, "Ann:LFHD", 12, 100, 0.001, "");
    recording("a.txt", VICON, "Ann:LFHD", 12, 100, 0.001, "");
    recording("a.csv", "\xef\xbb\xbf" VICON "\n", "Ann:LFHD", 12, 100, 0.001, "");
    recording("a.csv", DEVICES "\n" VICON, "Ann:LFHD", 12, 100, 0.001,
              "other sections left out: devices");
    recording("a.csv", VICON "\n" DEVICES "\nModel Outputs\n100\n,,A:Ang,,\n", "Ann:LFHD", 12, 100,
              0.001, "other sections left out: devices, model outputs");
    recording("a.csv", VICON ",,,,,,,\n" DEVICES, "Ann:LFHD", 12, 100, 0.001,
              "other sections left out: devices");
    char *text = edited(VICON, ",", ";");
    char *comma = edited(text, ".", ",");
    recording("a.csv", comma, "Ann:LFHD", 12, 100, 0.001, "numbers have decimal commas");
    free(comma);
    free(text);
    text = edited(VICON, "\n", "\r\n");
    recording("a.csv", text, "Ann:LFHD", 12, 100, 0.001, "");
    free(text);
    // without units; velocities beside the places; the older kind
    recording("a.csv",
              "Trajectories\n100\n,,LFHD,,,,,,C7,,\nFrame,Sub Frame,X,Y,Z,X',Y',Z',X,Y,Z\n"
              "12,0,1.5,2.5,3.5,7,7,7,4.5,5.5,6.5\n13,0,,,,,,,8,9,10\n",
              "LFHD", 12, 100, 0, "3 columns left out");
    recording("a.csv",
              "TRAJECTORIES\n100,Hz\n,LFHD,,,C7,,\nField #,X,Y,Z,X,Y,Z\n"
              "12,1.5,2.5,3.5,4.5,5.5,6.5\n13,,,,8,9,10\n",
              "LFHD", 12, 100, 0, "");
    refuse("a.csv", DEVICES, 1, "a file of Vicon without its section Trajectories");
    refuse("a.csv", "Trajectories\n0\n,,A,,\n", 2, "'0' is no frame rate");
    refuse("a.csv", "Trajectories\n100\n,,A,,\n", 3, "ends before the line of axes");
    refuse("a.csv", "Trajectories\n100\n,,A,,\nFrame,Sub Frame,RX,RY,RZ\n1,0,1,2,3\n", 4,
           "no column is a marker's x, y or z");
    // a column of that name
    sn_document d = read_as("a.csv", "Devices\n1\n2\n");
    assert_int_equal(sn_table_about(d.table)->nrow, 2);
    sn_document_destroy(&d);
    refuse("a.csv", "Trajectories\n100\n,,A,,\n1,0,1,2,3\n", 4, "must begin with Frame");
    refuse("a.csv", "Trajectories\n100\n,,A,,\nFrame,Sub Frame,X,Y,Z,X\n1,0,1,2,3,4\n", 4,
           "column 6 is not the x, y or z");
    refuse("a.csv", "Trajectories\n100\n,,A,,\nFrame,Sub Frame,X,Y,Z\n,,mm,mm,mm\n1,0,1,2\n", 6,
           "this row has 4 cells, but the table has 5 columns");
}

// Names in one row, axes in the next.
static void two_rows(void **unused) {
    (void)unused;
    recording("a.csv",
              "Frame,Time,LFHD,,,C7,,\n,,X,Y,Z,X,Y,Z\n12,0.11,1.5,2.5,3.5,4.5,5.5,6.5\n"
              "13,0.12,,,,8,9,10\n",
              "LFHD", 12, 100, 0, "");
    recording(
        "a.txt",
        "\t\tLFHD\t\t\t\tC7\n# \tTime (s)\tx\ty\tz\tlen\tx\ty\tz\n\ts\tcm\tcm\tcm\t\tcm\tcm\tcm\n"
        "12\t0.11\t1.5\t2.5\t3.5\t7\t4.5\t5.5\t6.5\n13\t0.12\t\t\t\t7\t8\t9\t10\n",
        "LFHD", 12, 100, 0.01, "2 columns left out");
}

#define QTM                                                                                        \
    "NO_OF_FRAMES\t2\nNO_OF_CAMERAS\t8\nNO_OF_MARKERS\t2\nFREQUENCY\t100\nNO_OF_ANALOG\t0\n"       \
    "ANALOG_FREQUENCY\t0\nDESCRIPTION\t--\nTIME_STAMP\t2020-01-01, 10:00:00\t1.5\n"                \
    "DATA_INCLUDED\t3D\nMARKER_NAMES\tLFHD\tC7\n"

static void qtm(void **unused) {
    (void)unused;
    recording("a.tsv", QTM "1.5\t2.5\t3.5\t4.5\t5.5\t6.5\n0.000\t0.000\t0.000\t8\t9\t10\n", "LFHD",
              1, 100, 0.001, "");
    recording("a.txt", QTM "1.5\t2.5\t3.5\t4.5\t5.5\t6.5\t\n\t\t\t8\t9\t10\t\n", "LFHD", 1, 100,
              0.001, "");
    recording("a.tsv",
              QTM "TRAJECTORY_TYPES\tMeasured\tMixed\nFrame\tTime\tLFHD X\tLFHD Y\tLFHD Z\tC7 X\t"
                  "C7 Y\tC7 Z\n7\t0.06\t1.5\t2.5\t3.5\t4.5\t5.5\t6.5\n"
                  "8\t0.07\tNULL\tNULL\tNULL\t8\t9\t10\n",
              "LFHD", 7, 100, 0.001, "");
    recording("a.tsv", QTM "7\t0.06\t1.5\t2.5\t3.5\t4.5\t5.5\t6.5\n8\t0.07\t0\t0\t0\t8\t9\t10\n",
              "LFHD", 7, 100, 0.001, "");
    char *text =
        edited(QTM "1.5\t2.5\t3.5\t4.5\t5.5\t6.5\n0\t0\t0\t8\t9\t10\n", "FRAMES\t2", "FRAMES\t9");
    recording("a.tsv", text, "LFHD", 1, 100, 0.001, "the header says 9 rows, 2 are there");
    free(text);
    refuse("a.tsv", QTM "1.5\t2.5\t3.5\t4.5\t5.5\n", 11, "this row has 5 cells");
    refuse("a.tsv", QTM, 10, "no rows follow the header");
    refuse("a.tsv", "NO_OF_FRAMES\t2\nDATA_INCLUDED\t6D\n", 2, "only 3D positions are read");
    refuse("a.tsv", "NO_OF_FRAMES\t2\n1\t2\t3\n", 1, "a QTM file needs a line MARKER_NAMES");
}

#define TRC_KEYS                                                                                   \
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\t"       \
    "OrigNumFrames\n"
#define TRC_NAMES          "Frame#\tTime\tL FHD\t\t\tC7\t\t\n"
#define TRC_AXES           "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
#define TRC_ROWS           "12\t0.11\t1.5\t2.5\t3.5\t4.5\t5.5\t6.5\n13\t0.12\t\t\t\t8\t9\t10\n"
#define TRC(values, names) "PathFileType\t4\t(X/Y/Z)\ta.trc\n" TRC_KEYS values "\n" names
#define TRC_USUAL          TRC("100\t100\t2\t2\tmm\t100\t1\t2", TRC_NAMES TRC_AXES "\n" TRC_ROWS)

static void trc_edited(const char *from, const char *to, double metres, const char *note) {
    char *text = edited(TRC_USUAL, from, to);
    recording("a.trc", text, "L FHD", 12, 100, metres, note);
    free(text);
}

static void trc_varieties(void **unused) {
    (void)unused;
    trc_edited("", "", 0.001, "");
    trc_edited("\n", "\r\n", 0.001, "");
    trc_edited("\n", "\t\n", 0.001, "");
    trc_edited("\n", "\n\n", 0.001, "");
    trc_edited(TRC_AXES "\n", "", 0.001, "");
    trc_edited(TRC_AXES, "\t\t\t\n", 0.001, "");
    trc_edited("PathFileType\t4\t", "PathFileType  4\t", 0.001, "");
    trc_edited("C7\t\t\n", "C7\n", 0.001, "");
    trc_edited("\t\t\tC7\t\t\n", "\tC7\n", 0.001, "");
    trc_edited("L FHD\t\t\tC7\t\t", "L FHD\tL FHD\tL FHD\tC7\tC7\tC7", 0.001, "");
    trc_edited("Time", "Time (s)", 0.001, "");
    trc_edited("Frame#", "Frame", 0.001, "");
    trc_edited("\n12\t", "\n12.0\t", 0.001, "");
    trc_edited(".", ",", 0.001, "numbers have decimal commas");
    trc_edited("PathFile", "\nPathFile", 0.001, "");
    trc_edited("\tmm\t", "\tm\t", 1, "");
    trc_edited("\tmm\t", "\tCM\t", 0.01, "");
    trc_edited("\tmm\t", "\tinches\t", 0.0254, "");
    trc_edited("\tmm\t", "\tfoo\t", 0, "");
    trc_edited("100\t2\t2\t", "100\t\t\t", 0.001, "");
    trc_edited("100\t2\t2\t", "100\t-1\t2\t", 0.001, "NumFrames is '-1'");
    trc_edited("100\t2\t2\t", "100\t2\t7\t", 0.001, "NumMarkers is 7, but 2 are named");
    trc_edited("100\t2\t2\t", "100\t99999999\t99999999\t", 0.001,
               "NumMarkers is 99999999, but 2 are named; the header says 99999999 frames, 2 are "
               "there");
    char *first = edited(TRC_USUAL, "\t0.11\t", "\t-0.01\t"),
         *both = edited(first, "\t0.12\t", "\t0\t");
    recording("a.trc", both, "L FHD", 12, 100, 0.001, "");
    free(first);
    free(both);
    // blanks in place of tabs
    recording("a.trc",
              "PathFileType 4 (X/Y/Z) a.trc\nDataRate NumFrames NumMarkers Units\n100 2 2 mm\n"
              "Frame# Time LFHD C7\nX1 Y1 Z1 X2 Y2 Z2\n"
              "12 0.11  1.5 2.5 3.5 4.5 5.5 6.5\n13 0.12 nan nan nan  8 9 10\n",
              "LFHD", 12, 100, 0.001, "");
}

// --- files that were cut off ---------------------------------------------------------------------

// With fewer rows than stated, a last line without its end may have lost digits.
static void cut_tables(void **unused) {
    (void)unused;
    static const char cut[] = "rows and ends inside the line of number";
#define STO(n) "a\nversion=1\nnRows=" n "\nnColumns=2\nendheader\ntime\tA\n"
    refuse("a.sto", STO("2") "0\t1.5", 7, cut);
    refuse("a.sto", STO("2"), 6, "the header says 2 rows, but none follow");
    sn_document d = read_as("a.sto", STO("2") "0\t1.5\n");
    assert_string_equal(sn_table_about(d.table)->note, "the header says 2 rows, 1 is there");
    sn_document_destroy(&d);
    d = read_as("a.mot", "a\nnRows=1\nnColumns=7\nendheader\ntime\tA\n0\t1.5\n");
    assert_string_equal(sn_table_about(d.table)->note, "the header says 7 columns, 2 are named");
    sn_document_destroy(&d);
    d = read_as("a.sto", STO("1") "0\t1.5");
    assert_string_equal(sn_table_about(d.table)->note, "");
    sn_document_destroy(&d);
    refuse("a.tsv", QTM "1.5\t2.5\t3.5\t4.5\t5.5\t6.5", 11, cut);
    // a TRC may lack its last newline only: the number there counts as missing, and that is said
    d = read_as("a.trc", TRC("100\t100\t3\t1\tmm\t100\t1\t3", "Frame#\tTime\tA\n1\t0\t1\t2\t3"));
    assert_non_null(
        strstr(sn_recording_about(d.recording)->note, "the last number may be cut off"));
    assert_false(sn_recording_present(d.recording, 0, 0));
    sn_document_destroy(&d);
    refuse("a.bvh", "HIERARCHY\nROOT a", 2, "the file ends where ROOT needs a {");
    refuse("a.asf", ":version 1.10\n:units\n mass 1\n", 3, "the file has no bones");
}

// --- files that are something else ---------------------------------------------------------------

static void strangers(void **unused) {
    (void)unused;
    static const char *const names[] = {"a.bvh", "a.trc", "a.csv", "a.c3d", "a.json", "a", "a.asf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        refuse(names[i], "", 0, "the file is empty");
        refuse(names[i], "\xff\xfeH", 0, "save it as UTF-8");
        refuse(names[i], "PK\x03\x04...", 0, "unpack it");
        refuse(names[i], "version https://git-lfs.github.com/spec/v1\n", 0, "git lfs pull");
        refuse(names[i], "<!DOCTYPE html><p>404", 0, "this is a web page");
    }
    sn_document d;
    sn_error error = {0};
    assert_int_equal(sn_document_read("a.bvh", "HIER\0\0\0", 7, NULL, NULL, &d, &error),
                     SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "this is no text"));
    // by what is in it, whatever its name
    recording("a.bvh", TRC_USUAL, "L FHD", 12, 100, 0.001, "");
    recording("a.trc", VICON, "Ann:LFHD", 12, 100, 0.001, "");
    recording("a.dat", DEVICES "\n" VICON, "Ann:LFHD", 12, 100, 0.001,
              "other sections left out: devices");
    recording("a.txt",
              "Frame;LFHD X;LFHD Y;LFHD Z;C7 X;C7 Y;C7 Z\n12;1.5;2.5;3.5;4.5;5.5;6.5\n"
              "13;;;;8;9;10\n",
              "LFHD", 12, 0, 0, "");
    refuse("a.txt", "Dear all,\nhere are the files.\n", 0, "neither its name (a.txt)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bvh_varieties),     cmocka_unit_test(bvh_words),
        cmocka_unit_test(acclaim_varieties), cmocka_unit_test(vicon),
        cmocka_unit_test(two_rows),          cmocka_unit_test(qtm),
        cmocka_unit_test(trc_varieties),     cmocka_unit_test(cut_tables),
        cmocka_unit_test(strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
