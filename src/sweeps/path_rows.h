// SPDX-License-Identifier: MIT
// H by its rows: what long chains have too many of, and the reference for the step that needs none.
#pragma once

#include "linalg/path.h"
#include "sinew/eval.h"

/// Path-sparse, in sweep order; valid until the next evaluation. After one with SN_EVAL_HESSIAN or
/// SN_EVAL_GAUSS_NEWTON; NULL without room for rows. They are computed when they are first asked for.
/// This is the tree's part: what couples branches is in sn_workspace_hessian() only.
const double *sn_workspace_rows(sn_workspace *workspace);
