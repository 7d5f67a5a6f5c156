// SPDX-License-Identifier: MIT
// The parts of a fit: marker sets, names, axes and units, matching, measuring, second thoughts.
#include "memory_sink.h"
#include "take/fit.h"
#include "takes.h"

// --- marker sets -----------------------------------------------------------------------------------

static void set_round_trip(void **unused) {
    (void)unused;
    sn_marker_place places[3] = {{.name = "LFHD", .joint = "head", .placed = true, .weight = 1},
                                 {.name = "a \"b\"\\\n", .joint = "t\xc3\xb6", .weight = 0},
                                 {.name = "C7", .joint = "neck", .placed = true, .weight = 0.125}};
    places[0].position[0] = 0.1, places[0].position[1] = -1e-300, places[2].position[2] = 1.0 / 3;
    sn_marker_set *set = NULL, *again = NULL;
    sn_error error = {0};
    memory_sink sink;
    memory_sink_begin(&sink);
    assert_int_equal(sn_marker_set_create("my set", places, 3, NULL, &set, NULL), SN_OK);
    assert_int_equal(sn_marker_set_write_json(set, &sink.base, NULL), SN_OK);
    if (sn_marker_set_read_json(sink.bytes, sink.length, NULL, &again, &error) != SN_OK)
        fail_msg("%s", error.text);
    assert_string_equal(sn_marker_set_name(again), "my set");
    assert_int_equal(sn_marker_set_count(again), 3);
    for (int i = 0; i < 3; i++) {
        const sn_marker_place *p = sn_marker_set_place(again, i);
        assert_string_equal(p->name, places[i].name);
        assert_string_equal(p->joint, places[i].joint);
        assert_true(p->placed == places[i].placed && p->weight == places[i].weight);
        assert_memory_equal(p->position, places[i].position, sizeof p->position);
    }
    assert_null(sn_marker_set_place(again, -1));
    assert_null(sn_marker_set_place(again, 3));
    // a disk that is full, at any byte
    for (size_t room = 0; room < sink.length; room += 37) {
        memory_sink little;
        memory_sink_begin(&little);
        little.room = room;
        assert_int_equal(sn_marker_set_write_json(set, &little.base, NULL), SN_ERR_FILE);
        free(little.bytes);
    }
    sn_marker_set_destroy(set);
    sn_marker_set_destroy(again);
    sn_marker_set_destroy(NULL);
    free(sink.bytes);
}

static void set_malformed(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } wrong[] = {
        {"", 1, ""},
        {"[1, 2]", 1, "no \"markers\""},
        {"\n\"markers\"", 2, "no \"markers\""},
        {"{\"markers\": {}}", 1, "no \"markers\""},
        {"{\"markers\": []}", 1, "no \"markers\""},
        {"{\"markers\": [1]}", 1, "marker 0"},
        {"{\"markers\": [\n{\"name\": \"A\", \"joint\": \"j\"},\n{\"joint\": \"j\"}]}", 3,
         "marker 1 has no name"},
        {"{\"markers\": [{\"name\": \"\", \"joint\": \"j\"}]}", 1, "marker 0 has no name"},
        {"{\"markers\": [{\"name\": 7, \"joint\": \"j\"}]}", 1, "name"},
        {"{\"markers\": [\n\n{\"name\": \"A\"}]}", 3, "marker \"A\" has no joint"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": 3}]}", 1, "joint"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": \"j\", \"position\": [1, 2]}]}", 1,
         "position"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": \"j\", \"position\": [1, 2, \"x\"]}]}", 1,
         "position"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": \"j\", \"weight\": -1}]}", 1,
         "weight must be 0 or above"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": \"j\", \"weight\": \"1\"}]}", 1, "weight"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": \"j\", \"wieght\": 1}]}", 1, "wieght"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": \"j\"},\n{\"name\": \"x:A\", \"joint\": "
         "\"j\"}]}",
         2, "marker \"A\" stands here twice"},
        {"{\"markers\": [{\"name\": \"A\", \"joint\": \"j\"}", 1, ""},
        // a model's joints by number
        {"{\"joints\": [{\"name\": \"j\"}], \"markers\": [{\"name\": \"A\", \"joint\": 1}]}", 1,
         "has no joint"},
        {"{\"joints\": [{\"name\": \"j\"}], \"markers\": [{\"name\": \"A\", \"joint\": -1}]}", 1,
         "has no joint"},
        {"{\"joints\": [{\"name\": \"j\"}], \"markers\": [{\"name\": \"A\", \"joint\": 0.5}]}", 1,
         "has no joint"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sn_marker_set *set = (sn_marker_set *)&set;
        sn_error error = {0};
        sn_status status =
            sn_marker_set_read_json(wrong[i].text, strlen(wrong[i].text), NULL, &set, &error);
        if (status == SN_OK || set != NULL || error.line != wrong[i].line ||
            error.text[0] == '\0' || strstr(error.text, wrong[i].says) == NULL)
            fail_msg("%s: status %d, line %d, \"%s\"", wrong[i].text, (int)status, error.line,
                     error.text);
    }
    // names as long as can be, and one longer
    for (int n = SN_MAX_LABEL; n <= SN_MAX_LABEL + 1; n++) {
        char text[256];
        sn_marker_set *set = NULL;
        (void)snprintf(text, sizeof text, "{\"markers\": [{\"name\": \"%0*d\", \"joint\": \"j\"}]}",
                       n, 1);
        sn_status status = sn_marker_set_read_json(text, strlen(text), NULL, &set, NULL);
        assert_int_equal(status, n <= SN_MAX_LABEL ? SN_OK : SN_ERR_PARSE);
        sn_marker_set_destroy(set);
    }
    // more than there may be is said as such
    size_t room = 40 * (size_t)(SN_MAX_MARKERS + 10), at = 0;
    char *many = malloc(room);
    assert_non_null(many);
    at += (size_t)snprintf(many, room, "{\"markers\": [");
    for (int i = 0; i <= SN_MAX_MARKERS; i++)
        at += (size_t)snprintf(many + at, room - at, "%s{\"name\": \"m%d\", \"joint\": \"j\"}",
                               i > 0 ? "," : "", i);
    at += (size_t)snprintf(many + at, room - at, "]}");
    sn_marker_set *set = NULL;
    sn_error error = {0};
    assert_int_equal(sn_marker_set_read_json(many, at, NULL, &set, &error), SN_ERR_SIZE);
    assert_non_null(strstr(error.text, "100001 markers"));
    free(many);
}

