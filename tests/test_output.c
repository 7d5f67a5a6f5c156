// SPDX-License-Identifier: MIT
// cli/output.c and cli/parts.c: files that appear whole or not at all, with a disk that fails when a file is
// closed or renamed, with signals at any moment, through links.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

static int fail_close, fail_rename;  // errno of the next calls; 0: they work

static int close_stream(FILE *file) {
    int result = fclose(file);
    if (fail_close == 0) return result;
    errno = fail_close;
    return EOF;
}

static int move_file(const char *from, const char *to) {
    if (fail_rename == 0) return rename(from, to);
    errno = fail_rename;
    return -1;
}

#define fclose close_stream
#define rename move_file
#include "../cli/output.c"
#include "../cli/parts.c"
#undef fclose
#undef rename

// what these two files use of the program
static char said[1200];

void complain(const char *format, ...) {
    va_list list;
    va_start(list, format);
    (void)vsnprintf(said, sizeof said, format, list);
    va_end(list);
}

bool was_input(const char *path) {
    (void)path;
    return false;
}

void *must_alloc(size_t count, size_t size) {
    void *block = calloc(count > 0 ? count : 1, size);
    if (block == NULL) abort();
    return block;
}

static char home[64], was[256];

static int begin(void **unused) {
    (void)unused;
    (void)snprintf(home, sizeof home, "/tmp/sinew-output-XXXXXX");
    return mkdtemp(home) != NULL && getcwd(was, sizeof was) != NULL && chdir(home) == 0 ? 0 : -1;
}

static int end(void **unused) {
    (void)unused;
    char line[100];
    (void)snprintf(line, sizeof line, "rm -r '%s'", home);
    return chdir(was) == 0 && system(line) == 0 ? 0 : -1;
}

// Names in the folder, in order, each with a blank behind it.
static const char *listing(void) {
    static char text[2000];
    FILE *pipe = popen("ls -A", "r");
    assert_non_null(pipe);
    size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    assert_int_equal(pclose(pipe), 0);
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n') text[i] = ' ';
    return text;
}

static void clear(void) {
    assert_int_equal(system("rm -rf ./*"), 0);
    fail_close = fail_rename = 0;
    said[0] = '\0';
}

static void put(const char *name, const char *text) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void holds(const char *name, const char *text) {
    size_t length;
    char *bytes = slurp(name, &length);
    assert_string_equal(bytes, text);
    free(bytes);
}

static bool write_text(const char *path, const char *text, sn_status status) {
    output out;
    if (!output_open(&out, path)) return false;
    sn_sink sink = output_sink(&out);
    bool sent = sink.write(sink.user, text, strlen(text));
    return output_close(&out, sent ? status : SN_ERR_FILE, NULL);
}

static void whole(void **unused) {
    (void)unused;
    clear();
    assert_true(write_text("a", "one", SN_OK));
    assert_true(write_text("a", "two", SN_OK));
    holds("a", "two");
    assert_false(write_text("a", "three", SN_ERR_MEMORY));
    assert_string_equal(said, "a: out of memory");
    holds("a", "two");
    assert_string_equal(listing(), "a ");
    outputs_hold();
    assert_true(write_text("b", "one", SN_OK));
    assert_false(write_text("b", "again", SN_OK));
    assert_string_equal(said, "b: two outputs have this name");
    assert_int_not_equal(access("b", F_OK), 0);
    assert_true(outputs_release(true));
    holds("b", "one");
    assert_string_equal(listing(), "a b ");
}

// A disk may say only at the end that it is full.
static void close_fails(void **unused) {
    (void)unused;
    for (int held_too = 0; held_too < 2; held_too++) {
        clear();
        put("a", "old");
        fail_close = EDQUOT;
        if (held_too) outputs_hold();
        assert_false(write_text("a", "new", SN_OK));
        assert_non_null(strstr(said, "a: cannot be written: "));
        assert_non_null(strstr(said, strerror(EDQUOT)));
        if (held_too) assert_true(outputs_release(true));
        holds("a", "old");
        assert_string_equal(listing(), "a ");
    }
}

