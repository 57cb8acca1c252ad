import page from "page";

function load(context, next) {
  fetch("/text/" + context.params.number)
    .then((response) => response.text())
    .then((text) => {
      context.text = text;
      next();
    });
}
function show(context) {
  document.getElementById("text").textContent = context.text;
}
page("/words/:number", load, show);
page({ hashbang: true, dispatch: false });
