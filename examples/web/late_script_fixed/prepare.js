var field = document.getElementById('name');
if (field.value === '') field.placeholder = 'your name';
