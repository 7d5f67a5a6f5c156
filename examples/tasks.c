// Every kind of task between bodies and on groups of joints: the figure stands, one or two tasks are put on
// it and changed while the problem lives, and it is drawn before and after. With a folder as its
// argument the pictures of docs/tasks.md are written there.
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, NQ = 64 };

static sn_model *figure;
static double stand[NQ];  // how the figure stands before

static int joint(const char *name) { return sn_model_find_joint(figure, name); }

static sn_task task(sn_task_type type, const char *on, const char *and) {
    sn_task t = sn_task_default(type);
    if (on != NULL) t.joint = joint(on);
    if (and != NULL) t.joint2 = joint(and);
    return t;
}

static void put(double to[3], double x, double y, double z) { to[0] = x, to[1] = y, to[2] = z; }

// ---- pictures -------------------------------------------------------------------------------------

typedef struct mark {
    char kind;  // o a point, - a line between two, + a cross
    double a[3], b[3];
} mark;

typedef struct picture {
    mark marks[MOST];
    int nmark;
} picture;

static void add_mark(picture *p, char kind, const double *a, const double *b) {
    if (p->nmark == MOST) return;
    mark *m = &p->marks[p->nmark++];
    m->kind = kind;
    memcpy(m->a, a, sizeof m->a);
    memcpy(m->b, b != NULL ? b : a, sizeof m->b);
}

// Seen from the front, a little from the left and from above: 2 m high, 100 units a metre.
static void project(const double p[3], double out[2]) {
    const double turn = 0.5, tip = 0.2;
    const double x = cos(turn) * p[0] - sin(turn) * p[2], z = sin(turn) * p[0] + cos(turn) * p[2];
    out[0] = 105 + 100 * x;
    out[1] = 200 - 100 * (cos(tip) * p[1] - sin(tip) * z);
}

// A limb from each joint to its parent; hands and heads by what hangs on them.
static void draw(FILE *file, sn_workspace *ws, const double *q, const char *style) {
    if (sn_workspace_pose(ws, q) != SN_OK) return;
    fprintf(file, "<path %s d=\"", style);
    for (int j = 0; j < sn_model_njoint(figure); j++) {
        int parent = sn_model_joint(figure, j)->parent;
        if (parent < 0) continue;
        sn_vec3 p = sn_workspace_frame(ws, j).p, from = sn_workspace_frame(ws, parent).p;
        double a[2], b[2];
        project((double[3]){from.x, from.y, from.z}, a);
        project((double[3]){p.x, p.y, p.z}, b);
        if (hypot(a[0] - b[0], a[1] - b[1]) > 0.5)
            fprintf(file, "M%.0f %.0fL%.0f %.0f", a[0], a[1], b[0], b[1]);
    }
    double a[2], b[2];
    int head = joint("head");
    sn_vec3 low = sn_workspace_point(ws, head, (double[3]){0, 0, 0});
    sn_vec3 top = sn_workspace_point(ws, head, (double[3]){0, 0.2, 0});
    sn_vec3 nose = sn_workspace_point(ws, head, (double[3]){0, 0.1, 0.12});
    project((double[3]){low.x, low.y, low.z}, a);
    project((double[3]){top.x, top.y, top.z}, b);
    fprintf(file, "M%.0f %.0fL%.0f %.0f", a[0], a[1], b[0], b[1]);
    project((double[3]){nose.x, nose.y, nose.z}, a);
    fprintf(file, "L%.0f %.0fZ\"/>\n", a[0], a[1]);
}

