function fit(image) { image.title = 'fits'; document.getElementById('state').textContent = 'fits'; }
