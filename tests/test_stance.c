// SPDX-License-Identifier: MIT
// Skeletons in whose zero pose nobody stands: the same person as with one that stands, in the skeleton's own frames.
#include "math/align.h"
#include "math/euler_near.h"
#include "math/vec3.h"
#include "memory_sink.h"
#include "model/model.h"
#include "take/body.h"
#include "takes.h"

enum { FRAMES = 300 };

// A figure with a T pose and the same with each frame's x along its bone and no rest rotations, as many programs have it.
typedef struct twins {
    sn_model *standing, *lying;
    sn_mat3 *N;  // the lying one's frames in the standing one's
    sn_motion *truth[2];
} twins;

static sn_vec3 position_of(const sn_model *m, int joint) {
    return v3_from(sn_model_joint(m, joint)->position);
}

// Any rotation with its x along d.
static sn_mat3 along(sn_vec3 d) {
    const sn_vec3 x = v3_scale(1 / v3_norm(d), d),
                  y = fabs(x.z) < 0.9 ? v3_cross(v3(0, 0, 1), x) : v3(0, 1, 0),
                  v = v3_scale(1 / v3_norm(y), v3_sub(y, v3_scale(v3_dot(y, x), x)));
    return (sn_mat3){{x, v, v3_cross(x, v)}};
}

static sn_model *lay_down(const sn_model *m, const sn_mat3 *N) {
    sn_builder *b;
    sn_model *out;
    assert_int_equal(sn_builder_create("lying", NULL, &b, NULL), SN_OK);
    for (int j = 0; j < sn_model_njoint(m); j++) {
        sn_joint_desc d = *sn_model_joint(m, j);
        if (d.parent >= 0) {
            const sn_vec3 p = m3_tmul(&N[d.parent], v3_from(d.position));
            d.position[0] = p.x, d.position[1] = p.y, d.position[2] = p.z;
        }
        (void)sn_builder_joint(b, &d);
    }
    assert_int_equal(sn_builder_finish(b, &out, NULL), SN_OK);
    sn_builder_destroy(b);
    return out;
}

