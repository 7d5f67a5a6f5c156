// A robot's arm in two pictures: all postures that bring its tool to a goal, and a straight line of the tool
// through the air, as an SVG.
//   example_arm_picture ROBOT.urdf TIP OUT.svg
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2000, SHOWN = 12 };

static sn_document robot;
static sn_workspace *ws;
static sn_arm *arm;
static double scale;

static char *read_all(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 22);
    if (file == NULL || text == NULL) return NULL;
    *length = fread(text, 1, 1 << 22, file);
    (void)fclose(file);
    return text;
}

// A stick from joint to joint, seen from the side and a little from above.
static void draw(FILE *svg, const double *q, const char *tip, double left, const char *colour) {
    double pose[256], tool[7];
    int path[256], n = 0, marker = sn_model_find_marker(robot.model, tip);
    sn_arm_to_pose(arm, q, pose);
    (void)sn_workspace_pose(ws, pose);
    int at = marker >= 0 ? sn_model_marker(robot.model, marker)->joint
                         : sn_model_find_joint(robot.model, tip);
    for (; at >= 0 && n < 256; at = sn_model_parent(robot.model, at)) path[n++] = at;
    fprintf(svg,
            "<polyline fill='none' stroke='%s' stroke-width='3' stroke-linejoin='round' points='",
            colour);
    sn_arm_tool(arm, q, tool);
    for (int i = n; i >= 0; i--) {
        sn_vec3 p =
            i > 0 ? sn_workspace_frame(ws, path[i - 1]).p : (sn_vec3){tool[0], tool[1], tool[2]};
        fprintf(svg, "%.1f,%.1f ", left + scale * (0.9 * p.x + 0.45 * p.y),
                290 - scale * (p.z - 0.12 * p.x + 0.2 * p.y));
    }
    fprintf(svg, "'/>\n");
}

int main(int argc, char **argv) {
    size_t length;
    char *text = argc == 4 ? read_all(argv[1], &length) : NULL;
    sn_error error = {0};
    sn_problem *problem;
    if (text == NULL) return fprintf(stderr, "usage: ROBOT.urdf TIP OUT.svg\n"), 1;
    if (sn_document_read(text, length, argv[1], NULL, NULL, &robot, &error) != SN_OK ||
        robot.model == NULL || sn_model_nq(robot.model) > 256 ||
        sn_arm_create(robot.model, argv[2], NULL, NULL, &arm, &error) != SN_OK ||
        sn_problem_create(robot.model, NULL, 0, NULL, &problem, &error) != SN_OK ||
        sn_workspace_create(problem, false, NULL, &ws, &error) != SN_OK)
        return fprintf(stderr, "%s: %s\n", argv[1], error.text), 1;

    // where the tool is in the middle of the limits, bent a little, and a line from there
    static double all[SN_ARM_MAX * SN_ARM_SOLUTIONS], line[SN_ARM_MAX * MOST];
    double start[SN_ARM_MAX], goals[14];
    const int n = sn_arm_n(arm);
    for (int i = 0; i < n; i++) {
        double low = sn_arm_lower(arm)[i], high = sn_arm_upper(arm)[i];
        start[i] = isfinite(low + high) ? 0.5 * (low + high) : 0;
        start[i] = fmin(fmax(start[i] + (i % 2 ? -0.7 : 0.6), low), high);
    }
    sn_arm_tool(arm, start, goals);
    scale = 230 / sqrt(goals[0] * goals[0] + goals[1] * goals[1] + goals[2] * goals[2]);
    for (int i = 0; i < 7; i++) goals[7 + i] = goals[i];
    goals[8] -= 0.35, goals[9] += 0.1;
    int count;
    sn_arm_path_report report;
    if (sn_arm_solve_all(arm, goals, start, SN_ARM_SOLUTIONS, all, &count) != SN_OK ||
        sn_arm_path(arm, 2, goals, start, 0.002, MOST, line, &report) != SN_OK)
        return 1;

    FILE *svg = fopen(argv[3], "w");
    if (svg == NULL) return perror(argv[3]), 1;
    fprintf(
        svg,
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 340' font-family='sans-serif' "
        "font-size='13'>\n<rect width='760' height='340' fill='white'/>\n");
    for (int k = count < 8 ? count - 1 : 7; k >= 0; k--)
        draw(svg, all + n * k, argv[2], 120, k == 0 ? "#1659a8" : "#9fc0e6");
    for (int k = 0; k < SHOWN; k++)
        draw(svg, line + n * ((report.count - 1) * k / (SHOWN - 1)), argv[2], 500,
             k == 0 || k + 1 == SHOWN ? "#a83216" : "#ecc0b4");
    fprintf(svg,
            "<text x='20' y='325'>postures for one goal, the nearest dark</text>\n"
            "<text x='400' y='325'>%d poses along a straight line of the tool</text>\n</svg>\n",
            report.count);
    (void)fclose(svg);
    printf("%d postures reach the goal; the line has %d poses, the longest step of a joint is "
           "%.3f, %s\n",
           count, report.count, report.jump, report.complete ? "complete" : "it ends early");
    sn_workspace_destroy(ws);
    sn_problem_destroy(problem);
    sn_arm_destroy(arm);
    sn_document_destroy(&robot);
    free(text);
    return 0;
}
