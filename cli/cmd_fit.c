// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "fit_many.h"
#include "parts.h"
#include "take_page.h"

static const char help[] =
    "usage: sinew fit -m SKELETON -i TAKE -o FILE [-o FILE ...] [options]\n"
    "       sinew fit --manifest LIST.tsv --out DIR [--shard K/N] [--resume] [options]\n\n"
    "Finds the motion of a skeleton from a recording of markers.\n\n"
    "  -m, --model FILE      the skeleton: ASF, BVH, GLB, URDF, OSIM or a native JSON model; \"humanoid\" is built in\n"
    "  -i, --input FILE      the markers: C3D, TRC, CSV, STO\n"
    "  -o, --output FILE     the motion, as its ending says: amc, asf, bvh, glb, mot, csv; also c3d or trc\n"
    "                        (where the fitted markers are), json (the figure), html (a page that plays the\n"
    "                        take). As often as you like\n"
    "  --page FILE           for html: sinew's page, sinew.html; without it, where make web puts it\n"
    "  --markers FILE        which marker sits where: a marker set (sinew markers makes one). Without it:\n"
    "                        the model's own markers, or the built-in set of HDM05, CMU and Plug-in Gait. An\n"
    "                        IKTaskSet of OpenSim: the model's own markers with its weights\n"
    "  --calibrate[=WHAT]    find marker offsets, or with =scale also a length factor for each bone. Done\n"
    "                        by itself where the set gives no positions; =none: not even then\n"
    "  --save-model FILE     the calibrated figure as native JSON, to be given to -m next time\n"
    "  --limits WHAT         hard, soft or off (the default: real takes break many files' limits)\n"
    "  --robust[=LOSS]       markers far off count for little: cauchy (the default), huber, cauchy:2cm\n"
    "  --smooth W            the whole take as one problem with a penalty on joint acceleration; W in\n"
    "                        seconds: motion faster than about 1/(6 W) per second is taken for noise. Try\n"
    "                        0.01, halve it while the marker RMS rises by more than a third\n"
    "  --solver NAME         hybrid, newton, lm, ...\n"
    "  --frames A:B          only these, by their numbers in the file\n"
    "  --up AXIS             the recording's axis that points up, where it is stated wrong or not at all\n"
    "  --units UNIT          the recording's unit of length: m, cm, mm, in, ft. Without it a stated unit that\n"
    "                        makes the body less than 0.45 or more than 2.2 times as large as the skeleton is\n"
    "                        refused\n"
    "  --axes WORD           the recording's axes that become the model's x, y, z: yzx. An odd number of\n"
    "                        signs turned, such as -yzx, mirrors a take whose axes are of the wrong hand\n"
    "  --subject NAME        of several in the file: the part of the labels before the colon\n"
    "  --max-error LENGTH    exit with 4 when frames stay above this RMS error: 2cm, 5mm; a number alone is\n"
    "                        in metres\n"
    "  --truth FILE          a motion that is known: print how far the joint angles are off. An AMC of the\n"
    "                        ASF that -m names, a MOT of any model, or a BVH with joints of the same names\n"
    "  --report FILE         an HTML page with everything about the fit\n"
    "  -j N                  threads; the result is the same for any number\n"
    "  --manifest LIST.tsv   many takes: lines of SKELETON, RECORDING and, if you like, a NAME, parted by\n"
    "                        tabs; a JSON line each on standard output\n"
    "  --out DIR             where their files go: DIR/NAME.FORMAT\n"
    "  --formats LIST        of them, default bvh; html is the report: amc,glb,html\n"
    "  --shard K/N           only every N-th take from the K-th on; by itself in a Slurm array job\n"
    "  --resume              leave out takes whose files are all there\n"
    "  --json                the summary as JSON\n"
    "  --quiet               no progress on the terminal\n";

static void cancel(void) { fit_cancelled = true; }

static int run(int argc, char **argv) {
    fit_settings s = {0};
    many_settings many = {.formats = "bvh"};
    const option options[] = {VALUE("--model", "-m", &s.model),
                              VALUE("--input", "-i", &s.input),
                              LIST("--output", "-o", &s.outputs),
                              VALUE("--markers", NULL, &s.markers),
                              MAYBE("--calibrate", &s.calibrate, "offsets"),
                              VALUE("--save-model", NULL, &s.save_model),
                              VALUE("--limits", NULL, &s.limits),
                              MAYBE("--robust", &s.robust, "cauchy"),
                              VALUE("--smooth", NULL, &s.smooth),
                              VALUE("--solver", NULL, &s.solver),
                              VALUE("--frames", NULL, &s.frames),
                              VALUE("--up", NULL, &s.up),
                              VALUE("--units", NULL, &s.units),
                              VALUE("--axes", NULL, &s.axes),
                              VALUE("--subject", NULL, &s.subject),
                              VALUE("--truth", NULL, &s.truth),
                              VALUE("--max-error", NULL, &s.max_error),
                              VALUE("--report", NULL, &s.report),
                              VALUE("--page", NULL, &s.page),
                              VALUE("--threads", "-j", &s.threads),
                              VALUE("--manifest", NULL, &many.manifest),
                              VALUE("--out", NULL, &many.out),
                              VALUE("--formats", NULL, &many.formats),
                              VALUE("--shard", NULL, &many.shard),
                              FLAG("--resume", &many.resume),
                              FLAG("--json", &s.json),
                              FLAG("--quiet", &s.quiet),
                              {0}};
    int nword, code = parse_options(&command_fit, argc, argv, options, NULL, 0, &nword);
    if (code >= 0) return code;
    bool several = many.manifest != NULL;
    if (several && (s.model != NULL || s.input != NULL || s.outputs.count > 0 || many.out == NULL ||
                    s.report != NULL || s.save_model != NULL)) {
        fputs("sinew fit: --manifest needs --out DIR and goes without -m, -i, -o, --report and --save-model: "
              "--formats says what is written\n",
              stderr);
        return EXIT_USAGE;
    }
    if (!several && (many.out != NULL || many.shard != NULL || many.resume)) {
        fputs("sinew fit: --out, --shard and --resume belong to --manifest\n", stderr);
        return EXIT_USAGE;
    }
    if (!several && (s.model == NULL || s.input == NULL)) {
        fputs("sinew fit: a skeleton (-m) and a recording (-i) are needed; see sinew fit --help\n", stderr);
        return EXIT_USAGE;
    }
    for (int i = 0; i < s.outputs.count; i++) {
        const char *name = s.outputs.word[i];
        if (!is_page_name(name) && sn_format_of_name(name) == SN_FORMAT_UNKNOWN) {
            fprintf(stderr, "sinew fit: -o %s: its ending must be one of asf, amc, bvh, c3d, trc, mot, sto, "
                            "csv, glb, json, html\n",
                    name);
            return EXIT_USAGE;
        }
        // before the work, not after it
        char *page = is_page_name(name) ? find_page(s.page) : NULL;
        if (is_page_name(name) && page == NULL) return EXIT_INPUT;
        free(page);
    }
    sn_take_options plan;
    if (!make_plan(&s, &plan)) return EXIT_USAGE;
    parts_ask_first(cancel);
    if (several) return fit_many(&many, &s, &plan);
    fit_result result;
    code = fit_take(&s, &plan, &result);
    if (code == EXIT_OK || code == EXIT_POOR) {
        (s.json ? print_fit_json : print_fit_text)(&result);
        print_fit_warnings(&result);
    }
    free_result(&result);
    return code;
}

const command command_fit = {"fit", "find a skeleton's motion from a recording of markers", help, run};
