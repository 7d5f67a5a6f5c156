// SPDX-License-Identifier: MIT
// What a GLB scene consists of: bones, balls and markers on joints, and what moves over time.
//
// The body's shape is that of the zero pose, in which it is bound to the joints.
//
// A joint's node needs no sweep: where its frame lies in its parent's depends on its own
// coordinates only. So every track is computed by itself, frame after frame, and nothing is kept.
#include <string.h>

#include "files/glb/glb.h"
#include "math/unit.h"

// Proportions, chosen by eye. Sizes are relative to the figure.
static const double bone_slimness = 0.1;   // widest radius over length
static const double bone_plumpest = 0.22;  // the same, of a short bone at most
static const double bone_thinnest = 0.0065, bone_thickest = 0.016, bone_of_frame = 0.0025;
static const double ball_share = 0.68;  // of the thickest bone that it joins
static const double ball_smallest = 0.0035;
static const double marker_radius = 0.0045, fitted_over_measured = 0.8;

// Beyond this a float could not hold the number, or not its square.
static const double largest = 1e15;

static const sn_joint *joint_of(const sn_glb *g, int joint) {
    return &g->model->joint[g->model->sweep_of[joint]];
}

static const double *pose_of(const sn_glb *g, int frame) {
    return g->scene->motion != NULL && g->nframe > 0 ? sn_motion_frame(g->scene->motion, frame)
                                                     : g->scene->q;
}

// Where a joint's frame lies in its parent's at a pose; NULL: the zero pose.
static sn_frame local_at(const sn_glb *glb, int joint, const double *pose) {
    const sn_joint *j = joint_of(glb, joint);
    double q[SN_MAX_JOINT_DOFS + 1] = {0};
    sn_angle angle[SN_MAX_JOINT_DOFS] = {{0, 1}};
    sn_twist S[SN_MAX_JOINT_DOFS];
    sn_frame out;
    if (j->ops->quaternion >= 0) q[j->ops->quaternion] = 1;
    if (pose != NULL) memcpy(q, pose + j->q0, (size_t)j->nq * sizeof *q);
    for (int i = 0; i < j->nv; i++)
        if (j->ops->angles >> i & 1) sn_sincos(q[i], &angle[i].s, &angle[i].c);
    j->ops->place(j, q, angle, &j->offset, &out, S);
    return out;
}

sn_frame sn_glb_local(const sn_glb *glb, int joint, int frame) {
    return local_at(glb, joint, pose_of(glb, frame));
}

bool sn_glb_first_sample(const sn_glb *glb, int marker, double out[3]) {
    int at = 0;
    while (!sn_glb_sample(glb, at, marker, out)) at++;
    return at == 0;
}

static bool fits(sn_vec3 p) {
    return fabs(p.x) <= largest && fabs(p.y) <= largest && fabs(p.z) <= largest;
}

static bool same_float(sn_vec3 a, sn_vec3 b) {
    return (float)a.x == (float)b.x && (float)a.y == (float)b.y && (float)a.z == (float)b.z;
}

// Frames at the first moment, and how large the figure is.
static sn_status place_joints(sn_glb *g) {
    const sn_model *m = g->model;
    sn_vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < m->njoint; k++) {
        int i = m->joint[k].id, parent = m->desc[i].parent;
        sn_frame local = sn_glb_local(g, i, 0);
        g->frame[i] = parent < 0 ? local : frame_mul(&g->frame[parent], &local);
        sn_frame rest = local_at(g, i, NULL);
        g->bind[i] = parent < 0 ? rest : frame_mul(&g->bind[parent], &rest);
        if (!fits(g->bind[i].p))
            return sn_fail(g->error, SN_ERR_VALUE, 0,
                           "joint \"%.80s\" is too far away at the zero pose", m->desc[i].name);
        sn_vec3 end[2] = {g->frame[i].p, g->frame[i].p};
        if (g->scene->tips != NULL)
            end[1] = v3_add(end[0], m3_mul(&g->frame[i].R, v3_from(g->scene->tips + 3 * i)));
        for (int e = 0; e < 2; e++) {
            if (!fits(end[e]))
                return sn_fail(g->error, SN_ERR_VALUE, 0, "joint \"%.80s\" is too far away",
                               m->desc[i].name);
            low = v3(fmin(low.x, end[e].x), fmin(low.y, end[e].y), fmin(low.z, end[e].z));
            high = v3(fmax(high.x, end[e].x), fmax(high.y, end[e].y), fmax(high.z, end[e].z));
        }
    }
    g->size = v3_norm(v3_sub(high, low));
    if (!(g->size > 1e-6)) g->size = 1;  // a single joint: as good a guess as any
    g->ball = marker_radius * g->size;
    return SN_OK;
}

