// SPDX-License-Identifier: MIT
// Takes: cut in any way and on any number of threads the same bits, findings and their sentences, subjects,
// memory that runs out at every place, misuse.
#include "takes.h"

#include "take/take.h"

enum { FRAMES = 100 };

typedef struct given {
    example_take example;
    sn_recording *some;  // FRAMES of them
} given;

// Two boxes on a hinge, five markers, six frames: every step and no more than a few hundred allocations.
static const char hinged[] =
    "{\"joints\": [{\"name\": \"box\", \"type\": \"free\"}, {\"name\": \"lid\", \"parent\": "
    "\"box\", "
    "\"type\": \"hinge\", \"axis\": [0,0,1], \"position\": [0,0.5,0]}], \"markers\": ["
    "{\"name\": \"A\", \"joint\": \"box\", \"position\": [0.3,0,0]},"
    "{\"name\": \"B\", \"joint\": \"box\", \"position\": [0,0.1,0.2]},"
    "{\"name\": \"C\", \"joint\": \"box\", \"position\": [-0.2,0,0.1]},"
    "{\"name\": \"D\", \"joint\": \"lid\", \"position\": [0.2,0.3,0]},"
    "{\"name\": \"E\", \"joint\": \"lid\", \"position\": [-0.1,0.4,0.1]}]}";

enum { BOX_FRAMES = 6 };

static sn_model *box;
static sn_recording *boxed;

static void make_box(void) {
    static const char *const labels[] = {"Ann:A", "Ann:B", "Ann:C", "Ann:D",
                                         "Ann:E", "*7",    "Bob:A"};
    assert_int_equal(sn_model_read_json(hinged, strlen(hinged), NULL, &box, NULL), SN_OK);
    sn_recording_info info = {.nframe = BOX_FRAMES, .nmarker = 7, .first_frame = 1, .rate = 100};
    assert_int_equal(sn_recording_create(&info, labels, NULL, &boxed, NULL), SN_OK);
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(box, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int f = 0; f < info.nframe; f++) {
        double q[8] = {0.01 * f, 1, 0, 1, 0, 0, 0, 0.1 * f};
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int i = 0; i < 5; i++) {
            const sn_marker_desc *m = sn_model_marker(box, i);
            sn_vec3 p = sn_workspace_point(ws, m->joint, m->position);
            memcpy(sn_recording_edit(boxed, f) + 3 * i, (double[]){p.x, p.y, p.z},
                   3 * sizeof(double));
        }
        // Bob is elsewhere
        memcpy(sn_recording_edit(boxed, f) + 18, (double[]){5, 5, 5}, 3 * sizeof(double));
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
}

// Under a sanitizer a figure's take is long: there the small one is enough.
static bool quick_build;

#define WHOLE_ONLY()                                                                               \
    if (!quick_build) {                                                                            \
        print_message("left to the quick build\n");                                                \
        return;                                                                                    \
    }

static int begin(void **state) {
    quick_build = cases(10) >= 10;
    static given g;
    example_take_create(&g.example, 1);
    g.some = recording_cut(g.example.recording, 0, FRAMES);
    make_box();
    *state = &g;
    return 0;
}

static int end(void **state) {
    given *g = *state;
    sn_recording_destroy(boxed);
    sn_model_destroy(box);
    sn_recording_destroy(g->some);
    example_take_destroy(&g->example);
    return 0;
}

static sn_take *take_of(const sn_model *model, const sn_recording *recording,
                        const sn_take_options *o) {
    sn_take *take;
    sn_error error = {0};
    if (sn_take_create(model, recording, o, NULL, &take, &error) != SN_OK)
        fail_msg("%s", error.text);
    return take;
}

// The sentence of the last finding of a code, or "" without one.
static const char *sentence_of(const sn_take *take, sn_finding_code code, sn_voice voice) {
    static char text[2000];
    text[0] = '\0';
    for (int i = 0; i < sn_take_nfinding(take); i++)
        if (sn_take_finding(take, i)->code == code) {
            size_t n = sn_take_sentence(take, i, voice, text, sizeof text);
            assert_int_equal(n, strlen(text));
        }
    return text;
}

