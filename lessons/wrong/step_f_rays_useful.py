# Only the steps that rays need: threads that wait are left out.
def thread_steps(needs, most, warp):
    return sum(needs)