static void rename_fails(void **unused) {
    (void)unused;
    for (int held_too = 0; held_too < 2; held_too++) {
        clear();
        put("a", "old");
        if (held_too) {
            outputs_hold();
            assert_true(write_text("a", "new", SN_OK) && write_text("b", "new", SN_OK));
        }
        fail_rename = EIO;
        assert_false(held_too ? outputs_release(true) : write_text("a", "new", SN_OK));
        assert_non_null(strstr(said, "a: cannot be written: "));
        assert_non_null(strstr(said, strerror(EIO)));
        holds("a", "old");
        assert_string_equal(listing(), "a ");
    }
}

// The file that a link leads to is written, also where there is none yet, and the link stays.
static void links(void **unused) {
    (void)unused;
    struct stat s;
    clear();
    assert_int_equal(mkdir("far", 0777), 0);
    put("far/there", "old");
    assert_int_equal(chmod("far/there", 0640), 0);
    assert_int_equal(symlink("far/one", "link"), 0);
    assert_int_equal(symlink("there", "far/one"), 0);
    assert_int_equal(symlink("far/new", "dangling"), 0);
    assert_int_equal(symlink("round", "round"), 0);
    assert_true(write_text("link", "new", SN_OK));
    holds("far/there", "new");
    assert_true(lstat("link", &s) == 0 && S_ISLNK(s.st_mode));
    assert_true(lstat("far/one", &s) == 0 && S_ISLNK(s.st_mode));
    assert_true(stat("far/there", &s) == 0 && (s.st_mode & 0777) == 0640);
    assert_true(write_text("dangling", "made", SN_OK));
    holds("far/new", "made");
    assert_true(lstat("dangling", &s) == 0 && S_ISLNK(s.st_mode));
    assert_false(write_text("round", "never", SN_OK));
    assert_non_null(strstr(said, "round: cannot be written"));
    assert_false(write_text("far", "never", SN_OK));
    assert_non_null(strstr(said, strerror(EISDIR)));
    outputs_hold();
    assert_true(write_text("link", "first", SN_OK));
    assert_false(write_text("far/there", "second", SN_OK));
    assert_string_equal(said, "far/there: two outputs have this name");
    assert_true(outputs_release(true));
    holds("far/there", "first");
    assert_string_equal(listing(), "dangling far link round ");
}

// A device stays the device it is.
static void devices(void **unused) {
    (void)unused;
    struct stat s;
    clear();
    if (access("/dev/full", W_OK) != 0) {
        print_message("skipped: there is no /dev/full here\n");
        skip();
    }
    assert_int_equal(symlink("/dev/full", "full"), 0);
    assert_false(write_text("full", "text", SN_OK));
    assert_non_null(strstr(said, strerror(ENOSPC)));
    assert_true(write_text("/dev/null", "text", SN_OK));
    assert_true(stat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode));
    assert_string_equal(listing(), "full ");
}

// --- signals -------------------------------------------------------------------------------------

static void no_core(void) {
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
}

static int ended(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static atomic_int questions;
static void ask(void) { atomic_fetch_add(&questions, 1); }

// A file that waits and one that is being written, when the signal comes. In the child.
static void begin_two(void) {
    output out;
    no_core();
    parts_guard();
    outputs_hold();
    if (!write_text("held", "bytes", SN_OK) || !output_open(&out, "open")) _exit(97);
}

static void ended_by(void **unused) {
    (void)unused;
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        clear();
        put("a", "old");
        pid_t pid = fork();
        if (pid == 0) {
            begin_two();
            (void)raise(all[i]);
            _exit(98);
        }
        assert_int_equal(ended(pid), -all[i]);
        assert_string_equal(listing(), "a ");
    }
    // memory that is out ends the program by exit()
    clear();
    pid_t pid = fork();
    if (pid == 0) {
        begin_two();
        exit(1);
    }
    assert_int_equal(ended(pid), 1);
    assert_string_equal(listing(), "");
}

