"""The assignments: what students get, and that nbgrader marks right, empty and wrong answers as it should."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import assignments  # noqa: E402  (found by the line above)

NAMES = assignments.names()
EACH = pytest.mark.parametrize("name", NAMES)

# Typical mistakes: what of the reference solution a student wrote differently, and the cells that this should cost.
MISTAKES = {
    "binary_game": {
        "joint-for-posterior": ("posterior", "joint / joint.sum(axis=1, keepdims=True)", "joint", ["test-posterior"]),
        "mean-of-posteriors": (
            "map-accuracy",
            "table.max(axis=1).sum()",
            "(table / table.sum(axis=1, keepdims=True)).max(axis=1).mean()",
            ["test-map-accuracy"],
        ),
        "budget-without-law": (
            "pdd-program",
            "pulp.lpSum(joint[i, j] * (1 - keep[i][j])",
            "pulp.lpSum(0.25 * (1 - keep[i][j])",
            ["test-pdd-program"],
        ),
    },
    "gaussian_mixture": {
        "one-root": (
            "accuracy",
            "        return p * inside_1 + (1 - p) * (1 - inside_0)\n"
            "    return (1 - p) * inside_0 + p * (1 - inside_1)",
            "        roots = roots[:1]\n"
            "    low = norm.cdf(roots[-1], m0, np.sqrt(v0))\n"
            "    return (1 - p) * low + p * norm.sf(roots[-1], m1, np.sqrt(v1))",
            ["test-accuracy-two-roots"],
        ),
        "budget-as-deviation": ("accuracy-noise", "var + D", "var + D**2", ["test-accuracy-noise"]),
        "past-the-meeting": (
            "best-shift",
            "min(np.sqrt(D / (p * (1 - p))), 2 * mu)",
            "np.sqrt(D / (p * (1 - p)))",
            ["test-best-shift-met"],
        ),
    },
    "learning": {
        "no-bias": (
            "train-adversary",
            "        z = z - 2 * (table.sum(axis=1) * belief - table[:, 1])",
            "        z = z - 2 * (table.sum(axis=1) * belief - table[:, 1]) * [0, 1]",
            ["test-train-adversary"],
        ),
        "per-record": (
            "penalty",
            "    spent = (joint * (1 - keep)).sum()\n    return rho * max(0.0, spent - D)",
            "    return rho * (joint * np.maximum(0, 1 - keep - D)).sum()",
            ["test-penalty"],
        ),
        "wrong-sign": (
            "privatizer-loss",
            "return -(released(joint, keep) * charge)",
            "return (released(joint, keep) * charge)",
            ["test-privatizer-loss"],
        ),
    },
}


# Right answers that look different from the model solution: other types, other algorithms.
OTHERWISE = {
    "binary_game": {
        "released": """
def released(joint, keep):
    table = [[0.0, 0.0], [0.0, 0.0]]
    for x in (0, 1):
        for y in (0, 1):
            table[x][y] += joint[x, y] * keep[x, y]
            table[1 - x][y] += joint[x, y] * (1 - keep[x, y])
    return np.array(table)
""",
        "simulated-accuracy": """
def simulated_accuracy(joint, keep, n, seed):
    rng = np.random.default_rng(seed)
    right = 0
    x = (rng.random(n) < joint[1].sum()).astype(int)
    y = (rng.random(n) < posterior(joint)[x, 1]).astype(int)
    x_hat = x ^ (rng.random(n) >= keep[x, y])
    for k, row in enumerate(released(joint, keep)):
        right += ((x_hat == k) & (y == (0 if row[0] > row[1] else 1))).sum()
    return right / n
""",
        "pdd-program": """
def pdd_program(joint, D):
    flipped = {(i, j): pulp.LpVariable(f"f{i}{j}", 0, joint[i, j]) for i in (0, 1) for j in (0, 1)}
    program, t = pulp.LpProblem("mass", pulp.LpMinimize), pulp.LpVariable.dicts("t", [0, 1])
    program += t[0] + t[1]
    for k, j in flipped:
        program += t[k] >= joint[k, j] - flipped[k, j] + flipped[1 - k, j]
    program += sum(flipped.values()) <= D
    return program
