// SPDX-License-Identifier: MIT
// The tables of options: every option is accepted, documented, completed; the documents use no other; the
// defaults are the library's. This test is linked with the program's own tables.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>

#include "program.h"
#include "solver_settings.h"

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

// Whether a text holds a word, with nothing of a word around it.
static bool holds(const char *text, const char *word) {
    size_t n = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || !is_word(at[-1])) && !is_word(at[n])) return true;
    return false;
}

// A value that an option takes.
static const char *good_value(const option *o) {
    static char word[64];
    if (o->standard != NULL) return o->standard;
    if (o->choices != NULL) {
        (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(o->choices, " "), o->choices);
        return word;
    }
    return "1";
}

static void every_option_is_accepted_and_documented(void **unused) {
    (void)unused;
    int count = 0;
    for (int i = 0; commands[i] != NULL; i++) {
        const command *c = commands[i];
        static char help[1 << 16], page[1 << 17], line[200];
        (void)snprintf(line, sizeof line, "%s --help", c->name);
        assert_int_equal(program_run(line, true), 0);
        (void)snprintf(help, sizeof help, "%s", program_output);
        assert_true(strlen(help) < sizeof help - 1);
        if (strstr(help, "\nExamples:\n  ") == NULL)
            fail_msg("sinew %s --help shows no example", c->name);
        for (const char *at = help; *at != '\0';) {
            size_t n = strcspn(at, "\n");
            // examples and usage are lines to be copied, whole
            if (n > 100 && strncmp(at, "  sinew ", 8) != 0)
                fail_msg("sinew %s --help: %.*s", c->name, (int)n, at);
            at += n + (at[n] == '\n');
        }
        (void)snprintf(line, sizeof line, "man %s", c->name);
        assert_int_equal(program_run(line, true), 0);
        size_t used = 0;  // as a reader sees it, without troff's backslashes
        for (const char *at = program_output; *at != '\0' && used + 1 < sizeof page; at++)
            if (*at != '\\') page[used++] = *at;
        page[used] = '\0';
        for (const option *o = c->options; o != NULL && o->kind != OPTION_END; o++) {
            if (!holds(help, o->name))
                fail_msg("sinew %s --help does not show %s", c->name, o->name);
            if (!holds(page, o->name)) fail_msg("sinew man %s does not show %s", c->name, o->name);
            assert_non_null(o->help);
            assert_true((o->kind == OPTION_FLAG) == (o->value == NULL));
            assert_true(o->kind != OPTION_CHOICE || o->choices != NULL);
            // accepted: what is wrong then is something else, or --help, which ends the program well
            const char *names[2] = {o->name, o->letter};
            for (int k = 0; k < 2; k++) {
                if (names[k] == NULL) continue;
                bool value = o->kind != OPTION_FLAG && o->implied == NULL;
                (void)snprintf(line, sizeof line, "%s %s %s%s%s --help", c->name, names[k],
                               value ? "'" : "", value ? good_value(o) : "", value ? "'" : "");
                if (program_run(line, true) != 0)
                    fail_msg("sinew %s: %.300s", line, program_output);
                count++;
            }
            // one letter more is unknown, and the nearest one is named
            (void)snprintf(line, sizeof line, "%s %sx", c->name, o->name);
            assert_int_equal(program_run(line, true), 2);
            if (strstr(program_output, "(did you mean --") == NULL)
                fail_msg("sinew %s: %.300s", line, program_output);
        }
        (void)snprintf(line, sizeof line, "%s --nonsense", c->name);
        program_expect(2, "unknown option \"--nonsense\"; see sinew", "%s", line);
        assert_null(strstr(program_output, "did you mean"));
    }
    assert_true(count > 80);
}

// What the parser sets without being asked is what the library would use.
static void defaults_are_the_librarys(void **unused) {
    (void)unused;
    static const char *const names[] = {"solve", "fit"};
    for (int i = 0; i < 2; i++) {
        const command *c = find_command(names[i]);
        sn_solver_options d =
            i == 0 ? sn_solver_options_default() : sn_take_options_default().solver;
        const struct {
            const char *name;
            double value;
        } all[] = {{"--max-iterations", d.max_iterations},
                   {"--tolerance", d.gradient},
                   {"--objective", d.goal},
                   {"--damping", d.damping},
                   {"--step", d.step},
                   {"--alpha", d.alpha},
                   {"--beta", d.beta},
                   {"--memory", d.memory},
                   {"--bandwidth", d.bandwidth},
                   {"--pcg-tolerance", d.pcg_tolerance}};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
            const option *o = c->options;
            while (o->kind != OPTION_END && strcmp(o->name, all[k].name) != 0) o++;
            assert_int_not_equal(o->kind, OPTION_END);
            assert_true(strtod(o->standard, NULL) == all[k].value);
        }
    }
    // and the choices of --solver are its methods
    char list[400] = "";
    for (int m = 0; m < SN_METHOD_COUNT; m++) {
        if (m > 0) (void)strcat(list, " ");
        (void)strcat(list, sn_method_name((sn_method)m));
    }
    assert_string_equal(list, SOLVER_NAMES);
}

