// SPDX-License-Identifier: MIT
// Which way is up in a file, and how long its unit is, in words: what the library found out.
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

world world_of_recording(const sn_recording *recording) {
    const sn_recording_info *info = sn_recording_about(recording);
    world w = {.up_sign = 1};
    sn_axes_report guess = {.up_known = SN_KNOWN_ASSUMED, .unit_known = SN_KNOWN_ASSUMED};
    int up;
    double sign;
    (void)sn_axes_guess(recording, NULL, &guess, NULL);
    if (info->metres_per_unit > 0) {
        w.metres = info->metres_per_unit;
        w.unit_known = STATED;
        (void)snprintf(w.unit, sizeof w.unit, "%s", info->unit);
    } else {
        (void)snprintf(w.unknown, sizeof w.unknown, "%s", info->unit);
        if (guess.unit_known == SN_KNOWN_FOUND) world_set_unit(&w, guess.unit, GUESSED);
    }
    // what the file states is shown as it states it, with what the markers say beside it
    if (sn_axis_parse(info->y_screen, &up, &sign)) {
        world_set_up(&w, up, sign, STATED);
    } else if (guess.up_known == SN_KNOWN_FOUND) {
        world_set_up(&w, guess.up, guess.up_sign, GUESSED);
    }
    w.conflict = guess.up_conflict;
    if (w.conflict)
        (void)snprintf(w.shown, sizeof w.shown, "%c%c", guess.up_sign < 0 ? '-' : '+',
                       "xyz"[guess.up]);
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
