// SPDX-License-Identifier: MIT
// Findings as sentences: the one place where they become words.
//
// A sentence says what was found; for users of the command line it goes on with the option that helps,
// for those of the page with what to drop there.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "take/take.h"

// Text into a caller's room; `length` counts what would not fit, too.
typedef struct writer {
    char *out;
    size_t room, length;
    sn_voice voice;
} writer;

static void say(writer *w, const char *format, ...) SN_PRINTF(2, 3);
static void say(writer *w, const char *format, ...) {
    size_t at = w->length < w->room ? w->length : w->room;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(at < w->room ? w->out + at : NULL, w->room - at, format, arguments);
    va_end(arguments);
    if (n > 0) w->length += (size_t)n;
}

// The same for users of the command line only.
#define HINT(...)                                                                                  \
    do {                                                                                           \
        if (w->voice == SN_VOICE_COMMAND) say(w, __VA_ARGS__);                                     \
    } while (0)

static const char *marker_name(const sn_take *t, int marker) {
    return t->model != NULL && marker >= 0 && marker < sn_model_nmarker(t->model)
               ? sn_model_marker(t->model, marker)->name
               : "?";
}

static const char *joint_name(const sn_take *t, int joint) {
    return t->model != NULL && joint >= 0 && joint < sn_model_njoint(t->model)
               ? sn_model_joint(t->model, joint)->name
               : "?";
}

static const char *plural(double count) { return count == 1 ? "" : "s"; }

static char axis_sign(const sn_finding *f) { return f->number[1] < 0 ? '-' : '+'; }
static char axis_letter(const sn_finding *f) { return "xyz"[(int)f->number[0]]; }

// The unit's name as a thing: "mm", or "this unit" where it has none.
static const char *unit_of(const sn_finding *f) {
    return f->text[0] != '\0' ? f->text : "this unit";
}

static void say_frames(writer *w, const sn_finding *f) {
    if (f->first == f->last)
        say(w, "frame %lld", (long long)f->first);
    else
        say(w, "frames %lld to %lld", (long long)f->first, (long long)f->last);
}

static void say_off(writer *w, const sn_take *t, const sn_finding *f) {
    say(w, "%s is up to %.0f cm from where it belongs in ", marker_name(t, f->marker),
        100 * f->number[0]);
    say(w, "frame%s %s, and counts for nothing there", f->last > f->first ? "s" : "", f->text);
}

static void say_held(writer *w, const sn_take *t, const sn_finding *f) {
    say(w, "%.0f frame%s (%.0f %%) %s fewer than %d markers, the longest time ", f->number[0],
        plural(f->number[0]), 100 * f->number[1], f->number[0] == 1 ? "has" : "have",
        t->options.too_few);
    say_frames(w, f);
    say(w, ": what is there then is a guess, by what is before and after");
}

// Nothing shows how it stands, or one of its joints, or something else of it, is in the way.
static void say_no_stance(writer *w, const sn_finding *f) {
    say(w, "nobody stands in the skeleton's zero pose (a leg points where the head does), so where "
           "markers sit on it and what is at rest are guesses");
    if (f->number[0] == 0) {
        HINT("; give it as a BVH file with a motion, which shows how it stands, or one whose zero "
             "pose is a T pose");
        return;
    }
    if (f->text[0] != '\0')
        say(w, ": how it stands is known, but joint %.80s has limits or cannot be turned every way",
            f->text);
    else
        say(w, ": how it stands is known, but not where its shapes, named frames, couplings and "
               "loops are then");
    HINT("; give one without, or one whose zero pose is a T pose");
}

