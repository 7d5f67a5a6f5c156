// SPDX-License-Identifier: MIT
// Functions of a few numbers: what drives the motions of a `function` joint.
#pragma once

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SN_MAX_ARGUMENTS = 6,
    SN_MAX_FUNCTION_NUMBERS = 100000  ///< knots or coefficients of one function
};

/// The kinds of function; sn_function_type_name() gives their names in files. c are the numbers y.
typedef enum sn_function_type {
    SN_FUNCTION_CONSTANT,  ///< c[0]; no argument
    SN_FUNCTION_LINEAR,    ///< c[0] a_0 + c[1] a_1 + ... + c[n], n arguments
    /// c[0] + c[1] a + c[2] a^2 + ...; of several arguments all products of powers up to a degree in
    /// all, ordered by the power of a_0, then of a_1, ...: 1, b, b^2, a, a b, a^2 for two and degree 2
    SN_FUNCTION_POLYNOMIAL,
    SN_FUNCTION_SPLINE,    ///< the cubic spline of Forsythe, Malcolm and Moler through the points
                           ///< (x, y), straight beyond its ends: OpenSim's SimmSpline
    SN_FUNCTION_POLYLINE,  ///< straight between the points (x, y), and on beyond the ends
    SN_FUNCTION_SINE,      ///< c[0] sin(c[1] a_0 + ... + c[n] a_(n-1) + c[n+1]) + c[n+2]
    SN_FUNCTION_TYPE_COUNT
} sn_function_type;

/// A function of some of a joint's coordinates.
typedef struct sn_function {
    sn_function_type type;
    double scale;                    ///< of the result; 1 leaves it as it is
    int nargument;                   ///< 0 for a constant, 1 for splines and polylines
    int argument[SN_MAX_ARGUMENTS];  ///< which coordinates, each once
    int nx, ny;
    const double *x;  ///< nx: the knots of a spline or polyline, rising
    const double *y;  ///< ny: values at the knots, or the coefficients c
} sn_function;

SN_API const char *sn_function_type_name(sn_function_type type);

/// By name, SN_FUNCTION_TYPE_COUNT when unknown.
SN_API sn_function_type sn_function_type_find(const char *name);

/// NULL, or what is wrong with a function of `ncoordinate` coordinates, in a few words.
SN_API const char *sn_function_check(const sn_function *function, int ncoordinate);

#ifdef __cplusplus
}
#endif
