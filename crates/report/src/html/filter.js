// Filters the list of findings and opens the one that the address names.
"use strict";
(() => {
  const form = document.getElementById("filters");
  const says = document.getElementById("shown");
  const cards = Array.from(document.querySelectorAll("details.finding"));
  const summary = says.textContent;
  const texts = new Map();
  const textOf = (card) => {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  };

  const apply = () => {
    const value = (id) => (document.getElementById(id) || { value: "" }).value;
    const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
    const fields = ["category", "coverage", "class", "standing"].map((name) => [name, value("by-" + name)]);
    let shown = 0;
    for (const card of cards) {
      const fits = fields.every(([name, want]) => !want || card.dataset[name] === want)
        && words.every((word) => textOf(card).includes(word));
      card.hidden = !fits;
      if (fits) shown += 1;
    }
    says.textContent = shown === cards.length ? summary : shown + " of " + cards.length + " shown";
  };

  const openFromAddress = () => {
    const card = document.getElementById(location.hash.slice(1));
    if (card && cards.includes(card)) {
      card.hidden = false;
      card.open = true;
      card.scrollIntoView({ block: "nearest" });
    }
  };

  if (form) {
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  }
  addEventListener("hashchange", openFromAddress);
  openFromAddress();
})();