static bool known_option(const char *word) {
    for (const option *o = common_options; o->kind != OPTION_END; o++)
        if (strcmp(o->name, word) == 0) return true;
    for (int i = 0; commands[i] != NULL; i++)
        for (const option *o = commands[i]->options; o != NULL && o->kind != OPTION_END; o++)
            if (strcmp(o->name, word) == 0 || (o->letter != NULL && strcmp(o->letter, word) == 0))
                return true;
    return false;
}

// Options on lines that run another program.
static bool of_another(const char *line, size_t length) {
    static const char *const others[] = {
        "cmake",    "ctest",  "valgrind", "parallel", "setup.sh", "npm",   "node", "apt-get",
        "sbatch",   "cc -",   "clang",    "git ",     "SBATCH",   "xargs", "jq",   "gcc",
        "chromium", "mutate", "blender",  "sshlogin", "pip",      "perf",  "srun", "find "};
    char copy[2000];
    (void)snprintf(copy, sizeof copy, "%.*s", (int)length, line);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strstr(copy, others[i]) != NULL) return true;
    return false;
}

static int check_document(const char *path) {
    size_t length;
    char *text = slurp(path, &length);
    int seen = 0;
    for (const char *at = text; *at != '\0';) {
        size_t n = strcspn(at, "\n");
        for (size_t i = 0; i + 3 < n && !of_another(at, n); i++) {
            if (at[i] != '-' || at[i + 1] != '-' || at[i + 2] < 'a' || at[i + 2] > 'z') continue;
            if (i > 0 && (is_word(at[i - 1]) || at[i - 1] == '<' || at[i - 1] == '!')) continue;
            char word[64];
            size_t k = 0;
            while (i + k < n && k + 1 < sizeof word && is_word(at[i + k])) word[k] = at[i + k], k++;
            while (k > 0 && word[k - 1] == '-') k--;
            word[k] = '\0';
            if (!known_option(word)) fail_msg("%s uses %s: %.*s", path, word, (int)n, at);
            seen++;
        }
        // a whole line of shell: that command has the option
        const char *run = n < 1000 ? strstr(at, "sinew ") : NULL;
        if (run != NULL && run < at + n && !of_another(at, n)) {
            char line[1000], *word, *rest = line;
            (void)snprintf(line, sizeof line, "%.*s", (int)(at + n - run) - 6, run + 6);
            if ((word = strtok_r(line, " `", &rest)) != NULL && find_command(word) != NULL) {
                const command *c = find_command(word);
                while ((word = strtok_r(NULL, " `,;:)]=|\"", &rest)) != NULL) {
                    if (strcmp(word, "sinew") == 0) break;
                    if (strncmp(word, "--", 2) != 0 || strlen(word) < 3 || !known_option(word))
                        continue;
                    bool found = strcmp(word, "--help") == 0 || strcmp(word, "--version") == 0;
                    for (const option *o = c->options; o != NULL && o->kind != OPTION_END; o++)
                        found |= strcmp(o->name, word) == 0;
                    if (!found)
                        fail_msg("%s: sinew %s has no %s: %.*s", path, c->name, word, (int)n, at);
                }
            }
        }
        at += n + (at[n] == '\n');
    }
    free(text);
    return seen;
}

static void documents_use_options_that_exist(void **unused) {
    (void)unused;
    int seen = check_document(SINEW_ROOT "/README.md");
    DIR *folder = opendir(SINEW_ROOT "/docs");
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        const char *dot = strrchr(e->d_name, '.');
        if (dot == NULL || strcmp(dot, ".md") != 0) continue;
        char path[600];
        (void)snprintf(path, sizeof path, SINEW_ROOT "/docs/%.200s", e->d_name);
        seen += check_document(path);
    }
    assert_int_equal(closedir(folder), 0);
    assert_true(seen > 40);
}

static void numbers_after(const char *text, const char *key, double *out, int count) {
    const char *at = strstr(text, key);
    assert_non_null(at);
    at += strlen(key);
    for (int i = 0; i < count; i++) {
        while (strchr("[], ", *at) != NULL) at++;
        char *end;
        out[i] = strtod(at, &end);
        assert_true(end != at);
        at = end;
    }
}

