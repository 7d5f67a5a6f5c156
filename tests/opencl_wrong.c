// SPDX-License-Identifier: MIT
// A libOpenCL.so.1 that goes wrong: it hands everything to the real one (SINEW_REAL_OPENCL), but
// SINEW_OPENCL_WRONG says what fails: "platforms", "doubles", "build", "memory", "launch", "lost" (from the
// second wait on).
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/opencl.h"

static sn_opencl real_cl;

static const sn_opencl *real(void) {
    if (real_cl.library != NULL) return &real_cl;
    const char *path = getenv("SINEW_REAL_OPENCL");
    real_cl.library = dlopen(path != NULL ? path : "", RTLD_NOW | RTLD_LOCAL);
    if (real_cl.library == NULL) {
        fputs("opencl_wrong: there is no real library\n", stderr);
        abort();
    }
    void *at;
#define FIND(name, result, arguments)                                                              \
    at = dlsym(real_cl.library, #name);                                                            \
    memcpy(&real_cl.name, &at, sizeof at);
    SN_CL_FUNCTIONS(FIND)
#undef FIND
    return &real_cl;
}

// Queues that were asked to copy something here and have not been waited for since.
enum { QUEUES = 16 };
static sn_cl copying[QUEUES];

static void note_copy(sn_cl queue) {
    int i = 0;
    while (i < QUEUES - 1 && copying[i] != NULL && copying[i] != queue) i++;
    copying[i] = queue;
}

// For tests: how many.
int sn_opencl_copying(void);
int sn_opencl_copying(void) {
    int n = 0;
    for (int i = 0; i < QUEUES; i++) n += copying[i] != NULL;
    return n;
}

static bool wrong(const char *what) {
    const char *mode = getenv("SINEW_OPENCL_WRONG");
    return mode != NULL && strcmp(mode, what) == 0;
}

#define DECLARE(name, result, arguments) result name arguments;
SN_CL_FUNCTIONS(DECLARE)
#undef DECLARE

int32_t clGetPlatformIDs(uint32_t n, sn_cl *out, uint32_t *count) {
    if (wrong("platforms")) return -1001;
    return real()->clGetPlatformIDs(n, out, count);
}
int32_t clGetDeviceIDs(sn_cl p, uint64_t type, uint32_t n, sn_cl *out, uint32_t *count) {
    return real()->clGetDeviceIDs(p, type, n, out, count);
}
int32_t clGetDeviceInfo(sn_cl d, uint32_t what, size_t size, void *out, size_t *used) {
    int32_t e = real()->clGetDeviceInfo(d, what, size, out, used);
    if (what == SN_CL_DEVICE_DOUBLES && wrong("doubles")) memset(out, 0, size);
    return e;
}
sn_cl clCreateContext(const intptr_t *p, uint32_t n, const sn_cl *d, void *f, void *u, int32_t *e) {
    return real()->clCreateContext(p, n, d, f, u, e);
}
sn_cl clCreateCommandQueue(sn_cl c, sn_cl d, uint64_t p, int32_t *e) {
    return real()->clCreateCommandQueue(c, d, p, e);
}
sn_cl clCreateProgramWithSource(sn_cl c, uint32_t n, const char **s, const size_t *l, int32_t *e) {
    return real()->clCreateProgramWithSource(c, n, s, l, e);
}
int32_t clBuildProgram(sn_cl p, uint32_t n, const sn_cl *d, const char *o, void *f, void *u) {
    if (wrong("build")) return -11;
    return real()->clBuildProgram(p, n, d, o, f, u);
}
int32_t clGetProgramBuildInfo(sn_cl p, sn_cl d, uint32_t w, size_t s, void *o, size_t *u) {
    return real()->clGetProgramBuildInfo(p, d, w, s, o, u);
}
sn_cl clCreateKernel(sn_cl p, const char *name, int32_t *e) {
    return real()->clCreateKernel(p, name, e);
}
int32_t clSetKernelArg(sn_cl k, uint32_t i, size_t s, const void *x) {
    return real()->clSetKernelArg(k, i, s, x);
}
sn_cl clCreateBuffer(sn_cl c, uint64_t flags, size_t size, void *host, int32_t *e) {
    if (wrong("memory")) {
        *e = -4;
        return NULL;
    }
    return real()->clCreateBuffer(c, flags, size, host, e);
}
int32_t clEnqueueWriteBuffer(sn_cl q, sn_cl m, uint32_t b, size_t o, size_t s, const void *p,
                             uint32_t n, const sn_cl *w, sn_cl *e) {
    return real()->clEnqueueWriteBuffer(q, m, b, o, s, p, n, w, e);
}
int32_t clEnqueueReadBuffer(sn_cl q, sn_cl m, uint32_t b, size_t o, size_t s, void *p, uint32_t n,
                            const sn_cl *w, sn_cl *e) {
    note_copy(q);
    return real()->clEnqueueReadBuffer(q, m, b, o, s, p, n, w, e);
}
int32_t clEnqueueWriteBufferRect(sn_cl q, sn_cl m, uint32_t b, const size_t *o, const size_t *h,
                                 const size_t *r, size_t br, size_t bs, size_t hr, size_t hs,
                                 const void *p, uint32_t n, const sn_cl *w, sn_cl *e) {
    return real()->clEnqueueWriteBufferRect(q, m, b, o, h, r, br, bs, hr, hs, p, n, w, e);
}
int32_t clEnqueueReadBufferRect(sn_cl q, sn_cl m, uint32_t b, const size_t *o, const size_t *h,
                                const size_t *r, size_t br, size_t bs, size_t hr, size_t hs,
                                void *p, uint32_t n, const sn_cl *w, sn_cl *e) {
    note_copy(q);
    return real()->clEnqueueReadBufferRect(q, m, b, o, h, r, br, bs, hr, hs, p, n, w, e);
}
void *clEnqueueMapBuffer(sn_cl q, sn_cl m, uint32_t b, uint64_t f, size_t o, size_t s, uint32_t n,
                         const sn_cl *w, sn_cl *e, int32_t *c) {
    return real()->clEnqueueMapBuffer(q, m, b, f, o, s, n, w, e, c);
}
int32_t clEnqueueUnmapMemObject(sn_cl q, sn_cl m, void *p, uint32_t n, const sn_cl *w, sn_cl *e) {
    return real()->clEnqueueUnmapMemObject(q, m, p, n, w, e);
}
int32_t clEnqueueNDRangeKernel(sn_cl q, sn_cl k, uint32_t d, const size_t *o, const size_t *g,
                               const size_t *l, uint32_t n, const sn_cl *w, sn_cl *e) {
    if (wrong("launch")) return -5;
    return real()->clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, e);
}
int32_t clFlush(sn_cl q) { return real()->clFlush(q); }
int32_t clFinish(sn_cl q) {
    static int calls;
    int32_t e = real()->clFinish(q);
    for (int i = 0; i < QUEUES; i++)
        if (copying[i] == q) copying[i] = NULL;
    return wrong("lost") && ++calls > 1 ? -36 : e;
}
int32_t clReleaseEvent(sn_cl e) { return real()->clReleaseEvent(e); }
int32_t clReleaseMemObject(sn_cl m) { return real()->clReleaseMemObject(m); }
int32_t clReleaseKernel(sn_cl k) { return real()->clReleaseKernel(k); }
int32_t clReleaseProgram(sn_cl p) { return real()->clReleaseProgram(p); }
int32_t clReleaseCommandQueue(sn_cl q) { return real()->clReleaseCommandQueue(q); }
int32_t clReleaseContext(sn_cl c) { return real()->clReleaseContext(c); }
