"""The assignments: what students get, and that nbgrader marks right, empty and wrong answers as it should."""

import csv
import importlib
import json
import math
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import assignments
import nbformat
import numpy as np
import pandas as pd
import pulp
import pytest
from project import ROOT, python

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
    "own_table": {
        "drops-every-gap": ("complete", "table.dropna(subset=[private])", "table.dropna()", ["test-complete"]),
        "fits-what-is-kept": (
            "release",
            "mechanism.fit(fitted).transform(kept)",
            "mechanism.fit(kept).transform(kept)",
            ["test-release"],
        ),
        "blind-to-the-baseline": (
            "verdict",
            'if found["control"] <= found["baseline"]',
            'if found["control"] <= 0.5',
            ["test-verdict-blind"],
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
    "own_table": {
        "complete": """
def complete(table, private):
    return table[[not pd.isna(value) for value in table[private]]].reset_index(drop=True)
""",
        "halves": """
def halves(table, private, seed):
    from sklearn.model_selection import train_test_split

    return train_test_split(table, test_size=0.5, stratify=table[private], random_state=seed)
""",
        "release": """
def release(fitted, kept, private, budget, how, seed):
    mechanism = TablePrivatizer(private, budget, method=how[1], kind=how[0], random_state=seed)
    mechanism.fit(fitted.reset_index(drop=True).copy())
    if how[0] == "pdi":
        kept = kept.drop(columns=private)
    return mechanism.transform(kept).reset_index(drop=True)
""",
        "cost": """
def cost(before, after):
    rows = np.zeros(len(before))
    for name in before:
        if isinstance(before[name].iloc[0], str):
            rows += [a != b for a, b in zip(before[name], after[name])]
        else:
            rows += (after[name].to_numpy() - before[name].to_numpy()) ** 2 / np.var(before[name].to_numpy())
    return rows.sum() / len(rows)
""",
        "risk-at": """
def risk_at(points, cost):
    below, above = [p for p in points if p[0] <= cost], [p for p in points if p[0] >= cost]
    if not below or not above:
        return float("nan")
    (c0, r0), (c1, r1) = max(below), min(above)
    return r0 if c0 == c1 else (r0 * (c1 - cost) + r1 * (cost - c0)) / (c1 - c0)
""",
        "assess": """
def assess(fitted, kept, private, budget, seed):
    found = audit(kept, release(fitted, kept, private, budget, ("pdd", "transport"), seed), private, seed)
    ends = {"attack": "attack", "low": "attack_low", "high": "attack_high", "control": "control"}
    counts = kept[private].value_counts(normalize=True)
    return {name: max(found.attacks[column]) for name, column in ends.items()} | {"baseline": counts.iloc[0]}
""",
    },
}

# Only the model solution trains with TensorFlow, and fits for every method, which take longest: the others leave these
# answers out.
LEFT_OUT = {"learning": {"report": "test-report"}, "own_table": {"compare": "test-compare"}}


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
def new_course(tmp_path_factory):
    """A course as the teacher makes it, to be copied: to make it takes a process for each assignment."""
    course = tmp_path_factory.mktemp("new") / "course"
    assignments.make_course(course)
    return course


@pytest.fixture(scope="module")
def released(new_course, tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    shutil.copytree(new_course, course, dirs_exist_ok=True)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write("\nc.ExecuteApart.seconds = 300\n")  # here nothing is endless, and the machine may be busy
    return course


@pytest.fixture(scope="module")
def marked(released):
    """The points of every student in every cell: marked[name][student][cell]; None is left to a person."""
    printed = {}
    for name in NAMES:
        right = reference(name)
        hand_in(released, "right", name, filled(released, name, right))
        hand_in(released, "empty", name, filled(released, name, {}))
        otherwise = without_training(name, right | OTHERWISE[name])
        hand_in(released, "otherwise", name, filled(released, name, otherwise))
        for student, (cell, good, bad, _) in MISTAKES[name].items():
            answers = without_training(name, with_mistake(name, cell, good, bad))
            hand_in(released, student, name, filled(released, name, answers))
        printed[name] = mark(released, name)
    return {name: scores(released, name) for name in NAMES} | {"printed": printed}


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
def test_nothing_alarming_is_printed_for_honest_work(marked, name):
    result, points = marked["printed"][name], sum(automatic(name).values())
    assert result.stderr == ""
    students = [*MISTAKES[name], "empty", "otherwise", "right"]
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert sorted(name for name, line in lines.items() if line != "not handed in") == sorted(students)
    assert lines["right"] == f"words not yet marked, {points} points by program"
    assert lines["empty"] == "marked, 0 points by program"


@pytest.fixture(scope="module")
def honest_table(released, marked):
    return exported(released)


@pytest.mark.slow
@EACH
def test_grades_tell_a_zero_from_what_is_not_marked(honest_table, name):
    rows = honest_table
    zero, right = rows[name, "empty"], rows[name, "right"]
    columns = ("status", "program", "words", "score")
    assert [zero[column] for column in columns] == ["marked", "0.0", "0.0", "0.0"]
    full = str(float(sum(automatic(name).values())))
    assert [right[column] for column in columns] == ["words not yet marked", full, "", ""]


@pytest.mark.slow
def test_grades_count_what_a_person_has_marked(released, marked):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("words", "binary_game", "binary_game", "right")
        grade.manual_score, grade.needs_manual_grade = 7, False
        gradebook.db.commit()
    row = row_of(released, "right")
    assert [row[column] for column in ("status", "program", "words", "score")] == ["marked", 90, 7, 97]
    # To mark again touches nothing that has not changed; what has changed is to be marked by a person again.
    copy = released / "autograded" / "right" / "binary_game" / "binary_game.ipynb"
    before = copy.stat().st_mtime_ns
    mark(released, "binary_game")
    assert copy.stat().st_mtime_ns == before
    path = released / "submitted" / "right" / "binary_game" / "binary_game.ipynb"
    path.write_bytes(path.read_bytes().replace(b"Assignment 1", b"Assignment one"))
    assert row_of(released, "right")["status"] == "not yet marked"
    mark(released, "binary_game")
    assert row_of(released, "right")["status"] == "words not yet marked"


def row_of(course, student):
    """What `nbgrader export` writes of a student, without the start of a program."""
    from nbgrader.api import Gradebook

    with modules_of(course) as module, Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        rows = module("grades").rows(gradebook, "binary_game")
    return next(row for row in rows if row["student_id"] == student)


@pytest.mark.slow
@EACH
def test_an_empty_hand_in_gets_nothing(marked, name):
    assert marked[name]["empty"] == dict.fromkeys([*automatic(name), *by_hand(name)], 0)


@pytest.mark.slow
@pytest.mark.parametrize("name, student", [(name, student) for name in NAMES for student in MISTAKES[name]])
def test_a_mistake_costs_its_own_points_and_no_others(marked, name, student):
    *_, costs = MISTAKES[name][student]
    points = marked[name][student]
    assert sorted(lost(points, name)) == sorted([*costs, *LEFT_OUT.get(name, {}).values()])
    assert all(points[cell] == 0 for cell in lost(points, name))


# Hand-ins with faults of another kind. Every answer is right but, at most, the one that VICTIM names.
VICTIM = {
    "binary_game": "posterior",
    "gaussian_mixture": "accuracy-equal",
    "learning": "log-loss",
    "own_table": "cost",
}
# The seconds that a student's cell may take here: enough for the model answers on a busy machine. The only answer that
# does not end is a victim that takes no time when it is right, so nobody waits long for it.
SECONDS = {"seconds": 300, "seconds_for": {VICTIM["binary_game"]: 5}}


def cells_that_test(name, answer):
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


def before_victim(text):
    def fault(name, notebook):
        cell = notebook.cells[at(notebook, VICTIM[name])]
        cell.source = f"{text}\n{cell.source}"
        return notebook

    return fault


def changes_its_argument(name, notebook):
    """The result is right."""
    cell = notebook.cells[at(notebook, CHANGES[name])]
    cell.source = {
        "binary_game": "def posterior(joint):\n    joint /= joint.sum(axis=1, keepdims=True)\n    return joint",
        "learning": (
            "def penalty(keep, joint, D, rho):\n    keep -= 1\n    return rho * max(0, -(joint * keep).sum() - D)"
        ),
        "own_table": "def complete(table, private):\n    table.dropna(subset=[private], inplace=1)\n    return table",
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
    notebook.cells.insert(0, notebook.cells.pop(at(notebook, cells_that_test(name, VICTIM[name])[0])))
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
    """All answers are in the cell of the first."""
    answers = [cell for cell in notebook.cells if marks(cell).get("solution") and cell.cell_type == "code"]
    notebook.cells = [cell for cell in notebook.cells if cell not in answers[1:]]
    answers[0].source = "\n\n".join(cell.source for cell in answers)
    return notebook


def below(name, notebook):
    """The answer in words is not in the cell for it, but below."""
    words = at(notebook, "words")
    notebook.cells.insert(words + 1, nbformat.v4.new_markdown_cell(notebook.cells[words].source))
    notebook.cells[words].source = "YOUR ANSWER HERE"
    return notebook


def other_assignment(name, notebook):
    return nbformat.v4.new_notebook(cells=[code("print('hello')")])


def both(*faults):
    def fault(name, notebook):
        for one in faults:
            notebook = one(name, notebook)
        return notebook

    return fault


def other_kernel(name, notebook):
    notebook.metadata = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
    return notebook


def picture(name, notebook):
    point = (  # a picture of one point
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    cell = notebook.cells[at(notebook, "words")]
    cell.source = "See here: ![image.png](attachment:image.png)"
    cell.attachments = {"image.png": {"image/png": point}}
    return notebook


def two_files(name, notebook):
    """The right name has the empty version."""
    empty = nbformat.v4.new_notebook(cells=STUBS[name])
    files = {f"{name}.ipynb": empty, f"{name}-Copy1.ipynb": notebook}
    return {path: nbformat.writes(content).encode() for path, content in files.items()}


def as_file(path, encode=lambda text: text.encode()):
    return lambda name, notebook: {path.format(name=name): encode(nbformat.writes(notebook))}


def early(text):
    """A cell of the student's own after the first answer."""

    def fault(name, notebook):
        answer = next(i for i, cell in enumerate(notebook.cells) if marks(cell).get("solution"))
        notebook.cells.insert(answer + 1, code(text))
        return notebook

    return fault


ASKS = "budget = float(input('D? '))"
MEMORY = "    return [bytearray(2**30) for _ in range(99)]"
PRINTS = "for _ in range(50):\n    print('x' * 10**6)"
RENAMED = "Homework 1 (final).txt"
TESTS = ("test-posterior", "test-released")
LOOP = """\
    import time
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass"""
EQUAL_TO_ALL = """\
    class Yes(float):
        __eq__ = __lt__ = __le__ = __gt__ = __ge__ = lambda *a: True
        __array_priority__ = 99
        shape = (2, 2)
    return Yes()"""
PRINTS_WHEN_CALLED = """
import sys, warnings
warnings.warn("careful")
right = posterior
def posterior(joint):
    print("x" * 50_000_000)
    print("careful", file=sys.stderr)
    return right(joint)"""
REPLACES = """
np.allclose = np.isclose = lambda *a, **k: True
import builtins
builtins.abs = lambda x: 0"""
REPLACES_WHEN_CALLED = """\
    np.allclose = np.isclose = np.log = np.exp = np.sqrt = lambda *a, **k: True
    return np.zeros(2)"""
BREAKS = """
np.sqrt = np.log = np.exp = np.logaddexp = np.zeros = np.max = None
np.random.default_rng = 0
if "EXAMPLE" in globals(): EXAMPLE[:] = 7
if "penguins" in globals(): penguins.iloc[:] = None
if "norm" in globals(): norm.cdf = norm.pdf = None
if "pulp" in globals(): pulp.LpVariable = None
np = norm = pulp = EXAMPLE = pd = penguins = TablePrivatizer = audit = None
sum = max = min = len = p = joint = keep = rng = want = got = table = D = n = 0
def accuracy_by_sum(*a): return 1
def isclose(*a): return True
roots = law = laws = case = 'x'"""

# What is done to a notebook that is right; whether it costs the victim's tests or nothing, or why there is nothing to
# mark; and the row of the page that says so.
ANYWHERE = {
    "replaces functions": (with_victim("    return np.zeros(2)", REPLACES), "victim", "replaces a function of NumPy"),
    "breaks what others use": (early(BREAKS), "nothing", "replaces a function of NumPy"),
}
ONCE = {
    "changes its argument": (changes_its_argument, "changes", "changes its argument"),
    "replaces functions when called": (with_victim(REPLACES_WHEN_CALLED), "victim", "replaces a function of NumPy"),
    "gives what is equal to all": (with_victim(EQUAL_TO_ALL), "victim", "returns something other than a number"),
    "has a syntax error": (with_victim("    return ("), "victim", "syntax error"),
    "does not end": (with_victim(LOOP), "victim", "does not end, asks for input"),
    "ends Python when called": (
        with_victim("    import os\n    os._exit(0)"),
        "victim",
        "does not end, asks for input",
    ),
    "exits when called": (with_victim("    import sys\n    sys.exit()"), "victim", "does not end, asks for input"),
    "asks when called": (with_victim("    return float(input())"), "victim", "does not end, asks for input"),
    "takes all memory": (with_victim(MEMORY), "victim", "does not end, asks for input"),
    "imports all of NumPy": (early("from numpy import *"), "nothing", "replaces a function of NumPy"),
    "exits, asks, prints 50 MB": (
        both(early("import sys\nsys.exit()"), early(PRINTS), after_victim("exit()\nquit()"), before_victim(ASKS)),
        "nothing",
        "one of these outside",
    ),
    "loops and ends Python": (
        both(early("import os\nos._exit(1)"), after_victim("import time\nwhile True:\n    time.sleep(1)")),
        "nothing",
        "one of these outside",
    ),
    "prints 50 MB when called, and warns": (after_victim(PRINTS_WHEN_CALLED), "nothing", "prints"),
    "lost its marks": (both(unmarked, other_kernel), "nothing", "lost metadata"),
    "moved cells": (moved, "nothing", "copied, moved or joined cells"),
    "copied cells": (copied, "nothing", "copied, moved or joined cells"),
    "wrote one cell": (one_cell, "nothing", "copied, moved or joined cells"),
    "wrote below the cell": (below, "nothing", "below its cell"),
    "deleted an answer": (deleted("posterior"), "victim", "deleted an answer"),
    "deleted words": (deleted("words"), "nothing", "deleted an answer"),
    "deleted tests": (deleted("setup", *TESTS, "part-2", "title"), "nothing", "deleted or changed tests"),
    "tampered": (tampered, "victim", "deleted or changed tests"),
    "picture": (picture, "nothing", "picture"),
    "renamed, utf-16": (as_file(RENAMED, lambda text: text.encode("utf-16")), "nothing", "under another name"),
    "two files": (two_files, "nothing", "several notebooks"),
    "empty file": (as_file("{name}.ipynb", lambda text: b""), "the file is empty", "something empty"),
    "cut off": (as_file("{name}.ipynb", lambda text: text.encode()[:2000]), "or was cut off", "something empty"),
    "no notebook": (as_file("answers.txt", lambda text: b"see my mail"), "there is no notebook", "something empty"),
    "other assignment": (other_assignment, "no cell belongs to this assignment", "something empty"),
}
GAINS_NOTHING = "nothing, and wins nothing"
CHANGES = {"binary_game": "posterior", "learning": "penalty", "own_table": "complete"}
FAULTS = ANYWHERE | ONCE
HAND_INS = [("binary_game", fault) for fault in FAULTS]
HAND_INS += [(name, fault) for name in NAMES if name != "binary_game" for fault in ANYWHERE]
HAND_INS += [(name, "changes its argument") for name in CHANGES if name != "binary_game"]
STUBS = {}  # the cells of the students' versions, once they are made


def faulty(course, name, fault):
    return FAULTS[fault][0](name, filled(course, name, without_training(name, reference(name))))


def student_of(fault):
    return re.sub(r"\W+", "-", fault)


@pytest.fixture(scope="module")
def broken(new_course, tmp_path_factory):
    """A course in which everybody hands in something faulty, and one person by the exchange."""
    course, exchange = tmp_path_factory.mktemp("broken"), tmp_path_factory.mktemp("exchange")
    exchange.chmod(0o777)
    shutil.copytree(new_course, course, dirs_exist_ok=True)
    with (course / "nbgrader_config.py").open("a") as file:
        file.writelines(f"\nc.ExecuteApart.{name} = {value!r}" for name, value in SECONDS.items())
        file.write(f"\nc.Exchange.root = {str(exchange)!r}\n")
    for name in NAMES:
        STUBS[name] = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4).cells
    for name, fault in HAND_INS:
        hand_in(course, student_of(fault), name, faulty(course, name, fault))
    by_exchange(course, tmp_path_factory.mktemp("student"))
    for name in NAMES:
        mark(course, name)
    return course


def by_exchange(course, student):
    """Fetch the first assignment, fill it in, and hand it in; then the teacher collects."""
    lines = (course / "nbgrader_config.py").read_text().splitlines()
    exchange = next(line for line in lines if line.startswith("c.Exchange.root"))
    settings = [
        "c = get_config()",
        'c.CourseDirectory.course_id = "gap"',
        f'c.Exchange.cache = "{student}/cache"',
        exchange,
    ]
    (student / "nbgrader_config.py").write_text("\n".join(settings))
    assignments.nbgrader(course, "release_assignment", "binary_game")
    assignments.nbgrader(student, "fetch_assignment", "binary_game")
    nbformat.write(
        filled(course, "binary_game", reference("binary_game")), student / "binary_game" / "binary_game.ipynb"
    )
    assignments.nbgrader(student, "submit", "binary_game")
    assignments.nbgrader(course, "collect", "binary_game")


@pytest.fixture(scope="module")
def broken_scores(broken):
    return {name: scores(broken, name) for name in NAMES}


@pytest.fixture(scope="module")
def table(broken):
    return exported(broken)


def exported(course):
    """The rows of grades.csv, by assignment and student."""
    assignments.nbgrader(course, "export")
    with (course / "grades.csv").open(newline="") as file:
        return {(row["assignment"], row["student_id"]): row for row in csv.DictReader(file)}


def costs_on_the_page():
    """What the table of the page says, by the first cell of a row."""
    page = (ROOT / "book" / "assignments.md").read_text()
    [section] = re.findall(r"\n## When something goes wrong\n(.*?)\n## ", page, re.DOTALL)
    return {cells[0].strip(): cells[1].strip() for cells in re.findall(r"^\|([^|]+)\|([^|]+)\|", section, re.MULTILINE)}


@pytest.mark.slow
@pytest.mark.parametrize("name, fault", HAND_INS, ids=[f"{name}: {fault}" for name, fault in HAND_INS])
def test_a_fault_costs_what_the_page_says(broken_scores, table, name, fault):
    _, costs, label = FAULTS[fault]
    [told] = [cost for row, cost in costs_on_the_page().items() if label in row]
    row, rest = table[name, student_of(fault)], list(LEFT_OUT.get(name, {}).values())
    if fault == "deleted words":
        assert row["status"] == "marked" and row["words"] == "0.0" and told == "the answer"
        assert float(row["score"]) == float(row["program"]) == sum(automatic(name).values())
    elif costs in ("victim", "nothing", "changes"):
        expected = {"victim": VICTIM[name], "changes": CHANGES.get(name)}.get(costs)
        points = broken_scores[name][student_of(fault)]
        assert lost(points, name) == cells_that_test(name, expected) + rest
        assert float(row["program"]) == sum(points[cell] for cell in automatic(name))
        assert row["status"] == "words not yet marked" and row["words"] == row["score"] == ""
        # A wrong answer stays wrong, whatever is done to the tests.
        assert told in (["nothing", GAINS_NOTHING] if costs == "nothing" else ["the answer", GAINS_NOTHING])
    else:
        assert row["status"].startswith("not markable: ") and costs in row["status"]
        assert row["program"] == row["words"] == row["score"] == ""
        assert told == "not markable"


@pytest.mark.slow
def test_every_row_of_the_page_was_tried():
    labels = {label for *_, label in FAULTS.values()} | {"wrong answer"}
    assert all(any(label in row for label in labels) for row in list(costs_on_the_page())[2:])


@pytest.mark.slow
def test_remarks_say_what_was_found(table):
    def remarks(fault):
        return table["binary_game", student_of(fault)]["remarks"]

    assert remarks("has a syntax error") == remarks("changes its argument") == remarks("picture") == ""
    assert remarks("does not end") == "posterior did not end"
    assert remarks("ends Python when called") == "posterior ended Python, or returned too much"
    assert remarks("loops and ends Python") == (
        "a cell of the student ended Python, or returned too much; the cell posterior did not end"
    )
    assert remarks("renamed, utf-16") == f"the notebook was called {RENAMED}"
    assert remarks("two files") == "the notebook was called binary_game-Copy1.ipynb"
    assert remarks("deleted tests") == "missing cells were put back: setup, test-posterior, test-released"
    assert remarks("deleted an answer") == "missing cells were put back: posterior"
    assert remarks("wrote one cell").startswith(
        "answers were found in other cells than their own: posterior, released, "
    )
    assert remarks("wrote below the cell") == "answers were found in other cells than their own: words"


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_a_notebook_is_read_in_every_encoding(broken, marking, encoding):
    notebook, name = filled(broken, "binary_game", {"posterior": "größer = 1"}), "binary_game"
    data = json.dumps(json.loads(nbformat.writes(notebook)), ensure_ascii=False).encode(encoding)
    parts = marking("cells").parts(name)
    files = marking("files").prepared({Path("x.json"): data, Path("data.csv"): b"1"}, name, parts)
    assert set(files) == {Path("binary_game.ipynb"), Path("data.csv")}
    read = nbformat.reads(files[Path("binary_game.ipynb")].decode("utf-8"), as_version=4)
    assert [cell.source for cell in read.cells] == [cell.source for cell in notebook.cells]


@pytest.mark.slow
@EACH
@pytest.mark.parametrize(
    "fault", ["lost its marks", "moved cells", "copied cells", "wrote one cell", "wrote below the cell"]
)
def test_cells_are_put_in_order(broken, marking, name, fault):
    """Marks and places do not matter: this is what is run then."""
    cells, parts = marking("cells"), marking("cells").parts(name)
    notebook = faulty(broken, name, fault)
    found = cells.in_order(notebook.cells, parts).cells
    assert [marks(cell).grade_id for cell in found if marks(cell)] == [
        marks(cell).grade_id for cell in source(name).cells
    ]
    right = without_training(name, reference(name))
    for part in parts:
        cell = next(cell for cell in found if marks(cell).get("grade_id") == part.id)
        if part.is_answer and part.id in right:
            moved_away = fault == "moved cells" and part.id == VICTIM[name]
            assert "helper(" in cell.source if moved_away else right[part.id].strip() in cell.source
        elif fault != "wrote one cell" or not part.is_answer:
            assert cell.source == part.text
    extra = [cell.source for cell in found if not marks(cell)]
    assert len(extra) == {"moved cells": 1, "copied cells": 1}.get(fault, 0)
    again = cells.in_order(found, parts).cells
    assert [cell.source for cell in again] == [cell.source for cell in found]


@contextmanager
def modules_of(course):
    """A function that imports a module of the course."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(course))
        yield lambda name: importlib.import_module(f"marking.{name}")
    for module in [module for module in sys.modules if module.partition(".")[0] == "marking"]:
        del sys.modules[module]


@pytest.fixture
def marking(broken):
    with modules_of(broken) as module:
        yield module


@pytest.mark.slow
def test_an_endless_loop_is_waited_for_twice_at_most(marking):
    """Once in the notebook, once alone; other tests of the answer, and of later answers that use it, do not wait."""
    examiner, names, began = marking("examiner"), {}, time.monotonic()
    teacher = {"kind": "given", "source": "pass"}  # so that the start of Python is not counted
    loop = {"kind": "answer", "id": "loop", "names": ["loop"], "seconds": 1, "model": "def loop(): return 1"}
    uses = {"kind": "answer", "id": "uses", "names": ["uses"], "seconds": 1, "model": "def uses(): return 2"}
    cells = [
        teacher,
        loop | {"source": "def loop():\n    while True: pass"},
        uses | {"source": "def uses():\n    return loop() + 1"},
    ]
    marked = examiner.Examiner(cells, names)
    waited = []
    ask = examiner.Process.ask

    def counted(self, *arguments):
        try:
            return ask(self, *arguments)
        except examiner.Stopped:
            waited.append(arguments[1])
            raise

    examiner.Process.ask = counted
    marked.run(0)
    marked.run(1)
    for _ in range(2):
        for choose in (marked.ask_notebook, lambda at: marked.ask_alone(at, True)):
            choose(1)
            with pytest.raises(examiner.StudentError, match=r"did not end"):
                names["loop"]()
    marked.run(2)
    marked.ask_notebook(2)
    assert names["uses"]() == 2
    assert waited == ["call", "call"] and time.monotonic() - began > 2


@pytest.mark.slow
def test_the_teacher_s_first_cells_run_once_and_a_student_harms_no_copy(marking):
    """Whatever is done in one copy, even to the process that it was copied from, another copy knows nothing of it."""
    examiner, names = marking("examiner"), {}
    answer = {"kind": "answer", "seconds": 60}
    kills = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\ndef c():\n    return 3"
    cells = [
        {"kind": "given", "source": "import time\nstamp = [time.monotonic_ns()]"},
        answer | {"id": "a", "names": ["a"], "model": "def a(): return 1", "source": "def a():\n    return stamp[0]"},
        answer | {"id": "b", "names": ["b"], "model": "def b(): return 2", "source": "def b():\n    return 2"},
        {"kind": "other", "source": "stamp[0] += 1", "seconds": 60},
        answer | {"id": "c", "names": ["c"], "model": "def c(): return 3", "source": kills},
    ]
    marked = examiner.Examiner(cells, names)
    for at in range(4):
        marked.run(at)
    marked.ask_notebook(1)
    changed = names["a"]()
    for with_definitions in (True, False):
        marked.ask_alone(1, with_definitions)
        assert names["a"]() == changed - 1  # the same process was copied, before the student's other cell
    marked.run(4)
    for choose in (marked.ask_notebook, lambda at: marked.ask_alone(at, True)):
        choose(2)
        assert names["b"]() == 2
    marked.ask_alone(1, True)
    assert names["a"]() != changed - 1  # the process to be copied is gone, and a new one took its place
    assert marked.remarks in ([], ["the cell c ended Python, or returned too much"])  # copies end with it, in a second


@pytest.mark.slow
def test_values_reach_the_tests_as_they_are(marking):
    examiner, candidate = marking("examiner"), marking("candidate")
    for value in (None, True, 2**70, 0.1, math.inf, "x", 1j, [1, (2.5,)], {1: {2, 3}}, np.arange(6.0).reshape(2, 3)):
        there = examiner.rebuilt(json.loads(json.dumps(candidate.plain(value))))
        assert type(there) is type(value) and np.all(there == value)
    assert math.isnan(examiner.rebuilt(json.loads(json.dumps(candidate.plain(math.nan)))))
    assert isinstance(examiner.rebuilt(candidate.plain(np.float32(0.1))), np.float32)
    table = pd.DataFrame({"x": [0.5, math.nan], "kind": ["a", "b"]}, index=[7, 3])
    for frame in (table, table[["x", "x"]], table.iloc[:0]):
        there = examiner.rebuilt(json.loads(json.dumps(candidate.plain(frame))))
        pd.testing.assert_frame_equal(there, frame, check_dtype=bool(len(frame)), check_index_type=False)
    assert candidate.plain(table["kind"]) == ["a", "b"]
    assert candidate.plain(map(abs, (-1, 2))) == [1, 2] and candidate.plain(Fraction(1, 4)) == 0.25
    with pytest.raises(TypeError, match="returns a object"):
        candidate.plain(object())


@pytest.mark.slow
def test_a_linear_program_reaches_the_tests_as_it_is(marking):
    """With bounds, constants, all kinds of constraints, and names that occur twice."""
    x, y = pulp.LpVariable("x", 0, 3), pulp.LpVariable("x", -1)
    program = pulp.LpProblem("p", pulp.LpMaximize)
    program += 2 * x + y + 7
    program += x + y <= 4
    program += x - y == 1
    program += y >= -5 + x * 0
    there = marking("examiner").rebuilt(marking("candidate").plain(program))
    there.solve(pulp.HiGHS(msg=False))
    assert pulp.LpStatus[there.status] == "Optimal"
    assert pulp.value(there.objective) == pytest.approx(2 * 2.5 + 1.5 + 7)


@pytest.fixture(scope="module")
def feedback(broken):
    """Pages for two who handed in files, and for the one person who used the exchange."""
    [by_exchange] = {path.parent.parent.name for path in broken.glob("submitted/*/*/submission_secret.txt")}
    others = {path.name for path in broken.glob("submitted/*")}
    others -= {student_of("picture"), student_of("renamed, utf-16"), by_exchange}
    without = f"--CourseDirectory.student_id_exclude={','.join(sorted(others))}"
    assignments.nbgrader(broken, "generate_feedback", "binary_game", without)
    return broken / "feedback"


@pytest.mark.slow
def test_feedback_returns_the_way_it_came(broken, feedback):
    """One person handed in by the exchange, all others as files."""
    assert len(list(feedback.glob("*/binary_game/*.html"))) == 3
    assignments.nbgrader(broken, "release_feedback", "binary_game")
    [at_home] = {path.parent for path in broken.parent.glob("student[0-9]*/nbgrader_config.py")}
    assignments.nbgrader(at_home, "fetch_feedback", "binary_game")
    [page] = at_home.rglob("feedback/*/*.html")
    assert "Task 1.2: posterior" in page.read_text()


@pytest.mark.slow
def test_feedback_shows_formulas_tasks_and_pictures_without_a_network(feedback, browser):
    context = browser.new_context()
    tab, asked = context.new_page(), []
    context.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
    tab.goto((feedback / "picture" / "binary_game" / "binary_game.html").as_uri())
    tab.evaluate("MathJax.startup.promise")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert tab.locator("mjx-container").count() > 20 and tab.locator("mjx-merror").count() == 0
    assert "MJXTEX" in tab.evaluate("[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)")
    assert "$" not in tab.locator(".text_cell_render").all_inner_texts()[0]
    assert tab.evaluate("[...document.querySelectorAll('.text_cell_render img')].map(i => i.naturalWidth)") == [1]
    contents = tab.locator("#toc").inner_text()
    assert "Task 4.1: pdd-program (Score: 15.0 / 15.0)" in contents
    assert "Task 6, in words (not yet marked, 10.0 points at most)" in contents
    assert "Not yet marked, of 10.0" in tab.locator(".panel-heading").last.inner_text()
    # The page may not ask another host, even if a student's answer would.
    tab.evaluate("document.body.append(Object.assign(new Image(), {src: 'https://example.org/x.png'}))")
    tab.wait_for_timeout(300)
    assert not any(url.startswith("http") for url in asked)
    tab.goto((feedback / "renamed-utf-16" / "binary_game" / "binary_game.html").as_uri())
    assert f"the notebook was called {RENAMED}" in tab.locator("#toc").inner_text()
    context.close()


@pytest.mark.slow
def test_feedback_tells_what_was_wrong_and_loads_nothing(released, marked):
    assignments.nbgrader(released, "generate_feedback", "binary_game", "--student=joint-for-posterior")
    page = (released / "feedback" / "joint-for-posterior" / "binary_game" / "binary_game.html").read_text()
    assert "in the example Y equals X with probability 3/4" in page
    assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"(?:https?:)?//", page)


@pytest.mark.slow
def test_a_course_with_submissions_is_not_overwritten(released, marked):
    with pytest.raises(FileExistsError, match="without submissions"):
        assignments.make_course(released)


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("mine")
    with pytest.raises(FileExistsError, match="new or empty"):
        assignments.make_course(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["nbgrader_config.py"]


def test_the_command_says_what_is_wrong(tmp_path):
    (tmp_path / "submitted").mkdir()
    run = python(assignments.__file__, tmp_path)
    assert run.returncode == 1 and "without submissions" in run.stdout
