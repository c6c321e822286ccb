import { expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { type FetchedMedia, MediaFetcher, type MediaRequest } from '../../../src/media/media-fetcher.js';
import { MediaIntake } from '../../../src/msgapp/media-intake.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

Logger.overrideLogger(false);

/** Serves one small file, and tells whether what it served was given up. */
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

test('a file that cannot be kept is not fetched on', async () => {
  const fetcher = new OneFile();
  const { media } = new MemoryStorage();
  media.write = async () => {
    throw new StorageUnavailableError('away');
  };
  const intake = new MediaIntake(fetcher, media, new FakeClock());
  await expect(intake.take('m1', 'https://example.com/a.pdf')).rejects.toThrow(StorageUnavailableError);
  expect(fetcher.signal?.aborted).toBe(true);
});

test('a file that was kept leaves nothing running', async () => {
  const fetcher = new OneFile();
  const clock = new FakeClock();
  const intake = new MediaIntake(fetcher, new MemoryStorage().media, clock);
  expect(await intake.take('m1', 'https://example.com/a.pdf')).toMatchObject({ kind: 'document', fileName: 'a.pdf' });
  clock.advance(60_000);
  expect(fetcher.signal?.aborted).toBe(true);
});
