// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L  // mkdtemp, setenv

#include "support.h"

#include <locale.h>
#include <unistd.h>

#include "reference.h"
#include "sweeps/workspace.h"
#include "tasks/problem.h"

int cases(int usual) {
    const char *text = getenv("SINEW_CASES");
    double factor = text != NULL ? strtod(text, NULL) : 1;
    double n = usual * (factor > 0 ? factor : 1);
    return n < 1 ? 1 : n > 1e9 ? 1000000000 : (int)n;
}

int cases_up_to(int usual, int most) {
    const int n = cases(usual);
    return n > usual && n > most ? most : n;
}

bool sampled(void) { return cases(10) < 10; }

int first_case(void) {
    const char *text = getenv("SINEW_FIRST");
    return text != NULL ? (int)strtol(text, NULL, 10) : 0;
}

void only_asked(void) {
    const char *pattern = getenv("SINEW_ONLY");
    if (pattern != NULL) cmocka_set_test_filter(pattern);
}

const char *data_path(const char *name) {
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", SINEW_DATA, name);
    if (access(path, R_OK) == 0) return path;
    print_message("skipped: the file %s is not in the data folder\n", name);
    return NULL;
}

const char *decimal_commas(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8",
                                        "de_DE",       "fr_FR",      "ru_RU.UTF-8", "ps_AF.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_NUMERIC, names[i]) != NULL) return names[i];
    char folder[] = "/tmp/sinew_locale_XXXXXX", line[200];
    const char *found = NULL;
    if (mkdtemp(folder) != NULL) {
        (void)snprintf(line, sizeof line, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1",
                       folder, folder);
        // what it warns of, it makes all the same: whether there is a locale is asked below
        int made = system(line);
        (void)setenv("LOCPATH", folder, 1);
        found = setlocale(LC_NUMERIC, "de_DE.UTF-8");
        (void)unsetenv("LOCPATH");
        (void)snprintf(line, sizeof line, "rm -r %s", folder);
        if (system(line) != 0) print_message("%s stays (localedef: %d)\n", folder, made);
    }
    if (found == NULL)
        print_message("skipped: no locale with a decimal comma can be had (Debian: locales)\n");
    return found;
}

char *slurp(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s cannot be opened", path);
    (void)fseek(file, 0, SEEK_END);
    long size = ftell(file);
    (void)fseek(file, 0, SEEK_SET);
    assert_true(size >= 0);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    (void)fclose(file);
    text[size] = '\0';
    *length = (size_t)size;
    return text;
}

void assert_near(double x, double y, double tolerance) {
    double scale = fmax(1, fmax(fabs(x), fabs(y)));
    if (!(fabs(x - y) <= tolerance * scale) || isinf(scale))
        fail_msg("%.17g and %.17g differ by %.3g of %.3g", x, y, fabs(x - y), scale);
}

double uniform(uint64_t *state, double low, double high) {
    return low + (high - low) * sn_random(state);
}

int below(uint64_t *state, int n) { return (int)(sn_random(state) * n); }

bool random_kinks = false;
bool random_owns = true;

