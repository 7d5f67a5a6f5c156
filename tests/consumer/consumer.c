// SPDX-License-Identifier: MIT
// Another project that uses the installed package: header and library agree about the version.
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    char version[32];
    (void)snprintf(version, sizeof version, "%d.%d.%d", SN_VERSION_MAJOR, SN_VERSION_MINOR,
                   SN_VERSION_PATCH);
    printf("sinew %s\n", sn_version());
    return strcmp(version, sn_version()) != 0;
}
