/* The questions of the item on the page: which are asked, which one comes next, and choosing by key. */

import { BestWorst, Ranking } from "./question-rank.js";
import { sliders } from "./question-slider.js";
import { Marking } from "./question-span.js";

const OPTIONS = "input[type=radio], input[type=checkbox]";
const KEYED = "[data-hotkey]";

export class Questions {
  constructor(root) {
    this.all = [...root.querySelectorAll("[data-question]")];
    this.notes = [...root.querySelectorAll("[data-note-text]")]; // about the whole item
    this.text = null;
    this.chosen = null; // the question that the person turned to
    this.pressed = null; // the question that a key answered last
    this.helpers = new Map(this.all.map((question) => [question, helper(question, root)]));
    sliders(root);
    this.update();
  }

  get asked() {
    return this.all.filter((question) => !question.hidden);
  }

  /** The marked question: the chosen one, else the first without an answer, else the first. */
  get active() {
    const open = this.asked.filter((question) => question.querySelector(`${OPTIONS}, ${KEYED}`));
    if (open.includes(this.chosen)) return this.chosen;
    return open.find((question) => !this.#answered(question)) ?? open[0] ?? null;
  }

  /** Show and hide by the answers so far, then mark the active question. */
  update() {
    for (const question of this.all) {
      if (!question.dataset.showIf) continue;
      const rules = [JSON.parse(question.dataset.showIf)].flat(); // one of them is enough
      question.hidden = !rules.some(({ name, any_of }) => this.#values(name).some((value) => any_of.includes(value)));
    }
    const active = this.active;
    for (const question of this.all) question.toggleAttribute("data-active", question === active);
  }

  /** The question that has the element, or whose passages are marked in it. */
  having(element) {
    return this.all.find((question) => question.contains(element) || this.helpers.get(question)?.text === element);
  }

  turnTo(question) {
    this.chosen = question;
    this.update();
  }

  /** After an answer the mark moves on, unless several options may be chosen or everything is answered. */
  moveOn(question) {
    this.update(); // the answer may have opened another question
    const more = this.asked.some((other) => other.querySelector(`${OPTIONS}, ${KEYED}`) && !this.#answered(other));
    const stays = question.dataset.kind === "multi" || !this.#answered(question) || !more;
    this.chosen = stays ? question : null;
    this.update();
    this.active?.scrollIntoView({ block: "nearest" });
  }

  /** Whether the mark went on to a question that needs an answer: it stays at one of several answers by itself. */
  goOn() {
    if (this.active?.dataset.kind !== "multi" || !this.#answered(this.active)) return false;
    const next = this.asked.find(
      (other) => optionsOf(other).length && !other.querySelector(".field-optional") && !this.#answered(other),
    );
    if (!next) return false;
    this.turnTo(next);
    next.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Whether the key did something: it chose an option that alone has it wherever that is, else one of the active
   *  question, or it took the last one back. */
  press(key) {
    if (key === "Backspace") return (this.helpers.get(this.pressed) ?? this.helpers.get(this.active))?.takeBack() ?? false;
    const having = this.asked.flatMap((question) => optionsOf(question).filter((input) => input.dataset.hotkey === key));
    const own = optionsOf(this.active);
    let option = having.find((input) => own.includes(input));
    if (!option && having.length === 1) option = having[0];
    if (!option && !having.length && /^\d$/.test(key)) option = byPlace(own, key);
    if (!option) return false;
    this.pressed = option.closest("[data-question]");
    option.click();
    return true;
  }

  /** The text field after the one given last, notes last of all; where passages are marked, the text itself. */
  nextText() {
    const fields = this.asked.flatMap((question) => {
      const marking = this.helpers.get(question)?.text;
      return marking ? [marking] : [...question.querySelectorAll(".field :is(input:not([data-slides]), textarea)")];
    });
    fields.push(...this.notes);
    this.text = fields[(fields.indexOf(this.text) + 1) % fields.length];
    return this.text;
  }

  #answered(question) {
    const helper = this.helpers.get(question);
    if (helper) return Boolean(helper.answered);
    return question.querySelector(OPTIONS) === null || question.querySelector(":checked") !== null;
  }

  #values(name) {
    const question = this.all.find((other) => other.dataset.question === name);
    if (!question || question.hidden) return [];
    const inputs = [...question.querySelectorAll("input, textarea")];
    return inputs.filter((input) => !input.matches(OPTIONS) || input.checked).map((input) => input.value);
  }
}

function helper(question, root) {
  if (question.dataset.kind === "rank") return new Ranking(question);
  if (question.dataset.kind === "best_worst") return new BestWorst(question);
  return question.dataset.kind === "span" ? Marking.of(question, root) : null;
}

function optionsOf(question) {
  return [...(question?.querySelectorAll(`${OPTIONS}, ${KEYED}`) ?? [])];
}

/** Options whose own keys are letters answer to their place as well. */
function byPlace(options, digit) {
  return options.some((input) => /^\d$/.test(input.dataset.hotkey)) ? null : options[digit - 1];
}
