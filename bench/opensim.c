// SPDX-License-Identifier: MIT
#include "opensim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "basics.h"
#include "dense.h"
#include "model/model.h"

const opensim_case opensim_cases[OPENSIM_CASES] = {
    {"walking1", "subject4/expert.osim", "subject4/ik_tasks.xml", "subject4/walking1.trc",
     "subject4/walking1.mot", 0.5, 0.35},
    {"squats1", "subject4/expert.osim", "subject4/ik_tasks.xml", "subject4/squats1.trc",
     "subject4/squats1.mot", 0.5, 0.35},
    {"DJ1", "subject4/expert.osim", "subject4/ik_tasks.xml", "subject4/DJ1.trc", "subject4/DJ1.mot",
     0.5, 0.35},
    {"gait2354", "gait2354/reference/subject01_simbody.osim", "gait2354/subject01_Setup_IK.xml",
     "gait2354/subject01_walk1.trc", "gait2354/reference/subject01_walk1_ik.mot", 0.05, 0},
    {"gait10", "gait10/subject01.osim", "gait10/walk_Setup_IK.xml", "gait10/subject01_walk.trc",
     "gait10/reference/subject01_walk_IK.mot", 0.05, 0},
};

// Coordinates that 1 cm of marker noise moves by more do not count, degrees.
static const double most_moved = 8;
// A valley is another one when f there differs by more.
static const double other_valley = 1e-4;
// OpenSim has stopped short of the bottom of its own objective when it is further above.
static const double stopped_short = 5e-3;

// Frames that a slow peer fits of a take.
enum { LONG_TAKE = 160 };

static const double degrees = 57.29577951308232;

// --- files -----------------------------------------------------------------------------------------------

static char *slurp(const char *folder, const char *name, size_t *length) {
    char *text = bench_file(folder, name, length);
    if (text == NULL) fprintf(stderr, "bench: %s/%s is not there\n", folder, name);
    return text;
}

static bool read_document(const char *folder, const char *name, sn_document *out) {
    size_t length;
    sn_error error = {0};
    char *text = slurp(folder, name, &length);
    if (text == NULL) return false;
    bool good = sn_document_read(text, length, name, NULL, NULL, out, &error) == SN_OK;
    if (!good) fprintf(stderr, "bench: %s: %s\n", name, error.text);
    free(text);
    return good;
}

bool opensim_load(const opensim_case *which, const char *data, opensim_files *out) {
    sn_error error = {0};
    size_t length;
    *out = (opensim_files){0};
    char *text = slurp(data, which->setup, &length);
    bool good = text != NULL && sn_ik_setup_read(text, length, NULL, &out->setup, &error) == SN_OK;
    free(text);
    good = good && read_document(data, which->model, &out->model) &&
           read_document(data, which->markers, &out->markers) &&
           read_document(data, which->reference, &out->reference);
    if (good) out->osim = slurp(data, which->model, &out->length);
    good = good && out->osim != NULL && out->markers.recording != NULL &&
           out->reference.table != NULL &&
           sn_motion_from_table(out->model.model, out->reference.table, NULL, &out->theirs,
                                &error) == SN_OK;
    if (!good && error.text[0] != '\0') fprintf(stderr, "bench: %s: %s\n", which->name, error.text);
    if (!good) opensim_free(out);
    return good;
}

void opensim_free(opensim_files *f) {
    free(f->osim);
    sn_motion_destroy(f->theirs);
    sn_document_destroy(&f->model);
    sn_document_destroy(&f->markers);
    sn_document_destroy(&f->reference);
    sn_ik_setup_destroy(f->setup);
    *f = (opensim_files){0};
}

// --- our fit ---------------------------------------------------------------------------------------------

