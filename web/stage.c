// SPDX-License-Identifier: MIT
// The stage: a figure, its pose and its goals.
#include "stage.h"
#include "sweeps/path_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

stage the = {.limits = true,
             .lanes = {{.method = SN_METHOD_HYBRID, .iterations = 100},
                       {.method = -1, .iterations = 100},
                       {.method = -1, .iterations = 100}}};

void *web_buffer(int bytes) {
    free(the.buffer);
    return the.buffer = malloc(bytes > 0 ? (size_t)bytes : 1);
}

const char *web_message(void) { return the.error.text; }

static int fail(sn_status status) {
    if (the.error.text[0] == '\0') {
        const char *text = sn_status_text(status);
        memcpy(the.error.text, text, strlen(text) + 1);
    }
    return (int)status;
}

// -- problems and solvers

static void release_problem(void) {
    for (int i = 0; i < WEB_LANES; i++) {
        sn_solver_destroy(the.lanes[i].solver);
        the.lanes[i].solver = NULL;
    }
    sn_workspace_destroy(the.probe);
    sn_problem_destroy(the.problem);
    the.probe = NULL;
    the.problem = NULL;
}

static void add_entry(lane *l, const sn_trace *trace);

static void on_trace(void *user, const sn_trace *trace) {
    lane *l = user;
    if (l->watched) add_entry(l, trace);
}

static sn_status create_solver(lane *l) {
    sn_solver_destroy(l->solver);
    l->solver = NULL;
    if (l->method < 0 || the.problem == NULL) return SN_OK;
    sn_solver_options options = sn_solver_options_default();
    options.method = (sn_method)l->method;
    options.max_iterations = l->iterations;
    options.trace = on_trace;
    options.trace_user = l;
    return sn_solver_create(the.problem, &options, NULL, &l->solver, &the.error);
}

static sn_task task_of(const goal *g) {
    static const sn_task_type types[] = {SN_TASK_POINT, SN_TASK_ORIENTATION, SN_TASK_POSE};
    sn_task t = sn_task_default(types[g->kind]);
    // a radian counts as much as a tenth of the figure
    double lever = 0.1 * the.size;
    t.joint = g->joint;
    t.weight = g->kind == WEB_ORIENTATION ? g->weight * lever * lever : g->weight;
    t.rotation_weight = g->weight * lever * lever;
    memcpy(t.local, g->local, sizeof t.local);
    memcpy(t.goal, g->at, sizeof t.goal);
    memcpy(t.rotation, g->turn, sizeof t.rotation);
    return t;
}

int web_goals(int count) {
    sn_task tasks[WEB_GOALS + 1];
    sn_problem *problem;
    sn_workspace *probe;
    the.error.text[0] = '\0';
    if (count < 0 || count > WEB_GOALS || the.model == NULL) return fail(SN_ERR_ARGUMENT);
    for (int i = 0; i < count; i++) tasks[i] = task_of(&the.goals[i]);
    tasks[count] = ease_task();
    sn_status status = sn_problem_create(the.model, tasks, count + 1, NULL, &problem, &the.error);
    if (status != SN_OK) return fail(status);
    status = sn_workspace_create(problem, true, NULL, &probe, NULL);
    if (status != SN_OK) {
        sn_problem_destroy(problem);
        return fail(status);
    }
    release_problem();
    the.problem = problem;
    the.probe = probe;
    the.ngoal = count;
    for (int i = 0; i < WEB_LANES && status == SN_OK; i++) status = create_solver(&the.lanes[i]);
    return status == SN_OK ? SN_OK : fail(status);
}

int web_lane(int index, int method, int iterations) {
    lane *l = &the.lanes[index];
    bool good = method < 0 || sn_method_available((sn_method)method);
    if (!good || iterations < 1 || iterations > WEB_ITERATIONS) return fail(SN_ERR_ARGUMENT);
    l->method = method;
    l->iterations = iterations;
    l->ntrace = 0;
    the.error.text[0] = '\0';
    sn_status status = create_solver(l);
    return status == SN_OK ? SN_OK : fail(status);
}

int web_method_count(void) { return SN_METHOD_COUNT; }
const char *web_method_name(int method) { return sn_method_name((sn_method)method); }
int web_method_available(int method) { return sn_method_available((sn_method)method); }
const char *web_stop_text(int stop) { return sn_stop_text((sn_stop)stop); }

