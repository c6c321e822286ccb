import { Logger } from '@nestjs/common';
import Database from 'better-sqlite3';
import { NoTelemetry, type Telemetry } from '../../../src/common/telemetry/telemetry.js';
import { OtpCodes } from '../../../src/otp/otp-codes.js';
import { Outbox } from '../../../src/outbox/outbox.js';
import { RecordingTelemetry } from '../telemetry/recording-telemetry.js';

/**
 * Reports to the environment of the e2e suite what is secret, and what is stored and logged: see
 * `leak-environment.mjs`.
 */

declare global {
  var leakScan: {
    readonly numbers: Set<string>;
    readonly texts: Set<string>;
    readonly codes: Set<string>;
    readonly log: string[];
    database(name: string, bytes: Buffer): void;
    files(path: string): void;
    /** Functions that undo the changes of this module. The environment calls them after the file. */
    readonly undo: (() => void)[];
    /** The leaks, as sentences. */
    leaks(): readonly string[];
  };
}

const scan = globalThis.leakScan;
/** Shorter ones occur in many lines. */
const MIN_TEXT = 5;
const LEVELS = ['log', 'error', 'warn', 'debug', 'verbose', 'fatal'] as const;

scan.undo.push(() => {
  Outbox.prototype.accept = accept;
  OtpCodes.prototype.codeOf = codeOf;
  Object.assign(Logger.prototype, logged);
  Database.prototype.close = close;
  Object.assign(NoTelemetry.prototype, { counter, histogram, gauge, span });
  Reflect.deleteProperty(NoTelemetry, Symbol.hasInstance);
});

const { accept } = Outbox.prototype;
Outbox.prototype.accept = function (send, host) {
  for (const { number } of send.recipients) scan.numbers.add(number);
  const { text } = send.payload as { readonly text?: unknown };
  if (typeof text === 'string' && text.trim().length >= MIN_TEXT) scan.texts.add(text);
  return accept.call(this, send, host);
};

const { codeOf } = OtpCodes.prototype;
OtpCodes.prototype.codeOf = function (source, binding) {
  const code = codeOf.call(this, source, binding);
  scan.codes.add(code);
  return code;
};

// Everything that Nest's logger gets, even if a test keeps it silent.
const logged = Object.fromEntries(LEVELS.map((level) => [level, Logger.prototype[level]]));
for (const level of LEVELS) {
  const said = Logger.prototype[level];
  Logger.prototype[level] = function (this: Logger, ...words: [unknown]) {
    // Objects are log lines with fields, and hosts with structured logs get each of them.
    scan.log.push(words.map((word) => `${word} ${typeof word === 'object' ? JSON.stringify(word) : ''}`).join(' '));
    return said.apply(this, words);
  };
}

// A service of the suite without telemetry gets one whose measures and spans are scanned like the log.
const recording = new RecordingTelemetry((recorded) => scan.log.push(`telemetry: ${recorded.join(' ')}`));
const { counter, histogram, gauge, span } = NoTelemetry.prototype;
const recorded: Pick<Telemetry, 'counter' | 'histogram' | 'gauge' | 'span'> = {
  counter: (metric) => recording.counter(metric),
  histogram: (metric) => recording.histogram(metric),
  gauge: (metric, read) => recording.gauge(metric, read),
  span: (name, of) => recording.span(name, of),
};
Object.assign(NoTelemetry.prototype, recorded);
Object.defineProperty(NoTelemetry, Symbol.hasInstance, { value: () => false, configurable: true });

const { close } = Database.prototype;
Database.prototype.close = function () {
  if (this.open && this.memory) scan.database(this.name, this.serialize());
  if (this.open && !this.memory) for (const path of [this.name, `${this.name}-wal`]) scan.files(path);
  return close.call(this);
};