static void good(const sn_take *take, sn_status status) {
    if (status == SN_OK) return;
    char text[2000] = "";
    (void)sn_take_sentence(take, sn_take_nfinding(take) - 1, SN_VOICE_PLAIN, text, sizeof text);
    fail_msg("%s: %s", sn_status_text(status), text);
}

static void same_motion(const sn_motion *a, const sn_motion *b, const char *what) {
    assert_int_equal(sn_motion_nframe(a), sn_motion_nframe(b));
    assert_int_equal(sn_motion_nq(a), sn_motion_nq(b));
    for (int f = 0; f < sn_motion_nframe(a); f++)
        if (memcmp(sn_motion_frame(a, f), sn_motion_frame(b, f),
                   (size_t)sn_motion_nq(a) * sizeof(double)) != 0)
            fail_msg("%s: frame %d has other bits", what, f);
}

// However the frames are cut and however many threads there are. Chunks are short, so that cuts lie
// inside of them, at their ends, and across several.
static void tracked_in_pieces(void **state) {
    given *g = *state;
    WHOLE_ONLY();
    static const int cuts[][4] = {
        {-1}, {1, 1, 1, -1}, {32, 32, 32, 32}, {20, 20, 60, -1}, {77, 3, 19, -1}};
    const sn_model *model = g->example.subject;
    int column[64], nq = sn_model_nq(model);
    sn_motion *all, *other;
    (void)sn_fit_match(model, g->some, NULL, column);
    sn_fit_input in = {.model = model,
                       .recording = g->some,
                       .column = column,
                       .axes = sn_axis_map_identity(),
                       .count = FRAMES};
    for (int i = 0; i < 2; i++)
        assert_int_equal(sn_motion_create(FRAMES, nq, 1, 120, NULL, i ? &other : &all, NULL),
                         SN_OK);
    sn_fit_frame frames[FRAMES];
    sn_fit_marker markers[64];
    sn_fit_summary first, summary;
    sn_fit_options o = sn_fit_options_default();
    o.track.chunk = 20;
    assert_int_equal(sn_fit_run(&in, &o, NULL, all, frames, markers, &first, NULL), SN_OK);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
        for (int threads = 1; threads <= 4; threads += 3) {
            sn_fitting fitting;
            char what[60];
            (void)snprintf(what, sizeof what, "cut %zu, %d threads", i, threads);
            o.track.threads = threads;
            assert_int_equal(sn_fitting_begin(&fitting, &in, &o, NULL, other, NULL), SN_OK);
            for (int k = 0; fitting.solved < FRAMES; k++) {
                int before = fitting.solved, count = cuts[i][k % 4];
                assert_int_equal(sn_fitting_advance(&fitting, count), SN_OK);
                int left = FRAMES - before;
                assert_int_equal(fitting.solved,
                                 before + (count < 0 || count > left ? left : count));
            }
            assert_int_equal(sn_fitting_finish(&fitting, frames, markers, &summary), SN_OK);
            sn_fitting_end(&fitting);
            same_motion(all, other, what);
            assert_memory_equal(&first, &summary, sizeof first);
        }
    sn_motion_destroy(all);
    sn_motion_destroy(other);
}

static void taken_in_pieces(void **state) {
    given *g = *state;
    WHOLE_ONLY();
    sn_take_options o = sn_take_options_default();
    o.calibrate = SN_CALIBRATE_SCALE;
    o.calibrate_frames = 12;
    sn_take *whole = take_of(g->example.model, g->some, &o);
    good(whole, sn_take_prepare(whole));
    // finish alone solves all
    good(whole, sn_take_finish(whole));
    assert_int_equal(sn_take_solved(whole), FRAMES);
    print_message("%d frames, %.3f mm\n", FRAMES, 1e3 * sn_take_about(whole)->fit.rms);
    assert_true(sn_take_about(whole)->fit.rms < 0.0035);
    o.threads = 3;
    sn_take *cut = take_of(g->example.model, g->some, &o);
    good(cut, sn_take_prepare(cut));
    assert_non_null(sn_take_motion(cut));
    for (int n = 0; sn_take_solved(cut) < FRAMES; n++) {
        assert_int_equal(sn_take_solved(cut), n * 32);
        good(cut, sn_take_solve(cut, 32));
    }
    good(cut, sn_take_finish(cut));
    same_motion(sn_take_motion(whole), sn_take_motion(cut), "cut");
    assert_memory_equal(&sn_take_about(whole)->fit, &sn_take_about(cut)->fit,
                        sizeof(sn_fit_summary));
    sn_take_destroy(cut);
    sn_take_destroy(whole);
}

