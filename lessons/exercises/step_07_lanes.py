"""Exercise 7: predict how many steps lanes take in vain."""


def wasted(counts, lanes, block):
    """Return how many steps are computed beyond those that count.

    `counts` is a list: the counts of the samples of a row. `lanes` neighbors advance together, in
    blocks of `block` steps, until all of them have their counts. The last group may have fewer
    lanes. A group of counts 3, 9 and blocks of 4 takes 12 steps in each of its two lanes, so 12 of
    its 24 steps are wasted.
    """
    raise NotImplementedError("write this function")
