/* Help for participants, none of it needed: one submit for two clicks, drafts, answers that wait for a connection,
   questions that an answer leads to, and counts of what happened on the page. */

const form = document.querySelector("form[data-screen]:not([data-preview])");
const session = location.pathname.split("/").slice(0, 4).join("/");
const FIRST_RETRY = 2000; // milliseconds; each further one waits twice as long
const LAST_RETRY = 30_000;

/** What the browser keeps, by key; nothing where it refuses storage. */
const kept = {
  get(key) {
    try {
      return localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key, text) {
    try {
      if (text === null) localStorage.removeItem(key);
      else localStorage.setItem(key, text);
    } catch {
      return;
    }
  },
  keys() {
    try {
      return Object.keys(localStorage);
    } catch {
      return [];
    }
  },
};

/* What was sent is on the server; a shared computer keeps no copy of it. */
function forgetOtherPages() {
  const path = form ? new URL(form.action).pathname : "";
  for (const key of kept.keys()) {
    const [kind, of] = key.split(":");
    if (["draft", "answer"].includes(kind) && of.startsWith(`${session}/`) && of !== path) kept.set(key, null);
  }
}

class Sending {
  constructor() {
    this.key = `answer:${new URL(form.action).pathname}`;
    this.body = null; // until the server has it
    this.busy = false; // from a request to its answer, and then for good
    this.wait = FIRST_RETRY;
    this.timer = 0;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.busy) this.send(formBody(event.submitter));
    });
    window.addEventListener("online", () => {
      if (!this.body || this.busy) return;
      say(form.dataset.sending);
      this.#try();
    });
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.busy = false; // Back brought this page as it was left
    });
    const waiting = kept.get(this.key); // the tab was closed before the server had it
    if (waiting) this.send(waiting);
  }

  send(body) {
    this.body = body;
    kept.set(this.key, body);
    this.#try();
  }

  async #try() {
    clearTimeout(this.timer);
    this.busy = true;
    const response = await post(form.action, this.body);
    if (!response || response.status >= 500 || response.status === 429) {
      this.busy = false;
      say(form.dataset.offline);
      this.timer = setTimeout(() => this.#try(), this.wait);
      this.wait = Math.min(2 * this.wait, LAST_RETRY);
      return;
    }
    kept.set(this.key, null);
    if (!response.ok) return form.submit(); // the server's own page says why
    history.pushState(null, ""); // the next page has the same address, and Back is to lead here
    location.replace(response.headers.get("X-Location"));
  }
}

/** The server's response; null when it cannot be reached. */
async function post(url, body, options = {}) {
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "X-Part": "answer" };
  try {
    return await fetch(url, { method: "POST", headers, body, ...options });
  } catch {
    return null;
  }
}

function formBody(submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  body.set("paradata", JSON.stringify(counts.read()));
  return body.toString();
}

function say(text) {
  const notice = form.querySelector("[data-notice]") ?? document.createElement("p");
  notice.dataset.notice = "";
  notice.className = "notice notice-warning";
  notice.setAttribute("role", "status");
  form.append(notice);
  if (notice.textContent !== text) notice.textContent = text;
}

/* Here at once, and at the server as soon as it can be reached, so that another device has it too. */
function keepDrafts() {
  const key = (field) => `draft:${new URL(form.action).pathname}:${field.name}`;
  for (const field of form.querySelectorAll("[data-draft]:not([data-kept])")) {
    field.dataset.kept = "";
    field.value = kept.get(key(field)) ?? field.value;
    field.addEventListener("blur", async () => {
      const text = field.value;
      kept.set(key(field), text);
      const response = await saveDraft();
      if (response?.ok && field.value === text) kept.set(key(field), null);
    });
  }
}

function saveDraft() {
  return post(`${form.action}draft/`, new URLSearchParams(new FormData(form)).toString(), { keepalive: true });
}

/* Another language is another page: what is chosen here goes along. */
function keepOnSwitching(link) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    await saveDraft();
    location.assign(link.href);
  });
}

/** Counts and seconds, never contents; studies/paradata.py names them. */
const counts = {
  start: performance.now(),
  hiddenSince: null,
  hidden: 0,
  focus_losses: 0,
  pastes: 0,
  resizes: 0,

  watch() {
    let resizing = 0;
    window.addEventListener("blur", () => this.focus_losses++);
    window.addEventListener("resize", () => {
      clearTimeout(resizing); // dragging the edge of a window is one change of its size
      resizing = setTimeout(() => this.resizes++, 300);
    });
    form.addEventListener("paste", () => this.pastes++);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.hiddenSince !== null) this.hidden += performance.now() - this.hiddenSince;
      this.hiddenSince = document.hidden ? performance.now() : null;
    });
  },

  read() {
    const { focus_losses, pastes, resizes } = this;
    const seconds = (milliseconds) => Math.round(milliseconds) / 1000;
    return { seconds: seconds(performance.now() - this.start), hidden_seconds: seconds(this.hidden), focus_losses, pastes, resizes };
  },
};

/* A question that another one on the page leads to stands in a template, after which it is shown; what was typed there
   stays when the answer is changed back and forth. */
function followUp(root) {
  const copies = new Map();
  const values = (name) => new FormData(root).getAll(name);
  const update = () => {
    for (const template of root.querySelectorAll("template[data-show-if]")) {
      const rule = JSON.parse(template.dataset.showIf);
      const wanted = values(rule.name).some((value) => rule.any_of.includes(value));
      if (!copies.has(template)) copies.set(template, [...document.importNode(template.content, true).children]);
      const elements = copies.get(template);
      if (wanted && !elements[0].isConnected) template.after(...elements);
      else if (!wanted) for (const element of elements) element.remove();
    }
    prepare();
  };
  root.addEventListener("change", update);
  update();
}

function prepare() {
  if (document.querySelector("[data-slider]:not([data-slides])")) {
    import("./question-slider.js").then(({ sliders }) => sliders(document));
  }
  if (form) keepDrafts();
}

function offerCopy(button) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent.trim());
    document.querySelector("[data-copied]").hidden = false;
  });
}

prepare();
forgetOtherPages();
const questions = document.querySelector("form[data-screen], form[data-preview]");
if (questions) followUp(questions);
if (form) {
  counts.watch();
  new Sending();
  document.querySelectorAll("[data-language]").forEach(keepOnSwitching);
}
document.querySelectorAll("[data-copy]").forEach(offerCopy);
document.querySelector("[data-error-summary]")?.focus();
