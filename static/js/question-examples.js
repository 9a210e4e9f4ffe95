/* An example goes to the end of the list in the field that it names, as the whole into an empty one, else to the cursor. */

for (const example of document.querySelectorAll("[data-example]")) {
  const [field] = document.getElementsByName(example.dataset.example);
  const button = example.querySelector("button");
  button.hidden = false;
  button.addEventListener("click", () => add(field, example.querySelector("code").textContent, "entry" in example.dataset));
}

function add(field, text, isEntry) {
  const example = JSON.parse(text);
  const list = listOf(field.value.trim() || "[]");
  if (list && (isEntry || Array.isArray(example))) field.value = JSON.stringify(list.concat(example), null, 2);
  else if (field.value.trim()) field.setRangeText(text);
  else field.value = text;
  field.focus();
  const added = field.value.lastIndexOf('"code"'); // where the person goes on: at the code of the new question
  if (added >= 0) field.setSelectionRange(added, added);
  field.dispatchEvent(new Event("change", { bubbles: true }));
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
