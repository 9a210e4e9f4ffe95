/* The annotator's page: keys, drafts, and the next item in the answer to each submit. Without it the forms work as forms. */

import { answersBy, nameOf, onKeys, write } from "./answer-keys.js";
import { Keys } from "./annotate-keys.js";
import { Questions } from "./annotate-questions.js";
import { Sender, drawKey, formBody, refill } from "./annotate-send.js";

const DRAFT_PAUSE = 400; // milliseconds after the last change of a text; choices are saved at once
const frame = document.querySelector("[data-work-frame]");
const notice = frame.querySelector("[data-work-notice]");
const sender = new Sender(frame);
const keys = new Keys({
  dialog: document.getElementById("keys"),
  person: sender.person,
  taken: (key) => [...frame.querySelectorAll("[data-hotkey]")].some((option) => option.dataset.hotkey === key),
});
const back = new BroadcastChannel("logged in again");
let questions;
let undoNext = false; // undo was asked for while a submit was on its way
let looked = 0; // milliseconds with the item before the person, until it was last hidden
let lookingSince = 0;
let busy = false;
let draftTimer = 0;
let drafting = Promise.resolve();
let leaving = false; // the next page may be drawn before a draft arrives whose answer this page still gets

const work = () => frame.querySelector("[data-work]");
const answers = () => frame.querySelector("[data-answers]");

function ready() {
  for (const hint of document.querySelectorAll(".for-scripts")) hint.hidden = false;
  const unsaved = sender.unsaved;
  if (unsaved && unsaved.url === work().dataset.draftUrl) {
    refill(answers(), unsaved.body);
    scheduleDraft(0);
  }
  questions = new Questions(work());
  keys.show();
  [looked, lookingSince] = [0, performance.now()];
}

function show({ text, url }) {
  forgetTimer();
  tell("");
  work().outerHTML = text;
  if (url) history.replaceState(null, "", url);
  const guidelines = work().querySelector("[data-new-guidelines]");
  if (guidelines) document.querySelector("#guidelines [data-guidelines]")?.replaceChildren(...guidelines.cloneNode(true).children);
  ready();
  const summary = work().querySelector("[data-error-summary]");
  (summary ?? work()).focus({ preventScroll: true });
  if (work().getBoundingClientRect().top < 0) frame.scrollIntoView();
}

function tell(sentence, { login = false } = {}) {
  notice.replaceChildren();
  notice.hidden = !sentence;
  if (!sentence) return;
  const words = document.createElement("p");
  words.textContent = sentence;
  if (login) {
    const link = document.createElement("a");
    Object.assign(link, { href: sender.loginUrl, target: "_blank", textContent: "Log in in a new tab" });
    words.append(" ", link, ", then come back here.");
  }
  notice.append(words);
}

function explain(result, { kept }) {
  if (result.state === "login") tell(`${result.text || "Your login has ended."} ${kept}`, { login: true });
  else if (result.state === "offline") tell(`The server cannot be reached. ${kept}`);
  else tell(result.text && result.status === 409 ? result.text : "The server refused this. Reload the page; what you typed is saved as far as the mark said.");
}

async function go(url, body) {
  if (busy) return;
  busy = true;
  await flushDraft();
  const result = await sender.fetch(url, { body });
  busy = false;
  if (result.state === "ok") show(result);
  else explain(result, { kept: "Stay on this page; your answers are still here." });
}

async function submit(form) {
  if (busy) return;
  const started = performance.now();
  forgetTimer();
  busy = true;
  await drafting; // a draft on its way must not arrive after its own submit
  const body = formBody(form);
  body.set("seconds", ((looked + started - lookingSince) / 1000).toFixed(2));
  sender.keep(form.action, body);
  sender.dropDraft();
  await deliver();
  busy = false;
  performance.measure("next-item", { start: started, end: performance.now() });
  if (undoNext) press(keys.all.undo, document.body);
  undoNext = false;
}

async function deliver() {
  const result = await sender.flush();
  if (!result) return;
  if (result.state === "ok") show(result);
  else if (result.state === "refused") explain(result, { kept: "" });
  else {
    explain(result, { kept: "Your answers are kept on this device and sent again by themselves." });
    sender.later(retry);
  }
}

async function retry() {
  if (busy || !sender.waiting.length) return;
  busy = true;
  await deliver();
  busy = false;
}

/** Somebody logged in again in another tab. */
function resume(person) {
  if (person !== sender.person) return tell("Somebody else is logged in now. Your answers are kept on this device.", { login: true });
  if (sender.unsaved && answers()) scheduleDraft(0);
  retry();
}

