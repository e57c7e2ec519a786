"""The games of Tables 2 to 5, all together and one Keras game at a time: seconds beside the quality reached.

Run `python benchmarks/training.py`. Quality is the distance of the learned mechanism's MAP accuracy from that of the
log-loss optimum, and of its distortion from the budget; the book's bars are .003 on average over seeds (.008 for one)
and half a per cent. CPU seconds are those of all threads, MB the most memory that the process has had until then. The
Keras loop is given the same schedule, and plays all 36 games, one after the other: that takes some minutes.
"""

import resource
import time

import numpy as np

from gaplib import gaussian, leakage
from gaplib.mechanisms import AffineGaussian
from gaplib.models import GaussianMixture
from gaplib.training import Game, train
from gaplib.training._tensorflow import tf

DATASETS = [GaussianMixture(prior, 3, var0, 1) for prior in (0.5, 0.75) for var0 in (1, 4)]
STUDY = [(model, D) for model in DATASETS for D in range(1, 10)]
T, K, RATE = 1500, 3, 0.01


def timed(function, *arguments):
    """Return what the function returns, and its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function(*arguments)
    return result, time.perf_counter() - wall, time.process_time() - cpu


def memory():
    """Return the largest memory that the process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def quality(model, D, mechanism, distortion):
    best = gaussian.optimal_affine(model, D, loss="log").mechanism
    return leakage.map_accuracy(model, mechanism) - leakage.map_accuracy(model, best), distortion / D - 1


def worst(qualities):
    """Return the mean and the largest error in accuracy, and the largest excess of distortion."""
    errors, excess = np.array(qualities).T
    return f"{abs(errors).mean():8.4f} {abs(errors).max():8.4f} {100 * excess.max():+8.2f}"


def together(games, seeds):
    results = train([Game(model, D) for model, D in games], seed=seeds, progress=False)
    return [quality(*game, result.mechanism, result.distortion) for game, result in zip(games, results, strict=True)]


def keras_game(model, D, seed=0):
    """Play one game as it is usually written: a Keras adversary, a compiled step, a loop in Python."""
    tf.keras.utils.set_random_seed(seed)
    x, y = (np.float32(part[:20_000, np.newaxis]) for part in model.sample(22_000, seed))
    of_1, spread = y.mean(), np.sqrt(x.var() + D)
    adversary = tf.keras.Sequential([tf.keras.layers.Dense(16), tf.keras.layers.LeakyReLU(), tf.keras.layers.Dense(1)])
    adversary.build((None, 1))
    theta_p = tf.Variable(np.float32(np.sqrt(D) * np.array([0.3, 0.3, 0.6, 0.6])))
    multiplier, entropy = tf.Variable(0.0), tf.keras.losses.BinaryCrossentropy(from_logits=True)
    decay = tf.keras.optimizers.schedules.CosineDecay(RATE, T)
    for_a = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(RATE, K * T), beta_2=0.99)
    for_p = tf.keras.optimizers.Adam(decay, beta_2=0.99)

    def release(x, y, noise):
        beta0, beta1, gamma0, gamma1 = tf.unstack(theta_p)
        return (x + (1 - y) * (beta0 + gamma0 * noise) - y * (beta1 - gamma1 * noise)) / spread

    @tf.function
    def step(x, y, rho):
        noise = tf.random.normal(x.shape)
        x_hat = release(x, y, noise)
        for _ in range(K):
            with tf.GradientTape() as tape:
                loss = entropy(y, adversary(x_hat))
            gradients = tape.gradient(loss, adversary.trainable_variables)
            for_a.apply_gradients(zip(gradients, adversary.trainable_variables, strict=True))
        with tf.GradientTape() as tape:
            beta0, beta1, gamma0, gamma1 = tf.unstack(theta_p)
            distortion = (1 - of_1) * (beta0**2 + gamma0**2) + of_1 * (beta1**2 + gamma1**2)
            violation = distortion / D - 1
            price = tf.maximum(multiplier + rho * violation, 0.0)
            objective = price**2 / (2 * rho) - entropy(y, adversary(release(x, y, noise)))
        for_p.apply_gradients([(tape.gradient(objective, theta_p), theta_p)])
        multiplier.assign(tf.maximum(multiplier + 0.01 * rho * violation, 0.0))

    batches = iter(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20_000, seed=seed).batch(200).repeat())
    average = np.zeros(4)
    for t in range(T):
        step(*next(batches), tf.constant(3.0 ** (t / T)))
        if t >= 3 * T // 4:
            average += theta_p.numpy() / (T // 4)
    beta0, beta1, gamma0, gamma1 = average.tolist()
    distortion = (1 - of_1) * (beta0**2 + gamma0**2) + of_1 * (beta1**2 + gamma1**2)
    return quality(model, D, AffineGaussian(beta0, beta1, abs(gamma0), abs(gamma1)), distortion)


def main():
    for model, D in STUDY:
        gaussian.optimal_affine(model, D, loss="log")  # not part of what is measured below, but warms its imports
    print(f"memory before training: {memory():.0f} MB\n")
    head = f"{'wall s':>9s} {'CPU s':>9s} {'per game':>9s} {'MB':>6s} {'mean':>8s} {'worst':>8s} {'over D %':>8s}"
    print(f"{'games':34s} {head}")

    def row(name, count, wall, cpu, qualities):
        print(f"{name:34s} {wall:9.2f} {cpu:9.2f} {cpu / count:9.3f} {memory():6.0f} {worst(qualities)}", flush=True)
        return cpu

    cost = {}
    for count in (1, 10, 36, 100, 1000):
        games = [STUDY[i % 36] for i in range(count)]
        cost[count] = row(f"{count}", count, *_moved(timed(together, games, [i // 36 for i in range(count)])))
        if count == 36:
            row("36 again, compiled already", count, *_moved(timed(together, STUDY, 0)))

    qualities, wall, cpu = [], 0.0, 0.0
    for game in STUDY:
        one, seconds, cpu_seconds = timed(keras_game, *game)
        qualities.append(one)
        wall, cpu = wall + seconds, cpu + cpu_seconds
    row("36, one Keras game at a time", 36, wall, cpu, qualities)
    print(
        f"\nThe Keras loop takes {cpu / cost[36]:.0f} times the CPU seconds of all 36 together, compilation included."
    )


def _moved(result):
    qualities, wall, cpu = result
    return wall, cpu, qualities


if __name__ == "__main__":
    main()
