/* A slider beside the number field that it fills. It has no position until it is moved: no answer is suggested. */

export function sliders(root) {
  for (const field of root.querySelectorAll("[data-slider]:not([data-slides])")) slide(field);
}

function slide(field) {
  field.dataset.slides = "";
  const slider = document.createElement("input");
  Object.assign(slider, { type: "range", className: "slider", min: field.min, max: field.max, step: field.step });
  slider.value = (Number(field.min) + Number(field.max)) / 2; // where the keys begin
  slider.setAttribute("aria-label", field.labels[0]?.textContent.trim() ?? "");
  const show = () => {
    slider.classList.toggle("slider-unset", field.value === "");
    slider.setAttribute("aria-valuetext", field.value === "" ? "no answer yet" : field.value);
    if (field.value !== "") slider.value = field.value;
  };
  const take = () => {
    field.value = slider.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  slider.addEventListener("input", (event) => {
    event.stopPropagation(); // the field tells of the change
    take();
  });
  slider.addEventListener("pointerup", take); // where it stood already: nothing else says that it was chosen
  field.addEventListener("input", show);
  (field.parentElement.querySelector("[data-ends]") ?? field).before(slider);
  show();
}