// A model file is a marker set, and applying it gives the model back.
static void set_of_model(void **state) {
    example_take *t = *state;
    char *text;
    sn_marker_set *set = NULL, *read = NULL;
    sn_model *applied = NULL;
    sn_error error = {0};
    assert_int_equal(sn_model_text(t->subject, NULL, &text), SN_OK);
    assert_int_equal(sn_marker_set_read_json(text, strlen(text), NULL, &read, &error), SN_OK);
    assert_int_equal(sn_marker_set_of_model(t->subject, NULL, &set, NULL), SN_OK);
    assert_int_equal(sn_marker_set_count(set), 41);
    for (int i = 0; i < 41; i++)
        assert_memory_equal(sn_marker_set_place(set, i), sn_marker_set_place(read, i),
                            sizeof(sn_marker_place));
    double *factor = malloc((size_t)sn_model_njoint(t->model) * sizeof *factor);
    assert_non_null(factor);
    for (int j = 0; j < sn_model_njoint(t->model); j++) factor[j] = 1 + 0.01 * j;
    assert_int_equal(
        sn_marker_set_apply(set, t->model, SN_LIMITS_OFF, factor, NULL, &applied, &error), SN_OK);
    for (int j = 0; j < sn_model_njoint(t->model); j++) {
        const sn_joint_desc *a = sn_model_joint(applied, j), *b = sn_model_joint(t->model, j);
        for (int c = 0; c < 3; c++)
            assert_true(a->position[c] ==
                        b->position[c] * (b->parent >= 0 ? factor[b->parent] : 1));
        for (int c = 0; c < SN_MAX_JOINT_DOFS; c++)
            assert_true(a->lower[c] == -(double)INFINITY && a->upper[c] == (double)INFINITY);
    }
    sn_model_destroy(applied);
    assert_int_equal(
        sn_marker_set_apply(set, t->model, SN_LIMITS_HARD, NULL, NULL, &applied, &error), SN_OK);
    assert_memory_equal(sn_model_lower(applied), sn_model_lower(t->model),
                        (size_t)sn_model_nv(t->model) * sizeof(double));
    sn_model_destroy(applied);
    // a joint that is not there
    sn_marker_place one = {.name = "A", .joint = "Left_Handd", .weight = 1};
    sn_marker_set *bad;
    assert_int_equal(sn_marker_set_create("bad", &one, 1, NULL, &bad, NULL), SN_OK);
    assert_int_equal(
        sn_marker_set_apply(bad, t->model, SN_LIMITS_OFF, NULL, NULL, &applied, &error),
        SN_ERR_MODEL);
    assert_null(applied);
    assert_non_null(strstr(error.text, "marker A sits on \"Left_Handd\""));
    assert_non_null(strstr(error.text, "did you mean \"left_hand\"?"));
    free(factor);
    sn_marker_set_destroy(bad);
    sn_marker_set_destroy(set);
    sn_marker_set_destroy(read);
    sn_release(NULL, text);
}

// --- the built-in set ------------------------------------------------------------------------------

// A figure that stands along y with these names of hips, the left leg and the like.
static sn_model *figure(const char *const names[12]) {
    static const struct {
        int parent;
        double at[3];
    } bones[12] = {{-1, {0, 0.95, 0}}, {0, {0, 0.15, 0}},    {1, {0, 0.35, 0}}, {0, {0.1, 0, 0}},
                   {3, {0, -0.42, 0}}, {4, {0, -0.42, 0}},   {0, {-0.1, 0, 0}}, {6, {0, -0.42, 0}},
                   {7, {0, -0.42, 0}}, {1, {0.18, 0.25, 0}}, {9, {0.28, 0, 0}}, {10, {0.25, 0, 0}}};
    sn_builder *builder;
    sn_model *model = NULL;
    assert_int_equal(sn_builder_create("figure", NULL, &builder, NULL), SN_OK);
    for (int i = 0; i < 12; i++) {
        sn_joint_desc d = sn_joint_default(i == 0 ? SN_JOINT_FREE : SN_JOINT_EULER);
        d.name = names[i];
        d.parent = bones[i].parent;
        memcpy(d.position, bones[i].at, sizeof d.position);
        assert_int_equal(sn_builder_joint(builder, &d), i);
    }
    assert_int_equal(sn_builder_finish(builder, &model, NULL), SN_OK);
    sn_builder_destroy(builder);
    return model;
}

static const char *joint_of(const sn_marker_set *set, const char *marker) {
    for (int i = 0; i < sn_marker_set_count(set); i++)
        if (strcmp(sn_marker_set_place(set, i)->name, marker) == 0)
            return sn_marker_set_place(set, i)->joint;
    return "nothing";
}

