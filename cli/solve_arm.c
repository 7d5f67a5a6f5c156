// SPDX-License-Identifier: MIT
#include "solve_arm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/number.h"
#include "output.h"
#include "solve_rows.h"

enum { MOST_ALL = SN_ARM_SOLUTIONS, MOST_PATH = 200000 };

bool wants_arm(const arm_settings *s) {
    return s->tip != NULL || s->goal != NULL || s->goals != NULL || s->path != NULL;
}

// "a,b,c": how many numbers, -1 when something else is there.
static int numbers_in(const char *text, double *out, int most) {
    int n = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        double x;
        if (n == most || !sn_number_parse(text, length, &x)) return -1;
        out[n++] = x;
        if (text[length] == '\0') return n;
        text += length + 1;
    }
}

static bool is_rotation(const double *q) {
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-200;
}

// "x,y,z" or "x,y,z,qw,qx,qy,qz": how many numbers; 0 after a message.
static int pose_in(const command *self, const char *option_name, const char *text, double out[7]) {
    int n = numbers_in(text, out, 7);
    if (n != 3 && n != 7) {
        (void)wrong_usage(self, "%s \"%s\": it needs the numbers x,y,z or x,y,z,qw,qx,qy,qz",
                          option_name, text);
        return 0;
    }
    if (is_rotation(out + 3)) return n;
    (void)wrong_usage(self, "%s \"%s\": the quaternion qw,qx,qy,qz is no rotation", option_name,
                      text);
    return 0;
}

// The links and joints, for a name that is none of them.
static void explain_name(const sn_model *model, const char *name) {
    int nj = sn_model_njoint(model), nm = sn_model_nmarker(model);
    const char **names = must_alloc((size_t)(nj + nm) + 1, sizeof *names);
    for (int i = 0; i < nm; i++) names[i] = sn_model_marker(model, i)->name;
    for (int i = 0; i < nj; i++) names[nm + i] = sn_model_joint(model, i)->name;
    int near = sn_nearest_name(name, names, nm + nj);
    complain("%s has no link or joint \"%s\"%s%s%s", sn_model_name(model), name,
             near >= 0 ? "; did you mean \"" : "; sinew info lists them",
             near >= 0 ? names[near] : "", near >= 0 ? "\"?" : "");
    free(names);
}

static bool known(const sn_model *model, const char *name) {
    if (name == NULL || sn_model_find_marker(model, name) >= 0 ||
        sn_model_find_joint(model, name) >= 0)
        return true;
    explain_name(model, name);
    return false;
}

// The chain's numbers, or the whole model's.
static double *load_seed(const char *path, const sn_arm *arm, const sn_model *model) {
    int nq = sn_model_nq(model), n = sn_arm_n(arm), count;
    double *all = load_numbers(path, nq > n ? nq : n, &count);
    if (all == NULL) return NULL;
    if (count == nq && nq != n) {
        double *q = must_alloc((size_t)n, sizeof *q);
        sn_arm_from_pose(arm, all, q);
        free(all);
        return q;
    }
    if (count == n) return all;
    complain("%s: %d numbers, but the chain has %d joints and the model nq = %d coordinates", path,
             count, n, nq);
    free(all);
    return NULL;
}

static bool is_turn(const sn_arm *arm, const sn_model *model, int i) {
    sn_coordinate c = sn_arm_coordinate(arm, i);
    return !sn_model_is_length(model, c.joint, c.index);
}

enum { WHY = 200 };

// Why a goal is not reached, and the limit that holds the arm back most.
static const char *why_of(const sn_arm *arm, const sn_arm_report *r, char text[WHY]) {
    const char *why =
        r->why != SN_ARM_REACHED ? sn_arm_why_text(r->why) : "joints would have to jump";
    if (r->joint < 0)
        (void)snprintf(text, WHY, "%s", why);
    else
        (void)snprintf(text, WHY, "%s (what holds it back most is the limit of %s)", why,
                       sn_arm_name(arm, r->joint));
    return text;
}

// Arms are a few metres long: goals much farther away are likely in millimetres.
static const char *unit_hint(double metres) { return metres > 50 ? "; goals are in metres" : ""; }

