// SPDX-License-Identifier: MIT
// OpenSim's models against plain forward kinematics and against OpenSim itself.
#include "osim_files.h"

// --- against plain forward kinematics ----------------------------------------------------------------

// Markers at random values of all coordinates, against the second reader of these files; returns the
// worst distance.
static double compare(const char *file, uint64_t *state, int poses) {
    sn_model *model;
    sn_error error = {0};
    sn_osim_info info;
    if (sn_osim_read(file, strlen(file), NULL, &model, NULL, &info, &error) != SN_OK)
        fail_msg("line %d: %s", error.line, error.text);
    plain_osim *plain = plain_osim_read(file);
    int n = plain_osim_ncoordinate(plain), used_up = 0;
    double *values = calloc((size_t)n + 1, sizeof *values), worst = 0;
    double *q = calloc((size_t)sn_model_nq(model) + 1, sizeof *q);
    assert_true(values != NULL && q != NULL);
    assert_int_equal(plain_osim_nmarker(plain), sn_model_nmarker(model));
    sn_problem *problem;
    sn_workspace *ws;
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    for (int pose = 0; pose < poses; pose++) {
        used_up = 0;
        for (int i = 0; i < n; i++) {
            int locked;
            const char *name = plain_osim_coordinate(plain, i, &values[i], &locked);
            // one that is locked away from 0 is a constant of the model
            if (!locked || values[i] == 0) values[i] = uniform(state, -1.5, 1.5);
            for (int j = 0; j < sn_model_njoint(model); j++) {
                const sn_joint_desc *d = sn_model_joint(model, j);
                int at = strcmp(d->name, name) == 0 ? 0 : -1;
                for (int k = 0; d->functions != NULL && k < d->functions->ncoordinate; k++)
                    if (strcmp(d->functions->coordinate[k], name) == 0) at = k;
                if (at < 0) continue;
                q[sn_model_q_index(model, j) + at] = values[i];
                used_up++;
            }
        }
        assert_int_equal(used_up, sn_model_nq(model));
        // coordinates that follow others are where those put them
        sn_model_follow(model, q);
        for (int c = 0; c < sn_model_ncoupling(model); c++) {
            sn_coordinate to = sn_model_coupling(model, c)->follower;
            const sn_joint_desc *d = sn_model_joint(model, to.joint);
            const char *follower =
                d->functions != NULL ? d->functions->coordinate[to.index] : d->name;
            for (int i = 0; i < n; i++) {
                double unused;
                int locked;
                if (strcmp(plain_osim_coordinate(plain, i, &unused, &locked), follower) == 0)
                    values[i] = q[sn_model_q_index(model, to.joint) + to.index];
            }
        }
        assert_int_equal(sn_workspace_pose(ws, q), SN_OK);
        for (int i = 0; i < sn_model_nmarker(model); i++) {
            double p[3];
            const sn_marker_desc *m = sn_model_marker(model, i);
            assert_string_equal(plain_osim_marker(plain, i, values, p), m->name);
            sn_vec3 ours = sn_workspace_point(ws, m->joint, m->position);
            worst = fmax(worst, v3_norm(v3_sub(ours, v3_from(p))));
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
    plain_osim_free(plain);
    free(values);
    free(q);
    return worst;
}

// The same file with a marker more on every body.
static char *with_markers(const char *file) {
    plain_osim *plain = plain_osim_read(file);
    const char *end = strstr(file, "</Model>"), *name;
    assert_non_null(end);
    char *out = malloc(strlen(file) + 65536);
    assert_non_null(out);
    size_t n = (size_t)(end - file);
    memcpy(out, file, n);
    n += (size_t)sprintf(out + n, "<MarkerSet><objects>");
    for (int i = 0; (name = plain_osim_body(plain, i)) != NULL; i++)
        n += (size_t)sprintf(out + n,
                             "<Marker name=\"on %s\"><body>%s</body><location>0.1 -0.2 0.3"
                             "</location></Marker>",
                             name, name);
    (void)sprintf(out + n, "</objects></MarkerSet>%s", end);
    plain_osim_free(plain);
    return out;
}

static void test_all_files(void **unused) {
    (void)unused;
    static const char *const patterns[] = {"/*/*.osim", "/*/*/*.osim", "/*/*/*/*.osim"};
    uint64_t state = 31;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        char pattern[1024];
        glob_t found;
        (void)snprintf(pattern, sizeof pattern, "%s%s", SINEW_DATA, patterns[i]);
        if (glob(pattern, 0, NULL, &found) != 0) continue;
        for (size_t k = 0; k < found.gl_pathc; k++) {
            size_t length;
            char *file = slurp(found.gl_pathv[k], &length);
            char *more = with_markers(file);
            double worst = compare(more, &state, cases(3));
            free(more);
            print_message("%-50s markers within %.1e m\n",
                          found.gl_pathv[k] + strlen(SINEW_DATA) + 1, worst);
            assert_true(worst < 1e-12);
            free(file);
            count++;
        }
        globfree(&found);
    }
    if (count == 0) print_message("skipped: no .osim file in the data folder\n");
}

static void put_random_numbers(char *out, uint64_t *state, int n, double size) {
    for (int i = 0; i < n; i++)
        out += sprintf(out, "%s%.17g", i > 0 ? " " : "", uniform(state, -size, size));
}

// A random function of n coordinates, sometimes a multiple of one.
static void put_random_function(char *out, uint64_t *state, int n) {
    char y[1000];
    bool scaled = below(state, 3) == 0;
    out += sprintf(out, scaled ? "<MultiplierFunction><function>" : "<function>");
    int kind = n == 0 ? 0 : n == 1 ? below(state, 6) : 6 + below(state, 2);
    int count = 2 + below(state, 7);
    switch (kind) {
    case 0:
        out += sprintf(out, "<Constant><value>%.17g</value></Constant>", uniform(state, -1, 1));
        break;
    case 1:
        put_random_numbers(y, state, 2, 1);
        out += sprintf(out, "<LinearFunction><coefficients>%s</coefficients></LinearFunction>",
                       below(state, 2) == 0 ? "1 0" : y);
        break;
    case 2:
        put_random_numbers(y, state, count, 0.3);
        out += sprintf(
            out, "<PolynomialFunction><coefficients>%s</coefficients></PolynomialFunction>", y);
        break;
    case 3:
    case 4: {
        const char *tag = kind == 3 ? "SimmSpline" : "PiecewiseLinearFunction";
        put_random_numbers(y, state, count, 0.5);
        out += sprintf(out, "<%s><x>", tag);
        for (int i = 0; i < count; i++) out += sprintf(out, " %.17g", -1.2 + 0.3 * i);
        out += sprintf(out, "</x><y>%s</y></%s>", y, tag);
        break;
    }
    case 5:
        out += sprintf(out,
                       "<Sine><amplitude>0.4</amplitude><omega>%.17g</omega><offset>0.1"
                       "</offset></Sine>",
                       uniform(state, 0.5, 2));
        break;
    case 6:
        put_random_numbers(y, state, n + 1, 1);
        out += sprintf(out, "<LinearFunction><coefficients>%s</coefficients></LinearFunction>", y);
        break;
    default:
        put_random_numbers(y, state, 6, 0.3);
        out += sprintf(out,
                       "<MultivariatePolynomialFunction><dimension>2</dimension><order>2</order>"
                       "<coefficients>%s</coefficients></MultivariatePolynomialFunction>",
                       y);
        break;
    }
    (void)sprintf(out,
                  scaled ? "</function><scale>-0.7</scale></MultiplierFunction>" : "</function>");
}

// CustomJoints of all sorts of functions, of one or several coordinates, reversed at times; ellipsoids and
// scapulae; frames on frames; both layouts.
static void test_random_joints(void **unused) {
    (void)unused;
    uint64_t state = 77;
    double worst = 0;
    for (int trial = 0; trial < cases(200); trial++) {
        static char coordinates[2][4000], middle[2][40000];
        static const char *const names[] = {"rotation1",    "rotation2",    "rotation3",
                                            "translation1", "translation2", "translation3"};
        const char *kinds[2];
        new_layout = trial % 2 == 1;
        for (int b = 0; b < 2; b++) {
            int kind = below(&state, 6), n = kind < 4 ? 1 + below(&state, 4) : kind == 4 ? 3 : 4;
            kinds[b] = kind < 4    ? "CustomJoint"
                       : kind == 4 ? "EllipsoidJoint"
                                   : "ScapulothoracicJoint";
            char *at = coordinates[b];
            for (int i = 0; i < n; i++)
                at +=
                    sprintf(at,
                            "<Coordinate name=\"c%d%d\"><default_value>%.17g</default_value>"
                            "<locked>%s</locked></Coordinate>",
                            b, i, uniform(&state, -1, 1), below(&state, 9) == 0 ? "true" : "false");
            at = middle[b];
            at[0] = '\0';
            if (new_layout && below(&state, 3) == 0) at += sprintf(at, "<reverse>true</reverse>");
            if (kind >= 4) {
                at += sprintf(at, "<%s>0.1 0.2 0.15</%s>",
                              kind == 4 ? "radii_x_y_z" : "thoracic_ellipsoid_radii_x_y_z",
                              kind == 4 ? "radii_x_y_z" : "thoracic_ellipsoid_radii_x_y_z");
                if (kind == 5)
                    (void)sprintf(at,
                                  "<scapula_winging_axis_origin>0.05 -0.02"
                                  "</scapula_winging_axis_origin><scapula_winging_axis_direction>"
                                  "0.4</scapula_winging_axis_direction>");
                continue;
            }
            at += sprintf(at, "<SpatialTransform>");
            for (int k = 0; k < 6; k++) {
                int arguments = below(&state, 5);
                if (arguments > 2) arguments = 1;
                if (arguments > n) arguments = n;
                int first = below(&state, n);
                at += sprintf(at, "<TransformAxis name=\"%s\"><coordinates>", names[k]);
                for (int i = 0; i < arguments; i++) at += sprintf(at, " c%d%d", b, (first + i) % n);
                at +=
                    sprintf(at, "</coordinates><axis>%.17g %.17g %.17g</axis>",
                            uniform(&state, -1, 1), uniform(&state, -1, 1), uniform(&state, -1, 1));
                if (arguments != 1 || below(&state, 9) > 0) {
                    put_random_function(at, &state, arguments);
                    at += strlen(at);
                }
                at += sprintf(at, "</TransformAxis>");
            }
            (void)sprintf(at, "</SpatialTransform>");
        }
        bodies[0] = "a", bodies[1] = "b", bodies[2] = NULL;
        begin_file();
        for (int b = 0; b < 2; b++) {
            ends e;
            double *place = e.at;
            for (int i = 0; i < 12; i++) place[i] = uniform(&state, -1, 1);
            put_joint(kinds[b], b == 0 ? "j" : "k", b == 0 ? "ground" : "a", b == 0 ? "a" : "b", &e,
                      coordinates[b], middle[b]);
        }
        begin_markers();
        put_marker("A", "a", 0.1, -0.2, 0.3);
        put_marker("B", "b", 0.4, 0.2, -0.3);
        end_file();
        worst = fmax(worst, compare(text, &state, 3));
    }
    print_message("random joints: markers within %.1e m\n", worst);
    assert_true(worst < 1e-12);
}

// --- OpenSim's example -------------------------------------------------------------------------------

static char *data_text(const char *name, size_t *length) {
    const char *path = data_path(name);
    return path == NULL ? NULL : slurp(path, length);
}

typedef struct example {
    sn_document model, take, answer;
    sn_motion *theirs;
    int *column;
    sn_fit_input input;
} example;

static bool open_example(example *e) {
    static const char *const names[] = {"opensim/subject01_simbody.osim",
                                        "opensim/subject01_synthetic_marker_data.trc",
                                        "opensim/std_subject01_walk1_ik.mot"};
    sn_document *const documents[] = {&e->model, &e->take, &e->answer};
    memset(e, 0, sizeof *e);
    for (int i = 0; i < 3; i++) {
        size_t length;
        sn_error error;
        char *bytes = data_text(names[i], &length);
        if (bytes == NULL) return false;
        if (sn_document_read(bytes, length, names[i], NULL, NULL, documents[i], &error) != SN_OK)
            fail_msg("%s:%d: %s", names[i], error.line, error.text);
        free(bytes);
    }
    sn_error error;
    if (sn_motion_from_table(e->model.model, e->answer.table, NULL, &e->theirs, &error) != SN_OK)
        fail_msg("%s", error.text);
    e->column = calloc((size_t)sn_model_nmarker(e->model.model), sizeof *e->column);
    assert_non_null(e->column);
    assert_int_equal(sn_fit_match(e->model.model, e->take.recording, NULL, e->column), 31);
    e->input = (sn_fit_input){.model = e->model.model,
                              .recording = e->take.recording,
                              .column = e->column,
                              .axes = sn_axis_map_identity(),
                              .count = sn_motion_nframe(e->theirs)};
    return true;
}

static void close_example(example *e) {
    free(e->column);
    sn_motion_destroy(e->theirs);
    sn_document_destroy(&e->model);
    sn_document_destroy(&e->take);
    sn_document_destroy(&e->answer);
}

static void test_example(void **unused) {
    (void)unused;
    example e;
    if (!open_example(&e)) skip();
    const sn_model *model = e.model.model;
    assert_int_equal(e.model.format, SN_FORMAT_OSIM);
    assert_string_equal(sn_model_name(model), "subject01");
    assert_int_equal(sn_model_nq(model), 23);
    assert_int_equal(sn_model_njoint(model), 24);
    assert_int_equal(sn_model_nmarker(model), 39);
    assert_string_equal(e.model.note, "");
    // the zero pose is made of offsets alone: hip, knee (its splines at 0, natural values by hand), ankle,
    // subtalar joint, marker
    double q[23] = {0};
    sn_vec3 heel =
        v3(-0.0724376 - 0.0543287, -0.0677245 - 0.425065 - 0.0467314, 0.0855522 + 0.00882271);
    const sn_marker_desc *m = sn_model_marker(model, sn_model_find_marker(model, "R.Heel"));
    assert_string_equal(sn_model_joint(model, m->joint)->name, "subtalar_angle_r");
    sn_vec3 p = marker_at(model, "R.Heel", q), knee = v3_sub(v3_sub(p, heel), v3_from(m->position));
    assert_true(knee.x > -0.0052 * 1.14724 && knee.x < -0.0031 * 1.14724);
    assert_true(knee.y > -0.3966 * 1.14724 && knee.y < -0.395264 * 1.14724 && fabs(knee.z) < 1e-15);
    close_example(&e);
}

// OpenSim's answer on our model, and our answer against OpenSim's.
static void test_against_opensim(void **unused) {
    (void)unused;
    example e;
    if (!open_example(&e)) skip();
    const sn_model *model = e.model.model;
    int count = e.input.count;
    sn_fit_frame *frames = calloc((size_t)count, sizeof *frames);
    sn_fit_marker *markers = calloc((size_t)sn_model_nmarker(model), sizeof *markers);
    assert_true(frames != NULL && markers != NULL);
    sn_fit_summary theirs, ours;
    sn_error error;
    sn_motion *motion;
    assert_int_equal(sn_fit_measure(&e.input, e.theirs, NULL, frames, markers, &theirs), SN_OK);
    assert_int_equal(sn_motion_create(count, 23, 1, 60, NULL, &motion, NULL), SN_OK);
    // without what holds a human figure; poses still lean on their neighbours by a hair
    sn_fit_options o = sn_fit_options_default();
    o.posture = 0;
    assert_int_equal(sn_fit_run(&e.input, &o, NULL, motion, frames, markers, &ours, &error), SN_OK);
    print_message("markers: OpenSim's angles %.2f mm RMS, ours %.2f mm\n", 1e3 * theirs.rms,
                  1e3 * ours.rms);
    assert_true(theirs.rms < 0.1e-3 && ours.rms < 0.05e-3 && ours.rms <= theirs.rms);
    for (int j = 1; j < 24; j++) {
        double sum = 0, worst = 0;
        const sn_joint_desc *d = sn_model_joint(model, j);
        int k = sn_model_q_index(model, j);
        bool angle = d->type != SN_JOINT_SLIDER;
        for (int f = 0; f < count; f++) {
            double x = sn_motion_frame(motion, f)[k] - sn_motion_frame(e.theirs, f)[k];
            x *= angle ? degrees : 1e3;
            sum += x * x / count;
            worst = fmax(worst, fabs(x));
        }
        print_message("%-18s RMS %6.3f, largest %6.3f %s\n", d->name, sqrt(sum), worst,
                      angle ? "degrees" : "mm");
        assert_true(sqrt(sum) < 0.1);
    }
    sn_motion_destroy(motion);
    free(frames);
    free(markers);
    close_example(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_files),
        cmocka_unit_test(test_random_joints),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_against_opensim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
