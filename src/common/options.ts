import { MessagingOptionsError } from './errors.js';

/**
 * Refuses unknown options of a call and returns the options. If unknown options were ignored, a call with `{ manager }`
 * instead of `{ host: { manager } }` would run outside the host's transaction, and a call with `{ ref }` instead of
 * `{ reference }` could post twice.
 *
 * @param what the call in words, for the message. Example: `a send`
 * @throws TypeError that names the unknown option
 */
export function checkCallOptions<T extends object>(
  what: string,
  options: T,
  ...names: readonly (keyof T & string)[]
): T {
  const known: readonly string[] = names;
  for (const name of Object.keys(options)) {
    if (known.includes(name) || Reflect.get(options, name) === undefined) continue;
    const hint = name === 'manager' ? '; pass your own transaction as { host: { manager } }' : '';
    throw new TypeError(`Option ${name} of ${what} is not known; the known options are ${names.join(', ')}${hint}.`);
  }
  return options;
}

/**
 * Formats a wrong value for an error message. A text is in quotes, to distinguish "5" from 5. For lists, objects and
 * functions only the type is given, because they may be large or contain a secret.
 */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Whether a value is an object, but neither a list nor null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The path of an option, for error messages. */
export class OptionPlace {
  /**
   * @param path the names from the outermost option on: `sms.tariff`; empty for all options
   * @param subject makes the beginning of the message from a path
   * @param format formats a wrong value for the message
   */
  constructor(
    readonly path = '',
    private readonly subject: (path: string) => string = (at) => (at === '' ? 'The options' : `Option ${at}`),
    readonly format: (value: unknown) => string = formatValue,
  ) {}

  /** @param part a name, or `[index]` of a list */
  in(part: string): OptionPlace {
    const path = this.path === '' || part.startsWith('[') ? this.path + part : `${this.path}.${part}`;
    return new OptionPlace(path, this.subject, this.format);
  }

  /** @throws MessagingOptionsError always, with the path of the option and the reason */
  refuse(why: string): never {
    throw new MessagingOptionsError(`${this} ${why}.`);
  }

  toString(): string {
    return this.subject(this.path);
  }
}

/** Reads one option. It is declared once, with range and default, beside the interface that documents the option. */
export class Option<V> {
  /**
   * @param read checks a value and returns the setting that services use; undefined is a missing option
   * @param check refuses unknown names and null without reading the value. It runs when a module is declared, before services
   *   exist
   */
  constructor(
    readonly read: (given: unknown, place: OptionPlace) => V,
    readonly check: (given: unknown, place: OptionPlace) => void = refuseNull,
  ) {}

  /** This option with a default. */
  or<const D>(otherwise: D): Option<V | D> {
    return new Option<V | D>((given, place) => (given === undefined ? otherwise : this.read(given, place)), this.check);
  }

  /** This option, which also accepts some further values unchanged, such as `false` or the name of a preset. */
  besides<B>(isOne: (given: unknown) => given is B): Option<V | B> {
    return new Option<V | B>(
      (given, place) => (isOne(given) ? given : this.read(given, place)),
      (given, place) => isOne(given) || this.check(given, place),
    );
  }
}

/** The options of one interface by their names. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** A reader for every option of an interface; an option without a reader does not compile. */
export type OptionsOf<T> = { readonly [K in keyof Required<T>]: Option<unknown> };

type Read<O> = O extends Option<infer V> ? V : never;
type Needless<F> = { [K in keyof F]: undefined extends Read<F[K]> ? K : never }[keyof F];

/** The settings that options are read to. An option that is missing and has no default is absent. */
export type SettingsOf<F> = { readonly [K in Exclude<keyof F, Needless<F>>]: Read<F[K]> } & {
  readonly [K in Needless<F>]?: Exclude<Read<F[K]>, undefined>;
};

function refuseNull(given: unknown, place: OptionPlace): void {
  if (given === null) place.refuse('must not be null');
}

/**
 * Options in an object. Unknown names are refused.
 *
 * @param why makes the reason for refusing a value that is not an object, from the formatted value
 */
export function group<F extends Options>(
  fields: F,
  why: (formatted: string) => string = () => 'must be an object',
): Option<SettingsOf<F>> {
  const known = (given: unknown, place: OptionPlace): Readonly<Record<string, unknown>> => {
    if (!isRecord(given)) return place.refuse(why(place.format(given)));
    const unknown = Object.keys(given).find((name) => given[name] !== undefined && !Object.hasOwn(fields, name));
    if (unknown === undefined) return given;
    return place.in(unknown).refuse(`is not known; the known options are ${Object.keys(fields).join(', ')}`);
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

/** Reads the declared options of an object. The object may have further options, whose names were checked before. */
export function readOptions<F extends Options>(fields: F, given: object, place: OptionPlace): SettingsOf<F> {
  const options: Readonly<Record<string, unknown>> = { ...given };
  const read = Object.entries(fields).map(([name, option]) => [name, option.read(options[name], place.in(name))]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** A group that may be missing; its options then have their defaults. */
export function optionalGroup<F extends Options>(fields: F): Option<SettingsOf<F>> {
  const { read, check } = group(fields);
  return new Option((given, place) => read(given === undefined ? {} : given, place), check);
}

/** @param what the entries in words, for the message. Example: `names of checks` */
export function list<V>(each: Option<V>, what: string): Option<readonly V[]> {
  return new Option((given, place) => {
    if (!Array.isArray(given)) return place.refuse(`must be a list of ${what}; got ${place.format(given)}`);
    return given.map((entry, index) => each.read(entry, place.in(`[${index}]`)));
  });
}

/** An option with a reader of its own. */
export function any<V = unknown>(read: (given: unknown, place: OptionPlace) => V): Option<V> {
  return new Option(read);
}

/** An option whose value is checked by the code that uses it. */
export const unread: Option<unknown> = any((given) => given);

export const boolean: Option<boolean> = new Option(readBoolean, readBoolean);

function readBoolean(given: unknown, place: OptionPlace): boolean {
  return typeof given === 'boolean' ? given : place.refuse('must be true or false');
}

export function integer(min: number, max: number, alternative = ''): Option<number> {
  return any((given, place) => {
    if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return given;
    return place.refuse(`must be ${alternative}an integer from ${min} to ${max}; got ${place.format(given)}`);
  });
}

export function number(min: number, max: number): Option<number> {
  return any((given, place) => {
    if (typeof given === 'number' && given >= min && given <= max) return given;
    return place.refuse(`must be a number from ${min} to ${max}; got ${place.format(given)}`);
  });
}

/**
 * A text. Messages never show it, as it may be a secret.
 *
 * @param what the pattern in words
 */
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
