// The page itself: figures and pictures out. Python wrote the figures of the opening prices into the
// document; here they are computed again whenever a price moves.

// --- figures

const range = (bill) => `${cash(bill.low)} to ${cash(bill.high)}`;
// An interval may break between its ends, not within them.
const spanCell = (bill) => `<td data-label="95 % interval"><div class="span"><span>${esc(cash(bill.low))}</span> to <span>${esc(cash(bill.high))}</span></div></td>`;

function showBill(figures) {
  $("bill").textContent = cash(figures.bill.total);
  $("bill-interval").textContent = `95 % interval ${range(figures.bill)}, on ${number(page.n)} rows: ${cash(figures.bill.total / page.weight)} a row`;
  $("headline").textContent = headline(figures);
  $("strip").innerHTML = `The bill <b>${esc(cash(figures.bill.total))}</b>`;
}

function headline(figures) {
  const kept = figures.policies.slice(0, A).reduce((one, other) => (other.bill.total < one.bill.total ? other : one));
  const name = page.policies[figures.policies.indexOf(kept)];
  const saved = kept.saved;
  const verb = saved.total >= 0 ? "saves" : "costs";
  const more = saved.total >= 0 ? "against" : "more than";
  const ends = saved.total >= 0 ? [saved.low, saved.high] : [-saved.high, -saved.low];
  return `The model ${verb} ${cash(Math.abs(saved.total))} (${percent(Math.abs(kept.share))}) ${more} \u201c${name}\u201d; 95 % interval ${cash(ends[0])} to ${cash(ends[1])}.`;
}

function showPolicies(figures) {
  const shown = [...actionOrder, ...figures.policies.keys()].filter((j, at, all) => all.indexOf(j) === at);
  const lines = shown.map((j) => {
    const policy = figures.policies[j];
    const style = policy.saved.total < 0 ? "loss" : "gain";
    return `<tr><th scope="row">${esc(page.policies[j])}</th><td data-label="Bill">${esc(cash(policy.bill.total))}</td>${spanCell(policy.bill)}`
      + `<td data-label="The model saves" class="${style}">${esc(cash(policy.saved.total))}</td><td data-label="Share" class="${style}">${esc(percent(policy.share))}</td></tr>`;
  });
  const own = `<tr class="own"><th scope="row">This model</th><td data-label="Bill">${esc(cash(figures.bill.total))}</td>${spanCell(figures.bill)}<td></td><td></td></tr>`;
  $("policies").innerHTML = own + lines.join("");
  const bars = [{ name: "This model", own: true, bill: figures.bill }]
    .concat(shown.map((j) => ({ name: page.policies[j], own: false, bill: figures.policies[j].bill })))
    .map(({ name, own, bill }) => ({ name, own, value: bill.total, low: bill.low, high: bill.high, text: money(bill.total, page.currency, 0) }));
  drawBars($("policies-chart"), { bars, label: `Bills: ${bars.map((bar) => `${bar.name} ${bar.text}`).join("; ")}` });
}

const sums = (values, pick) => values.reduce((sum, v, cell) => (pick(cell) ? sum + v : sum), 0);

function showConfusion({ counts, money: paid }) {
  const cellHtml = (count, cost, style) => `<td class="${style}"><b>${esc(number(count, page.digits))}</b><span>${esc(cash(cost))}</span></td>`;
  const head = actionOrder.map((a) => `<th scope="col">decided ${esc(page.actions[a])}</th>`).join("");
  const body = classOrder.map((k) => `<tr><th scope="row">${esc(page.classes[k])}</th>`
    + actionOrder.map((a) => cellHtml(counts[k * A + a], paid[k * A + a], page.square && k === a ? "right" : "")).join("")
    + cellHtml(sums(counts, (c) => Math.floor(c / A) === k), sums(paid, (c) => Math.floor(c / A) === k), "sum") + "</tr>");
  const total = actionOrder.map((a) => cellHtml(sums(counts, (c) => c % A === a), sums(paid, (c) => c % A === a), "")).join("")
    + cellHtml(sums(counts, () => true), sums(paid, () => true), "sum");
  $("confusion").innerHTML = `<thead><tr><th scope="col">Truth</th>${head}<th scope="col" class="sum">All</th></tr></thead><tbody>${body.join("")}<tr><th scope="row">All</th>${total}</tr></tbody>`;
}

