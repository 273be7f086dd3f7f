"""Exercise F: what a warp costs whose rays need different numbers of steps."""


def thread_steps(needs, most, warp):
    """Return how many steps all threads are busy for, those that only wait included.

    `needs` is a list: how many steps each ray needs. A launch gives a thread to each ray of the
    list that goes on, in their order, and lets it take up to `most` steps. `warp` threads in a row
    are busy until the last of them has ended its launch; threads without a ray, at the end of the
    last warp, are busy as well. Then rays that have all their steps leave the list, and the next
    launch begins.
    """
    raise NotImplementedError
