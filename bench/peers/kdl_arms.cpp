// SPDX-License-Identifier: MIT
// The peer of `sinew bench arms`: Orocos KDL on the same chain and the same goals, from the same random
// starts, with restarts until it is there (at most 100), inside the limits. Doubles on standard input: see
// bench/arms_kdl.c. Prints solved, median, mean and p99 microseconds.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdint>
#include <vector>

#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
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
    KDL::ChainIkSolverPos_NR_JL solver(chain, low, high, forward, velocity, 100, 1e-6);
    std::vector<double> times;
    int solved = 0;
    double sum = 0;
    for (int k = 0; k < problems; k++) {
        KDL::Frame goal = next_frame();
        for (int i = 0; i < n; i++) start(i) = next();
        double begin = now();
        bool good = false;
        for (int tries = 0; tries < 100 && !good; tries++) {
            good = solver.CartToJnt(start, goal, out) >= 0;
            for (int i = 0; i < n; i++) start(i) = low(i) + uniform() * (high(i) - low(i));
        }
        double took = now() - begin;
        times.push_back(took);
        sum += took;
        solved += good;
    }
    std::sort(times.begin(), times.end());
    printf("%d %.6g %.6g %.6g\n", solved, times.empty() ? 0 : times[times.size() / 2],
           times.empty() ? 0 : sum / (double)problems,
           times.empty() ? 0 : times[(size_t)(0.99 * (double)times.size())]);
}