// One function of one kind; its numbers are written to `numbers`.
static sn_function random_function(uint64_t *state, int ncoordinate, double numbers[64]) {
    sn_function f = {.type = (sn_function_type)below(state, SN_FUNCTION_TYPE_COUNT), .scale = 1};
    if (f.type == SN_FUNCTION_POLYLINE && !random_kinks) f.type = SN_FUNCTION_SPLINE;
    bool one = f.type == SN_FUNCTION_SPLINE || f.type == SN_FUNCTION_POLYLINE;
    int most = ncoordinate < 3 ? ncoordinate : 3, first = below(state, ncoordinate);
    if (f.type != SN_FUNCTION_CONSTANT) f.nargument = one ? 1 : 1 + below(state, most);
    // a few coordinates in some order, each once
    int way = below(state, 2) == 0 ? 1 : ncoordinate - 1;
    for (int i = 0; i < f.nargument; i++) f.argument[i] = (first + i * way) % ncoordinate;
    if (f.nargument == 2 && f.argument[0] == f.argument[1]) f.nargument = 1;
    if (f.nargument == 3 && (f.argument[0] == f.argument[2])) f.nargument = 2;
    if (below(state, 3) == 0) f.scale = uniform(state, -2, 2);
    switch (f.type) {
    case SN_FUNCTION_CONSTANT:
        f.ny = 1;
        break;
    case SN_FUNCTION_LINEAR:
        f.ny = f.nargument + 1;
        break;
    case SN_FUNCTION_POLYNOMIAL: {
        static const int counts[4][4] = {{0}, {1, 2, 4, 6}, {1, 3, 6, 10}, {1, 4, 10, 20}};
        f.ny = counts[f.nargument][below(state, 4)];
        break;
    }
    case SN_FUNCTION_SINE:
        f.ny = f.nargument + 3;
        break;
    default:
        f.nx = f.ny = 2 + below(state, 9);
        break;
    }
    f.x = numbers;
    f.y = numbers + f.nx;
    double x = uniform(state, -4, -1);
    for (int i = 0; i < f.nx; i++, x += uniform(state, 0.2, 1.5)) numbers[i] = x;
    // tame: powers of pi grow
    double size = f.type == SN_FUNCTION_POLYNOMIAL ? 0.1 : 1;
    for (int i = 0; i < f.ny; i++) numbers[f.nx + i] = size * uniform(state, -1, 1);
    return f;
}

const sn_joint_functions *random_functions(uint64_t *state, int most) {
    static sn_joint_functions kept[64];
    static double numbers[64][SN_MAX_JOINT_MOVES][64];
    static int calls;
    int at = calls++ % 64;
    sn_joint_functions *f = &kept[at];
    *f = (sn_joint_functions){.ncoordinate = 1 + below(state, most)};
    f->nmove = 1 + below(state, SN_MAX_JOINT_MOVES);
    for (int m = 0; m < f->nmove; m++) {
        sn_joint_move *move = &f->move[m];
        move->turns = below(state, 2) == 0;
        bool aligned = below(state, 3) == 0;
        int axis = below(state, 3);
        for (int i = 0; i < 3; i++) move->axis[i] = aligned ? i == axis : uniform(state, -1, 1);
        move->function = random_function(state, f->ncoordinate, numbers[at][m]);
    }
    return f;
}

sn_joint_desc random_joint(uint64_t *state, sn_joint_type type, int index, int parent) {
    static char names[64][16];
    static const char orders[12][4] = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX",
                                       "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"};
    sn_joint_desc d = sn_joint_default(type);
    char *name = names[index % 64];
    (void)snprintf(name, sizeof names[0], "j%d", index);
    d.name = name;
    d.parent = parent;
    for (int i = 0; i < 3; i++) d.position[i] = uniform(state, -0.5, 0.5);
    if (below(state, 3) > 0)
        for (int i = 0; i < 4; i++) d.rotation[i] = uniform(state, -1, 1);
    bool aligned = below(state, 3) == 0;
    int axis = below(state, 3), axis2 = (axis + 1 + below(state, 2)) % 3;
    for (int i = 0; i < 3; i++) {
        d.axis[i] = aligned ? i == axis : uniform(state, -1, 1);
        d.axis2[i] = aligned ? i == axis2 : uniform(state, -1, 1);
    }
    d.pitch = uniform(state, -0.2, 0.2);
    (void)snprintf(d.order, sizeof d.order, "%s", orders[below(state, 12)]);
    if (type == SN_JOINT_FUNCTION) d.functions = random_functions(state, SN_MAX_JOINT_DOFS);
    int extra = below(state, 8);
    for (int i = 0; i < SN_MAX_JOINT_DOFS; i++) {
        bool plain = type != SN_JOINT_BALL && (type != SN_JOINT_FREE || i < 3);
        if (extra == 0 && plain) {
            d.lower[i] = uniform(state, -2, 0);
            d.upper[i] = uniform(state, 0, 2);
        }
        bool turns = type == SN_JOINT_HINGE || type == SN_JOINT_UNIVERSAL || type == SN_JOINT_EULER;
        if (extra == 3 && turns) {
            d.lower[i] = uniform(state, -7, -3.14);
            d.upper[i] = uniform(state, 3.14, 7);
        }
        if (extra == 1) d.strength[i] = uniform(state, 0.2, 3);
        if (extra == 2) d.locked[i] = below(state, 2) == 0;
    }
    return d;
}

