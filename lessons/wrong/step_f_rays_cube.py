# The largest coordinate is the distance of a cube: rays stop before they meet the ball.
def distance(x, y, z):
    x, y, z = (abs((v + 1) % 2 - 1) for v in (x, y, z))
    return max(x, y, z) - 0.5
