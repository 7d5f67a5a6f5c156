// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "papers.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const words[] = {"holds", "holds partly", "does not hold"};
static const char *const kinds[] = {"good", "partly", "bad"};

void papers_progress(papers *p, const char *what) {
    if (p->shows) fprintf(stderr, "\r\033[K[%d/%d] %s", p->step, p->nstep, what);
}

void papers_file(papers *p, const char *name, plot_text *text) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", p->out, name);
    if (text->failed) fprintf(stderr, "sinew: %s: out of memory\n", path);
    if (text->failed || !p->write(path, text->data, text->length)) p->failed = true;
    plot_text_free(text);
}

void papers_figure(papers *p, const char *name, const plot_figure *figure, const char *caption) {
    plot_text svg = {0};
    char file[128];
    (void)snprintf(file, sizeof file, "%s.svg", name);
    plot_figure_svg(&svg, figure, true);
    papers_file(p, file, &svg);
    page_figure(&p->body, figure, caption);
}

static void format_row(papers *p, const char *format, va_list list) {
    char text[2048];
    p->row.length = 0;
    (void)vsnprintf(text, sizeof text, format, list);
    plot_raw(&p->row, text);
}

void papers_section(papers *p, const char *id, const char *title) {
    p->section = id;
    page_section(&p->body, id, title);
}

void papers_row(papers *p, const char *format, ...) {
    va_list list;
    const char *cells[24];
    int n = 0;
    va_start(list, format);
    format_row(p, format, list);
    va_end(list);
    for (char *at = p->row.data; at != NULL && n < 24;) {
        cells[n++] = at;
        at = strchr(at, '|');
        if (at != NULL) *at++ = '\0';
    }
    page_table_row(&p->body, cells, n);
}

void papers_text(papers *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    format_row(p, format, list);
    va_end(list);
    page_paragraph(&p->body, p->row.data);
}

void papers_claim(papers *p, const char *id, const char *source, const char *claim,
                  papers_verdict verdict, const char *format, ...) {
    va_list list;
    plot_text box = {0};
    va_start(list, format);
    format_row(p, format, list);
    va_end(list);
    p->counts[verdict]++;
    plot_add(&box, "%s says: ", source);
    plot_escaped(&box, claim);
    plot_add(&box, "<br><b>%s</b>", words[verdict]);
    plot_escaped(&box, p->row.data);
    page_verdict(&p->body, kinds[verdict], box.data);
    plot_text_free(&box);
    plot_add(&p->verdicts, "<tr><td><a href=\"#%s\">%s</a></td><td>", p->section, source);
    plot_escaped(&p->verdicts, claim);
    plot_add(&p->verdicts, "</td><td class=\"%s\"><b>%s</b></td><td>", kinds[verdict],
             words[verdict]);
    plot_escaped(&p->verdicts, p->row.data);
    plot_raw(&p->verdicts, "</td></tr>\n");
    plot_add(&p->csv, "%s,\"%s\",%s,\"", id, source, words[verdict]);
    for (const char *c = claim; *c != '\0'; c++)
        plot_add(&p->csv, "%s%c", *c == '"' ? "\"" : "", *c);
    plot_raw(&p->csv, "\",\"");
    for (const char *c = p->row.data; *c != '\0'; c++)
        plot_add(&p->csv, "%s%c", *c == '"' ? "\"" : "", *c);
    plot_raw(&p->csv, "\"\n");
}

papers_verdict papers_share(int good, int of) {
    return good == of ? PAPERS_HOLDS : 2 * good >= of ? PAPERS_PARTLY : PAPERS_NOT;
}

double papers_time(papers_job run, void *user, int rounds) {
    double begin = bench_seconds(), least = INFINITY;
    run(user);
    int n = (int)(1e-3 / (bench_seconds() - begin + 1e-9)) + 1;
    for (int k = 0; k < rounds; k++) {
        begin = bench_seconds();
        for (int i = 0; i < n; i++) run(user);
        least = fmin(least, (bench_seconds() - begin) / n);
    }
    return least;
}

