// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"

static const char help[] =
    "usage: sinew eval -m MODEL -t TASKS [-q FILE] [--hessian exact|gn|none] [--json]\n\n"
    "Prints f = 1/2 sum of weighted squared residuals, its gradient and Hessian by the nv\n"
    "velocities, and the world frames of all joints (metres, radians, quaternions w x y z).\n\n"
    "  -m, --model FILE   model of any format, or \"humanoid\"\n"
    "  -t, --tasks FILE   tasks file\n"
    "  -q FILE            pose: nq numbers, a JSON array or separated by white space;\n"
    "                     without it the zero pose\n"
    "  --hessian KIND     exact (the default), gn for Gauss-Newton, none\n"
    "  --json             everything, with 17 digits\n";

typedef struct evaluation {
    const sn_model *model;
    sn_workspace *ws;
    double f, *g, *H;
} evaluation;

static void print_json(const evaluation *e) {
    int nv = sn_model_nv(e->model);
    printf("{\"f\":");
    print_number(e->f);
    printf(",\"g\":");
    print_numbers(e->g, nv);
    if (e->H != NULL) {
        printf(",\"H\":[");
        for (int i = 0; i < nv; i++) {
            if (i > 0) putchar(',');
            print_numbers(e->H + (size_t)i * (size_t)nv, nv);
        }
        putchar(']');
    }
    printf(",\"nq\":%d,\"nv\":%d,\"joints\":[", sn_model_nq(e->model), nv);
    for (int j = 0; j < sn_model_njoint(e->model); j++) {
        sn_frame frame = sn_workspace_frame(e->ws, j);
        sn_quat r = sn_quat_from_mat3(frame.R);
        printf("%s{\"name\":", j > 0 ? "," : "");
        print_json_string(sn_model_joint(e->model, j)->name);
        printf(",\"position\":");
        print_numbers(&frame.p.x, 3);
        printf(",\"rotation\":");
        print_numbers(&r.w, 4);
        putchar('}');
    }
    puts("]}");
}

static void print_text(const evaluation *e, const sn_problem *problem) {
    double largest = 0;
    for (int i = 0; i < sn_model_nv(e->model); i++) largest = fmax(largest, fabs(e->g[i]));
    printf("f = %.9g    largest |gradient| = %.3g    %d degrees of freedom\n\n", e->f, largest,
           sn_model_nv(e->model));
    printf("%-4s %-12s %-24s %s\n", "task", "type", "joint", "error (m, rad)");
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const sn_task *t = sn_problem_task(problem, i);
        const sn_joint_desc *joint =
            t->type == SN_TASK_REST ? NULL : sn_model_joint(e->model, t->joint);
        printf("%-4d %-12s %-24s %.6g\n", i, sn_task_type_name(t->type),
               joint != NULL ? joint->name : "-", sn_workspace_task_error(e->ws, i));
    }
    printf("\n%-24s %-30s %s\n", "joint", "position x y z (m)", "rotation w x y z");
    for (int j = 0; j < sn_model_njoint(e->model); j++) {
        sn_frame frame = sn_workspace_frame(e->ws, j);
        sn_quat r = sn_quat_from_mat3(frame.R);
        printf("%-24s %9.4f %9.4f %9.4f  %8.4f %8.4f %8.4f %8.4f\n",
               sn_model_joint(e->model, j)->name, frame.p.x, frame.p.y, frame.p.z, r.w, r.x, r.y,
               r.z);
    }
}

static int evaluate(const sn_model *model, const sn_problem *problem, const double *q,
                    const char *kind, bool json) {
    unsigned what = strcmp(kind, "exact") == 0 ? SN_EVAL_HESSIAN
                    : strcmp(kind, "gn") == 0  ? SN_EVAL_GAUSS_NEWTON
                                               : SN_EVAL_GRADIENT;
    bool hessian = what != SN_EVAL_GRADIENT;
    size_t nv = (size_t)sn_model_nv(model);
    evaluation e = {.model = model, .g = must_alloc(nv, sizeof(double))};
    if (hessian) e.H = must_alloc(nv * nv, sizeof(double));
    sn_status status = sn_workspace_create(problem, hessian, NULL, &e.ws);
    if (status == SN_OK) status = sn_workspace_eval(e.ws, q, what, &e.f);
    if (status == SN_OK) {
        sn_workspace_gradient(e.ws, e.g);
        if (hessian) sn_workspace_hessian(e.ws, e.H);
        if (json) {
            print_json(&e);
        } else {
            print_text(&e, problem);
        }
    } else {
        fprintf(stderr, "sinew: %s\n", sn_status_text(status));
    }
    sn_workspace_destroy(e.ws);
    free(e.g);
    free(e.H);
    return status == SN_OK ? EXIT_OK : status == SN_ERR_VALUE ? EXIT_INPUT : EXIT_FAILED;
}

static int run(int argc, char **argv) {
    bool json = false;
    const char *model_path = NULL, *tasks_path = NULL, *pose_path = NULL, *kind = "exact";
    const option options[] = {
        VALUE("--model", "-m", &model_path), VALUE("--tasks", "-t", &tasks_path),
        VALUE("--pose", "-q", &pose_path),   VALUE("--hessian", NULL, &kind),
        FLAG("--json", &json),        {0}};
    const char *word;
    int nword, code = parse_options(&command_eval, argc, argv, options, &word, 0, &nword);
    if (code >= 0) return code;
    if (model_path == NULL || tasks_path == NULL) {
        fputs("sinew eval: it needs -m MODEL and -t TASKS\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(kind, "exact") != 0 && strcmp(kind, "gn") != 0 && strcmp(kind, "none") != 0) {
        fprintf(stderr, "sinew eval: --hessian takes exact, gn or none, not \"%s\"\n", kind);
        return EXIT_USAGE;
    }
    code = EXIT_INPUT;
    figure holder;
    const sn_model *model = load_model(model_path, &holder);
    sn_problem *problem = model != NULL ? load_problem(tasks_path, model) : NULL;
    double *q = problem != NULL ? load_pose(pose_path, model) : NULL;
    if (q != NULL) code = evaluate(model, problem, q, kind, json);
    free(q);
    sn_problem_destroy(problem);
    free_figure(&holder);
    return code;
}

const command command_eval = {"eval", "f, gradient, Hessian and joint frames at a pose", help, run};
