// SPDX-License-Identifier: MIT
// A fitted motion against one that is known: how far the joints' rotations are apart.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit_steps.h"
#include "math/rotation.h"
#include "math/vec3.h"

typedef struct known {
    sn_document document;   // holds the model where the file has one of its own
    const sn_model *model;  // the motion's
    sn_motion *motion;
} known;

static void free_known(known *k) {
    sn_motion_destroy(k->motion);
    sn_document_free(&k->document);
}

// The motion of a file, for its own skeleton or else for the figure's model.
static bool load_known(const char *path, const figure *f, known *out) {
    sn_document_options options = sn_document_options_default();
    sn_error error = {0};
    *out = (known){.model = f->model};
    options.skeleton = f->skeleton;
    bool amc = sn_format_of_name(path) == SN_FORMAT_AMC;
    if (amc && (f->skeleton == NULL || sn_skeleton_get_format(f->skeleton) != SN_SKELETON_ASF)) {
        complain(
            "%s: an AMC file can be read only with its ASF file, and the model is none; make a "
            "BVH of the two (sinew convert X.asf %s -o truth.bvh) and give that to --truth",
            path, path);
        return false;
    }
    if (!load_document(path, &options, &out->document)) return false;
    out->motion = out->document.motion;
    out->document.motion = NULL;
    if (out->document.model != NULL) out->model = out->document.model;
    if (out->motion == NULL && out->document.table != NULL) {
        if (sn_motion_from_table(f->model, out->document.table, NULL, &out->motion, &error) !=
            SN_OK)
            (void)file_error(path, &error);
    } else if (out->motion == NULL) {
        complain("%s: this %s file holds no motion", path, sn_format_name(out->document.format));
    }
    return out->motion != NULL;
}

// A model at a pose, against its zero pose: how far each joint's frame has turned since.
typedef struct turned {
    const sn_model *model;
    sn_problem *problem;
    sn_workspace *zero, *now;
} turned;

static bool open_turned(turned *t, const sn_model *model) {
    *t = (turned){.model = model};
    double *q = must_alloc((size_t)sn_model_nq(model), sizeof *q);
    sn_model_zero(model, q);
    bool good = sn_problem_create(model, NULL, 0, NULL, &t->problem, NULL) == SN_OK &&
                sn_workspace_create(t->problem, false, NULL, &t->zero) == SN_OK &&
                sn_workspace_create(t->problem, false, NULL, &t->now) == SN_OK &&
                sn_workspace_pose(t->zero, q) == SN_OK;
    free(q);
    if (!good) complain("out of memory");
    return good;
}

static void close_turned(turned *t) {
    sn_workspace_destroy(t->zero);
    sn_workspace_destroy(t->now);
    sn_problem_destroy(t->problem);
}

// Since the zero pose, in the world; against that of another joint where `base` is not -1.
static sn_quat turn_of(const turned *t, int joint, int base) {
    sn_mat3 zero = sn_workspace_frame(t->zero, joint).R, now = sn_workspace_frame(t->now, joint).R;
    zero = m3_transpose(&zero);
    sn_quat q = sn_quat_from_mat3(m3_mulm(&now, &zero));
    return base < 0 ? q : sn_quat_mul(sn_quat_conj(turn_of(t, base, -1)), q);
}

// Joints of the fitted model against those of the known motion's: the same name, or both the root.
typedef struct matching {
    int *other;  // -1 for none
    int *base;   // the nearest joint above that has another, too
    bool
        *seen;  // markers say something about it: it moves, and it or what hangs on it carries some
    int count, movable;
} matching;

static void find_seen(const fit_result *r, bool *seen) {
    for (int i = 0; i < sn_model_nmarker(r->model); i++) {
        int j = r->column[i] >= 0 ? sn_model_marker(r->model, i)->joint : -1;
        for (; j >= 0; j = sn_model_parent(r->model, j))
            seen[j] = sn_model_joint(r->model, j)->type != SN_JOINT_FIXED;
    }
}

static matching match_joints(const fit_result *r, const sn_model *b) {
    const sn_model *a = r->model;
    int n = sn_model_njoint(a);
    matching m = {must_alloc((size_t)n, sizeof(int)), must_alloc((size_t)n, sizeof(int)),
                  must_alloc((size_t)n, sizeof(bool)), 0, 0};
    find_seen(r, m.seen);
    for (int j = 0; j < n; j++)
        m.other[j] = a == b                  ? j
                     : j == sn_model_root(a) ? sn_model_root(b)
                                             : sn_model_find_joint(b, sn_model_joint(a, j)->name);
    for (int j = 0; j < n; j++) {
        m.base[j] = sn_model_parent(a, j);
        while (m.base[j] >= 0 && m.other[m.base[j]] < 0) m.base[j] = sn_model_parent(a, m.base[j]);
        bool moves = sn_model_joint(a, j)->type != SN_JOINT_FIXED;
        m.movable += moves;
        m.count += moves && m.other[j] >= 0;
    }
    return m;
}

