"""What strangers see first: a formula, workflows, forms, the commands' names, metadata."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
import types
from fnmatch import fnmatch
from pathlib import Path

import pytest
from PIL import Image
from support import packages as of_tests

import fractals
from fractals.cli.verbs import run_verb

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml"))
ELSEWHERE = ("systems", "numba")  # steps that .ci/run alone does not run: checks.yml has them
BY_NAME = (*ELSEWHERE, "demo", "bits")  # docs.yml and weekly.yml have the last two
STEPS = re.compile(r"^([a-z]+)\(\) {", re.MULTILINE)

PAGE = (ROOT / "docs" / "how-to" / "write-a-formula.md").read_text("utf-8")
FORMULA = re.search(
    r"^```{fractal} file\n:file: ship3.py\n(.*?)```$", PAGE, re.MULTILINE | re.DOTALL
)
COMMAND = re.search(r"^fractals (render --formula \./ship3\.py -o .*)$", PAGE, re.MULTILINE)


def steps_called(text):
    """Return the steps of .ci/run that a workflow's or a document's commands name."""
    calls = re.findall(r"\.ci/run((?: \w+)+)", text)
    return [step for call in calls for step in call.split()]


def commands_of(workflow):
    """Return the commands of a workflow: each is one line after `run:`."""
    return re.findall(r"^ *(?:- )?run: *(.*)$", workflow, re.MULTILINE)


def steps_defined():
    return set(STEPS.findall((ROOT / ".ci" / "run").read_text("utf-8")))


@pytest.fixture
def formula_file(tmp_path, monkeypatch):
    """Write the formula of the page under its name, and go to its folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ship3.py"
    path.write_text(FORMULA[1], "utf-8")
    return path


def test_the_formula_of_the_page_draws(formula_file):
    assert len(FORMULA[1].splitlines()) == 20
    words = shlex.split(COMMAND[1])
    small = ["--device", "python", "--size", "24x18", "--max-iterations", "50"]
    assert run_verb([*words, *small]) == 0
    with Image.open(words[words.index("-o") + 1]) as image:
        assert len(image.getcolors(24 * 18)) > 20


def test_the_formula_of_the_page_is_the_cubic_burning_ship(formula_file):
    formula = fractals.load_formula(formula_file)

    def naive(z, c=0j):
        return complex(abs(z.real), abs(z.imag)) ** 3 + c

    for z in (0.7 + 0.4j, -0.7 + 0.3j, -0.2 - 1.1j, 0.5 - 0.6j):
        c, h = 0.3 - 0.2j, 1e-6
        assert complex(*formula.step(z.real, z.imag, c.real, c.imag)) == pytest.approx(naive(z, c))
        for direction in (1, 1j):
            p, q = direction.real, direction.imag
            slope = (naive(z + h * direction) - naive(z - h * direction)) / (2 * h)
            assert complex(*formula.derivative(z.real, z.imag, p, q)) == pytest.approx(slope)


def test_wanted_formulas_are_ten_and_do_not_exist():
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = contributing.split("### Formulas that are wanted\n")[1].split("\n## ")[0]
    wanted = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert len(wanted) == len(set(wanted)) == 10
    assert not set(wanted) & set(fractals.names("formulas"))


def test_both_commands_are_the_same_function():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(project["scripts"]) == {"fractals", project["name"]}
    assert set(project["scripts"].values()) == {"fractals.cli:run"}


@pytest.mark.parametrize("path", [*WORKFLOWS, *FORMS], ids=lambda path: path.stem)
def test_yaml_is_plain(path):
    """Tabs and odd indents are the errors that a reader of YAML finds first."""
    text = path.read_text("utf-8")
    assert "\t" not in text
    for line in text.splitlines():
        assert (len(line) - len(line.lstrip())) % 2 == 0, line
        assert re.match(r" *(#|- |[\w-]+:( |$)|$)", line) or line.startswith("    "), line


