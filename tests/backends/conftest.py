"""The order of the tests of `test_ptx.py`."""


def kernel_of(item):
    """Return the name of the kernel that a test looks at, or of its formula."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return params.get("name") or params.get("formula") or ""


def pytest_collection_modifyitems(items):
    """Have the tests of a kernel follow each other: a worker then compiles it for all of them."""
    places = [k for k, item in enumerate(items) if item.path.name == "test_ptx.py"]
    ordered = sorted((items[k] for k in places), key=kernel_of)
    for k, item in zip(places, ordered, strict=True):
        items[k] = item
