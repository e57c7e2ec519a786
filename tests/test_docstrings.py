"""Every public name says what it takes and gives: parameters, shapes, units, errors. The errors are tried out."""

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import typing

import nbformat
import numpy as np
import pandas
import pytest
from numpy.typing import ArrayLike
from numpydoc.docscrape import NumpyDocString
from project import ROOT

import gaplib
import gaplib.book
import gaplib.jobs
from gaplib import binary
from gaplib.mechanisms import AffineGaussian, BinaryKernel
from gaplib.models import BinaryModel, GaussianMixture
from gaplib.optimum import Optimum
from gaplib.training import NeuralPrivatizer


def modules():
    """The modules that a user imports, by name: those of the core, the packages beside them, and those of the book."""
    for package in (gaplib, gaplib.book, gaplib.jobs):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if not info.name.rpartition(".")[2].startswith("_"):
                yield info.name.removeprefix("gaplib."), importlib.import_module(info.name)


def public(module):
    """The public names of a module: what it defines or, a package, lists; of classes, their members too."""
    for name, thing in vars(module).items():
        listed = name in getattr(module, "__all__", ())
        own = getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
        if not (listed or own) or not (inspect.isfunction(thing) or inspect.isclass(thing)):
            continue
        yield name, thing
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            kinds = (property, classmethod, staticmethod, type(public))
            if not member.startswith("_") and isinstance(value, kinds):
                yield f"{name}.{member}", value


BY_MODULE = {home: dict(public(module)) for home, module in modules()}
PUBLIC = {f"{home}.{name}": thing for home, names in BY_MODULE.items() for name, thing in names.items()}


def is_protocol(thing):
    return getattr(thing, "_is_protocol", False)


# The players and constraints of the game. What `Mechanism` asks for, the classes of `mechanisms` document themselves.
PROTOCOLS = [thing for name, thing in PUBLIC.items() if is_protocol(thing) and name != "training.Mechanism"]


def implemented(name):
    """The method of a protocol that a public method implements, or None."""
    owner, member = PUBLIC.get(name.rpartition(".")[0]), name.rpartition(".")[2]
    for protocol in PROTOCOLS if inspect.isclass(owner) else ():
        methods = [
            key for key, value in vars(protocol).items() if inspect.isfunction(value) and not key.startswith("_")
        ]
        if member in methods and all(hasattr(owner, method) for method in methods):
            return getattr(protocol, member)
    return None


def function(thing):
    """What is called, for its signature."""
    if isinstance(thing, property):
        return thing.fget
    return thing.__func__ if isinstance(thing, (classmethod, staticmethod)) else thing


def arguments(thing):
    if inspect.isclass(thing) and issubclass(thing, Exception) and "__init__" not in vars(thing):
        return []  # it takes a message
    names = inspect.signature(function(thing)).parameters.values()
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(one.kind, "") + one.name for one in names if one.name not in ("self", "cls")]


def documented(section):
    """Name to description, type included; `x, y : float` describes both."""
    return {
        name.strip().replace("\\", ""): f"{entry.type} {' '.join(entry.desc)}"
        for entry in section
        for name in entry.name.split(",")
    }


def hints(thing):
    called = function(thing)
    if inspect.isclass(thing) and not is_protocol(thing) and not issubclass(thing, tuple):
        called = thing.__init__  # a protocol and a named tuple have annotations only
    return typing.get_type_hints(called, localns={"nbformat": nbformat, "pd": pandas})  # which gaplib imports late


def holds_array(hint):
    return hint is np.ndarray or hint == ArrayLike or np.ndarray in typing.get_args(hint)


