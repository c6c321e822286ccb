import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';
import { isId } from '../../common/ids.js';
import { isFinal } from '../../events/session-status.js';
import { cleanName } from '../../media/file-name.js';
import { MsgappSettings } from '../msgapp-options.js';
import { MsgappTransport } from '../msgapp-transport.js';
import { MEDIA_LIMIT } from '../sending/media-intake.js';
import { CredentialsUnreadableError } from '../sessions/credential-cipher.js';
import { SessionVault } from '../sessions/credential-vault.js';
import { SessionStore } from '../sessions/session-store.js';
import { RECEIVED_FILE, type ReceivedFile } from './received-file.js';
import { ReceivedMessageStore, type StoredReceived } from './received-message-store.js';

/** Returns the files of received messages straight from the app. The service does not store them. */
@Injectable()
export class ReceivedFiles {
  constructor(
    private readonly received: ReceivedMessageStore,
    private readonly sessions: SessionStore,
    private readonly vault: SessionVault,
    private readonly transport: MsgappTransport,
    private readonly settings: MsgappSettings,
  ) {}

  /**
   * Opens the file of a message. The answer ends early if the app sends more than 50 MB, or other bytes than the sender sent.
   *
   * @param signal aborts the opening, not the reading
   * @throws MessagingError `error.file_not_found` if the account has no such message with a file. `error.file_gone` if its
   * session has ended or the app no longer has the file. `error.storage_unavailable` if the app does not answer
   */
  async open(accountId: string, id: string, signal: AbortSignal): Promise<StreamableFile> {
    const kept = isId(id) ? await this.received.find(id) : undefined;
    const session = kept && (await this.sessions.find(kept.sessionId));
    const isOurs = kept?.accountId === accountId && session?.channel === this.settings.channel;
    if (!isOurs || kept.file === undefined) throw new MessagingError('error.file_not_found');
    const about = isFinal(session.status) ? undefined : this.unsealed(kept, kept.file);
    const bytes = about && (await this.begin(session.id, about, signal));
    if (!bytes) throw new MessagingError('error.file_gone');
    const answer = new StreamableFile(Readable.from(bytes, { objectMode: false }), {
      // The event has the type that the sender claims. A browser does not need it.
      type: 'application/octet-stream',
      disposition: dispositionOf(about.fileName),
    });
    // NestJS 11 would end the answer properly, so that a forged or broken file would look complete.
    return answer.setErrorHandler((_error, response) => {
      const destroy: unknown = Reflect.get(response, 'destroy');
      if (typeof destroy === 'function') destroy.call(response);
    });
  }

  private unsealed({ sessionId, id }: StoredReceived, sealed: string): ReceivedFile | undefined {
    try {
      // The cast is safe, because only this package encrypts data of this kind.
      return JSON.parse(this.vault.unseal(sessionId, RECEIVED_FILE, id, sealed)) as ReceivedFile;
    } catch (error) {
      if (error instanceof CredentialsUnreadableError) return undefined;
      throw error;
    }
  }

  /** Reads the first chunk, so that a missing file is noticed before the answer begins. */
  private async begin(
    sessionId: string,
    { file }: ReceivedFile,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      const opened = await this.transport.openFile?.(file, signal, this.vault.reader(sessionId));
      if (!opened) return undefined;
      const bytes = bounded(opened);
      const first = await bytes.next();
      return from(first, bytes);
    } catch {
      signal.throwIfAborted();
      // The file may be available again soon, so a 410 would be wrong.
      throw new MessagingError('error.storage_unavailable');
    }
  }
}

async function* from(
  first: IteratorResult<Uint8Array, void>,
  others: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  if (first.done) return;
  yield first.value;
  yield* others;
}

async function* bounded(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > MEDIA_LIMIT) throw new Error('The file is too large.');
    yield chunk;
  }
}

/**
 * Returns the header that always makes the file an attachment (RFC 6266). The file has the name that the sender gave it, without
 * directories and control characters.
 */
function dispositionOf(fileName: string | undefined): string {
  const name = cleanName(fileName);
  if (name === undefined) return 'attachment';
  const escaped = encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
  return `attachment; filename*=UTF-8''${escaped}`;
}
