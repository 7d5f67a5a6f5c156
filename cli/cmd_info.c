// SPDX-License-Identifier: MIT
#include <math.h>
#include <stdlib.h>

#include "cli.h"

static const char help[] =
    "usage: sinew info MODEL... [--json]\n\n"
    "Says what a model is: joints, degrees of freedom, depth, limits, sparsity of the Hessian.\n"
    "MODEL is a native JSON or an OpenSim model, \"-\" for standard input, or \"humanoid\", the built-in "
    "figure.\n\n"
    "  --json   an array with one object per file\n";

typedef struct facts {
    int leaves, limited, locked, strong;
    int types[SN_JOINT_TYPE_COUNT];
} facts;

static facts collect(const sn_model *m) {
    facts f = {0};
    for (int j = sn_model_next_leaf(m, -1); j >= 0; j = sn_model_next_leaf(m, j)) f.leaves++;
    for (int j = 0; j < sn_model_njoint(m); j++) f.types[sn_model_joint(m, j)->type]++;
    for (int v = 0; v < sn_model_nv(m); v++) {
        f.limited += isfinite(sn_model_lower(m)[v]) || isfinite(sn_model_upper(m)[v]);
        f.locked += sn_model_gain(m)[v] == 0;
        f.strong += sn_model_gain(m)[v] != 0 && sn_model_gain(m)[v] != 1;
    }
    return f;
}

// Entries of a full symmetric matrix, one triangle.
static double triangle(const sn_model *m) {
    double n = sn_model_nv(m);
    return n * (n + 1) / 2;
}

static void print_text(const char *path, const sn_model *m) {
    facts f = collect(m);
    printf("%s: sinew model \"%s\"\n", path, sn_model_name(m));
    printf("  joints              %d in %d chain%s, depth %d, root \"%s\"\n", sn_model_njoint(m),
           f.leaves, f.leaves == 1 ? "" : "s", sn_model_depth(m),
           sn_model_joint(m, sn_model_root(m))->name);
    printf("  types              ");
    for (int t = 0; t < SN_JOINT_TYPE_COUNT; t++)
        if (f.types[t] > 0) printf(" %s %d", sn_joint_type_name((sn_joint_type)t), f.types[t]);
    printf("\n  degrees of freedom  %d (%d coordinates), %d with limits, %d locked, "
           "%d with a strength\n",
           sn_model_nv(m), sn_model_nq(m), f.limited, f.locked, f.strong);
    size_t entries = sn_path_entries(sn_model_path(m));
    printf("  Hessian             %zu entries", entries);
    if (triangle(m) > 0)
        printf(", %.0f %% of a full triangle", 100 * (double)entries / triangle(m));
    printf("\n  markers             %d\n  units               metres, radians\n",
           sn_model_nmarker(m));
}

static void print_json(const char *path, const sn_model *m) {
    facts f = collect(m);
    printf("{\"file\":");
    print_json_string(path);
    printf(",\"format\":\"sinew\",\"name\":");
    print_json_string(sn_model_name(m));
    printf(",\"joints\":%d,\"dofs\":%d,\"nq\":%d,\"nv\":%d,\"depth\":%d,\"chains\":%d,\"root\":",
           sn_model_njoint(m), sn_model_nv(m), sn_model_nq(m), sn_model_nv(m), sn_model_depth(m),
           f.leaves);
    print_json_string(sn_model_joint(m, sn_model_root(m))->name);
    printf(",\"types\":{");
    for (int t = 0, n = 0; t < SN_JOINT_TYPE_COUNT; t++)
        if (f.types[t] > 0)
            printf("%s\"%s\":%d", n++ > 0 ? "," : "", sn_joint_type_name((sn_joint_type)t),
                   f.types[t]);
    printf("},\"limits\":%d,\"locked\":%d,\"markers\":%d,\"units\":\"m\","
           "\"hessian_entries\":%zu,\"hessian_dense\":%.0f,\"labels\":[",
           f.limited, f.locked, sn_model_nmarker(m), sn_path_entries(sn_model_path(m)),
           triangle(m));
    for (int i = 0; i < sn_model_nmarker(m); i++) {
        if (i > 0) putchar(',');
        print_json_string(sn_model_marker(m, i)->name);
    }
    printf("]}");
}

static int run(int argc, char **argv) {
    bool json = false;
    const option options[] = {FLAG("--json", &json), {0}};
    const char **files = must_alloc((size_t)argc, sizeof *files);
    int nfile, code = parse_options(&command_info, argc, argv, options, files, argc, &nfile);
    if (code < 0 && nfile == 0) {
        fputs(help, stderr);
        code = EXIT_USAGE;
    }
    if (code < 0) {
        code = EXIT_OK;
        if (json) putchar('[');
        for (int i = 0, printed = 0; i < nfile; i++) {
            sn_model *model = load_model(files[i]);
            if (model == NULL) {
                code = EXIT_INPUT;
                continue;
            }
            if (json && printed++ > 0) fputs(",\n", stdout);
            (json ? print_json : print_text)(files[i], model);
            sn_model_destroy(model);
        }
        if (json) puts("]");
    }
    free(files);
    return code;
}

const command command_info = {"info", "say what a model is", help, run};
