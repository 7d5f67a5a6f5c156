// SPDX-License-Identifier: MIT
// Every public function, called with one argument wrong at a time, refuses or does nothing; none crashes.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/csv/csv.h"
#include "files/export.h"
#include "memory_sink.h"
#include "misuse.h"

misuse_world w;

// Where the child is, which the parent reads after a crash.
typedef struct progress {
    int row, fault;    // now
    int calls, wrong;  // that were made; with a fault in them
    int failures;
    bool finished;
} progress;

static progress *now;
enum { MOST_ROWS = 1000 };
static const char *row_name[MOST_ROWS];
static int nrow, at_row, at_fault;    // while going through the rows and an argument list
static bool fault_wrong;              // the fault put in must be refused
static bool asked;                    // a fault was put in at all
static bool refused, judged, stated;  // the last: by a status
static struct {
    void *slot;
    void (*destroy)(void *);
} outs[4];
static int nout;

// Groups of rows, by the order in which they are met first, when the rows get their names.
enum { MOST_GROUPS = 40 };
static int group_rows[MOST_GROUPS], at_group;

void misuse_group(void (*rows)(void)) {
    assert_true(at_group < MOST_GROUPS);
    int first = at_row, *count = &group_rows[at_group++];
    if (now->row < 0 || (now->row >= first && now->row < first + *count))
        rows();
    else
        at_row += *count;
    if (now->row < 0) *count = at_row - first;
}

bool misuse_row(const char *name) {
    if (at_row >= nrow && at_row < MOST_ROWS) {
        row_name[at_row] = name;
        nrow = at_row + 1;
    }
    return at_row++ == now->row;
}

bool misuse_here(bool wrong) {
    if (at_row - 1 != now->row || at_fault++ != now->fault) return false;
    asked = true;
    fault_wrong = wrong;
    return true;
}

void misuse_status(sn_status status) { judged = stated = true, refused = status != SN_OK; }
void misuse_value(bool harmless) { judged = true, refused = harmless; }

int misuse_int(int good, bool negative_only) {
    static const int bad[] = {-1, INT_MIN, INT_MAX, 1 << 20};
    int value = good;
    for (int i = 0; i < (negative_only ? 2 : 4); i++)
        if (misuse_here(true)) value = bad[i];
    return value;
}

double misuse_double(double good, bool wrong) {
    const double bad[] = {NAN, INFINITY, -INFINITY};
    double value = good;
    for (int i = 0; i < 3; i++)
        if (misuse_here(wrong)) value = bad[i];
    return value;
}

const void *misuse_options(const void *good, size_t size, bool null_is_wrong) {
    static union {
        uint32_t version;
        double align[64];
    } copy;
    assert_true(size <= sizeof copy);
    memcpy(&copy, good, size);
    if (misuse_here(true)) copy.version = 0;
    if (misuse_here(true)) copy.version += 1;
    if (misuse_here(true)) copy.version = UINT32_MAX;
    return misuse_here(null_is_wrong) ? NULL : (const void *)&copy;
}

const sn_sink *misuse_sink(void) {
    static const sn_sink hollow = {NULL, NULL};
    const sn_sink *sink = PTR(w.sink);
    return misuse_here(true) ? &hollow : sink;
}

void *misuse_out(void *slot, void (*destroy)(void *)) {
    static char nonsense;
    void *poison = &nonsense;
    memcpy(slot, &poison, sizeof poison);
    outs[nout].slot = slot;
    outs[nout++].destroy = destroy;
    return slot;
}

static void report(const char *what) {
    printf("%s, fault %d: %s\n", row_name[now->row], now->fault, what);
    (void)fflush(stdout);
    now->failures++;
}

// One call; false when the row has no such fault.
static bool call(void) {
    at_row = at_group = at_fault = nout = 0;
    asked = fault_wrong = refused = judged = stated = false;
    misuse_core();
    misuse_files();
    if (now->fault >= 0 && !asked) {  // a good call: what it made is not looked at
        for (int i = 0; i < nout; i++) {
            void *given;
            memcpy(&given, outs[i].slot, sizeof given);
            if (given != NULL) outs[i].destroy(given);
        }
        return false;
    }
    now->calls++;
    now->wrong += fault_wrong;
    if (!judged) report("was not called");
    if (fault_wrong && !refused) report("was not refused");
    if (!fault_wrong && stated && refused) report("a good call was refused");
    for (int i = 0; i < nout; i++) {
        void *given;
        memcpy(&given, outs[i].slot, sizeof given);
        if (fault_wrong && given != NULL) report("a failed call left something in its output");
        if (!fault_wrong && given != NULL) outs[i].destroy(given);
    }
    return true;
}

