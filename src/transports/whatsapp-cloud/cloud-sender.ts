import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';
import { atMost } from '../../common/concurrency/at-most.js';
import { DAY_MS, MINUTE_MS } from '../../common/time.js';
import type { LinkResult, OutgoingMedia } from '../../msgapp/msgapp-transport.js';
import { textOf, valueAt } from '../http/json-values.js';
import {
  type CloudExtras,
  type CloudRecipient,
  type CloudTemplate,
  extraFields,
  mediaMessage,
  recipientField,
  templateMessage,
  textMessage,
} from './cloud-messages.js';
import { type CloudCredentials, type GraphClient, type GraphOutcome } from './graph-client.js';

/** The content of a message. */
export type CloudContent =
  | { readonly text: string }
  | { readonly media: OutgoingMedia }
  | { readonly template: CloudTemplate };

/** How many uploaded files of one number are remembered, and for how long. Meta keeps a file for 30 days. */
const FILES = 1000;
const FILE_MS = 29 * DAY_MS;

/** The first rest of a number that sends too much, in milliseconds. It doubles until Meta accepts a message. */
const REST_MS = 10_000;
const MAX_REST_MS = 10 * MINUTE_MS;

/** The longest id of a message that is stored. Meta's have about 60 characters. */
const MAX_ID = 255;

interface Uploaded {
  readonly id: string;
  /** On the clock's `elapsed`. */
  readonly until: number;
}

/** A file of which Meta has the bytes, or the reason why it has not. */
type Upload = { readonly id: string } | LinkResult;

/** Sends the messages of one number, one at a time. */
export class CloudSender {
  private readonly files = new LRUCache<string, Uploaded>(atMost(FILES));
  private restsUntil = 0;
  private restMs = REST_MS;

  /** @param onExpired called when Meta no longer accepts the access token */
  constructor(
    private readonly client: GraphClient,
    private readonly credentials: CloudCredentials,
    private readonly clock: Clock,
    private readonly onExpired: () => void = () => undefined,
  ) {}

  /**
   * Sends a message. While the number rests, Meta is not asked and the message waits. It also waits if Meta says that the token has
   * expired. A call without a clear answer is `unknown`, because Meta does not recognise repeats.
   */
  async send(to: CloudRecipient, content: CloudContent, extras: CloudExtras = {}): Promise<LinkResult> {
    const restMs = this.restsUntil - this.clock.elapsed();
    if (restMs > 0) return { kind: 'postponed', error: 'cloud_resting', until: this.clock.now() + restMs };
    if (!('media' in content)) {
      const message = 'text' in content ? textMessage(content.text) : templateMessage(content.template);
      return this.submit(to, message, extras);
    }
    const { media } = content;
    const uploaded = await this.upload(media);
    if ('kind' in uploaded) return uploaded;
    const result = await this.submit(to, mediaMessage(media, uploaded.id), extras);
    // Meta may have lost the file. The next attempt uploads it again.
    if (result.kind === 'retry') this.files.delete(fileKey(media));
    return result;
  }

  private async submit(to: CloudRecipient, message: object, extras: CloudExtras): Promise<LinkResult> {
    const fields = { ...recipientField(to), ...message, ...extraFields(extras) };
    const outcome = await this.client.sendMessage(this.credentials, fields);
    if (outcome.kind !== 'answered') return this.failed(outcome);
    this.restMs = REST_MS;
    const id = textOf(valueAt(outcome.json, 'messages', 0, 'id'));
    if (id === undefined || id.length > MAX_ID) return { kind: 'unknown', error: 'cloud_no_id' };
    return { kind: 'sent', reference: id };
  }

  /** Uploads a file unless Meta has it. Nothing was sent to a person, so an unclear end may be repeated. */
  private async upload(media: OutgoingMedia): Promise<Upload> {
    const known = this.files.get(fileKey(media));
    if (known && known.until > this.clock.elapsed()) return known;
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of media.open()) chunks.push(new Uint8Array(chunk));
    const file = new Blob(chunks, { type: media.mimetype });
    const outcome = await this.client.uploadFile(this.credentials, file, media.fileName);
    if (outcome.kind === 'unclear') return { kind: 'retry', error: outcome.error };
    if (outcome.kind !== 'answered') return this.failed(outcome);
    const id = textOf(valueAt(outcome.json, 'id'));
    if (id === undefined) return { kind: 'retry', error: 'cloud_no_file_id' };
    this.files.set(fileKey(media), { id, until: this.clock.elapsed() + FILE_MS });
    return { id };
  }

  private failed({ kind, error }: Exclude<GraphOutcome, { kind: 'answered' }>): LinkResult {
    switch (kind) {
      case 'rest': {
        const restMs = this.restMs;
        this.restsUntil = this.clock.elapsed() + restMs;
        this.restMs = Math.min(restMs * 2, MAX_REST_MS);
        return { kind: 'postponed', error, until: this.clock.now() + restMs };
      }
      case 'expired':
        this.onExpired();
        return { kind: 'retry', error };
      case 'unclear':
        return { kind: 'unknown', error };
      case 'retry':
      case 'refused':
        return { kind, error };
    }
  }
}

/** The same bytes under another type are another file for Meta. */
function fileKey({ sha256, mimetype }: OutgoingMedia): string {
  return `${sha256} ${mimetype}`;
}