// --- findings ----------------------------------------------------------------------------------------

// A take that fails in prepare with this finding; its sentence has this part.
static void refused(const sn_model *model, const sn_recording *recording, const sn_take_options *o,
                    sn_finding_code code, const char *part) {
    sn_take *take = take_of(model, recording, o);
    sn_status status = sn_take_prepare(take);
    assert_true(status == SN_ERR_VALUE || status == SN_ERR_MODEL);
    const sn_finding *last = sn_take_finding(take, sn_take_nfinding(take) - 1);
    assert_non_null(last);
    assert_int_equal(last->code, code);
    assert_int_equal(last->severity, SN_SEVERITY_ERROR);
    if (strstr(sentence_of(take, code, SN_VOICE_PLAIN), part) == NULL)
        fail_msg("%s, not: %s", sentence_of(take, code, SN_VOICE_PLAIN), part);
    // it stays failed and shows nothing half done
    assert_int_equal(sn_take_solve(take, 1), status);
    assert_int_equal(sn_take_finish(take), status);
    assert_int_equal(sn_take_prepare(take), status);
    assert_true(sn_take_motion(take) == NULL && sn_take_model(take) == NULL &&
                sn_take_frames(take) == NULL && sn_take_column(take, 0) == -1);
    sn_take_destroy(take);
}

static void refusals(void **state) {
    given *g = *state;
    const sn_model *model = g->example.subject;
    sn_take_options o = sn_take_options_default();
    o.subject = "Eve";
    refused(model, g->some, &o, SN_FINDING_SUBJECT_UNKNOWN,
            "no label belongs to the subject \"Eve\"");
    o = sn_take_options_default();
    o.first_frame = 3, o.last_frame = 1000;
    refused(model, g->some, &o, SN_FINDING_FRAMES_OUTSIDE,
            "frames 3 to 1000 were asked for, but the file's frames are 1 to 100");
    o.first_frame = INT64_MAX, o.last_frame = INT64_MIN + 1;
    refused(model, g->some, &o, SN_FINDING_FRAMES_OUTSIDE, "the file's frames are 1 to 100");
    o = sn_take_options_default();
    o.calibrate = SN_CALIBRATE_SCALE;
    o.still_first = 101;
    refused(model, g->some, &o, SN_FINDING_STATIC_UNFIT, "whose frames are 1 to 100");
    sn_marker_place place = {.name = "LFHD", .joint = "haed", .weight = 1};
    sn_marker_set *set;
    assert_int_equal(sn_marker_set_create("lost", &place, 1, NULL, &set, NULL), SN_OK);
    o = sn_take_options_default();
    o.markers = set;
    refused(model, g->some, &o, SN_FINDING_JOINT_UNKNOWN, "did you mean \"head\"?");
    sn_marker_set_destroy(set);
    (void)snprintf(place.joint, sizeof place.joint, "head");
    assert_int_equal(sn_marker_set_create("one", &place, 1, NULL, &set, NULL), SN_OK);
    o.markers = set;
    refused(model, g->some, &o, SN_FINDING_MARKERS_FEW,
            "only 1 of the set's 1 markers are in this");
    sn_marker_set_destroy(set);
    // lengths that nothing would come of
    for (int what = 0; what < 2; what++) {
        const sn_known_length shin = {"left_shin", 0.4};
        sn_take *none = NULL;
        sn_error error = {0};
        o = sn_take_options_default();
        o.calibrate = what == 0 ? SN_CALIBRATE_OFFSETS : SN_CALIBRATE_NONE;
        o.height = what == 0 ? 1.8 : 0;
        o.lengths = &shin, o.nlength = what;
        assert_int_equal(sn_take_create(model, g->some, &o, NULL, &none, &error), SN_ERR_ARGUMENT);
        assert_non_null(strstr(error.text, "only SN_CALIBRATE_SCALE changes"));
        assert_null(none);
    }
    sn_recording *r = recording_cut(g->some, 0, 0);
    refused(model, r, NULL, SN_FINDING_FRAMES_NONE, "the recording has no frames");
    sn_recording_destroy(r);
    r = recording_cut(g->some, 0, 20);
    uint64_t random = 1;
    spoil_gaps(r, 1, &random);
    refused(model, r, NULL, SN_FINDING_FRAMES_EMPTY,
            "no frame from 1 to 20 has three markers with data");
    sn_recording_destroy(r);
}

