// SPDX-License-Identifier: MIT
// The documents' procedures, transcribed line by line: as the text prints them and as docs/errata.md corrects
// them. 003's Procedures 1 to 3, 002's Appendix A, 000's and 001's Algorithms 1 to 4; 004's are in
// test_procedures.c. The truth beside them is forward kinematics by composing frames, and its differences.
#include "errata.h"

typedef enum form { PRINTED, RIGHT } form;

// ---- 003: Procedures 1 to 3 on a chain of Euler joints x y z under a root that translates ----

enum { LINKS = 3 };

typedef struct links {
    sn_vec3 offset[LINKS], tip;  // of a joint in its parent; of the effector in the last
    double q[3 * LINKS];
} links;

static sn_mat3 euler(const double *e) {
    return times(times(turn(ex, e[0]), turn(ey, e[1])), turn(ez, e[2]));
}

// Equations 22 to 24: the axes in the parent's frame.
static sn_vec3 axis_in_parent(const double *e, int axis) {
    sn_mat3 R = m3_identity();
    for (int i = 0; i <= axis; i++) R = times(R, turn(v3_unit(i), e[i]));
    return R.c[axis];
}

static void frames003(const links *l, sn_frame *world) {
    sn_frame at = {.R = m3_identity()};
    for (int i = 0; i < LINKS; i++) {
        sn_frame local = {euler(l->q + 3 * i), l->offset[i]};
        at = world[i] = frame_mul(&at, &local);
    }
}

static sn_vec3 tip003(const links *l) {
    sn_frame world[LINKS];
    frames003(l, world);
    return v3_add(world[LINKS - 1].p, apply(world[LINKS - 1].R, l->tip));
}

static void procedure1(const links *l, sn_vec3 *J) {
    sn_frame world[LINKS];
    frames003(l, world);
    for (int j = LINKS - 1; j >= 0; j--) {
        sn_vec3 d = v3_sub(tip003(l), world[j].p);
        sn_mat3 parent = j > 0 ? world[j - 1].R : m3_identity();
        for (int axis = 0; axis < 3; axis++)
            J[3 * j + axis] = v3_cross(apply(parent, axis_in_parent(l->q + 3 * j, axis)), d);
    }
}

// Procedures 2 and 3: the angular columns of the adjoint from j to the effector's frame b, that is p^ R with
// the joint's place and rotation in b; the third adjusts R by (31).
static void procedure23(const links *l, bool adjusted, sn_vec3 *J) {
    sn_frame world[LINKS];
    frames003(l, world);
    sn_mat3 body = transposed(world[LINKS - 1].R);
    for (int j = LINKS - 1; j >= 0; j--) {
        sn_vec3 p = apply(body, v3_sub(world[j].p, tip003(l)));
        sn_mat3 R = times(body, world[j].R);
        if (adjusted) {
            sn_mat3 local = euler(l->q + 3 * j), prime;
            for (int axis = 0; axis < 3; axis++) prime.c[axis] = axis_in_parent(l->q + 3 * j, axis);
            R = times(R, times(transposed(local), prime));
        }
        for (int axis = 0; axis < 3; axis++) J[3 * j + axis] = v3_cross(p, R.c[axis]);
    }
}