def faults(name):
    """What is wrong with the docstring of a public name, as a list of sentences."""
    thing = PUBLIC[name]
    text, contract = inspect.cleandoc(function(thing).__doc__ or ""), implemented(name)
    summary = text.split("\n\n")[0]
    if contract is not None and "\n---" not in text:  # what it takes and gives is said once, by the protocol
        text = inspect.cleandoc(contract.__doc__)
        summary = summary or text.split("\n\n")[0]
    if not text:
        return ["has no docstring"]
    parsed = NumpyDocString(text)
    found = [] if summary.endswith((".", ":")) else ["its first paragraph is no sentence"]
    if isinstance(thing, property):
        if holds_array(hints(thing).get("return")) and "shape" not in text:
            found.append("gives an array and not its shape")
        return found

    listed = {**documented(parsed["Parameters"]), **documented(parsed["Attributes"])}
    expected = list(hints(thing)) if is_protocol(thing) else arguments(thing)
    expected = [name for name in expected if not name.startswith("_")]
    if list(listed) != expected:
        found.append(f"documents {list(listed)}, but takes {expected}")
    types = hints(thing)
    for name, said in listed.items():
        if holds_array(types.get(name)) and not re.search(r"shape|one entry for each", f"{said} {summary}"):
            found.append(f"takes the array {name} and does not say its shape")

    returns = "" if inspect.isclass(thing) else types.get("return", type(None))
    said = " ".join(f"{entry.type} {' '.join(entry.desc)}" for entry in parsed["Returns"] + parsed["Yields"])
    if returns not in ("", type(None)) and not said:
        found.append("returns something and has no Returns")
    if holds_array(returns) and not re.search("shape|elementwise", f"{said} {summary}"):
        found.append("returns an array and does not say its shape")
    measures = re.search(r"entropy|mutual information|\bI\(|log-loss of", summary)
    if said and measures and "float" in said and "nats" not in said:
        found.append("returns information and not its unit")
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_docstring(name):
    assert faults(name) == []


def test_many_names_are_public():
    assert {"binary.optimal_pdd", "models.BinaryModel.p_y", "training.train", "training.Game"} <= set(PUBLIC)
    assert not [name for name in PUBLIC if "._" in name]