static void builtin_names(void **unused) {
    (void)unused;
    static const char *const figures[][12] = {
        {"root", "thorax", "head", "lfemur", "ltibia", "lfoot", "rfemur", "rtibia", "rfoot",
         "lhumerus", "lradius", "lhand"},
        {"Hips", "Spine", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg",
         "RightFoot", "LeftArm", "LeftForeArm", "LeftHand"},
        {"mixamorig:Hips", "mixamorig:Spine", "mixamorig:Head", "mixamorig:LeftUpLeg",
         "mixamorig:LeftLeg", "mixamorig:LeftFoot", "mixamorig:RightUpLeg", "mixamorig:RightLeg",
         "mixamorig:RightFoot", "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:LeftHand"},
        {"Bip01", "Bip01 Spine", "Bip01 Head", "Bip01 L Thigh", "Bip01 L Calf", "Bip01 L Foot",
         "Bip01 R Thigh", "Bip01 R Calf", "Bip01 R Foot", "Bip01 L UpperArm", "Bip01 L Forearm",
         "Bip01 L Hand"},
        {"pelvis", "spine_01", "head", "thigh_l", "calf_l", "foot_l", "thigh_r", "calf_r", "foot_r",
         "upperarm_l", "lowerarm_l", "hand_l"},
        {"Hips", "Chest", "Head", "LeftHip", "LeftKnee", "LeftAnkle", "RightHip", "RightKnee",
         "RightAnkle", "LeftShoulder", "LeftElbow", "LeftWrist"},
        {"hip", "abdomen", "head", "lThigh", "lShin", "lFoot", "rThigh", "rShin", "rFoot", "lShldr",
         "lForeArm", "lHand"},
    };
    for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++) {
        sn_model *model = figure(figures[k]);
        sn_marker_set *set = NULL;
        sn_error error = {0};
        if (sn_marker_set_builtin(model, NULL, NULL, &set, &error) != SN_OK)
            fail_msg("figure %zu: %s", k, error.text);
        const char *const *n = figures[k];
        static const struct {
            const char *marker;
            int joint;
        } wanted[] = {{"LFHD", 2}, {"RBHD", 2}, {"LKNE", 3},  {"LTHI", 3},
                      {"LSHN", 4}, {"LANK", 5}, {"RKNE", 6},  {"RANK", 8},
                      {"LFWT", 0}, {"RBWT", 0}, {"LFRM", 10}, {"LELB", 9}};
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            if (strcmp(joint_of(set, wanted[i].marker), n[wanted[i].joint]) != 0)
                fail_msg("figure %zu: %s on %s instead of %s", k, wanted[i].marker,
                         joint_of(set, wanted[i].marker), n[wanted[i].joint]);
        // first guesses: left of the left knee, in front of and behind the hips
        for (int i = 0; i < sn_marker_set_count(set); i++) {
            const sn_marker_place *p = sn_marker_set_place(set, i);
            assert_false(p->placed);
            if (strcmp(p->name, "LKNE") == 0)
                assert_true(p->position[0] > 0.03 && p->position[1] < -0.3);
            if (strcmp(p->name, "RKNE") == 0) assert_true(p->position[0] < -0.03);
            if (strcmp(p->name, "LFWT") == 0) assert_true(p->position[2] > 0.05);
            if (strcmp(p->name, "RBWT") == 0)
                assert_true(p->position[2] < -0.05 && p->position[0] < 0);
        }
        // and every joint with a side has its mirror image
        for (int j = 3; j < 9; j++)
            if (sn_model_mirror_joint(model, j) != (j < 6 ? j + 3 : j - 3))
                fail_msg("the mirror image of %s is %d", n[j], sn_model_mirror_joint(model, j));
        assert_int_equal(sn_model_mirror_joint(model, 0), -1);
        sn_marker_set_destroy(set);
        sn_model_destroy(model);
    }
}

// The first joint may be a mirror image, too.
static void mirrored(void **unused) {
    (void)unused;
    sn_builder *b;
    sn_model *model;
    sn_joint_desc left = sn_joint_default(SN_JOINT_BALL), right = left;
    left.name = "left", right.name = "right", right.parent = 0;
    assert_int_equal(sn_builder_create("two", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &left), (void)sn_builder_joint(b, &right);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_builder_destroy(b);
    assert_int_equal(sn_model_mirror_joint(model, 0), 1);
    assert_int_equal(sn_model_mirror_joint(model, 1), 0);
    sn_model_destroy(model);
}

// The figure's size by what two markers are apart; a sample of which one number is missing does not count.
static void measured_size(void **unused) {
    (void)unused;
    static const char text[] = "{\"joints\": [{\"name\": \"a\", \"type\": \"free\"}], \"markers\": "
                               "[{\"name\": \"p\", \"joint\": \"a\"}, "
                               "{\"name\": \"q\", \"joint\": \"a\", \"position\": [0, 1, 0]}]}";
    static const char *const labels[] = {"p", "q"};
    const sn_recording_info info = {.nframe = 30, .nmarker = 2, .rate = 100, .metres_per_unit = 1};
    const int column[2] = {0, 1};
    const sn_vec3 rest[2] = {{0, 0, 0}, {0, 1, 0}};
    sn_model *model;
    sn_recording *recording;
    double size;
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_recording_create(&info, labels, NULL, &recording, NULL), SN_OK);
    for (int f = 0; f < 30; f++) {
        double *x = sn_recording_edit(recording, f);
        memset(x, 0, 6 * sizeof *x);
        x[4] = 1.25;
        if (f < 6) x[f] = NAN;
    }
    const sn_fit_input in = {.model = model,
                             .recording = recording,
                             .column = column,
                             .axes = sn_axis_map_identity(),
                             .count = 30};
    assert_int_equal(sn_fit_size(&in, rest, 1, NULL, &size), SN_OK);
    assert_near(size, 1.25, 1e-12);
    sn_recording_destroy(recording);
    sn_model_destroy(model);
}

