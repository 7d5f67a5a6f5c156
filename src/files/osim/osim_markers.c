// SPDX-License-Identifier: MIT
// Markers of .osim files and of MarkerSet files, read and edited in place.
#include <string.h>

#include "files/osim/scale.h"
#include "files/osim/setup.h"

// --- reading -------------------------------------------------------------------------------------

static int find_set(const sn_xml_tree *t) {
    int model = sn_setup_find_tool(t, "Model");
    return model >= 0 ? sn_xml_tree_find(t, model, "MarkerSet")
                      : sn_setup_find_tool(t, "MarkerSet");
}

static sn_status read_mark(const sn_xml_tree *t, int k, sn_osim_mark *out, sn_error *error) {
    int place = sn_xml_tree_find(t, k, "location");
    *out = (sn_osim_mark){.name = sn_xml_tree_label(t, k),
                          .frame = sn_osim_socket(t, k, "socket_parent_frame"),
                          .line = sn_xml_tree_line(t, k)};
    if (out->frame[0] == '\0') out->frame = sn_xml_tree_text(t, sn_xml_tree_find(t, k, "body"));
    if (out->name[0] == '\0')
        return sn_fail(error, SN_ERR_PARSE, out->line, "a <Marker> has no name=\"...\"");
    if (out->frame[0] == '\0')
        return sn_fail(error, SN_ERR_PARSE, out->line, "marker \"%.60s\" states no body",
                       out->name);
    SN_TRY(sn_xml_tree_numbers(t, place, 3, out->location, error));
    return sn_xml_tree_flag(t, sn_xml_tree_find(t, k, "fixed"), &out->fixed, error);
}

sn_status sn_osim_marks_read(const sn_xml_tree *t, const sn_allocator *allocator,
                             sn_osim_mark **out, int *count, sn_error *error) {
    int set = find_set(t), list = sn_xml_tree_find(t, set, "objects"), n = 0;
    *out = NULL;
    *count = 0;
    if (set < 0 && sn_setup_find_tool(t, "Model") < 0)
        return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(t, 0), "there is no <MarkerSet> here");
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k))
        n += sn_xml_tree_is(t, k, "Marker");
    sn_osim_mark *marks = sn_acquire(allocator, ((size_t)n + 1) * sizeof *marks);
    if (marks == NULL) return sn_fail_memory(error);
    n = 0;
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k)) {
        if (!sn_xml_tree_is(t, k, "Marker")) continue;
        sn_status status = read_mark(t, k, &marks[n], error);
        for (int i = 0; i < n && status == SN_OK; i++)
            if (strcmp(marks[i].name, marks[n].name) == 0)
                status =
                    sn_fail(error, SN_ERR_PARSE, marks[n].line,
                            "marker \"%.60s\" is on line %d, too", marks[n].name, marks[i].line);
        if (status != SN_OK) {
            sn_release(allocator, marks);
            return status;
        }
        n++;
    }
    *out = marks;
    *count = n;
    return SN_OK;
}

// --- writing -------------------------------------------------------------------------------------

static void put(sn_edits *e, const char *text) { sn_edits_more(e, text, strlen(text)); }

// What a marker sits on: a body by its path, an offset frame as the file states it.
static void put_frame(sn_edits *e, const sn_osim_mark *m, const char *body, bool version3) {
    const char *slash = strrchr(m->frame, '/'), *name = slash != NULL ? slash + 1 : m->frame;
    if (body == NULL || strcmp(name, body) != 0) {
        sn_edits_more_escaped(e, m->frame);
        return;
    }
    if (!version3) put(e, strcmp(body, "ground") == 0 ? "/" : "/bodyset/");
    sn_edits_more_escaped(e, body);
}

// A marker on lines of its own behind the last edit, as the model's version writes it.
static void put_mark(sn_edits *e, const sn_osim_mark *m, const char *body, bool version3,
                     const char *indent) {
    const char *tag = version3 ? "body" : "socket_parent_frame";
    put(e, "<Marker name=\"");
    sn_edits_more_escaped(e, m->name);
    put(e, "\">");
    for (int i = 0; i < 3; i++) {
        put(e, e->newline);
        put(e, indent);
        put(e, "\t<");
        const char *name = i == 0 ? tag : i == 1 ? "location" : "fixed";
        put(e, name);
        put(e, ">");
        if (i == 0) {
            put_frame(e, m, body, version3);
        } else if (i == 1) {
            for (int x = 0; x < 3; x++) {
                if (x > 0) put(e, " ");
                sn_edits_more_number(e, m->location[x]);
            }
        } else {
            put(e, m->fixed ? "true" : "false");
        }
        put(e, "</");
        put(e, name);
        put(e, ">");
    }
    put(e, e->newline);
    put(e, indent);
    put(e, "</Marker>");
}

