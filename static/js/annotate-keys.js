/* Which key does what on the item page. A person's own keys are kept in their browser; the hints on the page show them. */

const USUAL = {
  submit: "Enter",
  back: "ArrowLeft",
  forward: "ArrowRight",
  undo: "u",
  text: "t",
  skip: "s",
  flag: "f",
  guidelines: "g",
  keys: "?",
};
const SIGNS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };
const KEPT_BY_THE_BROWSER = ["Tab", "Escape", "Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Dead", "Process"];

export class Keys {
  #changing = null; // the action that waits for its new key

  /** `taken(key)`: whether an option on the page has the key. */
  constructor({ dialog, person, taken }) {
    this.dialog = dialog;
    this.store = `keys of ${person}`;
    this.taken = taken;
    this.words = dialog.querySelector("[data-key-words]");
    dialog.addEventListener("click", (event) => this.#click(event.target));
    dialog.addEventListener("keydown", (event) => this.#keydown(event));
    dialog.addEventListener("close", () => this.#wait(null));
  }

  get all() {
    return { ...USUAL, ...JSON.parse(localStorage.getItem(this.store) ?? "{}") };
  }

  /** The action of a key, or undefined. */
  action(key) {
    return Object.entries(this.all).find(([, own]) => own === plain(key))?.[0];
  }

  /** Write the keys into the hints on the page. */
  show() {
    const all = this.all;
    for (const hint of document.querySelectorAll("[data-key-of]")) hint.textContent = sign(all[hint.dataset.keyOf]);
  }

  #click(target) {
    const button = target.closest("button");
    if (button?.dataset.changeKey) this.#wait(button.dataset.changeKey);
    else if (button?.hasAttribute("data-usual-keys")) this.#keep({});
  }

  #wait(action) {
    this.#changing = action;
    this.words.textContent = action ? "Press the new key, or Esc to leave it." : "Your own keys are kept in this browser.";
  }

  #keydown(event) {
    if (!this.#changing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      event.preventDefault(); // the dialog stays open
      return this.#wait(null);
    }
    if (KEPT_BY_THE_BROWSER.includes(event.key)) return;
    event.preventDefault();
    const [action, key] = [this.#changing, plain(event.key)];
    const refusal = this.#refusal(action, key);
    if (refusal) {
      this.words.textContent = `${refusal} Press another key, or Esc.`;
      return;
    }
    this.#keep({ ...this.all, [action]: key });
  }

  #refusal(action, key) {
    const other = this.action(key);
    if (other && other !== action) return `${sign(key)} is the key for something else in this list.`;
    if (/^\d$/.test(key)) return "Digits choose options.";
    return this.taken(key) ? `${sign(key)} chooses an option of this item.` : "";
  }

  #keep(keys) {
    localStorage.setItem(this.store, JSON.stringify(keys));
    this.#wait(null);
    this.show();
    this.words.textContent = "Saved in this browser.";
  }
}

function plain(key) {
  return key.length === 1 ? key.toLowerCase() : key;
}

function sign(key) {
  return SIGNS[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}
