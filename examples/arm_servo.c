// A robot's tool drawn along a circle, a thousand small steps a second: each tick keeps the joints'
// limits, speeds and accelerations.
//   example_arm_servo ROBOT.urdf TIP
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>

static char *read_all(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 22);
    if (file == NULL || text == NULL) return NULL;
    *length = fread(text, 1, 1 << 22, file);
    (void)fclose(file);
    return text;
}

int main(int argc, char **argv) {
    size_t length;
    char *text = argc == 3 ? read_all(argv[1], &length) : NULL;
    sn_error error = {0};
    sn_model *model;
    sn_arm *arm;
    if (text == NULL || sn_urdf_read(text, length, NULL, NULL, &model, NULL, &error) != SN_OK ||
        sn_arm_create(model, argv[2], NULL, NULL, &arm, &error) != SN_OK) {
        fprintf(stderr, "%s\n", error.text[0] != '\0' ? error.text : "usage: ROBOT.urdf TIP");
        return 1;
    }
    // start in the middle of the limits, bent a little
    double q[SN_ARM_MAX], up[SN_ARM_MAX], tool[7], goal[7], most = 0, fastest = 0;
    int n = sn_arm_n(arm);
    for (int i = 0; i < n; i++) {
        double low = sn_arm_lower(arm)[i], high = sn_arm_upper(arm)[i];
        q[i] = fmin(fmax(isfinite(low + high) ? 0.5 * (low + high) + 0.3 : 0.5, low), high);
        up[i] = 20;
    }
    sn_arm_tool(arm, q, tool);

    const sn_arm_tick tick = {.seconds = 0.001, .acceleration = up};
    sn_arm_motion motion = {.error = 0};
    sn_arm_tick_report report = {.reached = false};
    for (int k = 0; k <= 4000; k++) {
        const double angle = 2 * 3.141592653589793 * fmin(k / 3000.0, 1), radius = 0.03;
        for (int i = 0; i < 7; i++) goal[i] = tool[i];
        goal[1] += radius * sin(angle);
        goal[2] += radius * (cos(angle) - 1);
        if (sn_arm_step(arm, goal, &tick, &motion, q, &report) != SN_OK) return 1;
        most = fmax(most, report.position_error);
        for (int i = 0; i < n; i++)
            fastest = fmax(fastest, fabs(motion.velocity[i]) / fmin(sn_arm_speed(arm)[i], 1e3));
    }
    printf("4 seconds: %.2f mm behind at most, %.1e mm at the end, %.0f %% of the speed allowed\n",
           1e3 * most, 1e3 * report.position_error, 100 * fastest);
    sn_arm_destroy(arm);
    sn_model_destroy(model);
    free(text);
    return report.reached ? 0 : 1;
}
