// SPDX-License-Identifier: MIT
// Understanding what the user asked for, before any file is touched.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fit_take.h"

static bool wrong(const char *name, const char *word, const char *wanted) {
    fprintf(stderr, "sinew fit: %s %s: it takes %s\n", name, word, wanted);
    return false;
}

// A length with a unit: "2cm", "15 mm", "0.02" (metres).
static bool parse_length(const char *name, const char *word, double *out) {
    size_t n = 0;
    while (word[n] != '\0' && strchr("0123456789.eE+-", word[n]) != NULL) n++;
    const char *unit = word + n;
    while (*unit == ' ') unit++;
    double metres = *unit == '\0' ? 1 : sn_unit_metres(unit);
    if (!sn_number_parse(word, n, out) || metres <= 0 || *out < 0)
        return wrong(name, word, "a length such as 2cm, 15mm or 0.02 (metres)");
    *out *= metres;
    return true;
}

static bool parse_calibrate(const fit_settings *s, fit_plan *p) {
    const char *word = s->calibrate;
    p->may_calibrate = word == NULL || strcmp(word, "none") != 0;
    p->must_calibrate = word != NULL && p->may_calibrate;
    p->calibrate.scale = word != NULL && strcmp(word, "scale") == 0;
    if (word == NULL || p->calibrate.scale || strcmp(word, "offsets") == 0 ||
        strcmp(word, "none") == 0)
        return true;
    return wrong("--calibrate", word, "offsets, scale or none");
}

static bool parse_limits(const fit_settings *s, fit_plan *p) {
    static const char *const words[] = {"hard", "soft", "off"};
    p->fit.limits = SN_LIMITS_OFF;
    for (int i = 0; s->limits != NULL && i < 3; i++) {
        if (strcmp(s->limits, words[i]) != 0) continue;
        p->fit.limits = (sn_limit_use)i;
        return true;
    }
    return s->limits == NULL || wrong("--limits", s->limits, "hard, soft or off");
}

static bool parse_robust(const fit_settings *s, fit_plan *p) {
    const char *word = s->robust;
    if (word == NULL) return true;
    p->fit.loss = SN_LOSS_CAUCHY;
    if (strncmp(word, "huber", 5) == 0) p->fit.loss = SN_LOSS_HUBER;
    size_t n = p->fit.loss == SN_LOSS_HUBER ? 5 : 6;
    bool known = p->fit.loss == SN_LOSS_HUBER || strncmp(word, "cauchy", 6) == 0;
    if (known && word[n] == '\0') return true;
    if (!known || word[n] != ':') return wrong("--robust", word, "cauchy or huber, or cauchy:2cm");
    if (!parse_length("--robust", word + n + 1, &p->fit.loss_scale)) return false;
    return p->fit.loss_scale > 0 || wrong("--robust", word, "a length above 0");
}

// "yzx", or its mirror image "-yzx": what no rotation is with its first sign turned.
static bool parse_axes(const char *word, sn_axis_map *out) {
    char turned[16];
    if (sn_axis_map_parse(word, out)) return true;
    int n = word[0] == '-' ? snprintf(turned, sizeof turned, "%s", word + 1)
                           : snprintf(turned, sizeof turned, "-%s", word + (word[0] == '+'));
    if (n >= (int)sizeof turned || !sn_axis_map_parse(turned, out)) return false;
    out->sign[0] = -out->sign[0];
    return true;
}

static bool parse_world(const fit_settings *s, fit_plan *p) {
    if (s->up != NULL && !sn_axis_parse(s->up, &p->up, &p->up_sign))
        return wrong("--up", s->up, "the recording's axis that points up: x, y, z or -x, -y, -z");
    p->has_up = s->up != NULL;
    if (s->axes != NULL && !parse_axes(s->axes, &p->axes))
        return wrong(
            "--axes", s->axes,
            "which of the recording's axes become the model's x, y and z, each once, such as yzx "
            "or x-zy; -yzx is a mirror image");
    p->has_axes = s->axes != NULL;
    p->unit = s->units != NULL ? sn_unit_metres(s->units) : 0;
    if (s->units != NULL && p->unit <= 0) return wrong("--units", s->units, "m, cm, mm, in, ft");
    return true;
}

bool make_plan(const fit_settings *s, fit_plan *p) {
    *p = (fit_plan){.fit = sn_fit_options_default(),
                    .calibrate = sn_calibrate_options_default(),
                    .max_error = INFINITY};
    p->fit.track.solver.gradient = 1e-7;
    p->fit.track.solver.max_iterations = 100;
    long threads = 1;
    if (s->threads != NULL && !parse_integer("-j", s->threads, 1, 256, &threads)) return false;
    p->fit.track.threads = (int)threads;
    if (s->solver != NULL) {
        p->fit.track.solver.method = sn_method_find(s->solver);
        if (p->fit.track.solver.method == SN_METHOD_COUNT)
            return wrong("--solver", s->solver, "a solver's name; see sinew solve --help");
        if (!sn_method_available(p->fit.track.solver.method))
            return wrong("--solver", s->solver, "a solver that this build has (LAPACK is missing)");
    }
    if (s->smooth != NULL && !parse_number("--smooth", s->smooth, 0, &p->fit.smooth)) return false;
    if (s->max_error != NULL && !parse_length("--max-error", s->max_error, &p->max_error))
        return false;
    if (!parse_frames(s->frames, &p->frames)) return false;
    return parse_calibrate(s, p) && parse_limits(s, p) && parse_robust(s, p) && parse_world(s, p);
}
