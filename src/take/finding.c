// SPDX-License-Identifier: MIT
// Findings: what a person should know about a take, as codes and numbers. sentence.c has the words.
#include <stdio.h>
#include <string.h>

#include "take/take.h"

typedef struct kind {
    const char *name;
    sn_severity severity;
    const char *numbers;
} kind;

static const kind kinds[SN_FINDING_COUNT] = {
#define SN_FINDING_ENTRY(code, name, severity, numbers) {name, SN_SEVERITY_##severity, numbers},
    SN_FINDING_LIST(SN_FINDING_ENTRY)
#undef SN_FINDING_ENTRY
};

const char *sn_finding_name(sn_finding_code code) {
    return (unsigned)code < SN_FINDING_COUNT ? kinds[code].name : "unknown";
}

const char *sn_severity_name(sn_severity severity) {
    return severity == SN_SEVERITY_NOTE      ? "note"
           : severity == SN_SEVERITY_WARNING ? "warning"
                                             : "error";
}

// Where the i-th word of a list begins; its length.
static size_t word_at(const char *words, int i, const char **begin) {
    for (; i > 0 && *words != '\0'; i--) {
        words += strcspn(words, " ");
        words += *words == ' ';
    }
    *begin = words;
    return strcspn(words, " ");
}

void sn_finding_number_name(sn_finding_code code, int i, char out[16]) {
    const char *begin = "";
    size_t n = 0;
    if (out == NULL) return;
    if ((unsigned)code < SN_FINDING_COUNT && i >= 0) n = word_at(kinds[code].numbers, i, &begin);
    if (n > 15) n = 15;
    memcpy(out, begin, n);
    out[n] = '\0';
}

int sn_take_nfinding(const sn_take *take) { return take != NULL ? (int)take->nfinding : 0; }

const sn_finding *sn_take_finding(const sn_take *take, int i) {
    return take != NULL && i >= 0 && (size_t)i < take->nfinding ? &take->finding[i] : NULL;
}

// --- adding --------------------------------------------------------------------------------------

sn_finding *sn_take_add(sn_take *take, sn_finding_code code, const char *text) {
    size_t length = text != NULL ? strlen(text) : 0;
    void *items = take->finding;
    sn_status status =
        sn_grow(&take->allocator, &items, &take->room, take->nfinding + 1, sizeof *take->finding);
    take->finding = items;
    char *copy = status == SN_OK ? sn_acquire(&take->allocator, length + 1) : NULL;
    if (copy == NULL) return NULL;
    if (length > 0) memcpy(copy, text, length);
    copy[length] = '\0';
    sn_finding *f = &take->finding[take->nfinding++];
    *f = (sn_finding){.code = code,
                      .severity = kinds[code].severity,
                      .marker = -1,
                      .other = -1,
                      .joint = -1,
                      .text = copy};
    const char *begin;
    while (f->nnumber < SN_FINDING_NUMBERS && word_at(kinds[code].numbers, f->nnumber, &begin) > 0)
        f->nnumber++;
    return f;
}

sn_status sn_take_note(sn_take *take, sn_finding_code code, const char *text, double a, double b) {
    sn_finding *f = sn_take_add(take, code, text);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = a;
    f->number[1] = b;
    return SN_OK;
}

sn_status sn_take_refuse(sn_take *take, sn_finding_code code, const char *text, double a,
                         double b) {
    SN_TRY(sn_take_note(take, code, text, a, b));
    return SN_ERR_VALUE;
}

sn_status sn_take_fail(sn_take *take, sn_finding_code code, sn_status status,
                       const sn_error *error) {
    if (status == SN_OK || status == SN_ERR_MEMORY || status == SN_ERR_CANCELLED) return status;
    SN_TRY(sn_take_note(take, code, error->text[0] != '\0' ? error->text : sn_status_text(status),
                        0, 0));
    return status;
}

// --- lists of names ------------------------------------------------------------------------------

void sn_name_list_add(sn_name_list *list, const char *name) {
    size_t used = strlen(list->text), n = strlen(name);
    list->count++;
    // once one is left out, so are the others
    if (list->more > 0 || used + n + 3 > sizeof list->text) {
        list->more++;
        return;
    }
    (void)snprintf(list->text + used, sizeof list->text - used, "%s%s", used > 0 ? ", " : "", name);
}

void sn_name_list_print(const sn_name_list *list, char *out) {
    size_t room = sizeof list->text + 40;
    if (list->more > 0)
        (void)snprintf(out, room, "%s and %d more", list->text, list->more);
    else
        (void)snprintf(out, room, "%s", list->text);
}
