// SPDX-License-Identifier: MIT
// As much of OpenCL 1.2 as is used, found at run time: nothing is linked and no header is needed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sinew/batch.h"

typedef struct sn_cl_object
    *sn_cl;  ///< a platform, device, context, queue, program, kernel, memory, event

enum {
    SN_CL_DEVICE_TYPE_GPU = 4,
    SN_CL_DEVICE_TYPE_ALL = -1,
    SN_CL_DEVICE_TYPE = 0x1000,
    SN_CL_DEVICE_UNITS = 0x1002,
    SN_CL_DEVICE_MEMORY = 0x101F,
    SN_CL_DEVICE_MOST_BLOCK = 0x1010,
    SN_CL_DEVICE_NAME = 0x102B,
    SN_CL_DEVICE_VENDOR = 0x102C,
    SN_CL_DEVICE_VERSION = 0x102F,
    SN_CL_DEVICE_DOUBLES = 0x1032,
    SN_CL_MEM_READ_WRITE = 1,
    SN_CL_MEM_ALLOC_HOST = 16,
    SN_CL_MAP_BOTH = 3,
    SN_CL_BUILD_LOG = 0x1183
};

/// The functions; X(name, result, arguments).
#define SN_CL_FUNCTIONS(X)                                                                         \
    X(clGetPlatformIDs, int32_t, (uint32_t, sn_cl *, uint32_t *))                                  \
    X(clGetDeviceIDs, int32_t, (sn_cl, uint64_t, uint32_t, sn_cl *, uint32_t *))                   \
    X(clGetDeviceInfo, int32_t, (sn_cl, uint32_t, size_t, void *, size_t *))                       \
    X(clCreateContext, sn_cl,                                                                      \
      (const intptr_t *, uint32_t, const sn_cl *, void *, void *, int32_t *))                      \
    X(clCreateCommandQueue, sn_cl, (sn_cl, sn_cl, uint64_t, int32_t *))                            \
    X(clCreateProgramWithSource, sn_cl,                                                            \
      (sn_cl, uint32_t, const char **, const size_t *, int32_t *))                                 \
    X(clBuildProgram, int32_t, (sn_cl, uint32_t, const sn_cl *, const char *, void *, void *))     \
    X(clGetProgramBuildInfo, int32_t, (sn_cl, sn_cl, uint32_t, size_t, void *, size_t *))          \
    X(clCreateKernel, sn_cl, (sn_cl, const char *, int32_t *))                                     \
    X(clSetKernelArg, int32_t, (sn_cl, uint32_t, size_t, const void *))                            \
    X(clCreateBuffer, sn_cl, (sn_cl, uint64_t, size_t, void *, int32_t *))                         \
    X(clEnqueueWriteBuffer, int32_t,                                                               \
      (sn_cl, sn_cl, uint32_t, size_t, size_t, const void *, uint32_t, const sn_cl *, sn_cl *))    \
    X(clEnqueueReadBuffer, int32_t,                                                                \
      (sn_cl, sn_cl, uint32_t, size_t, size_t, void *, uint32_t, const sn_cl *, sn_cl *))          \
    X(clEnqueueWriteBufferRect, int32_t,                                                           \
      (sn_cl, sn_cl, uint32_t, const size_t *, const size_t *, const size_t *, size_t, size_t,     \
       size_t, size_t, const void *, uint32_t, const sn_cl *, sn_cl *))                            \
    X(clEnqueueReadBufferRect, int32_t,                                                            \
      (sn_cl, sn_cl, uint32_t, const size_t *, const size_t *, const size_t *, size_t, size_t,     \
       size_t, size_t, void *, uint32_t, const sn_cl *, sn_cl *))                                  \
    X(clEnqueueMapBuffer, void *,                                                                  \
      (sn_cl, sn_cl, uint32_t, uint64_t, size_t, size_t, uint32_t, const sn_cl *, sn_cl *,         \
       int32_t *))                                                                                 \
    X(clEnqueueUnmapMemObject, int32_t, (sn_cl, sn_cl, void *, uint32_t, const sn_cl *, sn_cl *))  \
    X(clEnqueueNDRangeKernel, int32_t,                                                             \
      (sn_cl, sn_cl, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,           \
       const sn_cl *, sn_cl *))                                                                    \
    X(clFlush, int32_t, (sn_cl))                                                                   \
    X(clFinish, int32_t, (sn_cl))                                                                  \
    X(clReleaseEvent, int32_t, (sn_cl))                                                            \
    X(clReleaseMemObject, int32_t, (sn_cl))                                                        \
    X(clReleaseKernel, int32_t, (sn_cl))                                                           \
    X(clReleaseProgram, int32_t, (sn_cl))                                                          \
    X(clReleaseCommandQueue, int32_t, (sn_cl))                                                     \
    X(clReleaseContext, int32_t, (sn_cl))

typedef struct sn_opencl {
    void *library;
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define SN_CL_FIELD(name, result, arguments) result(*name) arguments;
    SN_CL_FUNCTIONS(SN_CL_FIELD)
#undef SN_CL_FIELD
} sn_opencl;

/// Load the library and find its functions: NULL, or what is missing.
const char *sn_opencl_load(sn_opencl *cl);
void sn_opencl_unload(sn_opencl *cl);

/// All devices, GPUs first; returns how many there are, of which up to `most` are filled in.
int sn_opencl_devices(const sn_opencl *cl, sn_cl *device, sn_device_info *info, int most);
