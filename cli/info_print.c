// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "info.h"
#include "linalg/path.h"

// --- models --------------------------------------------------------------------------------------

typedef struct tree {
    int leaves, limited, locked, strong;
    int types[SN_JOINT_TYPE_COUNT];
    size_t entries;
    double dense;  // entries of a full symmetric matrix, one triangle
} tree;

static tree tree_of(const sn_model *m) {
    tree t = {.entries = sn_path_entries(sn_model_path(m))};
    for (int j = sn_model_next_leaf(m, -1); j >= 0; j = sn_model_next_leaf(m, j)) t.leaves++;
    for (int j = 0; j < sn_model_njoint(m); j++) t.types[sn_model_joint(m, j)->type]++;
    for (int v = 0; v < sn_model_nv(m); v++) {
        t.limited += isfinite(sn_model_lower(m)[v]) || isfinite(sn_model_upper(m)[v]);
        t.locked += sn_model_gain(m)[v] == 0;
        t.strong += sn_model_gain(m)[v] != 0 && sn_model_gain(m)[v] != 1;
    }
    double n = sn_model_nv(m);
    t.dense = n * (n + 1) / 2;
    return t;
}

// --- text ----------------------------------------------------------------------------------------

#define ROW "  %-19s "

// Words after each other, wrapped; the first line goes on behind the row's name.
typedef struct words {
    int column, count;
} words;

static void print_word(words *w, const char *word) {
    int n = (int)strlen(word);
    if (w->count > 0 && w->column + 2 + n > 98) {
        printf(",\n" ROW, "");
        w->column = 22;
    } else if (w->count > 0) {
        printf(", ");
        w->column += 2;
    } else {
        w->column = 22;
    }
    printf("%s", word);
    w->column += n;
    w->count++;
}

// MOT and STO are one format, and go by the file's name.
static const char *format_name(const file_facts *f) {
    size_t n = strlen(f->in->path);
    bool sto = n > 4 && (strcmp(f->in->path + n - 4, ".sto") == 0 ||
                         strcmp(f->in->path + n - 4, ".STO") == 0);
    return f->in->document.format == SN_FORMAT_MOT && sto ? "sto"
                                                          : sn_format_name(f->in->document.format);
}

static void print_title(const file_facts *f) {
    const sn_document *d = &f->in->document;
    printf("%s: ", f->in->path);
    if (d->format == SN_FORMAT_MODEL) {
        printf("sinew model");
    } else if (f->in->set != NULL) {
        printf("marker set");
    } else {
        const char *name = format_name(f);
        for (; *name != '\0'; name++) putchar(*name >= 'a' && *name <= 'z' ? *name - 32 : *name);
        bool both = d->model != NULL && d->recording != NULL;
        printf(both && d->motion != NULL               ? " model, motion and markers"
               : both                                  ? " model and markers"
               : d->recording != NULL                  ? " recording of markers"
               : d->table != NULL                      ? " table"
               : d->format == SN_FORMAT_AMC            ? " motion"
               : d->model != NULL && d->motion == NULL ? " model"
                                                       : " model and motion");
    }
    if (d->model != NULL && sn_model_name(d->model)[0] != '\0')
        printf(" \"%s\"", sn_model_name(d->model));
    if (f->in->set != NULL) printf(" \"%s\"", sn_marker_set_name(f->in->set));
    if (f->in->partner != NULL) printf(" of %s", f->in->partner->path);
    putchar('\n');
}

static double start_time(const file_facts *f) {
    return f->time_offset + (f->first_frame > 1 ? (f->first_frame - 1) / f->rate : 0);
}

static void print_frames(const file_facts *f) {
    if (f->nframe < 0) return;
    printf(ROW "%d", "frames", f->nframe);
    if (f->nframe > 0) printf(" (%d to %d)", f->first_frame, f->first_frame + f->nframe - 1);
    if (f->rate > 0) {
        printf(", %.6g frames/s, %.6g s", f->rate, f->nframe / f->rate);
        if (f->time_offset != 0) printf(", from %.6g s on", start_time(f));
        putchar('\n');
    } else {
        printf(", no rate stated\n");
    }
}

