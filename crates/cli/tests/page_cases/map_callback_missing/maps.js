(function () {
  window.MapLib = {
    Map: function (el, o) {
      el.textContent = 'Map of ' + o.lat + ', ' + o.lon;
      el.style.background = '#cfc';
    },
  };
  var cb = 'initMap';
  window[cb]();
})();
