// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "fit_imu.h"
#include "fit_many.h"
#include "fit_setup.h"
#include "option_rows.h"
#include "parts.h"
#include "take_page.h"

typedef struct settings {
    fit_settings fit;
    many_settings many;
} settings;

#define FIT(field)  offsetof(settings, fit.field)
#define MANY(field) offsetof(settings, many.field)

static const char *const usage[] = {
    "-m SKELETON -i TAKE -o FILE [-o FILE ...] [options]",
    "--setup Setup_IK.xml [--search DIR] [-m MODEL] [-i TAKE] [-o FILE ...] [options]",
    "--manifest LIST.tsv --out DIR [--shard K/N] [--resume] [options]", NULL};

static const option option_table[] = {
    {.group = "Files", ROW_MODEL(FIT(model), SKELETON_HELP "; \"humanoid\" is built in")},
    {ROW_FILE("--input", "-i", FIT(input), "the markers: C3D, TRC, CSV, STO")},
    {ROW_FILE("--output", "-o", FIT(outputs),
              "the motion, in the format that the ending names: amc, asf, bvh, glb, mot, csv; also "
              "c3d or trc (where "
              "the fitted markers are), json (the figure), html (a page that plays the take)"),
     .many = true},
    {ROW_FILE(
        "--setup", NULL, FIT(setup),
        "a setup of OpenSim's inverse kinematics (or its IKTaskSet alone): model, markers, "
        "weights, coordinate tasks, times, accuracy and output as it says, and nothing added; "
        "-m, -i and -o go before its own")},
    {.name = "--search",
     .kind = OPTION_FOLDER,
     .value = "DIR",
     .many = true,
     .place = FIT(search),
     .help = "look for the setup's files here, too; else beside it"},
    {.name = "--heading",
     .kind = OPTION_TEXT,
     .value = "SENSOR:AXIS",
     .place = FIT(heading),
     .help =
         "orientations of sensors (an STO of quaternions, or a setup of OpenSense): turn them so "
         "that this sensor's axis points ahead, such as pelvis_imu:z or pelvis_imu:-x"},
    {ROW_FLAG("--barrier", FIT(barrier),
              "with --setup: stop where OpenSim's interior-point method does, for models with "
              "constraints; to match old results")},
    {ROW_OUT_UNITS("--out-units", FIT(out_units), OUT_UNITS_HELP)},
    {ROW_FILE("--derivatives", NULL, FIT(derivatives),
              "write velocities and accelerations of the coordinates: sto, mot or csv")},
    {ROW_FILE("--bodies", NULL, FIT(bodies),
              "write where the centres of joints and the centre of mass are: sto, mot or csv")},
    {ROW_FILE("--page", NULL, FIT(page),
              "for html: sinew's page, sinew.html; without it, where make web puts it")},
    {ROW_FILE("--save-model", NULL, FIT(save_model),
              "write the calibrated figure as native JSON, for -m next time")},
    {ROW_FILE("--report", NULL, FIT(report), "write an HTML page with everything about the fit")},
    {ROW_FILE(
        "--truth", NULL, FIT(truth),
        "a motion that is known: print how far the joint angles are off. An AMC of the ASF "
        "that -m names, a "
        "MOT of any model, or a BVH with joints of the same names. One that begins before the "
        "recording is put in step")},

    {.group = "Markers and shape",
     ROW_FILE("--markers", NULL, FIT(markers),
              "which marker sits where: a marker set (sinew markers makes one), an IKTaskSet of "
              "OpenSim (the model's "
              "own markers with its weights), or \"builtin\". Without it: the model's own markers, "
              "or the built-in "
              "set of HDM05, CMU and Plug-in Gait"),
     .choices = "builtin"},
    {ROW_SUBJECT(FIT(subject))},
    {.name = "--calibrate",
     .kind = OPTION_CHOICE,
     .value = "WHAT",
     .choices = "offsets scale none",
     .implied = "offsets",
     .place = FIT(calibrate),
     .help = "find where the markers sit (offsets), or that and a length factor for each bone "
             "(scale). Without this option: offsets where the set gives no positions, and the "
             "length of a chest that has none, as in CMU's BVH files; scale for the built-in "
             "humanoid, for an OSIM model that nobody has scaled yet or whose markers are known by "
             "their labels alone, and with --height or --length"},
    {ROW_TEXT("--static", "FILE|A:B", FIT(still),
              "a static trial for the calibration: a recording of the same session, or frames of "
              "this one, in which the person stands as the model does at rest")},
    {ROW_TEXT("--height", "LENGTH", FIT(height),
              "how tall the person is, 1.81m, to which the bones are scaled")},
    {.name = "--length",
     .kind = OPTION_TEXT,
     .value = "BODY=LENGTH",
     .many = true,
     .place = FIT(lengths),
     .help = "a length that was measured, to which the bones are scaled: from a body's joint to "
             "the next one (femur_r=43cm), between both hips for a pelvis"},

    {.group = "The recording's world",
     ROW_FRAMES(FIT(frames), "fit frames A to B, by their numbers in the file")},
    {ROW_AXIS("--up", FIT(up),
              "the recording's axis that points up, where the file states a wrong one or none")},
    {ROW_UNIT("--units", FIT(units),
              "the recording's unit of length: m, cm, mm, in, ft. Without it a stated unit that "
              "makes the body less "
              "than 0.45 or more than 2.2 times as large as the skeleton is refused")},
    {ROW_AXES(FIT(axes),
              "the recording's axes that become the model's x, y, z, such as yzx. An odd number of "
              "signs turned, such "
              "as -yzx, mirrors a take whose axes are of the wrong hand")},

    {.group = "The fit",
     .name = "--limits",
     .kind = OPTION_CHOICE,
     .value = "WHAT",
     .choices = "auto hard soft off",
     .standard = "auto",
     .place = FIT(limits),
     .help =
         "what the limits of the model's joints do; auto: clamped ranges of an OSIM file are hard "
         "but for where the whole figure is and where arms and legs plainly go further, others off "
         "(real takes break many files' limits)"},
    {ROW_TEXT("--robust", "LOSS", FIT(robust),
              "let markers that are far off count for little: cauchy, huber, or with a length "
              "cauchy:2cm"),
     .choices = "cauchy huber", .implied = "cauchy"},
    {ROW_TEXT("--smooth", "W", FIT(smooth),
              "solve the whole take as one problem with a penalty on joint acceleration; W in "
              "seconds: motion faster "
              "than about 1/(6 W) per second is taken for noise. Try 0.01, halve it while the "
              "marker RMS rises by "
              "more than a third")},
    {ROW_TEXT("--max-error", "LENGTH", FIT(max_error),
              "exit with 4 when frames stay above this RMS error: 2cm, 5mm; a number alone is in "
              "metres")},
    {ROW_TEXT("--threads", "N", FIT(threads), "threads; the result is the same for any number"),
     .letter = "-j", .standard = "1"},
    {.name = "--device",
     .kind = OPTION_CHOICE,
     .value = "DEVICE",
     .choices = "auto cpu opencl",
     .standard = "cpu",
     .place = FIT(device),
     .help =
         "where frames are followed: this processor, with the same numbers on every machine, or a "
         "device that sinew info --devices lists; auto takes a GPU for a million frames and more. "
         "This processor looks at each of them and does all else"},

    SOLVER_OPTIONS(FIT(solver), "100", "1e-3"),

    {.group = "Many takes",
     .name = "--manifest",
     .kind = OPTION_FILE,
     .value = "LIST.tsv",
     .place = MANY(manifest),
     .help = "fit all takes of a list: lines of SKELETON, RECORDING and, if you like, a NAME, "
             "separated by tabs. "
             "Prints a JSON line for each"},
    {.name = "--out",
     .kind = OPTION_FOLDER,
     .value = "DIR",
     .place = MANY(out),
     .help = "where their files go: DIR/NAME.FORMAT"},
    {ROW_TEXT("--formats", "LIST", MANY(formats),
              "what to write of each, such as amc,glb,html; html is the report"),
     .standard = "bvh"},
    {ROW_TEXT("--shard", "K/N", MANY(shard),
              "only every N-th take from the K-th on; a Slurm array job sets it by itself")},
    {ROW_FLAG("--resume", MANY(resume), "leave out takes whose files are all there")},

    {.group = "Messages", ROW_FLAG("--json", FIT(json), "the summary as JSON")},
    {ROW_FLAG("--quiet", FIT(quiet), "no progress on the terminal")},
    {0}};

