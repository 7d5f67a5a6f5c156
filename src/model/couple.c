// SPDX-License-Identifier: MIT
// Coordinates that follow others. Every pose that the library makes has them where their functions
// put them. A follower of one leader keeps its limits through the leader's, which are narrowed to
// what both allow when the model is built, down rows of followers too.
#include <string.h>

#include "model/model.h"

static const char *name_of(const sn_model *m, int joint) { return m->desc[joint].name; }

// How many coordinates of a joint are plain numbers, each with a velocity of its own.
static int plain_count(const sn_joint *j) {
    return j->ops->quaternion >= 0 ? j->ops->quaternion : j->nq;
}

void sn_couplings_layout(sn_model *m, const sn_builder *from, int nv, double **numbers,
                         sn_layout *layout) {
    size_t count = from->ncoupling, n = count > 0 ? (size_t)nv : 0, total = from->nnumber;
    m->ncoupling = (int)count;
    // the given numbers once, and what the drivers need beside
    for (size_t i = 0; i < count; i++) total += sn_driver_numbers(&from->coupling[i].desc.function);
    m->coupling = sn_layout_take(layout, count, sizeof *m->coupling);
    m->coupled = sn_layout_take(layout, count, sizeof *m->coupled);
    m->inner = sn_layout_take(layout, n, sizeof *m->inner);
    m->follows = sn_layout_take(layout, n, sizeof *m->follows);
    m->paired = sn_layout_take(layout, n, sizeof *m->paired);
    *numbers = sn_layout_take(layout, total, sizeof **numbers);
}

void sn_couplings_copy(sn_model *m, const sn_builder *from, double *numbers) {
    if (from->nnumber > 0) memcpy(numbers, from->numbers, from->nnumber * sizeof *numbers);
    double *room = numbers + from->nnumber;
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_entry *entry = &from->coupling[i];
        m->coupling[i] = entry->desc;
        sn_function *f = &m->coupling[i].function;
        f->x = numbers + entry->numbers;
        f->y = f->x + f->nx;
        // the drivers' room is remembered where the driver will be
        m->coupled[i].driver.sigma = room;
        room += sn_driver_numbers(f);
    }
}

static sn_status coupling_fail(const sn_model *m, const sn_builder *from, int i, sn_error *error,
                               const char *what) {
    const sn_coordinate *c = &from->coupling[i].desc.follower;
    bool known = c->joint >= 0 && c->joint < m->njoint;
    return sn_fail(error, SN_ERR_MODEL, from->coupling[i].line,
                   "coupling %d (follower: coordinate %d of joint \"%.80s\"): %s", i, c->index,
                   known ? name_of(m, c->joint) : "?", what);
}

// Where a coordinate is; false when there is none.
static bool place_coordinate(const sn_model *m, const sn_coordinate *c, int *q, int *v, int *slot) {
    if (c->joint < 0 || c->joint >= m->njoint) return false;
    const sn_joint *j = &m->joint[m->sweep_of[c->joint]];
    if (c->index < 0 || c->index >= plain_count(j)) return false;
    *q = j->q0 + c->index;
    *v = j->v0 + c->index;
    *slot = j->slot + c->index;
    return true;
}

static sn_status place_coupling(sn_model *m, const sn_builder *from, int i, sn_error *error) {
    sn_coupling_desc *d = &m->coupling[i];
    sn_coupling_place *c = &m->coupled[i];
    double *room = (double *)(uintptr_t)c->driver.sigma;
    if (!place_coordinate(m, &d->follower, &c->follower_q, &c->follower_v, &c->follower_slot))
        return coupling_fail(m, from, i, error, "the follower is no plain coordinate");
    if (d->nleader < 0 || d->nleader > SN_MAX_LEADERS)
        return coupling_fail(m, from, i, error, "it has too many leaders");
    c->given = i;
    c->nleader = d->nleader;
    d->function.nargument = d->nleader;
    for (int k = 0; k < d->nleader; k++) {
        d->function.argument[k] = k;
        if (!place_coordinate(m, &d->leader[k], &c->q[k], &c->v[k], &c->slot[k]))
            return coupling_fail(m, from, i, error, "a leader is no plain coordinate");
    }
    const char *wrong = sn_function_check(&d->function, d->nleader);
    if (wrong != NULL) return coupling_fail(m, from, i, error, wrong);
    sn_function f = d->function;
    for (int k = 0; k < d->nleader; k++) {
        f.argument[k] = c->q[k];
        for (int l = 0; l < k; l++)
            if (c->q[k] == c->q[l])
                return coupling_fail(m, from, i, error, "it names a leader twice");
    }
    if (m->follows[c->follower_v])
        return coupling_fail(m, from, i, error, "another coupling has the same follower");
    m->follows[c->follower_v] = true;
    c->driver = sn_driver_make(&f, room);
    c->curved = f.type != SN_FUNCTION_CONSTANT && f.type != SN_FUNCTION_LINEAR &&
                f.type != SN_FUNCTION_POLYLINE &&
                !(f.type == SN_FUNCTION_POLYNOMIAL && c->driver.degree < 2);
    m->nleader += c->nleader;
    return SN_OK;
}

