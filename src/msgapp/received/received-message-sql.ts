import type { EventRecorder } from '../../events/event-recorder.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Executor } from '../../storage/engine/executor.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';
import { type NewReceived, ReceivedMessageStore, type StoredReceived } from './received-message-store.js';

/** Messages to linked numbers in SQL. */
export class TypeormReceivedMessageStore extends ReceivedMessageStore {
  constructor(
    private readonly executor: Executor,
    private readonly recorder: EventRecorder,
  ) {
    super();
  }

  override receive(messages: readonly NewReceived[]): Promise<readonly boolean[]> {
    const { dialect } = this.executor;
    return this.recorder.write(function* ({ tell }) {
      const isNew = yield* addMessages(dialect, messages);
      for (const [index, { event }] of messages.entries()) if (isNew[index]) tell(event);
      return isNew;
    });
  }

  override async find(id: string): Promise<StoredReceived | undefined> {
    const sql = 'SELECT m.id, m.account_id, m.session_id, m.file FROM messaging_msgapp_received m WHERE m.id = ?';
    const [row] = await this.executor.read(() => rowsOf(sql, id));
    return (
      row && {
        id: textOf(row, 'id'),
        accountId: textOf(row, 'account_id'),
        sessionId: textOf(row, 'session_id'),
        file: optionalText(row, 'file'),
      }
    );
  }

  override erase(number: string, limit: number): Promise<number> {
    return this.executor.write(() => eraseNumber(this.executor.dialect, number, limit));
  }

  override purge(before: number, limit: number): Promise<number> {
    return this.executor.write(() =>
      write(this.executor.dialect.deleteFirst('messaging_msgapp_received', 'name', 'received_at'), before - 1, limit),
    );
  }
}

const MESSAGE = shapeOf('name id account_id session_id number file', 'received_at');

/** For each message, whether its name was not there. */
function* addMessages(dialect: Dialect, messages: readonly NewReceived[]): Operation<readonly boolean[]> {
  // The first of a name wins. Sorted, so that two transactions with the same messages wait for each other in one order only.
  const rows = [...new Map(messages.toReversed().map((message) => [message.name, message])).values()]
    .map((each) => [
      each.name,
      each.id,
      each.accountId,
      each.sessionId,
      each.number ?? null,
      each.file ?? null,
      each.receivedAt,
    ])
    .sort();
  yield dialect.insertRows({ table: 'messaging_msgapp_received', shape: MESSAGE, rows, onDuplicate: ['name'] });
  const stored = yield* rowsOf(
    `SELECT m.name, m.id FROM messaging_msgapp_received m WHERE m.name ${dialect.among()}`,
    JSON.stringify(rows.map(([name]) => name)),
  );
  const idOfName = new Map(stored.map((row) => [textOf(row, 'name'), textOf(row, 'id')]));
  return messages.map(({ id, name }) => idOfName.get(name) === id);
}

function* eraseNumber(dialect: Dialect, number: string, limit: number): Operation<number> {
  const found = yield* rowsOf(
    'SELECT m.name FROM messaging_msgapp_received m WHERE m.number = ? ORDER BY m.name LIMIT ?',
    number,
    limit,
  );
  if (found.length === 0) return 0;
  return yield* write(
    `UPDATE messaging_msgapp_received SET number = NULL, file = NULL WHERE name ${dialect.among()}`,
    JSON.stringify(found.map((row) => textOf(row, 'name'))),
  );
}