static const help_item examples[] = {
    {"sinew fit -m skeleton.asf -i take.c3d -o take.bvh -o take.glb --report report.html",
     "a motion in two formats, and a page about the fit"},
    {"sinew fit -m humanoid -i take.c3d --save-model ann.json -o take.bvh --out-units cm",
     "the built-in figure, scaled to Ann, in centimetres"},
    {"sinew fit --manifest takes.tsv --out fits --formats bvh,html --resume",
     "a folder of takes; safe to run again"},
    {0}};

static void cancel(void) { fit_cancelled = true; }

// With all files named.
static int fit_named(fit_settings s, const many_settings *many) {
    bool several = many->manifest != NULL;
    if (!several && (s.model == NULL || s.input == NULL)) {
        return wrong_usage(&command_fit, "a skeleton (-m) and a recording (-i) are needed");
    }
    for (int i = 0; i < s.outputs.count; i++) {
        const char *name = s.outputs.word[i];
        if (!is_page_name(name) && sn_format_of_name(name) == SN_FORMAT_UNKNOWN) {
            fprintf(
                stderr,
                "sinew fit: -o %s: its ending must be one of asf, amc, bvh, c3d, trc, mot, sto, "
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
    if (!several && is_imu_take(&s)) return fit_imu(&s, &plan);
    if (s.heading != NULL)
        return wrong_usage(&command_fit, "--heading is about orientations of sensors");
    if (several) return fit_many(many, &s, &plan);
    fit_result result;
    int code = fit_take(&s, &plan, &result);
    if (code == EXIT_OK || code == EXIT_POOR) {
        (s.json ? print_fit_json : print_fit_text)(&result);
        print_fit_warnings(&result);
    } else if (s.json && !fit_cancelled) {
        print_fit_failure(&result, code);
    }
    free_result(&result);
    return code;
}

static int run(int argc, char **argv) {
    settings all = {0};
    int nword, code = parse_options(&command_fit, argc, argv, &all, NULL, &nword);
    if (code >= 0) return code;
    fit_settings s = all.fit;
    many_settings many = all.many;
    bool several = many.manifest != NULL;
    if (several && (s.model != NULL || s.input != NULL || s.outputs.count > 0 || many.out == NULL ||
                    s.report != NULL || s.save_model != NULL)) {
        return wrong_usage(&command_fit,
                           "--manifest needs --out DIR and goes without -m, -i, -o, --report and "
                           "--save-model: --formats says what is written");
    }
    if (!several && (many.out != NULL || many.shard != NULL || many.resume)) {
        return wrong_usage(&command_fit, "--out, --shard and --resume belong to --manifest");
    }
    if (s.search.count > 0 && s.setup == NULL)
        return wrong_usage(&command_fit, "--search belongs to --setup");
    if (s.barrier && s.setup == NULL)
        return wrong_usage(&command_fit, "--barrier belongs to --setup");
    if (several && (s.derivatives != NULL || s.bodies != NULL))
        return wrong_usage(&command_fit,
                           "--derivatives and --bodies name one file: without --manifest");
    const char *tables[] = {s.derivatives, s.bodies};
    for (int i = 0; i < 2; i++) {
        sn_format format = sn_format_of_name(tables[i]);
        if (tables[i] != NULL && format != SN_FORMAT_MOT && format != SN_FORMAT_CSV)
            return wrong_usage(&command_fit, "%s: its ending must be one of sto, mot, csv",
                               tables[i]);
    }
    if (several && s.setup != NULL)
        return wrong_usage(&command_fit, "--setup names one take: it goes without --manifest");
    setup_names names = {0};
    if (s.setup != NULL && !name_setup_files(&s, &names)) return EXIT_INPUT;
    code = fit_named(s, &many);
    free_setup_names(&names);
    return code;
}

const command command_fit = {.name = "fit",
                             .summary = "find a skeleton's motion from a recording of markers",
                             .usage = usage,
                             .about = "Find the motion of a skeleton from a recording of markers.",
                             .options = option_table,
                             .examples = examples,
                             .run = run};
