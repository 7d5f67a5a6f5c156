// SPDX-License-Identifier: MIT
// BVH: against forward kinematics of its own (plain_bvh.c) over every file of the data folder and
// over random figures, what is guessed, and broken files.
#include "plain_bvh.h"
#include "reader.h"

static const char tiny[] =
    "HIERARCHY\n"
    "ROOT hips\n"
    "{\n"
    "  OFFSET 1 2 3\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    "  JOINT chest\n"
    "  {\n"
    "    OFFSET 0 20 0\n"
    "    CHANNELS 3 Zrotation Xrotation Zrotation\n"
    "    JOINT my:left arm {\n"
    "      OFFSET 20 0 0\n"
    "      CHANNELS 1 Xrotation\n"
    "      End Site\n"
    "      {\n"
    "        OFFSET 30 0 0\n"
    "      }\n"
    "    }\n"
    "    JOINT arm\n"
    "    {\n"
    "      OFFSET -20 0 0\n"
    "      CHANNELS 2 Yrotation Xrotation\n"
    "    }\n"
    "  }\n"
    "}\n"
    "MOTION\n"
    "Frames: 2\n"
    "Frame Time: 0.25\n"
    "1 2 3 10 20 30 40 50 60 70 80 90\n"
    "1 2.5 3 11 21 31 41 51 61 71 81 91\n";

typedef struct clip {
    sn_skeleton *skeleton;
    sn_motion *motion;
    const sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
} clip;

