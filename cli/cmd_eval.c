// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure.h"
#include "option_rows.h"
#include "task_text.h"

typedef struct settings {
    const char *model, *tasks, *pose, *hessian, *jacobian, *frame, *velocity;
    bool json, floating;
} settings;

#define AT(field) offsetof(settings, field)

static const char *const usage[] = {
    "-m MODEL -t TASKS [-q FILE] [--hessian KIND] [--json]",
    "-m MODEL --jacobian NAME [--frame FRAME] [-q FILE] [--velocity FILE] [--json]", NULL};

static const option option_table[] = {
    {.group = "Files", ROW_MODEL(AT(model), MODEL_HELP), .required = true},
    {ROW_TASKS(AT(tasks), "the tasks, a JSON file; not needed for --jacobian")},
    {ROW_FILE("--pose", "-q", AT(pose), "the pose: " POSE_HELP)},
    {ROW_FLOATING(AT(floating))},
    {.group = "What to print",
     .name = "--hessian",
     .kind = OPTION_CHOICE,
     .value = "KIND",
     .choices = "exact gn none",
     .standard = "exact",
     .place = AT(hessian),
     .help = "the Hessian in --json (gn is Gauss-Newton)"},
    {ROW_TEXT("--jacobian", "NAME", AT(jacobian),
              "the 6 x nv Jacobian of a joint, or of a link or marker: "
              "its linear velocity, then its angular one, "
              "by the nv velocities")},
    {.name = "--frame",
     .kind = OPTION_CHOICE,
     .value = "FRAME",
     .choices = "body world aligned",
     .standard = "body",
     .place = AT(frame),
     .help = "the Jacobian's frame. body: its own axes, about its "
             "origin (a marker's: its joint's axes, about that "
             "point). world: the world's axes, about the world's "
             "origin. aligned: the world's axes, about the "
             "point"},
    {ROW_FILE(
        "--velocity", NULL, AT(velocity),
        "nv velocities of the pose, metres or radians per second: the Jacobian's derivative by "
        "time, in place of the Jacobian in the text and beside it in --json; in the frames body "
        "and world")},
    {ROW_FLAG("--json", AT(json), "everything as JSON, with 17 digits")},
    {0}};

static const help_item examples[] = {
    {"sinew eval -m humanoid -t tasks.json --json",
     "f, gradient, Hessian and frames at the zero pose"},
    {"sinew eval -m arm.urdf --jacobian tool0 --frame aligned -q pose.json",
     "how each joint moves the tool"},
    {0}};

typedef struct evaluation {
    const sn_model *model;
    sn_workspace *ws;
    double f, *g, *H;
    const char *jacobian, *frame;  // NULL: none
    const sn_frame_desc *of;       // what the Jacobian is of, where that is a named frame
    double *J, *Jdot;              // 6 x nv, column-major; Jdot with velocities alone
} evaluation;

static const char *const row_names[6] = {"vx", "vy", "vz", "wx", "wy", "wz"};

// "elbow", or "shoulder.1" for a joint with several degrees of freedom.
static void name_velocity(const sn_model *model, int v, char *out, size_t size) {
    int j = 0;
    while (v >= sn_model_v_index(model, j) + sn_model_joint_nv(model, j)) j++;
    if (sn_model_joint_nv(model, j) > 1)
        (void)snprintf(out, size, "%s.%d", sn_model_joint(model, j)->name,
                       v - sn_model_v_index(model, j));
    else
        (void)snprintf(out, size, "%s", sn_model_joint(model, j)->name);
}

// Rows of a 6 x nv matrix as JSON.
static void print_rows(const double *J, int nv) {
    double *row = must_alloc((size_t)nv, sizeof *row);
    putchar('[');
    for (int r = 0; r < 6; r++) {
        for (int v = 0; v < nv; v++) row[v] = J[6 * v + r];
        if (r > 0) putchar(',');
        print_numbers(row, nv);
    }
    putchar(']');
    free(row);
}

