// Numbers as text, and small pictures as SVG; colours come from the style sheet by class.

const esc = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function number(value, digits = 0) {
  const fixed = Math.abs(value).toFixed(digits);
  const [whole, part] = fixed.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const sign = value < 0 && /[1-9]/.test(fixed) ? "-" : "";
  return sign + grouped + (part ? "." + part : "");
}

function money(value, currency, digits = 2) {
  const text = number(Math.abs(value), digits);
  const sign = value < 0 && /[1-9]/.test(text) ? "-" : "";
  return sign + currency + (/\p{L}$/u.test(currency) ? " " : "") + text;
}

const withoutZeros = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

// Two digits, or all before the point.
function percent(share) {
  if (!Number.isFinite(share)) return "-";
  const value = 100 * share;
  const size = Math.abs(value);
  if (value >= 99 && value < 100) return `${withoutZeros(number(Math.min(value, 99.9), 1))} %`;
  const decimals = size >= 10 || !size ? 0 : Math.min(20, 1 - Math.floor(Math.log10(size)));
  return `${withoutZeros(number(value, decimals))} %`;
}

// --- axes

function niceTicks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) {
    ticks.push(Math.abs(v) < step / 1e6 ? 0 : v);
  }
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) ticks.push(10 ** e);
  return ticks;
}

const short = (value) => {
  const size = Math.abs(value);
  if (size >= 1e6) return number(value / 1e6, size >= 1e7 || value % 1e6 === 0 ? 0 : 1) + "M";
  if (size >= 1e4) return number(value / 1e3, value % 1e3 === 0 ? 0 : 1) + "k";
  return number(value, size && size < 1 ? Math.min(6, 1 - Math.floor(Math.log10(size) + 1e-9)) : value % 1 ? 1 : 0)
    .replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
};

const f1 = (v) => v.toFixed(1);

// On paper charts are as wide as they will be printed, so that their letters keep their size.
let isPrinting = false;
const widths = new Map(); // asked once: asking makes the browser lay out the page
const widthOf = (element) => {
  if (isPrinting) return element.closest(".three") ? 330 : element.closest(".results") ? 470 : 690;
  if (!widths.has(element)) widths.set(element, Math.max(280, element.clientWidth || 640));
  return widths.get(element);
};

// A chart of marks: {kind: "line" | "point" | "wall" | "interval", ...}, in the units of its axes.
function drawChart(element, { x, y, marks, height = 300, label }) {
  const width = widthOf(element);
  const box = { left: 56, right: 14, top: 26, bottom: 44 };
  const scale = (axis, from, to) => {
    const place = axis.log ? Math.log10 : (v) => v;
    const [low, high] = [place(axis.low), place(axis.high)];
    return (v) => from + ((place(axis.log ? Math.max(v, axis.low) : v) - low) / (high - low || 1)) * (to - from);
  };
  const X = scale(x, box.left, width - box.right);
  const Y = scale(y, height - box.bottom, box.top);
  const parts = [];
  const ticksOf = (axis, count) => axis.log ? logTicks(axis.low, axis.high) : niceTicks(axis.low, axis.high, count);
  for (const v of ticksOf(y, 5)) {
    parts.push(`<line class="grid" x1="${box.left}" x2="${width - box.right}" y1="${f1(Y(v))}" y2="${f1(Y(v))}"/>`);
    parts.push(`<text x="${box.left - 7}" y="${f1(Y(v) + 4)}" text-anchor="end">${esc((y.format || short)(v))}</text>`);
  }
  const room = Math.max(2, Math.floor((width - 70) / 80));
  for (const v of ticksOf(x, room)) {
    parts.push(`<text x="${f1(X(v))}" y="${height - box.bottom + 17}" text-anchor="middle">${esc((x.format || short)(v))}</text>`);
  }
  parts.push(`<line class="axis" x1="${box.left}" x2="${width - box.right}" y1="${height - box.bottom}" y2="${height - box.bottom}"/>`);
  parts.push(`<text x="${f1((box.left + width - box.right) / 2)}" y="${height - 8}" text-anchor="middle">${esc(cut(x.label, (width - 42) / 6.2))}</text>`);
  parts.push(`<text x="${box.left - 50}" y="12" text-anchor="start">${esc(y.label)}</text>`);
  for (const mark of marks) parts.push(drawMark(mark, X, Y, width, height, box));
  element.innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${esc(label)}">${parts.join("")}</svg>`;
}

