import { describe, expect, test } from '@jest/globals';
import { MessagingError, StorageUnavailableError, TransactionConflictError } from '../../../../src/common/errors.js';
import { fr as french } from '../../../../src/common/text/catalogue.fr.js';
import { errorAnswer } from '../../../../src/http/errors.js';
import { type Blame, blameOf, codeOf } from '../../../../src/storage/engine/blame.js';
import { asStorageFault } from '../../../../src/storage/engine/faults.js';

const SECRET = 'Votre code est 4711';

/** An error as `pg` throws it. */
const postgres = (code: string) => Object.assign(new Error(`refused: ${SECRET}`), { code, severity: 'ERROR' });

/** An error as `mysql2` throws it: without a code if it does not know the number. */
const mysql = (errno: number, sqlState: string, code?: string) =>
  Object.assign(new Error(`refused: ${SECRET}`), { errno, sqlState, code });

/** The error as TypeORM wraps it. */
const wrapped = (driverError: Error) =>
  Object.assign(new Error('QueryFailedError'), { driverError, parameters: [SECRET] });

describe('the blame for an error of PostgreSQL', () => {
  test.each<[Blame, string, string[]]>([
    ['ours', 'syntax and names', ['42601', '42703', '42P01', '42883', '42P18']],
    ['ours', 'data', ['22001', '22003', '22021', '22P02', '22P05', '21000']],
    ['ours', 'constraints', ['23502', '23503', '23505', '23514', '40002']],
    ['ours', 'the state of the transaction', ['25P02', '3B001', '34000']],
    ['conflict', 'another transaction was first', ['40001', '40P01', '40000']],
    ['locked', 'a lock', ['55P03', '55006']],
    ['cancelled', 'a statement that was ended', ['57014']],
    ['server', 'read-only: a standby, or a primary that was fenced', ['25006']],
    ['server', 'it stops, starts, or ends the session', ['57P01', '57P02', '57P03', '57P05', '25P03', '25P04']],
    ['server', 'the connection', ['08000', '08003', '08006', '08P01', '40003']],
    ['server', 'resources and the disk', ['53000', '53100', '53200', '53300', '58030', '58P01', 'XX000', 'XX001']],
    ['server', 'statements that a pooler or a change of the schema has broken', ['0A000', '26000', '42P05']],
    ['server', 'rights', ['42501', '28000', '28P01', '3D000']],
    ['server', 'a trigger of the host, a foreign server, a code of tomorrow', ['P0001', 'HV00N', 'ZZ999']],
  ])('%s: %s', (blame, _, codes) => {
    expect(codes.map((code) => [code, blameOf(postgres(code))])).toEqual(codes.map((code) => [code, blame]));
    expect(codes.map((code) => blameOf(wrapped(postgres(code))))).toEqual(codes.map(() => blame));
  });
});

