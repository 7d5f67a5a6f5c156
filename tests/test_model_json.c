// SPDX-License-Identifier: MIT
// Models as JSON: there and back, and every way in which a file can be wrong.
#include "models.h"

static void reads_the_example(void **unused) {
    (void)unused;
    sn_model *m = read_model(example);
    assert_string_equal(sn_model_name(m), "arm");
    assert_int_equal(sn_model_njoint(m), 3);
    assert_int_equal(sn_model_nmarker(m), 1);
    assert_int_equal(sn_model_nq(m), 11);
    assert_int_equal(sn_model_nv(m), 10);
    assert_int_equal(sn_model_depth(m), 3);
    assert_int_equal(sn_model_root(m), 0);
    assert_int_equal(sn_model_find_joint(m, "elbow"), 2);
    assert_int_equal(sn_model_find_joint(m, "HAND"), -1);
    assert_int_equal(sn_model_find_marker(m, "HAND"), 0);
    assert_int_equal(sn_model_q_index(m, 1), 7);
    assert_int_equal(sn_model_v_index(m, 1), 6);
    assert_int_equal(sn_model_v_index(m, 2), 9);
    assert_int_equal(sn_model_parent(m, 2), 1);
    const sn_joint_desc *shoulder = sn_model_joint(m, 1);
    assert_int_equal(shoulder->type, SN_JOINT_EULER);
    assert_string_equal(shoulder->order, "ZYX");
    assert_true(shoulder->position[1] == 0.3 && shoulder->upper[1] == 2);
    assert_true(sn_model_lower(m)[9] == 0 && sn_model_upper(m)[9] == 2.5);
    assert_true(sn_model_lower(m)[0] == -INFINITY && sn_model_gain(m)[9] == 1);
    const sn_marker_desc *hand = sn_model_marker(m, 0);
    assert_int_equal(hand->joint, 2);
    assert_true(hand->position[1] == 0.25 && hand->weight == 1);
    assert_null(sn_model_joint(m, 3));
    assert_null(sn_model_joint(m, -1));
    assert_null(sn_model_marker(m, 1));
    sn_model_destroy(m);
}

static void json_there_and_back(void **unused) {
    (void)unused;
    uint64_t state = 1;
    for (int i = 0; i < cases(600); i++) {
        int type = i % (SN_JOINT_TYPE_COUNT + 1) - 1;
        sn_model *m = random_model(&state, 1 + below(&state, 12), type);
        write_and_read(m);
        sn_model_destroy(m);
    }
    sn_model *m;
    assert_int_equal(sn_model_humanoid(NULL, &m, NULL), SN_OK);
    write_and_read(m);
    sn_model_destroy(m);
    m = read_model(example);
    write_and_read(m);
    sn_model_destroy(m);
}

// How a figure stands, where nobody does in its zero pose.
static void json_stance(void **unused) {
    (void)unused;
    static const double stance[4] = {0.5, -0.5, 0.1, 2};
    sn_model *m = read_model("{\"joints\": [{\"name\": \"hips\", \"type\": \"free\"},"
                             "{\"name\": \"leg\", \"parent\": \"hips\", \"type\": \"euler\", "
                             "\"order\": \"ZYX\", \"stance\": [0.5, -0.5, 0.1, 2]}]}");
    sn_builder *b;
    sn_model *copy;
    assert_int_equal(sn_builder_create_from(m, NULL, &b, NULL), SN_OK);
    assert_int_equal(sn_builder_finish(b, &copy, NULL), SN_OK);
    const sn_model *both[2] = {m, copy};
    for (int i = 0; i < 2; i++) {
        const double *none = sn_model_joint(both[i], 0)->stance;
        assert_true(none[0] == 1 && none[1] == 0 && none[2] == 0 && none[3] == 0);
        assert_memory_equal(sn_model_joint(both[i], 1)->stance, stance, sizeof stance);
        write_and_read(both[i]);
    }
    sn_builder_destroy(b);
    sn_model_destroy(copy);
    sn_model_destroy(m);
}