static void child(void) {
    for (; now->row < nrow; now->row++, now->fault = -1) do {
            if (!call()) break;
            now->fault++;
        } while (true);
    now->finished = true;
}

// --- the world ---------------------------------------------------------------------------------------

static bool accept(void *user, const void *bytes, size_t count) {
    (void)user, (void)bytes, (void)count;
    return true;
}

static char *text_of(memory_sink *s) {
    char *text = s->bytes;
    assert_non_null(text);
    memory_sink_begin(s);
    return text;
}

static void make_files(void) {
    memory_sink s;
    memory_sink_begin(&s);
    sn_motion *carried;
    sn_table *table;
    sn_glb_scene scene = sn_glb_scene_default(w.model);
    assert_int_equal(sn_model_text(w.model, NULL, &w.json), SN_OK);
    assert_int_equal(sn_export_create(w.model, SN_SKELETON_BVH, NULL, NULL, &w.bvh, NULL), SN_OK);
    assert_int_equal(sn_export_create(w.model, SN_SKELETON_ASF, NULL, NULL, &w.asf, NULL), SN_OK);
    assert_int_equal(sn_export_motion(w.bvh, w.motion, NULL, &carried, NULL), SN_OK);
    assert_int_equal(sn_bvh_write(sn_export_skeleton(w.bvh), carried, &s.base, NULL, NULL), SN_OK);
    w.bvh_text = text_of(&s);
    sn_motion_destroy(carried);
    assert_int_equal(sn_export_motion(w.asf, w.motion, NULL, &carried, NULL), SN_OK);
    assert_int_equal(sn_asf_write(sn_export_skeleton(w.asf), &s.base, NULL), SN_OK);
    w.asf_text = text_of(&s);
    assert_int_equal(sn_amc_write(sn_export_skeleton(w.asf), carried, &s.base, NULL, NULL), SN_OK);
    w.amc_text = text_of(&s);
    sn_motion_destroy(carried);
    assert_int_equal(sn_table_from_motion(w.model, w.motion, NULL, &table, NULL), SN_OK);
    assert_int_equal(sn_sto_write(table, &s.base, NULL), SN_OK);
    w.mot_text = text_of(&s);
    sn_table_destroy(table);
    assert_int_equal(sn_csv_write_recording(w.recording, NULL, &s.base, NULL), SN_OK);
    w.csv_text = text_of(&s);
    assert_int_equal(sn_csv_read_table(w.csv_text, strlen(w.csv_text), NULL, &w.table, NULL),
                     SN_OK);
    assert_int_equal(sn_trc_write(w.recording, NULL, &s.base, NULL), SN_OK);
    w.trc_text = text_of(&s);
    assert_int_equal(sn_marker_set_write_json(w.set, &s.base, NULL), SN_OK);
    w.set_text = text_of(&s);
    assert_int_equal(sn_c3d_write(w.recording, NULL, &s.base, NULL, NULL), SN_OK);
    w.c3d_size = s.length;
    w.c3d = text_of(&s);
    assert_int_equal(sn_glb_write(&scene, &s.base, NULL, NULL), SN_OK);
    w.glb_size = s.length;
    w.glb = text_of(&s);
    w.tasks = "{\"tasks\": [{\"type\": \"point\", \"joint\": \"head\", \"goal\": [0, 1, 0]}]}";
    w.urdf = "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>"
             "<joint name='one' type='continuous'><parent link='a'/><child link='b'/></joint>"
             "<joint name='two' type='continuous'><parent link='b'/><child link='c'/>"
             "<mimic joint='one' multiplier='2'/></joint></robot>";
    w.osim =
        "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects><Body "
        "name='b'/></objects></BodySet>"
        "<JointSet><objects><PinJoint name='p'><socket_parent_frame>/ground</socket_parent_frame>"
        "<socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate "
        "name='c'/></coordinates>"
        "</PinJoint></objects></JointSet></Model></OpenSimDocument>";
    w.ik_tasks = "<IKTaskSet><objects><IKMarkerTask "
                 "name='LFHD'><apply>true</apply></IKMarkerTask></objects></IKTaskSet>";
}

