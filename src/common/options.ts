import { MessagingOptionsError } from './errors.js';

/**
 * The options of a call as they were given. A name that nobody reads is refused: `{ manager }` in the place of
 * `{ host: { manager } }`, or `{ ref }` in that of `{ reference }`, would be passed over in silence, and the call be outside of
 * the host's transaction, or a posting made twice.
 *
 * @param what of which call they are, for the sentence: `a send` for instance
 * @throws TypeError with a sentence that names it
 */
export function knownCallOptions<T extends object>(
  what: string,
  options: T,
  ...names: readonly (keyof T & string)[]
): T {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || names.some((each) => each === name)) continue;
    const hint = name === 'manager' ? '; a transaction of yours is given as { host: { manager } }' : '';
    throw new TypeError(`Option ${name} of ${what} is not known; there are ${names.join(', ')}${hint}.`);
  }
  return options;
}

/**
 * A wrong value as the sentence about an option shows it: a text in quotes, so that "5" is not taken for 5. Of what may be
 * large, or hold a secret, only what it is.
 */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Whether something is an object with fields: no list, and not null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where an option is written, as the sentence about it names it. */
export class OptionPlace {
  /**
   * @param path names from the outermost option on: `sms.tariff`; empty: all options
   * @param subject the beginning of a sentence about a path
   * @param shown a wrong value as the sentence shows it
   */
  constructor(
    readonly path = '',
    private readonly subject: (path: string) => string = (at) => (at === '' ? 'The options' : `Option ${at}`),
    readonly shown: (value: unknown) => string = formatValue,
  ) {}

  /** @param part a name, or `[index]` of a list */
  in(part: string): OptionPlace {
    const path = this.path === '' || part.startsWith('[') ? this.path + part : `${this.path}.${part}`;
    return new OptionPlace(path, this.subject, this.shown);
  }

  /** @throws MessagingOptionsError always: a sentence that names the option, and why it is refused */
  refuse(why: string): never {
    throw new MessagingOptionsError(`${this} ${why}.`);
  }

  toString(): string {
    return this.subject(this.path);
  }
}

/** How one option is read. It is declared once, beside the interface that documents it, with its range and its default. */
export class Option<V> {
  /**
   * @param read checks a value and makes of it what the service uses; undefined is what was left out
   * @param check refuses what needs no look at the value itself: names that nobody reads, and null. It is asked when a module
   *   is declared, before there are services
   */
  constructor(
    readonly read: (given: unknown, place: OptionPlace) => V,
    readonly check: (given: unknown, place: OptionPlace) => void = refuseNull,
  ) {}

  /** The same with a default. */
  or<const D>(otherwise: D): Option<V | D> {
    return new Option<V | D>((given, place) => (given === undefined ? otherwise : this.read(given, place)), this.check);
  }

  /** The same, where some values are taken as they are: `false`, or the name of a preset. */
  besides<B>(isOne: (given: unknown) => given is B): Option<V | B> {
    return new Option<V | B>(
      (given, place) => (isOne(given) ? given : this.read(given, place)),
      (given, place) => isOne(given) || this.check(given, place),
    );
  }
}

/** The options of one interface by their names. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** Every option of an interface: one that is added there and not declared does not compile. */
export type OptionsOf<T> = { readonly [K in keyof Required<T>]: Option<unknown> };

type Read<O> = O extends Option<infer V> ? V : never;
type Needless<F> = { [K in keyof F]: undefined extends Read<F[K]> ? K : never }[keyof F];

/** What declared options are read to. One that was left out and has no default is not there. */
export type ReadOptions<F> = { readonly [K in Exclude<keyof F, Needless<F>>]: Read<F[K]> } & {
  readonly [K in Needless<F>]?: Exclude<Read<F[K]>, undefined>;
};

function refuseNull(given: unknown, place: OptionPlace): void {
  if (given === null) place.refuse('must not be null');
}

/**
 * Options that stand together in an object; names that are not declared are refused.
 * @param why what is said of something else than an object
 */
export function group<F extends Options>(
  fields: F,
  why: (shown: string) => string = () => 'must be an object',
): Option<ReadOptions<F>> {
  const known = (given: unknown, place: OptionPlace): Readonly<Record<string, unknown>> => {
    if (!isRecord(given)) return place.refuse(why(place.shown(given)));
    const unknown = Object.keys(given).find((name) => given[name] !== undefined && !Object.hasOwn(fields, name));
    if (unknown === undefined) return given;
    return place.in(unknown).refuse(`is not known; there are ${Object.keys(fields).join(', ')}`);
  };
  return new Option(
    (given, place) => {
      return readOptions(fields, known(given, place), place);
    },
    (given, place) => {
      const options = known(given, place);
      for (const [name, option] of Object.entries(fields)) {
        if (options[name] !== undefined) option.check(options[name], place.in(name));
      }
    },
  );
}

/** Reads what is declared, of options among which others may stand whose names were checked before. */
export function readOptions<F extends Options>(fields: F, given: object, place: OptionPlace): ReadOptions<F> {
  const options: Readonly<Record<string, unknown>> = { ...given };
  const read = Object.entries(fields).map(([name, option]) => [name, option.read(options[name], place.in(name))]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** A group that may be left out: its options then have their defaults. */
export function optionalGroup<F extends Options>(fields: F): Option<ReadOptions<F>> {
  const { read, check } = group(fields);
  return new Option((given, place) => read(given === undefined ? {} : given, place), check);
}

/** @param what the list in words, for the sentence */
export function list<V>(each: Option<V>, what: string): Option<readonly V[]> {
  return new Option((given, place) => {
    if (!Array.isArray(given)) return place.refuse(`must be a list of ${what}; got ${place.shown(given)}`);
    return given.map((entry, index) => each.read(entry, place.in(`[${index}]`)));
  });
}

/** Something that is looked at more closely where it is used, or else here. */
export function any<V = unknown>(read: (given: unknown, place: OptionPlace) => V): Option<V> {
  return new Option(read);
}

/** A value that only the one who uses it can check. */
export const unread: Option<unknown> = any((given) => given);

export const boolean: Option<boolean> = new Option(readBoolean, readBoolean);

function readBoolean(given: unknown, place: OptionPlace): boolean {
  return typeof given === 'boolean' ? given : place.refuse('must be true or false');
}

export function integer(min: number, max: number, alternative = ''): Option<number> {
  return any((given, place) => {
    if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return given;
    return place.refuse(`must be ${alternative}an integer from ${min} to ${max}; got ${place.shown(given)}`);
  });
}

export function number(min: number, max: number): Option<number> {
  return any((given, place) => {
    if (typeof given === 'number' && given >= min && given <= max) return given;
    return place.refuse(`must be a number from ${min} to ${max}; got ${place.shown(given)}`);
  });
}

/** A text; the sentence never shows it, since it may be a secret. @param what the pattern in words */
export function text(pattern: RegExp, what: string): Option<string> {
  return any((given, place) =>
    typeof given === 'string' && pattern.test(given) ? given : place.refuse(`must be ${what}`),
  );
}

export function choice<const T extends string>(...choices: readonly T[]): Option<T> {
  return any((given, place) => {
    const chosen = choices.find((each) => each === given);
    return chosen ?? place.refuse(`must be ${choices.map((each) => `"${each}"`).join(' or ')}`);
  });
}