static void print_jacobian_json(const evaluation *e) {
    int nv = sn_model_nv(e->model);
    char name[SN_MAX_NAME + 16];
    printf(",\"jacobian\":{\"of\":");
    print_json_string(e->jacobian);
    printf(",\"frame\":\"%s\",\"rows\":[\"vx\",\"vy\",\"vz\",\"wx\",\"wy\",\"wz\"],\"columns\":[",
           e->frame);
    for (int v = 0; v < nv; v++) {
        if (v > 0) putchar(',');
        name_velocity(e->model, v, name, sizeof name);
        print_json_string(name);
    }
    printf("],\"J\":");
    print_rows(e->J, nv);
    if (e->Jdot != NULL) {
        printf(",\"Jdot\":");
        print_rows(e->Jdot, nv);
    }
    putchar('}');
}

static void print_jacobian_text(const evaluation *e) {
    static const char *const frames[] = {"body",    "its own axes, about its origin",
                                         "world",   "the world's axes, about the world's origin",
                                         "aligned", "the world's axes, about the point"};
    int nv = sn_model_nv(e->model), k = 0;
    char name[SN_MAX_NAME + 16];
    while (strcmp(frames[k], e->frame) != 0) k += 2;
    const double *J = e->Jdot != NULL ? e->Jdot : e->J;
    printf("%s of %s, %s (%s): metres and radians%s\n\n%-24s",
           e->Jdot != NULL ? "Derivative of the Jacobian" : "Jacobian", e->jacobian, e->frame,
           frames[k + 1], e->Jdot != NULL ? " per second" : "", "velocity");
    for (int r = 0; r < 6; r++) printf(" %10s", row_names[r]);
    putchar('\n');
    for (int v = 0; v < nv; v++) {
        name_velocity(e->model, v, name, sizeof name);
        printf("%-24s", name);
        for (int r = 0; r < 6; r++) printf(" %10.6f", J[6 * v + r]);
        putchar('\n');
    }
}

// The joint and the point on it that a name speaks of; false and a message when there is none.
static bool find_point(evaluation *e, int *joint, double local[3]) {
    local[0] = local[1] = local[2] = 0;
    *joint = sn_model_find_joint(e->model, e->jacobian);
    if (*joint >= 0) return true;
    e->of = sn_model_frame(e->model, sn_model_find_frame(e->model, e->jacobian));
    if (e->of != NULL) {
        *joint = e->of->joint;
        memcpy(local, e->of->position, 3 * sizeof *local);
        return true;
    }
    int marker = sn_model_find_marker(e->model, e->jacobian);
    if (marker >= 0) {
        const sn_marker_desc *m = sn_model_marker(e->model, marker);
        *joint = m->joint;
        memcpy(local, m->position, 3 * sizeof *local);
        return true;
    }
    int njoint = sn_model_njoint(e->model), nmarker = sn_model_nmarker(e->model);
    int nframe = sn_model_nframe(e->model), n = 0;
    const char **names =
        must_alloc((size_t)njoint + (size_t)nmarker + (size_t)nframe, sizeof *names);
    for (int i = 0; i < njoint; i++) names[n++] = sn_model_joint(e->model, i)->name;
    for (int i = 0; i < nmarker; i++) names[n++] = sn_model_marker(e->model, i)->name;
    for (int i = 0; i < nframe; i++) names[n++] = sn_model_frame(e->model, i)->name;
    int nearest = sn_nearest_name(e->jacobian, names, n);
    if (nearest >= 0)
        complain("%s has no joint, link or marker \"%s\"; did you mean \"%s\"?",
                 sn_model_name(e->model), e->jacobian, names[nearest]);
    else
        complain("%s has no joint, link or marker \"%s\"", sn_model_name(e->model), e->jacobian);
    free(names);
    return false;
}

// From the joint's axes to those of a frame on it: each column's two vectors.
static void turn_columns(const sn_frame_desc *frame, double *J, size_t nv) {
    const double *r = frame->rotation;
    sn_mat3 R = sn_mat3_from_quat((sn_quat){r[0], r[1], r[2], r[3]});
    for (size_t i = 0; i < 2 * nv; i++) {
        double *x = J + 3 * i, out[3];
        for (int k = 0; k < 3; k++) out[k] = R.c[k].x * x[0] + R.c[k].y * x[1] + R.c[k].z * x[2];
        memcpy(x, out, sizeof out);
    }
}

