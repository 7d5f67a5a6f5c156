// SPDX-License-Identifier: MIT
// The clips, and which of their frames stand for 001's.
//
// 001 chose its frames by eye from dg_03-02_01 and mm_03-05_02, which are not at hand. Here a rule
// chooses them, the same for every solver:
//
//   walking   mean marker speed at even steps between the lower and the upper quartile of the walking
//             clips (all but the first), or of the slower half where there is one clip only
//   punching  the fastest frames of the hands' markers, at least a quarter of a second apart
//   kicking   likewise of the feet's markers
//   workout   half of them the largest mean marker speed, half the straightest limbs (the angle of
//             shoulder, elbow and wrist or hip, knee and ankle nearest 180 degrees), a second apart
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers.h"

// The built-in example as a clip: what the capture system saw, gaps filled from the truth (the clips'
// are filled as well).
static bool example(clip *c) {
    sn_model *subject = NULL;
    sn_motion *motion = NULL;
    sn_recording *seen = NULL;
    sn_problem *none = NULL;
    sn_workspace *ws = NULL;
    *c = (clip){0};
    (void)snprintf(c->name, sizeof c->name, "example");
    bool good = sn_model_humanoid(NULL, &c->model, NULL) == SN_OK &&
                sn_example_subject(1, NULL, &subject, NULL) == SN_OK &&
                sn_example_motion(c->model, NULL, &motion, NULL) == SN_OK &&
                sn_example_recording(subject, motion, 1, NULL, &seen, NULL) == SN_OK &&
                sn_problem_create(c->model, NULL, 0, NULL, &none, NULL) == SN_OK &&
                sn_workspace_create(none, false, NULL, &ws, NULL) == SN_OK;
    if (good) {
        size_t nq = (size_t)sn_model_nq(c->model);
        c->nframe = sn_motion_nframe(motion);
        c->rate = sn_motion_rate(motion);
        c->truth = bench_numbers((size_t)c->nframe * nq);
        c->goals = bench_numbers((size_t)c->nframe * 3 * CLIP_MARKERS);
        for (int f = 0; f < c->nframe; f++) {
            double *q = c->truth + (size_t)f * nq, *to = c->goals + (size_t)f * 3 * CLIP_MARKERS;
            memcpy(q, sn_motion_frame(motion, f), nq * sizeof *q);
            (void)sn_workspace_pose(ws, q);
            for (int i = 0; i < CLIP_MARKERS; i++, to += 3) {
                const sn_marker_desc *m = sn_model_marker(subject, i);
                int at = sn_recording_find(seen, m->name);
                sn_vec3 x = sn_workspace_point(ws, m->joint, m->position);
                to[0] = x.x, to[1] = x.y, to[2] = x.z;
                c->joint[i] = m->joint;
                c->marker[i] = sn_model_marker(c->model, i)->name;
                if (at >= 0 && sn_recording_present(seen, f, at))
                    memcpy(to, sn_recording_frame(seen, f) + 3 * at, 3 * sizeof *to);
            }
        }
    }
    sn_workspace_destroy(ws);
    sn_problem_destroy(none);
    sn_recording_destroy(seen);
    sn_motion_destroy(motion);
    sn_model_destroy(subject);
    if (!good) clip_free(c);
    return good;
}

bool papers_load(papers *p, const char *data) {
    p->example = data == NULL;
    int n = 0;
    clip_files *files = data != NULL ? clip_find(data, &n, &p->skipped) : NULL;
    // those of 001's Table 4 first: they have its numbers beside them, and the fast motion is sought there
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            if (papers_in_table4(files[i].name) != (pass == 0)) continue;
            if (p->nclip < PAPERS_CLIPS && clip_load(files[i].name, files[i].asf, files[i].amc,
                                                     files[i].c3d, &p->clips[p->nclip]))
                p->nclip++;
            else
                p->skipped++;
        }
    free(files);
    if (p->example && example(&p->clips[0])) p->nclip = 1;
    for (int i = 0; i < p->nclip; i++) p->offsets[i] = clip_all_offsets(&p->clips[i]);
    return p->nclip > 0;
}

