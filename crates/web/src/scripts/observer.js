// The first part of what runs in a world of its own, with the tree of the page but natives that the page
// cannot touch.
'use strict';
const W = window;
const N = { Array, Object, String, stringify: JSON.stringify };
