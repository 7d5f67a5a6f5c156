// SPDX-License-Identifier: MIT
// What to make of a take, from its findings.
#include "take/take.h"

// Centimetres are a question of the marker set, decimetres are another motion; metres.
static const double lost = 0.1;

bool sn_finding_doubts(const sn_finding *finding) {
    return finding != NULL && finding->severity != SN_SEVERITY_NOTE &&
           finding->code != SN_FINDING_SETUP_IGNORED && finding->code != SN_FINDING_TRUTH_RATE;
}

static bool is_other_body(const sn_finding *f) {
    return f->code == SN_FINDING_MIRRORED || f->code == SN_FINDING_FAR_FROM_BONES ||
           f->code == SN_FINDING_UNIT_DOUBTFUL || f->code == SN_FINDING_FIGURE_LIES ||
           f->code == SN_FINDING_SETUP_AXES || f->code == SN_FINDING_SIDES_EXCHANGED;
}

sn_verdict sn_take_verdict(const sn_take *take) {
    sn_verdict worst = sn_take_motion(take) != NULL ? SN_VERDICT_GOOD : SN_VERDICT_BAD;
    for (int i = 0; i < sn_take_nfinding(take); i++) {
        const sn_finding *f = sn_take_finding(take, i);
        if (!sn_finding_doubts(f)) continue;
        bool bad = is_other_body(f) || (f->code == SN_FINDING_ERROR_LARGE && f->number[0] > lost);
        sn_verdict now = bad ? SN_VERDICT_BAD : SN_VERDICT_LOOK;
        if (now > worst) worst = now;
    }
    return worst;
}

const char *sn_verdict_name(sn_verdict verdict) {
    return verdict == SN_VERDICT_GOOD   ? "good"
           : verdict == SN_VERDICT_LOOK ? "look at it"
                                        : "do not use it";
}
