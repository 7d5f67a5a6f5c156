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