double papers_mean(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return n > 0 ? sum / n : NAN;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double papers_median(const double *x, int n) {
    double *v = bench_numbers((size_t)n);
    memcpy(v, x, (size_t)n * sizeof *v);
    qsort(v, (size_t)n, sizeof *v, compare);
    double median = plot_quantile(v, n, 0.5);
    free(v);
    return median;
}

const papers_method papers_exact = {"exact (001's newton-pcg)", SN_METHOD_NEWTON_PCG, 24, true,
                                    true};

bool papers_has_higham(void) { return sn_method_available(SN_METHOD_PINV); }

sn_solver_options papers_solver(const papers_method *method, int iterations, double goal) {
    sn_solver_options o = sn_solver_options_default();
    o.method = method->method;
    o.max_iterations = iterations;
    o.goal = goal;
    o.gradient = 1e-12;
    o.bandwidth = method->bandwidth;
    o.pcg_tolerance = 0.1;
    o.pcg_constant = method->constant;
    o.nearest_psd = method->higham;
    return o;
}

const char *papers_cell(const char *text) {
    static char cells[4][256];
    static int turn;
    if (strpbrk(text, ",\"\n") == NULL) return text;
    char *to = cells[turn++ % 4];
    size_t n = 0;
    to[n++] = '"';
    for (; *text != '\0' && n < sizeof cells[0] - 3; text++) {
        if (*text == '"') to[n++] = '"';
        to[n++] = *text;
    }
    to[n++] = '"';
    to[n] = '\0';
    return to;
}

static void record(void *user, const sn_trace *trace) {
    papers_trace *t = user;
    if (t->n >= (int)(sizeof t->f / sizeof t->f[0])) return;
    t->gradient[t->n] = trace->gradient;
    t->f[t->n++] = 1e4 * trace->f;
    t->exact += trace->exact;
    t->indefinite += trace->indefinite;
}

void papers_solve(sn_problem *problem, const sn_solver_options *options, double *q,
                  papers_trace *out) {
    sn_solver_options o = *options;
    sn_solver *solver = NULL;
    sn_workspace *ws = NULL;
    *out = (papers_trace){.n = 1};
    (void)sn_workspace_create(problem, false, NULL, &ws, NULL);
    (void)sn_workspace_eval(bench_need(ws), q, 0, &out->f[0]);
    sn_workspace_destroy(ws);
    out->f[0] *= 1e4;
    o.trace = record;
    o.trace_user = out;
    (void)sn_solver_create(problem, &o, NULL, &solver, NULL);
    double begin = bench_seconds();
    (void)sn_solver_solve(bench_need(solver), q, &out->report);
    out->micros = 1e6 * (bench_seconds() - begin);
    sn_solver_destroy(solver);
}

static void write_page(papers *p, double seconds) {
    plot_text page = {0}, head = {0};
    const char *const heads[] = {"where", "claim", "verdict", "measured"};
    plot_add(&head,
             "What the five documents measured, measured again by <code>sinew bench papers</code> "
             "(docs/papers.md lists which of their tables and figures are made again and which are "
             "not), with what they printed beside it and a verdict in words for each claim, by the "
             "document's own words and method. %d claims hold, %d hold partly, %d do not. This was "
             "%s run "
             "of %.0f s. Times are processor time of one core of this machine and noisy; counts "
             "are not.",
             p->counts[0], p->counts[1], p->counts[2], p->quick ? "a quick" : "a full", seconds);
    if (p->example)
        plot_raw(
            &head,
            "</p><p><b>No recordings were given (<code>--data</code>), so everything runs on "
            "the built-in example, a walk with a cartwheel (<code>sinew example</code>):</b> the "
            "numbers printed in the documents belong to real clips and are set beside it for "
            "orientation only.");
    page_begin(&page, "The documents, reproduced", head.data);
    page_section(&page, "verdicts", "Verdicts");
    page_table_begin(&page, "000 … 004 are the documents' numbers in docs/papers.md", heads, 4);
    plot_raw(&page, p->verdicts.data);
    page_table_end(&page);
    plot_raw(&page, p->body.data);
    page_end(&page);
    if (p->body.failed || p->verdicts.failed || head.failed) page.failed = true;
    papers_file(p, "papers.html", &page);
    plot_text_free(&head);
}

static void describe_data(papers *p) {
    const char *const heads[] = {"clip", " frames", " rate, Hz", " degrees of freedom", " markers"};
    papers_section(p, "data", "What it runs on");
    page_table_begin(&p->body, "clips", heads, 5);
    for (int i = 0; i < p->nclip; i++)
        papers_row(p, "%s|%d|%.0f|%d|%d", p->clips[i].name, p->clips[i].nframe, p->clips[i].rate,
                   sn_model_nv(p->clips[i].model), CLIP_MARKERS);
    page_table_end(&p->body);
    if (p->skipped > 0)
        papers_text(p,
                    "Left out: %d motions or recordings of the folder that have no partner of the "
                    "same name, no skeleton, or not the 41 markers.",
                    p->skipped);
}

typedef struct section {
    const char *name;
    void (*run)(papers *p);
} section;

static const section sections[] = {
    {"001 Table 3", papers_table3},
    {"001 Table 4", papers_table4},
    {"001 Figs. 3, 4, 5, 7", papers_convergence},
    {"001 Fig. 8", papers_pcg},
    {"001 Figs. A.9, A.10", papers_definiteness},
    {"001 section 7", papers_open_question},
    {"002 Figs. 6 to 10", papers_interactive},
    {"003 section 2", papers_jacobians},
    {"003 Fig. 8", papers_linear},
    {"004 section 4", papers_chains},
    {"cost", papers_cost},
};

static void release(papers *p) {
    for (int i = 0; i < p->nclip; i++) {
        free(p->offsets[i]);
        clip_free(&p->clips[i]);
    }
    plot_text_free(&p->body);
    plot_text_free(&p->verdicts);
    plot_text_free(&p->csv);
    plot_text_free(&p->row);
}

int bench_papers(const papers_options *options) {
    papers p = {.quick = options->quick,
                .out = options->out,
                .write = options->write,
                .shows = isatty(2) == 1};
    double begin = bench_seconds();
    if (mkdir(p.out, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "sinew: the folder %s cannot be made\n", p.out);
        return 1;
    }
    if (!papers_load(&p, options->data)) {
        fprintf(
            stderr,
            "sinew: no clip under %s: a clip is NAME.amc beside NAME.c3d (41 markers) with their "
            "skeleton, an ASF file\n",
            options->data);
        release(&p);
        return 3;
    }
    p.nstep = (int)(sizeof sections / sizeof sections[0]);
    plot_raw(&p.csv, "id,where,verdict,claim,measured\n");
    describe_data(&p);
    papers_choose_frames(&p);
    for (int i = 0; i < p.nstep; i++) {
        p.step = i + 1;
        papers_progress(&p, sections[i].name);
        sections[i].run(&p);
    }
    write_page(&p, bench_seconds() - begin);
    papers_file(&p, "verdicts.csv", &p.csv);
    if (p.shows) fputs("\r\033[K", stderr);
    printf("%s/papers.html: %d claims hold, %d hold partly, %d do not%s\n", p.out, p.counts[0],
           p.counts[1], p.counts[2], p.example ? "; on the built-in example, give --data" : "");
    release(&p);
    return p.failed ? 1 : 0;
}
