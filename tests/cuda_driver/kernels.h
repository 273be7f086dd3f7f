// Kernels that run: blocks one after the other; threads too, or as fibers if they wait for each other.
#pragma once
#include <cxxabi.h>
#include <setjmp.h>
#include <ucontext.h>

#include "lockstep.h"
#include "modules.h"
#include "streams.h"

/* What this thread, a stream's, is running. */
struct Run {
    Device *device;
    Kernel *kernel;
    const u8 *params;
    Block block;
    std::vector<u8> shared;
    std::vector<u64> visits;  // of each thread to each basic block of the module
    std::vector<u64> passed;  // how many basic blocks each thread has passed, for `lockstep`
    jmp_buf failed;
    CUresult code;
};
static thread_local Run running;

/* A thread of a block whose threads wait for each other, with a stack of its own. */
struct Fiber {
    Thread thread;
    jmp_buf place;
    ucontext_t start;
    bool begun, done;
    u32 number;
};
/* A warp: what its lanes give, what they then all read, and which lanes have come. */
struct Warp {
    u64 given[32], taken[32];
    u32 arrived, ended;
    u64 turn[32];  // exchanges of each lane
};
struct Crowd {
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    std::unique_ptr<u8[]> stacks;
    u64 bytes = 0;
    u64 at_barrier, ended, barriers;
    bool moved;  // a thread went on in this round
    jmp_buf scheduler;
    Fiber *now;
};
static thread_local Crowd crowd;

// --- A kernel that fails

/* A line of PTX, and the line of the source that the .loc before it names. */
static string place_of(const string &file, int wanted) {
    std::ifstream in(file);
    string text, found;
    std::map<unsigned, string> files;
    unsigned number, given, row = 0;
    char name[1024];
    for (int line = 1; std::getline(in, text); line++) {
        if (line == wanted) found = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
        if (line <= wanted) sscanf(text.c_str(), " .loc %u %u", &given, &row);
        if (sscanf(text.c_str(), " .file %u \"%1023[^\"]", &number, name) == 2) files[number] = name;
    }
    if (row) found += "\n  source " + files[given] + ":" + std::to_string(row);
    return "line " + std::to_string(wanted) + " of " + file + ": " + found;
}

static string readable(const char *name) {
    int status;
    char *found = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    string text = found ? found : name;
    free(found);
    return text.size() > 120 ? text.substr(0, 120) + "..." : text;
}

static void kernel_failed(Thread *t, int code, u64 address, u32 size, int line) {
    Block &b = *t->block;
    char what[256] = "trap";
    if (code == CUDA_ERROR_MISALIGNED_ADDRESS) snprintf(what, sizeof what, "address %lu is no multiple of %u", address, size);
    if (code == CUDA_ERROR_LAUNCH_TIMEOUT) strcpy(what, "threads wait for others that never come");
    if (code == CUDA_ERROR_ILLEGAL_ADDRESS) {
        int end = snprintf(what, sizeof what, "%u bytes at %#lx are in no allocation that the device may use", size, address);
        Range near = running.device->has(address) ? running.device->allocated.before(address) : Range{0, 0};
        if (near.size) snprintf(what + end, sizeof what - end, ": %lu bytes from the begin of one of %lu", address - near.begin, near.size);
    }
    say("kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s\n  %s",
        readable(running.kernel->entry->name).c_str(), b.ctaid[0], b.ctaid[1], b.ctaid[2], t->tid[0], t->tid[1],
        t->tid[2], what, place_of(running.kernel->module->ptx, line).c_str());
    running.code = (CUresult)(code == CUDA_ERROR_LAUNCH_TIMEOUT ? CUDA_ERROR_LAUNCH_FAILED : code);
    longjmp(running.failed, 1);
}

/* What a kernel may use at an address: memory of its device, or page-locked memory. */
static Range allocation_for(Thread *, u64 at) {
    if (running.device->has(at)) return running.device->allocated.around(at);
    return world().host.has(at) ? world().host.allocated.around(at) : world().registered.around(at);
}

// --- Threads that wait for each other

static void rest() {
    Fiber *self = crowd.now;
    if (!_setjmp(self->place)) _longjmp(crowd.scheduler, 1);
    crowd.now = self;
}

/* Wait until `ready`; when no thread of the block goes on any more, the kernel fails. */
template <typename F> static void wait_until(F ready) {
    while (!ready()) rest();
    crowd.moved = true;
}

