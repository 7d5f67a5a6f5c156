// SPDX-License-Identifier: MIT
// Every pose once more, between its neighbours.
//
// Where markers determine a joint they alone decide. Some directions, such as one vertebra against the next,
// they leave open: noise decides there, and the pose trembles. So every joint is drawn to the middle of its
// neighbours, by so little that it is nothing beside what markers say of a joint that they determine, and much beside
// what holds one that they leave open. Before that such joints are led half way to that middle a few times, which costs
// next to nothing: solving puts right what markers determine, and what they leave open stays calm.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/atan2.h"
#include "math/rotation.h"
#include "model/model.h"
#include "sweeps/workspace.h"
#include "track/lanes.h"

enum { POLISH = 64 };

// The pull: a share of how well a degree of freedom is seen, and never more than this, at 120 frames a second (a
// marker 0.2 m from its joint weighs 0.04). Joints one upon another that goals hardly tell apart, such as vertebrae,
// get all of the share: what noise moves there is one against the next, which leaves the goals where they are.
static const double share = 0.2, most = 2e-3;

static void copy(const sn_lanes *l, double *to, const double *from) {
    memcpy(to, from, l->nq * sizeof *to);
}

// The weights of the pull, so many times as strong as usual.
static void find_weights(sn_lanes *l, double times) {
    double rate = sn_lane_rate(l) / 120, limit = most * rate * rate * times;
    for (size_t v = 0; v < l->nv; v++) {
        double all = share * l->full[v] * times;
        l->bind[v] = l->loose[v] ? all : fmin(all, limit);
    }
    // where the figure is is always seen: nothing to be smoothed there
    const sn_joint *root = &l->model->joint[0];
    for (int i = 0; i < root->nv; i++) l->bind[root->v0 + i] = 0;
}

// The middle of the neighbours: on the cubic through those at 1 and 3 frames to both sides, which no motion is far from,
// where the straight line would cut every corner. All are of the other half of the frames.
static void find_middle(const sn_lanes *l, sn_lane_worker *w, int f, double *middle) {
    const double *a = sn_lane_pose(l, f - 1), *b = sn_lane_pose(l, f + 1);
    sn_model_difference(l->model, a, b, w->delta);
    for (size_t v = 0; v < l->nv; v++) w->delta[v] *= 0.5;
    sn_model_integrate(l->model, a, w->delta, middle);
    if (l->corners || f < 3 || f + 3 >= l->nframe) return;
    sn_model_difference(l->model, middle, sn_lane_pose(l, f - 3), w->delta);
    sn_model_difference(l->model, middle, sn_lane_pose(l, f + 3), w->weight);
    for (size_t v = 0; v < l->nv; v++) w->delta[v] = -(w->delta[v] + w->weight[v]) / 16;
    sn_model_integrate(l->model, middle, w->delta, w->room);
    copy(l, middle, w->room);
}

// Every other frame of a block, where there are marks only those.
static sn_status next_polished(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    do {
        if (s->frame >= 0 && s->frame + 2 < s->end) {
            s->frame += 2;
            continue;
        }
        int block = sn_lane_next_item(l, w), first = block * POLISH;
        s->frame = -1;
        if (block < 0) return SN_OK;
        s->end = POLISH < l->nframe - first ? first + POLISH : l->nframe;
        // the last block may have no odd one
        s->frame = first + l->odd < s->end ? first + l->odd : -1;
    } while (s->frame < 0 || (l->restless != NULL && !l->restless[s->frame]));
    // the first and the last only go to the bottom of their valleys
    bool inner = s->frame > 0 && s->frame + 1 < l->nframe;
    copy(l, s->start, sn_lane_pose(l, s->frame));
    if (inner)
        find_middle(l, w, s->frame, s->rest);
    else
        copy(l, s->rest, s->start);
    memcpy(s->own_weight, inner ? l->bind : l->hold, l->nv * sizeof *s->own_weight);
    (void)sn_lane_keep_hidden(l, s);
    s->weight = s->own_weight;
    return SN_OK;
}

static void took_polished(sn_lanes *l, sn_lane_worker *w, sn_lane_side *s) {
    copy(l, sn_lane_pose(l, s->frame), w->q);
}