static void say_static(writer *w, const sn_finding *f) {
    const double *x = f->number;
    if (f->code == SN_FINDING_STATIC_MOVES) {
        say(w,
            "the person moves in the static trial: distances between markers of different bones "
            "change by %.0f cm there, those of one who stands still by less than 1, and the "
            "calibration takes all of it for the posture at rest",
            100 * x[0]);
        HINT("; give a trial, or frames of the take (--static A:B), in which the person stands");
        return;
    }
    if (f->code == SN_FINDING_STATIC_MIRRORED) {
        say(w,
            "the static trial looks mirrored against the take (%.0f %% of what its markers span "
            "is the other way round): its axes or its left and right labels are likely exchanged, "
            "and joint angles are off by tens of degrees",
            100 * x[0]);
        HINT("; mend it in the file, or fit without --static");
        return;
    }
    if (x[1] < 1.5 * fabs(x[0] - 1))
        say(w, "markers of one bone are %.3g times as far apart in the static trial as in the take",
            x[0]);
    else
        say(w,
            "distances between markers of one bone differ by %.0f %% from the take's in the "
            "static trial",
            100 * x[1]);
    say(w, ", and those of one person differ by 1 or 2 %%: it is another person's, its unit is "
           "wrong, or markers were put elsewhere, and joint angles are off by degrees");
    HINT("; give this person's trial with the same markers, or fit without --static");
}

// How much better frames fit with labels exchanged, and what was done; a wrist's tells by what joints do, not by this.
static void say_better(writer *w, const sn_finding *f) {
    const bool better = f->number[0] >= 1.05, mended = f->number[1] > 0;
    if (better) say(w, ": with their labels exchanged these fit %.1f times better", f->number[0]);
    if (mended) say(w, ", and so they are fitted");
    say(w, "; mend it in the file");
}

static void say_exchanged(writer *w, const sn_take *t, const sn_finding *f) {
    const bool doubtful = f->severity != SN_SEVERITY_NOTE;
    say(w, "%s and %s %s exchanged in ", marker_name(t, f->marker), marker_name(t, f->other),
        doubtful ? "may be" : "look");
    say_frames(w, f);
    if (doubtful) {
        say(w, ", as the limb they are on is likelier so: look at it, and mend it in the file");
        return;
    }
    say_better(w, f);
    if (!(f->number[1] > 0)) HINT(", or try --robust");
}

static void say_sides(writer *w, const sn_finding *f) {
    say(w, "left and right %s exchanged on the %s", f->number[1] > 0 ? "are" : "look", f->text);
    if (f->has_frames) {
        say(w, " in ");
        say_frames(w, f);
        say_better(w, f);
        return;
    }
    say(w, ": with their labels exchanged frames fit ");
    if (f->number[0] >= 1.05)
        say(w, "%.1f times better; mend it in the file", f->number[0]);
    else
        say(w, "better; mend it in the file");
}

static void say_unseen(writer *w, const sn_finding *f) {
    say(w,
        "no marker shows %s: the motion there is made up (joints stay as at rest); do not use it",
        f->text);
    HINT("; if the recording has markers there, --markers says on which joints");
}

static void say_shake(writer *w, const sn_take *t, const sn_finding *f) {
    say(w,
        "the markers shake from frame to frame: each is off by %.1f cm (RMS), every time anew, "
        "and joint angles shake with them",
        100 * f->number[0]);
    if (!(t->options.smooth > 0)) HINT("; try --smooth 0.02");
}

