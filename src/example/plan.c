// SPDX-License-Identifier: MIT
// The plan, in seconds and metres. The figure walks along z, its left is +x. For the cartwheel it
// turns right, so that its left side leads, goes over its left hand and right hand on a line, and
// lands on its right foot, then its left. From `start` to `start` + 1.7 the contacts are symmetric
// in time: what the left foot does first, the right one does last.
#include "example/plan.h"

#include "math/vec3.h"

const double sn_plan_seconds = 10.2;

static const double start = 3.8, degree = 0x1.1df46a2529d39p-6;

// How high the ball is when the foot stands on the floor.
static const double sole = 0.01;

typedef struct contact {
    double on, off;  // the foot is on the floor from .. to
    double x, z;     // its ball
    double yaw;      // degrees
    bool flies;      // afterwards it goes over the head rather than a step further
} contact;

enum { LEFT_CONTACTS = 8, RIGHT_CONTACTS = 9 };

static const contact left[LEFT_CONTACTS] = {
    {-9, 1.10, 0.09, 0.13, 4, false},     {1.55, 2.19, 0.09, 1.08, 4, false},
    {2.65, 3.32, 0.09, 2.38, 4, false},   {3.80, 4.35, 0.02, 3.72, -40, true},
    {5.35, 6.24, 0.06, 6.30, -30, false}, {6.70, 7.34, 0.09, 7.53, 4, false},
    {7.80, 8.44, 0.09, 8.83, 4, false},   {8.90, 99, 0.09, 9.78, 4, false},
};
static const contact right[RIGHT_CONTACTS] = {
    {-9, 0.58, -0.09, 0.13, -4, false},     {1.00, 1.64, -0.09, 0.48, -4, false},
    {2.10, 2.74, -0.09, 1.73, -4, false},   {3.20, 3.95, -0.07, 3.11, -10, true},
    {4.95, 5.70, -0.02, 5.70, -100, false}, {6.15, 6.79, -0.09, 6.88, -4, false},
    {7.25, 7.89, -0.09, 8.18, -4, false},   {8.35, 8.96, -0.09, 9.43, -4, false},
    {9.40, 99, -0.09, 9.78, -4, false},
};

// t, and where the pelvis is: highest over the standing leg and a little to its side.
static const double pelvis_keys[][4] = {
    {0.00, 0, 0.935, 0},         {0.40, 0, 0.935, 0},         {0.75, 0.03, 0.92, 0.10},
    {1.00, 0.005, 0.90, 0.22},   {1.28, -0.025, 0.905, 0.45}, {1.55, 0, 0.89, 0.69},
    {1.83, 0.025, 0.905, 1.00},  {2.10, 0, 0.89, 1.32},       {2.38, -0.025, 0.905, 1.65},
    {2.65, 0, 0.89, 1.98},       {2.93, 0.025, 0.905, 2.30},  {3.20, 0, 0.89, 2.67},
    {3.50, -0.02, 0.89, 3.07},   {3.80, 0, 0.84, 3.44},       {4.05, 0, 0.78, 3.72},
    {4.25, 0, 0.795, 3.99},      {4.45, 0, 0.90, 4.36},       {4.65, 0, 1.09, 4.70},
    {4.85, 0, 0.90, 5.04},       {5.05, 0, 0.795, 5.38},      {5.25, 0, 0.80, 5.66},
    {5.50, 0, 0.85, 5.94},       {5.85, 0.02, 0.89, 6.20},    {6.15, 0, 0.89, 6.47},
    {6.43, -0.025, 0.905, 6.78}, {6.70, 0, 0.89, 7.09},       {6.98, 0.025, 0.905, 7.42},
    {7.25, 0, 0.89, 7.73},       {7.53, -0.025, 0.905, 8.07}, {7.80, 0, 0.89, 8.38},
    {8.08, 0.025, 0.905, 8.70},  {8.35, 0, 0.895, 9.00},      {8.63, -0.025, 0.905, 9.28},
    {8.90, 0.01, 0.91, 9.48},    {9.15, 0.02, 0.925, 9.62},   {9.40, 0, 0.935, 9.65},
    {9.80, 0, 0.935, 9.65},
};

void sn_plan_create(sn_plan *plan) {
    const int n = (int)(sizeof pelvis_keys / sizeof pelvis_keys[0]);
    for (int c = 0; c < 3; c++) sn_spline_through(&plan->pelvis[c], pelvis_keys[0], n, 4, c + 1);
}

static double between(double t, double from, double to) {
    return sn_step((t - from) / (to - from));
}

static sn_quat turn_y(double degrees) { return sn_quat_exp((sn_vec3){0, degrees * degree, 0}); }
static sn_quat turn_x(double degrees) { return sn_quat_exp((sn_vec3){degrees * degree, 0, 0}); }