static void compute_jacobian(evaluation *e, int joint, const double local[3], const double *qd) {
    size_t nv = (size_t)sn_model_nv(e->model);
    bool body = strcmp(e->frame, "body") == 0;
    e->J = must_alloc(6 * nv, sizeof *e->J);
    if (qd != NULL) {
        e->Jdot = must_alloc(6 * nv, sizeof *e->Jdot);
        sn_jacobian_dot(e->ws, joint, body ? SN_JACOBIAN_POINT : SN_JACOBIAN_WORLD, local,
                        SN_ROWS_BOTH, qd, e->Jdot);
    }
    if (body) {
        sn_jacobian_adjusted(e->ws, joint, SN_JACOBIAN_POINT, local, SN_ROWS_BOTH, e->J);
        if (e->of != NULL) turn_columns(e->of, e->J, nv);
        if (e->of != NULL && e->Jdot != NULL) turn_columns(e->of, e->Jdot, nv);
        return;
    }
    sn_jacobian_adjusted(e->ws, joint, SN_JACOBIAN_WORLD, NULL, SN_ROWS_BOTH, e->J);
    if (strcmp(e->frame, "world") == 0) return;
    // from the world's origin to the point: v_p = v + w x p
    sn_frame f = sn_workspace_frame(e->ws, joint);
    sn_vec3 p = f.p;
    for (int k = 0; k < 3; k++) {
        p.x += (&f.R.c[k].x)[0] * local[k];
        p.y += (&f.R.c[k].x)[1] * local[k];
        p.z += (&f.R.c[k].x)[2] * local[k];
    }
    for (size_t i = 0; i < nv; i++) {
        double *J = e->J + 6 * i;
        J[0] += J[4] * p.z - J[5] * p.y;
        J[1] += J[5] * p.x - J[3] * p.z;
        J[2] += J[3] * p.y - J[4] * p.x;
    }
}

