var NS = window.NS || (window.NS = {});
(function () {
  NS.a = function () { document.getElementById('wa').textContent = 'widget a'; };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', NS.a);
  else NS.a();
})();
