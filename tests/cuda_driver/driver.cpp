// A stand-in for NVIDIA's driver, libcuda.so.1, for machines without a card: README.md.
//
// The functions are those that numba-cuda, cuda-core and cuda-bindings call, in the order of
// NVIDIA's cuda.h, which also checks their types here. A function that is missing is one that
// cuGetProcAddress does not find, and cuda-bindings' error names it.

#include <chrono>

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include "kernels.h"

static thread_local std::vector<Device *> contexts;  // a context is its device; the last is current
static Device *current() { return contexts.empty() ? nullptr : contexts.back(); }

static bool stays(int code) {  // "sticky": errors of kernels, after which a context is lost
    return code == CUDA_ERROR_ECC_UNCORRECTABLE || (code >= CUDA_ERROR_ILLEGAL_ADDRESS && code != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES &&
           code != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED && code != CUDA_ERROR_PEER_ACCESS_NOT_ENABLED && code <= CUDA_ERROR_LAUNCH_FAILED);
}

/* Count a call; return its fault, if STANDIN_FAIL asks for one. */
static CUresult entered(const string &name, Counter &counter) {
    long call = ++counter.calls;
    if (getpid() != world().process) return CUDA_ERROR_NOT_INITIALIZED;  // forked
    int code = settings().fault(name, call);
    if (stays(code))
        for (auto &device : world().devices)
            if (!current() || device.get() == current()) device->error = code;
    if (!code && !world().initialised && name != "cuInit" && name != "cuDriverGetVersion") return CUDA_ERROR_NOT_INITIALIZED;
    return (CUresult)code;
}

#define CALL                                                  \
    static const string name_ = without_version(__func__);    \
    static Counter &counter = counter_of(name_);              \
    if (CUresult code_ = entered(name_, counter)) return code_;
#define IN_CONTEXT                                            \
    CALL [[maybe_unused]] Device *device = current();         \
    if (!device) return CUDA_ERROR_INVALID_CONTEXT;           \
    if (device->error) return (CUresult)device->error.load();
#define ON_DEVICE                                             \
    CALL if ((size_t)dev >= world().devices.size()) return CUDA_ERROR_INVALID_DEVICE; \
    [[maybe_unused]] Device *device = world().devices[dev].get();
#define ON_STREAM                                             \
    IN_CONTEXT auto stream = stream_of(device, handle);       \
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
#define OF_CONTEXT                                            \
    CALL Device *device = context ? (Device *)context : current(); \
    if (!device) return CUDA_ERROR_INVALID_CONTEXT;

/* Put an answer where the caller wants it. */
template <typename T, typename V> static CUresult answer(T *place, V value) {
    if (place) *place = value;
    return CUDA_SUCCESS;
}
static CUresult state(Device *device) { return (CUresult)device->error.load(); }

// --- Errors and the driver itself

CUresult cuGetErrorString(CUresult error, const char **text) { return cuGetErrorName(error, text); }
CUresult cuGetErrorName(CUresult error, const char **text) {
    *text = ERRORS.count(error) ? ERRORS.at(error) : nullptr;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuInit(unsigned) {
    CALL
    if (world().devices.empty()) return CUDA_ERROR_NO_DEVICE;
    world().initialised = true;
    return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int *version) { CALL return answer(version, settings().version ? settings().version : CUDA_VERSION); }

// --- Devices

CUresult cuDeviceGet(CUdevice *found, int dev) { ON_DEVICE return answer(found, device->index); }
CUresult cuDeviceGetCount(int *count) { CALL return answer(count, (int)world().devices.size()); }
CUresult cuDeviceGetName(char *name, int size, CUdevice dev) { ON_DEVICE snprintf(name, size, "%s", device->card->name); return CUDA_SUCCESS; }
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    ON_DEVICE
    memset(uuid, 0xFA, sizeof *uuid);
    uuid->bytes[15] = (char)settings().cards[device->index].second;
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev) { ON_DEVICE return answer(bytes, device->total); }
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute wanted, CUdevice dev) {
    ON_DEVICE
    if (wanted == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) return answer(value, device->index + 1);
    auto &known = device->card->attributes;
    return answer(value, known.count(wanted) ? known.at(wanted) : 0);
}
CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool) { ON_DEVICE return CUDA_SUCCESS; }
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev) { ON_DEVICE return answer(pool, (CUmemoryPool)device); }
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev) { ON_DEVICE return answer(pool, (CUmemoryPool)device); }