sn_model *random_model(uint64_t *state, int njoint, int type) {
    sn_builder *builder;
    sn_model *model;
    sn_error error = {0};
    assert_int_equal(sn_builder_create("random", NULL, &builder, NULL), SN_OK);
    // a random order of the joints: parents may come after children
    int *place = malloc((size_t)njoint * sizeof *place);
    sn_joint_desc *joints = malloc((size_t)njoint * sizeof *joints);
    char(*names)[16] = malloc((size_t)njoint * sizeof *names);
    assert_true(place != NULL && joints != NULL && names != NULL);
    for (int i = 0; i < njoint; i++) place[i] = i;
    bool shuffled = below(state, 2) == 0;
    for (int i = njoint - 1; i > 0 && shuffled; i--) {
        int j = below(state, i + 1), t = place[i];
        place[i] = place[j];
        place[j] = t;
    }
    // chains or bushes
    int reach = below(state, 2) == 0 ? 1 : njoint;
    for (int i = 0; i < njoint; i++) {
        int back = i == 0 ? 0 : 1 + below(state, reach < i ? reach : i);
        int kind = type >= 0 ? type : below(state, SN_JOINT_TYPE_COUNT);
        joints[place[i]] =
            random_joint(state, (sn_joint_type)kind, place[i], i == 0 ? -1 : place[i - back]);
        (void)snprintf(names[place[i]], sizeof names[0], "j%d", place[i]);
    }
    for (int i = 0; i < njoint; i++) {
        joints[i].name = names[i];
        assert_int_equal(sn_builder_joint(builder, &joints[i]), i);
    }
    if (sn_builder_finish(builder, &model, &error) != SN_OK) fail_msg("%s", error.text);
    sn_builder_destroy(builder);
    free(place);
    free(joints);
    free(names);
    return model;
}

static void random_matrix(uint64_t *state, double m[9]) {
    double a[9];
    for (int i = 0; i < 9; i++) a[i] = uniform(state, -1, 1);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += a[3 * i + k] * a[3 * j + k];
            m[3 * i + j] = m[3 * j + i] = sum;
        }
    }
}

void random_weights(uint64_t *state, sn_task *t) {
    bool pose = t->type == SN_TASK_POSE || t->type == SN_TASK_RELATIVE_POSE;
    int numbers = sn_task_residuals(t);
    if ((numbers == 3 || pose) && below(state, 3) == 0) {
        t->has_matrix = true;
        random_matrix(state, t->matrix);
    }
    if (pose && below(state, 3) == 0) {
        t->has_rotation_matrix = true;
        random_matrix(state, t->rotation_matrix);
    }
    if (numbers > 0 && numbers <= 3 && below(state, 2) == 0) {
        t->loss = below(state, 2) == 0 ? SN_LOSS_HUBER : SN_LOSS_CAUCHY;
        t->loss_scale = uniform(state, 0.1, 1);
    }
}

