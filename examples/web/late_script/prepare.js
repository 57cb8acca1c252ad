document.getElementById('name').value = 'your name';
