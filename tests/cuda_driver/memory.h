// Devices and their memory: addresses of the host that only this device's kernels may use.
#pragma once
#include <sys/mman.h>

#include <condition_variable>
#include <memory>
#include <set>

#include "settings.h"

class Stream;

/* Ranges of addresses, which do not overlap. */
class Ranges {
    std::mutex lock;
    std::map<u64, u64> sizes;  // address -> size

public:
    bool add(u64 at, u64 size) {
        std::lock_guard<std::mutex> held(lock);
        return sizes.emplace(at, size).second;
    }
    /* Forget the range that begins at an address; return its size, or 0. */
    u64 remove(u64 at) {
        std::lock_guard<std::mutex> held(lock);
        auto found = sizes.extract(at);
        return found ? found.mapped() : 0;
    }
    /* The last range that begins at an address or before; an empty one if there is none. */
    Range before(u64 at) {
        std::lock_guard<std::mutex> held(lock);
        auto after = sizes.upper_bound(at);
        return after == sizes.begin() ? Range{0, 0} : Range{std::prev(after)->first, std::prev(after)->second};
    }
    /* The range that has an address, or an empty one. */
    Range around(u64 at) {
        Range found = before(at);
        return at - found.begin < found.size ? found : Range{0, 0};
    }
    std::vector<u64> begins() {
        std::lock_guard<std::mutex> held(lock);
        std::vector<u64> all;
        for (auto &[at, size] : sizes) all.push_back(at);
        return all;
    }
};

struct Device {
    int index;               // -1: page-locked memory of the host
    const Card *card;
    u64 begin, next;         // addresses of its memory; the next one: none is used twice
    u64 total, used = 0;     // bytes
    Ranges allocated;
    std::mutex lock;         // of `next` and `used`
    std::atomic<int> error{0};  // of a kernel that failed: it stays until the context is reset
    std::shared_ptr<Stream> main;  // the default stream
    std::set<std::shared_ptr<Stream>> streams;

    static constexpr u64 WINDOW = 1ull << 38, PAGE = 4096;
    bool has(u64 at) const { return at - begin < WINDOW; }
    static u64 rounded(u64 size, u64 unit) { return (size + unit - 1) / unit * unit; }

    Device(int index, u64 begin, const Card *card, u64 total)
        : index(index), card(card), begin(begin), next(begin), total(total) {}
    /* New memory is filled with 0xA5, and a page that can't be touched is behind it. */
    CUresult allocate(u64 size, u64 *made) {
        if (!size) return CUDA_ERROR_INVALID_VALUE;
        std::lock_guard<std::mutex> held(lock);
        u64 whole = rounded(size, 256), pages = rounded(size, PAGE);
        if (used + whole > total) return CUDA_ERROR_OUT_OF_MEMORY;
        if (next + pages + PAGE > begin + WINDOW) REFUSE("a device has addresses for 256 GiB in all, and they are used up");
        if (mprotect((void *)next, pages, PROT_READ | PROT_WRITE)) return CUDA_ERROR_OUT_OF_MEMORY;
        if (size <= 256u << 20) memset((void *)next, 0xA5, size);
        allocated.add(next, size);
        *made = next;
        next += pages + PAGE;
        used += whole;
        return CUDA_SUCCESS;
    }
    CUresult release(u64 at) {
        std::lock_guard<std::mutex> held(lock);
        u64 size = allocated.remove(at);
        if (!size) return CUDA_ERROR_INVALID_VALUE;
        madvise((void *)at, rounded(size, PAGE), MADV_DONTNEED);
        mprotect((void *)at, rounded(size, PAGE), PROT_NONE);
        used -= rounded(size, 256);
        return CUDA_SUCCESS;
    }
};

struct World {
    std::mutex lock;
    std::vector<std::unique_ptr<Device>> devices;
    u64 window = reserve(settings().cards.size() + 1);
    Device host{-1, window, nullptr, 1ull << 40};
    Ranges registered;  // host memory that the program page-locked
    std::atomic<bool> initialised{false};
    pid_t process = getpid();

    World() {
        for (auto &[card, place] : settings().cards) {
            u64 total = settings().memory ? settings().memory : card->memory;
            devices.push_back(std::make_unique<Device>((int)devices.size(), window += Device::WINDOW, card, total));
        }
    }
    /* One reservation, so that nothing else lies among the devices' memory. */
    static u64 reserve(size_t count) {
        void *all = mmap(nullptr, Device::WINDOW * count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) REFUSE("no address space for %zu devices", count - 1);
        return (u64)all;
    }
};
static World &world() { return forever<World>(); }

/* The device (or the host, as one) whose memory has an address, or null. */
static Device *owner(u64 at) {
    for (auto &device : world().devices)
        if (device->has(at)) return device.get();
    return world().host.has(at) ? &world().host : nullptr;
}

static bool covers(Range range, u64 at, u64 size) {
    return at - range.begin < range.size && size <= range.size - (at - range.begin);
}

static bool page_locked(u64 at, u64 size) {
    return covers(world().host.allocated.around(at), at, size) || covers(world().registered.around(at), at, size);
}
