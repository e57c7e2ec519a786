"""What training leaves when it is interrupted, killed, sent elsewhere or repeated; and what it compiles."""

import pickle
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest

from gaplib.models import BinaryModel, GaussianMixture
from gaplib.training import Game, Interrupted, NetworkAdversary, train
from gaplib.training.defaults import NUMBERS
from gaplib.training.engine import Rules, alternating_minimax
from gaplib.training.samples import BLOCK

PLAY = "gaplib.training.play"
MODEL = GaussianMixture(0.75, 3, 4, 1)
GAMES = [Game(MODEL, 1, n=300), Game(MODEL, 3, n=300), Game(BinaryModel.xor(0.5, 0.25), 0.1, n=300)]


def said(result):
    """All that a result says, as bytes."""
    history = result.history
    return np.concatenate(
        [
            list(vars(result.mechanism).values()),
            [result.distortion, result.test_accuracy, result.test_cross_entropy, result.iterations],
            *(history.iteration, history.loss, history.distortion, history.multiplier),
            result.belief([0, 1]),
        ]
    ).tobytes()


def stop_after(monkeypatch, blocks):
    """Interrupt the training that follows after so many blocks."""
    left = [blocks]

    def interrupted(rules):
        iterate = alternating_minimax(rules)

        def call(*arguments):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return iterate(*arguments)

        return call

    monkeypatch.setattr(sys.modules[PLAY], "alternating_minimax", interrupted)


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_an_interrupt_keeps_what_was_learned(monkeypatch, blocks):
    steps = 8 * BLOCK
    whole = train(GAMES, steps=steps)
    stop_after(monkeypatch, blocks)
    with pytest.raises(KeyboardInterrupt, match="0 of 3 games finished and 2 begun") as caught:
        train(GAMES, steps=steps)
    assert isinstance(caught.value, Interrupted)
    *begun, missing = caught.value.results
    assert missing is None
    for part, end in zip(begun, whole):
        assert part.game is end.game and not part.complete and end.complete
        assert (part.iterations, end.iterations) == (blocks * BLOCK, steps)
        entries = part.history.iteration.size
        assert part.history.loss.tobytes() == end.history.loss[:entries].tobytes()
        assert part.distortion <= 1.005 * part.game.D and 0 <= part.belief(0.0) <= 1
    if blocks == 7:  # in the middle of the iterates that are averaged: half of their sum would spend a quarter
        assert all(part.distortion > 0.9 * part.game.D for part in begun)


def test_who_watches_sees_what_an_interrupt_would_keep(monkeypatch):
    seen = []
    steps = 2 * BLOCK + 50
    alone = train(GAMES, steps=steps)
    watched = train(GAMES, steps=steps, watch=seen.append)
    assert [said(result) for result in watched] == [said(result) for result in alone]
    assert [len(results) for results in seen] == [2] * 3 + [1] * 3  # two games share a program
    assert [results[0].iterations for results in seen] == [BLOCK, 2 * BLOCK, steps] * 2
    stop_after(monkeypatch, 1)
    with pytest.raises(Interrupted) as caught:
        train(GAMES, steps=steps)
    assert [said(result) for result in seen[0]] == [said(result) for result in caught.value.results[:2]]
    assert said(seen[2][0]) == said(watched[0])


def test_an_interrupt_of_a_later_program_keeps_the_finished_ones(monkeypatch):
    stop_after(monkeypatch, 3)
    with pytest.raises(Interrupted, match="2 of 3 games finished and 1 begun") as caught:
        train(GAMES, steps=2 * BLOCK)
    assert [result.complete for result in caught.value.results] == [True, True, False]
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert said(again.results[0]) == said(caught.value.results[0])


def test_a_checkpoint_goes_on_to_the_same_bits(monkeypatch, tmp_path):
    monkeypatch.setattr("gaplib.training.checkpoints.SECONDS", 0)
    options = {"steps": 3 * BLOCK + 50, "seed": [1, 2, 1], "checkpoint": tmp_path / "training"}
    whole = [said(result) for result in train(GAMES, **options | {"checkpoint": None})]
    for blocks in (0, 1, 2, 3):  # interrupted ever again; the last time in the second program
        with monkeypatch.context() as patch:
            stop_after(patch, blocks)
            with pytest.raises(Interrupted):
                train(GAMES, **options)
    with monkeypatch.context() as patch:
        stop_after(patch, 8)
        assert [said(result) for result in train(GAMES, **options)] == whole
    with monkeypatch.context() as patch:
        stop_after(patch, 0)  # all is there
        assert [said(result) for result in train(GAMES, **options)] == whole
    # Another call goes its own way.
    other = train(GAMES, **options | {"seed": 5})
    assert said(other[0]) != whole[0]
    assert (tmp_path / "training").stat().st_mode & 0o777 == 0o700


RUN = f"""
import sys
from gaplib.training import checkpoints
checkpoints.SECONDS = 0
from gaplib.models import *
from gaplib.training import *
games = [Game(GaussianMixture(.75, 3, 4, 1), D, n=3000) for D in (1, 3)] + [Game(BinaryModel.xor(.5, .25), .1)]
print("ready", flush=True)
results = train(games, steps={60 * BLOCK}, checkpoint=sys.argv[1] if sys.argv[1:] else None)
print(*(f"{{r.mechanism!r}} {{r.distortion.hex()}} {{r.test_cross_entropy.hex()}}" for r in results))
"""


