// SPDX-License-Identifier: MIT
// Files of a command line that takes any of them, and what is known about their world.
#pragma once

#include "cli.h"

/// One file and what is in it.
typedef struct input {
    const char *path;
    sn_document document;
    sn_marker_set *set;           ///< of a marker set's file
    const struct input *partner;  ///< the ASF file that an AMC file was read against; NULL: none
} input;

/// Read a file of any format. "humanoid" without a file of that name is the built-in figure.
/// @param options  its skeleton is for AMC files; NULL for the defaults
/// @param error    what is wrong; nothing is printed
/// Where a marker set is OpenSim's, whose bodies are a model's, it is for input_read_set(): false, and
/// `document.format` is SN_FORMAT_MARKERS.
bool input_read(const char *path, const sn_document_options *options, input *out, sn_error *error);
/// Read a marker set of any kind. @param model  whose bodies it names
bool input_read_set(const char *path, const sn_model *model, input *out, sn_error *error);
void input_free(input *self);

bool is_humanoid(const char *path);

/// What a C3D file has that is not read: "16 analog channels and 2 events"; "" for nothing.
void describe_left_out(const sn_recording_info *info, char *out, size_t size);

/// Coordinates that follow others: "joint b follows a"; "" for none.
void describe_couplings(const sn_document *document, char *out, size_t size);

/// How something is known, as a word; NULL when it is not.
#define STATED  "stated"
#define GUESSED "guessed"
#define ASSUMED "assumed"

/// Unit of length and up axis of a file.
typedef struct world {
    double metres;     ///< per unit; 0: not known
    char unit[24];     ///< its name
    char unknown[24];  ///< what the file calls it, when that is no unit that is known
    const char
        *unit_known;  ///< stated, guessed (from the size), assumed (the format's custom), NULL
    int up;           ///< 0 1 2
    double up_sign;
    const char *up_known;  ///< stated, guessed (from how things lie), assumed (the custom), NULL
    char up_text[3];       ///< "+z", "" when not known
    bool conflict;         ///< the file states an up axis that the markers do not show
    char shown[3];         ///< the one they show
} world;

/// Of a recording: what the file states; else where the markers of a body lie when the labels are
/// known ones; else from how far the markers are spread, which can fail.
world world_of_recording(const sn_recording *recording);
world world_of_model(const sn_document *document);
/// The unit of length and how it is known, for people.
void world_describe_unit(const world *self, char *out, size_t size);
/// State or replace the up axis; "" when it is not known.
void world_set_up(world *self, int up, double sign, const char *known);
void world_set_unit(world *self, double metres, const char *known);

/// The word of --units: a name of a unit, or NULL and a message.
bool parse_unit(const char *option_name, const char *word, double *metres);
