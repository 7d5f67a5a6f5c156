// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/names.h"
#include "motion/recording.h"

struct sn_recording {
    sn_allocator allocator;
    void *owner;
    sn_recording_info info;
    double *position;  ///< nframe x nmarker x 3
    char **label;      ///< nmarker, all different
    sn_names names;    ///< of the labels
};

enum { SUFFIX = 12 };  // the longest that makes a label different: "_2147483647"

// A text that may not be terminated within its array.
static bool terminated(const char *text, size_t size) { return memchr(text, '\0', size) != NULL; }

static sn_status check_info(const sn_recording_info *info, const char *const *labels,
                            sn_error *error) {
    // a row of markers must not overflow where size_t has 32 bits; rows together are checked later
    if (info->nmarker > 0 && (size_t)info->nmarker > SIZE_MAX / 64)
        return sn_fail_size(error, "info->nmarker");
    if (info->nframe < 0) return sn_fail_range(error, "info->nframe");
    if (info->nmarker < 0) return sn_fail_range(error, "info->nmarker");
    if (info->nother < 0) return sn_fail_range(error, "info->nother");
    if (info->nrenamed < 0) return sn_fail_range(error, "info->nrenamed");
    if (!terminated(info->unit, sizeof info->unit)) return sn_fail_range(error, "info->unit");
    if (!terminated(info->x_screen, sizeof info->x_screen))
        return sn_fail_range(error, "info->x_screen");
    if (!terminated(info->y_screen, sizeof info->y_screen))
        return sn_fail_range(error, "info->y_screen");
    if (!terminated(info->note, sizeof info->note)) return sn_fail_range(error, "info->note");
    for (int i = 0; i < info->nmarker; i++)
        if (labels == NULL || labels[i] == NULL) return sn_fail_missing(error, "labels");
    return SN_OK;
}

// `next` is for the first marker of a label: the number to try for the next one of it.
static sn_recording *layout_recording(sn_recording *r, size_t letters, char **pool, int **next,
                                      sn_layout *layout) {
    size_t nframe = (size_t)r->info.nframe, nmarker = (size_t)r->info.nmarker;
    sn_recording *self = sn_layout_take(layout, 1, sizeof *self);
    r->label = sn_layout_take(layout, nmarker, sizeof *r->label);
    *pool = sn_layout_take(layout, letters, 1);
    *next = sn_layout_take(layout, nmarker, sizeof **next);
    sn_names_layout(&r->names, nmarker, layout);
    size_t row = nmarker * 3 * sizeof *r->position;
    r->position = sn_layout_take(layout, nframe, row > 0 ? row : 1);
    return self;
}

static const char *label_of(const void *owner, int i) {
    return ((const sn_recording *)owner)->label[i];
}

// A label that an earlier marker has gets _2, _3, ...; those that stand once stay, wherever they
// are.
static void make_different(sn_recording *r, int *next) {
    for (int i = 0; i < r->info.nmarker; i++) {
        next[i] = 2;
        (void)sn_names_add(&r->names, i, label_of, r);
    }
    for (int i = 0; i < r->info.nmarker; i++) {
        int first = sn_names_find(&r->names, r->label[i], label_of, r);
        if (first == i) continue;
        size_t length = strlen(r->label[i]);
        do (void)snprintf(r->label[i] + length, SUFFIX, "_%d", next[first]++);
        while (sn_names_add(&r->names, i, label_of, r) != i);
        r->info.nrenamed++;
    }
}

sn_status sn_recording_create(const sn_recording_info *info, const char *const *labels,
                              const sn_allocator *allocator, sn_recording **out, sn_error *error) {
    if (out != NULL) *out = NULL;
    SN_NEED(info, error);
    SN_NEED(out, error);
    SN_TRY(check_info(info, labels, error));
    sn_recording r = {.allocator = sn_allocator_of(allocator), .info = *info};
    if (!(r.info.rate > 0)) r.info.rate = 0;
    if (!isfinite(r.info.time_offset)) r.info.time_offset = 0;
    size_t letters = 0;
    for (int i = 0; i < info->nmarker; i++) letters += strlen(labels[i]) + SUFFIX;

    char *pool;
    int *next;
    sn_layout layout = {0};
    (void)layout_recording(&r, letters, &pool, &next, &layout);
    if (layout.overflow) return sn_fail_size(error, "info->nframe times info->nmarker");
    void *block = sn_layout_acquire(&layout, allocator, &r.owner);
    if (block == NULL) return sn_fail_memory(error);
    layout = (sn_layout){.block = block};
    sn_recording *self = layout_recording(&r, letters, &pool, &next, &layout);

    for (int i = 0; i < info->nmarker; i++) {
        size_t length = strlen(labels[i]);
        r.label[i] = memcpy(pool, labels[i], length + 1);
        pool += length + SUFFIX;
    }
    make_different(&r, next);
    *self = r;
    size_t count = (size_t)info->nframe * (size_t)info->nmarker * 3;
    for (size_t i = 0; i < count; i++) r.position[i] = NAN;
    *out = self;
    return SN_OK;
}

