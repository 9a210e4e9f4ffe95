/* Short words about something that just went well; they leave by themselves unless they are warnings or errors. */

const STAY = 5000; // milliseconds
const region = document.getElementById("toasts");

function show({ text, level = "info" }) {
  const toast = document.createElement("div");
  toast.className = `toast toast-${level}`;
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => toast.remove());
  toast.append(words, close);
  region.append(toast);
  if (level === "info" || level === "success") setTimeout(() => toast.remove(), STAY);
}

document.body.addEventListener("toast", (event) => show(event.detail));
