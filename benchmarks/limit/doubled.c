/* z^2 + c in double-double numbers, by hand: the yardstick of benchmarks/limit/doubled.py.

   The operations are those that fractals writes, in the same order, so counts are equal. Orbits
   take blocks of steps without a test, PACK vectors of them together; where one has escaped in a
   block, the block is taken again step by step. There is no compaction: what is measured is a
   block of orbits that stay. */

#define REAL_BITS 64
#include "vectors.h"

#ifndef PACK
#define PACK (VECTOR_BITS == 512 ? 4 : 2)
#endif
#define BLOCK 16
#define EACH(v) _Pragma("GCC unroll 8") for (int v = 0; v < PACK; v++)

typedef struct {
    vec h, l;
} pair;

INLINE vec less_of(vec a, vec b) { return F(sub)(a, b); }
INLINE vec minus(vec a) { return F(sub)(splat(-0.0), a); }

INLINE pair total(pair a, pair b) {
    vec s = add(a.h, b.h), t = less_of(s, a.h);
    vec e = add(add(less_of(a.h, less_of(s, t)), less_of(b.h, t)), add(a.l, b.l));
    vec h = add(s, e);
    return (pair){h, less_of(e, less_of(h, s))};
}

INLINE pair product(pair a, pair b) {
    vec p = fmadd(a.h, b.h, splat(0));
    return (pair){p, fmadd(a.l, b.h, fmadd(a.h, b.l, fmsub(a.h, b.h, p)))};
}

INLINE pair square(pair a) {
    vec p = fmadd(a.h, a.h, splat(0));
    return (pair){p, fmadd(add(a.h, a.h), a.l, fmsub(a.h, a.h, p))};
}

typedef struct {
    pair x, y;
} state;

INLINE state step(state z, pair a, pair b) {
    pair y = {minus(z.y.h), minus(z.y.l)}, twice = {add(z.x.h, z.x.h), add(z.x.l, z.x.l)};
    pair real = total(total(a, product(z.y, y)), square(z.x));
    return (state){real, total(b, product(z.y, twice))};
}

INLINE unsigned near(state z, double radius2) {
    pair size = total(square(z.x), square(z.y));
    vec bound = splat(radius2);
    unsigned below = bits(less_equal(size.h, bound)), above = bits(less_equal(bound, size.h));
    return below & ~(above & ~bits(less_equal(size.l, splat(0))));
}

/* xs, ys: high parts of columns and rows, then the low ones; width is a multiple of PACK LANES. */
void render(const double *xs, const double *ys, long width, long height, int limit,
            double radius2, int32_t *count) {
    for (long j = 0; j < height; j++)
        for (long i = 0; i < width; i += PACK * LANES) {
            state z[PACK], before[PACK];
            pair a[PACK], b = {splat(ys[j]), splat(ys[height + j])};
            int32_t *out = count + j * width + i;
            unsigned alive[PACK], any = 0;
            EACH(v) {
                a[v] = (pair){load(xs + i + v * LANES), load(xs + width + i + v * LANES)};
                z[v] = (state){{splat(0), splat(0)}, {splat(0), splat(0)}};
                any |= alive[v] = EVERY;
                for (int k = 0; k < LANES; k++) out[v * LANES + k] = limit;
            }
            for (long n = 0; n < limit - 1 && any;) {
                long steps = limit - 1 - n < BLOCK ? limit - 1 - n : BLOCK;
                unsigned left = 0;
                EACH(v) before[v] = z[v];
                for (long k = 0; k < steps; k++) EACH(v) z[v] = step(z[v], a[v], b);
                EACH(v) left |= alive[v] & ~near(z[v], radius2);
                if (left) {
                    EACH(v) z[v] = before[v];
                    for (long k = 1; k <= steps; k++)
                        EACH(v) {
                            z[v] = step(z[v], a[v], b);
                            unsigned gone = alive[v] & ~near(z[v], radius2);
                            alive[v] &= ~gone;
                            for (int lane = 0; gone; lane++, gone >>= 1)
                                if (gone & 1) out[v * LANES + lane] = n + k;
                        }
                    any = 0;
                    EACH(v) any |= alive[v];
                }
                n += steps;
            }
        }
}
