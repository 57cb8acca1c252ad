import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Recorder, targetOf } from '../record.js';

test('selectors of Playwright become targets', () => {
  const cases = [
    ['#query', '#query'],
    ['css=.a > b', '.a > b'],
    ['text=Save', 'text=Save'],
    ['internal:role=button[name="Buy it"i]', 'role=button:Buy it'],
    ['internal:role=button[name="a \\"b\\""s]', 'role=button:a "b"'],
    ['internal:testid=[data-testid="x"s]', '[data-testid="x"]'],
    ['internal:attr=[placeholder="Name"i]', '[placeholder="Name"]'],
    ['internal:text="Hello"i', 'text=Hello'],
    ['internal:label="Name"i', 'role=textbox:Name'],
    ['li >> nth=2', { css: 'li', nth: 2 }],
    ['#a >> .b', null],
    ['xpath=//a', null],
    ['li:has-text("x")', null],
    ['internal:has-text=/a/i', null],
  ];
  for (const [selector, expected] of cases) assert.deepEqual(targetOf(selector), expected, selector);
});

test('what a test does becomes steps, and the rest is named', () => {
  const recorder = new Recorder();
  recorder.take('click', '#before', []);
  recorder.take('goto', null, ['http://localhost/']);
  recorder.take('pressSequentially', '#q', ['ab']);
  recorder.take('fill', '#q', ['cd']);
  recorder.take('fill', '#q', ['']);
  recorder.take('press', '#q', ['Enter']);
  recorder.take('selectOption', '#s', [{ label: 'Two' }]);
  recorder.take('dragTo', '#a', []);
  recorder.take('click', '#a >> #b', []);
  recorder.take('goto', null, ['http://localhost/2']);
  recorder.take('click', '#after', []);
  assert.equal(recorder.url, 'http://localhost/');
  assert.deepEqual(recorder.lost, ['dragTo', 'click on `#a >> #b`', 'a second page, http://localhost/2']);
  const select = [{ click: '#q' }, { press: 'Control+a' }];
  assert.deepEqual(JSON.parse(recorder.text()).steps, [
    { type: { into: '#q', text: 'ab' } },
    ...select, { type: { into: '#q', text: 'cd', at_once: true } },
    ...select, { press: 'Delete' },
    { wait: '#q' }, { press: 'Enter' },
    { type: { into: '#s', text: 'Two', at_once: true } },
  ]);
});
