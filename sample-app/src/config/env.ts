/** A wrong setting. The message is a sentence that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The settings by name, as the environment gives them. */
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

/** Returns a setting that another setting requires. @throws ConfigError */
export function required(env: Env, name: string, because: string): string {
  const value = env[name];
  if (value) return value;
  throw new ConfigError(`${name} is missing; ${because} needs it.`);
}

/** Returns an object with the setting's value under `key`. The object is empty if the setting is not given. */
export function given<K extends string>(env: Env, name: string, key: K): { readonly [key in K]?: string } {
  const value = env[name];
  // The cast is safe: the object has only this key, and its value is a string.
  return (value ? { [key]: value } : {}) as { readonly [key in K]?: string };
}