static void jacobians_of_003(void **unused) {
    (void)unused;
    uint64_t state = 25;
    links l = {.tip = random_vector(&state)};
    sn_vec3 simple[3 * LINKS], generic[3 * LINKS], adjusted[3 * LINKS];
    sn_frame world[LINKS];
    for (int i = 0; i < LINKS; i++) l.offset[i] = random_vector(&state);
    for (int i = 0; i < 3 * LINKS; i++) l.q[i] = uniform(&state, -1, 1);
    frames003(&l, world);
    procedure1(&l, simple);
    procedure23(&l, false, generic);
    procedure23(&l, true, adjusted);
    double one = 0, two = 0, three = 0;
    const double h = 1e-6;
    sn_mat3 body = world[LINKS - 1].R;
    for (int i = 0; i < 3 * LINKS; i++) {
        links a = l, b = l;
        a.q[i] += h;
        b.q[i] -= h;
        sn_vec3 truth = v3_scale(1 / (2 * h), v3_sub(tip003(&a), tip003(&b)));
        one = fmax(one, gap(simple[i], truth));
        three = fmax(three, gap(apply(body, adjusted[i]), truth));
        // the generic one is by the joint's own angular velocity, not by its Euler angles
        int j = i / 3;
        sn_vec3 spun = v3_cross(world[j].R.c[i % 3], v3_sub(tip003(&l), world[j].p));
        two = fmax(two, gap(apply(body, generic[i]), spun));
    }
    print_message("003 Procedures 1, 2, 3: off by %.1e, %.1e, %.1e\n", one, two, three);
    assert_true(one < 1e-8 && two < 1e-12 && three < 1e-8);
    // taken for Euler angles, the generic one is wrong: what section 2.3 is about
    assert_true(gap(generic[0], adjusted[0]) > 1e-2);
}

// ---- 002, Appendix A: hinges, sliders and balls in Z Y Z with a place and two axes ----

static void jacobian_of_002(void **unused) {
    (void)unused;
    uint64_t state = 26;
    sn_frame before = {turn(random_vector(&state), 0.9), random_vector(&state)};
    sn_vec3 t = random_vector(&state), p = random_vector(&state), u = random_axis(&state);
    const double e[3] = {0.4, -0.8, 1.3}, h = 1e-6;
    // (A.16) with (A.19), (A.20) and (A.11): place, i and j of the tool by phi, psi, theta
    sn_vec3 axes[3] = {ez, apply(turn(ez, e[0]), ey),
                       apply(times(turn(ez, e[0]), turn(ey, e[1])), ez)};
    double ball = 0, hinge = 0, slider = 0;
    for (int k = 0; k < 3; k++) {
        sn_vec3 end[2][3], at[3];
        for (int side = 0; side < 3; side++) {
            double x[3] = {e[0], e[1], e[2]};
            if (side < 2) x[k] += side == 0 ? h : -h;
            sn_frame local = {times(times(turn(ez, x[0]), turn(ey, x[1])), turn(ez, x[2])), t};
            sn_frame world = frame_mul(&before, &local);
            sn_vec3 *to = side < 2 ? end[side] : at;
            to[0] = v3_add(world.p, apply(world.R, p));
            to[1] = world.R.c[0];
            to[2] = world.R.c[1];
        }
        sn_vec3 axis = apply(before.R, axes[k]), origin = v3_add(before.p, apply(before.R, t));
        for (int part = 0; part < 3; part++) {
            sn_vec3 truth = v3_scale(1 / (2 * h), v3_sub(end[0][part], end[1][part]));
            sn_vec3 arm = part == 0 ? v3_sub(at[0], origin) : at[part];
            ball = fmax(ball, gap(v3_cross(axis, arm), truth));
        }
    }
    for (int part = 0; part < 2; part++) {  // a place, a direction
        sn_vec3 end[2];
        for (int side = 0; side < 2; side++) {
            double angle = 0.6 + (side == 0 ? h : -h);
            sn_frame local = {turn(u, angle), t}, world = frame_mul(&before, &local);
            end[side] = v3_add(part == 0 ? world.p : v3(0, 0, 0), apply(world.R, p));
        }
        sn_vec3 truth = v3_scale(1 / (2 * h), v3_sub(end[0], end[1]));
        sn_vec3 arm = apply(times(before.R, turn(u, 0.6)), p);
        hinge = fmax(hinge, gap(v3_cross(apply(before.R, u), arm), truth));
    }
    // (A.15): a slider moves the place along its axis and no direction
    sn_vec3 near = apply(before.R, v3_scale(-h, u)), far = apply(before.R, v3_scale(h, u));
    slider = gap(apply(before.R, u), v3_scale(1 / (2 * h), v3_sub(far, near)));
    print_message("002 (A.11), (A.15), (A.20): off by %.1e, %.1e, %.1e\n", hinge, slider, ball);
    assert_true(hinge < 1e-8 && slider < 1e-9 && ball < 1e-8);
}