// --- Contexts: a device has one, its primary context

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice dev) { ON_DEVICE return answer(context, (CUcontext)device); }
CUresult cuDevicePrimaryCtxRelease(CUdevice dev) { ON_DEVICE return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    ON_DEVICE
    drain(device);
    for (u64 at : device->allocated.begins()) device->release(at);
    device->error = 0;
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) { CALL contexts.push_back((Device *)context); return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent(CUcontext *context) {
    CALL
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    answer(context, (CUcontext)contexts.back());
    contexts.pop_back();
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
    CALL
    if (!contexts.empty()) contexts.pop_back();
    if (context) contexts.push_back((Device *)context);
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *context) { CALL return answer(context, (CUcontext)current()); }
CUresult cuCtxGetDevice(CUdevice *found) { CUcontext context = nullptr; OF_CONTEXT return answer(found, device->index); }
#if CUDA_VERSION >= 13000
CUresult cuCtxGetDevice_v2(CUdevice *found, CUcontext context) { OF_CONTEXT return answer(found, device->index); }
#endif
CUresult cuCtxGetFlags(unsigned *flags) { CALL return answer(flags, 0); }
CUresult cuCtxGetId(CUcontext context, unsigned long long *id) { OF_CONTEXT return answer(id, device->index + 1); }
CUresult cuCtxSynchronize() { IN_CONTEXT drain(device); return state(device); }
#if CUDA_VERSION >= 13000
CUresult cuCtxSynchronize_v2(CUcontext context) { OF_CONTEXT drain(device); return state(device); }
#endif
CUresult cuCtxGetApiVersion(CUcontext, unsigned *version) { CALL return answer(version, 3020); }
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) { CALL answer(least, 0); return answer(greatest, -5); }

// --- Modules, libraries and their kernels: one and the same here

static CUresult find_kernel(Module *module, const char *name, void **found) {
    auto at = module->kernels.find(name);
    return at == module->kernels.end() ? CUDA_ERROR_NOT_FOUND : answer(found, &at->second);
}
static CUresult find_variable(Device *device, Module *module, const char *name, CUdeviceptr *at, size_t *size) {
    const Variable *found = module->tables.variables, *end = found + module->tables.variable_count;
    while (found < end && strcmp(found->name, name)) found++;
    if (found == end) return CUDA_ERROR_NOT_FOUND;
    u64 begin = module->on(device);
    if (!begin) return CUDA_ERROR_OUT_OF_MEMORY;
    answer(at, begin + found->offset);
    return answer(size, found->size);
}
static CUresult unload(Module *module) {
    for (auto &device : world().devices) drain(device.get());
    module->unload();
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) { IN_CONTEXT return load(image, (Module **)module); }
CUresult cuModuleUnload(CUmodule module) { IN_CONTEXT return unload((Module *)module); }
CUresult cuModuleGetFunction(CUfunction *kernel, CUmodule module, const char *name) { IN_CONTEXT return find_kernel((Module *)module, name, (void **)kernel); }
CUresult cuModuleGetGlobal(CUdeviceptr *at, size_t *size, CUmodule module, const char *name) { IN_CONTEXT return find_variable(device, (Module *)module, name, at, size); }
CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *, void **, unsigned, CUlibraryOption *, void **, unsigned) { CALL return load(image, (Module **)library); }
CUresult cuLibraryUnload(CUlibrary library) { CALL return unload((Module *)library); }
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) { CALL return find_kernel((Module *)library, name, (void **)kernel); }
CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) { CALL return answer(count, (unsigned)((Module *)library)->kernels.size()); }
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) { CALL return answer(module, (CUmodule)library); }
CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) { CALL return answer(function, (CUfunction)kernel); }
CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) { CALL return answer(library, (CUlibrary)((Kernel *)kernel)->module); }
CUresult cuLibraryGetGlobal(CUdeviceptr *at, size_t *size, CUlibrary library, const char *name) { IN_CONTEXT return find_variable(device, (Module *)library, name, at, size); }

