var maps = window.maps || 0;
maps++;
function drawMap(place) {
  place.textContent = 'map ' + maps;
}
