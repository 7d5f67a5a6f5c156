// SPDX-License-Identifier: MIT
// How a recording's world lies against a model's: which axis is up, how long a unit is.
//
// A free root makes the fit itself indifferent to both axes and place, so only what people see depends on
// it: the motion must stand upright in the model's world. Up is found from the body: over the take, the
// markers of high joints lie above those of low ones. Bodies lie, too: then the lowest markers rest on zero of the
// axis that is up, and end anywhere along the body. Which way the figure faces cannot be found that way;
// of the rotations that take up to up the cyclic one is used, as between HDM05's and CMU's C3D and AMC.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/exp.h"
#include "math/vec3.h"
#include "take/fit.h"

sn_axis_map sn_axis_map_identity(void) { return (sn_axis_map){{0, 1, 2}, {1, 1, 1}, 1}; }

bool sn_axis_parse(const char *text, int *axis, double *sign) {
    if (text == NULL || axis == NULL || sign == NULL) return false;
    *sign = text[0] == '-' ? -1 : 1;
    if (text[0] == '-' || text[0] == '+') text++;
    char c = text[0] >= 'A' && text[0] <= 'Z' ? (char)(text[0] + 32) : text[0];
    *axis = c - 'x';
    return c >= 'x' && c <= 'z' && text[1] == '\0';
}

// The determinant of the signed permutation: 1 for a rotation, -1 for a mirror image.
static double handedness(const sn_axis_map *m) {
    bool even = (m->axis[1] - m->axis[0] + 3) % 3 == 1;
    return (even ? 1 : -1) * m->sign[0] * m->sign[1] * m->sign[2];
}

bool sn_axis_map_parse(const char *text, sn_axis_map *out) {
    if (text == NULL || out == NULL) return false;
    sn_axis_map m = sn_axis_map_identity();
    bool used[3] = {false, false, false};
    for (int i = 0; i < 3; i++) {
        char word[3] = {'+', '\0', '\0'};
        while (*text == ' ' || *text == ',') text++;
        if (*text == '-' || *text == '+') word[0] = *text++;
        if (*text == '\0') return false;
        word[1] = *text++;
        if (!sn_axis_parse(word, &m.axis[i], &m.sign[i]) || used[m.axis[i]]) return false;
        used[m.axis[i]] = true;
    }
    if (*text != '\0' || handedness(&m) < 0) return false;
    *out = m;
    return true;
}

bool sn_axis_map_good(const sn_axis_map *map) {
    bool good = isfinite(map->scale);
    for (int i = 0; good && i < 3; i++)
        good = map->axis[i] >= 0 && map->axis[i] < 3 && isfinite(map->sign[i]);
    return good;
}

bool sn_axis_map_proper(const sn_axis_map *map) {
    bool used[3] = {false, false, false};
    for (int i = 0; i < 3; i++) {
        int axis = map->axis[i];
        if (axis < 0 || axis > 2 || used[axis] || fabs(map->sign[i]) != 1) return false;
        used[axis] = true;
    }
    return true;
}

void sn_axis_map_print(const sn_axis_map *map, char out[8]) {
    if (out != NULL) out[0] = '\0';
    if (map == NULL || out == NULL || !sn_axis_map_good(map)) return;
    int n = 0;
    for (int i = 0; i < 3; i++) {
        if (map->sign[i] < 0) out[n++] = '-';
        out[n++] = "xyz"[map->axis[i]];
    }
    out[n] = '\0';
}

sn_axis_map sn_axis_map_up(int from, double from_sign, int to, double to_sign) {
    sn_axis_map m = sn_axis_map_identity();
    if (from < 0 || from > 2 || to < 0 || to > 2) return m;
    for (int i = 0; i < 3; i++) m.axis[i] = (i + from - to + 3) % 3;
    if (from_sign * to_sign < 0) {
        // half a turn about the axis after it
        m.sign[to] = -1;
        m.sign[(to + 2) % 3] = -1;
    }
    return m;
}

void sn_axis_map_point(const sn_axis_map *map, const double in[3], double out[3]) {
    if (map == NULL || in == NULL || out == NULL) return;
    double x[3] = {NAN, NAN, NAN};
    for (int i = 0; i < 3 && map->axis[i] >= 0 && map->axis[i] < 3; i++)
        x[i] = map->scale * map->sign[i] * in[map->axis[i]];
    memcpy(out, x, sizeof x);
}

// --- finding -----------------------------------------------------------------------------------------

enum { LOOKED_AT = 50 };  // frames, spread over the take

// Cosines that a direction must reach to be called an axis, over the whole take.
static const double clear = 0.8;

