// SPDX-License-Identifier: MIT
// Where the documents are wrong (docs/errata.md): each formula as printed fails a numerical check that
// the right one passes. 000 ... 004 are the documents' numbers. Single formulas of 002 to 004 are in
// test_errata_formulas.c, whole procedures in test_procedures.c.
#include "errata.h"

static void cross_product_matrices(void **unused) {
    (void)unused;
    uint64_t state = 1;
    sn_vec3 a = random_vector(&state), b = random_vector(&state), truth = v3_cross(a, b);
    // by columns, as 000 (5) and 002 (A.8) print their rows
    sn_mat3 from000 = {{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
    sn_mat3 from002 = {{{0, -a.y, a.z}, {a.y, 0, -a.x}, {-a.z, a.x, 0}}};
    judge("000 (5)", gap(apply(from000, b), truth), gap(apply(m3_skew(a), b), truth), 1e-15);
    judge("002 (A.8)", gap(apply(from002, b), truth), gap(apply(m3_skew(a), b), truth), 1e-15);
    // (4a): the derivative of a rotation about z
    const double h = 1e-6;
    sn_mat3 Rz = turn(ez, 0.7), print4a = {{{0, -1, 0}, {1, 0, 0}, {0, 0, 0}}};
    sn_vec3 slope =
        v3_scale(1 / (2 * h), v3_sub(apply(turn(ez, 0.7 + h), b), apply(turn(ez, 0.7 - h), b)));
    judge("000 (4a)", gap(apply(times(print4a, Rz), b), slope),
          gap(apply(times(m3_skew(ez), Rz), b), slope), 1e-9);
    // the sign alone mends 000's, not 002's
    assert_true(gap(v3_neg(apply(from000, b)), truth) < 1e-15);
    assert_true(gap(v3_neg(apply(from002, b)), truth) > 1e-2);
}

// A chain of hinges with frames T_i: turn about axis[i], then move by step[i] in the turned frame.
enum { N = 5 };

typedef struct hinges {
    sn_vec3 axis[N], step[N];
    double angle[N];
} hinges;

static hinges random_hinges(uint64_t *state) {
    hinges c;
    for (int i = 0; i < N; i++) {
        c.axis[i] = random_vector(state);
        c.axis[i] = v3_scale(1 / v3_norm(c.axis[i]), c.axis[i]);
        c.step[i] = random_vector(state);
        c.angle[i] = uniform(state, -2, 2);
    }
    return c;
}

// T_from ... T_to applied to a point (w = 1) or a direction (w = 0).
static sn_vec3 product(const hinges *c, int from, int to, sn_vec3 x, double w) {
    for (int i = to; i >= from; i--)
        x = apply(turn(c->axis[i], c->angle[i]), v3_add(x, v3_scale(w, c->step[i])));
    return x;
}

static sn_vec3 tip(const hinges *c) { return product(c, 0, N - 1, v3(0, 0, 0), 1); }

static sn_vec3 difference2(hinges c, int i, int j) {
    const double h = 1e-4;
    sn_vec3 sum = v3(0, 0, 0);
    for (int a = -1; a <= 1; a += 2)
        for (int b = -1; b <= 1; b += 2) {
            hinges d = c;
            d.angle[i] += a * h;
            d.angle[j] += b * h;
            sum = v3_add(sum, v3_scale(a * b / (4 * h * h), tip(&d)));
        }
    return sum;
}

// dT_i/dangle_i of a point or direction: always a direction.
static sn_vec3 derivative(const hinges *c, int i, sn_vec3 x, double w) {
    return v3_cross(c->axis[i], product(c, i, i, x, w));
}

static void ranges_of_second_derivatives(void **unused) {
    (void)unused;
    uint64_t state = 2;
    hinges c = random_hinges(&state);
    int h = 1, k = 3;
    sn_vec3 zero = v3(0, 0, 0), truth = difference2(c, h, k);
    // (18b): X_0^{h-1} dT_h X_0^{k-1} dT_k X_0^N t
    sn_vec3 x = derivative(&c, k, product(&c, 0, N - 1, zero, 1), 1);
    sn_vec3 printed = product(&c, 0, h - 1, derivative(&c, h, product(&c, 0, k - 1, x, 0), 0), 0);
    // X_0^{h-1} dT_h X_{h+1}^{k-1} dT_k X_{k+1}^N t
    sn_vec3 y = derivative(&c, k, product(&c, k + 1, N - 1, zero, 1), 1);
    sn_vec3 right = product(&c, 0, h - 1, derivative(&c, h, product(&c, h + 1, k - 1, y, 0), 0), 0);
    judge("000 (18b)", gap(printed, truth), gap(right, truth), 1e-6);
}

// 000 (12): Delta p = R [p; 1]. What multiplies four numbers and has R in it is [R t], the upper part of T: so
// t would be in Delta p, which the derivative of T [p; 1] has lost. After (15): [t]_k is said to be in the (k+1)th
// frame; then the transform to the world from there would give the tip.
static void tool_vectors_of_000(void **unused) {
    (void)unused;
    uint64_t state = 41;
    const double h = 1e-6, angle = 0.9;
    sn_vec3 axis = random_axis(&state), t = random_vector(&state), p = random_vector(&state);
    sn_vec3 truth = v3_scale(1 / (2 * h), v3_sub(v3_add(apply(turn(axis, angle + h), p), t),
                                                 v3_add(apply(turn(axis, angle - h), p), t)));
    sn_vec3 columns[4] = {turn(axis, angle).c[0], turn(axis, angle).c[1], turn(axis, angle).c[2],
                          t};
    const double four[4] = {p.x, p.y, p.z, 1};
    sn_vec3 printed = v3(0, 0, 0);
    for (int i = 0; i < 4; i++) printed = v3_add(printed, v3_scale(four[i], columns[i]));
    judge("000 (12), Delta p", gap(v3_cross(axis, printed), truth),
          gap(v3_cross(axis, apply(turn(axis, angle), p)), truth), 1e-9);

    hinges c = random_hinges(&state);
    const int k = 1;
    sn_vec3 tool = product(&c, k + 1, N - 1, v3(0, 0, 0), 1);  // (15)
    judge("000 after (15), the frame of [t]_k", gap(product(&c, 0, k + 1, tool, 1), tip(&c)),
          gap(product(&c, 0, k, tool, 1), tip(&c)), 1e-14);
}

// 002 (A.16) has a 0 in the lower right corner: in a product of two, the first one's place is lost.
static void corner_of_002(void **unused) {
    (void)unused;
    uint64_t state = 42;
    sn_frame f[2];
    double off[2];
    for (int i = 0; i < 2; i++) {
        f[i].R = times(times(turn(ez, uniform(&state, -1, 1)), turn(ey, uniform(&state, -1, 1))),
                       turn(ez, uniform(&state, -1, 1)));
        f[i].p = random_vector(&state);
    }
    sn_vec3 truth = frame_mul(&f[0], &f[1]).p;
    for (int corner = 0; corner < 2; corner++) {
        double T[2][4][4], place[3];
        for (int i = 0; i < 2; i++)
            for (int column = 0; column < 4; column++) {
                sn_vec3 upper = column < 3 ? f[i].R.c[column] : f[i].p;
                for (int row = 0; row < 3; row++) T[i][row][column] = v3_at(upper, row);
                T[i][3][column] = column < 3 ? 0 : corner;
            }
        for (int row = 0; row < 3; row++) {
            place[row] = 0;
            for (int i = 0; i < 4; i++) place[row] += T[0][row][i] * T[1][i][3];
        }
        off[corner] = gap(v3_from(place), truth);
    }
    judge("002 (A.16), the corner", off[0], off[1], 1e-15);
}

static sn_mat3 zyx(const double *e) {
    return times(times(turn(ez, e[0]), turn(ey, e[1])), turn(ex, e[2]));
}

static void forward_kinematics_of_algorithm_2(void **unused) {
    (void)unused;
    uint64_t state = 3;
    double e[2][3];
    sn_vec3 local[2] = {random_vector(&state), random_vector(&state)};
    for (int i = 0; i < 6; i++) e[i / 3][i % 3] = uniform(&state, -1, 1);
    // the child's joint lies at its own local position in the parent's frame
    sn_vec3 truth = v3_add(local[0], apply(zyx(e[0]), local[1]));
    sn_vec3 printed = v3_add(local[0], apply(zyx(e[0]), local[0]));  // line 3: that of B_p
    sn_frame parent = {zyx(e[0]), local[0]}, child = {zyx(e[1]), local[1]};
    judge("001 Algorithm 2, line 3", gap(printed, truth), gap(frame_mul(&parent, &child).p, truth),
          1e-15);
}

// Algorithm 2 composes Z Y X, Algorithm 3 takes the axes of Z Y Z; and its last line writes column
// 3k+3, that of the next bone.
static void axes_and_columns_of_algorithm_3(void **unused) {
    (void)unused;
    uint64_t state = 4;
    const double step = 1e-6;
    double e[3] = {0.4, -0.7, 1.1}, after[3], before[3];
    sn_vec3 p = random_vector(&state);
    memcpy(after, e, sizeof e);
    memcpy(before, e, sizeof e);
    after[2] += step;
    before[2] -= step;
    sn_vec3 truth = v3_scale(1 / (2 * step), v3_sub(apply(zyx(after), p), apply(zyx(before), p)));
    sn_mat3 outer = times(turn(ez, e[0]), turn(ey, e[1]));
    sn_vec3 at = apply(zyx(e), p);
    judge("001 Algorithm 3, third axis", gap(v3_cross(apply(outer, ez), at), truth),
          gap(v3_cross(apply(outer, ex), at), truth), 1e-8);

    // lines 18 to 20 for every bone: which columns are written, and how often
    int printed[3 * N + 1] = {0}, right[3 * N + 1] = {0}, missed = 0, wrong = 0;
    for (int k = 0; k < N; k++) {
        printed[3 * k]++, printed[3 * k + 1]++, printed[3 * k + 3]++;
        right[3 * k]++, right[3 * k + 1]++, right[3 * k + 2]++;
    }
    for (int i = 0; i < 3 * N; i++) {
        missed += printed[i] != 1;
        wrong += right[i] != 1;
    }
    judge("001 Algorithm 3, column 3k+3", missed + printed[3 * N], wrong + right[3 * N], 1);
}

// Algorithm 4 with h = k visits both orders of two angles of one joint.
static void same_joint_of_algorithm_4(void **unused) {
    (void)unused;
    uint64_t state = 5;
    hinges c = random_hinges(&state);
    c.step[0] = v3(0, 0, 0);  // two hinges at one place
    sn_vec3 truth = difference2(c, 0, 1), p = tip(&c);
    sn_vec3 outer = c.axis[0], inner = apply(turn(c.axis[0], c.angle[0]), c.axis[1]);
    judge("001 Algorithm 4, h = k", gap(v3_cross(inner, v3_cross(outer, p)), truth),
          gap(v3_cross(outer, v3_cross(inner, p)), truth), 1e-6);
}

// 000 (21), 001 (23) and (43): K_ij = w_h x J_i whatever the order of h and k. It holds for h at or above k
// only; below it is the other one's axis that comes last.
static void order_of_the_two_joints(void **unused) {
    (void)unused;
    uint64_t state = 51;
    hinges c = random_hinges(&state);
    int k = 1, h = 3;  // theta_i belongs to k, theta_j to h further out
    sn_vec3 world[N], at[N];
    for (int i = 0; i < N; i++) {
        world[i] = product(&c, 0, i - 1, c.axis[i], 0);
        at[i] = product(&c, 0, i - 1, v3(0, 0, 0), 1);
    }
    sn_vec3 truth = difference2(c, k, h), e = tip(&c);
    sn_vec3 Ji = v3_cross(world[k], v3_sub(e, at[k])), Jj = v3_cross(world[h], v3_sub(e, at[h]));
    judge("001 (23), (43), h below k", gap(v3_cross(world[h], Ji), truth),
          gap(v3_cross(world[k], Jj), truth), 1e-6);
}

// Table 2 has no word of the order either. A hinge at the root carries a slider: by the table the pair
// (h the slider, k the hinge) is 0, and (h the hinge, k the slider) is a_h x a_k also where the slider carries
// the hinge.
static void order_in_table_2(void **unused) {
    (void)unused;
    uint64_t state = 52;
    const double d = 1e-4;
    sn_vec3 a = random_axis(&state), u = random_axis(&state), p = random_vector(&state);
    double angle = 0.7, slide = 0.4;
    sn_vec3 inside = v3(0, 0, 0), outside = v3(0, 0, 0);  // second differences by angle and slide
    for (int s = -1; s <= 1; s += 2)
        for (int t = -1; t <= 1; t += 2) {
            double w = s * t / (4 * d * d);
            sn_mat3 R = turn(a, angle + s * d);
            sn_vec3 moved = v3_scale(slide + t * d, u);
            inside = v3_add(inside, v3_scale(w, apply(R, v3_add(moved, p))));
            outside = v3_add(outside, v3_scale(w, v3_add(moved, apply(R, p))));
        }
    sn_vec3 world = apply(turn(a, angle), u), zero = v3(0, 0, 0);
    judge("001 Table 2, h slider inside k hinge", gap(zero, inside),
          gap(v3_cross(a, world), inside), 1e-6);
    judge("001 Table 2, h hinge inside k slider", gap(v3_cross(a, u), outside), gap(zero, outside),
          1e-6);
}

// Algorithm 4 says it fills the upper triangle: with h <= k it writes rows of bone k and columns of bone h.
static void triangle_of_algorithm_4(void **unused) {
    (void)unused;
    int above = 0, below_or_on = 0;
    for (int k = 0; k < N; k++)
        for (int h = 0; h <= k; h++)
            for (int i = 3 * k; i <= 3 * k + 2; i++)
                for (int j = 3 * h; j <= 3 * h + 2; j++) {
                    above += j > i && h != k;
                    below_or_on += j <= i;
                }
    // what the upper triangle has beyond the joints' own blocks, against what the lower has
    int wanted = 9 * N * (N - 1) / 2;
    judge("001 Algorithm 4, upper triangle", wanted - above, wanted + 6 * N - below_or_on, 1);
}

// (25b), (35b): H' = diag(I, H) for a root that moves.
static void moving_root(void **unused) {
    (void)unused;
    uint64_t state = 6;
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    double q[80], H[58 * 58], f;
    assert_int_equal(sn_model_humanoid(NULL, &model, NULL), SN_OK);
    assert_int_equal(sn_problem_create_markers(model, NULL, &problem, NULL), SN_OK);
    int n = sn_problem_ntask(problem), nv = sn_model_nv(model);
    for (int i = 0; i < n; i++) {
        sn_vec3 g = random_vector(&state);
        assert_int_equal(sn_problem_set_goal(problem, i, (double[3]){g.x, g.y, g.z}), SN_OK);
    }
    assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
    sn_model_sample(model, &state, q);
    assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
    sn_workspace_hessian(ws, H);
    double coupling = 0, block = 0, worst = 0, scale = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < nv; j++) {
            if (j >= 3)
                coupling = fmax(coupling, fabs(H[i + nv * j]));
            else
                block = fmax(block, fabs(H[i + nv * j] - (i == j ? n : 0)));
        }
    // second differences of f along a translation and an angle
    for (int j = 6; j < 12; j++) {
        const double h = 1e-3;
        double slope = 0;
        for (int a = -1; a <= 1; a += 2)
            for (int b = -1; b <= 1; b += 2) {
                double delta[58] = {0}, moved[80], value;
                delta[1] = a * h;
                delta[j] = b * h;
                sn_model_integrate(model, q, delta, moved);
                assert_int_equal(sn_workspace_eval(ws, moved, 0, &value), SN_OK);
                slope += a * b * value / (4 * h * h);
            }
        worst = fmax(worst, fabs(slope - H[1 + nv * j]));
        scale = fmax(scale, fabs(slope));
    }
    judge("001 (35b): coupling with the translation", coupling, worst / scale, 1e-5);
    judge("001 (35b): the translation's own block", n - 1, block, 1e-12);
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_model_destroy(model);
}

static sn_vec3 expmap(sn_vec3 w, sn_vec3 p) { return apply(sn_mat3_from_quat(sn_quat_exp(w)), p); }

static sn_vec3 expmap_slope(sn_vec3 w, sn_vec3 d, sn_vec3 p) {
    const double h = 1e-5;
    return v3_scale(1 / (2 * h), v3_sub(expmap(v3_add(w, v3_scale(h, d)), p),
                                        expmap(v3_sub(w, v3_scale(h, d)), p)));
}

// (46a) has a product of first derivatives only; for two parameters of one exponential map the second
// derivative of R itself is needed.
static void exponential_map(void **unused) {
    (void)unused;
    const double h = 1e-4;
    sn_vec3 w = v3(0.5, -0.8, 0.3), p = v3(0.2, 0.9, -0.4);
    sn_vec3 truth = v3_scale(1 / (2 * h), v3_sub(expmap_slope(v3_add(w, v3_scale(h, ey)), ex, p),
                                                 expmap_slope(v3_sub(w, v3_scale(h, ey)), ex, p)));
    sn_vec3 printed = expmap_slope(w, ey, expmap_slope(w, ex, p));  // dT_h (dT_k t), h = k
    // by our joint: d2 f of one point through an expmap joint, with goal 0: f = 1/2 |p|^2 is constant,
    // so take the goal g and read g . d2p from H = J^T J - sum r d2p
    sn_builder *b = NULL;
    sn_model *model = NULL;
    sn_problem *problem = NULL;
    sn_workspace *ws = NULL;
    sn_joint_desc d = sn_joint_default(SN_JOINT_EXPMAP);
    sn_task task = sn_task_default(SN_TASK_POINT);
    double q[3] = {w.x, w.y, w.z}, H[9], G[9], f, found[3];
    d.name = "ball";
    task.local[0] = p.x, task.local[1] = p.y, task.local[2] = p.z;
    assert_int_equal(sn_builder_create("ball", NULL, &b, NULL), SN_OK);
    (void)sn_builder_joint(b, &d);
    assert_int_equal(sn_builder_finish(b, &model, NULL), SN_OK);
    sn_vec3 at = expmap(w, p);
    for (int k = 0; k < 3; k++) {
        task.goal[0] = at.x + (k == 0), task.goal[1] = at.y + (k == 1),
        task.goal[2] = at.z + (k == 2);
        assert_int_equal(sn_problem_create(model, &task, 1, NULL, &problem, NULL), SN_OK);
        assert_int_equal(sn_workspace_create(problem, true, NULL, &ws, NULL), SN_OK);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_HESSIAN, &f), SN_OK);
        sn_workspace_hessian(ws, H);
        assert_int_equal(sn_workspace_eval(ws, q, SN_EVAL_GAUSS_NEWTON, &f), SN_OK);
        sn_workspace_hessian(ws, G);
        found[k] = G[1] - H[1];  // r = e_k
        sn_workspace_destroy(ws);
        sn_problem_destroy(problem);
    }
    judge("001 (46a), one exponential map", gap(printed, truth), gap(v3_from(found), truth), 1e-5);
    sn_builder_destroy(b);
    sn_model_destroy(model);
}

