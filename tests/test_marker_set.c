// SPDX-License-Identifier: MIT
// Marker sets: files, those that are known by their labels, and the names that are nearest.
#include "memory_sink.h"
#include "takes.h"

// --- sets -------------------------------------------------------------------------------------------

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

// --- the built-in set -------------------------------------------------------------------------------

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

// --- names ------------------------------------------------------------------------------------------

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_round_trip),  cmocka_unit_test(set_malformed),
        cmocka_unit_test(set_of_model),    cmocka_unit_test(builtin_names),
        cmocka_unit_test(builtin_refused), cmocka_unit_test(sets_by_name),
        cmocka_unit_test(nearest)};
    return cmocka_run_group_tests(tests, example_begin, example_end);
}
