"""Check of exercise G: grids and global sizes of some pictures."""


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    for shape, group in (
        ((64, 96), (16, 8)),
        ((65, 97), (16, 8)),
        ((1, 1), (8, 8)),
        ((7, 300), (32, 4)),
    ):
        grid, size = answer.launch(shape, group)
        rows, columns = shape
        blocks = tuple(-(-n // g) for n, g in zip((columns, rows), group, strict=True))
        items = tuple(n * g for n, g in zip(blocks, group, strict=True))
        assert tuple(grid) == blocks, (
            f"{rows} rows of {columns} pixels, groups of {group}: the grid is {grid}, expected "
            f"{blocks}"
        )
        assert tuple(size) == items, (
            f"{rows} rows of {columns} pixels, groups of {group}: the global size is {size}, "
            f"expected {items}: OpenCL counts work-items"
        )