static void print_world(const file_facts *f) {
    const sn_document *d = &f->in->document;
    const world *w = &f->world;
    if (f->in->set != NULL || (d->format == SN_FORMAT_AMC && f->in->partner == NULL)) return;
    char unit[120];
    world_describe_unit(w, unit, sizeof unit);
    if (d->table != NULL) {
        const sn_table_info *info = sn_table_about(d->table);
        if (w->unit_known != NULL || w->unknown[0] != '\0')
            printf(ROW "%s\n", "unit of length", unit);
        if (d->format == SN_FORMAT_MOT)
            printf(ROW "%s\n", "angles", info->in_degrees ? "degrees" : "radians");
        return;
    }
    printf(ROW "%s", "unit of length", unit);
    if (d->skeleton != NULL)
        printf("; angles in %s",
               sn_skeleton_angle_unit(d->skeleton) == SN_ANGLE_DEGREES ? "degrees" : "radians");
    putchar('\n');
    if (w->up_known == NULL) {
        printf(ROW "not stated, and not clear from the markers\n", "up");
    } else {
        printf(ROW "%s (%s)\n", "up", w->up_text,
               strcmp(w->up_known, ASSUMED) == 0 ? "not stated; the format's custom" : w->up_known);
    }
}

static void print_gaps(const file_facts *f) {
    const sn_recording *recording = f->in->document.recording;
    int n = sn_recording_about(recording)->nmarker, whole = 0;
    words w = {0};
    printf(ROW "%d, %ld of %ld samples missing (%.1f %%)\n", "markers", n, f->missing, f->samples,
           100.0 * (double)f->missing / (f->samples > 0 ? (double)f->samples : 1));
    for (int m = 0; m < n; m++) whole += f->gaps[m].missing == 0;
    if (whole > 0) {
        printf(ROW, "without gaps");
        for (int m = 0; m < n; m++)
            if (f->gaps[m].missing == 0) print_word(&w, sn_recording_label(recording, m));
        putchar('\n');
    }
    if (whole < n) printf(ROW "missing       %%   longest gap\n", "with gaps");
    for (int m = 0; m < n; m++)
        if (f->gaps[m].missing > 0)
            printf("    %-17s %7d  %6.1f   %11d%s\n", sn_recording_label(recording, m),
                   f->gaps[m].missing, 100.0 * f->gaps[m].missing / f->nframe, f->gaps[m].longest,
                   f->gaps[m].missing == f->nframe ? "  (no data)" : "");
}

static void print_model(const sn_model *m) {
    tree t = tree_of(m);
    printf(ROW "%d in %d chain%s, depth %d, root \"%s\"\n", "joints", sn_model_njoint(m), t.leaves,
           t.leaves == 1 ? "" : "s", sn_model_depth(m), sn_model_joint(m, sn_model_root(m))->name);
    printf(ROW, "types");
    words w = {0};
    char word[64];
    for (int k = 0; k < SN_JOINT_TYPE_COUNT; k++) {
        if (t.types[k] == 0) continue;
        (void)snprintf(word, sizeof word, "%d %s", t.types[k],
                       sn_joint_type_name((sn_joint_type)k));
        print_word(&w, word);
    }
    printf("\n" ROW "%d (%d coordinates), %d with limits, %d locked, %d with a strength\n",
           "degrees of freedom", sn_model_nv(m), sn_model_nq(m), t.limited, t.locked, t.strong);
    printf(ROW "%zu entries", "Hessian", t.entries);
    if (t.dense > 0) printf(", %.0f %% of a full triangle", 100 * (double)t.entries / t.dense);
    putchar('\n');
    if (sn_model_nmarker(m) == 0) return;
    printf(ROW "%d\n" ROW, "markers", sn_model_nmarker(m), "");
    w = (words){0};
    for (int i = 0; i < sn_model_nmarker(m); i++) print_word(&w, sn_model_marker(m, i)->name);
    putchar('\n');
}

// Robots: every chain's tip, and every joint's range and speed. A chain's tip is the link farthest out, or
// the joint where links are not named.
static const char *tip_of(const sn_model *m, int leaf) {
    const char *name = sn_model_joint(m, leaf)->name;
    for (int i = 0; i < sn_model_nmarker(m); i++)
        if (sn_model_marker(m, i)->joint == leaf) name = sn_model_marker(m, i)->name;
    return name;
}

// What a coordinate follows; NULL when it moves on its own.
static const sn_coupling_desc *coupling_of(const sn_model *m, int joint, int k) {
    for (int c = 0; c < sn_model_ncoupling(m); c++) {
        const sn_coupling_desc *d = sn_model_coupling(m, c);
        if (d->follower.joint == joint && d->follower.index == k) return d;
    }
    return NULL;
}

static void print_range(const sn_model *m, int joint, int k) {
    int v = sn_model_v_index(m, joint) + k;
    double low = sn_model_lower(m)[v], high = sn_model_upper(m)[v];
    const char *unit = sn_model_is_length(m, joint, k) ? "m" : "rad";
    if (low == -INFINITY && high == INFINITY)
        printf("  without limits");
    else
        printf("  %.6g to %.6g %s", low, high, unit);
    if (sn_model_joint(m, joint)->speed[k] > 0)
        printf(", %.6g %s/s", sn_model_joint(m, joint)->speed[k], unit);
    const sn_coupling_desc *d = coupling_of(m, joint, k);
    for (int i = 0; d != NULL && i < d->nleader; i++)
        printf("%s%s", i == 0 ? ", follows " : " and ",
               sn_model_joint(m, d->leader[i].joint)->name);
}

