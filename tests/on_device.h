// SPDX-License-Identifier: MIT
// What tests on a device that speaks OpenCL share. Such a program run with an argument tries what goes wrong with
// OpenCL (opencl.sh).
#pragma once

#include "sinew/batch.h"
#include "support.h"

static const char *goes_wrong;

static inline bool no_device(void) {
    sn_device_info info[4];
    int n = sn_batch_devices(info, 4);
    for (int i = 0; i < n && i < 4; i++)
        if (info[i].doubles) return false;
    print_message("skipped: no OpenCL device with doubles (Debian: ocl-icd-libopencl1 and "
                  "pocl-opencl-icd)\n");
    return true;
}

/// The tests, or with an argument those of what goes wrong.
#define RUN_ON_DEVICE(argc, argv, tests, wrong)                                                    \
    (goes_wrong = (argc) > 1 ? (argv)[1] : NULL, goes_wrong != NULL                                \
                                                     ? cmocka_run_group_tests(wrong, NULL, NULL)   \
                                                     : cmocka_run_group_tests(tests, NULL, NULL))
