// SPDX-License-Identifier: MIT
// Markers that leap away and back, on ways that are known: what is found, to the frame and to the length, and what is
// no leap: a gap, a fast hand, a marker that stays where it leapt to.
#include "sinew/take.h"
#include "support.h"
#include "take/fit.h"

enum { FRAMES = 900 };

// One marker's way, and what looks at it.
typedef struct way {
    sn_model *model;
    sn_recording *recording;
    sn_fit_input in;
    int column[1];
    double rate;
} way;

static double *at(way *w, int frame) { return sn_recording_edit(w->recording, frame); }

// Along x at a constant speed, metres a second.
static void begin(way *w, double rate, int frames, double speed) {
    sn_builder *b;
    sn_joint_desc d = sn_joint_default(SN_JOINT_FREE);
    const char *label = "m";
    const sn_recording_info info = {
        .nframe = frames, .nmarker = 1, .rate = rate, .metres_per_unit = 1};
    d.name = "root";
    assert_int_equal(sn_builder_create("one", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &d);
    (void)sn_builder_marker(b, &(sn_marker_desc){.name = "m", .joint = 0, .weight = 1});
    assert_int_equal(sn_builder_finish(b, &w->model, NULL), SN_OK);
    sn_builder_destroy(b);
    assert_int_equal(sn_recording_create(&info, &label, NULL, &w->recording, NULL), SN_OK);
    w->rate = rate;
    w->column[0] = 0;
    w->in = (sn_fit_input){.model = w->model,
                           .recording = w->recording,
                           .column = w->column,
                           .axes = sn_axis_map_identity(),
                           .count = frames};
    for (int f = 0; f < frames; f++)
        memcpy(at(w, f), (double[3]){speed * f / rate, 1, 2}, 3 * sizeof(double));
}

static void end(way *w) {
    sn_recording_destroy(w->recording);
    sn_model_destroy(w->model);
}

static void hide(way *w, int first, int last) {
    for (int f = first; f <= last; f++)
        memcpy(at(w, f), (double[3]){NAN, NAN, NAN}, 3 * sizeof(double));
}

static void shift(way *w, int first, int last, double y, double z) {
    for (int f = first; f <= last; f++) at(w, f)[1] += y, at(w, f)[2] += z;
}

// Off the way of the last two samples, as far as there are any.
static void against_the_way(void **unused) {
    (void)unused;
    way w;
    double d = -1;
    begin(&w, 120, 100, 0.6);
    assert_false(sn_fit_leap_at(&w.in, 0, 0, &d));
    assert_false(sn_fit_leap_at(&w.in, 0, 1, &d));  // two before it are needed
    assert_true(sn_fit_leap_at(&w.in, 0, 2, &d));
    assert_near(d, 0, 1e-15);
    shift(&w, 50, 99, 0.3, 0.4);
    assert_true(sn_fit_leap_at(&w.in, 0, 50, &d));
    assert_near(d, 0.5, 1e-12);
    assert_true(sn_fit_leap_at(&w.in, 0, 51, &d));  // it seems to have that speed now
    assert_near(d, 0.5, 1e-12);
    assert_true(sn_fit_leap_at(&w.in, 0, 52, &d));
    assert_near(d, 0, 1e-12);
    // over a gap with the speed from before it
    hide(&w, 20, 24);
    at(&w, 25)[1] += 0.07;
    assert_false(sn_fit_leap_at(&w.in, 0, 22, &d));
    assert_true(sn_fit_leap_at(&w.in, 0, 25, &d));
    assert_near(d, 0.07, 1e-12);
    at(&w, 19)[0] +=
        0.01;  // the speed is wrong by 1 cm a frame, over six frames, and the place by 1 cm
    assert_true(sn_fit_leap_at(&w.in, 0, 25, &d));
    assert_near(d, hypot(0.07, 0.07), 1e-12);
    // a single sample before: it stands still
    hide(&w, 60, 70);
    hide(&w, 72, 73);
    assert_true(sn_fit_leap_at(&w.in, 0, 74, &d));
    assert_near(d, 3 * 0.6 / 120, 1e-12);
    // nothing is known after a tenth of a second: 13 frames
    hide(&w, 80, 91);
    assert_true(sn_fit_leap_at(&w.in, 0, 92, &d));
    hide(&w, 92, 92);
    assert_false(sn_fit_leap_at(&w.in, 0, 93, &d));
    assert_false(sn_fit_leap_at(&w.in, 0, 85, &d));
    assert_false(sn_fit_leap_at(&w.in, 0, 100, &d));
    end(&w);
}

// Three centimetres, or four times what a marker usually does.
static void least(void **unused) {
    (void)unused;
    way w;
    begin(&w, 120, FRAMES, 0.6);
    assert_true(sn_fit_leap_least(&w.in, 0) == 0.03);
    // every sample is off by turns: 1 cm of second difference each
    for (int f = 0; f < FRAMES; f++) at(&w, f)[1] += f % 2 == 0 ? 0.0025 : -0.0025;
    assert_near(sn_fit_leap_least(&w.in, 0), 0.04, 1e-6);
    hide(&w, 0, FRAMES - 1);
    assert_true(sn_fit_leap_least(&w.in, 0) == 0.03);
    end(&w);
    // of a long take every third sample: what the first two thirds do not show is seen
    begin(&w, 120, 3000, 0.6);
    for (int f = 1200; f < 3000; f++) at(&w, f)[1] += f % 2 == 0 ? 0.0025 : -0.0025;
    assert_near(sn_fit_leap_least(&w.in, 0), 0.04, 1e-6);
    end(&w);
}

static int leaps_of(way *w, sn_fit_leap *out) {
    sn_fit_leap *all = malloc((size_t)w->in.count * sizeof *all);
    int n = sn_fit_find_leaps(&w->in, 0, all);
    memcpy(out, all, (size_t)(n < 8 ? n : 8) * sizeof *all);
    free(all);
    return n;
}

// Away for `frames` frames by `far` metres, seen or not in some of them; how many leaps are found.
static int away_for(double rate, int frames, double far, double back, int hidden,
                    sn_fit_leap *out) {
    way w;
    begin(&w, rate, FRAMES, 0.6);
    shift(&w, 100, 100 + frames - 1, 0, far);
    shift(&w, 100 + frames, FRAMES - 1, 0, far - back);
    hide(&w, 100 + frames - hidden, 100 + frames - 1);
    int n = leaps_of(&w, out);
    end(&w);
    return n;
}

static void away_and_back(void **unused) {
    (void)unused;
    sn_fit_leap l[8];
    // thrown samples, and stretches; the size of what they leapt by
    static const int lengths[] = {1, 2, 3, 4, 5, 6, 30, 300};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(away_for(120, lengths[i], 0.2, 0.2, 0, l), 1);
        assert_int_equal(l[0].first, 100);
        assert_int_equal(l[0].last, 100 + lengths[i] - 1);
        assert_near(l[0].size, 0.2, 1e-9);
    }
    // two and a half seconds later it is not remembered
    assert_int_equal(away_for(120, 302, 0.2, 0.2, 0, l), 1);
    assert_int_equal(away_for(120, 303, 0.2, 0.2, 0, l), 0);
    assert_int_equal(away_for(60, 152, 0.2, 0.2, 0, l), 1);
    assert_int_equal(away_for(60, 153, 0.2, 0.2, 0, l), 0);
    // 3 cm at least, beyond what its speed explains: 0.6 m/s over 1/120 s, by 1 / (0.03 120)
    const double explained = 0.6 / 120 / (0.03 * 120);
    assert_int_equal(away_for(120, 1, 0.0301 + explained, 0.0301 + explained, 0, l), 1);
    assert_int_equal(away_for(120, 1, 0.0299 + explained, 0.0299 + explained, 0, l), 0);
    assert_int_equal(away_for(120, 40, 0.0301 + explained, 0.0301 + explained, 0, l), 1);
    assert_int_equal(away_for(120, 40, 0.0299 + explained, 0.0299 + explained, 0, l), 0);
    // back by about as much: half of the way that leads back may be left
    assert_int_equal(away_for(120, 40, 0.2, 0.135, 0, l), 1);
    assert_int_equal(away_for(120, 40, 0.2, 0.13, 0, l), 0);
    assert_int_equal(away_for(120, 40, 0.2, 0.39, 0, l), 1);
    assert_int_equal(away_for(120, 40, 0.2, 0.41, 0, l), 0);
    // it stays where it leapt to
    assert_int_equal(away_for(120, 40, 0.2, 0, 0, l), 0);
    // a gap before it is back: more may have happened in it, by the square of its frames
    assert_int_equal(away_for(120, 40, 0.2, 0.2, 3, l), 1);
    assert_true(l[0].first == 100 && l[0].last == 139);
    assert_int_equal(away_for(120, 40, 0.11, 0.11, 3, l), 0);
    // after a tenth of a second nothing is known
    assert_int_equal(away_for(120, 40, 2, 2, 12, l), 1);
    assert_int_equal(away_for(120, 40, 2, 2, 13, l), 0);
}

