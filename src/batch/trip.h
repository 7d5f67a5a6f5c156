// SPDX-License-Identifier: MIT
// One trip of all lanes: look at f where the last step led, take it or not, and find the next step. This is
// the schedule of damped.c and the step of step.c (solvers/), turned inside out: what loops there is a
// state here, so that a lane that needs another factorisation takes part in the next trip while its
// neighbours go on.

#define LANE(name) W(lane)[SN_LANE_##name]
// goals are far while f is above this share of what it would be with errors as large as the figure
#define FAR_SHARE 0.02

// Starts that are solved with the exact Hessian alone.
#ifndef JUMPED
#define JUMPED(value) LESS(splat(1), splat(0))
#endif

// What the lanes are about to do; masks.
typedef struct TRIP {
    BITS fresh;    // at a new pose
    BITS again;    // at the pose they were at
    BITS refine;   // ... with some put at their limits
    BITS check;    // stationary: is it a minimum?
    BITS back;     // the step was rejected, or needs more damping
    BITS move;     // there is a step
    REAL share;    // how much the step was shortened
    REAL damping;  // that the step was found with
} TRIP;

FN void end_lanes(REAL *lane, BITS which, int how) {
    lane[SN_LANE_STATE] = choose(which, splat(SN_STATE_DONE), lane[SN_LANE_STATE]);
    lane[SN_LANE_STOP] = choose(which, splat(how), lane[SN_LANE_STOP]);
}

FN void reject(ARGS, BITS which, REAL length) {
    LANE(FAILED) = choose(which, LANE(LAMBDA), LANE(FAILED));
    LANE(LAMBDA) = choose(which, largest(LANE(GROWTH) * LANE(LAMBDA), splat(1e-6)), LANE(LAMBDA));
    LANE(GROWTH) = choose(which, 2.0 * LANE(GROWTH), LANE(GROWTH));
    LANE(TRIES) = choose(which, splat(0), LANE(TRIES));
    LANE(LONGS) = choose(which, splat(0), LANE(LONGS));
    end_lanes(W(lane), which & (LESS(splat(1e10), LANE(LAMBDA)) | EQUAL(length, splat(0))),
              SN_END_STALLED);
    const BITS alive = which & ~EQUAL(LANE(STATE), splat(SN_STATE_DONE));
    end_lanes(W(lane), alive & ~LESS(LANE(ITERATIONS), splat(T(option)[3])), SN_END_ITERATIONS);
}