static sn_take *fit(const opensim_files *files, bool barrier, int most, double *seconds) {
    sn_take_options o = sn_take_options_default();
    sn_take *take = NULL;
    sn_error error = {0};
    o.coordinates = files->model.coordinates;
    o.setup = files->setup;
    o.barrier = barrier;
    if (most > 0)
        o.last_frame = sn_recording_about(files->markers.recording)->first_frame + most - 1;
    double begin = bench_seconds();
    sn_status status =
        sn_take_create(files->model.model, files->markers.recording, &o, NULL, &take, &error);
    if (status == SN_OK) status = sn_take_prepare(take);
    if (status == SN_OK) status = sn_take_finish(take);
    *seconds = bench_seconds() - begin;
    if (status == SN_OK) return take;
    char text[600] = "";
    if (take != NULL)
        (void)sn_take_sentence(take, sn_take_nfinding(take) - 1, SN_VOICE_PLAIN, text, sizeof text);
    fprintf(stderr, "bench: the fit failed: %s %s\n", error.text, text);
    sn_take_destroy(take);
    return NULL;
}

// The fitted frame of a row of the reference; -1 when it was not fitted.
static int frame_of(const opensim_files *files, const sn_take *take, int row) {
    const sn_table *table = files->reference.table;
    const sn_recording_info *r = sn_recording_about(files->markers.recording);
    double time = sn_table_row(table, row)[sn_table_about(table)->time];
    int frame = (int)lround((time - r->time_offset) * r->rate) + 1 - r->first_frame;
    frame -= sn_take_about(take)->first;
    return frame >= 0 && frame < sn_take_about(take)->count ? frame : -1;
}

// What a take minimises, to be solved and looked at frame by frame: markers of weight w / sum w, then
// coordinate tasks.
typedef struct frame_problem {
    const sn_take *take;
    const opensim_files *files;
    sn_problem *problem, *squared;  // the second: weights squared
    sn_solver *solver;
    sn_workspace *ws, *noise;
    double *target, *pull;
} frame_problem;

static void open_problem(frame_problem *p, const opensim_files *files, const sn_take *take) {
    const sn_model *m = sn_take_model(take);
    sn_solver_options o = sn_solver_options_default();
    sn_problem *plain;
    *p = (frame_problem){.take = take, .files = files};
    o.gradient = 1e-8;
    p->target = bench_need(calloc((size_t)sn_model_nq(m) + 1, sizeof *p->target));
    p->pull = bench_need(calloc((size_t)sn_model_nv(m) + 1, sizeof *p->pull));
    for (int i = 0; i < sn_ik_setup_about(files->setup)->ntask; i++) {
        const sn_ik_task *t = sn_ik_setup_task(files->setup, i);
        if (!t->coordinate || !t->apply) continue;
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(
            files->model.coordinates, sn_osim_coordinate_find(files->model.coordinates, t->name));
        if (c == NULL || c->at.joint < 0) continue;
        p->pull[sn_model_v_index(m, c->at.joint) + c->at.index] = t->weight;
        p->target[sn_model_q_index(m, c->at.joint) + c->at.index] =
            t->from == SN_IK_MANUAL ? t->value : c->value;
    }
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.q = p->target;
    rest.q_weight = p->pull;
    if (sn_problem_create_markers(m, NULL, &plain, NULL) != SN_OK ||
        sn_problem_copy(plain, &rest, 1, NULL, &p->problem, NULL) != SN_OK ||
        sn_problem_copy(plain, NULL, 0, NULL, &p->squared, NULL) != SN_OK ||
        sn_solver_create(p->problem, &o, NULL, &p->solver, NULL) != SN_OK ||
        sn_workspace_create(p->problem, true, NULL, &p->ws, NULL) != SN_OK ||
        sn_workspace_create(p->squared, true, NULL, &p->noise, NULL) != SN_OK)
        (void)bench_need(NULL);
    sn_problem_destroy(plain);
}

static void close_problem(frame_problem *p) {
    sn_workspace_destroy(p->noise);
    sn_workspace_destroy(p->ws);
    sn_solver_destroy(p->solver);
    sn_problem_destroy(p->squared);
    sn_problem_destroy(p->problem);
    free(p->target);
    free(p->pull);
}