static void builtin_refused(void **state) {
    example_take *t = *state;
    uint64_t random = 3;
    sn_model *model = random_model(&random, 12, SN_JOINT_HINGE);
    sn_marker_set *set = (sn_marker_set *)&set;
    sn_error error = {0};
    assert_int_equal(sn_marker_set_builtin(model, NULL, NULL, &set, &error), SN_ERR_MODEL);
    assert_null(set);
    assert_non_null(strstr(error.text, "usual names"));
    sn_model_destroy(model);
    // a recording of something else
    static const char *const labels[] = {"LFHD", "C7", "wing"};
    sn_recording *other;
    sn_recording_info info = {.nframe = 1, .nmarker = 3};
    assert_int_equal(sn_recording_create(&info, labels, NULL, &other, NULL), SN_OK);
    assert_int_equal(sn_marker_set_builtin(t->model, other, NULL, &set, &error), SN_ERR_MODEL);
    assert_non_null(strstr(error.text, "only 2 of the recording's labels"));
    sn_recording_destroy(other);
    // all 41 of the example, and 2 x 18 + 5 spots without one
    assert_int_equal(sn_marker_set_builtin(t->model, t->recording, NULL, &set, &error), SN_OK);
    assert_int_equal(sn_marker_set_count(set), 41);
    sn_marker_set_destroy(set);
    assert_int_equal(sn_marker_set_builtin(t->model, NULL, NULL, &set, &error), SN_OK);
    assert_int_equal(sn_marker_set_count(set), 41);
    sn_marker_set_destroy(set);
}

// What has nothing to work on says so.
static void nothing_given(void **unused) {
    (void)unused;
    sn_motion *motion;
    sn_error error = {0};
    sn_fit_input input = {0};
    sn_fit_summary summary;
    sn_fit_frame frame;
    sn_fit_marker marker;
    assert_int_equal(sn_motion_create(1, 1, 1, 100, NULL, &motion, NULL), SN_OK);
    assert_int_equal(sn_fit_run(NULL, NULL, NULL, motion, &frame, &marker, &summary, &error),
                     SN_ERR_ARGUMENT);
    assert_true(error.text[0] != '\0');
    assert_int_equal(sn_fit_run(&input, NULL, NULL, NULL, &frame, &marker, &summary, NULL),
                     SN_ERR_ARGUMENT);
    assert_int_equal(sn_fit_run(&input, NULL, NULL, motion, &frame, &marker, &summary, NULL),
                     SN_ERR_ARGUMENT);
    sn_motion_destroy(motion);
}

static void nearest(void **unused) {
    (void)unused;
    static const char *const names[] = {"LFHD", "RFHD", "left_hand", "C7", ""};
    assert_int_equal(sn_nearest_name("LFHD", names, 5), 0);
    assert_int_equal(sn_nearest_name("rfhd", names, 5), 1);
    assert_int_equal(sn_nearest_name("LFHD1", names, 5), 0);
    assert_int_equal(sn_nearest_name("LeftHand", names, 5), 2);
    assert_int_equal(sn_nearest_name("RBHD", names, 5), 1);
    assert_int_equal(sn_nearest_name("XFHD", names, 5),
                     0);  // as near as the second: the first counts
    assert_int_equal(sn_nearest_name("knee", names, 5), -1);
    assert_int_equal(sn_nearest_name("x", names, 5), -1);
    assert_int_equal(sn_nearest_name("LFHD", names, 0), -1);
    char longer[200];
    memset(longer, 'a', sizeof longer);
    longer[199] = '\0';
    assert_int_equal(sn_nearest_name(longer, names, 5), -1);
}

// --- axes and units ----------------------------------------------------------------------------------

static double determinant(const sn_axis_map *m) {
    double R[9] = {0};
    for (int i = 0; i < 3; i++) R[3 * i + m->axis[i]] = m->sign[i];
    return R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
           R[2] * (R[3] * R[7] - R[4] * R[6]);
}

