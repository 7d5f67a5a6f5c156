// SPDX-License-Identifier: MIT
// Models: building and its errors, the JSON file there and back, poses, depth, chains.
#include <pthread.h>

#include "math/rotation.h"
#include "support.h"

static const char example[] =
    "{\"sinew\": 1, \"name\": \"arm\", \"joints\": [\n"
    " {\"name\": \"base\", \"parent\": null, \"type\": \"free\", \"position\": [0,0,0],"
    " \"rotation\": [1,0,0,0]},\n"
    " {\"name\": \"shoulder\", \"parent\": \"base\", \"type\": \"euler\", \"order\": \"ZYX\","
    " \"position\": [0,0.3,0], \"limits\": [[-1,1],[-2,2],[-1,1]]},\n"
    " {\"name\": \"elbow\", \"parent\": \"shoulder\", \"type\": \"hinge\", \"axis\": [1,0,0],"
    " \"limits\": [[0,2.5]], \"locked\": false, \"strength\": 1}],\n"
    " \"markers\": [{\"name\": \"HAND\", \"joint\": \"elbow\", \"position\": [0,0.25,0],"
    " \"weight\": 1}]}";

static sn_model *read_model(const char *text) {
    sn_model *model;
    sn_error error = {0};
    if (sn_model_read_json(text, strlen(text), NULL, &model, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    return model;
}

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

static void same_numbers(const double *x, const double *y, int n) {
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
}

static int dofs(const sn_model *m, int i) {
    int next = i + 1 < sn_model_njoint(m) ? sn_model_v_index(m, i + 1) : sn_model_nv(m);
    return next - sn_model_v_index(m, i);
}

// All that a joint of this type has.
static void same_joint(const sn_joint_desc *a, const sn_joint_desc *b, int nv) {
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->type, b->type);
    same_numbers(a->position, b->position, 3);
    same_numbers(a->rotation, b->rotation, 4);
    same_numbers(a->axis, b->axis, 3);
    if (a->type == SN_JOINT_UNIVERSAL) same_numbers(a->axis2, b->axis2, 3);
    if (a->type == SN_JOINT_SCREW) same_numbers(&a->pitch, &b->pitch, 1);
    if (a->type == SN_JOINT_EULER) assert_string_equal(a->order, b->order);
    same_numbers(a->lower, b->lower, nv);
    same_numbers(a->upper, b->upper, nv);
    same_numbers(a->strength, b->strength, nv);
    for (int i = 0; i < nv; i++) assert_int_equal(a->locked[i], b->locked[i]);
}

static void same_model(const sn_model *a, const sn_model *b) {
    assert_string_equal(sn_model_name(a), sn_model_name(b));
    assert_int_equal(sn_model_njoint(a), sn_model_njoint(b));
    assert_int_equal(sn_model_nmarker(a), sn_model_nmarker(b));
    assert_int_equal(sn_model_nv(a), sn_model_nv(b));
    assert_int_equal(sn_model_root(a), sn_model_root(b));
    assert_int_equal(sn_model_depth(a), sn_model_depth(b));
    for (int i = 0; i < sn_model_njoint(a); i++)
        same_joint(sn_model_joint(a, i), sn_model_joint(b, i), dofs(a, i));
    for (int i = 0; i < sn_model_nmarker(a); i++) {
        const sn_marker_desc *x = sn_model_marker(a, i), *y = sn_model_marker(b, i);
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->joint, y->joint);
        same_numbers(x->position, y->position, 3);
        same_numbers(&x->weight, &y->weight, 1);
    }
}

