"use strict";
// What is shown, computed: the same formulas as in gaplib, for the limits of the controls. A model is
// {prior, mu, var0, var1}, a mechanism {beta0, beta1, gamma0, gamma1}; the two normal
// distributions of its release are {prior, gap, var0, var1}.
(window.gapExplorer ??= {}).mixture = (() => {
  // The variance of Y
  const varY = (model) => model.prior * (1 - model.prior);

  function released(model, mechanism) {
    return {
      prior: model.prior,
      gap: 2 * model.mu - mechanism.beta0 - mechanism.beta1,
      var0: model.var0 + mechanism.gamma0 ** 2,
      var1: model.var1 + mechanism.gamma1 ** 2,
    };
  }

  function distortion({ prior }, { beta0, beta1, gamma0, gamma1 }) {
    return (1 - prior) * (beta0 ** 2 + gamma0 ** 2) + prior * (beta1 ** 2 + gamma1 ** 2);
  }

  // P(N <= x), to about 1e-15 of it also in the far lower tail. The error function is an integral of
  // exp(-t^2) / (t^2 + u^2), which a sum in equal steps gives but for the residue at the pole t = iu.
  const STEP = 0.5;
  const NODES = Array.from({ length: 13 }, (_, k) => ((k + 0.5) * STEP) ** 2);
  const WEIGHTS = NODES.map((square) => (STEP / Math.PI) * Math.exp(-square));
  function normal(x) {
    if (x > 0) return 1 - normal(-x);
    if (x < -39) return 0;
    const u = -x / Math.SQRT2;
    let sum = 0;
    for (let k = 0; k < NODES.length; k++) sum += WEIGHTS[k] / (NODES[k] + u * u);
    const residue = u < Math.PI / STEP ? 1 / (1 + Math.exp((2 * Math.PI * u) / STEP)) : 0;
    return u * Math.exp(-u * u) * sum + residue;
  }

  // Where f changes its sign between a and b (Chandrupatla's method: inverse quadratic steps where they are safe,
  // halves elsewhere), to `tolerance` or to rounding. If it does not, the end at which it is nearer to 0.
  function root(f, a, b, tolerance = 0) {
    let [fa, fb] = [f(a), f(b)];
    if (fa > 0 === fb > 0) return Math.abs(fa) < Math.abs(fb) ? a : b;
    let t = 0.5;
    for (;;) {
      const x = a + t * (b - a);
      const fx = f(x);
      let [c, fc] = [a, fa];
      if (fx > 0 !== fa > 0) [c, fc, b, fb] = [b, fb, a, fa];
      [a, fa] = [x, fx];
      const best = Math.abs(fa) < Math.abs(fb) ? a : b;
      const least = (4 * Number.EPSILON * Math.abs(best) + tolerance) / Math.abs(b - a);
      if (least > 0.5 || fa === 0) return best;
      const [place, height] = [(a - b) / (c - b), (fa - fb) / (fc - fb)];
      t = 0.5;
      if (height ** 2 < place && (1 - height) ** 2 < 1 - place) {
        t = ((fa / (fb - fa)) * fc) / (fb - fc) + ((((c - a) / (b - a)) * fa) / (fc - fa)) * (fb / (fc - fb));
      }
      t = Math.min(Math.max(t, least), 1 - least);
    }
  }

  // Where the Y of the narrow distribution is guessed: between `low` and `high`, in its standard deviations from its
  // mean towards the other mean. The log odds of the wide one are a u^2 + b u + c.
  function decision({ prior, gap, var0, var1 }) {
    const one = var1 <= var0; // the narrow one is that of Y = 1
    const [narrow, wide] = one ? [var1, var0] : [var0, var1];
    const [priorNarrow, priorWide] = one ? [prior, 1 - prior] : [1 - prior, prior];
    const shift = Math.abs(gap) / Math.sqrt(wide);
    const ratio = Math.sqrt(narrow / wide);
    const a = (wide - narrow) / wide / 2;
    const b = ratio * shift;
    const level = Math.log(priorWide / priorNarrow) + Math.log(narrow / wide) / 2;
    const c = level - shift ** 2 / 2;
    const discriminant = shift ** 2 - 4 * a * level;
    const q = -(b + Math.sqrt(Math.max(discriminant, 0))) / 2;
    let [low, high] = [0, 0];
    if (a === 0 && b === 0 && c < 0)
      [low, high] = [-Infinity, Infinity]; // equal distributions: only the priors count
    else if (discriminant > 0 && q < 0) [low, high] = [q / a, c / q];
    return { one, low, high, narrow, priorNarrow, priorWide, shift, ratio };
  }

  function mapAccuracy(normals) {
    const { low, high, priorNarrow, priorWide, shift, ratio } = decision(normals);
    const inNarrow = normal(high) - normal(low);
    const inWide = normal(ratio * high - shift) - normal(ratio * low - shift);
    return Math.max(priorWide + priorNarrow * inNarrow - priorWide * inWide, priorNarrow, priorWide);
  }

  // H(Y | Xhat) in nats. The integrand is smooth and dies out at both ends, so equal steps converge fast. Only where
  // both have mass is there anything to add.
  function entropy({ prior, gap, var0, var1 }, perDeviation = 10) {
    const [s0, s1] = [Math.sqrt(var0), Math.sqrt(var1)];
    const from = Math.max(-9 * s0, gap - 9 * s1);
    const to = Math.min(9 * s0, gap + 9 * s1);
    if (from >= to) return 0;
    const steps = Math.ceil(((to - from) * perDeviation) / Math.min(s0, s1));
    const h = (to - from) / steps;
    const [level0, level1] = [Math.log((1 - prior) / s0), Math.log(prior / s1)];
    let sum = 0;
    for (let k = 0; k <= steps; k++) {
      const x = from + k * h;
      const g0 = level0 - (x * x) / var0 / 2;
      const g1 = level1 - ((x - gap) * (x - gap)) / var1 / 2; // logarithms
      const odds = Math.abs(g0 - g1);
      if (odds > 45) continue; // nothing is left to guess
      const ratio = Math.exp(-odds);
      sum += Math.exp(Math.max(g0, g1)) * ((1 + ratio) * Math.log1p(ratio) + ratio * odds);
    }
    return (sum * h) / Math.sqrt(2 * Math.PI);
  }

  const priorEntropy = ({ prior: p }) => -p * Math.log(p) - (1 - p) * Math.log1p(-p);

  function information(model, mechanism) {
    return Math.max(priorEntropy(model) - entropy(released(model, mechanism)), 0); // rounding
  }

  // The mechanism with the total shift `beta`, divided at the least cost, and the given variances of the noise. The
  // smaller shift is what the larger one leaves, so that means that are to meet do meet.
  function divided({ prior }, beta, noise0, noise1) {
    const larger = Math.max(prior, 1 - prior) * beta;
    const [beta0, beta1] = prior >= 0.5 ? [larger, beta - larger] : [beta - larger, larger];
    return { beta0, beta1, gamma0: Math.sqrt(noise0), gamma1: Math.sqrt(noise1) };
  }

  // The paper's formulas, for equal variances (Theorem 3 past its range completed, Theorem 4 solved)

  const mergeOfMeans = (model) => 4 * model.mu ** 2 * varY(model);
  const longestShift = (model, D) => Math.min(Math.sqrt(D / varY(model)), 2 * model.mu);

  const noiseOnly = (model, D) => divided(model, 0, D, D);
  const shiftOnly = (model, D) => divided(model, longestShift(model, D), 0, 0);

  function shiftAndNoise(model, D) {
    const c = varY(model);
    const longest = longestShift(model, D);
    const vertex = (D + model.var0) / (2 * model.mu * c); // infinite if mu = 0
    if (vertex >= longest) return divided(model, longest, 0, 0);
    const noise = Math.max(D - c * vertex ** 2, 0);
    return divided(model, vertex, noise, noise);
  }

  // The accuracy that Theorem 3 prints, also where it does not hold.
  function printedShift(model, D) {
    const { prior: p } = model;
    const eta = Math.log((1 - p) / p);
    const alpha = (2 * model.mu - Math.sqrt(D / varY(model))) / Math.sqrt(model.var0);
    return p * normal(alpha / 2 - eta / alpha) + (1 - p) * normal(alpha / 2 + eta / alpha);
  }

  // Four parameters, any variances

  const evenly = (low, high, n) => Array.from({ length: n }, (_, k) => low + ((high - low) * k) / (n - 1));
  const byFactors = (low, high, n) => evenly(Math.log(low), Math.log(high), n).map(Math.exp);

  // Golden section: the unknown in [low, high] at which f is least, if f has one valley there.
  function least(f, low, high) {
    const golden = (Math.sqrt(5) - 1) / 2;
    const tolerance = 1e-6 * (high - low);
    let left = high - golden * (high - low),
      right = low + golden * (high - low);
    let [atLeft, atRight] = [f(left), f(right)];
    while (high - low > tolerance) {
      if (atLeft <= atRight) {
        [high, right, atRight] = [right, left, atLeft];
        left = high - golden * (high - low);
        atLeft = f(left);
      } else {
        [low, left, atLeft] = [left, right, atRight];
        right = low + golden * (high - low);
        atRight = f(right);
      }
    }
    return atLeft <= atRight ? left : right;
  }

  // The cheapest mechanism that makes the two distributions equal.
  function cheapestMerge(model) {
    const { mu, var0, var1 } = model;
    return divided(model, 2 * mu, Math.max(var1 - var0, 0), Math.max(var0 - var1, 0));
  }

  // The cheapest mechanism after which the prior is the best guess: chapter 8, exact saturation. With the released
  // variances r of the rarer Y and f of the more frequent one, the rarer one is nowhere likelier if and only if f >= r
  // and gap^2 <= room = (f - r) (K - ln(f / r)). The room is concave, so the cost is convex in the two noises and least
  // where its slopes vanish: inside, or on a side, where one Y is without noise.
  function cheapestUseless(model) {
    const { prior, mu, var0, var1 } = model;
    const c = varY(model);
    const one = prior >= 0.5;
    const [rare, often] = one ? [1 - prior, prior] : [prior, 1 - prior];
    const [r0, f0] = one ? [var0, var1] : [var1, var0];
    const K = 2 * Math.log(often / rare);
    const room = ([r, f]) => Math.max((f - r) * (K - Math.log(f / r)), 0);
    const shift = (variances) => Math.max(2 * mu - Math.sqrt(room(variances)), 0);
    const cost = ([r, f]) => c * shift([r, f]) ** 2 + rare * (r - r0) + often * (f - f0);
    const candidates = [[Math.max(r0, f0), Math.max(r0, f0)]]; // equal distributions
    // On a side the noise of one Y, of this weight, is the only one: `growth` is the derivative of the room in it. The
    // slope of the cost, times the root of the room, is finite at room 0 too, and rises along the side, from u = 0.
    const addBest = (side, longest, weight, growth) => {
      const slope = (u) => weight * Math.sqrt(room(side(u))) - c * shift(side(u)) * growth(side(u));
      candidates.push(side(longest > 0 && slope(0) < 0 ? root(slope, 0, longest) : 0));
    };
    const start = Math.max(r0, f0);
    if (start <= r0 * Math.exp(K)) {
      const side = (u) => [r0, start * Math.exp(u)];
      addBest(side, K - Math.log(start / r0), often, ([r, f]) => K - Math.log(f / r) - (f - r) / f);
    }
    if (f0 >= r0) {
      const first = Math.max(r0, f0 * Math.exp(-K)); // with less noise the rarer one is likelier far out
      const side = (u) => [first * Math.exp(u), f0];
      addBest(side, Math.log(f0 / first), rare, ([r, f]) => (f - r) / r - (K - Math.log(f / r)));
    }
    if (K > 0) {
      // Noise for both: a unit of it buys the same. The difference rises in t = ln(f / r).
      const difference = (t) => often * (t + Math.expm1(t) - K) - rare * (K - t + Math.expm1(-t));
      const t = root(difference, 0, Math.min(K, Math.log1p(2 * K)));
      const ratio = Math.exp(t);
      const bound = (ratio - 1) * (K - t);
      const r = ((2 * mu * c * Math.sqrt(bound)) / (c * bound + rare + often * ratio)) ** 2;
      if (r >= r0 && r * ratio >= f0) candidates.push([r, r * ratio]);
    }
    const best = candidates.reduce((a, b) => (cost(b) < cost(a) ? b : a));
    const [noiseR, noiseF] = [Math.max(best[0] - r0, 0), Math.max(best[1] - f0, 0)];
    return divided(model, shift(best), ...(one ? [noiseR, noiseF] : [noiseF, noiseR]));
  }

  // The cheapest mechanism that leaves as little as can be: to the MAP adversary the prior, under log-loss nothing.
  const saturation = (model, loss) => (loss === "map" ? cheapestUseless(model) : cheapestMerge(model));

  // The best of all four parameters within D, against "map" or "log": chapter 8, three curves. `noise` is what of the
  // budget goes into noise, `fraction1` what Y = 1 gets of that.
  function optimum(model, D, loss, last = saturation(model, loss)) {
    if (D >= distortion(model, last)) return last;
    const { prior: p, mu, var0, var1 } = model;
    const c = varY(model);
    const merge = mergeOfMeans(model);
    const mechanism = ([noise, fraction1]) => {
      const beta = Math.min(Math.sqrt(Math.max(D - noise, 0) / c), 2 * mu);
      return divided(model, beta, ((1 - fraction1) * noise) / (1 - p), (fraction1 * noise) / p);
    };
    const leak = (spending, perDeviation) => {
      const normals = released(model, mechanism(spending));
      return loss === "map" ? mapAccuracy(normals) : -entropy(normals, perDeviation);
    };

    // Grids that are dense on every scale on which the leakage may turn.
    const lowest = Math.max(D - merge, 0);
    const scale = Math.sqrt(Math.min(var0, var1)) / 10;
    const noises = [
      ...evenly(0, Math.PI / 2, 33).map((turn) => lowest + (D - lowest) * Math.sin(turn) ** 2),
      ...byFactors(scale, Math.max(2 * mu, scale), 15).map((gap) => D - c * Math.max(2 * mu - gap, 0) ** 2),
      ...byFactors(1e-3, 1e3, 11).flatMap((factor) => [lowest + factor * var0 * (1 - p), lowest + factor * var1 * p]),
    ];
    // Without twins: where two points differ by rounding only, the valley between them and a third is overlooked.
    const ordered = (grid, low, high) => {
      const sorted = grid.map((x) => Math.min(Math.max(x, low), high)).sort((x, y) => x - y);
      return sorted.filter((x, k) => k === 0 || x - sorted[k - 1] > 1e-12 * (high - low));
    };
    const edge = ordered(noises, lowest, D);
    const curves = [
      [edge, (noise) => [noise, 0]],
      [edge, (noise) => [noise, 1]],
    ];
    const both = (D + (1 - p) * var0 + p * var1) / (2 * mu * c); // the shift where both noises are positive
    if (both < longestShift(model, D)) {
      const noise = Math.max(D - c * both ** 2, 0);
      const small = (variance) => byFactors(Math.min(0.01, variance / D / 10), 0.5, 13);
      const fractions = [0, 1, ...evenly(0, 1, 33), ...small(p * var1), ...small((1 - p) * var0).map((fraction) => 1 - fraction)];
      curves.push([ordered(fractions, 0, 1), (fraction1) => [noise, fraction1]]);
    }

    const valleys = [];
    for (const [grid, curve] of curves) {
      const values = grid.map((x) => leak(curve(x), 3));
      values.forEach((value, k) => {
        const [before, after] = [values[k - 1] ?? Infinity, values[k + 1] ?? Infinity];
        if (value <= before && value <= after && !(value === before && value === after)) {
          valleys.push({
            value,
            curve,
            x: grid[k],
            low: grid[Math.max(k - 1, 0)],
            high: grid[Math.min(k + 1, grid.length - 1)],
          });
        }
      });
    }
    const found = valleys
      .sort((a, b) => a.value - b.value)
      .slice(0, 4)
      .flatMap(({ curve, x, low, high }) => {
        // The unknown is the distance from the lower end, which the grid has made as fine as it must be.
        return [curve(x), curve(low + least((t) => leak(curve(low + t), 5), 0, high - low))];
      })
      .map((spending) => [leak(spending), spending]);
    return mechanism(found.reduce((a, b) => (b[0] < a[0] ? b : a))[1]);
  }

  const numbers = {
    normal,
    root,
    released,
    distortion,
    decision,
    mapAccuracy,
    entropy,
    information,
    priorEntropy,
    mergeOfMeans,
    printedShift,
    noiseOnly,
    shiftOnly,
    shiftAndNoise,
    saturation,
    optimum,
  };
  return { numbers };
})();