static sn_status sweep(sn_lanes *l) {
    static const sn_lane_source source = {next_polished, took_polished, true};
    for (l->odd = 0; l->odd < 2; l->odd++)
        SN_TRY(sn_lanes_aside(l, &source, (l->nframe + POLISH - 1) / POLISH));
    return SN_OK;
}

// --- before it -------------------------------------------------------------------------------------

// Times, at 120 frames a second; as long in seconds at other rates, and never more than this.
static const double eased = 8, most_eased = 12;

static void ease_frame(sn_lanes *l, int f) {
    double *q = sn_lane_pose(l, f);
    const double *a = q - l->nq, *b = q + l->nq;
    if (f == 0 || f + 1 == l->nframe) return;
    for (int k = 1; k < l->model->njoint; k++) {
        const sn_joint *j = &l->model->joint[k];
        if (j->ops->quaternion >= 0) continue;
        for (int i = 0; i < j->nv; i++) {
            int at = j->q0 + i;
            if (l->loose[j->v0 + i]) q[at] += 0.25 * (a[at] + b[at] - 2 * q[at]);
        }
    }
}

static sn_status ease_block(sn_lanes *l, int block, int odd) {
    int first = block * POLISH, end = POLISH < l->nframe - first ? first + POLISH : l->nframe;
    for (int f = first + odd; f < end; f += 2) ease_frame(l, f);
    return SN_OK;
}
static sn_status ease_even(sn_lanes *l, sn_lane_worker *w, int i) {
    (void)w;
    return ease_block(l, i, 0);
}
static sn_status ease_odd(sn_lanes *l, sn_lane_worker *w, int i) {
    (void)w;
    return ease_block(l, i, 1);
}

static sn_status ease(sn_lanes *l) {
    double rate = sn_lane_rate(l) / 120, times = fmin(eased * rate * rate, most_eased);
    const sn_model *m = l->model;
    int blocks = (l->nframe + POLISH - 1) / POLISH;
    // what hangs together by more than joints does not stay together so
    if (m->nloop > 0 || m->ncoupling > 0 || m->ncone > 0) return SN_OK;
    for (int i = 0; i < (int)(times + 0.5); i++) {
        SN_TRY(sn_lanes_run(l, ease_even, blocks));
        SN_TRY(sn_lanes_run(l, ease_odd, blocks));
    }
    return SN_OK;
}

// --- where joints still leap ---------------------------------------------------------------------

// A leap is a turn as fast as this, rad/s; so many seconds about it are calmed, with weights that grow from round
// to round.
static const double leap_speed = 2100 * 0x1.1df46a2529d39p-6, calmed = 0.07, grows = 4;
// With fewer frames a second motion turns by as much from one to the next: then also one by more than this, radians, and
// more than so many times what its goals turn. Goals closer to a joint than that, metres, show no turn.
static const double leap = 17.5 * 0x1.1df46a2529d39p-6, shown_share = 1.3, least_lever = 0.03;
enum { ROUNDS = 5, SWEEPS = 2 };
// Where that raises f of such frames to so many times what it was, what leaps is no noise: coordinates near a pose in which two
// axes fall together, or a limb that goes on from another valley. These are put back as they were at first. A raised arm went to
// 30 times its f so, and took back and pelvis along by 10 degrees; with noise f rises to less than twice.
static const double most_risen = 3;

// What two frames in a row show.
typedef struct looks {
    sn_frame *at[2];   // njoint
    sn_vec3 *goal[2];  // options.goals
    bool *there[2];
} looks;

static sn_status look(sn_lanes *l, const looks *s, int which, int frame) {
    sn_lane_worker *w = &l->workers[0];
    SN_TRY(l->goals(l->user, frame, w->problem));
    SN_TRY(sn_workspace_pose(w->ws, sn_lane_pose(l, frame)));
    for (int j = 0; j < l->model->njoint; j++) s->at[which][j] = sn_workspace_frame(w->ws, j);
    for (int i = 0; i < l->options.goals; i++) {
        s->there[which][i] = sn_problem_task_active(w->problem, i);
        s->goal[which][i] = v3_from(sn_problem_task(w->problem, i)->goal);
    }
    return SN_OK;
}

