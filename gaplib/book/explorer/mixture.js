"use strict";
// What is shown, drawn.
(() => {
  const { numbers, transport } = window.gapExplorer.mixture;
  const { box, caption, control, evenly, fixed, heldHandle, line, listen, path, placeHandles, plot, settleInFrame } =
    window.gapExplorer.drawing;
  const { isSettingOf, limits, text, ticks, whenResized } = window.gapExplorer.drawing;
  const root = document.querySelector(".gap-mixture");
  const find = (selector) => root.querySelector(selector);

  // `step` is that of the slider and of dragging; a typed number may have two decimals.
  const CONTROLS = {
    prior: { label: "Prior P(Y = 1)", min: 0.01, max: 0.99, step: 0.01, start: 0.75 },
    mu: { label: "Separation μ: means −μ and μ", min: 0, max: 4, step: 0.05, start: 3 },
    var0: { label: "Variance where Y = 0", min: 0.1, max: 8, step: 0.1, start: 1 },
    var1: { label: "Variance where Y = 1", min: 0.1, max: 8, step: 0.1, start: 1 },
    D: { label: "Budget D: mean squared change", min: 0, max: 20, step: 0.05, start: 4 },
  };
  const MECHANISMS = {
    noise: {
      label: "noise only (paper's Theorem 2)",
      theorem: 2,
      best: numbers.noiseOnly,
      dash: "1.5 4",
      mark: "circle",
    },
    shift: {
      label: "shift only (paper's Theorem 3)",
      theorem: 3,
      best: numbers.shiftOnly,
      dash: "9 3 2 3",
      mark: "square",
    },
    common: {
      label: "shift, common noise (paper's Theorem 4)",
      theorem: 4,
      best: numbers.shiftAndNoise,
      dash: "10 5",
      mark: "triangle",
    },
    log: {
      label: "log-loss optimum, shift and noise",
      best: (model, D) => numbers.optimum(model, D, "log"),
      dash: "5 3",
      mark: "diamond",
    },
    map: {
      label: "MAP optimum, shift and noise",
      best: (model, D) => numbers.optimum(model, D, "map"),
      dash: "none",
      mark: "star",
    },
    true: { label: "true optimum, of all mechanisms", dash: "none", mark: "plus" },
  };
  const color = (name) => `var(--${MECHANISMS[name].theorem ? "paper" : name})`;
  const applies = (name, model) => !MECHANISMS[name].theorem || model.var0 === model.var1;

  // State

  const START = {
    ...Object.fromEntries(Object.entries(CONTROLS).map(([name, { start }]) => [name, start])),
    mechanism: "map",
  };
  const { clamp, read: readNumbers } = limits(CONTROLS, 2);
  const embedded = read(root.dataset.setting, START); // a notebook may begin elsewhere
  let state = embedded;

  // A setting as text, such as "prior=0.5&mu=3&var0=1&var1=1&D=4&mechanism=map", as it stands in the address.
  function read(text, otherwise) {
    const mechanism = new URLSearchParams(text).get("mechanism") ?? "";
    const setting = readNumbers(text, otherwise);
    return Object.hasOwn(MECHANISMS, mechanism) ? { ...setting, mechanism } : setting;
  }

  const isSetting = isSettingOf(START);

  let settling;
  function change(changes, remark = "") {
    state = { ...state, ...changes };
    render(remark);
    clearTimeout(settling);
    settling = setTimeout(settle, 250);
  }

  // What need not follow every movement: fine curves, the address, the words for screen readers.
  function settle() {
    drawTradeoff(FINE);
    // A frame has no address of its own.
    if (window.parent === window) history.replaceState(null, "", `#${new URLSearchParams(state)}`);
    const { accuracy, information } = current[state.mechanism] ?? {};
    const leak =
      accuracy === undefined
        ? ""
        : `adversary right with probability ${fixed(accuracy, 4)}, information ${fixed(information, 4)} nats. `;
    const words = find(".note").textContent;
    find("[role=status]").textContent = `${MECHANISMS[state.mechanism].label}, budget ${state.D}: ${leak}${words}`;
  }

  // Numbers of the present setting

  let current; // by mechanism; none where the paper's theorem does not apply
  function compute() {
    current = {};
    for (const [name, { best }] of Object.entries(MECHANISMS)) {
      if (best && applies(name, state)) current[name] = measured(state, best(state, state.D));
    }
    const found = transport.optimum(state.D, frontier());
    current.true = { ...found, information: transport.information(state, found.intervals) };
  }

  // All true optima of the present model: computed when it changes, not with every budget
  let solved = {};
  function frontier() {
    const { prior, mu, var0, var1 } = state;
    const key = JSON.stringify([prior, mu, var0, var1]);
    if (solved.key !== key) solved = { key, all: transport.frontier(state) };
    return solved.all;
  }

  function measured(model, mechanism) {
    return {
      mechanism,
      accuracy: numbers.mapAccuracy(numbers.released(model, mechanism)),
      information: numbers.information(model, mechanism),
      distortion: numbers.distortion(model, mechanism),
    };
  }

  const UNTOUCHED = { beta0: 0, beta1: 0, gamma0: 0, gamma1: 0 };

  function readout() {
    const before = measured(state, UNTOUCHED);
    const after = current[state.mechanism];
    const blindGuess = Math.max(state.prior, 1 - state.prior);
    const all = numbers.priorEntropy(state);
    if (!after) return `Without a mechanism the adversary is right with probability ${fixed(before.accuracy, 4)}.`;
    return (
      `The adversary is right with probability <b>${fixed(after.accuracy, 4)}</b> (untouched data ` +
      `${fixed(before.accuracy, 4)}, no data ${fixed(blindGuess, 2)}). The release tells ` +
      `<b>${fixed(after.information, 4)}</b> of ${fixed(all, 4)} nats about Y ` +
      `(untouched data ${fixed(before.information, 4)}).`
    );
  }

  function note() {
    const { D, mu, var0, var1, mechanism } = state;
    const M = numbers.mergeOfMeans(state);
    const shown = current[mechanism];
    if (!shown) {
      return (
        `The paper's Theorem ${MECHANISMS[mechanism].theorem} assumes equal variances, and here they are ` +
        `${var0} and ${var1}: nothing is drawn for it. The optima hold for any variances.`
      );
    }
    if (mu === 0 && var0 === var1) return "The two distributions are the same: there is nothing to hide.";
    if (mechanism === "true") return noteOnTrueOptimum(shown);
    const after = shown.mechanism;
    const noises = [after.gamma0, after.gamma1].map((gamma) => gamma > 1e-6);
    if (mechanism === "noise")
      return "All of the budget is noise. At equal variances no budget of noise alone hides Y.";
    if (mechanism === "shift" && D > M) {
      return (
        `The paper's Theorem 3 holds up to D = M = ${fixed(M, 2)}, where the means meet. As printed its formula ` +
        `would give ${fixed(numbers.printedShift(state, D), 4)} here. Drawn is the theorem completed: they stay ` +
        "together."
      );
    }
    if (mechanism === "shift")
      return `The means meet at D = M = ${fixed(M, 2)}; up to there the paper's Theorem 3 holds.`;
    if (mechanism === "common") {
      if (D >= M) return `Past D = M = ${fixed(M, 2)} the means have met, and no noise is needed.`;
      return noises[0] ? "Here both shift and noise are worth buying." : "Here all of the budget is shift.";
    }
    const where = ["no noise", "noise where Y = 0 only", "noise where Y = 1 only", "noise for both Y"];
    const end = numbers.distortion(state, numbers.saturation(state, mechanism));
    const saturated =
      mechanism === "map" ? "the prior is the best guess" : "the two distributions are equal and tell nothing";
    if (D >= end) return `From D = ${fixed(end, 2)} on ${saturated}; more budget is not used.`;
    return `This optimum has ${where[noises[0] + 2 * noises[1]]}. From D = ${fixed(end, 2)} on ${saturated}.`;
  }

  // An interval in words; what reaches as far as there is mass, in the digits of the machine, has no end.
  function within({ low, high }) {
    const { mu, var0, var1 } = state;
    const far = mu + 8 * Math.sqrt(Math.max(var0, var1));
    return `${low < -far ? "(−∞" : `[${fixed(low, 2)}`}, ${high > far ? "∞)" : `${fixed(high, 2)}]`}`;
  }

  function noteOnTrueOptimum({ price, intervals }) {
    const end = frontier().end.distortion;
    if (end === 0) return "Untouched data tell this adversary no more than the prior: nothing need be moved.";
    if (state.D === 0)
      return `Nothing moves. At D = 0 the price is infinite. From D = ${fixed(end, 2)} on the prior is the best guess.`;
    if (state.D >= end)
      return `From D = ${fixed(end, 2)} on the prior is the best guess; more budget is not used, and its price is 0.`;
    return (
      `No noise: in ${intervals.map(within).join(" and ")} each record meets its partner of the other Y halfway, ` +
      `elsewhere nothing moves. The price of distortion is ${fixed(price, 4)}: at this rate the accuracy falls with ` +
      `D. From D = ${fixed(end, 2)} on the prior is the best guess.`
    );
  }

  // Drawing

  const INK = { 0: "y0", 1: "y1" };
  const DASH = { 0: "none", 1: "7 3" };
  const density = (x, mean, variance) =>
    Math.exp(-((x - mean) ** 2) / variance / 2) / Math.sqrt(2 * Math.PI * variance);

  // The two densities of a release, each times its prior.
  function curves(mechanism) {
    const { prior, mu } = state;
    const { var0, var1 } = numbers.released(state, mechanism);
    return [
      { weight: 1 - prior, mean: mechanism.beta0 - mu, variance: var0 },
      { weight: prior, mean: mu - mechanism.beta1, variance: var1 },
    ].map((curve) => ({ ...curve, at: (x) => curve.weight * density(x, curve.mean, curve.variance) }));
  }

  // Where the MAP adversary guesses which Y: pieces [from, to, guess].
  function guesses(mechanism, [from, to]) {
    const both = curves(mechanism);
    const { one, low, high, narrow } = numbers.decision(numbers.released(state, mechanism));
    const inner = one ? 1 : 0;
    const mean = both[inner].mean;
    const toward = both[1 - inner].mean < mean ? -1 : 1;
    const ends = [low, high]
      .map((u) => Math.min(Math.max(mean + toward * u * Math.sqrt(narrow), from), to))
      .sort((a, b) => a - b);
    if (low >= high) return [[from, to, 1 - inner]];
    return [
      [from, ends[0], 1 - inner],
      [...ends, inner],
      [ends[1], to, 1 - inner],
    ].filter(([a, b]) => b > a);
  }

  // What is drawn of a release: the mean and the variance for each Y, points [x, density of Y = 0, of Y = 1], and what
  // the adversary guesses where.
  function ofShiftAndNoise(mechanism) {
    const both = curves(mechanism);
    return {
      both,
      points: (range) => evenly(range, 240).map((x) => [x, both[0].at(x), both[1].at(x)]),
      pieces: (range) => guesses(mechanism, range),
    };
  }

  function ofMoves(intervals) {
    const before = ofShiftAndNoise(UNTOUCHED);
    const moments = transport.moments(state, intervals);
    const ends = intervals.flatMap(({ low, high }) => [low, high]);
    const [p, q] = before.both.map(({ at }) => at);
    return {
      both: before.both.map((curve, k) => ({ ...curve, ...moments[k] })),
      points: (range) => {
        const still = (from, to) =>
          [from, ...evenly(range, 240).filter((x) => from < x && x < to), to].map((x) => [x, p(x), q(x)]);
        const moved = (interval) => pairs(interval, range).map((pair) => [pair.released, pair.density, pair.density]);
        return [-Infinity, ...ends]
          .flatMap((end, k, all) => (k % 2 ? moved(intervals[(k - 1) / 2]) : still(end, all[k + 1] ?? Infinity)))
          .filter(([x]) => range[0] <= x && x <= range[1]);
      },
      pieces: (range) => {
        const cuts = [range[0], ...ends.map((x) => Math.min(Math.max(x, range[0]), range[1])), range[1]];
        const pieces = before.pieces(range);
        const found = [];
        for (let k = 0; k + 1 < cuts.length; k++) {
          if (k % 2) found.push([cuts[k], cuts[k + 1]]);
          else
            for (const [from, to, guess] of pieces)
              found.push([Math.max(from, cuts[k]), Math.min(to, cuts[k + 1]), guess]);
        }
        return found.filter(([from, to]) => to > from);
      },
    };
  }

  // Records beyond the plot may be released in it.
  const pairs = (interval, [from, to]) => transport.pairs(interval, [2 * from - to, 2 * to - from], 360);
  const releaseOf = ({ mechanism, intervals }) => (intervals ? ofMoves(intervals) : ofShiftAndNoise(mechanism));

  let frozen; // the axes while something is dragged in a plot, or they would run away under the pointer
  function axes() {
    if (frozen) return frozen;
    const shown = [UNTOUCHED, current[state.mechanism]?.mechanism ?? UNTOUCHED].flatMap(curves);
    const ends = shown.flatMap(({ mean, variance }) => [
      mean - 3.2 * Math.sqrt(variance),
      mean + 3.2 * Math.sqrt(variance),
    ]);
    const tops = shown.map(({ at, mean }) => at(mean));
    return { x: [Math.min(...ends), Math.max(...ends)], y: [0, 1.12 * Math.max(...tops)] };
  }

  // The moved intervals, behind a plot of x
  function bands(intervals, [from, to], X, top, foot) {
    return intervals
      .filter(({ low, high }) => low < to && high > from)
      .map(({ low, high }) => {
        const [a, b] = [X(Math.max(low, from)), X(Math.min(high, to))];
        const sides = [low > from ? `M${a},${top}V${foot}` : "", high < to ? `M${b},${top}V${foot}` : ""].join("");
        return (
          box(a, top, b - a, foot - top, "fill:var(--true);opacity:.07") +
          (sides && `<path class="axis" d="${sides}" stroke-dasharray="3 3"/>`)
        );
      })
      .join("");
  }

  function drawCurves(svg, { both, points, pieces }, intervals) {
    const { x, y } = axes();
    const { X, Y, valueAt, show, width, left, right, top, foot } = plot(svg, 262, x, y, { bottom: 84 });
    const before = curves(UNTOUCHED);
    const drawn = points(x);
    const error = drawn.map(([v, ...densities]) => [X(v), Y(Math.min(...densities))]);
    const drawing = [
      bands(intervals, x, X, top, foot),
      `<path d="${line([[X(x[0]), foot], ...error, [X(x[1]), foot]])}Z" style="fill:var(--soft);opacity:.45"/>`,
    ];
    both.forEach((_, k) => {
      const curve = drawn.map((point) => [X(point[0]), Y(point[k + 1])]);
      drawing.push(path(line(curve), `stroke:var(--${INK[k]});stroke-width:2.5;stroke-dasharray:${DASH[k]}`));
    });
    drawing.push(`<path class="axis" d="M${left},${foot}H${width - right}"/>`);
    for (const tick of ticks(...x, 6)) {
      drawing.push(`<path class="axis" d="M${X(tick)},${foot}v4"/>`);
      drawing.push(text(X(tick), foot + 15, String(tick).replace("-", "−"), 'class="tick" text-anchor="middle"'));
    }
    // What the adversary guesses where
    for (const [from, to, guess] of pieces(x)) {
      const [a, b] = [X(from), X(to)];
      const ink = INK[guess] ?? "soft"; // in a moved interval either guess is as good
      drawing.push(box(a, foot + 20, b - a, 16, `fill:var(--${ink});fill-opacity:.25;stroke:var(--${ink})`));
      const words = [`guess ${guess ?? "either"}`, guess ?? "either", ""].find((w) => 7.5 * String(w).length < b - a);
      drawing.push(text((a + b) / 2, foot + 32.5, words, 'text-anchor="middle"'));
    }
    // Means and standard deviations, and how far the mechanism has moved the mean
    both.forEach(({ mean, variance }, k) => {
      const row = foot + 50 + 18 * k;
      const s = Math.sqrt(variance);
      const style = `stroke:var(--${INK[k]});fill:var(--${INK[k]})`;
      const [from, to] = [X(before[k].mean), X(mean)];
      drawing.push(
        `<path d="M${X(mean - s)},${row}H${X(mean + s)}" style="${style};stroke-width:5;stroke-opacity:.35"/>`,
      );
      drawing.push(`<circle cx="${to}" cy="${row}" r="4" style="${style}"/>`);
      if (Math.abs(to - from) > 9) {
        const tip = to - Math.sign(to - from) * 5;
        const back = tip - Math.sign(to - from) * 6;
        drawing.push(
          path(
            `M${from},${row - 5}v10M${from},${row}H${tip}M${back},${row - 4}L${tip},${row}L${back},${row + 4}`,
            `stroke:var(--${INK[k]});stroke-width:2`,
          ),
        );
      }
      const far = Math.max(X(mean + s), from) + 6;
      const words = `Y = ${k}`;
      drawing.push(
        far + 40 < width
          ? text(far, row + 4, words, 'class="halo"')
          : text(Math.min(X(mean - s), from) - 6, row + 4, words, 'class="halo" text-anchor="end"'),
      );
    });
    show(drawing.join(""));
    return { X, Y, valueAt, both };
  }

  function drawBefore() {
    const svg = find("svg.before");
    const { prior, mu, var0, var1 } = state;
    const intervals = current[state.mechanism]?.intervals ?? [];
    const { X, Y, valueAt, both } = drawCurves(svg, ofShiftAndNoise(UNTOUCHED), intervals);
    dragging.before = valueAt;
    placeHandles(
      svg,
      both.flatMap(({ mean, variance, at }, k) => {
        const side = mean + (k ? 1 : -1) * Math.sqrt(variance);
        return [
          [`mean${k}`, X(mean), Y(at(mean)), INK[k]],
          [`variance${k}`, X(side), Y(at(side)), INK[k]],
        ];
      }),
    );
    svg.setAttribute(
      "aria-label",
      `Two bell curves, each with its prior as area. Y = 0: mean ${fixed(-mu, 2)}, variance ${var0}, ` +
        `prior ${fixed(1 - prior, 2)}. Y = 1: mean ${fixed(mu, 2)}, variance ${var1}, prior ${fixed(prior, 2)}.`,
    );
    caption(
      svg,
      "Each curve has its prior as area, Y = 0 solid, Y = 1 dashed. Grey is the adversary's error. Drag the rings at " +
        "the tops to move the means, those on the slopes to change the variances.",
    );
  }

  function drawNothing(svg) {
    const { show, width } = plot(svg, 262, [0, 1], [0, 1]);
    show(text(width / 2, 120, "not drawn: the theorem does not apply", 'text-anchor="middle"'));
    svg.setAttribute("aria-label", "Nothing is drawn: the theorem does not apply.");
    caption(svg, "");
  }

  function drawAfter() {
    const svg = find("svg.after");
    const shown = current[state.mechanism];
    if (!shown) return drawNothing(svg);
    const { mechanism, intervals } = shown;
    drawCurves(svg, releaseOf(shown), intervals ?? []);
    const words = mechanism ? shiftAndNoiseInWords(mechanism) : movesInWords(intervals);
    svg.setAttribute("aria-label", `The two curves after the mechanism. ${words}`);
    caption(svg, words);
  }

  function shiftAndNoiseInWords({ beta0, beta1, gamma0, gamma1 }) {
    return (
      `Y = 0 moves right by ${fixed(beta0, 2)} and gets noise of standard deviation ${fixed(gamma0, 2)}; ` +
      `Y = 1 moves left by ${fixed(beta1, 2)} and gets ${fixed(gamma1, 2)}.`
    );
  }

  function movesInWords(intervals) {
    if (intervals.length === 0) return "Nothing moves.";
    return (
      `Moved (shaded): ${intervals.map(within).join(" and ")}. There both Y have the same density after the release, ` +
      "and either guess is as good."
    );
  }

  // The release against the record
  function drawMap() {
    const svg = find("svg.map");
    const shown = current[state.mechanism];
    if (!shown) return drawNothing(svg);
    const { x } = axes();
    const { X, Y, show, width, left, right, top, foot } = plot(svg, 262, x, x, { left: 34, bottom: 38 });
    const { mechanism, intervals = [] } = shown;
    const drawing = [bands(intervals, x, X, top, foot)];
    for (const tick of ticks(...x, 6)) {
      const label = String(tick).replace("-", "−");
      drawing.push(`<path class="grid" d="M${left},${Y(tick)}H${width - right}M${X(tick)},${top}V${foot}"/>`);
      drawing.push(text(left - 6, Y(tick) + 4, label, 'class="tick" text-anchor="end"'));
      drawing.push(text(X(tick), foot + 15, label, 'class="tick" text-anchor="middle"'));
    }
    drawing.push(`<path class="axis" d="M${left},${top}V${foot}H${width - right}"/>`);
    drawing.push(text((left + width - right) / 2, foot + 31, "record X", 'text-anchor="middle"'));
    drawing.push(text(left + 6, top + 12, "release X̂", 'class="halo"'));
    for (const k of [0, 1]) {
      const points = mechanism ? shiftedLine(mechanism, k, x) : movedLine(intervals, k, x);
      const noise = mechanism?.[`gamma${k}`] ?? 0;
      if (noise > 0) {
        const edge = (deviation) =>
          evenly(x, 240).map((v) => [X(v), Y(clip(v + shiftOf(mechanism, k) + deviation, x))]);
        const band = [...edge(noise), ...edge(-noise).reverse()];
        drawing.push(`<path d="${line(band)}Z" style="fill:var(--${INK[k]});opacity:.2"/>`);
      }
      const style = `stroke:var(--${INK[k]});stroke-width:2.5;stroke-dasharray:${DASH[k]}`;
      drawing.push(path(line(points.map(([from, to]) => [X(from), Y(to)])), style));
    }
    show(drawing.join(""));
    const words = mechanism
      ? "All records of one Y move alike, and the bands show the noise, one standard deviation to each side."
      : "A function of the record and of Y, without noise: in a shaded interval each record meets its partner " +
        "halfway, elsewhere it stays.";
    const heard = mechanism ? shiftAndNoiseInWords(mechanism) : intervals.map(examplePair).join(" ");
    svg.setAttribute("aria-label", `Release against record, one line for each Y. ${words} ${heard}`);
    caption(svg, `Y = 0 solid, Y = 1 dashed. ${words}`);
  }

  // The pair that is released where the density is largest
  function examplePair(interval) {
    const all = pairs(interval, [interval.low, interval.high]);
    const { x0, x1, released } = all.reduce((a, b) => (b.density > a.density ? b : a));
    const [from0, from1, to] = [x0, x1, released].map((x) => fixed(x, 2));
    return `In ${within(interval)}, ${from0} of Y = 0 and ${from1} of Y = 1 meet at ${to}.`;
  }

  const clip = (value, [from, to]) => Math.min(Math.max(value, from), to);
  const shiftOf = ({ beta0, beta1 }, k) => (k ? -beta1 : beta0);

  function shiftedLine(mechanism, k, range) {
    const shift = shiftOf(mechanism, k);
    return range.map((x) => clip(x + shift, range)).map((z) => [z - shift, z]);
  }

  function movedLine(intervals, k, range) {
    const moved = intervals.flatMap((interval) => pairs(interval, range).map((pair) => [pair[`x${k}`], pair.released]));
    const still = [...range, ...intervals.flatMap(({ low, high }) => [low, high])]
      .filter((x) => !intervals.some(({ low, high }) => low < x && x < high))
      .map((x) => [x, x]);
    return [...still, ...moved]
      .filter(([x, z]) => clip(x, range) === x && clip(z, range) === z)
      .sort((a, b) => a[0] - b[0]);
  }

  function mark(shape, x, y, r, style) {
    const outline = {
      circle: `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`,
      square: `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
      triangle: `M${x},${y - 1.2 * r}L${x + 1.1 * r},${y + r}H${x - 1.1 * r}Z`,
      diamond: `M${x},${y - 1.3 * r}L${x + 1.3 * r},${y}L${x},${y + 1.3 * r}L${x - 1.3 * r},${y}Z`,
      star:
        line(
          Array.from({ length: 10 }, (_, k) => {
            const turn = (Math.PI * k) / 5;
            const length = (k % 2 ? 0.6 : 1.5) * r;
            return [x + length * Math.sin(turn), y - length * Math.cos(turn)];
          }),
        ) + "Z",
      plus:
        `M${x - 1.3 * r},${y - r / 2}h${0.8 * r}v${-0.8 * r}h${r}v${0.8 * r}h${0.8 * r}v${r}` +
        `h${-0.8 * r}v${0.8 * r}h${-r}v${-0.8 * r}h${-0.8 * r}Z`,
    }[shape];
    return `<path d="${outline}" style="${style}"/>`;
  }

  // The curves over the budget depend on the model only: computed when it changes, and finely once it rests.
  const [COARSE, FINE] = [18, 72];
  let kept = {};
  function tradeoff(points) {
    const { prior, mu, var0, var1 } = state;
    const model = { prior, mu, var0, var1 };
    const key = JSON.stringify(model);
    if (kept.key === key && kept.points >= points) return kept;
    const last = { map: numbers.saturation(model, "map"), log: numbers.saturation(model, "log") };
    const ends = { map: numbers.distortion(model, last.map), log: numbers.distortion(model, last.log) };
    // Dense near 0, where the curves are steep
    const budgets = Array.from({ length: points + 1 }, (_, k) => ends.log * (k / points) ** 2)
      .concat(ends.map)
      .sort((a, b) => a - b);
    const accuracy = (mechanism) => numbers.mapAccuracy(numbers.released(model, mechanism));
    const found = {};
    for (const loss of ["log", "map"]) {
      found[loss] = budgets.map((D) => [D, accuracy(numbers.optimum(model, D, loss, last[loss]))]);
    }
    const all = frontier();
    ends.true = all.end.distortion;
    found.true = transport.curve(points, all);
    if (var0 === var1) {
      for (const name of ["shift", "common"])
        found[name] = budgets.map((D) => [D, accuracy(MECHANISMS[name].best(model, D))]);
    }
    return (kept = { key, points, ends, found, accuracy });
  }

  function drawTradeoff(points) {
    const svg = find("svg.tradeoff");
    const { ends, found, accuracy } = tradeoff(points);
    const floor = Math.max(state.prior, 1 - state.prior);
    const room = Math.max(numbers.mapAccuracy(numbers.released(state, UNTOUCHED)) - floor, 1e-3);
    const longest = frozen?.longest ?? Math.max(1.15 * ends.log, state.D * 1.02, 0.5);
    const y = [floor - 0.08 * room, floor + 1.06 * room];
    const empty = plot(svg, 352, [0, longest], y, { left: 44, top: 22, bottom: 134 });
    const { X, Y, valueAt, show, width, left, right, top: head, foot } = empty;
    dragging.tradeoff = valueAt;
    dragging.longest = longest;
    const drawing = [];
    for (const tick of ticks(...y, 5)) {
      drawing.push(`<path class="grid" d="M${left},${Y(tick)}H${width - right}"/>`);
      drawing.push(text(left - 6, Y(tick) + 4, tick, 'class="tick" text-anchor="end"'));
    }
    drawing.push(`<path class="axis" d="M${left},${head}V${foot}H${width - right}"/>`);
    drawing.push(`<path class="axis" d="M${left},${Y(floor)}H${width - right}" stroke-dasharray="2 2"/>`);
    const at = X(Math.min(state.D, longest));
    const prior = `prior ${fixed(floor, 2)}`; // below all curves, and away from the line of the budget
    drawing.push(
      at < (left + width) / 2
        ? text(width - right - 4, Y(floor) + 12, prior, 'text-anchor="end"')
        : text(left + 8, Y(floor) + 12, prior),
    );
    const noise = Array.from({ length: 81 }, (_, k) => longest * (k / 80) ** 2).map((D) => [
      D,
      accuracy(numbers.noiseOnly(state, D)),
    ]);
    const all = state.var0 === state.var1 ? { noise, ...found } : found;
    const order = Object.keys(MECHANISMS)
      .filter((name) => name in all)
      .sort((a, b) => (a === state.mechanism) - (b === state.mechanism));
    const draw = (name, points, Y) => {
      const width = name === state.mechanism ? 3.5 : 1.8;
      const style = `stroke:${color(name)};stroke-width:${width};stroke-dasharray:${MECHANISMS[name].dash}`;
      drawing.push(path(line(points.map(([D, value]) => [X(D), Y(value)])), style));
    };
    for (const name of order)
      draw(
        name,
        all[name].concat([[longest, all[name].at(-1)[1]]]).filter(([D]) => D <= longest),
        Y,
      );

    // Below, on the same axis: how far the others of shift and noise lie above the MAP optimum
    const near = order.filter((name) => name !== "noise" && name !== "true");
    const over = (name) =>
      found[name].map(([D, value], k) => [D, Math.max(value - found.map[k][1], 0)]).concat([[longest, 0]]);
    const above = (name) => Math.max(current[name].accuracy - current.map.accuracy, 0);
    const largest = Math.max(...near.flatMap((name) => [...over(name).map(([, value]) => value), above(name)]), 1e-3);
    const [low, high] = [foot + 100, foot + 28];
    const excess = (value) => low - (value / largest) * (low - high);
    drawing.push(text(left, high - 10, "above the MAP optimum of shift and noise by", 'class="tick"'));
    for (const tick of ticks(0, largest, 2)) {
      drawing.push(`<path class="grid" d="M${left},${excess(tick)}H${width - right}"/>`);
      drawing.push(text(left - 6, excess(tick) + 4, tick, 'class="tick" text-anchor="end"'));
    }
    drawing.push(`<path class="axis" d="M${left},${high}V${low}H${width - right}"/>`);
    for (const name of near) draw(name, over(name), excess);
    for (const tick of ticks(0, longest, 6)) {
      drawing.push(`<path class="axis" d="M${X(tick)},${low}v4"/>`);
      drawing.push(text(X(tick), low + 15, tick, 'class="tick" text-anchor="middle"'));
    }
    drawing.push(text((left + width) / 2, low + 30, "budget D", 'text-anchor="middle"'));

    drawing.push(`<path class="axis" d="M${at},${head}V${low}" style="stroke:var(--ink)"/>`);
    drawing.push(
      at > width - 70
        ? text(at - 11, head + 1, `D = ${state.D}`, 'text-anchor="end" class="halo"')
        : text(at + 11, head + 1, `D = ${state.D}`, 'class="halo"'),
    );
    for (const name of order.filter((name) => name in current)) {
      const fill = name === state.mechanism ? color(name) : "var(--pst-color-background, var(--ground))";
      const style = `fill:${fill};stroke:${color(name)};stroke-width:2`;
      drawing.push(mark(MECHANISMS[name].mark, at, Y(current[name].accuracy), 5, style));
      if (near.includes(name)) {
        drawing.push(mark(MECHANISMS[name].mark, at, excess(above(name)), 4, style));
      }
    }
    show(drawing.join(""));
    placeHandles(svg, [["D", at, head - 4, "focus"]]);
    const listed = Object.entries(current).map(([name, row]) => `${MECHANISMS[name].label} ${fixed(row.accuracy, 4)}`);
    svg.setAttribute(
      "aria-label",
      `Accuracy of the adversary against the budget. At D = ${state.D}: ${listed.join(", ")}.`,
    );
    caption(
      svg,
      "Lines and marks are those of the list of mechanisms. The true optimum reaches the prior at " +
        `D = ${fixed(ends.true, 2)}, that of shift and noise at ${fixed(ends.map, 2)}; the log-loss optimum makes ` +
        `the distributions equal at ${fixed(ends.log, 2)}. ` +
        "Drag to change the budget.",
    );
  }

  // What the budget goes into: [words, a short word, ink, cost]
  function spending({ mechanism, distortion }) {
    const { prior } = state;
    if (!mechanism) {
      // Both records of a pair move as far.
      return [0, 1].map((k) => [`moves, Y = ${k}`, String(k), INK[k], distortion / 2]);
    }
    const { beta0, beta1, gamma0, gamma1 } = mechanism;
    return [
      ["shift", "", "soft", (1 - prior) * beta0 ** 2 + prior * beta1 ** 2],
      ["noise, Y = 0", "0", "y0", (1 - prior) * gamma0 ** 2],
      ["noise, Y = 1", "1", "y1", prior * gamma1 ** 2],
    ];
  }

  function drawBudget() {
    const svg = find("svg.budget");
    const names = Object.keys(current);
    const { D } = state;
    const { X, show, width, left, right } = plot(svg, 12 + 46 * names.length, [0, Math.max(D, 1e-9)], [0, 1], {
      left: 2,
      right: 2,
    });
    const drawing = [];
    const described = [];
    names.forEach((name, row) => {
      const y = 4 + 46 * row;
      const shown = name === state.mechanism;
      drawing.push(text(left, y + 12, MECHANISMS[name].label, shown ? 'font-weight="bold"' : ""));
      const parts = spending(current[name]);
      let from = 0;
      for (const [words, short, ink, cost] of parts) {
        const [a, b] = [X(from), X(from + cost)];
        from += cost;
        if (b - a < 0.5) continue;
        drawing.push(box(a, y + 17, b - a, 18, `fill:var(--${ink});fill-opacity:.25;stroke:var(--${ink})`));
        const fits = [`${words}: ${fixed(cost, 2)}`, words, short].find((w) => 6.4 * w.length < b - a - 4);
        drawing.push(text((a + b) / 2, y + 30.5, fits ?? "", 'text-anchor="middle"'));
      }
      drawing.push(box(left, y + 17, width - left - right, 18, "fill:none;stroke:var(--soft);stroke-dasharray:2 2"));
      described.push(
        `${MECHANISMS[name].label}: ${parts.map(([words, , , cost]) => `${words} ${fixed(cost, 2)}`).join(", ")}`,
      );
    });
    show(drawing.join(""));
    svg.setAttribute("aria-label", `How each mechanism spends the budget of ${D}. ${described.join("; ")}.`);
    caption(
      svg,
      `The full width is D = ${D}: what goes into the shift, into noise for each Y, and into the moves of the true ` +
        "optimum. What stays empty is not used.",
    );
  }

  const moves = ({ intervals, price }) =>
    (intervals.length ? `moves ${intervals.map(within).join(", ")}` : "moves nothing") +
    `; price ${price === Infinity ? "∞" : fixed(price, 4)}`;

  function tabulate() {
    const head = ["mechanism", "accuracy", "I(Y; X̂)", "distortion", "β₀", "β₁", "γ₀", "γ₁"];
    const rows = Object.entries(MECHANISMS).map(([name, { label }]) => {
      const row = current[name];
      const cell = (value, digits) => `<td>${fixed(value, digits)}</td>`;
      const cells = row
        ? cell(row.accuracy, 4) +
          cell(row.information, 4) +
          cell(row.distortion, 2) +
          (row.mechanism
            ? Object.values(row.mechanism)
                .map((value) => cell(value, 3))
                .join("")
            : `<td colspan="4">${moves(row)}</td>`)
        : '<td colspan="7">assumes equal variances</td>';
      return `<tr${name === state.mechanism ? ' class="shown"' : ""}><th scope="row">${label}</th>${cells}</tr>`;
    });
    find("table").innerHTML =
      `<thead><tr>${head.map((h) => `<th scope="col">${h}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody>`;
  }

  function render(remark = "") {
    compute();
    for (const [name, shown] of Object.entries(controls)) shown.show(state[name]);
    find(`input[value="${state.mechanism}"]`).checked = true;
    find(".readout").innerHTML = readout();
    find(".note").textContent = remark || note();
    const off = !current[state.mechanism] || (state.mechanism === "shift" && state.D > numbers.mergeOfMeans(state));
    find(".note").classList.toggle("warning", off);
    drawBefore();
    drawAfter();
    drawMap();
    drawTradeoff(COARSE);
    drawBudget();
    tabulate();
  }

  // Input

  const controls = {};

  function buildControls() {
    for (const name of Object.keys(CONTROLS)) {
      controls[name] = control(find(".controls"), `gap-${name}`, CONTROLS[name], (value, remark) =>
        change(value === undefined ? {} : { [name]: clamp(name, value) }, remark),
      );
    }
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "Reset";
    reset.addEventListener("click", () => change(embedded));
    find(".controls").append(reset);
    for (const [name, { label, dash, mark: shape }] of Object.entries(MECHANISMS)) {
      const style = `stroke:${color(name)};stroke-width:2`;
      find("fieldset").insertAdjacentHTML(
        "beforeend",
        `<label><input type="radio" name="gap-mechanism" value="${name}">` +
          '<svg width="44" height="16" aria-hidden="true">' +
          path("M1,8H43", `${style};stroke-dasharray:${dash}`) +
          mark(shape, 22, 8, 4.5, `${style};fill:${color(name)}`) +
          `</svg>${label}</label>`,
      );
    }
    find("fieldset").addEventListener("change", (event) => change({ mechanism: event.target.value }));
  }

  const dragging = {}; // by plot: from pixels to values
  let taken; // the state when something was taken
  const held = {
    begin: () => {
      taken = state;
      frozen = { ...axes(), longest: dragging.longest };
    },
    end: (willing) => {
      frozen = undefined;
      change(willing ? {} : taken);
    },
  };

  const toStep = (name, value) => clamp(name, Math.round(value / CONTROLS[name].step) * CONTROLS[name].step);

  function start() {
    if (isSetting(location.hash.slice(1))) state = read(location.hash.slice(1), START);
    find(".content").hidden = false;
    buildControls();
    render();
    drawTradeoff(FINE);
    listen(find("svg.before"), {
      ...held,
      pick: heldHandle,
      drag: (name, pixel) => {
        const x = dragging.before(pixel);
        const y = Number(name.at(-1));
        if (name.startsWith("mean")) change({ mu: toStep("mu", y ? x : -x) });
        else change({ [`var${y}`]: toStep(`var${y}`, (x - (y ? state.mu : -state.mu)) ** 2) });
      },
    });
    listen(find("svg.tradeoff"), {
      ...held,
      pick: () => "D",
      drag: (_, pixel) => change({ D: toStep("D", dragging.tradeoff(pixel)) }),
    });
    window.addEventListener("hashchange", ({ newURL }) => {
      // Not that of `location`, in which the last setting may have been written since.
      const asked = new URL(newURL).hash.slice(1);
      if (!isSetting(asked)) return; // a heading of the page
      change(read(asked, START));
      root.focus({ preventScroll: true });
      root.scrollIntoView();
    });
    whenResized(root, find("svg.before").parentElement, render);
  }

  settleInFrame(root);
  start();
})();
