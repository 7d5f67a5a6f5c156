// SPDX-License-Identifier: MIT
// Random goals for the arm solver, checked by the sweeps, which share no code with it.
//
// A goal is the tool's frame at random joint values inside the limits (uniform; without limits within a
// turn), so that it can be reached. Times are of the thread's own clock, less what reading it takes; each goal is solved
// three times, with all the others in between, and its middle time counts: what else a machine does would tell more
// about the slowest hundredth than the goals do.
#define _POSIX_C_SOURCE 200809L
#include "arm_solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arm/arm.h"
#include "arms_models.h"
#include "base/random.h"
#include "math/rotation.h"
#include "math/vec3.h"

enum {
    PEER_PROBLEMS = 1000,
    TRUE_PROBLEMS = 200,
    TRUE_STARTS = 40,
    MOST_FAR = 100000,
    MOST_HAIR = 5000,
    PASSES = 3,
    MOST_PASSES = 100000  // goals; of more each is solved once
};

typedef enum kind { RANDOM, EDGE, FAR, KINDS } kind;

typedef struct setting {
    const sn_model *model;
    const char *tip;
    sn_arm *arm;
    sn_problem *problem;
    sn_workspace *ws;
    int n, problems, joint;
    double local[3];  // of the tip in its joint
    double *pose, *goals, *targets, *starts, *q, *times;
    double clock;  // what reading it takes
} setting;

typedef struct figures {
    long lost, outside, wrong;
    double median, mean, p99, worst;
    double share;   // of answers that many starts do not better, percent
    double within;  // 100 us, percent
} figures;

static double microseconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool begin(setting *s) {
    sn_arm_options o = sn_arm_options_default();
    sn_error error = {0};
    if (sn_arm_create(s->model, s->tip, &o, NULL, &s->arm, &error) != SN_OK) {
        fprintf(stderr, "bench: %s\n", error.text);
        return false;
    }
    s->n = sn_arm_n(s->arm);
    int marker = sn_model_find_marker(s->model, s->tip);
    s->joint = sn_model_find_joint(s->model, s->tip);
    if (marker >= 0) {
        s->joint = sn_model_marker(s->model, marker)->joint;
        memcpy(s->local, sn_model_marker(s->model, marker)->position, sizeof s->local);
    }
    size_t count = (size_t)s->problems, n = (size_t)s->n;
    s->pose = malloc(((size_t)sn_model_nq(s->model) + 1) * sizeof *s->pose);
    s->goals = malloc(7 * count * sizeof *s->goals);
    s->targets = malloc(n * count * sizeof *s->targets);
    s->starts = malloc(n * count * sizeof *s->starts);
    s->q = malloc(n * count * sizeof *s->q);
    s->times = malloc(PASSES * count * sizeof *s->times);
    if (s->pose == NULL || s->goals == NULL || s->targets == NULL || s->starts == NULL ||
        s->q == NULL || s->times == NULL ||
        sn_problem_create(s->model, NULL, 0, NULL, &s->problem, NULL) != SN_OK ||
        sn_workspace_create(s->problem, false, NULL, &s->ws, NULL) != SN_OK) {
        fputs("bench: out of memory\n", stderr);
        return false;
    }
    s->clock = INFINITY;
    for (int i = 0; i < 1000; i++) {
        double a = microseconds();
        s->clock = fmin(s->clock, microseconds() - a);
    }
    return true;
}

static void end(setting *s) {
    sn_arm_destroy(s->arm);
    sn_workspace_destroy(s->ws);
    sn_problem_destroy(s->problem);
    free(s->pose), free(s->goals), free(s->targets), free(s->starts), free(s->q), free(s->times);
}

static sn_frame tool_at(setting *s, const double *q) {
    sn_arm_to_pose(s->arm, q, s->pose);
    (void)sn_workspace_pose(s->ws, s->pose);
    sn_frame f = sn_workspace_frame(s->ws, s->joint);
    f.p = sn_workspace_point(s->ws, s->joint, s->local);
    return f;
}

