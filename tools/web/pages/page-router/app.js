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
page({ dispatch: false });
document.getElementById("links").innerHTML =
  '<a id="first" href="/words/1">One</a> <a id="second" href="/words/2">Two</a>';
