// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// --- signals -------------------------------------------------------------------------------------
// A signal may come to any thread, at any moment. Names change only between enter() and leave(), where the
// thread that writes has signals blocked; a handler in another thread waits for it to leave, then removes
// what is named. Once a handler is at work nobody enters.

enum { SLOTS = 160 };  // a command line names at most 64 outputs, a model and a report

static _Atomic(char *) names[SLOTS];
static atomic_bool busy, ending, asked;
static atomic_int caught;
static void (*ask_first)(void);
static sigset_t watched, before;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void remove_all(void) {
    for (int i = 0; i < SLOTS; i++) {
        const char *name = atomic_load(&names[i]);
        if (name != NULL) (void)unlink(name);
    }
}

static void end_by(int number) {
    atomic_store(&ending, true);
    while (atomic_load(&busy)) (void)poll(NULL, 0, 1);
    remove_all();
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)signal(number, SIG_DFL);
    (void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(number);
    _exit(128 + number);
}

static void on_signal(int number) {
    int kept = errno;
    if (ask_first == NULL || number == SIGPIPE || atomic_exchange(&asked, true)) end_by(number);
    atomic_store(&caught, number);
    ask_first();
    errno = kept;
}

void parts_guard(void) {
    (void)sigemptyset(&watched);
    struct sigaction action = {.sa_handler = on_signal}, old;
    for (int i = 0; i < SIGNALS; i++) {
        // what is ignored stays so: nohup
        if (sigaction(signals[i], NULL, &old) != 0 || old.sa_handler == SIG_IGN) continue;
        (void)sigaddset(&watched, signals[i]);
        (void)sigaction(signals[i], &action, NULL);
    }
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)atexit(remove_all);
}

void parts_ask_first(void (*ask)(void)) { ask_first = ask; }

void parts_end(void) {
    if (atomic_load(&caught) != 0) end_by(atomic_load(&caught));
}

static void enter(void) {
    (void)pthread_sigmask(SIG_BLOCK, &watched, &before);
    atomic_store(&busy, true);
    if (!atomic_load(&ending)) return;
    atomic_store(&busy, false);
    for (;;) (void)poll(NULL, 0, 1000);
}

static void leave(void) {
    int kept = errno;
    atomic_store(&busy, false);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = kept;
}

// --- parts ---------------------------------------------------------------------------------------

static char *beside(const char *place, int number) {
    size_t size = strlen(place) + 60;
    char *name = malloc(size);
    if (name == NULL) return NULL;
    int n = snprintf(name, size, "%s.part-%ld", place, (long)getpid());
    if (number > 0) (void)snprintf(name + n, size - (size_t)n, "-%d", number);
    return name;
}

// Whether a name still is the file that is open: another program may have removed it as a dead one's before
// it was locked.
static bool still_there(const char *name, int file) {
    struct stat a, b;
    return fstat(file, &a) == 0 && stat(name, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

// A new file that is locked. -1 and errno.
static int create(const char *name) {
    for (;;) {
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0) return -1;
        bool taken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!taken && still_there(name, file)) return file;
        (void)unlink(name);
        (void)close(file);
    }
}

static void forget(part_file *self) {
    int kept = errno;
    enter();
    atomic_store(&names[self->slot], NULL);
    free(self->name);
    leave();
    (void)close(self->lock);
    self->name = NULL;
    errno = kept;
}

FILE *part_create(part_file *out, const char *place) {
    int slot = 0, file = -1;
    while (slot < SLOTS && atomic_load(&names[slot]) != NULL) slot++;
    *out = (part_file){.slot = slot, .lock = -1};
    errno = EMFILE;
    if (slot == SLOTS) return NULL;
    // a number beside the process's, as another machine may have one of the same and write here too
    for (int number = 0; file < 0 && number < 1000; number++) {
        char *name = beside(place, number);
        errno = ENOMEM;
        if (name == NULL) return NULL;
        enter();
        file = create(name);
        if (file >= 0) atomic_store(&names[slot], out->name = name);
        leave();
        if (file >= 0) break;
        int why = errno;
        free(name);
        errno = why;
        if (why != EEXIST) return NULL;
    }
    if (file < 0) return NULL;
    FILE *stream = NULL;
    out->lock = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (out->lock >= 0) stream = fdopen(file, "wb");
    if (stream != NULL) return stream;
    int why = errno;
    (void)close(file);
    part_remove(out);
    errno = why;
    return NULL;
}

bool part_finish(part_file *self, const char *place) {
    bool good = rename(self->name, place) == 0;
    int why = errno;
    if (!good) (void)unlink(self->name);
    forget(self);
    errno = why;
    return good;
}

void part_remove(part_file *self) {
    (void)unlink(self->name);
    forget(self);
}

static void remove_if_dead(int folder, const char *name) {
    // not one that is no file: a pipe would be waited for
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    struct stat s;
    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && flock(file, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(folder, name, 0);
    (void)close(file);
}

void parts_remove_dead(const char *place) {
    const char *slash = strrchr(place, '/'), *name = slash != NULL ? slash + 1 : place;
    size_t folder = (size_t)(name - place), n = strlen(name);
    char *path = malloc(folder + 2);
    if (path == NULL) return;
    memcpy(path, place, folder);
    memcpy(path + folder, folder > 0 ? "" : ".", folder > 0 ? 1 : 2);
    DIR *all = opendir(path);
    free(path);
    if (all == NULL) return;
    for (struct dirent *e; (e = readdir(all)) != NULL;)
        if (strncmp(e->d_name, name, n) == 0 && strncmp(e->d_name + n, ".part-", 6) == 0)
            remove_if_dead(dirfd(all), e->d_name);
    (void)closedir(all);
}
