# The first GPU is taken, not the one with the most free memory.

"""Exercise 0: choose a device, as `auto` does."""


def choose(gpus, needed):
    """Return the name of the device for a task.

    `gpus` is a list of pairs, name and free bytes, such as [("cuda:0", 8_000_000_000)]. `needed` is
    how many bytes the task needs. Take the GPU with the most free memory; take "cpu" where no GPU
    has enough.
    """
    for name, free in gpus:
        return name if free >= needed else "cpu"
    return "cpu"