static bool write_picture(const char *folder, const char *name, sn_workspace *ws, const double *q,
                          const picture *p) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s.svg", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) return false;
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 210 230\" width=\"210\" "
                  "height=\"230\" fill=\"none\" stroke-linecap=\"round\">\n"
                  "<rect width=\"210\" height=\"230\" rx=\"6\" fill=\"#fff\"/>\n");
    draw(file, ws, stand, "stroke=\"#ccc\" stroke-width=\"2\"");
    draw(file, ws, q, "stroke=\"#234\" stroke-width=\"3\"");
    for (int i = 0; i < p->nmark; i++) {
        const mark *m = &p->marks[i];
        double a[2], b[2];
        project(m->a, a);
        project(m->b, b);
        if (m->kind == 'o')
            fprintf(file, "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"4\" fill=\"#d33\"/>\n", a[0], a[1]);
        if (m->kind == '-')
            fprintf(file,
                    "<path stroke=\"#d33\" stroke-width=\"1.5\" d=\"M%.0f %.0fL%.0f %.0f\"/>\n",
                    a[0], a[1], b[0], b[1]);
        if (m->kind == '+')
            fprintf(file,
                    "<path stroke=\"#27c\" stroke-width=\"2\" d=\"M%.0f %.0fh10m-5 -5v10\"/>\n",
                    a[0] - 5, a[1]);
    }
    fputs("</svg>\n", file);
    return fclose(file) == 0;
}

// ---- the tasks ------------------------------------------------------------------------------------

typedef struct scene {
    const char *name;
    sn_task tasks[MOST];
    int ntask;
    double *q;
    sn_problem *problem;
    sn_solver *solver;
    picture picture;
} scene;

static double place[MOST][3];  // of what is held where it is

// Feet and a faint wish to stay; the scene's own tasks come before.
static void hold(scene *s) {
    static const char *const feet[] = {"left_foot", "right_foot"};
    sn_problem *none;
    sn_workspace *ws;
    if (sn_problem_create(figure, NULL, 0, NULL, &none, NULL) != SN_OK) exit(1);
    if (sn_workspace_create(none, false, NULL, &ws, NULL) != SN_OK) exit(1);
    if (sn_workspace_pose(ws, stand) != SN_OK) exit(1);
    for (int i = 0; i < 2; i++) {
        sn_frame at = sn_workspace_frame(ws, joint(feet[i]));
        sn_quat r = sn_quat_from_mat3(at.R);
        sn_task t = task(SN_TASK_POSE, feet[i], NULL);
        put(t.goal, at.p.x, at.p.y, at.p.z);
        t.rotation[0] = r.w, t.rotation[1] = r.x, t.rotation[2] = r.y, t.rotation[3] = r.z;
        t.weight = t.rotation_weight = 10;
        s->tasks[s->ntask++] = t;
    }
    sn_task rest = sn_task_default(SN_TASK_REST);
    rest.q = stand;
    rest.weight = 1e-4;
    s->tasks[s->ntask++] = rest;
    sn_workspace_destroy(ws);
    sn_problem_destroy(none);
}

static void open_scene(scene *s, const char *name) {
    sn_error error = {0};
    s->name = name;
    s->q = malloc(NQ * sizeof *s->q);
    if (s->q == NULL) exit(1);
    memcpy(s->q, stand, sizeof stand);
    hold(s);
    if (sn_problem_create(figure, s->tasks, s->ntask, NULL, &s->problem, &error) != SN_OK ||
        sn_solver_create(s->problem, NULL, NULL, &s->solver, &error) != SN_OK) {
        fprintf(stderr, "%s: %s\n", name, error.text);
        exit(1);
    }
}

// Solve, say what is left of the first task, draw, and close.
static void close_scene(scene *s, const char *folder) {
    sn_report report;
    sn_workspace *ws = sn_solver_workspace(s->solver);
    if (sn_solver_solve(s->solver, s->q, &report) != SN_OK) exit(1);
    double f;
    if (sn_workspace_eval(ws, s->q, 0, &f) != SN_OK) exit(1);
    printf("%-20s %.1e off, %d iterations\n", s->name, sn_workspace_task_error(ws, 0),
           report.iterations);
    if (folder != NULL && !write_picture(folder, s->name, ws, s->q, &s->picture)) {
        fprintf(stderr, "%s: cannot write\n", folder);
        exit(1);
    }
    sn_solver_destroy(s->solver);
    sn_problem_destroy(s->problem);
    free(s->q);
}

