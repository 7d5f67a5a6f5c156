// SPDX-License-Identifier: MIT
// sinew: inverse kinematics with exact Hessians. Includes everything.
#pragma once

#include "sinew/arm.h"
#include "sinew/base.h"
#include "sinew/batch.h"
#include "sinew/eval.h"
#include "sinew/files.h"
#include "sinew/math.h"
#include "sinew/model.h"
#include "sinew/motion.h"
#include "sinew/scaling.h"
#include "sinew/servo.h"
#include "sinew/solver.h"
#include "sinew/take.h"
#include "sinew/task.h"
#include "sinew/track.h"
