// What every page has: colours, paper, and a drawing that follows the width. A page says how to `draw`.

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
