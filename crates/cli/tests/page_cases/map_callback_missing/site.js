window.initMap = function () {
  var el = document.getElementById('map');
  new window.MapLib.Map(el, { lat: 48.4, lon: 10 });
};