// 002 (17) has no 1/2 and (26) a 2: they agree. Only who takes a step from 002 must double it for an f
// with a 1/2.
static void objective_of_002_agrees_with_its_gradient(void **unused) {
    (void)unused;
    uint64_t state = 7;
    hinges c = random_hinges(&state);
    sn_vec3 goal = random_vector(&state), r = v3_sub(goal, tip(&c));
    const double h = 1e-6;
    for (int i = 0; i < N; i++) {
        hinges a = c, b = c;
        a.angle[i] += h;
        b.angle[i] -= h;
        sn_vec3 ra = v3_sub(goal, tip(&a)), rb = v3_sub(goal, tip(&b));
        sn_vec3 J = v3_scale(1 / (2 * h), v3_sub(tip(&a), tip(&b)));
        assert_near((v3_dot(ra, ra) - v3_dot(rb, rb)) / (2 * h), -2 * v3_dot(J, r), 1e-7);
    }
}

static void rotations_of_004(void **unused) {
    (void)unused;
    sn_vec3 k = v3_scale(1 / sqrt(14.0), v3(1, -2, 3)), v = v3(0.3, 0.5, -0.7);
    const double a = 0.8;
    sn_mat3 R = turn(k, a), K = m3_skew(k);
    sn_vec3 kv = v3_cross(k, v), kkv = v3_cross(k, kv), truth = apply(R, v);
    sn_vec3 printed = v3_add(v, v3_add(v3_scale(sin(a), kv), v3_scale(cos(a), kkv)));
    sn_vec3 right = v3_add(v, v3_add(v3_scale(sin(a), kv), v3_scale(1 - cos(a), kkv)));
    judge("004 (9)", gap(printed, truth), gap(right, truth), 1e-14);

    double trace = R.c[0].x + R.c[1].y + R.c[2].z;
    judge("004 (28)", fabs(1 - 2 * cos(a) - trace), fabs(1 + 2 * cos(a) - trace), 1e-14);

    sn_mat3 T = m3_transpose(&R);
    double wrong = 0, off = 0;
    for (int i = 0; i < 3; i++) {
        sn_vec3 skew = v3_sub(R.c[i], T.c[i]), want = v3_scale(a, K.c[i]);
        wrong = fmax(wrong, gap(v3_scale(1 / (2 - sin(a)), skew), want));
        off = fmax(off, gap(v3_scale(a / (2 * sin(a)), skew), want));
    }
    judge("004 (30)", wrong, off, 1e-14);
}

