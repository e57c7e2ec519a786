"""The assignments: what students get, and that nbgrader marks right, empty and wrong answers as it should."""

import re

import assignments
import nbformat
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


def hand_in(course, student, name, answers):
    """Fill the answers into the student's version, as a student would."""
    notebook = nbformat.read(course / "release" / name / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(marks(cell).grade_id, cell.source)
    folder = course / "submitted" / student / name
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")


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
    from nbgrader.api import Gradebook

    for name in NAMES:
        hand_in(released, "right", name, reference(name))
        hand_in(released, "empty", name, {})
        hand_in(released, "otherwise", name, without_training(name, reference(name) | OTHERWISE[name]))
        for student, (cell, right, wrong, _) in MISTAKES[name].items():
            hand_in(released, student, name, without_training(name, with_mistake(name, cell, right, wrong)))
        assignments.nbgrader(released, "autograde", name)
    with Gradebook(f"sqlite:///{released / 'gradebook.db'}") as gradebook:
        return {
            name: {
                submission.student.id: {
                    grade.name: grade.auto_score for notebook in submission.notebooks for grade in notebook.grades
                }
                for submission in gradebook.assignment_submissions(name)
            }
            for name in NAMES
        }


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
    scores = marked[name]["right"]
    assert {cell: score for cell, score in scores.items() if score is not None} == automatic(name)
    assert {cell for cell, score in scores.items() if score is None} == by_hand(name)


@pytest.mark.slow
@EACH
def test_right_answers_of_another_kind_get_full_marks(marked, name):
    scores = marked[name]["otherwise"]
    lost = [cell for cell, points in automatic(name).items() if scores[cell] != points]
    assert lost == list(LEFT_OUT.get(name, {}).values())


@pytest.mark.slow
@EACH
def test_an_empty_hand_in_gets_nothing(marked, name):
    assert marked[name]["empty"] == dict.fromkeys([*automatic(name), *by_hand(name)], 0)


@pytest.mark.slow
@pytest.mark.parametrize("name, student", [(name, student) for name in NAMES for student in MISTAKES[name]])
def test_a_mistake_costs_its_own_points_and_no_others(marked, name, student):
    *_, costs = MISTAKES[name][student]
    scores = marked[name][student]
    lost = [cell for cell, points in automatic(name).items() if scores[cell] != points]
    assert lost == costs + list(LEFT_OUT.get(name, {}).values())
    assert all(scores[cell] == 0 for cell in lost)


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
    run = python(assignments.__file__, tmp_path)
    assert run.returncode == 1 and "without submissions" in run.stdout
