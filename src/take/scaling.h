// SPDX-License-Identifier: MIT
// A scaling while it is made; see sinew/scaling.h.
#pragma once

#include "files/osim/scale.h"
#include "math/vec3.h"
#include "sinew/scaling.h"

enum { SN_SCALING_NOTES = 64 };

struct sn_scaling {
    sn_allocator allocator;
    const sn_scaling_input *input;  // while it is made
    sn_scaling_info info;
    sn_error *error;
    sn_scaling_file file;  // what an error is about
    // texts, each made of the one before
    char *marked, *scaled, *placed, *marker_text, *factor_text;
    size_t nmarked, nscaled, nplaced;
    // the tree of `marked`: names of bodies and markers live in it
    sn_xml_tree tree;
    sn_osim_mark *mark;
    int nmark;
    sn_scaling_body *body;
    sn_osim_factor *factor;
    sn_scaling_distance *distance;
    sn_scaling_marker *marker;
    char *names;  // of the setup, which may go
    size_t nnames, names_room;
    sn_model *model;  // of the text before last
    sn_osim_coordinates *coordinates;
    sn_frame *frames;
    sn_recording *mean;  // the static pose as measured
    sn_ik_setup *ik;     // without a setup: every marker
    sn_motion *pose;
    sn_scaling_note note[SN_SCALING_NOTES];
};

sn_status sn_scaling_refuse(sn_scaling *s, sn_scaling_file file, int line, const char *format, ...)
    SN_PRINTF(4, 5);
void sn_scaling_tell(sn_scaling *s, sn_scaling_file file, int line, const char *format, ...)
    SN_PRINTF(4, 5);

/// The frames of a trial between two times: those beside them too, as OpenSim takes them.
sn_status sn_scaling_frames(sn_scaling *s, const sn_recording *trial, sn_scaling_file file,
                            double first, double last, int line, int *from, int *to);
/// Where the markers of a model's text are in its default pose: three numbers each, in the text's order.
/// @param out  free with sn_release()
sn_status sn_scaling_markers_at(sn_scaling *s, const char *text, size_t length, double **out);
/// The mean places of a trial's markers over some frames; NaN for those never seen.
void sn_scaling_mean(const sn_recording *trial, int from, int to, int marker, double out[3]);

/// scaling_factors.c: the factors of the bodies, as the setup asks for or from all distances.
sn_status sn_scaling_measure(sn_scaling *s, const double *places);
sn_status sn_scaling_estimate(sn_scaling *s, const double *places);
/// How well a marker's place on a generic body is known, metres: where a set tells landmarks (<fixed>) from
/// tracking markers, these may be anywhere on their segment.
double sn_scaling_doubt(const sn_scaling *s, int mark);

/// scaling_texts.c: the last text of the model, and the factors as a ScaleSet.
sn_status sn_scaling_place_markers(sn_scaling *s);
sn_status sn_scaling_print_factors(sn_scaling *s);
