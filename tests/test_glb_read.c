// SPDX-License-Identifier: MIT
// GLB, read: files as others write them, made here by hand, are what they say; broken ones are refused
// with their sentence.
#include "glb_files.h"

// --- files made by hand --------------------------------------------------------------------------

typedef struct made {
    unsigned char bytes[1 << 16];
    size_t length;
} made;

static void put32(made *m, uint32_t x) {
    for (int i = 0; i < 4; i++) m->bytes[m->length++] = (unsigned char)(x >> 8 * i);
}

static void put_json(made *m, const char *json) {
    size_t n = strlen(json), padded = (n + 3) / 4 * 4;
    m->length = 0;
    put32(m, 0x46546c67), put32(m, 2), put32(m, 0);
    put32(m, (uint32_t)padded), put32(m, 0x4e4f534a);
    assert_true(padded < sizeof m->bytes / 2);
    for (size_t i = 0; i < padded; i++)
        m->bytes[m->length++] = (unsigned char)(i < n ? json[i] : ' ');
}

static void put_length(made *m) {
    uint32_t n = (uint32_t)m->length;
    m->length = 8;
    put32(m, n);
    m->length = n;
}

// A GLB file of a JSON text and floats.
static const made *make(const char *json, const float *x, int n) {
    static made m;
    put_json(&m, json);
    if (n > 0) {
        put32(&m, 4 * (uint32_t)n), put32(&m, 0x004e4942);
        for (int i = 0; i < n; i++) {
            uint32_t bits;
            memcpy(&bits, &x[i], 4);
            put32(&m, bits);
        }
    }
    put_length(&m);
    return &m;
}

static sn_glb_content read_made(const char *json, const float *x, int n) {
    const made *m = make(json, x, n);
    return read_bytes(m->bytes, m->length);
}

static sn_vec3 joint_at(const sn_glb_content *c, int frame, const char *name) {
    sn_problem *problem;
    sn_workspace *ws = workspace_of(c->model, &problem);
    double q[300];
    assert_true(sn_model_nq(c->model) <= 300);
    sn_model_zero(c->model, q);
    int joint = sn_model_find_joint(c->model, name);
    if (joint < 0) fail_msg("there is no joint \"%s\"", name);
    const double *pose = frame < 0 ? q : sn_motion_frame(c->motion, frame);
    assert_non_null(pose);
    assert_int_equal(sn_workspace_pose(ws, pose), SN_OK);
    sn_vec3 p = sn_workspace_frame(ws, joint).p;
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return p;
}

static void assert_at(const sn_glb_content *c, int frame, const char *name, double x, double y,
                      double z) {
    sn_vec3 p = joint_at(c, frame, name);
    if (apart(p, (sn_vec3){x, y, z}) > 1e-6)
        fail_msg("frame %d, %s: %g %g %g, not %g %g %g", frame, name, p.x, p.y, p.z, x, y, z);
}

static sn_joint_type type_of(const sn_glb_content *c, const char *name) {
    return sn_model_joint(c->model, sn_model_find_joint(c->model, name))->type;
}

#define ASSET "{\"asset\":{\"version\":\"2.0\",\"generator\":\"another\"},\"scene\":0,"
#define S     0.70710678f

// As converters of characters write it: centimetres below a scaled, turned armature (y there is z
// here), a skin, keys for what never moves, a second animation, and a mesh that is no joint.
static const char skinned[] = ASSET
    "\"scenes\":[{\"nodes\":[0]}],\"skins\":[{\"joints\":[2,3,4],\"inverseBindMatrices\":3}],"
    "\"nodes\":[{\"name\":\"Armature\",\"rotation\":[-0.70710678,0,0,0.70710678],\"scale\":[0.01,0."
    "01,0.01],"
    "\"children\":[1,2]},{\"name\":\"Body\",\"mesh\":0,\"skin\":0},"
    "{\"name\":\"Hips\",\"translation\":[0,0,100],\"children\":[3]},"
    "{\"name\":\"Spine\",\"translation\":[0,0,50],\"children\":[4]},"
    "{\"name\":\"Head\",\"translation\":[0,0,20]}],"
    "\"meshes\":[{\"primitives\":[]}],"
    "\"animations\":[{\"name\":\"walk\",\"samplers\":[{\"input\":0,\"output\":1},{\"input\":0,"
    "\"output\":2},"
    "{\"input\":0,\"output\":4,\"interpolation\":\"LINEAR\"}],"
    "\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"translation\"}},"
    "{\"sampler\":1,\"target\":{\"node\":3,\"path\":\"rotation\"}},"
    "{\"sampler\":2,\"target\":{\"node\":4,\"path\":\"translation\"}},"
    "{\"sampler\":2,\"target\":{\"node\":1,\"path\":\"weights\"}}]},{\"name\":\"run\"}],"
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\"},"
    "{\"bufferView\":0,\"byteOffset\":12,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
    "{\"bufferView\":0,\"byteOffset\":48,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
    "{\"bufferView\":0,\"componentType\":5126,\"count\":1,\"type\":\"MAT4\"},"
    "{\"bufferView\":0,\"byteOffset\":96,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":132}],\"buffers\":[{\"byteLength\":132}]}";
