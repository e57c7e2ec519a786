"""Other processors and environments: a sample of the numbers and two chapters come out as they are stored.

The setting of a machine is read when Python starts, so everything here runs in a process of its own.
"""

import re

import numpy as np
import pytest
from project import ROOT, python

pytestmark = pytest.mark.slow

# What NumPy found on this processor, by name. X86_V3 has AVX2 and FMA, X86_V4 has AVX-512.
FOUND = np._core._multiarray_umath.__cpu_features__
WITHOUT_FMA = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"}
# The kernels of OpenBLAS, what NumPy's copy of it then says that it uses, and what the processor must have to run them.
KERNELS = {
    "Prescott": ("Katmai|Prescott", "X86_V2"),
    "Haswell": ("Haswell", "X86_V3"),
    "SkylakeX": ("SkylakeX", "X86_V4"),
}
SETTINGS = {
    **{kernels: {"OPENBLAS_CORETYPE": kernels} for kernels in KERNELS},
    "without FMA": WITHOUT_FMA,
    "one thread": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
}
SHOWN_ELSEWHERE = {"MPLBACKEND": "agg", "PYTHONWARNINGS": "default"}  # no number depends on it, but what is shown might
# Closed forms, quadrature and one program: together they cost about a second.
NUMBERS = ["tests/test_leakage_measures.py", "tests/test_leakage.py", "tests/test_gaussian_model.py"]
# Linear programs and figures; and the end point of an optimizer, of which another machine once showed another digit.
CHAPTERS = {
    "03_binary_pdd": WITHOUT_FMA | SETTINGS["Prescott"] | SHOWN_ELSEWHERE,
    "08_gaussian_affine": SETTINGS["Haswell"] | SETTINGS["two threads"],
}
STATE = """
import ctypes, pathlib
import numpy as np

features = np._core._multiarray_umath.__cpu_features__
print("FMA" if features.get("X86_V3") or features.get("X86_V4") else "no FMA")
for path in pathlib.Path(np.__file__).parent.parent.glob("numpy.libs/*scipy_openblas64_*"):
    library = ctypes.CDLL(str(path))
    library.scipy_openblas_get_corename64_.restype = ctypes.c_char_p
    print("kernels", library.scipy_openblas_get_corename64_().decode())
    print("threads", library.scipy_openblas_get_num_threads64_())
"""


def state(**environment):
    """What a process uses in this environment."""
    ran = python("-c", STATE, **environment)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def is_possible(environment):
    """Skip a setting that this processor cannot have, and say so."""
    kernels = environment.get("OPENBLAS_CORETYPE")
    if kernels and not FOUND.get(KERNELS[kernels][1]):
        pytest.skip(f"this processor has no {KERNELS[kernels][1]}, which the kernels for {kernels} need")
    if "NPY_DISABLE_CPU_FEATURES" in environment and "X86_V3" not in FOUND:
        pytest.skip(
            "NumPy knows no X86_V3 here that could be switched off: another kind of processor, or an older NumPy"
        )


def checked(*arguments, **environment):
    """Run pytest in this environment, and show what it says if it fails."""
    ran = python("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, **environment)
    assert ran.returncode == 0, f"{environment}\n{ran.stdout[-5000:]}"
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed and int(passed[1]) > 20, ran.stdout  # so that it is no empty check


def test_numpy_without_fma_is_without():
    is_possible(WITHOUT_FMA)
    if not FOUND["X86_V3"]:
        pytest.skip("this processor has no FMA: all that is computed on it is computed without")
    assert state().splitlines()[0] == "FMA"
    assert state(**WITHOUT_FMA).splitlines()[0] == "no FMA"


@pytest.mark.parametrize("kernels", KERNELS)
def test_openblas_takes_the_kernels_of_another_processor(kernels):
    is_possible(SETTINGS[kernels])
    said = state(**SETTINGS[kernels])
    if "kernels" not in said:
        pytest.skip("this NumPy has another BLAS than OpenBLAS")
    assert re.search(rf"kernels ({KERNELS[kernels][0]})\n", said), said


@pytest.mark.parametrize("number", ["1", "2"])
def test_openblas_takes_as_many_threads_as_it_is_told(number):
    said = state(OMP_NUM_THREADS=number, OPENBLAS_NUM_THREADS=number)
    if "threads" not in said:
        pytest.skip("this NumPy has another BLAS than OpenBLAS")
    assert f"threads {number}\n" in said


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_sample_of_the_numbers_is_right_on_other_machines(setting):
    is_possible(SETTINGS[setting])
    # Without the conftest, which loads the browser.
    checked("--noconftest", "-o", "addopts=", "-p", "no:nbval", *NUMBERS, **SETTINGS[setting])


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_shows_the_same_on_other_machines(chapter):
    """All settings at once, since it takes seconds: which one it is, the test before says, or the digits do."""
    is_possible(CHAPTERS[chapter])
    checked("-o", "addopts=--nbval", ROOT / "notebooks" / f"{chapter}.ipynb", **CHAPTERS[chapter])