def test_the_explorer_fills_fields_of_the_form_for_pictures():
    client = (ROOT / "fractals" / "explorer" / "client" / "offer.js").read_text("utf-8")
    (form,) = re.findall(r'template: "(\w+\.yml)"', client)
    fields = re.findall(r"^    id: (\w+)$", (GITHUB / "ISSUE_TEMPLATE" / form).read_text(), re.M)
    assert {"scene", "author"} <= set(fields)
    assert all(f"{name}:" in client or f"{name} }}" in client for name in ("scene", "author"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_steps_that_exist(path):
    text = path.read_text("utf-8")
    commands = commands_of(text.partition("\n  publish:\n")[0])
    assert commands or "uses: ./.github/workflows/checks.yml" in text
    for command in commands:
        assert re.fullmatch(r"\.ci/run( --near=HEAD\^1|( \w+)+)", command), command
    assert set(steps_called("\n".join(commands))) <= steps_defined()
    assert "permissions:\n  contents: read\n" in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_keep_no_token(path):
    """A tag can be moved to another commit; a token that stays is read by all steps that follow."""
    lines = path.read_text("utf-8").splitlines()
    uses = [
        k for k, line in enumerate(lines) if "uses:" in line and "#" not in line.split("uses")[0]
    ]
    assert uses
    for k in uses:
        name = lines[k].split("uses: ")[1]
        if name.startswith("./"):
            assert (ROOT / name).exists()
            continue
        assert re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", name), name
        if "/checkout@" in name:
            more = [line.strip() for line in lines[k + 1 : k + 3]]
            assert more == ["with:", "persist-credentials: false"], lines[k]


def test_an_action_has_one_version_in_all_workflows():
    text = "".join(path.read_text("utf-8") for path in WORKFLOWS)
    found = set(re.findall(r"uses: (actions/[\w-]+)\S*(@\S+ # \S+)", text))
    assert len(found) == len({name for name, _ in found}) > 3


def test_main_and_a_release_run_every_step():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    (default,) = (line.split() for line in re.findall(r'^    steps="(.*)"$', script, re.MULTILINE))
    ordered = re.findall(r"\$\(_chosen (.*?)\)", script)
    assert sorted(" ".join(ordered).split()) == sorted([*default, "numba"])
    checks = (GITHUB / "workflows" / "checks.yml").read_text("utf-8")
    assert sorted(steps_called(checks)) == sorted([*default, *ELSEWHERE])
    assert steps_defined() - set(default) == {"version", *BY_NAME}
    assert steps_called((GITHUB / "workflows" / "docs.yml").read_text("utf-8")) == ["docs", "demo"]


def test_a_pull_request_runs_what_is_near_and_nothing_else_does():
    checks = (GITHUB / "workflows" / "checks.yml").read_text("utf-8")
    near, *others = re.split(r"^  (?=\w+:)", checks.split("\njobs:\n")[1], flags=re.MULTILINE)[1:]
    assert "    if: github.event_name == 'pull_request'\n" in near
    assert "fetch-depth: 2 " in near
    assert commands_of(near) == [".ci/run --near=HEAD^1"]
    assert len(others) > 6
    for job in others:
        assert "    if: github.event_name != 'pull_request'\n" in job
        assert "actions/cache@" not in job, "all but pull requests compile anew"
    keys = re.findall(r" key: (.*)", checks)
    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert all((ROOT / folder).is_dir() for folder in re.findall(r"'(fractals/\w+)/\*\*'", keys[0]))


@pytest.mark.parametrize("mark", ["lessons", "browser", "cluster"])
def test_a_step_collects_all_tests_with_its_mark(mark):
    """It names the folders, because collecting all tests takes each of its processes seconds."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    (line,) = (line for line in script.splitlines() if re.search(f'-m "?{mark}\\b', line))
    named = [ROOT / path for path in re.findall(r"tests/[\w/.]+", line)]
    marked = [
        path
        for path in ROOT.glob("tests/**/test_*.py")
        if f"pytest.mark.{mark}" in path.read_text("utf-8")
    ]
    assert len(marked) > 2
    assert [path for path in marked if not {path, *path.parents} & {*named}] == []


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", ".github/pull_request_template.md"])
def test_documents_name_steps_that_exist(name):
    called = steps_called((ROOT / name).read_text("utf-8"))
    assert called
    assert set(called) <= steps_defined()


def test_only_the_job_that_publishes_may_publish():
    release = (GITHUB / "workflows" / "release.yml").read_text("utf-8")
    build, publish = release.split("\n  publish:\n")
    assert "id-token" not in build
    assert "wheel" in steps_called(build)
    assert "needs: [checks, build]\n" in publish
    assert "  checks:\n    uses: ./.github/workflows/checks.yml\n" in build
    assert "environment: release\n" in publish


def test_the_job_that_publishes_runs_nothing_of_this_repository():
    """It takes the files that were tested, and a program whose hash is known."""
    release = (GITHUB / "workflows" / "release.yml").read_text("utf-8")
    publish = release.split("\n  publish:\n")[1]
    assert re.findall(r"uses: actions/([\w-]+)@", publish) == ["download-artifact"]
    assert "permissions:\n      id-token: write\n    env" in publish
    *_, install, upload = commands_of(publish)
    assert ".ci" not in publish
    assert " --no-deps --require-hashes " in install
    assert upload == "$RUNNER_TEMP/uv/bin/uv publish --trusted-publishing always"
    version, digest = re.search(
        r"PINNED: (uv==\S+) --hash=(sha256:[0-9a-f]{64})\n", publish
    ).groups()
    known = (ROOT / ".ci" / "uv.txt").read_text("utf-8")
    assert f"\n{version} " in known
    assert f"--hash={digest}" in known


@pytest.mark.parametrize(
    ("name", "program"), [("uv.txt", ".ci/run"), ("build.txt", "scripts/wheel")]
)
def test_what_builds_the_wheel_is_pinned_by_hash(name, program):
    text = re.sub(r"^#.*\n", "", (ROOT / ".ci" / name).read_text("utf-8"), flags=re.MULTILINE)
    packages = re.split(r"\n(?=\w)", text.strip())
    hashes = r"( \\\n +--hash=sha256:[0-9a-f]{64})+"
    assert all(re.fullmatch(rf"[\w-]+==[\w.]+{hashes}", package) for package in packages)
    lines = (ROOT / program).read_text("utf-8").splitlines()
    (line,) = (line for line in lines if name in line)
    assert "--require-hashes" in line


def test_newer_versions_of_pinned_things_are_proposed():
    text = (GITHUB / "dependabot.yml").read_text("utf-8")
    found = re.findall(r"package-ecosystem: (\S+)\n    directory: (\S+)\n", text)
    assert found == [("github-actions", "/"), ("pip", "/.ci"), ("docker", "/")]


def test_all_dependencies_and_extras_have_a_licence():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = {name: set() for name in map(package_of, project["dependencies"])}
    for extra, packages in extras.items():
        for package in packages:
            if extra != "all" and package_of(package) not in map(
                package_of, project["dependencies"]
            ):
                needed.setdefault(package_of(package), set()).add(extra)
    listed = {}
    for row in re.findall(
        r"^\| (.*) \|$", (ROOT / "DEPENDENCIES.md").read_text("utf-8"), re.MULTILINE
    ):
        name, *own, licence = row.split(" | ")
        if name != "package" and "---" not in name:
            listed[name] = set(own[0].split(", ")) if own else set()
            assert licence
    assert listed == needed


def package_of(requirement):
    """Return the name of the package that a requirement asks for."""
    return re.match(r"[\w-]+", requirement)[0]


def test_the_image_holds_no_source():
    """What a later step removes stays in the layer that copied it."""
    *_, last = re.split(r"^FROM ", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    assert re.findall(r"^COPY (.*)$", last, re.MULTILINE) == ["--from=build /fractals /fractals"]


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Return a function that runs .ci/run with steps that only print, of which some fail."""
    uv = tmp_path / "uv"  # prints what the environment says for the program that chooses steps
    uv.write_text('#!/bin/sh\ncase "$*" in *near.py*) echo "$CHOSEN"; echo "$*" >&2;; esac\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    ahead, rest = script.split("\n_step() {", 1)

    def call(*arguments, failing=()):
        steps = (
            f"{name}() {{ echo in {name}; {'false' if name in failing else ':'}; }}"
            for name in steps_defined()
        )
        (tmp_path / ".ci").mkdir(exist_ok=True)
        path = tmp_path / ".ci" / "run"
        path.write_text("\n".join([ahead, *steps, "_step() {"]) + rest, "utf-8")
        path.chmod(0o755)
        return subprocess.run([path, *arguments], capture_output=True, text=True)

    return call


def test_steps_side_by_side_print_in_order_and_none_fails_in_silence(played):
    done = played()
    assert (done.returncode, done.stderr) == (0, "")
    printed = re.findall(r"== (\w+)\nin \1\n", done.stdout)
    assert set(printed) == steps_defined() - {"version", *BY_NAME}
    assert played().stdout == done.stdout
    done = played(failing=("ptx", "opencl"))
    assert (done.returncode, done.stderr) == (1, "\nfailed: ptx opencl\n")
    assert re.findall(r"== (\w+)\nin \1\n", done.stdout) == printed
    done = played(failing=("tests",))
    assert done.returncode == 1
    assert done.stdout.endswith("== tests\nin tests\n")


@pytest.mark.parametrize(
    ("given", "asked"), [("--near", ""), ("--near=HEAD^1", " HEAD^1"), ("--near=a b", " a b")]
)
def test_steps_of_what_has_changed(played, monkeypatch, given, asked):
    monkeypatch.setenv("CHOSEN", "lint types tests browser docs numba")
    done = played(given)
    assert (done.returncode, done.stderr) == (0, f"run python tests/support/near.py{asked}\n")
    printed = re.findall(r"== (\w+)\nin \1\n", done.stdout)
    assert printed == ["lint", "types", "tests", "browser", "docs", "numba"]
    monkeypatch.setenv("CHOSEN", "all")
    assert played(given).stdout == played().stdout


def test_a_step_of_what_has_changed(played):
    assert played("--near", "docs").stdout.startswith("\n== docs\nin docs\n")


def test_steps_by_name(played):
    done = played("docs", "lint", "types", failing=("lint",))
    said = re.sub(r"docs took \d+ s\n", "", done.stdout, count=1)
    assert said != done.stdout
    assert (done.returncode, said) == (1, "\n== docs\nin docs\n\n== lint\nin lint\n")
    for unknown in ("nothing", "_step"):
        done = played("docs", unknown)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"no such step: {unknown}\n"


def test_pythons_are_the_oldest_and_the_newest_of_the_metadata():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if "Python :: 3" in line]
    for name in ("checks.yml", "weekly.yml"):
        text = (GITHUB / "workflows" / name).read_text("utf-8")
        assert {*re.findall(r'"(3\.\d+)"', text)} == {versions[0], versions[-1]}


def test_the_installation_form_asks_for_devices():
    form = (GITHUB / "ISSUE_TEMPLATE" / "installation.yml").read_text("utf-8")
    assert "`fractals devices --json`" in form


def test_citation_has_the_version_and_the_licence():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {fractals.__version__}\n" in text
    assert "\nlicense: MIT\n" in text


def test_the_image_gets_what_the_wheel_is_built_from():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    kept = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    metadata = ["README.md", "hatch_build.py", *project["project"]["license-files"]]
    assert set(kept) == {*wheel["only-include"], *metadata, "pyproject.toml"}
    extras = re.search(r"ARG EXTRAS=(.*)", (ROOT / "Dockerfile").read_text("utf-8"))[1].split(",")
    assert "gpu" in extras
    assert set(extras) <= set(project["project"]["optional-dependencies"])


def build_hooks(monkeypatch):
    """Return the module hatch_build.py, without hatchling."""
    for part, name in (
        ("metadata", "MetadataHookInterface"),
        ("builders.hooks", "BuildHookInterface"),
    ):
        interface = types.ModuleType("interface")
        setattr(interface, name, object)
        monkeypatch.setitem(sys.modules, f"hatchling.{part}.plugin.interface", interface)
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.delitem(sys.modules, "hatch_build", raising=False)
    import hatch_build

    return hatch_build


def test_a_wheel_has_machine_code_only_where_that_is_asked_for(monkeypatch, tmp_path):
    hook = build_hooks(monkeypatch).MachineCode()
    hook.root = str(tmp_path)

    def included(version="standard"):
        data = {"force_include": {}}
        hook.initialize(version, data)
        return data["force_include"]

    monkeypatch.delenv("FRACTALS_PREBUILT", raising=False)
    assert included() == {}
    monkeypatch.setenv("FRACTALS_PREBUILT", "0")
    assert included() == {}
    monkeypatch.setenv("FRACTALS_PREBUILT", "1")
    assert included("editable") == {}
    with pytest.raises(SystemExit, match=r"scripts/prebuilt\.py"):
        included()
    file = tmp_path / "fractals" / "machine_code" / "linux-x86-64-v3.code"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"code")
    assert included() == {str(file): "fractals/machine_code/linux-x86-64-v3.code"}
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert "fractals/machine_code/" in ignored  # so no other wheel has it


def test_the_description_of_the_package_has_addresses_only(monkeypatch):
    hatch_build = build_hooks(monkeypatch)
    hook, metadata = hatch_build.Readme(), {}
    hook.root = str(ROOT)
    hook.update(metadata)
    text = metadata["readme"]["text"]
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert len(targets) == len(re.findall(r"\]\(", (ROOT / "README.md").read_text("utf-8")))
    assert all(target.startswith(("https://", "#")) for target in targets)
    for target in targets:
        if target.startswith((hatch_build.FILES, hatch_build.PICTURES)):
            name = target.removeprefix(hatch_build.FILES).removeprefix(hatch_build.PICTURES)
            assert (ROOT / name.partition("#")[0]).exists(), target
    assert f"]({hatch_build.PICTURES}gallery/strip.jpg)" in text


def test_a_release_carries_no_large_pictures():
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    left_out = [f"*{pattern}" for pattern in targets["targets"]["sdist"]["exclude"]]
    large = [path for path in (ROOT / "gallery").rglob("*.*") if path.stat().st_size > 150_000]
    assert len(large) > 40
    assert [p for p in large if not any(fnmatch(p.as_posix(), each) for each in left_out)] == []
    assert {"lessons/wrong", "lessons/pictures"} <= set(targets["targets"]["wheel"]["exclude"])


def test_the_format_of_contributing_reads_and_refuses():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "hexes" in c)
    names = {}
    exec(compile(code, "hexes.py", "exec"), names)
    form = names["make"]()
    found = form.read(b"ff8000\r\n00FF00\n", "")
    assert found.table["color"]["palette"]["stops"] == ["#ff8000", "#00FF00"]
    assert fractals.load_scene(found.table).color.palette.stops
    for data, words in ((b"red\n", "line 1: 'red' is no color"), (b"", "no color")):
        with pytest.raises(fractals.FractalsError, match=words):
            form.read(data, "")


