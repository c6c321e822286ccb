import { beforeEach, describe, expect, test } from '@jest/globals';
import * as library from 'baileys';
import { BaileysCredentials } from '../../../../src/transports/baileys/baileys-credentials.js';
import { MemoryCredentials } from '../../../support/transports/whatsapp/memory-credentials.js';

let store: MemoryCredentials;
let lost: unknown[];

beforeEach(() => {
  store = new MemoryCredentials();
  lost = [];
});

const load = () => BaileysCredentials.load(library, store, (error) => lost.push(error));

describe('the account', () => {
  test('is new if nothing is stored, and the same after it was stored', async () => {
    const credentials = await load();
    expect(credentials.number).toBeUndefined();
    credentials.creds.me = { id: '22670000001:7@s.whatsapp.net' };
    credentials.save();
    await credentials.saved();
    const again = await load();
    expect(again.creds).toEqual(credentials.creds);
    expect(again.creds.noiseKey.private).toBeInstanceOf(Buffer);
    expect(again.number).toBe('22670000001');
  });

  test('is stored whole, and stored once more for all changes that came during a write', async () => {
    const credentials = await load();
    let release = () => {};
    store.gate = new Promise((resolve) => (release = resolve));
    for (let counter = 1; counter <= 20; counter++) {
      credentials.creds.accountSyncCounter = counter;
      credentials.save();
    }
    release();
    await credentials.saved();
    expect(store.writes).toEqual([1, 1]);
    expect((await load()).creds.accountSyncCounter).toBe(20);
  });
});

describe('keys', () => {
  test('of every kind come back unchanged', async () => {
    const { keys } = await load();
    const pair = library.Curve.generateKeyPair();
    const syncKey = library.proto.Message.AppStateSyncKeyData.fromObject({ keyData: Buffer.from([1, 2, 3]) });
    await keys.set({
      'pre-key': { 1: pair },
      session: { 'a.0': Buffer.from('session') },
      'sender-key-memory': { g: { 'x@lid': true } },
      'app-state-sync-key': { k: syncKey },
      'lid-mapping': { 22670000002: '922670000002' },
      'device-list': { 22670000002: ['0', '12'] },
      tctoken: { t: { token: Buffer.from('t'), timestamp: '1' } },
    });
    expect(store.writes).toEqual([7]);
    expect((await keys.get('pre-key', ['1', '2']))[1]).toEqual({
      public: Buffer.from(pair.public),
      private: Buffer.from(pair.private),
    });
    expect((await keys.get('session', ['a.0']))['a.0']).toEqual(Buffer.from('session'));
    expect(await keys.get('sender-key-memory', ['g'])).toEqual({ g: { 'x@lid': true } });
    const found = (await keys.get('app-state-sync-key', ['k'])).k;
    expect(found).toBeInstanceOf(library.proto.Message.AppStateSyncKeyData);
    expect(found).toEqual(syncKey);
    expect(await keys.get('lid-mapping', ['22670000002'])).toEqual({ 22670000002: '922670000002' });
    expect(await keys.get('device-list', ['22670000002'])).toEqual({ 22670000002: ['0', '12'] });
    expect((await keys.get('tctoken', ['t'])).t?.token).toEqual(Buffer.from('t'));
  });

  test('that are null are deleted in the same write', async () => {
    const { keys } = await load();
    await keys.set({ session: { a: Buffer.from('a'), b: Buffer.from('b') } });
    await keys.set({ session: { a: null, c: Buffer.from('c') } });
    expect(Object.keys(await keys.get('session', ['a', 'b', 'c']))).toEqual(['b', 'c']);
    expect(store.writes).toEqual([2, 2]);
  });

  test('if nothing changed, nothing is written', async () => {
    const { keys } = await load();
    await keys.set({});
    expect(store.writes).toEqual([]);
  });
});

test('a failed write is reported, to Baileys as well, and keeps nobody waiting', async () => {
  const credentials = await load();
  store.failure = new Error('gone');
  await expect(credentials.keys.set({ session: { a: Buffer.from('a') } })).rejects.toThrow('gone');
  credentials.save();
  await credentials.saved();
  expect(lost).toEqual([store.failure, store.failure]);
});
