(function () {
  function ready(fn) {
    if (document.readyState !== 'loading') fn(); else document.addEventListener('DOMContentLoaded', fn);
  }
  ready(function () {
    var hero = document.getElementById('hero');
    function done() { document.getElementById('spinner').style.display = 'none'; }
    if (hero.complete) done(); else hero.addEventListener('load', done);
  });
})();
