import { withinPage } from '../../common/listing/page.js';
import type { MediaKind } from '../../media/media.api.js';
import type { DeliveryStatus } from '../../outbox/delivery-state.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write, writeAll } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, type RowShape, shapeOf, textOf } from '../../storage/engine/rows.js';
import { readRows } from '../../storage/read-page.js';

/** A message received by a sandbox phone. */
export interface PhoneMessage {
  /** The send's own id: `smsID` or `messageID`. */
  readonly messageId: string;
  readonly channel: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly media: PhoneMedia | undefined;
  /** The beginning of the message that it answers. Undefined if it answers none. */
  readonly quote?: string | undefined;
  /** When the phone received it, in milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** A file that a sandbox phone received. */
export interface PhoneMedia {
  readonly type: MediaKind;
  readonly mimetype: string;
  readonly size: number;
  readonly sha256: string;
  readonly caption: string | undefined;
  /** The name that the sender gave the file. Undefined if it is not known. */
  readonly fileName?: string | undefined;
}

/** A message that a sandbox transport hands to the phones. */
export interface PhoneDelivery extends PhoneMessage {
  /** The recipient's place in the send, from 0. Undefined if the delivery is not known. */
  readonly position?: number | undefined;
  /** The id of the phone's copy of the file in the media store. */
  readonly fileId?: string | undefined;
}

/** A message in the form that the page shows. */
export interface ScreenMessage extends PhoneMessage {
  /** False: it has not reached its phone, and `receivedAt` is the time of the first attempt. */
  readonly arrived: boolean;
  /** The current state of its delivery. Undefined if it is not known. */
  readonly delivery: ScreenDelivery | undefined;
  /** Whether the bytes of `media` can still be read. */
  readonly fileKept: boolean;
}

/** The state of a delivery, in the form that its sender sees. */
export interface ScreenDelivery {
  readonly status: DeliveryStatus;
  readonly error: string | undefined;
  /** How many units were charged for the delivery. */
  readonly units: number;
  readonly refundedUnits: number;
}

/** The file of a message. */
export interface PhoneFile {
  readonly id: string;
  readonly mimetype: string;
  /** The size in bytes. */
  readonly size: number;
}

const RECEIVED = 'messaging_phone_message';
const LOST = 'messaging_phone_lost';

/** Persists the messages that the sandbox's phones received, and the messages that did not arrive. */
export class PhoneStore {
  constructor(private readonly database: Database) {}

  /** Stores messages. If a phone already has a message with this id, channel and number, it is not stored again. */
  receive(messages: readonly PhoneDelivery[]): Promise<void> {
    return this.insert(RECEIVED, messages);
  }

  /** Stores messages that did not arrive, each once. If such a message arrives later, it is shown only as received. */
  lose(messages: readonly PhoneDelivery[]): Promise<void> {
    return this.insert(LOST, messages);
  }

  /** Returns the newest messages that a phone received, about `MAX_PAGE_BYTES` of them, oldest first. */
  async messages(number: string): Promise<readonly PhoneMessage[]> {
    const read = (columns: string, most: number) =>
      rowsOf(
        `SELECT ${columns} FROM ${RECEIVED} p WHERE p.number = ? ORDER BY p.received_at DESC, p.message_id DESC LIMIT ?`,
        number,
        most,
      );
    const { rows } = await this.database.browse(() => readRows(read, COLUMNS, BYTES, MAX_MESSAGES), undefined);
    return rows.map(toMessage).reverse();
  }

  /**
   * Returns the newest messages over all phones or of one phone, newest first. Messages that did not arrive are among them. It
   * returns at most `limit` messages and about `MAX_PAGE_BYTES`.
   */
  latest(limit: number, number?: string): Promise<readonly ScreenMessage[]> {
    const { dialect } = this.database;
    const list = function* (): Operation<readonly ScreenMessage[]> {
      const received = (yield* newest(dialect, RECEIVED, limit, number)).map((row) => toScreenMessage(row, true));
      const lost = (yield* newest(dialect, LOST, limit, number)).map((row) => toScreenMessage(row, false));
      return withinPage([...received, ...lost].sort(newestFirst).slice(0, limit), bytesOf);
    };
    return this.database.browse(list, undefined);
  }

  /** Returns the file of a message that a phone received. Undefined if there is none, or if its bytes were not kept. */
  async file(number: string, messageId: string): Promise<PhoneFile | undefined> {
    const [row] = await this.database.read(() =>
      rowsOf(
        `SELECT media, file_id FROM ${RECEIVED} WHERE number = ? AND message_id = ? AND file_id IS NOT NULL`,
        number,
        messageId,
      ),
    );
    if (!row) return undefined;
    const { mimetype, size } = JSON.parse(textOf(row, 'media'));
    return { id: textOf(row, 'file_id'), mimetype, size };
  }

