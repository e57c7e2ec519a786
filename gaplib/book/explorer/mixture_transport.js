"use strict";
// The optimum over all mechanisms that see Y, computed as gaplib.transport.optimal_pdd does. Around each crossing of
// the two densities, each times its prior, lies an interval in which both have the same mass. There the monotone map
// pairs the records of one Y with those of the other, and both of a pair are released at their midpoint; nothing else
// moves. All intervals share the chain cost K, the integral of (partner - x) dx, and 1 / K is the price of distortion.
window.gapExplorer.mixture.transport = (() => {
  const { normal, root, entropy, priorEntropy } = window.gapExplorer.mixture.numbers;

  // Beyond so many standard deviations a Gaussian has a mass below the smallest float.
  const REACH = 37;
  // A crossing with less mass than this beyond it can change no digit of the accuracy.
  const NOTHING = 1e-18;
  // Gauss and Legendre's rule of six nodes
  const HALF_RULE = [
    [0.2386191860831969, 0.467913934572691],
    [0.6612093864662645, 0.3607615730481386],
    [0.932469514203152, 0.1713244923791704],
  ];
  const RULE = [...HALF_RULE, ...HALF_RULE.map(([node, weight]) => [-node, weight])];
  // The share of an interval's mass is a logistic function of evenly spaced numbers. In them the quantiles are
  // analytic, so that a plain sum is exact: [share, what is left, weight].
  const SHARES = Array.from({ length: 161 }, (_, k) => {
    const [share, rest] = [1 / (1 + Math.exp(40 - k / 2)), 1 / (1 + Math.exp(k / 2 - 40))];
    return [share, rest, 0.5 * share * rest];
  });
  // Panels towards both ends of an interval, where the map may turn on any scale
  const HALVES = Array.from({ length: 24 }, (_, k) => 0.5 ** (k + 1));
  const PANELS = [0, 1, ...HALVES, ...HALVES.slice(1).map((half) => 1 - half)];

  // A part is the measure P(X in dx, Y = y): its weight times a normal density.

  const partsOf = ({ prior, mu, var0, var1 }) => [
    { y: 0, weight: 1 - prior, mean: -mu, sd: Math.sqrt(var0) },
    { y: 1, weight: prior, mean: mu, sd: Math.sqrt(var1) },
  ];

  const below = ({ weight, mean, sd }, x) => weight * normal((x - mean) / sd);
  const above = ({ weight, mean, sd }, x) => weight * normal((mean - x) / sd);
  const densityOf = ({ weight, mean, sd }, x) =>
    (weight / sd / Math.sqrt(2 * Math.PI)) * Math.exp(-(((x - mean) / sd) ** 2) / 2);

  // The mass between two points comes from the smaller tail of each, so that it is exact also far out.
  function tailAt({ weight, mean, sd }, x) {
    return { left: x < mean, tail: weight * normal(-Math.abs(x - mean) / sd) };
  }
  function between({ weight }, a, b) {
    return a.left === b.left ? Math.abs(a.tail - b.tail) : weight - a.tail - b.tail;
  }
  const mass = (part, low, high) => between(part, tailAt(part, low), tailAt(part, high));

  // The z with P(N > z) = p, for p <= 1/2: a start to 4.5e-4 (Abramowitz and Stegun, 26.2.23), and from it four terms
  // of the series of the inverse function; the next is below 1e-13.
  function deviation(p) {
    if (p < 1e-300) return Infinity;
    const t = Math.sqrt(-2 * Math.log(p));
    const z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    const d = (normal(-z) - p) * Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2);
    return z + d * (1 + d * (z / 2 + d * ((2 * z * z + 1) / 6 + (d * z * (6 * z * z + 7)) / 24)));
  }

  // The x in [low, high] with the mass `under` below it and `over` above it, from the smaller of the two.
  function quantile({ weight, mean, sd }, under, over, { low, high }) {
    const z = deviation(Math.min(Math.max(Math.min(under, over) / weight, 0), 0.5)); // below 0 by rounding
    return Math.min(Math.max(mean + sd * (under <= over ? -z : z), low), high);
  }

  // The map of records of `source` in an interval to their partners: as much of `target` lies below the partner as of
  // `source` below x.
  function partnerIn(interval, source, target) {
    const [low, high] = [tailAt(source, interval.low), tailAt(source, interval.high)];
    const [under, over] = [below(target, interval.low), above(target, interval.high)];
    return (x) => {
      const at = tailAt(source, x);
      return quantile(target, under + between(source, low, at), over + between(source, at, high), interval);
    };
  }

  // The partners x of `left` and x + jump of `right`, with their mass: [x, jump, mass]
  function partnersIn(interval) {
    const { left, right, low, high } = interval;
    const all = mass(left, low, high);
    const at = (part) => {
      const [under, over] = [below(part, low), above(part, high)];
      return ([share, rest]) => quantile(part, under + all * share, over + all * rest, interval);
    };
    const [ofLeft, ofRight] = [at(left), at(right)];
    return SHARES.map((node) => {
      const x = ofLeft(node);
      return [x, ofRight(node) - x, all * node[2]];
    });
  }

  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

  // Both records of a pair move by half the jump.
  const distortionIn = (interval) => sum(partnersIn(interval).map(([, jump, weight]) => (weight * jump ** 2) / 2));

  function chainCost(interval) {
    const { left, right, low, high } = interval;
    const [there, back] = [partnerIn(interval, left, right), partnerIn(interval, right, left)];
    const inside = (x) => Math.min(Math.max(x, low), high);
    const ends = PANELS.map((share) => low + (high - low) * share);
    for (let scale = -8; scale <= 8; scale++) {
      ends.push(inside(left.mean + left.sd * scale), back(inside(right.mean + right.sd * scale)));
    }
    ends.sort((a, b) => a - b);
    let cost = 0;
    for (let k = 1; k < ends.length; k++) {
      const half = (ends[k] - ends[k - 1]) / 2;
      if (half === 0) continue;
      for (const [node, weight] of RULE) {
        const x = ends[k - 1] + half * (1 + node);
        cost += half * weight * (there(x) - x);
      }
    }
    return cost;
  }

  // The points at which the two densities change places, in order. ln(b / a) is q x^2 + slope x + level.
  function crossingPoints([a, b]) {
    const [inverse0, inverse1] = [1 / a.sd ** 2, 1 / b.sd ** 2];
    const constant = Math.log(b.weight / a.weight) + Math.log(a.sd / b.sd);
    const q = (inverse0 - inverse1) / 2;
    const slope = b.mean * (inverse0 + inverse1);
    const level = b.mean ** 2 * q + constant;
    if (q === 0) return slope === 0 ? [] : [-level / slope];
    const discriminant = ((2 * b.mean) / (a.sd * b.sd)) ** 2 - 4 * q * constant; // without what cancels
    if (discriminant <= 0) return [];
    const far = -(slope + Math.sqrt(discriminant)) / 2;
    return [far / q, level / far].sort((x, y) => x - y);
  }

  // At a crossing the density of `left`, the larger one on its left, becomes the smaller one. An interval around it
  // stays within [low, high]. On its outer side, -1 or 1, the larger density is left over.
  function crossingsOf(parts) {
    const points = crossingPoints(parts);
    const narrow = parts[0].sd < parts[1].sd ? 0 : 1;
    const ends = [-Infinity, ...points, Infinity];
    return points.map((at, k) => {
      // With two crossings the wide density is the larger one outside; with one, Y = 0 lies on the left.
      const first = points.length === 2 ? 1 - narrow : 0;
      const [left, right] = k === 0 ? [parts[first], parts[1 - first]] : [parts[1 - first], parts[first]];
      // Where one density is above the other all the way out, the likelier Y is used up last.
      const outer = points.length === 2 ? [-1, 1][k] : left.weight <= right.weight ? -1 : 1;
      const low = Math.max(ends[k], Math.min(left.mean - REACH * left.sd, at - left.sd));
      const high = Math.min(ends[k + 2], Math.max(right.mean + REACH * right.sd, at + right.sd));
      return { at, left, right, low, high, outer };
    });
  }

  // What is left over beyond x on the outer side
  function leftOver({ left, right, outer }, x) {
    return Math.max(outer < 0 ? below(left, x) - below(right, x) : above(right, x) - above(left, x), 0);
  }

  const surplus = ({ left, right }, x, y) => {
    const [low, high] = x < y ? [x, y] : [y, x];
    return mass(left, low, high) - mass(right, low, high);
  };

  // The interval with the outer end `end`: the inner end is where the masses are equal.
  function intervalFrom(crossing, end) {
    const { at, left, right, low, high, outer } = crossing;
    const inner = root((x) => surplus(crossing, end, x), at, outer < 0 ? high : low);
    return { left, right, low: Math.min(inner, end), high: Math.max(inner, end) };
  }

  // The interval with the inner end `end`: the outer end is where the masses are equal, or as far as there is mass.
  function intervalTo(crossing, end) {
    const { at, left, right, low, high, outer } = crossing;
    const found = root((x) => surplus(crossing, x, end), at, outer < 0 ? low : high);
    return { left, right, low: Math.min(found, end), high: Math.max(found, end) };
  }

  // The widest interval: one end cannot go further.
  function widest(crossing) {
    const { low, high, outer } = crossing;
    const [far, inner] = outer < 0 ? [low, high] : [high, low];
    const limited = surplus(crossing, far, inner) > 0 === outer < 0;
    return limited ? intervalTo(crossing, inner) : intervalFrom(crossing, far);
  }

  const outerEnd = ({ outer }, { low, high }) => (outer < 0 ? low : high);
  const excess = (crossing) => leftOver(crossing, crossing.at); // what is left over if nothing moves

  // An interval is known by r, the logarithm of the distance of its outer end from the crossing.
  const intervalAt = (crossing, r) => intervalFrom(crossing, crossing.at + crossing.outer * Math.exp(r));
  const placeOf = (crossing, interval) => Math.log(Math.abs(outerEnd(crossing, interval) - crossing.at));

  // A function from the logarithm of a chain cost to the interval that has it, or the widest one. It remembers what it
  // has computed.
  function intervalsByCost(crossing, shortest) {
    const longest = placeOf(crossing, widest(crossing));
    const known = new Map();
    const costAt = (r) => {
      if (!known.has(r)) known.set(r, Math.log(chainCost(intervalAt(crossing, r))));
      return known.get(r);
    };
    return (cost, tolerance) => {
      let [low, high] = [shortest, longest];
      for (const [r, found] of known) [low, high] = found < cost ? [Math.max(low, r), high] : [low, Math.min(high, r)];
      return intervalAt(crossing, root((r) => costAt(r) - cost, low, high, tolerance));
    };
  }

  // Two intervals that meet, with the same chain cost
  function meeting(crossings) {
    const intervals = (x) => crossings.map((crossing) => intervalTo(crossing, x));
    const difference = (x) => (([first, second]) => Math.log(first / second))(intervals(x).map(chainCost));
    const [from, to] = crossings.map(({ at }) => at);
    const margin = (to - from) / 1e4;
    return intervals(root(difference, from + margin, to - margin, 1e-11 * (to - from)));
  }

  // All optima of a model, by the r of the leading interval, the one that can hide the most. `end` is the cheapest
  // optimum after which the prior is the best guess.
  function frontier(model) {
    const parts = partsOf(model);
    const prior = Math.max(parts[0].weight, parts[1].weight);
    const crossings = crossingsOf(parts);
    // One density is used up but for what is left of the other on its outer sides.
    const used = crossings.length && crossings[0].outer < 0 ? crossings[0].right : crossings[0]?.left;
    const unmoved = used ? used.weight + sum(crossings.map(excess)) : prior;
    const start = { accuracy: unmoved, price: Infinity, distortion: 0, intervals: [] };
    const nothing = { accuracy: prior, price: 0, distortion: 0, intervals: [] };
    // What tells no more than the prior, as far as rounding can tell, need not be moved.
    if (unmoved - prior <= Number.EPSILON) return { start: nothing, end: nothing };

    const kept = crossings.filter((crossing) => excess(crossing) > NOTHING);
    const leading = kept.length === 2 && excess(kept[1]) > excess(kept[0]) ? 1 : 0;
    const [lead, other] = [kept[leading], kept[1 - leading]];
    const apart = other ? Math.abs(other.at - lead.at) : Infinity;
    const shortest = Math.log(Math.min(lead.left.sd, lead.right.sd, apart) / 100);

    const otherWith = other && intervalsByCost(other, shortest);
    const withOther = (own, tolerance = 1e-11) => {
      if (!other) return [own];
      const both = [own, otherWith(Math.log(chainCost(own)), tolerance)];
      return leading === 0 ? both : both.reverse();
    };
    const intervalsAt = (r, tolerance) => withOther(intervalAt(lead, r), tolerance);
    const measured = (intervals) => {
      const left = sum(kept.map((crossing, k) => leftOver(crossing, outerEnd(crossing, intervals[k]))));
      return { accuracy: Math.max(used.weight + left, prior), distortion: sum(intervals.map(distortionIn)), intervals };
    };
    const priced = (found) => {
      const price = found.accuracy - prior <= Number.EPSILON ? 0 : 1 / chainCost(found.intervals[leading]);
      return { ...found, price };
    };

    // What is left over in the end is of the likelier Y. If that is the wide one, two intervals meet, and the narrow
    // one is used up.
    const final = other && used.weight < prior ? meeting(kept) : withOther(widest(lead));
    const end = { ...measured(final), accuracy: prior, price: 0 };
    return { start, end, shortest, last: placeOf(lead, final[leading]), lead, intervalsAt, measured, priced };
  }

  function optimum(D, all) {
    const { start, end, shortest, last, intervalsAt, measured, priced } = all;
    if (D >= end.distortion) return end;
    if (D === 0) return start;
    const over = (r) => Math.log(sum(intervalsAt(r).map(distortionIn)) / D);
    return priced(measured(intervalsAt(root(over, shortest, last, 1e-12))));
  }

  // The accuracy against the budget, as points [D, accuracy] at equal steps of what the leading interval hides
  function curve(count, all) {
    const { start, end, shortest, last, lead, intervalsAt, measured } = all;
    const points = [[0, start.accuracy]];
    if (end.distortion > 0) {
      const leftAt = (r) => leftOver(lead, lead.at + lead.outer * Math.exp(r));
      const [most, least] = [leftOver(lead, lead.at), leftAt(last)];
      for (let k = 1; k < count; k++) {
        const wanted = most + (least - most) * (k / count);
        const r = root((r) => leftAt(r) - wanted, shortest, last, 1e-6);
        const { distortion, accuracy } = measured(intervalsAt(r, 1e-4)); // exact enough for a line
        points.push([distortion, accuracy]);
      }
      points.push([end.distortion, end.accuracy]);
    }
    return points;
  }

  // H(Y | Xhat) in nats: in an interval both Y are equally likely, whatever is released.
  function entropyAfter(model, intervals) {
    if (intervals.length === 0) return entropy({ ...model, gap: 2 * model.mu });
    const [a, b] = partsOf(model);
    const step = Math.min(a.sd, b.sd) / 2;
    const reach = [Math.max(a.mean - 9 * a.sd, b.mean - 9 * b.sd), Math.min(a.mean + 9 * a.sd, b.mean + 9 * b.sd)];
    const ends = [reach[0], ...intervals.flatMap(({ low, high }) => [low, high]), reach[1]];
    let total = sum(intervals.map(({ left, low, high }) => 2 * Math.LN2 * mass(left, low, high)));
    for (let k = 0; k < ends.length; k += 2) {
      const [from, to] = [Math.max(ends[k], reach[0]), Math.min(ends[k + 1], reach[1])];
      const panels = Math.ceil((to - from) / step);
      const half = (to - from) / panels / 2;
      for (let panel = 0; panel < panels; panel++) {
        for (const [node, weight] of RULE) {
          const x = from + half * (2 * panel + 1 + node);
          const [p, q] = [densityOf(a, x), densityOf(b, x)];
          const ratio = Math.min(p, q) / Math.max(p, q);
          total += half * weight * Math.max(p, q) * ((1 + ratio) * Math.log1p(ratio) - ratio * Math.log(ratio));
        }
      }
    }
    return total;
  }

  // I(Y; Xhat) in nats
  const information = (model, intervals) => Math.max(priorEntropy(model) - entropyAfter(model, intervals), 0);

  // The mean and the variance of the release, for each Y
  function moments(model, intervals) {
    return partsOf(model).map(({ y, weight, mean, sd }) => {
      let [shift, square] = [0, 0];
      for (const interval of intervals) {
        for (const [x, jump, mass] of partnersIn(interval)) {
          const at = y === interval.left.y ? x : x + jump;
          const released = x + jump / 2;
          shift += ((released - at) * mass) / weight;
          square += ((released ** 2 - at ** 2) * mass) / weight;
        }
      }
      return { mean: mean + shift, variance: sd ** 2 + square - 2 * mean * shift - shift ** 2 };
    });
  }

  // Pairs in an interval, for drawing: the public values of Y = 0 and 1, their common release, and its density for each
  // Y. Those from `from` to `to` are even in x, others in the mass, because the map may turn on the scale of either.
  function pairs(interval, [from, to], count) {
    const { left, right, low, high } = interval;
    const partner = partnerIn(interval, left, right);
    const [first, last] = [Math.max(low, from), Math.min(high, to)];
    const even = Array.from({ length: count + 1 }, (_, k) => first + (Math.max(last - first, 0) * k) / count);
    const xs = [...even, ...partnersIn(interval).map(([x]) => x)].sort((a, b) => a - b);
    return xs.map((x) => {
      const ends = [x, partner(x)];
      const [x0, x1] = left.y === 0 ? ends : ends.reverse();
      // They move on as 1 / density does, and their midpoint as half the sum.
      const density = 2 / (1 / densityOf(left, x) + 1 / densityOf(right, ends[left.y === 0 ? 1 : 0]));
      return { x0, x1, released: (x0 + x1) / 2, density };
    });
  }

  return { frontier, optimum, curve, information, moments, pairs };
})();
