// SPDX-License-Identifier: MIT
// sinew: inverse kinematics with exact Hessians. Includes everything.
#pragma once

#include "sinew/base.h"
#include "sinew/bvh.h"
#include "sinew/document.h"
#include "sinew/eval.h"
#include "sinew/example.h"
#include "sinew/export.h"
#include "sinew/fit.h"
#include "sinew/formats.h"
#include "sinew/glb.h"
#include "sinew/math.h"
#include "sinew/model.h"
#include "sinew/motion.h"
#include "sinew/osim.h"
#include "sinew/path.h"
#include "sinew/solver.h"
#include "sinew/tables.h"
#include "sinew/task.h"
#include "sinew/track.h"
#include "sinew/urdf.h"
