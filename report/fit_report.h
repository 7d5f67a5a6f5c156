// SPDX-License-Identifier: MIT
// The report of a fit: one HTML file, charts as inline SVG, nothing fetched. The program and the Python package
// write it, over the library's public interface.
#pragma once

#include "plot.h"
#include "sinew/sinew.h"

/// What a report is about: a finished take, and what only its caller knows.
typedef struct fit_about {
    const sn_take *take;
    const sn_recording *recording;
    const sn_take_options *options;  ///< that it was made with
    int up;                          ///< the model's axis that points up
    double up_sign;
    const char *model_name, *input_name;  ///< as they were given
    const sn_take_truth *truth;           ///< NULL: no motion is known
    const char *page;    ///< where the take plays, as the address of a link; NULL: nowhere
    const char *player;  ///< without a page: how to get one
    sn_voice voice;      ///< of the sentences
    const char *file_note,
        *output_note;  ///< about the model's file and the files written; "" for nothing
} fit_about;

/// Fill what follows from the take.
fit_about fit_about_take(const sn_take *take, const sn_recording *recording,
                         const sn_take_options *options);

/// The whole page, or why there is nothing to show where the take failed; text->failed when memory is out.
void fit_report(plot_text *text, const fit_about *about);

/// A sentence about a take, and where it comes from.
typedef struct remark {
    const char *code;
    sn_severity severity;
    const sn_finding *finding;  ///< NULL for what is about files
    char text[2400];
} remark;

/// The i-th remark: about the model's file, the take's findings, about the files written. False when there is none.
bool fit_remark(const fit_about *about, int i, remark *out);