// ---- 000 and 001: Algorithms 1 to 4 on a tree of balls ----

enum { BONES = 5, CHAINS = 2 };

typedef struct bones {
    int parent[BONES];
    sn_vec3 t[BONES];
    double e[3 * BONES];
    sn_vec3 goal[CHAINS];
    sn_mat3 R[BONES];  // the world's, by Algorithm 2
    sn_vec3 at[BONES];
} bones;

// Chains from the root to each bone without children. `length` of each.
static int make_chains(const bones *s, int chain[CHAINS][BONES], int *length) {
    int n = 0;
    for (int b = 0; b < BONES; b++) {
        bool leaf = true;
        for (int c = 0; c < BONES; c++) leaf &= s->parent[c] != b;
        if (!leaf) continue;
        int depth = 0;
        for (int a = b; a >= 0; a = s->parent[a]) depth++;
        length[n] = depth;
        for (int a = b; a >= 0; a = s->parent[a]) chain[n][--depth] = a;  // to the front
        n++;
    }
    return n;
}

// A bone's rotation: Z Y X as Algorithm 2 prints it, or Z Y Z, which Algorithms 3 and 4 take the axes of.
static sn_mat3 rotation(const double *e, form f) {
    return times(times(turn(ez, e[0]), turn(ey, e[1])), turn(f == PRINTED ? ex : ez, e[2]));
}

static void forward_update(bones *s, form line2, form line3) {
    for (int k = 0; k < BONES; k++) {
        int p = s->parent[k];
        sn_mat3 Rp = p < 0 ? m3_identity() : s->R[p];
        sn_vec3 tp = p < 0 ? v3(0, 0, 0) : s->at[p];
        sn_vec3 tk = s->t[line3 == PRINTED && p >= 0 ? p : k];
        s->R[k] = times(Rp, rotation(s->e + 3 * k, line2));
        s->at[k] = v3_add(tp, apply(Rp, tk));
    }
}

static void axes_of(const bones *s, int k, sn_vec3 *axis) {
    sn_mat3 Rp = s->parent[k] < 0 ? m3_identity() : s->R[s->parent[k]];
    const double *e = s->e + 3 * k;
    axis[0] = apply(Rp, ez);
    axis[1] = apply(times(Rp, turn(ez, e[0])), ey);
    axis[2] = apply(times(times(Rp, turn(ez, e[0])), turn(ey, e[1])), ez);
}

typedef struct forms4 {
    form line2, line3, column, own;  // of Algorithms 2, 2, 3 and 4
    bool lower;  // read the triangle that Algorithm 4 writes, not the one it says
} forms4;

// f by composing frames, for second differences
static double objective(const bones *s) {
    bones b = *s;
    int chain[CHAINS][BONES], length[CHAINS], n = make_chains(s, chain, length);
    double f = 0;
    forward_update(&b, RIGHT, RIGHT);
    for (int c = 0; c < n; c++) {
        double r = gap(b.goal[c], b.at[chain[c][length[c] - 1]]);
        f += 0.5 * r * r;
    }
    return f;
}