// --- pictures

function showShare(figures) {
  if (!figures.curve) return;
  const { curve, best } = figures.curve;
  const name = page.actions[state.action];
  const [x, last] = [(rows) => rows / page.n, curve[curve.length - 1]];
  // Where few rows are worth it, the axis ends soon after them, unless all rows are asked for.
  const worth = Math.max(figures.acted, best[0], state.limit === null ? 0 : state.limit * page.periods);
  const aim = Math.min(1, Math.max(0.02, 4 * x(worth)));
  const shown = curve.slice(0, curve.findIndex(([rows]) => x(rows) >= aim * 0.9999) + 1);
  const end = x(shown[shown.length - 1][0]);
  const own = isBinary ? figures.policies[1 - page.positive].saved.total : null;
  const here = own === null ? at(curve, figures.acted) : own;
  const ends = shown.map(([, saved]) => saved).concat([0, here, best[1]]);
  const marks = [
    { kind: "line", style: "ref", points: [[0, 0], [end, last[1] * end]] },
    { kind: "line", points: shown.map(([rows, saved]) => [x(rows), saved]) },
  ];
  if (state.limit !== null) marks.push({ kind: "wall", x: Math.min(end, (state.limit * page.periods) / page.n), text: "capacity" });
  marks.push({ kind: "point", style: "here", r: 6, x: x(figures.acted), y: here, text: "these decisions" });
  const low = Math.min(0, Math.max(Math.min(...ends), -0.6 * Math.max(...ends, 1e-9)));
  drawChart($("share-chart"), {
    x: { low: 0, high: end, label: `share of all rows decided ${name}`, format: percent },
    y: { low, high: Math.max(...ends) * 1.12 || 1, label: `saved${page.currency ? `, ${page.currency}` : ""}` },
    marks: clip(marks, low), height: 330,
    label: `Savings by share decided ${name}: ${cash(here)} at ${percent(x(figures.acted))}, the most in hindsight about ${money(best[1], page.currency, 0)} at ${percent(x(best[0]))}`,
  });
  $("share-says").textContent = `In hindsight, going to about ${percent(x(best[0]))} of the rows would have saved most, about ${money(best[1], page.currency, 0)}. `
    + `Deciding ${name} for everybody would have ${last[1] >= 0 ? "saved" : "lost"} ${cash(Math.abs(last[1]))}.${last[1] >= 0 ? " Dashed: rows picked at random." : ""}`;
}

const at = (curve, rows) => {
  let j = curve.findIndex(([count]) => count >= rows);
  if (j <= 0) j = j < 0 ? curve.length - 1 : 1;
  const [[r0, s0], [r1, s1]] = [curve[j - 1], curve[j]];
  return s0 + ((s1 - s0) * (rows - r0)) / (r1 - r0 || 1);
};

// Lines may leave the picture at the bottom: cut them where they do.
function clip(marks, low) {
  return marks.map((mark) => {
    if (mark.kind !== "line") return mark;
    const points = [];
    for (let i = 0; i < mark.points.length; i++) {
      const [x, y] = mark.points[i];
      if (y >= low) points.push([x, y]);
      else {
        const [px, py] = mark.points[i - 1] || [x, low];
        if (py > low) points.push([px + ((x - px) * (py - low)) / (py - y), low]);
        break;
      }
    }
    return { ...mark, points };
  });
}

function showCurves(figures) {
  const curves = page.curves[state.shown];
  if (!curves) return;
  const name = page.classes[curves.class];
  showReliability(curves, name);
  if (!curves.cost_curve) return;
  const highest = Math.max(...curves.brier_curve.map(([, loss]) => loss), 1e-6);
  const threshold = constantThreshold();
  const brier = [{ kind: "line", points: curves.brier_curve }];
  if (threshold !== null) brier.push({ kind: "wall", x: threshold, text: "these prices" });
  drawChart($("brier-chart"), {
    x: { low: 0, high: 1, label: "fp / (fp + fn): the threshold" }, y: { low: 0, high: highest * 1.1, label: "loss" },
    marks: brier, height: 270, label: `Brier curve of ${name}, Brier score ${curves.brier.toPrecision(3)}`,
  });
  const point = isBinary ? figures.point : null;
  const cost = [
    { kind: "line", style: "ref", points: [[0, 0], [0.5, 0.5], [1, 0]] },
    { kind: "line", points: curves.cost_curve },
  ];
  if (point) cost.push({ kind: "point", style: "here", r: 6, x: point.pc, y: point.cost, text: "these prices" });
  drawChart($("cost-chart"), {
    x: { low: 0, high: 1, label: `share of the stakes that lies on ${name}` },
    y: { low: 0, high: Math.max(0.52, point ? point.cost * 1.08 : 0), label: "cost, as a share of the stakes" },
    marks: cost, height: 270,
    label: `Cost curve of ${name}` + (point ? `; these prices: ${point.pc.toFixed(3)}, cost ${point.cost.toFixed(3)}` : ""),
  });
}

