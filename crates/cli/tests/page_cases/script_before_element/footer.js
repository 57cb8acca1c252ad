// keep the year fresh
(function () {
  var el = document.getElementById('year');
  el.textContent = 2026;
  el.title = 'this year';
})();
