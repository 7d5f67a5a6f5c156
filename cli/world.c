// SPDX-License-Identifier: MIT
// Which way is up in a file, and how long its unit is: stated, guessed, or its format's custom.
#include <math.h>
#include <string.h>

#include "inputs.h"

bool parse_unit(const char *option_name, const char *word, double *metres) {
    *metres = word != NULL ? sn_unit_metres(word) : 0;
    if (word == NULL || *metres > 0) return true;
    fprintf(stderr, "sinew: %s takes m, cm, mm, in or ft, not \"%s\"\n", option_name, word);
    return false;
}

void world_set_up(world *self, int up, double sign, const char *known) {
    self->up = up;
    self->up_sign = sign;
    self->up_known = known;
    (void)snprintf(self->up_text, sizeof self->up_text, "%c%c", sign < 0 ? '-' : '+', "xyz"[up]);
}

void world_set_unit(world *self, double metres, const char *known) {
    self->metres = metres;
    self->unit_known = known;
    sn_unit_name(metres, self->unit);
}

void world_describe_unit(const world *self, char *out, size_t size) {
    bool unknown = self->unknown[0] != '\0';
    if (self->unit_known == NULL && unknown) {
        (void)snprintf(out, size, "\"%s\", not known", self->unknown);
    } else if (self->unit_known == NULL) {
        (void)snprintf(out, size, "not stated");
    } else if (strcmp(self->unit_known, ASSUMED) == 0) {
        (void)snprintf(out, size, "%s (not stated; assumed, as is the format's custom)",
                       self->unit);
    } else if (unknown) {
        (void)snprintf(out, size, "%s (%s; the file's \"%s\" is not known)", self->unit,
                       self->unit_known, self->unknown);
    } else {
        (void)snprintf(out, size, "%s (%s)", self->unit, self->unit_known);
    }
}

// --- recordings ----------------------------------------------------------------------------------

// By the built-in marker set on the built-in figure: good for every recording with the usual
// labels.
static bool find_by_labels(const sn_recording *recording, sn_axes_report *out) {
    sn_model *figure = NULL, *marked = NULL;
    sn_marker_set *set = NULL;
    bool good =
        sn_model_humanoid(NULL, &figure, NULL) == SN_OK &&
        sn_marker_set_builtin(figure, recording, NULL, &set, NULL) == SN_OK &&
        sn_marker_set_apply(set, figure, SN_LIMITS_OFF, NULL, NULL, &marked, NULL) == SN_OK &&
        sn_axes_find(marked, recording, 1, 1, NULL, out, NULL) == SN_OK;
    sn_model_destroy(marked);
    sn_marker_set_destroy(set);
    sn_model_destroy(figure);
    return good;
}

// Mean over the take: how far the markers of a frame reach along each axis, and where their middle
// lies. False when no frame has four markers.
static bool mean_box(const sn_recording *recording, double reach[3], double middle[3]) {
    const sn_recording_info *info = sn_recording_about(recording);
    int n = 0, step = info->nframe / 400 + 1;
    for (int k = 0; k < 3; k++) reach[k] = middle[k] = 0;
    for (int f = 0; f < info->nframe; f += step) {
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        int seen = 0;
        for (int m = 0; m < info->nmarker; m++) {
            const double *x = sn_recording_frame(recording, f) + 3 * (size_t)m;
            if (!sn_recording_present(recording, f, m)) continue;
            for (int k = 0; k < 3; k++) low[k] = fmin(low[k], x[k]), high[k] = fmax(high[k], x[k]);
            seen++;
        }
        if (seen < 4) continue;
        for (int k = 0; k < 3; k++)
            reach[k] += high[k] - low[k], middle[k] += 0.5 * (low[k] + high[k]);
        n++;
    }
    for (int k = 0; k < 3; k++) reach[k] /= n > 0 ? n : 1, middle[k] /= n > 0 ? n : 1;
    return n > 0;
}

// People stand on the floor: the axis along which they reach clearly furthest, with the floor at
// zero. The unit is the one that makes them between 0.4 m and 3 m tall, where only one does.
static void guess_by_shape(const sn_recording *recording, world *w) {
    double reach[3], middle[3];
    if (!mean_box(recording, reach, middle)) return;
    int best = 0;
    for (int k = 1; k < 3; k++)
        if (reach[k] > reach[best]) best = k;
    double other = fmax(reach[(best + 1) % 3], reach[(best + 2) % 3]);
    if (w->up_known == NULL && reach[best] > 1.25 * other && fabs(middle[best]) > 0.3 * reach[best])
        world_set_up(w, best, middle[best] < 0 ? -1 : 1, GUESSED);
    static const double units[] = {1, 0.01, 0.001};
    double found = 0;
    for (int i = 0; i < 3; i++)
        if (units[i] * reach[best] > 0.4 && units[i] * reach[best] < 3)
            found = found == 0 ? units[i] : -1;
    if (w->unit_known == NULL && found > 0) world_set_unit(w, found, GUESSED);
}

world world_of_recording(const sn_recording *recording) {
    const sn_recording_info *info = sn_recording_about(recording);
    world w = {.up_sign = 1};
    int up;
    double sign;
    if (info->metres_per_unit > 0) {
        w.metres = info->metres_per_unit;
        w.unit_known = STATED;
        (void)snprintf(w.unit, sizeof w.unit, "%s", info->unit);
    } else {
        (void)snprintf(w.unknown, sizeof w.unknown, "%s", info->unit);
    }
    bool states = sn_axis_parse(info->y_screen, &up, &sign);
    if (states) world_set_up(&w, up, sign, STATED);
    sn_axes_report report;
    if (find_by_labels(recording, &report)) {
        if (report.up_known == SN_KNOWN_FOUND && !states)
            world_set_up(&w, report.up, report.up_sign, GUESSED);
        if (report.up_conflict) {
            w.conflict = true;
            (void)snprintf(w.shown, sizeof w.shown, "%c%c", report.up_sign < 0 ? '-' : '+',
                           "xyz"[report.up]);
        }
        if (w.unit_known == NULL && report.unit_known == SN_KNOWN_FOUND)
            world_set_unit(&w, report.unit, GUESSED);
    }
    guess_by_shape(recording, &w);
    return w;
}

// --- models --------------------------------------------------------------------------------------

world world_of_model(const sn_document *d) {
    world w = {.up_sign = 1};
    int up;
    double sign;
    if (d->skeleton == NULL) {
        world_set_unit(&w, 1, STATED);  // these formats are in metres, by definition
        world_set_up(&w, d->up, d->up_sign, d->format == SN_FORMAT_GLB ? STATED : ASSUMED);
        return w;
    }
    world_set_unit(&w, sn_skeleton_metres_per_unit(d->skeleton),
                   !sn_skeleton_metres_guessed(d->skeleton) ? STATED
                   : d->format == SN_FORMAT_ASF             ? ASSUMED
                                                            : GUESSED);
    if (sn_axis_parse(sn_skeleton_up_axis(d->skeleton), &up, &sign))
        world_set_up(&w, up, sign, d->format == SN_FORMAT_BVH ? GUESSED : ASSUMED);
    return w;
}