static void add_solid(sn_glb *g, sn_glb_solid solid) {
    g->used[solid.kind] = true;
    g->count[solid.kind == SN_GLB_BONE]++;
    g->solid[g->nsolid++] = solid;
}

// A bone from a joint to a place in its frame; its radius, 0 when it is too short to be seen.
// slender: it leads to a frame that nothing hangs on, such as a robot's camera.
static double add_bone(sn_glb *g, int joint, sn_vec3 to, bool slender) {
    double length = v3_norm(to);
    if (length < 1e-3 * g->size) return 0;
    double radius = bone_slimness * length;
    radius = fmin(fmax(radius, bone_thinnest * g->size), bone_thickest * g->size);
    if (slender) radius = bone_of_frame * g->size;
    radius = fmin(radius, bone_plumpest * length);
    add_solid(g, (sn_glb_solid){.kind = SN_GLB_BONE,
                                .joint = joint,
                                .rotation = sn_glb_from_y(v3_scale(1 / length, to)),
                                .scale = {radius, length, radius}});
    return radius;
}

// The bones of one joint; the radius of the thickest.
static double add_bones(sn_glb *g, int joint, sn_vec3 markers, int nmarker) {
    if (g->scene->tips != NULL)
        return add_bone(g, joint, v3_from(g->scene->tips + 3 * joint), false);
    double thickest = 0;
    for (int child = g->first_child[joint]; child >= 0; child = g->next_child[child]) {
        const sn_joint *j = joint_of(g, child);
        double radius = add_bone(g, joint, j->offset.p, j->nv == 0 && g->first_child[child] < 0);
        thickest = fmax(thickest, radius);
    }
    if (g->first_child[joint] < 0 && nmarker > 0)
        thickest = add_bone(g, joint, v3_scale(1.0 / nmarker, markers), false);
    return thickest;
}

static void add_ball(sn_glb *g, int joint, double bone) {
    const sn_joint *j = joint_of(g, joint);
    bool end = g->first_child[joint] < 0 && bone == 0;
    if (j->nv == 0 && j->parent >= 0 && !end) return;
    double r = fmax(ball_share * bone, ball_smallest * g->size);
    add_solid(
        g, (sn_glb_solid){
               .kind = SN_GLB_JOINT, .joint = joint, .rotation = {1, 0, 0, 0}, .scale = {r, r, r}});
}

static void add_fitted(sn_glb *g) {
    double r = fitted_over_measured * g->ball;
    for (int i = 0; i < g->model->nmarker; i++) {
        const sn_marker_desc *d = &g->model->marker[i];
        g->used[SN_GLB_FITTED] = true;
        g->part[g->npart] = (sn_glb_part){.kind = SN_GLB_FITTED,
                                          .name = d->name,
                                          .position = v3_from(d->position),
                                          .radius = r,
                                          .next = g->first_part[d->joint]};
        g->first_part[d->joint] = g->npart++;
    }
}

// sum and count: scratch, the markers of each joint; thickest: of the bones that start there.
static void add_parts(sn_glb *g, sn_vec3 *sum, int *count, double *thickest) {
    const sn_model *m = g->model;
    for (int i = 0; i < m->njoint; i++) {
        g->first_child[i] = g->next_child[i] = g->first_part[i] = -1;
        sum[i] = v3(0, 0, 0);
        count[i] = 0;
    }
    for (int i = m->njoint - 1; i >= 0; i--) {
        int parent = m->desc[i].parent;
        if (parent < 0) continue;
        g->next_child[i] = g->first_child[parent];
        g->first_child[parent] = i;
    }
    for (int i = 0; i < m->nmarker; i++) {
        sum[m->marker[i].joint] = v3_add(sum[m->marker[i].joint], v3_from(m->marker[i].position));
        count[m->marker[i].joint]++;
    }
    for (int i = 0; i < m->njoint; i++) thickest[i] = add_bones(g, i, sum[i], count[i]);
    for (int i = 0; i < m->njoint; i++) add_ball(g, i, thickest[i]);
    if (g->scene->fitted) add_fitted(g);
}