// The parameters reach the solver: each changes what a solve does, and none is taken where it has no effect.
static void solver_parameters(void **unused) {
    (void)unused;
    static const struct {
        const char *solver, *plain, *changed;
    } all[] = {
        {"dls", "", "--damping 2"},
        {"jacobian-transpose", "", "--step 0.02"},
        {"projected-gradient", "", "--beta 0.9"},
        {"projected-gradient", "", "--alpha 0.9"},
        {"lbfgs", "", "--memory 1"},
        {"newton-pcg", "", "--bandwidth 0"},
        {"newton-pcg", "", "--pcg-tolerance 1e-8"},
        {"newton-pcg", "--pcg-tolerance 0.9", "--pcg-constant"},
        {"hybrid", "", "--max-iterations 2"},
        {"hybrid", "", "--tolerance 10"},
        {"hybrid", "", "--objective 1"},
        {"hybrid", "", "--time-budget 1e-9"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char line[200], plain[4000];
        (void)snprintf(line, sizeof line, "solve --json --max-iterations 40 --solver %s %s",
                       all[i].solver, all[i].plain);
        assert_int_equal(program_run(line, false), 0);
        (void)snprintf(plain, sizeof plain, "%s", program_output);
        (void)strcat(strcat(line, " "), all[i].changed);
        assert_int_equal(program_run(line, false), 0);
        if (strncmp(plain, program_output, sizeof plain - 1) == 0)
            fail_msg("sinew %s changes nothing", line);
    }
    program_expect(0, "\"stop\":\"time limit\"", "solve --json --time-budget 1e-9");
    // a locked joint stays as it is in the start, the zero pose: seven numbers of the pelvis, then one
    double q[8];
    program_expect(0, "\"q\":", "solve --json --lock pelvis");
    numbers_after(program_output, "\"q\":", q, 8);
    for (int k = 0; k < 7; k++) assert_true(q[k] == (k == 3));
    program_expect(0, "\"q\":", "solve --json");
    numbers_after(program_output, "\"q\":", q, 8);
    assert_true(q[1] != 0);
    program_expect(3, "has no joint \"chets\"; did you mean \"chest\"?", "solve --lock chets");
    if (sn_method_available(SN_METHOD_PINV))
        program_expect(0, "f =", "solve --solver newton-pcg --nearest-psd");
    program_expect(2, "--damping is a parameter of --solver dls; this is hybrid",
                   "solve --damping 0.2");
    program_expect(2, "--nearest-psd is a parameter of --solver newton-pcg",
                   "solve --nearest-psd --solver lm");
    program_expect(2, "--alpha takes a number above 0 and below 1, not \"1\"", "solve --alpha 1");
    program_expect(2, "--pcg-tolerance takes a number above 0", "solve --pcg-tolerance 0");
    program_expect(2, "--damping takes a number from 0", "solve --damping -1");
    program_expect(2, "--bandwidth takes a whole number from 0 to 24", "solve --bandwidth 25");
    program_expect(2, "--damping is a parameter of --solver dls",
                   "fit -m humanoid -i x.c3d --damping 0.2");
}

// Two hinges about z, 1 m and 0.5 m long, at 90 and -90 degrees: what every column is can be seen.
static void jacobians(void **unused) {
    (void)unused;
    const char *arm = program_file(
        "arm.json",
        "{\"joints\": [{\"name\": \"a\", \"parent\": null, \"type\": \"hinge\", \"axis\": [0,0,1]},"
        "{\"name\": \"b\", \"parent\": \"a\", \"type\": \"hinge\", \"axis\": [0,0,1], "
        "\"position\": "
        "[1,0,0]}], \"markers\": [{\"name\": \"tip\", \"joint\": \"b\", \"position\": "
        "[0.5,0,0]}]}");
    const char *pose = program_file("pose.txt", "1.5707963267948966 -1.5707963267948966");
    // b is at (0, 1), the tip at (0.5, 1), b's axes are the world's; rows of [a, b]
    static const struct {
        const char *of, *frame;
        double J[12];
    } all[] = {
        {"b", "body", {-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}},
        {"b", "aligned", {-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}},
        {"b", "world", {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}},
        {"a", "body", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}},
        {"tip", "body", {-1, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 1, 1}},
        {"tip", "aligned", {-1, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 1, 1}},
        {"tip", "world", {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double J[12];
        program_expect(0, "\"columns\":[\"a\",\"b\"]",
                       "eval -m %s --jacobian %s --frame %s -q %s --json", arm, all[i].of,
                       all[i].frame, pose);
        numbers_after(program_output, "\"J\":", J, 12);
        for (int k = 0; k < 12; k++)
            if (fabs(J[k] - all[i].J[k]) > 1e-15)
                fail_msg("%s %s: entry %d is %g, not %g", all[i].of, all[i].frame, k, J[k],
                         all[i].J[k]);
    }
    program_expect(0, "b                          0.000000   0.500000",
                   "eval -m %s --jacobian tip -q %s", arm, pose);
    // a turns by 2 rad/s, b by 3: against the difference quotient of the Jacobian by time
    const char *qd = program_file("qd.txt", "2 3");
    for (int world = 0; world < 2; world++) {
        double J[2][12], Jdot[12];
        const char *frame = world ? "world" : "body";
        for (int side = 0; side < 2; side++) {
            char text[80];
            double h = side == 0 ? -1e-6 : 1e-6;
            (void)snprintf(text, sizeof text, "%.17g %.17g", 1.5707963267948966 + 2 * h,
                           -1.5707963267948966 + 3 * h);
            program_expect(0, "\"J\":", "eval -m %s --jacobian tip --frame %s -q %s --json", arm,
                           frame, program_file("moved.txt", text));
            numbers_after(program_output, "\"J\":", J[side], 12);
        }
        program_expect(
            0, "\"Jdot\":", "eval -m %s --jacobian tip --frame %s -q %s --velocity %s --json", arm,
            frame, pose, qd);
        numbers_after(program_output, "\"Jdot\":", Jdot, 12);
        double largest = 0;
        for (int k = 0; k < 12; k++) {
            assert_true(fabs(Jdot[k] - (J[1][k] - J[0][k]) / 2e-6) < 1e-8);
            largest = fmax(largest, fabs(Jdot[k]));
        }
        assert_true(largest > 1);
    }
    program_expect(0, "Derivative of the Jacobian of tip, body",
                   "eval -m %s --jacobian tip -q %s --velocity %s", arm, pose, qd);
    program_expect(3, "2 numbers, but the model has nv = ",
                   "eval -m humanoid --jacobian left_hand --velocity %s", qd);
    program_expect(2, "--velocity goes with --jacobian NAME",
                   "eval -m humanoid -t x.json --velocity %s", qd);
    program_expect(2, "--velocity goes with --frame body or world",
                   "eval -m %s --jacobian tip --frame aligned --velocity %s", arm, qd);
    program_expect(0, "pelvis.5", "eval -m humanoid --jacobian left_hand");
    program_expect(3, "did you mean \"left_hand\"?", "eval -m humanoid --jacobian left_hnad");
    program_expect(2, "--frame takes body, world or aligned",
                   "eval -m humanoid --jacobian left_hand --frame x");
    program_expect(2, "-m, --model FILE is missing", "eval --jacobian left_hand");
}

// A body frame's own axes, where they are not the world's: against finite differences of the frames.
static void jacobian_of_the_humanoid(void **unused) {
    (void)unused;
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    double f;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create(model, NULL, 0, NULL, &problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(problem, false, NULL, &ws, NULL), SN_OK);
    int nq = sn_model_nq(model), nv = sn_model_nv(model),
        hand = sn_model_find_joint(model, "left_hand");
    double *q = calloc((size_t)nq, sizeof *q), *moved = calloc((size_t)nq, sizeof *q),
           *delta = calloc((size_t)nv, sizeof *q), *J = calloc(6 * (size_t)nv, sizeof *q);
    uint64_t state = 7;
    sn_model_sample(model, &state, q);
    char text[4000];
    for (int i = 0, n = 0; i < nq; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%.17g ", q[i]);
    const char *pose = program_file("human.txt", text);
    program_expect(
        0, "\"J\":", "eval -m humanoid --jacobian left_hand --frame aligned -q %s --json", pose);
    numbers_after(program_output, "\"J\":", J, 6 * nv);
    const double h = 1e-6;
    for (int v = 0; v < nv; v++) {
        sn_vec3 p[2];
        for (int side = 0; side < 2; side++) {
            delta[v] = side == 0 ? -h : h;
            sn_model_integrate(model, q, delta, moved);
            assert_int_equal(sn_workspace_eval(ws, moved, SN_EVAL_GRADIENT, &f), SN_OK);
            p[side] = sn_workspace_frame(ws, hand).p;
        }
        delta[v] = 0;
        const double d[3] = {p[1].x - p[0].x, p[1].y - p[0].y, p[1].z - p[0].z};
        for (int r = 0; r < 3; r++)
            if (fabs(d[r] / (2 * h) - J[r * nv + v]) > 1e-8)
                fail_msg("velocity %d, row %d: %g, by differences %g", v, r, J[r * nv + v],
                         d[r] / (2 * h));
    }
    free(q), free(moved), free(delta), free(J);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static double bvh_offset(const char *path) {
    size_t length;
    char *text = slurp(path, &length);
    const char *at = strstr(text, "JOINT");
    assert_non_null(at);
    double x[3];
    numbers_after(at, "OFFSET", x, 3);
    free(text);
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// The unit is printed, and it is what is in the file.
static void out_units(void **unused) {
    (void)unused;
    static const struct {
        const char *unit;
        double metres;
    } units[] = {{"m", 1},       {"cm", 0.01},   {"mm", 0.001},
                 {"in", 0.0254}, {"ft", 0.3048}, {"source", 1}};
    program_expect(0, "(lengths in m)", "convert humanoid -o %s --out-units m",
                   program_path("m.bvh"));
    double metres = bvh_offset(program_path("m.bvh"));
    assert_true(metres > 0.01 && metres < 1);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        char says[80];
        (void)snprintf(says, sizeof says, "out.bvh (lengths in %s)", i < 5 ? units[i].unit : "m");
        program_expect(0, says, "convert humanoid -o %s --out-units %s", program_path("out.bvh"),
                       units[i].unit);
        double offset = bvh_offset(program_path("out.bvh"));
        if (fabs(offset * units[i].metres - metres) > 1e-4 * metres)
            fail_msg("%s: %g, %g m", units[i].unit, offset, metres);
    }
    program_expect(0, "(lengths in cm)", "convert humanoid -o %s", program_path("out.bvh"));
    program_expect(0, "(lengths in in)", "convert %s -o %s --units in", program_path("out.bvh"),
                   program_path("in.bvh"));
    program_expect(0, "(lengths in in)", "convert %s --in-units in -o %s --out-units source",
                   program_path("in.bvh"), program_path("again.bvh"));
    program_expect(2, "--out-units takes m, cm, mm, in, ft or source, not \"ell\"",
                   "convert humanoid -o %s --out-units ell", program_path("out.bvh"));
    // a recording and a fit
    program_expect(0, "take.c3d", "example --out %s", program_path("ex"));
    char fit[600];
    (void)snprintf(
        fit, sizeof fit, "fit -m %s/subject.json -i %s/take.c3d --frames 10:20 -o %s -o %s",
        program_path("ex"), program_path("ex"), program_path("fit.bvh"), program_path("fit.trc"));
    program_expect(0, "fit.bvh (lengths in cm)", "%s", fit);
    assert_non_null(strstr(program_output, "fit.trc (lengths in mm)"));
    program_expect(0, "fit.bvh (lengths in m)", "%s --out-units source", fit);
    assert_non_null(strstr(program_output, "fit.trc (lengths in mm)"));
    assert_true(fabs(bvh_offset(program_path("fit.bvh")) - metres) < 1e-3);
    program_expect(0, "fit.bvh (lengths in ft)", "%s --out-units ft", fit);
    assert_non_null(strstr(program_output, "fit.trc (lengths in ft)"));
    program_expect(0, "\"output_units\":[0.01,0.001]", "%s --json", fit);
    program_expect(2, "--out-units takes", "%s --out-units ell", fit);
    program_expect(0, "take.csv (lengths in mm)", "convert %s/take.c3d -o %s", program_path("ex"),
                   program_path("take.csv"));
    program_expect(0, "take.sto (lengths in cm)", "convert %s/take.c3d -o %s --out-units cm",
                   program_path("ex"), program_path("take.sto"));
}

static void odd_words(void **unused) {
    (void)unused;
    program_expect(3, "--help: No such file", "info -- --help");
    program_expect(0, "usage: sinew fit", "help fit");
    program_expect(2, "did you mean convert?", "covert");
    program_expect(2, "did you mean fit?", "fti");
    program_expect(2, "there is no command \"frobnicate\"; sinew --help", "frobnicate");
    program_expect(2, "there is no command", "man frobnicate");
    program_expect(2, "bash, zsh and fish", "completion tcsh");
    program_expect(2, "SHELL is missing", "completion");
}

int main(void) {
    if (!program_begin("options")) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_is_accepted_and_documented),
        cmocka_unit_test(defaults_are_the_librarys),
        cmocka_unit_test(documents_use_options_that_exist),
        cmocka_unit_test(solver_parameters),
        cmocka_unit_test(jacobians),
        cmocka_unit_test(jacobian_of_the_humanoid),
        cmocka_unit_test(out_units),
        cmocka_unit_test(odd_words),
    };
    return program_end(cmocka_run_group_tests(tests, NULL, NULL));
}