static void print_text(const sn_arm *arm, const sn_model *model, const double *q, int count,
                       const sn_arm_report *report) {
    int n = sn_arm_n(arm), wide = 5;
    for (int j = 0; j < n; j++)
        if ((int)strlen(sn_arm_name(arm, j)) > wide) wide = (int)strlen(sn_arm_name(arm, j));
    for (int k = 0; k < count; k++) {
        if (count > 1) printf("%ssolution %d of %d\n", k > 0 ? "\n" : "", k + 1, count);
        for (int j = 0; j < n; j++) {
            double x = q[k * n + j], low = sn_arm_lower(arm)[j], high = sn_arm_upper(arm)[j];
            printf("  %-*s %20.15g", wide, sn_arm_name(arm, j), x);
            if (is_turn(arm, model, j))
                printf(" rad %9.3f deg", x * 180 / 3.141592653589793);
            else
                printf(" m");
            printf("%s\n", x == low    ? "   at its lower limit"
                           : x == high ? "   at its upper limit"
                                       : "");
        }
    }
    if (report == NULL) return;
    char why[WHY];
    printf("\n  %s: %.3g m, %.3g rad from the goal%s%s%s\n",
           report->reached ? "reached" : "not reached", report->position_error,
           report->rotation_error, report->reached ? "" : "; ",
           report->reached ? "" : why_of(arm, report, why), unit_hint(report->position_error));
}

static void print_json(const sn_arm *arm, const double *q, int count, const sn_arm_report *report,
                       bool all) {
    int n = sn_arm_n(arm);
    printf("{\"reached\":%s,\"position_error\":", report->reached ? "true" : "false");
    print_number(report->position_error);
    printf(",\"rotation_error\":");
    print_number(report->rotation_error);
    printf(",\"why\":");
    print_json_string(sn_arm_why_text(report->why));
    printf(",\"joint\":");
    if (report->joint >= 0)
        print_json_string(sn_arm_name(arm, report->joint));
    else
        printf("null");
    printf(",\"joints\":[");
    for (int j = 0; j < n; j++) {
        if (j > 0) putchar(',');
        print_json_string(sn_arm_name(arm, j));
    }
    printf("],\"q\":");
    print_numbers(q, n);
    if (all) {
        printf(",\"solutions\":[");
        for (int k = 0; k < count; k++) {
            if (k > 0) putchar(',');
            print_numbers(q + k * n, n);
        }
        putchar(']');
    }
    puts("}");
}

// A file that shows a pose, and is no table.
static bool is_pose_file(const char *path) {
    sn_format format = sn_format_of_name(path);
    return path != NULL && format != SN_FORMAT_UNKNOWN && format != SN_FORMAT_CSV;
}

// The whole robot with the chain's joints at q, the others as in the reference pose.
static bool write_arm_pose(const arm_settings *s, const sn_arm *arm, const double *q,
                           const figure *from, const double *reference) {
    double *pose = must_alloc((size_t)sn_model_nq(from->model) + 1, sizeof *pose);
    if (reference != NULL)
        memcpy(pose, reference, (size_t)sn_model_nq(from->model) * sizeof *pose);
    else
        sn_model_zero(from->model, pose);
    sn_arm_to_pose(arm, q, pose);
    bool good = write_pose(s->out, from->model, pose, from);
    free(pose);
    return good;
}

static bool write_table(const arm_settings *s, const sn_arm *arm, int count, const double *q,
                        const sn_arm_report *reports) {
    output out;
    sn_error error = {0};
    if (!output_open(&out, s->out != NULL ? s->out : "-")) return false;
    const sn_sink sink = output_sink(&out);
    sn_status status = sn_arm_write_csv(arm, count, q, reports, &sink, &error);
    return output_close(&out, status, &error);
}

