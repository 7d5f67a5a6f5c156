// SPDX-License-Identifier: MIT
// BVH: against forward kinematics of its own (plain_bvh.c) over every file of the data folder and
// over random figures, what is guessed, and broken files.
#include "plain_bvh.h"

__attribute__((unused)) static const char tiny[] =
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
    assert_int_equal(sn_workspace_create(c->problem, false, NULL, &c->ws), SN_OK);
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

// Frames `from`, `from + step`, ... of the clip against the plain reader: the worst distance of
// joints and ends, and of rotations, over the figure's size.
static double compare(const clip *c, const plain_bvh *plain, int step) {
    static double world[PLAIN_MAX][16];
    double row[PLAIN_ROW], metres = sn_skeleton_metres_per_unit(c->skeleton), worst = 0, size = 0;
    const char *at = plain->rows;
    int shift = sn_model_njoint(c->model) - plain->njoint;  // 1: several roots
    assert_true(shift == 0 || shift == 1);
    for (int f = 0; f < plain->nframe; f++) {
        plain_row(plain, &at, row);
        if (f % step != 0) continue;
        plain_place(plain, row, world);
        assert_int_equal(sn_workspace_pose(c->ws, sn_motion_frame(c->motion, f)), SN_OK);
        for (int i = 0, joint = shift, end = 0; i < plain->nnode; i++) {
            sn_vec3 p;
            if (plain->node[i].site) {
                double local[3];
                int on = sn_skeleton_end(c->skeleton, end++, local);
                p = sn_workspace_point(c->ws, on, local);
            } else {
                sn_frame frame = sn_workspace_frame(c->ws, joint++);
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
            size = fmax(size, fabs(p.y - metres * world[0][7]));
        }
    }
    (void)size;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
