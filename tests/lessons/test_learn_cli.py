"""`fractals learn` with three small steps in a folder of the test."""

import io
import json
import os
import signal
import subprocess
import sys

import PIL.Image
import pytest
from support.command_line import one_line

from fractals.lessons import chart
from fractals.lessons import steps as steps

SCRIPTS = {
    "step_01_first.py": '''"""Step 1: the first step."""
import json, os, sys
print("runs", *sys.argv[1:])
line = {"step": "1", "seconds": 2.0, "device": "CPU", "rate": 2e6, "unit": "it/s"}
line |= {"arithmetic": 5e9, "percent": 0.16}
with open(os.environ["FRACTALS_LADDER"], "a") as file:
    file.write(json.dumps(line) + "\\n")
''',
    "step_02_second.py": '''"""Step 2: the second step."""
import json, os
line = {"step": "2", "seconds": 0.5, "device": "CPU", "rate": 8e6, "unit": "it/s", "times": 4.0}
line |= {"arithmetic": 1e10, "percent": 0.32}
with open(os.environ["FRACTALS_LADDER"], "a") as file:
    file.write(json.dumps(line) + "\\n")
''',
    "step_a_broken.py": '"""Step A: the broken step."""\nraise SystemExit(3)\n',
    "step_01_first.md": "# Step 1\n<!-- code: step_01_first.py all -->\nText.\n",
    "zh/step_01_first.md": "# 第 1 步\n",
    "exercises/step_01_first.py": "def answer():\n    ...\n",
    "checks/step_01_first.py": "def check(a):\n    assert a.answer() == 42, 'not 42'\n",
}