static void print_robot(const sn_model *m) {
    words w = {0};
    char word[SN_MAX_NAME + 40];
    printf(ROW, "chains, by tip");
    for (int leaf = sn_model_next_leaf(m, -1); leaf >= 0; leaf = sn_model_next_leaf(m, leaf)) {
        int moving = 0;
        for (int j = leaf; j >= 0; j = sn_model_parent(m, j))
            for (int k = 0; k < sn_model_joint_nv(m, j); k++)
                moving += coupling_of(m, j, k) == NULL;
        (void)snprintf(word, sizeof word, "%s (%d)", tip_of(m, leaf), moving);
        print_word(&w, word);
    }
    putchar('\n');
    const char *row = "joints that move";
    for (int j = 0; j < sn_model_njoint(m); j++) {
        const sn_joint_desc *d = sn_model_joint(m, j);
        if (sn_model_joint_nv(m, j) == 0) continue;
        printf(ROW "%s, %s", row, d->name, sn_joint_type_name(d->type));
        row = "";
        for (int k = 0;
             k < sn_model_joint_nv(m, j) && d->type != SN_JOINT_FREE && d->type != SN_JOINT_BALL;
             k++)
            print_range(m, j, k);
        putchar('\n');
    }
}

static void print_columns(const sn_table *table) {
    const sn_table_info *info = sn_table_about(table);
    words w = {0};
    printf(ROW "%d\n" ROW, "columns", info->ncolumn, "");
    for (int i = 0; i < info->ncolumn; i++) print_word(&w, sn_table_column(table, i));
    putchar('\n');
}

static void print_set(const sn_marker_set *set) {
    int n = sn_marker_set_count(set), placed = 0;
    words w = {0};
    for (int i = 0; i < n; i++) placed += sn_marker_set_place(set, i)->placed;
    printf(ROW "%d, %d with a position\n" ROW, "markers", n, placed, "");
    for (int i = 0; i < n; i++) {
        char word[SN_MAX_LABEL + SN_MAX_NAME + 8];
        const sn_marker_place *p = sn_marker_set_place(set, i);
        (void)snprintf(word, sizeof word, "%s on %s", p->name, p->joint);
        print_word(&w, word);
    }
    putchar('\n');
}

void print_info_text(const file_facts *f) {
    const sn_document *d = &f->in->document;
    print_title(f);
    print_frames(f);
    print_world(f);
    if (d->recording != NULL) print_gaps(f);
    if (d->model != NULL) print_model(d->model);
    if (d->format == SN_FORMAT_URDF || d->format == SN_FORMAT_MJCF) print_robot(d->model);
    if (d->table != NULL) print_columns(d->table);
    if (f->in->set != NULL) print_set(f->in->set);
    if (d->format == SN_FORMAT_AMC)
        printf(ROW "%d%s\n" ROW "%d\n", f->in->partner != NULL ? "joints" : "bones", f->joints,
               f->in->partner != NULL ? " of the skeleton" : ", the root among them",
               f->in->partner != NULL ? "degrees of freedom" : "numbers in a frame", f->dofs);
    for (int i = 0; i < f->nnote; i++) printf(ROW "%s\n", "note", f->notes[i]);
}

// --- JSON ----------------------------------------------------------------------------------------

static void key(const char *name) { printf(",\"%s\":", name); }

static void key_text(const char *name, const char *text) {
    key(name);
    if (text == NULL || text[0] == '\0') {
        printf("null");
    } else {
        print_json_string(text);
    }
}

static void key_count(const char *name, int count) {
    if (count < 0) {
        printf(",\"%s\":null", name);
    } else {
        printf(",\"%s\":%d", name, count);
    }
}

static void key_number(const char *name, double x) {
    key(name);
    if (x > 0) {
        print_number(x);
    } else {
        printf("null");
    }
}

typedef const char *name_of(const file_facts *f, int i);

static const char *label_of(const file_facts *f, int i) {
    return sn_recording_label(f->in->document.recording, i);
}
static const char *marker_of(const file_facts *f, int i) {
    return sn_model_marker(f->in->document.model, i)->name;
}
static const char *place_of(const file_facts *f, int i) {
    return sn_marker_set_place(f->in->set, i)->name;
}
static const char *column_of(const file_facts *f, int i) {
    return sn_table_column(f->in->document.table, i);
}
static const char *note_of(const file_facts *f, int i) { return f->notes[i]; }

