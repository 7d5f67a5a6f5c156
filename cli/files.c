// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L  // clock_gettime
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "cli.h"

static char complaint[1200];

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
    fprintf(stderr, "sinew: %s\n", complaint);
}

const char *last_complaint(void) { return complaint; }
void forget_complaint(void) { complaint[0] = '\0'; }

void *must_alloc(size_t count, size_t size) {
    void *block = calloc(count > 0 ? count : 1, size);
    if (block == NULL) {
        fputs("sinew: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    return block;
}

double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// No file of ours comes near this; a device that never ends must not fill the memory.
static const size_t largest_file = (size_t)1 << 30;

// Files that were read, by what they are and not by their names.
static struct {
    int count, room;
    struct {
        dev_t device;
        ino_t number;
    } * file;
} inputs;

static void remember_input(FILE *file) {
    struct stat s;
    if (fstat(fileno(file), &s) != 0 || !S_ISREG(s.st_mode)) return;
    if (inputs.count == inputs.room) {
        int room = inputs.room > 0 ? 2 * inputs.room : 16;
        void *grown = realloc(inputs.file, (size_t)room * sizeof *inputs.file);
        if (grown == NULL) return;
        inputs.file = grown;
        inputs.room = room;
    }
    inputs.file[inputs.count].device = s.st_dev;
    inputs.file[inputs.count++].number = s.st_ino;
}

bool was_input(const char *path) {
    struct stat s;
    if (stat(path, &s) != 0) return false;
    for (int i = 0; i < inputs.count; i++)
        if (inputs.file[i].device == s.st_dev && inputs.file[i].number == s.st_ino) return true;
    return false;
}

// What came through a pipe comes only once: it is kept for those who read the same name again.
typedef struct kept {
    struct kept *next;
    char *path, *text;  // text NULL: it could not be read, for this reason
    const char *why;
    size_t length;
} kept;

static kept *pipes;

static char *copy_bytes(const char *text, size_t length) {
    char *copy = must_alloc(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

static void keep(const char *path, const char *text, size_t length, const char *why) {
    kept *k = must_alloc(1, sizeof *k);
    *k =
        (kept){.next = pipes, .path = copy_bytes(path, strlen(path)), .why = why, .length = length};
    if (text != NULL) k->text = copy_bytes(text, length);
    pipes = k;
}

bool is_plain_file(const char *path) {
    struct stat s;
    return strcmp(path, "-") != 0 && stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static char *fail(sn_error *error, const char *why) {
    *error = (sn_error){.status = SN_ERR_FILE};
    (void)snprintf(error->text, sizeof error->text, "%s", why);
    return NULL;
}

// All of a stream, terminated. @param size  of a plain file, else 0
static char *read_stream(FILE *file, size_t size, size_t *length, const char **why) {
    static const char too_large[] = "larger than 1 GiB, the most that is read";
    *why = too_large;
    if (size > largest_file) return NULL;
    // a byte more shows that a file ends where it should
    size_t capacity = size + 2 > 1 << 16 ? size + 2 : 1 << 16, used = 0;
    char *text = must_alloc(capacity, 1);
    for (;;) {
        size_t got = fread(text + used, 1, capacity - 1 - used, file);
        used += got;
        if (got == 0) break;
        if (used < capacity - 1) continue;
        char *grown = used <= largest_file ? realloc(text, capacity *= 2) : NULL;
        if (grown == NULL) {
            *why = used <= largest_file ? "too large for the memory" : too_large;
            free(text);
            return NULL;
        }
        text = grown;
    }
    text[used] = '\0';
    *length = used;
    if (ferror(file) == 0) return text;
    *why = errno != 0 ? strerror(errno) : "cannot be read";
    free(text);
    return NULL;
}

char *read_bytes(const char *path, size_t *length, sn_error *error) {
    bool standard = strcmp(path, "-") == 0;
    for (const kept *k = pipes; k != NULL; k = k->next) {
        if (strcmp(k->path, path) != 0) continue;
        *length = k->length;
        return k->text != NULL ? copy_bytes(k->text, k->length) : fail(error, k->why);
    }
    errno = 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (file == NULL) return fail(error, strerror(errno));
    if (!standard) remember_input(file);
    struct stat s;
    const char *why = NULL;
    bool plain = fstat(fileno(file), &s) == 0 && S_ISREG(s.st_mode);
    char *text = read_stream(file, plain ? (size_t)s.st_size : 0, length, &why);
    if (standard || !plain) keep(path, text, text != NULL ? *length : 0, why);
    if (!standard) (void)fclose(file);
    return text != NULL ? text : fail(error, why);
}

char *read_file(const char *path, size_t *length) {
    sn_error error = {0};
    char *text = read_bytes(path, length, &error);
    if (text == NULL) (void)file_error(path, &error);
    return text;
}

int file_error(const char *path, const sn_error *error) {
    if (error->line > 0) {
        complain("%s:%d: %s", path, error->line, error->text);
    } else {
        complain("%s: %s", path, error->text);
    }
    return EXIT_INPUT;
}

sn_problem *load_problem(const char *path, const sn_model *model) {
    sn_problem *problem = NULL;
    sn_error error = {0};
    size_t length;
    char *text = read_file(path, &length);
    if (text == NULL) return NULL;
    if (sn_problem_read_json(text, length, model, NULL, &problem, &error) != SN_OK)
        (void)file_error(path, &error);
    free(text);
    return problem;
}

// Numbers between white space, commas and brackets. -1 when something else is there.
static int scan_numbers(const char *path, const char *text, size_t length, double *out, int most) {
    int count = 0, line = 1;
    size_t i = 0;
    while (i < length) {
        char c = text[i];
        if (c == '\n') line++;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == '[' || c == ']') {
            i++;
            continue;
        }
        size_t n = 0;
        while (i + n < length && strchr(" \t\r\n,[]", text[i + n]) == NULL) n++;
        double value;
        if (!sn_number_parse(text + i, n, &value)) {
            complain("%s:%d: \"%.*s\" is not a finite number", path, line, (int)(n < 40 ? n : 40),
                     text + i);
            return -1;
        }
        if (count < most) out[count] = value;
        count++;
        i += n > 0 ? n : 1;
    }
    return count;
}

double *load_numbers(const char *path, int most, int *count) {
    double *x = must_alloc((size_t)most + 1, sizeof *x);
    size_t length;
    char *text = read_file(path, &length);
    *count = text == NULL ? -1 : scan_numbers(path, text, length, x, most);
    free(text);
    if (*count >= 0) return x;
    free(x);
    return NULL;
}

double *load_velocities(const char *path, const sn_model *model) {
    int nv = sn_model_nv(model);
    double *qd = must_alloc((size_t)nv + 1, sizeof *qd);
    size_t length;
    char *text = read_file(path, &length);
    int count = text == NULL ? -1 : scan_numbers(path, text, length, qd, nv);
    free(text);
    if (count == nv) return qd;
    if (count >= 0)
        complain("%s: %d numbers, but the model has nv = %d velocities", path, count, nv);
    free(qd);
    return NULL;
}

double *load_pose(const char *path, const sn_model *model) {
    int nq = sn_model_nq(model);
    double *q = must_alloc((size_t)nq + 1, sizeof *q);
    sn_model_zero(model, q);
    if (path == NULL) return q;
    size_t length;
    char *text = read_file(path, &length);
    int count = text == NULL ? -1 : scan_numbers(path, text, length, q, nq);
    free(text);
    sn_error error = {0};
    if (count >= 0 && count != nq) {
        complain("%s: %d numbers, but the model has nq = %d coordinates", path, count, nq);
        count = -1;
    }
    if (count >= 0 && sn_model_check_pose(model, q, &error) != SN_OK) {
        (void)file_error(path, &error);
        count = -1;
    }
    if (count >= 0) return q;
    free(q);
    return NULL;
}

void print_number(double x) {
    char digits[SN_NUMBER_TEXT];
    sn_number_print17(x, digits);
    fputs(digits, stdout);
}

void print_numbers(const double *x, int n) {
    putchar('[');
    for (int i = 0; i < n; i++) {
        if (i > 0) putchar(',');
        print_number(x[i]);
    }
    putchar(']');
}

void print_json_string(const char *string) {
    sn_text text = sn_text_begin(NULL);
    sn_text_add_json_string(&text, string);
    fputs(text.status == SN_OK ? text.data : "\"\"", stdout);
    sn_text_end(&text);
}