static void point_of(scene *s, const char *name, const double local[3], double out[3]) {
    sn_report report;
    double *q = malloc(NQ * sizeof *q);
    if (q == NULL) exit(1);
    memcpy(q, s->q, NQ * sizeof *q);
    (void)sn_solver_solve(s->solver, q, &report);
    sn_vec3 p = sn_workspace_point(sn_solver_workspace(s->solver), joint(name), local);
    put(out, p.x, p.y, p.z);
    free(q);
}

static const double origin[3] = {0, 0, 0};

// A box between the hands, which stays there wherever they go: the left hand in the right hand's frame.
static void relative(const char *folder) {
    scene s = {0};
    sn_task t = task(SN_TASK_RELATIVE, "left_hand", "right_hand");
    put(t.goal, 0.35, 0, 0);
    s.tasks[s.ntask++] = t;
    t = task(SN_TASK_POINT, "right_hand", NULL);
    put(t.goal, -0.2, 1.2, 0.4);
    s.tasks[s.ntask++] = t;
    open_scene(&s, "relative");
    point_of(&s, "right_hand", origin, place[0]);
    point_of(&s, "left_hand", origin, place[1]);
    add_mark(&s.picture, '-', place[0], place[1]);
    add_mark(&s.picture, 'o', t.goal, NULL);
    close_scene(&s, folder);
}

static void relative_orientation(const char *folder) {
    scene s = {0};
    sn_task t = task(SN_TASK_RELATIVE_ORIENTATION, "chest", "pelvis");
    t.in_joint2 = true;
    t.rotation[0] = cos(0.4), t.rotation[2] = sin(0.4);  // the chest turned by 0.8 rad
    s.tasks[s.ntask++] = t;
    open_scene(&s, "relative-orientation");
    point_of(&s, "chest", (double[3]){0, 0.1, 0}, place[0]);
    point_of(&s, "chest", (double[3]){0, 0.1, 0.35}, place[1]);
    add_mark(&s.picture, '-', place[0], place[1]);
    close_scene(&s, folder);
}

