// SPDX-License-Identifier: MIT
#include "plain_osim.h"

#include "support.h"

typedef long double real;

typedef struct node {
    char *tag, *name, *text;
    struct node *child, *next, *up;
} node;

struct plain_osim {
    node *root;
    node *coordinate[256], *marker[512], *body[256];
    int ncoordinate, nmarker, nbody;
};

typedef struct matrix {
    real m[4][4];
} matrix;

// --- elements ----------------------------------------------------------------------------------------

static char *piece(const char *from, size_t n) {
    char *out = calloc(n + 1, 1);
    assert_non_null(out);
    memcpy(out, from, n);
    return out;
}

// Everything up to the end tag of `parent`; returns where it ends.
static const char *parse_inside(const char *at, node *parent) {
    node **last = &parent->child;
    const char *text = at;
    for (;;) {
        const char *open = strchr(at, '<');
        if (open == NULL) return at + strlen(at);
        if (strncmp(open, "<!--", 4) == 0) {
            at = strstr(open, "-->") + 3;
            continue;
        }
        if (open[1] == '?' || open[1] == '!') {
            at = strchr(open, '>') + 1;
            continue;
        }
        const char *close = strchr(open, '>');
        assert_non_null(close);
        if (open[1] == '/') {
            if (parent->child == NULL) parent->text = piece(text, (size_t)(open - text));
            return close + 1;
        }
        node *n = calloc(1, sizeof *n);
        assert_non_null(n);
        n->up = parent;
        n->tag = piece(open + 1, strcspn(open + 1, " \t\r\n/>"));
        const char *name = strstr(open, "name=");
        if (name != NULL && name < close)
            n->name = piece(name + 6, strcspn(name + 6, name[5] == '"' ? "\"" : "'"));
        *last = n;
        last = &n->next;
        at = close + 1;
        if (close[-1] != '/') at = parse_inside(at, n);
    }
}

static void node_free(node *n) {
    while (n != NULL) {
        node *next = n->next;
        node_free(n->child);
        free(n->tag);
        free(n->name);
        free(n->text);
        free(n);
        n = next;
    }
}

static node *child(const node *n, const char *tag) {
    for (node *c = n != NULL ? n->child : NULL; c != NULL; c = c->next)
        if (strcmp(c->tag, tag) == 0) return c;
    return NULL;
}

// The text of a child, "" when there is none; early files of version 4 write longer names.
static const char *text_of(const node *n, const char *tag) {
    char longer[100];
    const node *c = child(n, tag);
    (void)snprintf(longer, sizeof longer, "%s_connectee_name", tag);
    if (c == NULL) c = child(n, longer);
    return c != NULL && c->text != NULL ? c->text : "";
}

static int numbers(const char *text, real *out, int most) {
    int n = 0;
    for (char *end; n < most; n++, text = end) {
        double x = strtod(text, &end);
        if (end == text) break;
        out[n] = x;
    }
    return n;
}

