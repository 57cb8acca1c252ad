// A few of jQuery's functions, in its style.
(function (window) {
  function Query(selector) {
    var found = typeof selector === 'string' ? document.querySelectorAll(selector) : [selector];
    this.length = found.length;
    for (var i = 0; i < found.length; i++) this[i] = found[i];
  }
  Query.prototype = {
    each: function (run) { for (var i = 0; i < this.length; i++) run.call(this[i], i, this[i]); return this; },
    on: function (type, run) { return this.each(function () { this.addEventListener(type, run); }); },
    html: function (text) { return this.each(function () { this.innerHTML = text; }); },
    addClass: function (name) { return this.each(function () { this.classList.add(name); }); },
    removeClass: function (name) { return this.each(function () { this.classList.remove(name); }); },
    data: function (name) { return this[0].dataset[name]; }
  };
  var $ = window.$ = window.jQuery = function (selector) { return new Query(selector); };
  $.ajax = function (settings) {
    var request = new XMLHttpRequest();
    var query = Object.keys(settings.data || {}).map(function (key) { return key + '=' + settings.data[key]; }).join('&');
    request.open(settings.type || 'GET', settings.url + (query ? '?' + query : ''));
    request.onreadystatechange = function () {
      if (request.readyState !== 4) return;
      if (request.status === 200) settings.success.call(settings, request.responseText);
    };
    request.send();
    return request;
  };
})(window);