// Over a frame's markers: how each of the recording's axes goes with the model's up (a unit vector). False
// with too few markers.
static bool frame_up(const sn_fit_input *in, const sn_vec3 *rest, int up, int frame,
                     double out[3]) {
    const double *x = sn_recording_frame(in->recording, frame);
    double mean[3] = {0}, high = 0, sum[3] = {0};
    int n = 0, count = sn_model_nmarker(in->model);
    for (int i = 0; i < count; i++) {
        if (in->column[i] < 0 || !sn_fit_there(x + 3 * (size_t)in->column[i])) continue;
        for (int k = 0; k < 3; k++) mean[k] += x[3 * in->column[i] + k];
        high += v3_at(rest[i], up);
        n++;
    }
    if (n < 4) return false;
    for (int i = 0; i < count; i++) {
        if (in->column[i] < 0 || !sn_fit_there(x + 3 * (size_t)in->column[i])) continue;
        for (int k = 0; k < 3; k++) {
            double d = x[3 * in->column[i] + k] - mean[k] / n;
            sum[k] += d * (v3_at(rest[i], up) - high / n);
        }
    }
    double norm = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int k = 0; k < 3; k++) out[k] = norm > 0 ? sum[k] / norm : 0;
    return norm > 0;
}

// Near zero: this far below and above it, as shares of the body's spread (10 and 15 cm for a person who stands).
static const double floor_below = 0.2, floor_above = 0.3, floor_often = 0.9;
// One who stands in so many of the frames does not lie, though their feet are hidden in others.
static const double stands_often = 0.4;

double sn_fit_floor_share(const sn_fit_input *in, int axis, double sign) {
    const sn_recording_info *info = sn_recording_about(in->recording);
    int n = 0, near = 0, count = sn_model_nmarker(in->model);
    for (int f = 0, step = info->nframe / LOOKED_AT + 1; f < info->nframe; f += step) {
        const double *x = sn_recording_frame(in->recording, f);
        double low = INFINITY, square = 0;
        sn_vec3 mean = v3(0, 0, 0);
        int seen = 0;
        for (int i = 0; i < count; i++) {
            if (in->column[i] < 0 || !sn_fit_there(x + 3 * (size_t)in->column[i])) continue;
            sn_vec3 p = v3_from(x + 3 * (size_t)in->column[i]);
            mean = v3_add(mean, p);
            square += v3_dot(p, p);
            low = fmin(low, sign * v3_at(p, axis));
            seen++;
        }
        if (seen < 4) continue;
        mean = v3_scale(1.0 / seen, mean);
        double spread = sqrt(fmax(square / seen - v3_dot(mean, mean), 0));
        near += low > -floor_below * spread && low < floor_above * spread;
        n++;
    }
    return n > 0 ? (double)near / n : 0;
}

bool sn_fit_floor(const sn_fit_input *in, int axis, double sign) {
    return sn_fit_floor_share(in, axis, sign) >= floor_often;
}

// The floor that a body lies on, or tumbles over: of the axis that `out` has, or where that is only assumed of another one.
static bool find_floor(const sn_fit_input *in, bool stated, sn_axes_report *out) {
    static const int upwards[3] = {2, 1, 0};  // as most laboratories have it first
    if (sn_model_njoint(in->model) <= SN_FIT_RIGID) return false;
    if (sn_fit_floor(in, out->up, out->up_sign)) return true;
    for (int k = 0; k < 3 && !stated; k++)
        if (sn_fit_floor(in, upwards[k], 1)) {
            out->up = upwards[k], out->up_sign = 1;
            return true;
        }
    return false;
}

static double rest_spread(const sn_fit_input *in, const sn_vec3 *rest) {
    sn_vec3 mean = v3(0, 0, 0);
    double square = 0;
    int n = 0, count = sn_model_nmarker(in->model);
    for (int i = 0; i < count; i++)
        if (in->column[i] >= 0) mean = v3_add(mean, rest[i]), n++;
    for (int i = 0; n > 0 && i < count; i++) {
        if (in->column[i] < 0) continue;
        sn_vec3 d = v3_sub(rest[i], v3_scale(1.0 / n, mean));
        square += v3_dot(d, d);
    }
    return n > 0 ? sqrt(square / n) : 0;
}

// Of the usual units the one that makes the body about as large as the figure; they differ by 2.5 at least.
static double guess_unit(double size) {
    static const double units[] = {1, 0.0254, 0.01, 0.001};
    double best = 1, least = INFINITY;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double off = fabs(sn_log(units[i] * size));
        if (off < least) least = off, best = units[i];
    }
    return best;
}

