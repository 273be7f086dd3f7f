/* How fast can escape counts be had with hand-written vectors? The yardstick for fractals.

   z -> f(z) + c, from z_1 = c, or from z_0, the sample itself, in a Julia set. A sample's count is
   the smallest n >= 1 with |z_n|^2 > R^2, and the limit where there is none below it; its norm is
   that |z_n|^2, and 0 where there is none. Each multiply-add is an fma, as in fractals, so that
   the counts are the same in every sample.

   A tile of samples is done in two phases:

   1. Each sample takes its first EARLY steps, with a test at each; lanes that have escaped are
      masked. BESIDE vectors go side by side, since one alone would wait for its own results. The
      orbits that stay go to a list: x, y (z), a, b (c), n, and where the sample stands.
   2. Orbits are taken on in blocks of steps without a test, VECTORS vectors side by side. Those
      found outside afterwards go, as they were before the block, to a list of the left; they are
      replayed with a test at each step, so that counts and norms are exact. Two ways to do it:

      wave:   every orbit of the list takes a block; the gaps that the left have made are closed;
              then comes the next round. When the limit is reached, the tile is done.
      stream: as many orbits as fit in VECTORS vectors take one block after the other; who leaves
              or reaches the limit is replaced by the next of the list, and the list by the next
              tile's.

   Compiled for a size of numbers and of registers: -DREAL_BITS=64 or 32, -DVECTOR_BITS=512 or 256.
   limit.py does that, and calls `render`. */

#include "kernels.h"

/* The three, compiled for a formula. */
typedef struct {
    long (*begin)(const job *, long, long, list *);
    unsigned (*block)(const job *, list *, long, long, int, fresh *);
    void (*replay)(const job *, const list *, long);
} kernels;

