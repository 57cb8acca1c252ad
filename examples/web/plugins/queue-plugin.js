window.waiting = window.waiting || [];
waiting.push(function (out) { out.textContent = 'spelling'; });
