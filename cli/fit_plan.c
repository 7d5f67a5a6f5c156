// SPDX-License-Identifier: MIT
// Understanding what the user asked for, before any file is touched.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fit_take.h"
#include "solve_rows.h"

static bool wrong(const char *name, const char *word, const char *wanted) {
    fprintf(stderr, "sinew fit: %s takes %s, not \"%s\"\n", name, wanted, word);
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

static bool parse_calibrate(const fit_settings *s, sn_take_options *o) {
    static const char *const words[] = {"none", "offsets", "scale"};
    static const sn_calibrate_use uses[] = {SN_CALIBRATE_NONE, SN_CALIBRATE_OFFSETS,
                                            SN_CALIBRATE_SCALE};
    for (int i = 0; s->calibrate != NULL && i < 3; i++) {
        if (strcmp(s->calibrate, words[i]) != 0) continue;
        o->calibrate = uses[i];
        return true;
    }
    return s->calibrate == NULL || wrong("--calibrate", s->calibrate, "offsets, scale or none");
}

static bool parse_limits(const fit_settings *s, sn_take_options *o) {
    static const char *const words[] = {"hard", "soft", "off", "auto"};
    for (int i = 0; s->limits != NULL && i < 4; i++) {
        if (strcmp(s->limits, words[i]) != 0) continue;
        o->limits = (sn_limit_use)i;
        return true;
    }
    return s->limits == NULL || wrong("--limits", s->limits, "auto, hard, soft or off");
}

static bool parse_robust(const fit_settings *s, sn_take_options *o) {
    const char *word = s->robust;
    if (word == NULL) return true;
    o->loss = SN_LOSS_CAUCHY;
    if (strncmp(word, "huber", 5) == 0) o->loss = SN_LOSS_HUBER;
    size_t n = o->loss == SN_LOSS_HUBER ? 5 : 6;
    bool known = o->loss == SN_LOSS_HUBER || strncmp(word, "cauchy", 6) == 0;
    if (known && word[n] == '\0') return true;
    if (!known || word[n] != ':') return wrong("--robust", word, "cauchy or huber, or cauchy:2cm");
    if (!parse_length("--robust", word + n + 1, &o->loss_scale)) return false;
    return o->loss_scale > 0 || wrong("--robust", word, "a length above 0");
}

// What is known of the person. Names outlive the plan.
static bool parse_person(const fit_settings *s, sn_take_options *o) {
    static sn_known_length lengths[64];
    static char names[64][SN_MAX_NAME + 1];
    frame_range frames;
    if (s->height != NULL && !parse_length("--height", s->height, &o->height)) return false;
    if (s->height != NULL && !(o->height >= 0.4 && o->height <= 2.6))
        return wrong("--height", s->height, "0.4m to 2.6m");
    for (int i = 0; i < s->lengths.count; i++) {
        const char *word = s->lengths.word[i], *is = strrchr(word, '=');
        if (is == NULL || is == word || (size_t)(is - word) > SN_MAX_NAME)
            return wrong("--length", word, "a body and its length, such as femur_r=43cm");
        if (!parse_length("--length", is + 1, &lengths[i].metres)) return false;
        if (!(lengths[i].metres > 0.01 && lengths[i].metres < 2))
            return wrong("--length", word, "1cm to 2m");
        memcpy(names[i], word, (size_t)(is - word));
        names[i][is - word] = '\0';
        lengths[i].body = names[i];
    }
    o->lengths = lengths;
    o->nlength = s->lengths.count;
    if ((s->height != NULL || s->lengths.count > 0) && o->calibrate != SN_CALIBRATE_SCALE &&
        o->calibrate != SN_CALIBRATE_AUTO) {
        (void)wrong_usage(&command_fit,
                          "%s tells how long bones are, which only --calibrate=scale "
                          "changes",
                          s->height != NULL ? "--height" : "--length");
        return false;
    }
    if (!still_is_frames(s->still)) return true;
    if (!parse_frames(s->still, &frames)) return false;
    if (frames.first != LONG_MIN) o->still_first = frames.first;
    if (frames.last != LONG_MAX) o->still_last = frames.last;
    return true;
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

static bool parse_world(const fit_settings *s, sn_take_options *o) {
    if (s->up != NULL && !sn_axis_parse(s->up, &o->up, &o->up_sign))
        return wrong("--up", s->up, "the recording's axis that points up: x, y, z or -x, -y, -z");
    if (s->axes != NULL && !parse_axes(s->axes, &o->axes))
        return wrong(
            "--axes", s->axes,
            "which of the recording's axes become the model's x, y and z, each once, such as yzx "
            "or x-zy; -yzx is a mirror image");
    o->has_axes = s->axes != NULL;
    o->unit = s->units != NULL ? sn_unit_metres(s->units) : 0;
    if (s->units != NULL && o->unit <= 0) return wrong("--units", s->units, "m, cm, mm, in, ft");
    return true;
}

bool still_is_frames(const char *word) {
    return word != NULL && strchr(word, ':') != NULL && word[strspn(word, "0123456789:-+")] == '\0';
}

bool make_plan(const fit_settings *s, sn_take_options *o) {
    long threads = 1;
    frame_range frames;
    *o = sn_take_options_default();
    if (s->threads != NULL && !parse_integer("-j", s->threads, 1, 256, &threads)) return false;
    o->threads = (int)threads;
    if (s->device != NULL) o->device = device_of(s->device);
    o->subject = s->subject;
    o->barrier = s->barrier;
    o->builtin = s->markers != NULL && strcmp(s->markers, "builtin") == 0;
    if (s->smooth != NULL && !parse_number("--smooth", s->smooth, 0, &o->smooth)) return false;
    if (s->max_error != NULL && !parse_length("--max-error", s->max_error, &o->max_error))
        return false;
    double metres;
    bool source;
    if (!parse_out_unit(s->out_units, &metres, &source)) return false;
    if (!parse_frames(s->frames, &frames)) return false;
    if (frames.first != LONG_MIN) o->first_frame = frames.first;
    if (frames.last != LONG_MAX) o->last_frame = frames.last;
    return apply_solver(&command_fit, &s->solver, &o->solver) && parse_calibrate(s, o) &&
           parse_person(s, o) && parse_limits(s, o) && parse_robust(s, o) && parse_world(s, o);
}