// H by Algorithms 1 to 4, both triangles from the one that is read.
static void algorithms_1_to_4(const bones *given, forms4 f, double H[][3 * BONES]) {
    bones s = *given;
    int chain[CHAINS][BONES], length[CHAINS], n = make_chains(&s, chain, length), width = 3 * BONES;
    static sn_vec3 J[CHAINS][3 * BONES + 1];
    memset(J, 0, sizeof J);
    forward_update(&s, f.line2, f.line3);
    for (int c = 0; c < n; c++)  // Algorithm 3
        for (int i = 0; i < length[c]; i++) {
            int k = chain[c][i];
            sn_vec3 axis[3], d = v3_sub(s.at[chain[c][length[c] - 1]], s.at[k]);
            axes_of(&s, k, axis);
            J[c][3 * k] = v3_cross(axis[0], d);
            J[c][3 * k + 1] = v3_cross(axis[1], d);
            J[c][3 * k + (f.column == PRINTED ? 3 : 2)] = v3_cross(axis[2], d);
        }
    for (int i = 0; i < width; i++)  // Algorithm 4
        for (int j = 0; j < width; j++) {
            H[i][j] = 0;
            for (int c = 0; c < n; c++) H[i][j] += v3_dot(J[c][i], J[c][j]);
        }
    for (int c = 0; c < n; c++) {
        sn_vec3 r = v3_sub(s.goal[c], s.at[chain[c][length[c] - 1]]);
        for (int a = 0; a < length[c]; a++)
            for (int b = 0; b <= a; b++) {
                int k = chain[c][a], h = chain[c][b];
                sn_vec3 axis[3];
                axes_of(&s, h, axis);
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        // right: of one joint's angles the outer turns the inner
                        if (h != k || f.own == PRINTED || j <= i)
                            H[3 * k + i][3 * h + j] -=
                                v3_dot(v3_cross(axis[j], J[c][3 * k + i]), r);
            }
    }
    for (int i = 0; i < width; i++)
        for (int j = 0; j < i; j++) {
            if (f.lower)
                H[j][i] = H[i][j];
            else
                H[i][j] = H[j][i];
        }
}

static void algorithms_of_001(void **unused) {
    (void)unused;
    uint64_t state = 27;
    static const struct {
        const char *what;
        forms4 f;
    } cases_[] = {
        {"001 Algorithm 2, Z Y X", {PRINTED, RIGHT, RIGHT, RIGHT, true}},
        {"001 Algorithm 2, line 3", {RIGHT, PRINTED, RIGHT, RIGHT, true}},
        {"001 Algorithm 3, column", {RIGHT, RIGHT, PRINTED, RIGHT, true}},
        {"001 Algorithm 4, upper triangle", {RIGHT, RIGHT, RIGHT, RIGHT, false}},
        {"001 Algorithm 4, h = k, both orders", {RIGHT, RIGHT, RIGHT, PRINTED, false}},
    };
    bones s = {.parent = {-1, 0, 1, 1, 3}};
    static double H[3 * BONES][3 * BONES], truth[3 * BONES][3 * BONES];
    const double step = 1e-4;
    int chain[CHAINS][BONES], length[CHAINS];
    for (int b = 0; b < BONES; b++) s.t[b] = random_vector(&state);
    for (int c = 0; c < CHAINS; c++) s.goal[c] = random_vector(&state);
    for (int i = 0; i < 3 * BONES; i++) s.e[i] = uniform(&state, -1, 1);
    assert_int_equal(make_chains(&s, chain, length), CHAINS);
    assert_true(length[0] == 3 && chain[0][0] == 0 && chain[0][1] == 1 && chain[0][2] == 2);
    assert_true(length[1] == 4 && chain[1][3] == 4);
    for (int i = 0; i < 3 * BONES; i++)
        for (int j = 0; j < 3 * BONES; j++) {
            truth[i][j] = 0;
            for (int a = -1; a <= 1; a += 2)
                for (int b = -1; b <= 1; b += 2) {
                    bones moved = s;
                    moved.e[i] += a * step;
                    moved.e[j] += b * step;
                    truth[i][j] += a * b * objective(&moved) / (4 * step * step);
                }
        }
    double off[6];
    for (int k = 0; k < 6; k++) {
        const forms4 right = {RIGHT, RIGHT, RIGHT, RIGHT, true};
        algorithms_1_to_4(&s, k < 5 ? cases_[k].f : right, H);
        off[k] = 0;
        for (int i = 0; i < 3 * BONES; i++)
            for (int j = 0; j < 3 * BONES; j++) off[k] = fmax(off[k], fabs(H[i][j] - truth[i][j]));
    }
    for (int k = 0; k < 5; k++) judge(cases_[k].what, off[k], off[5], 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jacobians_of_003),
        cmocka_unit_test(jacobian_of_002),
        cmocka_unit_test(algorithms_of_001),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
