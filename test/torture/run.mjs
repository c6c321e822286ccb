/**
 * `npm run test:torture`: the torture runs in full, half an hour or more; `TORTURE=short` takes one to two minutes. The
 * seed is printed. It is random in full and always the same in short, and `TORTURE_SEED` repeats a run as far as the
 * machine allows. Further arguments go to Jest: `-- books`, `-- -t kill`. Its last line is `torture: N passed, N
 * failed, N skipped`: tests, and among the skipped ones also what the form left out, which the line before names.
 *
 * Jest runs as a child in a process group of its own, with a temporary folder of its own. Whatever happens to it, this
 * program ends the group, drops the databases, removes the folder, and says in its last line what was and was not run.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';

const SHORT_SEED = 13;
const short = process.env.TORTURE === 'short';
// CI runs the same every time.
const seed = Number(process.env.TORTURE_SEED ?? (short ? SHORT_SEED : randomInt(2 ** 31)));
/** Nothing here may hang: after this time the run is ended and counts as failed. */
const LIMIT_MS = short ? 900_000 : 7_200_000;

const folder = mkdtempSync(join(tmpdir(), 'messaging-torture-'));
// A PostgreSQL server of another user keeps its files in it.
chmodSync(folder, 0o755);
const prefix = `messaging_torture_${process.pid}_`;
const [results, notes] = [join(folder, 'results.json'), join(folder, 'notes.jsonl')];
const startedAt = Date.now();
console.log(`torture: seed ${seed}, ${short ? 'short' : 'full'} form`);

const jest = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    'node_modules/jest/bin/jest.js',
    // Anything that a failed test left open does not delay the result.
    '--selectProjects',
    'torture',
    '--runInBand',
    '--forceExit',
    '--json',
    `--outputFile=${results}`,
    ...process.argv.slice(2),
  ],
  {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      TMPDIR: folder,
      TORTURE: short ? 'short' : 'full',
      TORTURE_SEED: String(seed),
      TORTURE_NOTES: notes,
      TORTURE_DATABASES: prefix,
    },
  },
);
let ended = '';
const end = (why) => {
  ended ||= why;
  signalGroup();
};
const limit = setTimeout(() => end(`it did not end within ${LIMIT_MS / 1000} s`), LIMIT_MS);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(`ended by ${signal}`));

const code = await new Promise((resolve) => jest.once('exit', (status, signal) => resolve(status ?? signal)));
clearTimeout(limit);
signalGroup();
await cleanUp();

/** Its hosts and servers too, including stopped ones. */
function signalGroup() {
  try {
    process.kill(-jest.pid, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}

async function cleanUp() {
  const lines = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n').filter(Boolean) : [];
  const ran = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : undefined;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  await dropDatabases().catch(({ message }) => console.error(`torture: databases ${prefix}* may be left: ${message}`));
  showTables(
    lines.map((line) => JSON.parse(line)),
    ran,
  );
}

async function dropDatabases() {
  const server = await createConnection('mysql://root@127.0.0.1:3306').catch(() => undefined);
  if (!server) return;
  const [rows] = await server.query(`SHOW DATABASES LIKE '${prefix.replaceAll('_', '\\_')}%'`);
  for (const row of rows) await server.query(`DROP DATABASE ${Object.values(row)[0]}`);
  await server.end();
}

function showTables(reported, ran) {
  for (const table of new Set(reported.flatMap(({ table }) => table ?? []))) {
    const rows = reported.filter((line) => line.table === table).map(({ row }) => row);
    console.log(`\n${table}\n${aligned(rows)}`);
  }
  const rounds = reported.filter(({ row }) => row !== undefined).length;
  const leftOut = reported.flatMap(({ leftOut }) => leftOut ?? []);
  const skipped = ran?.numPendingTests ?? 0;
  const failed = (ran?.numFailedTests ?? 0) + (ran?.numRuntimeErrorTestSuites ?? 0);
  const whole = ran !== undefined && ended === '' && code === 0 && failed === 0 && rounds > 0;
  const line = [
    ran ? `${rounds} rounds ran` : 'it never came to an end',
    ...(ended ? [ended] : []),
    ...(leftOut.length > 0 ? [`left out: ${leftOut.join(', ')}`] : []),
    `seed ${seed}, ${short ? 'short' : 'full'} form, ${Math.round((Date.now() - startedAt) / 1000)} s`,
  ];
  console.log(`\n${line.join('; ')}.`);
  // A fault that no test found counts as a failed test.
  const failures = whole ? 0 : Math.max(failed, 1);
  console.log(`torture: ${ran?.numPassedTests ?? 0} passed, ${failures} failed, ${skipped + leftOut.length} skipped`);
  process.exitCode = whole ? 0 : 1;
}

function aligned(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))];
  const widths = names.map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) => `  ${line.map((cell, at) => cell.padEnd(widths[at])).join('  ')}`.trimEnd()).join('\n');
}
