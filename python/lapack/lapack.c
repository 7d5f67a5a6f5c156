// SPDX-License-Identifier: MIT
// LAPACK by functions that are handed over at run time. All matrices of the library are column-major, as Fortran's.
#include "glue.h"
#include "lapacke.h"

typedef void (*function)(void);
static function given[SNPY_LAPACK_COUNT];

// as LAPACKE says that it cannot work
enum { NOT_GIVEN = -1010 };

void snpy_lapack_set(int which, uintptr_t address) {
    if (which >= 0 && which < SNPY_LAPACK_COUNT) given[which] = (function)address;
}

typedef void syevd(char *, char *, int *, double *, int *, double *, double *, int *, int *, int *,
                   int *);
typedef void gelsd(int *, int *, int *, double *, int *, double *, int *, double *, double *, int *,
                   double *, int *, int *, int *);
typedef void gelsy(int *, int *, int *, double *, int *, double *, int *, int *, double *, int *,
                   double *, int *, int *);
typedef void gesdd(char *, int *, int *, double *, int *, double *, double *, int *, double *,
                   int *, double *, int *, int *, int *);

lapack_int LAPACKE_dsyevd_work(int layout, char jobz, char uplo, lapack_int n, double *a,
                               lapack_int lda, double *w, double *work, lapack_int lwork,
                               lapack_int *iwork, lapack_int liwork) {
    int info = NOT_GIVEN;
    syevd *f = (syevd *)given[SNPY_LAPACK_DSYEVD];
    (void)layout;
    if (f != NULL) f(&jobz, &uplo, &n, a, &lda, w, work, &lwork, iwork, &liwork, &info);
    return info;
}

lapack_int LAPACKE_dgelsd_work(int layout, lapack_int m, lapack_int n, lapack_int nrhs, double *a,
                               lapack_int lda, double *b, lapack_int ldb, double *s, double rcond,
                               lapack_int *rank, double *work, lapack_int lwork,
                               lapack_int *iwork) {
    int info = NOT_GIVEN;
    gelsd *f = (gelsd *)given[SNPY_LAPACK_DGELSD];
    (void)layout;
    if (f != NULL) f(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work, &lwork, iwork, &info);
    return info;
}

lapack_int LAPACKE_dgelsy_work(int layout, lapack_int m, lapack_int n, lapack_int nrhs, double *a,
                               lapack_int lda, double *b, lapack_int ldb, lapack_int *jpvt,
                               double rcond, lapack_int *rank, double *work, lapack_int lwork) {
    int info = NOT_GIVEN;
    gelsy *f = (gelsy *)given[SNPY_LAPACK_DGELSY];
    (void)layout;
    if (f != NULL) f(&m, &n, &nrhs, a, &lda, b, &ldb, jpvt, &rcond, rank, work, &lwork, &info);
    return info;
}

lapack_int LAPACKE_dgesdd_work(int layout, char jobz, lapack_int m, lapack_int n, double *a,
                               lapack_int lda, double *s, double *u, lapack_int ldu, double *vt,
                               lapack_int ldvt, double *work, lapack_int lwork, lapack_int *iwork) {
    int info = NOT_GIVEN;
    gesdd *f = (gesdd *)given[SNPY_LAPACK_DGESDD];
    (void)layout;
    if (f != NULL) f(&jobz, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &lwork, iwork, &info);
    return info;
}
