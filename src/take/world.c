// SPDX-License-Identifier: MIT
// How the recording lies against the model: axes and unit, as a map; and which frames are fitted.
#include <math.h>
#include <stdio.h>

#include "sinew/files.h"
#include "take/take.h"

// A body in this range of the skeleton's size needs no other bones: right ones are measured at 0.95 to 1.05, and with bones
// that are too long by a quarter legs stand 60 degrees off while the markers fit.
static const double smaller = 0.85, larger = 1.18;
// The same where the measure says less: markers that nobody placed, a skeleton that lacks a bone.
static const double much_smaller = 0.75, much_larger = 1.33;

// Markers that spread less than this share of the figure's size are in one place.
static const double one_place = 0.02;

// One who stands on a floor, and jumps, rests on it in this share of the frames.
static const double stands_often = 0.1;

enum { LOOKED_AT = 100 };  // frames, spread over the take

static void force_axes(sn_axes_report *a, const sn_axis_map *map, int up, double up_sign) {
    double scale = a->map.scale;
    a->map = *map;
    a->map.scale = scale;
    a->up = up, a->up_sign = up_sign, a->up_known = SN_KNOWN_FORCED;
    a->up_conflict = false;
}

static void force_unit(const sn_recording_info *info, sn_axes_report *a, double unit) {
    // numbers are metres already where the file stated a unit
    double stated = info->metres_per_unit, factor = unit / (stated > 0 ? stated : 1);
    a->size *= factor / a->map.scale;
    a->map.scale = factor;
    a->unit = unit;
    a->unit_known = SN_KNOWN_FORCED;
    a->unit_doubtful = sn_axes_impossible(a->size);
}

static sn_status tell_up(sn_take *t) {
    const sn_axes_report *a = &t->summary.axes;
    if (a->up_conflict)
        SN_TRY(sn_take_note(t, SN_FINDING_UP_CONFLICT, sn_recording_about(t->recording)->y_screen,
                            a->up, a->up_sign));
    if (a->up_known == SN_KNOWN_ASSUMED)
        SN_TRY(sn_take_note(t, SN_FINDING_UP_ASSUMED, NULL, a->up, a->up_sign));
    bool stands = a->up_known == SN_KNOWN_FOUND && !a->up_conflict;
    if (stands && t->options.setup == NULL && sn_model_njoint(t->model) > SN_FIT_RIGID &&
        sn_fit_floor_share(&t->input, a->up, a->up_sign) < stands_often)
        SN_TRY(sn_take_note(t, SN_FINDING_UP_UNCONFIRMED, NULL, a->up, a->up_sign));
    return SN_OK;
}

static bool shows_something(const sn_take *t, int frame) {
    const double *row = sn_recording_frame(t->recording, frame);
    int n = 0;
    for (int i = 0, count = sn_model_nmarker(t->model); i < count && n < 3; i++)
        n += t->column[i] >= 0 && sn_fit_there(row + 3 * (size_t)t->column[i]);
    return n >= 3;
}

// A body whose height runs along another axis than the one that is up: it lies on the floor, or the figure lies where the take
// stands. A rigid body has no height, and with a setup numbers are taken as they are.
static sn_status check_lying(sn_take *t) {
    const sn_axes_report *a = &t->summary.axes;
    const double *up = a->body_up;
    double length = sqrt(up[0] * up[0] + up[1] * up[1] + up[2] * up[2]);
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(up[k]) > fabs(up[best])) best = k;
    if (t->options.setup != NULL || sn_model_njoint(t->model) <= SN_FIT_RIGID || !(length > 0) ||
        a->up_sign * up[a->up] > 0.5 * length)
        return SN_OK;
    double sign = up[best] < 0 ? -1 : 1;
    bool lies = sn_fit_floor(&t->input, a->up, a->up_sign) && !sn_fit_floor(&t->input, best, sign);
    return sn_take_note(t,
                        !lies                           ? SN_FINDING_FIGURE_LIES
                        : a->up_known == SN_KNOWN_FOUND ? SN_FINDING_UP_DOUBTFUL
                                                        : SN_FINDING_BODY_LIES,
                        NULL, best, sign);
}

