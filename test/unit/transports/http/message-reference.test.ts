import { expect, test } from '@jest/globals';
import { UuidGenerator } from '../../../../src/common/ids.js';
import { compactReference, expandedReference } from '../../../../src/transports/http/message-reference.js';

test.each(['.0', '.0.1', '.999999.100', '.9999999.9999'])(
  'the reference of a send and %s fits into 36 characters',
  (place) => {
    for (let each = 0; each < 100; each++) {
      const reference = `${new UuidGenerator().next()}${place}`;
      const compact = compactReference(reference);
      expect(compact).toMatch(/^[\w.-]{1,36}$/);
      expect(expandedReference(compact)).toBe(reference);
    }
  },
);

test('references of two attempts and two recipients stay different', () => {
  const id = new UuidGenerator().next();
  const all = ['.0', '.0.1', '.0.2', '.1.1', '.11'].map((place) => compactReference(id + place));
  expect(new Set(all).size).toBe(all.length);
});

test.each(['sms-1.0.1', 'x.1', 'order_4711.12.3'])(
  'a short reference with an id of the host, %s, stays as it is',
  (reference) => {
    expect(compactReference(reference)).toBe(reference);
    expect(expandedReference(reference)).toBe(reference);
  },
);

test('a long reference with an id of the host becomes a hash, which names nothing', () => {
  const [one, other] = ['a', 'b'].map((end) => compactReference(`${'order-'.repeat(10)}${end}.0.1`));
  expect(one).toMatch(/^[0-9a-f]{32}$/);
  expect(other).not.toBe(one);
  expect(expandedReference(one ?? '')).toBeUndefined();
});

test.each(['', 'string', 'null', '../..', 'PyDmBQZZXYmyxMwED8Fzy', '0199'])('%j is no reference', (text) => {
  expect(expandedReference(text)).toBeUndefined();
});
