"use strict";
// What the explorers share: how they draw, how they are dragged, a slider with its number, a notebook's frame around them.
(window.gapExplorer ??= {}).drawing = (() => {
  const fixed = (x, digits) => (Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x).toFixed(digits).replace("-", "−");

  const line = (points) => "M" + points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L");
  const text = (x, y, words, more = "") => `<text x="${x}" y="${y}" ${more}>${words}</text>`;
  const box = (x, y, width, height, style) =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" style="${style}"/>`;
  const path = (d, style) => `<path d="${d}" style="fill:none;${style}"/>`;

  const evenly = ([from, to], count) => Array.from({ length: count + 1 }, (_, k) => from + ((to - from) * k) / count);

  function ticks(low, high, count) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
      found.push(Number((k * step).toPrecision(6)));
    return found;
  }

  // What controls allow: a number within its limits, to some digits; and the numbers of a text such as "prior=0.5&mu=3".
  // What is missing or no number is taken from `otherwise`.
  function limits(controls, digits) {
    const clamp = (name, value) => {
      const { min, max } = controls[name];
      return Number(Math.min(Math.max(value, min), max).toFixed(digits));
    };
    const read = (text, otherwise, names = Object.keys(controls)) => {
      const given = new URLSearchParams(text);
      const found = { ...otherwise };
      for (const name of names) {
        const value = given.get(name)?.trim();
        if (value && Number.isFinite(Number(value))) found[name] = clamp(name, Number(value));
      }
      return found;
    };
    return { clamp, read };
  }
  const isSettingOf = (start) => (text) => Object.keys(start).some((name) => new URLSearchParams(text).has(name));

  // An empty plot at the width that there is, so that letters keep their size. `x` and `y` are the ranges.
  function plot(svg, height, x, y, { left = 8, right = 8, top = 10, bottom = 18 } = {}) {
    const width = Math.max(svg.parentElement.clientWidth, 200);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    if (!svg.firstElementChild) svg.innerHTML = "<g></g><g></g>"; // the drawing, and the handles over it
    const inner = [width - left - right, height - top - bottom];
    return {
      X: (value) => left + ((value - x[0]) / (x[1] - x[0])) * inner[0],
      Y: (value) => height - bottom - ((value - y[0]) / (y[1] - y[0])) * inner[1],
      valueAt: (pixel) => x[0] + ((pixel - left) / inner[0]) * (x[1] - x[0]),
      show: (drawing) => (svg.firstElementChild.innerHTML = drawing),
      width,
      left,
      right,
      top,
      foot: height - bottom,
    };
  }

  const caption = (svg, words) => (svg.parentElement.querySelector("figcaption").textContent = words);

  // Handles in the plots, for the pointer; the keyboard has the sliders. They stay the same elements while dragged.
  function placeHandles(svg, handles) {
    const group = svg.lastElementChild;
    for (const [name, x, y, ink] of handles) {
      if (!group.querySelector(`[data-handle="${name}"]`)) {
        group.insertAdjacentHTML(
          "beforeend",
          `<g data-handle="${name}"><circle class="reach" r="16"/><circle class="handle" r="6"/></g>`,
        );
      }
      const handle = group.querySelector(`[data-handle="${name}"]`);
      handle.setAttribute("transform", `translate(${x.toFixed(1)},${y.toFixed(1)})`);
      handle.lastElementChild.style.stroke = `var(--${ink})`;
    }
  }

  const heldHandle = (target) => target.closest("[data-handle]")?.dataset.handle;

  // Dragging sideways. `pick` names what an element of the plot moves, if anything; `begin` is told when it is taken,
  // `drag` where it is, `end` when it is let go, and whether that was by will.
  function listen(svg, { pick, begin, drag, end }) {
    let held; // what is dragged, and where that began
    const move = (name, event) => {
      const box = svg.getBoundingClientRect();
      // A zoomed plot may be smaller than it was drawn.
      drag(name, ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width);
    };
    svg.addEventListener("pointerdown", (event) => {
      const name = event.button === 0 ? pick(event.target) : undefined;
      if (!name) return;
      event.preventDefault(); // no text is marked
      svg.setPointerCapture(event.pointerId);
      held = { name, from: event.clientX, moved: false };
      begin();
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      held.moved ||= Math.abs(event.clientX - held.from) > 4; // until then a finger may be about to scroll
      if (held.moved) move(held.name, event);
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      svg.addEventListener(kind, () => {
        if (!held) return;
        held = undefined;
        end(kind === "pointerup");
      });
    }
    svg.addEventListener("click", (event) => {
      const name = pick(svg); // where a click anywhere means something
      if (name) move(name, event);
    });
  }

  // A slider and a field for the same number. `change` gets the number, and a remark if another one was typed. The result
  // shows a number in both.
  function control(parent, id, { label, min, max, step }, change) {
    const element = document.createElement("div");
    element.className = "control";
    element.innerHTML =
      `<label for="${id}">${label}</label>` +
      `<input type="range" id="${id}" min="${min}" max="${max}" step="${step}">` +
      `<input type="number" aria-label="${label}, as a number from ${min} to ${max}" ` +
      `min="${min}" max="${max}" step="${step}">`;
    const [slider, number] = element.querySelectorAll("input");
    let typing = false; // the field that is being typed in keeps what is typed
    slider.addEventListener("input", () => change(slider.valueAsNumber));
    number.addEventListener("input", () => {
      const value = number.valueAsNumber;
      if (!(min <= value && value <= max)) return; // not yet a number, or not an allowed one
      typing = true;
      change(value);
      typing = false;
    });
    number.addEventListener("change", () => {
      const value = number.valueAsNumber;
      const remark = min <= value && value <= max ? "" : `${label}: a number from ${min} to ${max}.`;
      change(Number.isFinite(value) ? value : undefined, remark);
    });
    parent.append(element);
    return {
      element,
      show: (value) => {
        slider.value = value;
        if (!typing) number.value = value;
      },
    };
  }

  // `draw` once the explorer has another width.
  function whenResized(root, element, draw) {
    let width;
    new ResizeObserver(() => {
      const present = element.clientWidth;
      if (present !== width) draw();
      width = present;
    }).observe(root);
  }

  // In the frame of a notebook: take its theme, and all the height that is needed.
  function settleInFrame(root) {
    if (window.parent === window) return;
    try {
      const body = window.parent.document.body;
      const frame = window.frameElement;
      const adopt = () => {
        const dark = body.dataset.jpThemeLight
          ? body.dataset.jpThemeLight === "false"
          : matchMedia("(prefers-color-scheme: dark)").matches;
        document.documentElement.dataset.theme = dark ? "dark" : "light";
      };
      adopt();
      new MutationObserver(adopt).observe(body, { attributeFilter: ["data-jp-theme-light"] });
      new ResizeObserver(() => (frame.style.height = `${root.offsetHeight + 32}px`)).observe(root);
    } catch {
      // The frame stands in a foreign page: it keeps its height and its light theme.
    }
  }

  return {
    box,
    caption,
    control,
    evenly,
    fixed,
    heldHandle,
    isSettingOf,
    limits,
    line,
    listen,
    path,
    placeHandles,
    plot,
    settleInFrame,
    text,
    ticks,
    whenResized,
  };
})();
