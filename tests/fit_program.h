// SPDX-License-Identifier: MIT
// The program as a user meets it: run a line, look at what it said, in a folder of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

enum { MOST_OUTPUT = 8 << 20 };

static char *said;  // by the last command, both streams
static char folder[64];

static int shell(const char *line) {
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t used = 0, got;
    while ((got = fread(said + used, 1, MOST_OUTPUT - 1 - used, pipe)) > 0) used += got;
    said[used] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// "sinew ARGUMENTS", run inside the folder; its exit code.
static int sinew(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int sinew(const char *format, ...) {
    char arguments[3000], line[4000];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(arguments, sizeof arguments, format, list);
    va_end(list);
    (void)snprintf(line, sizeof line, "cd '%s' && '%s' %s 2>&1", folder, SINEW_PROGRAM, arguments);
    return shell(line);
}

static void expect(int code, const char *fragment, const char *arguments) {
    int got = sinew("%s", arguments);
    if (got != code || strstr(said, fragment) == NULL)
        fail_msg("sinew %s: exit %d, expected %d with \"%s\"; it said: %.800s", arguments, got,
                 code, fragment, said);
}

static const char *path_of(const char *name) {
    static char path[8][200];
    static int turn;
    char *at = path[turn++ % 8];
    (void)snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static inline void put(const char *name, const char *text) {
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static inline bool is_there(const char *name) { return access(path_of(name), F_OK) == 0; }

// Nothing half-written may be anywhere.
static inline void no_parts(void) {
    char line[200];
    (void)snprintf(line, sizeof line, "find '%s' -name '*.part*'", folder);
    assert_int_equal(shell(line), 0);
    if (said[0] != '\0') fail_msg("left behind: %s", said);
}

static int program_begin(void **unused) {
    (void)unused;
    said = malloc(MOST_OUTPUT);
    (void)snprintf(folder, sizeof folder, "/tmp/sinew-fit-XXXXXX");
    return said == NULL || mkdtemp(folder) == NULL ? -1 : sinew("example --out ex");
}

static int program_end(void **unused) {
    (void)unused;
    char line[128];
    (void)snprintf(line, sizeof line, "rm -r '%s'", folder);
    int failed = shell(line);
    free(said);
    return failed;
}