// Awkward names and numbers survive the file.
static void json_awkward(void **unused) {
    (void)unused;
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = '\0';
    sn_joint_desc a = joint("\"\\\n\x01\x7f\xC3\xA9\xF0\x9F\x98\x80/", -1, SN_JOINT_SCREW);
    sn_joint_desc b = joint(longest, 0, SN_JOINT_TRANSLATION);
    a.pitch = -0x1p-1074;
    a.position[0] = -0.0;
    a.position[1] = 0x1.fffffffffffffp+1023;
    a.rotation[0] = 1e-320;
    b.lower[1] = b.upper[1] = 0.1;
    b.lower[2] = -1e308;
    b.locked[2] = true;
    b.strength[0] = 0;
    sn_marker_desc marker = {"m\t", 1, {1e-300, -0.0, 3}, 0};
    sn_error error;
    sn_model *m = build_two("tab\t", &a, &b, &marker, SN_OK, &error);
    write_and_read(m);
    assert_true(sn_model_gain(m)[3] == 0);
    sn_model_destroy(m);
}

static void json_refused(const char *text, sn_status status, int line, const char *part) {
    sn_model *m = (sn_model *)&line;
    sn_error error = {0};
    sn_status got = sn_model_read_json(text, strlen(text), NULL, &m, &error);
    if (got != status) fail_msg("status %d (%s) for %.300s", (int)got, error.text, text);
    assert_null(m);
    assert_int_equal(error.status, status);
    if (error.line != line) fail_msg("line %d (%s) for %.300s", error.line, error.text, text);
    if (strstr(error.text, part) == NULL) fail_msg("'%s' for %.300s", error.text, text);
}

#define ROOT "{\"joints\": [\n{\"name\": \"aa\", \"type\": \"free\"},\n"
#define B    "{\"name\": \"bb\", \"parent\": \"aa\", \"type\": "

// One line of a second joint, on line 3, each with what is wrong about it.
static void json_joint_errors(void **unused) {
    (void)unused;
    static const struct {
        const char *rest, *part;
    } wrong[] = {
        {"\"hing\"}", "\"bb\": unknown type \"hing\""},
        {"\"hinge\"}", "\"bb\": a hinge joint needs \"axis\""},
        {"\"slider\"}", "needs \"axis\""},
        {"\"screw\", \"pitch\": 1}", "needs \"axis\""},
        {"\"screw\", \"axis\": [1,0,0]}", "needs \"pitch\""},
        {"\"universal\", \"axis2\": [1,0,0]}", "needs \"axis\""},
        {"\"universal\", \"axis\": [1,0,0]}", "needs \"axis2\""},
        {"\"euler\"}", "needs \"order\""},
        {"\"euler\", \"order\": \"XYZX\"}", "order"},
        {"\"euler\", \"order\": \"XY\"}", "order"},
        {"\"euler\", \"order\": \"XXY\"}", "\"bb\": order"},
        {"\"euler\", \"order\": \"ABC\"}", "\"bb\": order"},
        {"\"euler\", \"order\": 3}", "\"order\" must be a string, not a number"},
        {"\"hinge\", \"axis\": [0,0,0]}", "axis is zero"},
        {"\"hinge\", \"axis\": [0,1]}", "\"axis\" must be an array of 3"},
        {"\"hinge\", \"axis\": [0,1,0,0]}", "\"axis\" must be an array of 3"},
        {"\"hinge\", \"axis\": [0,1,null]}", "\"axis\" must be an array of 3"},
        {"\"hinge\", \"axis\": 1}", "\"axis\" must be an array, not a number"},
        {"\"universal\", \"axis\": [1,0,0], \"axis2\": [1]}", "\"axis2\" must be an array of 3"},
        {"\"screw\", \"axis\": [1,0,0], \"pitch\": [1]}", "\"pitch\" must be a number"},
        {"\"ball\", \"position\": [1,2]}", "\"position\" must be an array of 3"},
        {"\"ball\", \"position\": \"x\"}", "\"position\" must be an array, not a string"},
        {"\"ball\", \"rotation\": [1,0,0]}", "\"rotation\" must be an array of 4"},
        {"\"ball\", \"rotation\": [0,0,0,0]}", "rotation is zero"},
        {"\"ball\", \"limits\": [[0,1],null,null]}", "takes no limits"},
        {"\"free\", \"limits\": [null,null,null,null,null,[0,null]]}", "takes no limits"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": [1,0]}", "array of 1 pairs"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": []}", "array of 1 pairs"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": 5}", "array of 1 pairs"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": [5]}", "[lower, upper]"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": [[1]]}", "[lower, upper]"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": [[1,\"x\"]]}", "[lower, upper]"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": [{\"a\":1,\"b\":2}]}", "[lower, upper]"},
        {"\"hinge\", \"axis\": [1,0,0], \"limits\": [[2,1]]}", "above its upper"},
        {"\"hinge\", \"axis\": [1,0,0], \"locked\": 1}", "\"locked\" must be true or false"},
        {"\"hinge\", \"axis\": [1,0,0], \"locked\": [true,true]}", "array of 1"},
        {"\"hinge\", \"axis\": [1,0,0], \"locked\": [null]}", "\"locked\" must be"},
        {"\"hinge\", \"axis\": [1,0,0], \"strength\": true}", "\"strength\" must be a number"},
        {"\"hinge\", \"axis\": [1,0,0], \"strength\": []}", "\"strength\" must be"},
        {"\"ball\", \"strength\": [1,1]}", "array of 3"},
        {"\"ball\", \"strength\": -1}", "strength must be"},
        {"\"ball\", \"stance\": [1,0,0]}", "\"stance\" must be an array of 4"},
        {"\"ball\", \"stance\": [0,0,0,0]}", "stance is zero"},
        {"\"fixed\", \"stance\": [1,0,0,0]}", "only a ball, euler or free joint has a \"stance\""},
        {"\"ball\", \"axes\": [1,0,0]}", "\"bb\": unknown key \"axes\""},
        {"5}", "\"type\" must be a string"},
        {"null}", "\"type\" must be a string"},
    };
    char text[512];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text, ROOT B "%s]}", wrong[i].rest);
        json_refused(text, SN_ERR_MODEL, 3, wrong[i].part);
        json_refused(text, SN_ERR_MODEL, 3, "\"bb\"");
    }
}

