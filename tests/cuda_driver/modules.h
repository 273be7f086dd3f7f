// Modules: PTX is translated (translate.py), compiled, and opened as a shared library.
#pragma once
#include <errno.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

#include "memory.h"

extern char **environ;

struct Module;
struct Kernel {
    Module *module;
    const Entry *entry;
    Counter *counter, *threads;
};
struct Module {
    string ptx;  // the file, for messages
    Tables tables;
    std::map<string, Kernel> kernels;
    std::mutex lock;
    std::map<Device *, u64> places;

    /* The module's variables on a device, which begin with their first values. */
    u64 on(Device *device) {
        std::lock_guard<std::mutex> held(lock);
        u64 &at = places[device];
        if (at || !tables.size || device->allocate(tables.size, &at)) return at;
        memcpy((void *)at, tables.data, tables.size);
        return at;
    }
    void unload() {
        std::lock_guard<std::mutex> held(lock);
        for (auto &[device, at] : places) device->release(at);
        places.clear();
    }
};

/* Run the translator, without the stand-in and (-I) without the program's settings of Python. */
static bool translate(const string &ptx, const string &library) {
    string python = setting("STANDIN_PYTHON", "python3");
    const char *command[] = {"env", "-u", "LD_PRELOAD", python.c_str(), "-I", SOURCE "/translate.py", ptx.c_str(), library.c_str(), nullptr};
    pid_t child;
    if (posix_spawnp(&child, command[0], nullptr, nullptr, (char **)command, environ)) return false;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status == 0;
}

/* The PTX of an image: plain text, or what linker.cpp puts behind a mark; empty if there is none. */
static string ptx_of(const char *image) {
    if (!memcmp(image, "STANDPTX", 8)) return string(image + 16, *(const u64 *)(image + 8));
    return memcmp(image, "\177ELF", 4) && strstr(image, ".version") ? image : "";
}

static CUresult load(const void *image, Module **made) {
    string text = ptx_of((const char *)image);
    if (text.empty()) return FAILED(CUDA_ERROR_INVALID_IMAGE, "a module without PTX: was this process started by run.py?");
    string stem = settings().cache + "/" + std::to_string(std::hash<string>()(text)) + "-" + std::to_string(text.size());
    if (!settings().counted.empty()) stem += settings().counted == "lockstep" ? "-lockstep" : "-counted";
    string library = stem + ".so";
    mkdir(settings().cache.c_str(), 0777);
    if (access(library.c_str(), R_OK)) {
        string draft = stem + "." + std::to_string(getpid()) + ".ptx";
        if (!(std::ofstream(draft) << text).flush()) return FAILED(CUDA_ERROR_OPERATING_SYSTEM, "%s can't be written", draft.c_str());
        bool translated = translate(draft, library);
        rename(draft.c_str(), (stem + ".ptx").c_str());
        if (!translated) return CUDA_ERROR_INVALID_PTX;
    }
    void *opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened) return FAILED(CUDA_ERROR_INVALID_IMAGE, "%s", dlerror());
    auto *module = new Module{stem + ".ptx", *(const Tables *)dlsym(opened, "tables"), {}, {}, {}};
    for (u64 i = 0; i < module->tables.entry_count; i++) {
        const Entry *entry = &module->tables.entries[i];
        string name = string("kernel ") + entry->name;
        module->kernels[entry->name] = {module, entry, &counter_of(name), &counter_of(name + " threads")};
    }
    *made = module;
    return CUDA_SUCCESS;
}