// After f of all lanes is known.
PART void judge(PART_ARGS, REAL value, TRIP *to) {
    HERE;
    const BITS trial = EQUAL(LANE(STATE), splat(SN_STATE_TRIAL));
    const BITS start = EQUAL(LANE(STATE), splat(SN_STATE_START));
    const BITS finite = LESS(size_of(value), splat(MOST_REAL));
    to->again = EQUAL(LANE(STATE), splat(SN_STATE_AGAIN));
    to->refine = EQUAL(LANE(STATE), splat(SN_STATE_REFINE));
    const REAL before = LANE(F), fall = before - value, promise = LANE(PROMISE);
    const BITS promised = LESS(splat(0), promise);
    const REAL ratio = choose(promised, fall / choose(promised, promise, splat(1)), splat(-1));
    // where f is at the end of its digits the model is trusted instead, as damped.c has it
    const REAL end = largest(END_OF_F * before, END_OF_R * root(2.0 * before * LANE(WHOLE)));
    const BITS blind =
        LESS(promise, 10.0 * end) & ~LESS(end, size_of(fall)) & ~LESS(LANE(FIRST), value);
    const BITS taken = trial & finite & ((LESS(splat(1e-4), ratio) & LESS(splat(0), fall)) | blind);
    const BITS rejected = trial & ~taken;
    LANE(ITERATIONS) = LANE(ITERATIONS) + choose(trial, splat(1), splat(0));
    if (ANY(rejected)) reject(PASS, rejected, LANE(LENGTH));
    to->back = rejected & ~EQUAL(LANE(STATE), splat(SN_STATE_DONE));

    // taken: how well the model did decides on damping and reach
    const REAL left = value / choose(LESS(splat(0), before), before, splat(1));
    const REAL lambda = LANE(LAMBDA);
    const BITS well = taken & LESS(splat(0.75), ratio), badly = taken & LESS(ratio, splat(0.25));
    const REAL part = choose(LESS(splat(0.9), ratio), least(splat(1. / 12.), left), splat(0.125));
    const REAL less = choose(LESS(lambda, splat(1e-8)), splat(0), lambda * part);
    LANE(LAMBDA) = choose(well, largest(less, least(lambda, root(LANE(FAILED) * lambda))),
                          choose(badly, largest(2.0 * lambda, splat(1e-6)), lambda));
    LANE(REACH) = choose(well, least(2.0 * LANE(REACH), splat(0.8)),
                         choose(badly, largest(0.5 * LANE(REACH), splat(0.05)), LANE(REACH)));
    // along a narrow, curved valley what failed is remembered longer
    const REAL kept = choose(LESS(splat(0.5), LANE(SLOW)), splat(0.88), splat(0.5));
    LANE(FAILED) = choose(well, kept * LANE(FAILED), LANE(FAILED));
    LANE(CRAWLS) = choose(taken, choose(LESS(splat(0.9), left), splat(1), splat(0)), LANE(CRAWLS));
    LANE(GROWTH) = choose(taken, splat(4), LANE(GROWTH));
    if (N(method) == 0) {
        BITS exact =
            LESS(fall, 0.2 * before) | LESS(splat(0.5), LANE(CROSSED)) | JUMPED(LANE(FIRST));
        // with limits exact while the goals are far, as damped.c has it
        if (N(limited)) exact = exact | LESS(FAR_SHARE * LANE(WHOLE), value);
        LANE(EXACT) = choose(taken, choose(exact, splat(1), splat(0)), LANE(EXACT));
    }

    const BITS probe = EQUAL(LANE(STATE), splat(SN_STATE_PROBE));
    end_lanes(W(lane), probe, SN_END_PROBED);

    // a start
    if (ANY(start)) {
        end_lanes(W(lane), start & ~finite, SN_END_ODD);
        LANE(FIRST) = choose(start, value, LANE(FIRST));
        LANE(LAMBDA) = choose(start, splat(0), LANE(LAMBDA));
        LANE(REACH) = choose(start, splat(0.4), LANE(REACH));
        LANE(GROWTH) = choose(start, splat(4), LANE(GROWTH));
        LANE(FAILED) = choose(start, splat(0), LANE(FAILED));
        const REAL first =
            pick(N(method) == 0, choose(JUMPED(value), splat(1), splat(0)), splat(N(method) == 1));
        LANE(EXACT) = choose(start, first, LANE(EXACT));
        LANE(ITERATIONS) = choose(start, splat(0), LANE(ITERATIONS));
        LANE(FACTORS) = choose(start, splat(0), LANE(FACTORS));
        LANE(CRAWLS) = choose(start, splat(0), LANE(CRAWLS));
    }
    to->fresh = taken | (start & finite);
    LANE(F) = choose(to->fresh | probe, value, before);
    LANE(TRIES) = choose(to->fresh, splat(0), LANE(TRIES));
    LANE(LONGS) = choose(to->fresh, splat(0), LANE(LONGS));
    LANE(CROSSED) = choose(to->fresh, splat(0), LANE(CROSSED));
    for (int i = 0; i < N(nq); i++) W(q)[i] = choose(to->fresh, W(x)[i], W(q)[i]);
    const REAL slow =
        choose(LESS(splat(12), LANE(ITERATIONS)), LANE(CRAWLS), splat(0));  // FEW_STEPS of damped.c
    LANE(SLOW) = choose(to->fresh | to->back, slow, LANE(SLOW));
    const BITS met = taken & ~LESS(LANE(GOAL), LANE(F));
    if (ANY(met)) {
        end_lanes(W(lane), met, SN_END_GOAL);
        LANE(GRADIENT) = choose(met, splat(-1), LANE(GRADIENT));
        to->fresh = to->fresh & ~met;
    }
}

