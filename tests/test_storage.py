"""Mechanisms in files: written whole, read with distrust."""

import json
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from gaplib import _storage, mechanisms, transport
from gaplib.mechanisms import AffineGaussian, BinaryKernel, FiniteKernel, PiecewiseKernel, SamplePlan, TransportMap
from gaplib.models import GaussianMixture

MODEL = GaussianMixture(prior=0.25, mu=3, var0=1, var1=2)
PLAN = transport.of_sample([[0.0, 1], [1, 1], [2, 0], [3, 1], [1, 2]], [0, 1, 0, 1, 1], 0.3).mechanism
MECHANISMS = [
    BinaryKernel(1, 0.5, 0.1, 1 / 3),
    AffineGaussian(0.1, -1 / 3, 0, 2),
    FiniteKernel([[[1, 0], [0.1, 0.9]], [[0.5, 0.5], [1 / 3, 2 / 3]]]),
    transport.optimal_pdd(MODEL, 1).mechanism,
    TransportMap(MODEL, ()),
    PiecewiseKernel([-1, 0, 1.5], [0, 1, 1], [0, 0.5, 2], [1, 1 / 3, 0.5]),
    PLAN,
]


def fields(mechanism):
    return {name: np.asarray(value) for name, value in mechanism._arrays().items()}


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def write(path, content, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def saved(tmp_path):
    AffineGaussian(1, 2, 3, 4).save(tmp_path / "affine.npz")
    return tmp_path / "affine.npz"


def test_every_mechanism_comes_back(tmp_path):
    assert {type(one).__name__ for one in MECHANISMS} <= set(mechanisms._TYPES)
    for mechanism in MECHANISMS:
        mechanism.save(tmp_path / "one.npz")
        loaded = mechanisms.load(tmp_path / "one.npz")
        assert type(loaded) is type(mechanism)
        for name, value in fields(mechanism).items():
            # Rows of a kernel are divided by their sums once more, and those are 1 but for rounding.
            np.testing.assert_allclose(fields(loaded)[name], value, rtol=1e-15, atol=0, err_msg=name)
    assert os.listdir(tmp_path) == ["one.npz"]  # nothing else stays


def test_the_file_is_a_plain_one(saved):
    with np.load(saved, allow_pickle=False) as file:
        header = {"format": "gaplib mechanism", "version": 1, "type": "AffineGaussian"}
        assert json.loads(str(file["header"])) == header
        assert {name: float(file[name]) for name in file.files if name != "header"} == dict(
            beta0=1, beta1=2, gamma0=3, gamma1=4
        )


def test_the_same_mechanism_gives_the_same_bytes(saved, tmp_path):
    AffineGaussian(1, 2, 3, 4).save(str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_a_loaded_mechanism_releases_the_same(tmp_path):
    x, y = MODEL.sample(1000, seed=0)
    for mechanism in (MECHANISMS[1], MECHANISMS[3], MECHANISMS[5]):
        mechanism.save(tmp_path / "one")
        np.testing.assert_array_equal(
            mechanisms.load(tmp_path / "one").privatize(x, y, 1), mechanism.privatize(x, y, 1)
        )


def test_a_write_that_fails_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(_storage.os, "fsync", fail)
    with pytest.raises(OSError, match="no space left"):
        BinaryKernel(1, 1, 1, 1).save(saved)
    assert saved.read_bytes() == before and os.listdir(saved.parent) == [saved.name]


def test_reading_loads_neither_tensorflow_nor_pickle(saved):
    program = (
        "import sys, pickle\n"
        "def refuse(*_): raise AssertionError('unpickled')\n"
        "pickle.load = pickle.loads = pickle.Unpickler = refuse\n"
        f"from gaplib import mechanisms; mechanisms.load({str(saved)!r})\n"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def header(**changes):
    given = {"format": "gaplib mechanism", "version": 1, "type": "AffineGaussian"} | changes
    return npy(np.array(json.dumps(given)))


def npy(array, shape=None, descr=None, pickled=False):
    """The bytes of an array, whose own header may claim another shape or type."""
    array = np.asarray(array)
    text = repr({"descr": descr or array.dtype.str, "fortran_order": False, "shape": shape or array.shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return (
        b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + (b"cos\nsystem\n." if pickled else array.tobytes())
    )


HOSTILE = {
    "no header": {"header.npy": None},
    "another format": {"header.npy": header(format="other")},
    "another version": {"header.npy": header(version=2)},
    "a version that equals 1": {"header.npy": header(version=True)},
    "another type": {"header.npy": header(type="Popen")},
    "a type that is no text": {"header.npy": header(type=["AffineGaussian"])},
    "a header that is no object": {"header.npy": npy(np.array("[1]"))},
    "a header that is no JSON": {"header.npy": npy(np.array("{"))},
    "a deep header": {"header.npy": npy(np.array("[" * 100_000))},
    "a header that is no text": {"header.npy": npy(1.0)},
    "an array is missing": {"beta0.npy": None},
    "an array too many": {"self.npy": npy(1.0)},
    "NaN": {"beta0.npy": npy(np.nan)},
    "infinity": {"beta0.npy": npy(np.inf)},
    "out of range": {"gamma0.npy": npy(-1.0)},
    "a vector for a number": {"beta0.npy": npy([1.0, 2.0])},
    "an empty array": {"beta0.npy": npy(np.zeros(0))},
    "objects": {"beta0.npy": npy(1.0, descr="|O", pickled=True)},
    "text": {"beta0.npy": npy(np.array("1"))},
    "a structured type": {"beta0.npy": npy(1.0, descr=[("a", "<f8")])},
    "more than it has": {"beta0.npy": npy(1.0, shape=(10**12,))},
    "less than it has": {"beta0.npy": npy([1.0, 2.0], shape=(1,))},
    "a negative length": {"beta0.npy": npy(1.0, shape=(-1, -1))},
    "a header of an array that is code": {"beta0.npy": npy(1.0).replace(b"'descr'", b"print()")},
    "no array": {"beta0.npy": b"text"},
    "a program": {"run.py": b"print()"},
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_hostile_files_are_refused(saved, fault):
    content = {name: data for name, data in (entries(saved) | HOSTILE[fault]).items() if data is not None}
    write(saved, content)
    with pytest.raises(ValueError, match=r"path must be that of"):
        mechanisms.load(saved)


def test_what_swells_is_refused(saved):
    zeros = npy(np.zeros(10**6))
    write(saved, entries(saved) | {"beta0.npy": zeros}, zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < len(zeros) / 100
    with pytest.raises(ValueError, match="compressed"):
        mechanisms.load(saved)


def test_what_says_that_it_is_longer_than_it_is_is_refused(saved):
    data = bytearray(saved.read_bytes())
    at = data.rindex(b"PK\x01\x02")  # the directory's last entry
    data[at + 20 : at + 28] = struct.pack("<II", 1 << 30, 1 << 30)  # its two sizes
    saved.write_bytes(data)
    with pytest.raises(ValueError, match="longer than itself"):
        mechanisms.load(saved)


def test_two_entries_of_one_name_are_refused(saved):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("beta0.npy", npy(2.0))
    with pytest.raises(ValueError, match="a name of its own"):
        mechanisms.load(saved)


def test_damage_is_found(saved):
    data = saved.read_bytes()
    for cut in (b"", data[: len(data) // 2], data[:-1], b"text", data.replace(np.float64(3).tobytes(), b"\0" * 8)):
        saved.write_bytes(cut)
        with pytest.raises(ValueError, match="path must be that of a file"):
            mechanisms.load(saved)


def test_paths_are_checked(tmp_path):
    for bad in (1, None, b"bytes", object()):
        with pytest.raises(TypeError, match="path must be"):
            mechanisms.load(bad)
        with pytest.raises(TypeError, match="path must be"):
            MECHANISMS[0].save(bad)
    for bad in ("", "a\0b"):
        with pytest.raises(ValueError, match="path must be"):
            mechanisms.load(bad)
    with pytest.raises(ValueError, match="that of a file"):
        mechanisms.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        mechanisms.load(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        MECHANISMS[0].save(tmp_path / "none" / "one.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="that of a file"):
        mechanisms.load(tmp_path / "pipe")


@pytest.mark.parametrize(
    "change",
    [
        {"x": [0.0, 1]},
        {"pairs": [[0, 9]]},
        {"pairs": [[-1, 0]]},
        {"shares": [2.0]},
        {"shares": [0.5, 0.5]},
        {"points": [[0.0, 1]]},
    ],
)
def test_a_plan_is_checked(change):
    good = {"x": np.zeros((3, 1)), "pairs": [[0, 1]], "shares": [1.0], "points": [[0.0]]}
    SamplePlan(**good)
    with pytest.raises(ValueError, match=next(iter(change))):
        SamplePlan(**good | change)


def test_a_record_is_in_no_more_than_one_pair_at_a_time():
    with pytest.raises(ValueError, match="sum to at most one"):
        SamplePlan(np.zeros((3, 1)), np.array([[0, 1], [0, 2]]), np.array([0.6, 0.6]), np.zeros((2, 1)))
