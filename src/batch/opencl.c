// SPDX-License-Identifier: MIT
#include "batch/opencl.h"

#include <string.h>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__wasm__)
#define HAVE_LIBRARIES
#include <dlfcn.h>
#endif

#ifdef HAVE_LIBRARIES
static void *open_library(void) {
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so",
                                        "/System/Library/Frameworks/OpenCL.framework/OpenCL"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL) return library;
    }
    return NULL;
}

const char *sn_opencl_load(sn_opencl *cl) {
    *cl = (sn_opencl){.library = open_library()};
    if (cl->library == NULL) return "there is no OpenCL library (libOpenCL.so.1)";
    void *at;
    // a pointer to a function through one to an object, as dlsym() has it
#define FIND(name, result, arguments)                                                              \
    at = dlsym(cl->library, #name);                                                                \
    if (at == NULL) {                                                                              \
        sn_opencl_unload(cl);                                                                      \
        return "the OpenCL library lacks " #name;                                                  \
    }                                                                                              \
    memcpy(&cl->name, &at, sizeof at);
    SN_CL_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

void sn_opencl_unload(sn_opencl *cl) {
    // drivers leave threads behind that run in the library: it stays loaded
    cl->library = NULL;
}
#else
const char *sn_opencl_load(sn_opencl *cl) {
    *cl = (sn_opencl){0};
    return "this build loads no libraries";
}
void sn_opencl_unload(sn_opencl *cl) { cl->library = NULL; }
#endif

static void describe(const sn_opencl *cl, sn_cl device, sn_device_info *out) {
    uint64_t type = 0, doubles = 0;
    uint32_t units = 0;
    *out = (sn_device_info){0};
    (void)cl->clGetDeviceInfo(device, SN_CL_DEVICE_NAME, sizeof out->name - 1, out->name, NULL);
    (void)cl->clGetDeviceInfo(device, SN_CL_DEVICE_VENDOR, sizeof out->vendor - 1, out->vendor,
                              NULL);
    (void)cl->clGetDeviceInfo(device, SN_CL_DEVICE_VERSION, sizeof out->version - 1, out->version,
                              NULL);
    (void)cl->clGetDeviceInfo(device, SN_CL_DEVICE_TYPE, sizeof type, &type, NULL);
    (void)cl->clGetDeviceInfo(device, SN_CL_DEVICE_UNITS, sizeof units, &units, NULL);
    (void)cl->clGetDeviceInfo(device, SN_CL_DEVICE_MEMORY, sizeof out->memory, &out->memory, NULL);
    (void)cl->clGetDeviceInfo(device, SN_CL_DEVICE_DOUBLES, sizeof doubles, &doubles, NULL);
    out->units = (int)units;
    out->doubles = doubles != 0;
    out->gpu = (type & SN_CL_DEVICE_TYPE_GPU) != 0;
}

int sn_opencl_devices(const sn_opencl *cl, sn_cl *device, sn_device_info *info, int most) {
    enum { MOST = 16 };
    sn_cl platforms[MOST], found[MOST], all[2][MOST];
    uint32_t nplatform = 0;
    int count[2] = {0, 0}, n = 0;
    if (cl->clGetPlatformIDs(MOST, platforms, &nplatform) != 0) return 0;
    for (uint32_t p = 0; p < nplatform && p < MOST; p++) {
        uint32_t ndevice = 0;
        if (cl->clGetDeviceIDs(platforms[p], (uint64_t)(int64_t)SN_CL_DEVICE_TYPE_ALL, MOST, found,
                               &ndevice) != 0)
            continue;
        for (uint32_t d = 0; d < ndevice && d < MOST; d++) {
            uint64_t type = 0;
            (void)cl->clGetDeviceInfo(found[d], SN_CL_DEVICE_TYPE, sizeof type, &type, NULL);
            int kind = (type & SN_CL_DEVICE_TYPE_GPU) == 0;
            if (count[kind] < MOST) all[kind][count[kind]++] = found[d];
        }
    }
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < count[kind]; i++, n++) {
            if (n >= most) continue;
            if (device != NULL) device[n] = all[kind][i];
            if (info != NULL) describe(cl, all[kind][i], &info[n]);
        }
    return n;
}