static double between(const setting *s, int j, uint64_t *state) {
    const double turn = 3.141592653589793;
    double low = sn_arm_lower(s->arm)[j], high = sn_arm_upper(s->arm)[j];
    if (low == -INFINITY) low = high == INFINITY ? -turn : high - 2 * turn;
    if (high == INFINITY) high = low + 2 * turn;
    return low + (high - low) * sn_random(state);
}

static void make_goals(setting *s, kind which, double near) {
    uint64_t state = 0x53494e45 + (uint64_t)which;
    for (int k = 0; k < s->problems; k++) {
        double *q = s->targets + (size_t)s->n * (size_t)k, *start = s->starts + (q - s->targets);
        double *goal = s->goals + 7 * (size_t)k;
        for (int j = 0; j < s->n; j++) {
            q[j] = between(s, j, &state);
            double dice = sn_random(&state), low = sn_arm_lower(s->arm)[j];
            double high = sn_arm_upper(s->arm)[j];
            // one joint of ten stands at a limit
            if (which == EDGE && dice < 0.05 && low > -INFINITY) q[j] = low;
            if (which == EDGE && dice > 0.95 && high < INFINITY) q[j] = high;
            start[j] = between(s, j, &state);
            if (near > 0)
                start[j] = fmin(fmax(q[j] + near * (2 * sn_random(&state) - 1), low), high);
        }
        sn_frame f = tool_at(s, q);
        // away from the base by up to three times, far enough that no arm gets there
        if (which == FAR) f.p = v3_scale(1 + 2 * sn_random(&state) + 0.5 / v3_norm(f.p), f.p);
        sn_quat r = sn_quat_from_mat3(f.R);
        const double numbers[7] = {f.p.x, f.p.y, f.p.z, r.w, r.x, r.y, r.z};
        memcpy(goal, numbers, sizeof numbers);
    }
}

// By the sweeps: is the tool there, and every joint inside its limits?
static void check(setting *s, int k, bool reached, figures *f) {
    const double *q = s->q + (size_t)s->n * (size_t)k, *goal = s->goals + 7 * (size_t)k;
    for (int j = 0; j < s->n; j++)
        f->outside += !(q[j] >= sn_arm_lower(s->arm)[j] && q[j] <= sn_arm_upper(s->arm)[j]);
    sn_frame tool = tool_at(s, q);
    sn_mat3 R = sn_mat3_from_quat((sn_quat){goal[3], goal[4], goal[5], goal[6]});
    sn_mat3 back = m3_transpose(&tool.R), left = m3_mulm(&R, &back);
    double place = v3_norm(v3_sub(tool.p, v3_from(goal))), turn = v3_norm(sn_rotation_log(&left));
    bool there = place <= 1.000001e-6 && turn <= 1.000001e-6;
    f->lost += !there;
    f->wrong += there != reached;
}

static double middle(double a, double b, double c) { return fmax(fmin(a, b), fmin(fmax(a, b), c)); }

// @param starts  n each, or NULL
static void time_goals(setting *s, int count, const double *goals, const double *starts) {
    const int passes = count > MOST_PASSES ? 1 : PASSES;
    const size_t all = (size_t)count;
    for (int i = 0; i < passes; i++) {
        for (size_t k = 0; k < all; k++) {
            double q[SN_ARM_MAX];
            const double start = microseconds();
            (void)sn_arm_solve(s->arm, goals + 7 * k,
                               starts != NULL ? starts + (size_t)s->n * k : NULL, q, NULL);
            s->times[(size_t)i * all + k] = fmax(0, microseconds() - start - s->clock);
        }
    }
    for (size_t k = 0; k < all && passes == PASSES; k++)
        s->times[k] = middle(s->times[k], s->times[all + k], s->times[2 * all + k]);
}

// Of the first `count` times.
static void set_figures(double *times, int count, figures *f) {
    if (count == 0) return;
    for (int k = 0; k < count; k++) {
        f->mean += times[k] / count;
        f->within += 100.0 * (times[k] <= 100) / count;
    }
    qsort(times, (size_t)count, sizeof *times, rising);
    f->median = times[count / 2];
    f->p99 = times[(size_t)(0.99 * count)];
    f->worst = times[count - 1];
}

static double distance(const double *a, const double *b, int n) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(sum);
}