// D^2 and what f would be with errors as large as the figure, from the Gauss-Newton diagonal: sn_solver_find_scale() and
// sn_damped_measure().
PART void find_scale(PART_ARGS, BITS which, BITS start) {
    HERE;
    REAL top = splat(0),
         whole = N(matrix) ? diagonal_sweep(PASS_ON, splat(0)) : weight_sweep(PASS_ON);
    const REAL noise = ROUNDING * whole;
    LANE(NOISE) = choose(which, noise, LANE(NOISE));
    REAL most = choose(start, splat(0), LANE(MOST)), most2 = choose(start, splat(0), LANE(MOST2));
    for (int i = 0; i < N(nv); i++) {
        const REAL d = W(y)[i], old = W(scale)[i];
        const REAL scale = choose(start, d, largest(d, old));
        W(seen)[i] = choose(which, d, W(seen)[i]);
        W(scale)[i] = choose(which, scale, old);
        top = largest(top, W(scale)[i]);
        const NUMBER gain = T(gain)[i];
        if (gain > 0) {
            REAL plain = d;
            if (gain != 1) plain = d / (gain * gain);
            if (T(length)[i]) {
                most2 = largest(most2, plain);
            } else {
                most = largest(most, plain);
            }
        }
        if (!T(length)[i]) whole = largest(whole, d);
    }
    LANE(MOST) = choose(which, most, LANE(MOST));
    LANE(MOST2) = choose(which, most2, LANE(MOST2));
    whole = choose(start, whole, largest(whole, LANE(WHOLE)));
    LANE(WHOLE) = choose(which, whole, LANE(WHOLE));
    const REAL goal = pick(T(option)[1] < 0, T(option)[2] * whole, splat(T(option)[1]));
    LANE(GOAL) = choose(which, goal, LANE(GOAL));
    const REAL low = 1e-6 * top + (noise + LEAST_REAL);
    for (int i = 0; i < N(nv); i++)
        W(scale)[i] = choose(which, largest(W(scale)[i], low), W(scale)[i]);
}

// Which degrees of freedom may move, the relative projected gradient, and reasons to end.
PART void look_around(PART_ARGS, TRIP *to, FACTOR *f) {
    HERE;
    // the largest of g^2 / scale as a fraction: there is one division, not one each
    REAL worst = splat(0), under = splat(1), pull = splat(0), active = splat(0);
    const REAL noise = LANE(NOISE), faint = BLIND * noise * LANE(F);
    BITS unseen = LESS(splat(1), splat(0));
    for (int i = 0; i < N(nv); i++) {
        const REAL g = W(g)[i], square = g * g, scale = W(scale)[i];
        BITS held = LESS(splat(1), splat(0));
        if (N(limited) && T(q_of)[i] >= 0) {
            const REAL x = W(q)[T(q_of)[i]];
            held = (~LESS(splat(T(low)[i]), x) & LESS(splat(0), g)) |
                   (~LESS(x, splat(T(high)[i])) & LESS(g, splat(0)));
            active = active + choose(held, splat(1), splat(0));
        }
        const BITS blind = ~LESS(noise, W(seen)[i]) & ~LESS(faint, square);
        unseen = unseen | blind;
        const REAL keep = pick(
            T(gain)[i] != 0, choose(held, splat(0), choose(blind, splat(-1), splat(1))), splat(0));
        const BITS moves = LESS(splat(0.5), keep);
        const BITS worse = moves & LESS(worst * scale, square * under);
        W(keep)[i] = keep;
        W(step)[i] = choose(moves, -g, splat(0));
        worst = choose(worse, square, worst);
        under = choose(worse, scale, under);
        pull = choose(moves, largest(pull, size_of(g)), pull);
    }
    worst = worst / under;
    const BITS fresh = to->fresh, some = LESS(splat(0), LANE(F));
    const REAL gradient =
        choose(some, root(worst / (2.0 * choose(some, LANE(F), splat(1)))), splat(0));
    LANE(GRADIENT) = choose(fresh, gradient, LANE(GRADIENT));
    LANE(ACTIVE) = choose(fresh, active, LANE(ACTIVE));
    const BITS met = fresh & ~LESS(LANE(GOAL), LANE(F));
    const BITS still = fresh & ~met & ~LESS(splat(T(option)[0]), gradient);
    const BITS out = fresh & ~met & ~still & ~LESS(LANE(ITERATIONS), splat(T(option)[3]));
    end_lanes(W(lane), met, SN_END_GOAL);
    end_lanes(W(lane), out, SN_END_ITERATIONS);
    to->check = still;
    to->fresh = fresh & ~met & ~still & ~out;
    // damping that falls with the gradient, and a little while there is far to go
    const REAL first = choose(some, LANE(FIRST), splat(1));
    const REAL lambda =
        largest(least(LANE(LAMBDA), gradient), 2e-6 * gradient * gradient * (LANE(F) / first));
    LANE(LAMBDA) = choose(to->fresh, lambda, LANE(LAMBDA));
    f->most = LANE(MOST);
    f->most2 = LANE(MOST2);
    f->metric = choose(still, splat(0), LANE(LAMBDA));
    f->scale = choose(still, splat(1e-8), splat(LEAST_DAMPING));
    f->add = choose(still, largest(100.0 * LANE(NOISE), 4.0 * pull), splat(0));
    f->failed = LESS(splat(1), splat(0));
    f->pivot = f->at = splat(0);
    if (ANY(still & unseen)) {
        // also what no task sees counts where f bends
        (void)diagonal_sweep(PASS_ON, splat(1));
        for (int i = 0; i < N(nv); i++) {
            const BITS bends =
                LESS(100.0 * LANE(NOISE), size_of(W(y)[i])) & LESS(W(keep)[i], splat(-0.5));
            W(keep)[i] = choose(still & bends, splat(1), W(keep)[i]);
        }
    }
}

