"use strict";
// Two bits, drawn: where their probability goes, what the adversary makes of it, and what the budget allows.
(() => {
  const { bits, drawing } = window.gapExplorer;
  const { box, caption, control, evenly, fixed, heldHandle, line, listen, path, placeHandles, plot, text, ticks } =
    drawing;
  const { isSettingOf, limits } = drawing;
  const root = document.querySelector(".gap-two-bits");
  const find = (selector) => root.querySelector(selector);

  const MODEL = {
    prior: { label: "P(Y = 1)", min: 0.01, max: 0.99, step: 0.005 },
    x0: { label: "P(X = 1 | Y = 0)", min: 0, max: 1, step: 0.005 },
    x1: { label: "P(X = 1 | Y = 1)", min: 0, max: 1, step: 0.005 },
  };
  const KEPT = { min: 0, max: 1, step: 0.01 };
  const MECHANISM = {
    D: { label: "Budget D", min: 0, max: 0.5, step: 0.005 },
    s00: { label: "s₀₀ (X = 0, Y = 0)", ...KEPT },
    s01: { label: "s₀₁ (X = 0, Y = 1)", ...KEPT },
    s10: { label: "s₁₀ (X = 1, Y = 0)", ...KEPT },
    s11: { label: "s₁₁ (X = 1, Y = 1)", ...KEPT },
    s0: { label: "s₀ (X = 0)", ...KEPT },
    s1: { label: "s₁ (X = 1)", ...KEPT },
  };
  const CONTROLS = { ...MODEL, ...MECHANISM };
  const CELLS = ["s00", "s01", "s10", "s11"];
  const KINDS = { pdd: "sees Y (PDD)", pdi: "blind to Y (PDI)" };
  const FLIPS = { hand: "by hand", map: "least accuracy", mi: "least information" };
  const OPTIMA = { map: bits.optimum, mi: bits.informationOptimum };
  const SLACK = 5e-4; // as exact as the budget is shown

  // State: the model, the budget, and the mechanism, which is set by hand or the optimum at the budget.

  // The paper's model with p = 3/4, q = 1/4
  const START = { prior: 0.625, x0: 0.5, x1: 0.9, D: 0.1, kind: "pdd", flips: "hand" };
  Object.assign(START, { s00: 0.9, s01: 1, s10: 1, s11: 0.95 });
  const { clamp, read: readNumbers } = limits(CONTROLS, 4);
  const embedded = read(root.dataset.setting, START); // a notebook may begin elsewhere
  let state = embedded;

  // A setting as text, such as "prior=0.5&x0=0.25&x1=0.75&D=0.1&kind=pdi&flips=map", as it stands in the address.
  function read(setting, otherwise) {
    const given = new URLSearchParams(setting);
    const found = readNumbers(setting, otherwise, [...Object.keys(MODEL), "D", ...CELLS]);
    for (const [name, allowed] of [
      ["kind", KINDS],
      ["flips", FLIPS],
    ])
      if (Object.hasOwn(allowed, given.get(name) ?? "")) found[name] = given.get(name);
    return found.kind === "pdi" && found.flips === "hand" ? { ...found, ...blind(found) } : found;
  }

  const written = () => {
    const { flips, kind, ...numbers } = state;
    const shown = Object.entries(numbers).filter(([name]) => flips === "hand" || !CELLS.includes(name));
    return new URLSearchParams({ ...Object.fromEntries(shown), kind, flips });
  };
  const isSetting = isSettingOf(START);

  const ofCells = ({ s00, s01, s10, s11 }) => [
    [s00, s01],
    [s10, s11],
  ];
  const toCells = ([[s00, s01], [s10, s11]]) => ({ s00, s01, s10, s11 });

  // The mechanism that is blind to Y and keeps as much of each X
  function blind(setting) {
    const p = bits.jointOf(setting);
    const mass = bits.rows(p);
    const kept = ofCells(setting).map((row, i) => (mass[i] > 0 ? (p[i][0] * row[0] + p[i][1] * row[1]) / mass[i] : 1));
    return toCells(kept.map((s) => [s, s]));
  }

  // Numbers of the present setting

  let current;
  function compute() {
    const p = bits.jointOf(state);
    const mechanism =
      state.flips === "hand" ? ofCells(state) : OPTIMA[state.flips](p, state.D, state.kind).mechanism;
    current = { p, mechanism, ...measured(p, mechanism) };
    current.over = current.distortion - state.D;
  }

  function measured(p, mechanism) {
    const release = bits.released(p, mechanism);
    return {
      release,
      distortion: bits.distortion(p, mechanism),
      accuracy: bits.accuracy(release),
      information: bits.information(release),
    };
  }

  let settling;
  function change(changes, remark = "") {
    // What is dragged is set by hand, from the mechanism that is shown.
    if (CELLS.some((name) => name in changes) && !("flips" in changes))
      state = { ...state, ...toCells(current.mechanism), flips: "hand" };
    state = { ...state, ...changes };
    if (state.flips === "hand" && state.kind === "pdi") Object.assign(state, blind(state));
    render(remark);
    clearTimeout(settling);
    settling = setTimeout(settle, 250);
  }

  // What need not follow every movement: the address, the words for screen readers.
  function settle() {
    // A frame has no address of its own.
    if (window.parent === window) history.replaceState(null, "", `#${written()}`);
    find("[role=status]").textContent = `${inWords()} ${find(".note").textContent}`;
  }

  const inWords = () =>
    `Distortion ${fixed(current.distortion, 3)} of the budget ${fixed(state.D, 3)}. The adversary is right with ` +
    `probability ${fixed(current.accuracy, 4)}; the release tells ${fixed(current.information, 4)} nats about Y.`;

  function note() {
    const { D, flips, kind } = state;
    const { p, distortion, over, accuracy, information } = current;
    const ends = Object.fromEntries(Object.entries(OPTIMA).map(([name, best]) => [name, best(p, D, kind).saturation]));
    if (over > SLACK)
      return `Over the budget by ${fixed(over, 3)}: this mechanism is not allowed. Keep more, or raise D.`;
    if (bits.information(p) < 1e-12) return "X and Y are independent: there is nothing to hide.";
    if (flips === "hand") {
      const least = bits.optimum(p, distortion, kind).value;
      const other = bits.informationOptimum(p, distortion, kind).value;
      const who = kind === "pdd" ? "that sees Y" : "that is blind to Y";
      if (accuracy - least < SLACK && information - other < SLACK)
        return `No mechanism ${who} leaves less at this distortion, by either measure.`;
      return (
        `At this distortion the least accuracy with a mechanism ${who} is ${fixed(least, 4)}, and the least ` +
        `information ${fixed(other, 4)} nats.`
      );
    }
    const reached = flips === "map" ? "the prior is the best guess" : "the release tells nothing about Y";
    if (flips === "map" && ends.map === 0)
      return "Untouched, X is worth no more to this adversary than the prior: nothing need be flipped.";
    if (D >= ends[flips]) {
      const still =
        flips === "map" && information > 5e-5 ? ` It still tells ${fixed(information, 4)} nats about Y.` : "";
      return `From D = ${fixed(ends[flips], 3)} on ${reached}; more is not used.${still}`;
    }
    const flipped = CELLS.filter((name) => toCells(current.mechanism)[name] < 1 - 1e-9).map(
      (name) => `X = ${name[1]}${kind === "pdd" ? ` where Y = ${name[2]}` : ""}`,
    );
    const which = flipped.length ? `flips ${[...new Set(flipped)].join(" and ")}` : "flips nothing";
    return `This optimum ${which}. From D = ${fixed(ends[flips], 3)} on ${reached}.`;
  }

  // Drawing: the flow of probability

  const INK = ["y0", "y1"];
  const filled = (j, opacity) => `fill:var(--${INK[j]});fill-opacity:${opacity}`;
  const GAP = 18; // between the two values of X, and of the release
  const TOP = [20, 48]; // the cells of the joint distribution, in pixels from above
  const END = [122, 150]; // those of the release

  // Where the parts of both rows lie: for each cell of the joint distribution the part that is kept and that which is
  // flipped, above and below, as [from, to]. Flips leave at the side to which they go.
  function places(p, s, X) {
    const moved = p.map((row, i) => row.map((mass, j) => mass * (1 - s[i][j])));
    const kept = p.map((row, i) => row.map((mass, j) => mass * s[i][j]));
    const below = { kept: [[], []], flipped: [[], []] };
    const above = { kept: [[], []], flipped: [[], []] };
    const lay = (order, start, group) => {
      let from = start;
      for (const [where, i, j, mass] of order) {
        where[i][j] = [X(from, group), X(from + mass, group)];
        from += mass;
      }
      return from;
    };
    const parts = (i, j, sides) => {
      const both = [
        [sides.kept, i, j, kept[i][j]],
        [sides.flipped, i, j, moved[i][j]],
      ];
      return i ? both.reverse() : both;
    };
    let from = 0;
    for (const i of [0, 1]) from = lay([0, 1].flatMap((j) => parts(i, j, above)), from, i);
    from = 0;
    for (const k of [0, 1]) {
      const arriving = [0, 1].flatMap((j) => {
        const both = [
          [below.kept, k, j, kept[k][j]],
          [below.flipped, 1 - k, j, moved[1 - k][j]],
        ];
        return k ? both.reverse() : both;
      });
      from = lay(arriving, from, k);
    }
    return { above, below };
  }

  function band([a, b], [c, d], style) {
    if (b - a < 0.05) return "";
    const middle = (TOP[1] + END[0]) / 2;
    const curve = (x, y) => `C${x},${middle} ${y},${middle}`;
    return (
      `<path d="M${a},${TOP[1]}${curve(a, c)} ${c},${END[0]}H${d}${curve(d, b)} ${b},${TOP[1]}Z" style="${style}"/>`
    );
  }

  const fitting = (words, width) => words.find((w) => 6.6 * w.length < width - 4) ?? "";

  function drawFlow() {
    const svg = find("svg.flow");
    const { p, mechanism: s, release } = current;
    const { show, width, left, right } = plot(svg, 306, [0, 1], [0, 1], { left: 4, right: 4 });
    const scale = width - left - right - GAP;
    const X = (mass, group) => left + scale * mass + GAP * group;
    const { above, below } = places(p, s, X);
    const drawn = [];
    for (const i of [0, 1]) for (const j of [0, 1]) drawn.push(band(above.kept[i][j], below.kept[i][j], filled(j, 0.22)));
    for (const i of [0, 1])
      for (const j of [0, 1]) drawn.push(band(above.flipped[i][j], below.flipped[i][j], filled(j, 0.6)));

    // The joint distribution
    const cell = ([a, b], [y, foot], j, opacity, more = "") =>
      box(a, y, Math.max(b - a, 0), foot - y, `${filled(j, opacity)};stroke:var(--${INK[j]});${more}`);
    const span = (...parts) => [Math.min(...parts.map(([a]) => a)), Math.max(...parts.map(([, b]) => b))];
    const handles = [];
    for (const i of [0, 1]) {
      const group = span(...[0, 1].flatMap((j) => [above.kept[i][j], above.flipped[i][j]]));
      const label = `X = ${i}: ${fixed(p[i][0] + p[i][1], 3)}`;
      drawn.push(i ? text(width - right, 13, label, 'text-anchor="end"') : text(group[0], 13, label));
      for (const j of [0, 1]) {
        const whole = span(above.kept[i][j], above.flipped[i][j]);
        drawn.push(cell(whole, TOP, j, 0.22));
        drawn.push(cell(above.flipped[i][j], TOP, j, 0.6, "stroke-width:0"));
        const [a, b] = above.kept[i][j];
        const words = fitting([`Y = ${j}`, String(j)], b - a - 12);
        drawn.push(text((a + b) / 2, (TOP[0] + TOP[1]) / 2 + 4, words, 'text-anchor="middle"'));
        handles.push([`s${i}${j}`, i ? a : b, TOP[1] - 4, INK[j]]);
      }
    }

    // The release, and what the adversary guesses
    let from = 0;
    const winners = [];
    for (const k of [0, 1]) {
      const guess = bits.guess(release[k].map((mass) => Number(mass.toPrecision(12))));
      const best = guess ?? 0;
      const start = from;
      for (const j of [0, 1]) {
        const part = [X(from, k), X(from + release[k][j], k)];
        from += release[k][j];
        drawn.push(cell(part, END, j, j === best ? 0.6 : 0.12, j === best ? "stroke-width:2" : "stroke-dasharray:3 2"));
        const words = fitting([`Y = ${j}`, String(j)], part[1] - part[0]);
        drawn.push(text((part[0] + part[1]) / 2, (END[0] + END[1]) / 2 + 4, words, 'text-anchor="middle"'));
      }
      winners.push([release[k][best], best]);
      const mass = from - start;
      const anchor = k ? `text-anchor="end"` : "";
      const at = k ? width - right : left;
      const never = `X̂ = ${k}: never`;
      const guessed = guess === undefined ? "either guess" : `guess Y = ${guess}`;
      drawn.push(text(at, END[1] + 15, mass < 5e-5 ? never : `X̂ = ${k}: ${guessed}`, `${anchor} font-weight="bold"`));
      if (mass >= 5e-5)
        drawn.push(text(at, END[1] + 30, `P(Y = 1 | X̂ = ${k}) = ${fixed(release[k][1] / mass, 3)}`, anchor));
    }

    drawn.push(accuracyBar(winners, END[1] + 50, left, width - right), budgetBar(END[1] + 106, left, width - right));
    const told = `Information: ${fixed(current.information, 4)} nats`;
    drawn.push(text(left, 302, told, 'font-weight="bold"'));
    const untouched = `untouched ${fixed(bits.information(p), 4)}`;
    drawn.push(text(width - right, 302, untouched, 'class="tick" text-anchor="end"'));
    show(drawn.join(""));
    placeHandles(svg, handles);
    // Pixels to the share that is kept
    keptAt = (name, pixel) => {
      const [i, j] = [Number(name[1]), Number(name[2])];
      const [a, b] = span(above.kept[i][j], above.flipped[i][j]);
      return b - a < 1 ? undefined : (i ? b - pixel : pixel - a) / (b - a);
    };
    const cells = [0, 1].flatMap((i) =>
      [0, 1].map((j) => `X = ${i} and Y = ${j} has ${fixed(p[i][j], 3)}, of which ${fixed(100 * s[i][j], 0)} % is kept`),
    );
    svg.setAttribute("aria-label", `Where the probability goes: ${cells.join("; ")}. ${inWords()}`);
  }

  let keptAt;

  // What the adversary gets right: the larger part of each release, on the scale of the flow
  function accuracyBar(winners, y, left, right) {
    const { p, accuracy } = current;
    const X = (value) => left + value * (right - left);
    const drawn = [text(left, y, `Adversary right: ${fixed(accuracy, 3)}`, 'font-weight="bold"')];
    let from = 0;
    for (const [mass, j] of winners) {
      drawn.push(box(X(from), y + 6, X(from + mass) - X(from), 16, `${filled(j, 0.6)};stroke:var(--${INK[j]})`));
      from += mass;
    }
    drawn.push(box(left, y + 6, right - left, 16, "fill:none;stroke:var(--soft)"));
    const [prior, before] = [Math.max(...bits.columns(p)), bits.accuracy(p)];
    for (const value of [prior, before])
      drawn.push(`<path class="axis" d="M${X(value)},${y + 2}v24" style="stroke:var(--ink);stroke-width:2"/>`);
    drawn.push(text(X(prior) + 2, y + 36, `prior ${fixed(prior, 3)}`, 'class="tick" text-anchor="end"'));
    const end = X(before) + 92 > right;
    if (before - prior > 1e-9)
      drawn.push(
        end && X(before) - X(prior) < 96
          ? text(right, y, `untouched ${fixed(before, 3)}`, 'class="tick" text-anchor="end"')
          : text(X(before) + (end ? 0 : -2), y + 36, `untouched ${fixed(before, 3)}`, `class="tick" text-anchor="${end ? "end" : "start"}"`),
      );
    return drawn.join("");
  }

  // How full the budget is
  function budgetBar(y, left, right) {
    const { D } = state;
    const { p, mechanism, distortion, over } = current;
    const X = (value) => left + (value / Math.max(D, distortion, 1e-9)) * (right - left);
    const words = over > SLACK ? `over the budget ${fixed(D, 3)}` : `of the budget ${fixed(D, 3)}`;
    const drawn = [text(left, y, `Distortion: ${fixed(distortion, 3)} ${words}`, 'font-weight="bold"')];
    let from = 0;
    for (const j of [0, 1]) {
      const cost = [0, 1].reduce((total, i) => total + p[i][j] * (1 - mechanism[i][j]), 0);
      drawn.push(box(X(from), y + 6, X(from + cost) - X(from), 16, `${filled(j, 0.6)};stroke:var(--${INK[j]})`));
      from += cost;
    }
    drawn.push(box(left, y + 6, Math.max(X(D) - left, 0), 16, "fill:none;stroke:var(--soft);stroke-width:1.5"));
    if (over > SLACK) {
      drawn.push(box(X(D), y + 6, right - X(D), 16, "fill:none;stroke:var(--over);stroke-width:3"));
      drawn.push(`<path class="axis" d="M${X(D)},${y + 1}v26" style="stroke:var(--over);stroke-width:3"/>`);
    }
    return drawn.join("");
  }

  // The curves: the least that each kind of mechanism leaves

  const CURVES = { pdd: { ink: "pdd", dash: "none" }, pdi: { ink: "pdi", dash: "7 4" } };
  const POINTS = 48;
  let solved = {}; // they depend on the model only
  function curves() {
    const { prior, x0, x1 } = state;
    const key = JSON.stringify([prior, x0, x1]);
    if (solved.key === key) return solved;
    const { p } = current;
    const least = (best) =>
      Object.fromEntries(
        Object.keys(KINDS).map((kind) => {
          const { saturation } = best(p, 1, kind);
          // Dense at both ends, where information is steep or flat
          const budgets = evenly([0, Math.PI], POINTS).map((turn) => (saturation * (1 - Math.cos(turn))) / 2);
          return [kind, { saturation, points: budgets.map((D) => [D, best(p, D, kind).value]) }];
        }),
      );
    return (solved = { key, map: least(bits.optimum), mi: least(bits.informationOptimum) });
  }

  let frozen; // the axis while the budget is dragged
  function longest() {
    const { map, mi } = curves();
    const ends = [map, mi].flatMap((least) => Object.values(least).map(({ saturation }) => saturation));
    return (frozen ??= Math.max(1.12 * Math.max(...ends), 1.02 * state.D, 1.02 * current.distortion, 0.05));
  }

  const dragging = {}; // by plot: from pixels to budgets

  function drawCurves(name, { least, quantity, floor, digits, words }) {
    const svg = find(`svg.${name}`);
    const end = longest();
    const { p } = current;
    const top = quantity(p);
    const room = Math.max(top - floor, current[name] - floor, 1e-3);
    const y = [floor - 0.1 * room, floor + 1.1 * room];
    const { X, Y, valueAt, show, width, left, right, top: head, foot } = plot(svg, 214, [0, end], y, {
      left: 44,
      top: 20,
      bottom: 36,
    });
    dragging[name] = valueAt;
    const drawn = [];
    for (const tick of ticks(...y, 5)) {
      if (tick < 0) continue;
      drawn.push(`<path class="grid" d="M${left},${Y(tick)}H${width - right}"/>`);
      drawn.push(text(left - 6, Y(tick) + 4, tick, 'class="tick" text-anchor="end"'));
    }
    for (const tick of ticks(0, end, 5)) {
      drawn.push(`<path class="axis" d="M${X(tick)},${foot}v4"/>`);
      drawn.push(text(X(tick), foot + 15, tick, 'class="tick" text-anchor="middle"'));
    }
    drawn.push(`<path class="axis" d="M${left},${head}V${foot}H${width - right}"/>`);
    drawn.push(`<path class="axis" d="M${left},${Y(floor)}H${width - right}" stroke-dasharray="2 2"/>`);
    drawn.push(text(width - right, foot + 31, "distortion", 'text-anchor="end"'));
    for (const [kind, { points }] of Object.entries(least)) {
      const { ink, dash } = CURVES[kind];
      const all = [...points, [Math.max(end, points.at(-1)[0]), points.at(-1)[1]]];
      const stroke = kind === state.kind ? 3.2 : 1.8;
      drawn.push(
        path(
          line(all.map(([D, value]) => [X(D), Y(value)])),
          `stroke:var(--${ink});stroke-width:${stroke};stroke-dasharray:${dash}`,
        ),
      );
    }
    // Which line is which, below the axis, where no line is
    Object.keys(KINDS).forEach((kind, k) => {
      const from = left + 70 * k;
      const { ink, dash } = CURVES[kind];
      drawn.push(path(`M${from},${foot + 27}h28`, `stroke:var(--${ink});stroke-width:2.5;stroke-dasharray:${dash}`));
      drawn.push(text(from + 32, foot + 31, kind.toUpperCase()));
    });
    const at = X(state.D);
    drawn.push(`<path class="axis" d="M${at},${head}V${foot}" style="stroke:var(--ink)"/>`);
    const label = `D = ${fixed(state.D, 3)}`;
    drawn.push(
      at > (left + width) / 2
        ? text(at - 11, head + 1, label, 'text-anchor="end" class="halo"')
        : text(at + 11, head + 1, label, 'class="halo"'),
    );
    const ink = current.over > SLACK ? "over" : "ink";
    const [cx, cy] = [X(current.distortion), Y(current[name])];
    drawn.push(`<circle cx="${cx}" cy="${cy}" r="6" style="fill:var(--${ink});stroke:var(--ground);stroke-width:1.5"/>`);
    show(drawn.join(""));
    placeHandles(svg, [["D", at, head - 4, "focus"]]);
    const there = Object.keys(KINDS).map(
      (kind) => `${kind.toUpperCase()} ${fixed(OPTIMA[name === "accuracy" ? "map" : "mi"](p, state.D, kind).value, digits)}`,
    );
    svg.setAttribute(
      "aria-label",
      `${words} against distortion. Least at the budget ${fixed(state.D, 3)}: ${there.join(", ")}. ` +
        `The present mechanism: ${fixed(current[name], digits)} at ${fixed(current.distortion, 3)}.`,
    );
    caption(
      svg,
      `Least at D = ${fixed(state.D, 3)}: ${there.join(", ")}. The dot is the mechanism above. Drag to change D.`,
    );
  }

  function render(remark = "") {
    compute();
    const shown = { ...state, ...toCells(current.mechanism) };
    shown.s0 = shown.s00;
    shown.s1 = shown.s10;
    for (const [name, { element, show }] of Object.entries(controls)) {
      show(Number(shown[name].toFixed(3)));
      if (name.startsWith("s")) element.hidden = (name.length === 2) !== (state.kind === "pdi");
    }
    for (const name of ["kind", "flips"]) find(`input[value="${state[name]}"]`).checked = true;
    find(".note").textContent = remark || note();
    find(".note").classList.toggle("warning", Boolean(remark) || current.over > SLACK);
    drawFlow();
    const moving = held;
    if (!moving) frozen = undefined;
    const { map, mi } = curves();
    const floor = Math.max(...bits.columns(current.p));
    const accuracy = { least: map, quantity: bits.accuracy, floor, digits: 4, words: "Accuracy" };
    drawCurves("accuracy", accuracy);
    drawCurves("information", { least: mi, quantity: bits.information, floor: 0, digits: 4, words: "Information in nats" });
  }

  // Input

  const controls = {};
  let held = false; // whether something is dragged in a plot

  function buildControls() {
    const changes = (name, value) => {
      if (value === undefined) return {};
      const kept = clamp(name, value);
      return name.startsWith("s") && name.length === 2 ? { [`${name}0`]: kept, [`${name}1`]: kept } : { [name]: kept };
    };
    for (const [selector, group] of [
      [".mechanism", MECHANISM],
      [".model", MODEL],
    ])
      for (const name of Object.keys(group))
        controls[name] = control(find(selector), `gap-bits-${name}`, group[name], (value, remark) =>
          change(changes(name, value), remark),
        );
    for (const [name, choices] of [
      ["kind", KINDS],
      ["flips", FLIPS],
    ]) {
      for (const [value, label] of Object.entries(choices))
        find(`fieldset.${name}`).insertAdjacentHTML(
          "beforeend",
          `<label><input type="radio" name="gap-bits-${name}" value="${value}">${label}</label>`,
        );
      find(`fieldset.${name}`).addEventListener("change", (event) => {
        const { value } = event.target;
        // By hand one goes on from what is shown.
        const from = value === "hand" ? toCells(current.mechanism) : {};
        change({ [name]: value, ...from });
      });
    }
    const reset = document.createElement("button");
    reset.type = "button";
    reset.textContent = "Reset";
    reset.addEventListener("click", () => change(embedded));
    find(".model").append(reset);
  }

  function start() {
    if (isSetting(location.hash.slice(1))) state = read(location.hash.slice(1), START);
    find(".content").hidden = false;
    buildControls();
    render();
    let taken; // the state when something was taken
    const holding = {
      begin: () => {
        taken = state;
        held = true;
      },
      end: (willing) => {
        held = false;
        change(willing ? {} : { ...taken });
      },
    };
    const toStep = (name, value) => clamp(name, Math.round(value / CONTROLS[name].step) * CONTROLS[name].step);
    listen(find("svg.flow"), {
      ...holding,
      pick: heldHandle,
      drag: (name, pixel) => {
        const kept = keptAt(name, pixel);
        if (kept === undefined) return; // a cell without probability
        const value = toStep(name, kept);
        change(state.kind === "pdi" ? { [`${name.slice(0, 2)}0`]: value, [`${name.slice(0, 2)}1`]: value } : { [name]: value });
      },
    });
    for (const name of ["accuracy", "information"])
      listen(find(`svg.${name}`), {
        ...holding,
        pick: () => "D",
        drag: (_, pixel) => change({ D: toStep("D", dragging[name](pixel)) }),
      });
    window.addEventListener("hashchange", ({ newURL }) => {
      // Not that of `location`, in which the last setting may have been written since.
      const asked = new URL(newURL).hash.slice(1);
      if (!isSetting(asked)) return; // a heading of the page
      change(read(asked, START));
      root.focus({ preventScroll: true });
      root.scrollIntoView();
    });
    drawing.whenResized(root, find("svg.flow").parentElement, () => {
      // The picture stays in sight below what the page itself keeps there.
      const header = document.querySelector(".bd-header-article");
      find(".stays").style.top = `${header ? header.offsetHeight : 0}px`;
      render();
    });
  }

  drawing.settleInFrame(root);
  start();
})();
