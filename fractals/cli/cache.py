"""`fractals cache`."""

from fractals.cli.command import option, verb
from fractals.cli.messages import print_json, tell, write_out
from fractals.cli.options import json_option


@verb("cache", "cache", "cache --json", "cache --empty")
@option("--empty", is_flag=True, section="Cache", help="Delete what the caches hold.")
@json_option
def cache_command(empty: bool, as_json: bool) -> None:
    """Show where compiled programs and reference orbits are cached, and their sizes.

    Emptied caches are filled again: the next picture of each kind compiles, and the next picture of
    a deep view computes its reference orbit. NUMBA_CACHE_DIR and FRACTALS_CACHE_DIR set other
    folders. The user's file of defaults is shown too.
    """
    from fractals.backends.cache_folder import CACHES, contents, empty_cache
    from fractals.cli import defaults

    facts, lines = {}, []
    for name, folder in CACHES.items():
        files = contents(name)
        size = sum(file.stat().st_size for file in files)
        facts[name] = {"folder": str(folder()), "files": len(files), "bytes": size}
        lines.append(f"{name:20}{size / 2**20:9.1f} MiB  {folder()}")
        if empty:
            removed = empty_cache(name)
            tell(f"{name}: {removed} files deleted")
    own = defaults.path()
    found = own.is_file()
    if as_json:
        print_json({"caches": facts, "defaults": {"file": str(own), "exists": found}})
    elif not empty:
        lines.append(f"{'file of defaults':20}{'found' if found else 'none':>13}  {own}")
        write_out("\n".join(lines) + "\n")
