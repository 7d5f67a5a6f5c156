// SPDX-License-Identifier: MIT
// Straight paths through waypoints: small steps of the tool, each pose the nearest to the one before.
#include <string.h>

#include "arm/arm.h"
#include "math/rotation.h"

enum { STARTS = 16 };

// Joints turn faster than the tool near a singular pose; beyond this many radians for a radian it is a
// jump.
static const double most_ratio = 20;

static void between(const double *a, const double *b, double u, double *out) {
    sn_quat p = {a[3], a[4], a[5], a[6]}, q = {b[3], b[4], b[5], b[6]};
    for (int i = 0; i < 3; i++) out[i] = a[i] + u * (b[i] - a[i]);
    sn_mat3 P = sn_mat3_from_quat(p), Q = sn_mat3_from_quat(q), back = m3_transpose(&P);
    sn_mat3 way = m3_mulm(&Q, &back);
    sn_quat part = sn_quat_exp(v3_scale(u, sn_rotation_log(&way)));
    p = sn_quat_mul(part, sn_quat_from_mat3(P));
    out[3] = p.w, out[4] = p.x, out[5] = p.y, out[6] = p.z;
}

static int steps_between(const double *a, const double *b, double step, int most) {
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    sn_mat3 P = sn_mat3_from_quat((sn_quat){a[3], a[4], a[5], a[6]}), back = m3_transpose(&P);
    sn_mat3 Q = sn_mat3_from_quat((sn_quat){b[3], b[4], b[5], b[6]}), way = m3_mulm(&Q, &back);
    double length = fmax(v3_norm(v3_from(d)), v3_norm(sn_rotation_log(&way))) / step;
    if (!(length < most)) return most + 1;
    int n = (int)ceil(length);
    return n > 0 ? n : 1;
}

// From the pose in q[0] on. The last pose tried, whether it is there or not, is in the report.
static void follow(sn_arm *arm, int count, const double *goals, int first, double step, int most,
                   double *q, sn_arm_path_report *r) {
    const size_t n = (size_t)arm->chain.n;
    double goal[7], now[SN_ARM_MAX];
    for (int k = first; k < count; k++) {
        const double *from = goals + 7 * (size_t)(k - 1), *to = goals + 7 * (size_t)k;
        int steps = steps_between(from, to, step, most);
        r->waypoint = k;
        for (int i = 1; i <= steps; i++) {
            r->fraction = (double)(i - 1) / steps;
            if (r->count == most) return;
            sn_arm_search s;
            const double *was = q + n * (size_t)(r->count - 1);
            between(from, to, (double)i / steps, goal);
            (void)sn_arm_search_begin(&s, arm, goal);
            bool found = sn_arm_search_near(&s, was, arm->rests ? arm->rest : was, 40, now);
            double jump = 0;
            for (size_t j = 0; j < n && found; j++)
                jump = fmax(jump, fabs(now[j] - was[j]) /
                                      (arm->chain.length_of[j] ? arm->chain.unit : 1));
            if (found && jump > most_ratio * step / fmin(1, arm->chain.unit)) found = false;
            if (!found) {
                sn_arm_search_nearest(&s, s.best_q[0], SN_ARM_NEAREST_STEPS, now);
                sn_arm_search_report(&s, was, now, false, &r->report);
                r->report.reached = false;
                return;
            }
            r->jump = fmax(r->jump, jump);
            memcpy(q + n * (size_t)r->count++, now, n * sizeof *q);
            sn_arm_search_report(&s, was, now, true, &r->report);
        }
        r->fraction = 1;
    }
    r->complete = true;
}

sn_status sn_arm_path(sn_arm *arm, int count, const double *goals, const double *start, double step,
                      int most, double *q, sn_arm_path_report *report) {
    if (report != NULL) *report = (sn_arm_path_report){.waypoint = 0};
    if (arm == NULL || count < 1 || goals == NULL || !(step > 0) || !isfinite(step) || most < 1 ||
        q == NULL || report == NULL)
        return SN_ERR_ARGUMENT;
    const size_t n = (size_t)arm->chain.n;
    sn_arm_search s;
    for (int k = 0; k < count; k++)
        if (!sn_arm_search_begin(&s, arm, goals + 7 * (size_t)k)) return SN_ERR_VALUE;
    double first[SN_ARM_MAX * STARTS];
    int found = 0;
    SN_TRY(sn_arm_solve(arm, goals, start, first, &report->report));
    if (!report->report.reached) return SN_OK;
    found = 1;
    if (start == NULL) SN_TRY(sn_arm_solve_all(arm, goals, NULL, STARTS, first, &found));
    // the solution that leads furthest; that one is then followed again into q
    sn_arm_path_report best = {.count = -1};
    int chosen = 0;
    for (int k = 0; k <= found; k++) {
        bool last = k == found;
        if (last && chosen == found - 1) break;  // it is there
        sn_arm_path_report r = {.count = 1, .report = report->report};
        memcpy(q, first + n * (size_t)(last ? chosen : k), n * sizeof *q);
        follow(arm, count, goals, 1, step, most, q, &r);
        if (r.count > best.count || last) best = r, chosen = last ? chosen : k;
        if (r.complete && !last) {
            best = r;
            break;
        }
    }
    *report = best;
    if (count == 1) report->fraction = 1;
    return SN_OK;
}