static void add_track(sn_glb *g, sn_glb_path path, int node, int source, bool measured) {
    g->track[g->ntrack++] = (sn_glb_track){path, node, source, measured};
}

// Which of a joint's place and rotation ever change.
static sn_status find_joint_tracks(sn_glb *g, int joint) {
    if (joint_of(g, joint)->nv == 0) return SN_OK;
    sn_frame first = sn_glb_local(g, joint, 0);
    bool moves = false, turns = false;
    for (int f = 0; f < g->nframe; f++) {
        sn_frame at = sn_glb_local(g, joint, f);
        if (!fits(at.p))
            return sn_fail(g->error, SN_ERR_VALUE, 0, "frame %d: joint \"%.80s\" is too far away",
                           f, g->model->desc[joint].name);
        moves = moves || !same_float(at.p, first.p);
        for (int k = 0; k < 3; k++) turns = turns || !same_float(at.R.c[k], first.R.c[k]);
    }
    if (moves) add_track(g, SN_GLB_TRANSLATION, 1 + joint, joint, false);
    if (turns) add_track(g, SN_GLB_ROTATION, 1 + joint, joint, false);
    return SN_OK;
}

static sn_status find_marker_tracks(sn_glb *g, int marker) {
    bool moves = false, hides = false, seen = false;
    sn_vec3 first = {0, 0, 0};
    g->marker_node[marker] = -1;
    for (int f = 0; f < g->nrecorded; f++) {
        double sample[3];
        if (!sn_glb_sample(g, f, marker, sample)) {
            hides = true;
            continue;
        }
        sn_vec3 at = v3_from(sample);
        if (!fits(at))
            return sn_fail(g->error, SN_ERR_VALUE, 0,
                           "frame %d: marker \"%.80s\" is too far away, or not a number", f,
                           g->samples.label(g->samples.user, marker));
        if (!seen) first = at;
        seen = true;
        moves = moves || !same_float(at, first);
    }
    if (!seen) return SN_OK;
    int node = g->marker_node[marker] = g->nnode++;
    g->used[SN_GLB_MEASURED] = true;
    if (moves) add_track(g, SN_GLB_TRANSLATION, node, marker, true);
    if (hides) add_track(g, SN_GLB_SCALE, node, marker, true);
    return SN_OK;
}

static sn_status find_tracks(sn_glb *g) {
    for (int f = 0; f < g->nframe; f++) {
        sn_error why = {0};
        const double *q = pose_of(g, f);
        if (q == NULL || sn_model_check_pose(g->model, q, &why) == SN_OK) continue;
        return sn_fail(g->error, SN_ERR_VALUE, 0, "frame %d: %.200s", f, why.text);
    }
    for (int i = 0; i < g->model->njoint; i++) SN_TRY(find_joint_tracks(g, i));
    g->nnode = 1 + g->model->njoint + g->npart;
    for (int i = 0; i < g->nmarker; i++) SN_TRY(find_marker_tracks(g, i));
    g->first_shell = g->nnode;
    g->nnode += g->nshell;
    return SN_OK;
}

static sn_status find_rate(sn_glb *g) {
    const sn_glb_scene *s = g->scene;
    double motion = s->motion != NULL ? sn_motion_rate(s->motion) : 0;
    double recording = g->samples.rate;
    g->rate = s->rate > 0 ? s->rate : motion > 0 ? motion : recording;
    if (g->ntrack == 0) return SN_OK;
    if (!(s->rate > 0) && motion > 0 && recording > 0 && fabs(motion - recording) > 1e-3 * motion)
        return sn_fail(
            g->error, SN_ERR_ARGUMENT, 0,
            "the motion has %g frames per second, the recording %g: set the scene's rate", motion,
            recording);
    if (!(g->rate > 0))
        return sn_fail(g->error, SN_ERR_ARGUMENT, 0,
                       "how many frames there are per second is not known: set the scene's rate");
    if (!(g->rate >= 1e-3 && g->rate <= 1e6))
        return sn_fail(g->error, SN_ERR_VALUE, 0,
                       "%g frames per second: must be between 0.001 and 1,000,000", g->rate);
    return SN_OK;
}

