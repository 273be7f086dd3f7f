/* The step of a Mandelbox in vectors, as fractals.space.march takes it: what the machine can do.

   vectors.h tells how it is compiled. Operations and their order are those of the package, so the
   bits are, too. */

#include "vectors.h"

enum { AT_ONCE = 4 }; /* vectors whose steps overlap, because a step is a chain of operations */

INLINE vec at_most(vec a, vec b) { return F(min)(a, b); }
INLINE vec at_least(vec a, vec b) { return F(max)(a, b); }
INLINE vec folded(vec v, vec limit) {
    vec inside = at_least(at_most(v, limit), F(sub)(splat(0), limit));
    return fmsub(splat(2), inside, v);
}

/* Take `steps` steps of n orbits, a multiple of AT_ONCE * LANES, that begin at (a, b, c), and write
   the least distance from 0 of each. options: fold, scale, inner, outer, bail. */
void box(long n, long steps, const real *point, const real *options, real *least) {
    const vec a = splat(point[0]), b = splat(point[1]), c = splat(point[2]), one = splat(1);
    const vec fold = splat(options[0]), scale = splat(options[1]), inner = splat(options[2]);
    const vec outer = splat(options[3]), bail = splat(options[4]);
    for (long i = 0; i < n; i += AT_ONCE * LANES) {
        vec x[AT_ONCE], y[AT_ONCE], z[AT_ONCE], d[AT_ONCE], square[AT_ONCE], low[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++) {
            x[k] = a, y[k] = b, z[k] = c, d[k] = one, low[k] = splat((real)1e30);
            square[k] = fmadd(a, a, fmadd(b, b, mul(c, c)));
        }
        for (long s = 0; s < steps; s++) {
            unsigned any = 0;
            for (int k = 0; k < AT_ONCE; k++) any |= bits(less_equal(square[k], bail));
            if (!any) break;
            for (int k = 0; k < AT_ONCE; k++) {
                vec u = folded(x[k], fold), v = folded(y[k], fold), w = folded(z[k], fold);
                vec r = fmadd(u, u, fmadd(v, v, mul(w, w)));
                vec f = F(div)(scale, at_least(at_most(r, outer), inner));
                u = fmadd(u, f, a), v = fmadd(v, f, b), w = fmadd(w, f, c);
                r = fmadd(u, u, fmadd(v, v, mul(w, w)));
                mask going = less_equal(square[k], bail);
                d[k] = blend(going, fmadd(d[k], absolute(f), one), d[k]);
                low[k] = blend(both(going, less_equal(r, low[k])), r, low[k]);
                x[k] = blend(going, u, x[k]), y[k] = blend(going, v, y[k]);
                z[k] = blend(going, w, z[k]), square[k] = blend(going, r, square[k]);
            }
        }
        for (int k = 0; k < AT_ONCE; k++) {
            vec length = F(sqrt)(low[k]);
            store(least + i + k * LANES, d[k][0] < 0 ? d[k] : length); /* d is needed */
        }
    }
}