static void barrier(Thread *, int) {
    u64 mine = crowd.barriers;
    crowd.moved = true;
    crowd.at_barrier++;
    wait_until([=] {  // threads that ended do not come
        if (crowd.barriers == mine && crowd.at_barrier + crowd.ended == crowd.fibers.size()) {
            crowd.at_barrier = 0;
            crowd.barriers++;
        }
        return crowd.barriers != mine;
    });
}

static const u64 *exchange(Thread *t, u32 members, u64 value, int line) {
    u32 number = crowd.now->number, lane = number % 32;
    Warp &warp = crowd.warps[number / 32];
    if (!(members >> lane & 1)) kernel_failed(t, CUDA_ERROR_LAUNCH_FAILED, 0, 0, line);
    u64 mine = warp.turn[lane];
    warp.given[lane] = value;
    warp.arrived |= 1u << lane;
    crowd.moved = true;
    wait_until([&] {
        if (warp.turn[lane] != mine) return true;
        if (((warp.arrived | warp.ended) & members) != members) return false;
        for (u32 i = 0; i < 32; i++)
            if (members >> i & 1) {
                warp.taken[i] = warp.given[i];
                warp.turn[i]++;
            }
        warp.arrived &= ~members;
        return true;
    });
    return warp.taken;
}

static void fiber_main() {
    Fiber *self = crowd.now;
    running.kernel->entry->run(&self->thread, running.params, nullptr);
    self->done = crowd.moved = true;
    crowd.ended++;
    crowd.warps[self->number / 32].ended |= 1u << self->number % 32;
    _longjmp(crowd.scheduler, 1);
}

static void resume() {
    if (crowd.now->begun) _longjmp(crowd.now->place, 1);
    crowd.now->begun = true;
    setcontext(&crowd.now->start);
}

static u64 *visits_of(u32 thread) { return running.visits.data() + thread * running.kernel->module->tables.block_count; }

/* A warp issues a basic block as often as the thread that comes there most. */
static void count_instructions(u32 threads) {
    const Tables &tables = running.kernel->module->tables;
    const u32 *b = running.block.ctaid;
    string name = string("kernel ") + running.kernel->entry->name;
    for (u32 first = 0; first < threads; first += 32) {
        u64 taken = 0, issued = 0;
        for (u64 block = 0; block < tables.block_count; block++) {
            u64 most = 0;
            for (u32 i = first; i < std::min(first + 32, threads); i++) {
                most = std::max(most, visits_of(i)[block]);
                taken += tables.blocks[block] * visits_of(i)[block];
            }
            issued += tables.blocks[block] * most;
        }
        counter_of(name + " instructions").calls += taken;
        counter_of(name + " warp instructions").calls += issued;
        if (settings().counted == "lockstep" && !running.kernel->entry->together)
            counter_of(name + " lockstep instructions").calls += in_lockstep(tables, running.passed.data(), first, std::min(first + 32, threads));
        if (settings().counted != "warps") continue;
        char warp[80];
        snprintf(warp, sizeof warp, ", block %u %u %u, warp %u", b[0], b[1], b[2], first / 32);
        counter_of(name + " instructions" + warp).calls += taken;
        counter_of(name + " warp instructions" + warp).calls += issued;
    }
}

static u32 threads_of(const Block &block) { return block.ntid[0] * block.ntid[1] * block.ntid[2]; }

static Thread thread_of(Block &block, u32 i, Range stack) {
    u32 across = block.ntid[0], down = block.ntid[1];
    return {{i % across, i / across % down, i / across / down}, &block, stack, visits_of(i), way_of(i), 0};
}

static void run_together(Block &block) {
    u32 count = threads_of(block);
    u64 size = (65536 + 2 * running.kernel->entry->local + 4095) / 4096 * 4096;
    if (crowd.bytes < size * count) crowd.stacks.reset(new u8[crowd.bytes = size * count]);
    crowd.fibers.resize(count);
    crowd.warps.assign((count + 31) / 32, Warp{});
    if (count % 32) crowd.warps.back().ended = ~0u << count % 32;
    crowd.at_barrier = crowd.ended = crowd.barriers = 0;
    for (u32 i = 0; i < count; i++) {
        Fiber &f = crowd.fibers[i];
        u8 *stack = crowd.stacks.get() + size * i;
        f.thread = thread_of(block, i, {(u64)stack, size});
        f.number = i;
        f.begun = f.done = false;
        getcontext(&f.start);
        f.start.uc_stack = {stack, 0, size};
        f.start.uc_link = nullptr;
        makecontext(&f.start, fiber_main, 0);
    }
    static thread_local u32 at;
    while (crowd.ended < crowd.fibers.size()) {
        crowd.moved = false;
        for (at = 0; at < crowd.fibers.size(); at++) {
            crowd.now = &crowd.fibers[at];
            if (!crowd.now->done && !_setjmp(crowd.scheduler)) resume();
        }
        for (Fiber &f : crowd.fibers)
            if (!crowd.moved && !f.done) kernel_failed(&f.thread, CUDA_ERROR_LAUNCH_TIMEOUT, 0, 0, 0);
    }
}