static CUresult kernel_attribute(int *value, CUfunction_attribute wanted, const Entry &entry) {
    switch (wanted) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return answer(value, 1024);
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return answer(value, entry.shared);
        case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return answer(value, entry.local);
        case CU_FUNC_ATTRIBUTE_NUM_REGS: return answer(value, 40);  // invented: only ptxas knows
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return answer(value, world().devices[0]->card->capability);
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return answer(value, 49152 - entry.shared);
        default: return answer(value, 0);
    }
}
static CUresult parameter(const Entry &entry, size_t index, size_t *offset, size_t *size) {
    if (index >= entry.count) return CUDA_ERROR_INVALID_VALUE;
    answer(offset, entry.params[index].offset);
    return answer(size, entry.params[index].size);
}
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute wanted, CUkernel kernel, CUdevice) { CALL return kernel_attribute(value, wanted, *((Kernel *)kernel)->entry); }
CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) { CALL return CUDA_SUCCESS; }
CUresult cuKernelSetCacheConfig(CUkernel, CUfunc_cache, CUdevice) { CALL return CUDA_SUCCESS; }
CUresult cuKernelGetName(const char **name, CUkernel kernel) { CALL return answer(name, ((Kernel *)kernel)->entry->name); }
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) { CALL return parameter(*((Kernel *)kernel)->entry, index, offset, size); }

// --- Memory

CUresult cuMemGetInfo(size_t *unused, size_t *total) { IN_CONTEXT answer(unused, device->total - device->used); return answer(total, device->total); }
CUresult cuMemAlloc(CUdeviceptr *at, size_t size) { IN_CONTEXT counter.bytes += size; return device->allocate(size, (u64 *)at); }
CUresult cuMemFree(CUdeviceptr at) {
    IN_CONTEXT
    if (!at) return CUDA_SUCCESS;
    Device *owned = owner(at);
    if (!owned) return CUDA_ERROR_INVALID_VALUE;
    drain(owned == &world().host ? device : owned);
    return owned->release(at);
}
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr at) {
    IN_CONTEXT
    Range range = owner(at) ? owner(at)->allocated.around(at) : Range{0, 0};
    if (!range.size) return CUDA_ERROR_NOT_FOUND;
    answer(base, range.begin);
    return answer(size, range.size);
}
CUresult cuMemAllocHost(void **at, size_t size) { IN_CONTEXT counter.bytes += size; return world().host.allocate(size, (u64 *)at); }
CUresult cuMemFreeHost(void *at) { IN_CONTEXT drain(device); return world().host.release((u64)at); }
CUresult cuMemHostAlloc(void **at, size_t size, unsigned) { IN_CONTEXT counter.bytes += size; return world().host.allocate(size, (u64 *)at); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr *at, void *host, unsigned) { IN_CONTEXT return answer(at, (u64)host); }
CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice dev) { ON_DEVICE snprintf(text, size, "0000:%02x:00.0", device->index + 1); return CUDA_SUCCESS; }
CUresult cuMemHostRegister(void *at, size_t size, unsigned) {
    IN_CONTEXT
    return world().registered.add((u64)at, size) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}