static sn_motion *carried(const twins *t, const sn_motion *from) {
    const int n = sn_motion_nframe(from), nq = sn_motion_nq(from);
    sn_motion *out;
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_motion_create(n, nq, 1, 120, NULL, &out, NULL), SN_OK);
    assert_int_equal(sn_problem_create(t->standing, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int f = 0; f < n; f++) {
        const double *q = sn_motion_frame(from, f);
        double *to = sn_motion_edit(out, f);
        memcpy(to, f > 0 ? sn_motion_frame(out, f - 1) : q, (size_t)nq * sizeof *to);
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int j = 0; j < sn_model_njoint(t->standing); j++) {
            const int parent = sn_model_parent(t->standing, j),
                      at = sn_model_q_index(t->standing, j);
            const sn_joint_desc *d = sn_model_joint(t->standing, j);
            const sn_mat3 R = sn_workspace_frame(ws, j).R, own = m3_mulm(&R, &t->N[j]);
            sn_mat3 up = m3_identity();
            if (parent >= 0) {
                const sn_mat3 P = sn_workspace_frame(ws, parent).R;
                up = m3_mulm(&P, &t->N[parent]);
            }
            const sn_mat3 back = m3_transpose(&up), L = m3_mulm(&back, &own);
            if (d->type == SN_JOINT_FREE) {
                const sn_quat r = sn_quat_from_mat3(L);
                memcpy(to + at, q + at, 3 * sizeof *q);
                to[at + 3] = r.w, to[at + 4] = r.x, to[at + 5] = r.y, to[at + 6] = r.z;
            } else if (d->type == SN_JOINT_EULER) {
                const int order[3] = {d->order[0] - 'X', d->order[1] - 'X', d->order[2] - 'X'};
                sn_euler_near(order, 3, &L, to + at, to + at);
            }
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return out;
}

static twins twins_of(const example_take *e) {
    twins t = {0};
    sn_export *export;
    sn_motion *cut;
    assert_int_equal(sn_export_create(e->model, SN_SKELETON_BVH, NULL, NULL, &export, NULL), SN_OK);
    const sn_model *m = sn_skeleton_model(sn_export_skeleton(export));
    const int n = sn_model_njoint(m), nq = sn_model_nq(e->model);
    t.N = calloc((size_t)n, sizeof *t.N);
    for (int j = 0; j < n; j++) {
        // along the bone; the root's lies, too
        t.N[j] = sn_model_parent(m, j) >= 0 ? t.N[sn_model_parent(m, j)] : m3_identity();
        for (int k = n - 1; k > j; k--)
            if (sn_model_parent(m, k) == j && v3_norm(position_of(m, k)) > 1e-6)
                t.N[j] = along(position_of(m, k));
        if (sn_model_parent(m, j) < 0) t.N[j] = along(v3(0, 1, 0));
    }
    sn_mat3 *none = calloc((size_t)n, sizeof *none);
    for (int j = 0; j < n; j++) none[j] = m3_identity();
    t.standing = lay_down(m, none);
    t.lying = lay_down(m, t.N);
    free(none);
    assert_int_equal(sn_motion_create(FRAMES, nq, 1, 120, NULL, &cut, NULL), SN_OK);
    for (int f = 0; f < FRAMES; f++)
        memcpy(sn_motion_edit(cut, f), sn_motion_frame(e->truth, f), (size_t)nq * sizeof(double));
    assert_int_equal(sn_export_motion(export, cut, NULL, &t.truth[0], NULL), SN_OK);
    t.truth[1] = carried(&t, t.truth[0]);
    sn_motion_destroy(cut);
    sn_export_destroy(export);
    return t;
}

static void twins_end(twins *t) {
    sn_model_destroy(t->standing);
    sn_model_destroy(t->lying);
    for (int i = 0; i < 2; i++) sn_motion_destroy(t->truth[i]);
    free(t->N);
}

static sn_take *fit(const sn_model *m, const sn_recording *r, const sn_motion *own) {
    sn_take_options o = sn_take_options_default();
    sn_take *t;
    o.own_motion = own;
    assert_int_equal(sn_take_create(m, r, &o, NULL, &t, NULL), SN_OK);
    sn_status status = sn_take_prepare(t);
    if (status == SN_OK) status = sn_take_finish(t);
    if (status != SN_OK) {
        char text[1000];
        (void)sn_take_sentence(t, sn_take_nfinding(t) - 1, SN_VOICE_COMMAND, text, sizeof text);
        fail_msg("%s: %s", sn_status_text(status), text);
    }
    return t;
}

static bool is_told(const sn_take *t, sn_finding_code code) {
    for (int i = 0; i < sn_take_nfinding(t); i++)
        if (sn_take_finding(t, i)->code == code) return true;
    return false;
}

// RMS of the fitted markers, by what the take hands out.
static double rms_by(const sn_take *t, const sn_recording *r, int first) {
    const sn_model *m = sn_take_model(t);
    const sn_axis_map axes = sn_take_about(t)->axes.map;
    int *column = calloc((size_t)sn_model_nmarker(m), sizeof *column);
    for (int i = 0; i < sn_model_nmarker(m); i++) column[i] = sn_take_column(t, i);
    const double rms = plain_rms(m, sn_take_motion(t), r, column, &axes, first, 1);
    free(column);
    return rms;
}

// The figure that a take found, from its file.
static sn_model *saved(const sn_take *t) {
    memory_sink sink;
    sn_model *m;
    memory_sink_begin(&sink);
    assert_int_equal(sn_model_write_json(sn_take_limited_model(t), &sink.base, NULL, NULL), SN_OK);
    assert_int_equal(sn_model_read_json(sink.bytes, sink.length, NULL, &m, NULL), SN_OK);
    free(sink.bytes);
    return m;
}

static const sn_finding *finding_of(const sn_take *t, sn_finding_code code) {
    for (int i = 0; i < sn_take_nfinding(t); i++)
        if (sn_take_finding(t, i)->code == code) return sn_take_finding(t, i);
    return NULL;
}

static const char *sentence_of(const sn_take *t, sn_finding_code code) {
    static char text[1000];
    for (int i = 0; i < sn_take_nfinding(t); i++)
        if (sn_take_finding(t, i)->code == code) {
            (void)sn_take_sentence(t, i, SN_VOICE_COMMAND, text, sizeof text);
            return text;
        }
    return "";
}

static void lying(void **state) {
    twins t = twins_of(*state);
    sn_recording *r = recording_cut(((example_take *)*state)->recording, 0, FRAMES);
    sn_take *take[2] = {fit(t.standing, r, t.truth[0]), fit(t.lying, r, t.truth[1])};
    sn_take_truth truth[2];
    double rms[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sn_take_compare(take[i], NULL, t.truth[i], &truth[i]), SN_OK);
        rms[i] = sn_take_about(take[i])->fit.rms;
        print_message("%s: %.3f cm, %.2f degrees, centres %.2f cm\n", i == 0 ? "standing" : "lying",
                      100 * rms[i], truth[i].rms, 100 * truth[i].centres);
        assert_true(is_told(take[i], SN_FINDING_STANCE_FOUND) == (i == 1));
        assert_false(is_told(take[i], SN_FINDING_STANCE_NONE));
        assert_int_equal(sn_take_verdict(take[i]), SN_VERDICT_GOOD);
    }
    assert_non_null(strstr(sentence_of(take[1], SN_FINDING_STANCE_FOUND),
                           "nobody stands in the skeleton's zero pose"));
    assert_true(rms[1] < 1.05 * rms[0]);
    assert_true(truth[1].rms < truth[0].rms + 2 && truth[1].centres < truth[0].centres + 0.005);
    // shape, poses and errors belong together, in the lying one's frames
    const sn_model *m = sn_take_model(take[1]);
    assert_int_equal(sn_model_njoint(m), sn_model_njoint(t.lying));
    for (int j = 0; j < sn_model_njoint(m); j++)
        for (int k = 0; k < 3; k++)
            assert_near(sn_model_joint(m, j)->position[k], sn_model_joint(t.lying, j)->position[k],
                        1e-12);
    for (int i = 0; i < sn_model_nmarker(m); i++) {
        const sn_marker_place *p = sn_marker_set_place(sn_take_markers(take[1]), i);
        for (int k = 0; k < 3; k++)
            assert_near(p->position[k], sn_model_marker(m, i)->position[k], 1e-12);
    }
    assert_near(rms_by(take[1], r, 0), rms[1], 1e-9);

    // what it minimises is that of the figure that stands
    static double f[2][FRAMES];
    double sum[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sn_take_objective(take[i], sn_take_motion(take[i]), f[i]), SN_OK);
        for (int k = 0; k < FRAMES; k++) sum[i] += f[i][k] / FRAMES;
        print_message("f %.3g\n", sum[i]);
    }
    assert_true(sum[1] < 1.1 * sum[0]);

    // a set of its own frames, without a calibration
    sn_take_options o = sn_take_options_default();
    sn_take *again;
    o.own_motion = t.truth[1];
    o.markers = sn_take_markers(take[1]);
    o.calibrate = SN_CALIBRATE_NONE;
    assert_int_equal(sn_take_create(t.lying, r, &o, NULL, &again, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(again), SN_OK);
    assert_int_equal(sn_take_finish(again), SN_OK);
    assert_near(sn_take_about(again)->fit.rms, rms[1], 1e-5);
    sn_take_destroy(again);

    for (int i = 0; i < 2; i++) sn_take_destroy(take[i]);
    sn_recording_destroy(r);
    twins_end(&t);
}