static void make_world(void) {
    static const sn_sink sink = {accept, NULL};
    static double *rest;
    w.sink = &sink;
    assert_int_equal(sn_model_humanoid(NULL, &w.model, NULL), SN_OK);
    int nq = sn_model_nq(w.model), nv = sn_model_nv(w.model), nmarker = sn_model_nmarker(w.model);
    w.path = sn_model_path(w.model);
    w.q = calloc((size_t)nq, sizeof *w.q);
    rest = calloc((size_t)nq, sizeof *rest);
    w.v = calloc((size_t)nv, sizeof *w.v);
    w.keep = calloc((size_t)nv, sizeof *w.keep);
    w.rows = calloc(sn_path_size(w.path), sizeof *w.rows);
    w.big = calloc(100000, sizeof *w.big);
    sn_model_zero(w.model, w.q);
    sn_model_zero(w.model, rest);
    for (int i = 0; i < nv; i++) w.v[i] = 1, w.keep[i] = true;
    for (int i = 0; i < nv; i++)
        w.rows[sn_path_row(w.path, i) + (size_t)sn_path_length(w.path, i) - 1] = 1;

    sn_task tasks[] = {sn_task_default(SN_TASK_POINT), sn_task_default(SN_TASK_ORIENTATION),
                       sn_task_default(SN_TASK_REST), sn_task_default(SN_TASK_DIRECTION)};
    tasks[MISUSE_REST].q = rest;
    w.task = tasks[0];
    assert_int_equal(sn_problem_create(w.model, tasks, 4, NULL, &w.problem, NULL), SN_OK);
    sn_task tied[] = {sn_task_default(SN_TASK_LINE),    sn_task_default(SN_TASK_DISTANCE),
                      sn_task_default(SN_TASK_POSE),    sn_task_default(SN_TASK_CENTRE_OF_MASS),
                      sn_task_default(SN_TASK_COUPLED), sn_task_default(SN_TASK_SUPPORT)};
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mass[1] = {1};
    static const int first[1] = {0};
    tied[MISUSE_POSE].has_matrix = tied[MISUSE_POSE].has_rotation_matrix = true;
    tied[MISUSE_CENTRE].joints = tied[MISUSE_COUPLED].tasks = first;
    tied[MISUSE_CENTRE].njoint = tied[MISUSE_COUPLED].ntask = 1;
    tied[MISUSE_CENTRE].masses = mass;
    tied[MISUSE_COUPLED].coupling = unit;
    tied[MISUSE_SUPPORT].corners = unit;
    tied[MISUSE_SUPPORT].ncorner = 3;
    tied[MISUSE_SUPPORT].joints = first;
    tied[MISUSE_SUPPORT].njoint = 1;
    tied[MISUSE_SUPPORT].masses = mass;
    assert_int_equal(sn_problem_create(w.model, tied, 6, NULL, &w.tied, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(w.problem, true, NULL, &w.ws, NULL), SN_OK);
    double f;
    assert_int_equal(sn_workspace_eval(w.ws, w.q, SN_EVAL_HESSIAN, &f), SN_OK);
    assert_int_equal(sn_solver_create(w.problem, NULL, NULL, &w.solver, NULL), SN_OK);
    assert_int_equal(sn_tracker_create(w.problem, NULL, NULL, &w.tracker, NULL), SN_OK);
    assert_int_equal(sn_smoother_create(w.problem, NULL, NULL, &w.smoother, NULL), SN_OK);
    assert_int_equal(sn_builder_create("b", NULL, &w.builder, NULL), SN_OK);
    sn_joint_desc root = sn_joint_default(SN_JOINT_FREE);
    root.name = "root";
    assert_int_equal(sn_builder_joint(w.builder, &root), 0);
    assert_int_equal(sn_builder_create("s", NULL, &w.scrap, NULL), SN_OK);

    assert_int_equal(sn_motion_create(MISUSE_FRAMES, nq, 1, 100, NULL, &w.motion, NULL), SN_OK);
    for (int k = 0; k < MISUSE_FRAMES; k++)
        memcpy(sn_motion_edit(w.motion, k), w.q, (size_t)nq * sizeof *w.q);
    const char **labels = calloc((size_t)nmarker, sizeof *labels);
    for (int i = 0; i < nmarker; i++) labels[i] = sn_model_marker(w.model, i)->name;
    const sn_recording_info info = {.nframe = MISUSE_FRAMES,
                                    .nmarker = nmarker,
                                    .first_frame = 1,
                                    .rate = 100,
                                    .metres_per_unit = 0.001,
                                    .unit = "mm"};
    assert_int_equal(sn_recording_create(&info, labels, NULL, &w.recording, NULL), SN_OK);
    free(labels);
    for (int k = 0; k < MISUSE_FRAMES; k++)
        for (int i = 0; i < nmarker; i++) {
            const sn_marker_desc *m = sn_model_marker(w.model, i);
            sn_vec3 p = sn_workspace_point(w.ws, m->joint, m->position);
            double *x = sn_recording_edit(w.recording, k) + 3 * i;
            x[0] = p.x, x[1] = p.y, x[2] = p.z;
        }
    assert_int_equal(sn_marker_set_of_model(w.model, NULL, &w.set, NULL), SN_OK);
    make_files();
}

// --- tests -------------------------------------------------------------------------------------------

static void test_every_function(void **state) {
    (void)state;
    make_world();
    now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(now != MAP_FAILED);
    *now = (progress){.row = -1, .fault = -1};
    at_row = at_group = 0;
    misuse_core(), misuse_files();  // only gives the rows their names
    *now = (progress){.fault = -1};
    (void)fflush(stdout);
    while (!now->finished) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            // a crash must end the child: cmocka would catch it and go on with the tests
            const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
            for (int i = 0; i < 5; i++) (void)signal(crashes[i], SIG_DFL);
            child();
            (void)fflush(stdout);
            exit(0);  // not _exit(): a build for coverage writes what was executed
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (now->finished) {
            assert_int_equal(status, 0);  // a sanitizer may have found a leak
            break;
        }
        report("crashed");
        now->fault++;
        assert_true(now->failures < 1000);  // a row that crashes without its fault never ends
    }
    printf("%d functions, %d calls, %d of them with a fault that must be refused\n", nrow,
           now->calls, now->wrong);
    assert_int_equal(now->failures, 0);
    assert_true(nrow > 200 && now->wrong > 3 * nrow);
}