""",
    },
    "gaussian_mixture": {
        "boundaries": """
def boundaries(p, m0, m1, v0, v1):
    constant = m0**2 * v1 - m1**2 * v0 + 2 * v0 * v1 * np.log(p / (1 - p) * np.sqrt(v0 / v1))
    roots = np.roots([v1 - v0, 2 * (m1 * v0 - m0 * v1), constant])
    return sorted(roots.real) if np.isreal(roots).all() else []
""",
        "accuracy": """
def accuracy(p, m0, m1, v0, v1):
    cuts, total = [-np.inf, *boundaries(p, m0, m1, v0, v1), np.inf], 0
    for cut in zip(cuts[:-1], cuts[1:]):
        total += max(w * np.ptp(norm.cdf(cut, m, v**0.5)) for w, m, v in ((1 - p, m0, v0), (p, m1, v1)))
    return total
""",
        "best-shift-noise": """
def best_shift_noise(p, mu, var, D):
    from scipy.optimize import minimize_scalar

    c = p * (1 - p)
    longest = min(np.sqrt(D / c), 2 * mu)
    found = minimize_scalar(
        lambda beta: (2 * mu - beta) / np.sqrt(var + D - c * beta**2), bounds=(0, longest), method="bounded"
    )
    return found.x, np.sqrt(D - c * found.x**2)
""",
    },
    "learning": {
        "train-adversary": """
def train_adversary(table):
    return np.log(table[:, 1] / table[:, 0])
""",
        "learn": """
def learn(joint, D):
    theta, z, mean, square, seen = np.full(4, 2.0), np.zeros(2), 0, 0, []
    for t in range(1, 3001):
        keep = (1 / (1 + np.exp(-theta))).reshape(2, 2)
        table = released(joint, keep)
        for _ in range(5):
            z = z - (table.sum(axis=1) / (1 + np.exp(-z)) - table[:, 1])
        gradient = np.zeros(4)
        for i, step in enumerate(1e-5 * np.eye(4)):
            up, down = ((1 / (1 + np.exp(-theta - s))).reshape(2, 2) for s in (step, -step))
            gradient[i] = privatizer_loss(up, joint, z, D, 2.0) - privatizer_loss(down, joint, z, D, 2.0)
        gradient /= 2e-5
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        theta = theta - 0.02 * (1 - t / 3001) * mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.99**t)) + 1e-8)
        seen.append(keep)
    return np.mean(seen[2250:], axis=0)
""",
        "exploitability": """
def exploitability(table, z):
    of_1 = 1 / (1 + np.exp(-np.asarray(z)))
    belief, posterior = np.column_stack([1 - of_1, of_1]), table / table.sum(axis=1, keepdims=True)
    return (table * np.log(posterior / belief)).sum()
""",
    },
}

# Only the model solution trains with TensorFlow, which takes longest: the others leave that answer out.
LEFT_OUT = {"learning": {"report": "test-report"}}


def source(name):
    return nbformat.read(assignments.TEMPLATE / "source" / name / f"{name}.ipynb", as_version=4)


def marks(cell):
    return cell.metadata.get("nbgrader", {})


def reference(name):
    """The model answers by cell, without the lines that mark them."""
    return {
        marks(cell).grade_id: re.sub(r"^ *### (BEGIN|END) SOLUTION\n?", "", cell.source, flags=re.MULTILINE)
        for cell in source(name).cells
        if marks(cell).get("solution")
    }


def automatic(name):
    """The points of each cell that is marked by a program."""
    return {
        marks(cell).grade_id: marks(cell).points
        for cell in source(name).cells
        if marks(cell).get("grade") and not marks(cell).solution
    }


def by_hand(name):
    return {marks(cell).grade_id for cell in source(name).cells if marks(cell).get("grade") and marks(cell).solution}


def filled(course, name, answers):
    """The student's version with the answers in it, as a student would write them."""
    notebook = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(marks(cell).grade_id, cell.source)
    return notebook