void web_goal_set(int index, int joint, int kind, double weight, double lx, double ly, double lz,
                  double x, double y, double z, double qw, double qx, double qy, double qz) {
    if (index < 0 || index >= WEB_GOALS) return;
    bool known = kind >= WEB_POSITION && kind <= WEB_BOTH;
    the.goals[index] = (goal){
        joint, known ? kind : WEB_POSITION, weight, {lx, ly, lz}, {x, y, z}, {qw, qx, qy, qz}};
}

void web_goal_move(int index, double x, double y, double z) {
    if (index < 0 || index >= the.ngoal) return;
    double at[3] = {x, y, z};
    if (the.goals[index].kind == WEB_ORIENTATION ||
        sn_problem_set_goal(the.problem, index, at) == SN_OK)
        memcpy(the.goals[index].at, at, sizeof at);
}

void web_goal_turn(int index, double w, double x, double y, double z) {
    if (index < 0 || index >= the.ngoal) return;
    double turn[4] = {w, x, y, z};
    if (the.goals[index].kind == WEB_POSITION ||
        sn_problem_set_rotation(the.problem, index, turn) == SN_OK)
        memcpy(the.goals[index].turn, turn, sizeof turn);
}

// -- the figure

// The base with limits and locks as they are now.
static sn_status restricted(sn_model **out) {
    const sn_model *base = the.base;
    sn_builder *b;
    *out = NULL;
    sn_status status = sn_builder_create(sn_model_name(base), NULL, &b, NULL);
    if (status != SN_OK) return status;
    for (int j = 0; j < sn_model_njoint(base); j++) {
        sn_joint_desc d = *sn_model_joint(base, j);
        for (int i = 0; i < SN_MAX_JOINT_DOFS; i++) {
            if (!the.limits) d.lower[i] = -INFINITY, d.upper[i] = INFINITY;
            if (the.locked[j]) d.locked[i] = true;
        }
        (void)sn_builder_joint(b, &d);
    }
    for (int i = 0; i < sn_model_nmarker(base); i++)
        (void)sn_builder_marker(b, sn_model_marker(base, i));
    sn_builder_couple_as(b, base);
    status = sn_builder_finish(b, out, &the.error);
    sn_builder_destroy(b);
    return status;
}

int web_restrict(int limits, const unsigned char *locked) {
    sn_model *model;
    if (the.base == NULL) return fail(SN_ERR_ARGUMENT);
    the.limits = limits != 0;
    if (locked != the.locked) memcpy(the.locked, locked, (size_t)sn_model_njoint(the.base));
    the.error.text[0] = '\0';
    sn_status status = restricted(&model);
    if (status != SN_OK) return fail(status);
    release_problem();
    sn_model_destroy(the.model);
    the.model = model;
    return web_goals(the.ngoal);
}

static void measure(void) {
    (void)sn_workspace_pose(the.probe, the.q);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double square = 0;
    for (int j = 0; j < sn_model_njoint(the.model); j++) {
        sn_vec3 p = sn_workspace_frame(the.probe, j).p;
        const double at[3] = {p.x, p.y, p.z};
        for (int c = 0; c < 3; c++) low[c] = fmin(low[c], at[c]), high[c] = fmax(high[c], at[c]);
    }
    for (int c = 0; c < 3; c++) square += (high[c] - low[c]) * (high[c] - low[c]);
    the.size = square > 1e-12 ? 0.5 * sqrt(square) : 1;
}

