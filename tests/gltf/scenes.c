// SPDX-License-Identifier: MIT
// Writes GLB files of many kinds into a folder, for the validator and for the eye. $1: the folder.
#include "support.h"

#include "sinew/files.h"

static const char *folder;

static bool to_file(void *user, const void *bytes, size_t count) {
    return fwrite(bytes, 1, count, user) == count;
}

static void save(const char *name, const sn_glb_scene *scene) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s.glb", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) exit(2);
    const sn_sink sink = {to_file, file};
    sn_error error = {0};
    if (sn_glb_write(scene, &sink, NULL, &error) != SN_OK) {
        (void)fprintf(stderr, "%s: %s\n", name, error.text);
        exit(1);
    }
    (void)fclose(file);
}

static void need(sn_status status) {
    if (status != SN_OK) exit(3);
}

// A smooth motion through random poses near zero.
static sn_motion *random_motion(const sn_model *model, int nframe, double swing) {
    uint64_t state = 5;
    sn_motion *motion;
    int nv = sn_model_nv(model);
    double *q0 = calloc((size_t)(sn_model_nq(model) + 3 * nv) + 1, sizeof *q0);
    if (q0 == NULL) exit(3);
    double *delta = q0 + sn_model_nq(model), *size = delta + nv, *speed = size + nv;
    need(sn_motion_create(nframe, sn_model_nq(model), 1, 60, NULL, &motion, NULL));
    sn_model_zero(model, q0);
    for (int i = 0; i < nv; i++) {
        size[i] = uniform(&state, -swing, swing);
        speed[i] = uniform(&state, 0.02, 0.1);
    }
    for (int f = 0; f < nframe; f++) {
        for (int i = 0; i < nv; i++) delta[i] = size[i] * sin(speed[i] * f + i);
        sn_model_integrate(model, q0, delta, sn_motion_edit(motion, f));
        (void)sn_model_clamp(model, sn_motion_edit(motion, f));
    }
    free(q0);
    return motion;
}

