import { MessagingOptionsError } from '../../common/errors.js';

/** Reads the options under one name and refuses what is wrong with a sentence that names it. Never shows a value that may be a secret. */
export class OptionReader {
  private readonly given: Readonly<Record<string, unknown>>;

  /**
   * @param path where the options stand, `smpp.links[0]` for instance
   * @param names what may be written there; anything else is a misspelling
   * @throws MessagingOptionsError
   */
  constructor(
    options: object | undefined,
    private readonly path: string,
    names: Readonly<Record<string, true>>,
  ) {
    if (typeof options !== 'object' || options === null || Array.isArray(options)) {
      throw new MessagingOptionsError(`Option ${path} must be an object.`);
    }
    this.given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const unknown = Object.keys(this.given).find((name) => !Object.hasOwn(names, name));
    if (unknown !== undefined) this.refuse(unknown, `is not known; there are ${Object.keys(names).join(', ')}`);
  }

  integer<D>(name: string, min: number, max: number, otherwise: D): number | D {
    const value = this.given[name];
    if (value === undefined) return otherwise;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.refuse(name, `must be an integer from ${min} to ${max}; got ${shown(value)}`);
  }

  number<D>(name: string, min: number, max: number, otherwise: D): number | D {
    const value = this.given[name];
    if (value === undefined) return otherwise;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    return this.refuse(name, `must be a number from ${min} to ${max}; got ${shown(value)}`);
  }

  boolean(name: string, otherwise: boolean): boolean {
    const value = this.given[name] ?? otherwise;
    return typeof value === 'boolean' ? value : this.refuse(name, 'must be true or false');
  }

  oneOf<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
    const value = this.given[name] ?? otherwise;
    const choice = choices.find((each) => each === value);
    return choice ?? this.refuse(name, `must be one of ${choices.join(', ')}; got ${shown(value)}`);
  }

  /** @param what the pattern in words, for the sentence */
  text(name: string, pattern: RegExp, what: string, otherwise?: string): string {
    const value = this.given[name] ?? otherwise;
    return typeof value === 'string' && pattern.test(value) ? value : this.refuse(name, `must be ${what}`);
  }

  refuse(name: string, why: string): never {
    throw new MessagingOptionsError(`Option ${this.path}.${name} ${why}.`);
  }
}

function shown(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a ${typeof value}`;
}
