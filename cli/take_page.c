// SPDX-License-Identifier: MIT
// The page with a take inside: before </body> stand the files of the take in base64, which the page
// opens as if they had been dropped. Each is what web_open() reads: its name, a zero, its bytes.
#define _POSIX_C_SOURCE 200809L
#include "take_page.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

// --- the page ------------------------------------------------------------------------------------

bool is_page_name(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcasecmp(dot, ".html") == 0;
}

static char *in_folder(const char *folder, int length, const char *rest) {
    size_t size = (size_t)length + strlen(rest) + 1;
    char *path = must_alloc(size, 1);
    (void)snprintf(path, size, "%.*s%s", length, folder, rest);
    return path;
}

char *find_page(const char *given) {
    // where it is installed, and where it is built
    static const char *const places[] = {"sinew.html", "../share/sinew/sinew.html",
                                         "../web/dist/sinew.html"};
    static const char here[] = "web/dist/sinew.html";
    char program[4096];
    if (given != NULL) {
        if (access(given, R_OK) == 0) return in_folder(given, (int)strlen(given), "");
        complain("--page %s: there is no such file", given);
        return NULL;
    }
    ssize_t n = readlink("/proc/self/exe", program, sizeof program);
    while (n > 0 && program[n - 1] != '/') n--;
    for (size_t i = 0; n > 0 && i < sizeof places / sizeof places[0]; i++) {
        char *path = in_folder(program, (int)n, places[i]);
        if (access(path, R_OK) == 0) return path;
        free(path);
    }
    if (access(here, R_OK) == 0) return in_folder(here, (int)strlen(here), "");
    complain(
        "an html output is sinew's page with the take inside, and the page is not built: run make "
        "web, or give the page with --page FILE");
    return NULL;
}

// The last place where `mark` stands.
static const char *last_of(const char *text, const char *mark) {
    const char *found = NULL;
    for (const char *at = strstr(text, mark); at != NULL; at = strstr(at + 1, mark)) found = at;
    return found;
}

// --- base64 --------------------------------------------------------------------------------------

typedef struct base64 {
    const sn_sink *to;
    unsigned char group[3];
    int count;
} base64;

static bool flush_group(base64 *b) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *g = b->group;
    char four[4] = {digits[g[0] >> 2], digits[(g[0] & 3) << 4 | g[1] >> 4],
                    digits[(g[1] & 15) << 2 | g[2] >> 6], digits[g[2] & 63]};
    if (b->count < 3) four[3] = '=';
    if (b->count < 2) four[2] = '=';
    memset(b->group, 0, sizeof b->group);
    b->count = 0;
    return b->to->write(b->to->user, four, sizeof four);
}

static bool write_base64(void *user, const void *bytes, size_t count) {
    base64 *b = user;
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++) {
        b->group[b->count++] = from[i];
        if (b->count == 3 && !flush_group(b)) return false;
    }
    return true;
}

// --- the take ------------------------------------------------------------------------------------

// Lengths in the BVH file are centimetres, and the page is told so: such a file cannot say it.
#define METRES_PER_UNIT 0.01

// Which measured marker each of the model's is; below 0 for none.
static sn_status find_columns(const sn_scene *s, int *column) {
    const sn_samples *from = s->samples;
    const sn_recording_info info = {.nmarker = from->nmarker};
    const char **labels = must_alloc((size_t)from->nmarker + 1, sizeof *labels);
    sn_recording *named = NULL;
    for (int i = 0; i < from->nmarker; i++) labels[i] = from->label(from->user, i);
    sn_status status = sn_recording_create(&info, labels, NULL, &named, NULL);
    for (int i = 0; i < sn_model_nmarker(s->model); i++)
        column[i] = sn_recording_find(named, sn_model_marker(s->model, i)->name);
    sn_recording_destroy(named);
    free(labels);
    return status;
}

