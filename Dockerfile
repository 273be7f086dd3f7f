# The command line with CUDA. The image has no CUDA of its own, because the wheels of the extra `gpu`
# bring CUDA's compiler, and `docker run --gpus all` brings the driver of the host.
FROM python:3.13-slim

# `gpu` requires driver 580 or newer, and `gpu12` a driver for CUDA 12. README lists all extras.
ARG EXTRAS=gpu,fast

COPY . /source
RUN pip install --no-cache-dir "/source[$EXTRAS]" && rm -r /source

# Any user of the host can run the image and owns the pictures: `docker run --user`. Such a user has
# no home in the image, so caches go to a folder that the program creates.
ENV HOME=/tmp \
    FRACTALS_CACHE_DIR=/tmp/fractals \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000:1000
WORKDIR /pictures
ENTRYPOINT ["fractals"]
CMD ["--help"]
