// SPDX-License-Identifier: MIT
// Equalities of joints and of fixed tendons as couplings: coordinates that follow others.
//
// A joint's says y - y0 = p(x - x0), x0 and y0 being the references and p a polynomial of degree four.
// A fixed tendon is as long as the sum of a_i q_i over its joints, so that an equality of two says
//
//   sum a_i (q_i - q0_i) = p(sum b_j (q_j - q0_j)),
//
// and one of the joints of the first that p does not see follows all the others. Where p is straight any
// joint will do whose coefficients do not cancel. A tendon through sites is no sum of coordinates, and is
// left out with a note.
#include <math.h>
#include <string.h>

#include "files/mjcf/mjcf.h"

enum { DEGREE = 4, MOST = 210 };  // products of powers of six arguments, up to the fourth in all

static sn_mjcf_joint *find_joint(const sn_mjcf *u, size_t name) {
    for (size_t i = 0; i < u->njoint; i++)
        if (u->joint[i].name != SIZE_MAX &&
            strcmp(u->names + u->joint[i].name, u->names + name) == 0)
            return &u->joint[i];
    return NULL;
}

static bool is_scalar(const sn_mjcf_joint *j) {
    return j != NULL && (j->values.type == SN_MJCF_HINGE || j->values.type == SN_MJCF_SLIDE);
}

static double reference_of(const sn_mjcf *u, const sn_mjcf_joint *j) {
    return j->values.type == SN_MJCF_HINGE ? sn_mjcf_angle(u, j->values.ref) : j->values.ref;
}

// p(x - x0) as a polynomial of x.
static void shift(const double p[DEGREE + 1], double x0, double c[DEGREE + 1]) {
    for (int i = 0; i <= DEGREE; i++) c[i] = 0;
    for (int k = DEGREE; k >= 0; k--) {
        // c = c (x - x0) + p_k
        for (int i = DEGREE; i > 0; i--) c[i] = c[i - 1] - x0 * c[i];
        c[0] = p[k] - x0 * c[0];
    }
}

static int degree_of(const double c[DEGREE + 1]) {
    int n = DEGREE;
    while (n > 0 && c[n] == 0) n--;
    return n;
}

// --- joints ------------------------------------------------------------------------------------------

sn_status sn_mjcf_couple_joints(sn_mjcf *u, sn_builder *builder, const sn_mjcf_equality *e) {
    sn_mjcf_joint *y = find_joint(u, e->first);
    sn_mjcf_joint *x = e->second != SIZE_MAX ? find_joint(u, e->second) : NULL;
    if (!is_scalar(y) || (e->second != SIZE_MAX && !is_scalar(x)))
        return sn_fail(u->error, SN_ERR_PARSE, e->line,
                       "<joint>: \"%.80s\" is no hinge or slide joint of this file",
                       u->names + (!is_scalar(y) ? e->first : e->second));
    double c[DEGREE + 1];
    sn_coupling_desc d = {.follower = {y->node, 0}, .function = {.scale = 1, .ny = 1, .y = c}};
    shift(e->coefficients, x != NULL ? reference_of(u, x) : 0, c);
    c[0] += reference_of(u, y);
    if (x != NULL) {
        d.nleader = 1;
        d.leader[0].joint = x->node;
        d.function.type = SN_FUNCTION_POLYNOMIAL;
        d.function.ny = degree_of(c) > 1 ? degree_of(c) + 1 : 2;
    } else {
        d.function.type = SN_FUNCTION_CONSTANT;
    }
    (void)sn_builder_couple_at(builder, &d, e->line);
    y->follows = true;
    if (x != NULL) x->leads = true;
    return SN_OK;
}

// --- tendons -----------------------------------------------------------------------------------------

static sn_mjcf_tendon *find_tendon(const sn_mjcf *u, size_t name) {
    for (size_t i = 0; i < u->ntendon; i++)
        if (u->tendon[i].name != SIZE_MAX &&
            strcmp(u->names + u->tendon[i].name, u->names + name) == 0)
            return &u->tendon[i];
    return NULL;
}

// The joints of an equality: their coefficients in the first tendon and in the second.
typedef struct sum {
    int n;
    int joint[SN_MAX_LEADERS + 1];
    double a[SN_MAX_LEADERS + 1], b[SN_MAX_LEADERS + 1];
} sum;

// False when there are more joints than a coupling holds.
static sn_status add_tendon(const sn_mjcf *u, const sn_mjcf_tendon *t, bool second, sum *s,
                            bool *fits) {
    for (size_t i = t->first; i < t->first + t->count; i++) {
        const sn_mjcf_joint *j = find_joint(u, u->part[i].joint);
        int k = 0;
        if (!is_scalar(j))
            return sn_fail(u->error, SN_ERR_PARSE, u->part[i].line,
                           "<fixed>: \"%.80s\" is no hinge or slide joint of this file",
                           u->names + u->part[i].joint);
        while (k < s->n && s->joint[k] != (int)(j - u->joint)) k++;
        if (k > SN_MAX_LEADERS) {
            *fits = false;
            return SN_OK;
        }
        if (k == s->n) s->joint[s->n++] = (int)(j - u->joint);
        *(second ? &s->b[k] : &s->a[k]) += u->part[i].coefficient;
    }
    return SN_OK;
}

