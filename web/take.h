// SPDX-License-Identifier: MIT
// A take: what was measured, what was fitted.
#pragma once

#include "sinew/take.h"
#include "stage.h"

enum { SUBJECTS = 40, SUBJECT = 100 };

typedef struct take {
    sn_motion *motion;        // poses of the figure from a file, or NULL
    sn_recording *recording;  // measured markers, or NULL
    int nmarker;              // of it; where it has fitted ones too, they follow in the same order
    bool pairs;               // it has
    sn_axis_map axes;         // from the recording's world to the figure's
    int *joint;               // per marker of the recording: the joint it sits on, -1 for none
    double *local;            // and where on it, 3 numbers
    float *places;            // 6 numbers

    // poses that are fitted here, NULL where they came from a file
    sn_take *fit;
    char subject[SUBJECT];  // whose markers, "" where nobody was named
    sn_model *source;       // what the fit reads; one of the two owns it
    sn_skeleton *source_file;
    sn_osim_coordinates *coordinates;  // of it
    char text[2400];                   // a sentence about it
} take;

extern take the_take;

/// The poses: from a file, or fitted as far as web_take_fit() says; NULL for none.
const sn_motion *take_poses(void);

/// Both take over what they are given. On failure all stays as it was.
sn_status take_motion(sn_motion *motion);
/// subject: whose markers are fitted, "" for no one's in particular.
/// here: it is in the figure's world, and the figure's markers are the fitted ones.
/// *figure: the figure was replaced by one fitted to the markers.
sn_status take_recording(sn_recording *recording, const char *subject, bool here, bool *figure,
                         sn_error *error);

/// Forget who was found in the recording that was refused last.
void take_no_subjects(void);

/// A sentence into an error.
void set_message(sn_error *error, const char *text);
