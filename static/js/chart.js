/* Draws every figure from its Vega-Lite specification. The interpreter (`ast`) evaluates expressions without `eval`. */

function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function theme() {
  const [text, muted, border, font] = ["--text", "--text-muted", "--border", "--font"].map(token);
  const words = { labelColor: muted, titleColor: text, labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12 };
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: { ...words, domainColor: muted, tickColor: muted, gridColor: border, titleFontWeight: "normal" },
    legend: words,
    header: words,
    title: { color: text, subtitleColor: muted, font, fontSize: 14, anchor: "start" },
    text: { color: text, font, fontSize: 12 },
    rule: { color: muted },
  };
}

/* The page's theme wins over what a specification says about the same thing, and leaves the rest of it alone. */
function merged(config = {}) {
  const result = { ...config };
  for (const [part, values] of Object.entries(theme())) {
    result[part] = typeof values === "object" ? { ...config[part], ...values } : values;
  }
  return result;
}

/* Panels do not find their width themselves: two in a line where there is room, each with its words on the left. */
function fitted(spec, width) {
  if (!spec.concat) return spec;
  const columns = width < 640 ? 1 : 2;
  const panel = Math.max(120, width / columns - 190);
  return { ...spec, columns, concat: spec.concat.map((view) => ({ ...view, width: panel })) };
}

const drawn = new WeakMap();

async function draw(chart) {
  const { vegaEmbed } = await import(chart.dataset.vegaUrl);
  const answer = await fetch(chart.dataset.specUrl, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const spec = await answer.json();
  drawn.get(chart)?.finalize();
  const description = spec.description ?? chart.dataset.title;
  const result = await vegaEmbed(chart, { ...fitted(spec, chart.clientWidth), description, config: merged(spec.config) }, {
    ast: true,
    actions: false,
    renderer: "svg",
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  });
  drawn.set(chart, result);
}

async function drawOrSay(chart) {
  try {
    await draw(chart);
  } catch (error) {
    chart.classList.add("chart-failed");
    chart.textContent = `The figure could not be drawn (${error.message}). Reload the page, or open the SVG below.`;
  }
}

function drawAll() {
  document.querySelectorAll(".chart[data-spec-url]").forEach(drawOrSay);
}

drawAll();
document.documentElement.addEventListener("themechange", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
document.addEventListener("htmx:afterSwap", (event) => {
  event.target.querySelectorAll?.(".chart[data-spec-url]").forEach(drawOrSay);
});
