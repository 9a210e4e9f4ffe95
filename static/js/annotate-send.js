/* Sending to the server, and what to do when it cannot be reached: submits wait on this device and are sent again. */

const RETRY = 5000; // milliseconds
const MOST_KEPT_ALIVE = 60_000; // bytes; browsers refuse requests of more than 64 KiB that outlive their page

export class Sender {
  /** `frame` is the element with data-person, data-login-url and data-work-url. */
  constructor(frame) {
    this.loginUrl = frame.dataset.loginUrl;
    this.person = frame.dataset.person;
    this.store = `labels of ${this.person} at ${frame.dataset.workUrl}`;
    this.draftStore = `draft, ${this.store}`;
    this.timer = 0;
  }

  /** {state: "ok" | "offline" | "login" | "refused", status, text, url}; never throws. Whoever logs in as somebody else
   *  meanwhile gets "login" as well, with the server's words in `text`: what waits here is not theirs to send. */
  async fetch(url, { body, outlive = false } = {}) {
    const headers = { "X-Part": "work", "X-Person": this.person };
    const keepalive = outlive && body.toString().length < MOST_KEPT_ALIVE;
    if (body && !token()) return { state: "login" }; // the cookies are gone, and the login with them
    if (body) headers["X-CSRFToken"] = token();
    try {
      // Only an ended login redirects; to follow it would ask for an address that takes posts alone.
      const response = await fetch(url, { method: body ? "POST" : "GET", headers, body, keepalive, redirect: "manual" });
      if (response.type === "opaqueredirect") return { state: "login" };
      const text = await response.text();
      const part = response.headers.get("X-Location");
      if (response.status === 401) return { state: "login", text };
      if (response.status >= 500) return { state: "offline", status: response.status };
      const state = response.ok || part ? "ok" : "refused";
      return { state, status: response.status, text, url: part };
    } catch {
      return { state: "offline" };
    }
  }

  get waiting() {
    return JSON.parse(localStorage.getItem(this.store) ?? "[]");
  }

  /** Keep the submit before it is sent; a newer one for the same address replaces it. */
  keep(url, body) {
    this.#write([...this.waiting.filter((entry) => entry.url !== url), { url, body: body.toString() }]);
  }

  drop(url) {
    this.#write(this.waiting.filter((entry) => entry.url !== url));
  }

  /** The draft of the item on the page that the server has not confirmed, in this tab: a reload may outrun its sending. */
  get unsaved() {
    return JSON.parse(sessionStorage.getItem(this.draftStore) ?? "null");
  }

  keepDraft(url, body) {
    sessionStorage.setItem(this.draftStore, JSON.stringify({ url, body: body.toString() }));
  }

  /** Forget the draft, but not one that was typed after `body`. */
  dropDraft(body) {
    if (!body || this.unsaved?.body === body.toString()) sessionStorage.removeItem(this.draftStore);
  }

  /** Send what waits, oldest first, until one fails. The answer to the last one sent, or null. */
  async flush() {
    clearTimeout(this.timer);
    let last = null;
    for (const { url, body } of this.waiting) {
      last = await this.fetch(url, { body: new URLSearchParams(body) });
      if (last.state === "offline" || last.state === "login") break;
      this.drop(url);
    }
    return last;
  }

  later(action) {
    clearTimeout(this.timer);
    this.timer = setTimeout(action, RETRY);
  }

  #write(entries) {
    if (entries.length) localStorage.setItem(this.store, JSON.stringify(entries));
    else localStorage.removeItem(this.store);
  }
}

/** Read at each request: logging in again in another tab changes it. */
function token() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]*)/)?.[1] ?? "";
}

/** Fill the form with what `formBody` took from it. */
export function refill(form, body) {
  const values = new URLSearchParams(body);
  for (const input of form.querySelectorAll("[data-question] :is(input, select, textarea)")) {
    if (input.matches("[type=radio], [type=checkbox]")) input.checked = values.getAll(input.name).includes(input.value);
    else input.value = values.get(input.name) ?? "";
  }
}

/** A new key for what is sent: as the browser's own, which pages without HTTPS do not have. */
export function drawKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function formBody(form) {
  const body = new URLSearchParams(new FormData(form));
  body.delete("csrfmiddlewaretoken");
  return body;
}
