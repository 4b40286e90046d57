(() => {
  const form = document.querySelector("form"), steps = [...document.querySelectorAll(".step")], count = document.querySelector("output");
  if (!form) return;
  const texts = new Map();
  const textOf = (step) => {
    if (!texts.has(step)) texts.set(step, step.textContent.toLowerCase());
    return texts.get(step);
  };
  const filter = () => {
    const { kind, action, text } = form.elements, words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const step of steps) {
      const hit = (!kind.value || step.dataset.kind === kind.value) && (!action.value || step.dataset.action === action.value) &&
        (words.length === 0 || words.every((word) => textOf(step).includes(word)));
      step.hidden = !hit;
      if (hit) shown++;
    }
    count.textContent = shown === steps.length ? `${steps.length} steps` : `${shown} of ${steps.length} steps`;
  };
  let waiting = 0;
  form.addEventListener("input", (event) => {
    if (event.target.name === "side") {
      document.body.classList.toggle("side", event.target.checked);
      return;
    }
    clearTimeout(waiting);
    waiting = setTimeout(filter, event.target.name === "text" ? 120 : 0);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.open.addEventListener("click", () => {
    const open = form.elements.open.getAttribute("aria-pressed") !== "true";
    form.elements.open.setAttribute("aria-pressed", String(open));
    for (const step of steps) step.open = open && !step.hidden;
  });
  form.hidden = false;
  filter();
})();
