/* Rankings, and best and worst, by key and by button. The fields of the form hold the answer; this only fills them. */

const changed = (field) => field.dispatchEvent(new Event("input", { bubbles: true }));

export class Ranking {
  constructor(question) {
    this.places = [...question.querySelectorAll("[data-rank-option] select")];
    this.last = this.places[0].options.length - 1;
    question.addEventListener("click", (event) => {
      const option = event.target.closest("[data-rank-option]")?.querySelector("select");
      if (event.target.closest("[data-hotkey]")) this.#append(option);
      const step = Number(event.target.closest("[data-move]")?.dataset.move ?? 0);
      if (step) this.#move(option, step);
    });
    question.addEventListener("change", (event) => this.#set(event.target, event.target.value));
    for (const place of this.places) place.dataset.before = place.value;
  }

  get answered() {
    return this.#given === this.last;
  }

  takeBack() {
    const latest = this.places.find((place) => Number(place.value) === this.#given);
    if (latest) this.#set(latest, "");
    return Boolean(latest);
  }

  get #given() {
    return this.places.filter((place) => place.value).length;
  }

  /** The option has the next free place; one that has a place keeps it. */
  #append(option) {
    const taken = new Set(this.places.map((place) => place.value));
    const free = [...option.options].map((entry) => entry.value).find((value) => value && !taken.has(value));
    if (!option.value && free) this.#set(option, free);
  }

  /** Changes places with the neighbour; the last one loses its place. */
  #move(option, step) {
    const place = Number(option.value);
    if (!place) return void (step < 0 && this.#append(option));
    const next = place + step;
    if (next < 1 || next > this.places.length) return;
    this.#set(option, next > this.last ? "" : String(next));
  }

  /** Whoever has the place gets the one that the option had before. */
  #set(option, value) {
    const other = this.places.find((place) => place !== option && place.value && place.value === value);
    if (other) other.value = other.dataset.before = option.dataset.before;
    option.value = option.dataset.before = value;
    changed(option);
  }
}

export class BestWorst {
  constructor(question) {
    this.fields = [...question.querySelectorAll("input[type=radio]")];
    question.addEventListener("click", (event) => {
      if (event.target.closest("[data-hotkey]")) this.#choose(event.target.closest("tr"));
    });
    question.addEventListener("input", (event) => this.#keepApart(event.target));
  }

  get answered() {
    return this.#chosen("best") && this.#chosen("worst");
  }

  takeBack() {
    const latest = this.#chosen("worst") ?? this.#chosen("best");
    if (latest) latest.checked = false;
    if (latest) changed(latest);
    return Boolean(latest);
  }

  #chosen(side) {
    return this.fields.find((field) => field.checked && field.name.endsWith(`:${side}`));
  }

  /** First the best, then the worst; once both are there, the key begins anew. */
  #choose(row) {
    const side = this.#chosen("best") && !this.#chosen("worst") ? "worst" : "best";
    if (this.#chosen("worst")) this.#chosen("worst").checked = false;
    const field = row.querySelector(`[name$=":${side}"]`);
    field.checked = true;
    changed(field);
  }

  #keepApart(field) {
    const other = this.fields.find((entry) => entry !== field && entry.checked && entry.value === field.value);
    if (field.checked && other) other.checked = false;
  }
}
