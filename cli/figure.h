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
    double *tips;     ///< njoint x 3, ends of the bones; NULL when not known
} figure;

/// Read a model of any format; "humanoid" without a file of that name is the built-in figure. False and a
/// message when it can't be.
/// @param metres  per unit, for formats that do not say; 0: guess
bool load_figure(const char *path, bool use_limits, double metres, figure *out);
void free_figure(figure *self);
/// From a document with a model, which is emptied.
void figure_of(sn_document *document, figure *out);

/// Read a file of any format; AMC needs the skeleton. False and a message when it can't be.
bool load_document(const char *path, const sn_document_options *options, sn_document *out);
/// Read a file that must hold markers.
sn_recording *load_recording(const char *path);

/// What a file of motion is made from.
typedef struct scene {
    const figure *figure;
    const sn_model *model;          ///< the figure's, or one with other lengths and markers
    bool reshaped;                  ///< its lengths are not the figure's
    const sn_motion *motion;        ///< NULL: the figure alone
    const sn_recording *recording;  ///< measured markers in the model's world, or NULL
    double metres;                  ///< per unit of the output, for formats that can choose; 0: as usual
    double rotation[4];             ///< of the whole figure and its markers, w x y z; all 0 for none
    const char *page;               ///< for HTML: sinew's page, NULL where it usually is
} scene;

/// Write a scene as the format of the path's ending says. False and a message when it can't be.
bool write_scene(const char *path, const scene *scene);
/// The same into a sink; `error` may stay without a text.
sn_status write_scene_to(const scene *scene, sn_format format, const sn_sink *sink, sn_error *error);
/// Turn markers as the scene is turned.
void turn_markers(const scene *scene, sn_recording *markers);

/// Where the model's markers are in every frame. NULL and a message when memory is out.
sn_recording *marker_paths(const sn_model *model, const sn_motion *motion);