// Leaders before those that follow them: pick what depends on nothing that is still to come.
static sn_status order_couplings(sn_model *m, const sn_builder *from, sn_error *error) {
    for (int done = 0; done < m->ncoupling; done++) {
        int next = -1;
        for (int i = done; i < m->ncoupling && next < 0; i++) {
            bool ready = true;
            for (int k = 0; k < m->coupled[i].nleader && ready; k++)
                for (int l = done; l < m->ncoupling && ready; l++)
                    ready = m->coupled[l].follower_v != m->coupled[i].v[k];
            if (ready) next = i;
        }
        if (next < 0) {
            return coupling_fail(m, from, m->coupled[done].given, error,
                                 "it follows itself in the end");
        }
        sn_coupling_place c = m->coupled[next];
        for (int i = next; i > done; i--) m->coupled[i] = m->coupled[i - 1];
        m->coupled[done] = c;
    }
    return SN_OK;
}

// The last of a row of followers first: each narrows the range of the one it follows.
static sn_status narrow_limits(sn_model *m, const sn_builder *from, sn_error *error) {
    for (int i = m->ncoupling - 1; i >= 0; i--) {
        sn_coupling_place *c = &m->coupled[i];
        double low = m->lower[c->follower_v], high = m->upper[c->follower_v];
        if (low == -INFINITY && high == INFINITY) continue;
        bool room = true;
        if (c->nleader == 0) {
            sn_jet jet;
            sn_driver_at(&c->driver, NULL, &jet);
            room = jet.f >= low && jet.f <= high;
        } else if (c->nleader == 1) {
            sn_driver alone = c->driver;
            alone.f.argument[0] = 0;
            room = sn_driver_range(&alone, low, high, &m->lower[c->v[0]], &m->upper[c->v[0]]);
        } else {
            c->limited = m->tied_limits = true;
        }
        if (!room)
            return coupling_fail(m, from, c->given, error,
                                 "the limits of follower and leader leave no room for both");
    }
    return SN_OK;
}

sn_status sn_couplings_build(sn_model *m, const sn_builder *from, sn_error *error) {
    if (m->ncoupling == 0) {
        m->inner = m->gain;
        return SN_OK;
    }
    for (int i = 0; i < m->ncoupling; i++) SN_TRY(place_coupling(m, from, i, error));
    SN_TRY(order_couplings(m, from, error));
    SN_TRY(narrow_limits(m, from, error));
    m->gained = true;
    for (int v = 0; v < m->nv; v++) {
        m->inner[v] = m->follows[v] ? 1 : m->gain[v];
        if (m->follows[v]) m->gain[v] = 0;
    }
    for (int i = 0; i < m->ncoupling; i++) {
        const sn_coupling_place *c = &m->coupled[i];
        m->paired[c->follower_v] = true;
        for (int k = 0; k < c->nleader; k++) m->paired[c->v[k]] = true;
    }
    return SN_OK;
}

void sn_model_follow(const sn_model *model, double *q) {
    if (model == NULL || q == NULL) return;
    for (int i = 0; i < model->ncoupling; i++) {
        const sn_coupling_place *c = &model->coupled[i];
        sn_jet jet;
        sn_driver_at(&c->driver, q, &jet);
        q[c->follower_q] = jet.f;
    }
}

double sn_model_followers_outside(const sn_model *model, const double *q) {
    double most = 0;
    for (int i = 0; i < model->ncoupling && model->tied_limits; i++) {
        const sn_coupling_place *c = &model->coupled[i];
        double x = q[c->follower_q];
        double out = fmax(model->lower[c->follower_v] - x, x - model->upper[c->follower_v]);
        // one that follows a follower that is outside may be so, too
        most = fmax(most, out);
    }
    return most;
}

bool sn_model_followers_inside(const sn_model *model, const double *q) {
    for (int i = 0; i < model->ncoupling && model->tied_limits; i++) {
        const sn_coupling_place *c = &model->coupled[i];
        double x = q[c->follower_q];
        if (c->limited && !(x >= model->lower[c->follower_v] && x <= model->upper[c->follower_v]))
            return false;
    }
    return true;
}

// Newton's steps along the slopes, over the leaders that have room.
int sn_model_lead_back(const sn_model *model, double *q) {
    int moved = 0;
    for (int round = 0; round < 60 && !sn_model_followers_inside(model, q); round++) {
        for (int i = 0; i < model->ncoupling; i++) {
            const sn_coupling_place *c = &model->coupled[i];
            if (!c->limited) continue;
            double low = model->lower[c->follower_v], high = model->upper[c->follower_v];
            sn_jet jet;
            sn_driver_at(&c->driver, q, &jet);
            // a hair inside, so that rounding does not bring it out again
            double hair = 1e-15 * (round + 1) * fmax(fabs(jet.f), high - low < 1 ? high - low : 1);
            double miss = jet.f < low ? low + hair - jet.f : jet.f > high ? high - hair - jet.f : 0;
            double square = 0;
            for (int pass = 0; pass < 2 && miss != 0; pass++) {
                for (int k = 0; k < c->nleader; k++) {
                    double *x = &q[c->q[k]], d = miss * jet.d[k];
                    bool open = model->gain[c->v[k]] != 0 &&
                                (d > 0 ? *x < model->upper[c->v[k]] : *x > model->lower[c->v[k]]);
                    if (!open) continue;
                    if (pass == 0) {
                        square += jet.d[k] * jet.d[k];
                        continue;
                    }
                    // not far at once: where a slope vanishes the step would be anything
                    double to = *x + fmin(fmax(d / square, -0.5), 0.5);
                    *x = fmin(fmax(to, model->lower[c->v[k]]), model->upper[c->v[k]]);
                    moved++;
                }
                if (!(square > 0)) break;
            }
        }
        sn_model_follow(model, q);
    }
    return moved;
}