// A hand that sets off fast, at few frames a second, is where it was going: its speed behind explains it.
static void fast_hands(void **unused) {
    (void)unused;
    sn_fit_leap l[8];
    for (int still = 0; still < 2; still++) {
        way w;
        begin(&w, 25, FRAMES, 0);
        // a push of 40 cm a frame for six frames, then back; or there at once, and still until it is back
        for (int f = 0; f < FRAMES; f++) {
            int k = f - 100, n = k < 0 ? 0 : k < 6 ? k : k < 12 ? 12 - k : 0;
            at(&w, f)[0] = 0.4 * (still ? (n > 0 ? 3 : 0) : n);
        }
        assert_int_equal(leaps_of(&w, l) > 0, still);
        end(&w);
    }
}

// Several leaps of one marker, one inside the other; and what is marked of them.
static void marked(void **unused) {
    (void)unused;
    way w;
    sn_fit_leap l[8];
    unsigned char *dropped = malloc(FRAMES);
    begin(&w, 120, FRAMES, 0.6);
    shift(&w, 100, 199, 0.3, 0);
    shift(&w, 130, 149, 0, 0.2);
    shift(&w, 400, 401, 0, 0.5);
    assert_int_equal(leaps_of(&w, l), 3);
    assert_true(l[0].first == 130 && l[0].last == 149 && fabs(l[0].size - 0.2) < 1e-9);
    assert_true(l[1].first == 100 && l[1].last == 199 && fabs(l[1].size - 0.3) < 1e-9);
    assert_true(l[2].first == 400 && l[2].last == 401 && fabs(l[2].size - 0.5) < 1e-9);
    assert_int_equal(sn_fit_drop_leaps(&w.in, NULL, dropped), SN_OK);
    for (int f = 0; f < FRAMES; f++)
        assert_int_equal(dropped[f], (f >= 100 && f < 200) || f == 400 || f == 401);
    // of a marker that is away for more than seven tenths of what is seen nothing is left out
    hide(&w, 250, FRAMES - 1);
    hide(&w, 0, 100 - 42);
    assert_int_equal(sn_fit_drop_leaps(&w.in, NULL, dropped), SN_OK);
    assert_int_equal(dropped[150], 1);  // 100 of 191
    hide(&w, 208, 249);
    for (int first = 64; first < 66; first++) {
        hide(&w, 59, first);
        assert_int_equal(sn_fit_drop_leaps(&w.in, NULL, dropped), SN_OK);
        assert_int_equal(dropped[150], first == 64);  // 100 of 143, of 142
    }
    end(&w);
    free(dropped);
}

