addEventListener('message', function (event) { document.getElementById('state').textContent = event.data; });