static void say_note(writer *w, const sn_take *t, const sn_finding *f) {
    const double *x = f->number;
    switch (f->code) {
    case SN_FINDING_FILE:
        say(w, "about the recording: %s", f->text);
        break;
    case SN_FINDING_LABELS_UNKNOWN:
        say(w, "%.0f label%s in no marker set: %s", x[0], x[0] == 1 ? " is" : "s are", f->text);
        break;
    case SN_FINDING_POINTS_UNNAMED:
        say(w, "%.0f unnamed point%s left out", x[0], x[0] == 1 ? " was" : "s were");
        break;
    case SN_FINDING_MARKERS_EMPTY:
        say(w, "%.0f marker%s of the set without data: %s", x[0], plural(x[0]), f->text);
        break;
    case SN_FINDING_UP_ASSUMED:
        say(w,
            "which axis of the recording is up is neither stated nor clear from the figure; %c%c "
            "was assumed",
            axis_sign(f), axis_letter(f));
        HINT(" (--up forces it)");
        break;
    case SN_FINDING_UP_UNCONFIRMED:
        say(w,
            "which axis of the recording is up is stated nowhere: %c%c is, if the figure stands, "
            "but its lowest markers are not near zero there, and one who lies looks the same",
            axis_sign(f), axis_letter(f));
        HINT(" (--up forces it)");
        break;
    case SN_FINDING_BODY_LIES:
        say(w,
            "the body lies: its height runs along %c%c of the recording, and its lowest markers "
            "rest on zero of %c%c, which is up",
            axis_sign(f), axis_letter(f), t->summary.axes.up_sign < 0 ? '-' : '+',
            "xyz"[t->summary.axes.up]);
        HINT(" (if it stands: --up %s%c)", axis_sign(f) == '-' ? "-" : "", axis_letter(f));
        break;
    case SN_FINDING_UNIT_FOUND:
    case SN_FINDING_UNIT_ASSUMED:
        say(w, "the file states no unit of length; ");
        if (f->code == SN_FINDING_UNIT_FOUND)
            say(w, "with %s the body is about as large as the skeleton", unit_of(f));
        else
            say(w, "%s was taken as a guess", unit_of(f));
        HINT(" (--units forces it)");
        break;
    case SN_FINDING_FEW_FRAMES:
        say(w,
            "calibrated from %.0f frame%s only: a short or still take hardly tells marker places "
            "from joint angles, and a small error proves little",
            x[0], plural(x[0]));
        break;
    case SN_FINDING_MODEL_GENERIC:
        say(w, "nobody has scaled this OpenSim model yet, as its pictures of bones show, so it is "
               "scaled to the person");
        HINT(" (--calibrate=none keeps it as it is)");
        break;
    case SN_FINDING_NOT_SHOWN:
        say(w, "the take does not show %.0f thing%s, which stay%s about as the figure has %s: %s",
            x[0], plural(x[0]), x[0] == 1 ? "s" : "", x[0] == 1 ? "it" : "them", f->text);
        HINT("; a take in which every joint moves shows more, --static, --height and --length "
             "help");
        break;
    case SN_FINDING_MAX_ERROR_LARGE:
        if (w->voice == SN_VOICE_COMMAND)
            say(w, "--max-error is %g metres, which every frame stays below: say 5mm or 0.5cm",
                x[0]);
        else
            say(w, "the largest error allowed is %g metres, which every frame stays below", x[0]);
        break;
    case SN_FINDING_EXCHANGED:
        say_exchanged(w, t, f);
        break;
    case SN_FINDING_SIDES_EXCHANGED:
        say_sides(w, f);
        break;
    case SN_FINDING_MARKER_OFF:
        say_off(w, t, f);
        break;
    case SN_FINDING_FRAMES_HELD:
        say_held(w, t, f);
        break;
    case SN_FINDING_DEVICE:
        say(w, "frames were followed by %s", f->text);
        if (x[0] > 0) say(w, " (%.0f of %.0f, the others here)", x[0], x[1]);
        break;
    case SN_FINDING_PARTS_UNSEEN:
        say_unseen(w, f);
        break;
    case SN_FINDING_MARKERS_SHAKE:
        say_shake(w, t, f);
        break;
    case SN_FINDING_CHEST_MISSING:
        say(w,
            "neck and shoulders of the skeleton begin at the foot of its chest (%s), as in CMU's "
            "BVH files: its trunk is about %.0f cm too short",
            f->text, 100 * x[0]);
        HINT("; --calibrate=scale gives the chest its length, and so does sinew fit by itself "
             "where nothing says where the markers sit");
        break;
    case SN_FINDING_STANCE_FOUND:
        say(w, "nobody stands in the skeleton's zero pose; %s",
            x[0] != 0 ? "it says itself how it stands"
                      : "how it stands was taken from the motion that it comes with");
        break;
    case SN_FINDING_CHEST_ADDED:
        say(w,
            "the chest (%s) of the skeleton has no length, as in CMU's BVH files; it was given "
            "one, and came out %.1f cm long",
            f->text, 100 * x[0]);
        break;
    case SN_FINDING_MARKERS_HELD:
        say(w,
            "%s: %.0f sample%s hold the last one to the last digit (in frames %lld to %lld), and "
            "the marker leaps behind them: taken as missing",
            f->text, x[0], plural(x[0]), (long long)f->first, (long long)f->last);
        break;
    case SN_FINDING_AT_LIMITS:
        say(w, "%s stands at a limit in %.0f frame%s (%.0f %%)", joint_name(t, f->joint), x[0],
            plural(x[0]), 100 * x[1]);
        HINT(": --limits soft or off lets it go further");
        break;
    default:
        break;
    }
}

