// Devices and their memory: addresses of the host that only this device's kernels may use.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <set>

#include "settings.h"

class Stream;

struct Device {
    int index;                     // -1: page-locked memory of the host
    const Card *card;
    u64 begin, next;               // addresses of its memory; the next one: none is used twice
    u64 total, used = 0;           // bytes
    std::map<u64, u64> allocated;  // address -> size
    std::mutex lock;
    std::atomic<int> error{0};     // of a kernel that failed: it stays until the context is reset
    std::atomic<int> retained{0};
    std::shared_ptr<Stream> main;  // the default stream
    std::set<std::shared_ptr<Stream>> streams;

    static constexpr u64 WINDOW = 1ull << 38, PAGE = 4096;
    bool has(u64 at) const { return at - begin < WINDOW; }

    /* The allocation that has an address, or an empty range. */
    Range allocation(u64 at) {
        Range found = before(at);
        return at - found.begin < found.size ? found : Range{0, 0};
    }
    /* The last allocation that begins at an address or before. */
    Range before(u64 at) {
        std::lock_guard<std::mutex> held(lock);
        auto found = allocated.upper_bound(at);
        if (found == allocated.begin()) return {0, 0};
        --found;
        return {found->first, found->second};
    }
    /* New memory is filled with 0xA5, and a page that can't be touched is behind it. */
    CUresult allocate(u64 size, u64 *made) {
        if (!size) return CUDA_ERROR_INVALID_VALUE;
        std::lock_guard<std::mutex> held(lock);
        u64 whole = (size + 255) / 256 * 256, pages = (size + PAGE - 1) / PAGE * PAGE;
        if (used + whole > total) return CUDA_ERROR_OUT_OF_MEMORY;
        if (next + pages + PAGE > begin + WINDOW) REFUSE("a device has addresses for 256 GiB in all, and they are used up");
        if (mprotect((void *)next, pages, PROT_READ | PROT_WRITE)) return CUDA_ERROR_OUT_OF_MEMORY;
        if (size <= 256u << 20) memset((void *)next, 0xA5, size);
        allocated[next] = size;
        *made = next;
        next += pages + PAGE;
        used += whole;
        return CUDA_SUCCESS;
    }
    CUresult release(u64 at) {
        std::lock_guard<std::mutex> held(lock);
        auto found = allocated.find(at);
        if (found == allocated.end()) return CUDA_ERROR_INVALID_VALUE;
        u64 pages = (found->second + PAGE - 1) / PAGE * PAGE;
        madvise((void *)at, pages, MADV_DONTNEED);
        mprotect((void *)at, pages, PROT_NONE);
        used -= (found->second + 255) / 256 * 256;
        allocated.erase(found);
        return CUDA_SUCCESS;
    }
};

struct World {
    std::mutex lock;
    std::vector<std::unique_ptr<Device>> devices;
    Device host;
    std::map<u64, u64> registered;  // host memory that the program page-locked: address -> size
    std::atomic<bool> initialised{false};
    pid_t process = getpid();

    World() {
        auto &cards = settings().cards;
        // One reservation, so that nothing else lies among the devices' memory.
        void *all = mmap(nullptr, Device::WINDOW * (cards.size() + 1), PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) REFUSE("no address space for %zu devices", cards.size());
        place(host, -1, (u64)all, nullptr, 1ull << 40);
        for (size_t i = 0; i < cards.size(); i++) {
            devices.push_back(std::make_unique<Device>());
            u64 total = settings().memory ? settings().memory : cards[i]->memory;
            place(*devices.back(), (int)i, (u64)all + Device::WINDOW * (i + 1), cards[i], total);
        }
    }
    static void place(Device &device, int index, u64 begin, const Card *card, u64 total) {
        device.index = index;
        device.card = card;
        device.begin = device.next = begin;
        device.total = total;
    }
};
static World &world() {
    static World *made = new World;
    return *made;
}

/* The device (or the host, as one) whose memory has an address, or null. */
static Device *owner(u64 at) {
    for (auto &device : world().devices)
        if (device->has(at)) return device.get();
    return world().host.has(at) ? &world().host : nullptr;
}

static Range registered(u64 at) {
    std::lock_guard<std::mutex> held(world().lock);
    auto found = world().registered.upper_bound(at);
    if (found == world().registered.begin()) return {0, 0};
    --found;
    return at - found->first < found->second ? Range{found->first, found->second} : Range{0, 0};
}

static bool covers(Range range, u64 at, u64 size) {
    return at - range.begin < range.size && size <= range.size - (at - range.begin);
}

static bool page_locked(u64 at, u64 size) {
    return covers(world().host.allocation(at), at, size) || covers(registered(at), at, size);
}

/* What a kernel of a device may use at an address: its memory, or page-locked memory. */
static Range usable(Device *device, u64 at) {
    if (device->has(at)) return device->allocation(at);
    return world().host.has(at) ? world().host.allocation(at) : registered(at);
}