function drawMark(mark, X, Y, width, height, box) {
  if (mark.kind === "line") {
    const path = mark.points.map(([a, b]) => `${f1(X(a))},${f1(Y(b))}`).join(" ");
    return `<polyline class="${mark.style || "line"}" points="${path}"/>`;
  }
  if (mark.kind === "wall") {
    const at = f1(X(mark.x));
    return `<line class="wall" x1="${at}" x2="${at}" y1="${box.top}" y2="${height - box.bottom}"/>`
      + `<text class="ink" x="${at}" y="${box.top + 10}" dx="5">${esc(mark.text || "")}</text>`;
  }
  if (mark.kind === "interval") {
    const at = f1(X(mark.x));
    return `<line class="whisker" x1="${at}" x2="${at}" y1="${f1(Y(mark.low))}" y2="${f1(Y(mark.high))}"/>`;
  }
  const [cx, cy] = [X(mark.x), Y(mark.y)];
  const right = cx > width * 0.62;
  const text = mark.text
    ? `<text class="ink" x="${f1(cx)}" y="${f1(Math.max(cy - 11, 22))}" dx="${right ? -8 : 8}" text-anchor="${right ? "end" : "start"}">${esc(mark.text)}</text>` : "";
  return `<circle class="${mark.style || "dot"}" cx="${f1(cx)}" cy="${f1(cy)}" r="${mark.r || 4.5}"/>${text}`;
}

// Bars from the left, with their names before or above them and a number behind; low and high are
// whiskers.
function drawBars(element, { bars, label }) {
  const width = widthOf(element);
  const longest = Math.max(...bars.map((bar) => bar.name.length)) * 7;
  const isWide = width >= 560 || longest < 0.3 * width;
  const left = isWide ? Math.min(longest + 10, 0.4 * width) : 2;
  const size = isWide ? 28 : 44;
  const ends = bars.flatMap((bar) => [bar.value, bar.low ?? bar.value, bar.high ?? bar.value, 0]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = Math.max(...bars.map((bar) => bar.text.length)) * 7.2 + 14;
  const X = (v) => left + ((v - low) / (high - low || 1)) * (width - left - room);
  const parts = bars.map((bar, j) => {
    const y = j * size + (isWide ? 5 : 21); // the upper edge of the bar
    const [from, to] = [X(Math.min(bar.value, 0)), X(Math.max(bar.value, 0))];
    const [least, most] = [bar.low ?? bar.value, bar.high ?? bar.value].map((v) => f1(X(v)));
    const whisker = bar.high === undefined ? ""
      : `<path class="whisker" d="M${least} ${y + 8}H${most}M${least} ${y + 4}v8M${most} ${y + 4}v8"/>`;
    const name = isWide ? `<text class="name" x="${left - 10}" y="${y + 12.5}" text-anchor="end">`
      : `<text class="name" x="2" y="${y - 6}">`;
    return `${name}${esc(cut(bar.name, isWide ? (left - 10) / 6.4 : width / 7))}</text>`
      + `<rect class="bar ${bar.own ? "own" : ""}" x="${f1(from)}" y="${y}" width="${f1(Math.max(to - from, 1))}" height="16" rx="2"/>`
      + whisker
      + `<text class="ink" x="${f1(Math.max(to, X(bar.high ?? bar.value)) + 8)}" y="${y + 12.5}">${esc(bar.text)}</text>`;
  });
  element.innerHTML = `<svg viewBox="0 0 ${width} ${bars.length * size + 4}" role="img" aria-label="${esc(label)}">${parts.join("")}</svg>`;
}

const cut = (text, length) => (text.length <= length ? text : text.slice(0, Math.max(3, length - 3)) + "...");

// ---- What every page has: colours, paper. A page says how to `draw`.

const $ = (id) => document.getElementById(id);

function makeTools() {
  document.querySelector(".tools").hidden = false;
  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const name = () => {
    $("theme").textContent = isDark() ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", isDark() ? "Switch to light colours" : "Switch to dark colours");
    $("theme").setAttribute("aria-pressed", String(isDark()));
  };
  $("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  $("print").addEventListener("click", () => window.print());
  // On paper everything is open.
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not([open], .extra)")) {
      part.open = true;
      closed.push(part);
    }
    isPrinting = true;
    draw();
  });
  addEventListener("afterprint", () => {
    for (const part of closed.splice(0)) part.open = false;
    isPrinting = false;
    draw();
  });
}