static void axis_maps(void **unused) {
    (void)unused;
    int good = 0;
    for (int code = 0; code < 27 * 8; code++) {
        char text[8], printed[8];
        int n = 0, axis[3] = {code / 72, code / 24 % 3, code / 8 % 3};
        for (int i = 0; i < 3; i++) {
            if (code >> i & 1) text[n++] = '-';
            text[n++] = "xyz"[axis[i]];
        }
        text[n] = '\0';
        bool twice = axis[0] == axis[1] || axis[1] == axis[2] || axis[0] == axis[2];
        sn_axis_map m;
        bool parsed = sn_axis_map_parse(text, &m);
        if (twice) {
            assert_false(parsed);
            continue;
        }
        sn_axis_map want = {{axis[0], axis[1], axis[2]},
                            {code & 1 ? -1 : 1, code & 2 ? -1 : 1, code & 4 ? -1 : 1},
                            1};
        if (parsed != (determinant(&want) > 0)) fail_msg("%s: parsed %d", text, (int)parsed);
        if (!parsed) continue;
        good++;
        sn_axis_map_print(&m, printed);
        assert_string_equal(printed, text);
        m.scale = 2;
        double x[3] = {1, 10, 100};
        sn_axis_map_point(&m, x, x);
        const double from[3] = {1, 10, 100};
        for (int i = 0; i < 3; i++) assert_true(x[i] == 2 * want.sign[i] * from[axis[i]]);
    }
    assert_int_equal(good, 24);
    sn_axis_map m;
    assert_true(sn_axis_map_parse("+Y, +Z, +X", &m) && m.axis[0] == 1);
    static const char *const wrong[] = {"",      "x",   "xy",  "xyzx", "xy ", "xyw",
                                        "--xyz", "x y", "xzy", "-xyz", "yz"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(sn_axis_map_parse(wrong[i], &m));
    static const char *const no_axis[] = {"", "-", "+", "w", "xy", "{", "--x", " x"};
    int axis;
    double sign;
    for (size_t i = 0; i < sizeof no_axis / sizeof no_axis[0]; i++)
        assert_false(sn_axis_parse(no_axis[i], &axis, &sign));
    assert_true(sn_axis_parse("-Z", &axis, &sign) && axis == 2 && sign == -1);
    assert_true(sn_axis_parse("+x", &axis, &sign) && axis == 0 && sign == 1);
    // from every up to every up: a rotation that does so
    for (int from = 0; from < 6; from++)
        for (int to = 0; to < 6; to++) {
            double s = from < 3 ? 1 : -1, z = to < 3 ? 1 : -1, up[3] = {0}, out[3];
            m = sn_axis_map_up(from % 3, s, to % 3, z);
            assert_true(determinant(&m) == 1);
            up[from % 3] = s;
            sn_axis_map_point(&m, up, out);
            for (int i = 0; i < 3; i++) assert_true(out[i] == (i == to % 3 ? z : 0));
        }
    char text[8];
    m = sn_axis_map_up(2, 1, 1, 1);
    sn_axis_map_print(&m, text);
    assert_string_equal(text, "yzx");
    m = sn_axis_map_up(1, -1, 1, -1);
    sn_axis_map_print(&m, text);
    assert_string_equal(text, "xyz");
}

typedef struct found_case {
    const char *name, *map;  // of the example into the recording
    double scale;            // of the numbers
    const char *stated;      // up
    double metres;           // stated, 0 for none
    int up;
    double sign;
    sn_known up_known, unit_known;
    bool conflict, doubtful;
    double unit;
} found_case;

// The example, seen as other laboratories would have written it.
static void axes_found(void **state) {
    example_take *t = *state;
    static const found_case all[] = {
        {"z up, mm stated", "zxy", 1, "+Z", 0.001, 2, 1, SN_KNOWN_STATED, SN_KNOWN_STATED, false,
         false, 0.001},
        {"y up, nothing stated, m", "xyz", 1, "", 0, 1, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, false,
         false, 1},
        {"z up, nothing stated, mm", "zxy", 1000, "", 0, 2, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND,
         false, false, 0.001},
        {"z up, nothing stated, cm", "zxy", 100, "", 0, 2, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, false,
         false, 0.01},
        {"x up, nothing stated, in", "yzx", 1 / 0.0254, "", 0, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND,
         false, false, 0.0254},
        {"z up, y stated", "zxy", 1, "+Y", 1, 2, 1, SN_KNOWN_FOUND, SN_KNOWN_STATED, true, false,
         1},
        {"upside down along y", "-x-yz", 1, "", 1, 1, -1, SN_KNOWN_FOUND, SN_KNOWN_STATED, false,
         false, 1},
        {"upside down, +Y stated", "-x-yz", 1, "+Y", 1, 1, -1, SN_KNOWN_FOUND, SN_KNOWN_STATED,
         true, false, 1},
        {"-z up", "zxy", 1, "+Z", 1, 2, 1, SN_KNOWN_STATED, SN_KNOWN_STATED, false, false, 1},
        {"m stated, mm meant", "xyz", 1000, "+Y", 1, 1, 1, SN_KNOWN_STATED, SN_KNOWN_STATED, false,
         true, 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const found_case *c = &all[i];
        sn_axis_map map;
        sn_axes_report r;
        sn_recording_info info = *sn_recording_about(t->recording);
        assert_true(sn_axis_map_parse(c->map, &map));
        map.scale = c->scale;
        info.metres_per_unit = c->metres;
        (void)snprintf(info.y_screen, sizeof info.y_screen, "%s", c->stated);
        sn_recording *turned = recording_turned(t->recording, &map, &info);
        assert_int_equal(sn_axes_find(t->model, turned, 1, 1, NULL, &r, NULL), SN_OK);
        if (r.up != c->up || r.up_sign != c->sign || r.up_known != c->up_known ||
            r.unit_known != c->unit_known || r.up_conflict != c->conflict ||
            r.unit_doubtful != c->doubtful || r.unit != c->unit)
            fail_msg("%s: up %d %g (%d, conflict %d), unit %g (%d, doubtful %d, size %g)", c->name,
                     r.up, r.up_sign, (int)r.up_known, (int)r.up_conflict, r.unit,
                     (int)r.unit_known, (int)r.unit_doubtful, r.size);
        // and without the model, against the built-in figure
        sn_axes_report g;
        assert_int_equal(sn_axes_guess(turned, NULL, &g, NULL), SN_OK);
        assert_true(g.up == r.up && g.up_sign == r.up_sign && g.up_known == r.up_known &&
                    g.up_conflict == r.up_conflict && g.unit == r.unit &&
                    g.unit_known == r.unit_known && g.map.scale == r.map.scale);
        // the markers stand upright in the model's world: heads above feet, in metres
        double head[3], foot[3];
        const double *x = sn_recording_frame(turned, 30);
        sn_axis_map_point(&r.map, x + 3 * sn_recording_find(turned, "LFHD"), head);
        sn_axis_map_point(&r.map, x + 3 * sn_recording_find(turned, "LANK"), foot);
        assert_true(determinant(&r.map) == 1);
        if (!c->doubtful) assert_true(head[1] - foot[1] > 1.3 && head[1] - foot[1] < 1.9);
        sn_recording_destroy(turned);
    }
    // nobody there: what is stated, else the model's
    sn_recording_info info = *sn_recording_about(t->recording);
    sn_axes_report r;
    sn_axis_map same = sn_axis_map_identity();
    info.y_screen[0] = '\0';
    sn_recording *empty = recording_turned(t->recording, &same, &info);
    uint64_t random = 1;
    spoil_gaps(empty, 1, &random);
    assert_int_equal(sn_axes_find(t->model, empty, 2, -1, NULL, &r, NULL), SN_OK);
    assert_true(r.up == 2 && r.up_sign == -1 && r.up_known == SN_KNOWN_ASSUMED);
    sn_recording_destroy(empty);
}

// Labels of no set: who stands on the floor, and how tall, tells the axis and the unit.
static void axes_by_shape(void **state) {
    example_take *t = *state;
    static const struct {
        const char *map, *stated;
        double scale, metres;
        int up;
        sn_known up_known, unit_known;
        double unit;
    } all[] = {
        {"xyz", "", 1, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, 1},
        {"zxy", "", 100, 0, 2, SN_KNOWN_FOUND, SN_KNOWN_FOUND, 0.01},
        {"xyz", "", 1000, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_FOUND, 0.001},
        {"xyz", "+Z", 1000, 0.01, 2, SN_KNOWN_STATED, SN_KNOWN_STATED,
         0.01},                                                       // what is stated stands
        {"xyz", "", 1e6, 0, 1, SN_KNOWN_FOUND, SN_KNOWN_ASSUMED, 1},  // no unit makes a person
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sn_axis_map map;
        sn_axes_report r;
        char text[64][8];
        const char *labels[64];
        sn_recording_info info = *sn_recording_about(t->recording);
        assert_true(info.nmarker <= 64 && sn_axis_map_parse(all[i].map, &map));
        map.scale = all[i].scale;
        info.metres_per_unit = all[i].metres;
        (void)snprintf(info.y_screen, sizeof info.y_screen, "%s", all[i].stated);
        sn_recording *turned = recording_turned(t->recording, &map, &info), *strange;
        for (int k = 0; k < info.nmarker; k++) {
            (void)snprintf(text[k], sizeof text[k], "q%d", k);
            labels[k] = text[k];
        }
        assert_int_equal(sn_recording_create(&info, labels, NULL, &strange, NULL), SN_OK);
        for (int f = 0; f < info.nframe; f++)
            memcpy(sn_recording_edit(strange, f), sn_recording_frame(turned, f),
                   3 * (size_t)info.nmarker * sizeof(double));
        assert_int_equal(sn_axes_guess(strange, NULL, &r, NULL), SN_OK);
        if (r.up != all[i].up || r.up_sign != 1 || r.up_known != all[i].up_known ||
            r.unit_known != all[i].unit_known || r.unit != all[i].unit)
            fail_msg("%zu: up %d %g (%d), unit %g (%d)", i, r.up, r.up_sign, (int)r.up_known,
                     r.unit, (int)r.unit_known);
        sn_recording_destroy(turned);
        sn_recording_destroy(strange);
    }
}

// --- matching ----------------------------------------------------------------------------------------

static void matching(void **state) {
    example_take *t = *state;
    static const char *const labels[] = {"Ann:LFHD", "Ann:RFHD", "Bob:LFHD",
                                         "Bob:RFHD", "Bob:C7",   "T10"};
    sn_recording *two;
    sn_recording_info info = {.nframe = 1, .nmarker = 6};
    int column[41];
    assert_int_equal(sn_recording_create(&info, labels, NULL, &two, NULL), SN_OK);
    assert_int_equal(sn_fit_match(t->model, two, NULL, column), -1);
    assert_int_equal(sn_fit_match(t->model, two, "Ann", column), 2);
    assert_int_equal(column[sn_model_find_marker(t->model, "LFHD")], 0);
    // what only the other has is not hers
    assert_int_equal(column[sn_model_find_marker(t->model, "C7")], -1);
    assert_int_equal(sn_fit_match(t->model, two, "Bob", column), 3);
    assert_int_equal(column[sn_model_find_marker(t->model, "RFHD")], 3);
    assert_int_equal(sn_fit_match(t->model, two, "Bo", column), 0);
    sn_recording_destroy(two);
    assert_int_equal(sn_fit_match(t->model, t->recording, NULL, column), 41);
    assert_int_equal(sn_fit_match(t->model, t->recording, "figure", column), 41);
}

// --- measuring ---------------------------------------------------------------------------------------

static void measured(void **state) {
    example_take *t = *state;
    int column[41], n = 200;
    sn_axis_map axes;
    assert_true(sn_axis_map_parse("yzx", &axes));
    axes.scale = 0.5;
    sn_axis_map back;
    assert_true(sn_axis_map_parse("zxy", &back));
    back.scale = 2;
    sn_recording_info info = *sn_recording_about(t->recording);
    sn_recording *turned = recording_turned(t->recording, &back, &info);
    assert_int_equal(sn_fit_match(t->subject, turned, NULL, column), 41);
    column[7] = -1;
    sn_fit_input in = {
        .model = t->subject, .recording = turned, .column = column, .axes = axes, .count = n};
    sn_fit_frame *frames = malloc((size_t)n * sizeof *frames);
    sn_fit_marker markers[41];
    sn_fit_summary s;
    sn_motion *part;
    assert_non_null(frames);
    int nq = sn_model_nq(t->model);
    assert_int_equal(sn_motion_create(n, nq, 1, 120, NULL, &part, NULL), SN_OK);
    for (int f = 0; f < n; f++)
        memcpy(sn_motion_edit(part, f), sn_motion_frame(t->truth, f), (size_t)nq * sizeof(double));
    assert_int_equal(sn_fit_measure(&in, part, NULL, frames, markers, &s), SN_OK);
    double rms = plain_rms(t->subject, part, turned, column, &axes, 0, 1), square = 0, worst = 0,
           mean = 0;
    assert_near(1e3 * s.rms, 1e3 * rms, 1e-9);
    assert_near(1e3 * s.rms, 1e3 * 0.002 * sqrt(3), 0.02);
    long seen = 0;
    for (int i = 0; i < 41; i++) {
        seen += markers[i].seen;
        square += markers[i].seen * markers[i].rms * markers[i].rms;
        mean += markers[i].seen * markers[i].mean;
        worst = fmax(worst, markers[i].worst);
        assert_true(markers[i].worst >= markers[i].rms && markers[i].rms >= markers[i].mean);
    }
    assert_true(markers[7].seen == 0 && markers[7].worst_frame == -1);
    assert_true(seen == s.samples && s.samples + s.missing == 40L * n && s.missing > 0);
    assert_near(1e6 * square / (double)seen, 1e6 * s.rms * s.rms, 1e-9);
    assert_near(1e3 * mean / (double)seen, 1e3 * s.mean, 1e-9);
    assert_near(1e3 * worst, 1e3 * s.worst, 1e-6);
    assert_near(1e3 * (double)frames[s.worst_frame].worst, 1e3 * s.worst, 1e-6);
    assert_near(1e3 * markers[s.worst_marker].worst, 1e3 * s.worst, 1e-6);
    square = 0;
    for (int f = 0; f < n; f++)
        square += frames[f].markers * (double)frames[f].rms * (double)frames[f].rms;
    assert_near(1e6 * square / (double)seen, 1e6 * s.rms * s.rms, 1e-5);
    sn_motion_destroy(part);
    free(frames);
    sn_recording_destroy(turned);
}

// --- second thoughts ---------------------------------------------------------------------------------

// What holds the joints of a skeleton as BVH files have them: three angles each.
static void posture(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        int parent;
        double position[3], wanted[3];  // weights about z, y, x
    } bones[] = {{"Hips", -1, {0, 0, 0}, {0}},
                 {"Spine", 0, {0, 0.1, 0}, {300, 300, 300}},
                 {"LeftShoulder", 1, {0.05, 0.4, 0}, {300, 300, 300}},
                 {"LeftArm", 2, {0.1, 0, 0}, {1, 1, 1}},
                 {"LeftForeArm", 3, {0.3, 0, 0}, {1, 1, 30}},
                 {"LeftHand", 4, {0.25, 0, 0}, {50, 50, 50}},
                 {"RightArm", 1, {-0.1, 0.4, 0}, {1, 1, 1}},
                 {"RightForeArm", 6, {-0.3, 0, 0}, {1, 1, 30}},
                 {"RightHand", 7, {-0.25, 0, 0}, {50, 50, 50}},
                 {"LeftUpLeg", 0, {0.1, 0, 0}, {1, 1, 1}},
                 {"LeftLeg", 9, {0, -0.4, 0}, {100, 100, 1}},
                 {"LeftFoot", 10, {0, -0.4, 0}, {30, 30, 30}},
                 {"LeftToeBase", 11, {0, -0.1, 0.1}, {100, 100, 100}},
                 {"RightUpLeg", 0, {-0.1, 0, 0}, {1, 1, 1}},
                 {"RightLeg", 13, {0, -0.4, 0}, {100, 100, 1}}};
    enum { BONES = sizeof bones / sizeof bones[0] };
    for (int human = 0; human < 2; human++) {
        sn_builder *b;
        sn_model *model;
        double q[7 + 3 * BONES], weight[6 + 3 * BONES];
        assert_int_equal(sn_builder_create("bvh", NULL, &b, NULL), SN_OK);
        for (int i = 0; i < BONES; i++) {
            sn_joint_desc d = sn_joint_default(i == 0 ? SN_JOINT_FREE : SN_JOINT_EULER);
            char name[32];
            (void)snprintf(name, sizeof name, "%s%s", human ? "" : "x", bones[i].name);
            d.name = name;
            d.parent = bones[i].parent;
            memcpy(d.position, bones[i].position, sizeof d.position);
            (void)snprintf(d.order, sizeof d.order, "ZYX");
            (void)sn_builder_joint(b, &d);
        }
        assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
        sn_builder_destroy(b);
        sn_fit_posture(model, q, weight);
        for (int i = 0; i < 6; i++) assert_true(weight[i] == 0);
        for (int i = 1; i < BONES; i++)
            for (int k = 0; k < 3; k++)
                assert_near(weight[6 + 3 * (i - 1) + k], human ? bones[i].wanted[k] : 1, 1e-12);
        sn_model_destroy(model);
    }
}

// Sets by their labels, on the built-in figure: how many have a place, and what the set is called.
static void sets_by_name(void **unused) {
    (void)unused;
    static const struct {
        const char *name;
        int known;
        const char *labels[40];
    } sets[] = {
        {"Plug-in Gait", 22, {"LASI", "RASI", "LPSI", "RPSI", "LTHI", "RTHI", "LKNE", "RKNE",
                              "LTIB", "RTIB", "LANK", "RANK", "LHEE", "RHEE", "LTOE", "RTOE",
                              "LSHO", "RSHO", "C7",   "CLAV", "LFRA", "RBAK"}},
        {"Plug-in Gait with a sacral marker",
         16,
         {"LASI", "RASI", "SACR", "LTHI", "RTHI", "LKNE", "RKNE", "LTIB", "RTIB", "LANK", "RANK",
          "LHEE", "RHEE", "LTOE", "RTOE", "LKNM"}},
        {"Helen Hayes",
         17,
         {"R.ASIS", "L.ASIS", "V.Sacral", "R.Thigh.Upper", "L.Thigh.Upper", "R.Knee.Lat",
          "L.Knee.Lat", "R.Knee.Med", "R.Shank.Upper", "L.Shank.Upper", "R.Ankle.Lat",
          "L.Ankle.Lat", "R.Ankle.Med", "R.Heel", "L.Heel", "R.Toe.Tip", "L.Toe.Tip"}},
        {"CAST", 20, {"L_FLE", "R_FLE", "L_FME", "R_FME", "L_FAL", "R_FAL", "L_TAM",
                      "R_TAM", "L_FCC", "R_FCC", "L_FM1", "R_FM1", "L_FM5", "R_FM5",
                      "L_FAX", "L_TTC", "L_TH1", "L_TH2", "L_SK1", "L_IAS"}},
        {"OptiTrack",
         18,
         {"WaistLFront", "WaistRFront", "WaistLBack", "WaistRBack", "LShoulderTop", "RShoulderTop",
          "LElbowOut", "RElbowOut", "LWristOut", "RWristOut", "LKneeOut", "RKneeOut", "LAnkleOut",
          "RAnkleOut", "LToeIn", "RToeIn", "LHeel", "BackTop"}},
        {"Qualisys",
         18,
         {"HeadFront", "HeadL", "HeadR", "SpineTop", "LShoulderTop", "RShoulderTop", "LArm",
          "LElbowOut", "RElbowOut", "LKneeOut", "RKneeOut", "LAnkleOut", "RAnkleOut", "LHeelBack",
          "RHeelBack", "LForefoot2", "RForefoot2", "LForefoot5"}},
        {"Halpe-26", 26, {"Nose",      "LEye",   "REye",    "LEar",    "REar",      "LShoulder",
                          "RShoulder", "LElbow", "RElbow",  "LWrist",  "RWrist",    "LHip",
                          "RHip",      "LKnee",  "RKnee",   "LAnkle",  "RAnkle",    "Head",
                          "Neck",      "Hip",    "LBigToe", "RBigToe", "LSmallToe", "RSmallToe",
                          "LHeel",     "RHeel"}},
        {"COCO-17",
         17,
         {"Nose", "LEye", "REye", "LEar", "REar", "LShoulder", "RShoulder", "LElbow", "RElbow",
          "LWrist", "RWrist", "LHip", "RHip", "LKnee", "RKnee", "LAnkle", "RAnkle"}},
        {"BODY-25", 25, {"Nose",      "Neck",   "RShoulder", "RElbow",    "RWrist",
                         "LShoulder", "LElbow", "LWrist",    "MidHip",    "RHip",
                         "RKnee",     "RAnkle", "LHip",      "LKnee",     "LAnkle",
                         "REye",      "LEye",   "REar",      "LEar",      "LBigToe",
                         "LSmallToe", "LHeel",  "RBigToe",   "RSmallToe", "RHeel"}},
        {"BlazePose", 21, {"nose",           "left_eye",      "right_eye",      "left_ear",
                           "right_ear",      "left_shoulder", "right_shoulder", "left_elbow",
                           "right_elbow",    "left_wrist",    "right_wrist",    "left_index",
                           "right_index",    "left_hip",      "right_hip",      "left_knee",
                           "right_knee",     "left_ankle",    "right_ankle",    "left_heel",
                           "left_foot_index"}},
    };
    sn_model *model;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        sn_recording_info info = {.nframe = 1, .rate = 100, .metres_per_unit = 1};
        while (info.nmarker < 40 && sets[k].labels[info.nmarker] != NULL) info.nmarker++;
        sn_recording *recording;
        sn_marker_set *set;
        sn_error error = {0};
        assert_int_equal(sn_recording_create(&info, sets[k].labels, NULL, &recording, NULL), SN_OK);
        if (sn_marker_set_builtin(model, recording, NULL, &set, &error) != SN_OK)
            fail_msg("%s: %s", sets[k].name, error.text);
        print_message("%s: %d of %d labels, \"%s\"\n", sets[k].name, sn_marker_set_count(set),
                      info.nmarker, sn_marker_set_name(set));
        assert_int_equal(sn_marker_set_count(set), sets[k].known);
        assert_non_null(strstr(sn_marker_set_name(set), sets[k].name));
        for (int i = 0; i < sn_marker_set_count(set); i++) {
            const sn_marker_place *p = sn_marker_set_place(set, i);
            assert_true(sn_recording_find(recording, p->name) >= 0 && p->doubt > 0 && !p->placed);
            // the left foot's marker is on the left
            if (strncmp(p->joint, "left_", 5) == 0)
                assert_true(p->name[0] == 'L' || p->name[0] == 'l' || strstr(p->name, "LB") ||
                            strstr(p->name, "LF"));
        }
        sn_marker_set_destroy(set);
        sn_recording_destroy(recording);
    }
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_round_trip),  cmocka_unit_test(set_malformed),
        cmocka_unit_test(set_of_model),    cmocka_unit_test(builtin_names),
        cmocka_unit_test(builtin_refused), cmocka_unit_test(mirrored),
        cmocka_unit_test(measured_size),   cmocka_unit_test(nearest),
        cmocka_unit_test(nothing_given),   cmocka_unit_test(axis_maps),
        cmocka_unit_test(axes_found),      cmocka_unit_test(axes_by_shape),
        cmocka_unit_test(posture),         cmocka_unit_test(sets_by_name),
        cmocka_unit_test(matching),        cmocka_unit_test(measured),
    };
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