// The longest side of the box around the markers, in any frame; -1 when none shows something.
static double spread_of(const sn_take *t) {
    const sn_recording_info *info = sn_recording_about(t->recording);
    const int count = sn_model_nmarker(t->model);
    double most = -1;
    for (int f = 0, step = info->nframe / LOOKED_AT + 1; f < info->nframe; f += step) {
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        const double *row = sn_recording_frame(t->recording, f);
        int n = 0;
        for (int i = 0; i < count; i++) {
            if (t->column[i] < 0) continue;
            const double *x = row + 3 * (size_t)t->column[i];
            if (!sn_fit_there(x)) continue;
            n++;
            for (int k = 0; k < 3; k++) {
                if (x[k] < low[k]) low[k] = x[k];
                if (x[k] > high[k]) high[k] = x[k];
            }
        }
        if (n < 3) continue;
        for (int k = 0; k < 3; k++) most = fmax(most, high[k] - low[k]);
    }
    return most;
}

// The unit in which markers that spread over so little would be about as large as the figure; NULL for none.
static const char *likely_unit(const sn_take *t, double spread, double size) {
    static const char *const names[] = {"m", "cm", "in"};
    const double stated = sn_recording_about(t->recording)->metres_per_unit;
    const double number = spread / t->summary.axes.map.scale / (stated > 0 ? stated : 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double now = number * sn_unit_metres(names[i]);
        if (now > 0.5 * size && now < 2 * size) return names[i];
    }
    return NULL;
}

// Markers that are all in one place say nothing of a figure, whatever their unit.
static sn_status check_spread(sn_take *t) {
    double spread = spread_of(t) * t->summary.axes.map.scale;
    sn_bone_report b;
    SN_TRY(sn_fit_bones(t->model, &t->allocator, &b));
    if (spread < 0) return SN_OK;
    if (spread > 1e-9 &&
        (t->summary.axes.unit_known != SN_KNOWN_STATED || !(spread < one_place * b.size)))
        return SN_OK;
    return sn_take_refuse(t, SN_FINDING_MARKERS_TOGETHER, likely_unit(t, spread, b.size), spread,
                          0);
}

static bool knows_size(const sn_take *t) {
    int placed = 0, n = sn_model_nmarker(t->model);
    for (int i = 0; i < n; i++) {
        const double *x = sn_model_marker(t->model, i)->position;
        placed += x[0] != 0 || x[1] != 0 || x[2] != 0;
    }
    for (size_t k = 0; k < t->nfinding; k++)
        if (t->finding[k].code == SN_FINDING_CHEST_MISSING) return false;
    return 2 * placed > n;
}

// A stated unit that cannot be right would give a motion that is nonsense: refused.
static sn_status judge_unit(sn_take *t) {
    const sn_axes_report *a = &t->summary.axes;
    const char *unit = t->summary.unit;
    if (a->unit_doubtful && a->unit_known == SN_KNOWN_STATED)
        return sn_take_refuse(t, SN_FINDING_UNIT_IMPOSSIBLE, unit, a->size, 0);
    if (a->unit_known == SN_KNOWN_FOUND)
        SN_TRY(sn_take_note(t, SN_FINDING_UNIT_FOUND, unit, a->unit, 0));
    if (a->unit_known == SN_KNOWN_ASSUMED)
        SN_TRY(sn_take_note(t, SN_FINDING_UNIT_ASSUMED, unit, a->unit, 0));
    const bool known = knows_size(t),
               other = a->size > 0 && (a->size < (known ? smaller : much_smaller) ||
                                       a->size > (known ? larger : much_larger));
    if (a->unit_doubtful) return sn_take_note(t, SN_FINDING_UNIT_DOUBTFUL, unit, a->size, 0);
    if (other && t->options.calibrate != SN_CALIBRATE_SCALE)
        return sn_take_note(t, SN_FINDING_SIZE_DIFFERS, NULL, a->size, 0);
    return SN_OK;
}

