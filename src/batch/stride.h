// SPDX-License-Identifier: MIT
// One stride of all lanes: a plain Newton step from a pose that is nearly right, as nearly all of a take's are, with
// nothing around it.
//
// A solver is ready for anything; here a lane starts at its neighbour's pose, and one or two exact steps end at the
// bottom. Whatever is not so (a step that is long or leads upwards) ends as odd and is left to the solver. Where the
// exact Hessian is not positive definite Gauss and Newton's does. Limits are not looked at.

// A step is the last when it promises less than this share of f: what is left after it is of second order. A short
// step (radians or metres) by the exact Hessian squares the share, so a larger one will do, above all where
// another solve follows.
#define ENOUGH          2e-3
#define ENOUGH_EXACT    0.1
#define ENOUGH_AT_FIRST 0.25
#define SHORT_STEP      0.1
// Longer steps are not what this is for, radians or metres.
#define LONGEST_STEP 0.35
#define MOST_STRIDES 6

FN void stride(PART_ARGS) {
    HERE;
    const BITS none = LESS(splat(1), splat(0));
    const BITS start = EQUAL(LANE(STATE), splat(SN_STATE_START));
    const BITS here = start | EQUAL(LANE(STATE), splat(SN_STATE_TRIAL)) |
                      EQUAL(LANE(STATE), splat(SN_STATE_AGAIN));
    FACTOR f = {none, splat(0), splat(0), splat(0), splat(0), splat(0), splat(0), splat(0)};
    place(PASS_ON);
    REAL value = sum_sweep(PASS_ON);
    if (SN_BATCH_OWN) value = value + rest_value(PASS);
    // before the first step the exact Hessian is seldom positive definite, but near the bottom
    LANE(EXACT) = choose(start, LANE(NEAR), LANE(EXACT));
    LANE(REFUSED) = choose(start, splat(0), LANE(REFUSED));
    LANE(ITERATIONS) = choose(start, splat(0), LANE(ITERATIONS));
    LANE(FACTORS) = choose(start, splat(0), LANE(FACTORS)) + choose(here, splat(1), splat(0));
    // upwards: rounding aside
    const REAL last = choose(start, splat(MOST_REAL), LANE(F) * (1 + 1e-9));
    BITS odd = here & (LESS(last, value) | ~LESS(size_of(value), splat(MOST_REAL)));
    LANE(F) = choose(here, value, LANE(F));
    for (int i = 0; i < N(nq); i++) W(q)[i] = choose(here, W(x)[i], W(q)[i]);
    for (int i = 0; i < N(nv); i++) {
        W(keep)[i] = splat(T(gain)[i] != 0);
        W(scale)[i] = splat(0);
        W(step)[i] = pick(T(gain)[i] != 0, -W(g)[i], splat(0));
    }
    factor_sweep(PASS_ON, LANE(EXACT), &f, W(step));
    // not positive definite here: nor will it be a little further on
    const BITS exact = LESS(splat(0.5), LANE(EXACT));
    const BITS again = here & ~odd & f.failed & exact;
    odd = odd | (here & f.failed & ~exact);
    substitute(PASS_ON, W(step));
    REAL slope = splat(0), size = splat(0);
    for (int i = 0; i < N(nv); i++) {
        slope = slope + W(g)[i] * W(step)[i];
        size = largest(size, size_of(T(gain)[i] * W(step)[i]));
    }
    const REAL promise = -0.5 * slope;
    const BITS good = ~LESS(promise, splat(0)) & EQUAL(promise, promise);
    BITS going = here & ~odd & ~again;
    odd = odd | (going & ~(good & LESS(size, splat(LONGEST_STEP))));
    going = going & ~odd;
    move_lanes(PASS_ON, going);
    LANE(ITERATIONS) = LANE(ITERATIONS) + choose(going, splat(1), splat(0));
    const REAL share =
        choose(LESS(splat(0.5), LANE(NEAR)), splat(ENOUGH_EXACT), splat(ENOUGH_AT_FIRST));
    const REAL enough = choose(exact & LESS(size, splat(SHORT_STEP)), share, splat(ENOUGH));
    const BITS done = going & ~LESS(enough * value, promise);
    LANE(F) = choose(done, value - promise, LANE(F));
    LANE(REFUSED) = choose(again, splat(1), LANE(REFUSED));
    LANE(EXACT) = choose(again, splat(0), choose(going, splat(1) - LANE(REFUSED), LANE(EXACT)));
    LANE(STATE) = choose(again, splat(SN_STATE_AGAIN), LANE(STATE));
    const BITS late = going & ~done & ~LESS(LANE(ITERATIONS), splat(MOST_STRIDES));
    end_lanes(W(lane), done, SN_END_MINIMUM);
    end_lanes(W(lane), odd, SN_END_ODD);
    end_lanes(W(lane), late, SN_END_ITERATIONS);
    // the last step is taken without another look
    if (ANY(done | late))
        for (int i = 0; i < N(nq); i++) W(q)[i] = choose(done | late, W(x)[i], W(q)[i]);
}
