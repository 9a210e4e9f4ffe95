/* Keys on a page with questions: what is typed into a text stays there; the rest goes to the questions, then the page. */

/** `form` gives the form to submit, or null; `press` says of a key outside text fields whether it did anything. */
export function onKeys({ form, press }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const target = event.target;
    if (event.key === "Enter" && event.ctrlKey && form()) return void form().requestSubmit();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("textarea, select, input:not([type=radio], [type=checkbox])")) {
      if (event.key === "Escape") target.blur();
      return;
    }
    if (press(event.key, target)) event.preventDefault();
  });
}

/** A letter in lower case, and any other key by its name. */
export function nameOf(key) {
  return key.length === 1 ? key.toLowerCase() : key;
}

/** Whether the key, as `nameOf` has it, answered a question. */
export function answersBy(questions, key) {
  return (key.length === 1 || key === "Backspace") && questions.press(key);
}

/** Into the next text field; whether there is one. */
export function write(questions) {
  const field = questions.nextText();
  field?.focus();
  return Boolean(field);
}
