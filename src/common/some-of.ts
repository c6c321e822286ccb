/** Like `Partial`, where an undefined property counts as missing. */
export type SomeOf<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Removes undefined properties, so that in a spread they do not replace defined ones. */
export function withoutUndefined<T extends object>(values: SomeOf<T>): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