// The right hand before the left one, palm to palm; how it is turned about its own axis is free.
static void relative_pose(const char *folder) {
    scene s = {0};
    static const double all[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                        free_y[9] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
    sn_task t = task(SN_TASK_RELATIVE_POSE, "right_hand", "left_hand");
    t.in_joint2 = true;
    put(t.goal, 0, 0, 0.08);
    t.has_matrix = t.has_rotation_matrix = true;
    memcpy(t.matrix, all, sizeof all);
    memcpy(t.rotation_matrix, all, sizeof all);
    s.tasks[s.ntask++] = t;
    t = task(SN_TASK_POINT, "left_hand", NULL);
    put(t.goal, 0.1, 1.15, 0.35);
    s.tasks[s.ntask++] = t;
    open_scene(&s, "relative-pose");
    sn_problem_set_rotation_matrix(s.problem, 0, free_y);
    sn_problem_set_matrix(s.problem, 0, all);
    sn_problem_set_rotation_weight(s.problem, 0, 0.5);
    point_of(&s, "right_hand", origin, place[0]);
    add_mark(&s.picture, 'o', t.goal, NULL);
    add_mark(&s.picture, '+', place[0], NULL);
    close_scene(&s, folder);
}

static void distance(const char *folder) {
    scene s = {0};
    sn_task t = task(SN_TASK_DISTANCE, "left_hand", "head");
    t.distance = 0.5;
    s.tasks[s.ntask++] = t;
    open_scene(&s, "distance");
    // nearer, and to the crown of the head
    sn_problem_set_distance(s.problem, 0, 0.3);
    sn_problem_set_local2(s.problem, 0, (double[3]){0, 0.2, 0});
    point_of(&s, "left_hand", origin, place[0]);
    point_of(&s, "head", (double[3]){0, 0.2, 0}, place[1]);
    add_mark(&s.picture, '-', place[0], place[1]);
    close_scene(&s, folder);
}

static void look_at(const char *folder) {
    scene s = {0};
    sn_task t = task(SN_TASK_LOOK_AT, "head", NULL);
    put(t.local, 0, 0.1, 0.08);
    put(t.local2, 0.7, 0.9, 0.7);
    s.tasks[s.ntask++] = t;
    open_scene(&s, "look-at");
    point_of(&s, "head", t.local, place[0]);
    add_mark(&s.picture, '-', place[0], t.local2);
    add_mark(&s.picture, 'o', t.local2, NULL);
    close_scene(&s, folder);
}

static void line(const char *folder) {
    scene s = {0};
    sn_task t = task(SN_TASK_LINE, "left_hand", NULL);
    put(t.goal, 0.5, 0.9, 0.2);
    s.tasks[s.ntask++] = t;
    open_scene(&s, "line");
    sn_problem_set_axis(s.problem, 0, (double[3]){0, 1, 0.3});
    add_mark(&s.picture, '-', (double[3]){0.5, 0.4, 0.05}, (double[3]){0.5, 1.6, 0.41});
    close_scene(&s, folder);
}

// The hand on a table that the pelvis carries.
static void plane(const char *folder) {
    scene s = {0};
    sn_task t = task(SN_TASK_PLANE, "left_hand", "pelvis");
    put(t.goal, 0, 0.15, 0);
    put(t.normal, 0, 1, 0);
    s.tasks[s.ntask++] = t;
    open_scene(&s, "plane");
    const double y = 1.1;
    const double corner[4][3] = {{0.1, y, 0}, {0.8, y, 0}, {0.8, y, 0.5}, {0.1, y, 0.5}};
    for (int i = 0; i < 4; i++) add_mark(&s.picture, '-', corner[i], corner[(i + 1) % 4]);
    close_scene(&s, folder);
}

// The weight over the left foot. The figure has no masses: trunk and thighs are given some.
static void centre_of_mass(const char *folder) {
    scene s = {0};
    static int joints[4];
    static const double masses[4] = {12, 30, 8, 8}, heavy[4] = {12, 30, 9, 9},
                        centres[12] = {0, 0, 0, 0, 0, 0, 0, -0.2, 0, 0, -0.2, 0};
    joints[0] = joint("pelvis"), joints[1] = joint("chest");
    joints[2] = joint("left_thigh"), joints[3] = joint("right_thigh");
    sn_task t = sn_task_default(SN_TASK_CENTRE_OF_MASS);
    t.joints = joints;
    t.njoint = 4;
    t.masses = masses;
    t.centres = centres;
    put(t.goal, 0.09, 1.0, 0.02);
    s.tasks[s.ntask++] = t;
    open_scene(&s, "centre-of-mass");
    sn_problem_set_masses(s.problem, 0, heavy);
    add_mark(&s.picture, '-', t.goal, (double[3]){0.09, 0.02, 0.02});
    add_mark(&s.picture, 'o', t.goal, NULL);
    close_scene(&s, folder);
}

// Arms as in another pose, whatever the rest does.
static void posture(const char *folder) {
    scene s = {0};
    static int joints[4];
    static double q[NQ];
    memcpy(q, stand, sizeof q);
    joints[0] = joint("left_upper_arm"), joints[1] = joint("left_forearm");
    joints[2] = joint("right_upper_arm"), joints[3] = joint("right_forearm");
    q[sn_model_q_index(figure, joints[0])] = 0.9;
    q[sn_model_q_index(figure, joints[1])] = -1.6;
    q[sn_model_q_index(figure, joints[2])] = -0.9;
    q[sn_model_q_index(figure, joints[3])] = -1.6;
    sn_task t = sn_task_default(SN_TASK_POSTURE);
    t.joints = joints;
    t.njoint = 4;
    t.q = q;
    s.tasks[s.ntask++] = t;
    open_scene(&s, "posture");
    close_scene(&s, folder);
}

// Both hands want a goal that is 0.4 m too far; the matrix makes what is left over the same for both.
static void coupled(const char *folder) {
    scene s = {0};
    static const int both[2] = {0, 1};
    static double W[36];
    sn_task t = task(SN_TASK_POINT, "left_hand", NULL);
    put(t.goal, 0.3, 1.3, 0.9);
    t.weight = 1e-3;
    s.tasks[s.ntask++] = t;
    add_mark(&s.picture, 'o', t.goal, NULL);
    t = task(SN_TASK_POINT, "right_hand", NULL);
    put(t.goal, -0.1, 1.3, 0.7);
    t.weight = 1e-3;
    s.tasks[s.ntask++] = t;
    add_mark(&s.picture, 'o', t.goal, NULL);
    for (int i = 0; i < 6; i++) W[7 * i] = 1;
    t = sn_task_default(SN_TASK_COUPLED);
    t.tasks = both;
    t.ntask = 2;
    t.coupling = W;
    s.tasks[s.ntask++] = t;
    open_scene(&s, "coupled");
    // |r1 - r2|^2: only their difference counts
    for (int i = 0; i < 3; i++) W[6 * i + i + 3] = W[6 * (i + 3) + i] = -1;
    sn_problem_set_coupling(s.problem, 2, W);
    close_scene(&s, folder);
}

// One's own: the left hand on a sphere of 0.5 m about (0, 1.2, 0.2), a quartic wall.
static double sphere(void *user, const sn_frame *frames, double *gradient) {
    const double *c = user, r2 = 0.25;
    const double d[3] = {frames[0].p.x - c[0], frames[0].p.y - c[1], frames[0].p.z - c[2]};
    const double s = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - r2;
    for (int k = 0; gradient != NULL && k < 6; k++) gradient[k] = k < 3 ? 0 : 2 * s * d[k - 3];
    return 0.5 * s * s;
}

static void sphere_bend(void *user, const sn_frame *frames, const double *x, double *out) {
    const double *c = user, r2 = 0.25;
    const double d[3] = {frames[0].p.x - c[0], frames[0].p.y - c[1], frames[0].p.z - c[2]};
    const double s = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] - r2;
    const double along = d[0] * x[3] + d[1] * x[4] + d[2] * x[5];
    for (int k = 0; k < 6; k++) out[k] = k < 3 ? 0 : 2 * s * x[k] + 4 * along * d[k - 3];
}