CUresult cuMemHostUnregister(void *at) {
    IN_CONTEXT
    drain(device);
    return world().registered.remove((u64)at) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

/* Copies between pageable memory and a device are staged, so a program may use that memory at once:
   what goes to the device is read now, and what comes from it is waited for. */
static CUresult copy(Device *device, Counter &counter, u64 to, u64 from, u64 size, CUstream handle, bool wait) {
    auto stream = stream_of(device, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    Device *target = owner(to), *origin = owner(from);
    if (target && !covers(target->allocated.around(to), to, size)) return CUDA_ERROR_INVALID_VALUE;
    if (origin && !covers(origin->allocated.around(from), from, size)) return CUDA_ERROR_INVALID_VALUE;
    if (!size) return CUDA_SUCCESS;
    counter.bytes += size;
    std::shared_ptr<std::vector<u8>> staged;
    if (!wait && !origin && !page_locked(from, size)) {
        staged = std::make_shared<std::vector<u8>>((u8 *)from, (u8 *)from + size);
        from = (u64)staged->data();
    }
    static Counter &executed = counter_of("copy");
    Place end = submit(stream, [=] {
        (void)staged;
        long call = ++executed.calls;
        executed.bytes += size;
        if (int code = settings().fault("copy", call)) stream->device->error = code;
        else memcpy((void *)to, (void *)from, size);
    });
    if (wait || (!target && !page_locked(to, size))) end.wait();
    return state(device);
}
#define COPY(to, from, handle, wait) IN_CONTEXT return copy(device, counter, (u64)(to), (u64)(from), size, handle, wait)
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) { COPY(to, from, nullptr, true); }
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) { COPY(to, from, nullptr, true); }
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) { COPY(to, from, nullptr, true); }
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream handle) { COPY(to, from, handle, false); }
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream handle) { COPY(to, from, handle, false); }
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream handle) { COPY(to, from, handle, false); }

template <typename T> static CUresult fill(Device *device, Counter &counter, CUdeviceptr at, T value, size_t count, CUstream handle, bool wait) {
    Device *target = owner(at);
    auto stream = stream_of(device, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!target || !covers(target->allocated.around(at), at, count * sizeof(T)) || at % sizeof(T)) return CUDA_ERROR_INVALID_VALUE;
    counter.bytes += count * sizeof(T);
    Place end = submit(stream, [=] { std::fill_n((T *)at, count, value); });
    if (wait) end.wait();
    return state(device);
}
#define FILL(handle, wait) IN_CONTEXT return fill(device, counter, at, value, count, handle, wait)
CUresult cuMemsetD8(CUdeviceptr at, unsigned char value, size_t count) { FILL(nullptr, true); }
CUresult cuMemsetD32(CUdeviceptr at, unsigned value, size_t count) { FILL(nullptr, true); }
CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t count, CUstream handle) { FILL(handle, false); }
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, size_t count, CUstream handle) { FILL(handle, false); }

