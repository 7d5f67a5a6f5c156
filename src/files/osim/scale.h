// SPDX-License-Identifier: MIT
// Scaling an .osim file: bodies and frames of its tree, factors, markers. All of it makes a new text of an old one.
#pragma once

#include "files/osim/edit.h"

/// The factors of a body along its axes.
typedef struct sn_osim_factor {
    const char *body;
    double factor[3];
} sn_osim_factor;

/// What a scaling is to do.
typedef struct sn_osim_scaling {
    const sn_osim_factor *factor;  ///< bodies that are not named stay as they are
    int count;
    double mass;         ///< kg that all bodies have together in the end; 0: what comes of it
    bool preserve_mass;  ///< bodies don't get heavier as they grow
} sn_osim_scaling;

/// What became of it.
typedef struct sn_osim_scaled {
    double mass_before, mass;  ///< kg, all bodies together
    char note[1000];           ///< what is in the file and was not scaled, in sentences
} sn_osim_scaled;

/// osim_scale.c: the text with all that belongs to a body scaled with it. Free `out` with sn_release().
sn_status sn_osim_scale_text(const char *text, size_t length, const sn_osim_scaling *how,
                             const sn_allocator *allocator, char **out, size_t *out_length,
                             sn_osim_scaled *about, sn_error *error);

/// osim_frames.c: the bodies and offset frames of a file, as nodes of its tree.
typedef struct sn_osim_frames {
    const sn_xml_tree *tree;
    int model;  ///< <Model>; -1: there is none
    int *body;  ///< <Body>, ground among them where the file writes it
    int nbody;
    int *frame;  ///< <PhysicalOffsetFrame>
    int nframe;
    bool joints_in_bodies;  ///< a file of version 3
    void *block;
} sn_osim_frames;

sn_status sn_osim_frames_make(const sn_xml_tree *tree, const sn_allocator *allocator,
                              sn_osim_frames *out, sn_error *error);
void sn_osim_frames_end(sn_osim_frames *frames, const sn_allocator *allocator);
/// The name of the body that a socket or <body> means: through offset frames, those of `owner` (-1: none)
/// first. "ground" is one. NULL when there is none.
const char *sn_osim_frames_find(const sn_osim_frames *frames, int owner, const char *path);
/// The text of a socket: <NAME>, in early files <NAME_connectee_name>. "" for none.
const char *sn_osim_socket(const sn_xml_tree *tree, int node, const char *name);

/// osim_markers.c: a marker as a file states it.
typedef struct sn_osim_mark {
    const char *name, *frame;  ///< frame: a path, or a name
    double location[3];
    bool fixed;
    int line;
} sn_osim_mark;

/// The markers of a text: of a <Model>, of a <MarkerSet> alone. Names live as long as the tree.
/// @param out  free with sn_release(); NULL for none
sn_status sn_osim_marks_read(const sn_xml_tree *tree, const sn_allocator *allocator,
                             sn_osim_mark **out, int *count, sn_error *error);
/// A model's text with markers of another set: those of the same name are replaced, others come behind.
/// `error` is about the set.
sn_status sn_osim_marks_add(const char *text, size_t length, const sn_osim_mark *marks, int count,
                            const sn_allocator *allocator, char **out, size_t *out_length,
                            sn_error *error);
/// A model's text with markers moved to new locations, those of `gone` taken out, and the model renamed.
/// @param name   of the model; "": as it is
/// @param marks  only name and location count
sn_status sn_osim_marks_move(const char *text, size_t length, const char *name,
                             const sn_osim_mark *marks, int count, const char *const *gone,
                             int ngone, const sn_allocator *allocator, char **out,
                             size_t *out_length, sn_error *error);
/// A <MarkerSet> document of a model's markers.
sn_status sn_osim_marks_print(const char *text, size_t length, const sn_allocator *allocator,
                              char **out, size_t *out_length, sn_error *error);
