// SPDX-License-Identifier: MIT
// What the documents (000 to 004, docs/bibliography.md) measured, measured again: `sinew bench papers`. Each papers_*.c makes the CSV
// files, the SVG files and the section of the page for one table or group of figures, and judges the
// document's claims by what was measured.
#pragma once

#include "plot.h"
#include "protocol.h"

typedef struct papers_options {
    const char *data;  ///< folder with clips, see clip_find(); NULL for the built-in example
    const char *out;   ///< folder to write to; made when missing
    bool quick;
    /// Write a file; false, after a message, when it cannot be.
    bool (*write)(const char *path, const void *bytes, size_t length);
} papers_options;

/// Run everything. 0 well, 1 when something could not be written, 3 when the data cannot be read.
int bench_papers(const papers_options *options);

typedef enum papers_verdict { PAPERS_HOLDS, PAPERS_PARTLY, PAPERS_NOT } papers_verdict;

enum { PAPERS_CLIPS = 32, PAPERS_GROUP = 8, PAPERS_GROUPS = 4 };

/// Frames of one kind, chosen by rule: see papers_frames.c.
typedef struct papers_group {
    const char *name;  ///< as 001's Table 3 has it
    const char *rule;
    int n;
    int clip[PAPERS_GROUP], frame[PAPERS_GROUP];
    double value[PAPERS_GROUP];  ///< of the rule: a speed in m/s
} papers_group;

/// One run.
typedef struct papers {
    bool quick;
    bool example;  ///< no clips at hand: the built-in example
    const char *out;
    bool (*write)(const char *path, const void *bytes, size_t length);
    clip clips[PAPERS_CLIPS];
    double *offsets[PAPERS_CLIPS];  ///< of every frame from its own truth
    int nclip;
    int skipped;  ///< motions, recordings and clips of the folder that could not be used
    papers_group groups[PAPERS_GROUPS];

    plot_text body;       ///< of the page
    plot_text verdicts;   ///< rows of the page's table
    plot_text csv;        ///< of verdicts
    plot_text row;        ///< scratch
    const char *section;  ///< the one being written
    int counts[3];
    bool failed;
    int step, nstep;  ///< progress
    bool shows;       ///< on a terminal
} papers;

/// On a terminal: what is being done. Silent elsewhere.
void papers_progress(papers *p, const char *what);

/// Write a text to a file of the output folder and free it.
void papers_file(papers *p, const char *name, plot_text *text);

/// Begin a section of the page; the claims that follow point to it.
void papers_section(papers *p, const char *id, const char *title);

/// A figure into the page and as name.svg.
void papers_figure(papers *p, const char *name, const plot_figure *figure, const char *caption);

/// A row of the table that was begun, its cells separated by '|'.
void papers_row(papers *p, const char *format, ...) PLOT_FORMAT(2, 3);
void papers_text(papers *p, const char *format, ...) PLOT_FORMAT(2, 3);

/// The verdict on a claim: into the section, the table at the top and verdicts.csv.
/// @param id      short, for the CSV: "001-table4-order"
/// @param source  "001 Table 4, page 10"
void papers_claim(papers *p, const char *id, const char *source, const char *claim,
                  papers_verdict verdict, const char *format, ...) PLOT_FORMAT(6, 7);
/// A text as a cell of a CSV file: quoted where it has to be. Good until three more have been asked for.
const char *papers_cell(const char *text);
/// All of `good` of `of`: holds; most: partly; fewer than half: not.
papers_verdict papers_share(int good, int of);

// papers_frames.c
/// The clips under `data`, or the example when it is NULL; false when there are none to read.
bool papers_load(papers *p, const char *data);
void papers_choose_frames(papers *p);
/// Has 001's Table 4 a row of this clip?
bool papers_in_table4(const char *name);
/// The clip's model with the limits of 001's code: the motion's range, 5 % wider. Free it.
sn_model *papers_limited(const clip *c, double scale);

/// f per iteration of one solve; f[0] is that of the start. In cm^2.
typedef struct papers_trace {
    int n;
    double f[402];
    double gradient[402];
    int exact, indefinite;  ///< iterations
    sn_report report;
    double micros;
} papers_trace;

/// Solve from q (which receives the result) and record. @param solver  its trace is set here
void papers_solve(sn_problem *problem, const sn_solver_options *options, double *q,
                  papers_trace *out);
/// One method as it is set here: newton-pcg is 001's or ours by what it is given.
typedef struct papers_method {
    const char *name;
    sn_method method;
    int bandwidth;  ///< newton-pcg: 001 prints 24, its published code has 8, our default is 5
    bool constant;  ///< newton-pcg: 001's constant inner tolerance of 0.1
    bool higham;    ///< newton-pcg: the nearest semidefinite matrix (001 6.7), from theta = 0
} papers_method;
/// 001's exact method: tolerance 0.1 throughout, bandwidth 24, Higham's projection from theta = 0.
extern const papers_method papers_exact;
sn_solver_options papers_solver(const papers_method *method, int iterations, double goal);
/// Is Higham's projection in this build (LAPACK)?
bool papers_has_higham(void);

/// Seconds of one call of `run`: the least of several rounds of about a millisecond.
typedef void (*papers_job)(void *user);
double papers_time(papers_job run, void *user, int rounds);

/// 001's way through a clip: each frame from the last solution, no other tries, to f < 1e-2 cm^2.
sn_track_options papers_plain_track(const papers_method *method, int iterations);

double papers_mean(const double *x, int n);
double papers_median(const double *x, int n);

// one section each
void papers_table3(papers *p);
void papers_table4(papers *p);
void papers_calibrated(papers *p);  ///< part of Table 4's section
void papers_convergence(papers *p);
void papers_pcg(papers *p);
void papers_definiteness(papers *p);
void papers_open_question(papers *p);
void papers_interactive(papers *p);
void papers_jacobians(papers *p);
void papers_linear(papers *p);
void papers_chains(papers *p);
void papers_cost(papers *p);
