// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "option_rows.h"
#include "output.h"
#include "pose_picture.h"
#include "solve_arm.h"
#include "solve_rows.h"
#include "solver_settings.h"
#include "task_text.h"

typedef struct settings {
    const char *model, *tasks, *start, *turns, *srdf, *device, *precision;
    solver_settings solver;
    word_list locks;
    arm_settings arm;
    const char *svg;
    bool cold, json, trace, floating;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {
    "[-m MODEL -t TASKS] [--start FILE] [--lock JOINT] [--cold] [-o FILE] [options]",
    "-m MODEL -t TASKS --goals FILE [-o FILE] [-j N] [--device DEVICE] [--precision P]",
    "-m MODEL --tip LINK --goal POSE [--all] [--seed FILE] [--json | --csv]",
    "-m MODEL --tip LINK --goals FILE [-o FILE] [-j N] [--device DEVICE]",
    "-m MODEL --tip LINK --path FILE [-o FILE] [--path-step M]",
    NULL};

static const option option_table[] = {
    {.group = "Files", ROW_MODEL(AT(model), MODEL_HELP)},
    {ROW_TASKS(AT(tasks), "the tasks, a JSON file; \"-\" is standard input")},
    {ROW_FILE("--start", NULL, AT(start), "the pose to start from: " POSE_HELP)},
    {ROW_FILE("--srdf", NULL, AT(srdf),
              "an SRDF file: the pairs of links that it disables may touch")},
    {ROW_FLOATING(AT(floating))},
    SOLVER_OPTIONS(AT(solver), "200", "1e-9"),
    {ROW_TEXT("--lock", "JOINT", AT(locks), "keep this joint as it is in the start"), .many = true},
    {.name = "--time-budget",
     .kind = OPTION_NUMBER,
     .value = "S",
     .high = INFINITY,
     .standard = "0",
     .place = AT(solver) + offsetof(solver_settings, seconds),
     .help = "stop after S seconds with the best pose so far; 0 is no limit"},
    {.name = "--turns",
     .kind = OPTION_CHOICE,
     .value = "WHICH",
     .choices = "nearest principal",
     .standard = "nearest",
     .place = AT(turns),
     .help = "of an angle without limits return the turn nearest to the start, or the principal "
             "one in (-180, 180] degrees"},
    {ROW_FLAG("--cold", AT(cold),
              "the start says little: look for the lowest of many valleys, too")},
    {.group = "Many goals (with --goals, a row of numbers for each)",
     .name = "--device",
     .kind = OPTION_CHOICE,
     .value = "DEVICE",
     .choices = "auto cpu opencl",
     .standard = "auto",
     .place = AT(device),
     .help = "where they are solved: sinew info --devices lists what speaks OpenCL; auto takes a "
             "GPU for many"},
    {.name = "--precision",
     .kind = OPTION_CHOICE,
     .value = "P",
     .choices = "double mixed",
     .standard = "double",
     .place = AT(precision),
     .help = "of an OpenCL device: doubles, or floats and then doubles"},
    ARM_OPTIONS(AT(arm)),
    {.group = "Output", ROW_FLAG("--json", AT(json), "the result as JSON, with 17 digits")},
    {ROW_FLAG("--trace", AT(trace), "every iteration, on standard error")},
    {ROW_FILE("--svg", NULL, AT(svg),
              "a picture of the pose, with the model's shapes and the goals of the tasks")},
    {0}};

static const help_item examples[] = {
    {"sinew solve", "the humanoid reaches for several goals at once"},
    {"sinew solve -m arm.urdf -t tasks.json --cold --json", "a robot from its zero pose"},
    {"sinew solve --solver dls --damping 0.05 --trace", "damped least squares, every iteration"},
    {"sinew solve --lock chest --lock neck_low", "the same with two joints held"},
    {"sinew solve --time-budget 0.001", "the best pose within a millisecond"},
    {"sinew solve -m atlas.urdf --floating -t stand.json --svg stand.svg",
     "a robot on its legs, and a picture of it"},
    {"sinew solve -m g1.urdf --floating -t stand.json --cold -o stand.glb",
     "the pose with its collision shapes, for Blender or a viewer"},
    {"sinew solve -m panda.urdf --tip panda_hand_tcp --goal 0.4,0.1,0.5,0,1,0,0",
     "joint values that bring a robot's hand there"},
    {"sinew solve -m panda.urdf --tip panda_hand_tcp --goals goals.csv -o q.csv -j 4",
     "the same for many goals, in one process"},
    {"sinew solve -m model.json -t tasks.json --goals goals.csv -o poses.csv",
     "the same tasks with other goals, side by side"},
    {0}};

// What the humanoid is asked to do when nothing is said.
static const char example_tasks[] =
    "{\"tasks\": ["
    "{\"type\":\"pose\",\"joint\":\"left_foot\",\"goal\":[0.1,0.08,0.05],\"rotation\":[1,0,0,0]},"
    "{\"type\":\"pose\",\"joint\":\"right_foot\",\"goal\":[-0.25,0.08,-0.2],"
    "\"rotation\":[0.98,0,-0.2,0]},"
    "{\"type\":\"point\",\"joint\":\"left_hand\",\"local\":[0,-0.08,0],\"goal\":[0.35,0.5,0.45]},"
    "{\"type\":\"point\",\"joint\":\"right_hand\",\"local\":[0,-0.08,0],"
    "\"goal\":[-0.55,1.75,0.1]},"
    "{\"type\":\"direction\",\"joint\":\"head\",\"local\":[0,0,1],\"goal\":[0.5,-0.3,0.8]},"
    "{\"type\":\"plane\",\"joint\":\"pelvis\",\"point\":[0,0.75,0],\"normal\":[0,1,0]},"
    "{\"type\":\"limit\",\"weight\":1}]}";

static void print_trace(void *user, const sn_trace *t) {
    (void)user;
    if (t->iteration == 1)
        fprintf(stderr, "%5s %5s %13s %11s %11s %11s %8s %6s %s\n", "iter", "level", "f",
                "gradient", "step", "damping", "ratio", "active", "Hessian");
    fprintf(stderr, "%5d %5d %13.6e %11.3e %11.3e %11.3e %8.3f %6d %s%s%s\n", t->iteration,
            t->level, t->f, t->gradient, t->step, t->damping, t->ratio, t->active,
            t->exact ? "exact" : "Gauss-Newton", t->indefinite ? ", indefinite" : "",
            t->taken ? "" : ", not taken");
}

// What a violation is about.
static const char *violation_name(const sn_model *model, const sn_violation *v, int k, char *text,
                                  size_t size) {
    const sn_shape_desc *d = sn_model_shape(model, v->shape[k]);
    const sn_joint_desc *joint = d != NULL ? sn_model_joint(model, d->joint) : NULL;
    if (d != NULL && d->name[0] != '\0') return d->name;
    (void)snprintf(text, size, "%s %d%s%s", d != NULL ? sn_shape_type_name(d->type) : "",
                   v->shape[k], joint != NULL ? " of " : "", joint != NULL ? joint->name : "");
    return text;
}

enum { MOST_VIOLATIONS = 1000 };

static void print_violations_json(const sn_model *model, sn_workspace *ws) {
    sn_violation *v = must_alloc(MOST_VIOLATIONS, sizeof *v);
    int n = sn_workspace_violations(ws, v, MOST_VIOLATIONS);
    if (n > MOST_VIOLATIONS) n = MOST_VIOLATIONS;
    if (n > 0) printf("\"violations\":[");
    for (int i = 0; i < n; i++) {
        printf("%s{\"task\":%d,", i > 0 ? "," : "", v[i].task);
        if (v[i].shape[0] >= 0) {
            char text[600];
            printf("\"shapes\":[%d,%d],\"names\":[", v[i].shape[0], v[i].shape[1]);
            print_json_string(violation_name(model, &v[i], 0, text, sizeof text));
            putchar(',');
            print_json_string(violation_name(model, &v[i], 1, text, sizeof text));
            printf("],");
        }
        printf("\"by\":");
        print_number(v[i].by);
        putchar('}');
    }
    if (n > 0) printf("],");
    free(v);
}

// What must not happen and does, or that nothing does.
static void print_violations(const sn_model *model, const sn_problem *problem, sn_workspace *ws) {
    sn_violation *v = must_alloc(MOST_VIOLATIONS, sizeof *v);
    int n = sn_workspace_violations(ws, v, MOST_VIOLATIONS);
    bool any = false;
    for (int i = 0; i < sn_problem_ntask(problem); i++)
        any = any || sn_problem_task(problem, i)->type >= SN_TASK_AVOID;
    if (any && n == 0) puts("  nothing happens that must not");
    for (int i = 0; i < n && i < 20; i++) {
        char text[2][600];
        const sn_task *t = sn_problem_task(problem, v[i].task);
        // a sum of coordinates may be of any unit
        const bool metres = t->type != SN_TASK_HALF_SPACE || t->q_weight == NULL;
        printf("  violated by %.4g%s: task %d (%s)", v[i].by, metres ? " m" : "", v[i].task,
               sn_task_type_name(t->type));
        if (v[i].shape[0] >= 0)
            printf(", %s and %s", violation_name(model, &v[i], 0, text[0], sizeof text[0]),
                   violation_name(model, &v[i], 1, text[1], sizeof text[1]));
        putchar('\n');
    }
    if (n > 20) printf("  ... and %d more\n", n - 20);
    free(v);
}

static void print_json(const sn_model *model, const sn_problem *problem, sn_workspace *ws,
                       const double *q, const sn_report *report) {
    printf("{\"q\":");
    print_numbers(q, sn_model_nq(model));
    printf(",\"f\":");
    print_number(report->f);
    printf(",\"iterations\":%d,\"stop\":", report->iterations);
    print_json_string(sn_stop_text(report->stop));
    printf(",\"gradient\":");
    print_number(report->gradient);
    printf(",\"functions\":%d,\"gradients\":%d,\"hessians\":%d,\"factorizations\":%d,"
           "\"active\":%d,",
           report->functions, report->gradients, report->hessians, report->factorizations,
           report->active);
    if (sn_model_nloop(model) > 0 || report->violation > 0) {
        printf("\"violation\":");
        print_number(report->violation);
        putchar(',');
    }
    print_violations_json(model, ws);
    for (int i = 0; i < report->nlevel && report->nlevel > 1; i++) {
        const sn_level_report *level = &report->level[i];
        printf("%s{\"level\":%d,\"f\":", i == 0 ? "\"levels\":[" : ",", level->level);
        print_number(level->f);
        printf(",\"gradient\":");
        print_number(level->gradient);
        printf(",\"worst_error\":");
        print_number(level->worst_error);
        printf("}%s", i + 1 == report->nlevel ? "]," : "");
    }
    printf("\"tasks\":[");
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        if (i > 0) putchar(',');
        print_task_json(model, problem, i, sn_workspace_task_error(ws, i));
    }
    puts("]}");
}

