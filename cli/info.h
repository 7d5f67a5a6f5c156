// SPDX-License-Identifier: MIT
// What sinew info says about a file.
#pragma once

#include "inputs.h"

enum { INFO_NOTES = 8 };

/// How one marker was seen.
typedef struct gap {
    int missing;  ///< samples
    int longest;  ///< most in a row
} gap;

/// What can be said about a file; pointers are into the input.
typedef struct file_facts {
    const input *in;
    int nframe;  ///< -1: the file holds nothing that moves
    int first_frame;
    double rate;            ///< 0: not known
    double time_offset;     ///< of the times beyond (frame - 1) / rate
    world world;            ///< of models, recordings and tables
    int joints, dofs;       ///< -1: none
    gap *gaps;              ///< per marker of a recording, else NULL
    long samples, missing;  ///< of a recording
    char notes[INFO_NOTES][400];
    int nnote;
} file_facts;

/// Find out about a file that was read. Free with free_facts().
file_facts collect_facts(const input *in);
/// About an AMC file without a skeleton.
bool collect_amc(const char *path, input *in, file_facts *out, sn_error *error);
void free_facts(file_facts *facts);

void print_info_text(const file_facts *f);
void print_info_json(const file_facts *f);
