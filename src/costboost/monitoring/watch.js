// Pictures of the periods; every figure stands in the tables, too.

const page = JSON.parse($("page").textContent);

const span = (lists) => {
  const all = lists.flat().filter((v) => v !== null);
  return [Math.min(0, ...all), Math.max(1e-12, ...all) * 1.08];
};

// A line for each stretch of periods of which there are values.
const lines = (values, style) => {
  const found = [[]];
  values.forEach((v, i) => {
    if (v === null) found.push([]);
    else found[found.length - 1].push([i, v]);
  });
  return found.filter((points) => points.length > 0).map((points) => ({ kind: "line", points, style }));
};

const walls = () => page.walls.map(([i, text]) => ({ kind: "wall", x: i, text }));

function show(id, series, title, label) {
  const [low, high] = span(series.map(([values]) => values));
  const last = page.names.length - 1;
  drawChart($(id), {
    x: { low: 0, high: Math.max(1, last), label: "Period", format: (v) => (v % 1 ? "" : page.names[v] ?? "") },
    y: { low, high, label: title },
    marks: [...walls(), ...series.flatMap(([values, style]) => lines(values, style))],
    label,
  });
}

function draw() {
  show("bill-chart", [[page.expected, "ref"], [page.paid, "line"]], page.money, "Expected and paid bill by period");
  show("class-chart", [[page.classExpected, "ref"], [page.classSeen, "line"]], "Rows", "Expected and seen rows by period");
  show("wealth-chart", [[page.limit, "ref"], [page.wealth, "line"]], "Evidence, powers of ten", "Evidence against no change, by period");
}

function open() {
  makeTools();
  draw();
  const fit = () => {
    for (const table of document.querySelectorAll(".scroll")) {
      table.classList.toggle("more", table.scrollWidth > table.clientWidth + 1);
    }
  };
  fit();
  let width = document.body.clientWidth;
  addEventListener("resize", () => {
    fit();
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    widths.clear();
    draw();
  });
  window.costboostWatch = { ready: true };
}

open();