// A failed pivot with the direction (in the place of a step) along which the matrix bends by it says how much damping is
// missing.
PART void raise_damping(PART_ARGS, BITS which, const FACTOR *f) {
    HERE;
    REAL square = splat(0);
    for (int i = 0; i < N(nv); i++)
        square = square + metric_of(PASS, i, f->most, f->most2) * W(step)[i] * W(step)[i];
    const BITS some = LESS(splat(0), square);
    const REAL missing =
        choose(some, largest(-f->pivot, splat(0)) / choose(some, square, splat(1)), splat(0));
    const REAL lambda = LANE(LAMBDA);
    const REAL little = choose(LESS(splat(0.5), LANE(SLOW)), splat(1e-8), splat(1e-6));
    LANE(LAMBDA) =
        choose(which, largest(largest(2.0 * lambda, little), lambda + 1.1 * missing), lambda);
    LANE(TRIES) = LANE(TRIES) + choose(which, splat(1), splat(0));
    // when even a lot is not enough there is no step
    const BITS enough = which & LESS(splat(39.5), LANE(TRIES));
    if (ANY(enough)) {
        LANE(ITERATIONS) = LANE(ITERATIONS) + choose(enough, splat(1), splat(0));
        reject(PASS, enough, splat(1));
    }
}

// Steps that turn a joint too far: the damping with which they would not (step.c).
PART void shorten(PART_ARGS, BITS which, REAL turn, TRIP *to, const FACTOR *f) {
    HERE;
    REAL square = splat(0);
    for (int i = 0; i < N(nv); i++) {
        const BITS keep = LESS(splat(0.5), W(keep)[i]);
        const REAL y = metric_of(PASS, i, f->most, f->most2) * W(step)[i];
        W(z)[i] = choose(keep, y, splat(0));
        square = square + W(z)[i] * W(step)[i];
    }
    const REAL slope = reduce(PASS_ON, W(z));
    const BITS some = LESS(splat(0), slope);
    const REAL ratio = turn / LANE(REACH), lambda = LANE(LAMBDA);
    const REAL more =
        choose(some, (ratio - 1.0) * square / choose(some, slope, splat(1)), splat(0));
    LANE(LAMBDA) = choose(which, lambda + largest(more, 1e-3 * lambda + 1e-12), lambda);
    LANE(LONGS) = LANE(LONGS) + choose(which, splat(1), splat(0));
    const BITS enough = which & LESS(splat(7.5), LANE(LONGS));
    to->back = to->back | (which & ~enough);
    to->share = choose(enough, 1.0 / ratio, splat(1));
    if (ANY(enough))
        for (int i = 0; i < N(nv); i++) W(step)[i] = to->share * W(step)[i];
}

