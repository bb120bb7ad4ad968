// Prices and capacity as controls: what the user moves. They write to `state` and ask for figures.

const page = JSON.parse($("page").textContent);
const cash = (value) => money(value, page.currency);
const A = page.actions.length;
const K = page.classes.length;
const [classOrder, actionOrder] = page.order; // numbers, as they are shown
const isBinary = page.positive !== null;
const state = { values: page.values.slice(), action: page.limited, limit: null, group: 0, shown: 0 };
const report = { page, state, rows: null, figures: null, milliseconds: 0 };
window.costboostReport = report;

// --- prices as controls

const cellName = (k, a) => {
  const taken = `${page.classes[k]}, decided ${page.actions[a]}`;
  if (!isBinary) return { head: page.actions[a], of: `where the truth is ${page.classes[k]}` };
  const head = k === page.positive
    ? (a === k ? "True positive" : "False negative") : (a === k ? "True negative" : "False positive");
  return { head, of: taken };
};

const columnWords = (cell) => {
  const column = page.columns[page.columnOf[cell]];
  return `\u00d7 ${column.name || "its own price"}: ${cash(column.low)} to ${cash(column.high)}, on average ${cash(column.mean)}`;
};

function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].find((m) => m * power >= value * 0.999999) * power;
}

// The largest of the opening prices; of a column, its mean.
const largest = () => Math.max(...page.values.map((value, cell) => {
  const j = page.columnOf[cell];
  return Math.abs(j < 0 ? value : value * page.columns[j].mean);
}));

// A slider runs from nothing to four times the opening price; what is free, as far as the others.
function reach(cell) {
  if (page.columnOf[cell] >= 0) return { low: 0, high: 4, step: 0.05 };
  const high = roundUp(page.values[cell] ? 4 * Math.abs(page.values[cell]) : largest() || 1);
  return { low: page.benefits ? -high : 0, high, step: high / 200 };
}

function controlHtml(cell) {
  const name = cellName(Math.floor(cell / A), cell % A);
  const isColumn = page.columnOf[cell] >= 0;
  const { low, high, step } = reach(cell);
  const extra = isColumn ? `<span class="of">${esc(columnWords(cell))}</span>` : "";
  const sign = isColumn ? "\u00d7" : page.currency;
  return `<div class="price"><label for="v${cell}">${esc(name.head)}<span class="of">${esc(name.of)}</span>${extra}</label>
    <span class="pair"><input type="range" id="r${cell}" min="${low}" max="${high}" step="${step}" value="${page.values[cell]}" aria-label="${esc(`${name.head}, slider`)}">
    <span class="sign" aria-hidden="true">${esc(sign)}</span><input type="number" id="v${cell}" step="any" ${low < 0 ? "" : 'min="0"'} value="${page.values[cell]}"></span></div>`;
}

// Few cells get a slider each; many stand as the matrix, and one slider moves the chosen one.
function matrixHtml() {
  const head = actionOrder.map((a) => `<th scope="col">${esc(page.actions[a])}</th>`).join("");
  const lines = classOrder.map((k) => `<tr><th scope="row">${esc(page.classes[k])}</th>` + actionOrder.map((a) => {
    const cell = k * A + a;
    const words = `${cellName(k, a).head} ${cellName(k, a).of}${page.columnOf[cell] >= 0 ? ", " + columnWords(cell) : ""}`;
    return `<td>${page.columnOf[cell] >= 0 ? "\u00d7 " : ""}<input type="number" step="any" id="v${cell}" value="${page.values[cell]}" title="${esc(words)}" aria-label="${esc(words)}"></td>`;
  }).join("") + "</tr>");
  return `<div class="scroll" tabindex="0" role="region" aria-label="Prices by truth and decision"><table class="cells"><caption>Truth down, decision across</caption><thead><tr><td></td>${head}</tr></thead><tbody>${lines.join("")}</tbody></table></div>
    <div class="price"><label for="chosen">Chosen cell<span class="of" id="chosen-name"></span></label><span class="pair"><input type="range" id="chosen"></span></div>`;
}

const isMatrix = $("bill-section").classList.contains("wide");
// The price of an action whatever the truth (an investigation) is one price in two cells.
const tied = isBinary && (() => {
  const [fp, tp] = [(1 - page.positive) * A + page.positive, page.positive * A + page.positive];
  const same = page.values[fp] === page.values[tp] && page.columnOf[fp] === page.columnOf[tp];
  return same && (page.values[fp] !== 0) ? [fp, tp] : null;
})();

function makeControls() {
  const order = classOrder.flatMap((k) => actionOrder.map((a) => k * A + a));
  if (isBinary) {
    const [p, q] = [page.positive, 1 - page.positive];
    order.splice(0, 4, q * A + p, p * A + q, p * A + p, q * A + q); // fp fn tp tn
  }
  $("controls").innerHTML = isMatrix ? matrixHtml() : order.map((cell) => controlHtml(cell)
    + (tied && cell === tied[0] ? `<label class="check small"><input type="checkbox" id="tie" checked> keep equal to true positive</label>` : "")).join("");
  for (const cell of order) {
    $(`v${cell}`).addEventListener("input", (event) => {
      const value = event.target.valueAsNumber; // not a number while nothing is written
      if (value < 0 && !page.benefits) refuse(event.target, `A price is not below 0: the bill is that of ${state.values[cell]}.`);
      else if (Number.isFinite(value)) setValue(cell, value, event.target);
    });
    settle($(`v${cell}`), () => state.values[cell]);
    if (!isMatrix) $(`r${cell}`).addEventListener("input", (event) => setValue(cell, event.target.valueAsNumber, event.target));
    else $(`v${cell}`).addEventListener("focus", () => choose(cell));
  }
  if (isMatrix) {
    $("chosen").addEventListener("input", (event) => setValue(report.chosen, event.target.valueAsNumber, event.target));
    choose(order.find((cell) => page.values[cell] !== 0) ?? 0);
  }
}

