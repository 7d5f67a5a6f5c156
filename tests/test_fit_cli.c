// SPDX-License-Identifier: MIT
// sinew fit: every option, every wrong use, every output read back, interruption.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "fit_program.h"
#include "memory_sink.h"

// A short stretch with the right markers: as quick as can be.
#define QUICK "fit -m ex/subject.json -i ex/take.c3d --frames 10:60 "

static void wrong_usage(void **unused) {
    (void)unused;
    static const struct {
        const char *arguments, *says;
    } all[] = {
        {"fit", "a skeleton (-m) and a recording (-i) are needed"},
        {"fit -m humanoid", "a skeleton (-m) and a recording (-i) are needed"},
        {"fit -i ex/take.c3d", "a skeleton (-m) and a recording (-i) are needed"},
        {"fit --nonsense", "unknown option \"--nonsense\""},
        {"fit word", "one word too many"},
        {"fit -m", "a value is missing after \"-m\""},
        {"fit --json=1", "takes no value"},
        {QUICK "-o x.docx", "its ending must be one of"},
        {QUICK "-o plain", "its ending must be one of"},
        {QUICK "-o x.bvh -o x.bvh", "--output is given twice: \"x.bvh\""},
        {QUICK "--limits strong", "--limits takes auto, hard, soft or off, not \"strong\""},
        {QUICK "--calibrate=lengths", "--calibrate takes offsets, scale or none, not \"lengths\""},
        {QUICK "--robust=welsch", "cauchy or huber"},
        {QUICK "--robust=cauchy:far", "a length such as 2cm"},
        {QUICK "--robust=cauchy:0", "a length above 0"},
        {QUICK "--robust=huber:-2cm", "a length such as 2cm"},
        {QUICK "--robust=hubert", "cauchy or huber"},
        {QUICK "--solver magic", "--solver takes hybrid, newton"},
        {QUICK "--frames 5", "FIRST:LAST"},
        {QUICK "--frames a:b", "FIRST:LAST"},
        {QUICK "--frames 1:2x", "FIRST:LAST"},
        {QUICK "--up w", "axis that points up"},
        {QUICK "--axes xxz", "each once"},
        {QUICK "--axes xy", "each once"},
        {QUICK "--axes -x-", "each once"},
        {QUICK "--axes xyzxyzxyzxyzxyzxyz", "each once"},
        {QUICK "--units parsec", "m, cm, mm, in, ft"},
        {QUICK "--max-error much", "a length such as"},
        {QUICK "--max-error -1cm", "a length such as"},
        {QUICK "-j 0", "whole number from 1"},
        {QUICK "-j many", "whole number from 1"},
        {QUICK "--out there", "belong to --manifest"},
        {QUICK "--resume", "belong to --manifest"},
        {QUICK "--shard 1/2", "belong to --manifest"},
        {QUICK "-o x.htm", "html"},
        {"fit --manifest list.tsv", "--manifest needs --out DIR"},
        {"fit --manifest list.tsv --out d -m humanoid", "goes without -m"},
        {"fit --manifest list.tsv --out d -o x.bvh", "goes without -m"},
        {"fit --manifest list.tsv --out d --report x.html", "--formats says"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        expect(2, all[i].says, all[i].arguments);
    expect(0, "usage: sinew fit", "fit --help");
}

static void bad_files(void **unused) {
    (void)unused;
    put("broken.asf", ":version 1.10\n:name x\n:bonedata\n begin\n  id one\n");
    put("broken.json", "{\"markers\": [\n{\"name\": \"A\"}]}");
    put("lost.json", "{\"markers\": [{\"name\": \"LFHD\", \"joint\": \"haed\"}]}");
    put("empty.c3d", "");
    put("some.csv", "time,a\n0,1\n");
    static const struct {
        const char *arguments, *says;
    } all[] = {
        {"fit -m none.asf -i ex/take.c3d", "none.asf: No such file"},
        {"fit -m ex/skeleton.asf -i none.c3d", "none.c3d: No such file"},
        {"fit -m ex/skeleton.asf -i .", "directory"},
        {"fit -m broken.asf -i ex/take.c3d", "broken.asf:"},
        {"fit -m ex/skeleton.asf -i empty.c3d", "empty.c3d"},
        {"fit -m ex/skeleton.asf -i ex/truth.bvh", "holds no marker positions"},
        {"fit -m ex/take.c3d -i ex/take.c3d", "holds no skeleton"},
        {"fit -m ex/skeleton.asf -i some.csv", "some.csv"},
        {QUICK "--markers none.json", "none.json: No such file"},
        {QUICK "--markers broken.json", "broken.json:2: marker \"A\" has no joint"},
        {QUICK "--markers lost.json", "did you mean \"head\"?"},
        {"fit -m ex/subject.json -i ex/take.c3d --frames 0:5", "the file's frames are 1 to 1225"},
        {"fit -m ex/subject.json -i ex/take.c3d --frames 9:5", "the file's frames are 1 to 1225"},
        {"fit -m ex/subject.json -i ex/take.c3d --frames 5:99999",
         "the file's frames are 1 to 1225"},
        {QUICK "--subject Daniel", "no label belongs to the subject \"Daniel\"; here are: figure"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char line[400];
        (void)snprintf(line, sizeof line, "%s -o never.bvh", all[i].arguments);
        expect(3, all[i].says, line);
        assert_false(is_there("never.bvh"));
    }
    no_parts();
}

static sn_json *parsed(void) {
    sn_json *json = NULL;
    sn_error error = {0};
    // warnings follow on standard error
    if (sn_json_parse(said, strcspn(said, "\n"), NULL, &json, &error) != SN_OK)
        fail_msg("line %d: %s: %.300s", error.line, error.text, said);
    return json;
}

static double number_of(const sn_json *json, const char *key) {
    const sn_json_node *node = sn_json_get(json, sn_json_root(json), key);
    if (node == NULL || node->type != SN_JSON_NUMBER) fail_msg("no number %s in %.400s", key, said);
    return node->number;
}

static const char *word_of(const sn_json *json, const char *key) {
    const sn_json_node *node = sn_json_get(json, sn_json_root(json), key);
    if (node == NULL || node->type != SN_JSON_STRING) fail_msg("no word %s in %.400s", key, said);
    return node->string;
}

static double rms_of(const char *arguments) {
    int code = sinew("%s --json", arguments);
    // 4: fitted, with warnings
    if (code != 0 && code != 4) fail_msg("sinew %s: %.400s", arguments, said);
    sn_json *json = parsed();
    double rms = number_of(json, "rms");
    sn_json_destroy(json);
    return rms;
}

static sn_document document_of(const char *name, const sn_skeleton *skeleton) {
    size_t length;
    sn_document out;
    sn_error error = {0};
    sn_document_options o = sn_document_options_default();
    o.skeleton = skeleton;
    char *bytes = slurp(path_of(name), &length);
    if (sn_document_read(bytes, length, name, &o, NULL, &out, &error) != SN_OK)
        fail_msg("%s:%d: %s", name, error.line, error.text);
    free(bytes);
    return out;
}

// All that can be written is, and reads back as the same motion.
static void outputs(void **unused) {
    (void)unused;
    static const char *const names[] = {"o.amc", "o.asf", "o.bvh", "o.glb", "o.mot",
                                        "o.sto", "o.csv", "o.c3d", "o.trc", "o.json"};
    assert_int_equal(
        sinew("fit -m ex/subject.json -i ex/take.c3d --markers ex/subject.json --frames 10:60 "
              "-o o.amc -o o.asf -o o.bvh -o o.glb -o o.mot -o o.sto -o o.csv -o o.c3d -o o.trc -o "
              "o.json "
              "--report o.html --calibrate=none"),
        0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!is_there(names[i]) || strstr(said, names[i]) == NULL)
            fail_msg("%s was not written: %s", names[i], said);
    no_parts();
    sn_document asf = document_of("o.asf", NULL), amc = document_of("o.amc", asf.skeleton),
                bvh = document_of("o.bvh", NULL), c3d = document_of("o.c3d", NULL),
                trc = document_of("o.trc", NULL), mot = document_of("o.mot", NULL),
                sto = document_of("o.sto", NULL), csv = document_of("o.csv", NULL),
                json = document_of("o.json", NULL);
    assert_int_equal(sn_motion_nframe(amc.motion), 51);
    assert_int_equal(sn_motion_first_frame(amc.motion), 10);
    assert_int_equal(sn_motion_nframe(bvh.motion), 51);
    assert_near(sn_motion_rate(bvh.motion), 120, 1e-6);
    assert_int_equal(sn_table_about(mot.table)->nrow, 51);
    assert_int_equal(sn_table_about(sto.table)->nrow, 51);
    assert_int_equal(sn_table_about(csv.table)->nrow, 51);
    assert_int_equal(sn_recording_about(c3d.recording)->nframe, 51);
    assert_int_equal(sn_recording_about(c3d.recording)->first_frame, 10);
    assert_int_equal(sn_model_nmarker(json.model), 41);
    // markers of the C3D and the TRC are where the model of the JSON with the motion of the table has them
    sn_motion *motion = NULL;
    sn_error error = {0};
    if (sn_motion_from_table(json.model, mot.table, NULL, &motion, &error) != SN_OK)
        fail_msg("%s", error.text);
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(json.model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int f = 0; f < 51; f += 10) {
        assert_int_equal(sn_workspace_pose(ws, sn_motion_frame(motion, f)), SN_OK);
        for (int i = 0; i < 41; i++) {
            const sn_marker_desc *d = sn_model_marker(json.model, i);
            sn_vec3 p = sn_workspace_point(ws, d->joint, d->position);
            for (int k = 0; k < 2; k++) {
                const sn_recording *r = k == 0 ? c3d.recording : trc.recording;
                const double *x = sn_recording_frame(r, f) + 3 * sn_recording_find(r, d->name);
                assert_near(x[0], p.x, 1e-5);
                assert_near(x[1], p.y, 1e-5);
                assert_near(x[2], p.z, 1e-5);
            }
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_motion_destroy(motion);
    size_t length;
    char *glb = slurp(path_of("o.glb"), &length), *html = slurp(path_of("o.html"), &length);
    assert_memory_equal(glb, "glTF", 4);
    assert_non_null(strstr(html, "</html>"));
    free(glb);
    free(html);
    sn_document *all[] = {&amc, &asf, &bvh, &c3d, &trc, &mot, &sto, &csv, &json};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sn_document_destroy(all[i]);
}

// Options that change the fit do, and the right way.
static void options(void **unused) {
    (void)unused;
    double plain = rms_of(QUICK "-o a.bvh");
    assert_true(plain > 0.002 && plain < 0.0037);
    assert_true(rms_of(QUICK "--limits soft") >= plain * (1 - 1e-3));
    assert_near(1e3 * rms_of(QUICK "--robust"), 1e3 * plain, 0.1);
    assert_near(1e3 * rms_of(QUICK "--solver newton"), 1e3 * plain, 1e-3);
    assert_true(rms_of(QUICK "--units cm") > 10 * plain);
    assert_non_null(strstr(said, "WARNING"));
    if (!sampled()) {
        assert_true(rms_of(QUICK "--limits hard") >= plain * (1 - 1e-3));
        assert_near(1e3 * rms_of(QUICK "--robust=huber:1m"), 1e3 * plain, 1e-5);
        assert_near(1e3 * rms_of(QUICK "--solver lm"), 1e3 * plain, 1e-3);
        // up or not, the root is free
        assert_near(1e3 * rms_of(QUICK "--up=-x"), 1e3 * plain, 1e-3);
        assert_near(1e3 * rms_of(QUICK "--up z --units mm"), 1e3 * plain, 1e-9);
        assert_near(1e3 * rms_of(QUICK "--axes xyz"), 1e3 * plain, 1e-3);
        assert_true(rms_of("fit -m humanoid -i ex/take.c3d --frames 10:60 --calibrate=none") >
                    1.5 * plain);
        assert_true(rms_of("fit -m humanoid -i ex/take.c3d --frames 10:60 --calibrate") <
                    1.05 * plain);
    }
    // the same bytes for any number of threads, given as either way
    assert_int_equal(sinew(QUICK "-o a.bvh --quiet"), 0);
    assert_int_equal(sinew(QUICK "-o b.bvh -j 3"), 0);
    assert_int_equal(sinew(QUICK "-o c.bvh -j2"), 0);
    char line[200];
    (void)snprintf(line, sizeof line, "cd '%s' && cmp a.bvh b.bvh && cmp a.bvh c.bvh", folder);
    assert_int_equal(shell(line), 0);
    // what is forced is said
    assert_int_equal(sinew(QUICK "--up=-y --units ft --json"), 4);
    sn_json *json = parsed();
    assert_string_equal(word_of(json, "up"), "-y");
    assert_string_equal(word_of(json, "units"), "ft");
    assert_true(number_of(json, "frames") == 51 && number_of(json, "first_frame") == 10);
    assert_true(number_of(json, "markers") == 41 && number_of(json, "labels") == 42);
    sn_json_destroy(json);
    assert_int_equal(sinew(QUICK "--axes x-zy"), 4);  // the figure lies
    assert_non_null(strstr(said, "the recording's x-zy"));
    assert_int_equal(sinew(QUICK "--max-error 1mm"), 4);
    assert_non_null(strstr(said, "frames stayed above 0.1 cm RMS"));
    assert_int_equal(sinew(QUICK "--max-error 5cm"), 0);
}

// A calibrated model gives the same again without calibration.
static void save_model(void **unused) {
    (void)unused;
    const char *range = sampled() ? "1:40" : "1:400";
    char line[200];
    (void)snprintf(line, sizeof line,
                   "fit -m ex/skeleton.asf -i ex/take.c3d --frames %s --calibrate=scale "
                   "--save-model saved.json",
                   range);
    double first = rms_of(line);
    assert_non_null(strstr(said, "\"calibration\""));
    (void)snprintf(line, sizeof line, "fit -m saved.json -i ex/take.c3d --frames %s", range);
    double again = rms_of(line);
    assert_null(strstr(said, "\"calibration\""));
    print_message("saved: %.4f mm while calibrating, %.4f mm with the saved model\n", 1e3 * first,
                  1e3 * again);
    assert_near(1e3 * first, 1e3 * again, 0.01);
    (void)snprintf(line, sizeof line,
                   "fit -m ex/skeleton.asf -i ex/take.c3d --frames %s --markers saved.json", range);
    // Its places alone, on bones of the skeleton's own lengths: near, not the same. This is no error of a fit (3.0 mm) but
    // how far the lengths that were found are from the true ones, the skeleton's: 0.88 to 1.03 of them, where the
    // calibration says "sizes to 10.5 %". It was 10.0 mm before the markers of a pelvis were held closer: with these
    // doubted twice as much it is 9.7, and the angles are 4.51 degrees RMS off the truth instead of 4.46, joint centres
    // 2.25 cm instead of 2.21. Beginning from the true size changes nothing (10.3).
    double set = rms_of(line);
    print_message("saved: %.4f mm with its places alone\n", 1e3 * set);
    assert_true(set != first && set < (sampled() ? 0.03 : 0.011));
}

// Bones of other lengths go into an ASF of their own, and the pair means what was fitted.
static void lengths_as_asf(void **unused) {
    (void)unused;
#define SCALED "fit -m ex/skeleton.asf -i ex/take.c3d --frames 1:40 --calibrate=scale "
    if (!sampled())
        expect(0,
               "l.amc belongs to a skeleton with the bone lengths found here: write that beside "
               "it, -o l.asf",
               SCALED "-o l.amc");
    expect(0, "times the skeleton's", SCALED "-o l.asf -o l.amc -o l.json -o l.mot");
    assert_null(strstr(said, "belongs to a skeleton"));
    sn_document asf = document_of("l.asf", NULL), amc = document_of("l.amc", asf.skeleton),
                json = document_of("l.json", NULL), mot = document_of("l.mot", NULL);
    sn_motion *motion = NULL;
    assert_int_equal(sn_motion_from_table(json.model, mot.table, NULL, &motion, NULL), SN_OK);
    sn_problem *problem[2];
    sn_workspace *ws[2];
    double worst = 0;
    for (int k = 0; k < 2; k++) {
        const sn_model *model = k == 0 ? asf.model : json.model;
        assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem[k], NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem[k], false, NULL, &ws[k], NULL), SN_OK);
        assert_int_equal(
            sn_workspace_pose(ws[k], sn_motion_frame(k == 0 ? amc.motion : motion, 20)), SN_OK);
    }
    for (int j = 0; j < sn_model_njoint(json.model); j++) {
        int other = sn_model_find_joint(asf.model, sn_model_joint(json.model, j)->name);
        assert_true(other >= 0);
        sn_vec3 a = sn_workspace_frame(ws[1], j).p, b = sn_workspace_frame(ws[0], other).p;
        worst = fmax(worst, hypot(a.x - b.x, hypot(a.y - b.y, a.z - b.z)));
    }
    print_message("lengths as ASF and AMC: joints at most %.1e m from the fit's\n", worst);
    assert_true(worst < 1e-6);
    for (int k = 0; k < 2; k++) {
        sn_workspace_destroy(ws[k]);
        sn_problem_destroy(problem[k]);
    }
    sn_motion_destroy(motion);
    sn_document *all[] = {&asf, &amc, &json, &mot};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) sn_document_destroy(all[i]);
}

// A known motion against a model that is no ASF: by the joints' names.
static void truth(void **unused) {
    (void)unused;
#define KNOWN "-i ex/take.c3d --frames 1:60 --calibrate=none "
    expect(1, "an AMC file can be read only with its ASF",
           "fit -m ex/subject.json " KNOWN "--truth ex/truth.amc");
    expect(0, "off the known motion by", "fit -m ex/subject.json " KNOWN "--truth ex/truth.bvh");
    double median = strtod(strstr(said, "motion by ") + 10, NULL);
    print_message("truth: %.2f degrees off with a saved model\n", median);
    assert_true(median > 0 && median < 3);
    // the same figure, whichever file it comes from
    char first[200];
    // not calibrated: a warning says so
    expect(4, "off the known motion by", "fit -m ex/skeleton.asf " KNOWN "--truth ex/truth.amc");
    (void)snprintf(first, sizeof first, "%.60s", strstr(said, "off the known"));
    expect(4, first, "fit -m ex/skeleton.asf " KNOWN "--truth ex/truth.bvh");
    assert_int_equal(sinew("convert ex/truth.bvh --fps 40 -o slow.bvh"), 0);
    expect(0, "the known motion has 40 frames/s, the recording 120",
           "fit -m ex/subject.json " KNOWN "--truth slow.bvh");
    // nor may two different options name one file
    expect(1, "x.json: two outputs have this name",
           "fit -m ex/subject.json " KNOWN "-o x.json --save-model x.json");
    assert_false(is_there("x.json"));
    no_parts();
    put("other.bvh",
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n");
    expect(1, "1 frame, but", "fit -m ex/subject.json " KNOWN "--truth other.bvh");
    expect(1, "belongs to another skeleton: only 1 of",
           "fit -m ex/subject.json -i ex/take.c3d --frames 1:1 --truth other.bvh");
}

// What smoothing did is said, and it is less jerky.
static void smoothing(void **unused) {
    (void)unused;
    assert_int_equal(sinew(QUICK "--smooth 0.01 --report s.html"), 0);
    const char *at = strstr(said, "smoothing     W = 0.01 s: marker RMS ");
    assert_non_null(at);
    double rms[2] = {strtod(strstr(at, "RMS ") + 4, NULL),
                     strtod(strstr(at, "before, ") + 8, NULL)};
    at = strstr(at, "acceleration ");
    double jerky[2] = {strtod(at + 13, NULL), strtod(strstr(at, "before, ") + 8, NULL)};
    assert_true(rms[1] >= rms[0] && rms[0] > 0.1);
    assert_true(jerky[1] > 0 && jerky[1] < 0.7 * jerky[0]);
    size_t length;
    char *html = slurp(path_of("s.html"), &length);
    assert_non_null(strstr(html, "W = 0.01 s"));
    free(html);
    assert_int_equal(sinew(QUICK "--smooth 0.01 --json"), 0);
    assert_non_null(strstr(said, "\"smoothing\":{\"seconds\":0.01"));
    assert_int_equal(sinew(QUICK), 0);
    assert_null(strstr(said, "smoothing"));
    assert_null(strstr(said, "valley"));
}

// Two people in one file, one of them without a marker that the other has; and labels of nobody.
static void subjects(void **unused) {
    (void)unused;
    size_t length;
    char *bytes = slurp(path_of("ex/take.c3d"), &length);
    sn_recording *one, *two;
    assert_int_equal(sn_c3d_read(bytes, length, NULL, &one, NULL), SN_OK);
    free(bytes);
    sn_recording_info info = *sn_recording_about(one);
    int n = info.nmarker - 1;
    char(*text)[40] = malloc(2 * (size_t)n * sizeof *text);
    const char **labels = malloc(2 * (size_t)n * sizeof *labels);
    assert_true(text != NULL && labels != NULL);
    info.nmarker = 2 * n;
    info.nframe = 60;
    for (int i = 0; i < 2 * n; i++) {
        const char *name = sn_label_name(sn_recording_label(one, i % n));
        // Ann's T10 is called otherwise
        (void)snprintf(text[i], sizeof text[0], "%s:%s", i < n ? "Ann" : "Bob",
                       i < n && strcmp(name, "T10") == 0 ? "T1O" : name);
        labels[i] = text[i];
    }
    assert_int_equal(sn_recording_create(&info, labels, NULL, &two, NULL), SN_OK);
    for (int f = 0; f < info.nframe; f++)
        for (int i = 0; i < 2 * n; i++)
            for (int c = 0; c < 3; c++)
                sn_recording_edit(two, f)[3 * i + c] =
                    sn_recording_frame(one, i < n ? f : f + 300)[3 * (i % n) + c] + (i < n ? 0 : 2);
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_c3d_write(two, NULL, &sink.base, NULL, NULL), SN_OK);
    FILE *f = fopen(path_of("two.c3d"), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(sink.bytes, 1, sink.length, f), sink.length);
    (void)fclose(f);
    expect(3, "choose one with --subject", "fit -m ex/subject.json -i two.c3d -o two.bvh");
    expect(3, "here are: Ann, Bob", "fit -m ex/subject.json -i two.c3d -o two.bvh --subject Eve");
    double ann = rms_of("fit -m ex/subject.json -i two.c3d --subject Ann -o two.bvh");
    assert_non_null(strstr(said, "T1O (did you mean T10?)"));
    assert_non_null(strstr(said, "1 marker of the set without data: T10"));
    assert_non_null(strstr(said, "\"up\":\"+z\""));
    assert_non_null(strstr(said, "\"markers\":40"));
    double bob = rms_of("fit -m ex/subject.json -i two.c3d --subject Bob -o two.bvh");
    assert_true(ann < 0.0037 && bob < 0.0037);
    // a marker set is learned from one of them, too
#define LEARN "markers -m ex/skeleton.asf -a ex/truth.amc -i two.c3d -o two.json "
    expect(3, "several subjects; choose one by the option subject: Ann, Bob", LEARN);
    expect(3, "no label belongs to the subject \"Eve\"; here are: Ann, Bob", LEARN "--subject Eve");
    expect(0, "T1O", LEARN "--subject Ann");
    sn_recording_destroy(one);
    sn_recording_destroy(two);
    free(sink.bytes);
    free(text);
    free(labels);
    // a set of others
    put("other.json", "{\"markers\": [{\"name\": \"NOSE\", \"joint\": \"head\"}, {\"name\": "
                      "\"LFHDD\", \"joint\": \"head\"}]}");
    expect(3, "only 0 of the set's 2 markers",
           "fit -m ex/subject.json -i ex/take.c3d --markers other.json");
    assert_non_null(strstr(said, "LFHD (did you mean LFHDD?)"));
}

static void unwritable(void **unused) {
    (void)unused;
    expect(1, "nowhere/x.bvh: cannot be written: No such file", QUICK "-o nowhere/x.bvh");
    expect(1, "cannot be written", QUICK "-o /proc/x.bvh");
    expect(1, "cannot be written", QUICK "-o good.bvh --report nowhere/r.html");
    // a take's files come together
    assert_false(is_there("good.bvh"));
    expect(1, "cannot be written", QUICK "-o good.bvh -o nowhere/x.amc");
    assert_false(is_there("good.bvh"));
    expect(1, "cannot be written", QUICK "-o good.bvh --save-model nowhere/m.json");
    assert_false(is_there("good.bvh"));
    // a folder of that name is in the way
    assert_int_equal(mkdir(path_of("taken.bvh"), 0777), 0);
    expect(1, "taken.bvh: cannot be written", QUICK "-o taken.bvh");
    // and what was there stays when the new one can't be made
    put("old.bvh", "old");
    expect(1, "cannot be written", QUICK "-o old.bvh -o nowhere/x.amc");
    size_t length;
    char *old = slurp(path_of("old.bvh"), &length);
    assert_string_equal(old, "old");
    free(old);
    no_parts();
}

// Ctrl-C at some moments: it ends soon, says so, and leaves nothing behind.
static void interrupted(void **unused) {
    (void)unused;
    int stopped = 0;
    for (int k = 0; k < 6; k++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            if (chdir(folder) != 0 || freopen("stop.log", "w", stderr) == NULL ||
                freopen("/dev/null", "w", stdout) == NULL)
                _exit(99);
            (void)execl(SINEW_PROGRAM, "sinew", "fit", "-m", "ex/skeleton.asf", "-i", "ex/take.c3d",
                        "-o", "stop.bvh", "-o", "stop.glb", "--report", "stop.html", (char *)NULL);
            _exit(99);
        }
        struct timespec wait = {0, 30000000L * (1 + k * k)}, begin, now;
        (void)nanosleep(&wait, NULL);
        (void)clock_gettime(CLOCK_MONOTONIC, &begin);
        (void)kill(pid, k % 2 == 0 ? SIGINT : SIGTERM);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        assert_true(now.tv_sec - begin.tv_sec <= 10);
        bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        // the signal ends it, so that a shell's loop ends too; while it works it says so
        if (!done) {
            size_t length;
            char *log = slurp(path_of("stop.log"), &length);
            assert_true(WIFSIGNALED(status));
            assert_int_equal(WTERMSIG(status), k % 2 == 0 ? SIGINT : SIGTERM);
            stopped += strstr(log, "stopped; no file was left half-written") != NULL;
            free(log);
        }
        if (!done)
            assert_true(!is_there("stop.bvh") && !is_there("stop.glb") && !is_there("stop.html"));
        no_parts();
    }
    print_message("interrupted: %d of 6 in the middle\n", stopped);
    assert_true(stopped > 0);
}

// Progress is for eyes: only where standard error is a terminal.
static void progress(void **unused) {
    (void)unused;
    assert_int_equal(sinew(QUICK), 0);
    assert_null(strstr(said, "frames/s, "));
    assert_null(strchr(said, '\r'));
    char line[600];
    if (shell("command -v script") != 0) {
        print_message("skipped: the command script, for a terminal, is not there\n");
        return;
    }
    for (int quiet = 0; quiet < (sampled() ? 1 : 2); quiet++) {
        (void)snprintf(line, sizeof line,
                       "cd '%s' && script -qec \"'%s' fit -m humanoid -i ex/take.c3d --calibrate "
                       "--frames 1:%d %s\" /dev/null </dev/null",
                       folder, SINEW_PROGRAM, sampled() ? 20 : 60, quiet ? "--quiet" : "");
        assert_int_equal(shell(line), 0);
        assert_true((strstr(said, "frames/s, ") != NULL) == !quiet);
        assert_true((strstr(said, "finishing, ") != NULL) == !quiet);
        assert_true((strstr(said, "calibrating") != NULL) == !quiet);
    }
}

// Joints whose names begin alike, parents after children, sliders: the report still holds.
static void report_of_odd_model(void **unused) {
    (void)unused;
    put("odd.json",
        "{\"joints\": [{\"name\": \"a_1\", \"parent\": \"a\", \"type\": \"euler\", \"order\": "
        "\"XYZ\", \"position\": [0,0.5,0]},"
        "{\"name\": \"a\", \"type\": \"free\"},"
        "{\"name\": \"a_1_2\", \"parent\": \"a_1\", \"type\": \"hinge\", \"axis\": [1,0,0], "
        "\"position\": [0,0.5,0], \"limits\": [[-0.1,0.1]]},"
        "{\"name\": \"a_1_2_3\", \"parent\": \"a_1_2\", \"type\": \"slider\", \"axis\": [0,1,0]},"
        "{\"name\": \"<b>&\", \"parent\": \"a\", \"type\": \"planar\", \"axis\": [0,1,0]}],"
        "\"markers\": [{\"name\": \"A\", \"joint\": \"a\", \"position\": [0.1,0,0]}, {\"name\": "
        "\"B\", \"joint\": \"a\", \"position\": [-0.1,0,0]},"
        "{\"name\": \"C\", \"joint\": \"a\", \"position\": [0,0.1,0.2]}, {\"name\": \"D\", "
        "\"joint\": \"a_1\", \"position\": [0.1,0.2,0]},"
        "{\"name\": \"E\", \"joint\": \"a_1_2_3\", \"position\": [0,0.2,0.1]}]}");
    put("odd.csv", "time,A:X,A:Y,A:Z,B:X,B:Y,B:Z,C:X,C:Y,C:Z,D:X,D:Y,D:Z,E:X,E:Y,E:Z\n"
                   "0,0.1,0,0,-0.1,0,0,0,0.1,0.2,0.1,0.7,0,0,1.2,0.1\n"
                   "0.1,0.1,0,0,-0.1,0,0,0,0.1,0.2,0.1,0.7,0,0,1.3,0.4\n"
                   "0.2,0.1,0,0,-0.1,0,0,0,0.1,0.2,0.1,0.7,0,,,\n");
    int code = sinew(
        "fit -m odd.json -i odd.csv --units m --up y --limits hard -o odd.glb --report odd.html");
    if (code != 0) fail_msg("%d: %s", code, said);
    size_t length;
    char *html = slurp(path_of("odd.html"), &length);
    assert_null(strstr(html, "<b>&<"));
    assert_non_null(strstr(html, "a_1_2_3"));
    // six panels: two of the root, two of the plane, one each of the others
    int places = 0, turns = 0;
    for (const char *at = strstr(html, "id=\"angles\"");
         at != NULL && (at = strstr(at + 1, "place, m")) != NULL;)
        places++;
    for (const char *at = strstr(html, "id=\"angles\"");
         at != NULL && (at = strstr(at + 1, "angle, degrees")) != NULL;)
        turns++;
    assert_int_equal(places, 3);
    assert_int_equal(turns, 4);
    free(html);
}

// A page with the take inside. Where no page is built, one of the same form stands in.
static void take_page(void **unused) {
    (void)unused;
    size_t length;
    expect(3, "--page none.html: there is no such file", QUICK "-o take.html --page none.html");
    put("plain.html", "<html><body></body></html>");
    expect(1, "plain.html is not sinew's page", QUICK "-o take.html --page plain.html");
    assert_false(is_there("take.html"));
    put("page.html", "<body>'</body>'<script id=\"wasm\"></script></body></html>");
    assert_int_equal(sinew(QUICK "-o take.html --page page.html --report r.html"), 0);
    char *html = slurp(path_of("take.html"), &length), *report = slurp(path_of("r.html"), &length);
    const char *bvh = strstr(html, "id=\"sinew-take-bvh\" data-metres=\"0.01\">"),
               *c3d = strstr(html, "id=\"sinew-take-c3d\""),
               *end = strstr(html, "</script>\n</body></html>");
    assert_true(bvh != NULL && c3d > bvh && end > c3d);
    // "take.bvh", a zero, "HIERARC..." in base64
    assert_memory_equal(strchr(bvh, '>') + 1, "dGFrZS5idmgASElFUkFSQ", 21);
    assert_non_null(strstr(report, "<a href=\"./take.html\">"));
    expect(1, "holds a take already", QUICK "-o again.html --page take.html");
    assert_int_equal(sinew(QUICK "-o take.html --page page.html --report ex/r.html"), 0);
    free(report);
    report = slurp(path_of("ex/r.html"), &length);
    assert_non_null(strstr(report, "<a href=\"file:///"));
    free(report);
    free(html);
    no_parts();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(take_page),      cmocka_unit_test(wrong_usage),
        cmocka_unit_test(bad_files),      cmocka_unit_test(outputs),
        cmocka_unit_test(options),        cmocka_unit_test(save_model),
        cmocka_unit_test(lengths_as_asf), cmocka_unit_test(truth),
        cmocka_unit_test(smoothing),      cmocka_unit_test(subjects),
        cmocka_unit_test(unwritable),     cmocka_unit_test(interrupted),
        cmocka_unit_test(progress),       cmocka_unit_test(report_of_odd_model),
    };
    return cmocka_run_group_tests(tests, fit_begin, fit_end);
}
