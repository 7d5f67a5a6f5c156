// SPDX-License-Identifier: MIT
// The peer of `sinew bench arms`: Orocos KDL on the same chain and the same goals, from the same random
// starts, with restarts until it is there (at most 100), inside the limits: Newton-Raphson with limits, and
// Levenberg-Marquardt with solutions outside them rejected. Doubles on standard input: see
// bench/arms_kdl.c. Prints solved, median, mean and p99 microseconds of the faster one.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdint>
#include <vector>

#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <kdl/chainiksolverpos_nr_jl.hpp>
#include <kdl/chainiksolvervel_pinv.hpp>

static std::vector<double> input;
static size_t at = 0;
static double next() { return at < input.size() ? input[at++] : 0; }

static KDL::Frame next_frame() {
    double x = next(), y = next(), z = next(), w = next(), a = next(), b = next(), c = next();
    return KDL::Frame(KDL::Rotation::Quaternion(a, b, c, w), KDL::Vector(x, y, z));
}

static double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static uint64_t state = 1;
static double uniform() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

int main() {
    double block[4096];
    for (size_t got; (got = fread(block, sizeof *block, 4096, stdin)) > 0;)
        input.insert(input.end(), block, block + got);
    const int n = (int)next(), problems = (int)next();
    KDL::Chain chain;
    KDL::JntArray low(n), high(n), start(n), out(n);
    for (int i = 0; i < n; i++) {
        const bool slides = next() != 0;
        KDL::Frame offset = next_frame();
        double x = next(), y = next(), z = next();
        low(i) = next(), high(i) = next();
        KDL::Frame tip = offset;
        if (i + 1 == n) tip = offset * next_frame();
        chain.addSegment(KDL::Segment(
            KDL::Joint(offset.p, offset.M * KDL::Vector(x, y, z),
                       slides ? KDL::Joint::TransAxis : KDL::Joint::RotAxis),
            tip));
    }
    KDL::ChainFkSolverPos_recursive forward(chain);
    KDL::ChainIkSolverVel_pinv velocity(chain);
    // the number of iterations that serves it best with restarts
    KDL::ChainIkSolverPos_NR_JL newton(chain, low, high, forward, velocity, 20, 1e-6);
    Eigen::Matrix<double, 6, 1> even = Eigen::Matrix<double, 6, 1>::Ones();
    KDL::ChainIkSolverPos_LMA marquardt(chain, even, 1e-6, 50);
    const size_t goals = at;
    double best[4] = {0, 1e300, 0, 0};
    for (int way = 0; way < 2; way++) {
        std::vector<double> times;
        int solved = 0;
        double sum = 0;
        at = goals;
        for (int k = 0; k < problems; k++) {
            KDL::Frame goal = next_frame();
            for (int i = 0; i < n; i++) start(i) = next();
            double begin = now();
            bool good = false;
            for (int tries = 0; tries < 100 && !good; tries++) {
                good = way == 0 ? newton.CartToJnt(start, goal, out) >= 0
                                : marquardt.CartToJnt(start, goal, out) >= 0;
                // Marquardt's knows no limits: other turns, else another start
                for (int i = 0; i < n && way == 1 && good; i++) {
                    while (out(i) > high(i)) out(i) -= 2 * M_PI;
                    while (out(i) < low(i)) out(i) += 2 * M_PI;
                    good = out(i) <= high(i);
                }
                for (int i = 0; i < n; i++) start(i) = low(i) + uniform() * (high(i) - low(i));
            }
            double took = now() - begin;
            times.push_back(took);
            sum += took;
            solved += good;
        }
        if (problems == 0) continue;
        std::sort(times.begin(), times.end());
        if (times[times.size() / 2] < best[1]) {
            best[0] = solved, best[1] = times[times.size() / 2], best[2] = sum / problems;
            best[3] = times[(size_t)(0.99 * (double)times.size())];
        }
    }
    printf("%.0f %.6g %.6g %.6g\n", best[0], best[1], best[2], best[3]);
}
