import { expect, test } from '@jest/globals';
import { UuidGenerator } from '../../../src/common/ids.js';
import { Sealer } from '../../../src/common/sealer.js';
import { keyFor } from '../../../src/common/secret.js';

const ids = new UuidGenerator();
const [one, two] = ['a first pepper', 'a second pepper'].map((pepper) => keyFor('hooks', pepper));

function sealer(...keys: readonly (Buffer | undefined)[]): Sealer {
  return new Sealer(
    keys.flatMap((key) => key ?? []),
    ids,
  );
}

test('a sealed text opens in its place only, and never shows the text', () => {
  const sealed = sealer(one).seal('here', '123456');
  expect(sealed).not.toContain('123456');
  expect(sealer(one).open('here', sealed)).toBe('123456');
  expect(sealer(one).open('there', sealed)).toBeUndefined();
});

test('two sealed values of one text differ', () => {
  expect(sealer(one).seal('here', '123456')).not.toBe(sealer(one).seal('here', '123456'));
});

test('a changed value does not open', () => {
  const sealed = sealer(one).seal('here', '123456');
  expect(sealer(one).open('here', `${sealed.slice(0, -2)}AA`)).toBeUndefined();
  for (const broken of ['', '..', 'a.b.c', sealed.slice(0, 20)]) {
    expect(sealer(one).open('here', broken)).toBeUndefined();
  }
});

test('after a change of the pepper, the earlier one still opens', () => {
  const sealed = sealer(one).seal('here', '123456');
  expect(sealer(two, one).open('here', sealed)).toBe('123456');
  expect(sealer(two).open('here', sealed)).toBeUndefined();
});