def examples():
    """The docstrings with an example, private ones too."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for info in pkgutil.walk_packages(gaplib.__path__, "gaplib."):
        if not info.name.endswith("__main__"):
            yield from (found for found in finder.find(importlib.import_module(info.name)) if found.examples)


EXAMPLES = {example.name: example for example in examples()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_shows_what_it_prints(name):
    said = []
    with np.printoptions(precision=8, suppress=False, linewidth=75, floatmode="maxprec", legacy=False):
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(EXAMPLES[name], out=said.append)
    assert said == [], "".join(said)


def test_examples_are_found():
    assert {"gaplib.models.BinaryModel", "gaplib.training", "gaplib.training.games.Game"} <= set(EXAMPLES)


# Errors: each documented parameter is given what it cannot be.

XOR, MIXTURE = BinaryModel.xor(0.75, 0.25), GaussianMixture(prior=0.75, mu=3, var0=1, var1=1)
KERNEL, AFFINE = BinaryKernel(1, 0.5, 1, 1), AffineGaussian(1, 1, 0, 1)
TABLE, BITS = [[0.25, 0.25], [0.1, 0.4]], [0, 1, 1, 0]
BAD = (None, "text", object(), float("nan"), -1, 1.5, True, [[1], [1, 2]], [0.5, -1], 10**400)


def unsolved():
    return binary.pdd_program(XOR, 0.1)


# A good call of every public name that checks its arguments.
GOOD = {
    "binary.optimal_pdd": dict(model=XOR, D=0.1, method="lp"),
    "binary.pdd_program": dict(model=XOR, D=0.1),
    "binary.optimal_pdi": dict(model=XOR, D=0.1, method="lp"),
    "binary.pdi_program": dict(model=XOR, D=0.1),
    "binary.optimal_mi": dict(model=XOR, D=0.1, kind="pdi"),
    "binary.solve": dict(program=unsolved()),
    "gaussian.optimal_pdi": dict(model=MIXTURE, D=1),
    "gaussian.optimal_shift": dict(model=MIXTURE, D=1),
    "gaussian.optimal_shift_noise": dict(model=MIXTURE, D=1),
    "gaussian.optimal_affine": dict(model=MIXTURE, D=1, loss="log"),
    **{f"leakage.{name}": dict(model=XOR, mechanism=KERNEL) for name in ("map_accuracy", "mutual_information", "mmse")},
    "leakage.arimoto_conditional_entropy": dict(model=MIXTURE, mechanism=AFFINE, alpha=2),
    "leakage.arimoto_mutual_information": dict(model=MIXTURE, mechanism=AFFINE, alpha=2),
    "losses.squared_loss": dict(guess=[1, 2], y=[1, 3]),
    "losses.zero_one_loss": dict(guess=[1, 2], y=[1, 3]),
    "losses.log_loss": dict(belief=[0.5, 1]),
    "losses.alpha_loss": dict(belief=[0.5, 1], alpha=2),
    "losses.expected_loss": dict(released=TABLE, loss=[[0, 1], [1, 0]]),
    "losses.conditional_mean": dict(released=TABLE, values=[0, 1]),
    "losses.map_guess": dict(released=TABLE),
    "losses.posterior": dict(released=TABLE),
    "losses.tilted_posterior": dict(released=TABLE, alpha=2),
    "mechanisms.BinaryKernel": dict(s00=1, s01=1, s10=1, s11=0.5),
    "mechanisms.BinaryKernel.distortion": dict(self=KERNEL, model=XOR),
    "mechanisms.BinaryKernel.released": dict(self=KERNEL, model=XOR),
    "mechanisms.BinaryKernel.privatize": dict(self=KERNEL, x=BITS, y=BITS, seed=0),
    "mechanisms.AffineGaussian": dict(beta0=1, beta1=1, gamma0=1, gamma1=0),
    "mechanisms.AffineGaussian.distortion": dict(self=AFFINE, model=MIXTURE),
    "mechanisms.AffineGaussian.released": dict(self=AFFINE, model=MIXTURE),
    "mechanisms.AffineGaussian.privatize": dict(self=AFFINE, x=[1.5, 2, 3, 4], y=BITS, seed=0),
    "models.BinaryModel": dict(joint=TABLE),
    "models.BinaryModel.xor": dict(cls=BinaryModel, p=0.5, q=0.25),
    "models.BinaryModel.from_sample": dict(cls=BinaryModel, x=BITS, y=BITS),
    "models.BinaryModel.sample": dict(self=XOR, n=10, seed=0),
    "models.GaussianMixture": dict(prior=0.5, mu=3, var0=1, var1=1),
    "models.GaussianMixture.from_sample": dict(cls=GaussianMixture, x=[-1, 1, 2, -2.5], y=BITS),
    "models.GaussianMixture.sample": dict(self=MIXTURE, n=10, seed=0),
    "book.notebook.claim": dict(statement="so it is", holds=True),
    **{f"book.chapters.{name}": dict(notebook="03_binary_pdd") for name in ("find", "results", "claims")},
    "book.paper.table": dict(n=2),
    "book.sampling.p_value": dict(shares=[0.5, 0.75], probabilities=[0.5, 0.5], records=100),
    "book.sampling.standard_errors": dict(comparisons=10),
    "training.AugmentedLagrangian": dict(first=1, last=3, rate=0.01),
    "training.Penalty": dict(first=0.1, last=1),
    "training.NetworkAdversary": dict(width=16),
    "training.NeuralPrivatizer": dict(width=16, depth=2, noise=0, moves=1, dimension=None),
    "training.NeuralPrivatizer.for_kind": dict(self=NeuralPrivatizer(), kind="pdi"),
    "training.NeuralAdversary": dict(width=16, depth=2, dimension=None),
    "training.Game": dict(source=XOR, D=0.1, kind="pdi", n=100, test=None, privatizer=None, adversary=None, start=None),
    "book.explorer.fragment": dict(name="mixture"),
    "book.explorer.show": dict(model=MIXTURE, D=4),
    "training.fit_plan": dict(x=[0.0, 1, 2, 3], y=BITS, D=1, privatizer=None, steps=1, seed=0),
    "training.train": dict(
        games=[],
        loss="alpha",
        alpha=2,
        constraint=None,
        seed=0,
        k=3,
        steps=1,
        as_printed=False,
        progress=False,
        learning_rate=0.01,
        minibatch=200,
        watch=None,
    ),
}
# Names, with all that belongs to them, that take whatever they are given, or only what gaplib itself makes. What
# implements a protocol is called by the engine, and needs no line here.
UNCHECKED = {
    "book.chapters.recorded",
    "book.notebook.record",
    "book.notebook.set_environment",
    "book.notebook.show_as_usual",
    "book.notebook.start",
    "book.paper.headline",
    "book.paper.judge",  # see test_paper.py
    "book.paper.register",
    "book.parameters",  # see test_parameters.py
    "book.plots.use_style",
    "book.explorer.player",  # see test_training_player.py
    "book.tables",  # see test_tables.py
    "jobs.cluster",  # see test_jobs.py
    "jobs.work",
    *(
        f"mechanisms.{name}"
        for name in ("FiniteKernel", "NetworkMechanism", "PiecewiseKernel", "SamplePlan", "TransportMap")
    ),
    "mechanisms.Saved",  # see test_storage.py
    "mechanisms.load",
    "models.FiniteModel",
    "optimum.Optimum",
    "transport",  # as the mechanisms above and FiniteModel: see test_transport.py
    "tabular",  # see test_tabular.py and test_tabular_audit.py
    "training.AffinePrivatizer",
    "training.Batch",
    "training.BinaryAdversary",
    "training.BinaryPrivatizer",
    "training.Diluted",
    "training.History",
    "training.Interrupted",
    "training.NeuralPrivatizer.parameters_of",  # what the engine was given by Game: see test_neural.py
    "training.PrivatizerOfBits",
    "training.PrivatizerOfNumbers",
    "training.Release",
    "training.Result",  # its method belief: see test_training.py
    "training.Sample",
    "training.Setting",
    "training.Units",
}


def in_protocol(name):
    return is_protocol(PUBLIC[name]) or is_protocol(PUBLIC.get(name.rpartition(".")[0])) or implemented(name)


def test_every_public_name_is_called_with_bad_input_or_excused():
    callables = {name for name, thing in PUBLIC.items() if not isinstance(thing, property)}
    excused = {one: {name for name in callables if f"{name}.".startswith(f"{one}.")} for one in UNCHECKED}
    assert [one for one, names in excused.items() if not names] == []
    unchecked = set().union(*excused.values())
    assert {name for name in callables - unchecked if not in_protocol(name)} <= set(GOOD) <= callables - unchecked


def documented_errors(thing):
    names = [
        name.strip()
        for entry in NumpyDocString(inspect.cleandoc(thing.__doc__))["Raises"]
        for name in entry.type.split(",")
    ]
    return {name for name in names if name}


@pytest.mark.parametrize("name", GOOD)
def test_bad_input_raises_what_is_documented_and_names_the_argument(name, capsys):
    thing = function(PUBLIC[name])
    call = thing if not inspect.isclass(thing) else lambda **given: thing(**given)
    call(**GOOD[name])
    promised, seen = documented_errors(thing), set()
    for parameter in GOOD[name]:
        if parameter in ("self", "cls"):
            continue
        refused = 0
        for bad in BAD:
            try:
                call(**GOOD[name] | {parameter: bad})
            except Exception as error:
                assert type(error).__name__ in promised, f"{parameter}={bad!r}: undocumented {error!r}"
                assert re.search(rf"\b{parameter}\b", str(error)), f"{parameter}={bad!r} is not named: {error}"
                seen.add(type(error).__name__)
                refused += 1
        assert refused >= 2, f"{parameter} is taken whatever it is"
    # What bad input alone cannot cause: a solver that fails, an interrupt, a claim that does not hold.
    assert promised - seen <= {"RuntimeError", "ImportError", "Interrupted", "AssertionError"}, (
        f"documented, not seen: {promised - seen}"
    )


def test_results_have_the_fields_that_they_document():
    for thing in (Optimum, PUBLIC["training.Result"], PUBLIC["training.History"]):
        listed = documented(NumpyDocString(inspect.cleandoc(thing.__doc__))["Attributes"])
        assert list(listed) == [field.name for field in dataclasses.fields(thing) if not field.name.startswith("_")]
    assert "nats" in documented(NumpyDocString(inspect.cleandoc(Optimum.__doc__))["Attributes"])["value"]


# The reference


def test_the_reference_has_every_public_module():
    listed = re.findall(r"automodule:: gaplib\.([\w.]+)", (ROOT / "book" / "api.md").read_text())
    assert {home for home, names in BY_MODULE.items() if names} <= set(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.slow
def test_the_reference_has_every_public_name(site):
    text = (site / "book" / "api.html").read_text()
    anchors = set(re.findall(r'id="gaplib\.([\w.]+)"', text))
    assert set(PUBLIC) <= anchors