@pytest.fixture
def learn(run, tmp_path, monkeypatch):
    """Return a function that runs `fractals learn` in an empty folder."""
    for name, text in SCRIPTS.items():
        path = tmp_path / "lessons" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.setattr(steps, "FOLDERS", (tmp_path / "none", tmp_path / "lessons"))
    monkeypatch.setenv("FRACTALS_LADDER", str(tmp_path / "ladder.jsonl"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return lambda *arguments: run("learn", *arguments)


def test_steps_are_listed(learn):
    code, out, err = learn()
    lines = out.decode().splitlines()
    assert (code, err) == (0, "")
    assert lines[0].split() == ["1", "first", "the", "first", "step."]
    assert lines[2].split()[:2] == ["a", "broken"]
    assert any("fractals learn --start 1" in line for line in lines)


@pytest.mark.parametrize("name", ["1", "01", "first", "step_01_first"])
def test_a_script_is_run_with_its_arguments(learn, tmp_path, name, capfdbinary):
    code, out, _ = learn(name, "picture.png")
    assert code == 0
    assert out == b"runs picture.png\n"
    assert len((tmp_path / "ladder.jsonl").read_text().splitlines()) == 1


ENDLESS = "import time\nwhile True:\n    print('on')\n    time.sleep(0.05)\n"
LEARN = """
import signal, sys
from pathlib import Path
from fractals.cli import main
from fractals.lessons import steps
signal.signal(signal.SIGINT, signal.default_int_handler)
steps.FOLDERS = (Path("none"), Path(sys.argv[1]))
main(["learn", "1"])
"""


@pytest.mark.skipif(os.name != "posix", reason="needs groups of processes")
def test_ctrl_c_ends_a_script_without_a_traceback(learn, tmp_path):
    (tmp_path / "lessons" / "step_01_first.py").write_text(ENDLESS)
    command = [sys.executable, "-c", LEARN, str(tmp_path / "lessons")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        assert process.stdout.readline() == b"on\n"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, b"fractals: interrupted")


ASKS = "print('hello', input('Your name? '))\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_a_question_of_a_script_is_seen_before_its_answer(learn, tmp_path):
    (tmp_path / "lessons" / "step_01_first.py").write_text(ASKS)
    command = [sys.executable, "-c", LEARN, str(tmp_path / "lessons")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.read(11) == b"Your name? "  # nothing was typed yet
        out, _ = process.communicate(b"Karl\n", timeout=60)
    assert (process.returncode, out) == (0, b"hello Karl\n")


@pytest.mark.skipif(os.name != "posix", reason="needs groups of processes")
def test_keys_that_stop_or_quit_reach_a_script(learn, tmp_path):
    """Ctrl-Z stops a group of processes: a script of another one would go on, and be counted."""
    script = tmp_path / "lessons" / "step_01_first.py"
    script.write_text(f"import os\nprint(os.getpgid(0))\n{ENDLESS}")
    command = [sys.executable, "-c", LEARN, str(tmp_path / "lessons")]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as process:
        group = int(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)
    assert group == process.pid


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_what_a_script_leaves_behind_holds_nothing_up(learn, tmp_path):
    """A script's own child keeps stdout open; it would for as long as it runs."""
    child = "import subprocess\nleft = subprocess.Popen(['sleep', '600'])\nprint(left.pid)\n"
    (tmp_path / "lessons" / "step_01_first.py").write_text(child)
    printed = []
    steps.run_script(steps.find_step("1"), write=printed.append)
    os.kill(int(b"".join(printed)), signal.SIGKILL)  # an error where it has ended before


def test_a_script_ends_where_nobody_takes_what_it_prints(learn, tmp_path):
    (tmp_path / "lessons" / "step_01_first.py").write_text(ENDLESS)

    def full(line):
        raise OSError(28, line.decode())

    with pytest.raises(OSError, match="on"):
        steps.run_script(steps.find_step("1"), write=full)
    with pytest.raises(steps.FractalsError, match="not finished after 1 s"):
        steps.run_script(steps.find_step("1"), seconds=1)


def test_a_picture_is_not_lost(learn, tmp_path, capfdbinary):
    mine = tmp_path / "work" / "mine.png"
    mine.write_bytes(b"mine")
    code, out, err = learn("1", "mine.png")
    assert (code, out) == (1, b"")
    assert "'mine.png' exists already: name another file, or give --overwrite" in err
    assert "the folder 'none' does not exist" in learn("1", "none/mine.png")[2]
    assert learn("1", "mine.png", "--overwrite")[1] == b"runs mine.png\n"


def test_errors_are_in_the_language_of_the_user(learn, tmp_path):
    real = steps.PACKAGE.parent / "lessons" / "zh" / "verdicts.toml"
    (tmp_path / "lessons" / "zh" / "verdicts.toml").write_bytes(real.read_bytes())
    code, _, err = learn("7", "--language", "zh")
    assert (code, err) == (2, "fractals: 没有第“7”步：请选 1, 2, a；“fractals learn”会列出它们\n")
    assert learn("a", "--language", "zh")[2] == "fractals: 第 a 步：脚本以退出码 3 结束\n"


def test_help_names_all_steps(run):
    numbers = [step.key for step in steps.all_steps() if step.key.isdigit()]
    letter = steps.all_steps()[-1].key
    words = " ".join(run("learn", "--help")[1].decode().split())
    assert f"a number from 0 to {numbers[-1]}, or a letter from a to {letter}" in words


def test_a_script_that_fails_is_an_error(learn):
    code, _, err = learn("a")
    assert code == 1
    assert err == "fractals: step a: the script ends with exit code 3\n"


def test_a_page_is_printed_without_its_markers(learn):
    assert learn("--page", "1")[1] == b"# Step 1\nText.\n"
    assert learn("--page", "1", "--language", "zh")[1].decode() == "# 第 1 步\n"
    code, _, err = learn("--page", "2")
    assert code == 1
    assert "step 2 has no page in this language" in err


def test_an_exercise_is_started_and_checked(learn, tmp_path):
    assert learn("--start", "1")[0] == 0
    path = tmp_path / "work" / "exercise_01.py"
    code, _, err = learn("--check", "1", "exercise_01.py")
    assert (code, err) == (3, "fractals: exercise_01.py: not 42\n")
    code, _, err = learn("--start", "1")
    assert code == 1
    assert "'exercise_01.py' exists already: check it, or begin again with --overwrite" in err
    path.write_text("def answer():\n    return 42\n")
    code, out, err = learn("--check", "1", "exercise_01.py")
    assert (code, out) == (0, b"step 1: passed\n")
    assert err == "fractals: next: fractals learn --page 2\n"
    assert learn("--start", "1", "--overwrite")[0] == 0
    assert "..." in path.read_text()


def test_the_report_is_a_chart_and_json(learn):
    code, _, err = learn("--report", "-o", "mine.png")
    assert code == 1
    assert err.splitlines()[-1] == "fractals: step a: the script ends with exit code 3"
    with open("mine.json", encoding="utf-8") as file:
        found = json.load(file)
    assert [step["step"] for step in found["steps"]] == ["1", "2", "a"]
    assert found["hardware"]["cpu"]["cores"] >= 1
    assert found["steps"][0]["rate"] == 2e6
    # Step 1 measured half of the arithmetic that step 2 measured.
    assert [step.get("percent") for step in found["steps"]] == [0.08, 0.32, None]
    assert found["steps"][2]["error"] == "step a: the script ends with exit code 3"
    with PIL.Image.open("mine.png") as image:
        assert image.width == chart.WIDTH


def test_the_report_of_some_steps(learn):
    assert learn("--report", "2", "1", "-q") == (0, b"", "")
    with open("lesson.json", encoding="utf-8") as file:
        assert [step["step"] for step in json.load(file)["steps"]] == ["2", "1"]
    code, _, err = learn("--report")
    assert code == 1
    assert "'lesson.png' exists already" in err


def test_bars_of_the_chart_are_as_long_as_their_rates(learn):
    learn("--report", "1", "2", "-q")
    with open("lesson.json", encoding="utf-8") as file:
        found = json.load(file)
    with PIL.Image.open(io.BytesIO(chart.chart(found))) as image:
        rows = [chart.HEAD + chart.ROW * k + chart.ROW // 2 for k in range(2)]
        pixels = [[image.getpixel((x, y)) for x in range(image.width)] for y in rows]
    color = tuple(bytes.fromhex(chart.COLORS["CPU"][1:]))
    first, second = (row.count(color) for row in pixels)
    decade = second / 0.9031  # 8e6, on an axis from 1e6
    assert first == pytest.approx(0.3010 * decade, abs=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("7",), "no step '7': choose 1, 2, a; 'fractals learn' lists them"),
        (("secnd",), "no step 'secnd'; did you mean 'second'?"),
        (("--check", "1"), "no file 'exercise_01.py': 'fractals learn --start 1' writes"),
        (("--check", "1", "a.py", "b.py"), "--check: name one file: fractals learn --check 1 FILE"),
        (("1", "picture.txt"), "'picture.txt' names no picture: end it in .png"),
        (("--check", "1", "none.py"), "no file 'none.py': 'fractals learn --start 1' writes"),
        (("--start",), "--start: name a step, as in 'fractals learn --start 1'"),
        (("--start", "1", "x"), "--start: unexpected argument 'x'"),
        (("--start", "--check", "1"), "--start and --check: give one of them"),
        (("--report", "-o", "x.svg"), "--output: 'x.svg' does not end in .png"),
    ],
)
def test_wrong_arguments(learn, arguments, message):
    code, _, err = learn(*arguments)
    assert code == 2
    assert one_line(err)
    assert message in err


def test_the_step_is_taken_from_the_name_of_the_answer(learn, tmp_path):
    (tmp_path / "work" / "exercise_01.py").write_text("def answer():\n    return 42\n")
    code, out, err = learn("--check", "exercise_01.py")
    assert (code, out.decode()) == (0, "step 1: passed\n")
    assert "next: fractals learn --page 2" in err
    assert learn("--check", "answer.py")[0] == 2
    assert learn("--check", "01")[1].decode() == "step 1: passed\n"  # and the other way round


def test_the_command_speaks_the_language_of_the_user(run, monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    code, out, _ = run("learn")
    assert code == 0
    assert "线程：所有核心" in out.decode()
    assert "所有文件：" in out.decode()
    code, _, err = run("learn", "--start", "1")
    assert (code, err) == (0, "fractals: exercise_01.py：已写好\n")
    code, _, err = run("learn", "--check", "exercise_01.py")
    assert code == 3
    assert err == "fractals: exercise_01.py: 第 9 行：NotImplementedError：请写出这个函数\n"
    assert "5  threads" in run("learn", "--lang", "en")[1].decode()