// Mean speed at a frame of the markers whose names end in one of these; all when `ends` is NULL.
static double speed_of(const clip *c, int frame, const char *const *ends) {
    const double *a = clip_goals(c, frame - 1), *b = clip_goals(c, frame);
    double sum = 0;
    int n = 0;
    for (int i = 0; i < CLIP_MARKERS; i++) {
        bool wanted = ends == NULL;
        for (int k = 0; ends != NULL && ends[k] != NULL; k++)
            wanted |= strstr(c->marker[i], ends[k]) != NULL;
        double d[3] = {b[3 * i] - a[3 * i], b[3 * i + 1] - a[3 * i + 1],
                       b[3 * i + 2] - a[3 * i + 2]};
        double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (!wanted || !isfinite(length)) continue;
        sum += length;
        n++;
    }
    return n > 0 ? c->rate * sum / n : 0;
}

static int marker_of(const clip *c, const char *name) {
    for (int i = 0; i < CLIP_MARKERS; i++)
        if (strcmp(c->marker[i], name) == 0) return i;
    return -1;
}

// Cosine of the bend at the middle one of three markers: -1 when they lie on a line.
static double bend(const double *g, int a, int b, int c) {
    double u[3], v[3], uu = 0, vv = 0, uv = 0;
    if (a < 0 || b < 0 || c < 0) return 1;
    for (int k = 0; k < 3; k++) {
        u[k] = g[3 * a + k] - g[3 * b + k];
        v[k] = g[3 * c + k] - g[3 * b + k];
        uu += u[k] * u[k];
        vv += v[k] * v[k];
        uv += u[k] * v[k];
    }
    return uv / sqrt(uu * vv);
}

static double straightness(const clip *c, int frame) {
    static const char *const limbs[4][3] = {{"LSHO", "LELB", "LWRA"},
                                            {"RSHO", "RELB", "RWRA"},
                                            {"LFWT", "LKNE", "LANK"},
                                            {"RFWT", "RKNE", "RANK"}};
    double least = 1;
    for (int i = 0; i < 4; i++)
        least = fmin(least, bend(clip_goals(c, frame), marker_of(c, limbs[i][0]),
                                 marker_of(c, limbs[i][1]), marker_of(c, limbs[i][2])));
    return -least;
}

