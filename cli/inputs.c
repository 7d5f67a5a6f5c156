// SPDX-License-Identifier: MIT
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

bool is_humanoid(const char *path) {
    if (strcmp(path, "humanoid") != 0) return false;
    FILE *file = fopen(path, "rb");
    if (file != NULL) (void)fclose(file);
    return file == NULL;
}

static sn_status read_humanoid(sn_document *out) {
    *out = (sn_document){.format = SN_FORMAT_MODEL, .up = 1, .up_sign = 1};
    sn_status status = sn_model_humanoid(NULL, &out->owned, NULL);
    out->model = out->owned;
    return status;
}

static sn_status needs_model(sn_error *error) {
    *error = (sn_error){.status = SN_ERR_ARGUMENT};
    (void)snprintf(error->text, sizeof error->text,
                   "a MarkerSet of OpenSim: its markers sit on the bodies of a model, which has to "
                   "stand beside it (sinew convert MODEL THIS, sinew fit -m MODEL --markers THIS)");
    return error->status;
}

bool input_read_set(const char *path, const sn_model *model, input *out, sn_error *error) {
    *out = (input){.path = path, .document.format = SN_FORMAT_MARKERS};
    size_t length;
    *error = (sn_error){0};
    char *bytes = read_bytes(path, &length, error);
    if (bytes == NULL) return false;
    sn_status status = sn_marker_set_read(bytes, length, model, NULL, &out->set, error);
    free(bytes);
    return status == SN_OK;
}

bool input_read(const char *path, const sn_document_options *options, input *out, sn_error *error) {
    *out = (input){.path = path};
    size_t length;
    *error = (sn_error){0};
    sn_status status;
    if (is_humanoid(path)) {
        status = read_humanoid(&out->document);
    } else {
        char *bytes = read_bytes(path, &length, error);
        if (bytes == NULL) return false;
        if (sn_format_of(bytes, length, path) == SN_FORMAT_MARKERS) {
            out->document.format = SN_FORMAT_MARKERS;
            status = memchr(bytes, '<', length < 64 ? length : 64) != NULL
                         ? needs_model(error)
                         : sn_marker_set_read_json(bytes, length, NULL, &out->set, error);
        } else {
            status = sn_document_read(bytes, length, path, options, NULL, &out->document, error);
        }
        free(bytes);
    }
    if (status != SN_OK && error->text[0] == '\0')
        (void)snprintf(error->text, sizeof error->text, "%s", sn_status_text(status));
    return status == SN_OK;
}

void input_free(input *self) {
    sn_document_destroy(&self->document);
    sn_marker_set_destroy(self->set);
    self->set = NULL;
}

void describe_left_out(const sn_recording_info *info, char *out, size_t size) {
    char analog[40] = "", events[40] = "";
    if (info->nanalog > 0)
        (void)snprintf(analog, sizeof analog, "%d analog channel%s", info->nanalog,
                       info->nanalog == 1 ? "" : "s");
    if (info->nevent > 0)
        (void)snprintf(events, sizeof events, "%d event%s", info->nevent,
                       info->nevent == 1 ? "" : "s");
    (void)snprintf(out, size, "%s%s%s", analog,
                   analog[0] != '\0' && events[0] != '\0' ? " and " : "", events);
}

void describe_couplings(const sn_document *document, char *out, size_t size) {
    const sn_model *m = document->model;
    int n = m != NULL ? sn_model_ncoupling(m) : 0;
    out[0] = '\0';
    if (n == 0) return;
    const sn_coupling_desc *first = sn_model_coupling(m, 0);
    const char *joint = sn_model_joint(m, first->follower.joint)->name;
    const char *source = first->nleader > 0 ? sn_model_joint(m, first->leader[0].joint)->name : "";
    if (n == 1)
        (void)snprintf(out, size, "joint \"%.60s\" follows \"%.60s\"", joint, source);
    else
        (void)snprintf(out, size, "%d coordinates follow others (\"%.60s\" \"%.60s\", ...)", n,
                       joint, source);
}