// A line for each task: what it wants and whether it got it.
static void print_tasks(const sn_model *model, const sn_problem *problem, sn_workspace *ws) {
    char where[100];
    const int width = task_where_width(model, problem, 20);
    printf("  %-4s %-20s %-*s %11s\n", "task", "type", width, "joint", "error");
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const sn_task *t = sn_problem_task(problem, i);
        const double error = sn_workspace_task_error(ws, i);
        const char *idle = task_idle(problem, i);
        printf("  %-4d %-20s %-*s %11.3e %-6s %s\n", i, sn_task_type_name(t->type), width,
               task_where(model, t, where, sizeof where), error, task_unit(t),
               idle != NULL   ? idle
               : error < 1e-6 ? "reached"
                              : "");
    }
}

static void print_level(const sn_level_report *level) {
    printf("  level %d: f = %.3e, worst error %.1e", level->level, level->f, level->worst_error);
    if (isnan(level->gradient)) {
        puts(", goals met");
    } else {
        printf(", relative gradient in what is free for it %.1e\n", level->gradient);
    }
}

// Time of one iteration, warm: the same solve again and again for about a tenth of a second.
static double time_iteration(sn_solver *solver, const double *start, double *q, size_t nq) {
    sn_report report;
    double begin = now(), end;
    long iterations = 0;
    do {
        memcpy(q, start, nq * sizeof *q);
        (void)sn_solver_solve(solver, q, &report);
        iterations += report.iterations > 0 ? report.iterations : 1;
        end = now();
    } while (end - begin < 0.1);
    return (end - begin) / (double)iterations;
}