static const float skinned_keys[] = {
    0, 0.5f, 1,  // times
    0, 0,    100, 100, 0, 100, 200, 0, 100, 0, 0,
    0, 1,    0,   S,   0, S,   0,   1, 0,   0,  // about y, by 0, 90, 180 degrees
    0, 0,    20,  0,   0, 20,  0,   0, 20};

static void test_skinned(void **unused) {
    (void)unused;
    sn_glb_content c = read_made(skinned, skinned_keys, 33);
    assert_int_equal(sn_model_njoint(c.model), 3);
    assert_string_equal(sn_model_name(c.model), "Armature");
    assert_string_equal(sn_model_joint(c.model, sn_model_root(c.model))->name, "Hips");
    assert_int_equal(type_of(&c, "Hips"), SN_JOINT_FREE);
    assert_int_equal(type_of(&c, "Spine"), SN_JOINT_BALL);
    assert_int_equal(type_of(&c, "Head"), SN_JOINT_FIXED);
    assert_int_equal(sn_motion_nframe(c.motion), 3);
    assert_near(sn_motion_rate(c.motion), 2, 1e-12);
    assert_null(c.recording);
    assert_at(&c, -1, "Hips", 0, 1, 0);
    assert_at(&c, -1, "Head", 0, 1.7, 0);
    assert_at(&c, 1, "Hips", 1, 1, 0);
    assert_at(&c, 1, "Spine", 1, 1.5, 0);
    assert_at(&c, 1, "Head", 1.2, 1.5, 0);  // z of the armature turns to its x
    assert_at(&c, 2, "Head", 2, 1.3, 0);
    assert_non_null(strstr(c.note, "of its 2 animations the first is read, \"walk\""));
    sn_glb_content_destroy(&c);
}

// A shape that carries a joint is one, also as the very first node.
static void test_shown_root(void **unused) {
    (void)unused;
    sn_glb_content c = read_made(
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
        "\"nodes\":[{\"name\":\"base\",\"mesh\":0,\"translation\":[0,1,0],\"children\":[1]},"
        "{\"name\":\"arm\",\"translation\":[0,2,0],\"children\":[2]},{\"name\":\"hand\","
        "\"translation\":[1,0,0]}],"
        "\"meshes\":[{\"primitives\":[]}]}",
        NULL, 0);
    assert_int_equal(sn_model_njoint(c.model), 3);
    assert_string_equal(sn_model_joint(c.model, 0)->name, "base");
    sn_glb_content_destroy(&c);
}

// Without a motion every joint may turn, so that the figure can be posed.
static void test_still(void **unused) {
    (void)unused;
    char text[sizeof skinned];
    memcpy(text, skinned, sizeof skinned);
    char *at = strstr(text, "\"animations\"");
    assert_non_null(at);
    at[1] = 'A';
    sn_glb_content c = read_made(text, skinned_keys, 33);
    assert_null(c.motion);
    assert_int_equal(type_of(&c, "Hips"), SN_JOINT_FREE);
    assert_int_equal(type_of(&c, "Spine"), SN_JOINT_BALL);
    assert_int_equal(type_of(&c, "Head"), SN_JOINT_BALL);
    assert_at(&c, -1, "Head", 0, 1.7, 0);
    sn_glb_content_destroy(&c);
}

