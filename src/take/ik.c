// SPDX-License-Identifier: MIT
// A take as OpenSim's files ask for it: see ik.h. What a file asks for and cannot be had ends the take with a
// sentence; what can be left out is a warning.
#include "take/ik.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sinew/files.h"
#include "take/take.h"

static const double degree = 0x1.1df46a2529d39p-6;

static sn_status refuse(sn_take *t, int line, const char *text) {
    return sn_take_refuse(t, SN_FINDING_SETUP, text, line, 0);
}

static sn_status warn(sn_take *t, int line, const char *text) {
    return sn_take_note(t, SN_FINDING_SETUP_IGNORED, text, line, 0);
}

// --- markers ---------------------------------------------------------------------------------------------

static bool has_task(const sn_ik_setup *setup, const char *marker, double *weight) {
    for (int i = 0; i < sn_ik_setup_about(setup)->ntask; i++) {
        const sn_ik_task *k = sn_ik_setup_task(setup, i);
        if (k->coordinate || !k->apply || !(k->weight > 0) || strcmp(k->name, marker) != 0)
            continue;
        *weight = k->weight;
        return true;
    }
    return false;
}

// Tasks about markers that the model lacks are left out, as OpenSim does.
static sn_status tell_unknown(sn_take *t, const sn_ik_setup *setup) {
    sn_name_list list = {0};
    char names[sizeof list.text + 40], text[sizeof names + 80];
    int line = 0;
    for (int i = 0; i < sn_ik_setup_about(setup)->ntask; i++) {
        const sn_ik_task *k = sn_ik_setup_task(setup, i);
        if (k->coordinate || !k->apply || !(k->weight > 0)) continue;
        if (sn_model_find_marker(t->source, k->name) >= 0) continue;
        if (line == 0) line = k->line;
        sn_name_list_add(&list, k->name);
    }
    if (list.count == 0) return SN_OK;
    sn_name_list_print(&list, names);
    (void)snprintf(text, sizeof text, "%d task%s about markers that the model lacks: %s",
                   list.count, list.count == 1 ? " is" : "s are", names);
    return warn(t, line, text);
}

// The line where the tasks of markers begin; 0: there are none.
static int first_task(const sn_ik_setup *setup) {
    for (int i = 0; i < sn_ik_setup_about(setup)->ntask; i++)
        if (!sn_ik_setup_task(setup, i)->coordinate) return sn_ik_setup_task(setup, i)->line;
    return 0;
}

sn_status sn_take_ik_markers(sn_take *t) {
    const sn_ik_setup *setup = t->options.setup;
    const sn_ik_setup_info *info = sn_ik_setup_about(setup);
    const sn_allocator *allocator = &t->allocator;
    sn_marker_set *all = NULL;
    SN_TRY(sn_marker_set_of_model(t->source, allocator, &all, NULL));
    int count = sn_marker_set_count(all), n = 0;
    sn_marker_place *place = sn_acquire(allocator, ((size_t)count + 1) * sizeof *place);
    sn_status status = place == NULL ? SN_ERR_MEMORY : SN_OK;
    for (int i = 0; status == SN_OK && i < count; i++) {
        double weight;
        if (!has_task(setup, sn_model_marker(t->source, i)->name, &weight)) continue;
        place[n] = *sn_marker_set_place(all, i);
        place[n++].weight = weight;
    }
    if (status == SN_OK && n == 0)
        status = refuse(t, first_task(setup),
                        "no task follows a marker of the model: each is missing in it, switched "
                        "off, or has the weight 0");
    if (status == SN_OK)
        status = sn_marker_set_create(sn_marker_set_name(all), place, n, allocator, &t->set, NULL);
    if (status == SN_OK) status = tell_unknown(t, setup);
    if (status == SN_OK && info->note[0] != '\0') status = warn(t, 0, info->note);
    sn_release(allocator, place);
    sn_marker_set_destroy(all);
    return status;
}

// --- times -----------------------------------------------------------------------------------------------

static void find_times(const sn_recording *r, double *start, double *step) {
    const sn_recording_info *info = sn_recording_about(r);
    *step = info->rate > 0 ? 1 / info->rate : 0;
    *start = (info->first_frame - 1) * *step + info->time_offset;
}