// Of the first few starts: how often no solution that many starts lead to, each as near as it gets, is
// nearer by a tenth.
static double share_nearest(setting *s) {
    int good = 0, count = s->problems < TRUE_PROBLEMS ? s->problems : TRUE_PROBLEMS;
    const size_t n = (size_t)s->n;
    double q[SN_ARM_MAX], all[SN_ARM_MAX * SN_ARM_SOLUTIONS];
    for (int k = 0; k < count; k++) {
        const double *goal = s->goals + 7 * (size_t)k, *start = s->starts + n * (size_t)k;
        double own = distance(s->q + n * (size_t)k, start, s->n), least = own;
        int found;
        (void)sn_arm_solve_all(s->arm, goal, start, SN_ARM_SOLUTIONS, all, &found);
        for (int i = 0; i < found; i++) {
            sn_arm_search search;
            const double *at = all + n * (size_t)i;
            least = fmin(least, distance(at, start, s->n));
            (void)sn_arm_search_begin(&search, s->arm, goal);
            if (sn_arm_search_near(&search, at, start, 60, q))
                least = fmin(least, distance(q, start, s->n));
        }
        good += own <= 1.1 * least + 1e-6;
    }
    return 100.0 * good / count;
}

static double left_at(const setting *s, const sn_arm_report *r) {
    const double unit = s->arm->chain.unit, place = r->position_error / unit;
    return place * place + 0.25 * r->rotation_error * r->rotation_error;
}

// Whether nothing that is left is less by a hundredth from many other starts.
static bool none_nearer(setting *s, const double *goal, const sn_arm_report *report,
                        uint64_t *state) {
    const double own = left_at(s, report);
    double least = own, q[SN_ARM_MAX], from[SN_ARM_MAX];
    for (int i = 0; i < TRUE_STARTS; i++) {
        sn_arm_search search;
        sn_arm_report other;
        for (int j = 0; j < s->n; j++) q[j] = between(s, j, state);
        (void)sn_arm_search_begin(&search, s->arm, goal);
        sn_arm_chain_inward(&s->arm->chain, q, from);
        sn_arm_search_nearest(&search, from, SN_ARM_NEAREST_STEPS, q);
        sn_arm_search_report(&search, NULL, q, false, &other);
        least = fmin(least, left_at(s, &other));
    }
    return own <= 1.01 * least + 1e-12;
}

// The nearest poses to goals out of reach are where reach ends: from there a hair on, 0.01 to 5 mm, as far as the goals
// lie. Those that another posture reaches all the same are left out.
static figures solve_hair(setting *s) {
    figures f = {0};
    int count = 0, beyond = 0, good = 0;
    uint64_t state = 77, others = 99;
    for (int k = 0; k < s->problems && k < MOST_HAIR; k++) {
        sn_arm_report report;
        const double *goal = s->goals + 7 * (size_t)k;
        double q[SN_ARM_MAX];
        (void)sn_arm_solve(s->arm, goal, NULL, q, &report);
        if (report.reached) continue;
        const sn_frame tool = tool_at(s, q);
        const sn_vec3 way = v3_sub(v3_from(goal), tool.p);
        const sn_quat r = sn_quat_from_mat3(tool.R);
        const double hair = 1e-5 * pow(500, sn_random(&state));
        const sn_vec3 at = v3_add(tool.p, v3_scale(hair / v3_norm(way), way));
        const double numbers[7] = {at.x, at.y, at.z, r.w, r.x, r.y, r.z};
        memcpy(s->goals + 7 * (size_t)count++, numbers, sizeof numbers);
    }
    time_goals(s, count, s->goals, NULL);
    int looked = 0;
    for (int k = 0; k < count; k++) {
        sn_arm_report report;
        double q[SN_ARM_MAX];
        (void)sn_arm_solve(s->arm, s->goals + 7 * (size_t)k, NULL, q, &report);
        if (report.reached) continue;
        s->times[beyond++] = s->times[k];
        if (looked >= TRUE_PROBLEMS) continue;
        looked++;
        good += none_nearer(s, s->goals + 7 * (size_t)k, &report, &others);
    }
    set_figures(s->times, beyond, &f);
    f.share = looked > 0 ? 100.0 * good / looked : 0;
    return f;
}

