// SPDX-License-Identifier: MIT
// Writing skeletons and motions: what was read comes back; other models and the other format keep
// their world positions and rotations.
#include "files/export.h"
#include "memory_sink.h"

// A model with a workspace, and the frames at its zero pose.
typedef struct posed {
    const sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    sn_frame *zero;
} posed;

static posed pose_begin(const sn_model *model) {
    posed p = {.model = model};
    double *q = malloc(((size_t)sn_model_nq(model) + 1) * sizeof *q);
    p.zero = malloc((size_t)sn_model_njoint(model) * sizeof *p.zero);
    assert_true(q != NULL && p.zero != NULL);
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &p.problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(p.problem, false, NULL, &p.ws, NULL), SN_OK);
    sn_model_zero(model, q);
    assert_int_equal(sn_workspace_pose(p.ws, q), SN_OK);
    for (int i = 0; i < sn_model_njoint(model); i++) p.zero[i] = sn_workspace_frame(p.ws, i);
    free(q);
    return p;
}

static void pose_end(posed *p) {
    sn_workspace_destroy(p->ws);
    sn_problem_destroy(p->problem);
    free(p->zero);
}

static double dot(sn_vec3 a, sn_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static sn_vec3 turned(const sn_mat3 *G, sn_vec3 v) {
    return (sn_vec3){G->c[0].x * v.x + G->c[1].x * v.y + G->c[2].x * v.z,
                     G->c[0].y * v.x + G->c[1].y * v.y + G->c[2].y * v.z,
                     G->c[0].z * v.x + G->c[1].z * v.y + G->c[2].z * v.z};
}

// R zero^T v
static sn_vec3 carried(const sn_mat3 *R, const sn_mat3 *zero, sn_vec3 v) {
    return turned(R, (sn_vec3){dot(zero->c[0], v), dot(zero->c[1], v), dot(zero->c[2], v)});
}

static double apart(sn_vec3 a, sn_vec3 b) {
    sn_vec3 d = {a.x - b.x, a.y - b.y, a.z - b.z};
    return sqrt(dot(d, d));
}

// How far the target at pose r is from the source at pose q turned by G: positions, and where a
// vector that rides on the joint since the zero pose has gone.
static double difference(posed *from, const double *q, posed *to, const double *r,
                         const sn_export *e, const sn_mat3 *G) {
    double worst = 0;
    assert_int_equal(sn_workspace_pose(from->ws, q), SN_OK);
    assert_int_equal(sn_workspace_pose(to->ws, r), SN_OK);
    for (int i = 0; i < sn_model_njoint(from->model); i++) {
        int t = sn_export_joint(e, i);
        if (t < 0) continue;  // one with the next
        sn_frame a = sn_workspace_frame(from->ws, i), b = sn_workspace_frame(to->ws, t);
        const sn_vec3 v = {0.3, -0.5, 0.7};
        sn_vec3 ours = turned(G, carried(&a.R, &from->zero[i].R, v));
        worst = fmax(worst, apart(turned(G, a.p), b.p));
        worst = fmax(worst, apart(ours, carried(&b.R, &to->zero[t].R, turned(G, v))));
    }
    return worst;
}

typedef struct pair {
    sn_skeleton *skeleton;
    sn_motion *motion;
} pair;

static void pair_end(pair *p) {
    sn_skeleton_destroy(p->skeleton);
    sn_motion_destroy(p->motion);
}

// Write in the skeleton's own format and read again.
static pair rewritten(const sn_skeleton *s, const sn_motion *m) {
    memory_sink text, more;
    pair p = {NULL, NULL};
    sn_error error = {0};
    memory_sink_begin(&text);
    memory_sink_begin(&more);
    if (sn_skeleton_kind(s) == SN_SKELETON_BVH) {
        sn_bvh_options options = sn_bvh_options_default();
        options.metres_per_unit = sn_skeleton_metres_per_unit(s);
        options.positions = SN_BVH_POSITIONS_MOVE;
        assert_int_equal(sn_bvh_write(s, m, &text.base, NULL, &error), SN_OK);
        if (sn_bvh_read(text.bytes, text.length, &options, NULL, &p.skeleton, &p.motion, &error))
            fail_msg("line %d: %s\n%s", error.line, error.text, text.bytes);
    } else {
        sn_asf_options options = sn_asf_options_default();
        options.use_limits = true;
        assert_int_equal(sn_asf_write(s, &text.base, &error), SN_OK);
        assert_int_equal(sn_amc_write(s, m, &more.base, NULL, &error), SN_OK);
        if (sn_asf_read(text.bytes, text.length, &options, NULL, &p.skeleton, &error) ||
            sn_amc_read(more.bytes, more.length, p.skeleton, NULL, &p.motion, &error))
            fail_msg("line %d: %s\n%s", error.line, error.text, text.bytes);
    }
    free(text.bytes);
    free(more.bytes);
    return p;
}

// The worst over all frames of a motion carried to `format`, written and read again.
static double exported(const sn_model *model, const sn_skeleton *source, const sn_motion *motion,
                       sn_skeleton_format format, const double *rotation, double metres, int step,
                       pair *out) {
    sn_export_options options = sn_export_options_default();
    sn_export *e;
    sn_motion *carried_over;
    sn_error error = {0};
    options.source = source;
    options.metres_per_unit = metres;
    if (rotation != NULL) memcpy(options.rotation, rotation, sizeof options.rotation);
    if (sn_export_create(model, format, &options, NULL, &e, &error) != SN_OK)
        fail_msg("%s", error.text);
    if (sn_export_motion(e, motion, NULL, &carried_over, &error) != SN_OK)
        fail_msg("%s", error.text);
    const sn_skeleton *s = sn_export_skeleton(e);
    pair read = rewritten(s, carried_over);
    assert_int_equal(sn_model_njoint(sn_skeleton_model(read.skeleton)),
                     sn_model_njoint(sn_skeleton_model(s)));
    assert_int_equal(sn_motion_nframe(read.motion), sn_motion_nframe(motion));
    posed from = pose_begin(model), direct = pose_begin(sn_skeleton_model(s));
    posed to = pose_begin(sn_skeleton_model(read.skeleton));
    const double *r = options.rotation;
    sn_mat3 G = sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]});
    double worst = 0, unwritten = 0;
    for (int i = 0; i < sn_motion_nframe(motion); i += step) {
        const double *q = sn_motion_frame(motion, i);
        unwritten =
            fmax(unwritten, difference(&from, q, &direct, sn_motion_frame(carried_over, i), e, &G));
        worst = fmax(worst, difference(&from, q, &to, sn_motion_frame(read.motion, i), e, &G));
    }
    assert_true(unwritten < 1e-11);
    pose_end(&from);
    pose_end(&direct);
    pose_end(&to);
    sn_motion_destroy(carried_over);
    sn_export_destroy(e);
    if (out != NULL) {
        *out = read;
    } else {
        pair_end(&read);
    }
    return worst;
}

