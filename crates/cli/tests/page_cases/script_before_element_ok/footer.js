// keep the year fresh
function setYear() {
  var el = document.getElementById('year');
  el.textContent = 2026;
  el.title = 'this year';
}
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', setYear);
else setYear();
