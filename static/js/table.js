/* Sorts whole tables by a click on a header. Tables that are cut into pages are sorted by the server. */

const words = new Intl.Collator(document.documentElement.lang, { numeric: true, sensitivity: "base" });

function key(row, column) {
  const cell = row.cells[column];
  return cell.dataset.sort ?? cell.textContent.trim();
}

/* Empty cells and undefined numbers come last in both directions. */
function compare(a, b, numeric, sign) {
  if (!numeric) return sign * words.compare(a, b);
  const [x, y] = [Number.parseFloat(a), Number.parseFloat(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
  return sign * (x - y);
}

function sort(table, header) {
  const ascending = header.getAttribute("aria-sort") !== "ascending";
  const column = header.cellIndex;
  const numeric = header.classList.contains("number");
  for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  rows.sort((a, b) => compare(key(a, column), key(b, column), numeric, ascending ? 1 : -1));
  body.append(...rows);
}

function enhance(table) {
  for (const header of table.tHead.rows[0].cells) {
    if (header.hasAttribute("data-nosort") || !header.textContent.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "table-sort";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(table, header));
    header.append(button);
  }
}

document.querySelectorAll("table[data-sortable]").forEach(enhance);
