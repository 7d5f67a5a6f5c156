// SPDX-License-Identifier: MIT
// Chains of frames, one for each thread at a time; who is done takes the next that nobody has begun. One
// trip is one turn of the loop, whatever frame a thread is at.

// Where the motion of the last two frames goes on: `previous` and q.
static void go_on(work *room) {
    for (int k = 0; k < N(nj); k++) {
        const int at = T(q0)[k], m = T(jnv)[k], first = T(slot)[k];
        const int plain = T(quat)[k] < 0 ? m : m - 3;
        for (int a = 0; a < plain; a++) {
            REAL x = 2 * room->q[at + a] - room->previous[at + a];
            const REAL low = T(low)[first + a], high = T(high)[first + a];
            x = x < low ? low : x > high ? high : x;
            room->x[at + a] = x;
        }
        if (T(quat)[k] < 0) continue;
        REAL back[4], turn[4], out[4];
        const REAL *q = room->q + at + plain;
        for (int a = 0; a < 4; a++) back[a] = a == 0 ? room->previous[at + plain] : -room->previous[at + plain + a];
        quat_product(q, back, turn);
        quat_product(turn, q, out);
        const REAL norm =
            sqrt((out[0] * out[0] + out[1] * out[1]) + (out[2] * out[2] + out[3] * out[3]));
        for (int a = 0; a < 4; a++) room->x[at + plain + a] = out[a] / norm;
    }
}

// @param goals   nchain x nframe rows
// @param starts  nchain poses
// @param poses   nchain x nframe
// @param stats   four for each row: how it ended, f, relative gradient, iterations
// @param next    counters (lists.h)
// @param most    trips after which a row is given up
// @param frames  0, or only rows that are listed, each on its own, of chains of so many frames
// @param list    which rows; then their poses go to
// @param fixed   one after the other, so that what others are pulled to stays
// @param rare    lists no longer than this are left as they are
// @param from    frames of the chains before these, @param heads  the last two poses of each chain then: for lists
__kernel void sn_batch_chains(__global const double *goals, __global const double *starts,
                              __global double *poses, __global double *stats, const int nchain,
                              const int nframe, const int extrapolate, __global int *next,
                              const int most, const int frames, __global const int *list,
                              __global double *fixed, const int rare, const int from,
                              __global const double *heads) {
    work mine;
    work *room = &mine;
    const int listed = next[SN_NEXT_COUNT2];
    const int count = frames == 0 ? nchain : listed > rare ? listed : 0;
    __global int *turns = next + (frames > 0 ? SN_NEXT_ROW2 : SN_NEXT_CHAIN);
    int turn = atomic_inc(turns), frame = 0, trips = 0, fresh = 1;
    // one way back to the head of the loop: there threads that go side by side meet again
    while (turn < count) {
        const int chain = frames > 0 ? list[turn] : turn;
        const size_t at = (size_t)chain * nframe + frame;
        if (fresh) {
            fresh = 0;
            trips = 0;
            room->row = goals + at * N(ngoal);
            if (frame == 0) {
                for (int i = 0; i < N(nq); i++)
                    room->x[i] = (REAL)starts[(size_t)chain * N(nq) + i];
            }
            for (int i = 0; i < N(nq); i++) room->q[i] = room->x[i];
            for (int i = 0; i < SN_LANE_COUNT; i++) room->lane[i] = 0;
            LANE(STATE) = SN_STATE_START;
            if (N(pulled)) {
                const int pulled = frame > 0 || (frames > 0 && from + chain % frames > 0);
                __global const double *last =
                    frames > 0 ? pose_back(poses, heads, chain / frames, chain % frames, frames, 1) : poses;
                LANE(PULL) = pulled;
                // nothing is pulled to where it is
                for (int i = 0; i < N(nq); i++)
                    room->anchor[i] = !pulled      ? room->x[i]
                                      : frames > 0 ? (REAL)last[i]
                                                   : room->previous[i];
            }
        }
        trip(room);
        trips++;
        if (LANE(STATE) == SN_STATE_DONE || trips >= most) {
            __global double *out = frames > 0 ? fixed + (size_t)turn * N(nq) : poses + at * N(nq);
            for (int i = 0; i < N(nq); i++) out[i] = room->q[i];
            stats[4 * at] = LANE(STATE) == SN_STATE_DONE ? LANE(STOP) : SN_END_ITERATIONS;
            stats[4 * at + 1] = LANE(F);
            stats[4 * at + 2] = LANE(GRADIENT);
            stats[4 * at + 3] = LANE(ITERATIONS);
            fresh = 1;
            if (++frame >= nframe) {
                turn = atomic_inc(turns);
                frame = 0;
            } else {
                if (frame > 1 && extrapolate) {
                    go_on(room);
                } else {
                    for (int i = 0; i < N(nq); i++) room->x[i] = room->q[i];
                }
                for (int i = 0; i < N(nq); i++) room->previous[i] = room->q[i];
            }
        }
    }
}

// The poses of listed rows to their places. @param which  counts them, @param rare  see above
__kernel void sn_batch_put(__global double *poses, __global const int *next, const int which,
                           __global const int *list, __global const double *fixed, const int rare) {
    const int count = next[which] > rare ? next[which] : 0;
    for (int turn = (int)get_global_id(0); turn < count; turn += (int)get_global_size(0))
        for (int i = 0; i < N(nq); i++)
            poses[(size_t)list[turn] * N(nq) + i] = fixed[(size_t)turn * N(nq) + i];
}

// The last two poses of each chain, for the frames behind this piece.
__kernel void sn_batch_heads(__global const double *poses, __global const double *old, __global double *heads,
                             const int nchain, const int nframe) {
    for (int turn = (int)get_global_id(0); turn < 2 * nchain; turn += (int)get_global_size(0)) {
        __global const double *from = pose_back(poses, old, turn / 2, nframe, nframe, 1 + turn % 2);
        for (int i = 0; i < N(nq); i++) heads[(size_t)turn * N(nq) + i] = from[i];
    }
}
