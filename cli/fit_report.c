// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
// The report of a fit in its file, with a link to the page of the same run.
#include <string.h>
#include <unistd.h>

#include "fit_take.h"
#include "output.h"
#include "take_page.h"

// A path as the address of a link.
static void address(plot_text *out, const char *path) {
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     strchr("0123456789/._-~", c) != NULL;
        char text[4] = {(char)c, '\0', '\0', '\0'};
        if (!plain) (void)snprintf(text, sizeof text, "%%%02X", c);
        plot_raw(out, text);
    }
}

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

// Where the take plays, as the address of a link from the report at `report`; false: there is no such page.
static bool put_page(plot_text *out, const char *report, const fit_settings *s) {
    const char *page = NULL;
    for (int i = 0; i < s->outputs.count; i++)
        if (is_page_name(s->outputs.word[i])) page = s->outputs.word[i];
    if (page == NULL) return false;
    size_t folder = folder_length(page);
    bool beside = folder == folder_length(report) && memcmp(page, report, folder) == 0;
    char here[4096] = "";
    if (beside) {
        // a colon in the name is no scheme
        plot_raw(out, "./");
        address(out, page + folder);
    } else {
        plot_raw(out, "file://");
        if (page[0] != '/' && getcwd(here, sizeof here) != NULL) {
            address(out, here);
            plot_raw(out, "/");
        }
        address(out, page);
    }
    return true;
}

static fit_about about_of(const fit_result *r) {
    fit_about a = fit_about_take(r->take, r->recording, r->options);
    a.up = r->figure.up;
    a.up_sign = r->figure.up_sign;
    a.model_name = r->settings->model;
    a.input_name = r->settings->input;
    a.truth = r->settings->truth != NULL ? &r->truth : NULL;
    a.player = "fit again with -o NAME.html as well: that page plays the take with its markers";
    a.voice = SN_VOICE_COMMAND;
    a.file_note = r->file_note;
    a.output_note = r->output_note;
    return a;
}

bool get_remark(const fit_result *r, int i, remark *out) {
    const fit_about about = about_of(r);
    return fit_remark(&about, i, out);
}

bool write_fit_report(const char *path, const fit_result *r) {
    plot_text text = {0}, link = {0};
    fit_about about = about_of(r);
    if (put_page(&link, path, r->settings)) about.page = link.data;
    fit_report(&text, &about);
    bool good = output_text(path, text.data, text.length, text.failed || link.failed);
    plot_text_free(&text);
    plot_text_free(&link);
    return good;
}