sn_status sn_take_ik_frames(sn_take *t, int64_t *first, int64_t *last) {
    const sn_ik_setup_info *info = sn_ik_setup_about(t->options.setup);
    const sn_recording_info *about = sn_recording_about(t->recording);
    double start, step, end;
    char text[300];
    if (info->time_line == 0) return SN_OK;
    find_times(t->recording, &start, &step);
    end = start + (about->nframe - 1) * step;
    if (!(step > 0))
        return warn(t, info->time_line,
                    "the recording states no frame rate: <time_range> is not honoured");
    // a time may be rounded to where it is printed
    double slack = 0.5 * step;
    if (info->first_time > end + slack || info->last_time < start - slack) {
        (void)snprintf(text, sizeof text,
                       "<time_range> is %g to %g s, and the recording goes from %g to %g s",
                       info->first_time, info->last_time, start, end);
        return refuse(t, info->time_line, text);
    }
    // the nearest frames, as OpenSim takes them
    double a = fmax((info->first_time - start) / step, 0);
    double b = fmin((info->last_time - start) / step, about->nframe - 1);
    *first = about->first_frame + (int64_t)ceil(a - 0.5);
    *last = about->first_frame + (int64_t)floor(b + 0.5);
    return SN_OK;
}

double sn_ik_time(const sn_ik_plan *plan, int frame) { return plan->start + frame * plan->step; }

// --- coordinates -----------------------------------------------------------------------------------------

// How many coordinate tasks take their values from the file.
static int count_from_file(const sn_ik_setup *setup) {
    int n = 0;
    for (int i = 0; i < sn_ik_setup_about(setup)->ntask; i++) {
        const sn_ik_task *k = sn_ik_setup_task(setup, i);
        n += k->coordinate && k->from == SN_IK_FROM_FILE;
    }
    return n;
}

static void lay_out(sn_ik_plan *p, const sn_model *m, int ncoordinate, int nfile,
                    sn_layout *layout) {
    size_t nrow = p->table != NULL && nfile > 0 ? (size_t)sn_table_about(p->table)->nrow : 0;
    size_t nq = (size_t)sn_model_nq(m), nv = (size_t)sn_model_nv(m);
    p->home = sn_layout_take(layout, nq, sizeof *p->home);
    p->target = sn_layout_take(layout, nq, sizeof *p->target);
    p->lower = sn_layout_take(layout, nv, sizeof *p->lower);
    p->upper = sn_layout_take(layout, nv, sizeof *p->upper);
    p->pull = sn_layout_take(layout, nv, sizeof *p->pull);
    p->prescribed = sn_layout_take(layout, (size_t)ncoordinate, sizeof *p->prescribed);
    p->file = sn_layout_take(layout, (size_t)nfile, sizeof *p->file);
    p->knot = sn_layout_take(layout, (size_t)nfile * nrow, sizeof *p->knot);
    p->work = sn_layout_take(layout, 6 * nrow, sizeof *p->work);
}

// A coordinate that is locked or prescribed where its clamped range does not reach.
static sn_status check_held(sn_take *t, const sn_osim_coordinate_info *c, double value) {
    double slack = 1e-6 * (1 + fabs(c->upper - c->lower));
    char text[300];
    bool held = (c->locked && !c->prescribed) || c->prescribed;
    if (!held || !c->clamped || (value >= c->lower - slack && value <= c->upper + slack))
        return SN_OK;
    (void)snprintf(text, sizeof text,
                   "coordinate \"%.60s\" of the model (line %d of its file) is %s at %g, and "
                   "clamped to %g ... %g: both cannot be",
                   c->name, c->line, c->prescribed ? "prescribed" : "locked", value, c->lower,
                   c->upper);
    return refuse(t, 0, text);
}

static sn_status take_coordinates(sn_take *t, sn_ik_plan *p) {
    const sn_model *m = t->model;
    const sn_osim_coordinates *list = p->coordinates;
    sn_model_zero(m, p->home);
    for (int v = 0; v < sn_model_nv(m); v++) p->lower[v] = -INFINITY, p->upper[v] = INFINITY;
    for (int i = 0; i < sn_osim_coordinates_count(list); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        int joint = c->at.joint;
        if (joint < 0 || joint >= sn_model_njoint(m)) {
            SN_TRY(check_held(t, c, c->value));
            continue;
        }
        int q = sn_model_q_index(m, joint) + c->at.index;
        int v = sn_model_v_index(m, joint) + c->at.index;
        p->home[q] = c->value;
        const bool leaves = t->roams && t->left != NULL;
        if (!leaves || !t->left[v].lower) p->lower[v] = c->lower;
        if (!leaves || !t->left[v].upper) p->upper[v] = c->upper;
        if (!c->prescribed) {
            SN_TRY(check_held(t, c, c->value));
            continue;
        }
        p->prescribed[p->nprescribed++] = (sn_ik_moving){.at = c->at, .q = q, .source = i};
        for (int f = 0; f < t->input.count; f++)
            SN_TRY(
                check_held(t, c, sn_osim_prescribed(list, i, sn_ik_time(p, t->input.first + f))));
    }
    sn_model_follow(m, p->home);
    return SN_OK;
}

