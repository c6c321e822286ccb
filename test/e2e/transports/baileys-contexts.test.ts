import { expect, test } from '@jest/globals';
import { plainNode } from '../../support/jest/plain-node.js';

const PROGRAM = new URL('../../support/transports/whatsapp/context-count.ts', import.meta.url);

test('Node keeps no additional storages for sessions, however many there are and however often they connect', async () => {
  const { counts, ...rest } = Object(await plainNode(PROGRAM));
  expect(rest).toEqual({ received: 6, complaints: [] });
  expect(counts).toEqual(Array(7).fill(counts[0]));
});
