// SPDX-License-Identifier: MIT
// What the program writes, where the disk is full, a file may not grow, or a signal comes: the reason is
// told, and no file is left half-written.
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "fit_program.h"

#define FIT "fit -m ex/subject.json -i ex/take.c3d --frames 1:12 "

// All that writes; the %s stand for the folder.
static const struct {
    const char *arguments, *file;  // the first that does not fit
} writers[] = {
    {"convert ex/truth.bvh -o %s/x.bvh", "x.bvh"},
    {"convert ex/skeleton.asf ex/truth.amc -o %s/x.amc", "x.amc"},
    {"convert ex/truth.bvh -o %s/x.asf", "x.asf"},
    {"convert ex/truth.bvh -o %s/x.glb", "x.glb"},
    {"convert ex/truth.bvh -o %s/x.csv", "x.csv"},
    {"convert ex/truth.bvh -o %s/x.mot", "x.mot"},
    {"convert ex/take.c3d -o %s/x.c3d", "x.c3d"},
    {"convert ex/take.c3d -o %s/x.trc", "x.trc"},
    {"convert ex/take.c3d -o %s/x.csv", "x.csv"},
    {"convert ex/take.c3d -o %s/x.sto", "x.sto"},
    {"convert table.mot -o %s/x.mot", "x.mot"},
    {"convert humanoid -o %s/x.json", "x.json"},
    {FIT "-o %s/x.bvh", "x.bvh"},
    {FIT "--report %s/x.html", "x.html"},
    {FIT "--save-model %s/x.json", "x.json"},
    {"markers -m ex/skeleton.asf -a ex/truth.amc -i ex/take.c3d -o %s/x.json", "x.json"},
    {"example --out %s", "take.c3d"},
    {"bench solvers --problems 0 --csv %s/x.csv", "x.csv"},
};
enum { WRITERS = sizeof writers / sizeof writers[0] };

static int begin(void **state) {
    if (fit_begin(state) != 0) return -1;
    put("list.tsv", "ex/subject.json\tex/take.c3d\tx\n");
    return sinew("convert ex/truth.bvh -o table.mot");
}

// The small disk goes, also when its test failed.
static int end(void **state) {
    char line[100];
    (void)snprintf(line, sizeof line, "umount '%s/disk' 2>&1", folder);
    (void)shell(line);
    return fit_end(state);
}

static int count_files(const char *name) {
    DIR *all = opendir(path_of(name));
    assert_non_null(all);
    int count = 0;
    for (struct dirent *e; (e = readdir(all)) != NULL;) count += e->d_name[0] != '.';
    assert_int_equal(closedir(all), 0);
    return count;
}

// Every writer in a folder where nothing more fits. @param before  the shell's line before each
static void refuse_all(const char *before, const char *where, int files, const char *reason) {
    char arguments[400], line[1200], wanted[200];
    for (int i = 0; i <= WRITERS; i++) {
        bool batch = i == WRITERS;
        (void)snprintf(
            arguments, sizeof arguments,
            batch ? "fit --manifest list.tsv --frames 1:12 --out %s" : writers[i].arguments, where);
        (void)snprintf(line, sizeof line, "cd '%s' && %s '%s' %s 2>&1", folder, before,
                       SINEW_PROGRAM, arguments);
        // in a list's line of JSON too
        (void)snprintf(wanted, sizeof wanted, "%s%s/%s: cannot be written: %s",
                       batch ? "\"error\":\"" : "sinew: ", where, batch ? "x.bvh" : writers[i].file,
                       reason);
        int code = shell(line);
        if (code != 1 || strstr(said, wanted) == NULL)
            fail_msg("sinew %s: exit %d, expected 1 and \"%s\"; it said: %.1500s", arguments, code,
                     wanted, said);
        if (count_files(where) != files) fail_msg("sinew %s left a file behind", arguments);
    }
}

// What a quota is to a user: works everywhere.
static void may_not_grow(void **unused) {
    (void)unused;
    assert_int_equal(mkdir(path_of("small"), 0777), 0);
    refuse_all("ulimit -f 0 &&", "small", 0, "File too large");
}

static void full_disk(void **unused) {
    (void)unused;
    if (sampled()) return;  // the same ways through the program as may_not_grow()
    char line[300];
    assert_int_equal(mkdir(path_of("disk"), 0777), 0);
    (void)snprintf(line, sizeof line, "mount -t tmpfs -o size=200k sinew '%s/disk' 2>&1", folder);
    if (shell(line) != 0) {
        print_message("skipped: a small disk may not be mounted here\n");
        skip();
    }
    // of the 200 kB nothing is left, but for the names of files
    (void)snprintf(line, sizeof line, "dd if=/dev/zero of='%s/disk/filler' bs=4k 2>/dev/null",
                   folder);
    (void)shell(line);
    refuse_all("", "disk", 1, "No space left on device");
}

