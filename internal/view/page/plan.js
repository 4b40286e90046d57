(() => {
  const form = document.querySelector("form");
  if (!form) return;
  const { project, kind, action, text, open } = form.elements, filters = { action, kind, project, text };
  const rows = [...document.querySelectorAll("[data-project]")], steps = [...document.querySelectorAll(".step")];
  const groups = [...document.querySelectorAll("section, .group")], links = [...document.querySelectorAll("a[href^='#']")];
  const texts = new Map(), count = document.querySelector("output"), number = new Intl.NumberFormat("en");
  const textOf = (element) => {
    if (element && !texts.has(element)) texts.set(element, element.textContent.toLowerCase());
    return element ? texts.get(element) : "";
  };
  const label = () => {
    const shown = steps.filter((step) => step.matches("details:not([hidden])"));
    open.hidden = shown.length === 0;
    open.textContent = shown.some((step) => !step.open) ? "open all" : "close all";
  };
  const filter = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean), found = new Map();
    let shown = 0;
    for (const row of rows) {
      const step = row.closest(".step"), head = row === step ? null : step;
      const says = textOf(row) + (head && words.length ? textOf(head.querySelector("summary")) + textOf(head.querySelector(".fields")) : "");
      const hit = (!kind.value || step.dataset.kind === kind.value) && (!action.value || step.dataset.action === action.value) &&
        (!project.value || row.dataset.project === project.value) && words.every((word) => says.includes(word));
      row.hidden = !hit;
      if (hit) {
        shown++;
        found.set(step, (found.get(step) || 0) + 1);
      }
    }
    for (const step of steps) {
      const size = step.querySelector(".size");
      step.hidden = !found.has(step);
      if (size && found.has(step)) {
        const all = step.querySelectorAll("[data-project]").length, n = found.get(step);
        size.textContent = n === all ? number.format(all) : `${number.format(n)} of ${number.format(all)}`;
      }
    }
    for (const group of groups) {
      group.hidden = !group.querySelector(".step:not([hidden])");
      if (group.matches(".rows")) group.open = shown < rows.length;
    }
    const all = `${number.format(rows.length)} ${rows.length === 1 ? "step" : "steps"}`;
    count.textContent = shown === rows.length ? all : `${number.format(shown)} of ${all}`;
    label();
  };
  const address = () => {
    const query = new URLSearchParams();
    for (const [name, field] of Object.entries(filters)) if (field.value) query.set(name, field.value);
    return "#" + query;
  };
  const mark = () => {
    const now = address().replaceAll("+", "%20");
    for (const link of links) {
      if (link.getAttribute("href").replaceAll("+", "%20") === now) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  const follow = () => {
    const query = new URLSearchParams(location.hash.slice(1));
    for (const [name, field] of Object.entries(filters)) {
      field.value = query.get(name) || "";
      if (field.selectedIndex === -1) field.value = "";
    }
    filter();
    mark();
  };
  let waiting = 0;
  form.addEventListener("input", (event) => {
    if (event.target.name === "side") {
      document.body.classList.toggle("side", event.target.checked);
      return;
    }
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      filter();
      mark();
      history.replaceState(null, "", address());
    }, event.target.name === "text" ? 120 : 0);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => {
    follow();
    form.scrollIntoView();
  });
  open.addEventListener("click", () => {
    const opens = open.textContent === "open all";
    for (const part of [...steps, ...groups]) if (part.matches("details:not([hidden])")) part.open = opens;
    label();
  });
  let frame = 0; // one look at the page for all that open together
  document.addEventListener("toggle", () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(label);
  }, true);
  form.hidden = false;
  follow();
})();
