// SPDX-License-Identifier: MIT
// Figures (models with what their file knew) and files of motions and markers, in and out.
#pragma once

#include "cli.h"

/// A model and the file it came from.
typedef struct figure {
    sn_document document;
    const sn_model *model;
    const sn_skeleton *skeleton;  ///< ASF, BVH; else NULL
    int up;                       ///< 0 1 2
    double up_sign;
    bool up_guessed;  ///< else it is the format's custom
} figure;

/// Read a model of any format; "humanoid" without a file of that name is the built-in figure. False and a
/// message when it can't be.
/// @param metres  per unit, for formats that do not say; 0: guess
bool load_figure(const char *path, bool use_limits, double metres, figure *out);
/// The same, with the file's limits, for a command that only needs the model: NULL and a message when it
/// can't be. What the reader has to tell goes to standard error.
const sn_model *load_model(const char *path, figure *out);
/// @param floating  the root of a URDF file moves freely
const sn_model *load_robot(const char *path, bool floating, figure *out);
/// The same for one chain alone, where no shapes count: of its notes those about them are left out.
const sn_model *load_arm_robot(const char *path, bool floating, figure *out);
void free_figure(figure *self);
/// From a document with a model, which is emptied.
void figure_of(sn_document *document, figure *out);

/// Read a file of any format; AMC needs the skeleton. False and a message when it can't be.
bool load_document(const char *path, const sn_document_options *options, sn_document *out);
/// Read a file that must hold markers.
sn_recording *load_recording(const char *path);

/// The scene of a figure: what a file is made from.
sn_scene figure_scene(const figure *self);

/// Write a scene as the format of the path's ending says. False and a message when it can't be.
/// @param page  for HTML: sinew's page, NULL where it usually is
bool write_scene(const char *path, const sn_scene *scene, const char *page);
/// One pose as a file of the format that its name says; false after a message.
bool write_pose(const char *path, const sn_model *model, const double *q, const figure *from);

// --- the unit of what is written ---

/// The word of --out-units; NULL is none. False and a message when it is no unit.
/// @param metres  0: the format decides
bool parse_out_unit(const char *word, double *metres, bool *source);
/// The unit of the file that an output comes from: a marker file from a recording, others from a model.
/// @param recording, model  metres per unit of what was read; 0: not known, or there is none
double source_unit(const char *path, double recording, double model);
/// " (lengths in cm)", for the line that tells of a written file; "" for 0.
void describe_unit(double metres, char *out, size_t size);
