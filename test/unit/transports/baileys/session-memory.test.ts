import { expect, test } from '@jest/globals';
import { BoundedCache, SessionMemory } from '../../../../src/transports/baileys/session-memory.js';

test('a cache has a maximum size and drops the least recently used entry', () => {
  const cache = new BoundedCache(2, 60_000);
  cache.set('a', 1);
  cache.set('b', null);
  // Setting the same key again adds no second entry.
  cache.set('a', 2);
  expect(cache.get('b')).toBeNull();
  cache.set('c', 3);
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, null, 3]);
  cache.del('b');
  cache.set('d', 4);
  expect(['b', 'c', 'd'].map((key) => cache.get(key))).toEqual([undefined, 3, 4]);
  cache.flushAll();
  expect(cache.get('c')).toBeUndefined();
});

test('a session remembers no more than its limit, however much it sends', () => {
  const { sent, devices, retries } = new SessionMemory();
  const to = '22670000001@s.whatsapp.net';
  for (let at = 0; at < 6000; at++) {
    sent.remember(`sent-${at}`, to, { conversation: String(at) }, 4);
    devices.set(`user-${at}`, []);
    retries.set(`message-${at}`, 1);
  }
  const kept = (find: (at: number) => unknown) =>
    Array.from({ length: 6000 }, (_, at) => find(at)).filter((found) => found !== undefined).length;
  expect(kept((at) => sent.find(`sent-${at}`, to))).toBe(500);
  expect(kept((at) => devices.get(`user-${at}`))).toBe(5000);
  expect(kept((at) => retries.get(`message-${at}`))).toBe(1000);
  expect(sent.find('sent-5999', to)).toEqual({ conversation: '5999' });
  expect(sent.find('sent-5999', 'somebody-else@s.whatsapp.net')).toBeUndefined();
});

test('long messages are remembered up to 2 MiB, newest first', () => {
  const { sent } = new SessionMemory();
  const to = '22670000001@s.whatsapp.net';
  const bytes = 65_536;
  for (let at = 0; at < 500; at++) sent.remember(`sent-${at}`, to, { conversation: 'x' }, bytes);
  const kept = Array.from({ length: 500 }, (_, at) => at).filter((at) => sent.find(`sent-${at}`, to) !== undefined);
  expect(kept.length).toBe(Math.floor(500 / 16));
  expect(kept.at(-1)).toBe(499);
});
