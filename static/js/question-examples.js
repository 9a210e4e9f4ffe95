/* An example of a question goes to the end of the list that is typed; into text that is no list yet, at the cursor. */

const field = document.querySelector("[name=questions]");

for (const example of document.querySelectorAll("[data-example]")) {
  const button = example.querySelector("button");
  button.hidden = false;
  button.addEventListener("click", () => add(example.querySelector("code").textContent));
}

function add(question) {
  const questions = listOf(field.value.trim() || "[]");
  if (questions) field.value = JSON.stringify([...questions, JSON.parse(question)], null, 2);
  else field.setRangeText(question);
  const added = field.value.lastIndexOf('"code"'); // where the person goes on: at the code of the new question
  field.focus();
  field.setSelectionRange(added, added);
}

/** The list that the text is; null when it is none. */
function listOf(text) {
  try {
    const value = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