static void judge_up(const sn_fit_input *in, const sn_vec3 *rest, int model_up, double model_sign,
                     sn_axes_report *out) {
    const sn_recording_info *info = sn_recording_about(in->recording);
    double sum[3] = {0};
    int n = 0, step = info->nframe / LOOKED_AT + 1;
    for (int f = 0; f < info->nframe; f += step) {
        double up[3];
        if (!frame_up(in, rest, model_up, f, up)) continue;
        for (int k = 0; k < 3; k++) sum[k] += model_sign * up[k];
        n++;
    }
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(sum[k]) > fabs(sum[best])) best = k;
    double norm = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    // upright most of the time, and along an axis of the recording
    bool found = n > 0 && norm > 0.5 * n && fabs(sum[best]) > clear * norm;
    for (int k = 0; k < 3; k++) out->body_up[k] = n > 0 && norm > 0.5 * n ? sum[k] / n : 0;
    const double body_sign = sum[best] > 0 ? 1 : -1;
    int stated;
    double stated_sign;
    bool states = sn_axis_parse(info->y_screen, &stated, &stated_sign);
    out->up = model_up;
    out->up_sign = model_sign;
    out->up_known = SN_KNOWN_ASSUMED;
    if (states) out->up = stated, out->up_sign = stated_sign, out->up_known = SN_KNOWN_STATED;
    if (found && best == out->up && body_sign == out->up_sign) {
        if (!states) out->up_known = SN_KNOWN_FOUND;
    } else if (!(found && sn_fit_floor_share(in, best, body_sign) > stands_often) &&
               find_floor(in, states, out)) {
        if (!states) out->up_known = SN_KNOWN_FOUND;
    } else if (found) {
        out->up_conflict = states;
        out->up = best;
        out->up_sign = body_sign;
        out->up_known = SN_KNOWN_FOUND;
    }
    out->map = sn_axis_map_up(out->up, out->up_sign, model_up, model_sign);
}

bool sn_axes_impossible(double size) { return size > 0 && (size < 0.45 || size > 2.2); }

// One frame may be of a body that is curled up: its size is off by so much.
static const double curled_up = 1.5;

// @param size  of the body against the figure in the recording's own numbers
// @param sure  it is good to some ten percent; else only what is far off is a matter of units, and nothing is said of the body
static void judge_unit(const sn_recording_info *info, double size, bool sure, sn_axes_report *out) {
    out->unit_known = info->metres_per_unit > 0 ? SN_KNOWN_STATED : SN_KNOWN_ASSUMED;
    out->unit = info->metres_per_unit > 0 ? info->metres_per_unit : 1;
    if (info->metres_per_unit <= 0 && size > 0) {
        out->unit = guess_unit(size);
        out->unit_known = SN_KNOWN_FOUND;
        out->map.scale = out->unit;
    }
    out->size = size * out->map.scale;
    out->unit_doubtful = sn_axes_impossible(out->size);
    if (sure) return;
    out->unit_doubtful =
        sn_axes_impossible(out->size * curled_up) && sn_axes_impossible(out->size / curled_up);
    if (!out->unit_doubtful) out->size = 0;
}

sn_status sn_fit_axes(const sn_fit_input *in, int model_up, double model_up_sign,
                      const sn_allocator *allocator, sn_axes_report *out) {
    *out = (sn_axes_report){.map = sn_axis_map_identity()};
    int count = sn_model_nmarker(in->model);
    sn_fit_place at = {0};
    sn_vec3 *rest = sn_acquire(allocator, (size_t)(count + 1) * sizeof *rest);
    sn_status status = rest == NULL ? SN_ERR_MEMORY : sn_fit_place_open(&at, in->model, allocator);
    if (status == SN_OK) {
        sn_model_zero(in->model, at.q);
        (void)sn_workspace_pose(at.workspace, at.q);
        for (int i = 0; i < count; i++) {
            const sn_marker_desc *m = sn_model_marker(in->model, i);
            rest[i] = sn_workspace_point(at.workspace, m->joint, m->position);
        }
        double size;
        bool sure;
        status = sn_fit_size(in, rest, rest_spread(in, rest), allocator, &size, &sure);
        judge_up(in, rest, model_up, model_up_sign, out);
        if (status == SN_OK) judge_unit(sn_recording_about(in->recording), size, sure, out);
    }
    sn_fit_place_close(&at, allocator);
    sn_release(allocator, rest);
    return status;
}

sn_status sn_axes_find(const sn_model *model, const sn_recording *recording, int model_up,
                       double model_up_sign, const sn_allocator *allocator, sn_axes_report *out,
                       sn_error *error) {
    SN_NEED(model, error);
    SN_NEED(recording, error);
    SN_NEED(out, error);
    if (model_up < 0 || model_up > 2) return sn_fail_range(error, "model_up");
    if (!isfinite(model_up_sign)) return sn_fail_range(error, "model_up_sign");
    *out = (sn_axes_report){.map = sn_axis_map_identity()};
    int *column = sn_acquire(allocator, (size_t)(sn_model_nmarker(model) + 1) * sizeof *column);
    if (column == NULL) return sn_fail_memory(error);
    sn_fit_input in = {.model = model, .recording = recording, .column = column};
    (void)sn_fit_match(model, recording, NULL, column);
    sn_status status = sn_fit_axes(&in, model_up, model_up_sign, allocator, out);
    sn_release(allocator, column);
    return status == SN_OK ? SN_OK : sn_fail(error, status, 0, "%s", sn_status_text(status));
}
