// Warps whose lanes go together: those that part at a branch wait for each other where their ways meet.
#pragma once
#include <sys/mman.h>

#include "settings.h"

/* Room for the basic blocks that a thread passes. Pages take memory as they are written. */
static u16 *way_of(u32 thread) {
    if (settings().counted != "lockstep") return nullptr;
    static thread_local u16 *ways = (u16 *)mmap(nullptr, 1024 * sizeof(u16) * (u64)WAY, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return ways + (u64)WAY * thread;
}

/* Where all ways from each basic block meet first: its immediate post-dominator; block_count: at the end. */
static std::vector<u32> meeting_places(const Tables &tables) {
    u32 end = tables.block_count, words = end / 64 + 1;
    using Set = std::vector<u64>;
    std::vector<std::vector<u32>> next(end);
    std::vector<Set> after(end + 1, Set(words, ~0ul));  // the blocks that all ways from here pass
    for (u64 i = 0; i < tables.edge_count; i++) next[tables.edges[i].from].push_back(tables.edges[i].to);
    auto put = [](Set &set, u32 b) { set[b / 64] |= 1ul << b % 64; };
    auto has = [](const Set &set, u32 b) { return set[b / 64] >> b % 64 & 1; };
    auto count = [&](u32 b) { u32 n = 0; for (u32 c = 0; c <= end; c++) n += has(after[b], c); return n; };
    after[end].assign(words, 0);
    put(after[end], end);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 b = end; b--;) {
            Set now = next[b].empty() ? after[end] : Set(words, ~0ul);
            for (u32 to : next[b])
                for (u32 w = 0; w < words; w++) now[w] &= after[to][w];
            put(now, b);
            changed |= now != after[b];
            after[b] = now;
        }
    }
    std::vector<u32> found(end, end), counts(end + 1);
    for (u32 b = 0; b <= end; b++) counts[b] = count(b);
    for (u32 b = 0; b < end; b++)
        for (u32 c = 0; c <= end; c++)
            if (c != b && has(after[b], c) && counts[c] == counts[b] - 1) found[b] = c;
    return found;
}

struct Lockstep {
    const Tables &tables;
    const std::vector<u32> &meets;
    u16 *way[32];
    u64 left[32], issued;

    u32 place(u32 lane) const { return left[lane] ? *way[lane] : tables.block_count; }

    /* Run lanes, which are at the same place, until they come to another one; return those that do. */
    u32 run(u32 lanes, u32 until) {
        while (lanes) {
            u32 here = place(__builtin_ctz(lanes)), others = 0;
            if (here == until || here == tables.block_count) return here == until ? lanes : 0;
            issued += tables.blocks[here];
            for (u32 m = lanes; m; m &= m - 1) way[__builtin_ctz(m)]++, left[__builtin_ctz(m)]--;
            u32 meet = meets[here], parted = lanes;
            lanes = 0;
            while (parted) {
                u32 to = place(__builtin_ctz(parted));
                for (u32 m = others = parted; m; m &= m - 1)
                    if (place(__builtin_ctz(m)) != to) others &= ~(m & -m);
                bool all = !lanes && others == parted;
                parted &= ~others;
                lanes |= all || to == meet ? others : run(others, meet);
            }
        }
        return 0;
    }
};

/* The instructions that a warp of threads issues; `passed`: how many basic blocks each has passed. */
static u64 in_lockstep(const Tables &tables, const u64 *passed, u32 first, u32 end) {
    static std::mutex lock;
    static std::map<const u32 *, std::vector<u32>> known;
    std::unique_lock<std::mutex> held(lock);
    auto &meets = known[tables.blocks];
    if (meets.empty()) meets = meeting_places(tables);
    held.unlock();
    Lockstep warp{tables, meets, {}, {}, 0};
    for (u32 i = first; i < end; i++) {
        warp.way[i - first] = way_of(i), warp.left[i - first] = passed[i];
        if (passed[i] == WAY) say("a thread passed more than %d basic blocks: the rest is not counted", WAY);
    }
    warp.run(~0u >> (32 - (end - first)), tables.block_count);
    return warp.issued;
}