static void write_and_read(const sn_model *m) {
    char *first, *second;
    assert_int_equal(sn_model_text(m, NULL, &first), SN_OK);
    sn_model *again = read_model(first);
    assert_int_equal(sn_model_text(again, NULL, &second), SN_OK);
    assert_string_equal(first, second);
    same_model(m, again);
    sn_release(NULL, first);
    sn_release(NULL, second);
    sn_model_destroy(again);
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

static sn_model *build_two(const char *model_name, const sn_joint_desc *a, const sn_joint_desc *b,
                           const sn_marker_desc *marker, sn_status expected, sn_error *error) {
    sn_builder *builder;
    sn_model *model;
    assert_int_equal(sn_builder_create(model_name, NULL, &builder, NULL), SN_OK);
    assert_int_equal(sn_builder_joint(builder, a), 0);
    if (b != NULL) assert_int_equal(sn_builder_joint(builder, b), 1);
    if (marker != NULL) assert_int_equal(sn_builder_marker(builder, marker), 0);
    *error = (sn_error){0};
    sn_status status = sn_builder_finish(builder, &model, error);
    if (status != expected) fail_msg("status %d: %s", (int)status, error->text);
    assert_true((model != NULL) == (status == SN_OK));
    sn_builder_destroy(builder);
    return model;
}

static sn_joint_desc joint(const char *name, int parent, sn_joint_type type) {
    sn_joint_desc d = sn_joint_default(type);
    d.name = name;
    d.parent = parent;
    return d;
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

// The model's own name obeys the limit of all names, or survives whole.
static void long_model_name(void **unused) {
    (void)unused;
    char name[600];
    name[0] = 'x';
    for (int i = 0; i < 299; i++) memcpy(name + 1 + 2 * i, "\xC3\xA9", 3);
    // with and without the x, so that any cut falls inside a character once
    for (int shift = 0; shift < 2; shift++) {
        const char *start = name + shift;
        sn_joint_desc a = joint("a", -1, SN_JOINT_FIXED);
        sn_builder *builder;
        sn_model *m;
        if (sn_builder_create(start, NULL, &builder, NULL) != SN_OK) continue;
        (void)sn_builder_joint(builder, &a);
        sn_status status = sn_builder_finish(builder, &m, NULL);
        sn_builder_destroy(builder);
        if (status != SN_OK) continue;
        assert_string_equal(sn_model_name(m), start);
        write_and_read(m);
        sn_model_destroy(m);
    }
}

static void refused(const sn_joint_desc *a, const sn_joint_desc *b, const char *name,
                    const char *part) {
    sn_error error;
    assert_null(build_two("x", a, b, NULL, SN_ERR_MODEL, &error));
    assert_int_equal(error.line, 0);
    if (strstr(error.text, name) == NULL || strstr(error.text, part) == NULL)
        fail_msg("'%s' names not %s, %s", error.text, name, part);
}

static void builder_tree_errors(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("aa", 1, SN_JOINT_HINGE), b = joint("bb", 0, SN_JOINT_HINGE);
    refused(&a, &b, "", "cycle");
    a.parent = -1;
    b.parent = 1;
    refused(&a, &b, "\"bb\"", "own parent");
    b.parent = -1;
    refused(&a, &b, "\"bb\"", "\"aa\" is the root already");
    b.parent = 2;
    refused(&a, &b, "\"bb\"", "does not exist");
    b.parent = -2;
    refused(&a, &b, "\"bb\"", "does not exist");
    b.parent = 0;
    b.name = "aa";
    refused(&a, &b, "\"aa\"", "same name");
    b.name = "";
    refused(&a, &b, "joint 1", "no name");
    b.name = NULL;
    refused(&a, &b, "joint 1", "no name");
    char longest[300];
    memset(longest, 'n', 256);
    longest[256] = '\0';
    b.name = longest;
    refused(&a, &b, "nnn", "255 bytes");
    b = joint("bb", 0, SN_JOINT_TYPE_COUNT);
    refused(&a, &b, "\"bb\"", "unknown joint type");
    b.type = (sn_joint_type)-1;
    refused(&a, &b, "\"bb\"", "unknown joint type");
}

static void builder_number_errors(void **unused) {
    (void)unused;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    sn_joint_desc a = joint("aa", -1, SN_JOINT_FREE), b;
    for (int i = 0; i < 3; i++) {
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.position[i] = bad[i];
        refused(&a, &b, "\"bb\"", "position");
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.rotation[i] = bad[i];
        refused(&a, &b, "\"bb\"", "rotation");
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.axis[i] = bad[i];
        refused(&a, &b, "\"bb\"", "axis");
        b = joint("bb", 0, SN_JOINT_UNIVERSAL);
        b.axis2[i] = bad[i];
        refused(&a, &b, "\"bb\"", "axis2");
        b = joint("bb", 0, SN_JOINT_SCREW);
        b.pitch = bad[i];
        refused(&a, &b, "\"bb\"", "pitch");
        b = joint("bb", 0, SN_JOINT_HINGE);
        b.strength[0] = i == 2 ? -1e-9 : bad[i];
        refused(&a, &b, "\"bb\"", "strength");
    }
    static const sn_joint_type axes[] = {SN_JOINT_HINGE,     SN_JOINT_SLIDER,      SN_JOINT_SCREW,
                                         SN_JOINT_UNIVERSAL, SN_JOINT_SWING_TWIST, SN_JOINT_PLANAR};
    for (int i = 0; i < 6; i++) {
        b = joint("bb", 0, axes[i]);
        memset(b.axis, 0, sizeof b.axis);
        refused(&a, &b, "\"bb\"", "axis is zero");
    }
    b = joint("bb", 0, SN_JOINT_UNIVERSAL);
    memset(b.axis2, 0, sizeof b.axis2);
    refused(&a, &b, "\"bb\"", "axis2 is zero");
    b = joint("bb", 0, SN_JOINT_BALL);
    memset(b.rotation, 0, sizeof b.rotation);
    refused(&a, &b, "\"bb\"", "rotation is zero");
    static const char orders[][4] = {"", "X", "XY", "XXY", "XYY", "XYW", "xyz", "ZZZ"};
    for (int i = 0; i < 8; i++) {
        b = joint("bb", 0, SN_JOINT_EULER);
        memcpy(b.order, orders[i], 4);
        refused(&a, &b, "\"bb\"", "order");
    }
    memcpy(b.order, "XYZX", 4);
    refused(&a, &b, "\"bb\"", "order");
}

static void builder_limit_errors(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("aa", -1, SN_JOINT_FIXED), b = joint("bb", 0, SN_JOINT_HINGE);
    b.lower[0] = 1;
    b.upper[0] = 0.999;
    refused(&a, &b, "\"bb\"", "above its upper");
    b.upper[0] = NAN;
    refused(&a, &b, "\"bb\"", "limit is not a number");
    b.lower[0] = NAN;
    b.upper[0] = 1;
    refused(&a, &b, "\"bb\"", "limit is not a number");
    b.lower[0] = b.upper[0] = INFINITY;
    refused(&a, &b, "\"bb\"", "no room");
    b.lower[0] = b.upper[0] = -INFINITY;
    refused(&a, &b, "\"bb\"", "no room");
    b = joint("bb", 0, SN_JOINT_BALL);
    b.lower[2] = -1;
    refused(&a, &b, "\"bb\"", "takes no limits");
    b = joint("bb", 0, SN_JOINT_FREE);
    b.upper[3] = 1;
    refused(&a, &b, "\"bb\"", "takes no limits");
    // a free joint's translation may be limited; what is beyond the dofs is not looked at
    b = joint("bb", 0, SN_JOINT_FREE);
    b.lower[0] = b.upper[2] = 0;
    sn_error error;
    sn_model_destroy(build_two("x", &a, &b, NULL, SN_OK, &error));
    b = joint("bb", 0, SN_JOINT_HINGE);
    b.lower[1] = NAN;
    sn_model_destroy(build_two("x", &a, &b, NULL, SN_OK, &error));
}

static void builder_marker_errors(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("aa", -1, SN_JOINT_FIXED);
    static const struct {
        sn_marker_desc marker;
        const char *part;
    } wrong[] = {
        {{"mm", 1, {0, 0, 0}, 1}, "\"mm\": its joint"},
        {{"mm", -1, {0, 0, 0}, 1}, "\"mm\": its joint"},
        {{"mm", 0, {0, 0, 0}, -1}, "\"mm\": weight"},
        {{"", 0, {0, 0, 0}, 1}, "no name"},
        {{NULL, 0, {0, 0, 0}, 1}, "no name"},
    };
    sn_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(build_two("x", &a, NULL, &wrong[i].marker, SN_ERR_MODEL, &error));
        if (strstr(error.text, wrong[i].part) == NULL) fail_msg("%s", error.text);
    }
    sn_marker_desc marker = {"mm", 0, {0, NAN, 0}, 1};
    assert_null(build_two("x", &a, NULL, &marker, SN_ERR_MODEL, &error));
    marker = (sn_marker_desc){"mm", 0, {0, 0, 0}, NAN};
    assert_null(build_two("x", &a, NULL, &marker, SN_ERR_MODEL, &error));

    sn_builder *builder;
    sn_model *m;
    marker = (sn_marker_desc){"mm", 0, {0, 0, 0}, 1};
    assert_int_equal(sn_builder_create("x", NULL, &builder, NULL), SN_OK);
    (void)sn_builder_joint(builder, &a);
    (void)sn_builder_marker(builder, &marker);
    (void)sn_builder_marker(builder, &marker);
    assert_int_equal(sn_builder_finish(builder, &m, &error), SN_ERR_MODEL);
    assert_non_null(strstr(error.text, "\"mm\": another marker"));
    sn_builder_destroy(builder);
}

static void builder_sizes(void **unused) {
    (void)unused;
    sn_builder *builder;
    sn_model *m;
    sn_error error = {0};
    assert_int_equal(sn_builder_create(NULL, NULL, &builder, NULL), SN_OK);
    assert_int_equal(sn_builder_finish(builder, &m, &error), SN_ERR_MODEL);
    assert_non_null(strstr(error.text, "no joints"));
    char name[16];
    for (int i = 0; i <= SN_MAX_JOINTS; i++) {
        (void)snprintf(name, sizeof name, "j%d", i);
        sn_joint_desc d = joint(name, i - 1, SN_JOINT_HINGE);
        assert_int_equal(sn_builder_joint(builder, &d), i < SN_MAX_JOINTS ? i : -1);
    }
    assert_int_equal(sn_builder_finish(builder, &m, &error), SN_ERR_SIZE);
    assert_null(m);
    sn_builder_destroy(builder);
    assert_int_equal(sn_builder_create("x", NULL, &builder, NULL), SN_OK);
    assert_int_equal(sn_builder_joint(builder, NULL), -1);
    assert_int_equal(sn_builder_finish(builder, &m, NULL), SN_ERR_ARGUMENT);
    sn_builder_destroy(builder);
    sn_builder_destroy(NULL);
    sn_model_destroy(NULL);
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

// Read, evaluate f and the gradient of a chain as deep as can be, and check the end against sums.
static void *deep_chain(void *arg) {
    double *result = arg;
    sn_builder *builder;
    sn_model *m;
    sn_problem *problem;
    sn_workspace *ws;
    char name[16];
    (void)sn_builder_create("deep", NULL, &builder, NULL);
    for (int i = 0; i < SN_MAX_JOINTS; i++) {
        (void)snprintf(name, sizeof name, "j%d", i);
        sn_joint_desc d = joint(name, i + 1 < SN_MAX_JOINTS ? i + 1 : -1, SN_JOINT_HINGE);
        d.position[0] = 0.001;
        (void)sn_builder_joint(builder, &d);
    }
    sn_status status = sn_builder_finish(builder, &m, NULL);
    sn_builder_destroy(builder);
    if (status != SN_OK) return NULL;
    char *text;
    if (sn_model_text(m, NULL, &text) == SN_OK) {
        sn_model *again;
        if (sn_model_read_json(text, strlen(text), NULL, &again, NULL) != SN_OK) return NULL;
        sn_model_destroy(again);
        sn_release(NULL, text);
    }
    sn_task task = sn_task_default(SN_TASK_POINT);
    task.goal[1] = 1;
    if (sn_problem_create(m, &task, 1, NULL, &problem, NULL) != SN_OK) return NULL;
    if (sn_workspace_create(problem, false, NULL, &ws, NULL) != SN_OK) return NULL;
    double *q = malloc(SN_MAX_JOINTS * sizeof *q), *g = malloc(SN_MAX_JOINTS * sizeof *g), f;
    if (q == NULL || g == NULL) return NULL;
    for (int i = 0; i < SN_MAX_JOINTS; i++) q[i] = 1e-4;
    if (sn_workspace_eval(ws, q, SN_EVAL_GRADIENT, &f) != SN_OK) return NULL;
    sn_workspace_gradient(ws, g);
    sn_frame end = sn_workspace_frame(ws, 0);
    result[0] = f;
    result[1] = g[SN_MAX_JOINTS - 1];
    result[2] = end.p.x;
    result[3] = end.p.y;
    result[4] = sn_workspace_rows(ws) == NULL;
    result[5] = sn_model_depth(m);
    free(q);
    free(g);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(m);
    return arg;
}

static void deep_chain_small_stack(void **unused) {
    (void)unused;
    pthread_attr_t attributes;
    pthread_t thread;
    double result[6] = {0}, x = 0, y = 0;
    void *done;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attributes, deep_chain, result), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    (void)pthread_attr_destroy(&attributes);
    assert_ptr_equal(done, result);
    // the root stands at (0.001, 0) and every next one 1 mm along the directions so far
    for (int i = 0; i < SN_MAX_JOINTS; i++) {
        x += 0.001 * cos(1e-4 * i);
        y += 0.001 * sin(1e-4 * i);
    }
    assert_near(result[2], x, 1e-11);
    assert_near(result[3], y, 1e-11);
    assert_near(result[0], 0.5 * (x * x + (1 - y) * (1 - y)), 1e-11);
    // about the root at (0.001, 0), df = (p - goal) . (z x (p - root))
    assert_near(result[1], x * -y + (y - 1) * (x - 0.001), 1e-11);
    assert_true(result[4] == 1);
    assert_true(result[5] == SN_MAX_JOINTS);
}

// Frames of all joints at a pose, with an empty problem.
typedef struct posed {
    sn_problem *problem;
    sn_workspace *ws;
} posed;

static posed pose_begin(const sn_model *m) {
    posed p;
    assert_int_equal(sn_problem_create(m, NULL, 0, NULL, &p.problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(p.problem, false, NULL, &p.ws, NULL), SN_OK);
    return p;
}

static void pose_end(posed *p) {
    sn_workspace_destroy(p->ws);
    sn_problem_destroy(p->problem);
}

static double frame_distance(const sn_frame *a, const sn_frame *b) {
    double top = v3_norm(v3_sub(a->p, b->p));
    for (int c = 0; c < 3; c++) top = fmax(top, v3_norm(v3_sub(a->R.c[c], b->R.c[c])));
    return top;
}

// The largest difference of any joint's frame between two poses.
static double poses_apart(posed *p, const sn_model *m, const double *q0, const double *q1) {
    double top = 0;
    sn_frame *first = malloc((size_t)sn_model_njoint(m) * sizeof *first);
    assert_non_null(first);
    assert_int_equal(sn_workspace_pose(p->ws, q0), SN_OK);
    for (int i = 0; i < sn_model_njoint(m); i++) first[i] = sn_workspace_frame(p->ws, i);
    assert_int_equal(sn_workspace_pose(p->ws, q1), SN_OK);
    for (int i = 0; i < sn_model_njoint(m); i++) {
        sn_frame frame = sn_workspace_frame(p->ws, i);
        top = fmax(top, frame_distance(&first[i], &frame));
    }
    free(first);
    return top;
}

static void add_and_subtract(void **unused) {
    (void)unused;
    uint64_t state = 9;
    double worst = 0;
    for (int i = 0; i < cases(600); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), i % (SN_JOINT_TYPE_COUNT + 1) - 1);
        posed p = pose_begin(m);
        double q0[64], q1[64], back[64], delta[64], again[64];
        sn_model_sample(m, &state, q0);
        sn_model_sample(m, &state, q1);
        assert_true(sn_model_nq(m) <= 64);
        sn_model_difference(m, q0, q1, delta);
        sn_model_integrate(m, q0, delta, back);
        worst = fmax(worst, poses_apart(&p, m, back, q1));
        sn_model_difference(m, q0, back, again);
        for (int v = 0; v < sn_model_nv(m); v++) assert_near(again[v], delta[v], 1e-7);
        // in place, and nothing added changes nothing
        memcpy(back, q0, sizeof back);
        sn_model_integrate(m, back, delta, back);
        worst = fmax(worst, poses_apart(&p, m, back, q1));
        memset(delta, 0, sizeof delta);
        sn_model_integrate(m, q0, delta, back);
        worst = fmax(worst, poses_apart(&p, m, back, q0));
        sn_model_difference(m, q0, q0, delta);
        for (int v = 0; v < sn_model_nv(m); v++) assert_true(fabs(delta[v]) < 1e-15);
        pose_end(&p);
        sn_model_destroy(m);
    }
    print_message("worst frame error %.1e\n", worst);
    assert_true(worst < 1e-13);
}

