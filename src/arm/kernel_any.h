// SPDX-License-Identifier: MIT
// Any chain in kernel.h: several moves of a variable, followers by curves, goals of which not all counts.

// What follows by curves: its numbers behind those of q, and its slopes, lane by lane.
SN_INLINE void follow_curves(const sn_arm_chain *c, REAL *all, REAL slope[][SN_ARM_MAX]) {
    double in[SN_ARM_MAX][LANES], value[SN_ARM_CURVES][LANES];
    double by[SN_ARM_CURVES][SN_ARM_MAX][LANES];
    sn_arm_curves at;
    for (int j = 0; j < c->n; j++) store(in[j], all[j]);
    for (int l = 0; l < LANES; l++) {
        double q[SN_ARM_MAX];
        for (int j = 0; j < c->n; j++) q[j] = c->length_of[j] ? in[j][l] * c->unit : in[j][l];
        sn_arm_curves_at(c, q, &at, false);
        for (int k = 0; k < c->ncurve; k++) {
            value[k][l] = at.value[k];
            for (int j = 0; j < c->n; j++) by[k][j][l] = at.slope[k][j];
        }
    }
    for (int k = 0; k < c->ncurve; k++) {
        all[SN_ARM_MAX + k] = load(value[k]);
        for (int j = 0; j < c->n; j++) slope[k][j] = load(by[k][j]);
    }
}

// Rows of the rotation and of the place that count, where not all do: into the goal's axes, the
// free ones zero. Turns about a free axis are taken off the goal first.
SN_INLINE void spin_goal(const sn_arm_chain *c, const KERNEL(end) * f, const REAL *G, REAL *spun) {
    const REAL k[3] = {splat(c->axis.x), splat(c->axis.y), splat(c->axis.z)};
    REAL to[3], from[3], v[3], w = splat(1);
    for (int i = 0; i < 3; i++) {
        to[i] = k[0] * G[i] + k[1] * G[3 + i] + k[2] * G[6 + i];
        from[i] = k[0] * f->x[i] + k[1] * f->y[i] + k[2] * f->z[i];
        w = w + to[i] * from[i];
    }
    // the smallest rotation Q that takes `from` to `to`; the spun goal is Q times the end
    cross(from, to, v);
    const BITS opposite = LESS(w, splat(1e-6));
    const REAL k1 = splat(1) / choose(opposite, splat(1), w);
    const REAL *column[3] = {f->x, f->y, f->z};
    for (int col = 0; col < 3; col++) {
        REAL vx[3], vvx[3];
        cross(v, column[col], vx);
        cross(v, vx, vvx);
        for (int i = 0; i < 3; i++)
            spun[3 * col + i] =
                choose(opposite, G[3 * col + i], column[col][i] + vx[i] + k1 * vvx[i]);
    }
}

SN_INLINE void mask_rows(const sn_arm_chain *c, const REAL *G, REAL *row, bool turn) {
    if (turn && c->rotation == SN_ARM_ROTATION_NONE)
        for (int i = 0; i < 3; i++) row[i] = splat(0);
    if (turn && c->rotation == SN_ARM_ROTATION_AXIS) {
        const REAL k[3] = {splat(c->axis.x), splat(c->axis.y), splat(c->axis.z)};
        REAL to[3], along = splat(0);
        for (int i = 0; i < 3; i++) {
            to[i] = k[0] * G[i] + k[1] * G[3 + i] + k[2] * G[6 + i];
            along = along + to[i] * row[i];
        }
        for (int i = 0; i < 3; i++) row[i] = row[i] - along * to[i];
    }
    if (turn) return;
    for (int k = 0; k < 3; k++) {
        if (!c->place_free[k]) continue;
        REAL along = splat(0);
        for (int i = 0; i < 3; i++) along = along + G[3 * k + i] * row[i];
        for (int i = 0; i < 3; i++) row[i] = row[i] - along * G[3 * k + i];
    }
}

// The columns of all variables.
SN_INLINE void columns_any(const sn_arm_chain *c, const REAL *G, const KERNEL(end) * f, REAL a[][3],
                           REAL o[][3], REAL slope[][SN_ARM_MAX], REAL J[][6]) {
    for (int j = 0; j < c->n; j++)
        for (int i = 0; i < 6; i++) J[j][i] = splat(0);
    for (int k = 0; k < c->ncurve; k++)
        for (int i = 0; i < 6; i++) J[SN_ARM_MAX + k][i] = splat(0);
    for (int k = 0; k < c->m; k++) {
        const sn_arm_move *v = &c->move[k];
        REAL *column = J[v->variable];
        if (v->turn != 0) {
            REAL arm[3] = {f->p[0] - o[k][0], f->p[1] - o[k][1], f->p[2] - o[k][2]}, way[3];
            cross(a[k], arm, way);
            for (int i = 0; i < 3; i++) {
                column[i] = column[i] + splat(v->turn) * a[k][i];
                column[3 + i] = column[3 + i] + splat(v->turn) * way[i];
            }
        }
        if (v->slide != 0)
            for (int i = 0; i < 3; i++) column[3 + i] = column[3 + i] + splat(v->slide) * a[k][i];
    }
    for (int k = 0; k < c->ncurve; k++)
        for (int j = 0; j < c->n; j++)
            for (int i = 0; i < 6; i++) J[j][i] = J[j][i] + slope[k][j] * J[SN_ARM_MAX + k][i];
    for (int j = 0; j < c->n; j++) mask_rows(c, G, J[j], true), mask_rows(c, G, J[j] + 3, false);
}
