var box = document.getElementById('box');
box.onclick = function () { box.textContent = 'open'; };
