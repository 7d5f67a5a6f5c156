// SPDX-License-Identifier: MIT
// What the library calls of LAPACK, in place of LAPACKE's header: the package links with no LAPACK. The functions are
// scipy's, which Python hands over when a method asks for them.
#pragma once

#define LAPACK_COL_MAJOR 102
typedef int lapack_int;

lapack_int LAPACKE_dsyevd_work(int layout, char jobz, char uplo, lapack_int n, double *a,
                               lapack_int lda, double *w, double *work, lapack_int lwork,
                               lapack_int *iwork, lapack_int liwork);
lapack_int LAPACKE_dgelsd_work(int layout, lapack_int m, lapack_int n, lapack_int nrhs, double *a,
                               lapack_int lda, double *b, lapack_int ldb, double *s, double rcond,
                               lapack_int *rank, double *work, lapack_int lwork, lapack_int *iwork);
lapack_int LAPACKE_dgelsy_work(int layout, lapack_int m, lapack_int n, lapack_int nrhs, double *a,
                               lapack_int lda, double *b, lapack_int ldb, lapack_int *jpvt,
                               double rcond, lapack_int *rank, double *work, lapack_int lwork);
lapack_int LAPACKE_dgesdd_work(int layout, char jobz, lapack_int m, lapack_int n, double *a,
                               lapack_int lda, double *s, double *u, lapack_int ldu, double *vt,
                               lapack_int ldvt, double *work, lapack_int lwork, lapack_int *iwork);