static sn_mat3 against_parent(const sn_lanes *l, const sn_frame *at, int joint) {
    int parent = sn_model_parent(l->model, joint);
    sn_mat3 back = parent >= 0 ? m3_transpose(&at[parent].R) : m3_identity();
    return m3_mulm(&back, &at[joint].R);
}

// Of a goal, as the joint's parent sees it.
static sn_vec3 way_to(const sn_lanes *l, const looks *s, int which, int joint, int goal) {
    int parent = sn_model_parent(l->model, joint);
    sn_vec3 way = v3_sub(s->goal[which][goal], s->at[which][joint].p);
    return parent >= 0 ? m3_tmul(&s->at[which][parent].R, way) : way;
}

static double goals_turn(const sn_lanes *l, const looks *s, int joint) {
    double turn = 0;
    for (int i = 0; i < l->options.goals; i++) {
        if (!s->there[0][i] || !s->there[1][i]) continue;
        if (sn_problem_task(l->workers[0].problem, i)->joint != joint) continue;
        sn_vec3 a = way_to(l, s, 0, joint, i), b = way_to(l, s, 1, joint, i);
        if (v3_norm(a) * v3_norm(b) < least_lever * least_lever) continue;
        turn = fmax(turn, sn_atan2(v3_norm(v3_cross(a, b)), v3_dot(a, b)));
    }
    return turn;
}

// Does a joint turn by more than a leap from a frame's last, and its goals do not?
static sn_status leaps_unseen(sn_lanes *l, const looks *s, int frame, bool *out) {
    *out = false;
    SN_TRY(look(l, s, 0, frame - 1));
    SN_TRY(look(l, s, 1, frame));
    for (int j = 0; j < l->model->njoint && !*out; j++) {
        sn_mat3 a = against_parent(l, s->at[0], j), b = against_parent(l, s->at[1], j);
        sn_mat3 back = m3_transpose(&a), way = m3_mulm(&back, &b);
        double turn = v3_norm(sn_rotation_log(&way));
        *out = turn > leap && turn > shown_share * goals_turn(l, s, j);
    }
    return SN_OK;
}

// While leaps are calmed.
typedef struct calming {
    looks looks;
    int *kept;      // nframe: which pose of those below is its first one, -1 for none
    bool *left;     // nframe: what is to stay as it is
    double *poses;  // of frames that were restless once, before they were calmed
    double *f;      // and f of these
    size_t npose, room, f_room;
} calming;

static sn_status mark_leaps(sn_lanes *l, const calming *c, int *count) {
    sn_lane_worker *w = &l->workers[0];
    double limit = leap_speed / sn_lane_rate(l);
    int reach = (int)(calmed * sn_lane_rate(l)) + 2;
    *count = 0;
    memset(l->restless, 0, (size_t)l->nframe * sizeof *l->restless);
    for (int f = 1; f < l->nframe; f++) {
        double turned;
        (void)sn_lane_turn(l, w, sn_lane_pose(l, f - 1), sn_lane_pose(l, f), &turned);
        bool leaps = turned > limit;
        if (c->left[f] || c->left[f - 1]) continue;
        if (!leaps && turned > leap) SN_TRY(leaps_unseen(l, &c->looks, f, &leaps));
        if (!leaps) continue;
        ++*count;
        for (int k = f - reach; k < f + reach; k++)
            if (k >= 0 && k < l->nframe) l->restless[k] = !c->left[k];
    }
    return SN_OK;
}

// f of a frame by its goals, without the pull to its neighbours.
static sn_status measure(sn_lanes *l, int frame, double *f) {
    sn_lane_worker *w = &l->workers[0];
    SN_TRY(l->goals(l->user, frame, w->problem));
    SN_TRY(sn_problem_set_enabled(w->problem, l->rest, false));
    return sn_workspace_eval(w->ws, sn_lane_pose(l, frame), 0, f);
}

