/* The adjudicator's keys: those of the options, Enter to decide, arrows through the queue, H to hide or show names. */

import { Questions } from "./annotate-questions.js";

const page = document.querySelector("[data-adjudicate]");
const form = page.querySelector("[data-answers]");
const questions = form && new Questions(page);

for (const hint of document.querySelectorAll(".for-scripts")) hint.hidden = false;

form?.addEventListener("input", (event) => {
  const question = event.target.closest("[data-question]");
  if (!question) return;
  if (event.target.matches("[type=radio], [type=checkbox]")) questions.moveOn(question);
  else questions.update();
});

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "Enter" && event.ctrlKey) return void form?.requestSubmit();
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches("textarea, select, input:not([type=radio], [type=checkbox])")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (press(event.key, target)) event.preventDefault();
});

/** What a key does outside text fields; whether it did anything. An option's key goes before the page's own. */
function press(key, target) {
  const letter = key.length === 1 ? key.toLowerCase() : key;
  if ((letter.length === 1 || key === "Backspace") && questions?.press(letter)) return true;
  if (key === "Enter" && !target.closest("a, button, summary")) {
    form?.requestSubmit();
    return Boolean(form);
  }
  if (letter === "t" && questions) {
    const field = questions.nextText();
    field?.focus();
    return Boolean(field);
  }
  const link = document.querySelector(`[data-key="${CSS.escape(letter)}"]`);
  link?.click();
  return Boolean(link);
}