function scheduleDraft(pause) {
  leaving = false;
  forgetTimer();
  sender.keepDraft(work().dataset.draftUrl, formBody(answers()));
  draftTimer = setTimeout(flushDraft, pause);
}

function forgetTimer() {
  clearTimeout(draftTimer);
  draftTimer = 0;
}

function flushDraft() {
  if (!draftTimer) return drafting;
  forgetTimer();
  const [url, body] = [work().dataset.draftUrl, formBody(answers())];
  drafting = drafting.then(() => sendDraft(url, body));
  return drafting;
}

async function sendDraft(url, body) {
  const result = await sender.fetch(url, { body, outlive: true });
  if (result.state === "ok" && !leaving) sender.dropDraft(body);
  if (work().dataset.draftUrl !== url) return;
  if (result.state === "ok") {
    if (!sender.waiting.length) tell("");
    if (!sender.unsaved) saved();
  } else {
    explain(result, { kept: "What you typed is still here and is saved when you go on." });
  }
}

/** The page goes: nothing can wait for the draft before this one. Should they arrive the wrong way round, the tab still
 *  has the later one and sends it again when the page comes back. */
function lastDraft() {
  const url = work().dataset.draftUrl;
  if (!url || sender.unsaved?.url !== url) return;
  forgetTimer();
  sendDraft(url, formBody(answers()));
}

/** The word comes and goes with the server's answer. */
function saved() {
  const mark = frame.querySelector("[data-saved]");
  mark.textContent = "Saved";
  mark.classList.remove("saved-now");
  void mark.offsetWidth; // restarts the animation
  mark.classList.add("saved-now");
}

function changed() {
  const mark = frame.querySelector("[data-saved]");
  mark.textContent = "";
  mark.classList.remove("saved-now");
}

async function note(form) {
  if (busy) return;
  busy = true;
  await flushDraft();
  const result = await sender.fetch(form.action, { body: formBody(form) });
  busy = false;
  if (result.state === "ok") show(result);
  else {
    form.closest("dialog").close();
    explain(result, { kept: "Your note was not sent; open the dialog again to send it." });
  }
}

frame.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-answers], [data-note], [data-read]")) return;
  event.preventDefault();
  if (form.matches("[data-read]")) go(form.action, formBody(form));
  else if (form.matches("[data-note]")) note(form);
  else submit(form);
});

frame.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-go]");
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.href);
});

frame.addEventListener("input", (event) => {
  if (!event.target.closest("[data-answers]")) return;
  const question = event.target.closest("[data-question]");
  const option = event.target.matches("[type=radio], [type=checkbox]");
  if (option) questions.moveOn(question);
  else questions.update();
  changed();
  answers().elements.key.value = drawKey(); // a key belongs to what is sent under it
  scheduleDraft(option ? 0 : DRAFT_PAUSE);
});

frame.addEventListener("focusin", (event) => {
  const question = questions.having(event.target);
  if (question && event.target.matches(":focus-visible, [data-marked]")) questions.turnTo(question);
});

frame.addEventListener("focusout", (event) => {
  if (event.target.matches("[data-marked]")) questions.turnTo(null);
});

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    lookingSince = performance.now();
    return;
  }
  looked += performance.now() - lookingSince;
  flushDraft();
});
window.addEventListener("beforeunload", () => (leaving = true));
window.addEventListener("pagehide", lastDraft);
window.addEventListener("online", retry);
window.addEventListener("focus", retry);
back.addEventListener("message", (event) => resume(event.data));

onKeys({ form: answers, press });

/** What a key does outside text fields; whether it did anything. An option's key goes before an action's. */
function press(key, target) {
  if (answersBy(questions, nameOf(key))) return true;
  const action = keys.action(key);
  if (action === "undo" && busy) return (undoNext = true);
  if (action === "submit") return goOn(target);
  if (action === "text") return write(questions);
  if (action === "guidelines" || action === "keys") {
    const dialog = document.getElementById(action);
    dialog?.showModal();
    return Boolean(dialog);
  }
  const name = action === "undo" ? "back" : action;
  const link = name && frame.querySelector(`[data-action="${name}"]:not([hidden])`);
  link?.click();
  return Boolean(link);
}

/** Go on to the next question, submit, or leave a page that only has to be read. */
function goOn(target) {
  if (target.closest("a, button, summary")) return false;
  if (questions.goOn()) return true;
  const on = frame.querySelector("[data-on]");
  if (on) on.click();
  else answers()?.requestSubmit();
  return Boolean(on ?? answers());
}

ready();
retry();
