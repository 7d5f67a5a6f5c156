// SPDX-License-Identifier: MIT
#include "files/xml_tree.h"

#include <string.h>

// Setup files have some hundreds; a limit well above the largest marker set.
enum { MOST_NODES = 1000000 };

static sn_status grow(const sn_allocator *allocator, void *list, size_t *capacity, size_t need,
                      size_t size, sn_error *error) {
    void *items;
    memcpy(&items, list, sizeof items);
    sn_status status = sn_grow(allocator, &items, capacity, need, size);
    memcpy(list, &items, sizeof items);
    return status == SN_OK ? SN_OK : sn_fail_memory(error);
}

// What is being read.
typedef struct reading {
    sn_xml xml;
    sn_xml_tree *tree;
    const char *begin;  // of the document
    const sn_allocator *allocator;
    sn_error *error;
    int open[SN_XML_DEPTH];  // nodes
    int last[SN_XML_DEPTH];  // the last element inside each, -1 for none
    char *text;              // of the innermost, as long as no element was inside
    size_t length, capacity;
} reading;

static sn_status keep(reading *r, const char *from, size_t length, size_t *at) {
    sn_xml_tree *t = r->tree;
    SN_TRY(grow(r->allocator, &t->texts, &t->texts_capacity, t->ntexts + length + 1, 1, r->error));
    *at = t->ntexts;
    memcpy(t->texts + *at, from, length);
    t->texts[*at + length] = '\0';
    t->ntexts += length + 1;
    return SN_OK;
}

static sn_status open_node(reading *r) {
    sn_xml_tree *t = r->tree;
    int depth = r->xml.depth - 1, id = (int)t->nnode;
    char value[SN_XML_VALUE] = "";
    sn_xml_node n = {.line = r->xml.line, .first = -1, .next = -1, .parent = -1};
    n.from = (size_t)(r->xml.name.text - r->begin) - 1;
    n.inside = n.close = n.end = (size_t)(r->xml.at - r->begin);
    if (t->nnode == MOST_NODES)
        return sn_fail(r->error, SN_ERR_SIZE, r->xml.line, "the file has more than %d elements",
                       MOST_NODES);
    const sn_xml_attribute *label = sn_xml_find(&r->xml, "name");
    const sn_xml_attribute *file = sn_xml_find(&r->xml, "file");
    SN_TRY(keep(r, r->xml.name.text, r->xml.name.length, &n.name));
    if (label != NULL) {
        SN_TRY(sn_xml_value(&r->xml, label, value));
        n.label_from = (size_t)(label->value.text - r->begin);
        n.label_to = n.label_from + label->value.length;
    }
    SN_TRY(keep(r, value, strlen(value), &n.label));
    value[0] = '\0';
    if (file != NULL) SN_TRY(sn_xml_value(&r->xml, file, value));
    SN_TRY(keep(r, value, strlen(value), &n.file));
    SN_TRY(keep(r, "", 0, &n.text));
    SN_TRY(
        grow(r->allocator, &t->node, &t->node_capacity, t->nnode + 1, sizeof *t->node, r->error));
    t->node[t->nnode++] = n;
    if (depth > 0) {
        t->node[id].parent = r->open[depth - 1];
        int before = r->last[depth - 1];
        if (before >= 0)
            t->node[before].next = id;
        else
            t->node[r->open[depth - 1]].first = id;
        r->last[depth - 1] = id;
    }
    r->open[depth] = id;
    r->last[depth] = -1;
    r->length = 0;
    return SN_OK;
}

// A text counts where no element is inside.
static sn_status close_node(reading *r) {
    sn_xml_node *n = &r->tree->node[r->open[r->xml.depth]];
    n->end = (size_t)(r->xml.at - r->begin);
    // an end tag holds no other <
    n->close = n->end;
    while (n->close > n->inside && r->begin[--n->close] != '<') continue;
    size_t from = 0, to = r->length;
    while (from < to && r->text[from] == ' ') from++;
    while (to > from && r->text[to - 1] == ' ') to--;
    r->length = 0;
    if (n->first >= 0 || from == to) return SN_OK;
    size_t at;
    SN_TRY(keep(r, r->text + from, to - from, &at));
    r->tree->node[r->open[r->xml.depth]].text = at;
    return SN_OK;
}

static sn_status add_text(reading *r) {
    size_t written;
    SN_TRY(grow(r->allocator, &r->text, &r->capacity, r->length + r->xml.text.length + 1, 1,
                r->error));
    SN_TRY(sn_xml_text(&r->xml, r->text + r->length, &written));
    r->length += written;
    return SN_OK;
}

