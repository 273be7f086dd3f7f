// A stand-in for libnvJitLink: the real one links to PTX, which driver.cpp takes for machine code.
// run.py preloads it under the real library's name, so that cuda-pathfinder finds it loaded.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <vector>

using std::string;
typedef int Result;
typedef void *Handle;
enum { SUCCESS = 0, ERROR_PTX_COMPILE = 4, INPUT_PTX = 2 };

static void *or_end(void *found, const char *name) {
    if (found) return found;
    fprintf(stderr, "stand-in driver: the real libnvJitLink, STANDIN_NVJITLINK: %s: %s\n", name, dlerror());
    _Exit(2);
}

/* A function of the real library, whose exported names end with a version; FIRST: the oldest. */
template <typename F> static F *real(const char *name) {
    static const char *path = getenv("STANDIN_NVJITLINK");
    static void *library = or_end(path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr, "it can't be opened");
    void *found = dlsym(library, (string("__") + name + FIRST).c_str());
    return (F *)or_end(found ? found : dlsym(library, name), name);
}

struct Input { int kind; string data, name; };
struct Link {
    std::vector<string> options;
    std::vector<Input> inputs;
    string image, ptx, info, error;
};

static string text_of(Handle handle, const char *what) {
    size_t size = 0;
    string name = what;
    if (real<Result(Handle, size_t *)>((name + "Size").c_str())(handle, &size) || !size) return "";
    string text(size, 0);
    real<Result(Handle, char *)>(what)(handle, text.data());
    return text;
}

/* Link for real, to PTX. */
static Result link_to_ptx(Link &link) {
    std::vector<const char *> options;
    for (auto &option : link.options) options.push_back(option.c_str());
    options.push_back("-ptx");
    Handle handle = nullptr;
    Result code = real<Result(Handle *, uint32_t, const char **)>("nvJitLinkCreate")(&handle, options.size(), options.data());
    for (auto &input : link.inputs)
        if (!code)
            code = real<Result(Handle, int, const void *, size_t, const char *)>("nvJitLinkAddData")(
                handle, input.kind, input.data.data(), input.data.size(), input.name.c_str());
    if (!code) code = real<Result(Handle)>("nvJitLinkComplete")(handle);
    if (handle) {
        link.info = text_of(handle, "nvJitLinkGetInfoLog");
        link.error = text_of(handle, "nvJitLinkGetErrorLog");
        if (!code) link.ptx = text_of(handle, "nvJitLinkGetLinkedPtx");
        real<Result(Handle *)>("nvJitLinkDestroy")(&handle);
    }
    return code;
}

static Result complete(Link &link) {
    auto has = [&](const char *option) { return std::count(link.options.begin(), link.options.end(), option); };
    if (has("-lto")) {
        if (Result code = link_to_ptx(link)) return code;
    } else {
        for (auto &input : link.inputs) {
            if (input.kind != INPUT_PTX) {
                link.error = "stand-in driver: without -lto, only PTX can be linked; " + input.name + " is of kind " + std::to_string(input.kind);
                return ERROR_PTX_COMPILE;
            }
            link.ptx += string(input.data.c_str()) + "\n";
        }
    }
    string text = link.ptx.c_str();  // without the zero at its end
    uint64_t size = text.size();
    if (!has("-ptx")) link.image = "STANDPTX" + string((char *)&size, 8) + text;
    return SUCCESS;
}

#define API extern "C" __attribute__((visibility("default"))) Result
#define OUTPUT(name, field)                                                                         \
    API nvJitLinkGet##name##Size(Handle handle, size_t *size) { *size = ((Link *)handle)->field.size(); return SUCCESS; } \
    API nvJitLinkGet##name(Handle handle, void *into) { string &text = ((Link *)handle)->field; memcpy(into, text.data(), text.size()); return SUCCESS; }

API nvJitLinkCreate(Handle *handle, uint32_t count, const char **options) { *handle = new Link{{options, options + count}, {}, {}, {}, {}, {}}; return SUCCESS; }
API nvJitLinkDestroy(Handle *handle) { delete (Link *)*handle; *handle = nullptr; return SUCCESS; }
API nvJitLinkAddData(Handle handle, int kind, const void *data, size_t size, const char *name) {
    ((Link *)handle)->inputs.push_back({kind, string((const char *)data, size), name ? name : ""});
    return SUCCESS;
}
API nvJitLinkComplete(Handle handle) { return complete(*(Link *)handle); }
OUTPUT(LinkedCubin, image)
OUTPUT(LinkedPtx, ptx)
OUTPUT(ErrorLog, error)
OUTPUT(InfoLog, info)
API nvJitLinkVersion(unsigned *major, unsigned *minor) { return real<Result(unsigned *, unsigned *)>("nvJitLinkVersion")(major, minor); }
