// SPDX-License-Identifier: MIT
#include <string.h>

#include "fit_take.h"
#include "opensim.h"
#include "option_rows.h"
#include "output.h"
#include "papers.h"
#include "solvers.h"
#include "sweeps.h"

typedef struct settings {
    const char *data, *csv, *out;
    bool quick;
    long problems;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {"sweeps",
                                    "solvers [--data DIR] [--csv FILE] [--quick] [--problems N]",
                                    "fit --data DIR",
                                    "levels [--data DIR] [--problems N]",
                                    "papers [--data DIR] [--out DIR] [--quick]",
                                    "opensim --data DIR",
                                    NULL};

static const help_item items[] = {
    {"sweeps",
     "time the sweeps on the built-in humanoid (58 degrees of freedom, 41 markers) against each "
     "other and against the documents' Algorithms 3 and 4. The verdict is about ratios within "
     "one run"},
    {"solvers",
     "run all solvers on real clips by the protocols of docs/solvers.md, and on random trees"},
    {"levels", "a seven-axis arm with a pose and a posture: one weight between them against "
               "levels; with --data also "
               "Panda and iiwa"},
    {"fit", "fit every take of DIR: error, gaps, frames per second"},
    {"papers",
     "measure again what the documents measured, as CSV, SVG and one page, papers.html, with a "
     "verdict on each claim; see docs/papers.md"},
    {"opensim",
     "fit OpenSim's takes in DIR and compare with its own motions: objective, angles, time; see "
     "docs/opensim.md"},
    {0}};

static const option option_table[] = {
    {.group = "Input",
     .name = "--data",
     .kind = OPTION_FOLDER,
     .value = "DIR",
     .place = AT(data),
     .help = "solvers and fit: a folder with the folders hdm05 and "
             "cmu; papers: a folder of clips, NAME.amc "
             "beside NAME.c3d (41 markers) and their skeleton, an ASF "
             "file. Without it papers runs on the "
             "built-in example; opensim: a folder with the folders "
             "subject4, gait2354 and gait10"},
    {ROW_FLAG("--quick", AT(quick),
              "solvers: only the first 400 frames of a clip; papers: a "
              "quarter of a minute instead of two")},
    {.name = "--problems",
     .kind = OPTION_INTEGER,
     .value = "N",
     .high = 10000000,
     .standard = "4000",
     .place = AT(problems),
     .help = "solvers: random trees; 0 for none, nor arms"},
    {.group = "Output", ROW_FILE("--csv", NULL, AT(csv), "solvers: write the rows as CSV too")},
    {.name = "--out",
     .letter = "-o",
     .kind = OPTION_FOLDER,
     .value = "DIR",
     .standard = "papers",
     .place = AT(out),
     .help = "papers: the folder to write to"},
    {0}};

static const help_item examples[] = {
    {"sinew bench sweeps", "what an iteration costs on this machine"},
    {"sinew bench papers --quick --out papers", "the documents' figures on the built-in example"},
    {0}};

static int solvers(bench_options *o, const char *csv) {
    output out;
    if (csv == NULL) return bench_solvers(o) ? EXIT_OK : EXIT_FAILED;
    if (!output_open(&out, csv)) return EXIT_FAILED;
    o->csv = out.file;
    bool good = bench_solvers(o);
    bool written = output_close(&out, ferror(out.file) ? SN_ERR_FILE : SN_OK, NULL);
    return good && written ? EXIT_OK : EXIT_FAILED;
}

static bool write_file(const char *path, const void *bytes, size_t length) {
    output out;
    if (!output_open(&out, path)) return false;
    const sn_sink sink = output_sink(&out);
    bool good = sink.write(sink.user, bytes, length);
    return output_close(&out, good ? SN_OK : SN_ERR_FILE, NULL);
}

static int run(int argc, char **argv) {
    settings s = {0};
    const char *word = NULL;
    int nword, code = parse_options(&command_bench, argc, argv, &s, &word, &nword);
    if (code >= 0) return code;
    bench_options o = {.data = s.data, .quick = s.quick, .problems = (int)s.problems};
    if (strcmp(word, "sweeps") == 0) return bench_sweeps() ? EXIT_OK : EXIT_FAILED;
    if (strcmp(word, "solvers") == 0) return solvers(&o, s.csv);
    if (strcmp(word, "levels") == 0) return bench_levels(&o) ? EXIT_OK : EXIT_FAILED;
    if (strcmp(word, "fit") == 0) return bench_fit(s.data);
    if (strcmp(word, "papers") == 0) {
        const papers_options wanted = {
            .data = s.data, .out = s.out, .quick = s.quick, .write = write_file};
        outputs_hold();  // all of them, or none
        code = bench_papers(&wanted);
        bool placed = outputs_release(code == EXIT_OK);
        return code == EXIT_OK && !placed ? EXIT_FAILED : code;
    }
    if (strcmp(word, "opensim") == 0) {
        if (s.data != NULL) return bench_opensim(s.data, true, NULL);
        return wrong_usage(&command_bench, "opensim needs --data DIR");
    }
    return wrong_usage(
        &command_bench,
        "there is no benchmark \"%s\": sweeps, solvers, levels, fit, papers or opensim", word);
}

const command command_bench = {.name = "bench",
                               .summary =
                                   "time the sweeps, compare the solvers, reproduce the papers",
                               .usage = usage,
                               .about = "Measure. Exit with 1 when a target is missed.",
                               .items = items,
                               .options = option_table,
                               .examples = examples,
                               .word = "BENCHMARK",
                               .word_choices = "sweeps solvers levels fit papers opensim",
                               .least_words = 1,
                               .most_words = 1,
                               .run = run};