// Tasks between joints and on groups of them; their arrays are in *q.
static void random_tied(uint64_t *state, const sn_model *model, sn_task *t, double **q) {
    static const int counts[] = {1, 2, 3, 4, 5, 6, 7, 8};
    int n = sn_model_njoint(model), nq = sn_model_nq(model);
    bool relative = t->type == SN_TASK_RELATIVE_ORIENTATION || t->type == SN_TASK_RELATIVE_POSE;
    // of one joint and itself most such tasks are constant: nothing but rounding is left
    int other = n > 1 ? (t->joint + 1 + below(state, n - 1)) % n : -1;
    t->joint2 = relative && n == 1 ? 0 : relative || below(state, 3) > 0 ? other : -1;
    t->in_joint2 = below(state, 2) == 0;
    t->distance = below(state, 5) == 0 ? 0 : uniform(state, 0, 1);
    for (int i = 0; i < 3; i++) {
        t->local2[i] = uniform(state, -0.5, 0.5);
        t->axis[i] = uniform(state, -1, 1);
    }
    random_weights(state, t);
    if (t->type < SN_TASK_CENTRE_OF_MASS || t->type == SN_TASK_COUPLED) return;
    *q = malloc((size_t)(nq + 5 * n + 1) * sizeof **q);
    assert_non_null(*q);
    sn_model_sample(model, state, *q);
    double *masses = *q + nq, *centres = masses + n;
    int *joints = (int *)(void *)(centres + 3 * n), all = 0;
    for (int i = 0; i < n; i++) {
        if (below(state, 3) > 0 || (all == 0 && i == n - 1)) joints[all++] = i;
        masses[i] = below(state, 4) == 0 && i > 0 ? 0 : uniform(state, 0.1, 2);
        for (int k = 0; k < 3; k++) centres[3 * i + k] = uniform(state, -0.3, 0.3);
    }
    masses[0] = 1;
    t->q = *q;
    t->masses = masses;
    t->centres = below(state, 3) == 0 ? NULL : centres;
    t->njoint = all;
    t->joints = joints;
    if (t->type == SN_TASK_OWN) {
        if (t->njoint > 4) t->njoint = 4;
        t->own = (sn_own_task){.user = (void *)&counts[t->njoint - 1],
                               .value = reference_own_value,
                               .multiply = reference_own_multiply};
    } else if (below(state, 2) == 0) {
        t->joints = NULL;
        t->njoint = 0;
    }
}

// Weigh the residuals of some of the tasks before it together; false when there are none.
static bool random_coupled(uint64_t *state, const sn_task *tasks, int before, sn_task *t,
                           double **q) {
    int rows = 0, count = 0, at[32];
    for (int i = 0; i < before && count < 32; i++) {
        int own = sn_task_residuals(&tasks[i]);
        if (own == 0 || rows + own > SN_MAX_COUPLING || (count > 0 && below(state, 4) == 0))
            continue;
        at[count++] = i;
        rows += own;
    }
    if (count == 0) return false;
    size_t n = (size_t)rows;
    *q = malloc((n * n + n * 3 + 32) * sizeof **q);
    assert_non_null(*q);
    double *root = *q + n * n;
    for (size_t i = 0; i < n * n; i++) (*q)[i] = 0;
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < n; i++) root[i] = uniform(state, -1, 1);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                (*q)[j + n * i] = (*q)[i + n * j] = (*q)[i + n * j] + root[i] * root[j];
    }
    int *members = (int *)(void *)(root + 3 * n);
    memcpy(members, at, (size_t)count * sizeof *members);
    t->tasks = members;
    t->ntask = count;
    t->coupling = *q;
    return true;
}

sn_task random_task(uint64_t *state, const sn_model *model, sn_task_type type, int joint,
                    double **q) {
    sn_task t = sn_task_default(type);
    *q = NULL;
    t.joint = joint;
    t.weight = uniform(state, 0.1, 2);
    t.rotation_weight = uniform(state, 0.1, 2);
    for (int i = 0; i < 3; i++) {
        t.local[i] = uniform(state, -0.5, 0.5) + 0.01;
        t.goal[i] = uniform(state, -1, 1);
        t.normal[i] = uniform(state, -1, 1);
        t.i[i] = uniform(state, -1, 1);
        t.j[i] = uniform(state, -1, 1);
    }
    for (int i = 0; i < 4; i++) t.rotation[i] = uniform(state, -1, 1);
    if (type == SN_TASK_POINT && below(state, 2) == 0) {
        t.has_matrix = true;
        random_matrix(state, t.matrix);
    }
    if (type == SN_TASK_RELATIVE) {
        t.joint2 = below(state, sn_model_njoint(model));
        for (int i = 0; i < 3; i++) t.local2[i] = uniform(state, -0.5, 0.5);
    }
    if (type > SN_TASK_RELATIVE) random_tied(state, model, &t, q);
    if (type == SN_TASK_LIMIT && below(state, 2) == 0) t.joint = -1;
    if (type == SN_TASK_REST) {
        int nq = sn_model_nq(model), nv = sn_model_nv(model);
        *q = malloc((size_t)(nq + nv + 1) * sizeof **q);
        assert_non_null(*q);
        sn_model_sample(model, state, *q);
        for (int i = 0; i < nv; i++) (*q)[nq + i] = uniform(state, 0, 2);
        t.q = *q;
        t.q_weight = below(state, 2) == 0 ? *q + nq : NULL;
    }
    return t;
}

