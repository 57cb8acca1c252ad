(function () {
  function ready(fn) {
    if (document.readyState !== 'loading') fn(); else document.addEventListener('DOMContentLoaded', fn);
  }
  ready(function () {
    var hero = document.getElementById('hero');
    hero.addEventListener('load', function () {
      document.getElementById('spinner').style.display = 'none';
    });
  });
})();
