// A humanoid robot at work: the G1 stands on two feet with its weight over them, holds a box between its hands,
// looks at it, and no limb runs into another.
//   humanoid g1.xml [PICTURE.svg [STARTS]]
// From STARTS random poses (1,000), then along a motion of the box.
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What the file has meshes for, in capsules: joint that carries it, ends and radius. Left and right alike. The file's own
// shapes, spheres under the feet and cylinders of the arms, are in the model beside them.
static const struct {
    const char *name, *joint;
    double from[3], to[3], radius;
} solids[] = {
    {"pelvis", "floating_base_joint", {0, -0.05, -0.08}, {0, 0.05, -0.08}, 0.08},
    {"chest", "waist_pitch_joint", {0, 0, 0.08}, {0, 0, 0.22}, 0.105},
    {"head", "waist_pitch_joint", {0.01, 0, 0.36}, {0.01, 0, 0.42}, 0.085},
    {"hip", "_hip_roll_joint", {0.02, 0, 0}, {0.025, 0, -0.1}, 0.06},
    {"thigh", "_hip_yaw_joint", {0, 0, -0.02}, {-0.07, 0, -0.15}, 0.06},
    {"shin", "_knee_joint", {0, 0, -0.03}, {0, 0, -0.27}, 0.045},
    {"foot", "_ankle_roll_joint", {-0.04, 0, -0.01}, {0.11, 0, -0.01}, 0.025},
    {"upper arm", "_shoulder_yaw_joint", {0, 0, -0.01}, {0.0158, 0, -0.07}, 0.035},
    {"forearm", "_elbow_joint", {0.03, 0, -0.01}, {0.1, 0, -0.01}, 0.035},
    {"wrist", "_wrist_roll_joint", {0.01, 0, 0}, {0.07, 0, 0}, 0.03},
    {"hand", "_wrist_yaw_joint", {0.02, 0, 0}, {0.13, 0, 0}, 0.03},
};

static const double box_half = 0.12;  // along y, in metres
enum { MOST_TASKS = 16 };

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what) {
    fprintf(stderr, "humanoid: %s\n", what);
    exit(1);
}