// Bytes of a tag that opens and closes at once, up to its slash: <objects /> becomes <objects>.
static size_t before_slash(const sn_edits *e, int k) {
    size_t at = e->tree.node[k].inside;
    while (at > e->tree.node[k].from && e->text[at - 1] != '/') at--;
    for (at--; at > e->tree.node[k].from && strchr(" \t\r\n", e->text[at - 1]) != NULL;) at--;
    return at;
}

// Begin an edit that adds lines at the end of an element, and say what its own lines begin with.
static void open_end(sn_edits *e, int k, char *indent, size_t size) {
    const sn_xml_node *n = &e->tree.node[k];
    sn_edits_indent(e, k, indent, size);
    if (n->inside == n->end) {
        sn_edits_replace(e, before_slash(e, k), n->end, ">");
        return;
    }
    size_t at = n->close;
    while (at > n->inside && strchr(" \t\r\n", e->text[at - 1]) != NULL) at--;
    sn_edits_replace(e, at, n->close, "");
}

static void close_end(sn_edits *e, int k, const char *indent) {
    const sn_xml_node *n = &e->tree.node[k];
    put(e, e->newline);
    put(e, indent);
    if (n->inside != n->end) return;
    put(e, "</");
    put(e, sn_xml_tree_name(&e->tree, k));
    put(e, ">");
}

static int find_mark(const sn_xml_tree *t, int list, const char *name) {
    for (int k = sn_xml_tree_first(t, list); k >= 0; k = sn_xml_tree_next(t, k))
        if (sn_xml_tree_is(t, k, "Marker") && strcmp(sn_xml_tree_label(t, k), name) == 0) return k;
    return -1;
}

// Where new markers go: <objects> of the set, or what must be made first.
static void put_new(sn_edits *e, const sn_osim_frames *f, const sn_osim_mark *marks, int count) {
    const sn_xml_tree *t = &e->tree;
    int set = sn_xml_tree_find(t, f->model, "MarkerSet");
    int list = sn_xml_tree_find(t, set, "objects"), into = list >= 0 ? list : set;
    const char *open = list >= 0 ? "" : set >= 0 ? "<objects>" : "<MarkerSet><objects>";
    const char *close = list >= 0 ? "" : set >= 0 ? "</objects>" : "</objects></MarkerSet>";
    char indent[100];
    bool begun = false;
    if (into < 0) into = f->model;
    for (int i = 0; i < count; i++) {
        if (find_mark(t, list, marks[i].name) >= 0) continue;
        if (!begun) {
            open_end(e, into, indent, sizeof indent - 1);
            if (*open != '\0') put(e, e->newline), put(e, indent), put(e, open);
            strcat(indent, "\t");
        }
        begun = true;
        put(e, e->newline);
        put(e, indent);
        put_mark(e, &marks[i], sn_osim_frames_find(f, -1, marks[i].frame), f->joints_in_bodies,
                 indent);
    }
    if (!begun) return;
    indent[strlen(indent) - 1] = '\0';
    if (*close != '\0') put(e, e->newline), put(e, indent), put(e, close);
    close_end(e, into, indent);
}

static sn_status add_marks(sn_edits *e, const sn_osim_frames *f, const sn_osim_mark *marks,
                           int count) {
    const sn_xml_tree *t = &e->tree;
    int list = sn_xml_tree_find(t, sn_xml_tree_find(t, f->model, "MarkerSet"), "objects");
    for (int i = 0; i < count; i++) {
        const sn_osim_mark *m = &marks[i];
        const char *body = sn_osim_frames_find(f, -1, m->frame);
        if (body == NULL)
            return sn_fail(e->error, SN_ERR_PARSE, m->line,
                           "marker \"%.60s\" is on \"%.60s\", and the model has no such body",
                           m->name, m->frame);
        int k = find_mark(t, list, m->name);
        sn_osim_mark old;
        char indent[100];
        if (k < 0) continue;
        SN_TRY(read_mark(t, k, &old, e->error));
        const char *before = sn_osim_frames_find(f, -1, old.frame);
        bool same = before != NULL && strcmp(before, body) == 0 && old.fixed == m->fixed;
        for (int x = 0; x < 3; x++) same = same && old.location[x] == m->location[x];
        if (same) continue;
        sn_edits_indent(e, k, indent, sizeof indent);
        sn_edits_replace(e, t->node[k].from, t->node[k].end, "");
        put_mark(e, m, body, f->joints_in_bodies, indent);
    }
    put_new(e, f, marks, count);
    return SN_OK;
}

sn_status sn_osim_marks_add(const char *text, size_t length, const sn_osim_mark *marks, int count,
                            const sn_allocator *allocator, char **out, size_t *out_length,
                            sn_error *error) {
    sn_edits e;
    sn_osim_frames f = {0};
    *out = NULL;
    sn_status status = sn_edits_begin(&e, text, length, allocator, error);
    if (status == SN_OK) status = sn_osim_frames_make(&e.tree, allocator, &f, error);
    if (status == SN_OK) status = add_marks(&e, &f, marks, count);
    if (status == SN_OK) status = sn_edits_apply(&e, out, out_length);
    sn_osim_frames_end(&f, allocator);
    sn_edits_end(&e);
    return status;
}

