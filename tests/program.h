// SPDX-License-Identifier: MIT
// Running the program from a test: its output, its exit code, a folder for files. The test defines
// _POSIX_C_SOURCE.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { PROGRAM_OUTPUT = 8 << 20 };

static char *program_output;  // of the last command
static char program_folder[64];

/// Run a line of shell and return its exit code, or 128 and the signal that ended it.
static inline int shell(const char *line) {
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t used = 0, got;
    while ((got = fread(program_output + used, 1, PROGRAM_OUTPUT - 1 - used, pipe)) > 0)
        used += got;
    program_output[used] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Run "sinew ARGUMENTS" and return its exit code. @param both  standard error too
static inline int program_run(const char *arguments, bool both) {
    char line[4096];
    int n = snprintf(line, sizeof line, "'%s' %s %s", SINEW_PROGRAM, arguments,
                     both ? "2>&1" : "2>/dev/null");
    assert_true(n > 0 && (size_t)n < sizeof line);
    return shell(line);
}

static inline void program_expect(int code, const char *fragment, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Run and look for a fragment of what it says.
static inline void program_expect(int code, const char *fragment, const char *format, ...) {
    char arguments[3000];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    int got = program_run(arguments, true);
    if (got != code || strstr(program_output, fragment) == NULL)
        fail_msg("sinew %s: exit %d, expected %d with \"%s\"; it said: %.1500s", arguments, got,
                 code, fragment, program_output);
}

/// The path of a file in the test's folder; 16 at a time.
static inline const char *program_path(const char *name) {
    static char path[16][160];
    static int turn;
    char *at = path[turn++ % 16];
    (void)snprintf(at, sizeof path[0], "%s/%s", program_folder, name);
    return at;
}

/// Run "sinew ARGUMENTS" in the test's folder, with standard error, and return its exit code.
static inline int program_here(const char *arguments) {
    char line[3000];
    (void)snprintf(line, sizeof line, "cd '%s' && '%s' %s 2>&1", program_folder, SINEW_PROGRAM,
                   arguments);
    return shell(line);
}

/// Run there and look for a fragment of what it says.
static inline void program_expect_here(int code, const char *fragment, const char *arguments) {
    int got = program_here(arguments);
    if (got != code || strstr(program_output, fragment) == NULL)
        fail_msg("sinew %s: exit %d, expected %d with \"%s\"; it said: %.1500s", arguments, got,
                 code, fragment, program_output);
}

/// Is there such a file in the test's folder?
static inline bool program_has(const char *name) { return access(program_path(name), F_OK) == 0; }

static inline const char *program_file(const char *name, const char *text) {
    const char *at = program_path(name);
    FILE *f = fopen(at, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return at;
}

static inline bool program_begin(const char *name) {
    program_output = malloc(PROGRAM_OUTPUT);
    (void)snprintf(program_folder, sizeof program_folder, "/tmp/sinew-%s-XXXXXX", name);
    return program_output != NULL && mkdtemp(program_folder) != NULL;
}

static inline int program_end(int failed) {
    char line[128];
    (void)snprintf(line, sizeof line, "rm -r '%s'", program_folder);
    if (system(line) != 0) failed = 1;
    free(program_output);
    return failed;
}

/// Read a file of the test's, or any; fails the test when it can't be.
static inline sn_document program_read(const char *path, const sn_skeleton *skeleton) {
    size_t length;
    sn_error error = {0};
    sn_document d;
    sn_document_options options = sn_document_options_default();
    options.skeleton = skeleton;
    char *bytes = slurp(path, &length);
    if (sn_document_read(bytes, length, path, &options, NULL, &d, &error) != SN_OK)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    free(bytes);
    return d;
}
