// SPDX-License-Identifier: MIT
// 003's Jacobians: the three procedures agree, and with finite differences; so does the time
// derivative; the chains of Algorithm 1.
#include "reference.h"
#include "support.h"

enum { MAX = 80 };

typedef struct fixture {
    sn_model *model;
    sn_problem *problem;
    sn_workspace *ws;
    int nv, joint;
    double q[MAX], local[3];
} fixture;

static void setup(fixture *t, uint64_t *state, int type) {
    t->model = random_model(state, 1 + below(state, 8), type);
    assert_int_equal(sn_problem_create(t->model, NULL, 0, NULL, &t->problem, NULL), SN_OK);
    assert_int_equal(sn_workspace_create(t->problem, false, NULL, &t->ws, NULL), SN_OK);
    t->nv = sn_model_nv(t->model);
    t->joint = below(state, sn_model_njoint(t->model));
    for (int i = 0; i < 3; i++) t->local[i] = uniform(state, -1, 1);
    sn_model_sample(t->model, state, t->q);
    assert_int_equal(sn_workspace_pose(t->ws, t->q), SN_OK);
}

static void teardown(fixture *t) {
    sn_workspace_destroy(t->ws);
    sn_problem_destroy(t->problem);
    sn_model_destroy(t->model);
}

// Move the pose by h along velocity v, behind its gain.
static void move(fixture *t, int v, double h) {
    double delta[MAX] = {0}, q[MAX];
    delta[v] = h * sn_model_gain(t->model)[v];
    sn_model_integrate(t->model, t->q, delta, q);
    assert_int_equal(sn_workspace_pose(t->ws, q), SN_OK);
}

static void simple_is_the_derivative(void **unused) {
    (void)unused;
    uint64_t state = 21;
    double worst = 0;
    for (int n = 0; n < cases(600); n++) {
        fixture t;
        setup(&t, &state, n % 2 == 0 ? n / 2 % 12 : -1);
        double J[3 * MAX];
        sn_jacobian_simple(t.ws, t.joint, t.local, J);
        for (int v = 0; v < t.nv; v++) {
            const double h = 1e-5;
            move(&t, v, h);
            sn_vec3 after = sn_workspace_point(t.ws, t.joint, t.local);
            move(&t, v, -h);
            sn_vec3 before = sn_workspace_point(t.ws, t.joint, t.local);
            double slope[3] = {(after.x - before.x) / (2 * h), (after.y - before.y) / (2 * h),
                               (after.z - before.z) / (2 * h)};
            worst = fmax(worst, reference_relative(J + 3 * v, slope, 3, 1));
        }
        teardown(&t);
    }
    print_message("worst difference %.1e\n", worst);
    assert_true(worst < 1e-8);
}

