// SPDX-License-Identifier: MIT
// Whose markers they are: what stands before the names in a recording's labels.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fit_steps.h"

// The recording with `n` of its markers, those of `from`, under these labels.
static bool replace_recording(fit_result *r, int n, const char **labels, const int *from) {
    sn_recording_info info = *sn_recording_get_info(r->recording);
    sn_recording *kept = NULL;
    info.nmarker = n;
    if (sn_recording_create(&info, labels, NULL, &kept) != SN_OK) complain("out of memory");
    for (int f = 0; kept != NULL && f < info.nframe; f++)
        for (int m = 0; m < n; m++)
            memcpy(sn_recording_edit(kept, f) + 3 * m,
                   sn_recording_frame(r->recording, f) + 3 * from[m], 3 * sizeof(double));
    sn_recording_destroy(r->recording);
    r->recording = kept;
    return kept != NULL;
}

bool keep_subject(fit_result *r) {
    int nmarker = sn_recording_get_info(r->recording)->nmarker;
    const char *subject = r->settings->subject;
    size_t length = strlen(subject);
    const char **labels = must_alloc((size_t)nmarker, sizeof *labels);
    int *from = must_alloc((size_t)nmarker, sizeof *from), n = 0;
    char others[400] = "", last[100] = "";
    for (int m = 0; m < nmarker; m++) {
        const char *label = sn_recording_label(r->recording, m);
        size_t before = (size_t)(sn_label_name(label) - label);
        if (before == length + 1 && memcmp(label, subject, length) == 0) {
            labels[n] = label;
            from[n++] = m;
        } else if (before > 1 && before < sizeof last &&
                   (strlen(last) != before - 1 || memcmp(last, label, before - 1) != 0)) {
            (void)snprintf(last, sizeof last, "%.*s", (int)before - 1, label);
            if (strlen(others) + before + 4 < sizeof others)
                (void)snprintf(others + strlen(others), before + 3, "%s%s",
                               others[0] != '\0' ? ", " : "", last);
        }
    }
    bool good = n > 0 && replace_recording(r, n, labels, from);
    if (n == 0)
        complain("%s: no label belongs to the subject \"%s\"; %s%s", r->settings->input, subject,
                 others[0] != '\0' ? "here are: " : "the labels name no subject", others);
    free(labels);
    free(from);
    return good;
}

static bool is_known(const fit_result *r, const sn_marker_set *set, const char *name) {
    for (int i = 0; set != NULL && i < sn_marker_set_count(set); i++)
        if (strcasecmp(name, sn_marker_set_place(set, i)->name) == 0) return true;
    for (int i = 0; i < sn_model_nmarker(r->figure.model); i++)
        if (strcasecmp(name, sn_model_marker(r->figure.model, i)->name) == 0) return true;
    return false;
}

// How many labels are known when what stands before the last `sign` is left out.
static int count_known(const fit_result *r, const sn_marker_set *set, char sign) {
    int known = 0;
    for (int m = 0; m < sn_recording_get_info(r->recording)->nmarker; m++) {
        const char *label = sn_recording_label(r->recording, m), *at = strrchr(label, sign);
        known += at != NULL && is_known(r, set, at + 1);
    }
    return known;
}

static bool put_colons(fit_result *r, char sign) {
    int n = sn_recording_get_info(r->recording)->nmarker;
    char **copy = must_alloc((size_t)n, sizeof *copy);
    int *from = must_alloc((size_t)n, sizeof *from);
    for (int m = 0; m < n; m++) {
        const char *label = sn_recording_label(r->recording, m), *at = strrchr(label, sign);
        copy[m] = must_alloc(strlen(label) + 1, 1);
        memcpy(copy[m], label, strlen(label) + 1);
        if (at != NULL && at > label) copy[m][at - label] = ':';
        from[m] = m;
    }
    bool good = replace_recording(r, n, (const char **)copy, from);
    for (int m = 0; m < n; m++) free(copy[m]);
    free(copy);
    free(from);
    return good;
}

bool part_subjects(fit_result *r) {
    enum { FEW = 3, ENOUGH = 8 };  // fewer known names may be chance; from so many on it is none
    int plain = 0;
    sn_marker_set *set = NULL;
    char sign = '\0';
    if (r->settings->markers != NULL && strcmp(r->settings->markers, "builtin") != 0) return true;
    (void)sn_marker_set_builtin(r->figure.model, NULL, NULL, &set, NULL);
    for (int m = 0; m < sn_recording_get_info(r->recording)->nmarker; m++)
        plain += is_known(r, set, sn_label_name(sn_recording_label(r->recording, m)));
    for (const char *c = "_.- "; plain < FEW && sign == '\0' && *c != '\0'; c++)
        if (count_known(r, set, *c) >= ENOUGH) sign = *c;
    sn_marker_set_destroy(set);
    return sign == '\0' || put_colons(r, sign);
}
