list.push('third');