// --- moving --------------------------------------------------------------------------------------

// An element and the line it stands on alone.
static void take_out(sn_edits *e, int k) {
    size_t from = e->tree.node[k].from, to = e->tree.node[k].end;
    while (from > 0 && strchr(" \t", e->text[from - 1]) != NULL) from--;
    if (from > 0 && e->text[from - 1] == '\n') from--;
    if (from > 0 && e->text[from - 1] == '\r') from--;
    sn_edits_replace(e, from, to, "");
}

// A location in place; where there is none, one at the end.
static void move_mark(sn_edits *e, int k, const sn_osim_mark *m) {
    int at = sn_xml_tree_find(&e->tree, k, "location");
    char indent[100];
    if (at >= 0 && e->tree.node[at].inside != e->tree.node[at].end) {
        sn_edits_numbers(e, at, 3, m->location);
        return;
    }
    if (at >= 0) take_out(e, at);
    open_end(e, k, indent, sizeof indent);
    put(e, e->newline);
    put(e, indent);
    put(e, "\t<location>");
    for (int x = 0; x < 3; x++) {
        if (x > 0) put(e, " ");
        sn_edits_more_number(e, m->location[x]);
    }
    put(e, "</location>");
    close_end(e, k, indent);
}

static void move_marks(sn_edits *e, const char *name, const sn_osim_mark *marks, int count,
                       const char *const *gone, int ngone) {
    const sn_xml_tree *t = &e->tree;
    int model = sn_setup_find_tool(t, "Model");
    int list = sn_xml_tree_find(t, find_set(t), "objects");
    for (int i = 0; i < count; i++) {
        int k = find_mark(t, list, marks[i].name);
        if (k >= 0) move_mark(e, k, &marks[i]);
    }
    for (int i = 0; i < ngone; i++) {
        int k = find_mark(t, list, gone[i]);
        if (k >= 0) take_out(e, k);
    }
    if (*name == '\0' || model < 0 || strcmp(name, sn_xml_tree_label(t, model)) == 0) return;
    const sn_xml_node *n = &t->node[model];
    if (n->label_from == 0) return;
    sn_edits_replace(e, n->label_from, n->label_to, "");
    sn_edits_more_escaped(e, name);
}

sn_status sn_osim_marks_move(const char *text, size_t length, const char *name,
                             const sn_osim_mark *marks, int count, const char *const *gone,
                             int ngone, const sn_allocator *allocator, char **out,
                             size_t *out_length, sn_error *error) {
    sn_edits e;
    *out = NULL;
    sn_status status = sn_edits_begin(&e, text, length, allocator, error);
    if (status == SN_OK) {
        move_marks(&e, name, marks, count, gone, ngone);
        status = sn_edits_apply(&e, out, out_length);
    }
    sn_edits_end(&e);
    return status;
}

// --- a set of its own ----------------------------------------------------------------------------

// OpenSim reads sets of either version into models of either; version 4 is what it writes today.
static void print_set(sn_edits *e, const sn_osim_mark *marks, int count, const sn_osim_frames *f) {
    bool version3 = f->joints_in_bodies;
    sn_edits_replace(e, 0, e->length, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>");
    put(e, e->newline);
    put(e,
        version3 ? "<OpenSimDocument Version=\"30000\">" : "<OpenSimDocument Version=\"40000\">");
    put(e, e->newline);
    put(e, "\t<MarkerSet name=\"");
    sn_edits_more_escaped(e, sn_xml_tree_label(&e->tree, f->model));
    put(e, "\">");
    put(e, e->newline);
    put(e, "\t\t<objects>");
    for (int i = 0; i < count; i++) {
        put(e, e->newline);
        put(e, "\t\t\t");
        put_mark(e, &marks[i], sn_osim_frames_find(f, -1, marks[i].frame), version3, "\t\t\t");
    }
    static const char *const ends[] = {"\t\t</objects>", "\t\t<groups />", "\t</MarkerSet>",
                                       "</OpenSimDocument>", ""};
    for (int i = 0; i < 5; i++) put(e, e->newline), put(e, ends[i]);
}

sn_status sn_osim_marks_print(const char *text, size_t length, const sn_allocator *allocator,
                              char **out, size_t *out_length, sn_error *error) {
    sn_edits e;
    sn_osim_frames f = {0};
    sn_osim_mark *marks = NULL;
    int count = 0;
    *out = NULL;
    sn_status status = sn_edits_begin(&e, text, length, allocator, error);
    if (status == SN_OK) status = sn_osim_frames_make(&e.tree, allocator, &f, error);
    if (status == SN_OK) status = sn_osim_marks_read(&e.tree, allocator, &marks, &count, error);
    if (status == SN_OK) {
        print_set(&e, marks, count, &f);
        status = sn_edits_apply(&e, out, out_length);
    }
    sn_release(allocator, marks);
    sn_osim_frames_end(&f, allocator);
    sn_edits_end(&e);
    return status;
}
