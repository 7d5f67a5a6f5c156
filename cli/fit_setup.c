// SPDX-License-Identifier: MIT
#include "fit_setup.h"

#include <stdlib.h>
#include <string.h>

// A path of a folder's bytes and a name, or the name where it is a path from the root.
static char *join(const char *folder, size_t length, const char *name) {
    size_t n = strlen(name);
    char *out = malloc(length + n + 2);
    if (out == NULL) return NULL;
    if (name[0] == '/') length = 0;
    memcpy(out, folder, length);
    if (length > 0 && out[length - 1] != '/') out[length++] = '/';
    memcpy(out + length, name, n + 1);
    return out;
}

// The bytes of a path that name its folder.
static size_t folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static bool is_there(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file != NULL) (void)fclose(file);
    return file != NULL;
}

// Files written on Windows part folders with a backslash.
static void turn_slashes(char *path) {
    for (; *path != '\0'; path++)
        if (*path == '\\') *path = '/';
}

// A file that the setup names: as it stands there, or by its name alone, in the setup's folder and then in
// those to search. NULL and a message when it is nowhere.
char *find_setup_file(const char *setup, const word_list *search, const char *what,
                      const char *given, int line) {
    char *name = join("", 0, given);
    if (name == NULL) return NULL;
    turn_slashes(name);
    const char *alone = name + folder_of(name);
    for (int i = -1; i < search->count; i++) {
        const char *folder = i < 0 ? setup : search->word[i];
        size_t length = i < 0 ? folder_of(folder) : strlen(folder);
        for (int k = 0; k < 2; k++) {
            char *path = join(folder, length, k == 0 ? name : alone);
            if (path != NULL && is_there(path)) {
                free(name);
                return path;
            }
            free(path);
        }
    }
    sn_error error = {.line = line};
    (void)snprintf(error.text, sizeof error.text,
                   "the %s \"%.120s\" is neither beside the setup nor in a folder that --search "
                   "names",
                   what, given);
    (void)file_error(setup, &error);
    free(name);
    return NULL;
}

char *beside_setup(const char *setup, const char *name) {
    char *path = join(setup, folder_of(setup), name);
    if (path != NULL) turn_slashes(path);
    return path;
}

// A file that the setup names, with the settings of fit.
static char *find_file(const fit_settings *s, const char *what, const char *given, int line) {
    return find_setup_file(s->setup, &s->search, what, given, line);
}

// The task set where it stands in a file of its own.
static bool read_tasks(const fit_settings *s, sn_ik_setup *setup) {
    const sn_ik_setup_info *info = sn_ik_setup_about(setup);
    if (info->task_file[0] == '\0') return true;
    char *path = find_file(s, "task set", info->task_file, 0);
    size_t length;
    char *text = path != NULL ? read_file(path, &length) : NULL;
    sn_error error = {0};
    bool good = text != NULL && sn_ik_setup_read_tasks(setup, text, length, &error) == SN_OK;
    if (text != NULL && !good) (void)file_error(path, &error);
    free(text);
    free(path);
    return good;
}

static bool name_files(fit_settings *s, setup_names *n) {
    const sn_ik_setup_info *info = sn_ik_setup_about(n->setup);
    if (s->model == NULL && info->model_file[0] != '\0') {
        n->model = find_file(s, "model", info->model_file, info->model_line);
        if (n->model == NULL) return false;
        s->model = n->model;
    }
    if (s->input == NULL && info->orientations_file[0] != '\0') {
        n->input = find_file(s, "orientations file", info->orientations_file, 0);
        if (n->input == NULL) return false;
        s->input = n->input;
    }
    if (s->input == NULL && info->marker_file[0] != '\0') {
        n->input = find_file(s, "marker file", info->marker_file, info->marker_line);
        if (n->input == NULL) return false;
        s->input = n->input;
    }
    if (info->coordinate_file[0] != '\0') {
        n->coordinate =
            find_file(s, "coordinate file", info->coordinate_file, info->coordinate_line);
        if (n->coordinate == NULL) return false;
    }
    if (s->outputs.count == 0 && info->output_file[0] != '\0') {
        // OpenSim's tool works in the folder of its setup
        n->output = join(s->setup, folder_of(s->setup), info->output_file);
        if (n->output == NULL) return false;
        turn_slashes(n->output);
        s->outputs.word[s->outputs.count++] = n->output;
    }
    return true;
}

bool name_setup_files(fit_settings *s, setup_names *out) {
    size_t length;
    sn_error error = {0};
    *out = (setup_names){0};
    char *text = read_file(s->setup, &length);
    if (text == NULL) return false;
    bool good = sn_ik_setup_read(text, length, NULL, &out->setup, &error) == SN_OK;
    free(text);
    if (!good) {
        (void)file_error(s->setup, &error);
        return false;
    }
    good = read_tasks(s, out->setup) && name_files(s, out);
    if (!good) free_setup_names(out);
    s->names = good ? out : NULL;
    return good;
}

void free_setup_names(setup_names *n) {
    sn_ik_setup_destroy(n->setup);
    free(n->model);
    free(n->input);
    free(n->output);
    free(n->coordinate);
    *n = (setup_names){0};
}

bool load_setup_values(const setup_names *names, sn_table **out) {
    sn_document document;
    *out = NULL;
    if (names == NULL || names->coordinate == NULL) return true;
    if (!load_document(names->coordinate, NULL, &document)) return false;
    *out = document.table;
    document.table = NULL;
    sn_document_destroy(&document);
    if (*out == NULL) complain("%s: this file holds no table of coordinates", names->coordinate);
    return *out != NULL;
}
