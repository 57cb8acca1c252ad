list.push('second');