def test_uv_run_pytest_installs_what_the_tests_need(monkeypatch):
    monkeypatch.setenv("UV", "/bin/uv")
    monkeypatch.delenv(of_tests.TRIED, raising=False)
    monkeypatch.setattr(of_tests, "lacking", lambda: ["mypy"])
    call = ["/bin/uv", "run", "--project", str(ROOT), "--group", "dev", "pytest", "-q"]
    assert of_tests.command(["-q"]) == call
    monkeypatch.setenv(of_tests.TRIED, "1")
    assert of_tests.command(["-q"]) is None
    monkeypatch.delenv(of_tests.TRIED)
    monkeypatch.setattr(of_tests, "lacking", list)
    assert of_tests.command(["-q"]) is None
    monkeypatch.undo()
    assert of_tests.lacking() == []
    monkeypatch.setattr(of_tests.metadata, "distributions", list)
    assert {"pytest", "mypy", "openexr"} & set(map(str.lower, of_tests.lacking())) == {
        "mypy",
        "openexr",
    }


def test_a_notebook_has_the_code_and_the_words_of_its_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import notebooks

    text = (ROOT / "docs" / "how-to" / "questions.md").read_text("utf-8")
    cells = notebooks.cells_of(text, "how-to/")
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == text.count("{fractal} python") > 4
    assert code[0].startswith("import fractals\n")
    for each in code:
        compile(each, "cell", "exec")
    words = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    assert "{fractal}" not in words
    (link,) = notebooks.cells_of("See [the keys](../reference/scene.md).", "how-to/")
    assert f"]({notebooks.SOURCE}how-to/../reference/scene.md)" in link["source"][0]
