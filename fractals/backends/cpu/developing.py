"""Development on the CPU: packs of channels take the curve and the encoding together."""

from fractals.backends.cpu.simd.memory import load, store
from fractals.backends.cpu.simd.pack import lane_count, splat
from fractals.kernels.develop import make_developing
from fractals.kernels.primitives import number

VECTORS = 2  # of a pack


def make_develop_body(target, options):
    """Return ``body(out, light, sheet, room)``: light becomes pixels.

    The parameters are those of `fractals.kernels.develop.make_develop_body`; `room`, of the
    type of the light, has the channels of a row, and a pack more.
    """
    shade, tone, noise, rough, threshold = make_developing(target, options)
    int32, real32 = target.int32, target.real32

    def body(out, light, sheet, room):
        numbers, columns = sheet.numbers, out.shape[1]
        half, like = number(0.5, numbers[0]), splat(numbers[0], VECTORS)
        for j in range(out.shape[0]):
            y = number(sheet.top + j, half) + half
            for i in range(columns):
                kept = shade(number(sheet.left + i, half) + half, y, numbers)
                for m in range(3):
                    room[3 * i + m] = light[j, i, m] * kept
            for k in range(0, 3 * columns, lane_count(like)):
                store(room, k, tone(load(room, k, like)))
            for i in range(columns):
                grain = noise(sheet.left + i, sheet.top + j, numbers[4])
                part = threshold(sheet.left + i, sheet.top + j)
                for m in range(3):
                    v = rough(room[3 * i + m], grain)
                    out[j, i, m] = int32(real32(v * numbers[5]) + part)

    return body
