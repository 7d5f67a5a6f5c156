// SPDX-License-Identifier: MIT
// Scaling a model.
//
// What OpenSim's scale tool does: factors from measurements or by hand, the static pose by weights and
// coordinate tasks, markers moved to where that pose shows them. The model is the text of an .osim file, and so
// is the result: bytes that nothing changes stay as they are.
#pragma once

#include "sinew/files.h"
#include "sinew/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which of the files something is about.
typedef enum sn_scaling_file {
    SN_SCALING_SETUP,
    SN_SCALING_MODEL,
    SN_SCALING_MARKERS,   ///< the marker set
    SN_SCALING_MEASURED,  ///< the trial that is measured
    SN_SCALING_STATIC     ///< the trial of the static pose
} sn_scaling_file;

/// What a scaling is made from. All of it may go once the scaling is made.
typedef struct sn_scaling_input {
    const char *model;    ///< .osim, model_length bytes
    size_t model_length;  ///< its bytes
    const char
        *markers;  ///< a MarkerSet of OpenSim, whose markers the model gets first; NULL: none
    size_t markers_length;  ///< its bytes
    const sn_scale_setup
        *setup;  ///< NULL: a factor for each body from all distances in the static trial
    const sn_recording *measured;       ///< what the setup measures; NULL: none
    const sn_recording *at_rest;        ///< the static trial; NULL: markers are not placed
    const sn_table *coordinate_values;  ///< of the setup's coordinate_file; NULL: none
    double mass;                        ///< kg; 0: the setup's, or what comes of the factors
    bool by_volume;                     ///< without a setup: bodies get heavier as they grow
    double first, last;  ///< without a setup: seconds of the static trial; both 0: all of it
} sn_scaling_input;

/// A body and how much it grew along its axes.
typedef struct sn_scaling_body {
    const char *name;  ///< as in the file
    double factor[3];  ///< along x, y, z
} sn_scaling_body;

/// A distance between two markers, metres.
typedef struct sn_scaling_distance {
    const char *measurement, *marker[2];  ///< names
    double model, measured;               ///< on the generic model, and the mean of the trial
} sn_scaling_distance;

/// A marker in the static pose.
typedef struct sn_scaling_marker {
    const char *name;               ///< as in the file
    bool fixed, seen, moved;        ///< by the file, in the trial, to where it was seen
    double before[3], location[3];  ///< on its body, after scaling and after placing
    double error;                   ///< metres from where it was seen, before it was placed
} sn_scaling_marker;

/// Something a person should know.
typedef struct sn_scaling_note {
    sn_scaling_file file;  ///< that it is about
    int line;              ///< 0: none
    char text[400];        ///< a sentence
} sn_scaling_note;

/// How it went. Valid while the scaling lives.
typedef struct sn_scaling_info {
    int nbody, ndistance, nmarker, nnote;  ///< how many there are
    const sn_scaling_body *body;           ///< all but ground
    const sn_scaling_distance *distance;   ///< that were measured
    const sn_scaling_marker *marker;       ///< of the model and the marker set
    const sn_scaling_note *note;           ///< warnings
    double mass_before, mass;              ///< kg
    double rms, worst;        ///< metres over the markers with a weight, before they were placed
    double objective;         ///< of the static pose, OpenSim's own
    const char *model_text;   ///< the result, terminated
    size_t model_length;      ///< its bytes
    const char *scaled_text;  ///< before markers were placed
    size_t scaled_length;     ///< its bytes
    const char *marker_text;  ///< the markers as a MarkerSet
    size_t marker_length;     ///< its bytes
    const char *factor_text;  ///< the factors as a ScaleSet
    size_t factor_length;     ///< its bytes
    const sn_model *model;    ///< of `model_text`
    const sn_motion *pose;    ///< one frame; NULL: there was no static trial
} sn_scaling_info;

/// A scaled model and how it came about.
typedef struct sn_scaling sn_scaling;

/// @param out   free with sn_scaling_destroy(); NULL on failure
/// @param file  what `error` is about; may be NULL
SN_API sn_status sn_scaling_create(const sn_scaling_input *input, const sn_allocator *allocator,
                                   sn_scaling **out, sn_scaling_file *file, sn_error *error);
SN_API void sn_scaling_destroy(sn_scaling *scaling);
/// NULL for NULL.
SN_API const sn_scaling_info *sn_scaling_about(const sn_scaling *scaling);

#ifdef __cplusplus
}
#endif
