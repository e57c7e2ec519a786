"use strict";
// The binary model, computed as gaplib.binary and gaplib.leakage do. A joint distribution is p[i][j] = P(X = i, Y = j), a
// mechanism s[i][j] the probability that X = i is released unchanged where Y = j, a release r[k][j] = P(X̂ = k, Y = j).
(window.gapExplorer ??= {}).bits = (() => {
  const BITS = [0, 1];
  const table = (cell) => BITS.map((i) => BITS.map((j) => cell(i, j)));
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const rows = (p) => p.map(sum);
  const columns = (p) => BITS.map((j) => p[0][j] + p[1][j]);

  // From P(Y = 1) and P(X = 1 | Y) for both Y
  const jointOf = ({ prior, x0, x1 }) => [
    [(1 - prior) * (1 - x0), prior * (1 - x1)],
    [(1 - prior) * x0, prior * x1],
  ];

  const UNCHANGED = table(() => 1);

  const released = (p, s) => table((k, j) => p[k][j] * s[k][j] + p[1 - k][j] * (1 - s[1 - k][j]));
  const distortion = (p, s) => sum(table((i, j) => p[i][j] * (1 - s[i][j])).flat());
  const accuracy = (r) => sum(r.map((row) => Math.max(...row)));
  const guess = ([of0, of1]) => (of0 === of1 ? undefined : Number(of1 > of0)); // a tie tells nothing

  function information(r) {
    const [row, column] = [rows(r), columns(r)];
    const terms = table((k, j) => (r[k][j] > 0 ? r[k][j] * (Math.log(r[k][j] / row[k]) - Math.log(column[j])) : 0));
    return Math.max(sum(terms.flat()), 0);
  }

  const indexOfLargest = (values) => (values[1] > values[0] ? 1 : 0);

  // Against the MAP adversary (chapters 3 and 4): a mechanism, its accuracy, and the budget from which on more buys nothing
  function optimum(p, D, kind) {
    const prior = Math.max(...columns(p));
    const untouched = accuracy(p);
    const keep = table(() => 1);
    const lean = p.map(([of0, of1]) => of1 - of0);
    let [slope, saturation] = [0, 0];
    if (kind === "pdd") {
      // Only a row that points at the less likely Y tells more than the prior. Flipping its surplus makes it a tie.
      const [p0, p1] = columns(p);
      const rarer = p0 >= p1 ? 1 : 0;
      const surplus = p.map((row) => row[rarer] - row[1 - rarer]);
      const row = indexOfLargest(surplus);
      saturation = Math.max(surplus[row], 0);
      slope = 1;
      if (saturation > 0) keep[row][rarer] = 1 - Math.min(D, saturation) / p[row][rarer];
    } else if (Math.min(...lean) < 0 && Math.max(...lean) > 0) {
      // Flip the row that loses most lean with each unit of mass, up to what there is to lose, the weaker lean.
      const mass = rows(p);
      const rate = BITS.map((i) => Math.abs(lean[i]) / mass[i]);
      const row = indexOfLargest(rate);
      slope = rate[row];
      saturation = mass[row] * (Math.min(...lean.map(Math.abs)) / Math.abs(lean[row]));
      keep[row] = BITS.map(() => 1 - Math.min(D, saturation) / mass[row]);
    }
    return { mechanism: keep, value: Math.max(prior, untouched - slope * D), saturation };
  }

  // Against log-loss (chapter 5), in nats
  function informationOptimum(p, D, kind) {
    const determinant = p[0][0] * p[1][1] - p[0][1] * p[1][0];
    if (Math.abs(determinant) <= Number.EPSILON) return { mechanism: UNCHANGED, value: 0, saturation: 0 };
    // The cells that mass may leave, as ones: all of them, or those in which X and Y go together
    const cells = table((i, j) => Number(kind === "pdi" || (i === j) === determinant > 0));
    const mass = BITS.map((i) => sum(BITS.map((j) => p[i][j] * cells[i][j])));
    const flipped = table((i, j) => (p[i][j] * cells[i][j]) / mass[i]); // P(Y = j | X = i is flipped)
    const [p0, p1] = columns(p);
    const saturations = BITS.map((i) =>
      kind === "pdi" ? mass[i] : Math.abs(determinant) / (flipped[i][0] * p1 + flipped[i][1] * p0),
    );
    const row = saturations[1] < saturations[0] ? 1 : 0;
    const saturation = saturations[row];
    const leaving = D >= saturation ? BITS.map((i) => (i === row ? saturation : 0)) : split(p, flipped, D);
    const mechanism = table((i, j) => 1 - cells[i][j] * Math.min(leaving[i] / mass[i], 1));
    return { mechanism, value: D >= saturation ? 0 : information(released(p, mechanism)), saturation };
  }

  // How much mass leaves each row, D in total: the root of the one equation of chapter 5, or all out of one row
  function split(p, flipped, D) {
    const weight = columns(flipped);
    const leaving = (share) => [D * (1 - share), D * share];
    const slope = (share) => {
      const moved = leaving(share).map((mass, i) => flipped[i].map((part) => part * mass));
      const sides = p.map((row, k) => {
        const after = row.map((mass, j) => mass - moved[k][j] + moved[1 - k][j]);
        return BITS.reduce((product, j) => product * (after[j] / sum(after)) ** weight[j], 1);
      });
      return sides[0] - sides[1];
    };
    if (slope(0) >= 0) return leaving(0);
    if (slope(1) <= 0) return leaving(1);
    let [low, high] = [0, 1];
    while (high - low > Number.EPSILON) {
      const middle = (low + high) / 2;
      if (middle === low || middle === high) break;
      if (slope(middle) < 0) low = middle;
      else high = middle;
    }
    return leaving((low + high) / 2);
  }

  return {
    UNCHANGED,
    accuracy,
    columns,
    distortion,
    guess,
    information,
    informationOptimum,
    jointOf,
    optimum,
    released,
    rows,
  };
})();