static void normalizing_keeps_frames(void **unused) {
    (void)unused;
    uint64_t state = 10;
    double worst = 0;
    for (int i = 0; i < cases(600); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), i % (SN_JOINT_TYPE_COUNT + 1) - 1);
        posed p = pose_begin(m);
        double q[64], n[64];
        sn_model_sample(m, &state, q);
        // several times round, and quaternions of any length
        for (int k = 0; k < sn_model_nq(m); k++) q[k] *= 5;
        memcpy(n, q, sizeof n);
        sn_model_normalize(m, n);
        worst = fmax(worst, poses_apart(&p, m, q, n));
        for (int k = 0; k < sn_model_njoint(m); k++) {
            const double *x = n + sn_model_q_index(m, k);
            sn_joint_type type = sn_model_joint(m, k)->type;
            if (type == SN_JOINT_FREE) x += 3;
            if (type == SN_JOINT_FREE || type == SN_JOINT_BALL)
                assert_near(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3], 1, 1e-15);
            if (type != SN_JOINT_EXPMAP) continue;
            // the shorter vector could lie outside the limits
            if (sn_model_joint(m, k)->lower[0] != -INFINITY) {
                assert_memory_equal(x, q + (x - n), 3 * sizeof *x);
            } else {
                assert_true(v3_norm(v3_from(x)) <= 3.1415926535897936);
            }
        }
        pose_end(&p);
        sn_model_destroy(m);
    }
    print_message("worst frame error %.1e\n", worst);
    assert_true(worst < 1e-13);
}

