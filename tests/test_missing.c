// SPDX-License-Identifier: MIT
// A chest without a length: which figures lack it, what a take then says, and how long it comes out.
//
// Trunk over leg of the files that were looked at. Without the bone: CMU's 49_06 0.385, 85_02 0.401, 02_01 and
// 131_01 (3ds Max) 0.406, Xia's 16_000 0.411, dme_blender 0.415, CMU's 88_01 0.447. Complete: CMU's ASF files 0.513 to
// 0.546, mocapbank 0.533, Bandai 0.541, the humanoid 0.68, HDM05 0.606 to 0.695, Mixamo 0.653 and 0.688, LaFAN1 0.70
// and 0.76.
#include "memory_sink.h"
#include "model/model.h"
#include "take/missing.h"
#include "takes.h"

// A chest, and the bone below it, which is the first guess; the person who wore the markers is larger than the
// skeleton.
static const double own_length = 0.115, below_it = 0.11, person = 1.1;

enum { FRAMES = 300 };

static int index_of(const sn_builder *b, const char *joint) {
    for (size_t j = 0; j < b->njoint; j++)
        if (strcmp(b->names + b->joint[j].name, joint) == 0) return (int)j;
    fail_msg("there is no %s", joint);
    return -1;
}

static sn_joint_desc *desc_of(sn_builder *b, const char *joint) {
    return &b->joint[index_of(b, joint)].desc;
}

static void put(sn_builder *b, const char *joint, double x, double y, double z) {
    memcpy(desc_of(b, joint)->position, (double[]){x, y, z}, 3 * sizeof(double));
}

static void hang(sn_builder *b, double x, double y, double z) {
    put(b, "neck_low", x, y, z);
    put(b, "left_clavicle", x, y, z);
    put(b, "right_clavicle", x, y, z);
}

static sn_model *finished(sn_builder *b) {
    sn_model *out;
    assert_int_equal(sn_builder_finish(b, &out, NULL), SN_OK);
    sn_builder_destroy(b);
    return out;
}

// A figure as CMU has them, neck and collar bones together at the end of the chest, whose length is given.
static sn_builder *begin_body(double length) {
    sn_model *humanoid;
    sn_builder *b;
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    assert_int_equal(sn_builder_create_from(humanoid, NULL, &b, NULL), SN_OK);
    sn_model_destroy(humanoid);
    put(b, "spine_low", 0, 0.07, 0);
    put(b, "spine_mid", 0, below_it, 0);
    put(b, "chest", 0, below_it, 0);
    hang(b, 0, length, 0);
    return b;
}

static sn_model *body(double length) { return finished(begin_body(length)); }

// --- which figures -----------------------------------------------------------------------------------

static sn_missing found_in(const sn_model *model) {
    sn_missing m;
    assert_int_equal(sn_missing_find(model, NULL, &m), SN_OK);
    return m;
}

static sn_missing found_and_freed(sn_model *model) {
    sn_missing m = found_in(model);
    sn_model_destroy(model);
    return m;
}