// Every SN_API function of the headers has a row.
static void test_table_is_whole(void **state) {
    (void)state;
    const char *folder = SINEW_ROOT "/include/sinew";
    DIR *list = opendir(folder);
    assert_non_null(list);
    int found = 0, missing = 0;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (strstr(entry->d_name, ".h") == NULL) continue;
        char path[4096];
        size_t length;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        char *text = slurp(path, &length);
        for (char *at = text; (at = strstr(at, "\nSN_API ")) != NULL;) {
            at += strlen("\nSN_API ");
            char *open = strchr(at, '('), *name = open;
            assert_non_null(open);
            while (name > at && strchr(" *\n", name[-1]) == NULL) name--;
            *open = '\0';
            bool there = false;
            for (int i = 0; i < nrow; i++) there = there || strcmp(row_name[i], name) == 0;
            if (!there) printf("%s has no row in tests/misuse_*.c\n", name), missing++;
            found++;
            at = open + 1;
        }
        free(text);
    }
    (void)closedir(list);
    assert_int_equal(missing, 0);
    assert_int_equal(found, nrow);
}

// A task that was zeroed rather than begun with sn_task_default() weighs nothing: it is refused, by name.
static void test_zeroed_task(void **state) {
    (void)state;
    for (int type = 0; type < SN_TASK_TYPE_COUNT; type++) {
        sn_task task = {.type = (sn_task_type)type, .goal = {0, 1, 0}};
        sn_problem *problem;
        sn_error error;
        assert_int_equal(sn_problem_create(w.model, &task, 1, NULL, &problem, &error), SN_ERR_TASK);
        assert_null(problem);
        assert_non_null(strstr(error.text, "sn_task_default()"));
        assert_int_equal(sn_problem_copy(w.problem, &task, 1, NULL, &problem, &error), SN_ERR_TASK);
    }
}

// A sink or an allocator without its functions.
static void test_hollow_structs(void **state) {
    (void)state;
    const sn_sink sink = {NULL, NULL};
    const sn_allocator allocator = {NULL, NULL, NULL};
    sn_model *model;
    assert_int_equal(sn_asf_write(sn_export_skeleton(w.asf), &sink, NULL), SN_ERR_ARGUMENT);
    assert_int_equal(sn_glb_write(&(sn_glb_scene){.version = 1}, w.sink, NULL, NULL),
                     SN_ERR_ARGUMENT);
    assert_int_equal(sn_model_humanoid(&allocator, &model, NULL), SN_ERR_MEMORY);
    assert_null(model);
}

