"""Films: keys to motion, strips or frames to pixels, pixels to a file.

    film.py      `fractals.film`, and Film: what it returns; options.py: its options; keywords.py:
                 their types
    plan.py      Timeline: a film's parts, the method of each, and forecasts
    motion.py    the exact view of each frame; parts between keys
    tracks.py    values of the scene over time
    frames.py    frames that are drawn one by one, or recolored
    strip.py     what the strip of a zoom holds: layout, samples, memory; texel_files.py: its texels
    bands.py     draws the parts of a strip, with more samples where it is noisy
    gather.py    frames from a strip that keeps colors; on the CPU by cpu_frame.py, which
                 compiles cpu_frame_code.py
    valued.py    frames from a strip that keeps values; samples.py: what it keeps
    writing.py   a video in segments, an animated picture, or a sequence of PNGs
    encode.py    the ffmpeg process; planes.py: what it gets of a frame
    warned.py    what may look bad, told before a film is made; flashes.py: counts flashes
    sizes.py     the size of the file, from some frames that are encoded before
    work.py      the folder of a film that is being made: segments, resume, join
    cluster.py   segments and bands that the workers of a cluster make

A frame is an array of uint16, shape (height, width, 3), of sRGB values.
"""