sn_status sn_take_find_world(sn_take *t) {
    const sn_take_options *o = &t->options;
    const sn_recording_info *info = sn_recording_about(t->recording);
    sn_axes_report *a = &t->summary.axes;
    SN_TRY(sn_fit_axes(&t->input, o->model_up, o->model_up_sign, &t->allocator, a));
    if (o->setup != NULL) {
        // OpenSim takes the numbers as they are
        sn_axis_map same = sn_axis_map_identity();
        bool turned = a->up != o->model_up || a->up_sign != o->model_up_sign;
        if (turned && o->up < 0 && !o->has_axes && a->up_known == SN_KNOWN_FOUND)
            SN_TRY(sn_take_note(t, SN_FINDING_SETUP_AXES, NULL, a->up, a->up_sign));
        force_axes(a, &same, o->model_up, o->model_up_sign);
    }
    if (o->up >= 0) {
        sn_axis_map upright = sn_axis_map_up(o->up, o->up_sign, o->model_up, o->model_up_sign);
        force_axes(a, &upright, o->up, o->up_sign);
    }
    if (o->has_axes)
        force_axes(a, &o->axes, o->axes.axis[o->model_up],
                   o->axes.sign[o->model_up] * o->model_up_sign);
    if (o->unit > 0) force_unit(info, a, o->unit);
    sn_unit_name(a->unit, t->summary.unit);
    if (o->unit == 0 && info->unit[0] != '\0')
        (void)snprintf(t->summary.unit, sizeof t->summary.unit, "%s", info->unit);
    t->input.axes = a->map;
    t->input.up = t->options.model_up + 1;
    SN_TRY(tell_up(t));
    SN_TRY(check_lying(t));
    SN_TRY(check_spread(t));
    return judge_unit(t);
}

// --- frames --------------------------------------------------------------------------------------

static sn_status refuse_frames(sn_take *t, sn_finding_code code, int64_t first, int64_t last,
                               int64_t from, int64_t to) {
    SN_TRY(sn_take_note(t, code, NULL, (double)from, (double)to));
    sn_finding *f = &t->finding[t->nfinding - 1];
    f->has_frames = true;
    f->first = first;
    f->last = last;
    return SN_ERR_VALUE;
}

sn_status sn_take_find_frames(sn_take *t) {
    const sn_recording_info *info = sn_recording_about(t->recording);
    int64_t from = info->first_frame, to = from + info->nframe - 1;
    int64_t first = t->options.first_frame != INT64_MIN ? t->options.first_frame : from;
    int64_t last = t->options.last_frame != INT64_MAX ? t->options.last_frame : to;
    if (info->nframe == 0) return sn_take_refuse(t, SN_FINDING_FRAMES_NONE, NULL, 0, 0);
    bool asked = t->options.first_frame != INT64_MIN || t->options.last_frame != INT64_MAX;
    if (t->options.setup != NULL && !asked) SN_TRY(sn_take_ik_frames(t, &first, &last));
    if (first < from || last > to || first > last)
        return refuse_frames(t, SN_FINDING_FRAMES_OUTSIDE, first, last, from, to);
    bool shown = false;
    for (int64_t f = first - from; f <= last - from && !shown; f++)
        shown = shows_something(t, (int)f);
    if (!shown) return refuse_frames(t, SN_FINDING_FRAMES_EMPTY, first, last, 0, 0);
    t->summary.first = t->input.first = (int)(first - from);
    t->summary.count = t->input.count = (int)(last - first + 1);
    t->summary.first_frame = (int)first;
    return SN_OK;
}
