/**
 * The environment of the e2e suite: a test file fails if what it stored or logged holds a secret. It scans the bytes of
 * every SQLite database that the file's own process closes, including those in memory, and of every one that it
 * removes, which are those of its child processes, each with its write-ahead log if there is one. `leak-scan.ts`
 * records what is secret.
 */
import fs from 'node:fs';
import { join } from 'node:path';
import Environment from './environment.mjs';

const API_KEY = /msgk_[0-9A-Za-z]{12}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}/;
const SQLITE = Buffer.from('SQLite format 3\0');
const WAL = /-wal$/;
/** Separate, not as digits of a longer number or an id. */
const CODE = /(?<![\w-])\d{4,8}(?![\w-])/g;
/** The sandbox's phones may show codes, so their texts do not count. The bytes of a database are read as Latin-1. */
const SHOWN = ['est votre code de vérification', 'is your verification code'];
const STORED_CODE = new RegExp(
  `${CODE.source}(?<shown> (?:${SHOWN.map((text) => Buffer.from(text).toString('latin1')).join('|')}))?`,
  'g',
);
/** The size of SQLite's pages. */
const PAGE_BYTES = 4096;
/**
 * A code of four digits occurs by chance in any database or log now and then. A leak shows every code that passes it:
 * so many codes, and such a share of all codes, are not chance.
 */
const MIN_CODES = 2;
const MIN_SHARE = 0.2;

export default class LeakEnvironment extends Environment {
  constructor(...args) {
    super(...args);
    this.scan = new LeakScan();
    this.global.leakScan = this.scan;
    this.rmSync = fs.rmSync;
    // Before anything of the test is loaded, so that the test gets this one.
    fs.rmSync = (path, ...rest) => {
      this.scan.files(String(path));
      return this.rmSync(path, ...rest);
    };
  }

  async teardown() {
    fs.rmSync = this.rmSync;
    for (const undo of this.scan.undo) undo();
    const leaks = this.scan.leaks();
    await super.teardown();
    if (leaks.length > 0) throw new Error(`Secrets have leaked:\n${leaks.join('\n')}`);
  }
}

class LeakScan {
  /** The texts of messages that were accepted. */
  numbers = new Set();
  texts = new Set();
  codes = new Set();
  /** The log lines. */
  log = [];
  undo = [];
  #found = new Set();
  #storedWords = new Set();

  /** A database's bytes. */
  database(name, bytes) {
    // Latin-1 takes a fraction of the time of UTF-8, and what is searched for is ASCII.
    const text = written(bytes).toString('latin1');
    const key = API_KEY.exec(text);
    if (key) this.#found.add(`an API key, ${shortened(key[0])}, in ${name}`);
    for (const { 0: word, groups } of text.matchAll(STORED_CODE)) if (!groups.shown) this.#storedWords.add(word);
  }

  /** Every database at this path or below it. */
  files(path) {
    const stats = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) for (const name of fs.readdirSync(path)) this.files(join(path, name));
    if (!stats?.isFile()) return;
    const bytes = fs.readFileSync(path);
    if (WAL.test(path) || bytes.subarray(0, SQLITE.length).equals(SQLITE)) this.database(path, bytes);
  }

  leaks() {
    const log = this.log.join('\n');
    const logged = new Set(log.match(CODE));
    const key = API_KEY.exec(log);
    return [
      ...this.#found,
      ...(key ? [`an API key, ${shortened(key[0])}, in the log`] : []),
      ...(log.match(/(?<!\d)\d{7,15}(?!\d)/g) ?? [])
        .filter((word) => this.numbers.has(word))
        .map((number) => `the number ${shortened(number)} in the log`),
      ...[...this.texts]
        .filter((text) => log.includes(text))
        .map((text) => `a message's text, ${shortened(text)}, in the log`),
      ...this.#codesIn(this.#storedWords, 'a database'),
      ...this.#codesIn(logged, 'the log'),
    ];
  }

  #codesIn(words, where) {
    const found = [...this.codes].filter((code) => words.has(code)).length;
    const isLeak = found >= MIN_CODES && found >= MIN_SHARE * this.codes.size;
    return isLeak ? [`${found} of ${this.codes.size} codes in ${where}`] : [];
  }
}

/** A database's pages that differ from those of a database that has our schema and no rows. */
function written(bytes) {
  const empty = globalThis.schemaTemplate ?? Buffer.alloc(0);
  const starts = Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, index) => index * PAGE_BYTES);
  const changed = starts.filter((start) => {
    const end = start + PAGE_BYTES;
    return end > empty.length || bytes.compare(empty, start, end, start, Math.min(end, bytes.length)) !== 0;
  });
  return Buffer.concat(changed.map((start) => bytes.subarray(start, start + PAGE_BYTES)));
}

function shortened(secret) {
  return `${secret.slice(0, 6)}…`;
}