function constantThreshold() {
  if (!isBinary || page.columnOf.some((j) => j >= 0)) return null;
  const [p, q] = [page.positive, 1 - page.positive];
  const a = state.values[q * A + p] - state.values[q * A + q];
  const b = state.values[p * A + q] - state.values[p * A + p];
  return a >= 0 && b >= 0 && a + b > 0 ? a / (a + b) : null;
}

function showReliability({ reliability }, name) {
  const { bins, log } = reliability;
  const seen = bins.flatMap(([predicted, observed]) => [predicted, observed]).filter((v) => v > 0);
  const low = log ? 10 ** Math.floor(Math.log10(Math.max(1e-6, Math.min(...seen)))) : 0;
  const marks = [{ kind: "line", style: "ref", points: [[low, low], [1, 1]] }];
  for (const [predicted, , least, most] of bins) marks.push({ kind: "interval", x: predicted, low: Math.max(least, low), high: most });
  marks.push({ kind: "line", points: bins.map(([predicted, observed]) => [predicted, Math.max(observed, low)]) });
  for (const [predicted, observed] of bins) marks.push({ kind: "point", x: predicted, y: Math.max(observed, low), r: 4 });
  const axis = { low, high: 1, log, format: percent };
  drawChart($("reliability-chart"), {
    x: { ...axis, label: `said: probability of ${name}` }, y: { ...axis, label: "were" },
    marks, height: 270, label: `Reliability of ${name} in ${bins.length} bins; the table below has the numbers`,
  });
  const lines = bins.map(([predicted, observed, least, most, count]) =>
    `<tr><td>${percent(predicted)}</td><td>${percent(observed)}</td><td>${percent(least)} to ${percent(most)}</td><td>${number(count)}</td></tr>`);
  $("reliability-table").innerHTML = `<table class="figures"><thead><tr><th scope="col">predicted</th><th scope="col">observed</th><th scope="col">95 % interval</th><th scope="col">rows</th></tr></thead><tbody>${lines.join("")}</tbody></table>`;
}

function showMatters() {
  if (!page.matters) return;
  const bars = page.matters.bars.map(([name, size]) => ({
    name, value: size, own: true,
    text: page.matters.how === "shuffled" ? cash(size) : Number(size.toPrecision(3)).toString(),
  }));
  drawBars($("matters-chart"), { bars, label: `What matters: ${bars.map((bar) => `${bar.name} ${bar.text}`).join("; ")}` });
}

// --- what equal treatment costs, and who is decided differently: computed in Python, drawn here

const points = (share) => {
  const text = withoutZeros(number(100 * share, 2));
  return `${text} point${text === "1" ? "" : "s"}`;
};