static sn_status read_all(reading *r) {
    for (;;) {
        sn_xml_event event;
        SN_TRY(sn_xml_next(&r->xml, &event));
        if (event == SN_XML_END) return SN_OK;
        if (event == SN_XML_OPEN) SN_TRY(open_node(r));
        if (event == SN_XML_TEXT) SN_TRY(add_text(r));
        if (event == SN_XML_CLOSE) SN_TRY(close_node(r));
    }
}

sn_status sn_xml_tree_read(sn_xml_tree *tree, const char *text, size_t length,
                           const sn_allocator *allocator, sn_error *error) {
    *tree = (sn_xml_tree){0};
    reading r = {.tree = tree, .begin = text, .allocator = allocator, .error = error};
    sn_xml_begin(&r.xml, text, length, error);
    sn_status status = read_all(&r);
    sn_release(allocator, r.text);
    return status;
}

void sn_xml_tree_end(sn_xml_tree *tree, const sn_allocator *allocator) {
    sn_release(allocator, tree->node);
    sn_release(allocator, tree->texts);
    *tree = (sn_xml_tree){0};
}

static bool has(const sn_xml_tree *tree, int node) {
    return node >= 0 && (size_t)node < tree->nnode;
}

const char *sn_xml_tree_name(const sn_xml_tree *tree, int node) {
    return has(tree, node) ? tree->texts + tree->node[node].name : "";
}

const char *sn_xml_tree_label(const sn_xml_tree *tree, int node) {
    return has(tree, node) ? tree->texts + tree->node[node].label : "";
}

const char *sn_xml_tree_file(const sn_xml_tree *tree, int node) {
    return has(tree, node) ? tree->texts + tree->node[node].file : "";
}

const char *sn_xml_tree_text(const sn_xml_tree *tree, int node) {
    return has(tree, node) ? tree->texts + tree->node[node].text : "";
}

int sn_xml_tree_line(const sn_xml_tree *tree, int node) {
    return has(tree, node) ? tree->node[node].line : 0;
}

bool sn_xml_tree_is(const sn_xml_tree *tree, int node, const char *name) {
    return has(tree, node) && strcmp(sn_xml_tree_name(tree, node), name) == 0;
}

int sn_xml_tree_first(const sn_xml_tree *tree, int node) {
    return has(tree, node) ? tree->node[node].first : -1;
}

int sn_xml_tree_next(const sn_xml_tree *tree, int node) {
    return has(tree, node) ? tree->node[node].next : -1;
}

int sn_xml_tree_find(const sn_xml_tree *tree, int node, const char *name) {
    int k = sn_xml_tree_first(tree, node);
    while (k >= 0 && !sn_xml_tree_is(tree, k, name)) k = tree->node[k].next;
    return k;
}

// --- values --------------------------------------------------------------------------------------

static bool next_word(const char **at, sn_word *out) {
    while (**at == ' ') ++*at;
    out->text = *at;
    while (**at != '\0' && **at != ' ') ++*at;
    out->length = (size_t)(*at - out->text);
    return out->length > 0;
}

sn_status sn_xml_tree_numbers(const sn_xml_tree *tree, int node, int count, double *out,
                              sn_error *error) {
    const char *at = sn_xml_tree_text(tree, node);
    sn_word word;
    int n = 0;
    if (*at == '\0') return SN_OK;
    for (; next_word(&at, &word); n++) {
        double number;
        if (!sn_word_extended(word, &number))
            return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(tree, node),
                           "<%.60s>: \"%.*s\" is not a number", sn_xml_tree_name(tree, node),
                           SN_WORD(word));
        if (n < count) out[n] = number;
    }
    if (n == count) return SN_OK;
    return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(tree, node),
                   "<%.60s> needs %d number%s, here are %d", sn_xml_tree_name(tree, node), count,
                   count > 1 ? "s" : "", n);
}

sn_status sn_xml_tree_number(const sn_xml_tree *tree, int node, double *out, sn_error *error) {
    return sn_xml_tree_numbers(tree, node, 1, out, error);
}

sn_status sn_xml_tree_flag(const sn_xml_tree *tree, int node, bool *out, sn_error *error) {
    const char *text = sn_xml_tree_text(tree, node);
    sn_word word = {text, strlen(text)};
    if (*text == '\0') return SN_OK;
    bool yes = sn_word_is(word, "true") || sn_word_is(word, "1");
    if (!yes && !sn_word_is(word, "false") && !sn_word_is(word, "0"))
        return sn_fail(error, SN_ERR_PARSE, sn_xml_tree_line(tree, node),
                       "<%.60s> is \"%.*s\", neither true nor false", sn_xml_tree_name(tree, node),
                       SN_WORD(word));
    *out = yes;
    return SN_OK;
}

const char *sn_xml_tree_word(const sn_xml_tree *tree, int node) {
    const char *text = sn_xml_tree_text(tree, node);
    return sn_word_is((sn_word){text, strlen(text)}, "unassigned") ? "" : text;
}
