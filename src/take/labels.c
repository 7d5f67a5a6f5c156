// SPDX-License-Identifier: MIT
// Whose markers they are: what stands before the names in a recording's labels.
#include <string.h>

#include "take/labels.h"
#include "take/take.h"

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool same_name(const char *a, const char *b) {
    while (*a != '\0' && lower(*a) == lower(*b)) a++, b++;
    return lower(*a) == lower(*b);
}

static bool is_known(const sn_model *model, const sn_marker_set *set, const char *name) {
    for (int i = 0; set != NULL && i < sn_marker_set_count(set); i++)
        if (same_name(name, sn_marker_set_place(set, i)->name)) return true;
    for (int i = 0; i < sn_model_nmarker(model); i++)
        if (same_name(name, sn_model_marker(model, i)->name)) return true;
    return false;
}

// How many labels are known when what stands before the last `sign` is left out.
static int count_known(const sn_model *model, const sn_recording *recording,
                       const sn_marker_set *set, char sign) {
    int known = 0;
    for (int m = 0; m < sn_recording_about(recording)->nmarker; m++) {
        const char *at = strrchr(sn_recording_label(recording, m), sign);
        known += at != NULL && is_known(model, set, at + 1);
    }
    return known;
}

sn_status sn_label_sign(const sn_model *model, const sn_recording *recording,
                        const sn_allocator *allocator, char *sign) {
    enum { FEW = 3, ENOUGH = 8 };  // fewer known names may be chance; from so many on it is none
    sn_marker_set *set = NULL;
    int plain = 0, own = 0, nmarker = sn_recording_about(recording)->nmarker;
    *sign = ':';
    // where the model's own names are enough, the set need not be made
    for (int m = 0; m < nmarker && own < FEW; m++)
        own += is_known(model, NULL, sn_label_name(sn_recording_label(recording, m)));
    if (own >= FEW) return SN_OK;
    sn_status status = sn_marker_set_builtin(model, NULL, allocator, &set, NULL);
    // a model that is no human figure has markers of its own
    if (status == SN_ERR_MEMORY) return status;
    for (int m = 0; m < nmarker; m++)
        plain += is_known(model, set, sn_label_name(sn_recording_label(recording, m)));
    for (const char *c = "_.- "; plain < FEW && *sign == ':' && *c != '\0'; c++)
        if (count_known(model, recording, set, *c) >= ENOUGH) *sign = *c;
    sn_marker_set_destroy(set);
    return SN_OK;
}

// Bytes of a label before the sign, 0 for none.
static size_t before(const char *label, char sign) {
    const char *at = strrchr(label, sign);
    return at != NULL ? (size_t)(at - label) : 0;
}

const char *sn_label_name_after(const char *label, char sign) {
    size_t n = before(label, sign);
    return n > 0 ? label + n + 1 : sn_label_name(label);
}

bool sn_label_is_of(const char *label, const char *subject, char sign) {
    return subject == NULL ||
           (before(label, sign) == strlen(subject) && memcmp(label, subject, strlen(subject)) == 0);
}

// --- who is there --------------------------------------------------------------------------------

static bool begins_alike(const char *label, const char *other, size_t length, char sign) {
    return before(other, sign) == length && memcmp(label, other, length) == 0;
}

static void list_subjects(const sn_recording *recording, char sign, sn_subject *out, int room,
                          int *count) {
    *count = 0;
    for (int m = 0; m < sn_recording_about(recording)->nmarker; m++) {
        const char *label = sn_recording_label(recording, m);
        size_t n = before(label, sign);
        if (n == 0) continue;
        int known = 0, listed = *count < room ? *count : room, earlier = 0;
        while (known < listed && !begins_alike(label, out[known].name, n, sign)) known++;
        if (known < listed) {
            out[known].nmarker++;
            continue;
        }
        while (earlier < m && !begins_alike(label, sn_recording_label(recording, earlier), n, sign))
            earlier++;
        if (earlier < m) continue;  // beyond the room
        if (*count < room) out[*count] = (sn_subject){label, (int)n, 1};
        (*count)++;
    }
}

