"""Writes scenes."""

from pathlib import Path

from fractals.errors import OptionError
from fractals.io.files import check_output, written
from fractals.scene.model import Scene

SCENE_SUFFIXES = (".toml", ".json")


def save_scene(scene: Scene, path: str | Path, overwrite: bool = False) -> None:
    """Write a scene to a file, which `fractals.load_scene` reads.

    Parameters
    ----------
    scene : Scene
    path : str or Path
        The suffix is .toml or .json.
    overwrite : bool
        True: an existing file is replaced.

    Raises
    ------
    OptionError
        The suffix names no format of scenes.
    SceneError
        The formula is a `Formula` object, which has no name to write.
    FractalsError
        The file exists, or can't be written; an existing file is unchanged.
    """
    suffix = check_suffix(path)
    text = scene.to_toml() if suffix == ".toml" else scene.to_json() + "\n"
    check_output(path, overwrite)
    with written(path, overwrite) as file:
        file.write(text.encode())


def check_suffix(path: str | Path) -> str:
    """Return the suffix of a scene's file.

    Raises
    ------
    OptionError
        It names no format of scenes.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SCENE_SUFFIXES:
        raise OptionError(f"'{path}': a scene is written to a .toml or .json file")
    return suffix