// The joint that is to follow the others, -1 when none can: none may follow it already, or it could follow
// itself in the end.
static int choose(const sn_mjcf *u, const sum *s, const double p[DEGREE + 1], bool straight) {
    for (int i = 0; i < s->n; i++) {
        double own = s->a[i] - (straight ? p[1] * s->b[i] : 0);
        const sn_mjcf_joint *j = &u->joint[s->joint[i]];
        if (fabs(own) > 1e-12 && (straight || s->b[i] == 0) && !j->follows && !j->leads) return i;
    }
    return -1;
}

// The next powers of n arguments in the order of SN_FUNCTION_POLYNOMIAL, at most `degree` in all.
static bool next_powers(int *e, int n, int degree) {
    for (int i = n - 1; i >= 0; i--) {
        int all = 0;
        e[i]++;
        for (int k = 0; k <= i; k++) all += e[k];
        if (all <= degree) return true;
        e[i] = 0;
    }
    return false;
}

// n! / (e_0! e_1! ...) times the product of b_i^e_i: the share of these powers in (sum b_i x_i)^n.
static double share(const int *e, const double *b, int n) {
    static const double factorial[DEGREE + 1] = {1, 1, 2, 6, 24};
    double x = 1;
    int all = 0;
    for (int i = 0; i < n; i++) {
        all += e[i];
        x /= factorial[e[i]];
        for (int k = 0; k < e[i]; k++) x *= b[i];
    }
    return x * factorial[all];
}

sn_status sn_mjcf_couple_tendons(sn_mjcf *u, sn_builder *builder, const sn_mjcf_equality *e) {
    const size_t name[2] = {e->first, e->second};
    sum s = {0};
    bool fits = true;
    for (int i = 0; i < 2; i++) {
        if (name[i] == SIZE_MAX) continue;
        sn_mjcf_tendon *t = find_tendon(u, name[i]);
        if (t == NULL)
            return sn_fail(u->error, SN_ERR_PARSE, e->line,
                           "<tendon>: there is no tendon \"%.80s\"", u->names + name[i]);
        if (!t->fixed) {
            u->nspatial++;
            return SN_OK;
        }
        t->used = true;
        SN_TRY(add_tendon(u, t, i == 1, &s, &fits));
    }
    double p[DEGREE + 1] = {e->coefficients[0]}, c[DEGREE + 1], a0 = 0, b0 = 0;
    if (e->second != SIZE_MAX) memcpy(p, e->coefficients, sizeof p);
    bool straight = degree_of(p) <= 1;
    int own = fits ? choose(u, &s, p, straight) : -1;
    if (own < 0) {
        u->ntangled++;
        return SN_OK;
    }
    for (int i = 0; i < s.n; i++) {
        double reference = reference_of(u, &u->joint[s.joint[i]]);
        a0 += s.a[i] * reference;
        b0 += s.b[i] * reference;
    }
    shift(p, b0, c);
    c[0] += a0;
    // sum a q = c(sum b q): its own is what the others leave
    double scale = s.a[own] - (straight ? c[1] * s.b[own] : 0), y[MOST], a[SN_MAX_LEADERS],
           b[SN_MAX_LEADERS];
    sn_mjcf_joint *follower = &u->joint[s.joint[own]];
    sn_coupling_desc d = {.follower = {follower->node, 0}, .function = {.scale = 1, .y = y}};
    follower->follows = true;
    for (int i = 0; i < s.n; i++) {
        if (i == own) continue;
        a[d.nleader] = s.a[i];
        b[d.nleader] = s.b[i];
        u->joint[s.joint[i]].leads = true;
        d.leader[d.nleader++].joint = u->joint[s.joint[i]].node;
    }
    d.function.type = d.nleader == 0 ? SN_FUNCTION_CONSTANT
                      : straight     ? SN_FUNCTION_LINEAR
                                     : SN_FUNCTION_POLYNOMIAL;
    if (straight || d.nleader == 0) {
        for (int i = 0; i < d.nleader; i++) y[i] = (c[1] * b[i] - a[i]) / scale;
        y[d.nleader] = c[0] / scale;
        d.function.ny = d.nleader + 1;
    } else {
        int power[SN_MAX_LEADERS] = {0}, degree = degree_of(c);
        do {
            int all = 0, only = -1;
            for (int i = 0; i < d.nleader; i++) {
                all += power[i];
                if (power[i] == 1) only = i;
            }
            double x = c[all] * share(power, b, d.nleader);
            if (all == 1) x -= a[only];
            y[d.function.ny++] = x / scale;
        } while (next_powers(power, d.nleader, degree));
    }
    (void)sn_builder_couple_at(builder, &d, e->line);
    return SN_OK;
}