// The world velocity of a point three ways: Procedure 1; the linear rows of Procedure 3 at the
// point, turned into the world; the world twist of Procedure 3. And Procedure 3 from Procedure 2's
// adjoints: J(joint) = Ad(k -> joint) J(k) for the columns of joint k.
static void procedures_agree(void **unused) {
    (void)unused;
    uint64_t state = 22;
    double worst = 0;
    for (int n = 0; n < cases(600); n++) {
        fixture t;
        setup(&t, &state, -1);
        double simple[3 * MAX], point[6 * MAX], world[6 * MAX], body[6 * MAX], linear[3 * MAX];
        double angular[3 * MAX];
        sn_jacobian_simple(t.ws, t.joint, t.local, simple);
        sn_jacobian_adjusted(t.ws, t.joint, SN_JACOBIAN_POINT, t.local, SN_ROWS_BOTH, point);
        sn_jacobian_adjusted(t.ws, t.joint, SN_JACOBIAN_WORLD, NULL, SN_ROWS_BOTH, world);
        sn_jacobian_adjusted(t.ws, t.joint, SN_JACOBIAN_BODY, NULL, SN_ROWS_BOTH, body);
        sn_jacobian_adjusted(t.ws, t.joint, SN_JACOBIAN_POINT, t.local, SN_ROWS_LINEAR, linear);
        sn_jacobian_adjusted(t.ws, t.joint, SN_JACOBIAN_POINT, t.local, SN_ROWS_ANGULAR, angular);
        sn_frame frame = sn_workspace_frame(t.ws, t.joint);
        sn_vec3 p = sn_workspace_point(t.ws, t.joint, t.local);
        const double *R = &frame.R.c[0].x;
        for (int v = 0; v < t.nv; v++) {
            const double *a = point + 6 * v, *w = world + 6 * v;
            double turned[3], carried[3];
            for (int i = 0; i < 3; i++) turned[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
            carried[0] = w[0] + w[4] * p.z - w[5] * p.y;
            carried[1] = w[1] + w[5] * p.x - w[3] * p.z;
            carried[2] = w[2] + w[3] * p.y - w[4] * p.x;
            worst = fmax(worst, reference_relative(turned, simple + 3 * v, 3, 1));
            worst = fmax(worst, reference_relative(carried, simple + 3 * v, 3, 1));
            assert_memory_equal(linear + 3 * v, a, 3 * sizeof *a);
            assert_memory_equal(angular + 3 * v, a + 3, 3 * sizeof *a);
        }
        // the world twist is the adjoint of the frame applied to the body's
        double Ad[36], blocks[36 * 16], own[6 * MAX];
        sn_adjoint(&frame, Ad);
        sn_jacobian_generic(t.ws, t.joint, blocks);
        for (int v = 0; v < t.nv; v++) {
            double out[6] = {0};
            for (int c = 0; c < 6; c++)
                for (int r = 0; r < 6; r++) out[r] += Ad[6 * c + r] * body[6 * v + c];
            worst = fmax(worst, reference_relative(out, world + 6 * v, 6, 1));
        }
        for (int k = 0; k < sn_model_njoint(t.model); k++) {
            int first = sn_model_v_index(t.model, k);
            int next = k + 1 < sn_model_njoint(t.model) ? sn_model_v_index(t.model, k + 1) : t.nv;
            sn_jacobian_adjusted(t.ws, k, SN_JACOBIAN_BODY, NULL, SN_ROWS_BOTH, own);
            for (int v = first; v < next; v++) {
                double out[6] = {0};
                for (int c = 0; c < 6; c++)
                    for (int r = 0; r < 6; r++)
                        out[r] += blocks[36 * k + 6 * c + r] * own[6 * v + c];
                worst = fmax(worst, reference_relative(out, body + 6 * v, 6, 1));
            }
        }
        teardown(&t);
    }
    print_message("worst difference %.1e\n", worst);
    assert_true(worst < 1e-13);
}

// dJ/dt against differences of J along the motion q (+) t qd.
static void time_derivative(void **unused) {
    (void)unused;
    uint64_t state = 23;
    double worst = 0;
    static const sn_jacobian_frame frames[] = {SN_JACOBIAN_BODY, SN_JACOBIAN_POINT,
                                               SN_JACOBIAN_WORLD};
    for (int n = 0; n < cases(900); n++) {
        fixture t;
        setup(&t, &state, n % 2 == 0 ? n / 2 % 12 : -1);
        sn_jacobian_frame frame = frames[n % 3];
        double qd[MAX], Jdot[6 * MAX], side[2][6 * MAX], q[MAX], delta[MAX];
        for (int v = 0; v < t.nv; v++) qd[v] = uniform(&state, -1, 1);
        sn_jacobian_dot(t.ws, t.joint, frame, t.local, SN_ROWS_BOTH, qd, Jdot);
        const double h = 1e-5;
        for (int s = 0; s < 2; s++) {
            for (int v = 0; v < t.nv; v++) delta[v] = (s == 0 ? -h : h) * qd[v];
            sn_model_integrate(t.model, t.q, delta, q);
            assert_int_equal(sn_workspace_pose(t.ws, q), SN_OK);
            sn_jacobian_adjusted(t.ws, t.joint, frame, t.local, SN_ROWS_BOTH, side[s]);
        }
        for (int i = 0; i < 6 * t.nv; i++) side[0][i] = (side[1][i] - side[0][i]) / (2 * h);
        worst = fmax(worst, reference_relative(Jdot, side[0], 6 * t.nv, 1));
        teardown(&t);
    }
    print_message("worst difference %.1e\n", worst);
    assert_true(worst < 1e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_is_the_derivative),
        cmocka_unit_test(procedures_agree),
        cmocka_unit_test(time_derivative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
