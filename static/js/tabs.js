/* Turns links to sections of the page into tabs. Without this, every section shows and the links jump to them. */

function select(tabs, chosen, { focus = false } = {}) {
  for (const tab of tabs) {
    const on = tab === chosen;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    document.querySelector(tab.hash).hidden = !on;
  }
  if (focus) chosen.focus();
}

function step(tabs, current, key) {
  const forward = document.documentElement.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
  const index = tabs.indexOf(current);
  if (key === "Home") return tabs[0];
  if (key === "End") return tabs.at(-1);
  return tabs.at((index + (key === forward ? 1 : -1)) % tabs.length);
}

function enhance(root) {
  const list = root.querySelector(".tab-list");
  const tabs = [...list.querySelectorAll('a[href^="#"]')];
  list.setAttribute("role", "tablist");
  for (const tab of tabs) {
    const panel = document.querySelector(tab.hash);
    tab.id ||= `tab-${panel.id}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", tab.hash);
      select(tabs, tab);
    });
    tab.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
      event.preventDefault();
      select(tabs, step(tabs, tab, event.key), { focus: true });
    });
  }
  select(tabs, tabs.find((tab) => tab.hash === location.hash) ?? tabs[0]);
}

document.querySelectorAll("[data-tabs]").forEach(enhance);
