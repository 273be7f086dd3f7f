"""Exercise 14: how many digits does a zoom need?"""

from decimal import Decimal


def digits(width, pixels):
    """Return how many decimals the center of a view needs, as an integer.

    `width` is the width of the view as text, such as "1e-60", and `pixels` is how many pixels lie
    side by side. Two neighboring pixels must differ in the last decimal or before. Up to three
    decimals more are allowed. The width can be far below the smallest float64, which is 5e-324.
    """
    raise NotImplementedError("write this function")