  /**
   * Removes at most `limit` messages: those of one phone, or those of all phones that are older than `before`, in milliseconds
   * since the epoch.
   * @returns how many were removed, and the ids of their files, which stay in the media store
   */
  remove(
    which: { readonly number: string } | { readonly before: number },
    limit: number,
  ): Promise<{ readonly removed: number; readonly files: readonly string[] }> {
    const { dialect } = this.database;
    const [condition, value] = 'number' in which ? ['p.number = ?', which.number] : ['p.received_at < ?', which.before];
    return this.database.writeAside(function* () {
      const files: string[] = [];
      let removed = 0;
      for (const table of [RECEIVED, LOST]) {
        const rows = yield* rowsOf(
          `SELECT p.number, p.channel, p.message_id, p.file_id FROM ${table} p WHERE ${condition} ORDER BY p.received_at LIMIT ?`,
          value,
          limit - removed,
        );
        removed += rows.length;
        files.push(...rows.flatMap((row) => optionalText(row, 'file_id') ?? []));
        const keys = rows.map((row) => [textOf(row, 'number'), textOf(row, 'channel'), textOf(row, 'message_id')]);
        const on = Object.keys(KEY).map((column) => `${table}.${column} = v.${column}`);
        if (rows.length > 0) yield dialect.deleteRows({ table, shape: KEY, rows: keys, on: on.join(' AND ') });
      }
      return { removed, files };
    });
  }

  /** Removes all messages. Returns the ids of their files, which stay in the media store. */
  clear(): Promise<readonly string[]> {
    return this.database.write(function* () {
      const files = yield* rowsOf(`SELECT file_id FROM ${RECEIVED} WHERE file_id IS NOT NULL`);
      yield* write(`DELETE FROM ${RECEIVED}`);
      yield* write(`DELETE FROM ${LOST}`);
      return files.map((row) => textOf(row, 'file_id'));
    });
  }

  private async insert(table: string, messages: readonly PhoneDelivery[]): Promise<void> {
    if (messages.length === 0) return;
    const { dialect } = this.database;
    const onDuplicate = ['number, channel, message_id'] as const;
    const insert = dialect.insertRows({ table, shape: SHAPE, rows: messages.map(toRow), onDuplicate });
    await this.database.writeLazily(() => writeAll([insert], true));
  }
}

const KEY: RowShape = { number: 'id', channel: 'id', message_id: 'id' };
const SHAPE = shapeOf('number channel message_id sender body media quote file_id', 'received_at position');
/** The size of a message in bytes, as an SQL expression, and the same for a row that was read. */
const BYTES = 'octet_length(p.body) + 2 * coalesce(octet_length(p.media), 0) + 500';

function bytesOf({ text, media }: PhoneMessage): number {
  return 500 + Buffer.byteLength(text) + Buffer.byteLength(media?.caption ?? '');
}

/** How many messages of a phone are listed. */
const MAX_MESSAGES = 2000;

const COLUMNS = 'p.number, p.channel, p.message_id, p.sender, p.body, p.media, p.quote, p.received_at';
const SHOWN = `${COLUMNS}, r.status, r.error, r.units, r.refunded_units, f.chunks`;

/**
 * Reads the newest messages of a table with the state of their deliveries and files, each found by its primary key. It leaves out
 * lost messages that have arrived since.
 */
function* newest(
  dialect: Dialect,
  table: string,
  limit: number,
  number: string | undefined,
): Operation<readonly Row[]> {
  const conditions = [
    ...(number === undefined ? [] : ['p.number = ?']),
    ...(table === LOST
      ? [
          `NOT EXISTS (SELECT 1 FROM ${RECEIVED} g
            WHERE ${dialect.lookUp('g.number = p.number AND g.channel = p.channel AND g.message_id = p.message_id')})`,
        ]
      : []),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const read = (columns: string, most: number) =>
    rowsOf(
      `SELECT ${columns}
        FROM ${table} p
        LEFT JOIN messaging_recipient r ON ${dialect.lookUp('r.message_id = p.message_id AND r.position = p.position')}
        LEFT JOIN messaging_media f ON ${dialect.lookUp('f.id = p.file_id')}
        ${where} ORDER BY p.received_at DESC, p.message_id DESC LIMIT ?`,
      ...(number === undefined ? [] : [number]),
      most,
    );
  const { rows } = yield* readRows(read, SHOWN, BYTES, limit);
  return rows;
}

function newestFirst(a: PhoneMessage, b: PhoneMessage): number {
  return b.receivedAt - a.receivedAt || (a.messageId < b.messageId ? 1 : -1);
}

function toRow(message: PhoneDelivery): readonly unknown[] {
  const { to, channel, messageId, from, text, media, quote, fileId, receivedAt, position } = message;
  const described = media ? JSON.stringify(media) : null;
  return [to, channel, messageId, from, text, described, quote ?? null, fileId ?? null, receivedAt, position ?? null];
}

function toMessage(row: Row): PhoneMessage {
  const media = optionalText(row, 'media');
  return {
    messageId: textOf(row, 'message_id'),
    channel: textOf(row, 'channel'),
    from: textOf(row, 'sender'),
    to: textOf(row, 'number'),
    text: textOf(row, 'body'),
    media: media === undefined ? undefined : { caption: undefined, ...JSON.parse(media) },
    ...withQuote(optionalText(row, 'quote')),
    receivedAt: integerOf(row, 'received_at'),
  };
}

function withQuote(quote: string | undefined): Pick<PhoneMessage, 'quote'> {
  return quote === undefined ? {} : { quote };
}

function toScreenMessage(row: Row, arrived: boolean): ScreenMessage {
  const status = optionalText(row, 'status') as DeliveryStatus | undefined;
  return {
    ...toMessage(row),
    arrived,
    delivery: status
      ? {
          status,
          error: optionalText(row, 'error'),
          units: integerOf(row, 'units'),
          refundedUnits: integerOf(row, 'refunded_units'),
        }
      : undefined,
    // A negative value means that the file is being removed. Null means that there is no file or that it is being written.
    fileKept: (optionalInteger(row, 'chunks') ?? -1) >= 0,
  };
}