// The index just behind the last is out of range.
static void test_one_past_the_end(void **state) {
    (void)state;
    const sn_table_info *t = sn_table_about(w.table);
    const sn_recording_info *r = sn_recording_about(w.recording);
    int njoint = sn_model_njoint(w.model), nv = sn_model_nv(w.model);
    const sn_skeleton *bvh = sn_export_skeleton(w.bvh);
    double at[3];
    assert_non_null(sn_table_row(w.table, t->nrow - 1));
    assert_null(sn_table_row(w.table, t->nrow));
    assert_null(sn_table_edit(w.table, t->nrow));
    assert_null(sn_table_column(w.table, t->ncolumn));
    assert_null(sn_recording_frame(w.recording, r->nframe));
    assert_null(sn_recording_edit(w.recording, r->nframe));
    assert_null(sn_recording_label(w.recording, r->nmarker));
    assert_false(sn_recording_present(w.recording, 0, r->nmarker));
    assert_null(sn_motion_frame(w.motion, MISUSE_FRAMES));
    assert_null(sn_motion_edit(w.motion, MISUSE_FRAMES));
    assert_null(sn_model_joint(w.model, njoint));
    assert_null(sn_model_marker(w.model, sn_model_nmarker(w.model)));
    assert_int_equal(sn_model_q_index(w.model, njoint), -1);
    assert_int_equal(sn_model_v_index(w.model, njoint), -1);
    assert_int_equal(sn_model_parent(w.model, njoint), -1);
    assert_int_equal(sn_path_length(w.path, nv), 0);
    assert_int_equal(sn_path_parent(w.path, nv), -1);
    assert_null(sn_problem_task(w.problem, sn_problem_ntask(w.problem)));
    assert_null(sn_marker_set_place(w.set, sn_marker_set_count(w.set)));
    assert_int_equal(sn_export_joint(w.bvh, njoint), -1);
    assert_int_equal(sn_skeleton_end(bvh, sn_skeleton_nend(bvh), at), -1);
    assert_null(sn_skeleton_row_name(bvh, 0, sn_skeleton_row_count(bvh, 0)));
}

// An empty file, which may come as NULL: every reader says that it is none of its own.
static void test_empty_files(void **state) {
    (void)state;
    sn_model *model;
    sn_skeleton *skeleton;
    sn_motion *motion;
    sn_recording *recording;
    sn_table *table;
    sn_problem *problem;
    sn_marker_set *set;
    sn_document document;
    sn_glb_content content;
    for (int k = 0; k < 2; k++) {
        const char *none = k == 0 ? NULL : "";
        assert_int_not_equal(sn_model_read_json(none, 0, NULL, &model, NULL), SN_OK);
        assert_int_not_equal(sn_problem_read_json(none, 0, w.model, NULL, &problem, NULL), SN_OK);
        assert_int_not_equal(sn_marker_set_read_json(none, 0, NULL, &set, NULL), SN_OK);
        assert_int_not_equal(sn_marker_set_read_tasks(none, 0, w.model, NULL, &set, NULL), SN_OK);
        assert_int_not_equal(sn_bvh_read(none, 0, NULL, NULL, &skeleton, &motion, NULL), SN_OK);
        assert_int_not_equal(sn_asf_read(none, 0, NULL, NULL, &skeleton, NULL), SN_OK);
        assert_int_not_equal(sn_amc_read(none, 0, sn_export_skeleton(w.asf), NULL, &motion, NULL),
                             SN_OK);
        assert_int_not_equal(sn_c3d_read(none, 0, NULL, &recording, NULL), SN_OK);
        assert_int_not_equal(sn_trc_read(none, 0, NULL, &recording, NULL), SN_OK);
        assert_int_not_equal(sn_csv_read_recording(none, 0, NULL, &recording, NULL), SN_OK);
        assert_int_not_equal(sn_csv_read_table(none, 0, NULL, &table, NULL), SN_OK);
        assert_int_not_equal(sn_sto_read(none, 0, NULL, &table, NULL), SN_OK);
        assert_int_not_equal(sn_urdf_read(none, 0, NULL, NULL, &model, NULL, NULL), SN_OK);
        assert_int_not_equal(sn_osim_read(none, 0, NULL, &model, NULL, NULL, NULL), SN_OK);
        assert_int_not_equal(sn_mjcf_read(none, 0, NULL, &model, NULL, NULL), SN_OK);
        assert_int_not_equal(sn_glb_read(none, 0, NULL, &content, NULL), SN_OK);
        assert_int_not_equal(sn_document_read(none, 0, "x.bvh", NULL, NULL, &document, NULL),
                             SN_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_function),   cmocka_unit_test(test_table_is_whole),
        cmocka_unit_test(test_zeroed_task),      cmocka_unit_test(test_hollow_structs),
        cmocka_unit_test(test_one_past_the_end), cmocka_unit_test(test_empty_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
