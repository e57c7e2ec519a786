"""Notebooks under plain papermill: other parameters pass, bad ones stop the run in the cell after them."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from click.testing import CliRunner
from jupyter_client.provisioning import KernelProvisionerFactory
from papermill import cli
from project import ROOT

from gaplib.book import parameters
from gaplib.book.sweep.kernels import Forking, Preloaded
from gaplib.book.sweep.preloaded import statements

pytestmark = pytest.mark.slow

# Noise on both sides of one half, budgets on both sides of saturation, cells and rows without mass.
OTHER_PARAMETERS = [
    ["-p", "p", "0.4", "-p", "q", "0.9", "-p", "D", "0.02", "-p", "n", "5000", "-p", "seed", "7"],
    ["-p", "p", "1", "-p", "q", "0", "-p", "D", "0.5", "-p", "n", "1"],
    ["-p", "p", "0.5", "-p", "q", "0.5", "-p", "D", "0"],
    ["-p", "p", "1e-10", "-p", "q", "0.25", "-p", "D", "0"],
]
BINARY = ["01_context", "02_game", "03_binary_pdd", "04_binary_pdi", "05_binary_mi"]
# Priors near 0 and 1, equal means and far ones, steep ratios of variances, budgets without use and past the merge.
MIXTURES = [
    {"prior": 0.5, "mu": 3, "D": 10, "n": 5000, "seed": 7, "variances": (4, 1)},
    {"prior": 1e-6, "mu": 0, "D": 0.1, "n": 1, "variances": (1, 1)},
    {"prior": 0.999, "mu": 100, "D": 0, "variances": (0.01, 100)},
    {"prior": 0.3, "mu": 0.5, "D": 0.4, "n": 2000, "variances": (1e-4, 1e4)},
]
EQUAL_VARIANCES = ["06_gaussian_pdi", "07_gaussian_shift"]
ANY_VARIANCES = ["08_gaussian_affine", "09_gaussian_log_loss", "19_optimum_on_the_line"]
# Nothing to hide, X that determines Y, few letters and many.
SCORES = [
    ["-p", "prior", "0.2", "-p", "low", "0.7", "-p", "high", "0.7", "-p", "letters", "2", "-p", "D", "0"],
    ["-p", "prior", "0.999", "-p", "low", "0", "-p", "high", "1", "-p", "letters", "12", "-p", "D", "100"],
    ["-p", "low", "0.5", "-p", "high", "0.1", "-p", "letters", "5", "-p", "D", "0.05", "-p", "seed", "7"],
]
# Three private values and missing ones, noise, a bit whose release is blind, a budget of nothing.
TABLES = [
    {"path": "penguins.csv", "private": "species", "public": "", "scale": "std", "budget": 1},
    {"path": "penguins.csv", "private": "sex", "public": "island, body_mass_g", "method": "laplace", "scale": "std"},
    {"path": "anes96.csv", "private": "vote", "public": "", "kind": "pdi", "budget": 0, "seed": 7},
]
# Chapters that train: other games and other seeds, in their quick mode.
LEARNED = {
    "11_binary_learned": [
        ["-p", "p", "0.4", "-p", "q", "0.1", "-p", "D", "0.03", "-p", "seed", "7"],
        ["-p", "p", "1", "-p", "q", "0.5", "-p", "D", "1", "-p", "seed", "31"],
    ],
} | {
    name: [
        ["-p", "prior", "0.3", "-p", "mu", "2", "-p", "var1", "5", "-p", "D", "1.5", "-p", "seed", "7"],
        ["-p", "prior", "0.5", "-p", "mu", "3.5", "-p", "var0", "1", "-p", "D", "11", "-p", "seed", "31"],
    ]
    for name in ("10_learning", "12_gaussian_learned", "13_strong_adversaries", "20_learned_without_a_family")
}
LEARNED["13_strong_adversaries"][1] += ["-p", "alpha", "1.5"]


def arguments_of(mixture, equal):
    """The papermill arguments of a mixture; a chapter on equal variances takes the first of the two."""
    values = {name: value for name, value in mixture.items() if name != "variances"}
    var0, var1 = mixture["variances"]
    values |= {"variance": var0} if equal else {"var0": var0, "var1": var1}
    return words(values)


def words(values):
    """The papermill arguments that set some parameters."""
    return [word for name, value in values.items() for word in ("-p", name, str(value))]


RUNS = (
    [(name, arguments) for name in BINARY for arguments in OTHER_PARAMETERS]
    + [(name, arguments_of(mixture, equal=True)) for name in EQUAL_VARIANCES for mixture in MIXTURES]
    + [(name, arguments_of(mixture, equal=False)) for name in ANY_VARIANCES for mixture in MIXTURES]
    + [("18_true_optimum", arguments) for arguments in SCORES]
    + [("21_your_own_table", words({**table, "seeds": 1, "quick": True})) for table in TABLES]
    + [
        (name, [*arguments, "-p", "seeds", "1", "-p", "quick", "True"])
        for name, runs in LEARNED.items()
        for arguments in runs
    ]
)
NOTEBOOKS = [*BINARY, *EQUAL_VARIANCES, *ANY_VARIANCES, "18_true_optimum", "21_your_own_table", *LEARNED]
BAD_PARAMETERS = [
    (["-p", "D", "abc"], "TypeError: D must be a finite number >= 0, got 'abc' of type str"),
    (["-p", "D", "-1"], "ValueError: D must be a finite number >= 0, got -1"),
    (["-p", "D", "nan"], "ValueError: D must be a finite number >= 0, got nan"),
    (["-y", "D: 1e-3"], "TypeError: D must be a finite number >= 0, got '1e-3' of type str"),
    (["-y", "D: [0.1, 0.2]"], "TypeError: D must be a finite number >= 0, got [0.1, 0.2] of type list"),
    (["-p", "q", "1.2"], "ValueError: q must be a finite number in [0, 1], got 1.2"),
    (["-p", "p", "true"], "TypeError: p must be a finite number in [0, 1], got 'true' of type str"),
    (["-p", "n", "0"], "ValueError: n must be an integer in [1, 10000000], got 0"),
    (["-p", "seed", "1.5"], "TypeError: seed must be an integer >= 0, got 1.5 of type float"),
    (["-p", "sed", "1"], "ValueError: unknown parameter 'sed' (did you mean 'seed'?); this notebook has: "),
]


# The chapters share these parameters and one check, so one stands for all; what only one has comes with its name.
BAD = [("03_binary_pdd", *case) for case in BAD_PARAMETERS] + [
    ("01_context", ["-p", "D", "0.6"], "ValueError: D must be a finite number in [0, 0.5], got 0.6"),
    ("02_game", ["-p", "alpha", "1"], "ValueError: alpha must be a finite number in [1.01, 50], got 1"),
    ("04_binary_pdi", ["-p", "budget", "1"], "ValueError: unknown parameter 'budget'; this notebook has: "),
    ("05_binary_mi", ["-p", "q", "-0.1"], "ValueError: q must be a finite number in [0, 1], got -0.1"),
    ("06_gaussian_pdi", ["-p", "var0", "4"], "ValueError: unknown parameter 'var0'"),
    (
        "06_gaussian_pdi",
        ["-p", "variance", "0"],
        "ValueError: variance must be a finite number in [0.0001, 10000], got",
    ),
    (
        "07_gaussian_shift",
        ["-p", "prior", "1"],
        "ValueError: prior must be a finite number in [1e-06, 0.999999], got 1",
    ),
    ("07_gaussian_shift", ["-p", "D", "-1"], "ValueError: D must be a finite number in [0, 1e+06], got -1"),
    (
        "08_gaussian_affine",
        ["-p", "var1", "abc"],
        "TypeError: var1 must be a finite number in [0.0001, 10000], got 'abc'",
    ),
    ("08_gaussian_affine", ["-p", "mu", "-3"], "ValueError: mu must be a finite number in [0, 100], got -3"),
    ("09_gaussian_log_loss", ["-p", "priors", "0.5"], "unknown parameter 'priors' (did you mean 'prior'?)"),
    ("10_learning", ["-p", "prior", "0.9"], "ValueError: prior must be a finite number in [0.2, 0.8], got 0.9"),
    ("11_binary_learned", ["-p", "quick", "yes"], "TypeError: quick must be True or False, got 'yes' of type str"),
    ("12_gaussian_learned", ["-p", "seeds", "0"], "ValueError: seeds must be an integer in [1, 20], got 0"),
    ("13_strong_adversaries", ["-p", "alpha", "0.5"], "ValueError: alpha must be a finite number in [1, 8], got 0.5"),
    ("13_strong_adversaries", ["-p", "seedz", "1"], "unknown parameter 'seedz' (did you mean 'seed'?)"),
    (
        "20_learned_without_a_family",
        ["-p", "study", "lines"],
        "ValueError: study must be 'none' or 'line' or 'blind' or 'choice' or 'stopping' or 'space' or 'versus', "
        "got 'lines'",
    ),
    ("18_true_optimum", ["-p", "letters", "13"], "ValueError: letters must be an integer in [2, 12], got 13"),
    (
        "19_optimum_on_the_line",
        ["-p", "prior", "1"],
        "ValueError: prior must be a finite number in [1e-06, 0.999999], got 1",
    ),
    ("21_your_own_table", ["-p", "kind", "blind"], "ValueError: kind must be 'pdd' or 'pdi', got 'blind'"),
    ("21_your_own_table", ["-p", "budgets", "1"], "unknown parameter 'budgets' (did you mean 'budget'?)"),
    ("09_gaussian_log_loss", ["-p", "n", "0"], "ValueError: n must be an integer in [1, 10000000], got 0"),
]


# Those whose imports take seconds.
HEAVY = {*LEARNED, "21_your_own_table"}


class Kernel(Forking):
    """A kernel that says how long it has worked."""

    seconds = 0.0

    async def shutdown_requested(self, restart=False):
        used = psutil.Process(self.pid).cpu_times()
        Kernel.seconds = used.user + used.system + used.children_user + used.children_system


@pytest.fixture(scope="module")
def imported():
    """A function from a chapter to a process that has imported what it imports, and chapters like it.

    What a chapter forgets to import might be there; its run in a fresh kernel, by nbval, finds that.
    """
    started = {}

    def of(name):
        heavy = name in HEAVY
        if heavy not in started:
            chapters = [ROOT / "notebooks" / f"{other}.ipynb" for other in NOTEBOOKS if (other in HEAVY) == heavy]
            each = [statements(nbformat.read(path, as_version=4)) for path in chapters]
            started[heavy] = Preloaded(list(dict.fromkeys(statement for them in each for statement in them)))
        return started[heavy]

    yield of
    for process in started.values():
        process.close()


@pytest.fixture
def papermill(imported, tmp_path, monkeypatch):
    """A function that runs a notebook from a folder that is not the notebook's, with papermill's own command.

    It returns the result, and the processor seconds of the kernel, its imports included.
    """
    monkeypatch.chdir(tmp_path)

    def run(name, arguments, like=None):
        process = imported(like or name)
        imports = sum(psutil.Process(process.process.pid).cpu_times()[:2])

        def forking(factory, kernel_id, kernel_spec, parent):
            kernel = Kernel(kernel_id=kernel_id, kernel_spec=kernel_spec, parent=parent)
            kernel.preloaded = process
            return kernel

        monkeypatch.setattr(KernelProvisionerFactory, "create_provisioner_instance", forking)
        done = CliRunner().invoke(cli.papermill, [*map(str, command(name)), *arguments])
        return done, Kernel.seconds + imports

    return run


def command(name):
    return "--no-progress-bar", ROOT / "notebooks" / f"{name}.ipynb", "out.ipynb"


def executed(folder):
    """The numbers of the cells of code that ran."""
    cells = nbformat.read(folder / "out.ipynb", as_version=4).cells
    return [cell.execution_count for cell in cells if cell.cell_type == "code" and cell.execution_count]


def stated_seconds(name):
    opening = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells[0].source
    return int(re.search(r"\*\*Running time\*\*:\s+under\s+(\d+) seconds", opening)[1])


@pytest.mark.parametrize("name, arguments", RUNS, ids=[f"{name} {' '.join(arguments)}" for name, arguments in RUNS])
def test_other_parameters(name, arguments, papermill):
    run, seconds = papermill(name, arguments)
    assert run.exit_code == 0, run.exception
    # Processor time, because the clock on the wall also counts the other tests.
    assert seconds < stated_seconds(name)


@pytest.mark.parametrize("name, arguments, message", BAD, ids=[f"{case[0]} {' '.join(case[1])}" for case in BAD])
def test_bad_parameters(name, arguments, message, papermill, tmp_path):
    run, _ = papermill(name, arguments, like=BINARY[0])  # it ends before its imports
    assert run.exit_code != 0
    assert message in str(run.exception)
    # It stopped in the check, before anything slow: only the parameters and the injected cell ran before.
    assert max(executed(tmp_path)) == 3


@pytest.mark.parametrize("arguments, message", [([], ""), *BAD_PARAMETERS[:1]], ids=["good", "bad"])
def test_the_program_does_what_its_command_does_here(arguments, message, tmp_path):
    """With a process and a kernel of its own, as a user has."""
    program = Path(sys.executable).with_name("papermill")
    run = subprocess.run([program, *command("03_binary_pdd"), *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode != 0) == bool(message) and message in run.stderr
    assert (max(executed(tmp_path)) > 3) == (not message)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_help_lists_every_parameter(name):
    path = ROOT / "notebooks" / f"{name}.ipynb"
    said = CliRunner().invoke(cli.papermill, ["--help-notebook", str(path)]).stdout
    for parameter in parameters.declared(nbformat.read(path, as_version=4)).values():
        default = f'"{parameter.default}"' if parameter.type == "str" else parameter.default
        line = f"{parameter.name}: {parameter.type} (default {default})"
        assert re.search(rf"{re.escape(line)}\s+{re.escape(parameter.meaning)}", said), line
