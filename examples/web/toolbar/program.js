(function () {
  var count = 0;
  handle = function (command) {
    count++;
    document.getElementById('log').textContent = count + ' ' + command;
  };
  early.splice(0).forEach(handle);
})();