static void set_frame(frame_problem *p, int frame) {
    const sn_model *m = sn_take_model(p->take);
    const sn_recording *r = p->files->markers.recording;
    double sum = 0;
    int at = sn_take_about(p->take)->first + frame;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < sn_model_nmarker(m); i++) {
            int c = sn_take_column(p->take, i);
            bool seen = c >= 0 && sn_recording_present(r, at, c);
            double w = sn_model_marker(m, i)->weight;
            if (pass == 0) {
                sum += seen ? w : 0;
                continue;
            }
            (void)sn_problem_set_missing(p->problem, i, !seen);
            (void)sn_problem_set_missing(p->squared, i, !seen);
            if (!seen) continue;
            const double *x = sn_recording_frame(r, at) + 3 * (size_t)c;
            (void)sn_problem_set_goal(p->problem, i, x);
            (void)sn_problem_set_goal(p->squared, i, x);
            (void)sn_problem_set_weight(p->problem, i, w / sum);
            (void)sn_problem_set_weight(p->squared, i, w / sum * (w / sum));
        }
    }
}

// --- what noise moves ------------------------------------------------------------------------------------

// Variances of the coordinates (nv, file order) by noise of 1 cm in each number of every marker: with H the
// Gauss-Newton matrix and B the same with squared weights, the diagonal of H^-1 B H^-1. NAN where no task
// sees a coordinate; 0 for what cannot move.
static void add_moved(frame_problem *p, const double *q, double *sum) {
    const sn_model *m = sn_take_model(p->take);
    int n = sn_model_nv(m);
    size_t nn = (size_t)n * (size_t)n;
    double f, top = 0, *H = bench_need(malloc(3 * nn * sizeof *H)), *B = H + nn, *A = B + nn;
    double *x = bench_need(malloc((size_t)n * sizeof *x));
    if (sn_workspace_eval(p->ws, q, SN_EVAL_GAUSS_NEWTON, &f) == SN_OK &&
        sn_workspace_eval(p->noise, q, SN_EVAL_GAUSS_NEWTON, &f) == SN_OK) {
        sn_workspace_hessian(p->ws, H);
        sn_workspace_hessian(p->noise, B);
        for (int i = 0; i < n; i++) top = fmax(top, H[i * (n + 1)]);
        for (int i = 0; i < n; i++) {
            if (m->gain[i] == 0) continue;
            if (H[i * (n + 1)] < 1e-9 * top) {
                sum[i] = NAN;
                continue;
            }
            // row i of H^-1
            memcpy(A, H, nn * sizeof *A);
            for (int k = 0; k < n; k++) {
                x[k] = k == i;
                if (H[k * (n + 1)] < 1e-9 * top) A[k * (n + 1)] += top;
            }
            if (!dense_cholesky_solve(n, A, x)) {
                sum[i] = NAN;
                continue;
            }
            double variance = 0;
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++) variance += x[a] * B[a * n + b] * x[b];
            sum[i] += 1e-4 * variance;
        }
    }
    free(x);
    free(H);
}

// --- comparing -------------------------------------------------------------------------------------------

static bool follows(const sn_model *m, sn_coordinate at) {
    for (int i = 0; i < sn_model_ncoupling(m); i++) {
        const sn_coupling_desc *c = sn_model_coupling(m, i);
        if (c->follower.joint == at.joint && c->follower.index == at.index) return true;
    }
    return false;
}

// OpenSim's own objective where it runs an interior-point method: with the barrier of its end.
static double own_objective(const frame_problem *p, const double *q, double mu) {
    const sn_model *m = sn_take_model(p->take);
    double f;
    if (sn_workspace_eval(p->ws, q, 0, &f) != SN_OK) return INFINITY;
    for (int j = 0; mu > 0 && j < sn_model_njoint(m); j++) {
        for (int k = 0; k < sn_model_joint_nv(m, j); k++) {
            int v = sn_model_v_index(m, j) + k;
            double x = q[sn_model_q_index(m, j) + k], l = m->lower[v], u = m->upper[v];
            if (!isfinite(l) || !isfinite(u) || m->gain[v] == 0) continue;
            // what is printed may be rounded onto a limit
            f -= mu * (log(fmax(x - l, 1e-7)) + log(fmax(u - x, 1e-7)));
        }
    }
    return f;
}