static char *read_whole(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *bytes = file != NULL ? malloc(1 << 22) : NULL;
    if (bytes == NULL) stop("the model's file cannot be read");
    *length = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static int joint_of(const sn_model *model, const char *side, const char *name) {
    char whole[80];
    (void)snprintf(whole, sizeof whole, "%s%s", name[0] == '_' ? side : "", name);
    int joint = sn_model_find_joint(model, whole);
    if (joint < 0) stop("this is not the G1: a joint is missing");
    return joint;
}

static sn_model *read_robot(const char *path) {
    size_t length;
    char *text = read_whole(path, &length);
    sn_model *plain, *model;
    sn_error error = {0};
    if (sn_mjcf_read(text, length, NULL, &plain, NULL, &error) != SN_OK) stop(error.text);
    free(text);
    sn_builder *builder;
    if (sn_builder_create_from(plain, NULL, &builder, &error) != SN_OK) stop(error.text);
    for (size_t i = 0; i < sizeof solids / sizeof solids[0]; i++) {
        bool pair = solids[i].joint[0] == '_';
        for (int k = 0; k < (pair ? 2 : 1); k++) {
            char name[80];
            const char *side = k == 0 ? "left" : "right";
            (void)snprintf(name, sizeof name, "%s%s%s", pair ? side : "", pair ? " " : "",
                           solids[i].name);
            sn_shape_desc d = sn_shape_default(SN_SHAPE_CAPSULE);
            d.name = name;
            d.joint = joint_of(plain, side, solids[i].joint);
            memcpy(d.from, solids[i].from, sizeof d.from);
            memcpy(d.to, solids[i].to, sizeof d.to);
            d.radius = solids[i].radius;
            // the box (kind 2) is in the way of all but what holds it
            const bool holds =
                strcmp(solids[i].name, "hand") == 0 || strcmp(solids[i].name, "wrist") == 0;
            d.meets = holds ? 1 : 1 | 2;
            (void)sn_builder_shape(builder, &d);
        }
    }
    // the box lies flat on the left palm and goes with it, round enough that turning about the palm's normal is the same
    sn_shape_desc box = sn_shape_default(SN_SHAPE_CAPSULE);
    box.name = "box";
    box.joint = joint_of(plain, "left", "_wrist_yaw_joint");
    box.radius = 0.08;
    memcpy(box.from, (double[3]){0.09, -0.03 - box.radius, 0}, sizeof box.from);
    memcpy(box.to, (double[3]){0.09, -0.03 - 2 * box_half + box.radius, 0}, sizeof box.to);
    box.kind = 2;
    box.meets = 0;
    (void)sn_builder_shape(builder, &box);
    if (sn_builder_finish(builder, &model, &error) != SN_OK) stop(error.text);
    sn_builder_destroy(builder);
    sn_model_destroy(plain);
    return model;
}

// --- the tasks -----------------------------------------------------------------------------------------

enum {
    LEFT_FOOT,
    RIGHT_FOOT,
    LEFT_HAND,
    RIGHT_HAND,
    LEFT_PALM,
    RIGHT_PALM,
    GAZE,
    WEIGHT,
    APART,
    NTASK
};

// Where the box lies at t of the motion, 0 to 1: from the left and low to the right and high.
static void box_at(double t, double out[3]) {
    out[0] = 0.33;
    out[1] = 0.12 * cos(3.14159265358979 * t);
    out[2] = 0.78 + 0.2 * t;
}

static void put_goals(sn_problem *problem, const double box[3]) {
    for (int k = 0; k < 2; k++) {
        const double face[3] = {box[0], box[1] + (k == 0 ? box_half : -box_half), box[2]};
        (void)sn_problem_set_goal(problem, LEFT_HAND + k, face);
    }
    (void)sn_problem_set_goal(problem, GAZE, box);
}

// Feet side by side, `apart` between them, and the weight over them.
static void stand(sn_problem *problem, double apart) {
    double corners[8][3] = {{0}};
    for (int k = 0; k < 2; k++) {
        const double goal[3] = {0, k == 0 ? 0.5 * apart : -0.5 * apart, 0.035};
        (void)sn_problem_set_goal(problem, LEFT_FOOT + k, goal);
        for (int c = 0; c < 4; c++) {
            corners[4 * k + c][0] = c < 2 ? -0.05 : 0.12;
            corners[4 * k + c][1] = goal[1] + (c % 2 == 0 ? 0.03 : -0.03);
        }
    }
    if (sn_problem_set_corners(problem, WEIGHT, corners[0], 8) != SN_OK) stop("bad corners");
}

static sn_problem *ask(const sn_model *model) {
    const double corners[8][3] = {{1, 0, 0}, {0, 1, 0}};  // until it stands
    sn_task t[NTASK];
    for (int k = 0; k < 2; k++) {
        const char *side = k == 0 ? "left" : "right";
        const double sign = k == 0 ? 1 : -1;
        sn_task *foot = &t[LEFT_FOOT + k], *hand = &t[LEFT_HAND + k], *palm = &t[LEFT_PALM + k];
        *foot = sn_task_default(SN_TASK_POSE);
        foot->joint = joint_of(model, side, "_ankle_roll_joint");
        // the palm, a hand's thickness inside the joint, flat on a side of the box
        *hand = sn_task_default(SN_TASK_POINT);
        hand->joint = joint_of(model, side, "_wrist_yaw_joint");
        hand->local[0] = 0.09;
        hand->local[1] = -sign * 0.03;
        *palm = sn_task_default(SN_TASK_DIRECTION);
        palm->joint = hand->joint;
        palm->weight = 0.1;
        memcpy(palm->local, (double[3]){0, -sign, 0}, sizeof palm->local);
        memcpy(palm->goal, (double[3]){0, -sign, 0}, sizeof palm->goal);
    }
    t[GAZE] = sn_task_default(SN_TASK_LOOK_AT);
    t[GAZE].joint = joint_of(model, "", "waist_pitch_joint");
    t[GAZE].weight = 0.1;
    memcpy(t[GAZE].local, (double[3]){0.06, 0, 0.4}, sizeof t[GAZE].local);
    memcpy(t[GAZE].axis, (double[3]){0.7, 0, -0.7}, sizeof t[GAZE].axis);
    t[WEIGHT] = sn_task_default(SN_TASK_SUPPORT);
    t[WEIGHT].corners = corners[0];
    t[WEIGHT].ncorner = 8;
    t[WEIGHT].distance = 0.01;
    t[APART] = sn_task_default(SN_TASK_AVOID);
    t[APART].distance = 0.005;
    sn_problem *problem;
    sn_error error = {0};
    if (sn_problem_create(model, t, NTASK, NULL, &problem, &error) != SN_OK) stop(error.text);
    return problem;
}

// --- the picture ---------------------------------------------------------------------------------------

typedef struct stroke {
    double x[2], y[2], depth, width;
    const char *colour;
} stroke;

static int nearer(const void *a, const void *b) {
    double x = ((const stroke *)a)->depth, y = ((const stroke *)b)->depth;
    return x < y ? -1 : x > y;
}

// The capsules as round strokes, seen from the front, the side and above, the far ones first.
static void draw(const char *path, const sn_model *model, sn_workspace *ws, const double box[3]) {
    FILE *out = fopen(path, "wb");
    if (out == NULL) stop("the picture cannot be written");
    const double scale = 300, width = 330, height = 470;
    static stroke list[400];
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%g' height='%g' "
            "font-family='sans-serif' font-size='13'>\n<rect width='100%%' height='100%%' "
            "fill='#fbfaf7'/>\n",
            3 * width, height);
    static const char *const titles[] = {"front", "side", "from above"};
    for (int view = 0; view < 3; view++) {
        // to the right, up, towards the eye
        static const int axes[3][3] = {{1, 2, 0}, {0, 2, 1}, {1, 0, 2}};
        static const double signs[3][3] = {{1, 1, 1}, {1, 1, -1}, {-1, 1, 1}};
        int n = 0;
        for (int i = 0; i < sn_model_nshape(model) && n < 400; i++) {
            const sn_shape_desc *d = sn_model_shape(model, i);
            if (d->type == SN_SHAPE_PLANE || d->joint < 0 || strcmp(d->name, "box") == 0) continue;
            sn_vec3 a = sn_workspace_point(ws, d->joint, d->from);
            sn_vec3 b = d->type == SN_SHAPE_CAPSULE ? sn_workspace_point(ws, d->joint, d->to) : a;
            const double p[2][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}};
            stroke *s = &list[n++];
            *s = (stroke){.width = 2 * d->radius};
            for (int e = 0; e < 2; e++) {
                s->x[e] = signs[view][0] * p[e][axes[view][0]];
                s->y[e] = signs[view][1] * p[e][axes[view][1]];
                s->depth += 0.5 * signs[view][2] * p[e][axes[view][2]];
            }
            bool left = strstr(d->name, "left") != NULL, right = strstr(d->name, "right") != NULL;
            s->colour = left ? "#c8553d" : right ? "#2f6690" : "#8d99ae";
        }
        qsort(list, (size_t)n, sizeof *list, nearer);
        const double x0 = (view + 0.5) * width - (view == 1 ? 0.12 * scale : 0);
        const double y0 = view == 2 ? 0.62 * height : height - 30;
        fprintf(out, "<text x='%g' y='22' text-anchor='middle' fill='#333'>%s</text>\n",
                (view + 0.5) * width, titles[view]);
        if (view < 2)
            fprintf(out, "<line x1='%g' x2='%g' y1='%g' y2='%g' stroke='#999'/>\n",
                    view * width + 20, (view + 1) * width - 20, y0, y0);
        for (int i = 0; i <= n; i++) {
            // the box where it is among them, by its middle
            double depth = signs[view][2] * box[axes[view][2]];
            bool first = i == 0 ? n == 0 || depth <= list[0].depth
                                : depth > list[i - 1].depth && (i == n || depth <= list[i].depth);
            if (first) {
                const double half[3] = {0.1, box_half, 0.08};
                double hx = half[axes[view][0]], hy = half[axes[view][1]];
                double cx = signs[view][0] * box[axes[view][0]],
                       cy = signs[view][1] * box[axes[view][1]];
                fprintf(out,
                        "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#e0a458' "
                        "fill-opacity='0.85' stroke='#8a5a14'/>\n",
                        x0 + scale * (cx - hx), y0 - scale * (cy + hy), 2 * scale * hx,
                        2 * scale * hy);
            }
            if (i == n) break;
            const stroke *s = &list[i];
            for (int pass = 0; pass < 2; pass++)
                fprintf(
                    out,
                    "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='%.1f' "
                    "stroke-linecap='round'/>\n",
                    x0 + scale * s->x[0], y0 - scale * s->y[0], x0 + scale * s->x[1] + 0.01,
                    y0 - scale * s->y[1], pass == 0 ? "#222" : s->colour,
                    scale * s->width + (pass == 0 ? 1.5 : -0.5));
        }
    }
    fprintf(out, "</svg>\n");
    fclose(out);
}