// Wrong kinds are refused also where a joint has no degree of freedom to apply them to.
static void json_fixed_joint_errors(void **unused) {
    (void)unused;
    json_refused(ROOT B "\"fixed\", \"locked\": \"yes\"}]}", SN_ERR_MODEL, 3, "\"locked\" must be");
    json_refused(ROOT B "\"fixed\", \"strength\": null}]}", SN_ERR_MODEL, 3, "\"strength\"");
}

// Joints b and c on neighbouring lines are each other's parent: either may be named.
static void json_cycle(const char *text, int line_of_b) {
    sn_model *m;
    sn_error error = {0};
    assert_int_equal(sn_model_read_json(text, strlen(text), NULL, &m, &error), SN_ERR_MODEL);
    bool b = strstr(error.text, "\"b\": it is its own ancestor") != NULL;
    bool c = strstr(error.text, "\"c\": it is its own ancestor") != NULL;
    if (!b && !c) fail_msg("%s", error.text);
    assert_int_equal(error.line, b ? line_of_b : line_of_b + 1);
}

static void json_tree_errors(void **unused) {
    (void)unused;
    const sn_status M = SN_ERR_MODEL;
    json_refused(ROOT "{\"name\":\"bb\",\"parent\":\n\"zz\",\"type\":\"ball\"}]}", M, 4,
                 "\"bb\": there is no joint \"zz\"");
    json_refused(ROOT "{\"name\":\"bb\",\"parent\":3,\"type\":\"ball\"}]}", M, 3, "\"bb\"");
    json_refused(ROOT "{\"name\":\"bb\",\"parent\":\"bb\",\"type\":\"ball\"}]}", M, 3,
                 "\"bb\": it is its own parent");
    json_refused(ROOT "{\"name\":\"bb\",\"type\":\"ball\"}]}", M, 3, "\"bb\": it has no parent");
    json_refused(ROOT "{\"name\":\"aa\",\"parent\":\"aa\",\"type\":\"ball\"}]}", M, 3, "\"aa\"");
    json_cycle(ROOT "{\"name\":\"b\",\"parent\":\"c\",\"type\":\"ball\"},\n"
                    "{\"name\":\"c\",\"parent\":\"b\",\"type\":\"ball\"}]}",
               3);
    // one that only hangs on a cycle is not blamed
    json_cycle(ROOT "{\"name\":\"x\",\"parent\":\"b\",\"type\":\"ball\"},\n"
                    "{\"name\":\"b\",\"parent\":\"c\",\"type\":\"ball\"},\n"
                    "{\"name\":\"c\",\"parent\":\"b\",\"type\":\"ball\"}]}",
               4);
    json_refused("{\"joints\":[{\"name\":\"b\",\"parent\":\"c\",\"type\":\"ball\"},\n"
                 "{\"name\":\"c\",\"parent\":\"b\",\"type\":\"ball\"}]}",
                 M, 1, "cycle");
    json_refused(ROOT "{\"parent\":\"aa\",\"type\":\"ball\"}]}", M, 3,
                 "joint 1: it has no \"name\"");
    json_refused(ROOT "{\"name\":\"\",\"parent\":\"aa\",\"type\":\"ball\"}]}", M, 3, "no name");
    json_refused(ROOT "{\"name\":5,\"type\":\"ball\"}]}", M, 3, "joint 1: \"name\" must be");
    json_refused(ROOT "{\"name\":\"bb\",\"parent\":\"aa\"}]}", M, 3, "\"bb\": it has no \"type\"");
    json_refused(ROOT "5]}", M, 3, "joint 1: it must be an object");
    json_refused(ROOT "{\"name\":\"bb\",\n\n\"typo\":1,\"type\":\"ball\"}]}", M, 5, "\"typo\"");
}