bool opensim_compare(const opensim_files *files, bool barrier, opensim_result *out, double *rms,
                     double *moved) {
    *out = (opensim_result){0};
    double seconds;
    sn_take *take = fit(files, barrier, 0, &out->seconds), *lean = fit(files, true, 0, &seconds);
    if (take == NULL || lean == NULL) {
        sn_take_destroy(take);
        sn_take_destroy(lean);
        return false;
    }
    const sn_model *m = sn_take_model(take);
    const sn_motion *ours = sn_take_motion(take);
    const sn_osim_coordinates *list = files->model.coordinates;
    int nq = sn_model_nq(m), nv = sn_model_nv(m), count = sn_osim_coordinates_count(list), good = 0;
    bool tied = sn_model_ncoupling(m) > 0 || sn_model_nloop(m) > 0;
    double mu = tied ? sn_ik_setup_about(files->setup)->accuracy / 11 : 0;
    double *square = bench_need(calloc(2 * (size_t)count + 1, sizeof *square)),
           *all = square + count;
    double *variance = bench_need(calloc((size_t)nv + 1, sizeof *variance));
    double *q = bench_need(calloc((size_t)nq + 1, sizeof *q));
    frame_problem p;
    open_problem(&p, files, take);
    out->fitted = sn_motion_nframe(ours);
    for (int row = 0; row < sn_motion_nframe(files->theirs); row++) {
        int frame = frame_of(files, take, row);
        if (frame < 0) continue;
        const double *a = sn_motion_frame(ours, frame), *b = sn_motion_frame(files->theirs, row);
        const double *bottom = sn_motion_frame(sn_take_motion(lean), frame);
        double mine, theirs;
        sn_report report, near;
        set_frame(&p, frame);
        if (sn_workspace_eval(p.ws, a, 0, &mine) != SN_OK ||
            sn_workspace_eval(p.ws, b, 0, &theirs) != SN_OK)
            continue;
        out->frames++;
        out->worst = fmax(out->worst, mine / theirs);
        // the bottoms of both valleys
        memcpy(q, b, (size_t)nq * sizeof *q);
        (void)sn_solver_solve(p.solver, q, &report);
        memcpy(q, a, (size_t)nq * sizeof *q);
        (void)sn_solver_solve(p.solver, q, &near);
        bool worse = report.f > near.f * (1 + other_valley);
        bool early = !worse &&
                     own_objective(&p, b, mu) > own_objective(&p, bottom, mu) * (1 + stopped_short);
        out->worse += worse;
        out->early += early;
        if (!worse && !early) {
            good++;
            add_moved(&p, a, variance);
        }
        for (int i = 0; i < count; i++) {
            const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
            if (c->at.joint < 0) continue;
            int at = sn_model_q_index(m, c->at.joint) + c->at.index;
            double d = a[at] - b[at];
            if (!sn_model_is_length(m, c->at.joint, c->at.index)) d = remainder(d, 2 * acos(-1.0));
            if (!worse && !early) square[i] += d * d;
            all[i] += d * d;
        }
    }
    for (int i = 0; i < count; i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        double by = NAN, is = NAN;
        if (c->at.joint >= 0) {
            bool length = sn_model_is_length(m, c->at.joint, c->at.index);
            double unit = length ? 1 : degrees;
            int v = sn_model_v_index(m, c->at.joint) + c->at.index;
            is = unit * sqrt(square[i] / good);
            by = follows(m, c->at) || c->locked ? NAN : unit * sqrt(variance[v] / good);
            if (!length && by < most_moved) {
                out->apart += is;
                out->apart_all += unit * sqrt(all[i] / out->frames);
                out->counted++;
            }
        }
        if (rms != NULL) rms[i] = is;
        if (moved != NULL) moved[i] = by;
    }
    out->apart /= out->counted > 0 ? out->counted : 1;
    out->apart_all /= out->counted > 0 ? out->counted : 1;
    close_problem(&p);
    free(q);
    free(variance);
    free(square);
    sn_take_destroy(take);
    sn_take_destroy(lean);
    return true;
}

// --- other starts ----------------------------------------------------------------------------------------

// Half of them anywhere in the stated ranges, half with the figure where it is and its limbs anywhere.
static void other_start(const opensim_files *files, const sn_model *m, const double *ours, bool all,
                        uint64_t *state, double *q) {
    const sn_osim_coordinates *list = files->model.coordinates;
    memcpy(q, ours, (size_t)sn_model_nq(m) * sizeof *q);
    for (int i = 0; i < sn_osim_coordinates_count(list); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        double share = sn_random(state);
        if (c->at.joint < 0 || sn_model_is_length(m, c->at.joint, c->at.index)) continue;
        // the first joints place the figure
        bool root = sn_model_parent(m, c->at.joint) < 0 || c->at.joint <= 6;
        double low = fmax(c->lower, -4), high = fmin(c->upper, 4);
        if (root && !all) continue;
        q[sn_model_q_index(m, c->at.joint) + c->at.index] = low + share * (high - low);
    }
    sn_model_follow(m, q);
}