static void say_warning(writer *w, const sn_take *t, const sn_finding *f) {
    const double *x = f->number;
    switch (f->code) {
    case SN_FINDING_UP_CONFLICT:
        say(w,
            "the file states %s as up, but the figure stands along %c%c; the figure was believed",
            f->text, axis_sign(f), axis_letter(f));
        HINT(" (--up forces it)");
        break;
    case SN_FINDING_UP_DOUBTFUL:
        say(w,
            "which axis is up is not stated: the body's height runs along %c%c of the recording, "
            "but its lowest markers rest on zero of %c%c, so it is taken to lie, with that one up",
            axis_sign(f), axis_letter(f), t->summary.axes.up_sign < 0 ? '-' : '+',
            "xyz"[t->summary.axes.up]);
        HINT(" (if it stands: --up %s%c)", axis_sign(f) == '-' ? "-" : "", axis_letter(f));
        break;
    case SN_FINDING_LANDMARKS_NONE:
        say(w,
            "all %.0f markers are of clusters, which may sit anywhere on their bones: %swhat the "
            "joint angles are counted from is a guess",
            x[0], t->options.calibrate == SN_CALIBRATE_SCALE ? "how long these are and " : "");
        HINT("; calibrate on a trial that has landmarks as well (--save-model FILE), and fit this "
             "one with -m FILE");
        break;
    case SN_FINDING_STATIC_UNUSED:
        say(w, "the static trial was not used: it is for the calibration, and these markers have "
               "their places");
        HINT("; --calibrate=scale finds places and lengths anew, --calibrate=offsets places");
        break;
    case SN_FINDING_STATIC_MOVES:
    case SN_FINDING_STATIC_DIFFERS:
    case SN_FINDING_STATIC_MIRRORED:
        say_static(w, f);
        break;
    case SN_FINDING_STANCE_NONE:
        say_no_stance(w, f);
        break;
    case SN_FINDING_MARKERS_SPARSE:
        say(w,
            "%.0f markers for a figure with %.0f degrees of freedom: most of its joints are made "
            "up, and a small error proves nothing",
            x[0], x[1]);
        break;
    case SN_FINDING_FIGURE_LIES:
        say(w,
            "the figure lies where the take stands: with these axes the body's height runs along "
            "%c%c of the recording, which is not its up",
            axis_sign(f), axis_letter(f));
        HINT(" (--up %s%c puts it on its feet)", axis_sign(f) == '-' ? "-" : "", axis_letter(f));
        break;
    case SN_FINDING_MARKER_OFF:
        say_off(w, t, f);
        say(w, ", in %.0f %% of its samples in all: it has fallen off or is another",
            100 * f->number[1]);
        break;
    case SN_FINDING_FRAMES_HELD:
        say_held(w, t, f);
        break;
    case SN_FINDING_PARTS_UNSEEN:
        say_unseen(w, f);
        break;
    case SN_FINDING_MARKERS_SHAKE:
        say_shake(w, t, f);
        break;
    case SN_FINDING_JOINT_JUMPS:
        say(w,
            "%s jumps in %.0f frame%s (first in %lld, last in %lld), by up to %.0f degrees from "
            "one "
            "frame to the next while its markers do not: look at the figure there",
            joint_name(t, f->joint), x[0], plural(x[0]), (long long)f->first, (long long)f->last,
            x[1]);
        HINT("; --smooth 0.01 or --limits soft may help");
        break;
    case SN_FINDING_FIGURE_LEAPS:
        say(w,
            "the whole figure leaps in %.0f frame%s (first in %lld, last in %lld), by up to %.2f m "
            "from one frame to the next, which no body does: the recording is cut or spliced "
            "there, or its labels change hands",
            x[0], plural(x[0]), (long long)f->first, (long long)f->last, x[1]);
        HINT("; fit the parts by themselves with --frames");
        break;
    case SN_FINDING_SIZE_DIFFERS:
        say(w,
            "the body is about %.2g times as large as the skeleton: with bones of another length "
            "joints turn to reach the markers",
            x[0]);
        HINT("; --calibrate=scale fits the lengths of its bones");
        break;
    case SN_FINDING_WRONG_TOGETHER:
        say(w, "up to %.0f markers at once are taken for wrong in ", x[0]);
        say_frames(w, f);
        say(w, ": it may be the others; look at the figure there");
        break;
    case SN_FINDING_FRAMES_REPEATED:
        say(w,
            "%.0f frames repeat the one before to the last digit (in %lld to %lld), and the figure "
            "is elsewhere behind them: nothing was recorded there, and what is there is a guess",
            x[0], (long long)f->first, (long long)f->last);
        break;
    case SN_FINDING_RECORDING_CUT:
        say(w, "most markers leap at once in %.0f frame%s (", x[0], plural(x[0]));
        if (x[0] > 1)
            say(w, "first in %lld, last in %lld), half of them by up to %.0f cm: frames are ",
                (long long)f->first, (long long)f->last, 100 * x[1]);
        else
            say(w, "%lld), half of them by %.0f cm: frames are ", (long long)f->first, 100 * x[1]);
        say(w, "missing there, or the recording is joined from two");
        HINT("; fit the parts by themselves with --frames");
        break;
    case SN_FINDING_BEYOND_BODY:
        say(w,
            "%s is where no body's is in %.0f frame%s (up to %.0f degrees beyond): its markers sit "
            "on other joints than the set says, or are exchanged",
            joint_name(t, f->joint), x[0], plural(x[0]), x[1]);
        HINT("; look at it with -o take.html, and give the right places with --markers");
        break;
    case SN_FINDING_RANGE_LEFT:
        say(w, "the markers take %s to about %.0f degrees, and the model's range is %.0f to %.0f: ",
            joint_name(t, f->joint), x[2], x[0], x[1]);
        if (t->options.limits == SN_LIMITS_HARD && !t->roams) {
            say(w, "it was held, and the rest of the body bends to make up for it");
            HINT("; --limits auto lets it go, and so does a wider range in the model");
        } else {
            say(w, "it was let go, as the rest of the body would bend to make up for it");
            HINT("; --limits hard holds it, a wider range in the model ends this warning");
        }
        break;
    case SN_FINDING_MARKER_STANDS_OUT:
        say(w,
            "%s is %.1f cm off (RMS), others %.1f cm: it sits on another bone than the set says, "
            "or moves on cloth",
            marker_name(t, f->marker), 100 * x[0], 100 * x[1]);
        HINT("; leave it out or move it to another joint with --markers");
        break;
    case SN_FINDING_SAME_PLACE:
        say(w, "%s and %s are the same point in ", marker_name(t, f->marker),
            marker_name(t, f->other));
        if (x[1] < 1)
            say(w, "%.0f frame%s (%.0f %%)", x[0], plural(x[0]), 100 * x[1]);
        else
            say(w, "all frames");
        say(w, ": one of them is not where its label says, and its joint is led astray");
        HINT("; mend it in the file, or leave the wrong one out with --markers");
        break;
    case SN_FINDING_ERROR_LARGE:
        say(w, "the markers are %.1f cm off on average: a take that fits has below 1 cm",
            100 * x[0]);
        if (!t->summary.reshaped) HINT("; --calibrate=scale fits the lengths of bones");
        break;
    case SN_FINDING_UNIT_DOUBTFUL:
        say(w,
            "with %s as unit the body is %.3g times as large as the skeleton: the unit is likely "
            "wrong, and the motion nonsense",
            unit_of(f), x[0]);
        HINT(" (--units)");
        break;
    case SN_FINDING_EXCHANGED:
        say_exchanged(w, t, f);
        break;
    case SN_FINDING_SIDES_EXCHANGED:
        say_sides(w, f);
        break;
    case SN_FINDING_MIRRORED:
        say(w,
            "the markers look mirrored (in a mirror %.0f frame%s %.1f times better): the axes or "
            "the left and right labels are likely exchanged",
            x[0], x[0] == 1 ? " fits" : "s fit", x[1]);
        HINT("; see --axes (one sign turned mirrors them back; labels are to be exchanged in the "
             "file)");
        break;
    case SN_FINDING_FAR_FROM_BONES:
        say(w,
            "after the calibration the markers sit %.0f cm from their bones (RMS; the worst, %s, "
            "%.0f cm) on a figure of %.2g m: the skeleton is likely not this body's, or the set "
            "names wrong joints, and the small error proves nothing",
            100 * x[0], marker_name(t, f->marker), 100 * x[1], x[2]);
        if (!t->summary.reshaped) HINT("; --calibrate=scale fits the lengths of bones");
        break;
    case SN_FINDING_HEIGHT_DIFFERS:
        say(w,
            "the height is given as %.2f m, but the markers show legs of one who is about %.2f m: "
            "it is another person's, or the unit of length is wrong, and sizes are torn between "
            "the two",
            x[0], x[1]);
        HINT("; give this person's --height, or leave it away");
        break;
    case SN_FINDING_SETUP_IGNORED:
        if (x[0] > 0) say(w, "line %.0f: ", x[0]);
        say(w, "%s", f->text);
        break;
    case SN_FINDING_SETUP_AXES:
        say(w,
            "the markers stand along %c%c of the recording, and OpenSim's tool takes the axes as "
            "they are: the figure will lie on its side",
            axis_sign(f), axis_letter(f));
        HINT(" (--up %c turns them)", axis_letter(f));
        break;
    case SN_FINDING_TRUTH_RATE:
        say(w,
            "the known motion has %g frames/s, the recording %g: frame is compared with frame, and "
            "these are not of the same moments",
            x[1], x[0]);
        HINT(" (sinew convert --fps makes them so)");
        break;
    default:
        break;
    }
}