static void json_file_errors(void **unused) {
    (void)unused;
    const sn_status M = SN_ERR_MODEL;
    json_refused("[]", M, 1, "one object, not an array");
    json_refused("\n5", M, 2, "one object");
    json_refused("{}", M, 1, "\"joints\"");
    json_refused("{\"joints\":\n{}}", M, 2, "\"joints\"");
    json_refused("{\"joints\":[]}", M, 0, "no joints");
    json_refused("{\"sinew\":2,\"joints\":[]}", M, 1, "version 2");
    json_refused("{\"sinew\":\"1\",\"joints\":[]}", M, 1, "\"sinew\" must be a number");
    json_refused("{\"name\":\n1,\"joints\":[]}", M, 2, "\"name\" must be a string");
    json_refused("{\n\"joint\":[]}", M, 2, "unknown key \"joint\"");
    json_refused("{\"joints\":[{]}", SN_ERR_PARSE, 1, "");
    json_refused(ROOT "{\"name\":\"b\",\"parent\":\"aa\",\"type\":\"ball\",\n\"name\":\"c\"}]}",
                 SN_ERR_PARSE, 4, "twice");
    // keys with an underscore are comments
    sn_model_destroy(
        read_model("{\"_a\":[1,{}],\"joints\":[{\"_b\":2,\"name\":\"a\",\"type\":\"fixed\"}"
                   "],\"markers\":[{\"_c\":0,\"name\":\"m\",\"joint\":\"a\"}]}"));
}