// A coordinate that drives functions, more than half a turn outside of its stated range: knees that have gone
// round. No start means that, and OpenSim's users less so.
static bool went_round(const opensim_files *files, const sn_model *m, const double *q) {
    const sn_osim_coordinates *list = files->model.coordinates;
    for (int i = 0; i < sn_osim_coordinates_count(list); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        if (c->at.joint < 0 || sn_model_joint(m, c->at.joint)->type != SN_JOINT_FUNCTION) continue;
        double x = q[sn_model_q_index(m, c->at.joint) + c->at.index];
        if (x < c->lower - acos(-1.0) || x > c->upper + acos(-1.0)) return true;
    }
    return false;
}

int opensim_other_starts(const opensim_files *files, int starts, int every, uint64_t seed,
                         int *tried) {
    double seconds;
    sn_take *take = fit(files, false, 0, &seconds);
    *tried = 0;
    if (take == NULL) return -1;
    const sn_model *m = sn_take_model(take);
    double *q = bench_need(calloc((size_t)sn_model_nq(m) + 1, sizeof *q));
    frame_problem p;
    int lower = 0;
    open_problem(&p, files, take);
    for (int f = 0; f < sn_take_about(take)->count; f += every) {
        const double *ours = sn_motion_frame(sn_take_motion(take), f);
        double mine;
        bool found = false;
        set_frame(&p, f);
        if (sn_workspace_eval(p.ws, ours, 0, &mine) != SN_OK) continue;
        ++*tried;
        for (int k = 0; k < starts && !found; k++) {
            sn_report report;
            other_start(files, m, ours, k % 2 == 0, &seed, q);
            if (sn_solver_solve(p.solver, q, &report) != SN_OK || went_round(files, m, q)) continue;
            found = report.f < mine * (1 - 1e-6);
            if (found) printf("  frame %d, start %d: %.9g, ours %.9g\n", f, k, report.f, mine);
        }
        lower += found;
    }
    close_problem(&p);
    free(q);
    sn_take_destroy(take);
    return lower;
}

// --- the table -------------------------------------------------------------------------------------------

static void print_coordinates(const opensim_files *files, const double *rms, const double *moved) {
    const sn_osim_coordinates *list = files->model.coordinates;
    for (int i = 0; i < sn_osim_coordinates_count(list); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(list, i);
        bool length =
            c->at.joint >= 0 && sn_model_is_length(files->model.model, c->at.joint, c->at.index);
        if (c->at.joint < 0) continue;
        if (length)
            printf("    %-22s %8.3f mm\n", c->name, 1000 * rms[i]);
        else if (isnan(moved[i]))
            printf("    %-22s %8.3f deg  not counted: no marker sees it, or it follows another\n",
                   c->name, rms[i]);
        else
            printf("    %-22s %8.3f deg  noise moves it by %.1f%s\n", c->name, rms[i], moved[i],
                   moved[i] < most_moved ? "" : ": not counted");
    }
}