static char *read_data(const char *name, size_t *length) {
    const char *path = data_path(name);
    if (path == NULL) skip();
    return slurp(path, length);
}

static pair read_acclaim(const char *asf, const char *amc) {
    size_t length;
    pair p;
    char *text = read_data(asf, &length);
    sn_asf_options options = sn_asf_options_default();
    options.use_limits = true;
    assert_int_equal(sn_asf_read(text, length, &options, NULL, &p.skeleton, NULL), SN_OK);
    free(text);
    text = read_data(amc, &length);
    assert_int_equal(sn_amc_read(text, length, p.skeleton, NULL, &p.motion, NULL), SN_OK);
    free(text);
    return p;
}

static pair read_bvh(const char *name, const sn_bvh_options *options) {
    size_t length;
    pair p;
    sn_error error = {0};
    char *text = read_data(name, &length);
    if (sn_bvh_read(text, length, options, NULL, &p.skeleton, &p.motion, &error) != SN_OK)
        fail_msg("%s, line %d: %s", name, error.line, error.text);
    free(text);
    return p;
}

static const char *const bvh_files[] = {
    "bvh/AV_8Walk_Meredith_HVHA_Rep1.bvh",
    "bvh/bandai_dash_normal_001.bvh",
    "bvh/bvh11_131_01_max.bvh",
    "bvh/dme_blender_example.bvh",
    "bvh/fairmotion_sinusoidal.bvh",
    "bvh/ganimator_elephant_idle1.bvh",
    "bvh/ganimator_mixamo_traj-example.bvh",
    "bvh/lafan1_Geno_stance.bvh",
    "bvh/lafan1_dance1_subject2_excerpt.bvh",
    "bvh/lawrennd_Swagger.bvh",
    "bvh/momentum_simple.bvh",
    "bvh/test_freebvh.bvh",
    "bvh/test_mocapbank.bvh",
    "bvh/xia_neutral_16_000.bvh",
    "cmu/02_01.bvh",
    "cmu/49_06.bvh",
    "cmu/85_02.bvh",
    "cmu/88_01.bvh",
};

static const char *const acclaim_files[][2] = {
    {"hdm05/HDM_bk.asf", "hdm05/cuts/HDM_bk_kickLFront1Reps_009_120.amc"},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc"},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.amc"},
    {"hdm05/HDM_mm.asf", "hdm05/cuts/HDM_mm_throwBasketball_010_120.amc"},
    {"cmu/02.asf", "cmu/02_01.amc"},
    {"cmu/49.asf", "cmu/49_18.amc"},
    {"cmu/backflip.asf", "cmu/backflip.amc"},
    {"cmu/charleston.asf", "cmu/charleston1.amc"},
};

// Names, types, offsets: the same to the last bit, as the models' JSON has all of it.
static void same_model(const sn_model *a, const sn_model *b) {
    char *x, *y;
    assert_int_equal(sn_model_text(a, NULL, &x), SN_OK);
    assert_int_equal(sn_model_text(b, NULL, &y), SN_OK);
    assert_string_equal(x, y);
    sn_release(NULL, x);
    sn_release(NULL, y);
}