// Without its motion it is told.
static void no_motion(void **state) {
    twins t = twins_of(*state);
    sn_recording *r = recording_cut(((example_take *)*state)->recording, 0, FRAMES);
    sn_take *take = fit(t.lying, r, NULL);
    assert_true(is_told(take, SN_FINDING_STANCE_NONE));
    assert_int_equal(sn_take_verdict(take) == SN_VERDICT_GOOD, 0);
    assert_non_null(
        strstr(sentence_of(take, SN_FINDING_STANCE_NONE), "give it as a BVH file with a motion"));
    sn_take_destroy(take);

    // another model's motion is refused
    sn_take_options o = sn_take_options_default();
    sn_error error = {0};
    o.own_motion = ((example_take *)*state)->truth;
    assert_int_equal(sn_take_create(t.lying, r, &o, NULL, &take, &error), SN_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "own_motion"));
    sn_recording_destroy(r);
    twins_end(&t);
}

// What the figure's file says of how it stands is enough for another take, in the same frames.
static void second_take(void **state) {
    twins t = twins_of(*state);
    sn_recording *r = recording_cut(((example_take *)*state)->recording, 0, FRAMES);
    sn_take *first = fit(t.lying, r, t.truth[1]);
    sn_model *figure = saved(first);
    for (int k = 0; k < 2; k++) {
        // as it is, and with its places sought anew
        sn_take_options o = sn_take_options_default();
        sn_take *second;
        if (k == 1) o.calibrate = SN_CALIBRATE_SCALE;
        assert_int_equal(sn_take_create(figure, r, &o, NULL, &second, NULL), SN_OK);
        assert_int_equal(sn_take_prepare(second), SN_OK);
        assert_int_equal(sn_take_finish(second), SN_OK);
        const double rms[2] = {sn_take_about(first)->fit.rms, sn_take_about(second)->fit.rms};
        print_message("%.4f cm, then %.4f\n", 100 * rms[0], 100 * rms[1]);
        assert_true(rms[1] < 1.02 * rms[0]);
        assert_near(rms_by(second, r, 0), rms[1], 1e-9);
        assert_int_equal(sn_take_verdict(second), SN_VERDICT_GOOD);
        assert_false(is_told(second, SN_FINDING_BODY_LIES));
        assert_false(is_told(second, SN_FINDING_STANCE_NONE));
        assert_true(finding_of(second, SN_FINDING_STANCE_FOUND)->number[0] == 1);
        assert_non_null(
            strstr(sentence_of(second, SN_FINDING_STANCE_FOUND), "it says itself how it stands"));
        const sn_model *m = sn_take_model(second);
        for (int j = 0; j < sn_model_njoint(m); j++)
            for (int i = 0; i < 4; i++) {
                const sn_joint_desc *d = sn_model_joint(m, j), *before = sn_model_joint(figure, j);
                assert_near(d->stance[i], before->stance[i], 1e-12);
                assert_near(d->rotation[i], before->rotation[i], 1e-12);
            }
        sn_take_destroy(second);
    }
    sn_model_destroy(figure);
    sn_take_destroy(first);
    sn_recording_destroy(r);
    twins_end(&t);
}

