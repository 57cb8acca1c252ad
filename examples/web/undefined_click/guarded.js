window.share = function (button) { button.textContent = 'Shared'; };
if (asked) share(asked);