// No skin: what moves though it carries a mesh, names that stand twice or not at all, two trees,
// a camera and a lamp that are no joints, a node outside the scene.
static void test_plain(void **unused) {
    (void)unused;
    static const char json[] = ASSET
        "\"scenes\":[{\"nodes\":[0,3,4,5]}],\"nodes\":[{\"name\":\"arm\",\"children\":[1,2]},"
        "{\"name\":\"arm\",\"mesh\":0,\"translation\":[1,0,0],\"children\":[7]},{\"mesh\":0},"
        "{\"name\":\"eye\",\"camera\":0},{\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}}},"
        "{\"mesh\":0,\"translation\":[0,3,0]},{\"name\":\"elsewhere\"},{\"translation\":[0,1,0]}],"
        "\"animations\":[{\"samplers\":[{\"input\":0,\"output\":1}],"
        "\"channels\":[{\"sampler\":0,\"target\":{\"node\":5,\"path\":\"translation\"}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
        "{\"bufferView\":0,\"byteOffset\":8,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":32}],\"buffers\":[{\"byteLength\":32}]}";
    static const float keys[] = {1, 2, 0, 3, 0, 0, 5, 0};
    sn_glb_content c = read_made(json, keys, 8);
    assert_int_equal(sn_model_njoint(c.model), 5);
    assert_at(&c, -1, "roots", 0, 0, 0);
    assert_at(&c, -1, "arm", 0, 0, 0);
    assert_at(&c, -1, "arm_2", 1, 0, 0);
    assert_at(&c, 0, "joint_1", 0, 3, 0);
    assert_at(&c, 1, "joint_1", 0, 5, 0);
    assert_at(&c, 1, "joint_2", 1, 1, 0);
    assert_int_equal(type_of(&c, "joint_1"), SN_JOINT_TRANSLATION);
    assert_int_equal(type_of(&c, "roots"), SN_JOINT_FIXED);
    assert_int_equal(sn_motion_nframe(c.motion), 2);  // the clock starts with the first key
    sn_glb_content_destroy(&c);
}

// Matrices, and scales that reach what hangs below; several skins on what meets further up.
static void test_places(void **unused) {
    (void)unused;
    static const char json[] =
        ASSET "\"nodes\":[{\"name\":\"top\",\"matrix\":[0,2,0,0,-2,0,0,0,0,0,2,0,1,0,0,1],"
              "\"children\":[1,2]},"
              "{\"name\":\"a\",\"translation\":[1,0,0],\"scale\":[2,3,4],\"children\":[3]},"
              "{\"name\":\"b\",\"translation\":[0,1,0],\"children\":[4]},"
              "{\"name\":\"c\",\"translation\":[1,1,1],\"rotation\":[0,0,1,1],\"children\":[5]},"
              "{\"mesh\":0,\"scale\":[-1,1,1]},{\"name\":\"d\",\"translation\":[1,0,0]}],"
              "\"skins\":[{\"joints\":[1,3,5]},{\"joints\":[2]}]}";
    sn_glb_content c = read_made(json, NULL, 0);
    assert_int_equal(sn_model_njoint(c.model), 5);
    assert_null(c.motion);
    assert_at(&c, -1, "top", 1, 0, 0);
    assert_at(&c, -1, "a", 1, 2, 0);
    assert_at(&c, -1, "b", -1, 0, 0);
    // c's own place has the scale of a, 2 x (2, 3, 4)
    assert_at(&c, -1, "c", 1 - 6, 2 + 4, 8);
    // below its rotation the mean of it, 2 x cbrt(24): x of c is y of a, and so -x
    assert_at(&c, -1, "d", 1 - 6 - 2 * cbrt(24), 2 + 4, 8);
    assert_non_null(strstr(c.note, "mean"));
    sn_glb_content_destroy(&c);
}