// How far degree of freedom i goes along `step` inside its limits.
FN REAL clamp_move(ARGS, int i, REAL step) {
    const int at = T(q_of)[i];
    if (!N(limited) || at < 0 || T(gain)[i] == 0) return step;
    const REAL q = W(q)[at], x = q + T(gain)[i] * step;
    const REAL low = splat(T(low)[i]), high = splat(T(high)[i]);
    return choose(LESS(x, low), (low - q) / T(gain)[i],
                  choose(LESS(high, x), (high - q) / T(gain)[i], step));
}

// Of a lane that is refined: put what its step carries past a limit there. True where there was any.
FN BITS close_limits(ARGS, BITS which, const int fresh) {
    BITS closed = LESS(splat(1), splat(0));
    for (int i = 0; i < N(nv); i++) {
        const REAL step = W(step)[i], at = clamp_move(PASS, i, step);
        const BITS was = LESS(splat(0.5), pick(fresh, W(keep)[i], W(open)[i]));
        const BITS shut = was & ~EQUAL(at, step);
        closed = closed | shut;
        W(open)[i] = choose(which, choose(was & ~shut, splat(1), splat(0)), W(open)[i]);
        W(fixed)
        [i] = choose(which, choose(was & ~shut, splat(0), choose(shut, at, step)), W(fixed)[i]);
    }
    return closed & which;
}

// The right side of a step with some put at their limits.
PART void refine(PART_ARGS, BITS which, REAL e) {
    HERE;
    multiply(PASS_ON, e, W(fixed), W(z));
    for (int i = 0; i < N(nv); i++) {
        const REAL pull = choose(LESS(splat(0.5), W(open)[i]), -(W(g)[i] + W(z)[i]), splat(0));
        W(keep)[i] = choose(which, W(open)[i], W(keep)[i]);
        W(step)[i] = choose(which, pull, W(step)[i]);
    }
}

// Steps that a limit stopped: first the plain projection's promise, then, a trip each, the others solved
// again with those put at their limits; the better of the two is taken.
PART void mind_limits(PART_ARGS, BITS crossing, BITS refined, BITS given_up, REAL e, TRIP *to) {
    HERE;
    const BITS none = LESS(splat(1), splat(0));
    BITS more = none, last = none;
    if (ANY(refined)) {
        LANE(ROUND) = LANE(ROUND) + choose(refined, splat(1), splat(0));
        const BITS full = refined & LESS(splat(3.5), LANE(ROUND));
        more = close_limits(PASS, refined & ~full, 0);
        last = refined & ~more;
        if (ANY(full))
            for (int i = 0; i < N(nv); i++)
                W(step)[i] = choose(full, clamp_move(PASS, i, W(step)[i]), W(step)[i]);
    }
    REAL a = splat(0), b = splat(0);
    if (ANY(crossing | last)) {
        for (int i = 0; i < N(nv); i++) W(y)[i] = choose(crossing, W(plain)[i], W(step)[i]);
        multiply(PASS_ON, e, W(y), W(z));
        for (int i = 0; i < N(nv); i++) {
            a = a + W(g)[i] * W(y)[i];
            b = b + W(y)[i] * W(z)[i];
        }
        LANE(SLOPE) = choose(crossing, a, LANE(SLOPE));
        LANE(BEND) = choose(crossing, b, LANE(BEND));
        LANE(CROSSED) = choose(crossing, splat(1), LANE(CROSSED));
        LANE(ROUND) = choose(crossing, splat(0), LANE(ROUND));
        more = more | close_limits(PASS, crossing, 1);
    }
    const REAL plain = -(LANE(SLOPE) + 0.5 * LANE(BEND)), promise = -(a + 0.5 * b);
    const BITS better = last & LESS(plain, promise), fall_back = (last & ~better) | given_up;
    if (ANY(fall_back)) {
        // shorter, while the projection spoils the model
        REAL t = splat(1), p = plain;
        for (int n = 0; n < 12; n++) {
            const BITS bad = ~LESS(splat(0), p);
            t = choose(bad, 0.5 * t, t);
            p = -(t * LANE(SLOPE) + 0.5 * t * t * LANE(BEND));
        }
        for (int i = 0; i < N(nv); i++) W(step)[i] = choose(fall_back, t * W(plain)[i], W(step)[i]);
        LANE(PROMISE) = choose(fall_back, p, LANE(PROMISE));
    }
    LANE(PROMISE) = choose(better, promise, LANE(PROMISE));
    to->move = to->move | better | fall_back;
    LANE(STATE) = choose(more, splat(SN_STATE_REFINE), LANE(STATE));
}

