import { type PhoneMessage, PhoneStore } from '../../../sandbox/phone-store.js';
import type { Executor } from '../engine/executor.js';
import { type Row, rowsOf, writeAll } from '../engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../engine/rows.js';

/** Messages of the sandbox's phones in SQL. */
export class TypeormPhoneStore extends PhoneStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override async receive(messages: readonly PhoneMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const { dialect } = this.executor;
    const rows = messages.map(toRow);
    const onDuplicate = ['number, channel, message_id'] as const;
    const insert = dialect.insertRows({ table: 'messaging_phone_message', shape: SHAPE, rows, onDuplicate });
    await this.executor.writeLazily(() => writeAll([insert], true));
  }

  override async messages(number: string): Promise<readonly PhoneMessage[]> {
    const rows = await this.executor.read(() =>
      rowsOf(
        `SELECT ${COLUMNS} FROM messaging_phone_message WHERE number = ? ORDER BY received_at, message_id`,
        number,
      ),
    );
    return rows.map(toMessage);
  }

  override async latest(limit: number): Promise<readonly PhoneMessage[]> {
    const rows = await this.executor.read(() =>
      rowsOf(
        `SELECT ${COLUMNS} FROM messaging_phone_message ORDER BY received_at DESC, message_id DESC LIMIT ?`,
        limit,
      ),
    );
    return rows.map(toMessage);
  }
}

const SHAPE = shapeOf('number channel message_id sender body media', 'received_at');
const COLUMNS = Object.keys(SHAPE).join(', ');

function toRow({ to, channel, messageId, from, text, media, receivedAt }: PhoneMessage): readonly unknown[] {
  return [to, channel, messageId, from, text, media ? JSON.stringify(media) : null, receivedAt];
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
    receivedAt: integerOf(row, 'received_at'),
  };
}