static void found(void **unused) {
    (void)unused;
    sn_model *short_one = body(0);
    sn_missing m = found_in(short_one);
    assert_string_equal(sn_model_joint(short_one, m.chest)->name, "chest");
    assert_string_equal(sn_model_joint(short_one, m.next[0])->name, "left_clavicle");
    assert_string_equal(sn_model_joint(short_one, m.next[1])->name, "right_clavicle");
    assert_string_equal(sn_model_joint(short_one, m.next[2])->name, "neck_low");
    assert_true(fabs(m.length - below_it) < 1e-12 && fabs(m.bone.y - below_it) < 1e-12);
    assert_true(fabs(m.trunk - (0.35 + 0.0008) / 0.83) < 1e-3);

    // with the bone it is whole
    sn_model *mended;
    assert_int_equal(sn_missing_add(short_one, &m, NULL, &mended, NULL), SN_OK);
    assert_int_equal(sn_model_nmarker(mended), sn_model_nmarker(short_one));
    for (int j = 0; j < sn_model_njoint(mended); j++) {
        bool hangs = j == m.next[0] || j == m.next[1] || j == m.next[2];
        const double *a = sn_model_joint(short_one, j)->position,
                     *b = sn_model_joint(mended, j)->position;
        assert_true(fabs(b[1] - a[1] - (hangs ? below_it : 0)) < 1e-12 && a[0] == b[0]);
    }
    assert_int_equal(found_and_freed(mended).chest, -1);
    sn_model_destroy(short_one);

    // digits that a writer rounded, not a length
    assert_true(found_and_freed(body(1e-5)).chest >= 0);

    // in the chest's own frame, whichever way that lies
    sn_builder *b = begin_body(0);
    memcpy(desc_of(b, "chest")->rotation, (double[]){1, 0, 0, 1}, 4 * sizeof(double));
    m = found_and_freed(finished(b));
    assert_true(m.chest >= 0 && fabs(m.bone.x - below_it) < 1e-12 && fabs(m.bone.y) < 1e-12);
}

static void not_found(void **unused) {
    (void)unused;
    sn_model *humanoid;
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    sn_missing m = found_and_freed(humanoid);
    assert_int_equal(m.chest, -1);
    assert_true(m.trunk > 0.6 && m.trunk < 0.7);

    m = found_and_freed(body(own_length));
    assert_int_equal(m.chest, -1);
    assert_true(m.trunk > 0.55 && m.trunk < 0.6);

    // shoulders and neck at the end of a long back: no bone is missing there
    sn_builder *b = begin_body(0);
    put(b, "chest", 0, 0.24, 0);
    assert_int_equal(found_and_freed(finished(b)).chest, -1);

    // one of the three begins elsewhere
    b = begin_body(0);
    put(b, "neck_low", 0, own_length, 0);
    assert_int_equal(found_and_freed(finished(b)).chest, -1);
    b = begin_body(0);
    put(b, "right_clavicle", -0.02, 0, 0);
    assert_int_equal(found_and_freed(finished(b)).chest, -1);

    // the chest itself begins where the one below it does: its bone may be that one's
    b = begin_body(0);
    put(b, "chest", 0, 0, 0);
    assert_int_equal(found_and_freed(finished(b)).chest, -1);

    // no trunk at all: neck and collar bones on the pelvis, which stands on a joint of its own
    b = begin_body(0);
    sn_joint_desc ground = sn_joint_default(SN_JOINT_FIXED);
    ground.name = "ground";
    desc_of(b, "pelvis")->parent = sn_builder_joint(b, &ground);
    desc_of(b, "neck_low")->parent = index_of(b, "pelvis");
    desc_of(b, "left_clavicle")->parent = index_of(b, "pelvis");
    desc_of(b, "right_clavicle")->parent = index_of(b, "pelvis");
    m = found_and_freed(finished(b));
    assert_true(m.chest == -1 && m.trunk == 0);

    // nobody's body
    b = begin_body(0);
    for (size_t j = 0; j < b->njoint; j++) b->names[b->joint[j].name] = 'x';
    m = found_and_freed(finished(b));
    assert_true(m.chest == -1 && m.trunk == 0);
}

static void without_memory(void **unused) {
    (void)unused;
    sn_model *short_one = body(0);
    sn_status status = SN_ERR_MEMORY;
    for (long n = 0; status != SN_OK; n++) {
        test_allocator allocator;
        test_allocator_begin(&allocator);
        allocator.fail_at = n;
        sn_missing m;
        sn_model *mended = NULL;
        status = sn_missing_find(short_one, &allocator.base, &m);
        if (status == SN_OK) status = sn_missing_add(short_one, &m, &allocator.base, &mended, NULL);
        assert_true(status == SN_OK || (status == SN_ERR_MEMORY && mended == NULL));
        sn_model_destroy(mended);
        assert_int_equal(allocator.live, 0);
    }
    sn_model_destroy(short_one);
}

