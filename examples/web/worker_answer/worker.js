onmessage = function (event) { postMessage(event.data * event.data); };