static int solve(const sn_model *model, const sn_problem *problem, const double *start,
                 const sn_solver_options *options, const settings *s, const figure *from) {
    const bool cold = s->cold, json = s->json;
    size_t nq = (size_t)sn_model_nq(model);
    double *q = must_alloc(nq, sizeof *q), *again = must_alloc(nq, sizeof *q);
    memcpy(q, start, nq * sizeof *q);
    sn_solver *solver;
    sn_report report;
    sn_error error = {0};
    sn_status status = sn_solver_create(problem, options, NULL, &solver, &error);
    if (status == SN_OK)
        status =
            cold ? sn_solver_solve_cold(solver, q, &report) : sn_solver_solve(solver, q, &report);
    int code = EXIT_OK;
    if (status != SN_OK) {
        complain("%s", error.text[0] != '\0' ? error.text : sn_status_text(status));
        code = status == SN_ERR_VALUE ? EXIT_INPUT : EXIT_FAILED;
    } else if (json) {
        print_json(model, problem, sn_solver_workspace(solver), q, &report);
    } else {
        printf("%s: %d degrees of freedom, %d task%s\n\n", sn_model_name(model), sn_model_nv(model),
               sn_problem_ntask(problem), sn_problem_ntask(problem) == 1 ? "" : "s");
        print_tasks(model, problem, sn_solver_workspace(solver));
        printf("\n  f = %.3e", report.f);
        // where the goal is met, it says nothing
        if (!isnan(report.gradient) && report.stop != SN_STOP_GOAL)
            printf(", relative gradient %.1e", report.gradient);
        printf(": %s after %d iterations\n", sn_stop_text(report.stop), report.iterations);
        for (int i = 0; i < report.nlevel && report.nlevel > 1; i++) print_level(&report.level[i]);
        if (sn_model_nloop(model) > 0)
            printf("  %d loop%s, open by %.1e at most\n", sn_model_nloop(model),
                   sn_model_nloop(model) == 1 ? "" : "s", report.violation);
        print_violations(model, problem, sn_solver_workspace(solver));
        // a trace would be printed again and again
        if (options->trace == NULL)
            printf("  one iteration takes %.1f microseconds\n",
                   1e6 * time_iteration(solver, start, again, nq));
    }
    if (code == EXIT_OK && s->svg != NULL) {
        (void)sn_workspace_pose(sn_solver_workspace(solver), q);
        const pose_picture picture = {.model = model,
                                      .problem = problem,
                                      .ws = sn_solver_workspace(solver),
                                      .up = from->up,
                                      .up_sign = from->up_sign};
        plot_text text = {0};
        pose_picture_svg(&text, &picture);
        if (!output_text(s->svg, text.data, text.length, text.failed)) code = EXIT_FAILED;
        plot_text_free(&text);
    }
    if (code == EXIT_OK && s->arm.out != NULL && !write_pose(s->arm.out, model, q, from))
        code = EXIT_FAILED;
    // what must not happen does; the workspace may have been used since
    if (code == EXIT_OK) (void)sn_workspace_pose(sn_solver_workspace(solver), q);
    if (code == EXIT_OK && sn_workspace_violations(sn_solver_workspace(solver), NULL, 0) > 0)
        code = EXIT_POOR;
    sn_solver_destroy(solver);
    free(again);
    free(q);
    return code;
}