void sn_recording_destroy(sn_recording *recording) {
    if (recording == NULL) return;
    sn_allocator allocator = recording->allocator;
    sn_release(&allocator, recording->owner);
}

char *sn_recording_note(sn_recording *recording) { return recording->info.note; }

const sn_recording_info *sn_recording_about(const sn_recording *recording) {
    if (recording == NULL) return NULL;
    return &recording->info;
}

double *sn_recording_edit(sn_recording *recording, int frame) {
    if (recording == NULL) return NULL;
    if (frame < 0 || frame >= recording->info.nframe) return NULL;
    return recording->position + (size_t)frame * (size_t)recording->info.nmarker * 3;
}

const double *sn_recording_frame(const sn_recording *recording, int frame) {
    if (recording == NULL) return NULL;
    if (frame < 0 || frame >= recording->info.nframe) return NULL;
    return recording->position + (size_t)frame * (size_t)recording->info.nmarker * 3;
}

bool sn_recording_present(const sn_recording *recording, int frame, int marker) {
    if (recording == NULL) return false;
    const double *row = sn_recording_frame(recording, frame);
    if (row == NULL || marker < 0 || marker >= recording->info.nmarker) return false;
    const double *p = row + 3 * (size_t)marker;
    return isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
}

int sn_recording_missing(const sn_recording *recording, int marker) {
    if (recording == NULL) return 0;
    if (marker < 0 || marker >= recording->info.nmarker) return recording->info.nframe;
    int count = 0;
    for (int i = 0; i < recording->info.nframe; i++) {
        const size_t row = (size_t)i * (size_t)recording->info.nmarker;
        const double *p = recording->position + 3 * (row + (size_t)marker);
        count += !isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]);
    }
    return count;
}

const char *sn_recording_label(const sn_recording *recording, int marker) {
    if (recording == NULL) return NULL;
    if (marker < 0 || marker >= recording->info.nmarker) return NULL;
    return recording->label[marker];
}

const char *sn_label_name(const char *label) {
    if (label == NULL) return NULL;
    const char *colon = strrchr(label, ':');
    // a colon at the very end is no prefix: there would be no name left
    return colon == NULL || colon[1] == '\0' ? label : colon + 1;
}

static const char *label_at(const void *user, int marker) {
    return sn_recording_label(user, marker);
}

static bool sample_at(const void *user, int frame, int marker, double out[3]) {
    if (!sn_recording_present(user, frame, marker)) return false;
    memcpy(out, sn_recording_frame(user, frame) + 3 * (size_t)marker, 3 * sizeof *out);
    return true;
}

sn_samples sn_recording_samples(const sn_recording *recording) {
    sn_samples s = {.user = recording, .label = label_at, .sample = sample_at};
    if (recording == NULL) return s;
    s.nframe = recording->info.nframe;
    s.nmarker = recording->info.nmarker;
    s.rate = recording->info.rate;
    return s;
}

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool same_letters(const char *a, const char *b) {
    while (*a != '\0' && small(*a) == small(*b)) a++, b++;
    return small(*a) == small(*b);
}

static int find_name(const sn_recording *recording, const char *name, bool exact) {
    int found = -1;
    for (int i = 0; i < recording->info.nmarker; i++) {
        const char *own = sn_label_name(recording->label[i]);
        if (exact ? strcmp(own, name) == 0 : same_letters(own, name)) found = found == -1 ? i : -2;
    }
    return found;
}

int sn_recording_find(const sn_recording *recording, const char *name) {
    if (recording == NULL || name == NULL) return -1;
    int found = sn_names_find(&recording->names, name, label_of, recording);
    if (found < 0) found = find_name(recording, name, true);
    return found == -1 ? find_name(recording, name, false) : found;
}

double sn_unit_metres(const char *unit) {
    if (unit == NULL) return 0;
    static const struct {
        const char *name;
        double metres;
    } units[] = {
        {"mm", 0.001},
        {"cm", 0.01},
        {"dm", 0.1},
        {"m", 1},
        {"um", 1e-6},
        {"km", 1000},
        {"in", 0.0254},
        {"inch", 0.0254},
        {"inches", 0.0254},
        {"ft", 0.3048},
        {"feet", 0.3048},
        {"meter", 1},
        {"meters", 1},
        {"metre", 1},
        {"metres", 1},
        {"millimeter", 0.001},
        {"millimetre", 0.001},
        {"centimeter", 0.01},
        {"centimetre", 0.01},
        {"foot", 0.3048},
        {"millimeters", 0.001},
        {"millimetres", 0.001},
        {"centimeters", 0.01},
        {"centimetres", 0.01},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (same_letters(unit, units[i].name)) return units[i].metres;
    return 0;
}