def hand_in(course, student, name, files):
    """Put files, or one notebook under its right name, where a teacher would."""
    if isinstance(files, nbformat.NotebookNode):
        files = {f"{name}.ipynb": nbformat.writes(files).encode()}
    folder = course / "submitted" / student / name
    folder.mkdir(parents=True)
    for path, data in files.items():
        (folder / path).write_bytes(data)


def mark(course, name, *options):
    """Run the command of the course; return what it prints."""
    command = [sys.executable, "mark.py", name, *options]
    return subprocess.run(command, cwd=course, capture_output=True, text=True, check=True)


def scores(course, name):
    """The points of every student in every cell, by student; None is left to a person."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: {
                grade.name: grade.auto_score for notebook in submission.notebooks for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(name)
        }


def lost(points, name):
    """The cells that did not get all of the points that a program gives."""
    return [cell for cell, most in automatic(name).items() if points[cell] != most]


def with_mistake(name, cell, right, wrong):
    answers = reference(name)
    assert answers[cell].count(right) == 1, f"the reference solution of {cell} is not what the mistake changes"
    return answers | {cell: answers[cell].replace(right, wrong)}


def without_training(name, answers):
    return {cell: answer for cell, answer in answers.items() if cell not in LEFT_OUT.get(name, {})}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    assignments.make_course(course)
    return course


@pytest.fixture(scope="module")
def marked(released):
    """The points of every student in every cell: marked[name][student][cell]; None is left to a person."""
    for name in NAMES:
        right = reference(name)
        hand_in(released, "right", name, filled(released, name, right))
        hand_in(released, "empty", name, filled(released, name, {}))
        otherwise = without_training(name, right | OTHERWISE[name])
        hand_in(released, "otherwise", name, filled(released, name, otherwise))
        for student, (cell, good, bad, _) in MISTAKES[name].items():
            answers = without_training(name, with_mistake(name, cell, good, bad))
            hand_in(released, student, name, filled(released, name, answers))
        mark(released, name)
    return {name: scores(released, name) for name in NAMES}


def test_every_assignment_has_mistakes_to_try():
    assert sorted(MISTAKES) == NAMES and min(map(len, MISTAKES.values())) >= 3


@EACH
def test_points_are_100_and_told_in_the_table_and_in_the_tasks(name):
    points, told, part = {}, {}, None
    for cell in source(name).cells:
        if heading := re.match(r"## (\d .+)", cell.source):
            part = heading[1]
        if marks(cell).get("grade"):
            points[part] = points.get(part, 0) + marks(cell).points
        for task in re.findall(r"\*\*Task [\d.]+\*\* \(([\d +]+) points", cell.source):
            told[part] = told.get(part, 0) + sum(map(int, task.split("+")))
    table = dict(re.findall(r"^\| (\d .+?) \| (\d+) \|$", source(name).cells[0].source, re.MULTILINE))
    assert {part: int(number) for part, number in table.items()} == points == told
    assert sum(points.values()) == 100


def test_the_page_tells_who_marks_what():
    page = (ROOT / "book" / "assignments.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    told = {name: (int(program), int(person)) for name, program, person in rows}
    assert told == {name: (sum(automatic(name).values()), 100 - sum(automatic(name).values())) for name in NAMES}


@EACH
def test_the_source_is_well_formed(name):
    notebook = source(name)
    nbformat.validate(notebook)
    ids = [marks(cell).grade_id for cell in notebook.cells]
    assert len(ids) == len(set(ids))
    for cell in notebook.cells:
        assert marks(cell).schema_version == 3
        assert not cell.get("outputs") and cell.get("execution_count") is None
        # Whatever is not an answer is restored before marking.
        assert marks(cell).solution != marks(cell).locked
        assert ("### BEGIN SOLUTION" in cell.source) == (marks(cell).solution and cell.cell_type == "code")
        assert ("### BEGIN HIDDEN TESTS" not in cell.source) or (marks(cell).grade and not marks(cell).solution)


@pytest.mark.slow
@EACH
def test_students_get_neither_solutions_nor_hidden_tests(released, name):
    given = nbformat.read(released / "release" / name / f"{name}.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in given.cells)
    lines = set(text.splitlines())
    secret = r"### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.+?)### END"
    hidden, shown = [], []
    for cell in source(name).cells:
        if cell.cell_type == "markdown" and marks(cell).solution:
            hidden.append(cell.source)
        else:
            hidden += re.findall(secret, cell.source, re.DOTALL)
            shown.append(re.sub(secret, "", cell.source, flags=re.DOTALL))
    hidden = {line for block in hidden for line in block.splitlines() if line.strip()}
    hidden -= {line for block in shown for line in block.splitlines()}
    assert len(hidden) > 100
    assert hidden & lines == set()
    assert "HIDDEN" not in text and "SOLUTION" not in text
    for cell in given.cells:
        if marks(cell).get("solution"):
            assert "NotImplementedError" in cell.source or "YOUR ANSWER HERE" in cell.source


@pytest.mark.slow
@EACH
def test_the_reference_gets_full_marks(marked, name):
    points = marked[name]["right"]
    assert {cell: score for cell, score in points.items() if score is not None} == automatic(name)
    assert {cell for cell, score in points.items() if score is None} == by_hand(name)


@pytest.mark.slow
@EACH
def test_right_answers_of_another_kind_get_full_marks(marked, name):
    assert lost(marked[name]["otherwise"], name) == list(LEFT_OUT.get(name, {}).values())


@pytest.mark.slow
@EACH
def test_an_empty_hand_in_gets_nothing(marked, name):
    assert marked[name]["empty"] == dict.fromkeys([*automatic(name), *by_hand(name)], 0)


@pytest.mark.slow
@pytest.mark.parametrize("name, student", [(name, student) for name in NAMES for student in MISTAKES[name]])
def test_a_mistake_costs_its_own_points_and_no_others(marked, name, student):
    *_, costs = MISTAKES[name][student]
    points = marked[name][student]
    assert lost(points, name) == costs + list(LEFT_OUT.get(name, {}).values())
    assert all(points[cell] == 0 for cell in lost(points, name))


# Hand-ins with a fault of another kind than a wrong answer. Each has a right answer to everything but, where it says so,
# one: the one that VICTIM names.
VICTIM = {"binary_game": "posterior", "gaussian_mixture": "accuracy-equal", "learning": "log-loss"}
# The seconds that a student's cell may take here: enough for the model answers on a busy machine.
SECONDS = 15


def tests_of(name, answer):
    """The cells with tests that belong to an answer."""
    found, current = [], None
    for cell in source(name).cells:
        if marks(cell).solution:
            current = marks(cell).grade_id
        elif marks(cell).grade and current == answer:
            found.append(marks(cell).grade_id)
    return found


def at(notebook, name):
    return next(i for i, cell in enumerate(notebook.cells) if marks(cell).get("grade_id") == name)


def code(text):
    return nbformat.v4.new_code_cell(text)


def early(notebook, text):
    """A cell of the student's own after the first answer."""
    answer = next(i for i, cell in enumerate(notebook.cells) if marks(cell).get("solution"))
    notebook.cells.insert(answer + 1, code(text))
    return notebook