static void say_subject(writer *w, const sn_take *t, const sn_finding *f) {
    say(w, "no label belongs to the subject \"%s\"; %s%s", t->subject != NULL ? t->subject : "",
        f->text[0] != '\0' ? "here are: " : "", f->text);
    if (f->text[0] == '\0') say(w, "the labels name no subject");
}

// Labels that have no place are the likely reason.
static void say_few(writer *w, const sn_take *t, const sn_finding *f) {
    say(w, "only %.0f of the set's %.0f markers are in this recording", f->number[0], f->number[1]);
    if (f->number[0] >= 3)
        say(w, ", too few for a figure with %.0f degrees of freedom", f->number[2]);
    for (size_t i = 0; i < t->nfinding; i++)
        if (t->finding[i].code == SN_FINDING_LABELS_UNKNOWN) {
            say(w, "; ");
            say_note(w, t, &t->finding[i]);
            break;
        }
}

static void say_drop(writer *w) {
    if (w->voice == SN_VOICE_PAGE)
        say(w, "; drop the skeleton or the motion that belongs to these markers with them");
}

static void say_error(writer *w, const sn_take *t, const sn_finding *f) {
    const double *x = f->number;
    switch (f->code) {
    case SN_FINDING_SUBJECT_UNKNOWN:
        say_subject(w, t, f);
        break;
    case SN_FINDING_SUBJECTS_SEVERAL:
        say(w, "several subjects have markers of the same names; choose one");
        HINT(" with --subject NAME");
        say(w, ", the part of a label before the colon (\"%s\")", f->text);
        break;
    case SN_FINDING_SET_UNFIT:
        say(w, "%s", f->text);
        HINT("; say with --markers SET which marker sits on which joint; docs/mocap.md shows how");
        say_drop(w);
        break;
    case SN_FINDING_MARKERS_FEW:
        say_few(w, t, f);
        say_drop(w);
        break;
    case SN_FINDING_MARKERS_TOGETHER:
        say(w,
            "all markers are in one place: they never spread over more than %.2g m, and a figure "
            "does",
            x[0]);
        if (f->text[0] != '\0') say(w, "; in %s it would be a body", f->text);
        if (f->text[0] != '\0') HINT(": --units %s", f->text);
        break;
    case SN_FINDING_UNIT_IMPOSSIBLE:
        say(w,
            "its unit of length is stated as %s, but then the body in it is %.3g times as large as "
            "the skeleton",
            unit_of(f), x[0]);
        HINT("; give the right one with --units (--units %s where it is right and the skeleton is "
             "to be stretched)",
             unit_of(f));
        break;
    case SN_FINDING_FRAMES_NONE:
        say(w, "the recording has no frames");
        break;
    case SN_FINDING_FRAMES_OUTSIDE:
        say(w, "frames %lld to %lld were asked for, but the file's frames are %.0f to %.0f",
            (long long)f->first, (long long)f->last, x[0], x[1]);
        break;
    case SN_FINDING_FRAMES_EMPTY:
        say(w, "no frame from %lld to %lld has three markers with data", (long long)f->first,
            (long long)f->last);
        break;
    case SN_FINDING_STATIC_UNFIT:
        if (f->has_frames)
            say(w,
                "the static trial's frames are outside of the recording, whose frames are %.0f to "
                "%.0f",
                x[0], x[1]);
        else
            say(w, "no frame of the static trial has three markers of the set");
        break;
    case SN_FINDING_STATIC_SIZE:
        say(w,
            "markers of one bone are %.3g times as far apart in the static trial as in the take: "
            "it is another person's, or one of the two states a wrong unit of length",
            x[0]);
        break;
    case SN_FINDING_TRUTH_SHORT:
        say(w, "the known motion has %.0f frame%s, but the fit goes to frame %.0f of the recording",
            x[0], plural(x[0]), x[1]);
        break;
    case SN_FINDING_TRUTH_OTHER:
        say(w,
            "the known motion belongs to another skeleton: only %.0f of %.0f joints have the same "
            "names",
            x[0], x[1]);
        break;
    case SN_FINDING_TRUTH_REST:
        say(w,
            "the known motion's skeleton lies otherwise at rest than the model (\"%s\"), so that "
            "their angles cannot be compared",
            joint_name(t, f->joint));
        break;
    default:
        say(w, "%s", f->text);
        break;
    }
}

size_t sn_take_sentence(const sn_take *take, int i, sn_voice voice, char *out, size_t room) {
    const sn_finding *f = sn_take_finding(take, i);
    writer w = {out, out != NULL ? room : 0, 0, voice};
    if (w.room > 0) out[0] = '\0';
    if (f == NULL) return 0;
    (f->severity == SN_SEVERITY_NOTE      ? say_note
     : f->severity == SN_SEVERITY_WARNING ? say_warning
                                          : say_error)(&w, take, f);
    return w.length;
}