static void own(const char *folder) {
    scene s = {0};
    static int hand[1];
    static double centre[3] = {0, 1.2, 0.2};
    hand[0] = joint("left_hand");
    sn_task t = sn_task_default(SN_TASK_OWN);
    t.joints = hand;
    t.njoint = 1;
    t.own = (sn_own_task){centre, sphere, sphere_bend};
    s.tasks[s.ntask++] = t;
    open_scene(&s, "own");
    point_of(&s, "left_hand", origin, place[0]);
    add_mark(&s.picture, '+', centre, NULL);
    add_mark(&s.picture, '-', centre, place[0]);
    close_scene(&s, folder);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : NULL;
    if (sn_model_humanoid(NULL, &figure, NULL) != SN_OK || sn_model_nq(figure) > NQ) return 1;
    // arms down, knees and elbows a little bent
    sn_model_zero(figure, stand);
    static const struct {
        const char *name;
        double angle;
    } bent[] = {{"left_upper_arm", -1.2}, {"right_upper_arm", 1.2}, {"left_forearm", -0.4},
                {"right_forearm", -0.4},  {"left_shin", 0.2},       {"right_shin", 0.2}};
    for (size_t i = 0; i < sizeof bent / sizeof bent[0]; i++)
        stand[sn_model_q_index(figure, joint(bent[i].name))] = bent[i].angle;
    static void (*const all[])(const char *) = {
        relative, relative_orientation, relative_pose, distance, look_at, line,
        plane,    centre_of_mass,       posture,       coupled,  own};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) all[i](folder);
    sn_model_destroy(figure);
    return 0;
}