static void run_alone(Block &block) {
    u8 *here = (u8 *)__builtin_frame_address(0);
    for (u32 i = 0; i < threads_of(block); i++) {
        Thread thread = thread_of(block, i, {(u64)here - (256u << 10), 256u << 10});
        running.kernel->entry->run(&thread, running.params, nullptr);
        running.passed[i] = thread.passed;
    }
}

// --- A grid

/* A card promises no order of blocks: the first is first, last, or drawn by lot. */
static u64 block_at(u64 turn, u64 count, u64 launch) {
    if (settings().order == LATE) return count - 1 - turn;
    if (settings().order != RANDOM) return turn;
    u64 random = (settings().seed + launch) * 0x9E3779B97F4A7C15ull, stride = (random >> 32) % count + 1;
    while (std::__gcd(stride, count) != 1) stride++;
    return (random % count + turn % count * (stride % count)) % count;
}

/* Blocks, threads of each, and bytes of shared memory that the launch adds. */
struct Shape {
    u32 grid[3], block[3], dynamic;
};

static CUresult run_kernel(Device *device, Kernel *kernel, const Shape &shape, const u8 *params, u64 launch) {
    auto &grid = shape.grid;
    u64 data = kernel->module->on(device);
    if (!data && kernel->module->tables.size) return CUDA_ERROR_OUT_OF_MEMORY;
    Block &block = running.block = {};
    memcpy(block.ntid, shape.block, sizeof block.ntid);
    memcpy(block.nctaid, grid, sizeof block.nctaid);
    block.dynamic_size = shape.dynamic;
    block.shared_size = (kernel->entry->shared + 15) / 16 * 16 + shape.dynamic;
    running.shared.resize(block.shared_size + 16);
    block.shared = (u8 *)(((u64)running.shared.data() + 15) / 16 * 16);
    block.data = (u8 *)data;
    block.allocation = allocation_for;
    block.fail = kernel_failed;
    block.barrier = barrier;
    block.exchange = exchange;
    running.device = device, running.kernel = kernel, running.params = params;
    if (setjmp(running.failed)) return running.code;
    u64 count = (u64)grid[0] * grid[1] * grid[2], threads = threads_of(block);
    for (u64 turn = 0; turn < count; turn++) {
        u64 at = block_at(turn, count, launch);
        block.ctaid[0] = at % grid[0], block.ctaid[1] = at / grid[0] % grid[1], block.ctaid[2] = at / grid[0] / grid[1];
        memset(block.shared, 0xA5, block.shared_size);
        running.visits.assign(threads * kernel->module->tables.block_count, 0);
        running.passed.assign(threads, 0);
        kernel->entry->together ? run_together(block) : run_alone(block);
        if (!running.visits.empty()) count_instructions(threads);
    }
    return CUDA_SUCCESS;
}

static CUresult launch(Device *device, Kernel *kernel, const Shape &shape, CUstream handle, void **values) {
    const Entry &entry = *kernel->entry;
    auto &grid = shape.grid, &size = shape.block;
    u64 threads = (u64)size[0] * size[1] * size[2], blocks = (u64)grid[0] * grid[1] * grid[2];
    if (!threads || size[0] > 1024 || size[1] > 1024 || size[2] > 64 || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
    if (!blocks || grid[0] > INT32_MAX || grid[1] > 65535 || grid[2] > 65535) return CUDA_ERROR_INVALID_VALUE;
    if (entry.shared + shape.dynamic > 49152) return CUDA_ERROR_INVALID_VALUE;
    auto stream = stream_of(device, handle);
    if (!stream || stream->device != device) return CUDA_ERROR_INVALID_HANDLE;
    std::vector<u8> params(entry.size + 16);
    for (u32 i = 0; i < entry.count; i++)
        memcpy(params.data() + entry.params[i].offset, values[i], entry.params[i].size);
    static Counter &all = counter_of("kernel");
    submit(stream, [=] {
        long call = ++all.calls;
        kernel->counter->calls++;
        kernel->threads->calls += threads * blocks;
        int code = settings().fault("kernel", call);
        if (!code) code = run_kernel(device, kernel, shape, params.data(), call);
        if (code) device->error = code;
    });
    return CUDA_SUCCESS;
}
