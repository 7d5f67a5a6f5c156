// SPDX-License-Identifier: MIT
// Derivatives against finite differences, at random poses of any model.
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "figure.h"

static const char help[] =
    "usage: sinew check MODEL [-t TASKS] [--poses N] [--seed S]\n\n"
    "Compares the gradient and the exact Hessian with finite differences at random poses and "
    "prints\n"
    "the worst relative error per joint type. Exit 1 when one is above 1e-6.\n\n"
    "  -t, --tasks FILE   without it every joint gets a point, a direction and an orientation\n"
    "  --poses N          default 20\n"
    "  --seed S           default 1\n";

static const double allowed = 1e-6;

static double uniform(uint64_t *state) { return 2 * sn_random(state) - 1; }

static sn_problem *random_problem(const sn_model *model, uint64_t *state) {
    int njoint = sn_model_njoint(model), n = 0;
    sn_task *tasks = must_alloc(3 * (size_t)njoint, sizeof *tasks);
    for (int j = 0; j < njoint; j++) {
        const sn_task_type types[3] = {SN_TASK_POINT, SN_TASK_DIRECTION, SN_TASK_ORIENTATION};
        for (int i = 0; i < 3; i++) {
            sn_task t = sn_task_default(types[i]);
            t.joint = j;
            t.weight = 0.5 + sn_random(state);
            for (int c = 0; c < 3; c++) t.local[c] = 0.3 * uniform(state) + 0.01;
            for (int c = 0; c < 3; c++) t.goal[c] = uniform(state);
            for (int c = 0; c < 4; c++) t.rotation[c] = uniform(state);
            tasks[n++] = t;
        }
    }
    sn_problem *problem = NULL;
    sn_error error = {0};
    if (sn_problem_create(model, tasks, n, NULL, &problem, &error) != SN_OK)
        fprintf(stderr, "sinew: %s\n", error.text);
    free(tasks);
    return problem;
}

typedef struct checking {
    const sn_model *model;
    sn_workspace *ws;
    int nv;
    double *q, *moved, *delta, *g, *H, *row;
    double *g_side[4];
    double worst_g[SN_JOINT_TYPE_COUNT], worst_H[SN_JOINT_TYPE_COUNT];
} checking;

// f (and gradient) at q (+) h e_v, behind the gain.
static double value_at(checking *c, int v, double h, double *g) {
    double f;
    for (int i = 0; i < c->nv; i++) c->delta[i] = 0;
    c->delta[v] = h * sn_model_gain(c->model)[v];
    sn_model_integrate(c->model, c->q, c->delta, c->moved);
    if (sn_workspace_eval(c->ws, c->moved, SN_EVAL_GRADIENT, &f) != SN_OK) return NAN;
    sn_workspace_gradient(c->ws, g);
    return f;
}

// The worst entry of one pose. A difference of gradients at q (+) h e_v is a derivative along
// moving axes where a rotation is held as a quaternion: its own joint's block is compared
// symmetrised.
static void check_pose(checking *c, double h) {
    int nv = c->nv;
    double f, scale_g = 1e-12, scale_H = 1e-12;
    if (sn_workspace_eval(c->ws, c->q, SN_EVAL_HESSIAN, &f) != SN_OK) return;
    sn_workspace_gradient(c->ws, c->g);
    sn_workspace_hessian(c->ws, c->H);
    for (int i = 0; i < nv; i++) scale_g = fmax(scale_g, fabs(c->g[i]));
    for (int i = 0; i < nv * nv; i++) scale_H = fmax(scale_H, fabs(c->H[i]));
    for (int joint = 0; joint < sn_model_njoint(c->model); joint++) {
        const sn_joint_desc *d = sn_model_joint(c->model, joint);
        int first = sn_model_v_index(c->model, joint);
        int last = first;
        while (last < nv && (joint + 1 == sn_model_njoint(c->model) ||
                             last < sn_model_v_index(c->model, joint + 1)))
            last++;
        for (int v = first; v < last; v++) {
            double value[4];
            const double at[4] = {-2 * h, -h, h, 2 * h};
            for (int s = 0; s < 4; s++) value[s] = value_at(c, v, at[s], c->g_side[s]);
            // fourth order: (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h
            double slope = (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * h);
            double off = fabs(slope - c->g[v]) / fmax(scale_g, fabs(f));
            c->worst_g[d->type] = fmax(c->worst_g[d->type], off);
            for (int i = 0; i < nv; i++)
                c->row[(size_t)(v - first) * (size_t)nv + (size_t)i] =
                    (c->g_side[0][i] - 8 * c->g_side[1][i] + 8 * c->g_side[2][i] -
                     c->g_side[3][i]) /
                    (12 * h);
        }
        for (int v = first; v < last; v++) {
            for (int i = 0; i < nv; i++) {
                double slope = c->row[(size_t)(v - first) * (size_t)nv + (size_t)i];
                if (i >= first && i < last)
                    slope = 0.5 * (slope + c->row[(size_t)(i - first) * (size_t)nv + (size_t)v]);
                double off = fabs(slope - c->H[(size_t)v * (size_t)nv + (size_t)i]) / scale_H;
                c->worst_H[d->type] = fmax(c->worst_H[d->type], off);
            }
        }
    }
}