function showParity() {
  const found = page.frontier;
  if (!found || !(found.within[0] > 0)) return;
  const at = Number($("parity-at").value);
  const more = found.cost.map((cost) => cost - found.cost[0]);
  const place = (j) => -100 * found.within[j]; // the difference falls from left to right
  const [low, high] = [Math.min(0, ...more), Math.max(...more)];
  drawChart($("parity-chart"), {
    x: { low: place(0), high: 0, label: "permitted difference, points", format: (v) => short(-v) },
    y: { low, high: high * 1.15 || 1, label: `costs more${page.currency ? `, ${page.currency}` : ""}` },
    marks: [
      { kind: "line", points: more.map((value, j) => [place(j), value]) },
      { kind: "point", style: "here", r: 6, x: place(at), y: more[at], text: cash(more[at]) },
    ],
    label: `All rows cost ${cash(more[more.length - 1])} more at no difference, ${cash(more[at])} more at ${points(found.within[at])}`,
  });
  const says = `At most ${points(found.within[at])} apart`;
  $("parity-says").textContent = `${points(found.within[at])}`;
  $("parity-at").setAttribute("aria-valuetext", `${points(found.within[at])}`);
  const cells = (values) => values.map((value) => `<td>${esc(value)}</td>`).join("");
  const lines = found.groups.map((group, g) => `<tr><th scope="row">${esc(group)}</th>` + cells([
    number(found.sizes[g]), percent(found.rates[0][g]), percent(found.rates[at][g]),
    cash(found.costs[0][g]), cash(found.costs[at][g] - found.costs[0][g]),
  ]) + "</tr>");
  const all = cells([number(found.sizes.reduce((sum, n) => sum + n, 0)), "", "", cash(found.cost[0]), cash(more[at])]);
  $("parity-table").tBodies[0].innerHTML = `${lines.join("")}<tr class="own"><th scope="row">All rows</th>${all}</tr>`;
  $("parity-table").caption.textContent = says;
}

function showSwaps() {
  page.swaps.forEach((bars, j) => {
    if (!bars.length) return;
    const shown = bars.map((bar) => ({ ...bar, own: bar.value >= 0, text: money(bar.value, page.currency, 0) }));
    drawBars($(`swap-chart-${j}`), { bars: shown, label: `Saved: ${shown.map((bar) => `${bar.name} ${bar.text}`).join("; ")}` });
  });
}

// --- who is affected

function showWho(figures) {
  const group = page.who[state.group];
  if (!group) return;
  const at = page.groups.indexOf(group.name);
  const isLive = at >= 0;
  const found = isLive
    ? byGroup(report.rows, report.rows.groups[at], group.labels.length, figures.taken, figures.paid, state.action)
      .map((sums, g) => ({ label: group.labels[g], ...sums }))
    : group.opening;
  $("who-table").innerHTML = `<caption>By ${esc(group.name)}</caption>` + whoHtml(found, isLive ? state.action : page.limited);
  const words = isLive ? "Moves with the prices: the page keeps these categories row by row, because whoever made it asked for that."
    : "At the prices that this page opened with: of this column the page keeps nothing but these sums.";
  $("who-says").textContent = words;
}

function whoHtml(found, action) {
  const name = page.actions[action];
  const most = Math.max(...found.map((g) => g.hit / g.rows), 1e-9);
  const share = (part, all) => (all > 0 ? percent(part / all) : "-");
  const head = isBinary ? `<th scope="col">of the ${esc(page.classes[1 - page.positive])}</th><th scope="col">of the ${esc(page.classes[page.positive])}</th>` : "";
  const lines = found.filter((g) => g.rows > 0).map((g) => `<tr><th scope="row">${esc(g.label)}</th><td>${number(g.rows, page.digits)}</td>`
    + `<td>${share(g.hit, g.rows)}<span class="meter" aria-hidden="true"><i style="width:${f1((100 * g.hit) / g.rows / most)}%"></i></span></td>`
    + (isBinary ? `<td>${share(g.goodHit, g.good)}</td><td>${share(g.badHit, g.bad)}</td>` : "")
    + `<td>${esc(cash(g.paid))}</td><td>${esc(cash(g.paid / g.rows))}</td></tr>`);
  return `<thead><tr><th scope="col">Category</th><th scope="col">Rows</th><th scope="col">Decided ${esc(name)}</th>${head}<th scope="col">Bill</th><th scope="col">a row</th></tr></thead><tbody>${lines.join("")}</tbody>`;
}

// --- recomputing

let waiting = false;
let announcing = 0;

function schedule() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    show();
  });
}

function draw() {
  showMatters();
  showParity();
  showSwaps();
  if (!report.figures) return;
  showPolicies(report.figures);
  showShare(report.figures);
  showCurves(report.figures);
}

