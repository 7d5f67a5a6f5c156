// SPDX-License-Identifier: MIT
#include "batch/session.h"

#include <stdio.h>

bool sn_session_open(sn_session *s, sn_device wanted, char *why, size_t size) {
    enum { MOST = 16 };
    sn_cl devices[MOST];
    sn_device_info infos[MOST];
    int32_t error = 0;
    *s = (sn_session){0};
    const char *missing = sn_opencl_load(&s->cl);
    if (missing != NULL) {
        (void)snprintf(why, size, "%s", missing);
        return false;
    }
    int n = sn_opencl_devices(&s->cl, devices, infos, MOST), pick = -1;
    for (int i = 0; i < n && i < MOST && pick < 0; i++)
        if (infos[i].doubles && (infos[i].gpu || wanted == SN_DEVICE_OPENCL)) pick = i;
    if (pick < 0) {
        (void)snprintf(why, size, "%s",
                       n == 0                     ? "OpenCL knows no device"
                       : wanted == SN_DEVICE_AUTO ? "OpenCL knows no GPU with doubles"
                                                  : "no OpenCL device has doubles");
        return false;
    }
    s->device = devices[pick];
    s->info = infos[pick];
    s->context = s->cl.clCreateContext(NULL, 1, &s->device, NULL, NULL, &error);
    if (s->context == NULL || error != 0) {
        s->context = NULL;
        (void)snprintf(why, size, "the device gives no context (%d)", (int)error);
        return false;
    }
    for (int i = 0; i < SN_SESSION_QUEUES; i++) {
        s->queue[i] = s->cl.clCreateCommandQueue(s->context, s->device, 0, &error);
        if (s->queue[i] == NULL || error != 0) {
            s->queue[i] = NULL;
            (void)snprintf(why, size, "the device gives no queue (%d)", (int)error);
            return false;
        }
    }
    return true;
}

void sn_session_close(sn_session *s) {
    while (s->nroom > 0) sn_session_leave(s, s->room[s->nroom - 1].at);
    for (int i = 0; i < SN_SESSION_QUEUES; i++)
        if (s->queue[i] != NULL) (void)s->cl.clReleaseCommandQueue(s->queue[i]);
    if (s->context != NULL) (void)s->cl.clReleaseContext(s->context);
    sn_opencl_unload(&s->cl);
    *s = (sn_session){0};
}

sn_cl sn_session_build(sn_session *s, const sn_text *text, const char *options, char *why,
                       size_t size) {
    const sn_opencl *cl = &s->cl;
    int32_t error = 0;
    if (text->status != SN_OK) {
        (void)snprintf(why, size, "out of memory");
        return NULL;
    }
    const char *source = text->data;
    sn_cl program = cl->clCreateProgramWithSource(s->context, 1, &source, &text->length, &error);
    if (program == NULL || error != 0) {
        (void)snprintf(why, size, "the device takes no program (%d)", (int)error);
        return NULL;
    }
    error = cl->clBuildProgram(program, 1, &s->device, options, NULL, NULL);
    if (error == 0) return program;
    char log[4096] = "";
    (void)cl->clGetProgramBuildInfo(program, s->device, SN_CL_BUILD_LOG, sizeof log - 1, log, NULL);
    for (char *c = log; *c != '\0'; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    (void)snprintf(why, size, "the device's compiler failed (%d): %.1000s", (int)error, log);
    (void)cl->clReleaseProgram(program);
    return NULL;
}

sn_cl sn_session_kernel(sn_session *s, sn_cl program, const char *name, char *why, size_t size) {
    int32_t error = 0;
    sn_cl kernel = s->cl.clCreateKernel(program, name, &error);
    if (kernel != NULL && error == 0) return kernel;
    (void)snprintf(why, size, "the device has no kernel of this program (%d)", (int)error);
    return NULL;
}

void sn_session_drain(sn_session *s) {
    for (int i = 0; i < SN_SESSION_QUEUES; i++)
        if (s->queue[i] != NULL) (void)s->cl.clFinish(s->queue[i]);
}

void *sn_session_room(sn_session *s, size_t bytes) {
    int32_t error = 0;
    if (s->nroom >= SN_SESSION_ROOMS) return NULL;
    sn_cl memory = s->cl.clCreateBuffer(s->context, SN_CL_MEM_READ_WRITE | SN_CL_MEM_ALLOC_HOST,
                                        bytes, NULL, &error);
    if (memory == NULL || error != 0) return NULL;
    void *at = s->cl.clEnqueueMapBuffer(s->queue[0], memory, 1, SN_CL_MAP_BOTH, 0, bytes, 0, NULL,
                                        NULL, &error);
    if (at == NULL || error != 0) {
        (void)s->cl.clReleaseMemObject(memory);
        return NULL;
    }
    s->room[s->nroom].memory = memory;
    s->room[s->nroom++].at = at;
    return at;
}

void sn_session_leave(sn_session *s, void *room) {
    for (int i = 0; i < s->nroom && room != NULL; i++) {
        if (s->room[i].at != room) continue;
        (void)s->cl.clEnqueueUnmapMemObject(s->queue[0], s->room[i].memory, room, 0, NULL, NULL);
        (void)s->cl.clFinish(s->queue[0]);
        (void)s->cl.clReleaseMemObject(s->room[i].memory);
        s->room[i] = s->room[--s->nroom];
        return;
    }
}

sn_cl sn_session_buffer(sn_session *s, size_t bytes, int32_t *error) {
    int32_t code = 0;
    sn_cl out = s->cl.clCreateBuffer(s->context, SN_CL_MEM_READ_WRITE, bytes + 8, NULL, &code);
    if (code != 0) *error = code;
    return code == 0 ? out : NULL;
}

void sn_session_release(sn_session *s, sn_cl *buffer) {
    if (*buffer != NULL) (void)s->cl.clReleaseMemObject(*buffer);
    *buffer = NULL;
}