// The last part of a path.
static void last_word(const char *text, char out[256]) {
    while (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r') text++;
    size_t n = strcspn(text, " \t\r\n");
    const char *from = text;
    for (const char *p = text; p < text + n; p++)
        if (*p == '/') from = p + 1;
    (void)snprintf(out, 256, "%.*s", (int)(text + n - from), from);
}

static bool is_true(const char *text) {
    char word[256];
    last_word(text, word);
    return strcmp(word, "true") == 0;
}

// All elements below n with a tag.
static int collect(node *n, const char *tag, node **out, int count) {
    for (; n != NULL; n = n->next) {
        if (strcmp(n->tag, tag) == 0) out[count++] = n;
        count = collect(n->child, tag, out, count);
    }
    return count;
}

static bool within(const node *n, const char *tag) {
    for (n = n->up; n != NULL; n = n->up)
        if (n->tag != NULL && strcmp(n->tag, tag) == 0) return true;
    return false;
}

plain_osim *plain_osim_read(const char *text) {
    plain_osim *file = calloc(1, sizeof *file);
    assert_non_null(file);
    file->root = calloc(1, sizeof *file->root);
    assert_non_null(file->root);
    (void)parse_inside(text, file->root);
    node *found[512];
    int n = collect(file->root->child, "Coordinate", found, 0);
    for (int i = 0; i < n; i++)
        if (!within(found[i], "defaults")) file->coordinate[file->ncoordinate++] = found[i];
    n = collect(file->root->child, "Body", found, 0);
    for (int i = 0; i < n; i++)
        if (within(found[i], "BodySet") && !within(found[i], "defaults") &&
            strcmp(found[i]->name, "ground") != 0)
            file->body[file->nbody++] = found[i];
    n = collect(file->root->child, "Marker", found, 0);
    for (int i = 0; i < n; i++)
        if (within(found[i], "MarkerSet") && !within(found[i], "defaults"))
            file->marker[file->nmarker++] = found[i];
    return file;
}

void plain_osim_free(plain_osim *file) {
    node_free(file->root);
    free(file);
}

const char *plain_osim_body(const plain_osim *file, int i) {
    return i < file->nbody ? file->body[i]->name : NULL;
}

int plain_osim_ncoordinate(const plain_osim *file) { return file->ncoordinate; }
int plain_osim_nmarker(const plain_osim *file) { return file->nmarker; }

const char *plain_osim_coordinate(const plain_osim *file, int i, double *value, int *locked) {
    real x = 0;
    (void)numbers(text_of(file->coordinate[i], "default_value"), &x, 1);
    *value = (double)x;
    *locked = is_true(text_of(file->coordinate[i], "locked"));
    return file->coordinate[i]->name;
}

// --- functions ---------------------------------------------------------------------------------------

// All four coefficients of every piece at once: values at both ends, slopes and second derivatives alike
// at inner knots, third derivatives at the ends those of the cubics through four points.
static real spline(const real *x, const real *y, int n, real at) {
    if (n == 2) return y[0] + (at - x[0]) * (y[1] - y[0]) / (x[1] - x[0]);
    int size = 4 * (n - 1), row = 0;
    real *A = calloc((size_t)(size * (size + 1)), sizeof *A);
    assert_non_null(A);
#define AT(r, c) A[(r) * (size + 1) + (c)]
    for (int k = 0; k < n - 1; k++) {
        real h = x[k + 1] - x[k], power = 1;
        AT(row, 4 * k) = 1;
        AT(row++, size) = y[k];
        for (int i = 0; i < 4; i++, power *= h) AT(row, 4 * k + i) = power;
        AT(row++, size) = y[k + 1];
        if (k == n - 2) break;
        AT(row, 4 * k + 1) = 1, AT(row, 4 * k + 2) = 2 * h, AT(row, 4 * k + 3) = 3 * h * h;
        AT(row++, 4 * k + 5) = -1;
        AT(row, 4 * k + 2) = 2, AT(row, 4 * k + 3) = 6 * h;
        AT(row++, 4 * k + 6) = -2;
    }
    for (int end = 0; end < 2; end++) {
        int from = end == 0 ? 0 : n - 4;
        AT(row, end == 0 ? 3 : size - 1) = 1;
        for (int i = 0; n > 3 && i < 4; i++) {
            real p = y[from + i];
            for (int j = 0; j < 4; j++)
                if (j != i) p /= x[from + i] - x[from + j];
            AT(row, size) += p;
        }
        row++;
    }
    for (int c = 0; c < size; c++) {
        int pivot = c;
        for (int r = c + 1; r < size; r++)
            if (fabsl(AT(r, c)) > fabsl(AT(pivot, c))) pivot = r;
        for (int i = c; i <= size; i++) {
            real t = AT(c, i);
            AT(c, i) = AT(pivot, i);
            AT(pivot, i) = t;
        }
        for (int r = 0; r < size; r++) {
            real t = AT(r, c) / AT(c, c);
            for (int i = c; r != c && t != 0 && i <= size; i++) AT(r, i) -= t * AT(c, i);
        }
    }
    int k = 0;
    while (k + 2 < n && at > x[k + 1]) k++;
    real c[4], s = at - x[k], h = x[k + 1] - x[k], out;
    for (int i = 0; i < 4; i++) c[i] = AT(4 * k + i, size) / AT(4 * k + i, 4 * k + i);
#undef AT
    free(A);
    out = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
    if (at < x[0]) out = c[0] + s * c[1];
    if (at > x[n - 1]) out = y[n - 1] + (at - x[n - 1]) * (c[1] + h * (2 * c[2] + 3 * h * c[3]));
    return out;
}

static real wave_part(const node *f, const char *tag, real otherwise) {
    (void)numbers(text_of(f, tag), &otherwise, 1);
    return otherwise;
}

static real function(const node *f, const real *q, int nq) {
    real x[200] = {0}, y[200] = {0}, c[200] = {0};
    int nx = numbers(text_of(f, "x"), x, 200), nc = numbers(text_of(f, "coefficients"), c, 200);
    (void)numbers(text_of(f, "y"), y, 200);
    if (strcmp(f->tag, "MultiplierFunction") == 0) {
        const node *inner = child(f, "function");
        return wave_part(f, "scale", 1) * function(inner->child, q, nq);
    }
    if (strcmp(f->tag, "Constant") == 0) return wave_part(f, "value", 0);
    if (strcmp(f->tag, "Sine") == 0)
        return wave_part(f, "amplitude", 1) *
                   sinl(wave_part(f, "omega", 1) * q[0] + wave_part(f, "phase", 0)) +
               wave_part(f, "offset", 0);
    if (strcmp(f->tag, "LinearFunction") == 0) {
        real sum = nc > 0 ? c[nc - 1] : 0;
        for (int i = 0; i < nq; i++) sum += (nc > 0 ? c[i] : 1) * q[i];
        return sum;
    }
    if (strcmp(f->tag, "PolynomialFunction") == 0) {
        real sum = 0;
        for (int i = 0; i < nc; i++) sum += c[i] * powl(q[0], nc - 1 - i);
        return sum;
    }
    if (strcmp(f->tag, "MultivariatePolynomialFunction") == 0) {
        real sum = 0;
        int order = (int)wave_part(f, "order", 0), next = 0;
        assert_int_equal(nq, 2);
        for (int i = 0; i <= order; i++)
            for (int k = 0; k <= order - i; k++) sum += c[next++] * powl(q[0], i) * powl(q[1], k);
        return sum;
    }
    if (strcmp(f->tag, "PiecewiseLinearFunction") == 0) {
        int k = 0;
        while (k + 2 < nx && q[0] > x[k + 1]) k++;
        return y[k] + (q[0] - x[k]) * (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
    }
    if (strcmp(f->tag, "SimmSpline") == 0) return spline(x, y, nx, q[0]);
    fail_msg("a <%s> is not known here", f->tag);
    return 0;
}

// --- frames ------------------------------------------------------------------------------------------

static matrix identity(void) {
    matrix I = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    return I;
}

static matrix product(matrix A, matrix B) {
    matrix C = {{{0}}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) C.m[i][j] += A.m[i][k] * B.m[k][j];
    return C;
}

static matrix inverse(matrix A) {
    matrix B = identity();
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            B.m[i][j] = A.m[j][i];
            B.m[i][3] -= A.m[j][i] * A.m[j][3];
        }
    }
    return B;
}