// One goal, or all its solutions.
static int solve_one(sn_arm *arm, const figure *from, const double *reference,
                     const arm_settings *s, const double *goal, const double *seed, bool json) {
    const bool picture = is_pose_file(s->out);
    int n = sn_arm_n(arm), count = 1;
    double *q = must_alloc((size_t)n * MOST_ALL, sizeof *q);
    sn_arm_report report, *reports = must_alloc(MOST_ALL, sizeof *reports);
    sn_status status = sn_arm_solve(arm, goal, seed, q, &report);
    if (status == SN_OK && s->all && report.reached)
        status = sn_arm_solve_all(arm, goal, seed, MOST_ALL, q, &count);
    reports[0] = report;
    // each solution's own errors: it is the nearest to itself
    for (int k = 0; k < count && status == SN_OK && s->all && report.reached; k++) {
        double own[SN_ARM_MAX];
        status = sn_arm_solve(arm, goal, q + (size_t)k * (size_t)n, own, &reports[k]);
        memcpy(q + (size_t)k * (size_t)n, own, (size_t)n * sizeof *q);
    }
    report = reports[0];
    int code = status != SN_OK ? EXIT_INPUT : report.reached ? EXIT_OK : EXIT_POOR;
    bool said = false;  // that the goal is not reached
    if (status != SN_OK) complain("%s", sn_status_text(status));
    if (status == SN_OK && picture && !write_arm_pose(s, arm, q, from, reference))
        code = EXIT_FAILED;
    if (status == SN_OK && (s->csv || (s->out != NULL && !picture))) {
        if (!write_table(s, arm, count, q, reports)) code = EXIT_FAILED;
    } else if (status == SN_OK && json) {
        print_json(arm, q, count, &report, s->all);
    } else if (status == SN_OK) {
        print_text(arm, from->model, q, count, &report);
        said = true;
    }
    if (status == SN_OK && !report.reached && !said) {
        char why[WHY];
        complain("the goal is not reached: %.3g m and %.3g rad are left; %s", report.position_error,
                 report.rotation_error, why_of(arm, &report, why));
    }
    free(q);
    free(reports);
    return code;
}

static sn_arm_goals *load_goals(const char *path) {
    size_t length;
    sn_arm_goals *goals = NULL;
    sn_error error = {0};
    char *text = read_file(path, &length);
    if (text != NULL && sn_arm_goals_read(text, length, NULL, &goals, &error) != SN_OK)
        (void)file_error(path, &error);
    free(text);
    return goals;
}

static int solve_goals(sn_arm *arm, const arm_settings *s, const sn_arm_goals *goals,
                       const double *seed) {
    size_t n = (size_t)sn_arm_n(arm), count = (size_t)sn_arm_goals_count(goals);
    double *q = must_alloc(n * count + 1, sizeof *q), *seeds = NULL;
    sn_arm_report *reports = must_alloc(count + 1, sizeof *reports);
    if (seed != NULL) {
        seeds = must_alloc(n * count + 1, sizeof *seeds);
        for (size_t i = 0; i < count; i++) memcpy(seeds + n * i, seed, n * sizeof *seed);
    }
    int lost = 0, code = EXIT_OK;
    sn_status status =
        sn_arm_solve_many(arm, (int)count, sn_arm_goals_data(goals), seeds, q, reports);
    if (status != SN_OK) {
        complain("%s: %s", s->goals, sn_status_text(status));
        code = EXIT_INPUT;
    } else {
        double worst = 0, turned = 0;
        for (size_t i = 0; i < count; i++) {
            if (reports[i].reached) continue;
            lost++;
            worst = fmax(worst, reports[i].position_error);
            turned = fmax(turned, reports[i].rotation_error);
        }
        const bool asked = s->device != NULL && strcmp(s->device, "opencl") == 0;
        if (asked || strstr(sn_arm_note(arm), " by OpenCL") != NULL)
            fprintf(stderr, "%zu goals on %s\n", count, sn_arm_note(arm));
        if (!write_table(s, arm, (int)count, q, reports)) code = EXIT_FAILED;
        if (code == EXIT_OK && lost > 0) {
            complain("%d of %zu goals are not reached: by %.3g m and %.3g rad at most%s", lost,
                     count, worst, turned, unit_hint(worst));
            code = EXIT_POOR;
        }
    }
    free(reports), free(seeds), free(q);
    return code;
}

static int solve_path(sn_arm *arm, const arm_settings *s, const sn_arm_goals *goals,
                      const double *seed) {
    int count = sn_arm_goals_count(goals), code = EXIT_OK;
    double *q = must_alloc((size_t)sn_arm_n(arm) * MOST_PATH, sizeof *q);
    sn_arm_path_report r = {0};
    sn_status status = count > 0 ? sn_arm_path(arm, count, sn_arm_goals_data(goals), seed, s->step,
                                               MOST_PATH, q, &r)
                                 : SN_ERR_VALUE;
    if (status != SN_OK) {
        complain("%s: %s", s->path, count == 0 ? "there are no goals" : sn_status_text(status));
        code = EXIT_INPUT;
    } else {
        if (!write_table(s, arm, r.count, q, NULL)) code = EXIT_FAILED;
        if (code == EXIT_OK && !r.complete) {
            char why[WHY];
            complain("the path ends %.1f %% on the way to goal %d; the next pose of the line is "
                     "missed by "
                     "%.3g m and %.3g rad: %s",
                     100 * r.fraction, r.waypoint + 1, r.report.position_error,
                     r.report.rotation_error, why_of(arm, &r.report, why));
            code = EXIT_POOR;
        }
    }
    free(q);
    return code;
}

