App.register('clock', function () {
  return 'Clock plugin ready';
});
