import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError, StorageUnavailableError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import { faultCode, faultLog } from '../../common/log.js';
import { fileNameOf } from '../../media/file-name.js';
import type { MediaKind } from '../../media/media.api.js';
import { MediaFetcher, MediaRefusedError } from '../../media/media-fetcher.js';
import { MediaStore } from '../../media/media-store.js';
import { detectMediaType, isPageInstead, presentedAs } from '../../media/media-type.js';
import { type PictureEnd, pictureEndOf } from '../../media/picture-end.js';
import type { MediaDescription } from './message-contents.js';

/** The largest accepted file, in bytes. */
export const MEDIA_LIMIT = 52_428_800;

/** Time limit of a fetch, in milliseconds: below the request time-out, so that the caller gets the specific error. */
const ARRIVAL_MS = 25_000;

/** Concurrent fetches of one account, so that one account cannot use all of the disk or bandwidth. */
const AT_A_TIME = 10;

/** Fetches and stores the files that callers name by URL. */
@Injectable()
export class MediaIntake {
  private readonly turns = new KeyedSemaphore(AT_A_TIME);

  constructor(
    private readonly fetcher: MediaFetcher,
    private readonly store: MediaStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Fetches a file for an account and stores it under `id`, chunk by chunk. Waits while too many fetches of that account are
   * running.
   *
   * @param kind how the app presents the file. Its bytes must be of this kind. Undefined: the kind that the bytes show
   * @param context the signal that ends the fetch early, and the host's transaction to write in
   * @throws MessagingError `error.media_unavailable` for every fault of the file, `error.storage_unavailable`
   */
  async take(
    accountId: string,
    id: string,
    url: string,
    kind?: MediaKind,
    { signal, host }: { readonly signal?: AbortSignal | undefined; readonly host?: HostTransaction | undefined } = {},
  ): Promise<MediaDescription> {
    const late = new AbortController();
    const cancel = this.clock.after(ARRIVAL_MS, () => late.abort());
    const until = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    try {
      return await this.turns.run(accountId, until, () => this.arrive(id, url, kind, until, host));
    } catch (error) {
      if (error instanceof StorageUnavailableError) throw error;
      // Never log the URL: it may contain a secret.
      const reason = error instanceof MediaRefusedError ? error.reason : nameOf(error);
      const fields = { code: faultCode(error), messageId: id };
      faultLog('Msgapp', this.clock).warn('Media of a message could not be fetched.', fields, ` ${id}: ${reason}`);
      throw new MessagingError('error.media_unavailable');
    } finally {
      cancel();
      // If the store failed before it read, the fetch is still open. Aborting a finished fetch has no effect.
      late.abort();
    }
  }

  /** Deletes a file that no message needs. */
  async remove(id: string, host?: HostTransaction): Promise<void> {
    await this.store.remove([id], host).catch((error) => {
      const fields = { code: faultCode(error), messageId: id };
      faultLog('Msgapp', this.clock).warn(`Media of a message could not be removed: ${nameOf(error)}.`, fields);
    });
  }

  private async arrive(
    id: string,
    url: string,
    kind: MediaKind | undefined,
    signal: AbortSignal,
    host: HostTransaction | undefined,
  ): Promise<MediaDescription> {
    const fetched = await this.fetcher.fetch({ url, maxBytes: MEDIA_LIMIT, signal });
    const { type, body } = await detectMediaType(fetched);
    const presented = kind === undefined ? type : presentedAs(type, kind);
    if (!presented) throw new MediaRefusedError(`Its bytes are not of kind ${kind}.`);
    if (isPageInstead(type, [fetched.fileName, nameIn(url)])) throw new MediaRefusedError('It is a web page.');
    const { mimetype } = presented;
    const measured = new Measured(body, signal, presented.kind === 'image' ? pictureEndOf(mimetype) : undefined);
    await this.store.write(id, mustEnd(measured, kind), this.clock.now(), host);
    const fileName = fetched.fileName ?? 'file';
    // A picture that is incomplete cannot be shown.
    return { kind: measured.isCut ? 'document' : presented.kind, mimetype, fileName, ...measured.measures };
  }
}

/** The file name in the URL that a caller gave, before any redirect. */
function nameIn(url: string): string | undefined {
  return URL.canParse(url) ? fileNameOf(undefined, new URL(url)) : undefined;
}

/** Refuses a file at its end if it was sent as an image and is incomplete. */
async function* mustEnd(measured: Measured, kind: MediaKind | undefined): AsyncGenerator<Uint8Array, void> {
  yield* measured;
  if (kind === 'image' && measured.isCut) throw new MediaRefusedError('It is a part of an image.');
}

/**
 * Counts and hashes bytes as they pass, and looks for the end of a picture. It also enforces the size limit, because a fetcher of
 * the host may not do so.
 */
class Measured {
  private readonly hash = createHash('sha256');
  private size = 0;

  constructor(
    private readonly body: AsyncIterable<Uint8Array>,
    private readonly signal: AbortSignal,
    /** Looks for the end of a picture. Undefined for files whose end cannot be recognised. */
    private readonly end: PictureEnd | undefined,
  ) {}

  /** Whether all bytes have passed without the end of the picture. */
  get isCut(): boolean {
    return this.end?.hasEnded === false;
  }

  get measures(): Pick<MediaDescription, 'size' | 'sha256'> {
    return { size: this.size, sha256: this.hash.digest('hex') };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of this.body) {
      this.size += chunk.length;
      if (this.size > MEDIA_LIMIT) throw new MediaRefusedError('It has too many bytes.');
      if (this.signal.aborted) throw new MediaRefusedError('It took too long.');
      this.hash.update(chunk);
      this.end?.pass(chunk);
      yield chunk;
    }
    if (this.size === 0) throw new MediaRefusedError('It is empty.');
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'something.';
}

interface Lane {
  free: number;
  readonly waiting: Set<() => void>;
}

/** Limits concurrent work per key. Further work waits in the order of its arrival. */
export class KeyedSemaphore {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly most: number) {}

  /**
   * Runs `work` when its key has a free slot.
   * @throws the reason of `signal` if it is aborted before
   */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const lane = this.lanes.get(key) ?? { free: this.most, waiting: new Set() };
    this.lanes.set(key, lane);
    await turn(lane, signal);
    try {
      return await work();
    } finally {
      pass(lane);
      if (lane.free === this.most) this.lanes.delete(key);
    }
  }
}

async function turn(lane: Lane, signal: AbortSignal): Promise<void> {
  if (lane.free > 0) {
    lane.free--;
    return;
  }
  await new Promise<void>((resolve, reject) => {
    const go = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      lane.waiting.delete(go);
      reject(signal.reason);
    };
    lane.waiting.add(go);
    signal.addEventListener('abort', leave, { once: true });
  });
}

/** Gives the slot to the next work in line. */
function pass(lane: Lane): void {
  const [next] = lane.waiting;
  if (next) lane.waiting.delete(next);
  else lane.free++;
  next?.();
}