static void open_clip(clip *c) {
    c->model = sn_skeleton_model(c->skeleton);
    assert_int_equal(sn_problem_create(c->model, NULL, 0, NULL, &c->problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(c->problem, false, NULL, &c->ws, NULL), SN_OK);
}

static clip read_clip(const char *text, size_t length, const sn_bvh_options *options) {
    clip c;
    sn_error error = {0};
    if (sn_bvh_read(text, length, options, NULL, &c.skeleton, &c.motion, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    open_clip(&c);
    return c;
}

static void close_clip(clip *c) {
    sn_workspace_destroy(c->ws);
    sn_problem_destroy(c->problem);
    sn_skeleton_destroy(c->skeleton);
    sn_motion_destroy(c->motion);
}

// The k-th end that the library gives joint `joint`.
static sn_vec3 end_of(const clip *c, int joint, int k) {
    double local[3];
    for (int i = 0; i < sn_skeleton_nend(c->skeleton); i++)
        if (sn_skeleton_end(c->skeleton, i, local) == joint && k-- == 0)
            return sn_workspace_point(c->ws, joint, local);
    fail_msg("joint %d has no such end", joint);
    return (sn_vec3){0, 0, 0};
}

// Every step-th frame of the clip against the plain reader: the worst distance of joints and ends
// in metres, and of the entries of rotations.
static double compare(const clip *c, const plain_bvh *plain, int step) {
    static double world[PLAIN_MAX][16];
    double row[PLAIN_ROW], metres = sn_skeleton_metres_per_unit(c->skeleton), worst = 0;
    const char *at = plain->rows;
    int shift = sn_model_njoint(c->model) - plain->njoint;  // 1: several roots
    assert_true(shift == 0 || shift == 1);
    for (int f = 0; f < plain->nframe; f++) {
        plain_row(plain, &at, row);
        if (f % step != 0) continue;
        plain_place(plain, row, world);
        assert_int_equal(sn_workspace_pose(c->ws, sn_motion_frame(c->motion, f)), SN_OK);
        int joint_of[PLAIN_MAX] = {0}, nend[PLAIN_MAX] = {0}, joint = shift;
        for (int i = 0; i < plain->nnode; i++) {
            sn_vec3 p;
            if (plain->node[i].site) {
                int on = joint_of[plain->node[i].parent];
                p = end_of(c, on, nend[on]++);
            } else {
                sn_frame frame = sn_workspace_frame(c->ws, joint);
                joint_of[i] = joint++;
                p = frame.p;
                for (int k = 0; k < 3; k++) {
                    worst = fmax(worst, fabs(frame.R.c[k].x - world[i][k]));
                    worst = fmax(worst, fabs(frame.R.c[k].y - world[i][4 + k]));
                    worst = fmax(worst, fabs(frame.R.c[k].z - world[i][8 + k]));
                }
            }
            worst = fmax(worst, fabs(p.x - metres * world[i][3]));
            worst = fmax(worst, fabs(p.y - metres * world[i][7]));
            worst = fmax(worst, fabs(p.z - metres * world[i][11]));
        }
    }
    return worst;
}

static const struct {
    const char *name;
    int njoint, nend, nchannel, nframe, nheld;  // held: joints whose positions do not change
    double frame_time, metres;                  // 0: not a person, whatever is guessed
    const char *up;
} files[] = {
    {"bvh/AV_8Walk_Meredith_HVHA_Rep1.bvh", 23, 7, 72, 1064, 0, 0.008333, 0.0254, "+Y"},
    {"bvh/bandai_dash_normal_001.bvh", 22, 5, 132, 20, 20, 0.0333333, 0.01, "+Y"},
    {"bvh/bvh11_131_01_max.bvh", 31, 7, 96, 994, 0, 0.0083333, 0.0254 / 0.45, "+Y"},
    {"bvh/dme_blender_example.bvh", 31, 7, 96, 278, 0, 0.0083333, 0.0254 / 0.45, "+Y"},
    {"bvh/fairmotion_sinusoidal.bvh", 4, 0, 15, 120, 0, 0.016666666666666666, 0, NULL},
    {"bvh/ganimator_elephant_idle1.bvh", 40, 11, 240, 201, 32, 0.033333, 0, NULL},
    {"bvh/ganimator_mixamo_traj-example.bvh", 24, 5, 75, 600, 0, 1, 1, "+Y"},
    {"bvh/lafan1_Geno_stance.bvh", 75, 21, 450, 2, 74, 0.016667, 0.01, "+Y"},
    {"bvh/lafan1_dance1_subject2_excerpt.bvh", 22, 5, 69, 10, 0, 0.033333, 0.01, "+Y"},
    {"bvh/lawrennd_Swagger.bvh", 22, 5, 69, 581, 0, 0.008333, 0.01, "+Y"},
    {"bvh/momentum_simple.bvh", 4, 2, 15, 3, 0, 0.033333, 0, NULL},
    {"bvh/test_freebvh.bvh", 55, 15, 168, 69, 0, 0.0333333, 0.01, "+Y"},
    {"bvh/test_mocapbank.bvh", 19, 5, 60, 455, 0, 0.033333, 0.01, "+Y"},
    {"bvh/xia_neutral_16_000.bvh", 31, 7, 96, 150, 0, 0.008333, 0.0254 / 0.45, "+Y"},
    {"cmu/02_01.bvh", 31, 7, 96, 344, 0, 0.0083333, 0.0254 / 0.45, "+Y"},
    {"cmu/49_06.bvh", 31, 7, 96, 482, 0, 0.0083333, 0.0254 / 0.45, "+Y"},
    {"cmu/85_02.bvh", 31, 7, 96, 811, 0, 0.0083333, 0.0254 / 0.45, "+Y"},
    {"cmu/88_01.bvh", 31, 7, 96, 203, 0, 0.0083333, 0.0254 / 0.45, "+Y"},
};

static void data_files(void **unused) {
    (void)unused;
    static plain_bvh plain;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *path = data_path(files[i].name);
        if (path == NULL) skip();
        size_t length;
        char *text = slurp(path, &length);
        plain_read(text, &plain);
        clip c = read_clip(text, length, NULL);
        const sn_model *m = c.model;
        int held = 0;
        for (int j = 1; j < files[i].njoint; j++)
            held += sn_skeleton_row_count(c.skeleton, j) == 6 &&
                    sn_model_joint(m, j)->type == SN_JOINT_EULER;
        double worst = compare(&c, &plain, files[i].nframe > 100 ? 10 : 1);
        print_message("%-40s %3d joints %2d ends %3d channels %4d frames, %2d held, %.4f m %s, "
                      "worst %.0e\n",
                      files[i].name, sn_model_njoint(m), sn_skeleton_nend(c.skeleton),
                      sn_skeleton_row_size(c.skeleton), sn_motion_nframe(c.motion), held,
                      sn_skeleton_metres_per_unit(c.skeleton), sn_skeleton_up_axis(c.skeleton),
                      worst);
        assert_int_equal(sn_model_njoint(m), files[i].njoint);
        assert_int_equal(sn_skeleton_nend(c.skeleton), files[i].nend);
        assert_int_equal(sn_skeleton_row_size(c.skeleton), files[i].nchannel);
        assert_int_equal(sn_motion_nframe(c.motion), files[i].nframe);
        assert_int_equal(held, files[i].nheld);
        assert_near(sn_motion_rate(c.motion) * files[i].frame_time, 1, 1e-14);
        assert_true(sn_skeleton_metres_guessed(c.skeleton));
        if (files[i].metres > 0)
            assert_near(sn_skeleton_metres_per_unit(c.skeleton), files[i].metres, 1e-15);
        if (files[i].up != NULL) assert_string_equal(sn_skeleton_up_axis(c.skeleton), files[i].up);
        // held positions may be off by a millionth of the figure; all else is exact
        assert_true(worst < (held > 0 ? 1e-5 : 1e-12));
        close_clip(&c);
        // every position a degree of freedom: exact everywhere
        sn_bvh_options options = sn_bvh_options_default();
        options.positions = SN_BVH_POSITIONS_MOVE;
        options.metres_per_unit = 0.01;
        c = read_clip(text, length, &options);
        assert_false(sn_skeleton_metres_guessed(c.skeleton));
        worst = compare(&c, &plain, files[i].nframe > 100 ? 10 : 1);
        assert_true(worst < 1e-12);
        close_clip(&c);
        free(text);
    }
}

// A random file: any sets and orders of channels, several roots, ends anywhere, names that repeat.
typedef struct drawing {
    char text[32768];
    size_t used;
    int njoint, nchannel;
    bool held;  // positions below the roots stay
    const char *newline;
} drawing;

static void put(drawing *d, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(d->text + d->used, sizeof d->text - d->used, format, args);
    va_end(args);
    assert_true(n >= 0 && d->used + (size_t)n < sizeof d->text);
    d->used += (size_t)n;
}

static void put_channels(uint64_t *state, drawing *d, bool root, bool *is_position, int *first) {
    static const char *const names[] = {"Xposition", "YPOSITION", "zposition",
                                        "Xrotation", "yrotation", "ZROTATION"};
    int list[6], n = 0, turns = below(state, 4), last = -1;
    for (int c = 0; c < 3; c++)
        if (below(state, root ? 3 : 6) == 0) list[n++] = c;
    if (root && below(state, 2) == 0) {
        n = 3;
        for (int c = 0; c < 3; c++) list[c] = c;
    }
    for (int k = 0; k < turns; k++) {
        int axis = below(state, 3);
        if (axis == last) axis = (axis + 1) % 3;
        // between the positions, but after the rotations before it
        int at = n;
        while (at > 0 && list[at - 1] < 3 && below(state, 2) == 0) at--;
        for (int j = n; j > at; j--) list[j] = list[j - 1];
        list[at] = 3 + axis;
        last = axis;
        n++;
    }
    put(d, "Channels %d", n);
    for (int k = 0; k < n; k++) {
        put(d, "\t%s", names[list[k]]);
        is_position[d->nchannel++] = list[k] < 3 && !root;
    }
    *first = n;
    put(d, "%s", d->newline);
}

static void put_end(uint64_t *state, drawing *d) {
    put(d, "End Site%s{%sOFFSET %.3f %.3f %.3f%s}%s", d->newline, d->newline, uniform(state, -5, 5),
        uniform(state, -5, 5), uniform(state, -5, 5), d->newline, d->newline);
}

static int random_text(uint64_t *state, drawing *d) {
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    static const char *const names[] = {"a", "b", "left arm", "x:y", "joint_1", "roots", "a_2"};
    bool is_position[PLAIN_ROW] = {false};
    int depth = 0, nroot = 0, roots = 1 + below(state, 2) * below(state, 3), n;
    memset(d, 0, sizeof *d);
    d->newline = ends[below(state, 3)];
    d->held = below(state, 2) == 0;
    put(d, "hierarchy%s", d->newline);
    while (nroot < roots || depth > 0) {
        bool room = d->njoint < 20;
        if (depth > 0 && (!room || below(state, 2) == 0)) {
            if (below(state, 4) == 0) put_end(state, d);
            put(d, "}%s", d->newline);
            depth--;
            continue;
        }
        if (depth == 0 && nroot == roots) break;
        put(d, "%s %s%s%s", depth == 0 ? "ROOT" : "Joint", names[below(state, 7)],
            below(state, 2) ? d->newline : " ", "{");
        put(d, "%sOFFSET %.4f %.4f %.4f%s", d->newline, uniform(state, -9, 9),
            uniform(state, -9, 9), uniform(state, -9, 9), d->newline);
        put_channels(state, d, depth == 0, is_position, &n);
        if (below(state, 3) == 0) put_end(state, d);
        nroot += depth == 0;
        d->njoint++;
        depth++;
    }
    int nframe = below(state, 4);
    double value[PLAIN_ROW] = {0};
    put(d, "MOTION%sFrames: %d%sFrame Time: 0.0125%s", d->newline, nframe, d->newline, d->newline);
    for (int f = 0; f < nframe && d->nchannel > 0; f++) {
        for (int k = 0; k < d->nchannel; k++) {
            if (f == 0 || !d->held || !is_position[k]) value[k] = uniform(state, -170, 170);
            put(d, "%s%.5f", k > 0 ? " " : "", value[k]);
        }
        put(d, "%s", d->newline);
    }
    return nframe;
}

typedef struct buffer {
    char text[65536];
    size_t length;
} buffer;

static bool keep(void *user, const void *bytes, size_t count) {
    buffer *b = user;
    if (b->length + count >= sizeof b->text) return false;
    memcpy(b->text + b->length, bytes, count);
    b->length += count;
    b->text[b->length] = '\0';
    return true;
}

// Where two texts put their joints and ends, by the plain reader alone. End Sites may stand in
// another order, so joints only.
static double plain_difference(const plain_bvh *a, const plain_bvh *b) {
    static double x[PLAIN_MAX][16], y[PLAIN_MAX][16];
    double row[PLAIN_ROW], other[PLAIN_ROW], worst = 0;
    const char *at = a->rows, *too = b->rows;
    assert_int_equal(a->njoint, b->njoint);
    assert_int_equal(a->nsite, b->nsite);
    assert_int_equal(a->nchannel, b->nchannel);
    if (a->nchannel == 0) return 0;
    assert_int_equal(a->nframe, b->nframe);
    for (int f = 0; f < a->nframe; f++) {
        plain_row(a, &at, row);
        plain_row(b, &too, other);
        plain_place(a, row, x);
        plain_place(b, other, y);
        for (int i = 0, j = 0; i < a->nnode; i++) {
            if (a->node[i].site) continue;
            while (b->node[j].site) j++;
            for (int k = 0; k < 12; k++)
                worst = fmax(worst, fabs(x[i][k] - y[j][k]) / (k % 4 == 3 ? 100 : 1));
            j++;
        }
    }
    return worst;
}

static void random_files(void **unused) {
    (void)unused;
    static plain_bvh plain, again;
    static drawing d;
    static buffer out;
    uint64_t state = 17;
    double worst = 0, rewritten = 0;
    int types[SN_JOINT_TYPE_COUNT] = {0}, several = 0;
    for (int i = 0; i < cases(2000); i++) {
        int nframe = random_text(&state, &d);
        plain_read(d.text, &plain);
        assert_int_equal(plain.njoint, d.njoint);
        for (int move = 0; move < 2; move++) {
            sn_bvh_options options = sn_bvh_options_default();
            options.positions = move ? SN_BVH_POSITIONS_MOVE : SN_BVH_POSITIONS_AUTO;
            options.metres_per_unit = 0.01;
            clip c = read_clip(d.text, d.used, &options);
            assert_int_equal(sn_motion_nframe(c.motion), plain.nchannel > 0 ? nframe : 0);
            several += sn_model_njoint(c.model) > plain.njoint;
            for (int j = 0; j < sn_model_njoint(c.model); j++)
                types[sn_model_joint(c.model, j)->type]++;
            if (plain.nchannel > 0) worst = fmax(worst, compare(&c, &plain, 1));
            sn_sink sink = {keep, &out};
            out.length = 0;
            assert_int_equal(sn_bvh_write(c.skeleton, c.motion, &sink, NULL, NULL), SN_OK);
            plain_read(out.text, &again);
            rewritten = fmax(rewritten, plain_difference(&plain, &again));
            close_clip(&c);
        }
    }
    print_message("random files: worst %.0e, written again %.0e; joints by type:", worst,
                  rewritten);
    for (int t = 0; t < SN_JOINT_TYPE_COUNT; t++)
        if (types[t] > 0) print_message(" %s %d", sn_joint_type_name((sn_joint_type)t), types[t]);
    print_message("; %d with several roots\n", several);
    assert_true(worst < 1e-12 && rewritten < 1e-8 && several > 0);
    assert_true(types[SN_JOINT_PLANAR] > 0 && types[SN_JOINT_SLIDER] > 0 &&
                types[SN_JOINT_TRANSLATION] > 0 && types[SN_JOINT_UNIVERSAL] > 0);
}

static void model_of_tiny(void **unused) {
    (void)unused;
    clip c = read_clip(tiny, strlen(tiny), NULL);
    static const char *const names[] = {"hips", "chest", "my:left arm", "arm"};
    static const sn_joint_type types[] = {SN_JOINT_FREE, SN_JOINT_EULER, SN_JOINT_HINGE,
                                          SN_JOINT_UNIVERSAL};
    assert_int_equal(sn_model_njoint(c.model), 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(sn_model_joint(c.model, i)->name, names[i]);
        assert_int_equal(sn_model_joint(c.model, i)->type, types[i]);
    }
    assert_string_equal(sn_model_joint(c.model, 1)->order, "ZXZ");
    assert_int_equal(sn_skeleton_kind(c.skeleton), SN_SKELETON_BVH);
    assert_int_equal(sn_skeleton_row_size(c.skeleton), 12);
    assert_string_equal(sn_skeleton_row_name(c.skeleton, 1, 1), "Xrotation");
    assert_true(sn_motion_rate(c.motion) == 4 && sn_motion_first_frame(c.motion) == 1);
    double metres = sn_skeleton_metres_per_unit(c.skeleton), at[3];
    assert_near(sn_motion_frame(c.motion, 1)[1], 2.5 * metres, 1e-15);
    sn_skeleton_tip(c.skeleton, 0, at);
    assert_near(at[1], 20 * metres, 1e-15);
    sn_skeleton_tip(c.skeleton, 2, at);
    assert_near(at[0], 30 * metres, 1e-15);
    assert_int_equal(sn_skeleton_nend(c.skeleton), 1);
    assert_int_equal(sn_skeleton_end(c.skeleton, 0, at), 2);
    assert_int_equal(sn_skeleton_end(c.skeleton, 1, at), -1);
    assert_int_equal(sn_skeleton_end(c.skeleton, -1, at), -1);
    close_clip(&c);
}

// Joints that move apart, two roots, repeated and missing names, no motion.
static void odd_files(void **unused) {
    (void)unused;
    const char *text =
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n"
        "JOINT\n{\nOFFSET 0 1 0\nJOINT a\n{\nOFFSET 0 1 0\nCHANNELS 0\nEnd Site tip {"
        " OFFSET 0 1 0 } }\n}\n}\nROOT roots { OFFSET 0 0 0 }\n";
    static const char *const names[] = {"roots_2", "a", "joint_1", "a_2", "roots"};
    clip c = read_clip(text, strlen(text), NULL);
    assert_int_equal(sn_model_njoint(c.model), 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(sn_model_joint(c.model, i)->name, names[i]);
    }
    assert_int_equal(sn_model_parent(c.model, 4), 0);
    assert_int_equal(sn_model_joint(c.model, 0)->type, SN_JOINT_FIXED);
    assert_int_equal(sn_motion_nframe(c.motion), 0);
    assert_true(sn_motion_rate(c.motion) == 0);
    sn_sink sink;
    static buffer out;
    sink = (sn_sink){keep, &out};
    out.length = 0;
    assert_int_equal(sn_bvh_write(c.skeleton, NULL, &sink, NULL, NULL), SN_OK);
    assert_non_null(strstr(out.text, "ROOT a\n"));
    assert_non_null(strstr(out.text, "ROOT roots\n"));
    assert_non_null(strstr(out.text, "JOINT joint_1\n"));
    assert_null(strstr(out.text, "a_2"));
    assert_non_null(strstr(out.text, "MOTION\nFrames: 0\nFrame Time: 0\n"));
    close_clip(&c);
    // held at the OFFSET while there are no frames
    const char *still = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT b\n{\nOFFSET 0 7 0\n"
                        "CHANNELS 3 Xposition Yposition Zposition\n}\n}\nMOTION\nFrames 0\n";
    c = read_clip(still, strlen(still), NULL);
    assert_int_equal(sn_model_joint(c.model, 1)->type, SN_JOINT_FIXED);
    assert_near(sn_model_joint(c.model, 1)->position[1],
                7 * sn_skeleton_metres_per_unit(c.skeleton), 1e-15);
    close_clip(&c);
}

// A bone whose positions differ by less than a millionth of the figure's size does not move, whatever the unit: the
// rest is rounding.
static void nearly_still(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        const double unit[] = {0.01, 1, 100}, size = 7 * unit[i / 2],
                     moved = (i % 2 ? 2e-6 : 0.5e-6) * size;
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT b\n{\nOFFSET 0 %.17g 0\n"
            "CHANNELS 3 Xposition Yposition Zposition\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.01\n"
            "0 %.17g 0\n0 %.17g 0\n",
            size, size, size + moved);
        clip c = read_clip(text, strlen(text), NULL);
        assert_int_equal(sn_model_joint(c.model, 1)->type,
                         i % 2 ? SN_JOINT_TRANSLATION : SN_JOINT_FIXED);
        close_clip(&c);
    }
}

// A person of 1.75 m in several units, lying on either side of the axes.
static void guesses(void **unused) {
    (void)unused;
    static const double units[] = {0.001, 0.01, 0.0254, 0.0254 / 0.45, 1};
    char text[2048];
    for (int i = 0; i < 10; i++) {
        double u = units[i % 5];
        bool z = i >= 5;
#define UP(y) z ? 0. : (y) / u, z ? (y) / u : 0.
        (void)snprintf(
            text, sizeof text,
            "HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition "
            "Zposition\nJOINT chest\n{\nOFFSET 0 %g %g\nJOINT hand\n{\nOFFSET %g 0 0\n}\n"
            "JOINT head\n{\nOFFSET 0 %g %g\n}\n}\nJOINT foot\n{\nOFFSET 0 %g %g\n}\n}\n"
            "MOTION\nFrames: 1\nFrame Time: 0\n3 %g %g\n",
            UP(0.5), 0.8 / u, UP(0.3), UP(-0.95), UP(z && i == 9 ? -3. : 0.95));
#undef UP
        clip c = read_clip(text, strlen(text), NULL);
        assert_near(sn_skeleton_metres_per_unit(c.skeleton), u, 1e-15);
        assert_true(sn_skeleton_metres_guessed(c.skeleton));
        assert_string_equal(sn_skeleton_up_axis(c.skeleton), i == 9 ? "-Z" : z ? "+Z" : "+Y");
        assert_true(sn_motion_rate(c.motion) == 0);
        close_clip(&c);
    }
}

static sn_status bvh(const char *bytes, size_t length, const sn_allocator *allocator,
                     sn_error *error) {
    sn_skeleton *s = (sn_skeleton *)(uintptr_t)tiny;
    sn_motion *m = (sn_motion *)(uintptr_t)tiny;
    sn_status status = sn_bvh_read(bytes, length, NULL, allocator, &s, &m, error);
    if (status != SN_OK) assert_true(s == NULL && m == NULL);
    sn_motion_destroy(m);
    sn_skeleton_destroy(s);
    return status;
}

static void broken_files(void **unused) {
    (void)unused;
    static const edit list[] = {
        {"HIERARCHY", "HIERARCH", 1, "is this a BVH file?"},
        {"ROOT hips\n{", "ROOT hips\n", 4, "ROOT needs a { here, not \"OFFSET\""},
        {"JOINT chest\n  {", "JOINT chest\n", 8, "JOINT needs a { here, not \"OFFSET\""},
        {"JOINT chest", "ROOT chest", 6, "a ROOT inside \"hips\""},
        {"JOINT chest", "BONE chest", 6, "\"BONE\" where a joint"},
        {"OFFSET 1 2 3", "OFFSET 1 2", 5, "OFFSET of \"hips\" needs 3 numbers: \"CHANNELS\""},
        {"OFFSET 1 2 3", "OFFSET 1 2 x", 4, "\"x\" is not a number"},
        {"OFFSET 1 2 3", "OFFSET 1 2 1e60", 4, "\"1e60\" is beyond 1e50"},
        {"OFFSET 1 2 3", "OFFSET 1 2 3,5", 4, "\"3,5\" has a decimal comma"},
        {"1 2 3 10 20", "1 2 3 10 1e300", 28, "Xrotation of \"hips\": \"1e300\" is beyond 1e50"},
        {"OFFSET 1 2 3", "OFFSET 1 2 nan", 4, "\"nan\" is not a number"},
        {"OFFSET 1 2 3", "OFFSET 1 2 3 OFFSET 1 2 3", 4, "a second OFFSET in \"hips\""},
        {"    OFFSET 0 20 0\n", "", 22, "\"chest\" has no OFFSET"},
        {"CHANNELS 3 Z", "CHANNELS 7 Z", 9, "needs a number from 0 to 6, not \"7\""},
        {"CHANNELS 3 Z", "CHANNELS -1 Z", 9, "needs a number from 0 to 6, not \"-1\""},
        {"CHANNELS 3 Z", "CHANNELS Z", 9, "not \"Zrotation\""},
        {"CHANNELS 3 Z", "CHANNELS 4 Z", 10, "needs 4 channels such as"},
        {"CHANNELS 3 Z", "CHANNELS 2 Z", 9, "\"Zrotation\" where a joint"},
        {"3 Zrotation Xrotation", "3 Wrotation Xrotation", 9, "\"Wrotation\" is none"},
        {"3 Zrotation Xrotation", "3 Xrotation Xrotation", 9, "has Xrotation twice in a row"},
        {"6 Xposition Yposition", "6 Xposition Xposition", 5, "\"hips\" has Xposition twice"},
        {"Xposition Yposition", "Xrotation Yrotation", 5, "has 5 rotations: at most 3"},
        {"CHANNELS 1 Xr", "CHANNELS 1 Xrotation CHANNELS 1 Xr", 12, "CHANNELS twice"},
        {"End Site\n      {", "End Site\n", 15, "End Site needs a {"},
        {"OFFSET 30 0 0", "", 16, "the End Site of \"my:left arm\" has no OFFSET"},
        {"OFFSET 30 0 0", "OFFSET 30 0 0 OFFSET 1 1 1", 15, "a second OFFSET"},
        {"OFFSET 30 0 0", "CHANNELS 0", 15, "it cannot move"},
        {"OFFSET 30 0 0", "JOINT x", 15, "\"JOINT\" in an End Site"},
        {"}\nMOTION", "}\n}\nMOTION", 25, "a } too many"},
        {"}\nMOTION", "MOTION", 24, "\"MOTION\" where a joint"},
        {"}\nMOTION", "}\nJOINT x\n{\nMOTION", 25, "a JOINT outside every ROOT"},
        {"}\nMOTION", "}\nOFFSET 1 2 3\nMOTION", 25, "outside every joint"},
        {"}\nMOTION", "}\nEnd Site {\nMOTION", 25, "an End Site outside every joint"},
        {"MOTION\n", "MOTION now\n", 25, "\"now\" after MOTION"},
        {"Frames: 2\n", "", 27, "must begin with \"Frames:\""},
        {"Frames: 2", "Frames: two", 26, "not \"two\""},
        {"Frames: 2", "Frames: -2", 26, "not \"-2\""},
        {"Frames: 2", "Frames: 2 3", 26, "one word too many"},
        {"Frames: 2", "Frames: 2\nFrames: 2", 27, "stated twice"},
        {"Frames: 2", "Frames: 99999999999", 26, "not \"99999999999\""},
        {"1 2.5 3 11", "", 29, "frame 2 has 8 numbers"},
        {"Frame Time: 0.25", "Frame Time: -1", 27, "not \"-1\""},
        {"Frame Time: 0.25", "Frame Time: fast", 27, "not \"fast\""},
        {"Frame Time: 0.25", "Frame Rate: 4", 27, "followed by \"Time:\""},
        {"Frame Time: 0.25", "Frame Time: 1\nFrame Time: 1", 28, "stated twice"},
        {"70 80 90\n", "70 80\n", 28, "frame 1 has 11 numbers, but there are 12 channels"},
        {"70 80 90\n", "70 80 90 1\n", 28, "frame 1 has more numbers than the 12"},
        {"71 81 91\n", "71 81 9l\n", 29, "frame 2, Xrotation of \"arm\": \"9l\" is not a number"},
        {"71 81 91\n", "71 81 inf\n", 29, "Xrotation of \"arm\": \"inf\" is not a number"},
    };
    check_edits(bvh, tiny, list, sizeof list / sizeof list[0]);
    sn_skeleton *s;
    sn_motion *m;
    sn_error error = {0};
    assert_int_equal(sn_bvh_read(NULL, 0, NULL, NULL, &s, &m, &error), SN_ERR_PARSE);
    assert_int_equal(sn_bvh_read("HIERARCHY", 9, NULL, NULL, &s, &m, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "no ROOT"));
    char name[400] = "HIERARCHY ROOT ";
    memset(name + 15, 'n', 300);
    assert_int_equal(sn_bvh_read(name, 315, NULL, NULL, &s, &m, &error), SN_ERR_PARSE);
    assert_non_null(strstr(error.text, "longer than 255"));
    // options
    sn_bvh_options options = sn_bvh_options_default();
    options.metres_per_unit = -1;
    assert_int_equal(sn_bvh_read(tiny, strlen(tiny), &options, NULL, &s, &m, &error),
                     SN_ERR_ARGUMENT);
    options = (sn_bvh_options){0};
    assert_int_equal(sn_bvh_read(tiny, strlen(tiny), &options, NULL, &s, &m, &error),
                     SN_ERR_ARGUMENT);
}

// Cut anywhere: an error, or a file that is whole without its motion or the end of its last number.
static void truncation(void **unused) {
    (void)unused;
    size_t whole = strlen(tiny), motion = (size_t)(strstr(tiny, "MOTION") - tiny);
    size_t braces = motion - 1;
    for (size_t n = 0; n < whole; n++) {
        char *copy = malloc(n + 1);  // exactly n bytes, for the sanitizer
        assert_non_null(copy);
        memcpy(copy, tiny, n);
        sn_skeleton *s;
        sn_motion *m;
        sn_status status = sn_bvh_read(copy, n, NULL, NULL, &s, &m, NULL);
        // after a whole row: a shorter file, as the note says
        size_t first = (size_t)(strstr(tiny, "90\n") + 3 - tiny);
        bool fine = n == braces || n == motion || n == first || n >= whole - 2;
        if ((status == SN_OK) != fine) fail_msg("cut at %zu: status %d", n, status);
        sn_skeleton_destroy(s);
        sn_motion_destroy(m);
        free(copy);
    }
}

// Read and written.
static sn_status there_and_back(const char *bytes, size_t length, const sn_allocator *allocator,
                                sn_error *error) {
    sn_skeleton *s;
    sn_motion *m;
    static buffer out;
    sn_sink sink = {keep, &out};
    out.length = 0;
    sn_status status = sn_bvh_read(bytes, length, NULL, allocator, &s, &m, error);
    if (status != SN_OK) assert_true(s == NULL && m == NULL);
    if (status == SN_OK) status = sn_bvh_write(s, m, &sink, allocator, error);
    sn_motion_destroy(m);
    sn_skeleton_destroy(s);
    return status;
}

static void failing_memory(void **unused) {
    (void)unused;
    char *two = replaced(tiny, "MOTION\nFrames: 2", "ROOT x { OFFSET 0 0 0 }\nMOTION\nFrames: 2");
    assert_true(check_memory(there_and_back, two, strlen(two)) > 7);
    free(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_files),     cmocka_unit_test(random_files),
        cmocka_unit_test(model_of_tiny),  cmocka_unit_test(odd_files),
        cmocka_unit_test(guesses),        cmocka_unit_test(nearly_still),
        cmocka_unit_test(broken_files),   cmocka_unit_test(truncation),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
