// SPDX-License-Identifier: MIT
// A setup's frames in lanes: gaps, coordinate tasks, figures that turn, threads and pieces.
#include "opensim.h"
#include "support.h"

static void load_case(int which, opensim_files *files) {
    const char *there = data_path("biomech/subject4/expert.osim");
    if (there == NULL) skip();
    char folder[1000];
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strstr(there, "/subject4/") - there),
                   there);
    assert_true(opensim_load(&opensim_cases[which], folder, files));
}

static sn_take_options options_of(const opensim_files *files) {
    sn_take_options o = sn_take_options_default();
    o.coordinates = files->model.coordinates;
    o.setup = files->setup;
    return o;
}

// Fitted in pieces of so many frames; 0: at once.
static sn_take *fit_in(const opensim_files *files, const sn_take_options *o, int piece) {
    sn_take *take;
    assert_int_equal(
        sn_take_create(files->model.model, files->markers.recording, o, NULL, &take, NULL), SN_OK);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    while (piece > 0 && sn_take_solved(take) < sn_take_about(take)->count)
        assert_int_equal(sn_take_solve(take, piece), SN_OK);
    assert_int_equal(sn_take_finish(take), SN_OK);
    return take;
}

static void same_bits(void **unused) {
    (void)unused;
    for (int which = 0; which < 5; which += 2) {
        opensim_files files;
        load_case(which, &files);
        sn_take_options o = options_of(&files);
        sn_take *one = fit_in(&files, &o, 0);
        o.threads = 3;
        sn_take *other = fit_in(&files, &o, 10);
        const sn_motion *a = sn_take_motion(one), *b = sn_take_motion(other);
        for (int f = 0; f < sn_motion_nframe(a); f++)
            assert_memory_equal(sn_motion_frame(a, f), sn_motion_frame(b, f),
                                (size_t)sn_motion_nq(a) * sizeof(double));
        sn_take_destroy(one);
        sn_take_destroy(other);
        opensim_free(&files);
    }
}

// The lowest f of each frame that a change of one coordinate leads to, against its own.
static double most_left(const sn_take *take, double by) {
    const sn_model *m = sn_take_model(take);
    const sn_motion *motion = sn_take_motion(take);
    const int count = sn_motion_nframe(motion), nq = sn_model_nq(m);
    double *f = calloc((size_t)(2 * count), sizeof *f), most = 0;
    sn_motion *moved;
    assert_int_equal(sn_motion_create(count, nq, 1, 0, NULL, &moved, NULL), SN_OK);
    assert_int_equal(sn_take_objective(take, motion, f), SN_OK);
    for (int i = 0; i < nq; i++)
        for (int sign = -1; sign < 2; sign += 2) {
            for (int k = 0; k < count; k++) {
                memcpy(sn_motion_edit(moved, k), sn_motion_frame(motion, k),
                       (size_t)nq * sizeof(double));
                sn_motion_edit(moved, k)[i] += sign * by;
            }
            assert_int_equal(sn_take_objective(take, moved, f + count), SN_OK);
            for (int k = 0; k < count; k++) most = fmax(most, 1 - f[count + k] / f[k]);
        }
    free(f);
    sn_motion_destroy(moved);
    return most;
}

// Coordinate tasks weigh against the sum of those markers that a frame shows.
static void gaps_and_coordinate_tasks(void **unused) {
    (void)unused;
    opensim_files files;
    load_case(3, &files);
    // a pull that markers can stand up to
    static const char *const names[] = {"hip_flexion_r", "knee_angle_l", "ankle_angle_r"};
    char text[20000] =
        "<OpenSimDocument Version='30000'><InverseKinematicsTool><IKTaskSet><objects>";
    for (int i = 0; i < sn_ik_setup_about(files.setup)->ntask; i++) {
        const sn_ik_task *t = sn_ik_setup_task(files.setup, i);
        if (!t->coordinate)
            (void)sprintf(text + strlen(text),
                          "<IKMarkerTask name='%s'><weight>%g</weight></IKMarkerTask>", t->name,
                          t->weight);
    }
    for (int i = 0; i < 3; i++)
        (void)sprintf(text + strlen(text),
                      "<IKCoordinateTask name='%s'><weight>0.01</weight>"
                      "<value_type>manual_value</value_type><value>0.2</value></IKCoordinateTask>",
                      names[i]);
    (void)strcat(text, "</objects></IKTaskSet></InverseKinematicsTool></OpenSimDocument>");
    sn_ik_setup_destroy(files.setup);
    assert_int_equal(sn_ik_setup_read(text, strlen(text), NULL, &files.setup, NULL), SN_OK);
    uint64_t state = 15;
    const sn_recording_info *r = sn_recording_about(files.markers.recording);
    int hidden = 0;
    for (int f = 0; f < r->nframe; f++)
        for (int m = 0; m < r->nmarker; m++)
            if (f % 3 > 0 && below(&state, 3) == 0) {
                double *x = sn_recording_edit(files.markers.recording, f) + 3 * m;
                x[0] = x[1] = x[2] = NAN;
                hidden++;
            }
    sn_take_options o = options_of(&files);
    sn_take *take = fit_in(&files, &o, 0);
    const double left = most_left(take, 1e-5);
    printf("%d samples hidden: f falls by at most %.2g of itself\n", hidden, left);
    assert_true(hidden > 500 && left < 1e-7);
    sn_take_destroy(take);
    opensim_free(&files);
}

// A walk on a turntable is the same walk: what is far from the first frame's heading is found all the same.
static void figures_that_turn(void **unused) {
    (void)unused;
    opensim_files files;
    load_case(0, &files);
    sn_take_options o = options_of(&files);
    sn_take *straight = fit_in(&files, &o, 0);
    const int count = sn_take_about(straight)->count;
    const sn_recording_info *r = sn_recording_about(files.markers.recording);
    double *f = calloc((size_t)(2 * count), sizeof *f), worst = 0;
    assert_int_equal(sn_take_objective(straight, sn_take_motion(straight), f), SN_OK);
    for (int k = 0; k < r->nframe; k++) {
        double *x = sn_recording_edit(files.markers.recording, k);
        const double angle = 4 * acos(-1.0) * k / r->nframe, c = cos(angle), s = sin(angle);
        for (int m = 0; m < r->nmarker; m++, x += 3) {
            const double a = x[0], b = x[2];
            x[0] = c * a + s * b, x[2] = c * b - s * a;
        }
    }
    sn_take *turned = fit_in(&files, &o, 0);
    assert_int_equal(sn_take_objective(turned, sn_take_motion(turned), f + count), SN_OK);
    for (int k = 0; k < count; k++) worst = fmax(worst, f[count + k] / f[k] - 1);
    printf("two turns in %d frames: f rises by at most %.2g of itself\n", count, worst);
    assert_true(worst < 1e-6);
    free(f);
    sn_take_destroy(straight);
    sn_take_destroy(turned);
    opensim_free(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),
        cmocka_unit_test(gaps_and_coordinate_tasks),
        cmocka_unit_test(figures_that_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