function show() {
  const start = performance.now();
  const figures = reprice(report.rows, state);
  report.figures = figures;
  showBill(figures);
  showConfusion(figures);
  showCapacity(figures);
  showWho(figures);
  draw();
  report.milliseconds = performance.now() - start;
  report.shown = (report.shown || 0) + 1;
  $("speed").textContent = `Last computed in ${number(report.milliseconds, 1)} ms.`;
  showScenario();
  $("reset").hidden = state.limit === null && state.values.every((v, c) => v === page.values[c]);
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    $("announce").textContent = `The bill is ${cash(figures.bill.total)}. ${headline(figures)}`;
  }, 700);
}

// Every slider goes to the price of a list: the opening one, or a scenario.
function setAll(values) {
  accept();
  if ($("tie")) $("tie").checked = tied.every((cell) => values[cell] === values[tied[0]]);
  values.forEach((value, cell) => {
    state.values[cell] = value;
    $(`v${cell}`).value = String(value);
    if (isMatrix) return;
    const range = $(`r${cell}`);
    if (value > Number(range.max)) range.max = roundUp(value);
    if (value < Number(range.min)) range.min = value;
    range.value = String(value);
  });
  if (isMatrix) choose(report.chosen);
}

function makeScenarios() {
  if (!page.scenarios.length) return;
  $("scenario-choice").hidden = false;
  $("scenario").innerHTML = page.scenarios.map((one, j) => `<option value="${j}">${esc(one.name)}</option>`).join("")
    + '<option value="" hidden>Prices of your own</option>';
  $("scenario").addEventListener("change", () => {
    setAll(page.scenarios[Number($("scenario").value)].values);
    schedule();
  });
}

function showScenario() {
  const now = page.scenarios.findIndex((one) => one.values.every((value, cell) => value === state.values[cell]));
  $("scenario").value = now < 0 ? "" : String(now);
}

function reset() {
  setAll(page.values);
  state.limit = null;
  $("limit-on").checked = false;
  schedule();
  $("prices-title").scrollIntoView({ block: "nearest" });
}

function makeChoices() {
  if (page.curves.length > 1) {
    $("class-choice").hidden = false;
    $("class").innerHTML = page.curves.map((c, j) => `<option value="${j}">${esc(page.classes[c.class])}</option>`).join("");
    $("class").addEventListener("change", () => {
      state.shown = Number($("class").value);
      showCurves(report.figures);
    });
  }
  if ($("parity-at")) {
    $("parity-choice").hidden = false;
    $("parity-at").addEventListener("input", showParity);
  }
  if ($("who")) {
    $("who-choice").hidden = page.who.length < 2;
    $("who").addEventListener("change", () => {
      state.group = Number($("who").value);
      showWho(report.figures);
    });
  }
}

// What does not fit says so: tables by a hint that they scroll; prices taller than the window do not
// stick to it, or their end could not be reached.
function fit() {
  for (const table of document.querySelectorAll(".scroll")) {
    table.classList.toggle("more", table.scrollWidth > table.clientWidth + 1);
  }
  const panel = document.querySelector(".prices");
  $("bill-section").classList.toggle("tall", panel.offsetHeight > innerHeight - 70);
}

function redrawOnResize() {
  let width = document.body.clientWidth;
  const sizes = new ResizeObserver(() => requestAnimationFrame(() => {
    fit();
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    widths.clear();
    draw();
  }));
  for (const part of document.querySelectorAll("body, .prices, .scroll, .scroll > table")) sizes.observe(part);
  addEventListener("resize", fit);
  fit();
}

async function open() {
  document.querySelector("form.prices").addEventListener("submit", (event) => event.preventDefault());
  makeTools();
  draw();
  report.rows = readRows(page, await inflate($("rows").textContent));
  makeControls();
  makeScenarios();
  makeChoices();
  show();
  makeCapacity();
  $("reset").addEventListener("click", reset);
  redrawOnResize();
  report.reprice = (asked) => {
    const { taken, paid, ...figures } = reprice(report.rows, { ...state, ...asked });
    const found = { ...figures, taken: taken.slice(), paid: paid.slice() };
    report.figures = reprice(report.rows, state); // what the page shows
    return found;
  };
  report.ready = true;
}

open().catch((error) => {
  $("broken").hidden = false;
  $("broken").textContent = "This browser could not read the rows of the page, so prices cannot be moved; the figures are "
    + `those of the prices that it opens with. (${error.message}) Any browser from 2023 on can.`;
  throw error;
});
