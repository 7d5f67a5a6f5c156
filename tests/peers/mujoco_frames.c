// SPDX-License-Identifier: MIT
// MuJoCo's own kinematics, to compare the MJCF reader with:
//   mujoco_frames FILE.xml < numbers
// reads poses (nq numbers each) from standard input and prints, for each, the place and rotation of
// every named body and site: "body|site NAME x y z w x y z". Prints nq first.
#include <mujoco/mujoco.h>
#include <stdio.h>

static void print_frame(const char *kind, const char *name, const mjtNum *p, const mjtNum *q) {
    if (name == NULL || name[0] == '\0') return;
    printf("%s %s", kind, name);
    for (int i = 0; i < 3; i++) printf(" %.17g", p[i]);
    for (int i = 0; i < 4; i++) printf(" %.17g", q[i]);
    printf("\n");
}

int main(int argc, char **argv) {
    char error[1000] = "";
    if (argc != 2) return 2;
    mjModel *m = mj_loadXML(argv[1], NULL, error, sizeof error);
    if (m == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    mjData *d = mj_makeData(m);
    printf("nq %d\n", m->nq);
    for (;;) {
        for (int i = 0; i < m->nq; i++)
            if (scanf("%lf", &d->qpos[i]) != 1) goto end;
        mj_kinematics(m, d);
        printf("pose\n");
        for (int i = 1; i < m->nbody; i++)
            print_frame("body", mj_id2name(m, mjOBJ_BODY, i), d->xpos + 3 * i, d->xquat + 4 * i);
        for (int i = 0; i < m->nsite; i++) {
            mjtNum q[4];
            mju_mat2Quat(q, d->site_xmat + 9 * i);
            print_frame("site", mj_id2name(m, mjOBJ_SITE, i), d->site_xpos + 3 * i, q);
        }
    }
end:
    mj_deleteData(d);
    mj_deleteModel(m);
    return 0;
}
