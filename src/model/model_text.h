// SPDX-License-Identifier: MIT
// A model's native file in memory, for who wants to compare or change it.
#pragma once

#include "base/memory.h"
#include "sinew/model.h"

/// The native JSON file of a model as a terminated string; give it to sn_release().
sn_status sn_model_text(const sn_model *model, const sn_allocator *allocator, char **out);