// The column of a coordinate in the table, "hip_flexion_r" or "/jointset/hip_r/hip_flexion_r/value".
static int find_column(const sn_table *table, const char *name) {
    int found = sn_table_find(table, name);
    size_t n = strlen(name);
    for (int c = 0; found < 0 && c < sn_table_about(table)->ncolumn; c++) {
        const char *column = sn_table_column(table, c), *value = strstr(column, "/value");
        if (value == NULL || value[6] != '\0' || (size_t)(value - column) < n + 1) continue;
        if (memcmp(value - n, name, n) == 0 && value[-(ptrdiff_t)n - 1] == '/') found = c;
    }
    return found;
}

// The spline of degree five through a column's numbers, as OpenSim puts one through its coordinate files.
static sn_status read_column(sn_take *t, sn_ik_plan *p, const sn_ik_task *k, int column, bool angle,
                             sn_ik_moving *at) {
    const sn_table_info *about = sn_table_about(p->table);
    double unit = angle && about->in_degrees ? degree : 1;
    at->knot = p->knot + (size_t)p->nfile * (size_t)about->nrow;
    for (int i = 0; i < about->nrow; i++) {
        double time = sn_table_row(p->table, i)[about->time];
        double x = sn_table_row(p->table, i)[column] * unit;
        if (!isfinite(time) || !isfinite(x)) continue;
        if (at->nknot > 0 && !(time > at->knot[at->nknot - 1].t)) continue;
        at->knot[at->nknot++] = (sn_quintic_knot){.t = time, .f = x};
    }
    if (at->nknot == 0) {
        char text[200];
        (void)snprintf(text, sizeof text, "column \"%.60s\" of the coordinate file has no number",
                       k->name);
        return refuse(t, k->line, text);
    }
    sn_quintic_fit(at->nknot, at->knot, p->work);
    return SN_OK;
}

static sn_status take_file(sn_take *t, sn_ik_plan *p, const sn_ik_task *k, bool angle,
                           sn_ik_moving at) {
    char text[400];
    const sn_ik_setup_info *info = sn_ik_setup_about(t->options.setup);
    if (p->table == NULL) {
        (void)snprintf(text, sizeof text, "coordinate \"%.60s\" is to be taken from a file, and %s",
                       k->name,
                       info->coordinate_file[0] == '\0' ? "<coordinate_file> names none"
                                                        : "that was not read");
        return refuse(t, k->line, text);
    }
    const sn_table_info *about = sn_table_about(p->table);
    int column = find_column(p->table, k->name);
    if (column < 0 || about->time < 0 || about->nrow == 0) {
        (void)snprintf(text, sizeof text, "the coordinate file has no %s \"%.60s\"",
                       about->time < 0 ? "column time, which is needed for" : "column", k->name);
        return refuse(t, k->line, text);
    }
    double from = sn_table_row(p->table, 0)[about->time];
    double to = sn_table_row(p->table, about->nrow - 1)[about->time];
    double first = sn_ik_time(p, t->input.first);
    double last = sn_ik_time(p, t->input.first + t->input.count - 1);
    if (first < from - 0.5 * p->step || last > to + 0.5 * p->step) {
        (void)snprintf(text, sizeof text,
                       "the coordinate file goes from %g to %g s, and the take from %g to %g s",
                       from, to, first, last);
        return refuse(t, k->line, text);
    }
    SN_TRY(read_column(t, p, k, column, angle, &at));
    p->file[p->nfile++] = at;
    return SN_OK;
}