def with_victim(body, after=""):
    """The victim has another body: what is written here."""

    def fault(name, notebook):
        cell = notebook.cells[at(notebook, VICTIM[name])]
        head = next(line for line in cell.source.splitlines() if line.startswith("def "))
        cell.source = f"{head}\n{body}\n{after}"
        return notebook

    return fault


def after_victim(text):
    def fault(name, notebook):
        notebook.cells[at(notebook, VICTIM[name])].source += f"\n{text}\n"
        return notebook

    return fault


def changes_its_argument(name, notebook):
    """The result is right."""
    cell = notebook.cells[at(notebook, {"binary_game": "posterior", "learning": "penalty"}[name])]
    cell.source = {
        "binary_game": "def posterior(joint):\n    joint /= joint.sum(axis=1, keepdims=True)\n    return joint",
        "learning": "def penalty(keep, joint, D, rho):\n    keep -= 1\n    return rho * max(0.0, -(joint * keep).sum() - D)",
    }[name]
    return notebook


def unmarked(name, notebook):
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def moved(name, notebook):
    """The victim is at the end, with a helper in a cell of its own; a test has gone to the top."""
    cell = notebook.cells.pop(at(notebook, VICTIM[name]))
    head = next(line for line in cell.source.splitlines() if line.startswith("def "))
    function, arguments = re.fullmatch(r"def (\w+)(\(.*\)):", head).groups()
    notebook.cells.append(code(cell.source.replace(f"def {function}", "def helper")))
    cell.source = f"{head}\n    return helper{arguments}"
    notebook.cells.append(cell)
    notebook.cells.insert(0, notebook.cells.pop(at(notebook, tests_of(name, VICTIM[name])[0])))
    return notebook


