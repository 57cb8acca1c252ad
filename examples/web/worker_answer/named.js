onmessage = function (event) { postMessage({ of: event.data, square: event.data * event.data }); };