static bool inside(const sn_model *m, const double *q, bool *quaternion) {
    for (int i = 0; i < sn_model_njoint(m); i++) {
        const sn_joint_desc *d = sn_model_joint(m, i);
        int count = d->type == SN_JOINT_BALL ? 0 : d->type == SN_JOINT_FREE ? 3 : dofs(m, i);
        *quaternion = *quaternion || count != dofs(m, i);
        for (int k = 0; k < count; k++) {
            double x = q[sn_model_q_index(m, i) + k];
            if (!(x >= d->lower[k] && x <= d->upper[k])) return false;
        }
    }
    return true;
}

static void clamping_and_sampling(void **unused) {
    (void)unused;
    uint64_t state = 11;
    bool quaternion = false;
    int limited = 0;
    for (int i = 0; i < cases(1000); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 8), i % (SN_JOINT_TYPE_COUNT + 1) - 1);
        double q[64], c[64];
        uint64_t copy = state;
        sn_model_sample(m, &state, q);
        assert_true(inside(m, q, &quaternion));
        assert_int_equal(sn_model_check_pose(m, q, NULL), SN_OK);
        sn_model_sample(m, &copy, c);
        assert_memory_equal(q, c, (size_t)sn_model_nq(m) * sizeof *q);
        assert_int_equal(sn_model_clamp(m, c), 0);
        assert_memory_equal(q, c, (size_t)sn_model_nq(m) * sizeof *q);
        int out = 0;
        for (int k = 0; k < sn_model_nq(m); k++) c[k] *= 4;
        memcpy(q, c, sizeof q);
        int moved = sn_model_clamp(m, c);
        for (int k = 0; k < sn_model_nq(m); k++) out += q[k] != c[k];
        assert_int_equal(moved, out);
        limited += moved;
        assert_true(inside(m, c, &quaternion));
        sn_model_destroy(m);
    }
    assert_true(limited > 50 && quaternion);
}

