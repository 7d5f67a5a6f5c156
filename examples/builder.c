// A model made by hand, with all memory from a block of our own: nothing is taken from the heap, and a solve
// takes nothing at all.
#include <math.h>
#include <sinew/sinew.h>
#include <stdalign.h>
#include <stdio.h>

// An allocator that hands out one block from the bottom up, and takes nothing back.
typedef struct arena {
    alignas(max_align_t) unsigned char bytes[1 << 16];
    size_t used;
    int calls;
} arena;

static void *acquire(void *user, size_t bytes) {
    arena *a = user;
    size_t from =
        (a->used + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (bytes > sizeof a->bytes - from) return NULL;  // sinew then says SN_ERR_MEMORY
    a->used = from + bytes;
    a->calls++;
    return a->bytes + from;
}

static void release(void *user, void *block) { (void)user, (void)block; }

int main(void) {
    static arena memory;
    const sn_allocator allocator = {acquire, release, &memory};

    // a lamp: a turning foot and three hinges, each 0.3 m above the last
    sn_builder *builder;
    if (sn_builder_create("lamp", &allocator, &builder, NULL) != SN_OK) return 1;
    static const char *const names[] = {"foot", "lower", "upper", "head"};
    for (int i = 0; i < 4; i++) {
        sn_joint_desc joint = sn_joint_default(SN_JOINT_HINGE);
        joint.name = names[i];
        joint.parent = i - 1;
        joint.position[1] = i > 1 ? 0.3 : 0;
        joint.axis[0] = i > 0, joint.axis[1] = i == 0, joint.axis[2] = 0;
        joint.lower[0] = i > 0 ? -2 : -3;
        joint.upper[0] = i > 0 ? 2 : 3;
        sn_builder_joint(builder, &joint);
    }
    sn_builder_marker(
        builder,
        &(sn_marker_desc){.name = "bulb", .joint = 3, .position = {0, 0.1, 0}, .weight = 1});
    sn_model *lamp;
    sn_error error = {0};
    if (sn_builder_finish(builder, &lamp, &error) != SN_OK)
        return fprintf(stderr, "%s\n", error.text), 1;
    sn_builder_destroy(builder);

    // the bulb goes to a place and shines straight down
    sn_task tasks[2] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_DIRECTION)};
    tasks[0].joint = tasks[1].joint = 3;
    tasks[0].local[1] = 0.1, tasks[1].local[1] = 1, tasks[1].local[2] = 0;
    tasks[0].goal[0] = 0.2, tasks[0].goal[1] = 0.25, tasks[0].goal[2] = 0.2;
    tasks[1].goal[0] = 0, tasks[1].goal[1] = -1, tasks[1].goal[2] = 0;
    sn_problem *problem;
    sn_solver *solver;
    if (sn_problem_create(lamp, tasks, 2, &allocator, &problem, &error) != SN_OK ||
        sn_solver_create(problem, NULL, &allocator, &solver, NULL) != SN_OK)
        return fprintf(stderr, "%s\n", error.text), 1;

    int before = memory.calls;
    double q[4] = {0.1, 0.1, 0.1, 0.1};
    sn_report report;
    if (sn_solver_solve(solver, q, &report) != SN_OK) return 1;
    printf("the bulb is %.1e m from its place\n", report.worst_error);
    for (int i = 0; i < 4; i++) printf("%-6s %6.1f degrees\n", names[i], q[i] * 180 / acos(-1));
    printf("%d blocks for everything, %d during the solve\n", memory.calls, memory.calls - before);
    sn_solver_destroy(solver), sn_problem_destroy(problem), sn_model_destroy(lamp);
    return 0;
}
