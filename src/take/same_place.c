// SPDX-License-Identifier: MIT
// Two labels of one point: a marker that was given another's samples leads its joint astray, and nothing else shows it, as the
// calibration moves the marker to where its samples are.
#include <math.h>

#include "math/vec3.h"
#include "take/take.h"

// Markers are a centimetre and more across: no two are nearer, metres.
static const double one_point = 0.001;

// In so much of the frames that show both, of which there are at least so many, and so much of those that show one.
static const double nearly_all = 0.95, together = 0.5;
enum { LEAST_SEEN = 3, LOOKED_AT = 40, MOST_TOLD = 8 };

typedef struct meeting {
    int both, one, same;  // frames that show both, one alone; and both in one place
} meeting;

static meeting meet(const sn_fit_input *in, int a, int b, int step) {
    meeting m = {0};
    for (int f = in->first; f < in->first + in->count; f += step) {
        double x[3], y[3];
        const bool first = sn_fit_goal(in, a, f, x), second = sn_fit_goal(in, b, f, y);
        m.one += first != second;
        if (!first || !second) continue;
        m.both++;
        m.same += v3_norm(v3_sub(v3_from(x), v3_from(y))) < one_point;
    }
    return m;
}

static bool is_one_point(const meeting *m) {
    return m->both >= LEAST_SEEN && m->same >= nearly_all * m->both &&
           m->both >= together * (m->both + m->one);
}

// Where the model has them in one place they may be: a joint's centre that goes by two names.
static bool meant(const sn_model *model, int a, int b) {
    const sn_marker_desc *p = sn_model_marker(model, a), *q = sn_model_marker(model, b);
    return p->joint == q->joint &&
           v3_norm(v3_sub(v3_from(p->position), v3_from(q->position))) < 10 * one_point;
}

static sn_status tell(sn_take *t, int a, int b, const meeting *m) {
    sn_finding *f = sn_take_add(t, SN_FINDING_SAME_PLACE, NULL);
    if (f == NULL) return SN_ERR_MEMORY;
    f->number[0] = m->same;
    f->number[1] = (double)m->same / m->both;
    f->marker = a;
    f->other = b;
    return SN_OK;
}

sn_status sn_take_check_places(sn_take *t) {
    const sn_fit_input *in = &t->input;
    const int step = in->count / LOOKED_AT + 1;
    int told = 0;
    for (int a = 0; a < sn_model_nmarker(t->model); a++)
        for (int b = a + 1; b < sn_model_nmarker(t->model) && told < MOST_TOLD; b++) {
            if (in->column[a] < 0 || in->column[b] < 0 || in->column[a] == in->column[b]) continue;
            // few frames tell nearly all pairs apart
            meeting m = meet(in, a, b, step);
            if (m.same < nearly_all * m.both || m.same == 0 || meant(t->model, a, b)) continue;
            m = meet(in, a, b, 1);
            if (!is_one_point(&m)) continue;
            SN_TRY(tell(t, a, b, &m));
            told++;
        }
    return SN_OK;
}