static matrix moved(real x, real y, real z) {
    matrix A = identity();
    A.m[0][3] = x, A.m[1][3] = y, A.m[2][3] = z;
    return A;
}

static matrix about(const real axis[3], real angle) {
    real n = sqrtl(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), k[3];
    for (int i = 0; i < 3; i++) k[i] = axis[i] / n;
    real c = cosl(angle), s = sinl(angle);
    matrix A = identity();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A.m[i][j] = (i == j ? c : 0) + (1 - c) * k[i] * k[j];
    A.m[0][1] -= s * k[2], A.m[1][0] += s * k[2], A.m[0][2] += s * k[1];
    A.m[2][0] -= s * k[1], A.m[1][2] -= s * k[0], A.m[2][1] += s * k[0];
    return A;
}

static matrix about_coordinate(int axis, real angle) {
    const real k[3] = {axis == 0, axis == 1, axis == 2};
    return about(k, angle);
}

static matrix xyz(real a, real b, real c) {
    return product(product(about_coordinate(0, a), about_coordinate(1, b)), about_coordinate(2, c));
}

static matrix placed(const char *position, const char *angles) {
    real p[3] = {0}, a[3] = {0};
    (void)numbers(position, p, 3);
    (void)numbers(angles, a, 3);
    return product(moved(p[0], p[1], p[2]), xyz(a[0], a[1], a[2]));
}

static real value_of(const plain_osim *file, const char *name, const double *values) {
    for (int i = 0; i < file->ncoordinate; i++)
        if (strcmp(file->coordinate[i]->name, name) == 0) return values[i];
    fail_msg("there is no coordinate %s", name);
    return 0;
}

