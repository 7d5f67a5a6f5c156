// SPDX-License-Identifier: MIT
// A take inside sinew's page: one file that opens by double click and plays.
#pragma once

#include "figure.h"

/// The file of the page: `given`, or when that is NULL the first that is there of those beside the
/// program and in web/dist. Free with free(); NULL and a message when there is none.
char *find_page(const char *given);

bool is_page_name(const char *path);

/// Write the page with the scene's motion and markers inside.
/// @param given  the page's file, NULL where it usually is
/// @param path   of the page that is written: the take has its name
sn_status write_take_page(const sn_scene *s, const char *given, const char *path,
                          const sn_sink *sink, sn_error *error);