CUresult cuMemFreeAsync(CUdeviceptr at, CUstream handle) {
    ON_STREAM
    Device *owned = owner(at);
    if (!owned || !owned->allocated.around(at).size) return CUDA_ERROR_INVALID_VALUE;
    submit(stream, [=] { owned->release(at); });
    return CUDA_SUCCESS;
}
CUresult cuMemAllocAsync(CUdeviceptr *at, size_t size, CUstream) { IN_CONTEXT counter.bytes += size; return device->allocate(size, (u64 *)at); }
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) { CALL return CUDA_SUCCESS; }
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void *) { CALL return CUDA_SUCCESS; }
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute, void *value) { CALL *(u64 *)value = 0; return CUDA_SUCCESS; }
CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *, size_t) { CALL return CUDA_SUCCESS; }
CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool, CUmemLocation *) { CALL return answer(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE); }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *at, size_t size, CUmemoryPool pool, CUstream) { IN_CONTEXT counter.bytes += size; return ((Device *)pool)->allocate(size, (u64 *)at); }
CUresult cuPointerGetAttribute(void *value, CUpointer_attribute wanted, CUdeviceptr at) {
    CALL
    Device *owned = owner(at);
    if (!owned) return CUDA_ERROR_INVALID_VALUE;
    bool host = owned == &world().host;
    switch (wanted) {
        case CU_POINTER_ATTRIBUTE_CONTEXT: return answer((Device **)value, host ? current() : owned);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return answer((unsigned *)value, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER: return answer((u64 *)value, at);
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: return answer((unsigned *)value, 0);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer((int *)value, std::max(owned->index, 0));
        default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

// --- Streams

struct Event {
    Device *device;
    bool timed;
    std::mutex lock;
    Place place;                                 // where it was recorded last
    std::shared_ptr<std::atomic<double>> moment;  // in ms; 0: not passed
    Place recorded() { std::lock_guard<std::mutex> held(lock); return place; }
};

CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
    IN_CONTEXT
    auto stream = std::make_shared<Stream>(device, !(flags & CU_STREAM_NON_BLOCKING));
    std::lock_guard<std::mutex> held(world().lock);
    device->streams.insert(stream);
    *handle = (CUstream)stream.get();
    return CUDA_SUCCESS;
}
CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned flags, int) { return cuStreamCreate(handle, flags); }
CUresult cuStreamGetPriority(CUstream handle, int *priority) { ON_STREAM return answer(priority, 0); }
CUresult cuStreamGetDevice(CUstream handle, CUdevice *found) { ON_STREAM return answer(found, stream->device->index); }
CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) { ON_STREAM return answer(flags, stream->blocking ? 0 : CU_STREAM_NON_BLOCKING); }
CUresult cuStreamGetId(CUstream handle, unsigned long long *id) { ON_STREAM return answer(id, stream->number); }
CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) { ON_STREAM return answer(context, (CUcontext)stream->device); }
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *context, CUgreenCtx *green) {
    ON_STREAM
    answer(green, nullptr);
    return answer(context, (CUcontext)stream->device);
}
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    ON_STREAM
    Place place = ((Event *)event)->recorded();
    if (place.stream && place.stream != stream) submit(stream, [=] { place.wait(); });
    return CUDA_SUCCESS;
}
CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback call, void *data, unsigned) { ON_STREAM submit(stream, [=] { call(handle, CUDA_SUCCESS, data); }, true); return CUDA_SUCCESS; }
CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) { ON_STREAM return answer(status, CU_STREAM_CAPTURE_STATUS_NONE); }
CUresult cuStreamQuery(CUstream handle) { ON_STREAM return stream->end().passed() ? state(stream->device) : CUDA_ERROR_NOT_READY; }
CUresult cuStreamSynchronize(CUstream handle) {
    ON_STREAM
    if (stream == main_stream(stream->device))  // which waits for the blocking ones
        for (auto &place : ends(stream->device, false)) place.wait();
    stream->end().wait();
    return state(stream->device);
}
CUresult cuStreamDestroy(CUstream handle) {
    CALL
    std::shared_ptr<Stream> stream = stream_of(current() ? current() : world().devices[0].get(), handle);
    if (!stream || (u64)handle <= 2) return CUDA_ERROR_INVALID_HANDLE;
    stream->close();
    std::lock_guard<std::mutex> held(world().lock);
    stream->device->streams.erase(stream);
    return CUDA_SUCCESS;
}

// --- Events

CUresult cuEventCreate(CUevent *event, unsigned flags) { IN_CONTEXT return answer(event, (CUevent) new Event{device, !(flags & CU_EVENT_DISABLE_TIMING), {}, {}, {}}); }
CUresult cuEventRecord(CUevent event, CUstream handle) {
    ON_STREAM
    auto *given = (Event *)event;
    if (stream->device != given->device) return CUDA_ERROR_INVALID_HANDLE;
    auto moment = std::make_shared<std::atomic<double>>(0);
    Place place = submit(stream, [=] { *moment = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); });
    std::lock_guard<std::mutex> held(given->lock);
    given->place = place;
    given->moment = moment;
    return CUDA_SUCCESS;
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned) { return cuEventRecord(event, handle); }
CUresult cuEventQuery(CUevent event) { IN_CONTEXT return ((Event *)event)->recorded().passed() ? state(device) : CUDA_ERROR_NOT_READY; }
CUresult cuEventSynchronize(CUevent event) { IN_CONTEXT ((Event *)event)->recorded().wait(); return state(device); }
CUresult cuEventDestroy(CUevent event) { CALL delete (Event *)event; return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
    IN_CONTEXT
    auto *a = (Event *)begin, *b = (Event *)end;
    if (!a->moment || !b->moment || !a->timed || !b->timed) return CUDA_ERROR_INVALID_HANDLE;
    if (!*a->moment || !*b->moment) return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)(*b->moment - *a->moment);
    return CUDA_SUCCESS;
}

