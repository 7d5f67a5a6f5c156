// SPDX-License-Identifier: MIT
// bench_opensim [DATA]: sinew against OpenSim, with Simbody's Assembler as a peer. The model is built as OpenSim
// builds it: one mobilizer a joint, driven by functions where the file has them, constraints for couplers, bounds
// for clamped ranges, one goal for all markers and one for each coordinate task.
#include <Simbody.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

extern "C" {
#include "files/osim/osim.h"
#include "model/function.h"
#include "opensim.h"
}

using namespace SimTK;

static double processor_seconds() {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A function of the file as Simbody wants it. With `follower` it is f(arguments) - last argument.
class Driven : public Function {
  public:
    Driven(const sn_osim *u, const sn_osim_axis &axis, bool follower_) : follower(follower_) {
        sn_function f = {};
        f.type = axis.function.type;
        f.scale = axis.function.scale;
        f.nargument = axis.ncoordinate;
        for (int i = 0; i < f.nargument; i++) f.argument[i] = i;
        f.nx = (int)axis.function.nx, f.ny = (int)axis.function.ny;
        f.x = u->numbers + axis.function.x, f.y = u->numbers + axis.function.y;
        room.resize(sn_driver_numbers(&f) + 1);
        driver = sn_driver_make(&f, room.data());
    }
    Real calcValue(const Vector &x) const override {
        sn_jet jet = at(x);
        return follower ? jet.f - x[x.size() - 1] : jet.f;
    }
    Real calcDerivative(const Array_<int> &by, const Vector &x) const override {
        sn_jet jet = at(x);
        int last = follower ? x.size() - 1 : -1;
        if (by.size() == 1) return by[0] == last ? -1 : jet.d[by[0]];
        if (by.size() != 2 || by[0] == last || by[1] == last) return 0;
        int i = by[0] > by[1] ? by[0] : by[1], j = by[0] > by[1] ? by[1] : by[0];
        return jet.dd[i][j];
    }
    int getArgumentSize() const override { return driver.f.nargument + follower; }
    int getMaxDerivativeOrder() const override { return 10; }

  private:
    sn_jet at(const Vector &x) const {
        double q[SN_MAX_ARGUMENTS] = {0};
        for (int i = 0; i < driver.f.nargument; i++) q[i] = x[i];
        sn_jet jet;
        sn_driver_at(&driver, q, &jet);
        return jet;
    }
    bool follower;
    std::vector<double> room;
    sn_driver driver;
};

static Transform transform_of(const sn_frame &f) {
    Mat33 R(f.R.c[0].x, f.R.c[1].x, f.R.c[2].x, f.R.c[0].y, f.R.c[1].y, f.R.c[2].y, f.R.c[0].z,
            f.R.c[1].z, f.R.c[2].z);
    return Transform(Rotation(R), Vec3(f.p.x, f.p.y, f.p.z));
}

struct Place {
    MobilizedBodyIndex body;
    MobilizerQIndex q;
};

struct Built {
    sn_osim u = {};
    sn_error error = {};
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    std::vector<MobilizedBodyIndex> body;  // of the file's bodies
    std::vector<Place> place;              // of the file's coordinates
    std::vector<bool> moves;
    ~Built() { sn_osim_end(&u); }
};

static const char *name_of(const Built &b, size_t at) { return b.u.names + at; }

static int find_coordinate(const Built &b, const char *name) {
    for (size_t i = 0; i < b.u.ncoordinate; i++)
        if (std::strcmp(name_of(b, b.u.coordinate[i].name), name) == 0) return (int)i;
    return -1;
}

// One mobilizer for a joint: what a weld does, else functions of its coordinates.
static void add_joint(Built &b, const sn_osim_joint &j) {
    MobilizedBody &parent = b.matter.updMobilizedBody(b.body[(size_t)j.parent_body]);
    Body::Rigid solid(MassProperties(1, Vec3(0), Inertia(1)));
    Transform in = transform_of(j.parent_at), out = transform_of(j.child_at);
    MobilizedBodyIndex made;
    const char *type = sn_osim_joint_types[j.type].name;
    if (std::strcmp(type, "WeldJoint") == 0) {
        made = MobilizedBody::Weld(parent, in, solid, out).getMobilizedBodyIndex();
    } else if (std::strcmp(type, "PinJoint") == 0) {
        made = MobilizedBody::Pin(parent, in, solid, out).getMobilizedBodyIndex();
    } else {
        Array_<const Function *> functions;
        Array_<Array_<int>> arguments(6);
        Array_<Vec3> axes;
        for (int k = 0; k < 6; k++) {
            const sn_osim_axis &a = j.axis[k];
            axes.push_back(Vec3(a.axis[0], a.axis[1], a.axis[2]));
            if (a.function.ny == 0) {
                functions.push_back(new Function::Constant(0, 0));
                continue;
            }
            for (int i = 0; i < a.ncoordinate; i++)
                arguments[k].push_back(find_coordinate(b, name_of(b, a.coordinate[i])) -
                                       (int)j.coordinate);
            if (a.function.type == SN_FUNCTION_CONSTANT)
                functions.push_back(
                    new Function::Constant(a.function.scale * b.u.numbers[a.function.y], 0));
            else
                functions.push_back(new Driven(&b.u, a, false));
        }
        made = MobilizedBody::FunctionBased(parent, in, solid, out, (int)j.ncoordinate, functions,
                                            arguments, axes)
                   .getMobilizedBodyIndex();
    }
    b.body[(size_t)j.child_body] = made;
    for (size_t i = 0; i < j.ncoordinate; i++) {
        b.place[j.coordinate + i] = {made, MobilizerQIndex((int)i)};
        b.moves[j.coordinate + i] = true;
    }
}

static bool build(Built &b, const opensim_job *job) {
    b.u.error = &b.error;
    if (sn_osim_parse(&b.u, job->osim, job->length) != SN_OK || sn_osim_connect(&b.u) != SN_OK) {
        std::fprintf(stderr, "bench_opensim: %s\n", b.error.text);
        return false;
    }
    b.body.resize(b.u.nbody);
    b.place.resize(b.u.ncoordinate);
    b.moves.resize(b.u.ncoordinate, false);
    b.body[0] = b.matter.Ground().getMobilizedBodyIndex();
    std::vector<bool> placed(b.u.nbody, false);
    placed[0] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < b.u.njoint; i++) {
            const sn_osim_joint &j = b.u.joint[i];
            if (!placed[(size_t)j.parent_body] || placed[(size_t)j.child_body]) continue;
            add_joint(b, j);
            placed[(size_t)j.child_body] = more = true;
        }
    }
    for (size_t i = 0; i < b.u.ncoupler; i++) {
        const sn_osim_coupler &c = b.u.coupler[i];
        if (c.off) continue;
        Array_<MobilizedBodyIndex> bodies;
        Array_<MobilizerQIndex> coordinates;
        for (int k = 0; k <= c.axis.ncoordinate; k++) {
            size_t name = k < c.axis.ncoordinate ? c.axis.coordinate[k] : c.dependent;
            const Place &p = b.place[(size_t)find_coordinate(b, name_of(b, name))];
            bodies.push_back(p.body);
            coordinates.push_back(p.q);
        }
        Constraint::CoordinateCoupler(b.matter, new Driven(&b.u, c.axis, true), bodies,
                                      coordinates);
    }
    return true;
}