sn_status sn_take_subjects(const sn_model *model, const sn_recording *recording,
                           const sn_allocator *allocator, sn_subject *out, int room, int *count,
                           sn_error *error) {
    char sign;
    if (count != NULL) *count = 0;
    SN_NEED(model, error);
    SN_NEED(recording, error);
    SN_NEED(count, error);
    if (room < 0) return sn_fail_range(error, "room");
    if (room > 0) SN_NEED(out, error);
    sn_status status = sn_label_sign(model, recording, allocator, &sign);
    if (status != SN_OK) return sn_fail(error, status, 0, "%s", sn_status_text(status));
    list_subjects(recording, sign, out, room, count);
    return SN_OK;
}

// How many there are, and their names.
static int name_subjects(const sn_recording *recording, char sign, sn_name_list *list) {
    enum { MOST = 40 };
    sn_subject all[MOST];
    int count;
    list_subjects(recording, sign, all, MOST, &count);
    for (int i = 0; i < count && i < MOST; i++) {
        char name[100];
        size_t n = (size_t)all[i].length < sizeof name ? (size_t)all[i].length : sizeof name - 1;
        memcpy(name, all[i].name, n);
        name[n] = '\0';
        sn_name_list_add(list, name);
    }
    return count;
}

sn_status sn_label_check_subject(const sn_recording *recording, const char *subject, char sign,
                                 sn_error *error) {
    sn_name_list list = {0};
    char text[sizeof list.text + 40];
    int count = name_subjects(recording, sign, &list);
    sn_name_list_print(&list, text);
    if (subject == NULL)
        return count < 2 ? SN_OK
                         : sn_fail(error, SN_ERR_ARGUMENT, 0,
                                   "several subjects; choose one by the option subject: %s", text);
    for (int m = 0; m < sn_recording_about(recording)->nmarker; m++)
        if (sn_label_is_of(sn_recording_label(recording, m), subject, sign)) return SN_OK;
    return sn_fail(error, SN_ERR_ARGUMENT, 0,
                   "no label belongs to the subject \"%.80s\"; here are: %s", subject,
                   count > 0 ? text : "none");
}

// --- the labels of a take ------------------------------------------------------------------------

static sn_status refuse_subject(sn_take *t, char sign) {
    sn_name_list list = {0};
    name_subjects(t->recording, sign, &list);
    char text[sizeof list.text + 40];
    sn_name_list_print(&list, text);
    return sn_take_refuse(t, SN_FINDING_SUBJECT_UNKNOWN, text, 0, 0);
}

// Labels with their last `sign` as a colon, those of the subject if there is one. `label` and `pool`
// have room for all.
static int choose_labels(const sn_take *t, char sign, const char **label, char *pool) {
    int n = 0;
    for (int m = 0; m < sn_recording_about(t->recording)->nmarker; m++) {
        const char *from = sn_recording_label(t->recording, m);
        size_t length = strlen(from), subject = before(from, sign);
        if (!sn_label_is_of(from, t->subject, sign)) continue;
        memcpy(pool, from, length + 1);
        if (subject > 0) pool[subject] = ':';
        t->origin[n] = m;
        label[n++] = pool;
        pool += length + 1;
    }
    return n;
}

sn_status sn_take_find_labels(sn_take *t) {
    sn_recording_info info = *sn_recording_about(t->recording);
    size_t letters = 1, n = (size_t)info.nmarker + 1;
    char sign = ':';
    // with a set of the user's own, labels are as they are
    if (t->given == NULL) SN_TRY(sn_label_sign(t->source, t->recording, &t->allocator, &sign));
    for (int m = 0; m < info.nmarker; m++)
        letters += strlen(sn_recording_label(t->recording, m)) + 1;
    t->origin = sn_acquire(&t->allocator, n * sizeof *t->origin);
    const char **label = sn_acquire(&t->allocator, n * sizeof *label);
    char *pool = sn_acquire(&t->allocator, letters);
    sn_status status = SN_ERR_MEMORY;
    if (t->origin != NULL && label != NULL && pool != NULL) {
        info.nmarker = choose_labels(t, sign, label, pool);
        info.nframe = 0;
        status = t->subject != NULL && info.nmarker == 0
                     ? refuse_subject(t, sign)
                     : sn_recording_create(&info, label, &t->allocator, &t->labels, NULL);
    }
    t->summary.labels = info.nmarker;
    if (pool != NULL) sn_release(&t->allocator, pool);
    if (label != NULL) sn_release(&t->allocator, (void *)label);
    return status;
}
