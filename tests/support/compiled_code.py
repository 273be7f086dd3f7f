"""The folder of compiled code."""


def programs_in(folder):
    """Return the files of compiled code, without those of what was noted about modules."""
    return sorted(file for file in folder.rglob("*.code") if "modules-" not in file.parent.name)
