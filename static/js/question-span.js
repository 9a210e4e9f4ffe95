/* Marking passages of the item's text: select words by mouse, touch or key, then a label. The question's text field holds
 * the passages as lines, `label 12-25: words`, in code points of the text. */

const LINE = /^(\S.*?)\s+(\d+)-(\d+)(?::|$)/;
const HUES = 6; // as many as the style sheet has colours for marks

const length = (text) => [...text].length;

export class Marking {
  /** Works when the text is on the page and what is typed already is in the form that this writes. */
  static of(question, root) {
    const box = question.querySelector("[data-span]");
    const text = root.querySelector(`[data-marked="${CSS.escape(box.dataset.field)}"]`);
    const spans = read(box.querySelector("textarea").value);
    return text && spans ? new Marking(box, text, spans) : null;
  }

  constructor(box, text, spans) {
    this.box = box;
    this.text = text;
    this.spans = spans;
    this.field = box.querySelector("textarea");
    this.labels = [...box.querySelectorAll("[data-label]")];
    this.words = words(text.textContent);
    this.cursor = -1; // the word at which the keys are, and the one from which they choose
    this.anchor = 0;
    box.querySelector("[data-typed]").hidden = true;
    box.querySelector("[data-marking]").hidden = false;
    Object.assign(text, { tabIndex: 0, role: "group", ariaLabel: "Text to mark" });
    text.addEventListener("keydown", (event) => this.#key(event));
    for (const label of this.labels) {
      label.addEventListener("mousedown", (event) => event.preventDefault()); // it would take the selection away
      label.addEventListener("click", () => this.#mark(label.dataset.label));
    }
    this.#draw();
  }

  get answered() {
    return this.spans.length > 0;
  }

  takeBack() {
    const latest = this.spans.at(-1);
    if (latest) this.#remove(latest);
    return Boolean(latest);
  }

  #mark(label) {
    const chosen = this.#selected();
    if (!chosen) return void this.#say("Select words in the text first.");
    const apart = (span) => span.end <= chosen.start || span.start >= chosen.end;
    const same = (span) => span.start === chosen.start && span.end === chosen.end && span.label === label;
    const kept = this.spans.filter((span) => ("overlap" in this.box.dataset ? !same(span) : apart(span)));
    const most = Number(this.box.dataset.most ?? Infinity);
    if (kept.length >= most) return void this.#say(`You can mark at most ${most}.`);
    this.spans = [...kept, { ...chosen, label }];
    document.getSelection().removeAllRanges();
    this.#changed(`Marked as ${this.#named(label)}: ${this.#quote(chosen)}`);
  }

  #remove(span) {
    this.spans = this.spans.filter((other) => other !== span);
    this.#changed(`No longer marked: ${this.#quote(span)}`);
  }

