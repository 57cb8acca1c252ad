say('async1');