static sn_status keep_poses(sn_lanes *l, calming *c) {
    for (int f = 0; f < l->nframe; f++) {
        if (!l->restless[f] || c->kept[f] >= 0) continue;
        SN_TRY(sn_grow(&l->allocator, (void **)&c->poses, &c->room, (c->npose + 1) * l->nq,
                       sizeof *c->poses));
        SN_TRY(sn_grow(&l->allocator, (void **)&c->f, &c->f_room, c->npose + 1, sizeof *c->f));
        copy(l, c->poses + c->npose * l->nq, sn_lane_pose(l, f));
        SN_TRY(measure(l, f, &c->f[c->npose]));
        c->kept[f] = (int)c->npose++;
    }
    return SN_OK;
}

// Stretches that do not calm down are put back and left.
static sn_status leave_stubborn(sn_lanes *l, const calming *c) {
    for (int first = 0, end; first < l->nframe; first = end + 1) {
        double before = 0, after = 0, f;
        for (end = first; end < l->nframe && l->restless[end]; end++) {
            SN_TRY(measure(l, end, &f));
            before += c->f[c->kept[end]];
            after += f;
        }
        if (!(after > most_risen * before)) continue;
        for (int k = first; k < end; k++) {
            copy(l, sn_lane_pose(l, k), c->poses + (size_t)c->kept[k] * l->nq);
            c->left[k] = true;
        }
    }
    return SN_OK;
}

// What is left of leaps after polishing is where a whole limb may turn against the next joint with hardly a cost:
// there, and only there, the middle of the neighbours counts for more.
static sn_status calm_with(sn_lanes *l, calming *c) {
    const double rate = sn_lane_rate(l) / 120;
    const int sweeps = (int)(SWEEPS * fmin(fmax(rate * rate, 1), most_eased));
    double times = 1;
    int count;
    for (int f = 0; f < l->nframe; f++) {
        c->kept[f] = -1;
        c->left[f] = false;
    }
    for (int i = 0; i < ROUNDS; i++) {
        SN_TRY(mark_leaps(l, c, &count));
        if (count == 0 || sn_cancelled(l->options.cancel)) return SN_OK;
        SN_TRY(keep_poses(l, c));
        times *= grows;
        find_weights(l, times);
        for (int k = 0; k < sweeps; k++) SN_TRY(sweep(l));
        SN_TRY(leave_stubborn(l, c));
    }
    return SN_OK;
}

static sn_status calm(sn_lanes *l) {
    const size_t joints = (size_t)l->model->njoint, goals = (size_t)l->options.goals + 1,
                 count = (size_t)l->nframe;
    calming c = {.poses = NULL};
    looks *s = &c.looks;
    l->restless = sn_acquire(&l->allocator, count * sizeof *l->restless);
    c.kept = sn_acquire(&l->allocator, count * sizeof *c.kept);
    c.left = sn_acquire(&l->allocator, count * sizeof *c.left);
    s->at[0] = sn_acquire(&l->allocator, 2 * joints * sizeof *s->at[0]);
    s->goal[0] = sn_acquire(&l->allocator, 2 * goals * sizeof *s->goal[0]);
    s->there[0] = sn_acquire(&l->allocator, 2 * goals * sizeof *s->there[0]);
    sn_status status = SN_ERR_MEMORY;
    if (l->restless != NULL && c.kept != NULL && c.left != NULL && s->at[0] != NULL &&
        s->goal[0] != NULL && s->there[0] != NULL) {
        s->at[1] = s->at[0] + joints;
        s->goal[1] = s->goal[0] + goals;
        s->there[1] = s->there[0] + goals;
        status = calm_with(l, &c);
    }
    sn_release(&l->allocator, c.f);
    sn_release(&l->allocator, c.poses);
    sn_release(&l->allocator, s->there[0]);
    sn_release(&l->allocator, s->goal[0]);
    sn_release(&l->allocator, s->at[0]);
    sn_release(&l->allocator, c.left);
    sn_release(&l->allocator, c.kept);
    sn_release(&l->allocator, l->restless);
    l->restless = NULL;
    return status;
}

sn_status sn_lanes_polish(sn_lanes *l, int sweeps) {
    SN_TRY(ease(l));
    find_weights(l, 1);
    for (int i = 0; i < sweeps; i++) {
        l->corners = i + 1 < sweeps;
        SN_TRY(sweep(l));
    }
    return calm(l);
}