// Tasks, bounds and locks, as OpenSim's AssemblySolver sets them.
static Markers *set_up(Built &b, const opensim_job *job, Assembler &ik, State &state,
                       std::vector<int> &column) {
    Markers *markers = new Markers();
    Array_<String> names;
    const sn_ik_setup_info *info = sn_ik_setup_about(job->setup);
    for (int i = 0; i < info->ntask; i++) {
        const sn_ik_task *t = sn_ik_setup_task(job->setup, i);
        if (!t->apply || t->weight <= 0) continue;
        if (t->coordinate) {
            int k = find_coordinate(b, t->name);
            const Place &p = b.place[(size_t)k];
            double value = t->from == SN_IK_MANUAL ? t->value : b.u.coordinate[k].value;
            ik.adoptAssemblyGoal(new QValue(p.body, p.q, value), t->weight);
            continue;
        }
        int found = sn_recording_find(job->recording, t->name);
        for (size_t m = 0; m < b.u.nmarker; m++) {
            const sn_osim_marker &mk = b.u.marker[m];
            if (found < 0 || std::strcmp(name_of(b, mk.name), t->name) != 0) continue;
            int body;
            sn_frame at;
            const sn_osim_range none = {0, 0};
            if (sn_osim_find_body(&b.u, none, mk.body, mk.line, t->name, &body, &at) != SN_OK)
                continue;
            Vec3 local = transform_of(at) * Vec3(mk.position[0], mk.position[1], mk.position[2]);
            markers->addMarker(t->name, b.body[(size_t)body], local, t->weight);
            names.push_back(t->name);
            column.push_back(found);
        }
    }
    markers->defineObservationOrder(names);
    ik.adoptAssemblyGoal(markers, 1);
    for (size_t i = 0; i < b.u.ncoordinate; i++) {
        const sn_osim_coordinate &c = b.u.coordinate[i];
        if (!b.moves[i]) continue;
        const Place &p = b.place[i];
        b.matter.getMobilizedBody(p.body).setOneQ(state, p.q, c.value);
        if (c.clamped) ik.restrictQ(p.body, p.q, c.range[0], c.range[1]);
        if (c.locked) ik.lockQ(p.body, p.q);
    }
    return markers;
}

