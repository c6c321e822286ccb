import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestRunner } from '../../test-runner.js';
import { aSend, messageId, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

const MB = 1024 * 1024;

async function* nothing(): AsyncIterable<Uint8Array> {}

export function mediaTests({ test }: TestRunner, world: StorageFixture): void {
  const keep = (id: string, whole: Uint8Array, at = START, sizes = [65_536]) =>
    world.media.write(id, inChunks(whole, sizes), at);
  const read = (id: string) => digest(world.media.read(id));
  const gone = (id: string) => assert.rejects(read(id));

  for (const sizes of [[65_536], [1, 999, 16_384, 262_144, 7], [262_143], [3 * MB + 1]]) {
    test(`several megabytes in chunks of ${sizes.join(', ')} are returned unchanged, as often as they are read`, async () => {
      const whole = bytes(3 * MB + 12_345);
      await keep('f', whole, START, sizes);
      for (const _ of range(2)) assert.equal(await read('f'), digestOf(whole));
    });
  }

  test('a file of exactly some chunks, of one byte, and an empty one', async () => {
    for (const size of [512 * 1024, 1, 0]) {
      await keep(`f${size}`, bytes(size));
      assert.equal(await read(`f${size}`), digestOf(bytes(size)));
    }
    await world.media.write('none', nothing(), START);
    assert.equal(await read('none'), digestOf(bytes(0)));
  });

  test('a reader gets pieces, not the whole file', async () => {
    await keep('f', bytes(3 * MB));
    for await (const chunk of world.media.read('f')) assert.ok(chunk.length <= 512 * 1024);
  });

  test('an unknown file cannot be read, and ids are compared exactly', async () => {
    await keep('file', bytes(10));
    for (const id of ['File', 'file ', 'fil', '']) await gone(id);
  });

  test('a file is read while another one is written, and others continue meanwhile', async () => {
    const [one, two] = [bytes(MB, 1), bytes(2 * MB, 2)];
    await keep('one', one);
    let accounts = 0;
    async function* slowly(): AsyncIterable<Uint8Array> {
      for await (const chunk of inChunks(two, [300_000])) {
        yield chunk;
        assert.equal(await read('one'), digestOf(one));
        await world.fund(0, `acc${accounts++}`);
      }
    }
    await world.media.write('two', slowly(), START);
    assert.equal(accounts, 7);
    assert.equal(await read('two'), digestOf(two));
  });

  test('a file that is not complete yet cannot be read', async () => {
    let looks = 0;
    async function* looking(): AsyncIterable<Uint8Array> {
      for await (const chunk of inChunks(bytes(MB), [300_000])) {
        await gone('f');
        looks += 1;
        yield chunk;
      }
      await gone('f');
    }
    await world.media.write('f', looking(), START);
    assert.equal(looks, 4);
    assert.equal(await read('f'), digestOf(bytes(MB)));
  });

  test('two files at once each get their own bytes', async () => {
    const files = range(6).map((index) => bytes(700_000 + index, index));
    await Promise.all(files.map((file, index) => keep(`f${index}`, file, START, [100_000 - index])));
    const digests = await Promise.all(files.map((_, index) => read(`f${index}`)));
    assert.deepEqual(digests, files.map(digestOf));
  });

  test('if the source fails, its error is thrown and nothing is kept, so the id is free again', async () => {
    const broken = new Error('cut short');
    async function* failing(): AsyncIterable<Uint8Array> {
      yield* inChunks(bytes(MB), [100_000]);
      throw broken;
    }
    await assert.rejects(world.media.write('f', failing(), START), (error) => error === broken);
    await gone('f');
    assert.equal(await world.media.purge(START + 1, 9), 0);
    await keep('f', bytes(20));
    assert.equal(await read('f'), digestOf(bytes(20)));
  });

  test('an id that is taken is refused, and the first file stays', async () => {
    await keep('f', bytes(MB, 1));
    await assert.rejects(keep('f', bytes(10, 2)));
    assert.equal(await read('f'), digestOf(bytes(MB, 1)));
  });

  test('removing deletes these files, known or not, and no others', async () => {
    for (const id of ['a', 'b', 'c']) await keep(id, bytes(5 * MB, id.charCodeAt(0)));
    await world.media.remove(['a', 'unknown', 'c', 'a']);
    await world.media.remove([]);
    await gone('a');
    await gone('c');
    assert.equal(await read('b'), digestOf(bytes(5 * MB, 'b'.charCodeAt(0))));
    await keep('a', bytes(3));
    assert.equal(await read('a'), digestOf(bytes(3)));
  });

  test('a file that is removed while it is read ends with an error, not early', async () => {
    await keep('f', bytes(3 * MB));
    let seen = 0;
    const reading = async () => {
      for await (const chunk of world.media.read('f')) {
        seen += chunk.length;
        await world.media.remove(['f']);
      }
    };
    await assert.rejects(reading());
    assert.ok(seen > 0 && seen < 3 * MB);
  });

  test('a file that is removed while it is written is not kept', async () => {
    async function* removing(): AsyncIterable<Uint8Array> {
      yield* inChunks(bytes(MB), [300_000]);
      await world.media.remove(['f']);
      yield bytes(MB);
    }
    await assert.rejects(world.media.write('f', removing(), START));
    await gone('f');
    await keep('f', bytes(3));
    assert.equal(await read('f'), digestOf(bytes(3)));
  });

  test('purging deletes older files, oldest first, at most as many as asked', async () => {
    for (const [id, age] of [
      ['d', 9],
      ['b', 2],
      ['a', 1],
      ['c', 3],
    ] as const)
      await keep(id, bytes(600_000), START + age);
    assert.equal(await world.media.purge(START + 1, 9), 0);
    assert.equal(await world.media.purge(START + 4, 2), 2);
    await gone('a');
    await gone('b');
    assert.equal(await read('c'), digestOf(bytes(600_000)));
    assert.equal(await world.media.purge(START + 4, 2), 1);
    assert.equal(await world.media.purge(START + 9, 9), 0);
    assert.equal(await read('d'), digestOf(bytes(600_000)));
  });

  test('purging leaves the file of a message that is still to be sent, however old, and deletes it once that has ended', async () => {
    await world.fund(3);
    for (const index of [1, 2]) await world.accept(aSend(index, { channel: 'wa', lane: 'a' }));
    for (const id of [messageId(1), messageId(2), 'nobody']) await keep(id, bytes(1000));
    assert.equal(await world.media.purge(START + 1, 9), 1);
    await gone('nobody');
    await world.claim({ channel: 'wa', lanes: ['a'] });
    await world.stand(messageId(1), ['sending']);
    assert.equal(await world.media.purge(START + 1, 9), 0);
    for (const index of [1, 2]) assert.equal(await read(messageId(index)), digestOf(bytes(1000)));
    await world.settle(messageId(1), 'sent', { attempt: 1 });
    assert.equal(await world.media.purge(START + 1, 9), 1);
    await gone(messageId(1));
    assert.equal(await read(messageId(2)), digestOf(bytes(1000)));
    await world.settle(messageId(2), 'failed');
    assert.equal(await world.media.purge(START + 1, 9), 1);
  });

  test('files of messages that are still to be sent do not count towards the limit of a purge', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await keep(messageId(1), bytes(10), START);
    for (const id of ['a', 'b']) await keep(id, bytes(10), START + 1);
    assert.equal(await world.media.purge(START + 2, 1), 1);
    assert.equal(await world.media.purge(START + 2, 1), 1);
    assert.equal(await world.media.purge(START + 2, 1), 0);
  });
}

/** Pseudo-random bytes from a seed. */
export function bytes(size: number, seed = 1): Buffer {
  return createHash('shake128', { outputLength: size }).update(`${seed}`).digest();
}

/** Yields the bytes in chunks of these sizes, repeated; all chunks share one buffer, which the next chunk overwrites. */
export async function* inChunks(whole: Uint8Array, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  const memory = new Uint8Array(Math.max(...sizes));
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const chunk = whole.subarray(at, at + (sizes[turn % sizes.length] ?? 1));
    memory.fill(0).set(chunk);
    yield memory.subarray(0, chunk.length);
    at += chunk.length;
  }
}

/** SHA-256 of a stream, in hex. */
export async function digest(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** SHA-256 in hex. */
function digestOf(whole: Uint8Array): string {
  return createHash('sha256').update(whole).digest('hex');
}
