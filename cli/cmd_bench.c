// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L  // readlink
#include <string.h>
#include <unistd.h>

#include "arm_solver.h"
#include "batch.h"
#include "figure.h"
#include "fit_take.h"
#include "opensim.h"
#include "option_rows.h"
#include "output.h"
#include "papers.h"
#include "solvers.h"
#include "sweeps.h"

typedef struct settings {
    const char *data, *clip, *csv, *out, *model, *tip, *peer, *device;
    bool quick;
    long problems;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {
    "sweeps",
    "solvers [--data DIR [--clip NAME]] [--csv FILE] [--quick] [--problems N]",
    "fit --data DIR [--problems N]",
    "levels [--data DIR] [--problems N]",
    "body --data DIR",
    "papers [--data DIR] [--out DIR] [--quick]",
    "opensim --data DIR",
    "arms [-m MODEL --tip LINK] [--problems N] [--peer PROGRAM]",
    "batch [--data DIR] [--device cpu|opencl]",
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
    {"body",
     "a humanoid (DIR/mjcf/g1.xml) at a thousand servo ticks a second: time, limits, errors"},
    {"fit",
     "fit every take of DIR: error, gaps, frames per second, joints that jump; and ten minutes of "
     "the example from file to file"},
    {"papers",
     "measure again what the documents measured, as CSV, SVG and one page, papers.html, with a "
     "verdict on each claim; see docs/papers.md"},
    {"opensim",
     "fit OpenSim's takes in DIR and compare with its own motions: objective, angles, time; see "
     "docs/opensim.md"},
    {"arms",
     "solve random goals with the arm solver: Panda, iiwa 14, UR5, UR10, Kinova, Fetch, or a chain "
     "of MODEL; with KDL beside it where `sinew_kdl_peer` was built"},
    {"batch", "many problems at once: a clip of DIR in the lanes of this processor against the "
              "plain solver, "
              "arms, threads; with --device opencl the humanoid on a device; see docs/batch.md"},
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
    {.name = "--clip",
     .kind = OPTION_TEXT,
     .value = "NAME",
     .place = AT(clip),
     .help = "solvers: only the clip of this name, or of a name with this in it, and neither trees "
             "nor arms"},
    {ROW_FLAG("--quick", AT(quick),
              "solvers: only the first 400 frames of a clip; papers: a "
              "quarter of a minute instead of two")},
    {.name = "--problems",
     .kind = OPTION_INTEGER,
     .value = "N",
     .high = 10000000,
     .place = AT(problems),
     .help = "solvers: random trees, 4000 by default, 0 for none, nor arms; arms: goals of each "
             "kind, 10000 by default; fit: markers of each take that are spoiled in turn, 3 by "
             "default, 99 for all (half an hour)"},
    {.name = "--model",
     .letter = "-m",
     .kind = OPTION_FILE,
     .value = "FILE",
     .place = AT(model),
     .help = "arms: a robot of any format, instead of the built-in arms"},
    {.name = "--tip",
     .kind = OPTION_TEXT,
     .value = "LINK",
     .place = AT(tip),
     .help = "arms: the link of MODEL that shall reach the goals"},
    {.name = "--peer",
     .kind = OPTION_FILE,
     .value = "PROGRAM",
     .place = AT(peer),
     .help = "arms: the program that solves the same with KDL, batch: with Ceres; without it "
             "sinew_kdl_peer and sinew_ceres_peer in the program's own folder"},
    {.name = "--device",
     .kind = OPTION_CHOICE,
     .value = "DEVICE",
     .choices = "cpu opencl",
     .standard = "cpu",
     .place = AT(device),
     .help = "batch: what is measured"},
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
    {"sinew bench solvers --data DIR --clip mm_01-02_03", "every method on one clip"},
    {"sinew bench papers --quick --out papers", "the documents' figures on the built-in example"},
    {"sinew bench arms --problems 1000000", "a million goals an arm"},
    {"sinew bench arms -m panda.urdf --tip panda_hand_tcp", "an arm of your own"},
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

// Beside the program; NULL when the system does not say where that is.
static const char *find_peer(const char *name, char *room, size_t size) {
    ssize_t n = readlink("/proc/self/exe", room, size - 1);
    if (n <= 0) return NULL;
    room[n] = '\0';
    char *slash = strrchr(room, '/');
    if (slash == NULL || (size_t)(slash - room) + strlen(name) + 2 > size) return NULL;
    memcpy(slash + 1, name, strlen(name) + 1);
    return room;
}

static int arms(const settings *s) {
    char room[1024];
    if ((s->model == NULL) != (s->tip == NULL))
        return wrong_usage(&command_bench, "-m MODEL and --tip LINK go together");
    arms_options o = {.problems = s->problems >= 1 ? (int)s->problems : 10000, .tip = s->tip};
    o.peer = s->peer != NULL ? s->peer : find_peer("sinew_kdl_peer", room, sizeof room);
    figure holder;
    if (s->model != NULL) o.model = load_model(s->model, &holder);
    if (s->model != NULL && o.model == NULL) return EXIT_INPUT;
    bool good = bench_arm_solver(&o);
    if (s->model != NULL) free_figure(&holder);
    return good ? EXIT_OK : EXIT_FAILED;
}

static int run(int argc, char **argv) {
    settings s = {.problems = -1};
    const char *word = NULL;
    int nword, code = parse_options(&command_bench, argc, argv, &s, &word, &nword);
    if (code >= 0) return code;
    if (s.clip != NULL && (s.data == NULL || strcmp(word, "solvers") != 0))
        return wrong_usage(&command_bench, "--clip is for solvers --data DIR");
    bench_options o = {.data = s.data,
                       .clip = s.clip,
                       .quick = s.quick,
                       .problems = s.problems >= 0 ? (int)s.problems : 4000};
    if (strcmp(word, "sweeps") == 0) return bench_sweeps() ? EXIT_OK : EXIT_FAILED;
    if (strcmp(word, "solvers") == 0) return solvers(&o, s.csv);
    if (strcmp(word, "levels") == 0) return bench_levels(&o) ? EXIT_OK : EXIT_FAILED;
    if (strcmp(word, "body") == 0) return bench_body(&o) ? EXIT_OK : EXIT_FAILED;
    if (strcmp(word, "fit") == 0) return bench_fit(s.data, s.problems >= 0 ? (int)s.problems : 3);
    if (strcmp(word, "arms") == 0) return arms(&s);
    if (strcmp(word, "papers") == 0) {
        const papers_options wanted = {
            .data = s.data, .out = s.out, .quick = s.quick, .write = write_file};
        outputs_hold();  // all of them, or none
        code = bench_papers(&wanted);
        bool placed = outputs_release(code == EXIT_OK);
        return code == EXIT_OK && !placed ? EXIT_FAILED : code;
    }
    if (strcmp(word, "batch") == 0) {
        char room[1024];
        const bench_batch_options wanted = {
            .data = s.data,
            .peer = s.peer != NULL ? s.peer : find_peer("sinew_ceres_peer", room, sizeof room),
            .judged = true};
        bool device = s.device != NULL && strcmp(s.device, "opencl") == 0;
        if (!device && s.data == NULL)
            return wrong_usage(&command_bench, "batch needs --data DIR, or --device opencl");
        return (device ? bench_batch_device(&wanted) : bench_batch(&wanted)) ? EXIT_OK
                                                                             : EXIT_FAILED;
    }
    if (strcmp(word, "opensim") == 0) {
        if (s.data != NULL) return bench_opensim(s.data, true, NULL);
        return wrong_usage(&command_bench, "opensim needs --data DIR");
    }
    return wrong_usage(&command_bench,
                       "there is no benchmark \"%s\": sweeps, solvers, levels, body, fit, papers, "
                       "opensim, arms or batch",
                       word);
}

const command command_bench = {
    .name = "bench",
    .summary = "time the sweeps, compare the solvers, reproduce the papers, race arms",
    .usage = usage,
    .about = "Measure. Exit with 1 when a target is missed.",
    .items = items,
    .options = option_table,
    .examples = examples,
    .word = "BENCHMARK",
    .word_choices = "sweeps solvers levels body fit papers opensim arms batch",
    .least_words = 1,
    .most_words = 1,
    .run = run};