// --- takes -------------------------------------------------------------------------------------------

static const char *sentence_of(const sn_take *take, sn_finding_code code, sn_voice voice) {
    static char text[600];
    text[0] = '\0';
    for (int i = 0; i < sn_take_nfinding(take); i++) {
        const sn_finding *f = sn_take_finding(take, i);
        if (f->code != code) continue;
        assert_int_equal(f->severity, SN_SEVERITY_NOTE);
        assert_string_equal(sn_model_joint(sn_take_model(take), f->joint)->name, f->text);
        (void)sn_take_sentence(take, i, voice, text, sizeof text);
    }
    return text;
}

static double number_of(const sn_take *take, sn_finding_code code) {
    for (int i = 0; i < sn_take_nfinding(take); i++)
        if (sn_take_finding(take, i)->code == code) return sn_take_finding(take, i)->number[0];
    return -1;
}

// The example's motion by somebody with such a chest, all of the body so many times as large.
static sn_recording *recorded(double length, double size) {
    sn_model *humanoid, *figure = body(length);
    sn_motion *motion;
    sn_recording *all, *some;
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    assert_int_equal(sn_example_motion(humanoid, NULL, &motion, NULL), SN_OK);
    assert_int_equal(sn_marker_paths(figure, motion, NULL, &all, NULL), SN_OK);
    some = recording_cut(all, 0, FRAMES);
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < 3 * sn_recording_about(some)->nmarker; k++)
            sn_recording_edit(some, f)[k] *= size;
    sn_recording_destroy(all);
    sn_motion_destroy(motion);
    sn_model_destroy(figure);
    sn_model_destroy(humanoid);
    return some;
}

