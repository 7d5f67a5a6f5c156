// SPDX-License-Identifier: MIT
// The example take is what it says: a smooth motion inside the limits, on the floor and not through
// it, that goes once head over heels; markers that are noise away from the truth; the same bits for
// the same seed.
#include "support.h"

typedef struct take {
    sn_model *model, *subject;
    sn_motion *motion;
    sn_recording *recording;
    sn_problem *problem;
    sn_workspace *ws;
    int nframe;
    double rate;
} take;

static int take_create(void **state) {
    static take t;
    assert_int_equal(sn_model_humanoid(NULL, &t.model, NULL), SN_OK);
    assert_int_equal(sn_example_motion(t.model, NULL, &t.motion, NULL), SN_OK);
    assert_int_equal(sn_example_subject(1, NULL, &t.subject, NULL), SN_OK);
    assert_int_equal(sn_example_recording(t.subject, t.motion, 1, NULL, &t.recording, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(t.subject, NULL, &t.problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(t.problem, false, NULL, &t.ws, NULL), SN_OK);
    t.nframe = sn_motion_nframe(t.motion);
    t.rate = sn_motion_rate(t.motion);
    *state = &t;
    return 0;
}

static int take_destroy(void **state) {
    take *t = *state;
    sn_workspace_destroy(t->ws);
    sn_problem_destroy(t->problem);
    sn_recording_destroy(t->recording);
    sn_motion_destroy(t->motion);
    sn_model_destroy(t->subject);
    sn_model_destroy(t->model);
    return 0;
}

static const double *pose(const take *t, int frame) {
    const double *q = sn_motion_frame(t->motion, frame);
    assert_int_equal(sn_workspace_pose(t->ws, q), SN_OK);
    return q;
}

static sn_vec3 place(const take *t, const char *joint) {
    return sn_workspace_frame(t->ws, sn_model_find_joint(t->model, joint)).p;
}

static double distance(sn_vec3 a, sn_vec3 b) {
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// Velocities and accelerations as a person has them, and no jerk that would be a corner.
static void smooth(void **state) {
    take *t = *state;
    int nv = sn_model_nv(t->model);
    double speed[64], before[64] = {0}, fastest = 0, hardest = 0, root = 0, jerk = 0,
                      last[64] = {0};
    assert_true(t->nframe > 1000 && t->rate == 120 && nv == 58);
    for (int i = 0; i + 1 < t->nframe; i++) {
        sn_model_difference(t->model, sn_motion_frame(t->motion, i),
                            sn_motion_frame(t->motion, i + 1), speed);
        for (int v = 0; v < nv; v++) {
            speed[v] *= t->rate;
            double pull = (speed[v] - before[v]) * t->rate;
            if (v >= 3) fastest = fmax(fastest, fabs(speed[v]));
            if (i > 0 && v >= 6) hardest = fmax(hardest, fabs(pull));
            if (i > 0 && v < 3) root = fmax(root, fabs(pull));
            if (i > 1 && v >= 6) jerk = fmax(jerk, fabs(pull - last[v]));
            last[v] = pull;
            before[v] = speed[v];
        }
    }
    print_message("fastest %.1f rad/s, accelerations to %.0f rad/s^2 (%.0f from one frame to the "
                  "next), root %.1f m/s^2\n",
                  fastest, hardest, jerk, root);
    assert_true(fastest < 15 && hardest < 300 && jerk < 100 && root < 20);
}

static void inside_limits(void **state) {
    take *t = *state;
    const double *lower = sn_model_lower(t->model), *upper = sn_model_upper(t->model);
    for (int i = 0; i < t->nframe; i++) {
        const double *q = sn_motion_frame(t->motion, i);
        assert_int_equal(sn_model_check_pose(t->model, q, NULL), SN_OK);
        for (int v = 6; v < 58; v++) assert_true(q[v + 1] >= lower[v] && q[v + 1] <= upper[v]);
    }
}

// Nothing goes through the floor, and what stands there stays where it is: a joint whose centre is
// within a centimetre of its lowest for a fifth of a second does not slide.
static void on_the_floor(void **state) {
    take *t = *state;
    static const struct {
        const char *joint;
        double height;  // on the floor it is at most this high
        int steps;      // times on the floor
    } feet[] = {{"left_toes", 0.013, 8},
                {"right_toes", 0.013, 9},
                {"left_hand", 0.064, 1},
                {"right_hand", 0.064, 1}};
    double lowest = 1;
    for (int i = 0; i < t->nframe; i++) {
        (void)pose(t, i);
        for (int j = 0; j < sn_model_njoint(t->model); j++)
            lowest = fmin(lowest, sn_workspace_frame(t->ws, j).p.y);
        for (int m = 0; m < sn_model_nmarker(t->model); m++) {
            const sn_marker_desc *d = sn_model_marker(t->model, m);
            lowest = fmin(lowest, sn_workspace_point(t->ws, d->joint, d->position).y);
        }
    }
    print_message("lowest point %.1f mm above the floor\n", 1e3 * lowest);
    assert_true(lowest > 0);
    for (size_t f = 0; f < sizeof feet / sizeof feet[0]; f++) {
        double worst = 0;
        int steps = 0, held = 0;
        sn_vec3 first = {0, 0, 0};
        for (int i = 0; i < t->nframe; i++) {
            (void)pose(t, i);
            sn_vec3 x = place(t, feet[f].joint);
            bool down = x.y < feet[f].height;
            held = down ? held + 1 : 0;
            if (held == 1) first = x;
            if (held == 24) steps++;
            first.y = x.y;
            if (down) worst = fmax(worst, distance(x, first));
        }
        print_message("%s: %d times on the floor, sliding at most %.1f mm\n", feet[f].joint, steps,
                      1e3 * worst);
        assert_int_equal(steps, feet[f].steps);
        assert_true(worst < 0.015);
    }
}

// It walks forward, goes over its hands once, and walks on upright.
static void what_it_does(void **state) {
    take *t = *state;
    double turned = 0, before = 0, highest_feet = 0;
    for (int i = 0; i < t->nframe; i++) {
        (void)pose(t, i);
        sn_mat3 R = sn_workspace_frame(t->ws, 0).R;
        double roll = atan2(R.c[1].z, R.c[1].y);
        if (i > 0) turned += remainder(roll - before, 2 * 3.141592653589793);
        before = roll;
        highest_feet = fmax(highest_feet, fmin(place(t, "left_foot").y, place(t, "right_foot").y));
        // always someone holds it
        double support = fmin(fmin(place(t, "left_toes").y, place(t, "right_toes").y),
                              fmin(place(t, "left_hand").y, place(t, "right_hand").y) - 0.05);
        assert_true(support < 0.03);
    }
    (void)pose(t, 0);
    sn_vec3 start = place(t, "pelvis");
    (void)pose(t, t->nframe - 1);
    sn_vec3 end = place(t, "pelvis");
    print_message("%.2f m forward, turned over by %.1f degrees, both feet up to %.2f m\n",
                  end.z - start.z, turned * 57.29577951308232, highest_feet);
    assert_true(end.z - start.z > 8 && fabs(end.y - start.y) < 0.02);
    assert_near(turned, 2 * 3.141592653589793, 1e-2);
    assert_true(highest_feet > 1.5);
}

static void markers(void **state) {
    take *t = *state;
    const sn_recording_info *info = sn_recording_about(t->recording);
    double square = 0, most = 0, moved = 0;
    int count = 0, missing = 0, longest = 0, run[64] = {0};
    assert_int_equal(info->nframe, t->nframe);
    assert_int_equal(info->nmarker, 42);
    assert_string_equal(sn_recording_label(t->recording, 41), "*41");
    for (int m = 0; m < 41; m++) {
        const double *a = sn_model_marker(t->model, m)->position;
        const double *b = sn_model_marker(t->subject, m)->position;
        assert_int_equal(sn_recording_find(t->recording, sn_model_marker(t->model, m)->name), m);
        for (int c = 0; c < 3; c++) moved = fmax(moved, fabs(a[c] - b[c]));
    }
    assert_true(moved > 0.005 && moved <= 0.008 + 1e-12);
    for (int i = 0; i < t->nframe; i++) {
        (void)pose(t, i);
        const double *x = sn_recording_frame(t->recording, i);
        for (int m = 0; m < 41; m++, x += 3) {
            const sn_marker_desc *d = sn_model_marker(t->subject, m);
            bool there = sn_recording_present(t->recording, i, m);
            run[m] = there ? 0 : run[m] + 1;
            longest = run[m] > longest ? run[m] : longest;
            missing += !there;
            if (!there) continue;
            sn_vec3 p = sn_workspace_point(t->ws, d->joint, d->position);
            const double off[3] = {x[0] - p.x, x[1] - p.y, x[2] - p.z};
            for (int c = 0; c < 3; c++) {
                square += off[c] * off[c];
                most = fmax(most, fabs(off[c]));
                count++;
            }
        }
    }
    int stray = t->nframe - sn_recording_missing(t->recording, 41);
    print_message("noise %.3f mm, at most %.1f; %.1f %% missing, the longest gap %d frames; the "
                  "stray point in %d frames\n",
                  1e3 * sqrt(square / count), 1e3 * most, 100.0 * missing / (41.0 * t->nframe),
                  longest, stray);
    assert_true(fabs(sqrt(square / count) - 0.002) < 2e-5 && most < 0.012);
    assert_true(missing > 0.01 * 41 * t->nframe && missing < 0.1 * 41 * t->nframe);
    assert_true(longest >= 60 && longest < 180);
    assert_true(stray > 0 && stray < t->nframe);
}

// FNV-1a over the numbers, those of the recording at a multiple of 2^-40 m.
static uint64_t hash(uint64_t h, double x) {
    int64_t bits = isnan(x) ? INT64_MIN : (int64_t)llround(x * 0x1p40);
    for (int i = 0; i < 8; i++) h = (h ^ ((uint64_t)bits >> (8 * i) & 255)) * 0x100000001b3u;
    return h;
}

static uint64_t hash_of(const sn_recording *recording) {
    const sn_recording_info *info = sn_recording_about(recording);
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < info->nframe; i++)
        for (int k = 0; k < 3 * info->nmarker; k++)
            h = hash(h, sn_recording_frame(recording, i)[k]);
    return h;
}

static void same_bits(void **state) {
    take *t = *state;
    sn_motion *motion;
    sn_model *subject, *other;
    sn_recording *again, *different;
    size_t bytes = (size_t)sn_model_nq(t->model) * sizeof(double);
    assert_int_equal(sn_example_motion(t->model, NULL, &motion, NULL), SN_OK);
    for (int i = 0; i < t->nframe; i++)
        assert_memory_equal(sn_motion_frame(motion, i), sn_motion_frame(t->motion, i), bytes);
    assert_int_equal(sn_example_subject(1, NULL, &subject, NULL), SN_OK);
    assert_int_equal(sn_example_recording(subject, motion, 1, NULL, &again, NULL), SN_OK);
    assert_int_equal(sn_example_subject(2, NULL, &other, NULL), SN_OK);
    assert_int_equal(sn_example_recording(other, motion, 2, NULL, &different, NULL), SN_OK);
    print_message("hash %016llx\n", (unsigned long long)hash_of(t->recording));
    assert_true(hash_of(again) == hash_of(t->recording));
    assert_true(hash_of(different) != hash_of(t->recording));
    sn_recording_destroy(again);
    sn_recording_destroy(different);
    sn_model_destroy(subject);
    sn_model_destroy(other);
    sn_motion_destroy(motion);
}

// The take that the documentation, the page and the other tests speak of stays that take: sums in which every
// coordinate of every frame has a weight of its own. They bear rounding, but no other figure, path or habit.
static void same_take(void **state) {
    take *t = *state;
    double motion = 0, figure = 0, markers = 0, points = 0;
    const sn_recording_info *info = sn_recording_about(t->recording);
    for (int i = 0; i < t->nframe; i++)
        for (int k = 0; k < sn_motion_nq(t->motion); k++)
            motion += (1 + sin(0.1 * i + k)) * sn_motion_frame(t->motion, i)[k];
    for (int j = 0; j < sn_model_njoint(t->subject); j++)
        for (int k = 0; k < 3; k++)
            figure += sin(j + 0.7 * k) * sn_model_joint(t->subject, j)->position[k];
    for (int i = 0; i < sn_model_nmarker(t->subject); i++)
        for (int k = 0; k < 3; k++)
            markers += sin(i + 0.7 * k) * sn_model_marker(t->subject, i)->position[k];
    for (int i = 0; i < info->nframe; i++)
        for (int k = 0; k < 3 * info->nmarker; k++) {
            double x = sn_recording_frame(t->recording, i)[k];
            if (!isnan(x)) points += (1 + sin(0.1 * i + k)) * x;
        }
    print_message("motion %.9f, figure %.9f, markers %.9f, points %.9f\n", motion, figure, markers,
                  points);
    assert_true(fabs(motion - 5043.608378138) < 1e-3);
    assert_near(figure, 0.171388502, 1e-8);
    assert_near(markers, 0.872539324, 1e-8);
    assert_true(fabs(points - 293456.043164553) < 1e-3);
}

static void refused(void **state) {
    take *t = *state;
    uint64_t random = 1;
    sn_model *model = random_model(&random, 3, SN_JOINT_HINGE);
    sn_motion *motion = t->motion;
    sn_recording *recording = t->recording;
    assert_int_equal(sn_example_motion(model, NULL, &motion, NULL), SN_ERR_ARGUMENT);
    assert_null(motion);
    assert_int_equal(sn_example_recording(model, t->motion, 1, NULL, &recording, NULL),
                     SN_ERR_ARGUMENT);
    assert_null(recording);
    sn_model_destroy(model);
}

// Whichever allocation fails, all is given back.
static void memory_fails(void **state) {
    take *t = *state;
    for (long n = 0;; n++) {
        test_allocator a;
        sn_model *subject = NULL;
        sn_motion *motion = NULL;
        sn_recording *recording = NULL;
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_example_subject(1, &a.base, &subject, NULL);
        if (status == SN_OK)
            status = sn_example_recording(subject, t->motion, 1, &a.base, &recording, NULL);
        if (status == SN_OK) status = sn_example_motion(t->model, &a.base, &motion, NULL);
        sn_model_destroy(subject);
        sn_motion_destroy(motion);
        sn_recording_destroy(recording);
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth),       cmocka_unit_test(inside_limits),
        cmocka_unit_test(on_the_floor), cmocka_unit_test(what_it_does),
        cmocka_unit_test(markers),      cmocka_unit_test(same_bits),
        cmocka_unit_test(refused),      cmocka_unit_test(memory_fails),
        cmocka_unit_test(same_take),
    };
    return cmocka_run_group_tests(tests, take_create, take_destroy);
}
