import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { VERSION } from '../../../src/common/version.js';

test('the version is the one in package.json', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
});