def copied(name, notebook):
    """A first try stays above, an empty copy below; a test was copied too."""
    place = at(notebook, VICTIM[name])
    first, last = nbformat.from_dict(notebook.cells[place]), nbformat.from_dict(notebook.cells[place])
    first.id, last.id = "first", "last"
    first.source = first.source.replace("return", "return 0 *")
    function = re.search(r"def \w+\(.*\):", first.source)[0]
    stub = next(cell for cell in STUBS[name] if marks(cell).get("grade_id") == VICTIM[name])
    last.source = stub.source
    assert function in last.source
    test = nbformat.from_dict(notebook.cells[place + 1])
    test.id = "test"
    notebook.cells[place : place + 1] = [first, notebook.cells[place], last]
    notebook.cells.append(test)
    return notebook


def deleted(*ids):
    def fault(name, notebook):
        notebook.cells = [cell for cell in notebook.cells if marks(cell).get("grade_id") not in ids]
        return notebook

    return fault


def tampered(name, notebook):
    """Tests that test nothing, more points, another kind of cell."""
    for cell in notebook.cells:
        if marks(cell).get("grade") and not marks(cell).solution:
            cell.source = "pass"
            marks(cell).points = 1000
    notebook.cells[at(notebook, "setup")].source += "\nimport numpy as np\nnp.allclose = lambda *a, **k: True"
    victim = notebook.cells[at(notebook, VICTIM[name])]
    victim.source = "def posterior(joint):\n    return joint"
    marks(victim).solution = False
    return notebook


def one_cell(name, notebook):
    """All answers in one cell, and in words below the cell for words."""
    answers = [cell for cell in notebook.cells if marks(cell).get("solution") and cell.cell_type == "code"]
    everything = "\n\n".join(cell.source for cell in answers)
    notebook.cells = [cell for cell in notebook.cells if cell not in answers[1:]]
    answers[0].source = everything
    words = at(notebook, "words")
    notebook.cells.insert(words + 1, nbformat.v4.new_markdown_cell(notebook.cells[words].source))
    notebook.cells[words].source = "YOUR ANSWER HERE"
    return notebook


def other_kernel(name, notebook):
    notebook.metadata = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}, "marking": "x"}
    return notebook


def picture(name, notebook):
    # A picture of one point.
    point = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    cell = notebook.cells[at(notebook, "words")]
    cell.source = "See here: ![image.png](attachment:image.png)"
    cell.attachments = {"image.png": {"image/png": point}}
    return notebook


def as_file(path, encode=lambda text: text.encode()):
    return lambda name, notebook: {path.format(name=name): encode(nbformat.writes(notebook))}


def in_latin_1(text):
    data = json.loads(text)
    data["cells"][0]["source"] = "größer"
    return json.dumps(data, ensure_ascii=False).encode("latin-1")