// One-sided and huge limits give finite samples inside them, and not always the same one.
static void sampling_odd_limits(void **unused) {
    (void)unused;
    static const double limits[][2] = {{-INFINITY, 5}, {5, INFINITY}, {3, 3}, {-1.7e308, 1.7e308}};
    sn_joint_desc a = joint("a", -1, SN_JOINT_FIXED);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        sn_joint_desc b = joint("b", 0, SN_JOINT_HINGE);
        b.lower[0] = limits[i][0];
        b.upper[0] = limits[i][1];
        sn_error error;
        sn_model *m = build_two("x", &a, &b, NULL, SN_OK, &error);
        uint64_t state = 3;
        double first, x = 0;
        bool differ = limits[i][0] == limits[i][1];
        sn_model_sample(m, &state, &first);
        for (int k = 0; k < 100; k++) {
            sn_model_sample(m, &state, &x);
            assert_true(isfinite(x) && x >= limits[i][0] && x <= limits[i][1]);
            differ = differ || x != first;
        }
        if (!differ) fail_msg("limits %g to %g: always %g", limits[i][0], limits[i][1], x);
        sn_model_destroy(m);
    }
}

static void checking_poses(void **unused) {
    (void)unused;
    sn_model *m = read_model(example);
    double q[11];
    sn_error error = {0};
    sn_model_zero(m, q);
    assert_true(q[3] == 1 && q[0] == 0 && q[10] == 0);
    assert_int_equal(sn_model_check_pose(m, q, &error), SN_OK);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 11; k++) {
        for (int b = 0; b < 3; b++) {
            sn_model_zero(m, q);
            q[k] = bad[b];
            assert_int_equal(sn_model_check_pose(m, q, &error), SN_ERR_VALUE);
            const char *name = k < 7 ? "\"base\"" : k < 10 ? "\"shoulder\"" : "\"elbow\"";
            if (strstr(error.text, name) == NULL) fail_msg("%d: %s", k, error.text);
        }
    }
    sn_model_zero(m, q);
    q[3] = 0;
    assert_int_equal(sn_model_check_pose(m, q, &error), SN_ERR_VALUE);
    assert_non_null(strstr(error.text, "\"base\""));
    posed p = pose_begin(m);
    assert_int_equal(sn_workspace_pose(p.ws, q), SN_ERR_VALUE);
    pose_end(&p);
    sn_model_destroy(m);
}

