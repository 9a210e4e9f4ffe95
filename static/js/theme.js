/* The reader's choice of light or dark, kept in this browser. Without it the system's wish holds. */

const KEY = "theme";
const root = document.documentElement;

function stored() {
  try {
    return localStorage.getItem(KEY) ?? "auto";
  } catch {
    return "auto"; // storage may be switched off
  }
}

function apply(theme) {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  else delete root.dataset.theme;
}

function choose(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // the choice then holds for this page only
  }
  apply(theme);
  root.dispatchEvent(new CustomEvent("themechange"));
}

apply(stored());

for (const select of document.querySelectorAll("[data-theme-switch]")) {
  select.value = stored();
  select.closest("[hidden]")?.removeAttribute("hidden");
  select.addEventListener("change", () => choose(select.value));
}
