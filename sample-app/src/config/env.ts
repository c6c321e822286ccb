/** A wrong setting; the message is a sentence that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Settings by name, as they were given. */
export type Env = Readonly<Record<string, string | undefined>>;

/** @throws ConfigError */
export function integer(name: string, value: string, min: number, max: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return number;
  throw new ConfigError(`${name} must be an integer from ${min} to ${max}; it is "${value}".`);
}

/** @throws ConfigError */
export function oneOf<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return found;
  throw new ConfigError(`${name} must be ${allowed.join(' or ')}; it is "${value}".`);
}

/** A setting that another one asks for. @throws ConfigError */
export function required(env: Env, name: string, because: string): string {
  const value = env[name];
  if (value) return value;
  throw new ConfigError(`${name} is missing; ${because} needs it.`);
}

/** A setting under a name, where it is given. */
export function given<K extends string>(env: Env, name: string, key: K): { readonly [key in K]?: string } {
  const value = env[name];
  // One key of the very type that is asked for.
  return (value ? { [key]: value } : {}) as { readonly [key in K]?: string };
}