// The largest turn of a step, and what the model promises of it; returned: some of it goes past a limit. A step that
// stays inside needs no product with H.
FN BITS measure_step(ARGS, BITS going, REAL *turn, REAL *slope, REAL *damped) {
    REAL most = splat(0), down = splat(0), held = splat(0);
    BITS outside = LESS(splat(1), splat(0));
    for (int i = 0; i < N(nv); i++) {
        const REAL step = W(step)[i], at = clamp_move(PASS, i, step);
        if (!T(length)[i]) most = largest(most, size_of(T(gain)[i] * step));
        if (N(limited)) outside = outside | ~EQUAL(at, step);
        down = down + W(g)[i] * step;
        held = held + W(diagonal)[i] * step * step;
        if (N(limited)) W(plain)[i] = choose(going, at, W(plain)[i]);
    }
    *turn = most;
    *slope = down;
    *damped = held;
    return outside;
}

// q turned by the rotation vector d: exp(d) q.
FN void turn_quaternion(const REAL *q, const REAL *d, REAL *out) {
    REAL e[4], c, s;
    const REAL t2 = 0.25 * dot3(d, d);
    REAL sine = SERIES(t2, splat(1), -1. / 6., 1. / 120., -1. / 5040., 1. / 362880.,
                       -1. / 39916800., 1. / 6227020800., -1. / 1307674368000.,
                       1. / 355687428096000., -1. / 121645100408832000.);
    const BITS far = ~LESS(t2, splat(1));
    const REAL t = root(t2);
    sine_cosine(t, &s, &c);
    sine = choose(far, s / choose(far, t, splat(1)), sine);
    e[0] = c;
    for (int i = 0; i < 3; i++) e[1 + i] = 0.5 * sine * d[i];
    quat_product(e, q, out);
    const REAL square = (out[0] * out[0] + out[1] * out[1]) + (out[2] * out[2] + out[3] * out[3]);
    const REAL norm = root(square);
    const BITS still = EQUAL(d[0], splat(0)) & EQUAL(d[1], splat(0)) & EQUAL(d[2], splat(0));
    for (int i = 0; i < 4; i++) out[i] = choose(still, q[i], out[i] / norm);
}

// x = q moved by the step where there is one, else q.
PART void move_lanes(PART_ARGS, BITS which) {
    HERE;
    REAL square = splat(0);
    for (int k = 0; k < N(nj); k++) {
        const int first = T(slot)[k], at = T(q0)[k], m = T(jnv)[k];
        const int plain = T(quat)[k] < 0 ? m : m - 3;
        for (int a = 0; a < plain; a++) {
            const int i = first + a;
            const REAL q = W(q)[at + a], step = W(step)[i];
            REAL x = q + T(gain)[i] * step, moved = step;
            if (N(limited) && T(gain)[i] != 0) {
                const REAL low = splat(T(low)[i]), high = splat(T(high)[i]);
                const BITS under = LESS(x, low), over = LESS(high, x);
                x = choose(under, low, choose(over, high, x));
                moved = choose(under | over, (x - q) / T(gain)[i], moved);
            }
            square = square + moved * moved;
            W(x)[at + a] = choose(which, x, q);
        }
        if (T(quat)[k] < 0) continue;
        REAL d[3], out[4];
        for (int a = 0; a < 3; a++) {
            const REAL step = W(step)[first + plain + a];
            d[a] = T(gain)[first + plain + a] * step;
            square = square + step * step;
        }
        turn_quaternion(W(q) + at + plain, d, out);
        for (int a = 0; a < 4; a++)
            W(x)[at + plain + a] = choose(which, out[a], W(q)[at + plain + a]);
    }
    LANE(LENGTH) = choose(which, root(square), LANE(LENGTH));
    LANE(STATE) = choose(which, splat(SN_STATE_TRIAL), LANE(STATE));
}

