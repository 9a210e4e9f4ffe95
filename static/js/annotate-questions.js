/* The questions of the item on the page: which are asked, which one comes next, and choosing by key. */

const OPTIONS = "input[type=radio], input[type=checkbox]";

export class Questions {
  constructor(root) {
    this.all = [...root.querySelectorAll("[data-question]")];
    this.text = null;
    this.chosen = null; // the question that the person turned to
    this.update();
  }

  get asked() {
    return this.all.filter((question) => !question.hidden);
  }

  /** The marked question: the chosen one, else the first without an answer, else the first. */
  get active() {
    const open = this.asked.filter((question) => question.querySelector(OPTIONS));
    if (open.includes(this.chosen)) return this.chosen;
    return open.find((question) => !answered(question)) ?? open[0] ?? null;
  }

  /** Show and hide by the answers so far, then mark the active question. */
  update() {
    for (const question of this.all) {
      if (!question.dataset.showIf) continue;
      const rule = JSON.parse(question.dataset.showIf);
      question.hidden = !this.#values(rule.name).some((value) => rule.any_of.includes(value));
    }
    const active = this.active;
    for (const question of this.all) question.toggleAttribute("data-active", question === active);
  }

  turnTo(question) {
    this.chosen = question;
    this.update();
  }

  /** After an answer the mark moves on, unless several options may be chosen or everything is answered. */
  moveOn(question) {
    const more = this.asked.some((other) => other.querySelector(OPTIONS) && !answered(other));
    this.chosen = question.dataset.kind === "multi" || !more ? question : null;
    this.update();
    this.active?.scrollIntoView({ block: "nearest" });
  }

  /** Whether the key chose something: an option that alone has the key wherever it is, else one of the active question. */
  press(key) {
    const having = this.asked.flatMap((question) => optionsOf(question).filter((input) => input.dataset.hotkey === key));
    const own = optionsOf(this.active);
    let option = having.find((input) => own.includes(input));
    if (!option && having.length === 1) option = having[0];
    if (!option && !having.length && /^\d$/.test(key)) option = byPlace(own, key);
    option?.click();
    return Boolean(option);
  }

  /** The text field after the one given last. */
  nextText() {
    const fields = this.asked.flatMap((question) => [...question.querySelectorAll(".field :is(input, textarea)")]);
    this.text = fields[(fields.indexOf(this.text) + 1) % fields.length];
    return this.text;
  }

  #values(name) {
    const question = this.all.find((other) => other.dataset.question === name);
    if (!question || question.hidden) return [];
    const inputs = [...question.querySelectorAll("input, textarea")];
    return inputs.filter((input) => !input.matches(OPTIONS) || input.checked).map((input) => input.value);
  }
}

function optionsOf(question) {
  return [...(question?.querySelectorAll(OPTIONS) ?? [])];
}

function answered(question) {
  return question.querySelector(OPTIONS) === null || question.querySelector(":checked") !== null;
}

/** Options whose own keys are letters answer to their place as well. */
function byPlace(options, digit) {
  return options.some((input) => /^\d$/.test(input.dataset.hotkey)) ? null : options[digit - 1];
}