int solve_arm(const command *self, const figure *from, const arm_settings *s,
              const word_list *locks, const char *start, bool json) {
    const sn_model *model = from->model;
    int given = (s->goal != NULL) + (s->goals != NULL) + (s->path != NULL);
    if (s->tip == NULL) return wrong_usage(self, "a goal needs --tip LINK, which shall reach it");
    if (given != 1) return wrong_usage(self, "--tip needs one of --goal, --goals and --path");
    if (s->goal == NULL && (s->all || json))
        return wrong_usage(self, "%s is for one goal, --goal; tables are CSV",
                           s->all ? "--all" : "--json");
    if (s->goal == NULL && is_pose_file(s->out))
        return wrong_usage(self, "-o %s: many poses are a table, .csv", s->out);
    if (s->csv && is_pose_file(s->out))
        return wrong_usage(self, "-o %s shows one pose; a table is .csv", s->out);
    double goal[7] = {0, 0, 0, 1, 0, 0, 0};
    sn_arm_options o = sn_arm_options_default();
    if (strcmp(s->loose, "turn") == 0) o.rotation = SN_ARM_ROTATION_AXIS;
    if (strcmp(s->loose, "rotation") == 0) o.rotation = SN_ARM_ROTATION_NONE;
    if (s->goal != NULL) {
        int n = pose_in(self, "--goal", s->goal, goal);
        if (n == 0) return EXIT_USAGE;
        if (n == 3) o.rotation = SN_ARM_ROTATION_NONE;
    }
    if (s->tool != NULL) {
        double tool[7] = {0, 0, 0, 1, 0, 0, 0};
        if (pose_in(self, "--tool", s->tool, tool) == 0) return EXIT_USAGE;
        memcpy(o.tool_position, tool, sizeof o.tool_position);
        memcpy(o.tool_rotation, tool + 3, sizeof o.tool_rotation);
    }
    if (!known(model, s->tip) || !known(model, s->base)) return EXIT_INPUT;
    for (int i = 0; i < locks->count; i++)
        if (!known(model, locks->word[i])) return EXIT_INPUT;
    const char *table = s->goals != NULL ? s->goals : s->path;
    sn_arm_goals *goals = table != NULL ? load_goals(table) : NULL;
    if (table != NULL && goals == NULL) return EXIT_INPUT;
    if (sn_arm_goals_places(goals)) o.rotation = SN_ARM_ROTATION_NONE;
    double *pose = start != NULL ? load_pose(start, model) : NULL;
    double *rest = s->rest != NULL ? load_pose(s->rest, model) : NULL, *seed = NULL;
    int code = EXIT_INPUT;
    sn_arm *arm = NULL;
    sn_error error = {0};
    o.base = s->base;
    o.position_tol = s->position_tol;
    o.rotation_tol = s->rotation_tol;
    o.max_seconds = s->seconds;
    o.threads = (int)s->jobs;
    if (s->goals != NULL && s->seed == NULL) o.device = device_of(s->device);
    o.held = locks->word;
    o.nheld = locks->count;
    o.pose = pose;
    o.rest = rest;
    bool good = (start == NULL || pose != NULL) && (s->rest == NULL || rest != NULL);
    if (good && sn_arm_create(model, s->tip, &o, NULL, &arm, &error) != SN_OK)
        complain("%s", error.text);
    if (arm != NULL && s->seed != NULL) seed = load_seed(s->seed, arm, model);
    if (arm != NULL && (s->seed == NULL || seed != NULL)) {
        if (s->goal != NULL) code = solve_one(arm, from, pose, s, goal, seed, json);
        if (s->goals != NULL) code = solve_goals(arm, s, goals, seed);
        if (s->path != NULL) code = solve_path(arm, s, goals, seed);
    }
    sn_arm_goals_destroy(goals);
    sn_arm_destroy(arm);
    free(seed), free(rest), free(pose);
    return code;
}