static void keep(const Built &b, const opensim_job *job, const State &state, double *q) {
    for (int j = 0; j < sn_model_nq(job->model); j++) q[j] = 0;
    for (int i = 0; i < sn_osim_coordinates_count(job->coordinates); i++) {
        const sn_osim_coordinate_info *c = sn_osim_coordinate_at(job->coordinates, i);
        int k = find_coordinate(b, c->name);
        if (c->at.joint < 0 || k < 0 || !b.moves[(size_t)k]) continue;
        const Place &p = b.place[(size_t)k];
        q[sn_model_q_index(job->model, c->at.joint) + c->at.index] =
            b.matter.getMobilizedBody(p.body).getOneQ(state, p.q);
    }
}

static bool assemble(opensim_job *job) {
    try {
        Built b;
        if (!build(b, job)) return false;
        State state = b.system.realizeTopology();
        Assembler ik(b.system);
        ik.setAccuracy(sn_ik_setup_about(job->setup)->accuracy);
        std::vector<int> column;
        Markers *markers = set_up(b, job, ik, state, column);
        Array_<Vec3> seen((unsigned)column.size());
        job->seconds = 0;
        for (int f = 0; f < job->count; f++) {
            const double *at = sn_recording_frame(job->recording, job->first + f);
            for (size_t i = 0; i < column.size(); i++)
                seen[(unsigned)i] =
                    Vec3(at[3 * column[i]], at[3 * column[i] + 1], at[3 * column[i] + 2]);
            double begin = processor_seconds();
            if (f == 0) {
                ik.initialize(state);
                markers->moveAllObservations(seen);
                ik.assemble();
            } else {
                markers->moveAllObservations(seen);
                ik.track();
            }
            job->seconds += processor_seconds() - begin;
            ik.updateFromInternalState(state);
            keep(b, job, state, job->q + (size_t)f * (size_t)sn_model_nq(job->model));
        }
        return true;
    } catch (const std::exception &wrong) {
        std::fprintf(stderr, "bench_opensim: Simbody: %s\n", wrong.what());
        return false;
    }
}

int main(int argc, char **argv) {
    // one thread: its linear algebra would spin in others, and their time would count as Simbody's
    if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {
        (void)setenv("OPENBLAS_NUM_THREADS", "1", 1);
        (void)execv("/proc/self/exe", argv);
    }
    const char *data = argc > 1 ? argv[1] : "../shared/data/biomech";
    return bench_opensim(data, argc > 2, assemble);
}