static sn_take *fitted_take(const sn_model *model, const sn_recording *recording,
                            const sn_take_options *o) {
    sn_take *take;
    sn_error error = {0};
    if (sn_take_create(model, recording, o, NULL, &take, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_int_equal(sn_take_prepare(take), SN_OK);
    assert_int_equal(sn_take_finish(take), SN_OK);
    return take;
}

// The fitted figure as a BVH file, read again.
static double length_in_bvh(const sn_take *take) {
    memory_sink sink;
    memory_sink_begin(&sink);
    sn_scene scene = sn_scene_default(sn_take_model(take));
    sn_document back;
    sn_error error = {0};
    scene.motion = sn_take_motion(take);
    scene.metres_per_unit = 1;
    if (sn_scene_write(&scene, SN_FORMAT_BVH, &sink.base, NULL, &error) != SN_OK)
        fail_msg("%s", error.text);
    sn_document_options o = sn_document_options_default();
    o.metres_per_unit = 1;
    assert_int_equal(sn_document_read(sink.bytes, sink.length, "take.bvh", &o, NULL, &back, &error),
                     SN_OK);
    assert_int_equal(found_in(back.model).chest, -1);
    const double *p =
        sn_model_joint(back.model, sn_model_find_joint(back.model, "left_clavicle"))->position;
    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    sn_document_destroy(&back);
    free(sink.bytes);
    return length;
}

static void takes(void **unused) {
    (void)unused;
    sn_model *short_one = body(0), *whole = body(own_length);
    sn_recording *recording = recorded(own_length, person);
    sn_take_options o = sn_take_options_default();
    o.builtin = true;
    o.calibrate = SN_CALIBRATE_OFFSETS;

    // as it is: a note, the same skeleton
    sn_take *take = fitted_take(short_one, recording, &o);
    const double before = sn_take_about(take)->fit.rms;
    assert_string_equal(
        sentence_of(take, SN_FINDING_CHEST_MISSING, SN_VOICE_COMMAND),
        "neck and shoulders of the skeleton begin at the foot of its chest (chest), as in CMU's "
        "BVH files: its trunk is about 11 cm too short; --calibrate=scale gives the chest its "
        "length, and so does sinew fit by itself where nothing says where the markers sit");
    assert_null(strstr(sentence_of(take, SN_FINDING_CHEST_MISSING, SN_VOICE_PAGE), "--"));
    assert_true(number_of(take, SN_FINDING_CHEST_ADDED) < 0);
    const int neck = sn_model_find_joint(short_one, "neck_low");
    assert_true(sn_model_joint(sn_take_model(take), neck)->position[1] == 0);
    assert_true(sn_take_verdict(take) == SN_VERDICT_GOOD);
    sn_take_destroy(take);

    // with lengths the bone is there, in the model and in files
    o.calibrate = SN_CALIBRATE_SCALE;
    take = fitted_take(short_one, recording, &o);
    const double after = sn_take_about(take)->fit.rms,
                 length = number_of(take, SN_FINDING_CHEST_ADDED);
    print_message("RMS %.3f cm without the bone, %.3f cm with it; it is %.1f cm long, found %.1f\n",
                  100 * before, 100 * after, 100 * person * own_length, 100 * length);
    assert_true(fabs(length - person * own_length) < 0.01);
    assert_true(after < 0.5 * before);
    assert_true(number_of(take, SN_FINDING_CHEST_MISSING) < 0);
    char words[200];
    (void)snprintf(words, sizeof words,
                   "the chest (chest) of the skeleton has no length, as in CMU's BVH files; it was "
                   "given one, and came out %.1f cm long",
                   100 * length);
    assert_string_equal(sentence_of(take, SN_FINDING_CHEST_ADDED, SN_VOICE_PLAIN), words);
    assert_true(fabs(length_in_bvh(take) - length) < 1e-6);
    sn_take_destroy(take);

    // the caller's model is as it was
    assert_true(sn_model_joint(short_one, neck)->position[1] == 0);

    // whoever has the bone hears nothing
    take = fitted_take(whole, recording, &o);
    assert_true(number_of(take, SN_FINDING_CHEST_ADDED) < 0);
    assert_true(number_of(take, SN_FINDING_CHEST_MISSING) < 0);
    sn_take_destroy(take);

    sn_recording_destroy(recording);
    sn_model_destroy(whole);
    sn_model_destroy(short_one);
}

// As files have it: without markers.
static sn_model *bare(double length) {
    sn_builder *b = begin_body(length);
    b->nmarker = 0;
    return finished(b);
}

// By default the chest gets its length, and no other bone another one.
static void by_itself(void **unused) {
    (void)unused;
    sn_model *short_one = bare(0), *humanoid;
    sn_recording *recording = recorded(own_length, 1);
    sn_motion *motion;
    sn_take_options o = sn_take_options_default();
    assert_int_equal(sn_model_humanoid(NULL, &humanoid, NULL), SN_OK);
    assert_int_equal(sn_example_motion(humanoid, NULL, &motion, NULL), SN_OK);

    o.calibrate = SN_CALIBRATE_OFFSETS;
    sn_take *take = fitted_take(short_one, recording, &o);
    const double before = sn_take_about(take)->fit.rms;
    sn_take_truth truth;
    assert_int_equal(sn_take_compare(take, NULL, motion, &truth), SN_OK);
    const double off = truth.rms;
    assert_false(truth.chest || sn_take_about(take)->chest || sn_take_about(take)->reshaped);
    sn_take_destroy(take);

    o.calibrate = SN_CALIBRATE_AUTO;
    take = fitted_take(short_one, recording, &o);
    const sn_take_summary *about = sn_take_about(take);
    const double length = number_of(take, SN_FINDING_CHEST_ADDED);
    assert_true(number_of(take, SN_FINDING_CHEST_MISSING) < 0);
    assert_true(about->chest && about->reshaped && about->calibrated);
    // the known motion is on a skeleton that lacks it, too
    assert_int_equal(sn_take_compare(take, NULL, motion, &truth), SN_OK);
    print_message("RMS %.3f cm without the bone, %.3f cm with it; it is %.1f cm long, found %.1f; "
                  "joints %.2f and %.2f degrees off, centres %.2f cm\n",
                  100 * before, 100 * about->fit.rms, 100 * own_length, 100 * length, off,
                  truth.rms, 100 * truth.centres);
    assert_true(truth.chest && truth.centres < 0.03);
    assert_true(fabs(length - own_length) < 0.01);
    assert_true(about->fit.rms < 0.5 * before && truth.rms < 0.8 * off);
    const sn_model *model = sn_take_model(take);
    const sn_missing m = found_in(short_one);
    for (int j = 0; j < sn_model_njoint(model); j++) {
        const double *a = sn_model_joint(model, j)->position,
                     *b = sn_model_joint(short_one, j)->position;
        bool hangs = j == m.next[0] || j == m.next[1] || j == m.next[2];
        for (int k = 0; k < 3 && !hangs; k++) assert_true(fabs(a[k] - b[k]) < 1e-12);
    }
    sn_take_destroy(take);

    // nothing is added where the places are known
    o.calibrate = SN_CALIBRATE_NONE;
    take = fitted_take(short_one, recording, &o);
    assert_true(number_of(take, SN_FINDING_CHEST_MISSING) > 0 && !sn_take_about(take)->chest);
    sn_take_destroy(take);
    sn_model *placed = body(0);
    o.calibrate = SN_CALIBRATE_AUTO;
    take = fitted_take(placed, recording, &o);
    assert_true(number_of(take, SN_FINDING_CHEST_MISSING) > 0 && !sn_take_about(take)->reshaped);
    sn_take_destroy(take);

    sn_model_destroy(placed);
    sn_motion_destroy(motion);
    sn_recording_destroy(recording);
    sn_model_destroy(humanoid);
    sn_model_destroy(short_one);
}

// A person of CMU, whose ASF file has the thorax with 11.7 cm.
static void clip(void **unused) {
    (void)unused;
    sn_document skeleton = read_clip("cmu/02_01.bvh"), take = read_clip("cmu/02_01.c3d"),
                asf = read_clip("cmu/02.asf");
    if (skeleton.model == NULL || take.recording == NULL || asf.model == NULL) {
        print_message("skipped: there are no clips in %s\n", SINEW_DATA);
    } else {
        static const sn_calibrate_use uses[2] = {SN_CALIBRATE_AUTO, SN_CALIBRATE_SCALE};
        for (int i = 0; i < 2; i++) {
            sn_take_options o = sn_take_options_default();
            sn_take_truth truth;
            o.calibrate = uses[i];
            sn_take *t = fitted_take(skeleton.model, take.recording, &o);
            const double length = number_of(t, SN_FINDING_CHEST_ADDED),
                         rms = sn_take_about(t)->fit.rms;
            assert_int_equal(sn_take_compare(t, NULL, skeleton.motion, &truth), SN_OK);
            print_message("02_01: %.1f cm, RMS %.3f cm, joint centres %.2f cm\n", 100 * length,
                          100 * rms, 100 * truth.centres);
            assert_true(fabs(length - 0.117) < 0.01);
            assert_true(rms < 0.0036);
            assert_true(truth.chest && truth.late == 1 && truth.centres < 0.03);
            sn_take_destroy(t);
        }
        assert_int_equal(found_in(asf.model).chest, -1);
    }
    sn_document_destroy(&asf);
    sn_document_destroy(&take);
    sn_document_destroy(&skeleton);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found), cmocka_unit_test(not_found), cmocka_unit_test(without_memory),
        cmocka_unit_test(takes), cmocka_unit_test(by_itself), cmocka_unit_test(clip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