// --- Kernels that are launched, and what is known of them

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute wanted, CUfunction kernel) { CALL return kernel_attribute(value, wanted, *((Kernel *)kernel)->entry); }
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { CALL return CUDA_SUCCESS; }
CUresult cuFuncGetParamInfo(CUfunction kernel, size_t index, size_t *offset, size_t *size) { CALL return parameter(*((Kernel *)kernel)->entry, index, offset, size); }
CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z, unsigned shared, CUstream handle, void **params, void **) {
    IN_CONTEXT
    return launch(device, (Kernel *)kernel, {{gx, gy, gz}, {x, y, z}, shared}, handle, params);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction kernel, void **params, void **) {
    IN_CONTEXT
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && c->attrs[i].value.cooperative) return CUDA_ERROR_NOT_SUPPORTED;
    Shape shape = {{c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes};
    return launch(device, (Kernel *)kernel, shape, c->hStream, params);
}
CUresult cuLaunchHostFunc(CUstream handle, CUhostFn call, void *data) { ON_STREAM submit(stream, [=] { call(data); }, true); return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction, int size, size_t) { CALL *count = std::max(1, 1536 / std::max(size, 1)); return CUDA_SUCCESS; }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, CUfunction, int size, size_t, unsigned) { CALL *count = std::max(1, 1536 / std::max(size, 1)); return CUDA_SUCCESS; }
CUresult cuDeviceCanAccessPeer(int *can, CUdevice, CUdevice) { CALL return answer(can, 0); }

/* Bindings ask for a name without its version: the newest that their version of CUDA has. */
CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t, CUdriverProcAddressQueryResult *status) {
    string name = symbol;
    bool old = (name == "cuCtxSynchronize" || name == "cuCtxGetDevice") && version < 13000;
    *function = exported(name, !old && !(name == "cuStreamGetCtx" && version < 12050));
    if (settings().lacks.find("," + name + ",") != string::npos) *function = nullptr;
    answer(status, *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
#undef cuGetProcAddress
extern "C" __attribute__((visibility("default"))) CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

CUresult cuProfilerStart() { CALL return CUDA_SUCCESS; }
CUresult cuProfilerStop() { CALL return CUDA_SUCCESS; }

/* STANDIN_PROFILE: one line of JSON of each process, as it ends. */
__attribute__((destructor)) static void report() {
    if (settings().profile.empty() || getpid() != world().process) return;
    std::ofstream out(settings().profile, std::ios::app);
    if (!out) return say("STANDIN_PROFILE: %s can't be written", settings().profile.c_str());
    string calls, bytes, unfreed;
    auto append = [](string &list, const string &item) { list += (list.empty() ? "" : ", ") + item; };
    for (auto &[name, counter] : all_counters()) {
        string key = "\"" + name + "\": ";
        append(calls, key + std::to_string(counter.calls));
        if (counter.bytes) append(bytes, key + std::to_string(counter.bytes));
    }
    for (auto &device : world().devices) append(unfreed, std::to_string(device->allocated.begins().size()));
    out << "{\"calls\": {" << calls << "}, \"bytes\": {" << bytes << "}, \"unfreed\": [" << unfreed;
    out << "], \"page-locked\": " << world().host.allocated.begins().size() << "}\n";
}
