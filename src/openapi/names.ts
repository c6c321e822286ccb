import { isDeepStrictEqual } from 'node:util';

/**
 * Names of ours that the host has given to something else, each with the one it gets instead. What is there already and
 * the same is ours, from an earlier call.
 */
export function renamedFor(ours: Readonly<Record<string, unknown>>, taken: object): Map<string, string> {
  const theirs = new Map<string, unknown>(Object.entries(taken));
  const renamed = new Map<string, string>();
  for (const [name, value] of Object.entries(ours)) {
    if (theirs.has(name) && !isDeepStrictEqual(theirs.get(name), value)) renamed.set(name, `Messaging${name}`);
  }
  return renamed;
}

/** Gives each name once: `sendSms`, and for the next mount `sendSms_2`. */
export function uniqueNames(taken: Iterable<string>): (name: string) => string {
  const used = new Set(taken);
  return (name) => {
    let unique = name;
    for (let copy = 2; used.has(unique); copy++) unique = `${name}_${copy}`;
    used.add(unique);
    return unique;
  };
}
