/* What the C of a translated module stands on: PTX's types and arithmetic, checked memory, and what
   a kernel asks of the driver (kernels.h). */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef __int128 i128; typedef unsigned __int128 u128;

typedef struct { u64 begin, size; } Range;

/* A thread that runs, and its block. The stack holds PTX's local memory. */
typedef struct Thread {
    u32 tid[3];
    struct Block *block;
    Range stack;
    u64 *visits;  // of each basic block, where instructions are counted
    u16 *way;     // the basic blocks that it has passed, for STANDIN_COUNT=lockstep
    u64 passed;
} Thread;
enum { WAY = 1 << 26 };  // at most

enum { SITES = 64 };
typedef struct Block {
    u32 ntid[3], ctaid[3], nctaid[3];
    u32 shared_size, dynamic_size;
    u8 *shared;
    u8 *data;             // the module's variables, on this device
    Range recent[SITES];  // the allocations that instructions used last
    Range (*allocation)(Thread *, u64 address);
    void (*fail)(Thread *, int code, u64 address, u32 size, int line);
    void (*barrier)(Thread *, int line);
    const u64 *(*exchange)(Thread *, u32 members, u64 value, int line);
} Block;

/* What a translated module exports, as `tables`. */
typedef struct { u32 offset, size; } Parameter;
typedef struct {
    const char *name;
    void (*run)(Thread *, const u8 *params, u8 *result);
    const Parameter *params;
    u32 count, size;    // of the parameters
    u32 shared, local;  // bytes of memory
    int together;       // its threads wait for each other
} Entry;
typedef struct { const char *name; u64 offset, size; } Variable;
typedef struct { u32 from, to; } Edge;
typedef struct {
    const Entry *entries;
    const Variable *variables;
    const u32 *blocks;  // instructions of each basic block, where they are counted
    const u8 *data;     // first values of the variables
    const Edge *edges;  // from basic blocks to those that may follow
    u64 entry_count, variable_count, block_count, size, edge_count;
} Tables;

#ifndef __cplusplus
#define INLINE static inline __attribute__((always_inline))

INLINE float as_f32(u32 bits) { float v; memcpy(&v, &bits, 4); return v; }
INLINE double as_f64(u64 bits) { double v; memcpy(&v, &bits, 8); return v; }
INLINE u32 bits_f32(float v) { u32 bits; memcpy(&bits, &v, 4); return bits; }
INLINE u64 bits_f64(double v) { u64 bits; memcpy(&bits, &v, 8); return bits; }

/* --- Arithmetic. min and max: a number wins over NaN, and -0 is less than +0. */
#define EXTREMES(kind, type)                                                                     \
    INLINE type min_##kind(type a, type b)                                                       \
    { return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b; }            \
    INLINE type max_##kind(type a, type b)                                                       \
    { return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && !signbit(a)) ? a : b; }
EXTREMES(f32, float)
EXTREMES(f64, double)

/* A division by zero sets all bits; a shift by the width or more leaves nothing, or the sign. */
#define INTEGERS(bits)                                                                           \
    INLINE u##bits div_u##bits(u##bits a, u##bits b) { return b ? a / b : (u##bits)-1; }         \
    INLINE u##bits rem_u##bits(u##bits a, u##bits b) { return b ? a % b : a; }                   \
    INLINE i##bits div_s##bits(i##bits a, i##bits b) { return !b ? -1 : b == -1 ? -a : a / b; }  \
    INLINE i##bits rem_s##bits(i##bits a, i##bits b) { return !b ? a : b == -1 ? 0 : a % b; }    \
    INLINE u##bits shl_u##bits(u##bits a, u32 n) { return n < bits ? (u##bits)(a << n) : 0; }    \
    INLINE u##bits shr_u##bits(u##bits a, u32 n) { return n < bits ? a >> n : 0; }               \
    INLINE i##bits shr_s##bits(i##bits a, u32 n) { return a >> (n < bits ? n : bits - 1); }