static void key_names(const char *name, const file_facts *f, int count, name_of *get) {
    printf(",\"%s\":[", name);
    for (int i = 0; i < count; i++) {
        if (i > 0) putchar(',');
        print_json_string(get(f, i));
    }
    putchar(']');
}

static void print_labels(const file_facts *f) {
    const sn_document *d = &f->in->document;
    if (d->recording != NULL) {
        int n = sn_recording_about(d->recording)->nmarker;
        key_names("labels", f, n, label_of);
        printf(",\"missing\":[");
        for (int i = 0; i < n; i++) printf("%s%d", i > 0 ? "," : "", f->gaps[i].missing);
        printf("],\"longest_gaps\":[");
        for (int i = 0; i < n; i++) printf("%s%d", i > 0 ? "," : "", f->gaps[i].longest);
        printf("]");
        return;
    }
    if (d->model != NULL) {
        key_names("labels", f, sn_model_nmarker(d->model), marker_of);
    } else if (f->in->set != NULL) {
        key_names("labels", f, sn_marker_set_count(f->in->set), place_of);
    } else {
        printf(",\"labels\":null");
    }
    printf(",\"missing\":null");
}

static void print_model_json(const sn_model *m) {
    tree t = tree_of(m);
    key_text("name", sn_model_name(m));
    printf(",\"nq\":%d,\"nv\":%d,\"depth\":%d,\"chains\":%d", sn_model_nq(m), sn_model_nv(m),
           sn_model_depth(m), t.leaves);
    key_text("root", sn_model_joint(m, sn_model_root(m))->name);
    printf(",\"types\":{");
    for (int k = 0, n = 0; k < SN_JOINT_TYPE_COUNT; k++)
        if (t.types[k] > 0)
            printf("%s\"%s\":%d", n++ > 0 ? "," : "", sn_joint_type_name((sn_joint_type)k),
                   t.types[k]);
    printf("},\"tips\":[");
    for (int leaf = sn_model_next_leaf(m, -1), n = 0; leaf >= 0;
         leaf = sn_model_next_leaf(m, leaf)) {
        if (n++ > 0) putchar(',');
        print_json_string(tip_of(m, leaf));
    }
    printf("],\"coordinates\":[");
    for (int j = 0, n = 0; j < sn_model_njoint(m); j++)
        for (int k = 0; k < sn_model_joint_nv(m, j); k++) {
            int v = sn_model_v_index(m, j) + k;
            printf("%s{\"joint\":", n++ > 0 ? "," : "");
            print_json_string(sn_model_joint(m, j)->name);
            printf(",\"lower\":");
            print_number(sn_model_lower(m)[v]);
            printf(",\"upper\":");
            print_number(sn_model_upper(m)[v]);
            key_number("speed", sn_model_joint(m, j)->speed[k]);
            const sn_coupling_desc *d = coupling_of(m, j, k);
            printf(",\"follows\":[");
            for (int i = 0; d != NULL && i < d->nleader; i++) {
                if (i > 0) putchar(',');
                print_json_string(sn_model_joint(m, d->leader[i].joint)->name);
            }
            printf("]}");
        }
    printf("],\"limits\":%d,\"locked\":%d,\"markers\":%d,\"hessian_entries\":%zu,\"hessian_dense\":"
           "%.0f",
           t.limited, t.locked, sn_model_nmarker(m), t.entries, t.dense);
}

void print_info_json(const file_facts *f) {
    const sn_document *d = &f->in->document;
    printf("{\"file\":");
    print_json_string(f->in->path);
    key_text("format", format_name(f));
    key_count("frames", f->nframe);
    if (f->nframe >= 0) {
        printf(",\"first_frame\":%d", f->first_frame);
    } else {
        printf(",\"first_frame\":null");
    }
    key_number("rate", f->rate);
    key_number("duration", f->rate > 0 ? f->nframe / f->rate : 0);
    printf(",\"start\":");
    if (f->rate > 0 && f->nframe > 0) {
        print_number(start_time(f));
    } else {
        printf("null");
    }
    key_text("units", f->world.unit);
    key_text("units_known", f->world.unit_known);
    key_number("metres_per_unit", f->world.metres);
    key_text("up", f->world.up_text);
    key_text("up_known", f->world.up_known);
    print_labels(f);
    key_count("joints", f->joints);
    key_count("dofs", f->dofs);
    if (d->model != NULL) print_model_json(d->model);
    if (d->table != NULL) {
        const sn_table_info *info = sn_table_about(d->table);
        if (d->format == SN_FORMAT_MOT)
            key_text("angles", info->in_degrees ? "degrees" : "radians");
        key_names("columns", f, info->ncolumn, column_of);
    }
    if (f->in->partner != NULL) key_text("skeleton", f->in->partner->path);
    key_names("notes", f, f->nnote, note_of);
    putchar('}');
}