// Algorithms 2 and 12: where the joints of a chain are. In 004 a joint is reached by its offset first and
// then turned.
static void forward_kinematics_of_004(void **unused) {
    (void)unused;
    uint64_t state = 8;
    hinges c = random_hinges(&state);
    sn_frame world = {.R = m3_identity()};
    sn_mat3 R = m3_identity();
    sn_vec3 printed2 = v3(0, 0, 0), printed12 = v3(0, 0, 0), right = v3(0, 0, 0);
    for (int i = 0; i < N; i++) {
        sn_mat3 offset = turn(c.step[i], 0.5);                    // R_c of Algorithm 12
        printed2 = v3_add(apply(R, printed2), c.step[i]);         // c <- R c + p
        printed12 = v3_add(apply(offset, c.step[i]), printed12);  // c <- R_c p_c + c
        right = v3_add(right, apply(R, c.step[i]));               // c <- c + R p
        sn_frame local = {turn(c.axis[i], c.angle[i]), c.step[i]};
        world = frame_mul(&world, &local);
        R = times(R, turn(c.axis[i], c.angle[i]));
    }
    judge("004 Algorithm 2", gap(printed2, world.p), gap(right, world.p), 1e-14);
    judge("004 Algorithm 12", gap(printed12, world.p), gap(right, world.p), 1e-14);
}