// Numbers of the rows to 1e-9 of their unit.
static double same_rows(const pair *a, const pair *b) {
    int n = sn_skeleton_row_size(a->skeleton);
    assert_int_equal(sn_skeleton_row_size(b->skeleton), n);
    assert_int_equal(sn_motion_nframe(a->motion), sn_motion_nframe(b->motion));
    assert_int_equal(sn_motion_first_frame(a->motion), sn_motion_first_frame(b->motion));
    assert_true(sn_motion_rate(a->motion) == sn_motion_rate(b->motion));
    for (int j = 0; j < sn_model_njoint(sn_skeleton_model(a->skeleton)); j++)
        for (int k = 0; k < sn_skeleton_row_count(a->skeleton, j); k++)
            assert_string_equal(sn_skeleton_row_name(a->skeleton, j, k),
                                sn_skeleton_row_name(b->skeleton, j, k));
    double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y), worst = 0;
    assert_true(x != NULL && y != NULL);
    sn_angle_unit unit = sn_skeleton_angle_unit(a->skeleton);
    for (int i = 0; i < sn_motion_nframe(a->motion); i++) {
        sn_skeleton_to_row(a->skeleton, unit, sn_motion_frame(a->motion, i), NULL, x);
        // near to x: at gimbal lock many angles are right
        sn_skeleton_to_row(b->skeleton, unit, sn_motion_frame(b->motion, i), x, y);
        for (int k = 0; k < n; k++) worst = fmax(worst, fabs(x[k] - y[k]));
    }
    free(x);
    free(y);
    return worst;
}

static void same_kind(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof bvh_files / sizeof bvh_files[0]; i++) {
        sn_bvh_options options = sn_bvh_options_default();
        options.metres_per_unit = 0.01;
        options.positions = SN_BVH_POSITIONS_MOVE;
        pair a = read_bvh(bvh_files[i], &options), b = rewritten(a.skeleton, a.motion);
        same_model(sn_skeleton_model(a.skeleton), sn_skeleton_model(b.skeleton));
        assert_int_equal(sn_skeleton_nend(a.skeleton), sn_skeleton_nend(b.skeleton));
        for (int k = 0; k < sn_skeleton_nend(a.skeleton); k++) {
            double x[3], y[3];
            assert_int_equal(sn_skeleton_end(a.skeleton, k, x), sn_skeleton_end(b.skeleton, k, y));
            assert_memory_equal(x, y, sizeof x);
        }
        double worst = same_rows(&a, &b);
        print_message("%-40s rows to %.0e\n", bvh_files[i], worst);
        assert_true(worst < 1e-8);
        pair_end(&a);
        pair_end(&b);
    }
    for (size_t i = 0; i < sizeof acclaim_files / sizeof acclaim_files[0]; i++) {
        pair a = read_acclaim(acclaim_files[i][0], acclaim_files[i][1]);
        pair b = rewritten(a.skeleton, a.motion);
        same_model(sn_skeleton_model(a.skeleton), sn_skeleton_model(b.skeleton));
        double worst = same_rows(&a, &b);
        print_message("%-50s rows to %.0e\n", acclaim_files[i][1], worst);
        assert_true(worst < 1e-8);
        pair_end(&b);
        pair_end(&a);
    }
}

// ASF + AMC -> BVH -> ASF + AMC: joints stay where they were.
static void acclaim_to_bvh_and_back(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof acclaim_files / sizeof acclaim_files[0]; i++) {
        pair a = read_acclaim(acclaim_files[i][0], acclaim_files[i][1]), b, c;
        int step = sn_motion_nframe(a.motion) > 1000 ? 10 : 1;
        double there = exported(sn_skeleton_model(a.skeleton), a.skeleton, a.motion,
                                SN_SKELETON_BVH, NULL, 0, step, &b);
        assert_near(sn_skeleton_metres_per_unit(b.skeleton),
                    sn_skeleton_metres_per_unit(a.skeleton), 1e-15);
        double back = exported(sn_skeleton_model(b.skeleton), b.skeleton, b.motion, SN_SKELETON_ASF,
                               NULL, 0, step, &c);
        print_message("%-50s to BVH %.0e m, and back %.0e m, %d bones\n", acclaim_files[i][1],
                      there, back, sn_model_njoint(sn_skeleton_model(c.skeleton)) - 1);
        assert_true(there < 1e-8 && back < 1e-8);
        assert_int_equal(sn_skeleton_nend(b.skeleton), sn_skeleton_nend(a.skeleton));
        pair_end(&a);
        pair_end(&b);
        pair_end(&c);
    }
}

static void bvh_to_acclaim(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof bvh_files / sizeof bvh_files[0]; i++) {
        pair a = read_bvh(bvh_files[i], NULL), b;
        // figures whose joints slide are refused, with the joint's name
        if (strstr(bvh_files[i], "bandai") != NULL || strstr(bvh_files[i], "elephant") != NULL) {
            sn_export *e;
            sn_error error = {0};
            assert_int_equal(sn_export_create(sn_skeleton_model(a.skeleton), SN_SKELETON_ASF, NULL,
                                              NULL, &e, &error),
                             SN_ERR_MODEL);
            assert_null(e);
            assert_non_null(strstr(error.text, "slides"));
            print_message("%-40s refused: %s\n", bvh_files[i], error.text);
            pair_end(&a);
            continue;
        }
        int step = sn_motion_nframe(a.motion) > 100 ? 10 : 1;
        double worst = exported(sn_skeleton_model(a.skeleton), a.skeleton, a.motion,
                                SN_SKELETON_ASF, NULL, 0, step, &b);
        print_message("%-40s %2d joints, %2d bones, worst %.0e m\n", bvh_files[i],
                      sn_model_njoint(sn_skeleton_model(a.skeleton)),
                      sn_model_njoint(sn_skeleton_model(b.skeleton)) - 1, worst);
        assert_true(worst < 1e-8);
        pair_end(&a);
        pair_end(&b);
    }
}