// Goals that no posture was found for, at most MOST_FAR: the time, and how often the nearest pose was found.
static figures solve_far(setting *s) {
    figures f = {0};
    int far = 0, looked = 0, good = 0;
    const int count = s->problems < MOST_FAR ? s->problems : MOST_FAR;
    uint64_t state = 99;
    time_goals(s, count, s->goals, NULL);
    for (int k = 0; k < count; k++) {
        sn_arm_report report;
        const double *goal = s->goals + 7 * (size_t)k;
        (void)sn_arm_solve(s->arm, goal, NULL, s->q, &report);
        if (report.reached) continue;
        s->times[far++] = s->times[k];
        if (looked >= TRUE_PROBLEMS) continue;
        looked++;
        good += none_nearer(s, goal, &report, &state);
    }
    set_figures(s->times, far, &f);
    f.share = looked > 0 ? 100.0 * good / looked : 0;
    return f;
}

static figures solve_each(setting *s, bool seeded) {
    figures f = {0};
    time_goals(s, s->problems, s->goals, seeded ? s->starts : NULL);
    set_figures(s->times, s->problems, &f);
    for (int k = 0; k < s->problems; k++) {
        sn_arm_report report;
        const size_t at = (size_t)s->n * (size_t)k;
        (void)sn_arm_solve(s->arm, s->goals + 7 * (size_t)k, seeded ? s->starts + at : NULL,
                           s->q + at, &report);
        check(s, k, report.reached, &f);
    }
    return f;
}

// Microseconds a goal when all are solved together on one thread, the least of three; the bits must be those of one
// by one.
static double solve_together(setting *s, bool *same) {
    size_t size = (size_t)s->n * (size_t)s->problems * sizeof *s->q;
    double *q = malloc(size), took = INFINITY;
    if (q == NULL) return NAN;
    for (int i = 0; i < 3; i++) {
        const double start = microseconds();
        (void)sn_arm_solve_many(s->arm, s->problems, s->goals, NULL, q, NULL);
        took = fmin(took, microseconds() - start);
    }
    *same = memcmp(q, s->q, size) == 0;
    free(q);
    return took / s->problems;
}

typedef struct verdict {
    int missed;
} verdict;

static void hold(verdict *v, bool good, const char *arm, const char *what, double is, double most) {
    if (good) return;
    v->missed++;
    printf("  missed: %s: %s %.4g, target %.4g\n", arm, what, is, most);
}

