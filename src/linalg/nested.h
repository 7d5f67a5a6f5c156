// SPDX-License-Identifier: MIT
// Null spaces inside null spaces. Positive semidefinite matrices W_0, W_1, ... come one after the other;
// each takes the directions it sees among those that the ones before it have left:
//
//   basis = [V_0 | V_1 | ... | Z]    orthonormal columns;  Z is what none has seen so far
//   Z^T W_k Z = Q D_k Q^T            V_k = Z Q,  D_k regular
//
// Orthonormal in the unit vectors of the places that were free at the beginning; the others are 0 throughout.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SN_NESTED_MOST = 12 };

typedef struct sn_nested {
    int n;                          ///< rows
    int all;                        ///< columns: how many places were free
    int count;                      ///< matrices taken in
    int first[SN_NESTED_MOST + 1];  ///< where the columns of each begin; the last: where Z does
    double *basis;                  ///< n x n, column-major
    double *seen;                   ///< n x n: column c of V_k is W_k times that of the basis
    double *factor;     ///< n x n: U_k upper triangular, D_k = U_k U_k^T, in V_k's columns
    double *R;          ///< n x n: the last reduced matrix
    double *T, *L, *d;  ///< n x n, n x n, n: scratch
    double
        lowest;  ///< pivot that the last matrix has left, 0 or below: one that is indefinite bends down
    int *order;   ///< n: scratch
    int *place;   ///< n: where the free places are
    bool turned;  ///< the basis is no longer made of unit vectors
} sn_nested;

void sn_nested_begin(sn_nested *nested, const bool *free);

/// R = Z^T W Z, n x n with `left` rows in use, column-major with that many rows.
void sn_nested_reduce(sn_nested *nested, const double *W);

/// Take in W: what it sees of Z becomes its own. Pivots of a factorisation at or below `least` count as
/// nothing, and it takes no more than `most` directions. Returns how many it took.
int sn_nested_add(sn_nested *nested, const double *W, double least, int most);

/// The smallest pivot of U_k, squared: W_k has 1e-16 of its largest entry, so that Z has that over this.
double sn_nested_thinnest(const sn_nested *nested, int k);

/// The last matrix taken in is J^T J, J with `rows` rows, column-major: Z once more, with the digits of J instead of those
/// of its square. w is scratch for as many numbers.
void sn_nested_sharpen(sn_nested *nested, const double *J, int rows, double *w);

/// y = D_k^-1 V_k^T b; then x += scale V_k y.
void sn_nested_solve(const sn_nested *nested, int k, const double *b, double *y);
void sn_nested_spread(const sn_nested *nested, int k, double scale, const double *y, double *x);

/// x += scale W_k V_k y.
void sn_nested_spread_seen(const sn_nested *nested, int k, double scale, const double *y,
                           double *x);

static inline int sn_nested_rank(const sn_nested *nested, int k) {
    return nested->first[k + 1] - nested->first[k];
}
static inline int sn_nested_left(const sn_nested *nested) {
    return nested->all - nested->first[nested->count];
}
static inline double *sn_nested_rest(const sn_nested *nested) {
    return nested->basis + (size_t)nested->n * (size_t)nested->first[nested->count];
}
