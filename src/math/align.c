// SPDX-License-Identifier: MIT
// Horn, "Closed-form solution of absolute orientation using unit quaternions" (1987): for a unit
// quaternion q, tr(M^T R(q)) = q^T N q with a symmetric 4 x 4 matrix N made of the entries of M, so
// the best q is the eigenvector of N's largest eigenvalue; found by Jacobi's rotations.
#include "math/align.h"

enum { N = 4 };

// One Jacobi rotation in the plane (i, j), making A_ij zero; V collects them by columns.
static void rotate(double A[N][N], double V[N][N], int i, int j) {
    if (A[i][j] == 0) return;
    double theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < N; k++) {
        double x = A[k][i], y = A[k][j];
        A[k][i] = c * x - s * y;
        A[k][j] = s * x + c * y;
    }
    for (int k = 0; k < N; k++) {
        double x = A[i][k], y = A[j][k];
        A[i][k] = c * x - s * y;
        A[j][k] = s * x + c * y;
    }
    for (int k = 0; k < N; k++) {
        double x = V[k][i], y = V[k][j];
        V[k][i] = c * x - s * y;
        V[k][j] = s * x + c * y;
    }
}

sn_mat3 sn_best_rotation(const sn_mat3 *M) {
    // m_rc of M, row r and column c
    const double xx = M->c[0].x, yx = M->c[0].y, zx = M->c[0].z;
    const double xy = M->c[1].x, yy = M->c[1].y, zy = M->c[1].z;
    const double xz = M->c[2].x, yz = M->c[2].y, zz = M->c[2].z;
    double A[N][N] = {{xx + yy + zz, zy - yz, xz - zx, yx - xy},
                      {zy - yz, xx - yy - zz, xy + yx, xz + zx},
                      {xz - zx, xy + yx, yy - xx - zz, yz + zy},
                      {yx - xy, xz + zx, yz + zy, zz - xx - yy}};
    double V[N][N] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    // the off-diagonal falls quadratically; six sweeps reach the last bit with room to spare
    for (int sweep = 0; sweep < 10; sweep++)
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++) rotate(A, V, i, j);
    int best = 0;
    for (int i = 1; i < N; i++)
        if (A[i][i] > A[best][best]) best = i;
    return sn_mat3_from_quat((sn_quat){V[0][best], V[1][best], V[2][best], V[3][best]});
}
