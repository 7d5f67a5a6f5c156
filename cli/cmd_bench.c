// SPDX-License-Identifier: MIT
#include <string.h>

#include "fit_take.h"
#include "output.h"
#include "papers.h"
#include "solvers.h"
#include "sweeps.h"

static const char help[] =
    "usage: sinew bench sweeps\n"
    "       sinew bench solvers [--data DIR] [--csv FILE] [--quick] [--problems N]\n"
    "       sinew bench fit --data DIR\n"
    "       sinew bench papers [--data DIR] [--out DIR] [--quick]\n\n"
    "sweeps: times the sweeps on the built-in humanoid (58 degrees of freedom, 41 markers) "
    "against\n"
    "each other and against the documents' Algorithms 3 and 4; what is judged are ratios within "
    "this\n"
    "one run.\n"
    "solvers: all solvers on real clips (DIR has the folders hdm05 and cmu) by the protocols of\n"
    "docs/solvers.md, and on random trees.\n"
    "Exit 1 when a target is missed.\n"
    "fit: sinew fit on every take there is: error, gaps, frames per second.\n"
    "papers: what the documents measured, measured again, as CSV, SVG and one page papers.html "
    "with\n"
    "what they printed beside what is measured and a verdict on each claim; see docs/papers.md.\n"
    "DIR is any folder of clips: NAME.amc beside NAME.c3d (41 markers) and their skeleton, an ASF\n"
    "file. Without --data it runs on the built-in example.\n\n"
    "  --csv FILE   solvers: the rows as CSV too\n"
    "  --out DIR    papers: where the files go, default papers\n"
    "  --quick      solvers: the first 400 frames of a clip; papers: a quarter of a minute, not "
    "two\n"
    "  --problems N solvers: random trees, default 2000\n";

static int solvers(bench_options *o, const char *csv) {
    output out;
    if (csv == NULL) return bench_solvers(o) ? EXIT_OK : EXIT_FAILED;
    if (!output_open(&out, csv)) return EXIT_FAILED;
    o->csv = out.file;
    bool good = bench_solvers(o);
    bool written = output_close(&out, ferror(out.file) ? SN_ERR_FILE : SN_OK, NULL);
    return good && written ? EXIT_OK : EXIT_FAILED;
}

static int run(int argc, char **argv) {
    bench_options o = {0};
    const char *problems = "2000", *out = "papers", *csv = NULL;
    const option options[] = {VALUE("--data", NULL, &o.data),
                              VALUE("--csv", NULL, &csv),
                              VALUE("--out", NULL, &out),
                              FLAG("--quick", &o.quick),
                              VALUE("--problems", NULL, &problems),
                              {0}};
    const char *word = NULL;
    long count;
    int nword, code = parse_options(&command_bench, argc, argv, options, &word, 1, &nword);
    if (code >= 0) return code;
    if (!parse_integer("--problems", problems, 0, 10000000, &count)) return EXIT_USAGE;
    o.problems = (int)count;
    if (nword == 1 && strcmp(word, "sweeps") == 0) return bench_sweeps() ? EXIT_OK : EXIT_FAILED;
    if (nword == 1 && strcmp(word, "solvers") == 0) return solvers(&o, csv);
    if (nword == 1 && strcmp(word, "fit") == 0) return bench_fit(o.data);
    if (nword == 1 && strcmp(word, "papers") == 0) {
        const papers_options wanted = {.data = o.data, .out = out, .quick = o.quick};
        return bench_papers(&wanted);
    }
    fputs(help, stderr);
    return EXIT_USAGE;
}

const command command_bench = {
    "bench", "time the sweeps, compare the solvers, reproduce the papers", help, run};