static void print_json(const evaluation *e, const sn_problem *problem) {
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
    const int ntask = sn_problem_ntask(problem);
    for (int i = 0; i < ntask; i++) {
        printf(i == 0 ? ",\"tasks\":[" : ",");
        print_task_json(e->model, problem, i, sn_workspace_task_error(e->ws, i));
        if (i + 1 == ntask) putchar(']');
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
    putchar(']');
    if (e->J != NULL) print_jacobian_json(e);
    puts("}");
}

static void print_text(const evaluation *e, const sn_problem *problem) {
    double largest = 0;
    for (int i = 0; i < sn_model_nv(e->model); i++) largest = fmax(largest, fabs(e->g[i]));
    printf("f = %.9g    largest |gradient| = %.3g    %d degrees of freedom\n\n", e->f, largest,
           sn_model_nv(e->model));
    const bool levels = task_levels(problem) > 1;
    const int width = task_where_width(e->model, problem, 24);
    printf("%-4s %-20s %-*s %s%s\n", "task", "type", width, "joint", levels ? "level  " : "",
           "error (m, rad)");
    for (int i = 0; i < sn_problem_ntask(problem); i++) {
        const sn_task *t = sn_problem_task(problem, i);
        char where[100];
        const char *idle = task_idle(problem, i);
        printf("%-4d %-20s %-*s ", i, sn_task_type_name(t->type), width,
               task_where(e->model, t, where, sizeof where));
        if (levels) printf("%-6d ", t->level);
        printf("%.6g", sn_workspace_task_error(e->ws, i));
        if (idle != NULL) printf("  (%s)", idle);
        putchar('\n');
    }
    if (levels) puts("f and its derivatives are of all levels together");
    printf("\n%-24s %-30s %s\n", "joint", "position x y z (m)", "rotation w x y z");
    for (int j = 0; j < sn_model_njoint(e->model); j++) {
        sn_frame frame = sn_workspace_frame(e->ws, j);
        sn_quat r = sn_quat_from_mat3(frame.R);
        printf("%-24s %9.4f %9.4f %9.4f  %8.4f %8.4f %8.4f %8.4f\n",
               sn_model_joint(e->model, j)->name, frame.p.x, frame.p.y, frame.p.z, r.w, r.x, r.y,
               r.z);
    }
}

static int evaluate(const settings *s, const sn_model *model, const sn_problem *problem,
                    const double *q, const double *qd) {
    unsigned what = strcmp(s->hessian, "exact") == 0 ? SN_EVAL_HESSIAN
                    : strcmp(s->hessian, "gn") == 0  ? SN_EVAL_GAUSS_NEWTON
                                                     : SN_EVAL_GRADIENT;
    bool hessian = what != SN_EVAL_GRADIENT;
    size_t nv = (size_t)sn_model_nv(model);
    evaluation e = {.model = model, .jacobian = s->jacobian, .frame = s->frame};
    int joint = 0;
    double local[3];
    if (s->jacobian != NULL && !find_point(&e, &joint, local)) return EXIT_INPUT;
    e.g = must_alloc(nv, sizeof(double));
    if (hessian) e.H = must_alloc(nv * nv, sizeof(double));
    sn_status status = sn_workspace_create(problem, hessian, NULL, &e.ws, NULL);
    if (status == SN_OK) status = sn_workspace_eval(e.ws, q, what, &e.f);
    if (status == SN_OK) {
        sn_workspace_gradient(e.ws, e.g);
        if (hessian) sn_workspace_hessian(e.ws, e.H);
        if (s->jacobian != NULL) compute_jacobian(&e, joint, local, qd);
        if (s->json) {
            print_json(&e, problem);
        } else if (s->jacobian != NULL) {
            print_jacobian_text(&e);
        } else {
            print_text(&e, problem);
        }
    } else {
        fprintf(stderr, "sinew: %s\n", sn_status_text(status));
    }
    sn_workspace_destroy(e.ws);
    free(e.g);
    free(e.H);
    free(e.J);
    free(e.Jdot);
    return status == SN_OK ? EXIT_OK : status == SN_ERR_VALUE ? EXIT_INPUT : EXIT_FAILED;
}

static int run(int argc, char **argv) {
    settings s = {0};
    int nword, code = parse_options(&command_eval, argc, argv, &s, NULL, &nword);
    if (code >= 0) return code;
    if (s.tasks == NULL && s.jacobian == NULL)
        return wrong_usage(&command_eval, "-t TASKS is missing (or --jacobian NAME)");
    if (s.velocity != NULL && s.jacobian == NULL)
        return wrong_usage(&command_eval, "--velocity goes with --jacobian NAME");
    if (s.velocity != NULL && strcmp(s.frame, "aligned") == 0)
        return wrong_usage(&command_eval, "--velocity goes with --frame body or world");
    code = EXIT_INPUT;
    figure holder;
    const sn_model *model = load_robot(s.model, s.floating, &holder);
    sn_problem *problem = NULL;
    if (model != NULL && s.tasks != NULL) problem = load_problem(s.tasks, model);
    if (model != NULL && s.tasks == NULL)
        (void)sn_problem_create(model, NULL, 0, NULL, &problem, NULL);
    double *q = problem != NULL ? load_pose(s.pose, model) : NULL;
    double *qd = q != NULL && s.velocity != NULL ? load_velocities(s.velocity, model) : NULL;
    if (q != NULL && (s.velocity == NULL || qd != NULL)) code = evaluate(&s, model, problem, q, qd);
    free(qd);
    free(q);
    sn_problem_destroy(problem);
    free_figure(&holder);
    return code;
}

const command command_eval = {
    .name = "eval",
    .summary = "print f, gradient, Hessian, joint frames and Jacobians at a pose",
    .usage = usage,
    .about = "Print f = 1/2 sum of weighted squared residuals, its gradient and Hessian by the nv "
             "velocities, and "
             "the world frames of all joints (metres, radians, quaternions w x y z); or the "
             "Jacobian of a joint "
             "or link.",
    .options = option_table,
    .examples = examples,
    .run = run};