static sn_motion *random_motion(uint64_t *state, const sn_model *model, int nframe) {
    sn_motion *m;
    assert_int_equal(sn_motion_create(nframe, sn_model_nq(model), 5, 60, NULL, &m, NULL), SN_OK);
    for (int i = 0; i < nframe; i++) sn_model_sample(model, state, sn_motion_edit(m, i));
    return m;
}

static bool slides_below_root(const sn_model *model) {
    for (int i = 0; i < sn_model_njoint(model); i++) {
        const sn_joint_desc *d = sn_model_joint(model, i);
        sn_joint_type t = d->type;
        for (int m = 0; t == SN_JOINT_FUNCTION && m < d->functions->nmove; m++)
            if (i != sn_model_root(model) && !d->functions->move[m].turns) return true;
        if (i != sn_model_root(model) &&
            (t == SN_JOINT_SLIDER || t == SN_JOINT_SCREW || t == SN_JOINT_PLANAR ||
             t == SN_JOINT_TRANSLATION || t == SN_JOINT_FREE))
            return true;
    }
    return false;
}

static void random_models(void **unused) {
    (void)unused;
    static const sn_joint_type turning[] = {SN_JOINT_FIXED,      SN_JOINT_HINGE, SN_JOINT_UNIVERSAL,
                                            SN_JOINT_EULER,      SN_JOINT_BALL,  SN_JOINT_EXPMAP,
                                            SN_JOINT_SWING_TWIST};
    uint64_t state = 5;
    double worst[2] = {0, 0};
    int count[2] = {0, 0}, refused = 0;
    for (int i = 0; i < cases(400); i++) {
        int type = i % 3 == 0 ? -1 : (int)turning[below(&state, 7)];
        sn_model *model = random_model(&state, 1 + below(&state, 9), type);
        sn_motion *motion = random_motion(&state, model, 3);
        double rotation[4], metres = below(&state, 2) == 0 ? 0 : uniform(&state, 0.001, 2);
        for (int k = 0; k < 4; k++) rotation[k] = uniform(&state, -1, 1);
        const double *turn = below(&state, 2) == 0 ? NULL : rotation;
        for (int format = 0; format < 2; format++) {
            if (format == SN_SKELETON_ASF && slides_below_root(model)) {
                sn_export *e;
                assert_int_equal(sn_export_create(model, SN_SKELETON_ASF, NULL, NULL, &e, NULL),
                                 SN_ERR_MODEL);
                refused++;
                continue;
            }
            double d =
                exported(model, NULL, motion, (sn_skeleton_format)format, turn, metres, 1, NULL);
            worst[format] = fmax(worst[format], d);
            count[format]++;
        }
        sn_motion_destroy(motion);
        sn_model_destroy(model);
    }
    print_message("%d models to ASF: worst %.0e m; %d to BVH: %.0e m; %d slide\n", count[0],
                  worst[0], count[1], worst[1], refused);
    assert_true(worst[0] < 2e-8 && worst[1] < 2e-8);
    assert_true(count[0] > 0 && refused > 0);
}