// Lock the joints that were named; false and a message for a name that is none.
static bool lock_joints(const sn_model *model, sn_problem *problem, const word_list *locks) {
    int n = sn_model_njoint(model);
    for (int i = 0; i < locks->count; i++) {
        int joint = sn_model_find_joint(model, locks->word[i]);
        if (joint < 0) {
            const char **names = must_alloc((size_t)n, sizeof *names);
            for (int j = 0; j < n; j++) names[j] = sn_model_joint(model, j)->name;
            int nearest = sn_nearest_name(locks->word[i], names, n);
            complain("%s has no joint \"%s\"%s%s%s", sn_model_name(model), locks->word[i],
                     nearest >= 0 ? "; did you mean \"" : "", nearest >= 0 ? names[nearest] : "",
                     nearest >= 0 ? "\"?" : "");
            free(names);
            return false;
        }
        for (int k = 0; k < sn_model_joint_nv(model, joint); k++)
            if (sn_problem_set_locked(problem, joint, k, true) != SN_OK) {
                complain("\"%s\" follows other joints: lock those", locks->word[i]);
                return false;
            }
    }
    return true;
}

// The model with the pairs of an SRDF file excluded; NULL after a message.
static sn_model *read_srdf(const char *path, const sn_model *model) {
    sn_error error = {0};
    sn_model *out = NULL;
    sn_srdf_info info;
    size_t length;
    char *text = read_bytes(path, &length, &error);
    if (text == NULL || sn_srdf_read(text, length, model, NULL, &out, &info, &error) != SN_OK) {
        if (error.line > 0) {
            complain("%s:%d: %s", path, error.line, error.text);
        } else {
            complain("%s: %s", path, error.text);
        }
    } else if (info.note[0] != '\0') {
        fprintf(stderr, "%s: %s\n", path, info.note);
    }
    free(text);
    return out;
}