@pytest.mark.slow
def test_a_killed_process_loses_nothing(tmp_path):
    with subprocess.Popen([sys.executable, "-c", RUN], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        begin = time.monotonic()
        whole = process.stdout.read()
    duration = time.monotonic() - begin
    folder, random, killed = tmp_path / "training", np.random.default_rng(), 0
    for _ in range(6):
        with subprocess.Popen([sys.executable, "-c", RUN, folder], stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            time.sleep(random.uniform(0, duration / 2))
            process.kill()
            killed += process.wait() != 0
    last = subprocess.run([sys.executable, "-c", RUN, folder], capture_output=True, text=True, check=True).stdout
    assert killed and last == "ready\n" + whole


def test_a_checkpoint_takes_no_other_folder(tmp_path):
    game = [Game(MODEL, 1, n=100)]

    def refused(folder, message):
        with pytest.raises(ValueError, match=message):
            train(game, steps=1, checkpoint=folder)

    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "mine" / "notes.txt").write_text("not to be lost")
    refused(tmp_path / "mine", "checkpoint must be a folder of checkpoints and nothing else, .*notes.txt")
    refused(tmp_path / "mine" / "notes.txt", "checkpoint must be a folder")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    refused(tmp_path / "link", "no link")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    refused(tmp_path / "open", "only its owner")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "not to be lost"


def test_a_damaged_checkpoint_is_named(tmp_path):
    game, folder = [Game(MODEL, 1, n=100)], tmp_path / "training"
    train(game, steps=1, checkpoint=folder)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for content in (b"", whole[: len(whole) // 2], pickle.dumps("gaplib"), b"x" * len(whole)):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=f"{file.name} is damaged .* delete it"):
            train(game, steps=1, checkpoint=folder)
    np.savez(file, **{**np.load(folder_copy(tmp_path, whole)), "course": np.zeros((1, 3, 7), np.float32)})
    with pytest.raises(ValueError, match="other shapes"):
        train(game, steps=1, checkpoint=folder)
    file.unlink()
    file.symlink_to(folder_copy(tmp_path, whole))
    with pytest.raises(ValueError, match="files of its own only"):
        train(game, steps=1, checkpoint=folder)


def folder_copy(tmp_path, whole):
    (tmp_path / "copy.npz").write_bytes(whole)
    return tmp_path / "copy.npz"


def test_a_result_can_be_sent_to_another_process():
    for result in train(GAMES, steps=20):
        again = pickle.loads(pickle.dumps(result))
        assert said(again) == said(result) and again.mechanism == result.mechanism
        assert again.exploitability == result.exploitability


def test_a_forked_process_says_that_it_cannot_train():
    # In a process of its own: pytest's may have threads that make Python warn of the fork.
    program = """
import os
from gaplib.models import BinaryModel
from gaplib.training import Game, train
(result,) = train([Game(BinaryModel.xor(.5, .25), .1, n=100)], steps=1)
if os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
for call in (lambda: train([result.game], steps=1), lambda: result.belief(0)):
    try:
        call()
    except RuntimeError as error:
        assert "spawn" in str(error) and "forkserver" in str(error)
    else:
        os._exit(1)
os._exit(7)
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120)
    assert run.returncode == 7, run.stderr


pytestmark = pytest.mark.slow  # games are trained for most of a minute


def compiled(rules):
    return alternating_minimax(rules).experimental_get_tracing_count()


def rules_of(adversary, unrolled=3):
    return Rules(
        NUMBERS.privatizer, adversary, NUMBERS.constraint, unrolled, alpha_loss=False, rising=False, as_printed=False
    )


def test_samples_of_many_sizes_share_a_program():
    adversary = NetworkAdversary(3)  # no other test's
    games = [Game(MODEL, 1, n=n, adversary=adversary) for n in range(50, 60)]
    alone = [train([game], steps=20)[0] for game in games]
    together = train(games, steps=20)
    assert compiled(rules_of(adversary)) == 2  # one game, and ten
    for one, among in zip(alone, together):
        assert among.distortion == pytest.approx(one.distortion, rel=1e-4)  # rounding
    # What fills a minibatch up has no weight: the mechanism does not depend on how much there is of it.
    losses = [train([Game(MODEL, 1, n=50)], steps=20, minibatch=size)[0].history.loss for size in (50, 60, 64, 1000)]
    for one, other in pairwise(losses):
        assert one == pytest.approx(other, rel=1e-4)


def test_a_long_inner_loop_starts_at_once():
    begin = time.process_time()
    adversary = NetworkAdversary(4)  # no other test's
    train([Game(MODEL, 1, n=100, adversary=adversary)], k=100, steps=1)
    assert time.process_time() - begin < 10  # unrolled, it took 81 s
    train([Game(MODEL, 1, n=100, adversary=adversary)], k=37, steps=1)
    assert compiled(rules_of(adversary, unrolled=0)) == 1


def test_an_inner_loop_does_what_unrolled_steps_do(monkeypatch):
    game = Game(MODEL, 2, n=200)
    unrolled = train([game], k=3, steps=100)[0]
    monkeypatch.setattr(sys.modules["gaplib.training.train"], "UNROLLED", 0)
    looped = train([game], k=3, steps=100)[0]
    # Another order of single-precision sums.
    assert looped.history.loss == pytest.approx(unrolled.history.loss, abs=1e-3)
    assert looped.distortion == pytest.approx(unrolled.distortion, rel=1e-3)