// Every joint lies on the chain of some leaf; leaves are those without children.
static void chains(void **unused) {
    (void)unused;
    uint64_t state = 12;
    for (int i = 0; i < cases(200); i++) {
        sn_model *m = random_model(&state, 1 + below(&state, 40), -1);
        int njoint = sn_model_njoint(m), leaves = 0, deepest = 0, last = -1;
        int seen[64] = {0}, children[64] = {0};
        for (int k = 0; k < njoint; k++)
            if (sn_model_parent(m, k) >= 0) children[sn_model_parent(m, k)]++;
        for (int leaf = sn_model_next_leaf(m, -1); leaf >= 0; leaf = sn_model_next_leaf(m, leaf)) {
            int depth = 0, end = -1;
            assert_true(leaf > last);
            last = leaf;
            assert_int_equal(children[leaf], 0);
            leaves++;
            for (int k = leaf; k >= 0; k = sn_model_parent(m, k)) {
                seen[k]++;
                depth++;
                end = k;
            }
            assert_int_equal(end, sn_model_root(m));
            if (depth > deepest) deepest = depth;
        }
        assert_int_equal(deepest, sn_model_depth(m));
        for (int k = 0; k < njoint; k++) {
            assert_true(seen[k] > 0);
            leaves -= children[k] == 0;
        }
        assert_int_equal(leaves, 0);
        assert_int_equal(sn_model_next_leaf(m, njoint), -1);
        sn_model_destroy(m);
    }
}