// Each marker as it was measured, then each as the figure has it, all turned like the figure.
static sn_status marker_pairs(const sn_scene *s, sn_recording **out) {
    int n = sn_model_nmarker(s->model), nframe = sn_motion_nframe(s->motion);
    enum { LONGEST = 200 };
    sn_recording *fitted = NULL;
    if (sn_marker_paths(s->model, s->motion, NULL, &fitted, NULL) != SN_OK) return SN_ERR_MEMORY;
    sn_recording_info info = *sn_recording_about(fitted);
    int *column = must_alloc((size_t)n, sizeof *column);
    const char **labels = must_alloc(2 * (size_t)n, sizeof *labels);
    char *names = must_alloc(2 * (size_t)n, LONGEST);
    for (int i = 0; i < 2 * n; i++) {
        char *name = names + (size_t)i * LONGEST;
        (void)snprintf(name, LONGEST, "%s:%s", i < n ? "measured" : "fitted",
                       sn_label_name(sn_model_marker(s->model, i % n)->name));
        labels[i] = name;
    }
    info.nmarker = 2 * n;
    sn_status status = find_columns(s, column);
    if (status == SN_OK) status = sn_recording_create(&info, labels, NULL, out, NULL);
    for (int f = 0; status == SN_OK && f < nframe; f++) {
        double *to = sn_recording_edit(*out, f);
        // one that is not there stays as it was made: missing
        for (int i = 0; i < n; i++)
            (void)s->samples->sample(s->samples->user, f, column[i], to + (ptrdiff_t)3 * i);
        memcpy(to + (ptrdiff_t)3 * n, sn_recording_frame(fitted, f), 3 * (size_t)n * sizeof *to);
    }
    if (status == SN_OK) sn_recording_turn(*out, s->rotation);
    free(names);
    free(labels);
    free(column);
    sn_recording_destroy(fitted);
    return status;
}

static sn_status write_pairs(const sn_scene *s, const sn_sink *sink, sn_error *error) {
    sn_recording *pairs = NULL;
    sn_status status = marker_pairs(s, &pairs);
    if (status == SN_OK) status = sn_c3d_write(pairs, NULL, sink, NULL, error);
    sn_recording_destroy(pairs);
    return status;
}

static bool send(const sn_sink *sink, const char *text) {
    return sink->write(sink->user, text, strlen(text));
}

// One file of the take: the page's name with another ending.
static sn_status write_block(const sn_scene *s, sn_format format, const char *path,
                             const sn_sink *sink, sn_error *error) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char head[120];
    base64 b = {.to = sink};
    const sn_sink into = {write_base64, &b};
    (void)snprintf(
        head, sizeof head,
        "<script type=\"application/octet-stream\" id=\"sinew-take-%s\" data-metres=\"%g\">",
        sn_format_name(format), METRES_PER_UNIT);
    if (!send(sink, head) || !into.write(&b, name, (size_t)(strrchr(name, '.') - name)) ||
        !send(&into, ".") || !send(&into, sn_format_name(format)) || !into.write(&b, "", 1))
        return SN_ERR_FILE;
    sn_status status = format == SN_FORMAT_BVH ? sn_scene_write(s, format, &into, NULL, error)
                                               : write_pairs(s, &into, error);
    if (status != SN_OK) return status;
    if (b.count > 0 && !flush_group(&b)) return SN_ERR_FILE;
    return send(sink, "</script>\n") ? SN_OK : SN_ERR_FILE;
}

sn_status write_take_page(const sn_scene *s, const char *given, const char *path,
                          const sn_sink *sink, sn_error *error) {
    static const char *const axes[2][3] = {{"+x", "+y", "+z"}, {"-x", "-y", "-z"}};
    if (s->motion == NULL) {
        (void)snprintf(error->text, sizeof error->text, "there is no motion to play");
        return SN_ERR_ARGUMENT;
    }
    size_t length;
    char *found = find_page(given), *page = found != NULL ? read_file(found, &length) : NULL;
    const char *end = page != NULL ? last_of(page, "</body>") : NULL;
    sn_status status = SN_ERR_ARGUMENT;
    if (page == NULL) {
        (void)snprintf(error->text, sizeof error->text, "there is no page to put the take into");
    } else if (end == NULL || strstr(page, "id=\"wasm\"") == NULL) {
        (void)snprintf(error->text, sizeof error->text, "%.150s is not sinew's page", found);
    } else if (strstr(page, "id=\"sinew-take-") != NULL) {
        (void)snprintf(error->text, sizeof error->text, "%.150s holds a take already", found);
    } else {
        // in the page y is up
        sn_scene upright = *s;
        upright.metres_per_unit = METRES_PER_UNIT;
        (void)sn_glb_up(axes[s->up_sign < 0][s->up], upright.rotation);
        bool begun = sink->write(sink->user, page, (size_t)(end - page));
        status = begun ? write_block(&upright, SN_FORMAT_BVH, path, sink, error) : SN_ERR_FILE;
        if (status == SN_OK && s->samples != NULL && sn_model_nmarker(s->model) > 0)
            status = write_block(&upright, SN_FORMAT_C3D, path, sink, error);
        if (status == SN_OK && !send(sink, end)) status = SN_ERR_FILE;
    }
    free(page);
    free(found);
    return status;
}