describe('the blame for an error of MariaDB or MySQL', () => {
  test.each<[Blame, number, string, string | undefined]>([
    ['ours', 1064, '42000', 'ER_PARSE_ERROR'],
    ['ours', 1054, '42S22', 'ER_BAD_FIELD_ERROR'],
    ['ours', 1146, '42S02', 'ER_NO_SUCH_TABLE'],
    ['ours', 1062, '23000', 'ER_DUP_ENTRY'],
    ['ours', 1048, '23000', 'ER_BAD_NULL_ERROR'],
    ['ours', 4025, '23000', undefined],
    ['ours', 1406, '22001', 'ER_DATA_TOO_LONG'],
    ['ours', 1366, '22007', 'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD'],
    ['ours', 1366, 'HY000', 'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD'],
    ['ours', 1364, 'HY000', 'ER_NO_DEFAULT_FOR_FIELD'],
    ['ours', 1267, 'HY000', 'ER_CANT_AGGREGATE_2COLLATIONS'],
    ['ours', 1265, '01000', 'WARN_DATA_TRUNCATED'],
    ['conflict', 1213, '40001', 'ER_LOCK_DEADLOCK'],
    ['conflict', 1020, 'HY000', 'ER_CHECKREAD'],
    ['conflict', 1614, 'XA102', 'ER_XA_RBDEADLOCK'],
    ['conflict', 3101, '40000', 'ER_TRANSACTION_ROLLBACK_DURING_COMMIT'],
    ['conflict', 1412, 'HY000', 'ER_TABLE_DEF_CHANGED'],
    ['locked', 1205, 'HY000', 'ER_LOCK_WAIT_TIMEOUT'],
    ['locked', 3572, 'HY000', 'ER_LOCK_NOWAIT'],
    ['cancelled', 1317, '70100', 'ER_QUERY_INTERRUPTED'],
    ['cancelled', 1969, '70100', undefined],
    ['cancelled', 3024, 'HY000', 'ER_QUERY_TIMEOUT'],
    ['server', 1047, '08S01', 'ER_UNKNOWN_COM_ERROR'],
    ['server', 1180, 'HY000', 'ER_ERROR_DURING_COMMIT'],
    ['server', 1290, 'HY000', 'ER_OPTION_PREVENTS_STATEMENT'],
    ['server', 1836, 'HY000', 'ER_READ_ONLY_MODE'],
    ['server', 1792, '25006', 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION'],
    ['server', 1927, '70100', undefined],
    ['server', 1040, '08004', 'ER_CON_COUNT_ERROR'],
    ['server', 1053, '08S01', 'ER_SERVER_SHUTDOWN'],
    ['server', 1153, '08S01', 'ER_NET_PACKET_TOO_LARGE'],
    ['server', 1114, 'HY000', 'ER_RECORD_FILE_FULL'],
    ['server', 1206, 'HY000', 'ER_LOCK_TABLE_FULL'],
    ['server', 1226, '42000', 'ER_USER_LIMIT_REACHED'],
    ['server', 1142, '42000', 'ER_TABLEACCESS_DENIED_ERROR'],
    ['server', 1044, '42000', 'ER_DBACCESS_DENIED_ERROR'],
    ['server', 1043, '08S01', 'ER_HANDSHAKE_ERROR'],
    ['server', 3100, 'HY000', 'ER_RUN_HOOK_ERROR'],
    ['server', 4031, 'HY000', 'ER_CLIENT_INTERACTION_TIMEOUT'],
  ])('%s: %i %s %s', (blame, errno, state, name) => {
    const error = mysql(errno, state, name);
    expect([blameOf(error), blameOf(wrapped(error))]).toEqual([blame, blame]);
    expect(codeOf(error)).toBe(name ?? `ER_${errno}`);
  });
});

describe('the blame for other errors', () => {
  const coded = (code: string) => Object.assign(new Error(), { code });

  test.each<[Blame, string[]]>([
    ['server', ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENETUNREACH', 'EAI_AGAIN', 'ENOTFOUND', 'EMFILE']],
    ['server', ['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'HANDSHAKE_SSL_ERROR', 'CERT_HAS_EXPIRED']],
    ['server', ['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_STREAM_DESTROYED']],
    ['ours', ['ERR_INVALID_ARG_TYPE', 'ERR_OUT_OF_RANGE']],
    [
      'server',
      ['SQLITE_BUSY', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_READONLY', 'SQLITE_CORRUPT', 'SQLITE_NOMEM'],
    ],
    ['ours', ['SQLITE_ERROR', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG', 'SQLITE_RANGE']],
  ])('%s: %j', (blame, codes) => {
    expect(codes.map((code) => [code, blameOf(coded(code))])).toEqual(codes.map((code) => [code, blame]));
  });

  test.each<[Blame, unknown]>([
    ['lost', new Error('Query read timeout')],
    ['lost', new Error('Connection terminated unexpectedly')],
    ['lost', new Error("Can't add new command when connection is in closed state")],
    ['lost', new Error('Queue limit reached.')],
    ['ours', new TypeError('x is not a function')],
    ['ours', 'text'],
    ['ours', undefined],
  ])('%s: %p', (blame, cause) => {
    expect(blameOf(cause)).toBe(blame);
  });
});

describe('the error that the caller gets', () => {
  test.each([
    ['25006', postgres('25006'), /takes no writes.*standby.*\(25006\)/],
    ['1290', mysql(1290, 'HY000', 'ER_OPTION_PREVENTS_STATEMENT'), /takes no writes.*read-only/],
    ['1047', mysql(1047, '08S01', 'ER_UNKNOWN_COM_ERROR'), /not ready.*\(ER_UNKNOWN_COM_ERROR\)/],
    ['1180', mysql(1180, 'HY000', 'ER_ERROR_DURING_COMMIT'), /does not answer \(ER_ERROR_DURING_COMMIT\)/],
    ['53100', postgres('53100'), /disk .* is full/],
    ['42501', postgres('42501'), /may not make or read our tables/],
    ['40001', postgres('40001'), /repeat the whole transaction/],
    ['1213', mysql(1213, '40001', 'ER_LOCK_DEADLOCK'), /repeat the whole transaction/],
    ['1205', mysql(1205, 'HY000', 'ER_LOCK_WAIT_TIMEOUT'), /holds .* repeat the whole transaction/],
  ])('is a 503 with Retry-After and a sentence for the log: %s', (_, error, sentence) => {
    const fault = asStorageFault(wrapped(error));
    expect(fault).toBeInstanceOf(StorageUnavailableError);
    if (!(fault instanceof StorageUnavailableError)) return;
    expect(fault.reason).toMatch(sentence);
    expect(errorAnswer(fault, french)).toMatchObject({ body: { statusCode: 503 }, headers: { 'Retry-After': '1' } });
    // The code is kept for the host. The parameters are not.
    expect(codeOf(fault.cause)).toBe(codeOf(error));
    expect(`${fault.reason} ${fault.cause} ${JSON.stringify(fault.cause)}`).not.toContain(SECRET);
  });

  test('is a class of its own for a conflict, so that a host can recognise it', () => {
    const kinds = [postgres('40001'), postgres('40P01'), postgres('55P03'), mysql(1213, '40001', 'ER_LOCK_DEADLOCK')];
    for (const error of kinds) expect(asStorageFault(error)).toBeInstanceOf(TransactionConflictError);
    for (const code of ['57P01', '25006', '57014']) {
      expect(asStorageFault(postgres(code))).not.toBeInstanceOf(TransactionConflictError);
    }
  });

  test('is a 500 for a wrong statement', () => {
    const fault = asStorageFault(wrapped(postgres('42601')));
    expect(fault).not.toBeInstanceOf(MessagingError);
    expect(errorAnswer(fault, french).body.statusCode).toBe(500);
    expect(String(fault)).not.toContain(SECRET);
  });
});
