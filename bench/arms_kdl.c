// SPDX-License-Identifier: MIT
// Hand a chain and its goals to the peer program. Doubles in a temporary file: n, the number of
// problems, per joint whether it slides, its offset (x y z and w x y z), axis and limits, then the tool's
// frame; per problem the goal and a start.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arm_solver.h"
#include "math/vec3.h"

static void put(FILE *file, const double *x, int n) { (void)fwrite(x, sizeof *x, (size_t)n, file); }

static sn_frame frame_of(const sn_joint_desc *d) {
    const double *r = d->rotation;
    return (sn_frame){sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]}), v3_from(d->position)};
}

static void put_frame(FILE *file, const sn_frame *f) {
    sn_quat r = sn_quat_from_mat3(f->R);
    const double x[7] = {f->p.x, f->p.y, f->p.z, r.w, r.x, r.y, r.z};
    put(file, x, 7);
}

// Joints from the world to the tip, fixed ones taken into the next.
static bool put_chain(FILE *file, const sn_model *model, const char *tip, int *n) {
    int path[256], count = 0, moving = 0, at = sn_model_find_joint(model, tip);
    int marker = sn_model_find_marker(model, tip);
    sn_frame tool = {m3_identity(), {0, 0, 0}}, since = tool;
    if (marker >= 0) {
        at = sn_model_marker(model, marker)->joint;
        tool.p = v3_from(sn_model_marker(model, marker)->position);
    }
    for (; at >= 0 && count < 256; at = sn_model_parent(model, at)) path[count++] = at;
    for (int i = count - 1; i >= 0; i--) {
        sn_joint_type type = sn_model_joint(model, path[i])->type;
        moving += type != SN_JOINT_FIXED;
        if (type != SN_JOINT_FIXED && type != SN_JOINT_HINGE && type != SN_JOINT_SLIDER)
            return false;
    }
    if (sn_model_ncoupling(model) > 0 && file == NULL) return false;
    *n = moving;
    if (file == NULL) return moving > 0;
    // what comes behind the last moving joint is the tool's
    int last = 0;
    while (sn_model_joint(model, path[last])->type == SN_JOINT_FIXED) last++;
    for (int i = last - 1; i >= 0; i--) {
        sn_frame f = frame_of(sn_model_joint(model, path[i]));
        since = frame_mul(&since, &f);
    }
    tool = frame_mul(&since, &tool);
    since = (sn_frame){m3_identity(), {0, 0, 0}};
    for (int i = count - 1; i >= last; i--) {
        const sn_joint_desc *d = sn_model_joint(model, path[i]);
        sn_frame f = frame_of(d);
        since = frame_mul(&since, &f);
        if (d->type == SN_JOINT_FIXED) continue;
        const double pi = 3.141592653589793, slides = d->type == SN_JOINT_SLIDER;
        const double limits[2] = {fmax(d->lower[0], -2 * pi), fmin(d->upper[0], 2 * pi)};
        put(file, &slides, 1);
        put_frame(file, &since);
        put(file, d->axis, 3);
        put(file, limits, 2);
        if (i == last) put_frame(file, &tool);
        since = (sn_frame){m3_identity(), {0, 0, 0}};
    }
    return true;
}

bool bench_arms_peer(const char *peer, const sn_model *model, const char *tip, int problems,
                     const double *goals, const double *starts, arms_peer *out) {
    char path[] = "/tmp/sinew-arms-XXXXXX", command[1024];
    int n;
    if (peer == NULL || access(peer, X_OK) != 0 || !put_chain(NULL, model, tip, &n)) return false;
    int handle = mkstemp(path);
    FILE *file = handle >= 0 ? fdopen(handle, "wb") : NULL;
    if (file == NULL) return false;
    const double head[2] = {n, problems};
    put(file, head, 2);
    (void)put_chain(file, model, tip, &n);
    for (int k = 0; k < problems; k++) {
        put(file, goals + 7 * (size_t)k, 7);
        put(file, starts + (size_t)n * (size_t)k, n);
    }
    bool good = fclose(file) == 0;
    (void)snprintf(command, sizeof command, "'%s' < %s", peer, path);
    FILE *answer = good ? popen(command, "r") : NULL;
    out->problems = problems;
    good = answer != NULL &&
           fscanf(answer, "%d %lf %lf %lf", &out->solved, &out->median, &out->mean, &out->p99) == 4;
    if (answer != NULL) (void)pclose(answer);
    (void)unlink(path);
    return good;
}