// --- solving -------------------------------------------------------------------------------------------

// Everything is where it should be, to a tenth of a millimetre or of a milliradian, and nothing happens that must not.
static bool is_solved(const sn_report *r) { return r->worst_error < 1e-4 && r->violation == 0; }

typedef struct robot {
    sn_model *model;
    sn_problem *problem;
    sn_solver *solver;
    size_t nq;
    double *q, *before;
} robot;

static void random_starts(robot *r, int starts) {
    uint64_t state = 14;
    int solved = 0, late = 0;
    double worst = 0, sum = 0, box[3];
    box_at(0.5, box);
    put_goals(r->problem, box);
    for (int i = 0; i < starts; i++) {
        sn_report report;
        sn_model_sample(r->model, &state, r->q);
        const double begin = now();
        if (sn_solver_solve_cold(r->solver, r->q, &report) != SN_OK) stop("a solve failed");
        const double took = now() - begin;
        worst = fmax(worst, took);
        sum += took;
        solved += is_solved(&report);
        late += took > 0.02;
    }
    printf("%d of %d random starts solved, %.1f ms of processor time each, %.1f at most, %d above "
           "20\n",
           solved, starts, 1e3 * sum / starts, 1e3 * worst, late);
}

// The box goes its way in `frames` steps, each solved from the pose before; the largest change of a joint
// from one to the next.
static double follow(robot *r, int frames, int *solved) {
    double most = 0, box[3];
    sn_report report;
    *solved = 0;
    for (int i = 0; i <= frames; i++) {
        memcpy(r->before, r->q, r->nq * sizeof *r->q);
        box_at((double)i / frames, box);
        put_goals(r->problem, box);
        if (i == 0) sn_model_zero(r->model, r->q);
        if ((i == 0 ? sn_solver_solve_cold : sn_solver_solve)(r->solver, r->q, &report) != SN_OK)
            stop("a solve failed");
        *solved += is_solved(&report);
        for (size_t k = 7; k < r->nq && i > 0; k++) most = fmax(most, fabs(r->q[k] - r->before[k]));
    }
    return most;
}