// The same tree with children before parents places everything alike.
static void children_first(void **unused) {
    (void)unused;
    sn_joint_desc a = joint("a", -1, SN_JOINT_BALL), b = joint("b", 0, SN_JOINT_HINGE), late;
    b.position[0] = 1;
    sn_error error;
    sn_model *m = build_two("x", &a, &b, NULL, SN_OK, &error);
    late = b;
    late.parent = 1;
    sn_model *n = build_two("x", &late, &a, NULL, SN_OK, &error);
    assert_int_equal(sn_model_root(n), 1);
    assert_int_equal(sn_model_q_index(n, 1), 1);
    const double q[5] = {0.5, 0.5, -0.5, 0.5, 1.2}, r[5] = {1.2, 0.5, 0.5, -0.5, 0.5};
    posed p = pose_begin(m), o = pose_begin(n);
    assert_int_equal(sn_workspace_pose(p.ws, q), SN_OK);
    assert_int_equal(sn_workspace_pose(o.ws, r), SN_OK);
    sn_frame x = sn_workspace_frame(p.ws, 1), y = sn_workspace_frame(o.ws, 0);
    assert_memory_equal(&x, &y, sizeof x);
    pose_end(&p);
    pose_end(&o);
    sn_model_destroy(m);
    sn_model_destroy(n);
}

