import { type Operation, rowsOf } from './engine/operation.js';

/** A risky setting of a server. The service runs with it, but an operator should know of it. */
interface RiskySetting {
  readonly name: string;
  /** An SQL expression for the setting's value as a text. */
  readonly sql: string;
  readonly isFine: (value: string) => boolean;
  /** What can happen, and what to do. */
  readonly risk: string;
}

const LOST = 'a crash of the machine can lose answered sends. Set it to';
const is = (wanted: string) => (value: string) => value === wanted;
const isNot = (unwanted: string) => (value: string) => value !== unwanted;
const ofPostgres = (name: string) => ({ name, sql: `current_setting('${name}')` });
const ofMysql = (name: string) => ({ name, sql: `CAST(@@GLOBAL.${name} AS CHAR)` });

const SETTINGS: Readonly<Record<string, readonly RiskySetting[]>> = {
  postgres: [
    {
      ...ofPostgres('autovacuum'),
      isFine: isNot('off'),
      risk: 'dead rows and old statistics slow claims down more every day. Set it to on',
    },
    {
      ...ofPostgres('track_counts'),
      isFine: isNot('off'),
      risk: 'autovacuum finds no tables to clean up. Set it to on',
    },
    { ...ofPostgres('synchronous_commit'), isFine: isNot('off'), risk: `${LOST} on` },
    { ...ofPostgres('fsync'), isFine: isNot('off'), risk: `${LOST} on` },
    {
      ...ofPostgres('full_page_writes'),
      isFine: isNot('off'),
      risk: 'a crash of the machine can damage tables. Set it to on',
    },
  ],
  mysql: [
    { ...ofMysql('innodb_flush_log_at_trx_commit'), isFine: is('1'), risk: `${LOST} 1` },
    {
      ...ofMysql('innodb_doublewrite'),
      isFine: isNot('0'),
      risk: 'a crash of the machine can damage tables. Set it to ON',
    },
  ],
};

/** Finds risky settings of this database's server, and returns one sentence about each. It only reads. */
export function* riskySettings(driver: string): Operation<readonly string[]> {
  const settings = SETTINGS[driver] ?? [];
  if (settings.length === 0) return [];
  const [row] = yield* rowsOf(`SELECT ${settings.map(({ name, sql }) => `${sql} AS ${name}`).join(', ')}`);
  return settings.flatMap(({ name, isFine, risk }) => {
    const value = String(row?.[name]);
    return isFine(value) ? [] : [`${name} is ${value}: ${risk}.`];
  });
}