// The two limbs that are nearest to each other, of those named in this file.
static void print_nearest(const sn_model *model, const sn_workspace *ws) {
    double least = INFINITY;
    int pair[2] = {0, 0}, first = sn_model_nshape(model);
    while (first > 0 && strcmp(sn_model_shape(model, first - 1)->name, "pelvis") != 0) first--;
    for (int i = first; i < sn_model_nshape(model); i++)
        for (int k = first; k < i; k++) {
            const sn_shape_desc *a = sn_model_shape(model, i), *b = sn_model_shape(model, k);
            if ((a->kind & b->meets) == 0 && (b->kind & a->meets) == 0) continue;
            const double d = sn_workspace_distance(ws, i, k);
            // what hangs together overlaps at its joints
            if (d < 0.005 || d >= least) continue;
            least = d;
            pair[0] = i, pair[1] = k;
        }
    printf("nearest of what must keep apart: %s and %s, %.1f mm\n",
           sn_model_shape(model, pair[0])->name, sn_model_shape(model, pair[1])->name, 1e3 * least);
}

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: humanoid g1.xml [PICTURE.svg [STARTS]]\n"), 2;
    robot r = {.model = read_robot(argv[1])};
    sn_error error = {0};
    r.problem = ask(r.model);
    stand(r.problem, 0.24);
    r.nq = (size_t)sn_model_nq(r.model);
    r.q = calloc(r.nq, sizeof *r.q);
    r.before = calloc(r.nq, sizeof *r.q);
    if (r.q == NULL || r.before == NULL) stop("out of memory");
    if (sn_solver_create(r.problem, NULL, NULL, &r.solver, &error) != SN_OK) stop(error.text);
    printf("%s: %d degrees of freedom, %d shapes\n", sn_model_name(r.model), sn_model_nv(r.model),
           sn_model_nshape(r.model));
    random_starts(&r, argc > 3 ? atoi(argv[3]) : 1000);

    for (int frames = 100; frames <= 400; frames *= 2) {
        int solved;
        const double most = follow(&r, frames, &solved);
        printf("%d of %d frames solved, no joint moves by more than %.4f radians from one to the "
               "next\n",
               solved, frames + 1, most);
    }
    if (argc > 2) {
        double box[3];
        sn_report report;
        box_at(0.5, box);
        put_goals(r.problem, box);
        sn_model_zero(r.model, r.q);
        if (sn_solver_solve_cold(r.solver, r.q, &report) != SN_OK) stop("a solve failed");
        print_nearest(r.model, sn_solver_workspace(r.solver));
        draw(argv[2], r.model, sn_solver_workspace(r.solver), box);
    }
    free(r.q);
    free(r.before);
    sn_solver_destroy(r.solver);
    sn_problem_destroy(r.problem);
    sn_model_destroy(r.model);
    return 0;
}
