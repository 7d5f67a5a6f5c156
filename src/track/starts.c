// SPDX-License-Identifier: MIT
// Where limbs are looked for: the middle of their ranges, with the last joint at three values, then points of a Halton
// sequence.
#include "track/starts.h"

#include <math.h>
#include <string.h>

#include "model/model.h"

// A coordinate that other starts change: a plain number that may move and does something for a task.
static bool is_open(const sn_problem *p, int k, int i) {
    const sn_model *m = p->model;
    const sn_joint *j = &m->joint[k];
    int v = j->v0 + i;
    bool follows = m->ncoupling > 0 && m->follows[v];
    return j->ops->quaternion < 0 && m->gain[v] != 0 && !follows && m->lower[v] < m->upper[v];
}

static double halton(int n, int base) {
    double x = 0, share = 1;
    for (; n > 0; n /= base) {
        share /= base;
        x += share * (n % base);
    }
    return x;
}

// Where in a coordinate's range the n-th start has it: 0 to 1.
static double where(int n, int i, bool last) {
    static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29};
    if (n < 3) return last ? (2 * n + 1) / 6.0 : 0.5;
    return 0.05 + 0.9 * halton(n - 2, primes[i % 10]);
}

void sn_start_limbs(const sn_limbs *limbs, const sn_problem *problem, const sn_valley_options *o,
                    int n, double *q) {
    const sn_model *m = problem->model;
    static const double pi = 0x1.921fb54442d18p+1;
    for (int l = 0; l < limbs->count; l++) {
        const sn_limb *b = &limbs->limb[l];
        int last = -1;
        for (int pass = 0; pass < 2; pass++) {
            int c = 0;
            for (int k = b->first; k < b->end; k++) {
                const sn_joint *j = &m->joint[k];
                if (sn_limb_tasks_below(problem, k) == 0) continue;
                for (int i = 0; i < j->nv; i++) {
                    if (!is_open(problem, k, i)) continue;
                    c++;
                    if (pass == 0) last = c;
                    if (pass == 0) continue;
                    int v = j->v0 + i, at = j->q0 + i;
                    double home = o->home[at];
                    double lower = fmax(o->lower[v], m->lower[v]),
                           upper = fmin(o->upper[v], m->upper[v]);
                    if (!(upper - lower < 2 * pi)) lower = home - pi, upper = home + pi;
                    if (j->ops->lengths[i]) lower = upper = home;
                    // each limb its own points of the sequence
                    q[at] = lower + (upper - lower) * where(n, c + 3 * l, c == last);
                }
            }
        }
    }
}

int sn_start_places(const sn_limbs *limbs, const sn_model *m, const sn_valley_options *o,
                    double *q) {
    const size_t nq = (size_t)m->nq;
    int count = 0;
    for (int k = 0; k < limbs->root_end; k++) {
        const sn_joint *j = &m->joint[k];
        for (int i = 0; i < j->nv; i++) {
            if (j->ops->lengths[i] || j->ops->quaternion >= 0) continue;
            // the unturned figure once
            for (int n = count == 0 ? 0 : 1; n < 4; n++, count++) {
                if (q == NULL) continue;
                double *at = q + (size_t)count * nq;
                memcpy(at, o->home, nq * sizeof *at);
                at[j->q0 + i] += n * 0x1.921fb54442d18p+0;
            }
        }
    }
    if (count == 0 && q != NULL) memcpy(q, o->home, nq * sizeof *q);
    return count > 0 ? count : 1;
}