static bool fine(const checking *c) {
    for (int t = 0; t < SN_JOINT_TYPE_COUNT; t++)
        if (c->worst_g[t] > allowed || c->worst_H[t] > allowed) return false;
    return true;
}

// f has kinks: an orientation half a turn from its goal, a soft limit's edge. A difference across
// one is no derivative, so a pose that is off is looked at again with shorter steps.
static void check_retrying(checking *c) {
    const checking before = *c;
    for (double h = 1e-4; h > 1e-7; h *= 0.1) {
        *c = before;
        check_pose(c, h);
        if (fine(c)) return;
    }
}

static bool print_result(const checking *c, long poses) {
    bool good = true;
    printf("%ld poses, %d degrees of freedom; worst error relative to the largest entry\n\n", poses,
           c->nv);
    printf("  %-12s %12s %12s\n", "joint type", "gradient", "Hessian");
    for (int t = 0; t < SN_JOINT_TYPE_COUNT; t++) {
        bool present = false;
        for (int j = 0; j < sn_model_njoint(c->model); j++)
            present = present || sn_model_joint(c->model, j)->type == (sn_joint_type)t;
        if (!present || t == SN_JOINT_FIXED) continue;
        bool agrees = c->worst_g[t] <= allowed && c->worst_H[t] <= allowed;
        printf("  %-12s %12.2e %12.2e%s\n", sn_joint_type_name((sn_joint_type)t), c->worst_g[t],
               c->worst_H[t], agrees ? "" : "   OFF");
        good = good && agrees;
    }
    printf("\n%s\n", good ? "the derivatives agree with finite differences"
                          : "the derivatives do not agree with finite differences");
    return good;
}

static int check(const sn_model *model, const sn_problem *problem, long poses, uint64_t seed) {
    size_t nv = (size_t)sn_model_nv(model), nq = (size_t)sn_model_nq(model);
    checking c = {.model = model, .nv = (int)nv};
    if (sn_workspace_create(problem, true, NULL, &c.ws) != SN_OK) {
        fputs("sinew: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    double *numbers = must_alloc(2 * nq + 6 * nv + nv * nv + 6 * nv, sizeof *numbers);
    c.q = numbers;
    c.moved = c.q + nq;
    c.delta = c.moved + nq;
    c.g = c.delta + nv;
    for (int s = 0; s < 4; s++) c.g_side[s] = c.g + (size_t)(s + 1) * nv;
    c.row = c.g + 5 * nv;
    c.H = c.row + 6 * nv;
    for (long i = 0; i < poses; i++) {
        sn_model_sample(model, &seed, c.q);
        check_retrying(&c);
    }
    bool good = print_result(&c, poses);
    free(numbers);
    sn_workspace_destroy(c.ws);
    return good ? EXIT_OK : EXIT_FAILED;
}

static int run(int argc, char **argv) {
    const char *tasks_path = NULL, *poses_text = "20", *seed_text = "1", *word = NULL;
    const option options[] = {VALUE("--tasks", "-t", &tasks_path),
                              VALUE("--poses", NULL, &poses_text),
                              VALUE("--seed", NULL, &seed_text),
                              {0}};
    int nword, code = parse_options(&command_check, argc, argv, options, &word, 1, &nword);
    long poses, seed;
    if (code >= 0) return code;
    if (nword == 0) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    if (!parse_integer("--poses", poses_text, 1, 1000000, &poses) ||
        !parse_integer("--seed", seed_text, 0, 0x7fffffff, &seed))
        return EXIT_USAGE;
    uint64_t state = (uint64_t)seed;
    code = EXIT_INPUT;
    figure holder;
    const sn_model *model = load_model(word, &holder);
    sn_problem *problem = NULL;
    if (model != NULL)
        problem =
            tasks_path != NULL ? load_problem(tasks_path, model) : random_problem(model, &state);
    if (problem != NULL) code = check(model, problem, poses, state);
    sn_problem_destroy(problem);
    free_figure(&holder);
    return code;
}

const command command_check = {"check", "derivatives against finite differences", help, run};
