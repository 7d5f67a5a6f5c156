// SPDX-License-Identifier: MIT
// Couplings, loops, collision shapes and named frames in the native model file.
#pragma once

#include "base/json_fields.h"
#include "base/text.h"
#include "model/model.h"

/// A joint of the builder by its name, which `node` holds; -1 with a failure where there is none.
int sn_json_entry_joint(sn_fields *f, const sn_json_node *node, const sn_builder *builder,
                        const sn_names *names);
/// The head of an entry: an object with `keys` alone, whose "type" is one of `count` that have names. Which
/// one; -1 with a failure.
int sn_json_entry_type(sn_fields *f, const sn_json_node *node, const char *const *keys, int count,
                       const char *(*name)(int type));

/// The array "couplings" of a file into a builder, whose joints are all there and found in `names`.
sn_status sn_couplings_read(const sn_json *json, const sn_json_node *list, sn_builder *builder,
                            const sn_names *names, sn_error *error);

/// The same for "loops".
sn_status sn_loops_read(const sn_json *json, const sn_json_node *list, sn_builder *builder,
                        const sn_names *names, sn_error *error);
void sn_loops_write(sn_text *text, const sn_model *model);

/// The arrays "shapes" and "excluded", each NULL where the file has none.
sn_status sn_shapes_read(const sn_json *json, const sn_json_node *shapes,
                         const sn_json_node *excluded, sn_builder *builder, const sn_names *names,
                         sn_error *error);
void sn_shapes_write(sn_text *text, const sn_model *model);

/// The array "frames"; NULL where the file has none.
sn_status sn_frames_read(const sn_json *json, const sn_json_node *list, sn_builder *builder,
                         const sn_names *names, sn_error *error);
void sn_frames_write(sn_text *text, const sn_model *model);

/// `, "couplings": [...]`; nothing for a model without any.
void sn_couplings_write(sn_text *text, const sn_model *model);