// A marker that flickers for a second: every third sample, or every second one, is thrown. That is no noise.
static void flicker(void **unused) {
    (void)unused;
    unsigned char *dropped = malloc(FRAMES);
    for (int every = 2; every <= 6; every++) {
        way w;
        begin(&w, 120, FRAMES, 0.6);
        for (int f = 300; f < 420; f += every) shift(&w, f, f, 0.15, -0.2);
        assert_int_equal(sn_fit_drop_leaps(&w.in, NULL, dropped), SN_OK);
        for (int f = 0; f < FRAMES; f++)
            assert_int_equal(dropped[f], f >= 300 && f < 420 && (f - 300) % every == 0);
        end(&w);
    }
    free(dropped);
}

// Five markers of a hand that is flung about: 8 m/s, back and forth every 0.15 s. One is 5 cm elsewhere for a while.
typedef struct hand {
    sn_model *model;
    sn_recording *recording;
    sn_fit_input in;
    int column[5];
} hand;

static void begin_hand(hand *h, int markers) {
    static const char *const labels[] = {"a", "b", "c", "d", "e"};
    static const double place[5][3] = {
        {0.05, 0, 0}, {-0.05, 0, 0}, {0, 0.06, 0}, {0, 0, 0.04}, {0.03, 0.1, 0}};
    sn_builder *b;
    sn_joint_desc d = sn_joint_default(SN_JOINT_FREE);
    const sn_recording_info info = {
        .nframe = 300, .nmarker = markers, .rate = 120, .metres_per_unit = 1};
    d.name = "root";
    assert_int_equal(sn_builder_create("hand", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &d);
    for (int i = 0; i < markers; i++)
        (void)sn_builder_marker(b, &(sn_marker_desc){.name = labels[i], .joint = 0, .weight = 1});
    assert_int_equal(sn_builder_finish(b, &h->model, NULL), SN_OK);
    sn_builder_destroy(b);
    assert_int_equal(sn_recording_create(&info, labels, NULL, &h->recording, NULL), SN_OK);
    for (int i = 0; i < markers; i++) h->column[i] = i;
    h->in = (sn_fit_input){.model = h->model,
                           .recording = h->recording,
                           .column = h->column,
                           .axes = sn_axis_map_identity(),
                           .count = 300};
    for (int f = 0; f < 300; f++) {
        double phase = 2 * 3.14159265358979 * f / 120 / 0.3,
               *x = sn_recording_edit(h->recording, f);
        for (int i = 0; i < markers; i++) {
            // it turns as it goes
            double c = cos(0.4 * sin(phase)), s = sin(0.4 * sin(phase)), far = 8 * 0.3 / 6.2831853;
            x[3 * i] = far * sin(phase) + c * place[i][0] - s * place[i][1];
            x[3 * i + 1] = s * place[i][0] + c * place[i][1];
            x[3 * i + 2] = place[i][2];
            if (i == 0 && f >= 108 && f < 216) x[0] += 0.03, x[1] -= 0.032, x[2] += 0.024;
        }
    }
}

// By itself such a marker does as much anyway; to the others it leaps. Those do not, though one of them has leapt.
static void flung_hand(void **unused) {
    (void)unused;
    for (int markers = 1; markers <= 5; markers++) {
        sn_fit_leap found[300];
        hand h;
        begin_hand(&h, markers);
        for (int i = 0; i < markers; i++) {
            int n = sn_fit_find_leaps(&h.in, i, found);
            assert_int_equal(n, i == 0 && markers > 3);
            if (n == 0) continue;
            assert_true(found[0].first == 108 && found[0].last == 215);
            assert_near(found[0].size, 0.05, 0.01);
        }
        sn_recording_destroy(h.recording);
        sn_model_destroy(h.model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_the_way), cmocka_unit_test(least),
        cmocka_unit_test(away_and_back),   cmocka_unit_test(fast_hands),
        cmocka_unit_test(marked),          cmocka_unit_test(flung_hand),
        cmocka_unit_test(flicker),
    };
    only_asked();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
