core.register('spelling');