static int run(int argc, char **argv) {
    settings s = {0};
    int nword, code = parse_options(&command_solve, argc, argv, &s, NULL, &nword);
    if (code >= 0) return code;
    // rows of goals for any tasks; with --tip they are an arm's
    const bool rows = s.tasks != NULL && s.arm.goals != NULL && s.arm.tip == NULL;
    bool arm = !rows && wants_arm(&s.arm);
    if (arm && (s.model == NULL || s.tasks != NULL))
        return wrong_usage(&command_solve, "--tip needs -m MODEL, and no tasks");
    if (rows && (s.json || s.svg != NULL))
        return wrong_usage(&command_solve, "%s is for one pose; many are a table",
                           s.json ? "--json" : "--svg");
    if (arm && s.svg != NULL)
        return wrong_usage(&command_solve, "--svg draws tasks; -o pose.glb shows an arm's pose");
    if (s.model != NULL && s.tasks == NULL && !arm)
        return wrong_usage(&command_solve, "-m MODEL needs --tip LINK and --goal, or -t TASKS");
    if (s.model == NULL && s.tasks != NULL)
        return wrong_usage(&command_solve, "-m MODEL and -t TASKS go together");
    sn_solver_options solver_options = sn_solver_options_default();
    if (!apply_solver(&command_solve, &s.solver, &solver_options)) return EXIT_USAGE;
    if (strcmp(s.turns, "principal") == 0) solver_options.turns = SN_TURNS_PRINCIPAL;
    if (s.trace) solver_options.trace = print_trace;
    const char *model_path = s.model, *tasks_path = s.tasks;

    code = EXIT_INPUT;
    figure holder;
    const sn_model *model =
        arm ? load_arm_robot(model_path, s.floating, &holder)
            : load_robot(model_path != NULL ? model_path : "humanoid", s.floating, &holder);
    if (model != NULL && arm) {
        s.arm.seconds = s.solver.seconds;
        s.arm.device = s.device;
        code = solve_arm(&command_solve, &holder, &s.arm, &s.locks, s.start, s.json);
    }
    if (arm) {
        free_figure(&holder);
        return code;
    }
    sn_model *allowed = NULL;
    if (model != NULL && s.srdf != NULL) model = allowed = read_srdf(s.srdf, model);
    sn_problem *problem = NULL;
    if (model != NULL && tasks_path != NULL) problem = load_problem(tasks_path, model);
    if (model != NULL && tasks_path == NULL)
        (void)sn_problem_read_json(example_tasks, strlen(example_tasks), model, NULL, &problem,
                                   NULL);
    bool locked = problem != NULL && lock_joints(model, problem, &s.locks);
    double *start = locked ? load_pose(s.start, model) : NULL;
    if (start != NULL && rows) {
        const rows_settings wanted = {.goals = s.arm.goals,
                                      .out = s.arm.out,
                                      .device = s.device,
                                      .precision = s.precision,
                                      .jobs = s.arm.jobs};
        code = solve_rows(problem, start, &solver_options, &wanted);
    } else if (start != NULL) {
        code = solve(model, problem, start, &solver_options, &s, &holder);
    }
    free(start);
    sn_problem_destroy(problem);
    sn_model_destroy(allowed);
    free_figure(&holder);
    return code;
}

const command command_solve = {
    .name = "solve",
    .summary = "find the pose that best meets a model's tasks",
    .usage = usage,
    .about = "Find the pose that best meets the tasks. Without -m and "
             "-t: the built-in humanoid, which must reach "
             "for several goals at once.\n\n"
             "With --tip: joint values that bring one link of a robot to a "
             "goal, by the arm solver.\n\n"
             "Exit with 4 when the goal of a chain is not reached, and the nearest pose is the "
             "answer, or when the pose does what the tasks say must not happen.",
    .options = option_table,
    .examples = examples,
    .run = run};
