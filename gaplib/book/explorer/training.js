"use strict";
// A player for recorded trainings. What a recording holds, tools/recordings.py says.
(() => {
  const { drawing, recordings } = window.gapExplorer;
  const { box, evenly, fixed, line, listen, path, plot, text, ticks } = drawing;
  const root = document.querySelector(".gap-training");
  const find = (selector) => root.querySelector(selector);

  const INK = ["y0", "y1"];
  const PAUSE = 250; // milliseconds between two moments
  const slider = find("input[type=range]");
  const button = find("button");

  // State: which recording, and the number of its moment. Moment 0 is before training: X itself is released.
  let name = Object.keys(recordings)[0];
  let moment = 0;
  let playing;

  const last = () => recordings[name].moments.length;
  const iterationOf = (k) => (k ? recordings[name].moments[k - 1].iteration : 0);
  const counted = (iteration) => String(iteration).replace(/\B(?=(\d{3})+$)/g, ",");

  // The two histograms, as shares of all records, and the adversary's belief
  function ofMoment() {
    const { before, moments, records } = recordings[name];
    const { released, belief, accuracy } = moment ? moments[moment - 1] : { released: before };
    return { shares: released.map((counts) => counts.map((count) => count / records)), belief, accuracy };
  }

  // The entry of the history that ends with the moment
  function ofHistory() {
    const { history } = recordings[name];
    const at = history.iteration.findLastIndex((iteration) => iteration <= iterationOf(moment));
    return at < 0 ? undefined : Object.fromEntries(Object.entries(history).map(([key, all]) => [key, all[at]]));
  }

  function drawReleased() {
    const svg = find("svg.released");
    const { grid, before, moments, records } = recordings[name];
    const [low, high, bins] = grid;
    const { shares, belief, accuracy } = ofMoment();
    const largest = Math.max(...[before, ...moments.map(({ released }) => released)].flat(2)) / records;
    const { X, Y, show, width, left, right, top, foot } = plot(svg, 236, [low, high], [0, 1.05 * largest], {
      left: 8,
      right: 34,
      top: 22,
      bottom: 34,
    });
    const edges = evenly([low, high], bins);
    const drawn = [];
    // Before, as an outline; now, filled
    const steps = (counts) => line(counts.flatMap((share, k) => [edges[k], edges[k + 1]].map((x) => [X(x), Y(share)])));
    for (const y of [0, 1]) {
      const ink = `var(--${INK[y]})`;
      const now = steps(shares[y]);
      drawn.push(`<path d="${now}L${X(high)},${foot}H${X(low)}Z" style="fill:${ink};fill-opacity:.35"/>`);
      drawn.push(path(now, `stroke:${ink};stroke-width:1.5`));
      const original = steps(before[y].map((count) => count / records));
      drawn.push(path(original, `stroke:${ink};stroke-width:1.2;stroke-dasharray:2 3`));
    }
    const B = (value) => foot - value * (foot - top);
    for (const tick of [0, 0.5, 1])
      drawn.push(text(width - right + 6, B(tick) + 4, tick, 'class="tick"'), grid05(tick, B, left, width - right));
    if (belief) {
      const middles = edges.slice(1).map((edge, k) => (edge + edges[k]) / 2);
      const curve = belief.map((thousandths, k) => [X(middles[k]), B(thousandths / 1000)]);
      drawn.push(path(line(curve), "stroke:var(--true);stroke-width:2.5"));
    }
    drawn.push(`<path class="axis" d="M${left},${foot}H${width - right}"/>`);
    for (const tick of ticks(low, high, 6)) {
      drawn.push(`<path class="axis" d="M${X(tick)},${foot}v4"/>`);
      drawn.push(text(X(tick), foot + 15, String(tick).replace("-", "−"), 'class="tick" text-anchor="middle"'));
    }
    // What is what
    drawn.push(text(left, 12, "belief that Y = 1", 'font-weight="bold"'));
    drawn.push(path(`M${left + 118},8h22`, "stroke:var(--true);stroke-width:2.5"));
    for (const y of [0, 1]) {
      const at = left + 8 + 62 * y;
      const style = `fill:var(--${INK[y]});fill-opacity:.35;stroke:var(--${INK[y]})`;
      drawn.push(box(at, foot + 21, 14, 11, style), text(at + 19, foot + 31, `Y = ${y}`));
    }
    drawn.push(path(`M${left + 136},${foot + 27}h22`, "stroke:var(--soft);stroke-width:1.5;stroke-dasharray:2 3"));
    drawn.push(text(left + 163, foot + 31, "untouched"));
    drawn.push(text(width - right, foot + 31, "release", 'text-anchor="end"'));
    show(drawn.join(""));
    const mean = (all) => all.reduce((sum, share, k) => sum + share * (edges[k] + edges[k + 1]), 0) / 2;
    const means = shares.map((all) => fixed(mean(all) / all.reduce((a, b) => a + b, 0), 1));
    const guessed = accuracy === undefined ? "" : ` The adversary is right on ${fixed(100 * accuracy, 1)} % of new records.`;
    svg.setAttribute(
      "aria-label",
      `Histograms of what is released after ${counted(iterationOf(moment))} iterations. ` +
        `Mean where Y = 0: ${means[0]}, where Y = 1: ${means[1]}.${guessed}`,
    );
  }

  const grid05 = (tick, B, from, to) =>
    tick === 0.5 ? `<path class="axis" d="M${from},${B(tick)}H${to}" stroke-dasharray="2 3" style="opacity:.6"/>` : "";

  let iterationAt; // from a pixel of the course

  // Loss, distortion and price over the iterations, one below the other
  function drawCourse() {
    const svg = find("svg.course");
    const { history, budget, optimum } = recordings[name];
    const end = history.iteration.at(-1);
    const now = ofHistory();
    const strips = [
      ["loss", "loss of the adversary", 3, optimum?.loss, "optimum"],
      ["distortion", "distortion", 2, budget, "budget"],
      ["multiplier", "price of distortion", 3, optimum?.price, "optimum"],
    ];
    const [height, foot] = [86, 22];
    const { X, valueAt, show, width, left, right } = plot(
      svg,
      strips.length * height + foot,
      [0, end],
      [0, 1],
      { left: 40, right: 8 },
    );
    iterationAt = valueAt;
    const floor = strips.length * height - 4;
    const at = X(iterationOf(moment));
    const drawn = [`<path class="axis" d="M${at},10V${floor}" style="stroke:var(--focus);stroke-width:1.5"/>`];
    strips.forEach(([key, words, digits, reference, called], k) => {
      const all = history[key];
      const values = [...all, reference ?? all[0]];
      const [low, high] = [key === "loss" ? Math.min(...values) : 0, Math.max(...values)];
      const [top, bottom] = [k * height + 22, (k + 1) * height - 6];
      const Y = (value) => bottom - ((value - low) / (high - low || 1)) * (bottom - top);
      for (const tick of ticks(low, high, 2)) {
        drawn.push(`<path class="grid" d="M${left},${Y(tick)}H${width - right}"/>`);
        drawn.push(text(left - 5, Y(tick) + 4, tick, 'class="tick" text-anchor="end"'));
      }
      if (reference !== undefined) {
        const to = `M${left},${Y(reference)}H${width - right}`;
        drawn.push(path(to, "stroke:var(--map);stroke-width:1.5;stroke-dasharray:5 3"));
      }
      drawn.push(path(line(all.map((v, i) => [X(history.iteration[i]), Y(v)])), "stroke:var(--ink);stroke-width:1.4"));
      const value = now ? `: ${fixed(now[key], digits)}` : "";
      drawn.push(text(left, top - 8, `${words}${value}`, 'font-weight="bold" class="halo"'));
      if (reference !== undefined)
        drawn.push(
          text(width - right, top - 8, `${called} ${fixed(reference, digits)}`, 'class="tick halo" text-anchor="end"'),
        );
      if (now) {
        const at = [X(now.iteration), Y(now[key])].map((v) => v.toFixed(1));
        drawn.push(`<circle cx="${at[0]}" cy="${at[1]}" r="4.5" style="fill:var(--focus)"/>`);
      }
    });
    drawn.push(`<path class="axis" d="M${left},${floor}H${width - right}"/>`);
    for (const tick of ticks(0, end, 4))
      drawn.push(
        `<path class="axis" d="M${X(tick)},${floor}v4"/>`,
        text(X(tick), floor + 16, counted(tick), `class="tick" text-anchor="${tick === end ? "end" : "middle"}"`),
      );
    show(drawn.join(""));
    const described = now
      ? strips.map(([key, words, digits]) => `${words} ${fixed(now[key], digits)}`).join(", ")
      : "training has not begun";
    svg.setAttribute(
      "aria-label",
      `Loss, distortion and price over ${counted(end)} iterations. Iteration ${counted(iterationOf(moment))}: ${described}.`,
    );
  }

  function note() {
    const { accuracy } = ofMoment();
    if (accuracy === undefined)
      return "Before training: X itself is released, and the adversary has learned nothing.";
    const after = moment === last() ? "At the end" : `After ${counted(iterationOf(moment))} iterations`;
    return `${after} the adversary guesses Y right on ${fixed(100 * accuracy, 1)} % of new records.`;
  }

  function render() {
    slider.max = last();
    slider.value = moment;
    slider.setAttribute("aria-valuetext", `iteration ${counted(iterationOf(moment))}`);
    find("output").textContent = counted(iterationOf(moment));
    button.textContent = playing ? "Pause" : "Play";
    find(".note").textContent = note();
    drawReleased();
    drawCourse();
  }

  function pause() {
    clearInterval(playing);
    playing = undefined;
    render();
    find("[role=status]").textContent = `${find("svg.course").getAttribute("aria-label")} ${note()}`;
    // A frame has no address of its own.
    const address = new URLSearchParams({ recording: name, iteration: iterationOf(moment) });
    if (window.parent === window) history.replaceState(null, "", `#${address}`);
  }

  // Whoever wants less motion sees the end at once, and can still move through the moments.
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  function play() {
    if (still.matches) {
      moment = moment === last() ? 0 : last();
      return pause();
    }
    if (moment === last()) moment = 0;
    playing = setInterval(() => {
      moment += 1;
      if (moment < last()) render();
      else pause();
    }, PAUSE);
    render();
  }

  function goTo(k) {
    moment = Math.min(Math.max(k, 0), last());
    pause();
  }

  const nearest = (iteration) =>
    Array.from({ length: last() + 1 }, (_, k) => k).reduce((best, k) =>
      Math.abs(iterationOf(k) - iteration) < Math.abs(iterationOf(best) - iteration) ? k : best,
    );

  function followAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (!Object.hasOwn(recordings, given.get("recording") ?? "")) return false;
    clearInterval(playing);
    playing = undefined;
    name = given.get("recording");
    find("select").value = name;
    moment = nearest(Number(given.get("iteration")) || 0);
    render();
    return true;
  }

  for (const [key, { title }] of Object.entries(recordings)) find("select").append(new Option(title, key));
  find("select").addEventListener("change", (event) => {
    name = event.target.value;
    goTo(0);
  });
  find(".content").hidden = false;
  if (!followAddress()) render();
  slider.addEventListener("input", () => goTo(slider.valueAsNumber));
  button.addEventListener("click", () => (playing ? pause() : play()));
  const before = { begin: () => {}, end: () => {} };
  listen(find("svg.course"), { ...before, pick: () => "moment", drag: (_, pixel) => goTo(nearest(iterationAt(pixel))) });
  window.addEventListener("hashchange", () => {
    if (!followAddress()) return; // a heading of the page
    root.focus({ preventScroll: true });
    root.scrollIntoView();
  });
  window.addEventListener("beforeprint", () => goTo(last())); // paper shows what came of it
  drawing.whenResized(root, find("svg.course").parentElement, render);
})();