LOOP = "    import time\n    while True:\n        try:\n            time.sleep(1)\n        except BaseException:\n            pass"
EQUAL_TO_ALL = (
    "    class Yes(float):\n        __eq__ = __lt__ = __le__ = __gt__ = __ge__ = lambda *a: True\n"
    "        __array_priority__ = 99\n        shape = (2, 2)\n    return Yes()"
)
# Name: what is done to a notebook that is right, and whether the victim (True), nothing (False) or other cells lose points.
ANYWHERE = {
    "replaces functions": (
        with_victim("    return np.zeros(2)", "np.allclose = np.isclose = lambda *a, **k: True\nimport builtins\nbuiltins.abs = lambda x: 0"),
        True,
    ),
    "replaces functions when called": (
        with_victim("    np.allclose = np.isclose = np.log = np.exp = np.sqrt = lambda *a, **k: True\n    return np.zeros(2)"),
        True,
    ),
    "breaks what others use": (
        lambda name, notebook: early(
            notebook,
            "np.sqrt = np.log = np.exp = np.zeros = np.max = None\nnp.random.default_rng = 0\nif 'EXAMPLE' in globals():\n"
            "    EXAMPLE[:] = 7\nif 'norm' in globals():\n    norm.cdf = norm.pdf = None\nif 'pulp' in globals():\n    pulp.LpVariable = None",
        ),
        False,
    ),
    "has names of its own": (
        lambda name, notebook: early(
            notebook,
            "np = norm = pulp = EXAMPLE = None\nsum = max = min = len = p = joint = keep = rng = want = got = table = D = n = 0\n"
            "def accuracy_by_sum(*a): return 1\ndef isclose(*a): return True\nroots = law = laws = case = 'x'",
        ),
        False,
    ),
    "does not end": (with_victim(LOOP), True),
    "has a syntax error": (with_victim("    return ("), True),
    "ends Python when called": (with_victim("    import os\n    os._exit(0)"), True),
    "calls exit": (
        lambda name, notebook: early(after_victim("exit()\nquit()")(name, notebook), "import sys\nsys.exit()"),
        False,
    ),
    "lost its marks": (unmarked, False),
    "moved cells": (moved, False),
}
ONCE = {
    "changes its argument": (changes_its_argument, ["test-posterior"]),
    "gives what is equal to all": (with_victim(EQUAL_TO_ALL), True),
    "exits when called": (with_victim("    import sys\n    sys.exit()"), True),
    "asks when called": (with_victim("    return float(input())"), True),
    "asks in a cell": (lambda name, notebook: early(notebook, "budget = float(input('D? '))"), False),
    "loops in a cell": (lambda name, notebook: early(notebook, "HELPER = 1\nwhile True:\n    pass"), False),
    "loops after an answer": (after_victim("while True:\n    pass"), False),
    "ends Python in a cell": (lambda name, notebook: early(notebook, "import os\nos._exit(1)"), False),
    "prints 50 MB": (lambda name, notebook: early(notebook, "for _ in range(50):\n    print('x' * 10**6)"), False),
    "prints 50 MB when called": (after_victim("_right = posterior\ndef posterior(joint):\n    print('x' * 10**6)\n    return _right(joint)"), False),
    "takes all memory": (with_victim("    return [bytearray(2**30) for _ in range(100)]"), True),
    "warns": (after_victim("import warnings, sys\nwarnings.warn('careful')\nprint('careful', file=sys.stderr)"), False),
    "copied cells": (copied, False),
    "deleted an answer": (deleted("posterior"), True),
    "deleted tests": (deleted("setup", "test-posterior", "test-released", "part-2", "title"), False),
    "deleted words": (deleted("words"), False),
    "tampered": (tampered, True),
    "wrote one cell": (one_cell, False),
    "other kernel": (other_kernel, False),
    "picture": (picture, False),
    "renamed": (as_file("Homework 1 (final).ipynb"), False),
    "renamed and no suffix": (as_file("{name}.ipynb.txt"), False),
    "utf-16": (as_file("{name}.ipynb", lambda text: text.encode("utf-16")), False),
    "byte order mark": (as_file("{name}.ipynb", lambda text: text.encode("utf-8-sig")), False),
    "latin-1": (as_file("{name}.ipynb", in_latin_1), False),
    "two files": (
        lambda name, notebook: {
            f"{name}.ipynb": nbformat.writes(nbformat.v4.new_notebook(cells=STUBS[name])).encode(),
            f"{name}-Copy1.ipynb": nbformat.writes(notebook).encode(),
        },
        False,
    ),
    "empty file": (as_file("{name}.ipynb", lambda text: b""), "the file is empty"),
    "cut off": (as_file("{name}.ipynb", lambda text: text.encode()[:2000]), "the file is not a notebook, or was cut off"),
    "no notebook": (lambda name, notebook: {"answers.txt": b"see my mail"}, "there is no notebook"),
    "other assignment": (
        lambda name, notebook: nbformat.v4.new_notebook(cells=[code("print('hello')")]),
        "no cell belongs to this assignment",
    ),
}
STUBS = {}  # the cells of the students' versions, once they are made
FAULTS = [("binary_game", fault) for fault in ANYWHERE | ONCE]
FAULTS += [(name, fault) for name in ("gaussian_mixture", "learning") for fault in ANYWHERE]
FAULTS += [("learning", "changes its argument")]


