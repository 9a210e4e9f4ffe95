/* Lets the style guide show a toast. */

document.querySelector("[data-toast-example]")?.addEventListener("click", () => {
  const detail = { text: "Saved", level: "success" };
  document.body.dispatchEvent(new CustomEvent("toast", { detail }));
});
