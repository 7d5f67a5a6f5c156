// SPDX-License-Identifier: MIT
// The steps of fitting a take. Each says what is wrong and returns false when it can't be done.
#pragma once

#include "fit_take.h"

/// Skeleton, recording and the marker set, and which label is which marker of it.
bool load_take(fit_result *r);
/// Other signs between subject and marker ("Anna_LFHD") become colons, where names of the built-in set
/// or the model's come out that way and hardly any without.
bool part_subjects(fit_result *r);
/// Only the markers of the subject that is asked for: "Daniel" for "Daniel:LFHD".
bool keep_subject(fit_result *r);
/// The model with the set's markers in place. @param factor  per joint, NULL for 1
bool apply_set(fit_result *r, const double *factor);
/// Which frames are fitted.
bool choose_frames(fit_result *r);

/// How the recording lies against the figure, and the recording moved there: metres, the model's world;
/// what has no place on the model goes missing.
bool enter_world(fit_result *r);

/// Warn when the markers look mirrored. Before markers may move, as they would absorb it.
bool check_handedness(fit_result *r);
/// Find where the markers sit, where that is wanted or needed.
bool calibrate_take(fit_result *r);

/// A sentence for people, and one about what is likely wrong.
void note(fit_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void warn(fit_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void free_sentences(sentences *list);

/// Progress on a terminal.
typedef struct meter {
    bool shown;
    double begin, last;
    double error;
} meter;

meter meter_begin(const fit_settings *settings);
void show_fit(void *user, int done, int nframe, const sn_track_frame *latest);
void show_calibration(void *user, double fraction);
void meter_end(const meter *m);