static void humanoid(void **unused) {
    (void)unused;
    sn_model *m;
    assert_int_equal(sn_model_humanoid(NULL, &m, NULL), SN_OK);
    assert_int_equal(sn_model_njoint(m), 31);
    assert_int_equal(sn_model_nv(m), 58);
    assert_int_equal(sn_model_nq(m), 59);
    assert_int_equal(sn_model_nmarker(m), 41);
    // mirrored: at the zero pose every left joint and marker has its right one across x
    posed p = pose_begin(m);
    int pairs = 0;
    for (int i = 0; i < sn_model_njoint(m); i++) {
        char other[64];
        const char *name = sn_model_joint(m, i)->name;
        if (strncmp(name, "left_", 5) != 0) continue;
        (void)snprintf(other, sizeof other, "right_%s", name + 5);
        int k = sn_model_find_joint(m, other);
        assert_true(k >= 0);
        sn_vec3 l = sn_workspace_frame(p.ws, i).p, r = sn_workspace_frame(p.ws, k).p;
        assert_true(fabs(l.x + r.x) < 1e-15 && fabs(l.y - r.y) < 1e-15 && fabs(l.z - r.z) < 1e-15);
        pairs++;
    }
    assert_int_equal(pairs, 12);
    pose_end(&p);
    sn_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_example),
        cmocka_unit_test(json_there_and_back),
        cmocka_unit_test(json_awkward),
        cmocka_unit_test(long_model_name),
        cmocka_unit_test(builder_tree_errors),
        cmocka_unit_test(builder_number_errors),
        cmocka_unit_test(builder_limit_errors),
        cmocka_unit_test(builder_marker_errors),
        cmocka_unit_test(builder_sizes),
        cmocka_unit_test(json_joint_errors),
        cmocka_unit_test(json_fixed_joint_errors),
        cmocka_unit_test(json_tree_errors),
        cmocka_unit_test(json_file_errors),
        cmocka_unit_test(json_marker_errors),
        cmocka_unit_test(json_truncated),
        cmocka_unit_test(json_mangled),
        cmocka_unit_test(json_sizes),
        cmocka_unit_test(deep_chain_small_stack),
        cmocka_unit_test(add_and_subtract),
        cmocka_unit_test(normalizing_keeps_frames),
        cmocka_unit_test(clamping_and_sampling),
        cmocka_unit_test(sampling_odd_limits),
        cmocka_unit_test(checking_poses),
        cmocka_unit_test(chains),
        cmocka_unit_test(children_first),
        cmocka_unit_test(humanoid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
