showWeather({ text: 'rain' });
