import { Logger } from '@nestjs/common';
import Database from 'better-sqlite3';
import { OtpCodes } from '../../src/otp/otp-codes.js';
import { Outbox } from '../../src/outbox/outbox.js';

/** Tells the environment of the e2e suite what is secret, and what is stored and logged: see `leak-environment.mjs`. */

declare global {
  var leakScan: {
    readonly numbers: Set<string>;
    readonly texts: Set<string>;
    readonly codes: Set<string>;
    readonly log: string[];
    database(name: string, bytes: Buffer): void;
    files(path: string): void;
    /** What undoes the changes of this module, for the environment to call after the file. */
    readonly undo: (() => void)[];
    /** What has leaked, in sentences. */
    leaks(): readonly string[];
  };
}

const scan = globalThis.leakScan;
/** Shorter ones stand in many a line. */
const SHORTEST_TEXT = 5;
const LEVELS = ['log', 'error', 'warn', 'debug', 'verbose', 'fatal'] as const;

scan.undo.push(() => {
  Outbox.prototype.accept = accept;
  OtpCodes.prototype.codeOf = codeOf;
  Object.assign(Logger.prototype, logged);
  Database.prototype.close = close;
});

const { accept } = Outbox.prototype;
Outbox.prototype.accept = function (send, host) {
  for (const { number } of send.recipients) scan.numbers.add(number);
  const { text } = send.payload as { readonly text?: unknown };
  if (typeof text === 'string' && text.trim().length >= SHORTEST_TEXT) scan.texts.add(text);
  return accept.call(this, send, host);
};

const { codeOf } = OtpCodes.prototype;
OtpCodes.prototype.codeOf = function (source, binding) {
  const code = codeOf.call(this, source, binding);
  scan.codes.add(code);
  return code;
};

// All that is said to Nest's logger, also where a test keeps it silent.
const logged = Object.fromEntries(LEVELS.map((level) => [level, Logger.prototype[level]]));
for (const level of LEVELS) {
  const said = Logger.prototype[level];
  Logger.prototype[level] = function (this: Logger, ...words: [unknown]) {
    scan.log.push(words.map(String).join(' '));
    return said.apply(this, words);
  };
}

const { close } = Database.prototype;
Database.prototype.close = function () {
  if (this.open && this.memory) scan.database(this.name, this.serialize());
  if (this.open && !this.memory) for (const path of [this.name, `${this.name}-wal`]) scan.files(path);
  return close.call(this);
};