// A node that turns by keys of some kind; where the one below is tells how far.
#define TURNING(interpolation, count, outputs, component, extra)                                   \
    ASSET "\"nodes\":[{\"name\":\"root\",\"children\":[1]},{\"name\":\"arm\",\"children\":[2]},"   \
          "{\"name\":\"hand\",\"translation\":[1,0,0]}],\"animations\":[{\"samplers\":[{"          \
          "\"input\":0,"                                                                           \
          "\"output\":1,\"interpolation\":\"" interpolation "\"}],\"channels\":[{\"sampler\":0,"   \
          "\"target\":{\"node\":1,\"path\":\"rotation\"}}]}],\"accessors\":[{\"bufferView\":0,"    \
          "\"componentType\":5126,\"count\":" count ",\"type\":\"SCALAR\"},{\"bufferView\":1,"     \
          "\"componentType\":" component ",\"count\":" outputs ",\"type\":\"VEC4\"" extra "}],"    \
          "\"bufferViews\":[{\"buffer\":0,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":12,"     \
          "\"byteLength\":96}],\"buffers\":[{\"byteLength\":108}]}"

static void test_interpolation(void **unused) {
    (void)unused;
    // 0, 90 and 90 degrees about z at 0, 0.5 and 0.6 s: on the frames of 30 a second, not evenly
    float keys[27] = {0, 0.5f, 0.6f, 0, 0, 0, 1, 0, 0, S, S, 0, 0, -S, -S};
    sn_glb_content c = read_made(TURNING("LINEAR", "3", "3", "5126", ""), keys, 27);
    assert_near(sn_motion_rate(c.motion), 30, 1e-12);
    assert_int_equal(sn_motion_nframe(c.motion), 19);
    for (int f = 0; f < 19; f++) {
        double angle = fmin(f / 15.0, 1) * acos(0);
        assert_at(&c, f, "hand", cos(angle), sin(angle), 0);
    }
    assert_string_equal(c.note, "");
    sn_glb_content_destroy(&c);

    c = read_made(TURNING("STEP", "3", "3", "5126", ""), keys, 27);
    assert_at(&c, 14, "hand", 1, 0, 0);
    assert_at(&c, 15, "hand", 0, 1, 0);
    sn_glb_content_destroy(&c);

    keys[2] = 0.6137f;  // nowhere
    c = read_made(TURNING("LINEAR", "3", "3", "5126", ""), keys, 27);
    assert_near(sn_motion_rate(c.motion), 60, 1e-12);
    assert_int_equal(sn_motion_nframe(c.motion), 38);
    assert_at(&c, 15, "hand", S, S, 0);
    assert_at(&c, 37, "hand", 0, 1, 0);
    assert_non_null(strstr(c.note, "not evenly spaced"));
    sn_glb_content_destroy(&c);

    // Hermite: two keys a second apart, each with an in-tangent, a value and an out-tangent
    const float curve[27] = {0, 1, 0, 9,  9, 9, 9, 0, 0, 0, 1, 0, 0, 1,
                             0, 0, 0, -1, 0, 0, 0, S, S, 9, 9, 9, 9};
    c = read_made(TURNING("CUBICSPLINE", "2", "6", "5126", ""), curve, 27);
    assert_near(sn_motion_rate(c.motion), 24, 1e-12);
    assert_int_equal(sn_motion_nframe(c.motion), 25);
    for (int f = 0; f < 25; f++) {
        double u = f / 24.0, s = (double)S;
        double z = (u * u * u - 2 * u * u + u) * 1 + (3 * u * u - 2 * u * u * u) * s +
                   (u * u * u - u * u) * -1;
        double w = (2 * u * u * u - 3 * u * u + 1) + (3 * u * u - 2 * u * u * u) * s;
        double angle = 2 * atan2(z, w);
        assert_at(&c, f, "hand", cos(angle), sin(angle), 0);
    }
    sn_glb_content_destroy(&c);

    // 16-bit numbers: 23170/32767 is close to the sine of 45 degrees
    float small[27] = {0, 1, 2};
    const int16_t shorts[12] = {0, 0, 0, 32767, 0, 0, 23170, 23170, 0, 0, -23170, 23170};
    memcpy(small + 3, shorts, sizeof shorts);
    c = read_made(TURNING("LINEAR", "3", "3", "5122", ",\"normalized\":true"), small, 27);
    assert_near(sn_motion_rate(c.motion), 1, 1e-12);
    assert_at(&c, 0, "hand", 1, 0, 0);
    assert_at(&c, 1, "hand", 0, 1, 0);
    assert_at(&c, 2, "hand", 0, -1, 0);
    sn_glb_content_destroy(&c);
}