// How far the toes are up, in degrees, about a step from `off` to `on`.
static double toes_on_landing(double t, double off, double on) {
    return 14 * between(t, off + 0.2, on - 0.05) * (1 - between(t, on - 0.05, on + 0.09));
}

// One foot: on the floor, or on its way from one contact to the next.
static void foot_at(const contact *contacts, int n, double t, sn_moment *m, int side) {
    int i = n - 1;
    while (i > 0 && t < contacts[i].on) i--;
    const contact *here = &contacts[i], *next = i + 1 < n ? here + 1 : here;
    double way = next == here ? 0 : sn_step((t - here->off) / (next->on - here->off));
    double x = next == here ? 0 : (t - here->off) / (next->on - here->off);
    // the heel rises before the ball leaves and comes down in the air; the toes are up on landing,
    // and the foot rolls from the heel to the ball
    double lift = 50 * between(t, here->off - 0.2, here->off + 0.05) *
                  (1 - between(t, here->off + 0.05, here->off + 0.3));
    double toes_up = 0;
    if (i > 0 && !contacts[i - 1].flies)
        toes_up = toes_on_landing(t, contacts[i - 1].off, here->on);
    if (next != here && t > here->off) toes_up = toes_on_landing(t, here->off, next->on);
    double yaw = here->yaw + way * (next->yaw - here->yaw), sine, cosine;
    sn_sincos(toes_up * degree, &sine, &cosine);
    sn_hold *ball = &m->ball[side];
    ball->at = (sn_vec3){here->x + way * (next->x - here->x), sole + 0.06 * sn_bump(x) + 0.2 * sine,
                         here->z + way * (next->z - here->z)};
    ball->held = 1;
    m->flying[side] = 0;
    if (here->flies && t > here->off) {
        // towards its half of the V that the legs make about the pelvis, and from there to the floor
        bool leaving = t < 0.5 * (here->off + next->on);
        const contact *c = leaving ? here : next;
        double fly = leaving ? between(t, here->off, here->off + 0.34)
                             : 1 - between(t, next->on - 0.34, next->on);
        const sn_vec3 floor = {c->x, sole, c->z}, leg = {side == 0 ? 0.64 : -0.64, -0.76, 0.09};
        const sn_mat3 R = sn_mat3_from_quat(m->pelvis_turn);
        const sn_vec3 high = v3_add(m->pelvis, m3_mul(&R, leg));
        ball->at = v3_add(v3_scale(1 - fly, floor), v3_scale(fly, high));
        ball->held = 1 - 0.2 * fly;
        m->flying[side] = fly;
        yaw = c->yaw;
        lift *= 1 - fly;
        toes_up = 0;
    }
    m->heel[side] = lift * degree;
    m->foot_turn[side] = sn_quat_mul(turn_y(yaw), turn_x(lift - toes_up));
}

void sn_plan_at(const sn_plan *plan, double t, sn_moment *m) {
    const double since = t - start;
    m->pelvis = (sn_vec3){sn_spline_at(&plan->pelvis[0], t), sn_spline_at(&plan->pelvis[1], t),
                          sn_spline_at(&plan->pelvis[2], t)};
    // turn right, over by a whole turn about the level line across the way, turn back; the chest
    // goes ahead of the pelvis to the floor and comes up after it
    double yaw = -90 * sn_ramp(since, -0.3, 0.35, 0.25) + 90 * sn_ramp(since, 1.4, 2.4, 0.4);
    double roll = 360 * sn_ramp(since, 0.05, 1.65, 0.5);
    double lead = 36 * (sn_bump(since + 0.05) - sn_bump(since - 0.75));
    m->pelvis_turn = sn_quat_mul(turn_x(roll), turn_y(yaw));

    foot_at(left, LEFT_CONTACTS, t, m, 0);
    foot_at(right, RIGHT_CONTACTS, t, m, 1);
    m->wheel = between(since, -0.4, 0.15) * (1 - between(since, 1.55, 2.1));
    m->stride = (1 - m->wheel) * (m->ball[0].at.z - m->ball[1].at.z) / 0.65;
    m->pelvis_turn = sn_quat_mul(m->pelvis_turn, turn_y(-4 * m->stride));
    m->chest_turn = sn_quat_mul(turn_x(roll + lead), turn_y(yaw + 5 * m->stride));

    m->wrist[0] =
        (sn_hold){{0, 0.06, 4.46}, between(since, 0.15, 0.45) * (1 - between(since, 1.02, 1.4))};
    m->wrist[1] =
        (sn_hold){{0, 0.06, 4.94}, between(since, 0.3, 0.68) * (1 - between(since, 1.25, 1.55))};
}
