"""Films: keys to motion, strips or frames to pixels, pixels to a file.

    motion.py    the exact view of each frame; parts between keys
    tracks.py    values of the scene over time
    plan.py      the method of each part, and forecasts of seconds, bytes and memory
    measured.py  forecasts of seconds from some samples
    frames.py, recolored.py, strip.py    the methods: they yield frames
    bands.py, strip_plan.py, texels.py   what a strip consists of, and where it is held
    gather.py, colored.py, valued.py     frames from a strip that keeps colors, or values
    samples.py, kept.py, held.py, regions.py   what a strip keeps of samples, and where
    split.py     zooms are divided where their tracks stand still
    planes.py    a frame to the planes that encoders take
    encode.py    the ffmpeg process
    timeline.py  parts, methods and facts of a film
    work.py      the folder of a film that is being made: segments, resume, join
    film.py      Film: what `fractals.film` returns

A frame is an array of uint16, shape (height, width, 3), of sRGB values.
"""