// Three keys on frames of every rate that cameras and capture systems have: none of them lies on
// the frames of another rate, and a motion has the rate that the keys have.
static void test_usual_rates(void **unused) {
    (void)unused;
    static const double rates[] = {24, 25,         30,  24 / 1.001, 30 / 1.001,  48, 50,
                                   60, 60 / 1.001, 100, 120,        120 / 1.001, 240};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        // long enough for 30 and 30/1.001 to differ; odd, so that half the rate does not do
        const int middle = 701, last = 1903;
        float keys[27] = {0,
                          (float)(middle / rates[i]),
                          (float)(last / rates[i]),
                          0,
                          0,
                          0,
                          1,
                          0,
                          0,
                          S,
                          S,
                          0,
                          0,
                          -S,
                          -S};
        sn_glb_content c = read_made(TURNING("LINEAR", "3", "3", "5126", ""), keys, 27);
        assert_near(sn_motion_rate(c.motion), rates[i], 1e-12);
        assert_int_equal(sn_motion_nframe(c.motion), last + 1);
        assert_string_equal(c.note, "");
        assert_at(&c, middle, "hand", 0, 1, 0);
        sn_glb_content_destroy(&c);
    }
}

// Keys that never change are no degree of freedom, but they count: the node is where they say, not
// where it rests.
static void test_held(void **unused) {
    (void)unused;
    float keys[33];
    memcpy(keys, skinned_keys, sizeof keys);
    for (int i = 0; i < 3; i++) {
        const float s = i == 1 ? -S : S;  // the other sign is the same turn
        const float quarter[4] = {0, s, 0, s};
        memcpy(keys + 12 + 4 * i, quarter, sizeof quarter);
        keys[24 + 3 * i + 2] = 30;  // the head's z: 30 in place of 20
    }
    sn_glb_content c = read_made(skinned, keys, 33);
    assert_int_equal(type_of(&c, "Spine"), SN_JOINT_FIXED);
    assert_int_equal(type_of(&c, "Head"), SN_JOINT_FIXED);
    assert_int_equal(sn_model_nq(c.model), 7);
    assert_at(&c, 0, "Head", 0.3, 1.5, 0);
    assert_at(&c, 2, "Head", 2.3, 1.5, 0);
    sn_glb_content_destroy(&c);

    // sinew's own: joints that stay where they are, away from zero
    uint64_t state = 75;
    for (int k = 0; k < cases(40); k++) {
        sn_model *model = with_markers(&state, random_model(&state, 6, -1), 2);
        sn_motion *motion = random_motion(&state, model, 5, 60);
        for (int j = 0; j < 6; j++) {
            if (below(&state, 2) == 0) continue;
            int q = sn_model_q_index(model, j);
            int end = j + 1 < 6 ? sn_model_q_index(model, j + 1) : sn_model_nq(model);
            for (int f = 1; f < 5; f++)
                memcpy(sn_motion_edit(motion, f) + q, sn_motion_frame(motion, 0) + q,
                       (size_t)(end - q) * sizeof(double));
        }
        sn_glb_scene scene = sn_glb_scene_default(model);
        scene.motion = motion;
        scene.fitted = true;
        assert_true(there_and_back(&scene) < 1e-5);
        sn_motion_destroy(motion);
        sn_model_destroy(model);
    }
}

// A glTF text with its numbers inside, and one whose numbers lie elsewhere.
static void test_text(void **unused) {
    (void)unused;
    // times 0 and 1, places 0 0 0 and 0 1 0
    static const char text[] = ASSET
        "\"nodes\":[{\"name\":\"a\"}],\"animations\":[{\"samplers\":[{\"input\":0,\"output\":1}],"
        "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"translation\"}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
        "{\"bufferView\":0,\"byteOffset\":8,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":32}],\"buffers\":[{\"byteLength\":32,"
        "\"uri\":"
        "\"data:application/octet-stream;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAAAAAACAPwAAAAA=\"}]}";
    sn_glb_content c = read_bytes(text, sizeof text - 1);
    assert_at(&c, 1, "a", 0, 1, 0);
    sn_glb_content_destroy(&c);
    sn_document d;
    assert_int_equal(sn_document_read(text, sizeof text - 1, "a.gltf", NULL, NULL, &d, NULL),
                     SN_OK);
    assert_int_equal(d.format, SN_FORMAT_GLB);
    assert_true(d.model != NULL && d.motion != NULL && d.recording == NULL);
    sn_document_destroy(&d);
}

