/* Small courtesies of the shell: menus that close, copy buttons, focus on the error summary, the current section in sight. */

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (menu !== except) menu.open = false;
  }
}

document.addEventListener("click", (event) => {
  closeMenus(event.target.closest("details[data-menu]"));
  const copy = event.target.closest("[data-copy]");
  if (copy) copyText(copy);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details[data-menu][open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

async function copyText(button) {
  const source = document.querySelector(button.dataset.copy);
  await navigator.clipboard.writeText((source.value ?? source.textContent).trim());
  const detail = { text: "Copied", level: "success" };
  document.body.dispatchEvent(new CustomEvent("toast", { detail }));
}

for (const button of document.querySelectorAll("[data-copy][hidden]")) {
  button.hidden = !navigator.clipboard;
}

document.querySelector("[data-error-summary]")?.focus();
document.querySelector(".shell-nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
