// SPDX-License-Identifier: MIT
// How a recording lies by itself, without the model it belongs to.
#include <math.h>

#include "base/memory.h"
#include "math/vec3.h"
#include "sinew/take.h"
#include "take/fit.h"

// By the built-in marker set on the built-in figure: good for every recording with the usual labels.
static sn_status find_by_labels(const sn_recording *recording, const sn_allocator *allocator,
                                sn_axes_report *out, sn_error *error) {
    sn_model *figure = NULL, *marked = NULL;
    sn_marker_set *set = NULL;
    sn_status status = sn_model_humanoid(allocator, &figure, error);
    if (status == SN_OK) status = sn_marker_set_builtin(figure, recording, allocator, &set, error);
    if (status == SN_OK)
        status = sn_marker_set_apply(set, figure, SN_LIMITS_OFF, NULL, allocator, &marked, error);
    if (status == SN_OK) status = sn_axes_find(marked, recording, 1, 1, allocator, out, error);
    sn_model_destroy(marked);
    sn_marker_set_destroy(set);
    sn_model_destroy(figure);
    return status;
}

// The mean of a frame's markers, and a distance from it beyond which a marker is no part of the body: three times
// the root mean square. False when the frame has less than four.
static bool frame_middle(const sn_recording *recording, int f, double mean[3], double *furthest) {
    const sn_recording_info *info = sn_recording_about(recording);
    double square = 0;
    int seen = 0;
    for (int k = 0; k < 3; k++) mean[k] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int m = 0; m < info->nmarker; m++) {
            const double *x = sn_recording_frame(recording, f) + 3 * (size_t)m;
            if (!sn_recording_present(recording, f, m)) continue;
            for (int k = 0; k < 3; k++) {
                if (pass == 0) mean[k] += x[k];
                if (pass == 1) square += (x[k] - mean[k]) * (x[k] - mean[k]);
            }
            seen += pass == 0;
        }
        for (int k = 0; k < 3 && pass == 0; k++) mean[k] /= seen > 0 ? seen : 1;
    }
    *furthest = 3 * sqrt(square / (seen > 0 ? seen : 1));
    return seen >= 4;
}

// Mean over the take: how far the markers of a frame reach along each axis, and where their middle
// lies. False when no frame has four markers.
static bool mean_box(const sn_recording *recording, double reach[3], double middle[3]) {
    const sn_recording_info *info = sn_recording_about(recording);
    int n = 0, step = info->nframe / 400 + 1;
    for (int k = 0; k < 3; k++) reach[k] = middle[k] = 0;
    for (int f = 0; f < info->nframe; f += step) {
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        double mean[3], furthest;
        if (!frame_middle(recording, f, mean, &furthest)) continue;
        for (int m = 0; m < info->nmarker; m++) {
            const double *x = sn_recording_frame(recording, f) + 3 * (size_t)m;
            if (!sn_recording_present(recording, f, m) ||
                v3_norm(v3_sub(v3_from(x), v3_from(mean))) > furthest)
                continue;
            for (int k = 0; k < 3; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
        }
        for (int k = 0; k < 3; k++)
            reach[k] += high[k] - low[k], middle[k] += 0.5 * (low[k] + high[k]);
        n++;
    }
    for (int k = 0; k < 3; k++) reach[k] /= n > 0 ? n : 1, middle[k] /= n > 0 ? n : 1;
    return n > 0;
}

// People stand on the floor: the axis along which they reach clearly furthest, with the floor at
// zero. The unit is the one that makes them between 0.4 m and 3 m tall, where only one does.
static void guess_by_shape(const sn_recording *recording, sn_axes_report *out) {
    static const double units[] = {1, 0.01, 0.001};
    double reach[3], middle[3], found = 0;
    if (!mean_box(recording, reach, middle)) return;
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (reach[k] > reach[best]) best = k;
    double other = fmax(reach[(best + 1) % 3], reach[(best + 2) % 3]);
    if (out->up_known == SN_KNOWN_ASSUMED && reach[best] > 1.25 * other &&
        fabs(middle[best]) > 0.3 * reach[best]) {
        out->up = best;
        out->up_sign = middle[best] < 0 ? -1 : 1;
        out->up_known = SN_KNOWN_FOUND;
    }
    for (int i = 0; i < 3; i++)
        if (units[i] * reach[best] > 0.4 && units[i] * reach[best] < 3)
            found = found == 0 ? units[i] : -1;
    if (out->unit_known == SN_KNOWN_ASSUMED && found > 0) {
        out->unit = found;
        out->unit_known = SN_KNOWN_FOUND;
    }
}

static void take_stated(const sn_recording_info *info, sn_axes_report *out) {
    *out = (sn_axes_report){.up = 1, .up_sign = 1, .up_known = SN_KNOWN_ASSUMED, .unit = 1};
    if (sn_axis_parse(info->y_screen, &out->up, &out->up_sign)) out->up_known = SN_KNOWN_STATED;
    out->unit_known = info->metres_per_unit > 0 ? SN_KNOWN_STATED : SN_KNOWN_ASSUMED;
    if (info->metres_per_unit > 0) out->unit = info->metres_per_unit;
}

sn_status sn_axes_guess(const sn_recording *recording, const sn_allocator *allocator,
                        sn_axes_report *out, sn_error *error) {
    SN_NEED(recording, error);
    SN_NEED(out, error);
    const double stated = sn_recording_about(recording)->metres_per_unit;
    sn_status status = find_by_labels(recording, allocator, out, error);
    if (status == SN_ERR_MEMORY) return status;
    if (status != SN_OK) take_stated(sn_recording_about(recording), out);  // labels of no set
    guess_by_shape(recording, out);
    out->map = sn_axis_map_up(out->up, out->up_sign, 1, 1);
    out->map.scale = stated > 0 ? 1 : out->unit;
    return SN_OK;
}
