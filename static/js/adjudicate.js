/* The adjudicator's keys: those of the options, then the page's own, which the page lists by "?". */

import { answersBy, nameOf, onKeys, write } from "./answer-keys.js";
import { Questions } from "./annotate-questions.js";

const page = document.querySelector("[data-adjudicate]");
const form = page.querySelector("[data-answers]");
const questions = form && new Questions(page);

const undecided = watch(form);

showHints();
addEventListener("beforeunload", (event) => undecided() && event.preventDefault());
document.addEventListener("htmx:afterSwap", () => {
  showHints();
  keepNames();
});

form?.addEventListener("input", (event) => {
  const question = event.target.closest("[data-question]");
  if (!question) return;
  if (event.target.matches("[type=radio], [type=checkbox]")) questions.moveOn(question);
  else questions.update();
});

onKeys({ form: () => form, press });

/** What a key does outside text fields; whether it did anything. An option's key goes before the page's own. */
function press(key, target) {
  const letter = nameOf(key);
  if (questions && answersBy(questions, letter)) return true;
  if (key === "Enter" && !target.closest("a, button, summary")) {
    if (questions?.goOn()) return true;
    form?.requestSubmit();
    return Boolean(form);
  }
  if (letter === "t" && questions) return write(questions);
  if (letter === "g" && form) {
    form.querySelector("[data-note-text]").focus();
    return true;
  }
  const link = document.querySelector(`[data-key="${CSS.escape(letter)}"]`);
  link?.click();
  return Boolean(link);
}

function showHints() {
  for (const hint of document.querySelectorAll(".for-scripts")) hint.hidden = false;
}

/** Names that were shown or hidden without leaving the page stay so for the next item. */
function keepNames() {
  const names = new URLSearchParams(location.search).get("names");
  for (const way of document.querySelectorAll("[data-queue]")) {
    const attribute = way.matches("form") ? "action" : "href";
    const address = new URL(way.getAttribute(attribute), location);
    if (names) address.searchParams.set("names", names);
    else address.searchParams.delete("names");
    way.setAttribute(attribute, address);
  }
}

/** A function that says whether the form has what leaving the page would lose. */
function watch(form) {
  if (!form) return () => false;
  const given = () => new URLSearchParams(new FormData(form)).toString();
  const drawn = "refused" in form.dataset ? null : given();
  let sending = false;
  form.addEventListener("submit", () => (sending = true));
  return () => !sending && given() !== drawn;
}