// The model's markers in a motion, a bit beside, with gaps; the first is never seen.
static sn_recording *record(const sn_model *model, const sn_motion *motion, int nframe) {
    uint64_t state = 9;
    const char *labels[256];
    sn_recording_info info = {
        .nframe = nframe, .nmarker = sn_model_nmarker(model), .rate = 60, .metres_per_unit = 1};
    sn_recording *recording;
    sn_problem *problem;
    sn_workspace *ws;
    for (int i = 0; i < info.nmarker; i++) labels[i] = sn_model_marker(model, i)->name;
    need(sn_recording_create(&info, labels, NULL, &recording, NULL));
    need(sn_problem_create(model, NULL, 0, NULL, &problem, NULL));
    need(sn_workspace_create(problem, false, NULL, &ws, NULL));
    for (int f = 0; f < nframe; f++) {
        int at = f < sn_motion_nframe(motion) ? f : sn_motion_nframe(motion) - 1;
        need(sn_workspace_pose(ws, sn_motion_frame(motion, at)));
        for (int i = 1; i < info.nmarker; i++) {
            const sn_marker_desc *d = sn_model_marker(model, i);
            if ((f / 20 + i) % 7 == 0) continue;
            sn_vec3 p = sn_workspace_point(ws, d->joint, d->position);
            double *out = sn_recording_edit(recording, f) + 3 * i;
            out[0] = p.x + uniform(&state, -0.003, 0.003);
            out[1] = p.y + uniform(&state, -0.003, 0.003);
            out[2] = p.z + uniform(&state, -0.003, 0.003);
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    return recording;
}

static void humanoid(void) {
    sn_model *model;
    need(sn_model_humanoid(NULL, &model, NULL));
    sn_glb_scene scene = sn_glb_scene_default(model);
    save("humanoid", &scene);
    sn_motion *motion = random_motion(model, 240, 0.4), *one = random_motion(model, 1, 0.4);
    sn_motion *none = random_motion(model, 0, 0.4);
    sn_recording *recording = record(model, motion, 240), *longer = record(model, motion, 300);
    scene.motion = motion;
    save("humanoid_motion", &scene);
    scene.fitted = true;
    save("humanoid_fitted", &scene);
    scene.recording = recording;
    save("humanoid_markers", &scene);
    scene.recording = longer;
    save("humanoid_longer_recording", &scene);
    scene.motion = one;
    scene.recording = NULL;
    save("humanoid_one_frame", &scene);
    scene.motion = none;
    save("humanoid_no_frames", &scene);
    scene.recording = recording;
    scene.fitted = false;
    save("humanoid_recording_only", &scene);
    sn_recording_destroy(longer);
    sn_recording_destroy(recording);
    sn_motion_destroy(motion);
    sn_motion_destroy(one);
    sn_motion_destroy(none);
    sn_model_destroy(model);
}

static void robot(void) {
    static const char text[] =
        "<robot name='gripper &quot;one&quot;'><link name='base'/><link name='arm'/><link "
        "name='hand'/><link name='left'/><link name='right'/><link name='tool'/>"
        "<joint name='lift' type='prismatic'><parent link='base'/><child link='arm'/><axis xyz='0 "
        "0 1'/><limit lower='0' upper='0.4'/><origin xyz='0 0 0.5'/></joint>"
        "<joint name='turn' type='continuous'><parent link='arm'/><child link='hand'/><origin "
        "xyz='0.4 0 0' rpy='1.5708 0 0'/></joint>"
        "<joint name='l' type='prismatic'><parent link='hand'/><child link='left'/><axis xyz='0 1 "
        "0'/><limit lower='0' upper='0.05'/><origin xyz='0.1 0.02 0'/></joint>"
        "<joint name='r' type='prismatic'><parent link='hand'/><child link='right'/><axis xyz='0 "
        "-1 0'/><limit lower='0' upper='0.05'/><origin xyz='0.1 -0.02 0'/></joint>"
        "<joint name='t' type='fixed'><parent link='hand'/><child link='tool'/><origin xyz='0.15 0 "
        "0'/></joint></robot>";
    sn_model *model;
    need(sn_urdf_read(text, sizeof text - 1, NULL, NULL, &model, NULL, NULL));
    sn_motion *motion = random_motion(model, 120, 1);
    sn_glb_scene scene = sn_glb_scene_default(model);
    (void)sn_glb_up("z", scene.rotation);
    save("robot", &scene);
    scene.motion = motion;
    scene.fitted = true;
    save("robot_motion", &scene);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// One file of the data folder, when it is there.
static void real_robot(const char *name) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/urdf/%s.urdf", SINEW_DATA, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        printf("skipped: the file urdf/%s.urdf is not in the data folder\n", name);
        return;
    }
    static char text[1 << 18];
    size_t length = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    sn_model *model;
    need(sn_urdf_read(text, length, NULL, NULL, &model, NULL, NULL));
    sn_motion *motion = random_motion(model, 100, 0.5);
    sn_glb_scene scene = sn_glb_scene_default(model);
    (void)sn_glb_up("z", scene.rotation);
    scene.motion = motion;
    save(name, &scene);
    char shapes[64];
    (void)snprintf(shapes, sizeof shapes, "%s_shapes", name);
    scene.shapes = true;
    if (sn_model_nshape(model) > 0) save(shapes, &scene);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

// Every kind of joint as a chain of its own; with one joint, and with bones of no length.
static void kinds(void) {
    uint64_t state = 3;
    for (int type = 0; type < SN_JOINT_TYPE_COUNT; type++) {
        char name[64];
        for (int njoint = 1; njoint <= 4; njoint += 3) {
            sn_model *model = random_model(&state, njoint, type);
            sn_motion *motion = random_motion(model, 50, 2);
            sn_glb_scene scene = sn_glb_scene_default(model);
            scene.motion = motion;
            (void)snprintf(name, sizeof name, "%s_%d", sn_joint_type_name((sn_joint_type)type),
                           njoint);
            save(name, &scene);
            sn_motion_destroy(motion);
            sn_model_destroy(model);
        }
    }
    sn_builder *builder;
    sn_model *model;
    need(sn_builder_create("", NULL, &builder, NULL));
    for (int i = 0; i < 5; i++) {
        char name[8];
        sn_joint_desc d = sn_joint_default(i == 2 ? SN_JOINT_FIXED : SN_JOINT_BALL);
        (void)snprintf(name, sizeof name, "%d", i);
        d.name = name;
        d.parent = i - 1;
        (void)sn_builder_joint(builder, &d);
    }
    need(sn_builder_finish(builder, &model, NULL));
    sn_builder_destroy(builder);
    const double tips[15] = {0};
    sn_motion *motion = random_motion(model, 20, 1);
    sn_glb_scene scene = sn_glb_scene_default(model);
    scene.motion = motion;
    save("no_length", &scene);
    scene.tips = tips;
    save("no_length_tips", &scene);
    sn_motion_destroy(motion);
    sn_model_destroy(model);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    folder = argv[1];
    humanoid();
    robot();
    real_robot("panda");
    real_robot("g1_29dof_rev_1_0");
    real_robot("romeo");
    kinds();
    return 0;
}