// Add the `most` frames of one clip with the greatest score, no two of them nearer than `apart`.
static void add_greatest(papers *p, papers_group *g, int at, const double *score, int most,
                         int apart) {
    const clip *c = &p->clips[at];
    for (int k = 0; k < most && g->n < PAPERS_GROUP; k++) {
        int best = -1;
        for (int f = 1; f < c->nframe; f++) {
            bool near = false;
            for (int i = 0; i < g->n; i++) near |= g->clip[i] == at && abs(g->frame[i] - f) < apart;
            if (!near && (best < 0 || score[f] > score[best])) best = f;
        }
        if (best < 0) return;
        g->clip[g->n] = at;
        g->frame[g->n] = best;
        g->value[g->n++] = speed_of(c, best, NULL);
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void choose_walking(papers *p, papers_group *g) {
    int first = p->nclip > 1 ? 1 : 0, clips = p->nclip - first;
    for (int k = 0; k < PAPERS_GROUP; k++) {
        int at = first + k % clips;
        const clip *c = &p->clips[at];
        double *speed = bench_numbers((size_t)c->nframe),
               *sorted = bench_numbers((size_t)c->nframe);
        for (int f = 1; f < c->nframe; f++) sorted[f] = speed[f] = speed_of(c, f, NULL);
        qsort(sorted + 1, (size_t)c->nframe - 1, sizeof *sorted, compare);
        double low = p->nclip > 1 ? 0.25 : 0.05, high = p->nclip > 1 ? 0.75 : 0.5;
        double wanted =
            plot_quantile(sorted + 1, c->nframe - 1, low + (high - low) * k / (PAPERS_GROUP - 1));
        int best = 1;
        for (int f = 1; f < c->nframe; f++)
            if (fabs(speed[f] - wanted) < fabs(speed[best] - wanted)) best = f;
        g->clip[g->n] = at;
        g->frame[g->n] = best;
        g->value[g->n++] = speed[best];
        free(speed);
        free(sorted);
    }
}

void papers_choose_frames(papers *p) {
    static const char *const hands[] = {"FIN", "WRA", "WRB", NULL};
    static const char *const feet[] = {"TOE", "MT5", "ANK", "HEE", NULL};
    const clip *c = &p->clips[0];
    int second = (int)c->rate;
    double *score[4];
    for (int k = 0; k < 4; k++) score[k] = bench_numbers((size_t)c->nframe);
    for (int f = 1; f < c->nframe; f++) {
        score[0][f] = speed_of(c, f, hands);
        score[1][f] = speed_of(c, f, feet);
        score[2][f] = speed_of(c, f, NULL);
        score[3][f] = straightness(c, f);
    }
    p->groups[0] = (papers_group){.name = "walking",
                                  .rule = "mean marker speed between the quartiles, walking clips"};
    p->groups[1] = (papers_group){.name = "punching", .rule = "fastest hands, 0.25 s apart"};
    p->groups[2] = (papers_group){.name = "kicking", .rule = "fastest feet, 0.25 s apart"};
    p->groups[3] = (papers_group){.name = "workout",
                                  .rule = "fastest whole body, then straightest limbs, 1 s apart"};
    choose_walking(p, &p->groups[0]);
    add_greatest(p, &p->groups[1], 0, score[0], PAPERS_GROUP, second / 4);
    add_greatest(p, &p->groups[2], 0, score[1], PAPERS_GROUP, second / 4);
    int apart = c->nframe > 20 * second ? second : second / 4;
    add_greatest(p, &p->groups[3], 0, score[2], PAPERS_GROUP / 2, apart);
    add_greatest(p, &p->groups[3], 0, score[3], PAPERS_GROUP / 2, apart);
    for (int k = 0; k < 4; k++) free(score[k]);
    // every other one is enough for a quick run
    for (int k = 0; k < PAPERS_GROUPS && p->quick; k++) {
        papers_group *g = &p->groups[k];
        int n = (g->n + 1) / 2;
        for (int i = 0; i < n; i++) {
            g->clip[i] = g->clip[2 * i];
            g->frame[i] = g->frame[2 * i];
            g->value[i] = g->value[2 * i];
        }
        g->n = n;
    }

    const char *const heads[] = {"kind", "rule", "frames (clip: from 0)"};
    plot_text csv = {0};
    plot_raw(&csv, "kind,clip,frame,mean_marker_speed_m_per_s\n");
    page_table_begin(
        &p->body,
        "The frames that stand for 001's, whose clip is not at hand: chosen by rule, the "
        "same for every solver",
        heads, 3);
    for (int k = 0; k < PAPERS_GROUPS; k++) {
        const papers_group *g = &p->groups[k];
        plot_text list = {0};
        for (int i = 0; i < g->n; i++) {
            plot_add(&list, "%s%s: %d", i > 0 ? ", " : "", p->clips[g->clip[i]].name, g->frame[i]);
            plot_add(&csv, "%s,%s,%d,%.4g\n", g->name, papers_cell(p->clips[g->clip[i]].name),
                     g->frame[i], g->value[i]);
        }
        papers_row(p, "%s|%s|%s", g->name, g->rule, list.data);
        plot_text_free(&list);
    }
    page_table_end(&p->body);
    papers_file(p, "frames.csv", &csv);
}

sn_model *papers_limited(const clip *c, double scale) {
    sn_builder *b = NULL;
    sn_model *model = NULL;
    size_t nq = (size_t)sn_model_nq(c->model);
    (void)sn_builder_create(sn_model_name(c->model), NULL, &b, NULL);
    bench_need(b);
    for (int j = 0; j < sn_model_njoint(c->model); j++) {
        sn_joint_desc d = *sn_model_joint(c->model, j);
        int at = sn_model_q_index(c->model, j);
        int end = j + 1 < sn_model_njoint(c->model) ? sn_model_q_index(c->model, j + 1) : (int)nq;
        // a quaternion takes no limits: of a free root only its place
        int n = d.type == SN_JOINT_FREE ? 3 : d.type == SN_JOINT_BALL ? 0 : end - at;
        for (int i = 0; i < n; i++) {
            double low = INFINITY, high = -INFINITY;
            for (int f = 0; f < c->nframe; f++) {
                low = fmin(low, c->truth[(size_t)f * nq + (size_t)(at + i)]);
                high = fmax(high, c->truth[(size_t)f * nq + (size_t)(at + i)]);
            }
            double room = fmax(0.05 * (high - low), 1e-3);
            double unit = d.type == SN_JOINT_FREE ? scale : 1;
            d.lower[i] = unit * (low - room);
            d.upper[i] = unit * (high + room);
        }
        for (int k = 0; k < 3; k++) d.position[k] *= scale;
        (void)sn_builder_joint(b, &d);
    }
    sn_builder_couple_as(b, c->model);
    (void)sn_builder_finish(b, &model, NULL);
    sn_builder_destroy(b);
    return bench_need(model);
}