int stage_take_model(sn_model *model, sn_skeleton *skeleton) {
    const sn_model *base = model != NULL ? model : sn_skeleton_model(skeleton);
    size_t njoint = (size_t)sn_model_njoint(base), nq = (size_t)sn_model_nq(base),
           nv = (size_t)sn_model_nv(base), entries = 8 * (WEB_ITERATIONS + 2);
    size_t rows = sn_path_size(sn_model_path(base));
    double *numbers =
        calloc((5 + WEB_LANES) * nq + 3 * nv + WEB_LANES * entries + rows, sizeof *numbers);
    bool *is_free = calloc(nv + 1, sizeof *is_free);
    unsigned char *locked = calloc(njoint, 1);
    signed char *held = calloc(nv + 1, 1);
    float *matrices = calloc(16 * njoint, sizeof *matrices);
    if (numbers == NULL || is_free == NULL || locked == NULL || held == NULL || matrices == NULL) {
        free(numbers), free(is_free), free(locked), free(held), free(matrices);
        sn_model_destroy(model);
        sn_skeleton_destroy(skeleton);
        the.error.text[0] = '\0';
        return fail(SN_ERR_MEMORY);
    }
    take_forget();
    release_problem();
    sn_model_destroy(the.model);
    sn_model_destroy(the.own);
    sn_skeleton_destroy(the.skeleton);
    sn_osim_coordinates_destroy(the.coordinates);
    the.coordinates = NULL;
    free(the.numbers), free(the.free), free(the.locked), free(the.held), free(the.matrices);
    the.own = model;
    the.skeleton = skeleton;
    the.base = base;
    the.turned = false;
    the.model = NULL;
    the.numbers = numbers;
    the.free = is_free;
    the.locked = locked;
    the.held = held;
    the.matrices = matrices;
    double *next = numbers,
           **const poses[] = {&the.q, &the.rest, &the.ease, &the.start, &the.again};
    for (int i = 0; i < 5; i++, next += nq) sn_model_zero(base, *poses[i] = next);
    for (int i = 0; i < WEB_LANES; i++, next += nq) sn_model_zero(base, the.lanes[i].q = next);
    for (int i = 0; i < WEB_LANES; i++, next += entries) the.lanes[i].trace = next;
    the.delta = next;
    the.gradient = next + nv;
    the.ease_weight = next + 2 * nv;
    the.rows = next + 3 * nv;
    the.ngoal = 0;
    the.limits = true;
    ease_weigh();
    int status = web_restrict(true, the.locked);
    if (status == SN_OK) measure();
    return status;
}

int web_figure(int which) {
    sn_model *model;
    the.error.text[0] = '\0';
    sn_status status = figure_build(which, &model);
    return status == SN_OK ? stage_take_model(model, NULL) : fail(status);
}

const char *web_name(void) { return sn_model_name(the.base); }
int web_njoint(void) { return sn_model_njoint(the.base); }
int web_nq(void) { return sn_model_nq(the.base); }
int web_nv(void) { return sn_model_nv(the.base); }
const char *web_joint_name(int joint) { return sn_model_joint(the.base, joint)->name; }
int web_joint_parent(int joint) { return sn_model_joint(the.base, joint)->parent; }
int web_joint_type(int joint) { return (int)sn_model_joint(the.base, joint)->type; }
int web_joint_q(int joint) { return sn_model_q_index(the.base, joint); }
int web_joint_v(int joint) { return sn_model_v_index(the.base, joint); }
const double *web_lower(void) { return sn_model_lower(the.base); }
const double *web_upper(void) { return sn_model_upper(the.base); }

int web_nshape(void) { return sn_model_nshape(the.base); }

const double *web_shape(int shape) {
    static double out[12];
    const sn_shape_desc *d = sn_model_shape(the.base, shape);
    if (d == NULL) return NULL;
    out[0] = (double)d->type;
    out[1] = d->joint;
    memcpy(out + 2, d->from, sizeof d->from);
    memcpy(out + 5, d->to, sizeof d->to);
    memcpy(out + 8, d->normal, sizeof d->normal);
    out[11] = d->radius;
    for (double *p = out + 2; p < out + 11 && d->joint < 0 && the.turned; p += 3) {
        const double y = p[1];
        p[1] = p[2];
        p[2] = -y;
    }
    return out;
}

const double *web_joint_tip(int joint) {
    static double tip[3];
    tip[0] = tip[1] = tip[2] = NAN;
    if (the.skeleton != NULL) sn_skeleton_tip(the.skeleton, joint, tip);
    // a model says nothing of where its bones end: the middle of its markers will do
    int count = 0;
    double sum[3] = {0, 0, 0};
    for (int i = 0; the.skeleton == NULL && i < sn_model_nmarker(the.base); i++) {
        const sn_marker_desc *m = sn_model_marker(the.base, i);
        if (m->joint != joint) continue;
        for (int c = 0; c < 3; c++) sum[c] += m->position[c];
        count++;
    }
    for (int c = 0; c < 3 && count > 0; c++) tip[c] = sum[c] / count;
    return tip;
}

// -- poses

