/* A link or button with data-dialog="id" opens that dialog; without this, the link leads to a page that asks the same. */

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (!opener) return;
  event.preventDefault();
  document.getElementById(opener.dataset.dialog).showModal();
});