// Algorithm 10 multiplies by [-omega] only: a slider's column comes out zero.
static void sliders_of_algorithm_10(void **unused) {
    (void)unused;
    uint64_t state = 9;
    sn_vec3 omega = v3(0, 0, 0), c = random_vector(&state), e = random_vector(&state);
    sn_mat3 R = turn(random_vector(&state), 1.0);
    sn_vec3 d = apply(R, ex);  // the sliding direction in the world: moving by q carries e by q d
    sn_vec3 printed = v3_cross(omega, v3_sub(e, c)), right = v3_add(printed, d);
    const double h = 1e-6;
    sn_vec3 truth = v3_scale(1 / (2 * h), v3_sub(v3_add(e, apply(R, v3_scale(h, ex))),
                                                 v3_sub(e, apply(R, v3_scale(h, ex)))));
    judge("004 Algorithm 10, a slider", gap(printed, truth), gap(right, truth), 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_product_matrices),
        cmocka_unit_test(ranges_of_second_derivatives),
        cmocka_unit_test(tool_vectors_of_000),
        cmocka_unit_test(corner_of_002),
        cmocka_unit_test(forward_kinematics_of_algorithm_2),
        cmocka_unit_test(axes_and_columns_of_algorithm_3),
        cmocka_unit_test(same_joint_of_algorithm_4),
        cmocka_unit_test(order_of_the_two_joints),
        cmocka_unit_test(order_in_table_2),
        cmocka_unit_test(triangle_of_algorithm_4),
        cmocka_unit_test(moving_root),
        cmocka_unit_test(exponential_map),
        cmocka_unit_test(objective_of_002_agrees_with_its_gradient),
        cmocka_unit_test(rotations_of_004),
        cmocka_unit_test(forward_kinematics_of_004),
        cmocka_unit_test(sliders_of_algorithm_10),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
