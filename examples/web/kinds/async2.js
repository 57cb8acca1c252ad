say('async2');