// Simbody on the same frames, some hundred of a long take; what its time is of ours.
static double peer_ratio(const opensim_files *files, opensim_peer peer, double *lower) {
    int most = sn_recording_about(files->markers.recording)->nframe > LONG_TAKE ? LONG_TAKE : 0;
    double seconds, shortest = INFINITY, spent = 0;
    sn_take *take = NULL;
    // the shortest of three counts, or of as many as a tenth of a second has room for: others use the machine, too,
    // and a walk of some milliseconds is not longer than a page fault's worth of it
    for (int i = 0; i < 3 || (spent < 0.1 && i < 100); i++) {
        sn_take_destroy(take);
        take = fit(files, false, most, &seconds);
        if (take == NULL) return NAN;
        shortest = fmin(shortest, seconds);
        spent += seconds;
    }
    const sn_take_summary *s = sn_take_about(take);
    const sn_model *m = sn_take_model(take);
    sn_motion *motion = NULL;
    double *f = bench_need(malloc(2 * (size_t)s->count * sizeof *f)), ratio = NAN;
    if (sn_motion_create(s->count, sn_model_nq(m), 1, 0, NULL, &motion, NULL) != SN_OK)
        bench_need(NULL);
    opensim_job job = {.osim = files->osim,
                       .length = files->length,
                       .model = m,
                       .coordinates = files->model.coordinates,
                       .setup = files->setup,
                       .recording = files->markers.recording,
                       .first = s->first,
                       .count = s->count,
                       .q = sn_motion_edit(motion, 0)};
    if (peer(&job)) {
        ratio = job.seconds / shortest;
        *lower = 0;
        if (sn_take_objective(take, motion, f) == SN_OK &&
            sn_take_objective(take, sn_take_motion(take), f + s->count) == SN_OK)
            for (int k = 0; k < s->count; k++) *lower += f[s->count + k] / f[k] / s->count;
        printf("    Simbody's Assembler: %.2f ms a frame, ours %.1f us; our objective is %.4f of "
               "its on average\n",
               1e3 * job.seconds / s->count, 1e6 * shortest / s->count, *lower);
    }
    free(f);
    sn_motion_destroy(motion);
    sn_take_destroy(take);
    return ratio;
}

static bool run_case(const opensim_case *c, const opensim_files *files, bool coordinates,
                     opensim_peer peer) {
    int n = sn_osim_coordinates_count(files->model.coordinates);
    double *rms = bench_need(calloc(2 * (size_t)n + 1, sizeof *rms)), *moved = rms + n;
    opensim_result r, again, barrier = {0};
    bool good = opensim_compare(files, false, &r, rms, moved);
    if (!good) {
        free(rms);
        return false;
    }
    // the shortest of three counts: others use the machine, too
    for (int i = 0; i < 2; i++) {
        sn_take *take = fit(files, false, 0, &again.seconds);
        sn_take_destroy(take);
        r.seconds = fmin(r.seconds, again.seconds);
    }
    bool a = r.worst <= 1.000001, b = r.apart <= c->apart;
    printf("%-10s %5d frames  objective at most %.7f of OpenSim's: %s\n", c->name, r.frames,
           r.worst, a ? "ok" : "MISSED");
    printf(
        "    %d of %d coordinates count; frames left out: %d with OpenSim in a worse valley, %d in "
        "which it stopped over 0.5 %% above its own bottom\n",
        r.counted, n, r.worse, r.early);
    printf("    mean RMS %.3f degrees, at most %g: %s (%.3f over all frames)\n", r.apart, c->apart,
           b ? "ok" : "MISSED", r.apart_all);
    if (c->apart_barrier > 0 && opensim_compare(files, true, &barrier, NULL, NULL)) {
        bool close = barrier.apart <= c->apart_barrier;
        printf("    with --barrier %.3f degrees, at most %g: %s (%.3f over all frames)\n",
               barrier.apart, c->apart_barrier, close ? "ok" : "MISSED", barrier.apart_all);
        b = b && close;
    }
    printf("    %.1f us a frame, all starts included\n", 1e6 * r.seconds / r.fitted);
    if (peer != NULL) {
        double lower, ratio = peer_ratio(files, peer, &lower);
        printf("    %.0f times as fast: %s\n", ratio, ratio >= 100 ? "ok" : "MISSED");
        a = a && ratio >= 100;
    }
    if (coordinates) print_coordinates(files, rms, moved);
    free(rms);
    return a && b;
}

int bench_opensim(const char *data, bool coordinates, opensim_peer peer) {
    bool good = true;
    for (int i = 0; i < OPENSIM_CASES; i++) {
        opensim_files files;
        if (!opensim_load(&opensim_cases[i], data, &files)) return 3;
        good = run_case(&opensim_cases[i], &files, coordinates, peer) && good;
        opensim_free(&files);
        (void)fflush(stdout);
    }
    if (peer == NULL)
        printf("Simbody's Assembler: skipped, it is a part of bench_opensim, which is built where "
               "libsimbody-dev is installed\n");
    return good ? 0 : 1;
}