// As nohup wants it.
static void ignored(void **unused) {
    (void)unused;
    clear();
    pid_t pid = fork();
    if (pid == 0) {
        (void)signal(SIGHUP, SIG_IGN);
        begin_two();
        (void)raise(SIGHUP);
        _exit(outputs_release(true) ? 0 : 1);
    }
    assert_int_equal(ended(pid), 0);
    holds("held", "bytes");
}

static void asked_first(void **unused) {
    (void)unused;
    for (int times = 1; times <= 2; times++) {
        clear();
        pid_t pid = fork();
        if (pid == 0) {
            begin_two();
            parts_ask_first(ask);
            (void)raise(SIGTERM);
            if (atomic_load(&questions) != 1 || access("open", F_OK) == 0) _exit(96);
            if (times == 2) (void)raise(SIGINT);
            parts_end();
            _exit(98);
        }
        assert_int_equal(ended(pid), times == 2 ? -SIGINT : -SIGTERM);
        assert_string_equal(listing(), "");
    }
}

static void *idle(void *unused) {
    (void)unused;
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    while (pause() != 0) continue;
    return NULL;
}

// The signal comes to another thread than the one that makes and ends files, again and again.
static void any_moment(void **unused) {
    (void)unused;
    uint64_t random = 11;
    for (int k = 0; k < cases(40); k++) {
        clear();
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t other;
            sigset_t all;
            parts_guard();
            (void)sigfillset(&all);
            (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
            if (pthread_create(&other, NULL, idle, NULL) != 0) _exit(97);
            put("ready", "");
            for (;;)
                if (!write_text("a", "whole", SN_OK)) _exit(98);
        }
        while (access("ready", F_OK) != 0) (void)poll(NULL, 0, 1);
        const struct timespec wait = {0, below(&random, 3000000)};
        (void)nanosleep(&wait, NULL);
        assert_int_equal(kill(pid, SIGTERM), 0);
        assert_int_equal(ended(pid), -SIGTERM);
        if (strstr(listing(), ".part") != NULL) fail_msg("left behind: %s", listing());
        if (access("a", F_OK) == 0) holds("a", "whole");
    }
}

// --- whose parts are they? -----------------------------------------------------------------------

static void dead_or_alive(void **unused) {
    (void)unused;
    clear();
    pid_t pid = fork();
    if (pid == 0) {
        begin_two();
        put("ready", "");
        for (;;) (void)pause();
    }
    while (access("ready", F_OK) != 0) (void)poll(NULL, 0, 1);
    char open_part[64], held_part[64];
    (void)snprintf(open_part, sizeof open_part, "open.part-%ld", (long)pid);
    (void)snprintf(held_part, sizeof held_part, "./held.part-%ld", (long)pid);
    put("open.part-1", "of a process that is alive, but does not write this");
    assert_int_equal(mkfifo("open.part-2", 0666), 0);
    put("opened.part-1", "another's");
    for (int alive = 1; alive >= 0; alive--) {
        if (!alive) {
            assert_int_equal(kill(pid, SIGKILL), 0);
            assert_int_equal(ended(pid), -SIGKILL);
        }
        parts_remove_dead("open");
        parts_remove_dead("./held");
        assert_int_equal(access(open_part, F_OK) == 0, alive);
        assert_int_equal(access(held_part, F_OK) == 0, alive);
        assert_int_not_equal(access("open.part-1", F_OK), 0);
    }
    assert_string_equal(listing(), "open.part-2 opened.part-1 ready ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),        cmocka_unit_test(close_fails),
        cmocka_unit_test(rename_fails), cmocka_unit_test(links),
        cmocka_unit_test(devices),      cmocka_unit_test(ended_by),
        cmocka_unit_test(ignored),      cmocka_unit_test(asked_first),
        cmocka_unit_test(any_moment),   cmocka_unit_test(dead_or_alive),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
