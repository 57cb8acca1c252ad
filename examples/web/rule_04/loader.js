var order = ['loader'];
var made = document.createElement('script');
made.src = 'made.js';
document.body.appendChild(made);
