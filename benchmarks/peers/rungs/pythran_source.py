"""Python that Pythran compiles to C++: the loops as one would write them in Python."""


# pythran export fill(float64[], float64[], int32[:,:], int)
def fill(xs, ys, counts, limit):
    """Count at every sample."""
    for j in range(len(ys)):
        for i in range(len(xs)):
            c = complex(xs[i], ys[j])
            z = 0j
            n = 1
            while n < limit:
                z = z * z + c
                if z.real * z.real + z.imag * z.imag > 4:
                    break
                n += 1
            counts[j, i] = n