#define COMPILE(name, formula, julia)                                                             \
    static long name##_begin(const job *job, long left, long top, list *list) {                   \
        return begin(formula, julia, job, left, top, list);                                       \
    }                                                                                             \
    static unsigned name##_block(const job *job, list *list, long i, long valid, int steps,       \
                                 fresh *now) {                                                    \
        return block(formula, julia, job, list, i, valid, steps, now);                            \
    }                                                                                             \
    static void name##_replay(const job *job, const list *list, long count) {                     \
        replay(formula, julia, job, list, count);                                                 \
    }                                                                                             \
    static const kernels name = {name##_begin, name##_block, name##_replay};

COMPILE(mandelbrot, MANDELBROT, 0)
COMPILE(julia, MANDELBROT, 1)
COMPILE(burning_ship, BURNING_SHIP, 0)
COMPILE(tricorn, TRICORN, 0)
COMPILE(multibrot_3, MULTIBROT_3, 0)

/* The number of steps for the next block. A block costs an orbit a constant time, however long it
   is; an orbit that leaves has up to all its steps in vain, and again in the replay. If the share
   h of the orbits leaves in a step, both together are least at a number like 1 / sqrt(h). */
static int next_steps(long orbits, long left, int steps) {
    const double best = FACTOR * __builtin_sqrt((double)orbits * steps / (double)(left + 1));
    return best < 8 ? 8 : best > 128 ? 128 : (int)best / UNROLL * UNROLL;
}

/* Copy the lanes m of the vector at i to the end of another list, or further up in the same. */
INLINE void move(int julia, const list *from, long i, unsigned m, list *to, long end) {
    if (!julia) {
        store(to->a + end, compress(m, load(from->a + i)));
        store(to->b + end, compress(m, load(from->b + i)));
    }
    istore(to->at + end, icompress(m, iload(from->at + i)));
}
INLINE void move_z(const real *x, const real *y, unsigned m, list *to, long end) {
    store(to->x + end, compress(m, load(x)));
    store(to->y + end, compress(m, load(y)));
}

/* Phase 2 in rounds over the list of a tile. */
static void wave(const kernels *run, const job *job, list *list, long count, struct list *left) {
    const int last = job->limit - 1, julia = job->julia;
    fresh now;
    for (int n = EARLY, steps = FIRST; count > 0 && n < last;) {
        long kept = 0, gone = 0;
        if (steps > last - n) steps = last - n;
        for (long i = 0; i < count; i += WIDE) {
            const unsigned any = run->block(job, list, i, count - i, steps, &now);
            if (!any && kept == i) {
                kept = i + WIDE < count ? i + WIDE : count;
                continue;
            }
            const real *x = any ? now.x : list->x + i, *y = any ? now.y : list->y + i;
            EACH(v, VECTORS) {
                const long k = i + v * LANES;
                const unsigned out = any ? now.out[v] : 0, stay = below(count - k) & ~out;
                if (out) {
                    move_z(list->x + k, list->y + k, out, left, gone);
                    move(julia, list, k, out, left, gone);
                    istore(left->n + gone, isplat(n));
                    gone += __builtin_popcount(out);
                }
                move_z(x + v * LANES, y + v * LANES, stay, list, kept);
                move(julia, list, k, stay, list, kept);
                kept += __builtin_popcount(stay);
            }
        }
        run->replay(job, left, gone);
        n += steps;
        steps = next_steps(count, gone, steps);
        count = kept;
    }
}

/* Where a stream takes its orbits from: the list of a tile, and then the next tile's. */
typedef struct {
    list *list;
    long from, count, left, top;
} source;

/* Phase 1 of the next tile: return 0 where there is none. */
static int next_tile(const kernels *run, const job *job, source *source) {
    if (source->top >= job->height) return 0;
    source->from = 0;
    source->count = run->begin(job, source->left, source->top, source->list);
    source->left += TILE_WIDTH;
    if (source->left >= job->width) source->left = 0, source->top += TILE_HEIGHT;
    return 1;
}

/* Fill the idle lanes of the vector at k: return those that are live. */
static unsigned refill(const kernels *run, const job *job, source *source, list *orbits, long k,
                       unsigned live, integer entered) {
    while (live != EVERY) {
        const long there = source->count - source->from;
        if (there == 0) {
            if (next_tile(run, job, source)) continue;
            break;
        }
        unsigned m = ~live & EVERY;
        if (there < __builtin_popcount(m)) m = _pdep_u32(below(there), m);
        const list *list = source->list;
        const long i = source->from;
        store(orbits->x + k, expand(m, list->x + i, load(orbits->x + k)));
        store(orbits->y + k, expand(m, list->y + i, load(orbits->y + k)));
        store(orbits->a + k, expand(m, list->a + i, load(orbits->a + k)));
        store(orbits->b + k, expand(m, list->b + i, load(orbits->b + k)));
        istore(orbits->at + k, iexpand(m, list->at + i, iload(orbits->at + k)));
        istore(orbits->n + k, iblend(lanes(m), isplat(entered), iload(orbits->n + k)));
        source->from += __builtin_popcount(m);
        live |= m;
    }
    return live;
}

/* Phase 2 with lanes that are refilled. `orbits->n` is here the time at which a lane's n was 0. */
static void stream(const kernels *run, const job *job, list *list, struct list *orbits,
                   struct list *left) {
    const int last = job->limit - 1, julia = job->julia;
    source source = {list, 0, 0, 0, 0};
    fresh now;
    unsigned live[VECTORS] = {0}, done[VECTORS];
    long gone = 0, escaped = 0, blocks = 0;
    integer time = 0;
    int steps = FIRST;
    for (;;) {
        if (time > 1 << 30) { /* a float32 lane has 32-bit integers */
            EACH(v, VECTORS) {
                integer *n = orbits->n + v * LANES;
                istore(n, isub(iload(n), isplat(time)));
            }
            time = 0;
        }
        unsigned any = 0;
        for (int v = 0; v < VECTORS; v++) {
            live[v] = refill(run, job, &source, orbits, v * LANES, live[v], time - EARLY);
            any |= live[v];
        }
        if (!any) break;
        unsigned outside;
        do {
            outside = run->block(job, orbits, 0, WIDE, steps, &now);
            time += steps;
            blocks++;
            any = outside;
            EACH(v, VECTORS) {
                const mask going_on = less(isplat(time - last), iload(orbits->n + v * LANES));
                done[v] = ~bits(going_on) & live[v];
                any |= done[v];
            }
        } while (!any);
        for (int v = 0; v < VECTORS && outside; v++) {
            const int k = v * LANES;
            const unsigned out = now.out[v] & live[v];
            if (out) {
                move_z(orbits->x + k, orbits->y + k, out, left, gone);
                move(julia, orbits, k, out, left, gone);
                const ivec n = isub(isplat(time - steps), iload(orbits->n + k));
                istore(left->n + gone, icompress(out, n));
                gone += __builtin_popcount(out);
                escaped += __builtin_popcount(out);
                done[v] |= out;
            }
            store(orbits->x + k, load(now.x + k));
            store(orbits->y + k, load(now.y + k));
        }
        for (int v = 0; v < VECTORS; v++) live[v] &= ~done[v];
        if (gone >= FLUSH || blocks >= FLUSH) {
            run->replay(job, left, gone);
            steps = next_steps(blocks * WIDE, escaped, steps);
            gone = escaped = blocks = 0;
        }
    }
    run->replay(job, left, gone);
}

/* Whether this processor has the instructions. */
int supported(void) {
    __builtin_cpu_init();
#if VECTOR_BITS == 512
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#else
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
#endif
}

/* Write the counts and norms of width x height samples, row by row, in one thread; denormal
   numbers are flushed to 0. Julia sets are those of the Mandelbrot set alone. */
void render(int formula, int is_julia, int streaming, const double *xs, const double *ys,
           long width, long height, int limit, double radius2, double a, double b,
           int32_t *count, float *norm) {
    static const kernels *parameter_plane[] = {&mandelbrot, &burning_ship, &tricorn, &multibrot_3};
    const job job = {xs, ys, width, height, limit, radius2, is_julia, a, b, count, norm};
    const kernels *run = is_julia ? &julia : parameter_plane[formula];
    static list lists[3]; /* kept, since fresh memory costs time */
    prepare();
    const unsigned control = _mm_getcsr();
    _mm_setcsr(control | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
    if (streaming) stream(run, &job, lists, lists + 1, lists + 2);
    else
        for (long top = 0; top < height; top += TILE_HEIGHT)
            for (long left = 0; left < width; left += TILE_WIDTH)
                wave(run, &job, lists, run->begin(&job, left, top, lists), lists + 1);
    _mm_setcsr(control);
}

/* Take so many steps of multiply-adds that keep the processor's units for them busy, in registers
   alone: twice that many can be had from two threads only where each has a core for itself. */
double spin(long steps) {
    vec x[VECTORS];
    for (int i = 0; i < VECTORS; i++) x[i] = splat((real)i);
    for (long k = 0; k < steps; k++)
        for (int i = 0; i < VECTORS; i++) x[i] = fmadd(x[i], splat((real)0.5), splat(1));
    real sums[LANES];
    for (int i = 1; i < VECTORS; i++) x[0] = add(x[0], x[i]);
    store(sums, x[0]);
    return (double)sums[0];
}
