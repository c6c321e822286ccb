import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, write, writeAll } from '../../storage/engine/operation.js';
import { type RowShape, textOf } from '../../storage/engine/rows.js';
import type { CredentialChange, CredentialReplacement, KeptCredential } from './session-credentials.js';
import type { SessionLease } from './session-records.js';
import { lockHeld } from './session-rows.js';

/** See `SessionStore.credentials`. */
export function* readCredentials(
  dialect: Dialect,
  sessionId: string,
  kind: string,
  ids: readonly string[],
): Operation<ReadonlyMap<string, string>> {
  const rows = yield* rowsOf(
    `SELECT name, content FROM messaging_session_credential
      WHERE session_id = ? AND kind = ? AND name ${dialect.among()}`,
    sessionId,
    escaped(kind),
    JSON.stringify(ids.map(escaped)),
  );
  return new Map(rows.map((row) => [unescaped(textOf(row, 'name')), unescaped(textOf(row, 'content'))]));
}

/** See `SessionStore.writeCredentials`. */
export function* writeCredentials(
  dialect: Dialect,
  lease: SessionLease,
  changes: readonly CredentialChange[],
): Operation<boolean> {
  if (!(yield* lockHeld(dialect, lease))) return false;
  const last = [...new Map(changes.map((change) => [JSON.stringify([change.kind, change.id]), change])).values()];
  for (const [kind, names] of namesByKind(last.filter(({ value }) => value === undefined))) {
    const sql = `DELETE FROM messaging_session_credential WHERE session_id = ? AND kind = ? AND name ${dialect.among()}`;
    yield* write(sql, lease.sessionId, kind, JSON.stringify(names));
  }
  const rows = last.flatMap(({ kind, id, value }) =>
    value === undefined ? [] : [[lease.sessionId, escaped(kind), escaped(id), escaped(value)]],
  );
  if (rows.length > 0) {
    const onDuplicate = ['session_id, kind, name', ['content']] as const;
    yield dialect.insertRows({ table: 'messaging_session_credential', shape: SHAPE, rows, onDuplicate });
  }
  return true;
}

/** See `SessionStore.otherCredentials`. */
export function* findOtherCredentials(
  sessionId: string,
  start: string,
  limit: number,
): Operation<readonly KeptCredential[]> {
  const rows = yield* rowsOf(
    `SELECT kind, name, content FROM messaging_session_credential
      WHERE session_id = ? AND substr(content, 1, ?) <> ? LIMIT ?`,
    sessionId,
    [...escaped(start)].length,
    escaped(start),
    limit,
  );
  const text = (row: Row, column: string) => unescaped(textOf(row, column));
  return rows.map((row) => ({ kind: text(row, 'kind'), id: text(row, 'name'), value: text(row, 'content') }));
}

/** See `SessionStore.replaceCredentials`. */
export function* replaceCredentials(
  dialect: Dialect,
  lease: SessionLease,
  changes: readonly CredentialReplacement[],
): Operation<boolean> {
  if (!(yield* lockHeld(dialect, lease))) return false;
  const update = dialect.updateRows({
    table: 'messaging_session_credential',
    set: { content: 'v.becomes' },
    shape: { session_id: 'id', kind: 'id', name: 'text', was: 'text', becomes: 'text' },
    rows: changes.map(({ kind, id, was, value }) => [lease.sessionId, ...[kind, id, was, value].map(escaped)]),
    on: `messaging_session_credential.session_id = v.session_id AND messaging_session_credential.kind = v.kind
      AND messaging_session_credential.name = v.name AND messaging_session_credential.content = v.was`,
  });
  yield* writeAll([update], true);
  return true;
}

/** Deletes all credentials of a session. */
export function* clearCredentials(sessionId: string): Operation<void> {
  yield* write('DELETE FROM messaging_session_credential WHERE session_id = ?', sessionId);
}

const SHAPE: RowShape = { session_id: 'id', kind: 'id', name: 'text', content: 'text' };

function namesByKind(changes: readonly CredentialChange[]): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const { kind, id } of changes) {
    const known = names.get(escaped(kind));
    if (known) known.push(escaped(id));
    else names.set(escaped(kind), [escaped(id)]);
  }
  return names;
}

/** Escapes a text as in a JSON string. Transports choose kinds and ids freely, and databases refuse a NUL or a lone surrogate. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unescaped(text: string): string {
  return JSON.parse(`"${text}"`);
}