double *web_q(void) { return the.q; }
double *web_rest(void) { return the.rest; }
double *web_ease(void) { return the.ease; }

int web_tidy(double *q) {
    if (sn_model_check_pose(the.base, q, NULL) != SN_OK) return 0;
    sn_model_normalize(the.base, q);
    return 1;
}

const float *web_place(int index) {
    (void)sn_workspace_pose(the.probe, index == 0 ? the.q : the.lanes[index].q);
    for (int j = 0; j < sn_model_njoint(the.base); j++) {
        sn_frame at = sn_workspace_frame(the.probe, j);
        float *m = the.matrices + 16 * j;
        for (int c = 0; c < 3; c++) {
            m[4 * c] = (float)at.R.c[c].x;
            m[4 * c + 1] = (float)at.R.c[c].y;
            m[4 * c + 2] = (float)at.R.c[c].z;
            m[4 * c + 3] = 0;
        }
        m[12] = (float)at.p.x;
        m[13] = (float)at.p.y;
        m[14] = (float)at.p.z;
        m[15] = 1;
    }
    return the.matrices;
}

// Which degrees of freedom the gradient in `probe` holds at a limit, at pose q.
static void find_held(const double *q) {
    const sn_model *m = the.model;
    memset(the.held, 0, (size_t)m->nv + 1);
    sn_workspace_gradient(the.probe, the.gradient);
    for (int i = 0; i < m->njoint; i++) {
        const sn_joint *j = &m->joint[i];
        for (int a = 0; a < j->nv; a++) {
            if (j->ops->quaternion >= 0 && a >= j->ops->quaternion) continue;
            double x = q[j->q0 + a], g = the.gradient[j->v0 + a];
            if (x <= m->lower[j->v0 + a] && g > 0) the.held[j->v0 + a] = -1;
            if (x >= m->upper[j->v0 + a] && g < 0) the.held[j->v0 + a] = 1;
        }
    }
}

const signed char *web_held(void) {
    double f;
    memset(the.held, 0, (size_t)sn_model_nv(the.model) + 1);
    if (sn_workspace_eval(the.probe, the.q, SN_EVAL_GRADIENT, &f) == SN_OK) find_held(the.q);
    return the.held;
}

const double *web_goal_state(int index) {
    static double out[9];
    const goal *g = &the.goals[index];
    (void)sn_workspace_pose(the.probe, the.q);
    sn_frame at = sn_workspace_frame(the.probe, g->joint);
    sn_vec3 p = sn_workspace_point(the.probe, g->joint, g->local);
    sn_quat r = sn_quat_from_mat3(at.R), to = {g->turn[0], g->turn[1], g->turn[2], g->turn[3]};
    sn_vec3 off = v3_sub((sn_vec3){g->at[0], g->at[1], g->at[2]}, p);
    const double all[9] = {
        p.x, p.y,          p.z,
        r.w, r.x,          r.y,
        r.z, v3_norm(off), v3_norm(sn_quat_log(sn_quat_mul(to, sn_quat_conj(r))))};
    memcpy(out, all, sizeof out);
    return out;
}

// -- solving

void web_begin(int from) {
    size_t bytes = (size_t)sn_model_nq(the.base) * sizeof(double);
    if (from == WEB_FROM_LAST) memcpy(the.start, the.q, bytes);
    if (from == WEB_FROM_REST) memcpy(the.start, the.rest, bytes);
    if (from == WEB_FROM_ZERO) sn_model_zero(the.base, the.start);
    // the task behind the goals; a pose that is not finite stays out
    (void)sn_problem_set_rest(the.problem, the.ngoal, the.ease);
}

int web_solve(int index) {
    lane *l = &the.lanes[index];
    if (l->solver == NULL) return SN_ERR_ARGUMENT;
    memcpy(l->q, the.start, (size_t)sn_model_nq(the.base) * sizeof(double));
    if (the.ngoal == 0) {
        l->report = (sn_report){0};
        return SN_OK;
    }
    sn_status status = sn_solver_solve(l->solver, l->q, &l->report);
    // and from there with the goals moved on
    for (int round = 0; round < EASE_ROUNDS && status == SN_OK; round++) {
        sn_report more;
        ease_move_on(l->q);
        status = sn_solver_solve(l->solver, l->q, &more);
        more.iterations += l->report.iterations;
        l->report = more;
    }
    ease_move_back();
    return (int)status;
}

