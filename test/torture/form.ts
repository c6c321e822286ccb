import { appendFileSync } from 'node:fs';

const { TORTURE = 'full', TORTURE_SEED = '1', TORTURE_NOTES } = process.env;

/** The form that takes one to two minutes. */
export const short = TORTURE === 'short';
export const seed = Number(TORTURE_SEED);

/** One of the two values, by form. */
export function byForm<T>(ofShort: T, ofFull: T): T {
  return short ? ofShort : ofFull;
}

/** Adds a row to a table that is printed at the end. */
export function note(table: string, row: Readonly<Record<string, unknown>>): void {
  print({ table, row });
}

/**
 * Work that begins within `shortMs` of this call is run. Later work is left out in the short form.
 * @returns whether there is time for something
 */
export function budget(shortMs: number): (what: string) => boolean {
  const begun = Date.now();
  return (what) => {
    if (!short || Date.now() - begun < shortMs) return true;
    leaveOut(what);
    return false;
  };
}

/** The closing line names it. */
export function leaveOut(what: string): void {
  print({ leftOut: what });
}

function print(line: object): void {
  if (TORTURE_NOTES !== undefined) appendFileSync(TORTURE_NOTES, `${JSON.stringify(line)}\n`);
}

/** Numbers from 0 to 1 that depend on the seed. Each name has a sequence of its own. */
export function randomOf(name: string): () => number {
  let state = [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619), seed | 0);
  // Mulberry32.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the elements. */
export function drawn<T>(random: () => number, from: readonly [T, ...T[]]): T {
  return from[Math.floor(random() * from.length)] ?? from[0];
}