static bool run(setting *s, const char *name, const char *peer, verdict *v) {
    if (!begin(s)) return false;
    make_goals(s, RANDOM, 0);
    figures any = solve_each(s, false);
    bool same = false;
    double many = solve_together(s, &same);
    arms_peer kdl = {0};
    int shared = s->problems < PEER_PROBLEMS ? s->problems : PEER_PROBLEMS;
    bool compared = bench_arms_peer(peer, s->model, s->tip, shared, s->goals, s->starts, &kdl);
    figures nearest = solve_each(s, true);
    nearest.share = share_nearest(s);
    make_goals(s, RANDOM, 0.05);
    figures track = solve_each(s, true);
    make_goals(s, EDGE, 0);
    figures edge = solve_each(s, false);
    make_goals(s, FAR, 0);
    figures far = solve_far(s), hair = solve_hair(s);
    printf("%-9s %d %7ld %5.2f %5.2f %6.2f %6.0f %6.2f | %6.2f %6.2f %5.1f | %6ld | %6.1f %6.1f "
           "%5.1f | %6.1f %6.1f %5.1f %5.1f |",
           name, s->n, any.lost, any.median, any.mean, any.p99, any.worst, many, track.median,
           nearest.median, nearest.share, edge.lost, far.median, far.p99, far.share, hair.median,
           hair.p99, hair.within, hair.share);
    if (compared)
        printf(" %5.1f %6.1f %6.1f %6.0f %7.4f\n", 100.0 * kdl.solved / kdl.problems, kdl.median,
               kdl.mean, kdl.p99, any.median / kdl.median);
    else
        printf("     -\n");
    (void)fflush(stdout);
    double allowed = s->problems / 1e6 > 1 ? s->problems / 1e6 : s->problems >= 1000000;
    hold(v, (double)any.lost <= allowed, name, "lost", (double)any.lost, allowed);
    long outside = any.outside + nearest.outside + track.outside + edge.outside;
    hold(v, outside == 0, name, "joints outside their limits", (double)outside, 0);
    long wrong = any.wrong + nearest.wrong + track.wrong + edge.wrong;
    hold(v, wrong == 0, name, "reports that are not so", (double)wrong, 0);
    hold(v, same, name, "poses that differ when solved together", 1, 0);
    const bool usual = strcmp(name, "panda") == 0 || strcmp(name, "iiwa14") == 0 ||
                       strcmp(name, "ur5") == 0 || strcmp(name, "ur10") == 0;
    if (usual) hold(v, many <= 0.8, name, "all together, us a goal", many, 0.8);
    hold(v, any.median <= 2, name, "median us", any.median, 2);
    hold(v, any.mean <= 3, name, "mean us", any.mean, 3);
    hold(v, any.p99 <= 15, name, "p99 us", any.p99, 15);
    hold(v, track.median <= 5, name, "tracking, median us", track.median, 5);
    hold(v, (double)edge.lost <= 1e-4 * s->problems, name, "lost with joints at limits",
         (double)edge.lost, 1e-4 * s->problems);
    hold(v, nearest.median <= 5, name, "nearest to a random start, median us", nearest.median, 5);
    hold(v, far.p99 <= 100, name, "out of reach, p99 us", far.p99, 100);
    hold(v, hair.p99 <= 100, name, "a hair beyond the reach, p99 us", hair.p99, 100);
    hold(v, nearest.share >= 99, name, "nearest to a random start, %", nearest.share, 99);
    if (compared)
        hold(v, any.median <= 0.02 * kdl.median, name, "of KDL's median", any.median / kdl.median,
             0.02);
    end(s);
    return true;
}

bool bench_arm_solver(const arms_options *o) {
    verdict v = {0};
    printf(
        "%d random goals an arm and kind, 1e-6 m and rad, inside the limits; microseconds of one "
        "thread\n\n",
        o->problems);
    printf("%-9s %s %7s %5s %5s %6s %6s %6s | %6s %6s %5s | %6s | %6s %6s %5s | %6s %6s %5s %5s | "
           "%s\n",
           "arm", "n", "lost", "med", "mean", "p99", "max", "many", "track", "near", "%", "edge",
           "far", "p99", "%", "hair", "p99", "100us", "%", "KDL %   med   mean    p99   ratio");
    bool good = true;
    if (o->model != NULL) {
        setting s = {.model = o->model, .tip = o->tip, .problems = o->problems};
        good = run(&s, sn_model_name(o->model), o->peer, &v);
    }
    for (int i = 0; i < ARMS_COUNT && o->model == NULL && good; i++) {
        sn_model *model = arms_model(i);
        setting s = {.model = model, .tip = "tool", .problems = o->problems};
        good = model != NULL && run(&s, arms_name(i), o->peer, &v);
        sn_model_destroy(model);
    }
    printf(
        "\nlost: goals not reached; many: a goal when all are solved together; track: from a start "
        "within 0.05 of\nthe goal's joints; near: the solution nearest to a random start, and how "
        "often many starts find none nearer\nby a tenth; edge: lost goals with one joint of ten at "
        "a "
        "limit; far: the nearest pose to a goal that no posture\nreaches, median, p99 and how "
        "often "
        "%d other starts get no nearer by a hundredth (%% of %d goals);\nhair: goals 0.01 to 5 mm "
        "beyond where reach ends, median, p99, how many within 100 us and how often no start gets "
        "nearer\n",
        TRUE_STARTS, TRUE_PROBLEMS);
    if (o->peer != NULL && access(o->peer, X_OK) == 0)
        printf("KDL: the same goals and starts, the faster of its solvers, up to 100 restarts, %d "
               "problems; ratio: of the\nmedians\n",
               PEER_PROBLEMS);
    else
        puts("KDL: not compared, sinew_kdl_peer is not there: tools/setup.sh peers installs "
             "liborocos-kdl-dev, and the\nnext build makes it");
    if (v.missed == 0) puts("all targets are met");
    return good && v.missed == 0;
}
