var one = document.getElementById('one');
function fit() { one.title = 'fits'; document.getElementById('state').textContent = 'fits'; }
if (one.complete) fit();
else one.addEventListener('load', fit);