FN void trip(PART_ARGS) {
    HERE;
    TRIP to;
    FACTOR f;
    place(PASS_ON);
    REAL value = sum_sweep(PASS_ON);
    if (SN_BATCH_OWN) value = value + rest_value(PASS);
    const BITS start = EQUAL(LANE(STATE), splat(SN_STATE_START));
    judge(PASS_ON, value, &to);
    to.check = to.move = LESS(splat(1), splat(0));
    to.share = splat(1);
    const BITS measured = to.fresh & (start | ~LESS(splat(0.5), LANE(EXACT)));
    if (ANY(measured)) find_scale(PASS_ON, measured, measured & start);
    if (N(method) == 0 && N(limited) && ANY(measured & start)) {
        const BITS far = measured & start & LESS(FAR_SHARE * LANE(WHOLE), LANE(F));
        LANE(EXACT) = choose(far, splat(1), LANE(EXACT));
    }
    look_around(PASS_ON, &to, &f);
    const BITS here = to.fresh | to.again | to.refine | to.check;
    if (ANY(here)) {
        const REAL e = choose(to.check, splat(1), LANE(EXACT));
        if (ANY(to.refine)) refine(PASS_ON, to.refine, e);
        factor_sweep(PASS_ON, e, &f, W(step));
        LANE(FACTORS) = LANE(FACTORS) + choose(here, splat(1), splat(0));
        end_lanes(W(lane), to.check & ~f.failed, SN_END_MINIMUM);
        end_lanes(W(lane), to.check & f.failed, SN_END_SADDLE);
        const BITS plain = to.fresh | to.again, stuck = plain & f.failed;
        const BITS given_up = to.refine & f.failed, refined = to.refine & ~f.failed;
        // where there is no step its place is for the direction along which the matrix bends downwards
        if (ANY(stuck))
            for (int i = 0; i < N(nv); i++) W(step)
        [i] = choose(stuck, choose(EQUAL(f.at, splat(i)), splat(1), splat(0)), W(step)[i]);
        substitute(PASS_ON, W(step));
        if (ANY(stuck)) {
            raise_damping(PASS_ON, stuck, &f);
            to.back = to.back | (stuck & ~EQUAL(LANE(STATE), splat(SN_STATE_DONE)));
        }
        if (ANY(refined))
            for (int i = 0; i < N(nv); i++) W(step)
        [i] = choose(refined & ~LESS(splat(0.5), W(open)[i]), W(fixed)[i], W(step)[i]);
        BITS going = plain & ~f.failed;
        REAL turn, slope, damped;
        BITS outside = measure_step(PASS, going, &turn, &slope, &damped);
        const BITS far = going & LESS(1.2 * LANE(REACH), turn);
        if (ANY(far)) {
            shorten(PASS_ON, far, turn, &to, &f);
            going = going & ~(far & to.back);
            outside = measure_step(PASS, going, &turn, &slope, &damped);
        }
        LANE(PROMISE) = choose(going, 0.5 * damped - (1.0 - 0.5 * to.share) * slope, LANE(PROMISE));
        const BITS crossing = going & outside;
        to.move = going & ~outside;
        LANE(CROSSED) = choose(to.move, splat(0), LANE(CROSSED));
        if (ANY(crossing | refined | given_up))
            mind_limits(PASS_ON, crossing, refined, given_up, e, &to);
    }
    LANE(STATE) = choose(to.back, splat(SN_STATE_AGAIN), LANE(STATE));
    move_lanes(PASS_ON, to.move);
}
