import { describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { type FetchedMedia, MediaFetcher, type MediaRequest } from '../../../src/media/media-fetcher.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { MediaIntake } from '../../../src/msgapp/sending/media-intake.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

Logger.overrideLogger(false);

/** Serves one small file, and records whether the client abandoned it. */
class OneFile extends MediaFetcher {
  signal: AbortSignal | undefined;

  override async fetch({ signal }: MediaRequest): Promise<FetchedMedia> {
    this.signal = signal;
    async function* body() {
      yield new TextEncoder().encode('%PDF-1.4 small');
    }
    return { contentType: 'application/pdf', fileName: 'a.pdf', body: body() };
  }
}

test('a file that cannot be stored is not fetched any further', async () => {
  const fetcher = new OneFile();
  const media = (await SqliteMemory.open()).store(MediaStore);
  media.write = async () => {
    throw new StorageUnavailableError('away');
  };
  const intake = new MediaIntake(fetcher, media, new FakeClock());
  await expect(intake.take('a', 'm1', 'https://example.com/a.pdf')).rejects.toThrow(StorageUnavailableError);
  expect(fetcher.signal?.aborted).toBe(true);
});

test('a stored file leaves nothing running', async () => {
  const fetcher = new OneFile();
  const clock = new FakeClock();
  const intake = new MediaIntake(fetcher, (await SqliteMemory.open()).store(MediaStore), clock);
  expect(await intake.take('a', 'm1', 'https://example.com/a.pdf')).toMatchObject({
    kind: 'document',
    fileName: 'a.pdf',
  });
  clock.advance(60_000);
  expect(fetcher.signal?.aborted).toBe(true);
});

/** Holds every file back until it is released. */
class HeldFiles extends OneFile {
  readonly held: (() => void)[] = [];

  override async fetch(request: MediaRequest): Promise<FetchedMedia> {
    await new Promise<void>((resolve) => this.held.push(resolve));
    return super.fetch(request);
  }
}

describe('files that arrive at the same time', () => {
  const URL = 'https://example.com/a.pdf';

  async function open() {
    const fetcher = new HeldFiles();
    const clock = new FakeClock();
    const intake = new MediaIntake(fetcher, (await SqliteMemory.open()).store(MediaStore), clock);
    const take = (accountId: string, from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => intake.take(accountId, `${accountId}${from + index}`, URL));
    return { fetcher, clock, take };
  }

  test('are at most ten of one account; the others wait, and those of another account do not', async () => {
    const { fetcher, take } = await open();
    const files = take('a', 0, 14);
    await settled();
    expect(fetcher.held).toHaveLength(10);
    files.push(...take('b', 0, 1));
    await settled();
    expect(fetcher.held).toHaveLength(11);
    fetcher.held[0]?.();
    await files[0];
    await settled();
    expect(fetcher.held).toHaveLength(12);
    for (let next = 1; next < 15; next++) {
      fetcher.held[next]?.();
      await settled();
    }
    expect(await Promise.all(files)).toHaveLength(15);
  });

  test('are refused like any other if they wait too long, and take no turn of those behind them', async () => {
    const { fetcher, clock, take } = await open();
    const stuck = take('a', 0, 10);
    await settled();
    clock.advance(20_000);
    const late = take('a', 10, 12);
    await settled();
    clock.advance(24_000);
    const [last] = take('a', 12, 13);
    await settled();
    clock.advance(1000);
    for (const each of late) await expect(each).rejects.toMatchObject({ code: 'error.media_unavailable' });
    for (const letGo of fetcher.held.splice(0)) letGo();
    await Promise.allSettled(stuck);
    await settled();
    expect(fetcher.held).toHaveLength(1);
    fetcher.held[0]?.();
    expect(await last).toMatchObject({ kind: 'document' });
  });
});