const double *web_report(int index) {
    static double out[6];
    const sn_report *r = &the.lanes[index].report;
    out[0] = r->stop;
    out[1] = r->f;
    out[2] = r->gradient;
    out[3] = r->worst_error;
    out[4] = r->iterations;
    out[5] = r->active;
    return out;
}

static size_t last_entry(const sn_path *path, int i) { return (size_t)sn_path_length(path, i) - 1; }

// How many eigenvalues of H lie below -shift, of what is free to move: by Sylvester's law as many as
// H + shift has negative pivots. What is held at a limit, or locked, becomes a row of the identity.
static int count_below(const double *rows, double shift) {
    const sn_path *path = sn_model_path(the.model);
    int n = sn_path_count(path), count = 0;
    memcpy(the.rows, rows, sn_path_size(path) * sizeof *rows);
    for (int i = 0; i < n; i++) the.rows[sn_path_row(path, i) + last_entry(path, i)] += shift;
    sn_path_drop(path, the.free, the.rows);
    (void)sn_path_factor_ldl(path, -INFINITY, the.rows);
    for (int i = 0; i < n; i++) count += the.rows[sn_path_row(path, i) + last_entry(path, i)] < 0;
    return count;
}

// The signs of the eigenvalues of the exact Hessian. Those within 1e-7 of the largest diagonal
// entry count as zero: what no goal sees.
static void count_signs(const double *q, int *negative, int *zero) {
    const sn_model *m = the.model;
    const sn_path *path = sn_model_path(m);
    double f, top = 0;
    *negative = *zero = 0;
    if (sn_workspace_eval(the.probe, q, SN_EVAL_HESSIAN, &f) != SN_OK) return;
    find_held(q);
    const double *rows = sn_workspace_rows(the.probe);
    for (int i = 0; i < m->nv; i++) {
        the.free[i] = the.held[m->v_of[i]] == 0 && m->gain[m->v_of[i]] != 0;
        top = fmax(top, fabs(rows[sn_path_row(path, i) + last_entry(path, i)]));
    }
    *negative = count_below(rows, 1e-7 * top);
    *zero = count_below(rows, -1e-7 * top) - *negative;
}

static void add_entry(lane *l, const sn_trace *trace) {
    if (l->ntrace > WEB_ITERATIONS) return;
    int negative, zero;
    count_signs(l->solver->q, &negative, &zero);
    double worst = 0;
    for (int i = 0; i < the.ngoal; i++) {
        const goal *g = &the.goals[i];
        if (g->kind == WEB_ORIENTATION) continue;
        sn_vec3 p = sn_workspace_point(the.probe, g->joint, g->local);
        worst = fmax(worst, v3_norm(v3_sub((sn_vec3){g->at[0], g->at[1], g->at[2]}, p)));
    }
    const double entry[8] = {trace->f, worst,         trace->gradient, negative,
                             zero,     trace->active, trace->exact,    trace->taken};
    memcpy(l->trace + 8 * l->ntrace++, entry, sizeof entry);
}

int web_trace(int index) {
    lane *l = &the.lanes[index];
    sn_report again;
    l->ntrace = 0;
    if (l->solver == NULL || the.ngoal == 0) return 0;
    // the goals as the last solve had them, all the way from the start
    memcpy(the.again, the.start, (size_t)sn_model_nq(the.base) * sizeof(double));
    for (int round = 0; round < EASE_ROUNDS; round++) {
        if (sn_solver_solve(l->solver, the.again, &again) == SN_OK) ease_move_on(the.again);
    }
    // the start as the solver sees it, before its first iteration
    memcpy(l->solver->q, the.start, (size_t)sn_model_nq(the.base) * sizeof(double));
    (void)sn_model_clamp(the.model, l->solver->q);
    sn_trace first = {.gradient = NAN};
    if (sn_workspace_eval(the.probe, l->solver->q, 0, &first.f) == SN_OK) {
        add_entry(l, &first);
        memcpy(the.again, the.start, (size_t)sn_model_nq(the.base) * sizeof(double));
        l->watched = true;
        (void)sn_solver_solve(l->solver, the.again, &again);
        l->watched = false;
    }
    ease_move_back();
    return l->ntrace;
}

const double *web_trace_entries(int index) { return the.lanes[index].trace; }