static void json_marker_errors(void **unused) {
    (void)unused;
    static const struct {
        const char *marker, *part;
    } wrong[] = {
        {"5", "marker 0: it must be an object"},
        {"{\"joint\":\"a\"}", "marker 0: it has no \"name\""},
        {"{\"name\":\"mm\"}", "\"mm\": it has no \"joint\""},
        {"{\"name\":\"mm\",\"joint\":\"z\"}", "\"mm\": there is no joint \"z\""},
        {"{\"name\":\"mm\",\"joint\":0}", "\"mm\": \"joint\" must be a string"},
        {"{\"name\":\"mm\",\"joint\":\"a\",\"position\":[1]}", "\"mm\": \"position\""},
        {"{\"name\":\"mm\",\"joint\":\"a\",\"weight\":-1}", "\"mm\": weight"},
        {"{\"name\":\"mm\",\"joint\":\"a\",\"weight\":null}", "\"mm\": \"weight\""},
        {"{\"name\":\"mm\",\"joint\":\"a\",\"colour\":1}", "\"mm\": unknown key"},
        {"{\"name\":\"mm\",\"joint\":\"a\"},{\"name\":\"mm\",\"joint\":\"a\"}", "another marker"},
        {"{\"name\":\"\",\"joint\":\"a\"}", "no name"},
    };
    char text[256];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"joints\":[{\"name\":\"a\",\"type\":\"fixed\"}],\n\"markers\":[\n%s]}",
                       wrong[i].marker);
        json_refused(text, SN_ERR_MODEL, 3, wrong[i].part);
    }
    json_refused("{\"joints\":[{\"name\":\"a\",\"type\":\"fixed\"}],\n\"markers\":{}}",
                 SN_ERR_MODEL, 2, "\"markers\" must be an array");
}

static void json_truncated(void **unused) {
    (void)unused;
    for (size_t n = 0; n < strlen(example); n++) {
        sn_model *m;
        sn_error error = {0};
        char *cut = malloc(n == 0 ? 1 : n);
        assert_non_null(cut);
        memcpy(cut, example, n);
        assert_int_equal(sn_model_read_json(cut, n, NULL, &m, &error), SN_ERR_PARSE);
        assert_null(m);
        int line = 1;
        for (size_t i = 0; i < n; i++) line += example[i] == '\n';
        assert_int_equal(error.line, line);
        free(cut);
    }
}

// Change each byte of the example in turn: an error or a model, never anything else.
static void json_mangled(void **unused) {
    (void)unused;
    static const char put[] = "0\"[]{},:x\x80\n\0";
    char text[sizeof example];
    for (size_t n = 0; n < strlen(example); n++) {
        for (size_t p = 0; p < sizeof put - 1; p++) {
            sn_model *m;
            sn_error error = {0};
            memcpy(text, example, sizeof example);
            text[n] = put[p];
            sn_status status = sn_model_read_json(text, strlen(example), NULL, &m, &error);
            assert_true((status == SN_OK) == (m != NULL));
            assert_int_equal(error.status, status);
            sn_model_destroy(m);
        }
    }
}

// A file of many joints in a row, each after its child.
static char *many_joints(int count) {
    char *text = malloc((size_t)count * 80 + 64), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"name\":\"many\",\n\"joints\":[");
    for (int i = 0; i < count; i++) {
        at += sprintf(at, "%s\n{\"name\":\"j%d\",\"type\":\"hinge\",\"axis\":[0,0,1]", i ? "," : "",
                      i);
        if (i + 1 < count) at += sprintf(at, ",\"parent\":\"j%d\"", i + 1);
        at += sprintf(at, "}");
    }
    (void)sprintf(at, "]}");
    return text;
}

static void json_sizes(void **unused) {
    (void)unused;
    char *text = many_joints(SN_MAX_JOINTS + 1);
    json_refused(text, SN_ERR_SIZE, 2, "more than 10000 joints");
    free(text);
    text = many_joints(SN_MAX_JOINTS);
    sn_model *m = read_model(text);
    assert_int_equal(sn_model_depth(m), SN_MAX_JOINTS);
    assert_int_equal(sn_model_root(m), SN_MAX_JOINTS - 1);
    write_and_read(m);
    sn_model_destroy(m);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_example),  cmocka_unit_test(json_there_and_back),
        cmocka_unit_test(json_stance),        cmocka_unit_test(json_awkward),
        cmocka_unit_test(json_joint_errors),  cmocka_unit_test(json_fixed_joint_errors),
        cmocka_unit_test(json_tree_errors),   cmocka_unit_test(json_file_errors),
        cmocka_unit_test(json_marker_errors), cmocka_unit_test(json_truncated),
        cmocka_unit_test(json_mangled),       cmocka_unit_test(json_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
