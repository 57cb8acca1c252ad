say('deferred');