// A take's findings are its own: a mirrored body, another unit, and nothing about a good one.
static void findings(void **state) {
    given *g = *state;
    WHOLE_ONLY();
    sn_take_options o = sn_take_options_default();
    o.calibrate = SN_CALIBRATE_OFFSETS;
    o.calibrate_frames = 10;
    sn_axis_map mirror = sn_axis_map_identity();
    mirror.sign[0] = -1;
    sn_recording *r = recording_turned(g->some, &mirror, sn_recording_about(g->some));
    sn_take *take = take_of(g->example.model, r, &o);
    good(take, sn_take_prepare(take));
    const char *says = sentence_of(take, SN_FINDING_MIRRORED, SN_VOICE_COMMAND);
    assert_true(strstr(says, "look mirrored") != NULL && strstr(says, "--axes") != NULL);
    says = sentence_of(take, SN_FINDING_MIRRORED, SN_VOICE_PLAIN);
    assert_true(strstr(says, "look mirrored") != NULL && strstr(says, "--") == NULL);
    assert_int_equal(sn_take_verdict(take), SN_VERDICT_BAD);
    sn_take_destroy(take);
    sn_recording_destroy(r);
    // what the recording cannot be in
    sn_recording_info info = *sn_recording_about(g->some);
    mirror = sn_axis_map_identity();
    mirror.scale = 10;
    r = recording_turned(g->some, &mirror, &info);
    refused(g->example.subject, r, NULL, SN_FINDING_UNIT_IMPOSSIBLE,
            "times as large as the skeleton");
    o = sn_take_options_default();
    o.unit = 1;
    take = take_of(g->example.subject, r, &o);
    good(take, sn_take_prepare(take));
    assert_true(sentence_of(take, SN_FINDING_UNIT_DOUBTFUL, SN_VOICE_PLAIN)[0] != '\0');
    sn_take_destroy(take);
    sn_recording_destroy(r);
    o = sn_take_options_default();
    o.max_error = 5;
    take = take_of(g->example.subject, g->some, &o);
    good(take, sn_take_prepare(take));
    good(take, sn_take_finish(take));
    for (int i = 0; i < sn_take_nfinding(take); i++) {
        const sn_finding *f = sn_take_finding(take, i);
        assert_int_equal(f->severity, SN_SEVERITY_NOTE);
        assert_true(f->code == SN_FINDING_MAX_ERROR_LARGE || f->code == SN_FINDING_POINTS_UNNAMED ||
                    f->code == SN_FINDING_UP_ASSUMED);
        assert_false(sn_finding_doubts(f));
    }
    assert_int_equal(sn_take_verdict(take), SN_VERDICT_GOOD);
    // short of room, and none
    char text[10];
    size_t n = sn_take_sentence(take, 0, SN_VOICE_PLAIN, text, sizeof text);
    assert_true(n > sizeof text && strlen(text) == sizeof text - 1);
    assert_int_equal(sn_take_sentence(take, 0, SN_VOICE_PLAIN, NULL, 0), n);
    assert_int_equal(sn_take_sentence(take, -1, SN_VOICE_PLAIN, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(sn_take_sentence(take, 99, SN_VOICE_PLAIN, text, sizeof text), 0);
    assert_null(sn_take_finding(take, -1));
    assert_null(sn_take_finding(take, sn_take_nfinding(take)));
    sn_take_destroy(take);
}

// Every code has a name, a severity and as many names of numbers as it has numbers.
static void codes(void **unused) {
    (void)unused;
    static const char *const words[] = {"good", "look at it", "do not use it"};
    for (int i = 0; i < 3; i++) assert_string_equal(sn_verdict_name((sn_verdict)i), words[i]);
    // warnings speak against a motion, but for those about files beside it
    for (int i = 0; i < SN_FINDING_COUNT; i++) {
        const sn_finding warning = {.code = (sn_finding_code)i, .severity = SN_SEVERITY_WARNING};
        assert_true(sn_finding_doubts(&warning) ==
                    (i != SN_FINDING_SETUP_IGNORED && i != SN_FINDING_TRUTH_RATE));
    }
    for (int i = 0; i < SN_FINDING_COUNT; i++) {
        char name[16];
        assert_true(strlen(sn_finding_name((sn_finding_code)i)) > 3);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(sn_finding_name((sn_finding_code)i),
                                    sn_finding_name((sn_finding_code)k));
        sn_finding_number_name((sn_finding_code)i, SN_FINDING_NUMBERS, name);
        assert_string_equal(name, "");
    }
    char name[16];
    sn_finding_number_name(SN_FINDING_FAR_FROM_BONES, 1, name);
    assert_string_equal(name, "worst");
    sn_finding_number_name((sn_finding_code)-1, 0, name);
    assert_string_equal(name, "");
    assert_string_equal(sn_finding_name(SN_FINDING_COUNT), "unknown");
    assert_string_equal(sn_severity_name(SN_SEVERITY_WARNING), "warning");
}

// --- subjects ----------------------------------------------------------------------------------------

// Two people in one file are two takes; whatever sign parts their names from the markers'.
static void subjects(void **state) {
    given *g = *state;
    WHOLE_ONLY();
    static const char *const forms[] = {"%s:%s", "%s_%s"};
    sn_recording_info info = *sn_recording_about(g->some);
    int n = info.nmarker;
    sn_take *alone = take_of(g->example.subject, g->some, NULL);
    good(alone, sn_take_prepare(alone));
    good(alone, sn_take_finish(alone));
    info.nmarker = 2 * n;
    for (int form = 0; form < 2; form++) {
        char(*text)[80] = malloc(2 * (size_t)n * sizeof *text);
        const char **labels = malloc(2 * (size_t)n * sizeof *labels);
        assert_true(text != NULL && labels != NULL);
        for (int i = 0; i < 2 * n; i++) {
            (void)snprintf(text[i], sizeof text[0], forms[form], i < n ? "Ann" : "Bob",
                           sn_label_name(sn_recording_label(g->some, i % n)));
            labels[i] = text[i];
        }
        sn_recording *two;
        assert_int_equal(sn_recording_create(&info, labels, NULL, &two, NULL), SN_OK);
        for (int f = 0; f < info.nframe; f++)
            for (int i = 0; i < 6 * n; i++)
                // Ann goes the other way round in time
                sn_recording_edit(two, f)[i] =
                    sn_recording_frame(g->some, i < 3 * n ? info.nframe - 1 - f : f)[i % (3 * n)];
        sn_subject who[3];
        int count;
        assert_int_equal(sn_take_subjects(g->example.subject, two, NULL, who, 3, &count, NULL),
                         SN_OK);
        assert_int_equal(count, 2);
        assert_true(who[0].length == 3 && memcmp(who[0].name, "Ann", 3) == 0 &&
                    who[0].nmarker == n);
        assert_true(who[1].length == 3 && memcmp(who[1].name, "Bob", 3) == 0 &&
                    who[1].nmarker == n);
        assert_int_equal(sn_take_subjects(g->example.subject, two, NULL, who, 1, &count, NULL),
                         SN_OK);
        assert_int_equal(count, 2);
        refused(g->example.subject, two, NULL, SN_FINDING_SUBJECTS_SEVERAL, "choose one");
        sn_take_options o = sn_take_options_default();
        o.subject = "Eve";
        refused(g->example.subject, two, &o, SN_FINDING_SUBJECT_UNKNOWN, "here are: Ann, Bob");
        o.subject = "Bob";
        sn_take *bob = take_of(g->example.subject, two, &o);
        good(bob, sn_take_prepare(bob));
        good(bob, sn_take_finish(bob));
        same_motion(sn_take_motion(alone), sn_take_motion(bob), "Bob");
        // his measured markers are those that are compared with
        const sn_samples his = sn_take_samples(bob);
        assert_int_equal(his.nmarker, n);
        assert_int_equal(his.nframe, sn_recording_about(g->some)->nframe);
        int m = 0, from = sn_recording_find(g->some, "LFHD");
        double at[3], none[3];
        while (m < n && strcmp(sn_label_name(his.label(his.user, m)), "LFHD") != 0) m++;
        assert_true(his.sample(his.user, 7, m, at));
        assert_memory_equal(at, sn_recording_frame(g->some, 7) + 3 * from, sizeof at);
        assert_false(his.sample(his.user, -1, m, none) ||
                     his.sample(his.user, his.nframe, m, none));
        assert_false(his.sample(his.user, 7, -1, none) || his.sample(his.user, 7, n, none));
        assert_int_equal(sn_take_samples(NULL).nmarker, 0);
        sn_take_destroy(bob);
        sn_recording_destroy(two);
        free(text);
        free(labels);
    }
    sn_take_destroy(alone);
}

// --- progress, cancelling, order, memory ---------------------------------------------------------------

typedef struct watch {
    int stages[3];
    double last[3];
    int done;
    volatile bool stop;
    int stop_at;  // frames; -1: while calibrating; -2: never
} watch;

static void watched(void *user, const sn_take_progress *p) {
    watch *w = user;
    assert_true((unsigned)p->stage < 3 && p->fraction >= w->last[p->stage] && p->fraction <= 1);
    w->stages[p->stage]++;
    w->last[p->stage] = p->fraction;
    if (p->stage == SN_STAGE_SOLVE) {
        assert_int_equal(p->total, BOX_FRAMES);
        w->done = p->done;
    }
    if (p->stage == SN_STAGE_CALIBRATE && w->stop_at == -1) w->stop = true;
    if (p->stage == SN_STAGE_SOLVE && w->stop_at >= 0 && p->done >= w->stop_at) w->stop = true;
}

static bool asked(void *user) { return ((const watch *)user)->stop; }

static void progress(void **unused) {
    (void)unused;
    sn_take_options o = sn_take_options_default();
    static const int stops[] = {-2, -1, 3};
    o.calibrate = SN_CALIBRATE_OFFSETS;
    o.calibrate_frames = 2;
    o.subject = "Ann";
    for (int i = 0; i < 3; i++) {
        watch w = {.stop_at = stops[i]};
        o.progress = watched;
        o.progress_user = &w;
        o.cancel = (sn_cancel){asked, &w};
        sn_take *take = take_of(box, boxed, &o);
        sn_status status = sn_take_prepare(take);
        if (status == SN_OK) status = sn_take_solve(take, -1);
        if (status == SN_OK) status = sn_take_finish(take);
        assert_int_equal(status, stops[i] == -2 ? SN_OK : SN_ERR_CANCELLED);
        assert_true((sn_take_frames(take) != NULL) == (status == SN_OK));
        if (status == SN_OK) {
            for (int k = 0; k < 3; k++) assert_true(w.stages[k] > 1 && w.last[k] == 1);
            assert_int_equal(w.done, BOX_FRAMES);
        } else {
            assert_int_equal(w.stages[SN_STAGE_FINISH], 0);
            assert_int_equal(sn_take_finish(take), SN_ERR_CANCELLED);
        }
        sn_take_destroy(take);
    }
}

typedef struct moves {
    int solving, finishing;  // tellings in the midst of both
} moves;

static void count_moves(void *user, const sn_take_progress *p) {
    moves *m = user;
    m->solving += p->stage == SN_STAGE_SOLVE && p->done > 0 && p->done < p->total;
    m->finishing += p->stage == SN_STAGE_FINISH && p->fraction > 0 && p->fraction < 1;
}

// What is told moves on while frames are followed, and while all of them are looked at once more.
static void progress_moves(void **state) {
    given *g = *state;
    WHOLE_ONLY();
    moves m = {0};
    sn_take_options o = sn_take_options_default();
    o.progress = count_moves;
    o.progress_user = &m;
    sn_take *take = take_of(g->example.subject, g->some, &o);
    good(take, sn_take_prepare(take));
    good(take, sn_take_finish(take));
    assert_true(m.solving > 0);
    assert_true(m.finishing > 3);
    sn_take_destroy(take);
}

// Every code has a sentence, in every voice.
static void sentences(void **state) {
    given *g = *state;
    sn_take *take = take_of(g->example.subject, g->some, NULL);
    good(take, sn_take_prepare(take));
    for (int i = 0; i < SN_FINDING_COUNT; i++) {
        int at = sn_take_nfinding(take);
        sn_finding *f = sn_take_add(take, (sn_finding_code)i, "x");
        assert_non_null(f);
        f->marker = f->joint = 0;
        f->other = 1;
        for (int voice = SN_VOICE_PLAIN; voice <= SN_VOICE_PAGE; voice++) {
            char sentence[1000];
            if (sn_take_sentence(take, at, (sn_voice)voice, sentence, sizeof sentence) < 1)
                fail_msg("%s says nothing", sn_finding_name((sn_finding_code)i));
        }
    }
    sn_take_destroy(take);
}

// Steps out of turn change nothing.
static void order(void **state) {
    given *g = *state;
    WHOLE_ONLY();
    sn_take *take = take_of(g->example.subject, g->some, NULL);
    sn_take_truth truth;
    assert_int_equal(sn_take_solve(take, 1), SN_ERR_ARGUMENT);
    assert_int_equal(sn_take_finish(take), SN_ERR_ARGUMENT);
    assert_int_equal(sn_take_compare(take, NULL, g->example.truth, &truth), SN_ERR_ARGUMENT);
    good(take, sn_take_prepare(take));
    assert_int_equal(sn_take_prepare(take), SN_ERR_ARGUMENT);
    good(take, sn_take_solve(take, 0));
    assert_int_equal(sn_take_solved(take), 0);
    good(take, sn_take_finish(take));
    assert_int_equal(sn_take_finish(take), SN_ERR_ARGUMENT);
    assert_int_equal(sn_take_solve(take, 1), SN_ERR_ARGUMENT);
    // and with the motion that is known
    assert_int_equal(sn_take_compare(take, g->example.subject, g->example.truth, &truth), SN_OK);
    print_message("%.2f degrees off the truth (median), %d of %d joints\n", truth.median,
                  truth.joints, truth.movable);
    assert_true(truth.median > 0 && truth.median < 3 && truth.rms >= truth.median &&
                truth.most > truth.median && truth.joints == truth.movable);
    // on the true bones the markers wander by their noise alone: 2 mm along each axis
    assert_true(fabs(truth.markers - 0.002 * sqrt(3)) < 2e-4);
    // one that begins before the recording, as with a T pose in front
    static const int before[] = {1, 7};
    for (int k = 0; k < 2; k++) {
        sn_motion *early;
        sn_take_truth late;
        int n = sn_motion_nframe(g->example.truth), nq = sn_motion_nq(g->example.truth);
        assert_int_equal(sn_motion_create(n + before[k], nq, 1, 120, NULL, &early, NULL), SN_OK);
        for (int f = 0; f < n + before[k]; f++)
            memcpy(sn_motion_edit(early, f),
                   sn_motion_frame(g->example.truth, f < before[k] ? n - 1 : f - before[k]),
                   (size_t)nq * sizeof(double));
        assert_int_equal(sn_take_compare(take, g->example.subject, early, &late), SN_OK);
        assert_int_equal(late.late, before[k]);
        assert_true(late.rms == truth.rms && late.centres == truth.centres &&
                    late.markers == truth.markers);
        sn_motion_destroy(early);
    }
    assert_int_equal(truth.late, 0);
    // and a recording that was cut
    sn_recording *later = recording_cut(g->example.recording, 299, 60);
    sn_take *cut_take = take_of(g->example.subject, later, NULL);
    sn_take_truth found;
    good(cut_take, sn_take_prepare(cut_take));
    good(cut_take, sn_take_finish(cut_take));
    assert_int_equal(sn_take_compare(cut_take, g->example.subject, g->example.truth, &found),
                     SN_OK);
    assert_int_equal(found.late, 299);
    sn_take_destroy(cut_take);
    sn_recording_destroy(later);
    sn_motion *cut;
    assert_int_equal(sn_motion_create(9, sn_motion_nq(g->example.truth), 1, 120, NULL, &cut, NULL),
                     SN_OK);
    assert_int_equal(sn_take_compare(take, NULL, cut, &truth), SN_ERR_VALUE);
    assert_string_equal(
        sentence_of(take, SN_FINDING_TRUTH_SHORT, SN_VOICE_PLAIN),
        "the known motion has 9 frames, but the fit goes to frame 100 of the recording");
    sn_motion_destroy(cut);
    // it stays finished
    assert_non_null(sn_take_frames(take));
    sn_take_destroy(take);
}

// All of a take's life with an allocator.
static sn_status live(const sn_allocator *allocator, const sn_take_options *o) {
    sn_take *take;
    sn_error error = {0};
    sn_take_truth truth;
    sn_subject who[2];
    int count;
    sn_status status = sn_take_subjects(box, boxed, allocator, who, 2, &count, NULL);
    if (status != SN_OK) return status;
    assert_int_equal(count, 2);
    status = sn_take_create(box, boxed, o, allocator, &take, &error);
    assert_true((take == NULL) == (status != SN_OK));
    if (status == SN_OK) status = sn_take_prepare(take);
    if (status == SN_OK) status = sn_take_solve(take, 2);
    if (status == SN_OK) status = sn_take_finish(take);
    if (status == SN_OK) status = sn_take_compare(take, NULL, sn_take_motion(take), &truth);
    sn_take_destroy(take);
    return status;
}

static void faults(void **unused) {
    (void)unused;
    sn_take_options o = sn_take_options_default();
    o.subject = "Ann";
    o.calibrate = SN_CALIBRATE_SCALE;
    o.calibrate_frames = 2;
    o.smooth = 0.01;
    o.threads = 2;
    for (int forever = 0; forever < 2; forever++) {
        long n = 0;
        for (sn_status status = SN_ERR_MEMORY; status != SN_OK;
             n += quick_build || status == SN_OK ? 1 : 7) {
            test_allocator allocator;
            test_allocator_begin(&allocator);
            allocator.fail_at = n;
            allocator.fail_after = forever;
            status = live(&allocator.base, &o);
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
}

// What a take was created with can go, but for model and recording.
static void options_are_copied(void **state) {
    given *g = *state;
    sn_marker_set *set;
    char subject[] = "figure";
    sn_take_options o = sn_take_options_default();
    assert_int_equal(sn_marker_set_of_model(g->example.subject, NULL, &set, NULL), SN_OK);
    o.markers = set;
    bool named = strchr(sn_recording_label(g->some, 0), ':') != NULL;
    o.subject = named ? subject : NULL;
    sn_take *take = take_of(g->example.model, g->some, &o);
    sn_marker_set_destroy(set);
    memset(subject, 'x', sizeof subject - 1);
    o = (sn_take_options){0};
    good(take, sn_take_prepare(take));
    // places are known: nothing is calibrated
    assert_false(sn_take_about(take)->calibrated);
    sn_take_destroy(take);
}

// Frames say how many coordinates are at a limit: the lid's, where it opens wider than the model lets it.
static void frames_at_limits(void **unused) {
    (void)unused;
    const char *at = strstr(hinged, "\"axis\"");
    char text[sizeof hinged + 40];
    sn_model *model;
    (void)snprintf(text, sizeof text, "%.*s\"limits\": [[-1, 0.25]], %s", (int)(at - hinged),
                   hinged, at);
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &model, NULL), SN_OK);
    for (int off = 0; off < 2; off++) {
        sn_take_options o = sn_take_options_default();
        o.subject = "Ann";
        o.calibrate = SN_CALIBRATE_NONE;
        o.limits = off ? SN_LIMITS_OFF : SN_LIMITS_HARD;
        sn_take *take = take_of(model, boxed, &o);
        good(take, sn_take_prepare(take));
        good(take, sn_take_solve(take, BOX_FRAMES));
        good(take, sn_take_finish(take));
        const sn_fit_frame *frames = sn_take_frames(take);
        for (int f = 0; f < BOX_FRAMES; f++) {
            assert_int_equal(frames[f].limits, !off && 0.1 * f > 0.25);
            assert_true(frames[f].iterations > 0 || f == 0);
        }
        sn_take_destroy(take);
    }
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracked_in_pieces),
        cmocka_unit_test(taken_in_pieces),
        cmocka_unit_test(refusals),
        cmocka_unit_test(findings),
        cmocka_unit_test(codes),
        cmocka_unit_test(subjects),
        cmocka_unit_test(progress),
        cmocka_unit_test(progress_moves),
        cmocka_unit_test(sentences),
        cmocka_unit_test(order),
        cmocka_unit_test(faults),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(frames_at_limits),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
