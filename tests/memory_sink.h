// SPDX-License-Identifier: MIT
// A sink that keeps what a writer sends, or fails after some bytes.
#pragma once

#include "support.h"

typedef struct memory_sink {
    sn_sink base;
    char *bytes;  ///< terminated; free with free()
    size_t length;
    size_t room;  ///< fail beyond
    size_t
        capacity;  ///< of bytes: a block for every letter would take quadratic time under AddressSanitizer
} memory_sink;

static bool memory_sink_write(void *user, const void *bytes, size_t count) {
    memory_sink *s = user;
    if (count > s->room - s->length) return false;
    if (s->length + count >= s->capacity) {
        s->capacity = 2 * (s->length + count) + 100;
        s->bytes = realloc(s->bytes, s->capacity);
        assert_non_null(s->bytes);
    }
    memcpy(s->bytes + s->length, bytes, count);
    s->length += count;
    s->bytes[s->length] = '\0';
    return true;
}

static inline void memory_sink_begin(memory_sink *sink) {
    *sink = (memory_sink){.base = {memory_sink_write, sink}, .room = SIZE_MAX};
}

/// A recording with some samples missing. Coordinates have `digits` binary places in metres, or
/// (negative) all of them.
static inline sn_recording *random_recording(uint64_t *state, const sn_recording_info *info,
                                             const char *const *labels, int digits) {
    sn_recording *r;
    assert_int_equal(sn_recording_create(info, labels, NULL, &r, NULL), SN_OK);
    for (int f = 0; f < info->nframe; f++)
        for (int i = 0; i < info->nmarker; i++) {
            if (below(state, 5) == 0) continue;
            double *x = sn_recording_edit(r, f) + 3 * i;
            for (int c = 0; c < 3; c++) {
                x[c] = uniform(state, -3, 3);
                if (digits >= 0) x[c] = ldexp(round(ldexp(x[c], digits)), -digits);
            }
        }
    return r;
}

/// The largest difference of two recordings that must have the same markers and gaps.
static inline double recording_distance(const sn_recording *a, const sn_recording *b) {
    const sn_recording_info *x = sn_recording_about(a), *y = sn_recording_about(b);
    assert_int_equal(x->nframe, y->nframe);
    assert_int_equal(x->nmarker, y->nmarker);
    double worst = 0;
    for (int i = 0; i < x->nmarker; i++)
        assert_string_equal(sn_recording_label(a, i), sn_recording_label(b, i));
    for (int f = 0; f < x->nframe; f++)
        for (int i = 0; i < x->nmarker; i++) {
            assert_int_equal(sn_recording_present(a, f, i), sn_recording_present(b, f, i));
            for (int c = 3 * i; sn_recording_present(a, f, i) && c < 3 * i + 3; c++)
                worst =
                    fmax(worst, fabs(sn_recording_frame(a, f)[c] - sn_recording_frame(b, f)[c]));
        }
    return worst;
}