  #changed(words) {
    this.field.value = this.spans.map((span) => `${span.label} ${span.start}-${span.end}: ${this.#quote(span)}`).join("\n");
    this.#draw();
    this.#say(words);
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** What is selected in the text, without white space at its ends; null when nothing is. */
  #selected() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0).cloneRange();
    const whole = document.createRange();
    whole.selectNodeContents(this.text);
    if (!range.intersectsNode(this.text)) return null;
    if (range.compareBoundaryPoints(Range.START_TO_START, whole) < 0) range.setStart(whole.startContainer, whole.startOffset);
    if (range.compareBoundaryPoints(Range.END_TO_END, whole) > 0) range.setEnd(whole.endContainer, whole.endOffset);
    const words = range.toString();
    whole.setEnd(range.startContainer, range.startOffset);
    const start = length(whole.toString()) + length(words) - length(words.trimStart());
    return words.trim() ? { start, end: start + length(words.trim()) } : null;
  }

  /** Arrows go from word to word, with Shift several are chosen. */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") this.text.blur();
    const rightToLeft = getComputedStyle(this.text).direction === "rtl";
    const step = { ArrowRight: rightToLeft ? -1 : 1, ArrowLeft: rightToLeft ? 1 : -1 }[event.key];
    if (!step || !this.words.length) return;
    event.preventDefault();
    this.cursor = Math.min(this.words.length - 1, Math.max(0, this.cursor + step));
    if (!event.shiftKey) this.anchor = this.cursor;
    const [first, last] = [Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor)];
    const selection = document.getSelection();
    selection.removeAllRanges();
    selection.addRange(this.#range({ start: this.words[first].start, end: this.words[last].end }));
    this.#say(selection.toString());
  }

  #range({ start, end }) {
    const range = document.createRange();
    const walker = document.createTreeWalker(this.text, NodeFilter.SHOW_TEXT);
    let passed = 0;
    let opened = false;
    while (walker.nextNode()) {
      const points = [...walker.currentNode.data];
      const place = (point) => points.slice(0, point - passed).join("").length;
      if (!opened && start <= passed + points.length) range.setStart(walker.currentNode, place(start));
      opened ||= start <= passed + points.length;
      if (end <= passed + points.length) {
        range.setEnd(walker.currentNode, place(end));
        return range;
      }
      passed += points.length;
    }
    return range;
  }

  #quote({ start, end }) {
    return [...this.text.textContent].slice(start, end).join("").split(/\s+/).join(" ");
  }

  #named(code) {
    return this.labels.find((label) => label.dataset.label === code)?.firstElementChild.textContent ?? code;
  }

  #hue(code) {
    return Math.max(0, this.labels.findIndex((label) => label.dataset.label === code)) % HUES;
  }

  #draw() {
    const marks = this.box.querySelector("[data-marks]");
    const ordered = [...this.spans].sort((a, b) => a.start - b.start);
    marks.replaceChildren(...ordered.map((span) => this.#entry(span)));
    paint(this, ordered.map((span) => [this.#hue(span.label), this.#range(span)]));
  }

  #entry(span) {
    const entry = document.createElement("li");
    const label = Object.assign(document.createElement("span"), {
      className: `span-mark span-${this.#hue(span.label)}`,
      textContent: this.#named(span.label),
    });
    const quote = Object.assign(document.createElement("q"), { textContent: this.#quote(span), dir: "auto" });
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      className: "button button-quiet",
      textContent: "Remove",
      ariaLabel: `Remove ${this.#named(span.label)}: ${this.#quote(span)}`,
    });
    button.addEventListener("click", () => {
      this.#remove(span);
      this.text.focus();
    });
    entry.append(label, " ", quote, " ", button);
    return entry;
  }

  #say(words) {
    this.box.querySelector("[data-marks-status]").textContent = words;
  }
}

/** The passages of the lines; null when a line has another form. */
function read(typed) {
  const lines = typed.split("\n").filter((line) => line.trim());
  const found = lines.map((line) => line.trim().match(LINE));
  return found.every(Boolean) ? found.map(([, label, start, end]) => ({ label, start: Number(start), end: Number(end) })) : null;
}

/** Where the words and signs of the text are; spaces and punctuation are none. */
function words(text) {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  const found = [];
  let start = 0;
  for (const { segment } of segmenter.segment(text)) {
    const end = start + length(segment);
    if (/[\p{L}\p{N}\p{S}]/u.test(segment)) found.push({ start, end });
    start = end;
  }
  return found;
}

const painted = new Map(); // what each question has marked

/** Browsers without highlights show the list of passages alone. */
function paint(owner, marks) {
  if (!CSS.highlights) return;
  painted.set(owner, marks);
  for (const other of painted.keys()) if (!other.text.isConnected) painted.delete(other);
  for (let hue = 0; hue < HUES; hue += 1) {
    const ranges = [...painted.values()].flat().filter(([own]) => own === hue).map(([, range]) => range);
    CSS.highlights.set(`mark-${hue}`, new Highlight(...ranges));
  }
}