sn_problem *random_problem(uint64_t *state, const sn_model *model, int ntask, int type) {
    sn_task *tasks = malloc((size_t)ntask * sizeof *tasks);
    double **poses = malloc((size_t)ntask * sizeof *poses);
    assert_true(tasks != NULL && poses != NULL);
    for (int i = 0; i < ntask; i++) {
        int kind = type >= 0    ? type
                   : type == -1 ? below(state, SN_TASK_RELATIVE)
                                : below(state, SN_TASK_AVOID);
        while (type < 0 && kind == SN_TASK_OWN && !random_owns) kind = below(state, SN_TASK_AVOID);
        int joint = below(state, sn_model_njoint(model));
        // a coupled task needs others, of any kind
        if (type == SN_TASK_COUPLED && (i == 0 || i + 1 < ntask)) do
                kind = below(state, SN_TASK_COUPLED);
            while (kind == SN_TASK_REST || kind == SN_TASK_LIMIT || kind == SN_TASK_POSTURE);
        tasks[i] = random_task(state, model, (sn_task_type)kind, joint, &poses[i]);
        if (kind == SN_TASK_COUPLED && !random_coupled(state, tasks, i, &tasks[i], &poses[i]))
            tasks[i] = random_task(state, model, SN_TASK_RELATIVE, joint, &poses[i]);
        if (type == -2 && kind <= SN_TASK_RELATIVE) random_weights(state, &tasks[i]);
        if (type == -2 && kind == SN_TASK_PLANE && below(state, 2) == 0)
            tasks[i].joint2 = below(state, sn_model_njoint(model));
        if (type == -2 && kind == SN_TASK_RELATIVE) tasks[i].in_joint2 = below(state, 2) == 0;
    }
    sn_problem *problem;
    sn_error error = {0};
    if (sn_problem_create(model, tasks, ntask, NULL, &problem, &error) != SN_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < ntask; i++) free(poses[i]);
    free(poses);
    free(tasks);
    return problem;
}

static void *count_acquire(void *user, size_t bytes) {
    test_allocator *a = user;
    if (a->trap) fail_msg("an allocation of %zu bytes where none is allowed", bytes);
    long call = a->calls++;
    if (a->fail_at >= 0 && (call == a->fail_at || (a->fail_after && call > a->fail_at)))
        return NULL;
    a->live++;
    return malloc(bytes);
}

static void count_release(void *user, void *block) {
    test_allocator *a = user;
    assert_non_null(block);
    a->live--;
    free(block);
}

void test_allocator_begin(test_allocator *allocator) {
    *allocator = (test_allocator){.base = {count_acquire, count_release, allocator}, .fail_at = -1};
}

void check_refusal(sn_status status, const void *out, const sn_error *error, int line,
                   const char *message) {
    if (status != SN_ERR_PARSE) fail_msg("\"%s\": status %d", message, status);
    assert_null(out);
    assert_int_equal(error->status, status);
    if (strstr(error->text, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, error->text);
    assert_int_equal(error->line, line);
}

double rows_size(const sn_workspace *ws) {
    double top = 0;
    for (int i = 0; ws->ties != NULL && i < ws->ties->ntie; i++) {
        const sn_tie *tie = &ws->ties->tie[i];
        for (int k = 0; k < tie->nslot && tie->active; k++) {
            double sum = 0;
            for (int r = 0; r < tie->nrow; r++)
                sum += tie->z[tie->nrow * k + r] * tie->z[tie->nrow * k + r];
            top = fmax(top, sum);
        }
    }
    return top;
}