static sn_status take_task(sn_take *t, sn_ik_plan *p, const sn_ik_task *k) {
    char text[300];
    int i = sn_osim_coordinate_find(p->coordinates, k->name);
    const sn_osim_coordinate_info *c = sn_osim_coordinate_at(p->coordinates, i);
    if (!k->apply || k->weight == 0) return SN_OK;
    if (c == NULL) {
        (void)snprintf(text, sizeof text, "the model has no coordinate \"%.60s\"", k->name);
        return refuse(t, k->line, text);
    }
    if (c->at.joint < 0 || c->locked || c->prescribed) {
        (void)snprintf(text, sizeof text,
                       "the task of coordinate \"%.60s\" changes nothing: in the model it %s",
                       k->name,
                       c->prescribed ? "is prescribed"
                       : c->locked   ? "is locked"
                                     : "moves nothing");
        return warn(t, k->line, text);
    }
    int q = sn_model_q_index(t->model, c->at.joint) + c->at.index;
    p->pull[sn_model_v_index(t->model, c->at.joint) + c->at.index] = k->weight;
    p->target[q] = k->from == SN_IK_MANUAL ? k->value : c->value;
    p->pulls = true;
    return k->from == SN_IK_FROM_FILE
               ? take_file(t, p, k, c->rotates, (sn_ik_moving){.at = c->at, .q = q})
               : SN_OK;
}

static sn_status take_setup(sn_take *t, sn_ik_plan *p) {
    const sn_ik_setup *setup = t->options.setup;
    const sn_ik_setup_info *info = sn_ik_setup_about(setup);
    memcpy(p->target, p->home, (size_t)sn_model_nq(t->model) * sizeof *p->target);
    for (int i = 0; i < info->ntask; i++) {
        const sn_ik_task *k = sn_ik_setup_task(setup, i);
        if (k->coordinate) SN_TRY(take_task(t, p, k));
    }
    bool tied = sn_model_ncoupling(t->model) > 0 || sn_model_nloop(t->model) > 0;
    if (tied && isfinite(info->constraint_weight))
        SN_TRY(warn(t, 0, "<constraint_weight> is finite: constraints hold strictly all the same"));
    if (info->report_errors || info->report_markers)
        SN_TRY(warn(t, 0,
                    info->report_markers
                        ? "<report_marker_locations>: -o FILE.trc writes where the markers are"
                        : "<report_errors>: --report FILE.html shows the errors of markers"));
    return SN_OK;
}

sn_status sn_take_ik_plan(sn_take *t) {
    const sn_take_options *o = &t->options;
    if (o->coordinates == NULL && o->setup == NULL) return SN_OK;
    int ncoordinate = sn_osim_coordinates_count(o->coordinates);
    int nfile = o->setup != NULL ? count_from_file(o->setup) : 0;
    sn_ik_plan *p = &t->plan;
    *p = (sn_ik_plan){
        .exact = o->setup != NULL, .coordinates = o->coordinates, .table = o->coordinate_values};
    sn_layout layout = {0};
    lay_out(p, t->model, ncoordinate, nfile, &layout);
    void *block = sn_layout_acquire(&layout, &t->allocator, &p->owner);
    if (block == NULL) return SN_ERR_MEMORY;
    layout = (sn_layout){.block = block};
    lay_out(p, t->model, ncoordinate, nfile, &layout);
    find_times(t->recording, &p->start, &p->step);
    t->input.plan = p;
    SN_TRY(take_coordinates(t, p));
    return o->setup != NULL ? take_setup(t, p) : SN_OK;
}

// --- frame by frame --------------------------------------------------------------------------------------

void sn_ik_targets(const sn_ik_plan *plan, int frame, double *q) {
    double time = sn_ik_time(plan, frame);
    for (int i = 0; i < plan->nfile; i++) {
        const sn_ik_moving *m = &plan->file[i];
        q[m->q] = sn_quintic_at(m->nknot, m->knot, time);
    }
}

sn_status sn_ik_hold(const sn_ik_plan *plan, int frame, sn_problem *problem) {
    double time = sn_ik_time(plan, frame);
    for (int i = 0; i < plan->nprescribed; i++) {
        const sn_ik_moving *m = &plan->prescribed[i];
        double x = sn_osim_prescribed(plan->coordinates, m->source, time);
        sn_status status = sn_problem_set_limits(problem, m->at.joint, m->at.index, x, x);
        // one that follows another is what that makes of it
        if (status != SN_OK && status != SN_ERR_ARGUMENT) return status;
    }
    return SN_OK;
}
