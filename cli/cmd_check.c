// SPDX-License-Identifier: MIT
// Derivatives against finite differences, at random poses of any model. A pose of a small model is looked at
// in all its degrees of freedom, against all of H; one of a large model in some of them, against H times a
// unit vector, so that the time grows with the model and not with its square.
#define _POSIX_C_SOURCE 200809L  // isatty
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/random.h"
#include "figure.h"
#include "option_rows.h"
#include "task_text.h"

typedef struct settings {
    const char *tasks;
    long poses, seed;
    bool floating;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {"MODEL [-t TASKS] [--poses N] [--seed S]", NULL};

static const option option_table[] = {
    {.group = "Options",
     ROW_TASKS(AT(tasks),
               "the tasks; without it every joint gets a point, a direction and an orientation")},
    {.name = "--poses",
     .kind = OPTION_INTEGER,
     .value = "N",
     .low = 1,
     .high = 1000000,
     .standard = "20",
     .place = AT(poses),
     .help = "the number of random poses"},
    {.name = "--seed",
     .kind = OPTION_INTEGER,
     .value = "S",
     .high = 0x7fffffff,
     .standard = "1",
     .place = AT(seed),
     .help = "where the random numbers begin"},
    {ROW_FLOATING(AT(floating))},
    {0}};

static const help_item examples[] = {
    {"sinew check humanoid", "the built-in figure"},
    {"sinew check arm.urdf --poses 100", "a robot, at a hundred poses"},
    {0}};

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

enum { ALL_UP_TO = 400, SOME = 40 };  // degrees of freedom

typedef struct checking {
    const sn_model *model;
    sn_workspace *ws;
    int nv;
    int *joint, njoint;  // those that this pose is looked at in
    double *q, *moved, *delta, *g, *row;
    double *H;       // nv x nv; NULL: columns are made one by one
    double *column;  // 6 nv
    double *g_side[4];
    double worst_g[SN_JOINT_TYPE_COUNT], worst_H[SN_JOINT_TYPE_COUNT];
    // progress
    bool shown;
    double told;
    long pose, poses;
} checking;

// f, and the largest entries of gradient and Hessian, at the pose.
typedef struct scales {
    double f, g, H;
} scales;

static int joint_nv(const sn_model *model, int joint) {
    int last = joint + 1 == sn_model_njoint(model) ? sn_model_nv(model)
                                                   : sn_model_v_index(model, joint + 1);
    return last - sn_model_v_index(model, joint);
}

static void show_progress(checking *c, int done) {
    double t = now();
    if (!c->shown || t - c->told < 0.1) return;
    c->told = t;
    fprintf(stderr, "\r  pose %ld of %ld, joint %d of %d   ", c->pose + 1, c->poses, done,
            c->njoint);
}

// All joints, or some: one of each type, then any.
static void choose_joints(checking *c, uint64_t *state) {
    int njoint = sn_model_njoint(c->model), nv = 0;
    bool seen[SN_JOINT_TYPE_COUNT] = {false};
    c->njoint = 0;
    if (c->H != NULL) {
        while (c->njoint < njoint) c->joint[c->njoint] = c->njoint, c->njoint++;
        return;
    }
    // from a random one on, so that it is another of each type every time
    int start = (int)(sn_random(state) * njoint) % njoint;
    for (int i = 0; i < njoint; i++) {
        int j = (start + i) % njoint, size = joint_nv(c->model, j);
        sn_joint_type type = sn_model_joint(c->model, j)->type;
        if (size == 0 || seen[type]) continue;
        seen[type] = true;
        c->joint[c->njoint++] = j;
        nv += size;
    }
    while (nv < SOME) {
        int j = (int)(sn_random(state) * njoint) % njoint;
        nv += joint_nv(c->model, j);
        if (joint_nv(c->model, j) > 0) c->joint[c->njoint++] = j;
    }
}

// The columns of H that are a joint's, one after the other.
static const double *columns_of(checking *c, int first, int last) {
    size_t nv = (size_t)c->nv;
    if (c->H != NULL) return c->H + (size_t)first * nv;
    for (int i = 0; i < c->nv; i++) c->delta[i] = 0;
    for (int v = first; v < last; v++) {
        c->delta[v] = 1;
        sn_workspace_multiply(c->ws, false, c->delta, c->column + (size_t)(v - first) * nv);
        c->delta[v] = 0;
    }
    return c->column;
}

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

// How far the derivatives of a joint are from differences with steps of h. A difference of gradients at
// q (+) h e_v is a derivative along moving axes where a rotation is held as a quaternion: the joint's own block
// is compared symmetrised.
static void compare_joint(checking *c, int first, int last, const double *H, const scales *at_q,
                          double h, double *off_g, double *off_H) {
    size_t nv = (size_t)c->nv;
    *off_g = *off_H = 0;
    for (int v = first; v < last; v++) {
        double value[4];
        const double at[4] = {-2 * h, -h, h, 2 * h};
        for (int s = 0; s < 4; s++) value[s] = value_at(c, v, at[s], c->g_side[s]);
        // fourth order: (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h
        double slope = (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * h);
        double off = fabs(slope - c->g[v]) / fmax(at_q->g, fabs(at_q->f));
        *off_g = off <= *off_g ? *off_g : off;  // what is no number is off
        for (size_t i = 0; i < nv; i++)
            c->row[(size_t)(v - first) * nv + i] =
                (c->g_side[0][i] - 8 * c->g_side[1][i] + 8 * c->g_side[2][i] - c->g_side[3][i]) /
                (12 * h);
    }
    for (int v = first; v < last; v++) {
        for (int i = 0; i < c->nv; i++) {
            double slope = c->row[(size_t)(v - first) * nv + (size_t)i];
            if (i >= first && i < last)
                slope = 0.5 * (slope + c->row[(size_t)(i - first) * nv + (size_t)v]);
            double off = fabs(slope - H[(size_t)(v - first) * nv + (size_t)i]) / at_q->H;
            *off_H = off <= *off_H ? *off_H : off;
        }
    }
}

// f has kinks: an orientation half a turn from its goal, a soft limit's edge. A difference across one is no
// derivative, so a joint that is off is looked at again with shorter steps.
static void check_joint(checking *c, int joint, const scales *at_q) {
    int first = sn_model_v_index(c->model, joint), last = first + joint_nv(c->model, joint);
    sn_joint_type type = sn_model_joint(c->model, joint)->type;
    double unused, off_g = INFINITY, off_H = INFINITY;
    if (c->H == NULL && sn_workspace_eval(c->ws, c->q, SN_EVAL_GRADIENT, &unused) != SN_OK) return;
    const double *H = columns_of(c, first, last);
    for (int digits = 4; digits <= 8 && !(off_g <= allowed && off_H <= allowed); digits++)
        compare_joint(c, first, last, H, at_q, pow(10, -digits), &off_g, &off_H);
    c->worst_g[type] = off_g <= c->worst_g[type] ? c->worst_g[type] : off_g;
    c->worst_H[type] = off_H <= c->worst_H[type] ? c->worst_H[type] : off_H;
}

static void check_pose(checking *c) {
    scales at_q = {.g = 1e-12, .H = 1e-12};
    unsigned wanted = c->H != NULL ? SN_EVAL_HESSIAN : SN_EVAL_GRADIENT;
    if (sn_workspace_eval(c->ws, c->q, wanted, &at_q.f) != SN_OK) return;
    sn_workspace_gradient(c->ws, c->g);
    if (c->H != NULL) sn_workspace_hessian(c->ws, c->H);
    for (int i = 0; i < c->nv; i++) at_q.g = fmax(at_q.g, fabs(c->g[i]));
    for (int k = 0; k < c->njoint; k++) {
        int first = sn_model_v_index(c->model, c->joint[k]), n = joint_nv(c->model, c->joint[k]);
        const double *H = columns_of(c, first, first + n);
        for (size_t i = 0; i < (size_t)n * (size_t)c->nv; i++) at_q.H = fmax(at_q.H, fabs(H[i]));
    }
    for (int k = 0; k < c->njoint; k++) {
        check_joint(c, c->joint[k], &at_q);
        show_progress(c, k + 1);
    }
}

static bool print_result(const checking *c, long poses) {
    bool good = true;
    char which[60] = "";
    if (c->H == NULL)
        (void)snprintf(which, sizeof which, ", some %d of them at each pose", (int)SOME);
    printf("%ld poses, %d degrees of freedom%s; worst error relative to the largest entry\n\n",
           poses, c->nv, which);
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
    bool all = nv <= ALL_UP_TO;
    checking c = {.model = model, .nv = (int)nv, .shown = isatty(2), .poses = poses};
    if (sn_workspace_create(problem, all, NULL, &c.ws, NULL) != SN_OK) {
        fputs("sinew: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    c.joint =
        must_alloc((size_t)sn_model_njoint(model) + SOME + SN_JOINT_TYPE_COUNT, sizeof *c.joint);
    double *numbers = must_alloc(2 * nq + 18 * nv + (all ? nv * nv : 0), sizeof *numbers);
    c.q = numbers;
    c.moved = c.q + nq;
    c.delta = c.moved + nq;
    c.g = c.delta + nv;
    for (int s = 0; s < 4; s++) c.g_side[s] = c.g + (size_t)(s + 1) * nv;
    c.row = c.g + 5 * nv;
    c.column = c.row + 6 * nv;
    c.H = all ? c.column + 6 * nv : NULL;
    for (; c.pose < poses; c.pose++) {
        sn_model_sample(model, &seed, c.q);
        choose_joints(&c, &seed);
        check_pose(&c);
    }
    if (c.shown) fputs("\r\033[K", stderr);
    bool good = print_result(&c, poses);
    free(numbers);
    free(c.joint);
    sn_workspace_destroy(c.ws);
    return good ? EXIT_OK : EXIT_FAILED;
}

// All tasks together; where they have several levels, each level alone as well, as a solver sees it.
static int check_levels(const sn_model *model, const sn_problem *problem, long poses,
                        uint64_t seed) {
    int code = check(model, problem, poses, seed);
    for (int level = 0; level < SN_MAX_LEVELS && task_levels(problem) > 1; level++) {
        sn_problem *alone;
        int count = 0;
        if (sn_problem_copy(problem, NULL, 0, NULL, &alone, NULL) != SN_OK) return EXIT_FAILED;
        for (int i = 0; i < sn_problem_ntask(problem); i++) {
            const bool on = sn_problem_task(problem, i)->level == level;
            count += on && sn_problem_task_active(problem, i);
            if (!on) (void)sn_problem_set_enabled(alone, i, false);
        }
        if (count > 0) {
            printf("\nlevel %d alone, %d task%s: ", level, count, count == 1 ? "" : "s");
            const int other = check(model, alone, poses, seed);
            if (other != EXIT_OK) code = other;
        }
        sn_problem_destroy(alone);
    }
    return code;
}

static int run(int argc, char **argv) {
    settings s = {0};
    const char *word = NULL;
    int nword, code = parse_options(&command_check, argc, argv, &s, &word, &nword);
    if (code >= 0) return code;
    uint64_t state = (uint64_t)s.seed;
    code = EXIT_INPUT;
    figure holder;
    const sn_model *model = load_robot(word, s.floating, &holder);
    sn_problem *problem = NULL;
    if (model != NULL)
        problem = s.tasks != NULL ? load_problem(s.tasks, model) : random_problem(model, &state);
    if (problem != NULL) code = check_levels(model, problem, s.poses, state);
    sn_problem_destroy(problem);
    free_figure(&holder);
    return code;
}

const command command_check = {
    .name = "check",
    .summary = "compare derivatives with finite differences",
    .usage = usage,
    .about =
        "Compare the gradient and the exact Hessian with finite differences at random poses, and "
        "print "
        "the worst relative error for each joint type. Exit with 1 when one is above 1e-6.\n\n"
        "MODEL is a file of any format, or \"humanoid\", the built-in figure. Above 400 degrees of "
        "freedom each pose is checked in about 40 of them, others each time, of every joint type.",
    .options = option_table,
    .examples = examples,
    .word = "MODEL",
    .word_choices = "humanoid",
    .least_words = 1,
    .most_words = 1,
    .run = run};
