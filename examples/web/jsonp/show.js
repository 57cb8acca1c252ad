function showWeather(data) { document.getElementById('weather').textContent = data.text; }