// A TransformAxis: its value and its axis of length 1.
static real axis_value(const plain_osim *file, const node *transform, const char *name,
                       const double *values, real axis[3]) {
    for (const node *a = transform != NULL ? transform->child : NULL; a != NULL; a = a->next) {
        if (a->name == NULL || strcmp(a->name, name) != 0) continue;
        real q[6] = {0};
        int n = 0;
        for (const char *at = text_of(a, "coordinates"); *at != '\0';) {
            char word[256];
            at += strspn(at, " \t\r\n");
            size_t length = strcspn(at, " \t\r\n");
            if (length == 0) break;
            (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
            q[n++] = value_of(file, word, values);
            at += length;
        }
        (void)numbers(text_of(a, "axis"), axis, 3);
        real norm = sqrtl(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
        for (int i = 0; i < 3 && norm > 0; i++) axis[i] /= norm;
        // a function stands in <function>, or right here
        const node *holder = child(a, "function"), *f = holder != NULL ? holder->child : NULL;
        for (const node *c = a->child; f == NULL && c != NULL; c = c->next)
            if (c->tag[0] >= 'A' && c->tag[0] <= 'Z') f = c;
        if (f == NULL) return n > 0 ? q[0] : 0;
        return function(f, q, n);
    }
    return 0;
}

static matrix custom(const plain_osim *file, const node *joint, const double *values) {
    const node *transform = child(joint, "SpatialTransform");
    matrix R = identity();
    real p[3] = {0};
    for (int i = 0; i < 3; i++) {
        char name[20];
        real turn[3] = {i == 0, i == 1, i == 2}, slide[3] = {i == 0, i == 1, i == 2};
        (void)snprintf(name, sizeof name, "rotation%d", i + 1);
        real angle = axis_value(file, transform, name, values, turn);
        if (angle != 0) R = product(R, about(turn, angle));
        (void)snprintf(name, sizeof name, "translation%d", i + 1);
        real t = axis_value(file, transform, name, values, slide);
        for (int k = 0; k < 3; k++) p[k] += t * slide[k];
    }
    return product(moved(p[0], p[1], p[2]), R);
}

// What the joint does between its two frames.
static matrix motion(const plain_osim *file, const node *joint, const double *values) {
    real q[6] = {0}, r[3] = {0}, wing[2] = {0}, direction = 0;
    const node *set = child(joint, "coordinates");
    if (set == NULL) set = child(child(joint, "CoordinateSet"), "objects");
    int n = 0;
    for (const node *c = set != NULL ? set->child : NULL; c != NULL; c = c->next)
        if (strcmp(c->tag, "Coordinate") == 0) q[n++] = value_of(file, c->name, values);
    const char *tag = joint->tag;
    if (strcmp(tag, "CustomJoint") == 0) return custom(file, joint, values);
    if (strcmp(tag, "WeldJoint") == 0) return identity();
    if (strcmp(tag, "PinJoint") == 0) return about_coordinate(2, q[0]);
    if (strcmp(tag, "SliderJoint") == 0) return moved(q[0], 0, 0);
    if (strcmp(tag, "UniversalJoint") == 0) return xyz(q[0], q[1], 0);
    if (strcmp(tag, "BallJoint") == 0 || strcmp(tag, "GimbalJoint") == 0)
        return xyz(q[0], q[1], q[2]);
    if (strcmp(tag, "PlanarJoint") == 0)
        return product(moved(q[1], q[2], 0), about_coordinate(2, q[0]));
    if (strcmp(tag, "FreeJoint") == 0)
        return product(moved(q[3], q[4], q[5]), xyz(q[0], q[1], q[2]));
    (void)numbers(text_of(joint, "radii_x_y_z"), r, 3);
    (void)numbers(text_of(joint, "thoracic_ellipsoid_radii_x_y_z"), r, 3);
    matrix R = xyz(q[0], q[1], q[2]);
    if (strcmp(tag, "EllipsoidJoint") == 0)
        return product(moved(r[0] * R.m[0][2], r[1] * R.m[1][2], r[2] * R.m[2][2]), R);
    assert_string_equal(tag, "ScapulothoracicJoint");
    (void)numbers(text_of(joint, "scapula_winging_axis_origin"), wing, 2);
    (void)numbers(text_of(joint, "scapula_winging_axis_direction"), &direction, 1);
    const real quarter = acosl(0), axis[3] = {-sinl(direction), cosl(direction), 0};
    // the ellipsoid lies in a frame turned by a quarter, with x and y exchanged
    matrix E = product(moved(r[1] * R.m[0][2], r[0] * R.m[1][2], r[2] * R.m[2][2]), R);
    E = product(product(about_coordinate(2, quarter), E), about_coordinate(2, -quarter));
    matrix W = product(moved(wing[0], wing[1], 0), about(axis, q[3]));
    return product(E, product(W, moved(-wing[0], -wing[1], 0)));
}

static matrix body_at(const plain_osim *file, const char *name, const double *values);

// Where a body or frame lies on its body.
static matrix end_at(const plain_osim *file, const node *joint, const char *socket,
                     char body[256]) {
    matrix at = identity();
    last_word(socket, body);
    node *frames[512];
    int n = collect(file->root->child, "PhysicalOffsetFrame", frames, 0);
    for (int own = 1; own >= 0; own--) {
        for (int i = 0; i < n; i++) {
            bool inside = frames[i]->up->up == joint;
            bool foreign = strcmp(frames[i]->up->tag, "frames") == 0 && !inside;
            if (inside != (own == 1) || foreign || strcmp(frames[i]->name, body) != 0) continue;
            matrix on =
                placed(text_of(frames[i], "translation"), text_of(frames[i], "orientation"));
            char outer[256];
            matrix below = end_at(file, NULL, text_of(frames[i], "socket_parent"), outer);
            (void)snprintf(body, 256, "%s", outer);
            return product(below, on);
        }
    }
    return at;
}

// All joints, in the order of the file.
static int collect_joints(node *n, node **out, int count) {
    static const char *const kinds[] = {
        "CustomJoint",    "PinJoint",       "SliderJoint",         "WeldJoint",
        "BallJoint",      "GimbalJoint",    "FreeJoint",           "PlanarJoint",
        "UniversalJoint", "EllipsoidJoint", "ScapulothoracicJoint"};
    for (; n != NULL; n = n->next) {
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            if (strcmp(n->tag, kinds[k]) == 0) out[count++] = n;
        count = collect_joints(n->child, out, count);
    }
    return count;
}

// The body that a joint holds, and where it puts it.
static matrix held_at(const plain_osim *file, const node *j, const double *values, char name[256],
                      bool only_name) {
    char parent[256];
    matrix from, to;
    if (child(j, "parent_body") != NULL) {  // inside its body
        (void)snprintf(name, 256, "%s", j->up->up->name);
        last_word(text_of(j, "parent_body"), parent);
        from = placed(text_of(j, "location_in_parent"), text_of(j, "orientation_in_parent"));
        to = placed(text_of(j, "location"), text_of(j, "orientation"));
    } else {
        to = end_at(file, j, text_of(j, "socket_child_frame"), name);
        from = end_at(file, j, text_of(j, "socket_parent_frame"), parent);
    }
    if (only_name) return identity();
    matrix X = motion(file, j, values);
    if (is_true(text_of(j, "reverse"))) X = inverse(X);
    X = product(product(from, X), inverse(to));
    return product(body_at(file, parent, values), X);
}

static matrix body_at(const plain_osim *file, const char *name, const double *values) {
    if (strcmp(name, "ground") == 0) return identity();
    node *joints[512];
    int n = collect_joints(file->root->child, joints, 0);
    for (int i = 0; i < n; i++) {
        char held[256];
        (void)held_at(file, joints[i], values, held, true);
        if (strcmp(held, name) == 0) return held_at(file, joints[i], values, held, false);
    }
    fail_msg("no joint holds body %s", name);
    return identity();
}

void plain_osim_body_at(const plain_osim *file, const char *name, const double *values,
                        double out[12]) {
    matrix A = body_at(file, name, values);
    for (int i = 0; i < 3; i++) {
        out[i] = (double)A.m[i][3];
        for (int k = 0; k < 3; k++) out[3 + 3 * i + k] = (double)A.m[i][k];
    }
}

// --- loops -------------------------------------------------------------------------------------------

// Those joints and constraints that close loops.
static int collect_loops(const plain_osim *file, node **out) {
    static const char *const kinds[] = {"WeldConstraint", "PointConstraint",
                                        "PointOnLineConstraint", "ConstantDistanceConstraint"};
    node *joints[512], *sets[8];
    int n = collect_joints(file->root->child, joints, 0), count = 0;
    for (int i = 0; i < n; i++) {
        char name[256], other[256];
        bool again = false;
        (void)held_at(file, joints[i], NULL, name, true);
        for (int k = 0; k < i; k++) {
            (void)held_at(file, joints[k], NULL, other, true);
            again = again || strcmp(name, other) == 0;
        }
        if (again) out[count++] = joints[i];
    }
    n = collect(file->root->child, "ConstraintSet", sets, 0);
    for (int i = 0; i < n; i++) {
        const node *all = child(sets[i], "objects");
        for (node *c = all != NULL ? all->child : NULL; c != NULL; c = c->next) {
            bool known = false;
            for (int k = 0; k < 4; k++) known = known || strcmp(c->tag, kinds[k]) == 0;
            bool off = is_true(text_of(c, "isDisabled")) ||
                       (child(c, "isEnforced") != NULL && !is_true(text_of(c, "isEnforced")));
            if (known && !off) out[count++] = c;
        }
    }
    return count;
}

int plain_osim_nloop(const plain_osim *file) {
    node *loops[512];
    return collect_loops(file, loops);
}

static real angle_between(matrix A, matrix B) {
    matrix turn = product(inverse(A), B);
    real sine = 0, trace = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        trace += turn.m[i][i];
        sine += (turn.m[j][i] - turn.m[i][j]) * (turn.m[j][i] - turn.m[i][j]) / 4;
    }
    return atan2l(sqrtl(sine), (trace - 1) / 2);
}

static real apart(matrix A, matrix B) {
    real sum = 0;
    for (int i = 0; i < 3; i++) sum += (A.m[i][3] - B.m[i][3]) * (A.m[i][3] - B.m[i][3]);
    return sqrtl(sum);
}

// One end of a constraint, by the names that the versions have for it.
static matrix constraint_end(const plain_osim *file, const node *c, const double *values,
                             const char *const bodies[4], const char *const places[2],
                             const char *turn) {
    char body[256];
    const char *socket = "", *place = "";
    for (int k = 0; k < 4 && socket[0] == '\0'; k++) socket = text_of(c, bodies[k]);
    for (int k = 0; k < 2 && place[0] == '\0'; k++) place = text_of(c, places[k]);
    matrix on = end_at(file, c, socket, body);
    return product(product(body_at(file, body, values), on), placed(place, text_of(c, turn)));
}

double plain_osim_loop_gap(const plain_osim *file, int i, const double *values) {
    static const char *const first[4] = {"body_1", "socket_body_1", "socket_frame1", "frame1"},
                             *const second[4] = {"body_2", "socket_body_2", "socket_frame2",
                                                 "frame2"},
                             *const first_at[2] = {"location_body_1", "point_on_follower"},
                             *const second_at[2] = {"location_body_2", "point_on_line"};
    static const char *const line_first[4] = {"follower_body", "socket_follower_body", "", ""},
                             *const line_second[4] = {"line_body", "socket_line_body", "", ""};
    node *loops[512];
    const node *c = (collect_loops(file, loops), loops[i]);
    if (strstr(c->tag, "Constraint") == NULL) {
        char name[256];
        matrix A = held_at(file, c, values, name, false), B = body_at(file, name, values);
        return (double)fmaxl(apart(A, B), angle_between(A, B));
    }
    bool line = strcmp(c->tag, "PointOnLineConstraint") == 0;
    matrix A =
        constraint_end(file, c, values, line ? line_first : first, first_at, "orientation_body_1");
    matrix B = constraint_end(file, c, values, line ? line_second : second, second_at,
                              "orientation_body_2");
    if (strcmp(c->tag, "WeldConstraint") == 0)
        return (double)fmaxl(apart(A, B), angle_between(A, B));
    if (strcmp(c->tag, "PointConstraint") == 0) return (double)apart(A, B);
    real x = 0, d[3], u[3], across = 0, size = 0;
    (void)numbers(text_of(c, "constant_distance"), &x, 1);
    if (!line) return (double)fabsl(apart(A, B) - x);
    (void)numbers(text_of(c, "line_direction_vec"), u, 3);
    // in the line's frame
    matrix P = product(inverse(B), A);
    for (int k = 0; k < 3; k++) d[k] = P.m[k][3], size += u[k] * u[k];
    for (int k = 0; k < 3; k++) {
        int m = (k + 1) % 3, n = (k + 2) % 3;
        real e = u[m] * d[n] - u[n] * d[m];
        across += e * e;
    }
    return (double)sqrtl(across / size);
}

const char *plain_osim_marker(const plain_osim *file, int i, const double *values, double out[3]) {
    const node *m = file->marker[i];
    const char *socket = text_of(m, "body");
    char body[256];
    real p[3] = {0};
    if (socket[0] == '\0') socket = text_of(m, "socket_parent_frame");
    matrix on = end_at(file, NULL, socket, body);
    on = product(body_at(file, body, values), on);
    (void)numbers(text_of(m, "location"), p, 3);
    for (int k = 0; k < 3; k++)
        out[k] = (double)(on.m[k][0] * p[0] + on.m[k][1] * p[1] + on.m[k][2] * p[2] + on.m[k][3]);
    return m->name;
}
