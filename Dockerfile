# The command line with CUDA. The image has no CUDA of its own, because the wheels of the extra `gpu`
# bring CUDA's compiler, and `docker run --gpus all` brings the driver of the host.
FROM python:3.13-slim AS build

# `gpu` requires driver 580 or newer, and `gpu12` a driver for CUDA 12. docs/how-to/install.md lists all extras.
ARG EXTRAS=gpu,fast

COPY . /source
RUN python -m venv /fractals && /fractals/bin/pip install --no-cache-dir "/source[$EXTRAS]"

# The source stays behind in the stage that built the environment.
FROM python:3.13-slim
COPY --from=build /fractals /fractals

# Any user of the host can run the image and owns the pictures: `docker run --user`. Such a user has
# no home in the image, so caches go to a folder that the program creates.
ENV PATH=/fractals/bin:$PATH \
    HOME=/tmp \
    FRACTALS_CACHE_DIR=/tmp/fractals \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000:1000
WORKDIR /pictures
ENTRYPOINT ["fractals"]
CMD ["--help"]
