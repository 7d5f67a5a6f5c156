// SPDX-License-Identifier: MIT
// OpenSim files a second time: a small reader and plain forward kinematics, to check the library's. It
// shares nothing with it: elements in a tree, 4 x 4 matrices, splines from their definition.
#pragma once

typedef struct plain_osim plain_osim;

/// Fails the test when the text cannot be read.
plain_osim *plain_osim_read(const char *text);
void plain_osim_free(plain_osim *file);

/// Coordinates of all joints: their names, default values and whether they are locked.
int plain_osim_ncoordinate(const plain_osim *file);
const char *plain_osim_coordinate(const plain_osim *file, int i, double *value, int *locked);

/// Bodies' names, ground left out; NULL past the last.
const char *plain_osim_body(const plain_osim *file, int i);

/// Markers: their names, and where they are with these values of the coordinates.
int plain_osim_nmarker(const plain_osim *file);
const char *plain_osim_marker(const plain_osim *file, int i, const double *values, double out[3]);

/// A body in the world: its position, then its rotation by rows.
void plain_osim_body_at(const plain_osim *file, const char *name, const double *values,
                        double out[12]);

/// What closes loops: joints to bodies that an earlier joint holds, then constraints that are switched
/// on; and by how much each is open: metres, or radians where the rotation is further off.
int plain_osim_nloop(const plain_osim *file);
double plain_osim_loop_gap(const plain_osim *file, int i, const double *values);