// What is handed out while a take goes on is of the caller's model, too, and stays to its end.
static void on_the_way(void **state) {
    twins t = twins_of(*state);
    sn_recording *r = recording_cut(((example_take *)*state)->recording, 0, FRAMES);
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    o.own_motion = t.truth[1];
    assert_int_equal(sn_take_create(t.lying, r, &o, NULL, &take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    const sn_model *m = sn_take_model(take), *limited = sn_take_limited_model(take);
    const sn_marker_set *set = sn_take_markers(take);
    const sn_motion *motion = sn_take_motion(take);
    const char *name = sn_marker_set_place(set, 0)->name;
    for (int j = 0; j < sn_model_njoint(m); j++)
        for (int k = 0; k < 3; k++)
            assert_near(sn_model_joint(m, j)->position[k], sn_model_joint(t.lying, j)->position[k],
                        1e-12);
    assert_int_equal(sn_take_solve(take, FRAMES / 2), SN_OK);
    assert_int_equal(sn_take_solve(take, FRAMES), SN_OK);
    assert_int_equal(sn_take_solved(take), FRAMES);
    // as far as solving comes
    assert_true(rms_by(take, r, 0) < 0.01);
    assert_int_equal(sn_take_finish(take), SN_OK);
    assert_true(m == sn_take_model(take) && limited == sn_take_limited_model(take));
    assert_true(set == sn_take_markers(take) && motion == sn_take_motion(take));
    assert_string_equal(sn_marker_set_place(set, 0)->name, name);
    assert_int_equal(sn_model_njoint(limited), sn_model_njoint(m));
    sn_take_destroy(take);
    sn_recording_destroy(r);
    twins_end(&t);
}

// The same figure with feet that cannot move: one along its shin, as a joint without channels in a BVH file is, one turned.
static sn_model *with_fixed_feet(const sn_model *m) {
    static const double turned[4] = {0.96, 0.2, -0.2, 0};
    sn_builder *b;
    sn_model *out;
    assert_int_equal(sn_builder_create_from(m, NULL, &b, NULL), SN_OK);
    for (int side = 0; side < 2; side++) {
        sn_joint_desc *d = &b->joint[sn_body_part(m, SN_BODY_FOOT, side)].desc;
        d->type = SN_JOINT_FIXED;
        if (side == 1) memcpy(d->rotation, turned, sizeof turned);
    }
    assert_int_equal(sn_builder_finish(b, &out, NULL), SN_OK);
    sn_builder_destroy(b);
    return out;
}

static sn_motion *as_of(const sn_model *m, const sn_model *from, const sn_motion *motion) {
    sn_motion *out;
    assert_int_equal(
        sn_motion_create(sn_motion_nframe(motion), sn_model_nq(m), 1, 120, NULL, &out, NULL),
        SN_OK);
    for (int f = 0; f < sn_motion_nframe(motion); f++)
        for (int j = 0; j < sn_model_njoint(m); j++)
            memcpy(sn_motion_edit(out, f) + sn_model_q_index(m, j),
                   sn_motion_frame(motion, f) + sn_model_q_index(from, j),
                   (size_t)sn_model_joint_nq(m, j) * sizeof(double));
    return out;
}

// A joint without coordinates stays as it is against its parent.
static void fixed_feet(void **state) {
    twins t = twins_of(*state);
    sn_recording *r = recording_cut(((example_take *)*state)->recording, 0, FRAMES);
    sn_model *m = with_fixed_feet(t.lying);
    sn_motion *own = as_of(m, t.lying, t.truth[1]);
    sn_take *take = fit(m, r, own);
    const double rms = sn_take_about(take)->fit.rms;
    print_message("%.3f cm\n", 100 * rms);
    assert_true(is_told(take, SN_FINDING_STANCE_FOUND));
    assert_near(rms_by(take, r, 0), rms, 1e-9);
    sn_take_destroy(take);
    sn_motion_destroy(own);
    sn_model_destroy(m);
    sn_recording_destroy(r);
    twins_end(&t);
}

// A motion shows it, but the figure cannot be given other frames: it is said what is in the way.
static void in_the_way(void **state) {
    twins t = twins_of(*state);
    sn_recording *r = recording_cut(((example_take *)*state)->recording, 0, 20);
    const int knee = sn_body_part(t.lying, SN_BODY_SHIN, 0);
    for (int k = 0; k < 4; k++) {
        sn_builder *b;
        sn_model *m;
        assert_int_equal(sn_builder_create_from(t.lying, NULL, &b, NULL), SN_OK);
        sn_joint_desc *d = &b->joint[knee].desc;
        if (k == 0) d->upper[1] = 2.5;
        if (k == 1) d->locked[2] = true;
        if (k == 2) d->type = SN_JOINT_EXPMAP;
        if (k == 3)
            (void)sn_builder_frame(b, &(sn_frame_desc){"sensor", knee, {0, 0, 0}, {1, 0, 0, 0}});
        assert_int_equal(sn_builder_finish(b, &m, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_take_options o = sn_take_options_default();
        sn_take *take;
        o.own_motion = t.truth[1];
        assert_int_equal(sn_take_create(m, r, &o, NULL, &take, NULL), SN_OK);
        (void)sn_take_prepare(take);
        const char *text = sentence_of(take, SN_FINDING_STANCE_NONE);
        assert_null(strstr(text, "with a motion"));
        assert_non_null(strstr(text, "how it stands is known, but "));
        assert_non_null(strstr(text, k < 3 ? sn_model_joint(m, knee)->name : "named frames"));
        assert_true(finding_of(take, SN_FINDING_STANCE_NONE)->number[0] == (k < 3 ? 1 : 2));
        sn_take_destroy(take);
        sn_model_destroy(m);
    }
    sn_recording_destroy(r);
    twins_end(&t);
}

// All of a take's life, with a set of its own.
static sn_status live(const twins *t, const sn_recording *r, const sn_marker_set *set,
                      const sn_allocator *allocator) {
    sn_take_options o = sn_take_options_default();
    sn_take *take;
    sn_take_truth truth;
    static double f[4];
    o.own_motion = t->truth[1];
    o.markers = set;
    sn_status status = sn_take_create(t->lying, r, &o, allocator, &take, NULL);
    if (status == SN_OK) status = sn_take_prepare(take);
    if (status == SN_OK) status = sn_take_finish(take);
    if (status == SN_OK) status = sn_take_objective(take, sn_take_motion(take), f);
    if (status == SN_OK) status = sn_take_compare(take, NULL, t->truth[1], &truth);
    sn_take_destroy(take);
    return status;
}

static void faults(void **state) {
    twins t = twins_of(*state);
    sn_recording *r = recording_cut(((example_take *)*state)->recording, 0, 4);
    sn_take *take = fit(t.lying, r, t.truth[1]);
    for (int forever = 0; forever < 2; forever++) {
        long n = 0;
        for (sn_status status = SN_ERR_MEMORY; status != SN_OK; n++) {
            test_allocator allocator;
            test_allocator_begin(&allocator);
            allocator.fail_at = n;
            allocator.fail_after = forever;
            status = live(&t, r, sn_take_markers(take), &allocator.base);
            if (allocator.live != 0)
                fail_msg("%ld blocks are left when %ld fails", allocator.live, n);
            if (status == SN_OK && allocator.calls > n)
                fail_msg("the failure of call %ld was lost", n);
            if (status != SN_OK && status != SN_ERR_MEMORY)
                fail_msg("%s when %ld fails", sn_status_text(status), n);
        }
        print_message("%ld allocations\n", n - 1);
        assert_true(n > 100);
    }
    sn_take_destroy(take);
    sn_recording_destroy(r);
    twins_end(&t);
}

// Real ones: LaFAN1's and Bandai-Namco's skeletons with somebody else's walk.
static void real(void **unused) {
    (void)unused;
    static const struct {
        const char *file;
        double before;  // cm, as if somebody stood at zero
    } files[] = {{"bvh/lafan1_dance1_subject2_excerpt.bvh", 2.985},
                 {"bvh/bandai_dash_normal_001.bvh", 2.002}};
    for (int k = 0; k < 2; k++) {
        sn_document body = read_clip(files[k].file), clip = read_clip("cmu/02_01.c3d");
        if (body.model == NULL || clip.recording == NULL) skip();
        sn_take_options o = sn_take_options_default();
        sn_take *t;
        o.own_motion = body.motion;
        o.model_up = body.up, o.model_up_sign = body.up_sign;
        o.calibrate = SN_CALIBRATE_SCALE;
        assert_int_equal(sn_take_create(body.model, clip.recording, &o, NULL, &t, NULL), SN_OK);
        assert_int_equal(sn_take_prepare(t), SN_OK);
        assert_int_equal(sn_take_finish(t), SN_OK);
        const double rms = 100 * sn_take_about(t)->fit.rms;
        print_message(
            "%s: %.3f cm (%.3f as if it stood at zero), %d joint-frames over 20 degrees\n",
            files[k].file, rms, files[k].before, sn_take_about(t)->jumps);
        assert_true(rms < 0.5);
        assert_int_equal(sn_take_about(t)->jumps, 0);
        assert_int_equal(sn_take_verdict(t), SN_VERDICT_GOOD);

        // the figure as it would be saved, for another take
        sn_model *figure = saved(t);
        sn_take_destroy(t);
        o.own_motion = NULL;
        o.calibrate = SN_CALIBRATE_AUTO;
        assert_int_equal(sn_take_create(figure, clip.recording, &o, NULL, &t, NULL), SN_OK);
        assert_int_equal(sn_take_prepare(t), SN_OK);
        assert_int_equal(sn_take_finish(t), SN_OK);
        print_message("    saved, and fitted again: %.3f cm\n", 100 * sn_take_about(t)->fit.rms);
        assert_true(100 * sn_take_about(t)->fit.rms < 1.02 * rms);
        assert_int_equal(sn_take_verdict(t), SN_VERDICT_GOOD);
        sn_take_destroy(t);
        sn_model_destroy(figure);
        sn_document_destroy(&body);
        sn_document_destroy(&clip);
    }
}

// A figure with fifty finger joints and none of their markers is not mostly made up.
static void fingers(void **unused) {
    (void)unused;
    sn_document body = read_clip("bvh/lafan1_Geno_stance.bvh"), clip = read_clip("cmu/02_01.c3d");
    if (body.model == NULL || clip.recording == NULL) skip();
    sn_take_options o = sn_take_options_default();
    sn_take *t;
    o.own_motion = body.motion;
    o.model_up = body.up, o.model_up_sign = body.up_sign;
    o.calibrate = SN_CALIBRATE_SCALE;
    assert_int_equal(sn_take_create(body.model, clip.recording, &o, NULL, &t, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(t), SN_OK);
    assert_int_equal(sn_take_finish(t), SN_OK);
    assert_true(sn_take_about(t)->fit.rms < 0.005);
    assert_int_equal(sn_take_verdict(t), SN_VERDICT_GOOD);
    sn_take_destroy(t);
    sn_document_destroy(&body);
    sn_document_destroy(&clip);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lying),      cmocka_unit_test(no_motion),  cmocka_unit_test(second_take),
        cmocka_unit_test(on_the_way), cmocka_unit_test(fixed_feet), cmocka_unit_test(in_the_way),
        cmocka_unit_test(faults),     cmocka_unit_test(real),       cmocka_unit_test(fingers)};
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