static void test_scale_over_time(void **unused) {
    (void)unused;
    static const char json[] = ASSET
        "\"nodes\":[{\"name\":\"a\"}],\"animations\":[{\"samplers\":[{\"input\":0,\"output\":1}],"
        "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"scale\"}},"
        "{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"translation\"}}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
        "{\"bufferView\":0,\"byteOffset\":8,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":32}],\"buffers\":[{\"byteLength\":32}]}";
    static const float keys[] = {0, 1, 1, 1, 1, 1, 2, 1};
    sn_glb_content c = read_made(json, keys, 8);
    assert_at(&c, 1, "a", 1, 2, 1);
    assert_non_null(strstr(c.note, "scale of 1 joint changes over time"));
    sn_glb_content_destroy(&c);
}

// --- refused ---------------------------------------------------------------------------------------

static void refuse_bytes(const void *bytes, size_t length, const char *sentence) {
    sn_glb_content c;
    sn_error error = {0};
    sn_status status = sn_glb_read(bytes, length, NULL, &c, &error);
    if (status == SN_OK) fail_msg("it was read; expected: %s", sentence);
    assert_int_equal(error.status, status);
    assert_true(c.model == NULL && c.motion == NULL && c.recording == NULL);
    if (strstr(error.text, sentence) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", sentence, error.text);
}

static void refuse(const char *json, const char *sentence) {
    float keys[27] = {0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const made *m = make(json, keys, 27);
    refuse_bytes(m->bytes, m->length, sentence);
}

// A text with a piece of it replaced.
static void refuse_with(const char *json, const char *from, const char *to, const char *sentence) {
    char changed[4096];
    const char *at = strstr(json, from);
    assert_non_null(at);
    (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - json), json, to,
                   at + strlen(from));
    refuse(changed, sentence);
}

static void test_refused(void **unused) {
    (void)unused;
    static const char good[] = TURNING("LINEAR", "3", "3", "5126", "");
    static const struct {
        const char *from, *to, *sentence;
    } broken[] = {
        {"\"2.0\"", "\"1.0\"", "it is glTF \"1.0\"; version 2.0 is read"},
        {"\"asset\"", "\"assets\"", "no \"asset\": is this glTF?"},
        {"{\"asset\"", "{\"asset\"\"", "its JSON text, line 1"},
        {"\"children\":[2]", "\"children\":[0]", "some nodes are their own ancestors"},
        {"\"children\":[2]", "\"children\":[1]",
         "node 1 (\"arm\") is the child of node 0 and of node 1"},
        {"\"children\":[2]", "\"children\":[7]", "has a child that is no node of the file"},
        {"[1,0,0]", "[1,0]", "node 2 (\"hand\"): its translation must be 3 numbers"},
        {"[1,0,0]", "[1,0,0],\"rotation\":[0,0,0,0]", "its rotation is zero"},
        {"[1,0,0]", "[1,0,0],\"scale\":[1,-1,1]", "node 2 (\"hand\") mirrors"},
        {"\"translation\":[1,0,0]", "\"matrix\":[1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,1]",
         "(\"hand\") shears"},
        {"\"translation\":[1,0,0]", "\"matrix\":[-1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", "mirrors"},
        {"\"translation\":[1,0,0]", "\"matrix\":[0,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", "flattens"},
        {"\"translation\":[1,0,0]", "\"matrix\":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]",
         "is a projection"},
        {"[1,0,0]", "[1e16,0,0]", "\"hand\" is too far away or no number"},
        {"\"scene\":0,", "\"scene\":0,\"scenes\":[{\"nodes\":[9]}],", "the scene has a node"},
        {"\"scene\":0,", "\"scene\":3,\"scenes\":[{\"nodes\":[0]}],",
         "\"scene\" must be a whole number"},
        {"\"scene\":0,", "\"scenes\":[{\"nodes\":[]}],", "there is no joint in it"},
        {"\"scene\":0,", "\"skins\":[{\"joints\":[9]}],", "a skin has a joint that is no node"},
        {"\"nodes\"", "\"knots\"", "the file has no nodes"},
        {"\"LINEAR\"", "\"ROUND\"", "sampler 0: the interpolation \"ROUND\" is not known"},
        {"\"LINEAR\"", "\"CUBICSPLINE\"", "sampler 0 has 3 times, but 3 values"},
        {"\"input\":0,", "", "sampler 0 lacks its input or output"},
        {"\"input\":0", "\"input\":2", "\"input\" must be a whole number from 0 to below 2"},
        {"\"input\":0", "\"input\":1", "sampler 0: its times are not floats"},
        {"\"path\":\"rotation\"", "\"path\":\"translation\"",
         "not of the kind that its channel needs"},
        {"{\"sampler\":0,", "{", "channel 0 has no sampler"},
        {"\"target\"", "\"aim\"", "channel 0 has no target"},
        {"{\"sampler\":0,\"target\":{\"node\":1,",
         "{\"sampler\":0,\"target\":{\"node\":1,\"path\":\"rotation\"}},{\"sampler\":0,\"target\":{"
         "\"node\":1,",
         "two channels set the rotation of node 1 (\"arm\")"},
        {"\"type\":\"VEC4\"", "\"type\":\"VEC4\",\"sparse\":{}",
         "accessor 1 is sparse, which is not read"},
        {"\"type\":\"VEC4\"", "\"type\":\"MAT4\"", "accessor 1 holds \"MAT4\""},
        {"\"count\":3,\"type\":\"VEC4\"", "\"count\":7,\"type\":\"VEC4\"",
         "accessor 1 ends behind its bufferView"},
        {"\"count\":3,\"type\":\"VEC4\"", "\"count\":0,\"type\":\"VEC4\"", "accessor 1 is empty"},
        {"\"count\":3,\"type\":\"VEC4\"", "\"count\":2147483646,\"type\":\"VEC4\"",
         "accessor 1 ends behind"},
        {"\"count\":3,\"type\":\"VEC4\"", "\"count\":1e300,\"type\":\"VEC4\"",
         "\"count\" must be a whole number"},
        {"\"bufferView\":1,", "", "accessor 1 has no \"bufferView\""},
        {"\"bufferView\":1,", "\"bufferView\":1,\"byteOffset\":4294967292,",
         "ends behind its bufferView"},
        {"5126,\"count\":3,\"type\":\"VEC4\"", "5122,\"count\":3,\"type\":\"VEC4\"",
         "normalized small integers"},
        {"\"byteLength\":96", "\"byteLength\":97", "bufferView 1 ends behind its buffer"},
        {"\"byteLength\":96", "\"byteLength\":96,\"byteStride\":4",
         "byteStride is less than an element"},
        {"\"byteLength\":96", "\"byteLength\":96,\"extensions\":{}", "packed by an extension"},
        {"\"byteLength\":108", "\"byteLength\":112",
         "buffer 0 should have 112 bytes, here are 108"},
        {"\"byteLength\":108", "\"byteLength\":108,\"uri\":\"a.bin\"",
         "in another file, \"a.bin\": save it as one"},
        {"\"byteLength\":108", "\"byteLength\":108,\"uri\":\"data:,x\"", "only base64"},
        {"\"byteLength\":108", "\"byteLength\":108,\"uri\":\"data:a/b;base64,!\"",
         "no well-formed base64"},
        {"\"nodes\":[", "\"nodes\":[3,", "node 0 is no object"},
        {"\"accessors\":[{", "\"accessors\":[7,{", "accessors 0 must be an object, not a number"},
        {"\"accessors\":[", "\"accessors\":{},\"b\":[",
         "\"accessors\" must be an array, not an object"},
        {"[1,0,0]", "[1,0,0],\"extras\":{\"sinew\":\"measured\"}",
         "the measured marker \"hand\" hangs on a joint"},
        {"{\"name\":\"root\"", "{\"extras\":{\"sinew\":\"fitted\"},\"name\":\"root\"",
         "marker \"root\" hangs on no joint"},
    };
    float keys[27] = {0, 1, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    sn_glb_content c = read_made(good, keys, 27);
    sn_glb_content_destroy(&c);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        refuse_with(good, broken[i].from, broken[i].to, broken[i].sentence);
    const made *m;
    keys[1] = 5;
    m = make(good, keys, 27);
    refuse_bytes(m->bytes, m->length, "sampler 0: its times do not rise");
    keys[1] = NAN;
    m = make(good, keys, 27);
    refuse_bytes(m->bytes, m->length, "sampler 0: its times do not rise");
    keys[1] = 1, keys[2] = 9e8f;
    m = make(good, keys, 27);
    refuse_bytes(m->bytes, m->length, "seconds of motion are more than a file of");
    keys[2] = 2, keys[10] = 0;
    m = make(good, keys, 27);
    refuse_bytes(m->bytes, m->length, "frame 2: the place or rotation of \"arm\"");
    keys[10] = INFINITY;
    m = make(good, keys, 27);
    refuse_bytes(m->bytes, m->length, "frame 2: the place or rotation of \"arm\"");
}

static void test_container(void **unused) {
    (void)unused;
    made m = *make(skinned, skinned_keys, 33);
    size_t json = m.bytes[12] | (size_t)m.bytes[13] << 8;
    // cut off anywhere
    for (size_t n = 0; n < m.length; n++) refuse_bytes(m.bytes, n, "");
    char says[80];
    (void)snprintf(says, sizeof says, "the file should have %zu bytes, here are %zu: it is cut off",
                   m.length, m.length - 1);
    refuse_bytes(m.bytes, m.length - 1, says);
    refuse_bytes("", 0, "does not begin with \"glTF\"");
    refuse_bytes("PK\3\4 something", 14, "does not begin with \"glTF\"");
    made x = m;
    x.bytes[4] = 1;
    refuse_bytes(x.bytes, x.length, "GLB of version 1; version 2 is read");
    x = m;
    x.bytes[8] = 11, x.bytes[9] = x.bytes[10] = 0;
    refuse_bytes(x.bytes, x.length, "its head says that the file has 11 bytes");
    x = m;
    x.bytes[16] = 'B';
    refuse_bytes(x.bytes, x.length, "its first chunk is not the JSON text");
    x = m;
    x.bytes[12]++;
    refuse_bytes(x.bytes, x.length, "no multiple of 4");
    x = m;
    x.bytes[15] = 0x7f;
    refuse_bytes(x.bytes, x.length, "a chunk should have");
    x = m;
    x.bytes[20 + json + 4] = 'X';  // a chunk of another kind: the numbers are not there
    refuse_bytes(x.bytes, x.length, "buffer 0 is not in the file");
    // bytes behind the end are nobody's
    sn_glb_content c = read_bytes(m.bytes, m.length + 100);
    sn_glb_content_destroy(&c);
}

static void test_memory(void **unused) {
    (void)unused;
    uint64_t state = 77;
    sn_model *model = with_markers(&state, random_model(&state, 5, -1), 3);
    sn_motion *motion = random_motion(&state, model, 4, 50);
    const char *labels[] = {"a", "b"};
    sn_recording_info info = {.nframe = 4, .nmarker = 2, .rate = 50};
    sn_recording *recording = random_recording(&state, &info, labels, -1);
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion, scene.recording = recording, scene.fitted = true;
    memory_sink sink;
    write_scene(&scene, &sink);
    for (long n = 0;; n++) {
        test_allocator a;
        sn_glb_content c;
        sn_error error = {0};
        test_allocator_begin(&a);
        a.fail_at = n;
        sn_status status = sn_glb_read(sink.bytes, sink.length, &a.base, &c, &error);
        if (status == SN_OK) {
            assert_true(n > 5 && c.model != NULL && c.motion != NULL && c.recording != NULL);
            sn_glb_content_destroy(&c);
        }
        assert_int_equal(a.live, 0);
        if (status == SN_OK) break;
        assert_int_equal(status, SN_ERR_MEMORY);
        assert_null(c.model);
    }
    free(sink.bytes);
    sn_recording_destroy(recording);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skinned),       cmocka_unit_test(test_still),
        cmocka_unit_test(test_plain),         cmocka_unit_test(test_places),
        cmocka_unit_test(test_interpolation), cmocka_unit_test(test_text),
        cmocka_unit_test(test_held),          cmocka_unit_test(test_scale_over_time),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_container),
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_usual_rates),
        cmocka_unit_test(test_shown_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
