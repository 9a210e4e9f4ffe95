/* Help for participants, none of it needed: no double submit, drafts of long texts, answers that wait while offline. */

const form = document.querySelector("form[data-screen]:not([data-preview])");
const session = location.pathname.split("/").slice(0, 4).join("/");

function draftKey(field) {
  return `draft:${new URL(form.action).pathname}:${field.name}`;
}

/* A browser may refuse storage; then there are no drafts. */
function withStorage(use) {
  try {
    use(window.localStorage);
  } catch {
    return;
  }
}

function say(text) {
  const notice = form.querySelector("[data-offline]") ?? document.createElement("p");
  notice.dataset.offline = "";
  notice.className = "notice notice-warning";
  notice.setAttribute("role", "status");
  form.append(notice);
  notice.textContent = text;
}

function keepDrafts() {
  for (const field of form.querySelectorAll("[data-draft]")) {
    withStorage((storage) => {
      if (!field.value) field.value = storage.getItem(draftKey(field)) ?? "";
    });
    field.addEventListener("blur", () => withStorage((storage) => storage.setItem(draftKey(field), field.value)));
  }
}

/* What was sent is on the server; a shared computer keeps no copy of it. */
function dropOldDrafts() {
  const current = form ? `draft:${new URL(form.action).pathname}:` : null;
  withStorage((storage) => {
    for (const key of Object.keys(storage)) {
      if (key.startsWith(`draft:${session}/`) && !(current && key.startsWith(current))) storage.removeItem(key);
    }
  });
}

function sendOnce() {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) {
      event.preventDefault();
    } else if (!navigator.onLine) {
      event.preventDefault();
      sendWhenOnline(event.submitter);
    } else {
      sent = true;
    }
  });
  window.addEventListener("pageshow", () => {
    sent = false;
  });
}

let waiting = false;

function sendWhenOnline(submitter) {
  say("You are offline. Leave this page open: your answer is sent as soon as the connection is back.");
  if (waiting) return;
  waiting = true;
  window.addEventListener("online", () => {
    waiting = false;
    say("The connection is back. Sending your answer.");
    form.requestSubmit(submitter);
  }, { once: true });
}

function offerCopy(button) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent.trim());
    document.querySelector("[data-copied]").hidden = false;
  });
}

if (document.querySelector("[data-slider]")) import("./question-slider.js").then(({ sliders }) => sliders(document));
if (form) {
  keepDrafts();
  sendOnce();
}
dropOldDrafts();
document.querySelectorAll("[data-copy]").forEach(offerCopy);
document.querySelector("[data-error-summary]")?.focus();