// At rest both skeletons must lie the same way, else angles from there mean other things.
static bool same_rest(const turned *a, const turned *b, const matching *m, const char **joint) {
    for (int j = 0; j < sn_model_njoint(a->model); j++) {
        if (m->other[j] < 0 || m->base[j] < 0) continue;
        sn_vec3 x = v3_sub(sn_workspace_frame(a->zero, j).p,
                           sn_workspace_frame(a->zero, m->base[j]).p),
                y = v3_sub(sn_workspace_frame(b->zero, m->other[j]).p,
                           sn_workspace_frame(b->zero, m->other[m->base[j]]).p);
        double size = v3_norm(x) * v3_norm(y);
        // within 10 degrees
        if (size < 1e-4 || v3_dot(x, y) > 0.985 * size) continue;
        *joint = sn_model_joint(a->model, j)->name;
        return false;
    }
    return true;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare(fit_result *r, const known *k, const matching *m, turned *a, turned *b) {
    int njoint = sn_model_njoint(r->model), count = r->input.count, n = 0;
    double *angle = must_alloc((size_t)count * (size_t)njoint, sizeof *angle), sum = 0;
    for (int f = 0; f < count; f++) {
        // the k-th frame of the recording is the k-th of the known motion
        if (sn_workspace_pose(a->now, sn_motion_frame(r->motion, f)) != SN_OK ||
            sn_workspace_pose(b->now, sn_motion_frame(k->motion, r->input.first + f)) != SN_OK)
            continue;
        for (int j = 0; j < njoint; j++) {
            if (!m->seen[j] || m->other[j] < 0) continue;
            int base = m->base[j];
            sn_quat d =
                sn_quat_mul(sn_quat_conj(turn_of(b, m->other[j], base < 0 ? -1 : m->other[base])),
                            turn_of(a, j, base));
            double e = v3_norm(sn_quat_log(d)) * 180 / 3.14159265358979323846;
            angle[n++] = e;
            sum += e * e;
        }
    }
    qsort(angle, (size_t)n, sizeof *angle, by_size);
    r->truth_median = n > 0 ? angle[n / 2] : 0;
    r->truth_95 = n > 0 ? angle[(int)(0.95 * (n - 1))] : 0;
    r->truth_rms = n > 0 ? sqrt(sum / n) : 0;
    free(angle);
}

// What speaks against comparing, said.
static bool comparable(const fit_result *r, const known *k, const matching *m, const turned *a,
                       const turned *b) {
    const char *path = r->settings->truth, *joint = "";
    if (sn_motion_nframe(k->motion) < r->input.first + r->input.count)
        complain("%s: %d frame%s, but the fit goes to frame %d of the recording", path,
                 sn_motion_nframe(k->motion), sn_motion_nframe(k->motion) == 1 ? "" : "s",
                 r->input.first + r->input.count);
    else if (sn_motion_nq(k->motion) != sn_model_nq(k->model))
        complain("%s: this motion belongs to another skeleton", path);
    else if (2 * m->count < m->movable)
        complain("%s: this motion belongs to another skeleton: only %d of %d joints have the same "
                 "names",
                 path, m->count, m->movable);
    else if (!same_rest(a, b, m, &joint))
        complain("%s: its skeleton lies otherwise at rest than the model (\"%s\"), so that their "
                 "angles cannot be compared",
                 path, joint);
    else
        return true;
    return false;
}

// Frames are compared by their places, so that another rate means other moments.
static void tell_other_rate(fit_result *r, const known *k) {
    double ours = sn_recording_get_info(r->recording)->rate, theirs = sn_motion_rate(k->motion);
    if (!(ours > 0 && theirs > 0) || fabs(ours - theirs) < 0.01 * ours) return;
    warn(r,
         "%s has %g frames/s, the recording %g: frame is compared with frame, and these are not of "
         "the same moments (sinew convert --fps makes them so)",
         r->settings->truth, theirs, ours);
}

bool compare_with_truth(fit_result *r) {
    known k;
    turned a = {0}, b = {0};
    bool good = load_known(r->settings->truth, &r->figure, &k);
    if (good) {
        // the fitted model's joints are the figure's
        matching m =
            k.model == r->figure.model ? match_joints(r, r->model) : match_joints(r, k.model);
        const sn_model *other = k.model == r->figure.model ? r->model : k.model;
        good = open_turned(&a, r->model) && open_turned(&b, other) && comparable(r, &k, &m, &a, &b);
        if (good) tell_other_rate(r, &k);
        if (good) compare(r, &k, &m, &a, &b);
        r->truth_joints = m.count;
        r->truth_of = m.movable;
        free(m.other);
        free(m.base);
        free(m.seen);
    }
    close_turned(&a);
    close_turned(&b);
    free_known(&k);
    return good;
}
