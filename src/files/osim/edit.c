// SPDX-License-Identifier: MIT
#include "files/osim/edit.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

sn_status sn_edits_begin(sn_edits *e, const char *text, size_t length,
                         const sn_allocator *allocator, sn_error *error) {
    *e = (sn_edits){
        .allocator = allocator, .error = error, .text = text, .length = length, .newline = "\n"};
    const char *line = length > 0 ? memchr(text, '\n', length) : NULL;
    if (line != NULL && line > text && line[-1] == '\r') e->newline = "\r\n";
    return sn_xml_tree_read(&e->tree, text, length, allocator, error);
}

void sn_edits_end(sn_edits *e) {
    sn_xml_tree_end(&e->tree, e->allocator);
    sn_release(e->allocator, e->edit);
    sn_release(e->allocator, e->added);
    *e = (sn_edits){0};
}

static bool grow(sn_edits *e, void *list, size_t *capacity, size_t need, size_t size) {
    void *items;
    memcpy(&items, list, sizeof items);
    if (sn_grow(e->allocator, &items, capacity, need, size) != SN_OK) e->failed = true;
    memcpy(list, &items, sizeof items);
    return !e->failed;
}

void sn_edits_more(sn_edits *e, const char *with, size_t length) {
    if (e->failed || e->nedit == 0) return;
    if (!grow(e, &e->added, &e->added_capacity, e->nadded + length + 1, 1)) return;
    if (length > 0) memcpy(e->added + e->nadded, with, length);
    e->nadded += length;
    e->edit[e->nedit - 1].nadded += length;
}

void sn_edits_more_escaped(sn_edits *e, const char *with) {
    static const struct {
        char sign;
        const char *word;
    } words[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    for (; *with != '\0'; with++) {
        const char *word = NULL;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (words[i].sign == *with) word = words[i].word;
        if (word != NULL)
            sn_edits_more(e, word, strlen(word));
        else
            sn_edits_more(e, with, 1);
    }
}

void sn_edits_more_number(sn_edits *e, double value) {
    char text[SN_NUMBER_TEXT];
    sn_number_print(value, text);
    sn_edits_more(e, text, strlen(text));
}

void sn_edits_replace(sn_edits *e, size_t from, size_t to, const char *with) {
    if (e->failed) return;
    if (!grow(e, &e->edit, &e->edit_capacity, e->nedit + 1, sizeof *e->edit)) return;
    e->edit[e->nedit] = (sn_edit){from, to, e->nadded, 0, e->nedit};
    e->nedit++;
    sn_edits_more(e, with, strlen(with));
}

// --- numbers -------------------------------------------------------------------------------------

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The next plain word of from..to; comments are passed over. False when there is none, or something that is no
// plain text.
static bool next_word(const char *text, size_t *from, size_t to, sn_word *out) {
    size_t at = *from;
    for (;;) {
        while (at < to && is_space(text[at])) at++;
        if (to - at < 4 || memcmp(text + at, "<!--", 4) != 0) break;
        for (at += 4; at + 3 <= to && memcmp(text + at, "-->", 3) != 0;) at++;
        at += 3;
        if (at > to) return false;
    }
    size_t begin = at;
    while (at < to && !is_space(text[at]) && text[at] != '<' && text[at] != '&') at++;
    *out = (sn_word){text + begin, at - begin};
    *from = at;
    return at > begin;
}

void sn_edits_numbers(sn_edits *e, int node, int count, const double *values) {
    const sn_xml_node *n = &e->tree.node[node];
    size_t at = n->inside;
    sn_word word[9];
    int found = 0;
    while (found < 9 && next_word(e->text, &at, n->close, &word[found])) found++;
    bool plain = found == count;
    for (size_t i = at; i < n->close; i++) plain = plain && is_space(e->text[i]);
    double now;
    for (int i = 0; i < count && plain; i++) plain = sn_word_number(word[i], &now);
    for (int i = 0; i < count && plain; i++) {
        if (sn_word_number(word[i], &now) && now == values[i]) continue;
        size_t from = (size_t)(word[i].text - e->text);
        sn_edits_replace(e, from, from + word[i].length, "");
        sn_edits_more_number(e, values[i]);
    }
    if (plain) return;
    sn_edits_replace(e, n->inside, n->close, "");
    for (int i = 0; i < count; i++) {
        if (i > 0) sn_edits_more(e, " ", 1);
        sn_edits_more_number(e, values[i]);
    }
}

void sn_edits_indent(const sn_edits *e, int node, char *out, size_t size) {
    size_t to = e->tree.node[node].from, from = to;
    while (from > 0 && (e->text[from - 1] == ' ' || e->text[from - 1] == '\t')) from--;
    size_t n = to - from;
    bool line = from == 0 || e->text[from - 1] == '\n';
    if (!line || n >= size) n = 0;
    memcpy(out, e->text + from, n);
    out[n] = '\0';
}

// --- all of them ---------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    const sn_edit *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

sn_status sn_edits_apply(sn_edits *e, char **out, size_t *length) {
    *out = NULL;
    *length = 0;
    if (e->failed) return sn_fail_memory(e->error);
    if (e->nedit > 1) qsort(e->edit, e->nedit, sizeof *e->edit, compare);
    char *to = sn_acquire(e->allocator, e->length + e->nadded + 1);
    if (to == NULL) return sn_fail_memory(e->error);
    size_t at = 0, n = 0;
    for (size_t i = 0; i < e->nedit; i++) {
        const sn_edit *x = &e->edit[i];
        // one inside another has gone with it
        if (x->from < at) continue;
        memcpy(to + n, e->text + at, x->from - at);
        n += x->from - at;
        if (x->nadded > 0) memcpy(to + n, e->added + x->added, x->nadded);
        n += x->nadded;
        at = x->to;
    }
    memcpy(to + n, e->text + at, e->length - at);
    n += e->length - at;
    to[n] = '\0';
    *out = to;
    *length = n;
    return SN_OK;
}
