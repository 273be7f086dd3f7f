// What the environment orders (the table in README.md), and what is counted.
#pragma once
#include <cuda.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime.h"

using std::string;

struct Card {
    const char *key, *name;
    u64 memory;
    int capability;  // 90: 9.0
    std::map<CUdevice_attribute, int> attributes;
};
#include "cards.h"  // made from cards.toml by run.py

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char text[2048];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "stand-in driver: %s\n", text);
}

/* Ends the process: a wrong setting must not pass for a driver that failed. */
#define REFUSE(...) (say(__VA_ARGS__), _exit(2))
#define FAILED(code, ...) (say(__VA_ARGS__), code)

/* The one object of a type. It outlives the process, because Python then still calls the driver. */
template <typename T> static T &forever() {
    static T *made = new T;
    return *made;
}

static string setting(const char *name, const char *otherwise = "") {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static std::vector<string> words(const string &text) {
    std::vector<string> found;
    std::stringstream in(text);
    for (string word; std::getline(in, word, ',');) found.push_back(word);
    return found;
}

/* A function of this library, of its newest version or of the first, or null. */
static void *exported(const string &name, bool newest = true) {
    Dl_info here;
    dladdr((void *)&exported, &here);
    static void *self = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    void *found = nullptr;
    for (const char *version : {"_v4", "_v3", "_v2", ""})
        if (!found && (newest || !*version)) found = dlsym(self, (name + version).c_str());
    return found;
}

/* Calls `from` to `to` of a function, or of "kernel" and "copy" as they run, end with a code. */
struct Fault {
    string name;
    long from, to;
    int code;
};

static Fault read_fault(const string &text) {
    char name[128], range[64], rest;
    int code;
    if (sscanf(text.c_str(), "%127[^:]:%63[0-9-]:%d%c", name, range, &code, &rest) != 3)
        REFUSE("STANDIN_FAIL is '%s', not NAME:CALLS:CODE", text.c_str());
    if (strcmp(name, "kernel") && strcmp(name, "copy") && !exported(name))
        REFUSE("STANDIN_FAIL names %s, which the stand-in does not have", name);
    char *dash;
    long from = strtol(range, &dash, 10), to = from;
    if (*dash) to = dash[1] ? strtol(dash + 1, nullptr, 10) : INT64_MAX;
    return {name, from, to, code};
}

enum Order { EAGER, LATE, RANDOM, SYNCHRONOUS };

struct Settings {
    using Place = std::pair<const Card *, size_t>;  // a card, and its number among all
    Order order = EAGER;
    u64 seed = strtoull(setting("STANDIN_SEED", "1").c_str(), nullptr, 10);
    u64 memory = 0;  // bytes; 0: what the card has
    std::vector<Fault> faults;
    std::vector<Place> cards;  // those that CUDA_VISIBLE_DEVICES leaves
    int version = atoi(setting("STANDIN_VERSION", "0").c_str());  // of the driver; 0: of cuda.h
    string lacks = "," + setting("STANDIN_LACKS") + ",";  // functions that it does not have
    string profile = setting("STANDIN_PROFILE");
    string counted = setting("STANDIN_COUNT");  // "1"; "warps" or "lockstep" too
    string cache = setting("STANDIN_CACHE", MODULES);

    Settings() {
        const std::vector<string> orders = {"eager", "late", "random", "synchronous"};
        string wanted = setting("STANDIN_ORDER", "eager");
        order = Order(std::find(orders.begin(), orders.end(), wanted) - orders.begin());
        if (order > SYNCHRONOUS) REFUSE("STANDIN_ORDER is '%s', not eager, late, random or synchronous", wanted.c_str());
        for (auto &text : words(setting("STANDIN_FAIL"))) faults.push_back(read_fault(text));
        read_cards(setting("STANDIN_CARDS", "h100"));
        char unit = 0, rest;
        string size = setting("STANDIN_MEMORY", "0");
        if (sscanf(size.c_str(), "%lu%c%c", &memory, &unit, &rest) > 2 || !isdigit(size[0]) || !strchr("KMG", unit))
            REFUSE("STANDIN_MEMORY is '%s', not a number of bytes, or one with K, M or G", size.c_str());
        memory <<= unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
    }
    void read_cards(const string &text) {
        string known;
        for (auto &card : CARDS) known += string(known.empty() ? "" : ", ") + card.key;
        for (auto &word : words(text == "none" ? "" : text)) {
            auto found = std::find_if(CARDS.begin(), CARDS.end(), [&](auto &card) { return word == card.key; });
            if (found == CARDS.end()) REFUSE("STANDIN_CARDS names '%s'; known: %s, none", word.c_str(), known.c_str());
            cards.push_back({&*found, cards.size()});
        }
        if (cards.size() > 8) REFUSE("STANDIN_CARDS has %zu cards; at most 8", cards.size());
        if (!getenv("CUDA_VISIBLE_DEVICES")) return;
        auto all = std::exchange(cards, {});
        for (auto &word : words(getenv("CUDA_VISIBLE_DEVICES"))) {  // up to a wrong one
            auto named = [&](auto &each) { return word == std::to_string(each.second) || (word.size() > 4 && !uuid(each).rfind(word, 0)); };
            auto found = std::find_if(all.begin(), all.end(), named);
            if (found == all.end()) return;
            cards.push_back(*found);
        }
    }
    /* What nvidia-smi -L would call a card; a MIG device has an own name. */
    static string uuid(const Place &card) {
        return (strstr(card.first->name, "MIG") ? "MIG-" : "GPU-") + string("fafafafa-fafa-fafa-fafa-fafafafafa0") + std::to_string(card.second);
    }
    int fault(const string &name, long call) const {
        for (auto &each : faults)
            if (each.name == name && call >= each.from && call <= each.to) return each.code;
        return 0;
    }
};

static Settings &settings() { return forever<Settings>(); }

// --- What is counted: calls and bytes of functions, of "kernel" and "copy", and of each kernel

struct Counter {
    std::atomic<long> calls{0}, bytes{0};
};

static std::map<string, Counter> &all_counters() { return forever<std::map<string, Counter>>(); }
static Counter &counter_of(const string &name) {
    static std::mutex lock;
    std::lock_guard<std::mutex> held(lock);
    return all_counters()[name];
}

static string without_version(const string &name) {
    size_t at = name.rfind("_v");
    return at != string::npos && isdigit(name[at + 2]) ? name.substr(0, at) : name;
}