function choose(cell) {
  report.chosen = cell;
  const name = cellName(Math.floor(cell / A), cell % A);
  $("chosen-name").textContent = `${name.head} ${name.of}` + (page.columnOf[cell] >= 0 ? `, ${columnWords(cell)}` : "");
  const { low, high, step } = reach(cell);
  Object.assign($("chosen"), { min: low, max: Math.max(high, state.values[cell]), step });
  $("chosen").value = state.values[cell];
}

// A number that cannot be is refused aloud, beside where it was typed; whoever leaves the field finds
// there again what the page reckons with.
function refuse(source, words) {
  source.setAttribute("aria-invalid", "true");
  let says = $("refused");
  if (!says) {
    says = Object.assign(document.createElement("p"), { id: "refused", className: "small refused" });
    says.setAttribute("role", "alert");
  }
  (source.closest(".pair, .limit, .scroll") || source).after(says);
  says.textContent = words;
}

function accept() {
  $("refused")?.remove();
  document.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
}

function settle(field, current) {
  field.addEventListener("change", () => {
    if (!field.hasAttribute("aria-invalid") && field.value !== "") return;
    field.value = String(current());
    field.removeAttribute("aria-invalid");
  });
}

function setValue(cell, value, source) {
  accept();
  const cells = tied && tied.includes(cell) && $("tie") && $("tie").checked ? tied : [cell];
  for (const one of cells) {
    state.values[one] = value;
    const [box, range] = [$(`v${one}`), isMatrix ? (one === report.chosen ? $("chosen") : null) : $(`r${one}`)];
    if (box !== source) box.value = String(value);
    if (range && range !== source) {
      if (value > Number(range.max)) range.max = roundUp(value);
      if (value < Number(range.min)) range.min = value;
      range.value = String(value);
    }
  }
  schedule();
}

// --- capacity

function makeCapacity() {
  if (report.rows.decided || A < 2) return;
  $("capacity").hidden = false;
  const isChoice = !isBinary;
  $("limit-action-label").hidden = !isChoice;
  $("limit-action").innerHTML = actionOrder.map((a) => `<option value="${a}">${esc(page.actions[a])}</option>`).join("");
  $("limit-action").value = String(state.action);
  const start = Math.max(1, Math.round(report.figures.acted / page.periods / 2));
  $("limit-range").max = String(Math.max(2, roundUp(Math.max(1, (report.figures.acted / page.periods) * 1.5))));
  $("limit").value = $("limit-range").value = String(start);
  const words = () => {
    const which = isChoice ? "decisions" : `decisions for ${page.actions[state.action]}`;
    $("limit-words").textContent = `${which} ${page.period ? `in each ${page.period}` : "in all"}`;
  };
  const read = (event) => {
    const count = Math.floor(event.target.valueAsNumber); // not a number while nothing is written
    if (count < 0) refuse(event.target, "A capacity is not below 0: it stays as it was.");
    if (!(count >= 0)) return;
    accept();
    for (const other of [$("limit"), $("limit-range")]) {
      if (other !== event.target) {
        if (other.type === "range" && count > Number(other.max)) other.max = String(count);
        other.value = String(count);
      }
    }
    $("limit-on").checked = true;
    update();
  };
  const update = () => {
    state.action = isChoice ? Number($("limit-action").value) : state.action;
    state.limit = $("limit-on").checked ? Math.max(0, Math.floor($("limit").valueAsNumber || 0)) : null;
    words();
    schedule();
  };
  $("limit").addEventListener("input", read);
  settle($("limit"), () => state.limit ?? start);
  $("limit-range").addEventListener("input", read);
  $("limit-on").addEventListener("change", update);
  $("limit-action").addEventListener("change", update);
  words();
}

function showCapacity(figures) {
  if (report.rows.decided) return;
  const words = [];
  if (state.limit !== null) {
    const more = figures.bill.total - figures.unlimited;
    words.push(`${number(figures.acted)} are taken. The limit ${more >= 0 ? "costs" : "happens to save"} ${cash(Math.abs(more))} on these rows.`);
    words.push(figures.nextSaves > 0
      ? `One more place${page.period ? ` in each ${page.period}` : ""} is expected to save ${cash(figures.nextSaves)}.`
      : "More places would not be used.");
  } else {
    words.push(`Without a limit, ${number(figures.acted)} are taken${page.periods > 1 ? `, ${number(figures.acted / page.periods, 1)} in each ${page.period}` : ""}.`);
  }
  $("limit-says").textContent = words.join(" ");
}

