var waiting = window.waiting || [];
waiting.push = function (start) { start(document.getElementById('out')); };
for (var i = 0; i < waiting.length; i++) waiting.push(waiting[i]);