static sn_status check_scene(sn_glb *g) {
    const sn_glb_scene *s = g->scene;
    const int longest = 1 << 23;
    double up[4];
    if (s->model == NULL) return sn_fail(g->error, SN_ERR_ARGUMENT, 0, "the scene has no model");
    if (s->motion != NULL && sn_motion_nq(s->motion) != sn_model_nq(s->model))
        return sn_fail(g->error, SN_ERR_ARGUMENT, 0, "the motion has %d coordinates, the model %d",
                       sn_motion_nq(s->motion), sn_model_nq(s->model));
    if (!sn_unit(s->rotation, 4, up))
        return sn_fail(g->error, SN_ERR_VALUE, 0, "the scene's rotation is zero or not finite");
    g->model = s->model;
    g->up = (sn_quat){up[0], up[1], up[2], up[3]};
    g->nframe = s->motion != NULL ? sn_motion_nframe(s->motion) : 0;
    g->samples = s->samples != NULL ? *s->samples : sn_recording_samples(s->recording);
    if (g->samples.nframe < 0 || g->samples.nmarker < 0 || g->samples.label == NULL ||
        g->samples.sample == NULL)
        return sn_fail(g->error, SN_ERR_ARGUMENT, 0, "the scene's samples cannot be read");
    g->nrecorded = g->samples.nframe;
    g->nmarker = g->samples.nmarker;
    // times are floats: behind this frame, neighbours could round to the same one
    if (g->nframe > longest || g->nrecorded > longest)
        return sn_fail(g->error, SN_ERR_SIZE, 0,
                       "more than %d frames: a GLB file's times cannot tell them apart", longest);
    return SN_OK;
}

sn_status sn_glb_prepare(sn_glb *g) {
    SN_TRY(check_scene(g));
    size_t njoint = (size_t)g->model->njoint, nmarker = (size_t)g->nmarker;
    sn_vec3 *sum = NULL;
    int *count = NULL;
    double *thickest = NULL;
    sn_layout layout = {0};
    for (int pass = 0; pass < 2; pass++) {
        g->frame = sn_layout_take(&layout, njoint, sizeof *g->frame);
        g->bind = sn_layout_take(&layout, njoint, sizeof *g->bind);
        g->first_child = sn_layout_take(&layout, njoint, sizeof *g->first_child);
        g->next_child = sn_layout_take(&layout, njoint, sizeof *g->next_child);
        g->first_part = sn_layout_take(&layout, njoint, sizeof *g->first_part);
        g->marker_node = sn_layout_take(&layout, nmarker, sizeof *g->marker_node);
        g->part = sn_layout_take(&layout, (size_t)g->model->nmarker, sizeof *g->part);
        // at most a bone to it, one behind it and a ball for each joint
        g->solid = sn_layout_take(&layout, 3 * njoint, sizeof *g->solid);
        g->track = sn_layout_take(&layout, 2 * njoint + 2 * nmarker, sizeof *g->track);
        g->shape = sn_layout_take(&layout, SN_GLB_SHAPES, sizeof *g->shape);
        sum = sn_layout_take(&layout, njoint, sizeof *sum);
        count = sn_layout_take(&layout, njoint, sizeof *count);
        thickest = sn_layout_take(&layout, njoint, sizeof *thickest);
        if (pass == 1) break;
        void *block = sn_layout_acquire(&layout, g->allocator, &g->owner);
        if (block == NULL) return sn_fail_memory(g->error);
        layout = (sn_layout){.block = block};
    }
    sn_glb_marker(&g->shape[0]);
    sn_glb_ball(&g->shape[1]);
    sn_glb_bone(&g->shape[2]);
    sn_glb_capsule(&g->shape[3]);
    g->nshell = g->scene->shapes ? g->model->nshape : 0;
    g->used[SN_GLB_SHELL] = g->nshell > 0;
    if (g->nframe == 0 && g->scene->q != NULL)
        SN_TRY(sn_model_check_pose(g->model, g->scene->q, g->error));
    if (g->nframe > 0)
        SN_TRY(sn_model_check_pose(g->model, sn_motion_frame(g->scene->motion, 0), g->error));
    SN_TRY(place_joints(g));
    add_parts(g, sum, count, thickest);
    SN_TRY(find_tracks(g));
    return find_rate(g);
}
