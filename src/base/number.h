// SPDX-License-Identifier: MIT
// Numbers in text: exact both ways and independent of the process's locale.
#pragma once

#include "base/status.h"

enum { SN_NUMBER_TEXT = 40 };  ///< bytes that hold any printed double

/// Read one number that must fill text[0..length) entirely: [+-] digits [. digits] [e [+-] digits].
/// Correctly rounded. False when it is not such a number, has over 4,000 characters, or overflows.
bool sn_number_parse(const char *text, size_t length, double *out);

/// Print with 17 significant digits; what is not finite becomes "null", as JSON wants.
void sn_number_print17(double value, char out[SN_NUMBER_TEXT]);

/// Print with the fewest digits (15 to 17) that read back to the same double.
void sn_number_print(double value, char out[SN_NUMBER_TEXT]);
