// SPDX-License-Identifier: MIT
// Chains of frames by Ceres' TinySolver (Levenberg-Marquardt, no allocation) with a Jacobian of its own making,
// each frame from the extrapolated pose. A number a line on standard input: joints, markers, degrees of freedom,
// chains, frames, iterations, cost at which to stop, gradient tolerance, whether rows bring local points; per joint
// its parent, offset (columns, place), first degree of freedom and how many; per degree of freedom whether it
// slides and its axis; per marker its joint and local point; per chain a start; per row goals (and local points).
// Prints microseconds a frame, mean f and iterations.
#include <ceres/tiny_solver.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

enum { DOFS = 58, ROWS = 123 };

struct Joint {
    int parent, first, count;
    double R[9], p[3];
};
struct Move {
    bool slides;
    double axis[3];
};
struct Marker {
    int joint;
    double local[3];
};

static std::vector<Joint> joints;
static std::vector<Move> moves;
static std::vector<Marker> markers;

static double number() {
    double x = 0;
    if (std::fread(&x, sizeof x, 1, stdin) != 1) std::exit(1);
    return x;
}

static void times(const double *A, const double *B, double *out) {
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            out[3 * c + r] = A[r] * B[3 * c] + A[3 + r] * B[3 * c + 1] + A[6 + r] * B[3 * c + 2];
}

static void turn(const double *R, const double *x, double *out) {
    for (int r = 0; r < 3; r++) out[r] = R[r] * x[0] + R[3 + r] * x[1] + R[6 + r] * x[2];
}

struct Frame {
    const double *goals, *locals;
    typedef double Scalar;
    enum { NUM_PARAMETERS = DOFS, NUM_RESIDUALS = ROWS };
    bool operator()(const double *x, double *residuals, double *jacobian) const {
        static double R[64][9], p[64][3], axis[DOFS][3], at[DOFS][3];
        for (size_t k = 0; k < joints.size(); k++) {
            const Joint &j = joints[k];
            if (j.parent < 0) {
                for (int i = 0; i < 9; i++) R[k][i] = j.R[i];
                for (int i = 0; i < 3; i++) p[k][i] = j.p[i];
            } else {
                times(R[j.parent], j.R, R[k]);
                turn(R[j.parent], j.p, p[k]);
                for (int i = 0; i < 3; i++) p[k][i] += p[j.parent][i];
            }
            for (int d = j.first; d < j.first + j.count; d++) {
                const Move &m = moves[d];
                turn(R[k], m.axis, axis[d]);
                for (int i = 0; i < 3; i++) at[d][i] = p[k][i];
                if (m.slides) {
                    for (int i = 0; i < 3; i++) p[k][i] += x[d] * axis[d][i];
                    continue;
                }
                const double s = std::sin(x[d]), c = std::cos(x[d]), v = 1 - c;
                const double a = m.axis[0], b = m.axis[1], e = m.axis[2];
                const double M[9] = {c + a * a * v,     b * a * v + e * s, e * a * v - b * s,
                                     a * b * v - e * s, c + b * b * v,     e * b * v + a * s,
                                     a * e * v + b * s, b * e * v - a * s, c + e * e * v};
                double out[9];
                times(R[k], M, out);
                for (int i = 0; i < 9; i++) R[k][i] = out[i];
            }
        }
        if (jacobian != nullptr)
            for (int i = 0; i < DOFS * ROWS; i++) jacobian[i] = 0;
        for (size_t m = 0; m < markers.size(); m++) {
            double y[3];
            turn(R[markers[m].joint], locals + 3 * m, y);
            const bool there = goals[3 * m] == goals[3 * m];
            for (int i = 0; i < 3; i++) {
                y[i] += p[markers[m].joint][i];
                residuals[3 * m + i] = there ? y[i] - goals[3 * m + i] : 0;
            }
            if (jacobian == nullptr || !there) continue;
            for (int k = markers[m].joint; k >= 0; k = joints[k].parent)
                for (int d = joints[k].first; d < joints[k].first + joints[k].count; d++) {
                    double *J = jacobian + ROWS * d + 3 * m;  // by columns
                    const double *a = axis[d];
                    if (moves[d].slides) {
                        for (int i = 0; i < 3; i++) J[i] = a[i];
                        continue;
                    }
                    const double z[3] = {y[0] - at[d][0], y[1] - at[d][1], y[2] - at[d][2]};
                    J[0] = a[1] * z[2] - a[2] * z[1];
                    J[1] = a[2] * z[0] - a[0] * z[2];
                    J[2] = a[0] * z[1] - a[1] * z[0];
                }
        }
        return true;
    }
};

int main() {
    const int nj = (int)number(), nm = (int)number(), nd = (int)number();
    const int nchain = (int)number(), nframe = (int)number(), most = (int)number();
    const double cost = number(), gradient = number();
    const bool own = number() != 0;
    if (nd != DOFS || 3 * nm != ROWS || nj > 64) return 1;
    joints.resize(nj), moves.resize(nd), markers.resize(nm);
    for (Joint &j : joints) {
        j.parent = (int)number();
        for (double &x : j.R) x = number();
        for (double &x : j.p) x = number();
        j.first = (int)number();
        j.count = (int)number();
    }
    for (Move &m : moves) {
        m.slides = number() != 0;
        for (double &x : m.axis) x = number();
    }
    for (Marker &m : markers) {
        m.joint = (int)number();
        for (double &x : m.local) x = number();
    }
    std::vector<double> starts(nchain * nd), goals((size_t)nchain * nframe * ROWS), locals;
    for (double &x : starts) x = number();
    for (int i = 0; i < nchain * nframe; i++) {
        for (int k = 0; k < ROWS; k++) goals[(size_t)i * ROWS + k] = number();
        for (int k = 0; k < (own ? ROWS : 0); k++) locals.push_back(number());
    }
    std::vector<double> fixed;
    for (const Marker &m : markers) fixed.insert(fixed.end(), m.local, m.local + 3);
    ceres::TinySolver<Frame> solver;
    solver.options.max_num_iterations = most;
    solver.options.cost_threshold = cost;
    solver.options.gradient_tolerance = gradient;
    solver.options.parameter_tolerance = 1e-9;
    double sum = 0, iterations = 0;
    const std::clock_t begin = std::clock();
    for (int c = 0; c < nchain; c++) {
        Eigen::Matrix<double, DOFS, 1> x, previous, before;
        for (int d = 0; d < nd; d++) x[d] = starts[c * nd + d];
        previous = before = x;
        for (int f = 0; f < nframe; f++) {
            const size_t row = (size_t)c * nframe + f;
            const Frame frame = {goals.data() + row * ROWS,
                                 own ? locals.data() + row * ROWS : fixed.data()};
            if (f > 1) x = 2 * previous - before;
            solver.Solve(frame, &x);
            sum += solver.summary.final_cost;
            iterations += solver.summary.iterations;
            before = previous;
            previous = x;
        }
    }
    const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    const double rows = double(nchain) * nframe;
    std::printf("%.6f %.9g %.4f\n", 1e6 * seconds / rows, sum / rows, iterations / rows);
    return 0;
}