INTEGERS(16)
INTEGERS(32)
INTEGERS(64)

#define FIELDS(bits)                                                                             \
    INLINE u##bits low_##bits(u32 n) { return n < bits ? ((u##bits)1 << n) - 1 : (u##bits)-1; }  \
    INLINE u##bits bfe_u##bits(u##bits a, u32 at, u32 n)                                         \
    { return shr_u##bits(a, at & 255) & low_##bits(n & 255); }                                   \
    INLINE i##bits bfe_s##bits(i##bits a, u32 at, u32 n)                                         \
    { at &= 255, n &= 255;                                                                       \
      if (!n) return 0;                                                                          \
      u32 last = at + n - 1 < bits ? at + n - 1 : bits - 1; /* the bit that becomes the sign */  \
      u##bits sign = (a >> last) & 1 ? ~low_##bits(n) : 0;                                       \
      return (shr_s##bits(a, at) & low_##bits(n)) | sign; }                                      \
    INLINE u##bits bfi_u##bits(u##bits a, u##bits b, u32 at, u32 n)                              \
    { u##bits field = shl_u##bits(low_##bits(n & 255), at & 255);                                \
      return (b & ~field) | (shl_u##bits(a, at & 255) & field); }                                \
    INLINE u##bits brev_u##bits(u##bits a)                                                       \
    { u##bits r = 0; for (int i = 0; i < bits; i++) r = r << 1 | ((a >> i) & 1); return r; }
FIELDS(32)
FIELDS(64)

INLINE u32 at_most_32(u32 n) { return n < 32 ? n : 32; }

INLINE u32 prmt_u32(u32 a, u32 b, u32 c)
{
    u32 r = 0;
    for (int i = 0; i < 4; i++) {
        u32 choice = c >> 4 * i & 15, byte = ((u64)b << 32 | a) >> 8 * (choice & 7) & 255;
        r |= (choice & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    return r;
}

/* Numbers to integers: clamped; NaN is 0, or the sign bit alone if 64 bits take part. */
#define TO(way, f, to, type, kind, real, low, high, nan)                                         \
    INLINE type way##_##to##_##kind(real a)                                                      \
    { if (isnan(a)) return (type)(nan); a = f(a);                                                \
      return a <= (real)(low) ? (type)(low) : a >= (real)(high) ? (type)(high) : (type)a; }
#define TO_EACH(way, f, kind, real, few)                                                         \
    TO(way, f, s16, i16, kind, real, INT16_MIN, INT16_MAX, few << 15)                            \
    TO(way, f, u16, u16, kind, real, 0, UINT16_MAX, few << 15)                                   \
    TO(way, f, s32, i32, kind, real, INT32_MIN, INT32_MAX, few << 31)                            \
    TO(way, f, u32, u32, kind, real, 0, UINT32_MAX, few << 31)                                   \
    TO(way, f, s64, i64, kind, real, INT64_MIN, INT64_MAX, 1ull << 63)                           \
    TO(way, f, u64, u64, kind, real, 0, UINT64_MAX, 1ull << 63)
#define TO_ALL(way, round) TO_EACH(way, round##f, f32, float, 0ull) TO_EACH(way, round, f64, double, 1ull)
TO_ALL(rzi, trunc)
TO_ALL(rni, rint)
TO_ALL(rmi, floor)
TO_ALL(rpi, ceil)

/* --- Memory. Each access is in one allocation that its device may use, and aligned. */
INLINE int within(u64 a, u32 size, Range r) { return a - r.begin < r.size && r.size - (a - r.begin) >= size; }

INLINE void *checked(Thread *t, u64 a, u32 size, int line, Range range, u64 base)
{
    if (!within(a, size, range)) t->block->fail(t, 700, a, size, line);
    if (a & (size - 1)) t->block->fail(t, 716, a, size, line);
    return (void *)(base + a);
}
INLINE Range shared_window(Thread *t) { return (Range){(u64)t->block->shared, t->block->shared_size}; }
INLINE void *global_at(Thread *t, u64 a, u32 size, int line)
{
    Range *recent = &t->block->recent[line % SITES];
    if (!within(a, size, *recent)) *recent = t->block->allocation(t, a);
    return checked(t, a, size, line, *recent, 0);
}
INLINE void *shared_at(Thread *t, u64 a, u32 size, int line)
{ return checked(t, a, size, line, (Range){0, t->block->shared_size}, (u64)t->block->shared); }
INLINE void *local_at(Thread *t, u64 a, u32 size, int line) { return checked(t, a, size, line, t->stack, 0); }
INLINE void *generic_at(Thread *t, u64 a, u32 size, int line)
{
    if (within(a, size, shared_window(t))) return checked(t, a, size, line, shared_window(t), 0);
    return within(a, size, t->stack) ? local_at(t, a, size, line) : global_at(t, a, size, line);
}

/* --- Atomics: the old value is returned. */
#define EXCHANGE(name, kind, type, bits, pack, unpack, expression)                               \
    INLINE type atom_##name##_##kind(void *at, type b)                                           \
    { u##bits old = __atomic_load_n((u##bits *)at, 5), made;                                     \
      do { type a = unpack(old); made = pack(expression); }                                      \
      while (!__atomic_compare_exchange_n((u##bits *)at, &old, made, 0, 5, 5));                  \
      return unpack(old); }
#define ATOMS(bits)                                                                              \
    EXCHANGE(add, u##bits, u##bits, bits, , , a + b)                                             \
    EXCHANGE(and, u##bits, u##bits, bits, , , a & b)                                             \
    EXCHANGE(or, u##bits, u##bits, bits, , , a | b)                                              \
    EXCHANGE(xor, u##bits, u##bits, bits, , , a ^ b)                                             \
    EXCHANGE(exch, u##bits, u##bits, bits, , , b)                                                \
    EXCHANGE(min, u##bits, u##bits, bits, , , a < b ? a : b)                                     \
    EXCHANGE(max, u##bits, u##bits, bits, , , a > b ? a : b)                                     \
    EXCHANGE(min, s##bits, i##bits, bits, , , a < b ? a : b)                                     \
    EXCHANGE(max, s##bits, i##bits, bits, , , a > b ? a : b)                                     \
    INLINE u##bits atom_cas_u##bits(void *at, u##bits b, u##bits c)                              \
    { return __sync_val_compare_and_swap((u##bits *)at, b, c); }
ATOMS(32)
ATOMS(64)
EXCHANGE(inc, u32, u32, 32, , , a >= b ? 0 : a + 1)
EXCHANGE(dec, u32, u32, 32, , , a == 0 || a > b ? b : a - 1)
EXCHANGE(add, f32, float, 32, bits_f32, as_f32, a + b)
EXCHANGE(add, f64, double, 64, bits_f64, as_f64, a + b)

/* --- Warps: an instruction gives each lane the values of all lanes. */
INLINE u32 thread_number(const Thread *t)
{ return (t->tid[2] * t->block->ntid[1] + t->tid[1]) * t->block->ntid[0] + t->tid[0]; }
INLINE u32 lane(const Thread *t) { return thread_number(t) % 32; }

/* The lane that shfl reads (c: a clamp, and in bits 8 to 12 a mask of segments); ok: it exists. */
INLINE u32 shuffled(const Thread *t, char way, u32 b, u32 c, u8 *ok)
{
    u32 segment = c >> 8 & 31, me = lane(t), most = (me & segment) | (c & 31 & ~segment), from;
    b &= 31;
    from = way == 'u' ? me - b : way == 'd' ? me + b : way == 'b' ? me ^ b : (me & segment) | (b & ~segment);
    *ok = way == 'u' ? (i32)from >= (i32)most : from <= most;
    return *ok ? from : me;
}

INLINE u64 nanoseconds(void)
{ struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); return now.tv_sec * 1000000000ull + now.tv_nsec; }
#endif
