// SPDX-License-Identifier: MIT
// Whose markers they are: what stands before the names in a recording's labels.
#ifndef SINEW_SRC_TAKE_LABELS_H
#define SINEW_SRC_TAKE_LABELS_H

#include "sinew/take.h"

/// What parts subject and marker: a colon, or another sign where names of the built-in set or the
/// model's come out that way and hardly any without.
sn_status sn_label_sign(const sn_model *model, const sn_recording *recording,
                        const sn_allocator *allocator, char *sign);

/// A marker's name: its label without the subject.
const char *sn_label_name_after(const char *label, char sign);

/// Of this subject; of anyone when it is NULL.
bool sn_label_is_of(const char *label, const char *subject, char sign);

/// SN_ERR_ARGUMENT and who is there, where the subject has no label, or is NULL and there are several.
sn_status sn_label_check_subject(const sn_recording *recording, const char *subject, char sign,
                                 sn_error *error);

#endif