static void followed(void **unused) {
    (void)unused;
    struct stat s;
    assert_int_equal(mkdir(path_of("elsewhere"), 0777), 0);
    assert_int_equal(symlink("elsewhere/real.bvh", path_of("link.bvh")), 0);
    expect(0, "wrote  link.bvh", "convert ex/truth.bvh -o link.bvh");
    assert_true(lstat(path_of("link.bvh"), &s) == 0 && S_ISLNK(s.st_mode));
    assert_true(stat(path_of("elsewhere/real.bvh"), &s) == 0 && s.st_size > 100000);
    // and an input is one under any name
    expect(3, "this is an input", "convert elsewhere/real.bvh -o link.bvh");
    no_parts();
}

// --- signals -------------------------------------------------------------------------------------

static bool has_part(const char *name) {
    bool found = false;
    DIR *all = opendir(path_of(name));
    for (struct dirent *e; all != NULL && (e = readdir(all)) != NULL;)
        found |= strstr(e->d_name, ".part-") != NULL;
    if (all != NULL) (void)closedir(all);
    return found;
}

// A signal as soon as a file is being written, to each command that writes.
static void stopped(void **unused) {
    (void)unused;
    static const char *const commands[] = {
        "convert ex/truth.bvh --fps 500 -o stop/x.csv",
        "example --out stop",
        "convert ex/take.c3d --fps 300 -o stop/x.trc",
        "bench solvers --problems 1000000 --csv stop/x.csv",
    };
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    int seen = 0;
    for (int i = 0; i < 12; i++) {
        char line[600];
        int number = signals[i % 3];
        (void)snprintf(line, sizeof line, "cd '%s' && rm -rf stop && mkdir stop", folder);
        assert_int_equal(shell(line), 0);
        (void)snprintf(line, sizeof line, "cd '%s' && exec '%s' %s >stop.log 2>&1", folder,
                       SINEW_PROGRAM, commands[i / 3]);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            // what nohup or a background job has set to be ignored would stay so, rightly
            for (int k = 0; k < 3; k++) (void)signal(signals[k], SIG_DFL);
            (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
            _exit(99);
        }
        int status = 0;
        pid_t gone = 0;
        while (!has_part("stop") && (gone = waitpid(pid, &status, WNOHANG)) == 0)
            (void)poll(NULL, 0, 1);
        if (gone == 0) {
            (void)kill(pid, number);
            assert_int_equal(waitpid(pid, &status, 0), pid);
        }
        bool by_signal = WIFSIGNALED(status);
        if (by_signal) assert_int_equal(WTERMSIG(status), number);
        if (!by_signal) assert_int_equal(WEXITSTATUS(status), 0);
        seen += by_signal;
        if (has_part("stop")) fail_msg("sinew %s: signal %d left a part", commands[i / 3], number);
        if (by_signal && i / 3 != 1) assert_int_equal(count_files("stop"), 0);
    }
    print_message("%d of 12 were stopped while they wrote\n", seen);
    assert_true(seen >= 6);
}

// --resume beside a run that is alive: what that one writes stays, what a dead one left goes.
static void alive(void **unused) {
    (void)unused;
    char line[600];
    put("two.tsv", "ex/subject.json\tex/take.c3d\tx\nex/subject.json\tex/take.c3d\ty\n");
    assert_int_equal(mkdir(path_of("both"), 0777), 0);
    put("both/x.bvh.part-1", "of a run that was killed");
    // a run that is writing, for as long as the lock is held
    put("both/x.bvh.part-2", "of a run that is alive");
    (void)snprintf(line, sizeof line,
                   "command -v flock >/dev/null && cd '%s' && flock both/x.bvh.part-2 '%s' fit "
                   "--manifest two.tsv --out both --frames 1:12 --resume 2>&1",
                   folder, SINEW_PROGRAM);
    if (shell(line) != 0) {
        print_message("skipped: there is no flock here\n");
        skip();
    }
    assert_false(is_there("both/x.bvh.part-1"));
    assert_true(is_there("both/x.bvh.part-2") && is_there("both/x.bvh"));
    assert_int_equal(remove(path_of("both/x.bvh.part-2")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(may_not_grow), cmocka_unit_test(full_disk), cmocka_unit_test(followed),
        cmocka_unit_test(stopped),      cmocka_unit_test(alive),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