def student_of(fault):
    return re.sub(r"\W", "-", fault)


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A course in which everybody hands in something faulty: its folder, and what the command printed."""
    course = tmp_path_factory.mktemp("broken")
    assignments.make_course(course)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.ExecuteApart.seconds = {SECONDS}\n")
    for name in NAMES:
        STUBS[name] = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4).cells
    for name, fault in FAULTS:
        notebook = filled(course, name, without_training(name, reference(name)))
        hand_in(course, student_of(fault), name, (ANYWHERE | ONCE)[fault][0](name, notebook))
    return course, {name: mark(course, name) for name in NAMES}


@pytest.fixture(scope="module")
def broken_scores(broken):
    return {name: scores(broken[0], name) for name in NAMES}


@pytest.fixture(scope="module")
def table(broken):
    """The rows of grades.csv, by assignment and student."""
    assignments.nbgrader(broken[0], "export")
    with (broken[0] / "grades.csv").open(newline="") as file:
        return {(row["assignment"], row["student_id"]): row for row in csv.DictReader(file)}


@pytest.mark.slow
@pytest.mark.parametrize("name, fault", FAULTS, ids=[f"{name}: {fault}" for name, fault in FAULTS])
def test_a_fault_costs_what_the_page_says(broken_scores, table, name, fault):
    costs, row = (ANYWHERE | ONCE)[fault][1], table[name, student_of(fault)]
    if isinstance(costs, str):
        assert row["status"].startswith("not markable: ") and costs in row["status"]
        assert row["program"] == row["words"] == row["score"] == ""
        return
    if fault == "changes its argument":
        costs = {"binary_game": ["test-posterior"], "learning": ["test-penalty"]}[name]
    elif isinstance(costs, bool):
        costs = tests_of(name, VICTIM[name]) if costs else []
    points = broken_scores[name][student_of(fault)]
    assert lost(points, name) == costs + list(LEFT_OUT.get(name, {}).values())
    assert float(row["program"]) == sum(points[cell] for cell in automatic(name))
    unanswered = fault == "deleted words"
    assert row["status"] == ("marked" if unanswered else "words not yet marked")
    assert row["words"] == ("0.0" if unanswered else "")


@pytest.mark.slow
def test_feedback_tells_what_was_wrong_and_loads_nothing(released, marked):
    assignments.nbgrader(released, "generate_feedback", "binary_game", "--student=joint-for-posterior")
    page = (released / "feedback" / "joint-for-posterior" / "binary_game" / "binary_game.html").read_text()
    assert "in the example Y equals X with chance 3/4" in page
    assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//", page)


@pytest.mark.slow
def test_a_course_with_submissions_is_not_overwritten(released, marked):
    with pytest.raises(FileExistsError, match="without submissions"):
        assignments.make_course(released)


def test_the_command_says_what_is_wrong(tmp_path):
    (tmp_path / "submitted").mkdir()
    run = subprocess.run([sys.executable, ROOT / "tools" / "assignments.py", tmp_path], capture_output=True, text=True)
    assert run.returncode == 1 and "without submissions" in run.stderr