// The built-in figure: angles change little from frame to frame when the pose does.
static void humanoid(void **unused) {
    (void)unused;
    sn_model *model;
    uint64_t state = 8;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    int nv = sn_model_nv(model), nq = sn_model_nq(model);
    sn_motion *motion;
    double *delta = calloc((size_t)nv, sizeof *delta);
    assert_non_null(delta);
    assert_int_equal(sn_motion_create(300, nq, 1, 120, NULL, &motion, NULL), SN_OK);
    sn_model_zero(model, sn_motion_edit(motion, 0));
    for (int i = 1; i < 300; i++) {
        for (int k = 0; k < nv; k++) delta[k] = 0.95 * delta[k] + uniform(&state, -0.004, 0.004);
        sn_model_integrate(model, sn_motion_frame(motion, i - 1), delta, sn_motion_edit(motion, i));
    }
    for (int format = 0; format < 2; format++) {
        pair p;
        double worst = exported(model, NULL, motion, (sn_skeleton_format)format, NULL, 0, 1, &p),
               jump = 0;
        int n = sn_skeleton_row_size(p.skeleton);
        double *row = calloc(2 * (size_t)n, sizeof *row), *before = row + n;
        assert_non_null(row);
        for (int i = 0; i < 300; i++) {
            sn_skeleton_to_row(p.skeleton, SN_ANGLE_DEGREES, sn_motion_frame(p.motion, i),
                               i > 0 ? before : NULL, row);
            for (int k = 0; k < n && i > 0; k++) jump = fmax(jump, fabs(row[k] - before[k]));
            memcpy(before, row, (size_t)n * sizeof *row);
        }
        print_message("humanoid to %s: worst %.0e m, %d numbers a row, largest step %.1f degrees\n",
                      format == 0 ? "ASF" : "BVH", worst, n, jump);
        assert_true(worst < 1e-8 && jump < 90);
        free(row);
        pair_end(&p);
    }
    free(delta);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

static sn_vec3 bone_of(const posed *p, int joint) {
    int parent = sn_model_parent(p->model, joint);
    sn_vec3 a = sn_workspace_frame(p->ws, joint).p, b = sn_workspace_frame(p->ws, parent).p;
    return (sn_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

// The same clip of the CMU database as ASF + AMC and as somebody else's BVH, joint by joint in the
// same order; the BVH has a T-pose before the first frame. Whoever made it left out the lengths of
// the thorax and of the wrists: what hangs there has an OFFSET of zero. All other bones agree.
static void clip_in_both_formats(void **unused) {
    (void)unused;
    pair amc = read_acclaim("cmu/02.asf", "cmu/02_01.amc"), bvh = read_bvh("cmu/02_01.bvh", NULL);
    posed a = pose_begin(sn_skeleton_model(amc.skeleton));
    posed b = pose_begin(sn_skeleton_model(bvh.skeleton));
    double worst = 0, root = 0, length = 0;
    int count = 0, left_out = 0, n = sn_model_njoint(a.model);
    assert_int_equal(n, sn_model_njoint(b.model));
    for (int i = 0; i < sn_motion_nframe(amc.motion); i++) {
        assert_int_equal(sn_workspace_pose(a.ws, sn_motion_frame(amc.motion, i)), SN_OK);
        assert_int_equal(sn_workspace_pose(b.ws, sn_motion_frame(bvh.motion, i + 1)), SN_OK);
        root = fmax(root, apart(sn_workspace_frame(a.ws, 0).p, sn_workspace_frame(b.ws, 0).p));
        for (int j = 1; j < n; j++) {
            const sn_vec3 ours = bone_of(&a, j), theirs = bone_of(&b, j);
            if (dot(theirs, theirs) == 0 && dot(ours, ours) > 0) {
                left_out += i == 0;
                length = fmax(length, sqrt(dot(ours, ours)));
                continue;
            }
            worst = fmax(worst, apart(ours, theirs));
            count += i == 0;
        }
    }
    print_message("02_01 as AMC and BVH: roots within %.1e m, %d bones within %.1e m; %d bones of "
                  "up to %.4f m are not in the BVH\n",
                  root, count, worst, left_out, length);
    assert_true(root < 1e-5 && worst < 1e-5);
    assert_int_equal(count, 23);
    assert_int_equal(left_out, 7);
    pose_end(&a);
    pose_end(&b);
    pair_end(&amc);
    pair_end(&bvh);
}

static const char model_text[] =
    "{\"name\": \"odd model\", \"joints\": ["
    "{\"name\": \"base\", \"type\": \"fixed\", \"position\": [1, 2, 3]},"
    "{\"name\": \"root\", \"parent\": \"base\", \"type\": \"hinge\", \"axis\": [1, 1, 1],"
    " \"limits\": [[-1, 2]], \"position\": [0, 0.1, 0]},"
    "{\"name\": \"left (arm), #1\", \"parent\": \"root\", \"type\": \"hinge\", \"axis\": [0, 1, 0],"
    " \"position\": [0, 0.2, 0]},"
    "{\"name\": \"left__arm___1\", \"parent\": \"root\", \"type\": \"universal\","
    " \"axis\": [0, 0, 1], \"axis2\": [1, 0, 0], \"position\": [0.3, 0, 0]},"
    "{\"name\": \"tail\", \"parent\": \"root\", \"type\": \"ball\", \"position\": [0, 0.2, 0]}]}";

static sn_model *odd_model(void) {
    sn_model *model;
    assert_int_equal(sn_model_read_json(model_text, strlen(model_text), NULL, &model, NULL), SN_OK);
    return model;
}

// What an ASF of a model looks like: connectors, axes, limits, names.
static void acclaim_of_model(void **unused) {
    (void)unused;
    sn_model *model = odd_model();
    sn_export *e;
    memory_sink out;
    assert_int_equal(sn_export_create(model, SN_SKELETON_ASF, NULL, NULL, &e, NULL), SN_OK);
    const sn_skeleton *s = sn_export_skeleton(e);
    const sn_model *m = sn_skeleton_model(s);
    memory_sink_begin(&out);
    assert_int_equal(sn_asf_write(s, &out.base, NULL), SN_OK);
    assert_non_null(strstr(out.bytes, ":name odd_model\n"));
    assert_non_null(strstr(out.bytes, "length 0.45\n"));
    // the base is ASF's root, so the joint of that name gets another; it is off the base's place
    assert_int_equal(sn_export_joint(e, 0), 0);
    assert_string_equal(sn_model_joint(m, sn_export_joint(e, 1))->name, "root_2");
    assert_int_equal(sn_model_parent(m, sn_export_joint(e, 1)),
                     sn_model_find_joint(m, "root_to_root"));
    assert_int_equal(sn_model_joint(m, sn_export_joint(e, 1))->type, SN_JOINT_HINGE);
    assert_near(sn_model_joint(m, sn_export_joint(e, 1))->upper[0], 2, 1e-14);
    assert_true(sn_model_joint(m, sn_export_joint(e, 1))->axis[0] == 1);
    // along y: no axis line is needed; children at the first one's place need no connector
    int arm = sn_export_joint(e, 2), other = sn_export_joint(e, 3), tail = sn_export_joint(e, 4);
    assert_string_equal(sn_model_joint(m, arm)->name, "left__arm____1");
    assert_true(sn_model_joint(m, arm)->axis[1] == 1);
    assert_int_equal(sn_model_parent(m, arm), sn_export_joint(e, 1));
    assert_int_equal(sn_model_parent(m, tail), sn_export_joint(e, 1));
    assert_string_equal(sn_model_joint(m, sn_model_parent(m, other))->name,
                        "root_to_left__arm___1");
    assert_int_equal(sn_model_joint(m, other)->type, SN_JOINT_UNIVERSAL);
    assert_int_equal(sn_export_joint(e, 5), -1);
    assert_int_equal(sn_export_joint(e, -1), -1);
    free(out.bytes);
    sn_export_destroy(e);
    sn_export_destroy(NULL);
    sn_model_destroy(model);
}

// An OpenSim body's hinges in one place are one joint called after it, the way from the ground the root.
static void bodies(void **unused) {
    (void)unused;
    static const char text[] =
        "{\"name\": \"bodies\", \"joints\": ["
        "{\"name\": \"ground\", \"type\": \"fixed\"},"
        "{\"name\": \"tx\", \"parent\": \"ground\", \"type\": \"slider\", \"axis\": [1, 0, 0]},"
        "{\"name\": \"ty\", \"parent\": \"tx\", \"type\": \"slider\", \"axis\": [0, 1, 0],"
        " \"position\": [0, 0.9, 0]},"
        "{\"name\": \"tilt\", \"parent\": \"ty\", \"type\": \"hinge\", \"axis\": [0, 0, 1]},"
        "{\"name\": \"list\", \"parent\": \"tilt\", \"type\": \"hinge\", \"axis\": [1, 0, 0]},"
        "{\"name\": \"flexion\", \"parent\": \"list\", \"type\": \"hinge\", \"axis\": [0, 0, 1],"
        " \"position\": [0.1, 0, 0.08]},"
        "{\"name\": \"adduction\", \"parent\": \"flexion\", \"type\": \"hinge\", \"axis\": [1, "
        "0.2, 0]},"
        "{\"name\": \"rotation\", \"parent\": \"adduction\", \"type\": \"hinge\", \"axis\": [0, 1, "
        "0]},"
        "{\"name\": \"knee\", \"parent\": \"rotation\", \"type\": \"hinge\", \"axis\": [0, 0, 1],"
        " \"position\": [0, -0.4, 0]},"
        // a marker, another place and sliding keep what they are on
        "{\"name\": \"marked\", \"parent\": \"list\", \"type\": \"hinge\", \"axis\": [0, 0, 1]},"
        "{\"name\": \"apart\", \"parent\": \"marked\", \"type\": \"hinge\", \"axis\": [0, 1, 0]},"
        "{\"name\": \"slides\", \"parent\": \"apart\", \"type\": \"slider\", \"axis\": [0, 1, 0],"
        " \"position\": [0, 0.1, 0]},"
        "{\"name\": \"end\", \"parent\": \"slides\", \"type\": \"hinge\", \"axis\": [0, 1, 0]}],"
        "\"markers\": [{\"name\": \"M\", \"joint\": \"marked\", \"position\": [0, 0, 0]}],"
        "\"frames\": [{\"name\": \"pelvis\", \"joint\": \"list\"}, {\"name\": \"femur\", "
        "\"joint\": "
        "\"rotation\"}, {\"name\": \"tibia\", \"joint\": \"knee\"}, {\"name\": \"head\", "
        "\"joint\": "
        "\"end\"}]}";
    static const char *const names[] = {"pelvis", "femur",  "tibia", "marked",
                                        "apart",  "slides", "head"};
    static const int parents[] = {-1, 0, 1, 0, 3, 4, 5};
    sn_model *model;
    sn_error error = {0};
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("%s", error.text);
    uint64_t state = 5;
    sn_motion *motion = random_motion(&state, model, 20);
    pair p;
    assert_true(exported(model, NULL, motion, SN_SKELETON_BVH, NULL, 0, 1, &p) < 1e-8);
    const sn_model *m = sn_skeleton_model(p.skeleton);
    assert_int_equal(sn_model_njoint(m), 7);
    for (int i = 0; i < 7; i++) {
        assert_string_equal(sn_model_joint(m, i)->name, names[i]);
        assert_int_equal(sn_model_parent(m, i), parents[i]);
    }
    assert_int_equal(sn_model_joint(m, 1)->type, SN_JOINT_EULER);
    pair_end(&p);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// Frames on a figure of another kind are sensors and the like: its joints stay what they are.
static void sensors(void **unused) {
    (void)unused;
    static const char joints[] =
        "{\"name\": \"worn\", \"joints\": [{\"name\": \"root\", \"type\": \"free\"},"
        "{\"name\": \"hip\", \"parent\": \"root\", \"type\": \"ball\"},"
        "{\"name\": \"knee\", \"parent\": \"hip\", \"type\": \"hinge\", \"axis\": [1, 0, 0], "
        "\"position\": [0, -0.4, 0]}], \"frames\": [";
    static const char *const frames[] = {
        "{\"name\": \"sensor\", \"joint\": \"hip\"}, {\"name\": \"knee\", \"joint\": \"root\"},"
        "{\"name\": \"imu\", \"joint\": \"knee\"}]}",
        "{\"name\": \"sensor\", \"joint\": \"hip\"}, {\"name\": \"imu\", \"joint\": \"knee\"}]}"};
    static const char *const names[] = {"root", "hip", "knee"};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        sn_model *model;
        sn_export *export;
        (void)snprintf(text, sizeof text, "%s%s", joints, frames[k]);
        assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &model, NULL), SN_OK);
        assert_int_equal(sn_export_create(model, SN_SKELETON_BVH, NULL, NULL, &export, NULL),
                         SN_OK);
        const sn_model *m = sn_skeleton_model(sn_export_skeleton(export));
        assert_int_equal(sn_model_njoint(m), 3);
        for (int i = 0; i < 3; i++) assert_string_equal(sn_model_joint(m, i)->name, names[i]);
        sn_export_destroy(export);
        sn_model_destroy(model);
    }
}

// Up turned from y to z, and the unit changed.
static void turned_figure(void **unused) {
    (void)unused;
    pair a = read_acclaim("cmu/02.asf", "cmu/02_01.amc"), b;
    const double rotation[4] = {sqrt(0.5), sqrt(0.5), 0, 0};
    double worst = exported(sn_skeleton_model(a.skeleton), a.skeleton, a.motion, SN_SKELETON_BVH,
                            rotation, 0.001, 1, &b);
    assert_true(worst < 1e-9);
    assert_string_equal(sn_skeleton_up_axis(a.skeleton), "+Y");
    assert_string_equal(sn_skeleton_up_axis(b.skeleton), "+Z");
    assert_near(sn_skeleton_metres_per_unit(b.skeleton), 0.001, 1e-15);
    pair_end(&a);
    pair_end(&b);
}

static sn_status write_all(const sn_skeleton *s, const sn_motion *m, const sn_sink *sink,
                           const sn_allocator *allocator, sn_error *error) {
    if (sn_skeleton_kind(s) == SN_SKELETON_BVH) return sn_bvh_write(s, m, sink, allocator, error);
    sn_status status = sn_asf_write(s, sink, error);
    return status != SN_OK ? status : sn_amc_write(s, m, sink, allocator, error);
}

static void sinks_and_arguments(void **unused) {
    (void)unused;
    sn_model *model = odd_model();
    uint64_t state = 2;
    sn_motion *motion = random_motion(&state, model, 40), *m, *wrong;
    assert_int_equal(sn_motion_create(1, 3, 1, 0, NULL, &wrong, NULL), SN_OK);
    for (int format = 0; format < 2; format++) {
        sn_export *e;
        sn_error error = {0};
        memory_sink out;
        assert_int_equal(
            sn_export_create(model, (sn_skeleton_format)format, NULL, NULL, &e, &error), SN_OK);
        const sn_skeleton *s = sn_export_skeleton(e);
        assert_int_equal(sn_export_motion(e, motion, NULL, &m, &error), SN_OK);
        memory_sink_begin(&out);
        assert_int_equal(write_all(s, m, &out.base, NULL, &error), SN_OK);
        size_t whole = out.length;
        free(out.bytes);
        // a sink that is full anywhere
        for (size_t limit = 0; limit < whole; limit += 500) {
            memory_sink_begin(&out);
            out.room = limit;
            error = (sn_error){0};
            assert_int_equal(write_all(s, m, &out.base, NULL, &error), SN_ERR_FILE);
            assert_int_equal(error.status, SN_ERR_FILE);
            free(out.bytes);
        }
        memory_sink_begin(&out);
        // another model's motion, and another format
        assert_int_equal(write_all(s, wrong, &out.base, NULL, &error), SN_ERR_ARGUMENT);
        if (format == SN_SKELETON_ASF)
            assert_int_equal(sn_bvh_write(s, m, &out.base, NULL, &error), SN_ERR_ARGUMENT);
        if (format == SN_SKELETON_BVH) {
            assert_int_equal(sn_asf_write(s, &out.base, &error), SN_ERR_ARGUMENT);
            assert_int_equal(sn_amc_write(s, m, &out.base, NULL, &error), SN_ERR_ARGUMENT);
        }
        sn_motion *none = m;
        assert_int_equal(sn_export_motion(e, wrong, NULL, &none, &error), SN_ERR_ARGUMENT);
        assert_null(none);
        // what is not finite
        sn_motion_edit(m, 30)[0] = NAN;
        assert_int_equal(write_all(s, m, &out.base, NULL, &error), SN_ERR_VALUE);
        double was = sn_motion_frame(motion, 9)[0];
        sn_motion_edit(motion, 9)[0] = INFINITY;
        assert_int_equal(sn_export_motion(e, motion, NULL, &none, &error), SN_ERR_VALUE);
        assert_non_null(strstr(error.text, "frame 14"));
        assert_null(none);
        sn_motion_edit(motion, 9)[0] = was;
        free(out.bytes);
        sn_motion_destroy(m);
        sn_export_destroy(e);
        // options
        for (int i = 0; i < 4; i++) {
            sn_export_options options = sn_export_options_default();
            sn_skeleton *other = NULL;
            if (i == 0) options.version++;
            if (i == 1) options.metres_per_unit = NAN;
            if (i == 2) memset(options.rotation, 0, sizeof options.rotation);
            const char *text = "HIERARCHY ROOT a {\nOFFSET 0 0 0 }";
            if (i == 3) {
                sn_motion *empty;
                assert_int_equal(sn_bvh_read(text, strlen(text), NULL, NULL, &other, &empty, NULL),
                                 SN_OK);
                sn_motion_destroy(empty);
                options.source = other;
            }
            assert_int_equal(
                sn_export_create(model, (sn_skeleton_format)format, &options, NULL, &e, &error),
                SN_ERR_ARGUMENT);
            assert_null(e);
            sn_skeleton_destroy(other);
        }
    }
    sn_motion_destroy(wrong);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

static void failing_memory(void **unused) {
    (void)unused;
    sn_model *model = odd_model();
    uint64_t state = 3;
    sn_motion *motion = random_motion(&state, model, 2);
    for (int kind = 0; kind < 4; kind++) {
        sn_skeleton_format format = (sn_skeleton_format)(kind / 2);
        long n = 0;
        for (bool done = false; !done; n++) {
            test_allocator a;
            sn_export *e = NULL;
            sn_motion *m = NULL;
            sn_error error = {0};
            memory_sink out;
            test_allocator_begin(&a);
            memory_sink_begin(&out);
            a.fail_at = n;
            a.fail_after = kind % 2;
            sn_status status = sn_export_create(model, format, NULL, &a.base, &e, &error);
            assert_true((status == SN_OK) == (e != NULL));
            if (status == SN_OK) status = sn_export_motion(e, motion, &a.base, &m, &error);
            assert_true((status == SN_OK) == (m != NULL));
            if (status == SN_OK)
                status = write_all(sn_export_skeleton(e), m, &out.base, &a.base, &error);
            done = status == SN_OK;
            if (!done) {
                assert_int_equal(status, SN_ERR_MEMORY);
                assert_int_equal(error.status, SN_ERR_MEMORY);
            }
            sn_motion_destroy(m);
            sn_export_destroy(e);
            free(out.bytes);
            assert_int_equal(a.live, 0);
        }
        print_message("%ld allocations failed in turn\n", n - 1);
    }
    // a pose needs none
    test_allocator a;
    sn_export *e;
    double out[64];
    test_allocator_begin(&a);
    assert_int_equal(sn_export_create(model, SN_SKELETON_BVH, NULL, &a.base, &e, NULL), SN_OK);
    a.trap = true;
    assert_true(sn_model_nq(sn_skeleton_model(sn_export_skeleton(e))) < 64);
    assert_int_equal(sn_export_pose(e, sn_motion_frame(motion, 0), NULL, out), SN_OK);
    a.trap = false;
    sn_export_destroy(e);
    assert_int_equal(a.live, 0);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// Several ROOTs stay several when their unit changes.
static void several_roots(void **unused) {
    (void)unused;
    const char *text = "HIERARCHY\n"
                       "ROOT a\n{\nOFFSET 1 0 0\n"
                       "CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation\n"
                       "JOINT b\n{\nOFFSET 0 5 0\nCHANNELS 1 Xrotation\n}\n}\n"
                       "ROOT c\n{\nOFFSET 0 0 9\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
                       "End Site\n{\nOFFSET 0 0 1\n}\n}\n"
                       "MOTION\nFrames: 2\nFrame Time: 0.1\n"
                       "1 2 3 4 5 6 7 8 9 10\n2 3 4 5 6 7 8 9 10 11\n";
    pair a, b;
    assert_int_equal(sn_bvh_read(text, strlen(text), NULL, NULL, &a.skeleton, &a.motion, NULL),
                     SN_OK);
    double worst = exported(sn_skeleton_model(a.skeleton), a.skeleton, a.motion, SN_SKELETON_BVH,
                            NULL, 0.001, 1, &b);
    assert_true(worst < 1e-9);
    const sn_model *m = sn_skeleton_model(b.skeleton);
    assert_int_equal(sn_model_njoint(m), 4);
    assert_int_equal(sn_model_joint(m, 0)->type, SN_JOINT_FIXED);
    assert_int_equal(sn_model_find_joint(m, "c"), 3);
    pair_end(&a);
    pair_end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_kind),        cmocka_unit_test(acclaim_to_bvh_and_back),
        cmocka_unit_test(bvh_to_acclaim),   cmocka_unit_test(random_models),
        cmocka_unit_test(humanoid),         cmocka_unit_test(clip_in_both_formats),
        cmocka_unit_test(acclaim_of_model), cmocka_unit_test(turned_figure),
        cmocka_unit_test(several_roots),    cmocka_unit_test(sinks_and_arguments),
        cmocka_unit_test(failing_memory),   cmocka_unit_test(bodies),
        cmocka_unit_test(sensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
